//! Draws a figure.

use std::fmt::Write;

use saltus_drawing::Svg;
use saltus_drawing::text::{escape, shorten, width};

use super::curves::{Curve, share};
use super::layout::{self, Entry, FONT, Frame, Layout, PanelLayout, STRIP_BAR, STRIP_PITCH, SWATCH, TITLE_FONT};
use super::palette;
use super::text::short_number;
use super::{Figure, ModeBand, Panel, Stretch, Strip};
use crate::units::{integral, pretty};

const INK: &str = "#222222";
const FAINT: &str = "#d9d9d9";
const AXIS: &str = "#888888";
/// What changes too quickly to have a colour.
const HATCH: &str = "url(#quick)";

pub(super) fn draw(figure: &Figure) -> String {
    let layout = layout::layout(figure);
    let style = format!(
        "font-family=\"'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"{FONT}\" fill=\"{INK}\""
    );
    let mut canvas = Canvas {
        svg: Svg::new(layout.width, layout.height, &figure.title, &style),
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
        let note = match figure.omitted {
            1 => "1 more signal is not shown".to_owned(),
            many => format!("{many} more signals are not shown"),
        };
        canvas.svg.text(
            layout.plot_left,
            layout.note_y + 4.0,
            "start",
            "font-style=\"italic\"",
            &note,
        );
    }
    canvas.svg.finish()
}

struct Canvas<'a> {
    svg: Svg,
    layout: &'a Layout,
    figure: &'a Figure,
}

