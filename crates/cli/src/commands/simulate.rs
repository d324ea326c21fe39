//! `saltus simulate`: a run with its results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use saltus::library::split_name;
use saltus::report::{PageOptions, page};
use saltus::results::figure::{FigureOptions, figure};
use saltus::results::{
    EventLogWriter, IoAction, ModeRecord, Pattern, ResultError, Selection, Sidecar, Storage, Tee, Trajectory,
    WriteOptions,
};
use saltus::simulate::{BlockCost, End, FailureKind, RestartMethod};
use saltus::source::{Diagnostic, Diagnostics, Severity, codes};
use saltus::{Model, Run, RunSummary, Timings, result_diagnostic};
use serde_json::{Value, json};

use super::plot::{write_page, write_picture};
use super::run_arguments::{PolicyArguments, TimeArguments, parse_setting};
use crate::arguments::ModelArguments;
use crate::console::{Console, plural};
use crate::files::{Named, clash};
use crate::foreign::ForeignArguments;
use crate::interruption::interruption;
use crate::loaded::Loaded;
use crate::parameter_file::settings;
use crate::progress::Progress;
use crate::status::Status;
use crate::streams::{Files, create_result, is_standard, read_result, reader_has_left};
use crate::trace::{Trace, Watchers};

/// Runs a model. Settings that are not given come from its annotation(experiment(…)).
#[derive(Debug, Args)]
#[command(after_long_help = "\
Results go to the file of -o in the format of its extension, while the run goes on: a run that is interrupted or fails
leaves a file that can be read. If one of them is `-`, its file is standard output. If none of -o, --plot, --report and --events is given, they go to MODEL.csv.

Solvers:
  auto       explicit while it can, implicit when the model turns out to be stiff
  bdf        large stiff models with few events
  esdirk43   stiff models with many events, loose tolerances
  radau      stiff models, tight tolerances
  tsit45     models that are not stiff, loose tolerances
  dop853     models that are not stiff, tight tolerances

Examples:
  saltus simulate Clutch.mo -o out.csv --plot out.svg
  saltus simulate Clutch.mo --report out.html
  saltus simulate Clutch.mo --stop 10 --tolerance 1e-9 --set J1=2 --set clutch.mu=0.3
  saltus simulate Clutch.mo -o out.mat --variable 'motor.*' --variable clutch.tau
  saltus simulate Clutch.mo --events events.json --trace-events
  saltus simulate - -o - < Clutch.mo | saltus plot - -o - > out.svg")]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    pub model: ModelArguments,

    #[command(flatten)]
    pub times: TimeArguments,

    /// Value of a parameter, of an element (k[2]=3) or of a whole array (k={1,2,3}), or of a start value (NAME.start=VALUE); may be
    /// repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,

    /// Values of parameters from a file: JSON or TOML with the names of parameters, or CSV with lines NAME,VALUE. What --set
    /// gives counts more
    #[arg(long, value_name = "FILE")]
    pub parameters: Option<PathBuf>,

    /// Inputs of the model as columns of a result file
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,

    /// Result file: .csv or .mat; `-` for CSV on standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Variables to write and to draw; `*` and `?` stand for any text and any character. May be repeated
    #[arg(long = "variable", value_name = "PATTERN")]
    pub variables: Vec<String>,

    /// Also write protected variables and those with HideResult
    #[arg(long)]
    pub protected: bool,

    /// Draw the results (.svg or .png; `-` for SVG on standard output)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,

    /// An interactive page of the run: curves, modes, events, source, in one file for any browser
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Event log: one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,

    /// Tell every event on standard error: what triggered it, which modes were tried, impulses
    #[arg(long)]
    pub trace_events: bool,

    /// How the values after a mode change are found
    #[arg(long, value_enum, default_value_t, value_name = "METHOD")]
    pub restart: Restart,

    /// Find them both ways and say where they differ
    #[arg(long)]
    pub verify_restarts: bool,

    #[command(flatten)]
    pub foreign: ForeignArguments,

    #[command(flatten)]
    pub policies: PolicyArguments,

    /// Write a row for every instant of an event that takes several, not only its left and right limits
    #[arg(long)]
    pub all_instants: bool,

    /// Say where the time went: phases, counts, and the most expensive equations
    #[arg(long)]
    pub profile: bool,
}

