//! Whether an equation holds wherever some others do: up to a factor, or at points sampled on their variety.

use rustc_hash::FxHashMap;
use saltus_mdae::function::Functions;
use saltus_mdae::tape::Tape;
use saltus_mdae::{Comparison, ConditionId, ExprId, ExprPool, Node, VarId};
use saltus_numerics::linalg::{DenseMatrix, PivotedQr, RowSpace};

use super::knowledge::{Known, KnownSource};
use super::polynomial::{Monomial, Polynomial};

/// Points that must agree before an equation counts as entailed.
const POINTS: usize = 5;
/// Starting points tried to find them.
const STARTS: usize = 30;
/// Gauss–Newton iterations from one starting point.
const ITERATIONS: usize = 60;
/// A residual this small against its terms is zero at a sampled point.
const ZERO: f64 = 1e-7;
/// What rounding leaves of a step from typical magnitudes to a point on the variety.
const ROUNDING: f64 = 1e-14;
/// A point is on the variety when all residuals are this small against their terms.
const ON_VARIETY: f64 = 1e-12;
/// Larger systems are not sampled: it costs more than the answer is worth.
const EQUATION_LIMIT: usize = 60;
/// Points are sampled of systems up to this size.
const POINTS_LIMIT: usize = 200;
/// Operations that one question may take: more than a second would be needed for a few of such questions, and the
/// answer "does not follow" is safe.
const WORK_LIMIT: u64 = 20_000_000;
/// Elimination leaves at most this part of a coefficient that is zero, by rounding,
const NOTHING_LEFT: f64 = 1e-13;
/// and at least this of one that is not: in between rounding may have grown.
const SOMETHING_LEFT: f64 = 1e-9;
/// A target evaluated farther out than this says little: rounding dominates. (What the target does not hold may be far:
/// a pressure of 1e5 beside a level of 1.)
const FAR: f64 = 1e3;

/// Numbers that are fixed for the question: parameters above all.
pub trait FixedValues {
    /// The value of a variable that is fixed; unknowns and what is not known have none.
    fn value(&self, var: VarId) -> Option<f64>;
    /// The value just before the change, of a variable that is fixed.
    fn left_value(&self, var: VarId) -> Option<f64> {
        self.value(var)
    }
    /// The truth value of a condition inside a residual.
    fn condition(&self, condition: ConditionId) -> bool;
    /// The function of a condition that is a relation, and whether that has to be greater than zero or not less.
    fn relation(&self, condition: ConditionId) -> Option<(ExprId, Comparison)> {
        let _ = condition;
        None
    }
    /// A typical magnitude of a variable.
    fn nominal(&self, var: VarId) -> f64 {
        let _ = var;
        1.0
    }
    /// How large a derivative of a variable is, at least: errors of its values are in proportion to that.
    fn size(&self, var: VarId, order: u16) -> f64 {
        let _ = order;
        self.nominal(var)
    }
    /// How large a left limit is taken to be, at least, when a residual is compared with its terms: what is small itself may
    /// have errors of what it was computed from.
    fn floor(&self, var: VarId, order: u16) -> f64 {
        self.size(var, order)
    }
    /// How far a left limit may be off.
    fn error(&self, var: VarId, order: u16) -> f64 {
        let _ = (var, order);
        0.0
    }
}

/// How an equation follows from known ones.
#[derive(Clone, PartialEq, Debug)]
pub enum Entailment {
    /// It is trivially true.
    Trivial,
    /// It is a known equation up to a factor.
    Proportional(KnownSource),
    /// It is a sum of multiples of known equations.
    Combined(Vec<KnownSource>),
    /// It holds at every sampled point where the known equations hold.
    Sampled(Vec<KnownSource>),
}

