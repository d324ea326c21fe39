//! From expressions to a tape with the numbers of a [`KernelSpec`].

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use saltus_mdae::expr::ListId;
use saltus_mdae::{BinaryFunction, ExprId, ExprPool, FunctionId, Node, UnaryFunction};

use crate::call::Call;
use crate::elimination::newton_steps;
use crate::error::CompileError;
use crate::function::Library;
use crate::inline;
use crate::jet::Jet;
use crate::schedule::{Conjunction, Guards, schedule};
use crate::series::SeriesAlgebra;
use crate::spec::{Column, KernelSpec, Leaf};
use crate::tape::{OPERATION_LIMIT, Tape, TapeBuilder, Value};

/// Orders of total derivatives that are accepted; differentiation indices of real models stay far below.
const ORDER_LIMIT: u16 = 64;

/// A tape with what its numbers stand for.
#[derive(Debug)]
pub(crate) struct Translation {
    pub(crate) tape: Tape,
    pub(crate) leaves: Vec<Leaf>,
    /// The expression that each operation comes from.
    pub(crate) origins: Vec<ExprId>,
}

/// Translates a specification.
pub(crate) fn translate(pool: &ExprPool, library: &Library, spec: &KernelSpec) -> Result<Translation, CompileError> {
    let too_large = || CompileError::TooLarge {
        expression: spec.expressions.first().copied().unwrap_or(ExprId(0)),
        order: spec.highest_order(),
        limit: OPERATION_LIMIT,
    };
    if spec.highest_order() > ORDER_LIMIT {
        return Err(too_large());
    }
    let (order, guards) = schedule(pool, &spec.expressions);
    // Leaves of absurdly high order would leave the range of orders when differentiated.
    let highest = order.iter().map(|&id| match pool.node(id) {
        Node::Var { order, .. } => order,
        _ => 0,
    });
    if highest.max().unwrap_or(0) > u16::MAX - ORDER_LIMIT {
        return Err(too_large());
    }
    let mut translator = Translator::new(pool, library, spec, &order, guards);
    for &id in &order {
        translator.node(id);
        if translator.tape.overflown() {
            return Err(too_large());
        }
    }
    let mut outputs = translator.outputs();
    if !spec.newton.is_empty() {
        outputs = translator.newton(&outputs);
    }
    if translator.tape.overflown() {
        return Err(too_large());
    }
    let (tape, kept, origins) = translator.tape.finish(&outputs);
    let leaves = kept.iter().map(|&old| translator.leaves[old as usize]).collect();
    Ok(Translation { tape, leaves, origins })
}

struct Translator<'a> {
    pool: &'a ExprPool,
    library: &'a Library,
    spec: &'a KernelSpec,
    tape: TapeBuilder,
    leaves: Vec<Leaf>,
    leaf_positions: FxHashMap<Leaf, u32>,
    /// Column number and length of the tangent of each leaf that partials depend on.
    columns: FxHashMap<Leaf, (u32, usize)>,
    /// Length of all series.
    len: usize,
    jets: FxHashMap<ExprId, Jet>,
    uses: FxHashMap<ExprId, u32>,
    guards: Guards,
    inlined: FxHashMap<(FunctionId, ListId), Option<Vec<Jet>>>,
    /// What calls may still unroll into.
    inline_budget: u32,
}

impl<'a> Translator<'a> {
    fn new(pool: &'a ExprPool, library: &'a Library, spec: &'a KernelSpec, order: &[ExprId], guards: Guards) -> Self {
        let mut uses: FxHashMap<ExprId, u32> = FxHashMap::default();
        for &id in order {
            pool.for_each_child(pool.node(id), |child| *uses.entry(child).or_default() += 1);
        }
        for &root in &spec.expressions {
            *uses.entry(root).or_default() += 1;
        }
        for condition in guards.values().flatten().flatten() {
            *uses.entry(condition.0).or_default() += 1;
        }
        let columns = columns(pool, spec, order);
        let values = spec.outputs.iter().filter(|output| output.column == Column::Value);
        let highest_value = values.map(|output| usize::from(output.order) + 1).max().unwrap_or(1);
        let longest_tangent = columns.values().map(|&(_, len)| len).max().unwrap_or(1);
        Translator {
            pool,
            library,
            spec,
            tape: TapeBuilder::default(),
            leaves: Vec::new(),
            leaf_positions: FxHashMap::default(),
            columns,
            len: highest_value.max(longest_tangent),
            jets: FxHashMap::default(),
            uses,
            guards,
            inlined: FxHashMap::default(),
            inline_budget: inline::KERNEL_STEP_LIMIT,
        }
    }

