//! Interpolation tables: the data behind one- and two-dimensional table blocks.
//!
//! Everything but constant and linear interpolation is a cubic Hermite spline: [`slopes`] finds the derivatives at the
//! points once, and a look-up yields the polynomial in force at its arguments ([`Piece`]), which can then be evaluated
//! for any kind of number. The rules are those of the C sources of the Modelica Standard Library 4.1
//! (`ModelicaStandardTables.c`).

mod slopes;

use serde::{Deserialize, Serialize};

/// How values between the points are found.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Smoothness {
    /// Linear between neighbouring points.
    Linear,
    /// The value of the point at or before.
    Constant,
    /// Continuous first derivative: Akima (1970), for two arguments Akima (1974).
    Akima,
    /// Continuous first derivative: Akima's method with weights that avoid overshoot and undefined slopes.
    ModifiedAkima,
    /// Continuous first derivative, monotone where the points are: Fritsch and Butland (1984).
    FritschButland,
    /// Continuous first derivative, monotone where the points are: Steffen (1990).
    Steffen,
}

/// What happens outside the points.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Extrapolation {
    /// The value of the nearest point.
    Hold,
    /// Along the tangent at the end (for constant and linear interpolation: the line through the last two points).
    Tangent,
    /// The table repeats.
    Periodic,
    /// A look-up outside the points fails.
    Forbidden,
}

/// A table of one or two arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Points", into = "Points")]
pub struct Table {
    x: Vec<f64>,
    y: Vec<f64>,
    values: Vec<f64>,
    smoothness: Smoothness,
    extrapolation: Extrapolation,
    /// Derivatives at the points by the first argument, by the second, and by both; empty where they are not needed.
    slopes: [Vec<f64>; 3],
}

/// What a table is made from.
#[derive(Clone, Serialize, Deserialize)]
struct Points {
    x: Vec<f64>,
    y: Vec<f64>,
    values: Vec<f64>,
    smoothness: Smoothness,
    extrapolation: Extrapolation,
}

impl From<Table> for Points {
    fn from(table: Table) -> Self {
        Points {
            x: table.x,
            y: table.y,
            values: table.values,
            smoothness: table.smoothness,
            extrapolation: table.extrapolation,
        }
    }
}

impl TryFrom<Points> for Table {
    type Error = &'static str;

    fn try_from(points: Points) -> Result<Self, Self::Error> {
        let ascending = |x: &[f64]| x.iter().all(|x| x.is_finite()) && x.is_sorted();
        let wanted = points.x.len().checked_mul(points.y.len().max(1));
        if points.x.is_empty() || wanted != Some(points.values.len()) {
            return Err("a table with another number of values than points");
        }
        if !ascending(&points.x) || !ascending(&points.y) {
            return Err("a table whose points do not ascend");
        }
        let Points {
            x,
            y,
            values,
            smoothness,
            extrapolation,
        } = points;
        Ok(Table::new(x, y, values, smoothness, extrapolation))
    }
}

/// A look-up outside the points of a table that forbids it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Outside {
    /// The argument, from 0.
    pub argument: usize,
    /// Its value.
    pub value: f64,
    /// The abscissa at the end it is beyond.
    pub limit: f64,
}

/// A polynomial in the distances of the arguments from a point: the table near its arguments.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Piece {
    /// The point.
    origin: [f64; 2],
    /// The highest powers.
    degree: [usize; 2],
    /// `[i][j]` belongs to the `i`-th power of the first and the `j`-th of the second distance.
    coefficients: [[f64; 4]; 4],
}

impl Table {
    /// A table of one argument: ascending abscissae (equal neighbours mark a jump; for splines they must differ) with
    /// one value each.
    pub fn of_one(x: Vec<f64>, values: Vec<f64>, smoothness: Smoothness, extrapolation: Extrapolation) -> Self {
        Table::new(x, Vec::new(), values, smoothness, extrapolation)
    }

    /// A table of one or, if `y` is not empty, two arguments; then the values are `x` by `y`, row by row. Splines of two
    /// arguments are Akima's whatever the kind.
    pub fn new(
        x: Vec<f64>,
        y: Vec<f64>,
        values: Vec<f64>,
        smoothness: Smoothness,
        extrapolation: Extrapolation,
    ) -> Self {
        let is_spline = !matches!(smoothness, Smoothness::Linear | Smoothness::Constant);
        let (smoothness, slopes) = if is_spline && x.len().max(y.len()) <= 2 {
            (Smoothness::Linear, Default::default())
        } else if !is_spline {
            (smoothness, Default::default())
        } else if y.is_empty() {
            let along = slopes::along(&x, &values, smoothness);
            (smoothness, [along, Vec::new(), Vec::new()])
        } else {
            (smoothness, slopes::surface(&x, &y, &values))
        };
        Table {
            x,
            y,
            values,
            smoothness,
            extrapolation,
            slopes,
        }
    }

