//! The result of an analysis in the case's own names.

use std::collections::{BTreeMap, BTreeSet};

use saltus_graph::Row;
use saltus_instant::*;
use saltus_mdae::{Derivative, VarId};
use saltus_structure::restart::*;

use super::case::Built;

pub(crate) type Names = BTreeSet<String>;

pub(crate) struct Report<'a> {
    pub built: &'a Built,
    pub analysis: &'a RestartAnalysis,
}

fn primes(order: u16) -> String {
    "'".repeat(order as usize)
}

impl Report<'_> {
    pub(crate) fn state(&self, var: VarId, order: u16) -> String {
        format!("{}{}", self.built.variables[&var], primes(order))
    }
    pub(crate) fn variable(&self, v: ArrayVariable) -> String {
        format!("{}@{}", self.state(v.var, v.order), v.instant)
    }
    pub(crate) fn row(&self, row: Row) -> String {
        self.built.labels[&self.built.new.equation(row).origin].clone()
    }
    pub(crate) fn label(&self, label: ArrayLabel) -> String {
        let name = match label.source {
            EquationSource::Mode(row) => self.row(row),
            EquationSource::Transient(i) => {
                self.built.labels[&self.built.transient.as_ref().unwrap()[i as usize].origin].clone()
            }
            EquationSource::Restart(i) => self.built.labels[&self.built.restart[i as usize].origin].clone(),
        };
        let instant = if label.instant == 0 {
            String::new()
        } else {
            format!("@{}", label.instant)
        };
        format!("{name}{}{instant}", primes(label.order))
    }
    pub(crate) fn labels(&self, labels: &[ArrayLabel]) -> Names {
        labels.iter().map(|&label| self.label(label)).collect()
    }
    pub(crate) fn equation(&self, equation: ConcreteEquation) -> String {
        match equation {
            ConcreteEquation::Array(label) => self.label(label),
            ConcreteEquation::Euler(v) => format!("E[{}]", self.variable(v)),
        }
    }
    pub(crate) fn variables(&self, variables: &[ArrayVariable]) -> Names {
        variables.iter().map(|&v| self.variable(v)).collect()
    }
    pub(crate) fn states(&self, states: &[Derivative]) -> Names {
        states
            .iter()
            .map(|&Derivative { var, order }| self.state(var, order))
            .collect()
    }
    pub(crate) fn past(&self) -> Names {
        let states = self.analysis.past.iter();
        states
            .flat_map(|&Derivative { var, order: count }| (0..count).map(move |order| self.state(var, order)))
            .collect()
    }
    pub(crate) fn mu(&self) -> BTreeMap<String, u32> {
        let impulsive = self.analysis.unknowns.iter().filter(|(_, mu)| *mu > 0);
        impulsive.map(|&(v, mu)| (self.variable(v), mu)).collect()
    }
    pub(crate) fn right_limits(&self, solution: &RestartSolution) -> BTreeMap<String, f64> {
        let limits = solution.right_limits.iter();
        limits
            .map(|&(var, order, value)| (self.state(var, order), value))
            .collect()
    }
    /// Heights by the sorted, comma-separated equations of each component.
    pub(crate) fn heights(&self) -> BTreeMap<String, u16> {
        let components = self.analysis.components.iter();
        components.map(|c| (self.component(c), c.height)).collect()
    }
    pub(crate) fn bounds(&self) -> Vec<(u16, u16)> {
        let mut bounds: Vec<(u16, u16)> = self.analysis.components.iter().map(|c| c.bounds).collect();
        bounds.sort_unstable();
        bounds
    }
    fn component(&self, component: &ComponentHeight) -> String {
        let rows = self.built.new.component_rows(component.component);
        let names: Names = rows.iter().map(|&row| self.row(row)).collect();
        names.into_iter().collect::<Vec<_>>().join(",")
    }
}
