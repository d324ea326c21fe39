//! Every built-in function at every special point: whoever differentiates it gets the same number.
//!
//! Who does: expressions (symbolically), plain numbers (reverse mode), duals of the reference evaluator, power series
//! and tangents in compiled kernels, duals of the function machine.

mod common;

use std::sync::Arc;

use common::{BINARY, Memory, UNARY, native_kernel, pool};
use saltus_codegen::{Kernel, KernelSpec, Leaf};
use saltus_mdae::eval::{apply_binary, apply_unary, evaluate};
use saltus_mdae::function::{Body, Function, FunctionExpr, Functions, Local, LocalId, Place, Statement};
use saltus_mdae::rules::{binary_slopes_at, unary_slope_at};
use saltus_mdae::{BinaryFunction, ExprId, ExprPool, FunctionId, OriginId, Type, UnaryFunction, VarId};

const POINTS: [f64; 15] = [
    0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 2.5, -2.5, 3.0, 1e-9, -1e-9, 20.0, -20.0, 1e5,
];

/// y := op(x₀, …) as a function that stays a call.
fn function(arguments: u32, value: FunctionExpr) -> Arc<Functions> {
    let local = |name: String| Local::new(name, Type::Real, Vec::new());
    let place = Place {
        local: LocalId(arguments),
        indices: Vec::new(),
    };
    let function = Function {
        name: "f".into(),
        locals: (0..=arguments).map(|k| local(format!("x{k}"))).collect(),
        inputs: (0..arguments).map(LocalId).collect(),
        outputs: vec![LocalId(arguments)],
        body: Body::Algorithm(vec![Statement::Assign(place, value)]),
        derivatives: Vec::new(),
        inverses: Vec::new(),
        texts: Default::default(),
        origin: OriginId(0),
        compiled: Default::default(),
    };
    Arc::new([function].into_iter().collect())
}

fn argument(local: u32) -> Box<FunctionExpr> {
    let indices = Vec::new();
    Box::new(FunctionExpr::Read(Place {
        local: LocalId(local),
        indices,
    }))
}

/// Numbers agree if they differ by rounding alone, or are not finite in the same way.
fn agree(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-13 * a.abs().max(b.abs())
}

/// Whether the function has a derivative there, or a value for it that all agree on.
fn is_regular(op: BinaryFunction, x: f64, y: f64, y_varies: bool) -> bool {
    match op {
        BinaryFunction::Atan2 => (x, y) != (0.0, 0.0),
        // The base is positive where the exponent varies.
        BinaryFunction::Pow if y_varies && x <= 0.0 => false,
        _ => apply_binary(op, x, y).is_finite(),
    }
}

/// An expression ready to be differentiated by everyone who differentiates expressions.
struct Differentiated {
    pool: ExprPool,
    functions: Arc<Functions>,
    symbolic: Vec<ExprId>,
    tangents: Kernel,
    total: Kernel,
}

impl Differentiated {
    fn new(mut pool: ExprPool, expr: ExprId, functions: &Arc<Functions>, variables: u32) -> Self {
        let symbolic = (0..variables).map(|k| pool.partial_derivative(expr, VarId(k), 0));
        let symbolic = symbolic.collect();
        let leaves: Vec<Leaf> = (0..variables).map(|k| Leaf::var(VarId(k), 0)).collect();
        let tangents = native_kernel(&pool, functions, &KernelSpec::matrix(&[expr], 0..=0, &leaves));
        let total = native_kernel(&pool, functions, &KernelSpec::matrix(&[expr], 1..=1, &[]));
        Differentiated {
            pool,
            functions: functions.clone(),
            symbolic,
            tangents,
            total,
        }
    }

