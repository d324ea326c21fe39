//! Operators on arrays.

use std::convert::Infallible;

use saltus_source::Span;
use saltus_syntax::ast::{Expr, Operator, UnaryOp as AstUnary};
use smallvec::{SmallVec, smallvec};

use super::Context;
use crate::codes;
use crate::failure::{Fallible, error, fail};
use crate::flat::{BinaryOp, FlatExpr, UnaryOp, Variability};
use crate::flattener::Flattener;
use crate::tensor::{Elem, Tensor, Ty, binary, fold_in_groups, unary};

impl Flattener<'_> {
    pub(crate) fn unary_operator(&mut self, op: AstUnary, operand: Tensor, span: Span) -> Fallible<Tensor> {
        let ty = operand.ty;
        match op {
            AstUnary::Not if ty == Ty::Boolean => Ok(operand.map(ty, |e| unary(UnaryOp::Not, e))),
            AstUnary::Minus | AstUnary::ElementwiseMinus if ty.is_numeric() => {
                Ok(operand.map(ty, |e| unary(UnaryOp::Negate, e)))
            }
            AstUnary::Plus | AstUnary::ElementwisePlus if ty.is_numeric() => Ok(operand),
            AstUnary::Minus if matches!(ty, Ty::Record(_)) => self.overloaded_unary("'-'", operand, span),
            _ => fail(
                codes::E0301,
                span,
                format!("`{}` cannot be applied to {}", op.as_str(), operand.shape()),
            ),
        }
    }

    pub(super) fn binary_expr(
        &mut self,
        operator: Operator,
        left: &Expr,
        right: &Expr,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let a = self.expr(left, ctx)?;
        // Where the left side decides alone, the right side need not make sense.
        if matches!(
            (operator.op, a.as_boolean()),
            (BinaryOp::And, Some(false)) | (BinaryOp::Or, Some(true))
        ) {
            self.unreached_condition(right, ctx);
            return Ok(a);
        }
        let b = match operator.op {
            BinaryOp::And | BinaryOp::Or => self.without_emission(|this| this.expr(right, ctx))?,
            _ => self.expr(right, ctx)?,
        };
        if ctx.frame.is_none() {
            self.check_equality(operator.op, &a, &b, span)?;
        }
        self.binary_operator(operator, a, b, span)
    }

    /// Two Reals that vary are hardly ever equal, and no event can be placed where they are: outside of functions they
    /// cannot be asked.
    fn check_equality(&self, op: BinaryOp, a: &Tensor, b: &Tensor, span: Span) -> Fallible<()> {
        let of_reals = a.ty == Ty::Real && b.ty.is_numeric() || b.ty == Ty::Real && a.ty.is_numeric();
        let varies = |side: &Tensor| side.exprs().any(|e| self.expr_variability(e) > Variability::Parameter);
        if !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) || !of_reals || !(varies(a) || varies(b)) {
            return Ok(());
        }
        let message = format!("`{}` between Real values that vary", op.as_str());
        Err(error(codes::E0311, span, message)
            .with_note("for Reals `==` and `<>` are allowed in functions only: rounding decides, and there is no event")
            .with_help("compare with `<=` or `>=`, or say how near is near enough: `abs(a - b) < eps`")
            .into())
    }

    pub(crate) fn binary_operator(&mut self, operator: Operator, a: Tensor, b: Tensor, span: Span) -> Fallible<Tensor> {
        let op = operator.op;
        if matches!(a.ty, Ty::Record(_)) || matches!(b.ty, Ty::Record(_)) {
            return self.overloaded_binary(op, a, b, span);
        }
        self.spend(a.elems.len().max(b.elems.len()) as u64, span)?;
        if let (Some(x), Some(y)) = (a.as_str(), b.as_str())
            && x.len() + y.len() > self.limits.string_length
        {
            let limit = self.limits.string_length;
            return fail(codes::E0307, span, format!("a string of more than {limit} characters"));
        }
        let shapes = [(a.ty, a.dims.clone()), (b.ty, b.dims.clone())];
        let result = match op {
            BinaryOp::Or | BinaryOp::And => logical(op, a, b, span),
            _ if op.is_relation() => relation(op, a, b, span),
            BinaryOp::Divide | BinaryOp::Power if operator.elementwise => real_arithmetic(op, a, b, span),
            _ if operator.elementwise => arithmetic(op, a, b, span),
            BinaryOp::Add if a.ty == Ty::String && b.ty == Ty::String => elementwise(op, Ty::String, a, b, span),
            BinaryOp::Add | BinaryOp::Subtract => match (numeric(&a, &b), a.dims == b.dims) {
                (Some(ty), true) => elementwise(op, ty, a, b, span),
                _ => None,
            },
            BinaryOp::Multiply if a.is_scalar() || b.is_scalar() => arithmetic(op, a, b, span),
            BinaryOp::Multiply => self.multiply(&a, &b, span)?,
            BinaryOp::Divide if b.is_scalar() => real_arithmetic(op, a, b, span),
            BinaryOp::Power => self.power(&a, &b, span)?,
            _ => None,
        };
        match result {
            Some(value) => Ok(value),
            None => {
                let code = if shapes.iter().all(|(ty, _)| ty.is_numeric()) {
                    codes::E0302
                } else {
                    codes::E0301
                };
                let [a, b] = shapes.map(|(ty, dims)| crate::tensor::shape(ty, &dims));
                fail(
                    code,
                    span,
                    format!("`{}` cannot be applied to {a} and {b}", operator.as_str()),
                )
            }
        }
    }

    fn multiply(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Fallible<Option<Tensor>> {
        let Some(ty) = numeric(a, b) else {
            return Ok(None);
        };
        let (rows, inner, columns) = match (&a.dims[..], &b.dims[..]) {
            (&[n], &[m]) if n == m => (1, n, 1),
            (&[r, n], &[m]) if n == m => (r, n, 1),
            (&[n], &[m, c]) if n == m => (1, n, c),
            (&[r, n], &[m, c]) if n == m => (r, n, c),
            _ => return Ok(None),
        };
        self.spend(u64::from(rows) * u64::from(inner) * u64::from(columns), span)?;
        self.pay_for_products(a, b, (u64::from(rows), u64::from(columns)), span)?;
        self.check_size(&[rows, columns], span)?;
        let mut elems = SmallVec::new();
        let (inner, columns) = (inner as usize, columns as usize);
        for r in 0..rows as usize {
            for c in 0..columns {
                let terms = (0..inner).map(|k| (r * inner + k, k * columns + c));
                elems.push(Elem::Expr(sum_of_products(terms, a, b, ty, span)));
            }
        }
        let dims = match (a.dims.len(), b.dims.len()) {
            (1, 1) => smallvec![],
            (2, 1) => smallvec![rows],
            (1, 2) => smallvec![columns as u32],
            _ => smallvec![rows, columns as u32],
        };
        Ok(Some(Tensor { ty, dims, elems }))
    }

    fn power(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Fallible<Option<Tensor>> {
        if a.is_scalar() && b.is_scalar() {
            return Ok(real_arithmetic(BinaryOp::Power, a.clone(), b.clone(), span));
        }
        let (&[n, m], Some(exponent)) = (&a.dims[..], b.as_integer()) else {
            return Ok(None);
        };
        if n != m || exponent < 0 || b.ty != Ty::Integer {
            return Ok(None);
        }
        // By squaring, from the highest binary digit of the exponent: few products, however large it is.
        let mut result = self.identity(n, span)?;
        for digit in (0..i64::BITS - exponent.leading_zeros()).rev() {
            let Some(mut next) = self.multiply(&result, &result, span)? else {
                return Ok(None);
            };
            if exponent >> digit & 1 == 1 {
                let Some(product) = self.multiply(&next, a, span)? else {
                    return Ok(None);
                };
                next = product;
            }
            result = next;
            // Products of numbers that are not numbers any more are too large for an Integer.
            let finite = |elem: &Elem| matches!(elem, Elem::Expr(e) if e.as_number().is_some_and(f64::is_finite));
            if a.elems.iter().all(finite) && !result.elems.iter().all(finite) {
                return fail(
                    codes::E0307,
                    span,
                    format!("a power of {exponent} is too large for a number"),
                );
            }
        }
        Ok(Some(result))
    }

    /// Pays for the nodes that a product of matrices repeats.
    fn pay_for_products(&mut self, a: &Tensor, b: &Tensor, (rows, columns): (u64, u64), span: Span) -> Fallible<()> {
        let nodes = |tensor: &Tensor| tensor.elems.iter().map(nodes_of).fold(0, u64::saturating_add);
        let repeated = nodes(a)
            .saturating_mul(columns)
            .saturating_add(nodes(b).saturating_mul(rows));
        self.spend(repeated.saturating_mul(COST_OF_NODE), span)
    }
}

/// What a node of an expression that is repeated costs, in steps: memory rather than time.
const COST_OF_NODE: u64 = 10;

/// Nodes of an element beyond the first.
fn nodes_of(elem: &Elem) -> u64 {
    let Elem::Expr(expr) = elem else { return 0 };
    let mut nodes = 0_u64;
    expr.walk(&mut |_| nodes += 1);
    nodes.saturating_sub(1)
}

/// The sum of products of elements; products with a literal zero are left out.
fn sum_of_products(
    terms: impl Iterator<Item = (usize, usize)>,
    a: &Tensor,
    b: &Tensor,
    ty: Ty,
    span: Span,
) -> FlatExpr {
    let zero = |e: &FlatExpr| e.as_number() == Some(0.0);
    let one = |e: &FlatExpr| e.as_number() == Some(1.0);
    let mut products: Vec<FlatExpr> = Vec::new();
    for (i, j) in terms {
        let (Elem::Expr(x), Elem::Expr(y)) = (&a.elems[i], &b.elems[j]) else {
            continue;
        };
        if zero(x) || zero(y) {
            continue;
        }
        let term = if one(x) {
            y.clone()
        } else if one(y) {
            x.clone()
        } else {
            binary(BinaryOp::Multiply, x.clone(), y.clone(), span)
        };
        products.push(term);
    }
    let sum = fold_in_groups(products, &mut |a, b| {
        Ok::<_, Infallible>(binary(BinaryOp::Add, a, b, span))
    });
    sum.ok().flatten().unwrap_or(if ty == Ty::Integer {
        FlatExpr::Integer(0)
    } else {
        FlatExpr::Real(0.0)
    })
}

fn numeric(a: &Tensor, b: &Tensor) -> Option<Ty> {
    (a.ty.is_numeric() && b.ty.is_numeric())
        .then(|| a.ty.join(b.ty))
        .flatten()
}

fn arithmetic(op: BinaryOp, a: Tensor, b: Tensor, span: Span) -> Option<Tensor> {
    elementwise(op, numeric(&a, &b)?, a, b, span)
}

fn real_arithmetic(op: BinaryOp, a: Tensor, b: Tensor, span: Span) -> Option<Tensor> {
    numeric(&a, &b)?;
    elementwise(op, Ty::Real, a, b, span)
}

/// Element by element; a scalar goes with every element of the other. Operands become part of the result: they may be
/// long, and a sum takes its first terms along many times.
fn elementwise(op: BinaryOp, ty: Ty, a: Tensor, b: Tensor, span: Span) -> Option<Tensor> {
    let dims = match (a.is_scalar(), b.is_scalar()) {
        (_, true) => a.dims.clone(),
        (true, _) => b.dims.clone(),
        _ if a.dims == b.dims => a.dims.clone(),
        _ => return None,
    };
    let count = if a.elems.is_empty() || b.elems.is_empty() {
        0
    } else {
        a.elems.len().max(b.elems.len())
    };
    let join = |pair: (Elem, Elem)| match pair {
        (Elem::Expr(a), Elem::Expr(b)) => Some(Elem::Expr(binary(op, a, b, span))),
        _ => None,
    };
    if count == 1 {
        let pair = a.elems.into_iter().zip(b.elems);
        let elems = pair.map(join).collect::<Option<_>>()?;
        return Some(Tensor { ty, dims, elems });
    }
    let elems = repeated(a, count).zip(repeated(b, count)).map(join);
    let elems = elems.take(count).collect::<Option<_>>()?;
    Some(Tensor { ty, dims, elems })
}

/// The elements of a value, that of a scalar so often.
fn repeated(value: Tensor, count: usize) -> Box<dyn Iterator<Item = Elem>> {
    if value.is_scalar() && count > 1 {
        let elem = value.elems.into_iter().next();
        return Box::new(elem.into_iter().cycle());
    }
    Box::new(value.elems.into_iter())
}

fn logical(op: BinaryOp, a: Tensor, b: Tensor, span: Span) -> Option<Tensor> {
    if a.ty != Ty::Boolean || b.ty != Ty::Boolean || a.dims != b.dims {
        return None;
    }
    elementwise(op, Ty::Boolean, a, b, span)
}

fn relation(op: BinaryOp, a: Tensor, b: Tensor, span: Span) -> Option<Tensor> {
    a.ty.join(b.ty)?;
    if !a.is_scalar() || !b.is_scalar() {
        return None;
    }
    elementwise(op, Ty::Boolean, a, b, span)
}
