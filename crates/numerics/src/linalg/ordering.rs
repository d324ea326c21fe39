//! Fill-reducing column orderings.

use super::SparsityPattern;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::{amd, colamd};

/// An order of the columns in which a sparse LU factorisation fills in little.
///
/// Approximate minimum degree on A + Aᵀ where the diagonal is complete and the pattern mostly symmetric (the
/// iteration matrices I − γhJ of physical networks), on AᵀA (COLAMD) otherwise. Falls back to the natural
/// order, which is always correct.
pub(super) fn column_order(pattern: &SparsityPattern) -> Vec<usize> {
    let n = pattern.columns();
    if n == 0 || pattern.rows() != n || pattern.is_empty() {
        return (0..n).collect();
    }
    let computed = if suits_symmetric_ordering(pattern) {
        minimum_degree(pattern)
    } else {
        column_minimum_degree(pattern)
    };
    match computed {
        Some(order) if is_permutation(&order) => order,
        _ => (0..n).collect(),
    }
}

fn suits_symmetric_ordering(pattern: &SparsityPattern) -> bool {
    let n = pattern.columns();
    let full_diagonal = (0..n).all(|i| pattern.position(i, i).is_some());
    if !full_diagonal {
        return false;
    }
    let mirrored = pattern
        .entries()
        .filter(|&(r, c)| pattern.position(c, r).is_some())
        .count();
    // KLU's default is the symmetric ordering; below half symmetry its fill estimate means little.
    2 * mirrored >= pattern.len()
}

fn view(pattern: &SparsityPattern) -> SymbolicSparseColMatRef<'_, usize> {
    SymbolicSparseColMatRef::new_checked(
        pattern.rows(),
        pattern.columns(),
        pattern.column_starts(),
        None,
        pattern.row_indices(),
    )
}

fn minimum_degree(pattern: &SparsityPattern) -> Option<Vec<usize>> {
    let n = pattern.columns();
    let (mut forward, mut inverse) = (vec![0usize; n], vec![0usize; n]);
    let mut memory = MemBuffer::try_new(amd::order_maybe_unsorted_scratch::<usize>(n, pattern.len())).ok()?;
    amd::order(
        &mut forward,
        &mut inverse,
        view(pattern),
        amd::Control::default(),
        MemStack::new(&mut memory),
    )
    .ok()?;
    Some(forward)
}

fn column_minimum_degree(pattern: &SparsityPattern) -> Option<Vec<usize>> {
    let n = pattern.columns();
    let (mut forward, mut inverse) = (vec![0usize; n], vec![0usize; n]);
    let requirement = colamd::order_scratch::<usize>(pattern.rows(), n, pattern.len());
    let mut memory = MemBuffer::try_new(requirement).ok()?;
    colamd::order(
        &mut forward,
        &mut inverse,
        view(pattern),
        colamd::Control::default(),
        MemStack::new(&mut memory),
    )
    .ok()?;
    Some(forward)
}

fn is_permutation(order: &[usize]) -> bool {
    let mut seen = vec![false; order.len()];
    order
        .iter()
        .all(|&c| c < seen.len() && !std::mem::replace(&mut seen[c], true))
}