    /// The derivatives by each variable, by each of them.
    fn slopes(&self, point: &[f64]) -> [(&'static str, Vec<f64>); 3] {
        let mut memory = Memory::new(point.len() as u32);
        for (k, &value) in point.iter().enumerate() {
            memory.set(Leaf::var(VarId(k as u32), 0), value);
        }
        let symbolic = evaluate(&self.pool, &self.functions, &self.symbolic, &memory).expect("no failing calls");
        let tangents = memory.evaluate(&self.tangents)[1..].to_vec();
        let mut along = |axis: usize| {
            for k in 0..point.len() {
                let velocity = if k == axis { 1.0 } else { 0.0 };
                memory.set(Leaf::var(VarId(k as u32), 1), velocity);
            }
            memory.evaluate(&self.total)[0]
        };
        let series = (0..point.len()).map(&mut along).collect();
        [("symbolic", symbolic), ("tangents", tangents), ("series", series)]
    }
}

fn check(what: &str, point: &[f64], expected: &[f64], found: [(&'static str, Vec<f64>); 3]) {
    for (who, slopes) in found {
        for (k, (&expected, &slope)) in expected.iter().zip(&slopes).enumerate() {
            // A series is of a point that moves along one axis; with the other one fixed the product with its zero
            // velocity may not be a number where the slope is infinite.
            let along_axis = who == "series" && !expected.is_finite();
            assert!(
                agree(expected, slope) || along_axis,
                "{what} at {point:?}: slope {k} is {expected:e} by numbers, {slope:e} by {who}"
            );
        }
    }
}

#[test]
fn one_argument() {
    for op in UNARY {
        let functions = function(1, FunctionExpr::Unary(op, argument(0)));
        let mut expressions = pool(1);
        let variable = expressions.var(VarId(0));
        let direct = expressions.unary(op, variable);
        let call = expressions.call(FunctionId(0), 0, &[variable]);
        let direct = Differentiated::new(expressions.clone(), direct, &functions, 1);
        let call = Differentiated::new(expressions, call, &functions, 1);
        for x in POINTS {
            let value = apply_unary(op, x);
            if value.is_nan() {
                continue;
            }
            let expected = [unary_slope_at(op, x, value)];
            check(&format!("{op:?}"), &[x], &expected, direct.slopes(&[x]));
            check(&format!("function with {op:?}"), &[x], &expected, call.slopes(&[x]));
        }
    }
}

#[test]
fn two_arguments() {
    for op in BINARY {
        let functions = function(2, FunctionExpr::Binary(op, argument(0), argument(1)));
        let mut expressions = pool(2);
        let (a, b) = (expressions.var(VarId(0)), expressions.var(VarId(1)));
        let direct = expressions.binary(op, a, b);
        let call = expressions.call(FunctionId(0), 0, &[a, b]);
        let direct = Differentiated::new(expressions.clone(), direct, &functions, 2);
        let call = Differentiated::new(expressions, call, &functions, 2);
        for (x, y) in POINTS.iter().flat_map(|&x| POINTS.map(|y| (x, y))) {
            if !is_regular(op, x, y, true) {
                continue;
            }
            let (by_x, by_y) = binary_slopes_at(op, x, y, apply_binary(op, x, y));
            let (point, expected) = ([x, y], [by_x, by_y]);
            check(&format!("{op:?}"), &point, &expected, direct.slopes(&point));
            check(&format!("function with {op:?}"), &point, &expected, call.slopes(&point));
        }
    }
}

/// The second operand is a number known when the model is compiled.
#[test]
fn an_operand_that_does_not_vary() {
    let functions = Arc::new(Functions::default());
    for (op, y) in BINARY.iter().flat_map(|&op| POINTS.map(|y| (op, y))) {
        let mut expressions = pool(1);
        let (a, b) = (expressions.var(VarId(0)), expressions.real(y));
        let direct = expressions.binary(op, a, b);
        let direct = Differentiated::new(expressions, direct, &functions, 1);
        for x in POINTS.into_iter().filter(|&x| is_regular(op, x, y, false)) {
            let expected = [binary_slopes_at(op, x, y, apply_binary(op, x, y)).0];
            check(
                &format!("{op:?} with a constant {y}"),
                &[x],
                &expected,
                direct.slopes(&[x]),
            );
        }
    }
}

#[test]
fn special_points_have_the_slopes_they_should() {
    let by_base = |x, y| binary_slopes_at(BinaryFunction::Pow, x, y, apply_binary(BinaryFunction::Pow, x, y)).0;
    assert_eq!(by_base(0.0, 0.0), 0.0);
    assert_eq!(by_base(0.0, 1.0), 1.0);
    assert_eq!(by_base(0.0, 2.0), 0.0);
    assert_eq!(binary_slopes_at(BinaryFunction::Pow, 0.0, 2.0, 0.0).1, 0.0);
    assert_eq!(unary_slope_at(UnaryFunction::Abs, 0.0, 0.0), 0.0);
    assert_eq!(binary_slopes_at(BinaryFunction::Min, 1.0, 1.0, 1.0), (1.0, 0.0));
    assert_eq!(binary_slopes_at(BinaryFunction::Max, 1.0, 1.0, 1.0), (1.0, 0.0));
    // 1 − tanh² has lost all its digits here.
    let slope = unary_slope_at(UnaryFunction::Tanh, 20.0, 20f64.tanh());
    assert!(agree(slope, 4.0 * (-40f64).exp() / (1.0 + (-40f64).exp()).powi(2)));
}
