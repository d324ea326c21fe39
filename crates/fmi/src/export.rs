//! A model becomes a unit.

use std::collections::BTreeSet;
use std::path::Path;

use saltus::analysis::{AnalysisOptions, ChangeOutcome};
use saltus::simulate::{Chattering, Zeno};
use saltus::source::{Diagnostic, Severity, codes};
use saltus::{Model, ModelFileOptions};
use saltus_mdae::ConditionKind;
use sha2::{Digest, Sha256};

use crate::archive::{self, Entry};
use crate::description::{Subject, describe};
use crate::family::Family;
use crate::interface::{Interface as Shared, SizeParameter};
use crate::state::{Interface, Version};
use crate::strip::strip;
use crate::terminals::terminals;
use crate::variables::{Settings, Variables};
use crate::{FAMILY_FILE, MODEL_FILE, SETTINGS_FILE};

/// Modes that are looked at to find out what can be a state.
const MODES: usize = 64;

/// Modes and changes that are looked at to find out what can have an impulse.
const ANALYSED_MODES: usize = 16;
const ANALYSED_CHANGES: usize = 24;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// The version of the standard.
    pub version: Version,
    /// Who may integrate.
    pub interfaces: Vec<Interface>,
    /// Leave the text of the source files out.
    pub without_sources: bool,
    /// What is done where a model is not clear; slots are found anew.
    pub settings: Settings,
}

/// The runtime for a platform.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// The platform as FMI 3 writes it: `x86_64-linux`.
    pub platform: String,
    /// The shared library.
    pub library: Vec<u8>,
    /// The licences of what is in it.
    pub licences: Option<Vec<u8>>,
}

/// The licences of what is in a shared library, in a file beside it.
const LICENCES: &str = "LICENSE-THIRD-PARTY.txt";

impl Runtime {
    /// The runtime in a file, with the licences beside it, if they are there.
    pub fn read(platform: String, path: &Path) -> std::io::Result<Runtime> {
        Ok(Runtime {
            platform,
            library: std::fs::read(path)?,
            licences: std::fs::read(path.with_file_name(LICENCES)).ok(),
        })
    }
}

/// A unit that was made.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The archive.
    pub bytes: Vec<u8>,
    /// How many slots for states it has.
    pub states: usize,
    /// How many functions of conditions.
    pub indicators: usize,
    /// How many variables.
    pub variables: usize,
    /// Variables that importers do not see, since not all sizes have them in the same way.
    pub left_out: Vec<String>,
}

/// The models of a unit whose importers choose sizes.
#[derive(Clone, Debug)]
pub struct Sizes<'m> {
    /// The parameters that give sizes.
    pub parameters: Vec<SizeParameter>,
    /// Their values for the model itself.
    pub first: Vec<u64>,
    /// The models for all other values.
    pub others: Vec<(Vec<u64>, &'m Model)>,
}

/// The platform on which this runs, as FMI 3 writes it.
pub fn host_platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("{}-{system}", std::env::consts::ARCH)
}

/// A folder and an ending for the shared library of a platform.
fn binary_path(platform: &str, version: Version, identifier: &str) -> String {
    let ending = match platform.rsplit('-').next() {
        Some("windows") => "dll",
        Some("darwin") => "dylib",
        _ => "so",
    };
    let folder = match (version, platform) {
        (Version::Two, "x86_64-linux") => "linux64",
        (Version::Two, "x86_64-windows") => "win64",
        (Version::Two, "x86_64-darwin" | "aarch64-darwin") => "darwin64",
        (_, other) => other,
    };
    format!("binaries/{folder}/{identifier}.{ending}")
}

/// What a model is called inside tools: a name in C.
pub fn identifier(model: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = model.chars().map(clean).collect();
    match name.chars().next() {
        Some(first) if !first.is_ascii_digit() => name,
        _ => format!("M_{name}"),
    }
}

