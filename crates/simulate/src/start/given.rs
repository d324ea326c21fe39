//! Start values that are given decide those that are not.
//!
//! Variables without a start value begin at 0 by default. Where a consistency equation ties such a variable to others
//! (`q = C*v` with `v(start = 4)`, a ratio that is `3` at the start), the default is no information: it follows from what is
//! given. Only where given start values contradict each other, or nothing is given, the restart decides.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{Bipartite, Column, DulmageMendelsohn, Matcher, Row, connected_components};
use saltus_mdae::{Derivative, ExprId, Idx, Role, VarId};
use saltus_structure::restart::NumericFacts;

use crate::engine::{Engine, ModeId};
use crate::report::MovedStarts;
use crate::restart::{Known, Present, fact_tolerance};
use crate::start::values::StartValue;

/// A start value that moved by more than this part of its size did not hold.
const MOVED: f64 = 1e-6;
/// The part of a nominal value that counts for the size of a start value.
const OF_NOMINAL: f64 = 1e-3;
/// What is left by rounding where values cancel, in parts of the largest of them.
const NOISE: f64 = 1e-13;
/// So many of them are named.
const TOLD: usize = 4;

/// A consistency equation f^(m) with its unknowns.
struct Constraint {
    residual: ExprId,
    order: u16,
    unknowns: Vec<Derivative>,
    holds: bool,
}

/// Equations that determine as many unknowns, at the start.
struct ChainStep {
    residuals: Vec<ExprId>,
    determined: Vec<Derivative>,
    /// All unknowns in them.
    unknowns: Vec<Derivative>,
}

impl Engine {
    /// Gives default start values the values that follow from given ones.
    pub(crate) fn meet_given_starts(&mut self, mode: ModeId) {
        self.follow_algebraic_starts(mode);
        self.meet_constraints(mode);
    }

    /// States that equations make functions of given start values alone: `q = C*v; der(q) = -v` with `v(start = 4)`, where
    /// only q is a state; `x + y = v; x - y = 1; der(x) = -v`, where two equations give x and y together.
    fn follow_algebraic_starts(&mut self, mode: ModeId) {
        let chain = self.chain_of_starts(mode);
        if chain.is_empty() {
            return;
        }
        let saved = self.memory.values.clone();
        let determined: FxHashSet<Derivative> = chain.iter().flat_map(|step| step.determined.clone()).collect();
        if self.solve_chain(&chain, &determined) {
            return;
        }
        self.memory.values.clone_from(&saved);
        // Zero may be the one value without a direction: `v = x^2`.
        for &Derivative { var, order } in chain.iter().flat_map(|step| &step.determined) {
            if self.memory.get(var, order) == 0.0 {
                self.memory.set(var, order, self.nominal[var.index()]);
            }
        }
        if !self.solve_chain(&chain, &determined) {
            self.memory.values = saved;
        }
    }

    /// Solves a chain for what it determines, everything else being held.
    fn solve_chain(&mut self, chain: &[ChainStep], determined: &FxHashSet<Derivative>) -> bool {
        let mut all: Vec<Derivative> = chain.iter().flat_map(|step| step.unknowns.clone()).collect();
        all.sort_unstable();
        all.dedup();
        let weight = |unknown: &Derivative| {
            if determined.contains(unknown) {
                self.nominal[unknown.var.index()]
            } else {
                0.0
            }
        };
        let weights = all.iter().map(weight).collect();
        let residuals = chain.iter().flat_map(|step| &step.residuals);
        let equations: Vec<(ExprId, u16)> = residuals.map(|&residual| (residual, 0)).collect();
        self.project(&equations, &all, weights, Vec::new()).is_ok()
    }

    /// Equations that lead, one after the other, from given start values to states without one, each with what it
    /// determines.
    fn chain_of_starts(&self, mode: ModeId) -> Vec<ChainStep> {
        let structure = &self.modes[mode].structure;
        let is_state =
            |Derivative { var, order }: Derivative| self.modes[mode].highest_order(var).is_some_and(|d| order < d);
        let rows = structure.equations.iter().zip(&structure.sigma.c);
        let open: Vec<(ExprId, Vec<Derivative>)> = rows
            .filter(|(_, c)| **c == 0)
            .map(|(&id, _)| {
                let residual = self.model.equations[id].residual;
                let occurring = self.pool.occurrences(residual).into_iter();
                (
                    residual,
                    occurring
                        .filter(|&Derivative { var, .. }| self.model.is_unknown(var))
                        .collect(),
                )
            })
            .collect();
        let speaks = |one: &Derivative| self.is_given(one.var, one.order) && !is_state(*one);
        if !open.iter().any(|(_, unknowns)| unknowns.iter().any(speaks)) {
            return Vec::new();
        }
        let steps = self.determined_in_turn(open);
        // Only what leads to a state counts.
        let mut wanted: FxHashSet<Derivative> = FxHashSet::default();
        let mut chain = Vec::new();
        for step in steps.into_iter().rev() {
            if step.determined.iter().any(|one| is_state(*one) || wanted.contains(one)) {
                wanted.extend(step.unknowns.iter().copied());
                chain.push(step);
            }
        }
        chain
    }

