//! Functions of units of other tools: `external "FMI"`, as the package `Saltus.Fmi` declares them.
//!
//! The unit is an external object; which variables are set and which is wanted is known when flattening, their values are
//! arguments.

use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;

use super::external::ExternalValue;
use crate::codes;
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::{
    FlatExpr, FlatFunction, ForeignCall, ForeignOperation, ForeignUnit, FunctionBody, FunctionCall, FunctionId,
    IndexVec, Local, ProvenanceKind, ScalarType,
};
use crate::flattener::Flattener;
use crate::tensor::{Elem, Tensor, Ty};

/// What the external clause calls the language.
pub(super) const LANGUAGE: &str = "FMI";

/// A call that is a function already.
pub(super) struct KnownCall {
    call: Arc<ForeignCall>,
    arguments: Vec<ScalarType>,
    result: ScalarType,
    function: FunctionId,
}

/// The arguments of a call, one after the other.
struct Given<'a> {
    arguments: std::slice::Iter<'a, Tensor>,
    span: Span,
}

impl<'a> Given<'a> {
    fn next(&mut self) -> Fallible<&'a Tensor> {
        let missing = || error(codes::E0212, self.span, "an argument for the unit is missing");
        self.arguments.next().ok_or_else(|| missing().into())
    }

    fn number(&mut self) -> Fallible<FlatExpr> {
        let span = self.span;
        let expr = self.next()?.as_expr().cloned();
        expr.ok_or_else(|| error(codes::E0203, span, "a unit needs a number here").into())
    }

    fn text(&mut self) -> Fallible<Arc<str>> {
        let span = self.span;
        let text = self.next()?.as_str().cloned();
        text.ok_or_else(|| error(codes::E0304, span, "the names of a unit's variables must be known").into())
    }

    fn list(&mut self) -> Fallible<Vec<FlatExpr>> {
        Ok(self.next()?.exprs().cloned().collect())
    }

    fn texts(&mut self) -> Fallible<Vec<Arc<str>>> {
        let span = self.span;
        let known = |expr: &FlatExpr| match expr {
            FlatExpr::String(text) => Ok(Arc::clone(text)),
            _ => Err(Failure::from(error(
                codes::E0304,
                span,
                "the names of a unit's variables must be known",
            ))),
        };
        self.next()?.exprs().map(known).collect()
    }
}

impl Flattener<'_> {
    /// A call of a function of a unit.
    pub(super) fn foreign_unit_function(
        &mut self,
        name: &str,
        arguments: &[Tensor],
        span: Span,
    ) -> Fallible<Vec<Tensor>> {
        let Some(Elem::External(object)) = arguments.first().and_then(|unit| unit.elems.first()) else {
            return fail(codes::E0304, span, "the unit must be known before the simulation");
        };
        let unit = self.foreign_unit(&Rc::clone(object), span)?;
        let mut given = Given {
            arguments: arguments[1..].iter(),
            span,
        };
        let (operation, mut leading) = match name {
            "start" => (ForeignOperation::Start, vec![given.number()?]),
            "event" => (ForeignOperation::Event, vec![given.number()?, given.number()?]),
            "step" => (
                ForeignOperation::Step,
                vec![given.number()?, given.number()?, given.number()?],
            ),
            "next" => (ForeignOperation::Next, vec![given.number()?]),
            "ended" => (ForeignOperation::Ended, vec![given.number()?]),
            "get" | "getInteger" | "getBoolean" => {
                let leading = vec![given.number()?, given.number()?];
                (ForeignOperation::Get(given.text()?), leading)
            }
            "indicator" => {
                let leading = vec![given.number()?, given.number()?];
                let number = given.next()?.as_integer().and_then(|number| u32::try_from(number).ok());
                let Some(number) = number.filter(|&number| number >= 1) else {
                    return fail(codes::E0304, span, "the number of an event indicator must be known");
                };
                (ForeignOperation::Indicator(number), leading)
            }
            _ => return fail(codes::E0309, span, format!("units have no function `{name}`")),
        };
        let (names, values) = match operation {
            ForeignOperation::Next | ForeignOperation::Ended => (Vec::new(), Vec::new()),
            _ => (given.texts()?, given.list()?),
        };
        if names.len() != values.len() {
            let (names, values) = (names.len(), values.len());
            let message = format!("{names} variables of a unit are named, and {values} values given");
            return fail(codes::E0306, span, message);
        }
        let signs = match operation {
            ForeignOperation::Event => given.list()?,
            _ => Vec::new(),
        };
        let types = std::iter::repeat_n(ScalarType::Real, leading.len() + values.len());
        let types: Vec<ScalarType> = types.chain(signs.iter().map(|_| ScalarType::Boolean)).collect();
        leading.extend(values);
        leading.extend(signs);
        let (ty, result) = match name {
            "getInteger" => (Ty::Integer, ScalarType::Integer),
            "getBoolean" | "ended" => (Ty::Boolean, ScalarType::Boolean),
            _ => (Ty::Real, ScalarType::Real),
        };
        let call = ForeignCall { unit, operation, names };
        let function = self.foreign_function(call, types, result, span);
        let value = FlatExpr::Call(Box::new(FunctionCall {
            function,
            output: 0,
            arguments: leading.into(),
            partials: Vec::new(),
            span,
        }));
        Ok(vec![Tensor::scalar(ty, value)])
    }

    fn foreign_unit(&self, object: &ExternalValue, span: Span) -> Fallible<ForeignUnit> {
        let get = |name: &str| object.arguments.iter().find(|(n, _)| n == name).map(|(_, value)| value);
        let Some(file) = get("file").and_then(Tensor::as_str).cloned() else {
            return fail(
                codes::E0304,
                span,
                "the file of a unit must be known before the simulation",
            );
        };
        let beside = self.library.sources().file(object.place.file);
        Ok(ForeignUnit {
            file,
            beside: beside.map_or("".into(), |file| file.name().into()),
            integrates: get("coSimulation").and_then(Tensor::as_boolean).unwrap_or(false),
        })
    }

    /// Equal calls are one function.
    fn foreign_function(
        &mut self,
        call: ForeignCall,
        arguments: Vec<ScalarType>,
        result: ScalarType,
        span: Span,
    ) -> FunctionId {
        let is_same =
            |known: &&KnownCall| *known.call == call && known.arguments == arguments && known.result == result;
        if let Some(known) = self.functions.units.iter().find(is_same) {
            return known.function;
        }
        let provenance = self.add_provenance(span, &"".into(), ProvenanceKind::Function);
        let mut locals = IndexVec::new();
        let inputs = (1..)
            .zip(&arguments)
            .map(|(at, &ty)| locals.push(Local::new(format!("u{at}"), ty, Vec::new())))
            .collect();
        let outputs = vec![locals.push(Local::new("y", result, Vec::new()))];
        let call = Arc::new(call);
        let function = self.model.functions.push(FlatFunction {
            name: format!("unit{}", self.functions.units.len() + 1).into(),
            locals,
            inputs,
            outputs,
            fields: Vec::new(),
            body: FunctionBody::Foreign(Arc::clone(&call)),
            smooth_order: None,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            provenance,
        });
        self.functions.units.push(KnownCall {
            call,
            arguments,
            result,
            function,
        });
        function
    }
}
