//! Units of variables that declare none, from equations.
//!
//! An equation between units is linear in their exponents: `F = m*a` says u(F) − u(m) − u(a) = 0. Equations with one unknown
//! unit determine it, those with two make one unit a multiple of the other (a forest with factors), and those with more wait
//! until fewer are left. Each step removes an unknown, so the work is about linear in the size of the model.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::flat::{IndexVec, VariableId};
use crate::unit::Dimension;

/// A product of powers of units that are not known, and of one that is.
#[derive(Clone, Debug, Default)]
pub(super) struct Form {
    pub constant: Dimension,
    pub terms: SmallVec<[(VariableId, f64); 2]>,
    /// Whether units that are not known were in it and fell out.
    pub has_cancelled: bool,
}

/// Longer products say little, and comparing all with all would take long.
const MOST_TERMS: usize = 12;

impl Form {
    pub(super) fn known(constant: Dimension) -> Form {
        Form {
            constant,
            ..Form::default()
        }
    }

    pub(super) fn unknown(variable: VariableId) -> Form {
        Form {
            terms: [(variable, 1.0)].into_iter().collect(),
            ..Form::default()
        }
    }

    /// This times a power of another one; `None` if that is too long.
    pub(super) fn times(mut self, other: &Form, power: f64) -> Option<Form> {
        self.constant = self.constant.times(other.constant, power);
        self.has_cancelled |= other.has_cancelled;
        for &(variable, exponent) in &other.terms {
            self.add(variable, power * exponent);
        }
        (self.terms.len() <= MOST_TERMS).then_some(self)
    }

    pub(super) fn power(mut self, power: f64) -> Form {
        self.constant = self.constant.power(power);
        self.terms.iter_mut().for_each(|(_, exponent)| *exponent *= power);
        self
    }

    fn add(&mut self, variable: VariableId, exponent: f64) {
        match self.terms.iter().position(|(known, _)| *known == variable) {
            Some(at) => {
                self.terms[at].1 += exponent;
                if self.terms[at].1.abs() < 1e-9 {
                    self.terms.remove(at);
                    self.has_cancelled = true;
                }
            }
            None => self.terms.push((variable, exponent)),
        }
    }
}

/// An equation that cannot hold.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    pub number: EquationNumber,
    pub form: Form,
    /// What its sides differ by.
    pub apart: Dimension,
}

/// A number for an equation between units, by which its maker knows it.
pub(super) type EquationNumber = u32;

#[derive(Clone, Copy, Debug)]
enum Knowledge {
    /// Nothing yet.
    Open,
    /// The unit is a power of another one's, times a unit.
    Of(VariableId, f64, Dimension),
    /// The unit.
    Known(Dimension),
    /// Equations contradict each other, which has been said: it may be anything.
    Disputed,
}

/// What is known of the units of variables.
#[derive(Debug)]
pub(super) struct Solver {
    knowledge: IndexVec<VariableId, Knowledge>,
    /// The equation that told it, for those that are known by an equation.
    told_by: IndexVec<VariableId, Option<EquationNumber>>,
    /// Equations with three unknowns or more, and where they come from.
    waiting: Vec<(Form, EquationNumber)>,
    /// Those that wait for a variable.
    watchers: FxHashMap<VariableId, Vec<u32>>,
    /// Equations to be looked at again.
    again: Vec<u32>,
}

impl Solver {
    pub(super) fn new(variables: usize) -> Solver {
        Solver {
            knowledge: (0..variables).map(|_| Knowledge::Open).collect(),
            told_by: (0..variables).map(|_| None).collect(),
            waiting: Vec::new(),
            watchers: FxHashMap::default(),
            again: Vec::new(),
        }
    }

    /// A form without what is known; `None` if it depends on what is disputed.
    pub(super) fn reduce(&mut self, form: &Form) -> Option<Form> {
        let mut reduced = Form::known(form.constant);
        reduced.has_cancelled = form.has_cancelled;
        for &(variable, exponent) in &form.terms {
            let (root, factor, constant) = self.root(variable);
            reduced.constant = reduced.constant.times(constant, exponent);
            match self.knowledge[root] {
                Knowledge::Known(dimension) => {
                    reduced.constant = reduced.constant.times(dimension, exponent * factor);
                }
                Knowledge::Disputed => return None,
                _ => reduced.add(root, exponent * factor),
            }
        }
        Some(reduced)
    }

    /// The variable in whose unit this one's is expressed, and how; ways are shortened.
    fn root(&mut self, variable: VariableId) -> (VariableId, f64, Dimension) {
        let mut path: SmallVec<[VariableId; 8]> = SmallVec::new();
        let mut at = variable;
        while let Knowledge::Of(next, ..) = self.knowledge[at] {
            path.push(at);
            at = next;
        }
        let root = at;
        let (mut factor, mut constant) = (1.0, Dimension::ONE);
        for &passed in path.iter().rev() {
            if let Knowledge::Of(_, own, shift) = self.knowledge[passed] {
                constant = shift.times(constant, own);
                factor *= own;
                self.knowledge[passed] = Knowledge::Of(root, factor, constant);
            }
        }
        (root, factor, constant)
    }

