//! Residual vectors and exact sparse Jacobians of systems of equations.

use rustc_hash::FxHashMap;
use saltus_mdae::{ExprId, ExprPool};

use crate::error::CompileError;
use crate::kernel::{Kernel, KernelCache};
use crate::program::{Program, ProgramBuilder};
use crate::spec::{KernelSpec, Leaf};

/// A system of equations with its sparse Jacobian in compressed columns. Instance `e` of `residual` and of `jacobian`
/// belongs to equation `e`.
#[derive(Debug, Clone)]
pub struct System {
    /// Residuals: equation `e` to `out[e]`.
    pub residual: Program,
    /// The numbers of the Jacobian in the order of `row_indices`.
    pub jacobian: Program,
    /// Start of each column in `row_indices`, and the end.
    pub column_starts: Vec<usize>,
    /// Row of each structural non-zero, ascending in each column.
    pub row_indices: Vec<usize>,
}

impl System {
    /// Builds residuals and exact Jacobian. `equations` are expressions with the order of total derivative to take,
    /// `unknowns` the leaves of the columns, `slot` says where leaves sit in the value memory.
    pub fn build(
        cache: &KernelCache,
        pool: &ExprPool,
        equations: &[(ExprId, u16)],
        unknowns: &[Leaf],
        mut slot: impl FnMut(Leaf) -> Option<u32>,
    ) -> Result<System, SystemError> {
        let column_of: FxHashMap<Leaf, usize> = unknowns.iter().enumerate().map(|(k, &leaf)| (leaf, k)).collect();
        let residual = residuals(cache, pool, equations, &mut slot)?;
        let rows = all_partials(cache, pool, equations, &column_of)?;
        let (column_starts, row_indices, destinations) = compress(&rows, unknowns.len());
        let mut jacobian = ProgramBuilder::new();
        for ((kernel, _), destinations) in rows.iter().zip(&destinations) {
            let slots = kernel.bind(&mut slot).map_err(SystemError::Unbound)?;
            jacobian.push(kernel, &slots, destinations);
        }
        Ok(System {
            residual,
            jacobian: jacobian.finish(),
            column_starts,
            row_indices,
        })
    }
}

/// Equations that each determine one unknown and are affine in it: residuals and slopes.
#[derive(Debug, Clone)]
pub struct Explicit {
    /// Residuals: equation `e` to `out[e]`.
    pub residual: Program,
    /// The partial derivative of equation `e` by its unknown to `out[e]`, where that is not constant.
    pub slopes: Program,
    /// The constant ones; not a number elsewhere.
    pub constant_slopes: Vec<f64>,
}

impl Explicit {
    /// Builds residuals and slopes; `unknowns[e]` is what equation `e` determines.
    pub fn build(
        cache: &KernelCache,
        pool: &ExprPool,
        equations: &[(ExprId, u16)],
        unknowns: &[Leaf],
        mut slot: impl FnMut(Leaf) -> Option<u32>,
    ) -> Result<Explicit, SystemError> {
        let residual = residuals(cache, pool, equations, &mut slot)?;
        let mut slopes = ProgramBuilder::new();
        let mut constant_slopes = vec![f64::NAN; equations.len()];
        for (row, (&(expression, order), &unknown)) in equations.iter().zip(unknowns).enumerate() {
            let spec = KernelSpec::partials(expression, order, &[unknown]);
            let kernel = cache.kernel(pool, &spec).map_err(SystemError::Compile)?;
            match kernel.constant_output(0) {
                Some(constant) => constant_slopes[row] = constant,
                None => {
                    let slots = kernel.bind(&mut slot).map_err(SystemError::Unbound)?;
                    slopes.push(&kernel, &slots, &[row as u32]);
                }
            }
        }
        Ok(Explicit {
            residual,
            slopes: slopes.finish(),
            constant_slopes,
        })
    }
}

/// Partial derivatives of equations by some of the leaves they read, in compressed rows.
#[derive(Debug, Clone)]
pub struct Partials {
    /// The numbers in the order of `columns`.
    pub program: Program,
    /// Start of each row in `columns`, and the end.
    pub row_starts: Vec<usize>,
    /// Column of each structural non-zero, in no particular order within a row.
    pub columns: Vec<usize>,
}

