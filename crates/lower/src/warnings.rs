//! Warnings of functions and loops: `assert(…, AssertionLevel.warning)`. Functions are evaluated at many points that are
//! no solution, so they do not speak themselves. For every function that may warn a second one, its *reporter*, takes the
//! same arguments and yields the text of its warnings; wherever the model calls the function, an assertion of level
//! warning asks the reporter, and is looked at where all assertions are.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::function::{Body, Function, FunctionExpr, Local, LocalId, Place, Rewrite, Statement, Visit, rewrite};
use saltus_mdae::text::TextOperation;
use saltus_mdae::{
    Action, Assertion, AssertionLevel, BinaryFunction, ConditionKind, ExprId, FunctionId, Node, OriginId, Role, Type,
    UnaryFunction, VarId, Variable,
};

use crate::Lowering;

/// The reporter of each function that may warn.
pub(crate) type Reporters = FxHashMap<FunctionId, FunctionId>;

/// An expression of the model, when it is evaluated, and where it comes from.
type Root = (ExprId, ExprId, OriginId);

impl Lowering<'_> {
    /// Adds the reporters of functions that may warn.
    pub(crate) fn add_reporters(&mut self) -> Reporters {
        let warning = self.functions_that_warn();
        if warning.is_empty() {
            return Reporters::default();
        }
        let join = self.text_function(TextOperation::Join);
        let first = self.flat.functions.len() + self.made.len();
        let reporters: Reporters = warning
            .iter()
            .enumerate()
            .map(|(at, &function)| (function, FunctionId((first + at) as u32)))
            .collect();
        for id in warning {
            let at = id.0 as usize;
            let count = self.flat.functions.len();
            let function = match at.checked_sub(count) {
                None => &mut self.model.functions[id],
                Some(made) => &mut self.made[made],
            };
            let reporter = Writer::new(function, &reporters, join).reporter();
            if let Body::Algorithm(statements) = &mut function.body {
                silence(statements);
            }
            self.add_function(reporter);
        }
        reporters
    }

    /// Functions with a warning in them or in what they call, in order.
    fn functions_that_warn(&self) -> Vec<FunctionId> {
        let functions: Vec<&Function> = self.model.functions.iter().chain(&self.made).collect();
        let mut found: FxHashSet<FunctionId> = FxHashSet::default();
        loop {
            let before = found.len();
            for (at, function) in functions.iter().enumerate() {
                if let Body::Algorithm(statements) = &function.body
                    && may_warn(statements, &found)
                {
                    found.insert(FunctionId(at as u32));
                }
            }
            if found.len() == before {
                break;
            }
        }
        let mut found: Vec<FunctionId> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    /// Puts an assertion beside every call of a function that may warn, or may leave a result without a value.
    pub(crate) fn ask_for_warnings(&mut self, reporters: &Reporters) {
        let blank = self.model.variables.iter().any(|variable| variable.blank);
        if reporters.is_empty() && self.unset_fields.open.is_empty() && !blank {
            return;
        }
        let mut asked = FxHashSet::default();
        for root in self.roots_of_model() {
            for assertion in self.questions(root, reporters) {
                if asked.insert((assertion.guard, assertion.condition)) {
                    self.model.assertions.push(assertion);
                }
            }
        }
        let always = self.model.pool.boolean(true);
        for at in 0..self.model.whens.len() {
            let when = saltus_mdae::WhenId(at as u32);
            for branch in 0..self.model.whens[when].branches.len() {
                let actions = self.model.whens[when].branches[branch].actions.clone();
                let roots = actions.iter().flat_map(|action| roots_of_action(action, always));
                for root in roots.collect::<Vec<Root>>() {
                    let questions = self.questions(root, reporters).into_iter().map(Action::Assert);
                    let branch = &mut self.model.whens[when].branches[branch];
                    branch.actions.extend(questions);
                }
            }
        }
    }

    /// Everything that is evaluated outside when-clauses.
    fn roots_of_model(&mut self) -> Vec<Root> {
        let always = self.model.pool.boolean(true);
        let initial = self.model.pool.intern(Node::Initial);
        let model = &self.model;
        let mut roots: Vec<Root> = Vec::new();
        roots.extend(model.equations.iter().map(|e| (e.guard, e.residual, e.origin)));
        roots.extend(model.discrete.iter().map(|d| (d.guard, d.value, d.origin)));
        roots.extend(model.assertions.iter().map(|a| (a.guard, a.condition, a.origin)));
        roots.extend(model.delays.iter().map(|d| (always, d.expression, d.origin)));
        let transported = model.transports.iter();
        roots.extend(transported.flat_map(|t| t.inputs.map(|input| (always, input, t.origin))));
        let bindings = model.variables.iter();
        // A parameter may hold what has no value.
        let bindings = bindings.filter(|v| !v.blank);
        roots.extend(bindings.filter_map(|v| Some((always, v.binding?, v.origin))));
        for condition in model.conditions.iter() {
            if let ConditionKind::Relation { function, .. } = condition.kind {
                roots.push((always, function, condition.origin));
            }
        }
        for branch in model.whens.iter().flat_map(|when| &when.branches) {
            let conditions = branch.conditions.iter();
            roots.extend(conditions.map(|&condition| (always, condition, OriginId(0))));
        }
        let mut at_start: Vec<Root> = Vec::new();
        let equations = model.initial_equations.iter();
        at_start.extend(equations.map(|e| (e.guard, e.residual, e.origin)));
        let assignments = model.initial_assignments.iter();
        at_start.extend(assignments.map(|d| (d.guard, d.value, d.origin)));
        for (guard, root, origin) in at_start {
            roots.push((self.model.pool.and(guard, initial), root, origin));
        }
        roots
    }

    /// The assertions that belong to the calls in an expression.
    fn questions(&mut self, (guard, root, origin): Root, reporters: &Reporters) -> Vec<Assertion> {
        let mut seen = FxHashSet::default();
        let mut stack = vec![(guard, root)];
        let mut questions = Vec::new();
        while let Some((guard, expr)) = stack.pop() {
            if !seen.insert((guard, expr)) {
                continue;
            }
            let node = self.model.pool.node(expr);
            if let Node::If(condition, yes, no) = node {
                let not = self.model.pool.not(condition);
                stack.push((guard, condition));
                stack.push((self.model.pool.and(guard, condition), yes));
                stack.push((self.model.pool.and(guard, not), no));
                continue;
            }
            if self.may_be_blank(expr) {
                questions.push(self.is_number(guard, expr, origin));
            }
            if let Node::Call { function, args, .. } = node
                && let Some(&reporter) = reporters.get(&function)
            {
                let args: Vec<ExprId> = self.model.pool.args(args).collect();
                questions.push(self.question(guard, reporter, &args, origin));
            }
            if let Node::Call { function, args, .. } = node {
                let args = self.model.pool.args(args).enumerate();
                let passed_on = |at: usize, arg| self.unset_fields.takes_field(function, at) && self.may_be_blank(arg);
                stack.extend(
                    args.filter(|&(at, arg)| !passed_on(at, arg))
                        .map(|(_, arg)| (guard, arg)),
                );
                continue;
            }
            self.model.pool.for_each_child(node, |child| stack.push((guard, child)));
        }
        questions
    }

    /// Whether an expression is a field that a function may have left without a value.
    fn may_be_blank(&self, expr: ExprId) -> bool {
        match self.model.pool.node(expr) {
            Node::Call { function, output, .. } => self.unset_fields.may_be_open(function, output),
            Node::Var { var, order: 0 } => self.model.variables[var].blank,
            _ => false,
        }
    }

    /// Parameters that are given such a field, or another of these parameters.
    pub(crate) fn find_blank_parameters(&mut self) {
        loop {
            let is_found = |variable: &Variable| {
                let given = variable
                    .binding
                    .filter(|_| variable.role == Role::Parameter && !variable.blank);
                given.is_some_and(|binding| self.may_be_blank(binding))
            };
            let variables = self.model.variables.iter_enumerated();
            let found: Vec<VarId> = variables.filter(|(_, v)| is_found(v)).map(|(id, _)| id).collect();
            if found.is_empty() {
                return;
            }
            found.iter().for_each(|&id| self.model.variables[id].blank = true);
        }
    }

    /// A field that a function may leave without a value must have one where the model uses it.
    fn is_number(&mut self, guard: ExprId, call: ExprId, origin: OriginId) -> Assertion {
        let size = self.model.pool.unary(UnaryFunction::Abs, call);
        let bound = self.model.pool.real(f64::INFINITY);
        Assertion {
            condition: self.model.pool.binary(BinaryFunction::Le, size, bound),
            message: self
                .model
                .text("a field of a record is used, but the function that yields it gave it no value"),
            level: AssertionLevel::Error,
            guard,
            origin,
        }
    }

    fn question(&mut self, guard: ExprId, reporter: FunctionId, args: &[ExprId], origin: OriginId) -> Assertion {
        let pool = &mut self.model.pool;
        let message = pool.call(reporter, 0, args);
        let nothing = pool.integer(0);
        Assertion {
            condition: pool.binary(BinaryFunction::Eq, message, nothing),
            message,
            level: AssertionLevel::Warning,
            guard,
            origin,
        }
    }
}

