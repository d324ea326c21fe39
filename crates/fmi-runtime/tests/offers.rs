//! What units offer beside numbers and steps: clocks, texts, points within steps, terminals; and large ones.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "the tests call as importers do, and keep their promises"
)]

mod support;

use std::ffi::{CStr, c_char, c_void};

use saltus_fmi::Version;
use saltus_fmi::archive::unpack;
use saltus_fmi::export::{ExportOptions, Runtime, export};
use saltus_fmi::variables::Kind;
use saltus_fmi_runtime::fmi2::fmi2GetString;
use saltus_fmi_runtime::fmi3::*;
use support::{ERROR, Instance3, Integrator, OK, Unpacked, compile, example};

#[test]
fn the_clock_ticks_where_the_mode_changes() {
    let model = example("mechanics/CupAndBall.mo");
    let unit = Unpacked::new(&model, Version::Three);
    let clock = unit.reference("saltus.modeChange");
    let ticks = |instance: &Instance3<'_>| {
        let mut ticks = false;
        assert_eq!(unsafe { fmi3GetClock(instance.handle, &clock, 1, &mut ticks) }, OK);
        ticks
    };
    let mode = |instance: &Instance3<'_>| {
        let (reference, mut mode) = (unit.reference("saltus.mode"), -1);
        assert_eq!(
            unsafe { fmi3GetInt32(instance.handle, &reference, 1, &mut mode, 1) },
            OK
        );
        mode
    };
    let (start, stop) = model.run().span();
    let instance = Instance3::co_simulation(&unit, true);
    instance.initialize(start, stop, 1e-8);
    instance.updates();
    unsafe { assert_eq!(fmi3EnterStepMode(instance.handle), OK) };
    let mut any = false;
    // At events only.
    assert_eq!(unsafe { fmi3GetClock(instance.handle, &clock, 1, &mut any) }, ERROR);
    let (mut time, mut changes, mut others) = (start, 0, 0);
    while time < stop {
        let step = instance.step(time, (stop - time).min(0.05));
        time = step.time;
        if time >= stop {
            break;
        }
        // An event that is asked for and changes nothing, or one that is due.
        let before = mode(&instance);
        unsafe { assert_eq!(fmi3EnterEventMode(instance.handle), OK) };
        instance.updates();
        assert_eq!(ticks(&instance), mode(&instance) != before, "at {time}");
        if ticks(&instance) {
            changes += 1;
        } else {
            others += 1;
        }
        unsafe { assert_eq!(fmi3EnterStepMode(instance.handle), OK) };
    }
    assert!(changes >= 2 && others > 10, "{changes} {others}");
    assert!(unit.unit.description.contains("<Clock name=\"saltus.modeChange\""));
    let two = Unpacked::new(&model, Version::Two);
    assert!(!two.unit.description.contains("modeChange"));
}

#[test]
fn texts_can_be_read() {
    let model = compile(
        "model M
           parameter String colour = \"red & \\\"blue\\\"\";
           parameter Integer n = 3;
           Real x(start = 1, fixed = true);
           output String said = if x > 0.5 then colour else \"small\";
         equation
           der(x) = -x;
         end M;",
    );
    let unit = Unpacked::new(&model, Version::Three);
    let instance = Instance3::exchange(&unit);
    instance.initialize(0.0, 2.0, 1e-8);
    let text = |name: &str| {
        let (reference, mut text) = (unit.reference(name), std::ptr::null());
        assert_eq!(
            unsafe { fmi3GetString(instance.handle, &reference, 1, &mut text, 1) },
            OK
        );
        unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
    };
    assert_eq!(text("said"), "red & \"blue\"");
    let mut integrator = Integrator::new(&instance, 0.0, 0.01);
    assert!(integrator.run_to(1.0));
    assert_eq!(text("said"), "small");
    // A number is no text, and no text can be set.
    let (reference, mut wrong): (u32, *const c_char) = (unit.reference("x"), std::ptr::null());
    assert_eq!(
        unsafe { fmi3GetString(instance.handle, &reference, 1, &mut wrong, 1) },
        ERROR
    );
    let reference = unit.reference("said");
    let green = c"green".as_ptr();
    assert_eq!(
        unsafe { fmi3SetString(instance.handle, &reference, 1, &green, 1) },
        ERROR
    );
    assert_eq!(
        unsafe { fmi2GetString(std::ptr::null_mut(), &reference, 1, &mut wrong) },
        ERROR
    );
    assert!(unit.unit.description.contains("<String name=\"said\""));
    assert!(Unpacked::new(&model, Version::Two).unit.description.contains("<String"));
}

/// What an importer hears within steps.
struct Listener {
    handle: *mut c_void,
    reference: u32,
    heard: Vec<(f64, f64)>,
    leave_after: f64,
}

