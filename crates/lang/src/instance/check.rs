//! Checks of components against what surrounds them.

use saltus_source::Span;
use saltus_syntax::ast::{ClassKind, ComponentClause, ConnectorPrefix, Name, Subscript, Variability as AstVariability};

use super::{Component, ComponentKind, Inherited, Slot};
use crate::class::{ClassTable, Entry, SimpleType};
use crate::codes;
use crate::failure::{Fallible, error, fail, tolerated};
use crate::flat::Variability;
use crate::flattener::Flattener;
use crate::ids::{ClassId, ComponentId, InstanceId};
use crate::tensor::volume;

/// How many scalars of which kind a connector has.
#[derive(Default)]
struct ConnectorSize {
    flows: usize,
    potentials: usize,
    streams: usize,
    /// Whether the equality of some part has fewer equations than variables.
    overconstrained: bool,
}

impl Flattener<'_> {
    /// Flows that are operator records are added, negated and compared with zero where they meet.
    pub(super) fn check_flow_operators(&mut self, class: ClassId, clause: &ComponentClause) -> Fallible<()> {
        if clause.prefix.connector != Some(ConnectorPrefix::Flow) || self.kind(class) != ClassKind::OperatorRecord {
            return Ok(());
        }
        for operator in ["'+'", "'-'", "'0'"] {
            if self.member(class, &Name::new(operator))?.is_none() {
                return fail(
                    codes::E0216,
                    clause.span,
                    format!(
                        "the operator record `{}` has no operator {operator} and cannot be a flow",
                        self.classes[class].name
                    ),
                );
            }
        }
        Ok(())
    }

    /// What records may hold (4.7), and how simple connectors are declared (9.3.1).
    pub(super) fn check_owner(
        &mut self,
        instance: InstanceId,
        class: ClassId,
        table: &ClassTable,
        entry: &Entry,
        clause: &ComponentClause,
    ) -> Fallible<()> {
        let owner = &self.instances[instance];
        let kind = self.kind(class);
        let in_record = matches!(self.kind(owner.class), ClassKind::Record | ClassKind::OperatorRecord);
        if in_record && matches!(kind, ClassKind::Model | ClassKind::Block) {
            return fail(
                codes::E0216,
                clause.span,
                format!("a record cannot hold the {} `{}`", kind.as_str(), entry.name),
            );
        }
        let undirected = clause.prefix.causality.or(table.causality).is_none();
        let held = owner.inherited.connector || owner.is_static || entry.protected || clause.prefix.connector.is_some();
        if table.is_connector && table.simple.is_some() && undirected && !held && !owner.inherited.protected {
            let message = format!("`{}` is a simple connector and must be an input or output", entry.name);
            let diagnostic = tolerated(codes::E0216, clause.span, message)
                .with_help("write `input` or `output` here or in the connector's definition, or make it protected");
            self.diagnostics.push(diagnostic);
        }
        Ok(())
    }

    /// All variables of a connector of a block have a direction.
    pub(crate) fn check_block_connector(&mut self, component: ComponentId) -> Fallible<()> {
        let data = &self.components[component];
        let owner = &self.instances[data.parent];
        let table = &owner.table;
        let protected = table
            .entries
            .get(data.entry as usize)
            .is_none_or(|entry| entry.protected);
        if protected || !data.inherited.connector || owner.inherited.connector {
            return Ok(());
        }
        if self.kind(owner.class) != ClassKind::Block {
            return Ok(());
        }
        let ComponentKind::Complex { elements } = &data.kind else {
            return Ok(());
        };
        let Some(&first) = elements.first() else {
            return Ok(());
        };
        let (span, name) = (data.span, data.name.clone());
        if self.instances[first].table.is_expandable {
            return Ok(());
        }
        let mut size = ConnectorSize::default();
        self.measure_connector(first, &mut size);
        if size.flows + size.potentials > 0 {
            return Err(error(
                codes::E0216,
                span,
                format!("the connector `{name}` of a block has variables that are neither inputs nor outputs"),
            )
            .with_help("declare a model instead of a block")
            .into());
        }
        Ok(())
    }

    /// Prefixes must make sense for the type, and not contradict those around.
    pub(super) fn check_prefixes(
        &self,
        class: ClassId,
        table: &ClassTable,
        owner: &Inherited,
        entry: &Entry,
        clause: &ComponentClause,
    ) -> Fallible<()> {
        let kind = self.kind(class);
        let name = &self.classes[class].name;
        let wrong = |what: &str| -> Fallible<()> {
            fail(
                codes::E0216,
                clause.span,
                format!("`{}` cannot be {what}: `{name}` is a {}", entry.name, kind.as_str()),
            )
        };
        let structured = table.simple.is_none();
        let behaves = structured && matches!(kind, ClassKind::Model | ClassKind::Block);
        let connects = structured && kind == ClassKind::Connector;
        match clause.prefix.variability {
            Some(AstVariability::Constant | AstVariability::Parameter) if behaves || connects => {
                return wrong("a constant or parameter");
            }
            Some(AstVariability::Discrete) if behaves => return wrong("discrete"),
            _ => {}
        }
        if clause.prefix.connector.is_some() {
            if behaves || structured && kind == ClassKind::Class {
                return wrong("a flow or stream");
            }
            if table.simple.is_some_and(|s| s != SimpleType::Real) {
                return fail(
                    codes::E0216,
                    clause.span,
                    format!("`{}` is a flow or stream and must be Real", entry.name),
                );
            }
            if clause.prefix.connector == Some(ConnectorPrefix::Stream) && !owner.connector {
                return fail(
                    codes::E0216,
                    clause.span,
                    format!("`{}` is a stream, which only elements of connectors can be", entry.name),
                );
            }
            if owner.flow.is_some() {
                return fail(
                    codes::E0216,
                    clause.span,
                    format!("`{}` is a flow or stream inside of a flow or stream", entry.name),
                );
            }
        }
        if clause.prefix.causality.is_some() {
            if behaves {
                return wrong("an input or output");
            }
            if owner.causality.is_some() || table.causality.is_some() {
                return fail(
                    codes::E0216,
                    clause.span,
                    format!(
                        "`{}` is an input or output of something that is one already",
                        entry.name
                    ),
                );
            }
        }
        Ok(())
    }

    /// An inner component must offer what the outer declaration says.
    pub(super) fn check_outer(&mut self, instance: InstanceId, entry: &Entry, inner: ComponentId) -> Fallible<()> {
        let modified = entry.declared.binding.is_some() || !entry.declared.children.is_empty();
        if modified && !entry.inner {
            return fail(
                codes::E0209,
                entry.span,
                format!(
                    "`{}` is outer and cannot be modified: modify the inner component",
                    entry.name
                ),
            );
        }
        let Some((clause, component)) = entry.component() else {
            return Ok(());
        };
        let class = self.lookup_class(entry.scope, &clause.type_name)?;
        let table = self.table(class)?;
        let rank = component.subscripts.len() + clause.subscripts.len() + table.dims.len();
        let found = &self.components[inner];
        let (found_class, found_rank, span) = (found.class, found.dims.len(), found.span);
        let most = match clause.prefix.variability {
            Some(AstVariability::Constant) => Variability::Constant,
            Some(AstVariability::Parameter) => Variability::Parameter,
            _ => Variability::Continuous,
        };
        let reason = if found.variability > most {
            Some("it may vary more than a constant or parameter does".to_owned())
        } else if rank == found_rank {
            match self.size_mismatch(instance, entry, inner) {
                Some(reason) => Some(reason),
                None => self.type_mismatch(found_class, class)?,
            }
        } else {
            Some("the numbers of dimensions differ".to_owned())
        };
        match reason {
            None => Ok(()),
            Some(reason) => Err(error(
                codes::E0209,
                entry.span,
                format!(
                    "the inner `{}` does not fit this outer declaration: {reason}",
                    entry.name
                ),
            )
            .with_secondary(span, "the inner component")
            .into()),
        }
    }

    /// How the sizes of an inner component differ from those of an outer declaration.
    fn size_mismatch(&mut self, instance: InstanceId, entry: &Entry, inner: ComponentId) -> Option<String> {
        let (clause, component) = entry.component()?;
        let own = component.subscripts.iter().map(|s| (s, entry.dims_scope));
        let of_clause = clause.subscripts.iter().map(|s| (s, entry.scope));
        let dims = self.components[inner].dims.clone();
        for (position, (subscript, class)) in own.chain(of_clause).enumerate() {
            if matches!(subscript, Subscript::Colon(_)) {
                continue;
            }
            let scope = self.bind_scope(class, Some(instance));
            let (wanted, _) = self.dimension(inner, subscript, position, scope).ok()?;
            let found = dims.get(position).copied()?;
            if wanted != found {
                return Some(format!("its size is {found} instead of {wanted}"));
            }
        }
        None
    }

    /// A connector has as many flows as potentials; a stream goes with exactly one flow.
    pub(crate) fn check_connector(&mut self, component: ComponentId) -> Fallible<()> {
        let data = &self.components[component];
        let outermost = !self.instances[data.parent].inherited.connector;
        let ComponentKind::Complex { elements } = &data.kind else {
            return Ok(());
        };
        let (Some(&first), true) = (elements.first(), outermost && data.inherited.connector) else {
            return Ok(());
        };
        let class = data.class;
        let partial = self.table(class)?.is_partial;
        let mut size = ConnectorSize::default();
        self.measure_connector(first, &mut size);
        if partial || size.overconstrained || self.instances[first].table.is_expandable {
            return Ok(());
        }
        let name = self.classes[class].name.clone();
        let span = self.def(class).name.span;
        if size.streams > 0 && size.flows != 1 {
            return fail(
                codes::E0406,
                span,
                format!(
                    "`{name}` has stream variables and needs exactly one flow, not {}",
                    size.flows
                ),
            );
        }
        if size.flows != size.potentials && size.flows > 0 {
            return fail(
                codes::E0406,
                span,
                format!(
                    "`{name}` has {} flow variables, but {} potential variables",
                    size.flows, size.potentials
                ),
            );
        }
        Ok(())
    }

    /// Whether a connector has as many flows as potentials, and is not overconstrained.
    pub(crate) fn is_square_connector(&mut self, instance: InstanceId) -> bool {
        if self.instances[instance].table.is_expandable || self.holds_overconstrained(instance) {
            return false;
        }
        let mut size = ConnectorSize::default();
        self.measure_connector(instance, &mut size);
        size.flows == size.potentials
    }

    fn holds_overconstrained(&mut self, instance: InstanceId) -> bool {
        let slots = self.instances[instance].slots.clone();
        slots.into_iter().any(|slot| {
            let Slot::Ready(component) = slot else { return false };
            let elements = match &self.components[component].kind {
                ComponentKind::Complex { elements } => elements.clone(),
                _ => Vec::new(),
            };
            self.is_overconstrained(component) || elements.iter().any(|&element| self.holds_overconstrained(element))
        })
    }

    fn measure_connector(&mut self, instance: InstanceId, size: &mut ConnectorSize) {
        let slots = self.instances[instance].slots.clone();
        for slot in slots {
            let Slot::Ready(component) = slot else {
                continue;
            };
            if self.is_overconstrained(component) {
                // It counts as many potentials as there are residuals.
                match self.residual_count(component) {
                    Ok(count) => size.potentials += count,
                    Err(_) => size.overconstrained = true,
                }
                continue;
            }
            let data: &Component = &self.components[component];
            match &data.kind {
                ComponentKind::Complex { elements } => {
                    for element in elements.clone() {
                        self.measure_connector(element, size);
                    }
                }
                ComponentKind::Primitive { .. } => {
                    let count = volume(&data.dims).unwrap_or(0);
                    match (data.flow, data.causality, data.variability) {
                        (_, _, Variability::Constant | Variability::Parameter) | (None, Some(_), _) => {}
                        (Some(ConnectorPrefix::Flow), ..) => size.flows += count,
                        (Some(ConnectorPrefix::Stream), ..) => size.streams += count,
                        (None, None, _) => size.potentials += count,
                    }
                }
                ComponentKind::External => {}
            }
        }
    }

    /// Parameters in connectors must agree where they are connected.
    pub(crate) fn check_equal_values(
        &mut self,
        a: (ComponentId, u32),
        b: (ComponentId, u32),
        span: Span,
    ) -> Fallible<()> {
        let (x, y) = (&self.components[a.0], &self.components[b.0]);
        if x.variability != y.variability {
            return fail(
                codes::E0401,
                span,
                format!("`{}` and `{}` differ in variability", x.path, y.path),
            );
        }
        let (path, other) = (x.path.clone(), y.path.clone());
        let (Ok(p), Ok(q)) = (self.component_value(a.0, span), self.component_value(b.0, span)) else {
            return Ok(());
        };
        match (p.elems.get(a.1 as usize), q.elems.get(b.1 as usize)) {
            (Some(p), Some(q)) if p != q => fail(
                codes::E0401,
                span,
                format!("`{path}` and `{other}` are connected, but have different values"),
            ),
            _ => Ok(()),
        }
    }
}
