//! `String(…)` and `Integer(…)`.

use saltus_source::Span;
use saltus_syntax::ast::Call;

use super::Context;
use super::call::list;
use crate::codes;
use crate::failure::{Fallible, fail};
use crate::flat::{Builtin, EnumerationId, FlatExpr};
use crate::flattener::Flattener;
use crate::tensor::{Tensor, Ty};

/// The options of `String`.
#[derive(Debug, Default)]
struct Format {
    significant: Option<i64>,
    minimum_length: i64,
    right: bool,
    format: Option<String>,
}

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
        let mut format = Format::default();
        for (position, argument) in positional[1..].iter().enumerate() {
            let option = self.expr(argument, ctx)?;
            let names: &[&str] = match value.ty {
                Ty::Real => &["significantDigits", "minimumLength", "leftJustified"],
                _ => &["minimumLength", "leftJustified"],
            };
            if option.ty == Ty::String {
                set_option(&mut format, "format", &option);
            } else if let Some(name) = names.get(position) {
                set_option(&mut format, name, &option);
            }
        }
        for argument in named {
            let option = self.expr(&argument.value, ctx)?;
            let known = ["significantDigits", "minimumLength", "leftJustified", "format"];
            if !known.contains(&argument.name.name.as_str()) {
                return fail(
                    codes::E0212,
                    argument.name.span,
                    format!("`String` has no argument `{}`", argument.name),
                );
            }
            set_option(&mut format, &argument.name.name, &option);
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

    fn text_of(&self, value: &FlatExpr, format: &Format) -> Option<String> {
        let text = match value {
            FlatExpr::Real(value) => match &format.format {
                Some(text) => c_format(text, *value),
                None => real_text(*value, format.significant.unwrap_or(6).clamp(1, 17) as usize),
            },
            FlatExpr::Integer(value) => value.to_string(),
            FlatExpr::Boolean(value) => value.to_string(),
            FlatExpr::String(value) => value.to_string(),
            FlatExpr::Enumeration(id, ordinal) => {
                let literals = &self.model.enumerations[*id].literals;
                literals.get((*ordinal as usize).wrapping_sub(1))?.to_string()
            }
            _ => return None,
        };
        let width = format.minimum_length.clamp(0, 1000) as usize;
        Some(if format.right {
            format!("{text:>width$}")
        } else {
            format!("{text:<width$}")
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
                let arguments = Box::new([other.clone(), FlatExpr::Enumeration(id, 1)]);
                Ok(Tensor::scalar(
                    Ty::Enumeration(id),
                    FlatExpr::Builtin(Builtin::FromOrdinal, arguments, span),
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

fn set_option(format: &mut Format, name: &str, value: &Tensor) {
    match name {
        "significantDigits" => format.significant = value.as_integer(),
        "minimumLength" => format.minimum_length = value.as_integer().unwrap_or(0),
        "leftJustified" => format.right = value.as_boolean() == Some(false),
        _ => format.format = value.as_str().map(|s| s.to_string()),
    }
}

/// The value with the significant digits behind it, if they are not the usual ones.
fn string_arguments(value: FlatExpr, format: &Format) -> Box<[FlatExpr]> {
    match format.significant {
        Some(digits) => Box::new([value, FlatExpr::Integer(digits)]),
        None => Box::new([value]),
    }
}

/// As `%.<digits>g` of C.
pub(crate) fn real_text(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return format!("{value}");
    }
    let scientific = format!("{:.*e}", digits - 1, value);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| -> String {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.abs());
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}

/// A C format such as `.3f` or `8.2e` (without the percent sign).
fn c_format(format: &str, value: f64) -> String {
    let spec = format.trim_start_matches('%');
    let kind = spec.chars().last().unwrap_or('g');
    let body = &spec[..spec.len().saturating_sub(1)];
    let (width, precision) = body.split_once('.').unwrap_or((body, "6"));
    let precision: usize = precision.parse().unwrap_or(6).min(40);
    let width: usize = width.trim_start_matches(['-', '+', '0']).parse().unwrap_or(0).min(1000);
    let text = match kind {
        'f' => format!("{value:.precision$}"),
        'd' => format!("{value:.0}"),
        _ => real_text(value, precision.max(1)),
    };
    format!("{text:>width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_print_as_in_c() {
        assert_eq!(real_text(1.0, 6), "1");
        assert_eq!(real_text(0.1, 6), "0.1");
        assert_eq!(real_text(1234567.0, 6), "1.23457e+06");
        assert_eq!(real_text(0.00001, 6), "1e-05");
        assert_eq!(real_text(-123.456, 6), "-123.456");
    }
}
