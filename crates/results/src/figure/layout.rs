//! Where everything goes in a picture.

use std::collections::BTreeSet;

use saltus_drawing::text::{shorten, width};

use super::ticks::{Ticks, logarithmic_ticks, ticks};
use super::{Figure, ModeBand, Panel};

pub(super) const FONT: f64 = 12.0;
pub(super) const TITLE_FONT: f64 = 16.0;
pub(super) const STRIP_BAR: f64 = 11.0;
pub(super) const STRIP_PITCH: f64 = 34.0;
pub(super) const MODE_BAR: f64 = 18.0;
pub(super) const SWATCH: f64 = 20.0;
/// The color of a legend that stands for hatching.
pub(super) const HATCHED: usize = usize::MAX;
/// Added to the color of a curve of another result.
pub(super) const OTHER: usize = 1 << 20;
const LINE: f64 = 18.0;
const EDGE: f64 = 16.0;
const GAP: f64 = 12.0;

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Frame {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// An entry of a legend: its text, the color it explains and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub text: String,
    pub full: String,
    pub color: usize,
    pub x: f64,
    pub y: f64,
}

/// One panel with its axis.
#[derive(Clone, Debug)]
pub(super) struct PanelLayout {
    pub frame: Frame,
    pub legend: Vec<Entry>,
    pub ticks: Ticks,
    pub axis_label: String,
    /// Where its own title stands, if it has one.
    pub title: Option<f64>,
}

/// The whole picture.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub width: f64,
    pub height: f64,
    pub title_y: f64,
    pub mode_bar: Option<Frame>,
    pub mode_legend: Vec<Entry>,
    /// Where to say that something was left out.
    pub note_y: f64,
    pub panels: Vec<PanelLayout>,
    pub time: TimeAxis,
    pub plot_left: f64,
    pub plot_width: f64,
}

/// The time axis in a unit that suits its length.
#[derive(Clone, Debug)]
pub(super) struct TimeAxis {
    pub label: String,
    /// Seconds and what the tick says.
    pub ticks: Vec<(f64, String)>,
}

fn horizontal_axis(figure: &Figure, plot_width: f64) -> TimeAxis {
    let (start, stop) = figure.time_range;
    let count = (plot_width / 85.0).clamp(2.0, 20.0) as usize;
    let name = || figure.abscissa.clone().unwrap_or_else(|| "time [s]".to_owned());
    if figure.is_logarithmic {
        let Ticks { values, labels, .. } = logarithmic_ticks(start.log10(), stop.log10(), count);
        return TimeAxis {
            label: name(),
            ticks: values.into_iter().map(|v| 10f64.powf(v)).zip(labels).collect(),
        };
    }
    if figure.abscissa.is_none() {
        return time_axis(figure.time_range, count);
    }
    let Ticks { values, labels, note } = ticks(start, stop, count);
    TimeAxis {
        label: format!("{} {note}", name()).trim_end().to_owned(),
        ticks: values.into_iter().zip(labels).collect(),
    }
}

fn time_axis((start, stop): (f64, f64), count: usize) -> TimeAxis {
    let longest = start.abs().max(stop.abs());
    let (name, size) = match longest {
        l if l <= 2e-6 => ("ns", 1e-9),
        l if l <= 2e-3 => ("µs", 1e-6),
        l if l <= 0.2 => ("ms", 1e-3),
        l if l <= 2e4 => ("s", 1.0),
        l if l <= 3e5 => ("h", 3600.0),
        l if l <= 1e8 => ("d", 86_400.0),
        _ => ("s", 1.0),
    };
    let Ticks { values, labels, note } = ticks(start / size, stop / size, count);
    let label = format!("time [{name}] {note}").trim_end().to_owned();
    TimeAxis {
        label,
        ticks: values.into_iter().map(|v| v * size).zip(labels).collect(),
    }
}

pub(super) fn layout(figure: &Figure) -> Layout {
    let width = figure.width.clamp(200.0, 4000.0);
    let height = figure.panel_height.clamp(40.0, 4000.0);
    let axes: Vec<(Ticks, String)> = figure.panels.iter().map(|panel| axis(panel, height)).collect();
    let plot_left = left_margin(&axes);
    let plot_width = (width - plot_left - EDGE).max(50.0);
    let mut y = EDGE;
    let title_y = y + TITLE_FONT;
    if !figure.title.is_empty() {
        y = title_y + GAP;
    }
    let mode_bar = (!figure.mode_bands.is_empty()).then(|| {
        let frame = Frame {
            left: plot_left,
            top: y,
            width: plot_width,
            height: MODE_BAR,
        };
        y += MODE_BAR + GAP / 2.0;
        frame
    });
    let mut panels = Vec::new();
    for (panel, (ticks, axis_label)) in figure.panels.iter().zip(axes) {
        let title = match panel {
            Panel::Values { title, .. } if !title.is_empty() => {
                y += LINE;
                Some(y - 4.0)
            }
            _ => None,
        };
        let (legend, lines) = match panel {
            Panel::Values { curves, .. } => {
                let items = curves.iter().map(|curve| {
                    (
                        curve.label.clone(),
                        curve.color + if curve.is_other { OTHER } else { 0 },
                    )
                });
                flow(items, plot_left, y, plot_width)
            }
            Panel::Strips(_) => (Vec::new(), 0),
        };
        let top = y + lines as f64 * LINE + 4.0;
        let panel_height = match panel {
            Panel::Values { .. } => height,
            Panel::Strips(strips) => strips.len() as f64 * STRIP_PITCH,
        };
        let frame = Frame {
            left: plot_left,
            top,
            width: plot_width,
            height: panel_height,
        };
        y = frame.bottom() + GAP;
        panels.push(PanelLayout {
            frame,
            legend,
            ticks,
            axis_label,
            title,
        });
    }
    y += 2.0 * LINE;
    let (mode_legend, lines) = flow(mode_entries(figure, plot_width), plot_left, y, plot_width);
    y += lines as f64 * LINE;
    let note_y = y + 0.5 * LINE;
    if figure.omitted > 0 {
        y += LINE;
    }
    let time = horizontal_axis(figure, plot_width);
    Layout {
        width,
        height: y + EDGE / 2.0,
        title_y,
        mode_bar,
        mode_legend,
        note_y,
        panels,
        time,
        plot_left,
        plot_width,
    }
}

