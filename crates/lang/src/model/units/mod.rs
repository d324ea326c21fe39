//! Whether sums, comparisons, equations, connections and arguments of functions join quantities of one unit.
//!
//! Units are those of declarations. A variable without one has that which the equations give it ([`solve`]); a number, a
//! constant without a unit and the result of a function without a unit may have any, and so may a product with such a
//! factor. What is said is therefore certain: no units of what has none would make the model consistent.

mod measure;
mod notes;
mod report;
mod solve;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_source::{Diagnostic, Span};

use self::measure::Measure;
pub use self::notes::UnitNotes;
use self::solve::{EquationNumber, Form, Solver};
use crate::codes;
use crate::flat::{
    EquationKind, FlatEquation, FlatExpr, FlatFunction, FlatModel, FlatStatement, FunctionBody, FunctionId,
    FunctionStatement, Idx, IndexVec, LocalId, ProvenanceId, ScalarType, StatementKind, Variability, VariableId,
};
use crate::flattener::Flattener;
use crate::function::UnitClaim;
use crate::unit::{Dimension, Unit, UnitError};

/// More would not be read.
const MOST_WARNINGS: usize = 20;

/// What is known of the unit of a variable before any equation is looked at.
#[derive(Clone, Copy, Debug)]
enum Declared {
    /// Equations may say.
    Open,
    /// Nothing will be known: no unit that is understood, or a constant that is used with many.
    Any,
    /// A count.
    Number,
    /// Its unit.
    Unit(Unit),
}

impl Declared {
    /// Numbers in arrays are mostly components of directions, for which lengths are given as well.
    fn of_array(self, is_array: impl Fn() -> bool) -> Declared {
        match self {
            Declared::Unit(unit) if unit.dimension.is_one() && is_array() => Declared::Number,
            other => other,
        }
    }
}

/// One side of what is joined.
#[derive(Clone, Copy, Debug)]
enum Side<'m> {
    /// An expression.
    Expr(&'m FlatExpr),
    /// A variable.
    Variable(VariableId),
    /// A scalar of an input of a function.
    Input(FunctionId, LocalId),
    /// An input of a function whose call was inlined.
    Claimed(&'m UnitClaim),
    /// A variable of the function that is looked at.
    Local(LocalId),
    /// What an operator wants.
    Wanted(Dimension),
}

/// Two sides that must have one unit.
#[derive(Clone, Copy, Debug)]
struct Joint<'m> {
    /// What joins them: `=`, `+`, `argument`.
    operation: &'static str,
    sides: [Side<'m>; 2],
    /// The text, if it is not that of the equation around.
    span: Option<Span>,
    provenance: ProvenanceId,
    /// The function whose statements these are.
    function: Option<FunctionId>,
}

struct Checker<'m> {
    model: &'m FlatModel,
    declared: IndexVec<VariableId, Declared>,
    /// Units of the variables of functions, once asked for.
    locals: FxHashMap<FunctionId, Arc<[Declared]>>,
    known: FxHashMap<Arc<str>, Declared>,
    solver: Solver,
    /// What equations between units come from.
    joints: Vec<Joint<'m>>,
    /// Where the checker is.
    provenance: ProvenanceId,
    function: Option<(FunctionId, Arc<[Declared]>)>,
    /// How many branches of `if` are around. What has no unit may be a voltage in one and a current in the other: nothing is
    /// learnt from them.
    branches: u32,
    warnings: Vec<Diagnostic>,
    told: FxHashSet<Span>,
    /// Expressions with what their units depend on and the variables in them, if somebody wants to know.
    noted: Option<Vec<(Span, Form, Vec<VariableId>)>>,
}

