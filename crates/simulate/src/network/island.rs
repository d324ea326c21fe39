//! Equations that are solved together.

use saltus_numerics::linalg::{BandLu, BandMatrix};

use super::condensed::Condensed;

/// Numbers that the factors of one island may take.
const MOST_NUMBERS: usize = 1 << 22;

/// A pivot of an equation whose largest coefficient is 1 must be larger: below that structure and numbers disagree.
pub(crate) const LEAST_PIVOT: f64 = 1e-10;

/// An equation of an island in the making.
#[derive(Debug, Default)]
pub(crate) struct RowDraft {
    /// Leading terms: position of the unknown in the island, and coefficient.
    pub leading: Vec<(u32, f64)>,
    /// Other terms: where the value is, and coefficient.
    pub known: Vec<(u32, f64)>,
}

/// Equations that share leading unknowns, with the factors of their matrix.
#[derive(Clone, Debug)]
pub(crate) struct Island {
    /// The equations, and their unknowns by number, in an order that keeps them near each other.
    pub equations: Box<[u32]>,
    pub unknowns: Box<[u32]>,
    /// Where the values of the leading unknowns are.
    pub places: Box<[u32]>,
    /// What each equation is multiplied by, and by which part of that its constant counts: none where it is differentiated.
    pub scales: Box<[f64]>,
    of_constants: Box<[f64]>,
    /// The terms on the right-hand side of each equation, multiplied.
    first: Box<[u32]>,
    sources: Box<[u32]>,
    coefficients: Box<[f64]>,
    factors: BandLu,
    /// The rates of its states, where they are few.
    pub condensed: Option<Box<[Condensed]>>,
}

impl Island {
    /// Factorises; nothing if the matrix is singular or its band too wide.
    pub(crate) fn new(
        equations: Vec<u32>,
        unknowns: Vec<u32>,
        places: Vec<u32>,
        differentiated: impl Fn(u32) -> bool,
        mut draft: impl FnMut(u32, &mut RowDraft),
    ) -> Option<Self> {
        let size = equations.len();
        if size != unknowns.len() {
            return None;
        }
        let mut row = RowDraft::default();
        let mut leading: Vec<(u32, u32, f64)> = Vec::with_capacity(3 * size);
        let (mut sources, mut coefficients) = (Vec::with_capacity(size), Vec::with_capacity(size));
        let mut first = Vec::with_capacity(size + 1);
        let mut scales = Vec::with_capacity(size);
        let mut of_constants = Vec::with_capacity(size);
        let (mut below, mut above) = (0, 0);
        first.push(0);
        for (at, &equation) in equations.iter().enumerate() {
            row.leading.clear();
            row.known.clear();
            draft(equation, &mut row);
            let largest = row
                .leading
                .iter()
                .fold(0.0f64, |largest, term| largest.max(term.1.abs()));
            let scale = 1.0 / largest;
            for &(unknown, coefficient) in &row.leading {
                leading.push((at as u32, unknown, scale * coefficient));
                below = below.max(at.saturating_sub(unknown as usize));
                above = above.max((unknown as usize).saturating_sub(at));
            }
            for &(source, coefficient) in &row.known {
                sources.push(source);
                coefficients.push(-scale * coefficient);
            }
            first.push(sources.len() as u32);
            scales.push(scale);
            of_constants.push(if differentiated(equation) { 0.0 } else { -scale });
        }
        if BandMatrix::storage(size, below, above) > MOST_NUMBERS {
            return None;
        }
        let mut matrix = BandMatrix::zero(size, below, above);
        for (row, column, value) in leading {
            matrix.add(row as usize, column as usize, value);
        }
        Some(Island {
            factors: matrix.factor(LEAST_PIVOT)?,
            equations: equations.into(),
            unknowns: unknowns.into(),
            places: places.into(),
            scales: scales.into(),
            of_constants: of_constants.into(),
            first: first.into(),
            sources: sources.into(),
            coefficients: coefficients.into(),
            condensed: None,
        })
    }

    /// The terms on the right-hand side of an equation: where the values are, and coefficients.
    pub(crate) fn known(&self, at: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let terms = self.first[at] as usize..self.first[at + 1] as usize;
        let sources = self.sources[terms.clone()].iter().copied();
        sources.zip(self.coefficients[terms].iter().copied())
    }

    /// Where the values on the right-hand sides are.
    pub(crate) fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// Gives the leading unknowns their values.
    pub(crate) fn solve(&self, values: &mut [f64], rests: &[f64], work: &mut [f64]) {
        let work = &mut work[..self.equations.len()];
        for (at, value) in work.iter_mut().enumerate() {
            let mut sum = self.of_constants[at] * rests[self.equations[at] as usize];
            let terms = self.first[at] as usize..self.first[at + 1] as usize;
            for (&source, coefficient) in self.sources[terms.clone()].iter().zip(&self.coefficients[terms]) {
                sum += coefficient * values[source as usize];
            }
            *value = sum;
        }
        self.factors.solve(work);
        for (&place, value) in self.places.iter().zip(work) {
            values[place as usize] = *value;
        }
    }

    /// Replaces right-hand sides, multiplied by the scales, by what solves them.
    pub(crate) fn solve_for(&self, sides: &mut [f64]) {
        self.factors.solve(sides);
    }
}
