//! `String(…)` and `Integer(…)`.

use saltus_source::Span;
use saltus_source::number_text::{Conversion, TextFormat};
use saltus_syntax::ast::Call;

use super::Context;
use super::call::list;
use crate::codes;
use crate::failure::{Fallible, fail, tolerated};
use crate::flat::{BinaryOp, Builtin, EnumerationId, FlatExpr, ScalarType};
use crate::flattener::Flattener;
use crate::tensor::{Tensor, Ty};

impl Flattener<'_> {
    pub(super) fn conversion(&mut self, name: &str, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let (positional, named) = list(call);
        let Some(first) = positional.first() else {
            return fail(codes::E0212, span, format!("`{name}` needs an argument"));
        };
        let value = self.expr(first, ctx)?;
        if let Ty::Record(record) = value.ty
            && name == "String"
            && let Some(crate::class::Found::Class(operator)) =
                self.member(record, &saltus_syntax::ast::Name::new("'String'"))?
        {
            let arguments = super::Arguments {
                positional: vec![value],
                named: Vec::new(),
            };
            return Ok(self.call_operator(operator, arguments, span, ctx)?.swap_remove(0));
        }
        if name == "Integer" {
            return match value.ty {
                Ty::Enumeration(_) => Ok(value.map(Ty::Integer, |e| match e {
                    FlatExpr::Enumeration(_, ordinal) => FlatExpr::Integer(i64::from(ordinal)),
                    other => FlatExpr::Builtin(Builtin::Ordinal, Box::new([other]), span),
                })),
                Ty::Integer => Ok(value),
                _ => fail(
                    codes::E0301,
                    span,
                    format!("`Integer` cannot be applied to {}", value.shape()),
                ),
            };
        }
        let mut format = TextFormat::default();
        let names: &[&str] = match value.ty {
            Ty::Real => &["significantDigits", "minimumLength", "leftJustified"],
            _ => &["minimumLength", "leftJustified"],
        };
        for (position, argument) in positional[1..].iter().enumerate() {
            let option = self.evaluate(argument, ctx)?;
            let name = match (option.ty, names.get(position)) {
                (Ty::String, _) => "format",
                (_, Some(name)) => *name,
                _ => return fail(codes::E0212, argument.span, "`String` has too many arguments"),
            };
            set_option(&mut format, name, &option, argument.span)?;
            let message = "the options of `String` are given by name";
            let diagnostic = tolerated(codes::E0212, argument.span, message);
            self.diagnostics
                .push(diagnostic.with_help(format!("write `{name} = …`")));
        }
        if let (true, Some(other)) = (
            named.iter().any(|argument| argument.name.name == "format"),
            named.iter().find(|argument| argument.name.name != "format"),
        ) {
            let message = format!("`format` cannot be combined with `{}`", other.name);
            return fail(codes::E0212, other.name.span, message);
        }
        for argument in named {
            let name = argument.name.name.as_str();
            let formats = name == "format" && value.ty.is_numeric();
            if !names.contains(&name) && !formats {
                return fail(
                    codes::E0212,
                    argument.name.span,
                    format!("`String` of {} has no argument `{name}`", value.shape()),
                );
            }
            let option = self.evaluate(&argument.value, ctx)?;
            set_option(&mut format, name, &option, argument.value.span)?;
        }
        if value.ty == Ty::Real && format.conversion.as_ref().is_some_and(Conversion::is_integer) {
            return fail(
                codes::E0212,
                span,
                "a Real cannot be written by a conversion for Integers",
            );
        }
        if !value.is_scalar() || value.ty.scalar().is_none() {
            return fail(
                codes::E0301,
                span,
                format!("`String` cannot be applied to {}", value.shape()),
            );
        }
        Ok(value.map(Ty::String, |e| match self.text_of(&e, &format) {
            Some(text) => FlatExpr::String(text.into()),
            None => FlatExpr::Builtin(Builtin::String, string_arguments(e, &format), span),
        }))
    }

    fn text_of(&self, value: &FlatExpr, format: &TextFormat) -> Option<String> {
        Some(match value {
            FlatExpr::Real(value) => format.real(*value),
            FlatExpr::Integer(value) => format.integer(*value),
            FlatExpr::Boolean(value) => format.padded(value.to_string()),
            FlatExpr::String(value) => format.padded(value.to_string()),
            FlatExpr::Enumeration(id, ordinal) => {
                let literals = &self.model.enumerations[*id].literals;
                format.padded(literals.get((*ordinal as usize).wrapping_sub(1))?.to_string())
            }
            _ => return None,
        })
    }

    /// The enumeration value of an ordinal.
    pub(super) fn enumeration_from_ordinal(
        &mut self,
        id: EnumerationId,
        value: Tensor,
        span: Span,
    ) -> Fallible<Tensor> {
        let count = self.model.enumerations[id].literals.len() as i64;
        match value.as_expr() {
            Some(FlatExpr::Integer(ordinal)) if (1..=count).contains(ordinal) => Ok(Tensor::scalar(
                Ty::Enumeration(id),
                FlatExpr::Enumeration(id, *ordinal as u32),
            )),
            Some(FlatExpr::Integer(ordinal)) => fail(
                codes::E0306,
                span,
                format!("the enumeration has no literal number {ordinal}"),
            ),
            Some(other) => {
                let number = other.clone();
                let arguments = Box::new([number.clone(), FlatExpr::Enumeration(id, 1)]);
                let converted = FlatExpr::Builtin(Builtin::FromOrdinal, arguments, span);
                let name = &self.model.enumerations[id].name;
                let why = (
                    format!("`{name}` has no literal number "),
                    format!(", only 1 to {count}"),
                );
                let missing = self.missing(ScalarType::Enumeration(id), &number, &why, span);
                let bound =
                    |op, bound| FlatExpr::Binary(op, Box::new([number.clone(), FlatExpr::Integer(bound)]), span);
                let (above, below) = (bound(BinaryOp::GreaterEqual, 1), bound(BinaryOp::LessEqual, count));
                let inside = FlatExpr::Binary(BinaryOp::And, Box::new([above, below]), span);
                Ok(Tensor::scalar(
                    Ty::Enumeration(id),
                    FlatExpr::If(Box::new([inside, converted, missing]), span),
                ))
            }
            None => fail(codes::E0302, span, "a scalar is needed here"),
        }
    }

    /// Replaces parameters in a translated expression by their values.
    pub(crate) fn evaluate_flat(&mut self, expr: &FlatExpr, span: Span) -> Fallible<FlatExpr> {
        self.spend(1, span)?;
        let expr = match expr {
            FlatExpr::Variable(variable) => {
                let Some((component, offset)) = self.component_of(*variable) else {
                    return fail(codes::E0304, span, "this must be known before the simulation");
                };
                let value = self.component_value(component, span)?;
                match value.scalars().get(offset) {
                    Some(e) => e.clone(),
                    None => return fail(codes::E0304, span, "this must be known before the simulation"),
                }
            }
            FlatExpr::Unary(op, a) => crate::tensor::unary(*op, self.evaluate_flat(a, span)?),
            FlatExpr::Binary(op, operands, at) => {
                let a = self.evaluate_flat(&operands[0], span)?;
                let b = self.evaluate_flat(&operands[1], span)?;
                crate::tensor::binary(*op, a, b, *at)
            }
            FlatExpr::If(parts, _) => match self.evaluate_flat(&parts[0], span)? {
                FlatExpr::Boolean(true) => self.evaluate_flat(&parts[1], span)?,
                FlatExpr::Boolean(false) => self.evaluate_flat(&parts[2], span)?,
                other => other,
            },
            FlatExpr::Builtin(builtin, arguments, at) => {
                let arguments = arguments
                    .iter()
                    .map(|a| self.evaluate_flat(a, span))
                    .collect::<Fallible<Vec<_>>>()?;
                super::math::math_call(*builtin, arguments, *at)
            }
            other => other.clone(),
        };
        if expr.is_literal() {
            return Ok(expr);
        }
        fail(
            codes::E0304,
            span,
            "this must be known before the simulation, but it is not",
        )
    }

    /// The component a variable belongs to, and its position there.
    fn component_of(&self, variable: crate::flat::VariableId) -> Option<(crate::ids::ComponentId, usize)> {
        let id = *self.owners.get(variable.0 as usize)?;
        let crate::instance::ComponentKind::Primitive { first: Some(first), .. } = self.components[id].kind else {
            return None;
        };
        Some((id, (variable.0 - first.0) as usize))
    }
}

