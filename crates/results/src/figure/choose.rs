//! What to show of a model nobody has said anything about.

use std::collections::{BTreeMap, BTreeSet};

use crate::{AliasSign, ColumnId, Role, Signal, SignalId, SignalKind, Trajectory, Value};

use super::group::Prepared;

const MOST_SIGNALS: usize = 8;
const MOST_PANELS: usize = 4;
/// Of one unit, so that a model with many positions shows its speeds as well.
const MOST_PER_UNIT: usize = 3;

/// Differences that are looked for first.
const MOST_SET_POINTS: usize = 2;

/// What moves this much less than others of its unit is rounding.
const NOISE: f64 = 1e-9;

/// The signals a newcomer would want to see: set points and what is to follow them, then states and outputs that vary, near the top
/// of the model, at most eight in at most four panels.
pub fn default_selection(trajectory: &Trajectory) -> Vec<SignalId> {
    let schema = trajectory.schema();
    let named = named_derivatives(trajectory);
    let mut candidates: Vec<SignalId> = schema
        .ids()
        .filter(|&id| is_candidate(trajectory, id, &named))
        .collect();
    let states = state_columns(trajectory);
    candidates.sort_by_key(|&id| {
        let signal = schema.signal(id);
        let is_state = matches!(schema.value(id), Value::Column { column, .. } if states.contains(&column));
        let (first, second) = rank(signal, is_state);
        // Of a shaft that turns and turns the speed is looked at.
        (first + if is_accumulated(trajectory, id) { 5 } else { 0 }, second, id)
    });
    let moving = moving(trajectory, &candidates);
    // A model at rest is shown all the same.
    let pool = if moving.is_empty() { candidates } else { moving };
    let mut wanted = set_points(trajectory);
    wanted.extend(pool);
    pick(trajectory, &wanted)
}

/// Set points and what is to follow them, nearest to the top of the model first; a set point may stand still.
fn set_points(trajectory: &Trajectory) -> Vec<SignalId> {
    let schema = trajectory.schema();
    let moves = |id: SignalId| extent(&trajectory.values(id)).is_some();
    let is_seen = |&(wanted, actual): &(SignalId, SignalId)| {
        let shown = [wanted, actual].iter().all(|&id| is_shown(schema.signal(id)));
        shown && (moves(wanted) || moves(actual)) && schema.value(wanted) != schema.value(actual)
    };
    let named = trajectory.manifest().set_points.iter();
    let found = named.filter_map(|(wanted, actual)| Some((schema.find(wanted)?, schema.find(actual)?)));
    let mut pairs: Vec<(SignalId, SignalId)> = found.filter(is_seen).collect();
    pairs.sort_by_key(|&(wanted, _)| depth(schema.signal(wanted)));
    pairs.truncate(MOST_SET_POINTS);
    pairs
        .into_iter()
        .flat_map(|(wanted, actual)| [wanted, actual])
        .collect()
}

/// The columns that are states under any of their names, and the speeds of positions and angles that are.
fn state_columns(trajectory: &Trajectory) -> BTreeSet<ColumnId> {
    let schema = trajectory.schema();
    let is_state = |id: &SignalId| {
        let signal = schema.signal(*id);
        signal.role == Role::State || schema.find(&format!("der({})", signal.name)).is_some()
    };
    let states = schema.ids().filter(is_state);
    let speed = |id: SignalId| {
        let signal = schema.signal(id);
        let is_position = matches!(signal.unit.as_str(), "rad" | "deg" | "m");
        is_position
            .then(|| schema.find(&format!("der({})", signal.name)))
            .flatten()
    };
    let column = |id: SignalId| match schema.value(id) {
        Value::Column { column, .. } => Some(column),
        Value::Constant(_) => None,
    };
    states
        .flat_map(|id| [Some(id), speed(id)])
        .flatten()
        .filter_map(column)
        .collect()
}

fn is_derivative(signal: &Signal) -> bool {
    signal.name.starts_with("der(")
}

/// An angle that went around several times, and whose derivative is there to be shown instead.
fn is_accumulated(trajectory: &Trajectory, id: SignalId) -> bool {
    const TURNS: f64 = 2.0 * std::f64::consts::TAU;
    let signal = trajectory.schema().signal(id);
    let size = match signal.unit.as_str() {
        "rad" => TURNS,
        "deg" => TURNS.to_degrees(),
        _ => return false,
    };
    let derivative = trajectory.schema().find(&format!("der({})", signal.name));
    derivative.is_some() && extent(&trajectory.values(id)).is_some_and(|extent| extent > size)
}

