//! Readable printing of expressions and models, in the user's names.

use rustc_hash::FxHashMap;

use crate::expr::{BinaryFunction, ExprPool, Node, UnaryFunction};
use crate::index::ExprId;
use crate::model::{Action, ConditionKind, Mdae, Role};

/// What the printer needs to know: names of variables, functions and texts of conditions.
pub trait Names {
    /// A variable's name.
    fn variable(&self, var: crate::VarId) -> &str;
    /// The name of a derivative of a variable.
    fn derivative(&self, var: crate::VarId, order: u16) -> String {
        derivative_name(self.variable(var), order)
    }
    /// A condition's text.
    fn condition(&self, condition: crate::ConditionId) -> &str;
    /// A function's name.
    fn function(&self, function: crate::FunctionId) -> &str;
}

impl Names for Mdae {
    fn variable(&self, var: crate::VarId) -> &str {
        &self.variables[var].name
    }
    fn condition(&self, condition: crate::ConditionId) -> &str {
        &self.conditions[condition].text
    }
    fn function(&self, function: crate::FunctionId) -> &str {
        &self.functions[function].name
    }
}

/// The names of a model in which a derivative goes by the variable that was eliminated in its favour: `v` instead of
/// `der(x)` where the user wrote `der(x) = v`, and then `der(v)` instead of `der(x, 2)`.
#[derive(Debug)]
pub struct UserNames<'m> {
    model: &'m Mdae,
    derivatives: FxHashMap<(crate::VarId, u16), &'m str>,
}

impl<'m> UserNames<'m> {
    /// The names of a model.
    pub fn new(model: &'m Mdae) -> Self {
        let aliases = model.aliases.iter().filter(|alias| alias.order > 0 && !alias.negated);
        let mut derivatives: FxHashMap<(crate::VarId, u16), &str> = FxHashMap::default();
        let depth = |name: &str| name.bytes().filter(|&byte| byte == b'.').count();
        for alias in aliases {
            let name = &*alias.variable.name;
            let known = derivatives.entry((alias.target, alias.order)).or_insert(name);
            // Variables of outer components name a derivative best.
            if depth(name) < depth(known) {
                *known = name;
            }
        }
        UserNames { model, derivatives }
    }
    /// The model.
    pub fn model(&self) -> &'m Mdae {
        self.model
    }
    /// The variable of the text, up to its sign, that a derivative is; the variable itself for order zero.
    pub fn variable_of(&self, var: crate::VarId, order: u16) -> Option<&str> {
        if order == 0 {
            return Some(self.variable(var));
        }
        let same = |alias: &&crate::Alias| (alias.target, alias.order) == (var, order);
        self.model.aliases.iter().find(same).map(|alias| &*alias.variable.name)
    }
    /// The name of a derivative as such, also where a variable stands for it: `der(x)` beside `v`, but `der(v)` rather
    /// than `der(x, 2)`.
    pub fn as_derivative(&self, var: crate::VarId, order: u16) -> String {
        self.derivative_above(var, order, order.saturating_sub(1))
    }
    /// Names the derivative by the variable that stands for the highest one of order `most` or less.
    fn derivative_above(&self, var: crate::VarId, order: u16, most: u16) -> String {
        let known = |below: u16| Some((self.derivatives.get(&(var, below))?, order - below));
        match (1..=most).rev().find_map(known) {
            Some((name, rest)) => derivative_name(name, rest),
            None => derivative_name(self.variable(var), order),
        }
    }
}

impl Names for UserNames<'_> {
    fn variable(&self, var: crate::VarId) -> &str {
        self.model.variable(var)
    }
    fn derivative(&self, var: crate::VarId, order: u16) -> String {
        self.derivative_above(var, order, order)
    }
    fn condition(&self, condition: crate::ConditionId) -> &str {
        self.model.condition(condition)
    }
    fn function(&self, function: crate::FunctionId) -> &str {
        self.model.function(function)
    }
}

/// `x`, `der(x)`, `der(x, 2)`.
pub fn derivative_name(name: &str, order: u16) -> String {
    match order {
        0 => name.to_string(),
        1 => format!("der({name})"),
        _ => format!("der({name}, {order})"),
    }
}

/// Expressions longer than this are cut in reports.
const LENGTH_LIMIT: usize = 4000;
/// Nesting deeper than this is shown as `…`.
const DEPTH_LIMIT: u32 = 200;

/// What a text may take.
#[derive(Copy, Clone)]
struct Limits {
    length: usize,
    depth: u32,
}

/// For people.
const READABLE: Limits = Limits {
    length: LENGTH_LIMIT,
    depth: DEPTH_LIMIT,
};

