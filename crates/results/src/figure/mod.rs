//! Figures of a trajectory, as SVG.
//!
//! [`figure`] decides what to draw (panels, scales, curves, mode bands) and [`Figure::to_svg`] draws it.

mod choose;
mod curves;
mod group;
mod labels;
mod layout;
mod modes;
mod palette;
mod svg;
mod text;
mod ticks;

use std::ops::Range;

use crate::{ModelPlot, ResultError, Selection, SignalId, SignalKind, Trajectory, Value};

pub use choose::default_selection;
pub use curves::{Curve, Jump, Shape};
pub use labels::mode_labels;
pub use modes::{ModeBand, Stretch};

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
    /// What is drawn over: time if not given, else a signal (a phase portrait).
    pub x: Option<String>,
    /// Logarithmic horizontal axis.
    pub log_x: bool,
    /// Logarithmic axes of values.
    pub log_y: bool,
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
            x: None,
            log_x: false,
            log_y: false,
        }
    }
}

/// A figure ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Title; may be empty.
    pub title: String,
    /// First and last time shown, in seconds; of a phase portrait, the ends of its horizontal axis.
    pub time_range: (f64, f64),
    /// What the horizontal axis of a phase portrait says; `None` for time.
    pub abscissa: Option<String>,
    /// Whether the horizontal axis is logarithmic.
    pub is_logarithmic: bool,
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
        /// Lowest and highest value of the axis; their decimal logarithms if it is logarithmic.
        range: (f64, f64),
        /// Whether the axis is logarithmic: then values are given as their decimal logarithms.
        logarithmic: bool,
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
    /// Stretches of constant value, and stretches in which it changes too quickly to be seen.
    pub stretches: Vec<Stretch>,
    /// Names of the values 1, 2, …; empty for a Boolean.
    pub literals: Vec<String>,
}

/// Decides what to draw.
pub fn figure(trajectory: &Trajectory, options: &FigureOptions) -> Result<Figure, ResultError> {
    figure_over(trajectory, &[], options)
}

/// Decides what to draw of a result and, dashed over it, of others that have the same signals; each of those has a name.
pub fn figure_over(
    trajectory: &Trajectory,
    others: &[(&str, &Trajectory)],
    options: &FigureOptions,
) -> Result<Figure, ResultError> {
    let asked = model_figure(trajectory, options);
    let options = asked.as_ref().unwrap_or(options);
    let mut time_range = options.time_range.unwrap_or_else(|| full_range(trajectory.time()));
    if options.log_x && options.x.is_none() && time_range.0 <= 0.0 {
        let positive = trajectory.time().iter().copied().find(|time| *time > 0.0);
        time_range.0 = positive.unwrap_or(time_range.0);
    }
    let (start, stop) = time_range;
    if !(start.is_finite() && stop.is_finite() && start < stop)
        || (options.log_x && options.x.is_none() && start <= 0.0)
    {
        return Err(ResultError::Misuse("the time range to show is empty"));
    }
    let window = modes::window(trajectory.time(), time_range);
    let mut panels = panels(trajectory, options)?;
    let omitted = panels.drain(MOST_PANELS.min(panels.len())..).map(|ids| ids.len()).sum();
    let title = options
        .title
        .clone()
        .unwrap_or_else(|| trajectory.manifest().model.clone());
    let height = options.panel_height.unwrap_or(match (panels.len(), &options.x) {
        (1, Some(_)) => 420.0,
        (..=2, _) => 190.0,
        _ => 140.0,
    });
    let mut figure = Figure {
        title,
        time_range,
        abscissa: None,
        is_logarithmic: options.log_x,
        panels: Vec::new(),
        mode_bands: Vec::new(),
        width: options.width,
        panel_height: height,
        omitted,
    };
    if let Some(x) = &options.x {
        portraits(&mut figure, trajectory, x, (&panels, &window), options)?;
        return Ok(figure);
    }
    // One column of pixels is the finest that can be seen; the margin does not matter here.
    let resolution = (options.width.clamp(200.0, 4000.0) * 0.9) as usize;
    let scale = Scale {
        time_range,
        logarithmic: options.log_x,
        resolution,
        window: window.clone(),
    };
    let mut color = 0;
    let draw = |ids: Vec<SignalId>| panel(trajectory, others, &ids, &scale, options.log_y, &mut color);
    figure.panels = panels.into_iter().map(draw).collect();
    if options.mode_bands && !options.log_x {
        figure.mode_bands = modes::bands(trajectory, time_range, &window, resolution);
    }
    Ok(figure)
}

/// What the model's own figure asks for, where nothing else is asked: the preferred one, or the first with curves that are there.
fn model_figure(trajectory: &Trajectory, options: &FigureOptions) -> Option<FigureOptions> {
    if !options.signals.is_empty() || !options.panels.is_empty() || options.x.is_some() {
        return None;
    }
    let figures = &trajectory.manifest().figures;
    let preferred = figures.iter().filter(|figure| figure.preferred);
    preferred.chain(figures).find_map(|figure| {
        let known = |name: &String| trajectory.schema().find(name).is_some();
        let curves = |plot: &ModelPlot, over: Option<&String>| -> Vec<String> {
            let wanted = plot.curves.iter().filter(|(x, y)| x.as_ref() == over && known(y));
            wanted.map(|(_, y)| y.clone()).collect()
        };
        let panels = |over: Option<&String>| -> Vec<Vec<String>> {
            figure
                .plots
                .iter()
                .map(|plot| curves(plot, over))
                .filter(|names| !names.is_empty())
                .collect()
        };
        // A picture has one horizontal axis: time, if any curve is over time.
        let others = || {
            figure
                .plots
                .iter()
                .flat_map(|plot| &plot.curves)
                .filter_map(|(x, _)| x.as_ref())
                .find(|x| known(x))
        };
        let (x, panels) = match panels(None) {
            over_time if !over_time.is_empty() => (None, over_time),
            _ => (others().cloned(), panels(others())),
        };
        let title = options
            .title
            .clone()
            .or_else(|| Some(figure.title.clone()).filter(|title| !title.is_empty()));
        (!panels.is_empty()).then(|| FigureOptions {
            title,
            panels,
            x,
            ..options.clone()
        })
    })
}

