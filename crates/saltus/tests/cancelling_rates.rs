//! States that start at zero and whose rates are what is left of terms that cancel: the tolerance of such a state follows its
//! size, which is that of the rounding errors of its rate at first. The runs must neither fail nor crawl, in whatever units.

use saltus::{Method, Session};
use saltus_testing::Random;

/// A rate in s = time/T, its integral from 0 to 1, the integral of that, and the largest of its terms.
const RATES: [(&str, f64, f64, f64); 11] = [
    (
        "exp(s) - 1 - s",
        0.218_281_828_459_045_24,
        0.051_615_161_792_378_57,
        3.0,
    ),
    ("1 - cos(s)", 0.158_529_015_192_103_5, 0.040_302_305_868_139_72, 1.0),
    ("s - sin(s)", 0.040_302_305_868_139_72, 0.008_137_651_474_563_17, 1.0),
    (
        "sin(s)^2 + cos(s)^2 - cos(2*s)",
        0.545_351_286_587_159_1,
        0.145_963_290_863_214_4,
        2.0,
    ),
    ("(s + 3)^3 - 27 - 27*s - 9*s^2", 0.25, 0.05, 64.0),
    ("(1 + s)*(1 - s) - 1 + 2*s^2", 1.0 / 3.0, 1.0 / 12.0, 2.0),
    (
        "sqrt(1 + s) - 1 - s/2",
        -0.031_048_583_502_539_9,
        -0.008_172_200_135_365_28,
        2.0,
    ),
    ("(1e9 + s) - 1e9", 0.5, 1.0 / 6.0, 1e9),
    (
        "cos(s) - exp(-s^2/2)",
        -0.014_153_407_084_252_3,
        -0.002_457_357_472_921_94,
        1.0,
    ),
    (
        "oneMinusCosine(s)",
        0.158_529_015_192_103_5,
        0.040_302_305_868_139_72,
        1.0,
    ),
    (
        "log(1 + s) - s",
        -0.113_705_638_880_109_4,
        -0.030_372_305_546_776_05,
        1.0,
    ),
];

const SOLVERS: [(Method, f64); 6] = [
    (Method::Auto, 30.0),
    (Method::Bdf, 300.0),
    (Method::Esdirk43, 30.0),
    (Method::Radau, 30.0),
    (Method::Tsit45, 30.0),
    (Method::Dop853, 30.0),
];

/// More steps than any of these needs.
const MOST_STEPS: u64 = 3000;

#[test]
fn rates_that_cancel_are_integrated_in_any_units() {
    let mut random = Random(5);
    for turn in 0..120 {
        let (rate, once, twice, largest) = RATES[turn % RATES.len()];
        let (solver, enlargement) = random.of(&SOLVERS);
        let (length, time) = (random.power_of_ten(-12, 12), random.power_of_ten(-12, 12));
        let tolerance = random.of(&[1e-4, 1e-6, 1e-8, 1e-10]);
        let unit = random.of(&["", "unit = \"m\", "]);
        let chain = random.chance(50);
        let (equations, exact) = if chain {
            (
                format!("der(x) = v; der(v) = {:e}*({rate});", length / time / time),
                twice,
            )
        } else {
            (format!("der(x) = {:e}*({rate}); v = 0;", length / time), once)
        };
        let text = format!(
            "model M
            function oneMinusCosine input Real u; output Real y; protected Real c; algorithm c := cos(u); y := 1 - c; end oneMinusCosine;
            Real x({unit}start = 0, fixed = true), v(start = 0{}), s = time/{time:e};
            equation {equations} end M;",
            if chain { ", fixed = true" } else { "" },
        );
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").value.expect("a model");
        let run = model.run().stop(time).tolerance(tolerance).solver(solver).simulate();
        let simulation = run.unwrap_or_else(|failed| {
            let failure = failed.simulation.summary.failure;
            panic!(
                "{solver} at {tolerance:e}: {text}: {}",
                failure.map_or_else(String::new, |f| f.message.clone())
            )
        });
        let found = simulation
            .trajectory
            .signal("x")
            .expect("the state")
            .values
            .last()
            .expect("a row")
            / length;
        let allowed = enlargement * tolerance * exact.abs() + 1e-14 * largest;
        assert!(
            (found - exact).abs() <= allowed,
            "{solver} at {tolerance:e}: {text}: {found} instead of {exact}"
        );
        let steps = simulation.summary.report.counters.steps;
        assert!(steps < MOST_STEPS, "{solver} at {tolerance:e}: {text}: {steps} steps");
    }
}

/// A source that starts softly, an ideal diode and an inductor: the diode conducts from the start.
#[test]
fn a_diode_behind_a_soft_start_does_not_chatter() {
    for (k, &(voltage, current, time)) in [
        (1.0, 1.0, 1.0),
        (1e-9, 1e6, 1e-6),
        (1e6, 1e-9, 1e3),
        (1e-3, 1e-12, 1e-12),
    ]
    .iter()
    .enumerate()
    {
        for (rate, once, _, _) in &RATES[..2] {
            let text = format!(
                "model M Real s = time/{time:e}, i(start = 0, fixed = true), vd, p; Boolean on;
                equation {:e}*der(i) = {voltage:e}*({rate}) - vd;
                on = p > 0; vd = if on then 0 else {voltage:e}*p; i = if on then {current:e}*p else 0; end M;",
                voltage * time / current
            );
            let session = Session::new();
            session.add_text("M.mo", &text);
            let model = session.compile("M").value.expect("a model");
            let run = model.run().stop(time).tolerance([1e-6, 1e-8][k % 2]).simulate();
            let simulation = run.unwrap_or_else(|failed| {
                let failure = failed.simulation.summary.failure;
                panic!("{text}: {}", failure.map_or_else(String::new, |f| f.message.clone()))
            });
            let found = simulation
                .trajectory
                .signal("i")
                .expect("the current")
                .values
                .last()
                .expect("a row")
                / current;
            assert!(
                (found - once).abs() <= 3e-5 * once.abs(),
                "{text}: {found} instead of {once}"
            );
        }
    }
}
