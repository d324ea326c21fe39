//! Sobol sequences (I. M. Sobol, 1967), in the order of Gray codes (Antonov and Saleev, 1979).
//!
//! The first two dimensions are the usual ones. The others have the primitive polynomials in ascending order, and initial
//! numbers that were searched for: those whose two-dimensional projections with the dimensions before are the most even.
//! What must hold of any such table is tested: see `tests/ensembles.rs` and below.

use super::random::Random;

const BITS: usize = 32;

/// Degree of the polynomial, its inner coefficients as bits, initial numbers; the first dimension has none.
const DIMENSIONS: [(usize, u32, [u32; 7]); 20] = [
    (1, 0, [1, 0, 0, 0, 0, 0, 0]),
    (2, 1, [1, 1, 0, 0, 0, 0, 0]),
    (3, 1, [1, 3, 1, 0, 0, 0, 0]),
    (3, 2, [1, 1, 5, 0, 0, 0, 0]),
    (4, 1, [1, 3, 3, 11, 0, 0, 0]),
    (4, 4, [1, 3, 7, 13, 0, 0, 0]),
    (5, 2, [1, 1, 5, 3, 11, 0, 0]),
    (5, 4, [1, 3, 1, 1, 5, 0, 0]),
    (5, 7, [1, 3, 7, 11, 5, 0, 0]),
    (5, 11, [1, 3, 1, 3, 5, 0, 0]),
    (5, 13, [1, 1, 1, 11, 17, 0, 0]),
    (5, 14, [1, 3, 5, 3, 19, 0, 0]),
    (6, 1, [1, 1, 5, 15, 3, 39, 0]),
    (6, 13, [1, 1, 3, 7, 1, 21, 0]),
    (6, 16, [1, 3, 5, 13, 27, 55, 0]),
    (6, 19, [1, 1, 7, 11, 27, 51, 0]),
    (6, 22, [1, 1, 3, 9, 5, 21, 0]),
    (6, 25, [1, 1, 1, 1, 19, 13, 0]),
    (7, 1, [1, 3, 3, 3, 11, 7, 97]),
    (7, 4, [1, 3, 1, 15, 27, 27, 17]),
];

/// Parameters that can be varied together.
pub(super) const MOST_DIMENSIONS: usize = DIMENSIONS.len() + 1;

/// A Sobol sequence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sobol {
    directions: Vec<[u32; BITS]>,
    shifts: Vec<u32>,
}

impl Sobol {
    pub(super) fn new(dimensions: usize, seed: Option<u64>) -> Option<Sobol> {
        if dimensions > MOST_DIMENSIONS {
            return None;
        }
        let mut random = seed.map(Random::new);
        let shift = |_| random.as_mut().map_or(0, |random| (random.bits() >> 32) as u32);
        Some(Sobol {
            directions: (0..dimensions).map(directions).collect(),
            shifts: (0..dimensions).map(shift).collect(),
        })
    }

    /// One coordinate of a point, between 0 and 1.
    pub(super) fn place(&self, dimension: usize, point: u32) -> f64 {
        let gray = point ^ (point >> 1);
        let directions = self.directions[dimension].iter().enumerate();
        let chosen = directions.filter(|(bit, _)| gray >> bit & 1 == 1);
        let digits = chosen.fold(self.shifts[dimension], |digits, (_, direction)| digits ^ direction);
        f64::from(digits) / (1_u64 << BITS) as f64
    }
}

fn directions(dimension: usize) -> [u32; BITS] {
    let top = |number: u32, bit: usize| number << (BITS - 1 - bit);
    let Some(&(degree, inner, initial)) = dimension.checked_sub(1).and_then(|at| DIMENSIONS.get(at)) else {
        return std::array::from_fn(|bit| top(1, bit));
    };
    let mut found = [0; BITS];
    for bit in 0..BITS {
        found[bit] = if bit < degree {
            top(initial[bit], bit)
        } else {
            let mut direction = found[bit - degree] ^ (found[bit - degree] >> degree);
            for back in 1..degree {
                if inner >> (degree - 1 - back) & 1 == 1 {
                    direction ^= found[bit - back];
                }
            }
            direction
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(dimensions: usize, at: u32) -> Vec<f64> {
        let sobol = Sobol::new(dimensions, None).unwrap();
        (0..dimensions).map(|dimension| sobol.place(dimension, at)).collect()
    }

    /// As printed in the literature and by every implementation.
    #[test]
    fn the_first_points_are_known() {
        let known = [
            [0.0, 0.0],
            [0.5, 0.5],
            [0.75, 0.25],
            [0.25, 0.75],
            [0.375, 0.375],
            [0.875, 0.875],
            [0.625, 0.125],
            [0.125, 0.625],
            [0.1875, 0.3125],
            [0.6875, 0.8125],
            [0.9375, 0.0625],
            [0.4375, 0.5625],
        ];
        for (at, known) in known.iter().enumerate() {
            assert_eq!(point(2, at as u32), known, "{at}");
        }
    }

    #[test]
    fn the_table_is_one_of_sobol() {
        let mut polynomials = Vec::new();
        for (degree, inner, initial) in DIMENSIONS {
            for (bit, number) in initial.iter().enumerate().take(degree) {
                assert!(number % 2 == 1 && *number < 2 << bit, "{initial:?}");
            }
            let polynomial = 1 << degree | inner << 1 | 1;
            assert_eq!(
                order_of_x(polynomial, degree),
                (1 << degree) - 1,
                "{polynomial} is not primitive"
            );
            polynomials.push(polynomial);
        }
        polynomials.dedup();
        assert_eq!(polynomials.len(), DIMENSIONS.len());
    }

    fn order_of_x(polynomial: u32, degree: usize) -> u32 {
        let mut power = 1;
        for order in 1.. {
            power <<= 1;
            if power >> degree & 1 == 1 {
                power ^= polynomial;
            }
            if power == 1 {
                return order;
            }
        }
        0
    }

    /// 2^k points have one in each of 2^k equal intervals, in every dimension, shifted or not.
    #[test]
    fn every_coordinate_is_even() {
        for seed in [None, Some(7)] {
            let sobol = Sobol::new(MOST_DIMENSIONS, seed).unwrap();
            for dimension in 0..MOST_DIMENSIONS {
                for count in [2_u32, 16, 256, 1024] {
                    let mut met = vec![false; count as usize];
                    (0..count).for_each(|at| met[(sobol.place(dimension, at) * f64::from(count)) as usize] = true);
                    assert!(met.iter().all(|met| *met), "{dimension}, {count}");
                }
            }
        }
    }

    /// Of neighbouring coordinates, too: 1024 points meet every cell of an 8×8 grid.
    #[test]
    fn pairs_are_even() {
        let sobol = Sobol::new(MOST_DIMENSIONS, None).unwrap();
        for first in 0..MOST_DIMENSIONS - 1 {
            let cell = |dimension: usize, at: u32| (sobol.place(dimension, at) * 8.0) as usize;
            let mut met = [[false; 8]; 8];
            (0..1024).for_each(|at| met[cell(first, at)][cell(first + 1, at)] = true);
            assert!(met.iter().flatten().all(|met| *met), "{first}");
        }
    }
}
