//! Running functions on values.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_source::{Diagnostic, Span};
use saltus_syntax::ast::{
    ComponentReference, Expr, ExprKind, ForIndex, ReferencePart, Statement, StatementKind, Subscript,
};
use smallvec::SmallVec;

use super::Signature;
use super::frame::{Frame, FrameVar};
use super::signature::Formal;
use super::store::Target;
use crate::class::SimpleType;
use crate::codes;
use crate::expr::{Context, Iterators, Mode};
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{AssertLevel, FlatExpr};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::Scope;
use crate::tensor::{Dims, Elem, Tensor, Ty, unset, volume};

/// How a statement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Return,
}

impl Flattener<'_> {
    pub(super) fn interpret(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        arguments: Vec<Tensor>,
        mode: Mode,
    ) -> Fallible<Vec<Tensor>> {
        let mut frame = Frame::default();
        for (formal, value) in signature.inputs.iter().zip(arguments) {
            frame.set(formal.name.clone(), FrameVar::Value(value));
        }
        let frame = RefCell::new(frame);
        let scope = Scope { class, instance: None };
        let ctx = Context {
            frame: Some(&frame),
            ..Context::new(scope, mode)
        };
        for formal in &signature.locals {
            let value = self.initial_value(class, formal, &ctx)?;
            self.hold_variable(value.elems.len(), formal.span)?;
            frame.borrow_mut().set(formal.name.clone(), FrameVar::Value(value));
        }
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
                ..ctx
            };
            for section in &composition.algorithms {
                if self.run_statements(&section.statements, &frame, &ctx)? == Flow::Return {
                    break;
                }
            }
        }
        let frame = frame.into_inner();
        signature
            .outputs
            .iter()
            .map(|output| match frame.value(&output.name) {
                Some(value) if value.is_unset() && !value.is_partial_record() => fail(
                    codes::E0511,
                    output.span,
                    format!("the output `{}` has not been assigned", output.name),
                ),
                Some(value) => Ok(value.clone()),
                None => Err(Failure::Reported),
            })
            .collect()
    }

    /// Declared sizes of inputs must agree with the arguments.
    pub(super) fn check_argument_sizes(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        span: Span,
    ) -> Fallible<()> {
        if signature.inputs.iter().all(|formal| formal.rank == 0) {
            return Ok(());
        }
        let mut frame = Frame::default();
        for (formal, value) in signature.inputs.iter().zip(bound) {
            frame.set(formal.name.clone(), FrameVar::Value(value.clone()));
        }
        let frame = RefCell::new(frame);
        let ctx = Context {
            frame: Some(&frame),
            ..Context::new(Scope { class, instance: None }, Mode::Evaluate)
        };
        for (formal, value) in signature.inputs.iter().zip(bound) {
            for (wanted, size) in self.declared_sizes(class, formal, &value.dims, &ctx)? {
                if let Some(wanted) = wanted.as_integer()
                    && wanted != i64::from(size)
                {
                    return fail(
                        codes::E0302,
                        span,
                        format!("input `{}` needs size {wanted}, but is given {size}", formal.name),
                    );
                }
            }
        }
        Ok(())
    }

    /// The declared sizes of an input that can be computed here, each with the size that is given.
    pub(super) fn declared_sizes(
        &mut self,
        class: ClassId,
        formal: &Formal,
        dims: &[u32],
        ctx: &Context<'_>,
    ) -> Fallible<Vec<(Tensor, u32)>> {
        let table = self.table(class)?;
        let entry = &table.entries[formal.entry as usize];
        let Some((clause, component)) = entry.component() else {
            return Ok(Vec::new());
        };
        let type_table = self.table(formal.class)?;
        let own = component.subscripts.iter().chain(&clause.subscripts);
        let own = own.map(|subscript| (subscript, entry.scope));
        let of_type = type_table.dims.iter().map(|(subscript, scope)| (subscript, *scope));
        let mut sizes = Vec::new();
        for ((subscript, scope), &size) in own.chain(of_type).zip(dims) {
            let Subscript::Expr(expr) = subscript else { continue };
            let scope = Scope {
                class: scope,
                instance: None,
            };
            let inner = Context { scope, ..*ctx };
            let wanted = match self.size_by_type(expr, &inner)? {
                Some(wanted) => Some(Tensor::integer(i64::from(wanted))),
                None => self.expr(expr, &inner).ok(),
            };
            sizes.extend(wanted.map(|wanted| (wanted, size)));
        }
        Ok(sizes)
    }

    /// The sizes of a variable of a function; open ones are zero until it is assigned.
    pub(crate) fn local_dims(&mut self, class: ClassId, formal: &Formal, ctx: &Context<'_>) -> Fallible<(Dims, bool)> {
        let table = self.table(class)?;
        let entry = &table.entries[formal.entry as usize];
        let Some((clause, component)) = entry.component() else {
            return Err(Failure::Reported);
        };
        let type_table = self.table(formal.class)?;
        let mut dims = Dims::new();
        let mut open = false;
        let own = component
            .subscripts
            .iter()
            .chain(&clause.subscripts)
            .map(|s| (s, entry.scope));
        let of_type = type_table.dims.iter().map(|(s, class)| (s, *class));
        for (subscript, scope) in own.chain(of_type) {
            match subscript {
                Subscript::Colon(_) => {
                    open = true;
                    dims.push(0);
                }
                Subscript::Expr(expr) => {
                    let inner = Context {
                        scope: Scope {
                            class: scope,
                            instance: None,
                        },
                        ..*ctx
                    };
                    dims.push(self.local_size(expr, &inner)?);
                }
            }
        }
        self.check_size(&dims, formal.span)?;
        Ok((dims, open))
    }

    /// The size of a dimension that is given by a type: Boolean or an enumeration.
    fn size_by_type(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<Option<u32>> {
        let ExprKind::Reference(reference) = &expr.kind else {
            return Ok(None);
        };
        match reference.to_qualified_name() {
            Some(name) if ctx.frame.is_none_or(|f| !f.borrow().contains(&name.parts[0].name)) => {
                let size = self.type_size(ctx.scope.class, &name)?;
                Ok(size.map(|(size, _)| size))
            }
            _ => Ok(None),
        }
    }

    fn local_size(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<u32> {
        if let Some(size) = self.size_by_type(expr, ctx)? {
            return Ok(size);
        }
        let value = self.evaluate(expr, ctx)?;
        match value.as_integer() {
            Some(size) if (0..=i64::from(u32::MAX)).contains(&size) => Ok(size as u32),
            Some(size) => fail(codes::E0306, expr.span, format!("an array cannot have {size} elements")),
            None => fail(codes::E0301, expr.span, "the size of an array must be an Integer"),
        }
    }

    pub(super) fn initial_value(&mut self, class: ClassId, formal: &Formal, ctx: &Context<'_>) -> Fallible<Tensor> {
        let table = self.table(class)?;
        let entry = &table.entries[formal.entry as usize];
        let mods = crate::modification::merge(&entry.mods, &entry.declared);
        if let Some(binding) = &mods.binding {
            let scope = Scope {
                class: binding.source.scope.class,
                instance: None,
            };
            let value = self.expr(&binding.source.expr, &Context { scope, ..*ctx })?;
            let ty = self.class_type(formal.class)?;
            if !ty.accepts(value.ty) && !value.elems.is_empty() {
                return fail(
                    codes::E0301,
                    binding.span(),
                    format!(
                        "`{}` is {} and cannot be given {}",
                        formal.name,
                        ty.name(),
                        value.shape()
                    ),
                );
            }
            let (dims, open) = self.local_dims(class, formal, ctx)?;
            let fits = dims.len() == value.dims.len() && (open || dims == value.dims);
            if !fits {
                return fail(
                    codes::E0302,
                    binding.span(),
                    format!("`{}` of size {dims:?} is given {}", formal.name, value.shape()),
                );
            }
            if let Some(frame) = ctx.frame.filter(|_| open) {
                frame.borrow_mut().set_open(formal.name.clone());
            }
            return Ok(value.coerce(ty));
        }
        let (dims, open) = self.local_dims(class, formal, ctx)?;
        if let Some(frame) = ctx.frame.filter(|_| open) {
            frame.borrow_mut().set_open(formal.name.clone());
        }
        let element = self.default_element(formal.class, &mods, ctx)?;
        Ok(element.repeat(&dims))
    }

    /// The value of a variable before it is assigned.
    fn default_element(
        &mut self,
        class: ClassId,
        mods: &Rc<crate::modification::Mod>,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let table = self.table(class)?;
        if let Some(simple) = table.simple {
            if simple == SimpleType::ExternalObject {
                return fail(
                    codes::E0309,
                    self.def(class).name.span,
                    "external objects cannot be variables of functions",
                );
            }
            let ty = self.simple_scalar(simple)?;
            return Ok(Tensor::scalar(Ty::of(ty), unset(self.def(class).name.span)));
        }
        if super::is_function_kind(self.kind(class)) {
            return Ok(self.function_value(class));
        }
        self.enter(self.def(class).name.span)?;
        let result = self.default_record(class, mods, ctx);
        self.leave();
        result
    }

    fn run_statements(
        &mut self,
        statements: &[Statement],
        frame: &RefCell<Frame>,
        ctx: &Context<'_>,
    ) -> Fallible<Flow> {
        for statement in statements {
            match self.run_statement(statement, frame, ctx)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn run_statement(&mut self, statement: &Statement, frame: &RefCell<Frame>, ctx: &Context<'_>) -> Fallible<Flow> {
        self.spend(25, statement.span)?;
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let value = self.expr(value, ctx)?;
                if ctx.mode == Mode::Flat && !super::is_small(&value) {
                    return fail(codes::E0307, statement.span, "the function is too large to be inlined");
                }
                self.assign(target, value, frame, ctx)?;
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
                for (target, result) in targets.iter().zip(results) {
                    if let Some(Expr {
                        kind: ExprKind::Reference(target),
                        ..
                    }) = target
                    {
                        self.assign(target, result, frame, ctx)?;
                    }
                }
            }
            StatementKind::Call(expr) => self.run_call(expr, ctx)?,
            StatementKind::If { branches, otherwise } => {
                let rest: Vec<(&Expr, &[Statement])> = branches.iter().map(|b| (&b.condition, &b.body[..])).collect();
                return self.run_if(&rest, otherwise.as_deref().unwrap_or(&[]), frame, ctx);
            }
            StatementKind::For { indices, body } => return self.run_for(indices, body, frame, ctx),
            StatementKind::While { condition, body } => loop {
                self.spend(1, condition.span)?;
                match self.condition(condition, ctx)? {
                    FlatExpr::Boolean(true) => {}
                    FlatExpr::Boolean(false) => break,
                    _ => return fail(codes::E0304, condition.span, "this condition must be known here"),
                }
                match self.run_statements(body, frame, ctx)? {
                    Flow::Next => {}
                    Flow::Break => break,
                    Flow::Return => return Ok(Flow::Return),
                }
            },
            StatementKind::When { .. } => {
                return fail(codes::E0311, statement.span, "`when` cannot be used in a function");
            }
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Return => return Ok(Flow::Return),
            StatementKind::Error => return Err(Failure::Reported),
        }
        Ok(Flow::Next)
    }

    fn run_if(
        &mut self,
        branches: &[(&Expr, &[Statement])],
        otherwise: &[Statement],
        frame: &RefCell<Frame>,
        ctx: &Context<'_>,
    ) -> Fallible<Flow> {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return self.run_statements(otherwise, frame, ctx);
        };
        let test = self.condition(condition, ctx)?;
        match test {
            FlatExpr::Boolean(true) => self.run_statements(body, frame, ctx),
            FlatExpr::Boolean(false) => self.run_if(rest, otherwise, frame, ctx),
            // Both branches, joined by if-expressions.
            test => {
                let before = frame.borrow().clone();
                if self.run_statements(body, frame, ctx)? != Flow::Next {
                    return fail(codes::E0304, condition.span, "this condition must be known here");
                }
                let then = frame.replace(before);
                if self.run_if(rest, otherwise, frame, ctx)? != Flow::Next {
                    return fail(codes::E0304, condition.span, "this condition must be known here");
                }
                self.join_frames(&test, &then, frame, condition.span)?;
                Ok(Flow::Next)
            }
        }
    }

    fn join_frames(&mut self, test: &FlatExpr, then: &Frame, frame: &RefCell<Frame>, span: Span) -> Fallible<()> {
        for name in then.names() {
            let (Some(a), Some(b)) = (then.value(&name).cloned(), frame.borrow().value(&name).cloned()) else {
                continue;
            };
            if a != b {
                if a.is_unset() || b.is_unset() {
                    return fail(codes::E0304, span, "this condition must be known here");
                }
                let joined = self.join_branches(test, a, b, span)?;
                frame.borrow_mut().set(name, FrameVar::Value(joined));
            }
        }
        Ok(())
    }

    fn run_for(
        &mut self,
        indices: &[ForIndex],
        body: &[Statement],
        frame: &RefCell<Frame>,
        ctx: &Context<'_>,
    ) -> Fallible<Flow> {
        let Some((index, rest)) = indices.split_first() else {
            return self.run_statements(body, frame, ctx);
        };
        let find = |name: &str| crate::model::implicit::in_statements(body, name);
        let known = self.iterator_values(index, &find, ctx);
        let values = self.or_varying_values(known, index, ctx)?;
        for k in 1..=values.dims[0] {
            self.spend(1, index.span)?;
            let Some(value) = values.at(k) else { break };
            let iterators = Iterators {
                name: &index.name.name,
                value: &value,
                outer: ctx.iterators,
            };
            match self.run_for(rest, body, frame, &ctx.with_iterators(&iterators))? {
                Flow::Next => {}
                Flow::Break => break,
                Flow::Return => return Ok(Flow::Return),
            }
        }
        Ok(Flow::Next)
    }

    /// A call for its effect: assertions are checked, messages are ignored.
    fn run_call(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<()> {
        let ExprKind::Call(call) = &expr.kind else {
            return Err(Failure::Reported);
        };
        if call.function.as_simple_name().is_some_and(|name| name == "assert") {
            let assertion = self.assertion(call, expr.span, ctx)?;
            return match (assertion.condition, assertion.level) {
                (FlatExpr::Boolean(true), _) => Ok(()),
                (FlatExpr::Boolean(false), level) if ctx.mode == Mode::Evaluate => {
                    let text = super::statements::message_text(&assertion.message);
                    if level == AssertLevel::Error {
                        return fail(codes::E0308, expr.span, format!("assertion failed: {text}"));
                    }
                    self.diagnostics
                        .push(Diagnostic::warning(codes::W0205, expr.span, text));
                    Ok(())
                }
                // The function stays a call, which keeps its assertion.
                _ => fail(codes::E0304, expr.span, "this condition must be known here"),
            };
        }
        if !self.effects_of(call, expr.span, ctx)?.is_empty() {
            return fail(codes::E0304, expr.span, "the arguments of this call must be known here");
        }
        Ok(())
    }

    /// `target := value` in a function that runs.
    fn assign(
        &mut self,
        target: &ComponentReference,
        value: Tensor,
        frame: &RefCell<Frame>,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let Some((first, rest)) = target.parts.split_first() else {
            return Err(Failure::Reported);
        };
        let var = frame.borrow_mut().remove(&first.name.name);
        let Some(FrameVar::Value(mut current)) = var else {
            return fail(
                codes::E0201,
                target.span,
                format!("`{}` is not a variable of this function", first.name),
            );
        };
        // Subscripts may refer to the variable itself.
        let name = first.name.name.clone();
        let whole = rest.is_empty() && first.subscripts.is_empty();
        if whole && value.dims != current.dims && !frame.borrow().is_open(&name) {
            let message = format!("{} is assigned to `{name}` of {}", value.shape(), current.shape());
            frame.borrow_mut().set(name, FrameVar::Value(current));
            return fail(codes::E0302, target.span, message);
        }
        if whole && value.dims != current.dims {
            self.hold_variable(value.elems.len(), target.span)?;
        }
        frame.borrow_mut().set(name.clone(), FrameVar::Value(current.clone()));
        let part = Target {
            part: first,
            rest,
            span: target.span,
        };
        let result = self.store(&mut current, &part, value, ctx);
        frame.borrow_mut().set(name, FrameVar::Value(current));
        result
    }

    fn store(&mut self, current: &mut Tensor, target: &Target<'_>, value: Tensor, ctx: &Context<'_>) -> Fallible<()> {
        let Target { part, rest, span } = *target;
        if let Some((next, behind)) = rest.split_first() {
            let field = Target {
                part: next,
                rest: behind,
                span,
            };
            return self.store_field(current, part, &field, value, ctx);
        }
        if !current.ty.accepts(value.ty) && !value.elems.is_empty() {
            return fail(
                codes::E0301,
                span,
                format!("{} is assigned to a variable of {}", value.shape(), current.shape()),
            );
        }
        if part.subscripts.is_empty() {
            if value.dims.len() != current.dims.len() {
                return fail(
                    codes::E0302,
                    span,
                    format!("{} is assigned to a variable of {}", value.shape(), current.shape()),
                );
            }
            let ty = current.ty;
            *current = value.coerce(ty);
            return Ok(());
        }
        self.store_subscripted(current, &part.subscripts, value, span, ctx)
    }

    fn store_field(
        &mut self,
        current: &mut Tensor,
        part: &ReferencePart,
        target: &Target<'_>,
        value: Tensor,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let Target { part: next, span, .. } = *target;
        let resolved = self.subscripts(&part.subscripts, &current.dims.clone(), span, ctx)?;
        let lists = resolved.lists();
        let positions: Vec<usize> = crate::expr::positions(&current.dims.clone(), &lists).collect();
        let [position] = positions[..] else {
            return fail(
                codes::E0214,
                span,
                "assigning a field of several records at once is not supported yet",
            );
        };
        let Some(Elem::Record(fields)) = current.elems.get_mut(position) else {
            return fail(codes::E0301, span, "a field is assigned in something that is no record");
        };
        let fields = Rc::make_mut(fields);
        let Some((_, field)) = fields.iter_mut().find(|(n, _)| *n == next.name.name) else {
            return fail(
                codes::E0201,
                next.name.span,
                format!("the record has no field `{}`", next.name),
            );
        };
        let mut inner = field.clone();
        self.store(&mut inner, target, value, ctx)?;
        let Some(Elem::Record(fields)) = current.elems.get_mut(position) else {
            return Err(Failure::Reported);
        };
        if let Some((_, field)) = Rc::make_mut(fields).iter_mut().find(|(n, _)| *n == next.name.name) {
            *field = inner;
        }
        Ok(())
    }

    /// An empty value of some size, to be filled.
    pub(super) fn blank(&mut self, ty: Ty, dims: Dims, span: Span) -> Tensor {
        let count = volume(&dims).unwrap_or(0);
        let elems: SmallVec<[Elem; 1]> = match ty.scalar() {
            Some(_) => (0..count).map(|_| Elem::Expr(unset(span))).collect(),
            None => SmallVec::new(),
        };
        Tensor { ty, dims, elems }
    }
}
