//! Equations of the start solved together: with the mode and its derivatives, moving from the start values as little as
//! possible; or for the states alone.

use saltus_codegen::{Leaf, System};
use saltus_mdae::{Derivative, ExprId, Idx, OriginId, VarId};
use saltus_numerics::EvalError;
use saltus_numerics::linalg::SparsityPattern;
use saltus_numerics::nonlinear::{
    ConstraintSystem, NewtonOptions, NonlinearSystem, ProjectionOptions, project, solve_newton,
};
use saltus_structure::restart::ModeEquation;

use crate::engine::{Engine, ModeId};
use crate::error::{Failure, FailureKind};
use crate::kernel::{Bound, slot_of};
use crate::memory::Memory;
use crate::modes::block::system_failure;
use crate::start::values::StartValue;

/// Variables without a start value move this much more willingly than those with one.
const WILLING: f64 = 1e3;

impl Engine {
    /// Solves the mode's equations with all derivatives, the given initial equations and the fixed starts together.
    pub(super) fn solve_together(&mut self, mode: ModeId, initial: &[ModeEquation]) -> Result<(), Failure> {
        self.guess_algebraic_variables(mode);
        let beyond = self.orders_beyond(mode, initial);
        let structure = &self.modes[mode].structure;
        let mut equations: Vec<(ExprId, u16)> = Vec::new();
        for (&id, &c) in structure.equations.iter().zip(&structure.sigma.c) {
            equations.extend((0..=c + beyond).map(|order| (self.model.equations[id].residual, order)));
        }
        equations.extend(initial.iter().map(|equation| (equation.residual, 0)));
        let mut unknowns: Vec<Derivative> = Vec::new();
        let mut weights = Vec::new();
        for (&var, &d) in structure.unknowns.iter().zip(&structure.sigma.d) {
            for order in 0..=d + beyond {
                unknowns.push(Derivative { var, order });
                let willing = if order >= d {
                    WILLING * WILLING
                } else if self.has_start(var, order) {
                    1.0
                } else {
                    WILLING
                };
                weights.push(self.nominal[var.index()] * willing);
            }
        }
        for id in self.unknown_parameters().into_iter().chain(self.open_discrete(initial)) {
            unknowns.push(Derivative::value_of(id));
            weights.push(self.nominal[id.index()]);
        }
        let place: rustc_hash::FxHashMap<Derivative, usize> = unknowns.iter().copied().zip(0..).collect();
        let fixed = self.start.values.iter().filter(|start| start.fixed);
        let fixed = fixed
            .filter_map(|s| Some((*place.get(&Derivative::new(s.var, s.order))?, s.value)))
            .collect();
        self.project(&equations, &unknowns, weights, fixed)
    }

    /// Solves the initial equations for the states alone, everything else following by the mode's blocks. With fewer
    /// unknowns and no guesses for algebraic variables this succeeds where solving everything together does not.
    pub(super) fn solve_for_states(&mut self, mode: ModeId, initial: &[ModeEquation]) -> Result<(), Failure> {
        let failed = |reason: String| {
            Failure::new(FailureKind::Initialisation {
                reason,
                suspects: Vec::new(),
                origins: initial.iter().map(|equation| equation.origin).collect(),
            })
        };
        self.choose_states(mode)?;
        let level = self.orders_beyond(mode, initial);
        let states = self.modes[mode].plan().states.clone();
        let free: Vec<Derivative> = states
            .iter()
            .copied()
            .filter(|&Derivative { var, order }| !self.is_fixed(var, order))
            .collect();
        let elsewhere = |start: &&StartValue| {
            start.fixed
                && !states.contains(&Derivative::new(start.var, start.order))
                && self.modes[mode].highest_order(start.var).is_some()
        };
        let fixed: Vec<StartValue> = self.start.values.iter().filter(elsewhere).cloned().collect();
        if let Some(&var) = self
            .unknown_parameters()
            .first()
            .or(self.open_discrete(initial).first())
        {
            return Err(failed(format!("{} is an unknown", self.name(var, 0))));
        }
        if free.len() != initial.len() + fixed.len() {
            return Err(failed(
                "the states are not determined by the initial equations alone".to_string(),
            ));
        }
        let equations = initial
            .iter()
            .map(|equation| Bound::of_value(&self.cache, &self.pool, equation.residual, &self.memory))
            .collect::<Result<_, _>>()?;
        let nominal = free
            .iter()
            .map(|&Derivative { var, .. }| self.nominal[var.index()])
            .collect();
        let mut x: Vec<f64> = free
            .iter()
            .map(|&Derivative { var, order }| self.memory.get(var, order))
            .collect();
        let options = NewtonOptions {
            nominal: Some(nominal),
            max_iterations: 200,
            ..NewtonOptions::default()
        };
        let mut system = StateSystem {
            engine: self,
            mode,
            level,
            free,
            equations,
            fixed,
        };
        let outcome = solve_newton(&mut system, &mut x, &options);
        let mut residual = vec![0.0; x.len()];
        let placed = system.residual(&x, &mut residual);
        outcome.map_err(|failure| failed(failure.to_string()))?;
        placed.map_err(|error| failed(error.to_string()))
    }

