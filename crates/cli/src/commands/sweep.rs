//! `saltus sweep`: many runs of one model.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use saltus::Model;
use saltus::ensemble::{Design, EnsembleRow, Factor, Kept, Output, RunTable};
use saltus::library::split_name;
use saltus::source::{Diagnostic, Diagnostics, Severity, codes};
use serde_json::{Value, json};

use super::run_arguments::{PolicyArguments, TimeArguments, parse_setting};
use crate::arguments::ModelArguments;
use crate::console::{Console, plural};
use crate::files::{Named, clash};
use crate::foreign::ForeignArguments;
use crate::interruption::interruption;
use crate::loaded::Loaded;
use crate::status::Status;

/// Redrawing more often costs time and is not seen.
const PAUSE: Duration = Duration::from_millis(200);

/// Runs a model many times with other values of its parameters, on all processors, and keeps a few numbers of each run in
/// a table. A run that fails is a row with the code of its error.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Values:
  --vary k=1:5:0.5     1, 1.5, … up to 5
  --vary k=1,2,4       these, written as in a model: also true, kind.high
  --vary k=1:5         all between, for latin and sobol
  --vary x.start=0,1   a start value, as with --set

Designs:
  grid     every value with every other; the last parameter changes fastest
  list     sets of values from the CSV file of --list, names in its first line
  latin    Latin hypercube of --samples runs: each takes one stratum of every range
  sobol    the first --samples points of a Sobol sequence; best in powers of two

Outputs:
  x, final(x)                        the value at the end
  initial(x), min(x), max(x)         over output points and both sides of events
  mean(x)                            over time
  time_of_min(x), time_of_max(x)     when that is
  first(b)                           the first time at which b is true, empty if never
  events(), modes(), end()           numbers of events and of modes, time of the end

The rows of the table are in the order of the design and do not depend on -j. Each is on disk when it is there: a sweep
that was interrupted or killed goes on with --resume, and the table is then the same as without the interruption.

Examples:
  saltus sweep Clutch.mo --vary mu=0.1:0.5:0.1 --vary J2=1,2 --outputs 'max(tau),final(w1)' -o out.csv
  saltus sweep Clutch.mo --design sobol --samples 256 --vary mu=0.1:0.5 --vary J2=1:2 --outputs 'max(tau)'
  saltus sweep Clutch.saltus --list sets.csv --outputs w1,w2 -o out.csv --resume")]
pub(crate) struct SweepArguments {
    #[command(flatten)]
    pub model: ModelArguments,

    /// A parameter with the values it takes; may be repeated
    #[arg(long, value_name = "NAME=VALUES")]
    pub vary: Vec<String>,

    /// How values are put together; a grid, or the list of --list
    #[arg(long, value_enum, value_name = "DESIGN")]
    pub design: Option<DesignKind>,

    /// CSV file of sets of values, for the design `list`
    #[arg(long, value_name = "FILE", conflicts_with = "vary")]
    pub list: Option<PathBuf>,

    /// Number of runs of the designs `latin` and `sobol`
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,

    /// Another seed gives another Latin hypercube, or a shifted Sobol sequence
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// What is kept of each run, separated by commas
    #[arg(long, value_name = "OUTPUTS", required = true)]
    pub outputs: Vec<String>,

    /// Table of the runs; MODEL_sweep.csv if not given
    #[arg(short, long, value_name = "FILE.csv")]
    pub output: Option<PathBuf>,

    /// Go on with a sweep that was interrupted: rows that are there are kept
    #[arg(long)]
    pub resume: bool,

    /// Runs at the same time; as many as there are processors if not given
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,

    /// Value of a parameter in all runs; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub foreign: ForeignArguments,

    #[command(flatten)]
    pub policies: PolicyArguments,
}

/// How values are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DesignKind {
    /// Every value with every other
    Grid,
    /// Sets from a file
    List,
    /// Latin hypercube
    Latin,
    /// Sobol sequence
    Sobol,
}

/// Why a sweep cannot be made, or was not finished.
struct Refusal(Box<Diagnostic>, Status);

impl From<Box<Diagnostic>> for Refusal {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Refusal(diagnostic, Status::Usage)
    }
}

