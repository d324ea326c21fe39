//! Start values that an elimination must not lose.

use saltus_mdae::{ExprId, Idx, IndexVec, Mdae, Node, Role, VarId, Variable};

use super::trivial::Sum;

/// The start value of the derivative of this order of a root. Two of the same kind that differ are left limits of two
/// quantities: the restart at the beginning decides between them, so the equation between them must stay (two inertias
/// joined by a shaft start at a common speed that conserves momentum).
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct KeptStart {
    order: u16,
    value: SignedStart,
    kind: StartKind,
}

#[derive(Copy, Clone, Debug, PartialEq)]
enum SignedStart {
    Number(f64),
    Expression { id: ExprId, negated: bool },
}

/// A guess does not contradict what is fixed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum StartKind {
    Fixed,
    /// Not fixed, of a variable that is differentiated under one of its names.
    Guess,
}

impl KeptStart {
    pub(super) fn contradicts(&self, other: &KeptStart) -> bool {
        (self.order, self.kind) == (other.order, other.kind) && self.value != other.value
    }

    /// Whether it may be lost where the root is this number.
    pub(super) fn agrees_with(&self, constant: f64) -> bool {
        let value = if self.order == 0 { constant } else { 0.0 };
        self.kind == StartKind::Guess || self.value == SignedStart::Number(value)
    }

    /// The same for the root above: ± its derivative of this order is the root.
    pub(super) fn moved(&self, order: u16, reversed: bool) -> KeptStart {
        let value = match self.value {
            SignedStart::Number(value) if reversed => SignedStart::Number(-value),
            SignedStart::Expression { id, negated } => SignedStart::Expression {
                id,
                negated: negated ^ reversed,
            },
            unchanged => unchanged,
        };
        KeptStart {
            order: self.order + order,
            value,
            kind: self.kind,
        }
    }
}

/// Start values that are fixed, and those of differentiated unknowns, by variable.
pub(super) fn kept_starts(model: &Mdae, sums: &[Sum]) -> Vec<Vec<KeptStart>> {
    let differentiated = differentiated(model, sums);
    let kept = |(var, variable): (VarId, &Variable)| {
        let kind = match variable.start {
            _ if variable.role != Role::Continuous => return Vec::new(),
            _ if variable.fixed => StartKind::Fixed,
            Some(_) if differentiated[var] => StartKind::Guess,
            _ => return Vec::new(),
        };
        let value = match variable.start {
            None => SignedStart::Number(0.0),
            Some(id) => match model.pool.constant(id) {
                Some(number) => SignedStart::Number(number),
                None => SignedStart::Expression { id, negated: false },
            },
        };
        vec![KeptStart { order: 0, value, kind }]
    };
    model.variables.iter_enumerated().map(kept).collect()
}

/// Which variables are differentiated. One without a start value has that of its other names: these count as
/// differentiated, up to the first that has one.
fn differentiated(model: &Mdae, sums: &[Sum]) -> IndexVec<VarId, bool> {
    let mut found = IndexVec::filled(false, model.variables.len());
    let mut nameless = Vec::new();
    for raw in 0..model.pool.len() {
        if let Node::Var { var, order: 1 } = model.pool.node(ExprId::from_usize(raw)) {
            found[var] = true;
            nameless.push(var);
        }
    }
    nameless.retain(|&var| model.variables[var].start.is_none());
    if nameless.is_empty() {
        return found;
    }
    let mut names: IndexVec<VarId, Vec<VarId>> = IndexVec::filled(Vec::new(), model.variables.len());
    for (a, b) in sums.iter().filter_map(Sum::alias) {
        names[a].push(b);
        names[b].push(a);
    }
    while let Some(var) = nameless.pop() {
        for &other in &names[var] {
            if !std::mem::replace(&mut found[other], true) && model.variables[other].start.is_none() {
                nameless.push(other);
            }
        }
    }
    found
}
