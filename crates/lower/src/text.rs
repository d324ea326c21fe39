//! Strings. At run time a String is the number of its text. Comparisons between texts that conditions choose among
//! literals are decided here, so that they stay formulas over those conditions.

use std::cmp::Ordering;
use std::sync::Arc;

use saltus_lang::flat::{BinaryOp, Builtin, FlatExpr, FlatModel, ScalarType};
use saltus_mdae::function::{Body, Function, Local, LocalId};
use saltus_mdae::text::{TextOperation, Written};
use saltus_mdae::{BinaryFunction, ExprId, FunctionId, OriginId, Type};
use saltus_source::number_text::{Conversion, TextFormat};

use crate::{Lowering, Meaning};

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

    /// A text of the model, as a number.
    pub(crate) fn text_number(&mut self, text: &str) -> f64 {
        self.model.texts.number(text).unwrap_or(0.0)
    }

    /// The number of a String that is no variable of the model: a parameter or a constant.
    pub(crate) fn text_of_parameter(&mut self, id: saltus_lang::flat::VariableId) -> ExprId {
        let flat = self.flat;
        let variable = &flat.variables[id];
        let value = variable.binding.as_ref().or(variable.start.as_ref());
        self.text_depth += 1;
        let number = match value {
            Some(value) if self.text_depth <= DEPTH_LIMIT => self.expr(value),
            _ => self.model.pool.integer(0),
        };
        self.text_depth -= 1;
        number
    }

    /// An operation on the numbers of texts.
    pub(crate) fn text_call(&mut self, operation: TextOperation, args: &[ExprId]) -> ExprId {
        let constants: Option<Vec<f64>> = args.iter().map(|&arg| self.model.pool.constant(arg)).collect();
        if let Some(constants) = constants
            && let Ok(value) = operation.apply(&self.model.texts, &constants)
        {
            return self.model.pool.integer(value as i64);
        }
        let function = self.text_function(operation);
        self.model.pool.call(function, 0, args)
    }

    /// The function that does an operation on texts.
    pub(crate) fn text_function(&mut self, operation: TextOperation) -> FunctionId {
        let known = self.text_functions.iter().find(|(known, _)| *known == operation);
        if let Some((_, id)) = known {
            return *id;
        }
        let scalar = |name: String, ty: Type| Local::new(name, ty, Vec::new());
        let arity = operation.arity() as u32;
        let first = match &operation {
            TextOperation::Write(Written::Real, _) => Type::Real,
            _ => Type::Integer,
        };
        let mut locals: Vec<Local> = (0..arity).map(|k| scalar(format!("a{k}"), first)).collect();
        locals.push(scalar("result".into(), Type::Integer));
        let function = Function {
            name: "".into(),
            locals,
            inputs: (0..arity).map(LocalId).collect(),
            outputs: vec![LocalId(arity)],
            body: Body::Text(operation.clone()),
            derivatives: Vec::new(),
            inverses: Vec::new(),
            texts: self.model.texts.clone(),
            origin: OriginId(0),
            compiled: Default::default(),
        };
        let id = self.add_function(function);
        self.text_functions.push((operation, id));
        id
    }

    /// A comparison between two Strings; `None` if the operands are none.
    pub(crate) fn text_comparison(&mut self, op: BinaryOp, left: &FlatExpr, right: &FlatExpr) -> Option<ExprId> {
        let holds: fn(Ordering) -> bool = match op {
            BinaryOp::Equal => Ordering::is_eq,
            BinaryOp::NotEqual => Ordering::is_ne,
            BinaryOp::Less => Ordering::is_lt,
            BinaryOp::LessEqual => Ordering::is_le,
            BinaryOp::Greater => Ordering::is_gt,
            BinaryOp::GreaterEqual => Ordering::is_ge,
            _ => return None,
        };
        if !self.is_text(right) {
            return None;
        }
        let cases = self
            .text_cases(left, DEPTH_LIMIT)
            .and_then(|left| Some((left, self.text_cases(right, DEPTH_LIMIT)?)));
        let Some((left, right)) = cases else {
            let (left, right) = (self.expr(left), self.expr(right));
            return Some(self.compare_numbers(op, left, right));
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

    /// Equal texts have equal numbers; their order is looked up.
    fn compare_numbers(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> ExprId {
        let plain = crate::function::plain_operator(op);
        if matches!(plain, BinaryFunction::Eq | BinaryFunction::Ne) {
            return self.model.pool.binary(plain, left, right);
        }
        let order = self.text_call(TextOperation::Order, &[left, right]);
        let zero = self.model.pool.integer(0);
        self.model.pool.binary(plain, order, zero)
    }

    fn text_cases(&mut self, expr: &FlatExpr, depth: u32) -> Option<Vec<Case>> {
        let deeper = depth.checked_sub(1)?;
        let always = self.model.pool.boolean(true);
        match expr {
            FlatExpr::String(text) => Some(vec![(always, text.clone())]),
            FlatExpr::Variable(id) if self.meanings[*id] == Meaning::Text => {
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
            FlatExpr::Binary(BinaryOp::Add, operands, _) => {
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

/// How `String(x, …)` writes a value of this type.
pub(crate) fn written(flat: &FlatModel, ty: ScalarType, options: &[FlatExpr]) -> TextOperation {
    let kind = match ty {
        ScalarType::Real => Written::Real,
        ScalarType::Integer | ScalarType::Clock => Written::Integer,
        ScalarType::Boolean => Written::Boolean,
        ScalarType::String => Written::Text,
        ScalarType::Enumeration(id) => Written::Enumeration(flat.enumerations[id].literals.clone().into()),
    };
    let mut format = TextFormat::default();
    if let [digits, length, right, conversion] = options {
        let number = |e: &FlatExpr| e.as_number().unwrap_or(0.0) as u32;
        format.significant = Some(number(digits)).filter(|&digits| digits > 0);
        format.minimum_length = number(length);
        format.right = *right == FlatExpr::Boolean(true);
        if let FlatExpr::String(text) = conversion {
            format.conversion = Conversion::parse(text);
        }
    }
    TextOperation::Write(kind, format)
}

/// The operation behind a built-in function of texts.
pub(crate) fn text_builtin(builtin: Builtin) -> Option<TextOperation> {
    Some(match builtin {
        Builtin::TextLength => TextOperation::Length,
        Builtin::TextPart => TextOperation::Substring,
        Builtin::TextCompare => TextOperation::Compare,
        Builtin::TextSkip => TextOperation::SkipBlanks,
        Builtin::TextHash => TextOperation::Hash,
        _ => return None,
    })
}
