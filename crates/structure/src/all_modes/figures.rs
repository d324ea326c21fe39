//! How many modes there are, of which index and with how many states.

use std::collections::BTreeMap;

use num_bigint::BigUint;

use super::AllModes;
use super::space::{ModeSet, ModeSpace};
use super::system::Piecewise;

/// With more conditions the numbers of states are reported by their range only.
const MOST_CONDITIONS_COUNTED: usize = 400;
/// What a count of states may look at.
const MOST_SCANNED: usize = 1 << 20;

/// Numbers of modes. Only modes that invariants allow are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// All of them.
    pub modes: BigUint,
    /// Those that are singular.
    pub singular: BigUint,
    /// The regular ones by their index.
    pub index: BTreeMap<u16, BigUint>,
    /// And by their number of states.
    pub states: States,
}

/// Numbers of states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum States {
    /// With how many modes have each.
    Distribution(BTreeMap<i64, BigUint>),
    /// The least and the greatest.
    Range(i64, i64),
    /// Not counted.
    Unknown,
}

impl AllModes {
    /// Counts modes; `None` if that takes too long.
    pub fn figures(&mut self) -> Option<Figures> {
        let singular = self.decomposition.singular_parts();
        let possible = self.space.conjunction(self.possible.iter().copied());
        let regular: Vec<ModeSet> = singular.iter().map(|part| part.complement()).collect();
        let regular = self.space.conjunction(regular);
        let regular = self.space.and(possible, regular);
        let modes = self.space.count(possible);
        let figures = Figures {
            singular: &modes - self.space.count(regular),
            modes,
            index: self.index(regular),
            states: self.states(regular),
        };
        (!self.space.is_exhausted()).then_some(figures)
    }

    /// Modes by index: the greatest c, and one more where some d is zero.
    fn index(&mut self, regular: ModeSet) -> BTreeMap<u16, BigUint> {
        let top = self
            .c
            .iter()
            .filter_map(|parts| parts.keys().next_back().copied())
            .max()
            .unwrap_or(0);
        let algebraic: Vec<ModeSet> = self
            .d
            .iter()
            .filter_map(|parts| parts.get(&0))
            .map(|set| set.complement())
            .collect();
        let no_algebraic = self.space.conjunction(algebraic);
        let mut found: BTreeMap<u16, BigUint> = BTreeMap::new();
        let mut before = ModeSet::NONE;
        for most in 0..=top {
            let mut below = Vec::new();
            for parts in &self.c {
                let above = self.space.union(parts.range(most + 1..).map(|(_, &set)| set));
                below.push(above.complement());
            }
            let up_to = self.space.conjunction(below);
            let up_to = self.space.and(up_to, regular);
            let exactly = self.space.and_not(up_to, before);
            let without = self.space.and(exactly, no_algebraic);
            let with = self.space.and_not(exactly, no_algebraic);
            for (index, set) in [(most, without), (most + 1, with)] {
                if !set.is_empty() {
                    *found.entry(index).or_default() += self.space.count(set);
                }
            }
            before = up_to;
        }
        found
    }

    fn states(&self, regular: ModeSet) -> States {
        let by_offsets = terms(&self.d, 1).chain(terms(&self.c, -1)).collect();
        let by_matching = terms(&self.matched_orders, 1).collect();
        let weight =
            |terms: &Vec<Term>| -> usize { terms.iter().flatten().map(|&(_, set)| self.space.size([set])).sum() };
        let sums: [Vec<Term>; 2] = [by_matching, by_offsets];
        let Some(terms) = sums.into_iter().min_by_key(weight) else {
            return States::Unknown;
        };
        if self.space.conditions() > MOST_CONDITIONS_COUNTED {
            let range: Option<Range> = scan(&self.space, &terms, regular);
            return range
                .and_then(|range| range.0)
                .map_or(States::Unknown, |(least, most)| States::Range(least, most));
        }
        scan(&self.space, &terms, regular).map_or(States::Unknown, |counts: Counts| States::Distribution(counts.0))
    }
}

/// A summand: its values other than zero, each with its modes.
type Term = Vec<(i64, ModeSet)>;

fn terms(parts: &[Piecewise], sign: i64) -> impl Iterator<Item = Term> + '_ {
    let term = move |parts: &Piecewise| -> Term {
        let values = parts.iter().filter(|(value, _)| **value > 0);
        values.map(|(&value, &set)| (sign * i64::from(value), set)).collect()
    };
    parts.iter().map(term).filter(|term| !term.is_empty())
}

