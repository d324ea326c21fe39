//! Damaged and malicious input ends with a located error, in little time and memory.

use std::fmt::Write;
use std::sync::Arc;

use saltus_lang::{FlattenOptions, Limits, flatten};
use saltus_source::SourceMap;
use saltus_syntax::library::{Disk, Library};

/// Small limits: what is tested is that every way of growing is limited.
fn options() -> FlattenOptions {
    FlattenOptions {
        limits: Limits {
            scalars: 100_000,
            components: 10_000,
            string_length: 10_000,
            fuel: 1_000_000,
            function_fuel: 300_000,
            held: 20_000,
            ..Limits::default()
        },
        ..FlattenOptions::default()
    }
}

fn codes(text: &str) -> Vec<String> {
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
    library.add_text("hostile.mo", text);
    let flattened = flatten(&library, "M", &options());
    assert!(flattened.model.is_none(), "accepted: {text:.200}");
    assert!(
        flattened.diagnostics.iter().all(|d| d.span().is_some()),
        "an error without a place"
    );
    flattened.diagnostics.iter().map(|d| d.code.to_string()).collect()
}

fn assert_refused(text: &str, code: &str) {
    let found = codes(text);
    assert!(
        found.iter().any(|c| c == code),
        "{found:?} instead of {code} for {text:.200}"
    );
}

#[test]
fn arrays_are_limited() {
    assert_refused("model M\n  Real x[1000000, 1000000];\nend M;", "E0307");
    assert_refused("model M\n  Real x[1000000000000];\nend M;", "E0307");
    assert_refused("model M\n  Real x = sum(1:1000000000000);\nend M;", "E0307");
    assert_refused("model M\n  Real x = sum(ones(1000000, 1000000));\nend M;", "E0307");
    assert_refused("model M\n  Real x[-1];\nend M;", "E0306");
}

#[test]
fn evaluation_is_limited() {
    let endless = "function f\n  input Integer n;\n  output Integer m = n;\nalgorithm\n  while m > 0 loop\n    m := 1;\n  end while;\nend f;\nmodel M\n  Real x[f(1)];\nend M;";
    assert_refused(endless, "E0307");
    let mutual = "function f\n  input Integer n;\n  output Integer m = g(n + 1);\nend f;\nfunction g\n  input Integer n;\n  output Integer m = f(n + 1);\nend g;\nmodel M\n  Real x[f(1)];\nend M;";
    assert_refused(mutual, "E0307");
    let growing = "function f\n  output Integer n = 1;\nprotected\n  Real x[:] = {1};\nalgorithm\n  while true loop\n    x := cat(1, x, x);\n  end while;\nend f;\nmodel M\n  Real x[f()];\nend M;";
    assert_refused(growing, "E0307");
    let text = "function f\n  output Integer n = 1;\nprotected\n  String s = \"a\";\nalgorithm\n  while true loop\n    s := s + s;\n  end while;\nend f;\nmodel M\n  Real x[f()];\nend M;";
    assert_refused(text, "E0307");
}

#[test]
fn values_held_at_once_are_limited() {
    let constants = "package P\n  constant Real a[15000] = fill(1, 15000);\n  constant Real b[15000] = fill(2, 15000);\nend P;\nmodel M\n  Real y = P.a[1] + P.b[1];\nend M;";
    assert_refused(constants, "E0307");
    let recursive = "function f\n  input Integer n;\n  output Real y;\nprotected\n  Real a[1000] = fill(1.0, 1000);\nalgorithm\n  y := if n <= 0 then 0 else f(n - 1) + a[1];\nend f;\nmodel M\n  parameter Real y = f(50);\nend M;";
    assert_refused(recursive, "E0307");
    let several = "function f\n  output Real y;\nprotected\n  Real a[9000] = fill(1, 9000);\n  Real b[9000] = fill(1, 9000);\n  Real c[9000] = fill(1, 9000);\nalgorithm\n  y := a[1] + b[1] + c[1];\nend f;\nmodel M\n  parameter Real y = f();\nend M;";
    assert_refused(several, "E0307");
}

/// Every element is a statement of its own.
#[test]
fn arrays_in_functions_are_limited() {
    let filled = "function f\n  input Real x;\n  output Real y;\nprotected\n  Real a[20000] = fill(x, 20000);\nalgorithm\n  y := sum(a);\nend f;\nmodel M\n  Real y = f(time);\nend M;";
    assert_refused(filled, "E0307");
}

/// A call is tried in several ways; what cannot be called is tried once in each, however long the way to it.
#[test]
fn refused_calls_are_not_tried_again() {
    let call = |k: u32| {
        format!(
            "function f{k}\n  input Integer n;\n  output Real y = f{0}(n) + f{0}(n + 1);\nend f{k};\n",
            k + 1
        )
    };
    let mut text: String = (0..25).map(call).collect();
    text += "function f25\n  input Integer n;\n  output Real y;\nalgorithm\n  y := if n > 0 then sum(i for i in 1:n) else 0;\nend f25;\n";
    text += "model M\n  Integer n = if time > 0.5 then 2 else 1;\n  Real y = f0(n);\nend M;\n";
    assert_refused(&text, "E0304");
}

