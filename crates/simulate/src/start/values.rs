//! The start values of a model, found by what they are about.

use rustc_hash::FxHashMap;
use saltus_mdae::{Derivative, VarId};

/// A start value of a derivative of an unknown.
#[derive(Clone, Debug)]
pub(crate) struct StartValue {
    pub var: VarId,
    pub order: u16,
    pub value: f64,
    pub fixed: bool,
}

/// Start values of unknowns and their derivatives, at most one of each, in the order of the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartValues {
    all: Vec<StartValue>,
    place: FxHashMap<Derivative, usize>,
}

impl StartValues {
    /// Adds a start value; it replaces that of the same derivative.
    pub(crate) fn set(&mut self, start: StartValue) {
        let place = self.place.entry(Derivative::new(start.var, start.order));
        let at = *place.or_insert(self.all.len());
        match self.all.get_mut(at) {
            Some(known) => *known = start,
            None => self.all.push(start),
        }
    }

    /// The start value of a derivative.
    pub(crate) fn get(&self, var: VarId, order: u16) -> Option<&StartValue> {
        self.place.get(&Derivative::new(var, order)).map(|&at| &self.all[at])
    }

    /// The same, to change what it says.
    pub(crate) fn get_mut(&mut self, var: VarId, order: u16) -> Option<&mut StartValue> {
        let at = *self.place.get(&Derivative::new(var, order))?;
        self.all.get_mut(at)
    }

    /// All of them.
    pub(crate) fn as_slice(&self) -> &[StartValue] {
        &self.all
    }

    /// All of them in turn.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, StartValue> {
        self.all.iter()
    }
}
