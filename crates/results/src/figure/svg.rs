//! Draws a figure.

use std::fmt::Write;

use super::curves::Curve;
use super::layout::{self, Entry, FONT, Frame, Layout, PanelLayout, STRIP_BAR, STRIP_PITCH, SWATCH, TITLE_FONT};
use super::palette;
use super::text::{escape, short_number, shorten, width};
use super::{Figure, Panel, Strip};
use crate::units::superscript;

const INK: &str = "#222222";
const FAINT: &str = "#d9d9d9";
const AXIS: &str = "#888888";
/// More labels of impulses than this in a panel are not readable.
const MOST_IMPULSE_LABELS: usize = 40;

pub(super) fn draw(figure: &Figure) -> String {
    let layout = layout::layout(figure);
    let mut canvas = Canvas {
        out: String::new(),
        layout: &layout,
        figure,
    };
    canvas.open();
    canvas.mode_bar();
    for (index, (panel, place)) in figure.panels.iter().zip(&layout.panels).enumerate() {
        canvas.panel(index, panel, place);
    }
    canvas.time_axis();
    for entry in &layout.mode_legend {
        canvas.mode_entry(entry);
    }
    if figure.omitted > 0 {
        let note = format!("{} more signals are not shown", figure.omitted);
        canvas.text(
            layout.plot_left,
            layout.note_y + 4.0,
            "start",
            "font-style=\"italic\"",
            &note,
        );
    }
    canvas.out.push_str("</svg>\n");
    canvas.out
}

struct Canvas<'a> {
    out: String,
    layout: &'a Layout,
    figure: &'a Figure,
}

/// Writing to a string cannot fail.
macro_rules! put {
    ($canvas:expr, $($arguments:tt)*) => {
        let _ = writeln!($canvas.out, $($arguments)*);
    };
}

