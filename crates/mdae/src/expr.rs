//! Hash-consed, typed expressions.
//!
//! Every expression is a node in an append-only [`ExprPool`]; equal expressions have equal ids. Children always have
//! smaller ids than their parents, so every pass is a loop over the reachable ids in ascending order: no recursion,
//! hence no stack overflow on the hundred-thousand-term sums that connection sets produce.
//!
//! At run time every value is an `f64`: integers are exact to 2^53, Booleans are 0 and 1, enumeration values their
//! ordinal. The static type is kept to choose the right meaning (integer division, printing) and for checks.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::Derivative;
use crate::index::{ConditionId, ExprId, FunctionId, Idx, VarId};
use crate::tape::Tape;

/// The static type of an expression.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Type {
    /// Real numbers.
    Real,
    /// Integers and enumeration ordinals.
    Integer,
    /// Truth values.
    Boolean,
}

/// An `f64` compared and hashed by its bits.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "f64", into = "f64")]
pub struct Bits(u64);

impl Bits {
    /// The bits of a number; −0 becomes 0 so that equal numbers are equal expressions.
    pub fn new(value: f64) -> Self {
        Bits((value + 0.0).to_bits())
    }
    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f64> for Bits {
    fn from(value: f64) -> Self {
        Bits::new(value)
    }
}

impl From<Bits> for f64 {
    fn from(bits: Bits) -> Self {
        bits.get()
    }
}

impl std::fmt::Debug for Bits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.get())
    }
}

/// Functions and operators of one argument.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum UnaryFunction {
    Neg,
    Not,
    Abs,
    Sign,
    Sqrt,
    Exp,
    Log,
    Log10,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    /// Largest integer not above.
    Floor,
    /// Smallest integer not below.
    Ceil,
}

/// Functions and operators of two arguments. The relations are *literal* (no event): relations that generate events
/// are [`Node::Condition`].
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum BinaryFunction {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    Min,
    Max,
    /// Modelica `mod`: sign of the divisor.
    Mod,
    /// Modelica `rem`: sign of the dividend.
    Rem,
    /// Modelica `div`: quotient truncated towards zero.
    Quotient,
    And,
    Or,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// An interned list of numbers (arguments of a call).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ListId(u32);

impl ListId {
    pub(crate) fn position(self) -> usize {
        self.0 as usize
    }
}

/// One expression node.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Node {
    /// A real constant.
    Real(Bits),
    /// An integer constant or enumeration ordinal.
    Integer(i64),
    /// A Boolean constant.
    Boolean(bool),
    /// The current value (at events: right limit) of the `order`-th derivative of a variable.
    Var {
        /// The variable.
        var: VarId,
        /// Derivative order.
        order: u16,
    },
    /// The left limit (`pre`) of the `order`-th derivative of a variable.
    Pre {
        /// The variable.
        var: VarId,
        /// Derivative order.
        order: u16,
    },
    /// Time.
    Time,
    /// The truth value of an event-generating condition.
    Condition(ConditionId),
    /// True during initialisation.
    Initial,
    /// True at the last instant of a successful run.
    Terminal,
    /// One-argument function.
    Unary(UnaryFunction, ExprId),
    /// Two-argument function.
    Binary(BinaryFunction, ExprId, ExprId),
    /// `if c then a else b`.
    If(ExprId, ExprId, ExprId),
    /// Scalar result number `output` of a user function, or one of its partial derivatives.
    Call {
        /// The function.
        function: FunctionId,
        /// Which scalar of the flattened outputs.
        output: u32,
        /// Indices of the scalar arguments it is differentiated by (sorted; empty: the value).
        partials: ListId,
        /// The flattened scalar arguments.
        args: ListId,
    },
}

/// Finds nodes in the list that holds them: positions by the hashes of the nodes there, so that no node is kept twice.
#[derive(Default, Debug, Clone)]
struct NodeTable {
    /// Positions, counted from 1; 0 where there is none. A power of two of them, of which a quarter is free.
    places: Vec<u32>,
}

impl NodeTable {
    const LEAST: usize = 16;

    /// The places to look at for a node, in turn: all of them, since the distances are 1, 2, 3…
    fn course(&self, node: &Node) -> impl Iterator<Item = usize> + use<> {
        let hash = BuildHasherDefault::<FxHasher>::default().hash_one(node) as usize;
        let mask = self.places.len() - 1;
        (0..=mask).scan(hash, move |at, distance| {
            *at = at.wrapping_add(distance);
            Some(*at & mask)
        })
    }

