//! Attributes and bindings of variables, once all components exist.

use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Diagnostic;
use saltus_syntax::ast::{Causality as AstCausality, ClassBody};

use super::ComponentKind;
use crate::class::attribute_names;
use crate::codes;
use crate::expr::Mode;
use crate::failure::{Fallible, error, fail};
use crate::flat::{
    Attributes, Causality, Enumeration, EnumerationId, EquationKind, FlatEquation, FlatExpr, Guess, ProvenanceKind,
    ScalarType, StateSelect, Variability, VariableId,
};
use crate::flattener::{Flattener, Moment};
use crate::ids::{ClassId, ComponentId};
use crate::modification::{Binding, final_violation};
use crate::tensor::{Elem, Tensor, Ty, shape, volume};

impl Flattener<'_> {
    /// The binding of an attribute: from the component, else from its type.
    fn attribute_binding(&mut self, id: ComponentId, name: &str) -> Fallible<Option<(Binding, bool)>> {
        let component = &self.components[id];
        if let Some(m) = component.mods.child(name) {
            if m.binding.is_some() {
                return Ok(m.binding.clone().map(|b| (b, true)));
            }
            if m.binding_break {
                return Ok(None);
            }
        }
        let (class, parent) = (component.class, component.parent);
        let table = self.table(class)?;
        let Some(m) = table.attributes.child(name) else {
            return Ok(None);
        };
        if m.binding.is_none() {
            return Ok(None);
        }
        let bound = self.bind(m, parent);
        Ok(bound.binding.clone().map(|b| (b, false)))
    }

    /// The value of an attribute for all elements of a component.
    pub(crate) fn attribute(&mut self, id: ComponentId, name: &str, ty: Ty, mode: Mode) -> Fallible<Option<Tensor>> {
        let Some((binding, of_component)) = self.attribute_binding(id, name)? else {
            return Ok(None);
        };
        let value = self.binding_value(&binding, mode)?;
        self.check_each(id, &binding);
        if of_component && binding.each.is_some_and(|each| each.own) && !value.is_scalar() {
            let message = format!(
                "`each` gives every element this value, which must be a scalar, not {}",
                value.shape()
            );
            return Err(error(codes::E0302, binding.span(), message)
                .with_help("leave `each` out to give every element its own value")
                .into());
        }
        let component = &self.components[id];
        let (dims, path) = (component.dims.clone(), Arc::clone(&component.path));
        for expr in value.exprs() {
            self.check_parameter_expr(expr, &format!("attribute `{name}` of `{path}`"), &binding)?;
        }
        if !of_component && !dims.is_empty() && value.is_scalar() {
            // An attribute of the type holds for each element.
            if !ty.accepts(value.ty) {
                let label = format!("{path}.{name}");
                return self.fit(value, ty, &[], &label, &binding).map(Some);
            }
            return Ok(Some(value.repeat(&dims).coerce(ty)));
        }
        if value.is_scalar() && binding.skip > 0 {
            return Ok(Some(value.repeat(&dims).coerce(ty)));
        }
        let label = format!("{path}({name})");
        if value.is_scalar() && !dims.is_empty() && ty.accepts(value.ty) {
            let message = format!(
                "`{label}` is {} and cannot be given {}",
                shape(ty, &dims),
                value.shape()
            );
            let diagnostic = error(codes::E0302, binding.span(), message)
                .with_help("write `each` if all elements get the same value");
            return Err(self.inserting_each(diagnostic, binding.span(), true).into());
        }
        self.fit(value, ty, &dims, &label, &binding).map(Some)
    }

    /// `each` needs an array, whose elements get the value (7.2.5). Without one the value is clear all the same, and libraries
    /// have such places.
    fn check_each(&mut self, id: ComponentId, binding: &Binding) {
        let component = &self.components[id];
        if let Some(each) = binding.each
            && component.dims.is_empty()
        {
            let message = format!("`each` without an array: `{}` is a scalar", component.path);
            let warning = Diagnostic::warning(codes::W0207, each.span, message);
            let warning = self.removing_each(warning.with_help("leave `each` out"), each.span);
            self.diagnostics.push(warning);
        }
    }

    /// Fills in the attributes and the binding of a component's variables.
    pub(crate) fn finish_component(&mut self, id: ComponentId) {
        let component = &self.components[id];
        let ComponentKind::Primitive { ty, first: Some(first) } = component.kind else {
            return;
        };
        let path = Arc::clone(&component.path);
        self.set_part(&path);
        let result = self.finish_attributes(id, ty, first);
        self.accept(result);
        let result = self.finish_binding(id, ty, first);
        self.accept(result);
    }

    fn finish_attributes(&mut self, id: ComponentId, ty: ScalarType, first: VariableId) -> Fallible<()> {
        let component = &self.components[id];
        let count = volume(&component.dims).unwrap_or(0);
        let class = component.class;
        let table = self.table(class)?;
        let plain = self.components[id].mods.children.is_empty() && table.attributes.children.is_empty();
        if let Some((name, span)) = final_violation(&self.components[id].mods, &table.attributes) {
            let path = Arc::clone(&self.components[id].path);
            return Err(error(
                codes::E0206,
                span,
                format!("`{name}` of `{path}` is final in its type and cannot be modified"),
            )
            .with_help("declare it with a type that leaves the attribute open")
            .into());
        }
        let shared = self.shared_attributes(id, count, plain, ty)?;
        let own = Ty::of(ty);
        let start = if plain {
            None
        } else {
            self.attribute(id, "start", own, Mode::Flat)?
        };
        let fixed = if plain {
            None
        } else {
            self.attribute(id, "fixed", Ty::Boolean, Mode::Evaluate)?
        };
        let is_false = |t: &Tensor| t.exprs().any(|e| *e == FlatExpr::Boolean(false));
        if self.components[id].variability == Variability::Constant && fixed.as_ref().is_some_and(is_false) {
            let component = &self.components[id];
            let message = format!("the constant `{}` cannot have `fixed = false`", component.path);
            return Err(error(codes::E0311, component.span, message)
                .with_help("declare a parameter if its value is to be computed at the start")
                .into());
        }
        for offset in 0..count {
            let variable = &mut self.model.variables[VariableId(first.0 + offset as u32)];
            variable.attributes = Arc::clone(&shared[offset.min(shared.len() - 1)]);
            variable.start = start.as_ref().and_then(|t| expr_at(t, offset));
            variable.fixed = match fixed.as_ref().and_then(|t| expr_at(t, offset)) {
                Some(FlatExpr::Boolean(value)) => Some(value),
                _ => None,
            };
        }
        Ok(())
    }

    /// One set of attributes, or one per element where they differ.
    fn shared_attributes(
        &mut self,
        id: ComponentId,
        count: usize,
        plain: bool,
        ty: ScalarType,
    ) -> Fallible<Vec<Arc<Attributes>>> {
        let hide_result = self.components[id].inherited.hide_result;
        let description = self.description(id);
        if plain && description.is_none() && !hide_result {
            return Ok(vec![Arc::clone(&self.no_attributes)]);
        }
        let mut base = Attributes {
            description,
            hide_result,
            ..Attributes::default()
        };
        if plain {
            return Ok(vec![Arc::new(base)]);
        }
        let own = Ty::of(ty);
        let text = |this: &mut Self, name: &str| -> Fallible<Option<Arc<str>>> {
            let value = this.attribute(id, name, Ty::String, Mode::Evaluate)?;
            Ok(value.and_then(|texts| text_at(&texts, 0)))
        };
        let mut units = None;
        if ty == ScalarType::Real {
            units = self.attribute(id, "unit", Ty::String, Mode::Evaluate)?;
            base.unit = units.as_ref().and_then(|units| text_at(units, 0));
            base.display_unit = text(self, "displayUnit")?;
            base.state_select = self.state_select(id)?;
        }
        base.quantity = text(self, "quantity")?;
        let mut per_element: Vec<(&str, Tensor)> = Vec::new();
        let table = self.table(self.components[id].class)?;
        let names = table.simple.map_or(&[][..], attribute_names);
        for name in ["min", "max", "nominal"] {
            if names.contains(&name)
                && let Some(value) = self.attribute(id, name, own, Mode::Flat)?
            {
                per_element.push((name, value));
            }
        }
        base.guess = self.guess(id)?;
        let same = per_element
            .iter()
            .map(|(_, t)| t)
            .chain(&units)
            .all(|t| t.elems.iter().all(|e| *e == t.elems[0]));
        let sets = if same { count.min(1) } else { count };
        let mut result = Vec::with_capacity(sets.max(1));
        for offset in 0..sets {
            let mut attributes = base.clone();
            if let Some(units) = &units {
                attributes.unit = text_at(units, offset);
            }
            for (name, value) in &per_element {
                let value = expr_at(value, offset);
                match *name {
                    "min" => attributes.min = value,
                    "max" => attributes.max = value,
                    _ => attributes.nominal = value,
                }
            }
            result.push(Arc::new(attributes));
        }
        if result.is_empty() {
            result.push(Arc::new(base));
        }
        Ok(result)
    }

    /// Where the component is given a start value and nothing is said of `fixed`.
    fn guess(&mut self, id: ComponentId) -> Fallible<Option<Guess>> {
        let Some((binding, true)) = self.attribute_binding(id, "start")? else {
            return Ok(None);
        };
        if self.attribute_binding(id, "fixed")?.is_some() {
            return Ok(None);
        }
        // The value as it is written: that of one element may be a part of it.
        self.binding_value(&binding, Mode::Flat)?;
        let written = binding.source.flat.borrow();
        Ok(Some(Guess {
            span: binding.span(),
            is_array: written.as_ref().is_some_and(|value| !value.is_scalar()),
        }))
    }

    fn description(&self, id: ComponentId) -> Option<Arc<str>> {
        let component = &self.components[id];
        let table = &self.instances[component.parent].table;
        let (_, declared) = table.entries.get(component.entry as usize)?.component()?;
        let text = declared.description.as_ref()?;
        Some(text.value.as_str().into())
    }

    fn state_select(&mut self, id: ComponentId) -> Fallible<StateSelect> {
        let Some((binding, _)) = self.attribute_binding(id, "stateSelect")? else {
            return Ok(StateSelect::Default);
        };
        let value = self.binding_value(&binding, Mode::Evaluate)?;
        let ordinal = match value.elems.first() {
            Some(Elem::Expr(FlatExpr::Enumeration(_, ordinal))) => *ordinal,
            _ => {
                return fail(codes::E0301, binding.span(), "this must be a literal of StateSelect");
            }
        };
        Ok(match ordinal {
            1 => StateSelect::Never,
            2 => StateSelect::Avoid,
            4 => StateSelect::Prefer,
            5 => StateSelect::Always,
            _ => StateSelect::Default,
        })
    }

    fn finish_binding(&mut self, id: ComponentId, ty: ScalarType, first: VariableId) -> Fallible<()> {
        let component = &self.components[id];
        let (mods, variability) = (Rc::clone(&component.mods), component.variability);
        let (dims, path) = (component.dims.clone(), Arc::clone(&component.path));
        let Some(binding) = &mods.binding else {
            return Ok(());
        };
        self.check_each(id, binding);
        if variability == Variability::Constant {
            let flat = self.binding_value(binding, Mode::Flat)?;
            for expr in flat.exprs() {
                if self.expr_variability(expr) > Variability::Constant {
                    return fail(
                        codes::E0303,
                        binding.span(),
                        format!("the constant `{path}` cannot depend on what is not constant"),
                    );
                }
            }
            let value = self.component_value(id, binding.span())?;
            self.set_bindings(first, &value);
            return Ok(());
        }
        let moment = if variability > Variability::Parameter {
            Moment::Any
        } else {
            Moment::Start
        };
        let value = self.at_moment(moment, |this| this.binding_value(binding, Mode::Flat))?;
        let value = self.fit(value, Ty::of(ty), &dims, &path, binding)?;
        self.check_discrete_binding(id, ty, binding)?;
        if variability == Variability::Parameter {
            for expr in value.exprs() {
                self.check_parameter_expr(expr, &format!("parameter `{path}`"), binding)?;
            }
            // What was needed while flattening must not be changed afterwards.
            self.set_bindings(first, &value);
            return Ok(());
        }
        let owner = Arc::clone(&self.instances[self.components[id].parent].path);
        let provenance = self.add_provenance(binding.span(), &owner, ProvenanceKind::Binding);
        let input = self.components[id].causality == Some(AstCausality::Input);
        for (offset, expr) in value.exprs().enumerate() {
            let variable = VariableId(first.0 + offset as u32);
            if input {
                self.model.variables[variable].causality = Causality::Internal;
            }
            self.model.equations.push(FlatEquation {
                kind: EquationKind::Equal(FlatExpr::Variable(variable), expr.clone()),
                provenance,
            });
        }
        Ok(())
    }

    /// A discrete Real is set in a `when` (4.4.4).
    fn check_discrete_binding(&self, id: ComponentId, ty: ScalarType, binding: &Binding) -> Fallible<()> {
        let component = &self.components[id];
        let is_input = component.causality == Some(AstCausality::Input);
        if ty != ScalarType::Real || component.variability != Variability::Discrete || is_input {
            return Ok(());
        }
        let message = format!("the discrete `{}` can be determined in a `when` only", component.path);
        Err(error(codes::E0303, binding.span(), message)
            .with_help("leave `discrete` out, or set it in a `when`")
            .into())
    }

    fn set_bindings(&mut self, first: VariableId, value: &Tensor) {
        for (offset, expr) in value.exprs().enumerate() {
            let variable = VariableId(first.0 + offset as u32);
            self.model.variables[variable].binding = Some(expr.clone());
        }
    }

    fn check_parameter_expr(&self, expr: &FlatExpr, what: &str, binding: &Binding) -> Fallible<()> {
        let mut varying = None;
        expr.walk(&mut |e| match e {
            FlatExpr::Variable(v) if self.model.variables[*v].variability > Variability::Parameter => {
                varying = Some(Arc::clone(&self.model.variables[*v].name));
            }
            FlatExpr::Time => varying = Some("time".into()),
            _ => {}
        });
        match varying {
            None => Ok(()),
            Some(name) => fail(
                codes::E0303,
                binding.span(),
                format!("the {what} cannot depend on `{name}`, which varies with time"),
            ),
        }
    }

    /// The enumeration of a class, and the number of its literals.
    pub(crate) fn enumeration(&mut self, class: ClassId) -> Fallible<(EnumerationId, u32)> {
        let def = Arc::clone(self.def(class));
        let ClassBody::Enumeration { literals } = &def.body else {
            return fail(codes::E0202, def.span, "this is not an enumeration");
        };
        let Some(literals) = literals else {
            return fail(
                codes::E0304,
                def.span,
                "`enumeration(:)` has no literals until it is redeclared",
            );
        };
        // Predefined enumerations have no place; their names tell them apart.
        let key = if def.span.is_empty() {
            (u32::MAX, def.name.name.len() as u32, literals.len() as u32)
        } else {
            (def.span.file.0, def.span.start, def.span.end)
        };
        if let Some(&id) = self.enumerations.get(&key) {
            return Ok((id, literals.len() as u32));
        }
        let id = self.model.enumerations.push(Enumeration {
            name: Arc::clone(&self.classes[class].name),
            literals: literals.iter().map(|l| l.name.name.as_str().into()).collect(),
        });
        self.enumerations.insert(key, id);
        Ok((id, literals.len() as u32))
    }

    pub(crate) fn enumeration_literal(
        &mut self,
        class: ClassId,
        name: &saltus_syntax::ast::Name,
        span: saltus_source::Span,
    ) -> Fallible<Tensor> {
        let (id, _) = self.enumeration(class)?;
        let literals = self.model.enumerations[id].literals.clone();
        match literals.iter().position(|l| **l == **name) {
            Some(position) => Ok(Tensor::scalar(
                Ty::Enumeration(id),
                FlatExpr::Enumeration(id, position as u32 + 1),
            )),
            None => {
                let mut diagnostic = crate::failure::error(
                    codes::E0201,
                    span,
                    format!("`{}` has no literal `{name}`", self.model.enumerations[id].name),
                );
                if let Some(other) = crate::failure::did_you_mean(name, literals.iter().map(|l| &**l)) {
                    diagnostic = self.suggesting(diagnostic, name, span, other);
                }
                Err(diagnostic.into())
            }
        }
    }
}

fn expr_at(value: &Tensor, offset: usize) -> Option<FlatExpr> {
    match value.elems.get(offset) {
        Some(Elem::Expr(expr)) => Some(expr.clone()),
        _ => None,
    }
}

fn text_at(value: &Tensor, offset: usize) -> Option<Arc<str>> {
    match value.elems.get(offset) {
        Some(Elem::Expr(FlatExpr::String(text))) => Some(Arc::clone(text)),
        _ => None,
    }
}
