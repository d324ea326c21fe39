//! Invariants of the multi-mode DAE, checked after every pass in debug builds, and whenever a model comes from a file.

use crate::expr::{BinaryFunction, Node, Type, UnaryFunction, VarTraits};
use crate::index::{EquationId, ExprId, Idx, IndexVec, OriginId, VarId};
use crate::model::{
    Action, Assertion, ConditionKind, DiscreteEquation, Equation, Mdae, Origin, Role, Transport, Variable,
};

/// A broken invariant: a defect of the program or of a file, never the user's mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub String);

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

type Checked = Result<(), Invalid>;

/// Derivatives of higher order are asked for by nobody.
const MOST_ORDERS: u16 = 1000;
/// `v = der(x)` and `a = der(v)` are names of derivatives that occur in no expression any more.
const MOST_NAMED_ORDERS: u16 = 6;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Invalid(what())) }
}

impl Mdae {
    /// Checks the invariants: ids in range, operands of the right type, guards Boolean and free of continuous
    /// unknowns, residuals numeric, discrete targets discrete, calls with as many arguments as there are inputs. Takes
    /// time in the size of the model only, whatever is shared in it.
    pub fn validate(&self) -> Checked {
        // Sizes come first: everything else multiplies them.
        self.functions.iter().try_for_each(|function| function.check_sizes())?;
        for function in self.functions.iter() {
            function.validate(&self.functions)?;
            ensure(self.origins.get(function.origin).is_some(), || {
                format!("function `{}` has no origin", function.name)
            })?;
        }
        self.check_traits()?;
        let checker = Checker::new(self)?;
        let aliased = self.aliases.iter().map(|alias| &alias.variable);
        let constant = self.constants.iter().map(|constant| &constant.variable);
        for variable in self.variables.iter().chain(aliased).chain(constant) {
            checker.variable(variable)?;
        }
        for alias in &self.aliases {
            checker.derivative(alias.target, alias.order)?;
            checker.named_order(alias.order)?;
        }
        for equation in self.equations.iter().chain(&self.initial_equations) {
            checker.equation(equation)?;
        }
        checker.replaced_equations()?;
        for equation in self.discrete.iter().chain(&self.initial_assignments) {
            checker.discrete_equation(equation)?;
        }
        for condition in &self.conditions {
            checker.origin(condition.origin)?;
            match condition.kind {
                ConditionKind::Relation { function, .. } => checker.numeric(function)?,
                ConditionKind::Sample { start, interval } => {
                    checker.numeric(start)?;
                    checker.numeric(interval)?;
                }
                ConditionKind::Tick { interval, .. } => {
                    ensure(interval.is_positive(), || format!("a clock of interval {interval}"))?;
                }
                ConditionKind::Timer { interval, resolution } => {
                    checker.numeric(interval)?;
                    ensure(resolution > 0, || "a clock of resolution zero".to_owned())?;
                }
            }
        }
        for when in &self.whens {
            checker.origin(when.origin)?;
            for branch in &when.branches {
                branch.conditions.iter().try_for_each(|&id| checker.boolean(id))?;
                branch.actions.iter().try_for_each(|action| checker.action(action))?;
            }
        }
        for clock in &self.clocks {
            checker.origin(clock.origin)?;
            clock.variables.iter().try_for_each(|&var| checker.discrete(var))?;
            ensure(clock.interval.is_positive(), || {
                format!("a clock of interval {}", clock.interval)
            })?;
        }
        self.assertions
            .iter()
            .try_for_each(|assertion| checker.assertion(assertion))?;
        for delay in &self.delays {
            checker.input(delay.output)?;
            checker.origin(delay.origin)?;
            for part in [delay.expression, delay.delay, delay.max_delay] {
                checker.numeric(part)?;
            }
        }
        self.transports
            .iter()
            .try_for_each(|transport| checker.transport(transport))
    }

    /// What the expressions know of variables is what the variables are; unknowns are Real.
    fn check_traits(&self) -> Checked {
        let known = self.pool.all_traits();
        ensure(known.len() == self.variables.len(), || {
            format!("{} of {} variables are known", known.len(), self.variables.len())
        })?;
        let fits = |(variable, known): (&Variable, &VarTraits)| {
            let is_real = variable.ty == Type::Real || variable.role != Role::Continuous;
            ensure(is_real && variable.traits() == *known, || {
                format!("`{}` is taken for something else", variable.name)
            })
        };
        self.variables.iter().zip(known).try_for_each(fits)
    }
}

