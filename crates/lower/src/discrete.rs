//! Which variable a discrete equation defines.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::{DiscreteEquation, ExprId, Node, OriginId, Role, UnaryFunction, VarId};
use saltus_source::{Diagnostic, codes};

use crate::Lowering;

/// `left = right` between discrete values while `guard` is true.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub left: ExprId,
    pub right: ExprId,
    pub guard: ExprId,
    pub origin: OriginId,
}

/// The ways an equation can be read as a definition: the variable and its value.
pub(crate) type Readings = Vec<(VarId, ExprId)>;

impl Lowering<'_> {
    /// Finds a target for every discrete equation by matching, then merges the guarded definitions of one variable.
    pub(crate) fn resolve_discrete(&mut self) {
        let candidates = std::mem::take(&mut self.discrete);
        let mut taken: FxHashSet<VarId> = FxHashSet::default();
        for branch in self.model.whens.iter().flat_map(|when| &when.branches) {
            for action in &branch.actions {
                taken.extend(action.assigned());
            }
        }
        taken.extend(self.model.discrete.iter().map(|e| e.target));
        let readings: Vec<Readings> = candidates
            .iter()
            .map(|candidate| {
                let mut readings = self.readings(candidate);
                readings.retain(|(var, _)| !taken.contains(var));
                readings
            })
            .collect();
        let targets = self.match_targets(&candidates, &readings);
        let mut by_target: FxHashMap<VarId, usize> = FxHashMap::default();
        for (candidate, target) in candidates.iter().zip(targets) {
            let Some((target, value)) = target else {
                let span = self.span_of(candidate.origin);
                let text = format!(
                    "{} = {}",
                    self.model.print(candidate.left),
                    self.model.print(candidate.right)
                );
                self.report(
                    Diagnostic::error(
                        codes::E0505,
                        span,
                        format!("no discrete variable is left for `{text}` to define"),
                    )
                    .with_note("every Integer, Boolean and discrete Real variable is defined by exactly one equation")
                    .with_help("remove the equation, or write the variable to be defined alone on one side"),
                );
                continue;
            };
            let equation = DiscreteEquation {
                target,
                value,
                guard: candidate.guard,
                origin: candidate.origin,
            };
            match by_target.get(&target) {
                Some(&at) => {
                    let earlier = self.model.discrete[at].clone();
                    let pool = &mut self.model.pool;
                    let value = pool.if_else(candidate.guard, value, earlier.value);
                    let guard = pool.or(candidate.guard, earlier.guard);
                    let joined = &mut self.model.discrete[at];
                    (joined.value, joined.guard) = (value, guard);
                }
                None => {
                    by_target.insert(target, self.model.discrete.len());
                    self.model.discrete.push(equation);
                }
            }
        }
        self.report_undefined(&taken, &by_target);
    }

    /// The ways an equation can be read as a definition.
    fn readings(&mut self, candidate: &Candidate) -> Readings {
        let mut found = Vec::new();
        for (this, other) in [(candidate.left, candidate.right), (candidate.right, candidate.left)] {
            let reading = match self.model.pool.node(this) {
                Node::Var { var, order: 0 } => Some((var, other)),
                Node::Unary(op @ (UnaryFunction::Not | UnaryFunction::Neg), inner) => match self.model.pool.node(inner)
                {
                    Node::Var { var, order: 0 } => Some((var, self.model.pool.unary(op, other))),
                    _ => None,
                },
                _ => None,
            };
            found.extend(reading.filter(|&(var, _)| self.model.variables[var].role == Role::Discrete));
        }
        found
    }

    /// Equations with disjoint guards may define the same variable: the branches of one if-equation are matched
    /// together by treating each (variable, guard) as taken only against equations whose guards can hold together.
    pub(crate) fn match_targets(
        &mut self,
        candidates: &[Candidate],
        readings: &[Readings],
    ) -> Vec<Option<(VarId, ExprId)>> {
        let mut owner: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
        let mut choice: Vec<Option<usize>> = vec![None; candidates.len()];
        for start in 0..candidates.len() {
            let mut seen = FxHashSet::default();
            self.assign(start, candidates, readings, &mut owner, &mut choice, &mut seen);
        }
        choice
            .iter()
            .zip(readings)
            .map(|(chosen, options)| chosen.map(|at| options[at]))
            .collect()
    }

    fn assign(
        &mut self,
        equation: usize,
        candidates: &[Candidate],
        readings: &[Readings],
        owner: &mut FxHashMap<VarId, Vec<usize>>,
        choice: &mut [Option<usize>],
        seen: &mut FxHashSet<VarId>,
    ) -> bool {
        // An explicit stack of tries: chains of connected Booleans can be long.
        let mut stack: Vec<(usize, usize)> = vec![(equation, 0)];
        while let Some(&(current, option)) = stack.last() {
            let Some(&(var, _)) = readings[current].get(option) else {
                stack.pop();
                if let Some(last) = stack.last_mut() {
                    last.1 += 1;
                }
                continue;
            };
            if !seen.insert(var) {
                stack.last_mut().expect("not empty").1 += 1;
                continue;
            }
            let rivals: Vec<usize> = owner.get(&var).map_or(Vec::new(), |list| {
                list.iter()
                    .copied()
                    .filter(|&other| self.overlap(&candidates[current], &candidates[other]))
                    .collect()
            });
            match rivals.as_slice() {
                [] => {
                    for &(taker, option) in stack.iter().rev() {
                        let var = readings[taker][option].0;
                        if let Some(old) = choice[taker] {
                            let old_var = readings[taker][old].0;
                            owner.entry(old_var).or_default().retain(|&e| e != taker);
                        }
                        owner.entry(var).or_default().push(taker);
                        choice[taker] = Some(option);
                    }
                    return true;
                }
                [rival] => stack.push((*rival, 0)),
                _ => stack.last_mut().expect("not empty").1 += 1,
            }
        }
        false
    }

    fn overlap(&mut self, a: &Candidate, b: &Candidate) -> bool {
        let pool = &mut self.model.pool;
        let both = pool.and(a.guard, b.guard);
        !saltus_mdae::split::is_contradiction(pool, both)
    }

    fn report_undefined(&mut self, assigned: &FxHashSet<VarId>, defined: &FxHashMap<VarId, usize>) {
        for var in self.model.variables.ids() {
            let variable = &self.model.variables[var];
            let known = assigned.contains(&var) || defined.contains_key(&var) || self.unclear.contains(&var);
            if variable.role != Role::Discrete || known {
                continue;
            }
            let (name, span) = (variable.name.clone(), self.span_of(variable.origin));
            self.report(
                Diagnostic::error(
                    codes::E0506,
                    span,
                    format!("nothing defines the discrete variable `{name}`"),
                )
                .with_label("declared here")
                .with_help("add an equation for it, or assign it in a when-clause"),
            );
        }
    }
}
