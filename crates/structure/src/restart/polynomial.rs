//! Residuals as sums of products: the normal form behind "same up to a factor" and the terms behind rescaling.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::{BinaryFunction, ExprId, ExprPool, Node, UnaryFunction};

/// Sums with more terms than this are not multiplied out.
const TERM_LIMIT: usize = 2_000;
/// Powers above this are not multiplied out.
const POWER_LIMIT: f64 = 12.0;

/// A product of powers of atoms; atoms are expressions that are no sums, products or powers. Sorted.
pub(crate) type Monomial = Vec<(ExprId, u32)>;

fn product(a: &Monomial, b: &Monomial) -> Monomial {
    let mut powers: BTreeMap<ExprId, u32> = a.iter().copied().collect();
    for &(atom, power) in b {
        *powers.entry(atom).or_insert(0) += power;
    }
    powers.into_iter().collect()
}

/// A polynomial in atoms with numeric coefficients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polynomial {
    terms: BTreeMap<Monomial, f64>,
}

impl Polynomial {
    fn constant(value: f64) -> Self {
        Polynomial {
            terms: BTreeMap::from([(Vec::new(), value)]),
        }
    }
    fn atom(id: ExprId) -> Self {
        Polynomial {
            terms: BTreeMap::from([(vec![(id, 1)], 1.0)]),
        }
    }

    /// The normal form. `known` gives the numeric value of leaves that have one.
    pub(crate) fn of(pool: &ExprPool, root: ExprId, known: &dyn Fn(Node) -> Option<f64>) -> Self {
        let order = pool.reachable(&[root]);
        let mut forms: Forms<Polynomial> = Forms::new(pool, &order);
        for id in order {
            let form = Self::of_node(pool, pool.node(id), &mut forms, known);
            forms.known.insert(id, form.unwrap_or_else(|| Polynomial::atom(id)));
        }
        forms.take(root).expect("the root is reachable")
    }

    fn of_node(
        pool: &ExprPool,
        node: Node,
        forms: &mut Forms<Polynomial>,
        known: &dyn Fn(Node) -> Option<f64>,
    ) -> Option<Polynomial> {
        match node {
            Node::Real(bits) => Some(Polynomial::constant(bits.get())),
            Node::Integer(number) => Some(Polynomial::constant(number as f64)),
            Node::Unary(UnaryFunction::Neg, a) => Some(forms.take(a)?.scaled(-1.0)),
            Node::Binary(op @ (BinaryFunction::Add | BinaryFunction::Sub), a, b) => {
                let (left, right) = (forms.take(a)?, forms.take(b)?);
                Some(left.plus(right, if op == BinaryFunction::Add { 1.0 } else { -1.0 }))
            }
            Node::Binary(BinaryFunction::Mul, a, b) => {
                let (left, right) = (forms.take(a)?, forms.take(b)?);
                left.times(&right)
            }
            Node::Binary(BinaryFunction::Div, a, b) => {
                let (dividend, divisor) = (forms.take(a)?, forms.take(b)?.as_constant()?);
                (divisor != 0.0).then(|| dividend.scaled(1.0 / divisor))
            }
            Node::Binary(BinaryFunction::Pow, a, b) => {
                let (base, exponent) = (forms.take(a)?, forms.take(b)?.as_constant()?);
                let power = integer_power(exponent)?;
                (0..power).try_fold(Polynomial::constant(1.0), |so_far, _| so_far.times(&base))
            }
            _ if is_leaf(pool, node) => known(node).map(Polynomial::constant),
            _ => None,
        }
    }