/// For machines.
const IN_FULL: Limits = Limits {
    length: 1 << 22,
    depth: 1000,
};

/// The text of an expression.
pub fn expression(pool: &ExprPool, names: &dyn Names, id: ExprId) -> String {
    let mut out = String::new();
    write_expr(pool, names, id, (0, READABLE), &mut out);
    out
}

/// The text of an expression, of which nothing is left out; `None` if it is too long for that.
pub fn expression_in_full(pool: &ExprPool, names: &dyn Names, id: ExprId) -> Option<String> {
    let mut out = String::new();
    write_expr(pool, names, id, (0, IN_FULL), &mut out);
    (!out.contains('…')).then_some(out)
}

fn precedence(op: BinaryFunction) -> Option<(u8, &'static str)> {
    Some(match op {
        BinaryFunction::Or => (1, " or "),
        BinaryFunction::And => (2, " and "),
        BinaryFunction::Lt => (4, " < "),
        BinaryFunction::Le => (4, " <= "),
        BinaryFunction::Gt => (4, " > "),
        BinaryFunction::Ge => (4, " >= "),
        BinaryFunction::Eq => (4, " == "),
        BinaryFunction::Ne => (4, " <> "),
        BinaryFunction::Add => (5, " + "),
        BinaryFunction::Sub => (5, " - "),
        BinaryFunction::Mul => (6, "*"),
        BinaryFunction::Div => (6, "/"),
        BinaryFunction::Pow => (8, "^"),
        _ => return None,
    })
}

fn binary_name(op: BinaryFunction) -> &'static str {
    match op {
        BinaryFunction::Atan2 => "atan2",
        BinaryFunction::Min => "min",
        BinaryFunction::Max => "max",
        BinaryFunction::Mod => "mod",
        BinaryFunction::Rem => "rem",
        _ => "div",
    }
}

fn unary_name(op: UnaryFunction) -> String {
    format!("{op:?}").to_lowercase()
}

/// A product with a negative number, as that number without its sign and the rest.
fn negative_term(pool: &ExprPool, id: ExprId) -> Option<(f64, ExprId)> {
    let Node::Binary(BinaryFunction::Mul, a, rest) = pool.node(id) else {
        return None;
    };
    let factor = pool.constant(a).filter(|factor| *factor < 0.0)?;
    Some((-factor, rest))
}

/// Writes an expression in the place of an operand of precedence `outer`, as far as the limits that are left allow.
fn write_expr(pool: &ExprPool, names: &dyn Names, id: ExprId, (outer, limits): (u8, Limits), out: &mut String) {
    let Some(depth) = limits.depth.checked_sub(1).filter(|_| out.len() <= limits.length) else {
        out.push('…');
        return;
    };
    let sub = |id, outer, out: &mut String| write_expr(pool, names, id, (outer, Limits { depth, ..limits }), out);
    match pool.node(id) {
        Node::Real(bits) if bits.get() < 0.0 && outer > 5 => out.push_str(&format!("({})", bits.get())),
        Node::Real(bits) => out.push_str(&format!("{}", bits.get())),
        Node::Integer(value) => out.push_str(&format!("{value}")),
        Node::Boolean(value) => out.push_str(&format!("{value}")),
        Node::Var { var, order } => out.push_str(&names.derivative(var, order)),
        Node::Pre { var, order } => out.push_str(&format!("pre({})", names.derivative(var, order))),
        Node::Time => out.push_str("time"),
        Node::Condition(condition) => out.push_str(&format!("({})", names.condition(condition))),
        Node::Initial => out.push_str("initial()"),
        Node::Terminal => out.push_str("terminal()"),
        Node::Unary(UnaryFunction::Neg, a) => {
            let parenthesise = outer > 5;
            out.push_str(if parenthesise { "(-" } else { "-" });
            sub(a, 6, out);
            out.push_str(if parenthesise { ")" } else { "" });
        }
        Node::Unary(UnaryFunction::Not, a) => {
            out.push_str("not ");
            sub(a, 3, out);
        }
        Node::Unary(op, a) => {
            out.push_str(&unary_name(op));
            out.push('(');
            sub(a, 0, out);
            out.push(')');
        }
        Node::Binary(BinaryFunction::Add, a, b) if negative_term(pool, b).is_some() => {
            let (factor, rest) = negative_term(pool, b).expect("just seen");
            out.push_str(if outer > 5 { "(" } else { "" });
            sub(a, 5, out);
            out.push_str(" - ");
            if factor != 1.0 {
                out.push_str(&format!("{factor}*"));
            }
            sub(rest, 7, out);
            out.push_str(if outer > 5 { ")" } else { "" });
        }
        Node::Binary(op, a, b) => match precedence(op) {
            Some((level, symbol)) => {
                let parenthesise = level < outer;
                out.push_str(if parenthesise { "(" } else { "" });
                sub(a, level, out);
                out.push_str(symbol);
                sub(b, level + 1, out);
                out.push_str(if parenthesise { ")" } else { "" });
            }
            None => {
                out.push_str(binary_name(op));
                out.push('(');
                sub(a, 0, out);
                out.push_str(", ");
                sub(b, 0, out);
                out.push(')');
            }
        },
        Node::If(c, a, b) => {
            out.push_str(if outer > 0 { "(if " } else { "if " });
            sub(c, 0, out);
            out.push_str(" then ");
            sub(a, 0, out);
            out.push_str(" else ");
            sub(b, 0, out);
            out.push_str(if outer > 0 { ")" } else { "" });
        }
        Node::Call {
            function,
            output,
            partials,
            args,
        } => {
            let partials = pool.list(partials);
            if !partials.is_empty() {
                let list: Vec<String> = partials.iter().map(|p| (p + 1).to_string()).collect();
                out.push_str(&format!("∂[{}]", list.join(",")));
            }
            out.push_str(names.function(function));
            if output > 0 {
                out.push_str(&format!("#{}", output + 1));
            }
            out.push('(');
            for (k, arg) in pool.args(args).enumerate() {
                out.push_str(if k > 0 { ", " } else { "" });
                sub(arg, 0, out);
            }
            out.push(')');
        }
    }
}

