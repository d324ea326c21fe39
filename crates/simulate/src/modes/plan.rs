//! A plan compiled: everything from time, states and discrete values, in the order of the blocks.
//!
//! Blocks that depend only on earlier ones have no order among themselves. Explicit equations of the same depth are
//! therefore evaluated in one call, where equations of the same shape run in one loop.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustc_hash::FxHashMap;
use saltus_codegen::{Leaf, SystemError};
use saltus_mdae::{ConditionKind, Derivative, EquationId, ExprId, ExprPool, Mdae, OriginId, VarId};
use saltus_numerics::EvalError;
use saltus_numerics::linalg::SparsityPattern;
use saltus_structure::mode::{BlockKind, ModeAliases, ModeStructure, Plan, Selection};

use crate::error::Failure;
use crate::events::resolution::{Arguments, Determined, Watching, Ways};
use crate::events::response::Blur;
use crate::memory::Memory;
use crate::modes::block::{BlockFailure, BlockSolver, Care, Known, Learnt, SquareEquations};
use crate::modes::explicit::ExplicitEquations;
use crate::modes::jacobian::{ExactJacobian, Tangent};
use crate::modes::runtime::Tools;
use crate::modes::tangent::{PartialValues, TangentPlan};
use crate::stopwatch::Stopwatch;

/// Relative change of an unknown since the last anchor from which on it is no guess for other points.
const FAR: f64 = 0.5;

/// An equation with the order of its total derivative and where it comes from.
pub(crate) type Source = (ExprId, u16, OriginId);

/// Equations that are solved together.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// Each by itself, in one call.
    Explicit(Box<ExplicitEquations>),
    /// As one system.
    Block(Box<BlockSolver>),
    /// Variables that are others, or minus these, in this mode.
    Copies(Copies),
}

/// Values that are copied, in no particular order.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    /// From which place to which, and whether with the other sign.
    slots: Vec<(u32, u32, bool)>,
    unknowns: Vec<Derivative>,
    roots: Vec<Derivative>,
}

impl Copies {
    fn new(aliases: &ModeAliases, memory: &Memory) -> Self {
        let copies = aliases.copies.iter();
        let derivatives = copies.flat_map(|&copy| (0..=copy.highest).map(move |order| (copy, order)));
        let roots = derivatives
            .clone()
            .map(|(copy, order)| Derivative { var: copy.root, order })
            .collect();
        let (slots, unknowns) = derivatives
            .map(|(copy, order)| {
                let (from, to) = (memory.slot(copy.root, order), memory.slot(copy.var, order));
                ((from, to, copy.negated), Derivative { var: copy.var, order })
            })
            .unzip();
        Copies { slots, unknowns, roots }
    }

    /// What is copied, from what, and whether with the other sign.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (Derivative, Derivative, bool)> + '_ {
        let pairs = self.unknowns.iter().zip(&self.roots).zip(&self.slots);
        pairs.map(|((&unknown, &root), &(_, _, negated))| (unknown, root, negated))
    }

    fn solve(&self, memory: &mut Memory) {
        for &(from, to, negated) in &self.slots {
            let value = memory.values[from as usize];
            memory.values[to as usize] = if negated { -value } else { value };
        }
    }
}

impl Stage {
    fn solve(&mut self, memory: &mut Memory, care: Care) -> Result<(), BlockFailure> {
        match self {
            Stage::Explicit(equations) => equations.solve(memory),
            Stage::Block(block) => block.solve(memory, care),
            Stage::Copies(copies) => {
                copies.solve(memory);
                Ok(())
            }
        }
    }

    /// The same where the values in memory may be no guesses.
    fn solve_from_afar(&mut self, memory: &mut Memory) -> Result<(), BlockFailure> {
        match self {
            Stage::Block(block) => block.solve_from_afar(memory),
            other => other.solve(memory, Care::Checked),
        }
    }

    /// Makes the values it has found wrong by a few rounding errors.
    fn blur(&mut self, memory: &mut Memory, blur: Blur) {
        match self {
            Stage::Explicit(equations) => equations.blur(memory, blur),
            Stage::Block(block) => block.blur(memory, blur),
            Stage::Copies(_) => {}
        }
    }

    /// The same where no solution may be near.
    fn solve_over_folds(&mut self, memory: &mut Memory) -> Result<(), BlockFailure> {
        match self {
            Stage::Block(block) => block.solve_over_folds(memory),
            other => other.solve(memory, Care::Checked),
        }
    }

    /// Newton iterations so far.
    pub(crate) fn iterations(&self) -> u64 {
        match self {
            Stage::Block(block) => block.iterations,
            _ => 0,
        }
    }

    /// Whether the partial derivatives by what it determines read leaves of a kind.
    pub(crate) fn slopes_read(&self, kind: impl Fn(&Leaf) -> bool) -> bool {
        match self {
            Stage::Explicit(equations) => equations.slopes_read(kind),
            Stage::Block(block) => block.jacobian_reads(kind),
            Stage::Copies(_) => false,
        }
    }

