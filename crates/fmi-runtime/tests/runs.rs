//! Units give the values of runs of the model in them: whoever integrates, in whatever steps, through events and mode changes.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "the tests call as importers do, and keep their promises"
)]

mod support;

use saltus::Model;
use saltus_fmi::Version;
use saltus_fmi_runtime::fmi3::*;
use saltus_testing::Random;
use support::{Instance3, Integrator, OK, Unpacked, compile, example};

/// Multi-mode models: states and index change.
const EXAMPLES: [&str; 6] = [
    "MotorAndLoad.mo",
    "mechanics/CupAndBall.mo",
    "mechanics/TwoBlocks.mo",
    "mechanics/Pendulum.mo",
    "electrical/DiodeBridge.mo",
    "control/SampledDataControl.mo",
];

/// Values of a run at a time that is no event; nothing right at one.
struct Own {
    simulation: saltus::Simulation,
    names: Vec<String>,
}

const POINTS: usize = 37;

impl Own {
    fn new(model: &Model, unit: &Unpacked) -> Self {
        let (start, stop) = model.run().span();
        let run = model.run().tolerance(1e-9).interval((stop - start) / POINTS as f64);
        let simulation = run.simulate().unwrap();
        let continuous = saltus_fmi::variables::Variability::Continuous;
        let shown = unit
            .variables
            .list
            .iter()
            .filter(|shown| shown.variability == continuous);
        let names = shown.map(|shown| shown.name.clone());
        let names = names.filter(|name| simulation.values(name).is_some()).collect();
        Own { simulation, names }
    }

    fn events(&self) -> Vec<f64> {
        let times = self.simulation.time();
        let mut events: Vec<f64> = times
            .windows(2)
            .filter(|two| two[0] == two[1])
            .map(|two| two[0])
            .collect();
        events.dedup();
        events
    }

    /// Compares all values at a point.
    fn agrees(&self, instance: &Instance3<'_>, time: f64, what: &str) {
        let times = self.simulation.time();
        let span = times.last().unwrap() - times[0];
        let at = times.iter().position(|t| (t - time).abs() < 1e-9 * span);
        if self.events().iter().any(|event| (event - time).abs() < 1e-5 * span) {
            return;
        }
        let at = at.unwrap_or_else(|| panic!("{what}: no row at {time}"));
        for name in &self.names {
            let values = self.simulation.values(name).unwrap();
            let size = values
                .iter()
                .filter(|v| v.is_finite())
                .fold(1e-9f64, |size, v| size.max(v.abs()));
            let (found, expected) = (instance.get(name), values[at]);
            let close = (found - expected).abs() <= 1e-5 * size || (found.is_nan() && expected.is_nan());
            assert!(close, "{what}: {name} at {time} is {found}, not {expected}");
        }
    }
}

fn point(model: &Model, at: usize) -> f64 {
    let (start, stop) = model.run().span();
    start + (stop - start) / POINTS as f64 * at as f64
}

#[test]
fn co_simulation_gives_the_values_of_a_run() {
    for path in EXAMPLES {
        let model = example(path);
        let unit = Unpacked::new(&model, Version::Three);
        let own = Own::new(&model, &unit);
        let (start, stop) = model.run().span();
        for event_mode in [false, true] {
            let instance = Instance3::co_simulation(&unit, event_mode);
            instance.initialize(start, stop, 1e-9);
            if event_mode {
                instance.updates();
                unsafe { assert_eq!(fmi3EnterStepMode(instance.handle), OK) };
            }
            let mut time = start;
            let mut events = Vec::new();
            for at in 1..=POINTS {
                // Steps of different lengths.
                let end = point(&model, at);
                while time < end {
                    let middle = 0.7 * time + 0.3 * end;
                    let until = if end - time > 1e-3 * (stop - start) && at % 3 == 0 {
                        middle
                    } else {
                        end
                    };
                    let step = instance.step(time, until - time);
                    assert_eq!(step.early, step.time < until, "{path}");
                    time = step.time;
                    if step.event {
                        events.push(time);
                        unsafe { assert_eq!(fmi3EnterEventMode(instance.handle), OK) };
                        instance.updates();
                        unsafe { assert_eq!(fmi3EnterStepMode(instance.handle), OK) };
                    }
                    assert!(event_mode || !step.early);
                }
                own.agrees(&instance, end, path);
            }
            for event in own
                .events()
                .iter()
                .filter(|&&event| event_mode && event > start && event < stop)
            {
                let near = events.iter().any(|time| (time - event).abs() <= 1e-7 * (stop - start));
                assert!(near, "{path}: no event at {event}: {events:?}");
            }
        }
    }
}

