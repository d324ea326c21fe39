//! Signals and what is found for them, until they agree: where putting one for the other goes to and fro, the differences seen so
//! far say where they meet (Anderson, J. ACM 12 (1965) 547).

use saltus_numerics::linalg::{DenseMatrix, PivotedQr};

/// Passes in which what is found becomes the next signals as it is.
const PLAIN_PASSES: usize = 8;

/// The passes so far.
#[derive(Debug, Default)]
pub(crate) struct Agreement {
    passes: usize,
    /// Signals, and how far off they what was found for them was.
    seen: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Agreement {
    /// The signals to try after some for which others were found.
    pub(crate) fn next(&mut self, taken: Vec<f64>, found: Vec<f64>) -> Vec<f64> {
        self.passes += 1;
        if self.passes < PLAIN_PASSES {
            return found;
        }
        let off: Vec<f64> = found.iter().zip(&taken).map(|(found, taken)| found - taken).collect();
        let next = self.extrapolated(&found, &off);
        if self.seen.len() > taken.len() {
            self.seen.remove(0);
        }
        self.seen.push((taken, off));
        if next.iter().all(|value| value.is_finite()) {
            next
        } else {
            found
        }
    }

    /// `found` less the part of the differences to what was seen before that makes the distance as small as it can be.
    fn extrapolated(&self, found: &[f64], off: &[f64]) -> Vec<f64> {
        let (rows, columns) = (found.len(), self.seen.len());
        if columns == 0 {
            return found.to_vec();
        }
        let differences = DenseMatrix::from_fn(rows, columns, |row, column| off[row] - self.seen[column].1[row]);
        let shares = PivotedQr::new(&differences, None).minimum_norm_solution(off);
        let mut next = found.to_vec();
        for ((taken, of_taken), share) in self.seen.iter().zip(shares) {
            for (row, value) in next.iter_mut().enumerate() {
                *value -= share * (found[row] - taken[row] - of_taken[row]);
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes until signals agree with a + M·signals.
    fn passes(a: &[f64], m: impl Fn(usize, usize) -> f64) -> usize {
        let image = |x: &[f64]| -> Vec<f64> {
            let row = |i: usize| x.iter().enumerate().map(|(j, x)| m(i, j) * x).sum::<f64>();
            (0..a.len()).map(|i| a[i] + row(i)).collect()
        };
        let (mut agreement, mut x) = (Agreement::default(), vec![0.0; a.len()]);
        for pass in 0..60 {
            let found = image(&x);
            let size = found.iter().fold(1.0f64, |size, v| size.max(v.abs()));
            if found.iter().zip(&x).all(|(a, b)| (a - b).abs() <= 1e-12 * size) {
                return pass;
            }
            x = agreement.next(x, found);
        }
        60
    }

    #[test]
    fn what_goes_to_and_fro_or_away_is_met() {
        // Waves on lines without losses come back as they went, or turned over, or stronger.
        for gain in [-1.0f64, -0.9, 0.95, -1.5, 1.2] {
            // What comes back as it went agrees with nothing but itself.
            for count in (1..7).filter(|&count| gain.powi(count) != 1.0) {
                let count = count as usize;
                let a: Vec<f64> = (0..count).map(|i| 1.0 + i as f64).collect();
                let ring = |i: usize, j: usize| if j == (i + 1) % count { gain } else { 0.0 };
                assert!(passes(&a, ring) < 40, "{gain} {count}: {}", passes(&a, ring));
            }
        }
    }
}
