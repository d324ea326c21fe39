//! A unit as Modelica text: a block with its inputs, outputs and parameters.
//!
//! The equations say how a unit is used, with the functions of `Saltus.Fmi`: for Model Exchange the derivatives, outputs and
//! event indicators as functions of states and inputs, and the state behind each event; for Co-Simulation the state behind
//! each step. Nothing but these functions is foreign.

use std::collections::BTreeSet;
use std::fmt::Write;

use saltus_mdae::function::ForeignInterface;

use crate::description::{Causality, Description, Kind, Unknown, Variable};

/// How a unit is imported.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The name of the block.
    pub name: String,
    /// The unit, as the text refers to it.
    pub file: String,
    /// Who integrates.
    pub interface: ForeignInterface,
    /// The size of steps, for Co-Simulation; that of the unit if none is given.
    pub step: Option<f64>,
}

/// Steps of a unit that suggests no size of them, in one run.
const STEPS: f64 = 1000.0;

/// The block, and what of the unit is left out of it.
pub fn import(description: &Description, options: &ImportOptions) -> Result<(String, Vec<String>), String> {
    let states = match options.interface {
        ForeignInterface::ModelExchange => description.states()?,
        ForeignInterface::CoSimulation => Vec::new(),
    };
    let shown = |variable: &Variable| variable.kind.is_number() && !variable.is_clocked && variable.size() > 0;
    let of = |causality: Causality| -> Vec<usize> {
        let all = description.variables.iter().enumerate();
        let wanted = all.filter(|(_, variable)| variable.causality == causality && shown(variable));
        wanted.map(|(at, _)| at).collect()
    };
    let mut block = Block {
        description,
        options,
        used: description
            .variables
            .iter()
            .map(|variable| variable.name.to_string())
            .collect(),
        parameters: of(Causality::Parameter),
        inputs: of(Causality::Input),
        outputs: of(Causality::Output),
        states,
        text: String::new(),
    };
    let left_out = { description.variables.iter() }
        .filter(|variable| {
            let matters = matches!(
                variable.causality,
                Causality::Parameter | Causality::Input | Causality::Output | Causality::StructuralParameter
            );
            matters && (!shown(variable) || variable.causality == Causality::StructuralParameter)
        })
        .map(|variable| variable.name.to_string())
        .collect();
    block.write().map_err(|_| "the text cannot be written".to_owned())?;
    Ok((block.text, left_out))
}

struct Block<'a> {
    description: &'a Description,
    options: &'a ImportOptions,
    /// Names that are taken.
    used: BTreeSet<String>,
    parameters: Vec<usize>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    states: Vec<usize>,
    text: String,
}

/// Names that the block needs for itself.
struct Own {
    unit: String,
    state: String,
    next: String,
    indicators: String,
    positive: String,
    ahead: String,
    ended: String,
    step: String,
    starts: Vec<Option<String>>,
    seen: Vec<(usize, String)>,
}