impl Canvas<'_> {
    fn x(&self, time: f64) -> f64 {
        let (start, stop) = self.figure.time_range;
        self.layout.plot_left + (time - start) / (stop - start) * self.layout.plot_width
    }

    fn open(&mut self) {
        let Layout { width, height, .. } = *self.layout;
        put!(
            self,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             font-family=\"'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\" \
             font-size=\"{FONT}\" fill=\"{INK}\">"
        );
        let title = escape(&self.figure.title);
        put!(self, "<title>{title}</title>");
        put!(self, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
        if !title.is_empty() {
            let short = shorten(
                &self.figure.title,
                TITLE_FONT * 1.05,
                width - self.layout.plot_left - 16.0,
            );
            put!(
                self,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{TITLE_FONT}\" font-weight=\"bold\">{}</text>",
                self.layout.plot_left,
                self.layout.title_y,
                escape(&short)
            );
        }
    }

    fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, style: &str) {
        put!(
            self,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {style}/>"
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        put!(
            self,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>",
            from.0,
            from.1,
            to.0,
            to.1
        );
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, style: &str, text: &str) {
        put!(
            self,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{}</text>",
            escape(text)
        );
    }

    /// The names of the modes, above the panels whose background they explain.
    fn mode_bar(&mut self) {
        let Some(bar) = self.layout.mode_bar else { return };
        put!(self, "<g class=\"modes\">");
        for band in &self.figure.mode_bands {
            let (left, right) = (self.x(band.start), self.x(band.stop));
            let style = format!("fill=\"{}\"", palette::mode(band.color));
            self.rect(left, bar.top, right - left, bar.height, &style);
            if left > bar.left + 0.5 {
                let style = format!("stroke=\"{AXIS}\" stroke-width=\"0.5\"");
                self.line((left, bar.top), (left, bar.bottom()), &style);
            }
            let range = self.figure.time_range;
            if let Some(text) = layout::band_text(band, range, self.layout.plot_width) {
                let style = format!("font-size=\"{}\"", FONT - 1.0);
                self.text((left + right) / 2.0, bar.top + 13.0, "middle", &style, &text);
            }
        }
        let style = format!("fill=\"none\" stroke=\"{AXIS}\" stroke-width=\"0.8\"");
        self.rect(bar.left, bar.top, bar.width, bar.height, &style);
        put!(self, "</g>");
    }

    fn mode_entry(&mut self, entry: &Entry) {
        let style = format!(
            "fill=\"{}\" stroke=\"{AXIS}\" stroke-width=\"0.8\"",
            palette::mode(entry.color)
        );
        self.rect(entry.x, entry.y - 6.0, SWATCH, 12.0, &style);
        self.text(entry.x + SWATCH + 6.0, entry.y + 4.0, "start", "", &entry.text);
    }

    fn panel(&mut self, index: usize, panel: &Panel, place: &PanelLayout) {
        put!(self, "<g class=\"panel\">");
        match panel {
            Panel::Values { range, curves, .. } => {
                self.background(&place.frame);
                self.value_axis(place, *range);
                self.legend(place);
                let Frame {
                    left,
                    top,
                    width,
                    height,
                } = place.frame;
                put!(self, "<clipPath id=\"clip{index}\">");
                self.rect(left, top - 1.0, width, height + 2.0, "");
                put!(self, "</clipPath>");
                put!(self, "<g clip-path=\"url(#clip{index})\" fill=\"none\">");
                for curve in curves {
                    self.curve(curve, &place.frame, *range);
                }
                put!(self, "</g>");
                self.impulses(curves, &place.frame, *range);
            }
            Panel::Strips(strips) => {
                for (row, strip) in strips.iter().enumerate() {
                    self.strip(strip, place.frame.top + row as f64 * STRIP_PITCH);
                }
            }
        }
        put!(self, "</g>");
    }

    /// Mode bands and the grid of time.
    fn background(&mut self, frame: &Frame) {
        for band in self.figure.mode_bands.iter().filter(|band| band.color > 0) {
            let (left, right) = (self.x(band.start), self.x(band.stop));
            let style = format!("fill=\"{}\"", palette::mode(band.color));
            self.rect(left, frame.top, right - left, frame.height, &style);
        }
        for (time, _) in &self.layout.time.ticks {
            let x = self.x(*time);
            let style = format!("stroke=\"{FAINT}\" stroke-width=\"0.8\"");
            self.line((x, frame.top), (x, frame.bottom()), &style);
        }
    }

    fn value_axis(&mut self, place: &PanelLayout, range: (f64, f64)) {
        let frame = place.frame;
        for (&value, label) in place.ticks.values.iter().zip(&place.ticks.labels) {
            let y = vertical(&frame, range, value);
            let color = if value == 0.0 { "#aaaaaa" } else { FAINT };
            let style = format!("stroke=\"{color}\" stroke-width=\"0.8\"");
            self.line((frame.left, y), (frame.right(), y), &style);
            self.text(frame.left - 6.0, y + 4.0, "end", "", label);
        }
        let style = format!("fill=\"none\" stroke=\"{AXIS}\" stroke-width=\"1\"");
        self.rect(frame.left, frame.top, frame.width, frame.height, &style);
        if !place.axis_label.is_empty() {
            let (x, y) = (8.0 + FONT, frame.top + frame.height / 2.0);
            let style = format!("transform=\"rotate(-90 {x:.1} {y:.1})\"");
            self.text(x, y, "middle", &style, &place.axis_label);
        }
    }

    fn legend(&mut self, place: &PanelLayout) {
        for entry in &place.legend {
            let style = format!(
                "stroke=\"{}\" stroke-width=\"2.5\"{}",
                palette::line(entry.color),
                dashes(entry.color)
            );
            self.line((entry.x, entry.y), (entry.x + SWATCH, entry.y), &style);
            let (x, y) = (entry.x + SWATCH + 6.0, entry.y + 4.0);
            let tip = if entry.text == entry.full {
                String::new()
            } else {
                format!("<title>{}</title>", escape(&entry.full))
            };
            put!(
                self,
                "<text x=\"{x:.1}\" y=\"{y:.1}\">{tip}{}</text>",
                escape(&entry.text)
            );
        }
    }

    fn curve(&mut self, curve: &Curve, frame: &Frame, range: (f64, f64)) {
        let color = palette::line(curve.color);
        for jump in &curve.jumps {
            let x = self.x(jump.time);
            let ends = [jump.left, jump.right].map(|value| (x, vertical(frame, range, value)));
            let style = format!("class=\"jump\" stroke=\"{color}\" stroke-width=\"1.2\" stroke-dasharray=\"3 2.5\"");
            self.line(ends[0], ends[1], &style);
        }
        let mut path = String::new();
        for piece in &curve.pieces {
            self.push_piece(&mut path, piece, frame, range);
        }
        let tip = if curve.description.is_empty() {
            escape(&curve.name)
        } else {
            escape(&format!("{}: {}", curve.name, curve.description))
        };
        put!(
            self,
            "<path class=\"curve\" stroke=\"{color}\" stroke-width=\"1.7\" stroke-linejoin=\"round\" \
             stroke-linecap=\"round\"{} d=\"{path}\"><title>{tip}</title></path>",
            dashes(curve.color)
        );
    }

    fn push_piece(&self, path: &mut String, piece: &[(f64, f64)], frame: &Frame, range: (f64, f64)) {
        // Far outside the frame some viewers lose precision.
        let limit = |y: f64| y.clamp(frame.top - 2000.0, frame.bottom() + 2000.0);
        for (index, &(time, value)) in piece.iter().enumerate() {
            let (x, y) = (self.x(time).clamp(-1e4, 1e4), limit(vertical(frame, range, value)));
            let command = if index == 0 { "M" } else { " " };
            let _ = write!(path, "{command}{x:.1} {y:.1}");
        }
        if piece.len() == 1 {
            // With round ends a line of no length is a dot.
            path.push_str("l0 0");
        }
    }

    /// Arrows first, then their weights where there is room.
    fn impulses(&mut self, curves: &[Curve], frame: &Frame, range: (f64, f64)) {
        let mut arrows = arrows(curves);
        arrows.sort_by(|a, b| a.time.total_cmp(&b.time));
        let largest = arrows.iter().fold(0.0f64, |m, arrow| m.max(arrow.weight.abs()));
        let mut tips = Vec::with_capacity(arrows.len());
        for arrow in &arrows {
            let share = 0.2 + 0.8 * arrow.weight.abs() / largest;
            tips.push(self.arrow(arrow, frame, range, share));
        }
        if arrows.len() > MOST_IMPULSE_LABELS {
            return;
        }
        let mut free_from = frame.left;
        for (index, arrow) in arrows.iter().enumerate() {
            let (x, y) = tips[index];
            let next = tips.get(index + 1).map_or(frame.right(), |tip| tip.0 - 7.0);
            let size = width(&arrow.label, FONT - 1.0) + 8.0;
            if x + size <= next.min(frame.right()) {
                self.impulse_label(arrow, (x + 8.0, y), "start", frame);
                free_from = x + size;
            } else if x - size >= free_from {
                self.impulse_label(arrow, (x - 8.0, y), "end", frame);
                free_from = x + 7.0;
            } else {
                free_from = x + 7.0;
            }
        }
    }

    /// An arrow from zero, up or down; returns its tip.
    fn arrow(&mut self, arrow: &Arrow, frame: &Frame, range: (f64, f64), share: f64) -> (f64, f64) {
        let x = self.x(arrow.time);
        let zero = vertical(frame, range, 0.0).clamp(frame.top, frame.bottom());
        let (room, up) = if arrow.weight > 0.0 {
            (zero - frame.top, -1.0)
        } else {
            (frame.bottom() - zero, 1.0)
        };
        let tip = zero + up * ((room - 6.0) * share).max(12.0);
        put!(
            self,
            "<g class=\"impulse\" stroke=\"{color}\" fill=\"{color}\"><title>{name}: impulse {label}</title>\
             <path stroke-width=\"2\" d=\"M{x:.1} {zero:.1}V{:.1}\"/>\
             <path stroke=\"none\" d=\"M{x:.1} {tip:.1}l-4.5 {:.1}h9z\"/></g>",
            tip - up * 6.0,
            -up * 9.0,
            color = palette::line(arrow.color),
            name = escape(arrow.name),
            label = escape(&arrow.label),
        );
        (x, tip)
    }

    /// The weight, on a ground that hides curves behind it.
    fn impulse_label(&mut self, arrow: &Arrow, at: (f64, f64), anchor: &str, frame: &Frame) {
        let y = (at.1 + 5.0).clamp(frame.top + 11.0, frame.bottom() - 4.0);
        let size = width(&arrow.label, FONT - 1.0);
        let left = if anchor == "end" { at.0 - size } else { at.0 };
        let ground = "fill=\"#ffffff\" fill-opacity=\"0.85\" rx=\"2\"";
        self.rect(left - 2.0, y - FONT + 2.0, size + 4.0, FONT + 2.0, ground);
        let style = format!("font-size=\"{}\" fill=\"{}\"", FONT - 1.0, palette::line(arrow.color));
        self.text(at.0, y, anchor, &style, &arrow.label);
    }

    fn strip(&mut self, strip: &Strip, top: f64) {
        let frame_right = self.layout.plot_left + self.layout.plot_width;
        let name = shorten(&strip.name, FONT, self.layout.plot_width);
        self.text(self.layout.plot_left, top + 12.0, "start", "", &name);
        let bar = top + 18.0;
        self.background(&Frame {
            left: self.layout.plot_left,
            top: bar - 2.0,
            width: self.layout.plot_width,
            height: STRIP_BAR + 6.0,
        });
        let color = palette::line(strip.color);
        for &(start, stop, value) in &strip.stretches {
            let (left, right) = (self.x(start), self.x(stop).min(frame_right));
            if strip.literals.is_empty() {
                self.boolean(left, right, bar, value != 0.0, color);
            } else {
                self.literal(strip, (left, right), bar, value);
            }
        }
    }

    /// A full bar where true, a line along its bottom where false.
    fn boolean(&mut self, left: f64, right: f64, top: f64, on: bool, color: &str) {
        let (y, height, class) = if on {
            (top, STRIP_BAR, "on")
        } else {
            (top + STRIP_BAR - 1.5, 1.5, "off")
        };
        let style = format!("class=\"{class}\" fill=\"{color}\"");
        self.rect(left, y, right - left, height, &style);
    }

    fn literal(&mut self, strip: &Strip, (left, right): (f64, f64), top: f64, value: f64) {
        let index = (value as usize).saturating_sub(1);
        let share = 0.15 + 0.45 * index as f64 / (strip.literals.len() - 1).max(1) as f64;
        let color = palette::tint(palette::line(strip.color), share.min(0.6));
        let style = format!("class=\"literal\" fill=\"{color}\" stroke=\"#ffffff\" stroke-width=\"0.5\"");
        self.rect(left, top - 1.0, right - left, STRIP_BAR + 4.0, &style);
        let Some(literal) = strip.literals.get(index) else {
            return;
        };
        if width(literal, FONT - 1.0) + 6.0 <= right - left {
            let style = format!("font-size=\"{}\"", FONT - 1.0);
            self.text((left + right) / 2.0, top + 10.5, "middle", &style, literal);
        }
    }

    fn time_axis(&mut self) {
        let Some(last) = self.layout.panels.last() else { return };
        let y = last.frame.bottom();
        for (time, label) in &self.layout.time.ticks {
            let x = self.x(*time);
            let style = format!("stroke=\"{AXIS}\"");
            self.line((x, y), (x, y + 4.0), &style);
            self.text(x, y + 17.0, "middle", "", label);
        }
        let middle = self.layout.plot_left + self.layout.plot_width / 2.0;
        self.text(middle, y + 36.0, "middle", "", &self.layout.time.label);
    }
}

