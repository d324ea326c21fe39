//! Equations.

use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::{self, Call, Expr, ExprKind, ForIndex};

use super::arguments::by_name;
use crate::codes;
use crate::expr::{Context, Iterators, Mode, is_builtin, is_operator};
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::{
    AssertLevel, Builtin, EquationBranch, EquationKind, FlatEquation, FlatExpr, ProvenanceId, ProvenanceKind,
    ScalarType, Variability, VariableId, WhenBranch,
};
use crate::flattener::{Flattener, Moment};
use crate::function::Effect;
use crate::tensor::{Elem, Tensor, Ty};

/// Equations and statements take memory: fuel bounds their number.
pub(super) const EQUATION_COST: u64 = 25;

/// Where an equation stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub initial: bool,
    pub in_when: bool,
    /// In a branch whose condition varies with time.
    pub in_branch: bool,
    /// In a when-clause whose condition is a clock.
    pub clocked: bool,
}

impl Flattener<'_> {
    /// Translates equations; what is wrong with one does not keep the others back.
    pub(super) fn equations(
        &mut self,
        equations: &[ast::Equation],
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatEquation>,
    ) {
        for equation in equations {
            let result = self.at_moment(Moment::of(place.initial, place.in_when), |this| {
                this.equation(equation, ctx, place, out)
            });
            self.accept(result);
        }
    }

    fn equation(
        &mut self,
        equation: &ast::Equation,
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatEquation>,
    ) -> Fallible<()> {
        self.spend(EQUATION_COST, equation.span)?;
        match &equation.kind {
            ast::EquationKind::Simple { lhs, rhs } => self.simple_equation(lhs, rhs, equation.span, ctx, place, out),
            ast::EquationKind::If { branches, otherwise } => self.if_equation(
                branches,
                otherwise.as_deref().unwrap_or(&[]),
                equation.span,
                ctx,
                place,
                out,
            ),
            ast::EquationKind::For { indices, body } => self.for_equation(indices, body, ctx, place, out),
            ast::EquationKind::When { branches } => self.when_equation(branches, equation.span, ctx, place, out),
            ast::EquationKind::Connect { left, right } => {
                if place.in_branch || place.in_when || place.initial {
                    return fail(
                        codes::E0405,
                        equation.span,
                        "`connect` cannot depend on a condition that varies with time",
                    );
                }
                self.connect(left, right, equation.span, ctx)
            }
            ast::EquationKind::Call(expr) => self.call_equation(expr, ctx, place, out),
            ast::EquationKind::Error => Err(Failure::Reported),
        }
    }

    pub(super) fn place_of(&mut self, span: Span, ctx: &Context<'_>, kind: ProvenanceKind) -> ProvenanceId {
        let path = match ctx.scope.instance {
            Some(instance) => Arc::clone(&self.instances[instance].path),
            None => "".into(),
        };
        self.add_provenance(span, &path, kind)
    }

    fn simple_equation(
        &mut self,
        lhs: &Expr,
        rhs: &Expr,
        span: Span,
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatEquation>,
    ) -> Fallible<()> {
        if let ExprKind::Tuple(targets) = &lhs.kind {
            return self.tuple_equation(targets, rhs, span, ctx, out);
        }
        let left = self.expr(lhs, ctx)?;
        let right = self.expr(rhs, ctx)?;
        if let (Some(FlatExpr::Variable(v)), true) =
            (left.as_expr(), !place.in_when && !place.initial && !place.clocked)
        {
            let data = &self.model.variables[*v];
            if data.ty == ScalarType::Real && data.variability == Variability::Discrete {
                return fail(
                    codes::E0303,
                    span,
                    format!("the discrete `{}` can be determined in a `when` only", data.name),
                );
            }
        }
        if place.in_when {
            self.check_own_discrete(&left, span, ctx)?;
        }
        let provenance = self.place_of(span, ctx, ProvenanceKind::Equation);
        self.equate(left, right, span, provenance, out)
    }

    /// What a `when` sets belongs to the model that the `when` stands in, not to a part of it (4.4.4).
    fn check_own_discrete(&self, left: &Tensor, span: Span, ctx: &Context<'_>) -> Fallible<()> {
        let Some(instance) = ctx.scope.instance else {
            return Ok(());
        };
        for expr in left.exprs() {
            let FlatExpr::Variable(variable) = expr else { continue };
            let data = &self.model.variables[*variable];
            let owner = self.responsible(self.components[self.owners[variable.0 as usize]].parent);
            if data.variability == Variability::Discrete && owner.len() > self.instances[instance].path.len() {
                let message = format!("`{}` belongs to `{owner}` and cannot be set here", data.name);
                return Err(error(codes::E0303, span, message)
                    .with_help("set it in a `when` of its own model, or give that an input and connect it")
                    .into());
            }
        }
        Ok(())
    }

    fn tuple_equation(
        &mut self,
        targets: &[Option<Expr>],
        rhs: &Expr,
        span: Span,
        ctx: &Context<'_>,
        out: &mut Vec<FlatEquation>,
    ) -> Fallible<()> {
        let ExprKind::Call(call) = &rhs.kind else {
            return fail(
                codes::E0301,
                rhs.span,
                "several results need a function call on the right",
            );
        };
        let results = self.call_results(call, rhs.span, ctx)?;
        if targets.len() > results.len() {
            return fail(
                codes::E0212,
                span,
                format!(
                    "{} values are wanted, but the call has {} results",
                    targets.len(),
                    results.len()
                ),
            );
        }
        let provenance = self.place_of(span, ctx, ProvenanceKind::Equation);
        for (target, result) in targets.iter().zip(results) {
            if let Some(target) = target {
                let left = self.expr(target, ctx)?;
                self.equate(left, result, span, provenance, out)?;
            }
        }
        Ok(())
    }

    /// Scalar equations between all elements.
    pub(super) fn equate(
        &mut self,
        left: Tensor,
        right: Tensor,
        span: Span,
        provenance: ProvenanceId,
        out: &mut Vec<FlatEquation>,
    ) -> Fallible<()> {
        if left.dims != right.dims {
            return fail(
                codes::E0302,
                span,
                format!("the sides differ in size: {} and {}", left.shape(), right.shape()),
            );
        }
        self.spend(left.elems.len() as u64 * EQUATION_COST, span)?;
        let empty = left.elems.is_empty();
        if left.ty.join(right.ty).is_none() && !empty {
            return fail(
                codes::E0301,
                span,
                format!("the sides differ in type: {} and {}", left.shape(), right.shape()),
            );
        }
        // An Integer may stand for a Real, but a Real cannot define an Integer.
        let integer_variable =
            |t: &Tensor| t.ty == Ty::Integer && t.exprs().any(|e| matches!(e, FlatExpr::Variable(_)));
        let is_constant = |t: &Tensor| !t.exprs().any(mentions_variable);
        if integer_variable(&left) && right.ty == Ty::Real
            || integer_variable(&right) && left.ty == Ty::Real && is_constant(&left)
        {
            return fail(codes::E0301, span, "an Integer cannot be equal to a Real");
        }
        for (a, b) in left.elems.into_iter().zip(right.elems) {
            match (a, b) {
                (Elem::Expr(a), Elem::Expr(b)) => {
                    out.push(FlatEquation {
                        kind: EquationKind::Equal(a, b),
                        provenance,
                    });
                }
                (Elem::Record(a), Elem::Record(b)) => {
                    for (name, x) in a.iter() {
                        let Some((_, y)) = b.iter().find(|(n, _)| n == name) else {
                            return fail(codes::E0301, span, format!("only one side has a field `{name}`"));
                        };
                        self.equate(x.clone(), y.clone(), span, provenance, out)?;
                    }
                    if a.len() != b.len() {
                        return fail(codes::E0301, span, "the records have different fields");
                    }
                }
                _ => return fail(codes::E0301, span, "this cannot be an equation"),
            }
        }
        Ok(())
    }

    fn if_equation(
        &mut self,
        branches: &[ast::EquationBranch],
        otherwise: &[ast::Equation],
        span: Span,
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatEquation>,
    ) -> Fallible<()> {
        let inner = Place {
            in_branch: true,
            ..place
        };
        let mut kept: Vec<EquationBranch> = Vec::new();
        for (position, branch) in branches.iter().enumerate() {
            match self.structural_condition(&branch.condition, ctx)? {
                FlatExpr::Boolean(false) => self.unreached_equations(&branch.body, &[], ctx),
                FlatExpr::Boolean(true) => {
                    for left_out in &branches[position + 1..] {
                        self.unreached_condition(&left_out.condition, ctx);
                        self.unreached_equations(&left_out.body, &[], ctx);
                    }
                    self.unreached_equations(otherwise, &[], ctx);
                    return self.finish_if(kept, &branch.body, span, ctx, place, out);
                }
                condition => {
                    let mut body = Vec::new();
                    self.equations(&branch.body, ctx, inner, &mut body);
                    kept.push(EquationBranch { condition, body });
                }
            }
        }
        self.finish_if(kept, otherwise, span, ctx, place, out)
    }

    /// The condition, evaluated if nothing in it varies with time.
    fn structural_condition(&mut self, condition: &Expr, ctx: &Context<'_>) -> Fallible<FlatExpr> {
        let test = self.condition(condition, ctx)?;
        if test.is_literal() || self.expr_variability(&test) > Variability::Parameter {
            return Ok(test);
        }
        match self.evaluate_condition(condition, ctx) {
            Ok(value) => Ok(FlatExpr::Boolean(value)),
            Err(_) => Ok(test),
        }
    }

    fn finish_if(
        &mut self,
        branches: Vec<EquationBranch>,
        last: &[ast::Equation],
        span: Span,
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatEquation>,
    ) -> Fallible<()> {
        if branches.is_empty() {
            self.equations(last, ctx, place, out);
            return Ok(());
        }
        let mut otherwise = Vec::new();
        self.equations(
            last,
            ctx,
            Place {
                in_branch: true,
                ..place
            },
            &mut otherwise,
        );
        if otherwise.is_empty() && branches.iter().all(|b| b.body.is_empty()) {
            return Ok(());
        }
        let provenance = self.place_of(span, ctx, ProvenanceKind::Equation);
        out.push(FlatEquation {
            kind: EquationKind::If { branches, otherwise },
            provenance,
        });
        Ok(())
    }

    fn for_equation(
        &mut self,
        indices: &[ForIndex],
        body: &[ast::Equation],
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatEquation>,
    ) -> Fallible<()> {
        let Some((index, rest)) = indices.split_first() else {
            self.equations(body, ctx, place, out);
            return Ok(());
        };
        let find = |name: &str| super::implicit::in_equations(body, name);
        let values = self.iterator_values(index, &find, ctx)?;
        if values.dims[0] == 0 {
            self.unreached_equations(body, indices, ctx);
        }
        for k in 1..=values.dims[0] {
            self.spend(1, index.span)?;
            let Some(value) = values.at(k) else { break };
            let iterators = Iterators {
                name: &index.name.name,
                value: &value,
                outer: ctx.iterators,
            };
            self.for_equation(rest, body, &ctx.with_iterators(&iterators), place, out)?;
        }
        Ok(())
    }

    fn when_equation(
        &mut self,
        branches: &[ast::EquationBranch],
        span: Span,
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatEquation>,
    ) -> Fallible<()> {
        if place.in_when || place.clocked {
            return fail(codes::E0311, span, "`when` cannot stand inside another `when`");
        }
        if place.initial {
            return fail(codes::E0311, span, "`when` cannot stand in an initial equation section");
        }
        let inner = Place {
            in_when: true,
            in_branch: true,
            ..place
        };
        let mut result = Vec::with_capacity(branches.len());
        for branch in branches {
            let conditions = self.when_conditions(&branch.condition, ctx)?;
            let clocked = conditions
                .iter()
                .any(|c| c.scalar_type(&self.model) == ScalarType::Clock);
            if clocked && branches.len() > 1 {
                return Err(error(codes::E0311, span, "`elsewhen` beside a clock")
                    .with_help("write a when-clause for each clock: all of them act where their ticks coincide")
                    .into());
            }
            let inner = Place {
                clocked,
                in_when: !clocked,
                ..inner
            };
            let mut body = Vec::new();
            self.equations(&branch.body, ctx, inner, &mut body);
            result.push(WhenBranch { conditions, body });
        }
        let provenance = self.place_of(span, ctx, ProvenanceKind::Equation);
        out.push(FlatEquation {
            kind: EquationKind::When { branches: result },
            provenance,
        });
        Ok(())
    }

    /// `c` or `{c1, c2}`
    pub(super) fn when_conditions(&mut self, expr: &Expr, ctx: &Context<'_>) -> Fallible<Vec<FlatExpr>> {
        let value = self.expr(expr, ctx)?;
        if value.ty == Ty::Clock && value.dims.is_empty() {
            return Ok(value.scalars());
        }
        if value.ty != Ty::Boolean || value.dims.len() > 1 {
            return fail(
                codes::E0301,
                expr.span,
                format!("the condition of `when` must be Boolean, but this is {}", value.shape()),
            );
        }
        let mut conditions = value.scalars();
        let written: Vec<&Expr> = match &expr.kind {
            ExprKind::Array(elements) if elements.len() == conditions.len() => elements.iter().collect(),
            _ if conditions.len() == 1 => vec![expr],
            _ => Vec::new(),
        };
        for (condition, written) in conditions.iter_mut().zip(written) {
            if is_call_of_user(written) {
                // The start makes a `when` active only where `initial()` itself is its condition (8.6).
                condition.transform(&mut |part| {
                    if matches!(part, FlatExpr::Builtin(Builtin::Initial, ..)) {
                        *part = FlatExpr::Boolean(false);
                    }
                });
            }
        }
        Ok(conditions)
    }

    fn call_equation(
        &mut self,
        expr: &Expr,
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatEquation>,
    ) -> Fallible<()> {
        let ExprKind::Call(call) = &expr.kind else {
            return Err(Failure::Reported);
        };
        let name = call.function.as_simple_name().map(|n| n.as_str());
        let provenance = self.place_of(expr.span, ctx, ProvenanceKind::Equation);
        let kind = match name {
            Some("assert") => {
                let assertion = self.assertion(call, expr.span, ctx)?;
                if assertion.condition == FlatExpr::Boolean(true) {
                    return Ok(());
                }
                EquationKind::Assert {
                    condition: assertion.condition,
                    message: assertion.message,
                    level: assertion.level,
                }
            }
            Some("terminate") => {
                let arguments = by_name(call, &["message"], 1, expr.span)?;
                match arguments[0] {
                    Some(message) => EquationKind::Terminate(self.message(message, ctx)?),
                    None => return Err(Failure::Reported),
                }
            }
            Some("reinit") => {
                for (variable, value) in self.reinit(call, expr.span, ctx, place.in_when)? {
                    let kind = EquationKind::Reinit(variable, value);
                    out.push(FlatEquation { kind, provenance });
                }
                return Ok(());
            }
            Some("initialState" | "transition") => {
                if place.in_when || place.in_branch || place.initial {
                    return fail(
                        codes::E0311,
                        expr.span,
                        "a state machine cannot depend on time: this belongs outside of `when` and `if`",
                    );
                }
                return self.state_machine_statement(call, expr.span, ctx);
            }
            _ if self.is_complementarity(call, ctx.scope.class) => {
                return self.complementarity(call, expr.span, ctx, place, out);
            }
            _ if Self::is_graph_statement(call) => {
                if place.in_when || place.in_branch {
                    return fail(
                        codes::E0311,
                        expr.span,
                        "what is connected cannot depend on time: this belongs outside of `when` and `if`",
                    );
                }
                return Ok(());
            }
            _ => {
                for effect in self.effects_of(call, expr.span, ctx)? {
                    let kind = match effect {
                        Effect::Call(call) => EquationKind::NoReturnCall(FlatExpr::Call(Box::new(call))),
                        Effect::Error(message) => EquationKind::Assert {
                            condition: FlatExpr::Boolean(false),
                            message,
                            level: AssertLevel::Error,
                        },
                    };
                    out.push(FlatEquation { kind, provenance });
                }
                return Ok(());
            }
        };
        out.push(FlatEquation { kind, provenance });
        Ok(())
    }

    pub(super) fn reinit(
        &mut self,
        call: &Call,
        span: Span,
        ctx: &Context<'_>,
        in_when: bool,
    ) -> Fallible<Vec<(VariableId, FlatExpr)>> {
        if !in_when {
            return fail(codes::E0311, span, "`reinit` can only be used inside `when`");
        }
        let arguments = by_name(call, &["x", "expr"], 2, span)?;
        let (Some(target), Some(value)) = (arguments[0], arguments[1]) else {
            return Err(Failure::Reported);
        };
        let flat = Context {
            mode: Mode::Flat,
            ..*ctx
        };
        let states = self.expr(target, &flat)?;
        let values = self.expr(value, ctx)?;
        if states.dims != values.dims || !values.ty.is_numeric() {
            return fail(
                codes::E0302,
                span,
                format!("{} cannot be set to {}", states.shape(), values.shape()),
            );
        }
        let mut result = Vec::new();
        for (state, value) in states.exprs().zip(values.exprs()) {
            match state {
                FlatExpr::Variable(v)
                    if self.model.variables[*v].variability == Variability::Continuous
                        && self.model.variables[*v].ty == ScalarType::Real =>
                {
                    result.push((*v, value.clone()));
                }
                _ => {
                    return fail(
                        codes::E0311,
                        target.span,
                        "`reinit` needs a Real variable that varies continuously",
                    );
                }
            }
        }
        Ok(result)
    }
}

/// Whether an expression is the call of a function that is not built in.
fn is_call_of_user(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call(call) => match call.function.as_simple_name() {
            Some(name) => !is_operator(name) && !is_builtin(name),
            None => true,
        },
        _ => false,
    }
}

/// Whether an expression depends on a variable of the model.
fn mentions_variable(expr: &FlatExpr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= matches!(part, FlatExpr::Variable(_)));
    found
}
