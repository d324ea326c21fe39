//! Numbers as text that browsers turn back into exactly the same numbers.
//!
//! Values of a simulation are smooth: each is close to the polynomial through the ones before. What is stored is the difference
//! of the bits of a value and of its prediction, sign last, byte by byte: the high bytes of all values, mostly zeros, stand
//! together and vanish in the compression. Predictions are computed in floating point in the same order here and in the page.

use miniz_oxide::deflate::compress_to_vec_zlib;

/// The weights of the values before in the polynomial through 1, 2, … of them, the last value first. The page has the same.
const WEIGHTS: [&[f64]; 6] = [
    &[1.0],
    &[2.0, -1.0],
    &[3.0, -3.0, 1.0],
    &[4.0, -6.0, 4.0, -1.0],
    &[5.0, -10.0, 10.0, -5.0, 1.0],
    &[6.0, -15.0, 20.0, -15.0, 6.0, -1.0],
];
/// Values looked at to choose the order.
const SAMPLE: usize = 8192;

/// A column as it stands in the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// Through how many values predictions go.
    pub order: usize,
    /// The data.
    pub text: String,
}

pub(crate) fn encode(values: &[f64]) -> Encoded {
    let bits: Vec<u64> = values.iter().map(|&value| canonical(value)).collect();
    let sample = &bits[..bits.len().min(SAMPLE)];
    let cost = |order: &usize| -> u64 {
        let lengths = (0..sample.len()).map(|at| u64::from(64 - residual(sample, at, *order).leading_zeros()));
        lengths.sum()
    };
    let order = (0..=WEIGHTS.len()).min_by_key(cost).unwrap_or(0);
    let residuals: Vec<u64> = (0..bits.len()).map(|at| residual(&bits, at, order)).collect();
    let mut planes = Vec::with_capacity(8 * bits.len());
    for byte in 0..8 {
        planes.extend(residuals.iter().map(|residual| (residual >> (8 * byte)) as u8));
    }
    Encoded {
        order,
        text: base64(&compress_to_vec_zlib(&planes, 9)),
    }
}

/// One kind of NaN: its bits differ from machine to machine.
fn canonical(value: f64) -> u64 {
    if value.is_nan() {
        0x7ff8_0000_0000_0000
    } else {
        value.to_bits()
    }
}

/// The difference of a value's bits and its prediction's, with the sign in the lowest bit.
fn residual(bits: &[u64], at: usize, order: usize) -> u64 {
    let difference = bits[at].wrapping_sub(prediction(bits, at, order)) as i64;
    ((difference << 1) ^ (difference >> 63)) as u64
}

fn prediction(bits: &[u64], at: usize, order: usize) -> u64 {
    let order = order.min(at);
    if order < 2 {
        return if order == 0 { 0 } else { bits[at - 1] };
    }
    // One product after the other, as in the page: rounding is the same.
    let products = (1..).zip(WEIGHTS[order - 1]);
    let value = products.fold(0.0, |sum, (steps, weight)| {
        sum + weight * f64::from_bits(bits[at - steps])
    });
    if value.is_finite() {
        value.to_bits()
    } else {
        bits[at - 1]
    }
}

/// Base 64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let all = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            if digit <= group.len() {
                text.push(char::from(DIGITS[(all >> (18 - 6 * digit)) as usize & 63]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the page does.
    fn decode(encoded: &Encoded) -> Vec<u64> {
        let planes = miniz_oxide::inflate::decompress_to_vec_zlib(&from_base64(&encoded.text)).unwrap();
        let count = planes.len() / 8;
        let mut bits = vec![0u64; count];
        for at in 0..count {
            let residual = (0..8).fold(0u64, |all, byte| {
                all | u64::from(planes[byte * count + at]) << (8 * byte)
            });
            let difference = (residual >> 1) ^ (residual & 1).wrapping_neg();
            bits[at] = prediction(&bits, at, encoded.order).wrapping_add(difference);
        }
        bits
    }

    fn from_base64(text: &str) -> Vec<u8> {
        let value = |c: u8| match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let mut bytes = Vec::new();
        for group in text.as_bytes().chunks(4) {
            let digits: Vec<u8> = group.iter().copied().filter(|c| *c != b'=').collect();
            let all = digits.iter().fold(0u32, |all, &c| all << 6 | u32::from(value(c))) << (6 * (4 - digits.len()));
            bytes.extend((1..digits.len()).map(|at| (all >> (24 - 8 * at)) as u8));
        }
        bytes
    }

    #[test]
    fn base64_of_the_standard() {
        for (plain, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), text);
        }
    }

    #[test]
    fn smooth_columns_are_small() {
        let smooth: Vec<f64> = (0..1000).map(|k| (f64::from(k) * 0.01).sin()).collect();
        let size = encode(&smooth).text.len();
        assert!(size < 4000, "{size} characters instead of 10667");
        assert!(encode(&[3.5; 10_000]).text.len() < 200);
        let counted: Vec<f64> = (0..10_000).map(f64::from).collect();
        assert!(encode(&counted).text.len() < 400);
    }

    proptest! {
        #[test]
        fn every_number_comes_back(values in prop::collection::vec(
            prop_oneof![prop::num::f64::ANY, -1.0..1.0f64, Just(f64::NAN), Just(-0.0), Just(f64::INFINITY)], 0..80,
        )) {
            let expected: Vec<u64> = values.iter().map(|&value| canonical(value)).collect();
            prop_assert_eq!(decode(&encode(&values)), expected);
        }
    }
}
