//! Random functions over arrays `a[n]`: with `n` known they are evaluated before the run, with `n` that varies they are
//! executed with arrays of open size. Both must agree.

use saltus::Session;
use saltus_testing::Random;

/// A choice among texts.
fn one_of<'a>(random: &mut Random, texts: &[&'a str]) -> &'a str {
    texts[random.below(texts.len())]
}

/// A scalar; inside a loop over `i` or not.
fn scalar(random: &mut Random, depth: u32, in_loop: bool) -> String {
    let inner = |random: &mut Random| scalar(random, depth - 1, in_loop);
    match random.below(if depth > 0 { 6 } else { 3 }) {
        0 => one_of(random, &["u", "y", "1.5", "0.25", "n"]).to_owned(),
        1 => one_of(random, if in_loop { &["u", "y", "i"] } else { &["u", "y", "n"] }).to_owned(),
        2 if in_loop => one_of(random, &["a[1]", "b[n]", "a[i]", "b[i]"]).to_owned(),
        2 => one_of(random, &["a[1]", "b[n]", "a[n]"]).to_owned(),
        3 => format!(
            "({} {} {})",
            inner(random),
            one_of(random, &["+", "-", "*"]),
            inner(random)
        ),
        4 => format!("{}({})", one_of(random, &["sin", "abs", "cos"]), inner(random)),
        _ => {
            let [a, b, c, d] = std::array::from_fn(|_| inner(random));
            format!("(if {a} > {b} then {c} else {d})")
        }
    }
}

/// An array of `n` elements.
fn array(random: &mut Random, depth: u32) -> String {
    match random.below(if depth > 0 { 8 } else { 4 }) {
        0 => one_of(random, &["a", "b"]).to_owned(),
        1 => one_of(random, &["a[n:-1:1]", "b[1:n]", "b[:]"]).to_owned(),
        2 => format!("{{{} for i in 1:n}}", scalar(random, 1, true)),
        3 => format!("fill({}, n)", scalar(random, 1, false)),
        4 => {
            let (a, b) = (array(random, depth - 1), array(random, depth - 1));
            format!("({a} {} {b})", one_of(random, &["+", "-", ".*"]))
        }
        5 => format!("({}*{})", one_of(random, &["u", "2", "0.5"]), array(random, depth - 1)),
        6 => format!(
            "{}({})",
            one_of(random, &["sin", "abs", "square"]),
            array(random, depth - 1)
        ),
        _ => format!("(-{})", array(random, depth - 1)),
    }
}

fn reduction(random: &mut Random) -> String {
    match random.below(6) {
        0 => format!("sum({})", array(random, 2)),
        1 => format!("max({})", array(random, 1)),
        2 => format!("min({})", array(random, 1)),
        3 => format!("sum({} for i in 1:n)", scalar(random, 1, true)),
        4 => format!("product({} for i in 1:n - 1)", scalar(random, 1, true)),
        _ => format!("sum(sum({} for i in 1:j) for j in 1:n)", scalar(random, 1, true)),
    }
}

fn statement(random: &mut Random) -> String {
    let target = one_of(random, &["a", "b"]);
    match random.below(6) {
        0 => format!("{target} := {};", array(random, 2)),
        1 => format!("for i in 1:n loop {target}[i] := {}; end for;", scalar(random, 2, true)),
        2 => format!("y := {} + {};", reduction(random), scalar(random, 1, false)),
        3 => "a[2:n] := b[1:n - 1];".to_owned(),
        4 => format!("for x in {} loop y := 0.5*y + x; end for;", array(random, 1)),
        _ => {
            let (condition, sum, other) = (scalar(random, 1, false), reduction(random), array(random, 1));
            format!("if {condition} > 0 then y := {sum}; else b := {other}; end if;")
        }
    }
}

fn model(random: &mut Random) -> String {
    let n = 1 + random.below(5);
    let u = random.between(-2.0, 2.0) * random.power(-1.0, 0.5);
    let statements: Vec<String> = (0..2 + random.below(4)).map(|_| statement(random)).collect();
    format!(
        "model M
  function square input Real x; output Real y; algorithm y := x*x; end square;
  function f
    input Integer n;
    input Real u;
    output Real y;
  protected
    Real a[n] = {{u + i for i in 1:n}};
    Real b[n] = fill(u, n);
  algorithm
    y := 0;
    {}
    y := y + sum(a) + sum(b);
  end f;
  parameter Real p = f({n}, {u});
  Integer k = if time >= 0 then {n} else 1;
  Real known = p;
  Real open = f(k, {u});
end M;
",
        statements.join("\n    ")
    )
}

#[test]
fn open_sizes_give_what_known_sizes_give() {
    let mut random = Random(20);
    for _ in 0..60 {
        let text = model(&mut random);
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result();
        let model = model.unwrap_or_else(|d| panic!("not compiled: {d:?}\n{text}"));
        let run = model.run().stop(0.01).simulate();
        let run = run.unwrap_or_else(|failed| panic!("failed: {failed}\n{text}"));
        let last = |name: &str| run.values(name).and_then(|v| v.last().copied()).unwrap_or(f64::NAN);
        let (known, open) = (last("known"), last("open"));
        let agree = (known - open).abs() <= 1e-12 * known.abs().max(1.0);
        assert!(agree, "{known} with known sizes, {open} with open ones\n{text}");
    }
}