impl Flattener<'_> {
    /// Warns of sums, comparisons, equations and arguments of different units.
    pub(super) fn check_units(&mut self) {
        let claims = std::mem::take(&mut self.functions.unit_claims);
        let in_array = |id: VariableId| {
            let owner = self.owners.get(id.index());
            owner.is_some_and(|owner| !self.components[*owner].dims.is_empty())
        };
        let mut checker = Checker::new(&self.model, &in_array);
        checker.noted = self.wants_units.then(Vec::new);
        checker.run();
        checker.claims(&claims);
        self.units = checker.notes();
        let warnings = std::mem::take(&mut checker.warnings);
        for warning in warnings {
            self.diagnostics.push(warning);
        }
    }
}

/// What a text says of a unit.
fn declared(text: &str) -> Declared {
    match Unit::parse(text) {
        Ok(unit) => Declared::Unit(unit),
        Err(_) => Declared::Any,
    }
}

impl<'m> Checker<'m> {
    fn new(model: &'m FlatModel, in_array: &dyn Fn(VariableId) -> bool) -> Self {
        let mut checker = Checker {
            model,
            declared: IndexVec::new(),
            locals: FxHashMap::default(),
            known: FxHashMap::default(),
            solver: Solver::new(model.variables.len()),
            joints: Vec::new(),
            provenance: ProvenanceId(0),
            function: None,
            branches: 0,
            warnings: Vec::new(),
            told: FxHashSet::default(),
            noted: None,
        };
        for (id, variable) in model.variables.iter_enumerated() {
            let own = match (variable.ty, &variable.attributes.unit) {
                (ScalarType::Real, Some(text)) if !text.is_empty() => checker.unit_text(text, variable.provenance),
                (ScalarType::Real, _) if variable.variability == Variability::Constant => Declared::Any,
                (ScalarType::Real, _) => Declared::Open,
                (ScalarType::Integer, _) => Declared::Number,
                _ => Declared::Any,
            };
            checker.declared.push(own.of_array(|| in_array(id)));
        }
        checker
    }

    /// The unit of a text; one that has not the form of a unit is reported.
    fn unit_text(&mut self, text: &Arc<str>, provenance: ProvenanceId) -> Declared {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let found = declared(text);
        if Unit::parse(text) == Err(UnitError::Malformed) {
            let span = self.model.provenance(provenance).span;
            self.warnings.push(report::malformed(text, span));
        }
        self.known.insert(Arc::clone(text), found);
        found
    }

    fn run(&mut self) {
        let model = self.model;
        for (id, variable) in model.variables.iter_enumerated() {
            if variable.ty != ScalarType::Real {
                continue;
            }
            self.provenance = variable.provenance;
            let varies = |value: &&FlatExpr| !value.is_literal();
            if let Some(value) = variable.binding.as_ref().filter(varies) {
                let both = self.joined("=", Side::Variable(id), Side::Expr(value), None);
                self.note(value, &both);
            }
            // A guess for what has another meaning in another branch.
            if let Some(value) = variable.start.as_ref().filter(varies) {
                self.in_branch(|this| {
                    this.joined("start", Side::Variable(id), Side::Expr(value), None);
                });
            }
            // Limits and sizes are given in the unit of the variable, and say nothing about one that has none.
            let attributes = &variable.attributes;
            for (name, value) in [
                ("min", &attributes.min),
                ("max", &attributes.max),
                ("nominal", &attributes.nominal),
            ] {
                if let Some(value) = value.as_ref().filter(varies) {
                    self.in_branch(|this| this.joined(name, Side::Variable(id), Side::Expr(value), None));
                }
            }
        }
        for equation in model.equations.iter().chain(&model.initial_equations) {
            self.equation(equation);
        }
        for algorithm in model.algorithms.iter().chain(&model.initial_algorithms) {
            self.statements(&algorithm.statements);
        }
        for (id, function) in model.functions.iter_enumerated() {
            self.function_body(id, function);
        }
    }

    /// Arguments of calls that were inlined.
    fn claims(&mut self, claims: &'m [UnitClaim]) {
        for claim in claims {
            let span = Some(claim.span);
            self.joined("argument", Side::Claimed(claim), Side::Expr(&claim.argument), span);
        }
    }

