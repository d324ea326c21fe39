//! Arrays whose sizes are known only when the function runs: `Real a[n]`, `x[1:n]`, `sum(i for i in 1:n)`.
//!
//! Everywhere else an array is the list of its elements. Here it is a number of elements along each dimension, an expression
//! each ([`Flattener::open_sizes`]), and the element at given indices ([`Flattener::open_element`]); loops go through them. What
//! an expression needs to have computed before, a sum for example, is *emitted*: statements that stand before the one in
//! which the expression is. Where an expression may not be evaluated, under an `if` or behind an `and`, nothing can be emitted.
//!
//! Functions are lowered in this way only if they cannot be otherwise.

use saltus_source::Span;
use saltus_syntax::ast::{
    Call, CallArguments, ComponentReference, Expr, ExprKind, ForIndex, Ident, Name, Operator, ReferencePart, Subscript,
};

use super::frame::FrameVar;
use super::lower::Builder;
use super::signature::Formal;
use crate::codes;
use crate::expr::{Context, Index, Iterators, Mode};
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{BinaryOp, Builtin, FlatExpr, FunctionStatement, IndexVec, Local, LocalId, Place, ScalarType};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::Scope;
use crate::tensor::{Tensor, Ty, binary};

/// Variables and statements that expressions add to the function around them.
#[derive(Debug, Default)]
pub(crate) struct Emission {
    locals: IndexVec<LocalId, Local>,
    statements: Vec<FunctionStatement>,
}

fn read(local: LocalId) -> FlatExpr {
    FlatExpr::Local(local, Box::default())
}

fn assign(local: LocalId, indices: Vec<FlatExpr>, value: FlatExpr) -> FunctionStatement {
    let indices = indices.into();
    FunctionStatement::Assign(Place { local, indices }, value)
}

/// Whether a failure says that something is not known early enough.
pub(super) fn is_too_early(failure: &Failure) -> bool {
    matches!(failure, Failure::Report(diagnostic) if diagnostic.code == codes::E0304)
}

/// Of two failures that which says more than that something is not known early enough.
pub(super) fn rather(first: Failure, second: Failure) -> Failure {
    if is_too_early(&second) { first } else { second }
}

