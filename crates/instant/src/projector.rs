//! The consistency projector of linear DAEs, for mode changes that structure alone cannot decide.
//!
//! For a regular pencil E·z' = A·z the Wong sequences V₀ = ℝⁿ, V_{i+1} = A⁻¹(E·V_i) and W₀ = {0},
//! W_{i+1} = E⁻¹(A·W_i) end in V* ⊕ W* = ℝⁿ: V* holds the consistent states, W* the directions along which impulses
//! act. The right limit of a state z⁻ is its projection onto V* along W* (T. Berger, A. Ilchmann, S. Trenn, *The
//! quasi-Weierstraß form for regular matrix pencils*, Linear Algebra Appl. 436, 2012; appendix F of RR-9603).

use rustc_hash::FxHashMap;
use saltus_graph::{Column, Row};
use saltus_mdae::eval::Environment;
use saltus_mdae::function::Functions;
use saltus_mdae::tape::{Tape, leaf_value};
use saltus_mdae::{ExprPool, Node, VarId};
use saltus_numerics::linalg::{DenseMatrix, PivotedQr, balance_pencil};
use saltus_structure::restart::ModeSystem;

use crate::solve::Impulse;

/// Systems with more states than this are not projected densely.
const STATE_LIMIT: usize = 300;
/// Relative size below which a direction counts as zero.
const RANK: f64 = 1e-10;
/// Impulses below this part of the largest count as none.
const NO_IMPULSE: f64 = 1e-9;
/// What is left of terms that cancel, in parts of them.
const ROUNDING: f64 = 1e-14;
/// Relinearisations of nonlinear constraints.
const ITERATIONS: usize = 30;
/// Relative change of coefficients of impulsive variables that counts as none.
const CONSTANT: f64 = 1e-8;

/// Why there is no projection.
#[derive(Clone, PartialEq, Debug)]
pub enum ProjectionFailure {
    /// Too many states for dense linear algebra.
    TooLarge {
        /// Number of states.
        states: usize,
    },
    /// The pencil is singular: the mode itself does not determine its unknowns.
    Irregular,
    /// Coefficients of impulsive variables change across the jump: the result would depend on how it happens.
    NotLinear,
    /// Nonlinear constraints could not be solved.
    NotConverged,
    /// A residual or derivative is not a finite number.
    NotFinite {
        /// The equation.
        row: Row,
    },
}

/// Orthonormal basis of the column space.
fn image(m: &DenseMatrix) -> DenseMatrix {
    if m.columns() == 0 {
        return DenseMatrix::zeros(m.rows(), 0);
    }
    let qr = PivotedQr::new(m, Some(RANK));
    orthogonal_factor(&qr, m.rows(), 0, qr.rank())
}

/// Orthonormal basis of the null space: the complement of the row space.
fn null_space(m: &DenseMatrix) -> DenseMatrix {
    let n = m.columns();
    let transposed = DenseMatrix::from_fn(n, m.rows(), |i, j| m[(j, i)]);
    let qr = PivotedQr::new(&transposed, Some(RANK));
    orthogonal_factor(&qr, n, qr.rank(), n)
}

/// Columns `from..to` of Q.
fn orthogonal_factor(qr: &PivotedQr, rows: usize, from: usize, to: usize) -> DenseMatrix {
    let mut q = DenseMatrix::zeros(rows, to - from);
    for i in 0..rows {
        let mut unit = vec![0.0; rows];
        unit[i] = 1.0;
        qr.apply_q_transposed(&mut unit);
        for column in from..to {
            q[(i, column - from)] = unit[column];
        }
    }
    q
}

fn times(a: &DenseMatrix, b: &DenseMatrix) -> DenseMatrix {
    let mut product = DenseMatrix::zeros(a.rows(), b.columns());
    for column in 0..b.columns() {
        let values = a.multiply(b.column(column));
        product.column_mut(column).copy_from_slice(&values);
    }
    product
}

