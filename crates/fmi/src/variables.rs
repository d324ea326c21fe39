//! What a model shows to the outside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::interface::{Interface, Resolved, SizeParameter};
use saltus::Model;
use saltus::simulate::{Chattering, Redundant, Zeno};
use saltus_mdae::{Derivative, ExprId, Mdae, Role, Type, VarId, Variable};

/// The type of a variable as the standard knows it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Float,
    /// A whole number.
    Integer,
    /// A truth value.
    Boolean,
    /// One of the literals of an enumeration, by its position in [`Variables::enumerations`].
    Enumeration(usize),
    /// A text.
    Text,
    /// Whether something happens now.
    Clock,
    /// A size of arrays.
    Size,
}

/// Who determines a variable.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Causality {
    /// Time.
    Independent,
    /// The importer, before the start.
    Parameter,
    /// The importer, before there are any values: it gives sizes.
    Structural,
    /// The importer, at any time.
    Input,
    /// The model, for others.
    Output,
    /// The model.
    Local,
}

/// When a variable changes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Variability {
    /// Never.
    Constant,
    /// Not after the start.
    Fixed,
    /// At events.
    Discrete,
    /// At any time.
    Continuous,
}

/// How a value follows from what the run holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It is that.
    Same,
    /// Its negative.
    Negated,
    /// Its opposite.
    Not,
}

/// Where a value comes from.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Source {
    /// Time.
    Time,
    /// A number.
    Constant(f64),
    /// A derivative of a variable of the equations.
    Value(Derivative, Sign),
    /// The function of a condition, by its number.
    Indicator(usize),
    /// The number of the mode.
    Mode,
    /// The weight of the impulse at the last event, by its number.
    Impulse(usize),
    /// Whether the last instant changed the mode.
    ModeChange,
}

/// One variable.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Who determines it.
    pub causality: Causality,
    /// When it changes.
    pub variability: Variability,
    /// The value at the start, where the importer may give another.
    pub start: Option<f64>,
    /// Whether that is only where the value at the start is looked for.
    pub is_guess: bool,
    /// Where it comes from.
    pub source: Source,
    /// Its unit.
    pub unit: Arc<str>,
    /// The unit to show it in; empty if that is its own.
    pub display_unit: Arc<str>,
    /// What it is.
    pub description: Arc<str>,
    /// Limits and size, where they are numbers.
    pub min: Option<f64>,
    /// See `min`.
    pub max: Option<f64>,
    /// See `min`.
    pub nominal: Option<f64>,
    /// The variable whose rate this is, by its number.
    pub derivative_of: Option<u32>,
    /// Whether it is a slot: a state in some mode.
    pub is_slot: bool,
}

impl Shown {
    /// A derivative has neither the unit nor the limits and the size of what it is one of.
    fn drop_unit_and_limits(&mut self) {
        (self.unit, self.display_unit) = ("".into(), "".into());
        (self.min, self.max, self.nominal) = (None, None, None);
    }

    /// Whether an importer could not do without it.
    pub(crate) fn is_needed(&self, exchange: bool) -> bool {
        let in_states = self.is_slot || self.derivative_of.is_some();
        let own = matches!(self.source, Source::Mode | Source::ModeChange | Source::Impulse(_));
        let given = matches!(
            self.causality,
            Causality::Input | Causality::Parameter | Causality::Structural
        );
        given || exchange && in_states || self.causality == Causality::Output && !own
    }
}

/// All variables by their numbers; importers know them, or whole arrays of them, by the value references of the interface.
#[derive(Clone, Debug)]
pub struct Variables {
    /// By number; the first is time.
    pub list: Vec<Shown>,
    /// The slots: the states of all modes.
    pub slots: Arc<[Derivative]>,
    /// The slots as variables, and their rates.
    pub slot_variables: Vec<(u32, u32)>,
    /// The literals of enumerations.
    pub enumerations: Vec<Arc<[Arc<str>]>>,
    /// How many indicators there are.
    pub indicators: usize,
    /// What may have an impulse, and with which sign.
    pub impulses: Vec<(Derivative, f64)>,
    /// What importers know of it.
    pub interface: Interface,
    /// The variables behind what importers know.
    resolved: Resolved,
    /// The slots in the order in which importers know them: arrays of states are in one piece.
    slot_order: Vec<usize>,
    /// The names of so many variables.
    names: (BTreeSet<String>, usize),
}

/// Derivatives of higher orders are none that runs keep.
const MOST_ORDERS: u16 = 64;

/// The names of what is added to a model.
const ADDED: &str = "saltus";