fn wrong(message: impl Into<String>, help: impl Into<String>) -> Refusal {
    let diagnostic = Diagnostic::without_place(codes::E0709, Severity::Error, message);
    Refusal(Box::new(diagnostic.with_help(help)), Status::Usage)
}

fn file_error(path: &Path, what: &str, error: &io::Error) -> Refusal {
    let message = format!("`{}` cannot be {what}: {error}", path.display());
    let diagnostic = Diagnostic::without_place(codes::E0701, Severity::Error, message);
    Refusal(Box::new(diagnostic), Status::SimulationFailed)
}

/// Sweeps.
pub(crate) fn run(arguments: &SweepArguments, console: &Console) -> Status {
    if let Err(message) = arguments.times.validate() {
        console.message(&format!("error: {message}"));
        return Status::Usage;
    }
    // Values that shape the equations are found run by run.
    let loaded = match Loaded::new(&arguments.model, &[], console) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    if let Err(status) = arguments.foreign.link(&loaded.model, console) {
        return status;
    }
    match sweep(arguments, &loaded, console) {
        Ok(status) => status,
        Err(Refusal(diagnostic, status)) => {
            let diagnostics: Diagnostics = [*diagnostic].into_iter().collect();
            console.diagnostics(&diagnostics, loaded.model.sources());
            if console.is_json() {
                console.report(json!({}), &diagnostics, loaded.model.sources());
            }
            status
        }
    }
}

