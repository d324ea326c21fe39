//! Which clock each part of a base clock has: exact ratios along the conversions between parts (16.7.5).
//!
//! A clock ticks at `shift + n·interval`, n ≥ 0, in seconds after the start of the run or in ticks of the base clock. A
//! conversion relates the clocks of two parts and can be followed both ways; what is reached twice must agree.

use saltus_mdae::Rational;

/// When a clock ticks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// From tick to tick.
    pub interval: Rational,
    /// The first tick.
    pub shift: Rational,
}

/// How the clock of one part follows from that of another.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// The same ticks.
    Same,
    /// Every so manieth tick.
    Sub(i64),
    /// So many ticks for one.
    Super(i64),
    /// Later by a part of the interval.
    Shift(Rational),
    /// Slower or as fast, by a whole factor that the clocks tell.
    Slower,
    /// Faster or as fast, by a whole factor that the clocks tell.
    Faster,
    /// Of the same base clock, with ticks of its own.
    Unrelated,
}

impl Conversion {
    /// The clock after the conversion; `None` beyond 64 bits.
    fn forward(self, ticks: Ticks) -> Option<Ticks> {
        let Ticks { interval, shift } = ticks;
        Some(match self {
            Conversion::Sub(factor) => Ticks {
                interval: interval.times(Rational::whole(factor))?,
                shift,
            },
            Conversion::Super(factor) => Ticks {
                interval: interval.over(Rational::whole(factor))?,
                shift,
            },
            Conversion::Shift(part) => Ticks {
                interval,
                shift: shift.plus(interval.times(part)?)?,
            },
            _ => ticks,
        })
    }

    /// The clock before the conversion; `None` beyond 64 bits.
    fn backward(self, ticks: Ticks) -> Option<Ticks> {
        let Ticks { interval, shift } = ticks;
        match self {
            Conversion::Sub(factor) => Conversion::Super(factor).forward(ticks),
            Conversion::Super(factor) => Conversion::Sub(factor).forward(ticks),
            Conversion::Shift(part) => Some(Ticks {
                interval,
                shift: shift.minus(interval.times(part)?)?,
            }),
            _ => Some(ticks),
        }
    }

    fn is_definite(self) -> bool {
        !matches!(self, Conversion::Slower | Conversion::Faster | Conversion::Unrelated)
    }
}

/// A conversion between two parts.
#[derive(Copy, Clone, Debug)]
pub struct Relation {
    /// The part of the argument.
    pub from: usize,
    /// The part of the result.
    pub to: usize,
    /// What is done.
    pub conversion: Conversion,
}

/// What says the clock of a part: a number of the list of sources or of relations.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// A constructor.
    Source(usize),
    /// A conversion.
    Relation(usize),
}

/// Why there is no solution.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// A part has two clocks.
    Two {
        /// The part.
        part: usize,
        /// One clock, and what says so.
        first: (Ticks, Because),
        /// Another.
        second: (Ticks, Because),
    },
    /// The clocks on both sides of a conversion with an inferred factor have no whole ratio, or start apart.
    NoFactor {
        /// The number of the relation.
        relation: usize,
        /// Before it.
        from: Ticks,
        /// After it.
        to: Ticks,
    },
    /// A ratio beyond 64 bits.
    TooLarge(Because),
    /// Nothing says the clock of a part.
    Unknown(usize),
}

/// The clocks of all parts. Where there is no source at all, the fastest part ticks every second.
pub fn infer(parts: usize, relations: &[Relation], sources: &[(usize, Ticks)]) -> Result<Vec<Ticks>, Conflict> {
    let mut known: Vec<Option<(Ticks, Because)>> = vec![None; parts];
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); parts];
    for (at, relation) in relations.iter().enumerate() {
        if relation.conversion.is_definite() {
            neighbours[relation.from].push(at);
            neighbours[relation.to].push(at);
        }
    }
    let one_second = Ticks {
        interval: Rational::ONE,
        shift: Rational::ZERO,
    };
    let default = [(0, one_second)];
    let given = if sources.is_empty() { &default[..] } else { sources };
    for (at, &(part, ticks)) in given.iter().enumerate() {
        spread(part, ticks, Because::Source(at), relations, &neighbours, &mut known)?;
    }
    let mut clocks = Vec::with_capacity(parts);
    for (part, found) in known.iter().enumerate() {
        match found {
            Some((ticks, _)) => clocks.push(*ticks),
            None => return Err(Conflict::Unknown(part)),
        }
    }
    if sources.is_empty() {
        normalise(&mut clocks).ok_or(Conflict::TooLarge(Because::Source(0)))?;
    }
    for (at, relation) in relations.iter().enumerate() {
        let (from, to) = (clocks[relation.from], clocks[relation.to]);
        let ratio = match relation.conversion {
            Conversion::Slower => to.interval.over(from.interval),
            Conversion::Faster => from.interval.over(to.interval),
            _ => continue,
        };
        if from.shift != to.shift || !ratio.is_some_and(Rational::is_whole) {
            return Err(Conflict::NoFactor { relation: at, from, to });
        }
    }
    Ok(clocks)
}

/// Follows the relations from a part whose clock is known.
fn spread(
    part: usize,
    ticks: Ticks,
    because: Because,
    relations: &[Relation],
    neighbours: &[Vec<usize>],
    known: &mut [Option<(Ticks, Because)>],
) -> Result<(), Conflict> {
    let mut open = vec![(part, ticks, because)];
    while let Some((part, ticks, because)) = open.pop() {
        match known[part] {
            Some((before, _)) if before == ticks => continue,
            Some(first) => {
                return Err(Conflict::Two {
                    part,
                    first,
                    second: (ticks, because),
                });
            }
            None => known[part] = Some((ticks, because)),
        }
        for &at in &neighbours[part] {
            let relation = relations[at];
            let (other, next) = if relation.from == part {
                (relation.to, relation.conversion.forward(ticks))
            } else {
                (relation.from, relation.conversion.backward(ticks))
            };
            let because = Because::Relation(at);
            open.push((other, next.ok_or(Conflict::TooLarge(because))?, because));
            if relation.from == relation.to && relation.conversion.forward(ticks) != Some(ticks) {
                let second = (relation.conversion.forward(ticks).unwrap_or(ticks), because);
                let first = (ticks, because);
                return Err(Conflict::Two { part, first, second });
            }
        }
    }
    Ok(())
}

/// Makes the fastest clock tick every second, and the first tick of all that of the base clock.
fn normalise(clocks: &mut [Ticks]) -> Option<()> {
    let fastest = clocks.iter().map(|ticks| ticks.interval).min()?;
    let first = clocks.iter().map(|ticks| ticks.shift).min()?;
    for ticks in clocks {
        ticks.interval = ticks.interval.over(fastest)?;
        ticks.shift = ticks.shift.minus(first)?.over(fastest)?;
    }
    Some(())
}
