//! Libraries in one file: models find in a unit what they find in the folder it was made of.

use std::path::{Path, PathBuf};

use saltus::library::MemoryFiles;
use saltus::results::{Formats, MemoryStorage, WriteOptions};
use saltus::{Session, UnitOptions, WrittenUnit};
use saltus_testing::{Random, repository};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("units").join(name);
    // What an earlier run left behind.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const WITHOUT: UnitOptions = UnitOptions { without_sources: true };

/// The library of components as a unit in a folder of its own.
fn components(name: &str, options: UnitOptions) -> (PathBuf, WrittenUnit) {
    let folder = folder(name);
    let unit = Session::new().to_unit(Some("Saltus"), options).into_result().unwrap();
    std::fs::write(folder.join("Saltus.saltus-unit"), &unit.bytes).unwrap();
    (folder, unit)
}

/// The results of a run as a file.
fn results(session: &Session) -> Vec<u8> {
    let name = session.find_model(None).value.unwrap();
    let model = session.compile(&name).into_result().unwrap();
    let mut storage = MemoryStorage::default();
    let path = Path::new("r.csv");
    let mut writer = Formats::standard()
        .create(path, &mut storage, &WriteOptions::default())
        .unwrap();
    let summary = model.run().simulate_into(&mut *writer);
    assert!(summary.failure.is_none(), "{:?}", summary.failure);
    drop(writer);
    storage.bytes(path).unwrap()
}

#[test]
fn runs_from_a_unit_are_the_same_to_the_last_bit() {
    let (libraries, unit) = components("same", WITHOUT);
    assert_eq!(unit.files, 10);
    let examples = repository().join("examples");
    for name in [
        "electrical/HBridgeMotor.mo",
        "fluid/HydraulicPress.mo",
        "mechanics/CraneSlackRope.mo",
        "mechanics/DualClutch.mo",
        "thermal/Thermostat.mo",
    ] {
        let file = examples.join(name);
        let from_text = Session::new();
        from_text.add_file(&file);
        let from_unit = Session::with_libraries(vec![libraries.clone()]);
        from_unit.add_file(&file);
        assert!(results(&from_unit) == results(&from_text), "{name}");
        let class = from_unit.library().top_level("Saltus").unwrap();
        assert!(
            class.folder().is_some_and(|folder| folder.starts_with(&libraries)),
            "{name}"
        );
    }
}

