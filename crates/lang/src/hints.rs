//! What is worth knowing about a text, without being wrong: imports and variables that nothing uses, and options of
//! annotations that are nearly those of the language.
//!
//! A name counts as used if it stands anywhere else in the files given, so nothing is said that might not be so.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use saltus_source::{Diagnostic, Diagnostics, Edit, Severity, SourceFile, Span, codes};
use saltus_syntax::{Node, Parse, SyntaxKind, Walk};

use crate::failure::did_you_mean;

/// What annotations of classes, elements and equations have (chapter "Annotations" of the Language Specification), and some that
/// are widespread.
#[rustfmt::skip]
const ANNOTATIONS: &[&str] = &[
    "absoluteValue", "choices", "choicesAllMatching", "conversion", "dateModified", "defaultComponentName",
    "defaultComponentPrefixes", "defaultConnectionStructurallyInconsistent", "defaultName", "derivative", "Diagram",
    "Dialog", "DocumentationClass", "DynamicSelect", "Documentation", "Evaluate", "experiment", "experimentSetupOutput",
    "Figures", "GenerateEvents", "HideResult", "Icon", "IconMap", "DiagramMap", "Include", "IncludeDirectory", "Inline",
    "InlineAfterIndexReduction", "inverse", "LateInline", "Library", "LibraryDirectory", "License", "Line", "missingInnerMessage",
    "mustBeConnected", "mayOnlyConnectOnce", "obsolete", "Placement", "preferredView", "Protection", "revisionId",
    "singleInstance", "smoothOrder", "SourceDirectory", "TestCase", "Text", "unassignedMessage", "uses", "version",
    "versionBuild", "versionDate", "Authorization", "UnrestrictedMode",
];

/// The options of some of them.
#[rustfmt::skip]
const OPTIONS: &[(&str, &[&str])] = &[
    ("Documentation", &["info", "revisions", "figures", "styleSheets"]),
    ("Dialog", &["tab", "group", "enable", "showStartAttribute", "colorSelector", "loadSelector", "saveSelector",
        "directorySelector", "groupImage", "connectorSizing"]),
    ("Icon", &["coordinateSystem", "graphics"]),
    ("Diagram", &["coordinateSystem", "graphics"]),
    ("Placement", &["visible", "transformation", "iconVisible", "iconTransformation"]),
    ("choices", &["choice", "checkBox"]),
    ("derivative", &["order", "noDerivative", "zeroDerivative"]),
];

/// What is worth knowing about files that were given together.
pub fn hints(files: &[Arc<SourceFile>]) -> Diagnostics {
    let parses: Vec<Parse> = files.iter().map(|file| saltus_syntax::parse_file(file)).collect();
    let mut found = Diagnostics::new();
    // What is not understood says nothing of what is used.
    if parses.iter().any(|parse| !parse.is_ok()) {
        return found;
    }
    let mut uses: FxHashMap<&str, u32> = FxHashMap::default();
    for parse in &parses {
        parse.tree.walk(|step| {
            if let Walk::Token(token) = step
                && token.kind() == SyntaxKind::Identifier
            {
                *uses.entry(token.text()).or_default() += 1;
            }
        });
    }
    for parse in &parses {
        of_file(parse, &uses, &mut found);
    }
    found.normalise();
    found
}

/// A class that is being walked through.
struct OpenClass {
    /// Whether what is declared in it is nobody else's business.
    is_closed: bool,
    is_protected: bool,
}

