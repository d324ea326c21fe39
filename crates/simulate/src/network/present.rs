//! The mode in force of a network.

use saltus_mdae::EquationId;
use saltus_structure::mode::Valuation;

use super::island::Island;
use super::tables::{Occurrence, Tables, Term};
use super::{NONE, number};
use crate::engine::Engine;
use crate::memory::Memory;
use crate::report::ImpulseReport;

/// A member of a group reacts to its state by at most so much: beyond that another one is the better state.
const LARGEST_FACTOR: f64 = 1e4;

/// Impulses that are less than this part of the largest of their island are rounding.
const ROUNDING: f64 = 1e-12;

/// Without a jump of so many errors of the states, impulses are what the error of the event's time leaves.
const JUMP: f64 = 100.0;

/// An unknown that constraints tie to a state: factor · state + offset. A state is a member of its own group.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Member {
    /// The state; none if the constraints fix the value.
    pub state: u32,
    pub factor: f64,
    pub offset: f64,
}

const LOOSE: Member = Member {
    state: NONE,
    factor: 0.0,
    offset: f64::NAN,
};

/// The equations in force, what they are connected by, and their values.
#[derive(Clone, Debug)]
pub(crate) struct Present {
    pub valuation: Valuation,
    active: Vec<bool>,
    /// Equations of which the derivative is solved (c = 1).
    pub(super) constraint: Vec<bool>,
    /// By equation, the only leading unknown, if there is only one; by unknown, that equation.
    gives: Vec<u32>,
    pub(super) given_by: Vec<u32>,
    /// By unknown, how many equations in force hold its derivative.
    rate_count: Vec<u32>,
    island_of: Vec<u32>,
    islands: Vec<Option<Box<Island>>>,
    vacant: Vec<u32>,
    pub(super) members: Vec<Member>,
    /// The unknowns that are states, those that are tied to one, and the equations that give an unknown alone.
    pub states: Vec<u32>,
    tied: Vec<u32>,
    giving: Vec<u32>,
    /// Those of them that the rates of states depend on.
    followed: Vec<u32>,
    varying: Vec<u32>,
    /// Equations in force with signals.
    signalled: Vec<u32>,
    constraint_count: usize,
    /// The values of the unknowns, then of their derivatives.
    values: Vec<f64>,
    /// The part of each equation that holds no unknowns.
    rests: Vec<f64>,
    work: Vec<f64>,
    round: u32,
    equation_marks: Vec<u32>,
    pub(super) unknown_marks: Vec<u32>,
    /// Equations that changes have looked at.
    pub looked_at: u64,
}

/// What a change has touched.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    islands: Vec<u32>,
    /// Equations that give an unknown alone and did not before.
    giving: Vec<u32>,
}

impl Present {
    /// No equation is in force yet.
    pub(crate) fn new(tables: &Tables, valuation: Valuation) -> Self {
        let (equations, unknowns) = (tables.equation_count(), tables.unknowns.len());
        Present {
            valuation,
            active: vec![false; equations],
            constraint: vec![false; equations],
            gives: vec![NONE; equations],
            given_by: vec![NONE; unknowns],
            rate_count: vec![0; unknowns],
            island_of: vec![NONE; equations],
            islands: Vec::new(),
            vacant: Vec::new(),
            members: vec![LOOSE; unknowns],
            states: Vec::new(),
            tied: Vec::new(),
            giving: Vec::new(),
            followed: Vec::new(),
            varying: Vec::new(),
            signalled: Vec::new(),
            constraint_count: 0,
            values: vec![0.0; 2 * unknowns],
            rests: tables.constants.clone(),
            work: Vec::new(),
            round: 0,
            equation_marks: vec![0; equations],
            unknown_marks: vec![0; unknowns],
            looked_at: 0,
        }
    }

    /// The structural index of the mode.
    pub(crate) fn index(&self, tables: &Tables) -> u16 {
        let algebraic = tables.has_rate.iter().any(|has_rate| !has_rate);
        u16::from(self.constraint_count > 0) + u16::from(algebraic)
    }

