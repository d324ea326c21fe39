//! How large variables are, and how well they are known: the tolerances of conditions, of jumps and of the integrator.
//!
//! Nothing here has a unit of its own. A variable is as large as its `nominal` attribute says, or else as it has been so
//! far; a state is known to the relative tolerance and a thousandth of it times that size; and what follows from the states
//! of a mode is known as well as it responds to errors of theirs (see `response`). So a model in other units has the same
//! tolerances in those units.

use saltus_mdae::{Idx, Mdae, VarId};

use crate::memory::Memory;

/// Sizes and errors of the variables of a run.
#[derive(Clone, Debug)]
pub struct Scales {
    /// Relative tolerance.
    relative: f64,
    /// Absolute tolerance, in parts of a variable's size.
    absolute: f64,
    /// The `nominal` attributes that are given.
    nominal: Vec<Option<f64>>,
    /// The largest value so far, by slot.
    sizes: Vec<f64>,
    /// What is known of errors besides the relative tolerance, by slot: responses to errors of the states.
    responses: Vec<f64>,
    /// The same at the left limits of the present instant.
    before: Vec<f64>,
    /// The time at which the run begins.
    start: f64,
}

/// Rounding of times, in units of the last place: those of events are computed by a few operations.
const TIME_ULPS: f64 = 16.0;

/// Where nothing is known of a size yet.
const LEAST_SIZE: f64 = 1e-30;

/// Times of this size that differ by less are the same.
pub(crate) fn rounding_of_time(size: f64) -> f64 {
    TIME_ULPS * f64::EPSILON * size
}

impl Scales {
    pub(crate) fn new(
        model: &Mdae,
        memory: &Memory,
        (relative, absolute): (f64, f64),
        nominal: Vec<Option<f64>>,
        start: f64,
    ) -> Self {
        debug_assert_eq!(nominal.len(), model.variables.len());
        Scales {
            relative,
            absolute,
            nominal,
            sizes: vec![0.0; memory.values.len()],
            responses: vec![0.0; memory.values.len()],
            before: vec![0.0; memory.values.len()],
            start,
        }
    }

    /// Where every number is what it is.
    pub(crate) fn exact() -> Self {
        Scales {
            relative: 0.0,
            absolute: 0.0,
            nominal: Vec::new(),
            sizes: Vec::new(),
            responses: Vec::new(),
            before: Vec::new(),
            start: 0.0,
        }
    }

    /// The error to be expected of a derivative of a variable at its value in memory.
    pub(crate) fn error(&self, memory: &Memory, var: VarId, order: u16) -> f64 {
        let slot = memory.slot(var, order) as usize;
        let response = self.responses.get(slot).copied().unwrap_or(0.0);
        self.relative * memory.values[slot].abs() + response
    }

    /// The error of a state: what the integrator is asked for.
    pub(crate) fn state_error(&self, memory: &Memory, var: VarId, order: u16) -> f64 {
        self.relative * memory.get(var, order).abs() + self.absolute * self.size(memory, var, order)
    }

    /// How large a derivative of a variable is: by its attribute, or the largest value so far.
    pub(crate) fn size(&self, memory: &Memory, var: VarId, order: u16) -> f64 {
        match self.nominal.get(var.index()).copied().flatten() {
            Some(nominal) if order == 0 => nominal,
            _ => self.sizes.get(memory.slot(var, order) as usize).copied().unwrap_or(0.0),
        }
    }

    /// The absolute tolerance of a state: that of a nominal value of 1 where none is given, or less if all values so far
    /// were smaller.
    pub(crate) fn state_tolerance(&self, memory: &Memory, var: VarId, order: u16) -> f64 {
        let size = self.size(memory, var, order);
        let given = order == 0 && self.nominal.get(var.index()).copied().flatten().is_some();
        self.absolute * if given { size } else { size.clamp(LEAST_SIZE, 1.0) }
    }

    /// The response of a derivative of a variable to errors of the states, as last found.
    pub(crate) fn response(&self, memory: &Memory, var: VarId, order: u16) -> f64 {
        self.responses[memory.slot(var, order) as usize]
    }

    /// Times closer than this are the same.
    pub(crate) fn time_error(&self, time: f64) -> f64 {
        rounding_of_time(time.abs().max(self.start.abs()))
    }

    /// Nominal values may depend on parameters that were solved for.
    pub(crate) fn set_nominal_values(&mut self, nominal: Vec<Option<f64>>) {
        self.nominal = nominal;
    }

    /// By how much a value may miss a limit that is declared: its unit is not known, so 1 is taken for its size.
    pub(crate) fn declared_error(&self, var: VarId, value: f64) -> f64 {
        let nominal = self.nominal.get(var.index()).copied().flatten();
        self.relative * value.abs() + self.absolute * nominal.unwrap_or(1.0)
    }

    /// A value has been reached.
    pub(crate) fn note(&mut self, slot: u32, value: f64) {
        let size = &mut self.sizes[slot as usize];
        if value.abs() > *size && value.is_finite() {
            *size = value.abs();
        }
    }

    /// The responses that were found are those of the left limits.
    pub(crate) fn keep_left_limits(&mut self) {
        self.before.copy_from_slice(&self.responses);
    }

    /// The error of a left limit besides the relative tolerance.
    pub(crate) fn error_before(&self, memory: &Memory, var: VarId, order: u16) -> f64 {
        self.before[memory.slot(var, order) as usize]
    }

    pub(crate) fn set_response(&mut self, slot: u32, error: f64) {
        self.responses[slot as usize] = error;
    }
}
