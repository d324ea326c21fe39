//! What start values say of the mode before any is tried.
//!
//! A ball that starts a metre above the floor is not on it, and a block that starts with a velocity slides. So the values that
//! start values give are carried on through those equations of the guess that have one unknown left; conditions that read
//! nothing else are decided by them, and a condition that selects an equation which they contradict turns. A dozen balls would
//! otherwise be searched for in all combinations, and a mode that moves start values could be found before the one that keeps
//! all of them. Where something that is differentiated has no start value, those of other variables say where it begins, as far as
//! they do not follow already. This is a guess like any other: the search decides.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::{ConditionId, Derivative, EquationId, ExprId, Node, Role, VarId};

use crate::engine::Engine;
use crate::events::condition::Decided;
use crate::events::iteration::Truths;
use crate::events::scale::Scales;
use crate::events::sign::Sign;
use crate::start::values::StartValue;

/// What is left of an equation counts from this part of the values in it on.
const CONTRADICTED: f64 = 1e-6;
/// Larger models are not looked at.
const MOST_EQUATIONS: usize = 20_000;
/// Conditions of one equation that are tried.
const MOST_TRIED: usize = 16;
/// Guesses that are made one after the other.
const ROUNDS: usize = 32;

/// What follows from start values in a guess of the mode.
#[derive(Default)]
struct Foretold {
    known: FxHashSet<Derivative>,
    /// Equations of the guess that are contradicted.
    contradicted: Vec<EquationId>,
}

/// Start values that are given.
struct Given {
    /// Those that hold, as far as that can be: that are fixed, and of what is differentiated.
    kept: Vec<(Derivative, f64)>,
    /// Others that stand for what is differentiated and has none.
    other: Vec<(Derivative, f64)>,
}

impl Engine {
    /// Makes the guess agree with start values.
    pub(crate) fn heed_start_values(&mut self, guess: &mut Truths) {
        if self.model.equations.len() > MOST_EQUATIONS {
            return;
        }
        let undecided: Vec<ConditionId> = guess.ids().filter(|&id| self.is_undecided_at_start(id)).collect();
        if undecided.is_empty() {
            return;
        }
        self.keep_memories(&undecided, guess);
        let given = self.given_starts();
        let saved = self.memory.values.clone();
        let mut turned: FxHashSet<ConditionId> = FxHashSet::default();
        for _ in 0..ROUNDS {
            let foretold = self.foretell(guess, &given);
            let before = guess.clone();
            let open = self.decide_by_values(&undecided, &foretold.known, guess);
            self.memory.values.copy_from_slice(&saved);
            if *guess == before && !self.turn_contradicted(&open, &foretold.contradicted, &mut turned, guess) {
                break;
            }
        }
    }

    /// Of conditions of which start values say nothing, those turn without which discrete variables would not keep the values they
    /// start with: a latch that is closed at the start is not opened by a force that nobody knows yet.
    fn keep_memories(&mut self, undecided: &[ConditionId], guess: &mut Truths) {
        if self.sets.remembered.is_empty() {
            return;
        }
        let mut lost = self.lost_memories(guess);
        for &id in undecided.iter().take(MOST_TRIED) {
            if lost == 0 {
                return;
            }
            if self.sign_at_start(id) != Sign::Undecided {
                continue;
            }
            guess[id] = !guess[id];
            let lost_then = self.lost_memories(guess);
            if lost_then < lost {
                lost = lost_then;
            } else {
                guess[id] = !guess[id];
            }
        }
    }

    /// How many discrete variables that are remembered have other values under a guess than they start with.
    fn lost_memories(&mut self, guess: &Truths) -> usize {
        let saved = self.save_discrete();
        self.set_truths(guess);
        let before = self.when_before.clone();
        self.discrete.compute(&self.model, &mut self.memory, &before);
        let remembered = self.sets.remembered.iter();
        let differs = |&&var: &&VarId| self.memory.get(var, 0) != self.memory.left(var, 0);
        let lost = remembered.filter(differs).count();
        self.restore_discrete(&saved);
        lost
    }

