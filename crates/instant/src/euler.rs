//! The limit of implicit Euler steps, h → 0: an independent way to the right limits.
//!
//! One implicit Euler step resolves an inconsistency of the first order (eq. (9) of *Hybrid and multi-mode systems*,
//! LNCS): after as many steps as equations are differentiated, the states are consistent up to O(h). Richardson
//! extrapolation over halved step sizes removes the rest. Coefficients of rates that change within a step are averaged over
//! it, as restart systems do (`integral`): a step of `(1 + 3*v^2)*der(v) = -i` conserves v + v³. Where the result depends on the scheme (a constraint
//! switched on while violated at position level), this is one of the possible answers, not the answer.

use rustc_hash::FxHashMap;
use saltus_graph::{Column, Row};
use saltus_mdae::eval::Environment;
use saltus_mdae::function::Functions;
use saltus_mdae::tape::{Tape, leaf_value};
use saltus_mdae::{Derivative, ExprId, ExprPool, Node, VarId};
use saltus_numerics::linalg::{DenseMatrix, PivotedQr};
use saltus_numerics::quadrature::integrate_over_unit;
use saltus_structure::restart::ModeSystem;

/// Largest step sizes, in units of the model's time, and how often each is halved. Small ones suit fast modes, large ones
/// lose fewer digits where steps divide by h; the extrapolation that settled best is taken.
const LARGEST_STEPS: [f64; 3] = [1e-3, 5e-5, 2.5e-6];
const HALVINGS: usize = 4;
/// An extrapolation with this relative error is good enough.
const SETTLED: f64 = 1e-11;
/// Newton iterations per step.
const ITERATIONS: usize = 60;
/// Taylor polynomials of inputs use derivatives up to this order.
const INPUT_ORDERS: u16 = 3;

/// The limit of a state or algebraic variable.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct EulerLimit {
    /// The variable.
    pub var: VarId,
    /// Derivative order, at most the highest one in the equations.
    pub order: u16,
    /// The limit; `None` if there is none (an impulse).
    pub value: Option<f64>,
}

/// Why there is no limit at all.
#[derive(Clone, PartialEq, Debug)]
pub enum EulerFailure {
    /// A step could not be solved.
    NotConverged {
        /// The step size.
        step: f64,
    },
    /// A transient mode and its restart equations do not determine a step.
    NotSquare {
        /// Number of equations.
        equations: usize,
        /// Number of unknowns.
        unknowns: usize,
    },
}

/// Limits of `steps` implicit Euler steps on a part of a mode (`rows` and the unknowns matched to them); other unknowns
/// stay at their left limits. `None`: as many steps as the most differentiated equation needs, at least one.
pub fn implicit_euler_restart(
    pool: &ExprPool,
    functions: &Functions,
    new: &ModeSystem,
    rows: &[Row],
    environment: &dyn Environment,
    steps: Option<usize>,
) -> Result<Vec<EulerLimit>, EulerFailure> {
    let scheme = Scheme::of_mode(pool, functions, new, rows, environment);
    let needed = rows.iter().map(|&row| usize::from(new.equation_offset(row))).max();
    let steps = steps.unwrap_or(needed.unwrap_or(0).max(1));
    scheme.limits(|h| scheme.run(scheme.left_limits(), h, 0, steps))
}

/// Limits through a transient mode: one step with its equations and the restart equations, all in `transient`, then as
/// many steps in the new mode as its most differentiated equation needs.
pub fn implicit_euler_through(
    pool: &ExprPool,
    functions: &Functions,
    new: &ModeSystem,
    transient: &[ExprId],
    is_unknown: &dyn Fn(VarId) -> bool,
    environment: &dyn Environment,
) -> Result<Vec<EulerLimit>, EulerFailure> {
    let rows: Vec<Row> = (0..new.equations().len()).map(Row::from_index).collect();
    let after = Scheme::of_mode(pool, functions, new, &rows, environment);
    let during = Scheme::of_equations(pool, functions, transient, is_unknown, environment);
    if during.equations.len() != during.unknowns.len() {
        return Err(EulerFailure::NotSquare {
            equations: during.equations.len(),
            unknowns: during.unknowns.len(),
        });
    }
    let steps = rows.iter().map(|&row| usize::from(new.equation_offset(row))).max();
    let place: FxHashMap<VarId, usize> = during.unknowns.iter().copied().zip(0..).collect();
    after.limits(|h| {
        let passed = during.run(during.left_limits(), h, 0, 1)?;
        let mut jets = after.left_limits();
        for (jet, var) in jets.iter_mut().zip(&after.unknowns) {
            let Some(&at) = place.get(var) else { continue };
            let count = jet.len().min(passed[at].len());
            jet[..count].copy_from_slice(&passed[at][..count]);
        }
        after.run(jets, h, 1, steps.unwrap_or(0))
    })
}

