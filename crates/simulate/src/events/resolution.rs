//! How closely conditions have to be looked at within a step.
//!
//! The steps of an integrator follow the states. What a condition reads may move faster: `sin(ω*time)` beside slow states
//! turns many times within one step, `exp(-((x - x0)/w)^2)` of a slow state x has a peak that is narrower than it. Samples
//! of such a function can look smooth by chance. Its *argument* says: it is linear in time, or as smooth as the states
//! are; so its course over a step is known from few samples, and with it how many turns, poles or peaks lie between them.
//!
//! [`Watching`] collects, for one plan of a mode, all arguments of such functions in the watched conditions and in the
//! equations that lead from states to them. Arguments of inner functions are among them, so that outer ones are reported too:
//! resolution grows from inside out. Functions written as algorithms are followed: what their operations are applied to
//! are arguments as well, as far as the same branches lead to them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_codegen::{KernelCache, Program, ProgramBuilder};
use saltus_mdae::function::{Body, Functions, Operand, Operation, Step};
use saltus_mdae::table::Table;
use saltus_mdae::{BinaryFunction, Derivative, ExprId, ExprPool, FunctionId, Mdae, Node, UnaryFunction};
use saltus_numerics::roots::{Course, Cut};

use crate::kernel::slot_of;
use crate::memory::Memory;

/// The part of a turn, in radians, that six samples show.
const TURN: f64 = 2.5;
/// Of a tangent, whose poles are half a turn apart.
const TANGENT: f64 = 1.0;
/// The part of a step of a staircase.
const STAIR: f64 = 0.5;
/// What bends this close to the end of a piece, in parts of it, bends at the end.
const AT_END: f64 = 1e-9;
/// What the measure of an argument may change between neighbouring samples, and beyond the outermost of them.
const BETWEEN_SAMPLES: f64 = 2.0;
const BEYOND_SAMPLES: f64 = 0.5;
/// Exponents beyond which an exponential, or its reciprocal, is nothing whatever it is multiplied by.
const NOTHING: f64 = 80.0;
/// The logarithm of a power that is nothing beside the largest one.
const LEAST_POWER: f64 = -20.0;
/// Arguments beyond which a hyperbolic tangent is constant.
const SATURATED: f64 = 8.0;
/// The part of its size by which an argument is known.
const ROUNDING: f64 = 1e-13;
/// What errors of samples make of the range of the polynomial through them, at most about.
const OF_ERROR: f64 = 16.0;
/// Powers up to this one are followed as polynomials.
const LOW_POWER: f64 = 6.0;

/// A function whose samples may not show its course although those of its argument do.
#[derive(Clone, Debug)]
enum Outer {
    /// It repeats: so much of the argument is resolved by samples.
    Wave(f64),
    /// It jumps at integers.
    Staircase,
    /// It grows with every unit of the argument by a factor.
    Exponential,
    /// It has a pole where the argument is zero.
    Pole,
    /// A power of the argument.
    Power(f64),
    /// It goes from one constant to another, exponentially.
    Saturation,
    /// It goes from one constant to another, as an angle does.
    Arc,
    /// It bends or jumps where the argument is zero.
    Bend,
    /// It consists of other pieces between other points.
    Table(Arc<Table>, usize),
}

/// How an argument is made of expressions.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
enum Inner {
    Plain(ExprId),
    Difference(ExprId, ExprId),
    Ratio(ExprId, ExprId),
}

impl Inner {
    fn expressions(self) -> impl Iterator<Item = ExprId> {
        let (first, second) = match self {
            Inner::Plain(a) => (a, None),
            Inner::Difference(a, b) | Inner::Ratio(a, b) => (a, Some(b)),
        };
        std::iter::once(first).chain(second)
    }
}

/// Which outputs of a program make an argument: one, or also another that is subtracted from it, or divides it (true).
type Place = (usize, Option<(bool, usize)>);

/// The arguments of functions whose samples may not show their course.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    program: Option<Program>,
    /// Which outputs of the program make an argument, and of what it is the argument.
    outers: Vec<(Place, Outer)>,
    outputs: Vec<f64>,
    /// The largest values of the arguments so far.
    sizes: Vec<f64>,
    calls: Vec<Call>,
    followed: Followed,
}

/// A call of a function written as an algorithm.
#[derive(Clone, Debug)]
struct Call {
    function: FunctionId,
    /// Which outputs of the program are its arguments, and whether they move.
    args: Vec<(usize, bool)>,
}