    /// Whether every unknown is determined, and there is something to integrate.
    pub(crate) fn is_complete(&self, tables: &Tables) -> bool {
        let determined: usize = self.islands.iter().flatten().map(|island| island.unknowns.len()).sum();
        let given = self.given_by.iter().filter(|&&equation| equation != NONE).count();
        let rates = self.rate_count.iter().zip(&tables.has_rate);
        determined + given == tables.unknowns.len()
            && !self.states.is_empty()
            && rates.into_iter().all(|(&count, &has_rate)| (count > 0) == has_rate)
    }

    pub(super) fn is_leading(&self, tables: &Tables, term: &Term, equation: u32) -> bool {
        term.is_rate || self.constraint[equation as usize] || !tables.has_rate[term.unknown as usize]
    }

    /// Where the value of a leading unknown is.
    fn place(tables: &Tables, unknown: u32) -> u32 {
        if tables.has_rate[unknown as usize] {
            unknown + tables.unknowns.len() as u32
        } else {
            unknown
        }
    }

    /// Turns equations off and on, and finds what they are connected with anew; nothing if the mode is not of the form.
    pub(crate) fn change(&mut self, tables: &Tables, off: &[EquationId], on: &[EquationId]) -> Option<Touched> {
        let mut loose = Loose::default();
        let first = self.looked_at == 0 && off.is_empty();
        for &equation in off {
            self.turn_off(tables, number(equation), &mut loose);
        }
        for &equation in on {
            self.turn_on(tables, number(equation))?;
        }
        // What is differentiated has to stay so.
        let toggled = || off.iter().chain(on).map(|&equation| number(equation));
        for term in toggled().flat_map(|equation| tables.terms(equation)) {
            let unknown = term.unknown as usize;
            if term.is_rate && (self.rate_count[unknown] == 0) == tables.has_rate[unknown] {
                return None;
            }
        }
        let mut touched = Touched::default();
        for &equation in on {
            self.place_equation(tables, number(equation), &mut loose, &mut touched)?;
        }
        self.loosen(tables, &mut loose);
        self.form_islands(tables, &loose, &mut touched)?;
        self.form_groups(tables, &touched)?;
        for &place in &touched.islands {
            if let Some(mut island) = self.islands[place as usize].take() {
                island.condensed = self.condense(tables, &island);
                self.islands[place as usize] = Some(island);
            }
        }
        self.list(
            tables,
            first || toggled().any(|equation| tables.signal_of[equation as usize] != NONE),
        );
        Some(touched)
    }

    fn turn_off(&mut self, tables: &Tables, equation: u32, loose: &mut Loose) {
        let at = equation as usize;
        if !std::mem::replace(&mut self.active[at], false) {
            return;
        }
        for term in tables.terms(equation) {
            if self.is_leading(tables, term, equation) {
                loose.unknowns.push(term.unknown);
            }
            self.rate_count[term.unknown as usize] -= u32::from(term.is_rate);
        }
        self.constraint_count -= usize::from(std::mem::replace(&mut self.constraint[at], false));
        match std::mem::replace(&mut self.gives[at], NONE) {
            NONE => self.dissolve(self.island_of[at], loose),
            unknown => self.given_by[unknown as usize] = NONE,
        }
        self.island_of[at] = NONE;
    }

    fn turn_on(&mut self, tables: &Tables, equation: u32) -> Option<()> {
        let at = equation as usize;
        if tables.foreign[at] || std::mem::replace(&mut self.active[at], true) {
            return None;
        }
        for term in tables.terms(equation) {
            self.rate_count[term.unknown as usize] += u32::from(term.is_rate);
        }
        Some(())
    }

