//! Units whose importers choose the sizes of arrays, and arrays of states.
#![allow(unsafe_code, reason = "the interface is one of pointers")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call here is one of the interface"
)]

mod support;

use saltus::{Model, Session};
use saltus_fmi::export::{ExportOptions, Sizes, export_sizes};
use saltus_fmi::interface::SizeParameter;
use saltus_fmi::{Interface, Version};
use saltus_fmi_runtime::fmi3::*;
use support::{ERROR, Instance3, Integrator, OK, Unpacked, said};

/// A chain of masses between walls, each of which hits a stop of its own; the number is chosen by the importer.
const CHAIN: &str = "
    model Mass
      parameter Real m = 1;
      Real s(start = 0, fixed = true), v(start = 0, fixed = true);
      Real f;
      parameter Real limit = 0.4;
    equation
      der(s) = v;
      m*der(v) = f;
      when s > limit then
        reinit(v, -0.9*pre(v));
      end when;
    end Mass;
    model Chain
      parameter Integer n = 3;
      parameter Integer p = 2;
      parameter Real k = 4;
      parameter Real c[n] = {0.1*i for i in 1:n};
      input Real u[n](each start = 0);
      output Real y[n];
      output Real total;
      output Real z[n, p];
      Mass mass[n](m = {1 + 0.1*i for i in 1:n});
    equation
      for i in 1:n loop
        mass[i].f = u[i] - c[i]*mass[i].v + k*((if i < n then mass[min(i + 1, n)].s else 0) - mass[i].s)
          - k*(mass[i].s - (if i > 1 then mass[max(i - 1, 1)].s else 0));
        y[i] = mass[i].s + 2*u[i];
        for j in 1:p loop
          z[i, j] = i*mass[i].s + j;
        end for;
      end for;
      total = sum(y);
      when total > 1e3 then
        terminate(\"far\");
      end when;
    end Chain;";

fn session(text: &str) -> Session {
    let session = Session::new();
    session.add_text("M.mo", text);
    session
}

fn with(session: &Session, name: &str, values: &[(&str, u64)]) -> Model {
    let settings: Vec<(String, String)> = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.to_string()))
        .collect();
    session.compile_with(name, &settings).into_result().unwrap().0
}

fn options() -> ExportOptions {
    ExportOptions {
        version: Version::Three,
        interfaces: vec![Interface::ModelExchange, Interface::CoSimulation],
        without_sources: false,
        settings: saltus_fmi::variables::Settings {
            arrays: true,
            ..Default::default()
        },
    }
}

fn parameter(name: &str, min: u64, max: u64) -> SizeParameter {
    let name = name.to_owned();
    SizeParameter { name, min, max }
}

/// A unit of a model for all sizes in ranges around the first.
fn unit(text: &str, name: &str, parameters: &[SizeParameter], first: &[u64]) -> Result<Vec<u8>, String> {
    let session = session(text);
    let compile = |values: &[u64]| {
        let given: Vec<(&str, u64)> = parameters
            .iter()
            .map(|p| &*p.name)
            .zip(values.iter().copied())
            .collect();
        with(&session, name, &given)
    };
    let all = saltus_fmi::family::choices(parameters)?;
    let models: Vec<(Vec<u64>, Model)> = all
        .into_iter()
        .filter(|values| values != first)
        .map(|values| (values.clone(), compile(&values)))
        .collect();
    let sizes = Sizes {
        parameters: parameters.to_vec(),
        first: first.to_vec(),
        others: models.iter().map(|(values, model)| (values.clone(), model)).collect(),
    };
    let exported = export_sizes(&compile(first), Some(&sizes), &[], &options());
    exported
        .map(|exported| exported.bytes)
        .map_err(|diagnostic| diagnostic.message.clone())
}

fn chain() -> Unpacked {
    let parameters = [parameter("n", 1, 5), parameter("p", 1, 3)];
    Unpacked::of(&unit(CHAIN, "Chain", &parameters, &[3, 2]).unwrap())
}

fn configure(instance: &Instance3<'_>, values: &[(&str, u64)]) {
    assert_eq!(unsafe { fmi3EnterConfigurationMode(instance.handle) }, OK);
    for (name, value) in values {
        let reference = instance.unit.reference(name);
        assert_eq!(unsafe { fmi3SetUInt64(instance.handle, &reference, 1, value, 1) }, OK);
    }
    assert_eq!(unsafe { fmi3ExitConfigurationMode(instance.handle) }, OK);
}

fn array(instance: &Instance3<'_>, name: &str, count: usize) -> Vec<f64> {
    let (reference, mut values) = (instance.unit.reference(name), vec![f64::NAN; count]);
    let status = unsafe { fmi3GetFloat64(instance.handle, &reference, 1, values.as_mut_ptr(), count) };
    assert_eq!(status, OK, "{name}");
    values
}

fn set(instance: &Instance3<'_>, name: &str, values: &[f64]) -> i32 {
    let reference = instance.unit.reference(name);
    unsafe { fmi3SetFloat64(instance.handle, &reference, 1, values.as_ptr(), values.len()) }
}

