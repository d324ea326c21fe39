//! Modes in which constraints follow from each other.
//!
//! Two clutches between the same shafts, closed switches in parallel, a ring of engaged gears: one of the constraints says
//! nothing new, and how they share torque or current is not determined. All that is unique stays unique: the constraint
//! that follows from the others is left out in such a mode, and the undetermined unknowns are shared by minimum norm.
//!
//! *Which constraint follows.* Σ λ_i f_i = 0 for all values of unknowns, derivatives, time, discrete variables and conditions
//! is a linear dependence of functions: a dependence of their values at more points than there are functions. So a
//! contradiction (`v = 5` and `v = 6`) is none. Derivatives of equations count among the functions where the equations as they are
//! written do not suffice: a gear between angles and a clutch between velocities hold a shaft that a brake holds too.
//!
//! *What is undetermined.* A direction n in the unknowns that are differentiated nowhere with ∂f/∂u·n = 0 at all points:
//! u + s(t)·n solves the equations for every s. There must be as many directions as constraints were left out; then n·u = 0 for
//! each of them picks the solution of smallest norm, for values and for impulses. Of unknowns that are the same up to a
//! factor one counts.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::{ConditionId, Derivative, Equation, EquationId, ExprId, Idx, Mdae, Node, Role, Share, Type, VarId};
use saltus_numerics::linalg::{DenseMatrix, PivotedQr, balance};

use super::guards::{Modes, Valuation};
use super::parts::{Part, Truths, parts};
use super::rank::check_rank;
use super::structure::analyze_equations;
use saltus_mdae::jacobian::{JacobianReader, SamplePoint};
use saltus_mdae::tape::{Tape, leaf_value};

/// Modes looked at times equations in them.
const BUDGET: usize = 20_000;
/// Modes with more equations than this are left as they are.
const MOST_EQUATIONS: usize = 200;
/// What is left of a function, relative to it, once what others give is taken away: below, it follows from them.
const ZERO: f64 = 1e-9;
/// Relative difference of slopes that are the same.
const SAME_SLOPE: f64 = 1e-12;
/// Points at which directions must be the same.
const POINTS: u32 = 3;

/// What makes a mode regular.
struct Repair {
    /// Equations that follow from others.
    follow: Vec<EquationId>,
    /// Directions in the unknowns that nothing determines.
    directions: Vec<Vec<(VarId, f64)>>,
    /// Whether that holds for all values of parameters.
    for_all_parameters: bool,
}

/// Leaves out constraints that follow from others, and shares what they leave undetermined. Names the parameters for whose
/// present values alone that is right.
pub fn share_redundant(model: &mut Mdae) -> BTreeSet<Arc<str>> {
    let mut parameters = BTreeSet::new();
    if model
        .equations
        .iter()
        .all(|equation| model.pool.constant(equation.guard).is_some())
    {
        return parameters;
    }
    let mut modes = Modes::new(model);
    let mut known = Known::new(model);
    let switched = |part: &Part| part.is_switched() && part.has_formulas();
    for mut part in parts(model, &modes).into_iter().filter(switched) {
        share_in_part(model, &mut known, &mut modes, &mut part, &mut parameters);
    }
    parameters
}

/// What is the same in all modes.
struct Known {
    /// Values of parameters, by variable.
    parameters: Vec<f64>,
    /// Programs of what was evaluated so far.
    tapes: FxHashMap<ExprId, Rc<Tape>>,
}

impl Known {
    fn new(model: &Mdae) -> Self {
        let point = SamplePoint::new(model, 1);
        Known {
            parameters: model.variables.ids().map(|var| point.variable(var, 0)).collect(),
            tapes: FxHashMap::default(),
        }
    }

    fn tape(&mut self, model: &Mdae, expression: ExprId) -> Rc<Tape> {
        let make = || Rc::new(Tape::new(&model.pool, expression));
        self.tapes.entry(expression).or_insert_with(make).clone()
    }
}

