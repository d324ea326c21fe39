//! Initial equations in the order in which they can be solved.
//!
//! The equations of the mode, their derivatives, the initial equations and the fixed starts together are sorted into
//! blocks like the equations of a mode. What they leave open keeps its start value, states with a start value before
//! those without. So a temperature given by an initial equation is known before anything divides by it, and each
//! iteration has few unknowns.

use saltus_graph::{Adjacency, Bipartite, BlockId, Blocks, Column, Matcher, Matching, Row, block_triangular_order};
use saltus_mdae::{Derivative, ExprId, Idx, OriginId, Role, VarId};

use crate::engine::{Engine, ModeId};
use crate::error::{Failure, FailureKind};
use crate::modes::block::SquareEquations;
use saltus_structure::restart::ModeEquation;

/// A residual this small against the terms of its equation is zero.
const TOLERANCE: f64 = 1e-7;

/// The equations `f^(order)` at the start and what they determine.
struct StartSystem {
    equations: Vec<(ExprId, u16, OriginId)>,
    /// Whether an equation is differentiated oftener than the mode itself needs, because of an initial equation.
    is_beyond: Vec<bool>,
    unknowns: Vec<Derivative>,
    /// The lower, the rather an unknown is determined by the equations than by its start value.
    rank: Vec<u8>,
}

impl StartSystem {
    /// The equations of the mode and of its start, and of those beyond what these read: the derivative of a magnitude that is
    /// zero need not exist as long as nobody asks for it.
    fn needed_rows(&self, graph: &Bipartite, matching: &Matching) -> Vec<bool> {
        let mut needed: Vec<bool> = self.is_beyond.iter().map(|&beyond| !beyond).collect();
        let mut open: Vec<Row> = (0..needed.len())
            .filter(|&at| needed[at])
            .map(Row::from_index)
            .collect();
        while let Some(row) = open.pop() {
            for &column in graph.columns_of(row) {
                if let Some(row) = matching.row_of(column)
                    && !std::mem::replace(&mut needed[row.index()], true)
                {
                    open.push(row);
                }
            }
        }
        needed
    }
}

impl Engine {
    /// Solves the initial equations with all others, block by block.
    pub(crate) fn solve_in_order(&mut self, mode: ModeId, initial: &[ModeEquation]) -> Result<(), Failure> {
        let system = self.start_system(mode, initial);
        let (graph, matching) = self.assign(&system)?;
        let needed = system.needed_rows(&graph, &matching);
        let blocks = block_triangular_order(&graph, &matching);
        for block in (0..blocks.len()).map(BlockId::from_index) {
            if blocks.rows(block).iter().any(|row| needed[row.index()]) {
                self.solve_start_block(mode, &system, &blocks, &matching, block)?;
            }
        }
        for row in matching.unmatched_rows().filter(|row| needed[row.index()]) {
            let (residual, order, origin) = system.equations[row.index()];
            let origins = self.sharing_variables(residual, origin, initial);
            self.check_start_equation(residual, order, origins)?;
        }
        Ok(())
    }

    fn start_system(&mut self, mode: ModeId, initial: &[ModeEquation]) -> StartSystem {
        let beyond = self.orders_beyond(mode, initial);
        let structure = &self.modes[mode].structure;
        let mut system = StartSystem {
            equations: Vec::new(),
            is_beyond: Vec::new(),
            unknowns: Vec::new(),
            rank: Vec::new(),
        };
        for (&id, &c) in structure.equations.iter().zip(&structure.sigma.c) {
            let equation = &self.model.equations[id];
            for order in 0..=c + beyond {
                system.equations.push((equation.residual, order, equation.origin));
                system.is_beyond.push(order > c);
            }
        }
        let stated = initial.iter().map(|equation| (equation.residual, 0, equation.origin));
        system.equations.extend(stated);
        system.is_beyond.resize(system.equations.len(), false);
        for (&var, &d) in structure.unknowns.iter().zip(&structure.sigma.d) {
            for order in (0..=d + beyond).filter(|&order| !self.is_fixed(var, order)) {
                system.unknowns.push(Derivative { var, order });
                system.rank.push(match order < d {
                    true if self.has_start(var, order) => 2,
                    true => 1,
                    false => 0,
                });
            }
        }
        for var in self.unknown_parameters() {
            system.unknowns.push(Derivative { var, order: 0 });
            system.rank.push(0);
        }
        for var in self.open_discrete(initial) {
            system.unknowns.push(Derivative { var, order: 0 });
            system.rank.push(1);
        }
        for start in self.start.values.iter().filter(|start| start.fixed) {
            self.memory.set(start.var, start.order, start.value);
        }
        system
    }

