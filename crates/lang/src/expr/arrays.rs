//! Functions that make and reshape arrays.

use saltus_source::Span;
use smallvec::{SmallVec, smallvec};

use super::{Context, Mode};
use crate::codes;
use crate::failure::{Fallible, fail};
use crate::flat::{BinaryOp, FlatExpr, UnaryOp};
use crate::flattener::Flattener;
use crate::tensor::{Dims, Elem, Tensor, Ty, binary, concatenate, stack, unary, volume};

impl Flattener<'_> {
    pub(super) fn array_function(
        &mut self,
        name: &str,
        values: Vec<Tensor>,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let arity = match name {
            "scalar" | "vector" | "matrix" | "transpose" | "symmetric" | "skew" | "identity" | "diagonal" => 1..=1,
            "outerProduct" | "cross" | "promote" => 2..=2,
            "linspace" => 3..=3,
            "zeros" | "ones" | "array" => 1..=usize::MAX,
            "fill" | "cat" => 2..=usize::MAX,
            _ => {
                return fail(codes::E0214, span, format!("`{name}` is not supported yet"));
            }
        };
        if !arity.contains(&values.len()) {
            return fail(
                codes::E0212,
                span,
                format!("`{name}` cannot take {} arguments", values.len()),
            );
        }
        match name {
            "scalar" => reshape(&values[0], smallvec![], name, span),
            "vector" => {
                let value = &values[0];
                if value.dims.iter().filter(|&&d| d != 1).count() > 1 {
                    return fail(codes::E0302, span, format!("{} is not a vector", value.shape()));
                }
                reshape(value, smallvec![value.elems.len() as u32], name, span)
            }
            "matrix" => {
                let value = &values[0];
                let mut dims: Dims = value.dims.iter().copied().take(2).collect();
                while dims.len() < 2 {
                    dims.push(1);
                }
                reshape(value, dims, name, span)
            }
            "transpose" => transpose(&values[0], span),
            "symmetric" => symmetric(&values[0], span),
            "outerProduct" => self.outer_product(&values[0], &values[1], span),
            "cross" => cross(&values[0], &values[1], span),
            "skew" => skew(&values[0], span),
            "identity" => {
                let n = self.size_argument(&values[0], span, ctx)?;
                self.identity(n, span)
            }
            "diagonal" => self.diagonal(&values[0], span),
            "zeros" => self.filled(&Tensor::integer(0), &values, span, ctx),
            "ones" => self.filled(&Tensor::integer(1), &values, span, ctx),
            "fill" => self.filled(&values[0], &values[1..], span, ctx),
            "linspace" => self.linspace(&values, span, ctx),
            "array" => stack(values, Ty::Real, span),
            "promote" => {
                let n = self.size_argument(&values[1], span, ctx)?;
                let mut value = values[0].clone();
                while value.dims.len() < n as usize && n < 32 {
                    value.dims.push(1);
                }
                Ok(value)
            }
            _ => {
                let k = self.size_argument(&values[0], span, ctx)?;
                let total: usize = values[1..].iter().map(|v| v.elems.len()).sum();
                self.check_size(&[u32::try_from(total).unwrap_or(u32::MAX)], span)?;
                self.spend(total as u64, span)?;
                concatenate(k as usize, &values[1..], span)
            }
        }
    }

    /// An argument that decides a size: its value counts.
    fn size_argument(&mut self, value: &Tensor, span: Span, ctx: &Context<'_>) -> Fallible<u32> {
        let known = self.known_value(value, span, ctx)?;
        match known.as_integer().filter(|_| known.ty == Ty::Integer) {
            Some(size) if (0..=i64::from(u32::MAX)).contains(&size) => Ok(size as u32),
            Some(size) => fail(codes::E0307, span, format!("a size of {size} is not possible")),
            None => fail(codes::E0304, span, "the size must be known before the simulation"),
        }
    }

    /// The value of a translated expression, if its parameters have values.
    pub(crate) fn known_value(&mut self, value: &Tensor, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        if value.is_known() || ctx.mode == Mode::Evaluate {
            return Ok(value.clone());
        }
        let mut elems = SmallVec::with_capacity(value.elems.len());
        for elem in &value.elems {
            elems.push(match elem {
                Elem::Expr(expr) => Elem::Expr(self.evaluate_flat(expr, span)?),
                other => other.clone(),
            });
        }
        Ok(Tensor {
            ty: value.ty,
            dims: value.dims.clone(),
            elems,
        })
    }

    pub(crate) fn identity(&mut self, n: u32, span: Span) -> Fallible<Tensor> {
        self.check_size(&[n, n], span)?;
        let n = n as usize;
        let elems = (0..n * n).map(|p| FlatExpr::Integer(i64::from(p / n == p % n)));
        Ok(Tensor::array(Ty::Integer, smallvec![n as u32, n as u32], elems))
    }

    fn diagonal(&mut self, value: &Tensor, span: Span) -> Fallible<Tensor> {
        let &[n] = &value.dims[..] else {
            return fail(
                codes::E0302,
                span,
                format!("`diagonal` needs a vector, not {}", value.shape()),
            );
        };
        self.check_size(&[n, n], span)?;
        let zero = if value.ty == Ty::Integer {
            FlatExpr::Integer(0)
        } else {
            FlatExpr::Real(0.0)
        };
        let size = n as usize;
        let elems = (0..size * size)
            .map(|p| {
                if p / size == p % size {
                    value.elems[p % size].clone()
                } else {
                    Elem::Expr(zero.clone())
                }
            })
            .collect();
        Ok(Tensor {
            ty: value.ty,
            dims: smallvec![n, n],
            elems,
        })
    }

    fn filled(&mut self, value: &Tensor, sizes: &[Tensor], span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let mut dims = Dims::new();
        for size in sizes {
            if !size.is_scalar() {
                return fail(codes::E0302, span, "sizes must be scalars");
            }
            dims.push(self.size_argument(size, span, ctx)?);
        }
        self.check_size(&dims, span)?;
        self.spend(volume(&dims).unwrap_or(0) as u64, span)?;
        Ok(value.repeat(&dims))
    }

    fn linspace(&mut self, values: &[Tensor], span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let n = self.size_argument(&values[2], span, ctx)?;
        self.check_size(&[n], span)?;
        let (Some(from), Some(to)) = (values[0].as_expr(), values[1].as_expr()) else {
            return fail(codes::E0302, span, "`linspace` needs scalars");
        };
        if n < 2 {
            return fail(codes::E0306, span, "`linspace` needs at least two points");
        }
        let difference = binary(BinaryOp::Subtract, to.clone(), from.clone(), span);
        let elems = (0..n).map(|k| {
            let fraction = FlatExpr::Real(f64::from(k) / f64::from(n - 1));
            let step = binary(BinaryOp::Multiply, difference.clone(), fraction, span);
            match binary(BinaryOp::Add, from.clone(), step, span) {
                FlatExpr::Integer(value) => FlatExpr::Real(value as f64),
                other => other,
            }
        });
        Ok(Tensor::array(Ty::Real, smallvec![n], elems))
    }

    fn outer_product(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Fallible<Tensor> {
        let (&[n], &[m]) = (&a.dims[..], &b.dims[..]) else {
            return fail(codes::E0302, span, "`outerProduct` needs two vectors");
        };
        self.check_size(&[n, m], span)?;
        let ty = a.ty.join(b.ty).unwrap_or(Ty::Real);
        let elems = a.exprs().flat_map(|x| {
            b.exprs()
                .map(move |y| binary(BinaryOp::Multiply, x.clone(), y.clone(), span))
        });
        Ok(Tensor::array(ty, smallvec![n, m], elems))
    }
}

