//! Built-in functions and operators.

use saltus_source::Span;
use saltus_syntax::ast::{Call, Expr, split_name};

use super::call::{list, name_of};
use super::math::semi_linear;
use super::{Context, into_scalar};
use crate::class::Found;
use crate::codes;
use crate::failure::{Fallible, fail};
use crate::flat::{BinaryOp, Builtin, FlatExpr};
use crate::flattener::{Flattener, Moment};
use crate::tensor::{Tensor, Ty, binary};

/// Names that cannot be declared by users.
const OPERATORS: &[&str] = &[
    "der",
    "pre",
    "edge",
    "change",
    "sample",
    "initial",
    "terminal",
    "noEvent",
    "smooth",
    "homotopy",
    "delay",
    "semiLinear",
    "reinit",
    "assert",
    "terminate",
    "cardinality",
    "inStream",
    "actualStream",
    "spatialDistribution",
    "getInstanceName",
    "pure",
    "isPresent",
    "size",
    "ndims",
    "backSample",
    "hold",
    "interval",
    "noClock",
    "previous",
    "shiftSample",
    "subSample",
    "superSample",
    "firstTick",
];

/// Names of functions that users may declare anew.
pub(super) const NAMES: &[&str] = &[
    "abs",
    "sign",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "log10",
    "div",
    "mod",
    "rem",
    "ceil",
    "floor",
    "integer",
    "min",
    "max",
    "sum",
    "product",
    "scalar",
    "vector",
    "matrix",
    "transpose",
    "outerProduct",
    "symmetric",
    "cross",
    "skew",
    "identity",
    "diagonal",
    "zeros",
    "ones",
    "fill",
    "linspace",
    "cat",
    "promote",
    "array",
    "String",
    "Integer",
    "der",
    "pre",
    "edge",
    "change",
    "sample",
    "initial",
    "noEvent",
    "smooth",
    "homotopy",
    "delay",
    "semiLinear",
    "size",
    "ndims",
    "activeState",
    "ticksInState",
    "timeInState",
    "Clock",
];

/// Whether something built in takes or makes arrays as a whole.
pub(crate) fn works_on_arrays(name: &str) -> bool {
    matches!(
        name,
        "min"
            | "max"
            | "sum"
            | "product"
            | "size"
            | "ndims"
            | "scalar"
            | "vector"
            | "matrix"
            | "transpose"
            | "outerProduct"
            | "symmetric"
            | "cross"
            | "skew"
            | "identity"
            | "diagonal"
            | "zeros"
            | "ones"
            | "fill"
            | "linspace"
            | "cat"
            | "promote"
            | "array"
    )
}

/// Whether a name always means an operator.
pub(crate) fn is_operator(name: &str) -> bool {
    OPERATORS.contains(&name)
}

/// Whether a name means something built in unless it is declared anew.
pub(crate) fn is_builtin(name: &str) -> bool {
    NAMES.contains(&name)
}

