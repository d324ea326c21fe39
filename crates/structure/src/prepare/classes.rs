//! Classes of variables that are derivatives of one another up to sign: union–find with order and sign.

use std::cmp::Reverse;

use saltus_mdae::{Derivative, Idx, IndexVec, Mdae, VarId, Variable};

use super::MAX_RAISED_ORDER;
use super::colours::{Colours, colours};
use super::starts::{KeptStart, kept_starts};
use super::trivial::Sum;

/// `± root^(order)`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) root: VarId,
    pub(super) order: u16,
    pub(super) negated: bool,
}

/// Variables by class. A variable is ± a derivative of its parent.
#[derive(Debug)]
pub(super) struct Classes {
    /// What tells variables and equations apart without their names.
    pub(super) colours: Colours,
    parent: IndexVec<VarId, Term>,
    /// By root: number of members, the highest order among them, and the value if it is a number.
    size: Vec<u32>,
    height: Vec<u16>,
    constant: Vec<Option<f64>>,
    /// By root: start values that must not be lost.
    starts: Vec<Vec<KeptStart>>,
    /// By root: derivatives that `reinit` gives new values. The derivative above such a one must stay a variable with an
    /// equation of its own: a jump of x is no impulse of u in `der(x) = u`.
    reinitialised: Vec<Vec<u16>>,
    /// Equations that may become trivial when something is learnt about the class.
    pub(super) waiting: Vec<Vec<u32>>,
}

/// Derivatives that `reinit` assigns, by variable.
fn reinitialised(model: &Mdae) -> Vec<Vec<u16>> {
    let mut found = vec![Vec::new(); model.variables.len()];
    for Derivative { var, order } in super::reinitialised(model) {
        found[var.index()].push(order);
    }
    found
}

/// What a union of classes, or of a class and a number, did.
pub(super) enum Union {
    /// The equation cannot be used.
    Impossible,
    /// It was used; these equations should be looked at again.
    Done(Vec<u32>),
}

impl Classes {
    pub(super) fn new(model: &Mdae, sums: &[Sum]) -> Self {
        let count = model.variables.len();
        let mut parent = IndexVec::new();
        for root in model.variables.ids() {
            parent.push(Term {
                root,
                order: 0,
                negated: false,
            });
        }
        Classes {
            colours: colours(model),
            parent,
            size: vec![1; count],
            height: vec![0; count],
            constant: vec![None; count],
            starts: kept_starts(model, sums),
            reinitialised: reinitialised(model),
            waiting: vec![Vec::new(); count],
        }
    }

    /// A variable in terms of its root.
    pub(super) fn find(&mut self, var: VarId) -> Term {
        let mut path = Vec::new();
        let mut at = var;
        while self.parent[at].root != at {
            path.push(at);
            at = self.parent[at].root;
        }
        let mut total = Term {
            root: at,
            order: 0,
            negated: false,
        };
        for &var in path.iter().rev() {
            let step = self.parent[var];
            total.order += step.order;
            total.negated ^= step.negated;
            self.parent[var] = total;
        }
        total
    }

    /// The value of a class.
    pub(super) fn constant(&self, root: VarId) -> Option<f64> {
        self.constant[root.index()]
    }

    /// Makes a class a number.
    pub(super) fn set_constant(&mut self, root: VarId, value: f64) -> Union {
        let starts = &self.starts[root.index()];
        if !value.is_finite() || !starts.iter().all(|start| start.agrees_with(value)) {
            return Union::Impossible;
        }
        self.constant[root.index()] = Some(value);
        Union::Done(std::mem::take(&mut self.waiting[root.index()]))
    }

    /// Uses `a = b`, two terms over different roots.
    pub(super) fn unite(&mut self, a: Term, b: Term) -> Union {
        let negated = a.negated ^ b.negated;
        match (a.order, b.order) {
            // Either may be below the other: the larger class stays on top.
            (0, 0) if self.size[a.root.index()] >= self.size[b.root.index()] => self.put(b.root, a.root, 0, negated),
            (0, _) => self.put(a.root, b.root, b.order, negated),
            (_, 0) => self.put(b.root, a.root, a.order, negated),
            _ => Union::Impossible,
        }
    }

    /// Makes `below` = ± `above`^(order).
    fn put(&mut self, below: VarId, above: VarId, order: u16, negated: bool) -> Union {
        let height = self.height[below.index()] + order;
        if height > MAX_RAISED_ORDER {
            return Union::Impossible;
        }
        let moved: Vec<KeptStart> = self.starts[below.index()]
            .iter()
            .map(|start| start.moved(order, negated))
            .collect();
        let known = &self.starts[above.index()];
        if moved
            .iter()
            .any(|start| known.iter().any(|other| start.contradicts(other)))
        {
            return Union::Impossible;
        }
        let combined_height = height.max(self.height[above.index()]);
        let lower: Vec<u16> = self.reinitialised[below.index()].iter().map(|k| k + order).collect();
        if lower
            .iter()
            .chain(&self.reinitialised[above.index()])
            .any(|&k| k < combined_height)
        {
            return Union::Impossible;
        }
        self.reinitialised[above.index()].extend(lower);
        for start in moved {
            if !self.starts[above.index()].contains(&start) {
                self.starts[above.index()].push(start);
            }
        }
        self.parent[below] = Term {
            root: above,
            order,
            negated,
        };
        self.size[above.index()] += self.size[below.index()];
        self.height[above.index()] = height.max(self.height[above.index()]);
        // An equation that the union makes trivial waits in both lists, so that looking at the smaller one suffices.
        let (mut small, mut large) = (
            std::mem::take(&mut self.waiting[below.index()]),
            std::mem::take(&mut self.waiting[above.index()]),
        );
        if small.len() > large.len() {
            std::mem::swap(&mut small, &mut large);
        }
        large.extend_from_slice(&small);
        self.waiting[above.index()] = large;
        Union::Done(small)
    }

    /// The best representative of each class (by root).
    pub(super) fn representatives(&mut self, model: &Mdae) -> Vec<Option<VarId>> {
        let mut best: Vec<Option<VarId>> = vec![None; model.variables.len()];
        for var in model.variables.ids() {
            let term = self.find(var);
            if term.order > 0 {
                continue;
            }
            let known = &mut best[term.root.index()];
            let rank = |var: VarId| rank(&model.variables[var], self.colours.variables[var]);
            let better = known.is_none_or(|known| rank(var) > rank(known));
            if better {
                *known = Some(var);
            }
        }
        best
    }
}

/// How well a variable represents its class: eager states first, then fixed starts, then any start, then variables of outer
/// components, then what their colours say. Names do not count, nor does their order unless nothing else tells two apart.
pub(super) fn rank(variable: &Variable, colour: u64) -> impl Ord + use<> {
    (
        variable.state_select,
        variable.fixed,
        variable.start.is_some(),
        !variable.hidden,
        Reverse(variable.name.bytes().filter(|&byte| byte == b'.').count()),
        colour,
    )
}
