//! The numeric rank of the leading Jacobian: where structure and numbers disagree.
//!
//! The Σ-method sees which unknowns occur, not with what coefficients. If ∂f^(c)/∂x^(d) is singular although its
//! pattern is not (RR-9603, F.2), the offsets are wrong and nothing built on them can be solved. Each diagonal block is
//! looked at by itself, at several points, so that an accident of one point is told from an identity.

use saltus_graph::{Column, Row};
use saltus_mdae::eval::Environment;
use saltus_mdae::{Derivative, EquationId, ExprId, Mdae, Node, VarId};
use saltus_numerics::linalg::{DenseMatrix, FullPivotLu, PivotedQr, SparseLu, SparsityPattern, balance};

use super::guards::Modes;
use super::structure::ModeStructure;
use crate::linear::{Coefficient, Degree, degree};
use crate::sigma::SigmaMatrix;
use saltus_mdae::jacobian::{JacobianReader, SamplePoint};

/// Blocks up to this size are factorised densely with complete pivoting; larger ones only say whether they are
/// singular.
const DENSE_LIMIT: usize = 200;
/// What is left of terms that cancel counts as zero below this part of them.
const ZERO_PIVOT: f64 = 1e-13;
/// Factors of combinations at several points that differ by less are the same.
const SAME: f64 = 1e-11;

/// Factors of combinations are known to this part.
const ROUNDING: f64 = 1e-12;
/// The largest denominator of a factor that is taken for a fraction.
const MOST_PARTS: i32 = 12;

/// Statements in functions that one check may execute; blocks that are looked at later are taken for regular. Functions of
/// media take thousands of statements per call.
const STATEMENT_LIMIT: u64 = 200_000;

/// A block whose equations do not determine its unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct RankDeficiency {
    /// The equations of the block with how often they are differentiated.
    pub equations: Vec<(EquationId, u16)>,
    /// The leading derivatives of the block.
    pub unknowns: Vec<Derivative>,
    /// Numeric rank.
    pub rank: usize,
    /// Equations that depend on the others.
    pub dependent: Vec<EquationId>,
    /// Unknowns that are not determined.
    pub undetermined: Vec<VarId>,
    /// What to do about it.
    pub remedy: Remedy,
}

/// What to do about a singular block.
#[derive(Clone, Debug, PartialEq)]
pub enum Remedy {
    /// Only this point is singular: another start value, or another choice of states there.
    AnotherPoint,
    /// Σ λ_i f_i^(c_i − c) is free of leading derivatives and can take the place of `replaced` (the *linear combination*
    /// of Tan, Nedialkov and Pryce); the system has fewer degrees of freedom than its structure says. See
    /// [`combined_residual`].
    LinearCombination {
        /// The equation to replace.
        replaced: EquationId,
        /// The equations with their factors λ and differentiations c_i − c.
        terms: Vec<(EquationId, f64, u16)>,
    },
    /// The combination depends on the point: no structural remedy.
    None,
}

/// Looks at every block at `point` (or, if `None`, at the start values). Without functions that fail, costs time in the
/// model, and in the cube of its largest block up to a limit.
pub fn check_rank(
    model: &Mdae,
    modes: &Modes,
    structure: &ModeStructure,
    point: Option<&dyn Environment>,
) -> Vec<RankDeficiency> {
    let start = SamplePoint::new(model, 0);
    let point = point.unwrap_or(&start);
    let others = [1, 2].map(|seed| SamplePoint::with_other_parameters(model, seed));
    let mut checker = Checker {
        model,
        modes,
        structure,
        matrix: structure.matrix(modes),
        reader: JacobianReader::new(),
        position: vec![u32::MAX; structure.unknowns.len()],
    };
    let blocks = structure.blocks.iter();
    blocks.filter_map(|rows| checker.check(rows, point, &others)).collect()
}

/// Entries (row, column, value) of one block in local numbers.
type Entries = Vec<(usize, usize, f64)>;

struct Checker<'a> {
    model: &'a Mdae,
    modes: &'a Modes,
    structure: &'a ModeStructure,
    matrix: SigmaMatrix,
    reader: JacobianReader,
    position: Vec<u32>,
}

/// Rank and, for dense blocks, which rows and columns are left over.
struct Rank {
    rank: usize,
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Checker<'_> {
    fn check(&mut self, rows: &[Row], point: &dyn Environment, others: &[SamplePoint]) -> Option<RankDeficiency> {
        // A function that cannot be evaluated at a sample point proves nothing.
        let entries = self.entries(rows, point)?;
        let found = rank(rows.len(), &entries)?;
        if found.rank == rows.len() {
            return None;
        }
        let elsewhere: Vec<Entries> = others.iter().filter_map(|p| self.entries(rows, p)).collect();
        let regular_elsewhere = |entries: &Entries| rank(rows.len(), entries).is_some_and(|r| r.rank == rows.len());
        let remedy = if elsewhere.iter().any(regular_elsewhere) {
            Remedy::AnotherPoint
        } else {
            self.combination(rows, &entries, &elsewhere)
        };
        Some(self.describe(rows, found, remedy))
    }

