//! Groups of numbers that are joined pair by pair.

/// Union–find; of joined numbers the smallest stands for the group.
pub(super) struct Groups {
    parent: Vec<usize>,
}

impl Groups {
    /// Every number by itself.
    pub(super) fn new(count: usize) -> Self {
        Groups {
            parent: (0..count).collect(),
        }
    }

    /// What stands for the group of a number.
    pub(super) fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    /// Makes the groups of two numbers one.
    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }
}
