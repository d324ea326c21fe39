//! What components look like in their plane, over time.

use saltus_results::{Schema, Shape, ShapeValue, Trajectory, Value};
use serde_json::{Map, Value as Json, json};

use crate::sheet::Sheet;

/// What shapes must know to be drawn.
const KINDS: [(&str, &[&str]); 8] = [
    ("Point", &["x", "y"]),
    ("Fixed", &["x", "y"]),
    ("Cart", &["x", "y"]),
    ("Line", &["x1", "y1", "x2", "y2"]),
    ("Rope", &["x1", "y1", "x2", "y2", "length"]),
    ("Floor", &["y"]),
    ("Rail", &["y"]),
    ("Wall", &["x"]),
];

/// The shapes with their coordinates as numbers or signals of the page. Shapes whose coordinates are not among the results are
/// left out.
pub(crate) fn scene(result: &Trajectory, sheet: &Sheet) -> Json {
    let shapes = &result.manifest().shapes;
    let drawn: Vec<Json> = shapes
        .iter()
        .filter_map(|shape| to_json(shape, result.schema(), sheet))
        .collect();
    if drawn.is_empty() {
        Json::Null
    } else {
        Json::Array(drawn)
    }
}

fn to_json(shape: &Shape, schema: &Schema, sheet: &Sheet) -> Option<Json> {
    let (kind, needed) = KINDS.iter().find(|(kind, _)| *kind == shape.kind)?;
    let mut object = Map::new();
    for (name, value) in &shape.values {
        if let Some(value) = coordinate(value, schema, sheet) {
            object.insert(name.clone(), value);
        }
    }
    if !needed.iter().all(|name| object.contains_key(*name)) {
        return None;
    }
    object.insert("k".to_owned(), json!(kind));
    object.insert("c".to_owned(), json!(shape.component));
    Some(Json::Object(object))
}

/// A number, or the place of a signal in a list of its own.
fn coordinate(value: &ShapeValue, schema: &Schema, sheet: &Sheet) -> Option<Json> {
    let name = match value {
        ShapeValue::Number(value) => return Some(json!(value)),
        ShapeValue::Variable(name) => name,
    };
    match schema.value(schema.find(name)?) {
        Value::Constant(value) => Some(json!(value)),
        Value::Column { .. } => {
            let place = sheet.signals.iter().position(|signal| signal.name == *name)?;
            Some(json!([place]))
        }
    }
}
