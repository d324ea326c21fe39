//! Rescaling offsets μ and goodness (steps 9 and 11).

use std::collections::VecDeque;

use saltus_graph::{Column, Matching, Row, WeightedBipartite, highest_value_transversal};

use super::array::{ArrayVariable, Frame};
use super::concrete::{Concrete, ConcreteEquation, EquationTerms, OrderedTerm};
use crate::colour::{Coloured, mixed};

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
///
/// All transversals of highest weight give the same offsets as long as impulsive unknowns enter linearly: then the
/// constraints are tight on each of them. Where they do not, (51) fails whatever is taken, and one is taken that does not
/// depend on the order of equations.
pub(crate) fn rescale(concrete: &Concrete) -> Result<Offsets, Unscalable> {
    let weights = |equation: usize| concrete.terms[equation].weights().into_iter().collect();
    let partner = transversal(concrete, weights).ok_or(Unscalable::Singular)?;
    let found = least_offsets(concrete, partner);
    let nonlinear = |offsets: &Offsets| {
        let mut equations = concrete.terms.iter();
        equations.any(|terms| !nonlinear_impulses(concrete, terms, &offsets.unknowns).is_empty())
    };
    match found {
        Ok(offsets) if !nonlinear(&offsets) => Ok(offsets),
        found => match canonical_weights(concrete) {
            Some(weights) => {
                let partner = transversal(concrete, |equation| weights[equation].clone());
                offsets_in_step(concrete, partner.ok_or(Unscalable::Singular)?)
            }
            None => found,
        },
    }
}

/// Weights with the same highest transversals as far as they differ in weight, and among those the ones that colours of the
/// incidence prefer. `None` if there are too many unknowns for that.
fn canonical_weights(concrete: &Concrete) -> Option<Vec<Vec<(usize, i64)>>> {
    let mut graph = Coloured::default();
    let place = |v: &ArrayVariable| u64::from(v.order) << 16 | u64::from(v.instant);
    graph.right.extend(concrete.unknowns.iter().map(|v| mixed(1, place(v))));
    for (equation, terms) in concrete.equations.iter().zip(&concrete.terms) {
        let kind = match equation {
            ConcreteEquation::Array(label) => u64::from(label.order) << 16 | u64::from(label.instant),
            ConcreteEquation::Euler(v) => 1 << 32 | place(v),
        };
        let own = graph.left.len();
        graph.left.push(mixed(kind, terms.terms.len() as u64));
        graph
            .edges
            .extend(terms.nonlinear.iter().map(|&unknown| (own, unknown, 2)));
        for term in &terms.terms {
            let degree: u32 = term.powers.iter().map(|(_, power)| power).sum();
            let shape = mixed(mixed(3, term.weight as u64), u64::from(degree));
            let edge = |&(unknown, power): &(usize, u32)| (own, unknown, mixed(shape, u64::from(power)));
            graph.edges.extend(term.powers.iter().map(edge));
        }
    }
    graph.refine();
    let heaviest = concrete.terms.iter().flat_map(|terms| terms.weights().into_values());
    let heaviest = heaviest.max().unwrap_or(0).max(1);
    // The preferences of a whole transversal must stay below one unit of weight.
    let unit = i64::from(i32::MAX) / (heaviest + 1);
    let span = unit / (concrete.unknowns.len() as i64 + 1);
    let weights = |(equation, terms): (usize, &EquationTerms)| {
        let preferred = |(unknown, weight): (usize, i64)| {
            let preference = mixed(graph.left[equation], graph.right[unknown]) % span as u64;
            (unknown, weight * unit + preference as i64)
        };
        terms.weights().into_iter().map(preferred).collect()
    };
    (span > 1 << 10).then(|| concrete.terms.iter().enumerate().map(weights).collect())
}

/// The largest offset that is looked at.
fn limit(concrete: &Concrete) -> i64 {
    let unknowns = concrete.unknowns.iter();
    let deepest = unknowns.map(|v| i64::from(v.order) + i64::from(v.instant)).max();
    12 + 4 * deepest.unwrap_or(0)
}

/// By how much the terms with the matched unknown fall short of the largest ones.
fn shortfall(terms: &EquationTerms, unknown: usize, mu: &[i64]) -> i64 {
    let own = terms
        .terms
        .iter()
        .filter(|term| term.powers.iter().any(|&(u, _)| u == unknown));
    // Matched through a nonlinear occurrence: (51) decides.
    let Some(reached) = own.map(|term| order(term, mu)).max() else {
        return 0;
    };
    highest_order(terms, mu) - reached
}

fn offsets_with(concrete: &Concrete, partner: Vec<usize>, mu: Vec<i64>) -> Offsets {
    let equations = concrete.terms.iter().map(|terms| highest_order(terms, &mu));
    Offsets {
        equations: equations.collect(),
        unknowns: mu,
        partner,
    }
}

