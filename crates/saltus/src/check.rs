//! Everything that can be said about a model without running it.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use saltus_analysis::{
    Analysis, AnalysisOptions, Budget, ChangeReport, Coverage, ModeReport, Reach, Refusal, RestartReport,
    SingularModes, all_modes_report, starts_regular, valuation_text,
};
use saltus_lang::flat::FlatModel;
use saltus_mdae::Mdae;
use saltus_simulate::discrete_loop;
use saltus_source::{Cancel, Code, Diagnostic, Diagnostics, FileId, Label, Severity, Span, codes};
use saltus_structure::mode::Modes;
use saltus_syntax::ast::{ClassDefinition, ClassKind, ClassModification, Name, split_name};
use saltus_syntax::library::LibraryClass;

use crate::model::prepare_given;
use crate::open::{diagnostics_of, has_open_connectors, open_values};
use crate::{Model, Outcome, Session};

/// Models beyond a limit after which the others are not looked at: each of them takes long.
const MOST_TOO_LARGE: usize = 2;
/// Packages inside packages are followed this deep.
const MOST_LEVELS: usize = 100;

/// What was checked.
#[derive(Debug, Default)]
pub struct Checked {
    /// The models looked at.
    pub models: Vec<String>,
    /// What was found.
    pub diagnostics: Diagnostics,
}

impl Session {
    /// Checks one model: names, types, balance, structure of its initial mode; with `all_modes` also the other modes
    /// and the changes between them.
    pub fn check(&self, model: &str, all_modes: bool) -> Diagnostics {
        let mut diagnostics = self.check_modified(model, None, all_modes);
        diagnostics.be_strict();
        diagnostics
    }

    /// What is wrong with the structure of a model that was compiled but does not start.
    pub fn check_compiled(&self, model: &Model) -> Diagnostics {
        self.check_modified(model.name(), model.modification.as_ref(), false)
    }

    fn check_modified(
        &self,
        model: &str,
        modification: Option<&Arc<ClassModification>>,
        all_modes: bool,
    ) -> Diagnostics {
        let flat = self.flatten_modified(model, modification);
        let mut diagnostics = flat.diagnostics;
        let Some(flat) = flat.value else { return diagnostics };
        // A component is not meant to be simulated by itself: its connectors are open.
        if !has_open_connectors(&flat) {
            let structure = self.check_structure(model, &flat, all_modes);
            diagnostics.extend(structure);
            diagnostics.extend(diagnostics_of(&open_values(&flat), |_| false));
        }
        // The structure says more of a branch without equations.
        if diagnostics.has_errors() {
            let others = diagnostics.into_iter().filter(|d| d.code != codes::W0211);
            diagnostics = others.collect();
        }
        diagnostics.normalise();
        diagnostics
    }

    /// Checks every model in the files given.
    pub fn check_all(&self, all_modes: bool) -> Checked {
        self.check_listed(self.models(), all_modes, || self.check_functions())
    }

    /// Checks what is written in the file added last: for a file by itself the same as [`Session::check_all`], for one that is
    /// part of a package the models and functions in it.
    pub fn check_last(&self) -> Checked {
        let (mut models, mut functions) = (Vec::new(), Vec::new());
        for class in self.added_last() {
            collect(&class.definition, &mut class.path.clone(), &mut models);
            collect_functions(&class.definition, &mut class.path.clone(), &mut functions);
        }
        self.check_listed(models, false, || self.check_bodies(&functions))
    }

