//! Cost of events and of re-entered modes, without output. Prints microseconds and the ratio to plain integration.
//!
//! `cargo bench -p saltus-simulate`

use std::time::Instant;

use saltus_mdae::{Builder, Mdae, UnaryOp};
use saltus_results::Discard;
use saltus_simulate::{Compiled, Options, Request, RunReport, Unobserved, simulate};

fn run(model: Mdae, stop: f64) -> (RunReport, f64) {
    let compiled = Compiled::new(saltus_structure::prepare::prepare(model).model).expect("compiles");
    let options = Options {
        stop,
        interval: stop,
        ..Options::default()
    };
    let start = Instant::now();
    let report = simulate(&compiled, Request::default(), &options, &mut Discard, &mut Unobserved);
    (report, start.elapsed().as_secs_f64())
}

/// A ball that bounces without loss.
fn ball() -> Mdae {
    let m = Builder::new("Ball");
    let (h, v) = (m.state("h", 1.0), m.state("v", 0.0));
    m.equation("dh", h.der() - &v);
    m.equation("dv", v.der() + 9.81);
    let down = h.le(&m.real(0.0));
    m.reinit_when(&down, &v, &-v.pre());
    m.finish().expect("valid")
}

/// A ladder of sections, each with a capacitor behind an ideal diode fed by a common alternating source.
fn diodes(count: usize) -> Mdae {
    let m = Builder::new("Diodes");
    let source = (314.0 * m.time()).apply(UnaryOp::Sin) * 20.0;
    for k in 0..count {
        let name = |stem: &str| format!("{stem}{k}");
        let (u, i, s) = (
            m.state(&name("u"), 0.1 * k as f64),
            m.unknown(&name("i")),
            m.unknown(&name("s")),
        );
        let on = s.gt(&m.real(0.0));
        let drop = &source - 1.0 * &i - &u;
        m.equation_if(&on, &name("a"), &s - &i);
        m.equation_if(&on, &name("b"), drop.clone());
        m.equation_if(&!&on, &name("c"), &s - &drop);
        m.equation_if(&!&on, &name("d"), i.clone());
        m.equation(&name("e"), (1e-4 * (1.0 + 0.3 * k as f64)) * u.der() - &i + 0.02 * &u);
    }
    m.finish().expect("valid")
}

fn report(name: &str, (report, seconds): (RunReport, f64)) {
    let counters = report.counters;
    let events = counters.events.max(1) as f64;
    println!(
        "{name:28} {:>7} events {:>8.2} µs per event, {:>6.2} µs per step; {} modes, {} mode changes, {:?}",
        counters.events,
        seconds * 1e6 / events,
        seconds * 1e6 / counters.steps.max(1) as f64,
        counters.modes,
        counters.mode_changes,
        report.outcome.map_err(|failure| failure.to_string()),
    );
}

fn main() {
    report("bouncing ball", run(ball(), 2000.0));
    for count in [1, 4, 8] {
        report(&format!("{count} diodes on one source"), run(diodes(count), 0.5));
    }
}