    /// What it determines.
    pub(crate) fn unknowns(&self) -> &[Derivative] {
        match self {
            Stage::Explicit(equations) => &equations.unknowns,
            Stage::Block(block) => &block.unknowns,
            Stage::Copies(copies) => &copies.unknowns,
        }
    }
}

/// Which part of a plan failed, and how.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlanFailure {
    stage: usize,
    failure: BlockFailure,
}

/// What a part of a plan has cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StageCost {
    pub calls: u64,
    pub time: Duration,
}

/// For what something is computed; each of these for those after it, too.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// The rates of the states.
    Rates,
    /// The functions of conditions.
    Conditions,
    /// Results.
    Results,
}

/// A plan with compiled blocks.
#[derive(Clone, Debug)]
pub(crate) struct PlanCode {
    pub selection: Selection,
    stages: Vec<Stage>,
    /// For what each stage is solved.
    needs: Vec<Need>,
    /// For what the value at each place is computed.
    need_of_slot: Arc<[Need]>,
    sources: Vec<Vec<Source>>,
    /// Cost of each stage, if it is to be measured.
    costs: Option<Vec<StageCost>>,
    /// Places of the states, in order.
    state_slots: Vec<u32>,
    /// Places of their derivatives.
    pub derivative_slots: Vec<u32>,
    /// States as variables.
    pub states: Vec<Derivative>,
    /// Blocks by their equations and unknowns, aliases included; made when derivatives beyond the leading ones are asked
    /// for.
    plan: OnceLock<Plan>,
    /// The last accepted point.
    anchor: Anchor,
    /// What moves of the unknowns of nonlinear equations.
    courses: Vec<Course>,
    /// Whether the last solution is not a continuation of the one at the anchor, which has ceased to exist on the way.
    jumped: bool,
    /// Whether that is allowed.
    may_jump: bool,
    /// With how much care blocks are solved.
    care: Care,
    /// What leads to the watched conditions; made when they are first looked at.
    watching: Option<Box<Watching>>,
    /// What led to some conditions in another run.
    prepared: Option<Box<Watching>>,
    /// Sizes of its arguments that are known from before.
    sizes: Vec<f64>,
    /// What shows the course of the rates of states; made when it is first asked for.
    rates: OnceLock<Option<Box<Watching>>>,
    /// Whether only what a watching needs is solved.
    wanted: Wanted,
    /// Whether the last attempt failed; what it left in memory is no first guess.
    failed: bool,
    /// Whether the next solution is looked for from where the anchor has moved to.
    predicts: bool,
    /// Made when an implicit method first asks; `None` if no code could be made for it.
    jacobian: OnceLock<Option<Box<ExactJacobian>>>,
}

/// Places of an unknown and of its first two derivatives, as far as the mode has them.
#[derive(Copy, Clone, Debug)]
struct Course {
    value: u32,
    rate: u32,
    acceleration: Option<u32>,
}

/// A solution to which iterations can return.
#[derive(Clone, Debug, Default)]
struct Anchor {
    time: f64,
    /// Values of the unknowns of iterations.
    values: Vec<(u32, f64)>,
    /// The values and first two derivatives of those that have them.
    courses: Vec<[f64; 3]>,
}

/// What of a plan is solved.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Wanted {
    All,
    /// What the watched conditions depend on.
    Conditions,
    /// What shows the course of the rates.
    Rates,
    /// What is needed for something.
    For(Need),
}

/// What the solvers of a plan have found out.
#[derive(Clone, Debug)]
pub(crate) struct PlanLearnt {
    pub selection: Selection,
    anchor: Anchor,
    failed: bool,
    /// By block, in the order of the stages.
    blocks: Vec<Learnt>,
    /// Sizes of the arguments of what is watched.
    sizes: Vec<f64>,
}

/// What the solvers of a plan know at one point.
#[derive(Debug)]
pub(crate) struct PlanKnown {
    failed: bool,
    anchor: Anchor,
    blocks: Vec<Known>,
}

impl PlanCode {
    /// What is worth keeping of a plan.
    pub(crate) fn into_learnt(self) -> PlanLearnt {
        let blocks = self.stages.into_iter().filter_map(|stage| match stage {
            Stage::Block(block) => Some(block.into_learnt()),
            Stage::Explicit(_) | Stage::Copies(_) => None,
        });
        PlanLearnt {
            sizes: self
                .watching
                .map_or(self.sizes, |watching| watching.arguments.into_sizes()),
            blocks: blocks.collect(),
            selection: self.selection,
            anchor: self.anchor,
            failed: self.failed,
        }
    }

    /// Goes on where a plan with the same choice of states ended.
    pub(crate) fn recall(&mut self, learnt: PlanLearnt) {
        self.anchor = learnt.anchor;
        self.failed = learnt.failed;
        self.sizes = learnt.sizes;
        let blocks = self.stages.iter_mut().filter_map(|stage| match stage {
            Stage::Block(block) => Some(block),
            Stage::Explicit(_) | Stage::Copies(_) => None,
        });
        for (block, learnt) in blocks.zip(learnt.blocks) {
            block.recall(learnt);
        }
    }