fn share_in_part(
    model: &mut Mdae,
    known: &mut Known,
    modes: &mut Modes,
    part: &mut Part,
    parameters: &mut BTreeSet<Arc<str>>,
) {
    let mut seen: FxHashSet<Valuation> = FxHashSet::default();
    for truths in part.truths(BUDGET) {
        let Some(valuation) = truths.valuation(model, modes) else {
            continue;
        };
        let active = part.active(modes, &valuation);
        if !seen.insert(valuation.clone()) || is_regular(model, known, modes, &valuation, active.clone()) {
            continue;
        }
        let Some(repair) = repair(model, known, modes, &active) else {
            continue;
        };
        let saved = (model.equations.clone(), model.shares.clone());
        let count = part.equations.len();
        apply(model, part, &truths, &repair);
        let repaired = Modes::new(model);
        let regular = truths.valuation(model, &repaired).is_some_and(|valuation| {
            let active = part.active(&repaired, &valuation);
            is_regular(model, known, &repaired, &valuation, active)
        });
        if regular {
            if !repair.for_all_parameters {
                note_parameters(model, &active, parameters);
            }
            *modes = repaired;
            // Valuations are about the guards there are.
            seen.clear();
        } else {
            (model.equations, model.shares) = saved;
            part.equations.truncate(count);
        }
    }
}

fn is_regular(model: &Mdae, known: &Known, modes: &Modes, valuation: &Valuation, active: Vec<EquationId>) -> bool {
    analyze_equations(model, modes, valuation, active).is_ok_and(|structure| {
        check_rank(model, modes, &structure, Some(&Anywhere::new(model, known, 1, false))).is_empty()
    })
}

fn note_parameters(model: &Mdae, active: &[EquationId], found: &mut BTreeSet<Arc<str>>) {
    for &equation in active {
        for Derivative { var, .. } in model.pool.occurrences(model.equations[equation].residual) {
            if model.variables[var].role == Role::Parameter {
                found.insert(model.variables[var].name.clone());
            }
        }
    }
}

/// A point without any relation between its values; parameters have their own.
struct Anywhere<'a> {
    model: &'a Mdae,
    parameters: &'a [f64],
    other_parameters: bool,
    seed: u64,
    sizes: Option<&'a Sizes>,
}

/// The partial derivatives of an equation.
type Partials = Vec<(Derivative, f64)>;

/// How large derivatives of unknowns are where the terms of equations are comparable; one where nothing is known.
type Sizes = FxHashMap<Derivative, f64>;

impl<'a> Anywhere<'a> {
    fn new(model: &'a Mdae, known: &'a Known, seed: u32, other_parameters: bool) -> Self {
        Anywhere {
            model,
            parameters: &known.parameters,
            other_parameters,
            seed: u64::from(seed),
            sizes: None,
        }
    }

    /// The same where unknowns have sizes.
    fn with_sizes(self, sizes: &'a Sizes) -> Self {
        Anywhere {
            sizes: Some(sizes),
            ..self
        }
    }

    fn size(&self, var: VarId, order: u16) -> f64 {
        self.sizes
            .and_then(|sizes| sizes.get(&Derivative { var, order }))
            .copied()
            .unwrap_or(1.0)
    }

