//! No crossing of the computed solution is missed, however fast a condition moves beside slow states.
//!
//! Each family draws models at random (frequencies, levels, widths, scales of time, solvers, tolerances) and counts how
//! often a condition becomes true; how often it should is known in closed form or by brute force.
//! `SALTUS_MISSED=1000` runs so many models of each family instead of a few.

mod run_support;

use std::fmt::Write;

use run_support::{SOLVERS, last};
use saltus::results::RowKind;
use saltus::{Method, Session};
use saltus_testing::Random;

/// A model with two slow states and a condition that does not influence them, which is counted.
struct Case {
    declarations: String,
    equations: String,
    condition: String,
    stop: f64,
    /// How often the condition becomes true after the start.
    count: usize,
}

impl Case {
    fn new(condition: String, stop: f64, count: usize) -> Self {
        Case {
            declarations: String::new(),
            equations: String::new(),
            condition,
            stop,
            count,
        }
    }

    fn with(mut self, declarations: &str, equations: String) -> Self {
        self.declarations = declarations.to_owned();
        self.equations = equations;
        self
    }

    fn text(&self) -> String {
        format!(
            "model M\n  Real x(start = 1, fixed = true), y(start = 0, fixed = true); Integer n(start = 0, fixed = true);\n  \
             Boolean b = {};\n  {}\nequation\n  der(x) = -0.01*x; der(y) = if b then 1 else 0;\n  \
             when b then n = pre(n) + 1; end when;\n  {}\nend M;\n",
            self.condition, self.declarations, self.equations
        )
    }
}

/// How often a function becomes positive.
fn rises(stop: f64, g: impl Fn(f64) -> f64) -> usize {
    const STEPS: usize = 100_000;
    let positive = |k: usize| g(stop * k as f64 / STEPS as f64) > 0.0;
    (1..=STEPS).filter(|&k| positive(k) && !positive(k - 1)).count()
}

fn try_family(name: &str, seed: u64, few: usize, mut draw: impl FnMut(&mut Random) -> Case) {
    let many = std::env::var("SALTUS_MISSED").ok().and_then(|count| count.parse().ok());
    let mut random = Random(seed);
    let mut wrong = Vec::new();
    let count = many.unwrap_or(few);
    for _ in 0..count {
        let case = draw(&mut random);
        let solver = SOLVERS[random.below(SOLVERS.len())];
        let tolerance = [1e-6, 1e-6, 1e-4, 1e-8][random.below(4)];
        let found = last(&case.text(), "n", case.stop, solver, tolerance);
        if found != Ok(case.count as f64) {
            wrong.push(format!(
                "{found:?} instead of {} with {solver} {tolerance:e}, stop {}\n{}",
                case.count,
                case.stop,
                case.text()
            ));
        }
    }
    let report = wrong.first().cloned().unwrap_or_default();
    assert!(wrong.is_empty(), "{name}: {} of {count} wrong; {report}", wrong.len());
}

