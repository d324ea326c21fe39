//! Functions: evaluated where all arguments are known, inlined where asked for, and otherwise specialised to the sizes of
//! their arguments.
//!
//! A call takes its way through these files ([`Flattener::call_function`] is the entrance):
//!
//! | question | answered in |
//! |---|---|
//! | Which inputs, outputs and variables has the function, and what do its annotations say? | `signature`, `annotations` |
//! | Which value goes with which input? Is a function that is an argument of the right type? | `signature` |
//! | Is it external, a table, a routine of a library, or a unit of another tool? | `external`, `tables`, `routine`, `code`, `foreign` |
//! | All arguments known, or to be written into the equations: what does it yield? | `interpret`, on values ([`Tensor`]); `frame` holds its variables |
//! | Otherwise: which function of the flat model is called? | `lower`: one for each list of sizes and known arguments |
//! | Which variables has that one? | `declare` |
//! | What do its statements become? | `statements`; `store` for assignments |
//! | And with arrays whose sizes are known only when it runs? | `open`, if it does not work without |
//! | What stands for a value that does not exist? | `check` |
//! | Records by their constructors | `record` |
//! | What is wrong with a body that no call leads through? | `body`, from declarations alone |
//!
//! What is lowered here is executed by the machine of `saltus_mdae::function`; `tests/run/random_functions.mo` holds functions
//! made at random for which it and `interpret` agree.

mod annotations;
pub(crate) mod body;
pub(crate) mod check;
mod code;
mod declare;
pub(crate) mod external;
mod foreign;
pub(crate) mod frame;
mod interpret;
mod lower;
mod open;
mod record;
mod routine;
mod signature;
mod statements;
mod store;
mod tables;

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_routines::{ExternalFunction, ExternalObject};
use saltus_source::{Diagnostic, Span};
use saltus_syntax::ast::{Call, ClassDefinition, ClassKind, Name};
use smallvec::{SmallVec, smallvec};

use crate::codes;
use crate::expr::{Arguments, Context, Mode};
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{BinaryOp, Builtin, FlatExpr, FunctionCall, FunctionId, ScalarType};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::tensor::{Dims, Elem, Tensor, Ty, volume};

pub(crate) use signature::Signature;

/// A function as a value: with some of its inputs bound.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FunctionValue {
    pub class: ClassId,
    pub bound: Vec<(Name, Tensor)>,
}

/// What a call without results does.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// A function is called for its assertions.
    Call(FunctionCall),
    /// The run ends with a message.
    Error(FlatExpr),
}

/// Functions known so far.
#[derive(Default)]
pub(crate) struct FunctionTable {
    signatures: FxHashMap<ClassId, Rc<Signature>>,
    /// Specialised functions by class; each with the arguments it is for.
    specialised: FxHashMap<ClassId, Vec<(Vec<lower::Shape>, FunctionId)>>,
    /// What functions could not be specialised to, by class.
    refused: FxHashMap<ClassId, Vec<lower::Refused>>,
    /// The variables behind the results of each function.
    outputs: FxHashMap<FunctionId, Vec<frame::FrameVar>>,
    /// Functions that only fail, by the type of their result and what they say.
    failing: FxHashMap<(ScalarType, check::Complaint), FunctionId>,
    tables: Vec<tables::KnownTable>,
    units: Vec<foreign::KnownCall>,
    routines: Vec<routine::KnownRoutine>,
    /// External functions whose code runs, and the objects they work on.
    externals: Vec<Arc<ExternalFunction>>,
    objects: Vec<(Rc<external::ExternalValue>, Arc<ExternalObject>)>,
    /// What the calls of the present statement do besides yielding values.
    pub(crate) effects: Vec<Effect>,
    /// Calls that are known to fail, with what is said then.
    pub(crate) fails: Vec<(FunctionCall, Diagnostic)>,
    /// How often a function could not be inlined.
    not_inlined: FxHashMap<*const ClassDefinition, u32>,
    /// The function whose body is checked, if it must be pure.
    pub(crate) pure: Option<Arc<str>>,
    /// Whether arrays of the function that is lowered may have sizes that are known only when it runs.
    may_open: bool,
    /// What expressions add to the function that is lowered, where they can.
    pub(crate) emission: Option<open::Emission>,
    /// Functions being inlined or evaluated, innermost last.
    active: Vec<Arc<ClassDefinition>>,
    /// Units that arguments of calls should have that are inlined.
    pub(crate) unit_claims: Vec<UnitClaim>,
}

