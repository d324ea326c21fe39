//! A mode change carried out: its restart system is analysed, or found again, and solved.

use std::sync::Arc;

use saltus_graph::Row;
use saltus_instant::{
    Projection, RestartFailure, RestartSolution, project_restart, solve_restart, solve_restart_apart,
    solve_restart_keeping,
};
use saltus_mdae::{ConditionId, Role, VarId};
use saltus_structure::restart::{
    Before, ModeChange, ModeEquation, NumericFacts, RestartAnalysis, RestartOptions, RestartPlan, analyze_restart,
    explain,
};

use crate::engine::{Engine, ModeId};
use crate::error::{Failure, FailureKind};
use crate::events::candidate::Instant;
use crate::options::RestartMethod;
use crate::report::ImpulseReport;
use crate::restart::cache::{ChangeKey, lasting_change};
use crate::restart::facts::{Known, Present};
use crate::restart::refusal::{origin_of, refused, unsolved};
use crate::restart::steady::Steady;

/// A mode change that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    /// The mode left; `None`: from the start values.
    pub from: Option<ModeId>,
    /// The mode entered.
    pub to: ModeId,
    /// Restart equations.
    pub restart: &'a [ModeEquation],
    /// The equations of the transient mode between the two, if there is one.
    pub transient: Option<&'a [ModeEquation]>,
    /// Conditions inside equations that switch, with their value before.
    pub switched: Vec<(ConditionId, bool)>,
    /// Discrete variables that jump.
    pub jumped: Vec<VarId>,
}

impl Request<'_> {
    /// From the start values to a mode.
    pub(crate) fn start(to: ModeId, restart: &[ModeEquation]) -> Request<'_> {
        Request {
            from: None,
            to,
            restart,
            transient: None,
            switched: Vec::new(),
            jumped: Vec::new(),
        }
    }

    /// Whether the same equations go on with the same values.
    pub(crate) fn changes_nothing(&self) -> bool {
        let nothing_asked = self.restart.is_empty() && self.transient.is_none();
        self.from == Some(self.to) && nothing_asked && self.switched.is_empty() && self.jumped.is_empty()
    }
}

impl Engine {
    /// Analyses (or finds) and solves the restart system; the right limits are written into memory.
    pub(crate) fn change(&mut self, request: Request<'_>, instant: &Instant) -> Result<Vec<ImpulseReport>, Failure> {
        self.counters.restarts += 1;
        let (from, to) = (request.from, request.to);
        if from.is_some() && self.lessons.parameters.is_none() {
            self.lessons.parameters = Some(self.parameter_bits());
        }
        let (restart, transient) = (request.restart, request.transient);
        let key = self.change_key(request, instant);
        let options = self.restart_options(from, to);
        self.restore_left_limits(from, to);
        let model = Arc::clone(&self.model);
        let is_unknown = |var: VarId| model.variables.get(var).is_some_and(|v| v.role == Role::Continuous);
        let before = from.map(|from| Arc::clone(&self.modes[from].system));
        let new = Arc::clone(&self.modes[to].system);
        let unguarded = if from.is_none() {
            self.unguarded_rows(to)
        } else {
            Vec::new()
        };
        let change = ModeChange {
            before: match &before {
                Some(before) => Before::Mode(before),
                None => Before::Start { unguarded: &unguarded },
            },
            new: &new,
            zero_crossings: &key.zero_crossings,
            restart_equations: restart,
            transient,
            jumped: &key.jumped,
            switched: &key.switched,
            is_unknown: &is_unknown,
            examined: None,
            options: &options,
        };
        if let Some(from) = from {
            if !change.may_restart() {
                self.steady = Vec::new();
                return Ok(self.take_right_limits(to, &RestartSolution::default()));
            }
            self.find_errors_before(from, instant);
        }
        self.extend_left_limits(from, to, instant);
        let analysis = self.analysis_of(&change, &key);
        let mut solution = self.solve_change(&change, &analysis, to, instant)?;
        let steady = steady_coefficients(&change, &analysis, &solution);
        if self.options.verify_restarts || self.options.restart == RestartMethod::Euler {
            self.compare_with_euler(&change, &analysis, &mut solution);
        }
        self.steady = steady;
        self.event.jump_met |= from.is_some();
        let impulses = self.take_right_limits(to, &solution);
        self.event.last_root = solution.unknowns;
        Ok(impulses)
    }

