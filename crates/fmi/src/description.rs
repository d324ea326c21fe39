//! `modelDescription.xml`.

use std::collections::{BTreeMap, BTreeSet};

use saltus::Model;

use crate::state::{Interface, Version};
use crate::variables::{Causality, Kind, Shown, Source, Variability, Variables};
use crate::xml::{Attributes, Writer};

/// What a description is about.
pub(crate) struct Subject<'a> {
    pub model: &'a Model,
    pub variables: &'a Variables,
    pub identifier: &'a str,
    pub token: &'a str,
    pub interfaces: &'a [Interface],
    pub version: Version,
}

impl Subject<'_> {
    fn has(&self, interface: Interface) -> bool {
        self.interfaces.contains(&interface)
    }

    /// The variables that are listed: functions of conditions belong to the other interface, clocks to the other version.
    /// Both come last, so that positions of the others are their numbers.
    fn listed(&self) -> impl Iterator<Item = (u32, &Shown)> {
        let exchange = self.has(Interface::ModelExchange);
        let all = self.variables.list.iter().enumerate();
        let listed = all.filter(move |(_, shown)| match shown.source {
            Source::Indicator(_) => exchange,
            Source::ModeChange => self.version == Version::Three,
            _ => true,
        });
        listed.map(|(at, shown)| (at as u32, shown))
    }

    fn units(&self) -> BTreeSet<&str> {
        let units = self.listed().filter(|(_, shown)| shown.kind == Kind::Float);
        units
            .map(|(_, shown)| &*shown.unit)
            .filter(|unit| !unit.is_empty())
            .collect()
    }
}

pub(crate) fn describe(subject: &Subject<'_>) -> String {
    let version = subject.version;
    let mut xml = Writer::new();
    let text = |text: &str| text.to_owned();
    let mut root: Attributes<'_> = vec![
        ("fmiVersion", text(if version == Version::Two { "2.0" } else { "3.0" })),
        ("modelName", text(subject.model.name())),
        ("generationTool", format!("Saltus {}", env!("CARGO_PKG_VERSION"))),
        ("variableNamingConvention", text("structured")),
    ];
    match version {
        Version::Two => {
            root.push(("guid", text(subject.token)));
            if subject.has(Interface::ModelExchange) {
                root.push(("numberOfEventIndicators", subject.variables.indicators.to_string()));
            }
        }
        Version::Three => root.push(("instantiationToken", text(subject.token))),
    }
    xml.around("fmiModelDescription", &root, |xml| {
        interfaces(xml, subject, version);
        units(xml, subject);
        types(xml, subject, version);
        xml.around("LogCategories", &[], |xml| {
            for (name, what) in LOG_CATEGORIES {
                xml.leaf("Category", &[("name", text(name)), ("description", text(what))]);
            }
        });
        experiment(xml, subject);
        xml.around("ModelVariables", &[], |xml| {
            let placed = Placed::new(subject.variables);
            for (reference, shown) in subject.listed() {
                match version {
                    Version::Three if placed.is_inner(reference) => {}
                    Version::Two => variable_of_two(xml, subject, reference, shown),
                    Version::Three => variable_of_three(xml, subject, &placed, reference, shown),
                }
            }
        });
        structure(xml, subject, version);
    });
    xml.finish()
}

/// Categories of log messages.
pub(crate) const LOG_CATEGORIES: [(&str, &str); 3] = [
    ("logStatusError", "What went wrong"),
    ("logStatusWarning", "What is worth knowing"),
    ("logEvents", "Events with mode changes and impulses"),
];

