//! Eigenvalues: Hessenberg and real Schur forms, eigenvectors, Sylvester equations.
//!
//! The iteration is Francis' double-shift QR (Golub and Van Loan, *Matrix Computations*, 7.5; the handling of the last two
//! rows follows EISPACK's `hqr2`).

use super::Matrix;
use super::lu::Lu;
use super::qr::{Reflectors, reflect_column};

/// H with the reflections below its first subdiagonal, as LAPACK keeps them, and their factors.
pub(crate) fn hessenberg(mut a: Matrix) -> Reflectors {
    let n = a.rows;
    let mut tau = Vec::new();
    for k in 0..n.saturating_sub(1) {
        let factor = reflect_column(&mut a, k + 1, k);
        tau.push(factor);
        // From the right: A ← A·(I − τ·v·vᵀ).
        for i in 0..n {
            let v = |j: usize, a: &Matrix| if j == k + 1 { 1.0 } else { a[(j, k)] };
            let product: f64 = (k + 1..n).map(|j| a[(i, j)] * v(j, &a)).sum();
            let scaled = factor * product;
            for j in k + 1..n {
                let change = v(j, &a) * scaled;
                a[(i, j)] -= change;
            }
        }
    }
    Reflectors { matrix: a, tau }
}

/// Eigenvalues of a matrix, and its real Schur form T = Zᵀ·A·Z.
#[derive(Clone, Debug)]
pub(crate) struct Eigen {
    pub form: Matrix,
    pub vectors: Matrix,
    pub real: Vec<f64>,
    pub imaginary: Vec<f64>,
    /// Whether every eigenvalue was found.
    pub complete: bool,
}

impl Eigen {
    /// Of a square matrix.
    pub(crate) fn new(a: &Matrix) -> Self {
        let reduced = hessenberg(a.clone());
        let n = a.rows;
        let mut q = Matrix::identity(n);
        reduced.apply(&mut q, false, 1);
        let h = Matrix::from_fn(n, n, |i, j| if i <= j + 1 { reduced.matrix[(i, j)] } else { 0.0 });
        schur_of_hessenberg(h, q)
    }

    /// Right eigenvectors as LAPACK has them: one column for a real eigenvalue, real and imaginary part for a pair, of length
    /// 1; those of a pair turned so that the largest component is real.
    pub(crate) fn right_vectors(&self) -> Matrix {
        let n = self.form.rows;
        let mut result = Matrix::zeros(n, n);
        let mut k = 0;
        while k < n {
            let pair = self.imaginary[k] != 0.0 && k + 1 < n;
            let (real, imaginary) = self.vector(k, pair);
            for i in 0..n {
                result[(i, k)] = real[i];
                if pair {
                    result[(i, k + 1)] = imaginary[i];
                }
            }
            k += if pair { 2 } else { 1 };
        }
        result
    }