    fn change_key(&self, request: Request<'_>, instant: &Instant) -> ChangeKey {
        let residuals = |equations: &[ModeEquation]| equations.iter().map(|equation| equation.residual).collect();
        let function = |&id: &ConditionId| Some(self.monitors[id].as_ref()?.function);
        ChangeKey {
            from: request.from,
            to: request.to,
            restart: residuals(request.restart),
            transient: request.transient.map(residuals),
            switched: request.switched,
            jumped: request.jumped,
            zero_crossings: instant.zero_crossings.iter().filter_map(function).collect(),
        }
    }

    /// What follows from the change as it is at these left limits: found in this run, in one before, or analysed.
    fn analysis_of(&mut self, change: &ModeChange<'_>, key: &ChangeKey) -> Arc<RestartAnalysis> {
        let present = Present {
            memory: &self.memory,
            initial: key.from.is_none(),
        };
        let known = Known {
            model: &self.model,
            memory: &self.memory,
            nominal: &self.nominal,
            scales: &self.scales,
            tolerance: self.fact_tolerance(),
        };
        let functions = &self.model.functions;
        let mut facts = NumericFacts::new(functions, &known, &present, change.is_unknown);
        facts.tolerance = self.fact_tolerance();
        let pool = &mut self.pool;
        let found = (self.restarts.variants(key).iter())
            .find(|analysis| analysis.agrees(pool, &mut facts))
            .cloned();
        if let Some(analysis) = found {
            return analysis;
        }
        self.counters.restart_analyses += 1;
        let lasting = lasting_change(&self.modes, key);
        let experience = self.experience.as_deref().zip(lasting.as_ref());
        let parameters = self.lessons.parameters.as_deref().unwrap_or_default();
        let known_before = experience.and_then(|(experience, change)| {
            let mut analyses = experience.analyses(change, parameters).iter();
            analyses.find(|analysis| analysis.agrees(pool, &mut facts)).cloned()
        });
        let analysis = known_before.unwrap_or_else(|| {
            let analysis = Arc::new(analyze_restart(pool, functions, &known, *change, &mut facts));
            if let Some(change) = lasting {
                self.lessons.analyse(change, &analysis);
            }
            analysis
        });
        self.restarts.keep(key, analysis.clone());
        analysis
    }

    /// Right limits and impulses by the plan of the change; by projection where structure cannot decide and the mode is
    /// linear.
    fn solve_change(
        &mut self,
        change: &ModeChange<'_>,
        analysis: &RestartAnalysis,
        to: ModeId,
        instant: &Instant,
    ) -> Result<RestartSolution, Failure> {
        match &analysis.plan {
            Some(plan) if analysis.is_good() => self.solve_plan(change, analysis, plan, to, instant),
            // Impulses beyond the last instant, or equations that no instant has room for: the projector decides linear
            // cases here too (F.1), but only where no other mode is consistent.
            _ => {
                if !analysis.is_projectable() || !change.restart_equations.is_empty() || change.transient.is_some() {
                    return Err(refused(explain(&self.model, &self.pool, change, analysis)));
                }
                if !instant.projects {
                    self.event.projectable = true;
                    return Err(refused(explain(&self.model, &self.pool, change, analysis)));
                }
                let projected = self.projected(change, analysis);
                projected.ok_or_else(|| refused(explain(&self.model, &self.pool, change, analysis)))
            }
        }
    }

