//! Limits that protect the tool from damaged, generated and hostile input. They are counts, so
//! that two runs end in the same way.

/// Limits of flattening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Scalars in one array, and scalar variables in a model.
    pub scalars: usize,
    /// Elements of arrays that are held at once: constants, and the variables of functions that are evaluated.
    pub held: usize,
    /// Components in a model.
    pub components: usize,
    /// Characters in a string made while flattening.
    pub string_length: usize,
    /// Statements and expression nodes evaluated while flattening.
    pub fuel: u64,
    /// Those of them in functions: what a model computes before it is simulated (sizes, constants, tables).
    pub function_fuel: u64,
    /// Nesting of components, of inheritance, of evaluation and of calls.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            scalars: 3_000_000,
            // About forty bytes each.
            held: 10_000_000,
            fuel: 60_000_000,
            // About ten million turns of a small loop: a second or two in an unoptimised build.
            function_fuel: 60_000_000,
            // About a kilobyte each.
            components: 600_000,
            string_length: 1 << 20,
            depth: 600,
        }
    }
}
