//! The state of flattening one model, with its limits.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_routines::ExternalHost;
use saltus_source::{Cancel, Diagnostic, Diagnostics, Label, Span};
use saltus_syntax::ast::{ClassDefinition, Name};
use saltus_syntax::library::Library;

use crate::FlattenOptions;
use crate::class::ClassNode;
use crate::codes;
use crate::conversion::Conversions;
use crate::expr::Item;
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::{Attributes, FlatModel, IndexVec, Provenance, ProvenanceId, ProvenanceKind};
use crate::function::FunctionTable;
use crate::ids::{ClassId, ComponentId, InstanceId};
use crate::instance::{Component, Instance};
use crate::limits::Limits;
use crate::model::connection::Connections;
use crate::model::overconstrained::ConnectionGraph;
use crate::model::state_machine::StateMachines;
use crate::model::stream::Streams;
use crate::model::units::UnitNotes;
use crate::tensor::Dims;
use crate::unreached::Looked;

/// Everything known while flattening.
pub(crate) struct Flattener<'l> {
    pub library: &'l Library,
    pub limits: Limits,
    /// Who runs external code, if the user allows it.
    pub external: Option<Arc<dyn ExternalHost>>,
    /// Asks to stop.
    pub cancel: Cancel,
    pub fuel: u64,
    pub function_fuel: u64,
    /// Elements of constants that are known, and of variables of functions that run.
    pub held: (usize, usize),
    pub depth: u32,
    pub diagnostics: Diagnostics,
    pub classes: IndexVec<ClassId, ClassNode>,
    pub roots: FxHashMap<Name, Option<ClassId>>,
    pub predefined: FxHashMap<Name, ClassId>,
    /// The classes whose bases are being looked up.
    pub extending: Vec<Arc<ClassDefinition>>,
    pub instances: IndexVec<InstanceId, Instance>,
    pub components: IndexVec<ComponentId, Component>,
    pub enumerations: FxHashMap<(u32, u32, u32), crate::flat::EnumerationId>,
    pub functions: FunctionTable,
    pub connections: Connections,
    pub model: FlatModel,
    /// Components in the order they were made, whose bindings are still to be translated.
    pub pending: Vec<ComponentId>,
    /// Shared by variables without attributes.
    pub no_attributes: Arc<Attributes>,
    /// Classes that contain themselves without end, which has been reported.
    pub endless: Vec<Arc<ClassDefinition>>,
    /// The component of each variable.
    pub owners: Vec<ComponentId>,
    /// All instances of the model, once they exist.
    pub model_instances: Vec<InstanceId>,
    /// How many connections name each connector, once asked for.
    pub cardinalities: Option<FxHashMap<Item, u32>>,
    pub graph: ConnectionGraph,
    pub streams: Streams,
    pub machines: StateMachines,
    /// Inner components that are added to the model.
    pub automatic: Vec<(Name, ComponentId)>,
    /// Components whose sizes are being found, with the sizes known so far.
    pub sizing: Vec<(InstanceId, Name, Dims)>,
    /// Whether classes have import clauses, as far as that was asked.
    pub importing: FxHashMap<*const ClassDefinition, bool>,
    /// Classes whose import clauses have been looked at.
    pub imported: FxHashSet<*const ClassDefinition>,
    /// Unknown names for which others that resemble them are still looked for.
    pub suggestions: u32,
    /// Whether units that follow from others are asked for, and which do.
    pub wants_units: bool,
    pub units: UnitNotes,
    /// What libraries say of the names that they had, by the names of their top-level classes.
    pub conversions: FxHashMap<String, Arc<Conversions>>,
    /// Loops in algorithm sections whose length varies, so far.
    pub loop_counters: u32,
    /// When what is translated is evaluated.
    pub moment: Moment,
    /// Text that conditions leave out, as far as it has been looked at.
    pub looked: FxHashSet<Looked>,
    /// The line of the model itself that brings along what is looked at.
    pub part: Option<Span>,
}

/// When an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before the run or at its start only.
    Start,
    /// At events only.
    Event,
    /// At any time.
    Any,
}

impl Moment {
    pub(crate) fn of(initial: bool, in_when: bool) -> Moment {
        match (initial, in_when) {
            (true, _) => Moment::Start,
            (false, true) => Moment::Event,
            (false, false) => Moment::Any,
        }
    }
}

/// More unknown names than this are mostly one mistake; to compare all with all would take for ever.
const MOST_SUGGESTIONS: u32 = 20;