#[test]
fn waves_beside_slow_states() {
    use std::f64::consts::TAU;
    try_family("a sine of time", 1, 12, |random| {
        let stop = random.power(-3.0, 2.0);
        let (w, phase) = (TAU * random.between(0.3, 300.0) / stop, random.between(0.0, TAU));
        // Tangential on both sides of both extremes as well.
        let level = match random.below(4) {
            0 => 1.0 - random.power(-9.0, -2.0),
            1 => random.power(-9.0, -2.0) - 1.0,
            2 => 1.0 + random.power(-9.0, -2.0),
            _ => random.between(-0.99, 0.99),
        };
        let condition = format!("sin({w:?}*time + {phase:?}) > {level:?}");
        if level >= 1.0 {
            return Case::new(condition, stop, 0);
        }
        let first = (level.asin() - phase).rem_euclid(TAU) / w;
        let count = if first < stop {
            ((stop - first) * w / TAU).floor() + 1.0
        } else {
            0.0
        };
        Case::new(condition, stop, count as usize)
    });
    try_family("products, chirps, powers", 2, 12, |random| {
        let stop = random.power(-3.0, 2.0);
        let w = TAU * random.between(1.0, 30.0) / stop;
        let (v, level) = (w * random.between(1.1, 5.0), random.between(0.3, 0.97));
        let (condition, count) = match random.below(5) {
            0 => {
                let p = 2 * (1 + random.below(40));
                let g = |t: f64| (w * t).sin().powi(p as i32) - level;
                (format!("sin({w:?}*time)^{p} > {level:?}"), rises(stop, g))
            }
            1 => (
                format!("sin({w:?}*time)*sin({v:?}*time) > {level:?}"),
                rises(stop, |t| (w * t).sin() * (v * t).sin() - level),
            ),
            2 => (
                format!("sin({w:?}*time + {:?}*time^2) > {level:?}", v / stop),
                rises(stop, |t| (w * t + v / stop * t * t).sin() - level),
            ),
            3 => (
                format!("sin({w:?}*time + 5*sin({:?}*time)) > {level:?}", w / 7.0),
                rises(stop, |t| (w * t + 5.0 * (w / 7.0 * t).sin()).sin() - level),
            ),
            _ => (
                format!("exp(8*cos({w:?}*time) - 8) > {level:?}"),
                rises(stop, |t| (8.0 * (w * t).cos() - 8.0).exp() - level),
            ),
        };
        Case::new(condition, stop, count)
    });
    try_family(
        "a sine of a state, a rotating state, an algebraic variable",
        3,
        16,
        |random| {
            let stop = random.power(-3.0, 2.0);
            let w = TAU * random.between(0.5, 60.0) / stop;
            let level = random.between(-0.8, 0.8);
            let sine = |a: f64, level: f64| rises(stop, |t| a * (w * t).sin() - level);
            match random.below(4) {
                0 => Case::new(format!("sin(phi) > {level:?}"), stop, sine(1.0, level))
                    .with("Real phi(start = 0, fixed = true);", format!("der(phi) = {w:?};")),
                1 => Case::new(format!("q > {level:?}"), stop, sine(1.0, level)).with(
                    "Real p(start = 1, fixed = true), q(start = 0, fixed = true);",
                    format!("der(p) = -{w:?}*q; der(q) = {w:?}*p;"),
                ),
                2 => Case::new(format!("v > {:?}", 0.4 * level), stop, sine(1.0, level))
                    .with("Real u, v, i;", format!("u = sin({w:?}*time); u - v = 3*i; v = 2*i;")),
                _ => Case::new(format!("v > {level:?}"), stop, sine(2.0, level + level.powi(3)))
                    .with("Real u, v;", format!("u = 2*sin({w:?}*time); v + v^3 = u;")),
            }
        },
    );
}

#[test]
fn waves_without_states() {
    let mut random = Random(4);
    for _ in 0..4 {
        let (stop, level) = (random.power(-3.0, 2.0), random.between(-0.99, 0.999));
        let w = std::f64::consts::TAU * random.between(0.5, 1000.0) / stop;
        let text = format!(
            "model M\n  Integer n(start = 0, fixed = true);\nequation\n  \
             when sin({w:?}*time) > {level:?} then n = pre(n) + 1; end when;\nend M;\n"
        );
        let count = rises(stop, |t| (w * t).sin() - level);
        assert_eq!(
            last(&text, "n", stop, Method::Auto, 1e-6),
            Ok(count as f64),
            "stop {stop}: {text}"
        );
    }
}

