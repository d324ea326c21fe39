//! Scaling of rows and columns that does not depend on the units of equations and unknowns.
//!
//! Other units multiply rows and columns. The factors that bring the entries closest to one, by the squares of their
//! logarithms (A. R. Curtis, J. K. Reid, *On the automatic scaling of matrices for Gaussian elimination*, 1972), undo that.

use super::DenseMatrix;

/// Sweeps over rows and columns.
const SWEEPS: usize = 100;
/// The same where there is a unit of time besides.
const PENCIL_SWEEPS: usize = 1000;
/// A change of exponents that makes no difference any more.
const SETTLED: f64 = 0.05;

/// An entry with the logarithm of its size.
struct Entry {
    row: usize,
    column: usize,
    size: f64,
    /// Whether it multiplies a derivative.
    of_derivative: bool,
}

/// Entries that count: those that are zero or not finite do not.
fn counted(of_derivative: bool, entries: impl Iterator<Item = (usize, usize, f64)>) -> impl Iterator<Item = Entry> {
    let counted = entries.filter(|entry| entry.2 != 0.0 && entry.2.is_finite());
    counted.map(move |(row, column, value)| Entry {
        row,
        column,
        size: value.abs().log2(),
        of_derivative,
    })
}

/// Powers of two by which rows and columns are to be multiplied. Entries that are zero or not finite do not count.
pub fn balance(rows: usize, columns: usize, entries: &[(usize, usize, f64)]) -> (Vec<f64>, Vec<f64>) {
    let entries: Vec<Entry> = counted(false, entries.iter().copied()).collect();
    let (by_row, by_column, _) = balanced(rows, columns, &entries, SWEEPS);
    (by_row, by_column)
}

/// The same for a pencil E·z' = A·z, with a power of two besides by which E is to be multiplied: the unit of time.
pub fn balance_pencil(e: &DenseMatrix, a: &DenseMatrix) -> (Vec<f64>, Vec<f64>, f64) {
    let all = |m: &DenseMatrix| -> Vec<(usize, usize, f64)> {
        let places = (0..m.columns()).flat_map(|column| (0..m.rows()).map(move |row| (row, column)));
        places.map(|(row, column)| (row, column, m[(row, column)])).collect()
    };
    let of_e = counted(true, all(e).into_iter());
    let entries: Vec<Entry> = of_e.chain(counted(false, all(a).into_iter())).collect();
    balanced(e.rows(), e.columns(), &entries, PENCIL_SWEEPS)
}

fn balanced(rows: usize, columns: usize, entries: &[Entry], sweeps: usize) -> (Vec<f64>, Vec<f64>, f64) {
    let (mut by_row, mut by_column, mut rate) = (vec![0.0; rows], vec![0.0; columns], vec![0.0]);
    let of_rate = |entry: &Entry, rate: f64| if entry.of_derivative { rate } else { 0.0 };
    for _ in 0..sweeps {
        let of_rows = entries.iter().map(|entry| {
            (
                entry.row,
                entry.size + by_column[entry.column] + of_rate(entry, rate[0]),
            )
        });
        let mut moved = centre(&mut by_row, of_rows);
        let of_columns = entries
            .iter()
            .map(|entry| (entry.column, entry.size + by_row[entry.row] + of_rate(entry, rate[0])));
        moved = moved.max(centre(&mut by_column, of_columns));
        let derivatives = entries.iter().filter(|entry| entry.of_derivative);
        let of_time = derivatives.map(|entry| (0, entry.size + by_row[entry.row] + by_column[entry.column]));
        if centre(&mut rate, of_time).max(moved) < SETTLED {
            break;
        }
    }
    let power = |exponent: &f64| exponent.round().clamp(-1000.0, 1000.0).exp2();
    (
        by_row.iter().map(power).collect(),
        by_column.iter().map(power).collect(),
        power(&rate[0]),
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
