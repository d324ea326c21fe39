//! The analysis of a mode change: steps 1–14 in order, with everything kept for explanation.

use std::sync::Arc;

use saltus_graph::{Column, ComponentId, Row};
use saltus_mdae::function::Functions;
use saltus_mdae::{Derivative, ExprPool, VarId};

use super::array::{
    ArrayEquation, ArrayLabel, ArrayVariable, EquationSource, FactRecord, Frame, Heights, VariableClass,
};
use super::change::ModeChange;
use super::concrete::{Concrete, ConcreteEquation};
use super::diagnosis::{self, Diagnosis};
use super::entail::FixedValues;
use super::facts::{FactReason, Facts};
use super::heights::{Attempt, Bounds, Reach, beyond_tail, bounds, search};
use super::oracle::{Answer, Inquiry};
use super::plan::{RestartPlan, Source};
use super::rescale::{Offsets, Unscalable, Violations, goodness, observing, rescale};
use super::system::ModeSystem;
use super::touched_blocks::Touched;

/// Whether a mode change can be restarted, by structure.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Hash)]
pub enum RestartVerdict {
    /// The restart system determines all right limits.
    Good,
    /// Some mandatory equation finds no variable, or contradicts the left limits: see
    /// [`RestartAnalysis::conflict`].
    Overdetermined,
    /// Some right limits are not determined: see [`RestartAnalysis::diagnosis`].
    Underdetermined,
    /// Impulses of unbounded order: the rescaling offsets do not exist.
    Unscalable,
    /// (51), (52) or (53) of RR-9603 is violated: see [`RestartAnalysis::violations`].
    NotGood,
    /// Equations had to be disabled whose variables the past does not determine: see
    /// [`RestartAnalysis::lossy`].
    Lossy,
}

/// One component of the leading incidence with its height.
#[derive(Clone, Debug)]
pub struct ComponentHeight {
    /// The component of the new mode.
    pub component: ComponentId,
    /// K_* and K^*.
    pub bounds: (u16, u16),
    /// K
    pub height: u16,
    /// Whether it was raised because another component's impulses reach it (step 10).
    pub raised: bool,
    /// Whether all its right limits are determined: a refused change may still be sound in parts.
    pub determined: bool,
}

/// The analysis of a mode change.
#[derive(Clone, Debug)]
pub struct RestartAnalysis {
    /// The verdict.
    pub verdict: RestartVerdict,
    /// The components of the leading incidence of which a part is touched.
    pub components: Vec<ComponentHeight>,
    /// The touched equations: in all others right limits equal left limits.
    pub rows: Vec<Row>,
    /// The first derivatives (from order 0) of each unknown of the touched components that have a past.
    pub past: Vec<Derivative>,
    /// Variables without a past that become states and keep their left limit because nothing else determines them.
    pub kept: Vec<VarId>,
    /// Equations of the touched components that hold before, during and after the change.
    pub invariants: Vec<Row>,
    /// Equations of the array that are facts.
    pub facts: Vec<FactRecord>,
    /// Candidates of the array.
    pub candidates: Vec<ArrayEquation>,
    /// Enabled candidates (positions) with the class they are matched to.
    pub enabled: Vec<(usize, VariableClass)>,
    /// Disabled: between past variables only, and no facts.
    pub past_only: Vec<ArrayLabel>,
    /// Left out: represented by another equation of the same class.
    pub class_redundant: Vec<ArrayLabel>,
    /// Disabled: all variables are determined by the past through head equations.
    pub past_determined: Vec<ArrayLabel>,
    /// Disabled although the past does not determine their variables.
    pub lossy: Vec<ArrayLabel>,
    /// Restart equations (positions) dropped because the tail entails them.
    pub dropped_restart_equations: Vec<u32>,
    /// Mandatory equations that found no variable or do not hold.
    pub over: Vec<ArrayLabel>,
    /// Equations in conflict with them; of a lossy change, the lost equations and those that leave no room for them.
    pub conflict: Vec<ArrayLabel>,
    /// Classes that no equation determines.
    pub under: Vec<VariableClass>,
    /// Unknowns of the concrete array with their offsets μ.
    pub unknowns: Vec<(ArrayVariable, u32)>,
    /// Equations of the concrete array with their offsets μ.
    pub equations: Vec<(ConcreteEquation, u32)>,
    /// Violations of goodness.
    pub violations: Violations,
    /// What depends on impulses in other ways than linearly, and takes no part in them: it has no value at the instant.
    pub observers: Vec<ArrayVariable>,
    /// What is determined, when the verdict is not good.
    pub diagnosis: Option<Diagnosis>,
    /// The restart system, when the verdict is good; of a lossy change too, for comparison with the projection; of
    /// the determined part when (52) or (53) fails.
    pub plan: Option<RestartPlan>,
    /// Every question asked of the oracle, with its answer: equal answers mean an equal analysis.
    pub answers: Vec<Answer>,
}