    fn as_constant(&self) -> Option<f64> {
        match self.terms.len() {
            0 => Some(0.0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }
    fn scaled(&self, factor: f64) -> Self {
        let terms = self.terms.iter().map(|(m, c)| (m.clone(), c * factor));
        Polynomial { terms: terms.collect() }
    }
    fn plus(self, other: Self, factor: f64) -> Self {
        let mut terms = self.terms;
        for (monomial, coefficient) in other.terms {
            add_term(&mut terms, monomial, coefficient * factor);
        }
        Polynomial { terms }
    }
    fn times(&self, other: &Self) -> Option<Self> {
        if self.terms.len() * other.terms.len() > TERM_LIMIT {
            return None;
        }
        let mut terms = BTreeMap::new();
        for (m, c) in &self.terms {
            for (n, e) in &other.terms {
                add_term(&mut terms, product(m, n), c * e);
            }
        }
        Some(Polynomial { terms })
    }

    /// Whether it is zero up to rounding.
    pub(crate) fn is_zero(&self) -> bool {
        self.terms.values().all(|&c| c == 0.0)
    }

    /// Whether it is a (nonzero) number times the other one.
    pub(crate) fn is_multiple_of(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.nonzero(), other.nonzero());
        if mine.is_empty() || mine.len() != theirs.len() {
            return false;
        }
        let factor = mine[0].1 / theirs[0].1;
        let same = |(a, b): (&(&Monomial, f64), &(&Monomial, f64))| {
            a.0 == b.0 && (a.1 - factor * b.1).abs() <= 1e-12 * a.1.abs()
        };
        mine.iter().zip(&theirs).all(same)
    }
    /// Its terms that are not zero.
    pub(crate) fn nonzero(&self) -> Vec<(&Monomial, f64)> {
        self.terms
            .iter()
            .filter(|(_, c)| **c != 0.0)
            .map(|(m, c)| (m, *c))
            .collect()
    }
}

/// Terms that cancel up to rounding are gone: 0.1·3 − 0.3 must not leave a term.
fn add_term(terms: &mut BTreeMap<Monomial, f64>, monomial: Monomial, coefficient: f64) {
    let sum = terms.entry(monomial).or_insert(0.0);
    let size = sum.abs().max(coefficient.abs());
    *sum += coefficient;
    if sum.abs() <= 4.0 * f64::EPSILON * size {
        *sum = 0.0;
    }
}

fn integer_power(exponent: f64) -> Option<u32> {
    (exponent >= 0.0 && exponent == exponent.trunc() && exponent <= POWER_LIMIT).then_some(exponent as u32)
}

fn is_leaf(pool: &ExprPool, node: Node) -> bool {
    let mut leaf = true;
    pool.for_each_child(node, |_| leaf = false);
    leaf
}

/// One term of a residual: `coefficient · Π variable^power`. The coefficient holds none of the polynomial variables.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) powers: Monomial,
    pub(crate) coefficient: ExprId,
}

/// A residual as a polynomial in some of its leaves.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) terms: Vec<Term>,
    /// The dependent leaves in which it is no polynomial; they occur in coefficients.
    pub(crate) nonlinear: Vec<ExprId>,
}

impl Terms {
    /// Splits a residual into terms by powers of its dependent leaves. A leaf that occurs non-polynomially anywhere
    /// (inside a function, a denominator, a condition) counts as nonlinear everywhere.
    pub(crate) fn of(pool: &mut ExprPool, root: ExprId, dependent: &FxHashSet<ExprId>) -> Self {
        let mut nonlinear = nonlinear_leaves(pool, root, dependent);
        let polynomial: FxHashSet<ExprId> = dependent.difference(&nonlinear).copied().collect();
        let terms = match expand(pool, root, &polynomial) {
            Some(terms) => terms,
            None => {
                // Too large to multiply out: everything counts as nonlinear, which is the safe side.
                let occurring = pool.reachable(&[root]);
                nonlinear = occurring.into_iter().filter(|id| dependent.contains(id)).collect();
                BTreeMap::from([(Vec::new(), root)])
            }
        };
        let terms = terms.into_iter().filter(|&(_, c)| !vanishes(pool, c));
        let terms: Vec<Term> = terms
            .map(|(powers, coefficient)| Term { powers, coefficient })
            .collect();
        let mut nonlinear: Vec<ExprId> = nonlinear.into_iter().collect();
        nonlinear.sort_unstable();
        Terms { terms, nonlinear }
    }
}

