//! Chains of `semiLinear`, as connected fluid ports make them. Where
//! `y = semiLinear(x, sa, s1)`, `y = semiLinear(x, s1, s2)`, …, `y = semiLinear(x, sN, sb)` hold together, the slopes in
//! between are not determined at x = 0. The specification (3.7.4.5) settles them: `s1 = if x >= 0 then sa else sb`, all
//! others equal to it, and `y = semiLinear(x, sa, sb)`. Where nothing flows at all (x = 0 and y = 0), it is sa = sb.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_lang::flat::{
    BinaryOp, Builtin, EquationKind, FlatEquation, FlatExpr, FlatModel, UnaryOp, Variability, VariableId,
};
use saltus_source::Span;

/// The equations with every chain in its settled form; `None` if there is no chain.
pub(crate) fn chained(flat: &FlatModel) -> Option<Vec<FlatEquation>> {
    let candidates: Vec<usize> = (0..flat.equations.len())
        .filter(|&at| parts(&flat.equations[at]).is_some())
        .collect();
    if candidates.is_empty() {
        return None;
    }
    let mut aliases = Aliases::of(flat);
    let zeros = zeros(flat, &mut aliases);
    let mut equations: Option<Vec<FlatEquation>> = None;
    let mut groups: Vec<(Key, Key, Vec<Link>)> = Vec::new();
    for at in candidates {
        let Some(link) = parts(&flat.equations[at]).map(|parts| Link::new(at, parts, &mut aliases)) else {
            continue;
        };
        // Without any flow the slopes are equal.
        if zeros.contains(&link.x.0) && zeros.contains(&link.y.0) && is_unknown_slope(&link, flat) {
            let list = equations.get_or_insert_with(|| flat.equations.clone());
            list[at].kind = EquationKind::Equal(link.from, link.to);
            continue;
        }
        match groups.iter_mut().find(|(y, x, _)| *y == link.y && *x == link.x) {
            Some((_, _, list)) => list.push(link),
            None => groups.push((link.y.clone(), link.x.clone(), vec![link])),
        }
    }
    for (_, _, links) in &groups {
        for chain in chains(links, flat) {
            let list = equations.get_or_insert_with(|| flat.equations.clone());
            settle(&chain, list);
        }
    }
    equations
}

/// Whether one of the slopes is a variable that equations must determine.
fn is_unknown_slope(link: &Link, flat: &FlatModel) -> bool {
    let unknown = |expr: &FlatExpr| matches!(expr, FlatExpr::Variable(id) if flat.variables[*id].is_unknown());
    unknown(&link.from) || unknown(&link.to)
}

/// What equations such as `x = 0` make zero.
fn zeros(flat: &FlatModel, aliases: &mut Aliases<'_>) -> FxHashSet<String> {
    let zero = FlatExpr::Real(0.0);
    let mut found = FxHashSet::from_iter([aliases.key(&zero).0]);
    for equation in &flat.equations {
        if let EquationKind::Equal(left, right) = &equation.kind {
            for (side, other) in [(left, right), (right, left)] {
                let is_name = matches!(side, FlatExpr::Variable(_) | FlatExpr::Unary(UnaryOp::Negate, _));
                if is_name && other.as_number() == Some(0.0) {
                    found.insert(aliases.key(side).0);
                }
            }
        }
    }
    found
}

/// An expression up to names of the same quantity, with its sign.
type Key = (String, bool);

/// `y = semiLinear(x, from, to)`, signs brought to one side.
struct Link {
    equation: usize,
    y: Key,
    x: Key,
    from: FlatExpr,
    to: FlatExpr,
    from_key: Key,
    to_key: Key,
    /// x ≥ 0 means the first slope of the text if not reversed.
    x_expr: FlatExpr,
    reversed: bool,
    span: Span,
}

/// The other side, the arguments and the place of an equation with `semiLinear` on one side.
type Parts<'e> = (&'e FlatExpr, &'e [FlatExpr], Span);

fn parts(equation: &FlatEquation) -> Option<Parts<'_>> {
    let EquationKind::Equal(left, right) = &equation.kind else {
        return None;
    };
    match (left, right) {
        (other, FlatExpr::Builtin(Builtin::SemiLinear, args, span))
        | (FlatExpr::Builtin(Builtin::SemiLinear, args, span), other) => Some((other, args, *span)),
        _ => None,
    }
}

impl Link {
    fn new(equation: usize, (y, args, span): Parts<'_>, aliases: &mut Aliases<'_>) -> Self {
        let (mut y, x) = (aliases.key(y), aliases.key(&args[0]));
        let (mut from, mut to) = (args[1].clone(), args[2].clone());
        // semiLinear(-x, a, b) = -semiLinear(x, b, a)
        let reversed = x.1;
        if reversed {
            std::mem::swap(&mut from, &mut to);
            y.1 = !y.1;
        }
        Link {
            equation,
            y,
            x: (x.0, false),
            from_key: aliases.key(&from),
            to_key: aliases.key(&to),
            from,
            to,
            x_expr: args[0].clone(),
            reversed,
            span,
        }
    }
}

