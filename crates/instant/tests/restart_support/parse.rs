//! Expressions like `lam*x + x''`, `x'^-**2`, `sin(w1)`: Python operators, primes for derivatives, `^-` for left
//! limits.

use saltus_mdae::{Builder, Ex, UnaryFunction};

pub(crate) struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    model: &'a Builder,
    name: &'a dyn Fn(&str) -> Ex,
}

pub(crate) fn parse(model: &Builder, name: &dyn Fn(&str) -> Ex, text: &str) -> Ex {
    let mut parser = Parser {
        text: text.as_bytes(),
        at: 0,
        model,
        name,
    };
    let result = parser.sum();
    assert_eq!(parser.peek(), None, "rest of `{text}`");
    result
}

/// All identifiers of an expression (without functions).
pub(crate) fn identifiers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
        } else if !word.is_empty() {
            let is_name = !word.starts_with(|c: char| c.is_ascii_digit()) && function(&word).is_none();
            if is_name {
                found.push(word.clone());
            }
            word.clear();
        }
    }
    found
}

fn function(name: &str) -> Option<UnaryFunction> {
    Some(match name {
        "sin" => UnaryFunction::Sin,
        "cos" => UnaryFunction::Cos,
        "tan" => UnaryFunction::Tan,
        "sqrt" => UnaryFunction::Sqrt,
        "exp" => UnaryFunction::Exp,
        "log" => UnaryFunction::Log,
        "tanh" => UnaryFunction::Tanh,
        _ => return None,
    })
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }
    fn eat(&mut self, token: &str) -> bool {
        self.peek();
        let found = self.text[self.at..].starts_with(token.as_bytes());
        if found {
            self.at += token.len();
        }
        found
    }
    fn sum(&mut self) -> Ex {
        let mut left = self.product();
        loop {
            if self.eat("+") {
                left = left + self.product();
            } else if self.eat("-") {
                left = left - self.product();
            } else {
                return left;
            }
        }
    }
    fn product(&mut self) -> Ex {
        let mut left = self.signed();
        loop {
            self.peek();
            let power = self.text[self.at..].starts_with(b"**");
            if !power && self.eat("*") {
                left = left * self.signed();
            } else if self.eat("/") {
                left = left / self.signed();
            } else {
                return left;
            }
        }
    }
    fn signed(&mut self) -> Ex {
        if self.eat("-") { -self.signed() } else { self.power() }
    }
    fn power(&mut self) -> Ex {
        let base = self.atom();
        if self.eat("**") {
            let exponent = self.number();
            base.pow(exponent)
        } else {
            base
        }
    }
    fn number(&mut self) -> f64 {
        self.peek();
        let start = self.at;
        while self.at < self.text.len() && matches!(self.text[self.at], b'0'..=b'9' | b'.' | b'e') {
            self.at += 1;
        }
        let digits = std::str::from_utf8(&self.text[start..self.at]).unwrap();
        digits.parse().unwrap_or_else(|_| panic!("a number, not `{digits}`"))
    }
    fn atom(&mut self) -> Ex {
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                let inner = self.sum();
                assert!(self.eat(")"));
                inner
            }
            Some(c) if c.is_ascii_digit() => {
                let value = self.number();
                self.model.real(value)
            }
            _ => self.identifier(),
        }
    }
    fn identifier(&mut self) -> Ex {
        let start = self.at;
        let in_word = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_';
        while self.text.get(self.at).is_some_and(in_word) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).unwrap().to_string();
        if let Some(op) = function(&word) {
            assert!(self.eat("("));
            let argument = self.sum();
            assert!(self.eat(")"));
            return argument.apply(op);
        }
        let mut expression = (self.name)(&word);
        while self.text.get(self.at) == Some(&b'\'') {
            self.at += 1;
            expression = expression.der();
        }
        if self.text[self.at..].starts_with(b"^-") {
            self.at += 2;
            expression = expression.pre();
        }
        expression
    }
}
