//! The mode changes of the reference files as Modelica text: `analyze` gives their verdicts, heights and impulses, and runs
//! obey their laws.

use std::collections::{BTreeMap, BTreeSet};

use saltus::analysis::{AnalysisOptions, Coverage};
use saltus::{Model, Session};
use saltus_testing::reference;
use serde_json::Value;

/// When the change takes place, about.
const INSTANT: f64 = 0.01;

fn cases(file: &str) -> BTreeMap<String, Value> {
    let all: Value = serde_json::from_str(&reference(file)).expect("valid JSON");
    all["cases"].as_object().unwrap().clone().into_iter().collect()
}

fn strings(value: &Value) -> BTreeMap<String, String> {
    let entries = value.as_object().into_iter().flatten();
    entries
        .map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned()))
        .collect()
}

fn is_function(word: &str) -> bool {
    ["sin", "cos", "sqrt", "exp", "tan", "log", "tanh"].contains(&word)
}

/// The name of `x'^order`.
fn name(variable: &str, order: usize) -> String {
    match order {
        0 => variable.to_owned(),
        _ => format!("{variable}_{}", "d".repeat(order)),
    }
}

/// Rewrites each name with its primes; `^-` marks left limits, `**` powers.
fn rewritten(text: &str, mut put: impl FnMut(&str, usize, bool) -> String) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if !(first.is_alphabetic() || first == '_') {
            // Digits of a number are no part of a name.
            let length = rest.find(|c: char| c.is_alphabetic()).unwrap_or(rest.len()).max(1);
            result.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let length = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let word = &rest[..length];
        rest = &rest[length..];
        let primes = rest.len() - rest.trim_start_matches('\'').len();
        rest = &rest[primes..];
        let left = rest.starts_with("^-");
        rest = if left { &rest[2..] } else { rest };
        result.push_str(&put(word, primes, left));
    }
    result.replace("**", "^")
}

struct Writer<'a> {
    inputs: &'a Value,
    /// Highest derivative by variable.
    orders: BTreeMap<String, usize>,
}

impl<'a> Writer<'a> {
    fn new(inputs: &'a Value) -> Self {
        let mut orders = BTreeMap::new();
        let modes = ["prev", "new", "T", "transient_mode"].map(|key| strings(&inputs[key]));
        let texts = modes.iter().flat_map(BTreeMap::values).map(String::as_str);
        for text in texts.chain(inputs["zero_crossing"].as_str()) {
            rewritten(text, |word, primes, _| {
                if !is_function(word) && inputs["parameters"].get(word).is_none() {
                    let known = orders.entry(word.to_owned()).or_insert(0);
                    *known = primes.max(*known);
                }
                String::new()
            });
        }
        Writer { inputs, orders }
    }

    fn number(&self, key: &str, variable: &str, order: usize) -> f64 {
        let name = format!("{variable}{}", "'".repeat(order));
        self.inputs[key][name].as_f64().unwrap_or(0.0)
    }

    fn text(&self, text: &str) -> String {
        rewritten(text, |word, primes, left| {
            let shown = match self.orders.get(word) {
                Some(&highest) if primes >= highest && primes > 0 => format!("der({})", name(word, primes - 1)),
                _ => name(word, primes),
            };
            if left { format!("pre({shown})") } else { shown }
        })
    }

