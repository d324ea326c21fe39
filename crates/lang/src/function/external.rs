//! External functions and objects. What is known is done natively; the code of all else runs if the user allows it, or is
//! refused.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_source::{Diagnostic, Span};
use saltus_syntax::ast::{ClassKind, ExprKind, Name};
use smallvec::smallvec;

use super::frame::{Frame, FrameVar};
use super::routine::Callee;
use super::{Effect, Signature};
use crate::class::{Found, SimpleType};
use crate::codes;
use crate::expr::{Arguments, Context, Mode};
use crate::failure::{Fallible, error, fail};
use crate::flat::{BinaryOp, Builtin, FlatExpr};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::Scope;
use crate::tensor::{Dims, Elem, Tensor, Ty};

/// An external object: the arguments of its constructor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExternalValue {
    /// Its class.
    pub class: ClassId,
    /// The foreign function that makes it.
    pub constructor: String,
    /// The component it is declared in.
    pub owner: Arc<str>,
    /// Where it is made.
    pub place: Span,
    pub arguments: Vec<(Name, Tensor)>,
}

impl Flattener<'_> {
    pub(crate) fn is_external_object(&mut self, class: ClassId) -> Fallible<bool> {
        if !matches!(self.kind(class), ClassKind::Class | ClassKind::Type | ClassKind::Model) {
            return Ok(false);
        }
        Ok(self.table(class)?.simple == Some(SimpleType::ExternalObject))
    }

    pub(crate) fn construct_external(
        &mut self,
        class: ClassId,
        arguments: Arguments,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let Some(Found::Class(constructor)) = self.member(class, &Name::new("constructor"))? else {
            return fail(
                codes::E0309,
                span,
                format!("`{}` has no constructor", self.classes[class].name),
            );
        };
        let signature = self.signature(constructor)?;
        let values = self.bind_arguments(constructor, &signature, arguments, span, ctx)?;
        let name = signature
            .external_clause()
            .and_then(|clause| clause.call.as_ref())
            .map_or_else(|| "constructor".to_owned(), |call| call.function.name.to_string());
        let arguments = signature
            .inputs
            .iter()
            .map(|formal| formal.name.clone())
            .zip(values)
            .collect();
        let value = ExternalValue {
            class,
            constructor: name,
            owner: match ctx.scope.instance {
                Some(instance) => Arc::clone(&self.instances[instance].path),
                None => "".into(),
            },
            place: span,
            arguments,
        };
        Ok(Tensor {
            ty: Ty::External,
            dims: Dims::new(),
            elems: smallvec![Elem::External(Rc::new(value))],
        })
    }

    /// A call of a function with an `external` clause.
    pub(super) fn call_external(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: Vec<Tensor>,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Vec<Tensor>> {
        let Some(clause) = signature.external_clause().cloned() else {
            return Err(crate::failure::Failure::Reported);
        };
        let own_name = self.def(class).name.name.to_string();
        let language = clause.language.as_ref().map_or("C", |l| l.value.as_str()).to_owned();
        let name = clause
            .call
            .as_ref()
            .map_or(own_name, |call| call.function.name.to_string());
        let arguments = match &clause.call {
            None => bound.clone(),
            // Arguments that only foreign code could make sense of are no reason to complain.
            Some(call) => self
                .external_arguments(class, signature, &bound, &call.arguments, ctx)
                .unwrap_or_default(),
        };
        if language == "builtin"
            && let Some(value) = self.math(&name, &arguments, span)?
        {
            return Ok(vec![value]);
        }
        if matches!(language.as_str(), "C" | "FORTRAN 77")
            && signature.outputs.len() == 1
            && let Some(value) = self.c_math(&name, &arguments, span)?
        {
            return self.external_results(signature, vec![value]);
        }
        if language == super::foreign::LANGUAGE {
            return self.foreign_unit_function(&name, &arguments, span);
        }
        if let Some(value) = self.table_function(&name, &arguments, span)? {
            return Ok(vec![value]);
        }
        if let Some(results) = native(&name, &arguments).or_else(|| text_function(&name, &arguments, span)) {
            return self.external_results(signature, results);
        }
        if name == "ModelicaIO_writeRealMatrix" {
            self.tell_not_executed(&name, span);
            return Ok(vec![Tensor::boolean(false)]);
        }
        if let Some(callee) = Callee::from_name(&name) {
            return self.call_routine(class, signature, (callee, &clause), &bound, (span, ctx));
        }
        if !signature.outputs.is_empty()
            && let Some(host) = self.external.clone()
        {
            return self.call_code(class, signature, &bound, (&*host, span), ctx);
        }
        if signature.outputs.is_empty() {
            return self.foreign_effect(&name, &arguments, span, ctx).map(|()| Vec::new());
        }
        Err(error(
            codes::E0309,
            span,
            format!("the external function `{name}` ({language}) is not available"),
        )
        .with_secondary(clause.span, format!("`{}` is defined by it", self.classes[class].name))
        .with_note("external code is not executed; what the standard libraries of C and Modelica do is known")
        .with_help(
            "write the function in Modelica, with an `algorithm` section; if you trust its code: --allow-external",
        )
        .into())
    }

    /// The functions of `math.h`.
    fn c_math(&mut self, name: &str, arguments: &[Tensor], span: Span) -> Fallible<Option<Tensor>> {
        let scalars: Vec<FlatExpr> = arguments.iter().filter_map(|a| a.as_expr().cloned()).collect();
        if scalars.len() != arguments.len() || !arguments.iter().all(|a| a.ty.is_numeric()) {
            return Ok(None);
        }
        let real = |value: FlatExpr| Tensor::scalar(Ty::Real, value);
        let call = |builtin, list: &[&FlatExpr]| {
            crate::expr::math_call(builtin, list.iter().map(|&e| e.clone()).collect(), span)
        };
        let join = |op, a: FlatExpr, b: FlatExpr| crate::tensor::binary(op, a, b, span);
        let number = FlatExpr::Real;
        let value = match (name, &scalars[..]) {
            ("pow", [x, y]) => join(BinaryOp::Power, x.clone(), y.clone()),
            ("fabs" | "abs" | "labs", [x]) => call(Builtin::Abs, &[x]),
            ("fmod", [x, y]) => call(Builtin::Rem, &[x, y]),
            ("fmin", [x, y]) => call(Builtin::Min, &[x, y]),
            ("fmax", [x, y]) => call(Builtin::Max, &[x, y]),
            ("fdim", [x, y]) => {
                let difference = join(BinaryOp::Subtract, x.clone(), y.clone());
                call(Builtin::Max, &[&difference, &number(0.0)])
            }
            ("hypot", [x, y]) => {
                let (x, y) = (
                    join(BinaryOp::Multiply, x.clone(), x.clone()),
                    join(BinaryOp::Multiply, y.clone(), y.clone()),
                );
                call(Builtin::Sqrt, &[&join(BinaryOp::Add, x, y)])
            }
            ("exp2", [x]) => join(BinaryOp::Power, number(2.0), x.clone()),
            ("log2", [x]) => join(
                BinaryOp::Divide,
                call(Builtin::Log, &[x]),
                number(std::f64::consts::LN_2),
            ),
            ("fma", [x, y, z]) => join(BinaryOp::Add, join(BinaryOp::Multiply, x.clone(), y.clone()), z.clone()),
            (
                "sqrt" | "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "atan2" | "sinh" | "cosh" | "tanh" | "exp"
                | "log" | "log10" | "ceil" | "floor",
                _,
            ) => return self.math(name, arguments, span),
            _ => return Ok(None),
        };
        Ok(Some(real(value)))
    }

    /// Messages that end the run are assertions. Other messages and files change nothing in the model: they are left
    /// out, and said to be.
    fn foreign_effect(&mut self, name: &str, arguments: &[Tensor], span: Span, ctx: &Context<'_>) -> Fallible<()> {
        if name == "ModelicaError" {
            let message = arguments.first().and_then(Tensor::as_expr).cloned();
            let message = message.unwrap_or_else(|| FlatExpr::String("".into()));
            if ctx.mode == Mode::Evaluate {
                return fail(codes::E0308, span, super::statements::message_text(&message));
            }
            self.functions.effects.push(Effect::Error(message));
            return Ok(());
        }
        // The state of a generator with a memory, which is not there.
        if name != "ModelicaRandom_setInternalState_xorshift1024star" {
            self.tell_not_executed(name, span);
        }
        Ok(())
    }

    /// Says once that a message or a file is missing.
    fn tell_not_executed(&mut self, name: &str, span: Span) {
        let message = format!("`{name}` is external code and is not executed");
        let known = self
            .diagnostics
            .iter()
            .any(|d| d.code == codes::W0203 && d.message == message);
        if !known {
            self.diagnostics.push(
                Diagnostic::warning(codes::W0203, span, message)
                    .with_note("the model does not depend on it: the message or file it would write is missing"),
            );
        }
    }

    /// Foreign functions yield ordinals where enumerations are declared.
    fn external_results(&mut self, signature: &Rc<Signature>, results: Vec<Tensor>) -> Fallible<Vec<Tensor>> {
        let mut converted = Vec::with_capacity(results.len());
        for (output, result) in signature.outputs.iter().zip(results) {
            let ty = self.class_type(output.class)?;
            converted.push(match (ty, result.as_expr()) {
                (Ty::Enumeration(_), Some(expr @ FlatExpr::Builtin(..))) => Tensor::scalar(ty, expr.clone()),
                (Ty::Enumeration(id), Some(FlatExpr::Integer(k))) => {
                    Tensor::scalar(ty, FlatExpr::Enumeration(id, u32::try_from(*k).unwrap_or(1)))
                }
                _ => result,
            });
        }
        Ok(converted)
    }

    fn external_arguments(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        arguments: &[saltus_syntax::ast::Expr],
        ctx: &Context<'_>,
    ) -> Fallible<Vec<Tensor>> {
        let mut frame = Frame::default();
        for (formal, value) in signature.inputs.iter().zip(bound) {
            frame.set(formal.name.clone(), FrameVar::Value(value.clone()));
        }
        let frame = RefCell::new(frame);
        let scope = Scope { class, instance: None };
        let mode = if bound.iter().all(Tensor::is_known) {
            Mode::Evaluate
        } else {
            ctx.mode
        };
        let inner = Context {
            frame: Some(&frame),
            ..Context::new(scope, mode)
        };
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            // Outputs that are passed to be written are left out.
            if let ExprKind::Reference(reference) = &argument.kind
                && reference
                    .as_simple_name()
                    .is_some_and(|n| signature.outputs.iter().any(|o| o.name == *n))
            {
                continue;
            }
            values.push(self.expr(argument, &inner)?);
        }
        Ok(values)
    }
}

