//! From rows to curves: steps, jumps, gaps, and no more points than can be seen.

use std::ops::Range;

use crate::Trajectory;

use super::group::Prepared;

/// With more jumps than this, dashed lines for each are only clutter: the curve is drawn through.
const MOST_JUMPS: usize = 200;
/// A jump smaller than this part of the axis is no jump to the eye.
const SMALLEST_JUMP: f64 = 1e-3;

/// What is shown of time, and how finely.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    pub time_range: (f64, f64),
    pub logarithmic: bool,
    /// Columns of pixels.
    pub resolution: usize,
    /// Rows that matter.
    pub window: Range<usize>,
}

impl Scale {
    pub(super) fn pixel(&self, time: f64) -> f64 {
        share(time, self.time_range, self.logarithmic) * self.resolution as f64
    }
}

/// How far along an axis a value is: 0 at its beginning, 1 at its end.
pub(super) fn share(value: f64, (start, stop): (f64, f64), logarithmic: bool) -> f64 {
    if !logarithmic {
        return (value - start) / (stop - start);
    }
    // What a logarithmic axis cannot show lies before its beginning.
    let share = (value.max(f64::MIN_POSITIVE) / start).ln() / (stop / start).ln();
    share.max(-1.0)
}

/// How a curve goes from point to point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Straight lines.
    Line,
    /// Holds its value, then steps.
    Step,
}

/// A jump of a curve at an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// From: time, or what stands for it, and value.
    pub left: (f64, f64),
    /// To.
    pub right: (f64, f64),
}

/// One curve, in the unit of its axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name of the signal.
    pub name: String,
    /// What the legend says: the name, with its unit where the axis has none.
    pub label: String,
    /// Its description.
    pub description: String,
    /// Position in the palette.
    pub color: usize,
    /// How it goes from point to point; the points of a step curve already hold both ends of each step.
    pub shape: Shape,
    /// Pieces without gaps or jumps: (time, value).
    pub pieces: Vec<Vec<(f64, f64)>>,
    /// Jumps between pieces.
    pub jumps: Vec<Jump>,
    /// Impulses: time, order, weight.
    pub impulses: Vec<(f64, u32, f64)>,
    /// Unit of its values, as models write it.
    pub unit: String,
    /// Whether it belongs to another result, drawn over the first.
    pub is_other: bool,
}

pub(super) fn curve(
    trajectory: &Trajectory,
    prepared: &Prepared<'_>,
    scale: &Scale,
    range: (f64, f64),
    color: usize,
) -> Curve {
    let signal = trajectory.schema().signal(prepared.id);
    let shape = if signal.kind.is_step() {
        Shape::Step
    } else {
        Shape::Line
    };
    let threshold = SMALLEST_JUMP * (range.1 - range.0);
    let mut tracer = Tracer::new(shape, threshold);
    trace(&mut tracer, trajectory.time(), prepared, scale);
    if tracer.jumps.len() > MOST_JUMPS {
        tracer = Tracer::new(shape, f64::INFINITY);
        trace(&mut tracer, trajectory.time(), prepared, scale);
    }
    let (pieces, jumps) = tracer.finish();
    let pieces = bridge_small_gaps(pieces, scale);
    let pieces = pieces.into_iter().map(|piece| thin(piece, scale)).collect();
    let (start, stop) = scale.time_range;
    let factor = prepared.conversion.factor;
    let impulses = super::impulses(trajectory, prepared.id)
        .into_iter()
        .filter(|&(time, ..)| (start..=stop).contains(&time))
        .map(|(time, order, weight)| (time, order, factor * weight))
        .collect();
    let (name, description) = (prepared.name.to_owned(), signal.description.clone());
    let label = name.clone();
    Curve {
        name,
        label,
        description,
        color,
        shape,
        pieces,
        jumps,
        impulses,
        unit: prepared.unit.clone(),
        is_other: false,
    }
}

/// A curve over another signal than time: the plane of two signals. Rows of one event are joined by a dashed line.
pub(super) fn portrait(
    trajectory: &Trajectory,
    (x, y): (&Prepared<'_>, &Prepared<'_>),
    window: &Range<usize>,
    color: usize,
) -> Curve {
    let (mut pieces, mut jumps, mut piece) = (Vec::new(), Vec::new(), Vec::<(f64, f64)>::new());
    for row in window.clone() {
        let here = (x.value(row), y.value(row));
        let is_finite = here.0.is_finite() && here.1.is_finite();
        let jumped = row > window.start && trajectory.time()[row] == trajectory.time()[row - 1];
        if jumped || !is_finite {
            if let Some(&left) = piece.last()
                && is_finite
                && left != here
                && jumps.len() < MOST_JUMPS
            {
                jumps.push(Jump { left, right: here });
            }
            pieces.extend((!piece.is_empty()).then(|| std::mem::take(&mut piece)));
        }
        if is_finite {
            piece.push(here);
        }
    }
    pieces.extend((!piece.is_empty()).then_some(piece));
    let signal = trajectory.schema().signal(y.id);
    Curve {
        name: y.name.to_owned(),
        label: y.name.to_owned(),
        description: signal.description.clone(),
        color,
        shape: Shape::Line,
        pieces,
        jumps,
        impulses: Vec::new(),
        unit: y.unit.clone(),
        is_other: false,
    }
}

fn trace(tracer: &mut Tracer, time: &[f64], prepared: &Prepared<'_>, scale: &Scale) {
    for row in scale.window.clone() {
        tracer.push(time[row], prepared.value(row));
    }
}

struct Tracer {
    shape: Shape,
    threshold: f64,
    pieces: Vec<Vec<(f64, f64)>>,
    piece: Vec<(f64, f64)>,
    jumps: Vec<Jump>,
}

