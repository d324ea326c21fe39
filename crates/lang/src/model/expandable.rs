//! Expandable connectors: they have the elements that connections ask for.
//!
//! `connect(bus.speed, sensor.w)` gives `bus` an element `speed` like `sensor.w`; connecting two buses gives each the
//! elements of the other. Elements that are declared and take part in no connection do not exist. Once the elements are
//! known, connections mean what they mean everywhere.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashSet;
use saltus_syntax::ast::{self, ComponentReference, Name, Subscript};

use crate::expr::{Context, Item, Mode, Resolved, Selection};
use crate::failure::Fallible;
use crate::flat::Variability;
use crate::flattener::Flattener;
use crate::ids::{ComponentId, InstanceId};
use crate::instance::{Component, ComponentKind, Inherited, Slot, ValueState, join_path};
use crate::tensor::Dims;

/// What a side of a connection is, as far as buses are concerned.
enum BusSide {
    Known(Selection),
    /// An element that buses do not have yet, with the greatest index asked for in each dimension.
    Missing {
        buses: Vec<InstanceId>,
        name: Name,
        sizes: Dims,
    },
    /// Not known yet, or wrong in a way that is reported when the connection is made.
    Unknown,
}

/// An element to be added to a bus.
struct Wanted {
    like: ComponentId,
    dims: Dims,
}

/// What a pass over all connections found.
#[derive(Default)]
struct Findings {
    wanted: BTreeMap<(InstanceId, String), Wanted>,
    links: Vec<(InstanceId, InstanceId)>,
}

