//! Newton's method on values that stay where their owner keeps them: equations of a simulation, solved again and again from
//! the solution of a moment ago.

/// Newton iterations before the equations are given up.
const ITERATION_LIMIT: u32 = 60;
/// Halvings of a Newton step that makes things worse.
const HALVING_LIMIT: u32 = 12;
/// Relative size of a Newton step that counts as converged: an integrator must not see the iteration.
const STEP_TOLERANCE: f64 = 1e-13;
/// Newton iterations without safeguards, from a guess that was the solution a moment ago.
const FOLLOWING_LIMIT: u32 = 6;
/// Steps must shrink by this factor then: that proves a solution nearby (Kantorovich).
const FOLLOWING_RATE: f64 = 0.5;
/// Relative size of a step from which the next ones can be foreseen.
const NEAR: f64 = 1.0;
/// While steps shrink by this factor, the Jacobian of the first serves for the next: residuals and a substitution cost a
/// fraction of derivatives and a factorisation.
const KEPT_JACOBIAN_RATE: f64 = 0.1;
/// Relative size of steps that do not shrink any more because residuals are all rounding: the square root of the rounding error,
/// from which the next step would be the last if residuals were exact.
const ROUNDING_STEP: f64 = 1.5e-8;

/// Equations with their unknowns at the present point.
pub trait EquationsInPlace {
    /// Why they cannot be solved.
    type Failure;

    /// Counts an iteration.
    fn count_iteration(&mut self);
    /// Residuals at the present point.
    ///
    /// # Errors
    /// If one of them is not a number there.
    fn evaluate_residual(&mut self) -> Result<(), Self::Failure>;
    /// Residuals at the present point, which may be no numbers.
    fn try_residual(&mut self);
    /// The largest residual; not a number if one of them is not.
    fn residual_norm(&self) -> f64;
    /// The Newton step at the present point, where residuals are known.
    ///
    /// # Errors
    /// If nothing determines it.
    fn newton_step(&mut self) -> Result<(), Self::Failure>;
    /// A step of one iteration of [`follow`], with residuals of its own; none if it is not determined.
    fn following_step(&mut self, which: FollowingStep) -> Option<StepKind>;
    /// The largest component of the step relative to its unknown.
    fn step_size(&self) -> f64;
    /// Whether an unknown runs away from zero with the step ([`runs_away`](super::runs_away)).
    fn runs_away(&self) -> bool;
    /// Moves the present point by a part of the step.
    fn apply(&mut self, factor: f64);
    /// Whether all residuals are this small against their terms.
    fn is_at_rounding(&mut self, relative: f64) -> bool;
    /// Whether steps with the Jacobian of the last one are worth trying.
    fn may_keep_jacobian(&self) -> bool;
    /// The iteration did not settle.
    fn diverged(&self) -> Self::Failure;
}

/// What [`follow`] asks for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FollowingStep {
    /// Whether it is the first.
    pub is_first: bool,
    /// Whether the Jacobian of the last step serves.
    pub keeps_jacobian: bool,
}

/// How a step was found.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// With a new Jacobian, which the next step may keep.
    Factorised,
    /// With that of the step before.
    KeptJacobian,
    /// By code that leaves no Jacobian behind.
    ByCode,
}

/// Newton steps as long as they shrink as they do near a solution; false if they do not. Then the present point means
/// nothing.
pub fn follow(equations: &mut impl EquationsInPlace) -> bool {
    let mut previous = f64::INFINITY;
    let mut keeps_jacobian = false;
    for iteration in 0..FOLLOWING_LIMIT {
        equations.count_iteration();
        let wanted = FollowingStep {
            is_first: iteration == 0,
            keeps_jacobian,
        };
        let Some(kind) = equations.following_step(wanted) else {
            return false;
        };
        let size = equations.step_size();
        if size > STEP_TOLERANCE && size > FOLLOWING_RATE * previous {
            if kind == StepKind::KeptJacobian {
                // It may be the Jacobian that serves no longer.
                (keeps_jacobian, previous) = (false, size);
                continue;
            }
            return size <= ROUNDING_STEP && !equations.runs_away();
        }
        equations.apply(1.0);
        let ratio = size / previous;
        // Convergence is quadratic: the next step would be this one times the square of the last ratio. With a Jacobian
        // from before it is linear: all further steps together would be this one times ratio/(1 − ratio). A step that was
        // larger than the values themselves says nothing of that: it has changed what sizes are relative to.
        let rest = if kind == StepKind::KeptJacobian {
            ratio / (1.0 - ratio)
        } else {
            ratio * ratio
        };
        let says_rest = previous <= NEAR && ratio > 0.0;
        let settled = size <= STEP_TOLERANCE || (says_rest && size * rest <= STEP_TOLERANCE);
        if settled && !equations.runs_away() {
            return true;
        }
        // Kept only if it leads to the end. The error of the Jacobian is about as large as the first step.
        let rate = if iteration == 0 { size } else { ratio };
        let left = (FOLLOWING_LIMIT - 1 - iteration) as i32;
        let leads_on = rate <= KEPT_JACOBIAN_RATE && size * rate.powi(left) <= STEP_TOLERANCE;
        keeps_jacobian = kind != StepKind::ByCode && leads_on && equations.may_keep_jacobian();
        previous = size;
    }
    false
}

