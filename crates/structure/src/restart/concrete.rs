//! The concrete array: enabled equations, their variables, the tail's states and the Euler identities between
//! neighbouring instants (step 8).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::{ExprId, ExprPool, VarId};

use super::array::{ArrayLabel, ArrayVariable, Frame};
use super::heights::Attempt;
use super::oracle::Inquiry;
use super::polynomial::Terms;

/// An equation of the concrete array.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum ConcreteEquation {
    /// An equation of the modes or a restart equation.
    Array(ArrayLabel),
    /// ε·x'^m@k = x'^(m−1)@(k+1) − x'^(m−1)@k, named by x'^m@k.
    Euler(ArrayVariable),
}

/// What multiplies the unknowns of a term.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Coefficient {
    /// An expression in the model's variables.
    Expression(ExprId),
    /// A number.
    Number(f64),
    /// A left limit with its sign, ±1.
    LeftLimit(f64, VarId, u16),
}

/// A term `ε^−weight · coefficient · Π unknown^power`.
#[derive(Clone, Debug)]
pub(crate) struct OrderedTerm {
    pub(crate) weight: i64,
    pub(crate) powers: Vec<(usize, u32)>,
    pub(crate) coefficient: Coefficient,
}

/// An equation as terms.
#[derive(Clone, Debug)]
pub(crate) struct EquationTerms {
    pub(crate) terms: Vec<OrderedTerm>,
    /// Unknowns that enter in another way than polynomially.
    pub(crate) nonlinear: Vec<usize>,
}

impl EquationTerms {
    /// All unknowns of the equation with the highest weight of a term that holds them.
    pub(crate) fn weights(&self) -> BTreeMap<usize, i64> {
        let mut weights: BTreeMap<usize, i64> = self.nonlinear.iter().map(|&unknown| (unknown, 0)).collect();
        for term in &self.terms {
            for &(unknown, _) in &term.powers {
                let known = weights.entry(unknown).or_insert(term.weight);
                *known = (*known).max(term.weight);
            }
        }
        weights
    }
}

/// The array with concrete instants.
#[derive(Clone, Debug)]
pub(crate) struct Concrete {
    pub(crate) unknowns: Vec<ArrayVariable>,
    pub(crate) equations: Vec<ConcreteEquation>,
    /// Index of the candidate behind each equation; `None` for Euler identities.
    pub(crate) candidates: Vec<Option<usize>>,
    pub(crate) terms: Vec<EquationTerms>,
}

impl Concrete {
    pub(crate) fn new(pool: &mut ExprPool, inquiry: &Inquiry, attempt: &Attempt) -> Self {
        let frame = Frame {
            inquiry,
            heights: &attempt.heights,
        };
        let (unknowns, euler) = close(members(frame, attempt), frame);
        let number: FxHashMap<ArrayVariable, usize> = unknowns.iter().enumerate().map(|(i, &v)| (v, i)).collect();
        let mut concrete = Concrete {
            unknowns,
            equations: Vec::new(),
            candidates: Vec::new(),
            terms: Vec::new(),
        };
        for i in attempt.quotient.enabled() {
            let candidate = &attempt.array.candidates[i];
            let leaf = |pool: &mut ExprPool, v: &ArrayVariable| (pool.der_var(v.var, v.order), number[v]);
            let leaves: FxHashMap<ExprId, usize> = candidate.dependent.iter().map(|v| leaf(pool, v)).collect();
            let dependent: FxHashSet<ExprId> = leaves.keys().copied().collect();
            let split = Terms::of(pool, candidate.residual, &dependent);
            let terms = split.terms.into_iter().map(|term| OrderedTerm {
                weight: 0,
                powers: term.powers.iter().map(|(leaf, power)| (leaves[leaf], *power)).collect(),
                coefficient: Coefficient::Expression(term.coefficient),
            });
            concrete.equations.push(ConcreteEquation::Array(candidate.label));
            concrete.candidates.push(Some(i));
            concrete.terms.push(EquationTerms {
                terms: terms.collect(),
                nonlinear: split.nonlinear.iter().map(|leaf| leaves[leaf]).collect(),
            });
        }
        for identity in euler {
            concrete.equations.push(ConcreteEquation::Euler(identity));
            concrete.candidates.push(None);
            concrete.terms.push(euler_terms(identity, &number));
        }
        concrete
    }

