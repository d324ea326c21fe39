//! `modelDescription.xml`.

use std::collections::{BTreeMap, BTreeSet};

use saltus::Model;
use saltus::flat::Unit;
use saltus_results::units::{Conversion, conversion};

use crate::interface::{Entry, Size};
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

    /// What is listed, with the first variable of each: functions of conditions belong to the other interface, clocks to the other
    /// version. Both come last, so that positions of the others are their numbers.
    fn listed(&self) -> impl Iterator<Item = Listed<'_>> {
        let exchange = self.has(Interface::ModelExchange);
        let entries = (0..).zip(&self.variables.interface.entries);
        let all = entries.filter_map(|(reference, entry)| {
            let elements = self.variables.scalars(&[reference])?;
            let shown = self.variables.get(*elements.first()?)?;
            Some(Listed {
                reference,
                entry,
                elements,
                shown,
            })
        });
        all.filter(move |listed| match listed.shown.source {
            Source::Indicator(_) => exchange,
            Source::ModeChange => self.version == Version::Three,
            _ => true,
        })
    }

    /// The units of numbers, each with those to show it in.
    fn units(&self) -> BTreeMap<&str, BTreeMap<&str, Conversion>> {
        let mut units: BTreeMap<&str, BTreeMap<&str, Conversion>> = BTreeMap::new();
        let numbers = self.listed().filter(|listed| listed.shown.kind == Kind::Float);
        for shown in numbers
            .map(|listed| listed.shown)
            .filter(|shown| !shown.unit.is_empty())
        {
            let of_display = units.entry(&*shown.unit).or_default();
            of_display.extend(display_unit(shown));
        }
        units
    }
}

/// The unit to show a variable in, where it is another one and both are known.
fn display_unit(shown: &Shown) -> Option<(&str, Conversion)> {
    let other = (!shown.display_unit.is_empty() && shown.display_unit != shown.unit).then_some(&*shown.display_unit)?;
    Some((other, conversion(&shown.unit, other)?))
}

/// Something that is listed.
struct Listed<'a> {
    reference: u32,
    entry: &'a Entry,
    elements: Vec<u32>,
    /// The first of its variables.
    shown: &'a Shown,
}

pub(crate) fn describe(subject: &Subject<'_>) -> String {
    let version = subject.version;
    let mut xml = Writer::new();
    let text = |text: &str| text.to_owned();
    let mut root: Attributes<'_> = vec![
        ("fmiVersion", text(if version == Version::Two { "2.0" } else { "3.0" })),
        ("modelName", text(subject.model.name())),
        ("generationTool", format!("Saltus {}", env!("CARGO_PKG_VERSION"))),
        ("variableNamingConvention", naming(subject)),
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
            for listed in subject.listed() {
                match version {
                    Version::Two => variable_of_two(xml, subject, listed.reference, listed.shown),
                    Version::Three => variable_of_three(xml, subject, &listed),
                }
            }
        });
        structure(xml, subject, version);
    });
    xml.finish()
}

/// Names in quotes may hold characters that the grammar of structured names does not have.
fn naming(subject: &Subject<'_>) -> String {
    let is_known = |c: char| (c.is_ascii_graphic() || c == ' ') && !matches!(c, '"' | '`');
    let are_structured = subject.listed().all(|listed| listed.entry.name.chars().all(is_known));
    let convention = if are_structured { "structured" } else { "flat" };
    convention.to_owned()
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
        for (unit, shown_in) in subject.units() {
            let name = [("name", unit.to_owned())];
            let base = base_unit(unit);
            if base.is_none() && shown_in.is_empty() {
                xml.leaf("Unit", &name);
                continue;
            }
            xml.around("Unit", &name, |xml| {
                base.iter().for_each(|base| xml.leaf("BaseUnit", base));
                for (other, by) in shown_in {
                    let mut attributes = vec![("name", other.to_owned())];
                    attributes.extend(factor_and_offset(by.factor, by.offset));
                    xml.leaf("DisplayUnit", &attributes);
                }
            });
        }
    });
}

/// What a unit is in base units: exponents, which the standard wants to be whole, and how a value is converted. Nothing if it is not
/// known.
fn base_unit(unit: &str) -> Option<Attributes<'static>> {
    let Unit { dimension, offset } = Unit::parse(unit).ok()?;
    let mut attributes: Attributes<'static> = Vec::new();
    for (base, exponent) in dimension.bases() {
        let is_whole = (exponent - exponent.round()).abs() < 1e-9 && exponent.abs() < 100.0;
        attributes.push((base, is_whole.then(|| format!("{}", exponent.round()))?));
    }
    attributes.extend(factor_and_offset(dimension.factor(), offset));
    Some(attributes)
}

/// A conversion; that from a unit to itself is not written.
fn factor_and_offset(factor: f64, offset: f64) -> impl Iterator<Item = (&'static str, String)> {
    let both = [("factor", factor, 1.0), ("offset", offset, 0.0)];
    let written = both.into_iter().filter(|(_, value, usual)| value != usual);
    written.map(|(name, value, _)| (name, number(value)))
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
        Causality::Structural => "structuralParameter",
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
        (_, Some(_)) if shown.is_guess => Some("approx"),
        (_, Some(_)) => Some("exact"),
        (_, None) => Some("calculated"),
    }
}

