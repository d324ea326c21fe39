//! The array of a mode change: equations and variables at successive instants (step 6).
//!
//! `x'^m@k` is the m-th derivative of x at t* + k·ε; its class is (x, m + k). Of each (equation, class) one
//! representative is a candidate.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use saltus_graph::{Column, ComponentId, Row};
use saltus_mdae::{Derivative, ExprId, ExprPool, Node, VarId};

use super::entail::entailed;
use super::facts::FactReason;
use super::knowledge::{Known, KnownSource};
use super::oracle::Inquiry;
use super::touched_blocks::Touched;

/// `x'^m@k`
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ArrayVariable {
    /// The variable.
    pub var: VarId,
    /// Derivative order m.
    pub order: u16,
    /// Instant k.
    pub instant: u16,
}

impl ArrayVariable {
    /// The class (x, m + k).
    pub fn class(self) -> VariableClass {
        VariableClass {
            var: self.var,
            degree: self.order + self.instant,
        }
    }
}

/// All `x'^m@k` with m + k = degree: tied together by Euler identities.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VariableClass {
    /// The variable.
    pub var: VarId,
    /// m + k
    pub degree: u16,
}

/// What an array equation is an instance of.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum EquationSource {
    /// An equation of the new mode.
    Mode(Row),
    /// An equation of the transient mode.
    Transient(u32),
    /// A restart equation.
    Restart(u32),
}

/// `f'^m@k`, the name of an equation of the array.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ArrayLabel {
    /// What it is an instance of.
    pub source: EquationSource,
    /// How often it is differentiated, m.
    pub order: u16,
    /// Instant k.
    pub instant: u16,
}

/// Where in the array an equation sits.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Part {
    /// Before the last instant.
    Head,
    /// Consistency equation at the last instant.
    Tail,
    /// Equation of the transient mode.
    Transient,
    /// Restart equation, at the last instant.
    Restart,
}

/// A candidate equation of the array.
#[derive(Clone, Debug)]
pub struct ArrayEquation {
    /// Its name.
    pub label: ArrayLabel,
    /// Where it sits.
    pub part: Part,
    /// Whether it must hold; else it may be disabled.
    pub mandatory: bool,
    /// The residual in the model's variables; [`Self::dependent`] says at which instants.
    pub residual: ExprId,
    /// The array variables in it that are neither past nor known.
    pub dependent: Vec<ArrayVariable>,
    /// Augmentation order among optional equations: leading ones first.
    pub(crate) priority: u8,
}

/// An equation of the array that is a fact.
#[derive(Clone, Debug)]
pub struct FactRecord {
    /// Its name.
    pub label: ArrayLabel,
    /// The expression, with current values standing for left limits.
    pub expression: ExprId,
    /// Why it holds.
    pub reason: FactReason,
}

/// Derivatives of equations beyond the consistency equations that belong to the tail.
pub(crate) type Beyond = BTreeMap<Row, u16>;

/// The heights of the touched components.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heights {
    /// K of each touched component; the others have K = 0 and an empty array.
    pub(crate) of: BTreeMap<ComponentId, u16>,
    /// How many derivatives from the leading one on belong to the tail, by equation and the unknown matched to it, where
    /// there are any: a restart equation speaks of leading variables or their derivatives.
    pub(crate) beyond: Arc<Beyond>,
    /// The part of each component that has an array.
    pub(crate) touched: Arc<Touched>,
}

/// The array at given heights, before matching.
#[derive(Clone, Debug, Default)]
pub(crate) struct Array {
    pub(crate) candidates: Vec<ArrayEquation>,
    pub(crate) facts: Vec<FactRecord>,
    /// Past-only equations that are no facts, with whether they are mandatory.
    pub(crate) past_only: Vec<(ArrayLabel, bool)>,
    pub(crate) class_redundant: Vec<ArrayLabel>,
    /// Restart equations entailed by the tail.
    pub(crate) dropped: Vec<u32>,
}

/// Instants and status of variables at given heights.
#[derive(Copy, Clone)]
pub(crate) struct Frame<'a, 'b> {
    pub(crate) inquiry: &'a Inquiry<'b>,
    pub(crate) heights: &'a Heights,
}

impl Frame<'_, '_> {
    /// K_x; 0 for variables of untouched components, `None` for variables that are not in the new mode.
    pub(crate) fn height(&self, var: VarId) -> Option<u16> {
        let new = self.inquiry.change.new;
        let column = new.column_of(var)?;
        if !self.heights.touched.has_column(column) {
            return Some(0);
        }
        Some(
            self.heights
                .of
                .get(&new.component_of_column(column))
                .copied()
                .unwrap_or(0),
        )
    }
    /// K_f
    pub(crate) fn height_of_row(&self, row: Row) -> u16 {
        if !self.heights.touched.has_row(row) {
            return 0;
        }
        let component = self.inquiry.change.new.component_of_row(row);
        self.heights.of.get(&component).copied().unwrap_or(0)
    }
    /// The number of derivatives of an unknown that belong to the tail: d_x, more where restart equations ask for them.
    pub(crate) fn tail_orders(&self, column: Column) -> u16 {
        let new = self.inquiry.change.new;
        let beyond = self.heights.beyond.get(&new.matched_row(column));
        new.unknown_offset(column) + beyond.copied().unwrap_or(0)
    }

