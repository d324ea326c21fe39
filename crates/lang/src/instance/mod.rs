//! Instances and their components, made on first use.

mod attributes;
mod binding;
mod check;
mod create;
mod elements;
mod outer;
mod sizes;
mod value;

pub(crate) use create::join_path;
use create::root_inheritance;
pub(crate) use elements::{element_path, indices};

use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::{Causality, ConnectorPrefix, Name};

use crate::class::ClassTable;
use crate::flat::{ScalarType, Variability, VariableId};
use crate::ids::{ClassId, ComponentId, InstanceId};
use crate::modification::Mod;
use crate::tensor::{Dims, Tensor, Ty};

/// The state of a component of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Unvisited,
    Building,
    /// Conditional, and the condition is false.
    Absent,
    Failed,
    Ready(ComponentId),
}

impl Slot {
    /// One for each entry of a class, before anything is made.
    fn of(table: &ClassTable) -> Vec<Slot> {
        vec![Slot::Unvisited; table.entries.len()]
    }
}

/// What components hand down to what is inside them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inherited {
    pub variability: Variability,
    pub causality: Option<Causality>,
    pub flow: Option<ConnectorPrefix>,
    pub protected: bool,
    pub hide_result: bool,
    /// Inside a connector.
    pub connector: bool,
    /// Whether directly in the model, or in its connectors: where inputs are inputs of the model.
    pub outside: bool,
}

/// An element of a component that has components of its own; also the model itself, and packages
/// for the sake of their constants.
#[derive(Debug)]
pub(crate) struct Instance {
    pub class: ClassId,
    pub table: Rc<ClassTable>,
    pub parent: Option<InstanceId>,
    /// `a.b[1]`, empty for the model itself.
    pub path: Arc<str>,
    pub mods: Rc<Mod>,
    pub slots: Vec<Slot>,
    /// Of a package: there are values only, no variables.
    pub is_static: bool,
    pub inherited: Inherited,
}

impl Instance {
    /// The model itself, or a package.
    pub(crate) fn root(class: ClassId, table: Rc<ClassTable>, path: Arc<str>, is_static: bool) -> Self {
        Instance {
            class,
            slots: Slot::of(&table),
            table,
            parent: None,
            path,
            mods: Rc::default(),
            is_static,
            inherited: root_inheritance(),
        }
    }
}

/// What a component is.
#[derive(Debug)]
pub(crate) enum ComponentKind {
    /// Of a simple type; the variables of its elements are consecutive.
    Primitive {
        ty: ScalarType,
        first: Option<VariableId>,
    },
    Complex {
        elements: Vec<InstanceId>,
    },
    External,
}

/// The value of a constant or parameter.
#[derive(Clone, Debug)]
pub(crate) enum ValueState {
    Unknown,
    Evaluating,
    Known(Rc<Tensor>),
}

/// A component of an instance, with all its elements.
#[derive(Debug)]
pub(crate) struct Component {
    pub parent: InstanceId,
    pub entry: u32,
    pub name: Name,
    /// `a.b[1].c`
    pub path: Arc<str>,
    pub class: ClassId,
    pub dims: Dims,
    /// What the dimensions are indexed by, if not all by Integers.
    pub index_types: Option<Rc<Vec<Ty>>>,
    pub kind: ComponentKind,
    pub variability: Variability,
    pub causality: Option<Causality>,
    pub flow: Option<ConnectorPrefix>,
    pub mods: Rc<Mod>,
    pub value: ValueState,
    pub span: Span,
    pub inherited: Inherited,
}