fn common<'a>(reference: u32, name: &str, shown: &Shown) -> Attributes<'a> {
    let mut attributes: Attributes<'_> = vec![
        ("name", name.to_owned()),
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
                attributes.extend(display_unit(shown).map(|(other, _)| ("displayUnit", other.to_owned())));
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
        Kind::Size => {
            limits(whole);
            attributes.extend(shown.start.map(|start| ("start", whole(start))));
            ("UInt64", attributes)
        }
        Kind::Clock => ("Clock", vec![("intervalVariability", "triggered".to_owned())]),
        Kind::Enumeration(of) => {
            attributes.push(("declaredType", type_name(of)));
            attributes.extend(shown.start.map(|start| ("start", whole(start))));
            ("Enumeration", attributes)
        }
    }
}

/// The values at the start of all elements of an array.
fn starts(subject: &Subject<'_>, listed: &Listed<'_>) -> String {
    let of = |element: &u32| {
        let (_, own) = of_type(subject, subject.variables.get(*element)?);
        let start = own.into_iter().find(|(name, _)| *name == "start");
        start.map(|(_, start)| start)
    };
    let starts: Vec<String> = listed.elements.iter().filter_map(of).collect();
    starts.join(" ")
}

fn variable_of_three(xml: &mut Writer, subject: &Subject<'_>, listed: &Listed<'_>) {
    let (entry, shown) = (listed.entry, listed.shown);
    let mut attributes = common(listed.reference, &entry.name, shown);
    let (element, mut own) = of_type(subject, shown);
    if shown.kind == Kind::Text {
        // The texts are elements of their own.
        let texts = listed.elements.iter().filter_map(|element| {
            let (_, mut own) = of_type(subject, subject.variables.get(*element)?);
            own.pop().map(|(_, text)| text)
        });
        let texts: Vec<String> = texts.collect();
        if texts.is_empty() && entry.sizes.is_empty() {
            return xml.leaf(element, &attributes);
        }
        return xml.around(element, &attributes, |xml| {
            dimensions(xml, subject, entry);
            texts.into_iter().for_each(|text| xml.leaf("Start", &[("value", text)]));
        });
    }
    if let Some((_, start)) = own.iter_mut().find(|(name, _)| *name == "start") {
        *start = starts(subject, listed);
    }
    attributes.append(&mut own);
    let state = shown.derivative_of.and_then(|of| subject.variables.entry_of(of));
    attributes.extend(state.map(|of| ("derivative", of.to_string())));
    if entry.sizes.is_empty() {
        return xml.leaf(element, &attributes);
    }
    xml.around(element, &attributes, |xml| dimensions(xml, subject, entry));
}

fn dimensions(xml: &mut Writer, subject: &Subject<'_>, entry: &Entry) {
    for size in &entry.sizes {
        let attribute = match *size {
            Size::Number(number) => Some(("start", number.to_string())),
            Size::Parameter(at) => {
                let parameter = subject.variables.interface.parameters.get(at);
                let reference = parameter.and_then(|parameter| subject.variables.reference(&parameter.name));
                reference.map(|reference| ("valueReference", reference.to_string()))
            }
        };
        xml.leaf("Dimension", attribute.as_slice());
    }
}

fn variable_of_two(xml: &mut Writer, subject: &Subject<'_>, reference: u32, shown: &Shown) {
    let attributes = common(reference, &shown.name, shown);
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
    let listed: Vec<Listed<'_>> = subject.listed().collect();
    let is_calculated = |shown: &Shown| matches!(initial(shown), Some("calculated" | "approx"));
    let outputs = || {
        listed
            .iter()
            .filter(|listed| listed.shown.causality == Causality::Output)
    };
    let exchange = subject.has(Interface::ModelExchange);
    let is_stated = exchange || version == Version::Two;
    let rates = if is_stated {
        subject.variables.rate_entries()
    } else {
        Vec::new()
    };
    let mut unknown: BTreeSet<u32> = outputs()
        .filter(|listed| is_calculated(listed.shown) || listed.shown.kind == Kind::Clock)
        .map(|listed| listed.reference)
        .collect();
    for &rate in &rates {
        let place = |at: &u32| listed.binary_search_by_key(at, |listed| listed.reference).ok();
        let of_entry = |at: u32| place(&at).map(|place| &listed[place]);
        let Some(rate) = of_entry(rate) else { continue };
        let state = rate
            .shown
            .derivative_of
            .and_then(|of| subject.variables.entry_of(of))
            .and_then(of_entry);
        let both = [Some(rate), state].into_iter().flatten();
        unknown.extend(
            both.filter(|listed| is_calculated(listed.shown))
                .map(|listed| listed.reference),
        );
    }
    let reference = |at: u32| [("valueReference", at.to_string())];
    let position = |at: u32| [("index", index(at).to_string())];
    match version {
        Version::Three => xml.around("ModelStructure", &[], |xml| {
            outputs().for_each(|listed| xml.leaf("Output", &reference(listed.reference)));
            rates
                .iter()
                .for_each(|rate| xml.leaf("ContinuousStateDerivative", &reference(*rate)));
            unknown
                .iter()
                .for_each(|at| xml.leaf("InitialUnknown", &reference(*at)));
            for listed in &listed {
                if matches!(listed.shown.source, Source::Indicator(_)) {
                    xml.leaf("EventIndicator", &reference(listed.reference));
                }
            }
        }),
        Version::Two => xml.around("ModelStructure", &[], |xml| {
            xml.around("Outputs", &[], |xml| {
                outputs().for_each(|listed| xml.leaf("Unknown", &position(listed.reference)));
            });
            xml.around("Derivatives", &[], |xml| {
                rates.iter().for_each(|rate| xml.leaf("Unknown", &position(*rate)));
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
