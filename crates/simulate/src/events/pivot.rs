//! Modes by complementarity pivoting.
//!
//! An ideal diode is a curve with two branches that meet at a point: with g its switching function, one branch holds for
//! g > 0, the other for g ≤ 0, and at g = 0 they agree. Written from the point where they meet, everything on the curve is
//! w·(one direction) + z·(the other), with w, z ≥ 0 and one of them zero. The equations at the instant are linear in these
//! variables, so that all elements together are a linear complementarity problem w = Mz + q: M and q come from the
//! Jacobian of any one regular mode, and Lemke's method finds the branches of all elements at once.
//!
//! Which conditions have this form is found from numbers at the instant, not from how the model is written. Let B be the
//! equations that hold in the mode at hand and not with the condition flipped, O those that take their place, and g the
//! condition function, all linearised in the unknowns of the instant (leading derivatives and algebraic variables). The
//! form is there if every row of O is a combination of the rows of B and g, and O holds where B does and g = 0. What has
//! not this form keeps its truth value. The answer is a candidate like any other: it is checked by its own conditions.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_codegen::{KernelSpec, Leaf};
use saltus_instant::discrete;
use saltus_mdae::{ConditionId, Derivative, EquationId, Role, VarId};
use saltus_numerics::complementarity::solve_lcp;
use saltus_numerics::linalg::{DenseMatrix, Factorisation, MatrixStructure, PivotedQr, SparsityPattern};
use saltus_structure::mode::Valuation;

use crate::engine::{Engine, ModeId};
use crate::events::candidate::Instant;
use crate::events::condition::Decided;
use crate::events::discrete::Triggered;
use crate::events::iteration::Truths;
use crate::kernel::Bound;
use crate::memory::Memory;

/// Larger systems are left to the search.
const MOST_UNKNOWNS: usize = 4000;
/// Relative size below which a coefficient of an element counts as zero.
const SMALL: f64 = 1e-9;
/// Branches that miss each other by more than this, relative to the values on them, do not meet.
const GAP: f64 = 1e-6;

/// An equation with its residual and partial derivatives by the unknowns in it.
#[derive(Clone, Debug)]
struct Row {
    leaves: Vec<Derivative>,
    /// Discrete variables in it.
    switches: Vec<VarId>,
    code: Bound,
}

/// Compiled rows, by equation.
#[derive(Clone, Debug, Default)]
pub(crate) struct PivotRows(FxHashMap<EquationId, Option<Row>>);

/// A linear function of the unknowns of the instant: value and sparse gradient by column.
#[derive(Clone, Debug, Default)]
struct Linear {
    value: f64,
    gradient: Vec<(usize, f64)>,
}

/// The unknowns of the instant: (x, d_x) for every unknown of the mode.
struct Columns {
    of: FxHashMap<VarId, (usize, u16)>,
}

impl Columns {
    /// The gradient of a row that is differentiated `differentiations` times; `None` if it reads derivatives beyond the
    /// leading ones, which are no unknowns here.
    fn linear(&self, row: &Row, memory: &Memory, differentiations: u16) -> Option<Linear> {
        let mut out = vec![0.0; 1 + row.leaves.len()];
        row.code.evaluate(memory, &mut out);
        if out.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let mut gradient = Vec::new();
        for (&Derivative { var, order }, &slope) in row.leaves.iter().zip(&out[1..]) {
            let &(column, highest) = self.of.get(&var)?;
            match (order + differentiations).cmp(&highest) {
                std::cmp::Ordering::Greater => return None,
                std::cmp::Ordering::Equal if slope != 0.0 => gradient.push((column, slope)),
                _ => {}
            }
        }
        Some(Linear {
            value: out[0],
            gradient,
        })
    }
}

/// A condition with two branches that meet.
struct Element {
    condition: ConditionId,
    /// 1 if the condition holds in the mode at hand, -1 if not.
    sign: f64,
    /// The condition function.
    function: Linear,
    /// What the other branch leaves in the equations of this one, per unit of z: pairs of row and residual.
    residuals: Vec<(usize, f64)>,
}

/// The regular mode from which the others are seen.
struct Base<'a> {
    truths: &'a Truths,
    valuation: Valuation,
    triggered: Triggered,
    /// Its equations, linearised.
    rows: Vec<Linear>,
    place: FxHashMap<EquationId, usize>,
    /// c by row.
    differentiations: Vec<u16>,
    columns: Columns,
}