fn sweep(arguments: &SweepArguments, loaded: &Loaded, console: &Console) -> Result<Status, Refusal> {
    let model = &loaded.model;
    let design = arguments.design()?;
    let outputs = Output::parse_list(&arguments.outputs.join(","))?;
    let path = arguments.table_file(model);
    let description = description_file(&path);
    let mut read = arguments.model.named_files();
    read.extend(arguments.list.as_deref().map(|list| ("--list", list)));
    let written: [Named<'_>; 2] = [("the table", &path), ("its description", &description)];
    if let Some(clash) = clash(&written, &read) {
        return Err(wrong(clash, "give each its own file"));
    }
    let table = RunTable::new(&design, &outputs);
    let cancel = interruption();
    let mut ensemble = model.ensemble(&design, &outputs).cancel(cancel.clone());
    if let Some(session) = &loaded.session {
        ensemble = ensemble.compile_in(session);
    }
    if let Some(jobs) = arguments.jobs {
        ensemble = ensemble.threads(jobs);
    }
    for (name, value) in &arguments.settings {
        ensemble = ensemble.set(name, value);
    }
    ensemble = ensemble.configure(|run| arguments.policies.apply(arguments.times.apply(run)));
    // What is wrong with the request must not cost the table that is there.
    ensemble.check()?;
    let (file, kept) = arguments.open(&path, &description, &table, model)?;
    let mut job = Job {
        table,
        file,
        tally: Tally::new(&kept, design.len()),
        began: Instant::now(),
        drawn: None,
        interactive: console.is_interactive(),
        error: None,
    };
    ensemble.first(kept.rows).simulate_into(|row| job.row(&row))?;
    job.wipe();
    if let Some(error) = &job.error {
        return Err(file_error(&path, "written", error));
    }
    Ok(job.report(model, &path, console))
}

impl SweepArguments {
    fn design(&self) -> Result<Design, Refusal> {
        let kind = self.design.unwrap_or(match self.list {
            Some(_) => DesignKind::List,
            None => DesignKind::Grid,
        });
        let factors = || {
            self.vary
                .iter()
                .map(|text| Factor::parse(text))
                .collect::<Result<Vec<_>, _>>()
        };
        let sampled = matches!(kind, DesignKind::Latin | DesignKind::Sobol);
        if !sampled && (self.samples.is_some() || self.seed.is_some()) {
            return Err(wrong(
                "--samples and --seed belong to the designs `latin` and `sobol`",
                "add `--design latin` or `--design sobol`",
            ));
        }
        let samples = match self.samples {
            Some(samples) => samples,
            None if sampled => return Err(wrong("the number of runs is missing", "add `--samples N`")),
            None => 0,
        };
        Ok(match (kind, &self.list) {
            (DesignKind::List, Some(path)) => {
                let text = std::fs::read_to_string(path).map_err(|error| file_error(path, "read", &error))?;
                Design::list_from_csv(&text)?
            }
            (DesignKind::List, None) => return Err(wrong("the list of sets is missing", "add `--list FILE.csv`")),
            (_, Some(_)) => return Err(wrong("--list belongs to the design `list`", "leave --design out")),
            (DesignKind::Grid, None) => Design::grid(factors()?)?,
            (DesignKind::Latin, None) => Design::latin_hypercube(factors()?, samples, self.seed.unwrap_or(0))?,
            (DesignKind::Sobol, None) => Design::sobol(factors()?, samples, self.seed)?,
        })
    }

    fn table_file(&self, model: &Model) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            let short = split_name(model.name())
                .pop()
                .unwrap_or(model.name())
                .trim_matches('\'');
            let short = short.replace(|c: char| !c.is_alphanumeric() && !"_-+. ".contains(c), "_");
            PathBuf::from(format!("{short}_sweep.csv"))
        })
    }

    /// The table, with its first line or with the rows that are kept.
    fn open(
        &self,
        path: &Path,
        description: &Path,
        table: &RunTable<'_>,
        model: &Model,
    ) -> Result<(File, Kept), Refusal> {
        let about = self.about(model);
        let kept = match std::fs::read(path) {
            Ok(begun) if self.resume => self.kept(&begun, description, table, &about)?,
            _ => None,
        };
        let failed = |error: io::Error| file_error(path, "written", &error);
        if let Some(kept) = kept {
            let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            file.set_len(kept.bytes as u64).map_err(failed)?;
            file.seek(SeekFrom::End(0)).map_err(failed)?;
            return Ok((file, kept));
        }
        let text = format!("{about:#}\n");
        std::fs::write(description, text).map_err(|error| file_error(description, "written", &error))?;
        let mut file = File::create(path).map_err(failed)?;
        let header = table.header();
        file.write_all(header.as_bytes()).map_err(failed)?;
        let bytes = header.len();
        Ok((
            file,
            Kept {
                rows: 0,
                bytes,
                failed: 0,
            },
        ))
    }

    /// The rows that are there, if this sweep has made them.
    fn kept(
        &self,
        begun: &[u8],
        description: &Path,
        table: &RunTable<'_>,
        about: &Value,
    ) -> Result<Option<Kept>, Refusal> {
        let kept = table.kept(begun)?;
        if kept.bytes == 0 {
            return Ok(None);
        }
        let before = std::fs::read_to_string(description).ok();
        let before: Option<Value> = before.and_then(|text| serde_json::from_str(&text).ok());
        let Some(before) = before else {
            let message = format!(
                "`{}` says how the table was made, and cannot be read",
                description.display()
            );
            return Err(wrong(message, "leave `--resume` out to begin anew"));
        };
        let changed = about.as_object().into_iter().flatten();
        let changed = { changed }.find(|(name, value)| before.get(name.as_str()) != Some(*value));
        match changed {
            None => Ok(Some(kept)),
            Some((name, value)) => Err(wrong(
                format!("the table was begun with another {name} than {value}"),
                "give the same command with `--resume`, or leave `--resume` out to begin anew",
            )),
        }
    }

    /// What the rows depend on.
    fn about(&self, model: &Model) -> Value {
        let inputs: BTreeMap<&str, &str> = model
            .inputs()
            .iter()
            .map(|i| (i.path.as_str(), i.hash.as_str()))
            .collect();
        let settings: BTreeMap<&str, &str> = self.settings.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        json!({
            "program": concat!("saltus ", env!("CARGO_PKG_VERSION")),
            "model": model.name(),
            "inputs": inputs,
            "vary": self.vary,
            "design": self.design.map(|design| format!("{design:?}").to_lowercase()),
            "samples": self.samples,
            "seed": self.seed,
            "outputs": self.outputs,
            "settings": settings,
            "start": self.times.start,
            "stop": self.times.stop,
            "interval": self.times.interval,
            "tolerance": self.times.tolerance,
            "solver": self.times.solver.map(|solver| solver.name()),
            "redundant": format!("{:?}", self.policies.redundant).to_lowercase(),
            "chattering": format!("{:?}", self.policies.chattering).to_lowercase(),
            "zeno": format!("{:?}", self.policies.zeno).to_lowercase(),
        })
    }
}

