//! What is known of a model as a whole: its balance, its modes, and what happens between them.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use saltus::Session;
use saltus::analysis::{Analysis, AnalysisOptions, ChangeOutcome, ModeShape, RestartReport};
use saltus::flat::UnitNotes;
use saltus::simulate::Cancel;
use saltus::source::{FileId, Span};
use saltus_names::{ClassId, Names};
use saltus_syntax::ast::{ClassDefinition, ClassKind, Equation, EquationKind};

use crate::world::{Look, World};

/// Models with more unknowns are analysed only where a command asks for it.
const MOST_UNKNOWNS: usize = 2000;
/// Models of one file that are analysed in advance.
const MOST_MODELS: usize = 20;

/// What is known of a model.
#[derive(Debug, Default)]
pub(crate) struct ModelFacts {
    /// Unknowns, and equations with the smallest and with the largest branches; `None` for a model that is wrong.
    pub(crate) balance: Option<(usize, usize, usize)>,
    pub(crate) analysis: Option<Analysis>,
    /// The sizes of the arrays of the model itself.
    sizes: BTreeMap<String, Vec<u32>>,
    /// Units that follow from others.
    units: UnitNotes,
}

impl ModelFacts {
    pub(crate) fn new(session: &Session, model: &str, cancel: &Cancel) -> ModelFacts {
        let Some((flat, units)) = session.flatten_with_units(model).value else {
            return ModelFacts::default();
        };
        let counts = flat.counts();
        let balance = Some((counts.unknowns, counts.min_equations, counts.max_equations));
        let analysis = (counts.unknowns <= MOST_UNKNOWNS)
            .then(|| session.compile(model).value)
            .flatten()
            .map(|model| {
                model.analyze(&AnalysisOptions {
                    cancel: cancel.clone(),
                    ..AnalysisOptions::default()
                })
            });
        let sizes = sizes_of(flat.variables.iter().map(|variable| &*variable.name));
        ModelFacts {
            balance,
            analysis,
            sizes,
            units,
        }
    }

    /// The unit that equations give a variable of the model, or all elements of an array.
    pub(crate) fn unit(&self, name: &str) -> Option<&str> {
        let variables = &self.units.variables;
        let after = |rest: &str| rest.is_empty() || rest.starts_with('[');
        let of_name = variables
            .range::<str, _>((Bound::Included(name), Bound::Unbounded))
            .take_while(|(found, _)| found.starts_with(name));
        let mut units = of_name
            .filter(|(found, _)| after(&found[name.len()..]))
            .map(|(_, unit)| &**unit);
        let first = units.next()?;
        units.all(|unit| unit == first).then_some(first)
    }

    /// Operations and calls in a file with their units.
    pub(crate) fn expressions_in(&self, file: FileId) -> impl Iterator<Item = (Span, &str)> {
        let bounds = Span::new(file, 0, 0)..=Span::new(file, u32::MAX, u32::MAX);
        self.units
            .expressions
            .range(bounds)
            .map(|(span, unit)| (*span, &**unit))
    }

    /// The smallest expression around a place, with its unit.
    pub(crate) fn expression_at(&self, file: FileId, offset: u32) -> Option<(Span, &str)> {
        let around = self
            .expressions_in(file)
            .filter(|(span, _)| span.start <= offset && offset <= span.end);
        around.min_by_key(|(span, _)| span.end - span.start)
    }

    /// The sizes of an array that is declared in the model.
    pub(crate) fn sizes(&self, name: &str) -> Option<&[u32]> {
        self.sizes.get(name).map(Vec::as_slice)
    }

    fn shapes(&self) -> impl Iterator<Item = &ModeShape> {
        let modes = self.analysis.iter().flat_map(|analysis| &analysis.modes);
        modes.filter_map(|mode| mode.structure.as_ref().ok())
    }

    /// In a few words: `3 modes, index 1–3`.
    pub(crate) fn summary(&self) -> Option<String> {
        let analysis = self.analysis.as_ref()?;
        let modes = count(analysis.modes.len(), "mode");
        let indices: Vec<u16> = self.shapes().map(|shape| shape.index).collect();
        let states: Vec<usize> = self.shapes().map(|shape| shape.states.len()).collect();
        let (Some(least), Some(greatest)) = (indices.iter().min(), indices.iter().max()) else {
            return Some(format!("{modes}, singular"));
        };
        let states = spread(states.iter().min().copied()?, states.iter().max().copied()?);
        Some(format!(
            "{modes}, {states} states, index {}",
            spread(*least as usize, *greatest as usize)
        ))
    }

    /// The balance in words.
    pub(crate) fn balance_text(&self) -> Option<String> {
        let (unknowns, least, greatest) = self.balance?;
        Some(format!(
            "{} equations for {}",
            spread(least, greatest),
            count(unknowns, "unknown")
        ))
    }

