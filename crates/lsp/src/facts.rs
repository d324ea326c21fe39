//! What is written about names: declarations, descriptions, units, values.

use std::rc::Rc;
use std::sync::Arc;

use saltus::source::{SourceMap, Span};
use saltus_names::{ClassId, Member, MemberKind, Names, Type};
use saltus_syntax::ast::{
    Binding, Causality, ClassBody, ClassDefinition, ClassModification, ComponentClause, ElementKind, Expr, ExprKind,
    Modification, Variability,
};

/// The text of a span.
pub(crate) fn text(sources: &SourceMap, span: Span) -> String {
    let source = sources.file(span.file);
    source.map_or_else(String::new, |source| source.slice(span).to_owned())
}

/// Text on one line.
pub(crate) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The declaration of a component as it is written, without description and annotation.
pub(crate) fn declaration(sources: &SourceMap, member: &Member) -> String {
    let Some((clause, component)) = member.component() else {
        return member.name.to_string();
    };
    let head = Span::new(
        clause.span.file,
        clause.span.start,
        clause.type_name.span.end.max(clause.span.start),
    );
    let sizes: Vec<String> = clause
        .subscripts
        .iter()
        .map(|subscript| text(sources, subscript.span()))
        .collect();
    let sizes = if sizes.is_empty() {
        String::new()
    } else {
        format!("[{}]", sizes.join(", "))
    };
    let behind = [
        component.description.as_ref().map(|description| description.span.start),
        component.annotation.as_ref().map(|annotation| annotation.span.start),
    ];
    let end = behind.into_iter().flatten().min().unwrap_or(component.span.end);
    let tail = Span::new(component.span.file, component.span.start, end.max(component.span.start));
    on_one_line(&format!("{}{sizes} {}", text(sources, head), text(sources, tail)))
}

/// The first line of a class: what it is and how it is called.
pub(crate) fn class_head(names: &Names<'_>, sources: &SourceMap, class: ClassId) -> String {
    let definition = names.definition(class);
    let partial = if definition.partial { "partial " } else { "" };
    let name = names.qualified_name(class);
    let kind = definition.kind.as_str();
    match &definition.body {
        ClassBody::Short { base, modification, .. } => {
            let modification = modification.as_ref().map(|m| on_one_line(&text(sources, m.span)));
            format!("{partial}{kind} {name} = {base}{}", modification.unwrap_or_default())
        }
        ClassBody::Enumeration { literals } => {
            let literals = literals.iter().flatten().map(|literal| literal.name.to_string());
            format!(
                "{partial}{kind} {name} = enumeration({})",
                literals.collect::<Vec<_>>().join(", ")
            )
        }
        _ => format!("{partial}{kind} {name}"),
    }
}

/// The description string of a member.
pub(crate) fn description(names: &Names<'_>, member: &Member) -> Option<String> {
    match &member.kind {
        MemberKind::Component(..) => {
            let (_, component) = member.component()?;
            component.description.as_ref().map(|text| text.value.to_string())
        }
        MemberKind::Class(class) => class_description(names.definition(*class)),
        MemberKind::Literal(_, description) => description.as_ref().map(ToString::to_string),
    }
}

/// The description string of a class.
pub(crate) fn class_description(definition: &ClassDefinition) -> Option<String> {
    definition.description.as_ref().map(|text| text.value.to_string())
}

/// The value of an attribute in a modification, if it is a string.
fn string_attribute(modification: &ClassModification, name: &str) -> Option<String> {
    match binding(modification.find(name)?.modification.as_deref()?)? {
        Expr {
            kind: ExprKind::String(text),
            ..
        } => Some(text.to_string()),
        _ => None,
    }
}

/// The value of a modification.
pub(crate) fn binding(modification: &Modification) -> Option<&Expr> {
    match modification.binding.as_ref()? {
        Binding::Expr(value) => Some(value),
        Binding::Break(_) => None,
    }
}

/// The unit of a component: where it is declared, or of its type.
pub(crate) fn unit(names: &mut Names<'_>, member: &Member) -> Option<String> {
    let (_, component) = member.component()?;
    let own = component
        .modification
        .as_ref()
        .and_then(|m| m.class_modification.clone());
    if let Some(unit) = own.and_then(|own| string_attribute(&own, "unit")) {
        return Some(unit);
    }
    match names.type_of(member)? {
        Type::Class(class) => unit_of_class(names, class),
        Type::Predefined(_) => None,
    }
}

/// Whether the unit stands at the declaration itself.
pub(crate) fn has_own_unit(member: &Member) -> bool {
    let modification = member
        .component()
        .and_then(|(_, component)| component.modification.clone());
    let own = modification.and_then(|m| m.class_modification.clone());
    own.is_some_and(|own| string_attribute(&own, "unit").is_some())
}

/// The unit that a type gives what is declared with it.
pub(crate) fn unit_of_class(names: &mut Names<'_>, class: ClassId) -> Option<String> {
    let mut current = class;
    for _ in 0..100 {
        let definition = Arc::clone(names.definition(current));
        let modification = match &definition.body {
            ClassBody::Short { modification, .. } => modification.clone(),
            ClassBody::Long(composition) => composition.elements.iter().find_map(|element| match &element.kind {
                ElementKind::Extends(extends) => extends.modification.clone(),
                _ => None,
            }),
            _ => None,
        };
        if let Some(unit) = modification.and_then(|m| string_attribute(&m, "unit")) {
            return Some(unit);
        }
        current = *names.bases(current).first()?;
    }
    None
}

/// The value of a component as it is written.
pub(crate) fn value(sources: &SourceMap, member: &Member) -> Option<String> {
    let (_, component) = member.component()?;
    let value = binding(component.modification.as_deref()?)?;
    Some(on_one_line(&text(sources, value.span)))
}

/// Whether it is a parameter or a constant.
pub(crate) fn is_fixed(clause: &ComponentClause) -> bool {
    matches!(
        clause.prefix.variability,
        Some(Variability::Parameter | Variability::Constant)
    )
}

/// The inputs and outputs of a function, inherited ones first where they are.
pub(crate) fn signature(names: &mut Names<'_>, function: ClassId) -> (Vec<Rc<Member>>, Vec<Rc<Member>>) {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let members = names.members(function);
    let (own, inherited): (Vec<_>, Vec<_>) = members.into_iter().partition(|member| member.owner == function);
    for member in inherited.into_iter().chain(own) {
        let Some((clause, _)) = member.component() else {
            continue;
        };
        let causality = clause.prefix.causality;
        match causality {
            Some(Causality::Input) => inputs.push(member),
            Some(Causality::Output) => outputs.push(member),
            None => {}
        }
    }
    (inputs, outputs)
}
