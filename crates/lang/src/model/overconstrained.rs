//! Overconstrained connections (Language Specification 3.6, 9.4): a spanning tree of the connection
//! graph tells which connections hold with all their equations and which only up to the residual of
//! `equalityConstraint`.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_source::Span;
use saltus_syntax::ast::{self, Call, Equation, ExprKind, Name};

use crate::class::Found;
use crate::codes;
use crate::expr::{Arguments, Context, Item, Mode, Resolved, Selection};
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{EquationKind, FlatEquation, FlatExpr, ProvenanceKind};
use crate::flattener::Flattener;
use crate::ids::ComponentId;
use crate::tensor::Tensor;

/// The connection graph and what follows from it.
#[derive(Debug, Default)]
pub(crate) struct ConnectionGraph {
    /// Whether the model has components that can be overconstrained.
    pub needed: bool,
    /// Whether edges are collected, before equations are translated.
    pub collecting: bool,
    branches: Vec<(Item, Item)>,
    roots: Vec<(Item, Span)>,
    potential_roots: Vec<(Item, i64)>,
    connections: Vec<(Item, Item)>,
    /// Nodes in the order they appear.
    nodes: Vec<Item>,
    known: FxHashSet<Item>,
    chosen_roots: FxHashSet<Item>,
    broken: FxHashSet<(Item, Item)>,
    distance: FxHashMap<Item, u32>,
}

impl ConnectionGraph {
    fn node(&mut self, item: Item) {
        if self.known.insert(item) {
            self.nodes.push(item);
        }
    }

    /// Chooses roots and the connections that are cut.
    fn solve(&mut self) -> Result<(), Span> {
        let position: FxHashMap<Item, usize> = self
            .nodes
            .iter()
            .enumerate()
            .map(|(position, item)| (*item, position))
            .collect();
        let mut sets = Sets {
            parents: (0..self.nodes.len()).collect(),
            rooted: vec![false; self.nodes.len()],
        };
        for (a, b) in &self.branches {
            sets.join(position[a], position[b]);
        }
        for (root, span) in &self.roots {
            let set = sets.find(position[root]);
            if std::mem::replace(&mut sets.rooted[set], true) {
                return Err(*span);
            }
            self.chosen_roots.insert(*root);
        }
        for edge in &self.connections {
            let (a, b) = (sets.find(position[&edge.0]), sets.find(position[&edge.1]));
            if a == b || sets.rooted[a] && sets.rooted[b] {
                self.broken.insert(*edge);
            } else {
                sets.join(a, b);
            }
        }
        let mut candidates = self.potential_roots.clone();
        candidates.sort_by_key(|(_, priority)| *priority);
        let nodes = candidates
            .iter()
            .map(|(item, _)| *item)
            .chain(self.nodes.iter().copied());
        for item in nodes {
            let set = sets.find(position[&item]);
            if !sets.rooted[set] {
                sets.rooted[set] = true;
                self.chosen_roots.insert(item);
            }
        }
        self.measure();
        Ok(())
    }

    /// Distances from the roots along the tree.
    fn measure(&mut self) {
        let mut neighbours: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let position: FxHashMap<Item, usize> = self
            .nodes
            .iter()
            .enumerate()
            .map(|(position, item)| (*item, position))
            .collect();
        let kept = self.connections.iter().filter(|edge| !self.broken.contains(edge));
        for (a, b) in self.branches.iter().chain(kept) {
            neighbours.entry(position[a]).or_default().push(position[b]);
            neighbours.entry(position[b]).or_default().push(position[a]);
        }
        let mut queue: VecDeque<usize> = VecDeque::new();
        for (at, item) in self.nodes.iter().enumerate() {
            if self.chosen_roots.contains(item) {
                self.distance.insert(*item, 0);
                queue.push_back(at);
            }
        }
        while let Some(at) = queue.pop_front() {
            let next = self.distance[&self.nodes[at]] + 1;
            for &other in neighbours.get(&at).into_iter().flatten() {
                if !self.distance.contains_key(&self.nodes[other]) {
                    self.distance.insert(self.nodes[other], next);
                    queue.push_back(other);
                }
            }
        }
    }

