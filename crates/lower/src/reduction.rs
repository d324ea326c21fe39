//! Constraints between the states of a discretised part, as inverse models have them.
//!
//! An explicit solver method gives every state from the tick before, so there must be no constraint between states. As in
//! continuous time the constraints are differentiated until the highest derivatives can be solved for (Pantelides 1988), and
//! of the variables with derivatives so many become states as the equations leave open (dummy derivatives, Mattsson and
//! Söderlind 1993): those that `stateSelect` and `fixed` ask for first.

use rustc_hash::FxHashMap;
use saltus_graph::{Bipartite, BipartiteBuilder, Column, Matcher, Matching, Row, conflicting_set};
use saltus_mdae::{ExprId, Node, Role, StateSelect, Type, VarId};

use crate::clocked::{ClockedEquation, Differentiated};
use crate::{Lowering, Meaning};

/// Each round differentiates at least one equation; no model of use differentiates one more often.
const MOST_ROUNDS: usize = 200;

struct System {
    part: usize,
    /// All equations between Reals, differentiated ones behind.
    equations: Vec<ClockedEquation>,
    /// The highest derivative of each equation that was there at first.
    highest: Vec<usize>,
    /// All Real variables, derivatives behind.
    variables: Vec<VarId>,
    derivative: FxHashMap<VarId, VarId>,
    order: FxHashMap<VarId, u16>,
}

impl Lowering<'_> {
    /// The states that an explicit method can integrate; those given, if there are no constraints between them, or none
    /// that can be differentiated.
    pub(crate) fn independent_states(&mut self, part: usize, states: Vec<Differentiated>) -> Vec<Differentiated> {
        let mut system = System::new(self, part, &states);
        let (equations, variables) = (system.equations.len(), system.variables.len());
        match system.differentiate(self) {
            Some(true) => {}
            _ => return states,
        }
        let Some(chosen) = system.states(self, states[0].origin) else {
            return states;
        };
        let made = system.variables[variables..].iter().map(|&var| (part, var));
        self.clocked.made.extend(made);
        self.clocked.equations.extend(system.equations.split_off(equations));
        chosen
    }

    /// How much users want each variable of a part to be a state.
    fn wanted_states(&self, part: usize) -> FxHashMap<VarId, (StateSelect, bool)> {
        let mut wanted = FxHashMap::default();
        for (id, variable) in self.flat.variables.iter_enumerated() {
            if let (Meaning::Variable(var), true) = (self.meanings[id], self.part_of(id) == Some(part)) {
                let select = self.model.variables[var].state_select;
                wanted.insert(var, (select, variable.fixed == Some(true)));
            }
        }
        wanted
    }
}

impl System {
    fn new(lowering: &Lowering<'_>, part: usize, states: &[Differentiated]) -> Self {
        let is_real = |id: ExprId| lowering.model.pool.ty(id) == Type::Real;
        let all = lowering
            .clocked
            .equations
            .iter()
            .filter(|equation| equation.part == part);
        let equations: Vec<ClockedEquation> = all
            .filter(|equation| equation.is_real || is_real(equation.left))
            .cloned()
            .collect();
        let own = lowering.unknowns_of(part);
        let variables: Vec<VarId> = own
            .into_iter()
            .filter(|&var| lowering.model.variables[var].ty == Type::Real)
            .collect();
        let derivative: FxHashMap<VarId, VarId> = states.iter().map(|s| (s.state, s.derivative)).collect();
        let mut order: FxHashMap<VarId, u16> = variables.iter().map(|&var| (var, 0)).collect();
        order.extend(derivative.values().map(|&var| (var, 1)));
        System {
            part,
            highest: (0..equations.len()).collect(),
            equations,
            variables,
            derivative,
            order,
        }
    }

