//! The equations of a mode with their Σ-method solution, indexed for mode-change analysis.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use saltus_graph::{
    Adjacency, Bipartite, BlockId, Blocks, Column, ComponentId, Components, Row, WeightedAdjacency,
    connected_components_where,
};
use saltus_mdae::{ExprId, ExprPool, OriginId, VarId};

use crate::sigma::{Sigma, SigmaFailure, SigmaMatrix};

/// `0 = residual`, with where it comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Hash)]
pub struct ModeEquation {
    /// Zero while the equation holds.
    pub residual: ExprId,
    /// Provenance.
    pub origin: OriginId,
}

/// A mode: its equations ([`Row`]s), its unknowns ([`Column`]s) and their offsets.
#[derive(Clone, Debug)]
pub struct ModeSystem {
    equations: Vec<ModeEquation>,
    matrix: SigmaMatrix,
    sigma: Sigma,
    by_residual: OnceLock<FxHashMap<ExprId, Row>>,
    order: OnceLock<Order>,
}

/// How equations depend on each other, found when it is first asked for: most changes touch nothing that has to be restarted.
#[derive(Clone, Debug)]
struct Order {
    users: Bipartite,
    components: Components,
    blocks: Blocks,
    component_rows: Vec<Vec<Row>>,
}

impl Order {
    fn new(matrix: &SigmaMatrix, sigma: &Sigma) -> Self {
        let leading = |row: Row, column: Column| {
            let order = matrix.matrix().weight(row, column).unwrap_or(0);
            sigma.is_leading(row, column, order as u16)
        };
        let components = connected_components_where(matrix.matrix(), leading);
        Order {
            users: matrix.matrix().graph().transposed(),
            component_rows: components.rows(),
            components,
            blocks: sigma.blocks(matrix),
        }
    }
}

impl ModeSystem {
    /// Analyses the equations of a mode by the Σ-method.
    pub fn new(
        pool: &ExprPool,
        equations: Vec<ModeEquation>,
        is_unknown: impl Fn(VarId) -> bool,
    ) -> Result<Self, SigmaFailure> {
        let residuals = equations.iter().map(|equation| equation.residual);
        let matrix = SigmaMatrix::of_residuals(pool, residuals, is_unknown);
        let sigma = matrix.solve()?;
        Ok(Self::from_parts(equations, matrix, sigma))
    }

    /// A mode whose offsets are known already.
    pub fn from_parts(equations: Vec<ModeEquation>, matrix: SigmaMatrix, sigma: Sigma) -> Self {
        ModeSystem {
            equations,
            matrix,
            sigma,
            by_residual: OnceLock::new(),
            order: OnceLock::new(),
        }
    }

    fn order(&self) -> &Order {
        self.order.get_or_init(|| Order::new(&self.matrix, &self.sigma))
    }

    /// The equations, by row.
    pub fn equations(&self) -> &[ModeEquation] {
        &self.equations
    }
    /// One equation.
    pub fn equation(&self, row: Row) -> ModeEquation {
        self.equations[row.index()]
    }
    /// The unknowns, by column.
    pub fn unknowns(&self) -> &[VarId] {
        self.matrix.unknowns()
    }
    /// The unknown of a column.
    pub fn unknown(&self, column: Column) -> VarId {
        self.matrix.unknown(column)
    }
    /// The column of an unknown, if it occurs in this mode.
    pub fn column_of(&self, var: VarId) -> Option<Column> {
        self.matrix.column_of(var)
    }
    /// Signature and offsets.
    pub fn sigma(&self) -> &Sigma {
        &self.sigma
    }
    /// c_f
    pub fn equation_offset(&self, row: Row) -> u16 {
        self.sigma.c[row.index()]
    }
    /// d_x
    pub fn unknown_offset(&self, column: Column) -> u16 {
        self.sigma.d[column.index()]
    }
    /// d_x of a variable; `None` if it does not occur.
    pub fn offset_of(&self, var: VarId) -> Option<u16> {
        self.column_of(var).map(|column| self.unknown_offset(column))
    }
    /// The unknowns of an equation with their highest derivatives.
    pub fn signature(&self, row: Row) -> impl Iterator<Item = (Column, u16)> + '_ {
        let entries = self.matrix.matrix().entries_of(row);
        entries.map(|(column, order)| (column, order as u16))
    }
    /// The equations in which an unknown occurs.
    pub fn users(&self, column: Column) -> impl Iterator<Item = Row> + '_ {
        self.order()
            .users
            .columns_of(Row(column.0))
            .iter()
            .map(|user| Row(user.0))
    }
    /// The equation with the given residual.
    pub fn find(&self, residual: ExprId) -> Option<Row> {
        let rows = || {
            let equations = self.equations.iter().enumerate();
            equations.map(|(row, equation)| (equation.residual, Row::from_index(row)))
        };
        let by_residual = self.by_residual.get_or_init(|| rows().collect());
        by_residual.get(&residual).copied()
    }

    /// The component of an equation.
    pub fn component_of_row(&self, row: Row) -> ComponentId {
        self.order().components.of_row(row)
    }
    /// The component of an unknown.
    pub fn component_of_column(&self, column: Column) -> ComponentId {
        self.order().components.of_column(column)
    }
    /// The equations of a component.
    pub fn component_rows(&self, component: ComponentId) -> &[Row] {
        &self.order().component_rows[component.index()]
    }

    /// The block (strongly connected component of the leading incidence) of an equation.
    pub fn block_of(&self, row: Row) -> BlockId {
        self.order().blocks.block_of(row).expect("every equation is in a block")
    }
    /// The equations of a block.
    pub fn block_rows(&self, block: BlockId) -> &[Row] {
        self.order().blocks.rows(block)
    }
    /// The unknown that an equation is matched to.
    pub fn matched_column(&self, row: Row) -> Column {
        self.sigma.matching.column_of(row).expect("a perfect matching")
    }
    /// The equation that an unknown is matched to.
    pub fn matched_row(&self, column: Column) -> Row {
        self.sigma.matching.row_of(column).expect("a perfect matching")
    }
}
