//! Offsets of bytes and positions of the protocol.

use gen_lsp_types::{Position, Range};
use saltus::source::Span;

/// What columns count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, what every client understands.
    Utf16,
}

/// Where the lines of a text start.
#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<u32>,
    /// Bytes of a byte-order mark, which editors do not show.
    mark: u32,
}

impl Lines {
    /// Lines end with a line feed, a carriage return or both.
    pub(crate) fn new(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = bytes
            .iter()
            .enumerate()
            .filter(|&(at, &byte)| byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')));
        Lines {
            starts: std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect(),
            mark: if text.starts_with('\u{feff}') { 3 } else { 0 },
        }
    }

    /// The text of a line, without its end.
    fn line<'t>(&self, text: &'t str, line: usize) -> (u32, &'t str) {
        let mut start = self.starts[line];
        if line == 0 {
            start = start.max(self.mark);
        }
        let end = self.starts.get(line + 1).map_or(text.len(), |&end| end as usize);
        let content = text.get(start as usize..end).unwrap_or("");
        (start, content.trim_end_matches(['\r', '\n']))
    }

    /// The position of an offset; offsets behind the end count as the end.
    pub(crate) fn position(&self, text: &str, offset: u32, encoding: Encoding) -> Position {
        let offset = offset.min(text.len() as u32);
        let line = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        let (start, content) = self.line(text, line);
        let mut within = (offset.saturating_sub(start) as usize).min(content.len());
        while !content.is_char_boundary(within) {
            within -= 1;
        }
        let before = &content[..within];
        let character = match encoding {
            Encoding::Utf8 => before.len(),
            Encoding::Utf16 => before.chars().map(char::len_utf16).sum(),
        };
        Position {
            line: line as u32,
            character: character as u32,
        }
    }

    /// The offset of a position; what is behind the end of a line or of the text counts as that end.
    pub(crate) fn offset(&self, text: &str, position: Position, encoding: Encoding) -> u32 {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return text.len() as u32;
        }
        let (start, content) = self.line(text, line);
        let mut left = position.character as usize;
        for (at, c) in content.char_indices() {
            let width = match encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
            };
            if left < width {
                return start + at as u32;
            }
            left -= width;
        }
        start + content.len() as u32
    }

    /// The range of a span.
    pub(crate) fn range(&self, text: &str, span: Span, encoding: Encoding) -> Range {
        Range {
            start: self.position(text, span.start, encoding),
            end: self.position(text, span.end, encoding),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_count_units_of_the_encoding() {
        let text = "a\u{e4}\u{1d11e}b\r\nc\rd\n";
        let lines = Lines::new(text);
        assert_eq!(lines.position(text, 7, Encoding::Utf16), at(0, 4));
        assert_eq!(lines.position(text, 7, Encoding::Utf8), at(0, 7));
        assert_eq!(lines.offset(text, at(0, 4), Encoding::Utf16), 7);
        assert_eq!(lines.offset(text, at(0, 3), Encoding::Utf16), 3, "inside a pair");
        assert_eq!(lines.offset(text, at(0, 99), Encoding::Utf16), 8);
        assert_eq!(lines.position(text, 10, Encoding::Utf8), at(1, 0));
        assert_eq!(lines.position(text, 12, Encoding::Utf8), at(2, 0));
        assert_eq!(lines.offset(text, at(9, 0), Encoding::Utf8), text.len() as u32);
        let marked = "\u{feff}model";
        assert_eq!(Lines::new(marked).position(marked, 4, Encoding::Utf16), at(0, 1));
        assert_eq!(Lines::new(marked).offset(marked, at(0, 1), Encoding::Utf16), 4);
    }

    proptest! {
        #[test]
        fn there_and_back(text in "[a\u{e4}\u{1d11e}\r\n]{0,40}", utf8: bool) {
            let encoding = if utf8 { Encoding::Utf8 } else { Encoding::Utf16 };
            let lines = Lines::new(&text);
            for (offset, c) in text.char_indices().filter(|(_, c)| !matches!(c, '\r' | '\n')) {
                let position = lines.position(&text, offset as u32, encoding);
                prop_assert_eq!(lines.offset(&text, position, encoding), offset as u32, "{:?}", c);
            }
        }

        #[test]
        fn any_position_is_somewhere(text in "\\PC{0,20}[\r\n]{0,3}\\PC{0,20}", line in 0u32..9, character in 0u32..99) {
            let lines = Lines::new(&text);
            for encoding in [Encoding::Utf8, Encoding::Utf16] {
                let offset = lines.offset(&text, at(line, character), encoding) as usize;
                prop_assert!(text.is_char_boundary(offset));
            }
        }
    }
}
