//! Questions and answers, as the page asks them.

use std::path::PathBuf;

use saltus::Session;
use saltus_playground::{Host, Playground, Unwatched};
use saltus_testing::{Random, repository};
use serde_json::{Value, json};

fn ask(playground: &mut Playground, question: &Value) -> Result<Value, String> {
    ask_host(playground, question, &mut Unwatched)
}

fn ask_host(playground: &mut Playground, question: &Value, host: &mut dyn Host) -> Result<Value, String> {
    let answer = playground.ask(question.to_string().as_bytes(), host);
    let mut answer: Value = serde_json::from_slice(&answer).unwrap();
    match answer.get_mut("answer") {
        Some(answer) => Ok(answer.take()),
        None => Err(answer["refused"].as_str().unwrap().to_owned()),
    }
}

fn example(name: &str) -> (PathBuf, String) {
    let path = repository().join("examples").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

/// Wants a picture after every so many rows.
struct Curious {
    every: usize,
    rows: usize,
    pictures: Vec<(String, f64)>,
}

impl Host for Curious {
    fn is_due(&mut self) -> bool {
        self.rows += 1;
        self.rows.is_multiple_of(self.every)
    }

    fn picture(&mut self, svg: &str, time: f64) {
        self.pictures.push((svg.to_owned(), time));
    }
}

#[test]
fn a_run_has_a_page_rows_and_pictures_on_the_way() {
    let (path, text) = example("MotorAndLoad.mo");
    let mut playground = Playground::default();
    let mut host = Curious {
        every: 100,
        rows: 0,
        pictures: Vec::new(),
    };
    let question = json!({"ask": "simulate", "name": "MotorAndLoad.mo", "text": text});
    let answer = ask_host(&mut playground, &question, &mut host).unwrap();
    assert_eq!(answer["end"], "done", "{}", answer["messages"]);
    assert_eq!(answer["model"], "MotorAndLoad");
    assert!(answer["page"].as_str().unwrap().starts_with("<!doctype html>"));
    assert_eq!(host.pictures.len(), host.rows / 100);
    assert!(host.pictures.iter().all(|(svg, _)| svg.starts_with("<svg")));
    assert!(host.pictures.is_sorted_by_key(|(_, time)| *time));

    // The rows are those of a run by itself, to the last digit.
    let session = Session::new();
    session.add_file(&path);
    let model = session.compile("MotorAndLoad").into_result().unwrap();
    let simulation = model.run().simulate().unwrap();
    let csv = ask(&mut playground, &json!({"ask": "csv"})).unwrap();
    let mut lines = csv.as_str().unwrap().lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let speed = names.iter().position(|name| *name == "rotor.w").unwrap();
    let found: Vec<f64> = lines
        .map(|line| line.split(',').nth(speed).unwrap().parse().unwrap())
        .collect();
    assert_eq!(found, &simulation.values("rotor.w").unwrap()[..]);
}

#[test]
fn settings_reach_the_run() {
    let text = "model M parameter Real k = 1; parameter Integer n = 1; Real x[n](each start = 0, each fixed = true); \
                equation der(x) = fill(k, n); end M;";
    let mut playground = Playground::default();
    let run = |playground: &mut Playground, more: Value| {
        let mut question = json!({"ask": "simulate", "text": text});
        question
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        ask(playground, &question).unwrap()
    };
    let answer = run(
        &mut playground,
        json!({"stop": 2.0, "interval": 1.0, "solver": "radau", "tolerance": 1e-9, "set": [["k", "3"], ["n", "2"]]}),
    );
    assert_eq!((&answer["end"], &answer["time"]), (&json!("done"), &json!(2.0)));
    let csv = ask(&mut playground, &json!({"ask": "csv"})).unwrap();
    let csv = csv.as_str().unwrap();
    assert!(csv.starts_with("time,") && csv.contains("x[2]"), "{csv}");
    let last: f64 = csv.lines().last().unwrap().split(',').nth(2).unwrap().parse().unwrap();
    assert!((last - 6.0).abs() < 1e-9, "{csv}");

    for (more, word) in [
        (json!({"solver": "guess"}), "guess"),
        (json!({"set": [["nobody", "1"]]}), "nobody"),
        (json!({"model": "Other"}), "Other"),
    ] {
        let answer = run(&mut playground, more);
        assert!(answer["page"].is_null());
        let text = answer["messages"][0]["text"].as_str().unwrap();
        assert!(text.contains(word) && text.contains("help:"), "{text}");
    }
    assert!(
        ask(&mut playground, &json!({"ask": "csv"})).is_err(),
        "rows of an earlier run are not shown"
    );
}

#[test]
fn what_is_wrong_is_told_and_not_run() {
    let mut playground = Playground::default();
    for text in [
        "",
        "model",
        "model M Real x = y; end M;",
        "model M Real x; end M;",
        "package P end P;",
        "model M Real x = 1; Real x = 2; end M;",
    ] {
        let answer = ask(&mut playground, &json!({"ask": "simulate", "text": text})).unwrap();
        assert_ne!(answer["end"], "done", "{text}");
        assert!(!answer["messages"].as_array().unwrap().is_empty(), "{text}");
        let analysis = ask(&mut playground, &json!({"ask": "analyze", "text": text})).unwrap();
        assert!(
            analysis["text"].is_string() || !analysis["messages"].as_array().unwrap().is_empty(),
            "{text}"
        );
    }
}

#[test]
fn a_run_that_fails_on_the_way_shows_what_there_is() {
    let text = "model M Real x(start = 1, fixed = true); equation der(x) = x; assert(x < 2, \"too large\"); \
                annotation(experiment(StopTime = 3)); end M;";
    let mut playground = Playground::default();
    let answer = ask(&mut playground, &json!({"ask": "simulate", "text": text})).unwrap();
    assert_eq!(answer["end"], "failed");
    assert!(answer["page"].is_string() && answer["rows"].as_u64().unwrap() > 10);
    assert!(answer["messages"].to_string().contains("too large"));
}

#[test]
fn the_editor_is_answered() {
    let text = "model M\n  parameter Real mass(unit = \"kg\") = 2 \"Of the body\";\n  Real x = mäss;\nend M;";
    let mut playground = Playground::default();
    let uri = "edit:Model.mo";
    ask(&mut playground, &json!({"ask": "show", "uri": uri, "text": text})).unwrap();
    let mut editor = |method: &str, line: u32, character: u32| {
        let params = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
        ask(
            &mut playground,
            &json!({"ask": "editor", "method": method, "params": params}),
        )
    };
    let found = editor("textDocument/diagnostic", 0, 0).unwrap();
    assert_eq!(found["items"][0]["range"]["start"]["line"], 2, "{found}");
    let hover = editor("textDocument/hover", 1, 18).unwrap();
    assert!(hover.to_string().contains("Of the body"), "{hover}");
    let completion = editor("textDocument/completion", 2, 12).unwrap();
    assert!(completion.to_string().contains("\"mass\""), "{completion}");
    assert!(editor("textDocument/nothing", 0, 0).is_err());

    let fine = text.replace("mäss", "mass");
    ask(&mut playground, &json!({"ask": "show", "uri": uri, "text": fine})).unwrap();
    let question =
        json!({"ask": "editor", "method": "textDocument/diagnostic", "params": {"textDocument": {"uri": uri}}});
    assert_eq!(ask(&mut playground, &question).unwrap()["items"], json!([]));
}

#[test]
fn modes_are_explained() {
    let (_, text) = example("mechanics/CupAndBall.mo");
    let answer = ask(&mut Playground::default(), &json!({"ask": "analyze", "text": text})).unwrap();
    assert!(answer["text"].as_str().unwrap().contains("index"));
    assert!(answer["svg"].as_str().unwrap().starts_with("<svg"));
}

/// The page hands its policy on to reports: what they hold must be allowed by it.
#[test]
fn the_policy_allows_every_report() {
    let mut playground = Playground::default();
    let policy = ask(&mut playground, &json!({"ask": "policy"})).unwrap();
    let list = |name: &str| -> Vec<String> { serde_json::from_value(policy[name].clone()).unwrap() };
    for name in ["MotorAndLoad.mo", "mechanics/CupAndBall.mo"] {
        let (_, text) = example(name);
        let answer = ask(&mut playground, &json!({"ask": "simulate", "text": text})).unwrap();
        let page = answer["page"].as_str().unwrap();
        let allowed = page.split("Content-Security-Policy content=\"").nth(1).unwrap();
        let allowed = allowed.split('"').next().unwrap();
        let of = |part: &str| -> Vec<String> {
            let part = allowed.split("; ").find_map(|rule| rule.strip_prefix(part)).unwrap();
            part.split_whitespace().map(str::to_owned).collect()
        };
        assert!(
            of("script-src").iter().all(|hash| list("scripts").contains(hash)),
            "{name}"
        );
        assert!(
            of("style-src").iter().all(|hash| list("styles").contains(hash)),
            "{name}"
        );
    }
}

/// Whatever is sent, there is an answer.
#[test]
fn questions_that_are_none_are_refused() {
    let mut random = Random(7);
    let whole =
        json!({"ask": "simulate", "text": "model M Real x = 1; end M;", "stop": 1, "set": [["a", "b"]]}).to_string();
    let mut playground = Playground::default();
    for _ in 0..200 {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = random.below(256) as u8,
                _ => bytes.insert(at, random.of(b"{}[]\",:0e-")),
            }
        }
        let answer = playground.ask(&bytes, &mut Unwatched);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer.get("answer").is_some() || answer["refused"].is_string());
    }
}