/// The unit that an argument should have.
#[derive(Clone, Debug)]
pub(crate) struct UnitClaim {
    pub unit: Arc<str>,
    pub argument: FlatExpr,
    /// The input, and the function.
    pub input: Arc<str>,
    pub function: Arc<str>,
    /// The call.
    pub span: Span,
}

impl FunctionTable {
    /// Whether a function is being evaluated or inlined.
    pub(crate) fn is_running(&self) -> bool {
        !self.active.is_empty()
    }
}

/// Results with more nodes than this are not inlined: each use would repeat them.
const INLINE_LIMIT: usize = 2_000;

/// Functions that could not be inlined so often, with any arguments, are not tried again: a tree of calls would be gone
/// through again for every branch.
const ATTEMPTS: u32 = 8;

pub(crate) fn is_function_kind(kind: ClassKind) -> bool {
    matches!(kind, ClassKind::Function | ClassKind::OperatorFunction)
}

impl Flattener<'_> {
    pub(crate) fn function_value(&mut self, class: ClassId) -> Tensor {
        self.bound_function_value(class, Vec::new())
    }

    pub(crate) fn bound_function_value(&mut self, class: ClassId, bound: Vec<(Name, Tensor)>) -> Tensor {
        Tensor {
            ty: Ty::Function,
            dims: Dims::new(),
            elems: smallvec![Elem::Function(Rc::new(FunctionValue { class, bound }))],
        }
    }

    /// All results of calling a function.
    pub(crate) fn call_function(
        &mut self,
        class: ClassId,
        arguments: Arguments,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Vec<Tensor>> {
        let signature = self.signature(class)?;
        if signature.partial {
            return fail(
                codes::E0208,
                span,
                format!("`{}` is partial and cannot be called", self.classes[class].name),
            );
        }
        let bound = self.bind_arguments(class, &signature, arguments, span, ctx)?;
        match self.vectorised_dims(&signature, &bound, span)? {
            None => self.call_bound(class, &signature, bound, span, ctx),
            Some(dims) => self.call_vectorised(class, &signature, bound, dims, span, ctx),
        }
    }

    fn call_vectorised(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: Vec<Tensor>,
        dims: Dims,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Vec<Tensor>> {
        if signature.outputs.len() > 1 {
            return Err(crate::failure::error(
                codes::E0302,
                span,
                format!(
                    "`{}` has several results and cannot be applied to the elements of arrays",
                    self.classes[class].name
                ),
            )
            .with_help("only a function with one result can; call it for each element")
            .into());
        }
        let count = volume(&dims).unwrap_or(0);
        let mut results: Vec<Vec<Tensor>> = Vec::new();
        for offset in 0..count {
            let arguments = signature
                .inputs
                .iter()
                .zip(&bound)
                .map(|(formal, value)| {
                    if value.dims.len() > formal.rank {
                        element(value, dims.len(), offset)
                    } else {
                        value.clone()
                    }
                })
                .collect();
            let values = self.call_bound(class, signature, arguments, span, ctx)?;
            results.resize_with(values.len(), Vec::new);
            for (list, value) in results.iter_mut().zip(values) {
                list.push(value);
            }
        }
        if count == 0 {
            let ty = match signature.outputs.first() {
                Some(output) => self.class_type(output.class)?,
                None => Ty::Real,
            };
            return Ok(vec![Tensor {
                ty,
                dims,
                elems: SmallVec::new(),
            }]);
        }
        Ok(results.into_iter().map(|parts| join_elements(parts, &dims)).collect())
    }

    /// The dimensions over which a call is repeated, if arguments have more than the inputs.
    fn vectorised_dims(&mut self, signature: &Signature, bound: &[Tensor], span: Span) -> Fallible<Option<Dims>> {
        let mut dims: Option<Dims> = None;
        for (formal, value) in signature.inputs.iter().zip(bound) {
            if value.dims.len() < formal.rank {
                return fail(
                    codes::E0302,
                    span,
                    format!(
                        "input `{}` has {} dimensions, but is given {}",
                        formal.name,
                        formal.rank,
                        value.shape()
                    ),
                );
            }
            let extra: Dims = value.dims[..value.dims.len() - formal.rank].into();
            if extra.is_empty() {
                continue;
            }
            match &dims {
                None => dims = Some(extra),
                Some(known) if *known == extra => {}
                Some(_) => {
                    return fail(codes::E0302, span, "the arguments of a vectorised call differ in size");
                }
            }
        }
        Ok(dims)
    }

    fn call_bound(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: Vec<Tensor>,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Vec<Tensor>> {
        if signature.external.is_some() {
            return self.call_external(class, signature, bound, span, ctx);
        }
        self.check_argument_sizes(class, signature, &bound, span)?;
        // A record that is passed on may have fields without a value.
        let known = bound.iter().all(|value| value.is_known() || value.is_known_in_part());
        let whole = bound.iter().all(Tensor::is_known);
        // What has no results is there for its assertions: they belong where the call stands, not to the flattening.
        let for_effect = signature.outputs.is_empty() && ctx.mode == Mode::Flat;
        if known && !for_effect && signature.partial_of.is_none() {
            let result = self.run_function(class, signature, bound.clone(), Mode::Evaluate, span);
            return match result {
                // It may stand where it is never evaluated.
                Err(Failure::Report(failure)) if whole && ctx.mode == Mode::Flat && failure.code == codes::E0308 => {
                    self.failing_call(class, signature, bound, span, failure)
                }
                // Something in it is known only when it is called; or fields that may not be used have no value.
                Err(Failure::Report(failure)) if whole && ctx.mode == Mode::Flat && failure.code == codes::E0304 => {
                    if signature.inline
                        && !self.is_active(class)
                        && let Some(results) = self.inlined(class, signature, &bound, span)
                    {
                        return Ok(results);
                    }
                    self.call_specialised(class, signature, bound, span)
                        .map_err(|_| Failure::Report(failure))
                }
                Ok(results) if whole && ctx.mode == Mode::Flat && results.iter().any(Tensor::is_unset) => {
                    self.call_specialised(class, signature, bound, span)
                }
                other => other,
            };
        }
        if ctx.mode == Mode::Evaluate {
            return fail(
                codes::E0304,
                span,
                "the arguments of this call must be known before the simulation",
            );
        }
        // Relations of the arguments cause events, those of the function do not.
        let events_outside = !signature.generates_events && bound.iter().any(value_causes_events);
        if signature.inline
            && !events_outside
            && !self.is_active(class)
            && self.may_be_inlined(class)
            && let Some(results) = self.inlined(class, signature, &bound, span)
        {
            return Ok(results);
        }
        match self.call_with_sizes(class, signature, bound.clone(), span, false) {
            Ok(results) => Ok(results),
            // Sizes may depend on the values of arguments that are parameters.
            Err(failure) => match self.decide_arguments(&bound, span, ctx) {
                Some(decided) if decided != bound => self.call_bound(class, signature, decided, span, ctx),
                _ if open::is_too_early(&failure) => self
                    .call_with_sizes(class, signature, bound, span, true)
                    .map_err(|other| if open::is_too_early(&other) { failure } else { other }),
                _ => Err(failure),
            },
        }
    }

    /// A call of a function whose arrays have sizes that are known before the simulation, or may be open.
    fn call_with_sizes(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: Vec<Tensor>,
        span: Span,
        may_open: bool,
    ) -> Fallible<Vec<Tensor>> {
        let before = std::mem::replace(&mut self.functions.may_open, may_open);
        let result = self.call_specialised(class, signature, bound, span);
        self.functions.may_open = before;
        result
    }

    /// A call that fails, as a call: it is an error where it is certainly evaluated.
    fn failing_call(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: Vec<Tensor>,
        span: Span,
        failure: Box<Diagnostic>,
    ) -> Fallible<Vec<Tensor>> {
        let Ok(results) = self.call_specialised(class, signature, bound, span) else {
            return Err(Failure::Report(failure));
        };
        let calls = results.iter().flat_map(Tensor::scalars);
        for expr in calls {
            if let FlatExpr::Call(call) = expr {
                self.functions.fails.push((*call, (*failure).clone()));
            }
        }
        Ok(results)
    }

    /// Arguments with the values of parameters put in, where they are not Real; all of them if that
    /// is possible.
    pub(super) fn decide_arguments(&mut self, bound: &[Tensor], span: Span, ctx: &Context<'_>) -> Option<Vec<Tensor>> {
        let mut decided = Vec::with_capacity(bound.len());
        for value in bound {
            let whole = matches!(value.ty, Ty::Integer | Ty::Boolean | Ty::String | Ty::Enumeration(_));
            match self.known_value(value, span, ctx) {
                Ok(known) if whole => decided.push(known),
                _ => decided.push(value.clone()),
            }
        }
        (decided != bound).then_some(decided)
    }

    /// What a call that stands alone does: the effects of its evaluation, and those of the function whose results are
    /// not used.
    pub(crate) fn effects_of(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Vec<Effect>> {
        let outer = std::mem::take(&mut self.functions.effects);
        let results = self.call_results(call, span, ctx);
        let mut effects = std::mem::replace(&mut self.functions.effects, outer);
        let results = results?;
        if let Some(FlatExpr::Call(call)) = results.into_iter().flat_map(|r| r.scalars()).next() {
            effects.push(Effect::Call(*call));
        }
        Ok(effects)
    }

    fn is_active(&self, class: ClassId) -> bool {
        self.functions
            .active
            .iter()
            .any(|def| Arc::ptr_eq(def, self.def(class)))
    }

    /// Whether it is worth trying to inline a function, by the attempts so far.
    fn may_be_inlined(&self, class: ClassId) -> bool {
        let times = self.functions.not_inlined.get(&Arc::as_ptr(self.def(class)));
        times.is_none_or(|times| *times < ATTEMPTS)
    }

    /// The results as expressions of the arguments, if that is possible and not too large.
    fn inlined(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        span: Span,
    ) -> Option<Vec<Tensor>> {
        let before = self.diagnostics.len();
        let results = self.run_function(class, signature, bound.to_vec(), Mode::Flat, span);
        let found = results.ok().filter(|_| self.diagnostics.len() == before);
        let Some(results) = found.filter(|results| results.iter().all(is_small)) else {
            *self
                .functions
                .not_inlined
                .entry(Arc::as_ptr(self.def(class)))
                .or_default() += 1;
            return None;
        };
        self.claim_units(class, signature, bound, span);
        if signature.generates_events {
            return Some(results);
        }
        Some(results.into_iter().map(|value| without_events(value, span)).collect())
    }

    /// Notes which units the arguments of a call should have that is written into an equation.
    fn claim_units(&mut self, class: ClassId, signature: &Signature, bound: &[Tensor], span: Span) {
        // What is called in turn is looked at where it is declared.
        if self.functions.is_running() {
            return;
        }
        for (formal, value) in signature.inputs.iter().zip(bound) {
            let varies = |elem: &Elem| matches!(elem, Elem::Expr(expr) if !expr.is_literal());
            if value.ty != Ty::Real || !value.elems.iter().any(varies) || !is_small(value) {
                continue;
            }
            let Some(unit) = self.declared_unit(class, &formal.name) else {
                continue;
            };
            for expr in value.exprs().filter(|expr| !expr.is_literal()) {
                self.functions.unit_claims.push(UnitClaim {
                    unit: Arc::clone(&unit),
                    argument: expr.clone(),
                    input: formal.name.as_str().into(),
                    function: Arc::clone(&self.classes[class].name),
                    span,
                });
            }
        }
    }

    /// Runs a function on values; in [`Mode::Flat`] they need not be known.
    pub(crate) fn run_function(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        arguments: Vec<Tensor>,
        mode: Mode,
        span: Span,
    ) -> Fallible<Vec<Tensor>> {
        // A call costs as much as a hundred operations.
        self.spend(100, span)?;
        self.enter(span)?;
        let def = Arc::clone(self.def(class));
        self.functions.active.push(def);
        let held = self.held.1;
        let result = self.interpret(class, signature, arguments, mode);
        self.held.1 = held;
        self.functions.active.pop();
        self.leave();
        result.map_err(|failure| match failure {
            Failure::Report(diagnostic) if diagnostic.secondary.len() < 4 => {
                let name = &self.classes[class].name;
                Failure::Report(Box::new(
                    diagnostic.with_secondary(span, format!("in this call of `{name}`")),
                ))
            }
            other => other,
        })
    }
}

/// Whether a value is small enough to be repeated wherever it is used. Looks at no more nodes than
/// that takes: values can double with every assignment.
fn is_small(value: &Tensor) -> bool {
    let mut stack: Vec<&FlatExpr> = Vec::new();
    let mut nodes = 0;
    for elem in &value.elems {
        match elem {
            Elem::Expr(expr) => stack.push(expr),
            Elem::Record(fields) if !fields.iter().all(|(_, field)| is_small(field)) => return false,
            _ => {}
        }
    }
    while let Some(expr) = stack.pop() {
        nodes += 1;
        if nodes > INLINE_LIMIT.max(4 * value.elems.len()) {
            return false;
        }
        expr.for_each_operand(|operand| stack.push(operand));
    }
    true
}

/// Element `offset` of the outer `rank` dimensions.
fn element(value: &Tensor, rank: usize, offset: usize) -> Tensor {
    let inner: Dims = value.dims[rank..].into();
    let size = volume(&inner).unwrap_or(0);
    let elems = value.elems[offset * size..(offset + 1) * size]
        .iter()
        .cloned()
        .collect();
    Tensor {
        ty: value.ty,
        dims: inner,
        elems,
    }
}

fn join_elements(parts: Vec<Tensor>, dims: &Dims) -> Tensor {
    let mut all = dims.clone();
    let ty = parts.first().map_or(Ty::Real, |p| p.ty);
    if let Some(first) = parts.first() {
        all.extend_from_slice(&first.dims);
    }
    let elems = parts.into_iter().flat_map(|part| part.elems).collect();
    Tensor { ty, dims: all, elems }
}

/// Relations inside functions cause no events.
fn without_events(value: Tensor, span: Span) -> Tensor {
    let ty = value.ty;
    let elems = value
        .elems
        .into_iter()
        .map(|elem| match elem {
            Elem::Expr(expr) if causes_events(&expr) => {
                Elem::Expr(FlatExpr::Builtin(Builtin::NoEvent, Box::new([expr]), span))
            }
            Elem::Record(fields) => Elem::Record(Rc::new(
                fields
                    .iter()
                    .map(|(name, field)| (name.clone(), without_events(field.clone(), span)))
                    .collect(),
            )),
            other => other,
        })
        .collect();
    Tensor {
        ty,
        dims: value.dims,
        elems,
    }
}

fn value_causes_events(value: &Tensor) -> bool {
    value.elems.iter().any(|elem| match elem {
        Elem::Expr(expr) => causes_events(expr),
        Elem::Record(fields) => fields.iter().any(|(_, field)| value_causes_events(field)),
        _ => false,
    })
}

fn causes_events(expr: &FlatExpr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        found |= match e {
            FlatExpr::Binary(op, ..) => op.is_relation() && *op != BinaryOp::Equal,
            FlatExpr::Builtin(builtin, ..) => matches!(
                builtin,
                Builtin::Div | Builtin::Mod | Builtin::Rem | Builtin::Ceil | Builtin::Floor | Builtin::Integer
            ),
            _ => false,
        };
    });
    found
}