struct Checker<'m> {
    model: &'m Mdae,
    /// Whether an expression holds a continuous unknown.
    holds_unknown: IndexVec<ExprId, bool>,
    /// The highest order of a derivative in expressions.
    highest: u16,
}

impl<'m> Checker<'m> {
    /// Looks at all expressions, children first.
    fn new(model: &'m Mdae) -> Result<Self, Invalid> {
        let mut checker = Checker {
            model,
            holds_unknown: IndexVec::new(),
            highest: 0,
        };
        for raw in 0..model.pool.len() {
            let id = ExprId::from_usize(raw);
            let node = model.pool.node(id);
            checker.node(id, node)?;
            if let Node::Var { order, .. } | Node::Pre { order, .. } = node {
                checker.highest = checker.highest.max(order);
            }
            let mut holds = matches!(node, Node::Var { var, .. } if model.is_unknown(var));
            model
                .pool
                .for_each_child(node, |child| holds |= checker.holds_unknown[child]);
            checker.holds_unknown.push(holds);
        }
        Ok(checker)
    }

    fn node(&self, id: ExprId, node: Node) -> Checked {
        let (model, pool) = (self.model, &self.model.pool);
        let is_boolean = |operand: ExprId| operand < id && pool.ty(operand) == Type::Boolean;
        let mut earlier = true;
        pool.for_each_child(node, |child| earlier &= child < id);
        let valid = earlier
            && match node {
                Node::Var { var, order } | Node::Pre { var, order } => {
                    self.derivative(var, order)?;
                    true
                }
                Node::Condition(condition) => condition.index() < model.conditions.len(),
                Node::Unary(UnaryFunction::Not, a) => is_boolean(a),
                Node::Binary(BinaryFunction::And | BinaryFunction::Or, a, b) => is_boolean(a) && is_boolean(b),
                Node::If(condition, ..) => is_boolean(condition),
                Node::Call {
                    function,
                    output,
                    partials,
                    args,
                } => {
                    let Some(called) = model.functions.get(function) else {
                        return Err(Invalid(format!("there is no function {}", function.0)));
                    };
                    let (args, partials) = (pool.list(args).len(), pool.list(partials));
                    args == called.input_size()
                        && (output as usize) < called.output_size()
                        && partials.iter().all(|&position| (position as usize) < args)
                }
                _ => true,
            };
        ensure(valid, || format!("expression {} is none: {node:?}", id.0))
    }

    fn expr(&self, id: ExprId) -> Checked {
        ensure(id.index() < self.model.pool.len(), || {
            format!("there is no expression {}", id.0)
        })
    }

    fn numeric(&self, id: ExprId) -> Checked {
        self.expr(id)?;
        ensure(self.model.pool.ty(id) != Type::Boolean, || {
            format!("`{}` is Boolean where a number is needed", self.model.print(id))
        })
    }

    fn boolean(&self, id: ExprId) -> Checked {
        self.expr(id)?;
        ensure(self.model.pool.ty(id) == Type::Boolean, || {
            format!("`{}` is no condition", self.model.print(id))
        })
    }

    fn guard(&self, id: ExprId) -> Checked {
        self.boolean(id)?;
        ensure(!self.holds_unknown[id], || {
            format!("the guard `{}` holds an unknown", self.model.print(id))
        })
    }

