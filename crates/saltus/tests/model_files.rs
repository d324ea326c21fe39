//! Model files: runs from them are bit-identical with runs from source, messages look the same, and no bytes whatever
//! make reading panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use saltus::results::{Discard, EventLogWriter, Formats, MemoryStorage, Sidecar, Storage, Tee, WriteOptions};
use saltus::source::render::{TextOptions, to_text};
use saltus::source::{Diagnostic, codes};
use saltus::{Model, ModelFileOptions, Session};
use saltus_testing::{Random, modelica_files, repository};
use sha2::{Digest, Sha256};

const WITH: ModelFileOptions = ModelFileOptions { without_sources: false };
const WITHOUT: ModelFileOptions = ModelFileOptions { without_sources: true };
/// Where the compressed content of a model file begins, its checksum, its length.
const CONTENT_AT: usize = 51;
const CHECKSUM_AT: usize = 19;
const LENGTH_AT: usize = 11;

/// Examples, models of one rule each, and one model of each file about functions, tables and texts.
fn all_files() -> Vec<PathBuf> {
    let folders = ["examples", "tests/models", "tests/run"];
    folders.into_iter().flat_map(modelica_files).collect()
}

fn compile(path: &Path) -> Option<Model> {
    let session = Session::with_libraries(vec![repository().join("library")]);
    session.add_file(path);
    let name = session.find_model(None).value?;
    session.compile(&name).value
}

