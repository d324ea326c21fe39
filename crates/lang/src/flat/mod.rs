//! The flat model: what is left of a hierarchical model once classes, modifications, arrays and
//! connections are resolved. Everything is scalar; names are as users know them (`a.b[1].c[2,3]`).
//!
//! A flat model is plain data. [`FlatModel::validate`] states its invariants.

mod builtin;
mod equation;
mod expr;
mod function;
mod index;
mod json;
mod local;
mod print;
mod validate;

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_source::Span;

pub use builtin::Builtin;
pub use equation::{
    AssertLevel, Counts, EquationBranch, EquationKind, FlatAlgorithm, FlatEquation, FlatStatement, StatementBranch,
    StatementKind, WhenBranch, clocked_body, collect_assigned, count_equations,
};
pub use expr::{BinaryOp, FlatExpr, FunctionCall, ScalarType, UnaryOp};
pub use function::{
    DerivativeInput, Extrapolation, FlatDerivative, FlatFunction, FlatInverse, FlatTable, ForeignCall,
    ForeignOperation, ForeignUnit, FunctionBody, FunctionStatement, Local, Place, Smoothness,
};
pub use index::{EnumerationId, FunctionId, LocalId, ProvenanceId, VariableId};
pub(crate) use local::LocalUnknowns;
pub use saltus_index::{Idx, IndexVec};

/// A flat model.
#[derive(Clone, Debug, Default)]
pub struct FlatModel {
    /// The qualified name of the class that was flattened.
    pub name: Arc<str>,
    /// Description string of that class.
    pub description: Arc<str>,
    /// All variables, constants and parameters included.
    pub variables: IndexVec<VariableId, FlatVariable>,
    /// Equations; bindings of variables that are neither constants nor parameters are among them.
    pub equations: Vec<FlatEquation>,
    /// Initial equations.
    pub initial_equations: Vec<FlatEquation>,
    /// Algorithm sections.
    pub algorithms: Vec<FlatAlgorithm>,
    /// Initial algorithm sections.
    pub initial_algorithms: Vec<FlatAlgorithm>,
    /// Functions that are called, each specialised to the sizes of its arguments.
    pub functions: IndexVec<FunctionId, FlatFunction>,
    /// Enumeration types in use.
    pub enumerations: IndexVec<EnumerationId, Enumeration>,
    /// Where things come from.
    pub provenances: IndexVec<ProvenanceId, Provenance>,
    /// `annotation(experiment(…))`.
    pub experiment: Experiment,
    /// The components of the model itself by name, with the places of their declarations.
    pub parts: BTreeMap<Arc<str>, Span>,
    /// `annotation(Documentation(figures = …))` of the model.
    pub figures: Vec<PictureRecord>,
    /// `annotation(__Saltus(drawing = …))` of all components: the component, and one of its shapes.
    pub shapes: Vec<(Arc<str>, PictureRecord)>,
    /// Inputs of blocks that are subtracted from each other: a set point, and what is to follow it.
    pub set_points: Vec<(Arc<str>, Arc<str>)>,
    /// The public connectors of the model itself.
    pub connectors: Vec<FlatConnector>,
}

/// A connector of the model itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlatConnector {
    /// Its name; `a[2]` for an element of an array.
    pub name: Arc<str>,
    /// What is inside.
    pub members: Vec<ConnectorMember>,
}

/// A variable of a connector.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorMember {
    /// Its name inside the connector.
    pub name: Arc<str>,
    /// The variable by its full name.
    pub variable: Arc<str>,
    /// What it is when connected.
    pub role: ConnectorRole,
}

/// What a variable of a connector is when connected.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ConnectorRole {
    /// Equal to the others.
    Potential,
    /// Their sum is zero; positive into the component.
    Flow,
    /// What a flow out of the component carries.
    Stream,
}

/// A record of an annotation about pictures: `Line(x1 = a.x, y1 = 2)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PictureRecord {
    /// What it is.
    pub name: Arc<str>,
    /// What is said of it.
    pub fields: Vec<(Arc<str>, PictureField)>,
}

/// A value in such a record.
#[derive(Clone, Debug, PartialEq)]
pub enum PictureField {
    /// A number.
    Number(f64),
    /// A text.
    Text(Arc<str>),
    /// `true` or `false`.
    Truth(bool),
    /// A variable by its full name.
    Variable(Arc<str>),
    /// A list.
    List(Vec<PictureField>),
    /// A record inside.
    Record(PictureRecord),
}

impl PictureRecord {
    /// What is said under a name.
    pub fn field(&self, name: &str) -> Option<&PictureField> {
        let mut fields = self.fields.iter();
        fields.find(|(known, _)| **known == *name).map(|(_, field)| field)
    }
}

/// `annotation(experiment(…))`; `None` where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Experiment {
    /// StartTime
    pub start_time: Option<f64>,
    /// StopTime
    pub stop_time: Option<f64>,
    /// Tolerance
    pub tolerance: Option<f64>,
    /// Interval
    pub interval: Option<f64>,
}

