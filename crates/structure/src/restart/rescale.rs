//! Rescaling offsets μ and goodness (steps 9 and 11).

use std::collections::VecDeque;

use saltus_graph::{Column, Matching, Row, WeightedBipartite, highest_value_transversal};

use super::array::{ArrayVariable, Frame};
use super::concrete::{Concrete, ConcreteEquation, EquationTerms, OrderedTerm};

/// The powers of ε⁻¹ with which unknowns and equations of the array grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offsets {
    /// By unknown.
    pub(crate) unknowns: Vec<i64>,
    /// By equation.
    pub(crate) equations: Vec<i64>,
    /// Which unknown each equation is matched to.
    pub(crate) partner: Vec<usize>,
}

/// Why there are no offsets.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unscalable {
    /// The concrete array has no perfect matching.
    Singular,
    /// Impulses feed each other without bound.
    Unbounded,
}

/// The order of a term.
pub(crate) fn order(term: &OrderedTerm, mu: &[i64]) -> i64 {
    let of_powers = term
        .powers
        .iter()
        .map(|&(unknown, power)| mu[unknown] * i64::from(power));
    term.weight + of_powers.sum::<i64>()
}

/// The order of the largest terms of an equation.
pub(crate) fn highest_order(terms: &EquationTerms, mu: &[i64]) -> i64 {
    terms.terms.iter().map(|term| order(term, mu)).max().unwrap_or(0)
}

/// The least offsets μ ≥ 0 such that in every equation the unknown it is matched to (by a transversal of highest
/// weight) has a part in the largest terms: (48)–(50) of RR-9603. For linear equations these are Pryce's dual
/// variables; products of impulsive unknowns make the constraints steeper, hence the bound.
pub(crate) fn rescale(concrete: &Concrete) -> Result<Offsets, Unscalable> {
    let partner = transversal(concrete).ok_or(Unscalable::Singular)?;
    let count = concrete.unknowns.len();
    let deepest = concrete
        .unknowns
        .iter()
        .map(|v| i64::from(v.order) + i64::from(v.instant))
        .max();
    let limit = 12 + 4 * deepest.unwrap_or(0);
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (equation, terms) in concrete.terms.iter().enumerate() {
        terms
            .weights()
            .keys()
            .for_each(|&unknown| users[unknown].push(equation));
    }
    let mut mu = vec![0; count];
    let mut queue: VecDeque<usize> = (0..concrete.equations.len()).collect();
    let mut queued = vec![true; concrete.equations.len()];
    while let Some(equation) = queue.pop_front() {
        queued[equation] = false;
        let terms = &concrete.terms[equation];
        let unknown = partner[equation];
        let own = terms
            .terms
            .iter()
            .filter(|term| term.powers.iter().any(|&(u, _)| u == unknown));
        // Matched through a nonlinear occurrence: (51) decides.
        let Some(reached) = own.map(|term| order(term, &mu)).max() else {
            continue;
        };
        let needed = highest_order(terms, &mu);
        if needed <= reached {
            continue;
        }
        mu[unknown] += needed - reached;
        if mu[unknown] > limit {
            return Err(Unscalable::Unbounded);
        }
        for &user in &users[unknown] {
            if !std::mem::replace(&mut queued[user], true) {
                queue.push_back(user);
            }
        }
    }
    let equations = concrete.terms.iter().map(|terms| highest_order(terms, &mu));
    Ok(Offsets {
        equations: equations.collect(),
        unknowns: mu,
        partner,
    })
}

fn transversal(concrete: &Concrete) -> Option<Vec<usize>> {
    let rows = concrete.terms.iter().map(|terms| {
        let weights = terms.weights().into_iter();
        weights
            .map(|(unknown, weight)| (Column::from_index(unknown), weight as i32))
            .collect::<Vec<_>>()
    });
    let graph = WeightedBipartite::from_rows(concrete.unknowns.len(), rows);
    let found = highest_value_transversal(&graph).ok()?;
    Some(partners(&found.matching, concrete.equations.len()))
}

fn partners(matching: &Matching, count: usize) -> Vec<usize> {
    let partner = |row| {
        matching
            .column_of(Row::from_index(row))
            .expect("a perfect matching")
            .index()
    };
    (0..count).map(partner).collect()
}

/// What stands against a good restart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    /// (51): equations with impulsive variables that enter nonlinearly.
    pub nonlinear: Vec<(ConcreteEquation, Vec<ArrayVariable>)>,
    /// (52): impulsive variables in the tail.
    pub tail: Vec<ArrayVariable>,
    /// (53): variables whose rescaling leaves the array.
    pub outside: Vec<ArrayVariable>,
}

impl Violations {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nonlinear.is_empty() && self.tail.is_empty() && self.outside.is_empty()
    }
}

/// Checks (51), (52) and (53).
pub(crate) fn goodness(concrete: &Concrete, mu: &[i64], frame: Frame) -> Violations {
    let mut violations = Violations::default();
    for (equation, terms) in concrete.equations.iter().zip(&concrete.terms) {
        let variables = nonlinear_impulses(concrete, terms, mu);
        if !variables.is_empty() {
            violations.nonlinear.push((*equation, variables));
        }
    }
    let new = frame.inquiry.change.new;
    for (&variable, &mu) in concrete.unknowns.iter().zip(mu) {
        let Some(column) = new.column_of(variable.var) else {
            continue;
        };
        let height = frame.height(variable.var).unwrap_or(0);
        if variable.instant == height && variable.order < frame.tail_orders(column) {
            if mu > 0 {
                violations.tail.push(variable);
            }
        } else if leaves_array(concrete, frame, variable, mu, height) {
            violations.outside.push(variable);
        }
    }
    violations
}

/// (53): x'^m@k with n = min(μ, m) rescales to x'^(m−n)@(k+n), which must be in the array or past.
fn leaves_array(concrete: &Concrete, frame: Frame, variable: ArrayVariable, mu: i64, height: u16) -> bool {
    let shift = mu.min(i64::from(variable.order)) as u16;
    let target = ArrayVariable {
        var: variable.var,
        order: variable.order - shift,
        instant: variable.instant + shift,
    };
    target.instant > height
        || (shift > 0 && concrete.unknowns.binary_search(&target).is_err() && !frame.is_past(target))
}

fn nonlinear_impulses(concrete: &Concrete, terms: &EquationTerms, mu: &[i64]) -> Vec<ArrayVariable> {
    let mut found: Vec<usize> = terms
        .nonlinear
        .iter()
        .copied()
        .filter(|&unknown| mu[unknown] > 0)
        .collect();
    for term in &terms.terms {
        let impulsive = term.powers.iter().filter(|(unknown, _)| mu[*unknown] > 0);
        if impulsive.clone().map(|(_, power)| power).sum::<u32>() >= 2 {
            found.extend(impulsive.map(|(unknown, _)| *unknown));
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|unknown| concrete.unknowns[unknown]).collect()
}