/// Slopes by unknowns and their derivatives.
pub(crate) type Gradient = Vec<(Derivative, f64)>;

impl Engine {
    /// The mode that complementarity pivoting proposes, from a regular one. Memory is as before afterwards.
    pub(crate) fn pivoted(&mut self, from: &Truths, instant: &Instant) -> Option<Truths> {
        let free = instant.held.iter().filter(|held| held.is_none()).count();
        if free < 2 {
            return None;
        }
        let found = self.pivoted_here(from, instant);
        self.memory.values.copy_from_slice(&instant.saved);
        self.forget_derivatives();
        found
    }

    fn pivoted_here(&mut self, from: &Truths, instant: &Instant) -> Option<Truths> {
        let (mode, valuation, triggered) = self.enter_for_pivoting(from, instant)?;
        let structure = &self.modes[mode].structure;
        if structure.unknowns.len() > MOST_UNKNOWNS {
            return None;
        }
        let equations = structure.equations.clone();
        let differentiations = structure.sigma.c.clone();
        let columns = Columns {
            of: structure
                .unknowns
                .iter()
                .zip(&structure.sigma.d)
                .enumerate()
                .map(|(at, (&var, &d))| (var, (at, d)))
                .collect(),
        };
        let rows: Vec<Linear> = equations
            .iter()
            .zip(&differentiations)
            .map(|(&equation, &c)| self.pivot_row(equation, &columns, c))
            .collect::<Option<_>>()?;
        let place: FxHashMap<EquationId, usize> = equations.iter().copied().zip(0..).collect();
        let base = Base {
            truths: from,
            valuation,
            triggered,
            rows,
            place,
            differentiations,
            columns,
        };
        let model = Arc::clone(&self.model);
        let mut elements: Vec<Element> = Vec::new();
        for id in model.conditions.ids() {
            if self.may_pivot(id, instant) {
                elements.extend(self.element(id, &base));
            }
        }
        if elements.len() < 2 {
            return None;
        }
        let flipped = solve_elements(&base.rows, &elements)?;
        let mut truths = from.clone();
        for at in flipped {
            let condition = elements[at].condition;
            truths[condition] = !truths[condition];
        }
        Some(truths)
    }

    /// Puts the right limits of a mode into memory; not for instants with restart equations.
    fn enter_for_pivoting(&mut self, truths: &Truths, instant: &Instant) -> Option<(ModeId, Valuation, Triggered)> {
        self.memory.values.copy_from_slice(&instant.saved);
        self.forget_derivatives();
        self.set_truths(truths);
        let before = self.when_before.clone();
        let triggered = self.discrete.compute(&self.model, &mut self.memory, &before);
        let restarts = !discrete::restart_equations(&self.model, &triggered.branches).is_empty();
        if restarts || !discrete::reinits(&self.model, &triggered.branches).is_empty() {
            return None;
        }
        let valuation = self.evaluate_guards();
        let mode = self.mode_of(&valuation).ok()?;
        self.restart(mode, &[], None, instant).ok()?;
        Some((mode, valuation, triggered))
    }

    fn may_pivot(&self, id: ConditionId, instant: &Instant) -> bool {
        let monitor = self.monitors[id].as_ref();
        let switches = monitor.is_some_and(|m| m.decided == Decided::ByCandidate || m.latches_equations);
        switches && instant.held[id].is_none()
    }

    /// The unknowns in an equation.
    pub(crate) fn pivot_leaves(&mut self, equation: EquationId) -> Option<Vec<Derivative>> {
        Some(self.row_of(equation)?.leaves.clone())
    }

    /// The residual of an equation at the values in memory and its slopes by the unknowns.
    pub(crate) fn pivot_gradient(&mut self, equation: EquationId) -> Option<(f64, Gradient)> {
        self.row_of(equation)?;
        let row = self.pivot_rows.0[&equation].as_ref()?;
        let mut out = vec![0.0; 1 + row.leaves.len()];
        row.code.evaluate(&self.memory, &mut out);
        let slopes = row.leaves.iter().copied().zip(out[1..].iter().copied());
        out.iter()
            .all(|value| value.is_finite())
            .then(|| (out[0], slopes.collect()))
    }

    fn row_of(&mut self, equation: EquationId) -> Option<&Row> {
        if !self.pivot_rows.0.contains_key(&equation) {
            let row = self.compiled_row(equation);
            self.pivot_rows.0.insert(equation, row);
        }
        self.pivot_rows.0[&equation].as_ref()
    }

