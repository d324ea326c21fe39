//! The Fourier transform of real signals by mixed radices.

use crate::Failure;

/// A complex number.
type Complex = (f64, f64);

fn add(a: Complex, b: Complex) -> Complex {
    (a.0 + b.0, a.1 + b.1)
}

fn mul(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// Most operations of one transform: a signal whose length is a large prime takes the square of it.
const MOST_WORK: usize = 1 << 28;

/// Amplitudes and phases of the first ⌊n/2⌋ + 1 frequencies of a signal of even length n. Amplitudes are divided by their
/// number.
pub(crate) fn amplitudes_and_phases(signal: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let n = signal.len();
    let factors = factors_of(n);
    if n.saturating_mul(factors.iter().sum()) > MOST_WORK {
        return Err(Failure::new(format!(
            "the Fourier transform of {n} points takes too long: choose a number with small prime factors"
        )));
    }
    let roots: Vec<Complex> = (0..n)
        .map(|k| {
            let angle = -2.0 * std::f64::consts::PI * k as f64 / n as f64;
            (angle.cos(), angle.sin())
        })
        .collect();
    let input: Vec<Complex> = signal.iter().map(|&x| (x, 0.0)).collect();
    let mut spectrum = vec![(0.0, 0.0); n];
    transform(&input, 1, &factors, &roots, &mut spectrum);
    let count = n / 2 + 1;
    let frequencies = spectrum.iter().take(count);
    let amplitudes = frequencies.clone().map(|z| z.0.hypot(z.1) / count as f64).collect();
    // What is real by symmetry is so exactly.
    let real = |k: usize| k == 0 || 2 * k == n;
    let phases = frequencies
        .enumerate()
        .map(|(k, z)| (if real(k) { 0.0 } else { z.1 }).atan2(z.0))
        .collect();
    Ok((amplitudes, phases))
}

/// Prime factors, in ascending order.
fn factors_of(mut n: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut p = 2;
    while n > 1 {
        if p * p > n {
            p = n;
        }
        while n.is_multiple_of(p) {
            factors.push(p);
            n /= p;
        }
        p += 1;
    }
    factors
}

/// The transform of every `stride`-th element: those of the parts, joined by the roots of unity (Cooley and Tukey).
fn transform(input: &[Complex], stride: usize, factors: &[usize], roots: &[Complex], output: &mut [Complex]) {
    let Some((&radix, rest)) = factors.split_first() else {
        if let (Some(first), Some(only)) = (input.first(), output.first_mut()) {
            *only = *first;
        }
        return;
    };
    let n = output.len();
    let part = n / radix;
    for (k, chunk) in output.chunks_mut(part).enumerate() {
        transform(&input[k * stride..], stride * radix, rest, roots, chunk);
    }
    let mut values = vec![(0.0, 0.0); radix];
    for k in 0..part {
        for (q, value) in values.iter_mut().enumerate() {
            *value = output[q * part + k];
        }
        for p in 0..radix {
            let frequency = k + p * part;
            let terms = values.iter().enumerate();
            output[frequency] = terms.fold((0.0, 0.0), |sum, (q, &value)| {
                add(sum, mul(value, roots[q * frequency % n * (roots.len() / n)]))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the sum that defines it.
        #[test]
        fn agrees_with_the_definition(half in 1usize..60, seed in 0u64..1000) {
            let n = 2 * half;
            let signal: Vec<f64> = (0..n)
                .map(|k| ((seed * 31 + k as u64 * 7919) % 1009) as f64 / 100.0 - 5.0)
                .collect();
            let (amplitudes, phases) = amplitudes_and_phases(&signal).unwrap();
            for frequency in 0..=half {
                let mut sum = (0.0, 0.0);
                for (k, x) in signal.iter().enumerate() {
                    let angle = -2.0 * std::f64::consts::PI * (k * frequency % n) as f64 / n as f64;
                    sum = add(sum, (x * angle.cos(), x * angle.sin()));
                }
                let scale = (half + 1) as f64;
                let (a, p) = (amplitudes[frequency] * scale, phases[frequency]);
                prop_assert!((a * p.cos() - sum.0).abs() < 1e-9 && (a * p.sin() - sum.1).abs() < 1e-9);
            }
        }
    }
}