struct Arrow<'a> {
    name: &'a str,
    color: usize,
    time: f64,
    weight: f64,
    label: String,
}

fn arrows(curves: &[Curve]) -> Vec<Arrow<'_>> {
    let of_curve = |curve: &Curve| curve.impulses.clone();
    let all = curves
        .iter()
        .flat_map(|curve| of_curve(curve).into_iter().map(move |i| (curve, i)));
    all.filter(|(_, (_, _, weight))| weight.is_finite() && *weight != 0.0)
        .map(|(curve, (time, order, weight))| {
            let label = format!("{} {}", short_number(weight), weight_unit(&curve.weight_unit, order));
            Arrow {
                name: &curve.name,
                color: curve.color,
                time,
                weight,
                label,
            }
        })
        .collect()
}

fn vertical(frame: &Frame, (low, high): (f64, f64), value: f64) -> f64 {
    frame.bottom() - (value - low) / (high - low) * frame.height
}

fn dashes(color: usize) -> String {
    match palette::dashes(color) {
        "" => String::new(),
        pattern => format!(" stroke-dasharray=\"{pattern}\""),
    }
}

/// `N·s` for a Dirac impulse of a force, `N·s²` for its derivative.
fn weight_unit(first_order: &str, order: u32) -> String {
    let exponent: String = match order {
        0 | 1 => String::new(),
        _ => order.to_string().chars().map(superscript).collect(),
    };
    format!("{first_order}{exponent}")
}