/// `0 = residual` as users write equations: `a = b` where the residual is a difference, else `a = 0`.
pub fn equation(pool: &ExprPool, names: &dyn Names, residual: ExprId) -> String {
    match pool.node(residual) {
        Node::Binary(BinaryFunction::Sub, a, b) => {
            format!("{} = {}", expression(pool, names, a), expression(pool, names, b))
        }
        Node::Unary(UnaryFunction::Neg, a) => equation(pool, names, a),
        _ => format!("{} = 0", expression(pool, names, residual)),
    }
}

/// `0 = residual` with the terms of its sum on the side where they are positive.
pub fn balanced_equation(pool: &ExprPool, names: &dyn Names, residual: ExprId) -> String {
    let mut terms = Vec::new();
    collect_terms(pool, residual, false, &mut terms);
    let side = |negative: bool| {
        let terms = terms.iter().filter(|(sign, ..)| *sign == negative);
        let texts: Vec<String> = terms.map(|term| term_text(pool, names, term)).collect();
        if texts.is_empty() {
            "0".to_owned()
        } else {
            texts.join(" + ")
        }
    };
    // A number alone on its side says more than a zero.
    let number = |&(_, factor, rest): &(bool, Option<f64>, ExprId)| match pool.node(rest) {
        Node::Real(bits) => Some(factor.unwrap_or(bits.get())),
        _ => None,
    };
    let mixed = terms.iter().any(|(negative, ..)| *negative != terms[0].0);
    if let [rest @ .., last] = &terms[..]
        && !mixed
        && let (Some(value), None) = (number(&terms[0]).or(number(last)), number(&terms[0]).and(number(last)))
        && !rest.is_empty()
    {
        let others = terms.iter().filter(|term| number(term).is_none());
        let texts: Vec<String> = others.map(|term| term_text(pool, names, term)).collect();
        return format!("{} = {}", texts.join(" + "), -value);
    }
    if terms.iter().all(|(negative, ..)| *negative) {
        format!("{} = 0", side(true))
    } else {
        format!("{} = {}", side(false), side(true))
    }
}

/// The terms of a sum: whether negative, a positive factor if there is one, and the rest.
fn collect_terms(pool: &ExprPool, id: ExprId, negative: bool, terms: &mut Vec<(bool, Option<f64>, ExprId)>) {
    match pool.node(id) {
        Node::Binary(BinaryFunction::Add, a, b) => {
            collect_terms(pool, a, negative, terms);
            collect_terms(pool, b, negative, terms);
        }
        Node::Binary(BinaryFunction::Sub, a, b) => {
            collect_terms(pool, a, negative, terms);
            collect_terms(pool, b, !negative, terms);
        }
        Node::Unary(UnaryFunction::Neg, a) => collect_terms(pool, a, !negative, terms),
        Node::Real(bits) if bits.get() == 0.0 => {}
        Node::Binary(BinaryFunction::Mul, a, b) => match pool.constant(a) {
            Some(factor) if factor < 0.0 => terms.push((!negative, Some(-factor).filter(|f| *f != 1.0), b)),
            _ => terms.push((negative, None, id)),
        },
        Node::Real(bits) if bits.get() < 0.0 => terms.push((!negative, Some(-bits.get()), id)),
        _ => terms.push((negative, None, id)),
    }
}