impl Partials {
    /// Builds the partials by the leaves that have a column.
    pub fn build(
        cache: &KernelCache,
        pool: &ExprPool,
        equations: &[(ExprId, u16)],
        column_of: &FxHashMap<Leaf, usize>,
        mut slot: impl FnMut(Leaf) -> Option<u32>,
    ) -> Result<Partials, SystemError> {
        let mut program = ProgramBuilder::new();
        let (mut row_starts, mut columns) = (vec![0], Vec::new());
        for (kernel, row) in all_partials(cache, pool, equations, column_of)? {
            let slots = kernel.bind(&mut slot).map_err(SystemError::Unbound)?;
            let first = columns.len() as u32;
            let destinations: Vec<u32> = (first..first + row.len() as u32).collect();
            program.push(&kernel, &slots, &destinations);
            columns.extend(row);
            row_starts.push(columns.len());
        }
        Ok(Partials {
            program: program.finish(),
            row_starts,
            columns,
        })
    }
}

/// The program of the residuals: equation `e` to `out[e]`.
fn residuals(
    cache: &KernelCache,
    pool: &ExprPool,
    equations: &[(ExprId, u16)],
    mut slot: impl FnMut(Leaf) -> Option<u32>,
) -> Result<Program, SystemError> {
    let mut program = ProgramBuilder::new();
    for (row, &(expression, order)) in equations.iter().enumerate() {
        let spec = KernelSpec::total(expression, order);
        let kernel = cache.kernel(pool, &spec).map_err(SystemError::Compile)?;
        let slots = kernel.bind(&mut slot).map_err(SystemError::Unbound)?;
        program.push(&kernel, &slots, &[row as u32]);
    }
    Ok(program.finish())
}

type RowPartials = (Kernel, Vec<usize>);

/// For each equation the kernel of its non-zero partials, and their columns.
fn all_partials(
    cache: &KernelCache,
    pool: &ExprPool,
    equations: &[(ExprId, u16)],
    column_of: &FxHashMap<Leaf, usize>,
) -> Result<Vec<RowPartials>, SystemError> {
    let rows = equations.iter().map(|&(expression, order)| {
        let spec = KernelSpec::total(expression, order);
        let residual = cache.kernel(pool, &spec).map_err(SystemError::Compile)?;
        partials(cache, pool, (expression, order), &residual, column_of)
    });
    rows.collect()
}

/// The kernel of the non-zero partials of an equation, and their columns.
fn partials(
    cache: &KernelCache,
    pool: &ExprPool,
    (expression, order): (ExprId, u16),
    residual: &Kernel,
    column_of: &FxHashMap<Leaf, usize>,
) -> Result<RowPartials, SystemError> {
    // The leaves in the order in which the residual reads them: equations of the same shape get the same kernel.
    let mut leaves: Vec<Leaf> = residual
        .leaves()
        .iter()
        .copied()
        .filter(|leaf| column_of.contains_key(leaf))
        .collect();
    loop {
        let spec = KernelSpec::partials(expression, order, &leaves);
        let kernel = cache.kernel(pool, &spec).map_err(SystemError::Compile)?;
        let zero: Vec<bool> = (0..leaves.len())
            .map(|k| kernel.constant_output(k) == Some(0.0))
            .collect();
        if !zero.contains(&true) {
            let columns = leaves.iter().map(|leaf| column_of[leaf]).collect();
            return Ok((kernel, columns));
        }
        let mut zero = zero.into_iter();
        leaves.retain(|_| zero.next() == Some(false));
    }
}

type Compressed = (Vec<usize>, Vec<usize>, Vec<Vec<u32>>);

/// Compressed columns, and where each row's numbers go.
fn compress(rows: &[RowPartials], columns: usize) -> Compressed {
    let mut starts = vec![0; columns + 1];
    for &column in rows.iter().flat_map(|(_, columns)| columns) {
        starts[column + 1] += 1;
    }
    for column in 0..columns {
        starts[column + 1] += starts[column];
    }
    let mut next = starts.clone();
    let mut row_indices = vec![0; starts[columns]];
    let mut destinations = Vec::with_capacity(rows.len());
    for (row, (_, columns)) in rows.iter().enumerate() {
        let places = columns.iter().map(|&column| {
            let place = next[column];
            next[column] += 1;
            row_indices[place] = row;
            place as u32
        });
        destinations.push(places.collect());
    }
    (starts, row_indices, destinations)
}

/// Why a system cannot be built.
#[derive(Clone, Debug, PartialEq)]
pub enum SystemError {
    /// A kernel cannot be built.
    Compile(CompileError),
    /// A leaf has no place in the value memory.
    Unbound(Leaf),
}

impl std::fmt::Display for SystemError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SystemError::Compile(error) => write!(f, "{error}"),
            SystemError::Unbound(leaf) => write!(f, "no place in the value memory for {leaf:?}"),
        }
    }
}
impl std::error::Error for SystemError {}
