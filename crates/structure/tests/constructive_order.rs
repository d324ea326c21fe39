//! The verdict of the constructive semantics is the system's own: the order of its equations, variables and predicates
//! does not matter.

use std::collections::{BTreeMap, BTreeSet};

use saltus_mdae::{EquationId, Idx, VarId};
use saltus_structure::constructive::{
    ConstructiveOptions, EquationKind, Failure, Formula, Outcome, PredicateId, Reaction, Rejection, Report, Shifted,
    ShiftedEquation, Step, System, SystemEquation, analyze,
};
use saltus_testing::Random;

/// How many systems of each kind are tried.
const CASES: usize = 600;

/// Systems with more start states are compared as far as the verdict goes.
const LIMITS: ConstructiveOptions = ConstructiveOptions {
    max_shift: 6,
    max_instants: 60,
    max_reactions: 4000,
    most_listed: 12,
};

fn equation(variables: BTreeSet<Shifted>, guard: Formula, kind: EquationKind) -> SystemEquation {
    SystemEquation {
        variables: variables.into_iter().collect(),
        guard,
        kind,
        sides: None,
    }
}

/// As many equations as variables in every mode, of one to three variables up to the second order.
fn random_system(random: &mut Random) -> System {
    let count = 2 + random.below(4);
    let predicate_count = [0, 1, 1, 2][random.below(4)];
    let predicates = (0..predicate_count)
        .map(|_| {
            if random.chance(70) {
                some_variables(random, count, 2).into_iter().map(|v| (v, 0)).collect()
            } else {
                Vec::new()
            }
        })
        .collect();
    let mut equations = Vec::new();
    for _ in 0..count {
        if predicate_count > 0 && random.chance(50) {
            let predicate = Formula::Predicate(PredicateId::from_usize(random.below(predicate_count)));
            let kind = if random.chance(33) {
                EquationKind::Event
            } else {
                EquationKind::Continuous
            };
            equations.push(equation(body(random, count), predicate.clone(), kind));
            let other = Formula::Not(Box::new(predicate));
            equations.push(equation(body(random, count), other, EquationKind::Continuous));
        } else {
            let guard = Formula::Constant(true);
            equations.push(equation(body(random, count), guard, EquationKind::Continuous));
        }
    }
    System {
        equations,
        predicates,
        ..System::default()
    }
}

/// A hub with equal spokes, each with a clutch: many equations can be exchanged, so that every choice among equals is met.
fn star_system(random: &mut Random) -> System {
    let spokes = 2 + random.below(2);
    let is_second_order = random.chance(50);
    let position = VarId::from_usize;
    let torque = |spoke: usize| VarId::from_usize(1 + spokes + spoke);
    let predicate = |spoke: usize| Formula::Predicate(PredicateId::from_usize(spoke));
    let order = if is_second_order { 2 } else { 1 };
    let always = Formula::Constant(true);
    let hub = (0..spokes)
        .map(|spoke| (torque(spoke), 0))
        .chain([(position(0), order)]);
    let mut equations = vec![equation(hub.collect(), always.clone(), EquationKind::Continuous)];
    for spoke in 0..spokes {
        let own = position(1 + spoke);
        let motion = [(own, order), (torque(spoke), 0)].into();
        equations.push(equation(motion, always.clone(), EquationKind::Continuous));
        let coupled = [(position(0), 0), (own, 0)].into();
        equations.push(equation(coupled, predicate(spoke), EquationKind::Continuous));
        let free = [(torque(spoke), 0)].into();
        let open = Formula::Not(Box::new(predicate(spoke)));
        equations.push(equation(free, open, EquationKind::Continuous));
    }
    let reads = |spoke: usize| vec![(position(0), 0), (position(1 + spoke), 0)];
    let reads_motion = random.chance(50);
    let invariants = if random.chance(50) {
        vec![Formula::Not(Box::new(Formula::And(
            (0..spokes).map(predicate).collect(),
        )))]
    } else {
        Vec::new()
    };
    System {
        equations,
        predicates: (0..spokes)
            .map(|spoke| if reads_motion { reads(spoke) } else { Vec::new() })
            .collect(),
        invariants,
        ..System::default()
    }
}

fn some_variables(random: &mut Random, count: usize, most: usize) -> BTreeSet<VarId> {
    let wanted = 1 + random.below(most.min(count));
    let order = random.permutation(count);
    order.into_iter().take(wanted).map(VarId::from_usize).collect()
}

fn body(random: &mut Random, count: usize) -> BTreeSet<Shifted> {
    let mut found = BTreeSet::new();
    for variable in some_variables(random, count, 3) {
        let order = [0, 0, 1, 1, 2][random.below(5)];
        found.insert((variable, order));
        if order > 0 && random.chance(60) {
            found.insert((variable, 0));
        }
    }
    found
}

