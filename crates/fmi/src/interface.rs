//! What importers know: variables, whole arrays of them (FMI 3), and parameters that give arrays their sizes, each under a value
//! reference.
//!
//! A unit whose sizes importers may choose holds a model for each choice. All of them have one interface: what an entry stands for is
//! found by its name in each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::state::Interface as Integrates;
use crate::variables::{Shown, Source, Variables};

/// A parameter that gives sizes, with the values that importers may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeParameter {
    /// Its name.
    pub name: String,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
}

/// A size of an array.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Size {
    /// Always the same.
    Number(usize),
    /// The value of a parameter, by its position.
    Parameter(usize),
}

/// What an entry stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The variables of these names; there are brackets without subscripts in it for each array: `c[].x[,]`.
    Named(String),
    /// So many functions of conditions, behind those of the entries before.
    Indicators,
}

/// Something with a value reference: a variable, or an array of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name for importers.
    pub name: String,
    /// The sizes of an array; none for a single variable.
    pub sizes: Vec<Size>,
    /// What it stands for.
    pub meaning: Meaning,
}

/// Everything that importers know, by value reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Parameters that give sizes.
    pub parameters: Vec<SizeParameter>,
    /// By value reference.
    pub entries: Vec<Entry>,
}

/// The variables behind entries, in one model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resolved {
    /// By entry, row by row.
    elements: Vec<Vec<u32>>,
    /// The entry of each variable.
    entry_of: BTreeMap<u32, u32>,
}

impl Resolved {
    fn new(elements: Vec<Vec<u32>>) -> Self {
        let each = (0..).zip(&elements);
        let entry_of = each.flat_map(|(entry, elements)| elements.iter().map(move |&element| (element, entry)));
        Resolved {
            entry_of: entry_of.collect(),
            elements,
        }
    }

    /// The variables that an entry stands for.
    pub(crate) fn of(&self, reference: u32) -> Option<&[u32]> {
        self.elements.get(reference as usize).map(Vec::as_slice)
    }

    /// The entry that a variable belongs to.
    pub(crate) fn entry_of(&self, variable: u32) -> Option<u32> {
        self.entry_of.get(&variable).copied()
    }
}

/// A name with the subscripts taken out, and these; nothing if what is in brackets are no subscripts.
fn split(name: &str) -> Option<(String, Vec<Vec<usize>>)> {
    let (mut pattern, mut all, mut quoted) = (String::with_capacity(name.len()), Vec::new(), false);
    let mut rest = name.chars();
    while let Some(c) = rest.next() {
        pattern.push(c);
        quoted ^= c == '\'';
        if c != '[' || quoted {
            continue;
        }
        let inner: String = rest.by_ref().take_while(|c| *c != ']').collect();
        let subscripts: Option<Vec<usize>> = inner.split(',').map(|subscript| subscript.parse().ok()).collect();
        let subscripts = subscripts?;
        pattern.extend(std::iter::repeat_n(',', subscripts.len() - 1));
        pattern.push(']');
        all.push(subscripts);
    }
    Some((pattern, all))
}

/// A pattern with subscripts: the name of an element.
fn element_name(pattern: &str, subscripts: &[usize]) -> String {
    let (mut name, mut next, mut quoted, mut inside) =
        (String::with_capacity(pattern.len()), subscripts.iter(), false, false);
    let mut push = |name: &mut String| name.push_str(&next.next().map_or(String::new(), |at| at.to_string()));
    for c in pattern.chars() {
        quoted ^= c == '\'';
        if inside && matches!(c, ',' | ']') {
            push(&mut name);
        }
        name.push(c);
        inside = !quoted && (c == '[' || inside && c == ',');
    }
    name
}

/// The name of an array for importers: that of its elements without subscripts.
fn array_name(pattern: &str) -> String {
    let (mut name, mut inside, mut quoted) = (String::with_capacity(pattern.len()), false, false);
    for c in pattern.chars() {
        quoted ^= c == '\'';
        inside |= c == '[' && !quoted;
        if !inside {
            name.push(c);
        }
        inside &= c != ']';
    }
    name
}

/// Subscripts of all elements, row by row.
fn subscripts(sizes: &[usize]) -> Vec<Vec<usize>> {
    sizes.iter().fold(vec![Vec::new()], |rows, &size| {
        let longer = |row: &Vec<usize>, at: usize| [row.as_slice(), &[at]].concat();
        rows.iter()
            .flat_map(|row| (1..=size).map(move |at| longer(row, at)))
            .collect()
    })
}