    fn leaf_value(&mut self, leaf: Leaf) -> Value {
        let next = self.leaves.len() as u32;
        let position = *self.leaf_positions.entry(leaf).or_insert(next);
        if position == next {
            self.leaves.push(leaf);
        }
        self.tape.leaf(position)
    }

    fn leaf_jet(&mut self, leaf: Leaf) -> Jet {
        let first = self.leaf_value(leaf);
        let mut series = self.tape.constant_series(first, self.len);
        match leaf {
            Leaf::Var { var, order } if self.pool.variable_traits(var).continuous => {
                for (k, coefficient) in series.iter_mut().enumerate().skip(1) {
                    let derivative = self.leaf_value(Leaf::var(var, order + k as u16));
                    *coefficient = self.tape.scale(derivative, 1.0 / factorial(k));
                }
            }
            Leaf::Time if self.len > 1 => series[1] = self.tape.constant(1.0),
            _ => {}
        }
        let mut jet = Jet::constant(series);
        if let Some(&(column, len)) = self.columns.get(&leaf) {
            let one = self.tape.constant(1.0);
            jet.tangents.insert(column, self.tape.constant_series(one, len));
        }
        jet
    }

    /// The jet of a subexpression; its last use moves it.
    fn jet(&mut self, id: ExprId) -> Jet {
        let uses = self.uses.get_mut(&id).expect("every child is counted");
        *uses -= 1;
        match *uses {
            0 => self.jets.remove(&id).expect("children come first"),
            _ => self.jets[&id].clone(),
        }
    }

    fn node(&mut self, id: ExprId) {
        self.tape.origin = Some(id);
        let jet = match self.pool.node(id) {
            Node::Real(bits) => self.constant(bits.get()),
            Node::Integer(number) => self.constant(number as f64),
            Node::Boolean(value) => self.constant(f64::from(u8::from(value))),
            Node::Var { var, order } => self.leaf_jet(Leaf::Var { var, order }),
            Node::Pre { var, order } => self.leaf_jet(Leaf::Pre { var, order }),
            Node::Time => self.leaf_jet(Leaf::Time),
            Node::Condition(condition) => self.leaf_jet(Leaf::Condition(condition)),
            Node::Initial => self.leaf_jet(Leaf::Initial),
            Node::Terminal => self.leaf_jet(Leaf::Terminal),
            Node::Unary(op, a) => {
                let a = self.jet(a);
                self.tape.unary_jet(op, a)
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (self.jet(a), self.jet(b));
                self.tape.binary_jet(op, a, b)
            }
            Node::If(c, a, b) => {
                let (c, a, b) = (self.jet(c), self.jet(a), self.jet(b));
                self.tape.select_jet(c.series[0], a, b)
            }
            Node::Call {
                function,
                output,
                partials,
                args,
            } => self.call(id, function, output, partials, args),
        };
        self.jets.insert(id, jet);
    }

    fn constant(&mut self, value: f64) -> Jet {
        let value = self.tape.constant(value);
        Jet::constant(self.tape.constant_series(value, self.len))
    }

    fn call(&mut self, id: ExprId, function: FunctionId, output: u32, partials: ListId, args: ListId) -> Jet {
        let guard = self.guards.remove(&id).map(|terms| self.guard(&terms));
        let jets: Vec<Jet> = self.pool.args(args).map(|arg| self.jet(arg)).collect();
        let call = Call {
            function,
            outputs: self.library.functions()[function].output_size(),
            partials: self.pool.list(partials),
            args: &jets,
            guard,
        };
        if call.partials.is_empty() {
            if !self.inlined.contains_key(&(function, args)) {
                let budget = &mut self.inline_budget;
                let outputs = inline::try_inline(&mut self.tape, self.library, &call, self.len, budget);
                self.inlined.insert((function, args), outputs);
            }
            if let Some(outputs) = &self.inlined[&(function, args)] {
                return outputs[output as usize].clone();
            }
        }
        self.tape.call_jet(self.library, &call, output, self.len)
    }

    fn guard(&mut self, terms: &[Conjunction]) -> Value {
        let mut any = self.tape.zero();
        for term in terms {
            let mut all = self.tape.constant(1.0);
            for &(condition, wanted) in term {
                let mut value = self.jet(condition).series[0];
                if !wanted {
                    value = self.tape.unary(UnaryFunction::Not, value);
                }
                all = self.tape.binary(BinaryFunction::And, all, value);
            }
            any = self.tape.binary(BinaryFunction::Or, any, all);
        }
        any
    }