    /// Whether a node is nearer to the root than its partner of a branch.
    fn is_rooted(&self, item: Item) -> bool {
        let partner = self.branches.iter().find_map(|(a, b)| match item {
            i if i == *a => Some(*b),
            i if i == *b => Some(*a),
            _ => None,
        });
        let distance = |item: &Item| self.distance.get(item).copied().unwrap_or(u32::MAX);
        match partner {
            Some(partner) => distance(&item) < distance(&partner),
            None => self.chosen_roots.contains(&item),
        }
    }
}

struct Sets {
    parents: Vec<usize>,
    rooted: Vec<bool>,
}

impl Sets {
    fn find(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.parents[b.max(a)] = a.min(b);
            let rooted = self.rooted[a] || self.rooted[b];
            self.rooted[a.min(b)] = rooted;
        }
    }
}

impl Flattener<'_> {
    /// Collects the connection graph of the model and chooses its tree.
    pub(super) fn solve_connection_graph(&mut self) {
        if !self.graph.needed {
            return;
        }
        self.graph.collecting = true;
        for instance in self.model_instances.clone() {
            self.visit_structure(instance, &mut |this, equation, ctx| this.collect_edges(equation, ctx));
        }
        self.graph.collecting = false;
        if let Err(span) = self.graph.solve() {
            let message = "two roots are connected by branches";
            self.diagnostics
                .push(crate::failure::error(codes::E0401, span, message));
        }
    }

    fn collect_edges(&mut self, equation: &Equation, ctx: &Context<'_>) {
        match &equation.kind {
            ast::EquationKind::Connect { left, right } => {
                // Mistakes are reported when the connection is made.
                let _ = self.connect(left, right, equation.span, ctx);
            }
            ast::EquationKind::Call(expr) => {
                if let ExprKind::Call(call) = &expr.kind
                    && let Some(operation) = operation_of(call)
                {
                    let result = self.graph_statement(&operation, call, expr.span, ctx);
                    self.accept(result);
                }
            }
            _ => {}
        }
    }

    fn graph_statement(&mut self, operation: &str, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<()> {
        let mut items = Vec::new();
        for argument in call.positional().iter().take(if operation == "branch" { 2 } else { 1 }) {
            match self.graph_node(argument, ctx)? {
                Some(item) => items.push(item),
                None => return Ok(()),
            }
        }
        for item in &items {
            self.graph.node(*item);
        }
        match (operation, &items[..]) {
            ("branch", [a, b]) => self.graph.branches.push((*a, *b)),
            ("root", [a]) => self.graph.roots.push((*a, span)),
            ("potentialRoot", [a]) => {
                let priority = call.positional().get(1).or(call.named().first().map(|n| &n.value));
                let priority = match priority {
                    Some(expr) => self.evaluate(expr, ctx)?.as_integer().unwrap_or(0),
                    None => 0,
                };
                self.graph.potential_roots.push((*a, priority));
            }
            _ => {}
        }
        Ok(())
    }

    fn graph_node(&mut self, expr: &ast::Expr, ctx: &Context<'_>) -> Fallible<Option<Item>> {
        let ExprKind::Reference(reference) = &expr.kind else {
            return fail(
                codes::E0402,
                expr.span,
                "an overconstrained variable of a connector is needed",
            );
        };
        let flat = Context {
            mode: Mode::Flat,
            ..*ctx
        };
        match self.resolve(reference, &flat)? {
            Resolved::Selection(selection) => Ok(selection.items.first().copied()),
            _ => Ok(None),
        }
    }

    /// `Connections.…` in an equation: all said when the graph was collected.
    pub(super) fn is_graph_statement(call: &Call) -> bool {
        matches!(
            operation_of(call).as_deref(),
            Some("branch" | "root" | "potentialRoot" | "uniqueRoot")
        )
    }

    /// `Connections.isRoot(R)` and the like.
    pub(crate) fn graph_query(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        let operation = operation_of(call).unwrap_or_default();
        let Some(argument) = call.positional().first() else {
            return fail(codes::E0212, span, format!("`{operation}` needs an argument"));
        };
        if self.graph.collecting {
            return fail(codes::E0304, span, "the connection graph is not known yet");
        }
        let Some(item) = self.graph_node(argument, ctx)? else {
            return Ok(Tensor::boolean(false));
        };
        match operation.as_str() {
            "isRoot" => Ok(Tensor::boolean(self.graph.chosen_roots.contains(&item))),
            "rooted" => Ok(Tensor::boolean(self.graph.is_rooted(item))),
            _ => fail(
                codes::E0214,
                span,
                format!("`Connections.{operation}` is not supported yet"),
            ),
        }
    }

    /// Whether a component has more equations than unknowns when connected in loops.
    pub(crate) fn is_overconstrained(&mut self, component: ComponentId) -> bool {
        self.graph.needed
            && matches!(
                self.member(self.components[component].class, &Name::new("equalityConstraint")),
                Ok(Some(Found::Class(_)))
            )
    }

    /// How many equations replace the connection of such a component where a loop is cut.
    pub(crate) fn residual_count(&mut self, component: ComponentId) -> Fallible<usize> {
        let class = self.components[component].class;
        let Some(Found::Class(function)) = self.member(class, &Name::new("equalityConstraint"))? else {
            return Err(Failure::Reported);
        };
        let signature = self.signature(function)?;
        let Some(output) = signature.outputs.first() else {
            return Err(Failure::Reported);
        };
        let scope = crate::modification::Scope {
            class: function,
            instance: None,
        };
        let ctx = Context::new(scope, Mode::Evaluate);
        match self.local_dims(function, output, &ctx)? {
            (dims, false) => crate::tensor::volume(&dims).ok_or(Failure::Reported),
            _ => Err(Failure::Reported),
        }
    }

    /// Collects an edge, or says whether a connection is cut: then its residuals are equations.
    pub(super) fn overconstrained_edge(
        &mut self,
        components: (ComponentId, ComponentId),
        edge: (Item, Item),
        span: Span,
        path: &std::sync::Arc<str>,
    ) -> Fallible<bool> {
        if self.graph.collecting {
            self.graph.node(edge.0);
            self.graph.node(edge.1);
            self.graph.connections.push(edge);
            return Ok(true);
        }
        if !self.graph.broken.contains(&edge) {
            return Ok(false);
        }
        let class = self.components[components.0].class;
        let Some(Found::Class(function)) = self.member(class, &Name::new("equalityConstraint"))? else {
            return Ok(false);
        };
        let mut positional = Vec::new();
        for component in [components.0, components.1] {
            let dims = self.components[component].dims.clone();
            let count = crate::tensor::volume(&dims).unwrap_or(0) as u32;
            let items = (0..count).map(|offset| self.item_of(component, offset)).collect();
            let selection = Selection {
                dims,
                items,
                dynamic: Vec::new(),
                first: None,
                last: Some(component),
            };
            positional.push(self.selection_value(selection, span, Mode::Flat)?);
        }
        let scope = crate::modification::Scope { class, instance: None };
        let ctx = Context::new(scope, Mode::Flat);
        let arguments = Arguments {
            positional,
            named: Vec::new(),
        };
        let results = self.call_function(function, arguments, span, &ctx)?;
        let provenance = self.add_provenance(span, path, ProvenanceKind::Connection);
        for residual in results.iter().take(1).flat_map(Tensor::scalars) {
            let kind = EquationKind::Equal(FlatExpr::Real(0.0), residual);
            self.model.equations.push(FlatEquation { kind, provenance });
        }
        Ok(true)
    }
}

/// `branch` of `Connections.branch(…)`; also the old form `rooted(…)`.
pub(crate) fn operation_of(call: &Call) -> Option<String> {
    match call.function.parts.as_slice() {
        [package, operation] if package.name.name == "Connections" => Some(operation.name.name.to_string()),
        [single] if single.name.name == "rooted" => Some("rooted".to_owned()),
        _ => None,
    }
}
