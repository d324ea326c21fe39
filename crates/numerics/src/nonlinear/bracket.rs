//! The root of one equation between a point where it is too large and one where it is too small.
//!
//! Newton's method goes to and fro at a root of infinite slope (x → −x for `sign(x)*sqrt(abs(x))`) and has no step where the slope is
//! zero. A change of sign needs no slope.

/// Distance of the first points that are looked at, in parts of the size of the unknown.
const FIRST: f64 = 1e-4;
/// How often this distance is doubled.
const DOUBLINGS: u32 = 48;
/// Width of the bracket at the end, in parts of the size of the unknown: the root of it is below the rounding error.
const WIDTH: f64 = 1e-32;
/// Evaluations within a bracket; bisection alone reaches rounding with fewer.
const EVALUATIONS: u32 = 240;
/// At a root residuals shrink by this at least; at a pole or a jump they do not.
const SHRINKS: f64 = 1e-3;

/// A point and the residual there.
#[derive(Copy, Clone, Debug)]
struct Point {
    x: f64,
    f: f64,
}

/// The root of `f` nearest to a guess, as far as it can be told from points at doubled distances on both sides; `size` is what is
/// neither large nor small for x. None if f does not change its sign, or does so by a jump. Where f is undefined at the guess, zero
/// takes its place: roots and logarithms end there.
pub fn nearest_root(mut f: impl FnMut(f64) -> f64, guess: f64, size: f64) -> Option<f64> {
    let mut here = Point { x: guess, f: f(guess) };
    if !here.f.is_finite() {
        here = Point { x: 0.0, f: f(0.0) };
    }
    if here.f == 0.0 {
        return Some(here.x);
    }
    let (a, b) = change_of_sign(&mut f, here, size)?;
    let largest = a.f.abs().max(b.f.abs());
    let (a, b) = narrowed(&mut f, (a, b), size);
    let (nearer, other) = if a.f.abs() <= b.f.abs() { (a, b) } else { (b, a) };
    (nearer.f == 0.0 || other.f.abs() <= SHRINKS * largest).then_some(nearer.x)
}

/// The nearest points between which the sign changes. A side ends where the equation is undefined.
fn change_of_sign(f: &mut impl FnMut(f64) -> f64, here: Point, size: f64) -> Option<(Point, Point)> {
    let mut sides = [(1.0, Some(here)), (-1.0, Some(here))];
    let mut distance = FIRST * here.x.abs().max(size);
    for _ in 0..DOUBLINGS {
        for (direction, last) in &mut sides {
            let Some(before) = *last else { continue };
            let x = here.x + *direction * distance;
            let next = Point { x, f: f(x) };
            if before.f.is_finite() && next.f.is_finite() && (before.f > 0.0) != (next.f > 0.0) {
                return Some((before, next));
            }
            *last = next.f.is_finite().then_some(next);
        }
        distance *= 2.0;
    }
    None
}

/// Regula falsi with the end that stays counted less (Illinois), and a bisection where that is slow.
fn narrowed(f: &mut impl FnMut(f64) -> f64, (mut a, mut b): (Point, Point), size: f64) -> (Point, Point) {
    let (mut weight_a, mut weight_b) = (1.0, 1.0);
    let mut width = f64::INFINITY;
    for evaluation in 0..EVALUATIONS {
        let middle = a.x + 0.5 * (b.x - a.x);
        let now = (b.x - a.x).abs();
        if now <= WIDTH * size || middle == a.x || middle == b.x {
            break;
        }
        let bisects = evaluation % 3 == 2 && now > 0.25 * width;
        if evaluation % 3 == 2 {
            width = now;
        }
        let (from_a, from_b) = (weight_a * a.f, weight_b * b.f);
        let secant = a.x + (b.x - a.x) * (from_a / (from_a - from_b));
        let is_between = (secant > a.x.min(b.x)) && (secant < a.x.max(b.x));
        let x = if bisects || !is_between { middle } else { secant };
        let next = Point { x, f: f(x) };
        if next.f == 0.0 {
            return (next, next);
        }
        if !next.f.is_finite() {
            break;
        }
        if (next.f > 0.0) == (a.f > 0.0) {
            (a, weight_a, weight_b) = (next, 1.0, 0.5 * weight_b);
        } else {
            (b, weight_b, weight_a) = (next, 1.0, 0.5 * weight_a);
        }
    }
    (a, b)
}

#[cfg(test)]
mod tests {
    use super::nearest_root;

    fn odd_root(x: f64) -> f64 {
        x.signum() * x.abs().sqrt()
    }

    #[test]
    fn slopes_may_be_zero_or_infinite_at_the_root() {
        for power in -9..10 {
            let size = 10f64.powi(power);
            for at in [0.0, 1e-9, -0.3, 7.0] {
                let root = at * size;
                for guess in [0.0, 0.9, -20.0] {
                    let found = nearest_root(|x| odd_root(x - root), guess * size, size);
                    assert!(
                        found.is_some_and(|x| (x - root).abs() <= 1e-15 * root.abs() + 1e-30 * size),
                        "{found:?} for {root}"
                    );
                    let found = nearest_root(|x| (x - root) * (x - root).abs(), guess * size, size);
                    assert!(
                        found.is_some_and(|x| (x - root).abs() <= 1e-15 * root.abs().max(size)),
                        "{found:?} for {root}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_nearest_of_several_is_found() {
        let f = |x: f64| (x - 1.0) * (x - 2.0) * (x + 3.0);
        for (guess, root) in [(0.9, 1.0), (1.9, 2.0), (-2.5, -3.0), (50.0, 2.0)] {
            let found = nearest_root(f, guess, 1.0);
            assert!(
                found.is_some_and(|x| (x - root).abs() < 1e-14),
                "{found:?} from {guess}"
            );
        }
    }

    #[test]
    fn poles_and_jumps_are_no_roots() {
        assert_eq!(nearest_root(|x| 1.0 / (x - 0.3), 0.1, 1.0), None);
        assert_eq!(nearest_root(|x| if x > 0.3 { 1.0 } else { -1e-9 }, 0.1, 1.0), None);
        assert_eq!(nearest_root(|x| x * x + 1.0, 0.1, 1.0), None);
        assert_eq!(nearest_root(|x| (x - 1.0).sqrt() + 1.0, 3.0, 1.0), None);
        assert_eq!(nearest_root(|_| f64::NAN, 3.0, 1.0), None);
    }

    #[test]
    fn an_undefined_guess_is_replaced() {
        let found = nearest_root(|x| x.powf(2.0 / 3.0) - 1e-16, -7e-23, 1.0);
        assert!(found.is_some_and(|x| (x - 1e-24).abs() < 1e-32), "{found:?}");
    }

    #[test]
    fn effort_is_bounded() {
        let mut evaluations = 0;
        let mut counted = |x: f64| {
            evaluations += 1;
            odd_root(x - 0.123_456_789)
        };
        assert!(nearest_root(&mut counted, 0.0, 1.0).is_some());
        assert!(evaluations <= 150, "{evaluations}");
    }
}
