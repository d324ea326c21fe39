//! What is known about the variables of a result before the first row arrives.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Name of the first column of every result.
pub(crate) const TIME: &str = "time";
/// Name of the column that holds the mode number.
pub(crate) const MODE: &str = "$mode";

/// Index of a [`Signal`] in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SignalId(pub u32);

impl SignalId {
    /// The position in [`Schema::signals`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a value in the rows handed to a [`ResultSink`](crate::ResultSink).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId(pub u32);

impl ColumnId {
    /// The position in a row.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a signal behaves between rows, and how its values read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignalKind {
    /// A continuous Real.
    #[default]
    Continuous,
    /// A Real that changes at events only.
    Discrete,
    /// 0 or 1.
    Boolean,
    /// A whole number that changes at events only.
    Integer,
    /// The one-based position of a literal; holds the literals' names.
    Enumeration(Vec<String>),
}

impl SignalKind {
    /// Whether the signal holds its value between events.
    pub fn is_step(&self) -> bool {
        !matches!(self, Self::Continuous)
    }
}

/// What part a signal plays in its model; used to choose what to show first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A continuous state.
    State,
    /// The derivative of another signal.
    Derivative,
    /// A top-level input.
    Input,
    /// A top-level output.
    Output,
    /// A parameter or constant.
    Parameter,
    /// Anything else.
    #[default]
    Local,
}

/// How the value of an alias follows from its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AliasSign {
    /// `a = b`
    Same,
    /// `a = -b`
    Negated,
    /// `a = not b`
    Not,
}

impl AliasSign {
    /// The alias's value from the value of its target.
    pub fn apply(self, value: f64) -> f64 {
        match self {
            Self::Same => value,
            // 0 - v instead of -v: a zero does not become "-0" in files.
            Self::Negated => 0.0 - value,
            Self::Not => 1.0 - value,
        }
    }

    /// `self` after `inner`; `None` where no single sign says it (`-(not b)`).
    pub fn compose(self, inner: Self) -> Option<Self> {
        match (self, inner) {
            (Self::Same, sign) | (sign, Self::Same) => Some(sign),
            (a, b) if a == b => Some(Self::Same),
            _ => None,
        }
    }
}

/// Where the value of a signal comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Binding {
    /// One value in every row, in the order of the schema.
    #[default]
    Column,
    /// The same value at all times (parameters, constants).
    Constant(#[serde(with = "crate::event::nan_as_null")] f64),
    /// Another signal of the schema.
    Alias {
        /// The signal it stands for; may itself be an alias.
        of: SignalId,
        /// How the value follows.
        sign: AliasSign,
    },
}

/// One variable of a result, as the user knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signal {
    /// Full name, such as `a.b[1].c` or `der(x)`.
    pub name: String,
    /// Unit of the stored values; empty when unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub unit: String,
    /// Unit to show values in; empty for `unit`.
    #[serde(skip_serializing_if = "is_default")]
    pub display_unit: String,
    /// The description string of the declaration.
    #[serde(skip_serializing_if = "is_default")]
    pub description: String,
    /// How it behaves between rows.
    #[serde(skip_serializing_if = "is_default")]
    pub kind: SignalKind,
    /// Its part in the model.
    #[serde(skip_serializing_if = "is_default")]
    pub role: Role,
    /// Where its values come from.
    #[serde(skip_serializing_if = "is_default")]
    pub binding: Binding,
    /// Declared `protected`.
    #[serde(skip_serializing_if = "is_default")]
    pub protected: bool,
    /// Annotated `HideResult=true`.
    #[serde(skip_serializing_if = "is_default")]
    pub hidden: bool,
}

/// Defaults are left out of files to keep them small.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Signal {
    /// A continuous signal with a value in every row.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// A parameter or constant.
    pub fn constant(name: impl Into<String>, value: f64) -> Self {
        Self::new(name)
            .with_binding(Binding::Constant(value))
            .with_role(Role::Parameter)
    }

    /// Another name for a signal.
    pub fn alias(name: impl Into<String>, of: SignalId, sign: AliasSign) -> Self {
        Self::new(name).with_binding(Binding::Alias { of, sign })
    }

    /// Sets the unit.
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// Sets the unit to show values in.
    pub fn with_display_unit(mut self, unit: impl Into<String>) -> Self {
        self.display_unit = unit.into();
        self
    }

    /// Sets the description.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the kind.
    pub fn with_kind(mut self, kind: SignalKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the role.
    pub fn with_role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Sets the binding.
    pub fn with_binding(mut self, binding: Binding) -> Self {
        self.binding = binding;
        self
    }

    /// Marks it protected.
    pub fn protected(mut self) -> Self {
        self.protected = true;
        self
    }

    /// Marks it hidden.
    pub fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }
}

