//! Pairs of conditions that cannot have certain values together: `s > f0` and `s < -f0`, `time < 1` and `time >= 2`.

use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::{Comparison, ConditionId, ConditionKind, ExprId, Idx, Mdae, Role, VarId};

use crate::discrete_state::DiscreteState;
use crate::trigger::Trigger;

/// Points at which conditions are compared.
const POINTS: usize = 4;
/// Models with more conditions are not looked at in pairs.
const MOST_CONDITIONS: usize = 200;

/// Two conditions with values that exclude each other.
#[derive(Copy, Clone, Debug)]
struct Pair {
    first: (ConditionId, bool),
    second: (ConditionId, bool),
    /// Whether both change at the same zero crossing.
    together: bool,
}

/// The pairs of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exclusions {
    pairs: Vec<Pair>,
    /// The pairs of each condition.
    of: Vec<Vec<u32>>,
}

/// A condition with its values at the points.
struct Sampled {
    id: ConditionId,
    strict: bool,
    values: [f64; POINTS],
}

impl Exclusions {
    /// Finds relations whose functions differ, or add up to, a number that parameters fix.
    pub(crate) fn new(model: &Mdae, discrete_state: &DiscreteState) -> Self {
        let relations = model.conditions.iter_enumerated().filter_map(|(id, condition)| {
            let ConditionKind::Relation { function, comparison } = condition.kind else {
                return None;
            };
            Some(Sampled {
                id,
                strict: comparison == Comparison::Greater,
                values: values(model, discrete_state, function)?,
            })
        });
        let relations: Vec<Sampled> = relations.take(MOST_CONDITIONS).collect();
        let mut pairs = Vec::new();
        for (position, a) in relations.iter().enumerate() {
            for b in &relations[position + 1..] {
                pairs.extend(excluded(a, b));
            }
        }
        let mut of = vec![Vec::new(); model.conditions.len()];
        for (position, pair) in pairs.iter().enumerate() {
            of[pair.first.0.index()].push(position as u32);
            of[pair.second.0.index()].push(position as u32);
        }
        Exclusions { pairs, of }
    }

    /// Two conditions each, with values that they do not have together.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [(ConditionId, bool); 2]> + '_ {
        self.pairs.iter().map(|pair| [pair.first, pair.second])
    }

    /// Gives other conditions values with which one has a value: `time >= 300` is true only if `time < 100` is not. Only those
    /// that `may_change` accepts. What changes together with it does so by itself if that is `to_come`.
    pub(crate) fn make_room(
        &self,
        state: &mut DiscreteState,
        value: (ConditionId, bool),
        to_come: bool,
        may_change: impl Fn(ConditionId) -> bool,
    ) {
        let mut open = vec![value];
        let mut met = vec![value.0];
        while let Some(wanted) = open.pop() {
            for &position in &self.of[wanted.0.index()] {
                let pair = &self.pairs[position as usize];
                let (other, value) = match (pair.first, pair.second) {
                    (first, second) if first == wanted => second,
                    (first, second) if second == wanted => first,
                    _ => continue,
                };
                let by_itself = to_come && pair.together;
                if by_itself || state.truths[other] != value || met.contains(&other) || !may_change(other) {
                    continue;
                }
                state.truths[other] = !value;
                met.push(other);
                open.push((other, !value));
            }
        }
    }

    /// Whether a condition changes together with another one.
    pub(crate) fn has_companions(&self, condition: ConditionId) -> bool {
        let of = &self.of[condition.index()];
        of.iter().any(|&pair| self.pairs[pair as usize].together)
    }

    /// Whether the values of no two conditions exclude each other.
    pub(crate) fn allow(&self, discrete_state: &DiscreteState) -> bool {
        self.contradiction(discrete_state).is_none()
    }

    /// What has to change together with a condition; `None` if it cannot change in this discrete state.
    pub(crate) fn companions(&self, discrete_state: &DiscreteState, trigger: Trigger) -> Option<Vec<Trigger>> {
        let mut triggers = vec![trigger];
        let mut done = 0;
        while done < triggers.len() {
            let Trigger::Condition(changed) = triggers[done] else {
                done += 1;
                continue;
            };
            done += 1;
            let becomes = !discrete_state.truths[changed];
            for &position in &self.of[changed.index()] {
                let pair = &self.pairs[position as usize];
                let (other, value) = match (pair.first, pair.second) {
                    (first, second) if first == (changed, becomes) => second,
                    (first, second) if second == (changed, becomes) => first,
                    _ => continue,
                };
                let flips = triggers.contains(&Trigger::Condition(other));
                if (discrete_state.truths[other] == value) == flips {
                    continue;
                }
                if !pair.together || flips {
                    return None;
                }
                triggers.push(Trigger::Condition(other));
            }
        }
        Some(triggers)
    }
}