fn vanishes(pool: &ExprPool, coefficient: ExprId) -> bool {
    if let Node::Real(_) | Node::Integer(_) = pool.node(coefficient) {
        return pool.is_zero(coefficient);
    }
    pool.is_zero(coefficient) || Polynomial::of(pool, coefficient, &|_| None).is_zero()
}

/// The dependent leaves below functions, denominators, conditions and non-constant exponents.
fn nonlinear_leaves(pool: &ExprPool, root: ExprId, dependent: &FxHashSet<ExprId>) -> FxHashSet<ExprId> {
    let mut opaque = Vec::new();
    for id in pool.reachable(&[root]) {
        let node = pool.node(id);
        match node {
            Node::Unary(UnaryFunction::Neg, _)
            | Node::Binary(BinaryFunction::Add | BinaryFunction::Sub | BinaryFunction::Mul, ..) => {}
            Node::Binary(BinaryFunction::Div, _, b) => opaque.push(b),
            Node::Binary(BinaryFunction::Pow, _, b) if pool.constant(b).and_then(integer_power).is_some() => {}
            Node::If(condition, ..) => opaque.push(condition),
            _ => pool.for_each_child(node, |child| opaque.push(child)),
        }
    }
    let inside = pool.reachable(&opaque).into_iter();
    inside.filter(|id| dependent.contains(id)).collect()
}

/// Intermediate results by subexpression; each is handed out without a copy at its last use, so that long sums cost
/// time in their length.
struct Forms<T> {
    known: FxHashMap<ExprId, T>,
    uses: FxHashMap<ExprId, u32>,
}

impl<T: Clone> Forms<T> {
    fn new(pool: &ExprPool, order: &[ExprId]) -> Self {
        let mut uses = FxHashMap::default();
        for &id in order {
            pool.for_each_child(pool.node(id), |child| *uses.entry(child).or_insert(0) += 1);
        }
        Forms {
            known: FxHashMap::default(),
            uses,
        }
    }
    fn take(&mut self, id: ExprId) -> Option<T> {
        let uses = self.uses.entry(id).or_insert(1);
        *uses = uses.saturating_sub(1);
        match *uses {
            0 => self.known.remove(&id),
            _ => self.known.get(&id).cloned(),
        }
    }
    fn holds(&self, id: ExprId) -> bool {
        self.known.contains_key(&id)
    }
}

type Expanded = BTreeMap<Monomial, ExprId>;

/// Multiplies out in the given leaves; `None` if there would be too many terms.
fn expand(pool: &mut ExprPool, root: ExprId, leaves: &FxHashSet<ExprId>) -> Option<Expanded> {
    let order = pool.reachable(&[root]);
    // Expressions without such leaves are coefficients and have no entry.
    let mut forms: Forms<Expanded> = Forms::new(pool, &order);
    let take = |forms: &mut Forms<Expanded>, id: ExprId| {
        let known = forms.take(id);
        known.unwrap_or_else(|| Expanded::from([(Vec::new(), id)]))
    };
    for id in order {
        let node = pool.node(id);
        if leaves.contains(&id) {
            let one = pool.real(1.0);
            forms.known.insert(id, Expanded::from([(vec![(id, 1)], one)]));
            continue;
        }
        let mut plain = true;
        pool.for_each_child(node, |child| plain &= !forms.holds(child));
        if plain {
            continue;
        }
        let expanded = match node {
            Node::Unary(UnaryFunction::Neg, a) => map_coefficients(pool, take(&mut forms, a), |pool, c| pool.neg(c)),
            Node::Binary(BinaryFunction::Add, a, b) => sum(pool, take(&mut forms, a), take(&mut forms, b)),
            Node::Binary(BinaryFunction::Sub, a, b) => {
                let left = take(&mut forms, a);
                let negated = map_coefficients(pool, take(&mut forms, b), |pool, c| pool.neg(c));
                sum(pool, left, negated)
            }
            Node::Binary(BinaryFunction::Mul, a, b) => {
                let (left, right) = (take(&mut forms, a), take(&mut forms, b));
                multiply(pool, &left, &right)?
            }
            Node::Binary(BinaryFunction::Div, a, b) => {
                map_coefficients(pool, take(&mut forms, a), |pool, c| pool.div(c, b))
            }
            Node::Binary(BinaryFunction::Pow, a, b) => {
                let base = take(&mut forms, a);
                let power = pool.constant(b).and_then(integer_power)?;
                let one = pool.real(1.0);
                let unit = Expanded::from([(Vec::new(), one)]);
                (0..power).try_fold(unit, |so_far, _| multiply(pool, &so_far, &base))?
            }
            Node::If(c, a, b) => {
                let zero = pool.real(0.0);
                let yes = map_coefficients(pool, take(&mut forms, a), |pool, k| pool.if_else(c, k, zero));
                let no = map_coefficients(pool, take(&mut forms, b), |pool, k| pool.if_else(c, zero, k));
                sum(pool, yes, no)
            }
            // Leaves below anything else are nonlinear, hence none of `leaves`.
            _ => return None,
        };
        forms.known.insert(id, expanded);
    }
    Some(take(&mut forms, root))
}

