//! Scanning a step for the earliest event.

use super::bracket::{Narrowing, RootError, TimeTolerance};
use super::course::{Course, MIDDLE, NODES, SAMPLES};
use crate::EvalError;

/// The condition functions of a mode, evaluated together on dense output.
pub trait ConditionFunctions {
    /// How many.
    fn count(&self) -> usize;

    /// The values of the functions at a time within the step, then those of their arguments: of inner functions whose course
    /// says how closely to look. The samples of `sin(ω·t)` may look smooth by chance; those of `ω·t` say how many periods
    /// lie between them. There may be other arguments at other times; one that is missing is not a number.
    ///
    /// # Errors
    /// If one cannot be evaluated there.
    fn evaluate(&mut self, t: f64, values: &mut Vec<f64>) -> Result<(), EvalError>;

    /// How a piece has to be cut so that samples show what is a function of an argument that takes this course on it.
    fn cut(&self, argument: usize, course: &Course) -> Cut {
        let _ = (argument, course);
        Cut::Nowhere
    }

    /// Before a piece is cut into so many equal parts: whether that is affordable.
    ///
    /// # Errors
    /// If it is not.
    fn afford(&mut self, parts: f64) -> Result<(), EvalError> {
        let _ = parts;
        Ok(())
    }

    /// What rounding leaves of function `i` on a piece with samples at these times: its sign is not looked for below that.
    fn rounding(&self, i: usize, times: &[f64]) -> f64 {
        let _ = (i, times);
        0.0
    }
}

/// How a piece is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    /// It need not be.
    Nowhere,
    /// Into equal parts.
    Into(f64),
    /// In two where the argument passes a value.
    At(f64),
}

/// Pieces into which one scan cuts a step where functions are not resolved by their samples.
const MOST_CUTS: usize = 4096;
/// How often a piece is halved because of an argument.
const MOST_HALVINGS: u32 = 64;
/// A margin that halving does not make smaller than this part so many times in a row is noise, or a jump.
const STALLED_SHARE: f64 = 0.7;
const STALLED: u32 = 6;
/// An argument that varies by this share of what it did on a piece so many times wider is noise: what is smooth, and be it a
/// polynomial of fifth degree at its steepest, varies by a fifth of it.
const NOISY_SHARE: f64 = 0.5;
const NOISY_WIDTH: f64 = 256.0;
/// So is one that passes the same value so often and varies no less.
const NOISY_PASSAGES: usize = 8;
/// What is this little above rounding or noise is not told from it.
const WITHIN_ROUNDING: f64 = 4.0;
const WITHIN_NOISE: f64 = 8.0;

/// How thoroughly to look.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ScanOptions {
    /// Width of the final bracket.
    pub tolerance: TimeTolerance,
}

/// The earliest event of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct EventInstant {
    /// No function has changed side here.
    pub left: f64,
    /// Some have changed here; at most the tolerance later.
    pub right: f64,
    /// The functions that have changed side at `right`, ascending: simultaneous within the bracket.
    pub changed: Vec<usize>,
    /// All values at `left`.
    pub left_values: Vec<f64>,
    /// All values at `right`.
    pub right_values: Vec<f64>,
}

/// Finds the earliest change of side within a step.
///
/// `sides` says for every function whether it counts as positive at `t_old` (g may be zero there). A function
/// that is on the other side right at `t_old` by more than its being zero changes in the first bracket.
///
/// The step is cut into pieces until on each of them every function either is clear of zero, or is monotone, by bounds
/// of the polynomial through its samples and the error of that polynomial ([`Course`]). What remains undecided below
/// rounding, noise or the tolerance of times is decided by the samples.
///
/// # Errors
/// If a function fails where it has to be evaluated.
pub fn first_event(
    functions: &mut dyn ConditionFunctions,
    (t_old, t_new): (f64, f64),
    sides: &[bool],
    options: &ScanOptions,
) -> Result<Option<EventInstant>, RootError> {
    let count = functions.count();
    assert_eq!(sides.len(), count, "one side for every function");
    if count == 0 || !(t_new > t_old) {
        return Ok(None);
    }
    let mut scan = Scan {
        functions,
        sides,
        options,
        end: t_new,
        cuts: 0,
        noise: Vec::new(),
        told: Vec::new(),
    };
    scan.run(t_old)
}