    /// First guesses for everything without a start value: what the mode's blocks give at the start values of the
    /// states. (Zero is no guess for a divisor.)
    pub(super) fn guess_algebraic_variables(&mut self, mode: ModeId) {
        let saved = self.memory.values.clone();
        let solved = self.choose_states(mode).and_then(|_| self.solve_mode(mode));
        if solved.is_err()
            || self
                .memory
                .values
                .iter()
                .zip(&saved)
                .any(|(new, old)| new.is_nan() && !old.is_nan())
        {
            self.memory.values = saved;
        }
    }

    /// Initial equations may speak of derivatives above the leading ones: so many levels more are needed.
    pub(crate) fn orders_beyond(&self, mode: ModeId, initial: &[ModeEquation]) -> u16 {
        let mode = &self.modes[mode];
        let above = |&ModeEquation { residual, .. }: &ModeEquation| {
            let occurring = self.pool.occurrences(residual);
            occurring
                .into_iter()
                .filter_map(|Derivative { var, order }| Some(order.saturating_sub(mode.highest_order(var)?)))
                .max()
        };
        initial.iter().filter_map(above).max().unwrap_or(0)
    }

    /// Meets equations by the smallest change of the unknowns. Some may be undefined at the first guesses, as the angles between
    /// two frames whose axes are all zero yet: these are met after the others, which move the guesses to where they are defined.
    pub(crate) fn project(
        &mut self,
        equations: &[(ExprId, u16)],
        unknowns: &[Derivative],
        weights: Vec<f64>,
        fixed: Vec<(usize, f64)>,
    ) -> Result<(), Failure> {
        let failure = match self.project_defined(equations, unknowns, weights.clone(), fixed.clone()) {
            Ok(()) => return Ok(()),
            Err(failure) => failure,
        };
        let mut undefined = self.undefined_rows(equations, unknowns)?;
        while !undefined.is_empty() && undefined.len() < equations.len() {
            let is_defined = |(at, _): &(usize, _)| undefined.binary_search(at).is_err();
            let defined = equations.iter().copied().enumerate().filter(is_defined);
            let defined: Vec<(ExprId, u16)> = defined.map(|(_, equation)| equation).collect();
            self.project_defined(&defined, unknowns, weights.clone(), fixed.clone())?;
            let left = self.undefined_rows(equations, unknowns)?;
            if left.is_empty() {
                return self.project_defined(equations, unknowns, weights, fixed);
            }
            if left.len() >= undefined.len() {
                break;
            }
            undefined = left;
        }
        Err(failure)
    }

    /// Equations that are no number at the values in memory, or have no derivatives there; in ascending order.
    fn undefined_rows(&self, equations: &[(ExprId, u16)], unknowns: &[Derivative]) -> Result<Vec<usize>, Failure> {
        let system = self.system_of(equations, unknowns)?;
        let mut residual = vec![0.0; equations.len()];
        let mut jacobian = vec![0.0; system.row_indices.len()];
        system.residual.evaluate_unchecked(&self.memory.values, &mut residual);
        system.jacobian.evaluate_unchecked(&self.memory.values, &mut jacobian);
        let rows = (0..equations.len()).filter(|&row| !residual[row].is_finite());
        let entries = system.row_indices.iter().zip(&jacobian);
        let steep = entries.filter(|(_, slope)| !slope.is_finite()).map(|(&row, _)| row);
        let mut undefined: Vec<usize> = rows.chain(steep).collect();
        undefined.sort_unstable();
        undefined.dedup();
        Ok(undefined)
    }

