//! Modelica text with its declarations and equations in another order and other names, for models without algorithms.

use saltus_testing::Random;
use std::collections::BTreeMap;

/// Words, numbers, strings and signs; comments are dropped.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if c.is_whitespace() => {
                rest = &rest[c.len_utf8()..];
                continue;
            }
            '/' if rest.starts_with("//") => {
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.split_once("*/").map_or("", |(_, after)| after);
                continue;
            }
            '"' => quoted(rest),
            c if c.is_alphabetic() || c == '_' => length_of(rest, |c| c.is_alphanumeric() || c == '_'),
            c if c.is_ascii_digit() => number(rest),
            _ => ["<=", ">=", "<>", "==", ":=", ".*", "./", ".+", ".-"]
                .iter()
                .find(|sign| rest.starts_with(**sign))
                .map_or(first.len_utf8(), |sign| sign.len()),
        };
        found.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    found
}

fn length_of(text: &str, inside: impl Fn(char) -> bool) -> usize {
    text.find(|c| !inside(c)).unwrap_or(text.len())
}

fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            c => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

fn number(text: &str) -> usize {
    let mut length = length_of(text, |c| c.is_ascii_digit() || c == '.');
    let rest = &text[length..];
    if rest.starts_with(['e', 'E']) {
        let sign = usize::from(rest[1..].starts_with(['+', '-']));
        length += 1 + sign + length_of(&rest[1 + sign..], |c| c.is_ascii_digit());
    }
    length
}

type Statement = Vec<String>;

struct Reader {
    tokens: Vec<String>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }
    fn next(&mut self) -> String {
        let token = self.peek().to_owned();
        self.at += 1;
        token
    }

    /// Everything up to and with a sign outside parentheses.
    fn up_to(&mut self, ends: &[&str]) -> Statement {
        let mut statement = Vec::new();
        let mut depth = 0_i32;
        while self.at < self.tokens.len() {
            let token = self.next();
            match token.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            let end = depth == 0 && ends.contains(&token.as_str());
            statement.push(token);
            if end {
                break;
            }
        }
        statement
    }

    /// Equations up to a word that ends them, in another order.
    fn equations(&mut self, random: &mut Random) -> Vec<Statement> {
        let mut found = Vec::new();
        while !matches!(
            self.peek(),
            "" | "else"
                | "elseif"
                | "elsewhen"
                | "end"
                | "equation"
                | "initial"
                | "annotation"
                | "algorithm"
                | "protected"
                | "public"
        ) {
            found.push(self.equation(random));
        }
        random.shuffle(&mut found);
        found
    }

    fn equation(&mut self, random: &mut Random) -> Statement {
        let start = match self.peek() {
            "if" | "when" => "then",
            "for" => "loop",
            _ => return self.up_to(&[";"]),
        };
        let mut whole = self.up_to(&[start]);
        loop {
            whole.extend(self.equations(random).into_iter().flatten());
            match self.peek() {
                "else" => whole.push(self.next()),
                "elseif" | "elsewhen" => whole.extend(self.up_to(&["then"])),
                _ => break,
            }
        }
        whole.extend(self.up_to(&[";"]));
        whole
    }
}

/// The names that a declaration declares.
fn declared(statement: &Statement) -> Vec<String> {
    const PREFIXES: &[&str] = &[
        "parameter",
        "constant",
        "discrete",
        "input",
        "output",
        "flow",
        "final",
        "inner",
        "outer",
        "replaceable",
    ];
    if matches!(statement[0].as_str(), "import" | "extends" | "annotation") {
        return Vec::new();
    }
    let mut at = statement
        .iter()
        .take_while(|token| PREFIXES.contains(&token.as_str()))
        .count();
    // The type, `A.B.C`, perhaps with subscripts.
    at += 1;
    while statement.get(at).is_some_and(|token| token == ".") {
        at += 2;
    }
    let (mut names, mut depth, mut expected) = (Vec::new(), 0_i32, true);
    for token in &statement[at..] {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 0 => expected = true,
            word if depth == 0 && expected && word.starts_with(char::is_alphabetic) => {
                names.push(word.to_owned());
                expected = false;
            }
            _ => {}
        }
    }
    names
}

