//! The flat model as readable flat Modelica.

use std::fmt::{self, Write};

use super::{
    AssertLevel, BinaryOp, Builtin, Causality, EquationKind, FlatAlgorithm, FlatEquation, FlatExpr, FlatFunction,
    FlatModel, FlatStatement, FlatVariable, FunctionBody, FunctionStatement, IndexVec, Local, LocalId, Place,
    ScalarType, StateSelect, StatementKind, UnaryOp, Variability, VariableId,
};

impl fmt::Display for FlatModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        Printer {
            model: self,
            locals: None,
            out: &mut text,
        }
        .model()?;
        f.write_str(&text)
    }
}

impl FlatModel {
    /// An expression as Modelica text.
    pub fn expr_text(&self, expr: &FlatExpr) -> String {
        let mut text = String::new();
        let _ = Printer {
            model: self,
            locals: None,
            out: &mut text,
        }
        .expr(expr, 0);
        text
    }

    /// An equation as Modelica text.
    pub fn equation_text(&self, equation: &FlatEquation) -> String {
        let mut text = String::new();
        let _ = Printer {
            model: self,
            locals: None,
            out: &mut text,
        }
        .equation(equation, 0);
        text.trim_end().to_owned()
    }

    /// The name of a type.
    pub fn type_name(&self, ty: ScalarType) -> &str {
        match ty {
            ScalarType::Real => "Real",
            ScalarType::Integer => "Integer",
            ScalarType::Boolean => "Boolean",
            ScalarType::String => "String",
            ScalarType::Enumeration(id) => &self.enumerations[id].name,
            ScalarType::Clock => "Clock",
        }
    }
}

struct Printer<'a> {
    model: &'a FlatModel,
    locals: Option<&'a IndexVec<LocalId, Local>>,
    out: &'a mut String,
}

/// Binding strength of operators, as in the grammar.
fn strength(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        op if op.is_relation() => 4,
        BinaryOp::Add | BinaryOp::Subtract => 5,
        BinaryOp::Multiply | BinaryOp::Divide => 6,
        _ => 7,
    }
}

