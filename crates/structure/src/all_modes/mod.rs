//! All modes at once: which are singular and why, offsets, index and number of states as functions of the mode.
//!
//! A model with n conditions has up to 2ⁿ modes; none of them is listed. Sets of modes are decision diagrams ([`space`]), and
//! what is done for one mode is done for sets: a maximum matching ([`matching`]), the decomposition of Dulmage and
//! Mendelsohn ([`decompose`]), the smallest offsets ([`offsets`]). Locality is what makes it fast: where every set is about
//! nearby conditions, a row of ten thousand clutches is as easy as its length. Only structure is looked at: a mode that is
//! regular here may be singular in numbers.
//!
//! | module | what lives there |
//! |---|---|
//! | [`space`] | sets of modes |
//! | [`system`] | the equations of all modes, and the order of conditions |
//! | `matching`, `decompose`, `offsets` | the three passes |
//! | `groups` | what is connected |
//! | [`changes`] | what the change of one condition does |
//! | [`figures`] | how many modes, of which index, with how many states |
//! | [`words`] | sets of modes as users say them |
//! | [`model`] | the system of a model |
//!
//! After B. Caillaud, M. Malandain and J. Thibault, *Implicit structural analysis of multimode DAE systems* (HSCC 2020); the
//! algorithms are our own.

pub mod changes;
mod decompose;
pub mod figures;
mod groups;
mod matching;
pub mod model;
mod offsets;
pub mod space;
pub mod system;
pub mod words;

pub use decompose::{Decomposition, SingularPlace};
use matching::{Edges, SetMatching, Sets, Ways};
use offsets::{Offsets, rows_by_width};
pub use space::{Budget, ModeSet, ModeSpace};
pub use system::{GuardedEntry, GuardedRow, GuardedSystem, Piecewise};
use system::{Incidence, condition_order};

/// What is known of all modes.
#[derive(Debug)]
pub struct AllModes {
    /// Sets of modes.
    pub space: ModeSpace,
    /// The modes that invariants allow, as sets that have to hold together.
    pub possible: Vec<ModeSet>,
    /// Over- and underdetermined parts.
    pub decomposition: Decomposition,
    /// Where that is.
    pub places: Vec<SingularPlace>,
    /// The smallest c of each equation in the modes in which it is well determined.
    pub c: Vec<Piecewise>,
    /// The smallest d of each unknown, likewise.
    pub d: Vec<Piecewise>,
    /// Orders on the matching, whose sum is the number of states too.
    matched_orders: Vec<Piecewise>,
    /// What occurs where.
    incidence: Incidence,
    /// A matching of leading derivatives, where that is well determined.
    tight: SetMatching,
}

/// The budget was used up: the model has too many modes that differ from each other.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// Analyses all modes of a system.
pub fn analyze_all_modes(system: &GuardedSystem, budget: Budget) -> Result<AllModes, Exhausted> {
    let mut space = ModeSpace::new(condition_order(system), budget);
    let incidence = Incidence::new(system, &mut space);
    let matching = maximum_matching(&mut space, &incidence);
    let decomposition = Decomposition::new(&mut space, &incidence, &matching);
    let well = well_determined(&mut space, &incidence, &decomposition);
    let (offsets, tight) = Offsets::new(&mut space, &well).solve(&mut space);
    let (c, d) = (offsets.c, offsets.d);
    let matched_orders = matched_orders(&mut space, &well, &tight);
    let places = decomposition.places(&mut space, &incidence);
    let possible = system
        .invariants
        .iter()
        .map(|invariant| space.formula(invariant))
        .collect();
    if space.is_exhausted() {
        return Err(Exhausted);
    }
    debug_assert!(
        tight.free_row.iter().all(|modes| modes.is_empty()),
        "what is left is regular"
    );
    Ok(AllModes {
        space,
        possible,
        decomposition,
        places,
        c,
        d,
        matched_orders,
        incidence,
        tight,
    })
}

impl AllModes {
    /// The number of nodes of what was found.
    pub fn size(&self) -> usize {
        let offsets = self.c.iter().chain(&self.d).chain(&self.matched_orders);
        self.space.size(offsets.flat_map(|parts| parts.values().copied()))
    }
}

/// A maximum matching in every mode. It begins with leading derivatives, as the offsets do: both then speak of the same modes.
fn maximum_matching(space: &mut ModeSpace, incidence: &Incidence) -> SetMatching {
    let mut matching = SetMatching::new(incidence.guard.clone(), incidence.alive.clone());
    let order = rows_by_width(incidence);
    let mut leading = Offsets::new(space, incidence);
    for &row in &order {
        let edges = leading.edges(space, row);
        matching.greedy(space, row, &edges);
    }
    let mut all = AllEdges(
        (0..incidence.orders.len())
            .map(|row| incidence.edges(space, row).into())
            .collect(),
    );
    for &row in &order {
        let edges = all.0[row as usize].clone();
        matching.greedy(space, row, &edges);
    }
    for &row in &order {
        if !matching.free_row[row as usize].is_empty() && !space.is_exhausted() {
            matching.search(space, row, &mut all);
        }
    }
    matching
}

/// Every entry may be matched.
struct AllEdges(Vec<Edges>);

impl Ways for AllEdges {
    fn edges(&mut self, _: &mut ModeSpace, row: u32) -> Edges {
        self.0[row as usize].clone()
    }

    fn stuck(&mut self, _: &mut ModeSpace, _: &Sets, _: &Sets, _: ModeSet) -> ModeSet {
        ModeSet::NONE
    }
}

/// What is left without the over- and underdetermined parts: square and regular in every mode.
fn well_determined(space: &mut ModeSpace, incidence: &Incidence, found: &Decomposition) -> Incidence {
    if found.singular_parts().is_empty() {
        return incidence.clone();
    }
    let mut without = |all: &[ModeSet], over: &[ModeSet], under: &[ModeSet]| -> Vec<ModeSet> {
        let parts = all.iter().zip(over).zip(under);
        parts
            .map(|((&all, &over), &under)| {
                let rest = space.and_not(all, over);
                space.and_not(rest, under)
            })
            .collect()
    };
    let rows = without(&incidence.guard, &found.over_rows, &found.under_rows);
    let unknowns = without(&incidence.alive, &found.over_unknowns, &found.under_unknowns);
    incidence.within(space, &rows, &unknowns)
}

/// The orders at which rows are matched.
fn matched_orders(space: &mut ModeSpace, incidence: &Incidence, matching: &SetMatching) -> Vec<Piecewise> {
    let rows = matching.row.iter().zip(&incidence.orders);
    rows.map(|(matched, orders)| {
        let mut parts = Piecewise::new();
        for (unknown, &modes) in matched {
            for (&order, &entry) in orders
                .get(unknown)
                .into_iter()
                .flatten()
                .filter(|(order, _)| **order > 0)
            {
                let part = space.and(modes, entry);
                if !part.is_empty() {
                    system::add(space, &mut parts, order, part);
                }
            }
        }
        parts
    })
    .collect()
}