    /// A number in (0, 1).
    fn noise(&self, kind: u64, number: u32, order: u16) -> f64 {
        let mut hash = kind << 56 ^ u64::from(number) << 24 ^ u64::from(order) << 16 ^ self.seed;
        for factor in [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb_u64] {
            hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
            hash = (hash ^ (hash >> 29)).wrapping_mul(factor);
        }
        (hash >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Environment for Anywhere<'_> {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        let variable = &self.model.variables[var];
        let noise = self.noise(1, var.0, order);
        match (variable.role, variable.ty) {
            (Role::Parameter, Type::Real) if self.other_parameters => {
                self.parameters[var.index()] * (1.0 + 0.3 * noise)
            }
            (Role::Parameter, _) => self.parameters[var.index()],
            (_, Type::Boolean) => f64::from(u8::from(noise > 0.5)),
            (_, Type::Integer) => (1.0 + 4.0 * noise).floor(),
            _ => self.size(var, order) * (0.3 + 1.4 * noise),
        }
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        self.variable(var, order) + 0.5 * self.noise(2, var.0, order) * self.size(var, order)
    }
    fn time(&self) -> f64 {
        self.noise(3, 0, 0)
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.noise(4, condition.0, 0) > 0.5
    }
}

/// How constraints are looked at, one after the other.
#[derive(Copy, Clone)]
enum Looking {
    /// In their order, as they are written.
    AsWritten,
    /// With the derivatives of those before: a brake on a shaft that gears and a clutch hold already.
    Differentiated,
    /// The same from the last one to the first.
    Backwards,
}

fn repair(model: &mut Mdae, known: &mut Known, modes: &Modes, active: &[EquationId]) -> Option<Repair> {
    if active.len() > MOST_EQUATIONS {
        return None;
    }
    let algebraic = algebraic_unknowns(model, modes, active);
    let ways = [Looking::AsWritten, Looking::Differentiated, Looking::Backwards];
    ways.into_iter()
        .find_map(|looking| repair_by(model, known, modes, active, &algebraic, looking))
}

fn repair_by(
    model: &mut Mdae,
    known: &mut Known,
    modes: &Modes,
    active: &[EquationId],
    algebraic: &[VarId],
    looking: Looking,
) -> Option<Repair> {
    let ordered = Ordered::new(model, known, active, looking);
    let follow = ordered.following(model, known, false)?;
    let rest: Vec<EquationId> = active.iter().copied().filter(|id| !follow.contains(id)).collect();
    let counted = counted(model, modes, &rest, algebraic);
    let measured = |other_parameters: bool| {
        let mut found = directions(model, known, &rest, algebraic, other_parameters)?;
        for direction in &mut found {
            direction.retain(|(var, _)| counted.contains(var));
        }
        Some(found)
    };
    let directions = measured(false)?;
    let determined = directions.len() == follow.len() && directions.iter().all(|direction| !direction.is_empty());
    if !determined {
        return None;
    }
    let for_all_parameters = ordered
        .following(model, known, true)
        .is_some_and(|other| other == follow)
        && measured(true).is_some_and(|other| same(&directions, &other));
    Some(Repair {
        follow,
        directions,
        for_all_parameters,
    })
}

fn same(a: &[Vec<(VarId, f64)>], b: &[Vec<(VarId, f64)>]) -> bool {
    let close = |(x, y): (&(VarId, f64), &(VarId, f64))| x.0 == y.0 && (x.1 - y.1).abs() <= 1e-8 * x.1.abs();
    let alike = |x: &[(VarId, f64)], y: &[(VarId, f64)]| x.len() == y.len() && x.iter().zip(y).all(close);
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| alike(x, y))
}

/// Equations of a mode, unguarded ones first, with derivatives after them where these are looked at too.
struct Ordered {
    /// What is left of an equation, and the equation if it is no derivative.
    functions: Vec<(ExprId, Option<EquationId>)>,
    tapes: Vec<Rc<Tape>>,
}

impl Ordered {
    fn new(model: &mut Mdae, known: &mut Known, active: &[EquationId], looking: Looking) -> Self {
        let mut ordered = active.to_vec();
        if matches!(looking, Looking::Backwards) {
            ordered.reverse();
        }
        ordered.sort_by_key(|&id| !model.is_unguarded(id));
        let mut functions = Vec::new();
        for id in ordered {
            let residual = model.equations[id].residual;
            functions.push((residual, Some(id)));
            if !matches!(looking, Looking::AsWritten) {
                functions.push((model.pool.total_derivative(residual), None));
            }
        }
        let tapes = functions
            .iter()
            .map(|&(function, _)| known.tape(model, function))
            .collect();
        let mut ordered = Ordered { functions, tapes };
        ordered.leave_out_independent(model);
        ordered
    }

