//! Functions as algorithms over scalars and arrays of fixed size.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_source::{Diagnostic, Span};
use saltus_syntax::ast::{ComponentReference, ExprKind, Name, Statement, StatementKind};

use super::frame::{Frame, FrameVar};
use super::signature::Formal;
use super::{Effect, Signature};
use crate::codes;
use crate::expr::{Context, Mode};
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{
    BinaryOp, FlatExpr, FlatFunction, FunctionBody, FunctionCall, FunctionId, FunctionStatement, IndexVec, Local,
    LocalId, Place, ProvenanceKind, ScalarType,
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

/// What a function could not be specialised to. Callers are tried in several ways, and each of them would try it again.
#[derive(Debug)]
pub(super) struct Refused {
    shapes: Vec<Shape>,
    may_open: bool,
    why: Box<Diagnostic>,
}

/// A function under construction.
pub(super) struct Builder {
    pub locals: IndexVec<LocalId, Local>,
    /// Those that are fields of records.
    pub fields: Vec<LocalId>,
    /// Variables that the body assigns.
    pub assigned: Vec<Name>,
    /// The statements so far of the block that is written.
    pub body: Vec<FunctionStatement>,
}

impl Flattener<'_> {
    pub(super) fn call_specialised(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: Vec<Tensor>,
        span: Span,
    ) -> Fallible<Vec<Tensor>> {
        let mut partials = Vec::new();
        let (class, signature) = match &signature.partial_of {
            Some((of, inputs)) => {
                partials = inputs.iter().map(|&input| first_scalar(&bound, input)).collect();
                (*of, &self.signature(*of)?)
            }
            None => (class, signature),
        };
        let shapes: Vec<Shape> = bound.iter().map(shape_of).collect();
        let function = match self.known_specialisation(class, &shapes) {
            Some(id) => id,
            None => self.specialise(class, signature, &bound, shapes, span)?,
        };
        let mut arguments = Vec::new();
        for value in &bound {
            open_scalars(value, &mut arguments);
        }
        if signature.outputs.is_empty() {
            let call = FunctionCall {
                function,
                output: 0,
                arguments: arguments.into(),
                partials: Vec::new(),
                span,
            };
            self.functions.effects.push(Effect::Call(call));
            return Ok(Vec::new());
        }
        self.call_outputs(function, arguments.into(), &partials, span)
    }

    /// Sizes that are known when the function is called only.
    fn lower_size_checks(
        &mut self,
        class: ClassId,
        formal: &Formal,
        dims: &[u32],
        ctx: &Context<'_>,
        body: &mut Vec<FunctionStatement>,
    ) -> Fallible<()> {
        for (wanted, size) in self.declared_sizes(class, formal, dims, ctx)? {
            let Some(wanted) = wanted.as_expr().filter(|wanted| !wanted.is_literal()) else {
                continue;
            };
            let given = FlatExpr::Integer(i64::from(size));
            let holds = crate::tensor::binary(BinaryOp::Equal, wanted.clone(), given, formal.span);
            let why = (
                format!("input `{}` needs size ", formal.name),
                format!(", but is given {size}"),
            );
            let message = super::check::said(&why, wanted.clone(), formal.span);
            body.push(FunctionStatement::Assert(holds, message));
        }
        Ok(())
    }

    pub(super) fn known_specialisation(&self, class: ClassId, shapes: &[Shape]) -> Option<FunctionId> {
        let list = self.functions.specialised.get(&class)?;
        list.iter().find(|(s, _)| *s == shapes).map(|(_, id)| *id)
    }

    /// The results of a call as values over its scalar outputs.
    pub(super) fn call_outputs(
        &mut self,
        function: FunctionId,
        arguments: Arc<[FlatExpr]>,
        partials: &[u32],
        span: Span,
    ) -> Fallible<Vec<Tensor>> {
        let vars = self.functions.outputs.get(&function).cloned().unwrap_or_default();
        let mut next = 0u32;
        let mut take = |ty: ScalarType, dims: &Dims| {
            let count = volume(dims).unwrap_or(0) as u32;
            let first = next;
            next += count;
            let scalar = |output| {
                FlatExpr::Call(Box::new(FunctionCall {
                    function,
                    output,
                    arguments: Arc::clone(&arguments),
                    partials: partials.to_vec(),
                    span,
                }))
            };
            Tensor::array(Ty::of(ty), dims.clone(), (first..first + count).map(scalar))
        };
        vars.iter().map(|var| gather_output(var, &mut take, span)).collect()
    }

    pub(super) fn specialise(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        shapes: Vec<Shape>,
        span: Span,
    ) -> Fallible<FunctionId> {
        let may_open = self.functions.may_open;
        let refused = self.functions.refused.get(&class).into_iter().flatten();
        let mut refused = refused.filter(|refused| refused.may_open == may_open && refused.shapes == shapes);
        if let Some(refused) = refused.next() {
            return Err(Failure::Report(refused.why.clone()));
        }
        self.enter(span)?;
        let result = self.without_emission(|this| this.specialise_inner(class, signature, bound, shapes.clone(), span));
        self.leave();
        if let Err(Failure::Report(why)) = &result
            && why.code == codes::E0304
        {
            let refused = Refused {
                shapes,
                may_open,
                why: why.clone(),
            };
            self.functions.refused.entry(class).or_default().push(refused);
        }
        result
    }

    pub(super) fn specialise_inner(
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
            fields: Vec::new(),
            assigned: self.assigned_names(class)?,
            body: Vec::new(),
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
            self.declare_unit(&mut builder, &var, class, &formal.name);
            frame.set(formal.name.clone(), var);
        }
        let frame = RefCell::new(frame);
        let ctx = Context {
            frame: Some(&frame),
            ..Context::new(Scope { class, instance: None }, Mode::Flat)
        };
        for (formal, value) in signature.inputs.iter().zip(bound) {
            self.lower_size_checks(class, formal, &value.dims, &ctx, &mut builder.body)?;
        }
        for formal in &signature.locals {
            let is_output = signature.outputs.iter().any(|o| o.name == formal.name);
            self.declare_local(class, formal, is_output, &mut builder, &ctx)?;
        }
        // Those of open size come when they are assigned.
        let mut outputs = Vec::new();
        for var in output_vars(signature, &frame) {
            collect_locals(&var, &mut outputs);
        }
        // A call is known by a result, so a function that is called for its assertions alone gets one.
        let unnamed = signature.outputs.is_empty().then(|| {
            builder
                .locals
                .push(Local::new("$done", ScalarType::Boolean, Vec::new()))
        });
        outputs.extend(unnamed);
        if let Some(local) = unnamed {
            let place = Place {
                local,
                indices: Box::default(),
            };
            let done = FunctionStatement::Assign(place, FlatExpr::Boolean(true));
            builder.body.push(done);
        }
        // Known before the body is lowered, so that the function may call itself.
        let name = Arc::clone(&self.classes[class].name);
        let id = self.model.functions.push(FlatFunction {
            name,
            locals: builder.locals.clone(),
            inputs,
            outputs,
            fields: Vec::new(),
            body: FunctionBody::Algorithm(Vec::new()),
            smooth_order: signature.smooth_order,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            provenance,
        });
        let vars = output_vars(signature, &frame);
        self.functions.outputs.insert(id, vars);
        self.functions
            .specialised
            .entry(class)
            .or_default()
            .push((shapes.clone(), id));
        let result = self
            .lower_body(class, &mut builder, &ctx)
            .and_then(|()| self.final_outputs(signature, &frame));
        let mut outputs = match result {
            Ok(outputs) => outputs,
            Err(failure) => {
                if let Some(list) = self.functions.specialised.get_mut(&class) {
                    list.retain(|(_, other)| *other != id);
                }
                self.functions.outputs.remove(&id);
                self.forget_function(id);
                return Err(match failure {
                    Failure::Report(d) if d.secondary.len() < 4 => {
                        let name = &self.classes[class].name;
                        Failure::Report(Box::new(d.with_secondary(span, format!("in this call of `{name}`"))))
                    }
                    other => other,
                });
            }
        };
        outputs.extend(unnamed);
        let vars = output_vars(signature, &frame);
        self.functions.outputs.insert(id, vars);
        let function = &mut self.model.functions[id];
        function.outputs = outputs;
        function.locals = builder.locals;
        function.fields = builder.fields;
        function.body = FunctionBody::Algorithm(builder.body);
        self.specialise_annotations(class, signature, bound, id)?;
        Ok(id)
    }

    /// Takes a function back that cannot be lowered; nothing calls it.
    fn forget_function(&mut self, id: FunctionId) {
        if id.0 as usize + 1 == self.model.functions.len() {
            self.model.functions.pop();
            return;
        }
        let never = FunctionStatement::Assert(FlatExpr::Boolean(false), FlatExpr::String("never called".into()));
        let function = &mut self.model.functions[id];
        function.body = FunctionBody::Algorithm(vec![never]);
    }

    /// The outputs, those whose size was open included.
    pub(super) fn final_outputs(&mut self, signature: &Signature, frame: &RefCell<Frame>) -> Fallible<Vec<LocalId>> {
        let mut outputs = Vec::new();
        for output in &signature.outputs {
            let complete = frame
                .borrow()
                .get(&output.name)
                .is_some_and(|var| collect_locals(var, &mut outputs));
            if !complete {
                return fail(
                    codes::E0304,
                    output.span,
                    format!(
                        "the size of the output `{}` is open, and it is never assigned as a whole",
                        output.name
                    ),
                );
            }
        }
        Ok(outputs)
    }

    pub(super) fn lower_body(&mut self, class: ClassId, builder: &mut Builder, ctx: &Context<'_>) -> Fallible<()> {
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
                self.lower_statements(&section.statements, builder, &ctx)?;
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
}