    /// The number of arguments.
    pub fn arguments(&self) -> usize {
        if self.y.is_empty() { 1 } else { 2 }
    }

    /// A point strictly between two values of an argument, about in the middle of those there are. Where the table
    /// repeats, the ends of its periods and the points within one are such.
    pub fn point_between(&self, argument: usize, least: f64, greatest: f64) -> Option<f64> {
        let points = if argument == 0 { &self.x } else { &self.y };
        let between = |least: f64, greatest: f64| {
            let first = points.partition_point(|&x| x <= least);
            let end = points.partition_point(|&x| x < greatest);
            (first < end).then(|| points[(first + end) / 2])
        };
        let (&begin, &end) = (points.first()?, points.last()?);
        if self.extrapolation != Extrapolation::Periodic || end <= begin {
            return between(least, greatest);
        }
        let period = end - begin;
        let (first, last) = (((least - begin) / period).floor(), ((greatest - begin) / period).ceil());
        if last - first > 1.0 {
            let middle = begin + (0.5 * (first + last)).round() * period;
            return Some(middle).filter(|&x| x > least && x < greatest);
        }
        let shift = first * period;
        between(least - shift, greatest - shift).map(|x| x + shift)
    }

    /// The value at the argument(s).
    pub fn interpolate(&self, args: &[f64]) -> Result<f64, Outside> {
        let piece = self.piece(args)?;
        Ok(piece.evaluate(args, |value| value, |a, b| a + b, |a, b| a * b))
    }

    /// The polynomial in force at the argument(s).
    pub fn piece(&self, args: &[f64]) -> Result<Piece, Outside> {
        let smoothness = self.smoothness_at(args);
        let along_x = self.axis(&self.x, args[0], 0, smoothness)?;
        if self.y.is_empty() {
            let mut coefficients = [[0.0; 4]; 4];
            let line = along_x.expand(&|i| self.values[i], &|i| self.slope(0, i));
            for (row, coefficient) in coefficients.iter_mut().zip(line) {
                row[0] = coefficient;
            }
            return Ok(Piece {
                origin: [along_x.origin, 0.0],
                degree: [along_x.degree(), 0],
                coefficients,
            });
        }
        let along_y = self.axis(&self.y, args[1], 1, smoothness)?;
        let columns = self.y.len();
        // Values and slopes across, as polynomials in x, at the columns that matter.
        let value = |j: usize| along_x.expand(&|i| self.values[i * columns + j], &|i| self.slope(0, i * columns + j));
        let across =
            |j: usize| along_x.expand(&|i| self.slope(1, i * columns + j), &|i| self.slope(2, i * columns + j));
        let coefficients = std::array::from_fn(|power| along_y.expand(&|j| value(j)[power], &|j| across(j)[power]));
        Ok(Piece {
            origin: [along_x.origin, along_y.origin],
            degree: [along_x.degree(), along_y.degree()],
            coefficients,
        })
    }

    /// Beyond the end of one argument a surface of constant pieces is bilinear, inside the other one too.
    fn smoothness_at(&self, args: &[f64]) -> Smoothness {
        let outside = |x: &[f64], u: f64| x.first().is_some_and(|&a| u < a) || x.last().is_some_and(|&b| u > b);
        let bilinear = self.smoothness == Smoothness::Constant
            && self.extrapolation == Extrapolation::Tangent
            && (outside(&self.x, args[0]) || !self.y.is_empty() && outside(&self.y, args[1]));
        if bilinear { Smoothness::Linear } else { self.smoothness }
    }

    fn slope(&self, kind: usize, point: usize) -> f64 {
        self.slopes[kind].get(point).copied().unwrap_or(0.0)
    }