fn variable_count(system: &System) -> usize {
    let of_equations = system.equations.iter().flat_map(|equation| &equation.variables);
    let all = of_equations.chain(system.predicates.iter().flatten());
    all.map(|(variable, _)| variable.index() + 1).max().unwrap_or(0)
}

/// Where each id goes.
struct Renumbering {
    variables: Vec<usize>,
    equations: Vec<usize>,
    predicates: Vec<usize>,
}

impl Renumbering {
    fn random(random: &mut Random, system: &System) -> Self {
        Renumbering {
            variables: random.permutation(variable_count(system)),
            equations: random.permutation(system.equations.len()),
            predicates: random.permutation(system.predicates.len()),
        }
    }
    fn identity(system: &System) -> Self {
        Renumbering {
            variables: (0..variable_count(system)).collect(),
            equations: (0..system.equations.len()).collect(),
            predicates: (0..system.predicates.len()).collect(),
        }
    }
    fn inverse(&self) -> Self {
        let invert = |order: &Vec<usize>| {
            let mut inverse = vec![0; order.len()];
            order.iter().enumerate().for_each(|(from, &to)| inverse[to] = from);
            inverse
        };
        Renumbering {
            variables: invert(&self.variables),
            equations: invert(&self.equations),
            predicates: invert(&self.predicates),
        }
    }
    fn variable(&self, (variable, order): Shifted) -> Shifted {
        (VarId::from_usize(self.variables[variable.index()]), order)
    }
    fn equation(&self, (equation, shifts): ShiftedEquation) -> ShiftedEquation {
        (EquationId::from_usize(self.equations[equation.index()]), shifts)
    }
    fn predicate(&self, predicate: PredicateId) -> PredicateId {
        PredicateId::from_usize(self.predicates[predicate.index()])
    }
    fn formula(&self, formula: &Formula) -> Formula {
        let all = |parts: &[Formula]| parts.iter().map(|part| self.formula(part)).collect();
        match formula {
            Formula::Constant(value) => Formula::Constant(*value),
            Formula::Predicate(predicate) => Formula::Predicate(self.predicate(*predicate)),
            Formula::Not(inner) => Formula::Not(Box::new(self.formula(inner))),
            Formula::And(parts) => Formula::And(all(parts)),
            Formula::Or(parts) => Formula::Or(all(parts)),
        }
    }
    fn variables(&self, list: &[Shifted]) -> Vec<Shifted> {
        let found: BTreeSet<Shifted> = list.iter().map(|&variable| self.variable(variable)).collect();
        found.into_iter().collect()
    }
    fn system(&self, system: &System) -> System {
        let mut equations = system.equations.clone();
        for (from, equation) in system.equations.iter().enumerate() {
            equations[self.equations[from]] = SystemEquation {
                variables: self.variables(&equation.variables),
                guard: self.formula(&equation.guard),
                kind: equation.kind,
                sides: None,
            };
        }
        let mut predicates = system.predicates.clone();
        for (from, reads) in system.predicates.iter().enumerate() {
            predicates[self.predicates[from]] = self.variables(reads);
        }
        System {
            equations,
            predicates,
            invariants: system.invariants.iter().map(|formula| self.formula(formula)).collect(),
            known_initially: system
                .known_initially
                .as_ref()
                .map(|known| known.iter().map(|&variable| self.variable(variable)).collect()),
        }
    }

    /// The reactions of a report, without any order.
    fn reactions(&self, report: &Report) -> BTreeSet<String> {
        let described = report.reactions.iter().map(|reaction| self.reaction(report, reaction));
        described.collect()
    }
    fn state(&self, report: &Report, number: usize) -> String {
        let instant = &report.instants[number];
        let known = self.variables(&instant.known);
        let facts: BTreeSet<ShiftedEquation> = instant.facts.iter().map(|&fact| self.equation(fact)).collect();
        format!("{known:?} {facts:?}")
    }
    fn reaction(&self, report: &Report, reaction: &Reaction) -> String {
        let mut valuation = vec![None; reaction.valuation.len()];
        for (from, value) in reaction.valuation.iter().enumerate() {
            valuation[self.predicates[from]] = *value;
        }
        let steps: BTreeSet<String> = reaction.steps.iter().map(|step| self.step(step)).collect();
        let outcome = match &reaction.outcome {
            Outcome::Completed { to, event, .. } => format!("{} {event}", self.state(report, *to)),
            Outcome::Excluded => "excluded".to_owned(),
            Outcome::Failed(failure) => self.failure(failure),
        };
        let from = self.state(report, reaction.from);
        format!("{from} {valuation:?} {steps:?} {outcome}")
    }
    fn equations(&self, list: &[ShiftedEquation]) -> BTreeSet<ShiftedEquation> {
        list.iter().map(|&equation| self.equation(equation)).collect()
    }
    fn step(&self, step: &Step) -> String {
        match step {
            Step::Solve { equations, unknowns } => {
                format!("{:?} {:?}", self.equations(equations), self.variables(unknowns))
            }
            Step::Evaluate(values) => {
                let values: BTreeSet<(PredicateId, bool)> =
                    values.iter().map(|&(p, value)| (self.predicate(p), value)).collect();
                format!("evaluate {values:?}")
            }
            Step::Shift { equation, is_fact } => format!("shift {:?} {is_fact}", self.equation(*equation)),
            Step::Latent(equation) => format!("latent {:?}", self.equation(*equation)),
        }
    }
    fn failure(&self, failure: &Failure) -> String {
        match failure {
            Failure::NothingLeft { equations } => format!("nothing left {:?}", self.equations(equations)),
            Failure::ShiftBound { equations } => {
                let keys: Vec<ShiftedEquation> = equations.iter().map(|&equation| (equation, 0)).collect();
                format!("bound {:?}", self.equations(&keys))
            }
            Failure::Overdetermined { equations } => format!("over {:?}", self.equations(equations)),
            Failure::Underdetermined { unknowns, equations } => {
                format!("under {:?} {:?}", self.variables(unknowns), self.equations(equations))
            }
            Failure::Blocked { predicates } => {
                let predicates: BTreeSet<PredicateId> = predicates.iter().map(|&p| self.predicate(p)).collect();
                format!("blocked {predicates:?}")
            }
        }
    }
}