fn interfaces(xml: &mut Writer, subject: &Subject<'_>, version: Version) {
    let yes = |name| (name, "true".to_owned());
    let identifier = ("modelIdentifier", subject.identifier.to_owned());
    let (state, serialize) = match version {
        Version::Two => ("canGetAndSetFMUstate", "canSerializeFMUstate"),
        Version::Three => ("canGetAndSetFMUState", "canSerializeFMUState"),
    };
    let common = [identifier, yes(state), yes(serialize)];
    let derivatives = match version {
        Version::Two => yes("providesDirectionalDerivative"),
        Version::Three => yes("providesDirectionalDerivatives"),
    };
    if subject.has(Interface::ModelExchange) {
        let mut attributes = common.to_vec();
        match version {
            Version::Two => attributes.push(yes("canNotUseMemoryManagementFunctions")),
            Version::Three => {
                attributes.extend([yes("needsCompletedIntegratorStep"), yes("providesAdjointDerivatives")]);
            }
        }
        attributes.push(derivatives);
        xml.leaf("ModelExchange", &attributes);
    }
    if subject.has(Interface::CoSimulation) {
        let mut attributes = common.to_vec();
        attributes.push(yes("canHandleVariableCommunicationStepSize"));
        attributes.push(("maxOutputDerivativeOrder", "1".to_owned()));
        match version {
            Version::Two => attributes.extend([yes("canInterpolateInputs"), yes("canNotUseMemoryManagementFunctions")]),
            Version::Three => attributes.extend([
                yes("hasEventMode"),
                yes("mightReturnEarlyFromDoStep"),
                yes("providesIntermediateUpdate"),
                yes("canReturnEarlyAfterIntermediateUpdate"),
            ]),
        }
        xml.leaf("CoSimulation", &attributes);
    }
}

fn units(xml: &mut Writer, subject: &Subject<'_>) {
    xml.around("UnitDefinitions", &[], |xml| {
        for unit in subject.units() {
            xml.leaf("Unit", &[("name", unit.to_owned())]);
        }
    });
}

fn type_name(at: usize) -> String {
    format!("saltus.Enumeration{}", at + 1)
}

fn types(xml: &mut Writer, subject: &Subject<'_>, version: Version) {
    xml.around("TypeDefinitions", &[], |xml| {
        for (at, literals) in subject.variables.enumerations.iter().enumerate() {
            let items = |xml: &mut Writer| {
                for (at, literal) in literals.iter().enumerate() {
                    xml.leaf(
                        "Item",
                        &[("name", literal.to_string()), ("value", (at + 1).to_string())],
                    );
                }
            };
            let name = ("name", type_name(at));
            match version {
                Version::Two => xml.around("SimpleType", &[name], |xml| xml.around("Enumeration", &[], items)),
                Version::Three => xml.around("EnumerationType", &[name], items),
            }
        }
    });
}

fn experiment(xml: &mut Writer, subject: &Subject<'_>) {
    let run = subject.model.run();
    let (start, stop) = run.span();
    let experiment = subject.model.experiment();
    let mut attributes: Attributes<'_> = vec![("startTime", number(start)), ("stopTime", number(stop))];
    if let Some(tolerance) = experiment.tolerance.filter(|tolerance| *tolerance > 0.0) {
        attributes.push(("tolerance", number(tolerance)));
    }
    if let Some(interval) = experiment.interval.filter(|interval| *interval > 0.0) {
        attributes.push(("stepSize", number(interval)));
    }
    xml.leaf("DefaultExperiment", &attributes);
}

fn causality(shown: &Shown) -> &'static str {
    match shown.causality {
        Causality::Independent => "independent",
        Causality::Parameter => "parameter",
        Causality::Input => "input",
        Causality::Output => "output",
        Causality::Local => "local",
    }
}

fn variability(shown: &Shown) -> &'static str {
    match shown.variability {
        Variability::Constant => "constant",
        Variability::Fixed => "fixed",
        Variability::Discrete => "discrete",
        Variability::Continuous => "continuous",
    }
}

/// How the value at the start comes about, where that has to be said.
fn initial(shown: &Shown) -> Option<&'static str> {
    match (shown.causality, shown.start) {
        (Causality::Independent | Causality::Input, _) => None,
        _ if shown.kind == Kind::Clock => None,
        (_, Some(_)) => Some("exact"),
        (_, None) => Some("calculated"),
    }
}