/// The limit of values at h, h/2, h/4, … and its relative error; `None` if they do not settle.
fn extrapolate(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len();
    let (before, last) = (values[n - 2], values[n - 1]);
    let settled = (last - before).abs() <= 1e-2 * (1.0 + last.abs());
    if !settled {
        return None;
    }
    let mut table = values.to_vec();
    let mut coarser = last;
    for level in 1..n {
        let factor = f64::from(1 << level);
        coarser = table[n - level];
        for i in 0..n - level {
            table[i] = (factor * table[i + 1] - table[i]) / (factor - 1.0);
        }
    }
    Some((table[0], (table[0] - coarser).abs() / (1.0 + table[0].abs())))
}

/// What a leaf of an equation stands for.
#[derive(Copy, Clone)]
enum Leaf {
    Unknown(usize, u16),
    Input(VarId, u16),
    Time,
    Known(f64),
}

struct Scheme<'a> {
    functions: &'a Functions,
    environment: &'a dyn Environment,
    equations: Vec<Tape>,
    leaves: Vec<Vec<Leaf>>,
    unknowns: Vec<VarId>,
    /// Highest derivative of each unknown in the equations.
    highest: Vec<u16>,
}

impl<'a> Scheme<'a> {
    fn of_mode(
        pool: &ExprPool,
        functions: &'a Functions,
        new: &'a ModeSystem,
        rows: &[Row],
        environment: &'a dyn Environment,
    ) -> Self {
        let columns: Vec<Column> = rows.iter().map(|&row| new.matched_column(row)).collect();
        let equations = rows.iter().map(|&row| new.equation(row).residual).collect::<Vec<_>>();
        let unknowns: Vec<VarId> = columns.iter().map(|&column| new.unknown(column)).collect();
        let elsewhere = |var: VarId| new.column_of(var).is_some();
        Self::new(pool, functions, &equations, unknowns, &elsewhere, environment)
    }

    fn of_equations(
        pool: &ExprPool,
        functions: &'a Functions,
        equations: &[ExprId],
        is_unknown: &dyn Fn(VarId) -> bool,
        environment: &'a dyn Environment,
    ) -> Self {
        let occurring = equations.iter().flat_map(|&equation| pool.occurrences(equation));
        let mut unknowns: Vec<VarId> = occurring
            .map(|Derivative { var, .. }| var)
            .filter(|&var| is_unknown(var))
            .collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        Self::new(pool, functions, equations, unknowns, is_unknown, environment)
    }

    /// `elsewhere`: unknowns of the model that are not unknowns of the scheme stay at their left limits.
    fn new(
        pool: &ExprPool,
        functions: &'a Functions,
        equations: &[ExprId],
        unknowns: Vec<VarId>,
        elsewhere: &dyn Fn(VarId) -> bool,
        environment: &'a dyn Environment,
    ) -> Self {
        let equations: Vec<Tape> = equations.iter().map(|&equation| Tape::new(pool, equation)).collect();
        let number: FxHashMap<VarId, usize> = unknowns.iter().enumerate().map(|(i, &var)| (var, i)).collect();
        let mut highest = vec![0; unknowns.len()];
        let mut classify = |&leaf: &Node| match leaf {
            Node::Var { var, order } => match number.get(&var) {
                Some(&unknown) => {
                    highest[unknown] = order.max(highest[unknown]);
                    Leaf::Unknown(unknown, order)
                }
                None if elsewhere(var) => Leaf::Known(environment.left_limit(var, order)),
                None if pool.variable_traits(var).continuous => Leaf::Input(var, order),
                None => Leaf::Known(environment.variable(var, order)),
            },
            Node::Time => Leaf::Time,
            other => Leaf::Known(leaf_value(environment, other)),
        };
        let leaves = equations
            .iter()
            .map(|tape| tape.leaves().iter().map(&mut classify).collect())
            .collect();
        Scheme {
            functions,
            environment,
            equations,
            leaves,
            unknowns,
            highest,
        }
    }

    fn names(&self) -> Vec<Derivative> {
        let pairs = self.unknowns.iter().zip(&self.highest);
        pairs
            .flat_map(|(&var, &highest)| (0..=highest).map(move |order| Derivative { var, order }))
            .collect()
    }