/// What a unit and its runtime must agree on.
pub fn token(model_file: &[u8], settings: &str, family: Option<&str>) -> String {
    let mut hash = Sha256::new();
    hash.update(model_file);
    hash.update(settings);
    family.iter().for_each(|family| hash.update(family));
    let hex: String = hash
        .finalize()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!(
        "{{{}-{}-{}-{}-{}}}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

/// The indicators of a model: one for each condition that compares numbers.
pub(crate) fn indicator_count(model: &Model) -> usize {
    let is_relation = |kind: &ConditionKind| matches!(kind, ConditionKind::Relation { .. });
    let conditions = model.equations().conditions.iter();
    conditions.filter(|condition| is_relation(&condition.kind)).count()
}

/// A model with what a unit holds of it.
struct Part {
    model_file: Vec<u8>,
    settings: String,
    variables: Variables,
}

impl Part {
    fn new(model: &Model, options: &ExportOptions) -> Result<Self, Box<Diagnostic>> {
        refuse_foreign(model)?;
        if options.interfaces.contains(&Interface::ModelExchange) {
            refuse_for_exchange(model, &options.settings)?;
        }
        let (compiled, _, _) = model.run().into_parts();
        let settings = Settings {
            slots: compiled.state_candidates(MODES),
            impulses: impulsive(model),
            ..options.settings.clone()
        };
        Ok(Part {
            model_file: model.to_bytes(ModelFileOptions {
                without_sources: options.without_sources,
            })?,
            settings: settings.write(model),
            variables: Variables::new(model, &settings, indicator_count(model)),
        })
    }
}

/// Makes a unit of a model.
pub fn export(model: &Model, runtimes: &[Runtime], options: &ExportOptions) -> Result<Exported, Box<Diagnostic>> {
    export_sizes(model, None, runtimes, options)
}

/// Makes a unit of a model whose importers choose sizes, if there are some to choose.
pub fn export_sizes(
    model: &Model,
    sizes: Option<&Sizes<'_>>,
    runtimes: &[Runtime],
    options: &ExportOptions,
) -> Result<Exported, Box<Diagnostic>> {
    let mut part = Part::new(model, options)?;
    let others: Vec<(Vec<u64>, Part)> = { sizes.iter() }
        .flat_map(|sizes| &sizes.others)
        .map(|(values, model)| Ok((values.clone(), Part::new(model, options)?)))
        .collect::<Result<_, Box<Diagnostic>>>()?;
    let mut left_out = Vec::new();
    let family = match sizes {
        Some(sizes) => {
            let (family, without) = family(sizes, &mut part, &others, options).map_err(refused)?;
            left_out = without;
            Some(family)
        }
        None => None,
    };
    let listed = family.as_ref().map(Family::write);
    let identifier = identifier(model.name());
    let subject = Subject {
        model,
        variables: &part.variables,
        identifier: &identifier,
        token: &token(&part.model_file, &part.settings, listed.as_deref()),
        interfaces: &options.interfaces,
        version: options.version,
    };
    let text = |path: String, content: String| Entry {
        path,
        content: content.into_bytes(),
    };
    let mut entries = vec![text("modelDescription.xml".to_owned(), describe(&subject))];
    if let Some(terminals) = terminals(model, &part.variables) {
        entries.push(text("terminalsAndIcons/terminalsAndIcons.xml".to_owned(), terminals));
    }
    for runtime in runtimes {
        let path = binary_path(&runtime.platform, options.version, &identifier);
        if entries.iter().any(|entry| entry.path == path) {
            return Err(refused(format!("two runtimes would be `{path}`: name one of them")));
        }
        entries.push(Entry {
            path,
            content: strip(&runtime.library).unwrap_or_else(|| runtime.library.clone()),
        });
    }
    if let Some(licences) = runtimes.iter().find_map(|runtime| runtime.licences.as_ref()) {
        entries.push(Entry {
            path: "documentation/licenses/license.txt".to_owned(),
            content: licences.clone(),
        });
    }
    let variables = &part.variables;
    let (states, indicators, count) = (variables.slots.len(), variables.indicators, variables.list.len());
    let mut add = |folder: &str, part: Part| {
        entries.push(Entry {
            path: format!("resources/{folder}{MODEL_FILE}"),
            content: part.model_file,
        });
        entries.push(text(format!("resources/{folder}{SETTINGS_FILE}"), part.settings));
    };
    add("", part);
    if let (Some(family), Some(listed)) = (family, listed) {
        for (values, part) in others {
            let folder = family.folder(&values).map_err(refused)?;
            add(&format!("{folder}/"), part);
        }
        entries.push(text(format!("resources/{FAMILY_FILE}"), listed));
    }
    let bytes = archive::pack(&entries).map_err(|error| refused(error.to_string()))?;
    Ok(Exported {
        bytes,
        states,
        indicators,
        variables: count,
        left_out,
    })
}

fn refused(message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::without_place(codes::E0710, Severity::Error, message))
}

/// What models of several sizes have in common; the first one gets it as its interface.
fn family(
    sizes: &Sizes<'_>,
    part: &mut Part,
    others: &[(Vec<u64>, Part)],
    options: &ExportOptions,
) -> Result<(Family, Vec<String>), String> {
    let marked = |part: &Part, values: &[u64]| {
        let mut variables = part.variables.clone();
        variables.mark_sizes(&sizes.parameters, values);
        variables
    };
    let first = marked(part, &sizes.first);
    let more: Vec<Variables> = others.iter().map(|(values, part)| marked(part, values)).collect();
    let mut models = vec![(sizes.first.clone(), &first)];
    models.extend(
        others
            .iter()
            .zip(&more)
            .map(|((values, _), variables)| (values.clone(), variables)),
    );
    let (interface, left_out) = Shared::of_many(sizes.parameters.clone(), &models, &options.interfaces)?;
    part.variables = first.clone().in_family(&interface, &sizes.first)?;
    let own = (&*sizes.first, &*part.model_file, &*part.settings);
    let rest = others
        .iter()
        .map(|(values, part)| (&**values, &*part.model_file, &*part.settings));
    Ok((Family::new(interface, std::iter::once(own).chain(rest)), left_out))
}

/// Variables that may have an impulse at a mode change.
fn impulsive(model: &Model) -> Vec<String> {
    if model.equations().conditions.is_empty() {
        return Vec::new();
    }
    let options = AnalysisOptions {
        most_modes: ANALYSED_MODES,
        most_changes: ANALYSED_CHANGES,
        ..AnalysisOptions::default()
    };
    let mut names = BTreeSet::new();
    for change in model.analyze(&options).changes {
        if let ChangeOutcome::Analysed(report) = change.outcome {
            let simple = report.impulses.into_iter().filter(|(_, order)| *order == 1);
            names.extend(simple.map(|(name, _)| name));
        }
    }
    names.into_iter().collect()
}

/// Units do not carry units of others.
fn refuse_foreign(model: &Model) -> Result<(), Box<Diagnostic>> {
    let units = model.foreign_units();
    let Some(unit) = units.first() else {
        return Ok(());
    };
    let message = format!(
        "the model needs unit `{}` of another tool, which no unit can carry along",
        unit.file
    );
    let diagnostic = Diagnostic::without_place(codes::E0710, Severity::Error, message);
    Err(Box::new(
        diagnostic.with_help("import both units where they are to run together"),
    ))
}

/// What an importer that integrates cannot do.
fn refuse_for_exchange(model: &Model, settings: &Settings) -> Result<(), Box<Diagnostic>> {
    let equations = model.equations();
    let goes_on = settings.chattering == Chattering::Slide || settings.zeno == Zeno::Rest;
    let has_past = !equations.delays.is_empty() || !equations.transports.is_empty();
    if !has_past && !goes_on {
        return Ok(());
    }
    let message = if has_past {
        "`delay` and `spatialDistribution` need the past of signals, which an importer that integrates does not keep"
    } else {
        "along a switching surface, and beyond a point where events accumulate, no other integrator leads the run"
    };
    let diagnostic = Diagnostic::without_place(codes::E0710, Severity::Error, message.to_owned());
    Err(Box::new(diagnostic.with_help("export for Co-Simulation: `--type cs`")))
}

/// A unit as it is found: what `saltus fmu info` and `check` look at.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its description, as text.
    pub description: String,
    /// All its files with their sizes.
    pub files: Vec<(String, usize)>,
    /// The model file, if it is one of ours.
    pub model_file: Option<Vec<u8>>,
    /// The settings that go with it.
    pub settings: Option<String>,
    /// Which models of other sizes there are.
    pub family: Option<String>,
}

