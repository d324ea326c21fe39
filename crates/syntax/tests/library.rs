//! Library folders, in memory and (if `SALTUS_MSL` is set) on disk.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements, shown with --nocapture"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus_source::SourceMap;
use saltus_syntax::ast::Name;
use saltus_syntax::library::{Disk, Library, MemoryFiles};

fn library(files: MemoryFiles, path: &[&str]) -> Library {
    let path = path.iter().map(PathBuf::from).collect();
    Library::new(Arc::new(files), Arc::new(SourceMap::new()), path)
}

fn names(path: &str) -> Vec<Name> {
    path.split('.').map(Name::new).collect()
}

/// `file:line code` of everything that was reported.
fn findings(library: &Library) -> Vec<String> {
    let describe = |d: &saltus_source::Diagnostic| {
        let Some(span) = d.span() else {
            return format!("- {}", d.code);
        };
        let file = library.sources().file(span.file).unwrap();
        let line = file.line_column(span.start).line;
        format!("{}:{line} {}", file.name(), d.code)
    };
    library.diagnostics().iter().map(describe).collect()
}

fn small() -> MemoryFiles {
    MemoryFiles::new()
        .with(
            "/lib/Lib/package.mo",
            "package Lib\n  constant Real c = 1;\n  model Inner\n    model Deep end Deep;\n  end Inner;\nend Lib;\n",
        )
        .with("/lib/Lib/package.order", "Motor\nParts\nc\nInner\nLoad\n")
        .with("/lib/Lib/Load.mo", "within Lib;\nmodel Load\nend Load;\n")
        .with("/lib/Lib/Motor.mo", "within Lib;\nmodel Motor\nend Motor;\n")
        .with("/lib/Lib/Parts/package.mo", "within Lib;\npackage Parts\nend Parts;\n")
        .with("/lib/Lib/Parts/Gear.mo", "within Lib.Parts;\nmodel Gear\nend Gear;\n")
        .with("/lib/Lib/Resources/note.txt", "no class")
        .with("/lib/Single.mo", "package Single\n  model M end M;\nend Single;\n")
        .with("/lib/Versioned 1.2/package.mo", "package Versioned\nend Versioned;\n")
}

#[test]
fn classes_are_found_by_name_and_read_lazily() {
    let files = small().with("/lib/Versioned 1.10/package.mo", "package Versioned\nend Versioned;\n");
    let library = library(files, &["/elsewhere", "/lib"]);
    assert_eq!(library.files_read(), 0);
    assert!(library.find(&names("Lib.Parts.Gear")).is_some());
    assert_eq!(library.files_read(), 3);
    assert!(library.find(&names("Lib.Inner.Deep")).is_some());
    assert!(library.find(&names("Lib.Missing")).is_none());
    assert!(library.find(&names("Missing")).is_none());
    assert_eq!(library.files_read(), 3);
    assert!(library.find(&names("Single.M")).is_some());
    let versioned = library.top_level("Versioned").unwrap();
    assert!(versioned.folder().unwrap().ends_with("Versioned 1.10"));
    assert!(library.find(&names("Lib.Resources")).is_none());
    assert_eq!(findings(&library), [""; 0]);
}

#[test]
fn members_follow_package_order() {
    let library = library(small(), &["/lib"]);
    let package = library.top_level("Lib").unwrap();
    let order = library.members(&package);
    assert_eq!(*order, ["Motor", "Parts", "Load"]);
    let parts = library.member(&package, "Parts").unwrap();
    assert_eq!(parts.qualified_name(), "Lib.Parts");
    assert_eq!(*library.members(&parts), ["Gear"]);
    assert_eq!(findings(&library), [""; 0]);
}

#[test]
fn a_given_file_of_a_package_has_its_full_name() {
    let library = library(small(), &[]);
    let classes = library.add(Path::new("/lib/Lib/Parts/Gear.mo"));
    assert_eq!(classes[0].qualified_name(), "Lib.Parts.Gear");
    assert!(library.find(&names("Lib.Motor")).is_some());
    assert_eq!(library.given()[0].qualified_name(), "Lib");
    assert_eq!(findings(&library), [""; 0]);
}