unsafe extern "C" fn listen(
    environment: *mut c_void,
    time: f64,
    set_requested: bool,
    get_allowed: bool,
    finished: bool,
    can_return: bool,
    returns: *mut bool,
    return_time: *mut f64,
) {
    let listener = unsafe { &mut *environment.cast::<Listener>() };
    assert!(!set_requested && get_allowed && finished);
    let mut value = f64::NAN;
    assert_eq!(
        unsafe { fmi3GetFloat64(listener.handle, &listener.reference, 1, &mut value, 1) },
        OK
    );
    listener.heard.push((time, value));
    unsafe {
        *returns = can_return && time > listener.leave_after;
        *return_time = time;
    }
}

#[test]
fn importers_hear_of_points_within_steps_and_may_leave_there() {
    let model = compile(
        "model M
           output Real x(start = 1, fixed = true);
         equation
           der(x) = -x;
         end M;",
    );
    let unit = Unpacked::new(&model, Version::Three);
    for may_return in [false, true] {
        let mut listener = Listener {
            handle: std::ptr::null_mut(),
            reference: unit.reference("x"),
            heard: Vec::new(),
            leave_after: 1.3,
        };
        let handle = unsafe {
            fmi3InstantiateCoSimulation(
                c"i".as_ptr(),
                unit.token.as_ptr(),
                unit.resources.as_ptr(),
                false,
                false,
                false,
                may_return,
                std::ptr::null(),
                0,
                (&raw mut listener).cast(),
                None,
                Some(listen),
            )
        };
        let instance = Instance3 { handle, unit: &unit };
        listener.handle = handle;
        instance.initialize(0.0, 2.0, 1e-9);
        let first = instance.step(0.0, 1.0);
        assert!(!first.early && first.time == 1.0);
        let second = instance.step(1.0, 1.0);
        assert_eq!(second.early, may_return);
        let end = if may_return { second.time } else { 2.0 };
        assert!(end > 1.3 && (!may_return || end < 1.5), "{end}");
        assert!((instance.get("x") - (-end).exp()).abs() < 1e-7);
        assert!(listener.heard.len() >= 9, "{:?}", listener.heard);
        assert!(listener.heard.is_sorted_by(|a, b| a.0 < b.0));
        for (time, value) in &listener.heard {
            assert!((value - (-time).exp()).abs() < 1e-7, "{value} at {time}");
        }
    }
}