#[test]
fn narrow_pulses() {
    try_family("a pulse of time", 5, 20, |random| {
        let stop = random.power(-3.0, 2.0);
        let (center, width) = (random.between(0.05, 0.95) * stop, random.power(-7.0, -2.0) * stop);
        let q = format!("((time - {center:?})/{width:?})");
        let condition = match random.below(9) {
            0 => format!("exp(-{q}^2) > 0.5"),
            1 => format!("1/(1 + {q}^2) > 0.5"),
            2 => format!("abs({q}) < 1"),
            3 => format!("{q}^2 < 1"),
            4 => format!("1/cosh({q})^2 > 0.3"),
            5 => format!("1 - tanh({q})^2 > 0.4"),
            6 => format!("exp(-{q}^4) > 0.1"),
            7 => format!("sqrt(1 + {q}^2) < 2"),
            _ => format!("5*exp(-abs({q})) - x > 3"),
        };
        Case::new(condition, stop, 1)
    });
    // Far from the pulse their terms are up to 1e28.
    try_family("a pulse of a power of time", 8, 12, |random| {
        let stop = random.power(-3.0, 2.0);
        let (center, width) = (random.between(0.05, 0.95) * stop, random.power(-7.0, -3.0) * stop);
        let (power, level) = ([2, 4][random.below(2)], random.between(0.1, 0.9));
        let pulse = format!("1 - ((time - {center:?})/{width:?})^{power}");
        match random.below(2) {
            0 => Case::new(format!("{pulse} > {level:?}"), stop, 1),
            _ => Case::new(format!("p2 > {level:?}"), stop, 1).with("Real p1, p2;", format!("p2 = p1; p1 = {pulse};")),
        }
    });
    try_family("a pulse of a state, a touch of zero", 6, 16, |random| {
        let stop = random.power(-3.0, 2.0);
        let (center, width) = (random.between(0.1, 0.9), random.power(-5.0, -2.0));
        let depth = random.power(-10.0, -2.0);
        let (condition, count) = match random.below(5) {
            0 => (format!("exp(-((z - {center:?})/{width:?})^2) > 0.5"), 1),
            1 => (format!("1/(1 + ((z - {center:?})/{width:?})^2) > 0.5"), 1),
            2 => (format!("abs(z - {center:?}) < {width:?}"), 1),
            3 => (format!("(z - {center:?})^2 < {depth:?}"), 1),
            _ => (format!("(z - {center:?})^2 < -{depth:?}"), 0),
        };
        let state = "Real z(start = 0, fixed = true);";
        Case::new(condition, stop, count).with(state, format!("der(z) = {:?};", 1.0 / stop))
    });
    try_family("a pulse train", 7, 4, |random| {
        let stop = random.power(-3.0, 2.0);
        let period = stop / random.between(5.0, 60.0);
        let width = period * random.power(-6.0, -0.5);
        // It holds at the start.
        let count = (stop / period).floor();
        Case::new(format!("mod(time, {period:?}) < {width:?}"), stop, count as usize)
    });
}

/// A function whose value is that of an expression in its input `t`, computed in several statements, in a branch, in a loop
/// or by a function that it calls.
fn as_function(random: &mut Random, before: &str, value: &str) -> String {
    let body = match random.below(4) {
        0 => format!("{before} y := {value};"),
        1 => format!("{before} if t >= 0 then y := {value}; else y := {value}; end if;"),
        2 => format!("y := 0; for i in 1:3 loop {before} y := y + ({value})/3; end for;"),
        _ => "y := g(t);".to_owned(),
    };
    let inner = format!(
        "function g input Real t; output Real y; protected Real a; algorithm a := 0; {before} y := {value}; end g;"
    );
    format!(
        "{inner} function f input Real t; output Real y; protected Real a; algorithm a := 0; {body} end f; Real u, r, s;"
    )
}

#[test]
fn functions_written_as_algorithms() {
    use std::f64::consts::TAU;
    try_family("a pulse in a function", 51, 24, |random| {
        let stop = random.power(-3.0, 2.0);
        let (center, width) = (random.between(0.05, 0.95) * stop, random.power(-6.0, -2.0) * stop);
        let before = format!("a := (t - {center:?})/{width:?};");
        let value = match random.below(8) {
            0 => "exp(-a^2)",
            1 => "1/(1 + a^2)",
            2 => "(if a > -1 and a < 1 then 1 else 0)",
            3 => "max(0, 1 - abs(a))",
            4 => "1/cosh(a)^2",
            5 => "(if abs(a) < 1 then 1 - a^2/4 else 0)",
            6 => "min(1, exp(-abs(a)))",
            _ => "0.5*(tanh(a + 2) - tanh(a - 2))",
        };
        let declarations = as_function(random, &before, value);
        let of_state = random.below(2) == 0;
        let equations = if of_state {
            "der(r) = 1; s = r + 1; u = f(s - 1);".to_owned()
        } else {
            "r = time; s = 0; u = f(r);".to_owned()
        };
        let declarations = if of_state {
            declarations.replace("Real u, r, s;", "Real u, s, r(start = 0, fixed = true);")
        } else {
            declarations
        };
        Case::new("u > 0.4".to_owned(), stop, 1).with(&declarations, equations)
    });
    try_family("a wave in a function", 52, 12, |random| {
        let stop = random.between(0.5, 20.0);
        let (w, level) = (TAU * random.between(3.0, 200.0) / stop, random.between(0.3, 0.99));
        let declarations = as_function(random, &format!("a := {w:?}*t;"), "sin(a)");
        let count = rises(stop, |t| (w * t).sin() - level);
        Case::new(format!("u > {level:?}"), stop, count).with(&declarations, "r = time; s = 0; u = f(r);".to_owned())
    });
    try_family("points that a function looks up", 53, 12, |random| {
        let stop = random.power(-2.0, 2.0);
        let count = 1 + random.below(4);
        let (mut points, mut values) = (vec!["0".to_owned()], vec!["0".to_owned()]);
        for k in 0..count {
            let place = stop * (k as f64 + random.between(0.2, 0.8)) / count as f64;
            let width = stop * random.power(-6.0, -2.0);
            points.extend([-1.0, 0.0, 1.0].map(|side| format!("{:?}", place + side * width)));
            values.extend(["0", "1", "0"].map(str::to_owned));
        }
        points.push(format!("{:?}", 2.0 * stop));
        values.push("0".to_owned());
        let (size, points, values) = (points.len(), points.join(", "), values.join(", "));
        let declarations = format!(
            "constant Real xs[{size}] = {{{points}}}; constant Real ys[{size}] = {{{values}}}; Real u;
            function f input Real t; input Real x[:]; input Real y[size(x, 1)]; output Real r; protected Integer k;
            algorithm k := 1; while k < size(x, 1) - 1 and t > x[k + 1] loop k := k + 1; end while;
            r := y[k] + (y[k + 1] - y[k])*(t - x[k])/(x[k + 1] - x[k]); end f;"
        );
        Case::new("u > 0.6".to_owned(), stop, count).with(&declarations, "u = f(time, xs, ys);".to_owned())
    });
}

