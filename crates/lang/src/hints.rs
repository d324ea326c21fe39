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
    let mut uses = Uses::default();
    for parse in &parses {
        uses.count(parse);
    }
    for parse in &parses {
        of_file(parse, &uses, &mut found);
    }
    found.normalise();
    found
}

/// How often names stand in the files.
#[derive(Default)]
struct Uses<'t> {
    /// Anywhere, declarations among them.
    anywhere: FxHashMap<&'t str, u32>,
    /// At the beginning of a name, outside of imports: where an imported name stands.
    in_front: FxHashMap<&'t str, u32>,
}

impl<'t> Uses<'t> {
    fn count(&mut self, parse: &'t Parse) {
        let (mut imports, mut behind_dot) = (0, false);
        parse.tree.walk(|step| match step {
            Walk::Enter(node) => imports += u32::from(node.kind() == SyntaxKind::ImportClause),
            Walk::Leave(node) => imports -= u32::from(node.kind() == SyntaxKind::ImportClause),
            Walk::Token(token) => {
                if token.kind() == SyntaxKind::Identifier {
                    *self.anywhere.entry(token.text()).or_default() += 1;
                    if imports == 0 && !behind_dot {
                        *self.in_front.entry(token.text()).or_default() += 1;
                    }
                }
                if !token.kind().is_trivia() {
                    behind_dot = token.kind() == SyntaxKind::Dot;
                }
            }
        });
    }

    /// Whether a name that is declared stands nowhere else.
    fn is_unused(&self, declared: &str) -> bool {
        self.anywhere.get(declared) == Some(&1)
    }

    fn is_unused_import(&self, imported: &str) -> bool {
        !self.in_front.contains_key(imported)
    }
}

/// A class that is being walked through.
struct OpenClass {
    /// Whether what is declared in it is nobody else's business.
    is_closed: bool,
    is_protected: bool,
}

fn of_file(parse: &Parse, uses: &Uses<'_>, found: &mut Diagnostics) {
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
                if let Some(import) = node.child(SyntaxKind::ImportClause) {
                    unused_imports(node, import, uses, found);
                }
                if let (Some(class), Some(clause)) = (classes.last(), node.child(SyntaxKind::ComponentClause))
                    && class.is_closed
                {
                    unused_components(class, clause, uses, found);
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

/// `import A = B.C` has a name of its own; of `import B.C` the last part is one; of `import B.{C, D}` those in braces are. What comes
/// with a star is left alone.
fn unused_imports(element: Node<'_>, import: Node<'_>, uses: &Uses<'_>, found: &mut Diagnostics) {
    let identifiers = |node: Node<'_>| -> Vec<(String, Span)> {
        let tokens = node.tokens().filter(|t| t.kind() == SyntaxKind::Identifier);
        tokens.map(|t| (t.text().to_owned(), t.span())).collect()
    };
    let own = identifiers(import);
    let is_list = import.has(SyntaxKind::LeftBrace);
    let names: Vec<(String, Span)> = if import.has(SyntaxKind::Equals) {
        own.into_iter().take(1).collect()
    } else if is_list {
        own
    } else if import.has(SyntaxKind::DotStar) {
        return;
    } else {
        let path = import.child(SyntaxKind::QualifiedName);
        path.and_then(|path| identifiers(path).pop()).into_iter().collect()
    };
    let unused: Vec<&(String, Span)> = names.iter().filter(|(name, _)| uses.is_unused_import(name)).collect();
    for (name, place) in &unused {
        let message = format!("the import `{name}` is not used");
        let hint = Diagnostic::new(codes::W0210, Severity::Note, *place, message).with_help("leave it out");
        // Of a list others may be in use.
        found.push(if unused.len() == names.len() {
            hint.with_likely_fix("remove the import", vec![Edit::replace(element.span(), "")])
        } else {
            hint
        });
    }
}

fn unused_components(class: &OpenClass, clause: Node<'_>, uses: &Uses<'_>, found: &mut Diagnostics) {
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
        if is_plain && uses.is_unused(name.text()) {
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
    is_near(name, meant).then(|| {
        Diagnostic::warning(codes::W0206, place, format!("{of} has no option `{name}`"))
            .with_help(format!("did you mean `{meant}`?"))
            .with_safe_fix(
                format!("replace `{name}` by `{meant}`"),
                vec![Edit::replace(place, meant)],
            )
    })
}

/// Whether a name is surely meant to be another.
pub(crate) fn is_near(name: &str, meant: &str) -> bool {
    name.eq_ignore_ascii_case(meant) || name.len().abs_diff(meant.len()) <= 1 && one_off(name, meant)
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
    fn imports_are_used_where_their_names_begin() {
        for (imports, body, unused) in [
            ("import A.SI;", "SI.Mass m", &[][..]),
            ("import SI = A.SI;", "A.SI.Mass m", &["SI"]),
            ("import SI = A.SI;", "SI . Mass m", &[]),
            ("import A.SI; import SI.B;", "Real x", &["SI", "B"]),
            ("import A.{b, c, d};", "Real x = c", &["b", "d"]),
            ("import A.{b};", "Real x = y.b", &["b"]),
            ("import A.b;", "Real x[2] = {1, b(2)}", &[]),
            ("import A.b;", "extends C(redeclare model D = b)", &[]),
        ] {
            let text = format!("package P {imports} model M {body}; end M; end P;");
            let expected: Vec<String> = unused
                .iter()
                .map(|name| format!("W0210 the import `{name}` is not used"))
                .collect();
            assert_eq!(said(&text), expected, "{text}");
        }
    }

    #[test]
    fn what_may_be_used_elsewhere() {
        for text in [
            "partial model M parameter Real k = 1; end M;",
            "record R parameter Real k = 1; end R;",
            "package P constant Real k = 1; end P;",
            "model M import A.*; import B.{c, d}; Real x = c*d(1); annotation(Evaluate = true, Icon(graphics = {})); end M;",
            "model M parameter Real k = 1; end M; model N M m(k = 2); end N;",
        ] {
            assert_eq!(said(text), [""; 0], "{text}");
        }
    }
}
