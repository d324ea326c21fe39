//! What a page draws: time bases, columns, signals over them, and which are shown first.

use std::collections::BTreeMap;

use saltus_results::figure::{FigureOptions, panels};
use saltus_results::units::{Conversion, conversion, integral, pretty};
use saltus_results::{ResultError, RowKind, Signal, SignalId, SignalKind, Trajectory, Value};
use serde_json::{Value as Json, json};

use crate::PageOptions;
use crate::encode::{Encoded, encode};
use crate::thin::thin;

/// More values than this make a file that takes long to open: curves are thinned.
const MOST_VALUES: usize = 4_000_000;
/// Rows of events are kept beside the thinned ones as long as they are fewer than this.
const MOST_EVENT_ROWS: usize = 20_000;

/// Everything that is drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheet {
    pub title: String,
    /// First and last time.
    pub range: (f64, f64),
    /// What of it is shown first.
    pub view: (f64, f64),
    /// Columns of numbers: values, and the times they belong to.
    pub columns: Vec<Encoded>,
    /// Which text is which column.
    pub places: BTreeMap<String, usize>,
    pub signals: Vec<SheetSignal>,
    /// Signals shown first, panel by panel.
    pub panels: Vec<Vec<usize>>,
    /// Rows of the result, if not all of them are in the page.
    pub thinned_from: Option<usize>,
    /// Columns of the times and numbers of mode changes.
    pub modes: Option<(usize, usize)>,
    /// For each column of the result, that of the page.
    pub column_of: Vec<usize>,
}

/// A signal of the page.
#[derive(Clone, Debug)]
pub(crate) struct SheetSignal {
    pub name: String,
    /// The unit shown, as people write it.
    pub unit: String,
    /// Unit of the weight of an impulse of order 1 and 2.
    pub weight_units: [String; 2],
    pub description: String,
    pub kind: SignalKind,
    /// Columns of times and values.
    pub time: usize,
    pub values: usize,
    /// From stored to shown values.
    pub shown: Conversion,
    /// Whether it is the reference of a comparison.
    pub is_reference: bool,
    /// Whether it is listed at the end: protected, hidden, or a derivative nobody named.
    pub is_minor: bool,
}

impl SheetSignal {
    pub(crate) fn new(signal: &Signal, time: usize, values: usize, stored: Conversion) -> Self {
        let wanted = if signal.display_unit.is_empty() {
            &signal.unit
        } else {
            &signal.display_unit
        };
        let (unit, to_shown) = match conversion(&signal.unit, wanted) {
            Some(conversion) => (wanted, conversion),
            None => (&signal.unit, Conversion::IDENTITY),
        };
        Self {
            name: signal.name.clone(),
            unit: pretty(unit),
            weight_units: [1, 2].map(|order| pretty(&integral(unit, order))),
            description: signal.description.clone(),
            kind: signal.kind.clone(),
            time,
            values,
            shown: Conversion {
                factor: to_shown.factor * stored.factor,
                offset: to_shown.factor * stored.offset + to_shown.offset,
            },
            is_reference: false,
            is_minor: signal.protected || signal.hidden || signal.name.starts_with("der("),
        }
    }

    fn to_json(&self) -> Json {
        let kind = match self.kind {
            SignalKind::Continuous => 0,
            SignalKind::Discrete | SignalKind::Integer => 1,
            SignalKind::Boolean => 2,
            SignalKind::Enumeration(_) => 3,
        };
        let mut value = json!({
            "n": self.name, "t": self.time, "v": self.values,
        });
        let mut put = |key: &str, wanted: bool, what: Json| {
            if wanted {
                value[key] = what;
            }
        };
        put("u", !self.unit.is_empty(), json!(self.unit));
        put("d", !self.description.is_empty(), json!(self.description));
        put("k", kind != 0, json!(kind));
        put("a", self.shown.factor != 1.0, json!(self.shown.factor));
        put("b", self.shown.offset != 0.0, json!(self.shown.offset));
        put("r", self.is_reference, json!(1));
        put("m", self.is_minor, json!(1));
        if let SignalKind::Enumeration(literals) = &self.kind {
            value["l"] = json!(literals);
        }
        value
    }
}

impl Sheet {
    /// Adds a column; one that is there already is not added again.
    pub(crate) fn push(&mut self, values: &[f64]) -> usize {
        let column = encode(values);
        let known = self.places.get(&column.text).copied();
        known.filter(|&place| self.columns[place] == column).unwrap_or_else(|| {
            self.places.insert(column.text.clone(), self.columns.len());
            self.columns.push(column);
            self.columns.len() - 1
        })
    }

    /// What scripts need to know, without the columns themselves.
    pub(crate) fn to_json(&self) -> Json {
        json!({
            "title": self.title,
            "range": [self.range.0, self.range.1],
            "view": [self.view.0, self.view.1],
            "orders": self.columns.iter().map(|column| column.order).collect::<Vec<_>>(),
            "signals": self.signals.iter().map(SheetSignal::to_json).collect::<Vec<_>>(),
            "panels": self.panels,
            "modes": self.modes.map(|(times, numbers)| [times, numbers]),
        })
    }

