//! One mode change, in the user's words.

use saltus_instant::discrete::equations_less;
use saltus_instant::observe;
use saltus_mdae::print::{Names, UserNames};
use saltus_mdae::{ConditionId, ConditionKind, Derivative, ExprId, ExprPool, Mdae, Role, VarId};
use saltus_structure::mode::ModeStructure;
use saltus_structure::restart::{
    ArrayLabel, Before, EquationSource, FactRecord, LimitMethod, ModeChange, ModeEquation, ModeSystem, Observation,
    RestartAnalysis, RestartOptions, RestartVerdict, Scope, StructuralFacts, analyze_restart, explain_observed,
    restart_system,
};

use crate::RestartReport;
use crate::array_report::array_report;
use crate::discrete_state::{DiscreteState, Instant, Known};
use crate::mode_report::residual_text;
use crate::trigger::Trigger;

/// What a change of mode is about.
pub(crate) struct Question<'a> {
    pub names: &'a UserNames<'a>,
    /// The states of the mode before.
    pub states: &'a [Derivative],
    pub before: &'a ModeStructure,
    /// The long mode entered.
    pub after: &'a ModeStructure,
    /// The mode in between, if it lasts for the instant only.
    pub transient: Option<Vec<ModeEquation>>,
    pub restart_equations: &'a [ModeEquation],
    pub trigger: Trigger,
    pub old: &'a DiscreteState,
    pub new: &'a DiscreteState,
    /// A height to use in place of the one that is found.
    pub height: Option<u16>,
}

impl Question<'_> {
    /// Analyses the restart from structure alone.
    pub(crate) fn answer(&self, pool: &mut ExprPool) -> Option<RestartReport> {
        let model = self.names.model();
        let is_unknown = |var: VarId| model.variables.get(var).is_some_and(|v| v.role == Role::Continuous);
        let before = ModeSystem::new(pool, equations(model, self.before), is_unknown).ok()?;
        let after = ModeSystem::new(pool, equations(model, self.after), is_unknown).ok()?;
        let zero_crossings = self.zero_crossings();
        let (switched, jumped) = (self.switched(), self.jumped());
        let options = RestartOptions {
            scope: Scope::Touched,
            forced_height: self.height,
            remembered: self
                .before
                .dead
                .iter()
                .copied()
                .filter(|v| self.after.d_of(*v).is_some())
                .collect(),
            past_by_invariants: true,
        };
        let change = ModeChange {
            before: Before::Mode(&before),
            new: &after,
            zero_crossings: &zero_crossings,
            restart_equations: self.restart_equations,
            transient: self.transient.as_deref(),
            jumped: &jumped,
            switched: &switched,
            is_unknown: &is_unknown,
            examined: None,
            options: &options,
        };
        let known = Known {
            model,
            before: self.old,
            now: self.new,
        };
        let mut facts = StructuralFacts::new(&model.functions, &known);
        let analysis = analyze_restart(pool, &model.functions, &known, change, &mut facts);
        let instant = Instant {
            now: self.new,
            before: self.old,
            initial: false,
        };
        let observed = observe(pool, &model.functions, &known, &change, &analysis, &instant);
        let mut report = report(self.names, pool, &change, &analysis, observed.as_ref());
        if report.accepted {
            self.report_released_states(&mut report);
        }
        Some(report)
    }

    /// States of the mode before that an equation gives from now on: nothing keeps their values.
    fn report_released_states(&self, report: &mut RestartReport) {
        let orders = |var: VarId| self.after.d_of(var);
        let (dead, given): (Vec<_>, Vec<_>) = self
            .states
            .iter()
            .filter(|&&Derivative { var, order }| orders(var).is_none_or(|d| d <= order))
            .partition(|&&Derivative { var, .. }| orders(var).is_none());
        let names = |states: &[&Derivative]| {
            let names = states
                .iter()
                .map(|Derivative { var, order }| self.names.derivative(*var, *order));
            names.collect::<Vec<String>>()
        };
        let quoted = |names: &[String]| {
            names
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let given = names(&given);
        if !given.is_empty() {
            let kept = "all states keep their values";
            let is = if given.len() == 1 {
                "is no state any more: its value is"
            } else {
                "are no states any more: their values are"
            };
            let released = format!(
                "{} {is} what the equations say from now on, and may jump",
                quoted(&given)
            );
            report.summary = match report.summary.strip_prefix(kept) {
                Some(rest) => format!("{released}{rest}"),
                None => format!("{}; {released}", report.summary),
            };
            report.jumps.extend(given);
        }
        let dead = names(&dead);
        if !dead.is_empty() {
            report
                .details
                .push(format!("no equation holds {} from now on", quoted(&dead)));
        }
    }

    fn zero_crossings(&self) -> Vec<ExprId> {
        let Trigger::Condition(condition) = self.trigger else {
            return Vec::new();
        };
        match self.names.model().conditions[condition].kind {
            ConditionKind::Relation { function, .. } => vec![function],
            ConditionKind::Sample { .. } | ConditionKind::Tick { .. } | ConditionKind::Timer { .. } => Vec::new(),
        }
    }

    /// Conditions inside differentiated equations that change, with their value before.
    fn switched(&self) -> Vec<(ConditionId, bool)> {
        let jumps = || self.before.jumps.iter().chain(&self.after.jumps);
        let mut found: Vec<ConditionId> = jumps().flat_map(|jump| jump.conditions.iter().copied()).collect();
        found.sort_unstable();
        found.dedup();
        let changed = |id: &ConditionId| self.old.truths[*id] != self.new.truths[*id];
        let changed = found.into_iter().filter(changed);
        changed.map(|id| (id, self.old.truths[id])).collect()
    }

    fn jumped(&self) -> Vec<VarId> {
        let jumps = || self.before.jumps.iter().chain(&self.after.jumps);
        let mut found: Vec<VarId> = jumps().flat_map(|jump| jump.discrete.iter().copied()).collect();
        found.sort_unstable();
        found.dedup();
        let value = |discrete_state: &DiscreteState, var: &VarId| discrete_state.values[var.0 as usize];
        found.retain(|var| value(self.old, var).to_bits() != value(self.new, var).to_bits());
        found
    }
}

