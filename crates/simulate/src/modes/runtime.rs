//! A mode at run time: its blocks compiled, its states and their derivatives by place.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_codegen::{KernelCache, KernelSpec, Leaf};
use saltus_mdae::{ConditionId, Derivative, EquationId, ExprPool, Idx, Mdae, VarId};
use saltus_structure::mode::{
    ChoiceGroup, Dependence, GroupSelection, ModeAliases, ModeStructure, Modes, Selection, select_states,
    selection_orientation, selection_quality,
};
use saltus_structure::restart::{ModeEquation, ModeSystem};

use crate::error::Failure;
use crate::events::condition::Monitor;
use crate::events::response::Blur;
use crate::kernel::Bound;
use crate::memory::Memory;
use crate::modes::block::BlockSolver;
use crate::modes::forms::OtherForms;
use crate::modes::jacobian::JacobianPlans;
use crate::modes::jets::{Beyond, Jets, JetsLearnt};
use crate::modes::plan::{PlanCode, PlanLearnt};

/// What compiling a mode needs.
#[derive(Copy, Clone)]
pub(crate) struct Tools<'a> {
    pub model: &'a Mdae,
    pub modes: &'a Modes,
    pub cache: &'a KernelCache,
    pub nominal: &'a [f64],
    pub forms: OtherForms<'a>,
    pub jacobians: &'a JacobianPlans,
    /// Whether the cost of every part is measured.
    pub profile: bool,
}

impl Tools<'_> {
    pub(crate) fn nominal(&self, var: VarId) -> f64 {
        self.nominal.get(var.index()).copied().unwrap_or(1.0)
    }
}

/// A mode that has been entered. What does not change any more is shared by all copies.
#[derive(Clone, Debug)]
pub(crate) struct ModeRuntime {
    pub structure: Arc<ModeStructure>,
    /// The mode without its aliases, in which it is computed.
    aliases: Option<Arc<ModeAliases>>,
    pub system: Arc<ModeSystem>,
    plans: Vec<PlanCode>,
    current: usize,
    /// Derivatives beyond the leading ones, once they were asked for, and the plan they were made of.
    jets: Option<(usize, Jets)>,
    highest: Arc<FxHashMap<VarId, u16>>,
    /// Coefficients that decide the choice of states, by group; `None` where the choice is the same everywhere.
    coefficients: Arc<[Option<Vec<Bound>>]>,
    /// What jumps inside differentiated equations.
    pub jump_conditions: Arc<FxHashSet<ConditionId>>,
    pub jump_variables: Arc<FxHashSet<VarId>>,
    /// Conditions as this mode makes them simpler, once that was asked for; `None` where it does not.
    pub simplified: FxHashMap<ConditionId, Option<Arc<Monitor>>>,
}

impl ModeRuntime {
    pub(crate) fn new(
        tools: Tools<'_>,
        pool: &ExprPool,
        structure: ModeStructure,
        aliases: Option<ModeAliases>,
        memory: &Memory,
    ) -> Result<Self, Failure> {
        // Other forms of equations are known by their residuals.
        let aliases = aliases.filter(|aliases| {
            let mut rewritten = aliases.rewritten();
            !rewritten.any(|equation| tools.forms.has_other(tools.model.equations[equation].residual))
        });
        let system = system_of_changes(tools, pool, &structure);
        let unknowns = structure.unknowns.iter().copied();
        let highest: FxHashMap<VarId, u16> = unknowns.zip(structure.sigma.d.iter().copied()).collect();
        let coefficients = coefficient_kernels(tools, pool, &structure, memory)?;
        let jump_conditions: FxHashSet<ConditionId> = structure
            .jumps
            .iter()
            .flat_map(|jump| jump.conditions.iter().copied())
            .collect();
        let jump_variables: FxHashSet<VarId> = structure
            .jumps
            .iter()
            .flat_map(|jump| jump.discrete.iter().chain(&jump.inputs).copied())
            .collect();
        let first = PlanCode::new(
            tools,
            pool,
            &structure,
            aliases.as_ref(),
            structure.selection.clone(),
            memory,
        )?;
        Ok(ModeRuntime {
            structure: Arc::new(structure),
            aliases: aliases.map(Arc::new),
            system: Arc::new(system),
            plans: vec![first],
            current: 0,
            jets: None,
            highest: Arc::new(highest),
            coefficients: coefficients.into(),
            jump_conditions: Arc::new(jump_conditions),
            jump_variables: Arc::new(jump_variables),
            simplified: FxHashMap::default(),
        })
    }

    /// Forgets what a run has learnt in it, as if it had just been made; code that was made on the way stays.
    pub(crate) fn forget(&mut self) {
        self.current = 0;
        self.plans.iter_mut().for_each(PlanCode::forget);
        if let Some((_, jets)) = &mut self.jets {
            jets.solvers_mut().for_each(BlockSolver::forget);
        }
    }

