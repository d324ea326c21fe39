//! The whole grammar in one file, and what becomes of it in the typed tree.

use saltus_source::SourceMap;
use saltus_syntax::ast::*;
use saltus_syntax::{Parse, parse_file};

fn parsed(text: &str) -> Parse {
    let sources = SourceMap::new();
    let file = sources.file(sources.add("test.mo", text)).unwrap();
    let parse = parse_file(&file);
    let found: Vec<String> = parse.diagnostics.iter().map(|d| format!("{d:?}")).collect();
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(parse.tree.to_string(), text);
    parse
}

fn grammar() -> StoredDefinition {
    parsed(include_str!("data/grammar.mo")).ast()
}

fn class(name: &str) -> ClassDefinition {
    let definition = grammar();
    let found = definition.classes[0].class.class(name);
    ClassDefinition::clone(found.unwrap_or_else(|| panic!("no {name}")))
}

/// The binding of a component of the class `Expressions`, printed with all parentheses.
fn expression(name: &str) -> String {
    let class = class("Expressions");
    let elements = &class.composition().unwrap().elements;
    let component = elements
        .iter()
        .filter_map(|element| match &element.kind {
            ElementKind::Components(clause) => clause.components.iter().find(|c| c.name.name == name),
            _ => None,
        })
        .next()
        .unwrap();
    match &component.modification.as_ref().unwrap().binding {
        Some(Binding::Expr(expr)) => print(expr),
        other => panic!("{other:?}"),
    }
}

fn list<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> String {
    let printed: Vec<String> = exprs.into_iter().map(print).collect();
    printed.join(", ")
}

fn print(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Integer(value) => value.to_string(),
        ExprKind::Real(value) => format!("{value:?}"),
        ExprKind::String(value) => format!("{value:?}"),
        ExprKind::Boolean(value) => value.to_string(),
        ExprKind::Reference(reference) => print_reference(reference),
        ExprKind::Call(call) => {
            let arguments = match &call.arguments {
                CallArguments::List { positional, named } => {
                    list(positional) + &named.iter().map(print_named).collect::<String>()
                }
                CallArguments::Comprehension { element, indices } => print_indices(element, indices),
            };
            format!("{}({arguments})", print_reference(&call.function))
        }
        ExprKind::Unary(op, operand) => format!("({} {})", op.as_str(), print(operand)),
        ExprKind::Binary(op, l, r) => format!("({} {} {})", print(l), op.as_str(), print(r)),
        ExprKind::Range { start, step, stop } => {
            let step = step.as_ref().map(|step| print(step) + ":").unwrap_or_default();
            format!("({}:{step}{})", print(start), print(stop))
        }
        ExprKind::If { branches, otherwise } => {
            let branches = branches
                .iter()
                .map(|(c, v)| format!("if {} then {} ", print(c), print(v)));
            format!("({}else {})", branches.collect::<String>(), print(otherwise))
        }
        ExprKind::Array(elements) => format!("{{{}}}", list(elements)),
        ExprKind::ArrayComprehension { element, indices } => {
            format!("{{{}}}", print_indices(element, indices))
        }
        ExprKind::Matrix(rows) => {
            let rows: Vec<String> = rows.iter().map(list).collect();
            format!("[{}]", rows.join("; "))
        }
        ExprKind::Tuple(places) => format!("tuple{}", places.len()),
        ExprKind::Subscripted(inner, subscripts) => {
            format!("({})[{}]", print(inner), print_subscripts(subscripts))
        }
        ExprKind::End => "end".to_owned(),
        ExprKind::PartialFunction(partial) => {
            let arguments: String = partial.arguments.iter().map(print_named).collect();
            format!("function {}({arguments})", partial.function)
        }
        ExprKind::Error => "error".to_owned(),
    }
}

fn print_named(argument: &NamedArgument) -> String {
    format!("; {} = {}", argument.name, print(&argument.value))
}

fn print_indices(element: &Expr, indices: &[ForIndex]) -> String {
    let indices = indices.iter().map(|index| {
        let range = index.range.as_ref().map_or("?".to_owned(), print);
        format!(" for {} in {range}", index.name)
    });
    print(element) + &indices.collect::<String>()
}

fn print_subscripts(subscripts: &[Subscript]) -> String {
    let printed: Vec<String> = subscripts
        .iter()
        .map(|subscript| match subscript {
            Subscript::Colon(_) => ":".to_owned(),
            Subscript::Expr(expr) => print(expr),
        })
        .collect();
    printed.join(", ")
}

fn print_reference(reference: &ComponentReference) -> String {
    let parts: Vec<String> = reference
        .parts
        .iter()
        .map(|part| match part.subscripts.as_slice() {
            [] => part.name.to_string(),
            subscripts => format!("{}[{}]", part.name, print_subscripts(subscripts)),
        })
        .collect();
    format!("{}{}", if reference.global { "." } else { "" }, parts.join("."))
}