/// Modes of rows of clutches are entered without being analysed as wholes; importers may ask for anything in them.
#[test]
fn values_of_networks_can_be_read_in_all_modes() {
    let part = |at: usize| {
        format!(
            "Real a{at}(start = 1, fixed = true), b{at}(start = 2, fixed = true), f{at};
             equation
               der(a{at}) = -f{at} - 0.1*a{at};
               der(b{at}) = f{at};
               if sin({:?}*time + 3) > 0.5 then a{at} = b{at}; else f{at} = 0; end if;
             public",
            1.0 + at as f64 / 30.0
        )
    };
    let parts: Vec<String> = (0..30).map(part).collect();
    let text = format!(
        "model Rows\n{}\nReal t = time;\nannotation(experiment(StopTime = 7));\nend Rows;",
        parts.join("\n")
    );
    let model = compile(&text);
    let unit = Unpacked::new(&model, Version::Three);
    let own = Own::new(&model, &unit);
    assert!(own.names.iter().any(|name| name == "der(a3)") && own.events().len() > 30);
    let instance = Instance3::co_simulation(&unit, false);
    instance.initialize(0.0, 7.0, 1e-9);
    for at in 1..=POINTS {
        let (from, to) = (point(&model, at - 1), point(&model, at));
        instance.step(from, to - from);
        own.agrees(&instance, to, "rows");
        let references: Vec<u32> = (0..30).map(|at| unit.reference(&format!("der(a{at})"))).collect();
        let mut values = [0.0; 30];
        let status = unsafe { fmi3GetFloat64(instance.handle, references.as_ptr(), 30, values.as_mut_ptr(), 30) };
        assert!(status == OK && values.iter().all(|value| value.is_finite()));
    }
}

/// Importers need not say when they will stop, and may go on beyond the end of the experiment that a model names.
#[test]
fn runs_go_on_beyond_the_experiment() {
    let mut random = Random(11);
    for _ in 0..12 {
        let (a, b, c) = (
            random.between(2.0, 9.0),
            random.between(0.1, 0.9),
            random.between(1.2, 3.8),
        );
        let text = format!(
            "model Beyond
               Real x(start = 0, fixed = true), y = if sin({a:?}*time) > {b:?} then time else -1;
               Real w1(start = 3), w2(start = 0), t;
               Integer n(start = 0, fixed = true);
             equation
               der(x) = if cos({a:?}*time) > {b:?} or time > {c:?} then 1 else -x;
               der(w1) = -t;
               der(w2) = t - 1;
               if time^2 > {c:?} and sin({a:?}*time) < 0 then w1 = w2; else t = 0; end if;
               when sample(0, 0.4137) then n = pre(n) + 1; end when;
             end Beyond;"
        );
        let model = compile(&text);
        let unit = Unpacked::new(&model, Version::Three);
        let (stop, points) = (4.0, 40);
        let simulation = model.run().stop(stop).interval(0.1).tolerance(1e-9).simulate().unwrap();
        let own = Own {
            names: ["x", "y", "w1", "w2", "t"].map(str::to_owned).to_vec(),
            simulation,
        };
        for event_mode in [false, true] {
            let instance = Instance3::co_simulation(&unit, event_mode);
            instance.initialize_without_end(0.0, 1e-9);
            if event_mode {
                instance.updates();
                unsafe { assert_eq!(fmi3EnterStepMode(instance.handle), OK) };
            }
            let mut time = 0.0;
            for at in 1..=points {
                let end = stop / f64::from(points) * f64::from(at);
                while time < end {
                    let step = instance.step(time, end - time);
                    time = step.time;
                    if step.event {
                        unsafe { assert_eq!(fmi3EnterEventMode(instance.handle), OK) };
                        instance.updates();
                        unsafe { assert_eq!(fmi3EnterStepMode(instance.handle), OK) };
                    }
                }
                own.agrees(&instance, end, &text);
            }
        }
        let instance = Instance3::exchange(&unit);
        instance.initialize_without_end(0.0, 1e-9);
        let mut integrator = Integrator::new(&instance, 0.0, stop / 8000.0);
        for at in 1..=points {
            let end = stop / f64::from(points) * f64::from(at);
            assert!(integrator.run_to(end));
            own.agrees(&instance, end, &text);
        }
    }
}