    /// What its solvers know now.
    pub(crate) fn known(&self) -> PlanKnown {
        let blocks = self.stages.iter().filter_map(|stage| match stage {
            Stage::Block(block) => Some(block.known()),
            Stage::Explicit(_) | Stage::Copies(_) => None,
        });
        PlanKnown {
            failed: self.failed,
            anchor: self.anchor.clone(),
            blocks: blocks.collect(),
        }
    }

    /// Forgets what they have learnt since.
    pub(crate) fn back_to(&mut self, known: PlanKnown) {
        self.failed = known.failed;
        self.anchor = known.anchor;
        let blocks = self.stages.iter_mut().filter_map(|stage| match stage {
            Stage::Block(block) => Some(block),
            Stage::Explicit(_) | Stage::Copies(_) => None,
        });
        for (block, known) in blocks.zip(known.blocks) {
            block.back_to(known);
        }
    }

    /// Forgets what a run has learnt, as if the code had just been made.
    pub(crate) fn forget(&mut self) {
        for stage in &mut self.stages {
            match stage {
                Stage::Explicit(equations) => equations.forget(),
                Stage::Block(block) => block.forget(),
                Stage::Copies(_) => {}
            }
        }
        self.prepared = self.watching.take().or(self.prepared.take());
        if let Some(prepared) = &mut self.prepared {
            prepared.arguments.forget();
        }
        if let Some(rates) = self.rates() {
            rates.arguments.forget();
        }
        self.costs = None;
        self.anchor = Anchor::default();
        self.sizes = Vec::new();
        self.care = Care::Checked;
        self.wanted = Wanted::All;
        (self.jumped, self.may_jump, self.failed, self.predicts) = (false, false, false, false);
    }

    /// Takes the sizes of variables from another run.
    pub(crate) fn set_nominal(&mut self, nominal: impl Fn(VarId) -> f64 + Copy) {
        for stage in &mut self.stages {
            if let Stage::Block(block) = stage {
                block.set_nominal(nominal);
            }
        }
    }

    /// Bytes, roughly.
    pub(crate) fn approximate_bytes(&self) -> usize {
        let stage = |stage: &Stage| match stage {
            Stage::Block(block) => block.approximate_bytes(),
            other => 512 + 150 * other.unknowns().len(),
        };
        let jacobian = match self.jacobian.get() {
            Some(Some(_)) => 200 * self.states.len(),
            _ => 0,
        };
        self.stages.iter().map(stage).sum::<usize>() + jacobian + 40 * self.states.len()
    }