/// {x : M·x ∈ span B} for orthonormal B.
fn preimage(m: &DenseMatrix, b: &DenseMatrix) -> DenseMatrix {
    let inside = {
        let coordinates = DenseMatrix::from_fn(b.columns(), m.columns(), |i, j| {
            b.column(i).iter().zip(m.column(j)).map(|(x, y)| x * y).sum()
        });
        times(b, &coordinates)
    };
    let outside = DenseMatrix::from_fn(m.rows(), m.columns(), |i, j| {
        let rest = m[(i, j)] - inside[(i, j)];
        // What cancels to rounding is inside.
        if rest.abs() <= 1e-13 * m[(i, j)].abs() {
            0.0
        } else {
            rest
        }
    });
    let size = m.values().iter().fold(0.0_f64, |s, v| s.max(v.abs()));
    let left = outside.values().iter().fold(0.0_f64, |s, v| s.max(v.abs()));
    if left <= RANK * size {
        return DenseMatrix::identity(m.columns());
    }
    null_space(&outside)
}

/// The limits of the Wong sequences.
#[derive(Clone, Debug)]
pub struct WongLimits {
    /// Basis of V*, the consistent states.
    pub consistent: DenseMatrix,
    /// Basis of W*, the impulsive directions.
    pub impulsive: DenseMatrix,
}

/// The limits of the Wong sequences of E·z' = A·z; `None` if the pencil is not regular.
pub fn wong_limits(e: &DenseMatrix, a: &DenseMatrix) -> Option<WongLimits> {
    let n = e.columns();
    let mut consistent = DenseMatrix::identity(n);
    let mut impulsive = DenseMatrix::zeros(n, 0);
    for _ in 0..=n {
        let next_consistent = preimage(a, &image(&times(e, &consistent)));
        let next_impulsive = preimage(e, &image(&times(a, &impulsive)));
        let settled =
            next_consistent.columns() == consistent.columns() && next_impulsive.columns() == impulsive.columns();
        consistent = next_consistent;
        impulsive = next_impulsive;
        if settled {
            break;
        }
    }
    let limits = WongLimits { consistent, impulsive };
    let regular = e.rows() == n && PivotedQr::new(&limits.joined(), Some(RANK)).rank() == n;
    (regular && limits.consistent.columns() + limits.impulsive.columns() == n).then_some(limits)
}

impl WongLimits {
    fn joined(&self) -> DenseMatrix {
        let split = self.consistent.columns();
        let columns = split + self.impulsive.columns();
        DenseMatrix::from_fn(self.consistent.rows(), columns, |i, j| {
            if j < split {
                self.consistent[(i, j)]
            } else {
                self.impulsive[(i, j - split)]
            }
        })
    }

    /// The projection of a state onto V* along W*.
    pub fn project(&self, state: &[f64]) -> Vec<f64> {
        let coordinates = PivotedQr::new(&self.joined(), Some(1e-14)).basic_solution(state);
        self.consistent.multiply(&coordinates[..self.consistent.columns()])
    }
}

impl WongLimits {
    /// The impulses Σ Z_i·δ^(i) of a jump: E·jump = A·Z_0, E·Z_{i−1} = A·Z_i in W*, on which A is one-to-one and the map
    /// nilpotent. The jump itself comes first, as the one of the integral.
    fn impulses(&self, e: &DenseMatrix, a: &DenseMatrix, jump: &[f64]) -> Vec<Vec<f64>> {
        let qr = PivotedQr::new(&times(a, &self.impulsive), Some(RANK));
        let size = jump.iter().fold(0.0_f64, |size, z| size.max(z.abs()));
        let mut found = vec![jump.to_vec()];
        for _ in 0..self.impulsive.columns() {
            let source = e.multiply(found.last().expect("the jump"));
            if source.iter().all(|part| part.abs() <= NO_IMPULSE * size) {
                break;
            }
            let coordinates = qr.basic_solution(&source);
            found.push(self.impulsive.multiply(&coordinates));
        }
        found
    }
}

/// Right limits and impulses by projection.
#[derive(Clone, PartialEq, Debug)]
pub struct Projection {
    /// Right limits of the states, `(x, m, x'^m)`.
    pub right_limits: Vec<(VarId, u16, f64)>,
    /// Impulses: of each derivative that occurs the one of highest order.
    pub impulses: Vec<Impulse>,
}