/// Whether `target` is zero wherever the equations of the layers (nearest first) are. Something in a `jumping` target has
/// just got another value: its difference from the one before may be small against typical magnitudes (a capacitance of
/// some nF).
pub(super) fn entailed(
    pool: &ExprPool,
    functions: &Functions,
    fixed: &dyn FixedValues,
    target: ExprId,
    layers: &[Vec<Known>],
    jumping: bool,
) -> Option<Entailment> {
    let known = |node: Node| fixed_leaf(fixed, node);
    let polynomial = Polynomial::of(pool, target, &known);
    if polynomial.is_zero() {
        return Some(Entailment::Trivial);
    }
    let mut forms: Vec<Vec<Polynomial>> = Vec::new();
    for layer in layers {
        let mut of_layer = Vec::new();
        for given in layer {
            let form = Polynomial::of(pool, given.residual, &known);
            if given.residual == target || form.is_multiple_of(&polynomial) {
                return Some(Entailment::Proportional(given.source));
            }
            of_layer.push(form);
        }
        forms.push(of_layer);
    }
    match combined(pool, &polynomial, &forms) {
        Combined::Of(used) => return Some(Entailment::Combined(sources(&layers[..used]))),
        Combined::Not => return None,
        Combined::Unclear => {}
    }
    let mut sampler = Sampler::new(pool, functions, fixed, target);
    sampler.jumping = jumping;
    let mut count = 0;
    for (at, layer) in layers.iter().enumerate() {
        count += layer.len();
        if count > EQUATION_LIMIT {
            break;
        }
        layer.iter().for_each(|given| sampler.add(pool, given.residual));
        if sampler.target_vanishes() {
            return Some(Entailment::Sampled(sources(&layers[..=at])));
        }
    }
    None
}

fn sources(layers: &[Vec<Known>]) -> Vec<KnownSource> {
    layers.iter().flatten().map(|given| given.source).collect()
}

/// Whether an equation is a sum of multiples of others.
enum Combined {
    /// Of those of so many layers.
    Of(usize),
    /// It does not follow from them in any other way either: all of them are linear.
    Not,
    /// Something is not linear, or rounding decides.
    Unclear,
}

/// Looks for the equation among the sums of multiples of those of the layers, their products and functions as unknowns of their
/// own. Magnitudes do not matter for it: where currents of 0.1 A and of 1 nA meet in one equation, sampled points may have them
/// all near zero in parts of the larger one.
fn combined(pool: &ExprPool, target: &Polynomial, layers: &[Vec<Polynomial>]) -> Combined {
    let mut columns: FxHashMap<Monomial, usize> = FxHashMap::default();
    let mut units: Vec<f64> = Vec::new();
    let mut linear = true;
    for form in layers.iter().flatten().chain([target]) {
        for (monomial, coefficient) in form.nonzero() {
            if monomial.is_empty() {
                continue;
            }
            linear &= is_unknown(pool, monomial);
            let at = *columns.entry(monomial.clone()).or_insert(units.len());
            if at == units.len() {
                units.push(0.0);
            }
            units[at] = units[at].max(coefficient.abs());
        }
    }
    let row = |form: &Polynomial| {
        let mut row = vec![0.0; columns.len() + 1];
        for (monomial, coefficient) in form.nonzero() {
            row[columns.get(monomial).copied().unwrap_or(columns.len())] = coefficient;
        }
        row
    };
    let mut space = RowSpace::new(units);
    for (at, layer) in layers.iter().enumerate() {
        for form in layer {
            let remainder = space.remainder(row(form));
            match Left::of(remainder.of_unknowns()) {
                Left::Something => space.add(remainder, NOTHING_LEFT),
                Left::Nothing => match Left::of(remainder.of_right_hand_sides()) {
                    Left::Nothing => {}
                    // They contradict each other: there is no point at which they hold.
                    Left::Something => return Combined::Not,
                    Left::Unclear => return Combined::Unclear,
                },
                Left::Unclear => return Combined::Unclear,
            }
        }
        let remainder = space.remainder(row(target));
        let left = [remainder.of_unknowns(), remainder.of_right_hand_sides()].map(Left::of);
        if left == [Left::Nothing; 2] {
            return Combined::Of(at + 1);
        }
        linear &= !left.contains(&Left::Unclear);
    }
    if linear { Combined::Not } else { Combined::Unclear }
}

/// Whether a product is a single unknown, or time.
fn is_unknown(pool: &ExprPool, monomial: &Monomial) -> bool {
    let [(atom, 1)] = monomial[..] else { return false };
    matches!(pool.node(atom), Node::Var { .. } | Node::Pre { .. } | Node::Time)
}

/// What elimination has left of a number.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Left {
    Nothing,
    Something,
    Unclear,
}

impl Left {
    /// By the part that is left.
    fn of(part: f64) -> Self {
        match part {
            part if part <= NOTHING_LEFT => Left::Nothing,
            part if part > SOMETHING_LEFT => Left::Something,
            _ => Left::Unclear,
        }
    }
}