/// How the values after a mode change are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Restart {
    /// From the structure of the equations
    #[default]
    Structural,
    /// By a scaled Euler step across the change, as a cross-check
    Euler,
}

/// Simulates.
pub(crate) fn run(arguments: &SimulateArguments, console: &Console) -> Status {
    if let Err(message) = arguments.times.validate() {
        console.message(&format!("error: {message}"));
        return Status::Usage;
    }
    let settings = match settings(arguments.parameters.as_deref(), &arguments.settings) {
        Ok(settings) => settings,
        Err(message) => {
            console.message(&format!("error: {message}"));
            return Status::Usage;
        }
    };
    let loaded = match Loaded::new(&arguments.model, &settings, console) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    if let Err(status) = arguments.foreign.link(&loaded.model, console) {
        return status;
    }
    let open = loaded.model.open_values(|name| {
        let is_set = |set: &str| set == name || name.strip_prefix(set).is_some_and(|rest| rest.starts_with('['));
        settings
            .iter()
            .any(|(set, _)| is_set(set.strip_suffix(".start").unwrap_or(set)))
    });
    // Which inputs a file has is known when it is read.
    if arguments.input.is_none() && !open.is_empty() {
        console.diagnostics(&open, loaded.model.sources());
    }
    Job {
        arguments,
        console,
        model: &loaded.model,
        timings: loaded.timings.clone(),
        loaded: &loaded,
    }
    .execute(&loaded.settings)
}

impl SimulateArguments {
    /// Two outputs that are one file, or an output that is one of the files read.
    fn clash(&self, model: &str) -> Option<String> {
        let result = self.result_file(model);
        let on_disk = result.as_deref().filter(|path| !is_standard(path));
        let beside = on_disk.map(Sidecar::path_for);
        let named = |use_, path: &Option<PathBuf>| path.clone().map(|path| (use_, path));
        let written: Vec<(&str, PathBuf)> = [
            named("the results", &result),
            named("the description of the results", &beside),
            named("--events", &self.events),
            named("--plot", &self.plot),
            named("--report", &self.report),
        ]
        .into_iter()
        .flatten()
        .collect();
        let written: Vec<Named<'_>> = written.iter().map(|(use_, path)| (*use_, path.as_path())).collect();
        let mut read = self.model.named_files();
        read.extend(self.input.as_deref().map(|input| ("--input", input)));
        clash(&written, &read)
    }

    /// Whether the rows are needed once more when the run has ended.
    fn keeps_rows(&self) -> bool {
        self.plot.is_some() || self.report.is_some()
    }

    fn selection(&self) -> Selection {
        Selection {
            patterns: self.variables.iter().map(Pattern::new).collect(),
            protected: self.protected,
            hidden: self.protected,
        }
    }

    /// The result file; one is made up if nothing at all was asked for.
    fn result_file(&self, model: &str) -> Option<PathBuf> {
        let asked = [&self.output, &self.plot, &self.report, &self.events];
        let nothing = asked.iter().all(|file| file.is_none());
        let short = split_name(model).pop().unwrap_or(model).trim_matches('\'');
        // A quoted name may hold anything, a file name may not.
        let short = short.replace(|c: char| !c.is_alphanumeric() && !"_-+. ".contains(c), "_");
        self.output
            .clone()
            .or_else(|| nothing.then(|| PathBuf::from(format!("{short}.csv"))))
    }
}

/// One run with everything around it.
struct Job<'a> {
    arguments: &'a SimulateArguments,
    console: &'a Console,
    loaded: &'a Loaded,
    model: &'a Model,
    timings: Timings,
}