impl Exclusions {
    /// Two conditions whose values exclude each other in a discrete state.
    pub(crate) fn contradiction(&self, discrete_state: &DiscreteState) -> Option<(ConditionId, ConditionId)> {
        let has = |(id, value): (ConditionId, bool)| discrete_state.truths[id] == value;
        let found = self.pairs.iter().find(|pair| has(pair.first) && has(pair.second));
        found.map(|pair| (pair.first.0, pair.second.0))
    }
}

fn excluded(a: &Sampled, b: &Sampled) -> Vec<Pair> {
    let mut found = Vec::new();
    let mut exclude = |first: bool, second: bool, together: bool| {
        found.push(Pair {
            first: (a.id, first),
            second: (b.id, second),
            together,
        });
    };
    let combined = |sign: f64| {
        let mut combined = [0.0; POINTS];
        for ((to, x), y) in combined.iter_mut().zip(&a.values).zip(&b.values) {
            *to = x + sign * y;
        }
        let scale = a.values.iter().chain(&b.values).fold(1.0, |m: f64, x| m.max(x.abs()));
        let constant = combined.iter().all(|x| (x - combined[0]).abs() <= 1e-10 * scale);
        let zero = combined[0].abs() <= 1e-10 * scale;
        constant.then_some(if zero { 0.0 } else { combined[0] })
    };
    // a + b = sum: both are true only if the sum is not negative.
    if let Some(sum) = combined(1.0) {
        if sum < 0.0 || (sum == 0.0 && (a.strict || b.strict)) {
            exclude(true, true, sum == 0.0);
        }
        if sum > 0.0 || (sum == 0.0 && !(a.strict && b.strict)) {
            exclude(false, false, sum == 0.0);
        }
    }
    // a = b + difference.
    if let Some(difference) = combined(-1.0) {
        if difference > 0.0 || (difference == 0.0 && (!a.strict || b.strict)) {
            exclude(false, true, difference == 0.0);
        }
        if difference < 0.0 || (difference == 0.0 && (a.strict || !b.strict)) {
            exclude(true, false, difference == 0.0);
        }
    }
    found
}

/// The values of a function at arbitrary points; `None` if it depends on conditions or on nothing that varies.
fn values(model: &Mdae, discrete_state: &DiscreteState, function: ExprId) -> Option<[f64; POINTS]> {
    if !model.pool.conditions_in(function).is_empty() {
        return None;
    }
    let mut values = [0.0; POINTS];
    for (point, value) in values.iter_mut().enumerate() {
        let at = Arbitrary {
            model,
            discrete_state,
            point: point as u64,
        };
        *value = *evaluate(&model.pool, &model.functions, &[function], &at)
            .ok()?
            .first()?;
    }
    let varies = values.iter().any(|value| *value != values[0]);
    (varies && values.iter().all(|value| value.is_finite())).then_some(values)
}

/// Parameters as they are, all else arbitrary.
struct Arbitrary<'a> {
    model: &'a Mdae,
    discrete_state: &'a DiscreteState,
    point: u64,
}

impl Arbitrary<'_> {
    fn number(&self, seed: u64) -> f64 {
        let mut z = (seed << 3)
            .wrapping_add(self.point + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^= z >> 27;
        0.5 + (z >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Environment for Arbitrary<'_> {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        match self.model.variables[var].role {
            Role::Parameter => self.discrete_state.values[var.index()],
            _ => self.number((u64::from(var.0) << 10) + (u64::from(order) << 1)),
        }
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        match self.model.variables[var].role {
            Role::Parameter => self.discrete_state.values[var.index()],
            _ => self.number((u64::from(var.0) << 10) + (u64::from(order) << 1) + 1),
        }
    }
    fn time(&self) -> f64 {
        self.number(u64::from(u32::MAX))
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.discrete_state.truths[condition]
    }
}
