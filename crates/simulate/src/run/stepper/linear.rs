//! The equations of the present mode, linearised at the present point.

use saltus_mdae::{Derivative, Idx, Role, VarId};
use saltus_numerics::EvalError;
use saltus_results::SignalId;

use super::{Run, Stage, Stepper};
use crate::engine::ModeId;
use crate::error::Failure;
use crate::run::input::InputSignal;

/// Steps of differences in parts of the size of a value: for differences of fourth order this makes the parts of rounding and of
/// curvature equal.
const STEP: f64 = 7e-4;
/// Parts of the size of a value that are not a change.
const NO_CHANGE: f64 = 1e-9;

/// Matrices of `der(x) = A x + B u`, `y = C x + D u` for small changes; their rows stand one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearization {
    /// The time.
    pub time: f64,
    /// The mode in words.
    pub mode: String,
    /// States of the mode, in the order of their columns.
    pub states: Vec<Derivative>,
    /// Inputs, in the order of their columns.
    pub inputs: Vec<VarId>,
    /// Inputs whose derivatives act on what is asked for: four matrices do not say all.
    pub by_slope: Vec<VarId>,
    /// The states at the point.
    pub x: Vec<f64>,
    /// Their derivatives.
    pub dx: Vec<f64>,
    /// The inputs.
    pub u: Vec<f64>,
    /// The outputs.
    pub y: Vec<f64>,
    /// From states to their derivatives.
    pub a: Vec<f64>,
    /// From inputs to derivatives of states.
    pub b: Vec<f64>,
    /// From states to outputs.
    pub c: Vec<f64>,
    /// From inputs to outputs.
    pub d: Vec<f64>,
}

impl Stepper {
    /// The equations of the present mode, linearised at the present point, by differences of fourth order within the mode.
    /// The run is as it was. Nothing while it goes along a surface between two modes.
    pub fn linearize(&self, outputs: &[SignalId]) -> Result<Option<Linearization>, Failure> {
        match &self.stage {
            Stage::Start(Err(failure)) | Stage::Failed(failure) => return Err(failure.clone()),
            _ => {}
        }
        let mut run = self.run.clone();
        run.have_whole_mode()?;
        let (Some(mode), None) = (run.engine.mode, &run.slide) else {
            return Ok(None);
        };
        run.hold_inputs();
        run.linearize(mode, outputs, self.mode_label()).map(Some)
    }
}

/// A state of a mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Which one.
    pub state: Derivative,
    /// Its value.
    pub value: f64,
    /// Its derivative.
    pub derivative: f64,
}

impl Stepper {
    /// The states of the present mode with their values and derivatives. Nothing while the run goes along a surface between two
    /// modes.
    pub fn rates(&self) -> Result<Option<Vec<Rate>>, Failure> {
        match &self.stage {
            Stage::Start(Err(failure)) | Stage::Failed(failure) => return Err(failure.clone()),
            _ => {}
        }
        let mut run = self.run.clone();
        run.have_whole_mode()?;
        let (Some(mode), None) = (run.engine.mode, &run.slide) else {
            return Ok(None);
        };
        let (mut x, states) = (Vec::new(), run.engine.modes[mode].plan_mut().states.clone());
        run.engine.modes[mode]
            .plan_mut()
            .read_states(&run.engine.memory, &mut x);
        let derivatives = run.response(mode, &x, &[])?;
        let rates = states.into_iter().zip(x).zip(derivatives);
        Ok(Some(
            rates
                .map(|((state, value), derivative)| Rate {
                    state,
                    value,
                    derivative,
                })
                .collect(),
        ))
    }
}

/// Derivatives of states, then outputs.
type Response = Vec<f64>;

impl Run {
    /// Every input keeps its present value.
    fn hold_inputs(&mut self) {
        let time = self.engine.memory.time();
        let model = self.engine.model.clone();
        let inputs = model.variables.iter_enumerated();
        let inputs = inputs.filter(|(_, variable)| variable.role == Role::Input);
        let signals = inputs.map(|(var, _)| InputSignal {
            var,
            times: vec![time],
            values: vec![self.engine.memory.get(var, 0)],
            held: true,
        });
        self.engine.inputs.signals = signals.collect();
        self.engine.apply_inputs(time);
    }

