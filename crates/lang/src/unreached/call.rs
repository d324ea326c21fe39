//! Calls in text that is not translated.

use saltus_source::Span;
use saltus_syntax::ast::{Call, CallArguments, ClassKind, Name};

use super::{Shape, Surroundings};
use crate::class::Found;
use crate::codes;
use crate::failure::{Fallible, error, fail};
use crate::flattener::Flattener;
use crate::function::is_function_kind;
use crate::ids::ClassId;
use crate::tensor::Ty;

/// What the arguments of a call are.
struct Given {
    positional: Vec<Shape>,
    named: Vec<(Name, Shape, Span)>,
}

impl Flattener<'_> {
    pub(super) fn shape_of_call(&mut self, call: &Call, span: Span, around: &Surroundings<'_>) -> Fallible<Shape> {
        let given = match call.function.as_simple_name() {
            Some(name) if name == "pure" => {
                let pure = self.functions.pure.take();
                let given = self.given(call, around);
                self.functions.pure = pure;
                given?
            }
            _ => self.given(call, around)?,
        };
        let [part] = call.function.parts.as_slice() else {
            return self.shape_of_user_call(call, &given, span, around);
        };
        let name = part.name.name.as_str();
        if crate::expr::is_operator(name) || name == "rooted" {
            return builtin(name, &given, span);
        }
        let found = if call.function.global {
            None
        } else {
            self.lookup(around.scope.class, &part.name.name)?
        };
        let is_user_class = matches!(found, Some(Found::Class(class)) if self.classes[class].predefined.is_none());
        if crate::expr::is_builtin(name) && !is_user_class {
            return builtin(name, &given, span);
        }
        if found.is_none() && !call.function.global {
            let message = format!("the function `{name}` is not known here");
            return Err(error(codes::E0201, part.name.span, message).into());
        }
        // A function that is an argument of the function around.
        if let Some(Found::Component(..)) = found {
            return Ok(Shape::default());
        }
        self.shape_of_user_call(call, &given, span, around)
    }

    fn given(&mut self, call: &Call, around: &Surroundings<'_>) -> Fallible<Given> {
        let mut given = Given {
            positional: Vec::new(),
            named: Vec::new(),
        };
        match &call.arguments {
            CallArguments::List { positional, named } => {
                for argument in positional {
                    given.positional.push(self.shape_of(argument, around)?);
                }
                for argument in named {
                    let shape = self.shape_of(&argument.value, around)?;
                    given
                        .named
                        .push((argument.name.name.clone(), shape, argument.name.span));
                }
            }
            CallArguments::Comprehension { element, indices } => {
                let mut shape = Ok(Shape::default());
                self.with_indices(indices, around, &mut |this, inner| {
                    shape = this.shape_of(element, inner);
                });
                given.positional.push(Shape::new(shape?.ty, None));
            }
        }
        Ok(given)
    }

    fn shape_of_user_call(
        &mut self,
        call: &Call,
        given: &Given,
        span: Span,
        around: &Surroundings<'_>,
    ) -> Fallible<Shape> {
        let Some(name) = call.function.to_qualified_name() else {
            return fail(codes::E0202, call.function.span, "a function has no subscripts");
        };
        let Some(first) = name.parts.first() else {
            return Ok(Shape::default());
        };
        if first.name == "Connections" {
            return Ok(Shape::default());
        }
        // Through a component its actual type counts, which may not be made yet.
        if let (Some(instance), false) = (around.scope.instance, name.global)
            && let Some((_, entry)) = self.instances[instance].table.find(&first.name)
            && entry.component().is_some()
        {
            return Ok(Shape::default());
        }
        let class = self.lookup_callee(around.scope.class, &name)?;
        if is_function_kind(self.kind(class)) {
            return self.shape_of_function(class, given, span);
        }
        if self.is_external_object(class)? {
            return Ok(Shape::scalar(Ty::External));
        }
        match self.kind(class) {
            ClassKind::Record | ClassKind::OperatorRecord => Ok(Shape::new(Ty::Record(class), None)),
            ClassKind::Type => Ok(Shape::new(self.class_type(class)?, None)),
            ClassKind::Operator => Ok(Shape::default()),
            kind => fail(
                codes::E0202,
                span,
                format!(
                    "`{}` is a {} and cannot be called",
                    self.classes[class].name,
                    kind.as_str()
                ),
            ),
        }
    }

    /// A pure function may not call an impure one.
    fn check_pure_caller(&mut self, class: ClassId, span: Span) -> Fallible<()> {
        let Some(caller) = self.functions.pure.clone() else {
            return Ok(());
        };
        // What has no result has an effect only: a message, for example.
        if !self.is_impure(class)? || self.signature(class)?.outputs.is_empty() {
            return Ok(());
        }
        let callee = &self.classes[class].name;
        let message = format!("`{caller}` is pure and cannot call `{callee}`, which is impure");
        Err(error(codes::E0311, span, message)
            .with_help(format!(
                "write `impure function` for `{caller}`, or `pure({callee}(…))` here"
            ))
            .into())
    }

    fn shape_of_function(&mut self, class: ClassId, given: &Given, span: Span) -> Fallible<Shape> {
        self.check_pure_caller(class, span)?;
        let signature = self.signature(class)?;
        let name = std::sync::Arc::clone(&self.classes[class].name);
        let mut values: Vec<Option<Shape>> = given.positional.iter().copied().map(Some).collect();
        if values.len() > signature.inputs.len() {
            let message = format!(
                "`{name}` has {} inputs, but is given {} arguments",
                signature.inputs.len(),
                values.len()
            );
            return fail(codes::E0212, span, message);
        }
        values.resize(signature.inputs.len(), None);
        for (argument, shape, at) in &given.named {
            match signature.inputs.iter().position(|f| f.name == *argument) {
                None => return fail(codes::E0212, *at, format!("`{name}` has no input `{argument}`")),
                Some(position) if values[position].is_some() => {
                    return fail(codes::E0212, *at, format!("input `{argument}` is given twice"));
                }
                Some(position) => values[position] = Some(*shape),
            }
        }
        let table = self.table(class)?;
        let mut vectorised = false;
        for (formal, value) in signature.inputs.iter().zip(values) {
            let Some(value) = value else {
                let entry = &table.entries[formal.entry as usize];
                if entry.declared.binding.is_none() && entry.mods.binding.is_none() {
                    return fail(
                        codes::E0212,
                        span,
                        format!("`{name}` needs the argument `{}`", formal.name),
                    );
                }
                continue;
            };
            let ty = self.class_type(formal.class)?;
            vectorised |= value.rank != Some(formal.rank);
            if ty != Ty::Function && value.ty.is_some_and(|given| !ty.accepts(given)) {
                let message = format!(
                    "input `{}` is {}, but is given {}",
                    formal.name,
                    ty.name(),
                    value.words()
                );
                return fail(codes::E0301, span, message);
            }
        }
        let Some(output) = signature.outputs.first() else {
            return Ok(Shape::default());
        };
        let rank = (!vectorised).then_some(output.rank);
        Ok(Shape::new(self.class_type(output.class)?, rank))
    }
}

