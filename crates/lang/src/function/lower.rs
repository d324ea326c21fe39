//! Functions as algorithms over scalars and arrays of fixed size.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::{ComponentReference, Expr, ExprKind, ForIndex, Name, ReferencePart, Statement, StatementKind};

use super::Signature;
use super::frame::{Frame, FrameVar};
use super::signature::Formal;
use crate::codes;
use crate::expr::{Context, Iterators, Mode};
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{
    FlatExpr, FlatFunction, FunctionBody, FunctionCall, FunctionId, FunctionStatement, IndexVec, Local, LocalId, Place,
    ProvenanceKind, ScalarType,
};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::Scope;
use crate::tensor::{Dims, Elem, Tensor, Ty, volume};

/// What a function is specialised to, per input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// The type and size; the value is an argument.
    Open(Ty, Dims, Vec<Shape>),
    /// The value itself: sizes, switches, names, tables.
    Known(Tensor),
    /// A function with some inputs bound.
    Function(ClassId, Vec<(Name, Shape)>),
}

/// A function under construction.
struct Builder {
    locals: IndexVec<LocalId, Local>,
    /// Variables that the body assigns.
    assigned: Vec<Name>,
}

impl Flattener<'_> {
    pub(super) fn call_specialised(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: Vec<Tensor>,
        span: Span,
    ) -> Fallible<Vec<Tensor>> {
        let shapes: Vec<Shape> = bound.iter().map(shape_of).collect();
        let known = self
            .functions
            .specialised
            .get(&class)
            .and_then(|list| list.iter().find(|(s, _)| *s == shapes).map(|(_, id)| *id));
        let function = match known {
            Some(id) => id,
            None => self.specialise(class, signature, &bound, shapes, span)?,
        };
        let mut arguments = Vec::new();
        for value in &bound {
            open_scalars(value, &mut arguments);
        }
        self.call_outputs(class, signature, function, arguments.into(), span)
    }

    /// The results of a call as values over its scalar outputs.
    fn call_outputs(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        function: FunctionId,
        arguments: Arc<[FlatExpr]>,
        span: Span,
    ) -> Fallible<Vec<Tensor>> {
        let _ = class;
        let mut next = 0u32;
        let outputs = self.model.functions[function].outputs.clone();
        let locals: Vec<Local> = outputs
            .iter()
            .map(|id| self.model.functions[function].locals[*id].clone())
            .collect();
        let mut locals = locals.into_iter();
        let mut results = Vec::new();
        for output in &signature.outputs {
            let mut take = |ty: ScalarType, dims: &[u32]| {
                let count = volume(dims).unwrap_or(0) as u32;
                let first = next;
                next += count;
                Tensor::array(
                    Ty::of(ty),
                    dims.into(),
                    (first..first + count).map(|output| {
                        FlatExpr::Call(Box::new(FunctionCall {
                            function,
                            output,
                            arguments: Arc::clone(&arguments),
                            span,
                        }))
                    }),
                )
            };
            results.push(self.gather_output(output.class, &mut locals, &mut take)?);
        }
        Ok(results)
    }

    fn gather_output(
        &mut self,
        class: ClassId,
        locals: &mut dyn Iterator<Item = Local>,
        take: &mut dyn FnMut(ScalarType, &[u32]) -> Tensor,
    ) -> Fallible<Tensor> {
        let table = self.table(class)?;
        if table.simple.is_some() {
            return match locals.next() {
                Some(local) => Ok(take(local.ty, &local.dims)),
                None => Err(Failure::Reported),
            };
        }
        let mut fields = Vec::new();
        for (index, entry) in table.entries.iter().enumerate() {
            if entry.component().is_some() {
                let inner = self.component_type(class, index as u32)?;
                fields.push((entry.name.clone(), self.gather_output(inner, locals, take)?));
            }
        }
        Ok(Tensor::record(class, fields.into()))
    }

    fn specialise(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        shapes: Vec<Shape>,
        span: Span,
    ) -> Fallible<FunctionId> {
        self.enter(span)?;
        let result = self.specialise_inner(class, signature, bound, shapes, span);
        self.leave();
        result
    }

    fn specialise_inner(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        shapes: Vec<Shape>,
        span: Span,
    ) -> Fallible<FunctionId> {
        let def_span = self.def(class).span;
        let provenance = self.add_provenance(def_span, &"".into(), ProvenanceKind::Function);
        let mut builder = Builder {
            locals: IndexVec::new(),
            assigned: self.assigned_names(class)?,
        };
        let mut frame = Frame::default();
        let mut inputs = Vec::new();
        for (formal, value) in signature.inputs.iter().zip(bound) {
            let var = match shape_of(value) {
                Shape::Known(value) => FrameVar::Value(value),
                Shape::Open(..) => self.declare_like(&mut builder, &formal.name, value, &mut inputs)?,
                Shape::Function(..) => {
                    FrameVar::Value(self.declare_function(&mut builder, &formal.name, value, &mut inputs)?)
                }
            };
            frame.set(formal.name.clone(), var);
        }
        let frame = RefCell::new(frame);
        let ctx = Context {
            frame: Some(&frame),
            ..Context::new(Scope { class, instance: None }, Mode::Flat)
        };
        let mut body = Vec::new();
        let mut outputs = Vec::new();
        for formal in &signature.locals {
            let is_output = signature.outputs.iter().any(|o| o.name == formal.name);
            self.declare_local(
                class,
                formal,
                is_output,
                &mut builder,
                &frame,
                &ctx,
                &mut body,
                &mut outputs,
            )?;
        }
        // Known before the body is lowered, so that the function may call itself.
        let name = Arc::clone(&self.classes[class].name);
        let id = self.model.functions.push(FlatFunction {
            name,
            locals: builder.locals.clone(),
            inputs,
            outputs,
            body: FunctionBody::Algorithm(Vec::new()),
            smooth_order: signature.smooth_order,
            provenance,
        });
        self.functions
            .specialised
            .entry(class)
            .or_default()
            .push((shapes.clone(), id));
        let result = self.lower_body(class, &mut builder, &ctx, &mut body);
        if let Err(failure) = result {
            if let Some(list) = self.functions.specialised.get_mut(&class) {
                list.retain(|(_, other)| *other != id);
            }
            return Err(match failure {
                Failure::Report(d) if d.secondary.len() < 4 => {
                    let name = &self.classes[class].name;
                    Failure::Report(Box::new(d.with_secondary(span, format!("in this call of `{name}`"))))
                }
                other => other,
            });
        }
        let function = &mut self.model.functions[id];
        function.locals = builder.locals;
        function.body = FunctionBody::Algorithm(body);
        Ok(id)
    }

    fn lower_body(
        &mut self,
        class: ClassId,
        builder: &mut Builder,
        ctx: &Context<'_>,
        body: &mut Vec<FunctionStatement>,
    ) -> Fallible<()> {
        let table = self.table(class)?;
        for scope in &table.scopes {
            let def = Arc::clone(self.def(*scope));
            let Some(composition) = def.composition() else {
                continue;
            };
            let ctx = Context {
                scope: Scope {
                    class: *scope,
                    instance: None,
                },
                ..*ctx
            };
            for section in &composition.algorithms {
                self.lower_statements(&section.statements, builder, &ctx, body)?;
            }
        }
        Ok(())
    }

    pub(super) fn assigned_names(&mut self, class: ClassId) -> Fallible<Vec<Name>> {
        let table = self.table(class)?;
        let mut names = Vec::new();
        for scope in &table.scopes {
            let def = Arc::clone(self.def(*scope));
            for section in def.composition().iter().flat_map(|c| &c.algorithms) {
                collect_assigned(&section.statements, &mut names);
            }
        }
        Ok(names)
    }

    /// Variables for a value of this form.
    fn declare_like(
        &mut self,
        builder: &mut Builder,
        name: &str,
        value: &Tensor,
        list: &mut Vec<LocalId>,
    ) -> Fallible<FrameVar> {
        if let Some(ty) = value.ty.scalar() {
            let id = builder.locals.push(Local {
                name: name.into(),
                ty,
                dims: value.dims.to_vec(),
            });
            list.push(id);
            return Ok(FrameVar::Local(id, ty, value.dims.clone()));
        }
        let (Ty::Record(class), true, Some(Elem::Record(fields))) = (value.ty, value.is_scalar(), value.elems.first())
        else {
            return fail(
                codes::E0214,
                crate::class::nowhere(),
                "arrays of records as arguments of functions are not supported yet",
            );
        };
        let mut vars = Vec::new();
        for (field, value) in fields.iter() {
            let var = self.declare_like(builder, &format!("{name}.{field}"), value, list)?;
            vars.push((field.clone(), var));
        }
        Ok(FrameVar::Record(class, vars))
    }

    /// A function whose bound inputs are arguments, too.
    fn declare_function(
        &mut self,
        builder: &mut Builder,
        name: &str,
        value: &Tensor,
        list: &mut Vec<LocalId>,
    ) -> Fallible<Tensor> {
        let Some(Elem::Function(function)) = value.elems.first() else {
            return Err(Failure::Reported);
        };
        let mut bound = Vec::new();
        for (input, value) in &function.bound {
            let name = format!("{name}.{input}");
            let value = match shape_of(value) {
                Shape::Known(value) => value,
                Shape::Open(..) => value_of(&self.declare_like(builder, &name, value, list)?),
                Shape::Function(..) => self.declare_function(builder, &name, value, list)?,
            };
            bound.push((input.clone(), value));
        }
        Ok(self.bound_function_value(function.class, bound))
    }

    #[allow(clippy::too_many_arguments)]
    fn declare_local(
        &mut self,
        class: ClassId,
        formal: &Formal,
        is_output: bool,
        builder: &mut Builder,
        frame: &RefCell<Frame>,
        ctx: &Context<'_>,
        body: &mut Vec<FunctionStatement>,
        outputs: &mut Vec<LocalId>,
    ) -> Fallible<()> {
        let table = self.table(class)?;
        let entry = &table.entries[formal.entry as usize];
        let mods = crate::modification::merge(&entry.mods, &entry.declared);
        let initial = match &mods.binding {
            Some(binding) => {
                let scope = Scope {
                    class: binding.source.scope.class,
                    instance: None,
                };
                Some(self.expr(&binding.source.expr, &Context { scope, ..*ctx })?)
            }
            None if !mods.children.is_empty() && self.table(formal.class)?.simple.is_none() => {
                Some(self.default_record(formal.class, &mods, ctx)?)
            }
            None => None,
        };
        let changes = builder.assigned.contains(&formal.name);
        if let Some(value) = &initial
            && value.is_known()
            && !changes
            && !is_output
        {
            let ty = self.class_type(formal.class)?;
            frame
                .borrow_mut()
                .set(formal.name.clone(), FrameVar::Value(value.clone().coerce(ty)));
            return Ok(());
        }
        let (dims, open) = self.local_dims(class, formal, ctx)?;
        let dims = match (&initial, open) {
            (Some(value), true) => value.dims.clone(),
            (None, true) if !is_output => {
                frame
                    .borrow_mut()
                    .set(formal.name.clone(), FrameVar::Open(formal.class));
                return Ok(());
            }
            (None, true) => {
                return fail(
                    codes::E0214,
                    formal.span,
                    format!(
                        "the size of the output `{}` is open; that is not supported here yet",
                        formal.name
                    ),
                );
            }
            _ => dims,
        };
        let mut ids = Vec::new();
        let var = self.declare_class(builder, &formal.name, formal.class, &dims, &mut ids)?;
        if is_output {
            outputs.extend_from_slice(&ids);
        }
        frame.borrow_mut().set(formal.name.clone(), var.clone());
        if let Some(value) = initial {
            let part = plain_part(&formal.name, formal.span);
            self.store_local(&var, &part, &[], value, formal.span, builder, ctx, body)?;
        }
        Ok(())
    }

    fn declare_class(
        &mut self,
        builder: &mut Builder,
        name: &str,
        class: ClassId,
        dims: &Dims,
        ids: &mut Vec<LocalId>,
    ) -> Fallible<FrameVar> {
        let table = self.table(class)?;
        if let Some(simple) = table.simple {
            let ty = self.simple_scalar(simple)?;
            let id = builder.locals.push(Local {
                name: name.into(),
                ty,
                dims: dims.to_vec(),
            });
            ids.push(id);
            return Ok(FrameVar::Local(id, ty, dims.clone()));
        }
        if !dims.is_empty() {
            return fail(
                codes::E0214,
                self.def(class).name.span,
                "arrays of records in functions are not supported yet",
            );
        }
        let scope = Scope { class, instance: None };
        let value = self.default_record(class, &Rc::default(), &Context::new(scope, Mode::Evaluate))?;
        self.declare_like(builder, name, &value, ids)
    }

    fn lower_statements(
        &mut self,
        statements: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
        out: &mut Vec<FunctionStatement>,
    ) -> Fallible<()> {
        for statement in statements {
            self.spend(1, statement.span)?;
            self.lower_statement(statement, builder, ctx, out)?;
        }
        Ok(())
    }

    fn lower_statement(
        &mut self,
        statement: &Statement,
        builder: &mut Builder,
        ctx: &Context<'_>,
        out: &mut Vec<FunctionStatement>,
    ) -> Fallible<()> {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let value = self.expr(value, ctx)?;
                self.lower_assign(target, value, builder, ctx, out)
            }
            StatementKind::MultiAssign { targets, value } => {
                let ExprKind::Call(call) = &value.kind else {
                    return Err(Failure::Reported);
                };
                let results = self.call_results(call, value.span, ctx)?;
                if targets.len() > results.len() {
                    return fail(
                        codes::E0212,
                        statement.span,
                        format!(
                            "{} values are wanted, but the call has {} results",
                            targets.len(),
                            results.len()
                        ),
                    );
                }
                self.lower_multi_assign(targets, results, builder, ctx, out)
            }
            StatementKind::Call(expr) => self.lower_call(expr, ctx, out),
            StatementKind::If { branches, otherwise } => {
                let mut lowered = Vec::new();
                for branch in branches {
                    let condition = self.condition(&branch.condition, ctx)?;
                    match condition {
                        FlatExpr::Boolean(false) => continue,
                        FlatExpr::Boolean(true) => {
                            let mut body = Vec::new();
                            self.lower_statements(&branch.body, builder, ctx, &mut body)?;
                            push_if(lowered, body, out);
                            return Ok(());
                        }
                        condition => {
                            let mut body = Vec::new();
                            self.lower_statements(&branch.body, builder, ctx, &mut body)?;
                            lowered.push((condition, body));
                        }
                    }
                }
                let mut last = Vec::new();
                self.lower_statements(otherwise.as_deref().unwrap_or(&[]), builder, ctx, &mut last)?;
                push_if(lowered, last, out);
                Ok(())
            }
            StatementKind::For { indices, body } => self.lower_for(indices, body, builder, ctx, out),
            StatementKind::While { condition, body } => {
                let condition = self.condition(condition, ctx)?;
                let mut inner = Vec::new();
                self.lower_statements(body, builder, ctx, &mut inner)?;
                out.push(FunctionStatement::While(condition, inner));
                Ok(())
            }
            StatementKind::When { .. } => fail(codes::E0311, statement.span, "`when` cannot be used in a function"),
            StatementKind::Break => {
                out.push(FunctionStatement::Break);
                Ok(())
            }
            StatementKind::Return => {
                out.push(FunctionStatement::Return);
                Ok(())
            }
            StatementKind::Error => Err(Failure::Reported),
        }
    }

    fn lower_for(
        &mut self,
        indices: &[ForIndex],
        body: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
        out: &mut Vec<FunctionStatement>,
    ) -> Fallible<()> {
        let Some((index, rest)) = indices.split_first() else {
            return self.lower_statements(body, builder, ctx, out);
        };
        if let Some(Expr {
            kind: ExprKind::Range { start, step, stop },
            ..
        }) = &index.range
        {
            let mut loop_out = Vec::new();
            let before = builder.locals.len();
            match self.lower_loop(
                index,
                rest,
                start,
                step.as_deref(),
                stop,
                body,
                builder,
                ctx,
                &mut loop_out,
            ) {
                Ok(()) => {
                    out.append(&mut loop_out);
                    return Ok(());
                }
                // Sizes or slices that depend on the counter: the loop is written out instead.
                Err(failure) => {
                    let _ = before;
                    let find = |name: &str| crate::model::implicit::in_statements(body, name);
                    if contains_break(body) || self.iterator_values(index, &find, ctx).is_err() {
                        return Err(failure);
                    }
                }
            }
        }
        let find = |name: &str| crate::model::implicit::in_statements(body, name);
        let values = self.iterator_values(index, &find, ctx)?;
        for k in 1..=values.dims[0] {
            self.spend(1, index.span)?;
            let Some(value) = values.at(k) else { break };
            let iterators = Iterators {
                name: &index.name.name,
                value: &value,
                outer: ctx.iterators,
            };
            self.lower_for(rest, body, builder, &ctx.with_iterators(&iterators), out)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn lower_loop(
        &mut self,
        index: &ForIndex,
        rest: &[ForIndex],
        start: &Expr,
        step: Option<&Expr>,
        stop: &Expr,
        body: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
        out: &mut Vec<FunctionStatement>,
    ) -> Fallible<()> {
        let (ty, from) = self.scalar(start, ctx)?;
        let step = match step {
            Some(step) => self.scalar(step, ctx)?.1,
            None => FlatExpr::Integer(1),
        };
        let (_, to) = self.scalar(stop, ctx)?;
        let Some(scalar) = ty.scalar() else {
            return Err(Failure::Reported);
        };
        let counter = builder.locals.push(Local {
            name: index.name.name.as_str().into(),
            ty: scalar,
            dims: Vec::new(),
        });
        let value = Tensor::scalar(ty, FlatExpr::Local(counter, Box::default()));
        let iterators = Iterators {
            name: &index.name.name,
            value: &value,
            outer: ctx.iterators,
        };
        let mut inner = Vec::new();
        self.lower_for(rest, body, builder, &ctx.with_iterators(&iterators), &mut inner)?;
        out.push(FunctionStatement::For {
            counter,
            from,
            step,
            to,
            body: inner,
        });
        Ok(())
    }

    fn lower_call(&mut self, expr: &Expr, ctx: &Context<'_>, out: &mut Vec<FunctionStatement>) -> Fallible<()> {
        let ExprKind::Call(call) = &expr.kind else {
            return Err(Failure::Reported);
        };
        if call.function.as_simple_name().is_some_and(|name| name == "assert") {
            let Some(condition) = call.positional().first() else {
                return fail(codes::E0212, expr.span, "`assert` needs a condition and a message");
            };
            let condition = self.condition(condition, ctx)?;
            let message = match call.positional().get(1) {
                Some(message) => self.expr(message, ctx)?.as_str().cloned(),
                None => None,
            };
            let message = message.unwrap_or_else(|| "assertion failed".into());
            if condition != FlatExpr::Boolean(true) {
                out.push(FunctionStatement::Assert(condition, message));
            }
            return Ok(());
        }
        self.call_results(call, expr.span, ctx).map(|_| ())
    }

    fn lower_assign(
        &mut self,
        target: &ComponentReference,
        value: Tensor,
        builder: &mut Builder,
        ctx: &Context<'_>,
        out: &mut Vec<FunctionStatement>,
    ) -> Fallible<()> {
        let Some((first, rest)) = target.parts.split_first() else {
            return Err(Failure::Reported);
        };
        let var = ctx
            .frame
            .and_then(|frame| frame.borrow().get(&first.name.name).cloned());
        let Some(var) = var else {
            return fail(
                codes::E0201,
                target.span,
                format!("`{}` is not a variable of this function", first.name),
            );
        };
        self.store_local(&var, first, rest, value, target.span, builder, ctx, out)
    }

    fn lower_multi_assign(
        &mut self,
        targets: &[Option<Expr>],
        results: Vec<Tensor>,
        builder: &mut Builder,
        ctx: &Context<'_>,
        out: &mut Vec<FunctionStatement>,
    ) -> Fallible<()> {
        // Through temporaries: a target may be an argument of the call as well.
        let mut copies = Vec::new();
        let first = out.len();
        for (target, result) in targets.iter().zip(results) {
            let Some(Expr {
                kind: ExprKind::Reference(target),
                ..
            }) = target
            else {
                continue;
            };
            let mut ids = Vec::new();
            let var = self.declare_like(builder, "temporary", &result, &mut ids)?;
            let part = plain_part(&Name::new("temporary"), target.span);
            self.store_local(&var, &part, &[], result, target.span, builder, ctx, out)?;
            copies.push((target, var));
        }
        join_calls(out, first);
        for (target, var) in copies {
            let value = value_of(&var);
            self.lower_assign(target, value, builder, ctx, out)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn store_local(
        &mut self,
        var: &FrameVar,
        part: &ReferencePart,
        rest: &[ReferencePart],
        value: Tensor,
        span: Span,
        builder: &mut Builder,
        ctx: &Context<'_>,
        out: &mut Vec<FunctionStatement>,
    ) -> Fallible<()> {
        match var {
            FrameVar::Open(class) => {
                // The first assignment gives the size.
                if !part.subscripts.is_empty() || !rest.is_empty() {
                    return fail(
                        codes::E0304,
                        span,
                        format!("the size of `{}` is not known yet", part.name),
                    );
                }
                let mut ids = Vec::new();
                let var = self.declare_class(builder, &part.name.name, *class, &value.dims.clone(), &mut ids)?;
                if let Some(frame) = ctx.frame {
                    frame.borrow_mut().set(part.name.name.clone(), var.clone());
                }
                self.store_local(&var, part, rest, value, span, builder, ctx, out)
            }
            FrameVar::Value(_) => fail(codes::E0303, span, format!("`{}` cannot be assigned", part.name)),
            FrameVar::Local(id, ty, dims) => {
                if !Ty::of(*ty).accepts(value.ty) && !value.elems.is_empty() {
                    return fail(
                        codes::E0301,
                        span,
                        format!(
                            "{} is assigned to `{}` of {}",
                            value.shape(),
                            part.name,
                            Ty::of(*ty).name()
                        ),
                    );
                }
                let (wanted, places) = self.local_places(dims, part, span, ctx)?;
                if wanted != value.dims {
                    return fail(
                        codes::E0302,
                        span,
                        format!("{} is assigned to `{}` of size {wanted:?}", value.shape(), part.name),
                    );
                }
                let value = value.coerce(Ty::of(*ty));
                self.store_places(*id, *ty, places, value, builder, out);
                Ok(())
            }
            FrameVar::Record(class, fields) => match rest.split_first() {
                Some((next, behind)) => match fields.iter().find(|(n, _)| *n == next.name.name) {
                    Some((_, field)) => self.store_local(field, next, behind, value, span, builder, ctx, out),
                    None => Err(self.unknown(Some(*class), &next.name.name, next.name.span)),
                },
                None => {
                    for (name, field) in fields {
                        let Some(inner) = value.field(name) else {
                            return fail(codes::E0301, span, format!("the value has no field `{name}`"));
                        };
                        let part = plain_part(name, span);
                        self.store_local(field, &part, &[], inner, span, builder, ctx, out)?;
                    }
                    Ok(())
                }
            },
        }
    }

    fn store_places(
        &mut self,
        id: LocalId,
        ty: ScalarType,
        places: Vec<Vec<FlatExpr>>,
        value: Tensor,
        builder: &mut Builder,
        out: &mut Vec<FunctionStatement>,
    ) {
        let first = out.len();
        let mentions = |e: &FlatExpr| {
            let mut found = false;
            e.walk(&mut |e| found |= matches!(e, FlatExpr::Local(other, _) if *other == id));
            found
        };
        let assign = |local: LocalId, indices: Vec<FlatExpr>, value: FlatExpr| {
            FunctionStatement::Assign(
                Place {
                    local,
                    indices: indices.into(),
                },
                value,
            )
        };
        if places.len() > 1 && value.exprs().any(mentions) {
            // `x := A*x` needs all old values first.
            let count = places.len() as u32;
            let copy = builder.locals.push(Local {
                name: "temporary".into(),
                ty,
                dims: vec![count],
            });
            for (k, expr) in value.exprs().enumerate() {
                out.push(assign(copy, vec![FlatExpr::Integer(k as i64 + 1)], expr.clone()));
            }
            join_calls(out, first);
            for (k, indices) in places.into_iter().enumerate() {
                let from = FlatExpr::Local(copy, Box::new([FlatExpr::Integer(k as i64 + 1)]));
                out.push(assign(id, indices, from));
            }
            return;
        }
        for (indices, expr) in places.into_iter().zip(value.exprs()) {
            out.push(assign(id, indices, expr.clone()));
        }
        join_calls(out, first);
    }
}

/// Assignments of several outputs of one call become one call.
fn join_calls(out: &mut Vec<FunctionStatement>, first: usize) {
    if out.len() - first < 2 {
        return;
    }
    let mut common: Option<(FunctionId, Arc<[FlatExpr]>)> = None;
    for statement in &out[first..] {
        let FunctionStatement::Assign(_, FlatExpr::Call(call)) = statement else {
            return;
        };
        match &common {
            None => common = Some((call.function, Arc::clone(&call.arguments))),
            Some((function, arguments)) => {
                if *function != call.function || !Arc::ptr_eq(arguments, &call.arguments) {
                    return;
                }
            }
        }
    }
    let Some((function, arguments)) = common else {
        return;
    };
    let targets = out
        .drain(first..)
        .filter_map(|statement| match statement {
            FunctionStatement::Assign(place, FlatExpr::Call(call)) => Some((call.output, place)),
            _ => None,
        })
        .collect();
    out.push(FunctionStatement::CallAssign {
        function,
        arguments: arguments.to_vec(),
        targets,
    });
}

fn push_if(
    branches: Vec<(FlatExpr, Vec<FunctionStatement>)>,
    mut last: Vec<FunctionStatement>,
    out: &mut Vec<FunctionStatement>,
) {
    if branches.is_empty() {
        out.append(&mut last);
    } else {
        out.push(FunctionStatement::If(branches, last));
    }
}

fn plain_part(name: &Name, span: Span) -> ReferencePart {
    ReferencePart {
        name: saltus_syntax::ast::Ident {
            name: name.clone(),
            span,
        },
        subscripts: Vec::new(),
    }
}

/// The value of variables, as they are now.
fn value_of(var: &FrameVar) -> Tensor {
    match var {
        FrameVar::Value(value) => value.clone(),
        FrameVar::Open(_) => Tensor::real(0.0).repeat(&[0]),
        FrameVar::Local(id, ty, dims) => {
            let count = volume(dims).unwrap_or(0);
            let elems = (0..count).map(|offset| {
                let indices = crate::instance::indices(dims, offset);
                let indices: Vec<FlatExpr> = indices.iter().map(|&k| FlatExpr::Integer(i64::from(k))).collect();
                FlatExpr::Local(*id, indices.into())
            });
            Tensor::array(Ty::of(*ty), dims.clone(), elems)
        }
        FrameVar::Record(class, fields) => {
            let fields: Vec<(Name, Tensor)> = fields
                .iter()
                .map(|(name, field)| (name.clone(), value_of(field)))
                .collect();
            Tensor::record(*class, fields.into())
        }
    }
}

/// Values that are not Real are part of what a function is specialised to, where they are known.
fn shape_of(value: &Tensor) -> Shape {
    match value.ty {
        Ty::Function => match value.elems.first() {
            Some(Elem::Function(function)) => {
                let bound = function
                    .bound
                    .iter()
                    .map(|(name, v)| (name.clone(), shape_of(v)))
                    .collect();
                Shape::Function(function.class, bound)
            }
            _ => Shape::Known(value.clone()),
        },
        Ty::External => Shape::Known(value.clone()),
        Ty::Real => Shape::Open(value.ty, value.dims.clone(), Vec::new()),
        Ty::Record(_) => {
            let fields = match value.elems.first() {
                Some(Elem::Record(fields)) => fields.iter().map(|(_, f)| shape_of(f)).collect(),
                _ => Vec::new(),
            };
            // A record is an argument as a whole.
            Shape::Open(value.ty, value.dims.clone(), fields.into_iter().map(opened).collect())
        }
        _ if value.is_known() => Shape::Known(value.clone()),
        _ => Shape::Open(value.ty, value.dims.clone(), Vec::new()),
    }
}

/// The scalars of what is an argument.
fn open_scalars(value: &Tensor, out: &mut Vec<FlatExpr>) {
    match shape_of(value) {
        Shape::Known(_) => {}
        Shape::Open(..) => out.extend(value.scalars()),
        Shape::Function(..) => {
            if let Some(Elem::Function(function)) = value.elems.first() {
                function.bound.iter().for_each(|(_, bound)| open_scalars(bound, out));
            }
        }
    }
}

fn opened(shape: Shape) -> Shape {
    match shape {
        Shape::Known(value) => Shape::Open(value.ty, value.dims, Vec::new()),
        open => open,
    }
}

fn contains_break(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Break => true,
        StatementKind::If { branches, otherwise } => {
            branches.iter().any(|b| contains_break(&b.body)) || otherwise.as_ref().is_some_and(|o| contains_break(o))
        }
        _ => false,
    })
}

fn collect_assigned(statements: &[Statement], names: &mut Vec<Name>) {
    let add = |reference: &ComponentReference, names: &mut Vec<Name>| {
        if let Some(first) = reference.parts.first() {
            names.push(first.name.name.clone());
        }
    };
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign { target, .. } => add(target, names),
            StatementKind::MultiAssign { targets, .. } => {
                for target in targets.iter().flatten() {
                    if let ExprKind::Reference(reference) = &target.kind {
                        add(reference, names);
                    }
                }
            }
            StatementKind::If { branches, otherwise } => {
                for branch in branches {
                    collect_assigned(&branch.body, names);
                }
                collect_assigned(otherwise.as_deref().unwrap_or(&[]), names);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                collect_assigned(body, names);
            }
            _ => {}
        }
    }
}
