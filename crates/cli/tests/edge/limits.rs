//! Numbers, periods, sizes and circles that would take for ever: refused with a place, or done, in bounded work.

use crate::support::Folder;

/// What is expected of a command.
#[derive(Clone, Copy)]
enum Expected {
    /// An error with a place and the status of a wrong model or a failed run.
    Refused,
    /// Any ordinary end.
    Ends,
    /// Success.
    Done,
}

use Expected::{Done, Ends, Refused};

fn answered(expected: Expected, name: &str, arguments: &[&str], text: &str) {
    let folder = Folder::new().with("M.mo", text);
    let ran = folder.run(arguments);
    let reported = format!("{name}: status {}\n{}", ran.status, ran.stderr);
    match expected {
        Refused => {
            assert!(ran.status == 1 || ran.status == 3, "{reported}");
            assert!(ran.stderr.contains("-->"), "{reported}");
        }
        Ends => assert!((0..=3).contains(&ran.status), "{reported}"),
        Done => assert_eq!(ran.status, 0, "{reported}"),
    }
}

fn simulated(expected: Expected, name: &str, text: &str) {
    answered(
        expected,
        name,
        &["simulate", "M.mo", "--stop", "1", "-o", "out.csv"],
        text,
    );
}

fn checked(expected: Expected, name: &str, text: &str) {
    answered(expected, name, &["check", "M.mo"], text);
}

fn state(start: &str, slope: &str) -> String {
    format!("model M Real x(start = {start}, fixed = true); equation der(x) = {slope}; end M;")
}

#[test]
fn large_numbers() {
    for (start, slope) in [
        ("1", "1e150"),
        ("1", "1e300"),
        ("1", "-1e308"),
        ("1e308", "-9.81"),
        ("5e-324", "-x"),
        ("1", "-1e200*(x - cos(time))"),
        ("1", "-1e300*x"),
    ] {
        simulated(Done, slope, &state(start, slope));
    }
    for (start, slope) in [("1", "1e160*x"), ("1e160", "-x^2"), ("1e160", "x^2"), ("1", "exp(x^2)")] {
        simulated(Ends, slope, &state(start, slope));
    }
    let oscillator = "model M Real x(start = 1, fixed = true), y(start = 0, fixed = true); \
                      equation der(x) = W*y; der(y) = -W*x; end M;";
    for frequency in ["1e12", "1e300"] {
        simulated(Refused, frequency, &oscillator.replace('W', frequency));
    }
    simulated(Refused, "overflow", "model M Real x = exp(1000*time); end M;");
    let square = "model M Real x(start = 1e200, fixed = true); Real y = x*x; equation der(x) = 0; end M;";
    simulated(Refused, "square", square);
}

/// The result of a slope that squares beyond all numbers is exact.
#[test]
fn large_slopes_are_integrated() {
    let folder = Folder::new().with("M.mo", state("1", "1e150"));
    folder.expect(0, &["simulate", "M.mo", "--stop", "1", "-o", "out.csv"]);
    let text = folder.read("out.csv");
    let last: Vec<f64> = text
        .lines()
        .last()
        .unwrap()
        .split(',')
        .map(|field| field.parse().unwrap())
        .collect();
    assert!((last[2] / 1e150 - 1.0).abs() < 1e-9, "{last:?}");
}

#[test]
fn short_periods() {
    let ticks = |from: &str, interval: &str| {
        format!(
            "model M Integer n(start = 0, fixed = true); equation \
             when sample({from}, {interval}) then n = pre(n) + 1; end when; end M;"
        )
    };
    for (from, interval) in [
        ("0", "1e-300"),
        ("0", "5e-324"),
        ("0", "1e-20"),
        ("0.5", "1e-17"),
        ("0", "1e-9"),
        ("0", "0"),
        ("0", "-1"),
    ] {
        simulated(Refused, interval, &ticks(from, interval));
        checked(Ends, interval, &ticks(from, interval));
    }
    simulated(Done, "after the stop", &ticks("2", "1e-300"));
    for function in [
        "mod(time, 1e-300)",
        "mod(time, 1e-10)",
        "floor(time/1e-200)",
        "floor(1e9*time)",
        "div(time, 1e-250)",
        "integer(1e12*time)",
        "ceil(1e15*time)",
    ] {
        simulated(Ends, function, &format!("model M Real x = {function}; end M;"));
    }
    let moving = "model M Real t(start = 0, fixed = true); equation when time >= pre(t) then t = pre(t) + 1e-12; end when; \
                  end M;";
    simulated(Ends, "moving", moving);
    let sawtooth = "model M Real x(start = 1, fixed = true); equation der(x) = -1e9; when x < 0 then reinit(x, 1); end when; \
                    end M;";
    simulated(Refused, "sawtooth", sawtooth);
}

/// Ticks of a short run are told apart although they are closer than a picosecond.
#[test]
fn short_runs_have_short_periods() {
    let text = "model M Integer n(start = 0, fixed = true); equation \
                when sample(0, 1e-14) then n = pre(n) + 1; end when; end M;";
    let folder = Folder::new().with("M.mo", text);
    folder.expect(0, &["simulate", "M.mo", "--stop", "1e-13", "-o", "out.csv"]);
    let text = folder.read("out.csv");
    let count: f64 = text.lines().last().unwrap().split(',').nth(2).unwrap().parse().unwrap();
    assert!((10.0..=11.0).contains(&count), "{count}");
}