    /// Finds out what a new equation is for.
    fn place_equation(
        &mut self,
        tables: &Tables,
        equation: u32,
        loose: &mut Loose,
        touched: &mut Touched,
    ) -> Option<()> {
        let (at, terms) = (equation as usize, tables.terms(equation));
        let constrains = |term: &Term| !term.is_rate && tables.has_rate[term.unknown as usize];
        let is_constraint = terms.iter().all(constrains);
        if is_constraint && (tables.signal_of[at] != NONE || terms.len() > 2) {
            return None;
        }
        self.constraint[at] = is_constraint;
        self.constraint_count += usize::from(is_constraint);
        let before = loose.unknowns.len();
        for term in terms.iter().filter(|term| self.is_leading(tables, term, equation)) {
            loose.unknowns.push(term.unknown);
        }
        match loose.unknowns[before..] {
            [] => return None,
            [unknown] => {
                if self.given_by[unknown as usize] != NONE {
                    return None;
                }
                self.given_by[unknown as usize] = equation;
                self.gives[at] = unknown;
                touched.giving.push(equation);
            }
            _ => loose.equations.push(equation),
        }
        Some(())
    }

    /// Takes the islands apart that hold loose unknowns.
    fn loosen(&mut self, tables: &Tables, loose: &mut Loose) {
        let mut at = 0;
        while at < loose.unknowns.len() {
            let unknown = loose.unknowns[at];
            at += 1;
            for &Occurrence { equation, .. } in tables.occurrences(unknown) {
                let island = self.island_of[equation as usize];
                if island != NONE && self.leads(tables, unknown, equation) {
                    self.dissolve(island, loose);
                }
            }
        }
    }

    fn leads(&self, tables: &Tables, unknown: u32, equation: u32) -> bool {
        let terms = tables.terms(equation).iter();
        let mut own = terms.filter(|term| term.unknown == unknown);
        own.any(|term| self.is_leading(tables, term, equation))
    }

    fn dissolve(&mut self, island: u32, loose: &mut Loose) {
        if island == NONE {
            return;
        }
        if let Some(old) = self.islands[island as usize].take() {
            for &equation in &old.equations {
                self.island_of[equation as usize] = NONE;
            }
            loose.equations.extend_from_slice(&old.equations);
            loose.unknowns.extend_from_slice(&old.unknowns);
            self.vacant.push(island);
        }
    }

    fn form_islands(&mut self, tables: &Tables, loose: &Loose, touched: &mut Touched) -> Option<()> {
        for &equation in &loose.equations {
            let at = equation as usize;
            if !self.active[at] || self.gives[at] != NONE || self.island_of[at] != NONE {
                continue;
            }
            // From the farther end on, neighbours stay together.
            let (reached, _) = self.connected(tables, equation);
            let end = reached.last().copied().unwrap_or(equation);
            let (equations, unknowns) = self.connected(tables, end);
            self.looked_at += equations.len() as u64;
            let island = self.island(tables, equations, unknowns)?;
            let place = match self.vacant.pop() {
                Some(place) => place,
                None => {
                    self.islands.push(None);
                    self.islands.len() as u32 - 1
                }
            };
            for &equation in &island.equations {
                self.island_of[equation as usize] = place;
            }
            self.work.resize(self.work.len().max(island.equations.len()), 0.0);
            self.islands[place as usize] = Some(Box::new(island));
            touched.islands.push(place);
        }
        let determined = |&unknown: &u32| {
            let belongs = |occurrence: &Occurrence| self.island_of[occurrence.equation as usize] != NONE;
            self.given_by[unknown as usize] != NONE || tables.occurrences(unknown).iter().any(belongs)
        };
        loose.unknowns.iter().all(determined).then_some(())
    }

