//! From the flat model to the multi-mode DAE.
//!
//! One pass per topic: [`variables`] decides what is discrete, [`expr`] turns relations into conditions, [`equation`]
//! spreads if-equations over guards, `mdae::split` turns if-expressions whose branches differ in structure into guarded
//! equations, [`when`] reads when-clauses as assignments or restart equations, [`when_rules`] checks them as a whole,
//! [`algorithm`] executes algorithm sections symbolically, [`discrete`] finds which variable each discrete equation
//! defines, [`initial`] which previous value each initial equation gives, [`text`] decides comparisons between Strings,
//! [`loops`] makes functions of loops whose length varies, [`loop_slice`] finds what of them is discrete, [`assigned`] and [`unset`] guard
//! what functions read, [`semi_linear`]
//! joins chains of `semiLinear`, [`clocks`] finds which clock everything has, [`clocked`] what is computed at its ticks, [`reduction`] which states an explicit
//! method integrates there, [`warnings`] asks functions for their warnings.

mod algorithm;
mod assigned;
mod clocked;
pub mod clocks;
mod discrete;
mod entanglement;
mod equation;
mod expr;
mod function;
mod initial;
mod loop_slice;
mod loops;
mod reduction;
mod required;
mod semi_linear;
mod text;
mod unset;
mod variables;
mod warnings;
mod when;
mod when_rules;

use rustc_hash::FxHashMap;
use saltus_lang::flat::{FlatModel, ProvenanceId, ProvenanceKind, VariableId};
use saltus_mdae::{Derivative, Experiment, ExprId, IndexVec, Mdae, Origin, OriginId, OriginKind, VarId};
use saltus_source::{Diagnostic, Diagnostics, codes};

/// The result of lowering.
#[derive(Debug)]
pub struct Lowered {
    /// The model; `None` if the diagnostics have an error.
    pub model: Option<Mdae>,
    /// What is wrong, or worth knowing.
    pub diagnostics: Diagnostics,
}

/// Lowers a flat model.
pub fn lower(flat: &FlatModel) -> Lowered {
    let named = clocks::normalised(flat);
    let flat = named.as_ref().unwrap_or(flat);
    let chained = semi_linear::chained(flat).map(|equations| FlatModel {
        equations,
        ..flat.clone()
    });
    let mut lowering = Lowering::new(chained.as_ref().unwrap_or(flat));
    lowering.run();
    let Lowering { model, diagnostics, .. } = lowering;
    if diagnostics.has_errors() {
        return Lowered {
            model: None,
            diagnostics,
        };
    }
    debug_assert_eq!(model.validate(), Ok(()));
    Lowered {
        model: Some(model),
        diagnostics,
    }
}

/// What a flat variable became.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Meaning {
    /// A variable of the multi-mode DAE.
    Variable(VarId),
    /// A constant.
    Constant(ExprId),
    /// A String parameter or constant: its value takes its place.
    Text,
    /// A clock, which has no value.
    Clock,
}

struct Lowering<'f> {
    flat: &'f FlatModel,
    model: Mdae,
    meanings: IndexVec<VariableId, Meaning>,
    origins: FxHashMap<ProvenanceId, OriginId>,
    diagnostics: Diagnostics,
    /// Values substituted for variables while an algorithm section is executed symbolically.
    substitution: Option<FxHashMap<VarId, ExprId>>,
    /// Conditions by their zero-crossing function, so that equal relations are one condition.
    conditions: FxHashMap<(ExprId, bool), saltus_mdae::ConditionId>,
    /// The simplified expressions of `homotopy(actual, simplified)` by the actual ones.
    homotopies: FxHashMap<ExprId, ExprId>,
    /// Discrete equations whose target is not decided yet.
    discrete: Vec<discrete::Candidate>,
    /// Initial equations of discrete variables whose target is not decided yet.
    initial: Vec<discrete::Candidate>,
    /// Functions made here, which come behind those of the flat model.
    made: Vec<saltus_mdae::function::Function>,
    /// Those that work on texts.
    text_functions: Vec<(saltus_mdae::text::TextOperation, saltus_mdae::FunctionId)>,
    /// Units of other tools.
    foreign_units: Vec<std::sync::Arc<saltus_mdae::function::ForeignUnit>>,
    /// Outputs of functions that may have no value.
    unset_fields: unset::Fields,
    /// Discrete variables whose definition is no discrete value, which has been said.
    unclear: rustc_hash::FxHashSet<VarId>,
    /// String parameters defined by others that are being followed.
    text_depth: u32,
    /// Where each discrete variable is set by a when-equation.
    set_at_events: FxHashMap<VariableId, OriginId>,
    /// Where each state is reinitialised.
    reinitialised: FxHashMap<VariableId, OriginId>,
    /// Inside `noEvent`, or in a clocked equation.
    literal: bool,
    /// The clocked partitions, if there are any.
    clocking: Option<clocks::Clocking<'f>>,
    /// The part whose equations are being lowered.
    clock: Option<usize>,
    /// What has been lowered of the clocked partitions.
    clocked: clocked::ClockedParts,
    /// What is being lowered.
    place: Option<ProvenanceId>,
    /// Names of generated variables, with how many there are of each.
    generated: FxHashMap<String, u32>,
    /// The variables that stand for differentiated expressions.
    quantities: FxHashMap<saltus_mdae::ExprId, saltus_mdae::VarId>,
    /// The variables that hold `floor(x)`.
    floors: FxHashMap<saltus_mdae::ExprId, saltus_mdae::VarId>,
}

