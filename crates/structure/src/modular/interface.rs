//! What a system of equations says to those around it, in one mode: which of the variables that others know too it can
//! determine, and how highly differentiated they become.

use std::collections::{BTreeMap, BTreeSet};

/// A variable, by its number in the class it stands in.
pub type Variable = u32;

/// Variables that a system determines: sorted.
pub type Choice = Vec<Variable>;

/// A composition with more choices than this is not carried out.
pub const MOST_CHOICES: usize = 4096;

/// An interface. Which variables can be determined together is a valuated matroid: the value of a choice is the highest sum of
/// orders over matchings of all equations with everything inside and that choice; a choice that is not in the table has none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interface {
    /// The variables that others may know.
    pub known: BTreeSet<Variable>,
    /// Those of them that occur in an equation; to the system the others do not exist.
    pub occurs: BTreeSet<Variable>,
    /// Values by choice; all choices have the same size.
    pub table: BTreeMap<Choice, i64>,
}

/// How a composition is made: for each choice the choices of both parts that give its value.
pub type Split = BTreeMap<Choice, (Choice, Choice)>;

/// There are more choices than are looked at.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TooWide;

impl Interface {
    /// That of one equation: it determines any one of its variables.
    pub fn of_equation(row: &[(Variable, u16)]) -> Self {
        let occurs: BTreeSet<Variable> = row.iter().map(|&(variable, _)| variable).collect();
        Interface {
            known: occurs.clone(),
            occurs,
            table: row
                .iter()
                .map(|&(variable, order)| (vec![variable], i64::from(order)))
                .collect(),
        }
    }

    /// That of no equations.
    pub fn nothing() -> Self {
        Interface {
            known: BTreeSet::new(),
            occurs: BTreeSet::new(),
            table: BTreeMap::from([(Vec::new(), 0)]),
        }
    }

    /// Whether no context makes the system sound.
    pub fn is_wrong(&self) -> bool {
        self.table.is_empty()
    }

    /// With other numbers.
    pub fn renamed(&self, name: &dyn Fn(Variable) -> Variable) -> Self {
        let all = |set: &BTreeSet<Variable>| set.iter().map(|&variable| name(variable)).collect();
        let entry = |(choice, &value): (&Choice, &i64)| (renamed(choice, name), value);
        Interface {
            known: all(&self.known),
            occurs: all(&self.occurs),
            table: self.table.iter().map(entry).collect(),
        }
    }

    /// Two systems as one; nobody else knows the `hidden` variables, so each that occurs is determined by exactly one of them.
    pub fn composed(&self, other: &Interface, hidden: &BTreeSet<Variable>) -> Result<(Interface, Split), TooWide> {
        let occurs: BTreeSet<Variable> = self.occurs.union(&other.occurs).copied().collect();
        let must: BTreeSet<Variable> = hidden.intersection(&occurs).copied().collect();
        let (mut table, mut split) = (BTreeMap::new(), Split::new());
        for (mine, value) in &self.table {
            for (theirs, added) in &other.table {
                let Some(together) = disjoint_union(mine, theirs) else {
                    continue;
                };
                let choice: Choice = together.iter().copied().filter(|v| !must.contains(v)).collect();
                if together.len() - choice.len() < must.len() {
                    continue;
                }
                let total = value + added;
                if table.get(&choice).is_none_or(|&known| known < total) {
                    table.insert(choice.clone(), total);
                    split.insert(choice, (mine.clone(), theirs.clone()));
                }
                if table.len() > MOST_CHOICES {
                    return Err(TooWide);
                }
            }
        }
        let outside = |set: BTreeSet<Variable>| set.difference(hidden).copied().collect();
        let known = self.known.union(&other.known).copied().collect();
        let interface = Interface {
            known: outside(known),
            occurs: outside(occurs),
            table,
        };
        Ok((interface, split))
    }
}

pub(super) fn renamed(choice: &[Variable], name: &dyn Fn(Variable) -> Variable) -> Choice {
    let mut renamed: Choice = choice.iter().map(|&variable| name(variable)).collect();
    renamed.sort_unstable();
    renamed
}

/// The union of sorted sets that have nothing in common.
fn disjoint_union(a: &[Variable], b: &[Variable]) -> Option<Choice> {
    let mut both: Choice = Vec::with_capacity(a.len() + b.len());
    both.extend_from_slice(a);
    both.extend_from_slice(b);
    both.sort_unstable();
    both.windows(2).all(|pair| pair[0] != pair[1]).then_some(both)
}
