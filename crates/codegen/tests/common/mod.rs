//! A value memory for tests, seen both by kernels (slots) and by the reference evaluator.
#![allow(dead_code)]

use std::sync::Arc;

use saltus_codegen::{Kernel, KernelCache, KernelSpec, Leaf};
use saltus_mdae::eval::Environment;
use saltus_mdae::expr::VarTraits;
use saltus_mdae::function::Functions;
use saltus_mdae::{BinaryFunction, ConditionId, ExprPool, Type, UnaryFunction, VarId};

pub(crate) const ORDERS: u32 = 16;
const TIME: u32 = 0;
const INITIAL: u32 = 1;
const TERMINAL: u32 = 2;
const CONDITIONS: u32 = 3;
const VARIABLES: u32 = 16;

pub(crate) struct Memory {
    pub values: Vec<f64>,
    variables: u32,
}

impl Memory {
    pub(crate) fn new(variables: u32) -> Self {
        Memory {
            values: vec![0.0; (VARIABLES + 2 * variables * ORDERS) as usize],
            variables,
        }
    }
    pub(crate) fn slot(&self, leaf: Leaf) -> u32 {
        match leaf {
            Leaf::Time => TIME,
            Leaf::Initial => INITIAL,
            Leaf::Terminal => TERMINAL,
            Leaf::Condition(condition) => CONDITIONS + condition.0,
            Leaf::Var { var, order } => VARIABLES + var.0 * ORDERS + u32::from(order),
            Leaf::Pre { var, order } => VARIABLES + (self.variables + var.0) * ORDERS + u32::from(order),
        }
    }
    pub(crate) fn set(&mut self, leaf: Leaf, value: f64) {
        let slot = self.slot(leaf);
        self.values[slot as usize] = value;
    }
    pub(crate) fn get(&self, leaf: Leaf) -> f64 {
        self.values[self.slot(leaf) as usize]
    }
    pub(crate) fn slots(&self, kernel: &Kernel) -> Vec<u32> {
        kernel
            .bind(|leaf| Some(self.slot(leaf)))
            .expect("every leaf has a slot")
    }
    /// By the register machine and as machine code, which must agree to the last bit.
    pub(crate) fn evaluate(&self, kernel: &Kernel) -> Vec<f64> {
        let slots = self.slots(kernel);
        let mut interpreted = vec![0.0; kernel.output_count()];
        kernel.interpret(&self.values, &slots, &mut interpreted);
        assert!(kernel.is_native());
        let mut native = vec![0.0; kernel.output_count()];
        kernel.evaluate_unchecked(&self.values, &slots, &mut native);
        for (position, (a, b)) in interpreted.iter().zip(&native).enumerate() {
            assert!(
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
                "output {position}: {a:e} by the register machine, {b:e} by machine code"
            );
        }
        native
    }
}

impl Environment for Memory {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        self.get(Leaf::var(var, order))
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        self.get(Leaf::pre(var, order))
    }
    fn time(&self) -> f64 {
        self.get(Leaf::Time)
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.get(Leaf::Condition(condition)) != 0.0
    }
    fn initial(&self) -> bool {
        self.get(Leaf::Initial) != 0.0
    }
    fn terminal(&self) -> bool {
        self.get(Leaf::Terminal) != 0.0
    }
}

/// A pool with continuous real variables.
pub(crate) fn pool(variables: u32) -> ExprPool {
    let mut pool = ExprPool::new();
    for _ in 0..variables {
        pool.declare_variable(VarTraits {
            ty: Type::Real,
            continuous: true,
        });
    }
    pool
}

/// A kernel with machine code.
pub(crate) fn native_kernel(pool: &ExprPool, functions: &Arc<Functions>, spec: &KernelSpec) -> Kernel {
    let cache = KernelCache::new(functions.clone());
    let kernel = cache.kernel(pool, spec).expect("a small kernel");
    cache.compile_all().expect("machine code");
    kernel
}

/// Every one-argument function.
pub(crate) const UNARY: [UnaryFunction; 19] = [
    UnaryFunction::Neg,
    UnaryFunction::Not,
    UnaryFunction::Abs,
    UnaryFunction::Sign,
    UnaryFunction::Sqrt,
    UnaryFunction::Exp,
    UnaryFunction::Log,
    UnaryFunction::Log10,
    UnaryFunction::Sin,
    UnaryFunction::Cos,
    UnaryFunction::Tan,
    UnaryFunction::Asin,
    UnaryFunction::Acos,
    UnaryFunction::Atan,
    UnaryFunction::Sinh,
    UnaryFunction::Cosh,
    UnaryFunction::Tanh,
    UnaryFunction::Floor,
    UnaryFunction::Ceil,
];

/// Every two-argument function.
pub(crate) const BINARY: [BinaryFunction; 19] = [
    BinaryFunction::Add,
    BinaryFunction::Sub,
    BinaryFunction::Mul,
    BinaryFunction::Div,
    BinaryFunction::Pow,
    BinaryFunction::Atan2,
    BinaryFunction::Min,
    BinaryFunction::Max,
    BinaryFunction::Mod,
    BinaryFunction::Rem,
    BinaryFunction::Quotient,
    BinaryFunction::And,
    BinaryFunction::Or,
    BinaryFunction::Lt,
    BinaryFunction::Le,
    BinaryFunction::Gt,
    BinaryFunction::Ge,
    BinaryFunction::Eq,
    BinaryFunction::Ne,
];
