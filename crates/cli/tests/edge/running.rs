//! `simulate`: results, settings, failures, interruption.

use std::time::{Duration, Instant};

use crate::support::{DECAY, Folder, Ran, example};

fn column(csv: &str, name: &str) -> Vec<f64> {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = header
        .iter()
        .position(|field| *field == name)
        .unwrap_or_else(|| panic!("{name} in {header:?}"));
    lines
        .map(|line| line.split(',').nth(place).unwrap().parse().unwrap_or(f64::NAN))
        .collect()
}

#[test]
fn the_first_example_runs_as_the_readme_says() {
    let folder = Folder::new();
    let path = example("MotorAndLoad.mo");
    let arguments = [
        "simulate",
        path.to_str().unwrap(),
        "-o",
        "out.csv",
        "--plot",
        "motor.svg",
        "--events",
        "e.json",
    ];
    let ran = folder.expect(0, &arguments);
    // Rotor, load and capacitor are joined from the start, with different start values.
    assert!(
        ran.stderr.starts_with("warning[W0601]: start values contradict"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr.matches("warning").count(), 1);
    assert!(ran.stdout.contains("2 events"), "{}", ran.stdout);
    let csv = folder.read("out.csv");
    let (time, speed) = (column(&csv, "time"), column(&csv, "load.w"));
    // Reference values of the model: see tests/reference.
    assert!((speed[0] - 6.4).abs() < 1e-9);
    let last_at = |t: f64| speed[time.iter().rposition(|&x| x == t).unwrap()];
    assert!((last_at(100.0) - 27.63925077663954).abs() < 1e-6, "{}", last_at(100.0));
    assert!((last_at(300.0) - 32.07191765607914).abs() < 1e-6, "{}", last_at(300.0));
    // Exactly two rows at an event, left then right limit.
    for event in [100.0, 300.0] {
        assert_eq!(time.iter().filter(|&&t| t == event).count(), 2);
    }
    let modes = column(&csv, "$mode");
    assert_ne!(
        modes[time.iter().position(|&t| t == 100.0).unwrap()],
        modes[time.iter().rposition(|&t| t == 100.0).unwrap()]
    );
    let svg = folder.read("motor.svg");
    assert!(svg.starts_with("<svg") && svg.contains("rad/s") && svg.contains("clutch.engaged"));
    let impulse = folder.read("e.json");
    let last: serde_json::Value = serde_json::from_str(impulse.lines().last().unwrap()).unwrap();
    assert_eq!(last["t"], 300.0);
    assert_eq!(last["triggers"][0]["condition"], "time >= 300");
    assert!(last["triggers"][0]["span"]["line"].as_u64().unwrap() > 1);
    let clutch = last["impulses"]
        .as_array()
        .unwrap()
        .iter()
        .find(|i| i["variable"] == "clutch.tau")
        .unwrap();
    assert!((clutch["weight"].as_f64().unwrap() - 1.773066751775842).abs() < 1e-6);
}

#[test]
fn parameters_and_settings() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    let run = |extra: &[&str]| {
        let mut arguments = vec!["simulate", "Decay.mo", "-o", "out.csv"];
        arguments.extend(extra);
        folder.expect(0, &arguments);
        folder.read("out.csv")
    };
    let last = |csv: &str, name: &str| *column(csv, name).last().unwrap();
    assert!((last(&run(&[]), "x[1]") - (-2.0_f64).exp()).abs() < 1e-7);
    assert!((last(&run(&["--set", "k=3"]), "x[1]") - (-3.0_f64).exp()).abs() < 1e-7);
    // A parameter that shapes the equations, a Boolean, a start value.
    assert!((last(&run(&["--set", "n=3", "--set", "k=1"]), "x[3]") - (-3.0_f64).exp()).abs() < 1e-7);
    assert_eq!(last(&run(&["--set", "on=false"]), "x[2]"), 1.0);
    let csv = run(&["--stop", "0.5", "--interval", "0.1"]);
    let times = column(&csv, "time");
    assert_eq!(times.len(), 6);
    assert!(
        times
            .iter()
            .zip(0..)
            .all(|(time, n)| (time - 0.1 * f64::from(n)).abs() < 1e-12),
        "{times:?}"
    );
    for solver in ["auto", "bdf", "esdirk43", "radau", "tsit45", "dop853"] {
        let csv = run(&["--solver", solver, "--tolerance", "1e-8"]);
        assert!((last(&csv, "x[1]") - (-2.0_f64).exp()).abs() < 1e-6, "{solver}");
    }
}

