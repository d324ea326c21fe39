//! What a unit says of itself: `modelDescription.xml` of FMI 2 and 3.

use std::sync::Arc;

use roxmltree::{Document, Node};
use saltus_fmi::Version;

/// The type of a variable, as FMI 3 names them; those of FMI 2 are among them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Float32,
    Float64,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Boolean,
    Enumeration,
    String,
    Binary,
    Clock,
}

impl Kind {
    fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "Float32" => Kind::Float32,
            "Float64" | "Real" => Kind::Float64,
            "Int8" => Kind::Int8,
            "UInt8" => Kind::UInt8,
            "Int16" => Kind::Int16,
            "UInt16" => Kind::UInt16,
            "Int32" | "Integer" => Kind::Int32,
            "UInt32" => Kind::UInt32,
            "Int64" => Kind::Int64,
            "UInt64" => Kind::UInt64,
            "Boolean" => Kind::Boolean,
            "Enumeration" => Kind::Enumeration,
            "String" => Kind::String,
            "Binary" => Kind::Binary,
            "Clock" => Kind::Clock,
            _ => return None,
        })
    }

    /// Whether its values are real numbers.
    pub fn is_real(self) -> bool {
        matches!(self, Kind::Float32 | Kind::Float64)
    }

    /// Whether its values are numbers, truth values included.
    pub fn is_number(self) -> bool {
        !matches!(self, Kind::String | Kind::Binary | Kind::Clock)
    }
}

/// What a variable is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Causality {
    StructuralParameter,
    Parameter,
    CalculatedParameter,
    Input,
    Output,
    Local,
    Independent,
}

/// A variable; arrays are one.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// By what it is referred to in calls.
    pub reference: u32,
    /// Its type.
    pub kind: Kind,
    /// What it is for.
    pub causality: Causality,
    /// Whether it changes between events.
    pub is_continuous: bool,
    /// Whether its value at the start is given (`initial="exact"`), or may be.
    pub has_exact_start: bool,
    /// Start values, one for each element, or none.
    pub start: Vec<f64>,
    /// Unit.
    pub unit: String,
    /// The unit to show it in, if it says one.
    pub display_unit: String,
    /// Bounds, as they are written.
    pub bounds: [Option<f64>; 2],
    /// Description.
    pub description: String,
    /// Sizes; none for a scalar. Those that structural parameters give are at their start values.
    pub dims: Vec<usize>,
    /// The position of the variable whose derivative it is.
    pub derivative_of: Option<usize>,
    /// Whether clocks say when it has a value.
    pub is_clocked: bool,
}

impl Variable {
    /// The number of elements.
    pub fn size(&self) -> usize {
        self.dims.iter().fold(1, |size: usize, dim| size.saturating_mul(*dim))
    }

    /// The names of its elements, row by row: `a[1,2]`.
    pub fn element_names(&self) -> Vec<String> {
        self.subscripts()
            .map(|subscript| format!("{}{subscript}", self.name))
            .collect()
    }

    /// What stands behind the name of each element.
    pub fn subscripts(&self) -> impl Iterator<Item = String> {
        (0..self.size()).map(|element| {
            let mut rest = element;
            let mut indices: Vec<String> = Vec::new();
            for &dim in self.dims.iter().rev() {
                indices.push((rest % dim + 1).to_string());
                rest /= dim;
            }
            indices.reverse();
            if indices.is_empty() {
                String::new()
            } else {
                format!("[{}]", indices.join(","))
            }
        })
    }
}

/// What is computed, and from what.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// The position of the variable.
    pub variable: usize,
    /// Positions of the variables that it depends on, if that is reported.
    pub dependencies: Option<Vec<usize>>,
}

/// What an interface offers.
#[derive(Clone, Debug)]
pub struct Offered {
    /// The name of the shared library.
    pub identifier: String,
    /// Whether states can be saved and restored.
    pub saves_states: bool,
    /// Whether derivatives along directions are given.
    pub directional: bool,
    /// Whether there may be one instance in a process only.
    pub only_once: bool,
    /// Co-Simulation: whether a step may end at an event, and events are processed by the importer.
    pub has_events: bool,
}

