//! Equations and statements that are not translated.

use saltus_source::Span;
use saltus_syntax::ast::{Call, ComponentReference, Equation, EquationKind, Expr, ExprKind, Statement, StatementKind};

use super::{Shape, Surroundings, want};
use crate::codes;
use crate::failure::{Failure, Fallible, fail};
use crate::flattener::Flattener;
use crate::tensor::Ty;

impl Flattener<'_> {
    pub(super) fn look_at_equations(&mut self, equations: &[Equation], around: &Surroundings<'_>) {
        for equation in equations {
            let result = self.look_at_equation(equation, around);
            self.judge(result);
        }
    }

    fn look_at_equation(&mut self, equation: &Equation, around: &Surroundings<'_>) -> Fallible<()> {
        self.spend(1, equation.span)?;
        match &equation.kind {
            EquationKind::Simple { lhs, rhs } => {
                let a = self.shape_of(lhs, around)?;
                let b = self.shape_of(rhs, around)?;
                equal(a, b, equation.span)
            }
            EquationKind::If { branches, otherwise } => {
                for branch in branches {
                    self.look_at_condition(&branch.condition, around);
                    self.look_at_equations(&branch.body, around);
                }
                self.look_at_equations(otherwise.as_deref().unwrap_or(&[]), around);
                Ok(())
            }
            EquationKind::For { indices, body } => {
                self.with_indices(indices, around, &mut |this, inner| this.look_at_equations(body, inner));
                Ok(())
            }
            EquationKind::When { branches } => {
                for branch in branches {
                    self.look_at_when(&branch.condition, around);
                    self.look_at_equations(&branch.body, around);
                }
                Ok(())
            }
            EquationKind::Connect { left, right } => {
                for side in [left, right] {
                    self.look_at_connector(side, around)?;
                }
                Ok(())
            }
            EquationKind::Call(expr) => self.look_at_call(expr, around),
            EquationKind::Error => Err(Failure::Reported),
        }
    }

    pub(super) fn look_at_statements(&mut self, statements: &[Statement], around: &Surroundings<'_>) {
        for statement in statements {
            let result = self.look_at_statement(statement, around);
            self.judge(result);
        }
    }

    fn look_at_statement(&mut self, statement: &Statement, around: &Surroundings<'_>) -> Fallible<()> {
        self.spend(1, statement.span)?;
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let place = self.shape_of_reference(target, around)?;
                let value = self.shape_of(value, around)?;
                if let (Some(a), Some(b)) = (place.ty, value.ty)
                    && !a.accepts(b)
                {
                    let message = format!("{} is assigned to a variable of {}", value.words(), place.words());
                    return fail(codes::E0301, statement.span, message);
                }
                Ok(())
            }
            StatementKind::MultiAssign { targets, value } => {
                for target in targets.iter().flatten() {
                    self.shape_of(target, around)?;
                }
                self.shape_of(value, around).map(drop)
            }
            StatementKind::Call(expr) => self.look_at_call(expr, around),
            StatementKind::If { branches, otherwise } => {
                for branch in branches {
                    self.look_at_condition(&branch.condition, around);
                    self.look_at_statements(&branch.body, around);
                }
                self.look_at_statements(otherwise.as_deref().unwrap_or(&[]), around);
                Ok(())
            }
            StatementKind::For { indices, body } => {
                self.with_indices(indices, around, &mut |this, inner| this.look_at_statements(body, inner));
                Ok(())
            }
            StatementKind::While { condition, body } => {
                self.look_at_condition(condition, around);
                self.look_at_statements(body, around);
                Ok(())
            }
            StatementKind::When { branches } => {
                for branch in branches {
                    self.look_at_when(&branch.condition, around);
                    self.look_at_statements(&branch.body, around);
                }
                Ok(())
            }
            StatementKind::Break | StatementKind::Return => Ok(()),
            StatementKind::Error => Err(Failure::Reported),
        }
    }

    fn look_at_condition(&mut self, condition: &Expr, around: &Surroundings<'_>) {
        let result = self
            .shape_of(condition, around)
            .and_then(|shape| want(shape, Ty::Boolean, condition.span));
        self.judge(result);
    }

    /// A condition of `when`, which may be a vector.
    fn look_at_when(&mut self, condition: &Expr, around: &Surroundings<'_>) {
        let result = self.shape_of(condition, around).and_then(|shape| {
            let scalar = Shape::new(shape.ty, None);
            want(scalar, Ty::Boolean, condition.span)
        });
        self.judge(result);
    }

    /// Connectors are models' connectors, or elements of buses that may not be there yet.
    fn look_at_connector(&mut self, side: &ComponentReference, around: &Surroundings<'_>) -> Fallible<()> {
        match self.shape_of_reference(side, around) {
            Ok(_) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    fn look_at_call(&mut self, expr: &Expr, around: &Surroundings<'_>) -> Fallible<()> {
        let ExprKind::Call(call) = &expr.kind else {
            return Err(Failure::Reported);
        };
        match call.function.as_simple_name().map(|name| name.as_str()) {
            Some("assert") => self.look_at_assertion(call, around),
            Some("terminate") => {
                for message in call.positional() {
                    let shape = self.shape_of(message, around)?;
                    want(shape, Ty::String, message.span)?;
                }
                Ok(())
            }
            _ if self.is_complementarity(call, around.scope.class) => {
                for argument in call.positional() {
                    self.shape_of(argument, around)?;
                }
                Ok(())
            }
            _ => self.shape_of_call(call, expr.span, around).map(drop),
        }
    }

    fn look_at_assertion(&mut self, call: &Call, around: &Surroundings<'_>) -> Fallible<()> {
        for (argument, wanted) in call.positional().iter().zip([Ty::Boolean, Ty::String]) {
            let shape = self.shape_of(argument, around)?;
            want(shape, wanted, argument.span)?;
        }
        for argument in call.named() {
            self.shape_of(&argument.value, around)?;
        }
        Ok(())
    }
}

/// The sides of an equation.
fn equal(a: Shape, b: Shape, span: Span) -> Fallible<()> {
    if let (Some(x), Some(y)) = (a.ty, b.ty)
        && x.join(y).is_none()
    {
        let message = format!("the sides differ in type: {} and {}", a.words(), b.words());
        return fail(codes::E0301, span, message);
    }
    if let (Some(x), Some(y)) = (a.rank, b.rank)
        && x != y
    {
        let message = format!("the sides differ in size: {} and {}", a.words(), b.words());
        return fail(codes::E0302, span, message);
    }
    Ok(())
}