    fn columns(&self, rows: &[Row]) -> Vec<Column> {
        rows.iter()
            .filter_map(|&row| self.structure.sigma.matching.column_of(row))
            .collect()
    }

    /// The leading Jacobian of a block; `None` if a function cannot be evaluated or an entry is not finite.
    fn entries(&mut self, rows: &[Row], point: &dyn Environment) -> Option<Entries> {
        let columns = self.columns(rows);
        for (i, column) in columns.iter().enumerate() {
            self.position[column.index()] = i as u32;
        }
        let mut entries = Vec::new();
        let complete = rows
            .iter()
            .enumerate()
            .all(|(i, &row)| self.read_row(i, row, point, &mut entries));
        for column in columns {
            self.position[column.index()] = u32::MAX;
        }
        (complete && entries.iter().all(|entry| entry.2.is_finite())).then_some(entries)
    }

    fn read_row(&mut self, i: usize, row: Row, point: &dyn Environment, entries: &mut Entries) -> bool {
        let structure = self.structure;
        if self.copy_row(i, row, entries) {
            return true;
        }
        let residual = self.model.equations[structure.equations[row.index()]].residual;
        let mut partials = Vec::new();
        let column_of = |var: VarId| structure.unknowns.binary_search(&var).ok();
        let position = &self.position;
        let wanted = |var, _| column_of(var).is_some_and(|column| position[column] != u32::MAX);
        let read = self.reader.read_by(self.model, residual, point, &wanted, &mut partials);
        if read.is_err() || self.reader.statements() > STATEMENT_LIMIT {
            return false;
        }
        for (column, order) in structure.leading_columns(&self.matrix, row) {
            let local = self.position[column.index()];
            if local != u32::MAX {
                let derivative = Derivative::new(structure.unknowns[column.index()], order);
                let at = partials.binary_search_by_key(&derivative, |&(known, _)| known);
                entries.push((i, local as usize, at.map_or(0.0, |at| partials[at].1)));
            }
        }
        true
    }

    /// The same of a row whose entries are the same at every point; false if they are not.
    fn copy_row(&self, i: usize, row: Row, entries: &mut Entries) -> bool {
        let structure = self.structure;
        let partials = self.modes.partials(self.model, structure.equations[row.index()]);
        let before = entries.len();
        for (column, order) in structure.leading_columns(&self.matrix, row) {
            let local = self.position[column.index()];
            if local == u32::MAX {
                continue;
            }
            let derivative = Derivative::new(structure.unknowns[column.index()], order);
            let at = partials.binary_search_by_key(&derivative, |&(known, _)| known);
            match at.map(|at| partials[at].1) {
                Ok(Coefficient::Constant(value)) => entries.push((i, local as usize, value)),
                Ok(_) => {
                    entries.truncate(before);
                    return false;
                }
                Err(_) => entries.push((i, local as usize, 0.0)),
            }
        }
        true
    }

    /// A left null vector that is the same at all points makes a combination without leading derivatives.
    fn combination(&self, rows: &[Row], entries: &Entries, elsewhere: &[Entries]) -> Remedy {
        let (by_row, _) = balance(rows.len(), rows.len(), entries);
        let Some(first) = left_null_vector(rows.len(), entries, &by_row) else {
            return Remedy::None;
        };
        let same = |other: &Entries| {
            let other = left_null_vector(rows.len(), other, &by_row);
            other.is_some_and(|other| first.iter().zip(&other).all(|(a, b)| (a - b).abs() <= SAME))
        };
        if !elsewhere.iter().all(same) {
            return Remedy::None;
        }
        let c = |i: usize| self.structure.sigma.c[rows[i].index()];
        let involved: Vec<usize> = (0..rows.len()).filter(|&i| first[i].abs() > 1e-9).collect();
        let Some(&replaced) = involved.iter().min_by_key(|&&i| c(i)) else {
            return Remedy::None;
        };
        let equation = |i: usize| self.structure.equations[rows[i].index()];
        Remedy::LinearCombination {
            replaced: equation(replaced),
            terms: involved
                .iter()
                .map(|&i| {
                    let factor = first[i] * by_row[i] / (first[replaced] * by_row[replaced]);
                    (equation(i), without_rounding(factor), c(i) - c(replaced))
                })
                .collect(),
        }
    }

    fn describe(&self, rows: &[Row], found: Rank, remedy: Remedy) -> RankDeficiency {
        let structure = self.structure;
        let columns = self.columns(rows);
        let equation = |row: Row| (structure.equations[row.index()], structure.sigma.c[row.index()]);
        let unknown =
            |column: Column| Derivative::new(structure.unknowns[column.index()], structure.sigma.d[column.index()]);
        RankDeficiency {
            equations: rows.iter().map(|&row| equation(row)).collect(),
            unknowns: columns.iter().map(|&column| unknown(column)).collect(),
            rank: found.rank,
            dependent: found.rows.iter().map(|&i| equation(rows[i]).0).collect(),
            undetermined: found.columns.iter().map(|&i| unknown(columns[i]).var).collect(),
            remedy,
        }
    }
}

