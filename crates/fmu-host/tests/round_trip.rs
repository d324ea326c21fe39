//! Units that Saltus makes, imported again: the values of a run of the model in them, whoever integrates.

use std::path::PathBuf;

use saltus::{Model, Session, Simulation};
use saltus_fmi::export::{ExportOptions, Runtime, export, host_platform};
use saltus_fmi::variables::Settings;
use saltus_fmi::{Interface, Version};
use saltus_fmu_host::{Description, ForeignInterface, ImportOptions, import, link};
use saltus_testing::repository;

/// Multi-mode models: states and index change.
const EXAMPLES: [&str; 5] = [
    "MotorAndLoad.mo",
    "mechanics/CupAndBall.mo",
    "mechanics/TwoBlocks.mo",
    "electrical/DiodeBridge.mo",
    "control/SampledDataControl.mo",
];

fn compiled(session: &Session) -> Model {
    let name = session.find_model(None).into_result().unwrap();
    session.compile(&name).into_result().unwrap()
}

fn example(path: &str) -> Model {
    let session = Session::new();
    session.add_file(repository().join("examples").join(path));
    compiled(&session)
}

fn of_text(text: &str) -> Model {
    let session = Session::new();
    session.add_text("M.mo", text);
    compiled(&session)
}

/// The library that goes into units; it is built for these tests.
fn runtime() -> Runtime {
    let program = std::env::current_exe().unwrap();
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = program
        .parent()
        .unwrap()
        .join(format!("{prefix}saltus_fmi_runtime{suffix}"));
    Runtime::read(host_platform(), &library).unwrap()
}

/// A folder with a unit.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        // Paths of users have blanks and more in them.
        Place(tempfile::Builder::new().prefix("unit mit Größe ").tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn export(&self, model: &Model, name: &str, version: Version) {
        let options = ExportOptions {
            version,
            interfaces: vec![Interface::ModelExchange, Interface::CoSimulation],
            without_sources: false,
            settings: Settings::default(),
        };
        let exported = export(model, &[runtime()], &options).unwrap();
        std::fs::write(self.path(name), exported.bytes).unwrap();
    }

    /// Changes what a unit says of itself.
    fn change_description(&self, name: &str, change: impl Fn(&str) -> String) {
        let bytes = std::fs::read(self.path(name)).unwrap();
        let mut entries = saltus_fmi::archive::unpack(&bytes).unwrap();
        let description = entries.iter_mut().find(|entry| entry.path == "modelDescription.xml");
        let content = &mut description.unwrap().content;
        *content = change(std::str::from_utf8(content).unwrap()).into_bytes();
        std::fs::write(self.path(name), saltus_fmi::archive::pack(&entries).unwrap()).unwrap();
    }

    /// Writes the block; `around` may add a model.
    fn import(&self, unit: &str, interface: ForeignInterface, step: Option<f64>, around: &str) -> Model {
        let description = Description::of_file(&self.path(unit)).unwrap();
        let options = ImportOptions {
            name: "Imported".to_owned(),
            file: unit.to_owned(),
            interface,
            step,
        };
        let (text, _) = import(&description, &options).unwrap();
        std::fs::write(self.path("Imported.mo"), &text).unwrap();
        let session = Session::new();
        session.add_file(self.path("Imported.mo"));
        let name = if around.is_empty() { "Imported" } else { "Around" };
        if !around.is_empty() {
            session.add_text("Around.mo", around);
        }
        let model = session.compile(name).into_result();
        let model = model.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{text}"));
        link(&model.foreign_units()).unwrap();
        model
    }
}

fn event_times(simulation: &Simulation) -> Vec<f64> {
    let times = simulation.time();
    let mut events: Vec<f64> = times
        .windows(2)
        .filter(|two| two[0] == two[1])
        .map(|two| two[0])
        .collect();
    events.dedup();
    events
}