/// Right limits of the states of a part of a mode (`rows` and the unknowns matched to them) by the consistency
/// projector; other unknowns stay at their left limits. Constraints may be nonlinear, but impulsive variables must enter linearly with
/// coefficients that do not jump.
pub fn project_restart(
    pool: &ExprPool,
    functions: &Functions,
    new: &ModeSystem,
    rows: &[Row],
    environment: &dyn Environment,
) -> Result<Projection, ProjectionFailure> {
    let pencil = Pencil::new(pool, functions, new, rows, environment);
    if pencil.size() > STATE_LIMIT {
        return Err(ProjectionFailure::TooLarge { states: pencil.size() });
    }
    let (e_left, a_left) = pencil.linearise(&pencil.left_state())?;
    // What is computed from here on does not depend on units.
    let units = Units::of(&e_left, &a_left);
    let (e_left, a_left) = units.pencil(&e_left, &a_left);
    let left = units.state(&pencil.left_state());
    let linearise = |state: &[f64]| {
        let (e, a) = pencil.linearise(&units.back(state))?;
        Ok(units.pencil(&e, &a))
    };
    let mut state = left.clone();
    for _ in 0..ITERATIONS {
        let (e, a) = linearise(&state)?;
        let limits = wong_limits(&e, &a).ok_or(ProjectionFailure::Irregular)?;
        let next = limits.project(&left);
        let moved = next.iter().zip(&state).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        let size = next.iter().chain(&left).map(|x| x.abs()).fold(0.0, f64::max);
        state = next;
        if moved <= 1e-13 * size {
            let (e, a) = linearise(&state)?;
            if !pencil.same_impulsive_part(&e, &a, &e_left, &a_left) {
                return Err(ProjectionFailure::NotLinear);
            }
            let jump: Vec<f64> = state.iter().zip(&left).map(|(after, before)| after - before).collect();
            return Ok(Projection {
                impulses: pencil.impulses(&units, limits.impulses(&e, &a, &jump)),
                right_limits: pencil.right_limits(&units, &limits, (&e, &a), state),
            });
        }
    }
    Err(ProjectionFailure::NotConverged)
}

/// Units of equations, states and time in which the coefficients of a pencil are as near to one as can be.
struct Units {
    by_row: Vec<f64>,
    by_column: Vec<f64>,
    /// How fast time runs.
    rate: f64,
}

impl Units {
    fn of(e: &DenseMatrix, a: &DenseMatrix) -> Self {
        let (by_row, by_column, rate) = balance_pencil(e, a);
        Units {
            by_row,
            by_column,
            rate,
        }
    }

    /// E and A in these units.
    fn pencil(&self, e: &DenseMatrix, a: &DenseMatrix) -> (DenseMatrix, DenseMatrix) {
        let scaled = |m: &DenseMatrix, factor: f64| {
            DenseMatrix::from_fn(m.rows(), m.columns(), |i, j| {
                m[(i, j)] * self.by_row[i] * self.by_column[j] * factor
            })
        };
        (scaled(e, self.rate), scaled(a, 1.0))
    }

    fn state(&self, state: &[f64]) -> Vec<f64> {
        state.iter().zip(&self.by_column).map(|(z, unit)| z / unit).collect()
    }

    fn back(&self, state: &[f64]) -> Vec<f64> {
        state.iter().zip(&self.by_column).map(|(z, unit)| z * unit).collect()
    }

    /// A state differentiated so many times, or an impulse of minus that order.
    fn derivative(&self, state: f64, position: usize, times: i32) -> f64 {
        state * self.by_column[position] * self.rate.powi(times)
    }
}

/// A state of the first-order form.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    /// x'^m of an unknown.
    Unknown(VarId, u16),
    /// A derivative of an input; its highest one is constant.
    Input(VarId, u16),
    Time,
    /// The constant 1, for affine terms.
    One,
}

