//! The constructive semantics of RR-8933 as a report: never a gate, what it refuses may simulate all the same.

use saltus_mdae::print::{Names, UserNames};
use saltus_mdae::{Action, EquationId, Idx, Mdae, VarId};
use saltus_structure::constructive::{Options, Report, System, TooManyPredicates, analyze};

use super::mode::residual_text;
use crate::Model;

/// What the constructive semantics says about a model.
#[derive(Clone, Debug)]
pub struct ConstructiveReport {
    /// Whether every reaction can be carried out without deciding guards and values together.
    pub accepted: bool,
    /// Verdict and execution scheme as text.
    pub text: String,
    /// The execution scheme as a graph for Graphviz.
    pub dot: String,
}

impl Model {
    /// The constructive semantics; refused if there are too many conditions to go through all their values.
    pub fn constructive(&self) -> Result<ConstructiveReport, TooManyPredicates> {
        let model = self.equations();
        let report = analyze(&System::from_model(model)?, Options::default())?;
        let words = Words {
            names: UserNames::new(model),
            restart: restart_equations(model),
            predicates: System::predicate_names(model),
        };
        Ok(words.report(&report))
    }
}

struct Words<'m> {
    names: UserNames<'m>,
    /// Restart equations are numbered behind the others.
    restart: Vec<saltus_mdae::ExprId>,
    predicates: Vec<String>,
}

fn restart_equations(model: &Mdae) -> Vec<saltus_mdae::ExprId> {
    let branches = model.whens.iter().flat_map(|when| &when.branches);
    let actions = branches.flat_map(|branch| &branch.actions);
    actions
        .filter_map(|action| match action {
            Action::Restart { residual, .. } => Some(*residual),
            _ => None,
        })
        .collect()
}

impl Words<'_> {
    fn report(&self, report: &Report) -> ConstructiveReport {
        let variable = |var: VarId| self.names.derivative(var, 0);
        let equation = |id: EquationId| self.equation(id);
        let predicate = |position: usize| self.predicates.get(position).cloned().unwrap_or_default();
        ConstructiveReport {
            accepted: report.is_accepted(),
            text: report.to_text(variable, equation, predicate),
            dot: report.to_dot(variable, equation, predicate),
        }
    }

    fn equation(&self, id: EquationId) -> String {
        let model = self.names.model();
        let residual = match model.equations.get(id) {
            Some(equation) => Some(equation.residual),
            None => self.restart.get(id.index() - model.equations.len()).copied(),
        };
        residual.map_or_else(String::new, |residual| {
            format!("`{}`", residual_text(&self.names, &model.pool, residual))
        })
    }
}
