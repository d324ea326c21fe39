//! Texts at run time. Every value is a number then, so a String is the number of its text in a table that grows as
//! texts are made. Equal texts have equal numbers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use saltus_source::number_text::TextFormat;
use serde::{Deserialize, Serialize};

/// Texts one model may make in a run, and how many bytes they may have together.
const TEXT_LIMIT: usize = 1_000_000;
const BYTE_LIMIT: usize = 64 << 20;

/// All texts of a model, by number. The empty text is number 0.
#[derive(Debug, Default)]
pub struct Texts(Mutex<Store>);

#[derive(Debug, Default)]
struct Store {
    numbers: FxHashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    bytes: usize,
}

/// Tables hold what was made of a model, they do not tell models apart.
impl PartialEq for Texts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Texts {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a text; `None` if there are too many texts.
    pub fn number(&self, text: &str) -> Option<f64> {
        if text.is_empty() {
            return Some(0.0);
        }
        let mut store = self.store();
        if let Some(&known) = store.numbers.get(text) {
            return Some(f64::from(known));
        }
        if store.texts.len() >= TEXT_LIMIT || store.bytes + text.len() > BYTE_LIMIT {
            return None;
        }
        let text: Arc<str> = text.into();
        store.bytes += text.len();
        store.texts.push(Arc::clone(&text));
        let number = store.texts.len() as u32;
        store.numbers.insert(text, number);
        Some(f64::from(number))
    }

    /// The texts with the numbers 1 to `count`, in this order.
    pub(crate) fn first(&self, count: usize) -> Vec<Arc<str>> {
        let store = self.store();
        store.texts[..count.min(store.texts.len())].to_vec()
    }

    /// How many there are besides the empty one.
    pub fn count(&self) -> usize {
        self.store().texts.len()
    }

    /// The text of a number; the empty one for what is no number of a text.
    pub fn text(&self, number: f64) -> Arc<str> {
        let store = self.store();
        let known = (number as usize).checked_sub(1).and_then(|at| store.texts.get(at));
        known.cloned().unwrap_or_else(|| "".into())
    }
}

/// A function of texts and numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TextOperation {
    /// `a + b`
    Join,
    /// −1, 0 or 1: which of two texts comes first.
    Order,
    /// `String(x, …)`
    Write(Written, TextFormat),
    /// The number of characters.
    Length,
    /// The characters from one position to another, both counted from 1.
    Substring,
    /// 1, 2, 3 for less, equal, greater; whether case matters is the third argument.
    Compare,
    /// The position of the first character that is no blank, from a position on.
    SkipBlanks,
    /// A hash.
    Hash,
}

/// What a number stands for when it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Written {
    /// A Real.
    Real,
    /// An Integer.
    Integer,
    /// A Boolean.
    Boolean,
    /// A value of an enumeration.
    Enumeration(Arc<[Arc<str>]>),
    /// A text.
    Text,
}

/// Why an operation on texts failed.
#[derive(Clone, Debug, PartialEq)]
pub enum TextError {
    /// There are too many texts, or they are too long.
    Limit,
    /// Positions outside a text.
    Positions(i64, i64, usize),
}

impl std::fmt::Display for TextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TextError::Limit => write!(
                f,
                "more than {TEXT_LIMIT} different texts, or more than {} MB of them",
                BYTE_LIMIT >> 20
            ),
            TextError::Positions(from, to, length) => {
                write!(f, "the characters {from} to {to} of a text of length {length}")
            }
        }
    }
}