#[test]
fn model_exchange_gives_the_values_of_a_run() {
    for path in EXAMPLES {
        let model = example(path);
        let unit = Unpacked::new(&model, Version::Three);
        let own = Own::new(&model, &unit);
        let (start, stop) = model.run().span();
        let instance = Instance3::exchange(&unit);
        instance.initialize(start, stop, 1e-9);
        let mut integrator = Integrator::new(&instance, start, (stop - start) / 8000.0);
        for at in 1..=POINTS {
            assert!(integrator.run_to(point(&model, at)));
            own.agrees(&instance, point(&model, at), path);
        }
        for event in own.events().iter().filter(|&&event| event > start && event < stop) {
            let near = integrator
                .events
                .iter()
                .any(|time| (time - event).abs() <= 1e-7 * (stop - start));
            assert!(near, "{path}: no event at {event}: {:?}", integrator.events);
        }
    }
}

#[test]
fn momentum_is_conserved_in_another_integrator() {
    let model = compile(
        "model Shafts
           Real w1(start = 0, fixed = true), w2(start = 10, fixed = true), tau;
           parameter Real J1 = 1;
         equation
           J1*der(w1) = tau;
           4*der(w2) = -tau;
           if time < 1 then tau = 0; else w1 = w2; end if;
         end Shafts;",
    );
    let unit = Unpacked::new(&model, Version::Three);
    let instance = Instance3::exchange(&unit);
    assert_eq!(instance.set("J1", 4.0), OK);
    assert_eq!(instance.set("w2", 6.0), OK);
    instance.initialize(0.0, 2.0, 1e-6);
    assert_eq!(instance.get("w2"), 6.0);
    let mut integrator = Integrator::new(&instance, 0.0, 0.1);
    assert!(integrator.run_to(2.0));
    for name in ["w1", "w2"] {
        assert!(
            (instance.get(name) - 3.0).abs() < 1e-9,
            "{name} = {}",
            instance.get(name)
        );
    }
    let (reference, mut mode) = (unit.reference("saltus.mode"), -1);
    unsafe { assert_eq!(fmi3GetInt32(instance.handle, &reference, 1, &mut mode, 1), OK) };
    assert_eq!(mode, 1);
}

#[test]
fn start_values_that_are_guesses_can_be_given() {
    let text = "model Shafts
           Real w1(start = 0), w2(start = 10), tau;
         equation
           der(w1) = tau;
           4*der(w2) = -tau;
           if time < 1 then tau = 0; else w1 = w2; end if;
         end Shafts;";
    let unit = Unpacked::new(&compile(text), Version::Three);
    let description = std::fs::read_to_string(unit.folder.path().join("modelDescription.xml")).unwrap();
    let line = description.lines().find(|line| line.contains("name=\"w2\"")).unwrap();
    assert!(
        line.contains("initial=\"approx\"") && line.contains("start=\"10\""),
        "{line}"
    );
    for given in [None, Some(6.0), Some(-3.5)] {
        let instance = Instance3::exchange(&unit);
        if let Some(start) = given {
            assert_eq!(instance.set("w2", start), OK);
        }
        instance.initialize(0.0, 2.0, 1e-6);
        let start = given.unwrap_or(10.0);
        assert_eq!(instance.get("w2"), start);
        assert!(Integrator::new(&instance, 0.0, 0.1).run_to(2.0));
        assert!((instance.get("w1") - 0.8 * start).abs() < 1e-9);
    }
}