/// The run that a unit suggests.
#[derive(Copy, Clone, Debug, Default)]
pub struct Experiment {
    /// When it begins.
    pub start: Option<f64>,
    /// When it ends.
    pub stop: Option<f64>,
    /// The size of steps.
    pub step: Option<f64>,
}

/// What a unit says of itself.
#[derive(Clone, Debug)]
pub struct Description {
    /// The version of the standard.
    pub version: Version,
    /// The name of the model.
    pub name: String,
    /// Its description.
    pub description: String,
    /// What the shared library must be told.
    pub token: String,
    /// Model Exchange.
    pub exchange: Option<Offered>,
    /// Co-Simulation.
    pub simulation: Option<Offered>,
    /// All variables.
    pub variables: Vec<Variable>,
    /// Outputs.
    pub outputs: Vec<Unknown>,
    /// Derivatives of continuous states.
    pub derivatives: Vec<Unknown>,
    /// What is computed at the start.
    pub initial: Vec<Unknown>,
    /// Event indicators as variables; FMI 2 has no variables for them.
    pub indicators: Vec<Unknown>,
    /// The number of event indicators.
    pub indicator_count: usize,
    /// The run that it suggests.
    pub experiment: Experiment,
}

/// Elements that all variables may have together.
const MOST_ELEMENTS: usize = 1 << 22;

impl Description {
    /// The description of a unit.
    pub fn of_file(path: &std::path::Path) -> Result<Description, String> {
        crate::unpacked::read(path).map(|(description, _)| description)
    }

    /// Reads a description.
    pub fn read(text: &str) -> Result<Description, String> {
        let document = Document::parse(text).map_err(|error| format!("`modelDescription.xml` is no XML: {error}"))?;
        let root = document.root_element();
        let version = match root.attribute("fmiVersion") {
            Some("2.0") => Version::Two,
            Some(version) if version.starts_with("3.") => Version::Three,
            version => {
                return Err(format!(
                    "FMI {} is not known; 2.0 and 3.0 are",
                    version.unwrap_or("1.0")
                ));
            }
        };
        let offered = |name: &str| child(root, name).map(|node| interface(node, version));
        let token = match version {
            Version::Two => "guid",
            Version::Three => "instantiationToken",
        };
        let mut description = Description {
            version,
            name: text_of(root, "modelName"),
            description: text_of(root, "description"),
            token: text_of(root, token),
            exchange: offered("ModelExchange"),
            simulation: offered("CoSimulation"),
            variables: Vec::new(),
            outputs: Vec::new(),
            derivatives: Vec::new(),
            initial: Vec::new(),
            indicators: Vec::new(),
            indicator_count: 0,
            experiment: experiment(root),
        };
        description.read_variables(root)?;
        description.read_structure(root)?;
        Ok(description)
    }

    fn read_variables(&mut self, root: Node<'_, '_>) -> Result<(), String> {
        let Some(list) = child(root, "ModelVariables") else {
            return Err("`modelDescription.xml` lists no variables".to_owned());
        };
        let types = TypeUnits::new(root);
        let elements: Vec<Node<'_, '_>> = list.children().filter(Node::is_element).collect();
        // The sizes of arrays are the start values of other variables.
        let sizes: Vec<(u32, f64)> = { elements.iter() }
            .filter_map(|node| Some((reference_of(*node)?, number(*node, "start")?)))
            .collect();
        for &node in &elements {
            let variable = self.variable(node, &types, &sizes)?;
            self.variables.extend(variable);
        }
        let total = self
            .variables
            .iter()
            .try_fold(0_usize, |sum, variable| sum.checked_add(variable.size()));
        if total.is_none_or(|total| total > MOST_ELEMENTS) {
            return Err("its arrays are too large".to_owned());
        }
        // FMI 2 counts positions from 1, FMI 3 gives references.
        let derivatives: Vec<Option<usize>> = elements.iter().map(|node| self.derivative_of(*node)).collect();
        for (variable, of) in self.variables.iter_mut().zip(derivatives) {
            variable.derivative_of = of;
        }
        Ok(())
    }

