//! The analysis as text.

use std::fmt::Write;

use saltus_source::{SourceMap, Span};

use crate::{Analysis, BlockReport, ChangeOutcome, ChangeReport, ModeShape, Refusal, RestartReport};

/// Longer lists are cut in text; JSON has all of it.
const MOST_LISTED: usize = 24;
/// Modes with more conditions than this are described by how they differ.
const MOST_ATOMS: usize = 4;
/// Longer equations are cut in text.
const MOST_CHARACTERS: usize = 160;

impl Analysis {
    /// For people.
    pub fn to_text(&self, sources: &SourceMap) -> String {
        let mut text = String::new();
        let out = &mut text;
        let _ = writeln!(out, "{}", self.model);
        match self.conditions.len() {
            0 => line(out, 1, "one mode: no condition changes the structure"),
            _ => line(
                out,
                1,
                &format!("modes are selected by {}", listed(&quoted(&self.conditions))),
            ),
        }
        if let Some(all) = &self.all_modes {
            all.print(out);
        }
        if self.clocked && !self.conditions.is_empty() {
            line(
                out,
                1,
                "values computed at the ticks of clocks are not followed: other modes than these may be reached (`--all-modes`)",
            );
        }
        if self.initial_failure.is_some() {
            line(
                out,
                1,
                "the initial mode is a guess from the start values: the initialisation fails",
            );
        }
        for number in 0..self.modes.len() {
            print_mode(out, self, number, sources);
        }
        for change in &self.changes {
            print_change(out, self, change, sources);
        }
        if self.omitted_modes + self.omitted_changes > 0 {
            let _ = writeln!(out);
            line(
                out,
                0,
                "there are more modes and mode changes than shown here; `--limit` shows more",
            );
        }
        text
    }

    /// What selects a mode: all of it if that is short, else how it differs from the initial mode.
    pub(crate) fn selection(&self, number: usize) -> String {
        let valuation = self.modes.get(number).map_or(&[][..], |mode| &mode.valuation);
        if number == 0 || valuation.len() <= MOST_ATOMS {
            return valuation_text(valuation);
        }
        match valuation_text(&differences(&self.modes[0].valuation, valuation)) {
            text if text.is_empty() => "as mode 0".to_owned(),
            text => format!("as mode 0, but {text}"),
        }
    }

    /// `mode 0 (engaged) to mode 1 (not engaged)`; of many conditions those that change.
    fn between(&self, from: usize, link: &str, to: usize) -> String {
        format!("{} {}", self.beginning(from), self.leg(from, link, to))
    }

    /// `mode 0 (not contact, not a) through mode 1 (contact, a) to mode 2 (not contact, a)`
    fn through(&self, from: usize, to: usize, then: usize) -> String {
        let passed = self.between(from, "through", to);
        if then == from {
            format!("{passed} and back")
        } else {
            format!("{passed} {}", self.leg(to, "to", then))
        }
    }

    fn valuation(&self, number: usize) -> &[(String, bool)] {
        self.modes.get(number).map_or(&[][..], |mode| &mode.valuation)
    }

    /// The mode a change begins with.
    fn beginning(&self, number: usize) -> String {
        let valuation = self.valuation(number);
        if valuation.len() <= MOST_ATOMS {
            title(number, &valuation_text(valuation))
        } else {
            title(number, "")
        }
    }

    /// The mode a change goes on with.
    fn leg(&self, from: usize, link: &str, to: usize) -> String {
        let (old, new) = (self.valuation(from), self.valuation(to));
        let text = if old.len() <= MOST_ATOMS {
            valuation_text(new)
        } else {
            format!("now {}", valuation_text(&differences(old, new)))
        };
        format!("{link} {}", title(to, &text))
    }
}

fn title(number: usize, text: &str) -> String {
    if text.is_empty() {
        format!("mode {number}")
    } else {
        format!("mode {number} ({text})")
    }
}

/// The atoms of `new` that differ from `old`; all modes have the same atoms in the same order.
fn differences(old: &[(String, bool)], new: &[(String, bool)]) -> Vec<(String, bool)> {
    let differing = old.iter().zip(new).filter(|(old, new)| old != new);
    differing.map(|(_, new)| new.clone()).collect()
}