#[test]
fn conditions_with_bends() {
    use std::f64::consts::TAU;
    try_family("absolute values, least and greatest of waves", 31, 16, |random| {
        let stop = random.between(0.5, 20.0);
        let w: [f64; 2] = std::array::from_fn(|_| TAU * random.between(1.0, 60.0) / stop);
        let phase: [f64; 2] = std::array::from_fn(|_| random.between(0.0, TAU));
        let wave = move |k: usize, t: f64| (w[k] * t + phase[k]).sin();
        let text = |k: usize| format!("sin({}*time + {})", w[k], phase[k]);
        let (a, b) = (text(0), text(1));
        let (condition, g): (String, Box<dyn Fn(f64) -> f64>) = match random.below(4) {
            0 => {
                let level = random.between(0.5, 1.9);
                let g = move |t: f64| (wave(0, t) - wave(1, t)).abs() - level;
                (format!("abs({a} - {b}) > {level}"), Box::new(g))
            }
            1 => {
                let level = random.between(-0.5, 0.9);
                let g = move |t: f64| level - wave(0, t).max(wave(1, t));
                (format!("max({a}, {b}) < {level}"), Box::new(g))
            }
            2 => {
                let level = random.between(-0.9, 0.5);
                let g = move |t: f64| wave(0, t).min(wave(1, t)) - level;
                (format!("min({a}, {b}) > {level}"), Box::new(g))
            }
            _ => {
                let (w, level) = (TAU * random.between(0.5, 20.0) / stop, random.between(0.1, 0.9));
                let slope = 1.0 / stop;
                let g = move |t: f64| level - (1.0 - slope * t).max((w * t).sin());
                (
                    format!(
                        "noEvent(if 1 - {slope}*time > sin({w}*time) then 1 - {slope}*time else sin({w}*time)) < {level}"
                    ),
                    Box::new(g),
                )
            }
        };
        Case::new(condition, stop, rises(stop, g))
    });
    try_family("bends whose argument is zero but for rounding", 33, 12, |random| {
        let stop = random.power(-3.0, 3.0);
        let (w, v) = (
            TAU * random.between(1.0, 40.0) / stop,
            TAU * random.between(1.0, 40.0) / stop,
        );
        let (level, size) = (random.between(0.1, 0.9), random.power(-9.0, 9.0));
        let wave = move |t: f64| (w * t).sin();
        let zero = format!("({size}*cos({v}*time)^2 + {size}*sin({v}*time)^2 - {size})/{size}");
        let bent = match random.below(3) {
            0 => format!("max({zero}, 0)"),
            1 => format!("abs({zero})"),
            _ => format!("min(0, {zero})"),
        };
        let condition = format!("sin({w}*time) + {bent} > {level}");
        Case::new(condition, stop, rises(stop, move |t| wave(t) - level))
    });
    try_family("straight pieces of time", 32, 12, |random| {
        let stop = random.power(-3.0, 3.0);
        let (middle, half) = (stop * random.between(0.3, 0.7), stop * random.power(-6.0, -1.0));
        let condition = match random.below(3) {
            0 => format!("abs(time - {middle}) < {half}"),
            1 => format!("max(1 - abs(time - {middle})/{half}, 0) > 0.5"),
            _ => format!("sign(time - {middle}) > 0.5"),
        };
        Case::new(condition, stop, 1)
    });
}

