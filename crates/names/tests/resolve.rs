//! Every name in text that is known to be right means something.

#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::PathBuf;
use std::sync::Arc;

use saltus_names::{Names, Role, Site, Target, occurrences};
use saltus_source::SourceMap;
use saltus_syntax::library::{Disk, Library, modelica_files};
use saltus_testing::repository;

/// Names that mean nothing, with their places.
fn unresolved(files: &[PathBuf], folders: Vec<PathBuf>) -> (usize, Vec<String>) {
    let (mut met, mut found) = (0, Vec::new());
    let mut library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), folders.clone());
    for (at, path) in files.iter().enumerate() {
        // Files of examples are loose: each is a world of its own.
        if at % 100 == 0 || folders.len() == 1 {
            library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), folders.clone());
        }
        library.add(path);
        let parsed = library.parsed(path).expect("readable");
        let text = library.sources().file(parsed.file).expect("read");
        let mut names = Names::new(&library);
        occurrences(&mut names, &parsed, &mut |names, occurrence| {
            met += 1;
            let target = names.resolve(&occurrence);
            // The way from a declaration to itself.
            if occurrence.role == Role::Declaration {
                let declared = target.as_ref().and_then(|target| target.declaration(names));
                let redeclared = matches!(occurrence.site, Site::Member(_));
                assert!(
                    declared == Some(occurrence.ident.span) || redeclared,
                    "{:?}",
                    occurrence.ident
                );
            }
            if target.is_none() && !occurrence.in_annotation {
                let place = text.line_column(occurrence.ident.span.start);
                found.push(format!("{}:{}: {:?}", path.display(), place.line, occurrence.ident));
            }
        });
    }
    (met, found)
}

#[test]
fn every_name_of_the_examples_and_of_the_library_means_something() {
    let folders = vec![repository().join("library")];
    let examples = modelica_files(&Disk, &[repository().join("examples")]);
    let (met, found) = unresolved(&examples, folders.clone());
    assert!(met > 4000 && found.is_empty(), "{met}: {found:#?}");
    let library = modelica_files(&Disk, &[repository().join("library/Saltus")]);
    let (met, found) = unresolved(&library, folders);
    assert!(met > 2000 && found.is_empty(), "{met}: {found:#?}");
}

#[test]
fn names_of_the_standard_library_mean_something() {
    let Some(folder) = std::env::var_os("SALTUS_MSL").map(PathBuf::from) else {
        eprintln!("skipped: SALTUS_MSL does not name the folder of the Modelica Standard Library");
        return;
    };
    let files = modelica_files(&Disk, &[folder.join("Modelica")]);
    let (met, found) = unresolved(&files, vec![folder, repository().join("library")]);
    // What redeclarations bring along is not seen from the class that is written.
    assert!(
        found.len() * 400 < met,
        "{} of {met}: {:#?}",
        found.len(),
        &found[..found.len().min(40)]
    );
}

#[test]
fn names_mean_what_the_language_says() {
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
    let text = "package P
        type Volt = Real(unit = \"V\");
        type Gear = enumeration(low, high);
        partial model Base Real x; parameter Gear g = Gear.low; replaceable Real r; end Base;
        model M extends Base(x(start = 1), g = P.Gear.high);
          Volt v[2]; import Q = P.Inner; Q.C c;
        equation
          for i in 1:2 loop v[i] = x*time + i; end for;
          c.y = sum(v[k] for k in 1:2) + P.Inner.k;
        end M;
        package Inner constant Real k = 2; model C Real y; end C; end Inner;
      end P;";
    library.add_text("P.mo", text);
    let parsed_file = {
        let file = saltus_source::SourceMap::new();
        let id = file.add("P.mo", text);
        assert_eq!(id, saltus_source::FileId(0));
        library.top_level("P").expect("the package")
    };
    let mut names = Names::new(&library);
    let package = names.root("P").expect("the package");
    assert_eq!(names.definition(package).name.span, parsed_file.definition.name.span);
    let model = names.own_class(package, "M").expect("the model");
    let members: Vec<String> = names.members(model).iter().map(|m| m.name.to_string()).collect();
    assert_eq!(members, ["v", "c", "x", "g", "r"]);
    let c = names.lookup(model, "c").expect("c");
    let y = Target::from(names.inside(&c, "y").expect("y"));
    let y = y.declaration(&names).expect("a place");
    assert_eq!(&text[y.start as usize..y.end as usize], "y");
    assert!(names.lookup(model, "Inner").is_some() && names.lookup(model, "nothing").is_none());
    assert!(names.lookup(model, "Q").is_some() && names.member(model, "Q").is_none());
}

#[test]
fn classes_that_contain_themselves_end() {
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
    let text = "model A extends A; A a; extends B; end A; model B extends A; type T = T; T t; end B;
                package P extends P.Q; package Q extends P; end Q; end P; type U = V; type V = U; model M U u(x = 1); end M;";
    library.add_text("A.mo", text);
    let mut names = Names::new(&library);
    for name in ["A", "B", "P", "U", "V", "M"] {
        let class = names.root(name).expect("there");
        names.members(class);
        names.bases(class);
        names.lookup(class, "nothing");
        names.predefined_of(saltus_names::Type::Class(class));
        names.enumeration_of(class);
    }
}