/// The mode in first-order form, inputs and constants as states of an exosystem.
struct Pencil<'a> {
    functions: &'a Functions,
    new: &'a ModeSystem,
    environment: &'a dyn Environment,
    rows: Vec<(Row, Tape)>,
    states: Vec<State>,
    number: FxHashMap<State, usize>,
    /// Highest derivative of each unknown in the equations.
    highest: FxHashMap<VarId, u16>,
    columns: Vec<Column>,
}

impl<'a> Pencil<'a> {
    fn new(
        pool: &ExprPool,
        functions: &'a Functions,
        new: &'a ModeSystem,
        rows: &[Row],
        environment: &'a dyn Environment,
    ) -> Self {
        let columns: Vec<Column> = rows.iter().map(|&row| new.matched_column(row)).collect();
        let rows: Vec<(Row, Tape)> = rows
            .iter()
            .map(|&row| (row, Tape::new(pool, new.equation(row).residual)))
            .collect();
        let mut highest: FxHashMap<VarId, u16> = FxHashMap::default();
        let mut inputs: Vec<VarId> = Vec::new();
        for &column in &columns {
            highest.insert(new.unknown(column), 0);
        }
        for leaf in rows.iter().flat_map(|(_, tape)| tape.leaves()) {
            let Node::Var { var, order } = *leaf else { continue };
            if let Some(known) = highest.get_mut(&var) {
                *known = (*known).max(order);
            } else if new.column_of(var).is_none() && pool.variable_traits(var).continuous && !inputs.contains(&var) {
                inputs.push(var);
            }
        }
        let mut pencil = Pencil {
            functions,
            new,
            environment,
            rows,
            states: vec![State::One, State::Time],
            number: FxHashMap::default(),
            highest,
            columns,
        };
        pencil.add_states(&inputs);
        pencil
    }

    fn add_states(&mut self, inputs: &[VarId]) {
        let rows = self.rows.iter();
        let depth = 2 + rows.map(|(row, _)| self.new.equation_offset(*row)).max().unwrap_or(0);
        for &var in inputs {
            self.states.extend((0..=depth).map(|order| State::Input(var, order)));
        }
        for &column in &self.columns {
            let var = self.new.unknown(column);
            let orders = self.highest[&var].max(1);
            self.states.extend((0..orders).map(|order| State::Unknown(var, order)));
        }
        self.number = self.states.iter().enumerate().map(|(i, &state)| (state, i)).collect();
    }

    fn size(&self) -> usize {
        self.states.len()
    }

    fn left_state(&self) -> Vec<f64> {
        let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
        let value = |state: &State| match *state {
            State::One => 1.0,
            State::Time => finite(self.environment.time()),
            State::Input(var, order) => finite(self.environment.variable(var, order)),
            State::Unknown(var, order) => finite(self.environment.left_limit(var, order)),
        };
        self.states.iter().map(value).collect()
    }

    /// E and A of the affine approximation around a state.
    fn linearise(&self, state: &[f64]) -> Result<(DenseMatrix, DenseMatrix), ProjectionFailure> {
        let n = self.size();
        let (mut e, mut a) = (DenseMatrix::zeros(n, n), DenseMatrix::zeros(n, n));
        let one = self.number[&State::One];
        let mut next = 0;
        for (position, &kind) in self.states.iter().enumerate() {
            let derivative = match kind {
                State::One => None,
                State::Time => Some(one),
                State::Input(var, order) => self.number.get(&State::Input(var, order + 1)).copied(),
                // The highest state's derivative is determined by the equations.
                State::Unknown(var, order) => match self.number.get(&State::Unknown(var, order + 1)) {
                    Some(&higher) => Some(higher),
                    None => continue,
                },
            };
            e[(next, position)] = 1.0;
            if let Some(derivative) = derivative {
                a[(next, derivative)] = 1.0;
            }
            next += 1;
        }
        for (row, tape) in &self.rows {
            self.linearise_row(*row, tape, state, next, &mut e, &mut a)?;
            next += 1;
        }
        Ok((e, a))
    }

