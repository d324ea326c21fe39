//! Aliases of one mode: guarded equations `±x ± y = 0` that are in force.
//!
//! They hold in some modes only, so no variable can be given up: the analysis of modes and mode changes keeps them all. The
//! order in which a mode is computed need not. One variable of each class stands for the others in the equations, and
//! these are copied from it when everything is known.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{Row, match_and_order};
use saltus_mdae::{BinaryFunction, Derivative, EquationId, ExprId, ExprPool, Idx, Mdae, Node, UnaryFunction, VarId};

use super::choice::Selection;
use super::guards::Modes;
use super::plan::{Equations, Plan, plan_of};
use super::structure::ModeStructure;
use crate::linear::{Coefficient, Partial, partials};
use crate::sigma::{Sigma, SigmaMatrix, signature as signature_of};

/// A variable that is another one, or minus it, in a mode.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AliasCopy {
    /// The variable.
    pub var: VarId,
    /// What it is computed from.
    pub root: VarId,
    /// Whether it is minus that.
    pub negated: bool,
    /// The highest derivative that is computed in this mode, d of both.
    pub highest: u16,
}

/// A mode without its aliases.
#[derive(Clone, Debug)]
pub struct ModeAliases {
    /// The variables that equations do not mention any more.
    pub copies: Vec<AliasCopy>,
    /// Equations and unknowns that are left, with the offsets they have in the mode.
    rest: ModeStructure,
    matrix: SigmaMatrix,
    /// Equations that mention other variables than they do in the model.
    rewritten: FxHashMap<EquationId, Rewritten>,
}

/// An equation after copies have been replaced by what they are copied from.
#[derive(Clone, Debug)]
struct Rewritten {
    residual: ExprId,
    partials: Box<[Partial]>,
    signature: Vec<Derivative>,
    occurrences: Vec<Derivative>,
}

impl Rewritten {
    /// What is known of the equation as written holds for the new variables too, unless two of them have become one: then
    /// terms may cancel.
    fn new(
        model: &Mdae,
        modes: &Modes,
        equation: EquationId,
        copies: &Copies,
        pool: &ExprPool,
        residual: ExprId,
    ) -> Self {
        let signature = modes.signatures().row(equation.index());
        let renamed = copies.in_signature(signature);
        let known =
            renamed.and_then(|signature| Some((signature, copies.in_partials(modes.partials(model, equation))?)));
        let (signature, partials) = known.unwrap_or_else(|| {
            (
                signature_of(pool, residual, |var| model.is_unknown(var)),
                partials(pool, residual, |var| model.variables[var].role),
            )
        });
        let occurrences = modes.occurrences(model, equation).iter();
        let mut occurrences: Vec<Derivative> = occurrences.map(|&derivative| copies.root(derivative)).collect();
        occurrences.sort_unstable();
        occurrences.dedup();
        Rewritten {
            residual,
            partials,
            signature,
            occurrences,
        }
    }
}

/// Copies by variable.
struct Copies(FxHashMap<VarId, AliasCopy>);

impl Copies {
    fn root(&self, derivative: Derivative) -> Derivative {
        let root = self.0.get(&derivative.var).map_or(derivative.var, |copy| copy.root);
        Derivative::new(root, derivative.order)
    }

    /// A signature in terms of what copies are copied from; `None` if two variables become one.
    fn in_signature(&self, signature: &[Derivative]) -> Option<Vec<Derivative>> {
        let mut renamed: Vec<Derivative> = signature.iter().map(|&derivative| self.root(derivative)).collect();
        renamed.sort_unstable();
        renamed
            .windows(2)
            .all(|pair| pair[0].var != pair[1].var)
            .then_some(renamed)
    }

    /// The same of partial derivatives.
    fn in_partials(&self, partials: &[Partial]) -> Option<Box<[Partial]>> {
        let rename = |&(derivative, coefficient): &Partial| {
            let negated = self.0.get(&derivative.var).is_some_and(|copy| copy.negated);
            let sign = if negated { -1.0 } else { 1.0 };
            (self.root(derivative), coefficient.times(Coefficient::Constant(sign)))
        };
        let mut renamed: Vec<Partial> = partials.iter().map(rename).collect();
        renamed.sort_unstable_by_key(|&(derivative, _)| derivative);
        let differ = renamed.windows(2).all(|pair| pair[0].0 != pair[1].0);
        differ.then(|| renamed.into_boxed_slice())
    }
}

