//! Solving a restart system, block by block, by Newton's method from the left limits.

mod linear;
mod roots;

use std::cell::Cell;

use rustc_hash::FxHashMap;
use saltus_mdae::eval::Environment;
use saltus_mdae::function::Functions;
use saltus_mdae::tape::leaf_value;
use saltus_mdae::{ExprPool, Node, VarId};
use saltus_numerics::quadrature::integrate_over_unit;
use saltus_structure::restart::{
    FixedValues, LeafKind, PlanEquation, PlanProgram, PlanPrograms, PlanUnknown, RestartPlan, RightLimitSource,
};

use self::linear::Linear;

/// Newton iterations per block.
const ITERATIONS: usize = 100;
/// A residual is zero when it is this small against the terms and unknowns of its block.
const RESIDUAL: f64 = 1e-8;
/// A step that changes the unknowns by less makes no difference.
const SETTLED: f64 = 1e-13;
/// A step of this part of an unknown says that the unknown is not accurate by itself.
const COARSE: f64 = 1e-6;
/// Steps for the accuracy of small unknowns: each leaves of what is zero its rounding error.
const REFINEMENTS: u32 = 3;
/// Relative residual of a restart equation that the tail entails.
const CHECK: f64 = 1e-6;
/// A term that is this part of another one in its equation, with unknowns as large as they have been, is rounding.
const NO_TERM: f64 = 1e-14;
/// What rounding leaves, in units of the last place of the terms.
const ROUNDINGS: f64 = 16.0;
/// Relative error of the means of coefficients: below what counts as settled.
const MEAN: f64 = 1e-13;
/// Parts of the way that are looked at for a passage of a comparison, and how often one is halved to find it.
const LOOKED_AT: u32 = 16;
const BISECTIONS: u32 = 54;
/// Values that the means of one restart may read: functions of transistors have thousands of bends, and no mean to that error.
const MEAN_WORK: f64 = 1e7;

/// An impulse: `x'^m` behaves like `weight · δ^(mu − 1)` at the instant.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Impulse {
    /// The variable.
    pub var: VarId,
    /// Derivative order m.
    pub order: u16,
    /// The order of the impulse; 1 is a Dirac impulse.
    pub mu: u32,
    /// Its weight.
    pub weight: f64,
    /// What the errors of left limits make of that.
    pub error: f64,
}

/// Right limits and impulses.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RestartSolution {
    /// Right limits of the states of the touched components, `(x, m, x'^m)`.
    pub right_limits: Vec<(VarId, u16, f64)>,
    /// What rounding of the terms of the restart system makes of each of them.
    pub rounding: Vec<f64>,
    /// What the errors of left limits make of them.
    pub errors: Vec<f64>,
    /// Impulses.
    pub impulses: Vec<Impulse>,
    /// Values of all unknowns of the plan.
    pub unknowns: Vec<f64>,
    /// The largest residual, relative to its equation.
    pub residual: f64,
    /// Numeric rank of the restart system (equal to its size).
    pub rank: usize,
    /// Equations (positions in the plan) with impulses whose coefficients must not jump.
    pub steady: Vec<usize>,
}

/// Why a restart system has no solution.
#[derive(Clone, PartialEq, Debug)]
pub enum RestartFailure {
    /// The Jacobian is singular although the structure is regular.
    Singular {
        /// Numeric rank.
        rank: usize,
        /// Number of equations.
        size: usize,
        /// Unknowns (positions in the plan) of the singular blocks.
        unknowns: Vec<usize>,
    },
    /// Newton's method did not converge.
    NotConverged {
        /// Equations (positions in the plan) of the block.
        equations: Vec<usize>,
        /// The largest relative residual left.
        residual: f64,
    },
    /// A residual or derivative is not a finite number.
    NotFinite {
        /// The equation (position in the plan).
        equation: usize,
    },
    /// A restart equation that should follow from the new mode's consistency equations does not hold.
    CheckFailed {
        /// The restart equation.
        restart_equation: u32,
        /// Its residual.
        residual: f64,
    },
}

/// Solves a restart system. The environment gives left limits (`left_limit`), and as current values inputs,
/// parameters and discrete variables at their right limits; `fixed` says how large variables are.
pub fn solve_restart(
    pool: &ExprPool,
    functions: &Functions,
    plan: &RestartPlan,
    environment: &dyn Environment,
    fixed: &dyn FixedValues,
) -> Result<RestartSolution, RestartFailure> {
    let mut system = System::new(pool, functions, plan, environment, fixed);
    let mut solved = Vec::new();
    for block in &plan.blocks {
        solved.push(system.solve_block(block)?);
    }
    system.finish(&solved, fixed)
}