    fn linearise_row(
        &self,
        row: Row,
        tape: &Tape,
        state: &[f64],
        target: usize,
        e: &mut DenseMatrix,
        a: &mut DenseMatrix,
    ) -> Result<(), ProjectionFailure> {
        let one = self.number[&State::One];
        let place = |leaf: &Node| -> Option<State> {
            match *leaf {
                Node::Var { var, order } if self.highest.contains_key(&var) => Some(State::Unknown(var, order)),
                Node::Var { var, order } => Some(State::Input(var, order)),
                Node::Time => Some(State::Time),
                _ => None,
            }
        };
        let values: Vec<f64> = tape
            .leaves()
            .iter()
            .map(|leaf| match place(leaf).map(|place| (place, self.number.get(&place))) {
                Some((_, Some(&position))) => state[position],
                // The highest derivative enters linearly: any value serves.
                Some((State::Unknown(..), None)) => 0.0,
                _ => self.frozen(*leaf),
            })
            .collect();
        let (residual, gradient) = tape.gradient(self.functions, &values);
        let finite = residual.is_finite() && gradient.iter().all(|slope| slope.is_finite());
        if !finite {
            return Err(ProjectionFailure::NotFinite { row });
        }
        let (mut constant, mut terms) = (residual, residual.abs());
        for ((leaf, slope), value) in tape.leaves().iter().zip(gradient).zip(&values) {
            match place(leaf).map(|place| (place, self.number.get(&place))) {
                Some((_, Some(&position))) => a[(target, position)] -= slope,
                Some((State::Unknown(var, order), None)) => {
                    e[(target, self.number[&State::Unknown(var, order - 1)])] += slope;
                }
                _ => continue,
            }
            constant -= slope * value;
            terms += (slope * value).abs();
        }
        // What rounding leaves of the terms is no constant.
        if constant.abs() > ROUNDING * terms {
            a[(target, one)] -= constant;
        }
        Ok(())
    }

    /// The value of a leaf that is no state: other unknowns stay at their left limits.
    fn frozen(&self, leaf: Node) -> f64 {
        match leaf {
            Node::Var { var, order } if self.new.column_of(var).is_some() => self.environment.left_limit(var, order),
            other => leaf_value(self.environment, other),
        }
    }

    /// Whether E and the columns of algebraic unknowns in A agree at two points.
    fn same_impulsive_part(&self, e: &DenseMatrix, a: &DenseMatrix, e2: &DenseMatrix, a2: &DenseMatrix) -> bool {
        let same = |x: f64, y: f64| (x - y).abs() <= CONSTANT * (1.0 + x.abs().max(y.abs()));
        let algebraic = |state: &State| matches!(state, State::Unknown(var, 0) if self.highest[var] == 0);
        e.values().iter().zip(e2.values()).all(|(&x, &y)| same(x, y))
            && self.states.iter().enumerate().all(|(position, state)| {
                let pairs = a.column(position).iter().zip(a2.column(position));
                !algebraic(state) || pairs.into_iter().all(|(&x, &y)| same(x, y))
            })
    }

    /// The impulse of highest order of each derivative that occurs, from the jump and the impulses of the states. The highest
    /// derivative of an unknown is no state: it is the derivative of one.
    fn impulses(&self, units: &Units, of_states: Vec<Vec<f64>>) -> Vec<Impulse> {
        let size = of_states.iter().flatten().fold(0.0_f64, |size, z| size.max(z.abs()));
        let mut found = Vec::new();
        for &column in &self.columns {
            let var = self.new.unknown(column);
            for order in 0..=self.highest[&var] {
                // x^(h) = d/dt x^(h−1): a jump is an impulse of order 1 there.
                let (state, raised) = match self.number.get(&State::Unknown(var, order)) {
                    Some(&state) => (state, 0),
                    None => (self.number[&State::Unknown(var, order - 1)], 1),
                };
                let orders = of_states.iter().enumerate().rev();
                let mut orders = orders.map(|(times, z)| (times, times + raised, z[state]));
                let highest = orders.find(|&(_, mu, weight)| mu > 0 && weight.abs() > NO_IMPULSE * size);
                if let Some((times, mu, weight)) = highest {
                    found.push(Impulse {
                        var,
                        order,
                        mu: mu as u32,
                        weight: units.derivative(weight, state, -(times as i32)),
                        error: 0.0,
                    });
                }
            }
        }
        found.sort_unstable_by_key(|impulse| (impulse.var, impulse.order));
        found
    }