/// An enumeration type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// Its qualified name.
    pub name: Arc<str>,
    /// Its literals; the first has the ordinal 1.
    pub literals: Vec<Arc<str>>,
}

/// How a variable may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variability {
    /// Never.
    Constant,
    /// Set before the simulation.
    Parameter,
    /// At events only: declared `discrete`, of a type other than Real, or assigned in a `when`
    /// as the specification makes of it is left to later passes.
    Discrete,
    /// At any time.
    Continuous,
}

/// Direction of the variables at the outside of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Causality {
    /// An ordinary variable, or an input or output of a component inside.
    Internal,
    /// An input of the model: no equation here determines it.
    Input,
    /// An output of the model.
    Output,
}

/// `stateSelect`, from never to always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateSelect {
    /// `StateSelect.never`
    Never,
    /// `StateSelect.avoid`
    Avoid,
    /// `StateSelect.default`
    #[default]
    Default,
    /// `StateSelect.prefer`
    Prefer,
    /// `StateSelect.always`
    Always,
}

/// A scalar variable, parameter or constant.
#[derive(Clone, Debug)]
pub struct FlatVariable {
    /// `a.b[1].c[2,3]`
    pub name: Arc<str>,
    /// Its type.
    pub ty: ScalarType,
    /// How it may change.
    pub variability: Variability,
    /// Direction at the outside of the model.
    pub causality: Causality,
    /// The value of a constant or parameter; `None` for variables, whose bindings are equations, and
    /// for parameters without a value: these have their start value, or must be given one.
    pub binding: Option<FlatExpr>,
    /// `start`
    pub start: Option<FlatExpr>,
    /// `fixed`; `None` if not given (then true for parameters, false for variables).
    pub fixed: Option<bool>,
    /// What is the same for many variables of one declaration.
    pub attributes: Arc<Attributes>,
    /// Whether it is protected, or inside something protected.
    pub protected: bool,
    /// Whether it is declared `final`, or given a value that is: nobody may change it.
    pub is_final: bool,
    /// Whether its value was used to decide the structure of the model (array sizes, conditions):
    /// it cannot be changed without flattening again.
    pub structural: bool,
    /// The declaration.
    pub provenance: ProvenanceId,
}

/// Attributes of a variable that rarely differ between the elements of an array.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    /// `nominal`
    pub nominal: Option<FlatExpr>,
    /// `min`
    pub min: Option<FlatExpr>,
    /// `max`
    pub max: Option<FlatExpr>,
    /// `unit`
    pub unit: Option<Arc<str>>,
    /// `displayUnit`
    pub display_unit: Option<Arc<str>>,
    /// `quantity`
    pub quantity: Option<Arc<str>>,
    /// `stateSelect`
    pub state_select: StateSelect,
    /// Description string of the declaration.
    pub description: Option<Arc<str>>,
    /// `annotation(HideResult = true)`
    pub hide_result: bool,
    /// Where a `start` is written that need not hold, because nothing is said of `fixed`.
    pub guess: Option<Guess>,
}

/// A start value as it is written, in the declaration or in a modification of the component around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The value.
    pub span: Span,
    /// Whether it has an element for each of an array.
    pub is_array: bool,
}

/// Where a variable or an equation comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The text.
    pub span: Span,
    /// The instance it belongs to: `a.b[1]`, empty for the model itself.
    pub path: Arc<str>,
    /// What it is there.
    pub kind: ProvenanceKind,
}

/// What a variable or an equation was in the user's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProvenanceKind {
    /// A component declaration.
    Declaration,
    /// An equation.
    Equation,
    /// The binding `= e` of a declaration or modification.
    Binding,
    /// A connection set; the span is that of its first connection.
    Connection,
    /// A flow variable of a connector that is not connected.
    UnconnectedFlow,
    /// A statement.
    Statement,
    /// A function.
    Function,
}

impl FlatModel {
    /// The provenance with this index.
    pub fn provenance(&self, id: ProvenanceId) -> &Provenance {
        &self.provenances[id]
    }

    /// The line of the model itself behind a variable: the declaration of the component it is in.
    pub fn part_of(&self, variable: &str) -> Option<Span> {
        let first = variable.split(['.', '[']).next()?;
        self.parts.get(first).copied()
    }

    /// The number of unknowns and of equations.
    pub fn counts(&self) -> Counts {
        equation::count(self)
    }

    /// The unknowns: variables that are neither constants, parameters nor inputs of the model.
    pub fn unknowns(&self) -> impl Iterator<Item = VariableId> {
        self.variables
            .iter_enumerated()
            .filter(|(_, variable)| variable.is_unknown())
            .map(|(id, _)| id)
    }
}

impl FlatVariable {
    /// Whether equations must determine it.
    pub fn is_unknown(&self) -> bool {
        self.variability >= Variability::Discrete && self.causality != Causality::Input && self.ty != ScalarType::Clock
    }
}