    pub(crate) fn new(
        tools: Tools<'_>,
        pool: &ExprPool,
        structure: &ModeStructure,
        aliases: Option<&ModeAliases>,
        selection: Selection,
        memory: &Memory,
    ) -> Result<Self, Failure> {
        let plan = OnceLock::new();
        let whole = || plan.get_or_init(|| structure.plan(tools.model, tools.modes, &selection));
        let shorter = aliases.and_then(|aliases| {
            let plan = aliases.plan(tools.model, tools.modes, pool, structure, &selection)?;
            Some((plan, aliases))
        });
        let (order, residual): (&Plan, &dyn Fn(EquationId) -> ExprId) = match &shorter {
            Some((plan, aliases)) => (plan, &|equation| aliases.residual(tools.model, equation)),
            None => (whole(), &|equation| tools.model.equations[equation].residual),
        };
        let block_sources = |at: usize| {
            let equations = order.block(at).equations.iter();
            equations.map(|&(equation, times)| (residual(equation), times, tools.model.equations[equation].origin))
        };
        let offsets = structure.unknowns.iter().zip(&structure.sigma.d);
        let highest: FxHashMap<VarId, u16> = offsets.map(|(&var, &d)| (var, d)).collect();
        let highest = |var: VarId| highest.get(&var).copied().unwrap_or(0);
        let mut courses = Vec::new();
        let (mut stages, mut all_sources) = (Vec::new(), Vec::new());
        let occurrences = |equation: EquationId| match &shorter {
            Some((_, aliases)) => aliases.occurrences(tools.model, tools.modes, equation),
            None => tools.modes.occurrences(tools.model, equation),
        };
        let needs = Needs::new(
            tools.model,
            order,
            aliases.filter(|_| shorter.is_some()),
            memory,
            &occurrences,
        );
        let mut needs_of_stages = Vec::new();
        for Depth { explicit, blocks } in depths(order, memory, &occurrences) {
            for need in [Need::Rates, Need::Conditions, Need::Results] {
                let explicit: Vec<usize> = explicit
                    .iter()
                    .copied()
                    .filter(|&at| needs.of_block(at) == need)
                    .collect();
                if explicit.is_empty() {
                    continue;
                }
                let sources: Vec<Source> = explicit.iter().flat_map(|&at| block_sources(at)).collect();
                let unknowns: Vec<_> = explicit
                    .iter()
                    .flat_map(|&at| order.block(at).solve_for)
                    .copied()
                    .collect();
                let mut equations = ExplicitEquations::new(tools.cache, pool, &sources, &unknowns, memory)?;
                equations.let_keep(|unknown| highest(unknown.var) == 0);
                stages.push(Stage::Explicit(Box::new(equations)));
                needs_of_stages.push(need);
                all_sources.push(sources);
            }
            for at in blocks {
                let block = order.block(at);
                let sources: Vec<Source> = block_sources(at).collect();
                let linear = block.kind != BlockKind::Nonlinear;
                let (sources, linear) = tools.forms.solved(sources, block.solve_for, linear);
                let nominal = |var: VarId| tools.nominal(var);
                let square = SquareEquations {
                    equations: &sources,
                    unknowns: block.solve_for,
                    linear,
                };
                let mut solver = tools.forms.solver(tools.cache, pool, square, nominal, memory)?;
                solver.let_keep(|unknown| highest(unknown.var) == 0);
                if !linear {
                    let moving = block.solve_for.iter().filter(|x| x.order < highest(x.var));
                    courses.extend(moving.map(|x| Course {
                        value: memory.slot(x.var, x.order),
                        rate: memory.slot(x.var, x.order + 1),
                        acceleration: (x.order + 1 < highest(x.var)).then(|| memory.slot(x.var, x.order + 2)),
                    }));
                }
                stages.push(Stage::Block(Box::new(solver)));
                needs_of_stages.push(needs.of_block(at));
                all_sources.push(sources);
            }
        }
        if let Some((_, aliases)) = &shorter {
            let copies = Copies::new(aliases, memory);
            let copied = copies.slots.iter().map(|&(_, to, _)| needs.of_slot[to as usize]);
            needs_of_stages.push(copied.min().unwrap_or(Need::Results));
            stages.push(Stage::Copies(copies));
            all_sources.push(Vec::new());
        }
        let states: Vec<Derivative> = order.states.iter().map(|s| s.state).collect();
        debug_assert!(states.is_sorted(), "states are found by bisection");
        Ok(PlanCode {
            selection,
            stages,
            needs: needs_of_stages,
            need_of_slot: needs.of_slot.into(),
            sources: all_sources,
            costs: tools.profile.then(Vec::new),
            state_slots: states
                .iter()
                .map(|&Derivative { var, order }| memory.slot(var, order))
                .collect(),
            derivative_slots: states
                .iter()
                .map(|&Derivative { var, order }| memory.slot(var, order + 1))
                .collect(),
            states,
            plan,
            anchor: Anchor::default(),
            courses,
            care: Care::Checked,
            watching: None,
            prepared: None,
            sizes: Vec::new(),
            rates: OnceLock::new(),
            wanted: Wanted::All,
            failed: false,
            predicts: false,
            jumped: false,
            may_jump: false,
            jacobian: OnceLock::new(),
        })
    }

    /// The plan with all variables of the mode, aliases included.
    pub(crate) fn whole_plan(&self, tools: Tools<'_>, structure: &ModeStructure) -> &Plan {
        let make = || structure.plan(tools.model, tools.modes, &self.selection);
        self.plan.get_or_init(make)
    }

    /// Computes everything from time, states and discrete values in memory. Iterations begin at the values there; where
    /// that fails, because a trial step led far astray, at those of the last anchor; and where no solution is near
    /// those any more, they go on to the one that is left.
    pub(crate) fn solve(&mut self, memory: &mut Memory) -> Result<(), PlanFailure> {
        let predicts = std::mem::take(&mut self.predicts);
        let anchored = std::mem::take(&mut self.failed) && self.back_to_anchor(memory);
        if predicts {
            self.predict(memory);
        }
        let mut outcome = self.solve_stages(memory);
        if outcome.is_err() && (predicts || !anchored) && self.back_to_anchor(memory) {
            outcome = self.solve_stages(memory);
        }
        if outcome.is_err() && self.back_to_anchor(memory) {
            outcome = self.solve_over_folds(memory);
        }
        self.failed = outcome.is_err() || self.is_far_from_anchor(memory);
        self.jumped = outcome.is_ok() && self.has_jumped(memory);
        outcome
    }

    /// Whether the last solution is not a continuation of the one at the anchor.
    pub(crate) fn jumped(&self) -> bool {
        self.jumped && !self.may_jump
    }

    /// What kept its value at the last solution because nothing determined it.
    pub(crate) fn kept(&self) -> Vec<Derivative> {
        let of_block = |stage: &Stage| match stage {
            Stage::Block(block) => block.kept().collect(),
            Stage::Explicit(equations) => equations.kept().collect(),
            Stage::Copies(_) => Vec::new(),
        };
        self.stages.iter().flat_map(of_block).collect()
    }

