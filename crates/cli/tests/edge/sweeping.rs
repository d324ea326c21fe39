//! `sweep`: tables, mistakes, interruption and going on.

use std::time::{Duration, Instant};

use crate::support::{DECAY, Folder, example};

fn rows(table: &str) -> Vec<Vec<String>> {
    let lines = table.lines().map(|line| line.split(',').map(str::to_owned).collect());
    lines.collect()
}

#[test]
fn a_table_of_runs() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    let sweep = |jobs: &str, output: &str| {
        let arguments = [
            "sweep",
            "Decay.mo",
            "--vary",
            "k=1:2:0.5",
            "--vary",
            "on=true,false",
            "--vary",
            "n=2,3",
        ];
        let rest = ["--outputs", "x[1],max(x[2])", "--stop", "0.5", "-o", output, "-j", jobs];
        folder.expect(0, &[&arguments[..], &rest].concat())
    };
    let ran = sweep("1", "one.csv");
    assert!(ran.stdout.contains("12 runs"), "{}", ran.stdout);
    sweep("2", "two.csv");
    let table = folder.read("one.csv");
    assert_eq!(folder.read("two.csv"), table);
    let rows = rows(&table);
    assert_eq!(
        rows[0],
        ["run", "k", "on", "n", "x[1]", "max(x[2])", "error", "message"]
    );
    assert_eq!(rows.len(), 13);
    assert_eq!(rows[2][..4], ["2", "1", "true", "3"]);
    let value: f64 = rows[5][4].parse().unwrap();
    assert!((value - (-0.75_f64).exp()).abs() < 1e-7, "{value}");
    assert_eq!(rows[7][4], "1");
}

#[test]
fn designs_are_chosen() {
    let folder = Folder::new()
        .with("Decay.mo", DECAY)
        .with("sets.csv", "k,n\n1,2\n2,3\n");
    folder.expect(0, &["compile", "Decay.mo"]);
    let count = |arguments: &[&str]| {
        let begin = ["sweep", "Decay.saltus", "--outputs", "x[1]", "-o", "t.csv"];
        folder.expect(0, &[&begin[..], arguments].concat());
        folder.read("t.csv").lines().count() - 1
    };
    assert_eq!(count(&["--vary", "k=1,2,3"]), 3);
    assert_eq!(
        count(&["--vary", "k=1:3", "--design", "latin", "--samples", "7", "--seed", "3"]),
        7
    );
    assert_eq!(count(&["--vary", "k=1:3", "--design", "sobol", "--samples", "8"]), 8);
    let ran = folder.expect(
        0,
        &["sweep", "Decay.mo", "--list", "sets.csv", "--outputs", "x[2]", "--json"],
    );
    assert!(ran.stdout.contains("\"runs\":2"), "{}", ran.stdout);
    assert_eq!(folder.read("Decay_sweep.csv").lines().count(), 3);
    // A model file has one shape.
    folder
        .expect(2, &["sweep", "Decay.saltus", "--list", "sets.csv", "--outputs", "x[2]"])
        .says("E0614");
}

#[test]
fn mistakes_are_told_and_keep_the_table() {
    let folder = Folder::new().with("Decay.mo", DECAY).with("t.csv", "precious");
    for (wrong, said) in [
        (&["--vary", "k=1:3"][..], "E0709"),
        (&["--vary", "k=1:0.5:3"], "FROM:TO:STEP"),
        (&["--vary", "kk=1,2"], "E0614"),
        (&["--vary", "k=1,x"], "E0614"),
        (&["--vary", "k=1,2", "--set", "k=3"], "both set and varied"),
        (&["--vary", "k=1,2", "--samples", "3"], "latin"),
        (&["--vary", "k=1:2", "--design", "latin"], "--samples"),
        (&["--design", "list"], "--list"),
        (&["--list", "absent.csv"], "absent.csv"),
        (&[], "no parameter is varied"),
    ] {
        let begin = ["sweep", "Decay.mo", "--outputs", "x[1]", "-o", "t.csv"];
        let ran = folder.run(&[&begin[..], wrong].concat());
        assert!(ran.status == 2 || ran.status == 3, "{wrong:?}: {}", ran.status);
        ran.says(said);
    }
    let begin = ["sweep", "Decay.mo", "--vary", "k=1,2", "-o", "t.csv"];
    folder
        .expect(2, &[&begin[..], &["--outputs", "nothing"]].concat())
        .says("E0704");
    folder
        .expect(2, &[&begin[..], &["--outputs", "sin(x[1])"]].concat())
        .says("E0709");
    folder.expect(2, &begin);
    assert_eq!(folder.read("t.csv"), "precious");
    folder.expect(
        2,
        &[
            "sweep",
            "Decay.mo",
            "--vary",
            "k=1",
            "--outputs",
            "x[1]",
            "-o",
            "Decay.mo",
        ],
    );
    assert_eq!(folder.read("Decay.mo"), DECAY);
}

