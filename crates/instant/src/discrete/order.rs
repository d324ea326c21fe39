//! The order in which the discrete part of an instant is computed.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_graph::{Bipartite, BipartiteBuilder, Column, Matching, Row};
use saltus_mdae::{Action, ConditionId, Derivative, ExprId, Mdae, Node, OriginId, Role, VarId, WhenId};

/// One thing that is computed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DiscreteStep {
    /// An equation of [`Mdae::discrete`].
    Equation(usize),
    /// A when-clause.
    When(WhenId),
    /// A condition that follows the discrete variables of the same instant.
    Condition(ConditionId),
}

/// A condition that follows the discrete variables it reads.
#[derive(Clone, Debug)]
pub struct FollowingCondition {
    /// The condition.
    pub id: ConditionId,
    /// The discrete variables.
    pub reads: Vec<VarId>,
}

/// Discrete variables that depend on each other at one instant.
#[derive(Clone, Debug)]
pub struct DiscreteLoop {
    /// The variables.
    pub variables: Vec<Arc<str>>,
    /// What defines them.
    pub origins: Vec<OriginId>,
}

/// The steps of an instant, each after what it reads.
#[derive(Clone, Debug)]
pub struct DiscreteOrder {
    /// In the order of computation; those of a circle next to each other.
    pub steps: Vec<DiscreteStep>,
    /// The first circle, if there is one: its steps have no order.
    pub circle: Option<DiscreteLoop>,
}

impl DiscreteOrder {
    /// Sorts equations, when-clauses and the conditions that follow discrete variables so that each comes after what it
    /// reads. A condition that decides on a variable it reads keeps what it was before the instant: it is left out.
    pub fn new(model: &Mdae, following: &[FollowingCondition]) -> DiscreteOrder {
        let mut following: Vec<&FollowingCondition> = following.iter().collect();
        loop {
            let blocks = ordered_blocks(model, &following);
            let circles = || blocks.iter().filter(|block| block.len() > 1);
            let in_circles = |id: ConditionId| circles().any(|block| block.contains(&DiscreteStep::Condition(id)));
            let count = following.len();
            following.retain(|condition| !in_circles(condition.id));
            if following.len() == count {
                return DiscreteOrder {
                    circle: circles().next().map(|block| loop_of(model, block)),
                    steps: blocks.into_iter().flatten().collect(),
                };
            }
        }
    }
}

/// Discrete variables that depend on their own values of the same instant, alone or in a circle.
pub fn discrete_loop(model: &Mdae) -> Option<DiscreteLoop> {
    let blocks = ordered_blocks(model, &[]);
    let circular = |block: &&Vec<DiscreteStep>| block.len() > 1 || block.iter().any(|&step| reads_itself(model, step));
    blocks.iter().find(circular).map(|block| loop_of(model, block))
}

fn loop_of(model: &Mdae, block: &[DiscreteStep]) -> DiscreteLoop {
    let variables = block
        .iter()
        .flat_map(|step| defined(model, *step))
        .map(|var| model.variables[var].name.clone())
        .collect();
    let origins = block.iter().filter_map(|step| match *step {
        DiscreteStep::Equation(at) => Some(model.discrete[at].origin),
        DiscreteStep::When(id) => Some(model.whens[id].origin),
        DiscreteStep::Condition(_) => None,
    });
    DiscreteLoop {
        variables,
        origins: origins.collect(),
    }
}

/// Whether a discrete variable is defined by its own value of the same instant: `b = not b`.
fn reads_itself(model: &Mdae, step: DiscreteStep) -> bool {
    let DiscreteStep::Equation(at) = step else {
        return false;
    };
    let equation = &model.discrete[at];
    let read = model.pool.occurrences(equation.value);
    read.iter().any(|&Derivative { var, .. }| var == equation.target)
}

/// What must be computed together, in order.
fn ordered_blocks(model: &Mdae, following: &[&FollowingCondition]) -> Vec<Vec<DiscreteStep>> {
    let mut steps: Vec<DiscreteStep> = (0..model.discrete.len()).map(DiscreteStep::Equation).collect();
    steps.extend(model.whens.ids().map(DiscreteStep::When));
    let first_condition = steps.len();
    steps.extend(following.iter().map(|condition| DiscreteStep::Condition(condition.id)));
    let mut defines: FxHashMap<VarId, usize> = FxHashMap::default();
    for (at, step) in steps.iter().enumerate() {
        for var in defined(model, *step) {
            defines.insert(var, at);
        }
    }
    let place_of: FxHashMap<ConditionId, usize> = following
        .iter()
        .enumerate()
        .map(|(at, condition)| (condition.id, first_condition + at))
        .collect();
    // Step i is matched with itself; its row lists the steps it reads, so blocks come in order of computation.
    let mut builder = BipartiteBuilder::new(steps.len());
    for (at, step) in steps.iter().enumerate() {
        let mut row: Vec<Column> = vec![Column::from_index(at)];
        let (variables, conditions) = match step {
            DiscreteStep::Condition(_) => (following[at - first_condition].reads.clone(), Vec::new()),
            _ => read(model, *step),
        };
        let needed = variables.iter().filter_map(|var| defines.get(var));
        row.extend(needed.map(|&i| Column::from_index(i)));
        let needed = conditions.iter().filter_map(|id| place_of.get(id));
        row.extend(needed.map(|&i| Column::from_index(i)));
        row.sort_unstable();
        row.dedup();
        builder.push_row(row);
    }
    let graph: Bipartite = builder.finish();
    let mut matching = Matching::empty(steps.len(), steps.len());
    for at in 0..steps.len() {
        matching.insert(Row::from_index(at), Column::from_index(at));
    }
    let blocks = saltus_graph::block_triangular_order(&graph, &matching);
    blocks
        .iter()
        .map(|block| block.iter().map(|row| steps[row.index()]).collect())
        .collect()
}

fn defined(model: &Mdae, step: DiscreteStep) -> Vec<VarId> {
    match step {
        DiscreteStep::Condition(_) => Vec::new(),
        DiscreteStep::Equation(at) => vec![model.discrete[at].target],
        DiscreteStep::When(id) => model.whens[id]
            .branches
            .iter()
            .flat_map(|branch| &branch.actions)
            .flat_map(Action::assigned)
            .copied()
            .collect(),
    }
}

/// The discrete variables and the conditions that a step reads.
fn read(model: &Mdae, step: DiscreteStep) -> (Vec<VarId>, Vec<ConditionId>) {
    let mut roots: Vec<ExprId> = Vec::new();
    match step {
        DiscreteStep::Condition(_) => {}
        DiscreteStep::Equation(at) => roots.extend([model.discrete[at].value, model.discrete[at].guard]),
        DiscreteStep::When(id) => {
            for branch in &model.whens[id].branches {
                roots.extend(&branch.conditions);
                for action in &branch.actions {
                    match action {
                        Action::Assign { value, .. } => roots.push(*value),
                        Action::Solve { residuals, .. } => roots.extend(residuals),
                        _ => {}
                    }
                }
            }
        }
    }
    let own = defined(model, step);
    let mut variables: Vec<VarId> = Vec::new();
    let mut conditions: Vec<ConditionId> = Vec::new();
    for id in model.pool.reachable(&roots) {
        match model.pool.node(id) {
            Node::Var { var, .. } if model.variables[var].role == Role::Discrete && !own.contains(&var) => {
                variables.push(var);
            }
            Node::Condition(condition) => conditions.push(condition),
            _ => {}
        }
    }
    variables.sort_unstable();
    variables.dedup();
    conditions.sort_unstable();
    conditions.dedup();
    (variables, conditions)
}