    /// Lets solutions jump, or no longer.
    pub(crate) fn let_jump(&mut self, may_jump: bool) {
        self.may_jump = may_jump;
    }

    /// What Newton's method finds from the anchor continues it; what had to be looked for elsewhere does if it is near.
    fn has_jumped(&self, memory: &Memory) -> bool {
        let blocks = self.stages.iter().filter_map(|stage| match stage {
            Stage::Block(block) if block.has_strayed() => Some(block),
            _ => None,
        });
        let far = |block: &BlockSolver| {
            let floors = block.slots().iter().zip(block.floors());
            floors.into_iter().any(|(&slot, floor)| {
                let now = memory.values[slot as usize];
                let anchor = self.anchor.values.iter().find(|(known, _)| *known == slot);
                anchor.is_some_and(|&(_, then)| (now - then).abs() > FAR * now.abs().max(then.abs()).max(floor))
            })
        };
        blocks.into_iter().any(|block| far(block))
    }

    /// The same for a stage of an integrator, of which there are many to each point that counts.
    pub(crate) fn solve_for_stage(&mut self, memory: &mut Memory) -> Result<(), PlanFailure> {
        self.care = Care::Quick;
        let outcome = self.solve(memory);
        self.care = Care::Checked;
        outcome
    }

    /// The same for the rates of the states alone.
    pub(crate) fn solve_for_rates_of_stage(&mut self, memory: &mut Memory) -> Result<(), PlanFailure> {
        self.wanted = Wanted::For(Need::Rates);
        let outcome = self.solve_for_stage(memory);
        self.wanted = Wanted::All;
        outcome
    }

    /// The same with care.
    pub(crate) fn solve_rates(&mut self, memory: &mut Memory) -> Result<(), PlanFailure> {
        self.wanted = Wanted::For(Need::Rates);
        let outcome = self.solve(memory);
        self.wanted = Wanted::All;
        outcome
    }

    /// For what a value is computed.
    pub(crate) fn need_of(&self, slot: u32) -> Need {
        self.need_of_slot.get(slot as usize).copied().unwrap_or(Need::Results)
    }

    /// The same for what the watched conditions depend on.
    pub(crate) fn solve_watched(&mut self, memory: &mut Memory) -> Result<(), PlanFailure> {
        self.wanted = Wanted::Conditions;
        let outcome = self.solve(memory);
        self.wanted = Wanted::All;
        outcome
    }

    /// The same for what shows the course of the rates.
    pub(crate) fn solve_for_rates(&mut self, memory: &mut Memory) -> Result<(), PlanFailure> {
        self.wanted = Wanted::Rates;
        let outcome = self.solve_for_stage(memory);
        self.wanted = Wanted::All;
        outcome
    }

    /// Finds what leads from states to the functions of conditions, unless that is known. `last` is what was found last, in
    /// whatever mode.
    pub(crate) fn watch(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        functions: &[ExprId],
        memory: &Memory,
        last: &mut Option<Watching>,
    ) {
        // A condition may be read in another way than at the last visit, whichever is known better.
        if self.watching.as_ref().is_some_and(|known| known.functions == functions) {
            return;
        }
        let prepared = self.prepared.take().filter(|known| known.functions == functions);
        let mut watching = match (prepared, &last) {
            (Some(prepared), _) => *prepared,
            (None, Some(last)) if last.of_time && last.functions == functions => Watching {
                stages: vec![false; self.stages.len()],
                ..last.clone()
            },
            _ => self.ways(tools, pool, memory).watching(functions),
        };
        if watching.of_time && last.as_ref().is_none_or(|last| last.functions != functions) {
            *last = Some(watching.clone());
            last.iter_mut().for_each(|last| last.arguments.forget());
        }
        watching.arguments.recall(&self.sizes);
        self.watching = Some(Box::new(watching));
    }

    /// Finds what shows the course of the rates of states, unless that is known: whether there is anything.
    pub(crate) fn watch_rates(&mut self, tools: Tools<'_>, pool: &ExprPool, memory: &Memory) -> bool {
        let found = || self.ways(tools, pool, memory).rates(&self.states).map(Box::new);
        self.rates.get_or_init(found).is_some()
    }

    /// What shows the course of the rates, once it is known.
    pub(crate) fn rates(&mut self) -> Option<&mut Watching> {
        self.rates.get_mut()?.as_deref_mut()
    }

    /// The arguments of what shows the course of the rates.
    pub(crate) fn rate_arguments(&self) -> Option<&Arguments> {
        self.rates.get()?.as_ref().map(|rates| &rates.arguments)
    }