impl Block<'_> {
    fn variable(&self, at: usize) -> &Variable {
        &self.description.variables[at]
    }

    /// A name that no variable of the unit has.
    fn own(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.used.insert(name.clone()) {
            name.push('_');
        }
        identifier(&name)
    }

    fn names(&mut self) -> Own {
        let starts: Vec<(bool, String)> = { self.states.iter() }
            .map(|&at| {
                (
                    self.variable(at).has_exact_start,
                    format!("{}_start", self.variable(at).name),
                )
            })
            .collect();
        let discrete: Vec<(usize, String)> = { self.inputs.iter() }
            .filter(|&&at| !self.variable(at).is_continuous)
            .map(|&at| (at, format!("{}_seen", self.variable(at).name)))
            .collect();
        Own {
            unit: self.own("fmu"),
            state: self.own("fmuState"),
            next: self.own("fmuNext"),
            indicators: self.own("fmuIndicators"),
            positive: self.own("fmuPositive"),
            ahead: self.own("fmuAhead"),
            ended: self.own("fmuEnded"),
            step: self.own("communicationStep"),
            starts: { starts.into_iter() }
                .map(|(is_given, name)| is_given.then(|| self.own(&name)))
                .collect(),
            seen: discrete.into_iter().map(|(at, name)| (at, self.own(&name))).collect(),
        }
    }

    fn write(&mut self) -> std::fmt::Result {
        let own = self.names();
        let name = identifier(&self.options.name);
        let origin = format!(
            "{}{}unit {}, {}",
            self.description.description,
            if self.description.description.is_empty() {
                ""
            } else {
                "; "
            },
            self.description.name,
            match self.options.interface {
                ForeignInterface::ModelExchange => "Model Exchange",
                ForeignInterface::CoSimulation => "Co-Simulation",
            }
        );
        writeln!(self.text, "block {name} {}", quoted(&origin))?;
        self.declarations(&own)?;
        match self.options.interface {
            ForeignInterface::ModelExchange => self.exchange(&own)?,
            ForeignInterface::CoSimulation => self.simulation(&own)?,
        }
        let ended = &own.ended;
        writeln!(
            self.text,
            "  when {ended} then\n    terminate(\"the unit asks to end the run\");\n  end when;"
        )?;
        let experiment = self.description.experiment;
        let settings = [("StartTime", experiment.start), ("StopTime", experiment.stop)];
        let settings: Vec<String> = { settings.into_iter() }
            .filter_map(|(name, value)| Some(format!("{name} = {}", number(value?))))
            .collect();
        if !settings.is_empty() {
            writeln!(self.text, "  annotation(experiment({}));", settings.join(", "))?;
        }
        writeln!(self.text, "end {name};")
    }

    fn declarations(&mut self, own: &Own) -> std::fmt::Result {
        for at in self.parameters.clone() {
            let line = self.declaration("parameter ", at, true);
            writeln!(self.text, "  {line}")?;
        }
        for (&at, name) in self.states.clone().iter().zip(&own.starts) {
            let Some(name) = name else { continue };
            let variable = self.variable(at).clone();
            let attributes = attributes(&variable, None);
            let value = value(&variable);
            let description = quoted(&format!("Start value of {}", variable.name));
            let dims = dimensions(&variable);
            writeln!(
                self.text,
                "  parameter Real {name}{dims}{attributes} = {value} {description};"
            )?;
        }
        for (prefix, list) in [("input ", self.inputs.clone()), ("output ", self.outputs.clone())] {
            for at in list {
                let line = self.declaration(prefix, at, false);
                writeln!(self.text, "  {line}")?;
            }
        }
        for at in self.states.clone() {
            if !self.outputs.contains(&at) {
                let line = self.declaration("", at, false);
                writeln!(self.text, "  {line}")?;
            }
        }
        if self.options.interface == ForeignInterface::CoSimulation {
            let experiment = self.description.experiment;
            let span = experiment.stop.unwrap_or(1.0) - experiment.start.unwrap_or(0.0);
            let fallback = if span > 0.0 { span / STEPS } else { 1.0 / STEPS };
            let step = self.options.step.or(experiment.step).unwrap_or(fallback);
            let step = number(step);
            writeln!(
                self.text,
                "  parameter Real {}(unit = \"s\", min = 0) = {step} \"Longest time between communication points\";",
                own.step
            )?;
        }
        writeln!(self.text, "protected")?;
        let simulates = match self.options.interface {
            ForeignInterface::ModelExchange => "",
            ForeignInterface::CoSimulation => ", coSimulation = true",
        };
        let file = quoted(&self.options.file);
        writeln!(
            self.text,
            "  Saltus.Fmi.Unit {} = Saltus.Fmi.Unit({file}{simulates});",
            own.unit
        )?;
        writeln!(
            self.text,
            "  discrete Real {} \"What the unit keeps inside\";",
            own.state
        )?;
        writeln!(
            self.text,
            "  discrete Real {} \"When it has its next event\";",
            own.next
        )?;
        writeln!(self.text, "  Boolean {} \"Whether it asks to end the run\";", own.ended)?;
        Ok(())
    }

    fn declaration(&self, prefix: &str, at: usize, is_bound: bool) -> String {
        let variable = self.variable(at);
        let (ty, name) = (type_name(variable.kind), identifier(&variable.name));
        let is_discrete = variable.causality == Causality::Output && variable.kind.is_real() && !variable.is_continuous;
        let prefix = format!("{}{prefix}", if is_discrete { "discrete " } else { "" });
        let start = (!is_bound && variable.causality == Causality::Input && !variable.start.is_empty())
            .then(|| value(variable));
        let attributes = attributes(variable, start);
        let dims = dimensions(variable);
        let bound = if is_bound {
            format!(" = {}", value(variable))
        } else {
            String::new()
        };
        let description = if variable.description.is_empty() {
            String::new()
        } else {
            format!(" {}", quoted(&variable.description))
        };
        format!("{prefix}{ty} {name}{dims}{attributes}{bound}{description};")
    }

    /// The names of elements, and their values with something around each: `pre(…)`.
    fn listed(&self, variables: &[usize], around: impl Fn(String) -> String) -> (Vec<String>, Vec<String>) {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for &at in variables {
            let variable = self.variable(at);
            let name = identifier(&variable.name);
            for (element, subscript) in variable.element_names().iter().zip(variable.subscripts()) {
                names.push(quoted(element));
                values.push(as_real(variable.kind, around(format!("{name}{subscript}"))));
            }
        }
        (names, values)
    }

    fn given(&self, variables: &[usize], around: impl Fn(String) -> String) -> String {
        let (names, values) = self.listed(variables, around);
        arguments(&names, &values)
    }

    /// Values for the start: of parameters, and of states whose start is given.
    fn start_call(&self, own: &Own, inputs: &[usize]) -> String {
        let (mut names, mut values) = self.listed(&self.parameters, |name| name);
        for (&at, start) in self.states.iter().zip(&own.starts) {
            let Some(start) = start else { continue };
            let variable = self.variable(at);
            names.extend(variable.element_names().iter().map(|name| quoted(name)));
            values.extend(variable.subscripts().map(|subscript| format!("{start}{subscript}")));
        }
        let (input_names, input_values) = self.listed(inputs, |name| name);
        names.extend(input_names);
        values.extend(input_values);
        format!("Saltus.Fmi.start({}, time{})", own.unit, arguments(&names, &values))
    }

    /// What a value between events is computed from. If a unit says that one depends on no state and no input, it may depend on
    /// time alone, or what it says is wrong (`y3` of Roberts, one of the Reference FMUs): states are handed over all the same, which costs
    /// little and closes no loop. Taken at its word, the value would stay what it was at the last event.
    fn dependencies(&self, unknown: Option<&Unknown>) -> Vec<usize> {
        let continuous = { self.inputs.iter() }.filter(|&&at| self.variable(at).is_continuous);
        let all = self.states.iter().chain(continuous).copied();
        match unknown.and_then(|unknown| unknown.dependencies.as_ref()) {
            Some(told) => {
                let told: Vec<usize> = all.filter(|at| told.contains(at)).collect();
                if told.is_empty() { self.states.clone() } else { told }
            }
            None => all.collect(),
        }
    }

    fn exchange(&mut self, own: &Own) -> std::fmt::Result {
        let count = self.description.indicator_count;
        if count > 0 {
            writeln!(self.text, "  Real {}[{count}] \"Event indicators\";", own.indicators)?;
            writeln!(
                self.text,
                "  Boolean {}[{count}] \"Which of them are positive\";",
                own.positive
            )?;
        }
        for (at, name) in &own.seen {
            let (ty, dims) = (type_name(self.variable(*at).kind), dimensions(self.variable(*at)));
            let discrete = if ty == "Real" { "discrete " } else { "" };
            writeln!(self.text, "  {discrete}{ty} {name}{dims} \"As the unit knows it\";")?;
        }
        let early: Vec<usize> = { self.inputs.iter().copied() }
            .filter(|input| self.matters_at_start(*input))
            .collect();
        let start = self.start_call(own, &early);
        writeln!(self.text, "initial equation\n  pre({}) = {start};", own.state)?;
        for at in self.states.clone() {
            let variable = self.variable(at).clone();
            for (element, subscript) in variable.element_names().iter().zip(variable.subscripts()) {
                let name = identifier(&variable.name);
                let get = get(own, element, "");
                writeln!(self.text, "  {name}{subscript} = {get};")?;
            }
        }
        writeln!(self.text, "equation")?;
        self.events(own)?;
        self.continuous(own)
    }

    /// Whether a state at the start is said to depend on an input.
    fn matters_at_start(&self, input: usize) -> bool {
        let depends = |unknown: &Unknown| unknown.dependencies.as_ref().is_some_and(|list| list.contains(&input));
        let mut initial = self.description.initial.iter();
        initial.any(|unknown| self.states.contains(&unknown.variable) && depends(unknown))
    }

    /// The state behind each event.
    fn events(&mut self, own: &Own) -> std::fmt::Result {
        let (unit, state, next) = (&own.unit, &own.state, &own.next);
        let mut triggers = Vec::new();
        for at in 1..=self.description.indicator_count {
            triggers.push(format!("{}[{at}]", own.positive));
            triggers.push(format!("not {}[{at}]", own.positive));
        }
        triggers.push(format!("time >= pre({next})"));
        for (at, seen) in &own.seen {
            let variable = self.variable(*at);
            let name = identifier(&variable.name);
            for subscript in variable.subscripts() {
                let (now, known) = (format!("pre({name}{subscript})"), format!("pre({seen}{subscript})"));
                triggers.push(if variable.kind.is_real() {
                    format!("{now} > {known} or {now} < {known}")
                } else {
                    format!("{now} <> {known}")
                });
            }
        }
        let left = |name: String| format!("pre({name})");
        let inputs = self.given(&self.inputs, left);
        let states: Vec<usize> = self.states.iter().chain(&self.inputs).copied().collect();
        let all = self.given(&states, left);
        let signs = match self.description.indicator_count {
            0 => String::new(),
            _ => format!(", positive = {}", own.positive),
        };
        let mut known = String::new();
        for (at, seen) in &own.seen {
            let name = identifier(&self.variable(*at).name);
            writeln!(known, "    {seen} = pre({name});")?;
        }
        let told = format!(
            "    {next} = Saltus.Fmi.next({unit}, {state});\n    {} = Saltus.Fmi.ended({unit}, {state});\n{known}{}",
            own.ended,
            self.discrete_outputs(own)?
        );
        writeln!(self.text, "  when initial() then")?;
        writeln!(
            self.text,
            "    {state} = Saltus.Fmi.event({unit}, pre({state}), time{inputs});"
        )?;
        write!(self.text, "{told}")?;
        writeln!(self.text, "  elsewhen {{{}}} then", triggers.join(", "))?;
        writeln!(
            self.text,
            "    {state} = Saltus.Fmi.event({unit}, pre({state}), time{all}{signs});"
        )?;
        write!(self.text, "{told}")?;
        writeln!(self.text, "  end when;")?;
        if !self.states.is_empty() {
            writeln!(self.text, "  when {{{}}} then", triggers.join(", "))?;
            for at in self.states.clone() {
                let variable = self.variable(at).clone();
                for (element, subscript) in variable.element_names().iter().zip(variable.subscripts()) {
                    let name = identifier(&variable.name);
                    let get = get(own, element, "");
                    writeln!(self.text, "    reinit({name}{subscript}, {get});")?;
                }
            }
            writeln!(self.text, "  end when;")?;
        }
        Ok(())
    }

    /// Derivatives, outputs and event indicators between events.
    fn continuous(&mut self, own: &Own) -> std::fmt::Result {
        for (unknown, &at) in self.description.derivatives.iter().zip(&self.states.clone()) {
            let given = self.given(&self.dependencies(Some(unknown)), |name| name);
            let (derivative, state) = (self.variable(unknown.variable).clone(), self.variable(at).clone());
            let name = identifier(&state.name);
            for (element, subscript) in derivative.element_names().iter().zip(state.subscripts()) {
                let get = get(own, element, &given);
                writeln!(self.text, "  der({name}{subscript}) = {get};")?;
            }
        }
        for at in self.outputs.clone() {
            if self.states.contains(&at) || !self.variable(at).is_continuous {
                continue;
            }
            let unknown = self.description.outputs.iter().find(|unknown| unknown.variable == at);
            let given = self.given(&self.dependencies(unknown), |name| name);
            self.text += &self.output(own, at, &given)?;
        }
        for at in 1..=self.description.indicator_count {
            let unknown = self.description.indicators.get(at - 1);
            let given = self.given(&self.dependencies(unknown), |name| name);
            let Own {
                unit,
                state,
                indicators,
                positive,
                ..
            } = own;
            writeln!(
                self.text,
                "  {indicators}[{at}] = Saltus.Fmi.indicator({unit}, {state}, time, {at}{given});"
            )?;
            writeln!(self.text, "  {positive}[{at}] = {indicators}[{at}] > 0;")?;
        }
        Ok(())
    }

    /// An equation for each element of an output.
    fn output(&self, own: &Own, at: usize, given: &str) -> Result<String, std::fmt::Error> {
        let variable = self.variable(at);
        let (name, mut text) = (identifier(&variable.name), String::new());
        let function = match type_name(variable.kind) {
            "Real" => "get",
            "Boolean" => "getBoolean",
            _ => "getInteger",
        };
        for (element, subscript) in variable.element_names().iter().zip(variable.subscripts()) {
            let get = ask(own, function, element, given);
            writeln!(text, "  {name}{subscript} = {get};")?;
        }
        Ok(text)
    }

    /// Those of outputs that change at events only.
    fn discrete_outputs(&self, own: &Own) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        for &at in self.outputs.iter().filter(|&&at| !self.variable(at).is_continuous) {
            for line in self.output(own, at, "")?.lines() {
                writeln!(text, "  {line}")?;
            }
        }
        Ok(text)
    }

    /// A step from each communication point to the next. Outputs are those at the point, and inputs are held.
    fn simulation(&mut self, own: &Own) -> std::fmt::Result {
        let Own {
            unit,
            state,
            next,
            ahead,
            step,
            ..
        } = own;
        writeln!(
            self.text,
            "  discrete Real {ahead} \"The same at the end of the present step\";"
        )?;
        let start = self.start_call(own, &[]);
        writeln!(self.text, "initial equation\n  pre({ahead}) = {start};")?;
        let inputs = self.given(&self.inputs, |name| name);
        writeln!(self.text, "equation\n  when {{initial(), time >= pre({next})}} then")?;
        writeln!(self.text, "    {state} = pre({ahead});")?;
        writeln!(
            self.text,
            "    {ahead} = Saltus.Fmi.step({unit}, pre({ahead}), time, {step}{inputs});"
        )?;
        writeln!(self.text, "    {next} = Saltus.Fmi.next({unit}, {ahead});")?;
        writeln!(self.text, "    {} = Saltus.Fmi.ended({unit}, {state});", own.ended)?;
        self.text += &self.discrete_outputs(own)?;
        writeln!(self.text, "  end when;")?;
        for at in self.outputs.clone() {
            if !self.variable(at).is_continuous {
                continue;
            }
            let unknown = self.description.outputs.iter().find(|unknown| unknown.variable == at);
            let can_go_back = { self.description.simulation.as_ref() }.is_some_and(|offered| offered.saves_states);
            let feeds = |unknown: &Unknown| unknown.dependencies.is_some();
            let given = match unknown.filter(|unknown| feeds(unknown) && can_go_back) {
                Some(unknown) => self.given(&self.dependencies(Some(unknown)), |name| name),
                None => String::new(),
            };
            self.text += &self.output(own, at, &given)?;
        }
        Ok(())
    }
}

