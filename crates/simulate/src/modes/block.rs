//! Square systems of equations solved in place in the value memory.

use saltus_codegen::{CompileError, KernelCache, Leaf, System, SystemError};
use saltus_graph::{Column, WeightedBipartite, highest_value_transversal};
use saltus_mdae::{Derivative, ExprId, ExprPool, OriginId, VarId};
use saltus_numerics::EvalError;
use saltus_numerics::linalg::{Factorisation, MatrixStructure, SparsityPattern};
use saltus_numerics::nonlinear::{NewtonOptions, NonlinearSystem, SolveFailure, follow_arc, solve_newton};

use crate::error::{Failure, FailureKind};
use crate::events::response::Blur;
use crate::kernel::slot_of;
use crate::memory::Memory;
use crate::modes::plan::Source;
use crate::modes::vanished::{Around, Linear};

/// Newton iterations before a block is given up.
const ITERATION_LIMIT: u32 = 60;
/// Halvings of a Newton step that makes things worse.
const HALVING_LIMIT: u32 = 12;
/// Relative size of a Newton step that counts as converged: the integrator must not see the iteration.
const STEP_TOLERANCE: f64 = 1e-13;
/// Newton iterations without safeguards, from a guess that was the solution a moment ago.
const FOLLOWING_LIMIT: u32 = 6;
/// Steps must shrink by this factor then: that proves a solution nearby (Kantorovich).
const FOLLOWING_RATE: f64 = 0.5;
/// While steps shrink by this factor, the Jacobian of the first serves for the next: residuals and a substitution cost a
/// fraction of derivatives and a factorisation.
const KEPT_JACOBIAN_RATE: f64 = 0.1;
/// Relative size of steps that do not shrink any more because residuals are all rounding.
const ROUNDING_STEP: f64 = 1e-10;
/// Sweeps over all equations of a block to improve a bad guess.
const RELAXATION_SWEEPS: u32 = 4;

/// A pivot this much smaller than its terms is rounding noise.
const CANCELLED_PIVOT: f64 = 1e-9;
/// Straight-line code is compared at every so many solutions that count.
const CHECK_INTERVAL: u32 = 16;
/// Relative difference of steps found by straight-line code and with pivots chosen by size.
const AGREEMENT: f64 = 1e-6;
/// What the second step of a linear system may change.
const REFINEMENT: f64 = 1e-9;

/// A linear step that shrinks everything by more than this has lost too many digits.
const CANCELLATION: f64 = 1e-6;

/// Why a block could not be solved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BlockFailure {
    /// The Jacobian is singular at this column.
    Singular { column: usize },
    /// The iteration does not settle; the largest residual and where it is.
    Diverged { equation: usize, residual: f64 },
    /// An equation is not a number there.
    Undefined { equation: usize },
}

/// How a block is solved.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// Linear systems with pivots chosen by size; where there is straight-line code for the steps, it is compared, and
    /// used while that is good.
    Checked,
    /// Steps by straight-line code if the last comparison was good.
    Quick,
}

/// What is known of the straight-line code for steps.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Trust {
    Unknown,
    Good,
    /// Its pivots do not suit the numbers.
    Bad,
}

/// A square system: equations (with an order of differentiation) and the values they determine.
#[derive(Clone, Debug)]
pub(crate) struct BlockSolver {
    system: System,
    slots: Vec<u32>,
    factorisation: Factorisation,
    linear: bool,
    residual: Vec<f64>,
    jacobian: Vec<f64>,
    /// The Jacobian that `factorisation` holds; empty before the first. Linear blocks mostly have constant ones.
    factored: Vec<f64>,
    step: Vec<f64>,
    /// Residuals and Jacobian where they are computed together.
    together: Vec<f64>,
    trust: Trust,
    care: Care,
    /// Solutions that count since the code was last compared.
    since_check: u32,
    /// The values that an iteration began with.
    guess: Vec<f64>,
    nominal: Vec<f64>,
    /// A simplified form of the equations whose solution is a better first guess where the given one fails.
    simplified: Option<Box<BlockSolver>>,
    /// Newton iterations so far.
    pub iterations: u64,
    /// What the last attempt of the trust region saw, if it failed.
    last_attempt: Option<Box<SolveFailure>>,
    /// Whether the last solution was not found by Newton's method from the guess, and may be another than the one near it.
    strayed: bool,
    /// Unknowns that nothing determined at the last solution, because their coefficients are zero: they kept their values.
    kept: Vec<usize>,
    /// Unknowns that may keep their values; none unless it is said.
    may_keep: Vec<bool>,
    /// For messages.
    pub unknowns: Vec<Derivative>,
    pub origins: Vec<OriginId>,
}

/// What a solver has found out about its equations. Solutions depend on it in their last digits.
#[derive(Clone, Debug)]
pub(crate) struct Learnt {
    trust: Trust,
    since_check: u32,
    iterations: u64,
    /// The order of the pivots and the matrix it was last used for. Dense matrices get theirs anew each time.
    pivots: Option<Box<(Factorisation, Vec<f64>)>>,
    simplified: Option<Box<Learnt>>,
}