impl Variables {
    /// The variables of a model.
    pub fn new(model: &Model, settings: &Settings, indicators: usize) -> Self {
        let mut table = Variables {
            list: vec![time()],
            slots: settings.slots.clone().into(),
            impulses: Vec::new(),
            interface: Interface::default(),
            resolved: Resolved::default(),
            slot_order: Vec::new(),
            names: (BTreeSet::new(), 0),
            slot_variables: Vec::new(),
            enumerations: Vec::new(),
            indicators,
        };
        let equations = model.equations();
        table.add_variables(model, equations);
        table.add_aliases(equations);
        table.add_constants(equations);
        table.add_slots(equations);
        table.add_impulses(&settings.impulses);
        table.add_own();
        (table.interface, table.resolved) = Interface::of_one(&table.list, settings.arrays);
        table.order_slots();
        table
    }

    /// The variables of a model that is one of several with an interface in common, as the parameters that give sizes have these
    /// values.
    pub fn in_family(mut self, interface: &Interface, values: &[u64]) -> Result<Self, String> {
        self.mark_sizes(&interface.parameters, values);
        self.resolved = interface.resolve(values, &self.list)?;
        self.interface = interface.clone();
        self.order_slots();
        Ok(self)
    }

    /// The parameters that give sizes, with the values that they have in this model.
    pub(crate) fn mark_sizes(&mut self, parameters: &[SizeParameter], values: &[u64]) {
        for (parameter, &value) in parameters.iter().zip(values) {
            let at = self.find(&parameter.name).unwrap_or_else(|| {
                let name = parameter.name.clone();
                self.list.push(Shown { name, ..time() });
                self.list.len() as u32 - 1
            });
            let shown = &mut self.list[at as usize];
            (shown.kind, shown.causality, shown.variability) = (Kind::Size, Causality::Structural, Variability::Fixed);
            (shown.min, shown.max) = (Some(parameter.min as f64), Some(parameter.max as f64));
            (shown.start, shown.source) = (Some(value as f64), Source::Constant(value as f64));
            (shown.nominal, shown.unit, shown.display_unit) = (None, "".into(), "".into());
        }
    }

    /// Importers list states as the elements of the entries of their rates.
    fn order_slots(&mut self) {
        let slot_of: BTreeMap<u32, usize> = self.slot_variables.iter().map(|(_, rate)| *rate).zip(0..).collect();
        let entries = self.rate_entries();
        let elements = entries.iter().filter_map(|entry| self.resolved.of(*entry)).flatten();
        self.slot_order = elements.filter_map(|rate| slot_of.get(rate).copied()).collect();
    }

    /// The entries of the rates of the slots, in the order in which importers list states.
    pub(crate) fn rate_entries(&self) -> Vec<u32> {
        let (mut known, mut entries) = (BTreeSet::new(), Vec::new());
        let of_rates = self.slot_variables.iter().filter_map(|(_, rate)| self.entry_of(*rate));
        entries.extend(of_rates.filter(|entry| known.insert(*entry)));
        entries
    }

    /// The slots in the order in which importers know them.
    pub(crate) fn slot_order(&self) -> &[usize] {
        &self.slot_order
    }

    /// The entry that a variable belongs to.
    pub(crate) fn entry_of(&self, variable: u32) -> Option<u32> {
        self.resolved.entry_of(variable)
    }

    /// The variables that value references stand for; nothing if one is none.
    pub fn scalars(&self, references: &[u32]) -> Option<Vec<u32>> {
        let mut scalars = Vec::with_capacity(references.len());
        for &reference in references {
            scalars.extend(self.resolved.of(reference)?);
        }
        Some(scalars)
    }

    /// The value reference of a name that importers know.
    pub fn reference(&self, name: &str) -> Option<u32> {
        let position = self.interface.entries.iter().position(|entry| entry.name == name);
        position.map(|at| at as u32)
    }

    /// A variable by its number.
    pub fn get(&self, reference: u32) -> Option<&Shown> {
        self.list.get(reference as usize)
    }

