//! Derivatives in results: where a variable is a state in some modes and follows from others elsewhere, `der(x)` is how fast it
//! changes in all of them, and how often rows are written changes nothing.

use saltus::Session;
use saltus_testing::Random;

/// x rises at a constant rate between `at` and the next change, and elsewhere is a product, a sum or a power of functions of time,
/// through a chain of other variables.
struct Course {
    text: String,
    changes: [f64; 2],
    slope: f64,
    amplitude: f64,
    frequency: f64,
    gain: f64,
}

impl Course {
    fn random(random: &mut Random) -> Self {
        let changes = [random.between(0.2, 0.6), random.between(1.0, 1.6)];
        let slope = random.between(-3.0, 3.0);
        let (amplitude, frequency) = (random.power(-6.0, 6.0), random.between(0.5, 5.0));
        let gain = random.between(0.5, 2.0);
        let [from, to] = changes;
        let mut equations = [
            format!("if time >= {from:?} and time < {to:?} then der(x) = {slope:?}; else x = {gain:?}*a*b; end if;"),
            format!("a = {amplitude:?}*sin({frequency:?}*time);"),
            "b = 1 + c^2;".to_owned(),
            "c - time = 0;".to_owned(),
        ];
        equations.swap(random.below(4), random.below(4));
        equations.swap(random.below(4), random.below(4));
        let text = format!(
            "model M\n  Real x, a, b, c;\nequation\n  {}\nend M;",
            equations.join("\n  ")
        );
        Course {
            text,
            changes,
            slope,
            amplitude,
            frequency,
            gain,
        }
    }

    fn rate(&self, time: f64) -> f64 {
        if time >= self.changes[0] && time < self.changes[1] {
            return self.slope;
        }
        let (sine, cosine) = (self.frequency * time).sin_cos();
        self.gain * self.amplitude * (self.frequency * cosine * (1.0 + time * time) + sine * 2.0 * time)
    }
}

#[test]
fn derivatives_are_those_of_the_mode() {
    let mut random = Random(3);
    for number in 0..24 {
        let course = Course::random(&mut random);
        let session = Session::new();
        session.add_text("M.mo", &course.text);
        let model = session.compile("M").into_result();
        let model = model.unwrap_or_else(|diagnostics| panic!("{number}: {diagnostics:?}\n{}", course.text));
        let simulated = |interval: f64| {
            let run = model.run().stop(2.0).interval(interval).simulate();
            run.unwrap_or_else(|failed| panic!("{number}: {:?}\n{}", failed.diagnostic(), course.text))
        };
        let (coarse, fine) = (simulated(1.0), simulated(0.0625));
        let rates = fine.values("der(x)").expect("x has a derivative");
        let tolerance = 1e-9 * (course.amplitude * 20.0 + 3.0);
        for (&time, &rate) in fine.time().iter().zip(rates.iter()) {
            let at_change = course.changes.iter().any(|change| (time - change).abs() < 1e-9);
            let expected = course.rate(time);
            assert!(
                at_change || (rate - expected).abs() <= tolerance,
                "{number}: der(x) at {time} = {rate} instead of {expected}\n{}",
                course.text
            );
        }
        let ends = [&coarse, &fine].map(|run| run.values("x").and_then(|values| values.last().copied()));
        assert_eq!(ends[0], ends[1], "{number}: rows change the run\n{}", course.text);
    }
}
