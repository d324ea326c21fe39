//! The order of computation: from states to all other derivatives of all unknowns.

use std::borrow::Cow;

use saltus_graph::{
    Adjacency, Bipartite, BipartiteBuilder, Column, Matching, Row, Tearer, block_triangular_order, match_and_order,
};
use saltus_mdae::{Derivative, EquationId, ExprId, ExprPool, Idx, Mdae, VarId};

use super::aliases::ModeAliases;
use super::choice::Selection;
use super::guards::Modes;
use super::structure::ModeStructure;
use crate::linear::{Coefficient, Degree, Partial, degree, is_affine_by};
use crate::sigma::SigmaMatrix;

/// How a block is solved.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Hash)]
pub enum BlockKind {
    /// One equation, affine in its one unknown: x = −f(0)/f'.
    Explicit,
    /// Affine in all its unknowns: the Jacobian is free of them.
    Linear,
    /// Needs iteration.
    Nonlinear,
}

/// A torn block; numbers are positions in the block's `equations` and `solve_for`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BlockTearing {
    /// The unknowns to iterate on.
    pub tears: Vec<u32>,
    /// Which equation then determines which other unknown, in order; each is affine with a constant coefficient.
    pub causal: Vec<(u32, u32)>,
    /// The equations left as residuals of the iteration.
    pub residuals: Vec<u32>,
}

/// One step of a plan: equations (with how often they are differentiated) to be solved together.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Block<'a> {
    /// The stage: f^(c_f − stage) is solved for x^(d_x − stage).
    pub stage: u16,
    /// The equations.
    pub equations: &'a [(EquationId, u16)],
    /// What they are solved for; the unknown at a position is matched to the equation there.
    pub solve_for: &'a [Derivative],
    /// How.
    pub kind: BlockKind,
    /// For blocks of two or more equations.
    pub tearing: Option<&'a BlockTearing>,
}

/// What a derivative of an unknown is in a plan.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DerivativeRole {
    /// A state: its position in [`Plan::states`].
    State(u32),
    /// Determined by a block of stage 1 or more.
    Dummy,
    /// Determined by a block of stage 0.
    Leading,
}

/// A state together with what its time derivative is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StateDerivative {
    /// The state x^(m).
    pub state: Derivative,
    /// What x^(m+1) is.
    pub role: DerivativeRole,
}

/// The states and the blocks in the order in which they are computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The states in order, each with what its derivative is.
    pub states: Vec<StateDerivative>,
    blocks: Vec<BlockData>,
    equations: Vec<(EquationId, u16)>,
    solve_for: Vec<Derivative>,
    tearings: Vec<BlockTearing>,
}

#[derive(Copy, Clone, Debug, PartialEq)]
struct BlockData {
    first: u32,
    end: u32,
    tearing: u32,
    stage: u16,
    kind: BlockKind,
}

const UNTORN: u32 = u32::MAX;

impl Plan {
    /// Number of blocks.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }
    /// A block by its position.
    pub fn block(&self, position: usize) -> Block<'_> {
        let data = self.blocks[position];
        let range = data.first as usize..data.end as usize;
        Block {
            stage: data.stage,
            equations: &self.equations[range.clone()],
            solve_for: &self.solve_for[range],
            kind: data.kind,
            tearing: self.tearings.get(data.tearing as usize),
        }
    }
    /// All blocks in order of computation.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = Block<'_>> {
        (0..self.blocks.len()).map(|i| self.block(i))
    }
    /// Everything that blocks determine, in order of computation.
    pub fn solved(&self) -> &[Derivative] {
        &self.solve_for
    }

    /// Checks that everything a block needs is a state or was solved before it, and nothing is solved twice.
    pub fn validate(&self, model: &mut Mdae, structure: &ModeStructure) -> Result<(), String> {
        let mut known: rustc_hash::FxHashSet<Derivative> = self.states.iter().map(|s| s.state).collect();
        for block in self.blocks() {
            for &derivative in block.solve_for {
                if !known.insert(derivative) {
                    return Err(format!("{derivative:?} is determined twice"));
                }
            }
            for &(equation, order) in block.equations {
                let residual = model.equations[equation].residual;
                let residual = model.pool.nth_total_derivative(residual, order);
                self.check_needs(model, residual, equation, &known)?;
            }
        }
        let expected: usize = structure.sigma.d.iter().map(|&d| usize::from(d) + 1).sum();
        if known.len() == expected {
            Ok(())
        } else {
            Err(format!("{} derivatives are known, not {expected}", known.len()))
        }
    }

    fn check_needs(
        &self,
        model: &Mdae,
        residual: saltus_mdae::ExprId,
        equation: EquationId,
        known: &rustc_hash::FxHashSet<Derivative>,
    ) -> Result<(), String> {
        let needs = model.pool.occurrences(residual);
        match needs
            .into_iter()
            .find(|need| model.is_unknown(need.var) && !known.contains(need))
        {
            Some(need) => Err(format!("equation {} needs {need:?} too early", equation.0)),
            None => Ok(()),
        }
    }
}

