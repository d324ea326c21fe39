//! What a mode change does, or why it is refused, in the model's own names.

use std::collections::BTreeMap;

use saltus_mdae::print::{Names, UserNames, balanced_equation, equation};
use saltus_mdae::{BinaryFunction, Derivative, ExprId, ExprPool, Mdae, Node, OriginId, VarId};

use super::analysis::{RestartAnalysis, RestartVerdict};
use super::array::{ArrayLabel, ArrayVariable, EquationSource, Part};
use super::change::ModeChange;
use super::concrete::ConcreteEquation;
use super::entail::Entailment;
use super::facts::FactReason;
use super::knowledge::KnownSource;
use super::observation::{LimitMethod, Observation};
use super::plan::{RestartPlan, RightLimitSource};

/// A mode change in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// One sentence: what happens, or why not.
    pub summary: String,
    /// What it rests on.
    pub details: Vec<String>,
    /// What could be done about a refusal.
    pub help: Vec<String>,
    /// The equations involved in a refusal.
    pub equations: Vec<OriginId>,
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.summary)?;
        for detail in &self.details {
            writeln!(f, "  {detail}")?;
        }
        for help in &self.help {
            writeln!(f, "  help: {help}")?;
        }
        Ok(())
    }
}

/// Explains an analysis. The pool is the one it was made with (it extends the model's).
pub fn explain(model: &Mdae, pool: &ExprPool, change: &ModeChange, analysis: &RestartAnalysis) -> Explanation {
    explain_observed(model, pool, change, analysis, None)
}

/// Explains an analysis together with what was seen when the restart was tried.
pub fn explain_observed(
    model: &Mdae,
    pool: &ExprPool,
    change: &ModeChange,
    analysis: &RestartAnalysis,
    observed: Option<&Observation>,
) -> Explanation {
    let names = UserNames::new(model);
    let words = Words {
        names,
        pool,
        change,
        observed,
    };
    let projected = observed.is_some_and(|observed| observed.method == LimitMethod::Projector);
    let mut explanation = match analysis.verdict {
        _ if projected => words.projected(analysis),
        RestartVerdict::Good => words.good(analysis),
        RestartVerdict::Overdetermined => words.overdetermined(analysis),
        RestartVerdict::Underdetermined => words.underdetermined(analysis),
        RestartVerdict::NotGood if analysis.violations.nonlinear.is_empty() => words.depends_on_approach(analysis),
        RestartVerdict::NotGood => words.nonlinear(analysis),
        RestartVerdict::Unscalable => words.unscalable(),
        RestartVerdict::Lossy => words.lossy(analysis),
    };
    explanation.details.extend(words.facts(analysis));
    explanation.details.extend(words.kept(analysis));
    explanation.details.extend(words.observers(analysis));
    explanation.details.extend(words.dropped(analysis));
    explanation
}

/// The restart system as text, one equation per line: `pre(x)` left limits, `x^+` right limits, `imp(x)` impulses, `x@k`
/// values at the k-th instant of the change. Equations that say nothing about right limits and impulses are left out.
pub fn restart_system(model: &Mdae, pool: &ExprPool, analysis: &RestartAnalysis) -> Vec<String> {
    let Some(plan) = &analysis.plan else { return Vec::new() };
    let names = PlanNames::new(model, pool, plan);
    let line = |position: &usize| {
        let residual = plan.equations[*position].residual;
        match plan.equations[*position].equation {
            ConcreteEquation::Euler(variable) => names.euler(plan, variable),
            ConcreteEquation::Array(_) => None,
        }
        .unwrap_or_else(|| balanced_equation(pool, &names, residual))
    };
    telling_equations(pool, plan).iter().map(line).collect()
}

/// Equations that hold right limits or impulses, those that determine further unknowns in them, and so on.
fn telling_equations(pool: &ExprPool, plan: &RestartPlan) -> Vec<usize> {
    let partner: BTreeMap<usize, usize> = plan.blocks.iter().flatten().map(|&(e, u)| (u, e)).collect();
    let position: BTreeMap<VarId, usize> = plan.unknowns.iter().enumerate().map(|(i, u)| (u.symbol, i)).collect();
    let limits = limit_positions(plan);
    let mut chosen = vec![false; plan.equations.len()];
    let wanted = |unknown: &usize| plan.unknowns[*unknown].mu > 0 || limits.contains(unknown);
    let mut pending: Vec<usize> = (0..plan.unknowns.len()).filter(wanted).collect();
    while let Some(unknown) = pending.pop() {
        let Some(&equation) = partner.get(&unknown) else {
            continue;
        };
        if std::mem::replace(&mut chosen[equation], true) {
            continue;
        }
        let occurring = plan.equations[equation].occurrences(pool).into_iter();
        pending.extend(occurring.filter_map(|Derivative { var, .. }| position.get(&var).copied()));
    }
    (0..chosen.len()).filter(|&equation| chosen[equation]).collect()
}