    fn solve_plan(
        &self,
        change: &ModeChange<'_>,
        analysis: &RestartAnalysis,
        plan: &RestartPlan,
        to: ModeId,
        instant: &Instant,
    ) -> Result<RestartSolution, Failure> {
        let (pool, functions) = (&self.pool, &self.model.functions);
        let present = Present {
            memory: &self.memory,
            initial: change.previous().is_none(),
        };
        let known = Known {
            model: &self.model,
            memory: &self.memory,
            nominal: &self.nominal,
            scales: &self.scales,
            tolerance: self.fact_tolerance(),
        };
        if !instant.refused_roots.is_empty() {
            let other = solve_restart_apart(pool, functions, plan, &present, &known, &instant.refused_roots);
            return other
                .ok_or_else(|| Failure::new(FailureKind::Restart("the law has no other solution".to_string().into())));
        }
        match solve_restart(pool, functions, plan, &present, &known) {
            Ok(solution) => Ok(solution),
            // Structure says yes, numbers say no: the consistency projector decides linear cases (F.2 of RR-9603).
            Err(failure @ RestartFailure::Singular { .. }) => match self.projected(change, analysis) {
                Some(solution) => Ok(solution),
                None => {
                    let algebraic = |var: VarId| self.modes[to].highest_order(var) == Some(0);
                    solve_restart_keeping(pool, functions, plan, &present, &known, &algebraic)
                        .map_err(|_| unsolved(&self.compiled, change, plan, &failure))
                }
            },
            Err(failure) => Err(unsolved(&self.compiled, change, plan, &failure)),
        }
    }

    fn projected(&self, change: &ModeChange<'_>, analysis: &RestartAnalysis) -> Option<RestartSolution> {
        let present = Present {
            memory: &self.memory,
            initial: change.previous().is_none(),
        };
        let rows = touched_rows(change, analysis);
        let projected = project_restart(&self.pool, &self.model.functions, change.new, &rows, &present);
        projected.ok().map(projected_solution)
    }

    fn restart_options(&self, from: Option<ModeId>, new: ModeId) -> RestartOptions {
        let remembered = match from {
            Some(from) => {
                let dead = &self.modes[from].structure.dead;
                let alive = |var: &VarId| self.modes[new].highest_order(*var).is_some();
                dead.iter()
                    .copied()
                    .filter(alive)
                    .filter(|var| self.last_values.contains_key(var))
                    .collect()
            }
            None => Vec::new(),
        };
        RestartOptions {
            remembered,
            past_by_invariants: true,
            ..RestartOptions::default()
        }
    }
}

/// The equations of the components that a change touches.
pub(super) fn touched_rows(change: &ModeChange<'_>, analysis: &RestartAnalysis) -> Vec<Row> {
    let touched = analysis.components.iter();
    let rows = touched.flat_map(|touched| change.new.component_rows(touched.component).iter().copied());
    rows.collect()
}

/// The coefficients of impulses that must not jump, with where they are.
fn steady_coefficients(change: &ModeChange, analysis: &RestartAnalysis, solution: &RestartSolution) -> Vec<Steady> {
    let Some(plan) = &analysis.plan else { return Vec::new() };
    let equations = solution.steady.iter().map(|&position| &plan.equations[position]);
    equations
        .filter_map(|equation| {
            Some(Steady {
                coefficients: equation.steady.clone(),
                origin: origin_of(change, equation)?,
            })
        })
        .collect()
}

/// Right limits and impulses found by projection.
fn projected_solution(projection: Projection) -> RestartSolution {
    RestartSolution {
        rounding: vec![0.0; projection.right_limits.len()],
        errors: vec![0.0; projection.right_limits.len()],
        right_limits: projection.right_limits,
        impulses: projection.impulses,
        unknowns: Vec::new(),
        residual: 0.0,
        rank: 0,
        steady: Vec::new(),
    }
}