    /// The number of a name.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.list
            .iter()
            .position(|shown| shown.name == name)
            .map(|at| at as u32)
    }

    fn is_slot(&self, of: Derivative) -> bool {
        self.slots.binary_search(&of).is_ok()
    }

    fn add_variables(&mut self, model: &Model, equations: &Mdae) {
        // Signals of the past are inputs to the equations, and nobody's to give.
        let delayed = equations.delays.iter().map(|delay| delay.output);
        let transported = equations.transports.iter().flat_map(|transport| transport.outputs);
        let past: BTreeSet<VarId> = delayed.chain(transported).collect();
        for (var, variable) in equations.variables.iter_enumerated() {
            let of = Derivative::value_of(var);
            let is_input = variable.role == Role::Input;
            let wanted = !variable.hidden || self.is_slot(of) || variable.output || is_input;
            if past.contains(&var) || !is_name(&variable.name) {
                continue;
            }
            if !wanted || (variable.text && is_input) {
                continue;
            }
            let mut shown = self.describe(equations, variable, Source::Value(of, Sign::Same));
            let constant = |expr: Option<ExprId>| expr.and_then(|expr| constant(equations, expr));
            match variable.role {
                Role::Parameter => {
                    shown.variability = Variability::Fixed;
                    let value = constant(variable.binding.or(variable.start));
                    let free = model.is_settable(&variable.name) && !variable.text;
                    if let Some(value) = value.filter(|_| free) {
                        shown.causality = Causality::Parameter;
                        shown.start = Some(value);
                    }
                }
                Role::Input => {
                    shown.causality = Causality::Input;
                    shown.start = Some(constant(variable.binding.or(variable.start)).unwrap_or(0.0));
                }
                _ => {
                    let given = variable.role == Role::Continuous && self.is_slot(of);
                    shown.start = constant(variable.start).filter(|_| given);
                    shown.is_guess = !variable.fixed;
                }
            }
            self.list.push(shown);
        }
    }

    fn add_aliases(&mut self, equations: &Mdae) {
        for alias in &equations.aliases {
            let of = Derivative::new(alias.target, alias.order);
            if !is_name(&alias.variable.name) || (alias.variable.hidden && !alias.variable.output) {
                continue;
            }
            let sign = match (alias.negated, alias.variable.ty) {
                (false, _) => Sign::Same,
                (true, Type::Boolean) => Sign::Not,
                (true, _) => Sign::Negated,
            };
            let mut shown = self.describe(equations, &alias.variable, Source::Value(of, sign));
            let target = &equations.variables[alias.target];
            shown.variability = match target.role {
                Role::Parameter => Variability::Fixed,
                _ if alias.order > 0 => Variability::Continuous,
                _ => variability(target),
            };
            if target.role != Role::Parameter && self.is_slot(of) && sign == Sign::Same {
                shown.start = alias.variable.start.and_then(|start| constant(equations, start));
                shown.is_guess = !alias.variable.fixed;
            }
            self.list.push(shown);
        }
    }

    fn add_constants(&mut self, equations: &Mdae) {
        for constant in &equations.constants {
            if constant.variable.hidden {
                continue;
            }
            let mut shown = self.describe(equations, &constant.variable, Source::Constant(constant.value));
            shown.variability = Variability::Constant;
            shown.start = Some(constant.value);
            self.list.push(shown);
        }
    }

    /// Every slot is a variable, and so is its rate.
    fn add_slots(&mut self, equations: &Mdae) {
        let mut known: BTreeMap<Derivative, u32> = BTreeMap::new();
        for (at, shown) in self.list.iter().enumerate() {
            if let Source::Value(of, Sign::Same) = shown.source
                && shown.variability == Variability::Continuous
                && shown.causality != Causality::Input
            {
                known.entry(of).or_insert(at as u32);
            }
        }
        let mut rates: BTreeSet<Derivative> = BTreeSet::new();
        for &slot in self.slots.clone().iter() {
            let variable = self.variable_of(equations, &mut known, slot);
            let rate = Derivative::new(slot.var, slot.order + 1);
            // A variable of the model may be the rate of one state only, and a rate is named as one.
            let rate_variable = match known.get(&rate) {
                Some(&at) if self.list[at as usize].name == self.rate_name(variable) => at,
                _ => self.push_rate(equations, rate, variable),
            };
            if rates.insert(rate) {
                known.entry(rate).or_insert(rate_variable);
            }
            self.list[variable as usize].is_slot = true;
            self.list[rate_variable as usize].derivative_of = Some(variable);
            self.slot_variables.push((variable, rate_variable));
        }
    }

    fn variable_of(&mut self, equations: &Mdae, known: &mut BTreeMap<Derivative, u32>, slot: Derivative) -> u32 {
        if let Some(&at) = known.get(&slot) {
            return at;
        }
        let variable = &equations.variables[slot.var];
        let name = match slot.order {
            0 => variable.name.to_string(),
            1 => format!("der({})", variable.name),
            order => format!("der({},{order})", variable.name),
        };
        let mut shown = self.describe(equations, variable, Source::Value(slot, Sign::Same));
        shown.name = self.unused(name);
        shown.variability = Variability::Continuous;
        if slot.order > 0 {
            shown.drop_unit_and_limits();
        }
        let at = self.list.len() as u32;
        self.list.push(shown);
        known.insert(slot, at);
        at
    }

    fn rate_name(&self, of: u32) -> String {
        let name = &self.list[of as usize].name;
        let inner = name.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')'));
        match inner.map(|inner| inner.rsplit_once(',')) {
            None => format!("der({name})"),
            Some(None) => format!("der({},2)", inner.unwrap_or(name)),
            Some(Some((base, order))) => match order.parse::<u16>() {
                Ok(order) => format!("der({base},{})", order + 1),
                Err(_) => format!("der({},2)", inner.unwrap_or(name)),
            },
        }
    }

    fn push_rate(&mut self, equations: &Mdae, rate: Derivative, of: u32) -> u32 {
        let mut shown = self.describe(
            equations,
            &equations.variables[rate.var],
            Source::Value(rate, Sign::Same),
        );
        shown.name = self.unused(self.rate_name(of));
        shown.description = "".into();
        shown.causality = Causality::Local;
        shown.variability = Variability::Continuous;
        shown.drop_unit_and_limits();
        self.list.push(shown);
        self.list.len() as u32 - 1
    }

    /// Impulses of variables, as outputs that change at events.
    fn add_impulses(&mut self, names: &[String]) {
        for name in names {
            let Some(of) = self.find(name).map(|at| self.list[at as usize].clone()) else {
                continue;
            };
            let Source::Value(derivative, sign) = of.source else {
                continue;
            };
            let at = self.impulses.len();
            self.impulses
                .push((derivative, if sign == Sign::Same { 1.0 } else { -1.0 }));
            let own = self.unused(format!("{ADDED}.impulse.{name}"));
            self.list.push(Shown {
                name: own,
                causality: Causality::Output,
                variability: Variability::Discrete,
                source: Source::Impulse(at),
                description: format!("Weight of the impulse of {name} at the last event").into(),
                ..time()
            });
        }
    }

    /// The mode and the functions of conditions.
    fn add_own(&mut self) {
        let own = |name: String, kind, variability, source, description: &str| Shown {
            name,
            kind,
            variability,
            source,
            description: description.into(),
            ..time()
        };
        let mode = self.unused(format!("{ADDED}.mode"));
        let text = "Number of the mode, in the order of first entry";
        let mut mode = own(mode, Kind::Integer, Variability::Discrete, Source::Mode, text);
        mode.causality = Causality::Output;
        self.list.push(mode);
        for at in 0..self.indicators {
            let name = self.unused(format!("{ADDED}.indicator[{}]", at + 1));
            let text = "Function of a condition: positive where it holds";
            let mut indicator = own(name, Kind::Float, Variability::Continuous, Source::Indicator(at), text);
            indicator.causality = Causality::Local;
            self.list.push(indicator);
        }
        let clock = self.unused(format!("{ADDED}.modeChange"));
        let text = "Ticks at events that change the mode";
        let mut clock = own(clock, Kind::Clock, Variability::Discrete, Source::ModeChange, text);
        clock.causality = Causality::Output;
        self.list.push(clock);
    }

    fn unused(&mut self, mut name: String) -> String {
        for shown in &self.list[self.names.1..] {
            self.names.0.insert(shown.name.clone());
        }
        self.names.1 = self.list.len();
        while self.names.0.contains(&name) {
            name = match name.split_once('.') {
                Some((first, rest)) if first.starts_with(ADDED) => format!("{first}_.{rest}"),
                _ => format!("{ADDED}.{name}"),
            };
        }
        name
    }

    fn describe(&mut self, equations: &Mdae, variable: &Variable, source: Source) -> Shown {
        let constant = |expr: Option<ExprId>| expr.and_then(|expr| constant(equations, expr));
        let finite = |value: &f64| value.is_finite();
        Shown {
            name: variable.name.to_string(),
            kind: self.kind(variable),
            causality: if variable.output {
                Causality::Output
            } else {
                Causality::Local
            },
            variability: variability(variable),
            start: None,
            is_guess: false,
            source,
            unit: variable.unit.clone(),
            display_unit: variable.display_unit.clone(),
            description: variable.description.clone(),
            min: constant(variable.min).filter(finite),
            max: constant(variable.max).filter(finite),
            nominal: constant(variable.nominal)
                .map(f64::abs)
                .filter(|&n| n.is_finite() && n > 0.0),
            derivative_of: None,
            is_slot: false,
        }
    }

    fn kind(&mut self, variable: &Variable) -> Kind {
        if let Some(literals) = &variable.literals {
            let known = self.enumerations.iter().position(|known| known == literals);
            return Kind::Enumeration(known.unwrap_or_else(|| {
                self.enumerations.push(literals.clone());
                self.enumerations.len() - 1
            }));
        }
        match variable.ty {
            _ if variable.text => Kind::Text,
            Type::Real => Kind::Float,
            Type::Integer => Kind::Integer,
            Type::Boolean => Kind::Boolean,
        }
    }
}