impl RestartAnalysis {
    /// Whether the restart system determines all right limits.
    pub fn is_good(&self) -> bool {
        self.verdict == RestartVerdict::Good
    }

    /// Whether the consistency projector may decide what structure does not, if the mode is linear: impulses beyond the last
    /// instant, or equations that no instant has room for.
    pub fn is_projectable(&self) -> bool {
        matches!(self.verdict, RestartVerdict::NotGood | RestartVerdict::Lossy) && self.violations.nonlinear.is_empty()
    }

    /// Whether the analysis holds at another instant of the same mode change (same modes, zero crossings, restart
    /// equations). What is entailed stays so, and so does what is not: only numbers are looked at again.
    pub fn agrees(&self, pool: &ExprPool, facts: &mut dyn Facts) -> bool {
        self.answers.iter().all(|answer| match &answer.reason {
            Some(FactReason::Entailed(_)) => true,
            reason => facts.holds(pool, answer) == reason.is_some(),
        })
    }
}

/// Analyses a mode change. New expressions and the symbols of the plan's unknowns are added to the pool.
pub fn analyze_restart(
    pool: &mut ExprPool,
    functions: &Functions,
    fixed: &dyn FixedValues,
    change: ModeChange,
    facts: &mut dyn Facts,
) -> RestartAnalysis {
    let mut inquiry = Inquiry::new(pool, functions, fixed, change, facts);
    let mut found = settle(pool, &mut inquiry, Reach::Beyond);
    if !found.outcome.is_good(&inquiry, &found.attempt) {
        found = without_past_of_algebraic(pool, &mut inquiry).unwrap_or_else(|| {
            if !found.is_beyond() {
                return found;
            }
            // No height helps: the refusal is that of the heights the report prescribes.
            inquiry.kept.clear();
            settle(pool, &mut inquiry, Reach::Bounds)
        });
    }
    let analysis = found
        .outcome
        .finish(pool, inquiry, found.attempt, &found.bounds, &found.raised);
    debug_assert!(
        change.may_restart() || analysis.is_good() && analysis.rows.is_empty(),
        "a change that touches nothing"
    );
    analysis
}

/// What was differentiated in the previous mode has a past, for an instant longer than the new mode has use for if it is algebraic
/// there. Where the heights make no room for that instant (a resistor's current that the constraints of the previous mode
/// reached, behind a source that jumps), the past is left out: the new mode asks for the derivative of no such variable, so nothing
/// follows from it.
fn without_past_of_algebraic(pool: &mut ExprPool, inquiry: &mut Inquiry) -> Option<Settled> {
    if inquiry.change.options.forced_height.is_some() || !inquiry.remembers_algebraic() {
        return None;
    }
    let kept = std::mem::take(&mut inquiry.kept);
    inquiry.forgets_algebraic = true;
    let found = settle(pool, inquiry, Reach::Bounds);
    if found.outcome.is_good(inquiry, &found.attempt) {
        return Some(found);
    }
    inquiry.forgets_algebraic = false;
    inquiry.kept = kept;
    None
}

