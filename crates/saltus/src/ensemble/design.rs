//! Designs: the values that parameters take in many runs.

use saltus_source::{Diagnostic, Severity, codes};

use super::random::Random;
use super::sobol::{MOST_DIMENSIONS, Sobol};

/// Runs that a design may have.
const MOST_RUNS: usize = 100_000_000;
/// Values that a range with a step may have.
const MOST_VALUES: usize = 1_000_000;

/// The values a parameter takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Levels {
    /// These, written as in a model.
    Values(Vec<String>),
    /// All real numbers between two.
    Range {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
    },
}

/// A parameter with the values it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Its values.
    pub levels: Levels,
}

impl Factor {
    /// Understands `p=1:5:0.5` (from, to, step), `p=1:5` (all between) and `p=1,2,4` (these, written as in a model).
    ///
    /// ```
    /// use saltus::ensemble::{Factor, Levels};
    ///
    /// let factor = Factor::parse("gear=1:3:1").unwrap();
    /// assert_eq!(factor.levels, Levels::Values(["1", "2", "3"].map(String::from).into()));
    /// ```
    pub fn parse(text: &str) -> Result<Factor, Box<Diagnostic>> {
        let wrong = |what: &str| refused(format!("`{text}`: {what}"), FACTOR_HELP);
        let Some((name, values)) = text.split_once('=') else {
            return Err(wrong("there is no value"));
        };
        let (name, values) = (name.trim(), values.trim());
        if name.is_empty() || values.is_empty() {
            return Err(wrong("the name or the values are missing"));
        }
        let parts: Vec<&str> = values.split(':').map(str::trim).collect();
        let levels = if parts.len() == 1 || values.contains(',') {
            let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
            if values.iter().any(String::is_empty) {
                return Err(wrong("a value is missing"));
            }
            Levels::Values(values)
        } else {
            let numbers: Option<Vec<f64>> = parts.iter().map(|part| finite(part)).collect();
            match numbers.as_deref() {
                Some(&[low, high]) if low < high => Levels::Range { low, high },
                Some(&[from, to, step]) => Levels::Values(steps(from, to, step).map_err(wrong)?),
                Some(_) => return Err(wrong("the range does not ascend")),
                None => return Err(wrong("the ends of a range are numbers")),
            }
        };
        Ok(Factor {
            name: name.to_owned(),
            levels,
        })
    }
}

const FACTOR_HELP: &str = "write NAME=FROM:TO:STEP, NAME=FROM:TO or NAME=VALUE,VALUE,…";

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// `from`, `from + step`, … up to `to`, with the digits that were meant.
fn steps(from: f64, to: f64, step: f64) -> Result<Vec<String>, &'static str> {
    if step == 0.0 || (to - from) / step < 0.0 {
        return Err("the step does not lead from the first number to the second");
    }
    // The last value counts if rounding alone keeps it from being met.
    let count = ((to - from) / step * (1.0 + 1e-12) + 1e-9).floor() + 1.0;
    if count > MOST_VALUES as f64 {
        return Err("that are more than a million values");
    }
    let value = |k: usize| {
        let exact = from + k as f64 * step;
        // 0.1 + 2·0.1 is 0.3, not 0.30000000000000004.
        let rounded = format!("{exact:.14e}").parse().unwrap_or(exact);
        format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
    };
    Ok((0..count as usize).map(value).collect())
}

/// Which values parameters take together, run after run.
///
/// ```
/// use saltus::ensemble::{Design, Factor};
///
/// let factors = ["p=1:2:0.5", "q=3,4"].map(|text| Factor::parse(text).unwrap());
/// let design = Design::grid(factors.into()).unwrap();
/// assert_eq!(design.len(), 6);
/// // The last parameter changes fastest.
/// assert_eq!(design.point(1), ["1", "4"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    names: Vec<String>,
    points: Points,
    count: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Points {
    Grid(Vec<Vec<String>>),
    List(Vec<Vec<String>>),
    /// Places between 0 and 1 by parameter and run.
    Latin(Vec<Levels>, Vec<Vec<f64>>),
    Sobol(Vec<Levels>, Sobol),
}