    fn find(&self, nodes: &[Node], node: &Node) -> Option<usize> {
        if self.places.is_empty() {
            return None;
        }
        let known = self.course(node).map(|place| self.places[place] as usize);
        known
            .take_while(|&position| position != 0)
            .map(|position| position - 1)
            .find(|&position| nodes[position] == *node)
    }

    /// The last of the nodes is new.
    fn insert_last(&mut self, nodes: &[Node]) {
        if 4 * nodes.len() > 3 * self.places.len() {
            self.places = vec![0; (2 * self.places.len()).max(Self::LEAST)];
            (0..nodes.len()).for_each(|position| self.put(nodes, position));
        } else {
            self.put(nodes, nodes.len() - 1);
        }
    }

    fn put(&mut self, nodes: &[Node], position: usize) {
        let free = self.course(&nodes[position]).find(|&place| self.places[place] == 0);
        if let Some(place) = free {
            self.places[place] = position as u32 + 1;
        }
    }
}

#[derive(Default, Debug, Clone)]
struct Store {
    nodes: Vec<Node>,
    types: Vec<Type>,
    by_node: NodeTable,
    lists: Vec<Box<[u32]>>,
    by_list: FxHashMap<Box<[u32]>, ListId>,
}

impl Store {
    fn push(&mut self, node: Node, ty: Type) {
        self.nodes.push(node);
        self.types.push(ty);
        self.by_node.insert_last(&self.nodes);
    }

    /// Adds what comes after it.
    fn extend(&mut self, later: Store) {
        for (node, ty) in later.nodes.into_iter().zip(later.types) {
            self.push(node, ty);
        }
        self.lists.extend(later.lists);
        self.by_list.extend(later.by_list);
    }
}

/// What a pool must know of variables and functions to type expressions and to differentiate them.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VarTraits {
    /// Static type.
    pub ty: Type,
    /// Whether the value changes between events (unknowns and inputs): only then is its derivative non-zero.
    pub continuous: bool,
}

/// What was found out about expressions, which never change. Mode changes ask the same of the same equations again and again.
#[derive(Debug, Default)]
struct Memo {
    occurrences: Recalled<Arc<[Derivative]>>,
    left_limits: Recalled<Arc<[Derivative]>>,
    polynomials: Recalled<bool>,
    tapes: Recalled<Arc<Tape>>,
}

impl Clone for Memo {
    /// A copy begins without: it asks about other expressions.
    fn clone(&self) -> Self {
        Memo::default()
    }
}

/// Answers by expression, up to a number of them.
#[derive(Debug)]
struct Recalled<T>(Mutex<FxHashMap<ExprId, T>>);

impl<T> Default for Recalled<T> {
    fn default() -> Self {
        Recalled(Mutex::default())
    }
}

impl<T: Clone> Recalled<T> {
    /// Beyond so many, all are forgotten: what is asked often is found again.
    const MOST: usize = 1 << 15;

    fn recall(&self, root: ExprId, find: impl FnOnce() -> T) -> T {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&root) {
            return known.clone();
        }
        let found = find();
        let mut known = lock();
        if known.len() >= Self::MOST {
            known.clear();
        }
        known.insert(root, found.clone());
        found
    }
}

/// The append-only store of expressions.
///
/// [`ExprPool::fork`] makes a cheap extension of a frozen pool: a compiled model is shared between runs, and what a
/// run adds (derivatives for newly entered modes) stays its own.
#[derive(Clone, Debug, Default)]
pub struct ExprPool {
    base: Option<Arc<ExprPool>>,
    base_nodes: usize,
    base_lists: usize,
    own: Store,
    vars: Vec<VarTraits>,
    pub(crate) derivatives: FxHashMap<ExprId, ExprId>,
    /// Variables that stand for derivatives of others at instants of mode changes.
    symbols: FxHashMap<(Derivative, u16), VarId>,
    memo: Memo,
}

impl ExprPool {
    /// An empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// A pool that extends a frozen one.
    pub fn fork(base: &Arc<ExprPool>) -> Self {
        ExprPool {
            base_nodes: base.len(),
            base_lists: base.base_lists + base.own.lists.len(),
            vars: base.vars.clone(),
            base: Some(base.clone()),
            own: Store::default(),
            derivatives: FxHashMap::default(),
            symbols: FxHashMap::default(),
            memo: Memo::default(),
        }
    }