/// What does not change when equations that can be exchanged are: how many start states there are, and for each reaction
/// how it goes and ends, without saying with which equations.
fn shape(report: &Report) -> (usize, Vec<String>) {
    let reaction = |reaction: &Reaction| {
        let steps: Vec<String> = reaction
            .steps
            .iter()
            .map(|step| match step {
                Step::Solve { equations, unknowns } => {
                    let shifts: BTreeSet<u16> = equations.iter().map(|&(_, shifts)| shifts).collect();
                    let orders: BTreeSet<u16> = unknowns.iter().map(|&(_, order)| order).collect();
                    format!("solve {} {shifts:?} {orders:?}", unknowns.len())
                }
                Step::Evaluate(values) => format!("evaluate {}", values.len()),
                Step::Shift { equation, is_fact } => format!("shift {} {is_fact}", equation.1),
                Step::Latent(equation) => format!("latent {}", equation.1),
            })
            .collect();
        let end = match &reaction.outcome {
            Outcome::Completed { event, .. } => format!("completed {event}"),
            Outcome::Excluded => "excluded".to_owned(),
            Outcome::Failed(Failure::NothingLeft { equations }) => format!("nothing left {}", equations.len()),
            Outcome::Failed(Failure::ShiftBound { equations }) => format!("bound {}", equations.len()),
            Outcome::Failed(Failure::Overdetermined { equations }) => format!("over {}", equations.len()),
            Outcome::Failed(Failure::Underdetermined { unknowns, .. }) => format!("under {}", unknowns.len()),
            Outcome::Failed(Failure::Blocked { predicates }) => format!("blocked {}", predicates.len()),
        };
        let mut steps = steps;
        steps.sort_unstable();
        format!("{end}: {}", steps.join(", "))
    };
    let mut reactions: Vec<String> = report.reactions.iter().map(reaction).collect();
    reactions.sort_unstable();
    (report.instants.len(), reactions)
}

/// Nothing about a system changes with its order; the steps named are the same ones unless equations can be exchanged.
fn assert_order_does_not_matter(system: &System, random: &mut Random) {
    let report = analyze(system, LIMITS);
    let own = Renumbering::identity(system).reactions(&report);
    for _ in 0..3 {
        let order = Renumbering::random(random, system);
        let other = analyze(&order.system(system), LIMITS);
        assert_eq!(report.verdict(), other.verdict(), "{system:#?}");
        let singular = |report: &Report| report.modes.iter().filter(|mode| mode.sigma.is_err()).count();
        assert_eq!(singular(&report), singular(&other), "{system:#?}");
        let unfinished = |report: &Report| report.rejections.contains(&Rejection::TooManyInstants);
        assert_eq!(unfinished(&report), unfinished(&other), "{system:#?}");
        if unfinished(&report) {
            // Which of them were explored before the limit depends on the order.
            continue;
        }
        assert_eq!(report.event_cycle.is_some(), other.event_cycle.is_some(), "{system:#?}");
        if order.inverse().reactions(&other) != own {
            assert_eq!(shape(&report), shape(&other), "{system:#?}");
        }
    }
}

#[test]
fn the_order_of_random_systems_does_not_matter() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..CASES {
        let system = random_system(&mut random);
        assert_order_does_not_matter(&system, &mut random);
    }
}