    fn check_listed(&self, models: Vec<String>, all_modes: bool, functions: impl Fn() -> Diagnostics) -> Checked {
        let mut checked = Checked {
            models,
            diagnostics: self.diagnostics(),
        };
        if !checked.diagnostics.has_errors() {
            let parts = self.parts();
            let mut too_large = 0;
            for (place, model) in checked.models.iter().enumerate() {
                if self.cancel.is_cancelled() {
                    break;
                }
                let found = self.check(model, all_modes);
                too_large += usize::from(found.iter().any(|d| d.code == codes::E0307));
                let is_part = parts.contains(model);
                // What is in a package, or has others behind it, is mostly a part of them: they give the values. Not what says
                // how it is to be run.
                let may_be_part = is_part || model.contains('.') && !self.is_experiment(model);
                let is_told =
                    |d: &Diagnostic| !(is_part && d.code == codes::E0403 || may_be_part && d.code == codes::W0209);
                checked.diagnostics.extend(found.into_iter().filter(is_told));
                // What is too large is mostly part of others.
                let left = checked.models.len() - place - 1;
                if too_large >= MOST_TOO_LARGE && left > 0 {
                    let message = format!("{left} other models are not checked: several are too large");
                    let diagnostic = Diagnostic::without_place(codes::E0307, Severity::Error, message);
                    let help = format!("`--model {}` checks one of them", checked.models[place + 1]);
                    checked.diagnostics.push(diagnostic.with_help(help));
                    break;
                }
            }
            checked.diagnostics.extend(functions());
        }
        checked.diagnostics.normalise();
        checked
    }

    /// What is worth knowing about the texts given: what nothing uses, and options of annotations that are nearly known.
    pub fn hints(&self) -> Diagnostics {
        let (mut ids, mut entered) = (BTreeSet::new(), HashSet::new());
        for class in self.library.given().iter() {
            self.files_of(class, &mut entered, &mut ids);
        }
        let files: Vec<_> = ids.into_iter().filter_map(|id| self.sources().file(id)).collect();
        saltus_lang::hints(&files)
    }

    /// The files of a class and of the classes in its folder.
    fn files_of(&self, class: &LibraryClass, entered: &mut HashSet<PathBuf>, files: &mut BTreeSet<FileId>) {
        files.insert(class.file);
        if !self.library.enters(class, entered) {
            return;
        }
        for name in self.library.members(class).iter() {
            if let Some(member) = self.library.member(class, name) {
                self.files_of(&member, entered, files);
            }
        }
    }

    /// Checks the bodies of all functions in the files given, called or not.
    fn check_functions(&self) -> Diagnostics {
        let mut names = Vec::new();
        let mut entered = HashSet::new();
        for class in self.library.given().iter() {
            self.collect_in(class, &mut entered, &mut |class, path| {
                collect_functions(class, path, &mut names)
            });
        }
        self.check_bodies(&names)
    }

    fn check_bodies(&self, functions: &[Arc<str>]) -> Diagnostics {
        saltus_lang::check_functions(&self.library, functions, &self.flatten_options())
    }

    /// The full names of all models in the files and folders given, those of packages in their order.
    pub fn models(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut entered = HashSet::new();
        for class in self.library.given().iter() {
            self.collect_in(class, &mut entered, &mut |class, path| collect(class, path, &mut names));
        }
        names
    }

    /// Models at the top of a file with another one behind them: parts of it, which other equations may complete.
    fn parts(&self) -> BTreeSet<String> {
        let given = self.library.given();
        let is_model = |class: &LibraryClass| matches!(class.definition.kind, ClassKind::Model | ClassKind::Block);
        let behind = |place: usize| {
            given[place + 1..]
                .iter()
                .any(|c| c.file == given[place].file && is_model(c))
        };
        let parts = (0..given.len()).filter(|&place| is_model(&given[place]) && behind(place));
        parts.map(|place| given[place].qualified_name()).collect()
    }

    /// Calls `visit` with every class that has a file of its own, and its path.
    fn collect_in(
        &self,
        class: &LibraryClass,
        entered: &mut HashSet<PathBuf>,
        visit: &mut dyn FnMut(&ClassDefinition, &mut Vec<Name>),
    ) {
        if !self.library.enters(class, entered) {
            return;
        }
        visit(&class.definition, &mut class.path.clone());
        for name in self.library.members(class).iter() {
            if let Some(member) = self.library.member(class, name) {
                self.collect_in(&member, entered, visit);
            }
        }
    }

    /// Whether a model says for how long it is to be run.
    fn is_experiment(&self, model: &str) -> bool {
        let path: Vec<Name> = split_name(model).into_iter().map(Name::new).collect();
        let definition = self.library.find(&path);
        let annotation = definition.as_ref().and_then(|class| class.annotation.as_ref());
        annotation.is_some_and(|annotation| annotation.modification.find("experiment").is_some())
    }