    /// The variables that an equation may be solved for.
    fn occurring(
        &self,
        lowering: &Lowering<'_>,
        equation: &ClockedEquation,
        place: &FxHashMap<VarId, usize>,
    ) -> Vec<usize> {
        let pool = &lowering.model.pool;
        let roots: &[ExprId] = if equation.is_real {
            &[equation.left, equation.right]
        } else {
            &[equation.left]
        };
        let mut found: Vec<usize> = pool
            .reachable(roots)
            .into_iter()
            .filter_map(|id| match pool.node(id) {
                Node::Var { var, order: 0 } => place.get(&var).copied(),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Differentiates constraints: whether any was; `None` if that cannot be done.
    fn differentiate(&mut self, lowering: &mut Lowering<'_>) -> Option<bool> {
        for round in 0..MOST_ROUNDS {
            let leading: Vec<VarId> = self
                .variables
                .iter()
                .copied()
                .filter(|var| !self.derivative.contains_key(var))
                .collect();
            let place: FxHashMap<VarId, usize> = leading.iter().enumerate().map(|(at, &var)| (var, at)).collect();
            let mut builder = BipartiteBuilder::new(leading.len());
            for &at in &self.highest {
                let row = self.occurring(lowering, &self.equations[at], &place);
                builder.push_row(row.into_iter().map(Column::from_index).collect::<Vec<_>>());
            }
            let graph: Bipartite = builder.finish();
            let matching = Matcher::new().maximum(&graph);
            let Some(free) = matching.unmatched_rows().next() else {
                return Some(round > 0);
            };
            let conflict = conflicting_set(&graph, &matching, free);
            for column in &conflict.columns {
                self.add_derivative(lowering, leading[column.index()]);
            }
            for row in &conflict.rows {
                self.differentiate_equation(lowering, row.index())?;
            }
        }
        None
    }

    fn add_derivative(&mut self, lowering: &mut Lowering<'_>, var: VarId) -> VarId {
        if let Some(&known) = self.derivative.get(&var) {
            return known;
        }
        let name = format!("der({})", lowering.model.variables[var].name);
        let derivative = lowering.clocked_variable(&name, Type::Real, 0.0);
        self.variables.push(derivative);
        self.derivative.insert(var, derivative);
        let order = self.order.get(&var).copied().unwrap_or(0);
        self.order.insert(derivative, order + 1);
        derivative
    }

    /// The derivative of an equation by time; `None` if it reads what has no derivative: values of other clocks, values of the
    /// tick before.
    fn differentiate_equation(&mut self, lowering: &mut Lowering<'_>, number: usize) -> Option<()> {
        let equation = self.equations[self.highest[number]].clone();
        let residual = lowering.model.pool.sub(equation.left, equation.right);
        let mut occurring: Vec<VarId> = Vec::new();
        for id in lowering.model.pool.reachable(&[residual]) {
            match lowering.model.pool.node(id) {
                Node::Var { var, .. } if self.order.contains_key(&var) => occurring.push(var),
                Node::Var { var, .. } if lowering.model.variables[var].role == Role::Parameter => {}
                Node::Var { .. } | Node::Pre { .. } | Node::Time => return None,
                _ => {}
            }
        }
        let mut sum = lowering.model.pool.real(0.0);
        for var in occurring {
            let slope = lowering.model.pool.partial_derivative(residual, var, 0);
            if lowering.model.pool.is_zero(slope) {
                continue;
            }
            let derivative = self.add_derivative(lowering, var);
            let pool = &mut lowering.model.pool;
            let rate = pool.var(derivative);
            let term = pool.mul(slope, rate);
            sum = pool.add(sum, term);
        }
        let right = lowering.model.pool.real(0.0);
        self.highest[number] = self.equations.len();
        self.equations.push(ClockedEquation {
            part: self.part,
            left: sum,
            right,
            is_real: true,
            origin: equation.origin,
        });
        Some(())
    }

    /// The variables that the equations leave open, all of which have derivatives.
    fn states(&self, lowering: &Lowering<'_>, origin: saltus_mdae::OriginId) -> Option<Vec<Differentiated>> {
        let place: FxHashMap<VarId, usize> = self.variables.iter().enumerate().map(|(at, &var)| (var, at)).collect();
        let mut equations_of: Vec<Vec<Column>> = vec![Vec::new(); self.variables.len()];
        for (number, equation) in self.equations.iter().enumerate() {
            for at in self.occurring(lowering, equation, &place) {
                equations_of[at].push(Column::from_index(number));
            }
        }
        let mut builder = BipartiteBuilder::new(self.equations.len());
        for row in equations_of {
            builder.push_row(row);
        }
        let graph = builder.finish();
        let wanted = lowering.wanted_states(self.part);
        let mut by_desire: Vec<usize> = (0..self.variables.len()).collect();
        by_desire.sort_by_key(|&at| {
            let var = self.variables[at];
            let (select, fixed) = wanted.get(&var).copied().unwrap_or((StateSelect::Default, false));
            let order = self.order.get(&var).copied().unwrap_or(0);
            (
                self.derivative.contains_key(&var),
                select,
                fixed,
                std::cmp::Reverse(order),
            )
        });
        let mut matching = Matching::empty(self.variables.len(), self.equations.len());
        let order = by_desire.into_iter().map(Row::from_index);
        let free = Matcher::new().augment_in_order(&graph, &mut matching, order);
        if matching.unmatched_columns().next().is_some() {
            return None;
        }
        free.into_iter()
            .map(|row| {
                let state = self.variables[row.index()];
                let derivative = self.derivative.get(&state).copied()?;
                Some(Differentiated {
                    part: self.part,
                    state,
                    derivative,
                    origin,
                })
            })
            .collect()
    }
}