#[test]
fn the_order_of_equal_parts_does_not_matter() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..CASES / 20 {
        let system = star_system(&mut random);
        let report = analyze(&system, ConstructiveOptions::default());
        assert!(report.is_accepted(), "{system:#?}");
        assert_order_does_not_matter(&system, &mut random);
    }
}

/// Of each start state and valuation whether everything is determined, and what goes on.
fn ends(system: &System, report: &Report) -> BTreeMap<(usize, Vec<bool>), Option<usize>> {
    // Start states by what they are: their numbers depend on the order in which they are met.
    let mut states: Vec<_> = report.instants.iter().collect();
    states.sort_by(|a, b| (&a.known, &a.facts).cmp(&(&b.known, &b.facts)));
    let place = |number: usize| {
        let own = &report.instants[number];
        states.iter().position(|state| *state == own).expect("one of them")
    };
    let count = system.predicates.len();
    let mut found = BTreeMap::new();
    for reaction in report.reactions.iter().filter(|r| r.outcome != Outcome::Excluded) {
        for bits in 0..1u32 << count {
            let valuation: Vec<bool> = (0..count).map(|at| bits >> at & 1 == 1).collect();
            let complete: Vec<Option<bool>> = valuation.iter().copied().map(Some).collect();
            let fits = reaction
                .valuation
                .iter()
                .zip(&complete)
                .all(|(own, value)| own.is_none() || own == value);
            if !fits
                || system
                    .invariants
                    .iter()
                    .any(|one| one.decided(&complete) == Some(false))
            {
                continue;
            }
            let end = match reaction.outcome {
                Outcome::Completed { to, .. } => Some(place(to)),
                _ => None,
            };
            let known = found.insert((place(reaction.from), valuation), end);
            assert!(known.is_none_or(|known| known == end), "{system:#?}");
        }
    }
    found
}

fn assert_together_as_one_by_one(system: &System) -> bool {
    let together = analyze(
        system,
        ConstructiveOptions {
            most_listed: 0,
            ..LIMITS
        },
    );
    let single = analyze(system, LIMITS);
    let unfinished = |report: &Report| report.rejections.contains(&Rejection::TooManyInstants);
    if unfinished(&single) || unfinished(&together) {
        return false;
    }
    assert_eq!(together.verdict(), single.verdict(), "{system:#?}");
    assert_eq!(
        together.event_cycle.is_some(),
        single.event_cycle.is_some(),
        "{system:#?}"
    );
    assert_eq!(ends(system, &together), ends(system, &single), "{system:#?}");
    true
}

#[test]
fn valuations_together_go_as_one_by_one() {
    let mut random = Random(77);
    let mut compared = 0;
    for _ in 0..CASES {
        compared += usize::from(assert_together_as_one_by_one(&random_system(&mut random)));
    }
    for _ in 0..CASES / 20 {
        compared += usize::from(assert_together_as_one_by_one(&star_system(&mut random)));
    }
    assert!(compared > CASES / 2, "{compared}");
}

/// A row of capacitors with an ideal switch or diode between each and the next node, all coupled by the source.
fn ladder(stages: usize, is_diode: bool) -> System {
    let variable = VarId::from_usize;
    let mut system = System::default();
    for stage in 0..stages {
        let [voltage, current, sum] = [3 * stage, 3 * stage + 1, 3 * stage + 2].map(variable);
        let closed = Formula::Predicate(PredicateId::from_usize(stage));
        let open = Formula::Not(Box::new(closed.clone()));
        let always = Formula::Constant(true);
        // What charges it, what the element passes, and the node behind.
        let mut rows = vec![
            ([(voltage, 1), (current, 0)].into(), always.clone()),
            ([(current, 0)].into(), open),
            ([(current, 0), (voltage, 0)].into(), closed),
            ([(sum, 0), (current, 0)].into(), always),
        ];
        if stage > 0 {
            let before = variable(3 * stage - 1);
            for row in &mut rows[2..4] {
                let row: &mut BTreeSet<Shifted> = &mut row.0;
                row.insert((before, 0));
            }
        }
        system.equations.extend(
            rows.into_iter()
                .map(|(body, guard)| equation(body, guard, EquationKind::Continuous)),
        );
        system
            .predicates
            .push(if is_diode { vec![(voltage, 0)] } else { Vec::new() });
    }
    system
}

/// Beyond what can be listed: 2^30 valuations.
#[test]
fn many_predicates_are_gone_through_together() {
    for is_diode in [false, true] {
        assert!(assert_together_as_one_by_one(&ladder(5, is_diode)));
        let small = analyze(&ladder(5, is_diode), ConstructiveOptions::default());
        let large = analyze(&ladder(30, is_diode), ConstructiveOptions::default());
        assert!(large.merged && !small.merged);
        assert_eq!(large.verdict(), small.verdict());
        assert!(large.reactions.len() < 1000, "{}", large.reactions.len());
    }
}