#[test]
fn given_texts_and_folders() {
    let library = library(small(), &[]);
    library.add_text("<input>", "model A end A; model B end B;");
    library.add(Path::new("/lib"));
    let given: Vec<String> = library.given().iter().map(|c| c.qualified_name()).collect();
    assert_eq!(given, ["A", "B", "Lib", "Single", "Versioned"]);
    library.add_text("<again>", "\nmodel A end A;");
    assert_eq!(findings(&library), ["<again>:2 E0124"]);
}

#[test]
fn the_first_folder_of_the_path_wins() {
    let files = small().with("/mine/Lib.mo", "package Lib model Mine end Mine; end Lib;");
    let library = library(files, &["/mine", "/lib"]);
    assert!(library.find(&names("Lib.Mine")).is_some());
    assert!(library.find(&names("Lib.Motor")).is_none());
}

#[test]
fn a_search_folder_may_be_the_package() {
    let library = library(small(), &["/lib/Lib"]);
    assert!(library.find(&names("Lib.Motor")).is_some());
    assert!(library.find(&names("Motor")).is_none());
}

#[test]
fn what_is_not_in_order_is_reported() {
    let files = small()
        .with("/lib/Lib/package.order", "Motor\nGhost\nMotor\nc\n")
        .with("/lib/Lib/Load.mo", "within Library;\nmodel Load\nend Load;\n")
        .with("/lib/Lib/Wheel.mo", "within Lib;\nmodel Weel\nend Weel;\n")
        .with("/lib/Lib/Inner.mo", "within Lib;\nmodel Inner\nend Inner;\n")
        .with("/lib/Lib/Motor/package.mo", "within Lib;\npackage Motor\nend Motor;\n")
        .with("/lib/Lib/Empty.mo", "within Lib;\n");
    let library = library(files, &[]);
    let summary = library.load_all(&["/lib/Lib".into()]);
    assert_eq!(summary.files.len(), 9);
    let mut found = findings(&library);
    found.sort();
    assert_eq!(
        found,
        [
            "/lib/Lib/Empty.mo:1 E0122",
            "/lib/Lib/Load.mo:1 E0121",
            "/lib/Lib/Wheel.mo:2 E0122",
            "/lib/Lib/package.mo:1 E0124",
            "/lib/Lib/package.mo:1 W0102",
            "/lib/Lib/package.mo:1 W0102",
            "/lib/Lib/package.mo:1 W0102",
            "/lib/Lib/package.mo:1 W0102",
            "/lib/Lib/package.mo:1 W0102",
            "/lib/Lib/package.mo:3 E0124",
            "/lib/Lib/package.order:2 E0123",
            "/lib/Lib/package.order:3 E0124",
        ]
    );
}

#[test]
fn unreadable_files_and_folders() {
    let library = library(small(), &[]);
    assert!(library.add(Path::new("/none.mo")).is_empty());
    assert!(library.add(Path::new("/lib/Lib/Resources")).is_empty());
    assert_eq!(findings(&library), ["- E0120", "- E0125"]);
}

#[test]
fn one_class_of_the_standard_library() {
    let Some(folder) = std::env::var_os("SALTUS_MSL") else {
        eprintln!("skipped: SALTUS_MSL is not set");
        return;
    };
    let folder = PathBuf::from(folder);
    let library = Library::new(Arc::new(Disk), Arc::default(), vec![folder.clone()]);
    let class = library.find(&names("Modelica.Mechanics.Rotational.Components.Clutch"));
    assert!(class.is_some());
    assert_eq!(library.files_read(), 5);
    assert_eq!(findings(&library), [""; 0]);

    let all = Library::new(Arc::new(Disk), Arc::default(), Vec::new());
    let summary = all.load_all(&[folder]);
    assert!(summary.files.len() >= 2665);
    assert_eq!(findings(&all), [""; 0]);
}