impl ModeStructure {
    /// How deep each unknown is a dummy under a choice, by position in `unknowns`.
    pub(super) fn depths(&self, selection: &Selection) -> Vec<u16> {
        let mut depths = vec![0; self.unknowns.len()];
        for (group, chosen) in self.groups.iter().zip(&selection.groups) {
            for (&Derivative { var, .. }, &depth) in group.candidates.iter().zip(&chosen.depth) {
                if let Ok(position) = self.unknowns.binary_search(&var) {
                    depths[position] = depth;
                }
            }
        }
        depths
    }

    /// The plan for a choice of states, such as [`ModeStructure::selection`].
    ///
    /// # Panics
    /// If the choice does not belong to this mode's groups.
    pub fn plan(&self, model: &Mdae, modes: &Modes, selection: &Selection) -> Plan {
        assert_eq!(selection.groups.len(), self.groups.len(), "a choice for each group");
        let depths = self.depths(selection);
        let matrix = self.matrix(modes);
        let equations = Equations {
            model,
            modes,
            pool: &model.pool,
            aliases: None,
        };
        plan_of(equations, self, &matrix, &depths).expect("an admissible choice of states")
    }

    /// The leading incidence.
    pub(super) fn leading_graph(&self, matrix: &SigmaMatrix) -> Bipartite {
        let rows = (0..self.equations.len()).map(Row::from_index);
        let mut builder = BipartiteBuilder::with_capacity(self.unknowns.len(), rows.len(), 3 * rows.len());
        for row in rows {
            builder.push_row(self.leading_columns(matrix, row).map(|(column, _)| column));
        }
        builder.finish()
    }

    fn states(&self, depths: &[u16]) -> Vec<StateDerivative> {
        let mut states = Vec::new();
        for ((&var, &d), &depth) in self.unknowns.iter().zip(&self.sigma.d).zip(depths) {
            let end = d - depth;
            for order in 0..end {
                let role = match order + 1 {
                    next if next < end => DerivativeRole::State(states.len() as u32 + 1),
                    next if next < d => DerivativeRole::Dummy,
                    _ => DerivativeRole::Leading,
                };
                states.push(StateDerivative {
                    state: Derivative { var, order },
                    role,
                });
            }
        }
        states
    }
}

/// Where residuals and their partial derivatives are found.
#[derive(Copy, Clone)]
pub(super) struct Equations<'a> {
    pub(super) model: &'a Mdae,
    pub(super) modes: &'a Modes,
    pub(super) pool: &'a ExprPool,
    pub(super) aliases: Option<&'a ModeAliases>,
}

impl<'a> Equations<'a> {
    fn residual(&self, equation: EquationId) -> ExprId {
        match self.aliases {
            Some(aliases) => aliases.residual(self.model, equation),
            None => self.model.equations[equation].residual,
        }
    }

