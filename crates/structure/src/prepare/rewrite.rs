//! Builds the prepared model: compact ids, a fresh pool, aliases and constants filled in.

use std::cmp::Reverse;

use saltus_mdae::{
    Action, Alias, Assertion, Clock, Condition, ConditionKind, ConstantVariable, Delay, DiscreteEquation, Equation,
    EquationId, ExprId, ExprPool, Idx, IndexVec, Mdae, Node, StateSelect, Transport, VarId, Variable, When,
};

use super::classes::{Classes, rank};
use super::{Place, Prepared};

pub(super) fn rewrite(mut old: Mdae, classes: &mut Classes, used_up: &IndexVec<EquationId, bool>) -> Prepared {
    let (places, kept) = places(&old, classes);
    let pool = std::mem::take(&mut old.pool);
    let mut writer = Writer::new(&old, &pool, &places, &kept);
    writer.translate(&roots(&old, used_up));
    let Writer {
        pool: new_pool,
        translated,
        ..
    } = writer;
    let t = |id: ExprId| translated[id.index()];
    let mut model = Mdae {
        name: old.name.clone(),
        pool: new_pool,
        functions: std::mem::take(&mut old.functions),
        conditions: map(&old.conditions, |c| condition(c, &t)),
        discrete: old.discrete.iter().map(|e| discrete(e, &places, &t)).collect(),
        initial_equations: old.initial_equations.iter().map(|e| equation(e, &t)).collect(),
        initial_assignments: old
            .initial_assignments
            .iter()
            .map(|e| discrete(e, &places, &t))
            .collect(),
        assertions: old.assertions.iter().map(|a| assertion(a, &t)).collect(),
        delays: old.delays.iter().map(|d| delay(d, &places, &t)).collect(),
        transports: old.transports.iter().map(|d| transport(d, &places, &t)).collect(),
        clocks: old.clocks.iter().map(|known| clock(known, &places)).collect(),
        texts: old.texts.clone(),
        origins: std::mem::take(&mut old.origins),
        experiment: old.experiment,
        ..Mdae::default()
    };
    model.whens = map(&old.whens, |w| when(w, &places, &t, &mut model.pool));
    let mut equations = IndexVec::new();
    for (id, data) in old.equations.iter_enumerated() {
        equations.push((!used_up[id]).then(|| model.equations.push(equation(data, &t))));
    }
    place_variables(&mut model, &old, &places, &kept, &classes.colours.variables, &t);
    debug_assert_eq!(model.validate(), Ok(()));
    Prepared {
        model,
        places,
        equations,
        replaced: Vec::new(),
    }
}

fn map<I: Idx, T>(items: &IndexVec<I, T>, f: impl FnMut(&T) -> T) -> IndexVec<I, T> {
    let mut new = IndexVec::new();
    items.iter().map(f).for_each(|item| {
        new.push(item);
    });
    new
}

/// What becomes of each variable, and which ones stay; these keep their order.
fn places(model: &Mdae, classes: &mut Classes) -> (IndexVec<VarId, Place>, Vec<VarId>) {
    let representatives = classes.representatives(model);
    let mut number = vec![VarId(0); model.variables.len()];
    let mut kept = Vec::new();
    for var in model.variables.ids() {
        let root = classes.find(var).root;
        if representatives[root.index()] == Some(var) && classes.constant(root).is_none() {
            number[root.index()] = VarId::from_usize(kept.len());
            kept.push(var);
        }
    }
    let mut places = IndexVec::new();
    for var in model.variables.ids() {
        let term = classes.find(var);
        places.push(match classes.constant(term.root) {
            Some(value) if term.order == 0 => Place::Constant(if term.negated { -value } else { value }),
            Some(_) => Place::Constant(0.0),
            None => {
                let flipped = representatives[term.root.index()].is_some_and(|kept| classes.find(kept).negated);
                Place::Derivative {
                    var: number[term.root.index()],
                    order: term.order,
                    negated: term.negated ^ flipped,
                }
            }
        });
    }
    (places, kept)
}