fn rank(n: usize, entries: &Entries) -> Option<Rank> {
    if n > DENSE_LIMIT {
        return sparse_rank(n, entries);
    }
    let lu = FullPivotLu::new(&dense(n, entries), Some(ZERO_PIVOT));
    let mut rest = Rank {
        rank: lu.rank(),
        rows: lu.row_order()[lu.rank()..].to_vec(),
        columns: lu.column_order()[lu.rank()..].to_vec(),
    };
    rest.rows.sort_unstable();
    rest.columns.sort_unstable();
    Some(rest)
}

fn sparse_rank(n: usize, entries: &Entries) -> Option<Rank> {
    let places: Vec<(usize, usize)> = entries.iter().map(|&(row, column, _)| (row, column)).collect();
    let pattern = SparsityPattern::from_entries(n, n, places.iter().copied());
    let mut values = vec![0.0; pattern.len()];
    for &(row, column, value) in entries {
        values[pattern.position(row, column)?] = value;
    }
    Some(match SparseLu::new(pattern).factor(&values) {
        Ok(_) => Rank {
            rank: n,
            rows: Vec::new(),
            columns: Vec::new(),
        },
        Err(singular) => Rank {
            rank: singular.rank_so_far.min(n - 1),
            rows: vec![singular.row],
            columns: vec![singular.column],
        },
    })
}

fn dense(n: usize, entries: &Entries) -> DenseMatrix {
    let mut matrix = DenseMatrix::zeros(n, n);
    for &(row, column, value) in entries {
        matrix[(row, column)] = value;
    }
    matrix
}

/// The left null vector of a block of rank n − 1 whose rows are multiplied by factors, its largest entry scaled to one.
fn left_null_vector(n: usize, entries: &Entries, by_row: &[f64]) -> Option<Vec<f64>> {
    if n > DENSE_LIMIT {
        return None;
    }
    let matrix = dense(n, entries);
    let (_, by_column) = balance(n, n, entries);
    let transposed = DenseMatrix::from_fn(n, n, |row, column| {
        matrix[(column, row)] * by_row[column] * by_column[row]
    });
    let lu = FullPivotLu::new(&transposed, Some(ZERO_PIVOT));
    if lu.rank() + 1 != n {
        return None;
    }
    // The column left over is minus the combination of the others that gives it.
    let free = lu.column_order()[n - 1];
    let rest = DenseMatrix::from_fn(n, n - 1, |row, column| transposed[(row, lu.column_order()[column])]);
    let target: Vec<f64> = (0..n).map(|row| transposed[(row, free)]).collect();
    let coefficients = PivotedQr::new(&rest, Some(ZERO_PIVOT)).basic_solution(&target);
    let mut vector = vec![0.0; n];
    vector[free] = 1.0;
    for (i, coefficient) in coefficients.iter().enumerate() {
        vector[lu.column_order()[i]] = -coefficient;
    }
    // The first entry of largest size decides the scale, so that the vectors of several points can be compared.
    let size = vector.iter().fold(0.0, |size: f64, entry| size.max(entry.abs()));
    let first = vector.iter().position(|entry| entry.abs() >= size * (1.0 - 1e-6))?;
    let scale = vector[first];
    Some(vector.iter().map(|entry| entry / scale).collect())
}

/// Factors are mostly small fractions; off by a rounding error they would leave terms that cancel.
fn without_rounding(factor: f64) -> f64 {
    let mut fractions = (1..=MOST_PARTS).map(|parts| (factor * f64::from(parts)).round() / f64::from(parts));
    let near = |fraction: &f64| (fraction - factor).abs() <= ROUNDING * factor.abs();
    fractions.find(near).unwrap_or(factor)
}

/// The residual Σ λ_i f_i^(k_i) of a [`Remedy::LinearCombination`], without the leading derivatives that cancel in it;
/// `None` for other remedies, or if it is not affine in them, so that they cannot be left out.
pub fn combined_residual(model: &mut Mdae, found: &RankDeficiency) -> Option<ExprId> {
    let Remedy::LinearCombination { replaced, terms } = &found.remedy else {
        return None;
    };
    let mut sum = model.pool.real(0.0);
    for &(equation, factor, order) in terms {
        let residual = model.equations[equation].residual;
        let residual = model.pool.nth_total_derivative(residual, order);
        let factor = model.pool.real(factor);
        let term = model.pool.mul(factor, residual);
        sum = model.pool.add(sum, term);
    }
    let (_, c) = *found.equations.iter().find(|(equation, _)| equation == replaced)?;
    let is_leading = |var, order| {
        found
            .unknowns
            .iter()
            .any(|&Derivative { var: x, order: d }| (x, d) == (var, order + c))
    };
    if degree(&model.pool, sum, is_leading) == Degree::Nonlinear {
        return None;
    }
    let rewritten = model.pool.rewrite(&[sum], |pool, _, node| match node {
        Node::Var { var, order } if is_leading(var, order) => Some(pool.real(0.0)),
        _ => None,
    });
    rewritten.first().copied()
}
