//! What a library says of itself in its annotation: its version and the versions of the libraries it uses.

use saltus_syntax::ast::{Argument, Binding, ClassModification, ElementModification, ExprKind};
use saltus_syntax::library::LibraryClass;

/// A library by its annotation `annotation(version = "4.1.0", uses(Complex(version = "4.1.0")))`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Libraries that it uses, with the versions asked for.
    pub uses: Vec<(String, Option<String>)>,
}

impl About {
    /// What a top-level class says of itself.
    pub fn of(class: &LibraryClass) -> About {
        let annotation = class.definition.annotation.as_ref();
        let said = annotation.map(|annotation| &*annotation.modification);
        About {
            name: class.qualified_name(),
            version: said.and_then(version),
            uses: said.map(used).unwrap_or_default(),
        }
    }
}

/// `version = "…"`
fn version(said: &ClassModification) -> Option<String> {
    let modification = said.find("version")?.modification.as_ref()?;
    match modification.binding.as_ref()? {
        Binding::Expr(expr) => match &expr.kind {
            ExprKind::String(text) => Some(text.to_string()),
            _ => None,
        },
        Binding::Break(_) => None,
    }
}

/// `uses(A(version = "…"), B(…))`
fn used(said: &ClassModification) -> Vec<(String, Option<String>)> {
    let inner = |element: &ElementModification| element.modification.as_ref()?.class_modification.clone();
    let Some(list) = said.find("uses").and_then(inner) else {
        return Vec::new();
    };
    let one = |argument: &Argument| match argument {
        Argument::Modification(element) => {
            let name = element.name.parts.first()?.name.to_string();
            Some((name, inner(element).and_then(|said| version(&said))))
        }
        _ => None,
    };
    list.arguments.iter().filter_map(one).collect()
}
