//! A model as plain data: what a file holds of it, and the way back.
//!
//! Written are the parts of [`Mdae`] in the order of its fields. Expressions are written as the list of their nodes in
//! the order of their ids, children before parents, and interned again on reading, so that every id stays what it was.
//! What can be found again is not written: tables for looking up, slopes of splines, derivatives.
//!
//! Reading trusts nothing: whatever the bytes are, there is a valid model or an error.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::expr::{ExprPool, Node, VarTraits};
use crate::function::Functions;
use crate::index::{ConditionId, EquationId, ExprId, Idx, IndexVec, OriginId, VarId, WhenId};
use crate::model::{
    Alias, Assertion, Clock, Combination, Condition, ConstantVariable, Delay, DiscreteEquation, Equation, Experiment,
    Mdae, Origin, Share, Transport, Variable, When,
};
use crate::text::Texts;
use crate::validate::Invalid;

/// How much of a model there is at some time. Later passes only append: up to here it stays what it was.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    expressions: usize,
    lists: usize,
    equations: usize,
    texts: usize,
}

#[derive(Serialize)]
struct Written<'m> {
    name: &'m str,
    traits: &'m [VarTraits],
    lists: Vec<&'m [u32]>,
    nodes: Vec<Node>,
    functions: &'m Functions,
    variables: &'m IndexVec<VarId, Variable>,
    aliases: &'m [Alias],
    constants: &'m [ConstantVariable],
    equations: &'m [Equation],
    combinations: &'m [Combination],
    shares: &'m [Share],
    conditions: &'m IndexVec<ConditionId, Condition>,
    discrete: &'m [DiscreteEquation],
    whens: &'m IndexVec<WhenId, When>,
    initial_equations: &'m [Equation],
    initial_assignments: &'m [DiscreteEquation],
    assertions: &'m [Assertion],
    delays: &'m [Delay],
    transports: &'m [Transport],
    clocks: &'m [Clock],
    texts: Vec<Arc<str>>,
    origins: &'m IndexVec<OriginId, Origin>,
    experiment: Experiment,
}

/// What was read of a model, not yet looked at.
#[derive(Debug, Deserialize)]
pub struct StoredModel {
    name: Arc<str>,
    traits: Vec<VarTraits>,
    lists: Vec<Vec<u32>>,
    nodes: Vec<Node>,
    functions: Functions,
    variables: IndexVec<VarId, Variable>,
    aliases: Vec<Alias>,
    constants: Vec<ConstantVariable>,
    equations: IndexVec<EquationId, Equation>,
    combinations: Vec<Combination>,
    shares: Vec<Share>,
    conditions: IndexVec<ConditionId, Condition>,
    discrete: Vec<DiscreteEquation>,
    whens: IndexVec<WhenId, When>,
    initial_equations: Vec<Equation>,
    initial_assignments: Vec<DiscreteEquation>,
    assertions: Vec<Assertion>,
    delays: Vec<Delay>,
    transports: Vec<Transport>,
    clocks: Vec<Clock>,
    texts: Vec<Arc<str>>,
    origins: IndexVec<OriginId, Origin>,
    experiment: Experiment,
}

impl Mdae {
    /// How much of the model there is now.
    pub fn extent(&self) -> Extent {
        Extent {
            expressions: self.pool.len(),
            lists: self.pool.list_count(),
            equations: self.equations.len(),
            texts: self.texts.count(),
        }
    }

    /// The model as it was when it had this extent, to be written.
    pub fn to_stored(&self, extent: Extent) -> impl Serialize + '_ {
        let lists = (0..extent.lists.min(self.pool.list_count())).map(|list| self.pool.list_at(list));
        let nodes = (0..extent.expressions.min(self.pool.len())).map(|id| self.pool.node(ExprId::from_usize(id)));
        Written {
            name: &self.name,
            traits: self.pool.all_traits(),
            lists: lists.collect(),
            nodes: nodes.collect(),
            functions: &self.functions,
            variables: &self.variables,
            aliases: &self.aliases,
            constants: &self.constants,
            equations: &self.equations.as_slice()[..extent.equations.min(self.equations.len())],
            combinations: &self.combinations,
            shares: &self.shares,
            conditions: &self.conditions,
            discrete: &self.discrete,
            whens: &self.whens,
            initial_equations: &self.initial_equations,
            initial_assignments: &self.initial_assignments,
            assertions: &self.assertions,
            delays: &self.delays,
            transports: &self.transports,
            clocks: &self.clocks,
            texts: self.texts.first(extent.texts),
            origins: &self.origins,
            experiment: self.experiment,
        }
    }
}

