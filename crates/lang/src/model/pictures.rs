//! What a model says about pictures of its results: figures (`Documentation(figures = …)`, section 18.4 of the language
//! specification) and the shapes of its components in the plane (`__Saltus(drawing = …)`).
//!
//! Both are lists of records written as calls. They say nothing about equations: names in them become names of results.

use std::rc::Rc;
use std::sync::Arc;

use saltus_syntax::ast::{Binding, ClassDefinition, ComponentReference, Expr, ExprKind, Subscript, UnaryOp};

use crate::flat::{PictureField, PictureRecord};
use crate::flattener::Flattener;
use crate::ids::InstanceId;
use crate::instance::join_path;

impl Flattener<'_> {
    /// Adds the shapes of an instance, also those of the classes it inherits from.
    pub(super) fn collect_shapes(&mut self, instance: InstanceId) {
        let (table, path) = {
            let instance = &self.instances[instance];
            (Rc::clone(&instance.table), Arc::clone(&instance.path))
        };
        for &class in &table.scopes {
            let def = Arc::clone(self.def(class));
            let shapes = records(&def, "__Saltus", "drawing", &path);
            self.model
                .shapes
                .extend(shapes.into_iter().map(|shape| (Arc::clone(&path), shape)));
        }
    }
}

/// The figures of a model.
pub(super) fn figures(def: &ClassDefinition) -> Vec<PictureRecord> {
    records(def, "Documentation", "figures", &"".into())
}

/// `annotation(outer(inner = {A(…), B(…)}))`
fn records(def: &ClassDefinition, outer: &str, inner: &str, path: &Arc<str>) -> Vec<PictureRecord> {
    let list = || {
        let annotation = def.annotation.as_ref()?;
        let outer = annotation.modification.find(outer)?.modification.as_ref()?;
        let inner = outer
            .class_modification
            .as_deref()?
            .find(inner)?
            .modification
            .as_ref()?;
        match &inner.binding {
            Some(Binding::Expr(expr)) => field(expr, path),
            _ => None,
        }
    };
    let Some(PictureField::List(fields)) = list() else {
        return Vec::new();
    };
    let record = |field| match field {
        PictureField::Record(record) => Some(record),
        _ => None,
    };
    fields.into_iter().filter_map(record).collect()
}

/// Nothing for what pictures do not know; the depth of texts is limited by the parser.
fn field(expr: &Expr, path: &Arc<str>) -> Option<PictureField> {
    Some(match &expr.kind {
        ExprKind::Integer(value) => PictureField::Number(*value as f64),
        ExprKind::Real(value) => PictureField::Number(*value),
        ExprKind::String(text) => PictureField::Text(text.as_str().into()),
        ExprKind::Boolean(truth) => PictureField::Truth(*truth),
        ExprKind::Unary(UnaryOp::Minus, inner) => match field(inner, path)? {
            PictureField::Number(value) => PictureField::Number(-value),
            _ => return None,
        },
        ExprKind::Reference(reference) => PictureField::Variable(variable(reference, path)?),
        ExprKind::Array(elements) => PictureField::List(elements.iter().filter_map(|e| field(e, path)).collect()),
        ExprKind::Call(call) => {
            let name = call.function.to_qualified_name()?;
            let name = name.parts.last()?.name.as_str();
            if let (
                "der",
                [
                    Expr {
                        kind: ExprKind::Reference(of),
                        ..
                    },
                ],
            ) = (name, call.positional())
            {
                return Some(PictureField::Variable(format!("der({})", variable(of, path)?).into()));
            }
            let named = call.named().iter();
            let fields = named.filter_map(|named| Some((named.name.name.as_str().into(), field(&named.value, path)?)));
            PictureField::Record(PictureRecord {
                name: name.into(),
                fields: fields.collect(),
            })
        }
        _ => return None,
    })
}

/// The name of a result: `a.b[1].x` in the component `path`.
fn variable(reference: &ComponentReference, path: &Arc<str>) -> Option<Arc<str>> {
    let mut name = String::new();
    for part in &reference.parts {
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(part.name.name.as_str());
        let subscripts: Option<Vec<String>> = part.subscripts.iter().map(subscript).collect();
        let subscripts = subscripts?;
        if !subscripts.is_empty() {
            name.push_str(&format!("[{}]", subscripts.join(",")));
        }
    }
    if name == "time" || path.is_empty() {
        return Some(name.into());
    }
    Some(join_path(path, &saltus_syntax::ast::Name::new(&name)))
}

fn subscript(subscript: &Subscript) -> Option<String> {
    match subscript {
        Subscript::Expr(Expr {
            kind: ExprKind::Integer(value),
            ..
        }) => Some(value.to_string()),
        _ => None,
    }
}
