//! Limits that protect the tool from damaged, generated and hostile input. They are counts, so
//! that two runs end in the same way.

/// Limits of flattening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Scalars in one array, and scalar variables in a model.
    pub scalars: usize,
    /// Statements and expression nodes evaluated while flattening.
    pub fuel: u64,
    /// Nesting of components, of inheritance, of evaluation and of calls.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            scalars: 5_000_000,
            fuel: 200_000_000,
            depth: 150,
        }
    }
}