/// Whether two variables can be elements of one array.
fn alike(a: &Shown, b: &Shown) -> bool {
    let what = |shown: &Shown| {
        (
            shown.kind,
            shown.causality,
            shown.variability,
            shown.start.map(|_| shown.is_guess),
        )
    };
    let scale = |shown: &Shown| [shown.min, shown.max, shown.nominal].map(|value| value.map(f64::to_bits));
    let in_states = |shown: &Shown| (shown.is_slot, shown.derivative_of.is_some());
    let units = |shown: &Shown| (Arc::clone(&shown.unit), Arc::clone(&shown.display_unit));
    what(a) == what(b) && scale(a) == scale(b) && units(a) == units(b) && in_states(a) == in_states(b)
}

/// A whole array in one model.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    sizes: Vec<usize>,
    elements: Vec<u32>,
}

/// The arrays whose elements are all there and alike, by pattern. States are in one only if their rates are, in the same order.
fn groups(list: &[Shown]) -> BTreeMap<String, Group> {
    let mut found: BTreeMap<String, BTreeMap<Vec<usize>, u32>> = BTreeMap::new();
    for (reference, shown) in (0..).zip(list) {
        if let Some((pattern, subscripts)) = split(&shown.name).filter(|(_, subscripts)| !subscripts.is_empty()) {
            found.entry(pattern).or_default().insert(subscripts.concat(), reference);
        }
    }
    let whole = |elements: BTreeMap<Vec<usize>, u32>| {
        let sizes = elements.keys().next_back()?.clone();
        // Keys ascend, so that they are all there if the last is as far from the first as there are.
        let count = sizes.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
        let fits = |key: &Vec<usize>| {
            key.len() == sizes.len() && key.iter().zip(&sizes).all(|(at, size)| *at >= 1 && at <= size)
        };
        let first = &list[*elements.values().next()? as usize];
        let is_whole = count == elements.len() && elements.keys().all(fits);
        let are_alike = elements.values().all(|element| alike(&list[*element as usize], first));
        (is_whole && are_alike).then(|| Group {
            elements: elements.into_values().collect(),
            sizes,
        })
    };
    let mut groups: BTreeMap<String, Group> = { found.into_iter() }
        .filter_map(|(pattern, elements)| Some((pattern, whole(elements)?)))
        .collect();
    let names: BTreeSet<&str> = list.iter().map(|shown| &*shown.name).collect();
    let mut array_names: BTreeMap<String, usize> = BTreeMap::new();
    groups
        .keys()
        .for_each(|pattern| *array_names.entry(array_name(pattern)).or_default() += 1);
    groups.retain(|pattern, _| {
        let name = array_name(pattern);
        array_names[&name] == 1 && !names.contains(&*name)
    });
    while let Some(broken) = broken_states(list, &groups) {
        groups.remove(&broken);
    }
    groups
}

/// An array of states whose rates are none, or the other way round.
fn broken_states(list: &[Shown], groups: &BTreeMap<String, Group>) -> Option<String> {
    let mut place_of: BTreeMap<u32, (&str, usize)> = BTreeMap::new();
    for (pattern, group) in groups {
        place_of.extend(
            (0..)
                .zip(&group.elements)
                .map(|(at, element)| (*element, (&**pattern, at))),
        );
    }
    let mut rates_of: BTreeSet<u32> = BTreeSet::new();
    for (rate, shown) in (0..).zip(list) {
        let Some(state) = shown.derivative_of else { continue };
        rates_of.insert(state);
        match (place_of.get(&rate), place_of.get(&state)) {
            (None, None) => {}
            (Some((pattern, at)), Some((of, place))) if at == place => {
                let first = groups[*pattern].elements[0] as usize;
                let same = list[first].derivative_of == Some(groups[*of].elements[0]);
                if !same || groups[*pattern].sizes != groups[*of].sizes {
                    return Some((*pattern).to_owned());
                }
            }
            (Some((pattern, _)), _) | (None, Some((pattern, _))) => return Some((*pattern).to_owned()),
        }
    }
    None
}

fn single(name: &str) -> Entry {
    Entry {
        name: name.to_owned(),
        sizes: Vec::new(),
        meaning: Meaning::Named(name.to_owned()),
    }
}