/// The same where coefficients may be zero that would determine something, as those of an enthalpy where nothing flows: the
/// unknowns of such a block stay near their left limits, if all of them may.
pub fn solve_restart_keeping(
    pool: &ExprPool,
    functions: &Functions,
    plan: &RestartPlan,
    environment: &dyn Environment,
    fixed: &dyn FixedValues,
    may_keep: &dyn Fn(VarId) -> bool,
) -> Result<RestartSolution, RestartFailure> {
    let mut system = System::new(pool, functions, plan, environment, fixed);
    system.stays = true;
    let mut solved = Vec::new();
    for block in &plan.blocks {
        let mut found = system.solve_block(block)?;
        let may_stay = |&(_, unknown): &(usize, usize)| {
            let PlanUnknown { variable, mu, .. } = plan.unknowns[unknown];
            mu == 0 && variable.order == 0 && may_keep(variable.var)
        };
        if found.residual <= RESIDUAL && block.iter().all(may_stay) {
            found.rank = block.len();
        }
        solved.push(found);
    }
    system.finish(&solved, fixed)
}

/// Another solution of the restart system than those in `known` (values of the unknowns), if a law in it has several and one
/// is found. It differs in the first block that has another one.
pub fn solve_restart_apart(
    pool: &ExprPool,
    functions: &Functions,
    plan: &RestartPlan,
    environment: &dyn Environment,
    fixed: &dyn FixedValues,
    known: &[Vec<f64>],
) -> Option<RestartSolution> {
    if known.iter().any(|root| root.len() != plan.unknowns.len()) {
        return None;
    }
    let mut system = System::new(pool, functions, plan, environment, fixed);
    let (mut solved, mut departed) = (Vec::new(), false);
    for block in &plan.blocks {
        let mut found = system.solve_block(block).ok()?;
        if !departed && let Some(other) = system.solve_apart(block, known) {
            (found, departed) = (other, true);
        }
        solved.push(found);
    }
    departed.then(|| system.finish(&solved, fixed).ok())?
}

/// Impulses of a variable at several instants act together; those of lower order do not count beside higher ones.
///
/// Values g_k·ε^−μ at the instants k·ε, each for a time ε, are Σ g_k·ε^(1−μ)·δ(t − k·ε). Their moments below μ − 1 vanish,
/// since what they integrate to stays finite; the next one is what is left: Σ g_k·(−k)^(μ−1)/(μ−1)!·δ^(μ−1).
fn impulses(plan: &RestartPlan, x: &[f64], errors: &[f64]) -> Vec<Impulse> {
    let mut found: Vec<Impulse> = Vec::new();
    for &position in &plan.impulses {
        let unknown = plan.unknowns[position];
        let (var, order) = (unknown.variable.var, unknown.variable.order);
        let moment = (1..unknown.mu).fold(1.0, |moment, j| {
            -moment * f64::from(unknown.variable.instant) / f64::from(j)
        });
        let impulse = Impulse {
            var,
            order,
            mu: unknown.mu,
            weight: moment * x[position],
            error: moment.abs() * errors[position],
        };
        // The unknowns are sorted: instants of the same derivative are neighbours.
        let known = found
            .last_mut()
            .filter(|known| (known.var, known.order) == (var, order));
        match known {
            None => found.push(impulse),
            Some(known) if known.mu < unknown.mu => *known = impulse,
            Some(known) if known.mu == unknown.mu => {
                known.weight += impulse.weight;
                known.error += impulse.error;
            }
            Some(_) => {}
        }
    }
    found
}

/// A leaf of an equation with its value, if that is known.
#[derive(Copy, Clone)]
enum Leaf {
    Unknown(usize),
    Mean(usize),
    Way,
    Known(f64),
}

