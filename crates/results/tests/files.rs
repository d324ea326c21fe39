//! Files: round trips, killed runs, foreign and damaged files, full disks.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use proptest::prelude::*;
use saltus_results::*;

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        ..Default::default()
    }
}

/// A bouncing ball with one of everything.
fn schema() -> Schema {
    Schema::new(vec![
        Signal::new("h")
            .with_unit("m")
            .with_description("Height")
            .with_role(Role::State),
        Signal::new("w").with_unit("rad/s").with_display_unit("rpm"),
        Signal::alias("minus_h", SignalId(0), AliasSign::Negated).with_unit("m"),
        Signal::new("contact").with_kind(SignalKind::Boolean),
        Signal::alias("free", SignalId(3), AliasSign::Not).with_kind(SignalKind::Boolean),
        Signal::constant("g", 9.81).with_unit("m/s2"),
        Signal::new("gear").with_kind(SignalKind::Enumeration(vec!["low".into(), "high".into()])),
        Signal::new("A[1,2]"),
    ])
    .unwrap()
}

fn manifest() -> Manifest {
    Manifest {
        program: "saltus".into(),
        version: "0.1.0".into(),
        model: "Ball".into(),
        options: [("tolerance".to_owned(), "1e-6".to_owned())].into(),
        inputs: vec![InputHash {
            path: "Ball.mo".into(),
            hash: "sha256:00".into(),
        }],
        figures: vec![ModelFigure {
            title: "Both".into(),
            preferred: true,
            plots: vec![ModelPlot {
                title: "Plane".into(),
                curves: vec![
                    ModelCurve {
                        variable: "x".into(),
                        ..ModelCurve::default()
                    },
                    ModelCurve {
                        over: Some("x".into()),
                        variable: "y".into(),
                        legend: "path".into(),
                    },
                ],
                vertical: ModelAxis {
                    min: Some(-1.0),
                    ..ModelAxis::default()
                },
                ..ModelPlot::default()
            }],
        }],
        shapes: vec![Shape {
            kind: "Point".into(),
            component: "ball".into(),
            values: [
                ("x".to_owned(), ShapeValue::Variable("x".into())),
                ("y".to_owned(), ShapeValue::Number(2.0)),
            ]
            .into(),
        }],
        set_points: vec![("g".into(), "x".into())],
    }
}

fn summary() -> Summary {
    let mode = ModeRecord {
        mode: 1,
        label: "contact".into(),
        valuation: vec![("h <= 0".into(), true)],
        since: None,
        structure: None,
    };
    Summary {
        status: Status::Completed,
        final_time: 1.0,
        modes: vec![mode],
        ..Default::default()
    }
}

fn push_rows(sink: &mut dyn ResultSink, rows: usize) {
    sink.begin(&schema(), &manifest()).unwrap();
    for row in 0..rows {
        let t = row as f64 / 7.0;
        let dead = if row % 3 == 0 { f64::NAN } else { t.sin() };
        let contact = f64::from(u8::from(row % 2 == 0));
        let values = [1.0 / (t + 1.0), dead, contact, 2.0, 1e-300 * t];
        sink.row(t, RowKind::Regular, (row % 2) as u32, &values).unwrap();
    }
    sink.finish(&summary()).unwrap();
}

fn written(path: &str, rows: usize) -> MemoryStorage {
    let mut storage = MemoryStorage::default();
    let options = WriteOptions::default();
    let mut sink = Formats::standard()
        .create(Path::new(path), &mut storage, &options)
        .unwrap();
    push_rows(&mut sink, rows);
    storage
}

fn in_memory(rows: usize) -> Trajectory {
    let mut trajectory = Trajectory::new();
    push_rows(&mut trajectory, rows);
    trajectory
}