    fn zeros<'e>(&self, equations: impl IntoIterator<Item = &'e String>) -> String {
        let zero = |text: &String| format!("    0 = {};\n", self.text(text));
        equations.into_iter().map(zero).collect()
    }

    fn declarations(&self) -> String {
        let mut lines = String::new();
        for (parameter, value) in self.inputs["parameters"].as_object().unwrap() {
            lines += &format!("  parameter Real {parameter} = {value};\n");
        }
        let is_input = |variable: &str| self.inputs["input_signals"].get(variable).is_some();
        for (variable, &highest) in &self.orders {
            for order in 0..highest.max(1) {
                let shown = name(variable, order);
                let rate = if order + 1 < highest {
                    self.number("left", variable, order + 1)
                } else {
                    0.0
                };
                let start = self.number("left", variable, order) - rate * INSTANT;
                lines += &if is_input(variable) {
                    format!("  Real {shown};\n")
                } else {
                    format!("  Real {shown}(start = {start:?});\n")
                };
            }
        }
        lines
    }

    fn definitions(&self) -> String {
        let mut lines = String::new();
        for (variable, &highest) in &self.orders {
            for order in 1..highest {
                lines += &format!("  der({}) = {};\n", name(variable, order - 1), name(variable, order));
            }
            if self.inputs["input_signals"].get(variable).is_some() {
                let [value, rate, bend] = [0, 1, 2].map(|order| self.number("input_signals", variable, order));
                let after = format!("(time - {INSTANT})");
                lines += &format!("  {variable} = {value:?} + ({rate:?})*{after} + ({bend:?})/2*{after}^2;\n");
            }
        }
        lines
    }

    /// The model with the laws as variables; `None` for what has no text: no mode before, or a transient mode that leads
    /// elsewhere than back.
    fn model(&self, laws: &[String], falling: bool) -> Option<String> {
        let [before, after, restart] = ["prev", "new", "T"].map(|key| strings(&self.inputs[key]));
        let transient = (!self.inputs["transient_mode"].is_null()).then(|| strings(&self.inputs["transient_mode"]));
        if before.is_empty() || transient.is_some() && before != after {
            return None;
        }
        let during = transient.as_ref().unwrap_or(&after);
        let always = |(label, text): &(&String, &String)| during.get(*label) == Some(*text);
        let (common, old): (Vec<_>, Vec<_>) = before.iter().partition(always);
        let new = during.iter().filter(|(label, text)| before.get(*label) != Some(*text));
        let (old, new) = (self.zeros(old.into_iter().map(|e| e.1)), self.zeros(new.map(|e| e.1)));
        let restart = self.zeros(restart.values());
        let mut text = format!(
            "model M\n{}  Boolean hit(start = false, fixed = true);\n",
            self.declarations()
        );
        (0..laws.len()).for_each(|law| text += &format!("  Real law{law};\n"));
        text += &format!(
            "equation\n{}{}",
            self.definitions(),
            self.zeros(common.into_iter().map(|e| e.1))
        );
        text += &if transient.is_some() {
            format!("  if not hit then\n{old}  end if;\n  when hit then\n{new}{restart}  end when;\n")
        } else {
            let law = format!("  when hit then\n{restart}  end when;\n");
            let law = if restart.is_empty() { String::new() } else { law };
            format!("  if hit then\n{new}  else\n{old}  end if;\n{law}")
        };
        let sign = if falling { "<=" } else { ">=" };
        text += &match self.inputs["zero_crossing"].as_str() {
            Some(crossing) => format!("  hit = {} {sign} 0;\n", self.text(crossing)),
            None => format!("  hit = time >= {INSTANT};\n"),
        };
        for (number, law) in laws.iter().enumerate() {
            text += &format!("  law{number} = {};\n", self.text(law));
        }
        Some(text + "end M;\n")
    }
}

fn compiled(text: &str) -> (Session, Model) {
    let session = Session::with_libraries(Vec::new());
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result();
    let model = model.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{text}"));
    (session, model)
}

/// The change to `hit`, if the modes differ.
fn change(text: &str) -> Option<Value> {
    let (session, model) = compiled(text);
    let analysis = model.analyze(&AnalysisOptions {
        coverage: Coverage::All,
        ..AnalysisOptions::default()
    });
    let analysis = analysis.to_json(session.sources());
    let modes = analysis["modes"].as_array()?.clone();
    let mut changes = analysis["changes"].as_array()?.iter();
    let enters = |change: &&Value| modes[change["to"].as_u64().unwrap() as usize]["valuation"]["hit"] == true;
    changes.find(enters).cloned()
}

/// Laws just before and right after the first event: `None` if there is none.
fn at_event(text: &str, laws: usize) -> Option<Vec<(f64, f64)>> {
    let (_, model) = compiled(text);
    let run = model.run().stop(3.0 * INSTANT).tolerance(1e-10).simulate().ok()?;
    let time = run.time();
    let right = (1..time.len()).find(|&row| time[row] == time[row - 1])?;
    let last = (right..time.len()).take_while(|&row| time[row] == time[right]).last()?;
    let pair = |law: usize| {
        let values = run.values(&format!("law{law}")).expect("a law");
        (values[right - 1], values[last])
    };
    Some((0..laws).map(pair).collect())
}

