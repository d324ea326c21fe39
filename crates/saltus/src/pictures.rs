//! Figures and shapes that a model asks for, and what it compares, as results keep them.

use saltus_lang::flat::{FlatModel, PictureField, PictureRecord};
use saltus_results::{ModelAxis, ModelCurve, ModelFigure, ModelPlot, Shape, ShapeValue};
use serde::{Deserialize, Serialize};

/// What a model says about pictures of its results.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Pictures {
    pub figures: Vec<ModelFigure>,
    pub shapes: Vec<Shape>,
    pub set_points: Vec<(String, String)>,
}

impl Pictures {
    pub(crate) fn new(flat: &FlatModel) -> Self {
        let shapes = flat.shapes.iter().map(|(component, record)| shape(component, record));
        let set_points = flat.set_points.iter();
        Pictures {
            figures: flat.figures.iter().map(figure).collect(),
            shapes: shapes.collect(),
            set_points: set_points
                .map(|(wanted, actual)| (wanted.to_string(), actual.to_string()))
                .collect(),
        }
    }
}

fn text(record: &PictureRecord, name: &str) -> String {
    match record.field(name) {
        Some(PictureField::Text(text)) => text.to_string(),
        _ => String::new(),
    }
}

/// The records in a list.
fn inside<'r>(record: &'r PictureRecord, name: &str) -> impl Iterator<Item = &'r PictureRecord> {
    let fields = match record.field(name) {
        Some(PictureField::List(fields)) => fields.as_slice(),
        _ => &[],
    };
    fields.iter().filter_map(|field| match field {
        PictureField::Record(record) => Some(record),
        _ => None,
    })
}

fn figure(record: &PictureRecord) -> ModelFigure {
    ModelFigure {
        title: text(record, "title"),
        preferred: record.field("preferred") == Some(&PictureField::Truth(true)),
        plots: inside(record, "plots").map(plot).collect(),
    }
}

fn plot(record: &PictureRecord) -> ModelPlot {
    let variable = |curve: &PictureRecord, name: &str| match curve.field(name) {
        Some(PictureField::Variable(name)) if **name != *"time" => Some(name.to_string()),
        _ => None,
    };
    let curves = inside(record, "curves").filter_map(|curve| {
        Some(ModelCurve {
            over: variable(curve, "x"),
            variable: variable(curve, "y")?,
            legend: text(curve, "legend"),
        })
    });
    ModelPlot {
        title: text(record, "title"),
        curves: curves.collect(),
        horizontal: axis(record, "x"),
        vertical: axis(record, "y"),
    }
}

/// `x = Axis(min = 0, max = 1, unit = "m", label = "height", scale = Log())`
fn axis(plot: &PictureRecord, name: &str) -> ModelAxis {
    let Some(PictureField::Record(axis)) = plot.field(name) else {
        return ModelAxis::default();
    };
    let number = |name: &str| match axis.field(name) {
        Some(PictureField::Number(value)) => Some(*value),
        _ => None,
    };
    let scale = axis.field("scale");
    ModelAxis {
        label: text(axis, "label"),
        unit: text(axis, "unit"),
        min: number("min"),
        max: number("max"),
        is_logarithmic: matches!(scale, Some(PictureField::Record(scale)) if &*scale.name == "Log"),
    }
}

fn shape(component: &str, record: &PictureRecord) -> Shape {
    let values = record.fields.iter().filter_map(|(name, field)| {
        let value = match field {
            PictureField::Number(value) => ShapeValue::Number(*value),
            PictureField::Truth(truth) => ShapeValue::Number(f64::from(u8::from(*truth))),
            PictureField::Variable(name) => ShapeValue::Variable(name.to_string()),
            _ => return None,
        };
        Some((name.to_string(), value))
    });
    Shape {
        kind: record.name.to_string(),
        component: component.to_owned(),
        values: values.collect(),
    }
}