/// What our own run of that size gives.
fn own(n: u64, p: u64, inputs: &[f64], stop: f64) -> impl Fn(&str) -> f64 {
    let model = with(&session(CHAIN), "Chain", &[("n", n), ("p", p)]);
    let mut run = model.run().stop(stop).tolerance(1e-10).set("k", "5").unwrap();
    for (at, value) in inputs.iter().enumerate() {
        run = run
            .input(&format!("u[{}]", at + 1), vec![0.0], vec![*value], true)
            .unwrap();
    }
    let simulation = run
        .simulate()
        .unwrap_or_else(|failed| panic!("{:?}", failed.diagnostic()));
    move |name| *simulation.values(name).unwrap().last().unwrap()
}

#[test]
fn importers_choose_sizes_for_both_interfaces() {
    let unit = chain();
    let description = &unit.unit.description;
    let reference = unit.reference("n");
    for part in [
        "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" variability=\"fixed\" initial=\"exact\" \
         min=\"1\" max=\"5\" start=\"3\"/>"
            .replace("\"1\" causality", &format!("\"{reference}\" causality"))
            .as_str(),
        &format!("<Dimension valueReference=\"{reference}\"/>"),
        &format!("derivative=\"{}\"", unit.reference("mass.s")),
        "<Float64 name=\"der(mass.s)\"",
    ] {
        assert!(description.contains(part), "{part}\n{description}");
    }
    for (n, p) in [(3, 2), (1, 1), (2, 3), (5, 2), (4, 1)] {
        let inputs: Vec<f64> = (0..n).map(|at| 0.5 + 0.1 * at as f64).collect();
        let own = own(n, p, &inputs, 3.0);
        let count = n as usize;
        for exchange in [false, true] {
            let instance = if exchange {
                Instance3::exchange(&unit)
            } else {
                Instance3::co_simulation(&unit, false)
            };
            // What was set before stays.
            assert_eq!(instance.set("k", 5.0), OK);
            configure(&instance, &[("n", n), ("p", p)]);
            assert_eq!(array(&instance, "c", count).len(), count);
            assert_eq!(set(&instance, "u", &inputs), OK);
            instance.initialize(0.0, 3.0, 1e-10);
            if exchange {
                let mut states = 0;
                assert_eq!(
                    unsafe { fmi3GetNumberOfContinuousStates(instance.handle, &mut states) },
                    OK
                );
                assert_eq!(states, 2 * count);
                let mut integrator = Integrator::new(&instance, 0.0, 1e-3);
                assert!(integrator.run_to(3.0));
            } else {
                instance.step(0.0, 1.0);
                // Kept and restored, also as bytes, with the sizes.
                let state = instance.save();
                let again = instance.deserialize(&instance.serialize(state));
                instance.step(1.0, 1.0);
                instance.restore(again);
                instance.step(1.0, 1.0);
                instance.step(2.0, 1.0);
                instance.free(state);
                instance.free(again);
            }
            for (at, y) in array(&instance, "y", count).iter().enumerate() {
                let expected = own(&format!("y[{}]", at + 1));
                assert!((y - expected).abs() < 1e-5, "n = {n}, {exchange}: {y}, not {expected}");
            }
            let z = array(&instance, "z", count * p as usize);
            assert!((z[z.len() - 1] - own(&format!("z[{n},{p}]"))).abs() < 1e-5);
            assert!((instance.get("total") - own("total")).abs() < 1e-5);
            let mut chosen = 0;
            assert_eq!(
                unsafe { fmi3GetUInt64(instance.handle, &reference, 1, &mut chosen, 1) },
                OK
            );
            assert_eq!(chosen, n);
        }
    }
}

#[test]
fn states_are_listed_in_the_order_of_their_arrays() {
    let unit = chain();
    for n in [1, 2, 5] {
        let instance = Instance3::exchange(&unit);
        configure(&instance, &[("n", n)]);
        instance.initialize(0.0, 1.0, 1e-8);
        instance.updates();
        assert_eq!(unsafe { fmi3EnterContinuousTimeMode(instance.handle) }, OK);
        let count = n as usize;
        let states: Vec<f64> = (0..2 * count).map(|at| 0.01 * (at + 1) as f64).collect();
        assert_eq!(
            unsafe { fmi3SetContinuousStates(instance.handle, states.as_ptr(), states.len()) },
            OK
        );
        // In the order of the rates in the description.
        let (first, second) = states.split_at(count);
        let at = |name: &str| unit.unit.description.find(&format!("name=\"{name}\"")).unwrap();
        let order = if at("der(mass.s)") < at("der(mass.v)") {
            ["mass.s", "mass.v"]
        } else {
            ["mass.v", "mass.s"]
        };
        assert_eq!(array(&instance, order[0], count), first);
        assert_eq!(array(&instance, order[1], count), second);
        let mut rates = vec![0.0; states.len()];
        assert_eq!(
            unsafe { fmi3GetContinuousStateDerivatives(instance.handle, rates.as_mut_ptr(), rates.len()) },
            OK
        );
        assert_eq!(array(&instance, &format!("der({})", order[0]), count), rates[..count]);
        // Derivatives by a whole array of states, with a seed for each element.
        let (unknown, known) = (unit.reference("y"), unit.reference("mass.s"));
        let seed: Vec<f64> = (0..count).map(|at| 1.0 + at as f64).collect();
        let mut response = vec![f64::NAN; count];
        let status = unsafe {
            fmi3GetDirectionalDerivative(
                instance.handle,
                &unknown,
                1,
                &known,
                1,
                seed.as_ptr(),
                count,
                response.as_mut_ptr(),
                count,
            )
        };
        assert_eq!(status, OK);
        assert_eq!(response, seed);
    }
}