/// Whether an expression is zero wherever it is defined.
pub(crate) fn vanishes(pool: &ExprPool, functions: &Functions, fixed: &dyn FixedValues, target: ExprId) -> bool {
    let known = |node: Node| fixed_leaf(fixed, node);
    Polynomial::of(pool, target, &known).is_zero() || {
        let mut sampler = Sampler::new(pool, functions, fixed, target);
        sampler.undefined_counts = false;
        sampler.target_vanishes()
    }
}

/// Points where all of some equations hold, each as values of the variables (with their derivative order), left limits
/// and time in them; `None` if they are too many, or no points are found.
pub fn sample_points(
    pool: &mut ExprPool,
    functions: &Functions,
    fixed: &dyn FixedValues,
    equations: &[ExprId],
    count: usize,
) -> Option<Vec<FxHashMap<Node, f64>>> {
    if equations.is_empty() || equations.len() > POINTS_LIMIT {
        return None;
    }
    let nothing = pool.real(0.0);
    let mut sampler = Sampler::new(pool, functions, fixed, nothing);
    equations.iter().for_each(|&equation| sampler.add(pool, equation));
    let points = sampler.points(count)?;
    let named = |point: Vec<f64>| {
        let named = sampler.number.iter().map(|(&node, &symbol)| (node, point[symbol]));
        named.collect()
    };
    Some(points.into_iter().map(named).collect())
}

fn fixed_leaf(fixed: &dyn FixedValues, node: Node) -> Option<f64> {
    match node {
        Node::Var { var, order: 0 } => fixed.value(var),
        Node::Pre { var, order: 0 } => fixed.left_value(var),
        Node::Condition(condition) => Some(f64::from(u8::from(fixed.condition(condition)))),
        Node::Initial | Node::Terminal => Some(0.0),
        _ => None,
    }
}

/// Samples points on a variety.
struct Sampler<'a> {
    functions: &'a Functions,
    fixed: &'a dyn FixedValues,
    target: Bound,
    given: Vec<Bound>,
    /// Free symbols with the magnitudes that are known; zero where none is.
    known: Vec<f64>,
    /// The same with the others as the equations so far suggest.
    magnitudes: Vec<f64>,
    /// What they are where nothing says.
    nominals: Vec<f64>,
    number: FxHashMap<Node, usize>,
    /// Operations left.
    work: u64,
    /// Whether something in the target has just jumped.
    jumping: bool,
    /// Whether a target that is undefined at a point does not vanish.
    undefined_counts: bool,
}

/// A residual with its leaves bound to fixed values or free symbols.
struct Bound {
    tape: Tape,
    leaves: Vec<Leaf>,
    floors: Vec<f64>,
    /// Operations of the tape that depend on free symbols.
    dependents: Vec<bool>,
}

enum Leaf {
    Fixed(f64),
    Free(usize),
}

impl Bound {
    fn values(&self, point: &[f64]) -> Vec<f64> {
        let value = |leaf: &Leaf| match leaf {
            Leaf::Fixed(value) => *value,
            Leaf::Free(symbol) => point[*symbol],
        };
        self.leaves.iter().map(value).collect()
    }

    /// For each symbol without a magnitude the one that makes its term as large as the largest other, if that is smaller.
    fn suggest_magnitudes(&self, functions: &Functions, magnitudes: &[f64], found: &mut [f64]) {
        let values = self.values(magnitudes);
        let (value, slopes) = self.tape.gradient_by(functions, &values, Some(&self.dependents));
        let terms = slopes.iter().zip(&values).map(|(slope, value)| (slope * value).abs());
        let largest = terms.filter(|term| term.is_finite()).fold(value.abs(), f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return;
        }
        for (leaf, slope) in self.leaves.iter().zip(&slopes) {
            if let Leaf::Free(symbol) = *leaf {
                let suggested = largest / slope.abs();
                if suggested > 0.0 && suggested < found[symbol] {
                    found[symbol] = suggested;
                }
            }
        }
    }
}

impl<'a> Sampler<'a> {
    fn new(pool: &ExprPool, functions: &'a Functions, fixed: &'a dyn FixedValues, target: ExprId) -> Self {
        let mut sampler = Sampler {
            functions,
            fixed,
            target: Bound {
                tape: Tape::new(pool, target),
                leaves: Vec::new(),
                floors: Vec::new(),
                dependents: Vec::new(),
            },
            given: Vec::new(),
            known: Vec::new(),
            magnitudes: Vec::new(),
            nominals: Vec::new(),
            number: FxHashMap::default(),
            work: WORK_LIMIT,
            jumping: false,
            undefined_counts: true,
        };
        sampler.target = sampler.bind(pool, target);
        sampler
    }

