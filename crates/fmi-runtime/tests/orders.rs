//! Calls in any order, from several threads, with null pointers and wrong counts: statuses and messages, never a crash. The
//! shared library is loaded as tools load it, many times.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "the tests call as importers do, and keep their promises"
)]

mod support;

use std::ffi::{c_char, c_void};

use saltus_fmi::Version;
use saltus_fmi::state::{Call, State};
use saltus_fmi_runtime::{fmi2, fmi3::*};
use saltus_testing::Random;
use support::{DISCARD, ERROR, Handle, Instance3, OK, Unpacked, compile, example, library, log, said};

/// Anything that an importer may send.
fn number(random: &mut Random) -> f64 {
    match random.below(8) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => -1.0,
        3 => 1e300,
        _ => random.below(1000) as f64 / 500.0,
    }
}

const MODEL: &str = "
    model Tank
      type Kind = enumeration(small, large);
      parameter Kind kind = Kind.small;
      parameter Real area = 2;
      parameter Integer n = 3;
      input Real inflow(start = 0.5);
      input Boolean open;
      output Real level(start = 0, fixed = true);
      Real free;
      Integer count(start = 0, fixed = true);
    equation
      area*der(level) = inflow - (if open then level else 0);
      if level < 1 then
        der(free) = 1;
      else
        free = level*n + (if kind == Kind.large then 1 else 0);
      end if;
      when level > 0.5 then
        count = pre(count) + 1;
      end when;
    end Tank;";

/// One call of FMI 3, with whatever arguments.
unsafe fn any_call(
    random: &mut Random,
    handle: Handle,
    saved: &mut Vec<*mut c_void>,
    time: &mut f64,
    count: u32,
) -> i32 {
    let reference = random.below(count as usize + 3) as u32;
    let (mut flag, mut other, mut number) = ([false; 4], 0, number(random));
    let mut vector = vec![0.5; random.below(6)];
    let nothing: *mut f64 = std::ptr::null_mut();
    unsafe {
        match random.below(34) {
            0 | 1 => fmi3EnterInitializationMode(handle, false, number, 0.0, random.below(2) == 0, 5.0),
            2 | 3 => fmi3ExitInitializationMode(handle),
            4 => fmi3EnterEventMode(handle),
            5 | 6 => {
                let [a, b, c, d] = &mut flag;
                let mut e = false;
                fmi3UpdateDiscreteStates(handle, a, b, c, d, &mut e, &mut number)
            }
            7 | 8 => fmi3EnterContinuousTimeMode(handle),
            9 | 10 => fmi3EnterStepMode(handle),
            11..=13 => {
                let step = random.below(10) as f64 / 50.0;
                let [a, b, c, _] = &mut flag;
                let mut reached = *time;
                let status = fmi3DoStep(handle, *time, step, true, a, b, c, &mut reached);
                if status == OK {
                    *time = reached;
                }
                status
            }
            14 => fmi3GetFloat64(handle, &reference, 1, &mut number, 1),
            15 => fmi3SetFloat64(handle, &reference, 1, &number, 1),
            16 => fmi3GetInt32(handle, &reference, 1, &mut other, 1),
            17 => fmi3SetInt32(handle, &reference, 1, &other, 1),
            18 => fmi3GetBoolean(handle, &reference, 1, &mut flag[0], 1),
            19 => fmi3SetBoolean(handle, &reference, 1, &(random.below(2) == 0), 1),
            20 => fmi3SetInt64(handle, &reference, 1, &(random.below(4) as i64), 1),
            21 => fmi3SetTime(handle, number),
            22 => fmi3SetContinuousStates(handle, vector.as_ptr(), vector.len()),
            23 => fmi3GetContinuousStateDerivatives(handle, vector.as_mut_ptr(), vector.len()),
            24 => fmi3GetEventIndicators(handle, vector.as_mut_ptr(), vector.len()),
            25 => fmi3GetContinuousStates(handle, nothing, 2),
            26 => {
                let mut state = std::ptr::null_mut();
                let status = fmi3GetFMUState(handle, &mut state);
                saved.extend((!state.is_null()).then_some(state));
                status
            }
            27 => {
                let at = random.below(saved.len() + 1);
                fmi3SetFMUState(handle, saved.get(at).copied().unwrap_or(std::ptr::null_mut()))
            }
            28 if random.below(4) == 0 => fmi3Terminate(handle),
            29 if random.below(3) == 0 => {
                *time = 0.0;
                fmi3Reset(handle)
            }
            30 => fmi3CompletedIntegratorStep(handle, true, &mut flag[0], &mut flag[1]),
            31 => {
                fmi3GetDirectionalDerivative(handle, &reference, 1, &reference, 1, &number, 1, &mut number.clone(), 1)
            }
            32 => fmi3GetFloat64(handle, std::ptr::null(), 3, nothing, 3),
            _ => fmi3GetOutputDerivatives(handle, &reference, 1, &1, &mut number, 1),
        }
    }
}

