//! Equations that decide on connections, looked at before all others.

use std::rc::Rc;
use std::sync::Arc;

use saltus_syntax::ast::{self, Equation, ForIndex};

use crate::expr::{Context, Iterators, Mode};
use crate::flattener::Flattener;
use crate::ids::InstanceId;
use crate::modification::Scope;

type Visitor<'v, 'l> = &'v mut dyn FnMut(&mut Flattener<'l>, &Equation, &Context<'_>);

impl<'l> Flattener<'l> {
    /// Visits the equations of an instance: loops written out, branches chosen where that is
    /// possible already.
    pub(super) fn visit_structure(&mut self, instance: InstanceId, visit: Visitor<'_, 'l>) {
        let table = Rc::clone(&self.instances[instance].table);
        for &class in &table.scopes {
            let def = Arc::clone(self.def(class));
            let Some(composition) = def.composition() else {
                continue;
            };
            let ctx = Context::new(
                Scope {
                    class,
                    instance: Some(instance),
                },
                Mode::Flat,
            );
            for section in composition.equations.iter().filter(|s| !s.initial) {
                self.visit_equations(&section.equations, &ctx, visit);
            }
        }
    }

    fn visit_equations(&mut self, equations: &[Equation], ctx: &Context<'_>, visit: Visitor<'_, 'l>) {
        for equation in equations {
            match &equation.kind {
                ast::EquationKind::If { branches, otherwise } => {
                    let chosen = self.chosen_branch(branches, otherwise.as_deref(), ctx);
                    self.visit_equations(chosen.unwrap_or(&[]), ctx, visit);
                }
                ast::EquationKind::For { indices, body } => self.visit_loop(indices, body, ctx, visit),
                _ => visit(self, equation, ctx),
            }
        }
    }

    fn chosen_branch<'e>(
        &mut self,
        branches: &'e [ast::EquationBranch],
        otherwise: Option<&'e [Equation]>,
        ctx: &Context<'_>,
    ) -> Option<&'e [Equation]> {
        for branch in branches {
            match self.evaluate_condition(&branch.condition, ctx) {
                Ok(true) => return Some(&branch.body),
                Ok(false) => {}
                Err(_) => return None,
            }
        }
        otherwise
    }

    fn visit_loop(&mut self, indices: &[ForIndex], body: &[Equation], ctx: &Context<'_>, visit: Visitor<'_, 'l>) {
        let Some((index, rest)) = indices.split_first() else {
            self.visit_equations(body, ctx, visit);
            return;
        };
        let find = |name: &str| super::implicit::in_equations(body, name);
        let Ok(values) = self.iterator_values(index, &find, ctx) else {
            return;
        };
        for value in (1..=values.dims[0]).filter_map(|k| values.at(k)) {
            let iterators = Iterators {
                name: &index.name.name,
                value: &value,
                outer: ctx.iterators,
            };
            self.visit_loop(rest, body, &ctx.with_iterators(&iterators), visit);
        }
    }
}
