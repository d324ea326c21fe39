//! Runs in the hands of the caller: in one go they are what `simulate` gives; saved and restored they go on bit for bit as
//! before; in pieces they keep what the headers of the examples promise.

use std::path::{Path, PathBuf};

use saltus::results::Trajectory;
use saltus::simulate::{Chattering, End, Reached, Zeno};
use saltus::{Model, Run, Session, Stepper};
use saltus_testing::{Random, repository};

fn compiled(path: &Path) -> Model {
    let session = Session::with_libraries(vec![repository().join("library")]);
    session.add_file(path);
    let name = session.find_model(None).into_result().unwrap();
    session.compile(&name).into_result().unwrap()
}

fn text(text: &str) -> Model {
    let session = Session::new();
    session.add_text("M.mo", text);
    session.compile("M").into_result().unwrap()
}

/// Examples with much to remember: impacts, friction, clutches, delays, clocks, sliding, rest, stiff circuits.
const EXAMPLES: [&str; 12] = [
    "MotorAndLoad.mo",
    "mechanics/CupAndBall.mo",
    "mechanics/FrictionBlock.mo",
    "mechanics/TwoBlocks.mo",
    "mechanics/NewtonsCradle.mo",
    "mechanics/BouncingBallRest.mo",
    "electrical/BuckConverter.mo",
    "electrical/DiodeBridge.mo",
    "fluid/HotWaterPipe.mo",
    "control/SampledDataControl.mo",
    "control/SlidingMode.mo",
    "mechanics/BouncingBall.mo",
];

fn examples() -> Vec<(PathBuf, Model)> {
    let files = EXAMPLES.iter().map(|name| repository().join("examples").join(name));
    files.map(|file| (file.clone(), compiled(&file))).collect()
}

fn run(model: &Model) -> Run<'_> {
    model.run().chattering(Chattering::Slide).zeno(Zeno::Rest)
}

fn bits(trajectory: &Trajectory) -> Vec<Vec<u64>> {
    let of = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect();
    let columns = trajectory.schema().ids().map(|id| of(&trajectory.values(id)));
    std::iter::once(of(trajectory.time())).chain(columns).collect()
}

fn assert_same(a: &Trajectory, b: &Trajectory, what: &Path) {
    assert_eq!(a.time(), b.time(), "times of {}", what.display());
    assert!(bits(a) == bits(b), "values of {}", what.display());
    assert_eq!(a.events().len(), b.events().len(), "events of {}", what.display());
}

/// Through all events to a time; then a look at everything.
fn go_to(stepper: &mut Stepper, time: f64) -> Reached {
    stepper.run_to(time).unwrap()
}

#[test]
fn in_one_go_it_is_the_run() {
    for (file, model) in examples() {
        let whole = run(&model).simulate().unwrap();
        let mut stepper = run(&model).stepper().unwrap();
        assert_eq!(go_to(&mut stepper, f64::INFINITY), Reached::End(End::Completed));
        assert_same(&whole.trajectory, stepper.results(), &file);
    }
}

#[test]
fn restored_it_goes_on_bit_for_bit() {
    let mut random = Random(7);
    for (file, model) in examples() {
        let (start, stop) = run(&model).span();
        let mut stepper = run(&model).stepper().unwrap();
        let mut times: Vec<f64> = (0..4).map(|_| random.between(start, stop)).collect();
        times.sort_by(f64::total_cmp);
        let mut saved = Vec::new();
        for &time in &times {
            go_to(&mut stepper, time);
            saved.push(stepper.save());
        }
        go_to(&mut stepper, stop);
        // Back to each of the points, in any order, and on in the same pieces.
        for at in (0..4).map(|_| random.below(4)) {
            let mut again = run(&model).stepper().unwrap();
            again.restore(&saved[at]);
            for &time in &times[at + 1..] {
                go_to(&mut again, time);
            }
            go_to(&mut again, stop);
            assert_same(stepper.results(), again.results(), &file);
        }
    }
}