    /// Freezes what there is so far: this pool becomes a fork of the returned one and can still be extended.
    pub fn freeze(&mut self) -> Arc<ExprPool> {
        self.own.nodes.shrink_to_fit();
        self.own.types.shrink_to_fit();
        let frozen = Arc::new(std::mem::take(self));
        *self = ExprPool::fork(&frozen);
        frozen
    }

    /// The same expressions under the same numbers as an extension of `root` itself, where this pool extends it by way of
    /// others; `None` if it does not.
    pub fn onto(self, root: &Arc<ExprPool>) -> Option<ExprPool> {
        let base = self.base.as_ref()?;
        if Arc::ptr_eq(base, root) {
            return Some(self);
        }
        let mut joined = ExprPool::clone(base).onto(root)?;
        joined.own.extend(self.own);
        joined.vars = self.vars;
        joined.derivatives.extend(self.derivatives);
        joined.symbols.extend(self.symbols);
        Some(joined)
    }

    /// The total derivative of an expression, if it was asked for before.
    pub(crate) fn known_derivative(&self, root: ExprId) -> Option<ExprId> {
        let own = self.derivatives.get(&root).copied();
        own.or_else(|| self.base.as_ref()?.known_derivative(root))
    }

    /// The number of expressions.
    pub fn len(&self) -> usize {
        self.base_nodes + self.own.nodes.len()
    }
    /// Whether the pool is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Declares the next variable; the ids must be declared in order.
    pub fn declare_variable(&mut self, traits: VarTraits) -> VarId {
        self.vars.push(traits);
        VarId::from_usize(self.vars.len() - 1)
    }
    /// The real variable that stands for a derivative of another at an instant of a mode change: the same one whenever it is
    /// asked for, so that equal equations of different changes are one expression.
    pub fn symbol(&mut self, derivative: Derivative, instant: u16) -> VarId {
        let key = (derivative, instant);
        if let Some(known) = self.known_symbol(&key) {
            return known;
        }
        let symbol = self.declare_variable(VarTraits {
            ty: Type::Real,
            continuous: true,
        });
        self.symbols.insert(key, symbol);
        symbol
    }

    fn known_symbol(&self, key: &(Derivative, u16)) -> Option<VarId> {
        let own = self.symbols.get(key).copied();
        own.or_else(|| self.base.as_ref()?.known_symbol(key))
    }

    /// What was declared of a variable.
    pub fn variable_traits(&self, var: VarId) -> VarTraits {
        self.vars[var.index()]
    }
    /// Changes what was declared (for lowering passes that find out later that a variable is discrete).
    pub fn redeclare_variable(&mut self, var: VarId, traits: VarTraits) {
        self.vars[var.index()] = traits;
    }