    /// Equations with their unknowns, in the order in which each has one unknown that is neither given nor determined by those
    /// before it, and then those that determine several together; each with what it determines. The first of several comes
    /// first, so that the order is the model's.
    fn determined_in_turn(&self, open: Vec<(ExprId, Vec<Derivative>)>) -> Vec<ChainStep> {
        let mut holding: FxHashMap<Derivative, Vec<usize>> = FxHashMap::default();
        let mut missing = vec![0_usize; open.len()];
        for (at, (_, unknowns)) in open.iter().enumerate() {
            for &unknown in unknowns.iter().filter(|one| !self.is_given(one.var, one.order)) {
                holding.entry(unknown).or_default().push(at);
                missing[at] += 1;
            }
        }
        let mut queue: BTreeSet<usize> = (0..open.len()).filter(|&at| missing[at] == 1).collect();
        let mut known: FxHashSet<Derivative> = FxHashSet::default();
        let mut steps = Vec::new();
        while let Some(at) = queue.pop_first() {
            let (residual, unknowns) = &open[at];
            let is_missing = |one: &&Derivative| !known.contains(*one) && !self.is_given(one.var, one.order);
            let Some(&determined) = unknowns.iter().find(is_missing) else {
                continue;
            };
            known.insert(determined);
            steps.push(ChainStep {
                residuals: vec![*residual],
                determined: vec![determined],
                unknowns: unknowns.clone(),
            });
            for &other in &holding[&determined] {
                missing[other] -= 1;
                if missing[other] == 1 {
                    queue.insert(other);
                } else {
                    queue.remove(&other);
                }
            }
        }
        let left = open.into_iter().zip(missing).filter(|(_, missing)| *missing > 0);
        let left: Vec<(ExprId, Vec<Derivative>)> = left.map(|(equation, _)| equation).collect();
        steps.extend(self.determined_together(&left, &known));
        steps
    }

    /// The well-determined part of what is left: blocks of equations with as many unknowns.
    fn determined_together(&self, open: &[(ExprId, Vec<Derivative>)], known: &FxHashSet<Derivative>) -> Vec<ChainStep> {
        let is_missing = |one: &&Derivative| !known.contains(*one) && !self.is_given(one.var, one.order);
        let mut missing: Vec<Derivative> = open
            .iter()
            .flat_map(|(_, unknowns)| unknowns.iter().filter(is_missing).copied())
            .collect();
        missing.sort_unstable();
        missing.dedup();
        let column = |unknown: &Derivative| missing.binary_search(unknown).map(Column::from_index).ok();
        let rows = open
            .iter()
            .map(|(_, unknowns)| unknowns.iter().filter_map(column).collect::<Vec<Column>>());
        let graph = Bipartite::from_rows(missing.len(), rows);
        let matching = Matcher::new().maximum(&graph);
        let parts = DulmageMendelsohn::new(&graph, &matching);
        let blocks = parts.fine(&graph, &matching).well_determined;
        let step = |rows: &[Row]| ChainStep {
            residuals: rows.iter().map(|row| open[row.index()].0).collect(),
            determined: rows
                .iter()
                .filter_map(|&row| matching.column_of(row))
                .map(|column| missing[column.index()])
                .collect(),
            unknowns: rows.iter().flat_map(|row| open[row.index()].1.clone()).collect(),
        };
        blocks.iter().map(step).collect()
    }

    fn meet_constraints(&mut self, mode: ModeId) {
        let constraints = self.constraints_at_start(mode);
        if constraints.iter().all(|constraint| constraint.holds) {
            return;
        }
        for group in self.open_groups(&constraints) {
            let saved = self.memory.values.clone();
            let equations: Vec<(ExprId, u16)> = group
                .iter()
                .map(|&at| (constraints[at].residual, constraints[at].order))
                .collect();
            let mut unknowns: Vec<Derivative> = group.iter().flat_map(|&at| constraints[at].unknowns.clone()).collect();
            unknowns.sort_unstable();
            unknowns.dedup();
            let weight = |&Derivative { var, order }: &Derivative| {
                if self.is_given(var, order) {
                    0.0
                } else {
                    self.nominal[var.index()]
                }
            };
            let weights = unknowns.iter().map(weight).collect();
            if self.project(&equations, &unknowns, weights, Vec::new()).is_err() {
                self.memory.values = saved;
            }
        }
        self.follow_before_start(mode);
    }