/// Pieces end steps where the whole run did not: the results are those of another sequence of steps.
#[test]
fn in_pieces_it_agrees_within_the_tolerance() {
    let mut random = Random(11);
    for (file, model) in examples() {
        let (start, stop) = run(&model).span();
        let run = |model| run(model).tolerance(1e-9);
        let mut whole = run(&model).stepper().unwrap();
        let mut pieces = run(&model).stepper().unwrap();
        let mut times: Vec<f64> = (0..9).map(|_| random.between(start, stop)).collect();
        times.sort_by(f64::total_cmp);
        for &time in &times {
            go_to(&mut pieces, time);
            if pieces.time() < time {
                break;
            }
            assert_eq!(pieces.time(), time, "{}", file.display());
        }
        assert_eq!(go_to(&mut pieces, stop), go_to(&mut whole, stop));
        let (a, b) = (whole.results().clone(), pieces.results().clone());
        for id in a.schema().ids() {
            let signal = a.schema().signal(id);
            let (Some(&x), Some(&y)) = (a.values(id).last(), b.values(id).last()) else {
                continue;
            };
            let values = a.values(id);
            let finite = values.iter().filter(|value| value.is_finite());
            let size = finite.fold(0.0_f64, |size, value| size.max(value.abs()));
            let same = x.is_nan() && y.is_nan() || (x - y).abs() <= 1e-4 * size.max(1e-6);
            assert!(same, "{}: {} ends at {x} and at {y}", file.display(), signal.name);
        }
    }
}

/// What is set at times of the caller's choice is what the same signal gives from a table.
#[test]
fn inputs_act_from_the_time_they_are_set() {
    let model = text(
        "model M
           input Real u;
           Real x(start = 0, fixed = true);
           Boolean high = u > 0.5;
           Integer n(start = 0, fixed = true);
         equation
           der(x) = (if high then 2*u else u) - x;
           when high then
             n = pre(n) + 1;
           end when;
         end M;",
    );
    let mut random = Random(3);
    for _ in 0..20 {
        let mut stepper = model.run().stop(10.0).tolerance(1e-10).stepper().unwrap();
        let (mut x, mut n, mut was_high) = (0.0_f64, 0, false);
        let mut time = 0.0;
        for piece in 0..8 {
            let u = random.between(-1.0, 1.5);
            stepper.set_input("u", u).unwrap();
            let length = random.power(-2.0, 0.0);
            stepper.run_to(time + length).unwrap();
            let high = u > 0.5;
            // At the start `when` sees no edge.
            n += i32::from(high && !was_high && piece > 0);
            was_high = high;
            let rest = if high { 2.0 * u } else { u };
            x = rest + (x - rest) * (-length).exp();
            time += length;
            assert!((stepper.value("x").unwrap() - x).abs() < 1e-7, "x at {time}");
            assert_eq!(stepper.value("n"), Some(f64::from(n)), "n at {time}");
            assert_eq!(stepper.value("u"), Some(u));
        }
    }
}

#[test]
fn inputs_of_other_names_are_refused() {
    let model = text("model M input Real u; Real x = 2*u; end M;");
    let mut stepper = model.run().stepper().unwrap();
    let refused = stepper.set_input("v", 1.0).unwrap_err();
    assert!(refused.message.contains("`v`"), "{}", refused.message);
    assert!(refused.help.iter().any(|help| help.contains('u')), "{:?}", refused.help);
    stepper.run_to(f64::INFINITY).unwrap();
    assert!(stepper.set_input("u", 1.0).unwrap_err().message.contains("over"));
}

/// What fails says so, again and again, and the values before it are still there.
#[test]
fn failures_stay() {
    let model = text("model M Real x(start = 1, fixed = true); equation der(x) = -1; assert(x > 0.5, \"low\"); end M;");
    let mut stepper = model.run().stepper().unwrap();
    assert_eq!(stepper.run_to(0.25).unwrap(), Reached::Time);
    let saved = stepper.save();
    let first = stepper.run_to(1.0).unwrap_err();
    assert!(
        first.message.contains("low") || first.notes.iter().any(|note| note.contains("low")),
        "{first:?}"
    );
    assert_eq!(stepper.run_to(1.0).unwrap_err().message, first.message);
    stepper.restore(&saved);
    assert!((stepper.value("x").unwrap() - 0.75).abs() < 1e-9);
}

/// A run moves to another thread with all it needs.
#[test]
fn it_owns_its_model() {
    let mut stepper = {
        let model = text("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;");
        model.run().stop(2.0).stepper().unwrap()
    };
    let value = std::thread::spawn(move || {
        stepper.run_to(1.0).unwrap();
        stepper.value("x").unwrap()
    });
    assert!((value.join().unwrap() - (-1.0_f64).exp()).abs() < 1e-5);
}

