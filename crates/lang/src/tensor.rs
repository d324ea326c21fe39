//! Values while flattening: arrays of scalar expressions, records, and what else names can mean.
//!
//! A value that is known is an array of literals, so that translating an expression and evaluating
//! it are the same thing.

use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::Name;
use smallvec::{SmallVec, smallvec};

use crate::codes;
use crate::failure::{Fallible, fail};
use crate::flat::{BinaryOp, Builtin, EnumerationId, FlatExpr, ScalarType, UnaryOp};
use crate::function::FunctionValue;
use crate::function::external::ExternalValue;
use crate::ids::ClassId;

/// Array dimensions; empty for a scalar.
pub(crate) type Dims = SmallVec<[u32; 2]>;

/// The type of the elements of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Real,
    Integer,
    Boolean,
    String,
    Enumeration(EnumerationId),
    Clock,
    Record(ClassId),
    Function,
    External,
}

impl Ty {
    pub(crate) fn scalar(self) -> Option<ScalarType> {
        Some(match self {
            Ty::Real => ScalarType::Real,
            Ty::Integer => ScalarType::Integer,
            Ty::Boolean => ScalarType::Boolean,
            Ty::String => ScalarType::String,
            Ty::Enumeration(id) => ScalarType::Enumeration(id),
            Ty::Clock => ScalarType::Clock,
            _ => return None,
        })
    }

    pub(crate) fn of(ty: ScalarType) -> Ty {
        match ty {
            ScalarType::Real => Ty::Real,
            ScalarType::Integer => Ty::Integer,
            ScalarType::Boolean => Ty::Boolean,
            ScalarType::String => Ty::String,
            ScalarType::Enumeration(id) => Ty::Enumeration(id),
            ScalarType::Clock => Ty::Clock,
        }
    }

    pub(crate) fn is_numeric(self) -> bool {
        matches!(self, Ty::Real | Ty::Integer)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Ty::Real => "Real",
            Ty::Integer => "Integer",
            Ty::Boolean => "Boolean",
            Ty::String => "String",
            Ty::Enumeration(_) => "an enumeration",
            Ty::Clock => "Clock",
            Ty::Record(_) => "a record",
            Ty::Function => "a function",
            Ty::External => "an external object",
        }
    }

    /// The common type of the elements of an array or the branches of an if.
    pub(crate) fn join(self, other: Ty) -> Option<Ty> {
        match (self, other) {
            (Ty::Record(a), Ty::Record(_)) => Some(Ty::Record(a)),
            (a, b) if a == b => Some(a),
            (Ty::Real, Ty::Integer) | (Ty::Integer, Ty::Real) => Some(Ty::Real),
            _ => None,
        }
    }

    /// Whether a value of type `other` can stand where this type is wanted.
    pub(crate) fn accepts(self, other: Ty) -> bool {
        self.join(other) == Some(self)
    }
}

/// The fields of a record value in the order of their declaration.
pub(crate) type Fields = Rc<Vec<(Name, Tensor)>>;

/// One element of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Elem {
    Expr(FlatExpr),
    Record(Fields),
    Function(Rc<FunctionValue>),
    External(Rc<ExternalValue>),
}

/// A value: an array of elements in row-major order, one element for a scalar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    pub ty: Ty,
    pub dims: Dims,
    pub elems: SmallVec<[Elem; 1]>,
}

/// The number of elements, if it is a number of any practical use.
pub(crate) fn volume(dims: &[u32]) -> Option<usize> {
    dims.iter()
        .try_fold(1usize, |product, &d| product.checked_mul(d as usize))
}

impl Tensor {
    pub(crate) fn scalar(ty: Ty, expr: FlatExpr) -> Tensor {
        Tensor {
            ty,
            dims: SmallVec::new(),
            elems: smallvec![Elem::Expr(expr)],
        }
    }

    pub(crate) fn real(value: f64) -> Tensor {
        Tensor::scalar(Ty::Real, FlatExpr::Real(value))
    }

