//! `saltus fmu`: functional mock-up units.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use saltus::source::{Code, Diagnostic, Diagnostics, Severity, SourceMap, codes};
use saltus::{Model, ParameterValues};
use saltus_fmi::export::{Runtime, Sizes, export_sizes, host_platform, identifier};
use saltus_fmi::family::choices;
use saltus_fmi::interface::SizeParameter;
use saltus_fmi::variables::Settings;
use saltus_fmi::{ExportOptions, Interface, Unit, Version};
use saltus_fmu_host::{Description, ForeignInterface, ImportOptions, import};
use serde_json::json;

use super::run_arguments::{PolicyArguments, parse_setting};
use crate::arguments::ModelArguments;
use crate::console::Console;
use crate::files::clash;
use crate::loaded::Loaded;
use crate::parameter_file::settings;
use crate::status::Status;

/// Functional mock-up units (FMUs): models for other tools.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus fmu export Clutch.mo -o Clutch.fmu
  saltus fmu export Clutch.mo --fmi 2 --type cs
  saltus fmu import Motor.fmu -o Motor.mo
  saltus fmu info Clutch.fmu
  saltus fmu check Clutch.fmu")]
pub(crate) struct FmuArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: FmuCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FmuCommand {
    /// Make a unit of a model: its equations and the runtime; nothing is compiled or linked
    Export(ExportArguments),
    /// Make Modelica text of a unit of any tool: a block with its inputs, outputs and parameters
    Import(ImportArguments),
    /// Say what is in a unit
    Info(UnitArguments),
    /// Run a unit that Saltus made as an importer would, and compare with a run of the model in it
    Check(UnitArguments),
}

