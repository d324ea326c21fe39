//! Arithmetic over result variables.

use saltus::results::Trajectory;

/// An expression in a header comment.
#[derive(Debug)]
pub(crate) enum Expression {
    Number(f64),
    Variable(String),
    Call(fn(f64) -> f64, Box<Expression>),
    Binary(char, Box<Expression>, Box<Expression>),
}

impl Expression {
    pub(crate) fn parse(text: &str) -> Result<Expression, String> {
        let mut parser = Parser { text, at: 0 };
        let expression = parser.sum()?;
        match parser.peek() {
            None => Ok(expression),
            Some(rest) => Err(format!("unexpected `{rest}` in `{text}`")),
        }
    }

    /// The value in each row.
    pub(crate) fn values(&self, result: &Trajectory) -> Result<Vec<f64>, String> {
        match self {
            Expression::Number(value) => Ok(vec![*value; result.rows()]),
            Expression::Variable(name) => result
                .signal(name)
                .map(|signal| signal.values.into_owned())
                .ok_or_else(|| format!("the result has no variable `{name}`")),
            Expression::Call(function, argument) => Ok(argument.values(result)?.into_iter().map(function).collect()),
            Expression::Binary(operator, left, right) => {
                let (left, right) = (left.values(result)?, right.values(result)?);
                Ok(left.iter().zip(&right).map(|(a, b)| apply(*operator, *a, *b)).collect())
            }
        }
    }
}

fn apply(operator: char, a: f64, b: f64) -> f64 {
    match operator {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        '/' => a / b,
        _ => a.powf(b),
    }
}

fn function(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "sin" => f64::sin,
        "cos" => f64::cos,
        "sqrt" => f64::sqrt,
        "abs" => f64::abs,
        "exp" => f64::exp,
        _ => return None,
    })
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn accept(&mut self, allowed: &[char]) -> Option<char> {
        let next = self.peek().filter(|c| allowed.contains(c))?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn binary(
        &mut self,
        operators: &[char],
        operand: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = operand(self)?;
        while let Some(operator) = self.accept(operators) {
            left = Expression::Binary(operator, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.binary(&['+', '-'], Self::product)
    }

    fn product(&mut self) -> Result<Expression, String> {
        self.binary(&['*', '/'], Self::power)
    }

    fn power(&mut self) -> Result<Expression, String> {
        self.binary(&['^'], Self::primary)
    }

    fn primary(&mut self) -> Result<Expression, String> {
        match self.peek() {
            Some('-') => {
                self.at += 1;
                let negated = Box::new(self.primary()?);
                Ok(Expression::Binary('-', Box::new(Expression::Number(0.0)), negated))
            }
            Some('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.accept(&[')']).ok_or("missing `)`")?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() => self.number(),
            Some(c) if c.is_alphabetic() => self.name(),
            other => Err(format!("unexpected {other:?} in `{}`", self.text)),
        }
    }

    fn take(&mut self, belongs: impl Fn(char, char) -> bool) -> &str {
        let start = self.at;
        let mut before = ' ';
        while let Some(c) = self.text[self.at..].chars().next().filter(|c| belongs(before, *c)) {
            self.at += c.len_utf8();
            before = c;
        }
        &self.text[start..self.at]
    }

    fn number(&mut self) -> Result<Expression, String> {
        let exponent = |before: char, c: char| matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
        let digits = self.take(|before, c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E') || exponent(before, c));
        digits
            .parse()
            .map(Expression::Number)
            .map_err(|_| format!("`{digits}` is not a number"))
    }

    fn name(&mut self) -> Result<Expression, String> {
        let mut name = self
            .take(|_, c| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']'))
            .to_owned();
        if !self.text[self.at..].starts_with('(') {
            return Ok(Expression::Variable(name));
        }
        if let Some(function) = function(&name) {
            self.at += 1;
            let argument = Box::new(self.sum()?);
            self.accept(&[')']).ok_or("missing `)`")?;
            return Ok(Expression::Call(function, argument));
        }
        // `der(x)` is the name of a result variable.
        name.push_str(self.take(|before, _| before != ')'));
        Ok(Expression::Variable(name))
    }
}