/// The arguments of operations inside of functions that searches have met: they come after the others.
#[derive(Clone, Debug, Default)]
struct Followed {
    /// Their places, by call, the way that led there and the operand.
    places: FxHashMap<(usize, u64, usize), usize>,
    outers: Vec<Outer>,
    sizes: Vec<f64>,
    /// By how much they may be off.
    errors: Vec<f64>,
    /// How many of them one search has met at a time, at most.
    met: usize,
}

/// Places that a search may leave unmet before they are given up.
const UNMET: usize = 256;

impl Followed {
    /// Places what an operation is applied to among the values, which begin with others.
    fn place(&mut self, call: usize, operation: &Operation, others: usize, values: &mut Vec<f64>) {
        for (at, (argument, outer)) in of_operation(operation).into_iter().flatten().enumerate() {
            let Operand { value, error, .. } = argument;
            let next = self.outers.len();
            let place = *self.places.entry((call, operation.way, at)).or_insert(next);
            if place == next {
                self.outers.push(outer);
                self.sizes.push(0.0);
                self.errors.push(0.0);
            }
            values.resize(values.len().max(others + place + 1), f64::NAN);
            values[others + place] = value;
            self.sizes[place] = self.sizes[place].max(value.abs());
            self.errors[place] = self.errors[place].max(error);
        }
    }
}

impl Arguments {
    /// Those in some expressions that change between events; none where there is no code for one.
    pub(crate) fn of(model: &Mdae, cache: &KernelCache, pool: &ExprPool, memory: &Memory, roots: &[ExprId]) -> Self {
        Self::compiled(model, cache, pool, memory, roots).unwrap_or_default()
    }

    fn compiled(model: &Mdae, cache: &KernelCache, pool: &ExprPool, memory: &Memory, roots: &[ExprId]) -> Option<Self> {
        let (found, called) = collect(model, pool, roots);
        let mut program = ProgramBuilder::new();
        let mut places: FxHashMap<ExprId, usize> = FxHashMap::default();
        let mut output = |expr: ExprId| -> Option<usize> {
            if let Some(&known) = places.get(&expr) {
                return Some(known);
            }
            let kernel = cache.total(pool, expr, 0).ok()?;
            let slots = kernel.bind(|leaf| slot_of(memory, leaf)).ok()?;
            let at = places.len();
            program.push(&kernel, &slots, &[at as u32]);
            places.insert(expr, at);
            Some(at)
        };
        let mut outers = Vec::new();
        for (inner, outer) in found {
            let place = match inner {
                Inner::Plain(a) => (output(a)?, None),
                Inner::Difference(a, b) => (output(a)?, Some((false, output(b)?))),
                Inner::Ratio(a, b) => (output(a)?, Some((true, output(b)?))),
            };
            outers.push((place, outer));
        }
        let mut calls = Vec::new();
        for (function, args) in called {
            let args = args
                .into_iter()
                .map(|(arg, moves)| Some((output(arg)?, moves)))
                .collect::<Option<_>>()?;
            calls.push(Call { function, args });
        }
        Some(Arguments {
            calls,
            followed: Followed::default(),
            outputs: vec![0.0; places.len()],
            sizes: vec![0.0; outers.len()],
            program: (!places.is_empty()).then(|| program.finish()),
            outers,
        })
    }

    /// The largest values so far, which tell rounding from variation.
    pub(crate) fn into_sizes(self) -> Vec<f64> {
        self.sizes
    }

    /// Goes on with sizes known from before.
    pub(crate) fn recall(&mut self, sizes: &[f64]) {
        for (size, known) in self.sizes.iter_mut().zip(sizes) {
            *size = *known;
        }
    }