/// The attempt that an analysis ends with.
struct Settled {
    attempt: Attempt,
    outcome: Outcome,
    bounds: Bounds,
    raised: Vec<ComponentId>,
}

impl Settled {
    /// Whether some height that was not raised by propagation exceeds K^*.
    fn is_beyond(&self) -> bool {
        let mut heights = self.attempt.heights.of.iter();
        heights.any(|(component, &height)| !self.raised.contains(component) && height > self.bounds[component].1)
    }
}

/// Steps 5 to 10: heights, array, matching and offsets, repeated while impulses reach further equations.
fn settle(pool: &mut ExprPool, inquiry: &mut Inquiry, reach: Reach) -> Settled {
    let change = inquiry.change;
    let mut touched = Arc::new(Touched::new(pool, inquiry));
    let mut bounds = all_bounds(pool, inquiry, &touched);
    let mut attempt = first_attempt(pool, inquiry, &touched, &bounds, reach);
    if !attempt.quotient.is_complete() && keep_left_limits(inquiry, &attempt) {
        let new_bounds = all_bounds(pool, inquiry, &touched);
        let kept = first_attempt(pool, inquiry, &touched, &new_bounds, reach);
        if kept.quotient.is_complete() {
            (attempt, bounds) = (kept, new_bounds)
        } else {
            // The left limits contradict each other: nothing can be kept.
            inquiry.kept.clear()
        }
    }
    let mut raised: Vec<ComponentId> = Vec::new();
    loop {
        let outcome = Outcome::new(pool, inquiry, &attempt);
        let mut higher = outcome.propagated(pool, inquiry, &attempt);
        if higher.is_empty() && !outcome.is_good(inquiry, &attempt) {
            higher = rest_of_components(&change, &touched);
        }
        if higher.is_empty() || change.options.forced_height.is_some() {
            return Settled {
                attempt,
                outcome,
                bounds,
                raised,
            };
        }
        // Each round adds an equation to what is touched or raises a height towards the highest one: it ends.
        let raises = higher.iter().any(|&(_, height)| height > 0);
        let mut more = Touched::clone(&touched);
        more.extend(change.new, higher.iter().map(|&(row, _)| row));
        touched = Arc::new(more);
        let mut heights = Heights {
            touched: touched.clone(),
            ..attempt.heights.clone()
        };
        bounds = all_bounds(pool, inquiry, &touched);
        for (&component, &(lower, _)) in &bounds {
            let known = heights.of.entry(component).or_insert(lower);
            *known = (*known).max(lower);
        }
        for (row, height) in higher {
            let component = change.new.component_of_row(row);
            if height > 0 {
                raised.push(component);
            }
            let known = heights.of.entry(component).or_insert(0);
            *known = (*known).max(height);
        }
        attempt = if raises {
            Attempt::new(pool, inquiry, heights)
        } else {
            first_attempt(pool, inquiry, &touched, &bounds, reach)
        };
    }
}

/// The untouched rest of touched components: a refusal is judged on whole components.
fn rest_of_components(change: &ModeChange, touched: &Touched) -> Vec<(Row, u16)> {
    let rows = touched
        .components()
        .flat_map(|component| change.new.component_rows(component));
    let rest = rows.filter(|&&row| !touched.has_row(row));
    rest.map(|&row| (row, 0)).collect()
}

fn all_bounds(pool: &mut ExprPool, inquiry: &mut Inquiry, touched: &Touched) -> Bounds {
    let components: Vec<ComponentId> = touched.components().collect();
    let bound = |component| (component, bounds(pool, inquiry, touched, component));
    components.into_iter().map(bound).collect()
}