/// The unknowns that are right limits.
fn limit_positions(plan: &RestartPlan) -> Vec<usize> {
    let limits = plan.right_limits.iter();
    limits
        .filter_map(|limit| match limit.source {
            RightLimitSource::Unknown(unknown) => Some(unknown),
            RightLimitSource::LeftLimit => None,
        })
        .collect()
}

/// Variables of the model and symbols of a plan.
struct PlanNames<'a> {
    model: UserNames<'a>,
    symbols: BTreeMap<VarId, String>,
}

impl<'a> PlanNames<'a> {
    fn new(model: &'a Mdae, pool: &ExprPool, plan: &RestartPlan) -> Self {
        let names = UserNames::new(model);
        let limits = limit_positions(plan);
        let symbols = plan.unknowns.iter().enumerate().map(|(position, unknown)| {
            let ArrayVariable { var, order, instant } = unknown.variable;
            let name = names.derivative(var, order);
            let text = match (unknown.mu, limits.contains(&position)) {
                (0, true) => format!("{name}^+"),
                (0, false) => format!("{name}@{instant}"),
                (1, _) if instant == 0 => format!("imp({name})"),
                (mu, _) => format!("imp{mu}({name}@{instant})"),
            };
            (unknown.symbol, text)
        });
        let means = plan.equations.iter().flat_map(|equation| &equation.averages);
        let means = means.map(|mean| {
            let coefficient = saltus_mdae::print::expression(pool, &names, mean.coefficient);
            (mean.symbol, format!("mean({coefficient})"))
        });
        PlanNames {
            symbols: symbols.chain(means).collect(),
            model: names,
        }
    }

    /// `x^+ = pre(x) + imp(der(x))`
    fn euler(&self, plan: &RestartPlan, at: ArrayVariable) -> Option<String> {
        let symbol = |order: u16, instant: u16| {
            let variable = ArrayVariable {
                var: at.var,
                order,
                instant,
            };
            let position = plan.unknowns.binary_search_by_key(&variable, |u| u.variable).ok()?;
            Some(plan.unknowns[position])
        };
        let below = at.order.checked_sub(1)?;
        let text = |order: u16, instant: u16, mu: u32| match symbol(order, instant) {
            Some(unknown) => (unknown.mu == mu).then(|| self.symbols[&unknown.symbol].clone()),
            // A left limit is finite.
            None => (mu == 0).then(|| format!("pre({})", self.model.derivative(at.var, order))),
        };
        let order = symbol(below, at.instant + 1).map_or(0, |unknown| unknown.mu);
        let after = text(below, at.instant + 1, order)?;
        let parts = [text(below, at.instant, order), text(at.order, at.instant, order + 1)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{after} = {}", parts.join(" + ")))
    }
}

impl Names for PlanNames<'_> {
    fn variable(&self, var: VarId) -> &str {
        match self.symbols.get(&var) {
            Some(name) => name,
            None => self.model.variable(var),
        }
    }
    fn derivative(&self, var: VarId, order: u16) -> String {
        match self.symbols.get(&var) {
            Some(name) => name.clone(),
            None => self.model.derivative(var, order),
        }
    }
    fn condition(&self, condition: saltus_mdae::ConditionId) -> &str {
        self.model.condition(condition)
    }
    fn function(&self, function: saltus_mdae::FunctionId) -> &str {
        self.model.function(function)
    }
}

/// `a`, `b` and `c`
fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn plural<'a>(items: &[String], one: &'a str, many: &'a str) -> &'a str {
    if items.len() == 1 { one } else { many }
}

struct Words<'a> {
    names: UserNames<'a>,
    pool: &'a ExprPool,
    change: &'a ModeChange<'a>,
    observed: Option<&'a Observation>,
}