/// Where the value of a signal is found once aliases have been followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A value of every row, changed by the sign.
    Column {
        /// Which value.
        column: ColumnId,
        /// What to do with it.
        sign: AliasSign,
    },
    /// The same at all times.
    Constant(f64),
}

/// A list of signals that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaError {
    /// Two signals have the same name.
    DuplicateName(String),
    /// The name is that of the time or mode column.
    ReservedName(String),
    /// An alias of a signal that does not exist.
    UnknownTarget(String),
    /// An alias of itself, directly or around a loop.
    AliasLoop(String),
    /// A chain of aliases such as `-(not b)`.
    MixedSigns(String),
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateName(name) => write!(f, "two variables are called `{name}`"),
            Self::ReservedName(name) => {
                write!(f, "`{name}` is the name of a column of every result")
            }
            Self::UnknownTarget(name) => {
                write!(f, "`{name}` is an alias of a variable that is not there")
            }
            Self::AliasLoop(name) => write!(f, "`{name}` is an alias of itself"),
            Self::MixedSigns(name) => {
                write!(f, "`{name}` is both a negative and a `not` of its target")
            }
        }
    }
}

impl std::error::Error for SchemaError {}

/// The variables of a result. Rows hold one value per signal bound to [`Binding::Column`], in this order.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    signals: Vec<Signal>,
    values: Vec<Value>,
    columns: Vec<SignalId>,
    /// In the order of their names.
    by_name: Vec<SignalId>,
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.signals == other.signals
    }
}

impl Schema {
    /// Checks the signals and follows their aliases.
    pub fn new(signals: Vec<Signal>) -> Result<Self, SchemaError> {
        let by_name = index_names(&signals)?;
        let columns = column_signals(&signals);
        let values = resolve_aliases(&signals, &columns)?;
        Ok(Self {
            signals,
            values,
            columns,
            by_name,
        })
    }

    /// All signals.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// All ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = SignalId> + use<> {
        (0..self.signals.len() as u32).map(SignalId)
    }

    /// One signal.
    pub fn signal(&self, id: SignalId) -> &Signal {
        &self.signals[id.index()]
    }

    /// The signal of that name.
    pub fn find(&self, name: &str) -> Option<SignalId> {
        let name_of = |id: &SignalId| self.signals[id.index()].name.as_str();
        let found = self.by_name.binary_search_by(|id| name_of(id).cmp(name));
        found.ok().map(|at| self.by_name[at])
    }

    /// The signals whose values are in the rows, in row order.
    pub fn columns(&self) -> &[SignalId] {
        &self.columns
    }

    /// Where the value of a signal is found.
    pub fn value(&self, id: SignalId) -> Value {
        self.values[id.index()]
    }

    /// The value of a signal in a row.
    pub fn value_in(&self, id: SignalId, row: &[f64]) -> f64 {
        match self.value(id) {
            Value::Column { column, sign } => sign.apply(row[column.index()]),
            Value::Constant(value) => value,
        }
    }
}

/// The signals in the order of their names, which have to be different.
fn index_names(signals: &[Signal]) -> Result<Vec<SignalId>, SchemaError> {
    let name = |id: SignalId| signals[id.index()].name.as_str();
    let mut by_name: Vec<SignalId> = (0..signals.len() as u32).map(SignalId).collect();
    let reserved = by_name.iter().copied().find(|&id| name(id) == TIME || name(id) == MODE);
    by_name.sort_unstable_by(|&a, &b| name(a).cmp(name(b)).then(a.cmp(&b)));
    let pairs = by_name.windows(2).filter(|pair| name(pair[0]) == name(pair[1]));
    let repeated = pairs.map(|pair| pair[1]).min();
    match (reserved, repeated) {
        (Some(reserved), repeated) if repeated.is_none_or(|repeated| reserved <= repeated) => {
            Err(SchemaError::ReservedName(name(reserved).to_owned()))
        }
        (_, Some(repeated)) => Err(SchemaError::DuplicateName(name(repeated).to_owned())),
        _ => Ok(by_name),
    }
}

