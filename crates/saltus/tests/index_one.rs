//! Modes written as models of index 1 have the solutions of the modes: on families of pendulums, drives and linear systems of
//! higher index.

use saltus::analysis::{AnalysisOptions, Coverage};
use saltus::{Session, Simulation};
use saltus_testing::Random;

fn session(text: &str) -> Session {
    let session = Session::new();
    session.add_text("M.mo", text);
    session
}

fn run(text: &str, name: &str) -> Simulation {
    let session = session(text);
    let model = session.compile(name);
    let model = model.value.unwrap_or_else(|| panic!("{:?}\n{text}", model.diagnostics));
    match model.run().stop(0.4).tolerance(1e-9).simulate() {
        Ok(simulation) => simulation,
        Err(failed) => panic!("{failed}\n{text}"),
    }
}

/// The first mode as a model of its own.
fn written(text: &str) -> String {
    let model = session(text).compile("M").into_result().expect("a sound model");
    let analysis = model.analyze(&AnalysisOptions {
        coverage: Coverage::Initial,
        index_one: true,
        ..AnalysisOptions::default()
    });
    let form = analysis.modes[0].index_one.clone().expect("asked for");
    form.unwrap_or_else(|reason| panic!("{reason}\n{text}"))
}

/// The index that structure gives a model in its first mode.
fn index(text: &str, name: &str) -> u16 {
    let model = session(text).compile(name).into_result().expect("a sound model");
    let analysis = model.analyze(&AnalysisOptions {
        coverage: Coverage::Initial,
        ..AnalysisOptions::default()
    });
    analysis.modes[0].structure.as_ref().expect("a regular mode").index
}

/// How high the index was.
fn compare(text: &str, variables: &[String]) -> u16 {
    let form = written(text);
    let before = index(text, "M");
    assert!(index(&form, "M_mode0") <= 1, "{form}");
    let (direct, other) = (run(text, "M"), run(&form, "M_mode0"));
    for name in variables {
        let last = |simulation: &Simulation| {
            let signal = simulation
                .trajectory
                .signal(name)
                .unwrap_or_else(|| panic!("no {name} in\n{form}"));
            *signal.values.last().expect("rows")
        };
        let (a, b) = (last(&direct), last(&other));
        assert!(
            (a - b).abs() <= 1e-5 * (1.0 + a.abs()),
            "{name}: {a} and {b}\n{text}\n{form}"
        );
    }
    before
}

/// Pendulums that are coupled by the forces in their rods.
fn pendulums(random: &mut Random) -> (String, Vec<String>) {
    let n = 1 + random.below(2);
    let (mut declared, mut equations, mut names) = (String::new(), String::new(), Vec::new());
    for k in 0..n {
        let angle = random.between(-1.0, 1.0);
        let (x, y) = (angle.sin(), -angle.cos());
        declared += &format!(
            "  Real x{k}(start = {x}, fixed = true), y{k}(start = {y}), u{k}(start = 0, fixed = true), v{k}, f{k};\n"
        );
        let (nx, ny) = if k + 1 < n {
            (format!(" + f{0}*x{0}", k + 1), format!(" + f{0}*y{0}", k + 1))
        } else {
            (String::new(), String::new())
        };
        equations += &format!("  der(x{k}) = u{k}; der(y{k}) = v{k};\n");
        equations += &format!("  der(u{k}) = -f{k}*x{k}{nx}; der(v{k}) = -f{k}*y{k}{ny} - 9.81;\n");
        equations += &format!("  x{k}^2 + y{k}^2 = 1;\n");
        names.extend([format!("x{k}"), format!("y{k}")]);
    }
    (format!("model M\n{declared}equation\n{equations}end M;\n"), names)
}

/// Inertias whose speeds are tied by gears.
fn drive(random: &mut Random) -> (String, Vec<String>) {
    let n = 2 + random.below(3);
    let (mut declared, mut equations, mut names) = (String::new(), String::new(), Vec::new());
    for k in 0..n {
        let fixed = if k == 0 { "start = 1, fixed = true" } else { "start = 0" };
        declared += &format!("  Real w{k}({fixed}), t{k};\n");
        let next = if k + 1 < n {
            format!(" - t{}", k + 1)
        } else {
            String::new()
        };
        equations += &format!("  {}*der(w{k}) = t{k}{next} - 0.3*w{k};\n", random.between(0.5, 3.0));
        if k == 0 {
            equations += "  t0 = sin(3*time);\n";
        } else {
            equations += &format!("  w{k} = {}*w{};\n", random.between(0.5, 2.0), k - 1);
        }
        names.push(format!("w{k}"));
    }
    (format!("model M\n{declared}equation\n{equations}end M;\n"), names)
}

/// A chain of integrators whose end is given.
fn inverse(random: &mut Random) -> (String, Vec<String>) {
    let n = 2 + random.below(3);
    let mut names: Vec<String> = (0..n).map(|k| format!("x{k}")).collect();
    let mut equations = format!(
        "  x0 = sin({}*time) + 0.1*z;\n  der(z) = 1 - z;\n",
        random.between(0.5, 2.0)
    );
    for k in 1..n {
        let bend = random.between(0.0, 0.3);
        equations += &format!("  der(x{}) = x{k} + {bend}*x{}^2;\n", k - 1, k - 1);
    }
    let all = names.join(", ");
    // The last one has no derivative: it is that of its integral.
    names.pop();
    (
        format!("model M\n  Real {all}, z(start = 0, fixed = true);\nequation\n{equations}end M;\n"),
        names,
    )
}

#[test]
fn the_form_has_the_solution_of_the_mode() {
    let mut random = Random(31);
    let mut highest = 0;
    for draw in 0..36 {
        let (text, names) = match draw % 3 {
            0 => pendulums(&mut random),
            1 => drive(&mut random),
            _ => inverse(&mut random),
        };
        highest = highest.max(compare(&text, &names));
    }
    assert!(highest >= 4, "{highest}");
}

#[test]
fn functions_are_not_left_out_silently() {
    let text = "model M
  function f input Real x; output Real y; algorithm y := 1; for i in 1:3 loop y := y*x; end for; end f;
  Real x(start = 1, fixed = true);
equation
  der(x) = -f(x);
end M;";
    let model = session(text).compile("M").into_result().expect("a sound model");
    let analysis = model.analyze(&AnalysisOptions {
        coverage: Coverage::Initial,
        index_one: true,
        ..AnalysisOptions::default()
    });
    match analysis.modes[0].index_one.as_ref().expect("asked for") {
        // Small functions become expressions.
        Ok(form) => assert!(form.contains("x*"), "{form}"),
        Err(reason) => assert!(reason.contains("function"), "{reason}"),
    }
}
