//! What the change of one condition does, by sets of modes against one mode change at a time: on examples, on the models of the
//! tests, and on families of networks that are put together by chance.

use std::collections::BTreeMap;

use saltus::Session;
use saltus::analysis::{Analysis, AnalysisOptions, ChangeFacts, ChangeKind, ChangeOutcome, Coverage};
use saltus_testing::{Random, modelica_files, repository};

/// Models with more conditions are not gone through.
const MOST_CONDITIONS: usize = 10;

fn analyse(session: &Session, name: &str) -> Option<Analysis> {
    let model = session.compile(name).value?;
    Some(model.analyze(&AnalysisOptions {
        coverage: Coverage::All,
        most_modes: 1 << MOST_CONDITIONS,
        most_changes: 20_000,
        ..AnalysisOptions::default()
    }))
}

/// How many mode changes were compared; what is not the same goes to the list.
fn compare(name: &str, analysis: &Analysis, wrong: &mut Vec<String>) -> BTreeMap<ChangeKind, usize> {
    let mut compared = BTreeMap::new();
    let Some(all) = &analysis.all_modes else {
        return compared;
    };
    if all.conditions.len() > MOST_CONDITIONS || analysis.omitted_modes + analysis.omitted_changes > 0 {
        return compared;
    }
    // Modes are listed by the Booleans of the text, sets by the conditions behind them: of some models these are others.
    let known = |text: &String| analysis.modes[0].valuation.iter().any(|(name, _)| name == text);
    let comparable = all.conditions.iter().all(known);
    // Several discrete states may have one mode.
    let mut found: BTreeMap<(usize, &(String, bool)), Vec<ChangeKind>> = BTreeMap::new();
    for change in &analysis.changes {
        // Changes of one condition of the mode that changes by itself.
        let (old, new) = (
            &analysis.modes[change.from].valuation,
            &analysis.modes[change.to].valuation,
        );
        let changed: Vec<&(String, bool)> = old
            .iter()
            .zip(new)
            .filter(|(old, new)| old != new)
            .map(|(_, new)| new)
            .collect();
        let [only] = changed[..] else { continue };
        let own = |facts: &ChangeFacts| (&facts.condition, &facts.trigger) == (&only.0, &change.trigger.0);
        if !all.changes.iter().any(own) || !change.restart_equations.is_empty() {
            continue;
        }
        let kind = match &change.outcome {
            ChangeOutcome::SingularMode => ChangeKind::Singular,
            ChangeOutcome::Analysed(report) if !report.accepted => ChangeKind::Refused,
            ChangeOutcome::Analysed(report) => ChangeKind::Determined {
                jumps: !report.jumps.is_empty(),
                impulsive: !report.impulses.is_empty(),
            },
        };
        found.entry((change.from, only)).or_default().push(kind);
    }
    for ((from, trigger), kinds) in found {
        if kinds.iter().any(|kind| *kind != kinds[0]) {
            continue;
        }
        let mode = &analysis.modes[from].valuation;
        let facts = all
            .changes
            .iter()
            .find(|facts| (&facts.condition, facts.becomes) == (&trigger.0, trigger.1));
        let said = facts.and_then(|facts| facts.kind_in(mode));
        if said.is_none() && !comparable {
            continue;
        }
        if said != Some(kinds[0]) {
            let parts = facts.map(|facts| &facts.parts);
            wrong.push(format!(
                "{name}: {trigger:?} in {mode:?}: {:?}, said {parts:?}",
                kinds[0]
            ));
        }
        *compared.entry(kinds[0]).or_default() += 1;
    }
    compared
}

fn add(to: &mut BTreeMap<ChangeKind, usize>, more: BTreeMap<ChangeKind, usize>) {
    for (kind, count) in more {
        *to.entry(kind).or_default() += count;
    }
}

