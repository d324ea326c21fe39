//! Scaling of rows and columns that does not depend on the units of equations and unknowns.
//!
//! Other units multiply rows and columns. The factors that bring the entries closest to one, by the squares of their
//! logarithms (A. R. Curtis, J. K. Reid, *On the automatic scaling of matrices for Gaussian elimination*, 1972), undo that.

/// Sweeps over rows and columns.
const SWEEPS: usize = 100;
/// A change of exponents that makes no difference any more.
const SETTLED: f64 = 0.05;

/// Powers of two by which rows and columns are to be multiplied. Entries that are zero or not finite do not count.
pub fn balance(rows: usize, columns: usize, entries: &[(usize, usize, f64)]) -> (Vec<f64>, Vec<f64>) {
    let entries: Vec<(usize, usize, f64)> = entries
        .iter()
        .filter(|entry| entry.2 != 0.0 && entry.2.is_finite())
        .map(|&(row, column, value)| (row, column, value.abs().log2()))
        .collect();
    let (mut by_row, mut by_column) = (vec![0.0; rows], vec![0.0; columns]);
    for _ in 0..SWEEPS {
        let of_rows = entries
            .iter()
            .map(|&(row, column, size)| (row, size + by_column[column]));
        let moved = centre(&mut by_row, of_rows);
        let of_columns = entries.iter().map(|&(row, column, size)| (column, size + by_row[row]));
        if centre(&mut by_column, of_columns).max(moved) < SETTLED {
            break;
        }
    }
    let power = |exponent: &f64| exponent.round().clamp(-1000.0, 1000.0).exp2();
    (
        by_row.iter().map(power).collect(),
        by_column.iter().map(power).collect(),
    )
}

/// Each exponent becomes minus the mean of its sizes; the largest change.
fn centre(exponents: &mut [f64], sizes: impl Iterator<Item = (usize, f64)>) -> f64 {
    let mut sums = vec![(0.0, 0u32); exponents.len()];
    for (at, size) in sizes {
        sums[at].0 += size;
        sums[at].1 += 1;
    }
    let mut moved = 0.0f64;
    for (exponent, (sum, count)) in exponents.iter_mut().zip(sums) {
        if count > 0 {
            let centred = -sum / f64::from(count);
            moved = moved.max((centred - *exponent).abs());
            *exponent = centred;
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_units_give_the_same_matrix() {
        let plain = [
            (0, 0, 1.0),
            (0, 2, 1.0),
            (1, 1, 2.0),
            (1, 2, -1.0),
            (2, 0, 1.0),
            (2, 1, -1.0),
        ];
        let (rows, columns) = ([1e-9, 1e7, 1e3], [1e12, 1e-5, 1e-2]);
        let scaled = plain.map(|(r, c, v)| (r, c, v * rows[r] * columns[c]));
        let (by_row, by_column) = balance(3, 3, &scaled);
        for (r, c, v) in scaled {
            let balanced: f64 = (v * by_row[r] * by_column[c]).abs();
            assert!((0.2..5.0).contains(&balanced), "{r} {c}: {balanced}");
        }
    }
}