fn get(own: &Own, element: &str, given: &str) -> String {
    ask(own, "get", element, given)
}

fn ask(own: &Own, function: &str, element: &str, given: &str) -> String {
    format!(
        "Saltus.Fmi.{function}({}, {}, time, {}{given})",
        own.unit,
        own.state,
        quoted(element)
    )
}

fn arguments(names: &[String], values: &[String]) -> String {
    match names {
        [] => String::new(),
        _ => format!(", {{{}}}, {{{}}}", names.join(", "), values.join(", ")),
    }
}

fn as_real(kind: Kind, expression: String) -> String {
    match kind {
        Kind::Boolean => format!("if {expression} then 1.0 else 0.0"),
        _ => expression,
    }
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Float32 | Kind::Float64 => "Real",
        Kind::Boolean => "Boolean",
        _ => "Integer",
    }
}

fn dimensions(variable: &Variable) -> String {
    let dims: Vec<String> = variable.dims.iter().map(usize::to_string).collect();
    if dims.is_empty() {
        String::new()
    } else {
        format!("[{}]", dims.join(", "))
    }
}

fn attributes(variable: &Variable, start: Option<String>) -> String {
    let is_real = variable.kind.is_real();
    let each = if variable.dims.is_empty() { "" } else { "each " };
    let mut list = Vec::new();
    let units = [("unit", &variable.unit), ("displayUnit", &variable.display_unit)];
    for (name, unit) in units {
        if is_real && !unit.is_empty() && unit.is_ascii() {
            list.push(format!("{each}{name} = {}", quoted(unit)));
        }
    }
    for (name, bound) in ["min", "max"].into_iter().zip(variable.bounds) {
        let Some(bound) = bound.filter(|bound| bound.is_finite() && variable.kind != Kind::Boolean) else {
            continue;
        };
        let bound = if is_real { number(bound) } else { format!("{bound:.0}") };
        list.push(format!("{each}{name} = {bound}"));
    }
    list.extend(start.map(|start| format!("start = {start}")));
    if list.is_empty() {
        String::new()
    } else {
        format!("({})", list.join(", "))
    }
}

