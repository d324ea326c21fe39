//! Classes, and their interfaces as trees of compositions.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::interface::{Interface, Split, TooWide, Variable};
use crate::all_modes::GuardedRow;

/// A class of components.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// The variables that its surroundings know: those of its connectors.
    pub boundary: Vec<Variable>,
    /// Its own equations; conditions in their guards are its own too.
    pub rows: Vec<GuardedRow>,
    /// Components inside.
    pub parts: Vec<Part>,
}

/// A component of a class.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its class, by number.
    pub class: usize,
    /// Boundary variables of its class with the variables of this one that they are.
    pub join: Vec<(Variable, Variable)>,
}

/// A mode of a class: the values of its own conditions, and the modes of its parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ClassMode {
    /// By condition.
    pub own: Vec<bool>,
    /// By part.
    pub parts: Vec<ClassMode>,
}

/// A system in one mode, as it is made.
#[derive(Debug)]
pub(super) struct Node {
    pub interface: Rc<Interface>,
    pub kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Nothing.
    Empty,
    /// One equation of the class, by number.
    Equation { row: usize, entries: Vec<(Variable, u16)> },
    /// A part with the names of the class around it.
    Part {
        part: usize,
        inner: Rc<Node>,
        join: BTreeMap<Variable, Variable>,
    },
    /// Two systems.
    Pair {
        first: Rc<Node>,
        second: Rc<Node>,
        split: Rc<Split>,
    },
}

/// Interfaces of classes, each found once.
#[derive(Debug, Default)]
pub struct Library {
    classes: Vec<Class>,
    nodes: FxHashMap<(usize, ClassMode), Result<Rc<Node>, TooWide>>,
    /// Compositions by content, with variables by rank.
    known: BTreeMap<Key, Composed>,
}

/// What a composition gives.
type Composed = Result<(Rc<Interface>, Rc<Split>), TooWide>;

/// Two interfaces and what is hidden between them.
type Key = (Interface, Interface, BTreeSet<Variable>);

impl Library {
    /// Nothing is computed yet.
    pub fn new(classes: Vec<Class>) -> Self {
        Library {
            classes,
            ..Library::default()
        }
    }

    /// The interface of a class in a mode.
    pub fn interface(&mut self, class: usize, mode: &ClassMode) -> Result<Rc<Interface>, TooWide> {
        Ok(Rc::clone(&self.node(class, mode)?.interface))
    }

    /// How many compositions were carried out: equal ones count once.
    pub fn compositions(&self) -> usize {
        self.known.len()
    }

    pub(super) fn class(&self, class: usize) -> &Class {
        &self.classes[class]
    }

    pub(super) fn node(&mut self, class: usize, mode: &ClassMode) -> Result<Rc<Node>, TooWide> {
        let key = (class, mode.clone());
        if let Some(known) = self.nodes.get(&key) {
            return known.clone();
        }
        let found = self.fold(class, mode);
        self.nodes.insert(key, found.clone());
        found
    }

    /// Its own equations and its parts one after the other, each followed by hiding what no later one knows.
    fn fold(&mut self, class: usize, mode: &ClassMode) -> Result<Rc<Node>, TooWide> {
        let items = self.items(class, mode)?;
        let outside: BTreeSet<Variable> = self.classes[class].boundary.iter().copied().collect();
        let mut users: FxHashMap<Variable, usize> = FxHashMap::default();
        for variable in items.iter().flat_map(|item| &item.interface.known) {
            *users.entry(*variable).or_default() += 1;
        }
        let mut whole = Rc::new(Node {
            interface: Rc::new(Interface::nothing()),
            kind: Kind::Empty,
        });
        let mut waiting = Waiting::new(&items);
        while let Some(next) = waiting.next(&whole.interface.known, &users, &outside) {
            let item = &items[next];
            for variable in &item.interface.known {
                *users.entry(*variable).or_default() -= 1;
            }
            let both = whole.interface.known.union(&item.interface.known);
            let hidden = both
                .copied()
                .filter(|v| users.get(v) == Some(&0) && !outside.contains(v))
                .collect();
            let (interface, split) = self.composed(&whole.interface, &item.interface, &hidden)?;
            whole = Rc::new(Node {
                interface,
                kind: Kind::Pair {
                    first: whole,
                    second: Rc::clone(item),
                    split,
                },
            });
        }
        Ok(whole)
    }

