//! Models stated in Rust.

use saltus::Session;
use saltus::analysis::AnalysisOptions;
use saltus::mdae::Builder;

#[test]
fn cup_and_ball_without_text() {
    let m = Builder::new("CupAndBall");
    let (x, y) = (m.state("x", 0.6), m.state("y", -0.6));
    let (lambda, s) = (m.unknown("lambda"), m.unknown("s"));
    let tight = s.le(&m.real(0.0));
    m.equation("e1", x.der().der() + &lambda * &x);
    m.equation("e2", y.der().der() + &lambda * &y + 9.81);
    let slack = 1.0 - &x * &x - &y * &y;
    m.equation_if(&tight, "k1", slack.clone());
    m.equation_if(&tight, "k2", &lambda + &s);
    m.equation_if(&!&tight, "k3", lambda.clone());
    m.equation_if(&!&tight, "k4", slack - &s);
    let session = Session::new();
    let model = session.compile_equations(m.finish().unwrap()).into_result().unwrap();
    let text = model.analyze(&AnalysisOptions::default()).to_text(model.sources());
    assert!(text.contains("`der(x)` and `der(y)` may jump; `lambda` and `s` are impulsive (order 1)"));
    let simulation = model.run().stop(1.0).simulate().unwrap();
    // Free fall from y = −0.6 until the rope is tight at y = −0.8; the radial velocity is lost there.
    let time = (2.0 * 0.2 / 9.81_f64).sqrt();
    let events = simulation.trajectory.events();
    assert!(
        events.iter().any(|event| (event.time - time).abs() < 1e-6),
        "{events:?}"
    );
    let x = simulation.values("x").unwrap();
    let y = simulation.values("y").unwrap();
    let (x, y) = (x.last().unwrap(), y.last().unwrap());
    assert!((x * x + y * y - 1.0).abs() < 1e-6, "{x}, {y}");
}
