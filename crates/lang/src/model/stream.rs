//! Stream connectors (Language Specification 3.6, chapter 15): `inStream` becomes the mixture of
//! what flows in from the connected components, once all connections are known.

use rustc_hash::FxHashMap;
use saltus_source::Span;
use saltus_syntax::ast::{Call, ConnectorPrefix, ExprKind};

use crate::codes;
use crate::expr::{Context, Item, Mode, Resolved, add};
use crate::failure::{Fallible, fail};
use crate::flat::{
    BinaryOp, Builtin, EquationKind, FlatEquation, FlatExpr, FlatStatement, ProvenanceKind, StatementKind, UnaryOp,
    VariableId,
};
use crate::flattener::Flattener;
use crate::ids::{ComponentId, InstanceId};
use crate::instance::{ComponentKind, Slot};
use crate::tensor::{Tensor, binary, unary, volume};

/// Flows below this count as zero in mixtures, so that nothing is divided by zero (15.2: a small
/// positive number; small against every flow of practical use, large against rounding).
const SMALL_FLOW: f64 = 1e-10;

/// Mixtures refer to those of outer components; this many levels at most.
const DEPTH_LIMIT: u32 = 200;

/// A connector, seen from outside of its component or from inside.
type End = (InstanceId, bool);

/// Connections of connectors with streams.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    ends: Vec<End>,
    numbers: FxHashMap<End, usize>,
    parents: Vec<usize>,
    spans: Vec<Span>,
    sets: FxHashMap<usize, Vec<End>>,
    /// Whether `inStream` was used.
    used: bool,
}

impl Streams {
    fn number(&mut self, end: End, span: Span) -> usize {
        if let Some(&known) = self.numbers.get(&end) {
            return known;
        }
        let number = self.ends.len();
        self.ends.push(end);
        self.parents.push(number);
        self.spans.push(span);
        self.numbers.insert(end, number);
        number
    }

    fn find(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }

    pub(crate) fn join(&mut self, a: End, b: End, span: Span) {
        let (a, b) = (self.number(a, span), self.number(b, span));
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b)] = a.min(b);
    }

    fn collect_sets(&mut self) {
        for node in 0..self.ends.len() {
            let root = self.find(node);
            self.sets.entry(root).or_default().push(self.ends[node]);
        }
    }

    /// The ends connected with this one, itself included.
    fn set_of(&mut self, end: End) -> Vec<End> {
        match self.numbers.get(&end).copied() {
            Some(number) => {
                let root = self.find(number);
                self.sets.get(&root).cloned().unwrap_or_default()
            }
            None => vec![end],
        }
    }
}