fn good(expected: &Value) -> bool {
    // Where numbers are singular although the structure is not (F.2), the projector takes over.
    let singular = expected["why"]
        .as_str()
        .is_some_and(|why| why.contains("numerically singular"));
    expected["good"] == true || singular
}

#[test]
fn analyses_of_texts_agree_with_the_reference() {
    let (mut compared, mut refused) = (0, 0);
    for file in ["restart_cases.json", "restart_cases_physics.json"] {
        for (name, case) in cases(file) {
            let (inputs, expected) = (&case["inputs"], &case["expected"]);
            if inputs["options"].get("force_height").is_some() {
                continue;
            }
            let Some(found) = Writer::new(inputs).model(&[], true).and_then(|text| change(&text)) else {
                continue;
            };
            assert_eq!(found["verdict"] == "good", good(expected), "{name}: {found:#}");
            compared += 1;
            refused += usize::from(!good(expected));
            if expected["good"] != true || expected["K"].is_null() {
                continue;
            }
            let heights = expected["K"]
                .as_object()
                .map(|by_component| by_component.values().cloned());
            let heights: Vec<Value> = heights.map_or_else(|| vec![expected["K"].clone()], Iterator::collect);
            let highest = heights.iter().filter_map(Value::as_u64).max();
            assert_eq!(found["height"].as_u64(), highest, "{name}: {found:#}");
            let impulsive = expected["mu"]
                .as_object()
                .unwrap()
                .keys()
                .filter_map(|key| key.split('@').next());
            let impulsive: BTreeSet<&str> = impulsive.filter(|key| !key.ends_with('\'')).collect();
            let reported = found["impulses"].as_array().unwrap().iter();
            let reported: BTreeSet<&str> = reported.filter_map(|impulse| impulse["variable"].as_str()).collect();
            // Impulses that vanish, or of a variable that the text says nothing of at the impact, are not reported.
            assert!(
                reported.is_subset(&impulsive),
                "{name}: {reported:?}, not {impulsive:?}"
            );
            assert_eq!(
                reported.is_empty(),
                impulsive.is_empty() || name.contains("energy_law"),
                "{name}"
            );
        }
    }
    assert!(compared > 90 && refused > 12, "{compared} compared, {refused} refused");
}

#[test]
fn runs_of_texts_obey_their_laws() {
    let mut checked = 0;
    for (name, case) in cases("restart_cases_physics.json") {
        if case["expected"]["good"] != true {
            continue;
        }
        let texts = |key: &str| -> Vec<String> {
            let laws = case["laws"][key].as_array().unwrap().iter();
            let laws = laws.map(|law| law.as_str().unwrap().to_owned());
            // Laws with left limits are those of the `when` themselves.
            laws.filter(|law| !law.contains("^-")).collect()
        };
        let (conserved, after) = (texts("conserved"), texts("after"));
        let laws: Vec<String> = conserved.iter().chain(&after).cloned().collect();
        let writer = Writer::new(&case["inputs"]);
        let directions = [true, false].into_iter();
        let mut models = directions.filter_map(|falling| writer.model(&laws, falling));
        let Some(found) = models.find_map(|text| at_event(&text, laws.len())) else {
            continue;
        };
        let size = found
            .iter()
            .fold(1.0_f64, |size, (was, is)| size.max(was.abs()).max(is.abs()));
        for (law, (was, is)) in laws.iter().zip(&found).take(conserved.len()) {
            assert!((was - is).abs() <= 1e-6 * size, "{name}: {law} was {was}, is {is}");
        }
        for (law, (_, is)) in laws.iter().zip(&found).skip(conserved.len()) {
            assert!(is.abs() <= 1e-6 * size, "{name}: {law} is {is}");
        }
        checked += 1;
    }
    assert!(checked > 60, "{checked} checked");
}
