//! Figures of a trajectory, as SVG.
//!
//! [`figure`] decides what to draw (panels, scales, curves, mode bands) and [`Figure::to_svg`] draws it.

mod choose;
mod curves;
mod group;
mod layout;
mod modes;
mod palette;
mod svg;
mod text;
mod ticks;

use crate::{ResultError, Selection, SignalId, SignalKind, Trajectory, Value};

pub use choose::default_selection;
pub use curves::{Curve, Jump, Shape};
pub use modes::ModeBand;

use curves::{Scale, curve};
use group::Prepared;

/// A picture with more panels than this is not looked at; the rest is counted below it.
const MOST_PANELS: usize = 24;

/// What to draw and how.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureOptions {
    /// Title; the name of the model if not given.
    pub title: Option<String>,
    /// Names and wildcards of the signals to draw; none means a [`default_selection`].
    pub signals: Vec<String>,
    /// Names and wildcards panel by panel, instead of `signals` and grouping by unit.
    pub panels: Vec<Vec<String>>,
    /// The part of time to show; all of it if not given.
    pub time_range: Option<(f64, f64)>,
    /// Colour the background by mode.
    pub mode_bands: bool,
    /// Width of the picture in pixels.
    pub width: f64,
    /// Height of a panel in pixels; chosen by their number if not given.
    pub panel_height: Option<f64>,
}

impl Default for FigureOptions {
    fn default() -> Self {
        Self {
            title: None,
            signals: Vec::new(),
            panels: Vec::new(),
            time_range: None,
            mode_bands: true,
            width: 900.0,
            panel_height: None,
        }
    }
}

/// A figure ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Title; may be empty.
    pub title: String,
    /// First and last time shown, in seconds.
    pub time_range: (f64, f64),
    /// Panels from top to bottom.
    pub panels: Vec<Panel>,
    /// Modes in order of time; empty if there is one only.
    pub mode_bands: Vec<ModeBand>,
    /// Width in pixels.
    pub width: f64,
    /// Height of a panel in pixels.
    pub panel_height: f64,
    /// How many signals were left out because there were too many panels.
    pub omitted: usize,
}

/// One panel of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Panel {
    /// Curves over a common axis.
    Values {
        /// Unit of the axis as people write it; may be empty.
        unit: String,
        /// Lowest and highest value of the axis.
        range: (f64, f64),
        /// The curves.
        curves: Vec<Curve>,
    },
    /// Booleans and enumerations, one strip each.
    Strips(Vec<Strip>),
}

/// A Boolean or enumeration drawn as a strip.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Name of the signal.
    pub name: String,
    /// Position in the palette.
    pub color: usize,
    /// Stretches of constant value: from, to, value.
    pub stretches: Vec<(f64, f64, f64)>,
    /// Names of the values 1, 2, …; empty for a Boolean.
    pub literals: Vec<String>,
}

/// Decides what to draw.
pub fn figure(trajectory: &Trajectory, options: &FigureOptions) -> Result<Figure, ResultError> {
    let time_range = options.time_range.unwrap_or_else(|| full_range(trajectory.time()));
    let (start, stop) = time_range;
    if !(start.is_finite() && stop.is_finite() && start < stop) {
        return Err(ResultError::Misuse("the time range to show is empty"));
    }
    let window = modes::window(trajectory.time(), time_range);
    let mut panels = wanted_panels(trajectory, options)?;
    let omitted = panels.drain(MOST_PANELS.min(panels.len())..).map(|ids| ids.len()).sum();
    // One column of pixels is the finest that can be seen; the margin does not matter here.
    let resolution = (options.width.clamp(200.0, 4000.0) * 0.9) as usize;
    let mut color = 0;
    let panels: Vec<Panel> = panels
        .into_iter()
        .map(|ids| {
            let scale = Scale {
                time_range,
                resolution,
                window: window.clone(),
            };
            panel(trajectory, &ids, &scale, &mut color)
        })
        .collect();
    let mode_bands = if options.mode_bands {
        modes::bands(trajectory, time_range, &window, resolution)
    } else {
        Vec::new()
    };
    let title = options
        .title
        .clone()
        .unwrap_or_else(|| trajectory.manifest().model.clone());
    let height = options
        .panel_height
        .unwrap_or(if panels.len() <= 2 { 190.0 } else { 140.0 });
    Ok(Figure {
        title,
        time_range,
        panels,
        mode_bands,
        width: options.width,
        panel_height: height,
        omitted,
    })
}

fn full_range(time: &[f64]) -> (f64, f64) {
    match (time.first(), time.last()) {
        (Some(&first), Some(&last)) if last > first => (first, last),
        (Some(&first), _) => (first, first + 1.0),
        _ => (0.0, 1.0),
    }
}

