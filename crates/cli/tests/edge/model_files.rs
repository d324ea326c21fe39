//! `compile`, and the commands that take what it writes.

use crate::support::{DECAY, Folder, example};

#[test]
fn a_model_file_runs_like_the_model() {
    let folder = Folder::new();
    let path = example("MotorAndLoad.mo");
    let source = path.to_str().unwrap();
    let ran = folder.expect(0, &["compile", source, "-o", "M.saltus"]);
    assert!(ran.stdout.contains("wrote M.saltus"), "{}", ran.stdout);
    folder.expect(0, &["compile", source, "-o", "S.saltus", "--without-sources"]);
    let run = |model: &str, name: &str| {
        let (csv, events) = (format!("{name}.csv"), format!("{name}.json"));
        folder.expect(
            0,
            &[
                "simulate",
                model,
                "-o",
                &csv,
                "--events",
                &events,
                "--tolerance",
                "1e-7",
            ],
        );
        [csv.clone(), events, format!("{csv}.json")].map(|file| folder.read(&file))
    };
    let direct = run(source, "a");
    assert_eq!(run("M.saltus", "b"), direct);
    assert_eq!(run("S.saltus", "c"), direct);
    assert_eq!(
        folder.expect(0, &["analyze", "M.saltus"]).stdout,
        folder.expect(0, &["analyze", source]).stdout
    );
    folder.expect(0, &["check", "M.saltus", "--all-modes"]);
    // By how it begins, whatever its name.
    std::fs::rename(folder.path("M.saltus"), folder.path("M.bin")).unwrap();
    folder.expect(0, &["simulate", "M.bin", "-o", "d.csv"]);
}

#[test]
fn values_are_set_where_they_belong() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    folder.expect(0, &["compile", "Decay.mo", "--set", "n=3"]);
    let ran = folder.expect(
        0,
        &["simulate", "Decay.saltus", "--set", "k=0.5", "-o", "out.csv", "--json"],
    );
    assert!(ran.stdout.contains("\"ok\":true"), "{}", ran.stdout);
    assert!(folder.read("out.csv").starts_with("time,$mode,x[1],x[2],x[3]"));
    let refused = folder.expect(2, &["simulate", "Decay.saltus", "--set", "n=4", "-o", "out.csv"]);
    refused.says("E0614").says("saltus compile");
    folder
        .expect(2, &["simulate", "Decay.saltus", "--set", "kk=4", "-o", "out.csv"])
        .says("E0614");
    // What runs set is not in the file.
    let refused = folder.expect(2, &["compile", "Decay.mo", "--set", "k=3"]);
    refused.says("E0614").says("saltus simulate … --set k=3");
}

#[test]
fn what_is_no_model_file_is_told() {
    let folder = Folder::new()
        .with("Decay.mo", DECAY)
        .with("text.saltus", "model M end M;")
        .with("other.saltus", b"SALTUS\0\xff\0\0\0 and so on");
    folder.expect(0, &["compile", "Decay.mo"]);
    let mut bytes = std::fs::read(folder.path("Decay.saltus")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(folder.path("broken.saltus"), &bytes).unwrap();
    std::fs::write(folder.path("short.saltus"), &bytes[..100]).unwrap();
    for command in ["simulate", "analyze", "check"] {
        folder
            .expect(1, &[command, "text.saltus"])
            .says("E0706")
            .says("text.saltus");
        folder
            .expect(1, &[command, "other.saltus"])
            .says("E0707")
            .says("format 255");
        folder.expect(1, &[command, "broken.saltus"]).says("E0708");
        folder.expect(1, &[command, "short.saltus"]).says("E0708");
        folder.expect(1, &[command, "absent.saltus"]).says("E0120");
    }
    folder
        .expect(2, &["simulate", "Decay.saltus", "Decay.mo"])
        .says("name it alone");
    folder
        .expect(2, &["simulate", "Decay.saltus", "--model", "Other"])
        .says("holds `Decay`");
    folder.expect(2, &["flatten", "Decay.saltus"]).says("no classes");
    folder.expect(2, &["compile", "Decay.saltus"]).says("no classes");
    folder.expect(2, &["compile", "Decay.mo", "-o", "Decay.mo"]);
    folder
        .expect(3, &["compile", "Decay.mo", "-o", "absent/M.saltus"])
        .says("E0701");
    folder.expect(1, &["compile", "absent.mo"]);
}

#[test]
fn failures_name_the_line_without_sources() {
    let text = "model Root\n  Real x(start = 1, fixed = true);\n  Real y;\nequation\n  der(x) = -2;\n  y = sqrt(x);\nend Root;\n";
    let folder = Folder::new().with("Root.mo", text);
    let direct = folder.expect(3, &["simulate", "Root.mo", "-o", "a.csv"]);
    folder.expect(0, &["compile", "Root.mo"]);
    let from_file = folder.expect(3, &["simulate", "Root.saltus", "-o", "a.csv"]);
    assert_eq!(from_file.stderr, direct.stderr);
    folder.expect(0, &["compile", "Root.mo", "--without-sources"]);
    std::fs::remove_file(folder.path("Root.mo")).unwrap();
    let without = folder.expect(3, &["simulate", "Root.saltus", "-o", "a.csv"]);
    assert_eq!(without.stderr.lines().next(), direct.stderr.lines().next());
    without.says("Root.mo:6:3");
}
