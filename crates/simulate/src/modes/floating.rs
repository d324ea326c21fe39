//! Modes in which something floats.
//!
//! With all switches open, a capacitor between them is connected to nothing: the currents into it are said to be zero twice,
//! and nothing determines its potential against the rest. The equations that are too many follow from the others, so one of
//! them can be left out; what nothing determines keeps the value that it has. Such a mode is entered only where no regular one
//! is consistent, and what is kept is reported.

use rustc_hash::FxHashMap;
use saltus_mdae::{Derivative, EquationId, Role, VarId};
use saltus_numerics::linalg::RowSpace;
use saltus_structure::mode::{ModeFailure, ModeStructure, Valuation, analyze_equations};

use crate::engine::{Engine, ModeId};

/// Relative size below which a combination of equations counts as zero.
const SMALL: f64 = 1e-9;
/// Larger singular parts are refused: each of their unknowns may have to be tried.
const MOST_UNKNOWNS: usize = 400;

/// So many unknowns are named.
const TOLD: usize = 4;

/// A mode without the equations that follow from the others, and with what takes their place.
#[derive(Clone, Debug)]
pub(crate) struct Floating {
    pub equations: Vec<EquationId>,
    /// What keeps its value.
    pub held: Vec<VarId>,
}

/// A linear equation in numbers.
struct NumberRow {
    equation: EquationId,
    coefficients: Vec<f64>,
    /// What is left where all unknowns are zero, at several times.
    rest: Vec<f64>,
}

impl Engine {
    /// Completes a singular mode; `None` if its equations contradict each other, or their number is not that of the unknowns.
    pub(crate) fn floating(
        &mut self,
        valuation: &Valuation,
        failure: &ModeFailure,
    ) -> Option<(Floating, ModeStructure)> {
        let ModeFailure::Singular {
            equations,
            unknowns,
            structural_rank,
            overdetermined,
            underdetermined,
        } = failure
        else {
            return None;
        };
        let open: Vec<VarId> = underdetermined
            .iter()
            .flat_map(|piece| piece.unknowns.clone())
            .collect();
        if equations != unknowns || open.len() > MOST_UNKNOWNS {
            return None;
        }
        let too_many: Vec<EquationId> = overdetermined
            .iter()
            .flat_map(|piece| piece.equations.clone())
            .collect();
        let dropped = self.dependent_equations(&too_many)?;
        if dropped.len() != equations - structural_rank {
            return None;
        }
        let active = self.compiled.modes().active(valuation);
        let kept: Vec<EquationId> = active.filter(|equation| !dropped.contains(equation)).collect();
        self.hold_open_unknowns(valuation, kept, &open)
    }

    /// Lets unknowns that nothing determines keep their values, one after the other, until the mode is regular.
    fn hold_open_unknowns(
        &self,
        valuation: &Valuation,
        mut equations: Vec<EquationId>,
        open: &[VarId],
    ) -> Option<(Floating, ModeStructure)> {
        let modes = self.compiled.modes();
        let mut held = Vec::new();
        for &var in open {
            let Some(hold) = self.compiled.hold(var) else { continue };
            let mut with = equations.clone();
            with.push(hold);
            with.sort_unstable();
            match analyze_equations(&self.model, modes, valuation, with.clone()) {
                Ok(structure) => {
                    held.push(var);
                    let equations = with;
                    return Some((Floating { equations, held }, structure));
                }
                Err(ModeFailure::Singular {
                    equations: count,
                    structural_rank,
                    ..
                }) if count == structural_rank => {
                    held.push(var);
                    equations = with;
                }
                Err(_) => {}
            }
        }
        None
    }

    /// Equations that follow from those before them in the list; `None` if one contradicts them, or if they are not linear.
    fn dependent_equations(&mut self, equations: &[EquationId]) -> Option<Vec<EquationId>> {
        let rows = self.rows_in_numbers(equations)?;
        let units = column_sizes(&rows);
        let mut independent = RowSpace::new(units);
        let mut dependent = Vec::new();
        for row in rows {
            let remainder = independent.remainder([row.coefficients, row.rest].concat());
            if remainder.of_unknowns() > SMALL {
                independent.add(remainder, SMALL);
            } else if remainder.of_right_hand_sides() <= SMALL {
                dependent.push(row.equation);
            } else {
                return None;
            }
        }
        Some(dependent)
    }

