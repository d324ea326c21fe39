//! Chains of `semiLinear`, as connected fluid ports make them. Where
//! `y = semiLinear(x, sa, s1)`, `y = semiLinear(x, s1, s2)`, …, `y = semiLinear(x, sN, sb)` hold together, the slopes in
//! between are not determined at x = 0. The specification (3.7.4.5) settles them: `s1 = if x >= 0 then sa else sb`, all
//! others equal to it, and `y = semiLinear(x, sa, sb)`. Where nothing flows at all (x = 0 and y = 0), it is sa = sb.
//!
//! A flow has several names: what leaves one part enters the next, with the other sign. All of them are decided by the sign of
//! one, since `semiLinear(-x, sa, sb) = -semiLinear(x, sb, sa)`: otherwise x = 0 would be a flow in both directions at once.

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
    let aliases = Aliases::of(flat);
    let flows = first_names(&candidates, flat, &aliases);
    let mut equations: Option<Vec<FlatEquation>> = None;
    let mut groups: Vec<(Key, Key, Vec<Link>)> = Vec::new();
    for &at in &candidates {
        let Some(link) = parts(&flat.equations[at]).map(|parts| Link::new(at, parts, &flows, &aliases)) else {
            continue;
        };
        // Without any flow the slopes are equal.
        if aliases.is_zero(&link.x) && aliases.is_zero(&link.y) && is_unknown_slope(&link, flat) {
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
    name_flows_alike(&candidates, flat, &flows, &aliases, &mut equations);
    equations
}

/// What a flow is called, and whether that is with the other sign than its root.
type Flows = FxHashMap<String, (FlatExpr, bool)>;

/// The first name of every flow.
fn first_names(candidates: &[usize], flat: &FlatModel, aliases: &Aliases<'_>) -> Flows {
    let mut flows = Flows::default();
    for &at in candidates {
        if let Some((_, args, _)) = parts(&flat.equations[at]) {
            let (name, sign) = aliases.key(&args[0]);
            flows.entry(name).or_insert_with(|| (args[0].clone(), sign));
        }
    }
    flows
}

/// Gives every flow that has several names the first of them.
fn name_flows_alike(
    candidates: &[usize],
    flat: &FlatModel,
    flows: &Flows,
    aliases: &Aliases<'_>,
    equations: &mut Option<Vec<FlatEquation>>,
) {
    for &at in candidates {
        let present = equations.as_ref().map_or(&flat.equations[at], |list| &list[at]);
        let Some((_, args, _)) = parts(present) else { continue };
        let (name, sign) = aliases.key(&args[0]);
        let Some((flow, sign_of_flow)) = flows.get(&name) else {
            continue;
        };
        if *flow == args[0] {
            continue;
        }
        let (flow, reversed) = (flow.clone(), sign != *sign_of_flow);
        let list = equations.get_or_insert_with(|| flat.equations.clone());
        if let Some(side) = semi_linear_side(&mut list[at]) {
            rename_flow(side, flow, reversed);
        }
    }
}

fn semi_linear_side(equation: &mut FlatEquation) -> Option<&mut FlatExpr> {
    let EquationKind::Equal(left, right) = &mut equation.kind else {
        return None;
    };
    let is_semi_linear = |side: &&mut FlatExpr| matches!(side, FlatExpr::Builtin(Builtin::SemiLinear, ..));
    [left, right].into_iter().find(is_semi_linear)
}

/// `semiLinear(x, a, b)` with another name of x, of the same or the other sign.
fn rename_flow(side: &mut FlatExpr, flow: FlatExpr, reversed: bool) {
    let FlatExpr::Builtin(Builtin::SemiLinear, args, _) = side else {
        return;
    };
    args[0] = flow;
    if reversed {
        args.swap(1, 2);
        let positive = side.clone();
        *side = FlatExpr::Unary(UnaryOp::Negate, Box::new(positive));
    }
}

/// Whether one of the slopes is a variable that equations must determine.
fn is_unknown_slope(link: &Link, flat: &FlatModel) -> bool {
    let unknown = |expr: &FlatExpr| matches!(expr, FlatExpr::Variable(id) if flat.variables[*id].is_unknown());
    unknown(&link.from) || unknown(&link.to)
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
    /// The first name of the flow, and whether the text has one with the other sign.
    flow: FlatExpr,
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
    fn new(equation: usize, (y, args, span): Parts<'_>, flows: &Flows, aliases: &Aliases<'_>) -> Self {
        let (mut y, x) = (aliases.key(y), aliases.key(&args[0]));
        let (flow, sign_of_flow) = flows.get(&x.0).cloned().unwrap_or((args[0].clone(), x.1));
        let (mut from, mut to) = (args[1].clone(), args[2].clone());
        // semiLinear(-x, a, b) = -semiLinear(x, b, a)
        let reversed = x.1 != sign_of_flow;
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
            flow,
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
    let span = first.span;
    if let Some(side) = semi_linear_side(&mut equations[place(0)]) {
        let slopes = [first.flow.clone(), sa.clone(), sb.clone()];
        let settled = FlatExpr::Builtin(Builtin::SemiLinear, slopes.to_vec().into(), span);
        *side = if first.reversed {
            FlatExpr::Unary(UnaryOp::Negate, Box::new(settled))
        } else {
            settled
        };
    }
    let zero = FlatExpr::Real(0.0);
    let forward = FlatExpr::Binary(BinaryOp::GreaterEqual, Box::new([first.flow.clone(), zero]), span);
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

/// Rounds in which zeros are found that make more names equal, and so more zeros.
const ROUNDS: usize = 4;

/// Variables that equations make equal up to sign, or zero.
struct Aliases<'f> {
    flat: &'f FlatModel,
    parent: FxHashMap<VariableId, (VariableId, bool)>,
    /// Roots of what is zero.
    zeros: FxHashSet<VariableId>,
}

impl<'f> Aliases<'f> {
    fn of(flat: &'f FlatModel) -> Self {
        let mut aliases = Aliases {
            flat,
            parent: FxHashMap::default(),
            zeros: FxHashSet::default(),
        };
        let mut open: Vec<Vec<(VariableId, bool)>> = flat.equations.iter().filter_map(sum_of_names).collect();
        for _ in 0..ROUNDS {
            let before = open.len();
            open.retain(|names| !aliases.learn(names));
            if open.len() == before {
                break;
            }
        }
        aliases
    }

    /// What a sum of names that is zero says, if that is something about one or two of them.
    fn learn(&mut self, names: &[(VariableId, bool)]) -> bool {
        let roots = names.iter().map(|&(id, sign)| {
            let (root, negated) = self.root(id);
            (root, negated ^ sign)
        });
        let left: Vec<(VariableId, bool)> = roots.filter(|(root, _)| !self.zeros.contains(root)).collect();
        match left[..] {
            [] => true,
            [(zero, _)] => self.zeros.insert(zero),
            // x + y = 0 makes x the negative of y.
            [(a, x), (b, y)] if a != b => self.parent.insert(a, (b, x == y)).is_none(),
            _ => false,
        }
    }

    fn root(&self, id: VariableId) -> (VariableId, bool) {
        let (mut at, mut negated) = (id, false);
        while let Some(&(next, sign)) = self.parent.get(&at) {
            (at, negated) = (next, negated ^ sign);
        }
        (at, negated)
    }

    fn key(&self, expr: &FlatExpr) -> Key {
        match expr {
            FlatExpr::Variable(id) => {
                let (root, negated) = self.root(*id);
                if self.zeros.contains(&root) {
                    return zero_key();
                }
                (self.flat.variables[root].name.to_string(), negated)
            }
            FlatExpr::Unary(UnaryOp::Negate, inner) => {
                let (key, negated) = self.key(inner);
                (key, !negated)
            }
            other if other.as_number() == Some(0.0) => zero_key(),
            other => (format!("{other:?}"), false),
        }
    }

    fn is_zero(&self, key: &Key) -> bool {
        key.0 == zero_key().0
    }
}

/// The key of everything that is zero.
fn zero_key() -> Key {
    ("0".to_string(), false)
}

/// The names whose signed sum an equation makes zero (the flag says minus), if it has nothing else in it.
fn sum_of_names(equation: &FlatEquation) -> Option<Vec<(VariableId, bool)>> {
    let EquationKind::Equal(left, right) = &equation.kind else {
        return None;
    };
    let mut names = Vec::new();
    let mut open = vec![(left, false), (right, true)];
    while let Some((expr, negated)) = open.pop() {
        match expr {
            FlatExpr::Variable(id) => names.push((*id, negated)),
            FlatExpr::Unary(UnaryOp::Negate, inner) => open.push((inner, !negated)),
            FlatExpr::Binary(BinaryOp::Add, terms, _) => open.extend(terms.iter().map(|term| (term, negated))),
            FlatExpr::Binary(BinaryOp::Subtract, terms, _) => {
                open.extend([(&terms[0], negated), (&terms[1], !negated)]);
            }
            other if other.as_number() == Some(0.0) => {}
            _ => return None,
        }
    }
    Some(names)
}