    /// The unit of a weight, by any name of the signal.
    pub(crate) fn weight_unit(&self, signal: Option<usize>, order: u32) -> &str {
        let units = signal
            .and_then(|at| self.signals.get(at))
            .map(|signal| &signal.weight_units);
        let unit = units.and_then(|units| units.get(order.max(1) as usize - 1));
        unit.map_or("", String::as_str)
    }
}

/// The sheet of one result.
pub(crate) fn of_result(result: &Trajectory, options: &PageOptions) -> Result<Sheet, ResultError> {
    let figure = FigureOptions {
        signals: options.signals.clone(),
        panels: options.panels.clone(),
        ..FigureOptions::default()
    };
    let chosen = panels(result, &figure)?;
    let mut sheet = Sheet {
        title: options.title.clone().unwrap_or_else(|| result.manifest().model.clone()),
        range: full_range(result.time()),
        ..Sheet::default()
    };
    sheet.view = options.time_range.unwrap_or(sheet.range);
    add_modes(&mut sheet, result);
    let columns = add_columns(&mut sheet, result);
    let places = add_signals(&mut sheet, result, &columns);
    let place = |id: &SignalId| places[id.index()];
    sheet.panels = chosen
        .iter()
        .map(|ids| ids.iter().filter_map(place).collect())
        .collect();
    sheet.panels.retain(|panel| !panel.is_empty());
    Ok(sheet)
}

pub(crate) fn full_range(time: &[f64]) -> (f64, f64) {
    match (time.first(), time.last()) {
        (Some(&first), Some(&last)) if last > first => (first, last),
        (Some(&first), _) => (first, first + 1.0),
        _ => (0.0, 1.0),
    }
}

/// The times at which the mode becomes another, from the first row on.
pub(crate) fn add_modes(sheet: &mut Sheet, result: &Trajectory) {
    let modes = result.modes();
    let changes = (0..modes.len()).filter(|&row| row == 0 || modes[row] != modes[row - 1]);
    let (times, numbers): (Vec<f64>, Vec<f64>) = changes.map(|row| (result.time()[row], f64::from(modes[row]))).unzip();
    if numbers.len() > 1 {
        sheet.modes = Some((sheet.push(&times), sheet.push(&numbers)));
    }
}

/// For each column of the result, the columns of its times and values in the page.
fn add_columns(sheet: &mut Sheet, result: &Trajectory) -> Vec<(usize, usize)> {
    let count = result.schema().columns().len();
    let ids = (0..count as u32).map(saltus_results::ColumnId);
    let columns: Vec<(usize, usize)> = if count.saturating_mul(result.rows()) <= MOST_VALUES {
        let time = sheet.push(result.time());
        ids.map(|id| (time, sheet.push(result.column(id)))).collect()
    } else {
        sheet.thinned_from = Some(result.rows());
        let events = event_rows(result);
        ids.map(|id| {
            add_thinned(
                sheet,
                result.time(),
                result.column(id),
                &events,
                MOST_VALUES / (10 * count),
            )
        })
        .collect()
    };
    sheet.column_of = columns.iter().map(|&(_, values)| values).collect();
    columns
}

fn add_thinned(sheet: &mut Sheet, time: &[f64], values: &[f64], events: &[usize], columns: usize) -> (usize, usize) {
    let mut rows = thin(time, values, columns.max(200));
    rows.extend(events);
    rows.sort_unstable();
    rows.dedup();
    let pick = |of: &[f64]| rows.iter().map(|&row| of[row]).collect::<Vec<f64>>();
    (sheet.push(&pick(time)), sheet.push(&pick(values)))
}

/// Left and right limits are kept whatever else is thinned, unless there are too many of them.
fn event_rows(result: &Trajectory) -> Vec<usize> {
    let kinds = result.kinds().iter().enumerate();
    let rows: Vec<usize> = kinds
        .filter(|(_, kind)| **kind != RowKind::Regular)
        .map(|(row, _)| row)
        .collect();
    if rows.len() <= MOST_EVENT_ROWS {
        rows
    } else {
        Vec::new()
    }
}

/// For each signal of the result its place in the page; constants have none.
fn add_signals(sheet: &mut Sheet, result: &Trajectory, columns: &[(usize, usize)]) -> Vec<Option<usize>> {
    let schema = result.schema();
    let mut places = Vec::with_capacity(schema.signals().len());
    for id in schema.ids() {
        let Value::Column { column, sign } = schema.value(id) else {
            places.push(None);
            continue;
        };
        let (time, values) = columns[column.index()];
        // Signs are linear: two values tell factor and offset.
        let stored = Conversion {
            factor: sign.apply(1.0) - sign.apply(0.0),
            offset: sign.apply(0.0),
        };
        places.push(Some(sheet.signals.len()));
        sheet
            .signals
            .push(SheetSignal::new(schema.signal(id), time, values, stored));
    }
    places
}