/// Matrices of random linear systems with algebraic equations, against elimination by hand: with
/// `der(x) = F x + G z + H u`, `z = P x + Q u + 0.1 R z`, small loops included.
#[test]
fn linear_systems_are_found_again() {
    let mut random = Random(12345);
    let mut random = || random.between(-2.0, 2.0);
    for case in 0..12 {
        let n = 1 + case % 4;
        let (f, g, p): (Vec<f64>, Vec<f64>, Vec<f64>) = (
            (0..n * n).map(|_| random()).collect(),
            (0..n).map(|_| random()).collect(),
            (0..n).map(|_| random()).collect(),
        );
        let (h, q, r, scale) = (random(), random(), random(), 10_f64.powi(case as i32 - 6));
        let sum = |row: usize| -> String { (0..n).map(|j| format!(" + ({})*x{j}", f[row * n + j])).collect() };
        let mut source = format!("model M input Real u; Real z, y = {scale}*z;");
        for i in 0..n {
            source += &format!(" Real x{i}(start = {}, fixed = true);", 0.5 * i as f64 - 0.3);
        }
        source += " equation ";
        for (i, gain) in g.iter().enumerate() {
            source += &format!("der(x{i}) = 0{} + ({gain})*z + ({h})*u;", sum(i));
        }
        let terms: String = (0..n).map(|j| format!(" + ({})*x{j}", p[j])).collect();
        source += &format!("z = 0{terms} + ({q})*u + 0.1*({r})*sin(z); end M;");
        let model = text(&source);
        let mut stepper = model.run().stop(10.0).tolerance(1e-9).stepper().unwrap();
        stepper.set_input("u", 0.25).unwrap();
        stepper.run_to(0.125).unwrap();
        let z = stepper.value("z").unwrap();
        let before = stepper.values(["z", "x0"]).unwrap();
        let linear = stepper.linearize(&["y"]).unwrap();
        assert_eq!(stepper.values(["z", "x0"]).unwrap(), before);
        let slope = 1.0 / (1.0 - 0.1 * r * z.cos());
        let place = |name: &str| linear.states.iter().position(|state| state == name).unwrap();
        let close = |a: f64, b: f64, size: f64| assert!((a - b).abs() < 1e-9 * size.max(1.0), "case {case}: {a} {b}");
        for i in 0..n {
            let row = place(&format!("x{i}"));
            for j in 0..n {
                close(
                    linear.a[row * n + place(&format!("x{j}"))],
                    f[i * n + j] + g[i] * slope * p[j],
                    10.0,
                );
            }
            close(linear.b[row], h + g[i] * slope * q, 10.0);
            close(linear.c[row] / scale, slope * p[i], 10.0);
            close(linear.x[row], stepper.value(&format!("x{i}")).unwrap(), 1.0);
        }
        close(linear.d[0] / scale, slope * q, 10.0);
        let rates = stepper.rates().unwrap();
        assert_eq!(rates.len(), n);
    }
}

/// Each mode has its own states; where there are no four matrices, that is said.
#[test]
fn what_is_linearised_is_the_mode() {
    let model = text(
        "model M
           Real w1(start = 0, fixed = true), w2(start = 10, fixed = true), tau;
         equation
           der(w1) = tau;
           4*der(w2) = -tau;
           if time < 1 then tau = 0; else w1 = w2; end if;
         end M;",
    );
    let mut stepper = model.run().stop(3.0).stepper().unwrap();
    assert_eq!(stepper.linearize(&[]).unwrap().states.len(), 2);
    stepper.run_to(2.0).unwrap();
    assert_eq!(stepper.linearize(&["tau"]).unwrap().states.len(), 1);
    assert!(stepper.linearize(&["nothing"]).is_err());

    let model = text("model M input Real u; Real x = u, v = der(x); end M;");
    let refused = model.run().stepper().unwrap().linearize(&["v"]).unwrap_err();
    assert!(refused.message.contains("derivative of `u`"), "{refused:?}");
    assert!(model.run().stepper().unwrap().linearize(&["x"]).is_ok());

    let model =
        text("model M Real x(start = 1, fixed = true), u; equation u = if x > 0 then -1 else 1; der(x) = u; end M;");
    let run = model.run().stop(3.0).chattering(saltus::simulate::Chattering::Slide);
    let mut stepper = run.stepper().unwrap();
    stepper.run_to(2.0).unwrap();
    assert!(
        stepper
            .linearize(&[])
            .unwrap_err()
            .message
            .contains("switching surface")
    );
    assert!(stepper.rates().unwrap().is_empty());
}
