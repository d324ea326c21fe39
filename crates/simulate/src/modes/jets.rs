//! Derivatives beyond the leading ones.
//!
//! x^(d+l) solves the block of x^(d), differentiated l times more. Only what is asked for is computed, with what it reads:
//! the sign of one diode's voltage does not need the derivatives of a whole network.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::{Derivative, EquationId, ExprPool, Role, VarId};
use saltus_structure::mode::Plan;

use crate::events::response::Blur;
use crate::memory::Memory;
use crate::modes::block::{BlockSolver, Care, Learnt, SquareEquations};
use crate::modes::plan::source;
use crate::modes::runtime::Tools;

/// Derivatives x^(d+1) … x^(d+level) of a variable, beyond its leading one x^(d).
#[derive(Copy, Clone, Debug)]
pub(crate) struct Beyond {
    pub var: VarId,
    pub level: u16,
}

/// A block of leading equations.
#[derive(Clone, Debug)]
struct Leading {
    equations: Vec<(EquationId, u16)>,
    solve_for: Vec<Derivative>,
    /// The variables in it with the highest derivative that occurs; found when first needed.
    reads: Option<Vec<Derivative>>,
}

#[derive(Clone, Debug)]
enum Solver {
    Unbuilt,
    Built(Box<BlockSolver>),
    /// Derivatives of that order are not kept, or there is no code for them.
    Impossible,
}

/// What the solvers of jets have found out, with their levels and blocks.
pub(crate) type JetsLearnt = Vec<(u16, usize, Learnt)>;

/// The derivatives of a mode beyond the leading ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jets {
    blocks: Vec<Leading>,
    /// Place of the block that determines a variable.
    block_of: FxHashMap<VarId, usize>,
    /// By level from 1 and block.
    levels: Vec<Vec<Solver>>,
}

