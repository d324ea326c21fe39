//! How the analysis grows with the model: nanoseconds and bytes per equation (what stays, and the most while a mode is analysed), and the slope in log-log from the
//! smallest to the largest model. Run with `cargo bench -p saltus-structure --bench scale [-- largest]`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use std::time::Instant;

use saltus_mdae::{BinaryFunction, ExprId, Mdae, OriginId, Role, Type, VarId, Variable};
use saltus_structure::mode::{ModeStructure, Modes, Valuation, analyze_mode};
use saltus_structure::prepare::prepare;
use saltus_testing::CountedBytes;

#[global_allocator]
static BYTES: CountedBytes = CountedBytes::new();

/// Bytes that are kept since `before`.
fn bytes_since(before: usize) -> usize {
    BYTES.in_use().saturating_sub(before)
}

/// States models without text.
struct Writer {
    model: Mdae,
}

impl Writer {
    fn new(name: &str) -> Self {
        Writer { model: Mdae::new(name) }
    }
    fn variable(&mut self, name: String, role: Role, ty: Type) -> VarId {
        self.model.add_variable(Variable::new(&name, role, ty))
    }
    fn unknown(&mut self, name: String) -> VarId {
        self.variable(name, Role::Continuous, Type::Real)
    }
    fn parameter(&mut self, name: &str) -> ExprId {
        let id = self.variable(name.to_owned(), Role::Parameter, Type::Real);
        self.model.variables[id].binding = Some(self.model.pool.real(1.5));
        self.model.pool.var(id)
    }
    fn var(&mut self, var: VarId, order: u16) -> ExprId {
        self.model.pool.der_var(var, order)
    }
    fn binary(&mut self, op: BinaryFunction, a: ExprId, b: ExprId) -> ExprId {
        self.model.pool.binary(op, a, b)
    }
    fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryFunction::Sub, a, b)
    }
    fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryFunction::Add, a, b)
    }
    fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryFunction::Mul, a, b)
    }
    fn equation(&mut self, residual: ExprId) {
        self.model.add_equation(residual, OriginId(0));
    }
    fn guarded(&mut self, guard: ExprId, residual: ExprId) {
        self.model.add_guarded_equation(guard, residual, OriginId(0));
    }
}

/// Inertias with a clutch between neighbours: J·w' = τ_left − τ_right; τ = 0 or w_left = w_right.
fn clutch_chain(equations: usize) -> Mdae {
    chain(equations, true)
}

/// The same with `clutches`, or welded together.
fn chain(equations: usize, clutches: bool) -> Mdae {
    let n = equations / 2;
    let mut m = Writer::new("ClutchChain");
    let inertia = m.parameter("J");
    let w: Vec<VarId> = (0..n).map(|i| m.unknown(format!("w{i}"))).collect();
    let tau: Vec<VarId> = (1..n).map(|i| m.unknown(format!("tau{i}"))).collect();
    for i in 0..n {
        let rate = m.var(w[i], 1);
        let mut residual = m.mul(inertia, rate);
        let speed = m.var(w[i], 0);
        residual = m.add(residual, speed);
        if i > 0 {
            let left = m.var(tau[i - 1], 0);
            residual = m.sub(residual, left);
        }
        if i + 1 < n {
            let right = m.var(tau[i], 0);
            residual = m.add(residual, right);
        }
        m.equation(residual);
    }
    for i in 0..n.saturating_sub(1) {
        if !clutches {
            let (left, right) = (m.var(w[i], 0), m.var(w[i + 1], 0));
            let slip = m.sub(left, right);
            m.equation(slip);
            continue;
        }
        let engaged = m.variable(format!("engaged{i}"), Role::Discrete, Type::Boolean);
        let engaged = m.var(engaged, 0);
        let open = m.model.pool.not(engaged);
        let (left, right, torque) = (m.var(w[i], 0), m.var(w[i + 1], 0), m.var(tau[i], 0));
        let slip = m.sub(left, right);
        m.guarded(engaged, slip);
        m.guarded(open, torque);
    }
    m.model
}

