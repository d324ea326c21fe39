//! The public API as programs use it.

use std::cell::Cell;
use std::rc::Rc;

use saltus::results::{Schema, Signal, Trajectory};
use saltus::simulate::{Cancel, End, EventReport, Observer};
use saltus::{Fault, Method, Model, Session};

fn compiled(text: &str) -> Model {
    let session = Session::new();
    session.add_text("M.mo", text);
    let name = session.find_model(None).into_result().unwrap();
    session.compile(&name).into_result().unwrap()
}

const BALL: &str = "
model Ball
  parameter Real e = 0.5;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -10;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
end Ball;
";

#[derive(Default)]
struct Counter {
    steps: Rc<Cell<u32>>,
    events: Rc<Cell<u32>>,
    cancel: Option<Cancel>,
}

impl Observer for Counter {
    fn progress(&mut self, _: f64) {
        self.steps.set(self.steps.get() + 1);
    }
    fn event(&mut self, event: &EventReport) {
        if event.time > 0.0 {
            self.events.set(self.events.get() + 1);
            if let Some(cancel) = &self.cancel {
                cancel.cancel();
            }
        }
    }
}

#[test]
fn runs_are_observed_and_cancelled() {
    let model = compiled(BALL);
    let counter = Counter::default();
    let (steps, events) = (Rc::clone(&counter.steps), Rc::clone(&counter.events));
    let simulation = model.run().stop(1.0).observe(counter).simulate().unwrap();
    assert_eq!(events.get(), 2);
    assert!(steps.get() > 2);
    assert_eq!(simulation.summary.end(), Some(&End::Completed));

    let cancel = Cancel::new();
    let counter = Counter {
        cancel: Some(cancel.clone()),
        ..Counter::default()
    };
    let simulation = model
        .run()
        .stop(1.0)
        .cancel(cancel)
        .observe(counter)
        .simulate()
        .unwrap();
    assert_eq!(simulation.summary.end(), Some(&End::Cancelled));
    let last = *simulation.time().last().unwrap();
    assert!((last - 0.2_f64.sqrt()).abs() < 1e-6, "{last}");
}

#[test]
fn a_failed_run_has_its_results() {
    let failed = compiled(BALL).run().stop(9.0).simulate().unwrap_err();
    assert_eq!(failed.diagnostic().unwrap().code, saltus::source::codes::E0604);
    assert!(failed.to_string().contains("h <= 0"));
    assert!(failed.simulation.time().len() > 10);
}

#[test]
fn threads_share_a_model() {
    let model = compiled(BALL);
    let heights = |e: f64| {
        let run = model.run().stop(1.0).set("e", &e.to_string()).unwrap();
        run.simulate().unwrap().values("h").unwrap().into_owned()
    };
    let expected: Vec<Vec<f64>> = [0.4, 0.5, 0.6].into_iter().map(heights).collect();
    let found: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let threads = [0.4, 0.5, 0.6].map(|e| scope.spawn(move || heights(e)));
        threads.map(|thread| thread.join().unwrap()).into_iter().collect()
    });
    assert_eq!(found, expected);
    assert_ne!(found[0], found[1]);
}

#[test]
fn inputs_are_interpolated_and_may_jump() {
    let model = compiled("model M input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end M;");
    let schema = Schema::new(vec![Signal::new("u"), Signal::new("other")]).unwrap();
    let (time, u) = (vec![0.0, 1.0, 1.0, 2.0], vec![0.0, 1.0, 3.0, 3.0]);
    let signals = Trajectory::from_columns(schema, time, vec![0; 4], vec![u.clone(), u]).unwrap();
    let (run, found) = model.run().stop(2.0).tolerance(1e-9).inputs(&signals);
    assert_eq!(found, ["u"]);
    let simulation = run.simulate().unwrap();
    let x = simulation.values("x").unwrap();
    assert!((x.last().unwrap() - 3.5).abs() < 1e-7, "{x:?}");
}