    /// The same mode for another run.
    pub(crate) fn for_run(&self, nominal: impl Fn(VarId) -> f64 + Copy) -> Self {
        let mut own = self.clone();
        own.plans.iter_mut().for_each(|plan| plan.set_nominal(nominal));
        if let Some((_, jets)) = &mut own.jets {
            jets.solvers_mut().for_each(|solver| solver.set_nominal(nominal));
        }
        own
    }

    /// All choices of states so far.
    pub(crate) fn plans(&self) -> &[PlanCode] {
        &self.plans
    }
    pub(crate) fn plan(&self) -> &PlanCode {
        &self.plans[self.current]
    }
    pub(crate) fn plan_mut(&mut self) -> &mut PlanCode {
        &mut self.plans[self.current]
    }

    /// d_x: the order of the leading derivative; `None` if the variable is dead here.
    pub(crate) fn highest_order(&self, var: VarId) -> Option<u16> {
        self.highest.get(&var).copied()
    }

    /// Whether numbers decide which states are chosen.
    pub(crate) fn chooses_states(&self) -> bool {
        self.coefficients.iter().any(Option::is_some)
    }

    /// Chooses states by the numbers in memory (all derivatives below the leading ones known), where the quality of the
    /// present choice asks for it. True if the choice changed.
    pub(crate) fn choose_states(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        memory: &Memory,
        asks_for_it: fn(f64) -> bool,
    ) -> Result<bool, Failure> {
        let mut selection = self.plan().selection.clone();
        let mut changed = false;
        for (at, kernels) in self.coefficients.iter().enumerate() {
            let Some(kernels) = kernels else { continue };
            let group = &self.structure.groups[at];
            let values: Vec<f64> = kernels.iter().map(|kernel| kernel.value(memory)).collect();
            if !asks_for_it(selection_quality(group, &values, &selection.groups[at])) {
                continue;
            }
            let preference = |var: VarId, _: u16| i32::from(tools.model.variables[var].state_select as u8);
            if let Ok(chosen) = select_states(group, &values, preference)
                && chosen.depth != selection.groups[at].depth
            {
                selection.groups[at] = chosen;
                changed = true;
            }
        }
        if changed {
            self.use_selection(tools, pool, memory, selection)?;
        }
        Ok(changed)
    }

    /// On which branches of the constraints the dummies are, as far as that depends on numbers.
    pub(crate) fn orientation(&self, memory: &Memory) -> Vec<Option<bool>> {
        let selection = &self.plan().selection;
        let groups = self.coefficients.iter().zip(&self.structure.groups);
        let varying = groups.zip(&selection.groups);
        let of_group = |((kernels, group), chosen): ((&Option<Vec<Bound>>, &ChoiceGroup), &GroupSelection)| {
            let kernels = kernels.as_ref()?;
            let values: Vec<f64> = kernels.iter().map(|kernel| kernel.value(memory)).collect();
            Some(selection_orientation(group, &values, chosen))
        };
        varying.filter_map(of_group).flatten().collect()
    }

    /// Makes variables states whose values are given from outside: true if the constraints then determine everything
    /// else that they bind, so that no other choice of states would give other values.
    pub(crate) fn prefer_states(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        memory: &Memory,
        given: &[Derivative],
    ) -> Result<bool, Failure> {
        let mut selection = self.plan().selection.clone();
        let mut is_determined = true;
        for (at, group) in self.structure.groups.iter().enumerate() {
            let is_given = |var: VarId| given.iter().any(|&Derivative { var: one, .. }| one == var);
            if !group.candidates.iter().any(|&Derivative { var, .. }| is_given(var)) {
                continue;
            }
            let values = match &self.coefficients[at] {
                Some(kernels) => Some(kernels.iter().map(|kernel| kernel.value(memory)).collect()),
                None => group.constant_values(),
            };
            let preference = |var: VarId, _: u16| {
                if is_given(var) {
                    i32::MAX
                } else {
                    i32::from(tools.model.variables[var].state_select as u8)
                }
            };
            let chosen = match values {
                Some(values) => select_states(group, &values, preference).ok(),
                None => Some(group.structural_selection(preference)),
            };
            let Some(chosen) = chosen else { return Ok(false) };
            is_determined &= group.is_determined_by(&chosen, given);
            selection.groups[at] = chosen;
        }
        self.use_selection(tools, pool, memory, selection)?;
        let states = &self.plan().whole_plan(tools, &self.structure).states;
        let is_state = |one: &Derivative| states.binary_search_by_key(one, |state| state.state).is_ok();
        Ok(is_determined && given.iter().all(is_state))
    }

