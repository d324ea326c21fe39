//! What every function must satisfy.

use super::Functions;
use super::ir::{Body, DerivativeInput, Function, FunctionExpr, Local, LocalId, Place, Statement};
use super::walk::Visit;
use crate::index::{FunctionId, Idx};
use crate::validate::Invalid;

/// Scalars that the variables of one function may have together.
const MOST_SCALARS: usize = 1 << 24;

impl Function {
    /// Checks that the sizes of its variables can be multiplied and are within limits, and that inputs and outputs are
    /// there.
    pub(crate) fn check_sizes(&self) -> Result<(), Invalid> {
        let size = |dims: &[u32]| {
            let mut dims = dims.iter().map(|&dim| dim as usize);
            dims.try_fold(1_usize, |size, dim| size.checked_mul(dim))
        };
        let mut locals = self.locals.iter();
        let total = locals.try_fold(0_usize, |total, local| total.checked_add(size(&local.dims)?));
        if total.is_none_or(|total| total > MOST_SCALARS) {
            return Err(self.invalid("its variables are too large".to_owned()));
        }
        let closed = |local: &Local| !local.open || local.dims.iter().all(|&dim| dim == 0);
        if let Some(local) = self.locals.iter().find(|local| !closed(local)) {
            return Err(self.invalid(format!("`{}` has a size before it is given one", local.name)));
        }
        let mut seen = self.inputs.iter().chain(&self.outputs);
        seen.try_for_each(|&id| self.local(id).map(drop))
    }

    /// Checks ids, the numbers of indices and of arguments, and that what is seen from outside has a fixed size.
    pub fn validate(&self, functions: &Functions) -> Result<(), Invalid> {
        let seen = self.inputs.iter().chain(&self.outputs);
        for &id in seen {
            if self.local(id)?.open {
                return Err(self.invalid(format!("`{}` has an open size", self.local(id)?.name)));
            }
        }
        self.check_annotations(functions)?;
        let (inputs, outputs) = (self.input_size(), self.output_size());
        let statements = match &self.body {
            Body::Algorithm(statements) => statements,
            Body::Table(table) if inputs == table.arguments() && outputs == 1 => return Ok(()),
            Body::Text(operation) if inputs == operation.arity() && outputs == 1 && operation.is_reasonable() => {
                return Ok(());
            }
            Body::Foreign(call) if call.fits(inputs) && outputs == 1 => return Ok(()),
            Body::Routine(call) if inputs == call.input_size() && outputs == call.output_size() => return Ok(()),
            _ => {
                return Err(self.invalid(
                    "a table, an operation on texts, a routine or foreign code of other arguments".to_owned(),
                ));
            }
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

    fn check_annotations(&self, functions: &Functions) -> Result<(), Invalid> {
        let (inputs, outputs) = (self.input_size(), self.output_size());
        let position = |position: u32| (position as usize) < inputs;
        let called = |id: FunctionId| {
            let called = functions.get(id);
            called.ok_or_else(|| self.invalid(format!("there is no function {}", id.index())))
        };
        for derivative in &self.derivatives {
            let other = called(derivative.function)?;
            let fits = derivative.inputs.len() == other.input_size()
                && derivative.outputs.len() == outputs
                && derivative.inputs.iter().all(|input| match *input {
                    DerivativeInput::Value(at) | DerivativeInput::Derivative(at) => position(at),
                })
                && { derivative.outputs.iter().flatten() }.all(|&at| (at as usize) < other.output_size())
                && derivative.constant.iter().all(|&at| position(at))
                && { derivative.linked.iter() }.all(|&(base, next)| position(base) && position(next));
            if !fits {
                return Err(self.invalid(format!("`{}` is no derivative of it", other.name)));
            }
        }
        for inverse in &self.inverses {
            let other = called(inverse.function)?;
            let fits = position(inverse.argument)
                && inverse.inputs.len() == other.input_size()
                && other.output_size() >= 1
                && inverse.inputs.iter().flatten().all(|&at| position(at));
            if !fits {
                return Err(self.invalid(format!("`{}` is no inverse of it", other.name)));
            }
        }
        Ok(())
    }

    fn invalid(&self, what: String) -> Invalid {
        Invalid(format!("function `{}`: {what}", self.name))
    }

    fn local(&self, id: LocalId) -> Result<&Local, Invalid> {
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

    fn check_output(&self, id: FunctionId, output: u32, functions: &Functions) -> Result<(), Invalid> {
        if output as usize >= functions[id].output_size() {
            return Err(self.invalid(format!("`{}` has no output {output}", functions[id].name)));
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
                targets.iter().try_for_each(|(output, place)| {
                    self.check_output(*function, *output, functions)?;
                    self.check_place(place)
                })
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
                self.check_output(*function, *output, functions)
            }
            _ => Ok(()),
        }
    }
}