impl Flattener<'_> {
    /// Gives all expandable connectors their elements; new instances are added to the list.
    pub(super) fn expand_connectors(&mut self, instances: &mut Vec<InstanceId>) -> Fallible<()> {
        let has_buses = |this: &Self| instances.iter().any(|&i| this.instances[i].table.is_expandable);
        if !has_buses(self) {
            return Ok(());
        }
        let models = instances.clone();
        // Every round adds an element at least, and elements are limited.
        loop {
            let findings = self.bus_connections(&models);
            let mut changed = false;
            for ((bus, name), wanted) in findings.wanted {
                changed |= self.add_bus_element(bus, &Name::new(&name), wanted.like, wanted.dims)?;
            }
            changed |= self.share_elements(findings.links)?;
            if !changed {
                break;
            }
        }
        self.instantiate_elements(instances)
    }

    fn bus_connections(&mut self, models: &[InstanceId]) -> Findings {
        let mut findings = Findings::default();
        for &instance in models {
            self.visit_structure(instance, &mut |this, equation, ctx| {
                if let ast::EquationKind::Connect { left, right } = &equation.kind {
                    this.bus_connection(left, right, ctx, &mut findings);
                }
            });
        }
        findings
    }

    fn bus_connection(
        &mut self,
        left: &ComponentReference,
        right: &ComponentReference,
        ctx: &Context<'_>,
        findings: &mut Findings,
    ) {
        match (self.bus_side(left, ctx), self.bus_side(right, ctx)) {
            (BusSide::Missing { buses, name, sizes }, BusSide::Known(other))
            | (BusSide::Known(other), BusSide::Missing { buses, name, sizes }) => {
                let Some(like) = other.last else { return };
                let dims = if sizes.is_empty() { other.dims } else { sizes };
                for bus in buses {
                    let wanted = findings
                        .wanted
                        .entry((bus, name.to_string()))
                        .or_insert_with(|| Wanted {
                            like,
                            dims: dims.clone(),
                        });
                    for (size, more) in wanted.dims.iter_mut().zip(&dims) {
                        *size = (*size).max(*more);
                    }
                }
            }
            (BusSide::Known(a), BusSide::Known(b)) => {
                for (x, y) in a.items.iter().zip(&b.items) {
                    if let (Item::Instance(x), Item::Instance(y)) = (*x, *y)
                        && self.instances[x].table.is_expandable
                        && self.instances[y].table.is_expandable
                    {
                        findings.links.push((x, y));
                    }
                }
            }
            _ => {}
        }
    }

    fn bus_side(&mut self, reference: &ComponentReference, ctx: &Context<'_>) -> BusSide {
        let flat = Context {
            mode: Mode::Flat,
            ..*ctx
        };
        for count in 1..=reference.parts.len() {
            let prefix = ComponentReference {
                parts: reference.parts[..count].to_vec(),
                ..reference.clone()
            };
            let Ok(Resolved::Selection(selection)) = self.resolve(&prefix, &flat) else {
                return BusSide::Unknown;
            };
            let Some(part) = reference.parts.get(count) else {
                return BusSide::Known(selection);
            };
            let buses: Vec<InstanceId> = selection
                .items
                .iter()
                .filter_map(|item| match item {
                    Item::Instance(instance) if self.instances[*instance].table.is_expandable => Some(*instance),
                    _ => None,
                })
                .collect();
            if !buses.iter().any(|&bus| self.lacks(bus, &part.name.name)) {
                continue;
            }
            // An element of an element that is not there yet: another connection must make it first.
            if count + 1 < reference.parts.len() {
                return BusSide::Unknown;
            }
            let Some(sizes) = self.greatest_indices(&part.subscripts, ctx) else {
                return BusSide::Unknown;
            };
            let name = part.name.name.clone();
            return BusSide::Missing { buses, name, sizes };
        }
        BusSide::Unknown
    }

    /// Whether a bus has no such element, or one whose size connections must say.
    fn lacks(&self, bus: InstanceId, name: &Name) -> bool {
        let instance = &self.instances[bus];
        match instance.table.find(name) {
            None => true,
            Some((index, entry)) => {
                let open = entry.component().is_some_and(|(clause, component)| {
                    let mut subscripts = component.subscripts.iter().chain(&clause.subscripts);
                    subscripts.any(|s| matches!(s, Subscript::Colon(_)))
                });
                open && instance.slots[index as usize] == Slot::Unvisited
            }
        }
    }

    fn greatest_indices(&mut self, subscripts: &[Subscript], ctx: &Context<'_>) -> Option<Dims> {
        let ctx = Context {
            mode: Mode::Evaluate,
            ..*ctx
        };
        let mut sizes = Dims::new();
        for subscript in subscripts {
            let Subscript::Expr(expr) = subscript else {
                return None;
            };
            let value = self.expr(expr, &ctx).ok()?;
            let greatest = value.exprs().filter_map(|e| e.as_number()).fold(0.0, f64::max);
            sizes.push(greatest as u32);
        }
        Some(sizes)
    }

    /// Adds an element like a component to a bus; false if it is there already.
    fn add_bus_element(&mut self, bus: InstanceId, name: &Name, like: ComponentId, dims: Dims) -> Fallible<bool> {
        let known = self.instances[bus].table.find(name).map(|(index, _)| index);
        if let Some(index) = known
            && self.instances[bus].slots[index as usize] != Slot::Unvisited
        {
            return Ok(false);
        }
        let span = self.components[like].span;
        self.spend(10, span)?;
        self.check_size(&dims, span)?;
        let model = &self.components[like];
        let owner = &self.instances[bus];
        let index = known.unwrap_or(owner.slots.len() as u32);
        let inherited = Inherited {
            variability: model.variability,
            // Which way a signal goes through a bus is decided by what is connected to it.
            causality: None,
            flow: model.flow,
            connector: true,
            ..owner.inherited
        };
        let component = Component {
            parent: bus,
            entry: index,
            name: name.clone(),
            path: join_path(&owner.path, name),
            class: model.class,
            dims,
            index_types: model.index_types.clone(),
            kind: ComponentKind::External,
            variability: model.variability,
            causality: None,
            flow: model.flow,
            mods: Rc::default(),
            value: ValueState::Unknown,
            span,
            inherited,
        };
        let class = component.class;
        let entry = self.instances[model.parent].table.entries[model.entry as usize].clone();
        let id = self.components.push(component);
        let table = self.table(class)?;
        if known.is_none() {
            let instance = &mut self.instances[bus];
            instance.table = Rc::new(instance.table.with_entry(name, entry));
            instance.slots.push(Slot::Building);
        }
        self.make_elements(id, &table)?;
        self.instances[bus].slots[index as usize] = Slot::Ready(id);
        self.pending.push(id);
        Ok(true)
    }

    /// Buses that are connected have the same elements.
    fn share_elements(&mut self, mut links: Vec<(InstanceId, InstanceId)>) -> Fallible<bool> {
        let mut changed = false;
        loop {
            let mut again = false;
            let mut inner = Vec::new();
            for &(a, b) in &links {
                again |= self.copy_elements(a, b, &mut inner)?;
                again |= self.copy_elements(b, a, &mut inner)?;
            }
            inner.retain(|link| !links.contains(link));
            inner.sort_unstable();
            inner.dedup();
            changed |= again;
            again |= !inner.is_empty();
            links.append(&mut inner);
            if !again {
                return Ok(changed);
            }
        }
    }

    fn copy_elements(
        &mut self,
        from: InstanceId,
        to: InstanceId,
        inner: &mut Vec<(InstanceId, InstanceId)>,
    ) -> Fallible<bool> {
        let mut changed = false;
        for slot in self.instances[from].slots.clone() {
            let Slot::Ready(component) = slot else { continue };
            let (name, dims) = (
                self.components[component].name.clone(),
                self.components[component].dims.clone(),
            );
            if self.components[component].variability <= Variability::Parameter {
                continue;
            }
            let other = match self.instances[to].table.find(&name).map(|(index, _)| index) {
                Some(index) if !self.lacks(to, &name) => {
                    changed |= self.instances[to].slots[index as usize] == Slot::Unvisited;
                    self.component(to, index)?
                }
                _ => {
                    changed |= self.add_bus_element(to, &name, component, dims)?;
                    None
                }
            };
            if let Some(other) = other
                && let ComponentKind::Complex { elements: a } = &self.components[component].kind
                && let ComponentKind::Complex { elements: b } = &self.components[other].kind
            {
                let pairs = a.iter().copied().zip(b.iter().copied());
                inner.extend(pairs.filter(|(x, y)| {
                    self.instances[*x].table.is_expandable && self.instances[*y].table.is_expandable && x < y
                }));
            }
        }
        Ok(changed)
    }

    /// Makes what is inside the elements of buses.
    fn instantiate_elements(&mut self, instances: &mut Vec<InstanceId>) -> Fallible<()> {
        let mut known: FxHashSet<InstanceId> = instances.iter().copied().collect();
        let mut at = 0;
        while at < instances.len() {
            let instance = instances[at];
            at += 1;
            if !self.instances[instance].table.is_expandable {
                continue;
            }
            for slot in self.instances[instance].slots.clone() {
                let Slot::Ready(component) = slot else { continue };
                if let ComponentKind::Complex { elements } = &self.components[component].kind {
                    for element in elements.clone() {
                        if known.insert(element) {
                            let before = instances.len();
                            self.instantiate(element, instances)?;
                            known.extend(&instances[before..]);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