/// The last step before a jump knows nothing of it: rows hold the left limit, and the value there is exact.
#[test]
fn inputs_that_jump_have_left_limits() {
    let model = compiled("model M input Real u; Real y(start = 0, fixed = true); equation 0.1*der(y) = u - y; end M;");
    let schema = Schema::new(vec![Signal::new("u")]).unwrap();
    let signals = Trajectory::from_columns(
        schema,
        vec![0.0, 0.6, 0.6, 1.0],
        vec![0; 4],
        vec![vec![1.0, 1.0, -1.0, -1.0]],
    )
    .unwrap();
    let (run, _) = model.run().stop(1.0).tolerance(1e-9).inputs(&signals);
    let simulation = run.simulate().unwrap();
    let at = simulation.time().iter().position(|&t| t == 0.6).unwrap();
    assert_eq!(simulation.time()[at + 1], 0.6);
    assert_eq!(simulation.values("u").unwrap()[at..=at + 1], [1.0, -1.0]);
    let expected = 1.0 - (-6.0_f64).exp();
    assert!((simulation.values("y").unwrap()[at] - expected).abs() < 1e-8);
}

/// A capacitor across the input: its charge jumps, so the current is an impulse.
#[test]
fn jumps_of_inputs_have_impulses() {
    let model = compiled("model M input Real u; Real q; Real i; equation q = 2*u; der(q) = i; end M;");
    let schema = Schema::new(vec![Signal::new("u")]).unwrap();
    let signals = Trajectory::from_columns(
        schema,
        vec![0.0, 0.5, 0.5, 1.0],
        vec![0; 4],
        vec![vec![1.0, 1.0, 4.0, 4.0]],
    )
    .unwrap();
    let (run, _) = model.run().stop(1.0).inputs(&signals);
    let simulation = run.simulate().unwrap();
    let events = simulation.trajectory.events();
    let impulses = events.iter().filter(|e| e.time == 0.5).flat_map(|e| &e.impulses);
    let weights: Vec<f64> = impulses.filter(|i| i.variable == "i").map(|i| i.weight).collect();
    assert_eq!(weights, [6.0]);
}

#[test]
fn inputs_that_are_not_real_are_held() {
    let model = compiled(
        "model M input Boolean engaged; Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), tau; \
         equation der(w1) = -tau; der(w2) = tau; if engaged then w1 = w2; else tau = 0; end if; end M;",
    );
    let schema = Schema::new(vec![Signal::new("engaged")]).unwrap();
    let signals = Trajectory::from_columns(schema, vec![0.0, 0.5], vec![0; 2], vec![vec![0.0, 1.0]]).unwrap();
    let (run, found) = model.run().stop(1.0).inputs(&signals);
    assert_eq!(found, ["engaged"]);
    let simulation = run.simulate().unwrap();
    let w1 = simulation.values("w1").unwrap();
    let before = simulation.time().iter().position(|&t| t == 0.5).unwrap();
    assert_eq!(w1[before], 10.0);
    assert_eq!(simulation.values("engaged").unwrap()[before / 2], 0.0);
    assert!((w1.last().unwrap() - 5.0).abs() < 1e-12);
}

/// A start value modifies the class, which keeps its experiment.
#[test]
fn settings_keep_the_experiment() {
    let session = Session::new();
    let text = "model M Real x(start = 1, fixed = true); equation der(x) = -x; \
                annotation(experiment(StopTime = 4, Tolerance = 1e-9, Interval = 0.5)); end M;";
    session.add_text("M.mo", text);
    let settings = [("x.start".to_owned(), "2".to_owned())];
    let (model, _) = session.compile_with("M", &settings).into_result().unwrap();
    assert_eq!(
        model.experiment(),
        session.compile("M").into_result().unwrap().experiment()
    );
    let simulation = model.run().simulate().unwrap();
    assert_eq!(*simulation.time().last().unwrap(), 4.0);
    assert!((simulation.values("x").unwrap().last().unwrap() - 2.0 * (-4.0_f64).exp()).abs() < 1e-8);
}

