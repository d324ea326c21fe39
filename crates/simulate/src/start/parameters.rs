//! Parameters with `fixed = false`: what the start gives them, and what follows from it.

use rustc_hash::FxHashSet;
use saltus_mdae::{BinaryFunction, Derivative, Equation, ExprId, Mdae, Node, OriginKind, Role, Type, VarId, Variable};
use saltus_structure::restart::ModeEquation;

use crate::engine::Engine;
use crate::error::Failure;
use crate::events::iteration::same;

/// So many parameters without a value are named.
const MOST_UNSET: usize = 10;

/// A start value that depends on a parameter that is solved for at the start.
#[derive(Copy, Clone, Debug)]
pub(crate) struct OpenStart {
    pub var: VarId,
    pub order: u16,
    pub value: ExprId,
    /// As an equation, where the start value is fixed.
    pub equation: Option<ModeEquation>,
}

/// The equations of the start that were bindings of parameters to which the run gives values.
pub(super) fn replaced_bindings(model: &Mdae, given: &[(VarId, f64)]) -> FxHashSet<ExprId> {
    let is_replaced = |equation: &&Equation| {
        let of_binding = model.origins[equation.origin].kind == OriginKind::Binding;
        let defines = match model.pool.node(equation.residual) {
            Node::Binary(BinaryFunction::Sub, this, _) => model.pool.node(this),
            _ => return false,
        };
        of_binding && matches!(defines, Node::Var { var, .. } if given.iter().any(|&(known, _)| known == var))
    };
    let equations = model.initial_equations.iter();
    equations
        .filter(is_replaced)
        .map(|equation| equation.residual)
        .collect()
}

impl Engine {
    /// Start values that depend on what is solved for at the start: variables, and derivatives by the names of aliases.
    pub(super) fn open_start_list(&mut self) -> Vec<OpenStart> {
        let of_variables = self.model.variables.iter_enumerated();
        let mut said: Vec<(VarId, u16, bool, &Variable)> = of_variables.map(|(id, v)| (id, 0, false, v)).collect();
        let of_aliases = self.model.aliases.iter();
        said.extend(of_aliases.map(|alias| (alias.target, alias.order, alias.negated, &alias.variable)));
        let mut found: Vec<OpenStart> = Vec::new();
        let mut seen: FxHashSet<Derivative> = FxHashSet::default();
        for (var, order, negated, variable) in said {
            let role = self.model.variables[var].role;
            let (Some(start), Role::Continuous | Role::Discrete) = (variable.start, role) else {
                continue;
            };
            if !self.reads_open_parameter(start) || !seen.insert(Derivative::new(var, order)) {
                continue;
            }
            let value = if negated { self.pool.neg(start) } else { start };
            let equation = (variable.fixed && role == Role::Continuous).then(|| {
                let this = self.pool.der_var(var, order);
                ModeEquation {
                    residual: self.pool.sub(this, value),
                    origin: variable.origin,
                }
            });
            found.push(OpenStart {
                var,
                order,
                value,
                equation,
            });
        }
        for open in found.iter().filter(|open| open.equation.is_some()) {
            if let Some(start) = self.start.values.get_mut(open.var, open.order) {
                start.fixed = false;
            }
        }
        found
    }

    pub(crate) fn reads_open_parameter(&self, expr: ExprId) -> bool {
        let read = self.pool.occurrences(expr);
        read.into_iter()
            .any(|Derivative { var, .. }| self.is_open_parameter(var))
    }

    /// Start values that only guide the search follow the parameters that were found; whether any has changed.
    pub(crate) fn renew_starts(&mut self, saved: &mut [f64]) -> Result<bool, Failure> {
        let mut changed = false;
        for at in 0..self.start.open.len() {
            let OpenStart { var, order, value, .. } = self.start.open[at];
            if self.model.variables[var].role != Role::Continuous || order >= self.memory.orders(var) {
                continue;
            }
            let value = self.value_of(value)?;
            let slots = [self.memory.slot(var, order), self.memory.left_slot(var, order)];
            changed |= !close(value, saved[slots[0] as usize]);
            slots.iter().for_each(|&slot| saved[slot as usize] = value);
            if let Some(start) = self.start.values.get_mut(var, order) {
                start.value = value;
            }
        }
        Ok(changed)
    }

    /// Parameters with `fixed = false` that nothing at the start determines keep their start values, which is reported.
    pub(super) fn warn_of_open_parameters(&mut self) {
        for var in std::mem::take(&mut self.start.undetermined) {
            let (name, value) = (self.name(var, 0), self.memory.get(var, 0));
            let warning = format!(
                "nothing determines the parameter {name}, which has `fixed = false`: its start value {value} is used"
            );
            if !self.reported.warnings.contains(&warning) {
                self.reported.warnings.push(warning);
            }
        }
    }