    fn system_of(&self, equations: &[(ExprId, u16)], unknowns: &[Derivative]) -> Result<System, Failure> {
        let leaves: Vec<Leaf> = unknowns
            .iter()
            .map(|&Derivative { var, order }| Leaf::var(var, order))
            .collect();
        let place = |leaf| slot_of(&self.memory, leaf);
        System::build(&self.cache, &self.pool, equations, &leaves, place).map_err(system_failure)
    }

    fn project_defined(
        &mut self,
        equations: &[(ExprId, u16)],
        unknowns: &[Derivative],
        weights: Vec<f64>,
        fixed: Vec<(usize, f64)>,
    ) -> Result<(), Failure> {
        let system = self.system_of(equations, unknowns)?;
        let slots: Vec<u32> = unknowns
            .iter()
            .map(|&Derivative { var, order }| self.memory.leaf_slot(Leaf::var(var, order)))
            .collect();
        let mut x: Vec<f64> = slots.iter().map(|&slot| self.memory.values[slot as usize]).collect();
        for &(at, value) in &fixed {
            x[at] = value;
        }
        let pattern = constraint_pattern(&system, equations.len(), unknowns.len(), &fixed);
        let order = pattern_positions(&system, &pattern);
        let mut constraints = Constraints {
            system,
            slots: &slots,
            memory: &mut self.memory,
            pattern,
            order,
            fixed,
            rows: equations.len(),
        };
        let options = ProjectionOptions {
            weights: Some(weights),
            tolerance: 1e-12,
            max_iterations: 100,
        };
        let outcome = project(&mut constraints, &mut x, &options);
        for (&slot, value) in slots.iter().zip(&x) {
            self.memory.values[slot as usize] = *value;
        }
        outcome.map(drop).map_err(|failure| {
            let worst = || failure.largest_residuals.iter();
            let suspects = worst()
                .filter_map(|&(row, _)| self.suspects_of(row, equations))
                .flatten()
                .collect();
            let origins = worst()
                .filter_map(|&(row, _)| self.origin_of(equations.get(row)?.0))
                .collect();
            Failure::new(FailureKind::Initialisation {
                reason: failure.to_string(),
                suspects,
                origins,
            })
        })
    }

    /// Where an equation of the model or of its start is written.
    pub(super) fn origin_of(&self, residual: ExprId) -> Option<OriginId> {
        let mut all = self.model.equations.iter().chain(&self.model.initial_equations);
        all.find(|equation| equation.residual == residual)
            .map(|equation| equation.origin)
    }

    /// The variables of an equation that have start values.
    pub(crate) fn suspects_of(&self, row: usize, equations: &[(ExprId, u16)]) -> Option<Vec<String>> {
        let &(residual, _) = equations.get(row)?;
        let occurring = self.pool.occurrences(residual);
        Some(
            occurring
                .into_iter()
                .filter(|&Derivative { var, .. }| self.start.values.iter().any(|s| s.var == var))
                .map(|Derivative { var, .. }| self.name(var, 0))
                .collect(),
        )
    }

    /// Meets the consistency equations f^(m), c_f − m ≥ 2, by the smallest change of the guesses.
    pub(super) fn meet_positions(&mut self, mode: ModeId) -> Result<(), Failure> {
        let structure = &self.modes[mode].structure;
        let mut equations = Vec::new();
        for (&id, &c) in structure.equations.iter().zip(&structure.sigma.c) {
            equations.extend((0..c.saturating_sub(1)).map(|order| (self.model.equations[id].residual, order)));
        }
        if equations.is_empty() {
            return Ok(());
        }
        let mut unknowns: Vec<Derivative> = Vec::new();
        for &(residual, order) in &equations {
            let derivative = self.pool.nth_total_derivative(residual, order);
            let occurring = self.pool.occurrences(derivative);
            unknowns.extend(
                occurring
                    .into_iter()
                    .filter(|&Derivative { var, .. }| self.model.is_unknown(var)),
            );
        }
        unknowns.sort_unstable();
        unknowns.dedup();
        let weight = |engine: &Self, var: VarId, order: u16| {
            if engine.is_fixed(var, order) {
                0.0
            } else {
                engine.nominal[var.index()] * if engine.has_start(var, order) { 1.0 } else { WILLING }
            }
        };
        let weights: Vec<f64> = unknowns
            .iter()
            .map(|&Derivative { var, order }| weight(self, var, order))
            .collect();
        self.project(&equations, &unknowns, weights, Vec::new())
    }
}