struct System<'a> {
    functions: &'a Functions,
    plan: &'a RestartPlan,
    environment: &'a dyn Environment,
    programs: &'a PlanPrograms,
    /// Leaves of the equations.
    leaves: Vec<Leaves>,
    x: Vec<f64>,
    /// How far the leaves of the equations may be off: left limits have errors.
    left_errors: Vec<Vec<f64>>,
    /// What rounding of the terms makes of the unknowns.
    rounding: Vec<f64>,
    /// What the errors of left limits make of them.
    errors: Vec<f64>,
    /// How large the unknowns have been, or what an impulse moves; zero where nothing is known.
    sizes: Vec<f64>,
    /// Values that means may still read.
    mean_work: Cell<f64>,
    /// Whether a block that is singular at the left limits stays there.
    stays: bool,
}

/// The leaves of an equation, and those of the coefficients in it.
struct Leaves {
    own: Vec<Leaf>,
    means: Vec<Vec<Leaf>>,
}

/// The value of a residual or mean, and its derivative by each unknown in it.
struct Slopes {
    value: f64,
    /// The size of its terms.
    size: f64,
    /// What the errors of left limits make of it.
    error: f64,
    by: Vec<(usize, f64)>,
}

struct SolvedBlock {
    rank: usize,
    residual: f64,
}

impl<'a> System<'a> {
    fn new(
        pool: &ExprPool,
        functions: &'a Functions,
        plan: &'a RestartPlan,
        environment: &'a dyn Environment,
        fixed: &dyn FixedValues,
    ) -> Self {
        let programs = plan.programs(pool);
        System {
            functions,
            plan,
            environment,
            programs,
            leaves: programs
                .equations
                .iter()
                .map(|program| Leaves {
                    own: leaves_of(program, environment),
                    means: program.means.iter().map(|mean| leaves_of(mean, environment)).collect(),
                })
                .collect(),
            x: plan
                .unknowns
                .iter()
                .map(|unknown| start(unknown, environment))
                .collect(),
            left_errors: programs
                .equations
                .iter()
                .map(|program| left_errors_of(program, fixed))
                .collect(),
            rounding: vec![0.0; plan.unknowns.len()],
            errors: vec![0.0; plan.unknowns.len()],
            sizes: plan.unknowns.iter().map(|unknown| size(unknown, fixed)).collect(),
            mean_work: Cell::new(MEAN_WORK),
            stays: false,
        }
    }

    /// Right limits and impulses, with all blocks solved.
    fn finish(self, solved: &[SolvedBlock], fixed: &dyn FixedValues) -> Result<RestartSolution, RestartFailure> {
        let (plan, environment) = (self.plan, self.environment);
        let rank = solved.iter().map(|block| block.rank).sum();
        if rank < plan.unknowns.len() {
            let singular = |(block, solved): &(&Vec<(usize, usize)>, &SolvedBlock)| solved.rank < block.len();
            let blocks = plan.blocks.iter().zip(solved).filter(singular);
            let mut unknowns: Vec<usize> = blocks.flat_map(|(block, _)| block.iter().map(|&(_, u)| u)).collect();
            unknowns.sort_unstable();
            return Err(RestartFailure::Singular {
                rank,
                size: plan.unknowns.len(),
                unknowns,
            });
        }
        self.check(fixed)?;
        let limits = plan.right_limits.iter();
        Ok(RestartSolution {
            right_limits: limits
                .clone()
                .map(|limit| {
                    let value = match limit.source {
                        RightLimitSource::LeftLimit => environment.left_limit(limit.var, limit.order),
                        RightLimitSource::Unknown(unknown) => self.x[unknown],
                    };
                    (limit.var, limit.order, value)
                })
                .collect(),
            errors: limits
                .clone()
                .map(|limit| match limit.source {
                    RightLimitSource::LeftLimit => 0.0,
                    RightLimitSource::Unknown(unknown) => self.errors[unknown],
                })
                .collect(),
            rounding: limits
                .map(|limit| match limit.source {
                    RightLimitSource::LeftLimit => 0.0,
                    RightLimitSource::Unknown(unknown) => self.rounding[unknown],
                })
                .collect(),
            impulses: impulses(plan, &self.clear_of_rounding(), &self.errors),
            steady: self.steady(),
            residual: solved.iter().map(|block| block.residual).fold(0.0, f64::max),
            unknowns: self.x,
            rank,
        })
    }

    fn values(&self, leaves: &[Leaf], means: &[Slopes], way: f64) -> Vec<f64> {
        let value = |leaf: &Leaf| match *leaf {
            Leaf::Unknown(unknown) => self.x[unknown],
            Leaf::Mean(mean) => means[mean].value,
            Leaf::Way => way,
            Leaf::Known(value) => value,
        };
        leaves.iter().map(value).collect()
    }

