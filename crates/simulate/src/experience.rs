//! What runs of a model have learnt about its modes and mode changes, for the runs after them.
//!
//! A mode depends on the equations that its guards select and on nothing else of a run; so its structure, its plan and its
//! code serve every run. What solvers find out on the way (the order of pivots, whether straight-line code can be trusted) does
//! not: it is forgotten, so that the first and later runs are the same to the last bit. The analysis of a mode change also
//! depends on parameters; it serves runs with the same ones, and is asked whether its answers hold there, as within a run.
//!
//! A run takes what is known when it begins and offers more when it ends. New expressions have numbers that other runs may use
//! for theirs; so an offer is taken only from a run that began with what is known now.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use saltus_codegen::KernelCache;
use saltus_mdae::{ConditionId, ExprId, ExprPool, Role, VarId};
use saltus_structure::mode::Valuation;
use saltus_structure::restart::RestartAnalysis;

use crate::engine::{Engine, ModeRefusal};
use crate::events::condition::Monitors;
use crate::events::discrete::DiscreteProgram;
use crate::events::pivot::PivotRows;
use crate::events::simplified::Paths;
use crate::kernel::Bound;
use crate::memory::Memory;
use crate::modes::runtime::ModeRuntime;
use crate::options::Redundant;
use crate::restart::approximate_bytes;

/// Bytes, roughly, that a model keeps for later runs. Models with so many modes are not run again and again in the same ones.
const MOST_BYTES: usize = 16 << 20;

/// Expressions that runs may add to those of the model.
const MOST_EXPRESSIONS: usize = 200_000;

/// Singular modes that are kept.
const MOST_REFUSALS: usize = 1000;

/// The mode of a valuation, as if it had just been made, or why there is none.
pub(crate) type KnownMode = Result<Arc<ModeRuntime>, Arc<ModeRefusal>>;

/// A mode change in terms that are the same in all runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LastingChange {
    pub from: Valuation,
    pub to: Valuation,
    pub restart: Vec<ExprId>,
    pub transient: Option<Vec<ExprId>>,
    pub switched: Vec<(ConditionId, bool)>,
    pub jumped: Vec<VarId>,
    pub zero_crossings: Vec<ExprId>,
}

/// Mode changes that were analysed with some values of the parameters.
#[derive(Clone, Debug, Default)]
struct KnownChanges {
    /// The values, bit by bit.
    parameters: Vec<u64>,
    analyses: FxHashMap<LastingChange, Vec<Arc<RestartAnalysis>>>,
}

/// What is known of a model.
#[derive(Debug)]
pub(crate) struct Experience {
    /// Derivatives that memory has room for.
    orders: u16,
    /// Which modes count as singular.
    redundant: Redundant,
    pub pool: Arc<ExprPool>,
    pub cache: KernelCache,
    /// Places without values.
    pub memory: Memory,
    pub monitors: Monitors,
    pub discrete: DiscreteProgram,
    pub guards: Vec<Bound>,
    pub paths: Paths,
    pub pivot_rows: PivotRows,
    modes: FxHashMap<Valuation, KnownMode>,
    changes: KnownChanges,
    /// Bytes of these.
    change_bytes: usize,
}

impl Experience {
    /// The mode of a valuation, if it is known.
    pub(crate) fn mode(&self, valuation: &Valuation) -> Option<&KnownMode> {
        self.modes.get(valuation)
    }

    /// What is known of a mode change with these values of the parameters.
    pub(crate) fn analyses(&self, change: &LastingChange, parameters: &[u64]) -> &[Arc<RestartAnalysis>] {
        if self.changes.parameters != parameters {
            return &[];
        }
        self.changes.analyses.get(change).map_or(&[], Vec::as_slice)
    }
}

/// What a model keeps for its runs.
#[derive(Debug, Default)]
pub(crate) struct Learnt(Mutex<Option<Arc<Experience>>>);

impl Learnt {
    /// What is known for runs of a kind.
    pub(crate) fn experience(&self, orders: u16, redundant: Redundant) -> Option<Arc<Experience>> {
        let known = self.lock().clone();
        known.filter(|known| known.orders == orders && known.redundant == redundant)
    }

    /// Takes what a run offers, unless another has added something since it began.
    fn offer(&self, began_with: Option<&Arc<Experience>>, offered: Experience) {
        let mut known = self.lock();
        let same = match (&*known, began_with) {
            (Some(known), Some(began_with)) => Arc::ptr_eq(known, began_with),
            (None, None) => true,
            _ => false,
        };
        if same {
            *known = Some(Arc::new(offered));
        }
    }