impl Design {
    /// Every value of a parameter with every value of the others; the last parameter changes fastest.
    pub fn grid(factors: Vec<Factor>) -> Result<Design, Box<Diagnostic>> {
        let mut count = 1_usize;
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for factor in factors {
            let Levels::Values(levels) = factor.levels else {
                let message = format!("`{}`: a grid needs single values", factor.name);
                return Err(refused(message, "write NAME=FROM:TO:STEP or NAME=VALUE,VALUE,…"));
            };
            count = count.saturating_mul(levels.len());
            names.push(factor.name);
            values.push(levels);
        }
        Design::checked(names, Points::Grid(values), count)
    }

    /// These sets of values, one per run, in the order of the names.
    pub fn list(names: Vec<String>, sets: Vec<Vec<String>>) -> Result<Design, Box<Diagnostic>> {
        if let Some(row) = sets.iter().position(|set| set.len() != names.len()) {
            let message = format!(
                "set {} has {} values for {} parameters",
                row + 1,
                sets[row].len(),
                names.len()
            );
            return Err(refused(message, "give every set one value per parameter"));
        }
        let mut texts = names.iter().chain(sets.iter().flatten());
        if texts.any(|text| text.contains(['\n', '\r'])) {
            let message = "a name or a value goes over several lines".to_owned();
            return Err(refused(message, "close quotes where the value ends"));
        }
        let count = sets.len();
        Design::checked(names, Points::List(sets), count)
    }

    /// A list from the text of a CSV file: names in the first line, one set of values in each other.
    pub fn list_from_csv(text: &str) -> Result<Design, Box<Diagnostic>> {
        let mut lines = super::csv::records(text).map_err(|what| refused(what, "write names, then sets of values"))?;
        if lines.is_empty() {
            return Err(refused(
                "the list of sets is empty".to_owned(),
                "write names, then sets of values",
            ));
        }
        let names = lines.remove(0);
        Design::list(names, lines)
    }

    /// Latin hypercube: the range of every parameter is divided into as many strata as there are runs, and each of them
    /// holds one run. A parameter with single values takes all of them equally often, as far as possible. The same
    /// seed gives the same design.
    pub fn latin_hypercube(factors: Vec<Factor>, samples: usize, seed: u64) -> Result<Design, Box<Diagnostic>> {
        let (names, levels): (Vec<String>, Vec<Levels>) = factors.into_iter().map(|f| (f.name, f.levels)).unzip();
        check_count(samples)?;
        let mut random = Random::new(seed);
        let mut places = Vec::with_capacity(levels.len());
        for _ in &levels {
            let mut strata: Vec<usize> = (0..samples).collect();
            random.shuffle(&mut strata);
            let place = |stratum: usize| (stratum as f64 + random.short_unit()) / samples as f64;
            places.push(strata.into_iter().map(place).collect());
        }
        Design::checked(names, Points::Latin(levels, places), samples)
    }

    /// The first points of a Sobol sequence: they fill the space evenly, however many there are, best in powers of two.
    /// A seed shifts all of them (by exclusive or of their binary digits), which keeps their evenness; without one the
    /// first point is the least corner.
    pub fn sobol(factors: Vec<Factor>, samples: usize, seed: Option<u64>) -> Result<Design, Box<Diagnostic>> {
        let (names, levels): (Vec<String>, Vec<Levels>) = factors.into_iter().map(|f| (f.name, f.levels)).unzip();
        check_count(samples)?;
        let Some(sobol) = Sobol::new(names.len(), seed) else {
            let message = format!("{} parameters are too many for a Sobol sequence", names.len());
            let help = format!("vary at most {MOST_DIMENSIONS}, or use a Latin hypercube");
            return Err(refused(message, &help));
        };
        Design::checked(names, Points::Sobol(levels, sobol), samples)
    }

