//! Random numbers for families of models.

/// Numbers that are the same in every run and on every machine, from a seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Those of a name, for families whose members have names.
    pub fn named(name: &str) -> Self {
        let hash = |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte));
        Random(name.bytes().fold(7, hash))
    }

    /// The next number.
    #[allow(clippy::should_implement_trait, reason = "there is always another")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from zero on, below a count; zero if there is none.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    /// A number from 0 on, below 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number between two.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Ten to a power between two.
    pub fn power(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(self.between(low, high))
    }

    /// A power of ten whose exponent is one of those between two.
    pub fn power_of_ten(&mut self, low: i32, high: i32) -> f64 {
        10f64.powi(low + self.below((high - low + 1) as usize) as i32)
    }

    /// True so many times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several things.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Puts things into any order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
    }

    /// The numbers below a count in any order.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        self.shuffle(&mut order);
        order
    }
}

/// All permutations of the numbers below a count.
pub fn permutations(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let mut all = Vec::new();
    for shorter in permutations(last) {
        for at in 0..count {
            let mut longer = shorter.clone();
            longer.insert(at, last);
            all.push(longer);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        // The published sequence for the seed 1234567.
        let mut random = Random(1_234_567);
        let first = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!([random.next(), random.next(), random.next()], first);
    }

    #[test]
    fn numbers_stay_in_their_range_and_orders_are_orders() {
        let mut random = Random(1);
        for count in 1..50 {
            assert!(random.below(count) < count);
            assert!((-2.0..3.0).contains(&random.between(-2.0, 3.0)));
            assert!([0.1, 1.0, 10.0].contains(&random.power_of_ten(-1, 1)));
            let mut order = random.permutation(count);
            order.sort_unstable();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn permutations_are_all_there() {
        for (count, expected) in [1, 1, 2, 6, 24].into_iter().enumerate() {
            let mut all = permutations(count);
            all.sort();
            all.dedup();
            assert_eq!(all.len(), expected);
            assert!(all.iter().all(|order| (0..count).all(|number| order.contains(&number))));
        }
    }
}