    /// The means of the coefficients of an equation.
    fn means(&self, equation: usize) -> Result<Vec<Slopes>, RestartFailure> {
        let programs = self.programs.equations[equation].means.iter();
        let pairs = programs.zip(&self.leaves[equation].means);
        let means = pairs.map(|(program, leaves)| {
            let integrals = self.mean(equation, program, leaves, None)?;
            let mut by = Vec::new();
            for (leaf, &slope) in leaves.iter().zip(&integrals[1..]) {
                if let Leaf::Unknown(unknown) = *leaf {
                    let slope = if program.compared.is_empty() {
                        slope
                    } else {
                        self.mean_slope(equation, program, leaves, unknown)?
                    };
                    by.push((unknown, slope));
                }
            }
            Ok(Slopes {
                value: integrals[0],
                size: integrals[0].abs(),
                error: 0.0,
                by,
            })
        });
        means.collect()
    }

    /// The mean of a coefficient and of its derivatives on the way, where an unknown may be a little off.
    fn mean(
        &self,
        equation: usize,
        program: &PlanProgram,
        leaves: &[Leaf],
        moved: Option<(usize, f64)>,
    ) -> Result<Vec<f64>, RestartFailure> {
        let mut sums = vec![0.0; 1 + leaves.len()];
        // Slopes by what is known are not asked for: a function is called once for each.
        let dependents = program.tape.dependents(|leaf| matches!(leaves[leaf], Leaf::Unknown(_)));
        // Between two places where it may jump, a coefficient is smooth.
        for pair in self.bends(program, moved).windows(2) {
            let (begin, length) = (pair[0], pair[1] - pair[0]);
            let integrand = |part: f64| {
                let left = self.mean_work.get() - leaves.len() as f64;
                self.mean_work.set(left);
                if left < 0.0 {
                    return vec![f64::NAN];
                }
                let values = self.values_on_way(leaves, begin + part * length, moved);
                let (value, gradient) = program.tape.gradient_by(self.functions, &values, Some(&dependents));
                let mut all = vec![value];
                all.extend(gradient);
                all
            };
            // Where the terms of a coefficient cancel, what is left is their rounding errors.
            let size_at = |part: f64| {
                let values = self.values_on_way(leaves, begin + part * length, moved);
                program
                    .tape
                    .value_and_scale(self.functions, &values, &vec![0.0; values.len()])
                    .1
            };
            let size = size_at(0.0).max(size_at(0.5)).max(size_at(1.0));
            let rounding = if size.is_finite() { NO_TERM * size } else { 0.0 };
            let integrals = integrate_over_unit(integrand, MEAN, rounding).ok_or_else(|| self.no_mean(equation))?;
            for (sum, integral) in sums.iter_mut().zip(integrals) {
                *sum += length * integral;
            }
        }
        Ok(sums)
    }

    /// The values of leaves on the way, where an unknown may be a little off.
    fn values_on_way(&self, leaves: &[Leaf], way: f64, moved: Option<(usize, f64)>) -> Vec<f64> {
        let mut values = self.values(leaves, &[], way);
        if let Some((unknown, offset)) = moved {
            for (value, leaf) in values.iter_mut().zip(leaves) {
                if matches!(leaf, Leaf::Unknown(one) if *one == unknown) {
                    *value += offset;
                }
            }
        }
        values
    }

    /// The ends of the way, and the places on it where both sides of a comparison are equal.
    fn bends(&self, program: &PlanProgram, moved: Option<(usize, f64)>) -> Vec<f64> {
        let mut bends = vec![0.0, 1.0];
        for sides in &program.compared {
            let leaves = sides.each_ref().map(|side| leaves_of(side, self.environment));
            let difference = |way: f64| {
                let [a, b] = [0, 1].map(|at| {
                    let values = self.values_on_way(&leaves[at], way, moved);
                    sides[at].tape.value(self.functions, &values)
                });
                a - b
            };
            let place = |k: u32| f64::from(k) / f64::from(LOOKED_AT);
            for k in 0..LOOKED_AT {
                let (mut left, mut right) = (place(k), place(k + 1));
                let above = difference(left) > 0.0;
                if above == (difference(right) > 0.0) {
                    continue;
                }
                for _ in 0..BISECTIONS {
                    let middle = 0.5 * (left + right);
                    if (difference(middle) > 0.0) == above {
                        left = middle;
                    } else {
                        right = middle;
                    }
                }
                bends.push(right);
            }
        }
        bends.sort_unstable_by(f64::total_cmp);
        bends.dedup();
        bends
    }

