//! What is asked: a mode change.

use rustc_hash::FxHashSet;
use saltus_graph::Row;
use saltus_mdae::{ConditionId, ExprId, ExprPool, Node, OriginId, VarId};

use super::array::EquationSource;
use super::system::{ModeEquation, ModeSystem};

/// What was in force before the mode change.
#[derive(Copy, Clone, Debug)]
pub enum Before<'a> {
    /// Nothing is known: no variable has a past.
    Nothing,
    /// A mode.
    Mode(&'a ModeSystem),
    /// Start values: d⁻ := d, so every state of the new mode has its start value as left limit, and the invariants
    /// are the given equations of the new mode (those that hold in every mode, the unguarded ones).
    Start {
        /// The unguarded equations, by row of the new mode.
        unguarded: &'a [Row],
    },
}

/// Which part of the new mode is analysed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Scope {
    /// What the change touches: right limits equal left limits elsewhere. For runs.
    #[default]
    Touched,
    /// All of it, for complete reports.
    All,
}

/// Options of the analysis.
#[derive(Clone, Debug, Default)]
pub struct RestartOptions {
    /// Which part is analysed.
    pub scope: Scope,
    /// Analyse every component at this height instead of searching.
    pub forced_height: Option<u16>,
    /// Whether definitions that hold before and after the change extend the past of what they define, beyond the d⁻
    /// of RR-9603: a relative angle has a past as long as that of the angles.
    pub past_by_invariants: bool,
    /// Variables that do not occur in the previous mode but whose last value is remembered: like variables that were
    /// algebraic there, they keep it if they become states and nothing else determines them.
    pub remembered: Vec<VarId>,
}

/// A mode change to analyse.
#[derive(Copy, Clone)]
pub struct ModeChange<'a> {
    /// What was in force before.
    pub before: Before<'a>,
    /// The mode entered.
    pub new: &'a ModeSystem,
    /// Functions that are zero at the left limits: the zero crossings that triggered the change. Empty for a change
    /// from outside.
    pub zero_crossings: &'a [ExprId],
    /// Restart equations T: `Node::Pre` is a left limit, `Node::Var` a right limit.
    pub restart_equations: &'a [ModeEquation],
    /// The equations of the transient mode between the two, if there is one.
    pub transient: Option<&'a [ModeEquation]>,
    /// Inputs and discrete variables that jump at this instant.
    pub jumped: &'a [VarId],
    /// Conditions inside residuals that switch at this instant, with their value before.
    pub switched: &'a [(ConditionId, bool)],
    /// Which variables are unknowns (in any mode).
    pub is_unknown: &'a dyn Fn(VarId) -> bool,
    /// The equations of the new mode that may have changed (new ones, and those whose offset or whose unknown's offset
    /// is another than before), if the caller knows; else all are examined.
    pub examined: Option<&'a [Row]>,
    /// Options.
    pub options: &'a RestartOptions,
}

impl std::fmt::Debug for ModeChange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModeChange")
            .field("before", &self.before)
            .field("zero_crossings", &self.zero_crossings)
            .field("restart_equations", &self.restart_equations)
            .field("transient", &self.transient)
            .finish_non_exhaustive()
    }
}

