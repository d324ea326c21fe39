//! Text to tokens. The tokens tile the text: nothing is lost, whatever the input.

use memchr::{memchr, memchr2, memmem};
use saltus_source::{Diagnostic, FileId, Span, codes};

use crate::kind::SyntaxKind::{self, *};

/// At most this many diagnostics are kept per file; a file that is not Modelica at all would
/// otherwise yield one per character.
pub(crate) const MAX_DIAGNOSTICS: usize = 200;

/// Token kinds with the offsets they start at; each ends where the next one starts.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub kinds: Vec<SyntaxKind>,
    pub starts: Vec<u32>,
}

pub(crate) fn lex(file: FileId, text: &str) -> (Tokens, Vec<Diagnostic>) {
    let mut lexer = Lexer {
        file,
        text,
        bytes: text.as_bytes(),
        position: 0,
        unclosed_string: false,
        unclosed_comment: false,
        suspect: None,
        rewound: None,
        diagnostics: Vec::new(),
    };
    // MSL has a token per 5 bytes outside strings, and half of it is strings.
    let mut tokens = Tokens {
        kinds: Vec::with_capacity(text.len() / 7),
        starts: Vec::with_capacity(text.len() / 7),
    };
    while lexer.position < lexer.bytes.len() {
        tokens.starts.push(lexer.position as u32);
        let kind = lexer.next_token();
        tokens.kinds.push(kind);
        if lexer.unclosed_string
            && lexer.rewound.is_none()
            && let Some(suspect) = lexer.suspect
        {
            lexer.rewind(suspect, &mut tokens);
        }
    }
    (tokens, lexer.diagnostics)
}

struct Lexer<'t> {
    file: FileId,
    text: &'t str,
    bytes: &'t [u8],
    position: usize,
    /// A string was found to have no end: further ones are looked for on their line only, which
    /// keeps the lexer linear and the rest of the file usable.
    unclosed_string: bool,
    unclosed_comment: bool,
    /// Start of the first string over several lines with a letter right behind it: the likely
    /// place of a missing quotation mark.
    suspect: Option<usize>,
    /// Where the lexer went back to, because a string had no end: the string there ends with its
    /// line.
    rewound: Option<usize>,
    diagnostics: Vec<Diagnostic>,
}