impl ModeAliases {
    /// The residual of an equation that is left.
    pub fn residual(&self, model: &Mdae, equation: EquationId) -> ExprId {
        let own = self.rewritten.get(&equation);
        own.map_or(model.equations[equation].residual, |own| own.residual)
    }
    /// The variables and derivatives that occur in an equation that is left, in order.
    pub fn occurrences<'a>(&'a self, model: &Mdae, modes: &'a Modes, equation: EquationId) -> &'a [Derivative] {
        match self.rewritten.get(&equation) {
            Some(own) => &own.occurrences,
            None => modes.occurrences(model, equation),
        }
    }
    /// The partial derivatives of an equation that is another one than in the model.
    pub(super) fn partials(&self, equation: EquationId) -> Option<&[Partial]> {
        self.rewritten.get(&equation).map(|own| &*own.partials)
    }
    /// The equations whose residuals are others than in the model.
    pub fn rewritten(&self) -> impl Iterator<Item = EquationId> + '_ {
        self.rewritten.keys().copied()
    }

    /// The plan for a choice of states of the mode. A state among the aliases becomes one of what it is computed from. `None`
    /// if what is left cannot be ordered: derivatives may cancel between aliases.
    pub fn plan(
        &self,
        model: &Mdae,
        modes: &Modes,
        pool: &ExprPool,
        mode: &ModeStructure,
        selection: &Selection,
    ) -> Option<Plan> {
        let depth_in_mode = mode.depths(selection);
        let depth_of = |var: VarId| mode.unknowns.binary_search(&var).ok().map(|at| depth_in_mode[at]);
        let unknowns = self.rest.unknowns.iter();
        let mut depths: Vec<u16> = unknowns.map(|&var| depth_of(var)).collect::<Option<_>>()?;
        for copy in &self.copies {
            let at = self.rest.unknowns.binary_search(&copy.root).ok()?;
            depths[at] = depths[at].min(depth_of(copy.var)?);
        }
        let equations = Equations {
            model,
            modes,
            pool,
            aliases: Some(self),
        };
        plan_of(equations, &self.rest, &self.matrix, &depths)
    }
}

impl ModeStructure {
    /// The mode without its aliases, if it has any. Rewritten residuals go to the pool, which extends that of the model.
    pub fn aliases(&self, model: &Mdae, modes: &Modes, pool: &mut ExprPool) -> Option<ModeAliases> {
        let mut classes = Classes::new(self.unknowns.len());
        let used_up = self.unite(model, modes, &mut classes);
        if used_up.is_empty() {
            return None;
        }
        let copies = self.copies(modes, &mut classes);
        let rewritten = self.rewritten(model, modes, pool, &copies, &used_up);
        let gone: FxHashSet<VarId> = copies.iter().map(|copy| copy.var).collect();
        let rest = self.without(&used_up, &gone);
        let signatures: Vec<Option<&[Derivative]>> = rest
            .equations
            .iter()
            .map(|equation| Some(&rewritten.get(equation)?.signature[..]))
            .collect();
        let rows = rest.equations.iter().zip(&signatures);
        let rows = rows.map(|(equation, own)| match own {
            Some(own) => own,
            None => modes.signatures().row(equation.index()),
        });
        let matrix = SigmaMatrix::with_unknowns(rest.unknowns.clone(), rows);
        let mut aliases = ModeAliases {
            copies,
            rest,
            matrix,
            rewritten,
        };
        let leading = aliases.rest.leading_graph(&aliases.matrix);
        let (matching, blocks) = match_and_order(&leading);
        if !matching.is_perfect() {
            return None;
        }
        aliases.rest.blocks = blocks;
        aliases.rest.sigma.matching = matching;
        Some(aliases)
    }

    /// Unites the unknowns that active guarded equations make equal; the equations that were used up, by row.
    fn unite(&self, model: &Mdae, modes: &Modes, classes: &mut Classes) -> FxHashSet<Row> {
        let mut used_up = FxHashSet::default();
        let guarded = self.equations.iter().enumerate();
        for (row, &equation) in guarded.filter(|(_, equation)| modes.guard_of(**equation).is_some()) {
            let Some((x, y, negated)) = read_alias(model, model.equations[equation].residual) else {
                continue;
            };
            let position = |var: VarId| self.unknowns.binary_search(&var).ok();
            let (Some(x), Some(y)) = (position(x), position(y)) else {
                continue;
            };
            // Derivatives of both are computed as far: else one of them would be computed for nothing.
            let d = &self.sigma.d;
            if d[x] == d[y] && self.sigma.c[row] == d[x] && classes.unite(x, y, negated) {
                used_up.insert(Row::from_index(row));
            }
        }
        used_up
    }

    /// Every unknown of a class but the one that would rather be a state.
    fn copies(&self, modes: &Modes, classes: &mut Classes) -> Vec<AliasCopy> {
        let mut best: FxHashMap<usize, usize> = FxHashMap::default();
        let preference = |at: usize| (modes.preference(self.unknowns[at], 0), std::cmp::Reverse(at));
        for at in 0..self.unknowns.len() {
            let (class, _) = classes.find(at);
            let kept = best.entry(class).or_insert(at);
            if preference(at) > preference(*kept) {
                *kept = at;
            }
        }
        let mut copies = Vec::new();
        for at in 0..self.unknowns.len() {
            let (class, negated) = classes.find(at);
            let root = best[&class];
            if root != at {
                copies.push(AliasCopy {
                    var: self.unknowns[at],
                    root: self.unknowns[root],
                    negated: negated != classes.find(root).1,
                    highest: self.sigma.d[at],
                });
            }
        }
        copies
    }

