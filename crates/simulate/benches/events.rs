//! Cost of events and of re-entered modes, without output, and how it compares with the integration between them.
//!
//! `cargo bench -p saltus-simulate`
//!
//! What is counted as an event is everything between the arrival at its time and the next step: locating the
//! crossing belongs to the integration, finding the mode and its right limits to the event.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use std::sync::Arc;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use saltus_mdae::{Builder, Ex, Mdae, UnaryFunction};
use saltus_results::Discard;
use saltus_simulate::{Compiled, EventReport, Observer, Options, Request, RunReport, Unobserved, simulate};

/// Measures the time between the arrival at an event and its end.
struct Clock {
    start: Instant,
    arrived: f64,
    in_events: Rc<Cell<f64>>,
}

/// Seconds this thread has spent on a processor, which the system counts in ticks; of the clock on the wall where that is not known. (Other programs on the
/// machine do not count.)
fn processor_seconds(start: Instant) -> f64 {
    let read = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = read.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

impl Observer for Clock {
    fn progress(&mut self, _: f64) {
        self.arrived = processor_seconds(self.start);
    }
    fn event(&mut self, _: &EventReport) {
        let spent = processor_seconds(self.start) - self.arrived;
        self.in_events.set(self.in_events.get() + spent);
    }
}

struct Measured {
    report: RunReport,
    total: f64,
    in_events: f64,
}

fn run(compiled: &Arc<Compiled>, stop: f64) -> Measured {
    let options = Options {
        stop,
        interval: stop,
        ..Options::default()
    };
    let in_events = Rc::new(Cell::new(0.0));
    let start = Instant::now();
    let mut clock = Clock {
        start,
        arrived: processor_seconds(start),
        in_events: Rc::clone(&in_events),
    };
    // Reading the clock takes as long as an event of a small model: the whole is measured without it.
    simulate(compiled, Request::default(), &options, &mut Discard, &mut clock);
    let before = processor_seconds(start);
    let report = simulate(compiled, Request::default(), &options, &mut Discard, &mut Unobserved);
    Measured {
        report,
        total: processor_seconds(start) - before,
        in_events: in_events.get(),
    }
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

/// Sections side by side, each with a capacitor behind an ideal diode fed by a common alternating source.
fn diodes(count: usize) -> Mdae {
    let m = Builder::new("Diodes");
    let source = (314.0 * m.time()).apply(UnaryFunction::Sin) * 20.0;
    for k in 0..count {
        let name = |stem: &str| format!("{stem}{k}");
        let (u, i) = (m.state(&name("u"), 0.1 * k as f64), m.unknown(&name("i")));
        diode(&m, k, &(&source - 1.0 * &i - &u), &i);
        m.equation(&name("e"), (1e-4 * (1.0 + 0.3 * k as f64)) * u.der() - &i + 0.02 * &u);
    }
    m.finish().expect("valid")
}

/// A ladder: each capacitor is charged through a resistor and an ideal diode from the one before it, and discharged by
/// its load; the first one by an alternating source. All sections are coupled.
fn chain(count: usize) -> Mdae {
    let m = Builder::new("Chain");
    let source =
        (314.0 * m.time()).apply(UnaryFunction::Sin) * 20.0 + (1130.0 * m.time()).apply(UnaryFunction::Sin) * 9.0;
    let u: Vec<Ex> = (0..count).map(|k| m.state(&format!("u{k}"), 0.0)).collect();
    let i: Vec<Ex> = (0..count).map(|k| m.unknown(&format!("i{k}"))).collect();
    for k in 0..count {
        let from = if k == 0 { source.clone() } else { u[k - 1].clone() };
        diode(&m, k, &(from - 0.5 * &i[k] - &u[k]), &i[k]);
        let mut flow = i[k].clone() - (0.005 + 0.01 * (k % 3) as f64) * &u[k];
        if k + 1 < count {
            flow = flow - &i[k + 1];
        }
        m.equation(&format!("c{k}"), (1e-4 / (1.0 + 0.2 * k as f64)) * u[k].der() - flow);
    }
    m.finish().expect("valid")
}

/// The chain with a current of its own frequency into every capacitor: each diode switches in its own rhythm, and
/// thousands of modes are visited. With multiples of a common frequency they come back every period; otherwise hardly a
/// mode is ever seen again.
fn restless_chain(count: usize, periodic: bool) -> Mdae {
    let m = Builder::new("RestlessChain");
    let u: Vec<Ex> = (0..count).map(|k| m.state(&format!("u{k}"), 0.0)).collect();
    let i: Vec<Ex> = (0..count).map(|k| m.unknown(&format!("i{k}"))).collect();
    for k in 0..count {
        let from = if k == 0 { m.real(0.0) } else { u[k - 1].clone() };
        diode(&m, k, &(from - 0.5 * &i[k] - &u[k]), &i[k]);
        let rhythm = if periodic {
            std::f64::consts::TAU * COMMON * (16 + (k * 37) % 89) as f64
        } else {
            200.0 + 37.0 * ((k * k) % 31) as f64 + 11.3 * k as f64
        };
        let source = (rhythm * m.time() + k as f64).apply(UnaryFunction::Sin) * 2.0;
        let mut flow = i[k].clone() + source - 0.1 * &u[k];
        if k + 1 < count {
            flow = flow - &i[k + 1];
        }
        m.equation(&format!("c{k}"), 1e-3 * u[k].der() - flow);
    }
    m.finish().expect("valid")
}

/// The common frequency, in hertz.
const COMMON: f64 = 2.0;

fn diode(m: &Builder, k: usize, drop: &Ex, i: &Ex) {
    let name = |stem: &str| format!("{stem}{k}");
    let s = m.unknown(&name("s"));
    let on = s.gt(&m.real(0.0));
    m.equation_if(&on, &name("on_s"), &s - i);
    m.equation_if(&on, &name("on_v"), drop.clone());
    m.equation_if(&!&on, &name("off_s"), &s - drop);
    m.equation_if(&!&on, &name("off_i"), i.clone());
}

/// 48 masses in a row with springs between them; a clutch joins the first to a flywheel every other period: 100 equations,
/// two modes entered again and again, each with an impulse.
fn row_with_clutch() -> Mdae {
    let m = Builder::new("Row");
    let count = 48;
    let x: Vec<Ex> = (0..count).map(|k| m.state(&format!("x{k}"), 0.01 * k as f64)).collect();
    let v: Vec<Ex> = (0..count).map(|k| m.state(&format!("v{k}"), 0.0)).collect();
    let (w, tau) = (m.state("w", 1.0), m.unknown("tau"));
    let (phase, beat) = (m.state("phase", 0.0), m.unknown("beat"));
    m.equation("phase", phase.der() - 62.8);
    m.equation("beat", &beat - phase.apply(UnaryFunction::Sin));
    for k in 0..count {
        let mut force = -1.0 * &v[k];
        if k > 0 {
            force = force + 100.0 * (&x[k - 1] - &x[k]);
        } else {
            force = force + &tau;
        }
        if k + 1 < count {
            force = force + 100.0 * (&x[k + 1] - &x[k]);
        }
        m.equation(&format!("dx{k}"), x[k].der() - &v[k]);
        m.equation(&format!("dv{k}"), v[k].der() - force);
    }
    m.equation("w", 5.0 * w.der() + &tau - 1.0 + 0.1 * &w);
    let engaged = beat.gt(&m.real(0.0));
    m.equation_if(&engaged, "engaged", &w - &v[0]);
    m.equation_if(&!&engaged, "open", tau);
    m.finish().expect("valid")
}

/// Two runs of different lengths: what the longer one adds is free of first entries.
fn report(name: &str, model: Mdae, short: f64, long: f64) {
    // `cargo bench … -- ball` runs what has that in its name.
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    if wanted.is_some_and(|wanted| !name.contains(&wanted)) {
        return;
    }
    let compiled = Compiled::new(saltus_structure::prepare::prepare(model).model).expect("compiles");
    let (first, second) = (run(&compiled, short), run(&compiled, long));
    let count = |m: &Measured| m.report.counters.events as f64;
    let events = (count(&second) - count(&first)).max(1.0);
    let per_event = |all: f64| all * 1e6 / events;
    let c = second.report.counters;
    println!(
        "{name:22} {:>6} events: {:>7.2} µs each, of which {:>7.2} µs modes and restarts; in all {:>8.2} ms modes of {:>8.2} ms; \
         {} modes, {} changes, {} candidates, {} restarts ({} analysed), {} steps{}",
        c.events,
        per_event(second.total - first.total),
        per_event(second.in_events - first.in_events),
        second.in_events * 1e3,
        second.total * 1e3,
        c.modes,
        c.mode_changes,
        c.candidates,
        c.restarts,
        c.restart_analyses,
        c.steps,
        second
            .report
            .outcome
            .err()
            .map_or_else(String::new, |failure| format!("; {failure}")),
    );
}

fn main() {
    report("bouncing ball", ball(), 200.0, 10.0 * 2000.0);
    report("row with clutch", row_with_clutch(), 2.0, 200.0);
    for count in [1, 8, 30] {
        report(&format!("{count} diodes, one source"), diodes(count), 0.1, 0.5);
    }
    for count in [4, 10, 30] {
        report(&format!("chain of {count} diodes"), chain(count), 0.1, 0.5);
    }
    // Ten periods, of which the first two meet the modes for the first time.
    report("restless chain of 30", restless_chain(30, true), 1.0, 10.0 / COMMON);
    report("never the same mode", restless_chain(30, false), 0.1, 1.0);
}