    fn is_undecided_at_start(&mut self, id: ConditionId) -> bool {
        let is_open = |decided| matches!(decided, Decided::ByCandidate | Decided::AsLatch);
        let monitor = self.monitors[id].as_ref();
        monitor.is_some_and(|monitor| is_open(monitor.decided))
            && !matches!(self.sign_at_start(id), Sign::ByValue { .. })
    }

    fn given_starts(&self) -> Given {
        let modes = self.compiled.modes();
        let differentiated = |var: VarId, order: u16| {
            let equations = modes.equations_with(var).iter();
            let mut read = equations.flat_map(|&equation| modes.occurrences(&self.model, equation));
            read.any(|read| read.var == var && read.order > order)
        };
        let starts = self.start.values.iter();
        let kept = starts.filter(|start| start.order < self.memory.orders(start.var));
        let (kept, other): (Vec<_>, Vec<_>) =
            kept.partition(|start| start.fixed || differentiated(start.var, start.order));
        let mut unknowns = self.sets.unknowns.iter();
        let lacks = unknowns.any(|&var| differentiated(var, 0) && self.start.values.get(var, 0).is_none());
        let pair = |start: &StartValue| (Derivative::new(start.var, start.order), start.value);
        let other = other.into_iter().filter(|start| lacks && start.value != 0.0);
        Given {
            kept: kept.into_iter().map(pair).collect(),
            other: other.map(pair).collect(),
        }
    }

    /// Carries start values on through the equations of a guess; the values that follow are in memory.
    fn foretell(&mut self, guess: &Truths, given: &Given) -> Foretold {
        let mut foretold = Foretold::default();
        for &(Derivative { var, order }, value) in &given.kept {
            self.memory.set(var, order, value);
            foretold.known.insert(Derivative::new(var, order));
        }
        let valuation = self.guards_of(guess);
        let (model, compiled) = (self.model.clone(), self.compiled.clone());
        let modes = compiled.modes();
        let active: Vec<EquationId> = modes.active(&valuation).collect();
        let unknowns = |equation: EquationId| {
            let read = modes.occurrences(&model, model.stands_for(equation)).iter();
            read.copied().filter(|read| model.is_unknown(read.var))
        };
        let mut users: FxHashMap<Derivative, Vec<usize>> = FxHashMap::default();
        let mut open: Vec<usize> = Vec::with_capacity(active.len());
        for (at, &equation) in active.iter().enumerate() {
            let unknown = unknowns(equation).filter(|read| !foretold.known.contains(read));
            let found = unknown.map(|read| users.entry(read).or_default().push(at));
            open.push(found.count());
        }
        let mut ready: Vec<usize> = (0..active.len()).filter(|&at| open[at] <= 1).collect();
        let mut done = vec![false; active.len()];
        // What always holds comes first, then other start values: both may contradict equations of the guess alone.
        let mut other = given.other.iter();
        let mut waiting: Vec<usize> = Vec::new();
        let mut takes_guarded = false;
        loop {
            let found = match ready.pop() {
                Some(at) if done[at] => continue,
                Some(at) if !takes_guarded && !model.is_unguarded(active[at]) => {
                    waiting.push(at);
                    continue;
                }
                Some(at) => {
                    (done[at], takes_guarded) = (true, false);
                    let residual = model.equations[model.stands_for(active[at])].residual;
                    let Some(last) = unknowns(active[at]).find(|read| !foretold.known.contains(read)) else {
                        if !model.is_unguarded(active[at]) && self.is_contradicted(residual) {
                            foretold.contradicted.push(active[at]);
                        }
                        continue;
                    };
                    self.solve_linear(residual, last).then_some(last)
                }
                None => match other.find(|(start, _)| !foretold.known.contains(start)) {
                    Some(&(start, value)) => {
                        self.memory.set(start.var, start.order, value);
                        Some(start)
                    }
                    None if waiting.is_empty() => break,
                    None => {
                        ready.extend(waiting.pop());
                        takes_guarded = true;
                        continue;
                    }
                },
            };
            let Some(found) = found else { continue };
            foretold.known.insert(found);
            for &user in users.get(&found).into_iter().flatten() {
                open[user] -= 1;
                if open[user] <= 1 && !done[user] {
                    ready.push(user);
                }
            }
        }
        foretold
    }