fn is_shown(signal: &Signal) -> bool {
    !signal.protected && !signal.hidden
}

/// For columns carried by a derivative, the name the model gives it: `w` rather than `der(phi)`.
fn named_derivatives(trajectory: &Trajectory) -> BTreeMap<ColumnId, SignalId> {
    let schema = trajectory.schema();
    let mut named = BTreeMap::new();
    for id in schema.ids() {
        let Value::Column { column, sign } = schema.value(id) else {
            continue;
        };
        let carrier = schema.signal(schema.columns()[column.index()]);
        let signal = schema.signal(id);
        if is_derivative(carrier) && !is_derivative(signal) && is_shown(signal) && sign == AliasSign::Same {
            named.entry(column).or_insert(id);
        }
    }
    named
}

fn is_candidate(trajectory: &Trajectory, id: SignalId, named: &BTreeMap<ColumnId, SignalId>) -> bool {
    let schema = trajectory.schema();
    let signal = schema.signal(id);
    let Value::Column { column, .. } = schema.value(id) else {
        return false;
    };
    let carrier = named.get(&column).copied().unwrap_or(schema.columns()[column.index()]);
    // Of several names of one thing show the one that carries it, unless another is an output.
    let own = carrier == id || (!named.contains_key(&column) && matches!(signal.role, Role::Output | Role::State));
    own && is_shown(signal)
}

/// Smaller is more interesting.
fn rank(signal: &Signal, is_state: bool) -> (usize, usize) {
    let role = match signal.role {
        Role::Local if is_state && !is_derivative(signal) => 1,
        Role::Output => 0,
        // Of equals at the same depth outputs come first; inputs are what they answer to.
        Role::State | Role::Input => 1,
        Role::Local if is_derivative(signal) => 5,
        // Auxiliary quantities of an element, such as the parameter of its curve, have no unit.
        Role::Local if signal.kind == SignalKind::Continuous && matches!(&*signal.unit, "" | "1") => 4,
        Role::Local => 3,
        Role::Derivative | Role::Parameter => 5,
    };
    // Names of about the same length stay in the order of the model.
    (role + 2 * depth(signal), signal.name.len() / 12)
}

/// How far below the top of the model.
fn depth(signal: &Signal) -> usize {
    signal.name.matches(['.', '[', '$']).count()
}

/// Those that move, and not only by rounding: compared with the others of their unit.
fn moving(trajectory: &Trajectory, candidates: &[SignalId]) -> Vec<SignalId> {
    let schema = trajectory.schema();
    let unit = |id: SignalId| &*schema.signal(id).unit;
    let extents: Vec<(SignalId, f64)> = candidates
        .iter()
        .filter_map(|&id| Some((id, extent(&trajectory.values(id))?)))
        .collect();
    let mut largest: BTreeMap<&str, f64> = BTreeMap::new();
    for &(id, extent) in &extents {
        let known = largest.entry(unit(id)).or_default();
        *known = known.max(extent);
    }
    extents
        .into_iter()
        .filter(|&(id, extent)| extent > NOISE * largest[unit(id)])
        .map(|(id, _)| id)
        .collect()
}

/// How far the values lie apart, if that is more than rounding.
fn extent(values: &[f64]) -> Option<f64> {
    let mut finite = values.iter().copied().filter(|value| value.is_finite());
    let first = finite.next()?;
    let (low, high) = finite.fold((first, first), |(low, high), value| (low.min(value), high.max(value)));
    let extent = high - low;
    (extent > NOISE * low.abs().max(high.abs())).then_some(extent)
}

fn pick(trajectory: &Trajectory, pool: &[SignalId]) -> Vec<SignalId> {
    let schema = trajectory.schema();
    let mut chosen: Vec<SignalId> = Vec::new();
    let mut panels: Vec<(String, usize)> = Vec::new();
    let mut carriers: Vec<_> = Vec::new();
    for &id in pool {
        let column = match schema.value(id) {
            Value::Column { column, .. } => Some(column),
            Value::Constant(_) => None,
        };
        if chosen.len() == MOST_SIGNALS
            || chosen.contains(&id)
            || column.is_some_and(|column| carriers.contains(&column))
        {
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
        carriers.extend(column);
    }
    chosen
}