fn first_attempt(
    pool: &mut ExprPool,
    inquiry: &mut Inquiry,
    touched: &Arc<Touched>,
    bounds: &Bounds,
    reach: Reach,
) -> Attempt {
    let Some(forced) = inquiry.change.options.forced_height else {
        return search(pool, inquiry, touched, bounds, reach);
    };
    let beyond = beyond_tail(pool, &inquiry.change);
    let heights = Heights {
        of: bounds.keys().map(|&component| (component, forced)).collect(),
        beyond: Arc::new(beyond),
        touched: touched.clone(),
    };
    Attempt::new(pool, inquiry, heights)
}

/// A variable that was algebraic (or absent, but remembered) has no past; if it becomes a state and is otherwise
/// undetermined, it keeps its left limit. True if there are such variables.
fn keep_left_limits(inquiry: &mut Inquiry, attempt: &Attempt) -> bool {
    if attempt.quotient.over_count() > 0 || inquiry.change.options.forced_height.is_some() {
        return false;
    }
    let change = &inquiry.change;
    let undetermined = attempt.quotient.undetermined_variables();
    let mut kept: Vec<VarId> = undetermined
        .into_iter()
        .filter(|&var| {
            let algebraic = change
                .previous()
                .is_some_and(|previous| previous.offset_of(var) == Some(0));
            let remembered = change.options.remembered.contains(&var);
            let state = change.new.offset_of(var).is_some_and(|d| d > 0);
            state && inquiry.past_offset(var) == 0 && (algebraic || remembered)
        })
        .collect();
    kept.sort_unstable();
    inquiry.kept = kept;
    !inquiry.kept.is_empty()
}

/// The derivatives in the leading form of an equation.
fn leading_occurrences(pool: &mut ExprPool, inquiry: &Inquiry, row: Row) -> Vec<Derivative> {
    let leading = ArrayLabel {
        source: EquationSource::Mode(row),
        order: inquiry.change.new.equation_offset(row),
        instant: 0,
    };
    let residual = inquiry.residual(pool, leading);
    pool.occurrences(residual)
}

/// Equations that are not touched yet but use the rate of a state that may jump, with the height they need: the rate is
/// impulsive there.
fn rates_of_jumps(pool: &mut ExprPool, frame: Frame) -> Vec<(Row, u16)> {
    let new = frame.inquiry.change.new;
    let mut found = Vec::new();
    for column in frame.heights.touched.jumping_columns(new) {
        let var = new.unknown(column);
        let height = frame.height(var).unwrap_or(0);
        if height == 0 {
            continue;
        }
        let jumps = |order: u16| {
            !frame.is_past(ArrayVariable {
                var,
                order,
                instant: height,
            })
        };
        for row in new.users(column) {
            if frame.heights.touched.has_row(row) {
                continue;
            }
            let rates = leading_occurrences(pool, frame.inquiry, row).into_iter();
            let mut rates = rates.filter(|&Derivative { var: used, order }| used == var && order > 0);
            if rates.any(|Derivative { order, .. }| jumps(order - 1)) {
                found.push((row, height));
            }
        }
    }
    found
}

/// What became of an attempt.
struct Outcome {
    concrete: Concrete,
    offsets: Result<Offsets, Option<Unscalable>>,
}

impl Outcome {
    fn new(pool: &mut ExprPool, inquiry: &Inquiry, attempt: &Attempt) -> Self {
        let concrete = Concrete::new(pool, inquiry, attempt);
        let complete = attempt.quotient.is_complete() && concrete.is_square();
        let offsets = if complete {
            rescale(&concrete).map_err(Some)
        } else {
            Err(None)
        };
        Outcome { concrete, offsets }
    }