    /// How the mean of a coefficient with comparisons changes with an unknown: where it jumps on the way moves as well, so that
    /// the mean of the derivative is not the derivative of the mean.
    fn mean_slope(
        &self,
        equation: usize,
        program: &PlanProgram,
        leaves: &[Leaf],
        unknown: usize,
    ) -> Result<f64, RestartFailure> {
        let scale = self.x[unknown].abs().max(self.sizes[unknown]);
        let width = MEAN.cbrt() * if scale > 0.0 { scale } else { 1.0 };
        let beside = |offset: f64| Ok(self.mean(equation, program, leaves, Some((unknown, offset)))?[0]);
        Ok((beside(width)? - beside(-width)?) / (2.0 * width))
    }

    /// Why there is no mean of a coefficient.
    fn no_mean(&self, equation: usize) -> RestartFailure {
        if self.mean_work.get() < 0.0 {
            RestartFailure::NotConverged {
                equations: vec![equation],
                residual: f64::INFINITY,
            }
        } else {
            RestartFailure::NotFinite { equation }
        }
    }

    /// The residual of an equation, and its derivatives.
    fn slopes(&self, equation: usize) -> Result<Slopes, RestartFailure> {
        let leaves = &self.leaves[equation].own;
        let means = self.means(equation)?;
        let values = self.values(leaves, &means, 0.0);
        let tape = &self.programs.equations[equation].tape;
        let counts = |leaf: usize| {
            let known = matches!(leaves[leaf], Leaf::Way | Leaf::Known(_));
            !known || self.left_errors[equation][leaf] != 0.0
        };
        let (value, gradient) = tape.gradient_by(self.functions, &values, Some(&tape.dependents(counts)));
        let mut by = Vec::with_capacity(leaves.len());
        let mut error = 0.0;
        for ((leaf, slope), left_error) in leaves.iter().zip(gradient).zip(&self.left_errors[equation]) {
            error += slope.abs() * left_error;
            match *leaf {
                Leaf::Unknown(unknown) => by.push((unknown, slope)),
                Leaf::Mean(mean) => by.extend(means[mean].by.iter().map(|&(unknown, inner)| (unknown, slope * inner))),
                Leaf::Way | Leaf::Known(_) => {}
            }
        }
        let (_, size) = tape.value_and_scale(self.functions, &values, &vec![0.0; values.len()]);
        Ok(Slopes { value, size, error, by })
    }

    /// The unknowns; what is no more than rounding leaves of terms that cancel is zero.
    fn clear_of_rounding(&self) -> Vec<f64> {
        let clear = |(&x, &rounding): (&f64, &f64)| if x.abs() > rounding { x } else { 0.0 };
        self.x.iter().zip(&self.rounding).map(clear).collect()
    }

    /// Equations with impulses whose coefficients must not jump.
    fn steady(&self) -> Vec<usize> {
        let equations = self.plan.equations.iter().enumerate();
        let watched = equations.filter(|(_, equation)| !equation.steady.is_empty());
        let acts = |&(position, _): &(usize, &PlanEquation)| {
            let impulsive = |leaf: &Leaf| match *leaf {
                Leaf::Unknown(unknown) => self.plan.unknowns[unknown].mu > 0 && self.x[unknown] != 0.0,
                _ => false,
            };
            self.leaves[position].own.iter().any(impulsive)
        };
        watched.filter(acts).map(|(position, _)| position).collect()
    }