fn roots_of_action(action: &Action, always: ExprId) -> Vec<Root> {
    match *action {
        Action::Assign { value, origin, .. } | Action::Reinit { value, origin, .. } => vec![(always, value, origin)],
        Action::Restart { residual, origin } => vec![(always, residual, origin)],
        Action::Terminate { guard, message, origin } => vec![(guard, message, origin)],
        Action::Solve {
            ref residuals, origin, ..
        } => residuals.iter().map(|&residual| (always, residual, origin)).collect(),
        Action::Assert(ref assertion) => vec![(assertion.guard, assertion.condition, assertion.origin)],
    }
}

/// Takes the warnings out of a function.
fn silence(statements: &mut Vec<Statement>) {
    statements.retain(|statement| !matches!(statement, Statement::Warn(..)));
    statements
        .iter_mut()
        .flat_map(|statement| statement.bodies_mut())
        .for_each(silence);
}

fn may_warn(statements: &[Statement], warning: &FxHashSet<FunctionId>) -> bool {
    let mut found = false;
    statements.for_each_statement(&mut |statement| {
        found |= match statement {
            Statement::Warn(..) => true,
            Statement::CallAssign { function, .. } => warning.contains(function),
            _ => false,
        };
    });
    statements.for_each_part(&mut |part| {
        found |= matches!(part, FunctionExpr::Call { function, .. } if warning.contains(function));
    });
    found
}

