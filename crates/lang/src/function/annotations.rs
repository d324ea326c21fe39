//! Annotations of functions: inlining, and functions that yield derivatives and inverses.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use saltus_source::{Diagnostic, Span};
use saltus_syntax::ast::{Argument, Binding, Call, ClassModification, ElementModification, Expr, ExprKind, Name};

use super::lower::{open_scalars, shape_of};
use super::signature::Signature;
use crate::codes;
use crate::failure::Fallible;
use crate::flat::{DerivativeInput, FlatDerivative, FlatExpr, FlatInverse, FunctionId, ScalarType};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::tensor::{Tensor, Ty};

/// `derivative(order = …, noDerivative = …, zeroDerivative = …) = function`
#[derive(Clone, Debug)]
pub(crate) struct DerivativeAnnotation {
    pub function: Arc<Expr>,
    pub order: u32,
    /// Inputs whose derivative the function does not ask for: it does not matter or is zero.
    pub left_out: Vec<Name>,
    /// Those of them that must not vary.
    pub zero: Vec<Name>,
    pub span: Span,
}

/// `inverse(argument = function(…))`
#[derive(Clone, Debug)]
pub(crate) struct InverseAnnotation {
    pub argument: Name,
    pub call: Call,
    pub span: Span,
}

/// Why an annotation is of no use: a reason to tell, or none worth reporting.
type Usable<T> = Result<T, Option<String>>;