    fn is_contradicted(&self, residual: ExprId) -> bool {
        let read = self.model.pool.occurrences(residual);
        let sizes = read.iter().map(|read| self.memory.get(read.var, read.order).abs());
        let size = sizes.fold(0.0, f64::max);
        self.value_of(residual)
            .is_ok_and(|left| left.abs() > CONTRADICTED * size)
    }

    /// Gives a variable the value for which an equation holds that is linear in it.
    fn solve_linear(&mut self, residual: ExprId, Derivative { var, order }: Derivative) -> bool {
        if self.model.variables[var].role != Role::Continuous || order >= self.memory.orders(var) {
            return false;
        }
        let before = self.memory.get(var, order);
        let mut at = |value: f64| {
            self.memory.set(var, order, value);
            self.value_of(residual).ok().filter(|left| left.is_finite())
        };
        let values = (at(0.0), at(1.0), at(2.0));
        self.memory.set(var, order, before);
        let (Some(zero), Some(one), Some(two)) = values else {
            return false;
        };
        let slope = one - zero;
        let is_linear = (two - one - slope).abs() <= CONTRADICTED * slope.abs();
        if slope == 0.0 || !is_linear {
            return false;
        }
        self.memory.set(var, order, -zero / slope);
        true
    }

    /// Takes the conditions that read nothing but what is known as these values say; the others.
    fn decide_by_values(
        &mut self,
        undecided: &[ConditionId],
        known: &FxHashSet<Derivative>,
        guess: &mut Truths,
    ) -> Vec<ConditionId> {
        let mut open = Vec::new();
        for &id in undecided {
            let Some(monitor) = self.monitor(id) else { continue };
            let mut unknown = monitor.reads(0).iter().filter(|read| self.model.is_unknown(read.var));
            let reading = unknown
                .all(|read| known.contains(read))
                .then(|| monitor.read(0, true, &self.memory, &Scales::exact(), &mut self.scratch));
            match reading.filter(|reading| reading.value.abs() > reading.tolerance) {
                Some(reading) => guess[id] = reading.value > 0.0,
                None => open.push(id),
            }
        }
        open
    }

    /// Turns a condition for each contradicted equation, so that it is none of the guess any more, each condition once: whether
    /// there was one.
    fn turn_contradicted(
        &mut self,
        open: &[ConditionId],
        contradicted: &[EquationId],
        turned: &mut FxHashSet<ConditionId>,
        guess: &mut Truths,
    ) -> bool {
        let before = turned.len();
        let compiled = self.compiled.clone();
        for &equation in contradicted {
            let conditions = self.conditions_of(self.model.equations[equation].guard);
            let may_turn = |id: &ConditionId| open.contains(id) && !turned.contains(id);
            let tried: Vec<ConditionId> = conditions.into_iter().filter(may_turn).take(MOST_TRIED).collect();
            for id in tried {
                guess[id] = !guess[id];
                let valuation = self.guards_of(guess);
                if !compiled.modes().is_active(&valuation, equation) {
                    turned.insert(id);
                    break;
                }
                guess[id] = !guess[id];
            }
        }
        turned.len() > before
    }

    /// The conditions that a guard asks for, by itself or through discrete variables.
    fn conditions_of(&self, guard: ExprId) -> Vec<ConditionId> {
        let model = &self.model;
        let mut found = Vec::new();
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        let mut roots = vec![guard];
        while let Some(root) = roots.pop() {
            for id in model.pool.reachable(&[root]) {
                match model.pool.node(id) {
                    Node::Condition(condition) => found.push(condition),
                    Node::Var { var, .. } if seen.insert(var) => {
                        let defining = model.discrete.iter().filter(|equation| equation.target == var);
                        roots.extend(defining.map(|equation| equation.value));
                    }
                    _ => {}
                }
            }
        }
        found
    }
}