    /// Residuals, the sizes of their terms and Jacobian rows of a block.
    fn linearise(&self, block: &[(usize, usize)], local: &Local) -> Result<Linear, RestartFailure> {
        let mut linear = Linear::default();
        for &(equation, _) in block {
            let Slopes { value, size, error, by } = self.slopes(equation)?;
            let outside = by.iter().filter(|(unknown, _)| !local.columns.contains_key(unknown));
            let inherited = |errors: &[f64]| -> f64 {
                let terms = outside.clone().map(|&(unknown, slope)| slope.abs() * errors[unknown]);
                terms.sum()
            };
            linear
                .errors
                .push(ROUNDINGS * f64::EPSILON * size + inherited(&self.rounding));
            linear.left_errors.push(error + inherited(&self.errors));
            let mut row: Vec<(usize, f64)> = by
                .into_iter()
                .filter_map(|(unknown, slope)| Some((*local.columns.get(&unknown)?, slope)))
                .collect();
            row.sort_unstable_by_key(|&(column, _)| column);
            row.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    kept.1 += later.1;
                }
                same
            });
            self.drop_rounding(block, &mut row);
            if !value.is_finite() || row.iter().any(|(_, slope)| !slope.is_finite()) {
                return Err(RestartFailure::NotFinite { equation });
            }
            linear.residuals.push(value);
            linear.sizes.push(size);
            linear.rows.push(row);
        }
        linear.balance(block.iter().map(|&(_, unknown)| self.x[unknown]), &local.reach);
        Ok(linear)
    }

    /// Leaves out slopes that are rounding errors of zero: at rest, velocities of 1e-17 would count as coefficients of masses
    /// that jump, and make the rows incomparable.
    fn drop_rounding(&self, block: &[(usize, usize)], row: &mut Vec<(usize, f64)>) {
        let term = |&(column, slope): &(usize, f64)| {
            let unknown = block[column].1;
            slope.abs() * self.sizes[unknown].max(self.x[unknown].abs())
        };
        let largest = row.iter().map(term).fold(0.0, f64::max);
        let is_known = |&(column, _): &(usize, f64)| self.sizes[block[column].1] > 0.0;
        row.retain(|entry| !is_known(entry) || term(entry) > NO_TERM * largest);
    }

    fn solve_block(&mut self, block: &[(usize, usize)]) -> Result<SolvedBlock, RestartFailure> {
        let mut local = Local {
            columns: block.iter().enumerate().map(|(i, &(_, u))| (u, i)).collect(),
            reach: vec![0.0; block.len()],
        };
        let mut best = f64::INFINITY;
        let mut refinements = 0;
        for iteration in 0..ITERATIONS {
            for (reach, &(_, unknown)) in local.reach.iter_mut().zip(block) {
                *reach = reach.max(self.x[unknown].abs());
            }
            let mut linear = self.linearise(block, &local)?;
            let residual = linear.largest_residual();
            let (step, rank) = linear.step();
            if iteration == 0 && rank < block.len() && !self.stays {
                // Singular at the left limits only: move away from them.
                for &(_, unknown) in block {
                    let size = self.x[unknown].abs();
                    self.x[unknown] += 1e-3 * if size > 0.0 { size } else { 1.0 };
                }
                continue;
            }
            let settled = linear.effect(&step) <= SETTLED || (residual >= 0.5 * best && residual <= 1e-12);
            if residual <= RESIDUAL && settled {
                // Factorisations are accurate against the largest unknowns; a second step is against each by itself, so that what is
                // zero beside impulses has no sign.
                if refinements < REFINEMENTS && self.is_coarse(block, &step) {
                    refinements += 1;
                    self.take(block, &step);
                    continue;
                }
                for (i, &(_, unknown)) in block.iter().enumerate() {
                    if linear.has_vanished(i, self.x[unknown]) {
                        self.x[unknown] = 0.0;
                    }
                }
                let (rounding, left_errors) = (linear.errors.clone(), linear.left_errors.clone());
                for (rounding, &(_, unknown)) in linear.responses(&rounding).into_iter().zip(block) {
                    self.rounding[unknown] = rounding;
                }
                if left_errors.iter().any(|&error| error > 0.0) {
                    for (error, &(_, unknown)) in linear.responses(&left_errors).into_iter().zip(block) {
                        self.errors[unknown] = error;
                    }
                }
                return Ok(SolvedBlock { rank, residual });
            }
            best = best.min(residual);
            self.advance(block, &local, &step, residual);
        }
        let mut linear = self.linearise(block, &local)?;
        let residual = linear.largest_residual();
        let rank = linear.step().1;
        if residual <= RESIDUAL || rank < block.len() {
            return Ok(SolvedBlock { rank, residual });
        }
        Err(RestartFailure::NotConverged {
            equations: block.iter().map(|&(equation, _)| equation).collect(),
            residual,
        })
    }

    /// Whether a step that is small against the largest unknowns is not small against others, if they are not zero.
    fn is_coarse(&self, block: &[(usize, usize)], step: &[f64]) -> bool {
        let coarse = |value: f64, step: f64| value != 0.0 && step.abs() > COARSE * value.abs();
        let mut steps = block.iter().zip(step);
        steps.any(|(&(_, unknown), &step)| coarse(self.x[unknown], step))
    }

    fn take(&mut self, block: &[(usize, usize)], step: &[f64]) {
        for (&(_, unknown), step) in block.iter().zip(step) {
            self.x[unknown] -= step;
        }
    }

    /// Takes the step, halved while it makes the residual much worse or undefined.
    fn advance(&mut self, block: &[(usize, usize)], local: &Local, step: &[f64], residual: f64) {
        let before: Vec<f64> = block.iter().map(|&(_, unknown)| self.x[unknown]).collect();
        let mut factor = 1.0;
        for _ in 0..10 {
            for (i, &(_, unknown)) in block.iter().enumerate() {
                self.x[unknown] = before[i] - factor * step[i];
            }
            let after = self.linearise(block, local);
            let after = after.map(|linear| linear.largest_residual());
            if after.is_ok_and(|after| after <= 2.0 * residual.max(RESIDUAL)) {
                return;
            }
            factor *= 0.5;
        }
    }

    /// Restart equations that the tail entails must hold.
    fn check(&self, fixed: &dyn FixedValues) -> Result<(), RestartFailure> {
        for (&(restart_equation, _), program) in self.plan.checks.iter().zip(&self.programs.checks) {
            let values = self.values(&leaves_of(program, self.environment), &[], 0.0);
            // At an event all terms may be zero but for its location: what is small is told by how large variables are.
            let floor = |(leaf, kind): (&Node, &LeafKind)| match (*kind, *leaf) {
                (LeafKind::Unknown(unknown), _) if self.plan.unknowns[unknown].mu == 0 => {
                    let variable = self.plan.unknowns[unknown].variable;
                    fixed.floor(variable.var, variable.order)
                }
                (LeafKind::Known, Node::Pre { var, order } | Node::Var { var, order }) => fixed.floor(var, order),
                _ => 0.0,
            };
            let floors: Vec<f64> = program.tape.leaves().iter().zip(&program.kinds).map(floor).collect();
            let (residual, scale) = program.tape.value_and_scale(self.functions, &values, &floors);
            let holds = residual.abs() <= CHECK * scale;
            if !holds {
                return Err(RestartFailure::CheckFailed {
                    restart_equation,
                    residual,
                });
            }
        }
        Ok(())
    }
}