    /// Where given start values contradict an equation of this mode, as voltages of capacitors do that a switch ties together,
    /// they are values just before the start. What equations of all modes make functions of them (`q = C*v`) had its value
    /// then, too, and that is what the restart conserves.
    fn follow_before_start(&mut self, mode: ModeId) {
        let constraints = self.constraints_at_start(mode);
        let structure = &self.modes[mode].structure;
        let always: FxHashSet<ExprId> = structure
            .equations
            .iter()
            .zip(&structure.sigma.c)
            // What is differentiated more often has been met as a position.
            .filter(|(_, c)| **c == 1)
            .map(|(&id, _)| &self.model.equations[id])
            .filter(|equation| self.pool.constant(equation.guard) == Some(1.0))
            .map(|equation| equation.residual)
            .collect();
        let open = constraints
            .into_iter()
            .filter(|constraint| constraint.order == 0 && !constraint.holds && always.contains(&constraint.residual))
            .map(|constraint| (constraint.residual, constraint.unknowns))
            .collect();
        for step in self.determined_in_turn(open) {
            let saved = self.memory.values.clone();
            let determined = step.determined.iter().copied().collect();
            if !self.solve_chain(&[step], &determined) {
                self.memory.values = saved;
            }
        }
    }

    /// Start values that are given but not fixed, and that the start did not keep.
    pub(crate) fn moved_starts_in(&self, mode: ModeId) -> Vec<&StartValue> {
        let noise = self.noise_at_start();
        let has_moved = |start: &&StartValue| !start.fixed && self.is_violated(start, noise);
        let moved: Vec<&StartValue> = self.start.values.iter().filter(has_moved).collect();
        if moved.is_empty() {
            return moved;
        }
        let tied = self.tied_to_states(mode);
        let counts = |start: &&StartValue| {
            let d = self.modes[mode].highest_order(start.var);
            d.is_some_and(|d| start.order < d || tied.contains(&Derivative::new(start.var, start.order)))
        };
        moved.into_iter().filter(counts).collect()
    }

    /// The same in words.
    pub(crate) fn moved_starts_of(&self, mode: ModeId) -> Option<MovedStarts> {
        let moved = self.moved_starts_in(mode);
        let variables = moved.iter().filter(|start| start.order == 0).map(|start| start.var);
        let variables: Vec<VarId> = variables.collect();
        let reported = moved.iter().take(TOLD).map(|start| {
            let value = self.memory.get(start.var, start.order);
            format!(
                "`{}` begins at {value} instead of {}",
                self.name(start.var, start.order),
                start.value
            )
        });
        let mut reported: Vec<String> = reported.collect();
        if moved.len() > TOLD {
            reported.push(format!("{} more", moved.len() - TOLD));
        }
        let what =
            "start values contradict each other or the equations, and are taken as the values just before the start";
        (!reported.is_empty()).then(|| MovedStarts {
            text: format!("{what}: {}", reported.join(", ")),
            variables,
        })
    }

    /// What an equation is about beside a state, and nothing else: `q = C*v` with both given, or with one that could not be
    /// followed. Beside a state that is fixed a start value is a guess: that of the parameter along the characteristic of a
    /// friction element, for one.
    fn tied_to_states(&self, mode: ModeId) -> FxHashSet<Derivative> {
        let structure = &self.modes[mode].structure;
        let is_state = |Derivative { var, order }: Derivative| {
            let d = self.modes[mode].highest_order(var);
            let fixed = self.start.values.get(var, order).is_some_and(|start| start.fixed);
            d.is_some_and(|d| order < d) && !fixed
        };
        let mut tied = FxHashSet::default();
        for &id in &structure.equations {
            let unknowns = self.pool.occurrences(self.model.equations[id].residual).into_iter();
            let unknowns: Vec<Derivative> = unknowns
                .filter(|&Derivative { var, .. }| self.model.is_unknown(var))
                .collect();
            if let [a, b] = unknowns[..] {
                tied.extend(is_state(b).then_some(a));
                tied.extend(is_state(a).then_some(b));
            }
        }
        tied
    }

    fn is_given(&self, var: VarId, order: u16) -> bool {
        self.has_start(var, order) || (order == 0 && self.start.guesses.contains_key(&var))
    }

