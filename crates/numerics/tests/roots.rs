//! Event location: accuracy, evaluations, several functions, pairs of roots.

use saltus_numerics::EvalError;
use saltus_numerics::ode::{IntegratorOptions, Method, Start, new_integrator};
use saltus_numerics::roots::{ConditionFunctions, Course, Cut, ScanOptions, TimeTolerance, first_event};

mod common;

struct Functions<F> {
    count: usize,
    f: F,
    evaluations: usize,
}

impl<F: FnMut(f64, &mut [f64])> ConditionFunctions for Functions<F> {
    fn count(&self) -> usize {
        self.count
    }
    fn evaluate(&mut self, t: f64, values: &mut Vec<f64>) -> Result<(), EvalError> {
        self.evaluations += 1;
        values.resize(self.count, 0.0);
        (self.f)(t, values);
        Ok(())
    }
}

fn functions<F: FnMut(f64, &mut [f64])>(count: usize, f: F) -> Functions<F> {
    Functions {
        count,
        f,
        evaluations: 0,
    }
}

#[test]
fn roots_are_bracketed_within_the_tolerance_with_few_evaluations() {
    type Case = (&'static str, fn(f64) -> f64, f64);
    let cases: [Case; 6] = [
        ("linear", |t| t - 0.3, 0.3),
        ("cubic", |t| (t - 0.7).powi(3), 0.7),
        ("steep", |t| (50.0 * (t - 0.2)).tanh(), 0.2),
        ("falling", |t| 0.5 - t * t, 0.5f64.sqrt()),
        ("jump", |t| if t < 0.123 { -1.0 } else { 1.0 }, 0.123),
        ("flat", |t| (t - 0.9).powi(9) * 1e-9, 0.9),
    ];
    for (name, g, root) in cases {
        let evaluations = std::cell::Cell::new(0);
        let mut counted = functions(1, |t, values| {
            evaluations.set(evaluations.get() + 1);
            values[0] = g(t);
        });
        let sides = [g(0.0) > 0.0];
        let bracket = first_event(&mut counted, (0.0, 1.0), &sides, &ScanOptions::default());
        let bracket = bracket.unwrap().expect("a root");
        let evaluations = evaluations.get();
        assert!(
            bracket.right - bracket.left <= TimeTolerance::default().at(1.0),
            "{name}: {bracket:?}"
        );
        assert!(
            (bracket.left - root).abs() < 3e-12 || name == "flat" || name == "cubic",
            "{name}: {bracket:?}"
        );
        assert!((g(bracket.left) > 0.0) != (g(bracket.right) > 0.0), "{name}");
        // Bisection alone needs 40; flat functions are looked at more closely before.
        if name == "linear" || name == "falling" {
            assert!(evaluations <= 30, "{name}: {evaluations} evaluations");
        }
    }
}

#[test]
fn the_earliest_of_several_is_found_and_simultaneous_ones_together() {
    let mut g = functions(4, |t, v| {
        v[0] = t - 0.6;
        v[1] = 0.25 - t;
        v[2] = 3.0 * (t - 0.25);
        v[3] = 1.0;
    });
    let event = first_event(&mut g, (0.0, 1.0), &[false, true, false, true], &ScanOptions::default())
        .unwrap()
        .unwrap();
    assert_eq!(event.changed, [1, 2]);
    assert!((event.right - 0.25).abs() < 3e-12);
    assert!(event.left < event.right && event.left_values[1] > 0.0);
}

#[test]
fn two_events_in_one_sample_interval_come_one_after_the_other() {
    let g = |t: f64, v: &mut [f64]| {
        v[0] = t - 0.501;
        v[1] = t - 0.5001;
    };
    let options = ScanOptions::default();
    let first = first_event(&mut functions(2, g), (0.0, 1.0), &[false, false], &options)
        .unwrap()
        .unwrap();
    assert_eq!(first.changed, [1]);
    let second = first_event(&mut functions(2, g), (first.right, 1.0), &[false, true], &options)
        .unwrap()
        .unwrap();
    assert_eq!(second.changed, [0]);
}

#[test]
fn zero_at_the_start_is_on_the_side_given() {
    // A ball that leaves the ground: h(0) = 0 and rises, comes back at t = 1.
    let ball = |t: f64, v: &mut [f64]| v[0] = t * (1.0 - t);
    let options = ScanOptions::default();
    let event = first_event(&mut functions(1, ball), (0.0, 2.0), &[true], &options)
        .unwrap()
        .unwrap();
    assert!((event.right - 1.0).abs() < 1e-11, "{event:?}");
    // Rounding below zero at the start does not matter either.
    let noisy = |t: f64, v: &mut [f64]| v[0] = t * (1.0 - t) - 1e-17;
    let event = first_event(&mut functions(1, noisy), (0.0, 2.0), &[true], &options)
        .unwrap()
        .unwrap();
    assert!((event.right - 1.0).abs() < 1e-11, "{event:?}");
    // But if it really leaves the side at once, the event is at the start.
    let falling = |t: f64, v: &mut [f64]| v[0] = -t;
    let event = first_event(&mut functions(1, falling), (0.0, 2.0), &[true], &options)
        .unwrap()
        .unwrap();
    assert!(event.right <= 1e-11, "{event:?}");
}

#[test]
fn fast_pairs_of_crossings_are_found_and_near_misses_are_not() {
    let options = ScanOptions::default();
    for center in [0.03, 0.2, 0.37, 0.5, 0.66, 0.81, 0.97] {
        // Dips below zero for less than a hundredth of the step.
        let dip = |t: f64, v: &mut [f64]| v[0] = (t - center) * (t - center) - 2e-5;
        let event = first_event(&mut functions(1, dip), (0.0, 1.0), &[true], &options).unwrap();
        let event = event.unwrap_or_else(|| panic!("missed the dip at {center}"));
        assert!((event.right - (center - 2e-5f64.sqrt())).abs() < 1e-10, "{event:?}");
        let miss = |t: f64, v: &mut [f64]| v[0] = (t - center) * (t - center) + 2e-5;
        assert_eq!(
            first_event(&mut functions(1, miss), (0.0, 1.0), &[true], &options).unwrap(),
            None
        );
        // From below as well.
        let peak = |t: f64, v: &mut [f64]| v[0] = 2e-5 - (t - center) * (t - center);
        let event = first_event(&mut functions(1, peak), (0.0, 1.0), &[false], &options)
            .unwrap()
            .unwrap();
        assert!((event.right - (center - 2e-5f64.sqrt())).abs() < 1e-10, "{event:?}");
    }
}

#[test]
fn fast_oscillations_within_one_step_are_found() {
    let options = ScanOptions::default();
    for periods in [1.0, 2.0, 4.0, 7.5, 16.0, 23.0] {
        // Below zero for a tenth of every period only.
        let lowest = 0.5 - (0.95f64).acos() / (2.0 * std::f64::consts::PI);
        let g = |t: f64, v: &mut [f64]| v[0] = 0.95 + (2.0 * std::f64::consts::PI * periods * t).cos();
        let event = first_event(&mut functions(1, g), (0.0, 1.0), &[true], &options).unwrap();
        let event = event.unwrap_or_else(|| panic!("missed with {periods} periods"));
        let phase = (event.right * periods).fract();
        assert!(
            (phase - lowest).abs() < 1e-9,
            "{periods} periods: {phase} instead of {lowest}"
        );
    }
}

#[test]
fn a_step_without_events_costs_the_samples_only() {
    let mut g = functions(1, |t, v| v[0] = 1.0 + t);
    let options = ScanOptions::default();
    assert_eq!(first_event(&mut g, (0.0, 1.0), &[true], &options).unwrap(), None);
    assert_eq!(g.evaluations, 6);
    let mut none = functions(0, |_, _| {});
    assert_eq!(first_event(&mut none, (0.0, 1.0), &[], &options).unwrap(), None);
}

/// A condition on a function that bends where one of its arguments is zero; the other arguments are noise about zero.
struct Bent<'a> {
    g: &'a dyn Fn(f64) -> f64,
    argument: &'a dyn Fn(f64) -> f64,
    noisy: usize,
    noise: f64,
    evaluations: usize,
}

