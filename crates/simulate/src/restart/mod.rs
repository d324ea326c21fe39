//! Mode changes at run time: from left limits to right limits and impulses.
//!
//! | module | what lives there |
//! |---|---|
//! | `change` | the restart system of a change, analysed or found again, and solved |
//! | `cache` | what was analysed before |
//! | `left_limits` | left limits that the mode before does not have by itself |
//! | `facts` | what is known at the instant: values, sizes, errors |
//! | `reinit` | which equations do not hold while states are set |
//! | `products`, `steady` | factors that jump: what is conserved, and what is refused |
//! | `euler` | the comparison with implicit Euler steps |
//! | `refusal` | why a change cannot be carried out, in words |

mod cache;
mod change;
mod euler;
mod facts;
mod left_limits;
mod products;
mod refusal;
mod reinit;
pub(crate) mod steady;

use saltus_instant::RestartSolution;
use saltus_instant::discrete::Reinit;
use saltus_mdae::{ConditionId, Derivative, ExprId, Node, VarId};
use saltus_structure::restart::ModeEquation;

use crate::engine::{Engine, ModeId, tools};
use crate::error::Failure;
use crate::events::candidate::Instant;
use crate::events::iteration::same;
use crate::report::ImpulseReport;

pub(crate) use cache::{RestartCache, approximate_bytes};
pub(crate) use change::Request;
pub(crate) use facts::{Known, Present, fact_tolerance};

/// Jumps of so many errors of the states are what these, and that of the time of the event, leave.
const OF_LOCATION: f64 = 100.0;
/// Impulses up to so many errors, those of what they balance, are none: conditions have the same margin.
const OF_STATES: f64 = 10.0;

impl Engine {
    /// From the left limits in memory to the right limits of `new`, with all its variables computed.
    pub(crate) fn restart(
        &mut self,
        new: ModeId,
        restart: &[ModeEquation],
        transient: Option<&[ModeEquation]>,
        instant: &Instant,
    ) -> Result<Vec<ImpulseReport>, Failure> {
        if instant.initial {
            return self.start(new, restart, instant);
        }
        let from = self.mode.expect("a mode is active after the start");
        let request = Request {
            from: Some(from),
            to: new,
            restart,
            transient,
            switched: self.switched_conditions(from, new),
            jumped: self.jumped_variables(from, new),
        };
        let impulses = if request.changes_nothing() {
            Vec::new()
        } else {
            self.change(request, instant)?
        };
        self.enter(new)?;
        self.check_steady()?;
        Ok(impulses)
    }

    /// `reinit` as the language means it, where the mode needs no help from it: at the end of the instant the states get
    /// their new values, all other states keep theirs, and what the constraints bind to them follows without impulses.
    /// `None` if the mode change fails without the new values, or the constraints leave a choice of what follows: then
    /// `reinit` is a restart equation, and the conserved quantities decide.
    pub(crate) fn reassign(
        &mut self,
        new: ModeId,
        reinits: &[Reinit],
        instant: &Instant,
    ) -> Option<Vec<ImpulseReport>> {
        let impulses = self.restart(new, &[], None, instant).ok()?;
        let values: Result<Vec<f64>, Failure> = reinits.iter().map(|reinit| self.value_of(reinit.value)).collect();
        let values = values.ok()?;
        let targets: Vec<Derivative> = reinits
            .iter()
            .map(|reinit| Derivative::new(reinit.var, reinit.order))
            .collect();
        let tools = tools(&self.compiled, &self.cache, &self.nominal, &self.options);
        let runtime = &mut self.modes[new];
        if !runtime.prefer_states(tools, &self.pool, &self.memory, &targets).ok()? {
            return None;
        }
        for ((&Derivative { var, order }, value), reinit) in targets.iter().zip(values).zip(reinits) {
            self.memory.set(var, order, value);
            if self.is_exact(reinit.value) {
                self.scales.note_reset(var, order, value, self.memory.time());
            }
        }
        self.solve_mode(new).ok()?;
        self.enter(new).ok()?;
        Some(impulses)
    }

