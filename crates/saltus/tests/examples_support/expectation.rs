//! The comments of an example, as data.

use saltus::Method;

use super::expression::Expression;

/// Side of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// A number with what it may differ by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within {
    pub value: f64,
    pub tolerance: f64,
}

impl Within {
    pub(crate) fn holds(self, actual: f64) -> bool {
        (actual - self.value).abs() <= self.tolerance
    }
}

/// What an example promises.
#[derive(Debug)]
pub(crate) enum Expectation {
    Value {
        of: Expression,
        time: f64,
        side: Side,
        is: Within,
    },
    EventAt(Within),
    EventCount(usize),
    Impulse {
        variable: String,
        time: f64,
        weight: Within,
    },
    Conserved {
        of: Expression,
        tolerance: f64,
    },
    AtLeast {
        of: Expression,
        bound: f64,
    },
    AtMost {
        of: Expression,
        bound: f64,
    },
    Reference {
        file: String,
        columns: Vec<(Expression, String)>,
        tolerance: f64,
    },
    Fails {
        code: String,
        time: Within,
    },
}

/// The header of an example.
#[derive(Debug, Default)]
pub(crate) struct Header {
    pub tolerance: Option<f64>,
    pub stop: Option<f64>,
    /// Whether it goes on where it chatters, and where events accumulate.
    pub solver: Option<Method>,
    pub slides: bool,
    pub rests: bool,
    /// Why the example cannot keep its promises yet.
    pub pending: Option<String>,
    /// Each with its text.
    pub expectations: Vec<(String, Expectation)>,
}

impl Header {
    pub(crate) fn parse(source: &str) -> Result<Header, String> {
        let mut header = Header::default();
        for line in source.lines() {
            if let Some(text) = line.strip_prefix("// run: ") {
                header.setting(text)?;
            } else if let Some(text) = line.strip_prefix("// pending: ") {
                header.pending = Some(text.to_owned());
            } else if let Some(text) = line.strip_prefix("// expect: ") {
                let expectation = Expectation::parse(text).map_err(|error| format!("`{text}`: {error}"))?;
                header.expectations.push((text.to_owned(), expectation));
            }
        }
        Ok(header)
    }

    fn setting(&mut self, text: &str) -> Result<(), String> {
        let (name, value) = split(text, " = ")?;
        match name {
            "tolerance" => self.tolerance = Some(number(value)?),
            "stop" => self.stop = Some(number(value)?),
            "solver" => self.solver = Some(value.parse().map_err(|_| format!("there is no solver `{value}`"))?),
            "chattering" => self.slides = value == "slide",
            "zeno" => self.rests = value == "rest",
            _ => return Err(format!("unknown setting `{name}`")),
        }
        Ok(())
    }
}

impl Expectation {
    fn parse(text: &str) -> Result<Expectation, String> {
        if let Some(rest) = text.strip_prefix("event at ") {
            return Ok(Expectation::EventAt(within(rest)?));
        }
        if let Some(rest) = text.strip_prefix("events ") {
            return rest.parse().map(Expectation::EventCount).map_err(|e| format!("{e}"));
        }
        if let Some(rest) = text.strip_prefix("impulse ") {
            let (variable, rest) = split(rest, " at ")?;
            let (time, weight) = split(rest, " = ")?;
            return Ok(Expectation::Impulse {
                variable: variable.to_owned(),
                time: number(time)?,
                weight: within(weight)?,
            });
        }
        if let Some(rest) = text.strip_prefix("conserved ") {
            let (of, tolerance) = split(rest, " within ")?;
            return Ok(Expectation::Conserved {
                of: Expression::parse(of)?,
                tolerance: number(tolerance)?,
            });
        }
        if let Some(rest) = text.strip_prefix("reference ") {
            return reference(rest);
        }
        if let Some(rest) = text.strip_prefix("fails ") {
            let (code, time) = split(rest, " at ")?;
            return Ok(Expectation::Fails {
                code: code.to_owned(),
                time: within(time)?,
            });
        }
        match text.strip_suffix(" always") {
            Some(bounded) => bound(bounded),
            None => value(text),
        }
    }
}

fn reference(text: &str) -> Result<Expectation, String> {
    let (file, rest) = split(text, " ")?;
    let (columns, tolerance) = split(rest, " within ")?;
    let column = |pair: &str| {
        let (of, column) = split(pair.trim(), "=")?;
        Ok((Expression::parse(of)?, column.to_owned()))
    };
    Ok(Expectation::Reference {
        file: file.to_owned(),
        columns: columns.split(',').map(column).collect::<Result<_, String>>()?,
        tolerance: number(tolerance)?,
    })
}

fn bound(text: &str) -> Result<Expectation, String> {
    if let Ok((of, bound)) = split(text, " >= ") {
        let (of, bound) = (Expression::parse(of)?, number(bound)?);
        return Ok(Expectation::AtLeast { of, bound });
    }
    let (of, bound) = split(text, " <= ")?;
    let (of, bound) = (Expression::parse(of)?, number(bound)?);
    Ok(Expectation::AtMost { of, bound })
}

fn value(text: &str) -> Result<Expectation, String> {
    let (of, rest) = split(text, " at ")?;
    let (time, is) = split(rest, " = ")?;
    let (time, side) = match (time.strip_suffix('-'), time.strip_suffix('+')) {
        (Some(time), _) => (time, Side::Left),
        (_, Some(time)) => (time, Side::Right),
        _ => (time, Side::Right),
    };
    Ok(Expectation::Value {
        of: Expression::parse(of)?,
        time: number(time)?,
        side,
        is: within(is)?,
    })
}

fn split<'t>(text: &'t str, by: &str) -> Result<(&'t str, &'t str), String> {
    text.split_once(by).ok_or_else(|| format!("expected `{}`", by.trim()))
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

fn within(text: &str) -> Result<Within, String> {
    let (value, tolerance) = split(text, " within ")?;
    Ok(Within {
        value: number(value)?,
        tolerance: number(tolerance)?,
    })
}