/// The value at a time that is no event.
fn at(simulation: &Simulation, name: &str, time: f64) -> Option<f64> {
    let times = simulation.time();
    let row = times.iter().position(|t| (t - time).abs() < 1e-9)?;
    Some(simulation.values(name)?[row])
}

/// Largest values of a variable: what errors are measured by.
fn size(simulation: &Simulation, name: &str) -> f64 {
    let values = simulation.values(name).unwrap();
    values
        .iter()
        .filter(|v| v.is_finite())
        .fold(1e-9, |size, v| size.max(v.abs()))
}

const POINTS: usize = 40;

fn run(model: &Model, span: (f64, f64)) -> Simulation {
    let run = model.run().start(span.0).stop(span.1).tolerance(1e-9);
    let run = run.interval((span.1 - span.0) / POINTS as f64);
    run.simulate()
        .unwrap_or_else(|failed| panic!("{:?}", failed.diagnostic()))
}

/// Compares what both have, away from events.
fn compare(own: &Simulation, imported: &Simulation, names: &[(String, String)], span: (f64, f64), what: &str) {
    let length = span.1 - span.0;
    let events = event_times(own);
    for point in 1..POINTS {
        let time = span.0 + length / POINTS as f64 * point as f64;
        if events.iter().any(|event| (event - time).abs() < 1e-5 * length) {
            continue;
        }
        for (name, foreign) in names {
            let (expected, found) = (at(own, name, time), at(imported, foreign, time));
            let (expected, found) = (expected.unwrap(), found.unwrap());
            let allowed = 1e-5 * size(own, name);
            assert!(
                (expected - found).abs() <= allowed,
                "{what}: {name} at {time} is {found}, not {expected}"
            );
        }
    }
}

/// Names of what the block shows, in the model and in the block.
fn shared(place: &Place, unit: &str, own: &Simulation, imported: &Simulation) -> Vec<(String, String)> {
    let description = Description::of_file(&place.path(unit)).unwrap();
    let names = description.variables.iter().filter(|variable| variable.is_continuous);
    let both = names.filter_map(|variable| {
        let name = variable.name.to_string();
        let foreign = [name.clone(), format!("'{name}'")];
        let foreign = foreign.into_iter().find(|foreign| imported.values(foreign).is_some())?;
        own.values(&name)?;
        Some((name, foreign))
    });
    both.collect()
}

#[test]
fn model_exchange_gives_the_values_of_the_model() {
    for path in EXAMPLES {
        for version in [Version::Three, Version::Two] {
            let what = format!("{path}, FMI {version:?}");
            let (model, place) = (example(path), Place::new());
            place.export(&model, "unit.fmu", version);
            let imported = place.import("unit.fmu", ForeignInterface::ModelExchange, None, "");
            let span = model.run().span();
            let (own, imported) = (run(&model, span), run(&imported, span));
            let mut names = shared(&place, "unit.fmu", &own, &imported);
            // The voltages of the source and the diodes are states of some modes, and carried along in others.
            names.retain(|(name, _)| !path.contains("DiodeBridge") || name == "capacitor.v");
            assert!(!names.is_empty(), "{what}");
            compare(&own, &imported, &names, span, &what);
            let found = event_times(&imported);
            for event in event_times(&own)
                .iter()
                .filter(|&&event| event > span.0 && event < span.1)
            {
                let near = found
                    .iter()
                    .any(|time| (time - event).abs() <= 1e-7 * (span.1 - span.0));
                assert!(near, "{what}: no event at {event}: {found:?}");
            }
        }
    }
}