fn column_signals(signals: &[Signal]) -> Vec<SignalId> {
    let is_column = |signal: &Signal| signal.binding == Binding::Column;
    (0u32..)
        .zip(signals)
        .filter(|(_, s)| is_column(s))
        .map(|(i, _)| SignalId(i))
        .collect()
}

fn resolve_aliases(signals: &[Signal], columns: &[SignalId]) -> Result<Vec<Value>, SchemaError> {
    let mut values: Vec<Option<Value>> = signals
        .iter()
        .map(|signal| match signal.binding {
            Binding::Constant(value) => Some(Value::Constant(value)),
            _ => None,
        })
        .collect();
    for (column, id) in (0u32..).zip(columns) {
        values[id.index()] = Some(Value::Column {
            column: ColumnId(column),
            sign: AliasSign::Same,
        });
    }
    for start in 0..signals.len() {
        resolve_chain(signals, &mut values, start)?;
    }
    Ok(values.into_iter().flatten().collect())
}

/// Follows one chain of aliases to a resolved signal and resolves every signal on the way back.
fn resolve_chain(signals: &[Signal], values: &mut [Option<Value>], start: usize) -> Result<(), SchemaError> {
    let mut chain = Vec::new();
    let mut here = start;
    while values[here].is_none() {
        let Binding::Alias { of, sign } = signals[here].binding else {
            break;
        };
        let name = || signals[here].name.clone();
        if of.index() >= signals.len() {
            return Err(SchemaError::UnknownTarget(name()));
        }
        if chain.len() > signals.len() {
            return Err(SchemaError::AliasLoop(signals[start].name.clone()));
        }
        chain.push((here, sign));
        here = of.index();
    }
    for &(index, outer) in chain.iter().rev() {
        let Binding::Alias { of, .. } = signals[index].binding else {
            continue;
        };
        values[index] = match values[of.index()] {
            Some(Value::Constant(value)) => Some(Value::Constant(outer.apply(value))),
            Some(Value::Column { column, sign }) => {
                let mixed = || SchemaError::MixedSigns(signals[index].name.clone());
                let sign = outer.compose(sign).ok_or_else(mixed)?;
                Some(Value::Column { column, sign })
            }
            None => return Err(SchemaError::AliasLoop(signals[index].name.clone())),
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alias_chains_compose_their_signs() {
        let schema = Schema::new(vec![
            Signal::alias("c", SignalId(1), AliasSign::Negated),
            Signal::alias("b", SignalId(2), AliasSign::Negated),
            Signal::new("a"),
            Signal::constant("p", 3.0),
            Signal::alias("q", SignalId(3), AliasSign::Negated),
        ])
        .unwrap();
        assert_eq!(schema.columns(), [SignalId(2)]);
        assert_eq!(schema.value_in(SignalId(0), &[5.0]), 5.0);
        assert_eq!(schema.value_in(SignalId(1), &[5.0]), -5.0);
        assert_eq!(schema.value_in(SignalId(4), &[5.0]), -3.0);
    }

    #[test]
    fn nonsense_is_refused() {
        let alias = |name: &str, of, sign| Signal::alias(name, SignalId(of), sign);
        let error = |signals| Schema::new(signals).unwrap_err();
        assert_eq!(
            error(vec![alias("a", 1, AliasSign::Same), alias("b", 0, AliasSign::Same)]),
            SchemaError::AliasLoop("a".into())
        );
        assert_eq!(
            error(vec![alias("a", 7, AliasSign::Same)]),
            SchemaError::UnknownTarget("a".into())
        );
        assert_eq!(
            error(vec![Signal::new("x"), Signal::new("x")]),
            SchemaError::DuplicateName("x".into())
        );
        assert_eq!(
            error(vec![Signal::new("time")]),
            SchemaError::ReservedName("time".into())
        );
        assert_eq!(
            error(vec![
                Signal::new("x"),
                alias("b", 0, AliasSign::Not),
                alias("c", 1, AliasSign::Negated)
            ]),
            SchemaError::MixedSigns("c".into())
        );
    }
}