impl Interface {
    /// Every variable by itself; with `arrays`, whole arrays where there are some.
    pub(crate) fn of_one(list: &[Shown], arrays: bool) -> (Self, Resolved) {
        let groups = if arrays { groups(list) } else { BTreeMap::new() };
        let several = |group: &&Group| group.elements.len() > 1;
        let mut first_of: BTreeMap<u32, (&str, &Group)> = BTreeMap::new();
        let mut inner: BTreeSet<u32> = BTreeSet::new();
        for (pattern, group) in groups.iter().filter(|(_, group)| several(group)) {
            first_of.insert(group.elements[0], (pattern, group));
            inner.extend(&group.elements[1..]);
        }
        let (mut entries, mut elements) = (Vec::new(), Vec::new());
        for (reference, shown) in (0..).zip(list).filter(|(reference, _)| !inner.contains(reference)) {
            match first_of.get(&reference) {
                Some((pattern, group)) => {
                    entries.push(Entry {
                        name: array_name(pattern),
                        sizes: group.sizes.iter().copied().map(Size::Number).collect(),
                        meaning: Meaning::Named((*pattern).to_owned()),
                    });
                    elements.push(group.elements.clone());
                }
                None => {
                    entries.push(single(&shown.name));
                    elements.push(vec![reference]);
                }
            }
        }
        let parameters = Vec::new();
        (Interface { parameters, entries }, Resolved::new(elements))
    }

    /// What models of several sizes have in common; the first is the one that importers get if they choose nothing. Also what only
    /// some have, and an error where importers could not do without it.
    pub(crate) fn of_many(
        parameters: Vec<SizeParameter>,
        models: &[(Vec<u64>, &Variables)],
        integrates: &[Integrates],
    ) -> Result<(Self, Vec<String>), String> {
        let exchange = integrates.contains(&Integrates::ModelExchange);
        let all: Vec<Member<'_>> = models
            .iter()
            .map(|(values, variables)| Member::new(values, &variables.list))
            .collect();
        let Some(first) = all.first() else {
            return Err("there is no model".to_owned());
        };
        let is_own = |shown: &Shown| matches!(shown.source, Source::Indicator(_) | Source::ModeChange);
        let needed = |shown: &Shown| shown.is_needed(exchange);
        let (mut entries, mut left_out, mut done) = (Vec::new(), Vec::new(), BTreeSet::new());
        for shown in first.list.iter().filter(|shown| !is_own(shown)) {
            let pattern = split(&shown.name).map_or_else(|| shown.name.clone(), |(pattern, _)| pattern);
            let key = if first.groups.contains_key(&pattern) {
                &pattern
            } else {
                &shown.name
            };
            if !done.insert(key.clone()) {
                continue;
            }
            let sizes: Option<Vec<Size>> = match first.groups.get(key) {
                Some(_) => sizes_in_all(&all, key),
                None => all.iter().all(|member| member.has(shown)).then(Vec::new),
            };
            match sizes {
                Some(sizes) if sizes.is_empty() => entries.push(single(&shown.name)),
                Some(sizes) => entries.push(Entry {
                    name: array_name(key),
                    sizes,
                    meaning: Meaning::Named(key.clone()),
                }),
                None if needed(shown) => return Err(without_sizes(&shown.name, &parameters)),
                None => left_out.push(shown.name.clone()),
            }
        }
        let interface = Interface {
            entries,
            parameters: parameters.clone(),
        };
        for (member, (_, variables)) in all.iter().zip(models) {
            let resolved = interface.resolve(member.values, &variables.list)?;
            let missing = (0..)
                .zip(member.list)
                .find(|(at, shown)| needed(shown) && resolved.entry_of(*at).is_none());
            if let Some((_, shown)) = missing {
                return Err(without_sizes(&shown.name, &parameters));
            }
        }
        let mut interface = interface;
        if exchange {
            interface.entries.extend(indicator_entries(&parameters, models)?);
        }
        let clock = first.list.iter().find(|shown| shown.source == Source::ModeChange);
        interface.entries.extend(clock.map(|clock| single(&clock.name)));
        Ok((interface, left_out))
    }