#[test]
fn angles_that_have_gone_far() {
    try_family("a mark on a shaft", 33, 8, |random| {
        let (w, stop) = (random.between(50.0, 150.0), random.between(20.0, 60.0));
        let level = 1.0 - random.power(-4.0, -1.0);
        let g = move |t: f64| (w * t + 1.0).cos() - level;
        // Each pulse is longer than a step of the count.
        const STEPS: usize = 4_000_000;
        let positive = |k: usize| g(stop * k as f64 / STEPS as f64) > 0.0;
        let count = (1..=STEPS).filter(|&k| positive(k) && !positive(k - 1)).count();
        Case::new(format!("cos(phi) > {level}"), stop, count)
            .with("Real phi(start = 1, fixed = true);", format!("der(phi) = {w};"))
    });
}

#[test]
fn several_conditions_at_once() {
    use std::f64::consts::TAU;
    let mut random = Random(8);
    for _ in 0..4 {
        let stop = random.power(-3.0, 2.0);
        let waves: Vec<(f64, f64, f64)> = (0..2 + random.below(5))
            .map(|_| {
                let w = TAU * random.between(0.5, 60.0) / stop;
                (w, random.between(0.0, TAU), random.between(-0.98, 0.98))
            })
            .collect();
        let count: usize = waves
            .iter()
            .map(|&(w, p, level)| rises(stop, |t| (w * t + p).sin() - level))
            .sum();
        let whens: String = waves
            .iter()
            .enumerate()
            .map(|(k, (w, p, level))| {
                let k = k + 1;
                format!("  when sin({w:?}*time + {p:?}) > {level:?} then m[{k}] = pre(m[{k}]) + 1; end when;\n")
            })
            .collect();
        let size = waves.len();
        let text = format!(
            "model M\n  Real x(start = 1, fixed = true); Integer m[{size}](each start = 0, each fixed = true); Integer n;\n\
             equation\n  der(x) = -x/{stop:?}; n = sum(m);\n{whens}end M;\n"
        );
        assert_eq!(last(&text, "n", stop, Method::Auto, 1e-6), Ok(count as f64), "{text}");
    }
}

/// One wave, written in several ways that differ by rounding: events of one must not hide the next ones of the others.
#[test]
fn conditions_that_cross_together() {
    use std::f64::consts::{FRAC_PI_2, TAU};
    let mut random = Random(9);
    for _ in 0..12 {
        let stop = random.power(-3.0, 2.0);
        let (w, level) = (TAU * random.between(0.5, 40.0) / stop, random.between(-0.98, 0.98));
        // Zero at the start in some: they turn right after it.
        let (p, level) = match random.below(3) {
            0 => (0.0, 0.0),
            _ => (random.between(0.1, 6.0), level),
        };
        let wave = |t: f64| (w * t + p).sin() - level;
        let (up, down) = (rises(stop, wave), rises(stop, |t| -wave(t)));
        let ways = [
            (format!("sin({w:?}*time + {p:?}) > {level:?}"), up),
            (format!("cos({w:?}*time + ({:?})) > {level:?}", p - FRAC_PI_2), up),
            (format!("{:?} < 3*sin({w:?}*time + {p:?})", 3.0 * level), up),
            (format!("sin({w:?}*time + {p:?}) < {level:?}"), down),
            (format!("s > {level:?}"), up),
            (format!("s < {level:?}"), down),
        ];
        let mut whens = String::new();
        let mut expected = 0;
        for k in 0..2 + random.below(3) {
            // Rounding decides on which side a cosine begins that is zero.
            let (condition, count) = match random.below(ways.len()) {
                1 if level == 0.0 => &ways[0],
                way => &ways[way],
            };
            let _ = writeln!(
                whens,
                "  when {condition} then m[{0}] = pre(m[{0}]) + 1; end when;",
                k + 1
            );
            expected += count * 10usize.pow(3 * k as u32);
        }
        let size = whens.lines().count();
        let sum: Vec<String> = (0..size).map(|k| format!("1e{}*m[{}]", 3 * k, k + 1)).collect();
        let text = format!(
            "model M\n  Real x(start = 1, fixed = true), s, n; Integer m[{size}](each start = 0, each fixed = true);\nequation\n  \
             der(x) = -x/{stop:?}; s = sin({w:?}*time + {p:?}); n = {};\n{whens}end M;\n",
            sum.join(" + ")
        );
        assert_eq!(
            last(&text, "n", stop, Method::Auto, 1e-6),
            Ok(expected as f64),
            "{text}"
        );
    }
}

