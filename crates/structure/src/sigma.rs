//! Signatures and the Σ-method.
//!
//! σ_fx is the highest derivative of unknown x in equation f. A transversal of highest value exists iff the system is
//! structurally regular; its smallest dual offsets c, d ≥ 0 with c_f + σ_fx ≤ d_x (equality on the transversal) say how
//! often each equation is differentiated and which derivative of each unknown leads (Pryce, *A simple structural
//! analysis method for DAEs*, BIT 41, 2001).

use rustc_hash::FxHashMap;
use saltus_graph::{
    Adjacency, Blocks, Column, DulmageMendelsohn, Matcher, Matching, Row, WeightedAdjacency, WeightedBipartite,
    WeightedBipartiteBuilder, block_triangular_order, highest_value_transversal,
};
use saltus_mdae::walk::NodeWalk;
use saltus_mdae::{Derivative, ExprId, ExprPool, Idx, Node, VarId};

/// Differentiating an equation more often than this is refused: the expressions would outgrow any memory, and no
/// physical model comes near it.
pub const MAX_DIFFERENTIATIONS: i64 = 64;

/// Reads signatures of expressions; keeps its workspace, so that reading costs time in the expression only.
#[derive(Clone, Debug, Default)]
pub struct SignatureReader {
    nodes: NodeWalk,
}

impl SignatureReader {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the signature of an expression to `out`: each unknown with its highest derivative, in order of
    /// unknowns. Current values only; left limits, conditions and what `is_unknown` denies do not count.
    pub fn read(
        &mut self,
        pool: &ExprPool,
        root: ExprId,
        is_unknown: impl Fn(VarId) -> bool,
        out: &mut Vec<Derivative>,
    ) {
        let first = out.len();
        self.nodes.for_each_leaf(pool, root, |leaf| match leaf {
            Node::Var { var, order } if is_unknown(var) => out.push(Derivative { var, order }),
            _ => {}
        });
        keep_highest(out, first);
    }
}

/// Sorts the entries from `first` on and keeps the highest order of each variable.
fn keep_highest(entries: &mut Vec<Derivative>, first: usize) {
    entries[first..].sort_unstable();
    let mut kept = first;
    for i in first..entries.len() {
        if kept > first && entries[kept - 1].var == entries[i].var {
            entries[kept - 1] = entries[i];
        } else {
            entries[kept] = entries[i];
            kept += 1;
        }
    }
    entries.truncate(kept);
}

/// The signature of one expression; see [`SignatureReader::read`].
pub fn signature(pool: &ExprPool, root: ExprId, is_unknown: impl Fn(VarId) -> bool) -> Vec<Derivative> {
    let mut out = Vec::new();
    SignatureReader::new().read(pool, root, is_unknown, &mut out);
    out
}

/// Signatures of many expressions, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signatures {
    start: Vec<u32>,
    entries: Vec<Derivative>,
}

impl Default for Signatures {
    fn default() -> Self {
        Signatures {
            start: vec![0],
            entries: Vec::new(),
        }
    }
}

impl Signatures {
    /// The signatures of the given residuals.
    pub fn of_residuals(
        pool: &ExprPool,
        residuals: impl IntoIterator<Item = ExprId>,
        is_unknown: impl Fn(VarId) -> bool,
    ) -> Self {
        let mut reader = SignatureReader::new();
        let mut signatures = Self::default();
        for residual in residuals {
            reader.read(pool, residual, &is_unknown, &mut signatures.entries);
            let end = u32::try_from(signatures.entries.len()).expect("more than 2^32 occurrences");
            signatures.start.push(end);
        }
        signatures
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// One row, in order of unknowns.
    #[inline]
    pub fn row(&self, row: usize) -> &[Derivative] {
        &self.entries[self.start[row] as usize..self.start[row + 1] as usize]
    }
    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Derivative]> + Clone {
        (0..self.len()).map(|row| self.row(row))
    }
}

/// The signature matrix of a system: rows in the order given, columns the unknowns that occur, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigmaMatrix {
    unknowns: Vec<VarId>,
    matrix: WeightedBipartite,
}