/// Does the same with all files, on all processors; what it says is collected.
fn for_all_files(work: impl Fn(&Path, &Model) -> Vec<String> + Sync) -> Vec<String> {
    let files = all_files();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(model) = compile(file) else { continue };
                    let said = work(file, &model);
                    let said = said.iter().map(|what| format!("{}: {what}", file.display()));
                    found.lock().unwrap().extend(said);
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// Everything that a run leaves behind: result, description, event log, and how it ended.
fn traces(model: &Model) -> (Vec<Vec<u8>>, Option<Diagnostic>, Vec<String>) {
    let mut storage = MemoryStorage::default();
    let (result, events) = (Path::new("r.csv"), Path::new("events.json"));
    let summary = {
        let writer = Formats::standard().create(result, &mut storage, &WriteOptions::default());
        let log = EventLogWriter::new(storage.create(events).unwrap(), events);
        let mut sink = Tee::new().with(writer.unwrap()).with(log);
        model.run().simulate_into(&mut sink)
    };
    let files = [result, &Sidecar::path_for(result), events].map(|path| storage.bytes(path).unwrap_or_default());
    (files.into(), summary.failure, summary.report.warnings.clone())
}

#[test]
fn runs_from_files_are_bit_identical() {
    let compared = AtomicUsize::new(0);
    let wrong = for_all_files(|_, model| {
        compared.fetch_add(1, Ordering::Relaxed);
        let direct = traces(model);
        let mut wrong = Vec::new();
        for options in [WITH, WITHOUT] {
            let bytes = model.to_bytes(options).unwrap();
            let again = Model::from_bytes(&bytes).unwrap();
            // The text changes no run.
            if options == WITHOUT && traces(&again) != direct {
                wrong.push(format!("{options:?}: the run is another one"));
            }
            if again.to_bytes(options).unwrap() != bytes {
                wrong.push(format!("{options:?}: the file of the file is another one"));
            }
            if again.name() != model.name() || again.warnings() != model.warnings() {
                wrong.push(format!("{options:?}: name or warnings differ"));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(compared.into_inner() > 100);
}

/// What was run does not matter: the file is that of the model.
#[test]
fn a_file_holds_nothing_of_runs() {
    for name in [
        "examples/mechanics/TwoBlocks.mo",
        "tests/run/texts.mo",
        "tests/run/inverses.mo",
    ] {
        let Some(model) = compile(&repository().join(name)) else {
            continue;
        };
        let before = model.to_bytes(WITH).unwrap();
        model.run().simulate_into(&mut Discard);
        assert!(model.to_bytes(WITH).unwrap() == before, "{name}");
    }
}

fn wrong_model() -> Model {
    let session = Session::new();
    session.add_text(
        "Root.mo",
        "model Root\n  parameter Integer n = 2;\n  parameter Real limit = 0.5;\n  parameter Boolean on = true;\n  \
         type Kind = enumeration(low, high);\n  parameter Kind kind = Kind.low;\n  \
         Real x[n](each start = 1, each fixed = true);\n  Real y;\nequation\n  der(x) = fill(-1, n);\n  \
         y = sqrt(x[1] - limit);\nend Root;\n",
    );
    session.compile("Root").into_result().unwrap()
}

#[test]
fn failures_point_at_the_text_or_at_the_line() {
    let model = wrong_model();
    let rendered = |model: &Model| {
        let failed = model.run().simulate().unwrap_err();
        to_text(failed.diagnostic().unwrap(), model.sources(), TextOptions::default())
    };
    let direct = rendered(&model);
    assert!(direct.contains("y = sqrt(x[1] - limit)"), "{direct}");
    let with = Model::from_bytes(&model.to_bytes(WITH).unwrap()).unwrap();
    assert_eq!(rendered(&with), direct);
    let bytes = model.to_bytes(WITHOUT).unwrap();
    let without = rendered(&Model::from_bytes(&bytes).unwrap());
    assert_eq!(without.lines().next(), direct.lines().next());
    assert!(without.contains("Root.mo:11:3"), "{without}");
    assert!(!without.contains("sqrt(x[1] - limit);"), "{without}");
    // The text is not in the file either.
    let content = miniz_oxide::inflate::decompress_to_vec(&bytes[CONTENT_AT..]).unwrap();
    let text = b"each start = 1, each fixed";
    assert!(!content.windows(text.len()).any(|window| window == text));
}

#[test]
fn parameters_are_set_as_in_the_model() {
    let model = wrong_model();
    let again = Model::from_bytes(&model.to_bytes(WITHOUT).unwrap()).unwrap();
    for (name, value) in [
        ("limit", "0.25"),
        ("limit", "x"),
        ("on", "false"),
        ("on", "1"),
        ("kind", "high"),
        ("kind", "none"),
        ("limits", "1"),
        ("y", "1"),
        ("limit", "1e999"),
    ] {
        let direct = model.run().set(name, value).map(drop);
        assert_eq!(again.run().set(name, value).map(drop), direct, "{name}={value}");
    }
    let refused = again.run().set("n", "3").unwrap_err();
    assert_eq!(refused.code, codes::E0614);
    assert!(refused.help[0].contains("saltus compile"), "{refused:?}");
}

fn code_of(bytes: &[u8]) -> Option<saltus::source::Code> {
    Model::from_bytes(bytes).err().map(|diagnostic| diagnostic.code)
}

#[test]
fn what_is_no_model_file_is_told() {
    let good = wrong_model().to_bytes(WITH).unwrap();
    assert_eq!(code_of(&good), None);
    for nothing in [&b""[..], b"SALTUS", b"model M end M;", b"SALTUS\x01", &[0xff; 100]] {
        assert_eq!(code_of(nothing), Some(codes::E0706), "{nothing:?}");
    }
    for version in [0, 1, 77, u32::MAX] {
        let mut other = good.clone();
        other[7..11].copy_from_slice(&version.to_le_bytes());
        assert_eq!(code_of(&other), Some(codes::E0707));
        let message = Model::from_bytes(&other).unwrap_err().message;
        assert!(message.contains(&version.to_string()), "{message}");
    }
    for cut in 7..CONTENT_AT + 20 {
        assert_eq!(code_of(&good[..cut]), Some(codes::E0708), "{cut}");
    }
    let mut long = good.clone();
    long.push(0);
    assert_eq!(code_of(&long), Some(codes::E0708));
    // A length that nobody can have: nothing of the kind is allocated.
    let mut bomb = good;
    bomb[LENGTH_AT..CHECKSUM_AT].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(code_of(&bomb), Some(codes::E0708));
}

/// Numbers of a file, the same wherever the repository is.
fn random_of(path: &Path, seed: usize) -> Random {
    let name = path.strip_prefix(repository()).expect("a file of the repository");
    Random::named(&format!("{seed} {}", name.display()))
}

/// Bytes changed, cut, repeated, moved.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(2) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes[at] = random.of(&[0, 1, 0x7f, 0x80, 0xff]),
            3 => bytes[at] = bytes[at].wrapping_add(1),
            4 => bytes[at] = bytes[at].wrapping_sub(1),
            5 => bytes.truncate(at.max(1)),
            6 => {
                let from = random.below(bytes.len());
                let length = random.below(16).min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + length, at);
            }
            _ => bytes.insert(at, random.below(256) as u8),
        }
    }
}

/// A file with this content whose header is right.
fn wrapped(content: &[u8]) -> Vec<u8> {
    let compressed = miniz_oxide::deflate::compress_to_vec(content, 1);
    let mut bytes = b"SALTUS\0\x01\0\0\0".to_vec();
    bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&Sha256::digest(&compressed));
    bytes.extend_from_slice(&compressed);
    bytes
}

