//! `parse`, `check`, `flatten`, `explain`, `new`.

use saltus_testing::{modelica_files, repository};

use crate::support::{DECAY, Folder};

#[test]
fn usage_errors_have_status_2() {
    let folder = Folder::new();
    folder.expect(2, &[]);
    folder.expect(2, &["no-such-command"]);
    folder.expect(2, &["simulate"]).says("FILE");
    folder
        .expect(2, &["explain", "E9999"])
        .says("there is no diagnostic `E9999`");
    folder.expect(0, &["--help"]);
    folder.expect(0, &["simulate", "--help"]);
    folder.expect(0, &["--version"]);
}

#[test]
fn silence_means_correct() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    for arguments in [&["parse", "Decay.mo"][..], &["check", "Decay.mo", "--quiet"]] {
        let ran = folder.expect(0, arguments);
        assert_eq!(ran.stdout, "");
        assert_eq!(ran.stderr, "");
    }
    let ran = folder.expect(0, &["check", "Decay.mo"]);
    assert_eq!((&*ran.stdout, &*ran.stderr), ("", "`Decay` checked: no errors\n"));
}

#[test]
fn errors_have_a_place_and_status_1() {
    let folder = Folder::new().with("M.mo", "model M\n  Real x\n  Real y;\nend M;\n");
    for command in ["parse", "check", "flatten", "simulate", "analyze"] {
        let ran = folder.expect(1, &[command, "M.mo"]);
        ran.says("error[E").says("--> M.mo:2:9");
        assert_eq!(ran.stdout, "", "{command}");
    }
}

#[test]
fn functions_that_nothing_calls_are_checked() {
    let text = "package P\n  function f\n    output Real y;\n  algorithm\n    y := undefined;\n  end f;\n  partial package Q\n    function g\n      output Real y;\n    algorithm\n      y := missing;\n    end g;\n  end Q;\n  model M\n    Real x = 1;\n  end M;\nend P;\n";
    let folder = Folder::new().with("P.mo", text);
    let ran = folder.expect(1, &["check", "P.mo"]);
    ran.says("`undefined` is not known in `P.f`");
    assert!(
        !ran.stderr.contains("missing"),
        "what is partial is completed elsewhere"
    );
    folder.expect(0, &["check", "P.mo", "--model", "P.M"]);
    folder.expect(0, &["simulate", "P.mo", "--model", "P.M"]);
}

#[test]
fn diagnostics_as_json() {
    let folder = Folder::new().with("M.mo", "model M\n  Real x = y;\nend M;\n");
    let ran = folder.expect(1, &["check", "M.mo", "--json"]);
    let json = ran.json();
    assert_eq!(json["ok"], false);
    let first = &json["diagnostics"][0];
    assert_eq!(first["code"], "E0201");
    assert_eq!(first["severity"], "error");
    assert_eq!(first["primary"]["file"], "M.mo");
    assert_eq!(first["primary"]["start"]["line"], 2);
    assert_eq!(first["primary"]["start"]["column"], 12);
}

#[test]
fn a_file_that_is_not_there() {
    let folder = Folder::new();
    for command in ["parse", "check", "simulate"] {
        folder.expect(1, &[command, "gone.mo"]).says("gone.mo");
    }
    folder
        .expect(1, &["check", "--model", "Gone"])
        .says("there is no model `Gone`");
}

#[test]
fn models_on_the_library_path() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    let here = folder.path("");
    folder.expect(0, &["check", "--model", "Decay", "-L", here.to_str().unwrap()]);
    let output = folder
        .command(&["check", "--model", "Decay"])
        .env("MODELICAPATH", &here)
        .output()
        .unwrap();
    assert!(output.status.success());
}