/// The unknowns of a block: their columns, and the largest values they have had.
struct Local {
    columns: FxHashMap<usize, usize>,
    reach: Vec<f64>,
}

fn leaves_of(program: &PlanProgram, environment: &dyn Environment) -> Vec<Leaf> {
    let leaf = |(&node, kind): (&Node, &LeafKind)| match *kind {
        LeafKind::Unknown(unknown) => Leaf::Unknown(unknown),
        LeafKind::Mean(mean) => Leaf::Mean(mean),
        LeafKind::Way => Leaf::Way,
        LeafKind::Known => Leaf::Known(leaf_value(environment, node)),
    };
    program.tape.leaves().iter().zip(&program.kinds).map(leaf).collect()
}

/// How far each leaf of an equation may be off.
fn left_errors_of(program: &PlanProgram, fixed: &dyn FixedValues) -> Vec<f64> {
    let error = |(node, kind): (&Node, &LeafKind)| match (kind, *node) {
        (LeafKind::Known, Node::Pre { var, order } | Node::Var { var, order }) => fixed.error(var, order),
        _ => 0.0,
    };
    program.tape.leaves().iter().zip(&program.kinds).map(error).collect()
}

/// Finite unknowns start at their left limits, impulses at zero.
fn start(unknown: &PlanUnknown, environment: &dyn Environment) -> f64 {
    let left = environment.left_limit(unknown.variable.var, unknown.variable.order);
    if unknown.mu == 0 && left.is_finite() { left } else { 0.0 }
}

/// How large an unknown has been; of a first impulse, what it moves.
fn size(unknown: &PlanUnknown, fixed: &dyn FixedValues) -> f64 {
    let variable = unknown.variable;
    match (unknown.mu, variable.order) {
        (0, order) => fixed.size(variable.var, order),
        (1, order @ 1..) => fixed.size(variable.var, order - 1),
        _ => 0.0,
    }
}
