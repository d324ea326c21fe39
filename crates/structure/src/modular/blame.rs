//! Which component of a singular system is to blame: the lowest one that no context makes sound.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_mdae::{Derivative, Idx, VarId};

use super::interface::Variable;
use super::tree::{Class, ClassMode, Kind, Library, Node, Part};
use crate::all_modes::{GuardedEntry, GuardedRow};
use crate::formula::Formula;

/// What is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// The component; empty: the model itself.
    pub component: String,
    /// Components inside that are sound each and cannot be joined; empty if it is the component's own equations.
    pub parts: Vec<String>,
    /// The variables between them that both or neither determine.
    pub variables: Vec<VarId>,
}

/// Models with more equations are not looked at.
const MOST_EQUATIONS: usize = 20_000;

/// The component to blame in a singular mode, given its equations with the components they belong to; `None` if the system
/// is regular, or too many variables meet in one place.
pub fn blame(rows: &[(Arc<str>, Vec<Derivative>)]) -> Option<Blame> {
    if rows.len() > MOST_EQUATIONS {
        return None;
    }
    let tree = Components::new(rows);
    let mut library = Library::new(tree.classes());
    let mode = |at: usize| tree.mode(at);
    let mut at = 0;
    if !library.node(at, &mode(at)).ok()?.interface.is_wrong() {
        return None;
    }
    loop {
        let wrong = |&part: &usize| {
            let node = library.node(part, &mode(part));
            node.is_ok_and(|node| node.interface.is_wrong())
        };
        let next = tree.children[at].iter().copied().find(wrong);
        match next {
            Some(part) => at = part,
            None => break,
        }
    }
    let node = library.node(at, &mode(at)).ok()?;
    let (parts, variables) = tree.conflict(at, &node);
    Some(Blame {
        component: tree.paths[at].clone(),
        parts,
        variables,
    })
}

/// The components of a system: the model itself first.
struct Components<'r> {
    paths: Vec<String>,
    /// The component around each; that of the model is itself.
    around: Vec<usize>,
    children: Vec<Vec<usize>>,
    /// Own equations.
    own: Vec<Vec<&'r [Derivative]>>,
    /// Variables that occur in a component, and those of them that occur elsewhere too.
    boundary: Vec<BTreeSet<VarId>>,
}

impl<'r> Components<'r> {
    fn new(rows: &'r [(Arc<str>, Vec<Derivative>)]) -> Self {
        let mut tree = Components {
            paths: vec![String::new()],
            around: vec![0],
            children: vec![Vec::new()],
            own: vec![Vec::new()],
            boundary: Vec::new(),
        };
        let mut number: BTreeMap<String, usize> = BTreeMap::from([(String::new(), 0)]);
        for (path, row) in rows {
            let at = tree.enter(path, &mut number);
            tree.own[at].push(row);
        }
        tree.find_boundaries();
        tree
    }

    fn enter(&mut self, path: &str, number: &mut BTreeMap<String, usize>) -> usize {
        if let Some(&known) = number.get(path) {
            return known;
        }
        let around = self.enter(&path[..last_dot(path).unwrap_or(0)], number);
        let at = self.paths.len();
        self.paths.push(path.to_owned());
        self.around.push(around);
        self.children.push(Vec::new());
        self.own.push(Vec::new());
        self.children[around].push(at);
        number.insert(path.to_owned(), at);
        at
    }

    fn find_boundaries(&mut self) {
        let mut everywhere: FxHashMap<VarId, usize> = FxHashMap::default();
        for variable in self
            .own
            .iter()
            .flatten()
            .flat_map(|row| row.iter())
            .map(|entry| entry.var)
        {
            *everywhere.entry(variable).or_default() += 1;
        }
        let mut inside: Vec<BTreeMap<VarId, usize>> = vec![BTreeMap::new(); self.paths.len()];
        // Components are numbered behind those around them.
        for at in (0..self.paths.len()).rev() {
            let mut found = std::mem::take(&mut inside[at]);
            for variable in self.own[at].iter().flat_map(|row| row.iter()).map(|entry| entry.var) {
                *found.entry(variable).or_default() += 1;
            }
            if at > 0 {
                for (&variable, &count) in &found {
                    *inside[self.around[at]].entry(variable).or_default() += count;
                }
            }
            inside[at] = found;
        }
        let known = |found: &BTreeMap<VarId, usize>| {
            let elsewhere = found
                .iter()
                .filter(|(variable, count)| everywhere.get(variable) > Some(count));
            elsewhere.map(|(&variable, _)| variable).collect()
        };
        self.boundary = inside.iter().map(known).collect();
    }

    fn classes(&self) -> Vec<Class> {
        let number = |variable: &VarId| variable.index() as Variable;
        let class = |at: usize| Class {
            boundary: self.boundary[at].iter().map(number).collect(),
            rows: self.own[at].iter().map(|row| guarded(row)).collect(),
            parts: self.children[at]
                .iter()
                .map(|&part| Part {
                    class: part,
                    join: self.boundary[part]
                        .iter()
                        .map(|variable| (number(variable), number(variable)))
                        .collect(),
                })
                .collect(),
        };
        (0..self.paths.len()).map(class).collect()
    }

    fn mode(&self, at: usize) -> ClassMode {
        ClassMode {
            own: Vec::new(),
            parts: self.children[at].iter().map(|&part| self.mode(part)).collect(),
        }
    }

    /// Where the first composition fails: the parts around the variables that are hidden there, and those variables.
    fn conflict(&self, at: usize, node: &Rc<Node>) -> (Vec<String>, Vec<VarId>) {
        let mut here = node;
        let mut hidden = BTreeSet::new();
        while let Kind::Pair { first, second, .. } = &here.kind {
            let both: BTreeSet<Variable> = first.interface.known.union(&second.interface.known).copied().collect();
            hidden = both.difference(&here.interface.known).copied().collect();
            if !first.interface.is_wrong() {
                break;
            }
            here = first;
        }
        let variables: Vec<VarId> = hidden
            .iter()
            .map(|&variable| VarId::from_usize(variable as usize))
            .collect();
        let touches = |&&part: &&usize| variables.iter().any(|variable| self.boundary[part].contains(variable));
        let parts: Vec<String> = self.children[at]
            .iter()
            .filter(touches)
            .map(|&part| self.paths[part].clone())
            .collect();
        (parts, variables)
    }
}

fn guarded(row: &[Derivative]) -> GuardedRow {
    let entry = |&Derivative { var, order }: &Derivative| GuardedEntry {
        unknown: var.index() as Variable,
        order,
        when: Formula::Constant(true),
    };
    GuardedRow {
        guard: Formula::Constant(true),
        entries: row.iter().map(entry).collect(),
    }
}

/// Where the last name of a path begins: dots in indices and in quoted names do not count.
fn last_dot(path: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut last) = (0, false, None);
    for (at, character) in path.char_indices() {
        match character {
            '\'' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth -= 1,
            '.' if !quoted && depth == 0 => last = Some(at),
            _ => {}
        }
    }
    last
}