    /// The eigenvector of the eigenvalue number k, by back substitution in T and then Z.
    fn vector(&self, k: usize, pair: bool) -> (Vec<f64>, Vec<f64>) {
        let n = self.form.rows;
        let t = &self.form;
        let lambda = (self.real[k], self.imaginary[k]);
        let last = if pair { k + 1 } else { k };
        let mut y = vec![(0.0, 0.0); n];
        if pair {
            // (T₂ − λ)·y₂ = 0 of the block of the pair.
            if t[(k, k + 1)].abs() >= t[(k + 1, k)].abs() {
                y[k] = (1.0, 0.0);
                y[k + 1] = ((lambda.0 - t[(k, k)]) / t[(k, k + 1)], lambda.1 / t[(k, k + 1)]);
            } else {
                y[k + 1] = (1.0, 0.0);
                y[k] = ((lambda.0 - t[(k + 1, k + 1)]) / t[(k + 1, k)], lambda.1 / t[(k + 1, k)]);
            }
        } else {
            y[k] = (1.0, 0.0);
        }
        let norm = super::lu::norm(t, "1").max(f64::MIN_POSITIVE);
        let mut i = k;
        while i > 0 {
            i -= 1;
            let block = i > 0 && t[(i, i - 1)] != 0.0;
            let sum = |row: usize, y: &[(f64, f64)]| {
                (i + 1..=last).fold((0.0, 0.0), |s: (f64, f64), j| {
                    (s.0 - t[(row, j)] * y[j].0, s.1 - t[(row, j)] * y[j].1)
                })
            };
            if block {
                let (top, bottom) = (sum(i - 1, &y), sum(i, &y));
                let solved = solve_block(t, i - 1, lambda, norm, [top, bottom]);
                (y[i - 1], y[i]) = (solved[0], solved[1]);
                i -= 1;
            } else {
                let d = guarded((t[(i, i)] - lambda.0, -lambda.1), norm);
                y[i] = divide(sum(i, &y), d);
            }
        }
        let z = &self.vectors;
        let product = |part: fn(&(f64, f64)) -> f64| -> Vec<f64> {
            (0..n)
                .map(|i| (0..=last).map(|j| z[(i, j)] * part(&y[j])).sum())
                .collect()
        };
        normalised(product(|c| c.0), product(|c| c.1), pair)
    }
}

/// A divisor that is not zero: eigenvalues that coincide have vectors that nearly do.
fn guarded(d: (f64, f64), norm: f64) -> (f64, f64) {
    if d.0.hypot(d.1) < f64::EPSILON * norm {
        (f64::EPSILON * norm, 0.0)
    } else {
        d
    }
}

fn divide(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let square = b.0 * b.0 + b.1 * b.1;
    ((a.0 * b.0 + a.1 * b.1) / square, (a.1 * b.0 - a.0 * b.1) / square)
}

fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn minus(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 - b.0, a.1 - b.1)
}

/// Solves with the block of T in rows i and i + 1, less λ.
fn solve_block(t: &Matrix, i: usize, lambda: (f64, f64), norm: f64, b: [(f64, f64); 2]) -> [(f64, f64); 2] {
    let a = (t[(i, i)] - lambda.0, -lambda.1);
    let d = (t[(i + 1, i + 1)] - lambda.0, -lambda.1);
    let (up, down) = ((t[(i, i + 1)], 0.0), (t[(i + 1, i)], 0.0));
    let determinant = guarded(minus(times(a, d), times(up, down)), norm * norm * f64::EPSILON);
    [
        divide(minus(times(b[0], d), times(up, b[1])), determinant),
        divide(minus(times(a, b[1]), times(down, b[0])), determinant),
    ]
}

fn normalised(real: Vec<f64>, imaginary: Vec<f64>, pair: bool) -> (Vec<f64>, Vec<f64>) {
    let squares = real.iter().zip(&imaginary).map(|(a, b)| a.hypot(*b));
    let norm = squares.clone().fold(0.0, f64::hypot);
    if norm == 0.0 {
        return (real, imaginary);
    }
    let mut turn = (1.0 / norm, 0.0);
    if pair {
        let largest = squares
            .enumerate()
            .fold((0, -1.0), |best, (i, s)| if s > best.1 { (i, s) } else { best });
        let (a, b) = (real[largest.0], imaginary[largest.0]);
        turn = (a / largest.1 / norm, -b / largest.1 / norm);
    }
    let turned = real.iter().zip(&imaginary).map(|(&a, &b)| times((a, b), turn));
    turned.unzip()
}