#[test]
fn wrong_settings_are_usage_errors() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    let usage = |extra: &[&str], words: &str| {
        let mut arguments = vec!["simulate", "Decay.mo", "-o", "out.csv"];
        arguments.extend(extra);
        folder.expect(2, &arguments).says(words);
    };
    usage(&["--set", "kk=1"], "did you mean `k`");
    usage(&["--set", "k=fast"], "`fast` cannot be the value of `k`");
    usage(&["--set", "on=1"], "write `true` or `false`");
    usage(&["--set", "k"], "NAME=VALUE");
    usage(&["--set", "x[1]=1"], "not a parameter");
    usage(&["--tolerance", "0"], "tolerance");
    usage(&["--interval=-1"], "interval");
    usage(&["--stop", "nan"], "--stop");
    usage(&["--start", "2", "--stop", "1"], "lies before the start time");
    usage(&["--solver", "euler"], "the solvers are auto");
    usage(&["--variable", "nothing.*"], "no variable matches");
    folder
        .expect(2, &["simulate", "Decay.mo", "-o", "out.xyz"])
        .says("E0702")
        .says("`.csv`");
    folder
        .expect(2, &["simulate", "Decay.mo", "--plot", "out.jpg"])
        .says("E0702");
}

/// Such a run would neither end nor heed an interruption.
#[test]
fn intervals_that_fill_the_disk_are_refused() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    for interval in ["1e-300", "1e-15"] {
        let arguments = ["simulate", "Decay.mo", "-o", "out.csv", "--interval", interval];
        folder.expect(3, &arguments).says("E0611").says("output points");
    }
}

#[test]
fn selected_variables() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    folder.expect(0, &["simulate", "Decay.mo", "-o", "out.csv", "--variable", "x[2]"]);
    assert_eq!(folder.read("out.csv").lines().next().unwrap(), "time,$mode,x[2]");
}

#[test]
fn two_runs_are_bit_identical() {
    let folder = Folder::new();
    let path = example("MotorAndLoad.mo");
    for name in ["a", "b"] {
        let (csv, events) = (format!("{name}.csv"), format!("{name}.json"));
        let plot = format!("{name}.svg");
        folder.expect(
            0,
            &[
                "simulate",
                path.to_str().unwrap(),
                "-o",
                &csv,
                "--events",
                &events,
                "--plot",
                &plot,
            ],
        );
    }
    for extension in ["csv", "json", "svg", "csv.json"] {
        assert_eq!(
            folder.read(&format!("a.{extension}")),
            folder.read(&format!("b.{extension}")),
            "{extension}"
        );
    }
}

#[test]
fn a_summary_for_machines() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    let ran = folder.expect(0, &["simulate", "Decay.mo", "-o", "out.csv", "--json"]);
    let json = ran.json();
    assert_eq!(json["model"], "Decay");
    assert_eq!(json["status"], "completed");
    assert_eq!(json["time"], 1.0);
    assert_eq!(json["ok"], true);
    assert!(json["counts"]["steps"].as_u64().unwrap() > 0);
    assert_eq!(json["files"][0], "out.csv");
    assert!(json["milliseconds"]["integrate"].as_f64().unwrap() >= 0.0);
    // Without -o, --plot and --events the results are not lost.
    folder.expect(0, &["simulate", "Decay.mo"]);
    assert!(folder.read("Decay.csv").starts_with("time,$mode"));
}

const BALL: &str = "\
model Ball
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h <= 0 then
    reinit(v, -0.5*pre(v));
  end when;
  annotation(experiment(StopTime = 5));
end Ball;
";

#[test]
fn a_failed_run_keeps_its_results() {
    let folder = Folder::new().with("Ball.mo", BALL);
    let ran = folder.expect(3, &["simulate", "Ball.mo", "-o", "out.csv", "--json"]);
    ran.says("E0604").says("h <= 0").says("Ball.mo:7:8");
    assert_eq!(ran.json()["status"], "failed");
    let heights = column(&folder.read("out.csv"), "h");
    assert!(heights.len() > 100 && heights.iter().all(|h| *h > -1e-6));
    let sidecar = folder.read("out.csv.json");
    assert!(sidecar.contains("failed"), "{sidecar}");
}