    fn equation(&mut self, equation: &'m FlatEquation) {
        self.provenance = equation.provenance;
        match &equation.kind {
            EquationKind::Equal(a, b) => {
                let both = self.joined("=", Side::Expr(a), Side::Expr(b), None);
                // A side with a number in it has the unit of the other.
                self.note(a, &both);
                self.note(b, &both);
            }
            EquationKind::If { branches, otherwise } => {
                for branch in branches {
                    self.provenance = equation.provenance;
                    self.measure(&branch.condition);
                    self.in_branch(|this| branch.body.iter().for_each(|inner| this.equation(inner)));
                }
                self.in_branch(|this| otherwise.iter().for_each(|inner| this.equation(inner)));
            }
            EquationKind::When { branches } => {
                for branch in branches {
                    self.provenance = equation.provenance;
                    branch.conditions.iter().for_each(|c| self.visit(c));
                    branch.body.iter().for_each(|inner| self.equation(inner));
                }
            }
            EquationKind::Reinit(variable, value) => {
                self.joined("reinit", Side::Variable(*variable), Side::Expr(value), None);
            }
            EquationKind::Assert { condition, .. } => self.visit(condition),
            EquationKind::NoReturnCall(call) => self.visit(call),
            EquationKind::Terminate(_) => {}
        }
    }

