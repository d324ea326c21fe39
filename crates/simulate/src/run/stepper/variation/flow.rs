//! Between events: the variational equations, integrated together with those of the mode.

use saltus_codegen::{Leaf, SystemError};
use saltus_mdae::{Derivative, Role};
use saltus_numerics::EvalError;
use saltus_numerics::linalg::SparsityPattern;
use saltus_numerics::ode::{IntegratorOptions, JacobianSource, OdeSystem, Start, new_integrator};

use super::{Direction, held_leaves};
use crate::engine::ModeId;
use crate::error::{Failure, FailureKind};
use crate::modes::jacobian::{LANES, Tangent};
use crate::modes::ode::ModeOde;
use crate::modes::tangent::{PartialValues, TangentPlan};
use crate::run::{Run, integration_failure};

/// How a mode is followed: with states as they are chosen now.
pub(super) struct Follower {
    pub plan: TangentPlan,
    /// The states.
    states: Vec<Derivative>,
    /// The tangents of what is known besides the states, by group of directions: they do not change between events.
    held: Vec<Vec<Tangent>>,
    /// The entries of the Jacobian of states and tangents together: that of the mode again and again.
    pattern: SparsityPattern,
}

impl Follower {
    /// For the mode of a run and the directions in which it is followed.
    pub(super) fn new(run: &mut Run, mode: ModeId, directions: &[Direction]) -> Result<Self, Failure> {
        let held: Vec<(Leaf, u32)> = held_leaves(run)
            .filter(|&(_, slot)| directions.iter().any(|direction| direction.slots[slot as usize] != 0.0))
            .collect();
        let inputs = run.engine.model.variables.iter_enumerated();
        let inputs = inputs.filter(|(_, variable)| variable.role == Role::Input);
        // Time, and inputs with their slopes, for the rates of everything along the run.
        let mut known: Vec<Leaf> = held.iter().map(|(leaf, _)| *leaf).collect();
        known.push(Leaf::Time);
        known.extend(inputs.map(|(var, _)| Leaf::var(var, 0)));
        let engine = &mut run.engine;
        let history = &run.history;
        let ode = engine.ode(mode, history);
        let plan = ode.code.tangent_plan(ode.tools, ode.pool, ode.memory, &known);
        let plan = plan.map_err(no_code)?;
        let states = ode.code.states.clone();
        let n = states.len();
        let own: Vec<(usize, usize)> = match ode.jacobian_pattern() {
            Some(pattern) => pattern.entries().collect(),
            None => (0..n * n).map(|k| (k % n, k / n)).collect(),
        };
        let blocks = 1 + directions.len();
        let entries = (0..blocks).flat_map(|block| {
            own.iter()
                .map(move |&(row, column)| (block * n + row, block * n + column))
        });
        let pattern = SparsityPattern::from_entries(blocks * n, blocks * n, entries.collect::<Vec<_>>());
        let mut groups = vec![vec![[0.0; LANES]; known.len()]; directions.len().div_ceil(LANES)];
        for (at, direction) in directions.iter().enumerate() {
            for (place, &(_, slot)) in held.iter().enumerate() {
                groups[at / LANES][place][at % LANES] = direction.slots[slot as usize];
            }
        }
        Ok(Follower {
            plan,
            states,
            held: groups,
            pattern,
        })
    }

    /// States and their derivatives in all directions.
    pub(super) fn begin(&self, run: &Run, mode: ModeId, directions: &[Direction]) -> Vec<f64> {
        let memory = &run.engine.memory;
        let mut z = Vec::new();
        run.engine.modes[mode].plan().read_states(memory, &mut z);
        for direction in directions {
            let slots = self.states.iter().map(|state| memory.slot(state.var, state.order));
            z.extend(slots.map(|slot| direction.slots[slot as usize]));
        }
        z
    }

    /// Tangents of everything in a group of directions, with the partial derivatives at the values in memory.
    fn tangents(&self, ode: &mut ModeOde<'_>, partials: &PartialValues, z: &[f64], group: usize, out: &mut [Tangent]) {
        let n = self.states.len();
        let directions = (z.len().checked_div(n).unwrap_or(1) - 1).saturating_sub(group * LANES);
        for (state, tangent) in out[..n].iter_mut().enumerate() {
            *tangent = [0.0; LANES];
            for (lane, value) in tangent.iter_mut().enumerate().take(directions) {
                *value = z[(1 + group * LANES + lane) * n + state];
            }
        }
        let held = &self.held[group];
        out[n..n + held.len()].copy_from_slice(held);
        ode.code.pass_tangents(&self.plan, partials, out);
    }