impl Flattener<'_> {
    /// `inStream(h)` and `actualStream(h)`.
    pub(crate) fn stream_operator(
        &mut self,
        name: &str,
        call: &Call,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let [argument] = call.positional() else {
            return fail(codes::E0212, span, format!("`{name}` takes one argument"));
        };
        let ExprKind::Reference(reference) = &argument.kind else {
            return fail(
                codes::E0402,
                argument.span,
                "a stream variable of a connector is needed",
            );
        };
        if ctx.mode == Mode::Evaluate {
            return fail(codes::E0304, span, format!("`{name}` varies with time"));
        }
        let Resolved::Selection(selection) = self.resolve(reference, ctx)? else {
            return fail(
                codes::E0402,
                argument.span,
                "a stream variable of a connector is needed",
            );
        };
        self.streams.used = true;
        let items = selection.items.clone();
        let value = self.selection_value(selection, span, Mode::Flat)?;
        let mut flows = Vec::with_capacity(items.len());
        for item in items {
            let Item::Scalar(component, _) = item else {
                return fail(
                    codes::E0402,
                    argument.span,
                    "a stream variable of a connector is needed",
                );
            };
            if self.components[component].flow != Some(ConnectorPrefix::Stream) {
                return fail(
                    codes::E0402,
                    argument.span,
                    "this is not a stream variable of a connector",
                );
            }
            flows.push(self.flow_of(self.components[component].parent));
        }
        let mut flows = flows.into_iter();
        let ty = value.ty;
        Ok(value.map(ty, |variable| {
            let inside = FlatExpr::Builtin(Builtin::InStream, Box::new([variable.clone()]), span);
            match (name, flows.next().flatten()) {
                ("actualStream", Some(flow)) => {
                    let inward = binary(BinaryOp::Greater, FlatExpr::Variable(flow), FlatExpr::Real(0.0), span);
                    FlatExpr::If(Box::new([inward, inside, variable]), span)
                }
                _ => inside,
            }
        }))
    }

    /// The flow variable of a connector.
    fn flow_of(&self, connector: InstanceId) -> Option<VariableId> {
        self.instances[connector].slots.iter().find_map(|slot| {
            let Slot::Ready(component) = slot else {
                return None;
            };
            let data = &self.components[*component];
            match data.kind {
                ComponentKind::Primitive { first, .. } if data.flow == Some(ConnectorPrefix::Flow) => first,
                _ => None,
            }
        })
    }

    /// Puts mixtures in place of `inStream`, and determines the streams of outside connectors.
    pub(super) fn stream_equations(&mut self) {
        self.streams.collect_sets();
        let mut outside: Vec<(InstanceId, Span)> = Vec::new();
        for (number, (instance, is_outside)) in self.streams.ends.iter().enumerate() {
            if *is_outside {
                outside.push((*instance, self.streams.spans[number]));
            }
        }
        for (connector, span) in outside {
            let path = self.instances[connector].path.clone();
            for (component, first, count) in self.stream_components(connector) {
                let provenance = self.add_provenance(span, &path, ProvenanceKind::Connection);
                for offset in 0..count {
                    let value = self.mixture((connector, true), component, offset, span, 0);
                    let variable = FlatExpr::Variable(VariableId(first.0 + offset));
                    let kind = EquationKind::Equal(variable, value);
                    self.model.equations.push(FlatEquation { kind, provenance });
                }
            }
        }
        if self.streams.used {
            self.replace_in_streams();
        }
    }

    fn stream_components(&self, connector: InstanceId) -> Vec<(ComponentId, VariableId, u32)> {
        let slots = self.instances[connector].slots.iter();
        slots
            .filter_map(|slot| {
                let Slot::Ready(component) = slot else {
                    return None;
                };
                let data = &self.components[*component];
                match data.kind {
                    ComponentKind::Primitive { first: Some(first), .. }
                        if data.flow == Some(ConnectorPrefix::Stream) =>
                    {
                        Some((*component, first, volume(&data.dims).unwrap_or(0) as u32))
                    }
                    _ => None,
                }
            })
            .collect()
    }

    /// The variable of another connector that corresponds to a stream variable.
    fn counterpart(&self, connector: InstanceId, component: ComponentId, offset: u32) -> Option<VariableId> {
        let name = &self.components[component].name;
        let table = &self.instances[connector].table;
        let (index, _) = table.find(name)?;
        let Slot::Ready(other) = self.instances[connector].slots[index as usize] else {
            return None;
        };
        match self.components[other].kind {
            ComponentKind::Primitive { first: Some(first), .. } => Some(VariableId(first.0 + offset)),
            _ => None,
        }
    }

    /// What flows towards an end of a connection: the streams of the others, weighted by their flows
    /// (15.2 of the specification).
    fn mixture(&mut self, end: End, component: ComponentId, offset: u32, span: Span, depth: u32) -> FlatExpr {
        let mut terms: Vec<(Option<FlatExpr>, FlatExpr)> = Vec::new();
        for other in self.streams.set_of(end) {
            if other == end {
                continue;
            }
            let Some(variable) = self.counterpart(other.0, component, offset) else {
                continue;
            };
            let flow = self.flow_of(other.0).map(FlatExpr::Variable);
            // Out of an inside connector flows a negative flow, into an outside one a positive.
            if other.1 {
                terms.push((flow, self.inflow(variable, span, depth + 1)));
            } else {
                let weight = flow.map(|flow| unary(UnaryOp::Negate, flow));
                terms.push((weight, FlatExpr::Variable(variable)));
            }
        }
        if terms.len() <= 1 {
            let own = self.counterpart(end.0, component, offset);
            return match (terms.pop(), own) {
                (Some((_, value)), _) => value,
                (None, Some(own)) => FlatExpr::Variable(own),
                (None, None) => FlatExpr::Real(0.0),
            };
        }
        let weighted: Vec<(FlatExpr, FlatExpr)> = terms
            .into_iter()
            .map(|(weight, value)| {
                let weight = weight.unwrap_or(FlatExpr::Real(1.0));
                let bounded = Box::new([weight, FlatExpr::Real(SMALL_FLOW)]);
                (FlatExpr::Builtin(Builtin::Max, bounded, span), value)
            })
            .collect();
        let sum = |items: Vec<FlatExpr>| {
            items
                .into_iter()
                .reduce(|a, b| add(a, b, span))
                .unwrap_or(FlatExpr::Real(0.0))
        };
        let products = weighted
            .iter()
            .map(|(w, v)| binary(BinaryOp::Multiply, w.clone(), v.clone(), span))
            .collect();
        let weights = weighted.into_iter().map(|(w, _)| w).collect();
        let quotient = binary(BinaryOp::Divide, sum(products), sum(weights), span);
        FlatExpr::Builtin(Builtin::NoEvent, Box::new([quotient]), span)
    }

    /// `inStream` of a variable.
    fn inflow(&mut self, variable: VariableId, span: Span, depth: u32) -> FlatExpr {
        let component = self.owners[variable.0 as usize];
        let ComponentKind::Primitive { first: Some(first), .. } = self.components[component].kind else {
            return FlatExpr::Variable(variable);
        };
        if depth > DEPTH_LIMIT {
            return FlatExpr::Variable(variable);
        }
        let connector = self.components[component].parent;
        self.mixture((connector, false), component, variable.0 - first.0, span, depth)
    }

    fn replace_in_streams(&mut self) {
        let mut model = std::mem::take(&mut self.model);
        let mut replace = |expr: &mut FlatExpr| {
            if let FlatExpr::Builtin(Builtin::InStream, arguments, span) = expr
                && let [FlatExpr::Variable(variable)] = arguments[..]
            {
                *expr = self.inflow(variable, *span, 0);
            }
        };
        replace_in_equations(&mut model.equations, &mut replace);
        replace_in_equations(&mut model.initial_equations, &mut replace);
        for algorithm in model.algorithms.iter_mut().chain(&mut model.initial_algorithms) {
            replace_in_statements(&mut algorithm.statements, &mut replace);
        }
        self.model = model;
    }
}