    /// Step 10: equations that use a variable that is impulsive at an instant they have already left behind, with the
    /// height they need.
    fn propagated(&self, pool: &mut ExprPool, inquiry: &Inquiry, attempt: &Attempt) -> Vec<(Row, u16)> {
        let Ok(offsets) = &self.offsets else { return Vec::new() };
        let new = inquiry.change.new;
        let frame = Frame {
            inquiry,
            heights: &attempt.heights,
        };
        let mut higher = rates_of_jumps(pool, frame);
        for (variable, &mu) in self.concrete.unknowns.iter().zip(&offsets.unknowns) {
            let (Some(column), Some(height)) = (new.column_of(variable.var), frame.height(variable.var)) else {
                continue;
            };
            if mu == 0 || variable.instant >= height {
                continue;
            }
            for row in new.users(column) {
                if frame.height_of_row(row) > variable.instant {
                    continue;
                }
                if leading_occurrences(pool, inquiry, row).contains(&Derivative::new(variable.var, variable.order)) {
                    higher.push((row, height));
                }
            }
        }
        higher.sort_unstable();
        higher.dedup();
        higher
    }

    /// Whether the restart is good.
    fn is_good(&self, inquiry: &Inquiry, attempt: &Attempt) -> bool {
        let frame = Frame {
            inquiry,
            heights: &attempt.heights,
        };
        let lossless = || attempt.quotient.disabled(&attempt.array).1.is_empty();
        let offsets = self.offsets.as_ref();
        let good = |offsets: &Offsets| {
            let observing = observing(&self.concrete, offsets, frame);
            goodness(&self.concrete, offsets, frame, &observing).is_empty()
        };
        offsets.is_ok_and(good) && lossless()
    }

    fn finish(
        self,
        pool: &mut ExprPool,
        inquiry: Inquiry,
        attempt: Attempt,
        bounds: &Bounds,
        raised: &[ComponentId],
    ) -> RestartAnalysis {
        let judged = self.judge(pool, &inquiry, &attempt);
        let Attempt {
            heights,
            array,
            quotient,
        } = attempt;
        let new = inquiry.change.new;
        let labels = |candidates: Vec<usize>| -> Vec<ArrayLabel> {
            candidates.into_iter().map(|i| array.candidates[i].label).collect()
        };
        let (past_determined, lossy) = quotient.disabled(&array);
        let conflict = match judged.verdict {
            RestartVerdict::Lossy => quotient.conflicting(&lossy),
            _ => quotient.conflicting(&quotient.over),
        };
        let mut over = labels(quotient.over.clone());
        over.extend(&quotient.broken);
        let mu = |values: Option<&Vec<i64>>, i: usize| values.map_or(0, |values| values[i] as u32);
        let offsets = self.offsets.as_ref().ok();
        let unknowns = self.concrete.unknowns.iter().enumerate();
        let equations = self.concrete.equations.iter().enumerate();
        let columns = heights.touched.all_columns();
        let past_of = |column| Derivative::new(new.unknown(column), inquiry.past_offset(new.unknown(column)));
        let mut past: Vec<Derivative> = columns.into_iter().map(past_of).collect();
        past.sort_unstable();
        let rows = heights.touched.all_rows();
        let invariants = rows.iter().copied().filter(|&row| inquiry.is_invariant(row)).collect();
        RestartAnalysis {
            verdict: judged.verdict,
            components: heights
                .of
                .iter()
                .map(|(&component, &height)| ComponentHeight {
                    component,
                    bounds: bounds[&component],
                    height,
                    raised: raised.contains(&component),
                    determined: judged.determines(new, heights.touched.columns(component)),
                })
                .collect(),
            past,
            kept: inquiry.kept.clone(),
            invariants,
            rows,
            enabled: quotient
                .enabled()
                .filter_map(|i| Some((i, quotient.class_of(i)?)))
                .collect(),
            past_only: array.past_only.iter().map(|(label, _)| *label).collect(),
            past_determined: labels(past_determined),
            lossy: labels(lossy),
            over,
            conflict: labels(conflict),
            under: quotient.under.clone(),
            unknowns: unknowns
                .map(|(i, &v)| (v, mu(offsets.map(|o| &o.unknowns), i)))
                .collect(),
            equations: equations
                .map(|(i, &e)| (e, mu(offsets.map(|o| &o.equations), i)))
                .collect(),
            violations: judged.violations,
            observers: judged.observers,
            diagnosis: judged.diagnosis,
            plan: judged.plan,
            facts: array.facts,
            candidates: array.candidates,
            class_redundant: array.class_redundant,
            dropped_restart_equations: array.dropped,
            answers: inquiry.into_answers(),
        }
    }