/// A model in another order and other names.
pub(crate) struct Permuted {
    pub text: String,
    /// New names by old ones.
    pub names: BTreeMap<String, String>,
}

impl Permuted {
    /// `None` if the text is not a single model, or has algorithms, functions or classes in it.
    pub(crate) fn new(text: &str, random: &mut Random) -> Option<Self> {
        let tokens = tokens(text);
        let foreign = [
            "algorithm",
            "function",
            "package",
            "record",
            "connector",
            "block",
            "partial",
            "encapsulated",
        ];
        let models = tokens.iter().filter(|token| *token == "model").count();
        if models != 1 || tokens.iter().any(|token| foreign.contains(&token.as_str())) {
            return None;
        }
        let mut reader = Reader { tokens, at: 0 };
        let mut header = reader.up_to(&["model"]);
        header.push(reader.next());
        if reader.peek().starts_with('"') {
            header.push(reader.next());
        }
        let mut declarations = Vec::new();
        while !matches!(reader.peek(), "equation" | "initial" | "end" | "") {
            if matches!(reader.peek(), "protected" | "public") {
                reader.next();
                continue;
            }
            declarations.push(reader.up_to(&[";"]));
        }
        let fixed = |statement: &Statement| matches!(statement[0].as_str(), "import" | "extends");
        let (first, mut declarations): (Vec<_>, Vec<_>) = declarations.into_iter().partition(fixed);
        random.shuffle(&mut declarations);
        let mut names: Vec<String> = declarations.iter().flat_map(declared).collect();
        random.shuffle(&mut names);
        let new_name = |(number, name): (usize, String)| (name, format!("q{number}q"));
        let names: BTreeMap<String, String> = names.into_iter().enumerate().map(new_name).collect();
        let declarations = declarations.iter().map(|statement| renamed(statement, &names, true));
        let mut body: Vec<Statement> = first.into_iter().chain(declarations).collect();
        while !matches!(reader.peek(), "end" | "") {
            match reader.peek() {
                "annotation" => body.push(reader.up_to(&[";"])),
                _ => {
                    body.push(reader.up_to(&["equation"]));
                    let equations = reader.equations(random);
                    body.extend(equations.iter().map(|statement| renamed(statement, &names, false)));
                }
            }
        }
        let rest = reader.tokens[reader.at..].to_vec();
        let all = std::iter::once(header).chain(body).chain([rest]);
        let lines = all.map(|statement| statement.join(" "));
        Some(Permuted {
            text: lines.collect::<Vec<_>>().join("\n"),
            names,
        })
    }

    /// A text with the old names.
    pub(crate) fn restored(&self, text: &str) -> String {
        let old: BTreeMap<&str, &str> = self
            .names
            .iter()
            .map(|(old, new)| (new.as_str(), old.as_str()))
            .collect();
        let mut restored = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = if first.is_alphanumeric() || first == '_' {
                length_of(rest, |c| c.is_alphanumeric() || c == '_')
            } else {
                first.len_utf8()
            };
            let word = &rest[..length];
            restored.push_str(old.get(word).copied().unwrap_or(word));
            rest = &rest[length..];
        }
        restored
    }
}

/// In declarations the names of modifiers (`w(start = 3)`) are those of other classes.
fn renamed(statement: &Statement, names: &BTreeMap<String, String>, declaration: bool) -> Statement {
    let neighbour = |at: Option<usize>| at.and_then(|at| statement.get(at)).map_or("", String::as_str);
    let mut depth = 0_i32;
    let mut result = Vec::new();
    for (at, token) in statement.iter().enumerate() {
        match token.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        let (before, after) = (neighbour(at.checked_sub(1)), neighbour(Some(at + 1)));
        let modifier = declaration && depth > 0 && matches!(before, "(" | ",") && matches!(after, "=" | "(");
        result.push(match names.get(token) {
            Some(name) if before != "." && !modifier => name.clone(),
            _ => token.clone(),
        });
    }
    result
}