/// `engaged, not slipping`
pub fn valuation_text(valuation: &[(String, bool)]) -> String {
    let atom = |(text, value): &(String, bool)| match (value, text.contains(' ')) {
        (true, _) => text.clone(),
        (false, false) => format!("not {text}"),
        (false, true) => format!("not ({text})"),
    };
    listed(&valuation.iter().map(atom).collect::<Vec<_>>())
}

fn line(out: &mut String, depth: usize, text: &str) {
    // What stands between backquotes is an equation or a name.
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(i, part)| if i % 2 == 1 { brief(part) } else { part.to_owned() });
    let text = parts.collect::<Vec<_>>().join("`");
    let _ = writeln!(out, "{:indent$}{text}", "", indent = 2 * depth);
}

/// The beginning and the end of a long equation.
fn brief(equation: &str) -> String {
    let characters: Vec<char> = equation.chars().collect();
    if characters.len() <= MOST_CHARACTERS {
        return equation.to_owned();
    }
    let tail = MOST_CHARACTERS / 4;
    let head: String = characters[..MOST_CHARACTERS - tail].iter().collect();
    let tail: String = characters[characters.len() - tail..].iter().collect();
    format!("{} … {}", head.trim_end(), tail.trim_start())
}

/// The first lines of a long list, with how many there are besides.
fn some_lines<'a>(out: &mut String, depth: usize, lines: impl ExactSizeIterator<Item = &'a String>, noun: &str) {
    let more = lines.len().saturating_sub(MOST_LISTED);
    for text in lines.take(MOST_LISTED) {
        line(out, depth, text);
    }
    if more > 0 {
        line(out, depth, &format!("and {more} more {noun}"));
    }
}

fn quoted(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}

fn listed(names: &[String]) -> String {
    match names.len().saturating_sub(MOST_LISTED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MOST_LISTED].join(", ")),
    }
}

fn place(span: Option<Span>, sources: &SourceMap) -> String {
    let found = span.and_then(|span| Some((sources.file(span.file)?, span)));
    found.map_or(String::new(), |(file, span)| {
        format!("   [{}:{}]", file.name(), file.line_column(span.start).line)
    })
}

fn print_mode(out: &mut String, analysis: &Analysis, number: usize, sources: &SourceMap) {
    let _ = writeln!(out);
    let initial = if number == 0 { ", initial" } else { "" };
    let selection = match analysis.selection(number) {
        text if text.is_empty() => String::new(),
        text => format!(": {text}"),
    };
    line(out, 0, &format!("mode {number}{initial}{selection}"));
    match &analysis.modes[number].structure {
        Ok(shape) => {
            let earlier = analysis.modes[..number].iter().position(|known| {
                let known = known.structure.as_ref();
                known.is_ok_and(|known| same_structure(known, shape))
            });
            match earlier {
                Some(earlier) => line(out, 1, &format!("{}, as in mode {earlier}", measure(shape))),
                None => print_shape(out, shape, sources),
            }
        }
        Err(_) if analysis.is_transient(number) => {
            line(out, 1, "lasts for an instant only, with restart equations of its own");
        }
        Err(refusal) => print_refusal(out, "singular", refusal, sources),
    }
}

/// Whether the text about two modes would be the same.
fn same_structure(a: &ModeShape, b: &ModeShape) -> bool {
    let constraints = |shape: &ModeShape| -> Vec<(String, u16)> {
        let constraints = shape.equations.iter().filter(|e| e.differentiations > 0);
        constraints.map(|e| (e.text.clone(), e.differentiations)).collect()
    };
    let long = a.equations.len() > 8;
    long && (a.equations.len(), a.index, &a.states, &a.dead) == (b.equations.len(), b.index, &b.states, &b.dead)
        && a.singular_blocks.is_empty()
        && b.singular_blocks.is_empty()
        && constraints(a) == constraints(b)
}

/// `4 equations, 4 unknowns, index 1`
fn measure(shape: &ModeShape) -> String {
    format!(
        "{}, {}, index {}",
        count(shape.equations.len(), "equation"),
        count(shape.unknowns.len(), "unknown"),
        shape.index
    )
}

fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

