//! `saltus library`: folders and archives, versions, what is refused.

use saltus_fmi::archive::{Entry, pack};

use crate::support::Folder;

fn package(version: &str, value: u32) -> String {
    format!(
        "package Parts\n  model Part\n    Real x = {value};\n  end Part;\n  annotation(version = \"{version}\");\nend Parts;\n"
    )
}

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let entry = |&(path, text): &(&str, &str)| Entry {
        path: path.to_owned(),
        content: text.as_bytes().to_vec(),
    };
    pack(&files.iter().map(entry).collect::<Vec<_>>()).expect("an archive")
}

/// A tar file of plain files, compressed as gzip does.
fn tar_gz(files: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, text) in files {
        let mut header = [0u8; 512];
        header[..path.len()].copy_from_slice(path.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", text.len()).as_bytes());
        header[156] = b'0';
        bytes.extend(header);
        bytes.extend(text.as_bytes());
        bytes.resize(bytes.len().div_ceil(512) * 512, 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    packed.extend(miniz_oxide::deflate::compress_to_vec(&bytes, 6));
    packed
}

const USER: &str = "model User\n  Parts.Part part;\n  annotation(uses(Parts(version = \"1.0.0\")));\nend User;\n";
const ANY: &str = "model Any\n  Parts.Part part;\nend Any;\n";

fn value(folder: &Folder, file: &str) -> String {
    folder.expect(0, &["simulate", file, "--stop", "1", "-o", "out.csv"]);
    let text = folder.read("out.csv");
    let column = text.lines().next().and_then(|names| {
        let mut names = names.split(',').map(|name| name.trim_matches('"'));
        names.position(|name| name == "part.x")
    });
    let last = text.lines().last().unwrap_or_default().to_owned();
    last.split(',')
        .nth(column.expect("part.x"))
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn libraries_are_installed_found_and_removed() {
    let (old, new) = (package("1.0.0", 1), package("2.10.0", 2));
    let folder = Folder::new()
        .with(
            "old.zip",
            zip(&[
                ("parts-1.0.0/Parts/package.mo", old.as_str()),
                ("parts-1.0.0/README.md", "x"),
            ]),
        )
        .with("new.tar.gz", tar_gz(&[("./parts/Parts/package.mo", new.as_str())]))
        .with("User.mo", USER)
        .with("Any.mo", ANY);
    folder.expect(1, &["check", "User.mo"]);
    assert!(
        folder
            .expect(0, &["library", "add", "old.zip"])
            .stdout
            .contains("Parts 1.0.0")
    );
    assert!(
        folder
            .expect(0, &["library", "add", "new.tar.gz"])
            .stdout
            .contains("Parts 2.10.0")
    );
    let list = folder.expect(0, &["library", "list"]).stdout;
    assert_eq!(list.lines().count(), 2, "{list}");
    // The version that is asked for, else the newest.
    assert_eq!(value(&folder, "User.mo"), "1");
    assert_eq!(value(&folder, "Any.mo"), "2");
    // The same version again replaces it.
    let folder = folder.with("again.zip", zip(&[("Parts/package.mo", package("2.10.0", 3).as_str())]));
    folder.expect(0, &["library", "add", "again.zip"]);
    assert_eq!(value(&folder, "Any.mo"), "3");
    folder.expect(0, &["library", "remove", "Parts 2.10.0"]);
    assert_eq!(value(&folder, "Any.mo"), "1");
    folder.expect(0, &["library", "remove", "Parts"]);
    folder.expect(1, &["check", "Any.mo"]);
    folder.expect(2, &["library", "remove", "Parts"]);
}

#[test]
fn what_is_no_library_is_refused() {
    let folder = Folder::new()
        .with("out.zip", zip(&[("../Parts/package.mo", package("1.0.0", 1).as_str())]))
        .with(
            "out.tar.gz",
            tar_gz(&[("/tmp/Parts/package.mo", package("1.0.0", 1).as_str())]),
        )
        .with("none.zip", zip(&[("a/b.txt", "x")]))
        .with("text.zip", "no archive")
        .with(
            "cut.tar.gz",
            &tar_gz(&[("Parts/package.mo", package("1.0.0", 1).as_str())])[..40],
        );
    for source in [
        "out.zip",
        "out.tar.gz",
        "none.zip",
        "text.zip",
        "cut.tar.gz",
        "missing.zip",
    ] {
        let ran = folder.expect(2, &["library", "add", source]);
        assert!(ran.stderr.contains("was not installed"), "{source}: {}", ran.stderr);
    }
    assert_eq!(folder.expect(0, &["library", "list"]).stdout, "");
    assert!(!folder.path("Parts").exists());
}
