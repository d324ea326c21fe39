//! `complementarity(a, b)`: 0 ≤ a ⊥ b ≥ 0, both are not negative and one of them is zero (RR-8933, section II-C).
//!
//! It is one equation with two branches, told apart by a variable s that nobody sees: a = s, b = 0 where s > 0, and a = 0,
//! b = −s elsewhere. That is how ideal diodes are written by hand, so that runs and analyses know the form already: branches
//! of many such equations are found together by pivoting, and one whose `a` is made of states is differentiated while it is
//! zero, (55) and (57).

use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::Call;

use super::arguments::by_name;
use super::equation::Place;
use crate::codes;
use crate::expr::Context;
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::{
    Attributes, BinaryOp, Causality, EquationBranch, EquationKind, FlatEquation, FlatExpr, FlatVariable, ProvenanceId,
    ProvenanceKind, ScalarType, UnaryOp, Variability, VariableId,
};
use crate::flattener::Flattener;
use crate::ids::{ClassId, ComponentId};

/// Its name; a class of the same name that a user declares comes first.
const COMPLEMENTARITY: &str = "complementarity";

impl Flattener<'_> {
    /// Whether a call is the built-in one.
    pub(crate) fn is_complementarity(&mut self, call: &Call, scope: ClassId) -> bool {
        let name = call
            .function
            .as_simple_name()
            .filter(|name| name.as_str() == COMPLEMENTARITY);
        name.is_some_and(|name| matches!(self.lookup(scope, name), Ok(None)))
    }

    pub(super) fn complementarity(
        &mut self,
        call: &Call,
        span: Span,
        ctx: &Context<'_>,
        place: Place,
        out: &mut Vec<FlatEquation>,
    ) -> Fallible<()> {
        if place.in_when || place.initial || place.clocked {
            let message = "`complementarity` holds over time: it belongs outside of `when` and of initial equations";
            return fail(codes::E0311, span, message);
        }
        let arguments = by_name(call, &["a", "b"], 2, span)?;
        let (Some(first), Some(second)) = (arguments[0], arguments[1]) else {
            return Err(Failure::Reported);
        };
        let (a, b) = (self.expr(first, ctx)?, self.expr(second, ctx)?);
        if a.dims != b.dims || !a.ty.is_numeric() || !b.ty.is_numeric() {
            let message = format!("{} and {} cannot be complementary", a.shape(), b.shape());
            return Err(error(codes::E0302, span, message)
                .with_help("both are Real numbers, or arrays of equal sizes, element by element")
                .into());
        }
        let provenance = self.place_of(span, ctx, ProvenanceKind::Equation);
        let pairs: Vec<(FlatExpr, FlatExpr)> = a.exprs().cloned().zip(b.exprs().cloned()).collect();
        for (a, b) in pairs {
            let path = self.path_variable(&a, &b, span);
            out.push(branches(path, a, b, provenance, span));
        }
        Ok(())
    }

    /// The variable that tells the branches apart. It is called what its sign says, so that modes are `complementarity(a, b) > 0`.
    fn path_variable(&mut self, a: &FlatExpr, b: &FlatExpr, span: Span) -> VariableId {
        let text = format!(
            "complementarity({}, {})",
            self.model.expr_text(a),
            self.model.expr_text(b)
        );
        let same = |variable: &&FlatVariable| {
            let rest = variable.name.strip_prefix(&*text);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
        };
        let name = match self.model.variables.iter().filter(same).count() {
            0 => text,
            others => format!("{text}#{}", others + 1),
        };
        let provenance = self.add_provenance(span, &"".into(), ProvenanceKind::Declaration);
        self.owners.push(ComponentId(0));
        self.model.variables.push(FlatVariable {
            name: name.into(),
            ty: ScalarType::Real,
            variability: Variability::Continuous,
            causality: Causality::Internal,
            binding: None,
            start: None,
            fixed: None,
            attributes: Arc::new(Attributes {
                hide_result: true,
                ..Attributes::default()
            }),
            protected: true,
            structural: false,
            is_final: true,
            provenance,
        })
    }
}

fn branches(path: VariableId, a: FlatExpr, b: FlatExpr, provenance: ProvenanceId, span: Span) -> FlatEquation {
    let s = || FlatExpr::Variable(path);
    let zero = || FlatExpr::Real(0.0);
    let equal = |left: FlatExpr, right: FlatExpr| FlatEquation {
        kind: EquationKind::Equal(left, right),
        provenance,
    };
    let kind = EquationKind::If {
        branches: vec![EquationBranch {
            condition: FlatExpr::Binary(BinaryOp::Greater, Box::new([s(), zero()]), span),
            body: vec![equal(s(), a.clone()), equal(b.clone(), zero())],
        }],
        otherwise: vec![
            equal(s(), FlatExpr::Unary(UnaryOp::Negate, Box::new(b))),
            equal(a, zero()),
        ],
    };
    FlatEquation { kind, provenance }
}