    /// Equations with their coefficients; what is not linear in its unknowns has others at another point.
    fn rows_in_numbers(&mut self, equations: &[EquationId]) -> Option<Vec<NumberRow>> {
        let saved = self.memory.values.clone();
        let time = self.memory.time();
        let found = self.rows_at_points(equations, time);
        self.memory.values = saved;
        found
    }

    fn rows_at_points(&mut self, equations: &[EquationId], time: f64) -> Option<Vec<NumberRow>> {
        let mut leaves: FxHashMap<Derivative, usize> = FxHashMap::default();
        for &equation in equations {
            for leaf in self.pivot_leaves(equation)? {
                let next = leaves.len();
                leaves.entry(leaf).or_insert(next);
            }
        }
        let inputs: Vec<VarId> = self.model.variables.ids().collect();
        let inputs: Vec<VarId> = inputs
            .into_iter()
            .filter(|&var| self.model.variables[var].role == Role::Input)
            .collect();
        let mut rows: Vec<NumberRow> = Vec::new();
        for point in 0..3u32 {
            let mut number = Numbers(u64::from(point) + 1);
            for &input in &inputs {
                self.memory.set(input, 0, number.next());
            }
            self.memory
                .set_time(time + f64::from(point) * (1.0 + time.abs()) * 0.37);
            let mut ordered: Vec<Derivative> = leaves.keys().copied().collect();
            ordered.sort_unstable();
            for &Derivative { var, order } in &ordered {
                self.memory.set(var, order, number.next());
            }
            let mut coefficients = Vec::new();
            for &equation in equations {
                let mut row = vec![0.0; leaves.len()];
                for (leaf, slope) in self.pivot_gradient(equation)?.1 {
                    row[leaves[&leaf]] += slope;
                }
                coefficients.push(row);
            }
            for &Derivative { var, order } in &ordered {
                self.memory.set(var, order, 0.0);
            }
            for ((at, &equation), coefficients) in equations.iter().enumerate().zip(coefficients) {
                let (rest, _) = self.pivot_gradient(equation)?;
                match point {
                    0 => rows.push(NumberRow {
                        equation,
                        coefficients,
                        rest: vec![rest],
                    }),
                    _ => {
                        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= SMALL * a.abs();
                        if !rows[at].coefficients.iter().zip(&coefficients).all(same) {
                            return None;
                        }
                        rows[at].rest.push(rest);
                    }
                }
            }
        }
        Some(rows)
    }

    /// Tells what keeps its value in a mode that is entered for the first time.
    pub(crate) fn tell_floating(&mut self, mode: ModeId) {
        self.tell_undetermined(mode);
        let Some(floating) = self.modes.floating.get(&mode) else {
            return;
        };
        if !self.reported.floating.insert(mode) {
            return;
        }
        let names: Vec<String> = floating
            .held
            .iter()
            .map(|&var| format!("`{}`", self.model.variables[var].name))
            .collect();
        let label = crate::events::refused::in_words(&self.compiled.guard_atoms(&self.memory));
        self.reported.warnings.push(format!(
            "at t = {}: nothing determines {} in the mode `{label}`, some of whose equations follow from others: kept as before",
            self.memory.time(),
            names.join(", ")
        ));
    }

    /// Tells once of each unknown that it keeps its value because all its coefficients are zero.
    pub(crate) fn tell_undetermined(&mut self, mode: ModeId) {
        let kept = self.modes[mode].plan().kept();
        let kept: Vec<Derivative> = kept
            .into_iter()
            .filter(|&unknown| self.reported.undetermined.insert(unknown))
            .collect();
        if kept.is_empty() {
            return;
        }
        let names: Vec<String> = kept
            .iter()
            .take(TOLD)
            .map(|&Derivative { var, order }| format!("`{}`", self.name(var, order)))
            .collect();
        let more = match kept.len().saturating_sub(TOLD) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        self.reported.warnings.push(format!(
            "at t = {}: nothing determines {}{more}, whose coefficients are zero there: kept as before",
            self.memory.time(),
            names.join(", ")
        ));
    }
}

/// The largest coefficient of each unknown, whatever its unit.
fn column_sizes(rows: &[NumberRow]) -> Vec<f64> {
    let mut sizes = vec![f64::MIN_POSITIVE; rows.first().map_or(0, |row| row.coefficients.len())];
    for row in rows {
        for (size, coefficient) in sizes.iter_mut().zip(&row.coefficients) {
            *size = size.max(coefficient.abs());
        }
    }
    sizes
}

/// Numbers between -1 and 1, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