/// Equal values of all names of `expected`, bit by bit, NaN being equal to NaN.
fn assert_same_values(expected: &Trajectory, found: &Trajectory, rows: usize) {
    assert_eq!(found.rows(), rows);
    let bits = |values: &[f64]| -> Vec<u64> {
        values[..rows]
            .iter()
            .map(|v| if v.is_nan() { u64::MAX } else { (v + 0.0).to_bits() })
            .collect()
    };
    assert_eq!(bits(expected.time()), bits(found.time()));
    assert_eq!(expected.modes()[..rows], found.modes()[..rows]);
    for signal in expected.schema().signals() {
        let name = &signal.name;
        let (a, b) = (expected.signal(name).unwrap(), found.signal(name).unwrap());
        assert_eq!(bits(&a.values), bits(&b.values), "{name}");
    }
}

#[test]
fn both_formats_keep_everything() {
    for path in ["out.csv", "out.mat", "OUT.MAT"] {
        let mut storage = written(path, 100);
        let found = Formats::standard().read(Path::new(path), &mut storage).unwrap();
        let expected = in_memory(100);
        assert_same_values(&expected, &found, 100);
        assert_eq!(found.manifest(), &manifest(), "{path}");
        assert_eq!(found.summary(), &summary(), "{path}");
        for signal in expected.schema().signals() {
            let read = found.signal(&signal.name).unwrap().signal;
            assert_eq!(signal.kind, read.kind);
            assert_eq!((&signal.unit, &signal.display_unit), (&read.unit, &read.display_unit));
            assert_eq!(signal.description, read.description);
        }
        assert_eq!(found.mode_records()[&1].label, "contact");
    }
}

#[test]
fn aliases_are_stored_once() {
    let mut storage = written("out.mat", 10);
    let found = Formats::standard().read(Path::new("out.mat"), &mut storage).unwrap();
    let minus = found.schema().find("minus_h").unwrap();
    let expected = Binding::Alias {
        of: found.schema().find("h").unwrap(),
        sign: AliasSign::Negated,
    };
    assert_eq!(found.schema().signal(minus).binding, expected);

    let mut storage = MemoryStorage::default();
    let options = WriteOptions {
        omit_aliases: true,
        ..Default::default()
    };
    let path = Path::new("out.csv");
    let mut sink = Formats::standard().create(path, &mut storage, &options).unwrap();
    push_rows(&mut sink, 10);
    let text = String::from_utf8(storage.bytes(path).unwrap()).unwrap();
    assert!(text.starts_with("time,$mode,h,w,contact,gear,\"A[1,2]\"\n"), "{text}");
    let found = Formats::standard().read(path, &mut storage).unwrap();
    assert_same_values(&in_memory(10), &found, 10);
}

#[test]
fn a_conversion_keeps_the_values() {
    let mut storage = written("a.csv", 20);
    let formats = Formats::standard();
    let a = formats.read(Path::new("a.csv"), &mut storage).unwrap();
    let mut sink = formats
        .create(Path::new("b.mat"), &mut storage, &WriteOptions::default())
        .unwrap();
    a.replay(&mut sink).unwrap();
    let b = formats.read(Path::new("b.mat"), &mut storage).unwrap();
    assert_same_values(&a, &b, 20);
}

#[test]
fn metadata_of_an_older_file_is_not_used() {
    let mut storage = written("out.csv", 5);
    storage.insert("out.csv", "time,h\n0,1\n1,2\n");
    let found = Formats::standard().read(Path::new("out.csv"), &mut storage).unwrap();
    assert_eq!(found.signal("h").unwrap().values[..], [1.0, 2.0]);
    assert!(found.signal("g").is_none(), "a constant of the older run");
    assert_eq!(found.manifest(), &Manifest::default());
}

/// Whatever a kill leaves of a CSV file, its rows are among those written.
#[test]
fn csv_cut_anywhere_is_readable() {
    let bytes = written("out.csv", 40).bytes("out.csv").unwrap();
    let expected = in_memory(40);
    let header = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
    for length in 0..=bytes.len() {
        let lines = bytes[..length].iter().filter(|&&b| b == b'\n').count();
        match read_csv(&bytes[..length], Path::new("out.csv"), None) {
            Ok(found) => {
                assert_eq!(found.rows() + 1, lines);
                assert_eq!(found.time(), &expected.time()[..lines - 1]);
            }
            Err(error) => assert!(length < header, "{length}: {error}"),
        }
    }
}