    fn add(&mut self, pool: &ExprPool, residual: ExprId) {
        let bound = self.bind(pool, residual);
        self.given.push(bound);
    }

    fn bind(&mut self, pool: &ExprPool, residual: ExprId) -> Bound {
        let tape = Tape::new(pool, residual);
        let (mut leaves, mut floors) = (Vec::new(), Vec::new());
        for &node in tape.leaves() {
            match fixed_leaf(self.fixed, node) {
                Some(value) => {
                    leaves.push(Leaf::Fixed(value));
                    floors.push(0.0);
                }
                None => {
                    let (magnitude, nominal) = match node {
                        Node::Var { var, order } | Node::Pre { var, order } => {
                            (self.fixed.size(var, order), self.fixed.nominal(var))
                        }
                        _ => (1.0, 1.0),
                    };
                    let next = self.known.len();
                    let symbol = *self.number.entry(node).or_insert(next);
                    if symbol == next {
                        self.known.push(if magnitude.is_finite() { magnitude } else { 0.0 });
                        self.nominals.push(nominal);
                    }
                    leaves.push(Leaf::Free(symbol));
                    floors.push(magnitude);
                }
            }
        }
        let dependents = tape.dependents(|leaf| matches!(leaves[leaf], Leaf::Free(_)));
        Bound {
            tape,
            leaves,
            floors,
            dependents,
        }
    }

    /// Finds the magnitudes that are not known: a variable is as large as makes its term in an equation as large as the
    /// others; where equations disagree, the smaller. What fewer equations suggested does not count any more.
    fn complete_magnitudes(&mut self) {
        self.magnitudes.clone_from(&self.known);
        while self.magnitudes.contains(&0.0) {
            let mut found = vec![f64::INFINITY; self.magnitudes.len()];
            for bound in self.given.iter().chain([&self.target]) {
                bound.suggest_magnitudes(self.functions, &self.magnitudes, &mut found);
            }
            let mut any = false;
            for (magnitude, &found) in self.magnitudes.iter_mut().zip(&found) {
                if *magnitude == 0.0 && found.is_finite() {
                    (*magnitude, any) = (found, true);
                }
            }
            if !any {
                let missing = self.magnitudes.iter_mut().zip(&self.nominals);
                missing
                    .filter(|(m, _)| **m == 0.0)
                    .for_each(|(m, nominal)| *m = *nominal);
            }
        }
        let magnitudes = &self.magnitudes;
        for bound in self.given.iter_mut().chain([&mut self.target]) {
            for (floor, leaf) in bound.floors.iter_mut().zip(&bound.leaves) {
                if let Leaf::Free(symbol) = *leaf {
                    *floor = magnitudes[symbol];
                }
            }
        }
    }

    /// A point on the variety from a random start, if one is found.
    fn point(&mut self, random: &mut Random, work: &mut Option<u64>) -> Option<Vec<f64>> {
        let start: Vec<f64> = self.magnitudes.iter().map(|m| 1.5 * m * random.normal()).collect();
        let work = *work.get_or_insert_with(|| self.work_per_iteration(&start));
        let (projected, iterations) = self.project(start, (self.work / work) as usize);
        self.work -= work * iterations as u64;
        projected
    }

    /// A number of points on the variety.
    fn points(&mut self, count: usize) -> Option<Vec<Vec<f64>>> {
        self.complete_magnitudes();
        let (mut random, mut work) = (Random(0x9e37_79b9_7f4a_7c15), None);
        let mut found = Vec::new();
        for _ in 0..STARTS {
            found.extend(self.point(&mut random, &mut work));
            if found.len() == count {
                return Some(found);
            }
        }
        None
    }