fn print_shape(out: &mut String, shape: &ModeShape, sources: &SourceMap) {
    line(out, 1, &measure(shape));
    if shape.states.is_empty() {
        line(out, 1, "no states")
    } else {
        line(
            out,
            1,
            &format!("{}: {}", count(shape.states.len(), "state"), listed(&shape.states)),
        )
    }
    let constraints: Vec<_> = shape.equations.iter().filter(|e| e.differentiations > 0).collect();
    if !constraints.is_empty() {
        line(out, 1, "constraints on states:");
    }
    for equation in constraints.iter().take(MOST_LISTED) {
        let times = match equation.differentiations {
            1 => "differentiated once".to_owned(),
            times => format!("differentiated {times} times"),
        };
        line(
            out,
            2,
            &format!("{} ({times}){}", brief(&equation.text), place(equation.span, sources)),
        );
    }
    if constraints.len() > MOST_LISTED {
        line(out, 2, &format!("and {} more", constraints.len() - MOST_LISTED));
    }
    print_blocks(out, &shape.blocks);
    for block in &shape.singular_blocks {
        print_refusal(out, "singular in numbers", block, sources);
    }
    if !shape.dead.is_empty() {
        line(
            out,
            1,
            &format!("without an equation in this mode: {}", listed(&shape.dead)),
        );
    }
}

fn print_blocks(out: &mut String, blocks: &[BlockReport]) {
    let coupled: Vec<&BlockReport> = blocks
        .iter()
        .filter(|b| b.unknowns.len() > 1 || b.kind == "nonlinear")
        .collect();
    if coupled.is_empty() {
        return;
    }
    line(out, 1, "solved together:");
    for block in coupled.iter().take(MOST_LISTED) {
        let torn = match block.tears.len() {
            0 => String::new(),
            _ if block.tears.len() == block.unknowns.len() => String::new(),
            _ => format!(", torn to {}", listed(&block.tears)),
        };
        line(out, 2, &format!("{} ({}{torn})", listed(&block.unknowns), block.kind));
    }
    if coupled.len() > MOST_LISTED {
        line(out, 2, &format!("and {} more groups", coupled.len() - MOST_LISTED));
    }
}

fn print_refusal(out: &mut String, what: &str, refusal: &Refusal, sources: &SourceMap) {
    line(out, 1, &format!("{what}: {}", refusal.summary));
    for (equation, span) in refusal.equations.iter().take(MOST_LISTED) {
        line(out, 2, &format!("{}{}", brief(equation), place(*span, sources)));
    }
    if !refusal.unknowns.is_empty() {
        let names: Vec<String> = refusal.unknowns.iter().map(|(name, _)| name.clone()).collect();
        line(out, 2, &format!("not determined: {}", listed(&names)));
    }
    for help in &refusal.help {
        line(out, 1, &format!("help: {help}"));
    }
}

fn print_change(out: &mut String, analysis: &Analysis, change: &ChangeReport, sources: &SourceMap) {
    let (condition, value) = &change.trigger;
    let _ = writeln!(out);
    let (from, to) = (change.from, change.to);
    let title = match (change.then, from == to) {
        (Some(then), _) => format!("from {}", analysis.through(from, to, then)),
        (None, true) => match analysis.modes[from].valuation.len() {
            1..=MOST_ATOMS => format!("within mode {from} ({})", analysis.selection(from)),
            _ => format!("within mode {from}"),
        },
        (None, false) => format!("from {}", analysis.between(from, "to", to)),
    };
    line(out, 0, &title);
    line(
        out,
        1,
        &format!("when `{condition}` becomes {value}{}", place(change.span, sources)),
    );
    for (condition, value) in &change.together {
        line(
            out,
            1,
            &format!("and at the same instant `{condition}` becomes {value}"),
        );
    }
    for equation in &change.restart_equations {
        line(out, 1, &format!("with {}", brief(equation)));
    }
    match &change.outcome {
        ChangeOutcome::SingularMode => line(out, 1, "the mode to enter is singular: see there"),
        ChangeOutcome::Analysed(report) => print_restart(out, report, sources),
    }
}

fn print_restart(out: &mut String, report: &RestartReport, sources: &SourceMap) {
    if report.accepted {
        line(out, 1, &report.summary)
    } else {
        line(out, 1, &format!("refused ({}): {}", report.verdict, report.summary))
    }
    some_lines(out, 2, report.details.iter(), "lines");
    if !report.accepted {
        for span in &report.places {
            line(out, 2, place(Some(*span), sources).trim_start());
        }
    }
    for help in &report.help {
        line(out, 1, &format!("help: {help}"));
    }
    if !report.system.is_empty() {
        line(out, 1, "restart system:");
        let system: Vec<String> = report.system.iter().map(|equation| brief(equation)).collect();
        some_lines(out, 2, system.iter(), "equations");
    }
}