impl Jets {
    /// The jets of a mode with the leading blocks of a plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let leading = plan.blocks().filter(|block| block.stage == 0);
        let blocks: Vec<Leading> = leading
            .map(|block| Leading {
                equations: block.equations.to_vec(),
                solve_for: block.solve_for.to_vec(),
                reads: None,
            })
            .collect();
        let solved = blocks.iter().enumerate();
        let block_of =
            solved.flat_map(|(at, block)| block.solve_for.iter().map(move |&Derivative { var, .. }| (var, at)));
        Jets {
            block_of: block_of.collect(),
            blocks,
            levels: Vec::new(),
        }
    }

    /// What is worth keeping.
    pub(crate) fn into_learnt(self) -> JetsLearnt {
        let levels = (1..).zip(self.levels);
        let solvers = levels.flat_map(|(level, blocks)| {
            let built = blocks.into_iter().enumerate();
            built.filter_map(move |(at, solver)| match solver {
                Solver::Built(solver) => Some((level, at, solver.into_learnt())),
                Solver::Unbuilt | Solver::Impossible => None,
            })
        });
        solvers.collect()
    }

    /// Goes on where the jets of the same plan ended.
    pub(crate) fn recall(&mut self, tools: Tools<'_>, pool: &ExprPool, learnt: JetsLearnt, memory: &Memory) {
        for (level, block, learnt) in learnt {
            if let Solver::Built(solver) = self.solver(tools, pool, level, block, memory) {
                solver.recall(learnt);
            }
        }
    }

    /// The solvers made so far.
    pub(crate) fn solvers_mut(&mut self) -> impl Iterator<Item = &mut BlockSolver> {
        self.levels.iter_mut().flatten().filter_map(|solver| match solver {
            Solver::Built(solver) => Some(&mut **solver),
            Solver::Unbuilt | Solver::Impossible => None,
        })
    }

    /// Bytes, roughly.
    pub(crate) fn approximate_bytes(&self) -> usize {
        let built = self.levels.iter().flatten().map(|solver| match solver {
            Solver::Built(solver) => solver.approximate_bytes(),
            Solver::Unbuilt | Solver::Impossible => 16,
        });
        100 * self.blocks.len() + built.sum::<usize>()
    }

    /// Computes x^(d+1) … x^(d+level) of the variables wanted, on request with a few rounding errors more. False if that is
    /// not possible.
    pub(crate) fn compute(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        wanted: impl IntoIterator<Item = Beyond>,
        memory: &mut Memory,
        blur: Option<Blur>,
    ) -> bool {
        let order = self.needed(tools, pool, wanted);
        order
            .into_iter()
            .all(|(level, block)| self.solve(tools, pool, level, block, memory, blur))
    }

    /// Whether the derivatives wanted follow from the equations alone: nobody says how fast what is given from outside changes.
    pub(crate) fn determine(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        wanted: impl IntoIterator<Item = Beyond>,
    ) -> bool {
        let from_outside = |of: &Derivative| tools.model.variables[of.var].role == Role::Input;
        let needed = self.needed(tools, pool, wanted);
        let mut blocks = needed.into_iter().map(|(_, block)| &self.blocks[block]);
        !blocks.any(|block| block.reads.iter().flatten().any(from_outside))
    }

    /// Levels and blocks to be solved, in order.
    fn needed(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        wanted: impl IntoIterator<Item = Beyond>,
    ) -> Vec<(u16, usize)> {
        let mut found: FxHashSet<(u16, usize)> = FxHashSet::default();
        let mut open: Vec<Beyond> = wanted.into_iter().collect();
        while let Some(Beyond { var, level: highest }) = open.pop() {
            // What no block determines is given from outside, or dead.
            let Some(&at) = self.block_of.get(&var) else { continue };
            for level in 1..=highest {
                if !found.insert((level, at)) {
                    continue;
                }
                if self.blocks[at].reads.is_none() {
                    self.blocks[at].reads = Some(reads(tools, pool, &self.blocks[at].equations));
                }
                let reads = self.blocks[at].reads.iter().flatten();
                open.extend(reads.filter_map(|&Derivative { var: read, order }| {
                    let solved = &self.blocks[*self.block_of.get(&read)?].solve_for;
                    let leading = solved.iter().find(|Derivative { var, .. }| *var == read)?.order;
                    let level = (order + level).saturating_sub(leading);
                    (level > 0).then_some(Beyond { var: read, level })
                }));
            }
        }
        let mut order: Vec<(u16, usize)> = found.into_iter().collect();
        order.sort_unstable();
        order
    }

    fn solve(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        level: u16,
        block: usize,
        memory: &mut Memory,
        blur: Option<Blur>,
    ) -> bool {
        let Solver::Built(solver) = self.solver(tools, pool, level, block, memory) else {
            return false;
        };
        let solved = solver.solve(memory, Care::Checked).is_ok();
        if let (true, Some(blur)) = (solved, blur) {
            solver.blur(memory, blur);
        }
        solved
    }

    fn solver(&mut self, tools: Tools<'_>, pool: &ExprPool, level: u16, block: usize, memory: &Memory) -> &mut Solver {
        let at = usize::from(level) - 1;
        while self.levels.len() <= at {
            let count = self.blocks.len();
            self.levels.push((0..count).map(|_| Solver::Unbuilt).collect());
        }
        if matches!(self.levels[at][block], Solver::Unbuilt) {
            let solver = self.blocks[block].solver(tools, pool, level, memory);
            self.levels[at][block] = solver.map_or(Solver::Impossible, |solver| Solver::Built(Box::new(solver)));
        }
        &mut self.levels[at][block]
    }
}

impl Leading {
    fn solver(&self, tools: Tools<'_>, pool: &ExprPool, level: u16, memory: &Memory) -> Option<BlockSolver> {
        let beyond = |&Derivative { var, order }: &Derivative| {
            let order = order + level;
            Derivative { var, order }
        };
        let unknowns: Vec<Derivative> = self.solve_for.iter().map(beyond).collect();
        if unknowns
            .iter()
            .any(|&Derivative { var, order }| order >= memory.orders(var))
        {
            return None;
        }
        let equations = self.equations.iter();
        let equations: Vec<_> = equations
            .map(|&(e, order)| source(tools.model, e, order + level))
            .collect();
        let nominal = |var| tools.nominal(var);
        let square = SquareEquations {
            equations: &equations,
            unknowns: &unknowns,
            linear: true,
        };
        BlockSolver::new(tools.cache, pool, square, nominal, memory).ok()
    }
}

/// The variables in equations, each differentiated as often as given, with their highest derivatives.
fn reads(tools: Tools<'_>, pool: &ExprPool, equations: &[(EquationId, u16)]) -> Vec<Derivative> {
    let mut found: Vec<Derivative> = Vec::new();
    for &(equation, differentiations) in equations {
        for Derivative { var, order } in pool.occurrences(tools.model.equations[equation].residual) {
            let order = order + differentiations;
            match found.iter_mut().find(|Derivative { var: known, .. }| *known == var) {
                Some(Derivative { order: highest, .. }) => *highest = (*highest).max(order),
                None => found.push(Derivative { var, order }),
            }
        }
    }
    found
}