    /// The variables behind the entries, in the model for some sizes.
    pub(crate) fn resolve(&self, values: &[u64], list: &[Shown]) -> Result<Resolved, String> {
        let by_name: BTreeMap<&str, u32> = list.iter().map(|shown| &*shown.name).zip(0..).collect();
        let indicators: Vec<u32> = { (0..).zip(list) }
            .filter(|(_, shown)| matches!(shown.source, Source::Indicator(_)))
            .map(|(at, _)| at)
            .collect();
        let mut indicators = indicators.into_iter();
        let size = |size: &Size| match *size {
            Size::Number(number) => number,
            Size::Parameter(at) => values.get(at).map_or(0, |value| *value as usize),
        };
        let mut elements = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let sizes: Vec<usize> = entry.sizes.iter().map(size).collect();
            let found: Option<Vec<u32>> = match &entry.meaning {
                Meaning::Named(name) if sizes.is_empty() => by_name.get(&**name).map(|at| vec![*at]),
                Meaning::Named(pattern) => {
                    let names = subscripts(&sizes).into_iter().map(|at| element_name(pattern, &at));
                    names.map(|name| by_name.get(&*name).copied()).collect()
                }
                Meaning::Indicators => (0..sizes.iter().product()).map(|_| indicators.next()).collect(),
            };
            elements.push(found.ok_or_else(|| format!("`{}` is not there with the chosen sizes", entry.name))?);
        }
        Ok(Resolved::new(elements))
    }
}

/// One of the models with an interface in common.
struct Member<'a> {
    values: &'a [u64],
    list: &'a [Shown],
    by_name: BTreeMap<&'a str, &'a Shown>,
    groups: BTreeMap<String, Group>,
}

impl<'a> Member<'a> {
    fn new(values: &'a [u64], list: &'a [Shown]) -> Self {
        Member {
            values,
            by_name: list.iter().map(|shown| (&*shown.name, shown)).collect(),
            groups: groups(list),
            list,
        }
    }

    fn has(&self, shown: &Shown) -> bool {
        self.by_name.get(&*shown.name).is_some_and(|known| alike(known, shown))
    }
}