    /// The equations that share leading unknowns with one, and these unknowns, the nearest first.
    fn connected(&mut self, tables: &Tables, from: u32) -> (Vec<u32>, Vec<u32>) {
        self.round += 1;
        let round = self.round;
        let (mut equations, mut unknowns) = (vec![from], Vec::new());
        self.equation_marks[from as usize] = round;
        let mut at = 0;
        while at < equations.len() {
            let equation = equations[at];
            at += 1;
            for term in tables.terms(equation) {
                let unknown = term.unknown as usize;
                if self.unknown_marks[unknown] == round
                    || self.given_by[unknown] != NONE
                    || !self.is_leading(tables, term, equation)
                {
                    continue;
                }
                self.unknown_marks[unknown] = round;
                unknowns.push(term.unknown);
                for &Occurrence { equation, is_rate } in tables.occurrences(term.unknown) {
                    let other = equation as usize;
                    let leading = is_rate || self.constraint[other] || !tables.has_rate[unknown];
                    if self.active[other] && leading && self.equation_marks[other] != round && self.gives[other] == NONE
                    {
                        self.equation_marks[other] = round;
                        equations.push(equation);
                    }
                }
            }
        }
        (equations, unknowns)
    }

    fn island(&mut self, tables: &Tables, equations: Vec<u32>, unknowns: Vec<u32>) -> Option<Island> {
        // The marks of the unknowns are free now: they tell positions.
        for (position, &unknown) in unknowns.iter().enumerate() {
            self.unknown_marks[unknown as usize] = position as u32;
        }
        let places = unknowns.iter().map(|&unknown| Self::place(tables, unknown)).collect();
        let positions = &self.unknown_marks;
        let made = Island::new(
            equations,
            unknowns.clone(),
            places,
            |equation| self.constraint[equation as usize],
            |equation, row| {
                for term in tables.terms(equation) {
                    let unknown = term.unknown as usize;
                    let leading = self.is_leading(tables, term, equation);
                    match (leading, self.given_by[unknown]) {
                        (true, NONE) => row.leading.push((positions[unknown], term.coefficient)),
                        (true, _) => row.known.push((Self::place(tables, term.unknown), term.coefficient)),
                        (false, _) => row.known.push((term.unknown, term.coefficient)),
                    }
                }
            },
        );
        for unknown in unknowns {
            self.unknown_marks[unknown as usize] = 0;
        }
        made
    }

    /// Ties the unknowns of touched islands to states.
    fn form_groups(&mut self, tables: &Tables, touched: &Touched) -> Option<()> {
        self.round += 1;
        let round = self.round;
        let of_islands = touched
            .islands
            .iter()
            .filter_map(|&island| self.islands[island as usize].as_ref());
        let of_islands = of_islands.flat_map(|island| island.unknowns.iter().copied());
        let given = touched.giving.iter().map(|&equation| self.gives[equation as usize]);
        let all: Vec<u32> = of_islands.chain(given).collect();
        for unknown in all {
            if tables.has_rate[unknown as usize] && self.unknown_marks[unknown as usize] != round {
                self.form_group(tables, unknown)?;
            }
        }
        Some(())
    }

    fn form_group(&mut self, tables: &Tables, first: u32) -> Option<()> {
        let round = self.round;
        let (mut group, mut at) = (vec![first], 0);
        let mut fixed = None;
        self.unknown_marks[first as usize] = round;
        self.members[first as usize] = Member {
            state: first,
            factor: 1.0,
            offset: 0.0,
        };
        while at < group.len() {
            let unknown = group[at];
            at += 1;
            let own = self.members[unknown as usize];
            for &Occurrence { equation, is_rate } in tables.occurrences(unknown) {
                let place = equation as usize;
                if is_rate || !self.active[place] || !self.constraint[place] {
                    continue;
                }
                let rest = tables.constants[place];
                match *tables.terms(equation) {
                    [term] => fixed = Some((-rest / term.coefficient - own.offset) / own.factor),
                    [a, b] => {
                        let (this, other) = if a.unknown == unknown { (a, b) } else { (b, a) };
                        if self.unknown_marks[other.unknown as usize] == round {
                            continue;
                        }
                        let ratio = -this.coefficient / other.coefficient;
                        self.unknown_marks[other.unknown as usize] = round;
                        self.members[other.unknown as usize] = Member {
                            state: first,
                            factor: ratio * own.factor,
                            offset: ratio * own.offset - rest / other.coefficient,
                        };
                        group.push(other.unknown);
                    }
                    _ => return None,
                }
            }
        }
        self.choose_state(tables, &group, fixed)
    }