fn reshape(value: &Tensor, dims: Dims, name: &str, span: Span) -> Fallible<Tensor> {
    if volume(&dims) != Some(value.elems.len()) {
        return fail(
            codes::E0302,
            span,
            format!("`{name}` cannot be applied to {}", value.shape()),
        );
    }
    Ok(Tensor {
        ty: value.ty,
        dims,
        elems: value.elems.clone(),
    })
}

fn transpose(value: &Tensor, span: Span) -> Fallible<Tensor> {
    let &[n, m] = &value.dims[..] else {
        return fail(
            codes::E0302,
            span,
            format!("`transpose` needs a matrix, not {}", value.shape()),
        );
    };
    let (rows, columns) = (n as usize, m as usize);
    let elems = (0..rows * columns)
        .map(|p| value.elems[(p % rows) * columns + p / rows].clone())
        .collect();
    Ok(Tensor {
        ty: value.ty,
        dims: smallvec![m, n],
        elems,
    })
}

fn symmetric(value: &Tensor, span: Span) -> Fallible<Tensor> {
    match value.dims[..] {
        [n, m] if n == m => {
            let n = n as usize;
            let elems = (0..n * n)
                .map(|p| {
                    let (i, j) = (p / n, p % n);
                    value.elems[i.min(j) * n + i.max(j)].clone()
                })
                .collect();
            Ok(Tensor {
                ty: value.ty,
                dims: value.dims.clone(),
                elems,
            })
        }
        _ => fail(codes::E0302, span, "`symmetric` needs a square matrix"),
    }
}

fn vector3<'t>(value: &'t Tensor, name: &str, span: Span) -> Fallible<Vec<&'t FlatExpr>> {
    if value.dims[..] != [3] || !value.ty.is_numeric() {
        return fail(
            codes::E0302,
            span,
            format!("`{name}` needs a vector of size 3, not {}", value.shape()),
        );
    }
    Ok(value.exprs().collect())
}

fn cross(a: &Tensor, b: &Tensor, span: Span) -> Fallible<Tensor> {
    let (x, y) = (vector3(a, "cross", span)?, vector3(b, "cross", span)?);
    let product = |i: usize, j: usize| binary(BinaryOp::Multiply, x[i].clone(), y[j].clone(), span);
    let elems = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| binary(BinaryOp::Subtract, product(i, j), product(j, i), span));
    Ok(Tensor::array(a.ty.join(b.ty).unwrap_or(Ty::Real), smallvec![3], elems))
}

fn skew(a: &Tensor, span: Span) -> Fallible<Tensor> {
    let x = vector3(a, "skew", span)?;
    let zero = || {
        if a.ty == Ty::Integer {
            FlatExpr::Integer(0)
        } else {
            FlatExpr::Real(0.0)
        }
    };
    let plus = |i: usize| x[i].clone();
    let minus = |i: usize| unary(UnaryOp::Negate, x[i].clone());
    let elems = [
        zero(),
        minus(2),
        plus(1),
        plus(2),
        zero(),
        minus(0),
        minus(1),
        plus(0),
        zero(),
    ];
    Ok(Tensor::array(a.ty, smallvec![3, 3], elems))
}
