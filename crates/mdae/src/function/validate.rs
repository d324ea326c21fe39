//! What every function must satisfy.

use super::Functions;
use super::ir::{Body, Function, FunctionExpr, LocalId, Place, Statement};
use super::walk::Visit;
use crate::index::{FunctionId, Idx};
use crate::validate::Invalid;

impl Function {
    /// Checks ids, the numbers of indices and of arguments, and that what is seen from outside has a fixed size.
    pub fn validate(&self, functions: &Functions) -> Result<(), Invalid> {
        let seen = self.inputs.iter().chain(&self.outputs);
        for &id in seen {
            if self.local(id)?.open {
                return Err(self.invalid(format!("`{}` has an open size", self.local(id)?.name)));
            }
        }
        let Body::Algorithm(statements) = &self.body else {
            return Ok(());
        };
        let mut result = Ok(());
        statements.for_each_statement(&mut |statement| {
            if result.is_ok() {
                result = self.check_statement(statement, functions);
            }
        });
        result?;
        let mut result = Ok(());
        statements.for_each_part(&mut |expr| {
            if result.is_ok() {
                result = self.check_expr(expr, functions);
            }
        });
        result
    }

    fn invalid(&self, what: String) -> Invalid {
        Invalid(format!("function `{}`: {what}", self.name))
    }

    fn local(&self, id: LocalId) -> Result<&super::Local, Invalid> {
        let local = self.locals.get(id.0 as usize);
        local.ok_or_else(|| self.invalid(format!("there is no variable {}", id.0)))
    }

    fn check_place(&self, place: &Place) -> Result<(), Invalid> {
        let local = self.local(place.local)?;
        if place.indices.len() != local.dims.len() {
            return Err(self.invalid(format!("`{}` has {} indices", local.name, place.indices.len())));
        }
        Ok(())
    }

    fn check_call(&self, id: FunctionId, args: usize, functions: &Functions) -> Result<(), Invalid> {
        if id.index() >= functions.len() {
            return Err(self.invalid(format!("there is no function {}", id.index())));
        }
        let (callee, wanted) = (&functions[id].name, functions[id].input_size());
        if wanted != args {
            return Err(self.invalid(format!("`{callee}` has {wanted} arguments, not {args}")));
        }
        Ok(())
    }

    fn check_statement(&self, statement: &Statement, functions: &Functions) -> Result<(), Invalid> {
        match statement {
            Statement::Assign(place, _) => self.check_place(place),
            Statement::CallAssign {
                function,
                args,
                targets,
            } => {
                self.check_call(*function, args.len(), functions)?;
                targets.iter().try_for_each(|(_, place)| self.check_place(place))
            }
            Statement::Allocate { local, sizes } => {
                let variable = self.local(*local)?;
                if !variable.open || sizes.len() != variable.dims.len() {
                    return Err(self.invalid(format!("`{}` cannot be given these sizes", variable.name)));
                }
                Ok(())
            }
            Statement::For { counter, .. } => self.check_place(&Place {
                local: *counter,
                indices: Vec::new(),
            }),
            _ => Ok(()),
        }
    }

    fn check_expr(&self, expr: &FunctionExpr, functions: &Functions) -> Result<(), Invalid> {
        match expr {
            FunctionExpr::Read(place) => self.check_place(place),
            FunctionExpr::Call { function, output, args } => {
                self.check_call(*function, args.len(), functions)?;
                if *output as usize >= functions[*function].output_size() {
                    return Err(self.invalid(format!("`{}` has no output {output}", functions[*function].name)));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
