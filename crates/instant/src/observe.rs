//! What a restart does at left limits that the mode before allows: what jumps there, and what has an impulse.
//!
//! Structure says which right limits are unknowns of the restart system; many of them turn out equal to their left
//! limits (a body that touches the colliding ones but is not hit). Solving the system at a few points of the mode before
//! tells them apart, and also whether the system is regular in numbers.

use rustc_hash::FxHashMap;
use saltus_graph::Row;
use saltus_mdae::eval::Environment;
use saltus_mdae::function::Functions;
use saltus_mdae::{ConditionId, Derivative, ExprId, ExprPool, Node, VarId};

use saltus_structure::restart::{
    FixedValues, LimitMethod, ModeChange, Observation, RestartAnalysis, RestartPlan, RightLimit, RightLimitSource,
    sample_points,
};

use crate::projector::project_restart;
use crate::solve::{RestartFailure, solve_restart};

/// Points at which a restart is tried.
const POINTS: usize = 2;
/// Of larger modes the points are arbitrary: more may seem to jump, nothing less.
const MOST_EQUATIONS: usize = 150;
/// A difference below this, relative to the limits on both sides, is no jump.
const SAME: f64 = 1e-7;

/// Relative to the nominal value of a variable a smaller difference is no jump, to the largest impulse a smaller one is none:
/// limits that should be zero are so up to rounding.
const ROUNDING: f64 = 1e-13;

/// Tries a restart at points of the mode before. The environment gives parameters, inputs and discrete values, before
/// and after. `None` if no right limits were found: the restart is refused, or no point suits.
pub fn observe(
    pool: &mut ExprPool,
    functions: &Functions,
    fixed: &dyn FixedValues,
    change: &ModeChange,
    analysis: &RestartAnalysis,
    environment: &dyn Environment,
) -> Option<Observation> {
    let open = |plan: &RestartPlan| !plan.impulses.is_empty() || plan.right_limits.iter().any(is_unknown);
    if analysis.is_good() && !analysis.plan.as_ref().is_some_and(open) {
        return Some(Observation {
            method: LimitMethod::Structure,
            jumps: Vec::new(),
            impulses: Vec::new(),
        });
    }
    let rows = change.previous().map_or(0, |previous| previous.equations().len());
    let equations = if rows <= MOST_EQUATIONS {
        equations_before(pool, change)
    } else {
        Vec::new()
    };
    let points =
        sample_points(pool, functions, fixed, &equations, POINTS).unwrap_or_else(|| vec![FxHashMap::default(); POINTS]);
    let mut seen: Option<Observation> = None;
    for (number, point) in points.iter().enumerate() {
        let at = Sampled {
            point,
            number: number as u64,
            change,
            environment,
        };
        let Some(found) = restart_at(pool, functions, fixed, change, analysis, &at) else {
            continue;
        };
        match &mut seen {
            None => seen = Some(found),
            Some(seen) => {
                seen.jumps.extend(found.jumps);
                seen.impulses.extend(found.impulses);
            }
        }
    }
    if let Some(seen) = &mut seen {
        seen.jumps.sort_unstable();
        seen.jumps.dedup();
        seen.impulses.sort_unstable();
        seen.impulses.dedup();
    }
    seen
}

fn is_unknown(limit: &RightLimit) -> bool {
    matches!(limit.source, RightLimitSource::Unknown(_))
}

/// What holds just before the change: the equations of the previous mode with their derivatives, and the zero
/// crossings; current values stand for left limits.
fn equations_before(pool: &mut ExprPool, change: &ModeChange) -> Vec<ExprId> {
    let mut found = Vec::new();
    for &crossing in change.zero_crossings {
        let crossing = change.before_jumps(pool, crossing);
        found.push(change.at_left_limits(pool, crossing));
    }
    let Some(previous) = change.previous() else {
        return found;
    };
    for row in (0..previous.equations().len()).map(Row::from_index) {
        let residual = change.before_jumps(pool, previous.equation(row).residual);
        for order in 0..=previous.equation_offset(row) {
            found.push(pool.nth_total_derivative(residual, order));
        }
    }
    found
}

