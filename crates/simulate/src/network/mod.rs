//! Changes of mode that cost what they change.
//!
//! A *network* is a model whose equations are affine in its unknowns and their first derivatives, with coefficients that
//! stay the same during a run, and whose conditions read time alone: gears, clutches and brakes, circuits of ideal switches.
//! A mode of it needs no expressions of its own. Equations are rows of numbers; a change of conditions turns some of them on
//! and others off, and only what they are connected with is looked at again.
//!
//! Let d = 1 for unknowns whose derivatives occur in the mode and d = 0 for the others, and c = 1 for the *constraints*, the
//! equations in which unknowns with d = 1 occur without derivatives and nothing else does. These offsets are those of the
//! Σ-method if the matrix J of the leading terms (the derivatives where d = 1, the unknowns themselves where d = 0) is
//! regular: then there is a matching of leading terms, and smaller offsets do not cover them.
//!
//! J falls into parts. An equation with one leading unknown gives it alone; equations that share leading unknowns besides
//! those are an *island*. Each island has its factors of J, and they serve twice:
//!
//! - between events for the rates and the algebraic unknowns: J z = −(the other terms);
//! - at a change for jumps and impulses. Over the instant everything but derivatives and impulses integrates to nothing:
//!   with Δ the jumps of the unknowns with d = 1 and Y the weights of the impulses of the others, a constraint `C x = b` asks
//!   for C Δ = b − C x⁻, every other equation for A Δ + B Y = 0. That is J once more.
//!
//! Outside of the islands that a change touches the right-hand sides are zero, so that nothing jumps there.
//!
//! Constraints of one or two unknowns tie them to one state each ([`present::Member`]). What is not of this form, here
//! or in a single mode, is left to the analysis of whole modes; a mode that was entered here is compiled when that happens, as one
//! that was let go is.

pub(crate) mod condensed;
pub(crate) mod island;
pub(crate) mod present;
pub(crate) mod switches;
pub(crate) mod tables;

use saltus_mdae::{EquationId, Idx};
use saltus_structure::mode::{GuardId, Valuation};

use crate::engine::Engine;
use crate::events::resolution::Arguments;
use crate::memory::Memory;
use crate::report::ImpulseReport;
use present::Present;
use switches::Switches;
use tables::Tables;

/// No equation, unknown or island.
pub(crate) const NONE: u32 = u32::MAX;

/// A model as a network, and where a run of it is.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub tables: Tables,
    pub switches: Switches,
    /// What shows the course of the signals in the equations.
    pub arguments: Arguments,
    /// The mode in force; nothing while the run goes on with whole modes.
    pub present: Option<Present>,
}

/// What a change of conditions makes of a mode.
#[derive(Debug)]
pub(crate) struct Change {
    pub valuation: Valuation,
    pub impulses: Vec<ImpulseReport>,
    /// Whether any equation has changed.
    pub mode_changed: bool,
    /// Equations whose connections were found anew.
    pub looked_at: u64,
}

impl Network {
    /// The model of a run as a network, if it is one.
    pub(crate) fn of(engine: &Engine) -> Option<Self> {
        let model = &engine.model;
        let plain = model.whens.is_empty() && model.shares.is_empty() && engine.compiled.remembered().is_empty();
        if !plain || !engine.discrete.is_combinational() {
            return None;
        }
        let (tables, signals) = Tables::of(engine)?;
        let (pool, cache) = (&signals.pool, &signals.cache);
        let arguments = Arguments::of(model, cache, pool, &engine.memory, &signals.expressions);
        Some(Network {
            switches: Switches::of(engine),
            tables,
            arguments,
            present: None,
        })
    }

    /// Takes over a mode whose values are in memory; false if it is not of the form.
    pub(crate) fn enter(&mut self, engine: &Engine, valuation: &Valuation) -> bool {
        let modes = engine.compiled.modes();
        let active: Vec<EquationId> = modes.active(valuation).collect();
        let mut present = Present::new(&self.tables, valuation.clone());
        let entered = present.change(&self.tables, &[], &active).is_some();
        self.present = (entered && present.is_complete(&self.tables)).then(|| {
            present.read(&self.tables, &engine.memory);
            present
        });
        self.present.is_some()
    }

    /// Carries out what guards that have changed ask for, at the values of the mode in force; nothing if the mode that follows is
    /// not of the form: the network has no mode then.
    pub(crate) fn change(&mut self, engine: &Engine, changed: &[(GuardId, bool)]) -> Option<Change> {
        let mut present = self.present.take()?;
        let modes = engine.compiled.modes();
        let (mut on, mut off) = (Vec::new(), Vec::new());
        for &(guard, holds) in changed {
            present.valuation.set(guard, holds);
            let equations = modes.equations_of(guard);
            if holds { &mut on } else { &mut off }.extend_from_slice(equations);
        }
        let looked_at = present.looked_at;
        let mode_changed = !(on.is_empty() && off.is_empty());
        if self.replaces_factors(&on, &off) {
            return None;
        }
        let impulses = if mode_changed {
            let touched = present.change(&self.tables, &off, &on)?;
            present.restart(&self.tables, engine, &touched)?
        } else {
            Vec::new()
        };
        let change = Change {
            valuation: present.valuation.clone(),
            impulses,
            mode_changed,
            looked_at: present.looked_at - looked_at,
        };
        self.present = Some(present);
        Some(change)
    }

    /// Whether equations with derivatives of one unknown come and go: where the factor of a derivative may jump beside an
    /// impulse, the analysis of whole modes says so.
    fn replaces_factors(&self, on: &[EquationId], off: &[EquationId]) -> bool {
        let rates = |equations: &[EquationId]| -> Vec<u32> {
            let terms = equations
                .iter()
                .flat_map(|&equation| self.tables.terms(number(equation)));
            terms.filter(|term| term.is_rate).map(|term| term.unknown).collect()
        };
        let before = rates(off);
        rates(on).iter().any(|unknown| before.contains(unknown))
    }

    /// Solves the equations of the mode in force at a time and states.
    pub(crate) fn evaluate(&mut self, time: f64, states: &[f64], memory: &mut Memory) {
        if let Some(present) = &mut self.present {
            present.set_states(states);
            present.solve(&self.tables, time, memory);
        }
    }

    /// The rates of the states alone.
    pub(crate) fn evaluate_rates(&mut self, time: f64, states: &[f64], memory: &mut Memory) {
        if let Some(present) = &mut self.present {
            present.solve_for_rates(&self.tables, time, states, memory);
        }
    }

    /// Puts the values of the mode in force into memory.
    pub(crate) fn write(&self, memory: &mut Memory) {
        if let Some(present) = &self.present {
            present.write(&self.tables, memory);
        }
    }
}

/// A typed index as a number of the tables.
fn number(index: impl Idx) -> u32 {
    index.index() as u32
}