    /// What the results of `run` tend to for vanishing step sizes.
    fn limits(&self, run: impl Fn(f64) -> Option<Vec<Vec<f64>>>) -> Result<Vec<EulerLimit>, EulerFailure> {
        let names = self.names();
        let mut best: Vec<Option<(f64, f64)>> = vec![None; names.len()];
        let mut failure = None;
        for largest in LARGEST_STEPS {
            let mut results: Vec<Vec<f64>> = Vec::new();
            for halving in 0..=HALVINGS {
                let step = largest / f64::from(1 << halving);
                match run(step) {
                    Some(jets) => results.push(jets.into_iter().flatten().collect()),
                    None => failure = failure.or(Some(EulerFailure::NotConverged { step })),
                }
            }
            if results.len() <= HALVINGS {
                continue;
            }
            for (i, best) in best.iter_mut().enumerate() {
                let values: Vec<f64> = results.iter().map(|values| values[i]).collect();
                if let Some((limit, error)) = extrapolate(&values)
                    && best.is_none_or(|(_, least)| error < least)
                {
                    *best = Some((limit, error));
                }
            }
            failure = None;
            if best.iter().all(|best| best.is_some_and(|(_, error)| error <= SETTLED)) {
                break;
            }
        }
        match failure {
            Some(failure) if best.iter().all(Option::is_none) => Err(failure),
            _ => Ok(names
                .into_iter()
                .zip(best)
                .map(|(Derivative { var, order }, best)| EulerLimit {
                    var,
                    order,
                    value: best.map(|(limit, _)| limit),
                })
                .collect()),
        }
    }

    /// The derivatives of all unknowns at the left limits.
    fn left_limits(&self) -> Vec<Vec<f64>> {
        let left = |var: VarId, order: u16| {
            let value = self.environment.left_limit(var, order);
            if value.is_finite() { value } else { 0.0 }
        };
        let pairs = self.unknowns.iter().zip(&self.highest);
        pairs
            .map(|(&var, &highest)| (0..=highest).map(|order| left(var, order)).collect())
            .collect()
    }

    /// All derivatives after some steps, when `before` steps have been taken already.
    fn run(&self, mut jets: Vec<Vec<f64>>, h: f64, before: usize, steps: usize) -> Option<Vec<Vec<f64>>> {
        for step in before + 1..=before + steps {
            jets = self.step(&jets, h, step as f64 * h)?;
        }
        Some(jets)
    }

    /// The unknown of the step is the derivative below the highest one (or the algebraic variable itself): finite
    /// where its derivative is an impulse.
    fn jet(&self, old: &[f64], unknown: f64, h: f64) -> Vec<f64> {
        let highest = old.len() - 1;
        let mut jet = vec![0.0; old.len()];
        if highest == 0 {
            jet[0] = unknown;
            return jet;
        }
        jet[highest - 1] = unknown;
        jet[highest] = (unknown - old[highest - 1]) / h;
        for order in (0..highest - 1).rev() {
            jet[order] = old[order] + h * jet[order + 1];
        }
        jet
    }

    /// How a derivative changes with the unknown of the step.
    fn slope(highest: u16, order: u16, h: f64) -> f64 {
        match highest {
            0 => 1.0,
            _ => h.powi(i32::from(highest) - 1 - i32::from(order)),
        }
    }

