//! Right limits compared with the limit of implicit Euler steps, an independent way to them.

use saltus_instant::{EulerFailure, EulerLimit, RestartSolution, implicit_euler_restart, implicit_euler_through};
use saltus_mdae::{ExprId, VarId};
use saltus_structure::restart::{ModeChange, RestartAnalysis};

use crate::engine::Engine;
use crate::options::RestartMethod;
use crate::restart::change::touched_rows;
use crate::restart::facts::Present;

impl Engine {
    /// Warns of right limits on which the two ways disagree, and takes those of the steps where that is asked for.
    pub(super) fn compare_with_euler(
        &mut self,
        change: &ModeChange<'_>,
        analysis: &RestartAnalysis,
        solution: &mut RestartSolution,
    ) {
        let limits = match self.euler_limits(change, analysis, solution) {
            Ok(limits) => limits,
            Err(why) => {
                self.reported.warnings.push(format!(
                    "at t = {}: the restart was not compared with implicit Euler steps: {why}",
                    self.memory.time()
                ));
                Vec::new()
            }
        };
        for (var, order, structural, euler) in euler_differences(solution, &limits) {
            let name = self.compiled.name(var, order);
            self.reported.warnings.push(format!(
                "at t = {}: restart of {name}: {structural} by structure, {euler} by implicit Euler",
                self.memory.time()
            ));
        }
        if self.options.restart == RestartMethod::Euler {
            take_euler_limits(solution, &limits);
        }
    }

    /// The limits of the steps, or why there are none.
    fn euler_limits(
        &self,
        change: &ModeChange<'_>,
        analysis: &RestartAnalysis,
        solution: &RestartSolution,
    ) -> Result<Vec<EulerLimit>, String> {
        let (pool, functions) = (&self.pool, &self.model.functions);
        let present = Present {
            memory: &self.memory,
            initial: change.previous().is_none(),
        };
        let restart = change.restart_equations;
        let found = match change.transient {
            Some(transient) => {
                let equations: Vec<ExprId> = transient.iter().chain(restart).map(|e| e.residual).collect();
                implicit_euler_through(pool, functions, change.new, &equations, change.is_unknown, &present)
            }
            None if restart.is_empty() => {
                let rows = touched_rows(change, analysis);
                implicit_euler_restart(pool, functions, change.new, &rows, &present, None)
            }
            // A restart equation in a mode that is regular without it replaces a left limit; steps of the mode know
            // nothing of it.
            None => Ok(Vec::new()),
        };
        match found {
            Ok(limits) if !limits.is_empty() || solution.right_limits.is_empty() => Ok(limits),
            Ok(_) => Err("restart equations act in a mode that needs none".to_string()),
            Err(EulerFailure::NotConverged { .. }) => Err("the steps have no solution".to_string()),
            Err(EulerFailure::NotSquare { equations, unknowns }) => {
                Err(format!("{equations} equations for {unknowns} unknowns at the instant"))
            }
        }
    }
}

/// Right limits on which the two methods disagree.
fn euler_differences(solution: &RestartSolution, limits: &[EulerLimit]) -> Vec<(VarId, u16, f64, f64)> {
    let mut found = Vec::new();
    for &(var, order, value) in &solution.right_limits {
        let limit = limits.iter().find(|limit| (limit.var, limit.order) == (var, order));
        if let Some(euler) = limit.and_then(|limit| limit.value)
            && (euler - value).abs() > 1e-6 * (1.0 + value.abs())
        {
            found.push((var, order, value, euler));
        }
    }
    found
}

fn take_euler_limits(solution: &mut RestartSolution, limits: &[EulerLimit]) {
    for (var, order, value) in &mut solution.right_limits {
        let limit = limits.iter().find(|limit| (limit.var, limit.order) == (*var, *order));
        if let Some(euler) = limit.and_then(|limit| limit.value) {
            *value = euler;
        }
    }
}
