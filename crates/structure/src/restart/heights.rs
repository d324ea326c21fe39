//! Heights: bounds K_* ≤ K^* and the search between them (step 5; appendix C of RR-9603).

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_graph::{Column, ComponentId, Row};
use saltus_mdae::{Derivative, ExprPool};

use super::array::{Array, ArrayLabel, Beyond, EquationSource, Frame, Heights, build};
use super::change::ModeChange;
use super::oracle::Inquiry;
use super::quotient::Quotient;
use super::touched_blocks::Touched;

/// Attempts of the search; each raises at least one height, and bounds are small.
const ATTEMPTS: usize = 20;

/// An array with its matching.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) heights: Heights,
    pub(crate) array: Array,
    pub(crate) quotient: Quotient,
}

impl Attempt {
    pub(crate) fn new(pool: &mut ExprPool, inquiry: &mut Inquiry, heights: Heights) -> Self {
        let array = build(pool, inquiry, &heights);
        let frame = Frame {
            inquiry,
            heights: &heights,
        };
        let quotient = Quotient::new(&array, frame);
        Attempt {
            heights,
            array,
            quotient,
        }
    }

    /// Equations of a complete matching that are disabled although the past does not determine their variables.
    fn lost(&self) -> Vec<ArrayLabel> {
        if !self.quotient.is_complete() {
            return Vec::new();
        }
        let lost = self.quotient.disabled(&self.array).1.into_iter();
        lost.map(|i| self.array.candidates[i].label).collect()
    }
}

/// How far heights may rise.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// To K^*.
    Bounds,
    /// Above it, as far as that can make room for equations that are too many.
    Beyond,
}

/// K_* and K^* by component.
pub(crate) type Bounds = BTreeMap<ComponentId, (u16, u16)>;

/// Bounds of one component for a height constant in it.
pub(crate) fn bounds(
    pool: &mut ExprPool,
    inquiry: &mut Inquiry,
    touched: &Touched,
    component: ComponentId,
) -> (u16, u16) {
    let new = inquiry.change.new;
    // A transient takes at least one instant.
    let least = u16::from(inquiry.change.transient.is_some());
    let highest_c = touched.rows(component).iter().map(|&row| new.equation_offset(row));
    let highest_c = highest_c.max().unwrap_or(0);
    let columns = touched.columns(component).iter();
    let highest_past = columns
        .map(|&column| inquiry.past_offset(new.unknown(column)))
        .max()
        .unwrap_or(0);
    let (mut lower, mut upper) = (None, None);
    for height in least..highest_c + highest_past + 2 {
        let verdict = judge(pool, inquiry, touched, component, height);
        if verdict.enough && verdict.lower && lower.is_none() {
            lower = Some(height);
        }
        if verdict.enough && verdict.upper && upper.is_none() {
            upper = Some(height);
        }
        if lower.is_some() && upper.is_some() {
            break;
        }
    }
    (lower.unwrap_or(least), upper.unwrap_or(highest_c))
}

struct Judgement {
    /// (100), and every restart equation has a dependent variable.
    enough: bool,
    /// No tail equation has only past leading variables.
    lower: bool,
    /// No tail equation has any past leading variable.
    upper: bool,
}

fn judge(
    pool: &mut ExprPool,
    inquiry: &mut Inquiry,
    touched: &Touched,
    component: ComponentId,
    height: u16,
) -> Judgement {
    let mut judgement = Judgement {
        enough: restart_equations_are_open(pool, inquiry, component, height),
        lower: true,
        upper: true,
    };
    let new = inquiry.change.new;
    for &row in touched.rows(component) {
        let c = new.equation_offset(row);
        for order in 0..c {
            if is_fact_at(pool, inquiry, row, order, height) {
                continue;
            }
            // (100): below this the exchange map leaves the array.
            judgement.enough &= height >= c - order;
            let leading = new
                .signature(row)
                .filter(|&(column, sigma)| sigma + c == new.unknown_offset(column));
            let mut past = leading
                .map(|(column, sigma)| sigma + order + height < inquiry.past_offset(new.unknown(column)))
                .peekable();
            let any_leading = past.peek().is_some();
            let (mut all, mut any) = (true, false);
            past.for_each(|is_past| {
                all &= is_past;
                any |= is_past;
            });
            judgement.lower &= !(any_leading && all);
            judgement.upper &= !any;
        }
    }
    judgement
}

fn is_fact_at(pool: &mut ExprPool, inquiry: &mut Inquiry, row: Row, order: u16, height: u16) -> bool {
    let label = ArrayLabel {
        source: EquationSource::Mode(row),
        order,
        instant: height,
    };
    let residual = inquiry.residual(pool, label);
    let past_only = pool
        .occurrences(residual)
        .into_iter()
        .all(|Derivative { var, order: m }| !(inquiry.change.is_unknown)(var) || m + height < inquiry.past_offset(var));
    if !past_only {
        return false;
    }
    let expression = inquiry.change.at_left_limits(pool, residual);
    inquiry.fact(pool, expression).is_some()
}