/// Newton's method with steps shortened until residuals do not grow.
///
/// # Errors
/// If the equations are undefined or their Jacobian is singular on the way, or the iteration does not settle.
pub fn solve_damped<E: EquationsInPlace>(equations: &mut E) -> Result<(), E::Failure> {
    equations.evaluate_residual()?;
    for iteration in 0..ITERATION_LIMIT {
        equations.count_iteration();
        equations.newton_step()?;
        let size = equations.step_size();
        let runs_away = equations.runs_away();
        if size <= STEP_TOLERANCE && !runs_away {
            equations.apply(1.0);
            return Ok(());
        }
        let before = equations.residual_norm();
        shortened(equations, before)?;
        if runs_away {
            continue;
        }
        if size <= 1e-7 && equations.residual_norm() <= before * 1e-5 {
            return Ok(());
        }
        // Rounding: steps no longer shrink although the residual is at its floor.
        let at_floor = size <= ROUNDING_STEP && equations.residual_norm() >= 0.5 * before;
        if at_floor || (iteration >= FOLLOWING_LIMIT && equations.is_at_rounding(1e-14)) {
            return Ok(());
        }
    }
    // Ill-conditioned equations do not settle better than their residuals can be computed.
    if equations.is_at_rounding(1e-12) {
        Ok(())
    } else {
        Err(equations.diverged())
    }
}

/// Takes the Newton step, shortened until the residual does not grow.
fn shortened<E: EquationsInPlace>(equations: &mut E, before: f64) -> Result<(), E::Failure> {
    let mut factor = 1.0;
    equations.apply(factor);
    for _ in 0..HALVING_LIMIT {
        equations.try_residual();
        let after = equations.residual_norm();
        if after.is_finite() && after <= before * (1.0 + 1e-9) {
            return Ok(());
        }
        equations.apply(-0.5 * factor);
        factor *= 0.5;
    }
    equations.evaluate_residual()
}

#[cfg(test)]
mod tests {
    use super::super::runs_away;
    use super::*;

    /// x² = a, from a guess.
    struct Root {
        a: f64,
        x: f64,
        residual: f64,
        slope: f64,
        step: f64,
        iterations: u32,
        factorised: u32,
    }

    impl Root {
        fn new(a: f64, x: f64) -> Self {
            Root {
                a,
                x,
                residual: f64::NAN,
                slope: f64::NAN,
                step: 0.0,
                iterations: 0,
                factorised: 0,
            }
        }
    }

    impl EquationsInPlace for Root {
        type Failure = &'static str;

