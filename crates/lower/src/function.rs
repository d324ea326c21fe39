//! Functions: the same algorithm in the terms of the multi-mode DAE.

use std::sync::Arc;

use saltus_lang::flat::{
    self, BinaryOp as FlatBinary, Builtin, FlatExpr, FlatFunction, FunctionBody, FunctionStatement,
    UnaryOp as FlatUnary,
};
use saltus_mdae::function::{
    Body, Derivative, DerivativeInput, Function, FunctionExpr, Inverse, Local, LocalId, Place, Statement,
};
use saltus_mdae::table::{Extrapolation, Smoothness, Table};
use saltus_mdae::{BinaryOp, FunctionId, Type, UnaryOp};
use saltus_source::{Diagnostic, codes};

use crate::variables::type_of;
use crate::{Lowering, Meaning};

impl Lowering<'_> {
    pub(crate) fn lower_functions(&mut self) {
        for (id, function) in self.flat.functions.iter_enumerated() {
            self.reads_text = false;
            let lowered = self.function(function);
            self.model.functions.push(lowered);
            if self.reads_text {
                self.text_readers.insert(id);
            }
        }
    }

    fn function(&mut self, function: &FlatFunction) -> Function {
        let origin = self.origin(function.provenance);
        let locals = function
            .locals
            .iter()
            .map(|local| Local {
                name: local.name.clone(),
                ty: type_of(local.ty).unwrap_or(Type::Integer),
                dims: local.dims.clone(),
            })
            .collect();
        let body = match &function.body {
            FunctionBody::Algorithm(statements) => Body::Algorithm(self.block(statements, function)),
            FunctionBody::Table(table) => Body::Table(Arc::new(lower_table(table))),
        };
        Function {
            name: function.name.clone(),
            locals,
            inputs: function.inputs.iter().map(|id| LocalId(id.0)).collect(),
            outputs: function.outputs.iter().map(|id| LocalId(id.0)).collect(),
            body,
            derivatives: function.derivatives.iter().map(lower_derivative).collect(),
            inverses: function.inverses.iter().map(lower_inverse).collect(),
            origin,
        }
    }

    fn block(&mut self, statements: &[FunctionStatement], function: &FlatFunction) -> Vec<Statement> {
        statements
            .iter()
            .map(|statement| self.function_statement(statement, function))
            .collect()
    }

    fn function_statement(&mut self, statement: &FunctionStatement, function: &FlatFunction) -> Statement {
        match statement {
            FunctionStatement::Assign(place, value) => {
                Statement::Assign(self.place(place, function), self.function_expr(value, function))
            }
            FunctionStatement::CallAssign {
                function: callee,
                arguments,
                targets,
            } => Statement::CallAssign {
                function: FunctionId(callee.0),
                args: arguments.iter().map(|arg| self.function_expr(arg, function)).collect(),
                targets: targets
                    .iter()
                    .map(|(output, place)| (*output, self.place(place, function)))
                    .collect(),
            },
            FunctionStatement::If(branches, otherwise) => Statement::If(
                branches
                    .iter()
                    .map(|(condition, body)| (self.function_expr(condition, function), self.block(body, function)))
                    .collect(),
                self.block(otherwise, function),
            ),
            FunctionStatement::For {
                counter,
                from,
                step,
                to,
                body,
            } => Statement::For {
                counter: LocalId(counter.0),
                from: self.function_expr(from, function),
                step: self.function_expr(step, function),
                to: self.function_expr(to, function),
                body: self.block(body, function),
            },
            FunctionStatement::While(condition, body) => {
                Statement::While(self.function_expr(condition, function), self.block(body, function))
            }
            FunctionStatement::Break => Statement::Break,
            FunctionStatement::Return => Statement::Return,
            FunctionStatement::Assert(condition, message) => {
                Statement::Assert(self.function_expr(condition, function), message.clone())
            }
        }
    }

    fn place(&mut self, place: &flat::Place, function: &FlatFunction) -> Place {
        let indices = place
            .indices
            .iter()
            .map(|index| self.function_expr(index, function))
            .collect();
        Place {
            local: LocalId(place.local.0),
            indices,
        }
    }

    fn function_expr(&mut self, expr: &FlatExpr, function: &FlatFunction) -> FunctionExpr {
        match expr {
            FlatExpr::Local(local, indices) => {
                self.reads_text |= function.locals[*local].ty == flat::ScalarType::String;
                let indices = indices
                    .iter()
                    .map(|index| self.function_expr(index, function))
                    .collect();
                FunctionExpr::Read(Place {
                    local: LocalId(local.0),
                    indices,
                })
            }
            FlatExpr::Unary(op, a) => {
                let op = if *op == FlatUnary::Not {
                    UnaryOp::Not
                } else {
                    UnaryOp::Neg
                };
                FunctionExpr::Unary(op, Box::new(self.function_expr(a, function)))
            }
            FlatExpr::Binary(op, operands, span) if is_order(*op) && self.is_local_text(&operands[0], function) => {
                self.text_in_function(function, *span);
                FunctionExpr::Constant(0.0)
            }
            FlatExpr::Binary(op, operands, _) => {
                let (a, b) = (
                    self.function_expr(&operands[0], function),
                    self.function_expr(&operands[1], function),
                );
                FunctionExpr::Binary(plain_operator(*op), Box::new(a), Box::new(b))
            }
            FlatExpr::If(parts, _) => FunctionExpr::If(
                Box::new(self.function_expr(&parts[0], function)),
                Box::new(self.function_expr(&parts[1], function)),
                Box::new(self.function_expr(&parts[2], function)),
            ),
            FlatExpr::Call(call) => FunctionExpr::Call {
                function: FunctionId(call.function.0),
                output: call.output,
                args: call
                    .arguments
                    .iter()
                    .map(|arg| self.function_expr(arg, function))
                    .collect(),
            },
            FlatExpr::Builtin(builtin, args, span) => self.function_builtin(*builtin, args, *span, function),
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
                            function.name
                        ),
                    ));
                    FunctionExpr::Constant(0.0)
                }
            },
            FlatExpr::String(text) => FunctionExpr::Constant(self.text_number(text) as f64),
            FlatExpr::Time => {
                let message = format!("function `{}` reads `time`", function.name);
                self.report(
                    Diagnostic::error(codes::E0501, self.flat.provenances[function.provenance].span, message)
                        .with_help("give it to the function as an argument"),
                );
                FunctionExpr::Constant(0.0)
            }
            other => FunctionExpr::Constant(other.as_number().unwrap_or(0.0)),
        }
    }

    fn is_local_text(&self, expr: &FlatExpr, function: &FlatFunction) -> bool {
        let types: Vec<flat::ScalarType> = function.locals.iter().map(|local| local.ty).collect();
        expr.type_in_function(self.flat, &types) == flat::ScalarType::String
    }

    fn text_in_function(&mut self, function: &FlatFunction, span: saltus_source::Span) {
        self.report(
            Diagnostic::error(
                codes::E0501,
                span,
                format!("function `{}` compares the order of strings", function.name),
            )
            .with_help("use an enumeration or an Integer instead of the String"),
        );
    }

    fn function_builtin(
        &mut self,
        builtin: Builtin,
        args: &[FlatExpr],
        span: saltus_source::Span,
        function: &FlatFunction,
    ) -> FunctionExpr {
        let mut lowered: Vec<FunctionExpr> = args.iter().map(|arg| self.function_expr(arg, function)).collect();
        let unary = match builtin {
            Builtin::Abs => UnaryOp::Abs,
            Builtin::Sign => UnaryOp::Sign,
            Builtin::Sqrt => UnaryOp::Sqrt,
            Builtin::Sin => UnaryOp::Sin,
            Builtin::Cos => UnaryOp::Cos,
            Builtin::Tan => UnaryOp::Tan,
            Builtin::Asin => UnaryOp::Asin,
            Builtin::Acos => UnaryOp::Acos,
            Builtin::Atan => UnaryOp::Atan,
            Builtin::Sinh => UnaryOp::Sinh,
            Builtin::Cosh => UnaryOp::Cosh,
            Builtin::Tanh => UnaryOp::Tanh,
            Builtin::Exp => UnaryOp::Exp,
            Builtin::Log => UnaryOp::Log,
            Builtin::Log10 => UnaryOp::Log10,
            Builtin::Floor | Builtin::Integer => UnaryOp::Floor,
            Builtin::Ceil => UnaryOp::Ceil,
            Builtin::Atan2 | Builtin::Min | Builtin::Max | Builtin::Div | Builtin::Mod | Builtin::Rem => {
                let op = match builtin {
                    Builtin::Atan2 => BinaryOp::Atan2,
                    Builtin::Min => BinaryOp::Min,
                    Builtin::Max => BinaryOp::Max,
                    Builtin::Div => BinaryOp::Quotient,
                    Builtin::Mod => BinaryOp::Mod,
                    _ => BinaryOp::Rem,
                };
                let b = lowered.pop().unwrap_or(FunctionExpr::Constant(0.0));
                let a = lowered.pop().unwrap_or(FunctionExpr::Constant(0.0));
                return FunctionExpr::Binary(op, Box::new(a), Box::new(b));
            }
            Builtin::NoEvent | Builtin::Homotopy | Builtin::Ordinal | Builtin::FromOrdinal => {
                return lowered.swap_remove(0);
            }
            Builtin::Smooth => return lowered.swap_remove(1),
            Builtin::String => return FunctionExpr::Constant(0.0),
            _ => {
                self.report(
                    Diagnostic::error(
                        codes::E0501,
                        span,
                        format!("`{}` cannot be used in a function", builtin.name()),
                    )
                    .with_help("functions have no memory and no events: compute the value in the model and pass it"),
                );
                return FunctionExpr::Constant(0.0);
            }
        };
        FunctionExpr::Unary(unary, Box::new(lowered.swap_remove(0)))
    }
}

/// Texts are numbers in functions, which tell whether they are equal.
fn is_order(op: FlatBinary) -> bool {
    op.is_relation() && !matches!(op, FlatBinary::Equal | FlatBinary::NotEqual)
}

fn lower_derivative(derivative: &flat::FlatDerivative) -> Derivative {
    Derivative {
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

fn plain_operator(op: FlatBinary) -> BinaryOp {
    match op {
        FlatBinary::Add => BinaryOp::Add,
        FlatBinary::Subtract => BinaryOp::Sub,
        FlatBinary::Multiply => BinaryOp::Mul,
        FlatBinary::Divide => BinaryOp::Div,
        FlatBinary::Power => BinaryOp::Pow,
        FlatBinary::And => BinaryOp::And,
        FlatBinary::Or => BinaryOp::Or,
        FlatBinary::Less => BinaryOp::Lt,
        FlatBinary::LessEqual => BinaryOp::Le,
        FlatBinary::Greater => BinaryOp::Gt,
        FlatBinary::GreaterEqual => BinaryOp::Ge,
        FlatBinary::Equal => BinaryOp::Eq,
        FlatBinary::NotEqual => BinaryOp::Ne,
    }
}

fn lower_table(table: &flat::Table) -> Table {
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