    fn check_structure(&self, name: &str, flat: &FlatModel, all_modes: bool) -> Diagnostics {
        let lowered = self.lower(flat);
        let diagnostics = lowered.diagnostics.clone();
        let outcome = lowered.then(|mdae| {
            let literal: Diagnostics = literal_conditions(&mdae);
            let (start, regular) = (mdae.experiment.start_time.unwrap_or(0.0), !all_modes);
            let (prepared, coefficients) = prepare_given(mdae, &[]);
            if self.cancel.is_cancelled() {
                return Outcome::new(Some(None), literal);
            }
            let mut literal = literal;
            let sets = check_all_modes(name, &prepared, all_modes).into_iter();
            literal.extend(sets.map(|set| at_users_line(set, &prepared)));
            // Most models are regular in the mode their start values select, which is quickly seen.
            if regular && discrete_loop(&prepared).is_none() && starts_regular(&prepared, start) {
                return Outcome::new(Some(None), literal);
            }
            self.finish_model(name, flat, prepared, &coefficients)
                .then(|model| Outcome::new(Some(Some(model)), literal))
        });
        let mut diagnostics: Diagnostics = diagnostics.into_iter().chain(outcome.diagnostics).collect();
        if let Some(Some(model)) = &outcome.value {
            diagnostics.extend(check_modes(model, all_modes, &self.cancel));
        }
        diagnostics
    }
}