/// What a solver knows at one point: a look aside must not change how it goes on.
#[derive(Debug)]
pub(crate) struct Known {
    trust: Trust,
    since_check: u32,
    pivots: Option<Box<(Factorisation, Vec<f64>)>>,
    simplified: Option<Box<Known>>,
}

impl BlockSolver {
    /// What it knows now.
    pub(crate) fn known(&self) -> Known {
        let pivots = self.factorisation.keeps_pivots() && !self.slots.is_empty();
        Known {
            trust: self.trust,
            since_check: self.since_check,
            pivots: pivots.then(|| Box::new((self.factorisation.clone(), self.factored.clone()))),
            simplified: self.simplified.as_ref().map(|solver| Box::new(solver.known())),
        }
    }

    /// Forgets what it has learnt since.
    pub(crate) fn back_to(&mut self, known: Known) {
        self.trust = known.trust;
        self.since_check = known.since_check;
        if let Some(pivots) = known.pivots {
            (self.factorisation, self.factored) = *pivots;
        }
        if let (Some(solver), Some(known)) = (&mut self.simplified, known.simplified) {
            solver.back_to(*known);
        }
    }

    /// What is worth keeping of a solver.
    pub(crate) fn into_learnt(self) -> Learnt {
        let pivots = self.factorisation.keeps_pivots() && !self.slots.is_empty();
        Learnt {
            trust: self.trust,
            since_check: self.since_check,
            iterations: self.iterations,
            pivots: pivots.then(|| Box::new((self.factorisation, self.factored))),
            simplified: self.simplified.map(|solver| Box::new(solver.into_learnt())),
        }
    }

    /// Goes on where a solver of the same equations ended.
    pub(crate) fn recall(&mut self, learnt: Learnt) {
        self.trust = learnt.trust;
        self.since_check = learnt.since_check;
        self.iterations = learnt.iterations;
        if let Some(pivots) = learnt.pivots {
            (self.factorisation, self.factored) = *pivots;
        }
        if let (Some(solver), Some(learnt)) = (&mut self.simplified, learnt.simplified) {
            solver.recall(*learnt);
        }
    }

    /// Forgets all that it has learnt, as if it had just been made.
    pub(crate) fn forget(&mut self) {
        self.factorisation = Factorisation::new(self.factorisation.structure().clone());
        self.factored = Vec::new();
        for numbers in [
            &mut self.residual,
            &mut self.jacobian,
            &mut self.step,
            &mut self.together,
        ] {
            numbers.fill(0.0);
        }
        self.guess.clear();
        self.trust = Trust::Unknown;
        self.care = Care::Checked;
        self.since_check = 0;
        self.iterations = 0;
        self.last_attempt = None;
        self.strayed = false;
        if let Some(solver) = &mut self.simplified {
            solver.forget();
        }
    }

    /// Takes the sizes of variables from another run.
    pub(crate) fn set_nominal(&mut self, nominal: impl Fn(VarId) -> f64 + Copy) {
        for (own, unknown) in self.nominal.iter_mut().zip(&self.unknowns) {
            *own = nominal(unknown.var);
        }
        if let Some(solver) = &mut self.simplified {
            solver.set_nominal(nominal);
        }
    }

    /// Bytes, roughly: three programs with a place for each value they read, the pattern, numbers and factors.
    pub(crate) fn approximate_bytes(&self) -> usize {
        let own = 1024 + 200 * self.slots.len() + 120 * self.jacobian.len();
        own + self.simplified.as_ref().map_or(0, |solver| solver.approximate_bytes())
    }

    pub(crate) fn new(
        cache: &KernelCache,
        pool: &ExprPool,
        equations: &[Source],
        unknowns: &[Derivative],
        linear: bool,
        nominal: impl Fn(VarId) -> f64,
        memory: &Memory,
    ) -> Result<Self, Failure> {
        let leaves: Vec<Leaf> = unknowns
            .iter()
            .map(|&Derivative { var, order }| Leaf::var(var, order))
            .collect();
        let residuals: Vec<(ExprId, u16)> = equations
            .iter()
            .map(|&(residual, order, _)| (residual, order))
            .collect();
        let system = System::build(cache, pool, &residuals, &leaves, |leaf| slot_of(memory, leaf))
            .map_err(|error| system_failure_of(error, equations))?;
        let n = unknowns.len();
        let pattern = SparsityPattern::new(n, system.column_starts.clone(), system.row_indices.clone())
            .map_err(|error| Failure::no_code(format!("{error:?}"), Vec::new()))?;
        let entries = pattern.len();
        Ok(BlockSolver {
            system,
            slots: leaves.iter().map(|&leaf| memory.leaf_slot(leaf)).collect(),
            factorisation: Factorisation::new(MatrixStructure::Sparse(pattern)),
            linear,
            residual: vec![0.0; n],
            jacobian: vec![0.0; entries],
            factored: Vec::new(),
            step: vec![0.0; n],
            together: vec![0.0; n + entries.max(1)],
            trust: Trust::Unknown,
            care: Care::Checked,
            since_check: 0,
            guess: Vec::with_capacity(n),
            nominal: unknowns.iter().map(|&Derivative { var, .. }| nominal(var)).collect(),
            simplified: None,
            iterations: 0,
            last_attempt: None,
            strayed: false,
            kept: Vec::new(),
            may_keep: Vec::new(),
            unknowns: unknowns.to_vec(),
            origins: equations.iter().map(|&(_, _, origin)| origin).collect(),
        })
    }