impl Flattener<'_> {
    /// Does something whose expressions may emit statements.
    pub(super) fn emitting<T>(
        &mut self,
        builder: &mut Builder,
        what: impl FnOnce(&mut Self) -> Fallible<T>,
    ) -> Fallible<T> {
        if !self.functions.may_open {
            return what(self);
        }
        let emission = Emission {
            locals: std::mem::take(&mut builder.locals),
            statements: Vec::new(),
        };
        let outer = self.functions.emission.replace(emission);
        let result = what(self);
        if let Some(emission) = std::mem::replace(&mut self.functions.emission, outer) {
            builder.locals = emission.locals;
            if result.is_ok() {
                builder.body.extend(emission.statements);
            }
        }
        result
    }

    /// Does something that may not be evaluated: nothing can be emitted.
    pub(crate) fn without_emission<T>(&mut self, what: impl FnOnce(&mut Self) -> T) -> T {
        let emission = self.functions.emission.take();
        let result = what(self);
        self.functions.emission = emission;
        result
    }

    /// What is emitted meanwhile, apart.
    fn emitted_by<T>(&mut self, what: impl FnOnce(&mut Self) -> Fallible<T>) -> Fallible<(T, Vec<FunctionStatement>)> {
        let before = match &mut self.functions.emission {
            Some(emission) => std::mem::take(&mut emission.statements),
            None => return fail(codes::E0304, crate::class::nowhere(), ""),
        };
        let result = what(self);
        let inner = match &mut self.functions.emission {
            Some(emission) => std::mem::replace(&mut emission.statements, before),
            None => Vec::new(),
        };
        Ok((result?, inner))
    }

    fn emit(&mut self, statement: FunctionStatement) {
        if let Some(emission) = &mut self.functions.emission {
            emission.statements.push(statement);
        }
    }

    fn new_local(&mut self, name: &str, ty: ScalarType, rank: usize) -> LocalId {
        let local = Local {
            open: rank > 0,
            ..Local::new(name, ty, vec![0; rank])
        };
        match &mut self.functions.emission {
            Some(emission) => emission.locals.push(local),
            None => LocalId(0),
        }
    }

    /// A number of elements, computed once.
    fn kept_size(&mut self, size: FlatExpr) -> FlatExpr {
        if size.is_literal() || matches!(&size, FlatExpr::Local(_, indices) if indices.is_empty()) {
            return size;
        }
        let local = self.new_local("size", ScalarType::Integer, 0);
        self.emit(assign(local, Vec::new(), size));
        read(local)
    }

    /// Loops over all elements, innermost last.
    fn emit_loops(&mut self, counters: &[LocalId], sizes: &[FlatExpr], body: Vec<FunctionStatement>) {
        let pairs = counters.iter().zip(sizes).rev();
        let nest = pairs.fold(body, |body, (&counter, size)| {
            vec![FunctionStatement::For {
                counter,
                from: FlatExpr::Integer(1),
                step: FlatExpr::Integer(1),
                to: size.clone(),
                body,
            }]
        });
        nest.into_iter().for_each(|statement| self.emit(statement));
    }

    fn counters(&mut self, count: usize) -> Vec<LocalId> {
        (0..count)
            .map(|_| self.new_local("counter", ScalarType::Integer, 0))
            .collect()
    }

    /// A variable whose declared size is known only when the function runs; `None` if that is not the reason why it is not.
    pub(super) fn declare_open(
        &mut self,
        class: ClassId,
        formal: &Formal,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<Option<FrameVar>> {
        let (table, type_table) = (self.table(class)?, self.table(formal.class)?);
        let Some(simple) = type_table.simple.filter(|_| type_table.dims.is_empty()) else {
            return Ok(None);
        };
        let ty = self.simple_scalar(simple)?;
        let entry = &table.entries[formal.entry as usize];
        let Some((clause, component)) = entry.component() else {
            return Ok(None);
        };
        let scope = Scope {
            class: entry.scope,
            instance: None,
        };
        let inner = Context { scope, ..*ctx };
        self.emitting(builder, |this| {
            let mut sizes = Vec::new();
            for subscript in component.subscripts.iter().chain(&clause.subscripts) {
                let Subscript::Expr(expr) = subscript else {
                    return Ok(None);
                };
                let (_, size) = this.scalar(expr, &inner)?;
                let local = this.new_local(&format!("size of {}", formal.name), ScalarType::Integer, 0);
                this.emit(assign(local, Vec::new(), size));
                sizes.push(local);
            }
            let array = this.new_local(&formal.name, ty, sizes.len());
            let given = sizes.iter().map(|&size| read(size)).collect();
            this.emit(FunctionStatement::Allocate(array, given));
            Ok(Some(FrameVar::Sized(array, ty, sizes)))
        })
    }

    /// The variable behind a reference with one name.
    fn frame_variable<'r>(
        &self,
        reference: &'r ComponentReference,
        ctx: &Context<'_>,
    ) -> Option<(FrameVar, &'r ReferencePart)> {
        let [part] = reference.parts.as_slice() else {
            return None;
        };
        let var = ctx.frame?.borrow().get(&part.name.name).cloned()?;
        Some((var, part))
    }

    /// The sizes of a whole array that are known when the function runs only; `None` if it is no such array.
    pub(crate) fn run_time_sizes(&self, array: &Expr, ctx: &Context<'_>) -> Option<Vec<FlatExpr>> {
        let ExprKind::Reference(reference) = &array.kind else {
            return None;
        };
        match self.frame_variable(reference, ctx)? {
            (var @ FrameVar::Sized(..), part) if part.subscripts.is_empty() => Self::variable_sizes(&var),
            _ => None,
        }
    }

    /// The numbers of elements of a variable.
    fn variable_sizes(var: &FrameVar) -> Option<Vec<FlatExpr>> {
        match var {
            FrameVar::Sized(_, _, sizes) => Some(sizes.iter().map(|&size| read(size)).collect()),
            FrameVar::Local(_, _, dims) => Some(dims.iter().map(|&d| FlatExpr::Integer(i64::from(d))).collect()),
            _ => None,
        }
    }

    /// The numbers of elements along the dimensions of an expression; none for a scalar.
    fn open_sizes(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<Vec<FlatExpr>> {
        self.spend(1, expr.span)?;
        match &expr.kind {
            ExprKind::Reference(reference) => {
                if let Some((var, part)) = self.frame_variable(reference, ctx)
                    && let Some(all) = Self::variable_sizes(&var)
                {
                    let mut sizes = Vec::new();
                    for (position, size) in all.into_iter().enumerate() {
                        match part.subscripts.get(position) {
                            None | Some(Subscript::Colon(_)) => sizes.push(size),
                            Some(Subscript::Expr(index)) => sizes.extend(self.open_sizes(index, ctx)?),
                        }
                    }
                    return Ok(sizes);
                }
                self.static_sizes(expr, ctx)
            }
            ExprKind::Range { start, step, stop } => {
                let count = self.range_count(start, step.as_deref(), stop, expr.span, ctx)?;
                Ok(vec![self.kept_size(count)])
            }
            ExprKind::ArrayComprehension { element, indices } => self.comprehension_sizes(element, indices, ctx),
            ExprKind::Unary(_, operand) => self.open_sizes(operand, ctx),
            ExprKind::Binary(op, left, right) => self.operand_sizes(*op, left, right, expr.span, ctx),
            ExprKind::Call(call) => self.call_sizes(call, expr, ctx),
            _ => self.static_sizes(expr, ctx),
        }
    }

    fn static_sizes(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<Vec<FlatExpr>> {
        let dims = self.expr(expr, ctx)?.dims;
        Ok(dims.iter().map(|&d| FlatExpr::Integer(i64::from(d))).collect())
    }

    /// How many elements `start:step:stop` has.
    fn range_count(
        &mut self,
        start: &Expr,
        step: Option<&Expr>,
        stop: &Expr,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<FlatExpr> {
        let (first_type, first) = self.scalar(start, ctx)?;
        let (last_type, last) = self.scalar(stop, ctx)?;
        let (step_type, step) = match step {
            Some(step) => self.scalar(step, ctx)?,
            None => (Ty::Integer, FlatExpr::Integer(1)),
        };
        if !first_type.is_numeric() || !last_type.is_numeric() || !step_type.is_numeric() {
            return fail(codes::E0304, span, "the ends of this range must be known here");
        }
        let whole = [first_type, last_type, step_type].iter().all(|&ty| ty == Ty::Integer);
        let difference = binary(BinaryOp::Subtract, last, first, span);
        let quotient = binary(BinaryOp::Divide, difference, step, span);
        let slack = FlatExpr::Real(if whole { 0.0 } else { 1e-10 });
        let steps = binary(BinaryOp::Add, quotient, slack, span);
        let steps = FlatExpr::Builtin(Builtin::Integer, Box::new([steps]), span);
        let count = binary(BinaryOp::Add, steps, FlatExpr::Integer(1), span);
        Ok(FlatExpr::Builtin(
            Builtin::Max,
            Box::new([count, FlatExpr::Integer(0)]),
            span,
        ))
    }

    fn comprehension_sizes(
        &mut self,
        element: &Expr,
        indices: &[ForIndex],
        ctx: &Context<'_>,
    ) -> Fallible<Vec<FlatExpr>> {
        let mut sizes = Vec::new();
        // The last iterator is the first dimension.
        for index in indices.iter().rev() {
            let Some(range) = &index.range else {
                return fail(
                    codes::E0304,
                    index.span,
                    format!("the range of `{}` cannot be deduced", index.name),
                );
            };
            match <[FlatExpr; 1]>::try_from(self.open_sizes(range, ctx)?) {
                Ok([size]) => sizes.push(size),
                Err(_) => {
                    return fail(codes::E0302, range.span, "the values of an iterator must form a vector");
                }
            }
        }
        if matches!(element.kind, ExprKind::Array(_) | ExprKind::ArrayComprehension { .. }) {
            return fail(
                codes::E0304,
                element.span,
                "the elements of this array must be scalars here",
            );
        }
        Ok(sizes)
    }

    fn operand_sizes(
        &mut self,
        operator: Operator,
        left: &Expr,
        right: &Expr,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Vec<FlatExpr>> {
        let (a, b) = (self.open_sizes(left, ctx)?, self.open_sizes(right, ctx)?);
        match (a.is_empty(), b.is_empty()) {
            (_, true) => Ok(a),
            (true, _) => Ok(b),
            _ if is_of_matrices(operator) => fail(
                codes::E0304,
                span,
                "the sizes of matrices that are multiplied must be known before the simulation",
            ),
            _ => {
                self.emit_equal_sizes(&a, &b, span)?;
                Ok(a)
            }
        }
    }

    /// The sizes of two arrays must agree when the function runs.
    fn emit_equal_sizes(&mut self, a: &[FlatExpr], b: &[FlatExpr], span: Span) -> Fallible<()> {
        if a.len() != b.len() {
            return fail(
                codes::E0302,
                span,
                format!("an array of {} dimensions meets one of {}", a.len(), b.len()),
            );
        }
        for (a, b) in a.iter().zip(b) {
            let same = binary(BinaryOp::Equal, a.clone(), b.clone(), span);
            let why = ("the sizes of these arrays differ: ".to_owned(), String::new());
            let message = super::check::said(&why, a.clone(), span);
            let other = FlatExpr::Builtin(Builtin::String, Box::new([b.clone()]), span);
            let join = |a, b| FlatExpr::Binary(BinaryOp::Add, Box::new([a, b]), span);
            let message = join(join(message, FlatExpr::String(" and ".into())), other);
            if a != b {
                self.emit(FunctionStatement::Assert(same, message));
            }
        }
        Ok(())
    }

    fn call_sizes(&mut self, call: &Call, expr: &Expr, ctx: &Context<'_>) -> Fallible<Vec<FlatExpr>> {
        let name = call.function.as_simple_name().map(|name| name.as_str());
        let sized = match name {
            Some("fill") => call.positional().get(1..),
            Some("zeros" | "ones") => Some(call.positional()),
            _ => None,
        };
        if let Some(arguments) = sized {
            let mut sizes = Vec::new();
            for argument in arguments {
                let (_, size) = self.scalar(argument, ctx)?;
                sizes.push(self.kept_size(size));
            }
            return Ok(sizes);
        }
        if let Ok(value) = self.expr(expr, ctx) {
            return Ok(value.dims.iter().map(|&d| FlatExpr::Integer(i64::from(d))).collect());
        }
        // A function of scalars is applied to every element.
        for argument in call.positional() {
            let sizes = match self.scalar(argument, ctx) {
                Ok(_) => Vec::new(),
                Err(_) => self.open_sizes(argument, ctx)?,
            };
            if !sizes.is_empty() && is_elementwise(name) {
                return Ok(sizes);
            }
        }
        self.static_sizes(expr, ctx)
    }

    /// The element of an expression at these indices, one per dimension.
    fn open_element(&mut self, expr: &Expr, at: &[FlatExpr], ctx: &Context<'_>) -> Fallible<(Ty, FlatExpr)> {
        self.spend(1, expr.span)?;
        if at.is_empty() {
            return self.scalar(expr, ctx);
        }
        match &expr.kind {
            ExprKind::Reference(reference) => {
                if let Some((FrameVar::Sized(id, ty, _) | FrameVar::Local(id, ty, _), part)) =
                    self.frame_variable(reference, ctx)
                {
                    let place = self.open_place(id, part, at, ctx)?;
                    return Ok((Ty::of(ty), FlatExpr::Local(place.local, place.indices)));
                }
                self.static_element(expr, at, ctx)
            }
            ExprKind::Range { start, step, .. } => {
                let (first_type, first) = self.scalar(start, ctx)?;
                let (step_type, step) = match step {
                    Some(step) => self.scalar(step, ctx)?,
                    None => (Ty::Integer, FlatExpr::Integer(1)),
                };
                let before = binary(BinaryOp::Subtract, at[0].clone(), FlatExpr::Integer(1), expr.span);
                let way = binary(BinaryOp::Multiply, before, step, expr.span);
                let ty = first_type.join(step_type).unwrap_or(Ty::Real);
                Ok((ty, binary(BinaryOp::Add, first, way, expr.span)))
            }
            ExprKind::ArrayComprehension { element, indices } => self.comprehension_element(element, indices, at, ctx),
            ExprKind::Unary(op, operand) => {
                let (ty, value) = self.open_element(operand, at, ctx)?;
                let value = self.unary_operator(*op, Tensor::scalar(ty, value), expr.span)?;
                crate::expr::into_scalar(value, expr.span)
            }
            ExprKind::Binary(op, left, right) => {
                let side = |this: &mut Self, operand: &Expr| {
                    let scalar = this.open_sizes(operand, ctx)?.is_empty();
                    let (ty, value) = this.open_element(operand, if scalar { &[] } else { at }, ctx)?;
                    Ok::<_, Failure>(Tensor::scalar(ty, value))
                };
                let (a, b) = (side(self, left)?, side(self, right)?);
                let value = self.binary_operator(*op, a, b, expr.span)?;
                crate::expr::into_scalar(value, expr.span)
            }
            ExprKind::Call(call) => self.call_element(call, expr, at, ctx),
            _ => self.static_element(expr, at, ctx),
        }
    }

    /// An element of an array whose sizes are known.
    fn static_element(&mut self, expr: &Expr, at: &[FlatExpr], ctx: &Context<'_>) -> Fallible<(Ty, FlatExpr)> {
        let mut value = self.expr(expr, ctx)?;
        for index in at {
            value = self.pick_dynamically(value, 0, &Index::One(index.clone()), "", expr.span)?;
        }
        crate::expr::into_scalar(value, expr.span)
    }

    /// The place of an element of what a reference selects of a variable.
    fn open_place(&mut self, id: LocalId, part: &ReferencePart, at: &[FlatExpr], ctx: &Context<'_>) -> Fallible<Place> {
        let mut indices = Vec::new();
        let mut rest = at.iter();
        for subscript in &part.subscripts {
            indices.push(match subscript {
                Subscript::Colon(_) => rest.next().cloned().ok_or(Failure::Reported)?,
                Subscript::Expr(index) => match self.open_sizes(index, ctx)?.len() {
                    0 => self.scalar(index, ctx)?.1,
                    _ => {
                        let next = rest.next().cloned().ok_or(Failure::Reported)?;
                        self.open_element(index, &[next], ctx)?.1
                    }
                },
            });
        }
        indices.extend(rest.cloned());
        Ok(Place {
            local: id,
            indices: indices.into(),
        })
    }

    fn comprehension_element(
        &mut self,
        element: &Expr,
        indices: &[ForIndex],
        at: &[FlatExpr],
        ctx: &Context<'_>,
    ) -> Fallible<(Ty, FlatExpr)> {
        let Some(((last, rest), (first, behind))) = indices.split_last().zip(at.split_first()) else {
            return self.scalar(element, ctx);
        };
        let Some(range) = &last.range else {
            return Err(Failure::Reported);
        };
        let (ty, value) = self.open_element(range, std::slice::from_ref(first), ctx)?;
        let value = Tensor::scalar(ty, value);
        let iterators = Iterators {
            name: &last.name.name,
            value: &value,
            outer: ctx.iterators,
        };
        self.comprehension_element(element, rest, behind, &ctx.with_iterators(&iterators))
    }

    /// An element of what a function of scalars yields for arrays: the call with elements for arguments.
    fn call_element(
        &mut self,
        call: &Call,
        expr: &Expr,
        at: &[FlatExpr],
        ctx: &Context<'_>,
    ) -> Fallible<(Ty, FlatExpr)> {
        match (
            call.function.as_simple_name().map(|name| name.as_str()),
            call.positional(),
        ) {
            (Some("fill"), [value, ..]) => return self.scalar(value, ctx),
            (Some("zeros"), _) => return Ok((Ty::Integer, FlatExpr::Integer(0))),
            (Some("ones"), _) => return Ok((Ty::Integer, FlatExpr::Integer(1))),
            (name, _) if !is_elementwise(name) || self.expr(expr, ctx).is_ok() => {
                return self.static_element(expr, at, ctx);
            }
            _ => {}
        }
        let CallArguments::List { positional, named } = &call.arguments else {
            return self.static_element(expr, at, ctx);
        };
        let mut values = Vec::new();
        let mut arguments = Vec::new();
        for (position, argument) in positional.iter().enumerate() {
            if self.open_sizes(argument, ctx)?.is_empty() {
                arguments.push(argument.clone());
                continue;
            }
            let (ty, value) = self.open_element(argument, at, ctx)?;
            // No name of the user's begins so.
            let name = Name::new(format!("$argument{position}"));
            arguments.push(reference_to(&name, argument.span));
            values.push((name, Tensor::scalar(ty, value)));
        }
        let call = Call {
            function: call.function.clone(),
            arguments: CallArguments::List {
                positional: arguments,
                named: named.clone(),
            },
        };
        let call = Expr {
            kind: ExprKind::Call(Box::new(call)),
            span: expr.span,
        };
        self.scalar_with(&call, &values, ctx)
    }

    /// A scalar in which names stand for values.
    fn scalar_with(&mut self, expr: &Expr, values: &[(Name, Tensor)], ctx: &Context<'_>) -> Fallible<(Ty, FlatExpr)> {
        let Some(((name, value), rest)) = values.split_first() else {
            return self.scalar(expr, ctx);
        };
        let iterators = Iterators {
            name,
            value,
            outer: ctx.iterators,
        };
        self.scalar_with(expr, rest, &ctx.with_iterators(&iterators))
    }

    /// `sum`, `product`, `min` or `max` over an array whose size is known only when the function runs: a loop.
    pub(crate) fn open_reduction(&mut self, name: &str, array: &Expr, ctx: &Context<'_>) -> Fallible<Tensor> {
        let span = array.span;
        let sizes = self.open_sizes(array, ctx)?;
        if sizes.is_empty() {
            return fail(codes::E0302, span, format!("`{name}` of a single scalar"));
        }
        let counters = self.counters(sizes.len());
        let at: Vec<FlatExpr> = counters.iter().map(|&counter| read(counter)).collect();
        let ((ty, element), mut body) = self.emitted_by(|this| this.open_element(array, &at, ctx))?;
        let Some(scalar) = ty.scalar().filter(|_| ty.is_numeric()) else {
            return fail(codes::E0301, span, format!("`{name}` cannot be applied here"));
        };
        let result = self.new_local(name, scalar, 0);
        let nothing = crate::expr::empty_reduction(name, ty, span)?;
        if let Some(nothing) = nothing.as_expr() {
            self.emit(assign(result, Vec::new(), nothing.clone()));
        }
        let (so_far, next) = (Tensor::scalar(ty, read(result)), Tensor::scalar(ty, element));
        let joined = self.combine(name, so_far, next, span)?;
        let (_, joined) = crate::expr::into_scalar(joined, span)?;
        body.push(assign(result, Vec::new(), joined));
        self.emit_loops(&counters, &sizes, body);
        Ok(Tensor::scalar(ty, read(result)))
    }

    /// What failed because a size is known only when the function runs is tried again with loops.
    pub(crate) fn or_open_reduction(
        &mut self,
        known: Fallible<Tensor>,
        name: &str,
        array: &dyn Fn() -> Expr,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        match known {
            Err(failure) if ctx.mode == Mode::Flat && self.functions.emission.is_some() && is_too_early(&failure) => {
                self.open_reduction(name, &array(), ctx).map_err(|_| failure)
            }
            known => known,
        }
    }

    /// `target := value`, element by element in loops.
    pub(super) fn lower_open_assign(
        &mut self,
        target: &ComponentReference,
        value: &Expr,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let Some((FrameVar::Sized(id, ty, _) | FrameVar::Local(id, ty, _), part)) = self.frame_variable(target, ctx)
        else {
            return fail(codes::E0304, target.span, "the size of this must be known here");
        };
        let span = target.span;
        let place = Expr {
            kind: ExprKind::Reference(target.clone()),
            span,
        };
        self.emitting(builder, |this| {
            let wanted = this.open_sizes(&place, ctx)?;
            let sizes = this.open_sizes(value, ctx)?;
            this.emit_equal_sizes(&wanted, &sizes, span)?;
            let counters = this.counters(sizes.len());
            let at: Vec<FlatExpr> = counters.iter().map(|&counter| read(counter)).collect();
            let ((found, element), mut body) = this.emitted_by(|this| this.open_element(value, &at, ctx))?;
            if !Ty::of(ty).accepts(found) {
                return fail(
                    codes::E0301,
                    span,
                    format!(
                        "{} is assigned to `{}` of {}",
                        found.name(),
                        part.name,
                        Ty::of(ty).name()
                    ),
                );
            }
            // `a := a[n:-1:1]` needs all old values first.
            let copy = this.new_local("temporary", ty, sizes.len());
            if sizes.is_empty() {
                body.push(assign(copy, Vec::new(), element));
            } else {
                this.emit(FunctionStatement::Allocate(copy, sizes.clone()));
                body.push(assign(copy, at.clone(), element));
            }
            this.emit_loops(&counters, &sizes, body);
            let counters = this.counters(sizes.len());
            let at: Vec<FlatExpr> = counters.iter().map(|&counter| read(counter)).collect();
            let (place, mut body) = this.emitted_by(|this| this.open_place(id, part, &at, ctx))?;
            let copied = FlatExpr::Local(copy, at.into());
            body.push(FunctionStatement::Assign(place, copied));
            this.emit_loops(&counters, &sizes, body);
            Ok(())
        })
    }

    /// The value of an iterator that runs over an array whose size is known only when the function runs, as it is before
    /// the loop, with its counter and the number of turns.
    pub(super) fn open_iterator(
        &mut self,
        range: &Expr,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<(Tensor, LocalId, FlatExpr)> {
        self.emitting(builder, |this| {
            let sizes = this.open_sizes(range, ctx)?;
            let [size] = sizes.as_slice() else {
                return fail(codes::E0302, range.span, "the values of an iterator must form a vector");
            };
            let size = this.kept_size(size.clone());
            let counter = this.new_local("counter", ScalarType::Integer, 0);
            let at = read(counter);
            let ((ty, element), mut body) =
                this.emitted_by(|this| this.open_element(range, std::slice::from_ref(&at), ctx))?;
            let Some(scalar) = ty.scalar() else {
                return Err(Failure::Reported);
            };
            // The loop may change what its values are made of.
            let copy = this.new_local("temporary", scalar, 1);
            this.emit(FunctionStatement::Allocate(copy, vec![size.clone()]));
            body.push(assign(copy, vec![at.clone()], element));
            this.emit_loops(&[counter], std::slice::from_ref(&size), body);
            let counter = this.new_local("counter", ScalarType::Integer, 0);
            let value = FlatExpr::Local(copy, Box::new([read(counter)]));
            Ok((Tensor::scalar(ty, value), counter, size))
        })
    }
}

/// Whether a function, if it is none of the language that works on arrays, is applied to every element.
fn is_elementwise(name: Option<&str>) -> bool {
    !name.is_some_and(crate::expr::works_on_arrays)
}

fn reference_to(name: &Name, span: Span) -> Expr {
    let part = ReferencePart {
        name: Ident {
            name: name.clone(),
            span,
        },
        subscripts: Vec::new(),
    };
    let reference = ComponentReference {
        global: false,
        parts: vec![part],
        span,
    };
    Expr {
        kind: ExprKind::Reference(reference),
        span,
    }
}

/// Whether an operator multiplies matrices, where both operands are some.
fn is_of_matrices(operator: Operator) -> bool {
    !operator.elementwise && matches!(operator.op, BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Power)
}
