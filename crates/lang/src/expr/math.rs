//! Mathematical functions, element by element; literals are folded.

use crate::codes;
use crate::failure::{Fallible, fail};
use crate::flat::{Builtin, FlatExpr};
use crate::flattener::Flattener;
use crate::tensor::{Tensor, Ty};
use saltus_source::Span;

impl Flattener<'_> {
    /// Mathematical functions, element by element.
    pub(crate) fn math(&mut self, name: &str, values: &[Tensor], span: Span) -> Fallible<Option<Tensor>> {
        let Some(builtin) = Builtin::from_name(name) else {
            return Ok(None);
        };
        let arity = match builtin {
            Builtin::Abs
            | Builtin::Sign
            | Builtin::Sqrt
            | Builtin::Sin
            | Builtin::Cos
            | Builtin::Tan
            | Builtin::Asin
            | Builtin::Acos
            | Builtin::Atan
            | Builtin::Sinh
            | Builtin::Cosh
            | Builtin::Tanh
            | Builtin::Exp
            | Builtin::Log
            | Builtin::Log10
            | Builtin::Ceil
            | Builtin::Floor
            | Builtin::Integer => 1,
            Builtin::Atan2 | Builtin::Div | Builtin::Mod | Builtin::Rem => 2,
            Builtin::Min | Builtin::Max if values.len() == 2 => 2,
            _ => return Ok(None),
        };
        if values.len() != arity {
            return fail(
                codes::E0212,
                span,
                format!("`{name}` takes {arity} arguments, not {}", values.len()),
            );
        }
        let enumeration = matches!(builtin, Builtin::Min | Builtin::Max)
            && matches!(values[0].ty, Ty::Enumeration(_) | Ty::Boolean)
            && values[0].ty == values[1].ty;
        if !enumeration && let Some(wrong) = values.iter().find(|v| !v.ty.is_numeric()) {
            return fail(
                codes::E0301,
                span,
                format!("`{name}` cannot be applied to {}", wrong.shape()),
            );
        }
        let joined = values
            .iter()
            .map(|v| v.ty)
            .reduce(|a, b| a.join(b).unwrap_or(a))
            .unwrap_or(Ty::Real);
        let ty = match builtin {
            Builtin::Abs | Builtin::Div | Builtin::Mod | Builtin::Rem | Builtin::Min | Builtin::Max => joined,
            Builtin::Sign | Builtin::Integer => Ty::Integer,
            _ => Ty::Real,
        };
        if arity == 1 {
            let value = values[0].clone();
            return Ok(Some(value.map(ty, |e| math_call(builtin, vec![e], span))));
        }
        let (a, b) = (&values[0], &values[1]);
        if a.dims != b.dims && !a.is_scalar() && !b.is_scalar() {
            return fail(
                codes::E0302,
                span,
                format!("`{name}` cannot be applied to {} and {}", a.shape(), b.shape()),
            );
        }
        let dims = if a.is_scalar() { b.dims.clone() } else { a.dims.clone() };
        let count = crate::tensor::volume(&dims).unwrap_or(0);
        let (x, y): (Vec<_>, Vec<_>) = (a.exprs().collect(), b.exprs().collect());
        let elems = (0..count).map(|i| {
            let x = x[if a.is_scalar() { 0 } else { i }].clone();
            let y = y[if b.is_scalar() { 0 } else { i }].clone();
            math_call(builtin, vec![x, y], span)
        });
        Ok(Some(Tensor::array(ty, dims, elems)))
    }
}

