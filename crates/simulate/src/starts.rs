//! Start values that are given decide those that are not.
//!
//! Variables without a start value begin at 0 by default. Where a consistency equation ties such a variable to others
//! (`q = C*v` with `v(start = 4)`, a ratio that is `3` at the start), the default is no information: it follows from what is
//! given. Only where given start values contradict each other, or nothing is given, the restart decides.

use rustc_hash::FxHashSet;
use saltus_graph::{Bipartite, Column, Matcher, Row, connected_components};
use saltus_mdae::{ExprId, Idx, Role, VarId};
use saltus_structure::restart::NumericFacts;

use crate::engine::{Engine, ModeId};
use crate::initial::StartValue;
use crate::restart::{Known, Present};

/// A start value that moved by more than this part of its size did not hold.
const MOVED: f64 = 1e-6;
/// So many of them are named.
const TOLD: usize = 4;

/// A consistency equation f^(m) with its unknowns.
struct Constraint {
    residual: ExprId,
    order: u16,
    unknowns: Vec<(VarId, u16)>,
    holds: bool,
}

impl Engine<'_> {
    /// Gives default start values the values that follow from given ones.
    pub(crate) fn meet_given_starts(&mut self, mode: ModeId) {
        self.follow_algebraic_starts(mode);
        self.meet_constraints(mode);
    }

    /// States that an equation without derivatives makes a function of given start values: `q = C*v` with `v(start = 4)`,
    /// where only q is a state.
    fn follow_algebraic_starts(&mut self, mode: ModeId) {
        let (equations, unknowns) = self.algebraic_chain(mode);
        if equations.is_empty() {
            return;
        }
        let saved = self.memory.values.clone();
        let mut all: Vec<(VarId, u16)> = Vec::new();
        for &(residual, _) in &equations {
            all.extend(
                self.pool
                    .occurrences(residual)
                    .into_iter()
                    .filter(|&(var, _)| self.model.is_unknown(var)),
            );
        }
        all.sort_unstable();
        all.dedup();
        let weight = |unknown: &(VarId, u16)| match unknowns.contains(&unknown.0) {
            true => self.nominal[unknown.0.index()],
            false => 0.0,
        };
        let weights = all.iter().map(weight).collect();
        if self.project(&equations, &all, weights, Vec::new()).is_err() {
            self.memory.values = saved;
        }
    }

    /// Equations without derivatives that follow, one after the other, from given start values to states without one, and
    /// the unknowns that each determines.
    fn algebraic_chain(&self, mode: ModeId) -> (Vec<(ExprId, u16)>, FxHashSet<VarId>) {
        let structure = &self.modes[mode].structure;
        let is_state = |var: VarId| self.modes[mode].highest_order(var).is_some_and(|d| d > 0);
        let undifferentiated = structure
            .equations
            .iter()
            .zip(&structure.sigma.c)
            .filter(|(_, c)| **c == 0);
        let mut open: Vec<(ExprId, Vec<VarId>)> = Vec::new();
        for (&id, _) in undifferentiated {
            let residual = self.model.equations[id].residual;
            let occurring: Vec<(VarId, u16)> = self.pool.occurrences(residual);
            let unknowns: Vec<(VarId, u16)> = occurring
                .into_iter()
                .filter(|&(var, _)| self.model.is_unknown(var))
                .collect();
            if unknowns.iter().all(|&(_, order)| order == 0) {
                open.push((residual, unknowns.into_iter().map(|(var, _)| var).collect()));
            }
        }
        let mut steps: Vec<(ExprId, VarId, Vec<VarId>)> = Vec::new();
        let mut known: FxHashSet<VarId> = FxHashSet::default();
        loop {
            let missing = |vars: &[VarId]| -> Vec<VarId> {
                let is_known = |var: &VarId| known.contains(var) || self.is_given(*var, 0);
                vars.iter().copied().filter(|var| !is_known(var)).collect()
            };
            let next = open
                .iter()
                .position(|(_, vars)| vars.len() > 1 && missing(vars).len() == 1);
            let Some(at) = next else { break };
            let (residual, vars) = open.swap_remove(at);
            let determined = missing(&vars)[0];
            known.insert(determined);
            steps.push((residual, determined, vars));
        }
        // Only what leads to a state counts.
        let mut wanted: FxHashSet<VarId> = FxHashSet::default();
        let mut chain = Vec::new();
        for (residual, determined, vars) in steps.into_iter().rev() {
            if is_state(determined) || wanted.contains(&determined) {
                wanted.extend(vars);
                chain.push((residual, determined));
            }
        }
        let determined = chain.iter().map(|&(_, var)| var).collect();
        (
            chain.into_iter().map(|(residual, _)| (residual, 0)).collect(),
            determined,
        )
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
            let mut unknowns: Vec<(VarId, u16)> =
                group.iter().flat_map(|&at| constraints[at].unknowns.clone()).collect();
            unknowns.sort_unstable();
            unknowns.dedup();
            let weight = |&(var, order): &(VarId, u16)| match self.is_given(var, order) {
                true => 0.0,
                false => self.nominal[var.index()],
            };
            let weights = unknowns.iter().map(weight).collect();
            if self.project(&equations, &unknowns, weights, Vec::new()).is_err() {
                self.memory.values = saved;
            }
        }
    }

    /// Start values that are given but not fixed, and that the start did not keep, as one sentence.
    pub(crate) fn moved_starts_of(&self, mode: ModeId) -> Option<String> {
        let moved: Vec<&StartValue> = self
            .starts
            .iter()
            .filter(|start| {
                !start.fixed
                    && self.modes[mode]
                        .highest_order(start.var)
                        .is_some_and(|d| start.order < d)
            })
            .filter(|start| {
                let size = start.value.abs().max(self.nominal[start.var.index()]);
                (self.memory.get(start.var, start.order) - start.value).abs() > MOVED * size
            })
            .collect();
        let told = moved.iter().take(TOLD).map(|start| {
            let value = self.memory.get(start.var, start.order);
            format!(
                "`{}` begins at {value} instead of {}",
                self.name(start.var, start.order),
                start.value
            )
        });
        let mut told: Vec<String> = told.collect();
        if moved.len() > TOLD {
            told.push(format!("{} more", moved.len() - TOLD));
        }
        let what =
            "start values contradict each other or the equations, and are taken as the values just before the start";
        (!told.is_empty()).then(|| format!("{what}: {}", told.join(", ")))
    }

    fn is_given(&self, var: VarId, order: u16) -> bool {
        self.has_start(var, order) || (order == 0 && self.guesses.iter().any(|&(known, _)| known == var))
    }

    fn constraints_at_start(&mut self, mode: ModeId) -> Vec<Constraint> {
        let (model, structure) = (self.model, &self.modes[mode].structure);
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
                unknowns: occurring.filter(|&(var, _)| self.model.is_unknown(var)).collect(),
                holds: self.holds_at_start(derivative),
            });
        }
        found
    }

    fn holds_at_start(&self, expression: ExprId) -> bool {
        let present = Present {
            memory: &self.memory,
            initial: true,
        };
        let known = Known {
            model: self.model,
            memory: &self.memory,
            nominal: &self.nominal,
        };
        let is_unknown = |var: VarId| {
            let variable = self.model.variables.get(var);
            variable.is_some_and(|variable| variable.role == Role::Continuous)
        };
        let facts = NumericFacts::new(&self.model.functions, &known, &present, &is_unknown);
        let (value, scale) = facts.residual(&self.pool, expression);
        value.abs() <= facts.tolerance * scale
    }

    /// The groups of constraints that share unknowns, of which some do not hold, and which the unknowns without a given
    /// start value can meet: all of them determined, or something given to follow.
    fn open_groups(&self, constraints: &[Constraint]) -> Vec<Vec<usize>> {
        let mut unknowns: Vec<(VarId, u16)> = constraints.iter().flat_map(|c| c.unknowns.iter().copied()).collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        let column = |unknown: &(VarId, u16)| unknowns.binary_search(unknown).map(Column::from_index).ok();
        let given: FxHashSet<Column> = unknowns
            .iter()
            .filter(|&&(var, order)| self.is_given(var, order))
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
