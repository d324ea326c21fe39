//! Moving from mode to mode at a cost in what changes, not in the model.
//!
//! A [`ModeCursor`] holds the transversal, the canonical offsets and the blocks of its present mode. Toggling a guard
//! repairs them around the changed equations: offsets are reset where they may have become too high and raised again
//! by the Hungarian method ([`assignment`](self)), blocks are taken apart and found again among the rows whose
//! dependencies changed, and the order of computation is repaired by raising labels.

mod assignment;
mod order;

use saltus_mdae::{EquationId, Idx, Mdae, VarId};

use super::guards::{GuardId, Modes, Valuation};
use super::structure::{ModeFailure, ModeStructure, analyze_mode};
use crate::sigma::MAX_DIFFERENTIATIONS;
use assignment::Assignment;
use order::Order;
pub use order::Slot;

/// A mode that follows its guards.
#[derive(Clone, Debug)]
pub struct ModeCursor<'a> {
    model: &'a Mdae,
    modes: &'a Modes,
    valuation: Valuation,
    assignment: Assignment<'a>,
    order: Order,
    /// What changed while the mode was singular and the order could not be kept.
    pending: Change,
}

/// Rows and columns whose dependencies changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    rows: Vec<EquationId>,
    columns: Vec<VarId>,
}

/// What a move changed. Blocks keep their slot until they are removed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Move {
    /// Whether the new mode is structurally regular; if not, blocks are as in the last regular mode.
    pub is_regular: bool,
    /// Blocks that are no more.
    pub removed: Vec<Slot>,
    /// New blocks, in order of computation.
    pub added: Vec<Slot>,
    /// Blocks that stay but are computed later than before.
    pub postponed: Vec<Slot>,
    /// Equations that are new, gone, rematched, or differentiated another number of times.
    pub equations: Vec<EquationId>,
    /// Unknowns with another leading derivative or another equation.
    pub unknowns: Vec<VarId>,
}

impl<'a> ModeCursor<'a> {
    /// Starts from an analysed mode.
    pub fn new(model: &'a Mdae, modes: &'a Modes, structure: &ModeStructure) -> Self {
        let assignment = Assignment::new(model, modes, structure);
        let order = Order::new(model.equations.len(), structure);
        ModeCursor {
            model,
            modes,
            valuation: structure.valuation.clone(),
            assignment,
            order,
            pending: Change::default(),
        }
    }

    /// The present mode.
    pub fn valuation(&self) -> &Valuation {
        &self.valuation
    }
    /// Whether it is structurally regular.
    pub fn is_regular(&self) -> bool {
        self.assignment.is_perfect() && i64::from(self.index()) <= MAX_DIFFERENTIATIONS + 1
    }
    /// Structural index; meaningful in regular modes.
    pub fn index(&self) -> u16 {
        self.assignment.index()
    }
    /// Degrees of freedom; meaningful in regular modes.
    pub fn degrees_of_freedom(&self) -> usize {
        self.assignment.degrees_of_freedom()
    }
    /// How often an active equation is differentiated.
    pub fn c_of(&self, equation: EquationId) -> Option<u16> {
        self.assignment.c_of(equation)
    }
    /// The leading derivative of an unknown that is alive.
    pub fn d_of(&self, var: VarId) -> Option<u16> {
        self.assignment.d_of(var)
    }
    /// The unknown an equation is matched to.
    pub fn matched_unknown(&self, equation: EquationId) -> Option<VarId> {
        self.assignment.column_of(equation)
    }
    /// The block of an active equation.
    pub fn block_of(&self, equation: EquationId) -> Option<Slot> {
        self.order.block_of(equation)
    }
    /// The equations of a block, in order.
    pub fn equations(&self, block: Slot) -> &[EquationId] {
        self.order.rows(block)
    }
    /// The position of a block in the order of computation: a block comes after those with a smaller label that it
    /// needs; blocks with equal labels do not need each other.
    pub fn label(&self, block: Slot) -> u64 {
        self.order.label(block)
    }

    /// Sets guards and repairs what depends on them.
    pub fn set_guards(&mut self, guards: &[(GuardId, bool)]) -> Move {
        let (mut off, mut on) = (Vec::new(), Vec::new());
        for &(guard, value) in guards {
            if self.valuation.set(guard, value) {
                let list = if value { &mut on } else { &mut off };
                list.extend_from_slice(self.modes.equations_of(guard));
            }
        }
        let change = self.assignment.change(&off, &on);
        let mut moved = Move {
            is_regular: self.is_regular(),
            equations: change.rows.clone(),
            unknowns: change.columns.clone(),
            ..Move::default()
        };
        self.pending.rows.extend(change.rows);
        self.pending.columns.extend(change.columns);
        if moved.is_regular {
            let change = std::mem::take(&mut self.pending);
            self.order.repair(&self.assignment, &change, &mut moved);
        }
        moved
    }

    /// Moves to another valuation.
    pub fn move_to(&mut self, valuation: &Valuation) -> Move {
        let guards: Vec<(GuardId, bool)> = self
            .valuation
            .difference(valuation)
            .map(|guard| (guard, valuation.get(guard)))
            .collect();
        self.set_guards(&guards)
    }

    /// The whole structure of the present mode; costs time in the model.
    pub fn structure(&self) -> Result<ModeStructure, ModeFailure> {
        analyze_mode(self.model, self.modes, &self.valuation)
    }

    /// Checks offsets, matching, blocks and labels against their definitions.
    pub fn validate(&self) -> Result<(), String> {
        self.assignment.validate()?;
        if self.is_regular() {
            self.order.validate(&self.assignment)
        } else {
            Ok(())
        }
    }
}

/// Marks items once per round.
#[derive(Clone, Debug)]
struct Marks {
    round: Vec<u32>,
    current: u32,
}

impl Marks {
    fn new(count: usize) -> Self {
        Marks {
            round: vec![0; count],
            current: 0,
        }
    }
    /// Forgets all marks.
    fn clear(&mut self) {
        self.current = self.current.wrapping_add(1);
        if self.current == 0 {
            self.round.fill(0);
            self.current = 1;
        }
    }
    /// Marks an item and says whether that was new.
    fn mark(&mut self, item: impl Idx) -> bool {
        let round = &mut self.round[item.index()];
        std::mem::replace(round, self.current) != self.current
    }
}