#[test]
fn co_simulation_gives_the_values_of_the_model_at_communication_points() {
    for path in ["mechanics/CupAndBall.mo", "MotorAndLoad.mo"] {
        for version in [Version::Three, Version::Two] {
            let what = format!("{path}, FMI {version:?}");
            let (model, place) = (example(path), Place::new());
            place.export(&model, "unit.fmu", version);
            let span = model.run().span();
            let step = (span.1 - span.0) / POINTS as f64;
            let imported = place.import("unit.fmu", ForeignInterface::CoSimulation, Some(step), "");
            let (own, imported) = (run(&model, span), run(&imported, span));
            let description = Description::of_file(&place.path("unit.fmu")).unwrap();
            let outputs = description
                .outputs
                .iter()
                .map(|output| &description.variables[output.variable]);
            assert!(outputs.count() > 0, "{what}");
            let names = shared(&place, "unit.fmu", &own, &imported);
            compare(&own, &imported, &names, span, &what);
            // Steps end at events, with FMI 3.
            let found = event_times(&imported);
            for event in event_times(&own).iter().filter(|_| version == Version::Three) {
                let near = found
                    .iter()
                    .any(|time| (time - event).abs() <= 1e-7 * (span.1 - span.0));
                assert!(
                    near || *event <= span.0 || *event >= span.1,
                    "{what}: no event at {event}: {found:?}"
                );
            }
        }
    }
}

const PLANT: &str = "
model Plant
  parameter Real m(min = 0.1) = 2;
  input Real f(start = 0);
  input Boolean locked(start = false);
  output Real x(start = 0.5, fixed = true);
  output Real v(start = 0, fixed = true);
  output Integer count(start = 0, fixed = true);
equation
  der(x) = v;
  m*der(v) = if locked then -50*v else f - 0.1*v;
  when x > 1 then
    reinit(v, -0.8*pre(v));
    count = pre(count) + 1;
  end when;
end Plant;
";

/// A controller around a plant that is a unit, and around the same plant as text.
fn controlled(plant: &str) -> String {
    format!(
        "model Around
  {plant} plant(m = 3);
  Real error = 0.9 - plant.x;
  Real integral(start = 0, fixed = true);
equation
  der(integral) = error;
  plant.f = 20*error + 4*integral - 3*plant.v;
  plant.locked = time > 2.5 and time < 2.75;
end Around;"
    )
}

#[test]
fn a_unit_in_a_loop_with_equations_gives_what_the_model_gives() {
    let own = {
        let session = Session::new();
        session.add_text("Plant.mo", PLANT);
        session.add_text("Around.mo", &controlled("Plant"));
        session.compile("Around").into_result().unwrap()
    };
    let place = Place::new();
    place.export(&of_text(PLANT), "plant.fmu", Version::Three);
    let around = controlled("Imported");
    let imported = place.import("plant.fmu", ForeignInterface::ModelExchange, None, &around);
    let span = (0.0, 4.0);
    let (own, imported) = (run(&own, span), run(&imported, span));
    let names = ["plant.x", "plant.v", "integral", "plant.f"].map(|name| (name.to_owned(), name.to_owned()));
    compare(&own, &imported, &names, span, "a loop");
    let last = |simulation: &Simulation| simulation.values("plant.count").unwrap().last().copied();
    assert_eq!(last(&own), last(&imported));
    assert!(last(&own) > Some(0.0));
}