/// An ideal half-wave rectifier with a smoothing capacitor: how often the diode begins to conduct after the start.
fn conductions(amplitude: f64, w: f64, rc: f64, stop: f64) -> usize {
    const STEPS: usize = 200_000;
    let (mut since, mut count) = (None::<(f64, f64)>, 0);
    for k in 1..=STEPS {
        let t = stop * k as f64 / STEPS as f64;
        let u = amplitude * (w * t).sin();
        match since {
            None if rc * amplitude * w * (w * t).cos() + u < 0.0 => since = Some((t, u)),
            Some((begin, v)) if u > v * (-(t - begin) / rc).exp() => {
                since = None;
                count += 1;
            }
            _ => {}
        }
    }
    count
}

#[test]
fn rectifiers_conduct_in_every_period() {
    let mut random = Random(9);
    for _ in 0..10 {
        let (f, r, v) = (random.power(0.0, 4.0), random.power(1.0, 4.0), random.power(-1.0, 3.0));
        let rc = random.power(-0.5, 2.0) / f;
        let (stop, w, c) = (random.between(3.0, 20.0) / f, std::f64::consts::TAU * f, rc / r);
        let text = format!(
            "model M\n  import Saltus.Electrical.*; SineVoltage vs(V = {v:?}, f = {f:?}); IdealDiode d; Ground g;\n  \
             Capacitor c(C = {c:?}, v(start = 0, fixed = true)); Resistor r(R = {r:?}); Integer n(start = 0, fixed = true);\n\
             equation\n  connect(vs.p, d.p); connect(d.n, c.p); connect(c.p, r.p); connect(c.n, g.p); connect(r.n, g.p);\n  \
             connect(vs.n, g.p); when d.i > {:?} then n = pre(n) + 1; end when;\nend M;\n",
            0.01 * v / r
        );
        let count = conductions(v, w, rc, stop);
        let solver = SOLVERS[random.below(SOLVERS.len())];
        assert_eq!(
            last(&text, "n", stop, solver, 1e-6),
            Ok(count as f64),
            "{solver}, stop {stop}: {text}"
        );
    }
}

#[test]
fn output_points_leave_no_trace() {
    let rectifier = "model M\n  import Saltus.Electrical.*; SineVoltage vs(V = 10, f = 50); IdealDiode d1, d2; Ground g;\n  \
         Capacitor c1(C = 1e-4), c2(C = 1e-4); Resistor r(R = 5000); Resistor s(R = 1);\n\
         equation\n  connect(vs.p, s.p); connect(s.n, c1.p); connect(c1.n, d1.n); connect(d1.p, g.p); connect(c1.n, d2.p);\n  \
         connect(d2.n, c2.p); connect(c2.n, g.p); connect(c2.p, r.p); connect(r.n, g.p); connect(vs.n, g.p);\nend M;\n";
    let nonlinear = "model M\n  Real x(start = 1, fixed = true), v, u; Integer n(start = 0, fixed = true);\n\
         equation\n  der(x) = -x + 0.1*v; u = 2*sin(400*time); v + v^3 + 0.1*exp(v) = u + x;\n  \
         when v > 0.7 then n = pre(n) + 1; end when;\nend M;\n";
    let stateless = "model M\n  Integer n(start = 0, fixed = true);\nequation\n  \
         when sin(300*time) > 0.9 then n = pre(n) + 1; end when;\nend M;\n";
    let mut random = Random(10);
    for text in [rectifier, nonlinear, stateless] {
        let session = Session::new();
        session.add_text("M.mo", text);
        let model = session.compile("M").into_result().unwrap();
        let events = |interval: f64| {
            let simulation = model.run().stop(0.3).interval(interval).simulate().unwrap();
            let trajectory = &simulation.trajectory;
            let rows = (0..trajectory.rows()).filter(|&row| trajectory.kinds()[row] == RowKind::EventRight);
            let times: Vec<u64> = rows.map(|row| simulation.time()[row].to_bits()).collect();
            (times, simulation.summary.report.counters)
        };
        let expected = events(0.3);
        assert!(expected.0.len() > 5, "{text}");
        for _ in 0..5 {
            let interval = random.power(-4.0, 0.0);
            assert_eq!(events(interval), expected, "interval {interval}: {text}");
        }
    }
}