#[test]
fn sizes_are_chosen_before_anything_else_and_within_their_ranges() {
    let unit = chain();
    let instance = Instance3::co_simulation(&unit, false);
    let (n, handle) = (unit.reference("n"), instance.handle);
    let choose = |value: u64| unsafe { fmi3SetUInt64(handle, &n, 1, &value, 1) };
    assert_eq!(choose(2), ERROR);
    assert!(said("can be set in Configuration Mode only"));
    assert_eq!(unsafe { fmi3ExitConfigurationMode(handle) }, ERROR);
    assert_eq!(unsafe { fmi3EnterConfigurationMode(handle) }, OK);
    assert_eq!(choose(6), ERROR);
    assert_eq!(choose(0), ERROR);
    assert!(said("`n` has values from 1 to 5, not 6"));
    assert_eq!(instance.set("k", 2.0), ERROR);
    assert_eq!(
        unsafe { fmi3EnterInitializationMode(handle, false, 0.0, 0.0, false, 0.0) },
        ERROR
    );
    assert_eq!(choose(4), OK);
    assert_eq!(unsafe { fmi3ExitConfigurationMode(handle) }, OK);
    // As many values as there are elements now.
    assert_eq!(set(&instance, "u", &[1.0; 3]), ERROR);
    assert_eq!(set(&instance, "u", &[1.0; 4]), OK);
    instance.initialize(0.0, 1.0, 1e-8);
    assert_eq!(unsafe { fmi3EnterConfigurationMode(handle) }, ERROR);
    // Back at the beginning the sizes are those of the description.
    assert_eq!(unsafe { fmi3Reset(handle) }, OK);
    assert_eq!(array(&instance, "c", 3).len(), 3);
    // A unit without such parameters has nothing to configure.
    let plain = Unpacked::new(
        &support::compile("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;"),
        Version::Three,
    );
    let instance = Instance3::co_simulation(&plain, false);
    assert_eq!(unsafe { fmi3EnterConfigurationMode(instance.handle) }, ERROR);
    assert!(said("there is nothing to configure"));
}

#[test]
fn what_importers_need_must_have_sizes_that_they_know() {
    let refused = |text: &str, what: &str| {
        let message = unit(text, "M", &[parameter("n", 1, 4)], &[2]).unwrap_err();
        assert!(message.contains(what), "{message}");
    };
    refused(
        "model M parameter Integer n = 2; input Real u[n + 1]; output Real y = sum(u); end M;",
        "importers need `u[1]`",
    );
    refused(
        "model M parameter Integer n = 2; Real x[2*n](each start = 1, each fixed = true); equation der(x) = -x; end M;",
        "importers need",
    );
    // Local variables may be left out.
    let text = "model M parameter Integer n = 2; input Real u[n]; Real d[n + 1] = {sum(u) for i in 1:n + 1}; output Real y = sum(d); end M;";
    let bytes = unit(text, "M", &[parameter("n", 1, 4)], &[2]).unwrap();
    let description = saltus_fmi::Unit::read(&bytes).unwrap().description;
    assert!(
        description.contains("name=\"u\"") && !description.contains("name=\"d"),
        "{description}"
    );
    let many = saltus_fmi::family::choices(&[parameter("n", 1, 40), parameter("m", 1, 40)]);
    assert!(many.unwrap_err().contains("no more than 1000"));
    assert!(saltus_fmi::family::choices(&[parameter("n", 0, 4)]).is_err());
    assert!(saltus_fmi::family::choices(&[parameter("n", 1, u64::MAX)]).is_err());
}

#[test]
fn files_of_other_sizes_are_those_that_were_exported() {
    let unit = chain();
    let folder = unit.folder.path().join("resources/sizes/4-2");
    let path = folder.join("model.saltus");
    std::fs::copy(unit.folder.path().join("resources/sizes/5-2/model.saltus"), &path).unwrap();
    let instance = Instance3::co_simulation(&unit, false);
    let (n, four) = (unit.reference("n"), 4_u64);
    unsafe {
        assert_eq!(fmi3EnterConfigurationMode(instance.handle), OK);
        assert_eq!(fmi3SetUInt64(instance.handle, &n, 1, &four, 1), OK);
        assert_eq!(fmi3ExitConfigurationMode(instance.handle), ERROR);
    }
    assert!(said("is not the one that was exported"));
}
