//! Which flat variables become parameters, inputs, discrete variables and unknowns.

use rustc_hash::FxHashSet;
use saltus_lang::flat::{
    Builtin, Causality, EquationKind, FlatEquation, FlatExpr, FlatModel, FlatStatement, FlatVariable, ScalarType,
    StateSelect as FlatSelect, StatementKind, Variability, VariableId,
};
use saltus_mdae::{
    ConstantVariable, Derivative, DiscreteEquation, Equation, Origin, OriginKind, Role, StateSelect, Type, VarId,
    Variable,
};

use crate::function::is_blank;
use crate::{Lowering, Meaning};

/// Texts are numbers.
pub(crate) fn type_of(ty: ScalarType) -> Type {
    match ty {
        ScalarType::Real => Type::Real,
        ScalarType::Integer | ScalarType::Enumeration(_) | ScalarType::String | ScalarType::Clock => Type::Integer,
        ScalarType::Boolean => Type::Boolean,
    }
}

/// What results say about a variable.
fn describe(target: &mut Variable, variable: &FlatVariable, flat: &FlatModel) {
    target.unit = variable.attributes.unit.clone().unwrap_or_default();
    target.display_unit = variable.attributes.display_unit.clone().unwrap_or_default();
    target.description = variable.attributes.description.clone().unwrap_or_default();
    target.output = variable.causality == Causality::Output;
    target.hidden = variable.protected || variable.attributes.hide_result;
    target.literals = match variable.ty {
        ScalarType::Enumeration(id) => Some(flat.enumerations[id].literals.clone().into()),
        _ => None,
    };
}