/// Every expression the new model needs.
fn roots(model: &Mdae, used_up: &IndexVec<EquationId, bool>) -> Vec<ExprId> {
    let mut roots = Vec::new();
    let kept = model
        .equations
        .iter_enumerated()
        .filter(|&(id, _)| !used_up[id])
        .map(|(_, e)| e);
    for equation in kept.chain(&model.initial_equations) {
        roots.extend([equation.guard, equation.residual]);
        roots.extend(equation.simplified);
    }
    for equation in model.discrete.iter().chain(&model.initial_assignments) {
        roots.extend([equation.guard, equation.value]);
    }
    for condition in &model.conditions {
        match condition.kind {
            ConditionKind::Relation { function, .. } => roots.push(function),
            ConditionKind::Sample { start, interval } => roots.extend([start, interval]),
            ConditionKind::Tick { .. } => {}
            ConditionKind::Timer { interval, .. } => roots.push(interval),
        }
    }
    for branch in model.whens.iter().flat_map(|when| &when.branches) {
        roots.extend(&branch.conditions);
        for action in &branch.actions {
            match action {
                Action::Assign { value, .. } | Action::Reinit { value, .. } => roots.push(*value),
                Action::Restart { residual, .. } => roots.push(*residual),
                Action::Assert(assertion) => roots.extend([assertion.condition, assertion.guard, assertion.message]),
                Action::Terminate { guard, message, .. } => roots.extend([guard, message]),
                Action::Solve {
                    residuals, jacobian, ..
                } => roots.extend(residuals.iter().chain(jacobian)),
            }
        }
    }
    for assertion in &model.assertions {
        roots.extend([assertion.condition, assertion.guard, assertion.message]);
    }
    for delay in &model.delays {
        roots.extend([delay.expression, delay.delay, delay.max_delay]);
    }
    for transport in &model.transports {
        roots.extend(transport.inputs);
        roots.push(transport.position);
        roots.extend(transport.points.iter().chain(&transport.values));
    }
    let known = model.aliases.iter().map(|alias| &alias.variable);
    let known = known.chain(model.constants.iter().map(|constant| &constant.variable));
    for variable in model.variables.iter().chain(known) {
        roots.extend(attributes(variable).into_iter().flatten());
    }
    roots
}

fn attributes(variable: &Variable) -> [Option<ExprId>; 5] {
    [
        variable.binding,
        variable.start,
        variable.nominal,
        variable.min,
        variable.max,
    ]
}

/// Translates expressions into a fresh pool.
struct Writer<'a> {
    old: &'a ExprPool,
    places: &'a IndexVec<VarId, Place>,
    pool: ExprPool,
    translated: Vec<ExprId>,
}

impl<'a> Writer<'a> {
    fn new(model: &Mdae, old: &'a ExprPool, places: &'a IndexVec<VarId, Place>, kept: &[VarId]) -> Self {
        let mut pool = ExprPool::new();
        for &var in kept {
            pool.declare_variable(model.variables[var].traits());
        }
        Writer {
            old,
            places,
            pool,
            translated: vec![ExprId(u32::MAX); old.len()],
        }
    }

    fn translate(&mut self, roots: &[ExprId]) {
        let mut needed = vec![false; self.old.len()];
        let mut stack = roots.to_vec();
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut needed[id.index()], true) {
                self.old.for_each_child(self.old.node(id), |child| stack.push(child));
            }
        }
        // Children have smaller ids than their parents.
        for (i, _) in needed.iter().enumerate().filter(|&(_, &needed)| needed) {
            let id = ExprId::from_usize(i);
            self.translated[i] = self.node(self.old.node(id));
        }
    }

    fn node(&mut self, node: Node) -> ExprId {
        let t = |id: ExprId, this: &Self| this.translated[id.index()];
        match node {
            Node::Var { var, order } => self.leaf(var, order, false),
            Node::Pre { var, order } => self.leaf(var, order, true),
            Node::Unary(op, a) => {
                let a = t(a, self);
                self.pool.unary(op, a)
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (t(a, self), t(b, self));
                self.pool.binary(op, a, b)
            }
            Node::If(c, a, b) => {
                let (c, a, b) = (t(c, self), t(a, self), t(b, self));
                self.pool.if_else(c, a, b)
            }
            Node::Call {
                function,
                output,
                partials,
                args,
            } => {
                let args: Vec<ExprId> = self.old.args(args).map(|arg| t(arg, self)).collect();
                self.pool.call_partial(function, output, self.old.list(partials), &args)
            }
            leaf => self.pool.intern(leaf),
        }
    }

    fn leaf(&mut self, var: VarId, order: u16, left_limit: bool) -> ExprId {
        match self.places[var] {
            Place::Constant(value) => self.pool.real(if order == 0 { value } else { 0.0 }),
            Place::Derivative {
                var,
                order: raised,
                negated,
            } => {
                let order = order.saturating_add(raised);
                let leaf = if left_limit {
                    self.pool.pre_var(var, order)
                } else {
                    self.pool.der_var(var, order)
                };
                if negated { self.pool.neg(leaf) } else { leaf }
            }
        }
    }
}