    /// Whether enough points are found and the target is zero at all of them.
    fn target_vanishes(&mut self) -> bool {
        self.complete_magnitudes();
        let (mut random, mut work) = (Random(0x9e37_79b9_7f4a_7c15), None);
        let mut agreed = 0;
        for _ in 0..STARTS {
            let Some(point) = self.point(&mut random, &mut work) else {
                continue;
            };
            let leaves = self.target.values(&point);
            let (value, scale) = self
                .target
                .tape
                .value_and_scale(self.functions, &leaves, &self.target.floors);
            if value.is_nan() && !self.undefined_counts {
                continue;
            }
            let zero = if self.jumping {
                ZERO * self.own_scale(&leaves) + ROUNDING * scale
            } else {
                ZERO * scale
            };
            // NaN does not count as zero.
            if value.is_nan() || value.abs() > zero {
                return false;
            }
            agreed += 1;
            if agreed == POINTS {
                return true;
            }
        }
        false
    }

    /// The size of the target's terms, whatever the variables are like elsewhere.
    fn own_scale(&self, leaves: &[f64]) -> f64 {
        let floors = vec![0.0; leaves.len()];
        self.target.tape.value_and_scale(self.functions, leaves, &floors).1
    }

    /// The operations of one Gauss–Newton iteration.
    fn work_per_iteration(&self, point: &[f64]) -> u64 {
        let evaluation = self.given.iter().map(|given| {
            let leaves = given.values(point);
            given.tape.gradient_work(self.functions, &leaves, &given.dependents)
        });
        let (rows, columns) = (self.given.len() as u64, self.magnitudes.len() as u64);
        1 + evaluation.sum::<u64>() + rows * rows.min(columns) * columns
    }

    /// A point on the variety near another one, with the number of iterations that were taken.
    fn project(&self, mut point: Vec<f64>, iterations: usize) -> (Option<Vec<f64>>, usize) {
        let iterations = iterations.min(ITERATIONS);
        for taken in 0..iterations {
            match self.step(&mut point) {
                Step::Taken => {}
                Step::Arrived => {
                    if self.jumping {
                        // Small differences are asked for: to rounding.
                        self.correct(&mut point);
                    }
                    let near = self.target.leaves.iter().all(|leaf| match *leaf {
                        Leaf::Free(symbol) => point[symbol].abs() <= FAR * self.magnitudes[symbol],
                        Leaf::Fixed(_) => true,
                    });
                    return (near.then_some(point), taken + 1);
                }
                Step::Failed => return (None, taken + 1),
            }
        }
        (None, iterations)
    }

    /// A step from a point that is on the variety already.
    fn correct(&self, point: &mut [f64]) {
        self.step_within(point, 0.0);
    }

    fn step(&self, point: &mut [f64]) -> Step {
        self.step_within(point, ON_VARIETY)
    }

    /// One Gauss–Newton step of minimum norm, in units of the magnitudes, unless all residuals are small.
    fn step_within(&self, point: &mut [f64], small: f64) -> Step {
        let (rows, columns) = (self.given.len(), self.magnitudes.len());
        let mut jacobian: DenseMatrix = DenseMatrix::zeros(rows, columns);
        let mut residual = vec![0.0; rows];
        let mut done = true;
        for (row, given) in self.given.iter().enumerate() {
            let leaves = given.values(point);
            let (value, scale) = given.tape.value_and_scale(self.functions, &leaves, &given.floors);
            if !value.is_finite() || !scale.is_finite() {
                return Step::Failed;
            }
            let scale = if scale > 0.0 { scale } else { 1.0 };
            done &= value.abs() <= small * scale;
            residual[row] = value / scale;
            let (_, gradient) = given.tape.gradient_by(self.functions, &leaves, Some(&given.dependents));
            for (leaf, slope) in given.leaves.iter().zip(gradient) {
                if let Leaf::Free(symbol) = leaf {
                    jacobian[(row, *symbol)] += slope * self.magnitudes[*symbol] / scale;
                }
            }
        }
        if done {
            return Step::Arrived;
        }
        if jacobian.values().iter().any(|slope| !slope.is_finite()) {
            return Step::Failed;
        }
        let step = PivotedQr::new(&jacobian, Some(1e-11)).minimum_norm_solution(&residual);
        for ((x, m), s) in point.iter_mut().zip(&self.magnitudes).zip(&step) {
            *x -= m * s;
        }
        Step::Taken
    }
}

/// What a step led to.
enum Step {
    Taken,
    /// The point was on the variety already.
    Arrived,
    /// Residuals or slopes are not finite.
    Failed,
}

/// A small deterministic generator (splitmix64): equal questions get equal answers on every machine.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Nearly normal: a sum of uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