impl Lowering<'_> {
    pub(crate) fn declare_variables(&mut self) {
        let assigned = self.discrete_reals();
        for (id, variable) in self.flat.variables.iter_enumerated() {
            let text = variable.ty == ScalarType::String;
            if variable.ty == ScalarType::Clock {
                self.meanings.push(Meaning::Clock);
                continue;
            }
            if text && variable.variability < Variability::Discrete {
                self.meanings.push(Meaning::Text);
                continue;
            }
            let ty = type_of(variable.ty);
            if variable.variability == Variability::Constant
                && let Some(value) = variable.binding.as_ref().and_then(FlatExpr::as_number)
            {
                let constant = self.constant(value, ty);
                self.meanings.push(Meaning::Constant(constant));
                self.declare_constant(variable, ty, value);
                if let Some(FlatExpr::Integer(value)) = &variable.binding {
                    self.check_exact(*value, None);
                }
                continue;
            }
            let role = match variable.variability {
                Variability::Constant | Variability::Parameter => Role::Parameter,
                _ if variable.causality == Causality::Input => Role::Input,
                _ if self.part_of(id).is_some() => Role::Discrete,
                Variability::Discrete => Role::Discrete,
                Variability::Continuous if ty != Type::Real || assigned.contains(&id) => Role::Discrete,
                Variability::Continuous => Role::Continuous,
            };
            let mut lowered = Variable::new(&variable.name, role, ty);
            lowered.name = variable.name.clone();
            lowered.text = text;
            lowered.origin = self.origin(variable.provenance);
            let var = self.model.add_variable(lowered);
            self.meanings.push(Meaning::Variable(var));
        }
    }

    /// Expressions have the number of a constant; it is kept for the results.
    fn declare_constant(&mut self, flat: &FlatVariable, ty: Type, value: f64) {
        let mut variable = Variable::new(&flat.name, Role::Parameter, ty);
        variable.name = flat.name.clone();
        variable.origin = self.origin(flat.provenance);
        describe(&mut variable, flat, self.flat);
        self.model.constants.push(ConstantVariable { variable, value });
    }

    pub(crate) fn constant(&mut self, value: f64, ty: Type) -> saltus_mdae::ExprId {
        let pool = &mut self.model.pool;
        match ty {
            Type::Real => pool.real(value),
            Type::Integer => pool.integer(value as i64),
            Type::Boolean => pool.boolean(value != 0.0),
        }
    }

    /// Attributes may mention parameters declared later, so they come after all declarations.
    pub(crate) fn lower_attributes(&mut self) {
        for (id, variable) in self.flat.variables.iter_enumerated() {
            let Meaning::Variable(var) = self.meanings[id] else {
                continue;
            };
            self.place = Some(variable.provenance);
            let attributes = variable.attributes.clone();
            let binding = variable.binding.as_ref().map(|e| self.literal_expr(e));
            let is_unknown = self.model.variables[var].role == Role::Continuous;
            let start = match (&variable.start, variable.ty) {
                (Some(start), _) => Some(self.literal_expr(start)),
                // Zero is no value of an enumeration: without `start` it begins with its first literal.
                (None, ScalarType::Enumeration(_)) => Some(self.model.pool.integer(1)),
                // What is fixed without `start` begins at zero, whatever else would be a guess.
                (None, ScalarType::Real) if variable.fixed == Some(true) && is_unknown => {
                    Some(self.model.pool.real(0.0))
                }
                (None, _) => None,
            };
            let nominal = attributes.nominal.as_ref().map(|e| self.literal_expr(e));
            let min = attributes.min.as_ref().map(|e| self.literal_expr(e));
            let max = attributes.max.as_ref().map(|e| self.literal_expr(e));
            let clocked = self.part_of(id).is_some();
            let target = &mut self.model.variables[var];
            describe(target, variable, self.flat);
            let parameter = target.role == Role::Parameter;
            // The value before the first tick is the start value.
            target.fixed = variable.fixed.unwrap_or(parameter) || clocked && target.role == Role::Discrete;
            // A parameter without value but with a start value takes that, as tools do, and as is reported.
            target.unset = parameter && target.fixed && binding.is_none();
            target.blank = parameter && variable.binding.as_ref().is_some_and(is_blank);
            target.binding = match binding {
                None if parameter && target.fixed => start,
                other => other,
            };
            target.start = start;
            (target.nominal, target.min, target.max) = (nominal, min, max);
            target.state_select = match attributes.state_select {
                FlatSelect::Never => StateSelect::Never,
                FlatSelect::Avoid => StateSelect::Avoid,
                FlatSelect::Default => StateSelect::Default,
                FlatSelect::Prefer => StateSelect::Prefer,
                FlatSelect::Always => StateSelect::Always,
            };
        }
    }

    /// Parameters that are solved for at the start (`fixed = false`) and everything that is bound to them: their bindings
    /// are equations of the start, so that they follow the solved values, in circles too.
    pub(crate) fn open_parameters(&mut self) {
        let parameters: Vec<VarId> = self
            .model
            .variables
            .iter_enumerated()
            .filter(|(_, variable)| variable.role == Role::Parameter)
            .map(|(id, _)| id)
            .collect();
        let mut open: FxHashSet<VarId> = parameters
            .iter()
            .copied()
            .filter(|&id| !self.model.variables[id].fixed)
            .collect();
        loop {
            let reads_open = |id: &VarId| {
                let binding = self.model.variables[*id].binding;
                let read = binding.map(|binding| self.model.pool.occurrences(binding));
                read.into_iter()
                    .flatten()
                    .any(|Derivative { var, .. }| open.contains(&var))
            };
            let more: Vec<VarId> = parameters
                .iter()
                .copied()
                .filter(|id| !open.contains(id) && reads_open(id))
                .collect();
            if more.is_empty() {
                break;
            }
            open.extend(more);
        }
        for id in parameters.into_iter().filter(|id| open.contains(id)) {
            self.solve_at_start(id);
        }
    }

    /// Makes the binding of a parameter an equation of the start, and its first guess.
    fn solve_at_start(&mut self, id: VarId) {
        let variable = &mut self.model.variables[id];
        variable.fixed = false;
        let Some(value) = variable.binding.take() else { return };
        variable.start = variable.start.or(Some(value));
        let declared = &self.model.origins[variable.origin];
        let origin = Origin {
            kind: OriginKind::Binding,
            ..declared.clone()
        };
        let ty = variable.ty;
        let origin = self.model.add_origin(origin);
        let guard = self.model.pool.boolean(true);
        if ty == Type::Real {
            let this = self.model.pool.var(id);
            let residual = self.model.pool.sub(this, value);
            self.model.initial_equations.push(Equation {
                guard,
                residual,
                simplified: None,
                origin,
            });
        } else {
            self.model.initial_assignments.push(DiscreteEquation {
                target: id,
                value,
                guard,
                origin,
            });
        }
    }

    /// Real variables assigned in a when-clause that nothing else can determine: no `der(v)`, and the other equations
    /// are all needed for other unknowns (a matching that uses `v` only when it must).
    fn discrete_reals(&self) -> FxHashSet<VariableId> {
        let mut candidates = FxHashSet::default();
        for equation in &self.flat.equations {
            collect_when_targets(equation, false, &mut candidates);
        }
        for section in &self.flat.algorithms {
            collect_assigned_in_when(&section.statements, false, &mut candidates);
        }
        candidates.retain(|&id| {
            let variable = &self.flat.variables[id];
            variable.ty == ScalarType::Real && variable.variability == Variability::Continuous
        });
        if candidates.is_empty() {
            return candidates;
        }
        let mut differentiated = FxHashSet::default();
        let mut rows = Vec::new();
        for equation in &self.flat.equations {
            collect_rows(self.flat, equation, &mut rows, &mut differentiated);
        }
        candidates.retain(|id| !differentiated.contains(id));
        let unknown = |id: VariableId| {
            let v = &self.flat.variables[id];
            v.ty == ScalarType::Real && v.variability == Variability::Continuous && v.causality != Causality::Input
        };
        let needed = determined_by_others(&rows, &candidates, &unknown);
        candidates.retain(|id| !needed.contains(id));
        candidates
    }
}

