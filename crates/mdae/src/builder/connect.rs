//! Components, connectors and connections of a model that is built in Rust.
//!
//! A component is a function that takes a builder with its name and returns its connectors:
//!
//! ```
//! use saltus_mdae::{Builder, Connector};
//!
//! fn inertia(m: &Builder, name: &str, j: f64, start: f64) -> (Connector, Connector) {
//!     let m = m.component(name);
//!     let (a, b) = (m.connector("a", &["w"], &["tau"]), m.connector("b", &["w"], &["tau"]));
//!     let w = m.guess("w", start);
//!     m.equation("left", a.get("w") - &w);
//!     m.equation("right", b.get("w") - &w);
//!     m.equation("law", j * w.der() - a.get("tau") - b.get("tau"));
//!     (a, b)
//! }
//!
//! fn clutch(m: &Builder, name: &str, until: f64) -> (Connector, Connector) {
//!     let m = m.component(name);
//!     let (a, b) = (m.connector("a", &["w"], &["tau"]), m.connector("b", &["w"], &["tau"]));
//!     let engaged = m.time().ge(&m.real(until));
//!     m.equation("balance", a.get("tau") + b.get("tau"));
//!     m.equation_if(&engaged, "engaged", a.get("w") - b.get("w"));
//!     m.equation_if(&!&engaged, "released", a.get("tau").clone());
//!     (a, b)
//! }
//!
//! let m = Builder::new("TwoShafts");
//! let (_, end) = inertia(&m, "j1", 0.1, 0.0);
//! let (left, right) = clutch(&m, "clutch", 1.0);
//! let (begin, _) = inertia(&m, "j2", 0.4, 10.0);
//! m.connect(&end, &left);
//! m.connect(&right, &begin);
//! let model = m.finish().unwrap();
//! assert!(model.variables.iter().any(|v| &*v.name == "clutch.a.tau"));
//! // 3 equations of each inertia, 3 of the clutch, 2 for each of the two connections, 2 torques at the free ends.
//! assert_eq!(model.equations.len(), 3 + 3 + 3 + 2 * 2 + 2);
//! ```

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::{Builder, Ex};
use crate::index::ExprId;
use crate::model::{Mdae, Origin, OriginKind};
use crate::validate::Invalid;

/// A connector of a component: its potentials and flows by name.
#[derive(Clone, Debug)]
pub struct Connector {
    number: usize,
    variables: Rc<[(String, Ex)]>,
}

impl Connector {
    /// A variable of the connector.
    ///
    /// # Panics
    /// If it has none of that name.
    pub fn get(&self, name: &str) -> &Ex {
        let found = self.variables.iter().find(|(known, _)| known == name);
        match found {
            Some((_, variable)) => variable,
            None => panic!("the connector has no variable `{name}`"),
        }
    }
}

/// What a connector is, for connections.
#[derive(Debug)]
struct Declared {
    /// Its name with the component it belongs to.
    name: String,
    component: Arc<str>,
    potentials: Vec<(String, ExprId)>,
    flows: Vec<(String, ExprId)>,
}

/// A connector as seen from a component that connects it: its own (flows count the other way) or that of a part.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    connector: usize,
    own: bool,
}

/// Connectors of a model under construction, and how they are connected.
#[derive(Debug, Default)]
pub(super) struct Connections {
    connectors: Vec<Declared>,
    /// Pairs, with the component whose connection it is.
    pairs: Vec<(End, End, Arc<str>)>,
}

impl Builder {
    /// A part of the model, or of a part of it: variables and equations stated with it carry its name.
    pub fn component(&self, name: &str) -> Builder {
        Builder {
            path: self.qualified(name).into(),
            ..self.clone()
        }
    }

    /// A connector with the names of its potentials and of its flows, all Real unknowns. Flows count into the component.
    pub fn connector(&self, name: &str, potentials: &[&str], flows: &[&str]) -> Connector {
        let declare = |names: &[&str]| -> Vec<(String, Ex)> {
            let variable = |part: &&str| ((*part).to_owned(), self.unknown(&format!("{name}.{part}")));
            names.iter().map(variable).collect()
        };
        let ids = |variables: &[(String, Ex)]| variables.iter().map(|(name, ex)| (name.clone(), ex.id)).collect();
        let (potentials, flows) = (declare(potentials), declare(flows));
        let connections = &mut *self.connections.borrow_mut();
        connections.connectors.push(Declared {
            name: self.qualified(name),
            component: Arc::clone(&self.path),
            potentials: ids(&potentials),
            flows: ids(&flows),
        });
        Connector {
            number: connections.connectors.len() - 1,
            variables: potentials.into_iter().chain(flows).collect(),
        }
    }