    /// The instant of a variable in an equation at instant `k`; variables of lower components stay at their tail.
    fn instant(&self, var: VarId, k: u16, tail: bool) -> u16 {
        match self.height(var) {
            Some(height) if tail => height,
            Some(height) => k.min(height),
            None => k,
        }
    }

    pub(crate) fn is_past(&self, variable: ArrayVariable) -> bool {
        variable.order + variable.instant < self.inquiry.past_offset(variable.var)
    }

    /// The array variable that a leaf of a residual stands for.
    pub(crate) fn array_variable(&self, var: VarId, order: u16, part: Part, k: u16) -> ArrayVariable {
        let tail = matches!(part, Part::Tail | Part::Restart);
        ArrayVariable {
            var,
            order,
            instant: self.instant(var, k, tail),
        }
    }

    fn dependent(&self, pool: &ExprPool, residual: ExprId, part: Part, k: u16) -> Vec<ArrayVariable> {
        let occurrences = pool.occurrences(residual).into_iter();
        occurrences
            .filter(|&Derivative { var, .. }| (self.inquiry.change.is_unknown)(var))
            .map(|Derivative { var, order }| self.array_variable(var, order, part, k))
            .filter(|&variable| !self.is_past(variable))
            .collect()
    }
}

/// Builds the array at the given heights.
pub(crate) fn build(pool: &mut ExprPool, inquiry: &mut Inquiry, heights: &Heights) -> Array {
    let mut builder = ArrayBuilder {
        pool,
        inquiry,
        heights,
        array: Array::default(),
    };
    for &component in heights.of.keys() {
        builder.add_component(component);
    }
    builder.add_transient();
    builder.add_restart_equations();
    let mut array = builder.array;
    let known: FxHashSet<ArrayLabel> = array.facts.iter().map(|fact| fact.label).collect();
    let past: FxHashSet<ArrayLabel> = array.past_only.iter().map(|(label, _)| *label).collect();
    let redundant = |label: &ArrayLabel| !known.contains(label) && !past.contains(label);
    array.class_redundant.retain(redundant);
    array
}

struct ArrayBuilder<'a, 'b> {
    pool: &'a mut ExprPool,
    inquiry: &'a mut Inquiry<'b>,
    heights: &'a Heights,
    array: Array,
}