fn is_identifier_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_identifier_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.position + ahead).copied().unwrap_or(0)
    }

    fn take(&mut self, length: usize, kind: SyntaxKind) -> SyntaxKind {
        self.position += length;
        kind
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) {
        let rest = &self.bytes[self.position..];
        self.position += rest.iter().position(|&b| !accept(b)).unwrap_or(rest.len());
    }

    fn end_of_line(&self) -> usize {
        let rest = &self.bytes[self.position..];
        let end = memchr(b'\n', rest).map_or(self.bytes.len(), |n| self.position + n);
        match self.bytes[..end].last() {
            Some(b'\r') if end > self.position => end - 1,
            _ => end,
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    fn next_token(&mut self) -> SyntaxKind {
        let byte = self.bytes[self.position];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => {
                self.take_while(|b| matches!(b, b' ' | b'\t'..=b'\r'));
                Whitespace
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'\'' => self.quoted_identifier(),
            b'/' => match self.peek(1) {
                b'/' => {
                    self.position = self.end_of_line();
                    LineComment
                }
                b'*' => self.block_comment(),
                _ => self.take(1, Slash),
            },
            b'.' => match self.peek(1) {
                b'+' => self.take(2, DotPlus),
                b'-' => self.take(2, DotMinus),
                b'*' => self.take(2, DotStar),
                b'/' if !matches!(self.peek(2), b'/' | b'*') => self.take(2, DotSlash),
                b'^' => self.take(2, DotCaret),
                b'0'..=b'9' => self.number(),
                _ => self.take(1, Dot),
            },
            b'=' if self.peek(1) == b'=' => self.take(2, EqualEqual),
            b':' if self.peek(1) == b'=' => self.take(2, Assign),
            b'<' if self.peek(1) == b'=' => self.take(2, LessEqual),
            b'<' if self.peek(1) == b'>' => self.take(2, NotEqual),
            b'>' if self.peek(1) == b'=' => self.take(2, GreaterEqual),
            b'=' => self.take(1, Equals),
            b':' => self.take(1, Colon),
            b'<' => self.take(1, Less),
            b'>' => self.take(1, Greater),
            b'(' => self.take(1, LeftParen),
            b')' => self.take(1, RightParen),
            b'[' => self.take(1, LeftBracket),
            b']' => self.take(1, RightBracket),
            b'{' => self.take(1, LeftBrace),
            b'}' => self.take(1, RightBrace),
            b';' => self.take(1, Semicolon),
            b',' => self.take(1, Comma),
            b'+' => self.take(1, Plus),
            b'-' => self.take(1, Minus),
            b'*' => self.take(1, Star),
            b'^' => self.take(1, Caret),
            _ => self.other_character(),
        }
    }

    fn word(&mut self) -> SyntaxKind {
        let start = self.position;
        self.take_while(is_identifier_part);
        if !self.peek(0).is_ascii() && self.next_char().is_some_and(char::is_alphanumeric) {
            return self.non_ascii_identifier(start);
        }
        let word = &self.bytes[start..self.position];
        if (2..=13).contains(&word.len()) && word[0].is_ascii_lowercase() {
            return keyword_of(word).unwrap_or(Identifier);
        }
        Identifier
    }

    fn next_char(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    fn non_ascii_identifier(&mut self, start: usize) -> SyntaxKind {
        while let Some(c) = self.next_char()
            && (c.is_alphanumeric() || c == '_')
        {
            self.position += c.len_utf8();
        }
        let word = &self.text[start..self.position];
        self.report(
            Diagnostic::error(
                codes::E0108,
                self.span(start, self.position),
                format!("`{word}` is not a Modelica identifier"),
            )
            .with_label("has letters that are not ASCII")
            .with_help("use letters a to z, digits and `_`"),
        );
        Identifier
    }

    fn number(&mut self) -> SyntaxKind {
        let start = self.position;
        let mut problem = None;
        self.take_while(|b| b.is_ascii_digit());
        let mut kind = UnsignedInteger;
        if start == self.position {
            problem = Some("a number starts with a digit, as in `0.5`");
        }
        if self.peek(0) == b'.' {
            self.position += 1;
            self.take_while(|b| b.is_ascii_digit());
            kind = UnsignedReal;
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                self.position += 1 + sign;
                self.take_while(|b| b.is_ascii_digit());
                kind = UnsignedReal;
            } else if !is_identifier_part(self.peek(1)) {
                self.position += 1 + sign;
                kind = UnsignedReal;
                problem = Some("an exponent needs digits, as in `1e3`");
            }
        }
        if is_identifier_part(self.peek(0)) {
            self.take_while(is_identifier_part);
            problem = Some("a name cannot start with a digit; a product needs `*`");
        }
        if let Some(problem) = problem {
            let span = self.span(start, self.position);
            let text = &self.text[start..self.position];
            self.report(Diagnostic::error(codes::E0116, span, format!("malformed number `{text}`")).with_help(problem));
        }
        kind
    }

    fn string(&mut self) -> SyntaxKind {
        let start = self.position;
        match self.find_string_end(start + 1) {
            Some(end) if self.rewound != Some(start) => {
                self.position = end;
                self.remember_suspicious_string(start);
            }
            Some(_) => {
                self.position = self.end_of_line();
                self.report_unclosed_string(start);
                self.unclosed_string = false;
            }
            None => {
                self.position = self.end_of_line();
                self.report_unclosed_string(start);
            }
        }
        String
    }

    /// The offset behind the closing quotation mark.
    fn find_string_end(&mut self, from: usize) -> Option<usize> {
        let limit = if self.unclosed_string {
            self.end_of_line()
        } else {
            self.bytes.len()
        };
        let mut at = from;
        while let Some(found) = memchr2(b'"', b'\\', &self.bytes[at.min(limit)..limit]) {
            at += found;
            if self.bytes[at] == b'"' {
                return Some(at + 1);
            }
            self.check_escape(at);
            at += 2;
        }
        None
    }

    fn check_escape(&mut self, at: usize) {
        let escaped = self.bytes.get(at + 1).copied().unwrap_or(b'"');
        if b"'\"?\\abfnrtv".contains(&escaped) || self.unclosed_string {
            return;
        }
        let sequence: std::string::String = self.text[at..].chars().take(2).collect();
        self.report(
            Diagnostic::warning(
                codes::W0101,
                self.span(at, at + sequence.len()),
                "unknown escape sequence in a string",
            )
            .with_help("write `\\\\` for a backslash"),
        );
    }

    fn remember_suspicious_string(&mut self, start: usize) {
        let token = &self.bytes[start..self.position];
        if self.suspect.is_none() && is_identifier_start(self.peek(0)) && memchr(b'\n', token).is_some() {
            self.suspect = Some(start);
        }
    }

    /// Reads on from a string whose quotation mark seems to be missing, once.
    fn rewind(&mut self, to: usize, tokens: &mut Tokens) {
        self.rewound = Some(to);
        self.unclosed_string = false;
        self.unclosed_comment = false;
        self.position = to;
        let kept = tokens.starts.partition_point(|&start| (start as usize) < to);
        tokens.starts.truncate(kept);
        tokens.kinds.truncate(kept);
        self.diagnostics
            .retain(|d| d.span().is_none_or(|span| (span.start as usize) < to));
    }

    fn report_unclosed_string(&mut self, start: usize) {
        if !self.unclosed_string {
            self.unclosed_string = true;
            // Escapes looked at on the way to the end of the file were not in this string.
            let end = self.position as u32;
            self.diagnostics
                .retain(|d| d.code != codes::W0101 || d.span().is_none_or(|span| span.start < end));
        }
        let diagnostic = Diagnostic::error(codes::E0103, self.span(start, self.position), "this string has no end")
            .with_label("starts here")
            .with_help("close it with `\"`; inside a string write `\\\"`");
        self.report(diagnostic);
    }

    fn quoted_identifier(&mut self) -> SyntaxKind {
        let start = self.position;
        let line_end = self.end_of_line();
        let mut at = start + 1;
        while let Some(found) = memchr2(b'\'', b'\\', &self.bytes[at.min(line_end)..line_end]) {
            at += found;
            if self.bytes[at] == b'\'' {
                self.position = at + 1;
                return Identifier;
            }
            at += 2;
        }
        self.position += 1;
        self.take_while(is_identifier_part);
        let span = self.span(start, self.position);
        self.report(
            Diagnostic::error(codes::E0112, span, "this quoted identifier has no end")
                .with_label("the closing `'` must be on the same line"),
        );
        Identifier
    }

    fn block_comment(&mut self) -> SyntaxKind {
        let start = self.position;
        let limit = if self.unclosed_comment {
            self.end_of_line()
        } else {
            self.bytes.len()
        };
        let from = (start + 2).min(limit);
        if let Some(found) = memmem::find(&self.bytes[from..limit], b"*/") {
            self.position = from + found + 2;
            return BlockComment;
        }
        self.unclosed_comment = true;
        self.position = self.end_of_line();
        self.report(
            Diagnostic::error(codes::E0104, self.span(start, start + 2), "this comment has no end")
                .with_label("starts here")
                .with_help("close it with `*/`"),
        );
        BlockComment
    }

    /// A string in typographic quotation marks, if it ends on its line.
    fn typographic_string(&mut self, start: usize) -> bool {
        let rest = &self.text[self.position..self.end_of_line()];
        let Some((at, close)) = rest.char_indices().find(|&(_, c)| is_typographic_quote(c)) else {
            return false;
        };
        self.position += at + close.len_utf8();
        let span = self.span(start, self.position);
        self.report(
            Diagnostic::error(codes::E0108, span, "these are not the quotation marks of a string")
                .with_help("strings are written in `\"`"),
        );
        true
    }

    fn other_character(&mut self) -> SyntaxKind {
        let start = self.position;
        let Some(c) = self.next_char() else {
            return UnknownCharacters;
        };
        if c == '\u{feff}' && start == 0 {
            return self.take(c.len_utf8(), Whitespace);
        }
        if c.is_alphabetic() {
            return self.non_ascii_identifier(start);
        }
        self.position += c.len_utf8();
        if is_typographic_quote(c) && self.typographic_string(start) {
            return String;
        }
        let (mut kind, help) = look_alike(c);
        match c {
            '&' | '|' if self.peek(0) == self.bytes[start] => self.position += 1,
            '!' if self.peek(0) == b'=' => {
                self.position += 1;
                kind = NotEqual;
            }
            _ => {}
        }
        if kind == UnknownCharacters {
            // One report for a run of them.
            while let Some(next) = self.next_char()
                && !next.is_ascii()
                && !next.is_alphabetic()
                && look_alike(next).0 == UnknownCharacters
            {
                self.position += next.len_utf8();
            }
        }
        let shown = c.escape_debug();
        let message = match c {
            _ if c.is_whitespace() => "this is not an ordinary space".to_owned(),
            _ => format!("`{shown}` has no meaning here"),
        };
        let span = self.span(start, self.position);
        let mut diagnostic =
            Diagnostic::error(codes::E0108, span, message).with_label(format!("character U+{:04X}", c as u32));
        if let Some(help) = help {
            diagnostic = diagnostic.with_help(help);
        }
        self.report(diagnostic);
        kind
    }
}

/// Quotation marks of word processors, also as Windows-1252 bytes.
fn is_typographic_quote(c: char) -> bool {
    matches!(c, '“' | '”' | '„' | '«' | '»' | '\u{93}' | '\u{94}' | '\u{84}')
}

/// What a character was probably meant to be; the parser sees it as that.
fn look_alike(c: char) -> (SyntaxKind, Option<&'static str>) {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => (Minus, Some("write `-`")),
        '×' | '·' | '⋅' | '∗' => (Star, Some("write `*`")),
        '÷' | '∕' => (Slash, Some("write `/`")),
        '≤' => (LessEqual, Some("write `<=`")),
        '≥' => (GreaterEqual, Some("write `>=`")),
        '≠' => (NotEqual, Some("write `<>`")),
        '；' | '\u{37e}' => (Semicolon, Some("write `;`")),
        '，' => (Comma, Some("write `,`")),
        '（' => (LeftParen, Some("write `(`")),
        '）' => (RightParen, Some("write `)`")),
        c if is_typographic_quote(c) => (UnknownCharacters, Some("strings are written in `\"`")),
        '‘' | '’' => (UnknownCharacters, Some("quoted identifiers are written in `'`")),
        '#' => (UnknownCharacters, Some("comments start with `//`")),
        '%' => (
            UnknownCharacters,
            Some("the remainder is `mod(a, b)`; comments start with `//`"),
        ),
        '!' => (NotKw, Some("negation is `not`, inequality `<>`")),
        '&' => (AndKw, Some("the conjunction is `and`")),
        '|' => (OrKw, Some("the disjunction is `or`")),
        '\0' => (UnknownCharacters, Some("the file may be UTF-16: save it as UTF-8")),
        c if c.is_whitespace() || c == '\u{feff}' || c == '\u{200b}' => (Whitespace, Some("write an ordinary space")),
        _ => (UnknownCharacters, None),
    }
}

/// Looks the word up among the keywords with the same first letter.
#[inline]
fn keyword_of(word: &[u8]) -> Option<SyntaxKind> {
    // The filter on first letters spares most identifiers the comparison with every keyword.
    if !b"abcdefilmnoprstw".contains(&word[0]) {
        return None;
    }
    SyntaxKind::keyword(word)
}