/// A ladder of resistors, inductors and capacitors, each with its own voltage and current.
fn ladder(equations: usize) -> Mdae {
    let n = equations / 5;
    let mut m = Writer::new("Ladder");
    let (r, l, c) = (m.parameter("R"), m.parameter("L"), m.parameter("C"));
    let mut before = m.model.pool.time();
    let mut previous_current: Option<VarId> = None;
    for i in 0..n {
        let name = |part: &str| format!("{part}{i}");
        let (i_r, u_r, u_l, i_c, u_c) = (
            m.unknown(name("iR")),
            m.unknown(name("uR")),
            m.unknown(name("uL")),
            m.unknown(name("iC")),
            m.unknown(name("uC")),
        );
        let current = m.var(i_r, 0);
        let (product, voltage) = (m.mul(r, current), m.var(u_r, 0));
        let ohm = m.sub(voltage, product);
        m.equation(ohm);
        let (rate, voltage) = (m.var(i_r, 1), m.var(u_l, 0));
        let product = m.mul(l, rate);
        let inductor = m.sub(voltage, product);
        m.equation(inductor);
        let (rate, charge) = (m.var(u_c, 1), m.var(i_c, 0));
        let product = m.mul(c, rate);
        let capacitor = m.sub(charge, product);
        m.equation(capacitor);
        let (a, b, end) = (m.var(u_r, 0), m.var(u_l, 0), m.var(u_c, 0));
        let sum = m.add(a, b);
        let sum = m.add(sum, end);
        let mesh = m.sub(sum, before);
        m.equation(mesh);
        before = end;
        if let Some(previous) = previous_current {
            let (inflow, outflow, stored) = (m.var(previous, 0), m.var(i_r, 0), m.var(i_c, 0));
            let rest = m.sub(inflow, outflow);
            let node = m.sub(rest, stored);
            m.equation(node);
        } else {
            let (inflow, stored) = (m.var(i_r, 0), m.var(i_c, 0));
            let half = m.model.pool.real(0.5);
            let part = m.mul(half, inflow);
            let node = m.sub(part, stored);
            m.equation(node);
        }
        previous_current = Some(i_r);
    }
    m.model
}

/// Independent groups of point masses on rods in Cartesian coordinates, eight to a chain.
fn pendulum_chains(equations: usize) -> Mdae {
    let links = 8;
    let mut m = Writer::new("PendulumChains");
    let gravity = m.parameter("g");
    for chain in 0..equations / (3 * links) {
        let coordinates = |m: &mut Writer, name: &str| -> Vec<VarId> {
            (0..links).map(|i| m.unknown(format!("{name}{chain}_{i}"))).collect()
        };
        let (x, y, f) = (
            coordinates(&mut m, "x"),
            coordinates(&mut m, "y"),
            coordinates(&mut m, "f"),
        );
        let rod = |m: &mut Writer, q: &[VarId], i: usize| {
            let end = m.var(q[i], 0);
            match i {
                0 => end,
                _ => {
                    let start = m.var(q[i - 1], 0);
                    m.sub(end, start)
                }
            }
        };
        for i in 0..links {
            for (q, falls) in [(&x, false), (&y, true)] {
                let (length, force, acceleration) = (rod(&mut m, q, i), m.var(f[i], 0), m.var(q[i], 2));
                let pull = m.mul(force, length);
                let mut residual = m.add(acceleration, pull);
                if i + 1 < links {
                    let (length, force) = (rod(&mut m, q, i + 1), m.var(f[i + 1], 0));
                    let pull = m.mul(force, length);
                    residual = m.sub(residual, pull);
                }
                if falls {
                    residual = m.add(residual, gravity);
                }
                m.equation(residual);
            }
            let (dx, dy) = (rod(&mut m, &x, i), rod(&mut m, &y, i));
            let (xx, yy, one) = (m.mul(dx, dx), m.mul(dy, dy), m.model.pool.real(1.0));
            let sum = m.add(xx, yy);
            let constraint = m.sub(sum, one);
            m.equation(constraint);
        }
    }
    m.model
}

struct Measured {
    equations: usize,
    nanoseconds: f64,
}

/// Nanoseconds this program has had the processor, where the system tells; it counts in steps of some milliseconds.
fn time_on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// The least time of several runs (other programs only ever add to it), with the last result.
fn least<T>(runs: usize, mut f: impl FnMut() -> T) -> (T, f64) {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..runs.max(1) {
        drop(last.take());
        let (start, on_processor) = (Instant::now(), time_on_processor());
        last = Some(f());
        let elapsed = start.elapsed().as_nanos() as f64;
        let spent = time_on_processor().zip(on_processor).map(|(end, start)| end - start);
        best = best.min(match spent {
            Some(spent) if spent > 2e7 => spent,
            _ => elapsed,
        });
    }
    (last.expect("at least one run"), best)
}

fn analyze(modes: &Modes, model: &Mdae, valuation: &Valuation) -> ModeStructure {
    match analyze_mode(model, modes, valuation) {
        Ok(structure) => structure,
        Err(failure) => panic!("the benchmark model has no structure: {failure:?}"),
    }
}