    /// The residuals of the equations that mention copies.
    fn rewritten(
        &self,
        model: &Mdae,
        modes: &Modes,
        pool: &mut ExprPool,
        copies: &[AliasCopy],
        used_up: &FxHashSet<Row>,
    ) -> FxHashMap<EquationId, Rewritten> {
        let copy_of = Copies(copies.iter().map(|&copy| (copy.var, copy)).collect());
        let mut touched: Vec<EquationId> = copies
            .iter()
            .flat_map(|copy| modes.equations_with(copy.var).iter().copied())
            .filter(|equation| {
                let row = self.equations.binary_search(equation);
                row.is_ok_and(|row| !used_up.contains(&Row::from_index(row)))
            })
            .collect();
        touched.sort_unstable();
        touched.dedup();
        let residuals: Vec<ExprId> = touched.iter().map(|&e| model.equations[e].residual).collect();
        let rewritten = pool.rewrite(&residuals, |pool, _, node| {
            let Node::Var { var, order } = node else { return None };
            let copy = copy_of.0.get(&var)?;
            let root = pool.der_var(copy.root, order);
            Some(if copy.negated { pool.neg(root) } else { root })
        });
        let rewritten = touched.iter().zip(rewritten);
        rewritten
            .map(|(&equation, residual)| {
                let rewritten = Rewritten::new(model, modes, equation, &copy_of, pool, residual);
                (equation, rewritten)
            })
            .collect()
    }

    /// What is left without some rows and unknowns.
    fn without(&self, rows: &FxHashSet<Row>, gone: &FxHashSet<VarId>) -> ModeStructure {
        let kept = (0..self.equations.len()).filter(|&row| !rows.contains(&Row::from_index(row)));
        let (equations, c): (Vec<_>, Vec<_>) = kept.map(|row| (self.equations[row], self.sigma.c[row])).unzip();
        let unknowns = self.unknowns.iter().copied().zip(self.sigma.d.iter().copied());
        let (unknowns, d): (Vec<_>, Vec<_>) = unknowns.filter(|(var, _)| !gone.contains(var)).unzip();
        ModeStructure {
            valuation: self.valuation.clone(),
            sigma: Sigma {
                matching: saltus_graph::Matching::empty(equations.len(), unknowns.len()),
                c,
                d,
            },
            equations,
            unknowns,
            dead: Vec::new(),
            blocks: self.blocks.clone(),
            groups: Vec::new(),
            selection: Selection::default(),
            jumps: Vec::new(),
        }
    }
}

/// `±x ± y = 0` between two real unknowns: whether x is minus y.
fn read_alias(model: &Mdae, residual: ExprId) -> Option<(VarId, VarId, bool)> {
    let variable = |mut id: ExprId| {
        let mut negated = false;
        loop {
            match model.pool.node(id) {
                Node::Unary(UnaryFunction::Neg, a) => (id, negated) = (a, !negated),
                Node::Var { var, order: 0 } if model.is_unknown(var) => return Some((var, negated)),
                _ => return None,
            }
        }
    };
    let (a, b, added) = match model.pool.node(residual) {
        Node::Binary(BinaryFunction::Add, a, b) => (a, b, true),
        Node::Binary(BinaryFunction::Sub, a, b) => (a, b, false),
        _ => return None,
    };
    let ((x, minus_x), (y, minus_y)) = (variable(a)?, variable(b)?);
    (x != y).then_some((x, y, (minus_x != minus_y) != added))
}

/// Union–find with signs.
struct Classes {
    parent: Vec<(usize, bool)>,
}

impl Classes {
    fn new(count: usize) -> Self {
        Classes {
            parent: (0..count).map(|i| (i, false)).collect(),
        }
    }

    /// The class of an element, and whether it is minus its first element.
    fn find(&mut self, at: usize) -> (usize, bool) {
        let (mut root, mut negated) = (at, false);
        while self.parent[root].0 != root {
            let (next, sign) = self.parent[root];
            (root, negated) = (next, negated != sign);
        }
        let (mut walk, mut sign) = (at, negated);
        while self.parent[walk].0 != root {
            let (next, own) = std::mem::replace(&mut self.parent[walk], (root, sign));
            (walk, sign) = (next, sign != own);
        }
        (root, negated)
    }

    /// x = ±y; false if they were in one class already.
    fn unite(&mut self, x: usize, y: usize, negated: bool) -> bool {
        let ((a, minus_a), (b, minus_b)) = (self.find(x), self.find(y));
        if a != b {
            self.parent[a] = (b, (minus_a != minus_b) != negated);
        }
        a != b
    }
}