impl StoredModel {
    /// The model, if it is one.
    pub fn into_model(mut self) -> Result<Mdae, Invalid> {
        let texts = Arc::new(Texts::default());
        for (position, text) in self.texts.iter().enumerate() {
            if texts.number(text) != Some(position as f64 + 1.0) {
                return Err(Invalid("texts that are not told apart".to_owned()));
            }
        }
        for function in self.functions.iter_mut() {
            function.texts = Arc::clone(&texts);
        }
        let pool = pool(&self.traits, &self.lists, &self.nodes)?;
        let mut known_conditions = rustc_hash::FxHashMap::default();
        for (id, condition) in self.conditions.iter_enumerated() {
            known_conditions.entry(condition.kind.clone()).or_insert(id);
        }
        let model = Mdae {
            name: self.name,
            pool,
            functions: self.functions,
            variables: self.variables,
            aliases: self.aliases,
            constants: self.constants,
            equations: self.equations,
            combinations: self.combinations,
            shares: self.shares,
            conditions: self.conditions,
            discrete: self.discrete,
            whens: self.whens,
            initial_equations: self.initial_equations,
            initial_assignments: self.initial_assignments,
            assertions: self.assertions,
            delays: self.delays,
            transports: self.transports,
            clocks: self.clocks,
            texts,
            origins: self.origins,
            experiment: self.experiment,
            known_conditions,
        };
        model.validate()?;
        Ok(model)
    }
}

/// Interns nodes; each has the id of its position, or the list is not that of a pool.
fn pool(traits: &[VarTraits], lists: &[Vec<u32>], nodes: &[Node]) -> Result<ExprPool, Invalid> {
    let invalid = |what: &str| Err(Invalid(format!("expressions: {what}")));
    let mut pool = ExprPool::new();
    for &traits in traits {
        pool.declare_variable(traits);
    }
    for (position, list) in lists.iter().enumerate() {
        if pool.intern_list(list).position() != position {
            return invalid("a list twice");
        }
    }
    for (position, &node) in nodes.iter().enumerate() {
        let known = match node {
            Node::Var { var, .. } | Node::Pre { var, .. } => var.index() < traits.len(),
            Node::Call { partials, args, .. } => partials.position() < lists.len() && args.position() < lists.len(),
            _ => true,
        };
        if !known {
            return invalid("a variable or a list that is not there");
        }
        let mut earlier = true;
        pool.for_each_child(node, |child| earlier &= child.index() < position);
        if !earlier {
            return invalid("an expression that is not made of earlier ones");
        }
        if pool.intern(node).index() != position {
            return invalid("an expression twice");
        }
    }
    Ok(pool)
}

/// Data inside data of the same kind. How deep it goes is limited, because passing through it takes stack.
pub(crate) mod nested {
    use std::cell::Cell;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// The syntax allows about half of this.
    const MOST_LEVELS: u32 = 2500;

    thread_local! {
        static LEVEL: Cell<u32> = const { Cell::new(0) };
    }

    struct Entered;

    impl Entered {
        fn new() -> Option<Self> {
            LEVEL.with(|level| {
                level.set(level.get() + 1);
                let entered = Entered;
                (level.get() <= MOST_LEVELS).then_some(entered)
            })
        }
    }

    impl Drop for Entered {
        fn drop(&mut self) {
            LEVEL.with(|level| level.set(level.get() - 1));
        }
    }

    pub(crate) fn serialize<T: Serialize, S: Serializer>(inner: &T, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(_entered) = Entered::new() else {
            return Err(serde::ser::Error::custom("nested too deep"));
        };
        inner.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let Some(_entered) = Entered::new() else {
            return Err(serde::de::Error::custom("nested too deep"));
        };
        T::deserialize(deserializer)
    }
}