    fn ways<'a>(&self, tools: Tools<'a>, pool: &'a ExprPool, memory: &'a Memory) -> Ways<'a> {
        let mut determined: FxHashMap<Derivative, Determined> = FxHashMap::default();
        for (at, stage) in self.stages.iter().enumerate() {
            match stage {
                Stage::Explicit(equations) => {
                    let unknowns = equations.unknowns.iter().enumerate();
                    determined.extend(unknowns.map(|(k, &unknown)| (unknown, Determined::Equation(at, k))));
                }
                Stage::Block(block) => {
                    determined.extend(block.unknowns.iter().map(|&unknown| (unknown, Determined::Stage(at))));
                }
                Stage::Copies(copies) => {
                    let pairs = copies.unknowns.iter().zip(&copies.roots);
                    determined.extend(pairs.map(|(&unknown, &root)| (unknown, Determined::Copy(at, root))));
                }
            }
        }
        let equations = self
            .sources
            .iter()
            .map(|sources| sources.iter().map(|&(f, times, _)| (f, times)).collect());
        Ways {
            determined,
            equations: equations.collect(),
            model: tools.model,
            cache: tools.cache,
            pool,
            memory,
        }
    }

    /// What leads to the watched conditions, once it is known.
    pub(crate) fn watching(&mut self) -> Option<&mut Watching> {
        self.watching.as_deref_mut()
    }

    /// The arguments of what is watched.
    pub(crate) fn arguments(&self) -> Option<&Arguments> {
        self.watching.as_ref().map(|watching| &watching.arguments)
    }

    /// Whether a stage is to be solved.
    fn is_wanted(&self, stage: usize) -> bool {
        let watching = match self.wanted {
            Wanted::All => None,
            Wanted::For(need) => return self.needs[stage] <= need,
            Wanted::Conditions => self.watching.as_ref(),
            Wanted::Rates => self.rates.get().and_then(Option::as_ref),
        };
        watching.is_none_or(|watching| watching.stages[stage])
    }

    /// Whether the solution in memory is another one than that of the anchor, or may be: it must not be the guess for
    /// the next trial, which can be before the point where the two meet.
    fn is_far_from_anchor(&self, memory: &Memory) -> bool {
        self.anchor.values.iter().any(|&(slot, value)| {
            let now = memory.values[slot as usize];
            (now - value).abs() > FAR * now.abs().max(value.abs())
        })
    }

    fn solve_over_folds(&mut self, memory: &mut Memory) -> Result<(), PlanFailure> {
        for (stage, part) in self.stages.iter_mut().enumerate() {
            let outcome = part.solve_over_folds(memory);
            outcome.map_err(|failure| PlanFailure { stage, failure })?;
        }
        Ok(())
    }

    /// The same where values in memory may be no guesses: when a mode is entered.
    pub(crate) fn solve_from_afar(&mut self, memory: &mut Memory) -> Result<(), PlanFailure> {
        for (stage, part) in self.stages.iter_mut().enumerate() {
            let outcome = part.solve_from_afar(memory);
            outcome.map_err(|failure| PlanFailure { stage, failure })?;
        }
        self.failed = false;
        Ok(())
    }

    /// The same at the start, near the start values that there are.
    pub(crate) fn solve_near_starts(
        &mut self,
        memory: &mut Memory,
        start: &dyn Fn(Derivative) -> Option<f64>,
    ) -> Result<(), PlanFailure> {
        for (stage, part) in self.stages.iter_mut().enumerate() {
            let outcome = match part {
                Stage::Block(block) => block.solve_near_starts(memory, start),
                other => other.solve_from_afar(memory),
            };
            outcome.map_err(|failure| PlanFailure { stage, failure })?;
        }
        self.failed = false;
        Ok(())
    }

    /// The same for what is needed, with every value wrong by a few rounding errors: what is left of differences is rounding,
    /// too.
    pub(crate) fn solve_blurred(&mut self, memory: &mut Memory, blur: Blur, need: Need) -> Result<(), PlanFailure> {
        for (stage, part) in self.stages.iter_mut().enumerate() {
            if self.needs[stage] > need {
                continue;
            }
            let outcome = part.solve_from_afar(memory);
            outcome.map_err(|failure| PlanFailure { stage, failure })?;
            part.blur(memory, blur);
        }
        Ok(())
    }

    /// Places of the unknowns of iterations, which begin with the values there.
    pub(crate) fn iterated_slots(&self) -> impl Iterator<Item = u32> + '_ {
        let blocks = self.stages.iter().filter_map(|stage| match stage {
            Stage::Block(block) => Some(block),
            _ => None,
        });
        blocks.flat_map(|block| block.slots().iter().copied())
    }

    /// The values in memory are a solution to which iterations can return.
    pub(crate) fn set_anchor(&mut self, memory: &Memory) {
        let value = |slot: u32| memory.values[slot as usize];
        self.anchor.time = memory.time();
        self.anchor.values.clear();
        for stage in &self.stages {
            if let Stage::Block(block) = stage {
                let slots = block.slots().iter();
                self.anchor.values.extend(slots.map(|&slot| (slot, value(slot))));
            }
        }
        self.anchor.courses.clear();
        let courses = self.courses.iter();
        self.anchor.courses.extend(courses.map(|course| {
            let acceleration = course.acceleration.map_or(0.0, value);
            [value(course.value), value(course.rate), acceleration]
        }));
    }

    /// Lets the next iterations for what moves begin where it has moved to from the anchor, which belongs to the same phase.
    pub(crate) fn predict_next(&mut self) {
        self.predicts = true;
    }

    /// The other end of a rod is known to be at a distance only: from its old place the iteration would find the mirrored one,
    /// once the rod has fallen by more than its height.
    fn predict(&self, memory: &mut Memory) {
        let ahead = memory.time() - self.anchor.time;
        for (course, &[value, rate, acceleration]) in self.courses.iter().zip(&self.anchor.courses) {
            let predicted = value + ahead * (rate + 0.5 * ahead * acceleration);
            if predicted.is_finite() {
                memory.values[course.value as usize] = predicted;
            }
        }
    }

    /// False if there is none.
    fn back_to_anchor(&self, memory: &mut Memory) -> bool {
        for &(slot, value) in &self.anchor.values {
            memory.values[slot as usize] = value;
        }
        !self.anchor.values.is_empty()
    }

    fn solve_stages(&mut self, memory: &mut Memory) -> Result<(), PlanFailure> {
        if self.costs.is_some() {
            return self.solve_measured(memory);
        }
        for stage in 0..self.stages.len() {
            if self.is_wanted(stage) {
                let outcome = self.stages[stage].solve(memory, self.care);
                outcome.map_err(|failure| PlanFailure { stage, failure })?;
            }
        }
        Ok(())
    }

    fn solve_measured(&mut self, memory: &mut Memory) -> Result<(), PlanFailure> {
        for stage in 0..self.stages.len() {
            if !self.is_wanted(stage) {
                continue;
            }
            let begin = Stopwatch::start();
            let outcome = self.stages[stage].solve(memory, self.care);
            let costs = self.costs.get_or_insert_default();
            costs.resize(self.stages.len(), StageCost::default());
            costs[stage].calls += 1;
            costs[stage].time += begin.elapsed();
            outcome.map_err(|failure| PlanFailure { stage, failure })?;
        }
        Ok(())
    }

    /// A failure in the model's terms.
    pub(crate) fn explain(
        &self,
        failure: &PlanFailure,
        memory: &Memory,
        name: &dyn Fn(VarId, u16) -> String,
    ) -> Failure {
        match &self.stages[failure.stage] {
            Stage::Explicit(equations) => equations.explain(&failure.failure, memory, name),
            Stage::Block(block) => block.explain(&failure.failure, memory, name),
            Stage::Copies(_) => unreachable!("copies do not fail"),
        }
    }

    /// Every part with its cost, if that was measured.
    pub(crate) fn costs(&self) -> impl Iterator<Item = (&Stage, &StageCost)> {
        self.stages.iter().zip(self.costs.iter().flatten())
    }

    /// Whether a derivative of a variable is a state.
    pub(crate) fn is_state(&self, derivative: Derivative) -> bool {
        self.states.binary_search(&derivative).is_ok()
    }

    pub(crate) fn read_states(&self, memory: &Memory, y: &mut Vec<f64>) {
        y.clear();
        y.extend(self.state_slots.iter().map(|&slot| memory.values[slot as usize]));
    }

    pub(crate) fn write_states(&self, y: &[f64], memory: &mut Memory) {
        for (&slot, &value) in self.state_slots.iter().zip(y) {
            memory.values[slot as usize] = value;
        }
    }

    /// The entries of the Jacobian of the state derivatives by the states that can be nonzero; `None` if all can.
    pub(crate) fn pattern(&self, tools: Tools<'_>, pool: &ExprPool, memory: &Memory) -> Option<&SparsityPattern> {
        let exact = self.jacobian.get_or_init(|| {
            let parts = (&self.stages[..], &self.sources[..]);
            let exact = ExactJacobian::new((tools.cache, tools.jacobians), pool, &self.states, parts, memory);
            exact.ok().map(Box::new)
        });
        exact.as_ref()?.pattern()
    }

    /// Whether the Jacobian changes at events only.
    pub(crate) fn has_constant_jacobian(&self) -> bool {
        let exact = self.jacobian.get().and_then(Option::as_ref);
        exact.is_some_and(|exact| exact.is_constant())
    }

    /// The Jacobian at the values in memory, which are a solution, in the order of the pattern.
    pub(crate) fn jacobian(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        memory: &Memory,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        self.pattern(tools, pool, memory);
        match self.jacobian.get_mut() {
            Some(Some(exact)) => exact.evaluate(&mut self.stages, memory, values),
            _ => Err(EvalError::recoverable("no code for the derivatives")),
        }
    }

    /// How tangents go through the equations, of the states and of leaves that are known besides.
    pub(crate) fn tangent_plan(
        &self,
        tools: Tools<'_>,
        pool: &ExprPool,
        memory: &Memory,
        known: &[Leaf],
    ) -> Result<TangentPlan, SystemError> {
        let parts = (&self.stages[..], &self.sources[..]);
        TangentPlan::new((tools.cache, pool, memory), &self.states, known, parts)
    }

    /// Partial derivatives for tangents at the values in memory, which are a solution.
    pub(crate) fn partials(
        &mut self,
        plan: &TangentPlan,
        memory: &Memory,
        values: &mut PartialValues,
    ) -> Result<(), EvalError> {
        plan.evaluate(&mut self.stages, memory, values)
    }

    /// Tangents of everything from those of what is known, which stand first.
    pub(crate) fn pass_tangents(&mut self, plan: &TangentPlan, values: &PartialValues, tangents: &mut [Tangent]) {
        plan.pass(&mut self.stages, values, tangents);
    }
}

