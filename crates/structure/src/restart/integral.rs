//! Impulsive parts of equations, integrated over the jump (part of step 12).
//!
//! In `(1 + 3*v^2)*der(v) = -i` with an impulse of i, the coefficient changes while v jumps: what the impulse balances is
//! v + v³, not the coefficient at one side times the jump of v. The impulsive part Σ a_j(z)·x_j' is a differential form; where
//! it is exact, its integral depends on both limits only, so that any way from one to the other will do: the straight
//! line gives Σ ā_j·(x_j⁺ − x_j⁻) with ā_j = ∫₀¹ a_j(z⁻ + θ·(z⁺ − z⁻)) dθ. `J*der(w) + w*der(J)`, all that comes from
//! `der(…)` of an expression, and `f(x)*der(x)` are exact. So may be the form divided by one of its coefficients:
//! `der(v) = -i/C(v)`. Where neither is, the result depends on how the jump happens (assumption 2 of *Hybrid and multi-mode
//! systems*, LNCS, is violated): such a restart counts only if the coefficients turn out not to jump.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use saltus_mdae::expr::VarTraits;
use saltus_mdae::{BinaryFunction, Comparison, ConditionId, Derivative, ExprId, ExprPool, Node, Type, VarId};

use super::array::{ArrayEquation, ArrayVariable, Part};
use super::concrete::Coefficient;
use super::entail::vanishes;
use super::plan::Source;
use super::rescale::order;

/// How often what coefficients are made of is looked up in turn.
const MAX_DEPTH: usize = 8;

/// The mean of a coefficient on the straight line from the values before a step of the change to those after it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Average {
    /// The variable that stands for the mean in the equation.
    pub symbol: VarId,
    /// The variable that runs from 0 to 1…
    pub parameter: VarId,
    /// … in the coefficient written with the plan's symbols.
    pub integrand: ExprId,
    /// The coefficient in the model's variables.
    pub coefficient: ExprId,
}

/// The impulsive part of an equation whose coefficients may jump.
#[derive(Clone, Debug)]
pub(crate) struct ImpulsivePart {
    pub(crate) residual: ExprId,
    pub(crate) averages: Vec<Average>,
    /// Coefficients (in the model's variables) that must not jump, because the form is not exact.
    pub(crate) steady: Vec<ExprId>,
}

/// Coefficients in the model's variables by what they multiply.
type Form = BTreeMap<Derivative, ExprId>;

/// What becomes of a value in the step that follows.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum After {
    /// It stays.
    Same,
    /// This symbol of the plan is its next value.
    Symbol(VarId),
    /// The plan does not hold its next value, or that is impulsive.
    Open,
}

/// The leaves of a form that may jump.
#[derive(Default)]
struct Jumping {
    known: BTreeMap<Derivative, VarId>,
    open: BTreeSet<Derivative>,
}

impl Jumping {
    fn is_empty(&self) -> bool {
        self.known.is_empty() && self.open.is_empty()
    }
}

impl Source<'_, '_> {
    /// The terms of the given order of an equation, if their coefficients may jump in the step that they are about.
    pub(crate) fn impulsive_part(
        &self,
        pool: &mut ExprPool,
        equation: usize,
        highest: i64,
        symbols: &FxHashMap<ArrayVariable, VarId>,
    ) -> Option<ImpulsivePart> {
        let candidate = &self.attempt.array.candidates[self.concrete.candidates[equation]?];
        if highest <= 0 || !matches!(candidate.part, Part::Head | Part::Transient) {
            return None;
        }
        let written = self.form(pool, equation, highest)?;
        let written = self.with_relations(pool, written, candidate, symbols);
        if self.jumping(pool, &written, candidate, symbols).is_empty() {
            return None;
        }
        let form = self.with_definitions(pool, written.clone(), candidate, symbols);
        let form = self.with_relations(pool, form, candidate, symbols);
        let jumping = self.jumping(pool, &form, candidate, symbols);
        let exact = if jumping.open.is_empty() {
            self.exact(pool, &form, &jumping)
        } else {
            None
        };
        let steady = match &exact {
            Some(_) => Vec::new(),
            None => written.values().copied().collect(),
        };
        let form = exact.unwrap_or(form);
        let mut part = ImpulsivePart {
            residual: pool.real(0.0),
            averages: Vec::new(),
            steady,
        };
        for (&Derivative { var, order }, &coefficient) in &form {
            let factor = self.mean(pool, coefficient, &jumping, candidate, symbols, &mut part.averages);
            let variable = self
                .frame
                .array_variable(var, order, candidate.part, candidate.label.instant);
            let symbol = pool.var(*symbols.get(&variable)?);
            let product = pool.mul(factor, symbol);
            part.residual = pool.add(part.residual, product);
        }
        Some(part)
    }