fn collect(class: &ClassDefinition, path: &mut Vec<Name>, names: &mut Vec<String>) {
    match class.kind {
        ClassKind::Model | ClassKind::Block | ClassKind::Class if !class.partial => names.push(path.join(".")),
        ClassKind::Package if path.len() <= MOST_LEVELS => {
            for (_, inner) in class.classes() {
                path.push(inner.name.name.clone());
                collect(inner, path, names);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The functions in a class. What is partial is completed elsewhere.
fn collect_functions(class: &ClassDefinition, path: &mut Vec<Name>, names: &mut Vec<Arc<str>>) {
    if class.partial || path.len() > MOST_LEVELS {
        return;
    }
    if matches!(class.kind, ClassKind::Function | ClassKind::OperatorFunction) {
        names.push(path.join(".").into());
    }
    for (_, inner) in class.classes() {
        path.push(inner.name.name.clone());
        collect_functions(inner, path, names);
        path.pop();
    }
}

/// Structure that would change without an event.
fn literal_conditions(model: &saltus_mdae::Mdae) -> Diagnostics {
    let found = Modes::new(model).structural_no_events(model);
    let diagnostics = found.iter().map(|literal| {
        let origin = model.equations[literal.equation].origin;
        let variable = &model.variables[literal.var].name;
        let message = format!("the highest derivative of `{variable}` here depends on a condition inside `noEvent`");
        crate::failure::at_origins(codes::E0503, message, &[origin], model)
            .with_help("remove `noEvent`: a change of structure must be an event")
    });
    diagnostics.collect()
}

impl Model {
    /// What is wrong with the structure of its initial mode; with `all_modes` also of the other modes and of the changes
    /// between them.
    pub fn check(&self, all_modes: bool) -> Diagnostics {
        let mut diagnostics = check_modes(self, all_modes, &Cancel::new());
        diagnostics.normalise();
        diagnostics
    }
}

/// Steps that looking at all modes may take where it was not asked for.
const UNASKED: Budget = Budget {
    nodes: 1 << 18,
    steps: 1 << 22,
};
/// Singular places of a model that are reported.
const MOST_SINGULAR: usize = 12;

/// Singular modes among all modes that time or inputs alone select.
fn check_all_modes(name: &str, model: &Mdae, all_modes: bool) -> Diagnostics {
    let modes = Modes::new(model);
    let start = model.experiment.start_time.unwrap_or(0.0);
    let span = (start, model.experiment.stop_time.unwrap_or(start + 1.0));
    let budget = if all_modes { Budget::default() } else { UNASKED };
    let Some(report) = all_modes_report(model, &modes, span, budget) else {
        return Diagnostics::new();
    };
    let told = report.singular.iter().filter(|found| found.reach != Reach::ByValues);
    told.take(MOST_SINGULAR)
        .map(|found| singular_set(name, found))
        .collect()
}

fn singular_set(name: &str, found: &SingularModes) -> Diagnostic {
    // Where there are as many equations as unknowns, something may float: a run can go on with that.
    let contradicts = found.contradicts;
    let (code, severity, how) = match found.reach {
        Reach::ByTime(time) if contradicts => (
            codes::E0508,
            Severity::Error,
            format!(", which time alone selects, for example at t = {time},"),
        ),
        Reach::ByTime(time) => (
            codes::W0502,
            Severity::Warning,
            format!(", which time alone selects, for example at t = {time},"),
        ),
        Reach::FromOutside => (
            codes::W0502,
            Severity::Warning,
            ", which time and inputs alone select,".to_owned(),
        ),
        Reach::ByValues => (codes::W0501, Severity::Note, String::new()),
    };
    let which = match found.count.as_deref() {
        Some("1") => "the mode",
        _ => "every mode with",
    };
    let message = format!(
        "{which} `{}` of `{name}`{how} is singular",
        crate::failure::cut(&found.when.to_string())
    );
    let mut diagnostic = at_spans(code, severity, &found.places(), message);
    diagnostic.notes.extend(found.reasons());
    diagnostic.help.push(match found.reach {
        Reach::ByValues => "nothing has to be done if the values of variables keep the model out of it".to_owned(),
        _ => "state in an `assert` which conditions exclude each other, or write equations for this mode".to_owned(),
    });
    diagnostic
}

fn check_modes(model: &Model, all_modes: bool, cancel: &Cancel) -> Diagnostics {
    let options = AnalysisOptions {
        coverage: if all_modes { Coverage::All } else { Coverage::Initial },
        change_facts: false,
        cancel: cancel.clone(),
        ..AnalysisOptions::default()
    };
    let analysis = model.analyze(&options);
    let found = found_by(&analysis).into_iter();
    found.map(|found| at_users_line(found, model.equations())).collect()
}

/// Lines of the model itself that are named before a place in a library. More of them would not say which is meant.
const MOST_PARTS: usize = 4;

/// What is wrong inside of a library is told at the lines of the model that use it, and then where it is.
fn at_users_line(mut diagnostic: Diagnostic, model: &Mdae) -> Diagnostic {
    let Some(place) = &diagnostic.primary else {
        return diagnostic;
    };
    let here = model.origins.iter().filter(|origin| origin.span == Some(place.span));
    let parts: BTreeSet<Span> = here.filter_map(|origin| origin.part).collect();
    if parts.len() > MOST_PARTS {
        return diagnostic;
    }
    let mut parts = parts.into_iter().map(|span| Label {
        span,
        message: "used here".to_owned(),
    });
    if let Some(first) = parts.next()
        && let Some(place) = diagnostic.primary.replace(first)
    {
        let others = std::mem::take(&mut diagnostic.secondary);
        diagnostic.secondary.extend(parts.chain([place]).chain(others));
    }
    diagnostic
}

fn found_by(analysis: &Analysis) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let sets = analysis.all_modes.as_ref().map_or(&[][..], |all| &all.singular[..]);
    // What lasts for an instant only, with restart equations, may be singular.
    let instants = analysis
        .modes
        .iter()
        .enumerate()
        .filter(|(number, _)| analysis.is_transient(*number));
    let instants: Vec<&ModeReport> = instants.map(|(_, mode)| mode).collect();
    let of_instants = |set: &SingularModes| instants.iter().any(|mode| set.includes(&mode.valuation));
    let is_told = |set: &SingularModes| set.reach != Reach::ByValues || of_instants(set);
    let mut told: Vec<bool> = sets.iter().map(is_told).collect();
    for (number, mode) in analysis.modes.iter().enumerate() {
        if let Err(refusal) = &mode.structure
            && !analysis.is_transient(number)
        {
            // A mode in which something floats can be started in.
            let initial = number == 0 && analysis.initial_failure.is_some();
            // One mode stands for all of a set.
            let of: Vec<usize> = (0..sets.len())
                .filter(|&at| sets[at].includes(&mode.valuation))
                .collect();
            let is_told = !of.is_empty() && of.iter().all(|&at| told[at]);
            let set = of.iter().find(|&&at| !told[at]).map(|&at| &sets[at]);
            of.iter().for_each(|&at| told[at] = true);
            if is_told && !initial {
                continue;
            }
            diagnostics.push(singular_mode(analysis, mode, refusal, (initial, set)));
        }
    }
    let untold = sets.iter().zip(&told).filter(|(_, told)| !**told);
    diagnostics.extend(
        untold
            .take(MOST_SINGULAR)
            .map(|(set, _)| singular_set(&analysis.model, set)),
    );
    diagnostics.extend(
        analysis
            .refused_changes()
            .map(|(change, report)| refused_change(analysis, change, report)),
    );
    diagnostics
}

/// A singular mode: the initial one, or one that stands for a set of them.
fn singular_mode(
    analysis: &Analysis,
    mode: &ModeReport,
    refusal: &Refusal,
    (initial, set): (bool, Option<&SingularModes>),
) -> Diagnostic {
    let valuation = crate::failure::cut(&valuation_text(&mode.valuation));
    let whose = match (initial, valuation.is_empty()) {
        (_, true) => format!("`{}` is singular", analysis.model),
        (true, false) => format!("the initial mode of `{}` ({valuation}) is singular", analysis.model),
        (false, false) => match set.filter(|set| set.count.as_deref() != Some("1")) {
            Some(set) => {
                let when = crate::failure::cut(&set.when.to_string());
                format!("every mode with `{when}` of `{}` is singular", analysis.model)
            }
            None => format!("the mode `{valuation}` of `{}` is singular", analysis.model),
        },
    };
    let (code, severity) = if initial {
        (codes::E0508, Severity::Error)
    } else {
        (codes::W0501, Severity::Note)
    };
    let places = if refusal.equations.iter().any(|(_, span)| span.is_some()) {
        &refusal.equations
    } else {
        &refusal.unknowns
    };
    let spans: Vec<Span> = places.iter().filter_map(|(_, span)| *span).collect();
    let mut diagnostic = at_spans(code, severity, &spans, format!("{whose}: {}", refusal.summary));
    for (equation, _) in refusal.equations.iter().take(8) {
        diagnostic.notes.push(format!("too many: `{equation}`"));
    }
    if !refusal.unknowns.is_empty() {
        let names: Vec<String> = refusal
            .unknowns
            .iter()
            .take(12)
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        diagnostic.notes.push(format!("not determined: {}", names.join(", ")));
    }
    if initial && !valuation.is_empty() && analysis.initial_failure.is_some() {
        let note = "no mode could be initialised; this is the one that the start values suggest";
        diagnostic.notes.push(note.to_owned());
    }
    diagnostic.help.extend(refusal.help.iter().cloned());
    diagnostic
}

fn refused_change(analysis: &Analysis, change: &ChangeReport, report: &RestartReport) -> Diagnostic {
    let (condition, value) = &change.trigger;
    let message = format!(
        "`{}`: the change when `{condition}` becomes {value} cannot be carried out: {}",
        analysis.model, report.summary
    );
    let spans: Vec<Span> = change.span.into_iter().chain(report.places.iter().copied()).collect();
    let mut diagnostic = at_spans(codes::E0509, Severity::Error, &spans, message);
    diagnostic.notes.extend(report.details.iter().cloned());
    diagnostic.help.extend(report.help.iter().cloned());
    diagnostic
}

fn at_spans(code: Code, severity: Severity, spans: &[Span], message: String) -> Diagnostic {
    let Some((first, rest)) = spans.split_first() else {
        return Diagnostic::without_place(code, severity, message);
    };
    let mut diagnostic = Diagnostic::new(code, severity, *first, message);
    for span in rest.iter().filter(|span| *span != first).take(5) {
        diagnostic = diagnostic.with_secondary(*span, "");
    }
    diagnostic
}