    /// The same with equations to be solved first where the guess in memory leads nowhere.
    pub(crate) fn beginning_with(self, simplified: BlockSolver) -> Self {
        BlockSolver {
            simplified: Some(Box::new(simplified)),
            ..self
        }
    }

    /// Whether the Jacobian reads leaves of a kind.
    pub(crate) fn jacobian_reads(&self, kind: impl Fn(&Leaf) -> bool) -> bool {
        self.system.jacobian.reads(kind)
    }

    /// Places of the unknowns of an iteration; none if the first guess does not matter.
    pub(crate) fn slots(&self) -> &[u32] {
        if self.linear { &[] } else { &self.slots }
    }

    /// Solves from the values in memory as first guess and leaves the solution there: Newton's method, and a trust
    /// region from the same guess where that does not converge.
    pub(crate) fn solve(&mut self, memory: &mut Memory, care: Care) -> Result<(), BlockFailure> {
        self.care = care;
        self.strayed = false;
        self.kept.clear();
        if care == Care::Checked && self.trust == Trust::Good {
            self.since_check = (self.since_check + 1) % CHECK_INTERVAL;
            if self.since_check != 0 {
                self.care = Care::Quick;
            }
        }
        if self.slots.is_empty() {
            return Ok(());
        }
        if self.linear {
            return self.solve_linear(memory);
        }
        self.guess.clear();
        self.guess
            .extend(self.slots.iter().map(|&slot| memory.values[slot as usize]));
        if self.follow(memory) {
            return Ok(());
        }
        let guess = std::mem::take(&mut self.guess);
        let outcome = self.solve_from(memory, &guess);
        self.guess = guess;
        outcome
    }

    /// Newton steps as long as they shrink as they do near a solution; false if they do not. Then the values in memory
    /// mean nothing.
    fn follow(&mut self, memory: &mut Memory) -> bool {
        let mut previous = f64::INFINITY;
        let mut keeps_jacobian = false;
        for iteration in 0..FOLLOWING_LIMIT {
            self.iterations += 1;
            // The first step is what the code is compared with, unless there is no time for that.
            let by_code = (iteration > 0 || self.care != Care::Checked) && self.find_step_by_code(memory);
            let kept = !by_code && keeps_jacobian;
            if kept {
                if !self.find_step_with_kept_jacobian(memory) {
                    return false;
                }
            } else if !by_code {
                self.evaluate(memory);
                if self.find_step(memory).is_err() {
                    return false;
                }
                if iteration == 0 {
                    self.check_step_code(memory);
                }
            }
            let size = self.step_size(memory);
            if size > STEP_TOLERANCE && size > FOLLOWING_RATE * previous {
                return size <= ROUNDING_STEP;
            }
            self.apply(memory, 1.0);
            let ratio = size / previous;
            // Convergence is quadratic: the next step would be this one times the square of the last ratio. With a Jacobian
            // from before it is linear: all further steps together would be this one times ratio/(1 − ratio).
            let rest = if kept { ratio / (1.0 - ratio) } else { ratio * ratio };
            if size <= STEP_TOLERANCE || (ratio > 0.0 && size * rest <= STEP_TOLERANCE) {
                return true;
            }
            // Kept only if it leads to the end. The error of the Jacobian is about as large as the first step.
            let rate = if iteration == 0 { size } else { ratio };
            let left = (FOLLOWING_LIMIT - 1 - iteration) as i32;
            let leads_on = rate <= KEPT_JACOBIAN_RATE && size * rate.powi(left) <= STEP_TOLERANCE;
            keeps_jacobian = !by_code && leads_on && self.slots.len() > 1 && self.kept.is_empty();
            previous = size;
        }
        false
    }

    /// A step with the Jacobian that was factorised last; false if there is none.
    fn find_step_with_kept_jacobian(&mut self, memory: &Memory) -> bool {
        let residual = &self.system.residual;
        residual.evaluate_unchecked(&memory.values, &mut self.residual);
        for (step, residual) in self.step.iter_mut().zip(&self.residual) {
            *step = -residual;
        }
        self.factorisation.solve(&mut self.step);
        self.step.iter().all(|step| step.is_finite())
    }

    /// The Newton step at the values in memory by straight-line code, if that is to be used.
    fn find_step_by_code(&mut self, memory: &Memory) -> bool {
        self.trust == Trust::Good && {
            let found = self.run_step_code(memory);
            self.step.copy_from_slice(&self.together[..self.slots.len()]);
            found
        }
    }