    fn pivot_row(&mut self, equation: EquationId, columns: &Columns, differentiations: u16) -> Option<Linear> {
        self.row_of(equation)?;
        let row = self.pivot_rows.0[&equation].as_ref()?;
        columns.linear(row, &self.memory, differentiations)
    }

    fn compiled_row(&self, equation: EquationId) -> Option<Row> {
        let residual = self.model.equations[equation].residual;
        let occurrences = self.pool.occurrences(residual).into_iter();
        let (leaves, others): (Vec<_>, Vec<_>) =
            occurrences.partition(|&Derivative { var, .. }| self.model.is_unknown(var));
        let discrete = |var: &VarId| self.model.variables[*var].role == Role::Discrete;
        let switches = others
            .into_iter()
            .map(|Derivative { var, .. }| var)
            .filter(discrete)
            .collect();
        let partials: Vec<Leaf> = leaves
            .iter()
            .map(|&Derivative { var, order }| Leaf::var(var, order))
            .collect();
        let spec = KernelSpec::matrix(&[residual], 0..=0, &partials);
        let code = Bound::new(&self.cache, &self.pool, &spec, &self.memory).ok()?;
        Some(Row { leaves, switches, code })
    }

    /// A condition as an element, if its branches meet.
    fn element(&mut self, id: ConditionId, base: &Base<'_>) -> Option<Element> {
        let monitor = self.monitors[id].clone()?;
        let reading = monitor.read(0, true, &self.memory, &self.scales, &mut self.scratch);
        let gradient = monitor.gradient(&self.memory);
        let mut function = Linear {
            value: reading.value,
            gradient: Vec::new(),
        };
        for (Derivative { var, order }, slope) in gradient {
            match base.columns.of.get(&var) {
                Some(&(column, highest)) if order == highest => function.gradient.push((column, slope)),
                Some(&(_, highest)) if order > highest => return None,
                _ => {}
            }
        }
        if !function.value.is_finite() || function.gradient.is_empty() {
            return None;
        }
        let (here, there) = self.branches(id, base)?;
        if here.iter().any(|&row| base.differentiations[row] > 0) {
            return None;
        }
        let of_here: Vec<&Linear> = here.iter().map(|&row| &base.rows[row]).collect();
        let ratios = other_ray(&of_here, &there, &function)?;
        let sign = if base.truths[id] { 1.0 } else { -1.0 };
        Some(Element {
            condition: id,
            sign,
            function,
            residuals: here
                .iter()
                .zip(ratios)
                .map(|(&row, ratio)| (row, -sign * ratio))
                .collect(),
        })
    }

    /// The rows that hold with the condition as it is and change with it, and what takes their place.
    fn branches(&mut self, id: ConditionId, base: &Base<'_>) -> Option<(Vec<usize>, Vec<Linear>)> {
        let here = self.memory.values.clone();
        let mut flipped = base.truths.clone();
        flipped[id] = !flipped[id];
        self.set_truths(&flipped);
        let before = self.when_before.clone();
        let acts = self.discrete.compute(&self.model, &mut self.memory, &before) != base.triggered;
        let other = self.evaluate_guards();
        let changed: Vec<VarId> = self
            .discrete
            .variables
            .iter()
            .copied()
            .filter(|&var| self.memory.get(var, 0) != here[self.memory.slot(var, 0) as usize])
            .collect();
        let mut rows: Vec<usize> = Vec::new();
        let mut replacements: Vec<EquationId> = Vec::new();
        for guard in base.valuation.difference(&other) {
            for &equation in self.compiled.modes().equations_of(guard) {
                match base.place.get(&equation) {
                    Some(&row) => rows.push(row),
                    None => replacements.push(equation),
                }
            }
        }
        let mut placed: Vec<_> = base.place.iter().map(|(&equation, &row)| (equation, row)).collect();
        placed.sort_unstable();
        for (equation, row) in placed {
            let compiled = self.pivot_rows.0.get(&equation).and_then(Option::as_ref);
            let switches = compiled.map_or(&[][..], |compiled| &compiled.switches);
            let switched = self.compiled.conditions_in_residual(equation).contains(&id)
                || switches.iter().any(|var| changed.contains(var));
            if switched && !rows.contains(&row) {
                rows.push(row);
                replacements.push(equation);
            }
        }
        rows.sort_unstable();
        replacements.sort_unstable();
        let there: Option<Vec<Linear>> = replacements
            .iter()
            .map(|&equation| self.pivot_row(equation, &base.columns, 0))
            .collect();
        self.memory.values.copy_from_slice(&here);
        let there = there?;
        (!acts && !rows.is_empty() && rows.len() == there.len()).then_some((rows, there))
    }
}

