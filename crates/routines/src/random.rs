//! The random number generators of Vigna (<https://prng.di.unimi.it>), with states as lists of 32-bit integers, the low half
//! of every 64-bit word first, as the Modelica Standard Library has them. States and numbers are the same bit by bit.

/// 2^-64
const UNIT: f64 = 5.421_010_862_427_522e-20;

/// A number in (0, 1]: a signed 64-bit integer, scaled and moved.
fn uniform(bits: u64) -> f64 {
    (bits as i64) as f64 * UNIT + 0.5
}

/// Words of a state.
fn words<const N: usize>(state: &[f64]) -> [u64; N] {
    std::array::from_fn(|k| {
        let half = |at: usize| u64::from(state.get(at).map_or(0, |&x| integer(x) as u32));
        half(2 * k) | half(2 * k + 1) << 32
    })
}

/// A 32-bit integer; what is larger wraps as it does in C.
fn integer(x: f64) -> i32 {
    x as i64 as i32
}

fn halves(words: &[u64]) -> Vec<f64> {
    words
        .iter()
        .flat_map(|word| [*word as u32 as i32, (*word >> 32) as u32 as i32])
        .map(f64::from)
        .collect()
}

/// xorshift64*: two integers.
pub(crate) fn xorshift64star(state: &[f64]) -> (Vec<f64>, f64) {
    let [mut x] = words::<1>(state);
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    x = x.wrapping_mul(2_685_821_657_736_338_717);
    (halves(&[x]), uniform(x))
}

/// xorshift128+: four integers.
pub(crate) fn xorshift128plus(state: &[f64]) -> (Vec<f64>, f64) {
    let [mut s1, s0] = words::<2>(state);
    s1 ^= s1 << 23;
    let next = (s1 ^ s0 ^ (s1 >> 17) ^ (s0 >> 26)).wrapping_add(s0);
    (halves(&[s0, next]), uniform(next))
}

/// xorshift1024*: 32 integers and the place in them.
pub(crate) fn xorshift1024star(state: &[f64]) -> (Vec<f64>, f64) {
    let mut s = words::<16>(state);
    let place = (state.get(32).map_or(0, |&p| integer(p)) & 15) as usize;
    let next = (place + 1) & 15;
    let (mut s0, mut s1) = (s[place], s[next]);
    s1 ^= s1 << 31;
    s1 ^= s1 >> 11;
    s0 ^= s0 >> 30;
    s[next] = s0 ^ s1;
    let mut state = halves(&s);
    state.push(next as f64);
    (state, uniform(s[next].wrapping_mul(1_181_783_497_276_652_981)))
}

/// The two halves of a double as integers, the low one first.
pub(crate) fn integers_of_real(x: f64) -> Vec<f64> {
    halves(&[x.to_bits()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published outputs of the generators with the states 1 and (1, 2).
    #[test]
    fn first_words_are_those_of_the_published_generators() {
        let (state, y) = xorshift64star(&[1.0, 0.0]);
        let expected = 5_180_492_295_206_395_165_u64;
        assert_eq!(words::<1>(&state), [expected]);
        assert_eq!(y, (expected as i64) as f64 / 2f64.powi(64) + 0.5);
        let (state, _) = xorshift128plus(&[1.0, 0.0, 2.0, 0.0]);
        let s1: u64 = 1 ^ (1 << 23);
        assert_eq!(words::<2>(&state), [2, (s1 ^ 2 ^ (s1 >> 17)).wrapping_add(2)]);
    }

    /// The place turns through the state, and every word is replaced once per turn.
    #[test]
    fn the_long_state_turns() {
        let mut state: Vec<f64> = (0..32).map(|k| f64::from(k * 7919 - 100_000)).collect();
        state.push(15.0);
        let first = state.clone();
        let mut seen = Vec::new();
        for turn in 0..16 {
            let (next, y) = xorshift1024star(&state);
            assert!(y > 0.0 && y <= 1.0);
            assert_eq!(next[32], f64::from(turn));
            seen.push(y);
            state = next;
        }
        assert!(first[..32].chunks(2).zip(state.chunks(2)).all(|(a, b)| a != b));
        seen.sort_by(f64::total_cmp);
        seen.dedup();
        assert_eq!(seen.len(), 16);
    }

    #[test]
    fn halves_and_words_are_inverse() {
        for x in [0.0, -1.5, 1e300, f64::MIN_POSITIVE, std::f64::consts::PI] {
            assert_eq!(words::<1>(&integers_of_real(x)), [x.to_bits()]);
        }
    }
}