    /// The members in terms of their state: the one that is preferred, then the first.
    fn choose_state(&mut self, tables: &Tables, group: &[u32], fixed: Option<f64>) -> Option<()> {
        if let Some(value) = fixed {
            for &unknown in group {
                let member = &mut self.members[unknown as usize];
                let offset = member.factor * value + member.offset;
                *member = Member { offset, ..LOOSE };
            }
            return Some(());
        }
        let rank = |unknown: u32| (std::cmp::Reverse(tables.preference[unknown as usize]), unknown);
        let state = group.iter().copied().min_by_key(|&unknown| rank(unknown))?;
        let Member { factor, offset, .. } = self.members[state as usize];
        for &unknown in group {
            let member = &mut self.members[unknown as usize];
            let ratio = member.factor / factor;
            if ratio.is_nan() || ratio.abs() > LARGEST_FACTOR {
                return None;
            }
            *member = Member {
                state,
                factor: ratio,
                offset: member.offset - ratio * offset,
            };
        }
        Some(())
    }

    /// Lists what evaluations go through.
    fn list(&mut self, tables: &Tables, signals: bool) {
        self.states.clear();
        self.tied.clear();
        self.giving.clear();
        for unknown in 0..tables.unknowns.len() as u32 {
            let at = unknown as usize;
            if tables.has_rate[at] {
                let list = if self.members[at].state == unknown {
                    &mut self.states
                } else {
                    &mut self.tied
                };
                list.push(unknown);
            }
            if self.given_by[at] != NONE {
                self.giving.push(self.given_by[at]);
            }
        }
        self.list_followed(tables);
        if signals {
            let moving =
                |&equation: &u32| self.active[equation as usize] && tables.signal_of[equation as usize] != NONE;
            self.signalled = (0..tables.equation_count() as u32).filter(moving).collect();
        }
    }

    /// Lists what the rates of states depend on.
    fn list_followed(&mut self, tables: &Tables) {
        self.round += 1;
        let (round, count) = (self.round, tables.unknowns.len());
        let marks = &mut self.unknown_marks;
        let mut read = |source: u32| {
            if let Some(mark) = marks.get_mut(source as usize) {
                *mark = round;
            }
        };
        debug_assert_eq!(count, self.members.len());
        for island in self.islands.iter().flatten() {
            match &island.condensed {
                Some(sums) => {
                    let terms = sums.iter().flat_map(|sum| &sum.terms);
                    terms.for_each(|&(source, _)| read(source));
                }
                None => island.sources().iter().for_each(|&source| read(source)),
            }
        }
        self.varying.clear();
        for at in 0..self.giving.len() {
            let equation = self.giving[at];
            if !self.gives_constant(tables, equation) {
                self.varying.push(equation);
            }
        }
        for &equation in &self.varying {
            for term in tables.terms(equation) {
                self.unknown_marks[term.unknown as usize] = round;
            }
        }
        let marks = &self.unknown_marks;
        let tied = self.tied.iter().copied();
        self.followed.clear();
        self.followed
            .extend(tied.filter(|&unknown| marks[unknown as usize] == round));
    }

    /// Takes the values of the states from memory.
    pub(crate) fn read(&mut self, tables: &Tables, memory: &Memory) {
        let count = tables.unknowns.len();
        for (at, &slot) in tables.slots.iter().enumerate() {
            self.values[at] = memory.values[slot as usize];
            if tables.has_rate[at] {
                self.values[count + at] = memory.values[slot as usize + 1];
            }
        }
    }

    /// Puts all values into memory.
    pub(crate) fn write(&self, tables: &Tables, memory: &mut Memory) {
        let count = tables.unknowns.len();
        for (at, &slot) in tables.slots.iter().enumerate() {
            // Zero has no sign.
            memory.values[slot as usize] = self.values[at] + 0.0;
            if tables.has_rate[at] {
                memory.values[slot as usize + 1] = self.values[count + at] + 0.0;
            }
        }
    }