impl Flattener<'_> {
    pub(super) fn read_annotations(&mut self, class: ClassId, signature: &mut Signature) {
        let def = Arc::clone(self.def(class));
        let Some(annotation) = &def.annotation else {
            return;
        };
        let content = &annotation.modification;
        let is_true = |name: &str| {
            content
                .find(name)
                .and_then(binding)
                .is_some_and(|e| e.kind == ExprKind::Boolean(true))
        };
        // Until index reduction, what is to be inlined after it would be differentiated by a function that may use other
        // arguments than it does itself (`resolve1(R, v)` uses R.T, its derivative R.w), of which structure knows nothing.
        // Inlined at once, its derivatives are those of its statements.
        let kinds = ["Inline", "LateInline", "InlineAfterIndexReduction", "GenerateEvents"];
        signature.inline = kinds.into_iter().any(is_true);
        signature.generates_events = is_true("GenerateEvents");
        if let Some(ExprKind::Integer(order)) = content.find("smoothOrder").and_then(binding).map(|e| &e.kind) {
            signature.smooth_order = u32::try_from(*order).ok();
        }
        for argument in &content.arguments {
            match argument {
                Argument::Modification(m) if is_named(m, "derivative") => {
                    signature.derivatives.extend(derivative_annotation(m));
                }
                Argument::Modification(m) if is_named(m, "inverse") => {
                    signature.inverses.extend(inverse_annotations(m));
                }
                _ => {}
            }
        }
    }

    /// Functions that yield the derivatives and inverses of a function that has just been specialised.
    pub(super) fn specialise_annotations(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        id: FunctionId,
    ) -> Fallible<()> {
        for annotation in &signature.derivatives {
            match self.specialise_derivative(class, signature, bound, id, annotation)? {
                Ok(derivative) => self.model.functions[id].derivatives.push(derivative),
                Err(reason) => self.unusable("derivative", reason, annotation.span),
            }
        }
        for annotation in &signature.inverses {
            match self.specialise_inverse(class, signature, bound, id, annotation)? {
                Ok(inverse) => self.model.functions[id].inverses.push(inverse),
                Err(reason) => self.unusable("inverse", reason, annotation.span),
            }
        }
        Ok(())
    }

    /// The results are the same without the annotation: the function itself is differentiated or solved.
    fn unusable(&mut self, what: &str, reason: Option<String>, span: Span) {
        let Some(reason) = reason else { return };
        let message = format!("this `{what}` annotation cannot be used: {reason}");
        let known = self
            .diagnostics
            .iter()
            .any(|d| d.code == codes::W0202 && d.span() == Some(span));
        if !known {
            self.diagnostics.push(Diagnostic::warning(codes::W0202, span, message));
        }
    }

    fn annotated_function(&mut self, class: ClassId, name: &Expr) -> Fallible<Usable<(ClassId, Rc<Signature>)>> {
        let ExprKind::Reference(reference) = &name.kind else {
            return Ok(Err(Some("it does not name a function".into())));
        };
        let Some(name) = reference.to_qualified_name() else {
            return Ok(Err(Some("it does not name a function".into())));
        };
        let function = self.lookup_class(class, &name)?;
        let signature = self.signature(function)?;
        // Foreign code cannot be run: what it would yield is computed from the function itself.
        if signature.external.is_some() {
            return Ok(Err(None));
        }
        Ok(Ok((function, signature)))
    }

    fn specialise_derivative(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        id: FunctionId,
        annotation: &DerivativeAnnotation,
    ) -> Fallible<Usable<FlatDerivative>> {
        let (target, outer) = match self.annotated_function(class, &annotation.function)? {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        let places = scalar_places(bound);
        let groups = match differentiated_inputs(signature, &outer, bound, annotation) {
            Ok(groups) => groups,
            Err(reason) => return Ok(Err(Some(reason))),
        };
        let Some(highest) = groups.last() else {
            return Ok(Err(None));
        };
        let mut arguments = bound.to_vec();
        arguments.extend(highest.iter().map(|&k| bound[k].clone()));
        if let Some(reason) = self.misfit(&outer, &arguments)? {
            return Ok(Err(Some(reason)));
        }
        let function = self.specialised_function(target, &outer, &arguments, annotation.span)?;
        let total = places.last().map_or(0, |range| range.end);
        let seeds = highest.iter().flat_map(|&k| places[k].clone());
        let inputs = (0..total)
            .map(DerivativeInput::Value)
            .chain(seeds.map(DerivativeInput::Derivative))
            .collect();
        let Some(outputs) = self.derivative_outputs(id, function) else {
            let reason = "its outputs are not those of the function".to_owned();
            return Ok(Err(Some(reason)));
        };
        let position = |name: &Name| signature.inputs.iter().position(|formal| formal.name == *name);
        let scalars_of = |k: usize| places[k].clone();
        let linked = groups
            .windows(2)
            .flat_map(|pair| pair[0].iter().zip(&pair[1]))
            .flat_map(|(&a, &b)| scalars_of(a).zip(scalars_of(b)))
            .collect();
        Ok(Ok(FlatDerivative {
            function,
            inputs,
            outputs,
            constant: annotation
                .zero
                .iter()
                .filter_map(position)
                .flat_map(scalars_of)
                .collect(),
            linked,
        }))
    }

    /// For each scalar output of a function, the output of its derivative that belongs to it.
    fn derivative_outputs(&self, function: FunctionId, derivative: FunctionId) -> Option<Vec<Option<u32>>> {
        let derivative = &self.model.functions[derivative];
        let function = &self.model.functions[function];
        let mut of_derivative = derivative.outputs.iter().map(|&id| &derivative.locals[id]);
        let (mut outputs, mut next) = (Vec::new(), 0u32);
        for local in function.outputs.iter().map(|&id| &function.locals[id]) {
            if local.ty != ScalarType::Real {
                outputs.extend(std::iter::repeat_n(None, local.size()));
                continue;
            }
            let slope = of_derivative.next()?;
            if slope.ty != ScalarType::Real || slope.dims != local.dims {
                return None;
            }
            outputs.extend((next..).take(local.size()).map(Some));
            next += local.size() as u32;
        }
        of_derivative.next().is_none().then_some(outputs)
    }

    fn specialise_inverse(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        id: FunctionId,
        annotation: &InverseAnnotation,
    ) -> Fallible<Usable<FlatInverse>> {
        let name = Expr {
            kind: ExprKind::Reference(annotation.call.function.clone()),
            span: annotation.span,
        };
        let (target, inverse) = match self.annotated_function(class, &name)? {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        let [output] = signature.outputs.as_slice() else {
            return Ok(Err(Some("the function has more than one output".into())));
        };
        let places = scalar_places(bound);
        let position = |name: &Name| signature.inputs.iter().position(|formal| formal.name == *name);
        let Some(argument) = position(&annotation.argument) else {
            let reason = format!("the function has no input `{}`", annotation.argument);
            return Ok(Err(Some(reason)));
        };
        if self.model.functions[id].output_size() != 1 || places[argument].len() != 1 {
            return Ok(Err(None));
        }
        let (mut arguments, mut inputs) = (Vec::new(), Vec::new());
        for expr in annotation.call.positional() {
            let given = match &expr.kind {
                ExprKind::Reference(reference) => reference.as_simple_name(),
                _ => None,
            };
            match given.map(|name| (position(name), *name == output.name)) {
                Some((Some(k), _)) => {
                    arguments.push(bound[k].clone());
                    inputs.extend(places[k].clone().map(Some));
                }
                Some((None, true)) => {
                    arguments.push(Tensor::scalar(Ty::Real, FlatExpr::Real(0.0)));
                    inputs.push(None);
                }
                _ => {
                    let reason = "its arguments are not inputs and outputs of the function".to_owned();
                    return Ok(Err(Some(reason)));
                }
            }
        }
        if let Some(reason) = self.misfit(&inverse, &arguments)? {
            return Ok(Err(Some(reason)));
        }
        let function = self.specialised_function(target, &inverse, &arguments, annotation.span)?;
        if self.model.functions[function].output_size() != 1 {
            return Ok(Err(Some("it does not yield one number".into())));
        }
        Ok(Ok(FlatInverse {
            argument: places[argument].start,
            function,
            inputs,
        }))
    }

    /// Why arguments do not fit a function.
    fn misfit(&mut self, signature: &Signature, arguments: &[Tensor]) -> Fallible<Option<String>> {
        if signature.inputs.len() != arguments.len() {
            let (has, needs) = (signature.inputs.len(), arguments.len());
            return Ok(Some(format!("its function has {has} inputs and should have {needs}")));
        }
        for (formal, value) in signature.inputs.iter().zip(arguments) {
            if formal.rank != value.dims.len() || !self.class_type(formal.class)?.accepts(value.ty) {
                return Ok(Some(format!(
                    "the input `{}` of its function does not fit",
                    formal.name
                )));
            }
        }
        Ok(None)
    }

    fn specialised_function(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        arguments: &[Tensor],
        span: Span,
    ) -> Fallible<FunctionId> {
        let shapes: Vec<_> = arguments.iter().map(shape_of).collect();
        match self.known_specialisation(class, &shapes) {
            Some(id) => Ok(id),
            None => self.specialise(class, signature, arguments, shapes, span),
        }
    }
}

/// Where the scalars of each input are among the scalar arguments.
fn scalar_places(bound: &[Tensor]) -> Vec<Range<u32>> {
    let mut next = 0;
    bound
        .iter()
        .map(|value| {
            let mut scalars = Vec::new();
            open_scalars(value, &mut scalars);
            let start = next;
            next += scalars.len() as u32;
            start..next
        })
        .collect()
}

/// The inputs in groups, each the derivatives of the one before; the derivatives of the last are what the derivative
/// function asks for besides. With `order = 1` the only group is the inputs themselves. The function of a derivative
/// of order k has the inputs of the one of order k − 1, followed by the k-th derivatives.
fn differentiated_inputs(
    signature: &Signature,
    derivative: &Signature,
    bound: &[Tensor],
    annotation: &DerivativeAnnotation,
) -> Result<Vec<Vec<usize>>, String> {
    let total = signature.inputs.len();
    let varies = |k: &usize| {
        matches!(bound[*k].ty, Ty::Real | Ty::Record(_)) && !annotation.left_out.contains(&signature.inputs[*k].name)
    };
    let lower = annotation.order as usize - 1;
    if lower == 0 {
        return Ok(vec![(0..total).filter(varies).collect()]);
    }
    let new = derivative.inputs.len().saturating_sub(total);
    let first = total.saturating_sub(lower.saturating_mul(new));
    let mut groups: Vec<Vec<usize>> = vec![(0..first).filter(varies).collect()];
    groups.extend((0..lower).map(|k| (first + k * new..first + (k + 1) * new).collect()));
    if new == 0 || groups[0].len() != new {
        return Err(format!(
            "its function has not the inputs of a derivative of order {}",
            annotation.order
        ));
    }
    Ok(groups)
}

fn is_named(modification: &ElementModification, name: &str) -> bool {
    matches!(modification.name.parts.as_slice(), [part] if part.name == name)
}

pub(super) fn binding(modification: &ElementModification) -> Option<&Arc<Expr>> {
    match modification.modification.as_ref()?.binding.as_ref()? {
        Binding::Expr(expr) => Some(expr),
        Binding::Break(_) => None,
    }
}

fn inner(modification: &ElementModification) -> Option<&ClassModification> {
    modification.modification.as_ref()?.class_modification.as_deref()
}

fn derivative_annotation(modification: &ElementModification) -> Option<DerivativeAnnotation> {
    let function = Arc::clone(binding(modification)?);
    let (mut order, mut left_out, mut zero) = (1, Vec::new(), Vec::new());
    for argument in inner(modification).iter().flat_map(|m| &m.arguments) {
        let Argument::Modification(option) = argument else {
            continue;
        };
        let value = binding(option).map(|e| &e.kind);
        let name = match value {
            Some(ExprKind::Reference(reference)) => reference.as_simple_name().cloned(),
            _ => None,
        };
        if is_named(option, "order") {
            if let Some(&ExprKind::Integer(given)) = value {
                order = u32::try_from(given).unwrap_or(1).clamp(1, 8);
            }
        } else if is_named(option, "noDerivative") {
            left_out.extend(name);
        } else if is_named(option, "zeroDerivative") {
            zero.extend(name.clone());
            left_out.extend(name);
        }
    }
    Some(DerivativeAnnotation {
        function,
        order,
        left_out,
        zero,
        span: modification.span,
    })
}

fn inverse_annotations(modification: &ElementModification) -> Vec<InverseAnnotation> {
    let mut found = Vec::new();
    for argument in inner(modification).iter().flat_map(|m| &m.arguments) {
        if let Argument::Modification(one) = argument
            && let [part] = one.name.parts.as_slice()
            && let Some(ExprKind::Call(call)) = binding(one).map(|e| &e.kind)
        {
            found.push(InverseAnnotation {
                argument: part.name.clone(),
                call: Call::clone(call),
                span: one.span,
            });
        }
    }
    found
}