fn equation(equation: &Equation, t: &impl Fn(ExprId) -> ExprId) -> Equation {
    Equation {
        guard: t(equation.guard),
        residual: t(equation.residual),
        simplified: equation.simplified.map(t),
        origin: equation.origin,
    }
}

/// The new id of a variable that was not eliminated (discrete variables, parameters, inputs).
fn new_id(places: &IndexVec<VarId, Place>, var: VarId) -> VarId {
    match places[var] {
        Place::Derivative { var, .. } => var,
        Place::Constant(_) => unreachable!("only real unknowns are eliminated"),
    }
}

fn discrete(
    equation: &DiscreteEquation,
    places: &IndexVec<VarId, Place>,
    t: &impl Fn(ExprId) -> ExprId,
) -> DiscreteEquation {
    DiscreteEquation {
        target: new_id(places, equation.target),
        value: t(equation.value),
        guard: t(equation.guard),
        origin: equation.origin,
    }
}

fn condition(condition: &Condition, t: &impl Fn(ExprId) -> ExprId) -> Condition {
    let kind = match condition.kind {
        ConditionKind::Relation { function, comparison } => ConditionKind::Relation {
            function: t(function),
            comparison,
        },
        ConditionKind::Sample { start, interval } => ConditionKind::Sample {
            start: t(start),
            interval: t(interval),
        },
        ConditionKind::Tick { shift, interval } => ConditionKind::Tick { shift, interval },
        ConditionKind::Timer { interval, resolution } => ConditionKind::Timer {
            interval: t(interval),
            resolution,
        },
    };
    Condition {
        kind,
        ..condition.clone()
    }
}

fn assertion(assertion: &Assertion, t: &impl Fn(ExprId) -> ExprId) -> Assertion {
    Assertion {
        condition: t(assertion.condition),
        guard: t(assertion.guard),
        message: t(assertion.message),
        ..assertion.clone()
    }
}

fn transport(old: &Transport, places: &IndexVec<VarId, Place>, t: &impl Fn(ExprId) -> ExprId) -> Transport {
    let all = |list: &[ExprId]| list.iter().map(|&id| t(id)).collect();
    Transport {
        outputs: old.outputs.map(|output| new_id(places, output)),
        inputs: old.inputs.map(t),
        position: t(old.position),
        points: all(&old.points),
        values: all(&old.values),
        origin: old.origin,
    }
}

fn clock(old: &Clock, places: &IndexVec<VarId, Place>) -> Clock {
    Clock {
        variables: old.variables.iter().map(|&var| new_id(places, var)).collect(),
        ..old.clone()
    }
}

fn delay(delay: &Delay, places: &IndexVec<VarId, Place>, t: &impl Fn(ExprId) -> ExprId) -> Delay {
    Delay {
        output: new_id(places, delay.output),
        expression: t(delay.expression),
        delay: t(delay.delay),
        max_delay: t(delay.max_delay),
        origin: delay.origin,
    }
}

fn when(when: &When, places: &IndexVec<VarId, Place>, t: &impl Fn(ExprId) -> ExprId, pool: &mut ExprPool) -> When {
    let mut new = when.clone();
    for branch in &mut new.branches {
        branch
            .conditions
            .iter_mut()
            .for_each(|condition| *condition = t(*condition));
        for action in &mut branch.actions {
            rewrite_action(action, places, t, pool);
        }
    }
    new
}

