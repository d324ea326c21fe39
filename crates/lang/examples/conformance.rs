//! Counts what flattens: `conformance msl CSV [PATTERN]` with SALTUS_MSL, or `conformance compliance
//! [PATTERN]` with SALTUS_COMPLIANCE, the folders of the libraries. Prints one line per model and a
//! table at the end.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what a program for the command line is for")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus_lang::{Options, flatten};
use saltus_source::SourceMap;
use saltus_syntax::library::{Disk, Library};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("msl") => msl(&arguments[1..]),
        Some("compliance") => compliance(&arguments[1..]),
        _ => eprintln!("usage: conformance msl CSV [PATTERN] | conformance compliance [PATTERN]"),
    }
}

fn folder(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    if found.is_none() {
        println!("{variable} is not set: nothing to do");
    }
    found
}

/// The first error in words.
fn reason(library: &Library, flattened: &saltus_lang::Flattened) -> String {
    let Some(error) = flattened.diagnostics.iter().find(|d| d.is_error()) else {
        return String::new();
    };
    let place = error.span().and_then(|span| {
        let file = library.sources().file(span.file)?;
        let name = Path::new(file.name()).file_name()?.to_string_lossy().into_owned();
        Some(format!("{name}:{}", file.line_column(span.start).line))
    });
    format!(
        "{} {} ({})",
        error.code,
        error.message.replace('\n', " "),
        place.unwrap_or_default()
    )
}

fn msl(arguments: &[String]) {
    let (Some(root), Some(csv)) = (folder("SALTUS_MSL"), arguments.first()) else {
        return;
    };
    let pattern = arguments.get(1).map_or("", String::as_str);
    let text = std::fs::read_to_string(csv).expect("the table of models");
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), vec![root]);
    let mut table: BTreeMap<(String, String), [usize; 3]> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (model, tier, expected) = (fields[0], fields[2], fields[3]);
        let by_tier = pattern.len() == 1 && tier != pattern;
        if by_tier || pattern.len() > 1 && !model.contains(pattern) {
            continue;
        }
        let started = std::time::Instant::now();
        let flattened = flatten(&library, model, &Options::default());
        let seconds = started.elapsed().as_secs_f64();
        let root = model.split('.').next().unwrap_or("").to_owned();
        let row = table.entry((tier.to_owned(), root)).or_default();
        row[0] += 1;
        match &flattened.model {
            Some(flat) => {
                row[1] += 1;
                let unknowns = flat.counts().unknowns;
                row[2] += usize::from(unknowns.to_string() == expected);
                println!("ok   {tier} {model} {unknowns} ({expected}) {seconds:.2}s");
            }
            None => println!("FAIL {tier} {model} {seconds:.2}s: {}", reason(&library, &flattened)),
        }
    }
    println!("tier library    models  flatten  same unknowns");
    for ((tier, root), [all, ok, same]) in table {
        println!("{tier:4} {root:12} {all:5} {ok:8} {same:10}");
    }
}

fn compliance(arguments: &[String]) {
    let Some(root) = folder("SALTUS_COMPLIANCE") else {
        return;
    };
    let pattern = arguments.first().map_or("", String::as_str);
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), vec![root.clone()]);
    let mut cases: Vec<(String, bool)> = Vec::new();
    collect(&root.join("ModelicaCompliance"), &mut cases);
    cases.sort();
    let mut table: BTreeMap<(String, bool), [usize; 2]> = BTreeMap::new();
    for (model, should_pass) in cases.iter().filter(|(m, _)| m.contains(pattern)) {
        let flattened = flatten(&library, model, &Options::default());
        let accepted = flattened.model.is_some();
        let chapter = model.split('.').nth(1).unwrap_or("").to_owned();
        let row = table.entry((chapter, *should_pass)).or_default();
        row[0] += 1;
        row[1] += usize::from(accepted == *should_pass);
        let verdict = match (accepted, should_pass) {
            (true, true) => "ok      accepted",
            (false, false) => "ok      refused ",
            (false, true) => "WRONG   refused ",
            (true, false) => "WRONG   accepted",
        };
        println!("{verdict} {model}: {}", reason(&library, &flattened));
    }
    println!("chapter        to be accepted     to be refused");
    let mut totals = [[0; 2]; 2];
    let chapters: Vec<String> = table.keys().map(|(c, _)| c.clone()).collect();
    let mut seen = Vec::new();
    for chapter in chapters {
        if seen.contains(&chapter) {
            continue;
        }
        let get = |pass: bool| table.get(&(chapter.clone(), pass)).copied().unwrap_or_default();
        let (accept, refuse) = (get(true), get(false));
        println!(
            "{chapter:14} {:4} of {:4}       {:4} of {:4}",
            accept[1], accept[0], refuse[1], refuse[0]
        );
        for k in 0..2 {
            totals[0][k] += accept[k];
            totals[1][k] += refuse[k];
        }
        seen.push(chapter);
    }
    println!(
        "total          {:4} of {:4}       {:4} of {:4}",
        totals[0][1], totals[0][0], totals[1][1], totals[1][0]
    );
}

/// Models with the annotation `TestCase(shouldPass = …)`, found in the text of their files.
fn collect(folder: &Path, cases: &mut Vec<(String, bool)>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, cases);
        } else if path.extension().is_some_and(|e| e == "mo") {
            cases.extend(case_of(&path));
        }
    }
}

fn case_of(path: &Path) -> Option<(String, bool)> {
    let text = std::fs::read_to_string(path).ok()?;
    let sources = SourceMap::new();
    let file = sources.add("case.mo", text.clone());
    let definition = saltus_syntax::parse_file(&*sources.file(file)?).ast();
    let within = definition.within?.name?.to_string();
    let class = &definition.classes.first()?.class;
    let mut found = None;
    find_case(class, &format!("{within}.{}", class.name), &mut found);
    found
}

fn find_case(class: &saltus_syntax::ast::ClassDefinition, name: &str, found: &mut Option<(String, bool)>) {
    use saltus_syntax::ast::{Binding, ExprKind};
    let should_pass = class.annotation.as_ref().and_then(|annotation| {
        let outer = annotation.modification.find("__ModelicaAssociation")?;
        let inner = outer
            .modification
            .as_ref()?
            .class_modification
            .as_ref()?
            .find("TestCase")?;
        let case = inner
            .modification
            .as_ref()?
            .class_modification
            .as_ref()?
            .find("shouldPass")?;
        match &case.modification.as_ref()?.binding {
            Some(Binding::Expr(expr)) => Some(expr.kind == ExprKind::Boolean(true)),
            _ => None,
        }
    });
    if let Some(should_pass) = should_pass {
        *found = Some((name.to_owned(), should_pass));
    }
    for (_, inner) in class.classes() {
        find_case(inner, &format!("{name}.{}", inner.name), found);
    }
}
