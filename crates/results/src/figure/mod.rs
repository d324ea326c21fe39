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

use crate::{ModelAxis, ModelPlot, ResultError, Selection, SignalId, SignalKind, Trajectory, Value};

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
        /// Its own title; mostly empty.
        title: String,
        /// What the axis says beside its unit; mostly empty.
        label: String,
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
    let (options, plots) = asked
        .as_ref()
        .map_or((options, &[][..]), |asked| (&asked.options, &asked.plots));
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
    let mut panels = numbered_panels(trajectory, options)?;
    let omitted: usize = panels
        .drain(MOST_PANELS.min(panels.len())..)
        .map(|(ids, _)| ids.len())
        .sum();
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
        omitted: omitted + asked.as_ref().map_or(0, |asked| asked.left_out),
    };
    if let Some(x) = &options.x {
        portraits(&mut figure, trajectory, x, (&panels, &window), (options, plots))?;
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
    let draw = |(ids, number): (Vec<SignalId>, usize)| {
        let plot = plots.get(number);
        let is_logarithmic = options.log_y || plot.is_some_and(|plot| plot.vertical.is_logarithmic);
        let mut drawn = panel(trajectory, others, &ids, &scale, is_logarithmic, &mut color);
        if let Some(plot) = plot {
            dress(&mut drawn, plot);
        }
        drawn
    };
    figure.panels = panels.into_iter().map(draw).collect();
    if options.mode_bands && !options.log_x {
        figure.mode_bands = modes::bands(trajectory, time_range, &window, resolution);
    }
    Ok(figure)
}

/// A figure of the model.
struct Asked<'t> {
    options: FigureOptions,
    /// What each of the panels asked for is to look like.
    plots: Vec<&'t ModelPlot>,
    /// How many curves are drawn over something else than the others, and not here.
    left_out: usize,
}

/// What the model's own figure asks for, where nothing else is asked: the preferred one, or the first with curves that are there.
fn model_figure<'t>(trajectory: &'t Trajectory, options: &FigureOptions) -> Option<Asked<'t>> {
    if !options.signals.is_empty() || !options.panels.is_empty() || options.x.is_some() {
        return None;
    }
    let figures = &trajectory.manifest().figures;
    let preferred = figures.iter().filter(|figure| figure.preferred);
    preferred.chain(figures).find_map(|figure| {
        let known = |name: &String| trajectory.schema().find(name).is_some();
        let all = || {
            let curves = figure.plots.iter().flat_map(|plot| &plot.curves);
            curves.filter(|curve| known(&curve.variable) && curve.over.as_ref().is_none_or(known))
        };
        // A picture has one horizontal axis: time, if any curve is over time.
        let first = all().find(|curve| curve.over.is_none()).or_else(|| all().next())?;
        let over = first.over.as_ref();
        let names = |plot: &ModelPlot| -> Vec<String> {
            let curves = plot.curves.iter().filter(|curve| curve.over.as_ref() == over);
            let wanted = curves.filter(|curve| known(&curve.variable));
            wanted.map(|curve| curve.variable.clone()).collect()
        };
        let panels = figure.plots.iter().map(|plot| (names(plot), plot));
        let (panels, plots): (Vec<Vec<String>>, Vec<&ModelPlot>) =
            panels.filter(|(names, _)| !names.is_empty()).unzip();
        let horizontal = &plots.first()?.horizontal;
        let own_range = || {
            let (start, stop) = full_range(trajectory.time());
            let wanted = within((start, stop), horizontal, "s", false);
            (over.is_none() && wanted != (start, stop)).then_some(wanted)
        };
        let title = options
            .title
            .clone()
            .or_else(|| Some(figure.title.clone()).filter(|title| !title.is_empty()));
        Some(Asked {
            left_out: all().count() - panels.iter().map(Vec::len).sum::<usize>(),
            options: FigureOptions {
                title,
                panels,
                x: over.cloned(),
                time_range: options.time_range.or_else(own_range),
                log_x: options.log_x || horizontal.is_logarithmic,
                ..options.clone()
            },
            plots,
        })
    })
}

/// The ends of an axis as a model wants them, where they are in the unit of its values and leave room between them.
fn within(range: (f64, f64), axis: &ModelAxis, unit: &str, logarithmic: bool) -> (f64, f64) {
    if !axis.unit.is_empty() && crate::units::pretty(&axis.unit) != unit {
        return range;
    }
    let place = |end: f64| if logarithmic { end.log10() } else { end };
    let end = |wanted: Option<f64>, chosen: f64| wanted.map(place).filter(|end| end.is_finite()).unwrap_or(chosen);
    let (low, high) = (end(axis.min, range.0), end(axis.max, range.1));
    if low < high { (low, high) } else { range }
}

