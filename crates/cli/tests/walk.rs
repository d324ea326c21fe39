//! The pages for contributors are true: the graph of crates in the walk is that of the manifests, the functions it names
//! are in the files it names, and the table of crates on the architecture page is complete.

use std::collections::{BTreeMap, BTreeSet};

use saltus_testing::repository;

type Graph = BTreeMap<String, BTreeSet<String>>;

fn read(path: &str) -> String {
    let path = repository().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The name of a crate's folder from that of its package.
fn folder_of(package: &str) -> &str {
    package.strip_prefix("saltus-").unwrap_or(package)
}

/// The crates of the workspace that a manifest names among its dependencies.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let sections = manifest.split("\n[");
    let of_crate = sections.filter_map(|section| section.strip_prefix("dependencies]\n"));
    let lines = of_crate.flat_map(str::lines).filter(|line| line.starts_with("saltus"));
    let packages = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
    packages.map(|package| folder_of(package).to_owned()).collect()
}

/// The crates of the workspace with what each uses directly.
fn crates() -> Graph {
    let folders = std::fs::read_dir(repository().join("crates")).expect("the crates");
    let names = folders.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned());
    names
        .map(|name| {
            let used = dependencies(&read(&format!("crates/{name}/Cargo.toml")));
            (name, used)
        })
        .collect()
}

fn reachable(graph: &Graph, from: &str, found: &mut BTreeSet<String>) {
    for used in &graph[from] {
        if found.insert(used.clone()) {
            reachable(graph, used, found);
        }
    }
}

/// Without what can be reached over others.
fn reduced(graph: &Graph) -> Graph {
    let over_others = |uses: &BTreeSet<String>| {
        let mut found = BTreeSet::new();
        uses.iter().for_each(|used| reachable(graph, used, &mut found));
        found
    };
    let reduce = |(name, uses): (&String, &BTreeSet<String>)| {
        let others = over_others(uses);
        (name.clone(), uses.difference(&others).cloned().collect())
    };
    graph.iter().map(reduce).collect()
}

fn drawn(graph: &Graph) -> String {
    let line = |(name, uses): (&String, &BTreeSet<String>)| {
        let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
        format!("{name} -> {}", uses.join(", ")).trim_end().to_owned() + "\n"
    };
    graph.iter().map(line).collect()
}

const WALK: &str = "docs/src/contributing/walk.md";

#[test]
fn the_graph_of_crates_is_that_of_the_manifests() {
    let page = read(WALK);
    let begin = "<!-- crates -->\n```text\n";
    let start = page.find(begin).expect("the graph") + begin.len();
    let end = start + page[start..].find("```").expect("its end");
    let expected = drawn(&reduced(&crates()));
    if std::env::var_os("SALTUS_UPDATE_GUIDE").is_some() {
        let renewed = format!("{}{expected}{}", &page[..start], &page[end..]);
        std::fs::write(repository().join(WALK), renewed).expect("writable");
        return;
    }
    assert_eq!(
        &page[start..end],
        expected,
        "renew it with SALTUS_UPDATE_GUIDE=1 cargo test -p saltus-cli --test walk"
    );
}

/// What stands in backquotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_functions_named_are_where_the_page_says() {
    let page = read(WALK);
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains("`crates/"));
    let mut checked = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [_, functions, files] = cells[..] else {
            panic!("a row with other columns: {row}");
        };
        let texts: Vec<String> = quoted(files).into_iter().map(read).collect();
        for function in quoted(functions) {
            let defined = [format!("fn {function}("), format!("fn {function}<")];
            let found = texts
                .iter()
                .any(|text| defined.iter().any(|begin| text.contains(begin)));
            assert!(found, "`{function}` is in none of {files}");
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked}");
}

#[test]
fn the_architecture_page_lists_every_crate() {
    let page = read("docs/src/contributing/architecture.md");
    let listed: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |").map(|(name, _)| name))
        .collect();
    let all = crates();
    let missing: Vec<&String> = all.keys().filter(|name| !listed.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
    // Each crate knows only those above it in the table.
    let place = |name: &str| page.find(&format!("| `{name}` |")).expect("listed");
    for (name, uses) in &all {
        for used in uses {
            assert!(
                place(used) < place(name),
                "`{name}` uses `{used}`, which stands below it"
            );
        }
    }
}
