//! XML, as much as is needed to write and look into a description.

use std::fmt::Write;

/// Elements written one after the other, indented.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    text: String,
    depth: usize,
}

/// Attributes in their order.
pub(crate) type Attributes<'a> = Vec<(&'a str, String)>;

impl Writer {
    pub(crate) fn new() -> Self {
        Writer {
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
            depth: 0,
        }
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, String)], end: &str) {
        let _ = write!(self.text, "{:width$}<{name}", "", width = 2 * self.depth);
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"{}\"", escaped(value));
        }
        self.text.push_str(end);
    }

    pub(crate) fn leaf(&mut self, name: &str, attributes: &[(&str, String)]) {
        self.tag(name, attributes, "/>\n");
    }

    /// An element around others; left out if there are none.
    pub(crate) fn around(&mut self, name: &str, attributes: &[(&str, String)], inside: impl FnOnce(&mut Self)) {
        let before = self.text.len();
        self.tag(name, attributes, ">\n");
        let empty = self.text.len();
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        if self.text.len() == empty {
            self.text.truncate(before);
        } else {
            let _ = writeln!(self.text, "{:width$}</{name}>", "", width = 2 * self.depth);
        }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Text as the value of an attribute; characters that XML does not know are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}
