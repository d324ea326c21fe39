//! Connections: sets by union-find, equality of potentials, sums of flows.

use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_source::Span;
use saltus_syntax::ast::{self, Call, Causality, ComponentReference, ConnectorPrefix, Equation, ExprKind};

use crate::codes;
use crate::expr::{Context, Item, Mode, Resolved, Selection, add};
use crate::failure::{Fallible, error, fail};
use crate::flat::{BinaryOp, EquationKind, FlatEquation, FlatExpr, ProvenanceKind, UnaryOp, Variability, VariableId};
use crate::flattener::Flattener;
use crate::ids::{ComponentId, InstanceId};
use crate::instance::{Component, ComponentKind, Slot};
use crate::tensor::{Tensor, binary, fold_in_groups, unary, volume};

/// A side of a variable: seen from the component it belongs to (outside connector) or from the
/// model around that component (inside connector). Only flows tell the sides apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Side {
    variable: VariableId,
    outside: bool,
}

/// All connections of a model.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    sides: Vec<Side>,
    numbers: FxHashMap<Side, u32>,
    parents: Vec<u32>,
    /// Whether the variable is a flow, per side.
    flows: Vec<bool>,
    /// The first connection that names the side.
    places: Vec<(Span, Arc<str>)>,
    /// Signals with a direction: whether connections name them from within their component, and
    /// from around it.
    directed: FxHashMap<VariableId, Directed>,
}

/// How a signal is used by connections.
#[derive(Clone, Copy, Debug)]
struct Directed {
    input: bool,
    within: bool,
    around: bool,
}

impl Directed {
    /// An output that nothing drives from within, or an input that nothing drives from around.
    fn is_source(self) -> bool {
        if self.input {
            self.within && !self.around
        } else {
            self.around && !self.within
        }
    }
}

impl Connections {
    fn number(&mut self, side: Side, flow: bool, place: &(Span, Arc<str>)) -> u32 {
        if let Some(&known) = self.numbers.get(&side) {
            return known;
        }
        let number = self.sides.len() as u32;
        self.sides.push(side);
        self.parents.push(number);
        self.flows.push(flow);
        self.places.push(place.clone());
        self.numbers.insert(side, number);
        number
    }

    fn find(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let parent = self.parents[node as usize];
            self.parents[node as usize] = self.parents[parent as usize];
            node = self.parents[node as usize];
        }
        node
    }

    /// The smaller number stays the representative, so that sets keep the order of the text.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        if a < b {
            self.parents[b as usize] = a;
        } else {
            self.parents[a as usize] = b;
        }
    }

    /// The sets in order, each with its members in order.
    fn sets(&mut self) -> Vec<Vec<u32>> {
        let mut position: FxHashMap<u32, usize> = FxHashMap::default();
        let mut sets: Vec<Vec<u32>> = Vec::new();
        for node in 0..self.sides.len() as u32 {
            let root = self.find(node);
            let index = *position.entry(root).or_insert_with(|| {
                sets.push(Vec::new());
                sets.len() - 1
            });
            sets[index].push(node);
        }
        sets
    }
}