fn storm(unit: &Unpacked, seed: u64, calls: usize) -> usize {
    let mut random = Random(seed);
    let exchange = seed.is_multiple_of(2);
    let instance = if exchange {
        Instance3::exchange(unit)
    } else {
        Instance3::co_simulation(unit, seed % 4 == 1)
    };
    let (mut saved, mut time, mut fine) = (Vec::new(), 0.0, 0);
    for _ in 0..calls {
        let count = unit.variables.list.len() as u32;
        let status = unsafe { any_call(&mut random, instance.handle, &mut saved, &mut time, count) };
        assert!([OK, DISCARD, ERROR].contains(&status), "{status}");
        fine += usize::from(status == OK);
    }
    // Whatever happened: it can be reset, and runs.
    unsafe { assert_eq!(fmi3Reset(instance.handle), OK) };
    instance.initialize(0.0, 1.0, 1e-6);
    saved.into_iter().for_each(|state| instance.free(state));
    fine
}

#[test]
fn calls_in_any_order_from_eight_threads() {
    let unit = Unpacked::new(&compile(MODEL), Version::Three);
    let fine: usize = std::thread::scope(|scope| {
        let unit = &unit;
        let threads: Vec<_> = (0..8u64)
            .map(|thread| scope.spawn(move || (0..6).map(|n| storm(unit, 977 * (6 * thread + n) + thread, 300)).sum()))
            .collect();
        threads
            .into_iter()
            .map(|thread| -> usize { thread.join().unwrap() })
            .sum()
    });
    assert!(fine > 1000, "{fine} calls went well");
}

#[test]
fn what_is_not_allowed_is_told() {
    let unit = Unpacked::new(&compile(MODEL), Version::Three);
    let instance = Instance3::co_simulation(&unit, false);
    let mut flags = [false; 3];
    let [a, b, c] = &mut flags;
    let status = unsafe { fmi3DoStep(instance.handle, 0.0, 0.1, true, a, b, c, &mut 0.0) };
    assert_eq!(status, ERROR);
    assert!(said(
        "DoStep is not allowed: the instance, for Co-Simulation, is instantiated and not yet initialized"
    ));
    assert_eq!(instance.set("free", 1.0), ERROR);
    assert!(said("`free` follows from the equations and cannot be set"));
    let kind = unit.reference("kind");
    assert_eq!(unsafe { fmi3SetInt64(instance.handle, &kind, 1, &3, 1) }, ERROR);
    assert!(said("`kind` has the values 1 to 2, not 3"));
    assert_eq!(unsafe { fmi3SetInt64(instance.handle, &kind, 1, &2, 1) }, OK);
    instance.initialize(0.0, 1.0, 1e-6);
    // After a wrong call the instance goes on.
    assert_eq!(instance.set("area", 1.0), ERROR);
    instance.step(0.0, 0.5);
    let status = unsafe {
        fmi3DoStep(
            instance.handle,
            0.1,
            0.1,
            true,
            &mut flags[0],
            &mut false,
            &mut false,
            &mut 0.0,
        )
    };
    assert_eq!(status, ERROR);
    assert!(said("the communication point is 0.5, not 0.1"));
    instance.step(0.5, 0.5);
    let status = unsafe {
        fmi3DoStep(
            instance.handle,
            1.0,
            0.5,
            true,
            &mut flags[0],
            &mut false,
            &mut false,
            &mut 0.0,
        )
    };
    assert_eq!(status, ERROR);
    assert!(said("goes beyond the stop time"));
    // Another token, no resources, no instance at all.
    let wrong = unsafe {
        fmi3InstantiateModelExchange(
            std::ptr::null(),
            c"{x}".as_ptr(),
            unit.resources.as_ptr(),
            false,
            false,
            std::ptr::null_mut(),
            Some(log),
        )
    };
    assert!(wrong.is_null() && said("the unit is another one"));
    let wrong = unsafe {
        fmi3InstantiateModelExchange(
            std::ptr::null(),
            unit.token.as_ptr(),
            c"/nowhere".as_ptr(),
            false,
            false,
            std::ptr::null_mut(),
            Some(log),
        )
    };
    assert!(wrong.is_null() && said("cannot be read"));
    assert_eq!(unsafe { fmi3Reset(std::ptr::null_mut()) }, ERROR);
}