#[test]
fn inputs_jump_and_change() {
    let text = "model Tank
           input Real inflow;
           input Boolean open;
           output Real level(start = 0, fixed = true);
           output Real doubled = 2*level;
           Boolean full = level > 1;
         equation
           der(level) = inflow - (if open then 0.5*level else 0);
         end Tank;";
    let unit = Unpacked::new(&compile(text), Version::Three);
    let open = unit.reference("open");
    let set_open =
        |instance: &Instance3<'_>, value: bool| unsafe { fmi3SetBoolean(instance.handle, &open, 1, &value, 1) };
    let expected = |t: f64| if t <= 2.0 { t } else { 2.0 * (-0.5 * (t - 2.0)).exp() };
    // The importer sets inputs between steps.
    let instance = Instance3::co_simulation(&unit, false);
    assert_eq!(instance.set("inflow", 1.0), OK);
    instance.initialize(0.0, 10.0, 1e-9);
    instance.step(0.0, 2.0);
    assert!((instance.get("level") - 2.0).abs() < 1e-8);
    assert_eq!(instance.set("inflow", 0.0), OK);
    assert_eq!(set_open(&instance, true), OK);
    instance.step(2.0, 1.5);
    assert!((instance.get("level") - expected(3.5)).abs() < 1e-8);
    let references = [unit.reference("level"), unit.reference("doubled")];
    let mut rates = [0.0; 2];
    let status = unsafe {
        fmi3GetOutputDerivatives(
            instance.handle,
            references.as_ptr(),
            2,
            [1, 1].as_ptr(),
            rates.as_mut_ptr(),
            2,
        )
    };
    assert_eq!(status, OK);
    assert!((rates[0] + 0.5 * expected(3.5)).abs() < 1e-8);
    assert!((rates[1] + expected(3.5)).abs() < 1e-8);
    // The importer integrates.
    let instance = Instance3::exchange(&unit);
    assert_eq!(instance.set("inflow", 1.0), OK);
    instance.initialize(0.0, 10.0, 1e-9);
    let mut integrator = Integrator::new(&instance, 0.0, 0.01);
    assert!(integrator.run_to(1.5));
    // A discrete input changes at the next event, whenever it was given: importers give all inputs while they integrate.
    assert_eq!(set_open(&instance, true), OK);
    assert!(integrator.run_to(2.0));
    assert!((instance.get("level") - 2.0).abs() < 1e-8);
    let mut is_open = true;
    unsafe { assert_eq!(fmi3GetBoolean(instance.handle, &open, 1, &mut is_open, 1), OK) };
    assert!(!is_open);
    let (saved, other) = (instance.save(), Instance3::exchange(&unit));
    other.restore(other.deserialize(&instance.serialize(saved)));
    instance.free(saved);
    unsafe { assert_eq!(fmi3EnterEventMode(other.handle), OK) };
    other.updates();
    unsafe { assert_eq!(fmi3GetBoolean(other.handle, &open, 1, &mut is_open, 1), OK) };
    assert!(is_open, "what waits is saved");
    unsafe { assert_eq!(fmi3EnterEventMode(instance.handle), OK) };
    assert_eq!(instance.set("inflow", 0.0), OK);
    instance.updates();
    unsafe { assert_eq!(fmi3EnterContinuousTimeMode(instance.handle), OK) };
    assert!(integrator.run_to(3.5));
    assert!((instance.get("level") - expected(3.5)).abs() < 1e-8);
    // How the rate responds to the state and to the input.
    let (rate, level, inflow) = (
        unit.reference("der(level)"),
        unit.reference("level"),
        unit.reference("inflow"),
    );
    for (known, slope) in [(level, -0.5), (inflow, 1.0)] {
        let (seed, mut response) = ([2.0], [0.0]);
        let status = unsafe {
            fmi3GetDirectionalDerivative(
                instance.handle,
                &rate,
                1,
                &known,
                1,
                seed.as_ptr(),
                1,
                response.as_mut_ptr(),
                1,
            )
        };
        assert_eq!(status, OK);
        assert!((response[0] - 2.0 * slope).abs() < 1e-7, "{response:?}");
    }
}