/// A call in a function and the condition under which it is made.
type Called = (Option<FunctionExpr>, FunctionId, Vec<FunctionExpr>);

/// Writes a reporter. Every warning is given once in a call, however many turns a loop makes.
struct Writer<'f> {
    function: &'f Function,
    reporters: &'f Reporters,
    join: FunctionId,
    locals: Vec<Local>,
    /// Where the text grows.
    text: LocalId,
    /// Which warnings have been given.
    given: Vec<LocalId>,
}

impl<'f> Writer<'f> {
    fn new(function: &'f Function, reporters: &'f Reporters, join: FunctionId) -> Self {
        let mut writer = Writer {
            function,
            reporters,
            join,
            locals: function.locals.clone(),
            text: LocalId(0),
            given: Vec::new(),
        };
        writer.text = writer.local("warnings");
        writer
    }

    fn reporter(mut self) -> Function {
        let body = match &self.function.body {
            Body::Algorithm(statements) => rewrite(statements.clone(), &mut self),
            _ => Vec::new(),
        };
        let nothing = |local: &LocalId| Statement::Assign(Place::scalar(*local), FunctionExpr::Constant(0.0));
        let mut statements: Vec<Statement> = std::iter::once(&self.text).chain(&self.given).map(nothing).collect();
        statements.extend(body);
        Function {
            name: self.function.name.clone(),
            locals: self.locals,
            inputs: self.function.inputs.clone(),
            outputs: vec![self.text],
            body: Body::Algorithm(statements),
            derivatives: Vec::new(),
            inverses: Vec::new(),
            texts: Arc::clone(&self.function.texts),
            origin: self.function.origin,
            compiled: Default::default(),
        }
    }

    fn local(&mut self, name: &str) -> LocalId {
        self.locals.push(Local::new(name, Type::Integer, Vec::new()));
        LocalId(self.locals.len() as u32 - 1)
    }

    fn flag(&mut self) -> LocalId {
        let given = self.local("given");
        self.given.push(given);
        given
    }

    fn constant(&self, text: &str) -> FunctionExpr {
        FunctionExpr::Constant(self.function.texts.number(text).unwrap_or(0.0))
    }