#[test]
fn without_sources_nothing_of_the_text_is_left() {
    let text = "package Lib \"Gears and more\"
      function secret \"Ratio of teeth\" input Real u; output Real y; algorithm
        y := 2*u \"remark about the law\"; // comment about the law
      end secret;
      model Gear parameter Real k = secret(3); Real x(start = 1, fixed = true);
      equation der(x) = -k*x \"another remark\";
      annotation(Documentation(info = \"how it is done\"), experiment(StopTime = 2)); end Gear; end Lib;";
    let session = Session::new();
    session.add_text("Lib.mo", text);
    let whole = session.to_unit(None, UnitOptions::default()).into_result().unwrap();
    let bare = session.to_unit(None, WITHOUT).into_result().unwrap();
    let folder = folder("bare");
    for (unit, has_text) in [(&whole, true), (&bare, false)] {
        let file = folder.join("Lib.saltus-unit");
        std::fs::write(&file, &unit.bytes).unwrap();
        let session = Session::new();
        session.add_file(&file);
        let model = session.compile("Lib.Gear").into_result().unwrap();
        let last = model.run().simulate().unwrap().values("x").unwrap().last().copied();
        assert!((last.unwrap() - (-12.0_f64).exp()).abs() < 1e-6);
        let read =
            (0..session.sources().len()).filter_map(|id| session.sources().file(saltus::source::FileId(id as u32)));
        let shown: String = read.map(|file| file.text().to_owned()).collect();
        assert_eq!(shown.contains("remark about the law"), has_text);
        assert_eq!(shown.contains("comment about the law"), has_text);
        let (file, definition) = {
            let class = session.library().top_level("Lib").unwrap();
            (class.file, format!("{:?}", class.definition))
        };
        assert_eq!(session.sources().file(file).unwrap().is_outline(), !has_text);
        assert_eq!(definition.contains("remark about the law"), has_text);
        assert_eq!(definition.contains("how it is done"), has_text);
        assert!(definition.contains("StopTime"));
    }
}

#[test]
fn errors_in_a_unit_name_file_and_line() {
    let session = Session::new();
    session.add_text(
        "Lib.mo",
        "package Lib\n  model Wrong\n    Real x;\n  equation\n    x = unknown;\n  end Wrong;\nend Lib;",
    );
    let unit = session.to_unit(None, WITHOUT).into_result().unwrap();
    let file = folder("wrong").join("Lib.saltus-unit");
    std::fs::write(&file, unit.bytes).unwrap();
    let session = Session::new();
    session.add_file(&file);
    let outcome = session.compile("Lib.Wrong");
    let error = outcome.diagnostics.iter().next().unwrap();
    let place = session.sources().line_column(error.span().unwrap()).unwrap();
    assert_eq!(place.line, 5);
}

#[test]
fn files_that_models_read_come_along() {
    let package = folder("resources").join("Lib");
    std::fs::create_dir_all(package.join("Resources")).unwrap();
    std::fs::write(package.join("Resources/table.txt"), "#1\ndouble tab(2,2)\n0 0\n1 3\n").unwrap();
    std::fs::write(
        package.join("package.mo"),
        "package Lib constant String file = \"modelica://Lib/Resources/table.txt\"; end Lib;",
    )
    .unwrap();
    std::fs::write(package.join("package.order"), "Second\nFirst\n").unwrap();
    std::fs::write(
        package.join("First.mo"),
        "within Lib; model First Real x = 1; end First;",
    )
    .unwrap();
    std::fs::write(
        package.join("Second.mo"),
        "within Lib; model Second First a; end Second;",
    )
    .unwrap();
    let session = Session::new();
    session.add_file(&package);
    let unit = session.to_unit(None, WITHOUT).into_result().unwrap();
    assert_eq!((unit.files, unit.resources), (3, 1));
    let file = folder("resources-unit").join("Lib.saltus-unit");
    std::fs::write(&file, unit.bytes).unwrap();
    let session = Session::new();
    session.add_file(&file);
    let library = session.library();
    let path = library.resource("modelica://Lib/Resources/table.txt").unwrap();
    assert!(library.read_resource(&path).unwrap().starts_with(b"#1"));
    let top = library.top_level("Lib").unwrap();
    assert_eq!(library.members(&top).join(" "), "Second First");
    assert!(session.compile("Lib.Second").into_result().is_ok());
}

#[test]
fn what_cannot_be_a_unit_is_said() {
    let session = Session::new();
    session.add_text("Wrong.mo", "package Wrong model end Wrong;");
    assert!(session.to_unit(Some("Wrong"), WITHOUT).diagnostics.has_errors());
    assert!(
        Session::new()
            .to_unit(Some("Nowhere"), WITHOUT)
            .diagnostics
            .has_errors()
    );
    assert!(Session::new().to_unit(None, WITHOUT).diagnostics.has_errors());

    let folder = folder("none");
    for (name, content) in [
        ("Text", "package Text end Text;"),
        ("Empty", ""),
        ("Cut", "SALTUSU\0\u{1}\0\0\0"),
    ] {
        let file = folder.join(format!("{name}.saltus-unit"));
        std::fs::write(&file, content).unwrap();
        let session = Session::new();
        session.add_file(&file);
        assert!(session.diagnostics().has_errors(), "{name} given");
        let session = Session::with_libraries(vec![folder.clone()]);
        session.add_text("M.mo", &format!("model M {name}.A a; end M;"));
        assert!(session.compile("M").diagnostics.has_errors(), "{name} found");
    }
    let session = Session::new();
    session.add_file(folder.join("Missing.saltus-unit"));
    let said = format!("{:?}", session.diagnostics());
    assert!(said.contains("there is no such file"), "{said}");
    // Files of other kinds have no units.
    let session = Session::with_files(std::sync::Arc::new(MemoryFiles::new()), Vec::new());
    assert!(session.to_unit(None, WITHOUT).value.is_none());
}

/// Bytes changed at random, and cut off: an error or the same classes, never a panic, never much memory.
#[test]
fn damage_is_noticed() {
    let (folder, unit) = components("damage", WITHOUT);
    let file = folder.join("Saltus.saltus-unit");
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut noticed, tries) = (0, 300);
    for round in 0..tries {
        let mut bytes = unit.bytes.clone();
        if round % 5 == 0 {
            bytes.truncate(random.below(bytes.len()));
        } else {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        std::fs::write(&file, &bytes).unwrap();
        let session = Session::new();
        session.load(std::slice::from_ref(&file));
        noticed += usize::from(session.diagnostics().has_errors());
    }
    assert!(noticed >= tries - 1, "{noticed} of {tries}");
}