    /// Does something within a branch.
    fn in_branch<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.branches += 1;
        let result = work(self);
        self.branches -= 1;
        result
    }

    fn statements(&mut self, statements: &'m [FlatStatement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'m FlatStatement) {
        self.provenance = statement.provenance;
        match &statement.kind {
            StatementKind::Assign(assignments) => {
                for (variable, value) in assignments {
                    self.joined(":=", Side::Variable(*variable), Side::Expr(value), None);
                }
            }
            StatementKind::If { branches, otherwise } => {
                for branch in branches {
                    self.provenance = statement.provenance;
                    self.measure(&branch.condition);
                    self.in_branch(|this| this.statements(&branch.body));
                }
                self.in_branch(|this| this.statements(otherwise));
            }
            StatementKind::When { branches } => {
                for (conditions, body) in branches {
                    self.provenance = statement.provenance;
                    conditions.iter().for_each(|c| self.visit(c));
                    self.statements(body);
                }
            }
            StatementKind::For { body, .. } => self.statements(body),
            StatementKind::While(condition, body) => {
                self.measure(condition);
                self.statements(body);
            }
            StatementKind::Assert { condition, .. } => self.visit(condition),
            StatementKind::NoReturnCall(call) => self.visit(call),
            StatementKind::Terminate(_) | StatementKind::Break | StatementKind::Return => {}
        }
    }

    /// The statements of a function, by the units its variables declare.
    fn function_body(&mut self, id: FunctionId, function: &'m FlatFunction) {
        let FunctionBody::Algorithm(statements) = &function.body else {
            return;
        };
        let locals = self.local_units(id);
        if !locals.iter().any(|unit| matches!(unit, Declared::Unit(_))) {
            return;
        }
        self.provenance = function.provenance;
        self.function = Some((id, locals));
        self.function_statements(statements);
        self.function = None;
    }

    fn function_statements(&mut self, statements: &'m [FunctionStatement]) {
        for statement in statements {
            match statement {
                FunctionStatement::Assign(place, value) => {
                    self.joined(":=", Side::Local(place.local), Side::Expr(value), None);
                }
                FunctionStatement::CallAssign {
                    function, arguments, ..
                } => self.arguments(*function, arguments, None),
                FunctionStatement::If(branches, otherwise) => {
                    for (condition, body) in branches {
                        self.visit(condition);
                        self.function_statements(body);
                    }
                    self.function_statements(otherwise);
                }
                FunctionStatement::For { body, .. } => self.function_statements(body),
                FunctionStatement::While(condition, body) => {
                    self.visit(condition);
                    self.function_statements(body);
                }
                FunctionStatement::Assert(condition, _) | FunctionStatement::Warn(condition, _) => {
                    self.visit(condition);
                }
                FunctionStatement::Allocate(..) | FunctionStatement::Break | FunctionStatement::Return => {}
            }
        }
    }

    /// The units of the variables of a function.
    fn local_units(&mut self, id: FunctionId) -> Arc<[Declared]> {
        if let Some(known) = self.locals.get(&id) {
            return Arc::clone(known);
        }
        let function = &self.model.functions[id];
        let mut units = Vec::with_capacity(function.locals.len());
        for local in function.locals.iter() {
            units.push(
                match (&local.unit, local.ty) {
                    (Some(text), ScalarType::Real) if !text.is_empty() => self.unit_text(text, function.provenance),
                    (_, ScalarType::Integer) => Declared::Number,
                    _ => Declared::Any,
                }
                .of_array(|| !local.dims.is_empty()),
            );
        }
        let units: Arc<[Declared]> = units.into();
        self.locals.insert(id, Arc::clone(&units));
        units
    }

    /// Two sides must have one unit; yields it.
    fn joined(&mut self, operation: &'static str, a: Side<'m>, b: Side<'m>, span: Option<Span>) -> Measure {
        let (x, y) = (self.side(a), self.side(b));
        self.join(operation, (a, x), (b, y), span)
    }

    fn side(&mut self, side: Side<'m>) -> Measure {
        match side {
            Side::Expr(expr) => self.measure(expr),
            Side::Variable(id) => self.variable(id),
            Side::Input(function, local) => {
                let units = self.local_units(function);
                measure::of_declared(units.get(local.0 as usize).copied())
            }
            Side::Claimed(claim) => measure::of_declared(Some(declared(&claim.unit))),
            Side::Local(local) => self.local(local),
            Side::Wanted(dimension) => Measure::of(Form::known(dimension), None),
        }
    }

    fn join(
        &mut self,
        operation: &'static str,
        (a, x): (Side<'m>, Measure),
        (b, y): (Side<'m>, Measure),
        span: Option<Span>,
    ) -> Measure {
        let (Measure::Of(left, left_zero), Measure::Of(right, right_zero)) = (&x, &y) else {
            return x.beside(y);
        };
        let joint = Joint {
            operation,
            sides: [a, b],
            span,
            provenance: self.provenance,
            function: self.function.as_ref().map(|(id, _)| *id),
        };
        let Some(difference) = left.clone().times(right, -1.0) else {
            return x;
        };
        // Most are declared, and the same.
        if difference.terms.is_empty() && difference.constant.is_one() {
            let zeros_differ = matches!((left_zero, right_zero), (Some(l), Some(r)) if l != r);
            if zeros_differ && !matches!(operation, "+" | "-") {
                self.tell(&joint, None);
                return Measure::Any;
            }
            return match operation {
                "+" | "-" => measure::with_zero(x.clone(), measure::zero_of_sum(operation, *left_zero, *right_zero)),
                _ => x,
            };
        }
        if self.branches > 0 && (!difference.terms.is_empty() || difference.has_cancelled) {
            return measure::with_zero(x, None);
        }
        let number = self.joints.len() as EquationNumber;
        self.joints.push(joint);
        let wrong = self.solver.add(difference, number);
        let is_wrong = wrong.iter().any(|wrong| wrong.number == number);
        for wrong in wrong {
            let joint = self.joints[wrong.number as usize];
            self.tell(&joint, Some(wrong.apart));
            self.solver.dispute(&wrong.form);
        }
        // One mistake is reported once.
        if is_wrong {
            return Measure::Any;
        }
        measure::with_zero(x, None)
    }

    /// Says that two sides differ, by a factor unless it is only where their zero is.
    fn tell(&mut self, joint: &Joint<'m>, apart: Option<Dimension>) {
        let span = joint.span.unwrap_or(self.model.provenance(joint.provenance).span);
        if self.warnings.len() < MOST_WARNINGS && self.told.insert(span) {
            let warning = self.warning(joint, span, apart);
            self.warnings.push(warning);
        }
    }
}