fn variability(variable: &Variable) -> Variability {
    match (variable.role, variable.ty) {
        (Role::Parameter, _) => Variability::Fixed,
        (Role::Continuous | Role::Input, Type::Real) => Variability::Continuous,
        _ => Variability::Discrete,
    }
}

/// The number that an expression is, or the negative of one.
fn constant(equations: &Mdae, expr: ExprId) -> Option<f64> {
    let pool = &equations.pool;
    match pool.node(expr) {
        saltus_mdae::Node::Unary(saltus_mdae::UnaryFunction::Neg, inner) => pool.constant(inner).map(|value| -value),
        _ => pool.constant(expr),
    }
}

fn time() -> Shown {
    Shown {
        name: "time".to_owned(),
        kind: Kind::Float,
        causality: Causality::Independent,
        variability: Variability::Continuous,
        start: None,
        is_guess: false,
        source: Source::Time,
        unit: "".into(),
        display_unit: "".into(),
        description: "".into(),
        min: None,
        max: None,
        nominal: None,
        derivative_of: None,
        is_slot: false,
    }
}

/// Whether a name can be one of the standard: parts of letters, digits and underscores, or in quotes, with subscripts.
fn is_name(name: &str) -> bool {
    let (mut quoted, mut depth) = (false, 0);
    for c in name.chars() {
        match c {
            '\'' => quoted = !quoted,
            _ if quoted => {}
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' | '-' | '+' if depth > 0 => {}
            c if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') => {}
            _ => return false,
        }
    }
    !quoted && depth == 0
}