    fn linearize(&mut self, mode: ModeId, outputs: &[SignalId], label: String) -> Result<Linearization, Failure> {
        let mut x = Vec::new();
        self.engine.modes[mode]
            .plan_mut()
            .read_states(&self.engine.memory, &mut x);
        let states = self.engine.modes[mode].plan_mut().states.clone();
        let inputs: Vec<VarId> = self.engine.inputs.signals.iter().map(|signal| signal.var).collect();
        let u: Vec<f64> = self
            .engine
            .inputs
            .signals
            .iter()
            .map(|signal| signal.values[0])
            .collect();
        let here = self.response(mode, &x, outputs)?;
        let (rows, columns) = (here.len(), x.len() + u.len());
        let mut matrix = vec![0.0; rows * columns];
        // What the response is the sum of: near a steady state the terms cancel.
        let mut sizes: Vec<f64> = here.iter().map(|value| value.abs()).collect();
        for column in 0..columns {
            let size = match column.checked_sub(x.len()) {
                None => x[column].abs().max(self.engine.nominal[states[column].var.index()]),
                Some(input) => u[input].abs().max(self.engine.nominal[inputs[input].index()]),
            };
            let h = STEP * size;
            // f(+h) - f(-h) and f(+2h) - f(-2h), so that everything up to the fourth power cancels.
            for (multiple, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
                let moved = self.moved(mode, &x, column, multiple * h, outputs)?;
                for (row, value) in moved.iter().enumerate() {
                    matrix[row * columns + column] += weight * value / (12.0 * h);
                }
            }
        }
        for (row, size) in sizes.iter_mut().enumerate() {
            let entries = &matrix[row * columns..][..columns];
            let terms = entries.iter().zip(x.iter().chain(&u));
            *size += terms.map(|(entry, value)| (entry * value).abs()).sum::<f64>();
        }
        let mut by_slope = Vec::new();
        for (input, &var) in inputs.iter().enumerate() {
            if self.slope_acts(mode, &x, input, outputs, (&here, &sizes))? {
                by_slope.push(var);
            }
        }
        let part = |rows: std::ops::Range<usize>, columns_of: std::ops::Range<usize>| -> Vec<f64> {
            let of_row = |row: usize| columns_of.clone().map(move |column| (row, column));
            rows.flat_map(of_row)
                .map(|(row, column)| matrix[row * columns + column])
                .collect()
        };
        let count = x.len();
        Ok(Linearization {
            time: self.engine.memory.time(),
            mode: label,
            by_slope,
            dx: here[..count].to_vec(),
            y: here[count..].to_vec(),
            a: part(0..count, 0..count),
            b: part(0..count, count..columns),
            c: part(count..rows, 0..count),
            d: part(count..rows, count..columns),
            states,
            inputs,
            x,
            u,
        })
    }

    /// The response where one state or input is moved.
    fn moved(
        &mut self,
        mode: ModeId,
        x: &[f64],
        column: usize,
        by: f64,
        outputs: &[SignalId],
    ) -> Result<Response, Failure> {
        let mut x = x.to_vec();
        let Some(input) = column.checked_sub(x.len()) else {
            x[column] += by;
            return self.response(mode, &x, outputs);
        };
        self.engine.inputs.signals[input].values[0] += by;
        let response = self.response(mode, &x, outputs);
        self.engine.inputs.signals[input].values[0] -= by;
        response
    }

    /// Whether the derivative of an input acts on the response.
    fn slope_acts(
        &mut self,
        mode: ModeId,
        x: &[f64],
        input: usize,
        outputs: &[SignalId],
        (here, sizes): (&[f64], &[f64]),
    ) -> Result<bool, Failure> {
        let held = self.engine.inputs.signals[input].clone();
        if self.engine.memory.orders(held.var) < 2 {
            return Ok(false);
        }
        let (time, value, slope) = (held.times[0], held.values[0], self.engine.nominal[held.var.index()]);
        self.engine.inputs.signals[input] = InputSignal {
            var: held.var,
            times: vec![time, time + 1.0],
            values: vec![value, value + slope],
            held: false,
        };
        let response = self.response(mode, x, outputs);
        self.engine.inputs.signals[input] = held;
        let response = response?;
        let changed = |((a, b), size): ((&f64, &f64), &f64)| (a - b).abs() > NO_CHANGE * size.max(a.abs());
        Ok(response.iter().zip(here).zip(sizes).any(changed))
    }

    /// Derivatives of the states and outputs for values of the states.
    fn response(&mut self, mode: ModeId, x: &[f64], outputs: &[SignalId]) -> Result<Response, Failure> {
        let time = self.engine.memory.time();
        let mut ode = self.engine.ode(mode, &self.history);
        let evaluated: Result<(), EvalError> = ode.evaluate(time, x);
        let failure = ode.last_failure.take();
        if let (Err(_), Some(failure)) = (evaluated, failure) {
            return Err(self.engine.explain_evaluation(mode, &failure));
        }
        let slots = self.engine.modes[mode].plan_mut().derivative_slots.clone();
        let mut response: Response = slots
            .iter()
            .map(|&slot| self.engine.memory.values[slot as usize])
            .collect();
        self.layout.row(&self.engine.memory, &mut self.row);
        let value = |&output: &SignalId| self.layout.schema.value_in(output, &self.row);
        response.extend(outputs.iter().map(value));
        Ok(response)
    }
}