    /// The coefficients of the impulsive unknowns in the terms of the given order; `None` if some are multiplied.
    fn form(&self, pool: &mut ExprPool, equation: usize, highest: i64) -> Option<Form> {
        let mu = &self.offsets.unknowns;
        let mut form = Form::new();
        for term in &self.concrete.terms[equation].terms {
            if order(term, mu) != highest {
                continue;
            }
            let Coefficient::Expression(mut coefficient) = term.coefficient else {
                return None;
            };
            let mut impulsive = None;
            for &(unknown, power) in &term.powers {
                let ArrayVariable { var, order, .. } = self.concrete.unknowns[unknown];
                if mu[unknown] > 0 {
                    if power > 1 || impulsive.replace(Derivative { var, order }).is_some() {
                        return None;
                    }
                    continue;
                }
                let factor = pool.der_var(var, order);
                for _ in 0..power {
                    coefficient = pool.mul(coefficient, factor);
                }
            }
            let known = form.entry(impulsive?).or_insert_with(|| pool.real(0.0));
            *known = pool.add(*known, coefficient);
        }
        Some(form)
    }

    fn jumping(
        &self,
        pool: &ExprPool,
        form: &Form,
        candidate: &ArrayEquation,
        symbols: &FxHashMap<ArrayVariable, VarId>,
    ) -> Jumping {
        let mut found = Jumping::default();
        for &coefficient in form.values() {
            for leaf in pool.occurrences(coefficient) {
                match self.after(leaf, candidate, symbols) {
                    After::Same => {}
                    After::Symbol(symbol) => {
                        found.known.insert(leaf, symbol);
                    }
                    After::Open => {
                        found.open.insert(leaf);
                    }
                }
            }
        }
        found
    }

    fn after(
        &self,
        Derivative { var, order }: Derivative,
        candidate: &ArrayEquation,
        symbols: &FxHashMap<ArrayVariable, VarId>,
    ) -> After {
        let frame = self.frame;
        if !(frame.inquiry.change.is_unknown)(var) {
            return After::Same;
        }
        let here = frame.array_variable(var, order, candidate.part, candidate.label.instant);
        let Some(height) = frame.height(var) else {
            return After::Open;
        };
        let next = ArrayVariable {
            instant: here.instant + 1,
            ..here
        };
        if here.instant >= height || frame.is_past(next) || self.is_finite_rate(here) {
            return After::Same;
        }
        let position = self.concrete.unknowns.binary_search(&next);
        let finite = position.is_ok_and(|at| self.offsets.unknowns[at] == 0);
        match symbols.get(&next) {
            Some(&symbol) if finite => After::Symbol(symbol),
            _ => After::Open,
        }
    }

    /// Whether the rate of a value is no impulse: then a step does not move it.
    fn is_finite_rate(&self, here: ArrayVariable) -> bool {
        let rate = ArrayVariable {
            order: here.order + 1,
            ..here
        };
        let position = self.concrete.unknowns.binary_search(&rate);
        position.is_ok_and(|at| self.offsets.unknowns[at] == 0)
    }

    /// Algebraic variables have no next value in the plan: `C = C0*(1 + a*v); C*der(v) = i` is about v. They are replaced by
    /// what the new mode makes of them.
    fn with_definitions(
        &self,
        pool: &mut ExprPool,
        mut form: Form,
        candidate: &ArrayEquation,
        symbols: &FxHashMap<ArrayVariable, VarId>,
    ) -> Form {
        for _ in 0..MAX_DEPTH {
            let open = self.jumping(pool, &form, candidate, symbols).open;
            let definitions: FxHashMap<Derivative, ExprId> = open
                .into_iter()
                .filter_map(|leaf| Some((leaf, self.definition(pool, leaf)?)))
                .collect();
            if definitions.is_empty() {
                break;
            }
            for coefficient in form.values_mut() {
                *coefficient = pool.rewrite(&[*coefficient], |_, _, node| match node {
                    Node::Var { var, order } => definitions.get(&Derivative { var, order }).copied(),
                    _ => None,
                })[0];
            }
        }
        form
    }