/// The ends of the pieces into which a step has to be cut so that samples show the courses of all arguments on each of them, the
/// end of the step last. `functions` has arguments only.
///
/// # Errors
/// If an argument fails where it has to be evaluated, or if that many pieces are not affordable.
pub fn told_pieces(
    functions: &mut dyn ConditionFunctions,
    (t_old, t_new): (f64, f64),
    options: &ScanOptions,
) -> Result<Vec<f64>, RootError> {
    assert_eq!(functions.count(), 0, "arguments only");
    let mut scan = Scan {
        functions,
        sides: &[],
        options,
        end: t_new,
        cuts: 0,
        noise: Vec::new(),
        told: Vec::new(),
    };
    scan.run(t_old)?;
    Ok(scan.told)
}

/// Whether three samples of all arguments, at the beginning, in the middle and at the end of a step, show their courses already.
pub fn told_by_three(functions: &dyn ConditionFunctions, samples: [&[f64]; 3]) -> bool {
    let [first, middle, last] = samples;
    let same = first.len() == middle.len() && middle.len() == last.len();
    same && (0..first.len()).all(|i| {
        let samples = [first[i], middle[i], last[i]];
        // What is there at some of the times only lies on another branch.
        let missing = samples.iter().filter(|x| x.is_nan()).count();
        if missing > 0 {
            return missing == samples.len();
        }
        let course = Course::of_three(samples);
        // A parabola that passes zero between samples of one side speaks of a passage that nobody has seen.
        let invents = |side: fn(&f64) -> bool| samples.iter().all(side) && !course.samples().iter().all(side);
        !invents(|x| *x > 0.0) && !invents(|x| *x < 0.0) && functions.cut(i, &course) == Cut::Nowhere
    })
}

#[derive(Clone, Debug, Default)]
struct Sample {
    t: f64,
    values: Vec<f64>,
}

impl Sample {
    /// A function or an argument, if it is there.
    fn value(&self, i: usize) -> f64 {
        self.values.get(i).copied().unwrap_or(f64::NAN)
    }
}

/// What lies between the place reached and a later one.
#[derive(Debug)]
struct Piece {
    t_end: f64,
    end: Option<Sample>,
    /// Into how many equal parts it is to be cut.
    parts: f64,
    halvings: u32,
    /// The function that could not be resolved, and the error of its polynomial, on the piece that this one is a half of.
    untold: Option<(usize, f64)>,
    stalled: u32,
    /// The arguments because of which the pieces were cut that this one is a part of.
    trail: Vec<Cause>,
}

/// An argument because of which a piece was cut, and what it varied by on which width.
#[derive(Clone, Copy, Debug)]
struct Cause {
    argument: usize,
    cut: Cut,
    width: f64,
    variation: f64,
}

/// What samples show about a piece.
enum Verdict {
    /// Nothing, without cutting it further.
    Untold { cut: Placed, cause: Untold },
    /// Everything: each function is clear of zero, monotone, or as far as it can be told.
    Told,
}

/// Why a piece is cut.
#[derive(Clone, Copy, Debug)]
enum Untold {
    /// An argument of a function is not resolved well enough.
    Argument(Cause),
    /// A function and the error of its polynomial.
    Function(usize, f64),
}

/// How the side of one function on a piece is known.
enum Side {
    Known,
    /// With the error of the polynomial.
    Unknown(f64),
}

struct Scan<'a> {
    functions: &'a mut dyn ConditionFunctions,
    sides: &'a [bool],
    options: &'a ScanOptions,
    end: f64,
    cuts: usize,
    /// By how much arguments vary without a course, as far as that was found.
    noise: Vec<f64>,
    /// The ends of the pieces that were resolved.
    told: Vec<f64>,
}