    /// Whether an expression reads nothing that is integrated or located.
    fn is_exact(&self, value: ExprId) -> bool {
        let nodes = self.pool.reachable(&[value]);
        !nodes.into_iter().any(|id| match self.pool.node(id) {
            Node::Time => true,
            Node::Var { var, .. } | Node::Pre { var, .. } => self.pool.variable_traits(var).continuous,
            _ => false,
        })
    }

    /// Computes all variables of a mode from its right limits below the leading derivatives.
    pub(crate) fn enter(&mut self, new: ModeId) -> Result<(), Failure> {
        self.choose_states(new)?;
        self.solve_mode(new)?;
        self.bury_dead_variables(new);
        Ok(())
    }

    /// Dead variables have no value; what they were last is remembered elsewhere.
    fn bury_dead_variables(&mut self, mode: ModeId) {
        for at in 0..self.modes[mode].structure.dead.len() {
            let var = self.modes[mode].structure.dead[at];
            let last = self.memory.get(var, 0);
            if last.is_finite() {
                self.last_values.insert(var, last);
            }
            for order in 0..self.memory.orders(var) {
                self.memory.set(var, order, f64::NAN);
            }
        }
    }

    fn switched_conditions(&self, from: ModeId, to: ModeId) -> Vec<(ConditionId, bool)> {
        let (old, new) = (&self.modes[from], &self.modes[to]);
        let matters = |id: &ConditionId| old.jump_conditions.contains(id) || new.jump_conditions.contains(id);
        self.model
            .conditions
            .ids()
            .filter(|id| self.truths[*id] != self.memory.condition(*id))
            .filter(matters)
            .map(|id| (id, self.truths[id]))
            .collect()
    }

    fn jumped_variables(&self, from: ModeId, to: ModeId) -> Vec<VarId> {
        let (old, new) = (&self.modes[from], &self.modes[to]);
        let mut found: Vec<VarId> = old
            .jump_variables
            .union(&new.jump_variables)
            .copied()
            .filter(|&var| !same(self.memory.get(var, 0), self.memory.left(var, 0)))
            .collect();
        found.sort_unstable();
        found
    }

    fn take_right_limits(&mut self, new: ModeId, solution: &RestartSolution) -> Vec<ImpulseReport> {
        let structure = &self.modes[new].structure;
        for (&var, &d) in structure.unknowns.iter().zip(&structure.sigma.d) {
            for order in 0..d {
                let left = self.memory.left(var, order);
                self.memory.set(var, order, if left.is_finite() { left } else { 0.0 });
            }
        }
        let heeds_all = self.event.heeds_small_jumps;
        let (of_location, of_states) = if heeds_all {
            (0.0, 0.0)
        } else {
            (OF_LOCATION, OF_STATES)
        };
        let mut jumped = false;
        for (at, &(var, order, value)) in solution.right_limits.iter().enumerate() {
            let rounding = solution.rounding[at];
            // A capacitor that was never charged takes part of what a loop of others is off by.
            let taken_over = solution.errors[at];
            let error = self.scales.state_error(&self.memory, var, order).max(taken_over);
            jumped |= (value - self.memory.get(var, order)).abs() > of_location * error + rounding;
            self.memory.set(var, order, value);
        }
        // Without a jump beyond the error of the event location, impulses are what that error leaves; so is one that a loop of
        // capacitors needs because they are off by their errors, while potentials jump for other reasons.
        if !jumped {
            return Vec::new();
        }
        solution
            .impulses
            .iter()
            .filter(|impulse| impulse.weight.abs() > of_states * impulse.error)
            .map(|impulse| ImpulseReport {
                var: impulse.var,
                derivative: impulse.order,
                order: impulse.mu as u16,
                weight: impulse.weight,
            })
            .collect()
    }
}