    /// A condition in a factor of a derivative, about what jumps, changes on the way: `(if v > 0 then 2 else 1)*der(v) = -i` is
    /// about a charge with a bend, whatever branch the new mode has. Such conditions are replaced by their relations. Those
    /// that choose between laws, with a factor that vanishes in one of them, stay what the new mode makes of them.
    fn with_relations(
        &self,
        pool: &mut ExprPool,
        mut form: Form,
        candidate: &ArrayEquation,
        symbols: &FxHashMap<ArrayVariable, VarId>,
    ) -> Form {
        let roots: Vec<ExprId> = form.values().copied().collect();
        let mut conditions = conditions_in(pool, &roots);
        conditions.retain(|&condition| roots.iter().all(|&root| !chooses_law(pool, root, condition)));
        let mut relations: FxHashMap<ConditionId, ExprId> = FxHashMap::default();
        for condition in conditions {
            let Some((function, comparison)) = self.frame.inquiry.fixed.relation(condition) else {
                continue;
            };
            let op = match comparison {
                Comparison::Greater => BinaryFunction::Gt,
                Comparison::GreaterEqual => BinaryFunction::Ge,
            };
            let zero = pool.real(0.0);
            let relation = pool.binary(op, function, zero);
            // Written like a form of its own to find what it is made of.
            let alone: Form = std::iter::once((Derivative::new(VarId(0), 0), relation)).collect();
            let alone = self.with_definitions(pool, alone, candidate, symbols);
            let jumping = self.jumping(pool, &alone, candidate, symbols);
            if let (true, false, Some(&relation)) =
                (jumping.open.is_empty(), jumping.known.is_empty(), alone.values().next())
            {
                relations.insert(condition, relation);
            }
        }
        if !relations.is_empty() {
            for coefficient in form.values_mut() {
                *coefficient = pool.rewrite(&[*coefficient], |_, _, node| match node {
                    Node::Condition(condition) => relations.get(&condition).copied(),
                    _ => None,
                })[0];
            }
        }
        form
    }

    /// What the equation matched to an algebraic variable makes of it, if it is linear in the variable.
    fn definition(&self, pool: &mut ExprPool, Derivative { var, order }: Derivative) -> Option<ExprId> {
        let new = self.frame.inquiry.change.new;
        let column = new
            .column_of(var)
            .filter(|&column| order == 0 && new.unknown_offset(column) == 0)?;
        let residual = new.equation(new.matched_row(column)).residual;
        let slope = pool.partial_derivative(residual, var, 0);
        if pool.is_zero(slope) || pool.occurrences(slope).contains(&Derivative { var, order: 0 }) {
            return None;
        }
        let zero = pool.real(0.0);
        let rest = pool.rewrite(&[residual], |_, _, node| {
            (node == Node::Var { var, order: 0 }).then_some(zero)
        })[0];
        let quotient = pool.div(rest, slope);
        Some(pool.neg(quotient))
    }

    /// The form itself, or divided by one of its coefficients, if that is exact.
    fn exact(&self, pool: &mut ExprPool, form: &Form, jumping: &Jumping) -> Option<Form> {
        if self.is_closed(pool, form, jumping) {
            return Some(form.clone());
        }
        // Impulses of forces and currents first, then of derivatives.
        let mut divisors: Vec<Derivative> = form.keys().copied().collect();
        divisors.sort_by_key(|&Derivative { order, .. }| order);
        for divisor in divisors {
            let divisor = form[&divisor];
            let mut divided = Form::new();
            for (&leaf, &a) in form {
                let quotient = if a == divisor {
                    pool.real(1.0)
                } else {
                    pool.div(a, divisor)
                };
                divided.insert(leaf, quotient);
            }
            if self.is_closed(pool, &divided, jumping) {
                return Some(divided);
            }
        }
        None
    }