impl Tracer {
    fn new(shape: Shape, threshold: f64) -> Self {
        Self {
            shape,
            threshold,
            pieces: Vec::new(),
            piece: Vec::new(),
            jumps: Vec::new(),
        }
    }

    fn push(&mut self, time: f64, value: f64) {
        if !value.is_finite() {
            return self.end_piece();
        }
        let Some(&(before, held)) = self.piece.last() else {
            return self.piece.push((time, value));
        };
        match self.shape {
            Shape::Step if value == held => {
                // Only the ends of a stretch matter.
                if let [.., (_, earlier), last] = self.piece.as_mut_slice()
                    && *earlier == value
                {
                    last.0 = time;
                    return;
                }
            }
            Shape::Step if time > before => self.piece.push((time, held)),
            Shape::Step => {}
            Shape::Line if time == before && (value - held).abs() > self.threshold => {
                self.jumps.push(Jump {
                    left: (before, held),
                    right: (time, value),
                });
                self.end_piece();
            }
            Shape::Line => {}
        }
        self.piece.push((time, value));
    }

    fn end_piece(&mut self) {
        if !self.piece.is_empty() {
            self.pieces.push(std::mem::take(&mut self.piece));
        }
    }

    fn finish(mut self) -> (Vec<Vec<(f64, f64)>>, Vec<Jump>) {
        self.end_piece();
        (self.pieces, self.jumps)
    }
}

/// Gaps narrower than a pixel cannot be seen; with many of them they are closed so that the picture stays small.
fn bridge_small_gaps(pieces: Vec<Vec<(f64, f64)>>, scale: &Scale) -> Vec<Vec<(f64, f64)>> {
    if pieces.len() <= 2 * MOST_JUMPS {
        return pieces;
    }
    let mut result: Vec<Vec<(f64, f64)>> = Vec::new();
    for piece in pieces {
        let close = |last: &&mut Vec<(f64, f64)>| match (last.last(), piece.first()) {
            (Some(end), Some(start)) => scale.pixel(start.0) - scale.pixel(end.0) < 1.0,
            _ => false,
        };
        match result.last_mut().filter(close) {
            Some(last) => last.extend(piece),
            None => result.push(piece),
        }
    }
    result
}

/// At most four points per column of pixels: first, lowest, highest, last, so that no extreme is lost.
fn thin(piece: Vec<(f64, f64)>, scale: &Scale) -> Vec<(f64, f64)> {
    if piece.len() <= 4 {
        return piece;
    }
    let mut result = Vec::new();
    let mut rest = piece.as_slice();
    while let Some(first) = rest.first() {
        let column = scale.pixel(first.0).floor();
        let length = rest
            .iter()
            .position(|p| scale.pixel(p.0).floor() != column)
            .unwrap_or(rest.len())
            .max(1);
        let (bin, others) = rest.split_at(length);
        rest = others;
        push_extremes(bin, &mut result);
    }
    result
}

fn push_extremes(bin: &[(f64, f64)], result: &mut Vec<(f64, f64)>) {
    if bin.len() <= 4 {
        return result.extend_from_slice(bin);
    }
    let by_value = |a: &usize, b: &usize| bin[*a].1.total_cmp(&bin[*b].1);
    let lowest = (0..bin.len()).min_by(by_value).unwrap_or(0);
    let highest = (0..bin.len()).max_by(by_value).unwrap_or(0);
    let mut kept = [0, lowest, highest, bin.len() - 1];
    kept.sort_unstable();
    let mut previous = None;
    for index in kept {
        if previous.replace(index) != Some(index) {
            result.push(bin[index]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(points: usize) -> Scale {
        Scale {
            time_range: (0.0, 1.0),
            logarithmic: false,
            resolution: 100,
            window: 0..points,
        }
    }

    #[test]
    fn thinning_keeps_extremes() {
        let mut points: Vec<(f64, f64)> = (0..100_000)
            .map(|k| (f64::from(k) / 100_000.0, f64::from(k % 17)))
            .collect();
        points[54_321].1 = 1000.0;
        points[77_777].1 = -1000.0;
        let thinned = thin(points.clone(), &scale(points.len()));
        assert!(thinned.len() <= 404, "{}", thinned.len());
        assert!(thinned.contains(&points[54_321]) && thinned.contains(&points[77_777]));
        assert_eq!((thinned.first(), thinned.last()), (points.first(), points.last()));
        assert!(thinned.is_sorted_by_key(|p| p.0));
    }

    #[test]
    fn gaps_and_jumps() {
        let mut tracer = Tracer::new(Shape::Line, 0.01);
        for (time, value) in [
            (0.0, 1.0),
            (1.0, 2.0),
            (1.0, 5.0),
            (2.0, 6.0),
            (2.5, f64::NAN),
            (3.0, 1.0),
        ] {
            tracer.push(time, value);
        }
        let (pieces, jumps) = tracer.finish();
        assert_eq!(
            pieces,
            [
                vec![(0.0, 1.0), (1.0, 2.0)],
                vec![(1.0, 5.0), (2.0, 6.0)],
                vec![(3.0, 1.0)]
            ]
        );
        assert_eq!(
            jumps,
            [Jump {
                left: (1.0, 2.0),
                right: (1.0, 5.0)
            }]
        );
    }

    #[test]
    fn steps_hold_their_value() {
        let mut tracer = Tracer::new(Shape::Step, 0.0);
        for (time, value) in [(0.0, 1.0), (0.5, 1.0), (1.0, 1.0), (1.0, 2.0), (3.0, 4.0)] {
            tracer.push(time, value);
        }
        assert_eq!(
            tracer.finish().0,
            [vec![(0.0, 1.0), (1.0, 1.0), (1.0, 2.0), (3.0, 2.0), (3.0, 4.0)]]
        );
    }
}