/// Links in order, the second slope of each being the first of the next, through variables that vary.
fn chains<'l>(links: &'l [Link], flat: &FlatModel) -> Vec<Vec<&'l Link>> {
    let unknown = |expr: &FlatExpr| matches!(expr, FlatExpr::Variable(id) if flat.variables[*id].variability == Variability::Continuous);
    let follows = |a: &Link, b: &Link| a.to_key == b.from_key && unknown(&a.to) && a.equation != b.equation;
    let begins = |link: &&Link| !links.iter().any(|before| follows(before, link));
    let mut found = Vec::new();
    for first in links.iter().filter(begins) {
        let mut chain = vec![first];
        while let Some(next) = links.iter().find(|next| follows(chain[chain.len() - 1], next)) {
            if chain.iter().any(|known| known.equation == next.equation) {
                break;
            }
            chain.push(next);
        }
        if chain.len() > 1 {
            found.push(chain);
        }
    }
    found
}

fn settle(chain: &[&Link], equations: &mut [FlatEquation]) {
    let (first, last) = (chain[0], chain[chain.len() - 1]);
    let (sa, sb) = (first.from.clone(), last.to.clone());
    let place = |position: usize| chain[position].equation;
    // The flow itself, in the terms of the first equation.
    let (positive, negative) = if first.reversed {
        (sb.clone(), sa.clone())
    } else {
        (sa.clone(), sb.clone())
    };
    if let EquationKind::Equal(left, right) = &mut equations[place(0)].kind {
        for side in [left, right] {
            if let FlatExpr::Builtin(Builtin::SemiLinear, args, _) = side {
                (args[1], args[2]) = (positive.clone(), negative.clone());
            }
        }
    }
    let span = first.span;
    let zero = FlatExpr::Real(0.0);
    let op = if first.reversed {
        BinaryOp::LessEqual
    } else {
        BinaryOp::GreaterEqual
    };
    let forward = FlatExpr::Binary(op, Box::new([first.x_expr.clone(), zero]), span);
    let chosen = FlatExpr::If(Box::new([forward, sa, sb]), span);
    for position in 1..chain.len() {
        let slope = chain[position - 1].to.clone();
        let value = match position {
            1 => chosen.clone(),
            _ => chain[position - 2].to.clone(),
        };
        equations[place(position)].kind = EquationKind::Equal(slope, value);
    }
}

/// Variables that equations make equal up to sign.
struct Aliases<'f> {
    flat: &'f FlatModel,
    parent: FxHashMap<VariableId, (VariableId, bool)>,
}

impl<'f> Aliases<'f> {
    fn of(flat: &'f FlatModel) -> Self {
        let mut aliases = Aliases {
            flat,
            parent: FxHashMap::default(),
        };
        for equation in &flat.equations {
            if let EquationKind::Equal(left, right) = &equation.kind
                && let Some((a, b, negated)) = alias(left, right)
            {
                let ((a, on_a), (b, on_b)) = (aliases.root(a), aliases.root(b));
                if a != b {
                    aliases.parent.insert(a, (b, on_a ^ on_b ^ negated));
                }
            }
        }
        aliases
    }

    fn root(&self, id: VariableId) -> (VariableId, bool) {
        let (mut at, mut negated) = (id, false);
        while let Some(&(next, sign)) = self.parent.get(&at) {
            (at, negated) = (next, negated ^ sign);
        }
        (at, negated)
    }

    fn key(&mut self, expr: &FlatExpr) -> Key {
        match expr {
            FlatExpr::Variable(id) => {
                let (root, negated) = self.root(*id);
                (self.flat.variables[root].name.to_string(), negated)
            }
            FlatExpr::Unary(UnaryOp::Negate, inner) => {
                let (key, negated) = self.key(inner);
                (key, !negated)
            }
            other => (format!("{other:?}"), false),
        }
    }
}

/// `a = b`, `a = -b`, `a + b = 0`.
fn alias(left: &FlatExpr, right: &FlatExpr) -> Option<(VariableId, VariableId, bool)> {
    let variable = |expr: &FlatExpr| match expr {
        FlatExpr::Variable(id) => Some((*id, false)),
        FlatExpr::Unary(UnaryOp::Negate, inner) => match &**inner {
            FlatExpr::Variable(id) => Some((*id, true)),
            _ => None,
        },
        _ => None,
    };
    if let (Some((a, x)), Some((b, y))) = (variable(left), variable(right)) {
        return Some((a, b, x ^ y));
    }
    let (sum, other) = match (left, right) {
        (FlatExpr::Binary(BinaryOp::Add, operands, _), other)
        | (other, FlatExpr::Binary(BinaryOp::Add, operands, _)) => (operands, other),
        _ => return None,
    };
    let ((a, x), (b, y)) = (variable(&sum[0])?, variable(&sum[1])?);
    (other.as_number() == Some(0.0)).then_some((a, b, !(x ^ y)))
}
