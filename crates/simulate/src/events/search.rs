//! The search for a consistent mode at one instant.
//!
//! Follow what the candidates indicate while the number of violated conditions falls; then, where the conditions have
//! that form, ask complementarity pivoting for a candidate (see `pivot`); then flip single violated conditions, least
//! index first; then enumerate by distance from the first guess. Following alone solves about half of random diode
//! networks; pivoting all of them that have a solution, with one candidate more.

use rustc_hash::FxHashSet;
use saltus_mdae::{ConditionId, IndexVec};

use crate::engine::Engine;
use crate::error::Failure;
use crate::events::candidate::{Accepted, CandidateVerdict, Instant};
use crate::events::iteration::Truths;
use crate::report::{CandidateReport, Refusal};

/// Regular candidates of the enumeration from which the search sets out again.
const DEPARTURES: u32 = 4;

/// Candidates tried that follow values near zero.
const LEANING_LIMIT: usize = 8;

/// Candidates of the enumeration at one instant, times the equations of the model.
const CANDIDATE_WORK: usize = 250_000;

pub(crate) struct Search {
    pub tried: Vec<CandidateReport>,
    seen: FxHashSet<Truths>,
    /// Candidates that only ties, and values that lean to the candidate's side, spoke against.
    tied: Vec<Truths>,
    limit: usize,
    /// Whether candidates were left because there are too many.
    pub gave_up: bool,
    /// Whether some candidate had no right limits at all, or right limits clear of the surface that indicate another one:
    /// then it is not derivatives that drive to the other side.
    pub off_surface: bool,
    /// By condition, how many candidates it spoke against.
    pub contested: IndexVec<ConditionId, u32>,
    /// Candidates that one condition at its zero alone spoke against.
    pub opposed: Vec<(Truths, ConditionId)>,
}

impl Search {
    /// Puts candidates of an earlier search before those of this one.
    fn tell_first(&mut self, mut before: Vec<CandidateReport>) {
        let own = std::mem::take(&mut self.tried);
        let known: FxHashSet<Truths> = before.iter().map(|candidate| candidate.truths.clone()).collect();
        let news = |candidate: &CandidateReport| candidate.refused.is_none() || !known.contains(&candidate.truths);
        before.extend(own.into_iter().filter(news));
        self.tried = before;
    }
}

impl Engine {
    pub(crate) fn search(
        &mut self,
        guess: Truths,
        held: IndexVec<ConditionId, Option<bool>>,
        zero_crossings: Vec<ConditionId>,
        initial: bool,
    ) -> Result<(Accepted, Vec<CandidateReport>), Failure> {
        let mut instant = Instant {
            saved: self.memory.values.clone(),
            set_by_impulse: IndexVec::filled(false, held.len()),
            held,
            zero_crossings,
            initial,
            ties_confirm: false,
            leanings_confirm: false,
            projects: false,
            refused_roots: Vec::new(),
            mirrors: false,
        };
        self.event.last_refusal = None;
        self.event.singular_met = false;
        self.event.jump_met = false;
        self.event.contradicted = false;
        let (mut found, mut search) = self.search_and_project(&guess, &mut instant)?;
        if found.is_none() && self.free_latches(&mut instant) {
            (found, search) = self.search_again(&guess, search, &mut instant)?;
        }
        // A rope that snatches by little: what the jump leaves decides the next mode as certainly as a large one would.
        if found.is_none() && self.event.jump_met {
            self.event.heeds_small_jumps = true;
            let again = self.search_again(&guess, search, &mut instant);
            self.event.heeds_small_jumps = false;
            (found, search) = again?;
        }
        if found.is_none() && self.event.singular_met {
            self.event.floats = true;
            let again = self.search_again(&guess, search, &mut instant);
            self.event.floats = false;
            (found, search) = again?;
        }
        if found.is_none() && self.event.contradicted {
            instant.mirrors = true;
            let (mirrored, again) = self.search_again(&guess, search, &mut instant)?;
            instant.mirrors = false;
            (found, search) = (mirrored, again);
        }
        if initial && let Some(accepted) = found {
            let accepted = self.keep_start_values(accepted, &mut search, &mut instant)?;
            self.tell_other_fit(&accepted, &instant);
            found = Some(accepted);
        }
        if let Some(mode) = found.as_ref().and_then(|accepted| accepted.mode) {
            self.tell_floating(mode);
        }
        match found {
            Some(accepted) => Ok((*accepted, search.tried)),
            None => {
                let failure = self.no_mode(&search);
                self.event.refused_candidates = search.tried;
                Err(failure)
            }
        }
    }

