//! The values of a run: every quantity an expression can mention has a fixed place.

use std::sync::Arc;

use saltus_codegen::Leaf;
use saltus_mdae::{ConditionId, Idx, Mdae, VarId};

const TIME: u32 = 0;
const INITIAL: u32 = 1;
const TERMINAL: u32 = 2;
const FIRST_CONDITION: u32 = 3;

/// The value memory of a run.
///
/// Values lie order by order, not variable by variable: what an evaluation reads and writes of a large model (values of one
/// order, of neighbours in the model) is then close together.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// All values; addressed through slots.
    pub values: Vec<f64>,
    /// The slots of the value and of its left limit, by variable.
    current: Vec<u32>,
    left: Vec<u32>,
    orders: Vec<u16>,
    /// From a derivative of a continuous variable to the next.
    stride: u32,
    condition_count: usize,
    /// Whether a value varies between events, by slot.
    varies: Arc<[bool]>,
}

impl Memory {
    /// A memory for a model that keeps `orders` derivatives of every continuous variable.
    pub(crate) fn new(model: &Mdae, orders: u16) -> Self {
        let is_continuous = |&id: &VarId| model.pool.variable_traits(id).continuous;
        let stride = model.variables.ids().filter(is_continuous).count() as u32;
        let mut next_single = FIRST_CONDITION + model.conditions.len() as u32;
        let singles = 2 * (model.variables.len() as u32 - stride);
        let first_current = next_single + singles;
        let first_left = first_current + stride * u32::from(orders);
        let mut memory = Memory {
            values: vec![0.0; (first_left + stride * u32::from(orders)) as usize],
            current: Vec::with_capacity(model.variables.len()),
            left: Vec::with_capacity(model.variables.len()),
            orders: Vec::with_capacity(model.variables.len()),
            stride,
            condition_count: model.conditions.len(),
            varies: Arc::default(),
        };
        let mut next_continuous = 0;
        for id in model.variables.ids() {
            if is_continuous(&id) {
                memory.orders.push(orders);
                memory.current.push(first_current + next_continuous);
                memory.left.push(first_left + next_continuous);
                next_continuous += 1;
            } else {
                memory.orders.push(1);
                memory.current.push(next_single);
                memory.left.push(next_single + 1);
                next_single += 2;
            }
        }
        let mut varies = vec![false; memory.values.len()];
        varies[TIME as usize] = true;
        varies[first_current as usize..first_left as usize].fill(true);
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
        self.current[var.index()] + u32::from(order) * self.stride
    }
    /// The slot of the left limit of the `order`-th derivative of a variable.
    pub(crate) fn left_slot(&self, var: VarId, order: u16) -> u32 {
        debug_assert!(order < self.orders[var.index()]);
        self.left[var.index()] + u32::from(order) * self.stride
    }
    /// The slots of a variable's value and its derivatives, in order.
    pub(crate) fn slots(&self, var: VarId) -> impl Iterator<Item = usize> + use<> {
        let (first, stride) = (self.current[var.index()] as usize, self.stride as usize);
        (0..usize::from(self.orders[var.index()])).map(move |order| first + order * stride)
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
        for order in 0..self.orders[var.index()] {
            let value = self.get(var, order);
            self.set_left(var, order, value);
        }
    }
}