    fn outputs(&mut self) -> Vec<Value> {
        let spec = self.spec;
        let roots: Vec<Jet> = spec.expressions.iter().map(|&root| self.jet(root)).collect();
        let mut values = Vec::with_capacity(spec.outputs.len());
        for output in &spec.outputs {
            self.tape.origin = Some(spec.expressions[output.expression as usize]);
            let root = &roots[output.expression as usize];
            let row = usize::from(output.order);
            let value = match output.column {
                Column::Value => self.tape.scale(root.series[row], factorial(row)),
                Column::Partial(leaf) => self.partial(root, row, leaf),
            };
            values.push(value);
        }
        values
    }

    /// The Newton steps of residuals and partials; nothing if there is no straight-line code for them.
    fn newton(&mut self, values: &[Value]) -> Vec<Value> {
        let mut residuals = Vec::new();
        let mut entries = Vec::new();
        for (output, &value) in self.spec.outputs.iter().zip(values) {
            match output.column {
                Column::Value => residuals.push(value),
                Column::Partial(leaf) => {
                    if let Some(column) = self.spec.newton.iter().position(|&unknown| unknown == leaf) {
                        entries.push((output.expression as usize, column, value));
                    }
                }
            }
        }
        if residuals.len() == self.spec.newton.len() {
            newton_steps(&mut self.tape, &residuals, &entries).unwrap_or_default()
        } else {
            Vec::new()
        }
    }

    /// ∂f^(i)/∂x^(m) = Σ_o i!/(m−o)! · (∂f/∂x^(o))_(i−(m−o)), over the orders o in which x occurs.
    fn partial(&mut self, root: &Jet, row: usize, leaf: Leaf) -> Value {
        let mut sum = self.tape.zero();
        let lowest = match leaf {
            Leaf::Var { var, .. } if self.pool.variable_traits(var).continuous => 0,
            Leaf::Var { order, .. } | Leaf::Pre { order, .. } => order,
            _ => 0,
        };
        let highest = match leaf {
            Leaf::Var { order, .. } | Leaf::Pre { order, .. } => order,
            _ => 0,
        };
        for order in lowest..=highest {
            let behind = usize::from(highest - order);
            if behind > row {
                continue;
            }
            let occurrence = match leaf {
                Leaf::Var { var, .. } => Leaf::Var { var, order },
                other => other,
            };
            let Some(&(column, _)) = self.columns.get(&occurrence) else {
                continue;
            };
            let Some(tangent) = root.tangents.get(&column) else {
                continue;
            };
            let weight = factorial(row) / factorial(behind);
            let term = self.tape.scale(tangent[row - behind], weight);
            sum = self.tape.add(sum, term);
        }
        sum
    }
}

fn factorial(n: usize) -> f64 {
    (1..=n).map(|k| k as f64).product()
}

/// The leaves whose tangents the outputs need, and how many coefficients of each.
fn columns(pool: &ExprPool, spec: &KernelSpec, order: &[ExprId]) -> FxHashMap<Leaf, (u32, usize)> {
    // For each leaf asked for, the highest row.
    let mut wanted: BTreeMap<Leaf, u16> = BTreeMap::new();
    for output in &spec.outputs {
        if let Column::Partial(leaf) = output.column {
            let row = wanted.entry(leaf).or_default();
            *row = (*row).max(output.order);
        }
    }
    let mut highest_of: FxHashMap<saltus_mdae::VarId, Vec<(u16, u16)>> = FxHashMap::default();
    for (&leaf, &row) in &wanted {
        if let Leaf::Var { var, order } = leaf {
            highest_of.entry(var).or_default().push((order, row));
        }
    }
    let mut columns = FxHashMap::default();
    for &id in order {
        let (leaf, len) = match pool.node(id) {
            Node::Var { var, order } => {
                let leaf = Leaf::Var { var, order };
                let continuous = pool.variable_traits(var).continuous;
                let lens = highest_of.get(&var).into_iter().flatten().filter_map(|&(asked, row)| {
                    let behind = asked.checked_sub(order)?;
                    (behind == 0 || continuous).then_some(())?;
                    Some(usize::from(row.checked_sub(behind)?) + 1)
                });
                (leaf, lens.max())
            }
            Node::Pre { var, order } => with_row(Leaf::Pre { var, order }, &wanted),
            Node::Time => with_row(Leaf::Time, &wanted),
            Node::Condition(condition) => with_row(Leaf::Condition(condition), &wanted),
            Node::Initial => with_row(Leaf::Initial, &wanted),
            Node::Terminal => with_row(Leaf::Terminal, &wanted),
            _ => continue,
        };
        if let Some(len) = len {
            let number = columns.len() as u32;
            columns.insert(leaf, (number, len));
        }
    }
    columns
}

fn with_row(leaf: Leaf, wanted: &BTreeMap<Leaf, u16>) -> (Leaf, Option<usize>) {
    (leaf, wanted.get(&leaf).map(|&row| usize::from(row) + 1))
}