    /// Where an argument lies, and what the table is along it there.
    fn axis(&self, x: &[f64], u: f64, argument: usize, smoothness: Smoothness) -> Result<Axis, Outside> {
        let n = x.len();
        let (first, last) = (x[0], x[n - 1]);
        let hold = |point: usize| Axis {
            origin: x[point],
            kind: AxisKind::Hold(point),
        };
        if n == 1 {
            return Ok(hold(0));
        }
        let mut turns = 0.0;
        if u < first || u > last {
            let end = if u < first { 0 } else { n - 1 };
            match self.extrapolation {
                Extrapolation::Hold => return Ok(hold(end)),
                Extrapolation::Forbidden => {
                    return Err(Outside {
                        argument,
                        value: u,
                        limit: x[end],
                    });
                }
                Extrapolation::Tangent => return Ok(self.tangent(x, end)),
                Extrapolation::Periodic => turns = ((u - first) / (last - first)).floor(),
            }
        }
        let shift = turns * (last - first);
        let i = interval(x, u - shift);
        let width = x[i + 1] - x[i];
        let kind = match smoothness {
            Smoothness::Constant if u - shift >= last => AxisKind::Hold(n - 1),
            Smoothness::Constant => AxisKind::Hold(i),
            // A jump: the value behind it.
            Smoothness::Linear if width == 0.0 => AxisKind::Hold(i + 1),
            Smoothness::Linear => AxisKind::Line { point: i, width },
            _ => AxisKind::Cubic { point: i, width },
        };
        Ok(Axis {
            origin: x[i] + shift,
            kind,
        })
    }

    fn tangent(&self, x: &[f64], end: usize) -> Axis {
        if !matches!(self.smoothness, Smoothness::Linear | Smoothness::Constant) {
            let (origin, kind) = (x[end], AxisKind::Tangent(end));
            return Axis { origin, kind };
        }
        let point = end.saturating_sub(1);
        let width = x[point + 1] - x[point];
        let kind = if width == 0.0 {
            AxisKind::Hold(end)
        } else {
            AxisKind::Line { point, width }
        };
        let origin = x[point];
        Axis { origin, kind }
    }
}

/// The interval [x_i, x_{i+1}) that holds `u`; the last one for points at or past the end.
fn interval(x: &[f64], u: f64) -> usize {
    let last = x.len().saturating_sub(2);
    x.partition_point(|&point| point <= u).saturating_sub(1).min(last)
}

/// What a table is along one argument: polynomials in the distance from `origin`.
struct Axis {
    origin: f64,
    kind: AxisKind,
}

enum AxisKind {
    /// The value of a point.
    Hold(usize),
    /// The line through a point and the next.
    Line { point: usize, width: f64 },
    /// The tangent at a point.
    Tangent(usize),
    /// The cubic polynomial with the values and slopes of a point and the next.
    Cubic { point: usize, width: f64 },
}

impl Axis {
    fn degree(&self) -> usize {
        match self.kind {
            AxisKind::Hold(_) => 0,
            AxisKind::Line { .. } | AxisKind::Tangent(_) => 1,
            AxisKind::Cubic { .. } => 3,
        }
    }

    /// Coefficients by power of a function known by its values and slopes at the points.
    fn expand(&self, value: &dyn Fn(usize) -> f64, slope: &dyn Fn(usize) -> f64) -> [f64; 4] {
        match self.kind {
            AxisKind::Hold(point) => [value(point), 0.0, 0.0, 0.0],
            AxisKind::Line { point, width } => {
                let start = value(point);
                [start, (value(point + 1) - start) / width, 0.0, 0.0]
            }
            AxisKind::Tangent(point) => [value(point), slope(point), 0.0, 0.0],
            AxisKind::Cubic { point, width } => {
                let (start, s0, s1) = (value(point), slope(point), slope(point + 1));
                let chord = (value(point + 1) - start) / width;
                let square = (3.0 * chord - 2.0 * s0 - s1) / width;
                let cube = (s0 + s1 - 2.0 * chord) / (width * width);
                [start, s0, square, cube]
            }
        }
    }
}

impl Piece {
    /// The value, for numbers of any kind.
    pub fn evaluate<N: Clone>(
        &self,
        args: &[N],
        constant: impl Fn(f64) -> N,
        plus: impl Fn(&N, &N) -> N,
        times: impl Fn(&N, &N) -> N,
    ) -> N {
        let distance = |k: usize| plus(&args[k], &constant(-self.origin[k]));
        let row = |i: usize| {
            let coefficients = &self.coefficients[i];
            let mut sum = constant(coefficients[self.degree[1]]);
            for j in (0..self.degree[1]).rev() {
                sum = plus(&times(&sum, &distance(1)), &constant(coefficients[j]));
            }
            sum
        };
        let mut sum = row(self.degree[0]);
        if self.degree[0] > 0 {
            let along = distance(0);
            for i in (0..self.degree[0]).rev() {
                sum = plus(&times(&sum, &along), &row(i));
            }
        }
        sum
    }
}