    fn var(&self, var: VarId) -> Result<&'m Variable, Invalid> {
        let variable = self.model.variables.get(var);
        variable.ok_or_else(|| Invalid(format!("there is no variable {}", var.0)))
    }

    /// Only what varies between events has derivatives.
    fn derivative(&self, var: VarId, order: u16) -> Checked {
        let variable = self.var(var)?;
        let fits = order == 0 || order <= MOST_ORDERS && variable.traits().continuous;
        ensure(fits, || format!("a derivative of order {order} of `{}`", variable.name))
    }

    /// Derivatives with a name of their own are not far above those in expressions: runs have room for so many.
    fn named_order(&self, order: u16) -> Checked {
        ensure(order <= self.highest + MOST_NAMED_ORDERS, || {
            format!("no derivative of an order near {order} occurs")
        })
    }

    fn origin(&self, origin: OriginId) -> Checked {
        let known: Option<&Origin> = self.model.origins.get(origin);
        ensure(known.is_some(), || format!("there is no origin {}", origin.0))
    }

    fn variable(&self, variable: &Variable) -> Checked {
        self.origin(variable.origin)?;
        let parts = [
            variable.binding,
            variable.start,
            variable.nominal,
            variable.min,
            variable.max,
        ];
        parts.into_iter().flatten().try_for_each(|id| self.expr(id))
    }

    fn discrete(&self, var: VarId) -> Checked {
        let variable = self.var(var)?;
        ensure(matches!(variable.role, Role::Discrete | Role::Parameter), || {
            format!("`{}` is assigned like a discrete variable but is none", variable.name)
        })
    }

    fn input(&self, var: VarId) -> Checked {
        let variable = self.var(var)?;
        ensure(variable.role == Role::Input, || {
            format!("`{}` is no input", variable.name)
        })
    }

    fn equation(&self, equation: &Equation) -> Checked {
        self.origin(equation.origin)?;
        self.guard(equation.guard)?;
        self.numeric(equation.residual)?;
        equation
            .simplified
            .map_or(Ok(()), |simplified| self.numeric(simplified))
    }

    fn discrete_equation(&self, equation: &DiscreteEquation) -> Checked {
        self.origin(equation.origin)?;
        self.guard(equation.guard)?;
        self.discrete(equation.target)?;
        self.expr(equation.value)
    }

    fn equation_id(&self, equation: EquationId) -> Checked {
        ensure(equation.index() < self.model.equations.len(), || {
            format!("there is no equation {}", equation.0)
        })
    }

    fn replaced_equations(&self) -> Checked {
        for combination in &self.model.combinations {
            self.equation_id(combination.equation)?;
            ensure(combination.stands_for < combination.equation, || {
                format!("equation {} stands for a later one", combination.equation.0)
            })?;
        }
        for share in &self.model.shares {
            self.equation_id(share.equation)?;
            self.equation_id(share.follows)?;
            share.unknowns.iter().try_for_each(|&var| self.var(var).map(drop))?;
        }
        Ok(())
    }

    fn action(&self, action: &Action) -> Checked {
        match action {
            Action::Assign { target, value, origin } => {
                self.origin(*origin)?;
                self.discrete(*target)?;
                self.expr(*value)
            }
            Action::Restart { residual, origin } => {
                self.origin(*origin)?;
                self.numeric(*residual)
            }
            Action::Reinit {
                var,
                order,
                value,
                origin,
            } => {
                self.origin(*origin)?;
                self.numeric(*value)?;
                self.derivative(*var, *order)?;
                self.named_order(*order)?;
                let variable = self.var(*var)?;
                ensure(variable.role == Role::Continuous, || {
                    format!("reinit of `{}`, which is no unknown", variable.name)
                })
            }
            Action::Solve {
                unknowns,
                residuals,
                jacobian,
                origin,
            } => {
                self.origin(*origin)?;
                unknowns.iter().try_for_each(|&var| self.discrete(var))?;
                residuals.iter().chain(jacobian).try_for_each(|&id| self.numeric(id))?;
                let size = unknowns.len();
                ensure(residuals.len() == size && jacobian.len() == size * size, || {
                    format!("{} equations for {size} unknowns", residuals.len())
                })
            }
            Action::Terminate { guard, message, origin } => {
                self.origin(*origin)?;
                self.boolean(*guard)?;
                self.numeric(*message)
            }
            Action::Assert(assertion) => self.assertion(assertion),
        }
    }

    fn assertion(&self, assertion: &Assertion) -> Checked {
        self.origin(assertion.origin)?;
        self.boolean(assertion.condition)?;
        self.boolean(assertion.guard)?;
        self.numeric(assertion.message)
    }

    fn transport(&self, transport: &Transport) -> Checked {
        self.origin(transport.origin)?;
        transport.outputs.iter().try_for_each(|&var| self.input(var))?;
        let parts = transport.inputs.iter().chain([&transport.position]);
        let parts = parts.chain(&transport.points).chain(&transport.values);
        parts.copied().try_for_each(|id| self.numeric(id))?;
        ensure(
            transport.points.len() == transport.values.len() && transport.points.len() >= 2,
            || format!("a profile of {} points", transport.points.len()),
        )
    }
}