    /// The plan of a choice of states, made when it is first needed.
    fn use_selection(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        memory: &Memory,
        selection: Selection,
    ) -> Result<(), Failure> {
        let known = self.plans.iter().position(|plan| {
            let groups = plan.selection.groups.iter().zip(&selection.groups);
            groups.into_iter().all(|(a, b)| a.depth == b.depth)
        });
        self.current = match known {
            Some(at) => at,
            None => {
                let aliases = self.aliases.as_deref();
                let plan = PlanCode::new(tools, pool, &self.structure, aliases, selection, memory)?;
                self.plans.push(plan);
                self.plans.len() - 1
            }
        };
        Ok(())
    }

    /// Jets of their own, for looks aside.
    pub(crate) fn jets_aside(&self, tools: Tools<'_>) -> Jets {
        Jets::new(self.plan().whole_plan(tools, &self.structure))
    }

    /// Computes x^(d+1) … x^(d+level) of the variables wanted; false if such derivatives are not kept.
    pub(crate) fn extend(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        wanted: &[Beyond],
        memory: &mut Memory,
        blur: Option<Blur>,
    ) -> bool {
        let (current, code, structure) = (self.current, &self.plans[self.current], &self.structure);
        let (_, jets) = self
            .jets
            .get_or_insert_with(|| (current, Jets::new(code.whole_plan(tools, structure))));
        jets.compute(tools, pool, wanted.iter().copied(), memory, blur)
    }
}

/// What remains of a mode that was let go.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModeLearnt {
    plans: Vec<PlanLearnt>,
    current: usize,
    jets: Option<(usize, JetsLearnt)>,
}

impl ModeRuntime {
    /// What is worth keeping of a mode.
    pub(crate) fn into_learnt(self) -> ModeLearnt {
        ModeLearnt {
            plans: self.plans.into_iter().map(PlanCode::into_learnt).collect(),
            current: self.current,
            jets: self.jets.map(|(plan, jets)| (plan, jets.into_learnt())),
        }
    }

    /// Makes the choices of states again that the same mode had made before it was let go.
    pub(crate) fn recall(
        &mut self,
        tools: Tools<'_>,
        pool: &ExprPool,
        learnt: ModeLearnt,
        memory: &Memory,
    ) -> Result<(), Failure> {
        self.current = learnt.current;
        for (at, learnt) in learnt.plans.into_iter().enumerate() {
            if at == self.plans.len() {
                let (aliases, selection) = (self.aliases.as_deref(), learnt.selection.clone());
                self.plans
                    .push(PlanCode::new(tools, pool, &self.structure, aliases, selection, memory)?);
            }
            self.plans[at].recall(learnt);
        }
        if let Some((plan, learnt)) = learnt.jets {
            let mut jets = Jets::new(self.plans[plan].whole_plan(tools, &self.structure));
            jets.recall(tools, pool, learnt, memory);
            self.jets = Some((plan, jets));
        }
        Ok(())
    }

    /// Bytes, roughly: the structure with and without aliases, the equations as mode changes see them, code.
    pub(crate) fn approximate_bytes(&self) -> usize {
        let plans = self.plans.iter().map(PlanCode::approximate_bytes);
        let jets = self.jets.as_ref().map_or(0, |(_, jets)| jets.approximate_bytes());
        4096 + 220 * self.structure.equations.len() + plans.sum::<usize>() + jets
    }
}

fn coefficient_kernels(
    tools: Tools<'_>,
    pool: &ExprPool,
    structure: &ModeStructure,
    memory: &Memory,
) -> Result<Vec<Option<Vec<Bound>>>, Failure> {
    let mut all = Vec::new();
    for group in &structure.groups {
        if group.dependence == Dependence::Constant || group.is_forced() {
            all.push(None);
            continue;
        }
        let mut kernels = Vec::new();
        for entry in &group.entries {
            let residual = tools.model.equations[group.equations[entry.row as usize].0].residual;
            let leaf = Leaf::var(group.candidates[entry.column as usize].var, entry.order);
            kernels.push(Bound::new(
                tools.cache,
                pool,
                &KernelSpec::partials(residual, 0, &[leaf]),
                memory,
            )?);
        }
        all.push(Some(kernels));
    }
    Ok(all)
}

/// The equations of a mode as mode changes see them: combinations stand for what they were made from.
fn system_of_changes(tools: Tools<'_>, pool: &ExprPool, structure: &ModeStructure) -> ModeSystem {
    let model = tools.model;
    let equation = |id: &EquationId| {
        let equation = &model.equations[model.stands_for(*id)];
        ModeEquation {
            residual: equation.residual,
            origin: equation.origin,
        }
    };
    let equations: Vec<ModeEquation> = structure.equations.iter().map(equation).collect();
    let combined = !model.combinations.is_empty() && structure.equations.iter().any(|&id| model.stands_for(id) != id);
    let known = || {
        ModeSystem::from_parts(
            equations.clone(),
            structure.matrix(tools.modes),
            structure.sigma.clone(),
        )
    };
    if combined {
        ModeSystem::new(pool, equations.clone(), |var| model.is_unknown(var)).unwrap_or_else(|_| known())
    } else {
        known()
    }
}
