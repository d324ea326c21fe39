//! Damaged result files: an error or what can be read, never a panic.

use std::path::Path;

use saltus_results::{
    Formats, Manifest, MemoryStorage, ResultSink, RowKind, Schema, Signal, Status, Summary, WriteOptions,
    read_event_log,
};
use saltus_testing::Random;

fn written(name: &str) -> Vec<u8> {
    let mut storage = MemoryStorage::default();
    let mut sink = Formats::standard()
        .create(Path::new(name), &mut storage, &WriteOptions::default())
        .unwrap();
    let schema = Schema::new(vec![Signal::new("x"), Signal::new("y")]).unwrap();
    sink.begin(&schema, &Manifest::default()).unwrap();
    for row in 0..20 {
        let time = f64::from(row);
        sink.row(time, RowKind::Regular, 0, &[time.sin(), -time]).unwrap();
    }
    let summary = Summary {
        status: Status::Completed,
        final_time: 19.0,
        ..Summary::default()
    };
    sink.finish(&summary).unwrap();
    storage.bytes(name).unwrap()
}

fn read(name: &str, bytes: &[u8]) -> Option<usize> {
    let mut storage = MemoryStorage::default();
    storage.insert(name, bytes);
    let _ = read_event_log(bytes, Path::new(name));
    let read = Formats::standard().read(Path::new(name), &mut storage).ok();
    read.map(|trajectory| trajectory.rows())
}

#[test]
fn bytes_changed_cut_and_repeated() {
    let mut random = Random(88172645463325252);
    for name in ["r.csv", "r.mat"] {
        let good = written(name);
        assert_eq!(read(name, &good), Some(20), "{name}");
        for _ in 0..2000 {
            let mut bytes = good.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] = random.below(256) as u8,
                    1 => bytes.truncate(at.max(1)),
                    2 => bytes.insert(at, random.of(&[0, 0xff, b',', b'"'])),
                    _ => {
                        let piece = bytes[at..(at + 8).min(bytes.len())].to_vec();
                        bytes.splice(at..at, piece);
                    }
                }
            }
            read(name, &bytes);
        }
    }
}

/// A writer that was killed after rows and before their number: the rows that were counted are there.
#[test]
fn rows_behind_their_number() {
    let good = written("r.mat");
    let end = good.windows(15).position(|piece| piece == b"saltus_metadata").unwrap() - 20;
    let row = 4 * 8;
    for extra in 1..5 {
        for time in [0.0_f64, 1.0, 20.0, 1e-300, 123.456] {
            let mut bytes = good[..end].to_vec();
            for value in [time, 0.0, 0.5, -time].repeat(extra) {
                bytes.extend(value.to_le_bytes());
            }
            bytes.truncate(end + extra * row - 3);
            assert_eq!(read("r.mat", &bytes), Some(20), "{extra} rows from {time}");
        }
    }
}