impl Words<'_> {
    fn state(&self, var: VarId, order: u16) -> String {
        format!("`{}`", self.names.derivative(var, order))
    }
    fn states(&self, states: &[Derivative]) -> Vec<String> {
        states
            .iter()
            .map(|&Derivative { var, order }| self.state(var, order))
            .collect()
    }
    fn origin(&self, label: ArrayLabel) -> OriginId {
        match label.source {
            EquationSource::Mode(row) => self.change.new.equation(row).origin,
            EquationSource::Transient(position) => self.change.transient.unwrap_or_default()[position as usize].origin,
            EquationSource::Restart(position) => self.change.restart_equations[position as usize].origin,
        }
    }
    fn residual(&self, label: ArrayLabel) -> ExprId {
        match label.source {
            EquationSource::Mode(row) => self.change.new.equation(row).residual,
            EquationSource::Transient(position) => {
                self.change.transient.unwrap_or_default()[position as usize].residual
            }
            EquationSource::Restart(position) => self.change.restart_equations[position as usize].residual,
        }
    }
    /// The equation as text, with how often it is differentiated.
    fn equation(&self, label: ArrayLabel) -> String {
        let text = format!("`{}`", self.equation_text(self.residual(label)));
        match label.order {
            0 => text,
            1 => format!("{text} (differentiated)"),
            times => format!("{text} (differentiated {times} times)"),
        }
    }
    fn equation_text(&self, residual: ExprId) -> String {
        equation(self.pool, &self.names, residual)
    }
    fn origins(&self, labels: &[ArrayLabel]) -> Vec<OriginId> {
        let mut origins: Vec<OriginId> = labels.iter().map(|&label| self.origin(label)).collect();
        origins.sort_unstable();
        origins.dedup();
        origins
    }

    fn good(&self, analysis: &RestartAnalysis) -> Explanation {
        let Some(plan) = &analysis.plan else {
            return Explanation::default();
        };
        let seen = |state: &Derivative| self.observed.is_none_or(|observed| observed.jumps.contains(state));
        let jumping: Vec<Derivative> = plan
            .right_limits
            .iter()
            .filter(|limit| matches!(limit.source, RightLimitSource::Unknown(_)))
            .map(|limit| Derivative::new(limit.var, limit.order))
            .filter(seen)
            .collect();
        let impulses = plan.impulses.iter().map(|&position| {
            let unknown = plan.unknowns[position];
            (unknown.variable.var, unknown.variable.order, unknown.mu)
        });
        let seen = |&(var, order, _): &(VarId, u16, u32)| {
            let of_it = |&(v, o, _): &(VarId, u16, u32)| (v, o) == (var, order);
            self.observed.is_none_or(|observed| observed.impulses.iter().any(of_it))
        };
        let impulses: Vec<(VarId, u16, u32)> = impulses.filter(seen).collect();
        let constraints = analysis.candidates.iter().enumerate().filter(|(position, candidate)| {
            let enabled = analysis.enabled.iter().any(|(i, _)| i == position);
            let fact = analysis.facts.iter().any(|fact| fact.expression == candidate.residual);
            enabled && !fact && matches!(candidate.part, Part::Tail | Part::Restart)
        });
        let details = constraints.map(|(_, candidate)| match candidate.part {
            Part::Restart => format!("restart equation {}", self.equation(candidate.label)),
            _ => format!("{} must hold from now on", self.equation(candidate.label)),
        });
        Explanation {
            summary: self.what_happens(analysis, &jumping, &impulses),
            details: details.collect(),
            ..Explanation::default()
        }
    }

    /// Right limits by the consistency projector.
    fn projected(&self, analysis: &RestartAnalysis) -> Explanation {
        let Some(observed) = self.observed else {
            return Explanation::default();
        };
        let open = analysis.diagnosis.iter().flat_map(|diagnosis| &diagnosis.undetermined);
        let open = self.states(&open.copied().collect::<Vec<_>>());
        let why = if open.is_empty() {
            "the equations of the change depend on each other".to_owned()
        } else {
            format!("structure alone does not determine {}", list(&open))
        };
        Explanation {
            summary: self.what_happens(analysis, &observed.jumps, &observed.impulses),
            details: vec![format!(
                "{why}; the mode is linear, so a run takes its values from the consistency projector"
            )],
            ..Explanation::default()
        }
    }

    /// `a` and `b` jump to a common value; `c` may jump; `f` is impulsive (order 1)
    fn what_happens(
        &self,
        analysis: &RestartAnalysis,
        jumping: &[Derivative],
        impulses: &[(VarId, u16, u32)],
    ) -> String {
        let mut parts = Vec::new();
        let groups = self.common_values(analysis, jumping);
        for group in &groups {
            parts.push(format!("{} jump to a common value", list(&self.states(group))));
        }
        let grouped = |state: &Derivative| groups.iter().any(|group| group.contains(state));
        let others: Vec<Derivative> = jumping.iter().copied().filter(|state| !grouped(state)).collect();
        if !others.is_empty() {
            let names = self.states(&others);
            parts.push(format!("{} may jump", list(&names)));
        }
        parts.extend(self.impulses(impulses));
        if parts.is_empty() {
            "all states keep their values".to_owned()
        } else {
            parts.join("; ")
        }
    }

    /// Variables of the text that are impulsive. A derivative without a name is reported by the jump of its variable.
    fn impulses(&self, impulses: &[(VarId, u16, u32)]) -> Vec<String> {
        let mut by_variable: BTreeMap<Derivative, u32> = BTreeMap::new();
        for &(var, order, mu) in impulses {
            let known = by_variable.entry(Derivative { var, order }).or_insert(0);
            *known = (*known).max(mu);
        }
        let mut by_order: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (Derivative { var, order }, mu) in by_variable {
            let name = self.names.variable_of(var, order).map(|name| format!("`{name}`"));
            by_order.entry(mu).or_default().extend(name);
        }
        by_order.retain(|_, names| !names.is_empty());
        by_order
            .into_iter()
            .map(|(mu, names)| {
                format!(
                    "{} {} impulsive (order {mu})",
                    list(&names),
                    plural(&names, "is", "are")
                )
            })
            .collect()
    }

    /// Groups of jumping states that equations `x = y` of the tail tie together.
    fn common_values(&self, analysis: &RestartAnalysis, jumping: &[Derivative]) -> Vec<Vec<Derivative>> {
        let mut groups: Vec<Vec<Derivative>> = Vec::new();
        for candidate in analysis
            .candidates
            .iter()
            .filter(|candidate| candidate.part == Part::Tail)
        {
            let Node::Binary(BinaryFunction::Sub, a, b) = self.pool.node(candidate.residual) else {
                continue;
            };
            let (Node::Var { var: x, order: m }, Node::Var { var: y, order: n }) =
                (self.pool.node(a), self.pool.node(b))
            else {
                continue;
            };
            let pair = [Derivative { var: x, order: m }, Derivative { var: y, order: n }];
            if !pair.iter().all(|state| jumping.contains(state)) {
                continue;
            }
            let (joined, apart): (Vec<_>, Vec<_>) = groups
                .into_iter()
                .partition(|group: &Vec<_>| pair.iter().any(|state| group.contains(state)));
            let mut group: Vec<Derivative> = joined.into_iter().flatten().chain(pair).collect();
            group.sort_unstable();
            group.dedup();
            groups = apart;
            groups.push(group);
        }
        groups.sort_unstable();
        groups
    }

    fn overdetermined(&self, analysis: &RestartAnalysis) -> Explanation {
        let labels = if analysis.conflict.is_empty() {
            &analysis.over
        } else {
            &analysis.conflict
        };
        let mut conflict: Vec<String> = labels.iter().map(|&label| self.equation(label)).collect();
        // The same equation at several instants.
        let mut reported: Vec<String> = Vec::new();
        conflict.retain(|text| {
            !reported.contains(text) && {
                reported.push(text.clone());
                true
            }
        });
        let conflict = list(&conflict);
        let summary = if analysis.conflict.is_empty() {
            format!("{conflict} cannot hold: the values before the change contradict it")
        } else {
            format!("the mode change is overdetermined: {conflict} contradict each other")
        };
        Explanation {
            summary,
            details: Vec::new(),
            help: vec![self.way_out(labels)],
            equations: self.origins(labels),
        }
    }

    /// What to do about equations that contradict each other.
    fn way_out(&self, labels: &[ArrayLabel]) -> String {
        let is_restart = |label: &&ArrayLabel| matches!(label.source, EquationSource::Restart(_));
        let restart: Vec<ExprId> = labels
            .iter()
            .filter(is_restart)
            .map(|&label| self.residual(label))
            .collect();
        let algebraic = restart.iter().find_map(|&residual| {
            let set = self.pool.occurrences(residual).into_iter();
            let set: Vec<Derivative> = set
                .filter(|&Derivative { var, .. }| (self.change.is_unknown)(var))
                .collect();
            let given =
                |&Derivative { var, order }: &Derivative| self.change.new.offset_of(var).is_some_and(|d| d <= order);
            (!set.is_empty() && set.iter().all(given)).then_some(set)
        });
        match (algebraic, restart.len()) {
            (Some(set), _) => format!(
                "{} {} no state in the mode entered: its equations give the value at once. Set a state instead, or \
                 change the equation that gives it",
                list(&self.states(&set)),
                if set.len() == 1 { "is" } else { "are" }
            ),
            (None, 0) => {
                "remove one of these equations, or change the condition so that it is satisfied when the mode \
                          is entered"
                    .to_owned()
            }
            (None, 1) => "leave out the restart equation, or let it act in a transient mode (a mode of zero duration \
                          in which one of the other equations does not hold)"
                .to_owned(),
            (None, _) => "leave out one of the restart equations: each impulse that is free takes one".to_owned(),
        }
    }

    fn underdetermined(&self, analysis: &RestartAnalysis) -> Explanation {
        let open = analysis
            .diagnosis
            .as_ref()
            .map(|d| self.states(&d.undetermined))
            .unwrap_or_default();
        let summary = if open.is_empty() {
            "the mode change is underdetermined".to_owned()
        } else {
            format!("nothing determines {} after the mode change", list(&open))
        };
        Explanation {
            summary,
            help: vec![format!(
                "add {} that relate{} values after the change to `pre(…)` values before it",
                plural(
                    &open,
                    "a restart equation (an equation in a `when`)",
                    "restart equations (equations in a `when`)"
                ),
                plural(&open, "s", "")
            )],
            ..Explanation::default()
        }
    }

    fn nonlinear(&self, analysis: &RestartAnalysis) -> Explanation {
        let mut details = Vec::new();
        let mut equations = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (equation, variables) in &analysis.violations.nonlinear {
            let ConcreteEquation::Array(label) = *equation else {
                continue;
            };
            let name = |v: &ArrayVariable| match self.names.variable_of(v.var, v.order) {
                Some(name) => format!("`{name}`"),
                None => self.state(v.var, v.order),
            };
            let impulsive: Vec<String> = variables.iter().map(name).collect();
            details.push(format!(
                "{} holds {} nonlinearly",
                self.equation(label),
                list(&impulsive)
            ));
            equations.push(label);
            names.extend(impulsive);
        }
        names.sort_unstable();
        names.dedup();
        Explanation {
            summary: format!(
                "{} {} impulsive at this mode change but enter{} equations nonlinearly: the jump has no definite size",
                list(&names),
                plural(&names, "is", "are"),
                plural(&names, "s", "")
            ),
            details,
            help: vec![
                "make the equations linear in the impulsive variables, or add compliance between the parts \
                        so that nothing jumps"
                    .to_owned(),
            ],
            equations: self.origins(&equations),
        }
    }

    fn depends_on_approach(&self, analysis: &RestartAnalysis) -> Explanation {
        let (mut open, mut known) = (Vec::new(), Vec::new());
        if let Some(diagnosis) = &analysis.diagnosis {
            open = self.states(&diagnosis.undetermined);
            known = self.states(&diagnosis.determined);
        }
        if open.is_empty() {
            let violators = analysis.violations.tail.iter().chain(&analysis.violations.outside);
            open = violators.map(|v| self.state(v.var, v.order)).collect();
            open.dedup();
        }
        let broken: Vec<String> = analysis
            .past_only
            .iter()
            .filter(|label| label.order == 0)
            .map(|&label| self.equation(label))
            .collect();
        let mut details = Vec::new();
        if !broken.is_empty() {
            details.push(format!("{} need not hold before the change", list(&broken)));
        }
        if !known.is_empty() {
            details.push(format!("determined: {}", list(&known)));
        }
        Explanation {
            summary: format!(
                "the {} of {} after the mode change depend{} on how the change is approached",
                plural(&open, "value", "values"),
                list(&open),
                plural(&open, "s", "")
            ),
            details,
            help: vec![
                "switch the constraint on when it is satisfied (a condition on the constraint itself), or let it \
                        give (a stiff spring in its place)"
                    .to_owned(),
            ],
            equations: self.origins(&analysis.past_only),
        }
    }

    fn unscalable(&self) -> Explanation {
        Explanation {
            summary: "impulses at this mode change would have unbounded order".to_owned(),
            help: vec!["equations multiply impulsive variables with each other; make them linear in these".to_owned()],
            ..Explanation::default()
        }
    }

    fn lossy(&self, analysis: &RestartAnalysis) -> Explanation {
        let reported =
            |labels: &[ArrayLabel]| -> Vec<String> { labels.iter().map(|&label| self.equation(label)).collect() };
        let conflict = analysis.conflict.iter().copied();
        let others: Vec<ArrayLabel> = conflict.filter(|label| !analysis.lossy.contains(label)).collect();
        let restart = others
            .iter()
            .any(|label| matches!(label.source, EquationSource::Restart(_)));
        let summary = format!(
            "{} cannot hold at the instant of the change, and the values before it do not make up for that",
            list(&reported(&analysis.lossy))
        );
        let help = if restart {
            "leave out a restart equation, or let it act in a transient mode (a mode of zero duration in which one of the \
                 other equations does not hold)"
        } else {
            "add restart equations that say what the change conserves"
        };
        Explanation {
            summary,
            details: if others.is_empty() {
                Vec::new()
            } else {
                vec![format!("no room is left for it by {}", list(&reported(&others)))]
            },
            help: vec![help.to_owned()],
            equations: self.origins(&analysis.conflict),
        }
    }

    fn facts(&self, analysis: &RestartAnalysis) -> Vec<String> {
        let mut reported: Vec<ExprId> = Vec::new();
        let mut lines = Vec::new();
        for fact in &analysis.facts {
            if reported.contains(&fact.expression) {
                continue;
            }
            reported.push(fact.expression);
            let why = match &fact.reason {
                FactReason::Holds { .. } => "its residual is zero".to_owned(),
                FactReason::Entailed(Entailment::Trivial) => "it is always true".to_owned(),
                FactReason::Entailed(Entailment::Proportional(source)) => self.source(*source),
                FactReason::Entailed(Entailment::Combined(sources) | Entailment::Sampled(sources)) => {
                    let crossing = sources.iter().any(|s| matches!(s, KnownSource::ZeroCrossing(_)));
                    let from = if crossing {
                        "the zero crossing and the equations"
                    } else {
                        "the equations"
                    };
                    format!("it follows from {from} of the mode before")
                }
            };
            lines.push(format!("{} holds before the change: {why}", self.equation(fact.label)));
        }
        lines
    }

    fn source(&self, source: KnownSource) -> String {
        match source {
            KnownSource::ZeroCrossing(_) => "it is the zero crossing".to_owned(),
            _ => "it is an equation of the mode before".to_owned(),
        }
    }

    fn kept(&self, analysis: &RestartAnalysis) -> Option<String> {
        let names: Vec<String> = analysis.kept.iter().map(|&var| self.state(var, 0)).collect();
        (!names.is_empty()).then(|| {
            let verb = plural(
                &names,
                "becomes a state and keeps its value",
                "become states and keep their values",
            );
            format!("{} {verb}", list(&names))
        })
    }

    fn observers(&self, analysis: &RestartAnalysis) -> Option<String> {
        let observers = analysis.observers.iter();
        let names: Vec<String> = observers
            .map(|observer| self.state(observer.var, observer.order))
            .collect();
        (!names.is_empty()).then(|| {
            let verb = plural(
                &names,
                "has no value at the instant: it depends",
                "have no value at the instant: they depend",
            );
            format!(
                "{} {verb} on impulses, which have no size but their weight",
                list(&names)
            )
        })
    }

    fn dropped(&self, analysis: &RestartAnalysis) -> Vec<String> {
        let dropped = analysis.dropped_restart_equations.iter();
        dropped
            .map(|&position| {
                let residual = self.change.restart_equations[position as usize].residual;
                format!(
                    "restart equation `{}` follows from the new mode",
                    self.equation_text(residual)
                )
            })
            .collect()
    }
}