    fn checked(names: Vec<String>, points: Points, count: usize) -> Result<Design, Box<Diagnostic>> {
        // A list without names has runs of the model as it is.
        let none = names.is_empty() && !matches!(points, Points::List(_));
        if none || names.iter().any(|name| name.trim().is_empty()) {
            return Err(refused("no parameter is varied".to_owned(), FACTOR_HELP));
        }
        let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
        if let Some((_, name)) = twice {
            return Err(refused(
                format!("`{name}` is varied twice"),
                "name every parameter once",
            ));
        }
        check_count(count)?;
        Ok(Design { names, points, count })
    }

    /// The names of the parameters.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of runs.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no run; there always is one.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Calls `check` with every value of every parameter, and with a few of those in a range, until one is refused.
    pub(super) fn try_each_value<E>(&self, mut check: impl FnMut(&str, &str) -> Result<(), E>) -> Result<(), E> {
        match &self.points {
            Points::Grid(values) => {
                let levels = self.names.iter().zip(values);
                { levels }.try_for_each(|(name, values)| values.iter().try_for_each(|value| check(name, value)))
            }
            Points::List(sets) => {
                let mut values = sets.iter().flat_map(|set| self.names.iter().zip(set));
                values.try_for_each(|(name, value)| check(name, value))
            }
            Points::Latin(levels, _) | Points::Sobol(levels, _) => {
                let mut levels = self.names.iter().zip(levels);
                levels.try_for_each(|(name, levels)| match levels {
                    Levels::Values(values) => values.iter().try_for_each(|value| check(name, value)),
                    // The ends, and a place where no whole number is.
                    Levels::Range { .. } => [0.0, 0.3819, 1.0]
                        .into_iter()
                        .try_for_each(|place| check(name, &levels.at(place))),
                })
            }
        }
    }

    /// The values of a run, written as in a model, in the order of the names. Runs are counted from 0.
    pub fn point(&self, run: usize) -> Vec<String> {
        match &self.points {
            Points::Grid(values) => {
                let mut rest = run;
                let mut point: Vec<String> = Vec::with_capacity(values.len());
                for levels in values.iter().rev() {
                    point.push(levels[rest % levels.len()].clone());
                    rest /= levels.len();
                }
                point.reverse();
                point
            }
            Points::List(sets) => sets[run].clone(),
            Points::Latin(levels, places) => {
                let at = levels.iter().zip(places);
                at.map(|(levels, places)| levels.at(places[run])).collect()
            }
            Points::Sobol(levels, sobol) => {
                let place = |(dimension, levels): (usize, &Levels)| levels.at(sobol.place(dimension, run as u32));
                levels.iter().enumerate().map(place).collect()
            }
        }
    }
}

impl Levels {
    /// The value at a place between 0 and 1.
    fn at(&self, place: f64) -> String {
        match self {
            Levels::Values(values) => {
                let position = (place * values.len() as f64) as usize;
                values[position.min(values.len() - 1)].clone()
            }
            Levels::Range { low, high } => format!("{}", low + (high - low) * place),
        }
    }
}

fn check_count(count: usize) -> Result<(), Box<Diagnostic>> {
    match count {
        0 => Err(refused(
            "there is nothing to run".to_owned(),
            "ask for at least one run",
        )),
        count if count > MOST_RUNS => Err(refused(
            format!("more than {MOST_RUNS} runs"),
            "vary fewer parameters, or use larger steps",
        )),
        _ => Ok(()),
    }
}

pub(super) fn refused(message: String, help: &str) -> Box<Diagnostic> {
    let diagnostic = Diagnostic::without_place(codes::E0709, Severity::Error, message);
    Box::new(diagnostic.with_help(help))
}