/// Most tools make units of Co-Simulation that cannot save their state: steps go on from where they are.
#[test]
fn units_that_cannot_go_back_give_what_others_give() {
    let controlled = "model Around
  Imported plant(m = 3);
  Real filtered(start = 0, fixed = true);
equation
  der(filtered) = 5*(plant.x - filtered);
  plant.f = 20*(0.9 - plant.x) - 3*plant.v + sin(filtered);
  plant.locked = time > 2.5 and time < 2.75;
end Around;";
    let bits = |model: &Model, name: &str| {
        let simulation = run(model, (0.0, 4.0));
        let values = simulation.values(name).unwrap();
        values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>()
    };
    // Steps of FMI 2 do not end at events, and neither do those of units that cannot go back.
    let place = Place::new();
    place.export(&of_text(PLANT), "plant.fmu", Version::Two);
    let saves = place.import("plant.fmu", ForeignInterface::CoSimulation, Some(0.02), controlled);
    let names = ["plant.x", "plant.v", "filtered"];
    let expected = names.map(|name| bits(&saves, name));
    for version in [Version::Two, Version::Three] {
        let place = Place::new();
        place.export(&of_text(PLANT), "plant.fmu", version);
        place.change_description("plant.fmu", |text| {
            let without = [
                "canGetAndSetFMUState",
                "canGetAndSetFMUstate",
                "canSerializeFMUState",
                "canSerializeFMUstate",
            ]
            .iter()
            .fold(text.to_owned(), |text, name| {
                text.replace(&format!("{name}=\"true\" "), "")
            });
            assert_ne!(without, text);
            without
        });
        let does_not = place.import("plant.fmu", ForeignInterface::CoSimulation, Some(0.02), controlled);
        for (name, expected) in names.iter().zip(&expected) {
            assert!(expected.len() > 200);
            // Also when it is run again.
            for _ in 0..2 {
                assert_eq!(bits(&does_not, name), *expected, "{version:?} {name}");
            }
        }
    }
}

#[test]
fn why_a_library_cannot_be_loaded_is_said() {
    let place = Place::new();
    let options = ExportOptions {
        version: Version::Three,
        interfaces: vec![Interface::CoSimulation],
        without_sources: false,
        settings: Settings::default(),
    };
    let library = Runtime {
        platform: host_platform(),
        library: b"this is no library".to_vec(),
        licences: None,
    };
    let exported = export(&of_text(PLANT), &[library], &options).unwrap();
    std::fs::write(place.path("plant.fmu"), exported.bytes).unwrap();
    let model = place.import("plant.fmu", ForeignInterface::CoSimulation, Some(0.1), "");
    let failed = model.run().stop(1.0).simulate().unwrap_err();
    let message = &failed.diagnostic().unwrap().message;
    let why = message.split("cannot be loaded").nth(1).unwrap();
    // The words are those of the system, which names the file.
    assert!(why.contains("Plant."), "{message}");
}

/// Runs again and again, also side by side: events are where they are, and the values follow. A unit is asked at points ahead of
/// an event and behind it in turn; what it has seen at one of them must not change what it says at another.
#[test]
fn runs_are_repeatable_and_side_by_side() {
    let place = Place::new();
    let own = example("mechanics/CupAndBall.mo");
    place.export(&own, "unit.fmu", Version::Three);
    let model = place.import("unit.fmu", ForeignInterface::ModelExchange, None, "");
    let span = (0.0, 2.0);
    let own = run(&own, span);
    let names = ["x", "y"].map(|name| (name.to_owned(), name.to_owned()));
    let again = |what: &str| {
        let simulation = run(&model, span);
        compare(&own, &simulation, &names, span, what);
        let values = simulation.values("x").unwrap();
        values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>()
    };
    let first = again("the first time");
    for time in 0..12 {
        assert_eq!(again("again"), first, "{time}");
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| again("side by side"))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), first);
        }
    });
}

/// Every value is a question with all states in it: what a question costs must not grow with their number squared.
#[test]
fn a_unit_may_have_many_states() {
    let place = Place::new();
    let own = of_text(
        "model Row
           parameter Integer n = 100;
           Real x[n](each start = 0, each fixed = true);
         equation
           der(x[1]) = (if time < 0.5 then 1 else 0) - x[1];
           for i in 2:n loop
             der(x[i]) = 60*(x[i - 1] - x[i]);
           end for;
         end Row;",
    );
    place.export(&own, "unit.fmu", Version::Three);
    let imported = place.import("unit.fmu", ForeignInterface::ModelExchange, None, "");
    let (own, imported) = (run(&own, (0.0, 2.0)), run(&imported, (0.0, 2.0)));
    let last = |of: &Simulation, name: &str| *of.values(name).unwrap().last().unwrap();
    for at in [1, 2, 50, 100] {
        let (expected, found) = (last(&own, &format!("x[{at}]")), last(&imported, &format!("'x[{at}]'")));
        assert!((expected - found).abs() < 1e-7, "x[{at}] is {found}, not {expected}");
    }
}