    fn partials(&self, equation: EquationId) -> &'a [Partial] {
        let rewritten = self.aliases.and_then(|aliases| aliases.partials(equation));
        rewritten.unwrap_or_else(|| self.modes.partials(self.model, equation))
    }

    /// Whether an equation is affine in some unknowns.
    fn is_affine(&self, equation: EquationId, is_unknown: impl Fn(VarId, u16) -> bool) -> bool {
        let by_partials = is_affine_by(self.partials(equation), |unknown| {
            is_unknown(unknown.var, unknown.order)
        });
        by_partials.unwrap_or_else(|| degree(self.pool, self.residual(equation), is_unknown) != Degree::Nonlinear)
    }
}

/// The plan of a structure whose unknowns are dummies to the given depths; `None` if some stage has no perfect matching.
pub(super) fn plan_of(
    equations: Equations,
    structure: &ModeStructure,
    matrix: &SigmaMatrix,
    depths: &[u16],
) -> Option<Plan> {
    let mut planner = Planner {
        equations,
        structure,
        matrix,
        depths,
        mark: vec![u32::MAX; structure.unknowns.len()],
        column_of: vec![u32::MAX; equations.model.variables.len()],
        tearer: Tearer::new(),
        row_place: vec![RowPlace::default(); structure.equations.len()],
        column_position: vec![0; structure.unknowns.len()],
        solvable: Vec::new(),
        plan: Plan {
            states: structure.states(depths),
            blocks: Vec::new(),
            equations: Vec::new(),
            solve_for: Vec::new(),
            tearings: Vec::new(),
        },
    };
    for (i, var) in structure.unknowns.iter().enumerate() {
        planner.column_of[var.index()] = i as u32;
    }
    let stages = structure.sigma.c.iter().copied().max().unwrap_or(0);
    for stage in (0..=stages).rev() {
        planner.add_stage(stage)?;
    }
    Some(planner.plan)
}

struct Planner<'a> {
    equations: Equations<'a>,
    structure: &'a ModeStructure,
    matrix: &'a SigmaMatrix,
    depths: &'a [u16],
    /// Block in which an unknown was last solved for, by column.
    mark: Vec<u32>,
    column_of: Vec<u32>,
    tearer: Tearer,
    /// Of the block being torn: places of its rows, of its columns, and which entries can be solved for.
    row_place: Vec<RowPlace>,
    column_position: Vec<u32>,
    solvable: Vec<bool>,
    plan: Plan,
}

#[derive(Copy, Clone, Default)]
struct RowPlace {
    position: u32,
    first_entry: u32,
}

