//! Other solutions of a restart system. A law that is not linear may have several: `m1*v1^2 + m2*v2^2` before and after an
//! impact (RR-9603, section 9.5) is met by the velocities before it too, as if nothing had happened.
//!
//! Known solutions r are divided out: Newton's method on F(x)·Π(1 + ‖x − r‖⁻²) has the other zeros of F and keeps away from r.
//! Its step is that for F, times a number (Farrell, Birkisson and Funke, *Deflation techniques for finding distinct solutions
//! of nonlinear partial differential equations*, SIAM J. Sci. Comput. 37, 2015).

use super::{Local, RESIDUAL, SolvedBlock, System};

/// Iterations from each point.
const ITERATIONS: usize = 60;
/// Distances from the last solution, in parts of the unknowns, at which a search begins.
const DISTANCES: [f64; 3] = [0.3, 3.0, 0.03];
/// Ways in which the unknowns are moved at first, some up and some down.
const PATTERNS: u32 = 4;
/// Solutions that differ by less, in parts of the unknowns, are one.
const APART: f64 = 1e-5;
/// What multiplies a step at most.
const LONGEST: f64 = 20.0;

impl System<'_> {
    /// Another solution of a block than those given, each with the values of all unknowns of the plan; `None` if none is
    /// found. The unknowns are then as before.
    pub(super) fn solve_apart(&mut self, block: &[(usize, usize)], known: &[Vec<f64>]) -> Option<SolvedBlock> {
        let base: Vec<f64> = block.iter().map(|&(_, unknown)| self.x[unknown]).collect();
        let scales = self.scales(block);
        let local = Local {
            columns: block.iter().enumerate().map(|(i, &(_, u))| (u, i)).collect(),
            reach: base.iter().map(|x| x.abs()).collect(),
        };
        if self.is_linear(block, &local, &scales) {
            return None;
        }
        for distance in DISTANCES {
            for pattern in 0..PATTERNS {
                for (i, &(_, unknown)) in block.iter().enumerate() {
                    let sign = if (i as u32 + pattern) >> (pattern / 2) & 1 == 0 {
                        1.0
                    } else {
                        -1.0
                    };
                    self.x[unknown] = base[i] + sign * distance * scales[i];
                }
                if self.converges_apart(block, &local, &scales, known)
                    && let Ok(solved) = self.solve_block(block)
                    && self.is_apart(block, &scales, known)
                {
                    return Some(solved);
                }
            }
        }
        for (&(_, unknown), base) in block.iter().zip(base) {
            self.x[unknown] = base;
        }
        None
    }

    /// How large the unknowns of a block are; all alike where nothing is known.
    fn scales(&self, block: &[(usize, usize)]) -> Vec<f64> {
        let size = |&(_, unknown): &(usize, usize)| self.sizes[unknown].max(self.x[unknown].abs());
        let largest = block.iter().map(size).fold(0.0, f64::max);
        let fallback = if largest > 0.0 { largest } else { 1.0 };
        let sizes = block.iter().map(size);
        sizes.map(|size| if size > 0.0 { size } else { fallback }).collect()
    }

    /// A block has one solution if its Jacobian is the same elsewhere.
    fn is_linear(&mut self, block: &[(usize, usize)], local: &Local, scales: &[f64]) -> bool {
        let Ok(here) = self.linearise(block, local) else {
            return false;
        };
        let base: Vec<f64> = block.iter().map(|&(_, unknown)| self.x[unknown]).collect();
        for ((&(_, unknown), base), scale) in block.iter().zip(&base).zip(scales) {
            self.x[unknown] = base + 0.618 * scale;
        }
        let there = self.linearise(block, local);
        for (&(_, unknown), base) in block.iter().zip(base) {
            self.x[unknown] = base;
        }
        there.is_ok_and(|there| there.rows == here.rows)
    }

    fn converges_apart(&mut self, block: &[(usize, usize)], local: &Local, scales: &[f64], known: &[Vec<f64>]) -> bool {
        for _ in 0..ITERATIONS {
            let Ok(mut linear) = self.linearise(block, local) else {
                return false;
            };
            if linear.largest_residual() <= RESIDUAL {
                return self.is_apart(block, scales, known);
            }
            let (step, rank) = linear.step();
            if rank < block.len() {
                return false;
            }
            let factor = self.lengthening(block, scales, known, &step);
            for (&(_, unknown), step) in block.iter().zip(step) {
                self.x[unknown] -= factor * step;
            }
        }
        false
    }

    /// What dividing the known solutions out makes of a Newton step s (to be subtracted): 1/(1 + ∇m·s/m) with
    /// m = Π(1 + ‖x − r‖⁻²).
    fn lengthening(&self, block: &[(usize, usize)], scales: &[f64], known: &[Vec<f64>], step: &[f64]) -> f64 {
        let slope: f64 = known
            .iter()
            .map(|root| {
                let (mut square, mut along) = (0.0, 0.0);
                for ((&(_, unknown), scale), step) in block.iter().zip(scales).zip(step) {
                    let away = (self.x[unknown] - root[unknown]) / scale;
                    square += away * away;
                    along += away * step / scale;
                }
                -2.0 * along / (square * (1.0 + square)).max(f64::MIN_POSITIVE)
            })
            .sum();
        let factor = 1.0 / (1.0 + slope);
        if factor.is_finite() {
            factor.clamp(-LONGEST, LONGEST)
        } else {
            1.0
        }
    }

    fn is_apart(&self, block: &[(usize, usize)], scales: &[f64], known: &[Vec<f64>]) -> bool {
        let differs = |root: &Vec<f64>| {
            let mut pairs = block.iter().zip(scales);
            pairs.any(|(&(_, unknown), scale)| (self.x[unknown] - root[unknown]).abs() > APART * scale)
        };
        known.iter().all(differs)
    }
}
