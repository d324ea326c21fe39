//! The rates of the states of an island without its other unknowns.
//!
//! A stage of an integrator asks for the rates of states alone. Of an island they are weights times right-hand sides, the
//! weights rows of J⁻¹: found once, they make a sum over the states, since members of the island's own groups follow these. A
//! shaft of a hundred inertias is one number.

use saltus_numerics::linalg::BandMatrix;

use super::NONE;
use super::island::Island;
use super::present::Present;
use super::tables::Tables;

/// States of an island up to which their rates are condensed: each costs a solution for its weights.
const MOST_STATES: usize = 4;

/// The rate of a state as a sum.
#[derive(Clone, Debug)]
pub(crate) struct Condensed {
    /// Where the rate is.
    place: u32,
    constant: f64,
    /// Values with their factors.
    pub terms: Box<[(u32, f64)]>,
    /// Equations whose signals count, with their factors.
    signals: Box<[(u32, f64)]>,
}

impl Condensed {
    /// Computes the rate.
    pub(crate) fn evaluate(&self, values: &mut [f64], rests: &[f64]) {
        let mut sum = self.constant;
        for &(source, factor) in &self.terms {
            sum += factor * values[source as usize];
        }
        for &(equation, factor) in &self.signals {
            sum += factor * rests[equation as usize];
        }
        values[self.place as usize] = sum;
    }
}

impl Present {
    /// The rates of the states of an island as sums; nothing where they are too many.
    pub(super) fn condense(&mut self, tables: &Tables, island: &Island) -> Option<Box<[Condensed]>> {
        let own = |unknown: u32| tables.has_rate[unknown as usize] && self.members[unknown as usize].state == unknown;
        let states: Vec<usize> = (0..island.unknowns.len())
            .filter(|&at| own(island.unknowns[at]))
            .collect();
        if states.len() > MOST_STATES {
            return None;
        }
        for (position, &unknown) in island.unknowns.iter().enumerate() {
            self.unknown_marks[unknown as usize] = position as u32;
        }
        let condensed = self.condense_states(tables, island, &states);
        for &unknown in &island.unknowns {
            self.unknown_marks[unknown as usize] = 0;
        }
        condensed
    }

    fn condense_states(&self, tables: &Tables, island: &Island, states: &[usize]) -> Option<Box<[Condensed]>> {
        let size = island.unknowns.len();
        let mut weights = vec![0.0; size];
        let transposed = match (size, states.len()) {
            (1, _) | (_, 0) => None,
            _ => Some(self.transposed(tables, island)?),
        };
        let mut found = Vec::with_capacity(states.len());
        for &state in states {
            weights.fill(0.0);
            weights[state] = 1.0;
            match &transposed {
                Some(factors) => factors.solve(&mut weights),
                None => island.solve_for(&mut weights),
            }
            found.push(self.sum(tables, island, state, &weights));
        }
        Some(found.into())
    }

    /// The factors of the transposed matrix of an island.
    fn transposed(&self, tables: &Tables, island: &Island) -> Option<saltus_numerics::linalg::BandLu> {
        let mut entries = Vec::with_capacity(3 * island.equations.len());
        let (mut below, mut above) = (0, 0);
        for (row, (&equation, scale)) in island.equations.iter().zip(&island.scales).enumerate() {
            for term in tables.terms(equation) {
                if self.given_by[term.unknown as usize] != NONE || !self.is_leading(tables, term, equation) {
                    continue;
                }
                let column = self.unknown_marks[term.unknown as usize] as usize;
                below = below.max(column.saturating_sub(row));
                above = above.max(row.saturating_sub(column));
                entries.push((column, row, scale * term.coefficient));
            }
        }
        let mut matrix = BandMatrix::zero(island.equations.len(), below, above);
        for (row, column, value) in entries {
            matrix.add(row, column, value);
        }
        matrix.factor(super::island::LEAST_PIVOT)
    }

    /// Weights times right-hand sides.
    fn sum(&self, tables: &Tables, island: &Island, state: usize, weights: &[f64]) -> Condensed {
        let mut constant = 0.0;
        let mut terms: Vec<(u32, f64)> = Vec::new();
        let mut signals: Vec<(u32, f64)> = Vec::new();
        let mut add =
            |source: u32, factor: f64| match terms.iter_mut().rev().take(MOST_STATES).find(|term| term.0 == source) {
                Some(term) => term.1 += factor,
                None => terms.push((source, factor)),
            };
        for (at, &weight) in weights.iter().enumerate() {
            let equation = island.equations[at];
            if weight == 0.0 || self.constraint[equation as usize] {
                continue;
            }
            let of_rest = -weight * island.scales[at];
            match tables.signal_of[equation as usize] {
                NONE => constant += of_rest * tables.constants[equation as usize],
                _ => signals.push((equation, of_rest)),
            }
            for (source, coefficient) in island.known(at) {
                let factor = weight * coefficient;
                let unknown = source as usize;
                let inside = || island.unknowns.get(self.unknown_marks[unknown] as usize) == Some(&source);
                if unknown < tables.unknowns.len() && tables.has_rate[unknown] && inside() {
                    let member = self.members[unknown];
                    constant += factor * member.offset;
                    if member.state != NONE {
                        add(member.state, factor * member.factor);
                    }
                } else if let Some(value) = self.constant_value(tables, source) {
                    constant += factor * value;
                } else {
                    add(source, factor);
                }
            }
        }
        Condensed {
            place: island.places[state],
            constant,
            terms: terms.into(),
            signals: signals.into(),
        }
    }

    /// The value at a place, if an equation gives it as a number.
    fn constant_value(&self, tables: &Tables, place: u32) -> Option<f64> {
        let count = tables.unknowns.len() as u32;
        let (unknown, is_rate) = if place < count {
            (place, false)
        } else {
            (place - count, true)
        };
        if is_rate != tables.has_rate[unknown as usize] {
            return None;
        }
        let equation = self.given_by[unknown as usize];
        if equation == NONE {
            return None;
        }
        if self.constraint[equation as usize] {
            return Some(0.0);
        }
        match (tables.terms(equation), tables.signal_of[equation as usize]) {
            ([term], NONE) => Some(-tables.constants[equation as usize] / term.coefficient),
            _ => None,
        }
    }

    /// Whether an equation gives a number.
    pub(super) fn gives_constant(&self, tables: &Tables, equation: u32) -> bool {
        let at = equation as usize;
        self.constraint[at] || (tables.signal_of[at] == NONE && tables.terms(equation).len() == 1)
    }
}