/// The start value as text; arrays as nested lists.
fn value(variable: &Variable) -> String {
    let mut numbers = variable.start.clone();
    // One value may stand for all elements.
    let fill = if numbers.len() == 1 { numbers[0] } else { 0.0 };
    numbers.resize(variable.size(), fill);
    let texts: Vec<String> = { numbers.iter() }
        .map(|&value| match type_name(variable.kind) {
            "Real" => number(value),
            "Boolean" => (value != 0.0).to_string(),
            _ => format!("{value:.0}"),
        })
        .collect();
    let mut texts = texts;
    for &dim in variable.dims.iter().rev() {
        texts = texts
            .chunks(dim.max(1))
            .map(|row| format!("{{{}}}", row.join(", ")))
            .collect();
    }
    texts.into_iter().next().unwrap_or_else(|| "0".to_owned())
}

fn number(value: f64) -> String {
    let text = format!("{value}");
    if text.len() > 20 { format!("{value:e}") } else { text }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A name in Modelica: as it is, or between quotes.
fn identifier(name: &str) -> String {
    let mut chars = name.chars();
    let is_plain = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&name);
    if is_plain {
        return name.to_owned();
    }
    let mut quoted = String::from("'");
    for c in name.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// Words that are no names.
const RESERVED: &[&str] = &[
    "Boolean",
    "Integer",
    "Real",
    "Saltus",
    "String",
    "algorithm",
    "and",
    "annotation",
    "block",
    "break",
    "class",
    "connect",
    "connector",
    "constant",
    "constrainedby",
    "der",
    "discrete",
    "each",
    "else",
    "elseif",
    "elsewhen",
    "encapsulated",
    "end",
    "enumeration",
    "equation",
    "expandable",
    "extends",
    "external",
    "false",
    "final",
    "flow",
    "for",
    "function",
    "if",
    "import",
    "impure",
    "in",
    "initial",
    "inner",
    "input",
    "loop",
    "model",
    "not",
    "operator",
    "or",
    "outer",
    "output",
    "package",
    "parameter",
    "partial",
    "pre",
    "protected",
    "public",
    "pure",
    "record",
    "redeclare",
    "reinit",
    "replaceable",
    "return",
    "stream",
    "then",
    "time",
    "true",
    "type",
    "when",
    "while",
    "within",
];