fn least_offsets(concrete: &Concrete, partner: Vec<usize>) -> Result<Offsets, Unscalable> {
    let limit = limit(concrete);
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); concrete.unknowns.len()];
    for (equation, terms) in concrete.terms.iter().enumerate() {
        terms
            .weights()
            .keys()
            .for_each(|&unknown| users[unknown].push(equation));
    }
    let mut mu = vec![0; concrete.unknowns.len()];
    let mut queue: VecDeque<usize> = (0..concrete.equations.len()).collect();
    let mut queued = vec![true; concrete.equations.len()];
    while let Some(equation) = queue.pop_front() {
        queued[equation] = false;
        let unknown = partner[equation];
        let more = shortfall(&concrete.terms[equation], unknown, &mu);
        if more <= 0 {
            continue;
        }
        mu[unknown] += more;
        if mu[unknown] > limit {
            return Err(Unscalable::Unbounded);
        }
        for &user in &users[unknown] {
            if !std::mem::replace(&mut queued[user], true) {
                queue.push_back(user);
            }
        }
    }
    Ok(offsets_with(concrete, partner, mu))
}

/// The same where unknowns are multiplied: then the order of the steps matters, so that all are taken together, by one at
/// a time.
fn offsets_in_step(concrete: &Concrete, partner: Vec<usize>) -> Result<Offsets, Unscalable> {
    let limit = limit(concrete);
    let mut mu = vec![0; concrete.unknowns.len()];
    loop {
        let equations = partner.iter().zip(&concrete.terms);
        let short = equations.map(|(&unknown, terms)| (unknown, shortfall(terms, unknown, &mu)));
        let raised: Vec<(usize, i64)> = short.filter(|&(_, more)| more > 0).collect();
        if raised.is_empty() {
            return Ok(offsets_with(concrete, partner, mu));
        }
        for (unknown, more) in raised {
            mu[unknown] += more;
            if mu[unknown] > limit {
                return Err(Unscalable::Unbounded);
            }
        }
    }
}

fn transversal(concrete: &Concrete, weights: impl Fn(usize) -> Vec<(usize, i64)>) -> Option<Vec<usize>> {
    let rows = (0..concrete.equations.len()).map(|equation| {
        let edges = weights(equation).into_iter();
        edges
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

/// Equations that hold impulses in other ways than linearly, with all that depends on what they determine, if nothing that
/// jumps does: `p = tau^2` observes the impulse of tau, and takes no part in it. The others are a square system without them.
pub(crate) fn observing(concrete: &Concrete, offsets: &Offsets, frame: Frame) -> Vec<bool> {
    let nothing = vec![false; concrete.equations.len()];
    let mut observing = nothing.clone();
    let numbered = concrete.terms.iter().enumerate();
    let mut open: Vec<usize> = numbered
        .filter(|(_, terms)| !nonlinear_impulses(concrete, terms, &offsets.unknowns).is_empty())
        .map(|(equation, _)| equation)
        .collect();
    let new = frame.inquiry.change.new;
    while let Some(equation) = open.pop() {
        if std::mem::replace(&mut observing[equation], true) {
            continue;
        }
        let unknown = offsets.partner[equation];
        let variable = concrete.unknowns[unknown];
        let is_head = frame
            .height(variable.var)
            .is_some_and(|height| variable.instant < height);
        let is_algebraic = variable.order == 0 && new.offset_of(variable.var) == Some(0);
        if !is_head || !is_algebraic || !matches!(concrete.equations[equation], ConcreteEquation::Array(_)) {
            return nothing;
        }
        let uses = |terms: &EquationTerms| terms.weights().contains_key(&unknown);
        let users = concrete.terms.iter().enumerate().filter(|(_, terms)| uses(terms));
        open.extend(users.map(|(user, _)| user));
    }
    observing
}

/// Checks (51), (52) and (53), leaving out equations that only observe.
pub(crate) fn goodness(concrete: &Concrete, offsets: &Offsets, frame: Frame, observing: &[bool]) -> Violations {
    let mu = &offsets.unknowns;
    let mut violations = Violations::default();
    let mut observed = vec![false; concrete.unknowns.len()];
    for (&unknown, &observing) in offsets.partner.iter().zip(observing) {
        observed[unknown] = observing;
    }
    let equations = concrete.equations.iter().zip(&concrete.terms).zip(observing);
    for ((equation, terms), _) in equations.filter(|(_, observing)| !**observing) {
        let variables = nonlinear_impulses(concrete, terms, mu);
        if !variables.is_empty() {
            violations.nonlinear.push((*equation, variables));
        }
    }
    let new = frame.inquiry.change.new;
    let unknowns = concrete.unknowns.iter().zip(mu).zip(observed);
    for ((&variable, &mu), _) in unknowns.filter(|(_, observed)| !observed) {
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
