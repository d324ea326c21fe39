//! `fmt`, `check --fix`, `--deny`, `--parameters`, `completions`, `man`, and what is said instead of kept silent.

use std::io::Write;
use std::process::Stdio;

use saltus_testing::{Random, modelica_files};

use crate::support::{DECAY, Folder, Ran};

/// Runs with text on standard input.
fn with_input(folder: &Folder, arguments: &[&str], text: &str) -> Ran {
    let mut command = folder.command(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("the program reads");
    drop(input);
    Ran::new(child.wait_with_output().expect("the program ends"))
}

const UGLY: &str = "model M\nReal x=1 ;end M;\n";
const NEAT: &str = "model M\n  Real x = 1;\nend M;\n";

#[test]
fn files_are_formatted() {
    let folder = Folder::new().with("M.mo", UGLY).with("Decay.mo", DECAY);
    let ran = folder.expect(1, &["fmt", "--check", "."]);
    assert_eq!(ran.stdout.trim().rsplit('/').next(), Some("M.mo"));
    let ran = folder.expect(0, &["fmt", "--diff", "M.mo"]);
    assert!(
        ran.stdout.contains("-Real x=1 ;end M;\n+  Real x = 1;\n+end M;\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(folder.read("M.mo"), UGLY);
    folder.expect(0, &["fmt", "."]).says("2 files looked at, 1 changed");
    assert_eq!(
        (folder.read("M.mo"), folder.read("Decay.mo")),
        (NEAT.to_owned(), DECAY.to_owned())
    );
    folder.expect(0, &["fmt", "--check", "."]);
    let ran = with_input(&folder, &["fmt", "-"], UGLY);
    assert_eq!((ran.status, &*ran.stdout), (0, NEAT));
}

#[test]
fn what_is_wrong_is_not_formatted() {
    let folder = Folder::new().with("M.mo", "model M\nReal x\nend M;\n");
    folder.expect(1, &["fmt", "M.mo"]).says("E0102");
    assert_eq!(folder.read("M.mo"), "model M\nReal x\nend M;\n");
    let ran = with_input(&folder, &["fmt", "-"], "model M\nReal x\nend M;\n");
    assert_eq!((ran.status, &*ran.stdout), (1, ""));
    folder.expect(2, &["fmt", "-", "M.mo"]);
}

#[test]
fn what_is_surely_meant_is_mended() {
    let text = "modle M\n  Real x(start = 1, fixed = true)\n  Real y = x**2;\nequation\n  der(x) = -x;\nend N;\n";
    let folder = Folder::new().with("M.mo", text);
    let ran = folder.expect(1, &["check", "M.mo", "--diff"]);
    assert!(
        ran.stdout.contains("-modle M\n") && ran.stdout.contains("+model M\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(folder.read("M.mo"), text);
    folder.expect(0, &["check", "M.mo", "--fix"]).says("applied");
    let mended = "model M\n  Real x(start = 1, fixed = true);\n  Real y = x^2;\nequation\n  der(x) = -x;\nend M;\n";
    assert_eq!(folder.read("M.mo"), mended);
}

#[test]
fn names_are_suggested_and_not_replaced() {
    let text = "model M\n  Real speed = 1;\n  Real y = sped;\nend M;\n";
    let folder = Folder::new().with("M.mo", text);
    folder
        .expect(1, &["check", "M.mo", "--fix"])
        .says("did you mean `speed`?");
    assert_eq!(folder.read("M.mo"), text);
    let json = folder.expect(1, &["check", "M.mo", "--json"]).json();
    let fix = &json["diagnostics"][0]["fixes"][0];
    assert_eq!(
        (&fix["safe"], &fix["edits"][0]["text"]),
        (&false.into(), &"speed".into())
    );
    assert_eq!(fix["edits"][0]["start"]["column"], 12);
}

#[test]
fn each_is_put_where_it_belongs() {
    let text = "model A\n  parameter Real p = 1;\n  Real x = p;\nend A;\nmodel M\n  A a[3](p = 2);\n  A b(each p = 2);\nend M;\n";
    let folder = Folder::new().with("M.mo", text);
    folder.expect(0, &["check", "M.mo", "--fix"]);
    let mended = folder.read("M.mo");
    assert!(
        mended.contains("A a[3](each p = 2);") && mended.contains("A b(p = 2);"),
        "{mended}"
    );
}

#[test]
fn attributes_of_arrays_get_each() {
    let text = "model M\n  Real x[2](start = 1, fixed = true), y[2, 2](each start = 0, quantity = \"Mass\");\nequation\n  \
                der(x) = -x;\n  y = fill(time, 2, 2);\nend M;\n";
    let folder = Folder::new().with("M.mo", text);
    folder
        .expect(1, &["check", "M.mo"])
        .says("write `each` if all elements get the same value");
    for _ in 0..3 {
        folder.run(&["check", "M.mo", "--fix"]);
    }
    let mended = text
        .replace("(start = 1, fixed", "(each start = 1, each fixed")
        .replace("quantity", "each quantity");
    assert_eq!(folder.read("M.mo"), mended);
    folder.expect(0, &["check", "M.mo"]);
}

#[test]
fn units_can_be_denied() {
    let text = "model M\n  Real x(unit = \"m\") = 1;\n  Real y(unit = \"s\") = x;\nend M;\n";
    let folder = Folder::new().with("M.mo", text);
    folder.expect(0, &["check", "M.mo"]).says("warning[W0204]");
    for command in ["check", "simulate", "flatten"] {
        folder
            .expect(1, &[command, "M.mo", "--deny", "units"])
            .says("error[W0204]");
    }
    folder.expect(1, &["check", "M.mo", "--deny", "w0204"]);
    folder.expect(1, &["check", "M.mo", "--deny", "warnings"]);
    folder.expect(2, &["check", "M.mo", "--deny", "everything"]);
    assert_eq!(folder.expect(0, &["check", "M.mo", "--quiet"]).stderr, "");
}

#[test]
fn what_is_left_open_is_said() {
    let text = "model M\n  parameter Real k;\n  final parameter Real f = 1;\n  input Real u;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = u - k*f*x;\nend M;\n";
    let folder = Folder::new().with("M.mo", text).with("u.csv", "time,u\n0,1\n1,1\n");
    let open = ["the parameter `k` has no value", "nothing determines the input `u`"];
    let checked = folder.expect(0, &["check", "M.mo"]);
    let ran = folder.expect(0, &["simulate", "M.mo"]);
    for words in open {
        checked.says(words);
        ran.says(words);
    }
    let ran = folder.expect(0, &["simulate", "M.mo", "--set", "k=2", "--input", "u.csv"]);
    assert!(!ran.stderr.contains("W0209"), "{}", ran.stderr);
    folder
        .expect(2, &["simulate", "M.mo", "--set", "f=2"])
        .says("`f` is final");
    folder
        .expect(0, &["check", "M.mo", "-L", "nowhere"])
        .says("warning[W0104]");
    // What is in a package is mostly a part of others, unless it says how it is to be run.
    let packed = |annotation: &str| {
        let text = format!(
            "package P\n  model M\n    parameter Real k;\n    Real x(start = 1, fixed = true);\n  equation\n    \
             der(x) = -k*x;\n{annotation}  end M;\nend P;\n"
        );
        Folder::new().with("P.mo", &text).expect(0, &["check", "P.mo"])
    };
    assert!(!packed("").stderr.contains("W0209"));
    packed("    annotation(experiment(StopTime = 2));\n").says("the parameter `k` has no value");
}

#[test]
fn a_forgotten_else_is_said() {
    let model = |rest: &str| {
        format!(
            "model M\n  Real x(start = 1, fixed = true);\n  Real y;\nequation\n  der(x) = -x;\n  if x > 0.5 then\n    y = 1;\n{rest}end M;\n"
        )
    };
    let folder = Folder::new()
        .with("A.mo", model("  end if;\n"))
        .with(
            "B.mo",
            model("  end if;\n  if not x > 0.5 then\n    y = 2;\n  end if;\n"),
        )
        .with("C.mo", model("  else\n    y = 2;\n  end if;\n"));
    folder.expect(0, &["check", "A.mo"]).says("warning[W0211]");
    for other in ["B.mo", "C.mo"] {
        assert!(!folder.run(&["check", other]).stderr.contains("W0211"), "{other}");
    }
}

#[test]
fn parameters_come_from_files() {
    let folder = Folder::new()
        .with("Decay.mo", DECAY)
        .with("p.json", "{\"k\": 3, \"n\": 1}")
        .with("p.toml", "k = 3\nn = 1\n")
        .with("p.csv", "name,value\nk,3\nn,1\n")
        .with("p.txt", "k = 3");
    folder.expect(
        0,
        &[
            "simulate",
            "Decay.mo",
            "--set",
            "k=3",
            "--set",
            "n=1",
            "-o",
            "expected.csv",
        ],
    );
    let expected = folder.read("expected.csv");
    for file in ["p.json", "p.toml", "p.csv"] {
        folder.expect(0, &["simulate", "Decay.mo", "--parameters", file, "-o", "out.csv"]);
        assert_eq!(folder.read("out.csv"), expected, "{file}");
    }
    folder.expect(
        0,
        &[
            "simulate",
            "Decay.mo",
            "--parameters",
            "p.json",
            "--set",
            "k=5",
            "-o",
            "out.csv",
        ],
    );
    assert_ne!(folder.read("out.csv"), expected);
    folder
        .expect(2, &["simulate", "Decay.mo", "--parameters", "p.txt"])
        .says(".json");
    folder
        .expect(2, &["simulate", "Decay.mo", "--parameters", "gone.json"])
        .says("gone.json");
}

#[test]
fn models_come_from_standard_input() {
    let folder = Folder::new();
    let ran = with_input(&folder, &["check", "-"], DECAY);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    ran.says("`Decay` checked: no errors");
    let ran = with_input(&folder, &["simulate", "-", "-o", "out.csv"], DECAY);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(folder.read("out.csv").starts_with("time"));
}

#[test]
fn shells_and_manuals() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = folder.expect(0, &["completions", shell]);
        assert!(ran.stdout.contains("simulate"), "{shell}");
    }
    folder.expect(0, &["man", "."]);
    assert!(folder.read("saltus-check.1").contains("check"));
    folder.expect(2, &["man", "nowhere"]);
}

#[test]
fn names_of_older_libraries_are_mended() {
    let library = "package Lib\n  package Units\n    package SI\n      type Length = Real(unit = \"m\");\n      type Mass = Real(unit = \"kg\");\n    end SI;\n    package Conversions\n      function double\n        input Real x;\n        output Real y = 2*x;\n      end double;\n    end Conversions;\n  end Units;\n  model Sine\n    parameter Real f = 1;\n    Real y = f*time;\n  end Sine;\n  annotation(conversion(from(version = \"3\", script = \"modelica://Lib/Convert.mos\"),\n    from(version = \"4\", change = {convertElement(\"Lib.Sine\", \"frequency\", \"f\")})));\nend Lib;\n";
    let script = "// From 3 to 4\nconvertClass(\"Lib.SIunits\",\n  \"Lib.Units.SI\");\nconvertClass(\"Lib.SIunits.Conversions\", \"Lib.Units.Conversions\");\nconvertClass(\"Lib.SIunits.Mas\", \"Lib.Units.SI.Mass\");\nconvertElement({\"Lib.Sine\"}, \"freqHz\", \"f\");\n";
    let text = "model Mine\n  extends Lib.Sine;\nend Mine;\nmodel M\n  import Lib.SIunits.Conversions.double;\n  import SI = Lib.SIunits;\n  SI.Mas m = 1;\n  Lib.SIunits.Length x = 1;\n  Real d = double(2) + Lib.SIunits.Conversions.double(2);\n  Lib.Sine sine(freqHz = 50), other(frequency = 3);\n  Mine mine(freqHz = 1);\n  Real g = sine.freqHz;\nend M;\n";
    let folder = Folder::new()
        .with("Lib.mo", library)
        .with("Convert.mos", script)
        .with("M.mo", text);
    folder.expect(0, &["check", "M.mo", "--fix", "-L", "."]);
    let mended = folder.read("M.mo");
    for line in [
        "import Lib.Units.Conversions.double;",
        "import SI = Lib.Units.SI;",
        "SI.Mass m",
        "Lib.Units.SI.Length x",
        "Lib.Units.Conversions.double(2)",
        "sine(f = 50), other(f = 3)",
        "mine(f = 1)",
        "g = sine.f;",
    ] {
        assert!(mended.contains(line), "{line}\n{mended}");
    }
    assert_eq!(folder.read("Lib.mo"), library);
}

#[test]
fn a_missing_end_and_a_comma() {
    let folder = Folder::new()
        .with("M.mo", "model M\n  Real x = 1;\n")
        .with("N.mo", "model N\n  Real x = 0,5;\nend N;\n");
    folder.expect(0, &["check", "M.mo", "--fix"]);
    assert_eq!(folder.read("M.mo"), "model M\n  Real x = 1;\nend M;\n");
    folder
        .expect(1, &["check", "N.mo", "--fix"])
        .says("decimals follow a point");
    let folder = Folder::new().with("N.mo", "model N\n  Real x;\nequation\n  der(x) = 0,5;\nend N;\n");
    folder.expect(1, &["check", "N.mo"]).says("decimals follow a point");
}

#[test]
fn assertions_inside_of_a_library_name_the_line_that_uses_it() {
    let library = "package Lib\n  model Part\n    constant Integer n = 1;\n  equation\n    assert(n < 3, \"too many\");\n  end Part;\nend Lib;\n";
    let text = "model M\n  Real a = 1;\n  Lib.Part part(n = 4);\nend M;\n";
    let folder = Folder::new().with("Lib.mo", library).with("M.mo", text);
    folder.expect(1, &["check", "M.mo", "-L", "."]).says("M.mo:3:12");
}

#[test]
fn errors_inside_of_a_library_name_the_line_that_uses_it() {
    let library = "package Lib\n  model Part\n    Real y = undefined;\n  end Part;\nend Lib;\n";
    let text = "model M\n  Real a = 1;\n  Lib.Part part;\nend M;\n";
    let folder = Folder::new().with("Lib.mo", library).with("M.mo", text);
    let json = folder.expect(1, &["check", "M.mo", "--json", "-L", "."]).json();
    let first = &json["diagnostics"][0];
    assert_eq!(
        (&first["primary"]["file"], &first["primary"]["start"]["line"]),
        (&"M.mo".into(), &3.into())
    );
    assert!(
        first["secondary"][0]["file"]
            .as_str()
            .is_some_and(|file| file.ends_with("Lib.mo"))
    );
}

#[test]
fn standard_input_is_mended_to_standard_output() {
    let text = "model M\n  Real x(start = 1, fixed = true)\nequation\n  der(x) = -x**2;\nend M;\n";
    let mended = "model M\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x^2;\nend M;\n";
    let folder = Folder::new();
    let run = |arguments: &[&str]| with_input(&folder, arguments, text);
    let ran = run(&["check", "-", "--fix"]);
    assert_eq!((ran.status, &*ran.stdout), (0, mended), "{}", ran.stderr);
    let ran = run(&["check", "-", "--diff"]);
    assert!(
        ran.status == 1 && ran.stdout.contains("+  Real x(start = 1, fixed = true);"),
        "{}",
        ran.stdout
    );
    // As a report there is nothing but the report.
    let json = run(&["check", "-", "--fix", "--json"]).json();
    assert_eq!(json["ok"], true);
}

#[test]
fn names_are_no_slips_of_keywords() {
    // `then` is missing behind a name that is nearly a keyword.
    let text = "model M\n  discrete Real x(start = 0, fixed = true);\n  Boolean contact = time > 0.5;\nequation\n  \
                when contact\n    x = 1;\n  end when;\nend M;\n";
    let folder = Folder::new().with("M.mo", text);
    folder.expect(1, &["check", "M.mo", "--fix"]).says("expected `then`");
    assert_eq!(folder.read("M.mo"), text);
    // A slip is one, however often it is made.
    let text = "model M\n  Real x, y;\nequation\n  if time > 1 thne\n    x = 1;\n  else\n    x = 2;\n  end if;\n  \
                if time > 2 thne\n    y = 1;\n  else\n    y = 2;\n  end if;\nend M;\n";
    let folder = Folder::new().with("M.mo", text);
    folder.expect(0, &["check", "M.mo", "--fix"]);
    assert_eq!(folder.read("M.mo"), text.replace("thne", "then"));
    // Settings of an experiment, as other options of annotations.
    let text = "model M\n  Real x = time;\n  annotation(experiment(StopTme = 2));\nend M;\n";
    let folder = Folder::new().with("M.mo", text);
    folder.expect(0, &["check", "M.mo", "--fix"]);
    assert!(folder.read("M.mo").contains("experiment(StopTime = 2)"));
}

/// Slips of the pen in examples: whatever `--fix` makes of them has no more errors, and doing it again changes nothing.
#[test]
fn fixes_make_nothing_worse() {
    let mut random = Random(3);
    let examples: Vec<String> = modelica_files("examples")
        .into_iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .filter(|text| text.len() < 4000 && text.is_ascii())
        .collect();
    let errors = |folder: &Folder| {
        let found = folder.run(&["check", "M.mo", "--json"]).json();
        let found = found["diagnostics"].as_array().expect("a list").clone();
        found.iter().filter(|found| found["severity"] == "error").count()
    };
    let mut mended = 0;
    for number in 0..40 {
        let mut text = examples[random.below(examples.len())].clone();
        for _ in 0..1 + random.below(2) {
            text = slip(&mut random, &text);
        }
        let folder = Folder::new().with("M.mo", &text);
        let before = errors(&folder);
        assert!(folder.run(&["check", "M.mo", "--fix"]).status <= 1);
        let fixed = folder.read("M.mo");
        let after = errors(&folder);
        assert!(
            after <= before,
            "{number}: {before} errors, then {after}\n{text}\n---\n{fixed}"
        );
        mended += usize::from(after < before);
        folder.run(&["check", "M.mo", "--fix"]);
        assert_eq!(folder.read("M.mo"), fixed, "{number}");
    }
    assert!(mended > 5, "{mended}");
}

/// A letter exchanged, left out or doubled, or a sign left out.
fn slip(random: &mut Random, text: &str) -> String {
    let is_code = |at: usize| !text[..at].rsplit('\n').next().unwrap_or("").contains("//");
    let letters = text
        .char_indices()
        .filter(|&(at, c)| (c.is_alphabetic() || ";()=".contains(c)) && is_code(at));
    let places: Vec<usize> = letters.map(|(at, _)| at).collect();
    let at = random.of(&places);
    let (before, behind) = text.split_at(at);
    match (random.below(3), behind.as_bytes()) {
        (0, [a, b, ..]) if b.is_ascii_alphabetic() => {
            format!("{before}{}{}{}", char::from(*b), char::from(*a), &behind[2..])
        }
        (1, [a, ..]) if a.is_ascii_alphabetic() => format!("{before}{}{behind}", char::from(*a)),
        _ => format!("{before}{}", &behind[1..]),
    }
}
