//! How much work runs do: evaluations, iterations, factorisations and looks for events are counts, the same on every machine,
//! where times are not.

use saltus::Session;
use saltus::results::RowKind;
use saltus_testing::{Random, repository};

/// What an example may take: steps, evaluations, factorisations, Newton iterations, looks for events, restarts.
const EXAMPLES: [(&str, [u64; 6]); 10] = [
    ("MotorAndLoad", [32, 482, 0, 0, 0, 3]),
    ("basics/Robertson", [103, 847, 118, 177, 0, 1]),
    ("electrical/BuckConverter", [157, 950, 0, 0, 825, 61]),
    ("electrical/DiodeBridge", [74, 490, 0, 0, 741, 24]),
    ("electrical/TransistorAmplifier", [1154, 7378, 0, 0, 0, 0]),
    ("fluid/HotWaterPipe", [24, 146, 0, 0, 126, 3]),
    ("mechanics/DoublePendulum", [149, 1069, 0, 0, 0, 1]),
    ("mechanics/FrictionBlock", [81, 489, 0, 0, 525, 8]),
    ("mechanics/TowingRope", [34, 206, 0, 0, 187, 3]),
    ("thermal/HeatEquation", [15, 103, 14, 9, 0, 1]),
];

/// Other work than that of the table is a change to be looked at; a little of it is the choice of another pivot.
const SHARE: f64 = 1.1;
const FEW: u64 = 4;

#[test]
fn examples_take_no_more_work_than_they_did() {
    let root = repository();
    let mut wrong = Vec::new();
    for (example, most) in EXAMPLES {
        let session = Session::with_libraries(vec![root.join("library")]);
        session.add_file(root.join(format!("examples/{example}.mo")));
        let name = session.find_model(None).into_result().unwrap();
        let model = session.compile(&name).into_result().unwrap();
        let counters = model.run().simulate().unwrap().summary.report.counters;
        let found = [
            counters.steps,
            counters.evaluations,
            counters.factorisations,
            counters.newton_iterations,
            counters.samples,
            counters.restarts,
        ];
        let allowed = |most: u64| (SHARE * most as f64) as u64 + FEW;
        if found.iter().zip(most).any(|(&found, most)| found > allowed(most)) {
            wrong.push(format!("(\"{example}\", {found:?}) instead of {most:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What an iteration inside of a function leaves of its residual is noise. It must neither be taken for something that turns
/// within a step, nor hide where the condition changes.
#[test]
fn residuals_of_iterations_inside_functions_cost_no_looks() {
    let mut random = Random(16);
    for _ in 0..24 {
        let (scale, height) = (random.power(-3.0, 4.0), random.power(-0.5, 0.5));
        let level = random.between(0.1, 0.5) * height;
        let states = random.below(2) == 0;
        let text = format!(
            "function root\n  input Real a; output Real x;\nprotected\n  Real off, s = {scale:?}; Integer n = 0;\nalgorithm\n  \
             x := a/s; off := x + x^3 - a/s;\n  while abs(off) > 1e-14*abs(a/s) and n < 30 loop\n    \
             x := x - off/(1 + 3*x^2); off := x + x^3 - a/s; n := n + 1;\n  end while;\n  x := s*x;\nend root;\n\
             model M\n  Real y, u; Integer n(start = 0, fixed = true);{}\nequation\n  u = {height:?}*{scale:?}*sin(time);\n  \
             y = root(u);{}\n  when y > {level:?}*{scale:?} then n = pre(n) + 1; end when;\nend M;\n",
            if states {
                " Real z(start = 0, fixed = true);"
            } else {
                ""
            },
            if states { " der(z) = y - z;" } else { "" },
        );
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result().unwrap();
        let simulation = model.run().stop(10.0).interval(10.0).simulate().unwrap();
        // y = level where u = level + level³, in parts of the scale.
        let sine = (level + level.powi(3)) / height;
        let mut expected = Vec::new();
        if sine < 1.0 {
            let (pi, first) = (std::f64::consts::PI, sine.asin());
            expected.extend([first, pi - first, 2.0 * pi + first, 3.0 * pi - first]);
        }
        expected.retain(|time| *time < 10.0);
        let trajectory = &simulation.trajectory;
        let rows = (0..trajectory.rows()).filter(|&row| trajectory.kinds()[row] == RowKind::EventRight);
        let times: Vec<f64> = rows.map(|row| simulation.time()[row]).collect();
        assert_eq!(times.len(), expected.len(), "{times:?} instead of {expected:?}: {text}");
        for (time, expected) in times.iter().zip(&expected) {
            assert!((time - expected).abs() < 1e-7, "{time} instead of {expected}: {text}");
        }
        let counters = simulation.summary.report.counters;
        let most = 14 * counters.steps + 100 * counters.events + 100;
        assert!(
            counters.samples <= most,
            "{} > {most}, {counters:?}: {text}",
            counters.samples
        );
    }
}