impl<'l> Flattener<'l> {
    pub(crate) fn new(library: &'l Library, options: &FlattenOptions) -> Self {
        let limits = options.limits;
        let mut flattener = Flattener {
            library,
            limits,
            external: options.external.clone(),
            cancel: options.cancel.clone(),
            fuel: limits.fuel,
            function_fuel: limits.function_fuel,
            held: (0, 0),
            depth: 0,
            diagnostics: Diagnostics::new(),
            classes: IndexVec::new(),
            roots: FxHashMap::default(),
            predefined: FxHashMap::default(),
            extending: Vec::new(),
            instances: IndexVec::new(),
            components: IndexVec::new(),
            enumerations: FxHashMap::default(),
            functions: FunctionTable::default(),
            connections: Connections::default(),
            model: FlatModel::default(),
            pending: Vec::new(),
            no_attributes: Arc::default(),
            endless: Vec::new(),
            owners: Vec::new(),
            model_instances: Vec::new(),
            cardinalities: None,
            graph: ConnectionGraph::default(),
            streams: Streams::default(),
            machines: StateMachines::default(),
            automatic: Vec::new(),
            sizing: Vec::new(),
            importing: FxHashMap::default(),
            imported: FxHashSet::default(),
            suggestions: MOST_SUGGESTIONS,
            wants_units: options.units,
            units: UnitNotes::default(),
            conversions: FxHashMap::default(),
            loop_counters: 0,
            moment: Moment::Start,
            looked: FxHashSet::default(),
            part: None,
        };
        flattener.add_predefined();
        flattener
    }

    /// Reports what has not been reported.
    pub(crate) fn report(&mut self, failure: Failure) {
        if let Failure::Report(diagnostic) = failure {
            let diagnostic = self.used_at(*diagnostic, self.part);
            self.diagnostics.push(diagnostic);
        }
    }

    /// What is wrong inside of a library is reported at the line of the model that uses it, and then where it is.
    pub(crate) fn used_at(&self, mut diagnostic: Diagnostic, part: Option<Span>) -> Diagnostic {
        let (Some(part), Some(place)) = (part, diagnostic.span()) else {
            return diagnostic;
        };
        let given = self.library.given();
        let is_given = |span: Span| given.iter().any(|class| class.file == span.file);
        if is_given(place) || !is_given(part) {
            return diagnostic;
        }
        let own = Label {
            span: part,
            message: "used here".to_owned(),
        };
        if let Some(place) = diagnostic.primary.replace(own) {
            diagnostic.secondary.insert(0, place);
        }
        diagnostic
    }

    /// The line of the model itself behind what has this path.
    pub(crate) fn set_part(&mut self, path: &str) {
        self.part = self.model.part_of(path);
    }

    /// Keeps the value, or reports why there is none.
    pub(crate) fn accept<T>(&mut self, result: Fallible<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(failure) => {
                self.report(failure);
                None
            }
        }
    }

    /// Does something with [`Self::moment`] set so.
    pub(crate) fn at_moment<T>(&mut self, moment: Moment, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.moment, moment);
        let result = work(self);
        self.moment = before;
        result
    }

    /// Whether to look for names that resemble an unknown one.
    pub(crate) fn may_suggest(&mut self) -> bool {
        self.suggestions = self.suggestions.saturating_sub(1);
        self.suggestions > 0
    }

    /// Counts the elements of the value of a constant, which stays.
    pub(crate) fn hold_constant(&mut self, elements: usize, span: Span) -> Fallible<()> {
        self.held.0 += elements;
        self.check_held(span)
    }

    /// Counts the elements of the value of a variable of a function, which stays until the function ends.
    pub(crate) fn hold_variable(&mut self, elements: usize, span: Span) -> Fallible<()> {
        self.held.1 += elements;
        self.check_held(span)
    }

    fn check_held(&self, span: Span) -> Fallible<()> {
        if self.held.0 + self.held.1 <= self.limits.held {
            return Ok(());
        }
        Err(error(
            codes::E0307,
            span,
            format!(
                "constants and variables of functions have more than {} elements together",
                self.limits.held
            ),
        )
        .with_note("they are computed before the simulation, and all of them are needed at once")
        .with_help("use smaller arrays, or fewer of them")
        .into())
    }

    /// Spends fuel. Who is asked to stop has none.
    pub(crate) fn spend(&mut self, amount: u64, span: Span) -> Fallible<()> {
        if self.cancel.is_cancelled() {
            return Err(Failure::Reported);
        }
        if self.functions.is_running() {
            self.function_fuel = match self.function_fuel.checked_sub(amount) {
                Some(left) => left,
                None => {
                    let limit = self.limits.function_fuel;
                    return Err(error(
                        codes::E0307,
                        span,
                        format!("evaluating functions takes more than {limit} steps"),
                    )
                    .with_note(
                        "sizes, constants and parameters that decide the structure are computed before the simulation",
                    )
                    .with_help("look for a loop or recursion that does not end")
                    .into());
                }
            };
        }
        match self.fuel.checked_sub(amount) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => {
                self.fuel = 0;
                fail(
                    codes::E0307,
                    span,
                    format!("evaluating the model takes more than {} steps", self.limits.fuel),
                )
            }
        }
    }

    /// Goes one level deeper; every success needs a [`Self::leave`].
    pub(crate) fn enter(&mut self, span: Span) -> Fallible<()> {
        if self.depth >= self.limits.depth {
            return fail(
                codes::E0307,
                span,
                format!("nested more than {} levels deep", self.limits.depth),
            );
        }
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn add_provenance(&mut self, span: Span, path: &Arc<str>, kind: ProvenanceKind) -> ProvenanceId {
        self.model.provenances.push(Provenance {
            span,
            path: Arc::clone(path),
            kind,
        })
    }
}
