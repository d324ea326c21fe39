//! Operators on events, derivatives and delays.

use super::call::list;
use super::{Context, Mode};
use crate::codes;
use crate::failure::{Fallible, error, fail};
use crate::flat::{Builtin, FlatExpr, Variability};
use crate::flattener::Flattener;
use crate::tensor::{Tensor, Ty};
use saltus_source::Span;
use saltus_syntax::ast::{Call, Expr};

impl Flattener<'_> {
    /// `noEvent` and `smooth` mean nothing in functions and for known values.
    pub(super) fn wrap(
        &mut self,
        builtin: Builtin,
        first: Option<FlatExpr>,
        value: Tensor,
        span: Span,
        ctx: &Context<'_>,
    ) -> Tensor {
        if ctx.frame.is_some() || ctx.mode == Mode::Evaluate || value.is_known() {
            return value;
        }
        let ty = value.ty;
        value.map(ty, |e| {
            let arguments: Vec<FlatExpr> = first.iter().cloned().chain([e]).collect();
            FlatExpr::Builtin(builtin, arguments.into(), span)
        })
    }

    pub(super) fn der(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let (positional, _) = list(call);
        let [argument] = positional else {
            return fail(codes::E0212, span, "`der` takes one argument");
        };
        let value = self.expr(argument, ctx)?;
        if value.ty != Ty::Real {
            return fail(
                codes::E0301,
                span,
                format!("`der` cannot be applied to {}", value.shape()),
            );
        }
        if ctx.frame.is_some() {
            return fail(codes::E0311, span, "`der` cannot be used in a function");
        }
        for expr in value.exprs() {
            if let FlatExpr::Variable(v) = expr
                && self.model.variables[*v].ty != crate::flat::ScalarType::Real
            {
                let name = &self.model.variables[*v].name;
                return fail(
                    codes::E0301,
                    span,
                    format!("`{name}` is discrete and has no derivative"),
                );
            }
        }
        if value.exprs().any(|e| self.expr_variability(e) == Variability::Discrete) {
            return Err(error(
                codes::E0301,
                span,
                "`der` of what changes at events only, and has no derivative",
            )
            .with_help("for the rate of a sampled signal, divide its change by the interval")
            .into());
        }
        let varies = |e: &FlatExpr| self.expr_variability(e) > Variability::Parameter;
        let flags: Vec<bool> = value.exprs().map(varies).collect();
        let mut flags = flags.into_iter();
        Ok(value.map(Ty::Real, |e| match flags.next() {
            Some(true) => FlatExpr::Builtin(Builtin::Der, Box::new([e]), span),
            _ => FlatExpr::Real(0.0),
        }))
    }

    /// How an expression may change.
    pub(crate) fn expr_variability(&self, expr: &FlatExpr) -> Variability {
        let mut result = Variability::Constant;
        expr.walk(&mut |e| {
            let own = match e {
                FlatExpr::Variable(v) => self.model.variables[*v].variability,
                FlatExpr::Time => Variability::Continuous,
                FlatExpr::Builtin(Builtin::Initial | Builtin::Terminal | Builtin::Sample | Builtin::Pre, ..) => {
                    Variability::Discrete
                }
                FlatExpr::Builtin(
                    Builtin::ClockedSample
                    | Builtin::Clock
                    | Builtin::FirstTick
                    | Builtin::Interval
                    | Builtin::Previous,
                    ..,
                ) => Variability::Discrete,
                _ => Variability::Constant,
            };
            result = result.max(own);
        });
        result
    }

    pub(super) fn left_limit(&mut self, name: &str, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let (positional, _) = list(call);
        let [argument] = positional else {
            return fail(codes::E0212, span, format!("`{name}` takes one argument"));
        };
        if ctx.frame.is_some() {
            return fail(codes::E0311, span, format!("`{name}` cannot be used in a function"));
        }
        let value = self.expr(argument, ctx)?;
        let builtin = match name {
            "pre" => Builtin::Pre,
            "edge" => Builtin::Edge,
            _ => Builtin::Change,
        };
        if builtin == Builtin::Edge && value.ty != Ty::Boolean {
            return fail(
                codes::E0301,
                span,
                format!("`edge` cannot be applied to {}", value.shape()),
            );
        }
        if value.ty.scalar().is_none() {
            return fail(
                codes::E0301,
                span,
                format!("`{name}` cannot be applied to {}", value.shape()),
            );
        }
        let is_name = |e: &FlatExpr| matches!(e, FlatExpr::Variable(_)) || e.is_literal();
        if builtin != Builtin::Pre && !value.exprs().all(is_name) {
            return Err(error(codes::E0301, span, format!("`{name}` of an expression"))
                .with_help(format!("give the expression a name, and write `{name}` of that"))
                .into());
        }
        let ty = if builtin == Builtin::Pre { value.ty } else { Ty::Boolean };
        // What cannot change, a parameter say, is its own left limit.
        let stays: Vec<bool> = (value.exprs())
            .map(|e| self.expr_variability(e) <= Variability::Parameter)
            .collect();
        let mut stays = stays.into_iter();
        Ok(value.map(ty, |e| match (builtin, stays.next().unwrap_or_default()) {
            (Builtin::Pre, true) => e,
            (_, true) => FlatExpr::Boolean(false),
            _ => FlatExpr::Builtin(builtin, Box::new([e]), span),
        }))
    }

    pub(super) fn sample(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        if let Some(sampled) = self.clocked_sample(call, span, ctx)? {
            return Ok(sampled);
        }
        if ctx.frame.is_some() {
            return fail(codes::E0311, span, "`sample` cannot be used in a function");
        }
        let arguments = self.required(call, &["start", "interval"], 2)?;
        let mut values = Vec::new();
        for argument in &arguments {
            let value = self.real_scalar(*argument, ctx)?;
            if self.expr_variability(&value) > Variability::Parameter {
                let span = argument.map_or(span, |e| e.span);
                return fail(codes::E0303, span, "the arguments of `sample` cannot vary with time");
            }
            values.push(value);
        }
        Ok(Tensor::scalar(
            Ty::Boolean,
            FlatExpr::Builtin(Builtin::Sample, values.into(), span),
        ))
    }

    pub(super) fn homotopy(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let arguments = self.required(call, &["actual", "simplified"], 2)?;
        let actual = self.expr_of(arguments[0], ctx)?;
        if ctx.frame.is_some() || ctx.mode == Mode::Evaluate || actual.is_known() {
            return Ok(actual);
        }
        let simplified = self.expr_of(arguments[1], ctx)?;
        if actual.dims != simplified.dims {
            return fail(codes::E0302, span, "the arguments of `homotopy` differ in size");
        }
        let mut other = simplified.exprs().cloned().collect::<Vec<_>>().into_iter();
        Ok(actual.map(Ty::Real, |e| match other.next() {
            Some(simple) => FlatExpr::Builtin(Builtin::Homotopy, Box::new([e, simple]), span),
            None => e,
        }))
    }

    pub(super) fn delay(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        if ctx.frame.is_some() {
            return fail(codes::E0311, span, "`delay` cannot be used in a function");
        }
        let arguments = self.required(call, &["expr", "delayTime", "delayMax"], 2)?;
        let value = self.expr_of(arguments[0], ctx)?;
        let mut times = vec![self.real_scalar(arguments[1], ctx)?];
        if arguments[2].is_some() {
            times.push(self.real_scalar(arguments[2], ctx)?);
        }
        let bound = times.last().map_or(Variability::Constant, |e| self.expr_variability(e));
        if bound > Variability::Parameter {
            return fail(
                codes::E0303,
                span,
                "the longest delay cannot vary with time: give a parameter, or a third argument",
            );
        }
        let ty = value.ty;
        Ok(value.map(ty, |e| {
            let arguments: Vec<FlatExpr> = [e].into_iter().chain(times.iter().cloned()).collect();
            FlatExpr::Builtin(Builtin::Delay, arguments.into(), span)
        }))
    }

    /// `spatialDistribution(in0, in1, x, positiveVelocity, initialPoints, initialValues)`: both ends.
    pub(super) fn spatial_distribution(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Vec<Tensor>> {
        const NAMES: [&str; 6] = ["in0", "in1", "x", "positiveVelocity", "initialPoints", "initialValues"];
        if ctx.frame.is_some() {
            return fail(codes::E0311, span, "`spatialDistribution` cannot be used in a function");
        }
        let arguments = self.required(call, &NAMES, 4)?;
        let mut values = Vec::new();
        for argument in &arguments[..3] {
            values.push(self.real_scalar(*argument, ctx)?);
        }
        if let Some(direction) = arguments[3] {
            values.push(self.condition(direction, ctx)?);
        }
        let mut profile = Vec::new();
        for (argument, default) in arguments[4..].iter().zip([[0.0, 1.0], [0.0, 0.0]]) {
            let list = match argument {
                Some(argument) => self.profile_list(argument, ctx)?,
                None => default.map(FlatExpr::Real).to_vec(),
            };
            profile.push(list);
        }
        if profile[0].len() != profile[1].len() || profile[0].len() < 2 {
            return Err(error(
                codes::E0302,
                span,
                format!(
                    "there are {} initial points and {} initial values",
                    profile[0].len(),
                    profile[1].len()
                ),
            )
            .with_help("give as many values as points, and at least the points 0 and 1")
            .into());
        }
        values.extend(profile.into_iter().flatten());
        let end = |builtin| Tensor::scalar(Ty::Real, FlatExpr::Builtin(builtin, values.clone().into(), span));
        Ok(vec![end(Builtin::TransportedLeft), end(Builtin::TransportedRight)])
    }

    /// A vector that does not vary with time.
    fn profile_list(&mut self, argument: &Expr, ctx: &Context<'_>) -> Fallible<Vec<FlatExpr>> {
        let value = self.expr(argument, ctx)?;
        if value.dims.len() != 1 || !value.ty.is_numeric() {
            return fail(
                codes::E0302,
                argument.span,
                format!("a vector of Reals is needed, but this is {}", value.shape()),
            );
        }
        let list: Vec<FlatExpr> = value.exprs().cloned().collect();
        if list.iter().any(|e| self.expr_variability(e) > Variability::Parameter) {
            return fail(
                codes::E0303,
                argument.span,
                "the initial profile of `spatialDistribution` cannot vary with time",
            );
        }
        Ok(list)
    }
}