impl Job<'_> {
    fn execute(mut self, settings: &[(String, String)]) -> Status {
        if let Some(clash) = self.arguments.clash(self.model.name()) {
            self.console
                .message(&format!("error: {clash}\nhelp: give each its own file"));
            return Status::Usage;
        }
        if self.console.is_json() && self.files().iter().any(|file| is_standard(file)) {
            self.console
                .message("error: standard output is named for a file, and `--json` writes to it\nhelp: name a file");
            return Status::Usage;
        }
        let run = match self.prepare(settings) {
            Ok(run) => run,
            Err(diagnostic) => return self.refuse(*diagnostic, Status::Usage),
        };
        let (start, stop) = run.span();
        if stop < start {
            let message = format!("the stop time {stop} lies before the start time {start}");
            self.console.message(&format!("error: {message}"));
            return Status::Usage;
        }
        let mut trajectory = self.arguments.keeps_rows().then(Trajectory::new);
        let summary = {
            let mut sink = match self.sinks(trajectory.as_mut()) {
                Ok(sink) => sink,
                Err(error) => {
                    let status = if error.is_wrong_request() {
                        Status::Usage
                    } else {
                        Status::SimulationFailed
                    };
                    return self.refuse(result_diagnostic(&error), status);
                }
            };
            let trace = self
                .arguments
                .trace_events
                .then(|| Trace::new(self.model, self.console));
            if let Some(trace) = &trace {
                sink.push(trace.notes());
            }
            let watchers = Watchers {
                progress: self.console.is_interactive().then(|| Progress::new((start, stop))),
                trace,
            };
            run.observe(watchers).simulate_into(&mut sink)
        };
        self.timings.extend(&summary.timings);
        let drawn = trajectory.map_or(Ok(()), |trajectory| self.draw(&trajectory, &summary));
        self.report(&summary, drawn)
    }

    fn prepare(&self, settings: &[(String, String)]) -> Result<Run<'_>, Box<Diagnostic>> {
        let arguments = self.arguments;
        let mut run = self.model.run();
        for (name, value) in settings {
            run = run.set(name, value)?;
        }
        run = arguments.policies.apply(arguments.times.apply(run));
        if let Some(path) = &arguments.input {
            let signals = read_result(path);
            let signals = signals.map_err(|error| Box::new(result_diagnostic(&error)))?;
            let (with, found) = run.inputs(&signals);
            let wrong = |code, message| Err(Box::new(Diagnostic::without_place(code, Severity::Error, message)));
            if found.is_empty() {
                let message = format!("no column of `{}` is an input of the model", path.display());
                return wrong(codes::E0704, message);
            }
            if signals.time().is_empty() {
                let message = format!(
                    "`{}` has no rows: the inputs of the model get no values",
                    path.display()
                );
                return wrong(codes::E0703, message);
            }
            run = with;
        }
        Ok(run.cancel(interruption()).options(|options| {
            options.restart = match arguments.restart {
                Restart::Structural => RestartMethod::Structural,
                Restart::Euler => RestartMethod::Euler,
            };
            options.verify_restarts = arguments.verify_restarts;
            options.trace = arguments.trace_events;
            options.all_instants = arguments.all_instants;
            options.profile = arguments.profile;
        }))
    }

    fn sinks<'t>(&self, trajectory: Option<&'t mut Trajectory>) -> Result<Tee<'t>, ResultError> {
        let mut sink = Tee::new();
        if let Some(path) = self.arguments.result_file(self.model.name()) {
            let options = WriteOptions {
                selection: self.arguments.selection(),
                all_instants: self.arguments.all_instants,
                ..WriteOptions::default()
            };
            sink = sink.with(create_result(&path, &options)?);
        }
        if let Some(path) = &self.arguments.events {
            let file = Files.create(path).map_err(|source| ResultError::Io {
                path: path.clone(),
                action: IoAction::Create,
                source,
            })?;
            sink = sink.with(EventLogWriter::new(file, path));
        }
        if let Some(trajectory) = trajectory {
            sink = sink.with(trajectory);
        }
        Ok(sink)
    }

    fn draw(&self, trajectory: &Trajectory, summary: &RunSummary) -> Result<(), ResultError> {
        if trajectory.rows() == 0 {
            return Ok(());
        }
        let signals = self.arguments.variables.clone();
        if let Some(path) = &self.arguments.plot {
            let options = FigureOptions {
                signals: signals.clone(),
                ..FigureOptions::default()
            };
            write_picture(path, &figure(trajectory, &options)?.to_svg())?;
        }
        if let Some(path) = &self.arguments.report {
            let options = PageOptions {
                signals,
                ..PageOptions::default()
            };
            let context = self.model.report_context(trajectory, summary);
            write_page(path, &page(trajectory, &context, &options)?)?;
        }
        Ok(())
    }

    fn refuse(&self, diagnostic: Diagnostic, status: Status) -> Status {
        let diagnostics: Diagnostics = [diagnostic].into_iter().collect();
        self.console.diagnostics(&diagnostics, self.model.sources());
        if self.console.is_json() {
            self.console.report(json!({}), &diagnostics, self.model.sources());
        }
        status
    }

    fn report(&mut self, summary: &RunSummary, drawn: Result<(), ResultError>) -> Status {
        // `| head` has what it wanted.
        let left = [summary.output_error.as_ref(), drawn.as_ref().err()];
        if left.into_iter().flatten().any(reader_has_left) {
            return Status::Success;
        }
        let mut diagnostics: Diagnostics = summary.failure.iter().cloned().collect();
        let refusal = self.refusal(summary);
        if let Some(refusal) = &refusal {
            diagnostics = refusal.clone();
        }
        if matches!(summary.end(), Some(End::Cancelled)) {
            let message = format!("interrupted at t = {}", summary.report.time);
            diagnostics.push(Diagnostic::without_place(codes::E0616, Severity::Error, message));
        }
        if let Err(error) = &drawn {
            diagnostics.push(result_diagnostic(error));
        }
        let moved = summary.report.moved_starts.as_ref().map(|moved| &moved.text);
        for warning in summary.report.warnings.iter().filter(|warning| Some(*warning) != moved) {
            self.console.warning(warning);
        }
        diagnostics.extend(summary.moved_starts.clone());
        self.console.diagnostics(&diagnostics, self.model.sources());
        let failed = diagnostics.has_errors();
        let wrong = |error: Option<&ResultError>| error.is_some_and(ResultError::is_wrong_request);
        let refused = wrong(summary.output_error.as_ref()) || wrong(drawn.as_ref().err());
        diagnostics.extend(self.loaded.warnings.iter().cloned());
        match self.console.is_json() {
            true => self
                .console
                .report(self.to_json(summary), &diagnostics, self.model.sources()),
            // Nothing was run that could be told of.
            false if refused && failed => {}
            false if self.files().iter().any(|file| is_standard(file)) => {
                self.console.remark(self.to_text(summary).trim_end())
            }
            false => self.console.summary(&self.to_text(summary)),
        }
        match (failed, refused) {
            (false, _) => Status::Success,
            _ if refusal.is_some() => Status::ModelWrong,
            // A variable or a format that is not there: the command line is wrong, not the run.
            (true, true) => Status::Usage,
            (true, false) => Status::SimulationFailed,
        }
    }

    /// What is wrong with a model that cannot start because its equations do not determine its unknowns.
    fn refusal(&self, summary: &RunSummary) -> Option<Diagnostics> {
        let structural = summary.cause().is_some_and(|failure| {
            matches!(
                failure.kind,
                FailureKind::NoConsistentMode { .. } | FailureKind::SingularMode { .. }
            )
        });
        if !structural || summary.report.counters.steps > 0 {
            return None;
        }
        let diagnostics = self.loaded.check();
        diagnostics.has_errors().then_some(diagnostics)
    }

    fn files(&self) -> Vec<PathBuf> {
        let result = self.arguments.result_file(self.model.name());
        let others = [&self.arguments.plot, &self.arguments.report, &self.arguments.events];
        result
            .into_iter()
            .chain(others.into_iter().flatten().cloned())
            .collect()
    }

    fn to_text(&self, summary: &RunSummary) -> String {
        let counters = &summary.report.counters;
        let end = match summary.end() {
            Some(End::Completed) => "completed",
            Some(End::Terminated(_)) => "ended by the model",
            Some(End::Cancelled) => "interrupted",
            None => "failed",
        };
        let mut text = format!("{}: {end} at t = {}\n", self.model.name(), summary.report.time);
        if let Some(End::Terminated(message)) = summary.end() {
            text.push_str(&format!("  {message}\n"));
        }
        text.push_str(&format!(
            "  {} steps ({} rejected), {} evaluations, {} Jacobians\n",
            counters.steps, counters.rejected_steps, counters.evaluations, counters.jacobians
        ));
        text.push_str(&format!(
            "  {}, {}, {}\n",
            plural(counters.events as usize, "event"),
            plural(counters.mode_changes as usize, "mode change"),
            plural(summary.report.modes.len(), "mode"),
        ));
        text.push_str(&modes_in_words(&summary.report.modes));
        let times: Vec<String> = self
            .timings
            .phases()
            .iter()
            .map(|(phase, time)| format!("{} {:.1}", phase.as_str(), 1e3 * time.as_secs_f64()))
            .collect();
        let total = 1e3 * self.timings.total().as_secs_f64();
        text.push_str(&format!("  {total:.1} ms: {}\n", times.join(", ")));
        if self.arguments.profile {
            text.push_str(&self.profile(summary));
        }
        for file in self.files().iter().filter(|file| !is_standard(file)) {
            text.push_str(&format!("  wrote {}\n", file.display()));
        }
        text
    }

    /// Counts and shares, for finding out what a slow run does.
    fn profile(&self, summary: &RunSummary) -> String {
        let counters = &summary.report.counters;
        let total = self.timings.total().as_secs_f64().max(1e-9);
        let mut text = String::new();
        for (phase, time) in self.timings.phases() {
            let seconds = time.as_secs_f64();
            text.push_str(&format!(
                "    {:<12}{:>12.3} ms {:>5.1} %\n",
                phase.as_str(),
                1e3 * seconds,
                100.0 * seconds / total
            ));
        }
        for (name, count) in [
            ("steps", counters.steps),
            ("rejected steps", counters.rejected_steps),
            ("evaluations", counters.evaluations),
            ("Jacobians", counters.jacobians),
            ("factorisations", counters.factorisations),
            ("Newton iterations", counters.newton_iterations),
            ("Newton failures", counters.newton_failures),
            ("state choices", counters.state_choices),
            ("looks for events", counters.samples),
            ("events", counters.events),
            ("instants", counters.instants),
            ("candidate modes", counters.candidates),
            ("modes analysed", counters.modes),
            ("restarts", counters.restarts),
            ("restart analyses", counters.restart_analyses),
        ] {
            text.push_str(&format!("    {name:<20}{count:>12}\n"));
        }
        text.push_str(&blocks(&summary.report.profile));
        text
    }

    fn to_json(&self, summary: &RunSummary) -> Value {
        let counters = &summary.report.counters;
        let (status, message) = match summary.end() {
            Some(End::Completed) => ("completed", None),
            Some(End::Terminated(message)) => ("terminated", Some(message.to_string())),
            Some(End::Cancelled) => ("interrupted", None),
            None => ("failed", None),
        };
        let modes = summary.report.modes.iter().map(|mode| {
            let valuation: serde_json::Map<String, Value> = mode
                .valuation
                .iter()
                .map(|(name, truth)| (name.clone(), json!(truth)))
                .collect();
            let mut record = json!({"mode": mode.mode, "label": mode.label, "valuation": valuation});
            if let Some(since) = mode.since {
                record["since"] = json!(since);
            }
            record
        });
        let milliseconds = self.timings.phases().iter();
        let milliseconds =
            milliseconds.map(|(phase, time)| (phase.as_str().to_owned(), json!(1e3 * time.as_secs_f64())));
        json!({
            "model": self.model.name(),
            "status": status,
            "message": message,
            "time": summary.report.time,
            "counts": {
                "steps": counters.steps,
                "rejected_steps": counters.rejected_steps,
                "evaluations": counters.evaluations,
                "jacobians": counters.jacobians,
                "factorisations": counters.factorisations,
                "newton_iterations": counters.newton_iterations,
                "newton_failures": counters.newton_failures,
                "looks_for_events": counters.samples,
                "events": counters.events,
                "instants": counters.instants,
                "mode_changes": counters.mode_changes,
                "candidates": counters.candidates,
                "restarts": counters.restarts,
            },
            "modes": modes.collect::<Vec<_>>(),
            "warnings": summary.report.warnings,
            "blocks": summary.report.profile.iter().map(block_json).collect::<Vec<_>>(),
            "milliseconds": milliseconds.collect::<serde_json::Map<_, _>>(),
            "files": self.files().iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        })
    }
}

