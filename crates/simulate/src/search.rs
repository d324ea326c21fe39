//! The search for a consistent mode at one instant.
//!
//! Follow what the candidates indicate while the number of violated conditions falls; then, where the conditions have
//! that form, ask complementarity pivoting for a candidate (see `pivot`); then flip single violated conditions, least
//! index first; then enumerate by distance from the first guess. Following alone solves about half of random diode
//! networks; pivoting all of them that have a solution, with one candidate more.

use rustc_hash::FxHashSet;
use saltus_mdae::ConditionId;

use crate::candidate::{Accepted, Instant, Verdict};
use crate::engine::Engine;
use crate::error::{Failure, FailureKind};
use crate::event::Truths;
use crate::report::{CandidateReport, Refusal};

/// Regular candidates of the enumeration from which the search sets out again.
const DEPARTURES: u32 = 4;

/// Candidates tried that follow values near zero.
const LEANING_LIMIT: usize = 8;

struct Search {
    tried: Vec<CandidateReport>,
    seen: FxHashSet<Truths>,
    /// Candidates that only ties, and values that lean to the candidate's side, spoke against.
    tied: Vec<Truths>,
    limit: usize,
    /// Whether some candidate had no right limits at all, or right limits clear of the surface that indicate another one:
    /// then it is not derivatives that drive to the other side.
    off_surface: bool,
}

