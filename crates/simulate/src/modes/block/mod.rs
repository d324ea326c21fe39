//! Square systems of equations solved in place in the value memory.
//!
//! | module | what lives there |
//! |---|---|
//! | `step` | Newton steps: with pivots chosen by size, or by straight-line code while that is good |
//! | `iteration` | the block as the solvers of `saltus_numerics::nonlinear` see it |
//! | `guess` | where to begin when memory holds no guess |
//! | `along` | along one unknown, where slopes are zero or infinite at the solution |
//! | `explain` | why there is no solution, in the model's terms |
//!
//! The ladder: from a solution nearby; damped steps from the same guess; a trust region; simplified equations;
//! along one unknown. Where the solution has ceased to exist, the arc that leads on from it.

mod along;
mod explain;
mod guess;
mod iteration;
mod step;

use saltus_codegen::{KernelCache, Leaf, System};
use saltus_mdae::{Derivative, ExprId, ExprPool, OriginId, VarId};
use saltus_numerics::linalg::{Factorisation, MatrixStructure, SparsityPattern};
use saltus_numerics::nonlinear::{NewtonOptions, SolveFailure, follow, follow_arc, solve_damped, solve_newton};

use crate::error::Failure;
use crate::kernel::slot_of;
use crate::memory::Memory;
use crate::modes::plan::Source;

use iteration::{InMemory, InPlace};

pub(crate) use explain::{singular, system_failure, system_failure_of};

/// Straight-line code is compared at every so many solutions that count.
const CHECK_INTERVAL: u32 = 16;
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

/// As many equations as unknowns.
#[derive(Copy, Clone, Debug)]
pub(crate) struct SquareEquations<'a> {
    pub equations: &'a [Source],
    pub unknowns: &'a [Derivative],
    /// Whether they are linear in the unknowns.
    pub linear: bool,
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
    /// Whether it was solved along one unknown where all else had failed: then that is tried first where the guess is no solution.
    goes_along: bool,
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
    goes_along: bool,
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
    goes_along: bool,
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
            goes_along: self.goes_along,
            pivots: pivots.then(|| Box::new((self.factorisation.clone(), self.factored.clone()))),
            simplified: self.simplified.as_ref().map(|solver| Box::new(solver.known())),
        }
    }

    /// Forgets what it has learnt since.
    pub(crate) fn back_to(&mut self, known: Known) {
        self.trust = known.trust;
        self.since_check = known.since_check;
        self.goes_along = known.goes_along;
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
            goes_along: self.goes_along,
            iterations: self.iterations,
            pivots: pivots.then(|| Box::new((self.factorisation, self.factored))),
            simplified: self.simplified.map(|solver| Box::new(solver.into_learnt())),
        }
    }

    /// Goes on where a solver of the same equations ended.
    pub(crate) fn recall(&mut self, learnt: Learnt) {
        self.trust = learnt.trust;
        self.since_check = learnt.since_check;
        self.goes_along = learnt.goes_along;
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
        self.goes_along = false;
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
        equations: SquareEquations<'_>,
        nominal: impl Fn(VarId) -> f64,
        memory: &Memory,
    ) -> Result<Self, Failure> {
        let SquareEquations {
            equations,
            unknowns,
            linear,
        } = equations;
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
            goes_along: false,
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
        if self.followed(memory) {
            return Ok(());
        }
        let guess = std::mem::take(&mut self.guess);
        let outcome = self.solve_from(memory, &guess);
        self.guess = guess;
        outcome
    }

    /// From a guess that was the solution a moment ago; false if there is none near it.
    fn followed(&mut self, memory: &mut Memory) -> bool {
        follow(&mut InPlace { block: self, memory })
    }

    fn solve_by_newton(&mut self, memory: &mut Memory) -> Result<(), BlockFailure> {
        self.replace_missing(memory);
        solve_damped(&mut InPlace { block: self, memory })
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
        if self.goes_along && self.solve_along_unknown(memory, guess).is_ok() {
            self.strayed = true;
            return Ok(());
        }
        self.place(memory, guess);
        match self.solve_by_newton(memory) {
            Err(failure) => {
                self.strayed = true;
                self.solve_by_trust_region(memory, guess)
                    .or_else(|()| self.solve_from_simplified(memory, guess))
                    .or_else(|()| {
                        self.solve_along_unknown(memory, guess)?;
                        self.goes_along = true;
                        Ok(())
                    })
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

    fn place(&self, memory: &mut Memory, values: &[f64]) {
        for (&slot, &value) in self.slots.iter().zip(values) {
            memory.values[slot as usize] = value;
        }
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
}