    /// The states x'^m, m < d_x: beyond the first-order form by differentiating along V*, where E·z' = A·z.
    fn right_limits(
        &self,
        units: &Units,
        limits: &WongLimits,
        (e, a): (&DenseMatrix, &DenseMatrix),
        state: Vec<f64>,
    ) -> Vec<(VarId, u16, f64)> {
        let qr = PivotedQr::new(&times(e, &limits.consistent), Some(RANK));
        let mut derivatives = vec![state];
        let mut found = Vec::new();
        for &column in &self.columns {
            let var = self.new.unknown(column);
            let orders = self.highest[&var].max(1);
            for order in 0..self.new.unknown_offset(column) {
                let base = order.min(orders - 1);
                let times_differentiated = usize::from(order - base);
                while derivatives.len() <= times_differentiated {
                    let last = derivatives.last().expect("the state itself");
                    let coordinates = qr.basic_solution(&a.multiply(last));
                    derivatives.push(limits.consistent.multiply(&coordinates));
                }
                let position = self.number[&State::Unknown(var, base)];
                let value = derivatives[times_differentiated][position];
                found.push((
                    var,
                    order,
                    units.derivative(value, position, times_differentiated as i32),
                ));
            }
        }
        found.sort_unstable_by_key(|&(var, order, _)| (var, order));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two capacitors C₁ = 1, C₂ = 3 joined: v₁' = −i, 3·v₂' = i, 0 = v₁ − v₂.
    #[test]
    fn joined_capacitors() {
        let e = DenseMatrix::from_rows(3, 3, &[1.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
        let a = DenseMatrix::from_rows(3, 3, &[0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0, -1.0, 0.0]);
        let limits = wong_limits(&e, &a).expect("a regular pencil");
        assert_eq!((limits.consistent.columns(), limits.impulsive.columns()), (1, 2));
        let projected = limits.project(&[5.0, 1.0, 7.0]);
        for (found, wanted) in projected.iter().zip([2.0, 2.0, 0.0]) {
            assert!((found - wanted).abs() < 1e-12, "{projected:?}");
        }
    }

    /// Their charge flows at once: i = (v₁⁻ − v₁⁺)·δ.
    #[test]
    fn impulse_of_joined_capacitors() {
        let e = DenseMatrix::from_rows(3, 3, &[1.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
        let a = DenseMatrix::from_rows(3, 3, &[0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0, -1.0, 0.0]);
        let limits = wong_limits(&e, &a).expect("a regular pencil");
        let impulses = limits.impulses(&e, &a, &[-3.0, 1.0, -7.0]);
        assert_eq!(impulses.len(), 2);
        for (found, wanted) in impulses[1].iter().zip([0.0, 0.0, 3.0]) {
            assert!((found - wanted).abs() < 1e-12, "{impulses:?}");
        }
    }

    /// N·z' = z with N nilpotent of order 4 has the zero solution only.
    #[test]
    fn nilpotent_part_vanishes() {
        let n = 4;
        let e = DenseMatrix::from_fn(n, n, |i, j| if j == i + 1 { 1.0 } else { 0.0 });
        let limits = wong_limits(&e, &DenseMatrix::identity(n)).expect("a regular pencil");
        assert_eq!(limits.consistent.columns(), 0);
        assert!(limits.project(&[1.0, 2.0, 3.0, 4.0]).iter().all(|&z| z == 0.0));
    }

    #[test]
    fn singular_pencil_is_refused() {
        let e = DenseMatrix::from_rows(2, 2, &[1.0, 1.0, 0.0, 0.0]);
        let a = DenseMatrix::from_rows(2, 2, &[2.0, 2.0, 1.0, 1.0]);
        assert!(wong_limits(&e, &a).is_none());
    }
}
