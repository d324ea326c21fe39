//! The modes of a run. Those that were not entered for long make room for others: they are made again when they are asked
//! for. What their solvers have learnt is kept, so that a run does the same whether a mode stayed or was made again.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_mdae::Idx;
use saltus_structure::mode::Valuation;

use crate::engine::{ModeId, ModeRefusal};
use crate::kernel::Bound;
use crate::modes::floating::Floating;
use crate::modes::runtime::{ModeLearnt, ModeRuntime};

/// Modes by number, within a number of bytes.
#[derive(Clone, Debug)]
pub(crate) struct ModeCache {
    entries: Vec<Entry>,
    /// Counts the uses.
    clock: u64,
    /// When modes were last weighed.
    weighed: u64,
    bound: usize,
    /// The mode of a valuation, or why there is none.
    pub by_valuation: FxHashMap<Valuation, Result<ModeId, Arc<ModeRefusal>>>,
    /// Modes in which something floats, by valuation; `None` where that does not help.
    pub floating_by_valuation: FxHashMap<Valuation, Option<ModeId>>,
    /// What floats in them.
    pub floating: FxHashMap<ModeId, Floating>,
    /// What switches without events in the equations of modes.
    pub silent_switches: FxHashMap<ModeId, Arc<[Bound]>>,
    /// Orders that memory would have to keep for a mode that was refused for want of room.
    pub missing_orders: u16,
}

#[derive(Clone, Debug)]
enum Entry {
    Present {
        runtime: Box<ModeRuntime>,
        bytes: usize,
        /// When it was last asked for.
        used: u64,
    },
    Left(Box<ModeLearnt>),
}

impl ModeCache {
    /// An empty cache; the modes in use stay even if they alone need more than `bound` bytes.
    pub(crate) fn new(bound: usize) -> Self {
        ModeCache {
            entries: Vec::new(),
            clock: 0,
            weighed: 0,
            bound,
            by_valuation: FxHashMap::default(),
            floating_by_valuation: FxHashMap::default(),
            floating: FxHashMap::default(),
            silent_switches: FxHashMap::default(),
            missing_orders: 0,
        }
    }

    /// Adds a mode.
    pub(crate) fn push(&mut self, runtime: ModeRuntime) -> ModeId {
        let entry = self.present(runtime);
        self.entries.push(entry);
        ModeId::from_usize(self.entries.len() - 1)
    }

    /// A number for a way to go on that has no equations of its own.
    pub(crate) fn reserve(&mut self) -> ModeId {
        self.entries.push(Entry::Left(Box::default()));
        ModeId::from_usize(self.entries.len() - 1)
    }

    fn present(&mut self, runtime: ModeRuntime) -> Entry {
        self.clock += 1;
        Entry::Present {
            bytes: runtime.approximate_bytes(),
            runtime: Box::new(runtime),
            used: self.clock,
        }
    }

    /// Says that a mode is asked for; false if it has to be made again.
    pub(crate) fn ask(&mut self, mode: ModeId) -> bool {
        self.clock += 1;
        match &mut self.entries[mode.index()] {
            Entry::Present { used, .. } => {
                *used = self.clock;
                true
            }
            Entry::Left(_) => false,
        }
    }

    /// What was learnt in a mode that was let go, for the one that takes its place.
    pub(crate) fn take_learnt(&mut self, mode: ModeId) -> ModeLearnt {
        match &mut self.entries[mode.index()] {
            Entry::Left(learnt) => std::mem::take(learnt),
            Entry::Present { .. } => ModeLearnt::default(),
        }
    }

    /// A mode that was made again.
    pub(crate) fn put_back(&mut self, mode: ModeId, runtime: ModeRuntime) {
        self.entries[mode.index()] = self.present(runtime);
    }

    /// Lets go of the modes that were asked for least recently, but not of the one in force, until the others fit into a
    /// part of the bytes.
    pub(crate) fn shrink(&mut self, in_force: Option<ModeId>, part: usize) {
        let bound = self.bound / part;
        let mut total = 0;
        let weighed = std::mem::replace(&mut self.weighed, self.clock);
        for (at, entry) in self.entries.iter_mut().enumerate() {
            if let Entry::Present { runtime, bytes, used } = entry {
                // Further choices of states and derivatives are added to the mode in force and to candidates.
                if *used > weighed || in_force.is_some_and(|mode| mode.index() == at) {
                    *bytes = runtime.approximate_bytes();
                }
                total += *bytes;
            }
        }
        if total <= bound {
            return;
        }
        let present = self.entries.iter().enumerate().filter_map(|(at, entry)| match entry {
            Entry::Present { used, bytes, .. } => Some((*used, at, *bytes)),
            Entry::Left(_) => None,
        });
        let mut oldest: Vec<(u64, usize, usize)> = present.collect();
        oldest.sort_unstable();
        for (_, at, bytes) in oldest {
            if total <= bound {
                break;
            }
            if in_force.is_none_or(|mode| mode.index() != at) {
                self.let_go(at);
                total -= bytes;
            }
        }
    }

    fn let_go(&mut self, at: usize) {
        let nothing = Entry::Left(Box::default());
        self.entries[at] = match std::mem::replace(&mut self.entries[at], nothing) {
            Entry::Present { runtime, .. } => Entry::Left(Box::new(runtime.into_learnt())),
            left => left,
        };
    }

    /// The modes that are there and in which nothing floats, as if they had just been made.
    pub(crate) fn into_as_written(self) -> impl Iterator<Item = ModeRuntime> {
        let floating = self.floating;
        let entries = self.entries.into_iter().enumerate();
        entries.filter_map(move |(at, entry)| match entry {
            Entry::Present { mut runtime, .. } if !floating.contains_key(&ModeId::from_usize(at)) => {
                runtime.forget();
                Some(*runtime)
            }
            _ => None,
        })
    }

    /// The modes that are there.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ModeId, &ModeRuntime)> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(at, entry)| match entry {
            Entry::Present { runtime, .. } => Some((ModeId::from_usize(at), &**runtime)),
            Entry::Left(_) => None,
        })
    }
}

impl std::ops::Index<ModeId> for ModeCache {
    type Output = ModeRuntime;

    fn index(&self, mode: ModeId) -> &ModeRuntime {
        match &self.entries[mode.index()] {
            Entry::Present { runtime, .. } => runtime,
            Entry::Left(_) => unreachable!("the mode in force and those of the present event are there"),
        }
    }
}

impl std::ops::IndexMut<ModeId> for ModeCache {
    fn index_mut(&mut self, mode: ModeId) -> &mut ModeRuntime {
        match &mut self.entries[mode.index()] {
            Entry::Present { runtime, .. } => runtime,
            Entry::Left(_) => unreachable!("the mode in force and those of the present event are there"),
        }
    }
}