fn of_file(parse: &Parse, uses: &FxHashMap<&str, u32>, found: &mut Diagnostics) {
    let mut classes: Vec<OpenClass> = Vec::new();
    parse.tree.walk(|step| match step {
        Walk::Enter(node) => match node.kind() {
            SyntaxKind::ClassDefinition => classes.push(OpenClass {
                is_closed: is_closed(node),
                is_protected: false,
            }),
            SyntaxKind::ElementSection => {
                if let Some(class) = classes.last_mut() {
                    class.is_protected = node.has(SyntaxKind::ProtectedKw);
                }
            }
            SyntaxKind::Element => {
                let is_unused = |name: &str| uses.get(name) == Some(&1);
                if let Some(import) = node.child(SyntaxKind::ImportClause) {
                    found.extend(unused_import(node, import, is_unused));
                }
                if let (Some(class), Some(clause)) = (classes.last(), node.child(SyntaxKind::ComponentClause))
                    && class.is_closed
                {
                    unused_components(class, clause, is_unused, found);
                }
            }
            SyntaxKind::Annotation => annotation(node, found),
            _ => {}
        },
        Walk::Leave(node) => {
            if node.kind() == SyntaxKind::ClassDefinition {
                classes.pop();
            }
        }
        Walk::Token(_) => {}
    });
}

/// Models and functions that are complete; elements of records, connectors and packages are used elsewhere.
fn is_closed(class: Node<'_>) -> bool {
    use SyntaxKind::{BlockKw, FunctionKw, ModelKw, OperatorKw, PartialKw};
    !class.has(PartialKw)
        && !class.has(OperatorKw)
        && [ModelKw, BlockKw, FunctionKw].iter().any(|kind| class.has(*kind))
}

fn unused_import(element: Node<'_>, import: Node<'_>, is_unused: impl Fn(&str) -> bool) -> Option<Diagnostic> {
    // `import A = B.C` has a name of its own; of `import B.C` the last part is one; lists and stars are left alone.
    let alias = import
        .token(SyntaxKind::Identifier)
        .filter(|_| import.has(SyntaxKind::Equals));
    let name = match alias {
        Some(alias) => alias,
        None if import.tokens().any(|t| !matches!(t.kind(), SyntaxKind::ImportKw)) => return None,
        None => {
            let path = import.child(SyntaxKind::QualifiedName)?;
            path.tokens().filter(|t| t.kind() == SyntaxKind::Identifier).last()?
        }
    };
    if !is_unused(name.text()) {
        return None;
    }
    let message = format!("the import `{}` is not used", name.text());
    let hint = Diagnostic::new(codes::W0210, Severity::Note, name.span(), message);
    Some(
        hint.with_help("leave it out")
            .with_likely_fix("remove the import", vec![Edit::replace(element.span(), "")]),
    )
}

fn unused_components(class: &OpenClass, clause: Node<'_>, is_unused: impl Fn(&str) -> bool, found: &mut Diagnostics) {
    use SyntaxKind::{ConstantKw, InnerKw, InputKw, OuterKw, OutputKw, ParameterKw};
    let has = |kinds: &[SyntaxKind]| kinds.iter().any(|kind| clause.has(*kind));
    // Every variable of a model is a result; those that are hidden, and values that nothing depends on, are for use inside.
    let is_value = has(&[ParameterKw, ConstantKw]);
    if has(&[InputKw, OutputKw, InnerKw, OuterKw]) || !(class.is_protected || is_value) {
        return;
    }
    for declaration in clause
        .children()
        .filter(|node| node.kind() == SyntaxKind::ComponentDeclaration)
    {
        let Some(name) = declaration.token(SyntaxKind::Identifier) else {
            continue;
        };
        // What has equations or connections of its own does something without being named.
        let is_plain = is_value
            || clause
                .child(SyntaxKind::QualifiedName)
                .is_some_and(|ty| is_predefined(ty.text()));
        if is_plain && is_unused(name.text()) {
            let message = format!("`{}` is not used", name.text());
            found.push(Diagnostic::new(codes::W0210, Severity::Note, name.span(), message).with_help("leave it out"));
        }
    }
}

fn is_predefined(name: &str) -> bool {
    matches!(name, "Real" | "Integer" | "Boolean" | "String")
}