    /// Leaves the steps of the straight-line code in `together`; false if there is none or it can not be relied upon.
    fn run_step_code(&mut self, memory: &Memory) -> bool {
        let Some(steps) = &self.system.steps else {
            return false;
        };
        steps.evaluate_unchecked(&memory.values, &mut self.together);
        let (steps, quality) = self.together.split_at(self.slots.len());
        quality[0] > CANCELLED_PIVOT && steps.iter().all(|step| step.is_finite())
    }

    /// Compares the step that was found with that of the straight-line code.
    fn check_step_code(&mut self, memory: &Memory) {
        if self.care != Care::Checked || self.trust == Trust::Bad || self.system.steps.is_none() {
            return;
        }
        let found = self.run_step_code(memory);
        let off = |at: usize| {
            let value = memory.values[self.slots[at] as usize]
                .abs()
                .max(1e-3 * self.nominal[at]);
            let difference = (self.together[at] - self.step[at]).abs();
            difference > AGREEMENT * self.step[at].abs() + 1e-12 * value
        };
        self.trust = match found && !(0..self.slots.len()).any(off) {
            true => Trust::Good,
            // Far from a solution nothing is known.
            false if self.trust == Trust::Unknown => Trust::Unknown,
            false => Trust::Bad,
        };
    }

    /// Residuals and Jacobian at the values in memory.
    fn evaluate(&mut self, memory: &Memory) {
        let System {
            together,
            residual,
            jacobian,
            ..
        } = &self.system;
        let Some(together) = together else {
            residual.evaluate_unchecked(&memory.values, &mut self.residual);
            jacobian.evaluate_unchecked(&memory.values, &mut self.jacobian);
            return;
        };
        together.evaluate_unchecked(&memory.values, &mut self.together);
        let (residual, jacobian) = self.together[..self.slots.len() + self.jacobian.len()].split_at(self.slots.len());
        self.residual.copy_from_slice(residual);
        self.jacobian.copy_from_slice(jacobian);
    }

    /// The same from a guess that was a solution a moment ago: where the solution nearby has ceased to exist, the arc
    /// that leads on from there is followed to the one that remains.
    pub(crate) fn solve_over_folds(&mut self, memory: &mut Memory) -> Result<(), BlockFailure> {
        let guess: Vec<f64> = self.slots.iter().map(|&slot| memory.values[slot as usize]).collect();
        match self.solve(memory, Care::Checked) {
            Err(failure) if !self.linear => self.solve_along_arc(memory, &guess).map_err(|()| {
                self.place(memory, &guess);
                failure
            }),
            outcome => outcome,
        }
    }

    fn solve_from(&mut self, memory: &mut Memory, guess: &[f64]) -> Result<(), BlockFailure> {
        self.place(memory, guess);
        match self.solve_by_newton(memory) {
            Err(failure) => {
                self.strayed = true;
                self.solve_by_trust_region(memory, guess)
                    .or_else(|()| self.solve_from_simplified(memory, guess))
                    .map_err(|()| failure)
            }
            solved => solved,
        }
    }

    /// One Newton step. From a guess far larger than the solution (a trial point that was given up) it would be all
    /// rounding: then it is made from zero.
    fn solve_linear(&mut self, memory: &mut Memory) -> Result<(), BlockFailure> {
        let size = |block: &Self, memory: &Memory| {
            let values = block.slots.iter().map(|&slot| memory.values[slot as usize].abs());
            values.fold(0.0, f64::max)
        };
        let before = size(self, memory);
        let outcome = self.linear_step(memory);
        if outcome.is_ok() && size(self, memory) >= CANCELLATION * before {
            return outcome;
        }
        self.place(memory, &vec![0.0; self.slots.len()]);
        self.linear_step(memory)
    }

    fn linear_step(&mut self, memory: &mut Memory) -> Result<(), BlockFailure> {
        self.iterations += 1;
        self.replace_missing(memory);
        if self.linear_steps_by_code(memory) {
            return Ok(());
        }
        self.evaluate(memory);
        if let Some(equation) = self.residual.iter().position(|r| !r.is_finite()) {
            return Err(BlockFailure::Undefined { equation });
        }
        self.find_step(memory)?;
        self.check_step_code(memory);
        self.apply(memory, 1.0);
        Ok(())
    }

    /// A step and a second one, which corrects the rounding errors of the first: the code does not choose its pivots by
    /// their size. False if these were large, or there is no code.
    fn linear_steps_by_code(&mut self, memory: &mut Memory) -> bool {
        if self.care == Care::Checked || !self.find_step_by_code(memory) {
            return false;
        }
        self.apply(memory, 1.0);
        if !self.find_step_by_code(memory) {
            return false;
        }
        let accurate = self.step_size(memory) <= REFINEMENT;
        self.apply(memory, 1.0);
        accurate
    }

