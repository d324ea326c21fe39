//! Which of several equally good equations is taken: told by the place they have in the system, not by their number.
//!
//! Colour refinement (Weisfeiler and Leman): equations, variables and predicates begin with a colour for what they are
//! and what is known of them, then each takes in the colours of its neighbours until nothing more is told apart. Equations
//! that keep the same colour can be exchanged for each other, so that either choice gives the same verdict.

use std::collections::BTreeSet;

use saltus_mdae::{EquationId, Idx, VarId};

use super::reaction::{Progress, StartState};
use super::system::{EquationKind, Shifted, ShiftedEquation, System};
use crate::formula::Formula;

/// A place in the system; equal for equations that can be exchanged.
type Colour = u32;

/// What tells two nodes apart, comparable.
type Signature = Vec<u32>;

/// Colours of the nodes of a system at one point of a reaction.
struct Colours {
    equations: Vec<Colour>,
    variables: Vec<Colour>,
    predicates: Vec<Colour>,
}

/// The colours of all equations.
pub(super) fn equation_colours(system: &System, start: &StartState, progress: &Progress) -> Vec<Colour> {
    let mut colours = first_colours(system, start, progress);
    loop {
        let refined = refine(system, &colours);
        if refined.count() == colours.count() {
            return refined.equations;
        }
        colours = refined;
    }
}

impl Colours {
    fn from_signatures(equations: Vec<Signature>, variables: Vec<Signature>, predicates: Vec<Signature>) -> Self {
        Colours {
            equations: ranks(equations),
            variables: ranks(variables),
            predicates: ranks(predicates),
        }
    }
    /// How many nodes are told apart.
    fn count(&self) -> usize {
        let distinct = |colours: &[Colour]| colours.iter().collect::<BTreeSet<_>>().len();
        distinct(&self.equations) + distinct(&self.variables) + distinct(&self.predicates)
    }
}

/// Each signature by its place among the different ones.
fn ranks(signatures: Vec<Signature>) -> Vec<Colour> {
    let mut sorted = signatures.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let rank = |signature| sorted.binary_search(signature).map_or(0, |place| place as Colour);
    signatures.iter().map(rank).collect()
}

fn first_colours(system: &System, start: &StartState, progress: &Progress) -> Colours {
    let equations = (0..system.equations.len()).map(EquationId::from_usize).map(|equation| {
        let mut signature = vec![u32::from(
            system.equations[equation.index()].kind == EquationKind::Event,
        )];
        signature.push(u32::from(progress.shift.get(&equation).copied().unwrap_or(0)));
        for set in [&start.facts, &progress.latent, &progress.solved] {
            push_shifts_of_equation(&mut signature, set, equation);
        }
        signature
    });
    let variables = (0..variable_count(system)).map(VarId::from_usize).map(|variable| {
        let mut signature = Vec::new();
        for set in [&start.known, &progress.known] {
            push_shifts_of_variable(&mut signature, set, variable);
        }
        signature
    });
    let predicates = progress.valuation.iter().map(|value| match value {
        None => vec![0],
        Some(value) => vec![1 + u32::from(*value)],
    });
    Colours::from_signatures(equations.collect(), variables.collect(), predicates.collect())
}

fn push_shifts_of_equation(signature: &mut Signature, set: &BTreeSet<ShiftedEquation>, equation: EquationId) {
    let shifts = set
        .range((equation, 0)..=(equation, u16::MAX))
        .map(|&(_, shifts)| shifts);
    push_list(signature, shifts.map(u32::from).collect());
}

fn push_shifts_of_variable(signature: &mut Signature, set: &BTreeSet<Shifted>, variable: VarId) {
    let orders = set.range((variable, 0)..=(variable, u16::MAX)).map(|&(_, order)| order);
    push_list(signature, orders.map(u32::from).collect());
}

/// A list with its length, so that neighbouring lists do not run into each other.
fn push_list(signature: &mut Signature, list: Vec<u32>) {
    signature.push(list.len() as u32);
    signature.extend(list);
}