impl Flattener<'_> {
    /// The value of a call of something built in; `None` if it is not.
    pub(super) fn builtin_call(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Option<Tensor>> {
        let [part] = call.function.parts.as_slice() else {
            if call
                .function
                .parts
                .first()
                .is_some_and(|p| p.name.name == "Connections")
            {
                return self.graph_query(call, span, ctx).map(Some);
            }
            return Ok(None);
        };
        let name = part.name.name.as_str();
        if name == "rooted" {
            return self.graph_query(call, span, ctx).map(Some);
        }
        if OPERATORS.contains(&name) {
            return self.operator_call(name, call, span, ctx).map(Some);
        }
        if !NAMES.contains(&name) {
            return Ok(None);
        }
        if !call.function.global
            && let Some(Found::Class(class)) = self.lookup(ctx.scope.class, &part.name.name)?
            && self.classes[class].predefined.is_none()
        {
            return Ok(None);
        }
        self.named_builtin(name, call, span, ctx)
    }

    /// Also used for `external "builtin"`.
    pub(crate) fn named_builtin(
        &mut self,
        name: &str,
        call: &Call,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Option<Tensor>> {
        if let Some(value) = self.reduction(name, call, span, ctx)? {
            return Ok(Some(value));
        }
        if matches!(name, "activeState" | "ticksInState" | "timeInState") {
            return self.state_query(name, call, span, ctx).map(Some);
        }
        if name == "Clock" {
            return self.clocked_operator(name, call, span, ctx).map(Some);
        }
        if matches!(name, "String" | "Integer") {
            return self.conversion(name, call, span, ctx).map(Some);
        }
        let (positional, named) = list(call);
        if !named.is_empty() {
            return fail(
                codes::E0212,
                named[0].name.span,
                format!("`{name}` takes no named arguments"),
            );
        }
        let values = positional
            .iter()
            .map(|argument| self.expr(argument, ctx))
            .collect::<Fallible<Vec<_>>>()?;
        if let Some(value) = self.math(name, &values, span)? {
            return Ok(Some(value));
        }
        self.array_function(name, values, span, ctx).map(Some)
    }

    /// Arguments by position or name.
    pub(super) fn named_arguments<'c>(&self, call: &'c Call, names: &[&str]) -> Fallible<Vec<Option<&'c Expr>>> {
        let (positional, named) = list(call);
        let mut result: Vec<Option<&Expr>> = vec![None; names.len()];
        if positional.len() > names.len() {
            return fail(
                codes::E0212,
                call.function.span,
                format!("`{}` takes at most {} arguments", name_of(call), names.len()),
            );
        }
        for (slot, argument) in result.iter_mut().zip(positional) {
            *slot = Some(argument);
        }
        for argument in named {
            match names.iter().position(|n| *n == argument.name.name) {
                Some(position) if result[position].is_none() => result[position] = Some(&argument.value),
                _ => {
                    return fail(
                        codes::E0212,
                        argument.name.span,
                        format!("`{}` has no free argument `{}`", name_of(call), argument.name),
                    );
                }
            }
        }
        Ok(result)
    }

    pub(super) fn required<'c>(&self, call: &'c Call, names: &[&str], count: usize) -> Fallible<Vec<Option<&'c Expr>>> {
        let arguments = self.named_arguments(call, names)?;
        if let Some(missing) = arguments[..count].iter().position(Option::is_none) {
            return fail(
                codes::E0212,
                call.function.span,
                format!("`{}` needs the argument `{}`", name_of(call), names[missing]),
            );
        }
        Ok(arguments)
    }

    pub(super) fn operator_call(&mut self, name: &str, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        match name {
            "der" => self.der(call, span, ctx),
            "pre" | "edge" | "change" => self.left_limit(name, call, span, ctx),
            "sample" => self.sample(call, span, ctx),
            "initial" | "terminal" => {
                if !call.positional().is_empty() {
                    return fail(codes::E0212, span, format!("`{name}` takes no arguments"));
                }
                if ctx.frame.is_some() {
                    return fail(codes::E0311, span, format!("`{name}` cannot be used in a function"));
                }
                let builtin = if name == "initial" {
                    Builtin::Initial
                } else {
                    Builtin::Terminal
                };
                Ok(Tensor::scalar(
                    Ty::Boolean,
                    FlatExpr::Builtin(builtin, Box::default(), span),
                ))
            }
            "noEvent" => {
                let arguments = self.required(call, &["expr"], 1)?;
                let value = self.expr_of(arguments[0], ctx)?;
                Ok(self.wrap(Builtin::NoEvent, None, value, span, ctx))
            }
            "smooth" => {
                let arguments = self.required(call, &["p", "expr"], 2)?;
                let order = match arguments[0] {
                    Some(order) => self.evaluate(order, ctx)?,
                    None => Tensor::integer(0),
                };
                if order.as_integer().is_none_or(|order| order < 0) {
                    return fail(
                        codes::E0301,
                        span,
                        "the order of `smooth` must be an Integer that is not negative",
                    );
                }
                let value = self.expr_of(arguments[1], ctx)?;
                Ok(self.wrap(Builtin::Smooth, order.as_expr().cloned(), value, span, ctx))
            }
            "homotopy" => self.homotopy(call, span, ctx),
            "delay" => self.delay(call, span, ctx),
            "spatialDistribution" => {
                let mut ends = self.spatial_distribution(call, span, ctx)?;
                Ok(ends.swap_remove(0))
            }
            "semiLinear" => {
                let arguments = self.required(call, &["x", "positiveSlope", "negativeSlope"], 3)?;
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.expr_of(argument, ctx)?);
                }
                semi_linear(&values, span)
            }
            "size" | "ndims" => self.size(name, call, span, ctx),
            "pure" => {
                let arguments = self.required(call, &["expr"], 1)?;
                self.at_moment(Moment::Start, |this| this.expr_of(arguments[0], ctx))
            }
            "isPresent" => Ok(Tensor::boolean(true)),
            "getInstanceName" => {
                let path = match ctx.scope.instance {
                    Some(instance) => self.instances[instance].path.to_string(),
                    None => String::new(),
                };
                let root = split_name(&self.model.name).pop().unwrap_or("").to_owned();
                Ok(Tensor::string(&if path.is_empty() {
                    root
                } else {
                    format!("{root}.{path}")
                }))
            }
            "cardinality" => self.cardinality(call, span, ctx),
            "inStream" | "actualStream" => self.stream_operator(name, call, span, ctx),
            "assert" | "terminate" | "reinit" => fail(codes::E0311, span, format!("`{name}` is not a value")),
            "previous" | "hold" | "subSample" | "superSample" | "shiftSample" | "backSample" | "noClock"
            | "interval" | "firstTick" => self.clocked_operator(name, call, span, ctx),
            _ => fail(codes::E0214, span, format!("`{name}` is not supported yet")),
        }
    }

    pub(super) fn expr_of(&mut self, argument: Option<&Expr>, ctx: &Context<'_>) -> Fallible<Tensor> {
        match argument {
            Some(expr) => self.expr(expr, ctx),
            None => Err(crate::failure::Failure::Reported),
        }
    }

    pub(super) fn real_scalar(&mut self, argument: Option<&Expr>, ctx: &Context<'_>) -> Fallible<FlatExpr> {
        let value = self.expr_of(argument, ctx)?;
        let span = argument.map_or(crate::class::nowhere(), |e| e.span);
        if !value.ty.is_numeric() {
            return fail(
                codes::E0301,
                span,
                format!("a Real is needed, but this is {}", value.shape()),
            );
        }
        into_scalar(value, span).map(|(_, e)| e)
    }
}

/// `a + b`, for sums made while flattening.
pub(crate) fn add(a: FlatExpr, b: FlatExpr, span: Span) -> FlatExpr {
    binary(BinaryOp::Add, a, b, span)
}