/// The active equations of a mode.
pub(crate) fn equations(model: &Mdae, structure: &ModeStructure) -> Vec<ModeEquation> {
    equations_less(model, structure.equations.iter().copied(), None, &[])
}

fn report(
    names: &UserNames,
    pool: &ExprPool,
    change: &ModeChange,
    analysis: &RestartAnalysis,
    observed: Option<&Observation>,
) -> RestartReport {
    let model = names.model();
    let words = explain_observed(model, pool, change, analysis, observed);
    let label = |label: &ArrayLabel| label_text(names, pool, change, *label);
    let by_structure = analysis.plan.iter().flat_map(|plan| {
        plan.impulses.iter().map(|&position| {
            let unknown = plan.unknowns[position];
            (unknown.variable.var, unknown.variable.order, unknown.mu)
        })
    });
    let projected = observed.is_some_and(|observed| observed.method == LimitMethod::Projector);
    let impulses: Vec<(VarId, u16, u32)> = match observed {
        Some(observed) if projected => observed.impulses.clone(),
        Some(observed) => by_structure
            .filter(|impulse| observed.impulses.contains(impulse))
            .collect(),
        None => by_structure.collect(),
    };
    let named = impulses.into_iter().filter_map(|(var, order, mu)| {
        let name = names.variable_of(var, order)?;
        Some((name.to_owned(), mu))
    });
    let mut impulses: Vec<(String, u32)> = named.collect();
    impulses.sort();
    impulses.dedup();
    let jumps = observed.map_or(&[][..], |observed| &observed.jumps);
    let disabled = analysis
        .past_only
        .iter()
        .chain(&analysis.past_determined)
        .chain(&analysis.lossy)
        .chain(
            analysis
                .class_redundant
                .iter()
                .filter(|label| is_left_out(analysis, label)),
        );
    let mut disabled: Vec<ArrayLabel> = disabled.copied().collect();
    disabled.sort_unstable();
    let mut disabled: Vec<String> = disabled.iter().map(label).collect();
    disabled.dedup();
    let undetermined = analysis.diagnosis.iter().flat_map(|diagnosis| &diagnosis.undetermined);
    let mut facts: Vec<String> = analysis.facts.iter().map(|fact| label(&fact.label)).collect();
    facts.dedup();
    RestartReport {
        accepted: analysis.is_good() || projected,
        verdict: verdict_text(analysis.verdict).to_owned(),
        method: if projected {
            "projector".to_owned()
        } else {
            "structure".to_owned()
        },
        jumps: jumps
            .iter()
            .map(|&Derivative { var, order }| names.derivative(var, order))
            .collect(),
        summary: words.summary,
        details: words.details,
        help: words.help,
        places: words
            .equations
            .iter()
            .filter_map(|&id| model.origins.get(id)?.span)
            .collect(),
        height: analysis
            .components
            .iter()
            .map(|component| component.height)
            .max()
            .unwrap_or(0),
        impulses,
        facts,
        disabled,
        system: if analysis.is_good() && !projected {
            restart_system(model, pool, analysis)
        } else {
            Vec::new()
        },
        undetermined: undetermined
            .map(|&Derivative { var, order }| names.derivative(var, order))
            .collect(),
        array: array_report(names, pool, change, analysis),
    }
}

/// Whether an equation that another one of its class stands for is one of the new mode alone, and no fact: the papers
/// count it among those that are disabled at the instant.
fn is_left_out(analysis: &RestartAnalysis, label: &ArrayLabel) -> bool {
    let fact = |fact: &FactRecord| (fact.label.source, fact.label.order) == (label.source, label.order);
    match label.source {
        EquationSource::Mode(row) => !analysis.invariants.contains(&row) && !analysis.facts.iter().any(fact),
        _ => false,
    }
}

fn verdict_text(verdict: RestartVerdict) -> &'static str {
    match verdict {
        RestartVerdict::Good => "good",
        RestartVerdict::Overdetermined => "overdetermined",
        RestartVerdict::Underdetermined => "underdetermined",
        RestartVerdict::Unscalable => "unscalable",
        RestartVerdict::NotGood => "not good",
        RestartVerdict::Lossy => "lossy",
    }
}

/// The equation that an equation of the array is an instance of.
pub(crate) fn source_text(names: &UserNames, pool: &ExprPool, change: &ModeChange, source: EquationSource) -> String {
    let residual = match source {
        EquationSource::Mode(row) => change.new.equation(row).residual,
        EquationSource::Transient(position) => change.transient.unwrap_or_default()[position as usize].residual,
        EquationSource::Restart(position) => change.restart_equations[position as usize].residual,
    };
    residual_text(names, pool, residual)
}

fn label_text(names: &UserNames, pool: &ExprPool, change: &ModeChange, label: ArrayLabel) -> String {
    let text = source_text(names, pool, change, label.source);
    match label.order {
        0 => text,
        1 => format!("{text} (differentiated)"),
        times => format!("{text} (differentiated {times} times)"),
    }
}