/// What a built-in function or operator yields.
fn builtin(name: &str, given: &Given, span: Span) -> Fallible<Shape> {
    let first = given.positional.first().copied().unwrap_or_default();
    let last = given.positional.last().copied().unwrap_or_default();
    let number_of_arguments = given.positional.len();
    let numeric = |shapes: &[Shape]| -> Fallible<()> {
        match shapes.iter().find(|shape| shape.ty.is_some_and(|ty| !ty.is_numeric())) {
            // Records may have functions of their own for these names.
            Some(shape) if !matches!(shape.ty, Some(Ty::Record(_))) => fail(
                codes::E0301,
                span,
                format!("`{name}` cannot be applied to {}", shape.words()),
            ),
            _ => Ok(()),
        }
    };
    Ok(match name {
        "sqrt" | "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "atan2" | "sinh" | "cosh" | "tanh" | "exp"
        | "log" | "log10" | "ceil" | "floor" | "der" => {
            numeric(&given.positional)?;
            Shape::new(Ty::Real, first.rank.filter(|_| number_of_arguments == 1))
        }
        "sign" => {
            numeric(&given.positional)?;
            Shape::new(Ty::Integer, first.rank)
        }
        "integer" => {
            numeric(&given.positional)?;
            Shape::new(Ty::Integer, first.rank)
        }
        "abs" | "div" | "mod" | "rem" => {
            numeric(&given.positional)?;
            let join = |a: Shape, b: Shape| a.ty.zip(b.ty).and_then(|(x, y)| x.join(y));
            Shape::new(join(first, last), first.rank.filter(|_| number_of_arguments == 1))
        }
        "sum" | "product" => {
            numeric(&given.positional)?;
            Shape::new(first.ty, None)
        }
        "min" | "max" => Shape::default(),
        "size" if number_of_arguments == 1 => Shape::new(Ty::Integer, 1),
        "size" | "ndims" | "cardinality" => Shape::scalar(Ty::Integer),
        "zeros" | "ones" => Shape::new(Ty::Integer, number_of_arguments),
        "identity" => Shape::new(Ty::Integer, 2),
        "fill" => Shape::new(
            first.ty,
            first.rank.filter(|rank| *rank == 0).map(|_| number_of_arguments - 1),
        ),
        "linspace" => Shape::new(Ty::Real, 1),
        "scalar" => Shape::new(first.ty, 0),
        "vector" => Shape::new(first.ty, 1),
        "matrix" | "transpose" | "symmetric" | "diagonal" => Shape::new(first.ty, 2),
        "String" | "getInstanceName" => Shape::scalar(Ty::String),
        "Integer" => Shape::scalar(Ty::Integer),
        "edge" | "change" => Shape::new(Ty::Boolean, first.rank),
        "initial" | "terminal" | "rooted" | "isPresent" => Shape::scalar(Ty::Boolean),
        "sample" if number_of_arguments + given.named.len() == 2 => Shape::default(),
        "pre" | "noEvent" | "pure" | "inStream" | "actualStream" | "delay" => first,
        "smooth" => last,
        "homotopy" => first,
        _ => Shape::default(),
    })
}