    fn solve_along_arc(&mut self, memory: &mut Memory, guess: &[f64]) -> Result<(), ()> {
        let mut x = guess.to_vec();
        let scales: Vec<f64> = x.iter().zip(&self.nominal).map(|(x, n)| x.abs().max(*n)).collect();
        let pattern = self.pattern();
        let mut system = InMemory {
            system: &self.system,
            slots: &self.slots,
            memory,
            pattern,
        };
        if !follow_arc(&mut system, &mut x, &scales) {
            return Err(());
        }
        self.solve_from(memory, &x).map_err(drop)?;
        self.strayed = true;
        Ok(())
    }

    /// Whether the last solution may be another than the one near the guess.
    pub(crate) fn has_strayed(&self) -> bool {
        self.strayed
    }

    /// Sizes of the unknowns below which they are all the same.
    pub(crate) fn floors(&self) -> impl Iterator<Item = f64> + '_ {
        self.nominal.iter().map(|nominal| 1e-3 * nominal)
    }

    fn pattern(&self) -> Option<SparsityPattern> {
        match self.factorisation.structure() {
            MatrixStructure::Sparse(pattern) => Some(pattern.clone()),
            MatrixStructure::Dense { .. } => None,
        }
    }

    /// Solves where the values in memory may be no guess at all, as at the start: zero for a divisor, say. Guesses are
    /// improved by solving one equation after the other, from the values in memory or with the nominal ones in place
    /// of zeros.
    pub(crate) fn solve_from_afar(&mut self, memory: &mut Memory) -> Result<(), BlockFailure> {
        let guess: Vec<f64> = self.slots.iter().map(|&slot| memory.values[slot as usize]).collect();
        let Err(failure) = self.solve(memory, Care::Checked) else {
            return Ok(());
        };
        let off_zero = |(&value, &nominal): (&f64, &f64)| {
            if value != 0.0 && value.is_finite() {
                value
            } else {
                nominal
            }
        };
        let moved = guess.iter().zip(&self.nominal).map(off_zero).collect();
        for start in [guess.clone(), moved] {
            self.place(memory, &start);
            self.relax(memory);
            if self.solve(memory, Care::Checked).is_ok() {
                return Ok(());
            }
        }
        self.place(memory, &guess);
        Err(failure)
    }

    fn place(&self, memory: &mut Memory, values: &[f64]) {
        for (&slot, &value) in self.slots.iter().zip(values) {
            memory.values[slot as usize] = value;
        }
    }

    /// A few sweeps of Newton steps, each of one equation for the unknown assigned to it.
    fn relax(&mut self, memory: &mut Memory) {
        let assigned = self.assignment(memory);
        for _ in 0..RELAXATION_SWEEPS {
            for &(row, column, entry) in &assigned {
                self.system
                    .residual
                    .evaluate_unchecked(&memory.values, &mut self.residual);
                self.system
                    .jacobian
                    .evaluate_unchecked(&memory.values, &mut self.jacobian);
                let step = self.residual[row] / self.jacobian[entry];
                if step.is_finite() {
                    memory.values[self.slots[column] as usize] -= step;
                }
            }
        }
    }

    /// Entries of the Jacobian that are the same at the guess and away from it: there the equation is linear in the unknown.
    fn constant_entries(&mut self, memory: &Memory) -> Vec<bool> {
        let jacobian = &mut self.system.jacobian;
        jacobian.evaluate_unchecked(&memory.values, &mut self.jacobian);
        let here = self.jacobian.clone();
        let mut away = memory.values.clone();
        for (&slot, nominal) in self.slots.iter().zip(&self.nominal) {
            away[slot as usize] = 1.5 * away[slot as usize] + nominal;
        }
        jacobian.evaluate_unchecked(&away, &mut self.jacobian);
        here.iter().zip(&self.jacobian).map(|(a, b)| a == b).collect()
    }

    /// Rows with the columns they are assigned to and the places of these entries, in the order of the rows. Each is
    /// assigned to an unknown that it is linear in, as far as that is possible.
    fn assignment(&mut self, memory: &Memory) -> Vec<(usize, usize, usize)> {
        let constant = self.constant_entries(memory);
        let columns = &self.system.column_starts;
        let count = self.slots.len();
        let rows_of = |column: usize| &self.system.row_indices[columns[column]..columns[column + 1]];
        let by_column = WeightedBipartite::from_rows(
            count,
            (0..count).map(|column| {
                let entries = rows_of(column).iter().zip(&constant[columns[column]..]);
                entries.map(|(&row, &linear)| (Column::from_index(row), i32::from(linear)))
            }),
        );
        let Ok(found) = highest_value_transversal(&by_column) else {
            return Vec::new();
        };
        let mut assigned: Vec<(usize, usize, usize)> = found
            .matching
            .pairs()
            .filter_map(|(column, row)| {
                let (column, row) = (column.index(), row.index());
                let within = rows_of(column).iter().position(|&known| known == row)?;
                Some((row, column, columns[column] + within))
            })
            .collect();
        assigned.sort_unstable();
        assigned
    }

    /// From the solution of the simplified equations, which is sought from the same guess.
    fn solve_from_simplified(&mut self, memory: &mut Memory, guess: &[f64]) -> Result<(), ()> {
        let mut simplified = self.simplified.take().ok_or(())?;
        let begun = simplified.solve(memory, Care::Checked);
        self.simplified = Some(simplified);
        let begin: Vec<f64> = self.slots.iter().map(|&slot| memory.values[slot as usize]).collect();
        let solved = begun.is_ok()
            && (self.solve_by_newton(memory).is_ok() || self.solve_by_trust_region(memory, &begin).is_ok());
        if solved {
            return Ok(());
        }
        self.place(memory, guess);
        Err(())
    }

    fn solve_by_trust_region(&mut self, memory: &mut Memory, guess: &[f64]) -> Result<(), ()> {
        let mut x: Vec<f64> = guess.iter().map(|&g| if g.is_finite() { g } else { 0.0 }).collect();
        let pattern = self.pattern();
        let options = NewtonOptions {
            nominal: Some(self.nominal.clone()),
            max_iterations: 200,
            step_tolerance: 1e-12,
            ..NewtonOptions::default()
        };
        let mut system = InMemory {
            system: &self.system,
            slots: &self.slots,
            memory,
            pattern,
        };
        self.last_attempt = solve_newton(&mut system, &mut x, &options).err();
        let solved = self.last_attempt.is_none();
        self.place(memory, if solved { &x } else { guess });
        if solved { Ok(()) } else { Err(()) }
    }

    /// A value that was never computed (or was dead) is no first guess.
    fn replace_missing(&self, memory: &mut Memory) {
        for slot in &self.slots {
            let value = &mut memory.values[*slot as usize];
            if !value.is_finite() {
                *value = 0.0;
            }
        }
    }

    fn solve_by_newton(&mut self, memory: &mut Memory) -> Result<(), BlockFailure> {
        self.replace_missing(memory);
        self.evaluate_residual(memory)?;
        for iteration in 0..ITERATION_LIMIT {
            self.iterations += 1;
            self.newton_step(memory)?;
            let size = self.step_size(memory);
            if size <= STEP_TOLERANCE {
                self.apply(memory, 1.0);
                return Ok(());
            }
            let before = norm(&self.residual);
            self.damped(memory, before)?;
            if size <= 1e-7 && norm(&self.residual) <= before * 1e-5 {
                return Ok(());
            }
            // Rounding: steps no longer shrink although the residual is at its floor.
            let at_floor = size <= ROUNDING_STEP && norm(&self.residual) >= 0.5 * before;
            if at_floor || (iteration >= FOLLOWING_LIMIT && self.at_rounding(memory, 1e-14)) {
                return Ok(());
            }
        }
        // An ill-conditioned block does not settle better than its residuals can be computed.
        if self.at_rounding(memory, 1e-12) {
            Ok(())
        } else {
            Err(self.diverged())
        }
    }

    /// Whether every residual is small against its terms.
    fn at_rounding(&mut self, memory: &Memory, relative: f64) -> bool {
        self.system
            .jacobian
            .evaluate_unchecked(&memory.values, &mut self.jacobian);
        let scale = self.sizes_of_terms(memory);
        self.residual.iter().zip(&scale).all(|(r, s)| r.abs() <= relative * s)
    }

    fn diverged(&self) -> BlockFailure {
        let (equation, residual) =
            self.residual
                .iter()
                .copied()
                .enumerate()
                .fold(
                    (0, 0.0),
                    |worst: (usize, f64), (at, r)| {
                        if r.abs() > worst.1.abs() { (at, r) } else { worst }
                    },
                );
        BlockFailure::Diverged { equation, residual }
    }

    fn evaluate_residual(&mut self, memory: &Memory) -> Result<(), BlockFailure> {
        self.system
            .residual
            .evaluate_unchecked(&memory.values, &mut self.residual);
        match self.residual.iter().position(|r| !r.is_finite()) {
            Some(equation) => Err(BlockFailure::Undefined { equation }),
            None => Ok(()),
        }
    }

    fn newton_step(&mut self, memory: &Memory) -> Result<(), BlockFailure> {
        if self.care != Care::Checked && self.find_step_by_code(memory) {
            return Ok(());
        }
        self.system
            .jacobian
            .evaluate_unchecked(&memory.values, &mut self.jacobian);
        self.find_step(memory)
    }

    /// The Newton step from the residuals and the Jacobian. Where coefficients are zero, what they do not determine is left
    /// as it is.
    fn find_step(&mut self, memory: &Memory) -> Result<(), BlockFailure> {
        self.kept.clear();
        let found = self.find_regular_step();
        if found.is_err()
            && self.may_keep.contains(&true)
            && let Some(Around { step, kept, open }) = self.linear_system(memory).step_around()
            && open.iter().all(|&at| self.may_keep[at])
        {
            (self.step, self.kept) = (step, kept);
            return Ok(());
        }
        found
    }

    /// Says which unknowns may keep their values where their coefficients are zero. Those on which no derivative depends: what a
    /// state or its rate should be is never guessed.
    pub(crate) fn let_keep(&mut self, may_keep: impl Fn(Derivative) -> bool) {
        self.may_keep = self.unknowns.iter().map(|&unknown| may_keep(unknown)).collect();
    }

    fn linear_system(&self, memory: &Memory) -> Linear<'_> {
        Linear {
            column_starts: &self.system.column_starts,
            row_indices: &self.system.row_indices,
            jacobian: &self.jacobian,
            residual: &self.residual,
            values: self.slots.iter().map(|&slot| memory.values[slot as usize]).collect(),
            nominal: &self.nominal,
            largest: self.largest_read(memory),
        }
    }

    /// The largest value that the equations read: what is left of terms that are zero is rounding against that.
    fn largest_read(&self, memory: &Memory) -> f64 {
        let largest = std::cell::Cell::new(0.0f64);
        self.system.residual.reads(|leaf| {
            let value = slot_of(memory, *leaf).map_or(0.0, |slot| memory.values[slot as usize].abs());
            if value.is_finite() {
                largest.set(largest.get().max(value));
            }
            false
        });
        largest.get()
    }

    /// Unknowns that kept their values at the last solution because nothing determined them.
    pub(crate) fn kept(&self) -> impl Iterator<Item = Derivative> + '_ {
        self.kept.iter().map(|&at| self.unknowns[at])
    }

    fn find_regular_step(&mut self) -> Result<(), BlockFailure> {
        if let [residual] = self.residual.as_slice() {
            let slope = self.jacobian.first().copied().unwrap_or(0.0);
            if slope == 0.0 || !slope.is_finite() {
                return Err(BlockFailure::Singular { column: 0 });
            }
            self.step[0] = -residual / slope;
            return if self.step[0].is_finite() {
                Ok(())
            } else {
                Err(BlockFailure::Singular { column: 0 })
            };
        }
        self.factor()?;
        for (step, residual) in self.step.iter_mut().zip(&self.residual) {
            *step = -residual;
        }
        self.factorisation.solve(&mut self.step);
        match self.step.iter().position(|s| !s.is_finite()) {
            Some(column) => Err(BlockFailure::Singular { column }),
            None => Ok(()),
        }
    }

    /// Factorises the Jacobian at the solution in memory, for [`BlockSolver::solve_tangent`].
    pub(crate) fn factor_here(&mut self, memory: &Memory) -> Result<(), BlockFailure> {
        self.system
            .jacobian
            .evaluate_unchecked(&memory.values, &mut self.jacobian);
        self.factor()
    }

    /// Makes the solution in memory wrong by a few rounding errors of the operations in its equations.
    pub(crate) fn blur(&mut self, memory: &mut Memory, blur: Blur) {
        if self.slots.is_empty() || self.factor_here(memory).is_err() {
            return;
        }
        let residual = &self.system.residual;
        residual.evaluate_unchecked(&memory.values, &mut self.residual);
        residual.evaluate_rounded(&memory.values, &blur.of_operations(memory), &mut self.step);
        for (step, residual) in self.step.iter_mut().zip(&self.residual) {
            *step -= residual;
        }
        self.factorisation.solve(&mut self.step);
        if self.step.iter().all(|step| step.is_finite()) {
            self.apply(memory, 1.0);
        }
    }

    /// The sizes of the terms of each equation, by the Jacobian at hand.
    fn sizes_of_terms(&self, memory: &Memory) -> Vec<f64> {
        let mut sizes = vec![0.0f64; self.residual.len()];
        for (column, &slot) in self.slots.iter().enumerate() {
            let value = memory.values[slot as usize].abs();
            for at in self.system.column_starts[column]..self.system.column_starts[column + 1] {
                sizes[self.system.row_indices[at]] += (self.jacobian[at] * value).abs();
            }
        }
        sizes
    }

    /// Replaces a right-hand side by the change of the unknowns that it makes.
    pub(crate) fn solve_tangent(&mut self, right_side: &mut [f64]) {
        self.factorisation.solve(right_side);
    }

    fn factor(&mut self) -> Result<(), BlockFailure> {
        if self.linear && self.factored == self.jacobian {
            return Ok(());
        }
        self.factored.clear();
        self.factorisation
            .factor(&self.jacobian)
            .map_err(|error| BlockFailure::Singular { column: error.column })?;
        if self.linear {
            self.factored.extend_from_slice(&self.jacobian);
        }
        Ok(())
    }

    /// The largest component of the step relative to its variable.
    fn step_size(&self, memory: &Memory) -> f64 {
        let mut size = 0.0f64;
        for ((&slot, step), nominal) in self.slots.iter().zip(&self.step).zip(&self.nominal) {
            let value = memory.values[slot as usize];
            size = size.max(step.abs() / value.abs().max(1e-3 * nominal));
        }
        size
    }

    fn apply(&self, memory: &mut Memory, factor: f64) {
        for (slot, step) in self.slots.iter().zip(&self.step) {
            memory.values[*slot as usize] += factor * step;
        }
    }

    /// Takes the Newton step, shortened until the residual does not grow.
    fn damped(&mut self, memory: &mut Memory, before: f64) -> Result<(), BlockFailure> {
        let mut factor = 1.0;
        self.apply(memory, factor);
        for _ in 0..HALVING_LIMIT {
            self.system
                .residual
                .evaluate_unchecked(&memory.values, &mut self.residual);
            let after = norm(&self.residual);
            if after.is_finite() && after <= before * (1.0 + 1e-9) {
                return Ok(());
            }
            self.apply(memory, -0.5 * factor);
            factor *= 0.5;
        }
        self.evaluate_residual(memory)
    }

    /// The failure in the model's terms.
    pub(crate) fn explain(
        &self,
        failure: &BlockFailure,
        memory: &Memory,
        name: &dyn Fn(VarId, u16) -> String,
    ) -> Failure {
        if let BlockFailure::Undefined { equation } = *failure
            && let Some(error) = self.system.residual.diagnose(&memory.values)
        {
            return Failure::domain(&error.error, vec![self.origins[equation]]);
        }
        let unknowns: Vec<String> = self
            .unknowns
            .iter()
            .map(|&Derivative { var, order }| name(var, order))
            .collect();
        let (reason, origins) = match *failure {
            BlockFailure::Singular { column } => {
                let which = unknowns.get(column).cloned().unwrap_or_default();
                (singular(&which), self.origins.clone())
            }
            BlockFailure::Diverged { equation, residual } => self.explain_divergence((equation, residual), &unknowns),
            BlockFailure::Undefined { equation } => (
                "an equation is undefined there".to_string(),
                vec![self.origins[equation]],
            ),
        };
        Failure::new(FailureKind::Block {
            unknowns,
            origins,
            reason,
        })
    }
}

