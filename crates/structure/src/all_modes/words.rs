//! Sets of modes as users say them: alternatives of conditions, or how many of some conditions hold.

use rustc_hash::FxHashMap;
use saltus_mdae::Idx;

use super::space::{ModeSet, ModeSpace};
use crate::formula::PredicateId;

/// A condition with the value it has.
pub type Literal = (PredicateId, bool);

/// A set of modes in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Description {
    /// Any of these combinations of conditions; of more than are shown, the number of the others.
    Any {
        /// Conditions that hold together; of the first one none if the set is every mode.
        cubes: Vec<Vec<Literal>>,
        /// Combinations that are left out.
        others: usize,
    },
    /// As many of these as one of the numbers says.
    Count {
        /// What is counted.
        literals: Vec<Literal>,
        /// How many hold, in order.
        numbers: Vec<usize>,
    },
    /// Too long to say.
    Long {
        /// How many conditions it is about.
        conditions: usize,
    },
}

/// Combinations beyond this number are not looked for.
const MOST_CUBES: usize = 200;
/// Conditions of sets that are described.
const MOST_CONDITIONS: usize = 200;

/// A set within modes that matter, with at most `most` combinations.
pub fn describe(space: &mut ModeSpace, set: ModeSet, care: ModeSet, most: usize) -> Description {
    let least = space.and(set, care);
    let greatest = space.or(set, care.complement());
    let conditions = space.support(least).len();
    if conditions > MOST_CONDITIONS {
        return Description::Long { conditions };
    }
    let mut cubes = Cubes::default();
    let found = cubes.between(space, least, greatest);
    if let Some((cubes, _)) = &found
        && cubes.len() <= most
    {
        return any(cubes.clone(), most);
    }
    match (count(space, least), found) {
        (Some((literals, numbers)), _) => Description::Count { literals, numbers },
        (None, Some((cubes, _))) => any(cubes, most),
        (None, None) => Description::Long { conditions },
    }
}

fn any(mut cubes: Vec<Vec<Literal>>, most: usize) -> Description {
    for cube in &mut cubes {
        cube.sort_unstable_by_key(|&(condition, _)| condition);
    }
    cubes.sort_by_key(|cube| {
        (
            cube.len(),
            cube.iter().map(|&(c, v)| (c.index(), !v)).collect::<Vec<_>>(),
        )
    });
    let others = cubes.len().saturating_sub(most);
    cubes.truncate(most);
    Description::Any { cubes, others }
}

/// Combinations of conditions, and the modes in which any of them holds.
type Covering = (Vec<Vec<Literal>>, ModeSet);

/// An irredundant sum of products between two sets (Minato and Morreale).
#[derive(Default)]
struct Cubes {
    known: FxHashMap<(ModeSet, ModeSet), Covering>,
}

impl Cubes {
    fn between(&mut self, space: &mut ModeSpace, least: ModeSet, greatest: ModeSet) -> Option<Covering> {
        if least.is_empty() {
            return Some((Vec::new(), ModeSet::NONE));
        }
        if greatest == ModeSet::ALL {
            return Some((vec![Vec::new()], ModeSet::ALL));
        }
        if let Some(known) = self.known.get(&(least, greatest)) {
            return Some(known.clone());
        }
        if space.is_exhausted() {
            return None;
        }
        let level = space.level(least).min(space.level(greatest));
        let condition = space.condition_at(level);
        let ((l0, l1), (u0, u1)) = (space.cofactors(least, level), space.cofactors(greatest, level));
        let only_without = space.and_not(l0, u1);
        let (without, in_without) = self.between(space, only_without, u0)?;
        let only_with = space.and_not(l1, u0);
        let (with, in_with) = self.between(space, only_with, u1)?;
        let (rest0, rest1) = (space.and_not(l0, in_without), space.and_not(l1, in_with));
        let (rest, either) = (space.or(rest0, rest1), space.and(u0, u1));
        let (both, in_both) = self.between(space, rest, either)?;
        let literal = |value: bool| move |cube: Vec<Literal>| [vec![(condition, value)], cube].concat();
        let mut cubes: Vec<Vec<Literal>> = without.into_iter().map(literal(false)).collect();
        cubes.extend(with.into_iter().map(literal(true)));
        cubes.extend(both);
        if cubes.len() > MOST_CUBES {
            return None;
        }
        let here = space.literal(condition);
        let (low, high) = (space.and_not(in_without, here), space.and(in_with, here));
        let sides = space.or(low, high);
        let covered = space.or(sides, in_both);
        self.known.insert((least, greatest), (cubes.clone(), covered));
        Some((cubes, covered))
    }
}

/// The literals of a set that says only how many of them hold, and the numbers.
fn count(space: &mut ModeSpace, set: ModeSet) -> Option<(Vec<Literal>, Vec<usize>)> {
    let conditions = space.support(set);
    if conditions.len() < 3 {
        return None;
    }
    let mut literals: Vec<Literal> = Vec::new();
    for &condition in &conditions {
        let (without, with) = (space.given(set, condition, false), space.given(set, condition, true));
        // What makes the set smaller counts by its opposite.
        literals.push((condition, !space.is_within(with, without)));
    }
    for pair in literals.windows(2) {
        let [(a, of_a), (b, of_b)] = [pair[0], pair[1]];
        let mut exchanged = [ModeSet::NONE; 2];
        for (at, first) in [true, false].into_iter().enumerate() {
            let half = space.given(set, a, of_a == first);
            exchanged[at] = space.given(half, b, of_b != first);
        }
        if exchanged[0] != exchanged[1] {
            return None;
        }
    }
    let mut numbers = Vec::new();
    for number in 0..=literals.len() {
        let holds = |condition: PredicateId| {
            let at = literals.iter().position(|&(known, _)| known == condition);
            at.is_some_and(|at| literals[at].1 == (at < number))
        };
        if space.contains(set, holds) {
            numbers.push(number);
        }
    }
    literals.sort_unstable_by_key(|&(condition, _)| condition);
    Some((literals, numbers))
}
