//! The state of one analysis: the question, what is known, the answers given so far.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::Row;
use saltus_mdae::function::Functions;
use saltus_mdae::tape::Tape;
use saltus_mdae::{Derivative, ExprId, ExprPool, VarId};

use super::array::{ArrayLabel, EquationSource};
use super::change::{Before, ModeChange};
use super::entail::FixedValues;
use super::facts::{FactReason, Facts};
use super::knowledge::Knowledge;
use super::past::Past;

/// One question to the oracle with its answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The equation `0 = expression` between left limits.
    pub expression: ExprId,
    /// Why it holds, or `None` if it does not.
    pub reason: Option<FactReason>,
    /// Whether something in it jumps.
    pub(crate) jumping: bool,
    tape: std::sync::OnceLock<Tape>,
}

impl Answer {
    /// The expression ready for evaluation, made when first asked again.
    pub(crate) fn tape(&self, pool: &ExprPool) -> &Tape {
        self.tape.get_or_init(|| Tape::new(pool, self.expression))
    }
}

pub(crate) struct Inquiry<'a> {
    pub(crate) change: ModeChange<'a>,
    pub(crate) functions: &'a Functions,
    pub(crate) fixed: &'a dyn FixedValues,
    facts: &'a mut dyn Facts,
    pub(crate) knowledge: Knowledge<'a>,
    position: FxHashMap<ExprId, usize>,
    answers: Vec<Answer>,
    transient: Option<FxHashSet<ExprId>>,
    /// Variables of the transient mode, if there is one.
    transient_variables: Option<FxHashSet<VarId>>,
    jumping: FxHashSet<Row>,
    unguarded: FxHashSet<Row>,
    past: Option<Past<'a>>,
    /// Variables that keep their left limit because nothing else determines them.
    pub(crate) kept: Vec<VarId>,
    /// Whether what is algebraic in the new mode has no past.
    pub(crate) forgets_algebraic: bool,
}

impl<'a> Inquiry<'a> {
    pub(crate) fn new(
        pool: &mut ExprPool,
        functions: &'a Functions,
        fixed: &'a dyn FixedValues,
        change: ModeChange<'a>,
        facts: &'a mut dyn Facts,
    ) -> Self {
        Inquiry {
            functions,
            fixed,
            facts,
            knowledge: Knowledge::new(pool, change),
            position: FxHashMap::default(),
            answers: Vec::new(),
            transient: change.transient_residuals(),
            transient_variables: change.transient.map(|equations| {
                let occurrences = equations
                    .iter()
                    .flat_map(|equation| pool.occurrences(equation.residual));
                occurrences.map(|Derivative { var, .. }| var).collect()
            }),
            jumping: change.differentiated_rows_with_jumps(pool),
            unguarded: match change.before {
                Before::Start { unguarded } => unguarded.iter().copied().collect(),
                _ => FxHashSet::default(),
            },
            past: change
                .previous()
                .filter(|_| change.options.past_by_invariants)
                .map(|previous| Past::new(previous, change.new)),
            kept: Vec::new(),
            forgets_algebraic: false,
            change,
        }
    }

    /// d⁻ of a variable.
    pub(crate) fn past_offset(&self, var: VarId) -> u16 {
        if self.is_forgotten(var) {
            return 0;
        }
        let offset = match &self.past {
            Some(past) => past.of(var, &|row| self.is_invariant(row)),
            None => self.change.past_offset(var),
        };
        if self.kept.contains(&var) {
            offset.max(1)
        } else {
            offset
        }
    }

    fn is_forgotten(&self, var: VarId) -> bool {
        self.forgets_algebraic && self.change.new.offset_of(var) == Some(0) && !self.kept.contains(&var)
    }

    /// Whether an algebraic variable of the new mode has a past that could be forgotten.
    pub(crate) fn remembers_algebraic(&self) -> bool {
        let unknowns = self.change.new.unknowns().iter();
        let mut algebraic = unknowns.filter(|var| self.change.new.offset_of(**var) == Some(0));
        algebraic.any(|&var| self.past_offset(var) > 0)
    }

    /// Whether the change passes through a transient mode that says nothing of a variable.
    pub(crate) fn is_left_out(&self, var: VarId) -> bool {
        self.transient_variables
            .as_ref()
            .is_some_and(|variables| !variables.contains(&var))
    }

    /// Step 3: equations of the new mode that hold before, during and after the change.
    pub(crate) fn is_invariant(&self, row: Row) -> bool {
        let residual = self.change.new.equation(row).residual;
        let before = match self.change.before {
            Before::Nothing => false,
            Before::Mode(previous) => previous.find(residual).is_some(),
            Before::Start { .. } => self.unguarded.contains(&row),
        };
        let during = || self.transient.as_ref().is_none_or(|active| active.contains(&residual));
        before && !self.jumping.contains(&row) && during()
    }

    /// The residual of an array equation in the model's variables.
    pub(crate) fn residual(&self, pool: &mut ExprPool, label: ArrayLabel) -> ExprId {
        let change = &self.change;
        let root = match label.source {
            EquationSource::Mode(row) => change.new.equation(row).residual,
            EquationSource::Transient(position) => change.transient.unwrap_or_default()[position as usize].residual,
            EquationSource::Restart(position) => change.restart_equations[position as usize].residual,
        };
        pool.nth_total_derivative(root, label.order)
    }

    /// Asks the oracle, once per expression.
    pub(crate) fn fact(&mut self, pool: &mut ExprPool, expression: ExprId) -> Option<FactReason> {
        if let Some(&position) = self.position.get(&expression) {
            return self.answers[position].reason.clone();
        }
        let jumping = self.change.holds_a_jump(pool, expression);
        let reason = self.facts.is_fact(pool, &mut self.knowledge, expression, jumping);
        self.position.insert(expression, self.answers.len());
        self.answers.push(Answer {
            expression,
            reason: reason.clone(),
            jumping,
            tape: std::sync::OnceLock::new(),
        });
        reason
    }

    pub(crate) fn into_answers(self) -> Vec<Answer> {
        self.answers
    }
}