fn set_option(format: &mut TextFormat, name: &str, value: &Tensor, span: Span) -> Fallible<()> {
    let number = || match value.as_integer().and_then(|n| u32::try_from(n).ok()) {
        Some(number) if value.ty == Ty::Integer => Ok(number),
        _ => fail(
            codes::E0301,
            span,
            format!("`{name}` must be an Integer that is not negative"),
        ),
    };
    match name {
        "significantDigits" => format.significant = Some(number()?),
        "minimumLength" => format.minimum_length = number()?,
        "leftJustified" => match value.as_boolean() {
            Some(left) => format.right = !left,
            None => return fail(codes::E0301, span, "`leftJustified` must be a Boolean"),
        },
        _ => {
            let conversion = value.as_str().and_then(|text| Conversion::parse(text));
            if conversion.is_none() {
                return fail(
                    codes::E0301,
                    span,
                    "`format` must be a conversion of numbers such as \"8.3f\"",
                );
            }
            format.conversion = conversion;
        }
    }
    Ok(())
}

/// The value, with the options behind it if they are not the usual ones: significant digits (0: the usual ones),
/// minimum length, whether it stands to the right, conversion.
fn string_arguments(value: FlatExpr, format: &TextFormat) -> Box<[FlatExpr]> {
    if *format == TextFormat::default() {
        return Box::new([value]);
    }
    let conversion = format
        .conversion
        .as_ref()
        .map(Conversion::to_string)
        .unwrap_or_default();
    Box::new([
        value,
        FlatExpr::Integer(i64::from(format.significant.unwrap_or(0))),
        FlatExpr::Integer(i64::from(format.minimum_length)),
        FlatExpr::Boolean(format.right),
        FlatExpr::String(conversion.into()),
    ])
}
