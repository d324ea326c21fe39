//! The elements of components: variables, or instances.

use super::{ComponentKind, Instance, Slot};
use crate::class::{ClassTable, SimpleType};
use crate::codes;
use crate::failure::{Failure, Fallible, fail};
use crate::flat::{Causality, FlatVariable, Idx, ProvenanceKind, ScalarType, Variability, VariableId};
use crate::flattener::Flattener;
use crate::ids::{ClassId, ComponentId, InstanceId};
use crate::modification::{Mod, Selector, merge};
use crate::tensor::{Dims, volume};
use saltus_source::Span;
use saltus_syntax::ast::{self, Variability as AstVariability};
use std::rc::Rc;
use std::sync::Arc;

/// How often a model may contain itself, under conditions that end it.
const MOST_NESTED: usize = 20;

impl Flattener<'_> {
    pub(crate) fn make_elements(&mut self, id: ComponentId, table: &Rc<ClassTable>) -> Fallible<()> {
        let kind = match table.simple {
            Some(SimpleType::ExternalObject) => ComponentKind::External,
            Some(simple) => {
                self.graph.needed |= table.by_name.contains_key("equalityConstraint");
                let ty = self.simple_scalar(simple)?;
                let first = self.make_variables(id, ty)?;
                ComponentKind::Primitive { ty, first }
            }
            None => {
                self.graph.needed |= table.by_name.contains_key("equalityConstraint");
                ComponentKind::Complex {
                    elements: self.make_instances(id, table)?,
                }
            }
        };
        self.components[id].kind = kind;
        Ok(())
    }

    pub(crate) fn simple_scalar(&mut self, simple: SimpleType) -> Fallible<ScalarType> {
        Ok(match simple {
            SimpleType::Real => ScalarType::Real,
            SimpleType::Integer => ScalarType::Integer,
            SimpleType::Boolean => ScalarType::Boolean,
            SimpleType::String => ScalarType::String,
            SimpleType::Enumeration(class) => ScalarType::Enumeration(self.enumeration(class)?.0),
            SimpleType::Clock => ScalarType::Clock,
            SimpleType::ExternalObject => return Err(Failure::Reported),
        })
    }

    pub(super) fn make_variables(&mut self, id: ComponentId, ty: ScalarType) -> Fallible<Option<VariableId>> {
        let component = &mut self.components[id];
        if ty != ScalarType::Real && component.variability == Variability::Continuous {
            component.variability = Variability::Discrete;
        }
        let component = &self.components[id];
        if ty == ScalarType::Clock && component.variability < Variability::Discrete {
            return fail(
                codes::E0303,
                component.span,
                "a clock ticks, and cannot be a parameter or a constant",
            );
        }
        if self.instances[component.parent].is_static {
            return Ok(None);
        }
        let count = volume(&component.dims).unwrap_or(0);
        if self.model.variables.len() + count > self.limits.scalars {
            return fail(
                codes::E0307,
                component.span,
                format!("the model has more than the {} variables allowed", self.limits.scalars),
            );
        }
        let first = VariableId::from_usize(self.model.variables.len());
        let (span, dims, path) = (component.span, component.dims.clone(), Arc::clone(&component.path));
        let (variability, protected) = (component.variability, component.inherited.protected);
        let causality = match (component.causality, component.inherited.outside) {
            (Some(ast::Causality::Input), true) => Causality::Input,
            (Some(ast::Causality::Output), true) => Causality::Output,
            _ => Causality::Internal,
        };
        let entry = self.instances[component.parent]
            .table
            .entries
            .get(component.entry as usize);
        let is_final = component.mods.is_final || entry.is_some_and(|entry| entry.is_final);
        let owner = Arc::clone(&self.instances[component.parent].path);
        let provenance = self.add_provenance(span, &owner, ProvenanceKind::Declaration);
        let attributes = Arc::clone(&self.no_attributes);
        self.owners.resize(self.owners.len() + count, id);
        for offset in 0..count {
            let name = if dims.is_empty() {
                Arc::clone(&path)
            } else {
                element_path(&path, &dims, offset)
            };
            self.model.variables.push(FlatVariable {
                name,
                ty,
                variability,
                causality,
                binding: None,
                start: None,
                fixed: None,
                attributes: Arc::clone(&attributes),
                protected,
                is_final,
                structural: false,
                provenance,
            });
        }
        Ok(Some(first))
    }

    pub(super) fn make_instances(&mut self, id: ComponentId, table: &Rc<ClassTable>) -> Fallible<Vec<InstanceId>> {
        let component = &self.components[id];
        let count = volume(&component.dims).unwrap_or(0);
        self.check_recursion(component.parent, component.class, component.span)?;
        let component = &self.components[id];
        if self.instances.len() + count > self.limits.components || self.components.len() > self.limits.components {
            return fail(
                codes::E0307,
                component.span,
                format!(
                    "the model has more than the {} components allowed",
                    self.limits.components
                ),
            );
        }
        let (class, parent, inherited) = (component.class, component.parent, component.inherited);
        if count == 0 {
            self.unreached_class(class);
        }
        let component = &self.components[id];
        let (dims, path, mods) = (component.dims.clone(), component.path.clone(), component.mods.clone());
        let is_static = self.instances[parent].is_static;
        // A record's value goes to its fields.
        let mods = push_down(&mods, table);
        let mut elements = Vec::with_capacity(count);
        for offset in 0..count {
            let (path, mods) = if dims.is_empty() {
                (Arc::clone(&path), mods.descend(&[], &[]))
            } else {
                let index = indices(&dims, offset);
                (element_path(&path, &dims, offset), mods.descend(&index, &dims))
            };
            elements.push(self.instances.push(Instance {
                class,
                table: Rc::clone(table),
                parent: Some(parent),
                path,
                mods,
                slots: Slot::of(table),
                is_static,
                inherited,
            }));
        }
        Ok(elements)
    }

    /// A model that contains itself, however far down. Once that is known it is not followed down any more: a tree of such
    /// components has more branches than anybody wants to see.
    pub(super) fn check_recursion(&mut self, parent: InstanceId, class: ClassId, span: Span) -> Fallible<()> {
        let def = Arc::clone(self.def(class));
        let known = self.endless.iter().any(|endless| Arc::ptr_eq(endless, &def));
        let mut current = Some(parent);
        let mut count = 0;
        while let Some(instance) = current {
            let data = &self.instances[instance];
            count += usize::from(Arc::ptr_eq(self.def(data.class), &def));
            current = data.parent;
        }
        if known && count > 0 {
            return Err(Failure::Reported);
        }
        if count > MOST_NESTED {
            self.endless.push(def);
            let name = &self.classes[class].name;
            return fail(codes::E0213, span, format!("`{name}` contains itself without end"));
        }
        Ok(())
    }
}