/// The real Schur form of an upper Hessenberg matrix; `z` is multiplied by what is done to it.
pub(crate) fn schur_of_hessenberg(mut h: Matrix, mut z: Matrix) -> Eigen {
    let n = h.rows;
    let mut high = n;
    let mut turns = 0;
    let mut complete = true;
    let scale = super::lu::norm(&h, "1");
    while high > 0 {
        let low = start_of_block(&mut h, high, scale);
        if low + 1 >= high {
            high = low;
            turns = 0;
        } else if low + 2 == high {
            standardise(&mut h, &mut z, low);
            high = low;
            turns = 0;
        } else if turns > 60 {
            complete = false;
            break;
        } else {
            turns += 1;
            francis_step(&mut h, &mut z, low, high, turns);
        }
    }
    for j in 0..n {
        for i in j + 2..n {
            h[(i, j)] = 0.0;
        }
    }
    let (real, imaginary) = eigenvalues_of_form(&h);
    Eigen {
        form: h,
        vectors: z,
        real,
        imaginary,
        complete,
    }
}

/// The first row of the block that ends before `high`; a subdiagonal element that is negligible is made zero.
fn start_of_block(h: &mut Matrix, high: usize, scale: f64) -> usize {
    let mut low = high - 1;
    while low > 0 {
        let around = h[(low - 1, low - 1)].abs() + h[(low, low)].abs();
        let around = if around == 0.0 { scale } else { around };
        if h[(low, low - 1)].abs() <= f64::EPSILON * around {
            h[(low, low - 1)] = 0.0;
            break;
        }
        low -= 1;
    }
    low
}

/// Applies a rotation to rows and columns p and p + 1.
fn rotate(h: &mut Matrix, z: &mut Matrix, p: usize, (c, s): (f64, f64)) {
    let n = h.rows;
    for j in 0..n {
        let (a, b) = (h[(p, j)], h[(p + 1, j)]);
        h[(p, j)] = c * a + s * b;
        h[(p + 1, j)] = c * b - s * a;
    }
    for i in 0..n {
        let (a, b) = (h[(i, p)], h[(i, p + 1)]);
        h[(i, p)] = c * a + s * b;
        h[(i, p + 1)] = c * b - s * a;
    }
    for i in 0..z.rows {
        let (a, b) = (z[(i, p)], z[(i, p + 1)]);
        z[(i, p)] = c * a + s * b;
        z[(i, p + 1)] = c * b - s * a;
    }
}

/// A block of two: triangular if its eigenvalues are real, equal diagonal elements if they are a pair.
fn standardise(h: &mut Matrix, z: &mut Matrix, p: usize) {
    let (a, b, c, d) = (h[(p, p)], h[(p, p + 1)], h[(p + 1, p)], h[(p + 1, p + 1)]);
    if c == 0.0 {
        return;
    }
    let half = 0.5 * (a - d);
    let discriminant = half * half + b * c;
    if discriminant >= 0.0 {
        // A rotation to the eigenvector of the eigenvalue that is farther from d.
        let root = half + discriminant.sqrt().copysign(half);
        let length = root.hypot(c);
        rotate(h, z, p, (root / length, c / length));
        h[(p + 1, p)] = 0.0;
        return;
    }
    // cos 2θ·(a − d) + sin 2θ·(b + c) = 0: both diagonal elements become (a + d)/2.
    let angle = 0.5 * (d - a).atan2(b + c);
    rotate(h, z, p, (angle.cos(), angle.sin()));
    let (first, second) = (h[(p, p)], h[(p + 1, p + 1)]);
    let mean = 0.5 * (first + second);
    (h[(p, p)], h[(p + 1, p + 1)]) = (mean, mean);
}