impl Engine<'_> {
    pub(crate) fn search(
        &mut self,
        guess: Truths,
        held: Vec<Option<bool>>,
        zero_crossings: Vec<ConditionId>,
        initial: bool,
    ) -> Result<(Accepted, Vec<CandidateReport>), Failure> {
        let mut instant = Instant {
            saved: self.memory.values.clone(),
            set_by_impulse: vec![false; held.len()],
            held,
            zero_crossings,
            initial,
            ties_confirm: false,
            leanings_confirm: false,
            projects: false,
        };
        self.projectable = false;
        self.last_refusal = None;
        let (found, search) = self.search_once(&guess, &mut instant)?;
        let found = match found {
            None if self.projectable => {
                instant.projects = true;
                let (found, _) = self.search_once(&guess, &mut instant)?;
                if found.is_some() {
                    let time = self.memory.time();
                    self.warnings.push(format!(
                        "at t = {time}: right limits and impulses of a linear mode by the consistency projector"
                    ));
                }
                found
            }
            found => found,
        };
        match found {
            Some(accepted) => Ok((*accepted, search.tried)),
            None => Err(self.no_mode(&search)),
        }
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
            off_surface: false,
        };
        self.systematic = false;
        self.leaning = false;
        instant.ties_confirm = false;
        instant.leanings_confirm = false;
        let (found, last_regular) = self.follow(guess, &mut search, instant)?;
        let found = match found {
            Some(found) => Some(found),
            None => {
                self.systematic = true;
                instant.ties_confirm = true;
                self.search_systematically(guess, last_regular, &mut search, instant)?
            }
        };
        Ok((found, search))
    }

    fn attempt(&mut self, truths: &Truths, search: &mut Search, instant: &mut Instant) -> Result<Verdict, Failure> {
        let first = search.seen.insert(truths.clone());
        self.counters.candidates += 1;
        let verdict = self.try_candidate(truths, instant)?;
        let refused = match &verdict {
            Verdict::Accepted(_) => None,
            Verdict::Indicates {
                truths: indicated,
                reason,
                by_ties_only,
                on_surface,
                ..
            } => {
                search.off_surface |= !on_surface;
                if *by_ties_only {
                    search.tied.push(truths.clone());
                }
                let contested = self.model.conditions.iter_enumerated();
                let contested = contested.filter(|(id, _)| truths[id.0 as usize] != indicated[id.0 as usize]);
                Some(Refusal {
                    reason: reason.clone(),
                    origins: contested.map(|(_, condition)| condition.origin).collect(),
                    help: Vec::new(),
                })
            }
            Verdict::Inadmissible(refusal) => {
                search.off_surface = true;
                Some(refusal.clone())
            }
        };
        // A candidate that is tried again under other rules is told once.
        if first || refused.is_none() {
            search.tried.push(CandidateReport {
                truths: truths.clone(),
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
                Verdict::Accepted(accepted) => return Ok((Some(accepted), last_regular)),
                Verdict::Inadmissible(_) => break,
                Verdict::Indicates { truths, .. } => {
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
        let free: Vec<usize> = (0..guess.len()).filter(|&at| instant.held[at].is_none()).collect();
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
            self.leaning = true;
            return Ok(Some(found));
        }
        self.enumerate(guess, &free, search, instant)
    }

    /// Where values that count as zero say one thing and their derivatives, which are mostly noise there, another, the sides
    /// decide to which the values lean: in the candidates that nothing else spoke against, and in the one of all these sides.
    fn follow_leanings(
        &mut self,
        guess: &Truths,
        free: &[usize],
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Option<Box<Accepted>>, Failure> {
        let mut tied = std::mem::take(&mut search.tied);
        tied.dedup();
        instant.leanings_confirm = true;
        let mut found = None;
        for truths in tied {
            if let Verdict::Accepted(accepted) = self.attempt(&truths, search, instant)? {
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
                Verdict::Accepted(accepted) => found = Some(accepted),
                Verdict::Indicates { truths, .. } if truths != current => current = truths,
                _ => break,
            }
        }
        instant.leanings_confirm = false;
        Ok(found)
    }

    /// The sides on which the conditions are at the left limits, however near to zero.
    fn leanings(&mut self, guess: &Truths, free: &[usize]) -> Truths {
        let mut truths = guess.clone();
        for &at in free {
            let Some(monitor) = self.monitors[ConditionId(at as u32)].clone() else {
                continue;
            };
            let value = monitor
                .read(0, true, &self.memory, &self.scales, &mut self.scratch)
                .value;
            if value != 0.0 && !value.is_nan() {
                truths[at] = value > 0.0;
            }
        }
        truths
    }

    /// From a regular mode to a consistent one: by pivoting, then by single flips.
    fn improve(
        &mut self,
        mut start: Truths,
        free: &[usize],
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Option<Box<Accepted>>, Failure> {
        match self.pivot(&start, search, instant)? {
            Some((_, Verdict::Accepted(found))) => return Ok(Some(found)),
            Some((pivoted, Verdict::Indicates { .. })) => start = pivoted,
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
    ) -> Result<Option<(Truths, Verdict)>, Failure> {
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
        free: &[usize],
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Option<Box<Accepted>>, Failure> {
        let mut current = start;
        let mut visited: FxHashSet<Truths> = FxHashSet::default();
        while visited.insert(current.clone()) && search.tried.len() < search.limit {
            match self.attempt(&current, search, instant)? {
                Verdict::Accepted(accepted) => return Ok(Some(accepted)),
                Verdict::Inadmissible(_) => break,
                Verdict::Indicates { truths, effective, .. } => {
                    // What makes no difference follows at once.
                    let chosen = effective.iter().copied().find(|at| free.contains(at));
                    let flipped = chosen.map(|at| (at, !current[at]));
                    let keep: Vec<(usize, bool)> = effective.iter().map(|&at| (at, current[at])).collect();
                    current = truths;
                    if flipped.is_some() {
                        keep.into_iter()
                            .chain(flipped)
                            .for_each(|(at, truth)| current[at] = truth);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Flips conditions that guard the over-determined equations until the mode is regular.
    fn regularise(&mut self, guess: &Truths, free: &[usize]) -> Option<Truths> {
        let mut current = guess.clone();
        for _ in 0..=free.len() {
            let valuation = self.guards_of(&current);
            if self.mode_of(&valuation).is_ok() {
                return Some(current);
            }
            let deficiency = self.deficiency(&valuation);
            let concerned = self.conditions_of_singular_part(&valuation);
            let mut candidates: Vec<usize> = free.iter().copied().filter(|at| concerned.contains(at)).collect();
            if candidates.is_empty() {
                candidates = free.to_vec();
            }
            let mut best: Option<(usize, usize)> = None;
            for at in candidates {
                current[at] = !current[at];
                let flipped = self.guards_of(&current);
                current[at] = !current[at];
                let left = self.deficiency(&flipped);
                if left < deficiency && best.is_none_or(|(least, _)| left < least) {
                    best = Some((left, at));
                }
            }
            let (_, at) = best?;
            current[at] = !current[at];
        }
        None
    }

    /// All truth values of the free conditions by their distance from the first guess; from the first ones that are
    /// regular the search sets out again, since the guess was not.
    fn enumerate(
        &mut self,
        guess: &Truths,
        free: &[usize],
        search: &mut Search,
        instant: &mut Instant,
    ) -> Result<Option<Box<Accepted>>, Failure> {
        let mut departures = 0;
        for distance in 0..=free.len() {
            let mut chosen: Vec<usize> = (0..distance).collect();
            loop {
                if search.tried.len() >= search.limit {
                    return Ok(None);
                }
                let mut truths = guess.clone();
                chosen.iter().for_each(|&i| truths[free[i]] = !truths[free[i]]);
                if !search.seen.contains(&truths) {
                    match self.attempt(&truths, search, instant)? {
                        Verdict::Accepted(accepted) => return Ok(Some(accepted)),
                        Verdict::Indicates { .. } if departures < DEPARTURES => {
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

    /// Why no candidate was accepted.
    fn no_mode(&mut self, search: &Search) -> Failure {
        if let Some(failure) = self.failure_of_only_mode(search) {
            return failure;
        }
        if let Some(conditions) = self.opposed_conditions(search) {
            return Failure::new(FailureKind::Chattering {
                origins: conditions.iter().map(|&id| self.model.conditions[id].origin).collect(),
                conditions: conditions
                    .iter()
                    .map(|&id| self.model.conditions[id].text.clone())
                    .collect(),
                count: 0,
            });
        }
        let candidates = search
            .tried
            .iter()
            .map(|c| (self.describe_truths(&c.truths), c.refused.clone().unwrap_or_default()))
            .collect();
        Failure::new(FailureKind::NoConsistentMode { candidates })
    }

    /// All candidates select one mode: why that one cannot be entered.
    fn failure_of_only_mode(&mut self, search: &Search) -> Option<Failure> {
        let first = search.tried.first()?;
        if first.truths.is_empty() {
            return None;
        }
        let valuation = self.guards_of(&first.truths);
        if search.tried.iter().any(|c| self.guards_of(&c.truths) != valuation) {
            return None;
        }
        if !self.is_singular(&valuation) {
            return self.last_refusal.take();
        }
        let refusal = first.refused.clone().unwrap_or_default();
        Some(Failure::new(FailureKind::SingularMode {
            mode: self.describe_truths(&first.truths),
            reason: refusal.reason,
            origins: refusal.origins,
        }))
    }

    /// Both sides of a switching surface point at it: every candidate has right limits, and each indicates another
    /// one. The conditions in question.
    fn opposed_conditions(&self, search: &Search) -> Option<Vec<ConditionId>> {
        if search.off_surface || search.tried.is_empty() {
            return None;
        }
        let differs = |id: &ConditionId| {
            let at = id.0 as usize;
            search.tried.iter().any(|c| c.truths[at] != search.tried[0].truths[at])
        };
        Some(self.model.conditions.ids().filter(differs).collect())
    }

    /// The truth values in the user's words.
    pub(crate) fn describe_truths(&self, truths: &[bool]) -> String {
        let parts: Vec<String> = self
            .model
            .conditions
            .iter_enumerated()
            .map(|(id, condition)| {
                if truths[id.0 as usize] {
                    condition.text.to_string()
                } else {
                    format!("not ({})", condition.text)
                }
            })
            .collect();
        parts.join(", ")
    }
}

/// The next combination of `chosen.len()` out of `count`, in lexicographic order.
fn next_combination(chosen: &mut [usize], count: usize) -> bool {
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