#[test]
fn unbalanced_and_singular_models_are_refused() {
    let unbalanced = "model M\n  Real x, y;\nequation\n  x = 1;\nend M;\n";
    let singular = "model S\n  Real x, y;\nequation\n  x + 1 = time;\n  x - 1 = time;\nend S;\n";
    let folder = Folder::new().with("M.mo", unbalanced).with("S.mo", singular);
    folder.expect(1, &["check", "M.mo"]).says("E0403");
    let ran = folder.expect(1, &["check", "S.mo"]);
    ran.says("E0508").says("x + 1 = time").says("`y`");
    folder.expect(1, &["simulate", "S.mo"]).says("E0508");
}

#[test]
fn flat_models() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    let text = folder.expect(0, &["flatten", "Decay.mo"]).stdout;
    assert!(text.contains("x[2]"), "{text}");
    let json = folder.expect(0, &["flatten", "Decay.mo", "--json"]).json();
    assert_eq!(json["unknowns"], 2);
    assert_eq!(json["equations"], 2);
    assert_eq!(json["ok"], true);
}

#[test]
fn trees_give_back_the_text() {
    fn collect(node: &serde_json::Value, text: &mut String) {
        if let Some(token) = node["text"].as_str() {
            text.push_str(token);
        }
        for child in node["children"].as_array().into_iter().flatten() {
            collect(child, text);
        }
    }
    let folder = Folder::new().with("Decay.mo", DECAY);
    let json = folder.expect(0, &["parse", "Decay.mo", "--json"]).json();
    let mut text = String::new();
    collect(&json["files"][0]["tree"], &mut text);
    assert_eq!(text, DECAY);
}

#[test]
fn every_code_is_explained() {
    let folder = Folder::new();
    let list = folder.expect(0, &["explain"]).stdout;
    assert!(list.lines().count() > 30);
    let text = folder.expect(0, &["explain", "e0101"]).stdout;
    assert!(text.starts_with("E0101: ") && text.contains("## Fix"), "{text}");
    let json = folder.expect(0, &["explain", "E0604", "--json"]).json();
    assert_eq!(json["code"], "E0604");
}

#[test]
fn a_new_project_runs() {
    let folder = Folder::new();
    let ran = folder.expect(0, &["new", "Gearbox"]);
    assert!(ran.stdout.contains("Gearbox.mo"));
    let ran = folder.expect(0, &["check", "Gearbox/Gearbox.mo"]);
    assert_eq!(ran.stderr, "`Gearbox` checked: no errors\n");
    folder.expect(0, &["simulate", "Gearbox/Gearbox.mo", "-o", "out.csv"]);
    let csv = folder.read("out.csv");
    assert!(csv.lines().count() > 100);
    folder.expect(2, &["new", "Gearbox"]).says("nothing was changed");
    folder
        .expect(2, &["new", "my-model"])
        .says("cannot be the name of a model");
}

#[test]
fn a_part_that_is_completed_outside_is_told() {
    let text = "\
model Part
  Real x, y;
equation
  y = 2*x;
end Part;
model Whole
  Part part;
equation
  part.x = time;
end Whole;
";
    let folder = Folder::new().with("Whole.mo", text);
    let place = "Whole.mo:1:7";
    folder
        .expect(1, &["check", "Whole.mo"])
        .says("the model `Part` has 2 unknowns, but 1 equation of its own")
        .says(place);
    // Its results are determined all the same.
    folder
        .expect(0, &["simulate", "Whole.mo", "-o", "out.csv"])
        .says("warning[E0403]")
        .says(place);
    folder
        .expect(1, &["check", "Whole.mo", "--model", "Part"])
        .says("E0403");
}

#[test]
fn examples_and_library_are_without_diagnostics() {
    let folder = Folder::new();
    let library = repository().join("library");
    let mut paths = vec![library.join("Saltus")];
    paths.extend(modelica_files("examples"));
    assert!(paths.len() > 10);
    for path in paths {
        let arguments = ["check", path.to_str().unwrap(), "-L", library.to_str().unwrap()];
        // Nothing but what was checked.
        let said = folder.expect(0, &arguments).stderr;
        let is_clean = said.lines().count() == 1 && said.ends_with(" checked: no errors\n");
        assert!(is_clean, "{}\n{said}", path.display());
    }
}