impl SigmaMatrix {
    /// The matrix of the given residuals over the unknowns that occur in them.
    pub fn of_residuals(
        pool: &ExprPool,
        residuals: impl IntoIterator<Item = ExprId>,
        is_unknown: impl Fn(VarId) -> bool,
    ) -> Self {
        let signatures = Signatures::of_residuals(pool, residuals, is_unknown);
        Self::of_rows(signatures.rows())
    }

    /// The matrix of the given signatures.
    pub fn of_rows<'a>(rows: impl Iterator<Item = &'a [Derivative]> + Clone) -> Self {
        let mut unknowns: Vec<VarId> = rows.clone().flatten().map(|&Derivative { var, .. }| var).collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        Self::with_unknowns(unknowns, rows)
    }

    /// The matrix of the given signatures over a sorted list that holds all unknowns in them (and maybe more).
    pub fn with_unknowns<'a>(unknowns: Vec<VarId>, rows: impl Iterator<Item = &'a [Derivative]>) -> Self {
        debug_assert!(unknowns.is_sorted());
        let columns = Columns::new(&unknowns);
        let mut builder = WeightedBipartiteBuilder::new(unknowns.len());
        for row in rows {
            builder.push_row(
                row.iter()
                    .map(|&Derivative { var, order }| (columns.of(var), i32::from(order))),
            );
        }
        SigmaMatrix {
            unknowns,
            matrix: builder.finish(),
        }
    }

    /// The unknowns, by column.
    pub fn unknowns(&self) -> &[VarId] {
        &self.unknowns
    }
    /// The unknown of a column.
    pub fn unknown(&self, column: Column) -> VarId {
        self.unknowns[column.index()]
    }
    /// The column of an unknown.
    pub fn column_of(&self, var: VarId) -> Option<Column> {
        self.unknowns.binary_search(&var).ok().map(Column::from_index)
    }
    /// The entries as a weighted graph.
    pub fn matrix(&self) -> &WeightedBipartite {
        &self.matrix
    }

    /// A transversal of highest value with the smallest offsets.
    pub fn solve(&self) -> Result<Sigma, SigmaFailure> {
        let found = highest_value_transversal(&self.matrix).map_err(|_| SigmaFailure::Singular(self.explain()))?;
        let too_often = found.offsets.rows.iter().position(|&c| c > MAX_DIFFERENTIATIONS);
        if let Some(row) = too_often {
            return Err(SigmaFailure::TooManyDifferentiations {
                row: Row::from_index(row),
            });
        }
        let narrow = |offsets: &[i64]| offsets.iter().map(|&offset| offset as u16).collect();
        Ok(Sigma {
            c: narrow(&found.offsets.rows),
            // σ ≤ u16::MAX and c is bounded, but their sum may not fit.
            d: if found.offsets.columns.iter().all(|&d| d <= i64::from(u16::MAX)) {
                narrow(&found.offsets.columns)
            } else {
                return Err(SigmaFailure::TooManyDifferentiations { row: Row(0) });
            },
            matching: found.matching,
        })
    }

    fn explain(&self) -> Singularity {
        let matching = Matcher::new().maximum(&self.matrix);
        let parts = DulmageMendelsohn::new(&self.matrix, &matching);
        let fine = parts.fine(&self.matrix, &matching);
        let piece = |set: saltus_graph::AlternatingSet| Piece {
            rows: set.rows,
            unknowns: set.columns.into_iter().map(|column| self.unknown(column)).collect(),
        };
        Singularity {
            structural_rank: matching.len(),
            overdetermined: fine.overdetermined.into_iter().map(piece).collect(),
            underdetermined: fine.underdetermined.into_iter().map(piece).collect(),
        }
    }
}

/// Column numbers of sorted unknowns: a table where the ids are dense, a map otherwise.
enum Columns {
    Dense(Vec<u32>),
    Sparse(FxHashMap<VarId, u32>),
}