#[test]
fn changes_of_examples_and_tests_one_by_one() {
    let (mut compared, mut wrong) = (BTreeMap::new(), Vec::new());
    for path in ["examples", "tests/models", "tests/papers"]
        .into_iter()
        .flat_map(modelica_files)
    {
        let session = Session::with_libraries(vec![repository().join("library")]);
        session.add_file(&path);
        let Ok(name) = session.find_model(None).into_result() else {
            continue;
        };
        if let Some(analysis) = analyse(&session, &name) {
            add(
                &mut compared,
                compare(&path.display().to_string(), &analysis, &mut wrong),
            );
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared:?}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let kinds = |wanted: &dyn Fn(&ChangeKind) -> bool| -> usize {
        compared
            .iter()
            .filter(|(kind, _)| wanted(kind))
            .map(|(_, count)| count)
            .sum()
    };
    assert!(compared.values().sum::<usize>() > 200, "{compared:?}");
    assert!(kinds(&|kind| *kind == ChangeKind::Refused) > 0, "{compared:?}");
    assert!(kinds(&|kind| *kind == ChangeKind::Singular) > 5, "{compared:?}");
}

/// Shafts with clutches, gears and brakes in all kinds of ways, or capacitors with switches, resistors and ideal diodes.
fn network(random: &mut Random) -> String {
    if random.chance(50) {
        shafts(random)
    } else {
        circuit(random)
    }
}

fn shafts(random: &mut Random) -> String {
    let n = 2 + random.below(3);
    let (mut declared, mut equations) = (String::new(), String::new());
    let mut torques = vec![String::new(); n];
    for i in 0..n {
        declared += &format!("  Real w{i}(start = {}, fixed = {});\n", i + 1, random.chance(50));
    }
    let links = 1 + random.below(4);
    for k in 0..links {
        let condition = match random.below(4) {
            0 => format!("time > {}", k + 1),
            1 => format!("w{} > {}", random.below(n), random.between(0.0, 3.0)),
            _ => {
                declared += &format!("  input Boolean u{k}(start = false);\n");
                format!("u{k}")
            }
        };
        let a = random.below(n);
        let b = (a + 1 + random.below(n - 1)) % n;
        declared += &format!("  Real t{k};\n");
        let (engaged, open) = match random.below(4) {
            0 => (format!("w{a} = 0"), format!("t{k} = 0")),
            1 => (format!("w{a} = 2*w{b}"), format!("w{a} = 3*w{b}")),
            2 => (format!("w{a} = w{b}"), format!("t{k} = 0.1*(w{a} - w{b})")),
            _ => (format!("w{a} = w{b}"), format!("t{k} = 0")),
        };
        let ratio = if engaged.contains("2*w") { -2.0 } else { -1.0 };
        torques[a] += &format!(" + t{k}");
        if !engaged.ends_with("= 0") {
            torques[b] += &format!(" + ({ratio})*t{k}");
        }
        equations += &format!("  if {condition} then {engaged}; else {open}; end if;\n");
    }
    for (i, torque) in torques.iter().enumerate() {
        let bent = if random.chance(15) {
            format!(" - 0.1*t0^3*{i}")
        } else {
            String::new()
        };
        equations += &format!("  {}*der(w{i}) = 1 - w{i}{torque}{bent};\n", i + 1);
    }
    format!("model M\n{declared}equation\n{equations}end M;\n")
}

fn circuit(random: &mut Random) -> String {
    let n = 2 + random.below(2);
    let (mut declared, mut equations) = (String::new(), String::new());
    let mut currents = vec![String::new(); n];
    for i in 0..n {
        declared += &format!("  Real v{i}(start = {}, fixed = {});\n", i + 1, random.chance(50));
    }
    for k in 0..1 + random.below(4) {
        let a = random.below(n);
        let b = (a + 1 + random.below(n - 1)) % n;
        declared += &format!("  Real i{k};\n");
        match random.below(4) {
            0 => {
                declared += &format!("  Real s{k}; Boolean off{k}(start = true);\n");
                equations += &format!("  off{k} = s{k} < 0;\n  v{a} - v{b} = if off{k} then s{k} else 0;\n");
                equations += &format!("  i{k} = if off{k} then 0 else s{k};\n");
            }
            1 => equations += &format!("  i{k} = (v{a} - v{b})/{};\n", k + 1),
            _ => {
                declared += &format!("  input Boolean u{k}(start = false);\n");
                let closed = if random.chance(30) {
                    format!("v{a} - v{b} = 0.5*i{k}")
                } else {
                    format!("v{a} = v{b}")
                };
                equations += &format!("  if u{k} then {closed}; else i{k} = 0; end if;\n");
            }
        }
        currents[a] += &format!(" - i{k}");
        currents[b] += &format!(" + i{k}");
    }
    for (i, current) in currents.iter().enumerate() {
        equations += &format!(
            "  {}*der(v{i}) = 0{current}{};\n",
            i + 1,
            if i == 0 { " + sin(time)" } else { "" }
        );
    }
    format!("model M\n{declared}equation\n{equations}end M;\n")
}

#[test]
fn changes_of_random_networks_one_by_one() {
    let mut random = Random(20);
    let (mut compared, mut wrong) = (BTreeMap::new(), Vec::new());
    for _ in 0..150 {
        let text = network(&mut random);
        let session = Session::new();
        session.add_text("M.mo", &text);
        if let Some(analysis) = analyse(&session, "M") {
            add(&mut compared, compare(&text, &analysis, &mut wrong));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared:?}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared.values().sum::<usize>() > 1000, "{compared:?}");
    assert!(compared.len() >= 4, "{compared:?}");
}

/// A row of clutches that signals engage: every one of its 2^n modes is told about, whatever n is.
#[test]
fn long_rows_are_told_about_completely() {
    let n = 300;
    let text = format!(
        "model M
  parameter Integer n = {n};
  input Boolean engaged[n](each start = false);
  Real w[n + 1], tau[n + 2];
equation
  tau[1] = 0; tau[n + 2] = 0;
  for i in 1:n + 1 loop der(w[i]) = 1 - w[i] + tau[i] - tau[i + 1]; end for;
  for i in 1:n loop
    if engaged[i] then w[i] = w[i + 1]; else tau[i + 1] = 0; end if;
  end for;
end M;"
    );
    let session = Session::new();
    session.add_text("M.mo", &text);
    let model = session.compile("M").into_result().expect("a sound model");
    let analysis = model.analyze(&AnalysisOptions {
        coverage: Coverage::All,
        most_modes: 1,
        ..AnalysisOptions::default()
    });
    let all = analysis.all_modes.expect("all modes");
    assert_eq!(all.changes.len(), 2 * n);
    for change in &all.changes {
        let expected = ChangeKind::Determined {
            jumps: change.becomes,
            impulsive: change.becomes,
        };
        assert_eq!(change.parts.len(), 1, "{change:?}");
        assert_eq!(change.parts[0].kind, expected, "{change:?}");
    }
}