/// The same of texts that are not known before the run.
fn text_function(name: &str, arguments: &[Tensor], span: Span) -> Option<Vec<Tensor>> {
    let (builtin, ty, count) = match name {
        "ModelicaStrings_length" => (Builtin::TextLength, Ty::Integer, 1),
        "ModelicaStrings_substring" => (Builtin::TextPart, Ty::String, 3),
        "ModelicaStrings_compare" => (Builtin::TextCompare, Ty::Integer, 3),
        "ModelicaStrings_skipWhiteSpace" => (Builtin::TextSkip, Ty::Integer, 2),
        "ModelicaStrings_hashString" => (Builtin::TextHash, Ty::Integer, 1),
        _ => return None,
    };
    let scalars: Vec<FlatExpr> = arguments.iter().map_while(|a| a.as_expr().cloned()).collect();
    let known = arguments.iter().all(Tensor::is_known);
    (scalars.len() == count && !known).then(|| {
        let value = FlatExpr::Builtin(builtin, scalars.into(), span);
        vec![Tensor::scalar(ty, value)]
    })
}

/// Helpers on strings that libraries take from C.
fn native(name: &str, arguments: &[Tensor]) -> Option<Vec<Tensor>> {
    let text = |position: usize| -> Option<Arc<str>> { arguments.get(position)?.as_str().cloned() };
    let number = |position: usize| arguments.get(position)?.as_integer();
    let one = |value: Tensor| Some(vec![value]);
    match name {
        "ModelicaStrings_length" => one(Tensor::integer(text(0)?.len() as i64)),
        "ModelicaStrings_substring" => {
            let (string, from, to) = (text(0)?, number(1)?, number(2)?);
            let from = usize::try_from(from).ok()?.checked_sub(1)?;
            let to = usize::try_from(to).ok()?.min(string.len());
            one(Tensor::string(string.get(from..to.max(from))?))
        }
        "ModelicaStrings_compare" => {
            let (a, b) = (text(0)?, text(1)?);
            let sensitive = arguments.get(2).and_then(Tensor::as_boolean).unwrap_or(true);
            let order = if sensitive {
                a.cmp(&b)
            } else {
                a.to_lowercase().cmp(&b.to_lowercase())
            };
            let ordinal = order as i64 + 2;
            Some(vec![Tensor::integer(ordinal)])
        }
        "ModelicaStrings_skipWhiteSpace" => {
            let (string, from) = (text(0)?, usize::try_from(number(1)?).ok()?.checked_sub(1)?);
            let rest = string.get(from..)?;
            let skipped = rest.len() - rest.trim_start().len();
            one(Tensor::integer((from + skipped) as i64 + 1))
        }
        "ModelicaStrings_hashString" => {
            let hash = text(0)?
                .bytes()
                .fold(5381i32, |h, b| h.wrapping_mul(33).wrapping_add(i32::from(b)));
            one(Tensor::integer(i64::from(hash)))
        }
        "ModelicaInternal_getTime" | "ModelicaInternal_getpid" => None,
        _ => None,
    }
}

/// A number of a known scalar.
pub(super) fn known_number(value: &Tensor) -> Option<f64> {
    value.as_expr().and_then(FlatExpr::as_number)
}