    /// Forgets all values, as if nothing had been evaluated.
    pub(crate) fn forget(&mut self) {
        self.outputs.fill(0.0);
        self.sizes.fill(0.0);
        self.forget_operations();
    }

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.outers.is_empty() && self.calls.is_empty()
    }

    /// Whether there are functions to be followed.
    pub(crate) fn follows(&self) -> bool {
        !self.calls.is_empty()
    }

    fn forget_operations(&mut self) {
        self.followed = Followed::default();
    }

    /// Another search begins, which may meet other operations of functions: whether those known keep their places.
    pub(crate) fn begin_search(&mut self) -> bool {
        let followed = &mut self.followed;
        let keeps = followed.outers.len() <= 2 * followed.met + UNMET;
        if keeps {
            followed.sizes.fill(0.0);
            followed.errors.fill(0.0);
            followed.met = 0;
        } else {
            self.forget_operations();
        }
        keeps
    }

    /// How many there are without those inside of functions.
    pub(crate) fn count(&self) -> usize {
        self.outers.len()
    }

    /// Puts their values at what is in memory behind others.
    ///
    /// Returns how much functions have done for it, in statements.
    pub(crate) fn evaluate(&mut self, functions: &Functions, memory: &Memory, values: &mut Vec<f64>) -> u64 {
        self.evaluate_outside(memory, values);
        self.follow(functions, values)
    }

    /// The same without those inside of functions.
    pub(crate) fn evaluate_outside(&mut self, memory: &Memory, values: &mut Vec<f64>) {
        let Some(program) = &self.program else { return };
        program.evaluate_unchecked(&memory.values, &mut self.outputs);
        for (size, ((at, other), _)) in self.sizes.iter_mut().zip(&self.outers) {
            let first = self.outputs[*at];
            let (value, largest) = match *other {
                None => (first, first.abs()),
                // A difference near zero is known no better than its terms.
                Some((false, at)) => (first - self.outputs[at], first.abs().max(self.outputs[at].abs())),
                Some((true, at)) => (first / self.outputs[at], (first / self.outputs[at]).abs()),
            };
            *size = size.max(largest);
            values.push(value);
        }
    }

    /// Those inside of functions, at the arguments that have been evaluated.
    fn follow(&mut self, functions: &Functions, values: &mut Vec<f64>) -> u64 {
        if self.calls.is_empty() {
            return 0;
        }
        let others = values.len();
        values.resize(others + self.followed.outers.len(), f64::NAN);
        let number = |&(at, moves): &(usize, bool)| (self.outputs[at], moves);
        let with_args = |call: &Call| (call.function, call.args.iter().map(number).collect());
        let calls: Vec<_> = self.calls.iter().map(with_args).collect();
        let trace = functions.follow(&calls, ROUNDING);
        for (at, operations) in trace.calls().enumerate() {
            for operation in operations {
                self.followed.place(at, operation, others, values);
            }
        }
        let met = values[others..].iter().filter(|value| !value.is_nan()).count();
        self.followed.met = self.followed.met.max(met);
        trace.work()
    }

    /// An argument: of what it is one, its largest value so far, and by how much it may be off for more than its own size.
    fn outer(&self, argument: usize) -> (&Outer, f64, f64) {
        match self.outers.get(argument) {
            Some((_, outer)) => (outer, self.sizes[argument], 0.0),
            None => {
                let place = argument - self.outers.len();
                let followed = &self.followed;
                (&followed.outers[place], followed.sizes[place], followed.errors[place])
            }
        }
    }

    /// How the course of an argument has to be cut.
    pub(crate) fn cut(&self, argument: usize, course: &Course) -> Cut {
        let (least, greatest) = course.range();
        let variation = greatest - least;
        let (outer, largest, error) = self.outer(argument);
        let size = match outer {
            Outer::Bend => largest,
            _ => least.abs().max(greatest.abs()),
        };
        // What varies by less than rounding has no course.
        if !course.is_finite() || variation <= (ROUNDING * size).max(OF_ERROR * error) {
            return Cut::Nowhere;
        }
        let untold = |is_told: bool| if is_told { Cut::Nowhere } else { Cut::Into(2.0) };
        match outer {
            Outer::Wave(reported) => turns(variation, *reported, course),
            Outer::Staircase => match turns(variation, STAIR, course) {
                Cut::Nowhere => {
                    let stair = greatest.floor();
                    at_point((stair > least).then_some(stair), course)
                }
                cut => cut,
            },
            Outer::Bend => at_point((least < 0.0 && greatest > 0.0).then_some(0.0), course),
            Outer::Table(table, argument) => at_point(table.point_between(*argument, least, greatest), course),
            smooth => untold(smooth.is_told(course, largest)),
        }
    }
}

fn turns(variation: f64, reported: f64, course: &Course) -> Cut {
    if variation <= reported {
        return Cut::Nowhere;
    }
    // Where the argument itself is not told, its variation is not either.
    if course.margin() <= 0.25 * variation {
        Cut::Into((variation / reported).ceil())
    } else {
        Cut::Into(2.0)
    }
}

