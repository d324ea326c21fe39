//! Files that are no files, names that lead to one file, and outputs that cannot be written.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::support::{DECAY, Folder, Ran};

fn library(name: &str) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path(name)).unwrap();
    let text = format!("package {name} model M Real x = time; end M; end {name};");
    folder.with(&format!("{name}/package.mo"), text)
}

fn pipe(folder: &Folder, name: &str) {
    let made = Command::new("mkfifo").arg(folder.path(name)).status();
    assert!(made.is_ok_and(|status| status.success()));
}

#[test]
fn pipes_and_devices_are_no_sources() {
    let folder = library("L");
    pipe(&folder, "L/F.mo");
    folder.expect(1, &["check", "L"]).says("pipe");
    folder.expect(1, &["check", "L/F.mo"]).says("pipe");
    folder.expect(1, &["parse", "L"]).says("pipe");
    for device in ["/dev/zero", "/dev/null"] {
        let folder = library("L");
        symlink(device, folder.path("L/Z.mo")).unwrap();
        folder.expect(1, &["check", "L"]).says("device");
        folder.expect(0, &["check", "L", "--model", "L.M"]);
    }
    let folder = library("L");
    std::fs::create_dir(folder.path("L/D.mo")).unwrap();
    folder.expect(0, &["check", "L"]);
    // Locks of editors are links to nothing.
    symlink("nobody@nowhere", folder.path("L/.#M.mo")).unwrap();
    folder.expect(0, &["check", "L"]);
    symlink("nobody@nowhere", folder.path("L/N.mo")).unwrap();
    folder.expect(1, &["check", "L"]).says("there is no such file");
}

#[test]
fn pipes_that_are_named_are_read() {
    let folder = Folder::new();
    pipe(&folder, "pipe");
    let path = folder.path("pipe");
    let writer = std::thread::spawn(move || std::fs::write(path, "model M Real x = time; end M;"));
    folder.expect(0, &["simulate", "pipe", "-o", "out.csv"]);
    assert!(writer.join().is_ok_and(|written| written.is_ok()));
    folder.expect(1, &["simulate", "/dev/null"]).says("no model");
    folder.expect(1, &["check", "/dev/zero"]).says("256 MiB");
}

#[test]
fn links_that_lead_back() {
    let folder = library("L");
    symlink(".", folder.path("L/a")).unwrap();
    symlink(".", folder.path("L/b")).unwrap();
    symlink("../L", folder.path("L/c")).unwrap();
    folder.expect(0, &["check", "L"]);
    folder.expect(0, &["parse", "L"]);
    // Folders that each lead twice to the next: as many paths as there are atoms, but not many folders.
    let folder = Folder::new();
    for level in 0..40 {
        std::fs::create_dir(folder.path(format!("d{level}"))).unwrap();
        let text = format!("model M{level} Real x = time; end M{level};");
        std::fs::write(folder.path(format!("d{level}/M{level}.mo")), text).unwrap();
        for link in ["a", "b"] {
            symlink(format!("../d{}", level + 1), folder.path(format!("d{level}/{link}"))).unwrap();
        }
    }
    folder.expect(0, &["parse", "d0"]);
}

#[test]
fn outputs_that_are_one_file() {
    let folder = Folder::new()
        .with("Decay.mo", DECAY)
        .with("in.csv", "time,u\n0,1\n1,1\n");
    symlink("out.csv", folder.path("link.json")).unwrap();
    std::fs::create_dir(folder.path("sub")).unwrap();
    for (output, events) in [
        ("out.csv", "out.csv"),
        ("out.csv", "./out.csv"),
        ("out.csv", "sub/../out.csv"),
        ("out.csv", "link.json"),
        ("out.csv", "out.csv.json"),
        ("out.csv", "Decay.mo"),
    ] {
        let ran = folder.expect(2, &["simulate", "Decay.mo", "-o", output, "--events", events]);
        assert!(
            ran.stderr.contains("one file") || ran.stderr.contains("is named for"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(folder.read("Decay.mo"), DECAY);
    folder.expect(2, &["simulate", "Decay.mo", "--input", "in.csv", "-o", "in.csv"]);
    folder.expect(2, &["simulate", "Decay.mo", "--plot", "p.svg", "--events", "p.svg"]);
    folder.expect(
        0,
        &[
            "simulate",
            "Decay.mo",
            "-o",
            "out.csv",
            "--events",
            "out.jsonl",
            "--plot",
            "out.svg",
        ],
    );
    // A file that exists, by another name.
    std::fs::hard_link(folder.path("out.csv"), folder.path("same.jsonl")).unwrap();
    folder.expect(2, &["simulate", "Decay.mo", "-o", "out.csv", "--events", "same.jsonl"]);
    symlink("out.csv", folder.path("again.svg")).unwrap();
    folder.expect(2, &["plot", "out.csv", "-o", "again.svg"]);
    symlink("Decay.mo", folder.path("graph.svg")).unwrap();
    folder.expect(2, &["analyze", "Decay.mo", "--graph", "graph.svg"]);
    assert_eq!(folder.read("Decay.mo"), DECAY);
}

#[test]
fn a_file_that_another_run_writes() {
    let folder = Folder::new().with("Decay.mo", DECAY).with("out.csv", "time,x\n0,1\n");
    let file = std::fs::File::options()
        .write(true)
        .open(folder.path("out.csv"))
        .unwrap();
    file.lock().unwrap();
    let ran = folder.expect(3, &["simulate", "Decay.mo", "-o", "out.csv"]);
    ran.says("another run is writing").says("help:");
    assert_eq!(folder.read("out.csv"), "time,x\n0,1\n");
    drop(file);
    folder.expect(0, &["simulate", "Decay.mo", "-o", "out.csv"]);
    pipe(&folder, "pipe.csv");
    folder
        .expect(3, &["simulate", "Decay.mo", "-o", "pipe.csv"])
        .says("pipe");
    folder.expect(2, &["plot", "pipe.csv"]).says("pipe");
    symlink("/dev/zero", folder.path("zero.csv")).unwrap();
    folder.expect(2, &["plot", "zero.csv"]).says("device");
    folder.expect(2, &["compare", "out.csv", "zero.csv"]).says("device");
}

#[test]
fn lost_output_is_no_success() {
    let folder = Folder::new().with("Decay.mo", DECAY);
    folder.expect(0, &["simulate", "Decay.mo", "-o", "out.csv"]);
    for arguments in [
        &["flatten", "Decay.mo"][..],
        &["flatten", "Decay.mo", "--json"],
        &["check", "Decay.mo", "--json"],
        &["parse", "Decay.mo", "--json"],
        &["analyze", "Decay.mo"],
        &["explain", "E0101"],
        &["plot", "out.csv"],
        &["compare", "out.csv", "out.csv", "--json"],
        &["simulate", "Decay.mo", "-o", "again.csv", "--json"],
        &["--help"],
        &["--version"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = folder.command(arguments).stdout(Stdio::from(full)).output().unwrap();
        let ran = Ran::new(output);
        assert!(
            ran.status != 0 && ran.status != 4,
            "{arguments:?}: {}\n{}",
            ran.status,
            ran.stderr
        );
    }
}