fn map_coefficients(pool: &mut ExprPool, form: Expanded, f: impl Fn(&mut ExprPool, ExprId) -> ExprId) -> Expanded {
    form.into_iter().map(|(monomial, c)| (monomial, f(pool, c))).collect()
}

fn sum(pool: &mut ExprPool, a: Expanded, b: Expanded) -> Expanded {
    let (mut a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    for (monomial, coefficient) in b {
        let total = match a.get(&monomial) {
            Some(&known) => pool.add(known, coefficient),
            None => coefficient,
        };
        a.insert(monomial, total);
    }
    a
}

fn multiply(pool: &mut ExprPool, a: &Expanded, b: &Expanded) -> Option<Expanded> {
    if a.len() * b.len() > TERM_LIMIT {
        return None;
    }
    let mut result = Expanded::new();
    for (m, &c) in a {
        for (n, &e) in b {
            let coefficient = pool.mul(c, e);
            let single = Expanded::from([(product(m, n), coefficient)]);
            result = sum(pool, result, single);
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_mdae::eval::{Environment, evaluate};
    use saltus_mdae::function::Functions;
    use saltus_mdae::{Builder, ConditionId, Ex, VarId};

    struct At;

    impl Environment for At {
        fn variable(&self, var: VarId, order: u16) -> f64 {
            1.0 + 0.37 * f64::from(var.0) + 0.11 * f64::from(order)
        }
        fn left_limit(&self, var: VarId, order: u16) -> f64 {
            -self.variable(var, order)
        }
        fn time(&self) -> f64 {
            0.5
        }
        fn condition(&self, _: ConditionId) -> bool {
            true
        }
    }

    /// Splits into terms by the given leaves, checks that the terms add up, and returns powers and nonlinear leaves.
    fn split(m: Builder, root: &Ex, leaves: &[&Ex]) -> (Vec<Vec<u32>>, Vec<bool>) {
        let (root, leaves): (ExprId, Vec<ExprId>) = (root.id, leaves.iter().map(|leaf| leaf.id).collect());
        let mut model = m.finish().unwrap();
        let dependent: FxHashSet<ExprId> = leaves.iter().copied().collect();
        let terms = Terms::of(&mut model.pool, root, &dependent);
        let pool = &mut model.pool;
        let mut sum = pool.real(0.0);
        for term in &terms.terms {
            let mut product = term.coefficient;
            for &(leaf, power) in &term.powers {
                for _ in 0..power {
                    product = pool.mul(product, leaf);
                }
            }
            sum = pool.add(sum, product);
        }
        let values = evaluate(pool, &Functions::new(), &[root, sum], &At).unwrap();
        assert!(
            (values[0] - values[1]).abs() <= 1e-12 * (1.0 + values[0].abs()),
            "{values:?}"
        );
        let power = |term: &Term, leaf: &ExprId| term.powers.iter().find(|(l, _)| l == leaf).map_or(0, |(_, p)| *p);
        let mut powers: Vec<Vec<u32>> = terms
            .terms
            .iter()
            .map(|term| leaves.iter().map(|leaf| power(term, leaf)).collect())
            .collect();
        powers.sort();
        (
            powers,
            leaves.iter().map(|leaf| terms.nonlinear.contains(leaf)).collect(),
        )
    }

    #[test]
    fn products_are_multiplied_out_and_cancel() {
        let m = Builder::new("m");
        let (x, y, p) = (m.unknown("x"), m.unknown("y"), m.parameter("p", 2.0));
        // (x + p)(x − p) − x² + y/p = y/p − p²
        let root = (&x + &p) * (&x - &p) - &x * &x + &y / &p;
        let (powers, nonlinear) = split(m, &root, &[&x, &y]);
        assert_eq!(powers, [[0, 0], [0, 1]]);
        assert_eq!(nonlinear, [false, false]);
    }

    #[test]
    fn functions_and_denominators_are_nonlinear() {
        let m = Builder::new("m");
        let (x, y, z) = (m.unknown("x"), m.unknown("y"), m.unknown("z"));
        // x is linear with coefficient 1/(1 + y); y occurs linearly elsewhere but counts as nonlinear everywhere.
        let root = &x / (1.0 + &y * &y) + &y * 3.0 + (&z * 2.0).apply(UnaryFunction::Sin);
        let (powers, nonlinear) = split(m, &root, &[&x, &y, &z]);
        assert_eq!(powers, [[0, 0, 0], [1, 0, 0]]);
        assert_eq!(nonlinear, [false, true, true]);
    }

    #[test]
    fn branches_keep_their_linearity() {
        let m = Builder::new("m");
        let (x, y, w) = (m.unknown("x"), m.unknown("y"), m.unknown("w"));
        let inner = m.finish().unwrap();
        let mut pool = inner.pool;
        let zero = pool.real(0.0);
        let condition = pool.binary(BinaryFunction::Gt, w.id, zero);
        let twice = pool.add(x.id, x.id);
        let choice = pool.if_else(condition, twice, y.id);
        let dependent: FxHashSet<ExprId> = [x.id, y.id, w.id].into_iter().collect();
        let terms = Terms::of(&mut pool, choice, &dependent);
        assert_eq!(terms.nonlinear, [w.id]);
        let mut powers: Vec<&Monomial> = terms.terms.iter().map(|term| &term.powers).collect();
        powers.sort();
        assert_eq!(powers, [&vec![(x.id, 1)], &vec![(y.id, 1)]]);
    }

    #[test]
    fn multiples_are_recognised() {
        let m = Builder::new("m");
        let (x, y, p) = (m.unknown("x"), m.unknown("y"), m.parameter("p", 2.0));
        let a = (&x - &y) * &p;
        let b = &y * 0.3 - &x * 0.3;
        let c = &x + &y;
        let parameter = p.id;
        let model = m.finish().unwrap();
        let known = |node: Node| (node == model.pool.node(parameter)).then_some(2.0);
        let form = |ex: &Ex| Polynomial::of(&model.pool, ex.id, &known);
        assert!(form(&a).is_multiple_of(&form(&b)));
        assert!(!form(&a).is_multiple_of(&form(&c)));
        assert!(!form(&c).is_zero());
    }

    #[test]
    fn long_sums_are_quick() {
        let m = Builder::new("m");
        let variables: Vec<Ex> = (0..20_000).map(|i| m.unknown(&format!("x{i}"))).collect();
        let sum = variables.iter().skip(1).fold(variables[0].clone(), |sum, x| &sum + x);
        let dependent: FxHashSet<ExprId> = variables.iter().map(|x| x.id).collect();
        let root = sum.id;
        let mut model = m.finish().unwrap();
        let terms = Terms::of(&mut model.pool, root, &dependent);
        assert_eq!(terms.terms.len(), 20_000);
    }
}
