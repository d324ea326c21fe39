//! The equations of a network as numbers.

use saltus_codegen::KernelCache;
use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::{ConditionId, Derivative, EquationId, ExprId, ExprPool, Idx, Mdae, Node, Role, VarId};
use saltus_structure::linear::Coefficient;

use super::NONE;
use crate::engine::Engine;
use crate::kernel::Bound;
use crate::memory::Memory;

/// An unknown, or its derivative, in an equation.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Term {
    pub unknown: u32,
    pub is_rate: bool,
    pub coefficient: f64,
}

/// An equation in which an unknown, or its derivative, occurs.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Occurrence {
    pub equation: u32,
    pub is_rate: bool,
}

/// All equations: terms that sum up to zero with what does not depend on unknowns.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    /// The variables by number.
    pub unknowns: Vec<VarId>,
    /// Where their values are in memory; their derivatives are in the next places.
    pub slots: Vec<u32>,
    /// Whether the derivative of an unknown stands in any equation.
    pub has_rate: Vec<bool>,
    /// Whether a variable of the model is the derivative of an unknown: then it has an impulse where the unknown jumps.
    pub named_rate: Vec<bool>,
    /// How much an unknown should be a state.
    pub preference: Vec<i32>,
    first_term: Vec<u32>,
    terms: Vec<Term>,
    /// The part of each equation that never changes.
    pub constants: Vec<f64>,
    /// Which signal is the rest of it.
    pub signal_of: Vec<u32>,
    pub signals: Vec<Bound>,
    /// Equations that are not affine with fixed coefficients.
    pub foreign: Vec<bool>,
    first_occurrence: Vec<u32>,
    occurrences: Vec<Occurrence>,
}

/// The parts of equations that read time, conditions and discrete variables.
pub(crate) struct Signals {
    pub pool: ExprPool,
    pub cache: KernelCache,
    pub expressions: Vec<ExprId>,
}

/// Everything but parameters is zero.
struct AtZero<'a> {
    model: &'a Mdae,
    memory: &'a Memory,
}

impl Environment for AtZero<'_> {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        match self.model.variables[var].role {
            Role::Parameter => self.memory.get(var, order),
            _ => 0.0,
        }
    }
    fn left_limit(&self, _: VarId, _: u16) -> f64 {
        f64::NAN
    }
    fn time(&self) -> f64 {
        f64::NAN
    }
    fn condition(&self, _: ConditionId) -> bool {
        false
    }
}

/// What an equation reads besides unknowns.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Rest {
    /// Parameters.
    Fixed,
    /// Time, conditions, discrete variables.
    Moving,
    /// Left limits, inputs, `initial()`.
    Foreign,
}

impl Tables {
    /// The equations of a model; none if a derivative higher than the first occurs, or there is an input.
    pub(crate) fn of(engine: &Engine) -> Option<(Self, Signals)> {
        let (model, memory, modes) = (&engine.model, &engine.memory, engine.compiled.modes());
        let unknowns = engine.sets.unknowns.clone();
        let mut numbers = vec![NONE; model.variables.len()];
        for (number, &var) in unknowns.iter().enumerate() {
            numbers[var.index()] = number as u32;
        }
        let mut signals = Signals {
            pool: ExprPool::fork(engine.compiled.pool()),
            cache: engine.compiled.cache().clone(),
            expressions: Vec::new(),
        };
        let mut named_rate = vec![false; unknowns.len()];
        for alias in model.aliases.iter().filter(|alias| alias.order == 1) {
            if let Some(named) = named_rate.get_mut(numbers[alias.target.index()] as usize) {
                *named = true;
            }
        }
        let mut tables = Tables {
            slots: unknowns.iter().map(|&var| memory.slot(var, 0)).collect(),
            has_rate: vec![false; unknowns.len()],
            named_rate,
            preference: unknowns.iter().map(|&var| modes.preference(var, 0)).collect(),
            first_term: vec![0],
            terms: Vec::new(),
            constants: Vec::new(),
            signal_of: Vec::new(),
            signals: Vec::new(),
            foreign: Vec::new(),
            first_occurrence: Vec::new(),
            occurrences: Vec::new(),
            unknowns,
        };
        for equation in model.equations.ids() {
            let read = tables.read(engine, equation, &numbers, &mut signals)?;
            tables.foreign.push(!read);
            tables.first_term.push(tables.terms.len() as u32);
        }
        tables.find_occurrences();
        Some((tables, signals))
    }