fn wanted_panels(trajectory: &Trajectory, options: &FigureOptions) -> Result<Vec<Vec<SignalId>>, ResultError> {
    if !options.panels.is_empty() {
        let mut panels = Vec::new();
        for patterns in &options.panels {
            let ids = in_order(trajectory, patterns)?;
            // Strips cannot share a panel with curves.
            let (strips, curves): (Vec<_>, Vec<_>) = ids.into_iter().partition(|&id| is_strip(trajectory, id));
            panels.extend([curves, strips].into_iter().filter(|ids| !ids.is_empty()));
        }
        return Ok(panels);
    }
    let chosen = if options.signals.is_empty() {
        default_selection(trajectory)
    } else {
        in_order(trajectory, &options.signals)?
    };
    let prepared = chosen.iter().map(|&id| Prepared::new(trajectory, id)).collect();
    Ok(group::by_unit(prepared, |id| is_strip(trajectory, id)))
}

/// The signals in the order in which they were asked for.
fn in_order(trajectory: &Trajectory, patterns: &[String]) -> Result<Vec<SignalId>, ResultError> {
    let mut ids: Vec<SignalId> = Vec::new();
    for pattern in patterns {
        for id in Selection::of([pattern.as_str()]).resolve(trajectory.schema())? {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    Ok(ids)
}

fn is_strip(trajectory: &Trajectory, id: SignalId) -> bool {
    matches!(
        trajectory.schema().signal(id).kind,
        SignalKind::Boolean | SignalKind::Enumeration(_)
    )
}

fn panel(trajectory: &Trajectory, ids: &[SignalId], scale: &Scale, color: &mut usize) -> Panel {
    // Colours go on from panel to panel, so that a colour rarely means two things; they repeat within a panel
    // (dashed) only where it has more curves than there are colours.
    let first = if ids.len() <= palette::LINES.len() { *color } else { 0 };
    let color_of = |index: usize| {
        if ids.len() <= palette::LINES.len() {
            (first + index) % palette::LINES.len()
        } else {
            index
        }
    };
    *color += ids.len();
    if ids.iter().all(|&id| is_strip(trajectory, id)) {
        let strips = ids.iter().enumerate();
        let strips = strips.map(|(index, &id)| modes::strip(trajectory, id, scale, color_of(index)));
        return Panel::Strips(strips.collect());
    }
    let prepared: Vec<Prepared> = ids.iter().map(|&id| Prepared::new(trajectory, id)).collect();
    let shared = prepared.iter().all(|p| p.unit == prepared[0].unit);
    let unit = if shared {
        crate::units::pretty(&prepared[0].unit)
    } else {
        String::new()
    };
    let mut extent = None;
    for p in &prepared {
        extent = union(extent, p.extent_in(&scale.window));
    }
    let mut range = padded(extent);
    for p in &prepared {
        make_room(&mut range, &impulses(trajectory, p.id));
    }
    let curves = prepared.iter().enumerate().map(|(index, p)| {
        let mut curve = curve(trajectory, p, scale, range, color_of(index));
        if !shared && !p.unit.is_empty() {
            curve.label = format!("{} [{}]", p.name, crate::units::pretty(&p.unit));
        }
        curve
    });
    Panel::Values {
        unit,
        range,
        curves: curves.collect(),
    }
}

pub(crate) fn union(a: Option<(f64, f64)>, b: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (one, other) => one.or(other),
    }
}

/// Some room above and below; a constant gets an axis around it.
fn padded(extent: Option<(f64, f64)>) -> (f64, f64) {
    let Some((low, high)) = extent else { return (0.0, 1.0) };
    let size = low.abs().max(high.abs());
    if high - low <= 1e-9 * size || high == low {
        let room = if size == 0.0 { 1.0 } else { 0.1 * size };
        return (low - room, high + room);
    }
    let room = 0.06 * (high - low);
    (low - room, high + room)
}

/// Arrows of impulses start at zero and need some room on their side of it.
fn make_room(range: &mut (f64, f64), impulses: &[(f64, u32, f64)]) {
    const ROOM: f64 = 0.35;
    for &(_, _, weight) in impulses {
        let size = range.1.max(0.0) - range.0.min(0.0);
        if weight > 0.0 && range.1 < ROOM * size {
            *range = (range.0.min(0.0), -range.0.min(0.0) * ROOM / (1.0 - ROOM));
        } else if weight < 0.0 && -range.0 < ROOM * size {
            *range = (-range.1.max(0.0) * ROOM / (1.0 - ROOM), range.1.max(0.0));
        }
    }
}

impl Figure {
    /// Draws it.
    pub fn to_svg(&self) -> String {
        svg::draw(self)
    }
}

/// The impulses of a signal under any of its names: time, order, weight.
fn impulses(trajectory: &Trajectory, id: SignalId) -> Vec<(f64, u32, f64)> {
    let schema = trajectory.schema();
    let factor = |name: &str| match (schema.value(id), schema.value(schema.find(name)?)) {
        (Value::Column { column: a, sign: s }, Value::Column { column: b, sign: r }) if a == b => {
            Some(if s == r { 1.0 } else { -1.0 })
        }
        _ => None,
    };
    // An event lists an impulse under each name of its variable: one of them is drawn.
    let of_event = |event: &crate::EventRecord| {
        let mut named = event
            .impulses
            .iter()
            .filter_map(|impulse| Some((impulse, factor(&impulse.variable)?)));
        named
            .next()
            .map(|(impulse, factor)| (event.time, impulse.order, factor * impulse.weight))
    };
    trajectory.events().iter().filter_map(of_event).collect()
}
