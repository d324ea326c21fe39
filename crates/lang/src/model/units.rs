//! Whether sums, comparisons and equations join quantities of one unit.
//!
//! Units are those of declarations; a number, `time`, a variable without a unit and the result of a
//! function may have any. What is said is therefore certain: both sides have units, and they differ.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_source::{Diagnostic, Span};

use crate::codes;
use crate::flat::{
    BinaryOp, Builtin, EquationKind, FlatEquation, FlatExpr, FlatModel, FlatStatement, IndexVec, ProvenanceId,
    StatementKind, UnaryOp, VariableId,
};
use crate::flattener::Flattener;

/// More would not be read.
const MOST_WARNINGS: usize = 20;

/// Exponents of metre, kilogram, second, ampere, kelvin, mole and candela, and how many of the
/// products of these the unit has.
#[derive(Clone, Copy, Debug)]
struct Unit {
    exponents: [f64; 7],
    scale: f64,
}

/// A symbol: name, exponents, scale, and whether it takes prefixes.
type Row = (&'static str, [i8; 7], f64, bool);

const DEGREE: f64 = std::f64::consts::PI / 180.0;
const TURN: f64 = 2.0 * std::f64::consts::PI;

#[rustfmt::skip]
const SYMBOLS: &[Row] = &[
    ("1", [0, 0, 0, 0, 0, 0, 0], 1.0, false), ("rad", [0, 0, 0, 0, 0, 0, 0], 1.0, true),
    ("sr", [0, 0, 0, 0, 0, 0, 0], 1.0, true), ("deg", [0, 0, 0, 0, 0, 0, 0], DEGREE, false),
    ("rev", [0, 0, 0, 0, 0, 0, 0], TURN, false), ("%", [0, 0, 0, 0, 0, 0, 0], 0.01, false),
    ("m", [1, 0, 0, 0, 0, 0, 0], 1.0, true), ("kg", [0, 1, 0, 0, 0, 0, 0], 1.0, false),
    ("g", [0, 1, 0, 0, 0, 0, 0], 1e-3, true), ("t", [0, 1, 0, 0, 0, 0, 0], 1e3, false),
    ("s", [0, 0, 1, 0, 0, 0, 0], 1.0, true), ("min", [0, 0, 1, 0, 0, 0, 0], 60.0, false),
    ("h", [0, 0, 1, 0, 0, 0, 0], 3600.0, false), ("d", [0, 0, 1, 0, 0, 0, 0], 86_400.0, false),
    ("A", [0, 0, 0, 1, 0, 0, 0], 1.0, true), ("K", [0, 0, 0, 0, 1, 0, 0], 1.0, true),
    ("mol", [0, 0, 0, 0, 0, 1, 0], 1.0, true), ("cd", [0, 0, 0, 0, 0, 0, 1], 1.0, true),
    ("Hz", [0, 0, -1, 0, 0, 0, 0], 1.0, true), ("Bq", [0, 0, -1, 0, 0, 0, 0], 1.0, true),
    ("N", [1, 1, -2, 0, 0, 0, 0], 1.0, true), ("Pa", [-1, 1, -2, 0, 0, 0, 0], 1.0, true),
    ("bar", [-1, 1, -2, 0, 0, 0, 0], 1e5, true), ("J", [2, 1, -2, 0, 0, 0, 0], 1.0, true),
    ("W", [2, 1, -3, 0, 0, 0, 0], 1.0, true), ("V.A", [2, 1, -3, 0, 0, 0, 0], 1.0, true),
    ("var", [2, 1, -3, 0, 0, 0, 0], 1.0, true), ("C", [0, 0, 1, 1, 0, 0, 0], 1.0, true),
    ("V", [2, 1, -3, -1, 0, 0, 0], 1.0, true), ("F", [-2, -1, 4, 2, 0, 0, 0], 1.0, true),
    ("Ohm", [2, 1, -3, -2, 0, 0, 0], 1.0, true), ("S", [-2, -1, 3, 2, 0, 0, 0], 1.0, true),
    ("Wb", [2, 1, -2, -1, 0, 0, 0], 1.0, true), ("T", [0, 1, -2, -1, 0, 0, 0], 1.0, true),
    ("H", [2, 1, -2, -2, 0, 0, 0], 1.0, true), ("lm", [0, 0, 0, 0, 0, 0, 1], 1.0, true),
    ("lx", [-2, 0, 0, 0, 0, 0, 1], 1.0, true), ("Gy", [2, 0, -2, 0, 0, 0, 0], 1.0, true),
    ("Sv", [2, 0, -2, 0, 0, 0, 0], 1.0, true), ("kat", [0, 0, -1, 0, 0, 1, 0], 1.0, true),
    ("l", [3, 0, 0, 0, 0, 0, 0], 1e-3, true), ("L", [3, 0, 0, 0, 0, 0, 0], 1e-3, true),
];

#[rustfmt::skip]
const PREFIXES: &[(&str, f64)] = &[
    ("da", 1e1), ("Y", 1e24), ("Z", 1e21), ("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3),
    ("h", 1e2), ("d", 1e-1), ("c", 1e-2), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9), ("p", 1e-12), ("f", 1e-15),
    ("a", 1e-18), ("z", 1e-21), ("y", 1e-24),
];

impl Unit {
    const ONE: Unit = Unit {
        exponents: [0.0; 7],
        scale: 1.0,
    };

    fn times(self, other: Unit, power: f64) -> Unit {
        let mut exponents = self.exponents;
        for (own, more) in exponents.iter_mut().zip(other.exponents) {
            *own += power * more;
        }
        Unit {
            exponents,
            scale: self.scale * other.scale.powf(power),
        }
    }

    fn differs(self, other: Unit) -> bool {
        let apart = |(a, b): (&f64, f64)| (a - b).abs() > 1e-9;
        self.exponents.iter().zip(other.exponents).any(apart) || (self.scale / other.scale - 1.0).abs() > 1e-9
    }

    /// `None` for what is not a unit expression of the Language Specification (19.1), or has a
    /// symbol that is not known, or an offset as `degC` has.
    fn parse(text: &str) -> Option<Unit> {
        let (numerator, denominator) = match text.split_once('/') {
            Some((numerator, rest)) => (numerator, Some(rest)),
            None => (text, None),
        };
        let mut unit = Unit::product(numerator)?;
        if let Some(denominator) = denominator {
            let bare = denominator.strip_prefix('(').and_then(|d| d.strip_suffix(')'));
            unit = unit.times(Unit::product(bare.unwrap_or(denominator))?, -1.0);
        }
        Some(unit)
    }

    fn product(text: &str) -> Option<Unit> {
        let mut unit = Unit::ONE;
        for factor in text.split('.') {
            let end = match factor {
                "1" => 1,
                _ => factor
                    .find(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'))
                    .unwrap_or(factor.len()),
            };
            let (symbol, exponent) = factor.split_at(end);
            let power: f64 = if exponent.is_empty() {
                1.0
            } else {
                exponent.parse().ok()?
            };
            unit = unit.times(Unit::symbol(symbol)?, power);
        }
        Some(unit)
    }

    fn symbol(name: &str) -> Option<Unit> {
        let of = |(_, exponents, scale, _): &Row, factor: f64| Unit {
            exponents: exponents.map(f64::from),
            scale: scale * factor,
        };
        if let Some(row) = SYMBOLS.iter().find(|row| row.0 == name) {
            return Some(of(row, 1.0));
        }
        PREFIXES.iter().find_map(|(prefix, factor)| {
            let rest = name.strip_prefix(prefix)?;
            let row = SYMBOLS.iter().find(|row| row.0 == rest && row.3)?;
            Some(of(row, *factor))
        })
    }
}

/// An expression whose two sides have different units.
struct Mismatch {
    span: Option<Span>,
    /// What is joined: `+`, `=`, …
    operation: &'static str,
    /// The sides with their units, as far as they are variables.
    sides: [Side; 2],
}

/// A unit, and the variable it is declared for if it is not computed.
#[derive(Clone, Copy)]
struct Side {
    unit: Unit,
    of: Option<VariableId>,
}

struct Checker<'m> {
    model: &'m FlatModel,
    units: IndexVec<VariableId, Option<Unit>>,
    found: Vec<Mismatch>,
}

impl Flattener<'_> {
    /// Warns of sums, comparisons and equations of different units.
    pub(super) fn check_units(&mut self) {
        let mut known: FxHashMap<Arc<str>, Option<Unit>> = FxHashMap::default();
        let units: IndexVec<VariableId, Option<Unit>> = self
            .model
            .variables
            .iter()
            .map(|variable| {
                // Numbers are declared so where any unit is meant: components of directions, factors.
                let text = variable.attributes.unit.as_ref().filter(|text| text.as_ref() != "1")?;
                *known.entry(Arc::clone(text)).or_insert_with(|| Unit::parse(text))
            })
            .collect();
        if known.is_empty() {
            return;
        }
        let mut checker = Checker {
            model: &self.model,
            units,
            found: Vec::new(),
        };
        let mut warnings: Vec<Diagnostic> = Vec::new();
        let mut reported: FxHashSet<Span> = FxHashSet::default();
        checker.model_parts(&mut |checker, provenance| {
            for mismatch in checker.found.drain(..) {
                let span = mismatch.span.unwrap_or(checker.model.provenance(provenance).span);
                if warnings.len() < MOST_WARNINGS && reported.insert(span) {
                    warnings.push(warning(checker.model, &mismatch, span));
                }
            }
        });
        for warning in warnings {
            self.diagnostics.push(warning);
        }
    }
}