    fn items(&mut self, class: usize, mode: &ClassMode) -> Result<Vec<Rc<Node>>, TooWide> {
        let valuation: Vec<Option<bool>> = mode.own.iter().copied().map(Some).collect();
        let mut items = Vec::new();
        for (row, guarded) in self.classes[class].rows.iter().enumerate() {
            if let Some(entries) = entries(guarded, &valuation) {
                items.push(Rc::new(Node {
                    interface: Rc::new(Interface::of_equation(&entries)),
                    kind: Kind::Equation { row, entries },
                }));
            }
        }
        let parts = self.classes[class].parts.clone();
        for (part, (Part { class, join }, mode)) in parts.into_iter().zip(&mode.parts).enumerate() {
            let inner = self.node(class, mode)?;
            let join: BTreeMap<Variable, Variable> = join.into_iter().collect();
            let interface = inner
                .interface
                .renamed(&|variable| join.get(&variable).copied().unwrap_or(variable));
            items.push(Rc::new(Node {
                interface: Rc::new(interface),
                kind: Kind::Part { part, inner, join },
            }));
        }
        Ok(items)
    }

    /// A composition; equal ones, up to the numbers of variables, are made once.
    fn composed(&mut self, first: &Interface, second: &Interface, hidden: &BTreeSet<Variable>) -> Composed {
        let all: Vec<Variable> = first.known.union(&second.known).copied().collect();
        let rank = |variable: Variable| all.binary_search(&variable).map_or(variable, |rank| rank as Variable);
        let (least_first, least_second) = (first.lowest(), second.lowest());
        let key = (
            first.shifted(-least_first).renamed(&rank),
            second.shifted(-least_second).renamed(&rank),
            hidden.iter().map(|&variable| rank(variable)).collect(),
        );
        let found = self.known.entry(key).or_insert_with_key(|(first, second, hidden)| {
            let (interface, split) = first.composed(second, hidden)?;
            Ok((Rc::new(interface), Rc::new(split)))
        });
        let (interface, split) = found.clone()?;
        let name = |rank: Variable| all[rank as usize];
        let interface = interface.renamed(&name).shifted(least_first + least_second);
        let choice = |choice: &Vec<Variable>| super::interface::renamed(choice, &name);
        let split = split
            .iter()
            .map(|(whole, (a, b))| (choice(whole), (choice(a), choice(b))));
        Ok((Rc::new(interface), Rc::new(split.collect())))
    }
}

impl Interface {
    fn lowest(&self) -> i64 {
        self.table.values().copied().min().unwrap_or(0)
    }

    fn shifted(&self, by: i64) -> Interface {
        Interface {
            table: self
                .table
                .iter()
                .map(|(choice, value)| (choice.clone(), value + by))
                .collect(),
            ..self.clone()
        }
    }
}

/// The highest order of each variable of an equation; `None` where it is not in force.
pub(super) fn entries(row: &GuardedRow, valuation: &[Option<bool>]) -> Option<Vec<(Variable, u16)>> {
    if row.guard.decided(valuation) != Some(true) {
        return None;
    }
    let mut highest: BTreeMap<Variable, u16> = BTreeMap::new();
    for entry in &row.entries {
        if entry.when.decided(valuation) == Some(true) {
            let known = highest.entry(entry.unknown).or_insert(entry.order);
            *known = entry.order.max(*known);
        }
    }
    Some(highest.into_iter().collect())
}

/// What is still to be put in. The next is one that leaves fewest variables open, among those that share some with what is
/// there.
struct Waiting<'a> {
    items: &'a [Rc<Node>],
    done: Vec<bool>,
    first: usize,
    of_variable: FxHashMap<Variable, Vec<usize>>,
}

impl<'a> Waiting<'a> {
    fn new(items: &'a [Rc<Node>]) -> Self {
        let mut of_variable: FxHashMap<Variable, Vec<usize>> = FxHashMap::default();
        for (at, item) in items.iter().enumerate() {
            for &variable in &item.interface.known {
                of_variable.entry(variable).or_default().push(at);
            }
        }
        Waiting {
            items,
            done: vec![false; items.len()],
            first: 0,
            of_variable,
        }
    }

    fn next(
        &mut self,
        open: &BTreeSet<Variable>,
        users: &FxHashMap<Variable, usize>,
        outside: &BTreeSet<Variable>,
    ) -> Option<usize> {
        while *self.done.get(self.first)? {
            self.first += 1;
        }
        let near: BTreeSet<usize> = open
            .iter()
            .filter_map(|variable| self.of_variable.get(variable))
            .flatten()
            .copied()
            .filter(|&at| !self.done[at])
            .collect();
        // Variables that become open, less those that are closed.
        let cost = |at: &usize| {
            let known = &self.items[*at].interface.known;
            let opened = known
                .iter()
                .filter(|v| !open.contains(v) && users.get(v) > Some(&1))
                .count() as i64;
            let closes = |v: &&Variable| open.contains(v) && users.get(v) == Some(&1) && !outside.contains(v);
            opened - known.iter().filter(closes).count() as i64
        };
        let next = near
            .iter()
            .copied()
            .min_by_key(|at| (cost(at), *at))
            .unwrap_or(self.first);
        self.done[next] = true;
        Some(next)
    }
}