    /// The values of the states, or of their rates.
    pub(crate) fn states(&self) -> impl Iterator<Item = f64> + '_ {
        self.states.iter().map(|&state| self.values[state as usize])
    }
    pub(crate) fn rates(&self) -> impl Iterator<Item = f64> + '_ {
        let count = self.values.len() / 2;
        self.states
            .iter()
            .map(move |&state| self.values[count + state as usize])
    }

    /// Gives the states values.
    pub(crate) fn set_states(&mut self, states: &[f64]) {
        for (&state, &value) in self.states.iter().zip(states) {
            self.values[state as usize] = value;
        }
        self.follow_states();
    }

    fn follow_states(&mut self) {
        follow(&self.tied, &self.members, &mut self.values);
    }

    /// The rates of the states at values of theirs; other unknowns are as they were.
    pub(crate) fn solve_for_rates(&mut self, tables: &Tables, time: f64, states: &[f64], memory: &mut Memory) {
        for (&state, &value) in self.states.iter().zip(states) {
            self.values[state as usize] = value;
        }
        follow(&self.followed, &self.members, &mut self.values);
        self.read_signals(tables, time, memory);
        for at in 0..self.varying.len() {
            self.solve_giving(tables, self.varying[at]);
        }
        for island in self.islands.iter().flatten() {
            match &island.condensed {
                Some(sums) => sums.iter().for_each(|sum| sum.evaluate(&mut self.values, &self.rests)),
                None => island.solve(&mut self.values, &self.rests, &mut self.work),
            }
        }
    }

    fn read_signals(&mut self, tables: &Tables, time: f64, memory: &mut Memory) {
        memory.set_time(time);
        for &equation in &self.signalled {
            let signal = &tables.signals[tables.signal_of[equation as usize] as usize];
            self.rests[equation as usize] = signal.value(memory);
        }
    }

    /// The unknown that an equation gives alone.
    fn solve_giving(&mut self, tables: &Tables, equation: u32) {
        let unknown = self.gives[equation as usize];
        let place = Self::place(tables, unknown) as usize;
        self.values[place] = if self.constraint[equation as usize] {
            0.0
        } else {
            let (mut sum, mut own) = (self.rests[equation as usize], 1.0);
            for term in tables.terms(equation) {
                if term.unknown == unknown && term.is_rate == tables.has_rate[unknown as usize] {
                    own = term.coefficient;
                } else {
                    sum += term.coefficient * self.values[term.unknown as usize];
                }
            }
            -sum / own
        };
    }

    /// Solves all equations at the values of the states.
    pub(crate) fn solve(&mut self, tables: &Tables, time: f64, memory: &mut Memory) {
        self.read_signals(tables, time, memory);
        for at in 0..self.giving.len() {
            self.solve_giving(tables, self.giving[at]);
        }
        for island in self.islands.iter().flatten() {
            island.solve(&mut self.values, &self.rests, &mut self.work);
        }
    }

    /// Jumps and impulses of what a change has touched, at the values before it; nothing if they are no numbers.
    pub(crate) fn restart(
        &mut self,
        tables: &Tables,
        engine: &Engine,
        touched: &Touched,
    ) -> Option<Vec<ImpulseReport>> {
        let mut jumps: Vec<(u32, f64)> = Vec::new();
        for &equation in &touched.giving {
            if self.constraint[equation as usize] {
                let unknown = self.gives[equation as usize];
                let [term] = *tables.terms(equation) else { continue };
                let residual = term.coefficient * self.values[unknown as usize] + self.rests[equation as usize];
                jumps.push((unknown, -residual / term.coefficient));
            }
        }
        let jump_of_given = |unknown: u32| jumps.iter().find(|jump| jump.0 == unknown).map_or(0.0, |jump| jump.1);
        let mut found = Vec::new();
        let mut impulses = Vec::new();
        let mut sides = std::mem::take(&mut self.work);
        for &island in &touched.islands {
            let Some(island) = &self.islands[island as usize] else {
                continue;
            };
            let sides = &mut sides[..island.equations.len()];
            for (side, (&equation, scale)) in sides.iter_mut().zip(island.equations.iter().zip(&island.scales)) {
                *side = -scale * self.imbalance(tables, equation, jump_of_given);
            }
            island.solve_for(sides);
            let algebraic = |unknown: u32| !tables.has_rate[unknown as usize];
            let weights = island
                .unknowns
                .iter()
                .zip(&*sides)
                .filter(|(unknown, _)| algebraic(**unknown));
            let largest = weights
                .clone()
                .fold(0.0f64, |largest, (_, weight)| largest.max(weight.abs()));
            impulses.extend(weights.filter(|(_, weight)| weight.abs() > ROUNDING * largest).map(
                |(&unknown, &weight)| ImpulseReport {
                    var: tables.unknowns[unknown as usize],
                    derivative: 0,
                    order: 1,
                    weight,
                },
            ));
            let moved = island
                .unknowns
                .iter()
                .zip(&*sides)
                .filter(|(unknown, _)| !algebraic(**unknown));
            found.extend(moved.map(|(&unknown, &jump)| (unknown, jump)));
        }
        self.work = sides;
        jumps.append(&mut found);
        if jumps.iter().any(|jump| !jump.1.is_finite()) {
            return None;
        }
        let jumped = jumps.iter().any(|&(unknown, jump)| {
            let var = tables.unknowns[unknown as usize];
            // No value is known better than to a few units of its last place.
            jump.abs() > JUMP * f64::EPSILON * self.values[unknown as usize].abs()
                && jump.abs() > JUMP * engine.scales.state_error(&engine.memory, var, 0)
        });
        let largest = jumps.iter().fold(0.0f64, |largest, jump| largest.max(jump.1.abs()));
        for (unknown, jump) in jumps {
            self.values[unknown as usize] += jump;
            if tables.named_rate[unknown as usize] && jump.abs() > ROUNDING * largest {
                impulses.push(ImpulseReport {
                    var: tables.unknowns[unknown as usize],
                    derivative: 1,
                    order: 1,
                    weight: jump,
                });
            }
        }
        self.follow_states();
        impulses.sort_by_key(|impulse| (impulse.var, impulse.derivative));
        Some(if jumped { impulses } else { Vec::new() })
    }

    /// What a constraint lacks at the values before a change; of any other equation what given unknowns that jump leave.
    fn imbalance(&self, tables: &Tables, equation: u32, jump_of_given: impl Fn(u32) -> f64) -> f64 {
        let constrains = self.constraint[equation as usize];
        let mut sum = if constrains { self.rests[equation as usize] } else { 0.0 };
        for term in tables.terms(equation) {
            if constrains {
                sum += term.coefficient * self.values[term.unknown as usize];
            }
            if self.given_by[term.unknown as usize] != NONE && self.is_leading(tables, term, equation) {
                sum += term.coefficient * jump_of_given(term.unknown);
            }
        }
        sum
    }

    /// The largest derivative of each unknown, or itself, that the mode solves for.
    pub(crate) fn highest_order(tables: &Tables, unknown: usize) -> u16 {
        u16::from(tables.has_rate[unknown])
    }
}

/// Gives unknowns that are tied to states their values.
fn follow(tied: &[u32], members: &[Member], values: &mut [f64]) {
    for &unknown in tied {
        let Member { state, factor, offset } = members[unknown as usize];
        values[unknown as usize] = match state {
            NONE => offset,
            state => factor * values[state as usize] + offset,
        };
    }
}

/// What belongs to no island any more, or not yet.
#[derive(Debug, Default)]
struct Loose {
    equations: Vec<u32>,
    unknowns: Vec<u32>,
}