    /// For the branches of an if-equation: in which modes each is active, with their states and index. Empty if the analysis
    /// has met none of them.
    pub(crate) fn branches(&self, branches: &[(String, Span)]) -> Vec<BranchFacts> {
        let inside = |span: Option<Span>, branch: Span| {
            span.is_some_and(|span| span.file == branch.file && branch.start <= span.start && span.end <= branch.end)
        };
        let mut found = Vec::new();
        for (condition, span) in branches {
            let active = |shape: &&ModeShape| shape.equations.iter().any(|equation| inside(equation.span, *span));
            let shapes: Vec<&ModeShape> = self.shapes().filter(active).collect();
            if let Some(first) = shapes.first() {
                let (mut index, mut states) = ((first.index, first.index), (first.states.len(), first.states.len()));
                for shape in &shapes {
                    index = (index.0.min(shape.index), index.1.max(shape.index));
                    states = (states.0.min(shape.states.len()), states.1.max(shape.states.len()));
                }
                found.push(BranchFacts {
                    condition: condition.clone(),
                    modes: shapes.len(),
                    states: spread(states.0, states.1),
                    names: (shapes.len() == 1).then(|| first.states.clone()),
                    index: spread(index.0 as usize, index.1 as usize),
                });
            }
        }
        found
    }

    /// What the analysis says of a variable of the model, a line each.
    pub(crate) fn variable(&self, name: &str) -> Vec<String> {
        let Some(analysis) = &self.analysis else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        let all: Vec<&ModeShape> = self.shapes().collect();
        let is_state = |shape: &ModeShape| shape.states.iter().any(|state| is_about(state, name));
        let is_dead = |shape: &ModeShape| shape.dead.iter().any(|dead| is_about(dead, name));
        let states = all.iter().filter(|shape| is_state(shape)).count();
        if states == all.len() && states > 0 {
            lines.push(match all.len() {
                1 => "State.".to_owned(),
                _ => "State in all modes.".to_owned(),
            });
        } else if states > 0 {
            let which = analysis
                .modes
                .iter()
                .filter(|mode| mode.structure.as_ref().is_ok_and(is_state));
            let which: Vec<String> = which.take(3).map(|mode| valuation(&mode.valuation)).collect();
            lines.push(format!(
                "State in {states} of {} modes: {}.",
                all.len(),
                which.join("; ")
            ));
        }
        let dead = all.iter().filter(|shape| is_dead(shape)).count();
        if dead > 0 {
            lines.push(format!("Without an equation in {}.", count(dead, "mode")));
        }
        let mut when = |what: &str, does: &dyn Fn(&RestartReport) -> bool| {
            let mut triggers: Vec<String> = Vec::new();
            for change in &analysis.changes {
                let ChangeOutcome::Analysed(report) = &change.outcome else {
                    continue;
                };
                if does(report) {
                    let (condition, value) = &change.trigger;
                    triggers.push(format!("`{condition}` becomes {value}"));
                }
            }
            triggers.sort();
            triggers.dedup();
            if !triggers.is_empty() {
                let more = if triggers.len() > 3 { ", …" } else { "" };
                lines.push(format!(
                    "{what} when {}{more}.",
                    triggers[..triggers.len().min(3)].join(", when ")
                ));
            }
        };
        when("May jump", &|report| {
            report.jumps.iter().any(|jump| is_about(jump, name))
        });
        when("Impulsive", &|report| {
            report.impulses.iter().any(|(impulse, _)| is_about(impulse, name))
        });
        lines
    }
}

/// The sizes of arrays, by the names of their scalars: `x[2,3]`, `shaft[2].w`.
fn sizes_of<'n>(names: impl Iterator<Item = &'n str>) -> BTreeMap<String, Vec<u32>> {
    let mut sizes: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for name in names {
        let Some(at) = name.find(['[', '.']).filter(|&at| name[at..].starts_with('[')) else {
            continue;
        };
        let subscripts = name[at + 1..].split(']').next().unwrap_or_default();
        let subscripts: Vec<u32> = subscripts.split(',').filter_map(|s| s.trim().parse().ok()).collect();
        let known = sizes
            .entry(name[..at].to_owned())
            .or_insert_with(|| vec![0; subscripts.len()]);
        for (size, subscript) in known.iter_mut().zip(subscripts) {
            *size = (*size).max(subscript);
        }
    }
    sizes
}

/// What is known of one branch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BranchFacts {
    pub(crate) condition: String,
    pub(crate) modes: usize,
    pub(crate) states: String,
    /// The states, where one mode has this branch.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) index: String,
}

/// Whether a state or variable of the analysis (`der(x[1])`) is one of a name without subscripts (`x`).
fn is_about(found: &str, name: &str) -> bool {
    let mut found = found;
    while let Some(inside) = found.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')')) {
        found = inside;
    }
    let mut depth = 0;
    let plain: String = found
        .chars()
        .filter(|c| {
            match c {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => return depth == 0,
            }
            false
        })
        .collect();
    plain == name || plain.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

fn valuation(values: &[(String, bool)]) -> String {
    let one = |(condition, value): &(String, bool)| {
        if *value {
            format!("`{condition}`")
        } else {
            format!("not `{condition}`")
        }
    };
    if values.is_empty() {
        "always".to_owned()
    } else {
        values.iter().map(one).collect::<Vec<_>>().join(" and ")
    }
}