    /// Parameters to which neither the model nor the run gives a value.
    pub(super) fn warn_of_unset_parameters(&mut self) {
        let variables = self.model.variables.iter_enumerated();
        let unset = variables.filter(|(id, variable)| variable.unset && !self.start.solved_parameters.contains(id));
        let reported = |(id, variable): (VarId, &Variable)| {
            let number = self.memory.get(id, 0);
            let literals = variable.literals.as_deref().unwrap_or_default();
            let literal = literals.get((number as usize).wrapping_sub(1));
            let value = literal.map_or_else(|| number.to_string(), |literal| literal.to_string());
            let which = match variable.start {
                Some(_) => "its start value",
                None => "the default",
            };
            format!("the parameter {} has no value: {which} {value} is used", variable.name)
        };
        let mut reported: Vec<String> = unset.map(reported).collect();
        if reported.len() > MOST_UNSET {
            let more = reported.len() - MOST_UNSET;
            reported.truncate(MOST_UNSET);
            reported.push(format!("{more} more parameters have no value"));
        }
        for warning in reported {
            // The start may be tried several times.
            if !self.reported.warnings.contains(&warning) {
                self.reported.warnings.push(warning);
            }
        }
    }

    /// Whether a variable is a parameter that initial equations determine and whose value is not known yet.
    pub(crate) fn is_open_parameter(&self, var: VarId) -> bool {
        let variable = &self.model.variables[var];
        variable.role == Role::Parameter
            && variable.binding.is_none()
            && !variable.fixed
            && !self.start.solved_parameters.contains(&var)
    }

    /// Parameters with `fixed = false` that an initial equation `p = expression` of known values gives.
    pub(super) fn solve_open_parameters(&mut self) -> Result<(), Failure> {
        loop {
            let mut progress = self.assign_open_parameters()?;
            for equation in &self.model.initial_equations {
                if self.start.used_up.contains(&equation.residual) {
                    continue;
                }
                let Some((var, value)) = self.gives_parameter(equation.residual) else {
                    continue;
                };
                if self.value_of(equation.guard)? == 0.0 {
                    continue;
                }
                let value = self.value_of(value)?;
                self.memory.set(var, 0, value);
                self.memory.set_left(var, 0, value);
                self.start.solved_parameters.insert(var);
                self.start.used_up.insert(equation.residual);
                progress = true;
            }
            if !progress {
                return Ok(());
            }
        }
    }

    /// The same of parameters that an equation gives and no iteration finds: Booleans, integers, enumerations.
    pub(super) fn assign_open_parameters(&mut self) -> Result<bool, Failure> {
        let mut progress = false;
        for equation in &self.model.initial_assignments {
            let target = equation.target;
            if !self.is_open_parameter(target) || !self.is_known(equation.value) || !self.is_known(equation.guard) {
                continue;
            }
            if self.value_of(equation.guard)? != 0.0 {
                let value = self.value_of(equation.value)?;
                self.memory.set(target, 0, value);
                self.memory.set_left(target, 0, value);
                self.start.solved_parameters.insert(target);
                progress = true;
            }
        }
        Ok(progress)
    }

    /// Whether everything in an expression is known before initialisation.
    pub(super) fn is_known(&self, expr: ExprId) -> bool {
        let nodes = self.model.pool.reachable(&[expr]);
        nodes.into_iter().all(|id| match self.model.pool.node(id) {
            Node::Var { var, .. } => self.model.variables[var].role == Role::Parameter && !self.is_open_parameter(var),
            Node::Pre { .. } | Node::Condition(_) => false,
            _ => true,
        })
    }

    /// Reads `p = expression`, with everything in the expression known.
    pub(super) fn gives_parameter(&self, residual: ExprId) -> Option<(VarId, ExprId)> {
        let Node::Binary(saltus_mdae::BinaryFunction::Sub, a, b) = self.model.pool.node(residual) else {
            return None;
        };
        [(a, b), (b, a)].into_iter().find_map(|(this, other)| {
            let Node::Var { var, order: 0 } = self.model.pool.node(this) else {
                return None;
            };
            (self.is_open_parameter(var) && self.is_known(other)).then_some((var, other))
        })
    }

    /// Parameters that iterations find: the values of others are given.
    pub(crate) fn unknown_parameters(&self) -> Vec<VarId> {
        let variables = self.model.variables.ids();
        let real = |id: &VarId| self.model.variables[*id].ty == Type::Real;
        variables
            .filter(real)
            .filter(|&id| self.is_open_parameter(id))
            .collect()
    }
}

/// Equal but for what an iteration leaves.
pub(super) fn close(a: f64, b: f64) -> bool {
    same(a, b) || (a - b).abs() <= 1e-10 * (a.abs() + b.abs())
}