/// What a unit is told beside the model: one line each.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What is done where a model is not clear.
    pub redundant: Redundant,
    /// See `redundant`.
    pub chattering: Chattering,
    /// See `redundant`.
    pub zeno: Zeno,
    /// Whether arrays are shown as such.
    pub arrays: bool,
    /// The slots, in order.
    pub slots: Vec<Derivative>,
    /// The names of variables that may have an impulse.
    pub impulses: Vec<String>,
}

impl Settings {
    /// As text.
    pub fn write(&self, model: &Model) -> String {
        let mut text = String::new();
        if self.redundant == Redundant::Refuse {
            text.push_str("redundant refuse\n");
        }
        if self.chattering == Chattering::Slide {
            text.push_str("chattering slide\n");
        }
        if self.zeno == Zeno::Rest {
            text.push_str("zeno rest\n");
        }
        if self.arrays {
            text.push_str("arrays whole\n");
        }
        for slot in &self.slots {
            let name = &model.equations().variables[slot.var].name;
            text.push_str(&format!("state {} {name}\n", slot.order));
        }
        for name in &self.impulses {
            text.push_str(&format!("impulse {name}\n"));
        }
        text
    }

    /// From text; nothing if it is none for this model.
    pub fn read(model: &Model, text: &str) -> Option<Settings> {
        let variables = &model.equations().variables;
        let mut names: BTreeMap<&str, VarId> = BTreeMap::new();
        for (var, variable) in variables.iter_enumerated() {
            names.insert(&variable.name, var);
        }
        let mut settings = Settings::default();
        for line in text.lines() {
            match line.split_once(' ')? {
                ("redundant", "refuse") => settings.redundant = Redundant::Refuse,
                ("chattering", "slide") => settings.chattering = Chattering::Slide,
                ("zeno", "rest") => settings.zeno = Zeno::Rest,
                ("arrays", "whole") => settings.arrays = true,
                ("impulse", name) => settings.impulses.push(name.to_owned()),
                ("state", slot) => {
                    let (order, name) = slot.split_once(' ')?;
                    let var = *names.get(name)?;
                    let unknown = variables[var].role == Role::Continuous;
                    let order = order
                        .parse()
                        .ok()
                        .filter(|&order: &u16| order < MOST_ORDERS && unknown)?;
                    settings.slots.push(Derivative::new(var, order));
                }
                _ => return None,
            }
        }
        settings.slots.sort_unstable();
        settings.slots.dedup();
        Some(settings)
    }
}