impl Planner<'_> {
    /// Adds the blocks of one stage: the equations with c ≥ stage, solved for the dummies of that stage (at stage 0,
    /// for all leading derivatives). `None` if they do not match.
    fn add_stage(&mut self, stage: u16) -> Option<()> {
        let sigma = &self.structure.sigma;
        let rows: Vec<Row> = (0..self.structure.equations.len())
            .filter(|&row| sigma.c[row] >= stage)
            .map(Row::from_index)
            .collect();
        let graph = self.stage_graph(stage, &rows);
        let found = (stage > 0).then(|| match_and_order(&graph));
        let (matching, order) = match found {
            Some((matching, order)) => (Cow::Owned(matching), order),
            None => (
                Cow::Borrowed(&sigma.matching),
                block_triangular_order(&graph, &sigma.matching),
            ),
        };
        let matching: &Matching = &matching;
        if matching.len() < rows.len() {
            return None;
        }
        for block in order.iter() {
            self.add_block(stage, &rows, &graph, matching, block);
        }
        Some(())
    }

    fn stage_graph(&self, stage: u16, rows: &[Row]) -> Bipartite {
        let mut builder = BipartiteBuilder::with_capacity(self.structure.unknowns.len(), rows.len(), 3 * rows.len());
        for &row in rows {
            let leading = self.structure.leading_columns(self.matrix, row);
            builder.push_row(
                leading
                    .map(|(column, _)| column)
                    .filter(|column| self.depths[column.index()] >= stage || stage == 0),
            );
        }
        builder.finish()
    }

    fn add_block(&mut self, stage: u16, rows: &[Row], graph: &Bipartite, matching: &Matching, block: &[Row]) {
        let structure = self.structure;
        let number = self.plan.blocks.len() as u32;
        let first = self.plan.equations.len() as u32;
        let mut columns = Vec::with_capacity(block.len());
        for &local in block {
            let row = rows[local.index()].index();
            let column = matching.column_of(local).expect("all rows are matched");
            columns.push(column);
            self.mark[column.index()] = number;
            let (c, d) = (structure.sigma.c[row], structure.sigma.d[column.index()]);
            self.plan.equations.push((structure.equations[row], c - stage));
            self.plan
                .solve_for
                .push(Derivative::new(structure.unknowns[column.index()], d - stage));
        }
        let kind = self.kind(stage, number, first as usize);
        let tearing = match block.len() {
            1 => UNTORN,
            _ => {
                let torn = self.tear(rows, graph, block, &columns);
                self.plan.tearings.push(torn);
                self.plan.tearings.len() as u32 - 1
            }
        };
        self.plan.blocks.push(BlockData {
            first,
            end: self.plan.equations.len() as u32,
            tearing,
            stage,
            kind,
        });
    }

    /// A differentiated equation is affine in its leading derivatives; an undifferentiated one is looked at.
    fn kind(&mut self, stage: u16, number: u32, first: usize) -> BlockKind {
        let equations = &self.plan.equations[first..];
        let (mark, column_of, d) = (&self.mark, &self.column_of, &self.structure.sigma.d);
        let is_unknown = |var: VarId, order: u16| {
            let column = column_of[var.index()] as usize;
            column != u32::MAX as usize && mark[column] == number && order == d[column] - stage
        };
        let source = self.equations;
        let affine = equations
            .iter()
            .all(|&(equation, order)| order > 0 || source.is_affine(equation, is_unknown));
        match (affine, equations.len()) {
            (true, 1) => BlockKind::Explicit,
            (true, _) => BlockKind::Linear,
            (false, _) => BlockKind::Nonlinear,
        }
    }

    fn tear(&mut self, rows: &[Row], graph: &Bipartite, block: &[Row], columns: &[Column]) -> BlockTearing {
        self.read_solvable(rows, graph, block);
        for (i, column) in columns.iter().enumerate() {
            self.column_position[column.index()] = i as u32;
        }
        let (row_place, solvable) = (&self.row_place, &self.solvable);
        let tearing = self.tearer.tear(
            graph,
            block,
            columns,
            |row, column| {
                let entry = graph.columns_of(row).iter().position(|&other| other == column);
                entry.is_some_and(|at| solvable[row_place[row.index()].first_entry as usize + at])
            },
            |_| 0,
        );
        let row_position = |row: Row| row_place[row.index()].position;
        let column_position = |column: Column| self.column_position[column.index()];
        BlockTearing {
            tears: tearing.tears.into_iter().map(column_position).collect(),
            causal: tearing
                .causal
                .into_iter()
                .map(|(row, column)| (row_position(row), column_position(column)))
                .collect(),
            residuals: tearing.residuals.into_iter().map(row_position).collect(),
        }
    }

    /// Which entries of a block have a constant nonzero coefficient: only these can be solved for whatever the values.
    fn read_solvable(&mut self, rows: &[Row], graph: &Bipartite, block: &[Row]) {
        let structure = self.structure;
        let source = self.equations;
        self.solvable.clear();
        for (position, &local) in block.iter().enumerate() {
            self.row_place[local.index()] = RowPlace {
                position: position as u32,
                first_entry: self.solvable.len() as u32,
            };
            let row = rows[local.index()].index();
            let partials = source.partials(structure.equations[row]);
            for &column in graph.columns_of(local) {
                let order = structure.sigma.d[column.index()] - structure.sigma.c[row];
                let derivative = Derivative::new(structure.unknowns[column.index()], order);
                let at = partials.binary_search_by_key(&derivative, |&(known, _)| known);
                let is_constant = |&(_, coefficient): &(Derivative, Coefficient)| matches!(coefficient, Coefficient::Constant(value) if value != 0.0);
                self.solvable.push(at.is_ok_and(|at| is_constant(&partials[at])));
            }
        }
    }
}