impl Unit {
    /// Reads an archive.
    pub fn read(bytes: &[u8]) -> Result<Unit, archive::Damaged> {
        let entries = archive::unpack(bytes)?;
        let find = |path: &str| entries.iter().find(|entry| entry.path == path);
        let text = |entry: &Entry| String::from_utf8(entry.content.clone()).ok();
        let description = find("modelDescription.xml").and_then(text);
        let missing = || archive::Damaged("there is no `modelDescription.xml` in it".to_owned());
        Ok(Unit {
            description: description.ok_or_else(missing)?,
            files: entries
                .iter()
                .map(|entry| (entry.path.clone(), entry.content.len()))
                .collect(),
            model_file: find(&format!("resources/{MODEL_FILE}")).map(|entry| entry.content.clone()),
            settings: find(&format!("resources/{SETTINGS_FILE}")).and_then(text),
            family: find(&format!("resources/{FAMILY_FILE}")).and_then(text),
        })
    }

    /// The value of an attribute of the first element of a name.
    pub fn attribute(&self, element: &str, attribute: &str) -> Option<String> {
        let begin = self.description.find(&format!("<{element}"))?;
        let end = begin + self.description[begin..].find('>')?;
        let tag = &self.description[begin..end];
        let at = tag.find(&format!(" {attribute}=\""))? + attribute.len() + 3;
        let value = tag[at..].split('"').next()?;
        Some(value.to_owned())
    }