    fn step(&self, old: &[Vec<f64>], h: f64, elapsed: f64) -> Option<Vec<Vec<f64>>> {
        let n = self.unknowns.len();
        let mut w: Vec<f64> = old.iter().map(|jet| jet[jet.len().saturating_sub(2)]).collect();
        let mut before = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let jets: Vec<Vec<f64>> = old.iter().zip(&w).map(|(old, &w)| self.jet(old, w, h)).collect();
            let mut jacobian = DenseMatrix::zeros(n, n);
            let mut residual = vec![0.0; n];
            for (row, tape) in self.equations.iter().enumerate() {
                let values: Vec<f64> = self.leaves[row]
                    .iter()
                    .map(|&leaf| self.value(leaf, &jets, elapsed))
                    .collect();
                let (value, gradient) = self.gradient(row, tape, values, old)?;
                residual[row] = value;
                for (leaf, slope) in self.leaves[row].iter().zip(gradient) {
                    if let Leaf::Unknown(unknown, order) = *leaf {
                        jacobian[(row, unknown)] += slope * Self::slope(self.highest[unknown], order, h);
                    }
                }
            }
            equilibrate(&mut jacobian, &mut residual);
            if residual.iter().chain(jacobian.values()).any(|v: &f64| !v.is_finite()) {
                return None;
            }
            let qr = PivotedQr::new(&jacobian, Some(1e-15));
            if qr.rank() < n {
                return None;
            }
            let step = qr.basic_solution(&residual);
            let moved = step
                .iter()
                .zip(&w)
                .map(|(s, w)| s.abs() / (1.0 + w.abs()))
                .fold(0.0, f64::max);
            w.iter_mut().zip(&step).for_each(|(w, s)| *w -= s);
            // Rounding of order ε/h² in multipliers keeps the step from vanishing; what stagnates small is converged.
            let settled = moved <= 1e-13 || (moved <= 1e-6 && moved >= 0.25 * before);
            before = moved;
            if settled {
                return Some(old.iter().zip(&w).map(|(old, &w)| self.jet(old, w, h)).collect());
            }
        }
        None
    }

    /// A residual and its derivative by each leaf; what rates are multiplied by is averaged over the step.
    fn gradient(&self, row: usize, tape: &Tape, values: Vec<f64>, old: &[Vec<f64>]) -> Option<(f64, Vec<f64>)> {
        let leaves = &self.leaves[row];
        let before = |leaf: &Leaf| match *leaf {
            // The unknown of the step, which moves.
            Leaf::Unknown(unknown, order) if order + 1 == self.highest[unknown] => {
                Some(old[unknown][usize::from(order)])
            }
            _ => None,
        };
        let is_rate = |leaf: &Leaf| match *leaf {
            Leaf::Unknown(unknown, order) => order > 0 && order == self.highest[unknown],
            _ => false,
        };
        let at = |way: f64, with_rates: bool| {
            let place = |(leaf, &value): (&Leaf, &f64)| match before(leaf) {
                _ if is_rate(leaf) => {
                    if with_rates {
                        value
                    } else {
                        0.0
                    }
                }
                Some(before) => before + way * (value - before),
                None => value,
            };
            let values: Vec<f64> = leaves.iter().zip(&values).map(place).collect();
            tape.gradient(self.functions, &values)
        };
        let (first, last) = (at(0.0, true), at(1.0, true));
        let changes =
            |(leaf, (a, b)): (&Leaf, (&f64, &f64))| is_rate(leaf) && (a - b).abs() > 1e-14 * (a.abs() + b.abs());
        if !leaves.iter().zip(first.1.iter().zip(&last.1)).any(changes) {
            return Some(last);
        }
        let (mut value, mut gradient) = at(1.0, false);
        let integrals =
            integrate_over_unit(
                |way| {
                    let ((with, by), (without, by_without)) = (at(way, true), at(way, false));
                    let mut all = vec![with - without];
                    all.extend(leaves.iter().zip(by.iter().zip(by_without)).map(
                        |(leaf, (&with, without))| match before(leaf) {
                            _ if is_rate(leaf) => with,
                            Some(_) => way * (with - without),
                            None => with - without,
                        },
                    ));
                    all
                },
                1e-13,
                0.0,
            )?;
        value += integrals[0];
        for ((leaf, slope), integral) in leaves.iter().zip(&mut gradient).zip(&integrals[1..]) {
            *slope = if is_rate(leaf) { *integral } else { *slope + integral };
        }
        Some((value, gradient))
    }

    fn value(&self, leaf: Leaf, jets: &[Vec<f64>], elapsed: f64) -> f64 {
        match leaf {
            Leaf::Unknown(unknown, order) => jets[unknown][usize::from(order)],
            Leaf::Known(value) => value,
            Leaf::Time => self.environment.time() + elapsed,
            Leaf::Input(var, order) => {
                let mut sum = self.environment.variable(var, order);
                let mut factor = 1.0;
                for i in 1..=INPUT_ORDERS {
                    factor *= elapsed / f64::from(i);
                    let derivative = self.environment.variable(var, order + i);
                    sum += factor * if derivative.is_finite() { derivative } else { 0.0 };
                }
                sum
            }
        }
    }
}

/// Rows scaled to one.
fn equilibrate(jacobian: &mut DenseMatrix, residual: &mut [f64]) {
    for (row, value) in residual.iter_mut().enumerate() {
        let columns = 0..jacobian.columns();
        let size = columns
            .clone()
            .fold(0.0_f64, |s, column| s.max(jacobian[(row, column)].abs()));
        if size > 0.0 {
            columns.for_each(|column| jacobian[(row, column)] /= size);
            *value /= size;
        }
    }
}