#[test]
fn saved_states_are_restored() {
    for path in [
        "mechanics/CupAndBall.mo",
        "mechanics/TwoBlocks.mo",
        "control/SampledDataControl.mo",
    ] {
        let model = example(path);
        let unit = Unpacked::new(&model, Version::Three);
        let (start, stop) = model.run().span();
        let h = (stop - start) / 10.0;
        let names: Vec<&String> = unit
            .variables
            .list
            .iter()
            .filter(|s| s.kind == saltus_fmi::variables::Kind::Float)
            .map(|s| &s.name)
            .collect();
        let values =
            |instance: &Instance3<'_>| -> Vec<u64> { names.iter().map(|name| instance.get(name).to_bits()).collect() };
        let instance = Instance3::co_simulation(&unit, false);
        instance.initialize(start, stop, 1e-7);
        let go = |instance: &Instance3<'_>, from: usize, to: usize| {
            for at in from..to {
                instance.step(start + at as f64 * h, h);
            }
        };
        go(&instance, 0, 4);
        let saved = instance.save();
        let bytes = instance.serialize(saved);
        go(&instance, 4, 9);
        let there = values(&instance);
        instance.restore(saved);
        go(&instance, 4, 9);
        assert_eq!(values(&instance), there, "{path}");
        instance.free(saved);
        let other = Instance3::co_simulation(&unit, false);
        let state = other.deserialize(&bytes);
        other.restore(state);
        go(&other, 4, 9);
        assert_eq!(values(&other), there, "{path}");
        other.free(state);
        // Damaged bytes are told apart, or are another state; they are no crash.
        for at in 0..bytes.len().min(300) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x41;
            let mut state = std::ptr::null_mut();
            unsafe { fmi3DeserializeFMUState(other.handle, damaged.as_ptr(), damaged.len().min(at + 40), &mut state) };
            other.free(state);
        }
    }
}

#[test]
fn saved_states_of_model_exchange_are_restored() {
    let model = example("mechanics/TwoBlocks.mo");
    let unit = Unpacked::new(&model, Version::Three);
    let (start, stop) = model.run().span();
    let middle = start + 0.4 * (stop - start);
    let end = start + 0.9 * (stop - start);
    let step = (stop - start) / 1000.0;
    let instance = Instance3::exchange(&unit);
    instance.initialize(start, stop, 1e-9);
    let mut integrator = Integrator::new(&instance, start, step);
    assert!(integrator.run_to(middle));
    let saved = instance.save();
    let bytes = instance.serialize(saved);
    let (states, next) = (integrator.states.clone(), integrator.next);
    assert!(integrator.run_to(end));
    let expected: Vec<f64> = integrator.states.clone();
    let other = Instance3::exchange(&unit);
    for (instance, state) in [(&instance, saved), (&other, other.deserialize(&bytes))] {
        instance.restore(state);
        let mut again = Integrator::resumed(instance, middle, step, states.clone(), next);
        assert!(again.run_to(end));
        for (found, expected) in again.states.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-7, "{found}, not {expected}");
        }
        instance.free(state);
    }
}

#[test]
fn there_may_be_nothing_to_integrate() {
    let unit = Unpacked::new(
        &compile("model M Real x = sin(time); Boolean b = x > 0.5; end M;"),
        Version::Three,
    );
    assert!(unit.variables.slots.is_empty());
    let instance = Instance3::exchange(&unit);
    instance.initialize(0.0, 2.0, 1e-6);
    let mut integrator = Integrator::new(&instance, 0.0, 0.01);
    // Of integrators that cannot do without.
    let none = 0.0;
    assert_eq!(
        unsafe { fmi3SetContinuousStates(instance.handle, &raw const none, 1) },
        OK
    );
    assert!(integrator.run_to(2.0));
    assert_eq!(instance.get("x"), 2.0f64.sin());
    assert!((integrator.events[0] - 0.5f64.asin()).abs() < 1e-9);
    let instance = Instance3::co_simulation(&unit, false);
    instance.initialize(0.0, 2.0, 1e-6);
    instance.step(0.0, 1.0);
    assert_eq!(instance.get("x"), 1.0f64.sin());
}

#[test]
fn a_model_may_end_itself() {
    let text = "model M Real x(start = 0, fixed = true); equation der(x) = 1; when x > 1.5 then terminate(\"enough\"); end when; end M;";
    let unit = Unpacked::new(&compile(text), Version::Three);
    let instance = Instance3::co_simulation(&unit, false);
    instance.initialize(0.0, 10.0, 1e-6);
    let step = instance.step(0.0, 5.0);
    assert!(step.terminate && (step.time - 1.5).abs() < 1e-6, "{step:?}");
    // Importers refuse steps that return early if they do not allow it (FMPy): the time tells how far it went.
    assert!(!step.early);
    let instance = Instance3::co_simulation(&unit, true);
    instance.initialize(0.0, 10.0, 1e-6);
    instance.updates();
    unsafe { assert_eq!(fmi3EnterStepMode(instance.handle), OK) };
    let step = instance.step(0.0, 5.0);
    assert!(step.early && (step.time - 1.5).abs() < 1e-6, "{step:?}");
    let instance = Instance3::exchange(&unit);
    instance.initialize(0.0, 10.0, 1e-6);
    let mut integrator = Integrator::new(&instance, 0.0, 0.1);
    assert!(!integrator.run_to(10.0));
    assert!((integrator.time - 1.5).abs() < 1e-6);
}

