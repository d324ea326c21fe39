//! Arguments of the built-in statements.

use saltus_source::Span;
use saltus_syntax::ast::{Call, Expr};

use crate::codes;
use crate::expr::Context;
use crate::failure::{Fallible, fail};
use crate::flat::{AssertLevel, FlatExpr};
use crate::flattener::Flattener;
use crate::tensor::Ty;

/// Arguments by position or name; the first `required` must be there.
pub(super) fn by_name<'c>(
    call: &'c Call,
    names: &[&str],
    required: usize,
    span: Span,
) -> Fallible<Vec<Option<&'c Expr>>> {
    let mut result: Vec<Option<&Expr>> = vec![None; names.len()];
    if call.positional().len() > names.len() {
        return fail(codes::E0212, span, "too many arguments");
    }
    for (slot, argument) in result.iter_mut().zip(call.positional()) {
        *slot = Some(argument);
    }
    for argument in call.named() {
        match names.iter().position(|n| *n == argument.name.name) {
            Some(position) if result[position].is_none() => result[position] = Some(&argument.value),
            _ => {
                return fail(
                    codes::E0212,
                    argument.name.span,
                    format!("there is no argument `{}`", argument.name),
                );
            }
        }
    }
    match result[..required].iter().position(Option::is_none) {
        Some(missing) => fail(
            codes::E0212,
            span,
            format!("the argument `{}` is missing", names[missing]),
        ),
        None => Ok(result),
    }
}

/// `assert(condition, message, level)`
pub(crate) struct Assertion {
    pub condition: FlatExpr,
    pub message: FlatExpr,
    pub level: AssertLevel,
}

impl Flattener<'_> {
    pub(crate) fn assertion(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Assertion> {
        let arguments = by_name(call, &["condition", "message", "level"], 2, span)?;
        let (Some(condition), Some(message)) = (arguments[0], arguments[1]) else {
            return Err(crate::failure::Failure::Reported);
        };
        let condition = self.condition(condition, ctx)?;
        // The message of an assertion that holds is not asked for.
        let message = match condition {
            FlatExpr::Boolean(true) => {
                self.unreached_message(message, ctx);
                FlatExpr::String("".into())
            }
            _ => self.message(message, ctx)?,
        };
        let level = match arguments[2] {
            None => AssertLevel::Error,
            Some(level) => {
                let value = self.evaluate(level, ctx)?;
                let is_level = matches!(value.ty, Ty::Enumeration(id)
                    if &*self.model.enumerations[id].name == "AssertionLevel");
                match value.as_integer() {
                    Some(1) if is_level => AssertLevel::Warning,
                    Some(2) if is_level => AssertLevel::Error,
                    _ => return fail(codes::E0301, level.span, "this must be a value of AssertionLevel"),
                }
            }
        };
        Ok(Assertion {
            condition,
            message,
            level,
        })
    }

    pub(super) fn message(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<FlatExpr> {
        let (ty, message) = self.scalar(expr, ctx)?;
        if ty != Ty::String {
            return fail(
                codes::E0301,
                expr.span,
                format!("a String is needed, but this is {}", ty.name()),
            );
        }
        Ok(message)
    }
}