fn axis(panel: &Panel, height: f64) -> (Ticks, String) {
    match panel {
        Panel::Values {
            label,
            unit,
            range,
            logarithmic,
            ..
        } => {
            let count = (height / 34.0).clamp(2.0, 12.0) as usize;
            let ticks = if *logarithmic {
                logarithmic_ticks(range.0, range.1, count)
            } else {
                ticks(range.0, range.1, count)
            };
            let unit = if unit.is_empty() {
                String::new()
            } else {
                format!("[{unit}]")
            };
            let parts = [label, &unit, &ticks.note];
            let parts: Vec<&str> = parts
                .into_iter()
                .map(String::as_str)
                .filter(|part| !part.is_empty())
                .collect();
            let label = parts.join(" ");
            (ticks, label)
        }
        Panel::Strips(_) => (
            Ticks {
                values: Vec::new(),
                labels: Vec::new(),
                note: String::new(),
            },
            String::new(),
        ),
    }
}

fn left_margin(axes: &[(Ticks, String)]) -> f64 {
    let labels = axes.iter().flat_map(|(ticks, _)| &ticks.labels);
    let widest = labels.map(|label| width(label, FONT)).fold(20.0, f64::max);
    let any_unit = axes.iter().any(|(_, label)| !label.is_empty());
    EDGE + if any_unit { 1.6 * FONT } else { 0.0 } + widest + 8.0
}

/// Entries side by side, continued on the next line where they do not fit; also the number of lines.
fn flow(items: impl Iterator<Item = (String, usize)>, left: f64, top: f64, available: f64) -> (Vec<Entry>, usize) {
    let mut entries = Vec::new();
    let (mut x, mut line) = (left, 0);
    for (full, color) in items {
        let text = shorten(&full, FONT, available - SWATCH - 6.0);
        let advance = SWATCH + 6.0 + width(&text, FONT) + 16.0;
        if x > left && x + advance - 16.0 > left + available {
            x = left;
            line += 1;
        }
        let y = top + (line as f64 + 0.5) * LINE;
        entries.push(Entry {
            text,
            full,
            color,
            x,
            y,
        });
        x += advance;
    }
    let lines = if entries.is_empty() { 0 } else { line + 1 };
    (entries, lines)
}

/// Room for a label in a stretch of time.
pub(super) fn fits_in(text: &str, start: f64, stop: f64, range: (f64, f64), plot_width: f64) -> bool {
    let room = (stop - start) / (range.1 - range.0) * plot_width;
    width(text, FONT - 1.0) + 8.0 <= room
}

/// What the bar above the panels says about a stretch: the name of the mode, its number where only that fits.
pub(super) fn band_text(band: &ModeBand, range: (f64, f64), plot_width: f64) -> Option<String> {
    let fits = |text: &String| fits_in(text, band.start, band.stop, range, plot_width);
    let texts = match band.quick {
        0 => [band.label.clone(), band.mode.to_string()],
        count => [format!("{count} short modes"), format!("{count}×")],
    };
    texts.into_iter().find(fits)
}

/// Entries for the modes that are shown by their number somewhere, or nowhere at all, each once.
fn mode_entries(figure: &Figure, plot_width: f64) -> impl Iterator<Item = (String, usize)> {
    const MOST_ENTRIES: usize = 24;
    let bands: Vec<ModeBand> = figure
        .mode_bands
        .iter()
        .filter(|band| band.quick == 0)
        .cloned()
        .collect();
    let quick: usize = figure.mode_bands.iter().map(|band| band.quick).sum();
    let text = |band: &ModeBand| band_text(band, figure.time_range, plot_width);
    let named: BTreeSet<u32> = bands
        .iter()
        .filter(|b| text(b).as_ref() == Some(&b.label))
        .map(|b| b.mode)
        .collect();
    let numbered = |band: &ModeBand| text(band).is_some_and(|text| text != band.label);
    let unexplained: BTreeSet<u32> = bands
        .iter()
        .filter(|band| numbered(band) || !named.contains(&band.mode))
        .map(|band| band.mode)
        .collect();
    let mut seen = BTreeSet::new();
    let hidden: Vec<&ModeBand> = bands
        .iter()
        .filter(|band| unexplained.contains(&band.mode) && seen.insert(band.mode))
        .collect();
    let rest = hidden.len().saturating_sub(MOST_ENTRIES);
    let entry = |band: &ModeBand| (format!("{}: {}", band.mode, band.label), band.color);
    let mut entries: Vec<(String, usize)> = hidden.into_iter().take(MOST_ENTRIES).map(entry).collect();
    if quick > 0 {
        let stretches = if quick == 1 { "stretch" } else { "stretches" };
        entries.push((format!("{quick} {stretches} of modes too short to be drawn"), HATCHED));
    }
    if rest > 0 {
        entries.push((format!("… and {rest} more"), 0));
    }
    entries.into_iter()
}