/// The sizes of an array that fit all models.
fn sizes_in_all(all: &[Member<'_>], pattern: &str) -> Option<Vec<Size>> {
    let groups: Option<Vec<&Group>> = all.iter().map(|member| member.groups.get(pattern)).collect();
    let groups = groups?;
    let first = |at: usize| &all[at].list[groups[at].elements[0] as usize];
    let same = (0..all.len()).all(|at| groups[at].sizes.len() == groups[0].sizes.len() && alike(first(at), first(0)));
    if !same {
        return None;
    }
    let size = |dimension: usize| {
        let constant = groups[0].sizes[dimension];
        let is_constant = groups.iter().all(|group| group.sizes[dimension] == constant);
        let follows = |at: &usize| {
            let mut each = all.iter().zip(&groups);
            each.all(|(member, group)| member.values[*at] == group.sizes[dimension] as u64)
        };
        let parameter = (0..all[0].values.len()).find(follows).map(Size::Parameter);
        if is_constant {
            Some(Size::Number(constant))
        } else {
            parameter
        }
    };
    (0..groups[0].sizes.len()).map(size).collect()
}

fn without_sizes(name: &str, parameters: &[SizeParameter]) -> String {
    let names: Vec<String> = parameters
        .iter()
        .map(|parameter| format!("`{}`", parameter.name))
        .collect();
    format!(
        "importers need `{name}`, but it is not part of an array with sizes that are numbers or the values of {}, all of whose elements \
         are alike",
        names.join(", ")
    )
}

/// Functions of conditions as arrays: so many always, and so many for each value of a parameter.
fn indicator_entries(parameters: &[SizeParameter], models: &[(Vec<u64>, &Variables)]) -> Result<Vec<Entry>, String> {
    let count = |values: &[u64]| {
        let model = models.iter().find(|(known, _)| known == values);
        model.map_or(0, |(_, variables)| variables.indicators as i128)
    };
    let lowest: Vec<u64> = parameters.iter().map(|parameter| parameter.min).collect();
    let slope = |at: usize| {
        let mut next = lowest.clone();
        next[at] += 1;
        if parameters[at].max > parameters[at].min {
            count(&next) - count(&lowest)
        } else {
            0
        }
    };
    let slopes: Vec<i128> = (0..parameters.len()).map(slope).collect();
    let sum = |values: &[u64]| -> i128 {
        slopes
            .iter()
            .zip(values)
            .map(|(slope, value)| slope * i128::from(*value))
            .sum()
    };
    let always = count(&lowest) - sum(&lowest);
    let fits = models
        .iter()
        .all(|(values, variables)| always + sum(values) == variables.indicators as i128);
    if !fits || always < 0 || slopes.iter().any(|slope| *slope < 0) {
        return Err(
            "the number of conditions is not a sum of multiples of the sizes, as Model Exchange needs it".to_owned(),
        );
    }
    let entry = |name: String, sizes| Entry {
        name,
        sizes,
        meaning: Meaning::Indicators,
    };
    let mut entries = Vec::new();
    if always > 0 {
        entries.push(entry(
            "saltus.indicator".to_owned(),
            vec![Size::Number(always as usize)],
        ));
    }
    for (at, slope) in slopes.iter().enumerate().filter(|(_, slope)| **slope > 0) {
        let name = format!("saltus.indicator{}", at + 1);
        entries.push(entry(name, vec![Size::Parameter(at), Size::Number(*slope as usize)]));
    }
    Ok(entries)
}

impl Interface {
    /// As text: a line for each parameter and each entry.
    pub(crate) fn write(&self) -> String {
        let mut text = String::new();
        for parameter in &self.parameters {
            text.push_str(&format!(
                "parameter {} {} {}\n",
                parameter.min, parameter.max, parameter.name
            ));
        }
        let size = |size: &Size| match size {
            Size::Number(number) => number.to_string(),
            Size::Parameter(at) => format!("#{at}"),
        };
        for entry in &self.entries {
            let sizes: Vec<String> = entry.sizes.iter().map(size).collect();
            match &entry.meaning {
                Meaning::Named(name) if sizes.is_empty() => text.push_str(&format!("variable {name}\n")),
                Meaning::Named(pattern) => text.push_str(&format!("array {} {pattern}\n", sizes.join(","))),
                Meaning::Indicators => text.push_str(&format!("indicators {} {}\n", sizes.join(","), entry.name)),
            }
        }
        text
    }

    /// A line of text; nothing if it is none.
    pub(crate) fn read_line(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once(' ')?;
        let parameters = self.parameters.len();
        let size = |size: &str| match size.strip_prefix('#') {
            Some(at) => at.parse().ok().filter(|at| *at < parameters).map(Size::Parameter),
            None => size.parse().ok().map(Size::Number),
        };
        let sizes = |text: &str| -> Option<Vec<Size>> { text.split(',').map(size).collect() };
        match word {
            "parameter" => {
                let mut words = rest.splitn(3, ' ');
                let (min, max) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
                let name = words.next()?.to_owned();
                self.parameters.push(SizeParameter { name, min, max });
            }
            "variable" => self.entries.push(single(rest)),
            "array" => {
                let (given, pattern) = rest.split_once(' ')?;
                self.entries.push(Entry {
                    name: array_name(pattern),
                    sizes: sizes(given)?,
                    meaning: Meaning::Named(pattern.to_owned()),
                });
            }
            "indicators" => {
                let (given, name) = rest.split_once(' ')?;
                self.entries.push(Entry {
                    name: name.to_owned(),
                    sizes: sizes(given)?,
                    meaning: Meaning::Indicators,
                });
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_their_patterns() {
        for (name, pattern, array, subscripts) in [
            ("x", "x", "x", vec![]),
            ("x[3]", "x[]", "x", vec![3]),
            ("der(c[2].x[1,4])", "der(c[].x[,])", "der(c.x)", vec![2, 1, 4]),
            ("'a[1]'.b[2]", "'a[1]'.b[]", "'a[1]'.b", vec![2]),
        ] {
            let (found, all) = split(name).unwrap();
            assert_eq!((found.as_str(), all.concat()), (pattern, subscripts.clone()), "{name}");
            assert_eq!(array_name(pattern), array);
            assert_eq!(element_name(pattern, &subscripts), name);
        }
        assert_eq!(split("x[Color.red]"), None);
        assert_eq!(subscripts(&[2, 2]), [[1, 1], [1, 2], [2, 1], [2, 2]]);
        assert_eq!(subscripts(&[2, 0]), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn interfaces_are_written_and_read() {
        let text = "parameter 1 20 n\nparameter 2 2 the m\nvariable time\narray #0,3 c[].x[]\nindicators #1,2 saltus.indicator2\n";
        let mut interface = Interface::default();
        text.lines().for_each(|line| interface.read_line(line).unwrap());
        assert_eq!(interface.write(), text);
        assert_eq!(interface.entries[1].sizes, [Size::Parameter(0), Size::Number(3)]);
        for wrong in ["", "array #2 x[]", "array x x[]", "parameter 1 n", "else 3"] {
            assert_eq!(interface.read_line(wrong), None, "{wrong}");
        }
    }
}