    pub(crate) fn integer(value: i64) -> Tensor {
        Tensor::scalar(Ty::Integer, FlatExpr::Integer(value))
    }

    pub(crate) fn boolean(value: bool) -> Tensor {
        Tensor::scalar(Ty::Boolean, FlatExpr::Boolean(value))
    }

    pub(crate) fn string(value: &str) -> Tensor {
        Tensor::scalar(Ty::String, FlatExpr::String(value.into()))
    }

    pub(crate) fn record(class: ClassId, fields: Fields) -> Tensor {
        Tensor {
            ty: Ty::Record(class),
            dims: SmallVec::new(),
            elems: smallvec![Elem::Record(fields)],
        }
    }

    pub(crate) fn array(ty: Ty, dims: Dims, elems: impl IntoIterator<Item = FlatExpr>) -> Tensor {
        Tensor {
            ty,
            dims,
            elems: elems.into_iter().map(Elem::Expr).collect(),
        }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.dims.is_empty()
    }

    pub(crate) fn as_expr(&self) -> Option<&FlatExpr> {
        match (self.dims.is_empty(), self.elems.first()) {
            (true, Some(Elem::Expr(expr))) => Some(expr),
            _ => None,
        }
    }

    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self.as_expr()? {
            FlatExpr::Integer(value) => Some(*value),
            FlatExpr::Enumeration(_, ordinal) => Some(i64::from(*ordinal)),
            FlatExpr::Boolean(value) => Some(i64::from(*value) + 1),
            _ => None,
        }
    }

    pub(crate) fn as_boolean(&self) -> Option<bool> {
        match self.as_expr()? {
            FlatExpr::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&Arc<str>> {
        match self.as_expr()? {
            FlatExpr::String(value) => Some(value),
            _ => None,
        }
    }

    /// Whether all scalars are literals.
    pub(crate) fn is_known(&self) -> bool {
        self.elems.iter().all(|elem| match elem {
            Elem::Expr(expr) => expr.is_literal(),
            Elem::Record(fields) => fields.iter().all(|(_, field)| field.is_known()),
            Elem::Function(function) => function.bound.iter().all(|(_, value)| value.is_known()),
            Elem::External(_) => true,
        })
    }

    /// Whether a variable of a function has no value yet, or an element of it has none.
    pub(crate) fn is_unset(&self) -> bool {
        self.elems.iter().any(|elem| match elem {
            Elem::Expr(expr) => is_unset(expr),
            Elem::Record(fields) => fields.iter().any(|(_, field)| field.is_unset()),
            _ => false,
        })
    }

    /// Whether it is a record of which some fields have been assigned.
    pub(crate) fn is_partial_record(&self) -> bool {
        matches!(self.ty, Ty::Record(_)) && !self.scalars().iter().all(is_unset)
    }

    /// Whether it is such a record, and the assigned fields are known.
    pub(crate) fn is_known_in_part(&self) -> bool {
        let known = |e: &FlatExpr| e.is_literal() || is_unset(e);
        self.is_partial_record() && self.scalars().iter().all(known)
    }

    /// The scalar expressions; fields of records in order.
    pub(crate) fn scalars(&self) -> Vec<FlatExpr> {
        let mut out = Vec::with_capacity(self.elems.len());
        self.collect_scalars(&mut out);
        out
    }

    fn collect_scalars(&self, out: &mut Vec<FlatExpr>) {
        for elem in &self.elems {
            match elem {
                Elem::Expr(expr) => out.push(expr.clone()),
                Elem::Record(fields) => fields.iter().for_each(|(_, f)| f.collect_scalars(out)),
                Elem::Function(_) | Elem::External(_) => {}
            }
        }
    }

    pub(crate) fn exprs(&self) -> impl Iterator<Item = &FlatExpr> {
        self.elems.iter().filter_map(|elem| match elem {
            Elem::Expr(expr) => Some(expr),
            _ => None,
        })
    }

    /// Applies to every scalar.
    pub(crate) fn map(self, ty: Ty, mut f: impl FnMut(FlatExpr) -> FlatExpr) -> Tensor {
        let elems = self
            .elems
            .into_iter()
            .map(|elem| match elem {
                Elem::Expr(expr) => Elem::Expr(f(expr)),
                other => other,
            })
            .collect();
        Tensor {
            ty,
            dims: self.dims,
            elems,
        }
    }

    /// The element or subarray with the given first index (from 1).
    pub(crate) fn at(&self, index: u32) -> Option<Tensor> {
        let (&first, rest) = self.dims.split_first()?;
        if index == 0 || index > first {
            return None;
        }
        let size = volume(rest)?;
        let start = (index as usize - 1) * size;
        let elems = self.elems[start..start + size].iter().cloned().collect();
        Some(Tensor {
            ty: self.ty,
            dims: rest.into(),
            elems,
        })
    }

    /// The field of each record element; dimensions of the field come behind.
    pub(crate) fn field(&self, name: &str) -> Option<Tensor> {
        let mut result: Option<Tensor> = None;
        for elem in &self.elems {
            let Elem::Record(fields) = elem else {
                return None;
            };
            let (_, field) = fields.iter().find(|(n, _)| n == name)?;
            match &mut result {
                None => {
                    let mut dims = self.dims.clone();
                    dims.extend_from_slice(&field.dims);
                    result = Some(Tensor {
                        ty: field.ty,
                        dims,
                        elems: field.elems.clone(),
                    });
                }
                Some(result) => result.elems.extend(field.elems.iter().cloned()),
            }
        }
        result
    }

    /// The same value for each element of an array.
    pub(crate) fn repeat(&self, dims: &[u32]) -> Tensor {
        let count = volume(dims).unwrap_or(0);
        let mut all: Dims = dims.into();
        all.extend_from_slice(&self.dims);
        let mut elems = SmallVec::with_capacity(count * self.elems.len());
        for _ in 0..count {
            elems.extend(self.elems.iter().cloned());
        }
        Tensor {
            ty: self.ty,
            dims: all,
            elems,
        }
    }

    /// `Real[3]` and the like, for messages.
    pub(crate) fn shape(&self) -> String {
        shape(self.ty, &self.dims)
    }

    /// Integer literals become Real ones where Real is wanted.
    pub(crate) fn coerce(self, ty: Ty) -> Tensor {
        if ty != Ty::Real || self.ty != Ty::Integer {
            return self;
        }
        self.map(Ty::Real, |expr| match expr {
            FlatExpr::Integer(value) => FlatExpr::Real(value as f64),
            other => other,
        })
    }
}

pub(crate) fn is_unset(expr: &FlatExpr) -> bool {
    matches!(expr, FlatExpr::Builtin(Builtin::Unset, ..))
}

/// What variables of functions hold before they are assigned.
pub(crate) fn unset(span: Span) -> FlatExpr {
    FlatExpr::Builtin(Builtin::Unset, Box::default(), span)
}

pub(crate) fn shape(ty: Ty, dims: &[u32]) -> String {
    if dims.is_empty() {
        return ty.name().to_owned();
    }
    let dims: Vec<String> = dims.iter().map(u32::to_string).collect();
    format!("{}[{}]", ty.name(), dims.join(", "))
}

/// Stacks values along a new first dimension.
pub(crate) fn stack(parts: Vec<Tensor>, empty: Ty, span: Span) -> Fallible<Tensor> {
    let Some(first) = parts.first() else {
        return Ok(Tensor {
            ty: empty,
            dims: smallvec![0],
            elems: SmallVec::new(),
        });
    };
    let mut dims: Dims = smallvec![parts.len() as u32];
    dims.extend_from_slice(&first.dims);
    let mut ty = first.ty;
    for part in &parts {
        if part.dims != first.dims {
            return fail(
                codes::E0302,
                span,
                format!("elements of an array differ: {} and {}", first.shape(), part.shape()),
            );
        }
        ty = match ty.join(part.ty) {
            Some(ty) => ty,
            None => {
                return fail(
                    codes::E0301,
                    span,
                    format!("elements of an array differ: {} and {}", first.shape(), part.shape()),
                );
            }
        };
    }
    let mut elems = SmallVec::with_capacity(parts.len() * first.elems.len());
    for part in parts {
        elems.extend(part.coerce(ty).elems);
    }
    Ok(Tensor { ty, dims, elems })
}

/// `cat(k, a, b, …)` with k from 1.
pub(crate) fn concatenate(k: usize, parts: &[Tensor], span: Span) -> Fallible<Tensor> {
    let Some(first) = parts.first() else {
        return fail(codes::E0212, span, "`cat` needs at least one array");
    };
    if k == 0 || k > first.dims.len() {
        return fail(
            codes::E0302,
            span,
            format!("arrays of {} dimensions have no dimension {k}", first.dims.len()),
        );
    }
    let mut ty = first.ty;
    let mut total = 0u32;
    for part in parts {
        let fits = part.dims.len() == first.dims.len()
            && part
                .dims
                .iter()
                .zip(&first.dims)
                .enumerate()
                .all(|(i, (a, b))| i + 1 == k || a == b);
        let joined = ty.join(part.ty);
        let (true, Some(joined)) = (fits, joined) else {
            return fail(
                codes::E0302,
                span,
                format!(
                    "{} and {} cannot be put together along dimension {k}",
                    first.shape(),
                    part.shape()
                ),
            );
        };
        ty = joined;
        total = total.saturating_add(part.dims[k - 1]);
    }
    let mut dims = first.dims.clone();
    dims[k - 1] = total;
    let outer = volume(&first.dims[..k - 1]).unwrap_or(0);
    let mut elems = SmallVec::new();
    for o in 0..outer {
        for part in parts {
            let inner = volume(&part.dims[k - 1..]).unwrap_or(0);
            let part = &part.elems[o * inner..(o + 1) * inner];
            elems.extend(part.iter().cloned());
        }
    }
    Ok(Tensor { ty, dims, elems }.coerce_literals(ty))
}

impl Tensor {
    fn coerce_literals(mut self, ty: Ty) -> Tensor {
        if ty == Ty::Real {
            for elem in &mut self.elems {
                if let Elem::Expr(FlatExpr::Integer(value)) = elem {
                    *elem = Elem::Expr(FlatExpr::Real(*value as f64));
                }
            }
        }
        self
    }
}

/// So many operands are joined one after the other; more are joined in groups of this size, so that
/// expressions stay shallow however long the sum is.
const FOLD_GROUP: usize = 64;

/// Joins values from the left, in groups where there are many.
pub(crate) fn fold_in_groups<T, E>(
    mut items: Vec<T>,
    combine: &mut dyn FnMut(T, T) -> Result<T, E>,
) -> Result<Option<T>, E> {
    while items.len() > 1 {
        let mut groups = Vec::with_capacity(items.len() / FOLD_GROUP + 1);
        let mut rest = items.into_iter();
        while let Some(mut group) = rest.next() {
            for _ in 1..FOLD_GROUP {
                match rest.next() {
                    Some(item) => group = combine(group, item)?,
                    None => break,
                }
            }
            groups.push(group);
        }
        items = groups;
    }
    Ok(items.pop())
}

/// An operator applied to scalars; literals are folded.
pub(crate) fn binary(op: BinaryOp, a: FlatExpr, b: FlatExpr, span: Span) -> FlatExpr {
    if let Some(folded) = fold(op, &a, &b) {
        return folded;
    }
    FlatExpr::Binary(op, Box::new([a, b]), span)
}

/// An operator applied to a scalar; literals are folded.
pub(crate) fn unary(op: UnaryOp, a: FlatExpr) -> FlatExpr {
    match (op, a) {
        (UnaryOp::Negate, FlatExpr::Real(value)) => FlatExpr::Real(-value),
        (UnaryOp::Negate, FlatExpr::Integer(value)) => match value.checked_neg() {
            Some(value) => FlatExpr::Integer(value),
            None => FlatExpr::Real(-(value as f64)),
        },
        (UnaryOp::Not, FlatExpr::Boolean(value)) => FlatExpr::Boolean(!value),
        (UnaryOp::Negate, FlatExpr::Unary(UnaryOp::Negate, inner)) => *inner,
        (UnaryOp::Not, FlatExpr::Unary(UnaryOp::Not, inner)) => *inner,
        (op, a) => FlatExpr::Unary(op, Box::new(a)),
    }
}

fn fold(op: BinaryOp, a: &FlatExpr, b: &FlatExpr) -> Option<FlatExpr> {
    use BinaryOp as B;
    match (a, b) {
        (FlatExpr::Integer(x), FlatExpr::Integer(y)) => {
            let (x, y) = (*x, *y);
            match op {
                B::Add => return x.checked_add(y).map(FlatExpr::Integer),
                B::Subtract => return x.checked_sub(y).map(FlatExpr::Integer),
                B::Multiply => return x.checked_mul(y).map(FlatExpr::Integer),
                _ => {}
            }
            if op.is_relation() {
                return Some(FlatExpr::Boolean(compare(op, x.cmp(&y))));
            }
        }
        (FlatExpr::String(x), FlatExpr::String(y)) => {
            if op == B::Add {
                return Some(FlatExpr::String(format!("{x}{y}").into()));
            }
            return op.is_relation().then(|| FlatExpr::Boolean(compare(op, x.cmp(y))));
        }
        (FlatExpr::Boolean(x), FlatExpr::Boolean(y)) => {
            return Some(FlatExpr::Boolean(match op {
                B::And => *x && *y,
                B::Or => *x || *y,
                _ if op.is_relation() => compare(op, x.cmp(y)),
                _ => return None,
            }));
        }
        (FlatExpr::Enumeration(s, x), FlatExpr::Enumeration(t, y)) if s == t => {
            return op.is_relation().then(|| FlatExpr::Boolean(compare(op, x.cmp(y))));
        }
        (FlatExpr::Boolean(known), other) | (other, FlatExpr::Boolean(known)) => {
            return match (op, known) {
                (B::And, false) | (B::Or, true) => Some(FlatExpr::Boolean(*known)),
                (B::And, true) | (B::Or, false) => Some(other.clone()),
                _ => None,
            };
        }
        _ => {}
    }
    if matches!(a, FlatExpr::Enumeration(..)) || matches!(b, FlatExpr::Enumeration(..)) {
        return None;
    }
    let (x, y) = (a.as_number()?, b.as_number()?);
    Some(match op {
        B::Add => FlatExpr::Real(x + y),
        B::Subtract => FlatExpr::Real(x - y),
        B::Multiply => FlatExpr::Real(x * y),
        // Left to whoever evaluates it: the error is located there.
        B::Divide if y == 0.0 => return None,
        B::Divide => FlatExpr::Real(x / y),
        B::Power => FlatExpr::Real(power(x, y)),
        _ if op.is_relation() => FlatExpr::Boolean(compare(op, x.partial_cmp(&y)?)),
        _ => return None,
    })
}

/// `x^y`; whole exponents by repeated multiplication semantics of `powi`.
fn power(x: f64, y: f64) -> f64 {
    if y == y.trunc() && y.abs() <= 64.0 {
        x.powi(y as i32)
    } else {
        x.powf(y)
    }
}

fn compare(op: BinaryOp, ordering: std::cmp::Ordering) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match op {
        BinaryOp::Less => ordering == Less,
        BinaryOp::LessEqual => ordering != Greater,
        BinaryOp::Greater => ordering == Greater,
        BinaryOp::GreaterEqual => ordering != Less,
        BinaryOp::Equal => ordering == Equal,
        _ => ordering != Equal,
    }
}