/// One double step on rows `low` to `high`, the latter excluded.
fn francis_step(h: &mut Matrix, z: &mut Matrix, low: usize, high: usize, turns: u32) {
    let (m, n) = (high - 1, h.rows);
    let (mut trace, mut determinant) = (
        h[(m - 1, m - 1)] + h[(m, m)],
        h[(m - 1, m - 1)] * h[(m, m)] - h[(m - 1, m)] * h[(m, m - 1)],
    );
    if turns.is_multiple_of(10) {
        // An exceptional shift gets out of a circle.
        let size = h[(m, m - 1)].abs() + h[(m - 1, m - 2)].abs();
        (trace, determinant) = (1.5 * size, size * size);
    }
    let (h00, h10) = (h[(low, low)], h[(low + 1, low)]);
    let mut x = h00 * h00 + h[(low, low + 1)] * h10 - trace * h00 + determinant;
    let mut y = h10 * (h00 + h[(low + 1, low + 1)] - trace);
    let mut w = h10 * h[(low + 2, low + 1)];
    for k in low..m {
        let three = k + 2 <= m;
        let rest = if three { y.hypot(w) } else { y };
        let norm = x.hypot(rest);
        if norm != 0.0 {
            let beta = -norm.copysign(x);
            let first = x - beta;
            let v = [1.0, y / first, if three { w / first } else { 0.0 }];
            let tau = -first / beta;
            let size = if three { 3 } else { 2 };
            for j in k.saturating_sub(1)..n {
                let scaled = tau * (0..size).map(|i| v[i] * h[(k + i, j)]).sum::<f64>();
                (0..size).for_each(|i| h[(k + i, j)] -= v[i] * scaled);
            }
            for i in 0..(k + 4).min(high) {
                let scaled = tau * (0..size).map(|j| v[j] * h[(i, k + j)]).sum::<f64>();
                (0..size).for_each(|j| h[(i, k + j)] -= v[j] * scaled);
            }
            for i in 0..z.rows {
                let scaled = tau * (0..size).map(|j| v[j] * z[(i, k + j)]).sum::<f64>();
                (0..size).for_each(|j| z[(i, k + j)] -= v[j] * scaled);
            }
            if k > low {
                h[(k + 1, k - 1)] = 0.0;
                if three {
                    h[(k + 2, k - 1)] = 0.0;
                }
            }
        }
        if k + 1 < high {
            x = h[(k + 1, k)];
            y = if k + 2 < high { h[(k + 2, k)] } else { 0.0 };
            w = if k + 3 < high { h[(k + 3, k)] } else { 0.0 };
        }
    }
}

fn eigenvalues_of_form(t: &Matrix) -> (Vec<f64>, Vec<f64>) {
    let n = t.rows;
    let (mut real, mut imaginary) = (vec![0.0; n], vec![0.0; n]);
    let mut k = 0;
    while k < n {
        if k + 1 < n && t[(k + 1, k)] != 0.0 {
            let (b, c) = (t[(k, k + 1)], t[(k + 1, k)]);
            let half = 0.5 * (t[(k, k)] - t[(k + 1, k + 1)]);
            let mean = 0.5 * (t[(k, k)] + t[(k + 1, k + 1)]);
            let discriminant = half * half + b * c;
            let root = discriminant.abs().sqrt();
            if discriminant < 0.0 {
                (real[k], real[k + 1]) = (mean, mean);
                (imaginary[k], imaginary[k + 1]) = (root, -root);
            } else {
                (real[k], real[k + 1]) = (mean + root, mean - root);
            }
            k += 2;
        } else {
            real[k] = t[(k, k)];
            k += 1;
        }
    }
    (real, imaginary)
}

/// X of op(A)·X + sign·X·op(B) = C, as one linear system; `None` if it has no unique solution.
pub(crate) fn sylvester(a: &Matrix, b: &Matrix, c: &Matrix, sign: f64) -> Option<Matrix> {
    let (m, n) = (a.rows, b.rows);
    let system = Matrix::from_fn(m * n, m * n, |row, column| {
        let ((i, j), (k, l)) = ((row % m, row / m), (column % m, column / m));
        let left = if j == l { a[(i, k)] } else { 0.0 };
        let right = if i == k { sign * b[(l, j)] } else { 0.0 };
        left + right
    });
    let lu = Lu::new(system);
    if lu.singular.is_some() {
        return None;
    }
    let unknowns = Matrix {
        rows: m * n,
        columns: 1,
        elements: c.elements.clone(),
    };
    Some(Matrix {
        rows: m,
        columns: n,
        elements: lu.solve(unknowns, false).elements,
    })
}