/// A cut where an argument passes a point at which its function is not smooth; in two where it may do so between samples.
fn at_point(point: Option<f64>, course: &Course) -> Cut {
    let Some(point) = point else { return Cut::Nowhere };
    let (low, high) = course.sampled();
    let mut places = course.places_of(point).peekable();
    let passes = places.peek().is_some();
    // A piece that begins at such a point may pass it once more.
    if places.any(|place| place > AT_END && place < 1.0 - AT_END) {
        Cut::At(point)
    } else if passes || low == point || high == point {
        // An end that lies on the point is no passage.
        Cut::Nowhere
    } else {
        Cut::Into(2.0)
    }
}

impl Outer {
    /// A measure of the argument in which the function changes its course over about one unit, whatever it is put into; it
    /// is constant where the function is.
    fn measure(&self, x: f64, size: f64) -> f64 {
        match self {
            Outer::Exponential => x.clamp(-NOTHING, NOTHING),
            Outer::Pole => x.abs().ln(),
            Outer::Power(exponent) if *exponent > 0.0 => (exponent * (x.abs() / size).ln()).max(LEAST_POWER),
            Outer::Power(exponent) => exponent * x.abs().ln(),
            Outer::Saturation => x.clamp(-SATURATED, SATURATED),
            Outer::Arc => x.asinh(),
            Outer::Wave(_) | Outer::Staircase | Outer::Bend | Outer::Table(..) => 0.0,
        }
    }

    /// Whether samples of an argument show the course of the function.
    fn is_told(&self, course: &Course, size: f64) -> bool {
        let (low, high) = course.sampled();
        let (least, greatest) = course.range();
        let singular = matches!(self, Outer::Pole) || matches!(self, Outer::Power(exponent) if *exponent < 0.0);
        if singular {
            // A passage through the pole shows in the samples; one that may be between them does not.
            match (low > 0.0, high < 0.0) {
                (true, _) if least <= 0.0 => return false,
                (_, true) if greatest >= 0.0 => return false,
                (false, false) => return true,
                _ => {}
            }
        }
        let measure = |x: f64| self.measure(x, size);
        let near = |a: f64, b: f64, most: f64| {
            let distance = (measure(a) - measure(b)).abs();
            // What has no measure has nothing to say.
            distance.is_nan() || distance <= most
        };
        near(least, low, BEYOND_SAMPLES)
            && near(greatest, high, BEYOND_SAMPLES)
            && course
                .samples()
                .windows(2)
                .all(|pair| near(pair[0], pair[1], BETWEEN_SAMPLES))
    }
}

/// A function written as an algorithm, with its arguments and whether they move.
type Called = (FunctionId, Vec<(ExprId, bool)>);