    /// Whether there are as many equations as unknowns.
    pub(crate) fn is_square(&self) -> bool {
        self.equations.len() == self.unknowns.len()
    }
}

/// Derivative orders present, by variable and class.
type Members = BTreeMap<VarId, BTreeMap<u16, BTreeSet<u16>>>;

fn members(frame: Frame, attempt: &Attempt) -> Members {
    let new = frame.inquiry.change.new;
    let mut members = Members::new();
    let mut insert = |variable: ArrayVariable| {
        let classes = members.entry(variable.var).or_default();
        classes
            .entry(variable.class().degree)
            .or_default()
            .insert(variable.order);
    };
    for i in attempt.quotient.enabled() {
        attempt.array.candidates[i]
            .dependent
            .iter()
            .copied()
            .for_each(&mut insert);
    }
    for (&component, &instant) in &frame.heights.of {
        for &column in frame.heights.touched.columns(component) {
            let var = new.unknown(column);
            let tail = (0..new.unknown_offset(column)).map(|order| ArrayVariable { var, order, instant });
            tail.filter(|&variable| !frame.is_past(variable)).for_each(&mut insert);
        }
    }
    members
}

/// Adds the Euler identities between the members of each class, and the variables they bring in.
fn close(members: Members, frame: Frame) -> (Vec<ArrayVariable>, Vec<ArrayVariable>) {
    let (mut unknowns, mut euler) = (Vec::new(), Vec::new());
    for (var, mut classes) in members {
        let highest = classes.keys().next_back().copied().unwrap_or(0);
        for degree in (0..=highest).rev() {
            let Some(orders) = classes.get_mut(&degree) else {
                continue;
            };
            let lowest = *orders.first().expect("a class has members");
            let top = *orders.last().expect("a class has members");
            orders.extend(lowest..=top);
            for order in (lowest + 1..=top).rev() {
                let instant = degree - order;
                euler.push(ArrayVariable { var, order, instant });
                let before = ArrayVariable {
                    var,
                    order: order - 1,
                    instant,
                };
                if !frame.is_past(before) {
                    classes.entry(degree - 1).or_default().insert(order - 1);
                }
            }
        }
        for (degree, orders) in classes {
            unknowns.extend(orders.into_iter().map(|order| ArrayVariable {
                var,
                order,
                instant: degree - order,
            }));
        }
    }
    unknowns.sort_unstable();
    (unknowns, euler)
}

fn euler_terms(identity: ArrayVariable, number: &FxHashMap<ArrayVariable, usize>) -> EquationTerms {
    let ArrayVariable { var, order, instant } = identity;
    let mut terms = vec![OrderedTerm {
        weight: 0,
        powers: vec![(number[&identity], 1)],
        coefficient: Coefficient::Number(1.0),
    }];
    for (instant, sign) in [(instant + 1, -1.0), (instant, 1.0)] {
        let lower = ArrayVariable {
            var,
            order: order - 1,
            instant,
        };
        terms.push(match number.get(&lower) {
            Some(&unknown) => OrderedTerm {
                weight: 1,
                powers: vec![(unknown, 1)],
                coefficient: Coefficient::Number(sign),
            },
            None => OrderedTerm {
                weight: 1,
                powers: Vec::new(),
                coefficient: Coefficient::LeftLimit(sign, var, order - 1),
            },
        });
    }
    EquationTerms {
        terms,
        nonlinear: Vec::new(),
    }
}