impl Scan<'_> {
    fn run(&mut self, t_old: f64) -> Result<Option<EventInstant>, RootError> {
        let mut reached = self.sample(t_old)?;
        let mut ahead = vec![Piece {
            t_end: self.end,
            end: None,
            parts: 1.0,
            halvings: 0,
            untold: None,
            stalled: 0,
            trail: Vec::new(),
        }];
        while let Some(mut piece) = ahead.pop() {
            if piece.parts >= 2.0 {
                let cut = reached.t + (piece.t_end - reached.t) / piece.parts;
                if cut > reached.t && cut < piece.t_end {
                    let first = Piece {
                        t_end: cut,
                        end: None,
                        parts: 1.0,
                        halvings: piece.halvings,
                        untold: None,
                        stalled: 0,
                        trail: piece.trail.clone(),
                    };
                    piece.parts -= 1.0;
                    ahead.push(std::mem::replace(&mut piece, first));
                }
            }
            let samples = match self.samples(&reached, &piece)? {
                Ok(samples) => samples,
                Err(flipped) => {
                    // The functions are not defined behind the first change of side.
                    ahead.push(Piece {
                        t_end: flipped.t,
                        end: Some(flipped),
                        ..piece
                    });
                    continue;
                }
            };
            match self.verdict(&samples, &piece)? {
                Verdict::Untold { cut, cause } => {
                    if let Placed::Into(parts) = cut
                        && parts > 2.0
                    {
                        let afforded = self.functions.afford(parts);
                        afforded.map_err(|error| RootError::Evaluation { t: reached.t, error })?;
                    }
                    ahead.extend(parts(samples, piece, cut, cause));
                }
                Verdict::Told => match self.first_flipped(&samples) {
                    Some(at) => {
                        let [left, right] = [at - 1, at].map(|at| samples[at].clone());
                        return self.narrow(left, right).map(Some);
                    }
                    None => {
                        let [.., last] = samples;
                        self.told.push(last.t);
                        reached = last;
                    }
                },
            }
        }
        Ok(None)
    }

    /// Samples over a piece. Where an evaluation fails behind a change of side: the sample that shows the change.
    fn samples(&mut self, start: &Sample, piece: &Piece) -> Result<Result<[Sample; SAMPLES], Sample>, RootError> {
        let h = piece.t_end - start.t;
        let mut samples: [Sample; SAMPLES] = std::array::from_fn(|_| Sample::default());
        samples[0] = start.clone();
        for at in 1..SAMPLES {
            let known = piece.end.as_ref().filter(|_| at == SAMPLES - 1);
            let t = match at {
                _ if at == SAMPLES - 1 => piece.t_end,
                _ => (start.t + h * NODES[at]).min(piece.t_end),
            };
            let sample = known.map_or_else(|| self.sample(t), |known| Ok(known.clone()));
            match (sample, self.first_flipped(&samples[..at])) {
                (Ok(sample), _) => samples[at] = sample,
                (Err(_), Some(flipped)) if at > 1 && samples[flipped].t < piece.t_end => {
                    return Ok(Err(samples[flipped].clone()));
                }
                (Err(error), _) => return Err(error),
            }
        }
        Ok(Ok(samples))
    }

    fn verdict(&mut self, samples: &[Sample; SAMPLES], piece: &Piece) -> Result<Verdict, RootError> {
        let [first, .., last] = samples;
        let width = last.t - first.t;
        if width <= self.options.tolerance.at(last.t) || width <= 64.0 * f64::EPSILON * last.t.abs() {
            return Ok(Verdict::Told);
        }
        let course = |i: usize| Course::new(samples.each_ref().map(|sample| sample.value(i)));
        if piece.halvings < MOST_HALVINGS {
            let count = self.sides.len();
            let width = samples.iter().map(|sample| sample.values.len()).max();
            let argument = |i: usize| Course::of_argument(samples.each_ref().map(|sample| sample.value(i)));
            let cuts = (count..width.unwrap_or(count)).map(|i| (i, self.functions.cut(i - count, &argument(i))));
            let mut cuts: Vec<(usize, Cut)> = cuts.filter(|(_, cut)| *cut != Cut::Nowhere).collect();
            cuts.sort_by(|(_, a), (_, b)| b.rank().total_cmp(&a.rank()));
            for (i, cut) in cuts {
                let (least, greatest) = argument(i).range();
                let cause = Cause {
                    argument: i,
                    cut,
                    width: last.t - first.t,
                    variation: greatest - least,
                };
                if self.is_noise(&cause, &piece.trail) {
                    continue;
                }
                let cut = self.placed(i, cut, samples)?;
                let counts = !matches!(cut, Placed::Nowhere) && !matches!(cut, Placed::Into(parts) if parts > 2.0);
                self.cuts += usize::from(counts);
                if !matches!(cut, Placed::Nowhere) && self.cuts <= MOST_CUTS {
                    let cause = Untold::Argument(cause);
                    return Ok(Verdict::Untold { cut, cause });
                }
            }
        }
        let times = samples.each_ref().map(|sample| sample.t);
        for i in 0..self.sides.len() {
            if let Side::Unknown(margin) = self.side(i, &course(i), (piece, &times))
                && self.cuts < MOST_CUTS
            {
                self.cuts += 1;
                return Ok(Verdict::Untold {
                    cut: Placed::Into(2.0),
                    cause: Untold::Function(i, margin),
                });
            }
        }
        Ok(Verdict::Told)
    }

    /// Whether an argument varies without a course: as much as on a far wider piece, or as it was found to do elsewhere.
    fn is_noise(&mut self, cause: &Cause, trail: &[Cause]) -> bool {
        let known = self.noise.get(cause.argument).copied().unwrap_or(0.0);
        let same = |wide: &&Cause| wide.argument == cause.argument && wide.variation * NOISY_SHARE <= cause.variation;
        let (mut steady, mut passages) = (false, 0);
        for wide in trail.iter().filter(same) {
            steady |= wide.width >= NOISY_WIDTH * cause.width;
            passages += usize::from(matches!(cause.cut, Cut::At(_)) && wide.cut == cause.cut);
        }
        if cause.variation > known && (steady || passages >= NOISY_PASSAGES) {
            self.noise.resize(self.noise.len().max(cause.argument + 1), 0.0);
            self.noise[cause.argument] = WITHIN_ROUNDING * cause.variation;
            return true;
        }
        cause.variation <= known
    }

    /// Where a piece is cut. A place at which an argument passes a value is located, on its near side: a function that turns
    /// there would look smooth if the cut fell behind it.
    fn placed(&mut self, argument: usize, cut: Cut, samples: &[Sample; SAMPLES]) -> Result<Placed, RootError> {
        let value = match cut {
            Cut::Nowhere => return Ok(Placed::Nowhere),
            Cut::Into(parts) => return Ok(Placed::Into(parts)),
            Cut::At(value) => value,
        };
        let above = |sample: &Sample| sample.value(argument) > value;
        let passage = samples.windows(2).find(|pair| above(&pair[0]) != above(&pair[1]));
        let Some([left, right]) = passage else {
            return Ok(Placed::Into(2.0));
        };
        let side = [above(left)];
        let mut narrowing = Narrowing {
            left: left.t,
            right: right.t,
            left_values: vec![left.value(argument) - value],
            right_values: vec![right.value(argument) - value],
            sides: &side,
        };
        narrowing.run(self.options.tolerance, |t, values| {
            values[0] = self.sample(t)?.value(argument) - value;
            Ok(())
        })?;
        let (start, end) = (samples[0].t, samples[SAMPLES - 1].t);
        let ends = [narrowing.left, narrowing.right];
        let inside = ends.into_iter().find(|&time| time > start && time < end);
        Ok(inside.map_or(Placed::Nowhere, Placed::At))
    }

    fn side(&self, i: usize, course: &Course, (piece, times): (&Piece, &[f64])) -> Side {
        let (size, margin) = (course.size(), course.margin());
        let reported = course.stays(self.sides[i])
            || !course.is_finite()
            || course.is_monotone()
            || size <= WITHIN_ROUNDING * self.functions.rounding(i, times);
        let noisy = piece.stalled >= STALLED && size <= WITHIN_NOISE * margin;
        if reported || noisy {
            Side::Known
        } else {
            Side::Unknown(margin)
        }
    }

    fn sample(&mut self, t: f64) -> Result<Sample, RootError> {
        let mut values = Vec::new();
        self.functions
            .evaluate(t, &mut values)
            .map_err(|error| RootError::Evaluation { t, error })?;
        Ok(Sample { t, values })
    }

    fn is_flipped(&self, i: usize, value: f64) -> bool {
        (value > 0.0) != self.sides[i]
    }

    fn any_flipped(&self, values: &[f64]) -> bool {
        (0..self.sides.len()).any(|i| self.is_flipped(i, values[i]))
    }

    /// The first sample on another side. The start counts as on the given sides whatever the rounding of g.
    fn first_flipped(&self, samples: &[Sample]) -> Option<usize> {
        (1..samples.len()).find(|&at| self.any_flipped(&samples[at].values))
    }

    fn narrow(&mut self, left: Sample, right: Sample) -> Result<EventInstant, RootError> {
        let mut narrowing = Narrowing {
            left: left.t,
            right: right.t,
            left_values: left.values[..self.sides.len()].to_vec(),
            right_values: right.values[..self.sides.len()].to_vec(),
            sides: self.sides,
        };
        let functions = &mut *self.functions;
        let (count, mut all) = (self.sides.len(), Vec::new());
        // Half the tolerance is left for functions that change right after the first one.
        let half = TimeTolerance {
            ulps: 0.5 * self.options.tolerance.ulps,
            relative: 0.5 * self.options.tolerance.relative,
        };
        narrowing.run(half, |t, values| {
            let evaluated = functions.evaluate(t, &mut all);
            evaluated.map_err(|error| RootError::Evaluation { t, error })?;
            values.copy_from_slice(&all[..count]);
            Ok(())
        })?;
        if self.sides.len() > 1 {
            self.widen(&mut narrowing)?;
        }
        Ok(EventInstant {
            left: narrowing.left,
            right: narrowing.right,
            changed: narrowing.flipped(),
            left_values: narrowing.left_values,
            right_values: narrowing.right_values,
        })
    }

    /// Moves the right end to the full tolerance where more functions have changed there: they are simultaneous,
    /// also if one of them is exactly zero at the end found first.
    fn widen(&mut self, narrowing: &mut Narrowing<'_>) -> Result<(), RootError> {
        let right = (narrowing.left + self.options.tolerance.at(narrowing.left)).min(self.end);
        if right <= narrowing.right {
            return Ok(());
        }
        let probe = self.sample(right)?;
        let changed = narrowing.flipped();
        let stay = changed.iter().all(|&i| self.is_flipped(i, probe.values[i]));
        let all = 0..self.sides.len();
        let count = all.filter(|&i| self.is_flipped(i, probe.values[i])).count();
        if stay && count > changed.len() {
            narrowing.right = right;
            narrowing.right_values = probe.values[..self.sides.len()].to_vec();
        }
        Ok(())
    }
}