impl ConditionFunctions for Bent<'_> {
    fn count(&self) -> usize {
        1
    }
    fn evaluate(&mut self, t: f64, values: &mut Vec<f64>) -> Result<(), EvalError> {
        self.evaluations += 1;
        values.clear();
        values.push((self.g)(t));
        for k in 0..self.noisy as u64 {
            let mixed = (t.to_bits() ^ (k << 40)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            values.push(self.noise * (mixed % 5) as f64 - 2.0 * self.noise);
        }
        values.push((self.argument)(t));
        Ok(())
    }
    fn cut(&self, _: usize, course: &Course) -> Cut {
        let (least, greatest) = course.range();
        match course.places_of(0.0).next() {
            _ if least >= 0.0 || greatest <= 0.0 => Cut::Nowhere,
            Some(place) if place > 1e-9 && place < 1.0 - 1e-9 => Cut::At(0.0),
            Some(_) => Cut::Nowhere,
            None => Cut::Into(2.0),
        }
    }
}

#[test]
fn noise_is_not_followed_and_hides_nothing() {
    let options = ScanOptions::default();
    for (case, noisy) in [0, 1, 2, 5].into_iter().enumerate() {
        for noise in [1e-300, 1e-16, 1e-9, 1e3] {
            // A peak at the bend that is a ten-thousandth of the step wide: seen because the bend is looked for.
            let middle = 0.137 + 0.211 * case as f64;
            let (g, argument) = (
                |t: f64| 1.0 - 1e4 * (t - middle).abs(),
                |t: f64| (t - middle) * (2.0 + t * t),
            );
            let mut bent = Bent {
                g: &g,
                argument: &argument,
                noisy,
                noise,
                evaluations: 0,
            };
            let event = first_event(&mut bent, (0.0, 1.0), &[false], &options).unwrap();
            let event = event.unwrap_or_else(|| panic!("missed with noise of {noise} in {noisy} arguments"));
            assert!((event.right - (middle - 1e-4)).abs() < 1e-10, "{event:?}");
            let most = 200 + 600 * noisy;
            assert!(bent.evaluations < most, "{noisy}: {} evaluations", bent.evaluations);
        }
    }
}