#[test]
fn mat_cut_anywhere_is_readable() {
    let bytes = written("out.mat", 40).bytes("out.mat").unwrap();
    let data = bytes.windows(7).position(|w| w == b"data_2\0").unwrap() + 7;
    let width = 8 * (2 + 6);
    let expected = in_memory(40);
    for length in 0..=bytes.len() {
        match read_mat(&bytes[..length], Path::new("out.mat")) {
            Ok(found) => {
                let rows = ((length - data) / width).min(40);
                assert_eq!(found.rows(), rows);
                assert_eq!(found.time(), &expected.time()[..rows]);
            }
            Err(error) => assert!(length < data, "{length}: {error}"),
        }
    }
}

/// Killed after rows were written and before their number was.
#[test]
fn rows_behind_a_mat_matrix_are_ignored() {
    let mut bytes = written("out.mat", 40).bytes("out.mat").unwrap();
    let name = bytes.windows(7).position(|w| w == b"data_2\0").unwrap();
    let columns = name - 20 + 8;
    bytes[columns..columns + 4].copy_from_slice(&10i32.to_le_bytes());
    // Whatever stands there, it is not taken for the header of a matrix.
    let behind = name + 7 + 10 * 8 * (2 + 6);
    for garbage in [0.0, -1.0, 4.0, f64::MAX] {
        bytes[behind..behind + 8].copy_from_slice(&f64::to_le_bytes(garbage));
        bytes[behind + 8..behind + 16].copy_from_slice(&(-garbage).to_le_bytes());
        let found = read_mat(&bytes[..], Path::new("out.mat")).unwrap();
        assert_eq!(found.rows(), 10);
    }
}

/// A run that never finishes leaves all rows but the last group, and the metadata says that it was running.
#[test]
fn unfinished_runs_are_readable() {
    for path in ["out.csv", "out.mat"] {
        let path = Path::new(path);
        let mut storage = MemoryStorage::default();
        let formats = Formats::standard();
        let mut sink = formats.create(path, &mut storage, &WriteOptions::default()).unwrap();
        sink.begin(&schema(), &manifest()).unwrap();
        for row in 0..1000 {
            sink.row(f64::from(row), RowKind::Regular, 0, &[1.0; 5]).unwrap();
            let seen = formats.read(path, &mut storage.clone()).unwrap();
            assert!(seen.rows() + 65 >= row as usize, "{} of {row}", seen.rows());
        }
        sink.flush().unwrap();
        let seen = formats.read(path, &mut storage).unwrap();
        assert!(seen.rows() >= 999);
        assert_eq!(seen.summary().status, Status::Running);
    }
}

#[test]
fn two_rows_at_an_event() {
    use RowKind::*;
    let pushes = [
        (0.0, Regular, 1.0),
        (1.0, Regular, 2.0),
        (1.0, EventLeft, 2.0),
        (1.0, Instant, 3.0),
        (1.0, EventRight, 4.0),
        (1.0, EventLeft, 4.0),
        (1.0, EventRight, 5.0),
        (1.0, Regular, 5.0),
        (2.0, EventLeft, 6.0),
        (2.0, EventRight, 7.0),
    ];
    let run = |sink: &mut dyn ResultSink| {
        sink.begin(&Schema::new(vec![Signal::new("x")]).unwrap(), &Manifest::default())
            .unwrap();
        for (time, kind, value) in pushes {
            sink.row(time, kind, 0, &[value]).unwrap();
        }
        sink.finish(&Summary::default()).unwrap();
    };
    let mut kept = Trajectory::new();
    run(&mut EventRows::new(&mut kept));
    assert_eq!(kept.time(), [0.0, 1.0, 1.0, 2.0, 2.0]);
    assert_eq!(kept.signal("x").unwrap().values[..], [1.0, 2.0, 5.0, 6.0, 7.0]);
    assert_eq!(kept.kinds(), [Regular, EventLeft, EventRight, EventLeft, EventRight]);

    let mut storage = MemoryStorage::default();
    let options = WriteOptions {
        all_instants: true,
        ..Default::default()
    };
    run(&mut Formats::standard()
        .create(Path::new("a.csv"), &mut storage, &options)
        .unwrap());
    let all = Formats::standard().read(Path::new("a.csv"), &mut storage).unwrap();
    assert_eq!(all.rows(), pushes.len());
}