fn measure(build: impl FnOnce() -> Mdae, truth: bool) -> Measured {
    let nothing = BYTES.in_use();
    let model = build();
    let equations = model.equations.len();
    let runs = (200_000 / equations).clamp(3, 50);
    let per_equation = |nanoseconds: f64| nanoseconds / equations as f64;
    let start = Instant::now();
    let model = prepare(model).model;
    let prepared = per_equation(start.elapsed().as_nanos() as f64);
    let bytes = |bytes: usize| bytes as f64 / equations as f64;
    let of_model = bytes(bytes_since(nothing));
    let before = BYTES.in_use();
    let (modes, signatures) = least(runs, || Modes::new(&model));
    let of_signatures = bytes(bytes_since(before));
    // Guards alternate between a Boolean and its negation, in order of the equations.
    let valuation = Valuation::from_fn(&modes, |guard| (guard.0 % 2 == 0) == truth);
    let before = BYTES.in_use();
    let (((_structure, analysis), (plan, planning)), at_most) = BYTES.most_during(|| {
        let (structure, analysis) = least(runs, || analyze(&modes, &model, &valuation));
        let planned = least(runs, || structure.plan(&model, &modes, &structure.selection));
        ((structure, analysis), planned)
    });
    let of_mode = bytes(bytes_since(before));
    let at_most = bytes(at_most);
    let nanoseconds = per_equation(signatures + analysis + planning);
    println!(
        "{equations:9} equations: {nanoseconds:5.0} ns/equation (signatures {:.0}, analysis {:.0}, plan {:.0}; preparation \
         of the model {prepared:.0}); {of_mode:.0} bytes/equation for the mode ({at_most:.0} at most while it is analysed), \
         {of_signatures:.0} for all signatures, {of_model:.0} for the model; {} states, {} blocks",
        per_equation(signatures),
        per_equation(analysis),
        per_equation(planning),
        plan.states.len(),
        plan.block_count()
    );
    Measured { equations, nanoseconds }
}

/// What the aliases of a single mode cost, all clutches engaged: a plan with them, one without them, and the plan of a chain that is
/// welded together, so that they are gone beforehand.
fn measure_aliases(equations: usize) {
    let prepared = |clutches: bool| {
        let model = prepare(chain(equations, clutches)).model;
        let modes = Modes::new(&model);
        let valuation = Valuation::from_fn(&modes, |guard| guard.0 % 2 == 0);
        let structure = analyze(&modes, &model, &valuation);
        (model, modes, structure)
    };
    let (model, modes, structure) = prepared(true);
    let mut pool = model.pool.clone();
    let (with, with_time) = least(5, || structure.plan(&model, &modes, &structure.selection));
    let (without, without_time) = least(5, || {
        let aliases = structure.aliases(&model, &modes, &mut pool).expect("aliases");
        aliases
            .plan(&model, &modes, &pool, &structure, &structure.selection)
            .expect("a plan")
    });
    let (welded_model, welded_modes, welded_structure) = prepared(false);
    let (welded, welded_time) = least(5, || {
        welded_structure.plan(&welded_model, &welded_modes, &welded_structure.selection)
    });
    for (name, plan, time) in [
        ("with aliases", &with, with_time),
        ("without them", &without, without_time),
        ("welded", &welded, welded_time),
    ] {
        println!(
            "{equations:9} equations, {name:12}: {:5.0} ns/equation to plan, {} blocks, {} unknowns",
            time / equations as f64,
            plan.block_count(),
            plan.solved().len()
        );
    }
}

fn main() {
    let largest: usize = std::env::args()
        .filter_map(|a| a.parse().ok())
        .next()
        .unwrap_or(1_000_000);
    type Family = (&'static str, fn(usize) -> Mdae, bool);
    let families: [Family; 4] = [
        ("clutch chain, all open", clutch_chain, false),
        ("clutch chain, all engaged", clutch_chain, true),
        ("RLC ladder", ladder, false),
        ("pendulum chains", pendulum_chains, false),
    ];
    for (name, build, truth) in families {
        println!("{name}");
        let mut all = Vec::new();
        let mut equations = 1000;
        while equations <= largest {
            all.push(measure(|| build(equations), truth));
            equations *= 10;
        }
        if let [first, .., last] = &all[..] {
            let times = (last.nanoseconds * last.equations as f64) / (first.nanoseconds * first.equations as f64);
            let slope = times.ln() / (last.equations as f64 / first.equations as f64).ln();
            println!("  slope {slope:.3}");
        }
    }
    println!("aliases of single modes");
    measure_aliases(10_000.min(largest));
}