fn replace_in_equations(equations: &mut [FlatEquation], replace: &mut dyn FnMut(&mut FlatExpr)) {
    for equation in equations {
        match &mut equation.kind {
            EquationKind::Equal(a, b) => {
                a.transform(replace);
                b.transform(replace);
            }
            EquationKind::If { branches, otherwise } => {
                for branch in branches {
                    branch.condition.transform(replace);
                    replace_in_equations(&mut branch.body, replace);
                }
                replace_in_equations(otherwise, replace);
            }
            EquationKind::When { branches } => {
                for branch in branches {
                    branch.conditions.iter_mut().for_each(|c| c.transform(replace));
                    replace_in_equations(&mut branch.body, replace);
                }
            }
            EquationKind::Assert { condition, message, .. } => {
                condition.transform(replace);
                message.transform(replace);
            }
            EquationKind::Reinit(_, value) | EquationKind::Terminate(value) | EquationKind::NoReturnCall(value) => {
                value.transform(replace);
            }
        }
    }
}

fn replace_in_statements(statements: &mut [FlatStatement], replace: &mut dyn FnMut(&mut FlatExpr)) {
    for statement in statements {
        match &mut statement.kind {
            StatementKind::Assign(list) => list.iter_mut().for_each(|(_, value)| value.transform(replace)),
            StatementKind::For {
                from, step, to, body, ..
            } => {
                [from, step, to].into_iter().for_each(|bound| bound.transform(replace));
                replace_in_statements(body, replace);
            }
            StatementKind::Terminate(value) | StatementKind::NoReturnCall(value) => value.transform(replace),
            StatementKind::If { branches, otherwise } => {
                for branch in branches {
                    branch.condition.transform(replace);
                    replace_in_statements(&mut branch.body, replace);
                }
                replace_in_statements(otherwise, replace);
            }
            StatementKind::While(condition, body) => {
                condition.transform(replace);
                replace_in_statements(body, replace);
            }
            StatementKind::When { branches } => {
                for (conditions, body) in branches {
                    conditions.iter_mut().for_each(|c| c.transform(replace));
                    replace_in_statements(body, replace);
                }
            }
            StatementKind::Assert { condition, message, .. } => {
                condition.transform(replace);
                message.transform(replace);
            }
            StatementKind::Break | StatementKind::Return => {}
        }
    }
}