    /// Writes the derivatives of everything at a point into the directions. What the mode does not determine stays.
    pub(super) fn spread(
        &self,
        run: &mut Run,
        mode: ModeId,
        (time, z): (f64, &[f64]),
        directions: &mut [Direction],
    ) -> Result<(), Failure> {
        let (n, mut partials) = (self.states.len(), PartialValues::default());
        let evaluated = {
            let mut ode = run.engine.ode(mode, &run.history);
            let evaluated = ode.evaluate(time, &z[..n]);
            let evaluated = evaluated.and_then(|()| ode.code.partials(&self.plan, ode.memory, &mut partials));
            (evaluated, ode.last_failure.take())
        };
        if let (Err(error), blamed) = evaluated {
            return Err(match blamed {
                Some(failure) => run.engine.explain_evaluation(mode, &failure).at(time),
                None => evaluation(&error).at(time),
            });
        }
        let mut room = self.plan.room();
        for group in 0..self.held.len() {
            let mut ode = run.engine.ode(mode, &run.history);
            self.tangents(&mut ode, &partials, z, group, &mut room);
            let memory = &run.engine.memory;
            for (lane, direction) in directions[group * LANES..].iter_mut().enumerate().take(LANES) {
                for (at, &Derivative { var, order }) in self.states.iter().enumerate() {
                    direction.slots[memory.slot(var, order) as usize] = room[at][lane];
                }
                for &(Derivative { var, order }, place) in self.plan.determined() {
                    direction.slots[memory.slot(var, order) as usize] = room[place][lane];
                }
            }
        }
        Ok(())
    }

    /// The rates of everything at the values in memory, by place of the plan.
    pub(super) fn rates(&self, run: &mut Run, mode: ModeId) -> Result<Vec<f64>, Failure> {
        let (time, mut partials, mut room) = (run.engine.memory.time(), PartialValues::default(), self.plan.room());
        let from = run.engine.inputs.from;
        let slopes = run.engine.inputs.signals.clone();
        let mut ode = run.engine.ode(mode, &run.history);
        let mut y = Vec::new();
        ode.code.read_states(ode.memory, &mut y);
        let found = ode.evaluate(time, &y);
        let found = found.and_then(|()| ode.code.partials(&self.plan, ode.memory, &mut partials));
        found.map_err(|error| evaluation(&error).at(time))?;
        for (place, leaf) in self.plan.known().iter().enumerate() {
            room[place][0] = match *leaf {
                _ if place < self.states.len() => ode.memory.values[ode.code.derivative_slots[place] as usize],
                Leaf::Time => 1.0,
                Leaf::Var { var, order: 0 } => {
                    let signal = slopes.iter().find(|signal| signal.var == var);
                    signal.map_or(0.0, |signal| signal.at_from(from, time).1)
                }
                _ => 0.0,
            };
        }
        ode.code.pass_tangents(&self.plan, &partials, &mut room);
        Ok(room.into_iter().map(|tangent| tangent[0]).collect())
    }
}

pub(super) fn no_code(error: SystemError) -> Failure {
    match error {
        SystemError::Compile(error) => Failure::compile(error),
        SystemError::Unbound(leaf) => Failure::unbound(leaf),
    }
}

pub(super) fn evaluation(error: &EvalError) -> Failure {
    Failure::new(FailureKind::Integration {
        reason: error.to_string(),
        variables: Vec::new(),
        origins: Vec::new(),
    })
}

/// The equations of a mode and their variational equations.
pub(super) struct Augmented<'a> {
    ode: ModeOde<'a>,
    follower: &'a Follower,
    partials: PartialValues,
    room: Vec<Tangent>,
    own: Vec<f64>,
}

impl<'a> Augmented<'a> {
    fn new(ode: ModeOde<'a>, follower: &'a Follower) -> Self {
        Augmented {
            ode,
            partials: PartialValues::default(),
            room: follower.plan.room(),
            own: Vec::new(),
            follower,
        }
    }
}

