//! A mode as equations of index 1, as Modelica text: for solvers that expect such.
//!
//! After C. W. Gear, G. K. Gupta and B. Leimkuhler, and section 4.3 of the LNCS paper: all constraints stay, down to the
//! values themselves, and multipliers make up for their number. With the offsets c and d of the mode, an equation f with c > 0
//! gives f, f', …, up to its derivative of order c − 1; of an unknown x the derivatives below d are variables of their own. What
//! relates them gets a term for each constraint of the same level l ≥ 2,
//!
//! ```text
//! der(x_k) = x_{k+1} + Σ (∂f^(c−l) / ∂x_k) * der(mu_{f,l}),   k = d − l,
//! ```
//!
//! and unknowns without derivatives are derivatives of their integrals. The form is regular where the mode is: level 1 has the
//! Jacobian J = ∂f^(c)/∂x^(d) of the mode, level l ≥ 2 the matrix (I, Gᵀ; G, 0) with rows G of J, which are independent. The
//! multipliers are zero: the solution is that of the mode.

use std::fmt::Write;

use saltus_mdae::print::{Names, UserNames, expression_in_full};
use saltus_mdae::{
    BinaryFunction, Comparison, ConditionId, ConditionKind, Derivative, ExprId, ExprPool, FunctionId, Mdae, Node, Role,
    Type, VarId,
};
use saltus_structure::mode::ModeStructure;

use crate::discrete_state::DiscreteState;

/// A mode to be written.
pub(crate) struct IndexOne<'a> {
    pub model: &'a Mdae,
    pub structure: &'a ModeStructure,
    /// Values of discrete variables and parameters.
    pub state: &'a DiscreteState,
    /// Values at the start by the names users know.
    pub starts: &'a [(String, f64)],
    /// The name of the model that is written, and what it is.
    pub name: &'a str,
    pub description: &'a str,
}

/// Names in the form that is written: `x`, `'der(x)'` for a variable, `der(…)` for the highest derivative.
struct FormNames<'a> {
    users: UserNames<'a>,
    structure: &'a ModeStructure,
}

/// An identifier of Modelica.
fn identifier(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !name.starts_with(|c: char| c.is_ascii_digit()) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"))
    }
}

impl FormNames<'_> {
    fn order(&self, var: VarId) -> Option<u16> {
        self.structure.d_of(var)
    }

    /// The variable that is a derivative of lower order, or the integral of an unknown without derivative.
    fn own(&self, var: VarId, order: u16) -> String {
        let name = self.users.derivative(var, order);
        match self.order(var) {
            Some(0) => identifier(&format!("integral({name})")),
            _ => identifier(&name),
        }
    }
}

impl Names for FormNames<'_> {
    fn variable(&self, var: VarId) -> &str {
        self.users.variable(var)
    }
    fn derivative(&self, var: VarId, order: u16) -> String {
        match self.order(var) {
            Some(0) => format!("der({})", self.own(var, 0)),
            Some(d) if order >= d => format!("der({})", self.own(var, d - 1)),
            _ => identifier(&self.users.derivative(var, order)),
        }
    }
    fn condition(&self, condition: ConditionId) -> &str {
        self.users.condition(condition)
    }
    fn function(&self, function: FunctionId) -> &str {
        self.users.function(function)
    }
}