    fn variable(
        &self,
        node: Node<'_, '_>,
        types: &TypeUnits<'_>,
        sizes: &[(u32, f64)],
    ) -> Result<Option<Variable>, String> {
        let name = text_of(node, "name");
        let typed = match self.version {
            Version::Two => node
                .children()
                .find(|inner| Kind::named(inner.tag_name().name()).is_some()),
            Version::Three => Some(node),
        };
        let typed = typed.ok_or_else(|| format!("variable `{name}` has no type"))?;
        let Some(kind) = Kind::named(typed.tag_name().name()) else {
            return Err(format!("variable `{name}` has a type that is not known"));
        };
        let reference = reference_of(node).ok_or_else(|| format!("variable `{name}` has no reference"))?;
        let causality = match node.attribute("causality") {
            Some("structuralParameter") => Causality::StructuralParameter,
            Some("parameter") => Causality::Parameter,
            Some("calculatedParameter") => Causality::CalculatedParameter,
            Some("input") => Causality::Input,
            Some("output") => Causality::Output,
            Some("independent") => Causality::Independent,
            _ => Causality::Local,
        };
        let dims = dimensions(node, sizes).ok_or_else(|| format!("the size of `{name}` is not known"))?;
        let start = match kind {
            Kind::String | Kind::Binary | Kind::Clock => Vec::new(),
            _ => numbers(typed.attribute("start").unwrap_or_default()),
        };
        let variability = node.attribute("variability");
        let is_constant = matches!(variability, Some("constant" | "fixed" | "tunable" | "discrete"));
        let has_exact_start = match node.attribute("initial") {
            Some(initial) => initial == "exact",
            None => !start.is_empty(),
        };
        let declared = typed.attribute("declaredType");
        let units = declared.and_then(|declared| types.units(declared));
        let unit = typed.attribute("unit").or(units.map(|(unit, _)| unit));
        let display_unit = typed.attribute("displayUnit").or(units.and_then(|(_, shown)| shown));
        Ok(Some(Variable {
            name: name.into(),
            reference,
            kind,
            causality,
            is_continuous: kind.is_real() && !is_constant,
            has_exact_start,
            start,
            unit: unit.unwrap_or_default().to_owned(),
            display_unit: display_unit.unwrap_or_default().to_owned(),
            bounds: ["min", "max"].map(|bound| number(typed, bound)),
            description: text_of(node, "description"),
            dims,
            derivative_of: None,
            is_clocked: node.attribute("clocks").is_some(),
        }))
    }

    fn derivative_of(&self, node: Node<'_, '_>) -> Option<usize> {
        let inner = node.children().find(|inner| inner.attribute("derivative").is_some());
        let text = node
            .attribute("derivative")
            .or_else(|| inner?.attribute("derivative"))?;
        self.position(text)
    }

    /// The position that a reference of the structure means.
    fn position(&self, text: &str) -> Option<usize> {
        let number: u32 = text.trim().parse().ok()?;
        match self.version {
            Version::Two => (number as usize).checked_sub(1).filter(|&at| at < self.variables.len()),
            Version::Three => self.variables.iter().position(|variable| variable.reference == number),
        }
    }

    fn read_structure(&mut self, root: Node<'_, '_>) -> Result<(), String> {
        let count = root
            .attribute("numberOfEventIndicators")
            .and_then(|count| count.parse().ok());
        let Some(structure) = child(root, "ModelStructure") else {
            self.indicator_count = count.unwrap_or(0);
            return Ok(());
        };
        let listed = |group: &str, single: &str| -> Result<Vec<Unknown>, String> {
            match self.version {
                Version::Two => match child(structure, group) {
                    Some(group) => group
                        .children()
                        .filter(Node::is_element)
                        .map(|node| self.unknown(node))
                        .collect(),
                    None => Ok(Vec::new()),
                },
                Version::Three => structure
                    .children()
                    .filter(|node| node.has_tag_name(single))
                    .map(|node| self.unknown(node))
                    .collect(),
            }
        };
        let outputs = listed("Outputs", "Output")?;
        let derivatives = listed("Derivatives", "ContinuousStateDerivative")?;
        let initial = listed("InitialUnknowns", "InitialUnknown")?;
        let indicators = match self.version {
            Version::Two => Vec::new(),
            Version::Three => listed("", "EventIndicator")?,
        };
        let size = |unknown: &Unknown| self.variables[unknown.variable].size();
        self.indicator_count = count.unwrap_or_else(|| indicators.iter().map(size).sum());
        (self.outputs, self.derivatives) = (outputs, derivatives);
        (self.initial, self.indicators) = (initial, indicators);
        Ok(())
    }