#[test]
fn parameters_that_shape_the_equations_need_another_compilation() {
    let text = "model M parameter Integer n = 2; Real x[n] = fill(time, n); end M;";
    let model = compiled(text);
    let refused = model.run().set("n", "3").unwrap_err();
    assert!(refused.message.contains("shapes the equations"), "{}", refused.message);
    let session = Session::new();
    session.add_text("M.mo", text);
    let settings = [("n".to_owned(), "3".to_owned())];
    let (model, rest) = session.compile_with("M", &settings).into_result().unwrap();
    assert!(rest.is_empty());
    assert_eq!(model.name(), "M");
    assert!(model.run().simulate().unwrap().values("x[3]").is_some());
}

/// R*i = v1 - v2 joins two nodes for R = 0 and no other value.
#[test]
fn coefficients_that_appear_or_vanish_need_another_compilation() {
    let text = "model M parameter Real R = 0; Real v(start = 1, fixed = true), w, i; equation der(v) = -i; i = w; \
                R*i = v - w; end M;";
    let last = |model: &Model, settings: &[(&str, &str)]| {
        let mut run = model.run().tolerance(1e-9);
        for (name, value) in settings {
            run = run.set(name, value).unwrap();
        }
        *run.simulate().unwrap().values("v").unwrap().last().unwrap()
    };
    let decay = |rate: f64| (-rate).exp();
    let joined = compiled(text);
    assert!((last(&joined, &[]) - decay(1.0)).abs() < 1e-7);
    assert!(joined.run().set("R", "1").is_err());
    let session = Session::new();
    session.add_text("M.mo", text);
    let given = |value: &str| vec![("R".to_owned(), value.to_owned())];
    let (apart, rest) = session.compile_with("M", &given("1")).into_result().unwrap();
    assert!(rest.is_empty());
    assert!((last(&apart, &[]) - decay(0.5)).abs() < 1e-7);
    // From one value that is not zero to another no compilation is needed, back to zero it is.
    assert!((last(&apart, &[("R", "3")]) - decay(0.25)).abs() < 1e-7);
    assert!(apart.run().set("R", "0").is_err());
}

/// A text that depends on the run is compared when it is known.
#[test]
fn functions_look_at_texts_of_the_run() {
    let with = |text: &str| {
        let session = Session::new();
        let model = format!(
            "model M function f input String s; input Real x; output Real y; algorithm y := 0; for i in 1:3 loop \
             y := y + (if s == \"a\" then x else 2*x); end for; end f; Real z = f({text}, time); end M;"
        );
        session.add_text("M.mo", &model);
        session.compile("M")
    };
    let switched = with("if time > 0.5 then \"a\" else \"b\"").into_result().unwrap();
    let simulation = switched.run().simulate().unwrap();
    assert_eq!(simulation.values("z").unwrap().last(), Some(&3.0));
    let other = with("if time > 0.5 then String(1) else \"a\"").into_result().unwrap();
    let simulation = other.run().simulate().unwrap();
    assert_eq!(simulation.values("z").unwrap().last(), Some(&6.0));
}

#[test]
fn all_solvers_agree() {
    let model = compiled("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;");
    for (method, name) in Method::ALL {
        let simulation = model.run().solver(method).tolerance(1e-8).simulate().unwrap();
        let x = *simulation.values("x").unwrap().last().unwrap();
        assert!((x - (-1.0_f64).exp()).abs() < 1e-6, "{name}: {x}");
    }
}

#[test]
fn warnings_are_not_lost() {
    let session = Session::new();
    session.add_text("M.mo", "model M Real x = y; end M;");
    let outcome = session.compile("M");
    assert!(outcome.value.is_none());
    assert!(outcome.diagnostics.has_errors());
    assert!(session.compile("Nowhere").value.is_none());
    assert!(session.flatten("").value.is_none());
    assert!(session.flatten("..").value.is_none());
}

/// `T = time` in a `when` is an assignment as in any Modelica tool, whatever Booleans look at the Reals beside it.
#[test]
fn a_variable_set_in_a_when_is_discrete() {
    let model = compiled(
        "model Saw
           Real y, T(start = 0, fixed = true);
           Integer count(start = 0, fixed = true);
           Boolean high = y >= limit;
           Real limit = 0.5;
         equation
           when time >= (pre(count) + 1)*0.4 then
             count = pre(count) + 1;
             T = time;
           end when;
           y = (time - T)/0.4;
         end Saw;",
    );
    let simulation = model.run().stop(1.0).simulate().unwrap();
    let y = *simulation.values("y").unwrap().last().unwrap();
    assert!((y - 0.5).abs() < 1e-9, "{y}");
}