impl IndexOne<'_> {
    /// The form; refused, in words, if something in it cannot be written.
    pub(crate) fn text(&self, pool: &mut ExprPool) -> Result<String, String> {
        let names = FormNames {
            users: UserNames::new(self.model),
            structure: self.structure,
        };
        let mut equations = Vec::new();
        let mut multipliers: Vec<String> = Vec::new();
        // Terms that the constraints add to what relates a derivative and the next.
        let mut added: Vec<(VarId, u16, String)> = Vec::new();
        let mut used = Vec::new();
        for (row, &equation) in self.structure.equations.iter().enumerate() {
            let residual = self.fixed(pool, self.model.equations[equation].residual);
            let c = self.structure.sigma.c[row];
            used.extend(pool.occurrences(residual));
            for order in 0..c.max(1) {
                let derived = pool.nth_total_derivative(residual, order);
                equations.push(format!("0 = {}", self.written(pool, &names, derived)?));
                let level = c - order.min(c);
                if level < 2 {
                    continue;
                }
                let multiplier = identifier(&format!("mu[{},{level}]", row + 1));
                for &Derivative { var, order: own } in &pool.occurrences(derived) {
                    if self.structure.d_of(var) == Some(own + level) {
                        let slope = pool.partial_derivative(derived, var, own);
                        let slope = self.written(pool, &names, slope)?;
                        added.push((var, own, format!(" + ({slope})*der({multiplier})")));
                    }
                }
                multipliers.push(multiplier);
            }
        }
        for &var in &self.structure.unknowns {
            let d = self.structure.d_of(var).unwrap_or(0);
            for order in 0..d.saturating_sub(1) {
                let terms = added.iter().filter(|(of, own, _)| (*of, *own) == (var, order));
                let terms: String = terms.map(|(.., term)| term.as_str()).collect();
                let (own, next) = (names.own(var, order), names.own(var, order + 1));
                equations.push(format!("der({own}) = {next}{terms}"));
            }
        }
        let mut text = format!("model {} {}\n", identifier(self.name), quoted(self.description));
        self.declare(&mut text, &names, &used);
        for multiplier in &multipliers {
            let _ = writeln!(text, "  Real {multiplier}(start = 0) \"its derivative is zero\";");
        }
        text.push_str("equation\n");
        for equation in &equations {
            let _ = writeln!(text, "  {equation};");
        }
        let _ = writeln!(text, "end {};", identifier(self.name));
        Ok(text)
    }

    fn declare(&self, text: &mut String, names: &FormNames, used: &[Derivative]) {
        let mut others: Vec<VarId> = used.iter().map(|read| read.var).collect();
        others.sort_unstable();
        others.dedup();
        for var in others {
            let name = names.users.derivative(var, 0);
            let own = identifier(&name);
            let _ = match self.model.variables[var].role {
                Role::Parameter => writeln!(text, "  parameter Real {own} = {};", self.state.value(var, 0)),
                Role::Input => writeln!(text, "  input Real {own};"),
                _ => Ok(()),
            };
        }
        for &var in &self.structure.unknowns {
            let d = self.structure.d_of(var).unwrap_or(0);
            for order in 0..d.max(1) {
                let users = names.users.derivative(var, order);
                let start = self
                    .starts
                    .iter()
                    .find(|(name, _)| *name == users)
                    .map(|(_, value)| *value);
                let start = if d == 0 { Some(0.0) } else { start };
                let start = start
                    .filter(|start| start.is_finite())
                    .map_or(String::new(), |start| format!("(start = {start})"));
                let _ = writeln!(text, "  Real {}{start};", names.own(var, order));
            }
        }
    }

    /// An expression with what is fixed in the mode as numbers, and relations as they are computed.
    fn fixed(&self, pool: &mut ExprPool, root: ExprId) -> ExprId {
        let model = self.model;
        pool.rewrite(&[root], |pool, _, node| match node {
            Node::Var { var, order: 0 } | Node::Pre { var, order: 0 }
                if model.variables[var].role == Role::Discrete =>
            {
                let value = self.state.value(var, 0);
                Some(match model.variables[var].ty {
                    Type::Boolean => pool.boolean(value != 0.0),
                    _ => pool.real(value),
                })
            }
            Node::Condition(id) => Some(match model.conditions[id].kind {
                ConditionKind::Relation { function, comparison } => {
                    let zero = pool.real(0.0);
                    let comparison = match comparison {
                        Comparison::Greater => BinaryFunction::Gt,
                        Comparison::GreaterEqual => BinaryFunction::Ge,
                    };
                    pool.binary(comparison, function, zero)
                }
                ConditionKind::Sample { .. } | ConditionKind::Tick { .. } | ConditionKind::Timer { .. } => {
                    pool.boolean(false)
                }
            }),
            _ => None,
        })[0]
    }

    fn written(&self, pool: &ExprPool, names: &FormNames, expr: ExprId) -> Result<String, String> {
        let called = pool.reachable(&[expr]).into_iter().find_map(|id| match pool.node(id) {
            Node::Call { function, .. } => Some(function),
            _ => None,
        });
        if let Some(function) = called {
            let name = names.function(function);
            return Err(format!("it calls the function `{name}`, which is not written along"));
        }
        expression_in_full(pool, names, expr).ok_or_else(|| "an equation of it is too long to be written".to_owned())
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
