//! From a class to the flat model: instances, bindings, equations, connections.

mod arguments;
mod balance;
mod check;
pub(crate) mod complementarity;
pub(crate) mod connection;
mod connectors;
mod culprits;
mod equation;
mod expandable;
mod experiment;
pub(crate) mod implicit;
pub(crate) mod overconstrained;
mod pictures;
mod set_points;
pub(crate) mod state_machine;
mod statement;
pub(crate) mod stream;
mod structure;
pub(crate) mod units;

use std::rc::Rc;
use std::sync::Arc;

use saltus_source::{Diagnostic, Severity};
use saltus_syntax::ast::{ClassKind, ClassModification, Name, Variability as AstVariability, split_name};

use crate::class::{Found, misplaced_operator, nowhere};
use crate::codes;
use crate::expr::{Context, Mode};
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{FlatAlgorithm, ProvenanceKind};
use crate::flattener::Flattener;
use crate::ids::{ClassId, InstanceId};
use crate::instance::{ComponentKind, Instance, Slot};
use crate::modification::{Mod, Scope, from_ast};

impl Flattener<'_> {
    /// Flattens the class with this qualified name, modified as in an extends clause.
    pub(crate) fn flatten_class(&mut self, name: &str, modification: Option<&ClassModification>) -> Fallible<()> {
        let class = self.class_by_name(name)?;
        for given in self.library.given().iter() {
            self.diagnostics.extend(misplaced_operator(&given.definition));
        }
        self.check_model(class)?;
        self.model.name = Arc::clone(&self.classes[class].name);
        let def = Arc::clone(self.def(class));
        if let Some(description) = &def.description {
            self.model.description = description.value.as_str().into();
        }
        self.model.experiment = self.experiment(class, &def);
        self.model.figures = pictures::figures(&def);
        let class = self.with_inner_classes(class, None)?;
        let table = self.table(class)?;
        let root = self.instances.push(Instance::root(class, table, "".into(), false));
        if let Some(modification) = modification {
            let mods = Rc::new(from_ast(modification, class, -1)?);
            self.instances[root].mods = self.bind(&mods, root);
        }
        let entries = Rc::clone(&self.instances[root].table);
        let parts = entries.entries.iter().filter(|entry| entry.component().is_some());
        self.model.parts = parts.map(|entry| (entry.name.as_str().into(), entry.span)).collect();
        let mut instances = Vec::new();
        self.instantiate(root, &mut instances)?;
        let mut added = 0;
        while let Some((_, component)) = self.automatic.get(added).cloned() {
            if let ComponentKind::Complex { elements } = &self.components[component].kind {
                for element in elements.clone() {
                    self.instantiate(element, &mut instances)?;
                }
            }
            added += 1;
        }
        self.model_instances.clone_from(&instances);
        self.expand_connectors(&mut instances)?;
        self.model_instances.clone_from(&instances);
        // Bindings may ask for roots.
        self.solve_connection_graph();
        let mut done = 0;
        // Translating bindings makes no new components of the model, but of packages.
        while done < self.pending.len() {
            let component = self.pending[done];
            self.finish_component(component);
            done += 1;
        }
        for instance in instances {
            self.collect_shapes(instance);
            self.instance_sections(instance);
        }
        // Equations may have named elements of buses that no connection does.
        while done < self.pending.len() {
            let component = self.pending[done];
            self.finish_component(component);
            done += 1;
        }
        self.part = None;
        self.connection_equations();
        self.stream_equations();
        let expanded = self.expand_state_machines();
        self.accept(expanded);
        self.leave_out_unused_bus_elements();
        self.collect_connectors(root);
        self.collect_set_points();
        self.check_model_as_a_whole();
        self.check_units();
        self.check_balance();
        Ok(())
    }

    pub(crate) fn class_by_name(&mut self, name: &str) -> Fallible<ClassId> {
        let mut parts = split_name(name).into_iter().map(Name::new);
        let unknown = |diagnostic: Diagnostic| Err(Failure::from(diagnostic));
        let Some(root) = parts.next().and_then(|first| self.root_class(&first)) else {
            return unknown(
                Diagnostic::without_place(codes::E0201, Severity::Error, format!("there is no class `{name}`"))
                    .with_help("name the folder of its library with -L, or set MODELICAPATH"),
            );
        };
        let mut class = root;
        for part in parts {
            class = match self.member(class, &part)? {
                Some(Found::Class(inner)) => inner,
                Some(Found::Component(..)) => {
                    return fail(codes::E0202, nowhere(), format!("`{name}` is a component, not a class"));
                }
                None => {
                    let span = self.def(class).name.span;
                    return Err(self.unknown(Some(class), &part, span));
                }
            };
        }
        Ok(class)
    }

    fn check_model(&mut self, class: ClassId) -> Fallible<()> {
        let def = self.def(class);
        let (span, kind) = (def.name.span, def.kind);
        let name = &self.classes[class].name;
        match kind {
            ClassKind::Model
            | ClassKind::Block
            | ClassKind::Class
            | ClassKind::Record
            | ClassKind::Connector
            | ClassKind::OperatorRecord
            | ClassKind::Type => {}
            _ => {
                return fail(
                    codes::E0202,
                    span,
                    format!("`{name}` is a {}, which cannot be simulated", kind.as_str()),
                );
            }
        }
        let name = Arc::clone(name);
        if self.table(class)?.is_partial {
            return fail(
                codes::E0208,
                span,
                format!("`{name}` is partial and cannot be simulated"),
            );
        }
        Ok(())
    }

    /// Makes all components, in the order of their declarations; lists the instances.
    fn instantiate(&mut self, instance: InstanceId, list: &mut Vec<InstanceId>) -> Fallible<()> {
        let span = self.def(self.instances[instance].class).name.span;
        self.enter(span)?;
        list.push(instance);
        let table = Rc::clone(&self.instances[instance].table);
        for (index, entry) in table.entries.iter().enumerate() {
            if entry.component().is_none() {
                // Classes inside are not looked at unless something uses them; but what replaces one must fit.
                if entry.is_redeclared_class() && entry.class.get().is_none() {
                    let result = self.entry_class(self.instances[instance].class, index as u32);
                    self.accept(result);
                }
                continue;
            }
            // The elements of a bus are those that connections name.
            if table.is_expandable && !is_fixed(entry) {
                let result = check_bus_element(entry, &self.instances[instance].mods);
                self.accept(result);
                continue;
            }
            if self.instances[instance].path.is_empty() {
                self.set_part(&entry.name);
            }
            let before = self.instances[instance].slots[index];
            let component = match self.component(instance, index as u32) {
                Ok(Some(component)) => component,
                Ok(None) => continue,
                Err(failure) => {
                    if before == Slot::Unvisited || !matches!(failure, Failure::Reported) {
                        self.report(failure);
                    }
                    continue;
                }
            };
            // An outer component is made where its inner one is.
            if self.components[component].parent != instance {
                continue;
            }
            if let ComponentKind::Complex { elements } = &self.components[component].kind {
                for element in elements.clone() {
                    self.instantiate(element, list)?;
                }
                let result = self
                    .check_connector(component)
                    .and_then(|()| self.check_block_connector(component));
                self.accept(result);
            }
        }
        self.leave();
        Ok(())
    }

    /// Equations and algorithms of an instance, inherited ones included.
    fn instance_sections(&mut self, instance: InstanceId) {
        let path = Arc::clone(&self.instances[instance].path);
        self.set_part(&path);
        let table = Rc::clone(&self.instances[instance].table);
        for &class in &table.scopes {
            self.check_imported(class);
            let def = Arc::clone(self.def(class));
            let Some(composition) = def.composition() else {
                continue;
            };
            let scope = Scope {
                class,
                instance: Some(instance),
            };
            let ctx = Context::new(scope, Mode::Flat);
            for section in &composition.equations {
                let mut out = Vec::new();
                let place = equation::Place {
                    initial: section.initial,
                    ..equation::Place::default()
                };
                self.equations(&section.equations, &ctx, place, &mut out);
                let target = if section.initial {
                    &mut self.model.initial_equations
                } else {
                    &mut self.model.equations
                };
                target.append(&mut out);
            }
            for section in &composition.algorithms {
                let mut statements = Vec::new();
                let place = statement::Place {
                    initial: section.initial,
                    ..statement::Place::default()
                };
                let result = self.statements(&section.statements, &ctx, place, &mut statements);
                if self.accept(result).is_none() {
                    continue;
                }
                let path = Arc::clone(&self.instances[instance].path);
                let provenance = self.add_provenance(section.span, &path, ProvenanceKind::Statement);
                let algorithm = FlatAlgorithm { statements, provenance };
                if section.initial {
                    self.model.initial_algorithms.push(algorithm);
                } else {
                    self.model.algorithms.push(algorithm);
                }
            }
        }
    }
}

/// Flows belong to the connectors in a bus, not to the bus itself.
fn check_bus_element(entry: &crate::class::Entry, mods: &Mod) -> Fallible<()> {
    if let Some(m) = mods.child(&entry.name)
        && m.binding.is_some()
    {
        return fail(
            codes::E0209,
            m.span.unwrap_or(entry.span),
            format!(
                "`{}` is there only if a connection names it, so it cannot be given a value",
                entry.name
            ),
        );
    }
    match entry.component() {
        Some((clause, _)) if clause.prefix.connector.is_some() => fail(
            codes::E0216,
            entry.span,
            format!(
                "`{}` is a flow or stream, which an expandable connector cannot have",
                entry.name
            ),
        ),
        _ => Ok(()),
    }
}

/// Whether a component is a constant or parameter.
fn is_fixed(entry: &crate::class::Entry) -> bool {
    let variability = entry.component().and_then(|(clause, _)| clause.prefix.variability);
    matches!(variability, Some(AstVariability::Constant | AstVariability::Parameter))
}