fn variable_count(system: &System) -> usize {
    let equations = system.equations.iter().flat_map(|equation| &equation.variables);
    let all = equations.chain(system.predicates.iter().flatten());
    all.map(|(variable, _)| variable.index() + 1).max().unwrap_or(0)
}

/// Every node takes in the colours around it.
fn refine(system: &System, colours: &Colours) -> Colours {
    let of_variables = |list: &[Shifted]| {
        let mut found: Vec<(u32, Colour)> = list
            .iter()
            .map(|&(variable, order)| (u32::from(order), colours.variables[variable.index()]))
            .collect();
        found.sort_unstable();
        found
            .into_iter()
            .flat_map(|(order, colour)| [order, colour])
            .collect::<Vec<_>>()
    };
    // What each variable and predicate is used in.
    let mut uses_of_variables: Vec<Vec<[u32; 3]>> = vec![Vec::new(); colours.variables.len()];
    let mut uses_of_predicates: Vec<Vec<[u32; 3]>> = vec![Vec::new(); colours.predicates.len()];
    let mut equations = Vec::with_capacity(system.equations.len());
    for (equation, &colour) in system.equations.iter().zip(&colours.equations) {
        let mut signature = vec![colour];
        push_list(&mut signature, of_variables(&equation.variables));
        push_list(&mut signature, formula_signature(&equation.guard, colours));
        equations.push(signature);
        for &(variable, order) in &equation.variables {
            uses_of_variables[variable.index()].push([0, u32::from(order), colour]);
        }
        for predicate in equation.guard.predicates() {
            uses_of_predicates[predicate.index()].push([0, 0, colour]);
        }
    }
    for (reads, &colour) in system.predicates.iter().zip(&colours.predicates) {
        for &(variable, order) in reads {
            uses_of_variables[variable.index()].push([1, u32::from(order), colour]);
        }
    }
    let mut invariants: Vec<Signature> = system
        .invariants
        .iter()
        .map(|i| formula_signature(i, colours))
        .collect();
    invariants.sort_unstable();
    for invariant in &system.invariants {
        let signature = formula_signature(invariant, colours);
        let place = invariants.partition_point(|other| *other < signature) as u32;
        for predicate in invariant.predicates() {
            uses_of_predicates[predicate.index()].push([1, 0, place]);
        }
    }
    let with_uses = |colour: Colour, mut uses: Vec<[u32; 3]>| {
        uses.sort_unstable();
        let mut signature = vec![colour];
        push_list(&mut signature, uses.into_iter().flatten().collect());
        signature
    };
    let variables = colours.variables.iter().zip(uses_of_variables);
    let variables = variables.map(|(&colour, uses)| with_uses(colour, uses)).collect();
    let predicates = colours
        .predicates
        .iter()
        .zip(uses_of_predicates)
        .zip(&system.predicates);
    let predicates = predicates
        .map(|((&colour, uses), reads)| {
            let mut signature = with_uses(colour, uses);
            push_list(&mut signature, of_variables(reads));
            signature
        })
        .collect();
    Colours::from_signatures(equations, variables, predicates)
}

/// A formula with its predicates by colour and the parts of conjunctions and disjunctions without order.
fn formula_signature(formula: &Formula, colours: &Colours) -> Signature {
    let parts = |tag: u32, parts: &[Formula]| {
        let mut parts: Vec<Signature> = parts.iter().map(|part| formula_signature(part, colours)).collect();
        parts.sort_unstable();
        let mut signature = vec![tag, parts.len() as u32];
        for part in parts {
            push_list(&mut signature, part);
        }
        signature
    };
    match formula {
        Formula::Constant(value) => vec![0, u32::from(*value)],
        Formula::Predicate(predicate) => vec![1, colours.predicates[predicate.index()]],
        Formula::Not(inner) => parts(2, std::slice::from_ref(inner)),
        Formula::And(list) => parts(3, list),
        Formula::Or(list) => parts(4, list),
    }
}