impl Cut {
    /// How much it is needed: many parts, then a place.
    fn rank(self) -> f64 {
        match self {
            Cut::Nowhere => 0.0,
            Cut::Into(parts) => parts,
            Cut::At(_) => 1.5,
        }
    }
}

/// A cut in times.
#[derive(Clone, Copy, Debug)]
enum Placed {
    Nowhere,
    Into(f64),
    /// At a time inside the piece.
    At(f64),
}

/// The parts of a piece, the first one last.
fn parts(samples: [Sample; SAMPLES], piece: Piece, cut: Placed, cause: Untold) -> Vec<Piece> {
    let (mut trail, mut untold) = (piece.trail, None);
    match cause {
        Untold::Argument(cause) => trail.push(cause),
        Untold::Function(function, margin) => untold = Some((function, margin)),
    }
    let same = |(i, margin): (usize, f64)| {
        let before = piece.untold.filter(|&(j, _)| i == j);
        before.is_some_and(|(_, before)| margin > STALLED_SHARE * before)
    };
    let stalled = if untold.is_some_and(same) { piece.stalled + 1 } else { 0 };
    let part = |t_end: f64, end: Option<Sample>| Piece {
        t_end,
        end,
        parts: 1.0,
        halvings: piece.halvings + 1,
        untold,
        stalled,
        trail: trail.clone(),
    };
    let middle = samples[MIDDLE].clone();
    let [.., last] = samples;
    let whole = part(last.t, Some(last));
    match cut {
        Placed::At(time) => vec![whole, part(time, None)],
        Placed::Into(parts) if parts > 2.0 => vec![Piece {
            parts: parts.ceil(),
            ..whole
        }],
        _ => vec![whole, part(middle.t, Some(middle))],
    }
}
