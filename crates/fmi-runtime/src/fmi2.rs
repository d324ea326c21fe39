//! The C interface of FMI 2.0.

#![expect(non_snake_case, reason = "these are the names of the standard")]
#![expect(missing_docs, reason = "the standard describes these functions")]
#![expect(
    clippy::missing_safety_doc,
    reason = "the module documentation of the crate says what importers promise"
)]

use std::ffi::{CStr, CString, c_char, c_void};

use saltus_fmi::instance::{Mode, Trouble};
use saltus_fmi::variables::Kind;
use saltus_fmi::{Interface, Version};

use crate::handle::{self, Component, Logger, Outcome, call, get, path_of_address, put, set, slice, slice_mut, text};

type Status = i32;
type Reference = u32;
type Handle = *mut c_void;
type Text = *const c_char;
/// C has no truth values in FMI 2.
type Boolean = i32;

/// The logger is called with a format that says that its only argument is a text.
type LogMessage = Option<unsafe extern "C" fn(*mut c_void, Text, Status, Text, Text, ...)>;

/// What an importer gives.
#[repr(C)]
#[derive(Debug)]
pub struct Callbacks {
    logger: LogMessage,
    allocate: *const c_void,
    free: *const c_void,
    finished: *const c_void,
    environment: *mut c_void,
}

/// What happened at an event.
#[repr(C)]
#[derive(Debug)]
pub struct EventInfo {
    newDiscreteStatesNeeded: Boolean,
    terminateSimulation: Boolean,
    nominalsOfContinuousStatesChanged: Boolean,
    valuesOfContinuousStatesChanged: Boolean,
    nextEventTimeDefined: Boolean,
    nextEventTime: f64,
}

struct Callback {
    name: CString,
    environment: *mut c_void,
    log: LogMessage,
}

impl Logger for Callback {
    fn log(&self, outcome: Outcome, category: &CStr, message: &CStr) {
        let Some(log) = self.log else { return };
        let (name, status) = (self.name.as_ptr(), outcome as Status);
        // SAFETY: the importer gave the function and what to call it with; all texts live through the call, and the format
        // takes one text.
        unsafe {
            log(
                self.environment,
                name,
                status,
                category.as_ptr(),
                c"%s".as_ptr(),
                message.as_ptr(),
            );
        }
    }
}