fn common<'a>(reference: u32, shown: &Shown) -> Attributes<'a> {
    let mut attributes: Attributes<'_> = vec![
        ("name", shown.name.clone()),
        ("valueReference", reference.to_string()),
        ("causality", causality(shown).to_owned()),
        ("variability", variability(shown).to_owned()),
    ];
    if let Some(initial) = initial(shown) {
        attributes.push(("initial", initial.to_owned()));
    }
    if !shown.description.is_empty() {
        attributes.push(("description", shown.description.to_string()));
    }
    attributes
}

/// Attributes of the type of a variable, in both versions.
fn of_type<'a>(subject: &Subject<'_>, shown: &Shown) -> (&'static str, Attributes<'a>) {
    let mut attributes: Attributes<'_> = Vec::new();
    let mut limits = |write: fn(f64) -> String| {
        for (name, value) in [("min", shown.min), ("max", shown.max)] {
            attributes.extend(value.map(|value| (name, write(value))));
        }
    };
    match shown.kind {
        Kind::Float => {
            limits(number);
            attributes.extend(shown.nominal.map(|nominal| ("nominal", number(nominal))));
            if !shown.unit.is_empty() {
                attributes.push(("unit", shown.unit.to_string()));
            }
            attributes.extend(shown.start.map(|start| ("start", number(start))));
            if shown.is_slot && subject.has(Interface::ModelExchange) {
                attributes.push(("reinit", "true".to_owned()));
            }
            ("Float64", attributes)
        }
        Kind::Integer => {
            limits(whole);
            attributes.extend(shown.start.map(|start| ("start", whole(start))));
            ("Int32", attributes)
        }
        Kind::Boolean => {
            attributes.extend(shown.start.map(|start| ("start", (start != 0.0).to_string())));
            ("Boolean", attributes)
        }
        Kind::Text => {
            let texts = &subject.model.equations().texts;
            attributes.extend(shown.start.map(|start| ("start", texts.text(start).to_string())));
            ("String", attributes)
        }
        Kind::Clock => ("Clock", vec![("intervalVariability", "triggered".to_owned())]),
        Kind::Enumeration(of) => {
            attributes.push(("declaredType", type_name(of)));
            attributes.extend(shown.start.map(|start| ("start", whole(start))));
            ("Enumeration", attributes)
        }
    }
}

/// Where scalars are in arrays.
struct Placed(BTreeMap<u32, (usize, usize)>, u32);

impl Placed {
    fn new(variables: &Variables) -> Self {
        let mut places = BTreeMap::new();
        for (number, array) in variables.arrays.iter().enumerate() {
            places.extend((0..).zip(&array.elements).map(|(at, element)| (*element, (number, at))));
        }
        Placed(places, variables.list.len() as u32)
    }

    /// Whether it is an element of an array, and not the first.
    fn is_inner(&self, reference: u32) -> bool {
        self.0.get(&reference).is_some_and(|(_, at)| *at > 0)
    }

    /// The reference under which importers know it, or the array that it is the first element of.
    fn reference(&self, reference: u32) -> u32 {
        self.0
            .get(&reference)
            .map_or(reference, |(number, _)| self.1 + *number as u32)
    }
}

fn array_of_three(xml: &mut Writer, subject: &Subject<'_>, placed: &Placed, reference: u32, shown: &Shown) {
    let array = &subject.variables.arrays[(placed.reference(reference) - placed.1) as usize];
    let mut whole = shown.clone();
    whole.name.clone_from(&array.name);
    let mut attributes = common(placed.reference(reference), &whole);
    let (element, mut own) = of_type(subject, shown);
    if let Some((_, start)) = own.iter_mut().find(|(name, _)| *name == "start") {
        let of = |element: &u32| {
            let (_, own) = of_type(subject, &subject.variables.list[*element as usize]);
            own.into_iter()
                .find(|(name, _)| *name == "start")
                .map(|(_, start)| start)
        };
        let starts: Vec<String> = array.elements.iter().filter_map(of).collect();
        *start = starts.join(" ");
    }
    attributes.append(&mut own);
    xml.around(element, &attributes, |xml| {
        for dim in &array.dims {
            xml.leaf("Dimension", &[("start", dim.to_string())]);
        }
    });
}

