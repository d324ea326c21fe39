//! Mode changes that were analysed before.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_mdae::{ConditionId, ExprId, VarId};
use saltus_structure::restart::RestartAnalysis;

use crate::engine::ModeId;
use crate::experience::LastingChange;
use crate::modes::cache::ModeCache;

/// Analyses kept for one mode change; different facts at the left limits give different ones.
const VARIANTS: usize = 16;

/// What tells a mode change from others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ChangeKey {
    /// `None`: from the start values.
    pub from: Option<ModeId>,
    pub to: ModeId,
    pub restart: Vec<ExprId>,
    pub transient: Option<Vec<ExprId>>,
    pub switched: Vec<(ConditionId, bool)>,
    pub jumped: Vec<VarId>,
    pub zero_crossings: Vec<ExprId>,
}

/// Bytes, roughly, of an analysis for each equation, unknown and answer that it keeps.
const BYTES_PER_ENTRY: usize = 600;

/// Restart systems found so far, within a number of bytes: those that were found first make room for others.
#[derive(Clone, Debug)]
pub(crate) struct RestartCache {
    analyses: FxHashMap<ChangeKey, Vec<Arc<RestartAnalysis>>>,
    /// Changes in the order in which they were met.
    met: VecDeque<ChangeKey>,
    bytes: usize,
    bound: usize,
    /// Derivatives beyond the leading ones of the mode before that a change may ask for.
    pub(super) levels: FxHashMap<(ModeId, ModeId), u16>,
}

impl RestartCache {
    /// An empty cache; what was found last stays even if it alone needs more than `bound` bytes.
    pub(crate) fn new(bound: usize) -> Self {
        RestartCache {
            analyses: FxHashMap::default(),
            met: VecDeque::new(),
            bytes: 0,
            bound,
            levels: FxHashMap::default(),
        }
    }

    /// What is known of a change.
    pub(super) fn variants(&self, key: &ChangeKey) -> &[Arc<RestartAnalysis>] {
        self.analyses.get(key).map_or(&[], Vec::as_slice)
    }

    pub(super) fn keep(&mut self, key: &ChangeKey, analysis: Arc<RestartAnalysis>) {
        let variants = self.analyses.entry(key.clone()).or_default();
        if variants.len() >= VARIANTS {
            return;
        }
        if variants.is_empty() {
            self.met.push_back(key.clone());
        }
        self.bytes += approximate_bytes(&analysis);
        variants.push(analysis);
        while self.bytes > self.bound && self.met.len() > 1 {
            let Some(first) = self.met.pop_front() else { break };
            let gone = self.analyses.remove(&first).unwrap_or_default();
            self.bytes -= gone.iter().map(|analysis| approximate_bytes(analysis)).sum::<usize>();
        }
    }
}

pub(crate) fn approximate_bytes(analysis: &RestartAnalysis) -> usize {
    let entries = analysis.rows.len()
        + analysis.equations.len()
        + analysis.unknowns.len()
        + analysis.candidates.len()
        + analysis.answers.len();
    4096 + BYTES_PER_ENTRY * entries
}

/// A change between modes that are the same in all runs; `None` if something floats in one of them, or at the start.
pub(super) fn lasting_change(modes: &ModeCache, key: &ChangeKey) -> Option<LastingChange> {
    let valuation = |mode: ModeId| {
        let as_written = !modes.floating.contains_key(&mode);
        as_written.then(|| modes[mode].structure.valuation.clone())
    };
    Some(LastingChange {
        from: valuation(key.from?)?,
        to: valuation(key.to)?,
        restart: key.restart.clone(),
        transient: key.transient.clone(),
        switched: key.switched.clone(),
        jumped: key.jumped.clone(),
        zero_crossings: key.zero_crossings.clone(),
    })
}
