//! Start values that do not hold are told where they are written, and each fix keeps the one that it names, however it is written.

use saltus::Session;
use saltus::source::{Diagnostic, apply_edits};
use saltus_testing::Random;

/// Two inertias on one shaft with start values that contradict each other: the text, and the names of their speeds.
fn shaft(style: usize, inertias: [f64; 2], begin: [f64; 2]) -> (String, [&'static str; 2]) {
    let [v, w] = begin;
    let part = "model Part\n  Real w;\nend Part;\n";
    let (before, declared, names) = match style {
        0 => ("", format!("Real a(start = {v:?}), b(start = {w:?});"), ["a", "b"]),
        1 => (
            "",
            format!(
                "Real a(unit = \"1/s\", start={v:?} \"before\"), b(\n    start =\n    {w:?},\n    unit = \"1/s\");"
            ),
            ["a", "b"],
        ),
        2 => (
            part,
            format!("Part a(w(start = {v:?})), b(w(final start = {w:?}));"),
            ["a.w", "b.w"],
        ),
        3 => (
            part,
            format!("Part a(w.start = {v:?}), b(w.start = {w:?});"),
            ["a.w", "b.w"],
        ),
        4 => (
            part,
            format!(
                "parameter Real k = 2;\n  Part a(w(start = {:?}*k)), b(w(start = -(-{w:?})));",
                v / 2.0
            ),
            ["a.w", "b.w"],
        ),
        _ => (
            part,
            format!("Real x[1](each start = {v:?});\n  Part b[1](each w(start = {w:?}));"),
            ["x[1]", "b[1].w"],
        ),
    };
    let ([a, b], [i, j]) = (names, inertias);
    let equations = format!("  {i:?}*der({a}) = t;\n  {j:?}*der({b}) = -t;\n  {a} = {b};\n");
    (
        format!("{before}model M\n  {declared}\n  Real t;\nequation\n{equations}end M;\n"),
        names,
    )
}

/// What a run says of start values, and the first value of a variable.
fn run(text: &str, name: &str) -> (Option<Diagnostic>, f64) {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result();
    let model = model.unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}\n{text}"));
    let run = model.run().stop(0.1).simulate();
    let run = run.unwrap_or_else(|failed| panic!("{:?}\n{text}", failed.diagnostic()));
    let found = run.values(name).expect("it is shown")[0];
    (run.summary.moved_starts, found)
}

#[test]
fn each_fix_keeps_the_start_value_that_it_names() {
    let mut random = Random(5);
    for number in 0..36 {
        let inertias = [random.power(-2.0, 2.0), random.power(-2.0, 2.0)];
        let begin = [random.between(0.5, 1.0), random.between(1.5, 3.0)];
        let (text, names) = shaft(number % 6, inertias, begin);
        let (told, _) = run(&text, names[0]);
        let told = told.unwrap_or_else(|| panic!("nothing is told\n{text}"));
        assert_eq!(told.code.as_str(), "W0601");
        assert!(!told.is_error() && told.primary.is_some(), "{told:?}");
        assert_eq!(told.fixes.len(), 2, "{told:#?}\n{text}");
        for (at, fix) in told.fixes.iter().enumerate() {
            assert!(!fix.safe && fix.title.contains(&format!("`{}`", names[at])), "{fix:?}");
            let (mended, applied) = apply_edits(&text, &fix.edits);
            assert_eq!(applied, 1);
            let (told, found) = run(&mended, names[1 - at]);
            assert!(told.is_none(), "{told:#?}\n{mended}");
            assert!(
                (found - begin[at]).abs() < 1e-9,
                "{found} instead of {}\n{mended}",
                begin[at]
            );
        }
    }
}

#[test]
fn values_from_one_place_cannot_all_be_certain() {
    let text = "model M\n  Real w[2](start = {1, 2});\n  Real t;\nequation\n  der(w[1]) = t;\n  der(w[2]) = -t;\n  w[1] = w[2];\nend M;\n";
    let (told, _) = run(text, "w[1]");
    assert_eq!(told.expect("it is told").fixes, []);
    // Those that agree are not told at all.
    let (told, _) = run(&text.replace("{1, 2}", "{2, 2}"), "w[1]");
    assert!(told.is_none(), "{told:#?}");
}
