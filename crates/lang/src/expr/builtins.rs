//! Built-in functions and operators.

use saltus_source::Span;
use saltus_syntax::ast::{Call, CallArguments, Expr, ExprKind};

use super::call::{list, name_of};
use super::reference::Resolved;
use super::{Context, Mode, into_scalar};
use crate::class::Found;
use crate::codes;
use crate::failure::{Fallible, fail};
use crate::flat::{BinaryOp, Builtin, FlatExpr, Variability};
use crate::flattener::Flattener;
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
];

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

    /// Mathematical functions, element by element.
    pub(crate) fn math(&mut self, name: &str, values: &[Tensor], span: Span) -> Fallible<Option<Tensor>> {
        let Some(builtin) = Builtin::from_name(name) else {
            return Ok(None);
        };
        let arity = match builtin {
            Builtin::Abs
            | Builtin::Sign
            | Builtin::Sqrt
            | Builtin::Sin
            | Builtin::Cos
            | Builtin::Tan
            | Builtin::Asin
            | Builtin::Acos
            | Builtin::Atan
            | Builtin::Sinh
            | Builtin::Cosh
            | Builtin::Tanh
            | Builtin::Exp
            | Builtin::Log
            | Builtin::Log10
            | Builtin::Ceil
            | Builtin::Floor
            | Builtin::Integer => 1,
            Builtin::Atan2 | Builtin::Div | Builtin::Mod | Builtin::Rem => 2,
            Builtin::Min | Builtin::Max if values.len() == 2 => 2,
            _ => return Ok(None),
        };
        if values.len() != arity {
            return fail(
                codes::E0212,
                span,
                format!("`{name}` takes {arity} arguments, not {}", values.len()),
            );
        }
        let enumeration = matches!(builtin, Builtin::Min | Builtin::Max)
            && matches!(values[0].ty, Ty::Enumeration(_) | Ty::Boolean)
            && values[0].ty == values[1].ty;
        if !enumeration && let Some(wrong) = values.iter().find(|v| !v.ty.is_numeric()) {
            return fail(
                codes::E0301,
                span,
                format!("`{name}` cannot be applied to {}", wrong.shape()),
            );
        }
        let joined = values
            .iter()
            .map(|v| v.ty)
            .reduce(|a, b| a.join(b).unwrap_or(a))
            .unwrap_or(Ty::Real);
        let ty = match builtin {
            Builtin::Abs | Builtin::Div | Builtin::Mod | Builtin::Rem | Builtin::Min | Builtin::Max => joined,
            Builtin::Sign | Builtin::Integer => Ty::Integer,
            _ => Ty::Real,
        };
        if arity == 1 {
            let value = values[0].clone();
            return Ok(Some(value.map(ty, |e| math_call(builtin, vec![e], span))));
        }
        let (a, b) = (&values[0], &values[1]);
        if a.dims != b.dims && !a.is_scalar() && !b.is_scalar() {
            return fail(
                codes::E0302,
                span,
                format!("`{name}` cannot be applied to {} and {}", a.shape(), b.shape()),
            );
        }
        let dims = if a.is_scalar() { b.dims.clone() } else { a.dims.clone() };
        let count = crate::tensor::volume(&dims).unwrap_or(0);
        let (x, y): (Vec<_>, Vec<_>) = (a.exprs().collect(), b.exprs().collect());
        let elems = (0..count).map(|i| {
            let x = x[if a.is_scalar() { 0 } else { i }].clone();
            let y = y[if b.is_scalar() { 0 } else { i }].clone();
            math_call(builtin, vec![x, y], span)
        });
        Ok(Some(Tensor::array(ty, dims, elems)))
    }

    /// Arguments by position or name.
    fn named_arguments<'c>(&self, call: &'c Call, names: &[&str]) -> Fallible<Vec<Option<&'c Expr>>> {
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

    fn required<'c>(&self, call: &'c Call, names: &[&str], count: usize) -> Fallible<Vec<Option<&'c Expr>>> {
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

    fn operator_call(&mut self, name: &str, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
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
                let value = self.expr_of(arguments[1], ctx)?;
                Ok(self.wrap(Builtin::Smooth, order.as_expr().cloned(), value, span, ctx))
            }
            "homotopy" => self.homotopy(call, span, ctx),
            "delay" => self.delay(call, span, ctx),
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
                self.expr_of(arguments[0], ctx)
            }
            "isPresent" => Ok(Tensor::boolean(true)),
            "getInstanceName" => {
                let path = match ctx.scope.instance {
                    Some(instance) => self.instances[instance].path.to_string(),
                    None => String::new(),
                };
                let root = self.model.name.rsplit('.').next().unwrap_or("").to_owned();
                Ok(Tensor::string(&if path.is_empty() {
                    root
                } else {
                    format!("{root}.{path}")
                }))
            }
            "cardinality" => self.cardinality(call, span, ctx),
            "inStream" | "actualStream" => self.stream_operator(name, call, span, ctx),
            "assert" | "terminate" | "reinit" => fail(codes::E0311, span, format!("`{name}` is not a value")),
            _ => fail(codes::E0214, span, format!("`{name}` is not supported yet")),
        }
    }

    fn expr_of(&mut self, argument: Option<&Expr>, ctx: &Context<'_>) -> Fallible<Tensor> {
        match argument {
            Some(expr) => self.expr(expr, ctx),
            None => Err(crate::failure::Failure::Reported),
        }
    }

    fn real_scalar(&mut self, argument: Option<&Expr>, ctx: &Context<'_>) -> Fallible<FlatExpr> {
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

    /// `noEvent` and `smooth` mean nothing in functions and for known values.
    fn wrap(
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

    fn der(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
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
                _ => Variability::Constant,
            };
            result = result.max(own);
        });
        result
    }

    fn left_limit(&mut self, name: &str, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
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
        let ty = if builtin == Builtin::Pre { value.ty } else { Ty::Boolean };
        Ok(value.map(ty, |e| match (builtin, e.is_literal()) {
            (Builtin::Pre, true) => e,
            (_, true) => FlatExpr::Boolean(false),
            _ => FlatExpr::Builtin(builtin, Box::new([e]), span),
        }))
    }

    fn sample(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        if call.positional().len() == 1 && call.named().is_empty() {
            return fail(codes::E0214, span, "`sample` with a clock is not supported yet");
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

    fn homotopy(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
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

    fn delay(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
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

    fn size(&mut self, name: &str, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let (positional, _) = list(call);
        let Some(array) = positional.first() else {
            return fail(codes::E0212, span, format!("`{name}` needs an array"));
        };
        if let Some(value) = self.size_so_far(array, positional.get(1), ctx)? {
            return Ok(value);
        }
        let dims = self.dims_of(array, ctx)?;
        if name == "ndims" {
            return Ok(Tensor::integer(dims.len() as i64));
        }
        let Some(which) = positional.get(1) else {
            let sizes = dims.iter().map(|&d| FlatExpr::Integer(i64::from(d)));
            let count = dims.len() as u32;
            return Ok(Tensor::array(Ty::Integer, [count][..].into(), sizes));
        };
        let k = self.evaluate(which, ctx)?;
        match k.as_integer().and_then(|k| dims.get((k - 1) as usize)) {
            Some(&size) => Ok(Tensor::integer(i64::from(size))),
            None => fail(
                codes::E0306,
                which.span,
                format!("an array of {} dimensions has no such dimension", dims.len()),
            ),
        }
    }

    /// `A[:, size(A, 1)]`: a size of the array under construction, if it is known already.
    fn size_so_far(&mut self, array: &Expr, which: Option<&Expr>, ctx: &Context<'_>) -> Fallible<Option<Tensor>> {
        let (ExprKind::Reference(reference), Some(instance)) = (&array.kind, ctx.scope.instance) else {
            return Ok(None);
        };
        let Some(name) = reference.as_simple_name() else {
            return Ok(None);
        };
        let under_construction = self.sizing.iter().find(|(i, n, _)| *i == instance && n == name);
        let Some((_, _, dims)) = under_construction.cloned() else {
            return Ok(None);
        };
        let position = match which {
            Some(which) => self.evaluate(which, ctx)?.as_integer(),
            None => None,
        };
        match position.and_then(|k| dims.get(usize::try_from(k).ok()?.checked_sub(1)?)) {
            Some(&size) => Ok(Some(Tensor::integer(i64::from(size)))),
            None => fail(
                codes::E0305,
                array.span,
                format!("the size of `{name}` depends on itself"),
            ),
        }
    }

    /// The dimensions of an expression, without its value where that is possible.
    fn dims_of(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<crate::tensor::Dims> {
        let flat = Context {
            mode: Mode::Flat,
            ..*ctx
        };
        if let ExprKind::Reference(reference) = &expr.kind
            && let Resolved::Selection(selection) = self.resolve(reference, &flat)?
        {
            let dynamic: Vec<usize> = selection.dynamic.iter().map(|(p, _)| *p).collect();
            let kept = selection.dims.iter().enumerate().filter(|(p, _)| !dynamic.contains(p));
            return Ok(kept.map(|(_, d)| *d).collect());
        }
        Ok(self.expr(expr, &flat)?.dims)
    }

    /// `sum`, `product`, `min`, `max` over arrays and iterators; `array` with iterators.
    fn reduction(&mut self, name: &str, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Option<Tensor>> {
        if !matches!(name, "sum" | "product" | "min" | "max" | "array") {
            return Ok(None);
        }
        let values = match &call.arguments {
            CallArguments::Comprehension { element, indices } if name == "array" => {
                return self.array_comprehension(element, indices, span, ctx).map(Some);
            }
            CallArguments::Comprehension { element, indices } => {
                let mut parts = Vec::new();
                self.reduction_elements(element, indices, ctx, &mut parts)?;
                parts
            }
            CallArguments::List { positional, .. } => match (name, positional.as_slice()) {
                ("array", _) => return Ok(None),
                (_, [array]) => {
                    let value = self.expr(array, ctx)?;
                    if value.is_scalar() && matches!(name, "min" | "max") {
                        return fail(codes::E0302, span, format!("`{name}` of a single scalar"));
                    }
                    let ty = value.ty;
                    if matches!(ty, Ty::Record(_)) {
                        let dims = value.dims.first().copied().unwrap_or(1);
                        (1..=dims).filter_map(|k| value.at(k)).collect()
                    } else {
                        let parts: Vec<Tensor> = value.exprs().map(|e| Tensor::scalar(ty, e.clone())).collect();
                        if parts.is_empty() {
                            return empty_reduction(name, ty, span).map(Some);
                        }
                        parts
                    }
                }
                _ => return Ok(None),
            },
        };
        if values.is_empty() {
            return empty_reduction(name, Ty::Real, span).map(Some);
        }
        let mut values = values.into_iter();
        let Some(mut result) = values.next() else {
            return Ok(None);
        };
        for value in values {
            result = self.combine(name, result, value, span)?;
        }
        Ok(Some(result))
    }

    fn combine(&mut self, name: &str, a: Tensor, b: Tensor, span: Span) -> Fallible<Tensor> {
        use saltus_syntax::ast::BinaryOp as AstOp;
        match name {
            "sum" => self.binary_operator(AstOp::Add, a, b, span),
            "product" => self.binary_operator(AstOp::Multiply, a, b, span),
            _ => match self.math(name, &[a, b], span)? {
                Some(value) => Ok(value),
                None => fail(codes::E0301, span, format!("`{name}` cannot be applied here")),
            },
        }
    }
}

/// `semiLinear` element by element.
fn semi_linear(values: &[Tensor], span: Span) -> Fallible<Tensor> {
    let dims = values
        .iter()
        .find(|v| !v.is_scalar())
        .map(|v| v.dims.clone())
        .unwrap_or_default();
    let fits = values
        .iter()
        .all(|v| v.ty.is_numeric() && (v.is_scalar() || v.dims == dims));
    if !fits {
        return fail(codes::E0301, span, "`semiLinear` needs Reals of one size");
    }
    let count = crate::tensor::volume(&dims).unwrap_or(0);
    let lists: Vec<Vec<FlatExpr>> = values.iter().map(|v| v.exprs().cloned().collect()).collect();
    let elems = (0..count).map(|k| {
        let pick = |list: &Vec<FlatExpr>| list[if list.len() == 1 { 0 } else { k }].clone();
        let arguments: Vec<FlatExpr> = lists.iter().map(pick).collect();
        FlatExpr::Builtin(Builtin::SemiLinear, arguments.into(), span)
    });
    Ok(Tensor::array(Ty::Real, dims, elems))
}

fn empty_reduction(name: &str, ty: Ty, span: Span) -> Fallible<Tensor> {
    let number = |value: f64| match ty {
        Ty::Integer => Tensor::integer(value as i64),
        _ => Tensor::real(value),
    };
    match name {
        "sum" => Ok(number(0.0)),
        "product" => Ok(number(1.0)),
        "min" if ty == Ty::Integer => Ok(Tensor::integer(i64::MAX)),
        "max" if ty == Ty::Integer => Ok(Tensor::integer(i64::MIN)),
        "min" => Ok(Tensor::real(f64::MAX)),
        "max" => Ok(Tensor::real(-f64::MAX)),
        _ => fail(codes::E0302, span, "an empty array"),
    }
}

/// A mathematical function of scalars; literals are folded.
pub(crate) fn math_call(builtin: Builtin, arguments: Vec<FlatExpr>, span: Span) -> FlatExpr {
    if let Some(folded) = fold(builtin, &arguments) {
        return folded;
    }
    FlatExpr::Builtin(builtin, arguments.into(), span)
}

fn fold(builtin: Builtin, arguments: &[FlatExpr]) -> Option<FlatExpr> {
    if let [FlatExpr::Integer(x), FlatExpr::Integer(y)] = arguments {
        let (x, y) = (*x, *y);
        return Some(FlatExpr::Integer(match builtin {
            Builtin::Div if y != 0 => x.checked_div(y)?,
            Builtin::Mod if y != 0 => x.checked_sub((x as f64 / y as f64).floor() as i64 * y)?,
            Builtin::Rem if y != 0 => x.checked_rem(y)?,
            Builtin::Min => x.min(y),
            Builtin::Max => x.max(y),
            Builtin::Atan2 => return Some(FlatExpr::Real((x as f64).atan2(y as f64))),
            _ => return None,
        }));
    }
    if let [FlatExpr::Enumeration(id, x), FlatExpr::Enumeration(_, y)] = arguments {
        let pick = if builtin == Builtin::Min { x.min(y) } else { x.max(y) };
        return Some(FlatExpr::Enumeration(*id, *pick));
    }
    if let ([FlatExpr::Integer(x)], Builtin::Abs) = (arguments, builtin) {
        return x.checked_abs().map(FlatExpr::Integer);
    }
    let x = arguments.first()?.as_number()?;
    let real = |value: f64| value.is_finite().then_some(FlatExpr::Real(value));
    if let Some(second) = arguments.get(1) {
        let y = second.as_number()?;
        return real(match builtin {
            Builtin::Atan2 => x.atan2(y),
            Builtin::Div => (x / y).trunc(),
            Builtin::Mod => x - (x / y).floor() * y,
            Builtin::Rem => x - (x / y).trunc() * y,
            Builtin::Min => x.min(y),
            Builtin::Max => x.max(y),
            _ => return None,
        });
    }
    real(match builtin {
        Builtin::Abs => x.abs(),
        Builtin::Sign => {
            return Some(FlatExpr::Integer(if x > 0.0 { 1 } else { -i64::from(x < 0.0) }));
        }
        Builtin::Sqrt => x.sqrt(),
        Builtin::Sin => x.sin(),
        Builtin::Cos => x.cos(),
        Builtin::Tan => x.tan(),
        Builtin::Asin => x.asin(),
        Builtin::Acos => x.acos(),
        Builtin::Atan => x.atan(),
        Builtin::Sinh => x.sinh(),
        Builtin::Cosh => x.cosh(),
        Builtin::Tanh => x.tanh(),
        Builtin::Exp => x.exp(),
        Builtin::Log => x.ln(),
        Builtin::Log10 => x.log10(),
        Builtin::Ceil => x.ceil(),
        Builtin::Floor => x.floor(),
        Builtin::Integer => return Some(FlatExpr::Integer(x.floor() as i64)),
        _ => return None,
    })
}

/// `a + b`, for sums made while flattening.
pub(crate) fn add(a: FlatExpr, b: FlatExpr, span: Span) -> FlatExpr {
    binary(BinaryOp::Add, a, b, span)
}
