//! Nonlinear equations from start values that are far from the solution, by many orders of magnitude: what is found is a
//! solution, or the run fails and says so. (Steps of Newton's method that shrink after a first one of a million times the
//! value were taken for convergence: `x*x = 10` with `x(start = 1e-3)` began at 2500. So were those that are small against the
//! size below which all values are alike: `a/x = b` with `x(start = 1e-8)` began at 4e-8.)

use saltus::Session;
use saltus_testing::Random;

/// Equations of `x` and `y`, with their residuals relative to their terms.
struct Case {
    equations: String,
    residuals: Box<dyn Fn(f64, f64) -> [f64; 2]>,
}

fn relative(left: f64, right: f64) -> f64 {
    (left - right).abs() / left.abs().max(right.abs())
}

fn case(random: &mut Random, kind: usize) -> Case {
    let (a, b) = (random.power(-4.0, 4.0), random.power(-2.0, 2.0));
    let follows = move |x: f64, y: f64| relative(y, b * x);
    match kind {
        0 => Case {
            equations: format!("x*x = {a:?} + 0*time; y = {b:?}*x;"),
            residuals: Box::new(move |x, y| [relative(x * x, a), follows(x, y)]),
        },
        1 => Case {
            equations: format!("x^3 + x = {a:?} + 0*time; y = {b:?}*x;"),
            residuals: Box::new(move |x, y| [relative(x.powi(3) + x, a), follows(x, y)]),
        },
        2 => Case {
            equations: format!("exp(x/{b:?}) - 1 + x = {a:?} + 0*time; y = {b:?}*x;"),
            residuals: Box::new(move |x, y| [relative((x / b).exp() - 1.0 + x, a), follows(x, y)]),
        },
        3 => Case {
            equations: format!("x*y = {a:?} + 0*time; x^2 = {b:?}*y;"),
            residuals: Box::new(move |x, y| [relative(x * y, a), relative(x * x, b * y)]),
        },
        4 => Case {
            equations: format!("{a:?}/x = x + {b:?}*y + 0*time; y = x^2;"),
            residuals: Box::new(move |x, y| [relative(a / x, x + b * y), relative(y, x * x)]),
        },
        5 => Case {
            equations: format!("{a:?}/x + 0*time = {b:?}; y = {b:?}*x;"),
            residuals: Box::new(move |x, y| [relative(a / x, b), follows(x, y)]),
        },
        _ => Case {
            equations: format!("{a:?}/(x*x) + 0*time = x + y; y = {b:?}*x;"),
            residuals: Box::new(move |x, y| [relative(a / (x * x), x + y), follows(x, y)]),
        },
    }
}

#[test]
fn what_is_found_from_afar_is_a_solution() {
    let mut random = Random(1);
    let (mut found, mut refused) = (0, 0);
    for number in 0..420 {
        let case = case(&mut random, number % 7);
        let (x, y) = (random.power(-12.0, 8.0), random.power(-12.0, 8.0));
        let text = format!(
            "model M\nReal x(start = {x:?}), y(start = {y:?});\nequation\n{}\nend M;",
            case.equations
        );
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result().expect("it compiles");
        // A start that is not found is told; what is shown must hold.
        let Ok(run) = model.run().stop(1.0).simulate() else {
            refused += 1;
            continue;
        };
        found += 1;
        for row in 0..run.values("x").expect("it is shown").len() {
            let [x, y] = ["x", "y"].map(|name| run.values(name).expect("it is shown")[row]);
            let residuals = (case.residuals)(x, y);
            assert!(
                residuals.iter().all(|residual| *residual <= 1e-9),
                "{number}: x = {x}, y = {y}: {residuals:?}\n{text}"
            );
        }
    }
    assert!(refused <= found / 10, "{refused} of {} are not found", found + refused);
}