impl<'b> ArrayBuilder<'_, 'b> {
    fn frame(&self) -> Frame<'_, 'b> {
        Frame {
            inquiry: self.inquiry,
            heights: self.heights,
        }
    }

    fn add_component(&mut self, component: ComponentId) {
        let new = self.inquiry.change.new;
        let heights = self.heights;
        for &row in heights.touched.rows(component) {
            let height = self.frame().height_of_row(row);
            let c = new.equation_offset(row);
            let beyond = heights.beyond.get(&row).copied().unwrap_or(0);
            let invariant = self.inquiry.is_invariant(row);
            let source = EquationSource::Mode(row);
            let label = |order, instant| ArrayLabel { source, order, instant };
            // The tail: consistency equations at the last instant, all mandatory.
            for order in 0..c + beyond {
                self.add(label(order, height), Part::Tail, true);
            }
            if self.inquiry.change.transient.is_some() && !invariant {
                continue;
            }
            // The head: one representative per class below the tail.
            for degree in 0..height {
                let order = degree.min(c);
                self.add(label(order, degree - order), Part::Head, invariant);
            }
            for instant in 0..height {
                let redundant = (height - instant..=c).map(|order| label(order, instant));
                self.array.class_redundant.extend(redundant);
            }
        }
    }

    fn add(&mut self, label: ArrayLabel, part: Part, mandatory: bool) {
        let residual = self.inquiry.residual(self.pool, label);
        let dependent = self.frame().dependent(self.pool, residual, part, label.instant);
        if dependent.is_empty() {
            return self.add_past_only(label, residual, mandatory);
        }
        let leading = match label.source {
            EquationSource::Mode(row) => label.order == self.inquiry.change.new.equation_offset(row),
            _ => true,
        };
        self.array.candidates.push(ArrayEquation {
            label,
            part,
            mandatory,
            residual,
            dependent,
            priority: if part == Part::Head { 2 - u8::from(leading) } else { 0 },
        });
    }

    fn add_past_only(&mut self, label: ArrayLabel, residual: ExprId, mandatory: bool) {
        let expression = self.inquiry.change.at_left_limits(self.pool, residual);
        match self.inquiry.fact(self.pool, expression) {
            Some(reason) => self.array.facts.push(FactRecord {
                label,
                expression,
                reason,
            }),
            None => self.array.past_only.push((label, mandatory)),
        }
    }

    /// Step 13: the head carries the transient mode's equations, without latent ones. An equation that the long mode after it
    /// has too must hold at the tail in any case; that the left limits do not satisfy it is no contradiction then (a clutch
    /// that engages at the instant of an impact elsewhere).
    fn add_transient(&mut self) {
        let equations = self.inquiry.change.transient.unwrap_or_default();
        for (position, equation) in equations.iter().enumerate() {
            let row = self.inquiry.change.new.find(equation.residual);
            if row.is_some_and(|row| self.inquiry.is_invariant(row)) {
                continue;
            }
            let label = ArrayLabel {
                source: EquationSource::Transient(position as u32),
                order: 0,
                instant: 0,
            };
            self.add(label, Part::Transient, true);
            if let (Some(_), Some((last, mandatory))) = (row, self.array.past_only.last_mut())
                && *last == label
            {
                *mandatory = false;
            }
        }
    }

    /// Step 13: T sits at the tail; what the tail's consistency equations entail is dropped, to be checked at run
    /// time.
    fn add_restart_equations(&mut self) {
        for position in 0..self.inquiry.change.restart_equations.len() {
            let label = ArrayLabel {
                source: EquationSource::Restart(position as u32),
                order: 0,
                instant: 0,
            };
            if self.is_entailed_by_tail(label) {
                self.array.dropped.push(position as u32);
            } else {
                self.add(label, Part::Restart, true);
            }
        }
    }

    fn is_entailed_by_tail(&mut self, label: ArrayLabel) -> bool {
        let (new, heights) = (self.inquiry.change.new, self.heights);
        let residual = self.inquiry.residual(self.pool, label);
        let frame = Frame {
            inquiry: self.inquiry,
            heights,
        };
        if frame.dependent(self.pool, residual, Part::Restart, 0).is_empty() {
            return false;
        }
        let target = with_past_as_left_limits(self.pool, frame, residual);
        let mentioned = self.pool.occurrences(residual).into_iter();
        let columns = mentioned.filter_map(|Derivative { var, .. }| new.column_of(var));
        let mut rows: Vec<Row> = columns.flat_map(|column| new.users(column)).collect();
        rows.sort_unstable();
        rows.dedup();
        let consistency = rows
            .into_iter()
            .flat_map(|row| (0..new.equation_offset(row)).map(move |order| (row, order)));
        // Where the restart equation speaks of leading variables, what determines them is in the tail too.
        let leading = heights.beyond.iter().flat_map(|(&row, &count)| {
            let first = new.equation_offset(row);
            (first..first + count).map(move |order| (row, order))
        });
        let mut layers = vec![self.tail_equations(consistency), self.tail_equations(leading)];
        layers.extend(self.left_limit_knowledge(target, &layers));
        layers.retain(|layer| !layer.is_empty());
        entailed(
            self.pool,
            self.inquiry.functions,
            self.inquiry.fixed,
            target,
            &layers,
            false,
        )
        .is_some()
    }

    fn tail_equations(&mut self, equations: impl Iterator<Item = (Row, u16)>) -> Vec<Known> {
        let mut found = Vec::new();
        for (row, order) in equations {
            let source = EquationSource::Mode(row);
            let instant = self.frame().height_of_row(row);
            let residual = self.inquiry.residual(self.pool, ArrayLabel { source, order, instant });
            let frame = Frame {
                inquiry: self.inquiry,
                heights: self.heights,
            };
            found.push(Known {
                residual: with_past_as_left_limits(self.pool, frame, residual),
                source: KnownSource::Consistency { row, order },
            });
        }
        found
    }

    /// What is known of the left limits in a restart equation and in the equations around it.
    fn left_limit_knowledge(&mut self, target: ExprId, layers: &[Vec<Known>]) -> Vec<Vec<Known>> {
        let around = layers.iter().flatten().map(|known| known.residual).chain([target]);
        let mut left: Vec<Derivative> = Vec::new();
        for residual in around {
            left.extend(self.pool.left_limit_occurrences(residual));
        }
        left.sort_unstable();
        left.dedup();
        // Knowledge is looked up by the variables of an expression, current values standing for left limits.
        let zero = self.pool.real(0.0);
        let question = left.iter().fold(zero, |sum, &Derivative { var, order }| {
            let value = self.pool.der_var(var, order);
            self.pool.add(sum, value)
        });
        let is_unknown = self.inquiry.change.is_unknown;
        let mut found = self.inquiry.knowledge.neighbourhood(self.pool, question);
        for known in found.iter_mut().flatten() {
            known.residual = self.pool.rewrite(&[known.residual], |pool, _, node| match node {
                Node::Var { var, order } if is_unknown(var) => Some(pool.pre_var(var, order)),
                _ => None,
            })[0];
        }
        found
    }
}

/// Tail variables that are past equal their left limits.
fn with_past_as_left_limits(pool: &mut ExprPool, frame: Frame, residual: ExprId) -> ExprId {
    pool.rewrite(&[residual], |pool, _, node| match node {
        Node::Var { var, order } if (frame.inquiry.change.is_unknown)(var) => {
            let variable = frame.array_variable(var, order, Part::Tail, 0);
            frame.is_past(variable).then(|| pool.pre_var(var, order))
        }
        _ => None,
    })[0]
}
