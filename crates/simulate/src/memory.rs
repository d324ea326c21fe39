//! The values of a run: every quantity an expression can mention has a fixed place.

use std::sync::Arc;

use saltus_codegen::Leaf;
use saltus_mdae::{ConditionId, Idx, Mdae, VarId};

/// Derivative orders kept per continuous variable when nothing says that more are needed: the states of mechanical
/// systems have order 2, and signs are decided by up to four further derivatives.
pub(crate) const DEFAULT_ORDERS: u16 = 8;

const TIME: u32 = 0;
const INITIAL: u32 = 1;
const TERMINAL: u32 = 2;
const FIRST_CONDITION: u32 = 3;

/// The value memory of a run.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// All values; addressed through slots.
    pub values: Vec<f64>,
    current: Vec<u32>,
    left: Vec<u32>,
    orders: Vec<u16>,
    condition_count: usize,
    /// Whether a value varies between events, by slot.
    varies: Arc<[bool]>,
}

impl Memory {
    /// A memory for a model that keeps `orders` derivatives of every continuous variable.
    pub(crate) fn new(model: &Mdae, orders: u16) -> Self {
        let mut next = FIRST_CONDITION + model.conditions.len() as u32;
        let mut memory = Memory {
            values: Vec::new(),
            current: Vec::new(),
            left: Vec::new(),
            orders: Vec::new(),
            condition_count: model.conditions.len(),
            varies: Arc::default(),
        };
        let mut varies = vec![false; next as usize];
        varies[TIME as usize] = true;
        for id in model.variables.ids() {
            let continuous = model.pool.variable_traits(id).continuous;
            let count = if continuous { orders } else { 1 };
            memory.orders.push(count);
            memory.current.push(next);
            memory.left.push(next + u32::from(count));
            next += 2 * u32::from(count);
            varies.resize(varies.len() + usize::from(count), continuous);
            varies.resize(next as usize, false);
        }
        memory.values = vec![0.0; next as usize];
        memory.varies = varies.into();
        memory
    }

    /// The number of variables with a place.
    pub(crate) fn variable_count(&self) -> usize {
        self.current.len()
    }

    /// How many derivatives of a variable are kept (1: only its value).
    pub(crate) fn orders(&self, var: VarId) -> u16 {
        self.orders[var.index()]
    }

    /// Whether the value at each slot varies between events.
    pub(crate) fn varies(&self) -> &[bool] {
        &self.varies
    }

    /// The slot of the `order`-th derivative of a variable.
    pub(crate) fn slot(&self, var: VarId, order: u16) -> u32 {
        debug_assert!(order < self.orders[var.index()]);
        self.current[var.index()] + u32::from(order)
    }
    /// The slot of the left limit of the `order`-th derivative of a variable.
    pub(crate) fn left_slot(&self, var: VarId, order: u16) -> u32 {
        debug_assert!(order < self.orders[var.index()]);
        self.left[var.index()] + u32::from(order)
    }
    /// The slot of a condition's truth value.
    pub(crate) fn condition_slot(&self, condition: ConditionId) -> u32 {
        FIRST_CONDITION + condition.0
    }
    /// The slot of a leaf.
    pub(crate) fn leaf_slot(&self, leaf: Leaf) -> u32 {
        match leaf {
            Leaf::Var { var, order } => self.slot(var, order),
            Leaf::Pre { var, order } => self.left_slot(var, order),
            Leaf::Time => TIME,
            Leaf::Condition(condition) => self.condition_slot(condition),
            Leaf::Initial => INITIAL,
            Leaf::Terminal => TERMINAL,
        }
    }

    /// Time.
    pub(crate) fn time(&self) -> f64 {
        self.values[TIME as usize]
    }
    /// Sets time.
    pub(crate) fn set_time(&mut self, time: f64) {
        self.values[TIME as usize] = time;
    }
    /// `initial()`.
    pub(crate) fn is_initial(&self) -> bool {
        self.values[INITIAL as usize] != 0.0
    }
    /// Sets `initial()`.
    pub(crate) fn set_initial(&mut self, initial: bool) {
        self.values[INITIAL as usize] = f64::from(u8::from(initial));
    }
    /// Sets `terminal()`.
    pub(crate) fn set_terminal(&mut self, terminal: bool) {
        self.values[TERMINAL as usize] = f64::from(u8::from(terminal));
    }
    /// The current value of a derivative of a variable.
    pub(crate) fn get(&self, var: VarId, order: u16) -> f64 {
        self.values[self.slot(var, order) as usize]
    }
    /// Sets the current value of a derivative of a variable.
    pub(crate) fn set(&mut self, var: VarId, order: u16, value: f64) {
        let slot = self.slot(var, order);
        self.values[slot as usize] = value;
    }
    /// The left limit of a derivative of a variable.
    pub(crate) fn left(&self, var: VarId, order: u16) -> f64 {
        self.values[self.left_slot(var, order) as usize]
    }
    /// Sets the left limit of a derivative of a variable.
    pub(crate) fn set_left(&mut self, var: VarId, order: u16, value: f64) {
        let slot = self.left_slot(var, order);
        self.values[slot as usize] = value;
    }
    /// The truth values of all conditions, as numbers.
    pub(crate) fn conditions(&self) -> &[f64] {
        &self.values[FIRST_CONDITION as usize..][..self.condition_count]
    }
    /// The truth values of all conditions, as numbers.
    pub(crate) fn conditions_mut(&mut self) -> &mut [f64] {
        &mut self.values[FIRST_CONDITION as usize..][..self.condition_count]
    }
    /// Whether a condition is taken to hold.
    pub(crate) fn condition(&self, condition: ConditionId) -> bool {
        self.values[self.condition_slot(condition) as usize] != 0.0
    }
    /// Takes a condition to hold or not.
    pub(crate) fn set_condition(&mut self, condition: ConditionId, value: bool) {
        let slot = self.condition_slot(condition);
        self.values[slot as usize] = f64::from(u8::from(value));
    }
    /// X⁻ := X⁺ for one variable: all its derivatives become left limits.
    pub(crate) fn shift(&mut self, var: VarId) {
        let (from, to, count) = (
            self.current[var.index()],
            self.left[var.index()],
            self.orders[var.index()],
        );
        if from != to {
            self.values
                .copy_within(from as usize..(from + u32::from(count)) as usize, to as usize);
        }
    }
}
