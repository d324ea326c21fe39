//! Functions: the same algorithm in the terms of the multi-mode DAE.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_lang::flat::{
    self, BinaryOp, Builtin, FlatExpr, FlatFunction, FunctionBody, FunctionStatement, ScalarType, UnaryOp,
};
use saltus_mdae::function::{
    Body, DerivativeInput, ForeignCall, ForeignInterface, ForeignOperation, ForeignUnit, Function, FunctionDerivative,
    FunctionExpr, Inverse, Local, LocalId, Place, Statement,
};
use saltus_mdae::table::{Extrapolation, Smoothness, Table};
use saltus_mdae::text::TextOperation;
use saltus_mdae::{BinaryFunction, FunctionId, UnaryFunction};
use saltus_source::{Diagnostic, Span, codes};

use crate::loops::Outside;
use crate::text::{text_builtin, written};
use crate::variables::type_of;
use crate::{Lowering, Meaning};

/// What names mean inside statements that become a function.
pub(crate) struct Inside<'a> {
    /// The name of the function.
    pub name: Arc<str>,
    /// Where it is written.
    pub span: Option<Span>,
    /// The types of its variables.
    pub types: Vec<ScalarType>,
    /// For a loop of an algorithm section: the variables of the model.
    pub outside: Option<&'a mut Outside>,
}