#[test]
fn failing_runs_are_rows() {
    let text = "model Root parameter Real a = 1; Real x(start = 1, fixed = true), y; equation der(x) = -a; y = sqrt(x); end Root;";
    let folder = Folder::new().with("Root.mo", text);
    let ran = folder.expect(
        0,
        &[
            "sweep",
            "Root.mo",
            "--vary",
            "a=0.5,2,3",
            "--outputs",
            "y",
            "-o",
            "t.csv",
        ],
    );
    assert!(
        ran.stdout.contains("2 failed") && ran.stdout.contains("E0608: 2 runs"),
        "{}",
        ran.stdout
    );
    let rows = rows(&folder.read("t.csv"));
    assert_eq!(rows[2][..4], ["2", "2", "", "E0608"]);
    // Nothing but failures is a failure.
    folder.expect(
        3,
        &["sweep", "Root.mo", "--vary", "a=2,3", "--outputs", "y", "-o", "t.csv"],
    );
}

/// A table cut anywhere, or killed on the way, is completed to what it would have been.
#[test]
fn an_interrupted_sweep_goes_on() {
    let folder = Folder::new();
    let path = example("mechanics/SlippingClutch.mo");
    let begin = [
        "sweep",
        path.to_str().unwrap(),
        "--design",
        "sobol",
        "--samples",
        "40",
        "--vary",
        "torque=1:30",
    ];
    let begin = [&begin[..], &["--vary", "J2=1:5", "--outputs", "first(locked),heat"]].concat();
    let sweep = |rest: &[&str]| folder.run(&[&begin[..], rest].concat());
    assert_eq!(sweep(&["-o", "whole.csv"]).status, 0);
    let whole = folder.read("whole.csv");
    for cut in [0, 5, 40, 100, 777, whole.len() - 1, whole.len()] {
        std::fs::write(folder.path("t.csv"), &whole[..cut]).unwrap();
        std::fs::copy(folder.path("whole.csv.json"), folder.path("t.csv.json")).unwrap();
        let ran = sweep(&["-o", "t.csv", "--resume"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(folder.read("t.csv") == whole, "{cut}");
    }
    // With other settings it is another sweep.
    let refused = sweep(&["-o", "whole.csv", "--resume", "--tolerance", "1e-8"]);
    assert_eq!(refused.status, 2);
    refused.says("another tolerance");
    sweep(&["-o", "whole.csv", "--resume", "--set", "w0=10"]).says("another settings");
    assert_eq!(folder.read("whole.csv"), whole);
    // Nothing there yet: it begins.
    assert_eq!(sweep(&["-o", "new.csv", "--resume"]).status, 0);
    assert_eq!(folder.read("new.csv"), whole);
}

#[test]
fn a_killed_sweep_goes_on() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    let begin = [
        "sweep",
        "Decay.mo",
        "--vary",
        "k=1:300:1",
        "--outputs",
        "x[1],x[2]",
        "--interval",
        "1e-4",
    ];
    let arguments = |rest: &[&'static str]| [&begin[..], rest].concat();
    let mut child = folder
        .command(&arguments(&["-o", "t.csv"]))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let lines = || {
        std::fs::read_to_string(folder.path("t.csv"))
            .unwrap_or_default()
            .lines()
            .count()
    };
    while lines() < 5 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = lines();
    assert!((5..301).contains(&before), "{before}");
    let ran = folder.expect(0, &arguments(&["-o", "t.csv", "--resume"]));
    assert!(ran.stdout.contains("from before"), "{}", ran.stdout);
    folder.expect(0, &arguments(&["-o", "whole.csv", "-j1"]));
    assert!(folder.read("t.csv") == folder.read("whole.csv"));
}