    /// Leaves out functions of something that no other one depends on: it cannot cancel.
    fn leave_out_independent(&mut self, model: &Mdae) {
        let varies = |leaf: &&Node| match leaf {
            Node::Var { var, .. } | Node::Pre { var, .. } => model.variables[*var].role != Role::Parameter,
            _ => true,
        };
        let tapes = self.tapes.iter();
        let leaves: Vec<Vec<Node>> = tapes
            .map(|tape| tape.leaves().iter().filter(varies).copied().collect())
            .collect();
        let mut users: FxHashMap<Node, Vec<usize>> = FxHashMap::default();
        for (at, leaves) in leaves.iter().enumerate() {
            for &leaf in leaves {
                users.entry(leaf).or_default().push(at);
            }
        }
        let mut counts: FxHashMap<Node, usize> = FxHashMap::default();
        counts.extend(leaves.iter().flatten().map(|leaf| (*leaf, users[leaf].len())));
        let mut kept = vec![true; leaves.len()];
        let mut open: Vec<usize> = (0..leaves.len()).collect();
        while let Some(at) = open.pop() {
            if !kept[at] || !leaves[at].iter().any(|leaf| counts[leaf] == 1) {
                continue;
            }
            kept[at] = false;
            for leaf in &leaves[at] {
                counts.entry(*leaf).and_modify(|count| *count -= 1);
                open.extend(users[leaf].iter().copied().filter(|&user| kept[user]));
            }
        }
        let mut keep = kept.iter();
        self.functions.retain(|_| keep.next().copied().unwrap_or(true));
        let mut keep = kept.iter();
        self.tapes.retain(|_| keep.next().copied().unwrap_or(true));
    }

    /// Guarded equations that are linear combinations of those before them. `None` if there are none, or if an equation
    /// cannot be evaluated.
    fn following(&self, model: &Mdae, known: &Known, other_parameters: bool) -> Option<Vec<EquationId>> {
        let residuals: Vec<ExprId> = self.functions.iter().map(|&(residual, _)| residual).collect();
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); residuals.len()];
        let sizes = sizes(model, known, &residuals, other_parameters)?;
        for seed in 0..residuals.len() as u32 + 8 {
            let point = Anywhere::new(model, known, seed + 1, other_parameters).with_sizes(&sizes);
            for (column, tape) in columns.iter_mut().zip(&self.tapes) {
                let leaves: Vec<f64> = tape.leaves().iter().map(|&leaf| leaf_value(&point, leaf)).collect();
                column.push(tape.value(&model.functions, &leaves));
            }
        }
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut follow = Vec::new();
        for (&(_, equation), column) in self.functions.iter().zip(columns) {
            let size = norm(&column);
            if !size.is_finite() {
                return None;
            }
            let mut rest = column;
            // Twice is enough (Kahan and Parlett).
            for _ in 0..2 {
                for direction in &basis {
                    let part: f64 = rest.iter().zip(direction).map(|(a, b)| a * b).sum();
                    rest.iter_mut().zip(direction).for_each(|(a, b)| *a -= part * b);
                }
            }
            let left = norm(&rest);
            if left > ZERO * size {
                rest.iter_mut().for_each(|value| *value /= left);
                basis.push(rest);
                continue;
            }
            match equation {
                Some(id) if model.is_unguarded(id) => return None,
                Some(id) => follow.push(id),
                None => {}
            }
        }
        follow.sort_unstable();
        (!follow.is_empty()).then_some(follow)
    }
}

