//! The invariants of a flat model.

use super::{EquationKind, FlatEquation, FlatExpr, FlatModel, Idx};

impl FlatModel {
    /// Checks that every index points at something, that constants and parameters only have
    /// bindings, and that local variables of functions do not appear in equations.
    pub fn validate(&self) -> Result<(), String> {
        for variable in self.variables.iter() {
            if variable.binding.is_some() && variable.is_unknown() {
                return Err(format!("`{}` is no parameter but has a binding", variable.name));
            }
            for expr in [&variable.binding, &variable.start].into_iter().flatten() {
                self.validate_expr(expr)?;
            }
            if variable.provenance.index() >= self.provenances.len() {
                return Err(format!("`{}` has no provenance", variable.name));
            }
        }
        self.validate_equations(&self.equations)?;
        self.validate_equations(&self.initial_equations)
    }

    fn validate_equations(&self, equations: &[FlatEquation]) -> Result<(), String> {
        for equation in equations {
            match &equation.kind {
                EquationKind::Equal(lhs, rhs) => {
                    self.validate_expr(lhs)?;
                    self.validate_expr(rhs)?;
                }
                EquationKind::If { branches, otherwise } => {
                    for branch in branches {
                        self.validate_expr(&branch.condition)?;
                        self.validate_equations(&branch.body)?;
                    }
                    self.validate_equations(otherwise)?;
                }
                EquationKind::When { branches } => {
                    for branch in branches {
                        for condition in &branch.conditions {
                            self.validate_expr(condition)?;
                        }
                        self.validate_equations(&branch.body)?;
                    }
                }
                EquationKind::Reinit(_, value) | EquationKind::Terminate(value) | EquationKind::NoReturnCall(value) => {
                    self.validate_expr(value)?
                }
                EquationKind::Assert { condition, message, .. } => {
                    self.validate_expr(condition)?;
                    self.validate_expr(message)?;
                }
            }
        }
        Ok(())
    }

    fn validate_expr(&self, expr: &FlatExpr) -> Result<(), String> {
        let mut problem = None;
        expr.walk(&mut |expr| match expr {
            FlatExpr::Variable(id) if id.index() >= self.variables.len() => {
                problem = Some(format!("variable {} does not exist", id.0));
            }
            FlatExpr::Call(call) => match self.functions.get(call.function) {
                None => problem = Some(format!("function {} does not exist", call.function.0)),
                Some(function) if function.input_size() != call.arguments.len() => {
                    problem = Some(format!("`{}` is called with a wrong number of scalars", function.name));
                }
                Some(_) => {}
            },
            FlatExpr::Local(..) => problem = Some("a local variable outside a function".into()),
            _ => {}
        });
        problem.map_or(Ok(()), Err)
    }
}