impl Lowering<'_> {
    pub(crate) fn lower_functions(&mut self) {
        let mut open: FxHashMap<FunctionId, FxHashSet<u32>> = FxHashMap::default();
        for (id, function) in self.flat.functions.iter_enumerated() {
            let (lowered, outputs) = self.function(function);
            self.model.functions.push(lowered);
            if !outputs.is_empty() {
                open.insert(FunctionId(id.0), outputs.into_iter().collect());
            }
        }
        // A call may have been evaluated while the model was read: then a parameter says that it left a field open.
        let blank = |variable: &flat::FlatVariable| variable.binding.as_ref().is_some_and(is_blank);
        if !open.is_empty() || self.flat.variables.iter().any(blank) {
            let fields = self.flat.functions.iter().map(fields_of).collect();
            self.unset_fields = crate::unset::guard_fields(&mut self.model.functions, fields, open);
        }
    }

    /// Adds a function that is none of the flat model.
    pub(crate) fn add_function(&mut self, function: Function) -> FunctionId {
        let id = FunctionId((self.flat.functions.len() + self.made.len()) as u32);
        self.made.push(function);
        id
    }

    /// The function, and the numbers of its outputs that may be left without a value.
    fn function(&mut self, function: &FlatFunction) -> (Function, Vec<u32>) {
        let origin = self.origin(function.provenance);
        let locals: Vec<Local> = function
            .locals
            .iter()
            .map(|local| Local {
                open: local.open,
                ..Local::new(local.name.clone(), type_of(local.ty), local.dims.clone())
            })
            .collect();
        let mut inside = Inside {
            name: function.name.clone(),
            span: Some(self.flat.provenances[function.provenance].span),
            types: function.locals.iter().map(|local| local.ty).collect(),
            outside: None,
        };
        let body = match &function.body {
            FunctionBody::Algorithm(statements) => Body::Algorithm(self.block(statements, &mut inside)),
            FunctionBody::Table(table) => Body::Table(Arc::new(lower_table(table))),
            FunctionBody::Foreign(call) => Body::Foreign(Arc::new(self.foreign_call(call))),
            FunctionBody::Routine(call) => Body::Routine(Arc::clone(call)),
        };
        let mut lowered = Function {
            name: function.name.clone(),
            locals,
            inputs: function.inputs.iter().map(|id| LocalId(id.0)).collect(),
            outputs: function.outputs.iter().map(|id| LocalId(id.0)).collect(),
            body,
            derivatives: function.derivatives.iter().map(lower_derivative).collect(),
            inverses: function.inverses.iter().map(lower_inverse).collect(),
            texts: self.model.texts.clone(),
            origin,
            compiled: Default::default(),
        };
        let uncertain = crate::assigned::guard_reads(&mut lowered, &fields_of(function));
        if let Some(never) = uncertain.never {
            let span = self.flat.provenances[function.provenance].span;
            self.report(
                Diagnostic::error(
                    codes::E0511,
                    span,
                    format!(
                        "function `{}` never assigns `{never}`, but uses its value",
                        function.name
                    ),
                )
                .with_help(format!(
                    "assign `{never}` in the algorithm, or give it a value in its declaration"
                )),
            );
        }
        (lowered, uncertain.outputs)
    }

    /// Calls of the same unit share it.
    fn foreign_call(&mut self, call: &flat::ForeignCall) -> ForeignCall {
        let interface = if call.unit.integrates {
            ForeignInterface::CoSimulation
        } else {
            ForeignInterface::ModelExchange
        };
        let unit = ForeignUnit::new(call.unit.file.clone(), call.unit.beside.clone(), interface);
        let unit = match self.foreign_units.iter().find(|known| ***known == unit) {
            Some(known) => Arc::clone(known),
            None => {
                let unit = Arc::new(unit);
                self.foreign_units.push(Arc::clone(&unit));
                unit
            }
        };
        let operation = match &call.operation {
            flat::ForeignOperation::Start => ForeignOperation::Start,
            flat::ForeignOperation::Event => ForeignOperation::Event,
            flat::ForeignOperation::Step => ForeignOperation::Step,
            flat::ForeignOperation::Next => ForeignOperation::Next,
            flat::ForeignOperation::Ended => ForeignOperation::Ended,
            flat::ForeignOperation::Get(name) => ForeignOperation::Get(name.clone()),
            flat::ForeignOperation::Indicator(number) => ForeignOperation::Indicator(*number),
        };
        ForeignCall {
            unit,
            operation,
            names: call.names.clone(),
        }
    }

    fn block(&mut self, statements: &[FunctionStatement], inside: &mut Inside<'_>) -> Vec<Statement> {
        statements
            .iter()
            .map(|statement| self.function_statement(statement, inside))
            .collect()
    }

    fn function_statement(&mut self, statement: &FunctionStatement, inside: &mut Inside<'_>) -> Statement {
        match statement {
            FunctionStatement::Assign(place, value) => {
                Statement::Assign(self.place(place, inside), self.function_expr(value, inside))
            }
            FunctionStatement::CallAssign {
                function: callee,
                arguments,
                targets,
            } => Statement::CallAssign {
                function: FunctionId(callee.0),
                args: arguments.iter().map(|arg| self.function_expr(arg, inside)).collect(),
                targets: targets
                    .iter()
                    .map(|(output, place)| (*output, self.place(place, inside)))
                    .collect(),
            },
            FunctionStatement::Allocate(local, sizes) => Statement::Allocate {
                local: LocalId(local.0),
                sizes: self.function_exprs(sizes, inside),
            },
            FunctionStatement::If(branches, otherwise) => Statement::If(
                branches
                    .iter()
                    .map(|(condition, body)| (self.function_expr(condition, inside), self.block(body, inside)))
                    .collect(),
                self.block(otherwise, inside),
            ),
            FunctionStatement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                let bounds = [from, step, to].map(|bound| self.function_expr(bound, inside));
                let body = self.block(body, inside);
                self.for_loop(LocalId(counter.0), bounds, body)
            }
            FunctionStatement::While(condition, body) => {
                Statement::While(self.function_expr(condition, inside), self.block(body, inside))
            }
            FunctionStatement::Break => Statement::Break,
            FunctionStatement::Return => Statement::Return,
            FunctionStatement::Assert(condition, message) => Statement::Assert(
                self.function_expr(condition, inside),
                self.function_expr(message, inside),
            ),
            FunctionStatement::Warn(condition, message) => Statement::Warn(
                self.function_expr(condition, inside),
                self.function_expr(message, inside),
            ),
        }
    }

    /// A loop; a step that may be zero is looked at first.
    pub(crate) fn for_loop(&mut self, counter: LocalId, bounds: [FunctionExpr; 3], body: Vec<Statement>) -> Statement {
        let [from, step, to] = bounds;
        let certain = matches!(step, FunctionExpr::Constant(step) if step != 0.0);
        let zero = FunctionExpr::Constant(0.0);
        let moves = FunctionExpr::binary(BinaryFunction::Ne, step.clone(), zero);
        let turns = Statement::For {
            counter,
            from,
            step,
            to,
            body,
        };
        if certain {
            return turns;
        }
        let message = FunctionExpr::Constant(self.text_number("the step of a range is zero"));
        Statement::If(Vec::new(), vec![Statement::Assert(moves, message), turns])
    }

    fn place(&mut self, place: &flat::Place, inside: &mut Inside<'_>) -> Place {
        Place {
            local: LocalId(place.local.0),
            indices: self.function_exprs(&place.indices, inside),
        }
    }

    fn function_exprs(&mut self, exprs: &[FlatExpr], inside: &mut Inside<'_>) -> Vec<FunctionExpr> {
        exprs.iter().map(|expr| self.function_expr(expr, inside)).collect()
    }

    pub(crate) fn function_expr(&mut self, expr: &FlatExpr, inside: &mut Inside<'_>) -> FunctionExpr {
        if inside.outside.is_some()
            && let Some(argument) = self.argument(expr, inside)
        {
            return argument;
        }
        match expr {
            FlatExpr::Local(local, indices) => FunctionExpr::Read(Place {
                local: LocalId(local.0),
                indices: self.function_exprs(indices, inside),
            }),
            FlatExpr::Unary(op, a) => {
                let op = if *op == UnaryOp::Not {
                    UnaryFunction::Not
                } else {
                    UnaryFunction::Neg
                };
                FunctionExpr::Unary(op, Box::new(self.function_expr(a, inside)))
            }
            FlatExpr::Binary(op, operands, _) => {
                let text = self.is_local_text(&operands[0], inside);
                let (a, b) = (
                    self.function_expr(&operands[0], inside),
                    self.function_expr(&operands[1], inside),
                );
                match op {
                    BinaryOp::Add if text => self.text_in_function(TextOperation::Join, vec![a, b]),
                    op if text && is_order(*op) => {
                        let order = self.text_in_function(TextOperation::Order, vec![a, b]);
                        let zero = FunctionExpr::Constant(0.0);
                        FunctionExpr::binary(plain_operator(*op), order, zero)
                    }
                    op => FunctionExpr::binary(plain_operator(*op), a, b),
                }
            }
            FlatExpr::If(parts, _) => FunctionExpr::If(
                Box::new(self.function_expr(&parts[0], inside)),
                Box::new(self.function_expr(&parts[1], inside)),
                Box::new(self.function_expr(&parts[2], inside)),
            ),
            FlatExpr::Call(call) => {
                if !call.partials.is_empty() {
                    self.not_in_function("a partial derivative `der(f, x)`", call.span);
                }
                FunctionExpr::Call {
                    function: FunctionId(call.function.0),
                    output: call.output,
                    args: self.function_exprs(&call.arguments, inside),
                }
            }
            FlatExpr::Builtin(builtin, args, span) => self.function_builtin(*builtin, args, *span, inside),
            FlatExpr::Variable(id) => match self.meanings[*id] {
                Meaning::Constant(constant) => {
                    FunctionExpr::Constant(self.model.pool.constant(constant).unwrap_or(0.0))
                }
                _ => {
                    let name = self.flat.variables[*id].name.clone();
                    self.report(Diagnostic::without_place(
                        codes::E0501,
                        saltus_source::Severity::Error,
                        format!(
                            "function `{}` reads the variable `{name}`, which is no constant",
                            inside.name
                        ),
                    ));
                    FunctionExpr::Constant(0.0)
                }
            },
            FlatExpr::String(text) => FunctionExpr::Constant(self.text_number(text)),
            FlatExpr::Time => {
                let message = format!("function `{}` reads `time`", inside.name);
                let span = inside.span.unwrap_or(Span::new(saltus_source::FileId(0), 0, 0));
                self.report(
                    Diagnostic::error(codes::E0501, span, message).with_help("give it to the function as an argument"),
                );
                FunctionExpr::Constant(0.0)
            }
            other => FunctionExpr::Constant(other.as_number().unwrap_or(0.0)),
        }
    }

    fn is_local_text(&self, expr: &FlatExpr, inside: &Inside<'_>) -> bool {
        expr.type_in_function(self.flat, &inside.types) == ScalarType::String
    }

    fn text_in_function(&mut self, operation: TextOperation, args: Vec<FunctionExpr>) -> FunctionExpr {
        FunctionExpr::Call {
            function: self.text_function(operation),
            output: 0,
            args,
        }
    }

    fn not_in_function(&mut self, what: &str, span: Span) {
        self.report(
            Diagnostic::error(codes::E0501, span, format!("{what} cannot be used in a function"))
                .with_help("functions have no memory and no events: compute the value in the model and pass it"),
        );
    }

    fn function_builtin(
        &mut self,
        builtin: Builtin,
        args: &[FlatExpr],
        span: Span,
        inside: &mut Inside<'_>,
    ) -> FunctionExpr {
        if builtin == Builtin::String {
            let ty = args[0].type_in_function(self.flat, &inside.types);
            let operation = written(self.flat, ty, &args[1..]);
            let value = self.function_expr(&args[0], inside);
            return self.text_in_function(operation, vec![value]);
        }
        let mut lowered = self.function_exprs(args, inside);
        if let Some(operation) = text_builtin(builtin) {
            return self.text_in_function(operation, lowered);
        }
        let unary = match builtin {
            Builtin::Abs => UnaryFunction::Abs,
            Builtin::Sign => UnaryFunction::Sign,
            Builtin::Sqrt => UnaryFunction::Sqrt,
            Builtin::Sin => UnaryFunction::Sin,
            Builtin::Cos => UnaryFunction::Cos,
            Builtin::Tan => UnaryFunction::Tan,
            Builtin::Asin => UnaryFunction::Asin,
            Builtin::Acos => UnaryFunction::Acos,
            Builtin::Atan => UnaryFunction::Atan,
            Builtin::Sinh => UnaryFunction::Sinh,
            Builtin::Cosh => UnaryFunction::Cosh,
            Builtin::Tanh => UnaryFunction::Tanh,
            Builtin::Exp => UnaryFunction::Exp,
            Builtin::Log => UnaryFunction::Log,
            Builtin::Log10 => UnaryFunction::Log10,
            Builtin::Floor | Builtin::Integer => UnaryFunction::Floor,
            Builtin::Ceil => UnaryFunction::Ceil,
            Builtin::Atan2 | Builtin::Min | Builtin::Max | Builtin::Div | Builtin::Mod | Builtin::Rem => {
                let op = match builtin {
                    Builtin::Atan2 => BinaryFunction::Atan2,
                    Builtin::Min => BinaryFunction::Min,
                    Builtin::Max => BinaryFunction::Max,
                    Builtin::Div => BinaryFunction::Quotient,
                    Builtin::Mod => BinaryFunction::Mod,
                    _ => BinaryFunction::Rem,
                };
                let b = lowered.pop().unwrap_or(FunctionExpr::Constant(0.0));
                let a = lowered.pop().unwrap_or(FunctionExpr::Constant(0.0));
                return FunctionExpr::binary(op, a, b);
            }
            Builtin::NoEvent | Builtin::Homotopy | Builtin::Ordinal | Builtin::FromOrdinal => {
                return lowered.swap_remove(0);
            }
            Builtin::Smooth => return lowered.swap_remove(1),
            Builtin::SemiLinear => {
                let (down, up, x) = (
                    lowered.pop().unwrap_or(FunctionExpr::Constant(0.0)),
                    lowered.pop().unwrap_or(FunctionExpr::Constant(0.0)),
                    lowered.pop().unwrap_or(FunctionExpr::Constant(0.0)),
                );
                let binary = FunctionExpr::binary;
                let forward = binary(BinaryFunction::Ge, x.clone(), FunctionExpr::Constant(0.0));
                let slope = FunctionExpr::If(Box::new(forward), Box::new(up), Box::new(down));
                return binary(BinaryFunction::Mul, slope, x);
            }
            _ => {
                self.not_in_function(&format!("`{}`", builtin.name()), span);
                return FunctionExpr::Constant(0.0);
            }
        };
        FunctionExpr::Unary(unary, Box::new(lowered.swap_remove(0)))
    }
}