/// The direction of the other branch in terms of this one's equations and the condition function: β with
/// O = A·B + b·g, Aβ = -b. `None` if O is no such combination, or the branches do not meet.
fn other_ray(here: &[&Linear], there: &[Linear], function: &Linear) -> Option<Vec<f64>> {
    let count = here.len();
    let mut columns: Vec<usize> = here
        .iter()
        .copied()
        .chain(there)
        .chain([function])
        .flat_map(|row| row.gradient.iter().map(|&(column, _)| column))
        .collect();
    columns.sort_unstable();
    columns.dedup();
    let dense = |row: &Linear| {
        let mut values = vec![0.0; columns.len()];
        for &(column, slope) in &row.gradient {
            values[columns.binary_search(&column).expect("listed")] += slope;
        }
        values
    };
    // Columns of the matrix are the rows of B and g: combinations of them are sought.
    let basis: Vec<Vec<f64>> = here.iter().map(|row| dense(row)).chain([dense(function)]).collect();
    let matrix = DenseMatrix::from_fn(columns.len(), count + 1, |r, c| basis[c][r]);
    let qr = PivotedQr::new(&matrix, Some(SMALL));
    if qr.rank() < count + 1 {
        return None;
    }
    let mut a = DenseMatrix::zeros(count, count);
    let mut b = vec![0.0; count];
    for (at, row) in there.iter().enumerate() {
        let target = dense(row);
        let combination = qr.basic_solution(&target);
        let size = target.iter().fold(0.0, |size: f64, v| size.max(v.abs()));
        let product = matrix.multiply(&combination);
        let off = product
            .iter()
            .zip(&target)
            .map(|(p, t)| (p - t).abs())
            .fold(0.0, f64::max);
        if off > SMALL * size.max(f64::MIN_POSITIVE) {
            return None;
        }
        // Where B = 0 and g = 0: the value of O there must be zero too.
        let step = combination[count] * function.value;
        if (row.value - step).abs() > GAP * (row.value.abs() + step.abs()) + 1e-12 * size {
            return None;
        }
        for (column, &coefficient) in combination[..count].iter().enumerate() {
            a.column_mut(column)[at] = coefficient;
        }
        b[at] = -combination[count];
    }
    let qr = PivotedQr::new(&a, Some(SMALL));
    (qr.rank() == count).then(|| qr.basic_solution(&b))
}

/// The elements whose other branch holds.
fn solve_elements(rows: &[Linear], elements: &[Element]) -> Option<Vec<usize>> {
    let size = rows.len();
    let entries = rows
        .iter()
        .enumerate()
        .flat_map(|(row, linear)| linear.gradient.iter().map(move |&(c, _)| (row, c)));
    let pattern = SparsityPattern::from_entries(size, size, entries);
    let mut values = vec![0.0; pattern.len()];
    for (row, linear) in rows.iter().enumerate() {
        for &(column, slope) in &linear.gradient {
            values[pattern.position(row, column)?] += slope;
        }
    }
    let mut factorisation = Factorisation::new(MatrixStructure::Sparse(pattern));
    factorisation.factor(&values).ok()?;
    let count = elements.len();
    let mut m = DenseMatrix::zeros(count, count);
    let mut response = vec![0.0; size];
    for (at, element) in elements.iter().enumerate() {
        response.fill(0.0);
        for &(row, residual) in &element.residuals {
            response[row] = residual;
        }
        factorisation.solve(&mut response);
        for (to, other) in elements.iter().enumerate() {
            let change: f64 = other
                .function
                .gradient
                .iter()
                .map(|&(c, slope)| slope * response[c])
                .sum();
            m.column_mut(at)[to] = other.sign * change + if to == at { 1.0 } else { 0.0 };
        }
    }
    let q: Vec<f64> = elements
        .iter()
        .map(|element| element.sign * element.function.value)
        .collect();
    let solution = solve_lcp(&m, &q, None).ok()?;
    Some((0..count).filter(|&at| solution.z[at] > solution.w[at]).collect())
}
