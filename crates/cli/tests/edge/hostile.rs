//! Input that nobody means well with: an answer in bounded time and memory, never a crash.

use crate::support::{Folder, Ran};

/// Every command answers with an ordinary status.
fn survives(name: &str, text: impl AsRef<[u8]>) -> Vec<Ran> {
    let folder = Folder::new().with("M.mo", text);
    let commands: [&[&str]; 4] = [
        &["parse", "M.mo"],
        &["check", "M.mo"],
        &["flatten", "M.mo"],
        &["simulate", "M.mo", "-o", "out.csv"],
    ];
    let runs = commands.iter().map(|arguments| {
        let ran = folder.run(arguments);
        assert!(
            (0..=3).contains(&ran.status),
            "{name}: {arguments:?}: {}\n{}",
            ran.status,
            ran.stderr
        );
        assert!(
            ran.stderr.len() < 200_000,
            "{name}: {} bytes of messages",
            ran.stderr.len()
        );
        ran
    });
    runs.collect()
}

#[test]
fn text_that_is_no_text() {
    survives("empty", "");
    survives("zero bytes", [0_u8; 1000]);
    survives(
        "random bytes",
        (0..20_000_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect::<Vec<_>>(),
    );
    survives("latin-1", b"model M \"gr\xfc\xdfe\" Real x = 1; end M;");
    survives("unclosed", "model M \"never closed");
    survives("half", "model M Real x; equation x = (1 + ");
}

#[test]
fn nesting() {
    survives(
        "parentheses",
        format!(
            "model M Real x = {}1{}; end M;",
            "(".repeat(100_000),
            ")".repeat(100_000)
        ),
    );
    survives(
        "minus signs",
        format!("model M Real x = {}1; end M;", "-".repeat(50_000)),
    );
    survives(
        "classes",
        format!("{}{}", "model M ".repeat(20_000), "end M;".repeat(20_000)),
    );
    survives("sums", format!("model M Real x = {}1; end M;", "1 + ".repeat(50_000)));
    survives(
        "ifs",
        format!("model M Real x = {}1; end M;", "if time > 1 then 2 else ".repeat(5_000)),
    );
}

#[test]
fn sizes() {
    survives("array", "model M Real x[1000000000000]; end M;");
    survives(
        "loop",
        "model M Real x; equation for i in 1:1000000000 loop x = i; end for; end M;",
    );
    survives(
        "identifier",
        format!("model M Real {} = 1; end M;", "x".repeat(1_000_000)),
    );
    survives(
        "string",
        format!(
            "model M parameter String s = \"{}\"; Real x = 1; end M;",
            "s".repeat(1_000_000)
        ),
    );
}

#[test]
fn circles() {
    survives("itself", "model M M m; end M;");
    survives("extends itself", "model M extends M; end M;");
    survives(
        "each other",
        "model A B b; end A; model B A a; end B; model M A a; end M;",
    );
    survives(
        "parameters",
        "model M parameter Real a = b; parameter Real b = a; Real x = a; end M;",
    );
    survives(
        "function",
        "model M function f input Real x; output Real y; algorithm y := f(x) + 1; end f; Real x = f(1); end M;",
    );
}

#[test]
fn numbers() {
    survives("huge", "model M Real x = 1e999; end M;");
    survives("division", "model M parameter Real p = 0; Real x = 1/p; end M;");
    survives(
        "not a number",
        "model M parameter Real p = -1; Real x = sqrt(p); end M;",
    );
    survives(
        "blows up",
        "model M Real x(start = 1, fixed = true); equation der(x) = x^2; annotation(experiment(StopTime = 2)); end M;",
    );
    survives(
        "flips",
        "model M Boolean b(start = false, fixed = true); equation b = not pre(b); end M;",
    );
    survives(
        "no interval",
        "model M Real x = time; annotation(experiment(StopTime = 1, Interval = 0)); end M;",
    );
    survives(
        "backwards",
        "model M Real x = time; annotation(experiment(StartTime = 2, StopTime = 1)); end M;",
    );
    survives(
        "tolerance",
        "model M Real x(start=1, fixed=true); equation der(x) = -x; annotation(experiment(Tolerance = -1)); end M;",
    );
}

#[test]
fn folders_and_devices() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.expect(1, &["check", "empty"]);
    folder.expect(1, &["check", "."]);
    #[cfg(target_os = "linux")]
    {
        std::os::unix::fs::symlink(".", folder.path("empty/loop")).unwrap();
        let ran = folder.run(&["parse", "empty"]);
        assert!(ran.status <= 1, "{}", ran.stderr);
        folder.expect(0, &["parse", "/dev/null"]);
    }
}
