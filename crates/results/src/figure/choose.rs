//! What to show of a model nobody has said anything about.

use crate::{Role, Signal, SignalId, SignalKind, Trajectory, Value};

use super::group::Prepared;

const MOST_SIGNALS: usize = 8;
const MOST_PANELS: usize = 4;
/// Of one unit, so that a model with many positions shows its speeds as well.
const MOST_PER_UNIT: usize = 3;

/// The signals a newcomer would want to see: states and outputs that vary, near the top of the model, at most eight
/// in at most four panels.
pub fn default_selection(trajectory: &Trajectory) -> Vec<SignalId> {
    let schema = trajectory.schema();
    let mut candidates: Vec<SignalId> = schema.ids().filter(|&id| is_candidate(trajectory, id)).collect();
    candidates.sort_by_key(|&id| (rank(schema.signal(id)), id));
    let moving: Vec<SignalId> = candidates
        .iter()
        .copied()
        .filter(|&id| varies(&trajectory.values(id)))
        .collect();
    // A model at rest is shown all the same.
    let pool = if moving.is_empty() { candidates } else { moving };
    pick(trajectory, &pool)
}

fn is_candidate(trajectory: &Trajectory, id: SignalId) -> bool {
    let schema = trajectory.schema();
    let signal = schema.signal(id);
    let Value::Column { column, .. } = schema.value(id) else {
        return false;
    };
    let carrier = schema.columns()[column.index()];
    // Of several names of one thing show the one that carries it, unless another is an output.
    let own = carrier == id || matches!(signal.role, Role::Output | Role::State);
    own && !signal.protected && !signal.hidden
}

/// Smaller is more interesting.
fn rank(signal: &Signal) -> (usize, usize) {
    let role = match signal.role {
        Role::State | Role::Output => 0,
        Role::Input => 2,
        Role::Local if signal.name.starts_with("der(") => 5,
        Role::Local => 3,
        Role::Derivative | Role::Parameter => 5,
    };
    let depth = signal.name.matches(['.', '[', '$']).count();
    // Names of about the same length stay in the order of the model.
    (role + 2 * depth, signal.name.len() / 12)
}

fn varies(values: &[f64]) -> bool {
    let mut finite = values.iter().copied().filter(|value| value.is_finite());
    let Some(first) = finite.next() else { return false };
    let (mut low, mut high) = (first, first);
    for value in finite {
        low = low.min(value);
        high = high.max(value);
    }
    high - low > 1e-9 * low.abs().max(high.abs())
}

fn pick(trajectory: &Trajectory, pool: &[SignalId]) -> Vec<SignalId> {
    let schema = trajectory.schema();
    let mut chosen: Vec<SignalId> = Vec::new();
    let mut panels: Vec<(String, usize)> = Vec::new();
    let mut carriers: Vec<_> = Vec::new();
    for &id in pool {
        let Value::Column { column, .. } = schema.value(id) else {
            continue;
        };
        if chosen.len() == MOST_SIGNALS || carriers.contains(&column) {
            continue;
        }
        let key = match schema.signal(id).kind {
            SignalKind::Boolean | SignalKind::Enumeration(_) => "strips".to_owned(),
            _ => format!("unit {}", Prepared::new(trajectory, id).unit),
        };
        match panels.iter().position(|(unit, _)| *unit == key) {
            Some(panel) if panels[panel].1 < MOST_PER_UNIT => panels[panel].1 += 1,
            None if panels.len() < MOST_PANELS => panels.push((key, 1)),
            _ => continue,
        }
        chosen.push(id);
        carriers.push(column);
    }
    chosen
}