/// A sum takes its terms along: 50 000 terms in time that is linear in them.
#[test]
fn nested_sums_take_linear_time() {
    let text = "model M\n  Real x = sum(sum(i*j*time for i in 1:250) for j in 1:200);\nend M;";
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
    library.add_text("long.mo", text);
    assert!(flatten(&library, "M", &options()).model.is_some());
}

#[test]
fn equations_are_limited() {
    let loops = "model M\n  Real x;\nequation\n  for i in 1:3000 loop\n    for j in 1:3000 loop\n      x = i + j;\n    end for;\n  end for;\nend M;";
    assert_refused(loops, "E0307");
    let statements = "model M\n  Real x;\nalgorithm\n  for i in 1:3000 loop\n    for j in 1:3000 loop\n      x := i + j;\n    end for;\n  end for;\nend M;";
    assert_refused(statements, "E0307");
}

/// A function that asks to be inlined and doubles its value is called instead.
#[test]
fn inlining_is_limited() {
    let text = "function f\n  input Real x;\n  output Real y = x;\nalgorithm\n  for i in 1:60 loop\n    y := y + y;\n  end for;\n  annotation(Inline = true);\nend f;\nmodel M\n  Real x = f(time);\nend M;";
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
    library.add_text("inline.mo", text);
    let model = flatten(&library, "M", &options()).model.expect("a flat model");
    assert_eq!(model.functions.len(), 1);
}

#[test]
fn models_are_limited() {
    assert_refused("model M\n  M m;\nend M;", "E0213");
    // Trees of such components are left once the first branch has shown it, long before any limit.
    let trees = [
        "model M M a; M b; Real x = time; end M;",
        "model A B x, y; end A; model B A x, y, z; end B; model M A a; end M;",
        "model A replaceable model T = A; T x; T y; Real z = 1; end A; model M A a[3]; end M;",
        "model M parameter Integer n = 30; M a(n = n - 1) if n > 0; M b(n = n - 1) if n > 0; end M;",
    ];
    for tree in trees {
        let found = codes(tree);
        assert!(
            found.iter().all(|code| code == "E0213") && found.len() <= 2,
            "{found:?} for {tree}"
        );
    }
    let mut doubling = String::from("model A0\n  Real x = 1;\nend A0;\n");
    for k in 1..30 {
        let _ = writeln!(doubling, "model A{k}\n  A{} a;\n  A{} b;\nend A{k};", k - 1, k - 1);
    }
    doubling.push_str("model M\n  A29 a;\nend M;\n");
    assert_refused(&doubling, "E0307");
}

#[test]
fn inheritance_is_limited() {
    assert_refused("model A\n  extends M;\nend A;\nmodel M\n  extends A;\nend M;", "E0203");
    let mut deep = String::from("model A0\n  Real x = 1;\nend A0;\n");
    for k in 1..2000 {
        let _ = writeln!(deep, "model A{k}\n  extends A{};\nend A{k};", k - 1);
    }
    deep.push_str("model M\n  extends A1999;\nend M;\n");
    assert_refused(&deep, "E0307");
}

#[test]
fn cycles_are_found() {
    assert_refused(
        "model M\n  parameter Real a = b;\n  parameter Real b = a;\nend M;",
        "E0305",
    );
    assert_refused(
        "model M\n  parameter Integer n = size(x, 1);\n  Real x[n];\nend M;",
        "E0305",
    );
    assert_refused(
        "package P\n  constant Integer a = b;\n  constant Integer b = a;\nend P;\nmodel M\n  Real x[P.a];\nend M;",
        "E0305",
    );
}

#[test]
fn long_names_are_harmless() {
    let name = "a".repeat(1_000_000);
    assert_refused(
        &format!("model M\n  Real {name} = 1;\n  Real b = {name}x;\nend M;"),
        "E0201",
    );
}

/// Long sums stay shallow: dropping, printing and walking them takes no deep stack.
#[test]
fn long_sums_are_shallow() {
    let text = "model M\n  Real x[9000] = fill(time, 9000);\n  Real s = sum(x);\n  Real p = x*x;\n  Integer i = integer(time);\n  Real y = x[i];\nend M;";
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
    library.add_text("sums.mo", text);
    let mut options = options();
    options.limits.fuel = 10_000_000;
    let flattened = flatten(&library, "M", &options);
    let messages: Vec<&str> = flattened.diagnostics.iter().map(|d| d.message.as_str()).collect();
    let model = flattened.model.unwrap_or_else(|| panic!("{messages:?}"));
    assert!(model.to_string().len() > 100_000);
}
