//! Delayed signals that change at events only, and lines whose ends repeat each other.

use saltus::{Method, Session};
use saltus_testing::Random;

/// A counter that is delayed by a time much shorter than its period; what a gate sees of it is a whole number.
fn counter(period: f64, delay: f64, first: i64, step: i64) -> String {
    format!(
        "model M Integer n(start = {first}, fixed = true); Real r, s; Integer y; Real z(start = 0, fixed = true); equation \
           r = 2*s; s = pre(n); y = integer(delay(r, {delay:?})); der(z) = delay(s + 1, {delay:?}); \
           when sample({period:?}, {period:?}) then n = pre(n) + ({step}); end when; \
         end M;"
    )
}

#[test]
fn what_changes_at_events_comes_out_of_a_delay_as_it_went_in() {
    let mut random = Random(7);
    for _ in 0..40 {
        let period = random.power(-3.0, 3.0);
        let delay = period * random.power(-5.0, -0.5);
        let (first, step) = (random.below(9) as i64 - 4, random.below(5) as i64 - 2);
        let text = counter(period, delay, first, step);
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result().expect("compiles");
        // In the middle between the third tick and the fourth.
        let run = model
            .run()
            .stop(3.5 * period)
            .interval(period)
            .simulate()
            .expect("runs");
        let last = |name: &str| {
            run.values(name)
                .and_then(|values| values.last().copied())
                .expect("known")
        };
        assert_eq!(last("y"), 2.0 * (first + 3 * step) as f64, "{text}");
        let passed = |k: i64| (first + k * step + 1) as f64;
        let full =
            period * (passed(0) + passed(1) + passed(2)) + delay * (passed(0) - passed(3)) + 0.5 * period * passed(3);
        let size = period * (first.abs() + 3 * step.abs() + 1) as f64;
        assert!(
            (last("z") - full).abs() < 1e-6 * size,
            "{} instead of {full}: {text}",
            last("z")
        );
        // Each tick comes out once, and what comes out makes some more breaks; the delay is no limit of steps.
        let counters = run.summary.report.counters;
        assert!(counters.steps < 400, "{} steps: {text}", counters.steps);
    }
}

/// Lines without losses in a row between a source with a resistance and a load: waves are repeated at both ends.
fn lines(count: usize, [voltage, source, load, impedance, delay]: [f64; 5]) -> String {
    format!(
        "model M constant Integer n = {count}; Real v1[n], v2[n], i1[n], i2[n], es[n], er[n]; equation \
           for k in 1:n loop \
             i1[k] = (v1[k] - es[k])/{impedance:?}; i2[k] = (v2[k] - er[k])/{impedance:?}; \
             es[k] = 2*delay(v2[k], {delay:?}) - delay(er[k], {delay:?}); \
             er[k] = 2*delay(v1[k], {delay:?}) - delay(es[k], {delay:?}); \
           end for; \
           for k in 1:n - 1 loop v2[k] = v1[k + 1]; i2[k] + i1[k + 1] = 0; end for; \
           {voltage:?} - {source:?}*i1[1] = v1[1]; v2[n] = -{load:?}*i2[n]; \
         end M;"
    )
}

#[test]
fn lines_begin_at_rest() {
    let mut random = Random(19);
    for count in [1, 1, 1, 2, 2, 3, 4] {
        let [voltage, source, load, impedance] = [(); 4].map(|()| random.power(-1.0, 2.0));
        let delay = random.power(-4.0, -1.0);
        let text = lines(count, [voltage, source, load, impedance, delay]);
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result().expect("compiles");
        let run = model.run().stop(20.0 * delay).solver(Method::Auto).simulate();
        let run = run.unwrap_or_else(|failed| panic!("{:?}: {text}", failed.diagnostic()));
        let expected = voltage * load / (source + load);
        for value in run.values("v2[1]").expect("known").iter() {
            assert!(
                (value - expected).abs() < 1e-7 * voltage,
                "{value} instead of {expected}: {text}"
            );
        }
    }
}
