//! Colours that do not depend on names or on the order of equations, for choices among equals.
//!
//! In a restart several equations of the same rank may be able to stand in for each other (step 7), and where impulsive variables
//! are multiplied several transversals of highest weight give different offsets (step 9). Colour refinement of the
//! incidence (Weisfeiler–Lehman) tells apart what the structure tells apart; what it leaves equal is interchangeable in
//! all but rare graphs.

/// Mixes a word into a colour (the finaliser of splitmix64): the same on every machine and in every run.
pub(crate) fn mixed(colour: u64, word: u64) -> u64 {
    let mut z = (colour ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A bipartite graph with coloured nodes and labelled edges.
#[derive(Default)]
pub(crate) struct Coloured {
    /// Colours of the left nodes.
    pub(crate) left: Vec<u64>,
    /// Colours of the right nodes.
    pub(crate) right: Vec<u64>,
    /// Left node, right node, label.
    pub(crate) edges: Vec<(usize, usize, u64)>,
}

impl Coloured {
    /// Refines the colours by those of the neighbours until no more nodes are told apart.
    pub(crate) fn refine(&mut self) {
        let mut told_apart = self.count();
        loop {
            let right = self.gathered(&self.left, self.right.len(), |&(l, r, label)| (l, r, label));
            let left = self.gathered(&self.right, self.left.len(), |&(l, r, label)| (r, l, label));
            update(&mut self.left, &left);
            update(&mut self.right, &right);
            let count = self.count();
            if count <= told_apart {
                return;
            }
            told_apart = count;
        }
    }

    /// The sum over the neighbours of each node: sums do not depend on the order.
    fn gathered(
        &self,
        colours: &[u64],
        count: usize,
        ends: impl Fn(&(usize, usize, u64)) -> (usize, usize, u64),
    ) -> Vec<u64> {
        let mut sums = vec![0_u64; count];
        for (from, to, label) in self.edges.iter().map(ends) {
            sums[to] = sums[to].wrapping_add(mixed(colours[from], label));
        }
        sums
    }

    fn count(&self) -> usize {
        let mut all: Vec<u64> = self.left.iter().chain(&self.right).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }
}

fn update(colours: &mut [u64], sums: &[u64]) {
    for (colour, &sum) in colours.iter_mut().zip(sums) {
        *colour = mixed(*colour, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(order: [usize; 3]) -> Coloured {
        // a – x – b – y – c: the ends are alike, the middle is not.
        let edges = [(0, 0, 1), (1, 0, 1), (1, 1, 1), (2, 1, 1)];
        Coloured {
            left: vec![5; 3],
            right: vec![7; 2],
            edges: edges.map(|(l, r, label)| (order[l], r, label)).to_vec(),
        }
    }

    #[test]
    fn colours_follow_the_nodes() {
        let mut first = path([0, 1, 2]);
        first.refine();
        assert_eq!(first.left[0], first.left[2]);
        assert_ne!(first.left[0], first.left[1]);
        assert_eq!(first.right[0], first.right[1]);
        let mut second = path([1, 2, 0]);
        second.refine();
        assert_eq!([second.left[1], second.left[2], second.left[0]], first.left[..]);
    }
}