#[test]
fn events_on_dense_output_are_accurate_at_tight_tolerance() {
    // cos t crosses zero at π/2, 3π/2, …; times within 1e-7 are asked for at rtol 1e-10.
    for method in [Method::Auto, Method::Dop853, Method::Radau] {
        let mut system = common::oscillator();
        let mut run = new_integrator(method, IntegratorOptions::new(1e-10, 1e-10)).unwrap();
        run.restart(&mut system, &Start::at(0.0, &[1.0, 0.0])).unwrap();
        let (mut side, mut found) = (vec![true], 0);
        while run.time() < 20.0 {
            let step = run.step(&mut system, 20.0).unwrap();
            let mut y = [0.0; 2];
            let mut from = step.t_old;
            loop {
                let mut g = functions(1, |t, v: &mut [f64]| {
                    run.interpolate(t, &mut y);
                    v[0] = y[0];
                });
                let Some(event) = first_event(&mut g, (from, step.t), &side, &ScanOptions::default()).unwrap() else {
                    break;
                };
                let exact = (f64::from(found) + 0.5) * std::f64::consts::PI;
                assert!(
                    (event.right - exact).abs() < 1e-8,
                    "{method}: {} against {exact}",
                    event.right
                );
                found += 1;
                side[0] = !side[0];
                from = event.right;
            }
        }
        assert_eq!(found, 6);
    }
}
