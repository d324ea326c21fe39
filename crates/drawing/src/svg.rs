//! The text of a picture.

use std::fmt::{Arguments, Write};

use crate::text::escape;

/// A picture while it is written. Styles are attributes as SVG has them; texts are escaped.
#[derive(Clone, Debug)]
pub struct Svg {
    out: String,
}

impl Svg {
    /// An empty white picture.
    pub fn new(width: f64, height: f64, title: &str, style: &str) -> Self {
        let mut svg = Svg { out: String::new() };
        svg.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" {style}>"
        ));
        svg.put(format_args!("<title>{}</title>", escape(title)));
        svg.put(format_args!("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"));
        svg
    }

    /// A line of markup as it is: whoever writes it escapes what is in it.
    pub fn put(&mut self, markup: Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(markup);
        self.out.push('\n');
    }

    /// A rectangle.
    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, style: &str) {
        self.put(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {style}/>"
        ));
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        self.put(format_args!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>",
            from.0, from.1, to.0, to.1
        ));
    }

    /// A curve in the language of paths.
    pub fn path(&mut self, path: &str, style: &str) {
        self.put(format_args!("<path d=\"{path}\" {style}/>"));
    }

    /// A circle.
    pub fn circle(&mut self, (x, y): (f64, f64), radius: f64, style: &str) {
        self.put(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" {style}/>"
        ));
    }

    /// A text whose `anchor` (`start`, `middle`, `end`) is at a place.
    pub fn text(&mut self, x: f64, y: f64, anchor: &str, style: &str, text: &str) {
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{}</text>",
            escape(text)
        ));
    }

    /// The whole picture.
    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }
}
