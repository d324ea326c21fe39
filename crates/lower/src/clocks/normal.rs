//! Arguments of clock conversions get names (16.7.1): an expression is computed at the ticks of its own clock, and what
//! reads it at other ticks reads what it was then.

use saltus_lang::flat::{
    Attributes, Builtin, Causality, EquationKind, FlatEquation, FlatExpr, FlatModel, FlatStatement, FlatVariable,
    ProvenanceId, ScalarType, StatementKind, Variability,
};

/// Whether something in a model is clocked.
pub(super) fn is_clocked(flat: &FlatModel) -> bool {
    let mut found = flat.variables.iter().any(|variable| variable.ty == ScalarType::Clock);
    for_each_expr(flat, &mut |expr| {
        if let FlatExpr::Builtin(builtin, ..) = expr {
            found |= is_clock_operator(*builtin);
        }
    });
    found
}

pub(super) fn is_clock_operator(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::Clock
            | Builtin::ClockedSample
            | Builtin::Hold
            | Builtin::Previous
            | Builtin::SubSample
            | Builtin::SuperSample
            | Builtin::ShiftSample
            | Builtin::BackSample
            | Builtin::NoClock
            | Builtin::Interval
            | Builtin::FirstTick
    )
}

fn for_each_expr<'f>(flat: &'f FlatModel, visit: &mut impl FnMut(&'f FlatExpr)) {
    fn equations<'f>(list: &'f [FlatEquation], visit: &mut impl FnMut(&'f FlatExpr)) {
        for equation in list {
            match &equation.kind {
                EquationKind::Equal(a, b) => {
                    a.walk(visit);
                    b.walk(visit);
                }
                EquationKind::If { branches, otherwise } => {
                    for branch in branches {
                        branch.condition.walk(visit);
                        equations(&branch.body, visit);
                    }
                    equations(otherwise, visit);
                }
                EquationKind::When { branches } => {
                    for branch in branches {
                        branch.conditions.iter().for_each(|c| c.walk(visit));
                        equations(&branch.body, visit);
                    }
                }
                EquationKind::Reinit(_, e) | EquationKind::Terminate(e) | EquationKind::NoReturnCall(e) => {
                    e.walk(visit)
                }
                EquationKind::Assert { condition, .. } => condition.walk(visit),
            }
        }
    }
    equations(&flat.equations, visit);
    for section in &flat.algorithms {
        for_each_in_statements(&section.statements, &mut |e| e.walk(visit));
    }
}

/// Calls `visit` for every expression that stands in statements, not for its parts.
pub(super) fn for_each_in_statements<'f>(statements: &'f [FlatStatement], visit: &mut impl FnMut(&'f FlatExpr)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(list) => list.iter().for_each(|(_, e)| visit(e)),
            StatementKind::If { branches, otherwise } => {
                for branch in branches {
                    visit(&branch.condition);
                    for_each_in_statements(&branch.body, visit);
                }
                for_each_in_statements(otherwise, visit);
            }
            StatementKind::While(condition, body) => {
                visit(condition);
                for_each_in_statements(body, visit);
            }
            StatementKind::For {
                from, step, to, body, ..
            } => {
                [from, step, to].into_iter().for_each(&mut *visit);
                for_each_in_statements(body, visit);
            }
            StatementKind::When { branches } => {
                for (conditions, body) in branches {
                    conditions.iter().for_each(&mut *visit);
                    for_each_in_statements(body, visit);
                }
            }
            StatementKind::Assert { condition, .. } => visit(condition),
            StatementKind::Terminate(e) | StatementKind::NoReturnCall(e) => visit(e),
            StatementKind::Break | StatementKind::Return => {}
        }
    }
}

/// The model with a variable in place of every expression that a conversion is applied to; `None` if there is none.
pub(crate) fn normalised(flat: &FlatModel) -> Option<FlatModel> {
    let mut wanted = false;
    for_each_expr(flat, &mut |expr| {
        if let FlatExpr::Builtin(builtin, args, _) = expr {
            wanted |= converts(*builtin) && args.first().is_some_and(|arg| needs_name(flat, arg));
        }
    });
    if !wanted {
        return None;
    }
    let mut named = flat.clone();
    let mut equations = std::mem::take(&mut named.equations);
    let mut namer = Namer {
        model: named,
        more: Vec::new(),
    };
    namer.equations(&mut equations);
    // Those that were added have named arguments: operands come first.
    equations.append(&mut namer.more);
    namer.model.equations = equations;
    Some(namer.model)
}

fn converts(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::SubSample | Builtin::SuperSample | Builtin::ShiftSample | Builtin::BackSample | Builtin::NoClock
    )
}

fn needs_name(flat: &FlatModel, arg: &FlatExpr) -> bool {
    let is_clock = arg.scalar_type(flat) == ScalarType::Clock;
    !is_clock && !arg.is_literal() && !matches!(arg, FlatExpr::Variable(_))
}

struct Namer {
    model: FlatModel,
    more: Vec<FlatEquation>,
}

impl Namer {
    fn equations(&mut self, equations: &mut [FlatEquation]) {
        for equation in equations {
            let provenance = equation.provenance;
            match &mut equation.kind {
                EquationKind::Equal(a, b) => {
                    self.expr(a, provenance);
                    self.expr(b, provenance);
                }
                EquationKind::If { branches, otherwise } => {
                    for branch in branches {
                        self.expr(&mut branch.condition, provenance);
                        self.equations(&mut branch.body);
                    }
                    self.equations(otherwise);
                }
                EquationKind::When { branches } => {
                    for branch in branches {
                        branch.conditions.iter_mut().for_each(|c| self.expr(c, provenance));
                        self.equations(&mut branch.body);
                    }
                }
                EquationKind::Reinit(_, e) | EquationKind::Terminate(e) | EquationKind::NoReturnCall(e) => {
                    self.expr(e, provenance);
                }
                EquationKind::Assert { condition, .. } => self.expr(condition, provenance),
            }
        }
    }

    fn expr(&mut self, expr: &mut FlatExpr, provenance: ProvenanceId) {
        expr.transform(&mut |part| {
            if let FlatExpr::Builtin(builtin, args, _) = part
                && converts(*builtin)
                && needs_name(&self.model, &args[0])
            {
                let named = self.name(args[0].clone(), *builtin, provenance);
                args[0] = named;
            }
        });
    }

    fn name(&mut self, value: FlatExpr, builtin: Builtin, provenance: ProvenanceId) -> FlatExpr {
        let ty = value.scalar_type(&self.model);
        let number = self.more.len() + 1;
        let variability = match ty {
            ScalarType::Real => Variability::Continuous,
            _ => Variability::Discrete,
        };
        let id = self.model.variables.push(FlatVariable {
            name: format!("$argument of {} {number}", builtin.name()).into(),
            ty,
            variability,
            causality: Causality::Internal,
            binding: None,
            start: None,
            fixed: None,
            attributes: Attributes::default().into(),
            protected: true,
            structural: false,
            is_final: true,
            provenance,
        });
        self.more.push(FlatEquation {
            kind: EquationKind::Equal(FlatExpr::Variable(id), value),
            provenance,
        });
        FlatExpr::Variable(id)
    }
}