/// Values that are not Real are part of what a function is specialised to, where they are known.
pub(super) fn shape_of(value: &Tensor) -> Shape {
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
pub(super) fn open_scalars(value: &Tensor, out: &mut Vec<FlatExpr>) {
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

/// The place of an input among the scalars of all arguments.
fn first_scalar(bound: &[Tensor], input: usize) -> u32 {
    let mut before = Vec::new();
    bound[..input].iter().for_each(|value| open_scalars(value, &mut before));
    before.len() as u32
}

pub(super) fn opened(shape: Shape) -> Shape {
    match shape {
        Shape::Known(value) => Shape::Open(value.ty, value.dims, Vec::new()),
        open => open,
    }
}

pub(super) fn collect_assigned(statements: &[Statement], names: &mut Vec<Name>) {
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

/// The variables behind a name, in order; false if there is none yet.
fn collect_locals(var: &FrameVar, out: &mut Vec<LocalId>) -> bool {
    match var {
        FrameVar::Local(id, ..) => {
            out.push(*id);
            true
        }
        FrameVar::Record(_, fields) => fields.iter().all(|(_, field)| collect_locals(field, out)),
        FrameVar::Records(_, _, elements) => elements.iter().all(|element| collect_locals(element, out)),
        FrameVar::Value(_) | FrameVar::Open(_) | FrameVar::Sized(..) => false,
    }
}

/// The variables behind the outputs, as far as they are declared.
fn output_vars(signature: &Signature, frame: &RefCell<Frame>) -> Vec<FrameVar> {
    let frame = frame.borrow();
    let outputs = signature.outputs.iter();
    outputs.filter_map(|output| frame.get(&output.name).cloned()).collect()
}

/// A value of the form of a variable, its scalars taken one after the other.
fn gather_output(var: &FrameVar, take: &mut dyn FnMut(ScalarType, &Dims) -> Tensor, span: Span) -> Fallible<Tensor> {
    match var {
        FrameVar::Local(_, ty, dims) => Ok(take(*ty, dims)),
        FrameVar::Record(class, fields) => {
            let mut values = Vec::with_capacity(fields.len());
            for (name, field) in fields {
                values.push((name.clone(), gather_output(field, take, span)?));
            }
            Ok(Tensor::record(*class, values.into()))
        }
        FrameVar::Records(class, dims, elements) => {
            let mut elems = smallvec::SmallVec::new();
            for element in elements {
                elems.extend(gather_output(element, take, span)?.elems);
            }
            Ok(Tensor {
                ty: Ty::Record(*class),
                dims: dims.clone(),
                elems,
            })
        }
        FrameVar::Open(_) => fail(
            codes::E0214,
            span,
            "functions that call themselves and have outputs of open size are not supported yet",
        ),
        FrameVar::Value(_) | FrameVar::Sized(..) => Err(Failure::Reported),
    }
}
