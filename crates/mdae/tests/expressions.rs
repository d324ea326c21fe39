//! Expressions: simplification, differentiation against finite differences, functions against their symbolic twins.

use proptest::prelude::*;
use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::expr::VarTraits;
use saltus_mdae::function::{Body, Function, FunctionExpr, Functions, Local, LocalId, Place, Statement};
use saltus_mdae::{BinaryFunction, ConditionId, Derivative, ExprId, ExprPool, OriginId, Type, UnaryFunction, VarId};

/// Jets of two variables as polynomials in time: x(t) = a0 + a1 t + …, so that derivatives are known exactly.
struct Jets {
    time: f64,
    coefficients: [[f64; 4]; 2],
}

impl Environment for Jets {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        let c = &self.coefficients[var.0 as usize];
        (usize::from(order)..c.len())
            .map(|k| {
                let factor: usize = (k - usize::from(order) + 1..=k).product();
                c[k] * factor as f64 * self.time.powi(k as i32 - i32::from(order))
            })
            .sum()
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        self.variable(var, order)
    }
    fn time(&self) -> f64 {
        self.time
    }
    fn condition(&self, _: ConditionId) -> bool {
        true
    }
}

fn pool() -> ExprPool {
    let mut pool = ExprPool::new();
    for _ in 0..2 {
        pool.declare_variable(VarTraits {
            ty: Type::Real,
            continuous: true,
        });
    }
    pool
}

/// A recipe for a smooth expression; values stay moderate so that finite differences are meaningful.
#[derive(Clone, Debug)]
enum Recipe {
    X,
    Y,
    Time,
    Constant(f64),
    Unary(UnaryFunction, Box<Recipe>),
    Binary(BinaryFunction, Box<Recipe>, Box<Recipe>),
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let leaf = prop_oneof![
        Just(Recipe::X),
        Just(Recipe::Y),
        Just(Recipe::Time),
        (-2.0..2.0f64).prop_map(Recipe::Constant),
    ];
    let unary = prop::sample::select(vec![
        UnaryFunction::Neg,
        UnaryFunction::Sin,
        UnaryFunction::Cos,
        UnaryFunction::Tanh,
        UnaryFunction::Atan,
        UnaryFunction::Sinh,
    ]);
    let binary = prop::sample::select(vec![
        BinaryFunction::Add,
        BinaryFunction::Sub,
        BinaryFunction::Mul,
        BinaryFunction::Atan2,
    ]);
    leaf.prop_recursive(4, 24, 2, move |inner| {
        prop_oneof![
            (unary.clone(), inner.clone()).prop_map(|(op, a)| Recipe::Unary(op, Box::new(a))),
            (binary.clone(), inner.clone(), inner).prop_map(|(op, a, b)| Recipe::Binary(op, Box::new(a), Box::new(b))),
        ]
    })
}

fn build(pool: &mut ExprPool, recipe: &Recipe) -> ExprId {
    match recipe {
        Recipe::X => pool.var(VarId(0)),
        Recipe::Y => pool.var(VarId(1)),
        Recipe::Time => pool.time(),
        Recipe::Constant(value) => pool.real(*value),
        Recipe::Unary(op, a) => {
            let a = build(pool, a);
            pool.unary(*op, a)
        }
        Recipe::Binary(op, a, b) => {
            let (a, b) = (build(pool, a), build(pool, b));
            pool.binary(*op, a, b)
        }
    }
}