    fn judge(&self, pool: &mut ExprPool, inquiry: &Inquiry, attempt: &Attempt) -> Judged {
        let frame = Frame {
            inquiry,
            heights: &attempt.heights,
        };
        let offsets = match &self.offsets {
            Ok(offsets) => offsets,
            Err(reason) => return self.refused(*reason, attempt, frame),
        };
        // A forced height is analysed as asked; the search must not settle for one that loses equations.
        let forced = inquiry.change.options.forced_height.is_some();
        let lossy = !forced && !attempt.quotient.disabled(&attempt.array).1.is_empty();
        let observing = if lossy {
            vec![false; self.concrete.equations.len()]
        } else {
            observing(&self.concrete, offsets, frame)
        };
        let violations = goodness(&self.concrete, offsets, frame, &observing);
        let source = Source {
            frame,
            attempt,
            concrete: &self.concrete,
            offsets,
        };
        let mut judged = Judged {
            verdict: RestartVerdict::NotGood,
            violations,
            diagnosis: None,
            plan: None,
            observers: Vec::new(),
        };
        if judged.violations.is_empty() {
            judged.verdict = if lossy {
                RestartVerdict::Lossy
            } else {
                RestartVerdict::Good
            };
            let equations = (0..self.concrete.equations.len()).partition(|&equation| observing[equation]);
            let (observing, taking_part): (Vec<usize>, Vec<usize>) = equations;
            let unknown = |equation: usize| self.concrete.unknowns[offsets.partner[equation]];
            judged.observers = observing.into_iter().map(unknown).collect();
            judged.plan = Some(source.plan(pool, &taking_part));
        } else if judged.violations.nonlinear.is_empty() {
            let (diagnosis, sound) = diagnosis::of_violations(&self.concrete, offsets, &judged.violations, frame);
            judged.diagnosis = Some(diagnosis);
            judged.plan = Some(source.plan(pool, &sound));
        }
        judged
    }

    fn refused(&self, reason: Option<Unscalable>, attempt: &Attempt, frame: Frame) -> Judged {
        let verdict = match reason {
            Some(Unscalable::Unbounded) => RestartVerdict::Unscalable,
            _ if attempt.quotient.over_count() > 0 => RestartVerdict::Overdetermined,
            _ => RestartVerdict::Underdetermined,
        };
        Judged {
            verdict,
            violations: Violations::default(),
            diagnosis: Some(diagnosis::of_structure(&self.concrete, frame)),
            plan: None,
            observers: Vec::new(),
        }
    }
}

struct Judged {
    verdict: RestartVerdict,
    violations: Violations,
    diagnosis: Option<Diagnosis>,
    plan: Option<RestartPlan>,
    observers: Vec<ArrayVariable>,
}

impl Judged {
    fn determines(&self, new: &ModeSystem, columns: &[Column]) -> bool {
        if self.verdict == RestartVerdict::Good {
            return true;
        }
        let states = |diagnosis: &Diagnosis| -> bool {
            let open = |column: &Column| {
                let var = new.unknown(*column);
                diagnosis
                    .undetermined
                    .iter()
                    .any(|Derivative { var: other, .. }| *other == var)
            };
            !columns.iter().any(open)
        };
        let refused_by_structure = matches!(self.verdict, RestartVerdict::NotGood | RestartVerdict::Underdetermined);
        refused_by_structure && self.diagnosis.as_ref().is_some_and(states)
    }
}
