//! Continuation: follows a family of systems from an easy one (λ = 0) to the one wanted (λ = 1).

use super::{NewtonOptions, NewtonSolver, NonlinearSystem, SolveFailure};
use std::fmt;

/// A family of systems F(x; λ) = 0.
pub trait HomotopySystem: NonlinearSystem {
    /// Chooses the member of the family that the functions of [`NonlinearSystem`] stand for.
    fn set_lambda(&mut self, lambda: f64);
}

/// Limits of the continuation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HomotopyOptions {
    /// First increment of λ.
    pub first_increment: f64,
    /// Smallest increment before giving up.
    pub smallest_increment: f64,
    /// Limit on the number of systems solved.
    pub max_steps: usize,
}

impl Default for HomotopyOptions {
    fn default() -> Self {
        Self {
            first_increment: 0.2,
            smallest_increment: 1e-5,
            max_steps: 400,
        }
    }
}

/// Success.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HomotopyReport {
    /// Systems solved, failures included.
    pub steps: usize,
    /// Newton iterations of the successful ones.
    pub iterations: usize,
}

/// Failure: how far the family could be followed, and what stopped it.
#[derive(Clone, Debug, PartialEq)]
pub struct HomotopyFailure {
    /// The last λ with a solution; `None` if even λ = 0 has none.
    pub reached: Option<f64>,
    /// The solution there.
    pub x: Vec<f64>,
    /// Why the next system could not be solved.
    pub failure: Box<SolveFailure>,
}

impl fmt::Display for HomotopyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reached {
            Some(lambda) => write!(f, "continuation stopped at {lambda}: {}", self.failure),
            None => write!(f, "the simplified system has no solution: {}", self.failure),
        }
    }
}

impl std::error::Error for HomotopyFailure {}

/// Follows the family from λ = 0 to λ = 1; `x` holds the start values, then the solution.
///
/// # Errors
/// If the path cannot be followed; `x` is then as it was.
pub fn solve_homotopy(
    system: &mut dyn HomotopySystem,
    x: &mut [f64],
    newton: &NewtonOptions,
    options: &HomotopyOptions,
) -> Result<HomotopyReport, HomotopyFailure> {
    let start = x.to_vec();
    let mut path = Path {
        solver: NewtonSolver::new(as_nonlinear(system)),
        report: HomotopyReport {
            steps: 0,
            iterations: 0,
        },
    };
    let result = path.follow(system, x, newton, options);
    if result.is_err() {
        x.copy_from_slice(&start);
    }
    result.map(|()| path.report)
}

fn as_nonlinear(system: &mut dyn HomotopySystem) -> &mut dyn NonlinearSystem {
    system
}

struct Path {
    solver: NewtonSolver,
    report: HomotopyReport,
}

impl Path {
    fn solve(
        &mut self,
        system: &mut dyn HomotopySystem,
        lambda: f64,
        x: &mut [f64],
        newton: &NewtonOptions,
    ) -> Result<(), Box<SolveFailure>> {
        system.set_lambda(lambda);
        self.report.steps += 1;
        let report = self.solver.solve(as_nonlinear(system), x, newton)?;
        self.report.iterations += report.iterations;
        Ok(())
    }

    fn follow(
        &mut self,
        system: &mut dyn HomotopySystem,
        x: &mut [f64],
        newton: &NewtonOptions,
        options: &HomotopyOptions,
    ) -> Result<(), HomotopyFailure> {
        let mut trial = x.to_vec();
        if let Err(failure) = self.solve(system, 0.0, &mut trial, newton) {
            return Err(HomotopyFailure {
                reached: None,
                x: x.to_vec(),
                failure,
            });
        }
        x.copy_from_slice(&trial);
        // Off the first solution only short steps are safe for plain Newton; the trust region would jump branches.
        let local = NewtonOptions {
            dogleg: false,
            ..newton.clone()
        };
        let (mut lambda, mut increment) = (0.0, options.first_increment);
        let mut previous: Option<(f64, Vec<f64>)> = None;
        while lambda < 1.0 {
            let next = if lambda + increment >= 1.0 - 1e-12 {
                1.0
            } else {
                lambda + increment
            };
            predict(&mut trial, x, lambda, previous.as_ref(), next);
            match self.solve(system, next, &mut trial, &local) {
                Ok(()) => {
                    previous = Some((lambda, x.to_vec()));
                    x.copy_from_slice(&trial);
                    lambda = next;
                    increment *= 2.0;
                }
                Err(failure) => {
                    increment = 0.25 * (next - lambda);
                    if increment < options.smallest_increment || self.report.steps >= options.max_steps {
                        return Err(HomotopyFailure {
                            reached: Some(lambda),
                            x: x.to_vec(),
                            failure,
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Secant predictor.
fn predict(trial: &mut [f64], x: &[f64], lambda: f64, previous: Option<&(f64, Vec<f64>)>, next: f64) {
    trial.copy_from_slice(x);
    if let Some((before, old)) = previous {
        let share = (next - lambda) / (lambda - before);
        for ((t, x), o) in trial.iter_mut().zip(x).zip(old) {
            *t += share * (x - o);
        }
    }
}