/// The panels of phase portraits.
fn portraits(
    figure: &mut Figure,
    trajectory: &Trajectory,
    x: &str,
    (panels, window): (&[Vec<SignalId>], &Range<usize>),
    options: &FigureOptions,
) -> Result<(), ResultError> {
    let unknown = || crate::select::unknown_variable(trajectory.schema(), x);
    let id = trajectory.schema().find(x).ok_or_else(unknown)?;
    let over = Prepared::new(trajectory, id).with_scale(options.log_x);
    let (low, high) = padded(over.extent_in(window));
    figure.time_range = if options.log_x {
        (10f64.powf(low), 10f64.powf(high))
    } else {
        (low, high)
    };
    figure.abscissa = Some(match crate::units::pretty(&over.unit).as_str() {
        "" => x.to_owned(),
        unit => format!("{x} [{unit}]"),
    });
    let mut color = 0;
    for ids in panels {
        let prepared: Vec<Prepared> = ids
            .iter()
            .filter(|&&other| other != id)
            .map(|&id| Prepared::new(trajectory, id).with_scale(options.log_y))
            .collect();
        let extent = prepared.iter().fold(None, |all, p| union(all, p.extent_in(window)));
        let curves = prepared.iter().map(|y| {
            color += 1;
            let mut curve = curves::portrait(trajectory, (&over, y), window, color - 1);
            if options.log_x {
                let points = curve.pieces.iter_mut().flatten();
                let ends = curve
                    .jumps
                    .iter_mut()
                    .flat_map(|jump| [&mut jump.left, &mut jump.right]);
                points.chain(ends).for_each(|point| point.0 = 10f64.powf(point.0));
            }
            curve
        });
        let curves: Vec<Curve> = curves.collect();
        if let Some(first) = prepared.first() {
            figure.panels.push(Panel::Values {
                unit: crate::units::pretty(&first.unit),
                range: padded(extent),
                logarithmic: options.log_y,
                curves,
            });
        }
    }
    Ok(())
}

fn full_range(time: &[f64]) -> (f64, f64) {
    match (time.first(), time.last()) {
        (Some(&first), Some(&last)) if last > first => (first, last),
        (Some(&first), _) => (first, first + 1.0),
        _ => (0.0, 1.0),
    }
}

/// The signals to draw, panel by panel: those asked for, or those of the model's own figure, or a [`default_selection`], grouped
/// by unit and size.
pub fn panels(trajectory: &Trajectory, options: &FigureOptions) -> Result<Vec<Vec<SignalId>>, ResultError> {
    let asked = model_figure(trajectory, options).filter(|asked| asked.x.is_none());
    let options = asked.as_ref().unwrap_or(options);
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

fn panel(
    trajectory: &Trajectory,
    others: &[(&str, &Trajectory)],
    ids: &[SignalId],
    scale: &Scale,
    logarithmic: bool,
    color: &mut usize,
) -> Panel {
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
    let prepare = |trajectory, id| Prepared::new(trajectory, id).with_scale(logarithmic);
    let prepared: Vec<Prepared> = ids.iter().map(|&id| prepare(trajectory, id)).collect();
    let over: Vec<Other<'_, '_>> = others
        .iter()
        .flat_map(|(label, other)| {
            let found = prepared.iter().enumerate();
            found.filter_map(|(index, p)| {
                let prepared = prepare(other, other.schema().find(p.name)?);
                Some(Other {
                    label,
                    trajectory: other,
                    index,
                    prepared,
                })
            })
        })
        .collect();
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
    for other in &over {
        extent = union(extent, other.prepared.extent_in(&other.window(scale)));
    }
    let mut range = padded(extent);
    for p in prepared.iter().filter(|_| !logarithmic) {
        make_room(&mut range, &impulses(trajectory, p.id));
    }
    let mut curves: Vec<Curve> = prepared
        .iter()
        .enumerate()
        .map(|(index, p)| {
            let mut curve = curve(trajectory, p, scale, range, color_of(index));
            if !shared && !p.unit.is_empty() {
                curve.label = format!("{} [{}]", p.name, crate::units::pretty(&p.unit));
            }
            curve
        })
        .collect();
    curves.extend(over.iter().map(|other| {
        let scale = Scale {
            window: other.window(scale),
            ..scale.clone()
        };
        let drawn = curve(other.trajectory, &other.prepared, &scale, range, color_of(other.index));
        Curve {
            label: format!("{} ({})", other.prepared.name, other.label),
            impulses: Vec::new(),
            is_other: true,
            ..drawn
        }
    }));
    Panel::Values {
        unit,
        range,
        logarithmic,
        curves,
    }
}

/// A signal of another result, drawn over that of the same name.
struct Other<'n, 't> {
    label: &'n str,
    trajectory: &'t Trajectory,
    /// Which signal of the panel it is drawn over.
    index: usize,
    prepared: Prepared<'t>,
}

impl Other<'_, '_> {
    fn window(&self, scale: &Scale) -> Range<usize> {
        modes::window(self.trajectory.time(), scale.time_range)
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
