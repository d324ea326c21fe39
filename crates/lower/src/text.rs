//! Strings. Nothing at run time holds a text, so comparisons between texts are decided here: a String expression is a
//! list of the texts it may have, each with the condition under which it has it.

use std::cmp::Ordering;
use std::sync::Arc;

use saltus_lang::flat::{BinaryOp as FlatBinary, FlatExpr, FunctionCall, ScalarType};
use saltus_mdae::ExprId;
use saltus_source::{Diagnostic, Span, codes};

use crate::Lowering;

/// Texts that one expression may have before it is given up.
const CASE_LIMIT: usize = 64;
/// Definitions of Strings by Strings that are followed.
const DEPTH_LIMIT: u32 = 64;

/// A text and the condition under which an expression has it.
type Case = (ExprId, Arc<str>);

impl Lowering<'_> {
    pub(crate) fn is_text(&self, expr: &FlatExpr) -> bool {
        expr.scalar_type(self.flat) == ScalarType::String
    }

    /// A number that stands for a text: equal for equal texts, so that functions can tell them apart.
    pub(crate) fn text_number(&mut self, text: &Arc<str>) -> i64 {
        let next = self.texts.len() as i64 + 1;
        *self.texts.entry(text.clone()).or_insert(next)
    }

    /// The number of a String expression; zero if its text is not known.
    pub(crate) fn text_expr(&mut self, expr: &FlatExpr) -> ExprId {
        let cases = self.text_cases(expr, DEPTH_LIMIT).unwrap_or_default();
        let mut value = self.model.pool.integer(0);
        for (condition, text) in cases.iter().rev() {
            let number = self.text_number(text);
            let number = self.model.pool.integer(number);
            value = self.model.pool.if_else(*condition, number, value);
        }
        value
    }

    /// A comparison between two Strings; `None` if the operands are none.
    pub(crate) fn text_comparison(
        &mut self,
        op: FlatBinary,
        left: &FlatExpr,
        right: &FlatExpr,
        span: Span,
    ) -> Option<ExprId> {
        let holds: fn(Ordering) -> bool = match op {
            FlatBinary::Equal => Ordering::is_eq,
            FlatBinary::NotEqual => Ordering::is_ne,
            FlatBinary::Less => Ordering::is_lt,
            FlatBinary::LessEqual => Ordering::is_le,
            FlatBinary::Greater => Ordering::is_gt,
            FlatBinary::GreaterEqual => Ordering::is_ge,
            _ => return None,
        };
        if !self.is_text(right) {
            return None;
        }
        let cases = self
            .text_cases(left, DEPTH_LIMIT)
            .and_then(|left| Some((left, self.text_cases(right, DEPTH_LIMIT)?)));
        let Some((left, right)) = cases else {
            self.unknown_text(span, "the texts compared here are not known before the run");
            return Some(self.model.pool.boolean(false));
        };
        let mut result = self.model.pool.boolean(false);
        for (on_left, a) in &left {
            for (on_right, b) in &right {
                if holds(a.cmp(b)) {
                    let both = self.model.pool.and(*on_left, *on_right);
                    result = self.model.pool.or(result, both);
                }
            }
        }
        Some(result)
    }

    fn unknown_text(&mut self, span: Span, message: &str) {
        self.report(
            Diagnostic::error(codes::E0501, span, message)
                .with_note("Strings have values only where constants and parameters give them")
                .with_help("use Integers, Booleans or the literals of an enumeration instead"),
        );
    }

    /// A function that looks at the text of an argument must be given one that is known.
    pub(crate) fn check_texts(&mut self, call: &FunctionCall) {
        if !self.text_readers.contains(&call.function) {
            return;
        }
        for argument in call.arguments.iter() {
            if self.is_text(argument) && self.text_cases(argument, DEPTH_LIMIT).is_none() {
                self.unknown_text(
                    call.span,
                    "this function looks at a text that is not known before the run",
                );
            }
        }
    }

    fn text_cases(&mut self, expr: &FlatExpr, depth: u32) -> Option<Vec<Case>> {
        let deeper = depth.checked_sub(1)?;
        let always = self.model.pool.boolean(true);
        match expr {
            FlatExpr::String(text) => Some(vec![(always, text.clone())]),
            FlatExpr::Variable(id) => {
                let flat = self.flat;
                let variable = &flat.variables[*id];
                let value = variable.binding.as_ref()?;
                self.text_cases(value, deeper)
            }
            FlatExpr::If(parts, _) => {
                let condition = self.expr(&parts[0]);
                let otherwise = self.model.pool.not(condition);
                let mut cases = Vec::new();
                for (guard, part) in [(condition, &parts[1]), (otherwise, &parts[2])] {
                    for (when, text) in self.text_cases(part, deeper)? {
                        cases.push((self.model.pool.and(guard, when), text));
                    }
                }
                (cases.len() <= CASE_LIMIT).then_some(cases)
            }
            FlatExpr::Binary(FlatBinary::Add, operands, _) => {
                let (first, second) = (
                    self.text_cases(&operands[0], deeper)?,
                    self.text_cases(&operands[1], deeper)?,
                );
                if first.len() * second.len() > CASE_LIMIT {
                    return None;
                }
                let mut cases = Vec::new();
                for (on_first, a) in &first {
                    for (on_second, b) in &second {
                        let both = self.model.pool.and(*on_first, *on_second);
                        cases.push((both, Arc::from(format!("{a}{b}"))));
                    }
                }
                Some(cases)
            }
            _ => None,
        }
    }
}
