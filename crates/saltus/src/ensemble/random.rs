//! Random numbers that are the same everywhere: SplitMix64 (Steele, Lea, Flood 2014).

pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1, less than 1 also after a million was added: it has few digits.
    pub(super) fn short_unit(&mut self) -> f64 {
        (self.bits() >> 40) as f64 / (1_u64 << 24) as f64
    }

    /// Puts things into any order, each as probable as the others.
    pub(super) fn shuffle(&mut self, things: &mut [usize]) {
        for last in (1..things.len()).rev() {
            // The bias of a remainder of 64 bits is below one in a hundred billion.
            let other = (self.bits() % (last as u64 + 1)) as usize;
            things.swap(last, other);
        }
    }
}