/// A disk with room for so many bytes.
struct SmallDisk {
    room: usize,
}

impl Write for SmallDisk {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let taken = buffer.len().min(self.room);
        self.room -= taken;
        if taken == 0 && !buffer.is_empty() {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(taken)
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for SmallDisk {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

#[test]
fn a_full_disk_is_named_with_a_remedy() {
    let fill = |sink: &mut dyn ResultSink| -> ResultError {
        let mut attempt = || -> Result<(), ResultError> {
            sink.begin(&schema(), &manifest())?;
            (0..500).try_for_each(|row| sink.row(f64::from(row), RowKind::Regular, 0, &[0.5; 5]))
        };
        attempt().unwrap_err()
    };
    let full = [
        fill(&mut CsvWriter::new(SmallDisk { room: 1000 }, "/data/out.csv")),
        fill(&mut MatWriter::new(SmallDisk { room: 5000 }, "/data/out.csv")),
        fill(
            &mut Tee::new()
                .with(Discard)
                .with(CsvWriter::new(SmallDisk { room: 9 }, "/data/out.csv")),
        ),
    ];
    for error in full {
        assert_eq!(error.to_string(), "cannot write to `/data/out.csv`: the disk is full");
        assert!(error.help().unwrap().contains("free some space"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_reported() {
    let device = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut csv = CsvWriter::new(device(), "full.csv");
    let mut mat = MatWriter::new(device(), "full.mat");
    let sinks: [&mut dyn ResultSink; 2] = [&mut csv, &mut mat];
    for sink in sinks {
        let error = sink.begin(&schema(), &manifest()).unwrap_err();
        assert!(error.to_string().ends_with("the disk is full"), "{error}");
    }
}

/// Not a test: what the next test starts and kills.
#[test]
#[ignore = "runs until killed"]
fn endless_writer() {
    let path = std::env::var("SALTUS_ENDLESS_WRITER").unwrap();
    let mut sink = Formats::standard()
        .create(Path::new(&path), &mut Disk, &WriteOptions::default())
        .unwrap();
    sink.begin(&schema(), &manifest()).unwrap();
    for row in 0..50_000_000 {
        sink.row(
            f64::from(row),
            RowKind::Regular,
            0,
            &[f64::from(row) * 0.1, 1.0, 0.0, 2.0, 3.0],
        )
        .unwrap();
    }
}

#[test]
fn a_killed_process_leaves_its_rows() {
    let folder = std::env::temp_dir().join(format!("saltus-results-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["killed.csv", "killed.mat"] {
        let path = folder.join(name);
        let mut writer = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "endless_writer", "--ignored"])
            .env("SALTUS_ENDLESS_WRITER", &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let grown = || std::fs::metadata(&path).is_ok_and(|data| data.len() > 100_000);
        while !grown() && writer.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let found = Formats::standard().read(&path, &mut Disk).unwrap();
        assert!(found.rows() > 500, "{name}: {}", found.rows());
        let h = found.signal("h").unwrap();
        assert!(h.values.iter().zip(found.time()).all(|(h, t)| *h == t * 0.1));
        assert_eq!(h.signal.unit, "m", "{name}: the metadata is there from the beginning");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn paths_that_cannot_be_used() {
    let formats = Formats::standard();
    let create = |path: &str| {
        formats
            .create(Path::new(path), &mut Disk, &WriteOptions::default())
            .err()
            .unwrap()
    };
    let missing = create("/nonexistent-folder/out.csv");
    assert!(matches!(
        missing,
        ResultError::Io {
            action: IoAction::Create,
            ..
        }
    ));
    assert!(missing.help().unwrap().contains("create the folder"));
    let unknown = create("out.xyz");
    assert_eq!(unknown.help().unwrap(), "use one of the extensions `.csv`, `.mat`");
    let absent = formats.read(Path::new("/nonexistent.mat"), &mut Disk).unwrap_err();
    assert!(matches!(
        absent,
        ResultError::Io {
            action: IoAction::Read,
            ..
        }
    ));
}

/// The way OpenModelica reads a result: six matrices in this order with these types, nothing else looked at.
#[test]
fn openmodelica_can_read_it() {
    let bytes = written("out.mat", 70).bytes("out.mat").unwrap();
    let word = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let double = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let mut at = 0;
    let mut starts = Vec::new();
    for (name, kind, size) in [
        ("Aclass", 51, 1),
        ("name", 51, 1),
        ("description", 51, 1),
        ("dataInfo", 20, 4),
        ("data_1", 0, 8),
        ("data_2", 0, 8),
    ] {
        assert_eq!((word(at), word(at + 12)), (kind, 0));
        let (rows, columns, length) = (word(at + 4), word(at + 8), word(at + 16));
        assert_eq!(&bytes[at + 20..at + 20 + length], format!("{name}\0").as_bytes());
        starts.push((at + 20 + length, rows, columns));
        at += 20 + length + rows * columns * size;
    }
    let (start, rows, columns) = starts[0];
    assert_eq!((rows, columns), (4, 11));
    assert_eq!(
        &bytes[start..start + 44],
        b"A1 bt. ir1 na  Tj  re  ac  nt  so   r   y   "
    );
    let (names, width, count) = starts[1];
    let name = |k: usize| {
        String::from_utf8_lossy(&bytes[names + k * width..names + (k + 1) * width])
            .trim_end()
            .to_owned()
    };
    let position = |wanted: &str| (0..count).find(|&k| name(k) == wanted).unwrap();
    let info = |k: usize| [0, 4, 8, 12].map(|o| word(starts[3].0 + 16 * k + o) as i32);
    assert_eq!(info(position("time")), [0, 1, 0, -1]);
    assert_eq!(info(position("minus_h"))[1], -info(position("h"))[1]);
    let [table, row, ..] = info(position("g"));
    assert_eq!((table, starts[4].2), (1, 2));
    for column in 0..2 {
        assert_eq!(
            double(starts[4].0 + 8 * (column * starts[4].1 + row as usize - 1)),
            9.81
        );
    }
    assert_eq!(double(starts[4].0), 0.0);
    assert_eq!(double(starts[4].0 + 8 * starts[4].1), 69.0 / 7.0);
    assert_eq!(starts[5].2, 70);
}

/// A file as Dymola writes it: single precision, one row per variable, big-endian here for good measure.
#[test]
fn foreign_mat_in_normal_layout() {
    let mut bytes = Vec::new();
    let mut matrix = |kind: i32, rows: usize, columns: usize, name: &str, data: Vec<u8>| {
        for word in [kind, rows as i32, columns as i32, 0, name.len() as i32 + 1] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend(name.bytes().chain([0]).chain(data));
    };
    let text = |lines: &[&str], width: usize| -> Vec<u8> {
        (0..width)
            .flat_map(|k| lines.iter().map(move |l| *l.as_bytes().get(k).unwrap_or(&b' ')))
            .collect()
    };
    matrix(
        1051,
        4,
        11,
        "Aclass",
        text(&["Atrajectory", "1.1", "", "binNormal"], 11),
    );
    matrix(1051, 4, 10, "name", text(&["Time", "b.x", "b.der(x)", "p"], 10));
    matrix(
        1051,
        4,
        12,
        "description",
        text(&["Time [s]", "Pos [m|mm]", "", "Param"], 12),
    );
    let info: [[i32; 4]; 4] = [[0, 2, 2, 1], [1, 2, -2, 2], [0, 0, 0, 0], [-1, -1, -1, -1]];
    matrix(
        1020,
        4,
        4,
        "dataInfo",
        info.iter().flatten().flat_map(|v| v.to_be_bytes()).collect(),
    );
    let single = |v: &[f32]| v.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    matrix(1010, 2, 2, "data_1", single(&[0.0, 1.0, 7.5, 7.5]));
    matrix(1010, 3, 2, "data_2", single(&[0.0, 0.5, 1.0, 3.0, 4.0, 5.0]));
    let found = read_mat(&bytes[..], Path::new("d.mat")).unwrap();
    assert_eq!(found.time(), [0.0, 0.5, 1.0]);
    assert_eq!(found.signal("b.x").unwrap().values[..], [3.0, 4.0, 5.0]);
    assert_eq!(found.signal("b.x").unwrap().signal.display_unit, "mm");
    assert_eq!(found.signal("der(b.x)").unwrap().values[..], [-3.0, -4.0, -5.0]);
    assert_eq!(found.signal("p").unwrap().values[..], [7.5; 3]);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_names_and_numbers_survive_csv(
        names in prop::collection::btree_set("[a-c\"',;\\[\\]\n\r\t .#é]{1,6}", 1..5),
        rows in prop::collection::vec(prop::collection::vec(prop::num::f64::ANY, 5), 0..6),
    ) {
        let names: Vec<String> = names.into_iter().filter(|n| n != "time").collect();
        let schema = Schema::new(names.iter().map(Signal::new).collect()).unwrap();
        let mut bytes = Vec::new();
        let mut expected = Trajectory::new();
        let mut sink = Tee::new().with(CsvWriter::new(&mut bytes, "p.csv")).with(&mut expected);
        push_all(&mut sink, &schema, &rows);
        drop(sink);
        let found = read_csv(&bytes[..], Path::new("p.csv"), None).unwrap();
        assert_same_values(&expected, &found, rows.len());
    }

    #[test]
    fn any_names_and_numbers_survive_mat(
        names in prop::collection::btree_set("[a-c\\[\\],.é]{1,9}", 1..5),
        rows in prop::collection::vec(prop::collection::vec(prop::num::f64::ANY, 5), 0..6),
        unit in "[a-z/]{0,3}",
        description in "([a-z\\[\\]|:#]{1,8})?",
    ) {
        let describe = |name| Signal::new(name).with_unit(&unit).with_description(&description);
        let schema = Schema::new(names.iter().map(describe).collect()).unwrap();
        let mut expected = Trajectory::new();
        let mut file = io::Cursor::new(Vec::new());
        let mut sink = Tee::new().with(MatWriter::new(&mut file, "p.mat")).with(&mut expected);
        push_all(&mut sink, &schema, &rows);
        drop(sink);
        let found = read_mat(&file.get_ref()[..], Path::new("p.mat")).unwrap();
        assert_same_values(&expected, &found, rows.len());
        prop_assert_eq!(found.schema(), &schema);
        // Without the metadata at the end of the file, units come from the descriptions.
        let cut = file.get_ref().windows(16).position(|w| w == b"saltus_metadata\0").unwrap() - 20;
        let found = read_mat(&file.get_ref()[..cut], Path::new("p.mat")).unwrap();
        prop_assert_eq!(found.schema(), &schema);
    }

    #[test]
    fn damaged_files_never_panic(at in 0usize..4000, byte in any::<u8>(), cut in 0usize..4000) {
        for path in ["out.csv", "out.mat"] {
            let mut bytes = written(path, 6).bytes(path).unwrap();
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(length - cut % length / 8);
            let mut storage = MemoryStorage::default();
            storage.insert(path, bytes);
            let _ = Formats::standard().read(Path::new(path), &mut storage);
        }
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_csv(&bytes[..], Path::new("n.csv"), None);
        let _ = read_mat(&bytes[..], Path::new("n.mat"));
        let _ = read_event_log(&bytes[..], Path::new("n.json"));
    }
}

fn push_all(sink: &mut dyn ResultSink, schema: &Schema, rows: &[Vec<f64>]) {
    sink.begin(schema, &Manifest::default()).unwrap();
    for (index, row) in rows.iter().enumerate() {
        let values = &row[..schema.columns().len()];
        sink.row(index as f64 * 0.1, RowKind::Regular, index as u32, values)
            .unwrap();
    }
    sink.finish(&Summary::default()).unwrap();
}