/// `= e` of a record becomes `= e.field` of each of its fields that may be set.
pub(super) fn push_down(mods: &Rc<Mod>, table: &ClassTable) -> Rc<Mod> {
    let Some(binding) = &mods.binding else {
        return Rc::clone(mods);
    };
    let mut children = Vec::new();
    for entry in &table.entries {
        let Some((clause, _)) = entry.component() else {
            continue;
        };
        let constant = clause.prefix.variability == Some(AstVariability::Constant);
        let fixed = entry.is_final || constant;
        if fixed && entry.declared.binding.is_some() {
            continue;
        }
        let mut field = binding.clone();
        field.selectors.push(Selector::Field(entry.name.clone()));
        let child = Mod {
            binding: Some(field),
            span: mods.span,
            ..Mod::default()
        };
        children.push((entry.name.clone(), Rc::new(child)));
    }
    let from_binding = Rc::new(Mod {
        children,
        ..Mod::default()
    });
    let rest = Rc::new(Mod {
        binding: None,
        ..(**mods).clone()
    });
    merge(&from_binding, &rest)
}

/// The indices of the element with this row-major position, from 1.
pub(crate) fn indices(dims: &[u32], offset: usize) -> Dims {
    let mut rest = offset;
    let mut result: Dims = dims.iter().map(|_| 1).collect();
    for (slot, &size) in result.iter_mut().zip(dims).rev() {
        *slot = (rest % size as usize) as u32 + 1;
        rest /= size as usize;
    }
    result
}

pub(crate) fn element_path(path: &str, dims: &[u32], offset: usize) -> Arc<str> {
    use std::fmt::Write;
    let mut name = String::with_capacity(path.len() + 8);
    name.push_str(path);
    name.push('[');
    for (i, index) in indices(dims, offset).iter().enumerate() {
        if i > 0 {
            name.push(',');
        }
        let _ = write!(name, "{index}");
    }
    name.push(']');
    name.into()
}
