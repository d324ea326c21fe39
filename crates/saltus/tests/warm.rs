//! What a model learns in its runs makes later ones quicker and changes nothing: they are the same to the last bit, whatever
//! was run before them, and on whatever thread.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use saltus::results::{EventLogWriter, Formats, MemoryStorage, Sidecar, Storage, Tee, WriteOptions};
use saltus::source::Diagnostic;
use saltus::{Model, Run, Session};
use saltus_testing::{modelica_files, repository};

fn compile(path: &Path) -> Option<Model> {
    let session = Session::with_libraries(vec![repository().join("library")]);
    session.add_file(path);
    let name = session.find_model(None).value?;
    session.compile(&name).value
}

/// Everything that a run leaves behind: result, description with the counts of the run, event log, how it ended, warnings.
type Traces = (Vec<Vec<u8>>, Option<Diagnostic>, Vec<String>);

fn traces(run: Run<'_>) -> Traces {
    let mut storage = MemoryStorage::default();
    let (result, events) = (Path::new("r.csv"), Path::new("events.json"));
    let summary = {
        let writer = Formats::standard().create(result, &mut storage, &WriteOptions::default());
        let log = EventLogWriter::new(storage.create(events).unwrap(), events);
        let mut sink = Tee::new().with(writer.unwrap()).with(log);
        run.simulate_into(&mut sink)
    };
    let files = [result, &Sidecar::path_for(result), events].map(|path| storage.bytes(path).unwrap_or_default());
    (files.into(), summary.failure, summary.report.warnings.clone())
}

/// The end of the span in which runs are compared: long runs tell no more than their first part.
fn shorter(model: &Model) -> Run<'_> {
    let run = model.run();
    let (start, stop) = run.span();
    run.stop(start + 0.4 * (stop - start))
}

/// The first way in which later runs of a model differ from its first.
fn difference(path: &Path) -> Option<&'static str> {
    let model = compile(path)?;
    let first = traces(shorter(&model));
    if traces(shorter(&model)) != first {
        return Some("the second run differs from the first");
    }
    // Another history: other steps, other times of events, maybe other modes.
    let other = compile(path)?;
    let (start, stop) = other.run().span();
    traces(other.run().tolerance(1e-3).stop(start + 0.1 * (stop - start)));
    traces(other.run().tolerance(3e-3).stop(start + 0.3 * (stop - start)));
    (traces(shorter(&other)) != first).then_some("a run after others differs from the first")
}

#[test]
fn later_runs_are_bit_identical() {
    let files: Vec<PathBuf> = ["examples", "tests/models"]
        .into_iter()
        .flat_map(modelica_files)
        .collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(difference) = difference(file) {
                        wrong.lock().unwrap().push(format!("{}: {difference}", file.display()));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(files.len() > 100);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Parameters decide what follows at mode changes; runs with others in between, in any order, leave no trace.
#[test]
fn parameters_of_other_runs_leave_no_trace() {
    let path = repository().join("examples/mechanics/TwoBlocks.mo");
    let values = ["1", "0.25", "4", "1e-3"];
    let run = |model: &Model, value: &str| traces(shorter(model).set("m1", value).unwrap());
    let cold: Vec<Traces> = values
        .iter()
        .map(|value| run(&compile(&path).unwrap(), value))
        .collect();
    let warm = compile(&path).unwrap();
    for at in [0, 1, 0, 2, 3, 1, 2, 0, 3] {
        assert!(run(&warm, values[at]) == cold[at], "m1 = {}", values[at]);
    }
}

/// Many threads run one model at once, and all of them learn.
#[test]
fn threads_agree() {
    for name in [
        "examples/electrical/DiodeBridge.mo",
        "examples/mechanics/FrictionBlock.mo",
    ] {
        let model = compile(&repository().join(name)).unwrap();
        let first = traces(shorter(&compile(&repository().join(name)).unwrap()));
        std::thread::scope(|scope| {
            let runs: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| traces(shorter(&model)) == first))
                .collect();
            assert!(runs.into_iter().all(|run| run.join().unwrap()), "{name}");
        });
    }
}