    /// The node of an expression.
    pub fn node(&self, id: ExprId) -> Node {
        match id.index().checked_sub(self.base_nodes) {
            Some(own) => self.own.nodes[own],
            None => self.base.as_ref().expect("id below a base").node(id),
        }
    }
    /// The static type of an expression.
    pub fn ty(&self, id: ExprId) -> Type {
        match id.index().checked_sub(self.base_nodes) {
            Some(own) => self.own.types[own],
            None => self.base.as_ref().expect("id below a base").ty(id),
        }
    }
    /// An interned list.
    pub fn list(&self, id: ListId) -> &[u32] {
        match (id.0 as usize).checked_sub(self.base_lists) {
            Some(own) => &self.own.lists[own],
            None => self.base.as_ref().expect("id below a base").list(id),
        }
    }
    /// The list interned first, second, … .
    pub(crate) fn list_at(&self, position: usize) -> &[u32] {
        self.list(ListId(position as u32))
    }
    /// The number of lists.
    pub(crate) fn list_count(&self) -> usize {
        self.base_lists + self.own.lists.len()
    }
    /// What was declared of all variables.
    pub(crate) fn all_traits(&self) -> &[VarTraits] {
        &self.vars
    }
    /// The arguments of a call.
    pub fn args(&self, list: ListId) -> impl Iterator<Item = ExprId> + '_ {
        self.list(list).iter().map(|&raw| ExprId(raw))
    }

    fn find_node(&self, node: &Node) -> Option<ExprId> {
        match self.own.by_node.find(&self.own.nodes, node) {
            Some(own) => Some(ExprId::from_usize(self.base_nodes + own)),
            None => self.base.as_ref()?.find_node(node),
        }
    }
    fn find_list(&self, list: &[u32]) -> Option<ListId> {
        self.own
            .by_list
            .get(list)
            .copied()
            .or_else(|| self.base.as_ref().and_then(|base| base.find_list(list)))
    }

    /// Interns a list.
    pub fn intern_list(&mut self, list: &[u32]) -> ListId {
        if let Some(id) = self.find_list(list) {
            return id;
        }
        let id = ListId((self.base_lists + self.own.lists.len()) as u32);
        self.own.lists.push(list.into());
        self.own.by_list.insert(list.into(), id);
        id
    }

    /// Interns a node as it is, without simplification.
    pub fn intern(&mut self, node: Node) -> ExprId {
        if let Some(id) = self.find_node(&node) {
            return id;
        }
        let ty = self.type_of(&node);
        let id = ExprId::from_usize(self.len());
        self.own.push(node, ty);
        id
    }

    fn type_of(&self, node: &Node) -> Type {
        use BinaryFunction::*;
        let join = |a, b| {
            if self.ty(a) == Type::Integer && self.ty(b) == Type::Integer {
                Type::Integer
            } else {
                Type::Real
            }
        };
        match *node {
            Node::Real(_) | Node::Time | Node::Call { .. } => Type::Real,
            Node::Integer(_) => Type::Integer,
            Node::Boolean(_) | Node::Condition(_) | Node::Initial | Node::Terminal => Type::Boolean,
            Node::Var { var, .. } | Node::Pre { var, .. } => self.vars[var.index()].ty,
            Node::Unary(op, a) => match op {
                UnaryFunction::Neg | UnaryFunction::Abs => self.ty(a),
                UnaryFunction::Not => Type::Boolean,
                UnaryFunction::Sign => Type::Integer,
                _ => Type::Real,
            },
            Node::Binary(op, a, b) => match op {
                Add | Sub | Mul | Min | Max | Mod | Rem | Quotient => join(a, b),
                Div | Pow | Atan2 => Type::Real,
                And | Or | Lt | Le | Gt | Ge | Eq | Ne => Type::Boolean,
            },
            Node::If(_, a, b) => {
                if self.ty(a) == Type::Boolean {
                    Type::Boolean
                } else {
                    join(a, b)
                }
            }
        }
    }

    // ---- leaves

    /// A real constant.
    pub fn real(&mut self, value: f64) -> ExprId {
        self.intern(Node::Real(Bits::new(value)))
    }
    /// An integer constant.
    pub fn integer(&mut self, value: i64) -> ExprId {
        self.intern(Node::Integer(value))
    }
    /// A Boolean constant.
    pub fn boolean(&mut self, value: bool) -> ExprId {
        self.intern(Node::Boolean(value))
    }
    /// A variable.
    pub fn var(&mut self, var: VarId) -> ExprId {
        self.der_var(var, 0)
    }
    /// A derivative of a variable.
    pub fn der_var(&mut self, var: VarId, order: u16) -> ExprId {
        if order > 0 && !self.vars[var.index()].continuous {
            return self.real(0.0);
        }
        self.intern(Node::Var { var, order })
    }
    /// The left limit of a derivative of a variable.
    pub fn pre_var(&mut self, var: VarId, order: u16) -> ExprId {
        if order > 0 && !self.vars[var.index()].continuous {
            return self.real(0.0);
        }
        self.intern(Node::Pre { var, order })
    }
    /// Time.
    pub fn time(&mut self) -> ExprId {
        self.intern(Node::Time)
    }
    /// A condition's truth value.
    pub fn condition(&mut self, condition: ConditionId) -> ExprId {
        self.intern(Node::Condition(condition))
    }

    /// The value of a numeric or Boolean constant.
    pub fn constant(&self, id: ExprId) -> Option<f64> {
        match self.node(id) {
            Node::Real(bits) => Some(bits.get()),
            Node::Integer(value) => Some(value as f64),
            Node::Boolean(value) => Some(f64::from(u8::from(value))),
            _ => None,
        }
    }
    /// Whether the expression is the constant zero.
    pub fn is_zero(&self, id: ExprId) -> bool {
        self.ty(id) != Type::Boolean && self.constant(id) == Some(0.0)
    }
    fn is_one(&self, id: ExprId) -> bool {
        self.ty(id) != Type::Boolean && self.constant(id) == Some(1.0)
    }

    fn constant_of_type(&mut self, value: f64, ty: Type) -> ExprId {
        match ty {
            Type::Real => self.real(value),
            Type::Integer => self.integer(value as i64),
            Type::Boolean => self.boolean(value != 0.0),
        }
    }

    // ---- simplifying constructors

    /// A one-argument function, simplified.
    pub fn unary(&mut self, op: UnaryFunction, a: ExprId) -> ExprId {
        if let Some(value) = self.constant(a) {
            let folded = crate::eval::apply_unary(op, value);
            if folded.is_finite() {
                let ty = self.type_of(&Node::Unary(op, a));
                return self.constant_of_type(folded, ty);
            }
        }
        match (op, self.node(a)) {
            (UnaryFunction::Neg, Node::Unary(UnaryFunction::Neg, inner)) => inner,
            (UnaryFunction::Neg, Node::Binary(BinaryFunction::Sub, x, y)) => self.sub(y, x),
            (UnaryFunction::Not, Node::Unary(UnaryFunction::Not, inner)) => inner,
            (UnaryFunction::Abs, Node::Unary(UnaryFunction::Neg, inner)) => self.unary(UnaryFunction::Abs, inner),
            _ => self.intern(Node::Unary(op, a)),
        }
    }

    /// A two-argument function, simplified.
    pub fn binary(&mut self, op: BinaryFunction, a: ExprId, b: ExprId) -> ExprId {
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b)) {
            let folded = crate::eval::apply_binary(op, x, y);
            if folded.is_finite() {
                let ty = self.type_of(&Node::Binary(op, a, b));
                return self.constant_of_type(folded, ty);
            }
        }
        match op {
            BinaryFunction::Add => self.add_simplified(a, b),
            BinaryFunction::Sub => self.sub_simplified(a, b),
            BinaryFunction::Mul => self.mul_simplified(a, b),
            BinaryFunction::Div => self.div_simplified(a, b),
            BinaryFunction::Pow if self.is_one(b) => a,
            BinaryFunction::Pow if self.is_zero(b) => self.real(1.0),
            BinaryFunction::And | BinaryFunction::Or => self.logic_simplified(op, a, b),
            _ => self.intern(Node::Binary(op, a, b)),
        }
    }

    fn add_simplified(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if self.is_zero(a) {
            return b;
        }
        if self.is_zero(b) {
            return a;
        }
        if let Node::Unary(UnaryFunction::Neg, inner) = self.node(b) {
            return self.sub(a, inner);
        }
        if let Node::Unary(UnaryFunction::Neg, inner) = self.node(a) {
            return self.sub(b, inner);
        }
        self.intern(Node::Binary(BinaryFunction::Add, a, b))
    }

    fn sub_simplified(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if self.is_zero(b) {
            return a;
        }
        if self.is_zero(a) {
            return self.neg(b);
        }
        if a == b {
            let ty = self.ty(a);
            return self.constant_of_type(0.0, ty);
        }
        if let Node::Unary(UnaryFunction::Neg, inner) = self.node(b) {
            return self.add(a, inner);
        }
        self.intern(Node::Binary(BinaryFunction::Sub, a, b))
    }

    fn mul_simplified(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if self.is_zero(a) || self.is_zero(b) {
            let ty = self.type_of(&Node::Binary(BinaryFunction::Mul, a, b));
            return self.constant_of_type(0.0, ty);
        }
        if self.is_one(a) {
            return b;
        }
        if self.is_one(b) {
            return a;
        }
        match (self.node(a), self.node(b)) {
            (Node::Unary(UnaryFunction::Neg, x), Node::Unary(UnaryFunction::Neg, y)) => self.mul(x, y),
            (Node::Unary(UnaryFunction::Neg, x), _) => {
                let product = self.mul(x, b);
                self.neg(product)
            }
            (_, Node::Unary(UnaryFunction::Neg, y)) => {
                let product = self.mul(a, y);
                self.neg(product)
            }
            _ => self.intern(Node::Binary(BinaryFunction::Mul, a, b)),
        }
    }

    fn div_simplified(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if self.is_one(b) && self.ty(a) == Type::Real {
            return a;
        }
        // 0/x is 0 wherever the quotient is defined; 0/0 stays visible.
        if self.is_zero(a) && !self.is_zero(b) {
            return self.real(0.0);
        }
        if let Node::Unary(UnaryFunction::Neg, inner) = self.node(a) {
            let quotient = self.div(inner, b);
            return self.neg(quotient);
        }
        self.intern(Node::Binary(BinaryFunction::Div, a, b))
    }

    fn logic_simplified(&mut self, op: BinaryFunction, a: ExprId, b: ExprId) -> ExprId {
        let absorbing = op == BinaryFunction::Or;
        for (this, other) in [(a, b), (b, a)] {
            if let Node::Boolean(value) = self.node(this) {
                return if value == absorbing { this } else { other };
            }
        }
        if a == b {
            return a;
        }
        if self.not(a) == b {
            return self.boolean(absorbing);
        }
        // Propositional formulas are compared by id: one order for commuting arguments.
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        self.intern(Node::Binary(op, a, b))
    }

    /// `if c then a else b`, simplified.
    pub fn if_else(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        match self.node(c) {
            Node::Boolean(true) => a,
            Node::Boolean(false) => b,
            _ if a == b => a,
            Node::Unary(UnaryFunction::Not, inner) => self.if_else(inner, b, a),
            _ => self.intern(Node::If(c, a, b)),
        }
    }

    /// A call of a user function.
    pub fn call(&mut self, function: FunctionId, output: u32, args: &[ExprId]) -> ExprId {
        self.call_partial(function, output, &[], args)
    }
    /// A partial derivative of a user function by the given argument positions.
    pub fn call_partial(&mut self, function: FunctionId, output: u32, partials: &[u32], args: &[ExprId]) -> ExprId {
        let mut sorted = partials.to_vec();
        sorted.sort_unstable();
        let raw: Vec<u32> = args.iter().map(|arg| arg.0).collect();
        let (partials, args) = (self.intern_list(&sorted), self.intern_list(&raw));
        self.intern(Node::Call {
            function,
            output,
            partials,
            args,
        })
    }

    /// a + b
    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryFunction::Add, a, b)
    }
    /// a − b
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryFunction::Sub, a, b)
    }
    /// a · b
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryFunction::Mul, a, b)
    }
    /// a / b
    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryFunction::Div, a, b)
    }
    /// a ^ b
    pub fn pow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryFunction::Pow, a, b)
    }
    /// −a
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        self.unary(UnaryFunction::Neg, a)
    }
    /// not a
    pub fn not(&mut self, a: ExprId) -> ExprId {
        self.unary(UnaryFunction::Not, a)
    }
    /// a and b
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryFunction::And, a, b)
    }
    /// a or b
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryFunction::Or, a, b)
    }

    // ---- traversal

    /// Calls `visit` with every direct child.
    pub fn for_each_child(&self, node: Node, mut visit: impl FnMut(ExprId)) {
        match node {
            Node::Unary(_, a) => visit(a),
            Node::Binary(_, a, b) => {
                visit(a);
                visit(b);
            }
            Node::If(c, a, b) => {
                visit(c);
                visit(a);
                visit(b);
            }
            Node::Call { args, .. } => self.args(args).for_each(visit),
            _ => {}
        }
    }

    /// All expressions reachable from the roots, each once, children before parents.
    pub fn reachable(&self, roots: &[ExprId]) -> Vec<ExprId> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack: Vec<ExprId> = roots.to_vec();
        let mut found = Vec::new();
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                found.push(id);
                self.for_each_child(self.node(id), |child| stack.push(child));
            }
        }
        found.sort_unstable();
        found
    }

    /// Every `(variable, derivative order)` that occurs as a current value, sorted.
    pub fn occurrences(&self, root: ExprId) -> Vec<Derivative> {
        let find = || {
            self.leaves(root, |node| match node {
                Node::Var { var, order } => Some(Derivative { var, order }),
                _ => None,
            })
        };
        self.memo.occurrences.recall(root, || find().into()).to_vec()
    }
    /// Whether an expression is made of sums, differences and products alone.
    pub fn is_polynomial(&self, root: ExprId) -> bool {
        let polynomial = |id: ExprId| match self.node(id) {
            Node::Unary(op, _) => op == UnaryFunction::Neg,
            Node::Binary(op, ..) => matches!(op, BinaryFunction::Add | BinaryFunction::Sub | BinaryFunction::Mul),
            Node::If(..) | Node::Call { .. } => false,
            _ => true,
        };
        let find = || self.reachable(&[root]).into_iter().all(polynomial);
        self.memo.polynomials.recall(root, find)
    }
    /// The program of an expression.
    pub fn tape(&self, root: ExprId) -> Arc<Tape> {
        self.memo.tapes.recall(root, || Arc::new(Tape::new(self, root)))
    }
    /// Every `(variable, derivative order)` that occurs as a left limit, sorted.
    pub fn left_limit_occurrences(&self, root: ExprId) -> Vec<Derivative> {
        let find = || {
            self.leaves(root, |node| match node {
                Node::Pre { var, order } => Some(Derivative { var, order }),
                _ => None,
            })
        };
        self.memo.left_limits.recall(root, || find().into()).to_vec()
    }
    /// Every condition that occurs, sorted.
    pub fn conditions_in(&self, root: ExprId) -> Vec<ConditionId> {
        self.leaves(root, |node| match node {
            Node::Condition(condition) => Some(condition),
            _ => None,
        })
    }
    fn leaves<T: Ord>(&self, root: ExprId, pick: impl Fn(Node) -> Option<T>) -> Vec<T> {
        /// Expressions of equations are small: looking through a short list is quicker than hashing.
        const FEW: usize = 64;
        let mut found: Vec<T> = Vec::new();
        let mut seen: SmallVec<[ExprId; FEW]> = SmallVec::new();
        let mut stack: SmallVec<[ExprId; FEW]> = SmallVec::new();
        stack.push(root);
        while let Some(id) = stack.pop() {
            if seen.contains(&id) {
                continue;
            }
            if seen.len() == FEW {
                found = self
                    .reachable(&[root])
                    .into_iter()
                    .filter_map(|id| pick(self.node(id)))
                    .collect();
                break;
            }
            seen.push(id);
            let node = self.node(id);
            found.extend(pick(node));
            self.for_each_child(node, |child| stack.push(child));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The expression with the variables that `is_unknown` names taken as left limits.
    pub fn left_limit(&mut self, expr: ExprId, is_unknown: impl Fn(VarId) -> bool) -> ExprId {
        let rewritten = self.rewrite(&[expr], |pool, _, node| match node {
            Node::Var { var, order } if is_unknown(var) => Some(pool.pre_var(var, order)),
            _ => None,
        });
        rewritten[0]
    }

    /// Rebuilds the roots bottom-up: `replace` may give another expression for a node; otherwise the node is rebuilt
    /// (with simplification) from its rebuilt children.
    pub fn rewrite(
        &mut self,
        roots: &[ExprId],
        mut replace: impl FnMut(&mut ExprPool, ExprId, Node) -> Option<ExprId>,
    ) -> Vec<ExprId> {
        let mut rebuilt: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.reachable(roots) {
            let node = self.node(id);
            let new = match replace(self, id, node) {
                Some(new) => new,
                None => self.rebuild(id, node, &rebuilt),
            };
            rebuilt.insert(id, new);
        }
        roots.iter().map(|root| rebuilt[root]).collect()
    }

    fn rebuild(&mut self, id: ExprId, node: Node, rebuilt: &FxHashMap<ExprId, ExprId>) -> ExprId {
        match node {
            Node::Unary(op, a) if rebuilt[&a] != a => self.unary(op, rebuilt[&a]),
            Node::Binary(op, a, b) if rebuilt[&a] != a || rebuilt[&b] != b => self.binary(op, rebuilt[&a], rebuilt[&b]),
            Node::If(c, a, b) if rebuilt[&c] != c || rebuilt[&a] != a || rebuilt[&b] != b => {
                self.if_else(rebuilt[&c], rebuilt[&a], rebuilt[&b])
            }
            Node::Call {
                function,
                output,
                partials,
                args,
            } => {
                let new: Vec<ExprId> = self.args(args).map(|arg| rebuilt[&arg]).collect();
                let partials = self.list(partials).to_vec();
                self.call_partial(function, output, &partials, &new)
            }
            _ => id,
        }
    }
}