impl<'f> Lowering<'f> {
    fn new(flat: &'f FlatModel) -> Self {
        Lowering {
            flat,
            model: Mdae::new(&flat.name),
            meanings: IndexVec::new(),
            origins: FxHashMap::default(),
            diagnostics: Diagnostics::new(),
            substitution: None,
            homotopies: FxHashMap::default(),
            conditions: FxHashMap::default(),
            discrete: Vec::new(),
            initial: Vec::new(),
            made: Vec::new(),
            text_functions: Vec::new(),
            foreign_units: Vec::new(),
            unset_fields: unset::Fields::default(),
            unclear: rustc_hash::FxHashSet::default(),
            text_depth: 0,
            set_at_events: FxHashMap::default(),
            reinitialised: FxHashMap::default(),
            literal: false,
            clocking: None,
            clock: None,
            clocked: clocked::ClockedParts::default(),
            place: None,
            generated: FxHashMap::default(),
            quantities: FxHashMap::default(),
            floors: FxHashMap::default(),
        }
    }

    fn run(&mut self) {
        let experiment = self.flat.experiment;
        self.model.experiment = Experiment {
            start_time: experiment.start_time,
            stop_time: experiment.stop_time,
            tolerance: experiment.tolerance,
            interval: experiment.interval,
        };
        self.clocking = clocks::clocking(self.flat, &mut self.diagnostics);
        if self.diagnostics.has_errors() {
            return;
        }
        self.declare_variables();
        self.lower_functions();
        self.lower_attributes();
        self.open_parameters();
        let always = self.model.pool.boolean(true);
        match self.clocking.clone() {
            Some(clocking) => self.equations_beside_clocks(&clocking, always),
            None => {
                self.flat
                    .equations
                    .iter()
                    .for_each(|equation| self.equation(equation, always));
                self.flat.algorithms.iter().for_each(|section| self.algorithm(section));
            }
        }
        for equation in &self.flat.initial_equations {
            if self.may_hold_at_start(equation) {
                self.initial_equation(equation, always);
            }
        }
        for section in &self.flat.initial_algorithms {
            self.initial_algorithm(section);
        }
        let reporters = self.add_reporters();
        for function in std::mem::take(&mut self.made) {
            self.model.functions.push(function);
        }
        self.resolve_discrete();
        self.resolve_initial();
        self.find_blank_parameters();
        self.ask_for_warnings(&reporters);
        self.check_left_limits();
        self.simplify_homotopies();
        self.model.continue_roots();
        self.model
            .functions
            .iter_mut()
            .for_each(saltus_mdae::function::Function::unroll_loops);
        self.model.split_structural_ifs();
    }

    /// The equations that hold at all times, then those of the clocks.
    fn equations_beside_clocks(&mut self, clocking: &clocks::Clocking<'f>, always: ExprId) {
        let unclocked = |clocked: &clocks::Clocked| *clocked == clocks::Clocked::No;
        let flat = self.flat;
        for (equation, clocked) in flat.equations.iter().zip(&clocking.equations) {
            if unclocked(clocked) {
                self.equation(equation, always);
            }
        }
        for (section, clocked) in flat.algorithms.iter().zip(&clocking.algorithms) {
            if unclocked(clocked) {
                self.algorithm(section);
            }
        }
        self.lower_clocked();
    }

    /// Left limits of continuous variables mean something at events only.
    fn check_left_limits(&mut self) {
        let mut found = Vec::new();
        for equation in self.model.equations.iter() {
            let left = self.model.pool.left_limit_occurrences(equation.residual);
            let continuous = left
                .into_iter()
                .find(|&Derivative { var, .. }| self.model.is_unknown(var));
            found.extend(continuous.map(|Derivative { var, .. }| (var, equation.origin)));
        }
        for (var, origin) in found {
            let (span, name) = (self.span_of(origin), self.model.variables[var].name.clone());
            self.report(
                Diagnostic::error(
                    codes::E0523,
                    span,
                    format!("`pre({name})` in an equation that holds between events"),
                )
                .with_note(format!("`{name}` varies continuously: there is no value before"))
                .with_help(format!(
                    "use `{name}` itself, or a discrete variable that a `when` sets"
                )),
            );
        }
    }

    fn origin(&mut self, provenance: ProvenanceId) -> OriginId {
        self.place = Some(provenance);
        if let Some(&known) = self.origins.get(&provenance) {
            return known;
        }
        let from = &self.flat.provenances[provenance];
        let kind = match from.kind {
            ProvenanceKind::Equation | ProvenanceKind::Statement => OriginKind::Equation,
            ProvenanceKind::Binding => OriginKind::Binding,
            ProvenanceKind::Connection | ProvenanceKind::UnconnectedFlow => OriginKind::Connection,
            ProvenanceKind::Declaration | ProvenanceKind::Function => OriginKind::Declaration,
        };
        let origin = Origin {
            kind,
            span: Some(from.span),
            part: self.flat.part_of(&from.path),
            component: from.path.clone(),
            label: "".into(),
        };
        let id = self.model.add_origin(origin);
        self.origins.insert(provenance, id);
        id
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn span_of(&self, origin: OriginId) -> saltus_source::Span {
        self.model.origins[origin]
            .span
            .unwrap_or(saltus_source::Span::new(saltus_source::FileId(0), 0, 0))
    }
}