/// What a model says of a panel and its curves.
fn dress(panel: &mut Panel, plot: &ModelPlot) {
    let Panel::Values {
        title,
        label,
        unit,
        range,
        logarithmic,
        curves,
    } = panel
    else {
        return;
    };
    title.clone_from(&plot.title);
    label.clone_from(&plot.vertical.label);
    *range = within(*range, &plot.vertical, unit, *logarithmic);
    for curve in curves {
        let asked = plot.curves.iter().find(|asked| asked.variable == curve.name);
        if let Some(asked) = asked.filter(|asked| !asked.legend.is_empty()) {
            curve.label = curve.label.replacen(&curve.name, &asked.legend, 1);
        }
    }
}

/// The panels of phase portraits.
fn portraits(
    figure: &mut Figure,
    trajectory: &Trajectory,
    x: &str,
    (panels, window): (&[(Vec<SignalId>, usize)], &Range<usize>),
    (options, plots): (&FigureOptions, &[&ModelPlot]),
) -> Result<(), ResultError> {
    let unknown = || crate::select::unknown_variable(trajectory.schema(), x);
    let id = trajectory.schema().find(x).ok_or_else(unknown)?;
    let over = Prepared::new(trajectory, id).with_scale(options.log_x);
    let unit = crate::units::pretty(&over.unit);
    let horizontal = plots.first().map(|plot| &plot.horizontal);
    let mut range = padded(over.extent_in(window));
    if let Some(axis) = horizontal {
        range = within(range, axis, &unit, options.log_x);
    }
    let (low, high) = range;
    figure.time_range = if options.log_x {
        (10f64.powf(low), 10f64.powf(high))
    } else {
        (low, high)
    };
    let name = horizontal.map_or("", |axis| &axis.label);
    let name = if name.is_empty() { x } else { name };
    figure.abscissa = Some(match unit.as_str() {
        "" => name.to_owned(),
        unit => format!("{name} [{unit}]"),
    });
    let mut color = 0;
    for (ids, number) in panels {
        let plot = plots.get(*number);
        let is_logarithmic = options.log_y || plot.is_some_and(|plot| plot.vertical.is_logarithmic);
        let prepared: Vec<Prepared> = ids
            .iter()
            .filter(|&&other| other != id)
            .map(|&id| Prepared::new(trajectory, id).with_scale(is_logarithmic))
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
            let mut drawn = Panel::Values {
                title: String::new(),
                label: String::new(),
                unit: crate::units::pretty(&first.unit),
                range: padded(extent),
                logarithmic: is_logarithmic,
                curves,
            };
            if let Some(plot) = plot {
                dress(&mut drawn, plot);
            }
            figure.panels.push(drawn);
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
    let asked = model_figure(trajectory, options).filter(|asked| asked.options.x.is_none());
    let options = asked.as_ref().map_or(options, |asked| &asked.options);
    let numbered = numbered_panels(trajectory, options)?;
    Ok(numbered.into_iter().map(|(ids, _)| ids).collect())
}

/// The panels, each with the place of what was asked for.
fn numbered_panels(
    trajectory: &Trajectory,
    options: &FigureOptions,
) -> Result<Vec<(Vec<SignalId>, usize)>, ResultError> {
    if !options.panels.is_empty() {
        let mut panels = Vec::new();
        for (number, patterns) in options.panels.iter().enumerate() {
            let ids = in_order(trajectory, patterns)?;
            // Strips cannot share a panel with curves.
            let (strips, curves): (Vec<_>, Vec<_>) = ids.into_iter().partition(|&id| is_strip(trajectory, id));
            let both = [curves, strips].into_iter().filter(|ids| !ids.is_empty());
            panels.extend(both.map(|ids| (ids, number)));
        }
        return Ok(panels);
    }
    let chosen = if options.signals.is_empty() {
        default_selection(trajectory)
    } else {
        in_order(trajectory, &options.signals)?
    };
    let prepared = chosen.iter().map(|&id| Prepared::new(trajectory, id)).collect();
    let panels = group::by_unit(prepared, |id| is_strip(trajectory, id));
    Ok(panels.into_iter().zip(0..).collect())
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
        title: String::new(),
        label: String::new(),
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