impl Flattener<'_> {
    /// `connect(left, right)`
    pub(super) fn connect(
        &mut self,
        left: &ComponentReference,
        right: &ComponentReference,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        if self.is_removed(left, right, ctx) {
            return Ok(());
        }
        let (Some(a), Some(b)) = (self.connector(left, ctx)?, self.connector(right, ctx)?) else {
            return Ok(());
        };
        if a.dims != b.dims {
            return fail(
                codes::E0401,
                span,
                format!("the connectors differ in size: {:?} and {:?}", a.dims, b.dims),
            );
        }
        let sides = (self.is_outside(&a, ctx), self.is_outside(&b, ctx));
        let path = match ctx.scope.instance {
            Some(instance) => Arc::clone(&self.instances[instance].path),
            None => "".into(),
        };
        let place = (span, path);
        for (x, y) in a.items.iter().zip(&b.items) {
            self.connect_items(*x, *y, sides, &place)?;
        }
        Ok(())
    }

    /// Whether `extends Base(break connect(a, b))` takes a connection away.
    fn is_removed(&self, left: &ComponentReference, right: &ComponentReference, ctx: &Context<'_>) -> bool {
        let removed = &self.classes[ctx.scope.class].mods.removed_connections;
        let same = |a: &ComponentReference, b: &ComponentReference| names(a) == names(b);
        removed
            .iter()
            .any(|(a, b)| same(a, left) && same(b, right) || same(a, right) && same(b, left))
    }

    /// What a side of a connection selects; `None` if it is a conditional component that is absent.
    fn connector(&mut self, reference: &ComponentReference, ctx: &Context<'_>) -> Fallible<Option<Selection>> {
        let ctx = Context {
            mode: Mode::Flat,
            ..*ctx
        };
        let selection = match self.resolve(reference, &ctx)? {
            Resolved::Absent => return Ok(None),
            Resolved::Selection(selection) => selection,
            _ => return fail(codes::E0402, reference.span, "this is not a connector"),
        };
        if !selection.dynamic.is_empty() {
            return fail(
                codes::E0304,
                reference.span,
                "the index of a connector must be known before the simulation",
            );
        }
        if reference.parts.len() > 2 && !self.reaches_a_connector(reference, &ctx) {
            return Err(error(
                codes::E0402,
                reference.span,
                "only connectors of this model and of its components can be connected",
            )
            .with_help("give the component in between a connector of its own, and connect that")
            .into());
        }
        let is_connector = match selection.last {
            Some(component) => self.components[component].inherited.connector,
            None => false,
        };
        if !is_connector {
            let class = selection.last.map(|c| self.components[c].class);
            let name = class.map_or("this".to_owned(), |c| format!("`{}`", self.classes[c].name));
            return Err(error(codes::E0402, reference.span, "this is not a connector")
                .with_note(format!("its type {name} is not declared as `connector`"))
                .into());
        }
        Ok(Some(selection))
    }

    /// Whether the first or the second name of a reference is a connector.
    fn reaches_a_connector(&mut self, reference: &ComponentReference, ctx: &Context<'_>) -> bool {
        (1..=2).any(|count| {
            let prefix = ComponentReference {
                parts: reference.parts[..count].to_vec(),
                ..reference.clone()
            };
            match self.resolve(&prefix, ctx) {
                Ok(Resolved::Selection(selection)) => selection
                    .last
                    .is_some_and(|component| self.components[component].inherited.connector),
                // What is wrong with it is said elsewhere.
                _ => true,
            }
        })
    }

    /// A connector of the component itself, as opposed to one of a component inside it.
    fn is_outside(&self, selection: &Selection, ctx: &Context<'_>) -> bool {
        let Some((first, _)) = selection.first else {
            return false;
        };
        let component = &self.components[first];
        Some(component.parent) == ctx.scope.instance && component.inherited.connector
    }

    fn connect_items(&mut self, a: Item, b: Item, sides: (bool, bool), place: &(Span, Arc<str>)) -> Fallible<()> {
        match (a, b) {
            (Item::Scalar(x, i), Item::Scalar(y, j)) => self.connect_scalars((x, i), (y, j), sides, place),
            (Item::Instance(x), Item::Instance(y)) => self.connect_instances(x, y, sides, place),
            _ => fail(codes::E0401, place.0, "the connectors do not have the same elements"),
        }
    }

    fn connect_instances(
        &mut self,
        a: InstanceId,
        b: InstanceId,
        sides: (bool, bool),
        place: &(Span, Arc<str>),
    ) -> Fallible<()> {
        let (table, other) = (Rc::clone(&self.instances[a].table), Rc::clone(&self.instances[b].table));
        if table.is_expandable && other.is_expandable {
            return self.connect_buses(a, b, sides, place);
        }
        for (index, entry) in table.entries.iter().enumerate() {
            if entry.component().is_none() {
                continue;
            }
            let found = other.find(&entry.name).filter(|(_, e)| e.component().is_some());
            let Some((other_index, _)) = found else {
                return self.mismatch(a, b, &entry.name, place);
            };
            let x = self.component(a, index as u32)?;
            let y = self.component(b, other_index)?;
            let (Some(x), Some(y)) = (x, y) else {
                if x.is_some() != y.is_some() {
                    return self.mismatch(a, b, &entry.name, place);
                }
                continue;
            };
            self.connect_components(x, y, sides, place)?;
        }
        for entry in &other.entries {
            if entry.component().is_some() && table.find(&entry.name).is_none() {
                return self.mismatch(b, a, &entry.name, place);
            }
        }
        Ok(())
    }

    /// Buses have the same elements by now, those that exist.
    fn connect_buses(
        &mut self,
        a: InstanceId,
        b: InstanceId,
        sides: (bool, bool),
        place: &(Span, Arc<str>),
    ) -> Fallible<()> {
        let other = Rc::clone(&self.instances[b].table);
        for slot in self.instances[a].slots.clone() {
            let Slot::Ready(x) = slot else { continue };
            let found = other.find(&self.components[x].name).map(|(index, _)| index);
            if let Some(index) = found
                && let Slot::Ready(y) = self.instances[b].slots[index as usize]
            {
                self.connect_components(x, y, sides, place)?;
            }
        }
        Ok(())
    }

    fn mismatch<T>(&self, a: InstanceId, b: InstanceId, name: &str, place: &(Span, Arc<str>)) -> Fallible<T> {
        let class = |i: InstanceId| &self.classes[self.instances[i].class].name;
        Err(error(
            codes::E0401,
            place.0,
            format!("`{}` has an element `{name}`, but `{}` has none", class(a), class(b)),
        )
        .with_help("connectors must have the same elements to be connected")
        .into())
    }

    fn connect_components(
        &mut self,
        x: ComponentId,
        y: ComponentId,
        sides: (bool, bool),
        place: &(Span, Arc<str>),
    ) -> Fallible<()> {
        if self.components[x].dims != self.components[y].dims {
            return fail(
                codes::E0401,
                place.0,
                format!("`{}` differs in size in the two connectors", self.components[x].name),
            );
        }
        let count = volume(&self.components[x].dims).unwrap_or(0) as u32;
        if count > 0 && self.is_overconstrained(x) {
            let edge = (self.item_of(x, 0), self.item_of(y, 0));
            if self.overconstrained_edge((x, y), edge, place.0, &place.1)? {
                return Ok(());
            }
        }
        for offset in 0..count {
            let (a, b) = (self.item_of(x, offset), self.item_of(y, offset));
            self.connect_items(a, b, sides, place)?;
        }
        Ok(())
    }

    pub(super) fn item_of(&self, component: ComponentId, offset: u32) -> Item {
        match &self.components[component].kind {
            ComponentKind::Complex { elements } => Item::Instance(elements[offset as usize]),
            _ => Item::Scalar(component, offset),
        }
    }

    fn connect_scalars(
        &mut self,
        x: (ComponentId, u32),
        y: (ComponentId, u32),
        sides: (bool, bool),
        place: &(Span, Arc<str>),
    ) -> Fallible<()> {
        let (a, b) = (&self.components[x.0], &self.components[y.0]);
        let flow = |prefix: Option<ConnectorPrefix>| prefix == Some(ConnectorPrefix::Flow);
        if flow(a.flow) != flow(b.flow) {
            return fail(
                codes::E0401,
                place.0,
                format!("`{}` is a flow in one connector only", a.name),
            );
        }
        let (
            ComponentKind::Primitive {
                ty: s,
                first: Some(first),
            },
            ComponentKind::Primitive {
                ty: t,
                first: Some(other),
            },
        ) = (&a.kind, &b.kind)
        else {
            return Ok(());
        };
        if s != t {
            return fail(
                codes::E0401,
                place.0,
                format!("`{}` and `{}` differ in type", a.path, b.path),
            );
        }
        self.check_direction(x.0, y.0, sides, place)?;
        let (a, b) = (&self.components[x.0], &self.components[y.0]);
        let is_flow = flow(a.flow);
        if a.flow == Some(ConnectorPrefix::Stream) {
            if !self.graph.collecting {
                let ends = ((a.parent, sides.0), (b.parent, sides.1));
                self.streams.join(ends.0, ends.1, place.0);
            }
            return Ok(());
        }
        if a.variability <= Variability::Parameter || b.variability <= Variability::Parameter {
            return self.check_equal_values(x, y, place.0);
        }
        let side = |first: VariableId, offset: u32, outside: bool| Side {
            variable: VariableId(first.0 + offset),
            outside: outside && is_flow,
        };
        if self.graph.collecting {
            return Ok(());
        }
        let (p, q) = (side(*first, x.1, sides.0), side(*other, y.1, sides.1));
        if p == q {
            return Ok(());
        }
        for (component, variable, outside) in [(x.0, p.variable, sides.0), (y.0, q.variable, sides.1)] {
            self.note_direction(component, variable, outside);
        }
        let p = self.connections.number(p, is_flow, place);
        let q = self.connections.number(q, is_flow, place);
        self.connections.join(p, q);
        Ok(())
    }

    fn note_direction(&mut self, component: ComponentId, variable: VariableId, outside: bool) {
        let data = &self.components[component];
        let Some(causality) = data.causality else {
            return;
        };
        if data.inherited.protected || self.instances[data.parent].table.is_expandable {
            return;
        }
        let directed = self.connections.directed.entry(variable).or_insert(Directed {
            input: causality == Causality::Input,
            within: false,
            around: false,
        });
        directed.within |= outside;
        directed.around |= !outside;
    }

    /// A set of connected signals has one source at most.
    fn check_sources(&mut self, set: &[u32], span: Span) -> Fallible<()> {
        let sources = set.iter().map(|&node| self.connections.sides[node as usize].variable);
        let mut sources = sources.filter(|variable| {
            let directed = self.connections.directed.get(variable);
            directed.is_some_and(|directed| directed.is_source())
        });
        let (Some(first), Some(second)) = (sources.next(), sources.next()) else {
            return self.check_bus_source(set, span);
        };
        let name = |variable: VariableId| &self.model.variables[variable].name;
        Err(error(
            codes::E0404,
            span,
            format!("`{}` and `{}` are both sources of a signal", name(first), name(second)),
        )
        .with_help("connect an output with an input")
        .into())
    }

    /// What goes through a bus comes from somewhere: not all that is connected with an element of it are inputs (9.1.3).
    fn check_bus_source(&self, set: &[u32], span: Span) -> Fallible<()> {
        let mut of_bus = None;
        for &node in set {
            let variable = self.connections.sides[node as usize].variable;
            let data = &self.components[self.owners[variable.0 as usize]];
            if self.instances[data.parent].table.is_expandable {
                // The bus of the model itself may be given values from outside.
                if data.inherited.outside {
                    return Ok(());
                }
                of_bus = of_bus.or(Some(variable));
                continue;
            }
            let directed = self.connections.directed.get(&variable);
            if directed.is_none_or(|directed| !directed.input || directed.is_source()) {
                return Ok(());
            }
        }
        let Some(element) = of_bus else {
            return Ok(());
        };
        Err(error(
            codes::E0404,
            span,
            format!(
                "nothing gives `{}` a value: only inputs are connected with it",
                self.model.variables[element].name
            ),
        )
        .with_help("connect an output with this element of the expandable connector")
        .into())
    }

    /// Two sources of one signal cannot be connected.
    fn check_direction(
        &self,
        x: ComponentId,
        y: ComponentId,
        sides: (bool, bool),
        place: &(Span, Arc<str>),
    ) -> Fallible<()> {
        let (a, b) = (&self.components[x], &self.components[y]);
        let of_bus = |c: &Component| self.instances[c.parent].table.is_expandable;
        if a.causality.is_some() != b.causality.is_some() && !of_bus(a) && !of_bus(b) {
            let (directed, other) = if a.causality.is_some() { (a, b) } else { (b, a) };
            return Err(error(
                codes::E0404,
                place.0,
                format!(
                    "`{}` is an input or output, but `{}` is neither",
                    directed.path, other.path
                ),
            )
            .with_help("signals with a direction can be connected with such signals only")
            .into());
        }
        // Seen from here, an input of the model around is a source, one of a component a sink.
        let is_source = |c: &Component, outside: bool| match c.causality {
            _ if c.inherited.protected || self.instances[c.parent].table.is_expandable => false,
            Some(Causality::Output) => !outside,
            Some(Causality::Input) => outside,
            None => false,
        };
        if is_source(a, sides.0) && is_source(b, sides.1) {
            return Err(error(
                codes::E0404,
                place.0,
                format!("`{}` and `{}` are both sources of a signal", a.path, b.path),
            )
            .with_help("connect an output with an input")
            .into());
        }
        Ok(())
    }

    /// The equations of all connection sets and of flows that are not connected.
    pub(super) fn connection_equations(&mut self) {
        for set in self.connections.sets() {
            let (span, path) = self.connections.places[set[0] as usize].clone();
            let provenance = self.add_provenance(span, &path, ProvenanceKind::Connection);
            if self.connections.flows[set[0] as usize] {
                let kind = self.flow_sum(&set, span);
                self.model.equations.push(FlatEquation { kind, provenance });
                continue;
            }
            let result = self.check_sources(&set, span);
            self.accept(result);
            let first = self.connections.sides[set[0] as usize].variable;
            for &other in &set[1..] {
                let other = self.connections.sides[other as usize].variable;
                if other == first {
                    continue;
                }
                let kind = EquationKind::Equal(FlatExpr::Variable(other), FlatExpr::Variable(first));
                self.model.equations.push(FlatEquation { kind, provenance });
            }
        }
        self.unconnected_flows();
    }

    fn flow_sum(&self, set: &[u32], span: Span) -> EquationKind {
        let terms = set.iter().map(|&node| {
            let side = self.connections.sides[node as usize];
            let flow = FlatExpr::Variable(side.variable);
            if side.outside {
                unary(UnaryOp::Negate, flow)
            } else {
                flow
            }
        });
        let sum = fold_in_groups(terms.collect(), &mut |a, b| {
            Ok::<_, Infallible>(match b {
                FlatExpr::Unary(UnaryOp::Negate, b) => binary(BinaryOp::Subtract, a, *b, span),
                b => add(a, b, span),
            })
        });
        let sum = sum.ok().flatten();
        EquationKind::Equal(sum.unwrap_or(FlatExpr::Real(0.0)), FlatExpr::Real(0.0))
    }

    fn unconnected_flows(&mut self) {
        let mut lone: Vec<(VariableId, Span, Arc<str>)> = Vec::new();
        for component in self.components.iter() {
            let ComponentKind::Primitive { first: Some(first), .. } = component.kind else {
                continue;
            };
            if component.flow != Some(ConnectorPrefix::Flow)
                || !component.inherited.connector
                || component.variability <= Variability::Parameter
            {
                continue;
            }
            let count = volume(&component.dims).unwrap_or(0) as u32;
            for offset in 0..count {
                let variable = VariableId(first.0 + offset);
                let side = Side {
                    variable,
                    outside: false,
                };
                if !self.connections.numbers.contains_key(&side) {
                    let path = Arc::clone(&self.instances[component.parent].path);
                    lone.push((variable, component.span, path));
                }
            }
        }
        for (variable, span, path) in lone {
            let provenance = self.add_provenance(span, &path, ProvenanceKind::UnconnectedFlow);
            let kind = EquationKind::Equal(FlatExpr::Variable(variable), FlatExpr::Real(0.0));
            self.model.equations.push(FlatEquation { kind, provenance });
        }
    }

    /// `cardinality(c)`: how many connections name the connector.
    pub(crate) fn cardinality(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let [argument] = call.positional() else {
            return fail(codes::E0212, span, "`cardinality` takes one argument");
        };
        let ExprKind::Reference(reference) = &argument.kind else {
            return fail(codes::E0402, argument.span, "this is not a connector");
        };
        let flat = Context {
            mode: Mode::Flat,
            ..*ctx
        };
        let Resolved::Selection(selection) = self.resolve(reference, &flat)? else {
            return Ok(Tensor::integer(0));
        };
        let is_connector = selection.last.is_some_and(|c| self.components[c].inherited.connector);
        if !is_connector {
            return fail(codes::E0402, argument.span, "this is not a connector");
        }
        let [item] = selection.items[..] else {
            return fail(codes::E0302, span, "`cardinality` needs a single connector");
        };
        if self.cardinalities.is_none() {
            if self.model_instances.is_empty() {
                return fail(
                    codes::E0214,
                    span,
                    "`cardinality` cannot decide which components there are",
                );
            }
            // Conditions that ask for cardinalities themselves find none.
            self.cardinalities = Some(FxHashMap::default());
            for instance in self.model_instances.clone() {
                self.visit_structure(instance, &mut |this, equation, ctx| {
                    this.count_connection(equation, ctx);
                });
            }
        }
        let counts = self.cardinalities.as_ref();
        let count = counts.and_then(|c| c.get(&item)).copied().unwrap_or(0);
        Ok(Tensor::integer(i64::from(count)))
    }

    fn count_connection(&mut self, equation: &Equation, ctx: &Context<'_>) {
        let ast::EquationKind::Connect { left, right } = &equation.kind else {
            return;
        };
        // A connection with an absent component is none.
        let sides = (self.connector(left, ctx), self.connector(right, ctx));
        if let (Ok(Some(a)), Ok(Some(b))) = sides
            && let Some(counts) = &mut self.cardinalities
        {
            for item in a.items.into_iter().chain(b.items) {
                *counts.entry(item).or_default() += 1;
            }
        }
    }
}

fn names(reference: &ComponentReference) -> Vec<String> {
    reference
        .parts
        .iter()
        .map(|part| format!("{}[{}]", part.name, part.subscripts.len()))
        .collect()
}