/// Beside the table: how it was made.
fn description_file(table: &Path) -> PathBuf {
    let mut name = table.as_os_str().to_owned();
    name.push(".json");
    PathBuf::from(name)
}

/// A sweep that goes on.
struct Job<'e> {
    table: RunTable<'e>,
    file: File,
    tally: Tally,
    began: Instant,
    drawn: Option<Instant>,
    interactive: bool,
    error: Option<io::Error>,
}

struct Tally {
    kept: usize,
    done: usize,
    failed: usize,
    count: usize,
    codes: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn new(kept: &Kept, count: usize) -> Self {
        Tally {
            kept: kept.rows,
            done: kept.rows,
            failed: kept.failed,
            count,
            codes: BTreeMap::new(),
        }
    }
}

impl Job<'_> {
    fn row(&mut self, row: &EnsembleRow) -> ControlFlow<()> {
        // One write per row, without a buffer: what is there survives whatever happens to this program.
        if let Err(error) = self.file.write_all(self.table.line(row).as_bytes()) {
            self.error = Some(error);
            return ControlFlow::Break(());
        }
        self.tally.done += 1;
        if let Err(diagnostic) = &row.outcome {
            self.tally.failed += 1;
            *self.tally.codes.entry(diagnostic.code.as_str()).or_default() += 1;
        }
        self.draw();
        ControlFlow::Continue(())
    }

    fn draw(&mut self) {
        let now = Instant::now();
        let last = self.drawn.unwrap_or(self.began);
        if !self.interactive || now.duration_since(last) < PAUSE {
            return;
        }
        let made = self.tally.done - self.tally.kept;
        let left = (self.tally.count - self.tally.done) as f64 / made.max(1) as f64;
        let left = left * now.duration_since(self.began).as_secs_f64();
        let failed = match self.tally.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        let _ = write!(
            io::stderr().lock(),
            "\r\x1b[K{} of {} runs{failed}, {left:.0} s left",
            self.tally.done,
            self.tally.count
        );
        self.drawn = Some(now);
    }

    fn wipe(&self) {
        if self.drawn.is_some() {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }

    fn report(&self, model: &Model, path: &Path, console: &Console) -> Status {
        let tally = &self.tally;
        let unfinished = tally.done < tally.count;
        let mut diagnostics = Diagnostics::new();
        if unfinished {
            let message = format!("interrupted after {} of {} runs", tally.done, tally.count);
            let diagnostic = Diagnostic::without_place(codes::E0616, Severity::Error, message);
            diagnostics.push(diagnostic.with_help("the same command with `--resume` goes on"));
        }
        console.diagnostics(&diagnostics, model.sources());
        if console.is_json() {
            let object = json!({
                "model": model.name(),
                "runs": tally.count,
                "done": tally.done,
                "kept": tally.kept,
                "failed": tally.failed,
                "errors": tally.codes,
                "seconds": self.began.elapsed().as_secs_f64(),
                "file": path.display().to_string(),
            });
            console.report(object, &diagnostics, model.sources());
        } else {
            console.summary(&self.to_text(model, path));
        }
        if tally.failed == tally.done || unfinished {
            Status::SimulationFailed
        } else {
            Status::Success
        }
    }

    fn to_text(&self, model: &Model, path: &Path) -> String {
        let tally = &self.tally;
        let mut text = format!("{}: {}", model.name(), plural(tally.done, "run"));
        if tally.kept > 0 {
            text.push_str(&format!(", {} of them from before", tally.kept));
        }
        if tally.failed > 0 {
            text.push_str(&format!(", {} failed", tally.failed));
        }
        text.push('\n');
        for (code, count) in &tally.codes {
            text.push_str(&format!("  {code}: {}\n", plural(*count, "run")));
        }
        text.push_str(&format!(
            "  {:.1} s\n  wrote {}\n",
            self.began.elapsed().as_secs_f64(),
            path.display()
        ));
        text
    }
}