/// Sizes at which the terms of equations are comparable, whatever the units: of what is linear, by its coefficients and by
/// the terms that have a size of their own. `None` if an equation cannot be evaluated.
fn sizes(model: &Mdae, known: &Known, residuals: &[ExprId], other_parameters: bool) -> Option<Sizes> {
    let points = [1, 2].map(|seed| Anywhere::new(model, known, seed, other_parameters));
    let mut reader = JacobianReader::new();
    let mut slopes: Vec<[Partials; 2]> = Vec::new();
    for &residual in residuals {
        let mut read = [Vec::new(), Vec::new()];
        for (point, partials) in points.iter().zip(&mut read) {
            reader.read(model, residual, point, partials).ok()?;
        }
        slopes.push(read);
    }
    let mut nonlinear: FxHashSet<Derivative> = FxHashSet::default();
    for [here, there] in &slopes {
        for (at, slope) in here {
            let other = there.binary_search_by_key(at, |&(known, _)| known);
            let same = other.is_ok_and(|k| (there[k].1 - slope).abs() <= SAME_SLOPE * slope.abs());
            if !same || !model.is_unknown(at.var) {
                nonlinear.insert(*at);
            }
        }
    }
    let mut numbers: FxHashMap<Derivative, usize> = FxHashMap::default();
    let mut entries = Vec::new();
    for (row, [here, _]) in slopes.iter().enumerate() {
        for &(at, slope) in here.iter().filter(|(at, _)| !nonlinear.contains(at)) {
            let next = 1 + numbers.len();
            entries.push((row, *numbers.entry(at).or_insert(next), slope));
        }
    }
    // What is left where all that is zero has a size of its own: it stands in the first column.
    let zero: Sizes = numbers.keys().map(|&at| (at, 0.0)).collect();
    let rest = Anywhere::new(model, known, 1, other_parameters).with_sizes(&zero);
    let rest = evaluate(&model.pool, &model.functions, residuals, &rest).ok()?;
    entries.extend(rest.into_iter().enumerate().map(|(row, rest)| (row, 0, rest)));
    let (_, by_column) = balance(residuals.len(), 1 + numbers.len(), &entries);
    let sizes = numbers
        .into_iter()
        .map(|(at, number)| (at, by_column[number] / by_column[0]));
    Some(sizes.filter(|(_, size)| size.is_normal()).collect())
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Unknowns that occur in a mode, but never differentiated.
fn algebraic_unknowns(model: &Mdae, modes: &Modes, active: &[EquationId]) -> Vec<VarId> {
    let mut highest: std::collections::BTreeMap<VarId, u16> = std::collections::BTreeMap::new();
    for equation in active {
        for &Derivative { var, order } in modes.signatures().row(equation.index()) {
            let known = highest.entry(var).or_insert(0);
            *known = (*known).max(order);
        }
    }
    let algebraic = highest
        .into_iter()
        .filter(|&(var, order)| order == 0 && model.is_unknown(var));
    algebraic.map(|(var, _)| var).collect()
}

/// The unknowns that count in the norm: of those that an equation ties to one another alone (the current of a diode and the
/// parameter of its characteristic) one, the first that users see.
fn counted(model: &Mdae, modes: &Modes, equations: &[EquationId], unknowns: &[VarId]) -> FxHashSet<VarId> {
    let mut class: Vec<usize> = (0..unknowns.len()).collect();
    for equation in equations {
        let [Derivative { var: a, .. }, Derivative { var: b, .. }] = modes.signatures().row(equation.index())[..]
        else {
            continue;
        };
        let (Ok(a), Ok(b)) = (unknowns.binary_search(&a), unknowns.binary_search(&b)) else {
            continue;
        };
        let (from, to) = (class[a], class[b]);
        class.iter_mut().filter(|one| **one == from).for_each(|one| *one = to);
    }
    let mut chosen: std::collections::BTreeMap<usize, VarId> = std::collections::BTreeMap::new();
    for (&var, &class) in unknowns.iter().zip(&class) {
        let known = chosen.entry(class).or_insert(var);
        if model.variables[*known].hidden && !model.variables[var].hidden {
            *known = var;
        }
    }
    chosen.into_values().collect()
}

/// A basis of the directions that change no equation, each with its largest entries first found scaled to one.
fn directions(
    model: &Mdae,
    known: &Known,
    equations: &[EquationId],
    unknowns: &[VarId],
    other_parameters: bool,
) -> Option<Vec<Vec<(VarId, f64)>>> {
    let rows = equations.len() * POINTS as usize;
    let mut entries: Vec<(usize, usize, f64)> = Vec::new();
    let mut reader = JacobianReader::new();
    let mut partials = Vec::new();
    for seed in 0..POINTS {
        let point = Anywhere::new(model, known, seed + 1, other_parameters);
        for (at, &equation) in equations.iter().enumerate() {
            let residual = model.equations[equation].residual;
            reader.read(model, residual, &point, &mut partials).ok()?;
            let row = seed as usize * equations.len() + at;
            let entry = |&(Derivative { var, order }, value): &(Derivative, f64)| {
                let unknown = unknowns.binary_search(&var).ok().filter(|_| order == 0)?;
                Some((row, unknown, value))
            };
            entries.extend(partials.iter().filter_map(entry));
        }
    }
    if entries.iter().any(|entry| !entry.2.is_finite()) {
        return None;
    }
    let (by_row, by_unknown) = balance(rows, unknowns.len(), &entries);
    // Transposed: its null space on the left is what is looked for.
    let mut transposed = DenseMatrix::zeros(unknowns.len(), rows);
    for (row, unknown, value) in entries {
        transposed[(unknown, row)] = value * by_row[row] * by_unknown[unknown];
    }
    let qr = PivotedQr::new(&transposed, Some(ZERO));
    let (count, free) = (unknowns.len(), unknowns.len() - qr.rank());
    // Rows of Qᵀ beyond the rank span the null space.
    let mut basis = vec![vec![0.0; count]; free];
    for unknown in 0..count {
        let mut unit = vec![0.0; count];
        unit[unknown] = 1.0;
        qr.apply_q_transposed(&mut unit);
        for (row, vector) in basis.iter_mut().enumerate() {
            vector[unknown] = unit[qr.rank() + row];
        }
    }
    reduce(&mut basis);
    for vector in &mut basis {
        in_units(vector, &by_unknown);
    }
    let named = |vector: Vec<f64>| -> Vec<(VarId, f64)> {
        let entries = unknowns.iter().copied().zip(vector);
        entries.filter(|&(_, value)| value != 0.0).collect()
    };
    Some(basis.into_iter().map(named).collect())
}

/// Reduced echelon form: small numbers where there are any. The span stays the same.
fn reduce(basis: &mut [Vec<f64>]) {
    let columns = basis.first().map_or(0, Vec::len);
    let mut done = 0;
    for column in 0..columns {
        let largest = (done..basis.len()).max_by(|&a, &b| basis[a][column].abs().total_cmp(&basis[b][column].abs()));
        let Some(pivot) = largest.filter(|&row| basis[row][column].abs() > 1e-7) else {
            continue;
        };
        basis.swap(done, pivot);
        let scale = basis[done][column];
        basis[done].iter_mut().for_each(|value| *value /= scale);
        let chosen = basis[done].clone();
        for (row, vector) in basis.iter_mut().enumerate() {
            let factor = vector[column];
            if row != done && factor != 0.0 {
                vector.iter_mut().zip(&chosen).for_each(|(a, b)| *a -= factor * b);
            }
        }
        done += 1;
    }
    for value in basis.iter_mut().flatten() {
        if value.abs() <= ZERO {
            *value = 0.0;
        }
    }
}

/// A direction in the units of the unknowns, its first entry one, and whole numbers where they are meant.
fn in_units(direction: &mut [f64], by_unknown: &[f64]) {
    direction
        .iter_mut()
        .zip(by_unknown)
        .for_each(|(value, unit)| *value *= unit);
    let first = direction.iter().copied().find(|value| *value != 0.0).unwrap_or(1.0);
    for value in direction {
        *value /= first;
        let nearest = value.round();
        if (*value - nearest).abs() <= ZERO * value.abs() {
            *value = nearest;
        }
    }
}

fn apply(model: &mut Mdae, part: &mut Part, truths: &Truths, repair: &Repair) {
    let here = part.formula(model, truths);
    let elsewhere = model.pool.not(here);
    for &id in &repair.follow {
        let own = model.equations[id].guard;
        model.equations[id].guard = model.pool.and(own, elsewhere);
    }
    for (direction, &follows) in repair.directions.iter().zip(&repair.follow) {
        let mut residual = model.pool.real(0.0);
        for &(var, factor) in direction {
            let var = model.pool.var(var);
            let (size, var) = (model.pool.real(factor.abs()), var);
            let term = model.pool.mul(size, var);
            residual = if factor < 0.0 {
                model.pool.sub(residual, term)
            } else {
                model.pool.add(residual, term)
            };
        }
        let known = model
            .shares
            .iter()
            .position(|share| model.equations[share.equation].residual == residual);
        match known {
            Some(at) => {
                let equation = model.shares[at].equation;
                let guard = model.equations[equation].guard;
                model.equations[equation].guard = model.pool.or(guard, here);
            }
            None => {
                let origin = model.equations[follows].origin;
                let equation = model.equations.push(Equation {
                    guard: here,
                    residual,
                    simplified: None,
                    origin,
                });
                part.equations.push(equation);
                model.shares.push(Share {
                    equation,
                    follows,
                    unknowns: direction.iter().map(|&(var, _)| var).collect(),
                });
            }
        }
    }
}