impl BlockSolver {
    /// How an iteration went that did not settle, and the equation with the largest residual.
    fn explain_divergence(&self, worst: (usize, f64), unknowns: &[String]) -> (String, Vec<OriginId>) {
        let Some(attempt) = &self.last_attempt else {
            let (equation, residual) = worst;
            let reason = format!("the iteration does not converge; largest residual {residual:.3e}");
            return (reason, vec![self.origins[equation]]);
        };
        let mut reason = format!("{} after {} iterations", attempt.reason, attempt.history.len());
        let norms: Vec<f64> = attempt
            .history
            .iter()
            .map(|iteration| iteration.residual_norm)
            .collect();
        if let [first, .., last] = norms[..] {
            reason.push_str(&format!("; the scaled residual went from {first:.3e} to {last:.3e}"));
        }
        let moved = attempt.most_moved.iter().take(3);
        let moved: Vec<&str> = moved
            .filter_map(|&(at, _)| unknowns.get(at).map(String::as_str))
            .collect();
        if !moved.is_empty() {
            reason.push_str(&format!("; moved most: {}", moved.join(", ")));
        }
        let culprits = attempt.largest_residuals.iter().take(3);
        let mut origins: Vec<OriginId> = culprits.filter_map(|&(at, _)| self.origins.get(at).copied()).collect();
        if origins.is_empty() {
            origins.push(self.origins[worst.0]);
        }
        (reason, origins)
    }
}

