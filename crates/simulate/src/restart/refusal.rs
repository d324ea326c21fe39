//! Why a mode change cannot be carried out, in words.

use saltus_instant::RestartFailure;
use saltus_mdae::OriginId;
use saltus_structure::restart::{ConcreteEquation, Explanation, ModeChange, PlanEquation, RestartPlan};

use crate::compiled::Compiled;
use crate::error::{Failure, FailureKind};
use crate::report::Refusal;

/// Where an equation of a restart system comes from.
pub(super) fn origin_of(change: &ModeChange, equation: &PlanEquation) -> Option<OriginId> {
    match equation.equation {
        ConcreteEquation::Array(label) => Some(change.origin(label.source)),
        ConcreteEquation::Euler(_) => None,
    }
}

pub(super) fn refused(explanation: Explanation) -> Failure {
    Failure::new(FailureKind::Restart(Refusal {
        reason: explanation.summary,
        origins: explanation.equations,
        help: explanation.help,
    }))
}

pub(super) fn unsolved(
    compiled: &Compiled,
    change: &ModeChange,
    plan: &RestartPlan,
    failure: &RestartFailure,
) -> Failure {
    let origins_of = |equations: &[usize]| -> Vec<OriginId> {
        let mut origins: Vec<OriginId> = Vec::new();
        for &position in equations {
            let origin = origin_of(change, &plan.equations[position]);
            origins.extend(origin.filter(|origin| !origins.contains(origin)));
        }
        origins
    };
    let (reason, origins) = match failure {
        RestartFailure::Singular { rank, size, unknowns } => {
            let mut names: Vec<String> = unknowns
                .iter()
                .map(|&unknown| plan.unknowns[unknown].variable)
                .map(|variable| format!("`{}`", compiled.name(variable.var, variable.order)))
                .collect();
            names.sort_unstable();
            names.dedup();
            let reason = format!(
                "the restart system is singular (rank {rank} of {size}) in {}",
                names.join(", ")
            );
            (reason, Vec::new())
        }
        RestartFailure::NotConverged { equations, residual } => (
            format!("the restart system has no solution (residual {residual:e})"),
            origins_of(equations),
        ),
        RestartFailure::NotFinite { equation } => (
            "the restart system is undefined at the left limits".to_string(),
            origins_of(&[*equation]),
        ),
        RestartFailure::CheckFailed {
            restart_equation,
            residual,
        } => (
            format!("a restart equation contradicts the mode entered (residual {residual:e})"),
            change
                .restart_equations
                .get(*restart_equation as usize)
                .map(|equation| equation.origin)
                .into_iter()
                .collect(),
        ),
    };
    Failure::new(FailureKind::Restart(Refusal {
        origins,
        ..Refusal::from(reason)
    }))
}