#[test]
fn a_run_that_fails_says_why() {
    let text = "model M Real x(start = 1, fixed = true); equation der(x) = -sqrt(x)*2; assert(x > 0.2, \"nearly empty\"); end M;";
    let unit = Unpacked::new(&compile(text), Version::Three);
    let instance = Instance3::co_simulation(&unit, false);
    instance.initialize(0.0, 5.0, 1e-6);
    let saved = instance.save();
    let (mut a, mut b, mut c, mut t) = (false, false, false, 0.0);
    let mut step = |from: f64| unsafe { fmi3DoStep(instance.handle, from, 1.0, true, &mut a, &mut b, &mut c, &mut t) };
    assert_eq!(step(0.0), ERROR);
    assert!(said("nearly empty"));
    assert_eq!(step(0.0), ERROR);
    assert!(said("failed: it can be reset, set to a saved state, or freed"));
    instance.restore(saved);
    instance.step(0.0, 0.25);
    assert!((instance.get("x") - 0.5625).abs() < 1e-5);
    instance.free(saved);
}

#[test]
fn the_state_machine_is_that_of_the_standard() {
    use saltus_fmi::Interface::{CoSimulation, ModelExchange};
    use saltus_fmi::Version::{Three, Two};
    assert!(State::Instantiated.allows(Call::EnterInitializationMode, CoSimulation, Three));
    assert!(!State::Step.allows(Call::EnterInitializationMode, CoSimulation, Three));
    assert!(State::Step.allows(Call::EnterEventMode, CoSimulation, Three));
    assert!(!State::Step.allows(Call::EnterEventMode, CoSimulation, Two));
    assert!(!State::Event.allows(Call::EnterContinuousTimeMode, CoSimulation, Three));
    assert!(State::Event.allows(Call::EnterContinuousTimeMode, ModelExchange, Three));
    assert!(!State::Event.allows(Call::SetTime, ModelExchange, Three));
    assert!(State::Event.allows(Call::SetTime, ModelExchange, Two));
    assert!(!State::ContinuousTime.allows(Call::DoStep, ModelExchange, Three));
    assert!(!State::Failed.allows(Call::GetVariable, ModelExchange, Three));
    assert!(State::Failed.allows(Call::FmuState, ModelExchange, Three));
}

#[test]
fn units_of_fmi_2_run() {
    let model = example("mechanics/CupAndBall.mo");
    let unit = Unpacked::new(&model, Version::Two);
    let address = unit.address();
    let own = model.run().tolerance(1e-9).simulate().unwrap();
    let last = |name: &str| *own.values(name).unwrap().last().unwrap();
    let stop = model.run().span().1;
    unsafe {
        let handle = fmi2::fmi2Instantiate(
            c"i".as_ptr(),
            1,
            unit.token.as_ptr(),
            address.as_ptr(),
            std::ptr::null(),
            0,
            0,
        );
        assert!(!handle.is_null());
        assert_eq!(fmi2::fmi2SetupExperiment(handle, 1, 1e-9, 0.0, 0, 0.0), OK);
        assert_eq!(fmi2::fmi2EnterInitializationMode(handle), OK);
        assert_eq!(fmi2::fmi2ExitInitializationMode(handle), OK);
        assert_eq!(
            fmi2::fmi2EnterEventMode(handle),
            ERROR,
            "there is none in Co-Simulation"
        );
        let h = stop / 16.0;
        for at in 0..16 {
            assert_eq!(fmi2::fmi2DoStep(handle, f64::from(at) * h, h, 1), OK);
        }
        for name in ["x", "y"] {
            let (reference, mut value) = (unit.reference(name), 0.0);
            assert_eq!(fmi2::fmi2GetReal(handle, &reference, 1, &mut value), OK);
            assert!(
                (value - last(name)).abs() < 1e-5,
                "{name} = {value}, not {}",
                last(name)
            );
        }
        let mut time = 0.0;
        assert_eq!(fmi2::fmi2GetRealStatus(handle, 2, &mut time), OK);
        assert_eq!(time, stop);
        assert_eq!(fmi2::fmi2Terminate(handle), OK);
        fmi2::fmi2FreeInstance(handle);
    }
}

