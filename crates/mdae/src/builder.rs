//! A builder for Rust users: models without any Modelica text.
//!
//! The cup-and-ball of RR-9603 section 2, a ball on a rope that may go slack:
//!
//! ```
//! use saltus_mdae::Builder;
//!
//! let m = Builder::new("CupAndBall");
//! let (x, y) = (m.state("x", 0.6), m.state("y", -0.6));
//! let (lambda, s) = (m.unknown("lambda"), m.unknown("s"));
//! let (length, gravity) = (m.parameter("L", 1.0), m.parameter("g", 9.81));
//! let tight = s.pre().le(&m.real(0.0));
//! m.equation("e1", x.der().der() + &lambda * &x);
//! m.equation("e2", y.der().der() + &lambda * &y + &gravity);
//! let distance = &length * &length - &x * &x - &y * &y;
//! m.equation_if(&tight, "k1", distance.clone());
//! m.equation_if(&tight, "k2", &lambda + &s);
//! m.equation_if(&!&tight, "k3", lambda.clone());
//! m.equation_if(&!&tight, "k4", distance - &s);
//! let model = m.finish().unwrap();
//! assert_eq!(model.equations.len(), 6);
//! ```

mod connect;

use std::cell::RefCell;
use std::ops;
use std::rc::Rc;
use std::sync::Arc;

use connect::Connections;
pub use connect::Connector;

use crate::Derivative;
use crate::expr::{BinaryFunction, ExprPool, Node, Type, UnaryFunction};
use crate::index::{ExprId, VarId};
use crate::model::{
    Action, Comparison, ConditionKind, DiscreteEquation, Mdae, Origin, OriginKind, Role, Variable, When, WhenBranch,
};
use crate::validate::Invalid;

type Shared = Rc<RefCell<Mdae>>;

/// Builds an [`Mdae`]; expressions are [`Ex`] values with the usual operators.
#[derive(Clone, Debug)]
pub struct Builder {
    model: Shared,
    connections: Rc<RefCell<Connections>>,
    /// The component that is being stated; empty: the model itself.
    path: Arc<str>,
}

/// An expression of a model under construction.
#[derive(Clone)]
pub struct Ex {
    model: Shared,
    /// Its id in the model's pool.
    pub id: ExprId,
}

impl std::fmt::Debug for Ex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.model.borrow().print(self.id))
    }
}

impl Builder {
    /// Starts a model.
    pub fn new(name: &str) -> Self {
        Builder {
            model: Rc::new(RefCell::new(Mdae::new(name))),
            connections: Rc::default(),
            path: "".into(),
        }
    }