impl Printer<'_> {
    fn model(&mut self) -> fmt::Result {
        let model = self.model;
        writeln!(self.out, "model {}", quoted(&model.name))?;
        for enumeration in model.enumerations.iter() {
            let literals: Vec<&str> = enumeration.literals.iter().map(|l| &**l).collect();
            let name = quoted(&enumeration.name);
            writeln!(self.out, "  type {name} = enumeration({});", literals.join(", "))?;
        }
        for function in model.functions.iter() {
            self.function(function)?;
        }
        for variable in model.variables.iter() {
            self.variable(variable)?;
        }
        self.section("equation", &model.equations)?;
        self.section("initial equation", &model.initial_equations)?;
        self.algorithms("algorithm", &model.algorithms)?;
        self.algorithms("initial algorithm", &model.initial_algorithms)?;
        self.experiment()?;
        writeln!(self.out, "end {};", quoted(&model.name))
    }

    fn experiment(&mut self) -> fmt::Result {
        let experiment = &self.model.experiment;
        let parts: Vec<String> = [
            ("StartTime", experiment.start_time),
            ("StopTime", experiment.stop_time),
            ("Tolerance", experiment.tolerance),
            ("Interval", experiment.interval),
        ]
        .iter()
        .filter_map(|(name, value)| value.map(|value| format!("{name}={value:?}")))
        .collect();
        if !parts.is_empty() {
            writeln!(self.out, "  annotation(experiment({}));", parts.join(", "))?;
        }
        Ok(())
    }

    fn variable(&mut self, variable: &FlatVariable) -> fmt::Result {
        self.out.push_str("  ");
        if variable.protected {
            self.out.push_str("protected ");
        }
        match variable.causality {
            Causality::Input => self.out.push_str("input "),
            Causality::Output => self.out.push_str("output "),
            Causality::Internal => {}
        }
        self.out.push_str(match variable.variability {
            Variability::Constant => "constant ",
            Variability::Parameter => "parameter ",
            Variability::Discrete if variable.ty == ScalarType::Real => "discrete ",
            _ => "",
        });
        let type_name = quoted(self.model.type_name(variable.ty));
        write!(self.out, "{type_name} {}", variable.name)?;
        self.attributes(variable)?;
        if let Some(binding) = &variable.binding {
            self.out.push_str(" = ");
            self.expr(binding, 0)?;
        }
        if let Some(description) = &variable.attributes.description {
            write!(self.out, " {}", string_literal(description))?;
        }
        self.out.push_str(";\n");
        Ok(())
    }

    fn attributes(&mut self, variable: &FlatVariable) -> fmt::Result {
        let attributes = &variable.attributes;
        let mut parts: Vec<String> = Vec::new();
        for (name, value) in [
            ("quantity", &attributes.quantity),
            ("unit", &attributes.unit),
            ("displayUnit", &attributes.display_unit),
        ] {
            parts.extend(value.as_ref().map(|v| format!("{name}={}", string_literal(v))));
        }
        for (name, value) in [
            ("min", &attributes.min),
            ("max", &attributes.max),
            ("start", &variable.start),
            ("nominal", &attributes.nominal),
        ] {
            parts.extend(value.as_ref().map(|e| format!("{name}={}", self.model.expr_text(e))));
        }
        parts.extend(variable.fixed.map(|fixed| format!("fixed={fixed}")));
        let state_select = match attributes.state_select {
            StateSelect::Never => Some("never"),
            StateSelect::Avoid => Some("avoid"),
            StateSelect::Default => None,
            StateSelect::Prefer => Some("prefer"),
            StateSelect::Always => Some("always"),
        };
        parts.extend(state_select.map(|s| format!("stateSelect=StateSelect.{s}")));
        if !parts.is_empty() {
            write!(self.out, "({})", parts.join(", "))?;
        }
        Ok(())
    }

    fn section(&mut self, title: &str, equations: &[FlatEquation]) -> fmt::Result {
        if equations.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "{title}")?;
        equations.iter().try_for_each(|equation| self.equation(equation, 1))
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.out.push_str("  ");
        }
    }

    fn equations(&mut self, equations: &[FlatEquation], depth: usize) -> fmt::Result {
        equations.iter().try_for_each(|equation| self.equation(equation, depth))
    }

    fn equation(&mut self, equation: &FlatEquation, depth: usize) -> fmt::Result {
        self.indent(depth);
        match &equation.kind {
            EquationKind::Equal(lhs, rhs) => {
                self.expr(lhs, 0)?;
                self.out.push_str(" = ");
                self.expr(rhs, 0)?;
            }
            EquationKind::If { branches, otherwise } => {
                let branches = branches.iter().map(|branch| (&branch.condition, &branch.body[..]));
                self.if_text(branches, otherwise, depth, Self::equations)?;
            }
            EquationKind::When { branches } => {
                let branches = branches.iter().map(|branch| (&branch.conditions[..], &branch.body[..]));
                self.when_text(branches, depth, Self::equations)?;
            }
            EquationKind::Reinit(variable, value) => self.reinit(*variable, value)?,
            EquationKind::Assert {
                condition,
                message,
                level,
            } => {
                self.assertion(condition, message, *level)?;
            }
            EquationKind::Terminate(message) => self.call_text("terminate", &[message])?,
            EquationKind::NoReturnCall(call) => self.expr(call, 0)?,
        }
        self.out.push_str(";\n");
        Ok(())
    }

    /// `if … then … elseif … else … end if`, behind the indentation of its first line.
    fn if_text<'e, T: 'e>(
        &mut self,
        branches: impl Iterator<Item = (&'e FlatExpr, &'e [T])>,
        otherwise: &[T],
        depth: usize,
        body: impl Fn(&mut Self, &[T], usize) -> fmt::Result,
    ) -> fmt::Result {
        for (i, (condition, inner)) in branches.enumerate() {
            if i > 0 {
                self.indent(depth);
            }
            self.out.push_str(if i == 0 { "if " } else { "elseif " });
            self.expr(condition, 0)?;
            self.out.push_str(" then\n");
            body(self, inner, depth + 1)?;
        }
        if !otherwise.is_empty() {
            self.indent(depth);
            self.out.push_str("else\n");
            body(self, otherwise, depth + 1)?;
        }
        self.indent(depth);
        self.out.push_str("end if");
        Ok(())
    }

    fn when_text<'e, T: 'e>(
        &mut self,
        branches: impl Iterator<Item = (&'e [FlatExpr], &'e [T])>,
        depth: usize,
        body: impl Fn(&mut Self, &[T], usize) -> fmt::Result,
    ) -> fmt::Result {
        for (i, (conditions, inner)) in branches.enumerate() {
            if i > 0 {
                self.indent(depth);
            }
            self.when_head(i, conditions)?;
            body(self, inner, depth + 1)?;
        }
        self.indent(depth);
        self.out.push_str("end when");
        Ok(())
    }

    fn when_head(&mut self, position: usize, conditions: &[FlatExpr]) -> fmt::Result {
        self.out.push_str(if position == 0 { "when " } else { "elsewhen " });
        if let [condition] = conditions {
            self.expr(condition, 0)?;
        } else {
            self.out.push('{');
            self.list(conditions.iter())?;
            self.out.push('}');
        }
        self.out.push_str(" then\n");
        Ok(())
    }

    fn reinit(&mut self, variable: super::VariableId, value: &FlatExpr) -> fmt::Result {
        write!(self.out, "reinit({}, ", self.model.variables[variable].name)?;
        self.expr(value, 0)?;
        self.out.push(')');
        Ok(())
    }

    fn assertion(&mut self, condition: &FlatExpr, message: &FlatExpr, level: AssertLevel) -> fmt::Result {
        self.out.push_str("assert(");
        self.list([condition, message].into_iter())?;
        if level == AssertLevel::Warning {
            self.out.push_str(", AssertionLevel.warning");
        }
        self.out.push(')');
        Ok(())
    }

    fn call_text(&mut self, name: &str, args: &[&FlatExpr]) -> fmt::Result {
        write!(self.out, "{name}(")?;
        self.list(args.iter().copied())?;
        self.out.push(')');
        Ok(())
    }

    fn algorithms(&mut self, title: &str, algorithms: &[FlatAlgorithm]) -> fmt::Result {
        for algorithm in algorithms {
            writeln!(self.out, "{title}")?;
            self.statements(&algorithm.statements, 1)?;
        }
        Ok(())
    }

    fn statements(&mut self, statements: &[FlatStatement], depth: usize) -> fmt::Result {
        statements
            .iter()
            .try_for_each(|statement| self.statement(statement, depth))
    }

    fn statement(&mut self, statement: &FlatStatement, depth: usize) -> fmt::Result {
        self.indent(depth);
        match &statement.kind {
            StatementKind::Assign(list) => self.assignment(list)?,
            StatementKind::If { branches, otherwise } => {
                let branches = branches.iter().map(|branch| (&branch.condition, &branch.body[..]));
                self.if_text(branches, otherwise, depth, Self::statements)?;
            }
            StatementKind::While(condition, body) => {
                self.out.push_str("while ");
                self.expr(condition, 0)?;
                self.out.push_str(" loop\n");
                self.statements(body, depth + 1)?;
                self.indent(depth);
                self.out.push_str("end while");
            }
            StatementKind::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                self.loop_head(*counter, [from, step, to])?;
                self.statements(body, depth + 1)?;
                self.indent(depth);
                self.out.push_str("end for");
            }
            StatementKind::When { branches } => {
                let branches = branches.iter().map(|(conditions, body)| (&conditions[..], &body[..]));
                self.when_text(branches, depth, Self::statements)?;
            }
            StatementKind::Assert {
                condition,
                message,
                level,
            } => {
                self.assertion(condition, message, *level)?;
            }
            StatementKind::Terminate(message) => self.call_text("terminate", &[message])?,
            StatementKind::NoReturnCall(call) => self.expr(call, 0)?,
            StatementKind::Break => self.out.push_str("break"),
            StatementKind::Return => self.out.push_str("return"),
        }
        self.out.push_str(";\n");
        Ok(())
    }

    fn function(&mut self, function: &FlatFunction) -> fmt::Result {
        let name = quoted(&function.name);
        writeln!(self.out, "  function {name}")?;
        for (id, local) in function.locals.iter_enumerated() {
            let role = if function.inputs.contains(&id) {
                "input "
            } else if function.outputs.contains(&id) {
                "output "
            } else {
                "protected "
            };
            write!(
                self.out,
                "    {role}{} {}",
                quoted(self.model.type_name(local.ty)),
                local.name
            )?;
            if !local.dims.is_empty() {
                let dims: Vec<String> = local.dims.iter().map(u32::to_string).collect();
                write!(self.out, "[{}]", dims.join(", "))?;
            }
            self.out.push_str(";\n");
        }
        match &function.body {
            FunctionBody::Algorithm(statements) => {
                self.out.push_str("  algorithm\n");
                let mut inner = Printer {
                    model: self.model,
                    locals: Some(&function.locals),
                    out: self.out,
                };
                inner.function_statements(statements, 2)?;
            }
            FunctionBody::Foreign(call) => {
                writeln!(self.out, "    // {:?} of unit {}", call.operation, call.unit.file)?;
            }
            FunctionBody::Table(table) => {
                let (rows, columns) = (table.x.len(), table.y.len().max(1));
                writeln!(
                    self.out,
                    "    // table of {rows} x {columns} points, {:?}, {:?}",
                    table.smoothness, table.extrapolation
                )?;
            }
            FunctionBody::Routine(call) => writeln!(self.out, "    external {};", call.callee.name())?,
        }
        writeln!(self.out, "  end {name};")
    }

    fn function_statements(&mut self, statements: &[FunctionStatement], depth: usize) -> fmt::Result {
        statements
            .iter()
            .try_for_each(|statement| self.function_statement(statement, depth))
    }

    fn place(&mut self, place: &Place) -> fmt::Result {
        self.local(place.local, &place.indices)
    }

    fn local(&mut self, local: LocalId, indices: &[FlatExpr]) -> fmt::Result {
        match self.locals.and_then(|locals| locals.get(local)) {
            Some(local) => self.out.push_str(&local.name),
            None => write!(self.out, "local{}", local.0)?,
        }
        if !indices.is_empty() {
            self.out.push('[');
            self.list(indices.iter())?;
            self.out.push(']');
        }
        Ok(())
    }

    fn function_statement(&mut self, statement: &FunctionStatement, depth: usize) -> fmt::Result {
        self.indent(depth);
        match statement {
            FunctionStatement::Assign(place, value) => {
                self.place(place)?;
                self.out.push_str(" := ");
                self.expr(value, 0)?;
            }
            FunctionStatement::CallAssign {
                function,
                arguments,
                targets,
            } => {
                self.out.push('(');
                for (i, (output, place)) in targets.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.place(place)?;
                    write!(self.out, " /*{output}*/")?;
                }
                write!(self.out, ") := {}(", quoted(&self.model.functions[*function].name))?;
                self.list(arguments.iter())?;
                self.out.push(')');
            }
            FunctionStatement::Allocate(local, sizes) => {
                self.out.push_str("// of size ");
                self.local(*local, sizes)?;
            }
            FunctionStatement::If(branches, otherwise) => {
                let branches = branches.iter().map(|(condition, body)| (condition, &body[..]));
                self.if_text(branches, otherwise, depth, Self::function_statements)?;
            }
            FunctionStatement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                self.loop_head(*counter, [from, step, to])?;
                self.function_statements(body, depth + 1)?;
                self.indent(depth);
                self.out.push_str("end for");
            }
            FunctionStatement::While(condition, body) => {
                self.out.push_str("while ");
                self.expr(condition, 0)?;
                self.out.push_str(" loop\n");
                self.function_statements(body, depth + 1)?;
                self.indent(depth);
                self.out.push_str("end while");
            }
            FunctionStatement::Break => self.out.push_str("break"),
            FunctionStatement::Return => self.out.push_str("return"),
            FunctionStatement::Assert(condition, message) => self.assertion(condition, message, AssertLevel::Error)?,
            FunctionStatement::Warn(condition, message) => self.assertion(condition, message, AssertLevel::Warning)?,
        }
        self.out.push_str(";\n");
        Ok(())
    }

    fn loop_head(&mut self, counter: LocalId, [from, step, to]: [&FlatExpr; 3]) -> fmt::Result {
        self.out.push_str("for ");
        self.local(counter, &[])?;
        self.out.push_str(" in ");
        self.expr(from, 5)?;
        self.out.push(':');
        self.expr(step, 5)?;
        self.out.push(':');
        self.expr(to, 5)?;
        self.out.push_str(" loop\n");
        Ok(())
    }

    /// `x := e`, or `{x, y} := {e, f}`.
    fn assignment(&mut self, list: &[(VariableId, FlatExpr)]) -> fmt::Result {
        if let [(variable, value)] = list {
            write!(self.out, "{} := ", self.model.variables[*variable].name)?;
            return self.expr(value, 0);
        }
        let names: Vec<&str> = list.iter().map(|(v, _)| &*self.model.variables[*v].name).collect();
        write!(self.out, "{{{}}} := {{", names.join(", "))?;
        self.list(list.iter().map(|(_, value)| value))?;
        self.out.push('}');
        Ok(())
    }

    fn list<'e>(&mut self, items: impl Iterator<Item = &'e FlatExpr>) -> fmt::Result {
        for (i, item) in items.enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.expr(item, 0)?;
        }
        Ok(())
    }

    /// Prints with parentheses if the context binds more strongly.
    fn expr(&mut self, expr: &FlatExpr, context: u8) -> fmt::Result {
        let own = match expr {
            FlatExpr::Binary(op, ..) => strength(*op),
            FlatExpr::Unary(UnaryOp::Not, _) => 3,
            FlatExpr::Unary(UnaryOp::Negate, _) => 5,
            FlatExpr::Real(value) if value.is_sign_negative() => 5,
            FlatExpr::Integer(value) if *value < 0 => 5,
            FlatExpr::If(..) => 0,
            _ => 8,
        };
        let parentheses = own < context;
        if parentheses {
            self.out.push('(');
        }
        self.bare_expr(expr, own)?;
        if parentheses {
            self.out.push(')');
        }
        Ok(())
    }

    fn bare_expr(&mut self, expr: &FlatExpr, own: u8) -> fmt::Result {
        match expr {
            FlatExpr::Real(value) => write!(self.out, "{value:?}")?,
            FlatExpr::Integer(value) => write!(self.out, "{value}")?,
            FlatExpr::Boolean(value) => write!(self.out, "{value}")?,
            FlatExpr::String(value) => self.out.push_str(&string_literal(value)),
            FlatExpr::Enumeration(id, ordinal) => {
                let enumeration = &self.model.enumerations[*id];
                let literal = enumeration.literals.get((*ordinal as usize).wrapping_sub(1));
                let name = quoted(&enumeration.name);
                write!(self.out, "{name}.{}", literal.map_or("?", |l| l))?;
            }
            FlatExpr::Variable(id) => self.out.push_str(&self.model.variables[*id].name),
            FlatExpr::Time => self.out.push_str("time"),
            FlatExpr::Unary(op, operand) => {
                self.out.push_str(if *op == UnaryOp::Not { "not " } else { "-" });
                self.expr(operand, if *op == UnaryOp::Not { 4 } else { 6 })?;
            }
            FlatExpr::Binary(op, operands, _) => {
                // Relations and powers do not associate; the others associate to the left.
                let left = if op.is_relation() || *op == BinaryOp::Power {
                    own + 1
                } else {
                    own
                };
                self.expr(&operands[0], left)?;
                write!(self.out, " {} ", op.as_str())?;
                self.expr(&operands[1], own + 1)?;
            }
            FlatExpr::If(parts, _) => {
                self.out.push_str("if ");
                self.expr(&parts[0], 0)?;
                self.out.push_str(" then ");
                self.expr(&parts[1], 0)?;
                self.out.push_str(" else ");
                self.expr(&parts[2], 0)?;
            }
            FlatExpr::Builtin(builtin, args, _) => {
                let written = match builtin {
                    Builtin::ClockedSample => Builtin::Sample,
                    other => *other,
                };
                write!(self.out, "{}(", written.name())?;
                self.list(args.iter())?;
                self.out.push(')');
            }
            FlatExpr::Call(call) => {
                let function = &self.model.functions[call.function];
                write!(self.out, "{}(", quoted(&function.name))?;
                self.list(call.arguments.iter())?;
                self.out.push(')');
                if !call.partials.is_empty() {
                    write!(self.out, "/* by arguments {:?} */", call.partials)?;
                }
                if function.output_size() > 1 {
                    write!(self.out, "/*{}*/", call.output + 1)?;
                }
            }
            FlatExpr::Local(local, indices) => self.local(*local, indices)?,
        }
        Ok(())
    }
}

/// A string as a literal of the language.
pub(super) fn string_literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\t' => literal.push_str("\\t"),
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

/// A dotted name as one identifier.
/// The name of a function; what fails in place of a value has none of its own.
fn quoted(name: &str) -> String {
    if name.is_empty() {
        return "missing".to_owned();
    }
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', "\\'"))
    }
}