#[test]
fn inputs_of_fmi_2_may_have_slopes() {
    let model = compile(
        "model M input Real u; Real x(start = 0, fixed = true); output Real y = u; equation der(x) = u; end M;",
    );
    let unit = Unpacked::new(&model, Version::Two);
    let (u, x) = (unit.reference("u"), unit.reference("x"));
    unsafe {
        let address = unit.address();
        let handle = fmi2::fmi2Instantiate(
            c"i".as_ptr(),
            1,
            unit.token.as_ptr(),
            address.as_ptr(),
            std::ptr::null(),
            0,
            0,
        );
        assert_eq!(fmi2::fmi2SetupExperiment(handle, 0, 0.0, 0.0, 0, 0.0), OK);
        assert_eq!(fmi2::fmi2EnterInitializationMode(handle), OK);
        assert_eq!(fmi2::fmi2ExitInitializationMode(handle), OK);
        // u = t^2 by pieces of lines: x misses t^3/3 by the trapezoidal rule's error only.
        for at in 0..10 {
            let t = 0.1 * f64::from(at);
            let (value, slope) = (t * t, 2.0 * t + 0.1);
            assert_eq!(fmi2::fmi2SetReal(handle, &u, 1, &value), OK);
            assert_eq!(fmi2::fmi2SetRealInputDerivatives(handle, &u, 1, &1, &slope), OK);
            assert_eq!(fmi2::fmi2DoStep(handle, t, 0.1, 1), OK);
        }
        let mut value = 0.0;
        assert_eq!(fmi2::fmi2GetReal(handle, &x, 1, &mut value), OK);
        assert!((value - (1.0 / 3.0 + 0.01 / 6.0)).abs() < 1e-9, "{value}");
        fmi2::fmi2FreeInstance(handle);
    }
}

#[test]
fn the_library_is_loaded_and_unloaded_a_hundred_times() {
    type Instantiate = unsafe extern "C" fn(
        *const c_char,
        *const c_char,
        *const c_char,
        bool,
        bool,
        bool,
        bool,
        *const u32,
        usize,
        *mut c_void,
        *const c_void,
        *const c_void,
    ) -> Handle;
    type Enter = unsafe extern "C" fn(Handle, bool, f64, f64, bool, f64) -> i32;
    type Plain = unsafe extern "C" fn(Handle) -> i32;
    type DoStep = unsafe extern "C" fn(Handle, f64, f64, bool, *mut bool, *mut bool, *mut bool, *mut f64) -> i32;
    let unit = Unpacked::new(&compile(MODEL), Version::Three);
    // Another name, as in units; and a second one in the same process.
    let (first, second) = (unit.folder.path().join("Tank.so"), unit.folder.path().join("Other.so"));
    std::fs::copy(library(), &first).unwrap();
    std::fs::copy(library(), &second).unwrap();
    let other = unsafe { libloading::Library::new(&second) }.unwrap();
    let version = unsafe { other.get::<unsafe extern "C" fn() -> *const c_char>("fmi3GetVersion") }.unwrap();
    for _ in 0..100 {
        unsafe {
            let library = libloading::Library::new(&first).unwrap();
            let instantiate = library.get::<Instantiate>("fmi3InstantiateCoSimulation").unwrap();
            let (token, resources) = (unit.token.as_ptr(), unit.resources.as_ptr());
            let handle = instantiate(
                c"i".as_ptr(),
                token,
                resources,
                false,
                false,
                false,
                false,
                std::ptr::null(),
                0,
                std::ptr::null_mut(),
                std::ptr::null(),
                std::ptr::null(),
            );
            assert!(!handle.is_null());
            assert_eq!(
                library.get::<Enter>("fmi3EnterInitializationMode").unwrap()(handle, false, 0.0, 0.0, false, 0.0),
                OK
            );
            assert_eq!(library.get::<Plain>("fmi3ExitInitializationMode").unwrap()(handle), OK);
            let step = library.get::<DoStep>("fmi3DoStep").unwrap();
            let (mut a, mut b, mut c, mut t) = (false, false, false, 0.0);
            assert_eq!(step(handle, 0.0, 1.0, true, &mut a, &mut b, &mut c, &mut t), OK);
            assert_eq!(t, 1.0);
            library.get::<unsafe extern "C" fn(Handle)>("fmi3FreeInstance").unwrap()(handle);
        }
    }
    assert!(!unsafe { version() }.is_null());
}