/// What is known of sums over some modes.
trait Tally: Default {
    /// One mode with the sum zero.
    fn one() -> Self;
    /// Adds the modes of another, with sums that are larger by a number.
    fn join(&mut self, other: &Self, more: i64);
}

/// Modes by sum.
#[derive(Default)]
struct Counts(BTreeMap<i64, BigUint>);

impl Tally for Counts {
    fn one() -> Self {
        Counts(BTreeMap::from([(0, BigUint::from(1u32))]))
    }

    fn join(&mut self, other: &Self, more: i64) {
        for (sum, count) in &other.0 {
            *self.0.entry(sum + more).or_default() += count;
        }
    }
}

/// The least and the greatest sum.
#[derive(Default)]
struct Range(Option<(i64, i64)>);

impl Tally for Range {
    fn one() -> Self {
        Range(Some((0, 0)))
    }

    fn join(&mut self, other: &Self, more: i64) {
        if let Some((least, most)) = other.0 {
            let (known_least, known_most) = self.0.unwrap_or((least + more, most + more));
            self.0 = Some((known_least.min(least + more), known_most.max(most + more)));
        }
    }
}

/// What is left of a function that was begun: a summand by its number, or (`None`) the modes that count.
type Left = Vec<(Option<u32>, Vec<ModeSet>)>;

/// The sums of terms over the modes of a set. Walks down the levels with all functions at once; a state holds what is left of
/// those begun and not yet decided. For functions about nearby conditions there are few states, though the sum as one
/// diagram would be large. `None` if there are many.
fn scan<T: Tally>(space: &ModeSpace, terms: &[Term], within: ModeSet) -> Option<T> {
    if within.is_empty() {
        return Some(T::default());
    }
    let mut starts: BTreeMap<u32, Left> = BTreeMap::new();
    let mut always = 0;
    let mut begin =
        |number: Option<u32>, sets: Vec<ModeSet>, value: i64| match sets.iter().map(|&set| space.level(set)).min() {
            Some(u32::MAX) if sets[0] == ModeSet::ALL => always += value,
            Some(u32::MAX) | None => {}
            Some(level) => starts.entry(level).or_default().push((number, sets)),
        };
    begin(None, vec![within], 0);
    for (number, term) in terms.iter().enumerate() {
        begin(
            Some(number as u32),
            term.iter().map(|&(_, set)| set).collect(),
            term[0].0,
        );
    }
    let mut states: BTreeMap<Left, T> = BTreeMap::from([(Left::new(), T::one())]);
    let mut scanned = 0;
    for level in 0..space.conditions() as u32 {
        let fresh = starts.remove(&level).unwrap_or_default();
        let mut next: BTreeMap<Left, T> = BTreeMap::new();
        scanned += states.len() * (1 + states.keys().next().map_or(0, Vec::len));
        if scanned > MOST_SCANNED {
            return None;
        }
        for (mut left, tally) in states {
            left.extend(fresh.iter().cloned());
            for value in [false, true] {
                if let Some((rest, more)) = branch(space, terms, &left, level, value) {
                    next.entry(rest).or_default().join(&tally, more);
                }
            }
        }
        states = next;
    }
    let mut all = T::default();
    for tally in states.values() {
        all.join(tally, always);
    }
    Some(all)
}

/// What is left where the condition of a level has a value, and the sum of what is decided; `None` outside the modes that
/// count.
fn branch(space: &ModeSpace, terms: &[Term], left: &Left, level: u32, value: bool) -> Option<(Left, i64)> {
    let (mut rest, mut sum) = (Left::new(), 0);
    for (number, sets) in left {
        let cofactor = |&set: &ModeSet| {
            let (low, high) = space.cofactors(set, level);
            if value { high } else { low }
        };
        let sets: Vec<ModeSet> = sets.iter().map(cofactor).collect();
        let hit = sets.iter().position(|&set| set == ModeSet::ALL);
        let over = sets.iter().all(|set| set.is_empty());
        match (number, hit) {
            (None, Some(_)) => {}
            (None, None) if over => return None,
            (Some(number), Some(at)) => sum += terms[*number as usize][at].0,
            (Some(_), None) if over => {}
            _ => rest.push((*number, sets)),
        }
    }
    Some((rest, sum))
}
