//! `plot` and `compare`.

use crate::support::{DECAY, Folder};

fn simulated() -> Folder {
    let folder = Folder::new().with("Decay.mo", DECAY);
    folder.expect(0, &["simulate", "Decay.mo", "-o", "a.csv"]);
    folder.expect(0, &["simulate", "Decay.mo", "-o", "a.mat"]);
    folder.expect(0, &["simulate", "Decay.mo", "-o", "b.csv", "--set", "k=2.5"]);
    folder
}

#[test]
fn standard_streams() {
    use std::io::Write;
    use std::process::Stdio;

    let folder = simulated();
    let piped = |arguments: &[&str], input: &str| {
        let mut command = folder.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut running = command.spawn().expect("the program starts");
        running
            .stdin
            .take()
            .expect("open")
            .write_all(input.as_bytes())
            .expect("it reads");
        let done = running.wait_with_output().expect("it ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    let (status, rows, said) = piped(&["simulate", "-", "-o", "-"], DECAY);
    assert_eq!(
        (status, rows.as_str()),
        (Some(0), folder.read("a.csv").as_str()),
        "the rows and nothing else"
    );
    assert!(said.contains("completed"), "{said}");
    let (status, rows, said) = piped(&["simulate", "-", "-o", "-", "--quiet"], DECAY);
    assert_eq!((status, said.as_str()), (Some(0), ""));
    let (status, picture, _) = piped(&["plot", "-", "x[1]", "-o", "-"], &rows);
    assert!(
        status == Some(0) && picture.starts_with("<svg") && picture.ends_with("</svg>\n"),
        "{picture}"
    );
    let (status, page, _) = piped(&["simulate", "-", "--report", "-"], DECAY);
    assert!(status == Some(0) && page.starts_with("<!doctype html>"), "{page:.100}");
    let (status, events, _) = piped(&["simulate", "-", "--events", "-"], DECAY);
    assert!(
        status == Some(0) && events.lines().all(|line| line.starts_with('{')),
        "{events}"
    );
    let (status, summary, _) = piped(&["compare", "a.csv", "-", "x[1]"], &rows);
    assert_eq!(
        (status, summary.as_str()),
        (
            Some(0),
            "1 variable: 1 identical, 0 within tolerance, 0 outside, 0 missing\n"
        )
    );
    // One stream for one thing.
    for arguments in [
        &["simulate", "Decay.mo", "-o", "-", "--plot", "-"][..],
        &["simulate", "Decay.mo", "-o", "-", "--json"],
        &["simulate", "-", "--input", "-"],
    ] {
        assert_eq!(piped(arguments, DECAY).0, Some(2), "{arguments:?}");
    }
    assert!(!folder.path("-").exists() && !folder.path("-.json").exists());
}

#[test]
#[cfg(unix)]
fn a_reader_that_leaves_ends_the_run() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let folder = simulated();
    let mut command = folder.command(&[
        "simulate",
        "Decay.mo",
        "-o",
        "-",
        "-q",
        "--stop",
        "1e5",
        "--interval",
        "1e-2",
    ]);
    let mut running = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut reader = BufReader::new(running.stdout.take().expect("open"));
    let mut line = String::new();
    reader.read_line(&mut line).expect("a line");
    drop(reader);
    let done = running.wait_with_output().expect("it ends");
    assert_eq!(
        (done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()),
        (Some(0), "")
    );
}

#[test]
fn figures() {
    let folder = simulated();
    let ran = folder.expect(0, &["plot", "a.csv"]);
    assert_eq!(ran.stdout, "a.svg\n");
    folder.expect(
        0,
        &[
            "plot", "a.mat", "x[1]", "-o", "mat.svg", "--title", "A title", "--from", "0.2", "--to", "0.4",
        ],
    );
    assert!(folder.read("mat.svg").contains("A title"));
    folder.expect(
        0,
        &[
            "plot",
            "a.csv",
            "--panel",
            "x[1],x[2]",
            "--panel",
            "der(x[1])",
            "-o",
            "panels.svg",
        ],
    );
    folder.expect(2, &["plot", "a.csv", "speed"]).says("E0704");
    folder.expect(2, &["plot", "a.csv", "-o", "a.jpg"]).says("E0702");
    folder.expect(2, &["plot", "gone.csv"]).says("E0701");
    folder.expect(2, &["plot", "Decay.mo"]).says("E0702");
    let folder = folder.with("bad.csv", "time,x\n0,1\n1,2,3\n");
    folder.expect(2, &["plot", "bad.csv"]).says("E0703");
}

#[test]
fn other_axes_and_other_results() {
    let folder = simulated();
    folder.expect(
        0,
        &[
            "plot", "a.csv", "x[2]", "--x", "x[1]", "--height", "300", "-o", "xy.svg",
        ],
    );
    assert!(folder.read("xy.svg").contains(">x[1]</text>"));
    folder.expect(0, &["plot", "a.csv", "x[1]", "--log-x", "--log-y", "-o", "log.svg"]);
    assert!(folder.read("log.svg").contains("0.5</text>"));
    folder.expect(0, &["plot", "a.csv", "x[1]", "--over", "b.csv", "-o", "over.svg"]);
    assert!(folder.read("over.svg").contains("x[1] (b.csv)"));
    folder
        .expect(2, &["plot", "a.csv", "x[2]", "--x", "nobody", "-o", "no.svg"])
        .says("E0704");
    folder
        .expect(2, &["plot", "a.csv", "--over", "over.svg", "-o", "over.svg"])
        .says("named for");
}

#[test]
fn pages() {
    let folder = simulated();
    let is_page = |name: &str| {
        let page = folder.read(name);
        assert!(
            page.starts_with("<!doctype html>") && page.ends_with("</html>\n"),
            "{name}"
        );
        page
    };
    let ran = folder.expect(0, &["simulate", "Decay.mo", "--report", "run.html"]);
    assert!(ran.stdout.contains("wrote run.html") && !folder.path("Decay.csv").exists());
    // The text of the model is in it, and two runs are the same.
    let page = is_page("run.html");
    assert!(page.contains("class=source"));
    folder.expect(0, &["simulate", "Decay.mo", "--report", "again.html"]);
    assert!(page == is_page("again.html"), "two runs make two pages");
    folder.expect(
        0,
        &["plot", "a.csv", "x[1]", "--report", "plot.html", "--title", "<Title>"],
    );
    assert!(is_page("plot.html").contains("<title>&lt;Title&gt;</title>"));
    folder.expect(0, &["plot", "a.mat", "--report", "mat.html"]);
    is_page("mat.html");
    folder.expect(1, &["compare", "a.csv", "b.csv", "--report", "compare.html"]);
    assert!(is_page("compare.html").contains("x[1] (difference)"));
    folder
        .expect(2, &["simulate", "Decay.mo", "--report", "run.txt"])
        .says("E0702");
    folder
        .expect(2, &["simulate", "Decay.mo", "--report", "same", "--plot", "same"])
        .says("named for");
    folder
        .expect(2, &["plot", "a.csv", "--report", "a.csv"])
        .says("named for");
    folder.expect(2, &["plot", "a.csv", "--report", "p.html", "-o", "p.svg"]);
    folder
        .expect(2, &["plot", "a.csv", "speed", "--report", "p.html"])
        .says("E0704");
}

#[test]
fn comparisons() {
    let folder = simulated();
    folder.expect(
        0,
        &[
            "compare",
            "a.csv",
            "a.csv",
            "--tolerance",
            "0",
            "--absolute",
            "0",
            "--time-tolerance",
            "0",
        ],
    );
    let ran = folder.expect(0, &["compare", "a.csv", "a.mat"]);
    assert!(ran.stdout.contains("0 outside"), "{}", ran.stdout);
    let ran = folder.expect(1, &["compare", "a.csv", "b.csv"]);
    assert!(ran.stdout.contains("differs: x[1]"), "{}", ran.stdout);
    let json = folder
        .expect(1, &["compare", "a.csv", "b.csv", "x[1]", "--json"])
        .json();
    assert_eq!(json["ok"], false);
    assert_eq!(json["variables"][0]["name"], "x[1]");
    assert_eq!(json["variables"][0]["verdict"], "outside");
    folder.expect(0, &["compare", "a.csv", "b.csv", "x*", "--tolerance", "0.9"]);
    folder.expect(2, &["compare", "a.csv", "gone.csv"]).says("gone.csv");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command, Stdio};
    let folder = Folder::new().with("Decay.mo", DECAY);
    let script = format!("'{}' explain | head -1", env!("CARGO_BIN_EXE_saltus"));
    let output = Command::new("sh")
        .args(["-c", &script])
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    drop(folder);
}