fn collect_when_targets(equation: &FlatEquation, inside: bool, found: &mut FxHashSet<VariableId>) {
    match &equation.kind {
        EquationKind::Equal(FlatExpr::Variable(id), _) if inside => {
            found.insert(*id);
        }
        EquationKind::When { branches } => {
            branches
                .iter()
                .flat_map(|b| &b.body)
                .for_each(|e| collect_when_targets(e, true, found));
        }
        EquationKind::If { branches, otherwise } => {
            let all = branches.iter().flat_map(|b| &b.body).chain(otherwise);
            all.for_each(|e| collect_when_targets(e, inside, found));
        }
        _ => {}
    }
}

fn collect_assigned_in_when(statements: &[FlatStatement], inside: bool, found: &mut FxHashSet<VariableId>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(list) if inside => found.extend(list.iter().map(|(id, _)| *id)),
            StatementKind::When { branches } => {
                branches
                    .iter()
                    .for_each(|(_, body)| collect_assigned_in_when(body, true, found));
            }
            StatementKind::If { branches, otherwise } => {
                branches
                    .iter()
                    .for_each(|b| collect_assigned_in_when(&b.body, inside, found));
                collect_assigned_in_when(otherwise, inside, found);
            }
            StatementKind::While(_, body) | StatementKind::For { body, .. } => {
                collect_assigned_in_when(body, inside, found);
            }
            _ => {}
        }
    }
}

/// Incidence of the equations outside when-clauses; the n-th equations of the branches of an if-equation share a row.
/// Equations of Booleans, integers and enumerations determine no Real, whatever they mention.
fn collect_rows(
    flat: &FlatModel,
    equation: &FlatEquation,
    rows: &mut Vec<Vec<VariableId>>,
    differentiated: &mut FxHashSet<VariableId>,
) {
    let is_real = |side: &FlatExpr| side.scalar_type(flat) == ScalarType::Real;
    match &equation.kind {
        EquationKind::Equal(lhs, rhs) => {
            let mut row = Vec::new();
            collect_variables(lhs, &mut row, differentiated);
            collect_variables(rhs, &mut row, differentiated);
            if is_real(lhs) || is_real(rhs) {
                rows.push(row);
            }
        }
        EquationKind::If { branches, otherwise } => {
            let mut shared: Vec<Vec<VariableId>> = Vec::new();
            for body in branches.iter().map(|b| &b.body).chain([otherwise]) {
                let mut own = Vec::new();
                body.iter()
                    .for_each(|e| collect_rows(flat, e, &mut own, differentiated));
                shared.resize_with(shared.len().max(own.len()), Vec::new);
                shared.iter_mut().zip(own).for_each(|(row, more)| row.extend(more));
            }
            rows.extend(shared);
        }
        _ => {}
    }
}

fn collect_variables(expr: &FlatExpr, row: &mut Vec<VariableId>, differentiated: &mut FxHashSet<VariableId>) {
    expr.walk(&mut |node| match node {
        FlatExpr::Variable(id) => row.push(*id),
        FlatExpr::Builtin(Builtin::Der, args, _) => {
            args.iter().for_each(|arg| {
                arg.walk(&mut |inner| {
                    if let FlatExpr::Variable(id) = inner {
                        differentiated.insert(*id);
                    }
                });
            });
        }
        _ => {}
    });
}

/// The candidates that a maximum matching must use after everything else has been matched.
fn determined_by_others(
    rows: &[Vec<VariableId>],
    candidates: &FxHashSet<VariableId>,
    unknown: &dyn Fn(VariableId) -> bool,
) -> FxHashSet<VariableId> {
    let mut matched: rustc_hash::FxHashMap<VariableId, usize> = rustc_hash::FxHashMap::default();
    let mut free: Vec<usize> = Vec::new();
    for row in 0..rows.len() {
        if rows[row].iter().any(|&id| unknown(id))
            && !augment(rows, row, &mut matched, &|id| unknown(id) && !candidates.contains(&id))
        {
            free.push(row);
        }
    }
    for row in free {
        augment(rows, row, &mut matched, unknown);
    }
    candidates
        .iter()
        .copied()
        .filter(|id| matched.contains_key(id))
        .collect()
}

/// Breadth-first augmenting path from a row.
fn augment(
    rows: &[Vec<VariableId>],
    start: usize,
    matched: &mut rustc_hash::FxHashMap<VariableId, usize>,
    allowed: &dyn Fn(VariableId) -> bool,
) -> bool {
    let mut reached_from: rustc_hash::FxHashMap<VariableId, usize> = rustc_hash::FxHashMap::default();
    let mut queue = std::collections::VecDeque::from([start]);
    let mut row_of_origin: rustc_hash::FxHashMap<usize, VariableId> = rustc_hash::FxHashMap::default();
    while let Some(row) = queue.pop_front() {
        for &id in &rows[row] {
            if !allowed(id) || reached_from.contains_key(&id) {
                continue;
            }
            reached_from.insert(id, row);
            match matched.get(&id) {
                Some(&other) => {
                    row_of_origin.insert(other, id);
                    queue.push_back(other);
                }
                None => {
                    let mut end = id;
                    loop {
                        let row = reached_from[&end];
                        matched.insert(end, row);
                        if row == start {
                            return true;
                        }
                        end = row_of_origin[&row];
                    }
                }
            }
        }
    }
    false
}