    /// Nothing panics while the lock is held, so a poisoned one still guards sound data.
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Experience>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one run has learnt beyond what it began with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lessons {
    /// Modes that were made.
    pub modes: usize,
    /// Singular modes that were met.
    pub refused: Vec<(Valuation, Arc<ModeRefusal>)>,
    /// Mode changes that were analysed, in order.
    changes: Vec<(LastingChange, Arc<RestartAnalysis>)>,
    /// Bytes of these.
    bytes: usize,
    /// The parameters with which they were, once there are any.
    pub parameters: Option<Vec<u64>>,
}

impl Lessons {
    /// A singular mode was met.
    pub(crate) fn refuse(&mut self, valuation: &Valuation, refusal: &Arc<ModeRefusal>) {
        if matches!(**refusal, ModeRefusal::Structure(_)) && self.refused.len() < MOST_REFUSALS {
            self.refused.push((valuation.clone(), refusal.clone()));
        }
    }

    /// A mode change was analysed.
    pub(crate) fn analyse(&mut self, change: LastingChange, analysis: &Arc<RestartAnalysis>) {
        self.bytes += approximate_bytes(analysis);
        if self.bytes <= MOST_BYTES {
            self.changes.push((change, analysis.clone()));
        } else {
            self.changes = Vec::new();
        }
    }
}

impl Engine {
    /// The values of all parameters, bit by bit.
    pub(crate) fn parameter_bits(&self) -> Vec<u64> {
        let variables = self.model.variables.iter_enumerated();
        let parameters = variables.filter(|(_, variable)| variable.role == Role::Parameter);
        parameters.map(|(id, _)| self.memory.get(id, 0).to_bits()).collect()
    }

    /// Hands what the run has learnt to the model.
    pub(crate) fn teach(mut self) {
        let lessons = std::mem::take(&mut self.lessons);
        let began_with = self.experience.take();
        let known_changes = began_with.as_ref().map(|known| &known.changes);
        let parameters = lessons.parameters.unwrap_or_default();
        // A run with other parameters does not replace what is known with those of others.
        let of_use = known_changes.is_none_or(|known| known.analyses.is_empty() || known.parameters == parameters);
        let changes = if of_use { lessons.changes } else { Vec::new() };
        let room = MOST_REFUSALS.saturating_sub(began_with.as_ref().map_or(0, |known| known.modes.len()));
        let refused = lessons.refused.into_iter().take(room);
        let news = lessons.modes > 0 || refused.len() > 0 || !changes.is_empty();
        let own_bytes: usize = self.modes.iter().map(|(_, mode)| mode.approximate_bytes()).sum();
        let compiled = self.compiled.clone();
        let expressions = self.pool.len() - compiled.pool().len();
        if self.options.profile || !news || own_bytes > MOST_BYTES || expressions > MOST_EXPRESSIONS {
            return;
        }
        let mut modes = began_with.as_ref().map(|known| known.modes.clone()).unwrap_or_default();
        for runtime in self.modes.into_as_written() {
            let valuation = runtime.structure.valuation.clone();
            modes.insert(valuation, Ok(Arc::new(runtime)));
        }
        let change_bytes = began_with.as_ref().map_or(0, |known| known.change_bytes) + lessons.bytes;
        let mode_bytes = modes.values().flatten().map(|mode| mode.approximate_bytes());
        if mode_bytes.sum::<usize>() + change_bytes > MOST_BYTES {
            return;
        }
        modes.extend(refused.map(|(valuation, refusal)| (valuation, Err(refusal))));
        let mut known = known_changes.cloned().unwrap_or_default();
        if !changes.is_empty() {
            known.parameters = parameters;
        }
        for (change, analysis) in changes {
            known.analyses.entry(change).or_default().push(analysis);
        }
        let Some(pool) = self.pool.onto(compiled.pool()) else {
            return;
        };
        self.memory.values.fill(0.0);
        self.discrete.pinned.clear();
        let offered = Experience {
            orders: self.orders,
            redundant: self.options.redundant,
            pool: Arc::new(pool),
            cache: self.cache.frozen(),
            memory: self.memory,
            monitors: self.monitors,
            discrete: self.discrete,
            guards: self.guards,
            paths: self.paths,
            pivot_rows: self.pivot_rows,
            modes,
            changes: known,
            change_bytes,
        };
        compiled.learnt().offer(began_with.as_ref(), offered);
    }
}