    /// Which equation determines which unknown.
    fn assign(&mut self, system: &StartSystem) -> Result<(Bipartite, Matching), Failure> {
        let place: rustc_hash::FxHashMap<Derivative, usize> = system.unknowns.iter().copied().zip(0..).collect();
        let mut rows = Vec::new();
        for &(residual, order, _) in &system.equations {
            let derivative = self.pool.nth_total_derivative(residual, order);
            let occurring = self.pool.occurrences(derivative);
            let columns: Vec<Column> = occurring
                .iter()
                .filter_map(|unknown| place.get(unknown))
                .map(|&at| Column::from_index(at))
                .collect();
            rows.push(columns);
        }
        let graph = Bipartite::from_rows(system.unknowns.len(), rows);
        let by_unknown = graph.transposed();
        let mut preferred: Vec<usize> = (0..system.unknowns.len()).collect();
        preferred.sort_by_key(|&at| system.rank[at]);
        let mut matching = Matching::empty(system.unknowns.len(), system.equations.len());
        let order = preferred.into_iter().map(Row::from_index);
        let free = Matcher::new().augment_in_order(&by_unknown, &mut matching, order);
        let unmatched = free.iter().map(|row| system.unknowns[row.index()].var);
        let parameter = |var: &VarId| self.model.variables[*var].role == Role::Parameter;
        self.start.undetermined = unmatched.filter(parameter).collect();
        let must = |row: &&Row| {
            let Derivative { var, .. } = system.unknowns[row.index()];
            system.rank[row.index()] == 0 && self.model.is_unknown(var)
        };
        match free.iter().find(must) {
            Some(row) => {
                let Derivative { var, order } = system.unknowns[row.index()];
                let name = self.name(var, order);
                let origins = vec![self.model.variables[var].origin];
                Err(Failure::new(FailureKind::Initialisation {
                    reason: format!("nothing determines {name} at the start"),
                    suspects: Vec::new(),
                    origins,
                }))
            }
            None => Ok((graph, matching.transposed())),
        }
    }

    fn solve_start_block(
        &mut self,
        mode: ModeId,
        system: &StartSystem,
        blocks: &Blocks,
        matching: &Matching,
        block: BlockId,
    ) -> Result<(), Failure> {
        let mut equations = Vec::new();
        let mut unknowns = Vec::new();
        for &row in blocks.rows(block) {
            if let Some(column) = matching.column_of(row) {
                equations.push(system.equations[row.index()]);
                unknowns.push(system.unknowns[column.index()]);
            }
        }
        if unknowns.is_empty() {
            return Ok(());
        }
        let nominal = |var: VarId| self.nominal[var.index()];
        let forms = self.compiled.forms();
        let (equations, linear) = forms.solved(equations, &unknowns, false);
        let square = SquareEquations {
            equations: &equations,
            unknowns: &unknowns,
            linear,
        };
        let mut solver = forms.solver(&self.cache, &self.pool, square, nominal, &self.memory)?;
        let known = &self.modes[mode];
        solver.let_keep(|unknown| known.highest_order(unknown.var) == Some(0));
        let outcome = solver.solve_from_afar(&mut self.memory);
        outcome.map_err(|failure| {
            let name = |var: VarId, order: u16| self.name(var, order);
            solver.explain(&failure, &self.memory, &name)
        })
    }

    /// An equation, and the initial equations that speak of the same variables.
    fn sharing_variables(&self, residual: ExprId, origin: OriginId, initial: &[ModeEquation]) -> Vec<OriginId> {
        let variables = self.pool.occurrences(residual);
        let shares = |other: ExprId| {
            let others = self.pool.occurrences(other);
            others.iter().any(|a| variables.iter().any(|b| a.var == b.var))
        };
        let others = initial.iter().filter(|other| shares(other.residual));
        std::iter::once(origin)
            .chain(others.map(|other| other.origin))
            .collect()
    }

    /// An equation that determines nothing more must hold.
    fn check_start_equation(&mut self, residual: ExprId, order: u16, origins: Vec<OriginId>) -> Result<(), Failure> {
        let derivative = self.pool.nth_total_derivative(residual, order);
        let (value, terms) = self.residual_at_start(derivative);
        if value.abs() <= TOLERANCE * terms + self.noise_at_start() {
            return Ok(());
        }
        Err(Failure::new(FailureKind::Initialisation {
            reason: format!("too much is given at the start (residual {value:e})"),
            suspects: self.suspects_of(0, &[(residual, order)]).unwrap_or_default(),
            origins,
        }))
    }
}