/// The most expensive parts of the equations.
fn blocks(costs: &[BlockCost]) -> String {
    const MOST: usize = 12;
    let total: f64 = costs.iter().map(|cost| cost.time.as_secs_f64()).sum();
    let mut text = String::new();
    if !costs.is_empty() {
        text.push_str(
            "    equations           mode   size      calls  iterations          ms      %  µs each  unknowns\n",
        );
    }
    for cost in costs.iter().take(MOST) {
        let seconds = cost.time.as_secs_f64();
        let turns = if cost.coupled { cost.iterations } else { cost.calls };
        let more = if cost.size > cost.unknowns.len() { ", …" } else { "" };
        text.push_str(&format!(
            "    {:<18}{:>6}{:>7}{:>11}{:>12}{:>12.3}{:>7.1}{:>9.2}  {}{more}\n",
            if cost.coupled { "solved together" } else { "explicit" },
            cost.mode.0,
            cost.size,
            cost.calls,
            cost.iterations,
            1e3 * seconds,
            100.0 * seconds / total.max(1e-12),
            1e6 * seconds / turns.max(1) as f64,
            cost.unknowns.join(", ")
        ));
    }
    if costs.len() > MOST {
        text.push_str(&format!("    and {} more\n", plural(costs.len() - MOST, "part")));
    }
    text
}