/// The arguments in expressions, and the calls of functions written as algorithms, in the order of the expressions.
fn collect(model: &Mdae, pool: &ExprPool, roots: &[ExprId]) -> (Vec<(Inner, Outer)>, Vec<Called>) {
    let functions: Vec<ExprId> = roots
        .iter()
        .copied()
        .filter(|&root| !pool.is_polynomial(root))
        .collect();
    let all = pool.reachable(&functions);
    // Children come before parents.
    let mut moving: FxHashSet<ExprId> = FxHashSet::default();
    for &id in &all {
        let node = pool.node(id);
        let mut moves = match node {
            Node::Time => true,
            Node::Var { var, .. } => pool.variable_traits(var).continuous,
            _ => false,
        };
        pool.for_each_child(node, |child| moves |= moving.contains(&child));
        if moves {
            moving.insert(id);
        }
    }
    let mut seen = FxHashSet::default();
    let (mut found, mut called) = (Vec::new(), Vec::new());
    let mut offer = |inner: Inner, outer: Outer| {
        let key = (inner, std::mem::discriminant(&outer));
        let moves = match inner {
            Inner::Plain(a) => moving.contains(&a),
            Inner::Difference(a, b) | Inner::Ratio(a, b) => moving.contains(&a) || moving.contains(&b),
        };
        if moves && seen.insert(key) {
            found.push((inner, outer));
        }
    };
    for &id in &all {
        match pool.node(id) {
            Node::Unary(op, a) => {
                if let Some(outer) = of_one(op) {
                    offer(Inner::Plain(a), outer);
                }
            }
            Node::Binary(op, a, b) => match op {
                BinaryFunction::Div => offer(Inner::Plain(b), Outer::Pole),
                BinaryFunction::Pow => match pool.constant(b) {
                    Some(exponent) if is_low_power(exponent) => {}
                    Some(exponent) => offer(Inner::Plain(a), Outer::Power(exponent)),
                    None => {
                        offer(Inner::Plain(a), Outer::Pole);
                        offer(Inner::Plain(b), Outer::Exponential);
                    }
                },
                BinaryFunction::Mod | BinaryFunction::Rem | BinaryFunction::Quotient => {
                    offer(Inner::Ratio(a, b), Outer::Staircase);
                }
                op if is_bent(op) => offer(Inner::Difference(a, b), Outer::Bend),
                _ => {}
            },
            Node::Call { function, args, .. } => match &model.functions[function].body {
                Body::Table(table) => {
                    for (at, arg) in pool.args(args).enumerate() {
                        offer(Inner::Plain(arg), Outer::Table(table.clone(), at));
                    }
                }
                _ if moving.contains(&id) => {
                    let args = pool.args(args).map(|arg| (arg, moving.contains(&arg)));
                    let call: Called = (function, args.collect());
                    if !called.contains(&call) {
                        called.push(call);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    (found, called)
}

/// What an operation inside of a function is applied to, where its samples may not show its course.
fn of_operation(operation: &Operation) -> [Option<(Operand, Outer)>; 2] {
    let [a, b] = operation.operands;
    let one = |argument: Operand, outer: Outer| [Some((argument, outer)), None];
    let with = |value: f64, error: f64| Operand { value, error, ..a };
    match &operation.step {
        Step::Unary(op) => [of_one(*op).map(|outer| (a, outer)), None],
        Step::Table(table, at) => one(a, Outer::Table(table.clone(), *at)),
        Step::Binary(op) => match op {
            BinaryFunction::Div if b.varies => one(b, Outer::Pole),
            BinaryFunction::Pow if b.varies => [
                Some((a, Outer::Pole)).filter(|_| a.varies),
                Some((b, Outer::Exponential)),
            ],
            BinaryFunction::Pow if is_low_power(b.value) => [None, None],
            BinaryFunction::Pow => one(a, Outer::Power(b.value)),
            BinaryFunction::Mod | BinaryFunction::Rem | BinaryFunction::Quotient => {
                let quotient = a.value / b.value;
                let error = (a.error + quotient.abs() * b.error) / b.value.abs();
                one(with(quotient, error), Outer::Staircase)
            }
            _ if is_bent(*op) => one(with(a.value - b.value, a.error + b.error), Outer::Bend),
            _ => [None, None],
        },
    }
}

/// Whether powers are followed as polynomials.
fn is_low_power(exponent: f64) -> bool {
    exponent.fract() == 0.0 && (0.0..=LOW_POWER).contains(&exponent)
}

/// Whether an operation bends or jumps where its operands are equal.
fn is_bent(op: BinaryFunction) -> bool {
    matches!(
        op,
        BinaryFunction::Lt
            | BinaryFunction::Le
            | BinaryFunction::Gt
            | BinaryFunction::Ge
            | BinaryFunction::Eq
            | BinaryFunction::Ne
            | BinaryFunction::Min
            | BinaryFunction::Max
    )
}

fn of_one(op: UnaryFunction) -> Option<Outer> {
    Some(match op {
        UnaryFunction::Sin | UnaryFunction::Cos => Outer::Wave(TURN),
        UnaryFunction::Tan => Outer::Wave(TANGENT),
        UnaryFunction::Floor | UnaryFunction::Ceil => Outer::Staircase,
        UnaryFunction::Exp | UnaryFunction::Sinh | UnaryFunction::Cosh => Outer::Exponential,
        UnaryFunction::Sqrt | UnaryFunction::Log | UnaryFunction::Log10 => Outer::Pole,
        UnaryFunction::Tanh => Outer::Saturation,
        UnaryFunction::Atan => Outer::Arc,
        UnaryFunction::Sign | UnaryFunction::Abs => Outer::Bend,
        UnaryFunction::Neg | UnaryFunction::Not | UnaryFunction::Asin | UnaryFunction::Acos => return None,
    })
}

/// What has to be computed to know the conditions of a mode at a time, by one plan for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watching {
    /// The functions of the conditions.
    pub functions: Vec<ExprId>,
    /// Whether these read no unknowns: then they have the same arguments in every mode.
    pub of_time: bool,
    /// Which stages of the plan lead to them.
    pub stages: Vec<bool>,
    pub arguments: Arguments,
}

/// The part of a plan that determines a variable.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Determined {
    /// One equation of a stage.
    Equation(usize, usize),
    /// All equations of a stage.
    Stage(usize),
    /// A stage copies another variable.
    Copy(usize, Derivative),
}

/// What leads to variables.
struct Leading {
    /// The stages of the plan.
    stages: Vec<bool>,
    /// The equations in them.
    roots: Vec<ExprId>,
    /// Whether no unknown is among the variables on the way.
    of_time: bool,
}

/// What leads to the conditions of a mode.
pub(crate) struct Ways<'a> {
    pub determined: FxHashMap<Derivative, Determined>,
    /// The equations of each stage with their orders of differentiation.
    pub equations: Vec<Vec<(ExprId, u16)>>,
    pub model: &'a Mdae,
    pub cache: &'a KernelCache,
    pub pool: &'a ExprPool,
    pub memory: &'a Memory,
}

impl Ways<'_> {
    /// Follows the equations back from conditions to states.
    pub(crate) fn watching(&self, functions: &[ExprId]) -> Watching {
        let open = functions.iter().flat_map(|&f| self.pool.occurrences(f)).collect();
        let leading = self.leading_to(open);
        let roots: Vec<ExprId> = functions.iter().copied().chain(leading.roots).collect();
        Watching {
            functions: functions.to_vec(),
            of_time: leading.of_time,
            stages: leading.stages,
            arguments: self.arguments(&roots).unwrap_or_default(),
        }
    }

    /// What says whether the rates of states, or what is delayed, hide something between the points at which they are looked at:
    /// the arguments in all equations that lead to them. `None` if there are none.
    pub(crate) fn rates(&self, states: &[Derivative]) -> Option<Watching> {
        let rate = |state: &Derivative| Derivative {
            var: state.var,
            order: state.order + 1,
        };
        let mut wanted: Vec<Derivative> = states.iter().map(rate).collect();
        let recorded: Vec<ExprId> = self.model.delays.iter().map(|delay| delay.expression).collect();
        wanted.extend(
            recorded
                .iter()
                .flat_map(|&expression| self.pool.occurrences(expression)),
        );
        let mut roots = self.leading_to(wanted).roots;
        roots.extend(recorded);
        let arguments = self.arguments(&roots).filter(|arguments| !arguments.is_empty())?;
        // The rates themselves are not needed to know the arguments.
        let (found, called) = collect(self.model, self.pool, &roots);
        let read = found.into_iter().flat_map(|(inner, _)| inner.expressions());
        let passed = called
            .into_iter()
            .flat_map(|(_, args)| args.into_iter().map(|(arg, _)| arg));
        let open = read
            .chain(passed)
            .flat_map(|expr| self.pool.occurrences(expr))
            .collect();
        let leading = self.leading_to(open);
        Some(Watching {
            functions: Vec::new(),
            of_time: leading.of_time,
            stages: leading.stages,
            arguments,
        })
    }

    fn arguments(&self, roots: &[ExprId]) -> Option<Arguments> {
        Arguments::compiled(self.model, self.cache, self.pool, self.memory, roots)
    }

    /// The stages of the plan and the equations that lead to variables.
    fn leading_to(&self, mut open: Vec<Derivative>) -> Leading {
        let mut stages = vec![false; self.equations.len()];
        let mut roots = Vec::new();
        let mut seen: FxHashSet<Derivative> = FxHashSet::default();
        let mut whole: FxHashSet<usize> = FxHashSet::default();
        while let Some(wanted) = open.pop() {
            if !seen.insert(wanted) {
                continue;
            }
            let (stage, equations) = match self.determined.get(&wanted) {
                None => continue,
                Some(&Determined::Copy(stage, root)) => {
                    stages[stage] = true;
                    open.push(root);
                    continue;
                }
                Some(&Determined::Equation(stage, at)) => (stage, &self.equations[stage][at..=at]),
                Some(&Determined::Stage(stage)) if !whole.insert(stage) => continue,
                Some(&Determined::Stage(stage)) => (stage, &self.equations[stage][..]),
            };
            stages[stage] = true;
            for &(residual, times) in equations {
                roots.push(residual);
                for Derivative { var, order: first } in self.pool.occurrences(residual) {
                    open.extend((first..=first + times).map(|order| Derivative { var, order }));
                }
            }
        }
        let of_time = !seen.iter().any(|derivative| self.model.is_unknown(derivative.var));
        Leading { stages, roots, of_time }
    }
}