#[test]
fn impulses_are_outputs() {
    let text = "model Shafts
           Real w1(start = 0, fixed = true), w2(start = 10, fixed = true), tau;
         equation
           der(w1) = tau;
           4*der(w2) = -tau;
           if time < 1 then tau = 0; else w1 = w2; end if;
         end Shafts;";
    let unit = Unpacked::new(&compile(text), Version::Three);
    let instance = Instance3::co_simulation(&unit, false);
    instance.initialize(0.0, 2.0, 1e-6);
    instance.step(0.0, 0.5);
    assert_eq!(instance.get("saltus.impulse.tau"), 0.0);
    instance.step(0.5, 1.0);
    assert!((instance.get("saltus.impulse.tau") - 8.0).abs() < 1e-9);
    let instance = Instance3::exchange(&unit);
    instance.initialize(0.0, 2.0, 1e-6);
    let mut integrator = Integrator::new(&instance, 0.0, 0.1);
    assert!(integrator.run_to(1.5));
    assert!((instance.get("saltus.impulse.tau") - 8.0).abs() < 1e-9);
}

#[test]
fn derivatives_are_exact() {
    // der(x) = v, der(v) = -k*sin(x) - 0.1*v^2
    let text = "model M parameter Real k = 2; Real x(start = 0.3, fixed = true), v(start = 0.7, fixed = true); output Real y = x*v;
        equation der(x) = v; der(v) = -k*sin(x) - 0.1*v^2; end M;";
    let unit = Unpacked::new(&compile(text), Version::Three);
    let instance = Instance3::exchange(&unit);
    instance.initialize(0.0, 2.0, 1e-9);
    let _integrator = Integrator::new(&instance, 0.0, 0.1);
    let states: Vec<u32> = unit.variables.slot_variables.iter().map(|(state, _)| *state).collect();
    let rates: Vec<u32> = unit.variables.slot_variables.iter().map(|(_, rate)| *rate).collect();
    let (x, v) = (0.3f64, 0.7);
    let (seed, mut response) = ([1.5, -0.5], [0.0; 2]);
    let h = instance.handle;
    let status = unsafe {
        fmi3GetDirectionalDerivative(
            h,
            rates.as_ptr(),
            2,
            states.as_ptr(),
            2,
            seed.as_ptr(),
            2,
            response.as_mut_ptr(),
            2,
        )
    };
    assert_eq!(status, OK);
    let expected = [-0.5, -2.0 * x.cos() * 1.5 - 0.2 * v * -0.5];
    assert!(
        response.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13),
        "{response:?}, not {expected:?}"
    );
    let status = unsafe {
        fmi3GetAdjointDerivative(
            h,
            rates.as_ptr(),
            2,
            states.as_ptr(),
            2,
            seed.as_ptr(),
            2,
            response.as_mut_ptr(),
            2,
        )
    };
    assert_eq!(status, OK);
    let expected = [-2.0 * x.cos() * -0.5, 1.5 - 0.2 * v * -0.5];
    assert!(
        response.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13),
        "{response:?}, not {expected:?}"
    );
    // Of an output, by differences.
    let (y, mut response) = (unit.reference("y"), [0.0]);
    let status = unsafe {
        fmi3GetDirectionalDerivative(h, &y, 1, states.as_ptr(), 2, seed.as_ptr(), 2, response.as_mut_ptr(), 1)
    };
    assert_eq!(status, OK);
    assert!((response[0] - (v * 1.5 - 0.5 * x)).abs() < 1e-8, "{response:?}");
    // What was varied is back.
    assert_eq!((instance.get("x"), instance.get("v")), (x, v));
}