/// An equation of a model with the order of its total derivative.
pub(crate) fn source(model: &Mdae, equation: EquationId, order: u16) -> Source {
    let data = &model.equations[equation];
    (data.residual, order, data.origin)
}

/// For what the blocks of a plan are solved.
struct Needs {
    of_slot: Vec<Need>,
    of_block: Vec<Need>,
}

impl Needs {
    fn new<'a>(
        model: &Mdae,
        plan: &Plan,
        aliases: Option<&ModeAliases>,
        memory: &Memory,
        occurrences: &dyn Fn(EquationId) -> &'a [Derivative],
    ) -> Self {
        let mut of_slot = vec![Need::Results; memory.values.len()];
        let mark = |of_slot: &mut [Need], need: Need, Derivative { var, order }: Derivative| {
            let known = &mut of_slot[memory.slot(var, order) as usize];
            *known = need.min(*known);
        };
        for condition in model.conditions.iter() {
            let ConditionKind::Relation { function, .. } = condition.kind else {
                continue;
            };
            for Derivative { var, order } in model.pool.occurrences(function) {
                let last = memory.orders(var).saturating_sub(1);
                mark(
                    &mut of_slot,
                    Need::Conditions,
                    Derivative {
                        var,
                        order: order.min(last),
                    },
                );
            }
        }
        for state in &plan.states {
            let Derivative { var, order } = state.state;
            mark(&mut of_slot, Need::Rates, Derivative { var, order: order + 1 });
        }
        for copy in aliases.iter().flat_map(|aliases| &aliases.copies) {
            for order in 0..=copy.highest {
                let need = of_slot[memory.slot(copy.var, order) as usize];
                mark(&mut of_slot, need, Derivative { var: copy.root, order });
            }
        }
        let count = plan.blocks().count();
        let mut of_block = vec![Need::Results; count];
        for at in (0..count).rev() {
            let block = plan.block(at);
            let solved = block.solve_for.iter();
            let need = solved.map(|&Derivative { var, order }| of_slot[memory.slot(var, order) as usize]);
            // Iterations follow their solutions from point to point.
            let need = match block.kind {
                BlockKind::Nonlinear => Need::Rates,
                _ => need.min().unwrap_or(Need::Results),
            };
            of_block[at] = need;
            for &Derivative { var, order } in block.solve_for {
                mark(&mut of_slot, need, Derivative { var, order });
            }
            for &(equation, times) in block.equations {
                for &Derivative { var, order } in occurrences(equation) {
                    let last = (order + times).min(memory.orders(var).saturating_sub(1));
                    (order..=last).for_each(|order| mark(&mut of_slot, need, Derivative { var, order }));
                }
            }
        }
        Needs { of_slot, of_block }
    }

    fn of_block(&self, at: usize) -> Need {
        self.of_block[at]
    }
}

