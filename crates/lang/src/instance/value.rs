//! The values of constants and parameters, for decisions while flattening.

use std::rc::Rc;

use saltus_source::Span;
use smallvec::SmallVec;

use super::{ComponentKind, ValueState};
use crate::codes;
use crate::expr::Mode;
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::{FlatExpr, Variability};
use crate::flattener::Flattener;
use crate::ids::ComponentId;
use crate::tensor::{Tensor, Ty, volume};

impl Flattener<'_> {
    /// The value of a constant or parameter; an error for what varies.
    pub(crate) fn component_value(&mut self, id: ComponentId, span: Span) -> Fallible<Rc<Tensor>> {
        let component = &self.components[id];
        match &component.value {
            ValueState::Known(value) => return Ok(Rc::clone(value)),
            ValueState::Evaluating => {
                return Err(error(
                    codes::E0305,
                    component.span,
                    format!("the value of `{}` depends on itself", component.path),
                )
                .with_secondary(span, "needed here")
                .into());
            }
            ValueState::Unknown => {}
        }
        let external = matches!(component.kind, ComponentKind::External);
        if component.variability > Variability::Parameter && !external {
            return Err(error(
                codes::E0304,
                span,
                format!(
                    "`{}` varies with time, but its value is needed before the simulation",
                    component.path
                ),
            )
            .with_secondary(component.span, "declared here without `parameter` or `constant`")
            .into());
        }
        self.enter(span)?;
        self.components[id].value = ValueState::Evaluating;
        let result = self.evaluate_component(id, span);
        self.leave();
        match result {
            Ok(value) => {
                self.hold_constant(value.elems.len(), span)?;
                let value = Rc::new(value);
                self.components[id].value = ValueState::Known(Rc::clone(&value));
                self.mark_structural(id);
                Ok(value)
            }
            Err(failure) => {
                self.components[id].value = ValueState::Unknown;
                Err(failure)
            }
        }
    }

    fn mark_structural(&mut self, id: ComponentId) {
        let component = &self.components[id];
        if component.variability != Variability::Parameter {
            return;
        }
        if let ComponentKind::Primitive { first: Some(first), .. } = component.kind {
            let count = volume(&component.dims).unwrap_or(0) as u32;
            for offset in 0..count {
                self.model.variables[crate::flat::VariableId(first.0 + offset)].structural = true;
            }
        }
    }

    fn evaluate_component(&mut self, id: ComponentId, span: Span) -> Fallible<Tensor> {
        let component = &self.components[id];
        let (dims, mods, path) = (
            component.dims.clone(),
            Rc::clone(&component.mods),
            component.path.clone(),
        );
        match &component.kind {
            ComponentKind::Complex { elements } => {
                let ty = Ty::Record(component.class);
                let mut elems = SmallVec::new();
                for element in elements.clone() {
                    elems.push(self.instance_value(element, span, Mode::Evaluate)?);
                }
                Ok(Tensor { ty, dims, elems })
            }
            ComponentKind::External => match &mods.binding {
                Some(binding) => self.binding_value(binding, Mode::Evaluate),
                None => fail(codes::E0310, component.span, format!("`{path}` has no value")),
            },
            ComponentKind::Primitive { ty, .. } => {
                let ty = Ty::of(*ty);
                if let Some(binding) = &mods.binding {
                    let value = self.binding_value(binding, Mode::Evaluate)?;
                    return self.fit(value, ty, &dims, &path, binding);
                }
                self.default_value(id, ty, span)
            }
        }
    }

    /// Without a binding a parameter has its start value.
    fn default_value(&mut self, id: ComponentId, ty: Ty, span: Span) -> Fallible<Tensor> {
        let component = &self.components[id];
        let (path, declared) = (component.path.clone(), component.span);
        let dims = component.dims.clone();
        if dims.contains(&0) {
            return Ok(Tensor {
                ty,
                dims,
                elems: SmallVec::new(),
            });
        }
        let missing = || -> Failure {
            error(
                codes::E0310,
                span,
                format!("`{path}` has no value, but it is needed before the simulation"),
            )
            .with_secondary(declared, "declared here")
            .with_help(format!("give it one: `{path} = …`"))
            .into()
        };
        if component.variability == Variability::Constant {
            return Err(missing());
        }
        let fixed = self.attribute(id, "fixed", Ty::Boolean, Mode::Evaluate)?;
        if fixed.is_some_and(|f| f.exprs().any(|e| *e == FlatExpr::Boolean(false))) {
            return fail(
                codes::E0304,
                span,
                format!("`{path}` is found at initialisation, but its value is needed before"),
            );
        }
        match self.attribute(id, "start", ty, Mode::Evaluate)? {
            Some(value) => Ok(value),
            None => Err(missing()),
        }
    }
}