    /// Connects two connectors: those of parts of this component, or its own.
    pub fn connect(&self, a: &Connector, b: &Connector) {
        let connections = &mut *self.connections.borrow_mut();
        let end = |connector: &Connector| End {
            connector: connector.number,
            own: connections.connectors[connector.number].component == self.path,
        };
        let pair = (end(a), end(b), Arc::clone(&self.path));
        connections.pairs.push(pair);
    }
}

impl Connections {
    /// The equations of all connections: equal potentials, flows that add up to zero; a connector that nobody connects from
    /// outside has no flow.
    pub(super) fn state(&self, model: &mut Mdae) -> Result<(), Invalid> {
        for (a, b, _) in &self.pairs {
            self.check(a, b)?;
        }
        for (ends, component) in self.sets() {
            self.state_set(&ends, &component, model);
        }
        Ok(())
    }

    fn check(&self, a: &End, b: &End) -> Result<(), Invalid> {
        let (a, b) = (&self.connectors[a.connector], &self.connectors[b.connector]);
        let names = |variables: &[(String, ExprId)]| -> Vec<String> {
            let mut names: Vec<String> = variables.iter().map(|(name, _)| name.clone()).collect();
            names.sort_unstable();
            names
        };
        let fit = names(&a.potentials) == names(&b.potentials) && names(&a.flows) == names(&b.flows);
        if fit {
            return Ok(());
        }
        Err(Invalid(format!(
            "`{}` and `{}` cannot be connected: their variables differ",
            a.name, b.name
        )))
    }

    /// What is connected with each other, in order; connectors that are not connected from outside are alone.
    fn sets(&self) -> Vec<(Vec<End>, Arc<str>)> {
        let number = |end: &End| 2 * end.connector + usize::from(end.own);
        let mut group: Vec<usize> = (0..2 * self.connectors.len()).collect();
        let mut used = vec![false; group.len()];
        let find = |group: &[usize], mut at: usize| {
            while group[at] != at {
                at = group[at];
            }
            at
        };
        let mut component: Vec<Arc<str>> = vec!["".into(); group.len()];
        for (a, b, path) in &self.pairs {
            for end in [a, b] {
                used[number(end)] = true;
                component[number(end)] = Arc::clone(path);
            }
            let (first, second) = (find(&group, number(a)), find(&group, number(b)));
            group[first.max(second)] = first.min(second);
        }
        let ends = (0..self.connectors.len()).flat_map(|connector| {
            let end = |own| End { connector, own };
            [end(false), end(true)]
        });
        // The own side of a connector that its component connects to nothing is its equations' business.
        let ends: Vec<End> = ends.filter(|end| !end.own || used[number(end)]).collect();
        let mut sets: BTreeMap<usize, (Vec<End>, Arc<str>)> = BTreeMap::new();
        for end in ends {
            let of = find(&group, number(&end));
            let new = || (Vec::new(), Arc::clone(&component[number(&end)]));
            sets.entry(of).or_insert_with(new).0.push(end);
        }
        sets.into_values().collect()
    }

    fn state_set(&self, ends: &[End], component: &Arc<str>, model: &mut Mdae) {
        let Some(first) = ends.first().map(|end| &self.connectors[end.connector]) else {
            return;
        };
        let names: Vec<&str> = ends.iter().map(|end| &*self.connectors[end.connector].name).collect();
        let origin = model.add_origin(Origin {
            kind: OriginKind::Built,
            span: None,
            part: None,
            component: Arc::clone(component),
            label: format!("connect({})", names.join(", ")).into(),
        });
        for (name, potential) in &first.potentials {
            for end in &ends[1..] {
                let other = variable(&self.connectors[end.connector].potentials, name);
                if let Some(other) = other.filter(|other| other != potential) {
                    let difference = model.pool.sub(other, *potential);
                    model.add_equation(difference, origin);
                }
            }
        }
        for (name, _) in &first.flows {
            let mut sum = model.pool.real(0.0);
            for end in ends {
                if let Some(flow) = variable(&self.connectors[end.connector].flows, name) {
                    sum = if end.own {
                        model.pool.sub(sum, flow)
                    } else {
                        model.pool.add(sum, flow)
                    };
                }
            }
            model.add_equation(sum, origin);
        }
    }
}

fn variable(of: &[(String, ExprId)], name: &str) -> Option<ExprId> {
    of.iter().find(|(known, _)| known == name).map(|&(_, id)| id)
}