impl OdeSystem for Augmented<'_> {
    fn dim(&self) -> usize {
        self.follower.pattern.rows()
    }

    fn rhs(&mut self, t: f64, z: &[f64], dz: &mut [f64]) -> Result<(), EvalError> {
        let n = self.follower.states.len();
        self.ode.evaluate(t, &z[..n])?;
        if self.ode.code.jumped() {
            return Err(EvalError::recoverable("the solution followed so far ceases to exist"));
        }
        for (dz, &slot) in dz.iter_mut().zip(&self.ode.code.derivative_slots) {
            *dz = self.ode.memory.values[slot as usize];
        }
        let memory = &*self.ode.memory;
        self.ode
            .code
            .partials(&self.follower.plan, memory, &mut self.partials)?;
        for group in 0..self.follower.held.len() {
            self.follower
                .tangents(&mut self.ode, &self.partials, z, group, &mut self.room);
            let blocks = dz.chunks_exact_mut(n).skip(1 + group * LANES).take(LANES);
            for (lane, block) in blocks.enumerate() {
                for (dz, place) in block.iter_mut().zip(self.follower.plan.rates()) {
                    *dz = place.map_or(0.0, |place| self.room[place][lane]);
                }
            }
        }
        Ok(())
    }

    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        Some(&self.follower.pattern)
    }

    fn jacobian_source(&self) -> JacobianSource {
        JacobianSource::Values
    }

    /// That of the mode for the states and for every direction. How tangents change with the states is left out: Newton's
    /// method finds the states first, and what is left is linear.
    fn jacobian(&mut self, t: f64, z: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        let n = self.follower.states.len();
        let entries = values.len() * n / z.len();
        self.own.resize(entries, 0.0);
        self.ode.jacobian(t, &z[..n], &mut self.own)?;
        values
            .chunks_exact_mut(entries)
            .for_each(|block| block.copy_from_slice(&self.own));
        Ok(())
    }
}

impl Run {
    /// Integrates states and their derivatives from the present time on; `visit` is called for each time asked for on the way.
    /// Both ends at `until`.
    pub(super) fn follow_phase(
        &mut self,
        mode: ModeId,
        directions: &mut [Direction],
        until: f64,
        times: &[f64],
        visit: &mut dyn FnMut(&Run, &[Direction]),
    ) -> Result<(), Failure> {
        let mut left = times;
        loop {
            let follower = Follower::new(self, mode, directions)?;
            let z = follower.begin(self, mode, directions);
            let begin = self.engine.memory.time();
            if z.is_empty() || until <= begin {
                for &time in left {
                    follower.spread(self, mode, (time, &z), directions)?;
                    visit(self, directions);
                }
                return follower.spread(self, mode, (until.max(begin), &z), directions);
            }
            let mut options = IntegratorOptions::new(self.local_tolerance(), self.tolerances(mode, directions));
            options.max_step = self.longest_step();
            let integrator = new_integrator(self.engine.options.method, options);
            let mut integrator = integrator.map_err(|error| integration_failure(error).at(begin))?;
            {
                let ode = self.engine.ode(mode, &self.history);
                ode.code.set_anchor(ode.memory);
                let mut system = Augmented::new(ode, &follower);
                let started = integrator.restart(&mut system, &Start::at(begin, &z));
                started.map_err(|error| integration_failure(error).at(begin))?;
            }
            let mut z = z;
            loop {
                let time = integrator.time();
                let step = {
                    let ode = self.engine.ode(mode, &self.history);
                    ode.code.set_anchor(ode.memory);
                    let mut system = Augmented::new(ode, &follower);
                    integrator.step(&mut system, until)
                };
                let step = step.map_err(|error| integration_failure(error).at(time))?;
                while let Some((&time, rest)) = left.split_first().filter(|(time, _)| **time <= step.t) {
                    integrator.interpolate(time, &mut z);
                    follower.spread(self, mode, (time, &z), directions)?;
                    visit(self, directions);
                    left = rest;
                }
                z.copy_from_slice(integrator.state());
                if step.t >= until {
                    return follower.spread(self, mode, (until, &z), directions);
                }
                if self.request.cancel.is_cancelled() {
                    return Ok(());
                }
                if self.engine.modes[mode].chooses_states() {
                    follower.spread(self, mode, (step.t, &z), directions)?;
                    self.engine.forget_derivatives();
                    if self.engine.choose_states(mode)? {
                        self.engine.solve_mode(mode)?;
                        break;
                    }
                }
            }
        }
    }

    /// Absolute tolerances of the states, and of their derivatives by the sizes of the parameters.
    fn tolerances(&self, mode: ModeId, directions: &[Direction]) -> Vec<f64> {
        let own = self.absolute_tolerances(mode);
        let mut all = own.clone();
        for direction in directions {
            all.extend(own.iter().map(|tolerance| tolerance / direction.scale));
        }
        all
    }
}