fn variable_of_three(xml: &mut Writer, subject: &Subject<'_>, placed: &Placed, reference: u32, shown: &Shown) {
    if placed.reference(reference) != reference {
        return array_of_three(xml, subject, placed, reference, shown);
    }
    let mut attributes = common(reference, shown);
    let (element, mut own) = of_type(subject, shown);
    if shown.kind == Kind::Text {
        // The text is an element of its own.
        return match own.pop() {
            Some((_, text)) => xml.around(element, &attributes, |xml| xml.leaf("Start", &[("value", text)])),
            None => xml.leaf(element, &attributes),
        };
    }
    attributes.append(&mut own);
    if let Some(of) = shown.derivative_of {
        attributes.push(("derivative", of.to_string()));
    }
    xml.leaf(element, &attributes);
}

fn variable_of_two(xml: &mut Writer, subject: &Subject<'_>, reference: u32, shown: &Shown) {
    let attributes = common(reference, shown);
    let (element, mut own) = of_type(subject, shown);
    if let Some(of) = shown.derivative_of {
        own.push(("derivative", index(of).to_string()));
    }
    let element = match element {
        "Float64" => "Real",
        "Int32" => "Integer",
        other => other,
    };
    xml.around("ScalarVariable", &attributes, |xml| xml.leaf(element, &own));
}

/// The position of a variable in the list, from one: functions of conditions come last, so none before it is left out.
fn index(reference: u32) -> u32 {
    reference + 1
}

fn structure(xml: &mut Writer, subject: &Subject<'_>, version: Version) {
    let placed = Placed::new(subject.variables);
    let listed: Vec<(u32, &Shown)> = subject.listed().filter(|(at, _)| !placed.is_inner(*at)).collect();
    let is_calculated = |shown: &Shown| initial(shown) == Some("calculated");
    let outputs = || listed.iter().filter(|(_, shown)| shown.causality == Causality::Output);
    let exchange = subject.has(Interface::ModelExchange);
    let slots = subject.variables.slot_variables.iter();
    let slots: Vec<(u32, u32)> = slots.copied().filter(|_| exchange || version == Version::Two).collect();
    let mut unknown: BTreeSet<u32> = outputs()
        .filter(|(_, shown)| is_calculated(shown) || shown.kind == Kind::Clock)
        .map(|(at, _)| *at)
        .collect();
    for (state, rate) in &slots {
        let both = [*state, *rate].into_iter();
        unknown.extend(both.filter(|&at| is_calculated(&subject.variables.list[at as usize])));
    }
    let reference = |at: u32| [("valueReference", placed.reference(at).to_string())];
    let position = |at: u32| [("index", index(at).to_string())];
    match version {
        Version::Three => xml.around("ModelStructure", &[], |xml| {
            outputs().for_each(|(at, _)| xml.leaf("Output", &reference(*at)));
            slots
                .iter()
                .for_each(|(_, rate)| xml.leaf("ContinuousStateDerivative", &reference(*rate)));
            unknown
                .iter()
                .for_each(|at| xml.leaf("InitialUnknown", &reference(*at)));
            for (at, shown) in &listed {
                if matches!(shown.source, Source::Indicator(_)) {
                    xml.leaf("EventIndicator", &reference(*at));
                }
            }
        }),
        Version::Two => xml.around("ModelStructure", &[], |xml| {
            xml.around("Outputs", &[], |xml| {
                outputs().for_each(|(at, _)| xml.leaf("Unknown", &position(*at)));
            });
            xml.around("Derivatives", &[], |xml| {
                slots.iter().for_each(|(_, rate)| xml.leaf("Unknown", &position(*rate)));
            });
            xml.around("InitialUnknowns", &[], |xml| {
                unknown.iter().for_each(|at| xml.leaf("Unknown", &position(*at)));
            });
        }),
    }
}

fn number(value: f64) -> String {
    let text = format!("{value}");
    if text.len() > 20 { format!("{value:e}") } else { text }
}

fn whole(value: f64) -> String {
    format!("{}", value.clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32)
}