#[test]
fn expressions() {
    assert_eq!(expression("a"), "((1 + 2.0) - ((0.0035 * 400.0) / (5 ^ 6)))");
    assert_eq!(expression("b"), "(((- x) .+ y) .- ((z .* u) ./ (v .^ w)))");
    assert_eq!(
        expression("c"),
        "((((not (a < b)) and (a <= b)) or ((a > b) and (a >= b))) or ((a == b) and (a <> b)))"
    );
    assert_eq!(expression("d"), "(1:2)");
    assert_eq!(expression("e"), "(1:0.5:(2 + 1))");
    assert_eq!(expression("f"), "[1, 2; 3, 4]");
    assert_eq!(expression("g"), "{(i + j) for i in (1:3) for j in {1, 2}}");
    assert_eq!(expression("h"), "sum(i for i in (1:3))");
    assert_eq!(expression("i"), "x[end, (1:(end - 1)), :].y[2]");
    assert_eq!(
        expression("j"),
        "quad(function g(; a = 1; b = .c), function h(), 1; k = function .m())"
    );
    assert_eq!(expression("k"), "(a)[1]");
    assert_eq!(expression("l"), "(f(1))[2, end]");
    assert_eq!(expression("m"), r#""a\n\"b\"\\""#);
    assert_eq!(expression("n"), "((der(x) + pure(f(x))) + time)");
    assert_eq!(expression("o"), "f()");
    assert_eq!(expression("p"), "(+ 1)");
    assert_eq!(expression("q"), "({{1, 2}, {3, 4}} * [1])");
    assert_eq!(expression("r"), "((if a then b else c) + 1)");
    assert_eq!(expression("s"), ".a.b(1)");
    assert_eq!(expression("t"), "((not true) or false)");
}

#[test]
fn stored_definition() {
    let definition = grammar();
    let within = definition.within.unwrap();
    assert_eq!(within.name.unwrap().to_string(), "Some.Where");
    let names: Vec<&str> = definition.classes.iter().map(|c| c.class.name.name.as_str()).collect();
    assert_eq!(names, ["Everything", "Second"]);
    let first = &definition.classes[0];
    assert!(first.is_final && first.class.encapsulated && first.class.partial);
    assert_eq!(first.class.kind, ClassKind::Package);
    assert_eq!(first.class.description.as_ref().unwrap().value, "ab");
}

#[test]
fn class_forms() {
    assert_eq!(class("Complex").kind, ClassKind::OperatorRecord);
    assert_eq!(
        class("Complex").class("'constructor'").unwrap().kind,
        ClassKind::Operator
    );
    assert_eq!(class("Complex").class("'+'").unwrap().kind, ClassKind::OperatorFunction);
    assert_eq!(class("Bus").kind, ClassKind::ExpandableConnector);
    assert_eq!(class("p").purity, Some(Purity::Pure));
    assert_eq!(class("q").purity, Some(Purity::Impure));
}

#[test]
fn short_classes() {
    let ClassBody::Short {
        causality,
        base,
        subscripts,
        modification,
    } = class("In").body
    else {
        panic!();
    };
    assert_eq!(causality, Some(Causality::Input));
    assert_eq!(base.to_string(), "Real");
    assert_eq!(subscripts.len(), 2);
    assert!(modification.unwrap().find("min").unwrap().each);
    assert!(class("In").annotation.is_some());
    let ClassBody::Enumeration {
        literals: Some(literals),
    } = class("E").body
    else {
        panic!();
    };
    let names: Vec<&str> = literals.iter().map(|l| l.name.name.as_str()).collect();
    assert_eq!(names, ["one", "two", "'three'"]);
    assert_eq!(class("F").body, ClassBody::Enumeration { literals: None });
    let ClassBody::Derivative {
        function,
        with_respect_to,
    } = class("f_x").body
    else {
        panic!();
    };
    assert!(function.global);
    assert_eq!(with_respect_to.len(), 2);
    assert!(matches!(
        class("R").body,
        ClassBody::Extends {
            modification: Some(_),
            ..
        }
    ));
}

#[test]
fn imports_and_extends() {
    let definition = grammar();
    let elements = &definition.classes[0].class.composition().unwrap().elements;
    let imports: Vec<String> = elements
        .iter()
        .filter_map(|element| match &element.kind {
            ElementKind::Import(import) => Some(format!("{} {:?}", import.name, import.kind)),
            _ => None,
        })
        .collect();
    assert_eq!(
        imports,
        [
            "A Qualified",
            ".B.C Qualified",
            "A.B Renaming(D)",
            "A.B Unqualified",
            "A List([x, y, z])"
        ]
    );
    let extends: Vec<&Extends> = elements
        .iter()
        .filter_map(|element| match &element.kind {
            ElementKind::Extends(extends) => Some(extends),
            _ => None,
        })
        .collect();
    let first = extends[0].modification.as_ref().unwrap();
    assert_eq!(first.arguments.len(), 3);
    assert!(first.find("b").unwrap().is_final);
    let Argument::Redeclaration(redeclaration) = &first.arguments[2] else {
        panic!();
    };
    assert!(redeclaration.redeclare && redeclaration.replaceable);
    assert_eq!(redeclaration.constraining.as_ref().unwrap().base.to_string(), "Z");
    let second = extends[1].modification.as_ref().unwrap();
    assert!(matches!(&second.arguments[0], Argument::Break(b)
        if matches!(&b.kind, InheritanceBreakKind::Element(name) if name.name == "a")));
    assert!(matches!(&second.arguments[1], Argument::Break(b)
        if matches!(&b.kind, InheritanceBreakKind::Connect(left, _) if left.parts.len() == 2)));
    let removed = second.find("e").unwrap().modification.as_ref().unwrap();
    assert!(matches!(removed.binding, Some(Binding::Break(_))));
}

#[test]
fn elements_and_sections() {
    let body = class("Body");
    let composition = body.composition().unwrap();
    let visible = composition.elements.iter().map(|e| e.visibility).collect::<Vec<_>>();
    assert_eq!(visible[5], Visibility::Protected);
    assert_eq!(visible.iter().filter(|v| **v == Visibility::Public).count(), 6);
    let ElementKind::Components(clause) = &composition.elements[0].kind else {
        panic!();
    };
    assert_eq!(clause.prefix.variability, Some(Variability::Parameter));
    assert_eq!(clause.components.len(), 2);
    assert!(clause.components[1].condition.is_some());
    assert_eq!(clause.components[1].description.as_ref().unwrap().value, "b");
    let initial: Vec<bool> = composition.equations.iter().map(|section| section.initial).collect();
    assert_eq!(initial, [true, false]);
    let initial: Vec<bool> = composition.algorithms.iter().map(|section| section.initial).collect();
    assert_eq!(initial, [true, false]);
    assert!(body.annotation.is_some());
    let external = class("p").composition().unwrap().external.clone().unwrap();
    assert_eq!(external.language.unwrap().value, "C");
    let call = external.call.unwrap();
    assert_eq!((call.function.name.as_str(), call.arguments.len()), ("p_", 3));
    assert_eq!(call.result.unwrap().as_simple_name().unwrap(), "z");
}

#[test]
fn equations_and_statements() {
    let body = class("Body");
    let composition = body.composition().unwrap();
    let equations = &composition.equations[1].equations;
    let kinds: Vec<&str> = equations.iter().map(|equation| equation_kind(&equation.kind)).collect();
    assert_eq!(
        kinds,
        [
            "simple",
            "simple",
            "simple",
            "if 2+else",
            "for 2",
            "when 2",
            "connect",
            "call",
            "call",
            "for 1"
        ]
    );
    assert_eq!(equations[0].description.as_ref().unwrap().value, "described");
    let text = include_str!("data/grammar.mo");
    let span = equations[0].span;
    assert_eq!(
        &text[span.start as usize..span.end as usize],
        "x + 1 = y \"described\" annotation (D)"
    );
    let statements = &composition.algorithms[1].statements;
    let kinds: Vec<&str> = statements.iter().map(|s| statement_kind(&s.kind)).collect();
    assert_eq!(kinds, ["assign", "assign 3", "call", "while", "for", "when 2", "call"]);
}

fn equation_kind(kind: &EquationKind) -> &'static str {
    match kind {
        EquationKind::Simple { .. } => "simple",
        EquationKind::If {
            branches,
            otherwise: Some(_),
        } if branches.len() == 2 => "if 2+else",
        EquationKind::For { indices, .. } if indices.len() == 2 => "for 2",
        EquationKind::For { .. } => "for 1",
        EquationKind::When { branches } if branches.len() == 2 => "when 2",
        EquationKind::Connect { .. } => "connect",
        EquationKind::Call(_) => "call",
        _ => "other",
    }
}

fn statement_kind(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::Assign { .. } => "assign",
        StatementKind::MultiAssign { targets, .. } if targets.len() == 3 => "assign 3",
        StatementKind::Call(_) => "call",
        StatementKind::While { .. } => "while",
        StatementKind::For { .. } => "for",
        StatementKind::When { branches } if branches.len() == 2 => "when 2",
        _ => "other",
    }
}

#[test]
fn line_ends_and_byte_order_mark() {
    let text = "\u{feff}model M\r\n  Real x; // note\r\nend M;\r\n";
    assert_eq!(parsed(text).ast().classes[0].class.name.name, "M");
    assert!(parsed("").ast().classes.is_empty());
    assert!(parsed("// nothing\n").ast().classes.is_empty());
    assert!(parsed("within;").ast().within.unwrap().name.is_none());
}

#[test]
fn json_of_the_tree() {
    let parse = parsed("model M Real x; end M;");
    let value: serde_json::Value = serde_json::from_str(&parse.tree.to_json()).unwrap();
    assert_eq!(value["kind"], "StoredDefinition");
    assert_eq!(value["children"][0]["children"][0]["children"][0]["text"], "model");
}