    fn unknown(&self, node: Node<'_, '_>) -> Result<Unknown, String> {
        let reference = node.attribute("valueReference").or_else(|| node.attribute("index"));
        let variable = reference.and_then(|reference| self.position(reference));
        let dependencies = node.attribute("dependencies");
        Ok(Unknown {
            variable: variable.ok_or("the structure names a variable that is not there")?,
            dependencies: dependencies.map(|list| {
                list.split_whitespace()
                    .filter_map(|reference| self.position(reference))
                    .collect()
            }),
        })
    }

    /// Positions of the continuous states, in the order of the unit.
    pub fn states(&self) -> Result<Vec<usize>, String> {
        let of = |unknown: &Unknown| {
            let variable = &self.variables[unknown.variable];
            let missing = || format!("`{}` is the derivative of a state that is not named", variable.name);
            variable.derivative_of.ok_or_else(missing)
        };
        self.derivatives.iter().map(of).collect()
    }
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|inner| inner.has_tag_name(name))
}

fn text_of(node: Node<'_, '_>, attribute: &str) -> String {
    node.attribute(attribute).unwrap_or_default().to_owned()
}

fn number(node: Node<'_, '_>, attribute: &str) -> Option<f64> {
    numbers(node.attribute(attribute)?).first().copied()
}

fn numbers(text: &str) -> Vec<f64> {
    let number = |word: &str| match word {
        "true" => Some(1.0),
        "false" => Some(0.0),
        word => word.parse().ok(),
    };
    text.split_whitespace().map_while(number).collect()
}

fn reference_of(node: Node<'_, '_>) -> Option<u32> {
    node.attribute("valueReference")?.parse().ok()
}

fn dimensions(node: Node<'_, '_>, sizes: &[(u32, f64)]) -> Option<Vec<usize>> {
    let dimensions = node.children().filter(|inner| inner.has_tag_name("Dimension"));
    let size = |dimension: Node<'_, '_>| -> Option<usize> {
        let size = match reference_of(dimension) {
            Some(reference) => sizes.iter().find(|(of, _)| *of == reference)?.1,
            None => number(dimension, "start")?,
        };
        (size >= 0.0 && size <= MOST_ELEMENTS as f64).then_some(size as usize)
    };
    dimensions.map(size).collect()
}

fn interface(node: Node<'_, '_>, version: Version) -> Offered {
    let yes = |attribute: &str| node.attribute(attribute) == Some("true");
    Offered {
        identifier: text_of(node, "modelIdentifier"),
        saves_states: yes("canGetAndSetFMUState") || yes("canGetAndSetFMUstate"),
        directional: yes("providesDirectionalDerivatives") || yes("providesDirectionalDerivative"),
        only_once: yes("canBeInstantiatedOnlyOncePerProcess"),
        has_events: version == Version::Three && yes("hasEventMode"),
    }
}

fn experiment(root: Node<'_, '_>) -> Experiment {
    let node = child(root, "DefaultExperiment");
    let get = |attribute: &str| number(node?, attribute).filter(|value| value.is_finite());
    Experiment {
        start: get("startTime"),
        stop: get("stopTime"),
        step: get("stepSize").filter(|step| *step > 0.0),
    }
}

/// A unit, and that to show values in.
type Units<'a> = (&'a str, Option<&'a str>);

/// Units of declared types.
struct TypeUnits<'a>(Vec<(&'a str, Units<'a>)>);

impl<'a> TypeUnits<'a> {
    fn new(root: Node<'a, '_>) -> Self {
        let types = child(root, "TypeDefinitions");
        let units = |node: Node<'a, '_>| -> Option<(&'a str, Units<'a>)> {
            let inner = node.children().find(|inner| inner.has_tag_name("Real"));
            let attribute = |name: &str| node.attribute(name).or_else(|| inner?.attribute(name));
            Some((node.attribute("name")?, (attribute("unit")?, attribute("displayUnit"))))
        };
        TypeUnits(
            types
                .into_iter()
                .flat_map(|types| types.children().filter_map(units))
                .collect(),
        )
    }

    fn units(&self, of: &str) -> Option<Units<'a>> {
        self.0.iter().find(|(name, _)| *name == of).map(|(_, units)| *units)
    }
}