/// Blocks of a plan that depend on earlier depths only.
#[derive(Default)]
struct Depth {
    explicit: Vec<usize>,
    blocks: Vec<usize>,
}

/// Blocks by depth, with what occurs in equations. What no block determines has depth zero.
fn depths<'a>(plan: &Plan, memory: &Memory, occurrences: &dyn Fn(EquationId) -> &'a [Derivative]) -> Vec<Depth> {
    // One more than the depth, by the place of a value.
    let mut depth_of: Vec<u32> = vec![0; memory.values.len()];
    let mut depths: Vec<Depth> = Vec::new();
    for (at, block) in plan.blocks().enumerate() {
        let mut depth = 0;
        for &(equation, order) in block.equations {
            for &Derivative { var, order: first } in occurrences(equation) {
                let last = (first + order).min(memory.orders(var).saturating_sub(1));
                let needed = (first..=last).map(|order| depth_of[memory.slot(var, order) as usize]);
                depth = needed.fold(depth, u32::max);
            }
        }
        for &Derivative { var, order } in block.solve_for {
            depth_of[memory.slot(var, order) as usize] = depth + 1;
        }
        let depth = depth as usize;
        if depths.len() <= depth {
            depths.resize_with(depth + 1, Depth::default);
        }
        match block.kind {
            BlockKind::Explicit => depths[depth].explicit.push(at),
            _ => depths[depth].blocks.push(at),
        }
    }
    depths
}