/// Options that are one letter off.
fn annotation(node: Node<'_>, found: &mut Diagnostics) {
    let Some(arguments) = node.child(SyntaxKind::ClassModification) else {
        return;
    };
    for (option, name, place) in options(arguments) {
        found.extend(misspelt("an annotation", name, place, ANNOTATIONS));
        let known = OPTIONS.iter().find(|(of, _)| *of == name);
        let inner = option
            .child(SyntaxKind::Modification)
            .and_then(|m| m.child(SyntaxKind::ClassModification));
        if let (Some((of, known)), Some(inner)) = (known, inner) {
            for (_, name, place) in options(inner) {
                found.extend(misspelt(&format!("`{of}`"), name, place, known));
            }
        }
    }
}

fn options(arguments: Node<'_>) -> impl Iterator<Item = (Node<'_>, &str, Span)> {
    let options = arguments
        .children()
        .filter(|node| node.kind() == SyntaxKind::ElementModification);
    options.filter_map(|option| {
        let name = option.child(SyntaxKind::QualifiedName)?;
        Some((option, name.text(), name.span()))
    })
}

fn misspelt(of: &str, name: &str, place: Span, known: &[&str]) -> Option<Diagnostic> {
    if known.contains(&name) || name.len() < 3 || name.starts_with("__") {
        return None;
    }
    let meant = did_you_mean(name, known.iter().copied())?;
    let is_near = name.eq_ignore_ascii_case(meant) || name.len().abs_diff(meant.len()) <= 1 && one_off(name, meant);
    is_near.then(|| {
        Diagnostic::warning(codes::W0206, place, format!("{of} has no option `{name}`"))
            .with_help(format!("did you mean `{meant}`?"))
            .with_safe_fix(
                format!("replace `{name}` by `{meant}`"),
                vec![Edit::replace(place, meant)],
            )
    })
}

/// Whether one letter is wrong, missing, too many, or two are exchanged.
fn one_off(a: &str, b: &str) -> bool {
    let common = |x: &mut dyn Iterator<Item = char>, y: &mut dyn Iterator<Item = char>| {
        x.zip(y).take_while(|(p, q)| p == q).count()
    };
    let front = common(&mut a.chars(), &mut b.chars());
    let back = common(&mut a.chars().rev(), &mut b.chars().rev());
    let (short, long) = (
        a.chars().count().min(b.chars().count()),
        a.chars().count().max(b.chars().count()),
    );
    let rest = long - front - back.min(short - front);
    rest <= 1
        || rest == 2 && a.len() == b.len() && {
            let (x, y): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            x[front] == y[front + 1] && x[front + 1] == y[front]
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_source::SourceMap;

    fn said(text: &str) -> Vec<String> {
        let sources = SourceMap::new();
        let file = sources.add("M.mo", text);
        let found = hints(&[sources.file(file).unwrap()]);
        found.iter().map(|d| format!("{} {}", d.code, d.message)).collect()
    }

    #[test]
    fn what_nothing_uses() {
        let text = "model M import A.B; import C = D.E; parameter Real k = 1, m = 2; Real y = m;\n\
                    protected Real z; P p; annotation(Dialog(gruop = \"a\"), Documentaton(info = \"b\"), __Tool(x = 1)); end M;";
        assert_eq!(
            said(text),
            [
                "W0210 the import `B` is not used",
                "W0210 the import `C` is not used",
                "W0210 `k` is not used",
                "W0210 `z` is not used",
                "W0206 `Dialog` has no option `gruop`",
                "W0206 an annotation has no option `Documentaton`",
            ]
        );
    }

    #[test]
    fn what_may_be_used_elsewhere() {
        for text in [
            "partial model M parameter Real k = 1; end M;",
            "record R parameter Real k = 1; end R;",
            "package P constant Real k = 1; end P;",
            "model M import A.*; import B.{c, d}; Real x; annotation(Evaluate = true, Icon(graphics = {})); end M;",
            "model M parameter Real k = 1; end M; model N M m(k = 2); end N;",
        ] {
            assert_eq!(said(text), [""; 0], "{text}");
        }
    }
}