fn value(pool: &ExprPool, id: ExprId, env: &Jets) -> f64 {
    evaluate(pool, &Functions::new(), &[id], env).unwrap()[0]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn total_derivative_agrees_with_central_differences(recipe in recipe(), c in prop::array::uniform8(-0.8..0.8f64)) {
        let mut pool = pool();
        let f = build(&mut pool, &recipe);
        let df = pool.total_derivative(f);
        let at = |time: f64| Jets { time, coefficients: [[c[0], c[1], c[2], c[3]], [c[4], c[5], c[6], c[7]]] };
        let h = 1e-5;
        let (plus, minus) = (value(&pool, f, &at(0.4 + h)), value(&pool, f, &at(0.4 - h)));
        let exact = value(&pool, df, &at(0.4));
        // Skip the branch cut of atan2, where the function itself jumps.
        prop_assume!((plus - minus).abs() < 1.0 && exact.abs() < 1e3);
        prop_assert!(((plus - minus) / (2.0 * h) - exact).abs() <= 1e-4 * (1.0 + exact.abs()));
    }

    #[test]
    fn function_derivatives_agree_with_symbolic_ones(x in 0.2..1.5f64, y in 0.2..1.5f64) {
        // f(x, y) = Σ_{k=1..3} sin(x)^k · y, by a loop; its symbolic twin written out.
        let read = |local: u32| FunctionExpr::Read(Place { local: LocalId(local), indices: vec![] });
        let place = |local: u32| Place { local: LocalId(local), indices: vec![] };
        let scalar = |name: &str| Local::new(name, Type::Real, vec![]);
        let power = FunctionExpr::Binary(
            BinaryFunction::Pow,
            Box::new(FunctionExpr::Unary(UnaryFunction::Sin, Box::new(read(0)))),
            Box::new(read(3)),
        );
        let term = FunctionExpr::Binary(BinaryFunction::Mul, Box::new(power), Box::new(read(1)));
        let sum = FunctionExpr::Binary(BinaryFunction::Add, Box::new(read(2)), Box::new(term));
        let mut functions = Functions::new();
        let f = functions.push(Function {
            name: "f".into(),
            locals: vec![scalar("x"), scalar("y"), scalar("r"), scalar("k")],
            inputs: vec![LocalId(0), LocalId(1)],
            outputs: vec![LocalId(2)],
            body: Body::Algorithm(vec![Statement::For {
                counter: LocalId(3),
                from: FunctionExpr::Constant(1.0),
                step: FunctionExpr::Constant(1.0),
                to: FunctionExpr::Constant(3.0),
                body: vec![Statement::Assign(place(2), sum)],
            }]),
            derivatives: Vec::new(),
            inverses: Vec::new(),
            texts: std::sync::Arc::default(),
            origin: OriginId(0),
            compiled: Default::default(),
        });
        let mut pool = pool();
        let (vx, vy) = (pool.var(VarId(0)), pool.var(VarId(1)));
        let call = pool.call(f, 0, &[vx, vy]);
        let sine = pool.unary(UnaryFunction::Sin, vx);
        let (s2, s3) = (pool.mul(sine, sine), { let s2 = pool.mul(sine, sine); pool.mul(s2, sine) });
        let powers = { let a = pool.add(sine, s2); pool.add(a, s3) };
        let twin = pool.mul(powers, vy);
        let env = Jets { time: 0.0, coefficients: [[x, 0.3, 0.2, 0.0], [y, -0.4, 0.1, 0.0]] };
        for order in 0..=3 {
            let (a, b) = (pool.nth_total_derivative(call, order), pool.nth_total_derivative(twin, order));
            let got = evaluate(&pool, &functions, &[a, b], &env).unwrap();
            prop_assert!((got[0] - got[1]).abs() <= 1e-12 * (1.0 + got[1].abs()), "order {order}: {got:?}");
        }
    }
}

#[test]
fn equal_expressions_have_equal_ids_across_forks() {
    let mut base = pool();
    let (x, y) = (base.var(VarId(0)), base.var(VarId(1)));
    let sum = base.add(x, y);
    let base = std::sync::Arc::new(base);
    let mut fork = ExprPool::fork(&base);
    let again = fork.add(x, y);
    assert_eq!(sum, again);
    let product = fork.mul(sum, x);
    assert!(product.0 as usize >= base.len());
    let derivative = fork.total_derivative(product);
    assert_eq!(
        fork.occurrences(derivative),
        [0, 1]
            .map(VarId)
            .into_iter()
            .flat_map(|var| [0, 1].map(|order| Derivative { var, order }))
            .collect::<Vec<_>>()
    );
}

#[test]
fn sums_of_a_hundred_thousand_terms_need_no_stack() {
    let mut pool = pool();
    let x = pool.var(VarId(0));
    let mut sum = pool.real(0.0);
    for k in 0..100_000 {
        let factor = pool.real(f64::from(k) + 0.5);
        let term = pool.mul(factor, x);
        sum = pool.add(sum, term);
    }
    let derivative = pool.total_derivative(sum);
    let env = Jets {
        time: 0.0,
        coefficients: [[1.0, 2.0, 0.0, 0.0], [0.0; 4]],
    };
    assert_eq!(value(&pool, derivative, &env), 2.0 * value(&pool, sum, &env));
}

#[test]
fn an_endless_loop_in_a_function_is_an_error() {
    let mut functions = Functions::new();
    let f = functions.push(Function {
        name: "spin".into(),
        locals: vec![],
        inputs: vec![],
        outputs: vec![],
        body: Body::Algorithm(vec![Statement::If(
            vec![],
            vec![Statement::CallAssign {
                function: saltus_mdae::FunctionId(0),
                args: vec![],
                targets: vec![],
            }],
        )]),
        derivatives: Vec::new(),
        inverses: Vec::new(),
        texts: std::sync::Arc::default(),
        origin: OriginId(0),
        compiled: Default::default(),
    });
    assert!(functions.call_all(f, &[], &[]).is_err());
}
