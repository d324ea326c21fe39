//! The part of a modification's value that is meant for one component.

use std::rc::Rc;

use crate::codes;
use crate::expr::{Context, Mode};
use crate::failure::{Failure, Fallible, fail};
use crate::flattener::Flattener;
use crate::modification::{Binding, Selector};
use crate::tensor::{Tensor, Ty, shape};

impl Flattener<'_> {
    /// The value of a binding, translated or evaluated once for all components it is spread over.
    pub(crate) fn binding_value(&mut self, binding: &Binding, mode: Mode) -> Fallible<Tensor> {
        let source = Rc::clone(&binding.source);
        let cache = match mode {
            Mode::Flat => &source.flat,
            Mode::Evaluate => &source.value,
        };
        let known = cache.borrow().clone();
        let value = match known {
            Some(value) => value,
            None => {
                let ctx = Context::new(source.scope, mode);
                self.enter(source.expr.span)?;
                let result = self.expr(&source.expr, &ctx);
                self.leave();
                let value = Rc::new(result?);
                if mode == Mode::Evaluate && !value.is_known() {
                    return fail(
                        codes::E0304,
                        source.expr.span,
                        "this must be known before the simulation, but it is not",
                    );
                }
                // A value for one component only need not be kept.
                if !binding.selectors.is_empty() || mode == Mode::Evaluate {
                    *cache.borrow_mut() = Some(Rc::clone(&value));
                }
                value
            }
        };
        if binding.selectors.is_empty() {
            return Ok(Rc::unwrap_or_clone(value));
        }
        self.select_part(&value, binding)
    }

    fn select_part(&mut self, value: &Tensor, binding: &Binding) -> Fallible<Tensor> {
        let mut current: Option<Tensor> = None;
        for selector in &binding.selectors {
            let from = current.as_ref().unwrap_or(value);
            let next = match selector {
                Selector::Field(name) => from.field(name),
                Selector::Index { sizes, .. } if !from.dims.starts_with(sizes) => None,
                Selector::Index { index, .. } => {
                    let mut part: Option<Tensor> = None;
                    for &k in index {
                        part = part.as_ref().unwrap_or(from).at(k);
                        if part.is_none() {
                            break;
                        }
                    }
                    part
                }
            };
            current = match next {
                Some(next) => Some(next),
                None => return Err(self.wrong_part(from, selector, binding)),
            };
        }
        Ok(current.unwrap_or_else(|| value.clone()))
    }

    fn wrong_part(&self, value: &Tensor, selector: &Selector, binding: &Binding) -> Failure {
        let diagnostic = match selector {
            Selector::Field(name) => crate::failure::error(
                codes::E0301,
                binding.span(),
                format!("this is {} and has no field `{name}`", value.shape()),
            ),
            Selector::Index { sizes, .. } if value.dims.len() >= sizes.len() => crate::failure::error(
                codes::E0302,
                binding.span(),
                format!(
                    "this is {}, but it is spread over an array of components with the sizes {}",
                    value.shape(),
                    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
                ),
            )
            .with_help("give one value for each component, or write `each` if all get the same"),
            Selector::Index { .. } => crate::failure::error(
                codes::E0302,
                binding.span(),
                format!(
                    "this is {}, but one value is needed for each element of an array of components",
                    value.shape()
                ),
            )
            .with_help("write `each` if all elements get the same value"),
        };
        let diagnostic = match selector {
            Selector::Index { .. } => self.inserting_each(diagnostic, binding.span(), value.is_scalar()),
            Selector::Field(_) => diagnostic,
        };
        diagnostic.into()
    }

    /// Checks a value against the type and size of what it is given to.
    pub(crate) fn fit(
        &mut self,
        value: Tensor,
        ty: Ty,
        dims: &[u32],
        name: &str,
        binding: &Binding,
    ) -> Fallible<Tensor> {
        if !ty.accepts(value.ty) && !value.elems.is_empty() {
            return fail(
                codes::E0301,
                binding.span(),
                format!("`{name}` is {} and cannot be given {}", shape(ty, dims), value.shape()),
            );
        }
        if binding.skip > 0 && value.dims.len() < dims.len() {
            return Ok(value.repeat(&dims[..dims.len() - value.dims.len()]).coerce(ty));
        }
        if value.dims[..] != *dims {
            return fail(
                codes::E0302,
                binding.span(),
                format!("`{name}` is {} and cannot be given {}", shape(ty, dims), value.shape()),
            );
        }
        Ok(value.coerce(ty))
    }
}
