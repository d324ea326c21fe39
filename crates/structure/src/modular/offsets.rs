//! From the whole back to its equations: the smallest offsets.
//!
//! A choice with a matching says d_z ≥ d_y + way(y, z) for what it determines: the longest ways in the graph of the equations,
//! between the variables that others know. Ways of two systems together, without what is hidden between them, are those of
//! the whole. With the offsets of the outer variables given, those within follow; c of an equation is d of the variable that
//! it determines, less its order there.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::interface::{Choice, TooWide, Variable};
use super::tree::{ClassMode, Kind, Library, Node};

/// The longest ways from one variable to others.
type Ways = BTreeMap<Variable, i64>;

/// Lower bounds between offsets, for a choice.
#[derive(Debug, Default)]
struct Bounds {
    /// From what is determined to what occurs.
    ways: Vec<(Variable, Variable, i64)>,
    /// d_z ≥ base.
    base: Ways,
}

/// Offsets of an instance, found by the way to it: numbers of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceOffsets {
    /// c by number of the equation, of those that are in force.
    pub c: BTreeMap<usize, i64>,
    /// d of the variables in them.
    pub d: BTreeMap<Variable, i64>,
}

/// Offsets of a regular system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemOffsets {
    /// The number of states.
    pub states: i64,
    /// By instance; the system itself has the empty way.
    pub instances: BTreeMap<Vec<usize>, InstanceOffsets>,
}

impl Library {
    /// The smallest offsets of a class that is used alone; `None` if it is singular.
    pub fn offsets(&mut self, class: usize, mode: &ClassMode) -> Result<Option<SystemOffsets>, TooWide> {
        let node = self.node(class, mode)?;
        let Some(&states) = node.interface.table.get(&Vec::new()) else {
            return Ok(None);
        };
        let mut found = SystemOffsets {
            states,
            ..SystemOffsets::default()
        };
        descend(node, &mut found);
        Ok(Some(found))
    }
}

/// Bounds of systems for their choices, each found once.
#[derive(Default)]
struct Known(FxHashMap<(*const Node, Choice), Rc<Bounds>>);

impl Known {
    /// A class is a long row of pairs: they are gone through from the innermost out.
    fn bounds(&mut self, node: &Rc<Node>, choice: &Choice) -> Rc<Bounds> {
        let mut row = vec![(Rc::clone(node), choice.clone())];
        while let Some((node, choice)) = row.last()
            && let Kind::Pair { first, split, .. } = &node.kind
            && !self.0.contains_key(&(Rc::as_ptr(node), choice.clone()))
            && let Some((mine, _)) = split.get(choice)
        {
            let inner = (Rc::clone(first), mine.clone());
            row.push(inner);
        }
        let mut found = Rc::default();
        while let Some((node, choice)) = row.pop() {
            let key = (Rc::as_ptr(&node), choice.clone());
            found = match self.0.get(&key) {
                Some(known) => Rc::clone(known),
                None => Rc::new(self.own_bounds(&node, &choice)),
            };
            self.0.insert(key, Rc::clone(&found));
        }
        found
    }

    fn own_bounds(&mut self, node: &Rc<Node>, choice: &Choice) -> Bounds {
        match &node.kind {
            Kind::Empty => Bounds::default(),
            Kind::Equation { entries, .. } => of_equation(entries, choice),
            Kind::Part { inner, join, .. } => {
                let name = |variable: Variable| join.get(&variable).copied().unwrap_or(variable);
                let inside = self.bounds(inner, &backwards(choice, join));
                let way = |&(a, b, way): &(Variable, Variable, i64)| (name(a), name(b), way);
                Bounds {
                    ways: inside.ways.iter().map(way).collect(),
                    base: inside
                        .base
                        .iter()
                        .map(|(&variable, &least)| (name(variable), least))
                        .collect(),
                }
            }
            Kind::Pair { .. } => {
                let Some((inside, ..)) = self.halves(node, choice) else {
                    return Bounds::default();
                };
                let known = |variable: &Variable| node.interface.known.contains(variable);
                let mut ways = Vec::new();
                for &from in choice {
                    let reached = longest(Ways::from([(from, 0)]), &inside.ways);
                    ways.extend(
                        reached
                            .into_iter()
                            .filter(|(to, _)| known(to))
                            .map(|(to, way)| (from, to, way)),
                    );
                }
                let mut base = longest(inside.base, &inside.ways);
                base.retain(|variable, _| known(variable));
                Bounds { ways, base }
            }
        }
    }