/// `semiLinear` element by element.
pub(super) fn semi_linear(values: &[Tensor], span: Span) -> Fallible<Tensor> {
    let dims = values
        .iter()
        .find(|v| !v.is_scalar())
        .map(|v| v.dims.clone())
        .unwrap_or_default();
    let fits = values
        .iter()
        .all(|v| v.ty.is_numeric() && (v.is_scalar() || v.dims == dims));
    if !fits {
        return fail(codes::E0301, span, "`semiLinear` needs Reals of one size");
    }
    let count = crate::tensor::volume(&dims).unwrap_or(0);
    let lists: Vec<Vec<FlatExpr>> = values.iter().map(|v| v.exprs().cloned().collect()).collect();
    let elems = (0..count).map(|k| {
        let pick = |list: &Vec<FlatExpr>| list[if list.len() == 1 { 0 } else { k }].clone();
        let arguments: Vec<FlatExpr> = lists.iter().map(pick).collect();
        FlatExpr::Builtin(Builtin::SemiLinear, arguments.into(), span)
    });
    Ok(Tensor::array(Ty::Real, dims, elems))
}

/// A mathematical function of scalars; literals are folded.
pub(crate) fn math_call(builtin: Builtin, arguments: Vec<FlatExpr>, span: Span) -> FlatExpr {
    if let Some(folded) = fold(builtin, &arguments) {
        return folded;
    }
    FlatExpr::Builtin(builtin, arguments.into(), span)
}

pub(super) fn fold(builtin: Builtin, arguments: &[FlatExpr]) -> Option<FlatExpr> {
    if let [FlatExpr::Integer(x), FlatExpr::Integer(y)] = arguments {
        let (x, y) = (*x, *y);
        return Some(FlatExpr::Integer(match builtin {
            Builtin::Div if y != 0 => x.checked_div(y)?,
            Builtin::Mod if y != 0 => x.checked_sub((x as f64 / y as f64).floor() as i64 * y)?,
            Builtin::Rem if y != 0 => x.checked_rem(y)?,
            Builtin::Min => x.min(y),
            Builtin::Max => x.max(y),
            Builtin::Atan2 => return Some(FlatExpr::Real((x as f64).atan2(y as f64))),
            _ => return None,
        }));
    }
    if let [FlatExpr::Enumeration(id, x), FlatExpr::Enumeration(_, y)] = arguments {
        let pick = if builtin == Builtin::Min { x.min(y) } else { x.max(y) };
        return Some(FlatExpr::Enumeration(*id, *pick));
    }
    if let ([FlatExpr::Integer(x)], Builtin::Abs) = (arguments, builtin) {
        return x.checked_abs().map(FlatExpr::Integer);
    }
    let x = arguments.first()?.as_number()?;
    let real = |value: f64| value.is_finite().then_some(FlatExpr::Real(value));
    if let Some(second) = arguments.get(1) {
        let y = second.as_number()?;
        return real(match builtin {
            Builtin::Atan2 => x.atan2(y),
            Builtin::Div => (x / y).trunc(),
            Builtin::Mod => x - (x / y).floor() * y,
            Builtin::Rem => x - (x / y).trunc() * y,
            Builtin::Min => x.min(y),
            Builtin::Max => x.max(y),
            _ => return None,
        });
    }
    real(match builtin {
        Builtin::Abs => x.abs(),
        Builtin::Sign => {
            return Some(FlatExpr::Integer(if x > 0.0 { 1 } else { -i64::from(x < 0.0) }));
        }
        Builtin::Sqrt => x.sqrt(),
        Builtin::Sin => x.sin(),
        Builtin::Cos => x.cos(),
        Builtin::Tan => x.tan(),
        Builtin::Asin => x.asin(),
        Builtin::Acos => x.acos(),
        Builtin::Atan => x.atan(),
        Builtin::Sinh => x.sinh(),
        Builtin::Cosh => x.cosh(),
        Builtin::Tanh => x.tanh(),
        Builtin::Exp => x.exp(),
        Builtin::Log => x.ln(),
        Builtin::Log10 => x.log10(),
        Builtin::Ceil => x.ceil(),
        Builtin::Floor => x.floor(),
        Builtin::Integer => return Some(FlatExpr::Integer(x.floor() as i64)),
        _ => return None,
    })
}