#[test]
fn connectors_are_terminals() {
    let text = "
        package P
          connector Pin
            Real v(unit = \"V\");
            flow Real i(unit = \"A\");
          end Pin;
          model Resistor
            Pin p;
            Pin pins[2];
            parameter Real R = 2;
          protected
            Pin hidden;
          equation
            p.v = R*time;
            pins.v = {1, 2};
            hidden.v = 0;
          end Resistor;
        end P;";
    let session = saltus::Session::new();
    session.add_text("P.mo", text);
    let model = session.compile("P.Resistor").into_result().unwrap();
    let options = ExportOptions {
        version: Version::Three,
        interfaces: vec![saltus_fmi::Interface::CoSimulation],
        without_sources: false,
        settings: saltus_fmi::variables::Settings::default(),
    };
    let bytes = export(&model, &[], &options).unwrap().bytes;
    let entries = unpack(&bytes).unwrap();
    let terminals = entries
        .iter()
        .find(|entry| entry.path == "terminalsAndIcons/terminalsAndIcons.xml");
    let terminals = String::from_utf8(terminals.unwrap().content.clone()).unwrap();
    for part in [
        "<Terminal name=\"p\" matchingRule=\"plug\">",
        "<TerminalMemberVariable variableName=\"p.v\" memberName=\"v\" variableKind=\"signal\"/>",
        "<TerminalMemberVariable variableName=\"p.i\" memberName=\"i\" variableKind=\"inflow\"/>",
        "<Terminal name=\"pins[1]\"",
        "variableName=\"pins[2].i\" memberName=\"i\"",
    ] {
        assert!(terminals.contains(part), "{part}\n{terminals}");
    }
    assert!(!terminals.contains("hidden"));
    let none = export(&example("mechanics/CupAndBall.mo"), &[], &options)
        .unwrap()
        .bytes;
    assert!(
        !unpack(&none)
            .unwrap()
            .iter()
            .any(|entry| entry.path.starts_with("terminals"))
    );
}

#[test]
fn units_are_told_in_base_units_with_those_to_show_values_in() {
    let text = "
        model M
          parameter Real phi(unit = \"rad\", displayUnit = \"deg\") = 1;
          parameter Real T(unit = \"K\", displayUnit = \"degC\") = 300;
          parameter Real p(unit = \"bar\", displayUnit = \"kPa\") = 1;
          parameter Real k(unit = \"N.m/rad\") = 1;
          parameter Real odd(unit = \"m(1/2)\") = 1;
          parameter Real money(unit = \"EUR\", displayUnit = \"USD\") = 1;
        end M;";
    for version in [Version::Two, Version::Three] {
        let options = ExportOptions {
            version,
            interfaces: vec![saltus_fmi::Interface::CoSimulation],
            without_sources: false,
            settings: saltus_fmi::variables::Settings::default(),
        };
        let bytes = export(&compile(text), &[], &options).unwrap().bytes;
        let entries = unpack(&bytes).unwrap();
        let description = entries.iter().find(|entry| entry.path == "modelDescription.xml");
        let description = String::from_utf8(description.unwrap().content.clone()).unwrap();
        for part in [
            "<Unit name=\"N.m/rad\">\n      <BaseUnit kg=\"1\" m=\"2\" s=\"-2\"/>",
            "<Unit name=\"bar\">\n      <BaseUnit kg=\"1\" m=\"-1\" s=\"-2\" factor=\"100000\"/>",
            "<BaseUnit K=\"1\"/>\n      <DisplayUnit name=\"degC\" offset=\"-273.15\"/>",
            "<DisplayUnit name=\"kPa\" factor=\"100\"/>",
            "<Unit name=\"m(1/2)\"/>",
            "<Unit name=\"EUR\"/>",
            "unit=\"rad\" displayUnit=\"deg\" start=\"1\"",
            "unit=\"EUR\" start=\"1\"",
        ] {
            assert!(description.contains(part), "{part}\n{description}");
        }
        let degrees = description.split("<DisplayUnit name=\"deg\" factor=\"").nth(1).unwrap();
        let factor: f64 = degrees.split('"').next().unwrap().parse().unwrap();
        assert!((factor * std::f64::consts::PI / 180.0 - 1.0).abs() < 1e-15, "{factor}");
    }
}

#[test]
fn licences_beside_the_library_go_along() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("library.so");
    std::fs::write(&library, "code").unwrap();
    let options = ExportOptions {
        version: Version::Three,
        interfaces: vec![saltus_fmi::Interface::CoSimulation],
        without_sources: false,
        settings: saltus_fmi::variables::Settings::default(),
    };
    let licences = || {
        let runtime = Runtime::read("x86_64-linux".to_owned(), &library).unwrap();
        let bytes = export(&example("mechanics/CupAndBall.mo"), &[runtime], &options)
            .unwrap()
            .bytes;
        let entries = unpack(&bytes).unwrap().into_iter();
        let mut found = entries.filter(|entry| entry.path == "documentation/licenses/license.txt");
        found.next().map(|entry| entry.content)
    };
    assert_eq!(licences(), None);
    std::fs::write(folder.path().join("LICENSE-THIRD-PARTY.txt"), "as you like").unwrap();
    assert_eq!(licences().as_deref(), Some(b"as you like".as_slice()));
}

#[test]
fn each_runtime_has_a_place_of_its_own() {
    let model = example("mechanics/CupAndBall.mo");
    let with = |version: Version, platforms: &[&str]| {
        let library = b"code".to_vec();
        let runtime = |platform: &&str| Runtime {
            platform: (*platform).to_owned(),
            library: library.clone(),
            licences: None,
        };
        let options = ExportOptions {
            version,
            interfaces: vec![saltus_fmi::Interface::CoSimulation],
            without_sources: false,
            settings: saltus_fmi::variables::Settings::default(),
        };
        let exported = export(&model, &platforms.iter().map(runtime).collect::<Vec<_>>(), &options);
        exported.map(|exported| unpack(&exported.bytes).unwrap())
    };
    let platforms = [
        "x86_64-linux",
        "aarch64-linux",
        "x86_64-windows",
        "x86_64-darwin",
        "aarch64-darwin",
    ];
    let entries = with(Version::Three, &platforms).unwrap();
    for (platform, ending) in platforms.iter().zip(["so", "so", "dll", "dylib", "dylib"]) {
        let path = format!("binaries/{platform}/CupAndBall.{ending}");
        assert!(entries.iter().any(|entry| entry.path == path), "{path}");
    }
    let entries = with(Version::Two, &["x86_64-linux", "x86_64-windows", "aarch64-darwin"]).unwrap();
    for path in [
        "linux64/CupAndBall.so",
        "win64/CupAndBall.dll",
        "darwin64/CupAndBall.dylib",
    ] {
        assert!(
            entries.iter().any(|entry| entry.path == format!("binaries/{path}")),
            "{path}"
        );
    }
    // FMI 2 has one folder for both.
    assert!(with(Version::Two, &["x86_64-darwin", "aarch64-darwin"]).is_err());
    assert!(with(Version::Three, &["x86_64-linux", "x86_64-linux"]).is_err());
}

#[test]
fn ten_thousand_variables() {
    let model = compile(
        "model M
           parameter Integer n = 5000;
           parameter Real k[n] = {1 + i/n for i in 1:n};
           Real x[n](each start = 1, each fixed = true);
         equation
           for i in 1:n loop
             der(x[i]) = -k[i]*x[i];
           end for;
         end M;",
    );
    let unit = Unpacked::new(&model, Version::Three);
    assert!(unit.variables.list.len() > 10_000);
    let instance = Instance3::co_simulation(&unit, false);
    instance.initialize(0.0, 1.0, 1e-6);
    instance.step(0.0, 0.1);
    let references: Vec<u32> = { (0..).zip(&unit.variables.list) }
        .filter(|(_, shown)| shown.kind == Kind::Float)
        .map(|(reference, _)| reference)
        .collect();
    let mut values = vec![f64::NAN; references.len()];
    let status = unsafe {
        fmi3GetFloat64(
            instance.handle,
            references.as_ptr(),
            references.len(),
            values.as_mut_ptr(),
            values.len(),
        )
    };
    assert_eq!(status, OK);
    assert!(values.iter().all(|value| value.is_finite()));
    assert!((instance.get("x[5000]") - (-0.2_f64).exp()).abs() < 1e-5);
}

#[test]
fn arrays_are_read_and_set_as_a_whole() {
    let model = compile(
        "model M
           parameter Real K[2, 3] = {{1, 2, 3}, {4, 5, 6}};
           input Real u[3](each start = 1);
           output Real y[2];
           Real x[2](each start = 0, each fixed = true);
         equation
           y = K*u;
           der(x) = y;
         end M;",
    );
    let settings = saltus_fmi::variables::Settings {
        arrays: true,
        ..Default::default()
    };
    let unit = Unpacked::with(&model, Version::Three, settings);
    let array = |name: &str| unit.reference(name);
    let description = &unit.unit.description;
    let declared = format!("<Float64 name=\"K\" valueReference=\"{}\"", array("K"));
    assert!(description.contains(&declared), "{description}");
    assert!(description.contains("start=\"1 2 3 4 5 6\""), "{description}");
    assert!(description.contains("<Dimension start=\"2\"/>") && !description.contains("name=\"K[1,1]\""));
    assert!(description.contains(&format!("<Output valueReference=\"{}\"/>", array("y"))));
    let instance = Instance3::co_simulation(&unit, false);
    let handle = instance.handle;
    let (k, u, y) = (array("K"), array("u"), array("y"));
    let set = [1.0, 2.0, 1.0, 1.0, 2.0, 0.5];
    assert_eq!(unsafe { fmi3SetFloat64(handle, &k, 1, set.as_ptr(), 6) }, OK);
    assert_eq!(unsafe { fmi3SetFloat64(handle, &k, 1, set.as_ptr(), 5) }, ERROR);
    assert_eq!(unsafe { fmi3SetFloat64(handle, &(k + 100), 1, set.as_ptr(), 6) }, ERROR);
    let inputs = [7.0, 8.0, 9.0];
    assert_eq!(unsafe { fmi3SetFloat64(handle, &u, 1, inputs.as_ptr(), 3) }, OK);
    instance.initialize(0.0, 1.0, 1e-8);
    let mut outputs = [0.0; 4];
    let both = [y, unit.reference("x")];
    assert_eq!(
        unsafe { fmi3GetFloat64(handle, both.as_ptr(), 2, outputs.as_mut_ptr(), 4) },
        OK
    );
    assert_eq!(outputs, [32.0, 27.5, 0.0, 0.0]);
    instance.step(0.0, 0.5);
    let mut states = [0.0; 2];
    assert_eq!(
        unsafe { fmi3GetFloat64(handle, &both[1], 1, states.as_mut_ptr(), 2) },
        OK
    );
    assert!((states[0] - 16.0).abs() < 1e-6 && (states[1] - 13.75).abs() < 1e-6);
}

#[test]
fn names_are_structured_where_they_are() {
    for (name, convention) in [("'a b'", "structured"), ("'x.y[1]'", "structured"), ("'Größe'", "flat")] {
        let text = format!("model M Real {name}(start = 1, fixed = true); equation der({name}) = -{name}; end M;");
        let unit = Unpacked::new(&compile(&text), Version::Three);
        let description = std::fs::read_to_string(unit.folder.path().join("modelDescription.xml")).unwrap();
        let attribute = format!("variableNamingConvention=\"{convention}\"");
        assert!(description.contains(&attribute), "{name}: {description}");
        assert!(unit.variables.reference(name).is_some());
    }
}