fn spread(least: usize, greatest: usize) -> String {
    if least == greatest {
        least.to_string()
    } else {
        format!("{least}–{greatest}")
    }
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// Whether a class can be analysed by itself.
pub(crate) fn is_model(class: &ClassDefinition) -> bool {
    matches!(class.kind, ClassKind::Model | ClassKind::Block | ClassKind::Class) && !class.partial
}

/// The model around a place: the innermost class that is one.
pub(crate) fn model_at(names: &mut Names<'_>, look: &Look, offset: u32) -> Option<(ClassId, String)> {
    let classes = names.classes_at(&look.parsed, offset);
    let class = classes
        .into_iter()
        .rev()
        .find(|class| is_model(names.definition(*class)))?;
    let name = names.qualified_name(class);
    Some((class, name))
}

/// The models of a file, with the places of their names, in order. What is inside of a model is part of it.
pub(crate) fn models(look: &Look) -> Vec<(String, Arc<ClassDefinition>)> {
    let within = look
        .parsed
        .definition
        .within
        .as_ref()
        .and_then(|within| within.name.as_ref());
    let mut path: Vec<String> = within.map_or_else(Vec::new, |name| vec![name.to_string()]);
    let mut found = Vec::new();
    for stored in &look.parsed.definition.classes {
        collect(&stored.class, &mut path, &mut found);
    }
    found
}

fn collect(class: &Arc<ClassDefinition>, path: &mut Vec<String>, found: &mut Vec<(String, Arc<ClassDefinition>)>) {
    if path.len() > 100 {
        return;
    }
    path.push(class.name.to_string());
    if is_model(class) {
        found.push((path.join("."), Arc::clone(class)));
    } else if class.kind == ClassKind::Package {
        for (_, inner) in class.classes() {
            collect(inner, path, found);
        }
    }
    path.pop();
}

/// Finds out about the models of a file.
pub(crate) fn analyze_file(world: &World, path: &Path) {
    let Some(look) = world.look(path).filter(|look| look.parsed.is_ok) else {
        return;
    };
    for (name, _) in models(&look).into_iter().take(MOST_MODELS) {
        if world.is_outdated() {
            return;
        }
        world.model_facts(path, &name);
    }
}

/// The branches of an if-equation with what selects them: condition and place of the equations.
pub(crate) fn branches_of(equation: &Equation, text: &dyn Fn(Span) -> String) -> Vec<(String, Span)> {
    let EquationKind::If { branches, otherwise } = &equation.kind else {
        return Vec::new();
    };
    let mut found: Vec<(String, Span)> = Vec::new();
    for branch in branches {
        if let Some(body) = body_span(&branch.body) {
            found.push((text(branch.condition.span), body));
        }
    }
    if let Some(body) = otherwise.as_deref().and_then(body_span) {
        found.push(("else".to_owned(), body));
    }
    found
}

fn body_span(body: &[Equation]) -> Option<Span> {
    let first = body.first()?.span;
    Some(body.iter().fold(first, |all, equation| all.to(equation.span)))
}

/// The if-equation whose `if`, `elseif` or `else` a place is at: in front of its branches or in its conditions.
pub(crate) fn if_at(class: &ClassDefinition, offset: u32) -> Option<&Equation> {
    let sections = class.composition()?.equations.iter();
    sections
        .flat_map(|section| &section.equations)
        .find_map(|equation| if_in(equation, offset, 0))
}

fn if_in(equation: &Equation, offset: u32, level: usize) -> Option<&Equation> {
    if level > 200 || offset < equation.span.start || equation.span.end < offset {
        return None;
    }
    let bodies: Vec<&[Equation]> = match &equation.kind {
        EquationKind::If { branches, otherwise } => {
            let bodies = branches.iter().map(|branch| branch.body.as_slice());
            bodies.chain(otherwise.as_deref()).collect()
        }
        EquationKind::For { body, .. } => vec![body],
        _ => return None,
    };
    let inside = |body: &&[Equation]| body_span(body).is_some_and(|span| span.start <= offset && offset <= span.end);
    if let Some(body) = bodies.into_iter().find(inside) {
        return body.iter().find_map(|inner| if_in(inner, offset, level + 1));
    }
    matches!(equation.kind, EquationKind::If { .. }).then_some(equation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_by_the_last_elements() {
        let names = [
            "x[1,1]",
            "x[1,2]",
            "x[2,1]",
            "x[2,2]",
            "a[3].b[7]",
            "a[1].b[7]",
            "p.q[4]",
            "y",
        ];
        let sizes = sizes_of(names.into_iter());
        assert_eq!(sizes.get("x"), Some(&vec![2, 2]));
        assert_eq!(sizes.get("a"), Some(&vec![3]));
        assert_eq!(sizes.len(), 2);
    }

    #[test]
    fn names_of_states() {
        for (found, name, expected) in [
            ("x", "x", true),
            ("der(x[1])", "x", true),
            ("a.b[2].c", "a.b.c", true),
            ("a.b", "a", true),
            ("ab", "a", false),
            ("x", "x.y", false),
        ] {
            assert_eq!(is_about(found, name), expected, "{found} {name}");
        }
    }
}