fn warning(model: &FlatModel, mismatch: &Mismatch, span: Span) -> Diagnostic {
    let [a, b] = mismatch.sides.map(|side| reported(model, side));
    let message = format!(
        "the units of the two sides of `{}` differ: {} and {}",
        mismatch.operation, a, b
    );
    Diagnostic::warning(codes::W0204, span, message).with_help("check the expression, or the units that are declared")
}

impl Checker<'_> {
    fn model_parts(&mut self, report: &mut dyn FnMut(&mut Self, ProvenanceId)) {
        let model = self.model;
        for (id, variable) in model.variables.iter_enumerated() {
            if let Some(binding) = &variable.binding {
                self.equal(&FlatExpr::Variable(id), binding, None);
                report(self, variable.provenance);
            }
        }
        for equation in model.equations.iter().chain(&model.initial_equations) {
            self.equation(equation, report);
        }
        for algorithm in model.algorithms.iter().chain(&model.initial_algorithms) {
            for statement in &algorithm.statements {
                self.statement(statement, report);
            }
        }
    }

    fn equation(&mut self, equation: &FlatEquation, report: &mut dyn FnMut(&mut Self, ProvenanceId)) {
        let mut inner: Vec<&FlatEquation> = Vec::new();
        match &equation.kind {
            EquationKind::Equal(a, b) => self.equal(a, b, None),
            EquationKind::If { branches, otherwise } => {
                for branch in branches {
                    self.unit(&branch.condition);
                    inner.extend(&branch.body);
                }
                inner.extend(otherwise);
            }
            EquationKind::When { branches } => {
                for branch in branches {
                    branch.conditions.iter().for_each(|c| self.visit(c));
                    inner.extend(&branch.body);
                }
            }
            EquationKind::Reinit(variable, value) => self.equal(&FlatExpr::Variable(*variable), value, None),
            EquationKind::Assert { condition, .. } => self.visit(condition),
            EquationKind::Terminate(_) | EquationKind::NoReturnCall(_) => {}
        }
        report(self, equation.provenance);
        for equation in inner {
            self.equation(equation, report);
        }
    }

    fn statement(&mut self, statement: &FlatStatement, report: &mut dyn FnMut(&mut Self, ProvenanceId)) {
        let mut inner: Vec<&FlatStatement> = Vec::new();
        match &statement.kind {
            StatementKind::Assign(assignments) => {
                for (variable, value) in assignments {
                    self.equal(&FlatExpr::Variable(*variable), value, None);
                }
            }
            StatementKind::If { branches, otherwise } => {
                for branch in branches {
                    self.unit(&branch.condition);
                    inner.extend(&branch.body);
                }
                inner.extend(otherwise);
            }
            StatementKind::When { branches } => {
                for (conditions, body) in branches {
                    conditions.iter().for_each(|c| self.visit(c));
                    inner.extend(body);
                }
            }
            StatementKind::For { body, .. } => inner.extend(body),
            StatementKind::While(condition, body) => {
                self.unit(condition);
                inner.extend(body);
            }
            StatementKind::Assert { condition, .. } => self.visit(condition),
            StatementKind::Terminate(_)
            | StatementKind::NoReturnCall(_)
            | StatementKind::Break
            | StatementKind::Return => {}
        }
        report(self, statement.provenance);
        for statement in inner {
            self.statement(statement, report);
        }
    }

    fn equal(&mut self, a: &FlatExpr, b: &FlatExpr, span: Option<Span>) {
        self.joined("=", a, b, span);
    }

    /// The common unit of two operands; notes if they differ.
    fn joined(&mut self, operation: &'static str, a: &FlatExpr, b: &FlatExpr, span: Option<Span>) -> Option<Side> {
        let (x, y) = (self.unit(a), self.unit(b));
        if let (Some(x), Some(y)) = (&x, &y)
            && x.unit.differs(y.unit)
        {
            self.found.push(Mismatch {
                span,
                operation,
                sides: [*x, *y],
            });
            // One mistake is told once.
            return None;
        }
        x.or(y)
    }

    /// Looks for mistakes inside of an expression whose own unit does not matter.
    fn visit(&mut self, expr: &FlatExpr) {
        self.unit(expr);
    }

    /// The unit of an expression, if it is certain.
    fn unit(&mut self, expr: &FlatExpr) -> Option<Side> {
        match expr {
            FlatExpr::Variable(id) => self.variable(*id),
            FlatExpr::Unary(UnaryOp::Negate, inner) => self.unit(inner),
            FlatExpr::Unary(UnaryOp::Not, inner) => {
                self.unit(inner);
                None
            }
            FlatExpr::Binary(op, operands, span) => self.binary(*op, &operands[0], &operands[1], *span),
            FlatExpr::If(parts, span) => {
                self.unit(&parts[0]);
                self.joined("else", &parts[1], &parts[2], Some(*span))
            }
            FlatExpr::Builtin(builtin, arguments, span) => self.builtin(*builtin, arguments, *span),
            FlatExpr::Call(call) => {
                call.arguments.iter().for_each(|argument| self.visit(argument));
                None
            }
            _ => None,
        }
    }

    fn variable(&self, id: VariableId) -> Option<Side> {
        let unit = self.units[id]?;
        Some(Side { unit, of: Some(id) })
    }

    fn binary(&mut self, op: BinaryOp, a: &FlatExpr, b: &FlatExpr, span: Span) -> Option<Side> {
        match op {
            BinaryOp::Add | BinaryOp::Subtract => self.joined(op.as_str(), a, b, Some(span)),
            BinaryOp::Multiply | BinaryOp::Divide => {
                let (x, y) = (self.unit(a), self.unit(b));
                let (x, y) = (x?, y?);
                let power = if op == BinaryOp::Multiply { 1.0 } else { -1.0 };
                Some(composed(x.unit.times(y.unit, power)))
            }
            BinaryOp::Power => {
                let x = self.unit(a);
                self.unit(b);
                let power = b.as_number()?;
                Some(composed(Unit::ONE.times(x?.unit, power)))
            }
            BinaryOp::And | BinaryOp::Or => {
                self.unit(a);
                self.unit(b);
                None
            }
            _ => {
                self.joined(op.as_str(), a, b, Some(span));
                None
            }
        }
    }

    fn builtin(&mut self, builtin: Builtin, arguments: &[FlatExpr], span: Span) -> Option<Side> {
        match (builtin, arguments) {
            (Builtin::Der, [x]) => {
                let second = Unit::symbol("s")?;
                Some(composed(self.unit(x)?.unit.times(second, -1.0)))
            }
            (Builtin::Sqrt, [x]) => Some(composed(Unit::ONE.times(self.unit(x)?.unit, 0.5))),
            (Builtin::Pre | Builtin::NoEvent | Builtin::Abs, [x]) | (Builtin::Smooth, [_, x]) => self.unit(x),
            (Builtin::Homotopy | Builtin::Min | Builtin::Max, [a, b]) => self.joined(builtin.name(), a, b, Some(span)),
            (Builtin::Delay | Builtin::TransportedLeft | Builtin::TransportedRight, [x, ..]) => self.unit(x),
            _ => {
                arguments.iter().for_each(|argument| self.visit(argument));
                None
            }
        }
    }
}