/// Every restart equation about this component has a dependent variable at this height, or is a fact.
fn restart_equations_are_open(pool: &mut ExprPool, inquiry: &mut Inquiry, component: ComponentId, height: u16) -> bool {
    let new = inquiry.change.new;
    inquiry.change.restart_equations.iter().all(|equation| {
        let occurrences: Vec<_> = pool
            .occurrences(equation.residual)
            .into_iter()
            .filter_map(|Derivative { var, order }| Some((new.column_of(var)?, order)))
            .collect();
        let about = |&(column, _): &_| new.component_of_column(column) == component;
        let past = |&(column, order): &_| order + height < inquiry.past_offset(new.unknown(column));
        if !occurrences.iter().any(about) || !occurrences.iter().all(past) {
            return true;
        }
        let expression = inquiry.change.at_left_limits(pool, equation.residual);
        inquiry.fact(pool, expression).is_some()
    })
}

/// Equations that must be differentiated beyond their offset because restart equations mention the right limits of leading
/// variables or of their derivatives: those matched to them, and to what they mention in turn.
pub(crate) fn beyond_tail(pool: &ExprPool, change: &ModeChange) -> Beyond {
    let new = change.new;
    let restart = change.restart_equations.iter();
    let mentioned = restart.flat_map(|equation| pool.occurrences(equation.residual));
    let mut open: Vec<(Column, u16)> = mentioned
        .filter_map(|Derivative { var, order }| Some((new.column_of(var)?, order)))
        .collect();
    let mut beyond = Beyond::new();
    while let Some((column, order)) = open.pop() {
        let (row, offset) = (new.matched_row(column), new.unknown_offset(column));
        if order < offset {
            continue;
        }
        let count = beyond.entry(row).or_insert(0);
        if *count > order - offset {
            continue;
        }
        *count = order - offset + 1;
        let differentiated = new.equation_offset(row) + order - offset;
        open.extend(new.signature(row).map(|(used, sigma)| (used, sigma + differentiated)));
    }
    beyond
}

/// Tries heights from K_* up, smallest first; the best attempt, complete or not.
pub(crate) fn search(
    pool: &mut ExprPool,
    inquiry: &mut Inquiry,
    touched: &Arc<Touched>,
    bounds: &Bounds,
    reach: Reach,
) -> Attempt {
    let beyond = Arc::new(beyond_tail(pool, &inquiry.change));
    let mut heights = Heights {
        of: bounds
            .iter()
            .map(|(&component, &(lower, _))| (component, lower))
            .collect(),
        beyond,
        touched: touched.clone(),
    };
    let mut best: Option<((usize, usize, u32), Attempt)> = None;
    for _ in 0..ATTEMPTS {
        let attempt = Attempt::new(pool, inquiry, heights.clone());
        // A complete matching that loses equations is kept only if no height does better.
        let lost = attempt.lost();
        if attempt.quotient.is_complete() && lost.is_empty() {
            return attempt;
        }
        let raised = raise(inquiry, &attempt, bounds, &lost, reach);
        let total = heights.of.values().map(|&height| u32::from(height)).sum();
        let score = (attempt.quotient.over_count(), attempt.quotient.under.len(), total);
        if best.as_ref().is_none_or(|(least, _)| score < *least) {
            best = Some((score, attempt));
        }
        match raised {
            Some(raised) => heights = raised,
            None => break,
        }
    }
    best.expect("at least one attempt").1
}

/// How far above K^* a height may help equations that are too many: as many instants as some variable has derivatives with
/// a past that are no states any more. (A torque that was the state of a spring keeps its past value for an instant;
/// after that it is as free as any other torque.)
fn beyond_upper(inquiry: &Inquiry, touched: &Touched, component: ComponentId) -> u16 {
    let new = inquiry.change.new;
    let columns = touched.columns(component).iter();
    let surplus = columns.map(|&column| {
        let past = inquiry.past_offset(new.unknown(column));
        past.saturating_sub(new.unknown_offset(column))
    });
    surplus.max().unwrap_or(0)
}

/// Raises the heights of the components at fault, or of all that can be raised; `None` if none can.
fn raise(inquiry: &Inquiry, attempt: &Attempt, bounds: &Bounds, lost: &[ArrayLabel], reach: Reach) -> Option<Heights> {
    let new = inquiry.change.new;
    let touched = &attempt.heights.touched;
    let overfull = reach == Reach::Beyond && (!lost.is_empty() || attempt.quotient.over_count() > 0);
    let can_rise = |component: &ComponentId| {
        let upper = bounds.get(component).map_or(0, |bound| bound.1);
        let more = if overfull {
            beyond_upper(inquiry, touched, *component)
        } else {
            0
        };
        attempt.heights.of[component] < upper + more
    };
    let rising: Vec<ComponentId> = attempt.heights.of.keys().copied().filter(can_rise).collect();
    if rising.is_empty() {
        return None;
    }
    let over = attempt.quotient.over.iter().map(|&i| attempt.array.candidates[i].label);
    let over = over.chain(attempt.quotient.broken.iter().copied());
    let over = over.chain(lost.iter().copied());
    let of_rows = over.filter_map(|label| match label.source {
        EquationSource::Mode(row) => Some(new.component_of_row(row)),
        _ => None,
    });
    let under = attempt.quotient.under.iter();
    let of_classes = under.filter_map(|class| Some(new.component_of_column(new.column_of(class.var)?)));
    let at_fault: std::collections::BTreeSet<ComponentId> = of_rows.chain(of_classes).collect();
    let mut chosen: Vec<ComponentId> = rising.iter().copied().filter(|c| at_fault.contains(c)).collect();
    if chosen.is_empty() {
        chosen = rising;
    }
    let mut heights = attempt.heights.clone();
    for component in chosen {
        *heights.of.get_mut(&component).expect("a touched component") += 1;
    }
    Some(heights)
}