impl Canvas<'_> {
    fn x(&self, time: f64) -> f64 {
        let share = share(time, self.figure.time_range, self.figure.is_logarithmic);
        self.layout.plot_left + share * self.layout.plot_width
    }

    fn open(&mut self) {
        if self.is_hatched() {
            self.svg.put(format_args!(
                "<defs><pattern id=\"quick\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
                 <path d=\"M-1 1L1 -1M0 6L6 0M5 7L7 5\" stroke=\"#8a8a8a\" stroke-width=\"0.8\"/></pattern></defs>"
            ));
        }
        if !self.figure.title.is_empty() {
            let room = self.layout.width - self.layout.plot_left - 16.0;
            let short = shorten(&self.figure.title, TITLE_FONT * 1.05, room);
            self.svg.put(format_args!(
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{TITLE_FONT}\" font-weight=\"bold\">{}</text>",
                self.layout.plot_left,
                self.layout.title_y,
                escape(&short)
            ));
        }
    }

    /// Whether something changes too quickly to be drawn.
    fn is_hatched(&self) -> bool {
        let strips = self.figure.panels.iter().flat_map(|panel| match panel {
            Panel::Strips(strips) => strips.as_slice(),
            Panel::Values { .. } => &[],
        });
        let mut stretches = strips.flat_map(|strip| &strip.stretches);
        self.figure.mode_bands.iter().any(|band| band.quick > 0) || stretches.any(|stretch| stretch.quick > 0)
    }

    /// The names of the modes, above the panels whose background they explain.
    fn mode_bar(&mut self) {
        let Some(bar) = self.layout.mode_bar else { return };
        self.svg.put(format_args!("<g class=\"modes\">"));
        for band in &self.figure.mode_bands {
            let (left, right) = (self.x(band.start), self.x(band.stop));
            let style = format!("fill=\"{}\"", band_fill(band));
            self.svg
                .rect(left, bar.top, (right - left).max(1.0), bar.height, &style);
            if left > bar.left + 0.5 {
                let style = format!("stroke=\"{AXIS}\" stroke-width=\"0.5\"");
                self.svg.line((left, bar.top), (left, bar.bottom()), &style);
            }
            let range = self.figure.time_range;
            if let Some(text) = layout::band_text(band, range, self.layout.plot_width) {
                if band.quick > 0 {
                    let size = width(&text, FONT - 1.0) + 8.0;
                    self.svg.rect(
                        (left + right - size) / 2.0,
                        bar.top + 2.0,
                        size,
                        bar.height - 4.0,
                        "fill=\"#ffffff\"",
                    );
                }
                let style = format!("font-size=\"{}\"", FONT - 1.0);
                self.svg
                    .text((left + right) / 2.0, bar.top + 13.0, "middle", &style, &text);
            }
        }
        let style = format!("fill=\"none\" stroke=\"{AXIS}\" stroke-width=\"0.8\"");
        self.svg.rect(bar.left, bar.top, bar.width, bar.height, &style);
        self.svg.put(format_args!("</g>"));
    }

    fn mode_entry(&mut self, entry: &Entry) {
        let fill = if entry.color == layout::HATCHED {
            HATCH
        } else {
            palette::mode(entry.color)
        };
        let style = format!("fill=\"{fill}\" stroke=\"{AXIS}\" stroke-width=\"0.8\"");
        self.svg.rect(entry.x, entry.y - 6.0, SWATCH, 12.0, &style);
        self.svg
            .text(entry.x + SWATCH + 6.0, entry.y + 4.0, "start", "", &entry.text);
    }

    fn panel(&mut self, index: usize, panel: &Panel, place: &PanelLayout) {
        self.svg.put(format_args!("<g class=\"panel\">"));
        match panel {
            Panel::Values {
                title,
                range,
                curves,
                logarithmic,
                ..
            } => {
                if let Some(y) = place.title {
                    let short = shorten(title, FONT * 1.05, place.frame.width);
                    self.svg
                        .text(place.frame.left, y, "start", "font-weight=\"bold\"", &short);
                }
                self.background(&place.frame);
                self.value_axis(place, *range);
                self.legend(place);
                let Frame {
                    left,
                    top,
                    width,
                    height,
                } = place.frame;
                self.svg.put(format_args!("<clipPath id=\"clip{index}\">"));
                self.svg.rect(left, top - 1.0, width, height + 2.0, "");
                self.svg.put(format_args!("</clipPath>"));
                self.svg
                    .put(format_args!("<g clip-path=\"url(#clip{index})\" fill=\"none\">"));
                for curve in curves {
                    self.curve(curve, &place.frame, *range);
                }
                self.svg.put(format_args!("</g>"));
                // Arrows stand on zero, which a logarithmic axis has far below.
                let zero = if *logarithmic { range.0 } else { 0.0 };
                self.impulses(curves, &place.frame, *range, zero);
            }
            Panel::Strips(strips) => {
                for (row, strip) in strips.iter().enumerate() {
                    self.strip(strip, place.frame.top + row as f64 * STRIP_PITCH);
                }
            }
        }
        self.svg.put(format_args!("</g>"));
    }

    /// Mode bands and the grid of time.
    fn background(&mut self, frame: &Frame) {
        for band in self
            .figure
            .mode_bands
            .iter()
            .filter(|band| band.color > 0 || band.quick > 0)
        {
            let (left, right) = (self.x(band.start), self.x(band.stop));
            // Curves are in front of hatching.
            let opacity = if band.quick > 0 { " fill-opacity=\"0.35\"" } else { "" };
            let style = format!("fill=\"{}\"{opacity}", band_fill(band));
            self.svg
                .rect(left, frame.top, (right - left).max(1.0), frame.height, &style);
        }
        for (time, _) in &self.layout.time.ticks {
            let x = self.x(*time);
            let style = format!("stroke=\"{FAINT}\" stroke-width=\"0.8\"");
            self.svg.line((x, frame.top), (x, frame.bottom()), &style);
        }
    }

    fn value_axis(&mut self, place: &PanelLayout, range: (f64, f64)) {
        let frame = place.frame;
        for (&value, label) in place.ticks.values.iter().zip(&place.ticks.labels) {
            let y = vertical(&frame, range, value);
            let color = if value == 0.0 { "#aaaaaa" } else { FAINT };
            let style = format!("stroke=\"{color}\" stroke-width=\"0.8\"");
            self.svg.line((frame.left, y), (frame.right(), y), &style);
            self.svg.text(frame.left - 6.0, y + 4.0, "end", "", label);
        }
        let style = format!("fill=\"none\" stroke=\"{AXIS}\" stroke-width=\"1\"");
        self.svg.rect(frame.left, frame.top, frame.width, frame.height, &style);
        if !place.axis_label.is_empty() {
            let (x, y) = (8.0 + FONT, frame.top + frame.height / 2.0);
            let style = format!("transform=\"rotate(-90 {x:.1} {y:.1})\"");
            self.svg.text(x, y, "middle", &style, &place.axis_label);
        }
    }

    fn legend(&mut self, place: &PanelLayout) {
        for entry in &place.legend {
            let style = format!(
                "stroke=\"{}\" stroke-width=\"2.5\"{}",
                palette::line(entry.color % layout::OTHER),
                dashes(entry.color)
            );
            self.svg.line((entry.x, entry.y), (entry.x + SWATCH, entry.y), &style);
            let (x, y) = (entry.x + SWATCH + 6.0, entry.y + 4.0);
            let tip = if entry.text == entry.full {
                String::new()
            } else {
                format!("<title>{}</title>", escape(&entry.full))
            };
            self.svg.put(format_args!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\">{tip}{}</text>",
                escape(&entry.text)
            ));
        }
    }

    fn curve(&mut self, curve: &Curve, frame: &Frame, range: (f64, f64)) {
        let color = palette::line(curve.color);
        for jump in &curve.jumps {
            let ends = [jump.left, jump.right].map(|(time, value)| (self.x(time), vertical(frame, range, value)));
            let style = format!("class=\"jump\" stroke=\"{color}\" stroke-width=\"1.2\" stroke-dasharray=\"3 2.5\"");
            self.svg.line(ends[0], ends[1], &style);
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
        self.svg.put(format_args!(
            "<path class=\"curve\" stroke=\"{color}\" stroke-width=\"1.7\" stroke-linejoin=\"round\" \
             stroke-linecap=\"round\"{} d=\"{path}\"><title>{tip}</title></path>",
            dashes(curve.color + if curve.is_other { layout::OTHER } else { 0 })
        ));
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

    /// Arrows first, then their weights beside the tips, out of each other's way.
    fn impulses(&mut self, curves: &[Curve], frame: &Frame, range: (f64, f64), zero: f64) {
        let mut arrows = arrows(curves);
        arrows.sort_by(|a, b| a.time.total_cmp(&b.time));
        let largest = arrows.iter().fold(0.0f64, |m, arrow| m.max(arrow.weight.abs()));
        let mut tips = Vec::with_capacity(arrows.len());
        for arrow in &arrows {
            let share = 0.2 + 0.8 * arrow.weight.abs() / largest;
            tips.push(self.arrow(arrow, frame, vertical(frame, range, zero), share));
        }
        let mut taken: Vec<Frame> = Vec::new();
        for (arrow, &(x, y)) in arrows.iter().zip(&tips) {
            let size = width(&arrow.label, FONT - 1.0) + 4.0;
            let place = free_place((x, y), size, frame, &taken);
            taken.push(place);
            self.impulse_label(arrow, place);
        }
    }

    /// An arrow from zero, up or down; returns its tip.
    fn arrow(&mut self, arrow: &Arrow, frame: &Frame, zero: f64, share: f64) -> (f64, f64) {
        let x = self.x(arrow.time);
        let zero = zero.clamp(frame.top, frame.bottom());
        let (room, up) = if arrow.weight > 0.0 {
            (zero - frame.top, -1.0)
        } else {
            (frame.bottom() - zero, 1.0)
        };
        let tip = zero + up * ((room - 6.0) * share).max(12.0);
        self.svg.put(format_args!(
            "<g class=\"impulse\" stroke=\"{color}\" fill=\"{color}\"><title>{name}: impulse {label}</title>\
             <path stroke-width=\"2\" d=\"M{x:.1} {zero:.1}V{:.1}\"/>\
             <path stroke=\"none\" d=\"M{x:.1} {tip:.1}l-4.5 {:.1}h9z\"/></g>",
            tip - up * 6.0,
            -up * 9.0,
            color = palette::line(arrow.color),
            name = escape(arrow.name),
            label = escape(&arrow.label),
        ));
        (x, tip)
    }

    /// The weight, on a ground that hides curves behind it.
    fn impulse_label(&mut self, arrow: &Arrow, place: Frame) {
        let ground = "fill=\"#ffffff\" fill-opacity=\"0.85\" rx=\"2\"";
        self.svg.rect(place.left, place.top, place.width, place.height, ground);
        let style = format!("font-size=\"{}\" fill=\"{}\"", FONT - 1.0, palette::line(arrow.color));
        self.svg
            .text(place.left + 2.0, place.bottom() - 3.0, "start", &style, &arrow.label);
    }

    fn strip(&mut self, strip: &Strip, top: f64) {
        let frame_right = self.layout.plot_left + self.layout.plot_width;
        let name = shorten(&strip.name, FONT, self.layout.plot_width);
        self.svg.text(self.layout.plot_left, top + 12.0, "start", "", &name);
        let bar = top + 18.0;
        self.background(&Frame {
            left: self.layout.plot_left,
            top: bar - 2.0,
            width: self.layout.plot_width,
            height: STRIP_BAR + 6.0,
        });
        let color = palette::line(strip.color);
        for &Stretch {
            start,
            stop,
            value,
            quick,
        } in &strip.stretches
        {
            let (left, right) = (self.x(start), self.x(stop).min(frame_right));
            if quick > 0 {
                let style = format!("class=\"quick\" fill=\"{HATCH}\" stroke=\"{color}\" stroke-width=\"0.8\"");
                self.svg.rect(left, bar, (right - left).max(1.0), STRIP_BAR, &style);
            } else if strip.literals.is_empty() {
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
        self.svg.rect(left, y, right - left, height, &style);
    }

    fn literal(&mut self, strip: &Strip, (left, right): (f64, f64), top: f64, value: f64) {
        let index = (value as usize).saturating_sub(1);
        let share = 0.15 + 0.45 * index as f64 / (strip.literals.len() - 1).max(1) as f64;
        let color = palette::tint(palette::line(strip.color), share.min(0.6));
        let style = format!("class=\"literal\" fill=\"{color}\" stroke=\"#ffffff\" stroke-width=\"0.5\"");
        self.svg.rect(left, top - 1.0, right - left, STRIP_BAR + 4.0, &style);
        let Some(literal) = strip.literals.get(index) else {
            return;
        };
        if width(literal, FONT - 1.0) + 6.0 <= right - left {
            let style = format!("font-size=\"{}\"", FONT - 1.0);
            self.svg
                .text((left + right) / 2.0, top + 10.5, "middle", &style, literal);
        }
    }

    fn time_axis(&mut self) {
        let Some(last) = self.layout.panels.last() else { return };
        let y = last.frame.bottom();
        for (time, label) in &self.layout.time.ticks {
            let x = self.x(*time);
            let style = format!("stroke=\"{AXIS}\"");
            self.svg.line((x, y), (x, y + 4.0), &style);
            self.svg.text(x, y + 17.0, "middle", "", label);
        }
        let middle = self.layout.plot_left + self.layout.plot_width / 2.0;
        self.svg.text(middle, y + 36.0, "middle", "", &self.layout.time.label);
    }
}

fn band_fill(band: &ModeBand) -> &'static str {
    if band.quick > 0 {
        HATCH
    } else {
        palette::mode(band.color)
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
            let label = format!("{} {}", short_number(weight), pretty(&integral(&curve.unit, order)));
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

/// A place for a label near the tip of an arrow: right or left of it, then lower and lower, where no other label is. Where labels
/// are too many to be read, it overlaps others.
fn free_place((x, y): (f64, f64), width: f64, frame: &Frame, taken: &[Frame]) -> Frame {
    let height = FONT + 2.0;
    let lines = ((frame.height / height) as usize).max(1);
    let top = |line: usize| {
        let from = (y - 6.0).clamp(frame.top, (frame.bottom() - height).max(frame.top));
        let below = from + line as f64 * height;
        // Those that reach the bottom go on at the top.
        if below + height <= frame.bottom() {
            below
        } else {
            frame.top + (below - frame.top) % (frame.height - height).max(1.0)
        }
    };
    let places = (0..lines).flat_map(|line| {
        [x + 6.0, x - 6.0 - width].map(|left| Frame {
            left: left.clamp(frame.left, (frame.right() - width).max(frame.left)),
            top: top(line),
            width,
            height,
        })
    });
    let apart =
        |a: &Frame, b: &Frame| a.right() <= b.left || b.right() <= a.left || a.bottom() <= b.top || b.bottom() <= a.top;
    let mut candidates = places.clone();
    let free = candidates.find(|place| taken.iter().all(|other| apart(place, other)));
    free.or_else(|| places.clone().next()).unwrap_or(*frame)
}

fn vertical(frame: &Frame, (low, high): (f64, f64), value: f64) -> f64 {
    frame.bottom() - (value - low) / (high - low) * frame.height
}

fn dashes(color: usize) -> String {
    if color >= layout::OTHER {
        return " stroke-dasharray=\"5 3\" stroke-opacity=\"0.75\"".to_owned();
    }
    match palette::dashes(color) {
        "" => String::new(),
        pattern => format!(" stroke-dasharray=\"{pattern}\""),
    }
}