fn rewrite_action(
    action: &mut Action,
    places: &IndexVec<VarId, Place>,
    t: &impl Fn(ExprId) -> ExprId,
    pool: &mut ExprPool,
) {
    match action {
        Action::Assign { target, value, .. } => {
            *target = new_id(places, *target);
            *value = t(*value);
        }
        Action::Restart { residual, .. } => *residual = t(*residual),
        Action::Reinit { var, order, value, .. } => {
            *value = t(*value);
            if let Place::Derivative {
                var: new,
                order: raised,
                negated,
            } = places[*var]
            {
                (*var, *order) = (new, *order + raised);
                if negated {
                    *value = pool.neg(*value);
                }
            }
        }
        Action::Assert(checked) => *checked = assertion(checked, t),
        Action::Terminate { guard, message, .. } => (*guard, *message) = (t(*guard), t(*message)),
        Action::Solve {
            unknowns,
            residuals,
            jacobian,
            ..
        } => {
            unknowns.iter_mut().for_each(|var| *var = new_id(places, *var));
            residuals.iter_mut().chain(jacobian).for_each(|id| *id = t(*id));
        }
    }
}

fn rewrite_attributes(variable: &Variable, t: &impl Fn(ExprId) -> ExprId) -> Variable {
    let [binding, start, nominal, min, max] = attributes(variable).map(|id| id.map(t));
    Variable {
        binding,
        start,
        nominal,
        min,
        max,
        ..variable.clone()
    }
}

/// Distributes the variables over variables, aliases and constants.
fn place_variables(
    model: &mut Mdae,
    old: &Mdae,
    places: &IndexVec<VarId, Place>,
    kept: &[VarId],
    colours: &IndexVec<VarId, u64>,
    t: &impl Fn(ExprId) -> ExprId,
) {
    let mut stays = IndexVec::filled(false, places.len());
    for &var in kept {
        stays[var] = true;
        model.variables.push(rewrite_attributes(&old.variables[var], t));
    }
    // What is said of aliases counts in the order in which they would represent their class.
    let mut aliases: Vec<VarId> = places.ids().filter(|&var| !stays[var]).collect();
    aliases.sort_by_cached_key(|&var| Reverse(rank(&old.variables[var], colours[var])));
    for var in aliases {
        if let Place::Derivative {
            var: target,
            order: 0,
            negated,
        } = places[var]
        {
            let variable = rewrite_attributes(&old.variables[var], t);
            merge(model, &variable, target, negated);
        }
    }
    for (var, place) in places.iter_enumerated().filter(|&(var, _)| !stays[var]) {
        let variable = rewrite_attributes(&old.variables[var], t);
        match *place {
            Place::Constant(value) => model.constants.push(ConstantVariable { variable, value }),
            Place::Derivative {
                var: target,
                order,
                negated,
            } => {
                model.aliases.push(Alias {
                    variable,
                    target,
                    order,
                    negated,
                });
            }
        }
    }
    carry_over(model, old, places, t);
}

/// Aliases and constants of the model before.
fn carry_over(model: &mut Mdae, old: &Mdae, places: &IndexVec<VarId, Place>, t: &impl Fn(ExprId) -> ExprId) {
    for alias in &old.aliases {
        let variable = rewrite_attributes(&alias.variable, t);
        match places[alias.target] {
            Place::Derivative { var, order, negated } => model.aliases.push(Alias {
                variable,
                target: var,
                order: order + alias.order,
                negated: negated ^ alias.negated,
            }),
            Place::Constant(value) => model.constants.push(ConstantVariable {
                variable,
                value: match (alias.order, alias.negated) {
                    (0, false) => value,
                    (0, true) => -value,
                    _ => 0.0,
                },
            }),
        }
    }
    for constant in &old.constants {
        model.constants.push(ConstantVariable {
            variable: rewrite_attributes(&constant.variable, t),
            value: constant.value,
        });
    }
}

/// Hands what is said of an alias to the variable it stands for. Start values that contradict each other are not of one
/// class ([`Classes`]).
fn merge(model: &mut Mdae, said: &Variable, target: VarId, negated: bool) {
    let start = match (said.start, negated) {
        (Some(start), true) => Some(model.pool.neg(start)),
        (start, _) => start,
    };
    let kept = &mut model.variables[target];
    if said.fixed && !kept.fixed {
        (kept.fixed, kept.start) = (true, start);
    }
    kept.start = kept.start.or(start);
    kept.nominal = kept.nominal.or(said.nominal);
    if said.state_select != StateSelect::Default {
        kept.state_select = match kept.state_select {
            StateSelect::Default => said.state_select,
            known => known.max(said.state_select),
        };
    }
}