fn boolean(value: bool) -> Boolean {
    Boolean::from(value)
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetTypesPlatform() -> Text {
    c"default".as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetVersion() -> Text {
    c"2.0".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetDebugLogging(
    c: Handle,
    loggingOn: Boolean,
    _nCategories: usize,
    _categories: *const Text,
) -> Status {
    let work = |component: &mut Component| {
        component.logging = loggingOn != 0;
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Instantiate(
    instanceName: Text,
    fmuType: i32,
    fmuGUID: Text,
    fmuResourceLocation: Text,
    functions: *const Callbacks,
    _visible: Boolean,
    loggingOn: Boolean,
) -> Handle {
    // SAFETY: texts end with a zero byte, and the callbacks are null or readable.
    let (name, token, resources, functions) = unsafe {
        (
            text(instanceName),
            text(fmuGUID),
            text(fmuResourceLocation),
            functions.as_ref(),
        )
    };
    let logger = Box::new(Callback {
        name: CString::new(name.unwrap_or("")).unwrap_or_default(),
        environment: functions.map_or(std::ptr::null_mut(), |functions| functions.environment),
        log: functions.and_then(|functions| functions.logger),
    });
    let mode = Mode {
        version: Version::Two,
        interface: match fmuType {
            0 => Interface::ModelExchange,
            _ => Interface::CoSimulation,
        },
        event_mode: false,
        early_return: false,
    };
    let resources = resources.and_then(path_of_address);
    handle::instantiate(resources, token, mode, loggingOn != 0, logger)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeInstance(c: Handle) {
    // SAFETY: the importer does not use it any more.
    unsafe { handle::free(c) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetupExperiment(
    c: Handle,
    toleranceDefined: Boolean,
    tolerance: f64,
    startTime: f64,
    stopTimeDefined: Boolean,
    stopTime: f64,
) -> Status {
    let work = |component: &mut Component| {
        component.last_time = startTime;
        let stop = (stopTimeDefined != 0).then_some(stopTime);
        let tolerance = (toleranceDefined != 0).then_some(tolerance);
        component.instance.set_up(startTime, stop, tolerance)
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

macro_rules! plain {
    ($($name:ident => $method:ident;)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: Handle) -> Status {
            // SAFETY: see the crate.
            unsafe { call(c, |component| component.instance.$method()) as Status }
        }
    )* };
}

plain! {
    fmi2EnterInitializationMode => enter_initialization;
    fmi2ExitInitializationMode => exit_initialization;
    fmi2Terminate => terminate;
    fmi2EnterEventMode => enter_event;
    fmi2EnterContinuousTimeMode => enter_continuous_time;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Reset(c: Handle) -> Status {
    let work = |component: &mut Component| {
        component.instance.reset();
        component.terminated = false;
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

macro_rules! access {
    ($($get:ident, $set:ident, $ty:ty, $kinds:expr, $to:expr, $from:expr;)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(c: Handle, vr: *const Reference, nvr: usize, value: *mut $ty) -> Status {
            // SAFETY: see the crate; there are as many values as references.
            unsafe { get(c, (vr, nvr), (value, nvr), $kinds, $to) as Status }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(c: Handle, vr: *const Reference, nvr: usize, value: *const $ty) -> Status {
            // SAFETY: see the crate; there are as many values as references.
            unsafe { set(c, (vr, nvr), (value, nvr), $kinds, $from) as Status }
        }
    )* };
}

fn is_integer(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::Enumeration(_))
}

access! {
    fmi2GetReal, fmi2SetReal, f64, (|kind| kind == Kind::Float, "Real"), |value| value, |value| value;
    fmi2GetInteger, fmi2SetInteger, i32, (is_integer, "Integer"), |value| value as i32, f64::from;
    fmi2GetBoolean, fmi2SetBoolean, Boolean, (|kind| kind == Kind::Boolean, "Boolean"), |value| boolean(value != 0.0),
        |value| f64::from(boolean(value != 0));
}

fn no_text(c: Handle, count: usize) -> Status {
    let work = |_: &mut Component| match count {
        0 => Ok(()),
        _ => Err(Trouble::Error("no String variable of the unit can be set".to_owned())),
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetString(c: Handle, vr: *const Reference, nvr: usize, value: *mut Text) -> Status {
    // SAFETY: see the crate.
    unsafe { handle::get_texts(c, (vr, nvr), (value, nvr)) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetString(c: Handle, _vr: *const Reference, nvr: usize, _value: *const Text) -> Status {
    no_text(c, nvr)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetFMUstate(c: Handle, FMUstate: *mut *mut c_void) -> Status {
    let work = |component: &mut Component| {
        let saved = component.instance.save()?;
        // SAFETY: the importer gives a place that holds null or a state.
        unsafe { handle::keep_in(FMUstate, saved) }
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetFMUstate(c: Handle, FMUstate: *mut c_void) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives null or a state.
        let saved = unsafe { handle::kept(FMUstate)? };
        component.terminated = false;
        component.instance.restore(saved)
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeFMUstate(c: Handle, FMUstate: *mut *mut c_void) -> Status {
    let work = |_: &mut Component| {
        if !FMUstate.is_null() {
            // SAFETY: it holds null or a state that is not used any more.
            unsafe {
                handle::forget(*FMUstate);
                *FMUstate = std::ptr::null_mut();
            }
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(c: Handle, FMUstate: *mut c_void, size: *mut usize) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives null or a state, and a place for the size.
        unsafe {
            let bytes = component.instance.serialize(handle::kept(FMUstate)?)?;
            put(size, bytes.len());
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializeFMUstate(
    c: Handle,
    FMUstate: *mut c_void,
    serializedState: *mut u8,
    size: usize,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives null or a state, and room for so many bytes.
        let (saved, room) = unsafe { (handle::kept(FMUstate)?, slice_mut(serializedState, size)?) };
        let bytes = component.instance.serialize(saved)?;
        if bytes.len() != room.len() {
            let message = format!("the state takes {} bytes, not {size}", bytes.len());
            return Err(Trouble::Error(message));
        }
        room.copy_from_slice(&bytes);
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
    c: Handle,
    serializedState: *const u8,
    size: usize,
    FMUstate: *mut *mut c_void,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many bytes, and a place that holds null or a state.
        unsafe {
            let saved = component.instance.deserialize(slice(serializedState, size)?)?;
            handle::keep_in(FMUstate, saved)
        }
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetDirectionalDerivative(
    c: Handle,
    vUnknown_ref: *const Reference,
    nUnknown: usize,
    vKnown_ref: *const Reference,
    nKnown: usize,
    dvKnown: *const f64,
    dvUnknown: *mut f64,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many references, seeds and results.
        let (unknowns, knowns, seed, response) = unsafe {
            (
                slice(vUnknown_ref, nUnknown)?,
                slice(vKnown_ref, nKnown)?,
                slice(dvKnown, nKnown)?,
                slice_mut(dvUnknown, nUnknown)?,
            )
        };
        component.instance.directional(unknowns, knowns, seed, response)
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2NewDiscreteStates(c: Handle, eventInfo: *mut EventInfo) -> Status {
    let work = |component: &mut Component| {
        let updated = component.instance.update()?;
        let info = EventInfo {
            newDiscreteStatesNeeded: boolean(updated.needs_update),
            terminateSimulation: boolean(updated.terminate),
            nominalsOfContinuousStatesChanged: 0,
            valuesOfContinuousStatesChanged: boolean(updated.states_changed),
            nextEventTimeDefined: boolean(updated.next_event.is_some()),
            nextEventTime: updated.next_event.unwrap_or(0.0),
        };
        // SAFETY: the importer gives a place for the results.
        unsafe { put(eventInfo, info) };
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CompletedIntegratorStep(
    c: Handle,
    _noSetFMUStatePriorToCurrentPoint: Boolean,
    enterEventMode: *mut Boolean,
    terminateSimulation: *mut Boolean,
) -> Status {
    let work = |component: &mut Component| {
        let event = component.instance.completed_step()?;
        // SAFETY: the importer gives places for the results.
        unsafe {
            put(enterEventMode, boolean(event));
            put(terminateSimulation, 0);
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetTime(c: Handle, time: f64) -> Status {
    // SAFETY: see the crate.
    unsafe { call(c, |component| component.instance.set_time(time)) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetContinuousStates(c: Handle, x: *const f64, nx: usize) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many states.
        let states = unsafe { slice(x, nx)? };
        component.instance.set_states(states)
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

macro_rules! vectors {
    ($($name:ident => $method:ident;)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: Handle, values: *mut f64, count: usize) -> Status {
            let work = |component: &mut Component| {
                // SAFETY: the importer gives room for so many values.
                let values = unsafe { slice_mut(values, count)? };
                component.instance.$method(values)
            };
            // SAFETY: see the crate.
            unsafe { call(c, work) as Status }
        }
    )* };
}

vectors! {
    fmi2GetDerivatives => rates;
    fmi2GetEventIndicators => indicators;
    fmi2GetContinuousStates => states;
    fmi2GetNominalsOfContinuousStates => nominals;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetRealInputDerivatives(
    c: Handle,
    vr: *const Reference,
    nvr: usize,
    order: *const i32,
    value: *const f64,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many references, orders and values.
        let (references, orders, values) = unsafe { (slice(vr, nvr)?, slice(order, nvr)?, slice(value, nvr)?) };
        for ((&reference, &order), &value) in references.iter().zip(orders).zip(values) {
            if order != 1 {
                let message = format!("derivatives of inputs are taken of order 1, not {order}");
                return Err(Trouble::Error(message));
            }
            component.instance.set_input_slope(reference, value)?;
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealOutputDerivatives(
    c: Handle,
    vr: *const Reference,
    nvr: usize,
    order: *const i32,
    value: *mut f64,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many references and orders, and room for so many values.
        let (references, orders, values) = unsafe { (slice(vr, nvr)?, slice(order, nvr)?, slice_mut(value, nvr)?) };
        for ((&reference, &order), value) in references.iter().zip(orders).zip(values) {
            *value = component.instance.output_derivative(reference, order)?;
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DoStep(
    c: Handle,
    currentCommunicationPoint: f64,
    communicationStepSize: f64,
    _noSetFMUStatePriorToCurrentPoint: Boolean,
) -> Status {
    let work = |component: &mut Component| {
        let stepped = component
            .instance
            .do_step(currentCommunicationPoint, communicationStepSize)?;
        (component.last_time, component.terminated) = (stepped.time, stepped.terminate);
        if stepped.terminate {
            return Err(Trouble::Discard(format!(
                "the model asks for the end at t = {}",
                stepped.time
            )));
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CancelStep(c: Handle) -> Status {
    let work = |_: &mut Component| Err(Trouble::Error("steps are over when the call returns".to_owned()));
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

fn no_status(c: Handle) -> Status {
    let work = |_: &mut Component| Err(Trouble::Discard("there is no such status".to_owned()));
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStatus(c: Handle, _s: i32, _value: *mut Status) -> Status {
    no_status(c)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealStatus(c: Handle, s: i32, value: *mut f64) -> Status {
    const LAST_SUCCESSFUL_TIME: i32 = 2;
    if s != LAST_SUCCESSFUL_TIME {
        return no_status(c);
    }
    let work = |component: &mut Component| {
        // SAFETY: the importer gives a place for the result.
        unsafe { put(value, component.last_time) };
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetIntegerStatus(c: Handle, _s: i32, _value: *mut i32) -> Status {
    no_status(c)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBooleanStatus(c: Handle, s: i32, value: *mut Boolean) -> Status {
    const TERMINATED: i32 = 3;
    if s != TERMINATED {
        return no_status(c);
    }
    let work = |component: &mut Component| {
        // SAFETY: the importer gives a place for the result.
        unsafe { put(value, boolean(component.terminated)) };
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(c, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStringStatus(c: Handle, _s: i32, _value: *mut Text) -> Status {
    no_status(c)
}