    /// The equation that told the unit of a variable.
    pub(super) fn told_by(&mut self, variable: VariableId) -> Option<(Dimension, EquationNumber)> {
        let (root, factor, constant) = self.root(variable);
        let Knowledge::Known(dimension) = self.knowledge[root] else {
            return None;
        };
        let number = self.told_by[variable].or(self.told_by[root])?;
        Some((constant.times(dimension, factor), number))
    }

    /// An equation: the form is a number. Yields the equations that cannot hold, to be reported and disputed.
    pub(super) fn add(&mut self, form: Form, number: EquationNumber) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        self.look_at(form, number, &mut wrong);
        while let Some(index) = self.again.pop() {
            let (form, number) = std::mem::take(&mut self.waiting[index as usize]);
            if !form.terms.is_empty() {
                self.look_at(form, number, &mut wrong);
            }
        }
        wrong
    }

    /// The variables of an equation that cannot hold may be anything from now on.
    pub(super) fn dispute(&mut self, form: &Form) {
        for &(variable, _) in &form.terms {
            let (root, ..) = self.root(variable);
            self.knowledge[root] = Knowledge::Disputed;
        }
    }

    fn look_at(&mut self, form: Form, number: EquationNumber, wrong: &mut Vec<Wrong>) {
        let Some(reduced) = self.reduce(&form) else { return };
        match reduced.terms[..] {
            [] if reduced.constant.is_one() => {}
            // `der(x) = -x` in a model without units: a factor of one per second is not written.
            [] if reduced.has_cancelled && reduced.constant.is_of_time() => {}
            [] => wrong.push(Wrong {
                number,
                form,
                apart: reduced.constant,
            }),
            [(variable, exponent)] => {
                self.knowledge[variable] = Knowledge::Known(reduced.constant.power(-1.0 / exponent));
                self.told_by[variable] = Some(number);
                self.wake(variable);
            }
            [(x, a), (y, b)] => {
                // The one that fewer wait for is replaced.
                let count = |variable| self.watchers.get(&variable).map_or(0, Vec::len);
                let ((from, of_from), (to, of_to)) = if count(x) <= count(y) {
                    ((x, a), (y, b))
                } else {
                    ((y, b), (x, a))
                };
                let shift = reduced.constant.power(-1.0 / of_from);
                self.knowledge[from] = Knowledge::Of(to, -of_to / of_from, shift);
                self.told_by[from] = Some(number);
                self.wake(from);
            }
            _ => {
                let index = self.waiting.len() as u32;
                for &(variable, _) in &reduced.terms {
                    self.watchers.entry(variable).or_default().push(index);
                }
                self.waiting.push((reduced, number));
            }
        }
    }

    fn wake(&mut self, variable: VariableId) {
        if let Some(list) = self.watchers.remove(&variable) {
            self.again.extend(list.into_iter().rev());
        }
    }
}

#[cfg(test)]
mod tests {
    use saltus_testing::Random;

    use super::*;
    use crate::flat::Idx;
    use crate::unit::Unit;

    fn dimension(text: &str) -> Dimension {
        Unit::parse(text).unwrap().dimension
    }

    /// Random equations between powers of units that are given hold; with one unit changed they do not, once everything
    /// is determined.
    #[test]
    fn random_systems() {
        let mut random = Random(7);
        let bases = ["m", "kg", "s", "A", "K", "N", "kW", "bar"];
        for _ in 0..500 {
            let count = 2 + random.below(12);
            let units: Vec<Dimension> = (0..count)
                .map(|_| dimension(random.of(&bases)).power(random.below(5) as f64 - 2.0))
                .collect();
            let mut solver = Solver::new(count);
            let mut product = |length: u64| {
                let mut form = Form::default();
                for _ in 0..length {
                    form.add(VariableId(random.below(count) as u32), random.below(7) as f64 - 3.0);
                }
                form.terms.retain(|(_, exponent)| *exponent != 0.0);
                for (variable, exponent) in form.terms.clone() {
                    form.constant = form.constant.times(units[variable.index()], -exponent);
                }
                form
            };
            let equations: Vec<Form> = (0..2 * count).map(|at| product(1 + at as u64 % 4)).collect();
            for (number, form) in equations.iter().enumerate() {
                assert!(solver.add(form.clone(), number as u32).is_empty());
            }
            for (at, &unit) in units.iter().enumerate() {
                let id = VariableId(at as u32);
                let fixed = Form {
                    constant: unit.power(-1.0),
                    ..Form::unknown(id)
                };
                assert!(solver.add(fixed, 1000).is_empty());
            }
            let mut broken = product(3);
            broken.constant = broken.constant.times(dimension("m"), 1.0);
            let wrong: Vec<u32> = solver.add(broken, 77).iter().map(|wrong| wrong.number).collect();
            assert_eq!(wrong, [77]);
        }
    }
}
