//! From the memory of a run to rows of results.

use rustc_hash::FxHashMap;
use saltus_mdae::print::UserNames;
use saltus_mdae::{Derivative, Role, Type, VarId, Variable};
use saltus_results::{AliasSign, Binding, Role as SignalRole, Schema, Signal, SignalId, SignalKind, Value};

use crate::compiled::Compiled;
use crate::error::{Failure, FailureKind};
use crate::memory::Memory;

/// What is written: the schema and where its columns are in memory.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Names, units, aliases.
    pub schema: Schema,
    slots: Vec<Derivative>,
    /// Signals by whose names jumps of the columns are reported: `v` rather than `der(x)` where the model says `der(x) = v`.
    reported: Vec<SignalId>,
}

impl Layout {
    /// All variables of a model; parameters as constants with the values in memory.
    pub(crate) fn new(compiled: &Compiled, memory: &Memory) -> Result<Self, Failure> {
        let model = compiled.model();
        let mut signals = Vec::new();
        let mut slots = Vec::new();
        let mut columns: FxHashMap<Derivative, SignalId> = FxHashMap::default();
        let mut renamed: FxHashMap<Derivative, SignalId> = FxHashMap::default();
        let derivatives = compiled.derivatives_in_use();
        let names = UserNames::new(model);
        // Texts are no numbers to be shown.
        let shown = |(_, variable): &(VarId, &Variable)| !variable.text;
        for (var, variable) in model.variables.iter_enumerated().filter(shown) {
            if variable.role == Role::Parameter {
                let value = memory.get(var, 0);
                signals.push(
                    described(variable, Signal::constant(&*variable.name, value)).with_role(SignalRole::Parameter),
                );
                continue;
            }
            let role = match variable.role {
                Role::Input => SignalRole::Input,
                _ if variable.output => SignalRole::Output,
                Role::Continuous if derivatives.contains(&Derivative { var, order: 1 }) => SignalRole::State,
                _ => SignalRole::Local,
            };
            columns.insert(Derivative { var, order: 0 }, SignalId(signals.len() as u32));
            signals.push(described(variable, Signal::new(&*variable.name)).with_role(role));
            slots.push(Derivative::value_of(var));
        }
        for &Derivative { var, order } in &derivatives {
            let variable = &model.variables[var];
            columns.insert(Derivative { var, order }, SignalId(signals.len() as u32));
            let mut signal = Signal::new(names.as_derivative(var, order)).with_role(SignalRole::Derivative);
            signal.unit = derivative_unit(&variable.unit, order);
            signal.hidden = variable.hidden;
            signals.push(signal);
            slots.push(Derivative { var, order });
        }
        for alias in &model.aliases {
            let Some(&of) = columns.get(&Derivative::new(alias.target, alias.order)) else {
                continue;
            };
            let sign = match (alias.negated, alias.variable.ty) {
                (false, _) => AliasSign::Same,
                (true, Type::Boolean) => AliasSign::Not,
                (true, _) => AliasSign::Negated,
            };
            if alias.order > 0 && !alias.negated {
                let id = SignalId(signals.len() as u32);
                renamed.entry(Derivative::new(alias.target, alias.order)).or_insert(id);
            }
            let mut signal = described(&alias.variable, Signal::new(&*alias.variable.name));
            if alias.variable.output {
                signal.role = SignalRole::Output;
            }
            signals.push(signal.with_binding(Binding::Alias { of, sign }));
        }
        for constant in model.constants.iter().filter(|constant| !constant.variable.text) {
            let role = match constant.variable.role {
                Role::Parameter => SignalRole::Parameter,
                _ => SignalRole::Local,
            };
            let signal = Signal::constant(&*constant.variable.name, constant.value);
            signals.push(described(&constant.variable, signal).with_role(role));
        }
        let reported = slots.iter().map(|slot| *renamed.get(slot).unwrap_or(&columns[slot]));
        let reported = reported.collect();
        signals.shrink_to_fit();
        let schema = Schema::new(signals).map_err(|error| Failure::new(FailureKind::Output(error.to_string())))?;
        Ok(Layout {
            schema,
            slots,
            reported,
        })
    }

    /// The place and sign of a signal, or its value if it is a constant.
    pub(crate) fn place(&self, id: SignalId) -> Result<(Derivative, AliasSign), f64> {
        match self.schema.value(id) {
            Value::Column { column, sign } => Ok((self.slots[column.index()], sign)),
            Value::Constant(value) => Err(value),
        }
    }

    /// The name by which a jump of a column is reported.
    pub(crate) fn reported(&self, column: usize) -> &str {
        &self.schema.signal(self.reported[column]).name
    }

    /// Columns with derivatives, and which.
    pub(crate) fn derivatives(&self) -> impl Iterator<Item = (usize, Derivative)> + '_ {
        let columns = self.slots.iter().copied().enumerate();
        columns.filter(|(_, of)| of.order > 0)
    }

    /// The values of all columns as they are in memory.
    pub(crate) fn row(&self, memory: &Memory, out: &mut Vec<f64>) {
        out.clear();
        out.extend(
            self.slots
                .iter()
                .map(|&Derivative { var, order }| memory.get(var, order)),
        );
    }
}

fn described(variable: &Variable, signal: Signal) -> Signal {
    let mut signal = signal
        .with_unit(&*variable.unit)
        .with_display_unit(&*variable.display_unit)
        .with_description(&*variable.description)
        .with_kind(kind(variable));
    signal.hidden = variable.hidden;
    signal
}

fn kind(variable: &Variable) -> SignalKind {
    if let Some(literals) = &variable.literals {
        return SignalKind::Enumeration(literals.iter().map(|l| l.to_string()).collect());
    }
    match (variable.ty, variable.role) {
        (Type::Boolean, _) => SignalKind::Boolean,
        (Type::Integer, _) => SignalKind::Integer,
        (Type::Real, Role::Discrete) => SignalKind::Discrete,
        _ => SignalKind::Continuous,
    }
}

/// `m/s` from `m`: the unit of a derivative, where that is easy to write.
fn derivative_unit(unit: &str, order: u16) -> String {
    match (unit, order) {
        ("", _) => String::new(),
        (unit, 1) if !unit.contains('/') => format!("{unit}/s"),
        ("m/s", 1) => "m/s2".to_string(),
        ("rad/s", 1) => "rad/s2".to_string(),
        (unit, 2) if !unit.contains('/') => format!("{unit}/s2"),
        _ => String::new(),
    }
}