    fn joined(&self, a: FunctionExpr, b: FunctionExpr) -> FunctionExpr {
        FunctionExpr::Call {
            function: self.join,
            output: 0,
            args: vec![a, b],
        }
    }

    /// Adds a text to the others.
    fn given_once(&self, said: FunctionExpr, given: LocalId) -> Vec<Statement> {
        let before = FunctionExpr::read(self.text);
        let behind = self.joined(self.joined(before.clone(), self.constant("; ")), said.clone());
        let all = FunctionExpr::If(Box::new(before), Box::new(behind), Box::new(said));
        vec![
            Statement::Assign(Place::scalar(self.text), all),
            Statement::Assign(Place::scalar(given), FunctionExpr::Constant(1.0)),
        ]
    }

    /// Asks the reporters of what expressions call.
    fn ask<'e>(&mut self, exprs: impl IntoIterator<Item = &'e FunctionExpr>, out: &mut Vec<Statement>) {
        let mut calls = Vec::new();
        for expr in exprs {
            self.calls(expr, None, &mut calls);
        }
        for call in calls {
            self.ask_call(call, out);
        }
    }

    fn calls(&self, expr: &FunctionExpr, path: Option<&FunctionExpr>, found: &mut Vec<Called>) {
        if let FunctionExpr::If(condition, yes, no) = expr {
            self.calls(condition, path, found);
            self.calls(yes, Some(&both(path.cloned(), (**condition).clone())), found);
            self.calls(no, Some(&both(path.cloned(), not(condition))), found);
            return;
        }
        expr.for_each_operand(|operand| self.calls(operand, path, found));
        if let FunctionExpr::Call { function, args, .. } = expr
            && self.reporters.contains_key(function)
        {
            found.push((path.cloned(), *function, args.clone()));
        }
    }

    fn ask_call(&mut self, (path, function, args): Called, out: &mut Vec<Statement>) {
        let answer = self.local("answer");
        let given = self.flag();
        let call = FunctionExpr::Call {
            function: self.reporters[&function],
            output: 0,
            args,
        };
        let body = vec![
            Statement::Assign(Place::scalar(answer), call),
            Statement::If(
                vec![(
                    FunctionExpr::read(answer),
                    self.given_once(FunctionExpr::read(answer), given),
                )],
                Vec::new(),
            ),
        ];
        let open = both(path, not(&FunctionExpr::read(given)));
        out.push(Statement::If(vec![(open, body)], Vec::new()));
    }
}

impl Rewrite for Writer<'_> {
    fn simple(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        match &statement {
            // The function itself fails there and says why.
            Statement::Assert(condition, _) => {
                self.ask([condition], out);
                let ends = vec![Statement::Return];
                out.push(Statement::If(vec![(not(condition), ends)], Vec::new()));
                return;
            }
            Statement::Warn(condition, message) => {
                self.ask([condition], out);
                let said = match &*self.function.name {
                    "" => message.clone(),
                    name => self.joined(self.constant(&format!("in function `{name}`: ")), message.clone()),
                };
                let given = self.flag();
                let body = self.given_once(said, given);
                let violated = both(Some(not(condition)), not(&FunctionExpr::read(given)));
                out.push(Statement::If(vec![(violated, body)], Vec::new()));
                return;
            }
            other => {
                let mut exprs = Vec::new();
                other.for_each_expr(|expr| exprs.push(expr));
                self.ask(exprs, out);
            }
        }
        if let Statement::CallAssign { function, args, .. } = &statement
            && self.reporters.contains_key(function)
        {
            self.ask_call((None, *function, args.clone()), out);
        }
        out.push(statement);
    }

    fn before(&mut self, exprs: &[&FunctionExpr], out: &mut Vec<Statement>) {
        self.ask(exprs.iter().copied(), out);
    }
}

fn not(expr: &FunctionExpr) -> FunctionExpr {
    FunctionExpr::Unary(UnaryFunction::Not, Box::new(expr.clone()))
}

fn both(path: Option<FunctionExpr>, condition: FunctionExpr) -> FunctionExpr {
    match path {
        None => condition,
        Some(path) => FunctionExpr::Binary(BinaryFunction::And, Box::new(path), Box::new(condition)),
    }
}