impl FmuArguments {
    /// Whether standard output is for machines.
    pub(crate) fn json(&self) -> bool {
        match &self.command {
            FmuCommand::Export(arguments) => arguments.model.json,
            FmuCommand::Import(arguments) => arguments.json,
            FmuCommand::Info(arguments) | FmuCommand::Check(arguments) => arguments.json,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    pub model: ModelArguments,

    /// Version of the standard
    #[arg(long, value_name = "VERSION", value_enum, default_value_t)]
    pub fmi: FmiVersion,

    /// Who integrates: the importer (Model Exchange, `me`), the unit (Co-Simulation, `cs`), or either
    #[arg(long = "type", value_name = "TYPES", value_enum, value_delimiter = ',', default_values_t = [FmiType::Me, FmiType::Cs])]
    pub types: Vec<FmiType>,

    /// Value of a parameter that shapes the equations; may be repeated. Others are set by the importer
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,

    /// Values of parameters from a file: JSON or TOML with the names of parameters, or CSV with lines NAME,VALUE. What --set
    /// gives counts more
    #[arg(long, value_name = "FILE")]
    pub parameters: Option<PathBuf>,

    #[command(flatten)]
    pub policy: PolicyArguments,

    /// The unit; MODEL.fmu if not given
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Let importers choose the value of a parameter that gives sizes of arrays, within a range (`n=1..20`); may be repeated. The unit
    /// holds the model for each value; FMI 3 only. Implies --arrays
    #[arg(long, value_name = "NAME=FIRST..LAST", value_parser = parse_sizes)]
    pub structural: Vec<SizeParameter>,

    /// Show arrays as arrays, not by their elements; FMI 3 only
    #[arg(long)]
    pub arrays: bool,

    /// Leave the Modelica text out; messages name file and line only
    #[arg(long)]
    pub without_sources: bool,

    /// The runtime, as PLATFORM=FILE (`x86_64-linux=libsaltus_fmi_runtime.so`) or as a file for this platform; may be repeated. If
    /// not given: the environment variable SALTUS_FMI_RUNTIME, or the file beside this program
    #[arg(long, value_name = "FILE")]
    pub runtime: Vec<String>,
}

#[derive(Copy, Clone, Debug, Default, ValueEnum)]
pub(crate) enum FmiVersion {
    /// FMI 3.0
    #[default]
    #[value(name = "3")]
    Three,
    /// FMI 2.0
    #[value(name = "2")]
    Two,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FmiType {
    /// Model Exchange
    Me,
    /// Co-Simulation
    Cs,
}

/// Makes Modelica text of a unit.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The block refers to the unit by its path from the text, so that both can be moved together. Nothing of the unit runs here;
runs of models with such blocks need --allow-fmu.")]
pub(crate) struct ImportArguments {
    /// The unit
    #[arg(value_name = "FMU")]
    pub unit: PathBuf,

    /// The text; MODEL.mo if not given
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// The name of the block; that of the file if not given
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Who integrates: Saltus (Model Exchange, `me`) or the unit (Co-Simulation, `cs`); if not given, the first that the unit offers
    #[arg(long = "type", value_name = "TYPE", value_enum)]
    pub interface: Option<FmiType>,

    /// The longest time between communication points, for Co-Simulation; if not given, what the unit suggests
    #[arg(long, value_name = "DT")]
    pub step: Option<f64>,

    /// Machine-readable output on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UnitArguments {
    /// The unit
    #[arg(value_name = "FMU")]
    pub unit: PathBuf,

    /// Machine-readable output on standard output
    #[arg(long)]
    pub json: bool,
}

/// Does what was asked for.
pub(crate) fn run(arguments: &FmuArguments, console: &Console) -> Status {
    let done = match &arguments.command {
        FmuCommand::Export(arguments) => export_unit(arguments, console),
        FmuCommand::Import(arguments) => import_unit(arguments, console),
        FmuCommand::Info(arguments) => info(arguments, console),
        FmuCommand::Check(arguments) => check(arguments, console),
    };
    done.unwrap_or_else(|status| status)
}

fn refuse(console: &Console, diagnostic: Diagnostic, sources: &SourceMap, status: Status) -> Status {
    let diagnostics: Diagnostics = [diagnostic].into_iter().collect();
    console.diagnostics(&diagnostics, sources);
    if console.is_json() {
        console.report(json!({}), &diagnostics, sources);
    }
    status
}

fn wrong(code: Code, message: String) -> Diagnostic {
    Diagnostic::without_place(code, Severity::Error, message)
}

fn parse_sizes(text: &str) -> Result<SizeParameter, String> {
    let parsed = text.split_once('=').and_then(|(name, range)| {
        let (min, max) = range.split_once("..")?;
        let (min, max) = (min.trim().parse().ok()?, max.trim().parse().ok()?);
        let name = name.trim().to_owned();
        (!name.is_empty()).then_some(SizeParameter { name, min, max })
    });
    parsed.ok_or_else(|| "write NAME=FIRST..LAST with whole numbers".to_owned())
}

/// The models for all sizes that importers may choose, but for the sizes of the model itself, which come first.
struct OtherSizes {
    first: Vec<u64>,
    models: Vec<(Vec<u64>, Model)>,
}

fn other_sizes(
    arguments: &ExportArguments,
    settings: &[(String, String)],
    loaded: &Loaded,
    console: &Console,
) -> Result<OtherSizes, Status> {
    let refuse = |message: String, help: &str| {
        let diagnostic = wrong(codes::E0614, message).with_help(help);
        refuse(console, diagnostic, loaded.model.sources(), Status::Usage)
    };
    let parameters = loaded.model.parameters();
    let parameters =
        parameters.map_err(|found| self::refuse(console, *found, loaded.model.sources(), Status::ModelWrong))?;
    let mut first = Vec::new();
    for wanted in &arguments.structural {
        let Some(known) = parameters.iter().find(|known| known.name == wanted.name) else {
            return Err(refuse(
                format!("the model has no parameter `{}`", wanted.name),
                "`saltus flatten` lists the parameters",
            ));
        };
        if known.by_run || known.values != ParameterValues::Integer {
            return Err(refuse(
                format!("`{}` gives no sizes: importers can set it in any unit", wanted.name),
                "leave `--structural` out for it",
            ));
        }
        let value = known.value.map(|value| value as u64);
        let value = value.filter(|value| (wanted.min..=wanted.max).contains(value));
        first.push(value.ok_or_else(|| {
            refuse(
                format!(
                    "`{}` is {:?}, which is not from {} to {}",
                    wanted.name, known.value, wanted.min, wanted.max
                ),
                "choose a range with the present value in it, or another value with `--set`",
            )
        })?);
    }
    let choices = choices(&arguments.structural).map_err(|message| refuse(message, "choose a smaller range"))?;
    let mut models = Vec::new();
    for values in choices.into_iter().filter(|values| *values != first) {
        let Some(session) = &loaded.session else {
            let message = "a model file holds the equations for one choice of sizes".to_owned();
            return Err(refuse(message, "export from the Modelica file"));
        };
        let mut settings = settings.to_vec();
        settings.retain(|(name, _)| arguments.structural.iter().all(|parameter| parameter.name != *name));
        let chosen = arguments.structural.iter().zip(&values);
        settings.extend(chosen.map(|(parameter, value)| (parameter.name.clone(), value.to_string())));
        let compiled = session.compile_with(loaded.model.name(), &settings);
        let Some((model, _)) = compiled.value else {
            console.diagnostics(&compiled.diagnostics, session.sources());
            return Err(Status::ModelWrong);
        };
        models.push((values, model));
    }
    Ok(OtherSizes { first, models })
}

fn export_unit(arguments: &ExportArguments, console: &Console) -> Result<Status, Status> {
    let settings = settings(arguments.parameters.as_deref(), &arguments.settings).map_err(|message| {
        console.message(&format!("error: {message}"));
        Status::Usage
    })?;
    let loaded = Loaded::new(&arguments.model, &settings, console)?;
    let model = &loaded.model;
    let refuse = |diagnostic, status| refuse(console, diagnostic, model.sources(), status);
    if let Some((name, value)) = loaded.settings.first() {
        let message = format!("`{name}` shapes no equations: the importer sets it, not the unit");
        let help = format!("leave `--set {name}={value}` out");
        return Err(refuse(wrong(codes::E0614, message).with_help(help), Status::Usage));
    }
    let runtimes = runtimes(&arguments.runtime).map_err(|diagnostic| refuse(*diagnostic, Status::Usage))?;
    let path = arguments.output.clone().unwrap_or_else(|| {
        let short = model.name().rsplit('.').next().unwrap_or(model.name());
        PathBuf::from(format!("{}.fmu", identifier(short)))
    });
    if let Some(clash) = clash(&[("the unit", &path)], &arguments.model.named_files()) {
        console.message(&format!("error: {clash}\nhelp: give each its own file"));
        return Err(Status::Usage);
    }
    let whole = arguments.arrays || !arguments.structural.is_empty();
    if whole && matches!(arguments.fmi, FmiVersion::Two) {
        let option = if arguments.arrays { "--arrays" } else { "--structural" };
        console.message(&format!("error: {option}: FMI 2 has no arrays"));
        return Err(Status::Usage);
    }
    let others = other_sizes(arguments, &settings, &loaded, console)?;
    let (_, _, run) = arguments.policy.apply(model.run()).into_parts();
    let options = ExportOptions {
        settings: Settings {
            redundant: run.redundant,
            chattering: run.chattering,
            zeno: run.zeno,
            arrays: whole,
            ..Settings::default()
        },
        version: match arguments.fmi {
            FmiVersion::Two => Version::Two,
            FmiVersion::Three => Version::Three,
        },
        interfaces: arguments
            .types
            .iter()
            .map(|of| match of {
                FmiType::Me => Interface::ModelExchange,
                FmiType::Cs => Interface::CoSimulation,
            })
            .collect(),
        without_sources: arguments.without_sources,
    };
    let sizes = (!arguments.structural.is_empty()).then(|| Sizes {
        parameters: arguments.structural.clone(),
        first: others.first,
        others: others
            .models
            .iter()
            .map(|(values, model)| (values.clone(), model))
            .collect(),
    });
    let exported = export_sizes(model, sizes.as_ref(), &runtimes, &options);
    let exported = exported.map_err(|diagnostic| refuse(*diagnostic, Status::ModelWrong))?;
    if let Err(error) = std::fs::write(&path, &exported.bytes) {
        let message = format!("cannot write to `{}`: {error}", path.display());
        return Err(refuse(wrong(codes::E0701, message), Status::SimulationFailed));
    }
    let bytes = exported.bytes.len();
    if console.is_json() {
        let object = json!({
            "model": model.name(),
            "file": path.display().to_string(),
            "bytes": bytes,
            "states": exported.states,
            "indicators": exported.indicators,
            "variables": exported.variables,
            "leftOut": exported.left_out,
        });
        console.report(object, &loaded.warnings, model.sources());
    } else {
        console.summary(&format!(
            "{}\n  wrote {} ({bytes} bytes): {} variables, {} states, {} event indicators\n",
            model.name(),
            path.display(),
            exported.variables,
            exported.states,
            exported.indicators,
        ));
        if !exported.left_out.is_empty() {
            let names = exported.left_out.join(", ");
            console.print(&format!("  left out, since not all sizes have them alike: {names}\n"));
        }
    }
    Ok(Status::Success)
}

/// The name of the runtime as it is built.
fn library_name() -> String {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    format!("{prefix}saltus_fmi_runtime{suffix}")
}

/// Where the runtime of this platform may be: beside the program, where a build leaves it, where it is installed.
fn places() -> Vec<PathBuf> {
    let program = std::env::current_exe().and_then(std::fs::canonicalize);
    let folder = program.ok().and_then(|program| program.parent().map(Path::to_owned));
    let below = ["", "deps", "../lib/saltus", "../lib"];
    let folders = folder
        .iter()
        .flat_map(|folder| below.iter().map(move |below| folder.join(below)));
    folders.map(|folder| folder.join(library_name())).collect()
}

fn runtimes(given: &[String]) -> Result<Vec<Runtime>, Box<Diagnostic>> {
    let named: Vec<(String, PathBuf)> = match (given, std::env::var_os("SALTUS_FMI_RUNTIME")) {
        ([], Some(path)) => vec![(host_platform(), PathBuf::from(path))],
        ([], None) => {
            let places = places();
            let found = places.iter().find(|place| place.is_file()).cloned();
            let found = found.ok_or_else(|| {
                let looked: Vec<String> = places.iter().map(|place| format!("`{}`", place.display())).collect();
                let message = format!("the runtime `{}` that goes into units is not there", library_name());
                let help = "`cargo build --release --workspace` builds it beside the program; `--runtime FILE` or the environment variable SALTUS_FMI_RUNTIME says where it is";
                let diagnostic = wrong(codes::E0710, message).with_note(format!("looked for {}", looked.join(", ")));
                Box::new(diagnostic.with_help(help))
            })?;
            vec![(host_platform(), found)]
        }
        (given, _) => given
            .iter()
            .map(|given| match given.split_once('=') {
                Some((platform, path)) => (platform.to_owned(), PathBuf::from(path)),
                None => (host_platform(), PathBuf::from(given)),
            })
            .collect(),
    };
    let read = |(platform, path): (String, PathBuf)| {
        Runtime::read(platform, &path).map_err(|error| {
            let message = format!("the runtime `{}` cannot be read: {error}", path.display());
            Box::new(wrong(codes::E0710, message))
        })
    };
    named.into_iter().map(read).collect()
}

fn unit(arguments: &UnitArguments, console: &Console) -> Result<Unit, Status> {
    let path = arguments.unit.display();
    let sources = SourceMap::new();
    let bytes = std::fs::read(&arguments.unit).map_err(|error| {
        let message = format!("`{path}` cannot be read: {error}");
        refuse(console, wrong(codes::E0120, message), &sources, Status::ModelWrong)
    })?;
    Unit::read(&bytes).map_err(|damaged| {
        let diagnostic = wrong(codes::E0710, format!("`{path}`: {damaged}"));
        refuse(console, diagnostic, &sources, Status::ModelWrong)
    })
}

fn import_unit(arguments: &ImportArguments, console: &Console) -> Result<Status, Status> {
    let path = arguments.unit.display();
    let sources = SourceMap::new();
    let refuse = |diagnostic, status| refuse(console, diagnostic, &sources, status);
    let unusable = |message: String| refuse(wrong(codes::E0710, format!("`{path}`: {message}")), Status::ModelWrong);
    let description = Description::of_file(&arguments.unit).map_err(&unusable)?;
    let interface = match (arguments.interface, &description.exchange, &description.simulation) {
        (Some(FmiType::Me), Some(_), _) | (None, Some(_), _) => ForeignInterface::ModelExchange,
        (Some(FmiType::Cs), _, Some(_)) | (None, None, Some(_)) => ForeignInterface::CoSimulation,
        (None, None, None) => {
            return Err(unusable(
                "it offers neither Model Exchange nor Co-Simulation, and Scheduled Execution is not known here"
                    .to_owned(),
            ));
        }
        (Some(_), Some(_), None) | (Some(FmiType::Cs), _, None) => {
            return Err(unusable("it offers no Co-Simulation".to_owned()));
        }
        (Some(FmiType::Me), None, _) => return Err(unusable("it offers no Model Exchange".to_owned())),
    };
    if arguments.step.is_some_and(|step| !(step > 0.0 && step.is_finite())) {
        console.message("error: --step must be positive");
        return Err(Status::Usage);
    }
    let output = arguments.output.clone();
    let output = output.unwrap_or_else(|| PathBuf::from(format!("{}.mo", identifier(&description.name))));
    let stem = output.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = arguments.name.clone().or(stem.map(|stem| identifier(&stem)));
    let options = ImportOptions {
        name: name.unwrap_or_else(|| identifier(&description.name)),
        file: beside(&arguments.unit, &output),
        interface,
        step: arguments.step,
    };
    let (text, left_out) = import(&description, &options).map_err(&unusable)?;
    if let Err(error) = std::fs::write(&output, &text) {
        let message = format!("cannot write to `{}`: {error}", output.display());
        return Err(refuse(wrong(codes::E0701, message), Status::SimulationFailed));
    }
    if console.is_json() {
        console.print_json(&json!({
            "block": options.name,
            "file": output.display().to_string(),
            "leftOut": left_out,
        }));
        return Ok(Status::Success);
    }
    let mut said = format!("{}\n  wrote {}\n", options.name, output.display());
    if !left_out.is_empty() {
        said += &format!(
            "  left out, with the values that the unit gives them: {}\n",
            left_out.join(", ")
        );
    }
    console.print(&said);
    Ok(Status::Success)
}

/// The unit as seen from the folder of the text; its whole path where that is somewhere else.
fn beside(unit: &Path, text: &Path) -> String {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (unit, text) = (whole(unit), whole(text));
    let near = text.parent().and_then(|folder| unit.strip_prefix(folder).ok());
    near.unwrap_or(&unit).to_string_lossy().into_owned()
}

fn info(arguments: &UnitArguments, console: &Console) -> Result<Status, Status> {
    let unit = unit(arguments, console)?;
    let root = |name: &str| unit.attribute("fmiModelDescription", name).unwrap_or_default();
    let version = root("fmiVersion");
    let interfaces: Vec<&str> = ["ModelExchange", "CoSimulation", "ScheduledExecution"]
        .into_iter()
        .filter(|interface| unit.count(interface) > 0)
        .collect();
    let platforms: Vec<&str> = unit
        .files
        .iter()
        .filter_map(|(path, _)| path.strip_prefix("binaries/")?.split('/').next())
        .collect();
    let counts = unit.counts();
    if console.is_json() {
        console.print_json(&json!({
            "model": root("modelName"),
            "fmiVersion": version,
            "generationTool": root("generationTool"),
            "interfaces": interfaces,
            "platforms": platforms,
            "variables": counts.variables,
            "inputs": counts.inputs,
            "outputs": counts.outputs,
            "parameters": counts.parameters,
            "states": counts.states,
            "indicators": counts.indicators,
            "files": unit.files.iter().map(|(path, size)| json!({"path": path, "bytes": size})).collect::<Vec<_>>(),
        }));
        return Ok(Status::Success);
    }
    let mut text = format!("{}\n", root("modelName"));
    text += &format!(
        "  FMI {version}, {}, by {}\n",
        interfaces.join(" and "),
        root("generationTool")
    );
    text += &format!("  for {}\n", platforms.join(", "));
    text += &format!(
        "  {} variables: {} inputs, {} outputs, {} parameters; {} states, {} event indicators\n",
        counts.variables, counts.inputs, counts.outputs, counts.parameters, counts.states, counts.indicators
    );
    for (path, size) in &unit.files {
        text += &format!("  {size:>9}  {path}\n");
    }
    console.print(&text);
    Ok(Status::Success)
}

fn check(arguments: &UnitArguments, console: &Console) -> Result<Status, Status> {
    let unit = unit(arguments, console)?;
    let report = saltus_fmi::check::check(&unit).map_err(|message| {
        let diagnostic = wrong(codes::E0710, format!("`{}`: {message}", arguments.unit.display()));
        refuse(console, diagnostic, &SourceMap::new(), Status::ModelWrong)
    })?;
    if console.is_json() {
        console.print_json(&json!({
            "compared": report.compared,
            "worst": report.worst.as_ref().map(|(name, difference)| json!({"variable": name, "difference": difference})),
            "passed": report.passed(),
        }));
    } else {
        let worst = report.worst.as_ref().map_or(String::new(), |(name, difference)| {
            format!("; the largest difference is {difference:.1e}, of `{name}`")
        });
        console.summary(&format!(
            "{}\n  description and model agree; Co-Simulation gives the {} values of a run at {} points{worst}\n",
            report.model, report.compared, report.points
        ));
    }
    Ok(if report.passed() {
        Status::Success
    } else {
        Status::ModelWrong
    })
}