fn restart_at(
    pool: &ExprPool,
    functions: &Functions,
    fixed: &dyn FixedValues,
    change: &ModeChange,
    analysis: &RestartAnalysis,
    at: &Sampled,
) -> Option<Observation> {
    let rows: Vec<Row> = analysis
        .components
        .iter()
        .flat_map(|touched| change.new.component_rows(touched.component).iter().copied())
        .collect();
    let (method, right_limits, impulses) = match &analysis.plan {
        Some(plan) if analysis.is_good() => match solve_restart(pool, functions, plan, at, fixed) {
            Ok(solution) => (LimitMethod::Structure, solution.right_limits, solution.impulses),
            Err(RestartFailure::Singular { .. }) => {
                let projected = project_restart(pool, functions, change.new, &rows, at).ok()?;
                (LimitMethod::Projector, projected.right_limits, projected.impulses)
            }
            Err(_) => return None,
        },
        _ => {
            if !analysis.is_projectable() || !change.restart_equations.is_empty() || change.transient.is_some() {
                return None;
            }
            let projected = project_restart(pool, functions, change.new, &rows, at).ok()?;
            (LimitMethod::Projector, projected.right_limits, projected.impulses)
        }
    };
    let jumps = right_limits
        .iter()
        .filter(|&&(var, order, right)| differ(at.left_limit(var, order), right, fixed.nominal(var)));
    // With a jump some impulses are real, however small: that of a current is as small as its capacitors.
    let small = if jumps.clone().next().is_some() { ROUNDING } else { SAME };
    let largest = impulses.iter().map(|impulse| impulse.weight.abs()).fold(1.0, f64::max);
    let impulses = impulses.iter().filter(|impulse| impulse.weight.abs() > small * largest);
    Some(Observation {
        method,
        jumps: jumps.map(|&(var, order, _)| Derivative { var, order }).collect(),
        impulses: impulses.map(|i| (i.var, i.order, i.mu)).collect(),
    })
}

/// Whether limits on both sides are different: relative to their own size, which may be that of the charge of a small
/// capacitor.
fn differ(left: f64, right: f64, nominal: f64) -> bool {
    let same = SAME * left.abs().max(right.abs());
    (right - left).abs() > same.max(ROUNDING * nominal.abs())
}

/// Left limits of a point; what it does not hold is arbitrary.
struct Sampled<'a, 'b> {
    point: &'a FxHashMap<Node, f64>,
    number: u64,
    change: &'a ModeChange<'b>,
    environment: &'a dyn Environment,
}

impl Sampled<'_, '_> {
    fn arbitrary(&self, var: VarId, order: u16) -> f64 {
        let mut z = (u64::from(var.0) << 20) + (u64::from(order) << 8) + self.number + 1;
        z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        0.5 + (z >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Environment for Sampled<'_, '_> {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        match self.point.get(&Node::Var { var, order }) {
            Some(&value) => value,
            None if (self.change.is_unknown)(var) => self.arbitrary(var, order),
            None => self.environment.variable(var, order),
        }
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        let left = self.point.get(&Node::Pre { var, order });
        match left {
            Some(&value) => value,
            None if (self.change.is_unknown)(var) => self.variable(var, order),
            None => self.environment.left_limit(var, order),
        }
    }
    fn time(&self) -> f64 {
        self.point.get(&Node::Time).copied().unwrap_or(self.environment.time())
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.environment.condition(condition)
    }
    fn initial(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::differ;

    #[test]
    fn jumps_are_seen_at_the_size_of_the_variable() {
        // A charge of some pC, a distance of some nm.
        assert!(differ(5e-12, 2e-12, 1.0));
        assert!(differ(0.0, 1e-9, 1.0));
        assert!(differ(5e-18, 2e-18, 1e-18));
        assert!(differ(101_325.0, 101_326.0, 1e5));
        // Limits that are equal, or zero, up to rounding.
        assert!(!differ(5e-12, 5e-12 * (1.0 + 1e-9), 1.0));
        assert!(!differ(1e-15, 0.0, 1.0));
        assert!(!differ(101_325.0, 101_325.0 + 1e-6, 1e5));
    }
}