fn composed(unit: Unit) -> Side {
    Side { unit, of: None }
}

/// A unit as it is declared; one that is computed in base units.
fn reported(model: &FlatModel, side: Side) -> String {
    let unit = side.unit;
    if let Some(id) = side.of
        && let Some(text) = &model.variables[id].attributes.unit
    {
        return format!("`{text}` of `{}`", model.variables[id].name);
    }
    let names = ["m", "kg", "s", "A", "K", "mol", "cd"];
    let factors: Vec<String> = names
        .iter()
        .zip(unit.exponents)
        .filter(|(_, exponent)| exponent.abs() > 1e-9)
        .map(|(name, exponent)| match exponent {
            1.0 => (*name).to_owned(),
            _ => format!("{name}{exponent}"),
        })
        .collect();
    let product = if factors.is_empty() {
        "1".to_owned()
    } else {
        factors.join(".")
    };
    if (unit.scale - 1.0).abs() < 1e-9 {
        format!("`{product}`")
    } else {
        format!("{} × `{product}`", unit.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn equal_units_are_equal() {
        for (a, b) in [
            ("N", "kg.m/s2"),
            ("J", "N.m"),
            ("W", "V.A"),
            ("rad/s", "1/s"),
            ("Hz", "s-1"),
            ("J/(kg.K)", "m2/(s2.K)"),
            ("Ohm", "V/A"),
            ("l", "dm3"),
            ("km/h", "km/h"),
        ] {
            let (x, y) = (Unit::parse(a).unwrap(), Unit::parse(b).unwrap());
            assert!(!x.differs(y), "{a} and {b}");
        }
    }

    #[test]
    fn different_units_differ() {
        for (a, b) in [
            ("m", "s"),
            ("kW", "W"),
            ("deg", "rad"),
            ("V", "A"),
            ("mm", "Mm"),
            ("min", "m"),
        ] {
            let (x, y) = (Unit::parse(a).unwrap(), Unit::parse(b).unwrap());
            assert!(x.differs(y), "{a} and {b}");
        }
        assert!(Unit::parse("degC").is_none());
        assert!(Unit::parse("foo").is_none());
        assert!(Unit::parse("").is_none());
    }
}