impl<'a> ModeChange<'a> {
    /// The previous mode, if there was one.
    pub fn previous(&self) -> Option<&'a ModeSystem> {
        match self.before {
            Before::Mode(previous) => Some(previous),
            _ => None,
        }
    }

    /// Whether right limits of states may differ from their left limits: some constraint is new or further differentiated,
    /// some state has no past, or something jumps or is given. If not, all states keep their left limits, and there is nothing
    /// to analyse.
    pub fn may_restart(&self) -> bool {
        let given = !self.restart_equations.is_empty()
            || self.transient.is_some()
            || !self.jumped.is_empty()
            || !self.switched.is_empty()
            || self.options.forced_height.is_some()
            || self.options.scope == Scope::All;
        let Some(previous) = self.previous().filter(|_| !given) else {
            return true;
        };
        let new = self.new;
        let is_younger = |&var: &VarId| new.offset_of(var) > Some(previous.offset_of(var).unwrap_or(0));
        let is_stricter = |row: Row| {
            let c = new.equation_offset(row);
            let before = || previous.find(new.equation(row).residual);
            c > 0 && before().is_none_or(|row| previous.equation_offset(row) < c)
        };
        let mut rows = (0..new.equations().len()).map(Row::from_index);
        new.unknowns().iter().any(is_younger) || rows.any(is_stricter)
    }

    /// Where an equation of the array is written.
    pub fn origin(&self, source: EquationSource) -> OriginId {
        match source {
            EquationSource::Mode(row) => self.new.equation(row).origin,
            EquationSource::Transient(position) => self.transient.unwrap_or_default()[position as usize].origin,
            EquationSource::Restart(position) => self.restart_equations[position as usize].origin,
        }
    }

    /// d⁻_x: `x'^m@k` is past iff m + k is less (step 2).
    pub(crate) fn past_offset(&self, var: VarId) -> u16 {
        match self.before {
            Before::Nothing => 0,
            Before::Mode(previous) => previous.offset_of(var).unwrap_or(0),
            Before::Start { .. } => self.new.offset_of(var).unwrap_or(0),
        }
    }

    /// Whether an expression holds an input, discrete variable or condition that jumps.
    pub(crate) fn holds_a_jump(&self, pool: &ExprPool, root: ExprId) -> bool {
        if self.jumped.is_empty() && self.switched.is_empty() {
            return false;
        }
        pool.reachable(&[root]).into_iter().any(|id| match pool.node(id) {
            Node::Var { var, .. } => self.jumped.contains(&var),
            Node::Condition(condition) => self.switched.iter().any(|(known, _)| *known == condition),
            _ => false,
        })
    }

    /// An expression of the previous mode as it was before the jumps: jumping inputs and discrete variables become
    /// left limits, switching conditions their value before.
    pub fn before_jumps(&self, pool: &mut ExprPool, root: ExprId) -> ExprId {
        if !self.holds_a_jump(pool, root) {
            return root;
        }
        pool.rewrite(&[root], |pool, _, node| match node {
            Node::Var { var, order } if self.jumped.contains(&var) => Some(pool.pre_var(var, order)),
            Node::Condition(condition) => {
                let known = self.switched.iter().find(|(known, _)| *known == condition);
                known.map(|&(_, value)| pool.boolean(value))
            }
            _ => None,
        })[0]
    }

    /// An expression with the left limits of unknowns written as current values: facts are about left limits only.
    pub fn at_left_limits(&self, pool: &mut ExprPool, root: ExprId) -> ExprId {
        if pool.left_limit_occurrences(root).is_empty() {
            return root;
        }
        pool.rewrite(&[root], |pool, _, node| match node {
            Node::Pre { var, order } if (self.is_unknown)(var) => Some(pool.der_var(var, order)),
            _ => None,
        })[0]
    }

    /// Differentiated equations in which something jumps: they held for the old value, so they are no invariants.
    pub(crate) fn differentiated_rows_with_jumps(&self, pool: &ExprPool) -> FxHashSet<Row> {
        if self.jumped.is_empty() && self.switched.is_empty() {
            return FxHashSet::default();
        }
        let rows = (0..self.new.equations().len()).map(Row::from_index);
        rows.filter(|&row| {
            self.new.equation_offset(row) > 0 && self.holds_a_jump(pool, self.new.equation(row).residual)
        })
        .collect()
    }

    /// The residuals active in the transient mode.
    pub(crate) fn transient_residuals(&self) -> Option<FxHashSet<ExprId>> {
        let equations = self.transient?;
        Some(equations.iter().map(|equation| equation.residual).collect())
    }
}