    /// Start values of states weigh more than guesses of the mode: where the mode that was found moves some of them, a
    /// consistent one that moves fewer is taken. (A stop whose contact is guessed draws no body onto itself.)
    fn keep_start_values(
        &mut self,
        found: Box<Accepted>,
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Box<Accepted>, Failure> {
        let moved =
            |engine: &Self, accepted: &Accepted| accepted.mode.map_or(0, |mode| engine.moved_starts_in(mode).len());
        let mut fewest = moved(self, &found);
        if fewest == 0 {
            return Ok(found);
        }
        let free: Vec<ConditionId> = (found.truths.ids()).filter(|&id| instant.held[id].is_none()).collect();
        let mut flips = vec![free.clone()];
        flips.extend(free.iter().map(|&id| vec![id]));
        let mut best = found;
        let mut kept = (self.memory.values.clone(), self.start.moved.clone());
        let warnings = self.reported.warnings.len();
        let last = self.enumeration_limit(search);
        let mut next = flips.iter();
        while let Some(flip) = next.next().filter(|_| fewest > 0 && search.tried.len() < last) {
            let mut truths = best.truths.clone();
            flip.iter().for_each(|&id| truths[id] = !truths[id]);
            if search.seen.contains(&truths) {
                continue;
            }
            if let CandidateVerdict::Accepted(accepted) = self.attempt(&truths, search, instant)?
                && moved(self, &accepted) < fewest
            {
                fewest = moved(self, &accepted);
                best = accepted;
                kept = (self.memory.values.clone(), self.start.moved.clone());
                next = flips.iter();
            }
        }
        self.reported.warnings.truncate(warnings);
        self.forget_derivatives();
        (self.memory.values, self.start.moved) = kept;
        Ok(best)
    }

    /// Searches under wider rules; what was tried before is reported first.
    fn search_again(
        &mut self,
        guess: &Truths,
        mut before: Search,
        instant: &mut Instant,
    ) -> Result<(Option<Box<Accepted>>, Search), Failure> {
        let (found, mut search) = self.search_and_project(guess, instant)?;
        search.off_surface |= before.off_surface;
        search.opposed.append(&mut before.opposed);
        search.tell_first(std::mem::take(&mut before.tried));
        Ok((found, search))
    }

    /// Searches; where structure refuses all candidates, again with right limits of linear modes by projection.
    fn search_and_project(
        &mut self,
        guess: &Truths,
        instant: &mut Instant,
    ) -> Result<(Option<Box<Accepted>>, Search), Failure> {
        self.event.projectable = false;
        instant.projects = false;
        let (found, search) = self.search_once(guess, instant)?;
        if found.is_some() || !self.event.projectable {
            return Ok((found, search));
        }
        instant.projects = true;
        let (found, _) = self.search_once(guess, instant)?;
        if found.is_some() {
            let time = self.memory.time();
            self.reported.warnings.push(format!(
                "at t = {time}: right limits and impulses of a linear mode by the consistency projector"
            ));
        }
        Ok((found, search))
    }

    /// Latches keep during the search what the left limits say. Where no mode is consistent with that, a latch that selects
    /// equations is decided with the mode: a thyristor is blocked by the one that takes over its current. False if there is
    /// none.
    fn free_latches(&self, instant: &mut Instant) -> bool {
        let mut freed = false;
        for (id, monitor) in self.monitors.iter_enumerated() {
            let latches = monitor.as_ref().is_some_and(|monitor| monitor.latches_equations);
            let follows = self.discrete.following.binary_search(&id).is_ok();
            let held = &mut instant.held[id];
            if latches && !follows && held.is_some() {
                *held = None;
                freed = true;
            }
        }
        freed
    }

    fn search_once(
        &mut self,
        guess: &Truths,
        instant: &mut Instant,
    ) -> Result<(Option<Box<Accepted>>, Search), Failure> {
        let mut search = Search {
            tried: Vec::new(),
            seen: FxHashSet::default(),
            tied: Vec::new(),
            limit: self.options.candidate_limit as usize,
            gave_up: false,
            off_surface: false,
            contested: IndexVec::filled(0, guess.len()),
            opposed: Vec::new(),
        };
        self.event.systematic = false;
        self.event.leaning = false;
        instant.ties_confirm = false;
        instant.leanings_confirm = false;
        let (found, last_regular) = self.follow(guess, &mut search, instant)?;
        let found = match found {
            Some(found) => Some(found),
            None => {
                self.event.systematic = true;
                instant.ties_confirm = true;
                self.search_systematically(guess, last_regular, &mut search, instant)?
            }
        };
        Ok((found, search))
    }

    /// How many candidates may have been tried when the enumeration ends: small networks are searched to the end; of large
    /// ones there are too many in any case, and each costs more.
    fn enumeration_limit(&self, search: &Search) -> usize {
        let affordable = CANDIDATE_WORK / self.model.equations.len().max(1);
        search.limit.min(search.tried.len() + affordable)
    }

    fn attempt(
        &mut self,
        truths: &Truths,
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<CandidateVerdict, Failure> {
        let first = search.seen.insert(truths.clone());
        self.counters.candidates += 1;
        let verdict = self.try_candidate(truths, instant)?;
        if !matches!(verdict, CandidateVerdict::Accepted(_)) {
            self.let_go_of_refused_modes();
        }
        let refused = match &verdict {
            CandidateVerdict::Accepted(_) => None,
            CandidateVerdict::Indicates {
                truths: indicated,
                reason,
                effective,
                by_ties_only,
                on_surface,
            } => {
                search.off_surface |= !on_surface;
                if first {
                    effective.iter().for_each(|&id| search.contested[id] += 1);
                    if let (&[id], true) = (&effective[..], on_surface) {
                        search.opposed.push((truths.clone(), id));
                    }
                }
                if *by_ties_only {
                    search.tied.push(truths.clone());
                }
                let contested = self.model.conditions.iter_enumerated();
                let contested = contested.filter(|(id, _)| truths[*id] != indicated[*id]);
                Some(Refusal {
                    reason: reason.clone(),
                    origins: contested.map(|(_, condition)| condition.origin).collect(),
                    help: Vec::new(),
                })
            }
            CandidateVerdict::Inadmissible(refusal) => {
                search.off_surface = true;
                Some(refusal.clone())
            }
        };
        // A candidate that is tried again under other rules is reported once.
        if first || refused.is_none() {
            search.tried.push(CandidateReport {
                truths: truths.clone(),
                label: if self.options.trace {
                    self.label_beside_present(truths)
                } else {
                    String::new()
                },
                refused,
            });
        }
        Ok(verdict)
    }

    /// Phase 1: the modes that the conditions indicate.
    #[allow(clippy::type_complexity)]
    fn follow(
        &mut self,
        guess: &Truths,
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<(Option<Box<Accepted>>, Option<Truths>), Failure> {
        let mut current = guess.clone();
        let mut last_regular = None;
        let mut fewest = usize::MAX;
        while !search.seen.contains(&current) {
            match self.attempt(&current, search, instant)? {
                CandidateVerdict::Accepted(accepted) => return Ok((Some(accepted), last_regular)),
                CandidateVerdict::Inadmissible(_) => break,
                CandidateVerdict::Indicates { truths, .. } => {
                    let violations = truths.iter().zip(&current).filter(|(a, b)| a != b).count();
                    last_regular = Some(current);
                    if violations >= fewest {
                        break;
                    }
                    fewest = violations;
                    current = truths;
                }
            }
        }
        Ok((None, last_regular))
    }

    fn search_systematically(
        &mut self,
        guess: &Truths,
        last_regular: Option<Truths>,
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Option<Box<Accepted>>, Failure> {
        let free: Vec<ConditionId> = guess.ids().filter(|&id| instant.held[id].is_none()).collect();
        let start = match last_regular {
            Some(truths) => Some(truths),
            None => self.regularise(guess, &free),
        };
        if let Some(start) = start
            && let Some(found) = self.improve(start, &free, search, instant)?
        {
            return Ok(Some(found));
        }
        if let Some(found) = self.follow_leanings(guess, &free, search, instant)? {
            self.event.leaning = true;
            return Ok(Some(found));
        }
        self.enumerate(guess, &free, search, instant)
    }

    /// Where values that count as zero say one thing and their derivatives, which are mostly noise there, another, the sides
    /// decide to which the values lean: in the candidates that nothing else spoke against, and in the one of all these sides.
    fn follow_leanings(
        &mut self,
        guess: &Truths,
        free: &[ConditionId],
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Option<Box<Accepted>>, Failure> {
        let mut tied = std::mem::take(&mut search.tied);
        tied.dedup();
        instant.leanings_confirm = true;
        let mut found = None;
        for truths in tied {
            if let CandidateVerdict::Accepted(accepted) = self.attempt(&truths, search, instant)? {
                found = Some(accepted);
                break;
            }
        }
        let mut current = self.leanings(guess, free);
        for _ in 0..LEANING_LIMIT {
            if found.is_some() {
                break;
            }
            match self.attempt(&current, search, instant)? {
                CandidateVerdict::Accepted(accepted) => found = Some(accepted),
                CandidateVerdict::Indicates { truths, .. } if truths != current => current = truths,
                _ => break,
            }
        }
        instant.leanings_confirm = false;
        Ok(found)
    }

    /// The sides on which the conditions are at the left limits, however near to zero.
    fn leanings(&mut self, guess: &Truths, free: &[ConditionId]) -> Truths {
        let mut truths = guess.clone();
        for &id in free {
            let Some(monitor) = self.monitors[id].clone() else {
                continue;
            };
            let value = monitor
                .read(0, true, &self.memory, &self.scales, &mut self.scratch)
                .value;
            if value != 0.0 && !value.is_nan() {
                truths[id] = value > 0.0;
            }
        }
        truths
    }

    /// From a regular mode to a consistent one: by pivoting, then by single flips.
    fn improve(
        &mut self,
        mut start: Truths,
        free: &[ConditionId],
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Option<Box<Accepted>>, Failure> {
        match self.pivot(&start, search, instant)? {
            Some((_, CandidateVerdict::Accepted(found))) => return Ok(Some(found)),
            Some((pivoted, CandidateVerdict::Indicates { .. })) => start = pivoted,
            _ => {}
        }
        self.flip_violated(start, free, search, instant)
    }

    /// The candidate of complementarity pivoting, if the conditions have that form.
    fn pivot(
        &mut self,
        start: &Truths,
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Option<(Truths, CandidateVerdict)>, Failure> {
        let Some(pivoted) = self.pivoted(start, instant).filter(|truths| truths != start) else {
            return Ok(None);
        };
        self.counters.pivoted += 1;
        let verdict = self.attempt(&pivoted, search, instant)?;
        Ok(Some((pivoted, verdict)))
    }

    /// Single flips of violated conditions, least index first.
    fn flip_violated(
        &mut self,
        start: Truths,
        free: &[ConditionId],
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Option<Box<Accepted>>, Failure> {
        let mut current = start;
        let mut visited: FxHashSet<Truths> = FxHashSet::default();
        while visited.insert(current.clone()) && search.tried.len() < search.limit {
            match self.attempt(&current, search, instant)? {
                CandidateVerdict::Accepted(accepted) => return Ok(Some(accepted)),
                CandidateVerdict::Inadmissible(_) => break,
                CandidateVerdict::Indicates { truths, effective, .. } => {
                    // What makes no difference follows at once.
                    let chosen = effective.iter().copied().find(|id| free.contains(id));
                    let flipped = chosen.map(|id| (id, !current[id]));
                    let keep: Vec<(ConditionId, bool)> = effective.iter().map(|&id| (id, current[id])).collect();
                    current = truths;
                    if flipped.is_some() {
                        keep.into_iter()
                            .chain(flipped)
                            .for_each(|(id, truth)| current[id] = truth);
                    }
                }
            }
        }
        Ok(None)
    }

    /// All truth values of the free conditions by their distance from the first guess; from the first ones that are
    /// regular the search sets out again, since the guess was not.
    fn enumerate(
        &mut self,
        guess: &Truths,
        free: &[ConditionId],
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Option<Box<Accepted>>, Failure> {
        let mut departures = 0;
        let limit = self.enumeration_limit(search);
        for distance in 0..=free.len() {
            let mut chosen: Vec<usize> = (0..distance).collect();
            loop {
                if search.tried.len() >= limit {
                    search.gave_up = true;
                    return Ok(None);
                }
                let mut truths = guess.clone();
                chosen.iter().for_each(|&i| truths[free[i]] = !truths[free[i]]);
                if !search.seen.contains(&truths) {
                    match self.attempt(&truths, search, instant)? {
                        CandidateVerdict::Accepted(accepted) => return Ok(Some(accepted)),
                        CandidateVerdict::Indicates { .. } if departures < DEPARTURES => {
                            departures += 1;
                            if let Some(found) = self.improve(truths, free, search, instant)? {
                                return Ok(Some(found));
                            }
                        }
                        _ => {}
                    }
                }
                if !next_combination(&mut chosen, free.len()) {
                    break;
                }
            }
        }
        Ok(None)
    }
}

/// The next combination of `chosen.len()` out of `count`, in lexicographic order.
pub(super) fn next_combination(chosen: &mut [usize], count: usize) -> bool {
    let size = chosen.len();
    for i in (0..size).rev() {
        if chosen[i] < count - size + i {
            chosen[i] += 1;
            for j in i + 1..size {
                chosen[j] = chosen[j - 1] + 1;
            }
            return true;
        }
    }
    false
}