/// An amplifier with feedback has three solutions; where its own ceases to exist the run goes on with the one that remains,
/// wherever the search for the first one begins.
#[test]
fn folds_are_passed() {
    for start in ["0", "-15", "15", "-3"] {
        let text = format!(
            "model M Real v(start = 1, fixed = true); Real y(start = {start}); Real d(start = -8.5); equation \
             der(v) = y - v; d = 0.5*y - v; y = smooth(0, noEvent(if 15000*d > 15 then 15 else if 15000*d < -15 then -15 \
             else 15000*d)); end M;"
        );
        for solver in ["auto", "tsit45", "dop853", "radau", "bdf"] {
            let folder = Folder::new().with("M.mo", &text);
            folder.expect(
                0,
                &["simulate", "M.mo", "--stop", "1", "--solver", solver, "-o", "out.csv"],
            );
            let text = folder.read("out.csv");
            let last: f64 = text.lines().last().unwrap().split(',').nth(2).unwrap().parse().unwrap();
            assert!((last + 2.655_074).abs() < 1e-3, "{start} {solver}: {last}");
        }
    }
}

#[test]
fn trees() {
    let mut calls = "model M function f0 input Real x; output Real y; algorithm y := x*x + sin(x); end f0;".to_owned();
    for level in 1..14 {
        let below = level - 1;
        calls += &format!(
            " function f{level} input Real x; output Real y; algorithm y := f{below}(x) + f{below}(x + 1); end f{level};"
        );
    }
    checked(Ends, "calls", &(calls + " Real x = f13(time); end M;"));
    let mut models = "model A0 Real x = time; end A0;".to_owned();
    for level in 1..40 {
        models += &format!(" model A{level} A{} a, b; end A{level};", level - 1);
    }
    answered(Refused, "components", &["check", "M.mo", "--model", "A39"], &models);
    let mut chain = "model A0 Real x = 1; end A0;".to_owned();
    for level in 1..800 {
        chain += &format!(" model A{level} extends A{}; end A{level};", level - 1);
    }
    answered(Refused, "inheritance", &["check", "M.mo", "--model", "A799"], &chain);
}

#[test]
fn sizes_of_arrays_and_loops() {
    checked(
        Refused,
        "models",
        "model A Real x = time; end A; model M A a[2000, 2000]; end M;",
    );
    checked(
        Refused,
        "array",
        "model M Real x[10000, 10000] = fill(1, 10000, 10000); end M;",
    );
    let symbolic = "model M Real a[3, 3] = {{sin(i*j*time) for i in 1:3} for j in 1:3}; Real x[3, 3] = \
                    {{sin(i*j*time) for i in 1:3} for j in 1:3}^1000; end M;";
    checked(Refused, "symbolic power", symbolic);
    checked(
        Refused,
        "whole power",
        "model M Real x[2, 2] = {{1, 1}, {1, 0}}^1000000000; end M;",
    );
    checked(
        Refused,
        "real power",
        "model M Real x[2, 2] = {{1.5, 1}, {1, 0}}^100000; end M;",
    );
    let small = "model M Real x[2, 2] = {{1, 1}, {1, 0}}^50; Real y[2, 2] = {{0.5, 0}, {0, 0.5}}^1000000; end M;";
    checked(Done, "small powers", small);
    let doubling = "model M function f input Integer n; output String s; algorithm s := \"a\"; for i in 1:n loop s := s + s; \
                    end for; end f; parameter String s = f(100); Real x = 1; end M;";
    checked(Refused, "string", doubling);
    let literals: Vec<String> = (0..20_000).map(|n| format!("e{n}")).collect();
    let text = format!(
        "model M type E = enumeration({}); E x = E.e7; end M;",
        literals.join(", ")
    );
    checked(Done, "enumeration", &text);
}

#[test]
fn many_mistakes() {
    let many = |text: &dyn Fn(usize) -> String| (0..20_000).map(text).collect::<String>();
    let unknown = many(&|n| format!("Real x{n} = y{n}; "));
    checked(Refused, "names", &format!("model M {unknown} end M;"));
    let types = many(&|n| format!("T{n} x{n}; "));
    checked(Refused, "types", &format!("model M {types} end M;"));
    let twice = many(&|_| "Real x; ".to_owned());
    checked(Refused, "twice", &format!("model M {twice} end M;"));
}

#[test]
fn circles_of_definitions() {
    for (name, text) in [
        (
            "constants",
            "model M constant Integer a = b; constant Integer b = c; constant Integer c = a; Real x[a]; end M;",
        ),
        ("short", "model A = B; model B = C; model C = A; model M A a; end M;"),
        ("type", "type T = T; model M T x; end M;"),
        (
            "replaceable",
            "model A replaceable model B = A; B b; end A; model M A a; end M;",
        ),
        (
            "parameter",
            "model A parameter Integer n = 3; A a(n = n - 1) if n > 0; end A; model M A a(n = 100000); end M;",
        ),
        (
            "function",
            "model M function f input Integer n; output Integer y; algorithm y := f(n + 1); end f; parameter Integer n = \
             f(1); Real x[n]; end M;",
        ),
        (
            "two functions",
            "function g input Real n; output Real y; algorithm y := f(n + 1); end g; function f input Real n; output Real y; \
             algorithm y := g(n + 1); end f; model M constant Real n = f(1); Real x = n; end M;",
        ),
    ] {
        checked(Refused, name, text);
    }
}
