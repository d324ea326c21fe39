//! Simulates the models in `tests/run`. Each file carries its expectations in comments at its top:
//!
//! - `// model M` — the class to simulate,
//! - `// stop T` — how long,
//! - `// chattering slide`, `// zeno rest` — whether it goes on where it would end,
//! - `// final NAME VALUE` — a value at the end,
//! - `// warns TEXT` — a warning of the run that contains the text, `// silent` — no warning,
//! - `// refused CODE TEXT` — it is not simulated at all,
//! - `// fails CODE TEXT`, `// at T` — how and when the run ends early.
//!
//! A file may hold several such groups, each starting with `// model`.

use saltus::Session;
use saltus::simulate::{Chattering, Zeno};
use saltus::source::Diagnostic;
use saltus_testing::{Group, groups, modelica_files};

fn number(group: &Group, word: &str) -> Option<f64> {
    group.word(word).map(|text| text.parse().expect("a number"))
}

fn says(diagnostic: &Diagnostic, expected: &str) -> bool {
    let (code, text) = expected.split_once(' ').unwrap_or((expected, ""));
    diagnostic.code.as_str() == code && diagnostic.message.contains(text)
}

/// What is not as expected.
fn check(group: &Group, text: &str) -> Result<(), String> {
    let session = Session::new();
    session.add_text("M.mo", text);
    let compiled = session.compile(&group.model);
    if let Some(expected) = group.word("refused") {
        let found = compiled.diagnostics.iter().any(|d| says(d, expected));
        return if found {
            Ok(())
        } else {
            Err(format!("not refused: {:?}", compiled.diagnostics))
        };
    }
    let model = compiled.into_result().map_err(|d| format!("not compiled: {d:?}"))?;
    let mut run = model.run().stop(number(group, "stop").unwrap_or(1.0)).tolerance(1e-8);
    if group.word("chattering") == Some("slide") {
        run = run.chattering(Chattering::Slide);
    }
    if group.word("zeno") == Some("rest") {
        run = run.zeno(Zeno::Rest);
    }
    let simulation = match (run.simulate(), group.word("fails")) {
        (Ok(simulation), None) => simulation,
        (Ok(_), Some(expected)) => return Err(format!("did not fail with {expected}")),
        (Err(failed), None) => return Err(format!("failed: {failed}")),
        (Err(failed), Some(expected)) => {
            let last = failed.simulation.time().last().copied().unwrap_or(f64::NAN);
            let in_time = number(group, "at").is_none_or(|at| (last - at).abs() <= 0.01);
            return match failed.diagnostic() {
                Some(diagnostic) if says(diagnostic, expected) && in_time => Ok(()),
                diagnostic => Err(format!("failed at {last}: {diagnostic:?}")),
            };
        }
    };
    let warnings = &simulation.summary.report.warnings;
    for (_, text) in group.lines.iter().filter(|(word, _)| word == "warns") {
        if !warnings.iter().any(|warning| warning.contains(text)) {
            return Err(format!("no warning `{text}` but {warnings:?}"));
        }
    }
    if group.word("silent").is_some() && !warnings.is_empty() {
        return Err(format!("warnings: {warnings:?}"));
    }
    for (_, line) in group.lines.iter().filter(|(word, _)| word == "final") {
        let (name, value) = line.split_once(' ').expect("a name and a value");
        let expected: f64 = value.trim().parse().expect("a value");
        let values = simulation.values(name).ok_or(format!("no variable {name}"))?;
        let found = values.last().copied().unwrap_or(f64::NAN);
        if (found - expected).abs() > 1e-6 * expected.abs().max(1.0) {
            return Err(format!("{name} is {found}, not {expected}"));
        }
    }
    Ok(())
}

#[test]
fn runs_end_as_expected() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in modelica_files("tests/run") {
        let text = std::fs::read_to_string(&file).expect("a text");
        for group in groups(&text) {
            count += 1;
            if let Err(reason) = check(&group, &text) {
                wrong.push(format!("{}: {reason}", group.model));
            }
        }
    }
    assert!(count > 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