#[test]
fn damaged_files_are_refused() {
    let tried = AtomicUsize::new(0);
    let wrong = for_all_files(|path, model| {
        let good = model.to_bytes(WITH).unwrap();
        let mut random = random_of(path, 1);
        let mut wrong = Vec::new();
        for _ in 0..40 {
            let mut bytes = good.clone();
            damage(&mut bytes, &mut random);
            tried.fetch_add(1, Ordering::Relaxed);
            if bytes != good && Model::from_bytes(&bytes).is_ok() {
                wrong.push("a damaged file was taken".to_owned());
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(tried.into_inner() > 5000);
}

thread_local! {
    /// What a panic of this thread said.
    static PANIC: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

/// Contents that somebody made up, with a checksum that agrees: an error, or a model that can be run and asked without a
/// panic. `SALTUS_DAMAGE=1000` tries as many per file.
#[test]
fn contents_made_up_never_panic() {
    let per_file = std::env::var("SALTUS_DAMAGE").ok().and_then(|count| count.parse().ok());
    let (per_file, seed) = (per_file.unwrap_or(6), per_file.unwrap_or(1));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        PANIC.with(|panic| *panic.borrow_mut() = info.to_string());
    }));
    let wrong = for_all_files(|path, model| {
        let good = model.to_bytes(WITHOUT).unwrap();
        let good = miniz_oxide::inflate::decompress_to_vec(&good[CONTENT_AT..]).unwrap();
        let mut random = random_of(path, seed);
        let mut wrong = Vec::new();
        for _ in 0..per_file {
            let mut content = good.clone();
            damage(&mut content, &mut random);
            let tried = catch_unwind(AssertUnwindSafe(|| try_content(&content)));
            if tried.is_err() {
                wrong.push(PANIC.take());
            }
        }
        wrong
    });
    std::panic::set_hook(hook);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn try_content(content: &[u8]) {
    let Ok(model) = Model::from_bytes(&wrapped(content)) else {
        return;
    };
    let run = model.run().options(|options| {
        options.event_limit = 20;
        options.step_limit = 50;
        options.candidate_limit = 16;
    });
    let (start, _) = run.span();
    let summary = run.stop(start + 0.01).interval(0.01).simulate_into(&mut Discard);
    if let Some(failure) = &summary.failure {
        to_text(failure, model.sources(), TextOptions::default());
    }
    assert!(model.to_bytes(WITH).is_ok());
}

/// The format is that of the number in the header. If this test fails because something that is written has changed:
/// raise `FORMAT` in `file.rs` and write the sample anew with `SALTUS_UPDATE_MODEL_FILE=1`.
#[test]
fn the_sample_of_the_format_is_read() {
    let path = repository().join("tests/reference/format.saltus");
    let model = compile(&repository().join("tests/run/tables.mo")).unwrap();
    if std::env::var_os("SALTUS_UPDATE_MODEL_FILE").is_some() {
        std::fs::write(&path, model.to_bytes(WITHOUT).unwrap()).unwrap();
    }
    let sample = Model::from_bytes(&std::fs::read(&path).unwrap()).unwrap();
    let values = |model: &Model| {
        let simulation = model.run().simulate().unwrap_or_else(|failed| failed.simulation);
        simulation.trajectory
    };
    let (sample, now) = (values(&sample), values(&model));
    assert_eq!(sample.schema(), now.schema());
    assert_eq!(sample.time(), now.time());
}