/// Whether a value is a field that a function left without one.
pub(crate) fn is_blank(value: &FlatExpr) -> bool {
    matches!(value, FlatExpr::Builtin(Builtin::Unset, ..))
}

fn fields_of(function: &FlatFunction) -> FxHashSet<LocalId> {
    function.fields.iter().map(|id| LocalId(id.0)).collect()
}

fn is_order(op: BinaryOp) -> bool {
    op.is_relation() && !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
}

fn lower_derivative(derivative: &flat::FlatDerivative) -> FunctionDerivative {
    FunctionDerivative {
        function: FunctionId(derivative.function.0),
        inputs: derivative
            .inputs
            .iter()
            .map(|input| match *input {
                flat::DerivativeInput::Value(position) => DerivativeInput::Value(position),
                flat::DerivativeInput::Derivative(position) => DerivativeInput::Derivative(position),
            })
            .collect(),
        outputs: derivative.outputs.clone(),
        constant: derivative.constant.clone(),
        linked: derivative.linked.clone(),
    }
}

fn lower_inverse(inverse: &flat::FlatInverse) -> Inverse {
    Inverse {
        argument: inverse.argument,
        function: FunctionId(inverse.function.0),
        inputs: inverse.inputs.clone(),
    }
}

pub(crate) fn plain_operator(op: BinaryOp) -> BinaryFunction {
    match op {
        BinaryOp::Add => BinaryFunction::Add,
        BinaryOp::Subtract => BinaryFunction::Sub,
        BinaryOp::Multiply => BinaryFunction::Mul,
        BinaryOp::Divide => BinaryFunction::Div,
        BinaryOp::Power => BinaryFunction::Pow,
        BinaryOp::And => BinaryFunction::And,
        BinaryOp::Or => BinaryFunction::Or,
        BinaryOp::Less => BinaryFunction::Lt,
        BinaryOp::LessEqual => BinaryFunction::Le,
        BinaryOp::Greater => BinaryFunction::Gt,
        BinaryOp::GreaterEqual => BinaryFunction::Ge,
        BinaryOp::Equal => BinaryFunction::Eq,
        BinaryOp::NotEqual => BinaryFunction::Ne,
    }
}

fn lower_table(table: &flat::FlatTable) -> Table {
    let smoothness = match table.smoothness {
        flat::Smoothness::Linear => Smoothness::Linear,
        flat::Smoothness::Constant => Smoothness::Constant,
        flat::Smoothness::Akima => Smoothness::Akima,
        flat::Smoothness::ModifiedAkima => Smoothness::ModifiedAkima,
        flat::Smoothness::FritschButland => Smoothness::FritschButland,
        flat::Smoothness::Steffen => Smoothness::Steffen,
    };
    let extrapolation = match table.extrapolation {
        flat::Extrapolation::Hold => Extrapolation::Hold,
        flat::Extrapolation::Tangent => Extrapolation::Tangent,
        flat::Extrapolation::Periodic => Extrapolation::Periodic,
        flat::Extrapolation::Forbidden => Extrapolation::Forbidden,
    };
    Table::new(
        table.x.clone(),
        table.y.clone(),
        table.values.clone(),
        smoothness,
        extrapolation,
    )
}