    /// A name with that of the component around it.
    fn qualified(&self, name: &str) -> String {
        match &*self.path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    fn wrap(&self, id: ExprId) -> Ex {
        Ex {
            model: self.model.clone(),
            id,
        }
    }
    fn variable(&self, mut variable: Variable) -> Ex {
        variable.name = self.qualified(&variable.name).into();
        let id = {
            let mut model = self.model.borrow_mut();
            let var = model.add_variable(variable);
            model.pool.var(var)
        };
        self.wrap(id)
    }

    /// A real unknown.
    pub fn unknown(&self, name: &str) -> Ex {
        self.variable(Variable::new(name, Role::Continuous, Type::Real))
    }
    /// A real unknown with a start value that holds initially.
    pub fn state(&self, name: &str, start: f64) -> Ex {
        let mut variable = Variable::new(name, Role::Continuous, Type::Real);
        variable.start = Some(self.model.borrow_mut().pool.real(start));
        variable.fixed = true;
        self.variable(variable)
    }
    /// A real unknown with a start value that is a guess.
    pub fn guess(&self, name: &str, start: f64) -> Ex {
        let mut variable = Variable::new(name, Role::Continuous, Type::Real);
        variable.start = Some(self.model.borrow_mut().pool.real(start));
        self.variable(variable)
    }
    /// A real parameter.
    pub fn parameter(&self, name: &str, value: f64) -> Ex {
        let mut variable = Variable::new(name, Role::Parameter, Type::Real);
        variable.binding = Some(self.model.borrow_mut().pool.real(value));
        self.variable(variable)
    }
    /// A signal given from outside.
    pub fn input(&self, name: &str) -> Ex {
        self.variable(Variable::new(name, Role::Input, Type::Real))
    }
    /// A discrete variable with its start value (Booleans: 0 or 1).
    pub fn discrete(&self, name: &str, ty: Type, start: f64) -> Ex {
        let mut variable = Variable::new(name, Role::Discrete, ty);
        let start = {
            let pool = &mut self.model.borrow_mut().pool;
            match ty {
                Type::Real => pool.real(start),
                Type::Integer => pool.integer(start as i64),
                Type::Boolean => pool.boolean(start != 0.0),
            }
        };
        variable.start = Some(start);
        self.variable(variable)
    }
    /// A real constant.
    pub fn real(&self, value: f64) -> Ex {
        let id = self.model.borrow_mut().pool.real(value);
        self.wrap(id)
    }
    /// Time.
    pub fn time(&self) -> Ex {
        let id = self.model.borrow_mut().pool.time();
        self.wrap(id)
    }

    /// True exactly at start + k·interval, k ≥ 0.
    pub fn sample(&self, start: f64, interval: f64) -> Ex {
        let id = {
            let model = &mut *self.model.borrow_mut();
            let text = format!("sample({start}, {interval})");
            let kind = ConditionKind::Sample {
                start: model.pool.real(start),
                interval: model.pool.real(interval),
            };
            let condition = model.add_condition(kind, &text, crate::OriginId(0));
            model.pool.condition(condition)
        };
        self.wrap(id)
    }

    fn origin(&self, model: &mut Mdae, name: &str) -> crate::OriginId {
        model.add_origin(Origin {
            kind: OriginKind::Built,
            span: None,
            part: None,
            component: Arc::clone(&self.path),
            label: name.into(),
        })
    }

    /// `0 = residual`, always.
    pub fn equation(&self, name: &str, residual: Ex) {
        let mut model = self.model.borrow_mut();
        let origin = self.origin(&mut model, name);
        model.add_equation(residual.id, origin);
    }
    /// `0 = residual` while `guard` is true.
    pub fn equation_if(&self, guard: &Ex, name: &str, residual: Ex) {
        let mut model = self.model.borrow_mut();
        let origin = self.origin(&mut model, name);
        model.add_guarded_equation(guard.id, residual.id, origin);
    }
    /// `variable = value` for a discrete variable, at all times.
    pub fn define(&self, variable: &Ex, value: &Ex) {
        let mut model = self.model.borrow_mut();
        let target = var_of(&model.pool, variable.id);
        let guard = model.pool.boolean(true);
        let origin = model.variables[target].origin;
        model.discrete.push(DiscreteEquation {
            target,
            value: value.id,
            guard,
            origin,
        });
    }
    /// When `condition` becomes true, the restart equation `0 = residual` holds at that instant.
    pub fn restart_when(&self, condition: &Ex, name: &str, residual: Ex) {
        self.when(condition, name, |origin| Action::Restart {
            residual: residual.id,
            origin,
        });
    }
    /// When `condition` becomes true, `variable := value`.
    pub fn assign_when(&self, condition: &Ex, variable: &Ex, value: &Ex) {
        let target = var_of(&self.model.borrow().pool, variable.id);
        self.when(condition, "", |origin| Action::Assign {
            target,
            value: value.id,
            origin,
        });
    }
    /// When `condition` becomes true, the state gets a new value, all else continuous.
    pub fn reinit_when(&self, condition: &Ex, state: &Ex, value: &Ex) {
        let Derivative { var, order } = derivative_of(&self.model.borrow().pool, state.id);
        self.when(condition, "", |origin| Action::Reinit {
            var,
            order,
            value: value.id,
            origin,
        });
    }
    fn when(&self, condition: &Ex, name: &str, action: impl FnOnce(crate::OriginId) -> Action) {
        let mut model = self.model.borrow_mut();
        let origin = self.origin(&mut model, name);
        let branch = WhenBranch {
            conditions: vec![condition.id],
            actions: vec![action(origin)],
        };
        model.whens.push(When {
            branches: vec![branch],
            origin,
        });
    }

    /// The finished model, with the equations of its connections. Expressions still held elsewhere stay usable only for
    /// printing.
    pub fn finish(self) -> Result<Mdae, Invalid> {
        let mut model = self.model.replace(Mdae::default());
        self.connections.borrow().state(&mut model)?;
        model.validate()?;
        Ok(model)
    }
}

fn var_of(pool: &ExprPool, id: ExprId) -> VarId {
    derivative_of(pool, id).var
}

fn derivative_of(pool: &ExprPool, id: ExprId) -> Derivative {
    match pool.node(id) {
        Node::Var { var, order } => Derivative { var, order },
        other => panic!("a variable is needed here, not {other:?}"),
    }
}

impl Ex {
    fn with(&self, f: impl FnOnce(&mut ExprPool) -> ExprId) -> Ex {
        let id = f(&mut self.model.borrow_mut().pool);
        Ex {
            model: self.model.clone(),
            id,
        }
    }
    /// The time derivative.
    pub fn der(&self) -> Ex {
        self.with(|pool| pool.total_derivative(self.id))
    }
    /// The left limit.
    pub fn pre(&self) -> Ex {
        self.with(|pool| {
            pool.rewrite(&[self.id], |pool, _, node| match node {
                Node::Var { var, order } => Some(pool.pre_var(var, order)),
                _ => None,
            })[0]
        })
    }
    /// A one-argument function.
    pub fn apply(&self, op: UnaryFunction) -> Ex {
        self.with(|pool| pool.unary(op, self.id))
    }
    /// Power.
    pub fn pow(&self, exponent: f64) -> Ex {
        self.with(|pool| {
            let exponent = pool.real(exponent);
            pool.pow(self.id, exponent)
        })
    }
    fn relation(&self, other: &Ex, comparison: Comparison, reversed: bool, symbol: &str) -> Ex {
        let mut model = self.model.borrow_mut();
        let text = format!("{} {symbol} {}", model.print(self.id), model.print(other.id));
        let (a, b) = if reversed {
            (other.id, self.id)
        } else {
            (self.id, other.id)
        };
        let function = model.pool.sub(a, b);
        let condition = model.add_condition(
            ConditionKind::Relation { function, comparison },
            &text,
            crate::OriginId(0),
        );
        let id = model.pool.condition(condition);
        Ex {
            model: self.model.clone(),
            id,
        }
    }
    /// self > other, an event-generating condition.
    pub fn gt(&self, other: &Ex) -> Ex {
        self.relation(other, Comparison::Greater, false, ">")
    }
    /// self ≥ other
    pub fn ge(&self, other: &Ex) -> Ex {
        self.relation(other, Comparison::GreaterEqual, false, ">=")
    }
    /// self < other
    pub fn lt(&self, other: &Ex) -> Ex {
        self.relation(other, Comparison::Greater, true, "<")
    }
    /// self ≤ other
    pub fn le(&self, other: &Ex) -> Ex {
        self.relation(other, Comparison::GreaterEqual, true, "<=")
    }
    /// `if self then a else b`
    pub fn if_else(&self, a: &Ex, b: &Ex) -> Ex {
        self.with(|pool| pool.if_else(self.id, a.id, b.id))
    }
    /// Conjunction.
    pub fn and(&self, other: &Ex) -> Ex {
        self.with(|pool| pool.and(self.id, other.id))
    }
    /// Disjunction.
    pub fn or(&self, other: &Ex) -> Ex {
        self.with(|pool| pool.or(self.id, other.id))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:expr) => {
        impl ops::$trait<&Ex> for &Ex {
            type Output = Ex;
            fn $method(self, other: &Ex) -> Ex {
                self.with(|pool| pool.binary($op, self.id, other.id))
            }
        }
        impl ops::$trait<Ex> for Ex {
            type Output = Ex;
            fn $method(self, other: Ex) -> Ex {
                (&self).$method(&other)
            }
        }
        impl ops::$trait<&Ex> for Ex {
            type Output = Ex;
            fn $method(self, other: &Ex) -> Ex {
                (&self).$method(other)
            }
        }
        impl ops::$trait<Ex> for &Ex {
            type Output = Ex;
            fn $method(self, other: Ex) -> Ex {
                self.$method(&other)
            }
        }
        impl ops::$trait<f64> for &Ex {
            type Output = Ex;
            fn $method(self, other: f64) -> Ex {
                self.with(|pool| {
                    let constant = pool.real(other);
                    pool.binary($op, self.id, constant)
                })
            }
        }
        impl ops::$trait<f64> for Ex {
            type Output = Ex;
            fn $method(self, other: f64) -> Ex {
                (&self).$method(other)
            }
        }
        impl ops::$trait<&Ex> for f64 {
            type Output = Ex;
            fn $method(self, other: &Ex) -> Ex {
                other.with(|pool| {
                    let constant = pool.real(self);
                    pool.binary($op, constant, other.id)
                })
            }
        }
        impl ops::$trait<Ex> for f64 {
            type Output = Ex;
            fn $method(self, other: Ex) -> Ex {
                self.$method(&other)
            }
        }
    };
}
operator!(Add, add, BinaryFunction::Add);
operator!(Sub, sub, BinaryFunction::Sub);
operator!(Mul, mul, BinaryFunction::Mul);
operator!(Div, div, BinaryFunction::Div);

impl ops::Neg for Ex {
    type Output = Ex;
    fn neg(self) -> Ex {
        self.apply(UnaryFunction::Neg)
    }
}
impl ops::Neg for &Ex {
    type Output = Ex;
    fn neg(self) -> Ex {
        self.apply(UnaryFunction::Neg)
    }
}
impl ops::Not for &Ex {
    type Output = Ex;
    fn not(self) -> Ex {
        self.apply(UnaryFunction::Not)
    }
}