impl TextOperation {
    /// The value for these arguments.
    pub fn apply(&self, texts: &Texts, args: &[f64]) -> Result<f64, TextError> {
        let text = |position: usize| texts.text(args[position]);
        let number = |text: &str| texts.number(text).ok_or(TextError::Limit);
        match self {
            TextOperation::Join => number(&format!("{}{}", text(0), text(1))),
            TextOperation::Order => Ok(f64::from(text(0).cmp(&text(1)) as i8)),
            TextOperation::Write(kind, format) => number(&kind.write(args[0], format, texts)),
            TextOperation::Length => Ok(text(0).chars().count() as f64),
            TextOperation::Substring => number(&substring(&text(0), args[1] as i64, args[2] as i64)?),
            TextOperation::Compare => Ok(compare(&text(0), &text(1), args[2] != 0.0) as f64),
            TextOperation::SkipBlanks => Ok(skip_blanks(&text(0), args[1] as i64) as f64),
            TextOperation::Hash => Ok(f64::from(hash(&text(0)))),
        }
    }

    /// Whether what it writes has a length that somebody may have meant.
    pub(crate) fn is_reasonable(&self) -> bool {
        match self {
            TextOperation::Write(_, format) => format.is_reasonable(),
            _ => true,
        }
    }

    /// The number of arguments.
    pub fn arity(&self) -> usize {
        match self {
            TextOperation::Write(..) | TextOperation::Length | TextOperation::Hash => 1,
            TextOperation::Join | TextOperation::Order | TextOperation::SkipBlanks => 2,
            TextOperation::Substring | TextOperation::Compare => 3,
        }
    }
}

impl Written {
    fn write(&self, value: f64, format: &TextFormat, texts: &Texts) -> String {
        match self {
            Written::Real => format.real(value),
            Written::Integer => format.integer(value as i64),
            Written::Boolean => format.padded((value != 0.0).to_string()),
            Written::Enumeration(literals) => {
                let literal = (value as usize).checked_sub(1).and_then(|at| literals.get(at));
                format.padded(literal.map_or_else(|| value.to_string(), |text| text.to_string()))
            }
            Written::Text => format.padded(texts.text(value).to_string()),
        }
    }
}

/// The characters `from` to `to` of a text, counted from 1.
pub fn substring(text: &str, from: i64, to: i64) -> Result<String, TextError> {
    let length = text.chars().count();
    if from < 1 || to > length as i64 || from > to + 1 {
        return Err(TextError::Positions(from, to, length));
    }
    let count = (to - from + 1) as usize;
    Ok(text.chars().skip(from as usize - 1).take(count).collect())
}

/// 1, 2, 3 for less, equal, greater.
pub fn compare(a: &str, b: &str, case_matters: bool) -> i64 {
    let order = if case_matters {
        a.cmp(b)
    } else {
        a.to_lowercase().cmp(&b.to_lowercase())
    };
    order as i64 + 2
}

/// The position behind the blanks that begin at `from`.
pub fn skip_blanks(text: &str, from: i64) -> i64 {
    let skipped = text.chars().skip((from.max(1) - 1) as usize);
    from + skipped.take_while(|c| c.is_whitespace()).count() as i64
}

/// The hash of a text that libraries expect.
pub fn hash(text: &str) -> i32 {
    text.bytes()
        .fold(5381i32, |h, b| h.wrapping_mul(33).wrapping_add(i32::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_numbers() {
        let texts = Texts::default();
        let join = |a: f64, b: f64| TextOperation::Join.apply(&texts, &[a, b]).unwrap_or(-1.0);
        let (ab, a, b) = (texts.number("ab"), texts.number("a"), texts.number("b"));
        assert_eq!(Some(join(a.unwrap_or(0.0), b.unwrap_or(0.0))), ab);
        assert_eq!(join(0.0, 0.0), 0.0);
        assert_eq!(&*texts.text(ab.unwrap_or(0.0)), "ab");
    }

    #[test]
    fn positions_outside_a_text_fail() {
        assert_eq!(substring("abc", 2, 3), Ok("bc".into()));
        assert_eq!(substring("abc", 4, 3), Ok("".into()));
        assert_eq!(substring("abc", 0, 1), Err(TextError::Positions(0, 1, 3)));
        assert_eq!(substring("abc", 2, 4), Err(TextError::Positions(2, 4, 3)));
    }
}