    /// Whether ∂a_i/∂x_j = ∂a_j/∂x_i for all coefficients; those of impulses that are no derivatives must not change, and
    /// what jumps without its derivative in the form has the coefficient 0.
    fn is_closed(&self, pool: &mut ExprPool, form: &Form, jumping: &Jumping) -> bool {
        let zero = pool.real(0.0);
        for (&Derivative { var, order }, &coefficient) in form {
            let own = order.checked_sub(1).map(|order| Derivative { var, order });
            // A slope says nothing of where a relation changes.
            let compared = compared_in(pool, coefficient).into_iter().flatten();
            let mut compared = compared.flat_map(|side| pool.occurrences(side));
            if compared.any(|leaf| own != Some(leaf) && jumping.known.contains_key(&leaf)) {
                return false;
            }
            for &leaf in jumping.known.keys() {
                if own == Some(leaf) {
                    continue;
                }
                let slope = pool.partial_derivative(coefficient, leaf.var, leaf.order);
                let other = form.get(&Derivative::new(leaf.var, leaf.order + 1));
                let other = match (own, other) {
                    (Some(own), Some(&other)) => pool.partial_derivative(other, own.var, own.order),
                    _ => zero,
                };
                let difference = pool.sub(slope, other);
                let inquiry = self.frame.inquiry;
                if !pool.is_zero(difference) && !vanishes(pool, inquiry.functions, inquiry.fixed, difference) {
                    return false;
                }
            }
        }
        true
    }

    /// A coefficient in the plan's symbols, or the symbol of its mean if it jumps.
    fn mean(
        &self,
        pool: &mut ExprPool,
        coefficient: ExprId,
        jumping: &Jumping,
        candidate: &ArrayEquation,
        symbols: &FxHashMap<ArrayVariable, VarId>,
        averages: &mut Vec<Average>,
    ) -> ExprId {
        let (part, instant) = (candidate.part, candidate.label.instant);
        let occurring = pool.occurrences(coefficient);
        let moving: Vec<(Derivative, VarId)> = occurring
            .into_iter()
            .filter_map(|leaf| Some((leaf, *jumping.known.get(&leaf)?)))
            .collect();
        if moving.is_empty() {
            return self.substituted(pool, coefficient, part, instant, symbols);
        }
        let traits = VarTraits {
            ty: Type::Real,
            continuous: true,
        };
        let (symbol, parameter) = (pool.declare_variable(traits), pool.declare_variable(traits));
        let way = pool.var(parameter);
        let mut between: FxHashMap<Derivative, ExprId> = FxHashMap::default();
        for (Derivative { var, order }, after) in moving {
            let leaf = pool.der_var(var, order);
            let (before, after) = (self.substituted(pool, leaf, part, instant, symbols), pool.var(after));
            let distance = pool.sub(after, before);
            let covered = pool.mul(way, distance);
            between.insert(Derivative { var, order }, pool.add(before, covered));
        }
        let standing = pool.rewrite(&[coefficient], |pool, _, node| match node {
            Node::Var { var, order } => match between.get(&Derivative { var, order }) {
                Some(&value) => Some(value),
                None => {
                    let leaf = pool.der_var(var, order);
                    Some(self.substituted(pool, leaf, part, instant, symbols))
                }
            },
            _ => None,
        })[0];
        averages.push(Average {
            symbol,
            parameter,
            integrand: standing,
            coefficient,
        });
        pool.var(symbol)
    }
}

/// Whether a term is there only if a condition holds, or only if it does not.
fn chooses_law(pool: &mut ExprPool, coefficient: ExprId, condition: ConditionId) -> bool {
    [true, false].into_iter().any(|truth| {
        let branch = pool.rewrite(&[coefficient], |pool, _, node| {
            (node == Node::Condition(condition)).then(|| pool.boolean(truth))
        })[0];
        pool.is_zero(branch)
    })
}

fn conditions_in(pool: &ExprPool, roots: &[ExprId]) -> BTreeSet<ConditionId> {
    let nodes = pool.reachable(roots).into_iter();
    nodes
        .filter_map(|id| match pool.node(id) {
            Node::Condition(condition) => Some(condition),
            _ => None,
        })
        .collect()
}

/// Both sides of all comparisons in an expression.
pub(crate) fn compared_in(pool: &ExprPool, expression: ExprId) -> Vec<[ExprId; 2]> {
    use BinaryFunction::{Eq, Ge, Gt, Le, Lt, Ne};
    let nodes = pool.reachable(&[expression]).into_iter();
    nodes
        .filter_map(|id| match pool.node(id) {
            Node::Binary(Lt | Le | Gt | Ge | Eq | Ne, a, b) => Some([a, b]),
            _ => None,
        })
        .collect()
}