    /// Adds an equation; false if it is foreign, nothing if the model is.
    fn read(&mut self, engine: &Engine, equation: EquationId, numbers: &[u32], signals: &mut Signals) -> Option<bool> {
        let (model, modes) = (&engine.model, engine.compiled.modes());
        let residual = model.equations[equation].residual;
        self.constants.push(0.0);
        self.signal_of.push(NONE);
        // What no guard ever selects is there for modes in which something floats.
        if model.pool.constant(model.equations[equation].guard) == Some(0.0) {
            return Some(false);
        }
        let mut affine = true;
        let at = self.terms.len();
        for &(Derivative { var, order }, coefficient) in modes.partials(model, equation) {
            let unknown = *numbers.get(var.index())?;
            if unknown == NONE || order > 1 {
                return None;
            }
            self.has_rate[unknown as usize] |= order == 1;
            let coefficient = match coefficient {
                Coefficient::Constant(value) => value,
                Coefficient::Parameter => {
                    let partial = signals.pool.partial_derivative(residual, var, order);
                    Bound::of_value(&signals.cache, &signals.pool, partial, &engine.memory)
                        .ok()?
                        .value(&engine.memory)
                }
                Coefficient::Varying => f64::NAN,
            };
            affine &= coefficient.is_normal();
            self.terms.push(Term {
                unknown,
                is_rate: order == 1,
                coefficient,
            });
        }
        let rest = rest_of(model, residual);
        if !affine || rest == Rest::Foreign {
            // What stands there counts for what is connected, not for what is solved.
            self.terms[at..].iter_mut().for_each(|term| term.coefficient = f64::NAN);
            return Some(false);
        }
        if rest == Rest::Fixed {
            let zero = AtZero {
                model,
                memory: &engine.memory,
            };
            let value = evaluate(&model.pool, &model.functions, &[residual], &zero).ok()?[0];
            self.constants[equation.index()] = value;
            return Some(value.is_finite());
        }
        let moving = signals.pool.rewrite(&[residual], |pool, _, node| match node {
            Node::Var { var, .. } if model.is_unknown(var) => Some(pool.real(0.0)),
            _ => None,
        })[0];
        self.signal_of[equation.index()] = self.signals.len() as u32;
        self.signals
            .push(Bound::of_value(&signals.cache, &signals.pool, moving, &engine.memory).ok()?);
        signals.expressions.push(moving);
        Some(true)
    }

    fn find_occurrences(&mut self) {
        let mut first = vec![0u32; self.unknowns.len() + 1];
        for term in &self.terms {
            first[term.unknown as usize + 1] += 1;
        }
        for at in 0..self.unknowns.len() {
            first[at + 1] += first[at];
        }
        let nothing = Occurrence {
            equation: NONE,
            is_rate: false,
        };
        let mut next = first.clone();
        self.occurrences = vec![nothing; self.terms.len()];
        for equation in 0..self.constants.len() as u32 {
            for at in self.first_term[equation as usize]..self.first_term[equation as usize + 1] {
                let Term { unknown, is_rate, .. } = self.terms[at as usize];
                let place = &mut next[unknown as usize];
                self.occurrences[*place as usize] = Occurrence { equation, is_rate };
                *place += 1;
            }
        }
        self.first_occurrence = first;
    }

    /// The number of equations, active or not.
    pub(crate) fn equation_count(&self) -> usize {
        self.constants.len()
    }

    /// The terms of an equation.
    pub(crate) fn terms(&self, equation: u32) -> &[Term] {
        let at = equation as usize;
        &self.terms[self.first_term[at] as usize..self.first_term[at + 1] as usize]
    }

    /// The equations in which an unknown occurs.
    pub(crate) fn occurrences(&self, unknown: u32) -> &[Occurrence] {
        let at = unknown as usize;
        &self.occurrences[self.first_occurrence[at] as usize..self.first_occurrence[at + 1] as usize]
    }
}

fn rest_of(model: &Mdae, residual: ExprId) -> Rest {
    let of_node = |id: ExprId| match model.pool.node(id) {
        Node::Var { var, .. } => match model.variables[var].role {
            Role::Parameter | Role::Continuous => Rest::Fixed,
            Role::Input => Rest::Foreign,
            _ => Rest::Moving,
        },
        Node::Time | Node::Condition(_) => Rest::Moving,
        Node::Pre { .. } | Node::Initial | Node::Terminal | Node::Call { .. } => Rest::Foreign,
        _ => Rest::Fixed,
    };
    let nodes = model.pool.reachable(&[residual]).into_iter();
    nodes.map(of_node).max().unwrap_or(Rest::Fixed)
}