/// `i < n` is known in every pass of a loop once n shaped the model; another n gives other equations.
#[test]
fn branches_by_loop_variables_are_decided_when_the_model_is_made() {
    let text = "
model Plate
  parameter Integer n = 3;
  parameter Boolean warm = true;
  Real T[n](each start = 1, each fixed = true);
  Real heater[if warm then 1 else 2] = fill(1, size(heater, 1));
equation
  for i in 1:n loop
    der(T[i]) = (if i < n then T[i+1] else if warm then 2 else 0) - T[i];
  end for;
end Plate;
";
    let model = compiled(text);
    let session = Session::new();
    session.add_text("M.mo", text);
    let settings = [("n", "5"), ("warm", "false")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let (other, rest) = session.compile_with("Plate", &settings).into_result().unwrap();
    assert!(rest.is_empty(), "{rest:?}");
    for (model, states, last) in [(&model, 3, 2.0), (&other, 5, 0.0)] {
        let equations = model.equations();
        assert!(equations.conditions.is_empty());
        let always = |equation: &saltus::mdae::Equation| equations.print(equation.guard) == "true";
        assert!(equations.equations.iter().all(always));
        let simulation = model.run().stop(40.0).simulate().unwrap();
        let end = simulation.values(&format!("T[{states}]")).unwrap();
        assert!((end.last().unwrap() - last).abs() < 1e-4);
    }
}

/// Values that shape the equations are modifications of the class, not text: they stay what they are.
#[test]
fn structural_settings_are_data() {
    let text = "
package P
  constant Integer two = 2;
  model Part
    parameter Integer n = 1;
    parameter String kind = \"plain\";
    Real x[n] = fill(if kind == \"a \\\"b\\\" \\\\ c\" then 1 else 0, n);
  end Part;
  model M
    parameter Integer k = 1;
    final parameter Integer fixed = 3;
    Part part(n = k);
    Real y[fixed] = fill(0, fixed);
    annotation(experiment(StopTime = 2));
  end M;
end P;
";
    let session = Session::new();
    session.add_text("P.mo", text);
    let compile = |settings: &[(&str, &str)]| {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        session.compile_with("P.M", &settings.iter().map(owned).collect::<Vec<_>>())
    };
    // Names in a value are those of the class it modifies.
    for (settings, size) in [
        (vec![("k", "2*two")], 4),
        (vec![("part.n", "3")], 3),
        (vec![("k", "2"), ("part.n", "k + 1")], 3),
    ] {
        let (model, _) = compile(&settings).into_result().unwrap();
        assert_eq!((model.name(), model.experiment().stop_time), ("P.M", Some(2.0)));
        let simulation = model.run().simulate().unwrap();
        assert!(simulation.values(&format!("part.x[{size}]")).is_some(), "{settings:?}");
        assert!(
            simulation.values(&format!("part.x[{}]", size + 1)).is_none(),
            "{settings:?}"
        );
    }
    let (model, _) = compile(&[("part.kind", "a \"b\" \\ c")]).into_result().unwrap();
    assert_eq!(model.run().simulate().unwrap().values("part.x[1]").unwrap()[0], 1.0);
    for refused in ["2, part(n = 3)", "2) \"\" annotation(", "", "2;"] {
        let outcome = compile(&[("k", refused)]);
        assert_eq!(outcome.fault, Some(Fault::Request), "{refused}");
    }
    assert_eq!(compile(&[("nothing", "2")]).fault, Some(Fault::Request));
    let outcome = compile(&[("fixed", "2")]);
    assert_eq!(outcome.fault, Some(Fault::Model));
    assert!(outcome.diagnostics.iter().any(|found| found.message.contains("final")));
}

/// Events carry the places of the conditions that trigger them.
#[test]
fn events_point_at_their_own_conditions() {
    let text = "
model M
  model Part
    parameter Real d;
    Real x(start = 0, fixed = true);
    Real limit = 1 + d;
  equation
    der(x) = if x < limit then 1 else 0;
  end Part;
  Part a(d = 0);
  Real x(start = 0, fixed = true);
  Real limit = 2;
equation
  der(x) = if x < limit then 1 else 0;
end M;
";
    let model = compiled(text);
    let simulation = model.run().stop(3.0).simulate().unwrap();
    let lines = simulation.trajectory.events().iter().flat_map(|event| &event.triggers);
    let lines: Vec<(String, u32)> = lines
        .filter_map(|trigger| Some((trigger.condition.clone(), trigger.span.as_ref()?.line)))
        .collect();
    assert!(lines.iter().any(|(_, line)| *line == 8), "{lines:?}");
    assert!(lines.iter().any(|(_, line)| *line == 14), "{lines:?}");
}

/// Arrays are set as a whole, those that shape the equations and start values among them.
#[test]
fn arrays_are_set_as_a_whole() {
    let session = Session::new();
    session.add_text(
        "M.mo",
        "model M
           parameter Real a[3] = {1, 2, 3};
           parameter Integer n[2] = {1, 2};
           Real x[n[2]](start = {1, 2}, each fixed = true), y = a*{1, 10, 100};
         equation
           der(x) = zeros(n[2]);
         end M;",
    );
    let end = |settings: &[(&str, &str)], name: &str| {
        let settings: Vec<_> = settings.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        let (model, rest) = session.compile_with("M", &settings).into_result().unwrap();
        let mut run = model.run();
        for (name, value) in &rest {
            run = run.set(name, value).unwrap();
        }
        let simulation = run.simulate().unwrap();
        simulation.values(name).and_then(|values| values.last().copied())
    };
    assert_eq!(end(&[("a", "{4, 5, 6}")], "y"), Some(654.0));
    assert_eq!(end(&[("x.start", "{7, 8}")], "x[2]"), Some(8.0));
    assert_eq!(end(&[("n", "{1, 3}"), ("x.start", "{7, 8, 9}")], "x[3]"), Some(9.0));
    // Elements of arrays that are none stay unknown.
    for name in ["b", "a.start[1]", "a[", "[", "y.start"] {
        let settings = [(name.to_owned(), "{1}".to_owned())];
        assert!(session.compile_with("M", &settings).into_result().is_err(), "{name}");
    }
}

/// What is written from memory is what the run itself would have written.
#[test]
fn event_logs_from_memory_are_those_of_the_run() {
    use saltus::results::{EventLogWriter, Tee};

    let model = compiled(
        "model M
           Real x(start = 0, fixed = true);
           Integer k(start = 0, fixed = true);
         equation
           der(x) = if x > 2 then -1 elseif x > 1 then 2 else 1;
           when {x > 0.5, x > 1.5, x > 2.5} then
             k = pre(k) + 1;
           end when;
         end M;",
    );
    let (mut at_once, mut from_memory) = (Vec::new(), Vec::new());
    let mut trajectory = Trajectory::new();
    {
        let mut sink = Tee::new()
            .with(EventLogWriter::new(&mut at_once, "e"))
            .with(&mut trajectory);
        model.run().stop(1.9).simulate_into(&mut sink);
    }
    trajectory
        .replay(&mut EventLogWriter::new(&mut from_memory, "e"))
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&at_once), String::from_utf8_lossy(&from_memory));
    assert!(!at_once.is_empty());
}

/// How deeply expressions are nested, if that can be said.
#[test]
fn depths() {
    let nested = |levels: usize| format!("{}time{}", "sin(".repeat(levels), ")".repeat(levels));
    let depth = |text: &str| compiled(text).depth();
    let shallow = depth(&format!("model M Real x = {}; end M;", nested(5))).unwrap();
    let deep = depth(&format!("model M Real x = {}; end M;", nested(105))).unwrap();
    assert!(deep >= shallow + 90, "{shallow} {deep}");
    let function =
        "model M function f input Real u; output Real y; algorithm y := u; for i in 1:3 loop y := y + u; end for;
                    end f; Real x = f(time); end M;";
    assert_eq!(depth(function), None);
}
