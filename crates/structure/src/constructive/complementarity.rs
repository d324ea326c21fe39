//! Complementarity conditions as atomic actions (RR-8933, sections II-C and III-B).
//!
//! `complementarity(a, b)`, or an ideal diode written by hand, is a variable s whose sign chooses between s = a, b = 0 and
//! b = −s, a = 0. Read guard by guard it is a fixpoint: s is known only when its sign is. Read as 0 ≤ a ⊥ b ≥ 0 it is one
//! equation that a solver for such conditions takes together with what else relates a and b, (59). If a is made of states,
//! it is what a becomes that counts: a is shifted until it speaks of what is determined at the instant, (51) and (56).
//!
//! Alone it determines nothing: if a is known to be zero, b may be anything. So a block must hold unknowns of both sides.

use rustc_hash::FxHashMap;
use saltus_mdae::{EquationId, Idx, VarId};

use super::system::{Shifted, System};
use crate::formula::{Formula, PredicateId};

/// The two sides of a complementarity condition, shifted to where they are determined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// What the first is made of.
    pub first: Vec<Shifted>,
    /// And the second.
    pub second: Vec<Shifted>,
    /// The equations a = 0 and b = 0 of the branches, for names.
    pub zero: [EquationId; 2],
}

/// A condition written as branches.
struct Branches {
    predicate: PredicateId,
    path: VarId,
    /// s = a, and b = 0 with it; s = −b, and a = 0 with it.
    equations: [EquationId; 4],
}

impl System {
    /// Replaces branches by the conditions they stand for. Equations keep their numbers; the predicates that are left are
    /// returned, in order.
    pub(super) fn take_complementarities(&mut self) -> Vec<PredicateId> {
        let all = (0..self.predicates.len()).map(PredicateId::from_usize);
        let found: Vec<Branches> = all
            .clone()
            .filter_map(|predicate| self.branches_of(predicate))
            .collect();
        let taken: Vec<PredicateId> = found.iter().map(|branches| branches.predicate).collect();
        let in_branches = |id: usize| {
            let mut equations = found.iter().flat_map(|branches| branches.equations);
            equations.any(|equation| equation.index() == id)
        };
        let mut degrees: FxHashMap<VarId, u16> = FxHashMap::default();
        for (id, equation) in self.equations.iter().enumerate() {
            for &(var, order) in equation.variables.iter().filter(|_| !in_branches(id)) {
                let known = degrees.entry(var).or_insert(order);
                *known = order.max(*known);
            }
        }
        for branches in &found {
            self.replace(branches, &degrees);
        }
        let left: Vec<PredicateId> = all.filter(|predicate| !taken.contains(predicate)).collect();
        self.renumber(&left);
        left
    }

    fn branches_of(&self, predicate: PredicateId) -> Option<Branches> {
        let [(path, 0)] = self.predicates[predicate.index()][..] else {
            return None;
        };
        let holds = Formula::Predicate(predicate);
        let fails = Formula::Not(Box::new(holds.clone()));
        let (mut on, mut off) = (Vec::new(), Vec::new());
        for (id, equation) in self.equations.iter().enumerate() {
            let id = EquationId::from_usize(id);
            if equation.guard == holds {
                on.push(id);
            } else if equation.guard == fails {
                off.push(id);
            } else if equation.guard.predicates().contains(&predicate) || self.reads(id, path) {
                return None;
            }
        }
        let read_elsewhere = self
            .predicates
            .iter()
            .enumerate()
            .any(|(other, reads)| other != predicate.index() && reads.iter().any(|&(var, _)| var == path));
        let in_invariants = self
            .invariants
            .iter()
            .any(|formula| formula.predicates().contains(&predicate));
        if read_elsewhere || in_invariants {
            return None;
        }
        let ([one, two], [three, four]) = (&on[..], &off[..]) else {
            return None;
        };
        let (first, with_first) = self.ordered(*one, *two, path)?;
        let (second, with_second) = self.ordered(*three, *four, path)?;
        let same = |defining: EquationId, zero: EquationId| {
            let sides = self.equations[defining.index()].variables.iter();
            sides
                .filter(|&&(var, _)| var != path)
                .eq(&self.equations[zero.index()].variables)
        };
        let agree = same(first, with_second) && same(second, with_first);
        agree.then_some(Branches {
            predicate,
            path,
            equations: [first, with_first, second, with_second],
        })
    }

    fn reads(&self, equation: EquationId, var: VarId) -> bool {
        let variables = &self.equations[equation.index()].variables;
        variables.iter().any(|&(read, _)| read == var)
    }

    /// The equation that reads the path variable, without derivatives of it, and the one that does not.
    fn ordered(&self, a: EquationId, b: EquationId, path: VarId) -> Option<(EquationId, EquationId)> {
        let (defining, other) = match (self.reads(a, path), self.reads(b, path)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            _ => return None,
        };
        let variables = &self.equations[defining.index()].variables;
        variables.contains(&(path, 0)).then_some((defining, other))
    }

    fn replace(&mut self, branches: &Branches, degrees: &FxHashMap<VarId, u16>) {
        let [first, with_first, second, with_second] = branches.equations;
        let side = |equation: EquationId| {
            let variables = &self.equations[equation.index()].variables;
            let below = |&(var, order): &Shifted| degrees.get(&var).map_or(0, |degree| degree.saturating_sub(order));
            let shifts = variables.iter().map(below).min().unwrap_or(0);
            variables
                .iter()
                .map(|&(var, order)| (var, order + shifts))
                .collect::<Vec<_>>()
        };
        let sides = Sides {
            first: side(with_second),
            second: side(with_first),
            zero: [with_second, with_first],
        };
        for id in [with_first, second, with_second] {
            let equation = &mut self.equations[id.index()];
            equation.variables.clear();
            equation.guard = Formula::Constant(false);
        }
        let equation = &mut self.equations[first.index()];
        equation.variables = [&sides.first[..], &sides.second[..]].concat();
        equation.variables.sort_unstable();
        equation.variables.dedup();
        equation.guard = Formula::Constant(true);
        equation.sides = Some(sides);
        debug_assert!(!self.reads(first, branches.path));
    }

    /// Numbers the predicates that are left.
    pub(super) fn renumber(&mut self, left: &[PredicateId]) {
        let predicates = left.iter().map(|predicate| self.predicates[predicate.index()].clone());
        self.predicates = predicates.collect();
        let number = |old: PredicateId| left.iter().position(|&kept| kept == old).map(PredicateId::from_usize);
        for equation in &mut self.equations {
            equation.guard = equation.guard.renumbered(&number);
        }
        for invariant in &mut self.invariants {
            *invariant = invariant.renumbered(&number);
        }
    }
}