fn block_json(cost: &BlockCost) -> Value {
    json!({
        "mode": cost.mode.0,
        "unknowns": cost.unknowns,
        "size": cost.size,
        "coupled": cost.coupled,
        "calls": cost.calls,
        "iterations": cost.iterations,
        "milliseconds": 1e3 * cost.time.as_secs_f64(),
    })
}

/// What the mode numbers stand for: what is true in each, if that can be said in a line.
fn modes_in_words(modes: &[ModeRecord]) -> String {
    const MOST_MODES: usize = 12;
    const MOST_CHARACTERS: usize = 100;
    let mut text = String::new();
    for mode in modes.iter().filter(|mode| !mode.valuation.is_empty()).take(MOST_MODES) {
        let short = mode.valuation.len() <= 3;
        let atoms = mode.valuation.iter().filter(|(_, truth)| short || *truth);
        let atoms: Vec<String> = atoms
            .map(|(name, truth)| if *truth { name.clone() } else { format!("not {name}") })
            .collect();
        let mut line = if mode.since.is_some() {
            mode.label.clone()
        } else if atoms.is_empty() {
            "none of its conditions holds".to_owned()
        } else {
            atoms.join(", ")
        };
        if line.chars().count() > MOST_CHARACTERS {
            line = line.chars().take(MOST_CHARACTERS).chain("…".chars()).collect();
        }
        text.push_str(&format!("  mode {}: {line}\n", mode.mode));
    }
    if modes.len() > MOST_MODES {
        text.push_str(&format!("  and {} more\n", plural(modes.len() - MOST_MODES, "mode")));
    }
    text
}
