//! A rope between two bodies gets tight with a speed that is a small part of theirs, and is slack again at once because the bodies
//! are pulled apart no longer: an instant in which momentum is exchanged. However small the speed is, the run goes on, momentum
//! is conserved and afterwards the rope gets no longer. (Between a hundred-thousandth and a thousandth of the speeds, what the rope
//! balances counted as nothing, and the speed that it left counted: no mode was consistent.)

use saltus::Session;
use saltus_testing::Random;

#[test]
fn ropes_snatch_by_any_amount() {
    let mut random = Random::named("small snatches");
    for number in 0..120 {
        let (m1, m2) = (random.power(-1.0, 1.0), random.power(-1.0, 1.0));
        let (speed, length) = (random.power(-2.0, 2.0), random.power(-1.0, 1.0));
        let closing = speed * random.power(-6.5, -0.5);
        // So far that the rope is tight after a while, and bodies that are pushed together weakly.
        let (gap, push) = (closing * random.between(0.05, 0.5), closing * random.power(-3.0, -1.0));
        let direction = if random.chance(50) { 1.0 } else { -1.0 };
        let text = format!(
            "model M
              Real x1(start = {:?}, fixed = true), v1(start = {:?}, fixed = true),
                x2(start = 0, fixed = true), v2(start = {:?}, fixed = true), f, s;
              Boolean tight;
            equation
              der(x1) = v1; der(x2) = v2;
              {m1:?}*der(v1) = -f - {push:?}; {m2:?}*der(v2) = f;
              tight = s > 0;
              s = if tight then f else x1 - x2 - {length:?};
              0 = if tight then x1 - x2 - {length:?} else f;
            end M;",
            length - gap,
            direction * speed + closing,
            direction * speed
        );
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result();
        let model = model.unwrap_or_else(|diagnostics| panic!("{number}: {diagnostics:?}"));
        let tolerance = random.of(&[1e-4, 1e-6, 1e-8]);
        let run = model.run().stop(1.0).tolerance(tolerance).simulate();
        let run = run.unwrap_or_else(|failed| panic!("{number}: {:?}\n{text}", failed.diagnostic()));
        let last = |name: &str| {
            run.values(name)
                .and_then(|values| values.last().copied())
                .expect("it is shown")
        };
        let momentum = m1 * last("v1") + m2 * last("v2");
        let wanted = m1 * (direction * speed + closing - push / m1) + m2 * direction * speed;
        let error = 1e-6 * (m1 + m2) * speed + tolerance * (m1 + m2) * speed;
        assert!(
            (momentum - wanted).abs() <= error,
            "{number}: {momentum} instead of {wanted}\n{text}"
        );
        let longest = run.values("x1").expect("it is shown");
        let other = run.values("x2").expect("it is shown");
        let beyond = longest
            .iter()
            .zip(other.iter())
            .map(|(x1, x2)| x1 - x2 - length)
            .fold(0.0, f64::max);
        assert!(
            beyond <= 10.0 * tolerance * (length + speed),
            "{number}: longer by {beyond}\n{text}"
        );
    }
}
