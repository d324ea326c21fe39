//! What every context of a class has to know, mode by mode.

use std::collections::{BTreeMap, BTreeSet};

use saltus_graph::{Bipartite, Column, DulmageMendelsohn, Matcher, Part};

use super::interface::{Choice, Interface, TooWide, Variable};
use super::tree::{ClassMode, Library, entries};

/// What a class says to its surroundings in some of its modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Those modes: the values of its conditions.
    pub modes: Vec<Vec<bool>>,
    /// What it says.
    pub says: Says,
}

/// What a class says in a mode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Says {
    /// No context makes it sound: some equations are too many, or something inside is not determined.
    Wrong {
        /// Equations, by number, that cannot all be used.
        too_many: Vec<usize>,
        /// Variables inside that too few equations determine.
        too_few: Vec<Variable>,
    },
    /// It determines so many of the variables that its surroundings know.
    Determines {
        /// How many.
        count: usize,
        /// Those that occur.
        of: Vec<Variable>,
        /// Sets of that size that it does not determine together.
        never: Vec<Choice>,
        /// Sets that it determines, with the number of states inside. Empty where there are very many.
        choices: Vec<(Choice, i64)>,
        /// Variables that it needs differentiated, with how often at least, whatever the context.
        needs: Vec<(Variable, u16)>,
    },
}

/// Classes with more conditions are not gone through mode by mode.
pub const MOST_CONDITIONS: usize = 12;
/// Of so many variables all sets are looked at.
const MOST_OCCURRING: usize = 14;
/// Choices that are listed.
const MOST_LISTED: usize = 64;

impl Library {
    /// What a class without parts says in each of its modes that `possible` allows, equal modes together; `None` if it has
    /// too many conditions.
    pub fn contexts(
        &mut self,
        class: usize,
        conditions: usize,
        possible: &dyn Fn(&[bool]) -> bool,
    ) -> Result<Option<Vec<Context>>, TooWide> {
        if conditions > MOST_CONDITIONS {
            return Ok(None);
        }
        let mut found: BTreeMap<Says, Vec<Vec<bool>>> = BTreeMap::new();
        for bits in 0u32..1 << conditions {
            let own: Vec<bool> = (0..conditions).map(|at| bits >> at & 1 == 1).collect();
            if !possible(&own) {
                continue;
            }
            let mode = ClassMode {
                own: own.clone(),
                parts: Vec::new(),
            };
            let interface = self.interface(class, &mode)?;
            let says = match says(&interface, self.needs(class, &own)) {
                Some(says) => says,
                None => self.wrong(class, &own),
            };
            found.entry(says).or_default().push(own);
        }
        let mut contexts: Vec<Context> = found.into_iter().map(|(says, modes)| Context { modes, says }).collect();
        contexts.sort_by(|a, b| a.modes.cmp(&b.modes));
        Ok(Some(contexts))
    }

    /// Equations that cannot all be used, whatever is known outside, or variables inside that cannot all be determined
    /// (Mendelsohn and Dulmage: if there are neither, some choice has a matching).
    fn wrong(&self, class: usize, own: &[bool]) -> Says {
        let valuation: Vec<Option<bool>> = own.iter().copied().map(Some).collect();
        let class = self.class(class);
        let rows = class.rows.iter().enumerate();
        let active: Vec<(usize, Vec<(Variable, u16)>)> = rows
            .filter_map(|(at, row)| Some((at, entries(row, &valuation)?)))
            .collect();
        let variables: BTreeSet<Variable> = active
            .iter()
            .flat_map(|(_, row)| row.iter().map(|entry| entry.0))
            .collect();
        let variables: Vec<Variable> = variables.into_iter().collect();
        let graph = |keep: &dyn Fn(Variable) -> bool| {
            let columns = |row: &[(Variable, u16)]| -> Vec<Column> {
                let kept = row.iter().map(|entry| entry.0).filter(|&variable| keep(variable));
                kept.filter_map(|variable| variables.binary_search(&variable).ok())
                    .map(Column::from_index)
                    .collect()
            };
            Bipartite::from_rows(variables.len(), active.iter().map(|(_, row)| columns(row)))
        };
        let whole = graph(&|_| true);
        let parts = DulmageMendelsohn::new(&whole, &Matcher::new().maximum(&whole));
        let too_many: Vec<usize> = parts
            .rows(Part::Overdetermined)
            .map(|row| active[row.index()].0)
            .collect();
        if !too_many.is_empty() {
            return Says::Wrong {
                too_many,
                too_few: Vec::new(),
            };
        }
        let is_inside = |variable: Variable| !class.boundary.contains(&variable);
        let inside = graph(&is_inside);
        let parts = DulmageMendelsohn::new(&inside, &Matcher::new().maximum(&inside));
        let open = parts
            .columns(Part::Underdetermined)
            .map(|column| variables[column.index()]);
        Says::Wrong {
            too_many,
            too_few: open.filter(|&variable| is_inside(variable)).collect(),
        }
    }

    /// Boundary variables of which derivatives occur in the mode.
    fn needs(&self, class: usize, own: &[bool]) -> Vec<(Variable, u16)> {
        let valuation: Vec<Option<bool>> = own.iter().copied().map(Some).collect();
        let class = self.class(class);
        let mut highest: BTreeMap<Variable, u16> = BTreeMap::new();
        for row in class
            .rows
            .iter()
            .filter(|row| row.guard.decided(&valuation) == Some(true))
        {
            for entry in row
                .entries
                .iter()
                .filter(|entry| class.boundary.contains(&entry.unknown))
            {
                let known = highest.entry(entry.unknown).or_insert(entry.order);
                *known = entry.order.max(*known);
            }
        }
        highest.into_iter().filter(|&(_, order)| order > 0).collect()
    }
}

fn says(interface: &Interface, needs: Vec<(Variable, u16)>) -> Option<Says> {
    let count = interface.table.keys().next()?.len();
    let of: Vec<Variable> = interface.occurs.iter().copied().collect();
    let mut never = Vec::new();
    // Of many variables there are too many sets to go through.
    let looked_at = if of.len() > MOST_OCCURRING { 0 } else { of.len() };
    combinations(&of[..looked_at], count, &mut Vec::new(), &mut |choice| {
        if never.len() < MOST_LISTED && !interface.table.contains_key(choice) {
            never.push(choice.to_vec());
        }
    });
    let choices = interface.table.iter().map(|(choice, &value)| (choice.clone(), value));
    Some(Says::Determines {
        count,
        of,
        never,
        choices: if interface.table.len() > MOST_LISTED {
            Vec::new()
        } else {
            choices.collect()
        },
        needs,
    })
}

fn combinations(of: &[Variable], count: usize, chosen: &mut Choice, visit: &mut dyn FnMut(&[Variable])) {
    if count == 0 {
        visit(chosen);
        return;
    }
    for (at, &variable) in of.iter().enumerate() {
        if of.len() - at < count {
            break;
        }
        chosen.push(variable);
        combinations(&of[at + 1..], count - 1, chosen, visit);
        chosen.pop();
    }
}