#[test]
fn failures_point_at_the_text() {
    let assertion = "model M\n  parameter Real R = -1;\n  Real i;\nequation\n  \
                     assert(R > 0, \"the resistance must be positive\");\n  1 = R*i;\nend M;\n";
    let folder = Folder::new().with("M.mo", assertion);
    let ran = folder.expect(3, &["simulate", "M.mo"]);
    ran.says("E0609")
        .says("the resistance must be positive")
        .says("M.mo:5:");
    folder.expect(0, &["simulate", "M.mo", "--set", "R=2"]);
}

/// Every failure says when, in which equation and where it is written, and what to do about it.
#[test]
fn failures_say_what_and_where() {
    let failing = |text: &str, arguments: &[&str]| {
        let folder = Folder::new().with("M.mo", text);
        folder.expect(3, &[&["simulate", "M.mo", "-o", "out.csv"], arguments].concat())
    };
    // Outside the domain of a function, in the course of the run.
    let text = "model M\n  Real x(start = 1, fixed = true);\n  Real y;\nequation\n  der(x) = -1;\n  y = log(x);\n\
                annotation(experiment(StopTime = 2));\nend M;\n";
    let ran = failing(text, &[]);
    ran.says("E0608")
        .says("at t = ")
        .says("log(")
        .says("M.mo:6:")
        .says("help");
    // A parameter for which there is no solution.
    let text = "model M\n  parameter Real R = 1;\n  Real i;\nequation\n  i = 1/R;\nend M;\n";
    failing(text, &["--set", "R=0"]).says("by zero").says("M.mo:5:");
    // Equations that say the same.
    let text = "model M\n  parameter Real a = 1;\n  Real x, y, z(start = 1, fixed = true);\nequation\n  \
                x + y = z;\n  a*x + y = 2;\n  der(z) = -x;\nend M;\n";
    failing(text, &[]).says("singular").says("M.mo:5:");
    // An iteration without a solution: how it went, and what moved.
    let text = "model M\n  Real x(start = 1), y(start = 1), z(start = 1, fixed = true);\nequation\n  \
                x^2 + y^2 + z = 0;\n  x - y = 1;\n  der(z) = -x;\nend M;\n";
    failing(text, &[]).says("moved most").says("M.mo:4:").says("start");
    // Fixed start values that contradict each other are ranked.
    let text = "model M\n  Real x(start = 1, fixed = true), y(start = 5, fixed = true), v;\nequation\n  \
                der(x) = v;\n  der(y) = -v;\n  x + y = 1;\nend M;\n";
    failing(text, &[]).says("E0601").says("start");
    // Steps that shrink to nothing: the state to blame.
    let text = "model M\n  Real x(start = 1, fixed = true), z(start = 0, fixed = true);\nequation\n  \
                der(x) = x^2;\n  der(z) = 1;\nannotation(experiment(StopTime = 2));\nend M;\n";
    failing(text, &["--solver", "radau"]).says("at t = ").says("x");
}

/// A file of inputs with a head and no rows says nothing about them.
#[test]
fn inputs_without_rows() {
    let text = "model M\n  input Real u;\n  Real y = u + 1;\nend M;\n";
    let folder = Folder::new().with("M.mo", text).with("u.csv", "time,u\n");
    let ran = folder.expect(2, &["simulate", "M.mo", "--input", "u.csv", "-o", "out.csv"]);
    ran.says("E0703").says("has no rows");
    let folder = Folder::new().with("M.mo", text).with("u.csv", "time,u\n0,2\n");
    folder.expect(0, &["simulate", "M.mo", "--input", "u.csv", "-o", "out.csv"]);
}