    /// Bounds of both halves of a pair together, and what each of them determines.
    fn halves(&mut self, node: &Node, choice: &Choice) -> Option<(Bounds, Choice, Choice)> {
        let Kind::Pair { first, second, split } = &node.kind else {
            return None;
        };
        let (mine, theirs) = split.get(choice)?;
        let (one, other) = (self.bounds(first, mine), self.bounds(second, theirs));
        let mut base = one.base.clone();
        for (&variable, &least) in &other.base {
            let known = base.entry(variable).or_insert(least);
            *known = least.max(*known);
        }
        let ways = one.ways.iter().chain(&other.ways).copied().collect();
        Some((Bounds { ways, base }, mine.clone(), theirs.clone()))
    }
}

fn of_equation(entries: &[(Variable, u16)], choice: &[Variable]) -> Bounds {
    let mut ways = Vec::new();
    for &(from, order) in entries.iter().filter(|entry| choice.contains(&entry.0)) {
        let way = |&(to, other): &(Variable, u16)| (from, to, i64::from(other) - i64::from(order));
        ways.extend(entries.iter().map(way));
    }
    Bounds {
        ways,
        base: entries
            .iter()
            .map(|&(variable, order)| (variable, i64::from(order)))
            .collect(),
    }
}

/// Longest ways from start values. There are no positive cycles: the choice is of the highest value.
fn longest(mut found: Ways, ways: &[(Variable, Variable, i64)]) -> Ways {
    for _ in 0..=ways.len() {
        let mut changed = false;
        for &(from, to, way) in ways {
            if let Some(&start) = found.get(&from)
                && found.get(&to).is_none_or(|&known| known < start + way)
            {
                found.insert(to, start + way);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    found
}

fn backwards(choice: &[Variable], join: &BTreeMap<Variable, Variable>) -> Choice {
    let mut inner: Choice = join
        .iter()
        .filter(|(_, here)| choice.contains(here))
        .map(|(&inner, _)| inner)
        .collect();
    inner.sort_unstable();
    inner
}

/// What is to be done on the way down: a system with its choice, the offsets around it, and the way to it.
type Task = (Rc<Node>, Choice, Rc<Ways>, Vec<usize>);

fn descend(whole: Rc<Node>, found: &mut SystemOffsets) {
    let mut known = Known::default();
    let mut tasks: Vec<Task> = vec![(whole, Vec::new(), Rc::default(), Vec::new())];
    while let Some((node, choice, given, way)) = tasks.pop() {
        match &node.kind {
            Kind::Empty => {}
            Kind::Equation { row, entries } => {
                let instance = found.instances.entry(way).or_default();
                for (variable, order) in entries {
                    let d = given.get(variable).copied().unwrap_or(0);
                    instance.d.insert(*variable, d);
                    if choice.contains(variable) {
                        instance.c.insert(*row, d - i64::from(*order));
                    }
                }
            }
            Kind::Part { part, inner, join } => {
                let inside: Ways = join
                    .iter()
                    .filter_map(|(&inner, here)| Some((inner, *given.get(here)?)))
                    .collect();
                let way = [&way[..], &[*part]].concat();
                tasks.push((Rc::clone(inner), backwards(&choice, join), Rc::new(inside), way));
            }
            Kind::Pair { first, second, .. } => {
                let Some((inside, mine, theirs)) = known.halves(&node, &choice) else {
                    continue;
                };
                let mut start = inside.base;
                for (&variable, &d) in given
                    .iter()
                    .filter(|(variable, _)| node.interface.known.contains(variable))
                {
                    let known = start.entry(variable).or_insert(d);
                    *known = d.max(*known);
                }
                let within = Rc::new(longest(start, &inside.ways));
                tasks.push((Rc::clone(first), mine, Rc::clone(&within), way.clone()));
                tasks.push((Rc::clone(second), theirs, within, way));
            }
        }
    }
}