/// Initial equations as functions of the free states.
struct StateSystem<'e> {
    engine: &'e mut Engine,
    mode: ModeId,
    level: u16,
    free: Vec<Derivative>,
    equations: Vec<Bound>,
    fixed: Vec<StartValue>,
}

impl NonlinearSystem for StateSystem<'_> {
    fn dim(&self) -> usize {
        self.free.len()
    }
    fn residual(&mut self, x: &[f64], residual: &mut [f64]) -> Result<(), EvalError> {
        for (&Derivative { var, order }, &value) in self.free.iter().zip(x) {
            self.engine.memory.set(var, order, value);
        }
        self.engine
            .solve_mode(self.mode)
            .map_err(|failure| EvalError::recoverable(failure.to_string()))?;
        if !self.engine.extend_jets(self.mode, self.level) {
            return Err(EvalError::recoverable("higher derivatives cannot be computed"));
        }
        let (equations, starts) = residual.split_at_mut(self.equations.len());
        for (residual, equation) in equations.iter_mut().zip(&self.equations) {
            *residual = equation.value(&self.engine.memory);
        }
        for (residual, start) in starts.iter_mut().zip(&self.fixed) {
            *residual = self.engine.memory.get(start.var, start.order) - start.value;
        }
        Ok(())
    }
}

struct Constraints<'a> {
    system: System,
    slots: &'a [u32],
    memory: &'a mut Memory,
    pattern: SparsityPattern,
    /// For every entry of the system's Jacobian its position in the pattern.
    order: Vec<usize>,
    fixed: Vec<(usize, f64)>,
    rows: usize,
}

impl Constraints<'_> {
    fn place(&mut self, x: &[f64]) {
        for (&slot, &value) in self.slots.iter().zip(x) {
            self.memory.values[slot as usize] = value;
        }
    }
}

impl ConstraintSystem for Constraints<'_> {
    fn unknowns(&self) -> usize {
        self.slots.len()
    }
    fn constraints(&self) -> usize {
        self.rows + self.fixed.len()
    }
    fn residual(&mut self, x: &[f64], g: &mut [f64]) -> Result<(), EvalError> {
        self.place(x);
        let (equations, starts) = g.split_at_mut(self.rows);
        self.system.residual.evaluate_unchecked(&self.memory.values, equations);
        for (g, &(at, value)) in starts.iter_mut().zip(&self.fixed) {
            *g = x[at] - value;
        }
        Ok(())
    }
    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        Some(&self.pattern)
    }
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        self.place(x);
        let mut own = vec![0.0; self.system.row_indices.len()];
        self.system.jacobian.evaluate_unchecked(&self.memory.values, &mut own);
        values.fill(0.0);
        for (&at, value) in self.order.iter().zip(own) {
            values[at] = value;
        }
        for (row, &(column, _)) in self.fixed.iter().enumerate() {
            if let Some(at) = self.pattern.position(self.rows + row, column) {
                values[at] = 1.0;
            }
        }
        Ok(())
    }
}

fn constraint_pattern(system: &System, rows: usize, columns: usize, fixed: &[(usize, f64)]) -> SparsityPattern {
    let mut entries = Vec::new();
    for column in 0..columns {
        let range = system.column_starts[column]..system.column_starts[column + 1];
        entries.extend(system.row_indices[range].iter().map(|&row| (row, column)));
    }
    entries.extend(fixed.iter().enumerate().map(|(row, &(column, _))| (rows + row, column)));
    SparsityPattern::from_entries(rows + fixed.len(), columns, entries)
}

fn pattern_positions(system: &System, pattern: &SparsityPattern) -> Vec<usize> {
    let columns = system.column_starts.len() - 1;
    let mut order = Vec::with_capacity(system.row_indices.len());
    for column in 0..columns {
        for &row in &system.row_indices[system.column_starts[column]..system.column_starts[column + 1]] {
            order.push(pattern.position(row, column).unwrap_or(0));
        }
    }
    order
}
