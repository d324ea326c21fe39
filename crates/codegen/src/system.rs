//! Residual vectors and exact sparse Jacobians of systems of equations.

use rustc_hash::FxHashMap;
use saltus_mdae::{ExprId, ExprPool};

use crate::error::CompileError;
use crate::kernel::{Kernel, KernelCache};
use crate::program::{Program, ProgramBuilder};
use crate::spec::{Column, KernelSpec, Leaf, Output};

/// Equations, and operations of their kernels, up to which one kernel for all of them pays: there calling several
/// would cost as much as what they compute, and what equations have in common is computed once.
const FEW_EQUATIONS: usize = 16;
const FEW_OPERATIONS: usize = 1000;

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
    /// The residuals and, behind them, the numbers of the Jacobian in one call, where there are few of them.
    pub together: Option<Program>,
    /// The Newton steps and, behind them, how far the Jacobian is from a singular one (0 to 1), where there is
    /// straight-line code for that.
    pub steps: Option<Program>,
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
        let behind = equations.len() as u32;
        let partials = rows.iter().zip(&destinations).map(|((kernel, _), destinations)| {
            let shifted = destinations.iter().map(|place| behind + place).collect();
            (kernel.clone(), shifted)
        });
        let partials: Vec<(Kernel, Vec<u32>)> = partials.collect();
        let steps = steps(cache, pool, equations, &partials, unknowns, &mut slot)?;
        Ok(System {
            steps,
            together: together(cache, pool, equations, &partials, &mut slot)?,
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
    /// The residuals and, behind them, the slopes that are not constant in one call, where there are few of them.
    pub together: Option<Program>,
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
        let mut partials = Vec::new();
        for (row, (&(expression, order), &unknown)) in equations.iter().zip(unknowns).enumerate() {
            let kernel = cache.partial(pool, expression, order, unknown);
            let kernel = kernel.map_err(SystemError::Compile)?;
            match kernel.constant_output(0) {
                Some(constant) => {
                    constant_slopes[row] = constant;
                    partials.push((kernel, Vec::new()));
                }
                None => {
                    let slots = kernel.bind(&mut slot).map_err(SystemError::Unbound)?;
                    slopes.push(&kernel, &slots, &[row as u32]);
                    partials.push((kernel, vec![(equations.len() + row) as u32]));
                }
            }
        }
        Ok(Explicit {
            together: together(cache, pool, equations, &partials, &mut slot)?,
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
        let kernel = cache.total(pool, expression, order).map_err(SystemError::Compile)?;
        let slots = kernel.bind(&mut slot).map_err(SystemError::Unbound)?;
        program.push(&kernel, &slots, &[row as u32]);
    }
    Ok(program.finish())
}

/// One kernel for the residuals and some of their partials: those of equation `e` are the outputs of `partials[e].0`,
/// and `partials[e].1` says where they go, unless it is empty.
fn together(
    cache: &KernelCache,
    pool: &ExprPool,
    equations: &[(ExprId, u16)],
    partials: &[(Kernel, Vec<u32>)],
    slot: impl FnMut(Leaf) -> Option<u32>,
) -> Result<Option<Program>, SystemError> {
    let Some(spec) = spec_of_all(equations, partials) else {
        return Ok(None);
    };
    let kernel = cache.kernel(pool, &spec).map_err(SystemError::Compile)?;
    let mut destinations: Vec<u32> = (0..equations.len() as u32).collect();
    destinations.extend(partials.iter().flat_map(|(_, places)| places));
    alone(&kernel, &destinations, slot).map(Some)
}

/// One kernel for the Newton steps, if there is one.
fn steps(
    cache: &KernelCache,
    pool: &ExprPool,
    equations: &[(ExprId, u16)],
    partials: &[(Kernel, Vec<u32>)],
    unknowns: &[Leaf],
    slot: impl FnMut(Leaf) -> Option<u32>,
) -> Result<Option<Program>, SystemError> {
    let Some(spec) = spec_of_all(equations, partials) else {
        return Ok(None);
    };
    let spec = KernelSpec {
        newton: unknowns.to_vec(),
        ..spec
    };
    let kernel = cache.kernel(pool, &spec).map_err(SystemError::Compile)?;
    if kernel.output_count() == 0 {
        return Ok(None);
    }
    let destinations: Vec<u32> = (0..=unknowns.len() as u32).collect();
    alone(&kernel, &destinations, slot).map(Some)
}

/// The residuals and those of their partials that go somewhere; `None` if there are too many.
fn spec_of_all(equations: &[(ExprId, u16)], partials: &[(Kernel, Vec<u32>)]) -> Option<KernelSpec> {
    let operations: usize = partials.iter().map(|(kernel, _)| kernel.operations()).sum();
    if equations.is_empty() || equations.len() > FEW_EQUATIONS || operations > FEW_OPERATIONS {
        return None;
    }
    let output = |expression: usize, column: Column| Output {
        expression: expression as u32,
        order: equations[expression].1,
        column,
    };
    let mut outputs: Vec<Output> = (0..equations.len()).map(|e| output(e, Column::Value)).collect();
    for (expression, (kernel, places)) in partials.iter().enumerate() {
        let columns = (0..places.len()).map(|k| kernel.output(k).column);
        outputs.extend(columns.map(|column| output(expression, column)));
    }
    Some(KernelSpec {
        expressions: equations.iter().map(|&(expression, _)| expression).collect(),
        outputs,
        newton: Vec::new(),
    })
}

/// A program of one kernel.
fn alone(kernel: &Kernel, destinations: &[u32], slot: impl FnMut(Leaf) -> Option<u32>) -> Result<Program, SystemError> {
    let slots = kernel.bind(slot).map_err(SystemError::Unbound)?;
    let mut program = ProgramBuilder::new();
    program.push(kernel, &slots, destinations);
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
        let residual = cache.total(pool, expression, order).map_err(SystemError::Compile)?;
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