    /// How many elements of a name there are.
    pub fn count(&self, element: &str) -> usize {
        let tag = format!("<{element}");
        let follows = |rest: &str| rest.starts_with([' ', '/', '>', '\n']);
        let starts = self.description.match_indices(&tag);
        starts
            .filter(|(at, _)| follows(&self.description[at + tag.len()..]))
            .count()
    }
}

/// How much of everything a unit has.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Variables.
    pub variables: usize,
    /// Inputs.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
    /// Parameters.
    pub parameters: usize,
    /// Continuous states.
    pub states: usize,
    /// Event indicators.
    pub indicators: usize,
}

impl Unit {
    /// Counts what the description lists.
    pub fn counts(&self) -> Counts {
        let has = |what: &str| self.description.matches(what).count();
        let in_structure = |from: &str, to: &str| {
            let part = self
                .description
                .split_once(from)
                .and_then(|(_, rest)| rest.split_once(to));
            part.map_or(0, |(part, _)| part.matches("<Unknown ").count())
        };
        let is_two = self.attribute("fmiModelDescription", "fmiVersion").as_deref() == Some("2.0");
        let indicators = self.attribute("fmiModelDescription", "numberOfEventIndicators");
        Counts {
            variables: has(" valueReference=\"") - self.structure_references(),
            inputs: has("causality=\"input\""),
            outputs: has("causality=\"output\""),
            parameters: has("causality=\"parameter\""),
            states: if is_two {
                in_structure("<Derivatives>", "</Derivatives>")
            } else {
                self.count("ContinuousStateDerivative")
            },
            indicators: match indicators.and_then(|count| count.parse().ok()) {
                Some(count) => count,
                None => self.count("EventIndicator"),
            },
        }
    }

    /// References to variables, not variables.
    fn structure_references(&self) -> usize {
        let structure = self.description.split_once("<ModelStructure");
        structure.map_or(0, |(_, rest)| rest.matches(" valueReference=\"").count())
    }
}