    fn constraints_at_start(&mut self, mode: ModeId) -> Vec<Constraint> {
        let (model, structure) = (&*self.model, &self.modes[mode].structure);
        let differentiated: Vec<(ExprId, u16)> = structure
            .equations
            .iter()
            .zip(&structure.sigma.c)
            .flat_map(|(&id, &c)| (0..c).map(move |order| (model.equations[id].residual, order)))
            .collect();
        let mut found = Vec::new();
        for (residual, order) in differentiated {
            let derivative = self.pool.nth_total_derivative(residual, order);
            let occurring = self.pool.occurrences(derivative).into_iter();
            found.push(Constraint {
                residual,
                order,
                unknowns: occurring
                    .filter(|&Derivative { var, .. }| self.model.is_unknown(var))
                    .collect(),
                holds: self.holds_at_start(derivative),
            });
        }
        found
    }

    /// Whether an expression is zero at the start values, in parts of its terms.
    pub(crate) fn holds_at_start(&self, expression: ExprId) -> bool {
        let (value, terms) = self.residual_at_start(expression);
        value.abs() <= fact_tolerance(self.options.tolerance) * terms
    }

    /// The value of an expression at the values of the start, and the size of its terms.
    pub(crate) fn residual_at_start(&self, expression: ExprId) -> (f64, f64) {
        let present = Present {
            memory: &self.memory,
            initial: true,
        };
        let known = Known {
            model: &self.model,
            memory: &self.memory,
            nominal: &self.nominal,
            scales: &self.scales,
            tolerance: fact_tolerance(self.options.tolerance),
        };
        let is_unknown = |var: VarId| {
            let variable = self.model.variables.get(var);
            variable.is_some_and(|variable| variable.role == Role::Continuous)
        };
        let facts = NumericFacts::new(&self.model.functions, &known, &present, &is_unknown);
        facts.residual(&self.pool, expression)
    }

    /// What computing with the values at the start leaves of a difference that is zero, whatever their units are.
    pub(crate) fn noise_at_start(&self) -> f64 {
        let values = self.sets.unknowns.iter().map(|&var| self.memory.get(var, 0).abs());
        NOISE * values.filter(|value| value.is_finite()).fold(0.0, f64::max)
    }

    /// Whether a start value is not what was asked for, by more than the [noise](Self::noise_at_start).
    pub(crate) fn is_violated(&self, start: &StartValue, noise: f64) -> bool {
        let value = self.memory.get(start.var, start.order);
        let nominal = self.scales.given_nominal(start.var).unwrap_or(0.0);
        let least = OF_NOMINAL * MOVED * nominal + noise;
        value.is_nan() || (value - start.value).abs() > MOVED * start.value.abs() + least
    }

    /// The groups of constraints that share unknowns, of which some do not hold, and which the unknowns without a given
    /// start value can meet: all of them determined, or something given to follow.
    fn open_groups(&self, constraints: &[Constraint]) -> Vec<Vec<usize>> {
        let mut unknowns: Vec<Derivative> = constraints.iter().flat_map(|c| c.unknowns.iter().copied()).collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        let column = |unknown: &Derivative| unknowns.binary_search(unknown).map(Column::from_index).ok();
        let given: FxHashSet<Column> = unknowns
            .iter()
            .filter(|&&Derivative { var, order }| self.is_given(var, order))
            .filter_map(column)
            .collect();
        let rows = |open_only: bool| {
            let given = &given;
            constraints.iter().map(move |constraint| {
                let columns = constraint.unknowns.iter().filter_map(column);
                let columns = columns.filter(move |column| !(open_only && given.contains(column)));
                // What is given and holds needs nothing.
                let needed = !constraint.holds
                    || constraint
                        .unknowns
                        .iter()
                        .filter_map(column)
                        .any(|c| !given.contains(&c));
                columns.filter(move |_| needed).collect::<Vec<Column>>()
            })
        };
        let open = Bipartite::from_rows(unknowns.len(), rows(true));
        let matching = Matcher::new().maximum(&open);
        let groups = connected_components(&Bipartite::from_rows(unknowns.len(), rows(false)));
        let columns = groups.columns();
        let met = |(rows, columns): (Vec<Row>, &Vec<Column>)| {
            let rows: Vec<usize> = rows.into_iter().map(Row::index).collect();
            let violated = rows.iter().any(|&row| !constraints[row].holds);
            let matched = |&row: &usize| matching.column_of(Row::from_index(row)).is_some();
            let free = columns.iter().filter(|column| !given.contains(column)).count();
            let determined = free == rows.len() || free < columns.len();
            (violated && rows.iter().all(matched) && determined).then_some(rows)
        };
        groups.rows().into_iter().zip(&columns).filter_map(met).collect()
    }
}
