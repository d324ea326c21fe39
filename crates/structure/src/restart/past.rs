//! How far back a variable is known: d⁻ with what follows from invariants.
//!
//! In a mode that does not differentiate it, a relative angle `rel = phi2 - phi1` is algebraic: d is 0 and nothing
//! is known of rel' before a change to a mode that needs it. But the definition holds before and after the change, and
//! phi1 and phi2 have a past: so has rel. The same goes for what is computed from parameters and time alone.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::Row;
use saltus_mdae::{Derivative, VarId};

use super::system::ModeSystem;

/// d⁻ by variable, computed where the new mode needs more derivatives than the previous one has.
#[derive(Debug)]
pub(crate) struct Past<'a> {
    previous: &'a ModeSystem,
    new: &'a ModeSystem,
    known: RefCell<FxHashMap<VarId, u16>>,
}

/// A variable with the equation that gives it before and after the change.
struct Definition {
    var: VarId,
    /// d in the previous mode.
    before: u16,
    /// Unknowns that it is made of, with their derivatives.
    made_of: Vec<Derivative>,
}

impl<'a> Past<'a> {
    pub(crate) fn new(previous: &'a ModeSystem, new: &'a ModeSystem) -> Self {
        Past {
            previous,
            new,
            known: RefCell::default(),
        }
    }

    /// d⁻ of a variable; `invariant` says the rows of the new mode that hold before, during and after the change.
    pub(crate) fn of(&self, var: VarId, invariant: &dyn Fn(Row) -> bool) -> u16 {
        let before = self.before(var);
        if self.needed(var) <= before {
            return before;
        }
        if let Some(&known) = self.known.borrow().get(&var) {
            return known;
        }
        self.settle(self.definitions_around(var, invariant));
        *self.known.borrow_mut().entry(var).or_insert(before)
    }

    fn before(&self, var: VarId) -> u16 {
        self.previous.offset_of(var).unwrap_or(0)
    }
    fn needed(&self, var: VarId) -> u16 {
        self.new.offset_of(var).unwrap_or(0)
    }

    /// The definition of a variable, of what it is made of, and so on.
    fn definitions_around(&self, var: VarId, invariant: &dyn Fn(Row) -> bool) -> Vec<Definition> {
        let mut found = Vec::new();
        let mut met: FxHashSet<VarId> = [var].into_iter().collect();
        let mut open = vec![var];
        while let Some(var) = open.pop() {
            if self.needed(var) <= self.before(var) || self.known.borrow().contains_key(&var) {
                continue;
            }
            if let Some(definition) = self.definition(var, invariant) {
                open.extend(
                    definition
                        .made_of
                        .iter()
                        .map(|&Derivative { var, .. }| var)
                        .filter(|&var| met.insert(var)),
                );
                found.push(definition);
            }
        }
        found
    }

    fn definition(&self, var: VarId, invariant: &dyn Fn(Row) -> bool) -> Option<Definition> {
        let column = self.previous.column_of(var)?;
        let row = self.previous.matched_row(column);
        let stays = self.new.find(self.previous.equation(row).residual)?;
        if !invariant(stays) {
            return None;
        }
        let (own, others): (Vec<_>, Vec<_>) = self.previous.signature(row).partition(|&(other, _)| other == column);
        let made_of = others
            .into_iter()
            .map(|(other, order)| Derivative::new(self.previous.unknown(other), order));
        own.iter().all(|&(_, order)| order == 0).then(|| Definition {
            var,
            before: self.before(var),
            made_of: made_of.collect(),
        })
    }

    /// The longest pasts that agree with all definitions: chains, loops (currents as functions of fluxes) and functions
    /// of time alone.
    fn settle(&self, definitions: Vec<Definition>) {
        let mut known = self.known.borrow_mut();
        known.extend(
            definitions
                .iter()
                .map(|definition| (definition.var, self.needed(definition.var))),
        );
        let mut changed = true;
        while changed {
            changed = false;
            for definition in &definitions {
                let of_part = |&Derivative { var, order }: &Derivative| {
                    let past = known.get(&var).copied().unwrap_or_else(|| self.before(var));
                    past.saturating_sub(order)
                };
                let parts = definition.made_of.iter().map(of_part).min().unwrap_or(u16::MAX);
                let granted = parts.max(definition.before);
                if granted < known[&definition.var] {
                    known.insert(definition.var, granted);
                    changed = true;
                }
            }
        }
    }
}

/// How many derivatives beyond the leading ones of the previous mode may be asked for at a change to `new`.
pub fn levels_beyond(previous: &ModeSystem, new: &ModeSystem) -> u16 {
    let past = Past::new(previous, new);
    let beyond = |&var: &VarId| {
        let leading = previous.offset_of(var)?;
        Some(past.of(var, &|_| true).saturating_sub(leading + 1))
    };
    new.unknowns().iter().filter_map(beyond).max().unwrap_or(0)
}