        fn count_iteration(&mut self) {
            self.iterations += 1;
        }
        fn evaluate_residual(&mut self) -> Result<(), &'static str> {
            self.try_residual();
            if self.residual.is_finite() {
                Ok(())
            } else {
                Err("undefined")
            }
        }
        fn try_residual(&mut self) {
            self.residual = self.x * self.x - self.a;
        }
        fn residual_norm(&self) -> f64 {
            self.residual.abs()
        }
        fn newton_step(&mut self) -> Result<(), &'static str> {
            self.slope = 2.0 * self.x;
            self.factorised += 1;
            self.step = -self.residual / self.slope;
            if self.step.is_finite() { Ok(()) } else { Err("singular") }
        }
        fn following_step(&mut self, which: FollowingStep) -> Option<StepKind> {
            self.try_residual();
            if which.keeps_jacobian {
                self.step = -self.residual / self.slope;
                return Some(StepKind::KeptJacobian);
            }
            self.newton_step().ok()?;
            Some(StepKind::Factorised)
        }
        fn step_size(&self) -> f64 {
            self.step.abs() / self.x.abs().max(1e-3)
        }
        fn runs_away(&self) -> bool {
            runs_away(self.x, self.step)
        }
        fn apply(&mut self, factor: f64) {
            self.x += factor * self.step;
        }
        fn is_at_rounding(&mut self, relative: f64) -> bool {
            self.residual.abs() <= relative * (self.x * self.x + self.a.abs())
        }
        fn may_keep_jacobian(&self) -> bool {
            true
        }
        fn diverged(&self) -> &'static str {
            "diverged"
        }
    }

    #[test]
    fn what_is_near_is_followed_with_one_jacobian() {
        for power in -6..7 {
            let a = 10f64.powi(power);
            let mut root = Root::new(a, a.sqrt() * (1.0 + 1e-4));
            assert!(follow(&mut root), "{a}");
            assert!((root.x - a.sqrt()).abs() <= 1e-12 * a.sqrt(), "{a}: {}", root.x);
            assert!(root.factorised <= 1 + root.iterations / 2, "{a}");
        }
    }

    #[test]
    fn what_is_far_is_not_followed_but_solved() {
        for power in 1..7 {
            let a = 10f64.powi(power);
            assert!(!follow(&mut Root::new(a, 1e-3)), "{a}");
            let mut root = Root::new(a, 1e-3);
            assert_eq!(solve_damped(&mut root), Ok(()), "{a}");
            assert!((root.x - a.sqrt()).abs() <= 1e-12 * a.sqrt(), "{a}: {}", root.x);
        }
    }

    /// x² = 1 with residuals that are known to a part of 1e-10 only, as differences of large terms are.
    struct Noisy {
        root: Root,
        evaluations: u64,
    }

    impl EquationsInPlace for Noisy {
        type Failure = &'static str;

        fn count_iteration(&mut self) {
            self.root.count_iteration();
        }
        fn evaluate_residual(&mut self) -> Result<(), &'static str> {
            self.try_residual();
            Ok(())
        }
        fn try_residual(&mut self) {
            self.evaluations += 1;
            self.root.try_residual();
            self.root.residual += 1e-9 * (self.evaluations as f64 * 2.4).sin();
        }
        fn residual_norm(&self) -> f64 {
            self.root.residual.abs()
        }
        fn newton_step(&mut self) -> Result<(), &'static str> {
            self.root.newton_step()
        }
        fn following_step(&mut self, _: FollowingStep) -> Option<StepKind> {
            self.try_residual();
            self.newton_step().ok()?;
            Some(StepKind::Factorised)
        }
        fn step_size(&self) -> f64 {
            self.root.step_size()
        }
        fn runs_away(&self) -> bool {
            self.root.runs_away()
        }
        fn apply(&mut self, factor: f64) {
            self.root.apply(factor);
        }
        fn is_at_rounding(&mut self, relative: f64) -> bool {
            self.root.is_at_rounding(relative)
        }
        fn may_keep_jacobian(&self) -> bool {
            false
        }
        fn diverged(&self) -> &'static str {
            "diverged"
        }
    }

    #[test]
    fn noise_of_residuals_ends_an_iteration_at_once() {
        for k in 0..50 {
            let root = Root::new(1.0, 1.0 + 1e-3 * f64::from(k));
            let mut noisy = Noisy {
                root,
                evaluations: k as u64,
            };
            assert!(follow(&mut noisy), "{k}");
            assert!(noisy.root.iterations <= 6, "{k}: {} iterations", noisy.root.iterations);
            assert!((noisy.root.x - 1.0).abs() < 2e-9, "{k}: {}", noisy.root.x);
        }
    }

    #[test]
    fn what_has_no_solution_fails() {
        assert_eq!(solve_damped(&mut Root::new(4.0, 0.0)), Err("singular"));
        assert_eq!(solve_damped(&mut Root::new(f64::NAN, 1.0)), Err("undefined"));
        assert_eq!(solve_damped(&mut Root::new(-1.0, 0.3)), Err("diverged"));
    }
}
