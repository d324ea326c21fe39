//! `fmu export`, `info` and `check`.

use crate::support::{DECAY, Folder, example};

/// A runtime that is none is as good where nothing is run by others.
const RUNTIME: [&str; 2] = ["--runtime", "runtime.so"];

fn folder() -> Folder {
    Folder::new()
        .with("Decay.mo", DECAY)
        .with("runtime.so", "not a library")
}

#[test]
fn a_unit_is_made_looked_into_and_checked() {
    let folder = folder();
    let path = example("mechanics/CupAndBall.mo");
    let source = path.to_str().unwrap();
    for (version, reported) in [("3", "3.0"), ("2", "2.0")] {
        let ran = folder.expect(
            0,
            &[
                "fmu", "export", source, "--fmi", version, "-o", "M.fmu", RUNTIME[0], RUNTIME[1], "--json",
            ],
        );
        assert_eq!(ran.json()["states"], 4);
        let info = folder.expect(0, &["fmu", "info", "M.fmu", "--json"]).json();
        assert_eq!(info["fmiVersion"], reported);
        assert_eq!(info["interfaces"].as_array().unwrap().len(), 2);
        assert_eq!((&info["states"], &info["indicators"]), (&4.into(), &1.into()));
        let check = folder.expect(0, &["fmu", "check", "M.fmu", "--json"]).json();
        assert_eq!(check["passed"], true);
    }
    let bytes = std::fs::read(folder.path("M.fmu")).unwrap();
    folder.expect(
        0,
        &[
            "fmu", "export", source, "--fmi", "2", "-o", "N.fmu", RUNTIME[0], RUNTIME[1],
        ],
    );
    assert_eq!(
        std::fs::read(folder.path("N.fmu")).unwrap(),
        bytes,
        "the same model gives the same unit"
    );
}

#[test]
fn the_runtime_is_where_the_program_is() {
    let folder = folder();
    folder.expect(0, &["fmu", "export", "Decay.mo"]);
    let info = folder.expect(0, &["fmu", "info", "Decay.fmu", "--json"]).json();
    let files = info["files"].as_array().unwrap();
    let size = |file: &serde_json::Value| file["bytes"].as_u64().unwrap_or(0);
    assert!(files.iter().any(|file| size(file) > 1_000_000), "{files:?}");
}

#[test]
fn what_cannot_be_exported_is_told() {
    let delay = "model M Real x = sin(time); Real y = delay(x, 0.1); end M;";
    let folder = folder().with("Delay.mo", delay).with("text.fmu", "no archive");
    let export = |arguments: &[&str], status: i32| {
        let all = [&["fmu", "export"], arguments, &RUNTIME].concat();
        folder.expect(status, &all)
    };
    export(&["Delay.mo"], 1).says("E0710").says("--type cs");
    export(&["Delay.mo", "--type", "cs"], 0);
    folder.expect(0, &["fmu", "check", "M.fmu"]);
    export(&["Decay.mo", "--chattering", "slide"], 1).says("E0710");
    export(&["Decay.mo", "--chattering", "slide", "--type", "cs"], 0);
    export(&["Decay.mo", "--set", "k=3"], 2).says("E0614");
    export(&["Decay.mo", "--set", "n=3"], 0);
    export(&["Decay.mo", "-o", "Decay.mo"], 2);
    let missing = folder.expect(2, &["fmu", "export", "Decay.mo", "--runtime", "nowhere.so"]);
    missing.says("E0710").says("nowhere.so");
    folder
        .expect(1, &["fmu", "info", "text.fmu"])
        .says("E0710")
        .says("no zip file");
    folder.expect(1, &["fmu", "check", "nothing.fmu"]).says("E0120");
}
