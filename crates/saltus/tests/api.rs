//! The public API as programs use it.

use std::cell::Cell;
use std::rc::Rc;

use saltus::results::{Schema, Signal, Trajectory};
use saltus::simulate::{Cancel, End, EventReport, Observer};
use saltus::{Method, Model, Session};

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