fn term_text(pool: &ExprPool, names: &dyn Names, &(_, factor, rest): &(bool, Option<f64>, ExprId)) -> String {
    let mut text = factor.map_or(String::new(), |factor| format!("{factor}"));
    if matches!(pool.node(rest), Node::Real(_)) && factor.is_some() {
        return text;
    }
    text.push_str(if factor.is_some() { "*" } else { "" });
    write_expr(
        pool,
        names,
        rest,
        (if factor.is_some() { 7 } else { 6 }, READABLE),
        &mut text,
    );
    text
}

impl Mdae {
    /// The text of an expression in the model's names.
    pub fn print(&self, id: ExprId) -> String {
        expression(&self.pool, self, id)
    }

    /// `0 = residual` as users write equations.
    pub fn print_equation(&self, residual: ExprId) -> String {
        equation(&self.pool, self, residual)
    }
}

impl std::fmt::Display for Mdae {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "model {}", self.name)?;
        for variable in &self.variables {
            let role = match variable.role {
                Role::Parameter => "parameter ",
                Role::Input => "input ",
                Role::Discrete => "discrete ",
                Role::Continuous => "",
            };
            write!(f, "  {role}{:?} {}", variable.ty, variable.name)?;
            if let Some(start) = variable.start {
                write!(
                    f,
                    "(start = {}{})",
                    self.print(start),
                    if variable.fixed { ", fixed = true" } else { "" }
                )?;
            }
            if let Some(binding) = variable.binding {
                write!(f, " = {}", self.print(binding))?;
            }
            writeln!(f, ";")?;
        }
        for (id, condition) in self.conditions.iter_enumerated() {
            match condition.kind {
                ConditionKind::Relation { function, comparison } => {
                    let symbol = if comparison == crate::Comparison::Greater {
                        ">"
                    } else {
                        ">="
                    };
                    writeln!(f, "  // condition {}: {} {symbol} 0", id.0, self.print(function))?;
                }
                ConditionKind::Sample { start, interval } => {
                    writeln!(
                        f,
                        "  // condition {}: sample({}, {})",
                        id.0,
                        self.print(start),
                        self.print(interval)
                    )?;
                }
                ConditionKind::Tick { shift, interval } => {
                    writeln!(f, "  // condition {}: ticks at {shift} + k*{interval}", id.0)?;
                }
                ConditionKind::Timer { interval, resolution } => {
                    let interval = self.print(interval);
                    writeln!(f, "  // condition {}: ticks after {interval}/{resolution}", id.0)?;
                }
            }
        }
        writeln!(f, "equation")?;
        for (id, equation) in self.equations.iter_enumerated() {
            let guard = if self.is_unguarded(id) {
                String::new()
            } else {
                format!("if {}: ", self.print(equation.guard))
            };
            writeln!(f, "  {guard}{};", self.print_equation(equation.residual))?;
        }
        for equation in &self.discrete {
            writeln!(
                f,
                "  {} = {};",
                self.variables[equation.target].name,
                self.print(equation.value)
            )?;
        }
        for when in &self.whens {
            for (position, branch) in when.branches.iter().enumerate() {
                let conditions: Vec<String> = branch.conditions.iter().map(|&c| self.print(c)).collect();
                writeln!(
                    f,
                    "  {} {{{}}} then",
                    if position == 0 { "when" } else { "elsewhen" },
                    conditions.join(", ")
                )?;
                for action in &branch.actions {
                    match action {
                        Action::Assign { target, value, .. } => {
                            writeln!(f, "    {} = {};", self.variables[*target].name, self.print(*value))?;
                        }
                        Action::Restart { residual, .. } => writeln!(f, "    {};", self.print_equation(*residual))?,
                        Action::Reinit { var, order, value, .. } => {
                            let state = derivative_name(&self.variables[*var].name, *order);
                            writeln!(f, "    reinit({state}, {});", self.print(*value))?;
                        }
                        Action::Solve { residuals, .. } => {
                            for &residual in residuals {
                                writeln!(f, "    {};", self.print_equation(residual))?;
                            }
                        }
                        Action::Terminate { message, .. } => writeln!(f, "    terminate({});", self.print(*message))?,
                        Action::Assert(assertion) => {
                            writeln!(
                                f,
                                "    assert({}, {});",
                                self.print(assertion.condition),
                                self.print(assertion.message)
                            )?;
                        }
                    }
                }
            }
            writeln!(f, "  end when;")?;
        }
        writeln!(f, "end {};", self.name)
    }
}
