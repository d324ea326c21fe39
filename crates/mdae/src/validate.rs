//! Invariants of the multi-mode DAE, checked after every pass in debug builds.

use crate::Derivative;
use crate::expr::{Node, Type};
use crate::index::{ExprId, Idx};
use crate::model::{Action, ConditionKind, Mdae, Role};

/// A broken invariant: always a defect of the program, never the user's mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub String);

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Mdae {
    /// Checks the invariants: ids in range, guards Boolean and free of continuous unknowns, residuals numeric,
    /// discrete targets discrete.
    pub fn validate(&self) -> Result<(), Invalid> {
        for function in &self.functions {
            function.validate(&self.functions)?;
        }
        for equation in self.equations.iter().chain(&self.initial_equations) {
            self.check_guard(equation.guard)?;
            self.check_numeric(equation.residual)?;
        }
        for equation in self.discrete.iter().chain(&self.initial_assignments) {
            self.check_guard(equation.guard)?;
            self.check_discrete(equation.target)?;
            self.check_ids(equation.value)?;
        }
        for condition in &self.conditions {
            match condition.kind {
                ConditionKind::Relation { function, .. } => self.check_numeric(function)?,
                ConditionKind::Sample { start, interval } => {
                    self.check_numeric(start)?;
                    self.check_numeric(interval)?;
                }
            }
        }
        for branch in self.whens.iter().flat_map(|when| &when.branches) {
            for &condition in &branch.conditions {
                self.check_boolean(condition)?;
            }
            for action in &branch.actions {
                match action {
                    Action::Assign { target, .. } => self.check_discrete(*target)?,
                    Action::Restart { residual, .. } => self.check_numeric(*residual)?,
                    Action::Reinit { var, value, .. } => {
                        self.check_numeric(*value)?;
                        if self.variables[*var].role != Role::Continuous {
                            return Err(Invalid(format!(
                                "reinit of `{}`, which is no unknown",
                                self.variables[*var].name
                            )));
                        }
                    }
                    Action::Terminate { .. } | Action::Assert(_) => {}
                }
            }
        }
        Ok(())
    }

    fn check_ids(&self, id: ExprId) -> Result<(), Invalid> {
        for id in self.pool.reachable(&[id]) {
            let valid = match self.pool.node(id) {
                Node::Var { var, .. } | Node::Pre { var, .. } => var.index() < self.variables.len(),
                Node::Condition(condition) => condition.index() < self.conditions.len(),
                Node::Call { function, .. } => function.index() < self.functions.len(),
                _ => true,
            };
            if !valid {
                return Err(Invalid(format!("dangling id in expression {}", id.0)));
            }
        }
        Ok(())
    }

    fn check_numeric(&self, id: ExprId) -> Result<(), Invalid> {
        self.check_ids(id)?;
        if self.pool.ty(id) == Type::Boolean {
            return Err(Invalid(format!(
                "`{}` is Boolean where a number is needed",
                self.print(id)
            )));
        }
        Ok(())
    }

    fn check_boolean(&self, id: ExprId) -> Result<(), Invalid> {
        self.check_ids(id)?;
        if self.pool.ty(id) != Type::Boolean {
            return Err(Invalid(format!("`{}` is no condition", self.print(id))));
        }
        Ok(())
    }

    fn check_guard(&self, id: ExprId) -> Result<(), Invalid> {
        self.check_boolean(id)?;
        match self
            .pool
            .occurrences(id)
            .into_iter()
            .find(|&Derivative { var, .. }| self.is_unknown(var))
        {
            Some(Derivative { var, .. }) => Err(Invalid(format!(
                "guard `{}` holds the unknown `{}`",
                self.print(id),
                self.variables[var].name
            ))),
            None => Ok(()),
        }
    }

    fn check_discrete(&self, var: crate::VarId) -> Result<(), Invalid> {
        let variable = &self.variables[var];
        match variable.role {
            Role::Discrete | Role::Parameter => Ok(()),
            _ => Err(Invalid(format!(
                "`{}` is assigned like a discrete variable but is none",
                variable.name
            ))),
        }
    }
}