/// A cascade: one row per instant where that is asked for, else the left and the right limit.
#[test]
fn all_instants() {
    let text = "model M\n  Boolean a(start = false, fixed = true);\n  Integer n(start = 0, fixed = true);\n\
                equation\n  when time >= 0.5 then\n    a = true;\n  end when;\n  \
                when pre(a) then\n    n = pre(n) + 1;\n  end when;\nend M;\n";
    let folder = Folder::new().with("M.mo", text);
    let rows = |arguments: &[&str]| {
        folder.expect(0, &[&["simulate", "M.mo", "-o", "out.csv"], arguments].concat());
        let csv = folder.read("out.csv");
        let at = column(&csv, "time")
            .into_iter()
            .zip(column(&csv, "a"))
            .zip(column(&csv, "n"));
        at.filter(|((time, _), _)| *time == 0.5)
            .map(|((_, a), n)| (a, n))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&[]), [(0.0, 0.0), (1.0, 1.0)]);
    let all = rows(&["--all-instants"]);
    assert_eq!(&all[..3], [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]);
    assert_eq!(all.last(), Some(&(1.0, 1.0)));
}

#[test]
fn a_profile_names_the_expensive_equations() {
    let text = "model M\n  Real x(start = 1, fixed = true), y(start = 1), z(start = 0.5), w = x^2;\nequation\n  der(x) = -y;\n  \
                y^3 + z = x;\n  z + sin(z*y) = x;\nend M;\n";
    let folder = Folder::new().with("M.mo", text);
    let ran = folder.expect(0, &["simulate", "M.mo", "-o", "out.csv", "--profile"]);
    let phases = [
        "parse",
        "flatten",
        "analyse",
        "compile",
        "initialise",
        "integrate",
        "write",
    ];
    let parts = ["solved together", "explicit", "der(x)", "Newton iterations"];
    for words in phases.iter().chain(&parts) {
        assert!(ran.stdout.contains(words), "{words} in {}", ran.stdout);
    }
    let ran = folder.expect(0, &["simulate", "M.mo", "-o", "out.csv", "--profile", "--json"]);
    let blocks = ran.json()["blocks"].clone();
    let coupled = blocks
        .as_array()
        .unwrap()
        .iter()
        .find(|block| block["coupled"] == true)
        .unwrap();
    assert_eq!(coupled["size"], 2);
    assert!(coupled["iterations"].as_u64() > Some(0) && coupled["calls"].as_u64() > Some(0));
    // What made the result is in it.
    let sidecar: serde_json::Value = serde_json::from_str(&folder.read("out.csv.json")).unwrap();
    let text = sidecar.to_string();
    for words in ["sha256:", "version", "tolerance", "solver", "M.mo"] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn traced_events() {
    let folder = Folder::new().with("Ball.mo", BALL);
    let ran = folder.expect(0, &["simulate", "Ball.mo", "--stop", "0.6", "--trace-events"]);
    ran.says("t = 0.45").says("triggered by `h <= 0`");
}

/// A fuse that blows by the impulse of the closing switch: the closed mode is there for one instant, and has a name.
#[test]
fn a_mode_of_one_instant_has_a_name() {
    let path = example("../tests/models/modes/FuseTripsByImpulse.mo");
    let folder = Folder::new();
    let arguments = [
        "simulate",
        path.to_str().unwrap(),
        "--events",
        "e.json",
        "--trace-events",
    ];
    let ran = folder.expect(0, &arguments);
    ran.says("to mode 1 (closed, not pre(tripped))")
        .says("mode 1 (closed, not pre(tripped)) to mode 0 (not closed, not pre(tripped))");
    let log = folder.read("e.json");
    let named = log.find("\"label\":\"closed, not pre(tripped)\"");
    let entered = log.find("\"to\":1");
    assert!(named.is_some() && named < entered, "{log}");
}

#[test]
fn unwritable_and_full() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    let ran = folder.expect(3, &["simulate", "Decay.mo", "-o", "no/such/folder/out.csv"]);
    ran.says("E0701").says("no/such/folder/out.csv");
    folder
        .expect(3, &["simulate", "Decay.mo", "--events", "no/such/folder/e.json"])
        .says("E0701");
    folder
        .expect(3, &["simulate", "Decay.mo", "--plot", "no/such/folder/p.svg"])
        .says("E0701");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    std::os::unix::fs::symlink("/dev/full", folder.path("full.csv")).unwrap();
    let ran = folder.expect(3, &["simulate", "Decay.mo", "-o", "full.csv"]);
    ran.says("E0701").says("the disk is full");
    // Standard output on a full disk is told, too.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = Ran::new(folder.command(&["flatten", "Decay.mo"]).stdout(full).output().unwrap());
    ran.says("cannot write to standard output");
}