/// One unit in one process, with other parameters in each run: the rope goes taut and slack at other times, and the unit chooses
/// other states on the way.
#[test]
fn runs_of_a_family_give_what_the_model_gives() {
    let place = Place::new();
    let own = example("mechanics/CupAndBall.mo");
    place.export(&own, "unit.fmu", Version::Three);
    let model = place.import("unit.fmu", ForeignInterface::ModelExchange, None, "");
    // Quasi-random points.
    let share = |at: u32, slope: f64| (f64::from(at) * slope).fract();
    let mut wrong = Vec::new();
    for at in 1..=40 {
        let (g, l) = (
            8.0 + 3.0 * share(at, 0.754_877_666),
            0.9 + 0.2 * share(at, 0.569_840_291),
        );
        let last = |model: &Model| {
            let run = model.run().stop(2.0).set("g", &g.to_string()).unwrap();
            let run = run.set("L", &l.to_string()).unwrap().tolerance(1e-7);
            let done = run.simulate().map_err(|failed| failed.to_string())?;
            let last = |name: &str| *done.values(name).unwrap().last().unwrap();
            Ok::<_, String>(["x", "y", "vx", "vy"].map(last))
        };
        let expected = last(&own).unwrap();
        match last(&model) {
            Ok(found) if found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3) => {}
            found => wrong.push(format!("g = {g}, L = {l}: {found:?}, not {expected:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of 40:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn units_do_not_run_unless_that_is_allowed() {
    let place = Place::new();
    place.export(&of_text(PLANT), "plant.fmu", Version::Three);
    let description = Description::of_file(&place.path("plant.fmu")).unwrap();
    let options = ImportOptions {
        name: "Imported".to_owned(),
        file: "plant.fmu".to_owned(),
        interface: ForeignInterface::ModelExchange,
        step: None,
    };
    let session = Session::new();
    session.add_text("Imported.mo", &import(&description, &options).unwrap().0);
    let model = session.compile("Imported").into_result().unwrap();
    assert!(!model.foreign_units().is_empty());
    let failed = model.run().simulate().unwrap_err();
    let message = &failed.diagnostic().unwrap().message;
    assert!(message.contains("has not been allowed"), "{message}");
}

#[test]
fn what_is_no_unit_is_refused_in_words() {
    let place = Place::new();
    let wrong = |content: &[u8]| {
        std::fs::write(place.path("wrong.fmu"), content).unwrap();
        Description::of_file(&place.path("wrong.fmu")).unwrap_err()
    };
    assert!(wrong(b"").contains("zip"));
    assert!(wrong(&[0x50; 4000]).contains("zip"));
    let pack = |path: &str, content: &str| {
        let entry = saltus_fmi::archive::Entry {
            path: path.to_owned(),
            content: content.as_bytes().to_vec(),
        };
        saltus_fmi::archive::pack(&[entry]).unwrap()
    };
    assert!(wrong(&pack("a.txt", "")).contains("modelDescription.xml"));
    assert!(wrong(&pack("modelDescription.xml", "<a")).contains("no XML"));
    assert!(wrong(&pack("modelDescription.xml", "<a/>")).contains("FMI 1.0"));
    let three = "<fmiModelDescription fmiVersion=\"3.0\"/>";
    assert!(wrong(&pack("modelDescription.xml", three)).contains("no variables"));
    let huge = "<fmiModelDescription fmiVersion=\"3.0\"><ModelVariables>
        <Float64 name=\"a\" valueReference=\"1\"><Dimension start=\"4000000\"/><Dimension start=\"4000000\"/></Float64>
        </ModelVariables></fmiModelDescription>";
    assert!(wrong(&pack("modelDescription.xml", huge)).contains("too large"));
}