/// A block as the nonlinear solvers see it.
struct InMemory<'a> {
    system: &'a System,
    slots: &'a [u32],
    memory: &'a mut Memory,
    pattern: Option<SparsityPattern>,
}

impl InMemory<'_> {
    fn place(&mut self, x: &[f64]) {
        for (&slot, &value) in self.slots.iter().zip(x) {
            self.memory.values[slot as usize] = value;
        }
    }
}

impl NonlinearSystem for InMemory<'_> {
    fn dim(&self) -> usize {
        self.slots.len()
    }
    fn residual(&mut self, x: &[f64], residual: &mut [f64]) -> Result<(), EvalError> {
        self.place(x);
        self.system.residual.evaluate_unchecked(&self.memory.values, residual);
        Ok(())
    }
    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        self.pattern.as_ref()
    }
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        if self.pattern.is_none() {
            return Ok(false);
        }
        self.place(x);
        self.system.jacobian.evaluate_unchecked(&self.memory.values, values);
        Ok(true)
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().fold(
        0.0,
        |largest: f64, v| if v.is_nan() { f64::NAN } else { largest.max(v.abs()) },
    )
}

/// What is said of equations with a singular Jacobian.
pub(crate) fn singular(unknown: &str) -> String {
    format!("the equations do not determine {unknown} (singular Jacobian)")
}

pub(crate) fn system_failure(error: SystemError) -> Failure {
    system_failure_of(error, &[])
}

/// The failure, with the equation among those of the system.
pub(crate) fn system_failure_of(error: SystemError, equations: &[Source]) -> Failure {
    match error {
        SystemError::Compile(error) => {
            let of = |&&(residual, _, _): &&Source| matches!(&error, CompileError::TooLarge { expression, .. } if *expression == residual);
            let origins = equations.iter().filter(of).map(|&(_, _, origin)| origin).collect();
            Failure::no_code(error.to_string(), origins)
        }
        SystemError::Unbound(leaf) => Failure::unbound(leaf),
    }
}