const ENDLESS: &str = "\
model Endless
  Real x(start = 0, fixed = true), v(start = 1, fixed = true);
equation
  der(x) = v;
  der(v) = -x;
  annotation(experiment(StopTime = 1e7, Interval = 0.01));
end Endless;
";

/// Waits until a file has some lines.
fn wait_for_lines(folder: &Folder, name: &str, lines: usize) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        let text = std::fs::read_to_string(folder.path(name)).unwrap_or_default();
        if text.lines().count() > lines {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("nothing was written");
}

#[test]
fn a_killed_run_leaves_a_readable_file() {
    let folder = Folder::new().with("Endless.mo", ENDLESS);
    let mut child = folder
        .command(&["simulate", "Endless.mo", "-o", "out.csv"])
        .spawn()
        .unwrap();
    wait_for_lines(&folder, "out.csv", 1000);
    child.kill().unwrap();
    child.wait().unwrap();
    folder.expect(0, &["plot", "out.csv", "x"]);
    assert!(folder.read("out.svg").starts_with("<svg"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_in_order() {
    let folder = Folder::new().with("Endless.mo", ENDLESS);
    let mut command = folder.command(&["simulate", "Endless.mo", "-o", "out.csv", "--json"]);
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_lines(&folder, "out.csv", 1000);
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupt.success());
    let ran = Ran::new(child.wait_with_output().unwrap());
    assert_eq!(ran.status, 3, "{}", ran.stderr);
    ran.says("interrupted at t = ");
    assert_eq!(ran.json()["status"], "interrupted");
    assert!(folder.read("out.csv").ends_with('\n'));
}

/// What fails inside of a library is told at the line of the model that uses it, and then where it is; inside of a file that was given it
/// is told where it is.
#[test]
fn failures_in_libraries_name_the_line_that_uses_them() {
    let library = "package Lib\n  model Part\n    parameter Real k = 1;\n    Real x = sqrt(k - 30);\n  end Part;\n  \
                   model Strict\n    parameter Real k = 1;\n  equation\n    assert(k > 10, \"k is small\");\n  end Strict;\n  \
                   connector Pin\n    Real v;\n    flow Real i;\n  end Pin;\n  \
                   model Source\n    Pin p;\n  equation\n    p.v = 1;\n  end Source;\nend Lib;\n";
    let folder = Folder::new();
    std::fs::create_dir(folder.path("lib")).expect("made");
    let folder = folder.with("lib/Lib.mo", library);
    for (declared, status, code, own, behind) in [
        ("Lib.Part p(k = 3);", 3, "E0608", "M.mo:3:12", "Lib.mo:4:"),
        ("Lib.Strict p(k = 3);", 3, "E0609", "M.mo:3:14", "Lib.mo:9:"),
        (
            "Lib.Source a, b; equation connect(a.p, b.p);",
            1,
            "E0508",
            "M.mo:3:14",
            "Lib.mo:18:",
        ),
    ] {
        let text = format!("model M\n  Real y = time;\n  {declared}\nend M;\n");
        let folder = Folder::new().with("M.mo", &text);
        std::fs::create_dir(folder.path("lib")).expect("made");
        let folder = folder.with("lib/Lib.mo", library);
        let ran = folder.expect(status, &["simulate", "M.mo", "-L", "lib", "-o", "out.csv"]);
        let place = |what: &str| {
            ran.stderr
                .find(what)
                .unwrap_or_else(|| panic!("{what}\n{}", ran.stderr))
        };
        assert!(place(code) < place(own) && place(own) < place(behind), "{}", ran.stderr);
    }
    // The same when both files were given.
    let folder = folder.with("M.mo", "model M\n  Lib.Part p(k = 3);\nend M;\n");
    let ran = folder.expect(3, &["simulate", "lib/Lib.mo", "M.mo", "--model", "M", "-o", "out.csv"]);
    assert!(!ran.stderr.contains("M.mo:2"), "{}", ran.stderr);
}