impl Columns {
    fn new(unknowns: &[VarId]) -> Self {
        let span = unknowns.last().map_or(0, |var| var.index() + 1);
        let numbered = unknowns.iter().enumerate().map(|(i, &var)| (var, i as u32));
        if span <= 16 * unknowns.len() {
            let mut table = vec![0; span];
            numbered.for_each(|(var, i)| table[var.index()] = i);
            Columns::Dense(table)
        } else {
            Columns::Sparse(numbered.collect())
        }
    }
    #[inline]
    fn of(&self, var: VarId) -> Column {
        Column(match self {
            Columns::Dense(table) => table[var.index()],
            Columns::Sparse(map) => map[&var],
        })
    }
}

/// A highest-value transversal and the canonical offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sigma {
    /// How often each equation is differentiated, by row.
    pub c: Vec<u16>,
    /// The leading derivative of each unknown, by column.
    pub d: Vec<u16>,
    /// Which unknown each equation is matched to.
    pub matching: Matching,
}

impl Sigma {
    /// The structural index: max c, plus one if some unknown occurs without its derivative only.
    pub fn index(&self) -> u16 {
        structural_index(&self.c, &self.d)
    }

    /// Degrees of freedom: Σd − Σc, the number of initial values that can be chosen.
    pub fn degrees_of_freedom(&self) -> usize {
        degrees_of_freedom(&self.c, &self.d)
    }

    /// Whether an entry is in the leading incidence: c_f + σ_fx = d_x.
    #[inline]
    pub fn is_leading(&self, row: Row, column: Column, order: u16) -> bool {
        u32::from(self.c[row.index()]) + u32::from(order) == u32::from(self.d[column.index()])
    }

    /// The leading incidence in block triangular order.
    pub fn blocks(&self, matrix: &SigmaMatrix) -> Blocks {
        let leading = matrix
            .matrix
            .filtered(|row, column, order| self.is_leading(row, column, order as u16));
        block_triangular_order(&leading, &self.matching)
    }

    /// Checks c + σ ≤ d, equality on the transversal and that the transversal is perfect.
    pub fn validate(&self, matrix: &SigmaMatrix) -> Result<(), String> {
        self.matching.validate(matrix.matrix())?;
        for row in (0..matrix.matrix.row_count()).map(Row::from_index) {
            for (column, order) in matrix.matrix.entries_of(row) {
                let reach = i64::from(self.c[row.index()]) + i64::from(order);
                let leading = i64::from(self.d[column.index()]);
                if reach > leading || (reach < leading && self.matching.column_of(row) == Some(column)) {
                    return Err(format!("offsets disagree at {row:?}, {column:?}"));
                }
            }
        }
        if self.matching.is_perfect() {
            Ok(())
        } else {
            Err("the transversal is not perfect".to_owned())
        }
    }
}

/// max c, plus one if some d is zero (an unknown that no differential equation determines).
pub fn structural_index(c: &[u16], d: &[u16]) -> u16 {
    let differentiations = c.iter().copied().max().unwrap_or(0);
    differentiations + u16::from(d.contains(&0))
}

/// Σd − Σc.
pub fn degrees_of_freedom(c: &[u16], d: &[u16]) -> usize {
    let sum = |offsets: &[u16]| offsets.iter().map(|&offset| usize::from(offset)).sum::<usize>();
    sum(d).saturating_sub(sum(c))
}

/// Why the Σ-method fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SigmaFailure {
    /// There is no perfect matching.
    Singular(Singularity),
    /// An equation would have to be differentiated more than [`MAX_DIFFERENTIATIONS`] times.
    TooManyDifferentiations {
        /// The equation.
        row: Row,
    },
}

/// The Dulmage–Mendelsohn explanation of a structural singularity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Singularity {
    /// Size of a maximum matching.
    pub structural_rank: usize,
    /// Independent pieces with more equations than unknowns.
    pub overdetermined: Vec<Piece>,
    /// Independent pieces with more unknowns than equations.
    pub underdetermined: Vec<Piece>,
}

/// Equations and unknowns that belong together, each in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The equations.
    pub rows: Vec<Row>,
    /// The unknowns.
    pub unknowns: Vec<VarId>,
}
