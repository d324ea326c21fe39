//! Clocks and the operators on them (chapter 16 of the specification).

use super::call::list;
use super::{Context, into_scalar};
use crate::codes;
use crate::failure::{Fallible, error, fail};
use crate::flat::{Builtin, FlatExpr, Variability};
use crate::flattener::Flattener;
use crate::tensor::{Tensor, Ty};
use saltus_source::Span;
use saltus_syntax::ast::{Call, Expr};

impl Flattener<'_> {
    pub(super) fn clocked_operator(
        &mut self,
        name: &str,
        call: &Call,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        self.outside_functions(name, span, ctx)?;
        match name {
            "Clock" => self.clock(call, span, ctx),
            "previous" => self.of_component(Builtin::Previous, call, span, ctx),
            "hold" => self.of_component(Builtin::Hold, call, span, ctx),
            "noClock" => {
                let arguments = self.required(call, &["u"], 1)?;
                let value = self.expr_of(arguments[0], ctx)?;
                if value.ty == Ty::Clock {
                    return fail(codes::E0301, span, "`noClock` cannot be applied to a clock");
                }
                Ok(operated(Builtin::NoClock, value, &[], span))
            }
            "subSample" | "superSample" => {
                let arguments = self.required(call, &["u", "factor"], 1)?;
                let builtin = if name == "subSample" {
                    Builtin::SubSample
                } else {
                    Builtin::SuperSample
                };
                let factor = self.counter(arguments[1], "the factor", 0, 0, ctx)?;
                let value = self.expr_of(arguments[0], ctx)?;
                Ok(operated(builtin, value, &[factor], span))
            }
            "shiftSample" | "backSample" => self.shifted(name, call, span, ctx),
            _ => {
                let builtin = if name == "interval" {
                    Builtin::Interval
                } else {
                    Builtin::FirstTick
                };
                let arguments = self.required(call, &["u"], 0)?;
                let ty = if builtin == Builtin::Interval {
                    Ty::Real
                } else {
                    Ty::Boolean
                };
                let mut about: Vec<FlatExpr> = Vec::new();
                if arguments[0].is_some() {
                    about.extend(self.expr_of(arguments[0], ctx)?.exprs().cloned());
                }
                Ok(Tensor::scalar(ty, FlatExpr::Builtin(builtin, about.into(), span)))
            }
        }
    }

    /// `sample(u)` or `sample(u, clock)`; `None` if it is `sample(start, interval)`.
    pub(super) fn clocked_sample(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Option<Tensor>> {
        let (positional, named) = list(call);
        let clock = match (positional, named) {
            ([_], []) => None,
            ([_], [only]) if only.name.name == "clock" => Some(&only.value),
            ([_, second], []) => Some(second),
            _ => return Ok(None),
        };
        let mut arguments = Vec::new();
        if let Some(clock) = clock {
            let value = self.expr(clock, ctx)?;
            if value.ty != Ty::Clock {
                return Ok(None);
            }
            self.outside_functions("sample", span, ctx)?;
            arguments.push(into_scalar(value, clock.span)?.1);
        }
        self.outside_functions("sample", span, ctx)?;
        let value = self.expr(&positional[0], ctx)?;
        if value.ty.scalar().is_none() || value.ty == Ty::Clock {
            return fail(
                codes::E0301,
                span,
                format!("`sample` cannot be applied to {}", value.shape()),
            );
        }
        Ok(Some(operated(Builtin::ClockedSample, value, &arguments, span)))
    }

    fn outside_functions(&self, name: &str, span: Span, ctx: &Context<'_>) -> Fallible<()> {
        if ctx.frame.is_some() {
            return fail(codes::E0311, span, format!("`{name}` cannot be used in a function"));
        }
        Ok(())
    }

    /// `previous(v)` and `hold(v)`: before the first tick they are the start value, which expressions do not have.
    fn of_component(&mut self, builtin: Builtin, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let arguments = self.required(call, &["u"], 1)?;
        let value = self.expr_of(arguments[0], ctx)?;
        let name = builtin.name();
        if value.ty.scalar().is_none() || value.ty == Ty::Clock {
            return fail(
                codes::E0301,
                span,
                format!("`{name}` cannot be applied to {}", value.shape()),
            );
        }
        let plain =
            |e: &FlatExpr| matches!(e, FlatExpr::Variable(_)) || self.expr_variability(e) <= Variability::Parameter;
        if !value.exprs().all(plain) {
            return Err(error(codes::E0301, span, format!("`{name}` of an expression"))
                .with_help(format!(
                    "give the expression a name, and write `{name}` of that: a variable has a start value"
                ))
                .into());
        }
        let varies: Vec<bool> = value
            .exprs()
            .map(|e| self.expr_variability(e) > Variability::Parameter)
            .collect();
        let (mut varies, ty) = (varies.into_iter(), value.ty);
        Ok(value.map(ty, |e| match varies.next() {
            Some(true) => FlatExpr::Builtin(builtin, Box::new([e]), span),
            _ => e,
        }))
    }

    fn shifted(&mut self, name: &str, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let (builtin, counter) = match name {
            "shiftSample" => (Builtin::ShiftSample, "shiftCounter"),
            _ => (Builtin::BackSample, "backCounter"),
        };
        let arguments = self.required(call, &["u", counter, "resolution"], 2)?;
        let count = self.counter(arguments[1], "the counter", 0, 0, ctx)?;
        let resolution = self.counter(arguments[2], "the resolution", 1, 1, ctx)?;
        let value = self.expr_of(arguments[0], ctx)?;
        Ok(operated(builtin, value, &[count, resolution], span))
    }

    /// An Integer that is known now and not below a bound.
    fn counter(
        &mut self,
        argument: Option<&Expr>,
        what: &str,
        default: i64,
        least: i64,
        ctx: &Context<'_>,
    ) -> Fallible<FlatExpr> {
        let Some(expr) = argument else {
            return Ok(FlatExpr::Integer(default));
        };
        match self.evaluate(expr, ctx)?.as_integer() {
            Some(value) if value >= least => Ok(FlatExpr::Integer(value)),
            _ => fail(
                codes::E0301,
                expr.span,
                format!("{what} must be an Integer that is not less than {least}"),
            ),
        }
    }

    /// One of the constructors of clocks (16.3).
    fn clock(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        const FORMS: [&[&str]; 4] = [
            &["intervalCounter", "resolution"],
            &["interval"],
            &["condition", "startInterval"],
            &["c", "solverMethod"],
        ];
        let (positional, named) = list(call);
        let mut values: Vec<FlatExpr> = Vec::new();
        if positional.is_empty() && named.is_empty() {
            return Ok(clock_of(values, span));
        }
        let fits = |form: &&&[&str]| named.iter().all(|n| form.contains(&n.name.name.as_str()));
        let first_named = |form: &&&[&str]| !positional.is_empty() || named.iter().any(|n| n.name.name == form[0]);
        let Some(names) = FORMS.iter().filter(fits).find(first_named) else {
            return Err(error(codes::E0212, span, "this is no constructor of a clock")
                .with_help(
                    "write `Clock()`, `Clock(intervalCounter, resolution)`, `Clock(interval)`, `Clock(condition, startInterval)` \
                     or `Clock(c, solverMethod)`",
                )
                .into());
        };
        let names = match positional.len() {
            // Without names the type of the first argument says the form; all of them have at most two.
            0 => *names,
            _ if named.is_empty() => &["", "of the second"],
            _ => *names,
        };
        let arguments = self.named_arguments(call, names)?;
        let Some(first) = arguments[0] else {
            return fail(codes::E0212, span, "the first argument of `Clock` is missing");
        };
        let second = arguments.get(1).copied().flatten();
        let (ty, value) = self.scalar(first, ctx)?;
        match ty {
            Ty::Integer => {
                values.push(self.known_or_clocked(first, value, ctx)?);
                values.push(self.counter(second, "the resolution", 1, 1, ctx)?);
                if let FlatExpr::Integer(counter) = values[0]
                    && counter < 0
                {
                    return fail(codes::E0301, first.span, "the interval of a clock cannot be negative");
                }
            }
            Ty::Real => {
                values.push(self.known_or_clocked(first, value, ctx)?);
                if second.is_some() {
                    return fail(
                        codes::E0212,
                        span,
                        "a clock with a Real interval has no second argument",
                    );
                }
                if let Some(interval) = values[0].as_number()
                    && !(interval > 0.0 && interval.is_finite())
                {
                    return fail(codes::E0301, first.span, "the interval of a clock must be positive");
                }
            }
            Ty::Boolean => {
                values.push(value);
                values.push(match second {
                    Some(start) => self.real_scalar(Some(start), ctx)?,
                    None => FlatExpr::Real(0.0),
                });
            }
            Ty::Clock => {
                values.push(value);
                let method = match second {
                    Some(method) => self.evaluate(method, ctx)?,
                    None => return fail(codes::E0212, span, "`Clock` of a clock needs a solver method"),
                };
                match method.as_expr() {
                    Some(method @ FlatExpr::String(_)) => values.push(method.clone()),
                    _ => return fail(codes::E0301, span, "the solver method of a clock is a String"),
                }
            }
            _ => {
                return fail(
                    codes::E0301,
                    first.span,
                    format!("a clock cannot be made of {}", ty.name()),
                );
            }
        }
        Ok(clock_of(values, span))
    }

    /// The interval of a clock: a number if it does not vary, and the expression itself otherwise.
    fn known_or_clocked(&mut self, written: &Expr, value: FlatExpr, ctx: &Context<'_>) -> Fallible<FlatExpr> {
        if value.is_literal() || self.expr_variability(&value) > Variability::Parameter {
            return Ok(value);
        }
        match self.evaluate(written, ctx)?.as_expr() {
            Some(known) => Ok(known.clone()),
            None => Ok(value),
        }
    }
}

fn clock_of(arguments: Vec<FlatExpr>, span: Span) -> Tensor {
    Tensor::scalar(Ty::Clock, FlatExpr::Builtin(Builtin::Clock, arguments.into(), span))
}

/// An operator on every element of a value, with the same further arguments.
fn operated(builtin: Builtin, value: Tensor, more: &[FlatExpr], span: Span) -> Tensor {
    let ty = value.ty;
    value.map(ty, |e| {
        let arguments: Vec<FlatExpr> = [e].into_iter().chain(more.iter().cloned()).collect();
        FlatExpr::Builtin(builtin, arguments.into(), span)
    })
}
