//! The C interface of FMI 3.0.

#![expect(non_snake_case, reason = "these are the names of the standard")]
#![expect(missing_docs, reason = "the standard describes these functions")]
#![expect(
    clippy::missing_safety_doc,
    reason = "the module documentation of the crate says what importers promise"
)]

use std::ffi::{CStr, c_char, c_void};
use std::path::PathBuf;

use saltus_fmi::instance::{Mode, Stepped, Trouble};
use saltus_fmi::variables::Kind;
use saltus_fmi::{Interface, Version};

use crate::handle::{self, Component, Intermediate, Logger, Outcome, call, get, put, set, slice, slice_mut, text};

type Status = i32;
type Reference = u32;
type Handle = *mut c_void;
type Text = *const c_char;
type LogMessage = Option<unsafe extern "C" fn(*mut c_void, Status, Text, Text)>;
type IntermediateUpdate = Option<unsafe extern "C" fn(*mut c_void, f64, bool, bool, bool, bool, *mut bool, *mut f64)>;

struct Callback {
    environment: *mut c_void,
    log: LogMessage,
}

impl Logger for Callback {
    fn log(&self, outcome: Outcome, category: &CStr, message: &CStr) {
        if let Some(log) = self.log {
            // SAFETY: the importer gave the function and what to call it with, and both texts live through the call.
            unsafe { log(self.environment, outcome as Status, category.as_ptr(), message.as_ptr()) };
        }
    }
}

fn unsupported(handle: Handle, what: &str) -> Status {
    // SAFETY: the handle is one of an instance, as everywhere.
    unsafe {
        call(handle, |_| {
            Err(Trouble::Error(format!("{what} is not supported by this unit")))
        }) as Status
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> Text {
    c"3.0".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetDebugLogging(
    instance: Handle,
    loggingOn: bool,
    _nCategories: usize,
    _categories: *const Text,
) -> Status {
    // SAFETY: see the crate.
    let outcome = unsafe {
        call(instance, |component| {
            component.logging = loggingOn;
            Ok(())
        })
    };
    outcome as Status
}

unsafe fn instantiate(
    token: Text,
    resources: Text,
    loggingOn: bool,
    environment: *mut c_void,
    log: LogMessage,
    mode: Mode,
) -> Handle {
    // SAFETY: texts end with a zero byte.
    let (token, resources) = unsafe { (text(token), text(resources)) };
    let logger = Box::new(Callback { environment, log });
    handle::instantiate(resources.map(PathBuf::from), token, mode, loggingOn, logger)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateModelExchange(
    _instanceName: Text,
    instantiationToken: Text,
    resourcePath: Text,
    _visible: bool,
    loggingOn: bool,
    instanceEnvironment: *mut c_void,
    logMessage: LogMessage,
) -> Handle {
    let mode = Mode {
        version: Version::Three,
        interface: Interface::ModelExchange,
        event_mode: true,
        early_return: false,
    };
    // SAFETY: see the crate.
    unsafe {
        instantiate(
            instantiationToken,
            resourcePath,
            loggingOn,
            instanceEnvironment,
            logMessage,
            mode,
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    _instanceName: Text,
    instantiationToken: Text,
    resourcePath: Text,
    _visible: bool,
    loggingOn: bool,
    eventModeUsed: bool,
    earlyReturnAllowed: bool,
    _requiredIntermediateVariables: *const Reference,
    _nRequiredIntermediateVariables: usize,
    instanceEnvironment: *mut c_void,
    logMessage: LogMessage,
    intermediateUpdate: IntermediateUpdate,
) -> Handle {
    let mode = Mode {
        version: Version::Three,
        interface: Interface::CoSimulation,
        event_mode: eventModeUsed,
        early_return: earlyReturnAllowed,
    };
    // SAFETY: see the crate.
    let instance = unsafe {
        instantiate(
            instantiationToken,
            resourcePath,
            loggingOn,
            instanceEnvironment,
            logMessage,
            mode,
        )
    };
    if let Some(update) = intermediateUpdate.filter(|_| !instance.is_null()) {
        let environment = instanceEnvironment;
        let listens = |component: &mut Component| {
            component.intermediate = Some(Intermediate { environment, update });
            Ok(())
        };
        // SAFETY: the instance has just been made, and nobody else has it yet.
        unsafe { call(instance, listens) };
    }
    instance
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateScheduledExecution(
    _instanceName: Text,
    _instantiationToken: Text,
    _resourcePath: Text,
    _visible: bool,
    _loggingOn: bool,
    instanceEnvironment: *mut c_void,
    logMessage: LogMessage,
    _clockUpdate: Option<unsafe extern "C" fn(*mut c_void)>,
    _lockPreemption: Option<unsafe extern "C" fn()>,
    _unlockPreemption: Option<unsafe extern "C" fn()>,
) -> Handle {
    let logger = Callback {
        environment: instanceEnvironment,
        log: logMessage,
    };
    let message = c"the unit is for Model Exchange and Co-Simulation, not for Scheduled Execution";
    logger.log(Outcome::Error, c"logStatusError", message);
    std::ptr::null_mut()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(instance: Handle) {
    // SAFETY: the importer does not use it any more.
    unsafe { handle::free(instance) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterInitializationMode(
    instance: Handle,
    toleranceDefined: bool,
    tolerance: f64,
    startTime: f64,
    stopTimeDefined: bool,
    stopTime: f64,
) -> Status {
    let work = |component: &mut Component| {
        let stop = stopTimeDefined.then_some(stopTime);
        let tolerance = toleranceDefined.then_some(tolerance);
        component.instance.set_up(startTime, stop, tolerance)?;
        component.instance.enter_initialization()
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitInitializationMode(instance: Handle) -> Status {
    // SAFETY: see the crate.
    unsafe { call(instance, |component| component.instance.exit_initialization()) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterEventMode(instance: Handle) -> Status {
    // SAFETY: see the crate.
    unsafe { call(instance, |component| component.instance.enter_event()) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Terminate(instance: Handle) -> Status {
    // SAFETY: see the crate.
    unsafe { call(instance, |component| component.instance.terminate()) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterContinuousTimeMode(instance: Handle) -> Status {
    // SAFETY: see the crate.
    unsafe { call(instance, |component| component.instance.enter_continuous_time()) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterStepMode(instance: Handle) -> Status {
    // SAFETY: see the crate.
    unsafe { call(instance, |component| component.instance.enter_step_mode()) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Reset(instance: Handle) -> Status {
    let work = |component: &mut Component| {
        component.instance.reset();
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

macro_rules! access {
    ($($get:ident, $set:ident, $ty:ty, $kinds:expr, $to:expr, $from:expr;)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(
            instance: Handle,
            valueReferences: *const Reference,
            nValueReferences: usize,
            values: *mut $ty,
            nValues: usize,
        ) -> Status {
            let (references, results) = ((valueReferences, nValueReferences), (values, nValues));
            // SAFETY: see the crate.
            unsafe { get(instance, references, results, $kinds, $to) as Status }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(
            instance: Handle,
            valueReferences: *const Reference,
            nValueReferences: usize,
            values: *const $ty,
            nValues: usize,
        ) -> Status {
            let (references, given) = ((valueReferences, nValueReferences), (values, nValues));
            // SAFETY: see the crate.
            unsafe { set(instance, references, given, $kinds, $from) as Status }
        }
    )* };
}

/// Units have variables of five types; the functions of the others must be there.
fn never(_: Kind) -> bool {
    false
}

access! {
    fmi3GetFloat32, fmi3SetFloat32, f32, (never, "Float32"), |value| value as f32, f64::from;
    fmi3GetFloat64, fmi3SetFloat64, f64, (|kind| kind == Kind::Float, "Float64"), |value| value, |value| value;
    fmi3GetInt8, fmi3SetInt8, i8, (never, "Int8"), |value| value as i8, f64::from;
    fmi3GetUInt8, fmi3SetUInt8, u8, (never, "UInt8"), |value| value as u8, f64::from;
    fmi3GetInt16, fmi3SetInt16, i16, (never, "Int16"), |value| value as i16, f64::from;
    fmi3GetUInt16, fmi3SetUInt16, u16, (never, "UInt16"), |value| value as u16, f64::from;
    fmi3GetInt32, fmi3SetInt32, i32, (|kind| kind == Kind::Integer, "Int32"), |value| value as i32, f64::from;
    fmi3GetUInt32, fmi3SetUInt32, u32, (never, "UInt32"), |value| value as u32, f64::from;
    fmi3GetInt64, fmi3SetInt64, i64, (|kind| matches!(kind, Kind::Enumeration(_)), "Int64"), |value| value as i64,
        |value| value as f64;
    fmi3GetUInt64, fmi3SetUInt64, u64, (|kind| kind == Kind::Size, "UInt64"), |value| value as u64, |value| value as f64;
    fmi3GetBoolean, fmi3SetBoolean, bool, (|kind| kind == Kind::Boolean, "Boolean"), |value| value != 0.0,
        |value| f64::from(u8::from(value));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetString(
    instance: Handle,
    valueReferences: *const Reference,
    nValueReferences: usize,
    values: *mut Text,
    nValues: usize,
) -> Status {
    // SAFETY: see the crate.
    unsafe { handle::get_texts(instance, (valueReferences, nValueReferences), (values, nValues)) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetString(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _values: *const Text,
    _nValues: usize,
) -> Status {
    unsupported(instance, "a String that can be set")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetBinary(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _valueSizes: *mut usize,
    _values: *mut *const u8,
    _nValues: usize,
) -> Status {
    unsupported(instance, "a Binary")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetBinary(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _valueSizes: *const usize,
    _values: *const *const u8,
    _nValues: usize,
) -> Status {
    unsupported(instance, "a Binary")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetClock(
    instance: Handle,
    valueReferences: *const Reference,
    nValueReferences: usize,
    values: *mut bool,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many references and room for as many values.
        let (references, values) = unsafe {
            (
                slice(valueReferences, nValueReferences)?,
                slice_mut(values, nValueReferences)?,
            )
        };
        for (&reference, value) in references.iter().zip(values) {
            let reference = handle::scalar(component, reference)?;
            handle::check_kind(component, reference, |kind| kind == Kind::Clock, "Clock")?;
            *value = component.instance.clock(reference)?;
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetClock(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _values: *const bool,
) -> Status {
    unsupported(instance, "a Clock")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfVariableDependencies(
    instance: Handle,
    _valueReference: Reference,
    _nDependencies: *mut usize,
) -> Status {
    unsupported(instance, "a list of dependencies")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetVariableDependencies(
    instance: Handle,
    _dependent: Reference,
    _elementIndicesOfDependent: *mut usize,
    _independents: *mut Reference,
    _elementIndicesOfIndependents: *mut usize,
    _dependencyKinds: *mut i32,
    _nDependencies: usize,
) -> Status {
    unsupported(instance, "a list of dependencies")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterConfigurationMode(instance: Handle) -> Status {
    // SAFETY: see the crate.
    unsafe { call(instance, |component| component.instance.enter_configuration()) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitConfigurationMode(instance: Handle) -> Status {
    // SAFETY: see the crate.
    unsafe { call(instance, |component| component.instance.exit_configuration()) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetIntervalDecimal(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _intervals: *mut f64,
    _qualifiers: *mut i32,
) -> Status {
    unsupported(instance, "a Clock")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetIntervalFraction(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _counters: *mut u64,
    _resolutions: *mut u64,
    _qualifiers: *mut i32,
) -> Status {
    unsupported(instance, "a Clock")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetShiftDecimal(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _shifts: *mut f64,
) -> Status {
    unsupported(instance, "a Clock")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetShiftFraction(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _counters: *mut u64,
    _resolutions: *mut u64,
) -> Status {
    unsupported(instance, "a Clock")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetIntervalDecimal(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _intervals: *const f64,
) -> Status {
    unsupported(instance, "a Clock")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetIntervalFraction(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _counters: *const u64,
    _resolutions: *const u64,
) -> Status {
    unsupported(instance, "a Clock")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetShiftDecimal(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _shifts: *const f64,
) -> Status {
    unsupported(instance, "a Clock")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetShiftFraction(
    instance: Handle,
    _valueReferences: *const Reference,
    _nValueReferences: usize,
    _counters: *const u64,
    _resolutions: *const u64,
) -> Status {
    unsupported(instance, "a Clock")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ActivateModelPartition(
    instance: Handle,
    _clockReference: Reference,
    _activationTime: f64,
) -> Status {
    unsupported(instance, "Scheduled Execution")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EvaluateDiscreteStates(instance: Handle) -> Status {
    // SAFETY: see the crate. Values are computed when they are asked for.
    unsafe { call(instance, |_| Ok(())) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFMUState(instance: Handle, FMUState: *mut *mut c_void) -> Status {
    let work = |component: &mut Component| {
        let saved = component.instance.save()?;
        // SAFETY: the importer gives a place that holds null or a state.
        unsafe { handle::keep_in(FMUState, saved) }
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFMUState(instance: Handle, FMUState: *mut c_void) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives null or a state.
        let saved = unsafe { handle::kept(FMUState)? };
        component.instance.restore(saved)
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeFMUState(instance: Handle, FMUState: *mut *mut c_void) -> Status {
    let work = |_: &mut Component| {
        if !FMUState.is_null() {
            // SAFETY: it holds null or a state that is not used any more.
            unsafe {
                handle::forget(*FMUState);
                *FMUState = std::ptr::null_mut();
            }
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializedFMUStateSize(
    instance: Handle,
    FMUState: *mut c_void,
    size: *mut usize,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives null or a state, and a place for the size.
        unsafe {
            let bytes = component.instance.serialize(handle::kept(FMUState)?)?;
            put(size, bytes.len());
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializeFMUState(
    instance: Handle,
    FMUState: *mut c_void,
    serializedState: *mut u8,
    size: usize,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives null or a state, and room for so many bytes.
        let (saved, room) = unsafe { (handle::kept(FMUState)?, slice_mut(serializedState, size)?) };
        let bytes = component.instance.serialize(saved)?;
        if bytes.len() != room.len() {
            return Err(Trouble::Error(format!(
                "the state takes {} bytes, not {size}",
                bytes.len()
            )));
        }
        room.copy_from_slice(&bytes);
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DeserializeFMUState(
    instance: Handle,
    serializedState: *const u8,
    size: usize,
    FMUState: *mut *mut c_void,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many bytes, and a place that holds null or a state.
        unsafe {
            let saved = component.instance.deserialize(slice(serializedState, size)?)?;
            handle::keep_in(FMUState, saved)
        }
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

macro_rules! derivatives {
    ($($name:ident => $method:ident;)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            instance: Handle,
            unknowns: *const Reference,
            nUnknowns: usize,
            knowns: *const Reference,
            nKnowns: usize,
            seed: *const f64,
            nSeed: usize,
            sensitivity: *mut f64,
            nSensitivity: usize,
        ) -> Status {
            let work = |component: &mut Component| {
                // SAFETY: the importer gives so many references, seeds and results.
                let (unknowns, knowns, seed, sensitivity) = unsafe {
                    (
                        slice(unknowns, nUnknowns)?,
                        slice(knowns, nKnowns)?,
                        slice(seed, nSeed)?,
                        slice_mut(sensitivity, nSensitivity)?,
                    )
                };
                let unknowns = handle::variables(component, unknowns)?;
                let knowns = handle::variables(component, knowns)?;
                component.instance.$method(&unknowns, &knowns, seed, sensitivity)
            };
            // SAFETY: see the crate.
            unsafe { call(instance, work) as Status }
        }
    )* };
}

derivatives! {
    fmi3GetDirectionalDerivative => directional;
    fmi3GetAdjointDerivative => adjoint;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3UpdateDiscreteStates(
    instance: Handle,
    discreteStatesNeedUpdate: *mut bool,
    terminateSimulation: *mut bool,
    nominalsOfContinuousStatesChanged: *mut bool,
    valuesOfContinuousStatesChanged: *mut bool,
    nextEventTimeDefined: *mut bool,
    nextEventTime: *mut f64,
) -> Status {
    let work = |component: &mut Component| {
        let updated = component.instance.update()?;
        // SAFETY: the importer gives places for the results.
        unsafe {
            put(discreteStatesNeedUpdate, updated.needs_update);
            put(terminateSimulation, updated.terminate);
            put(nominalsOfContinuousStatesChanged, false);
            put(valuesOfContinuousStatesChanged, updated.states_changed);
            put(nextEventTimeDefined, updated.next_event.is_some());
            put(nextEventTime, updated.next_event.unwrap_or(0.0));
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3CompletedIntegratorStep(
    instance: Handle,
    _noSetFMUStatePriorToCurrentPoint: bool,
    enterEventMode: *mut bool,
    terminateSimulation: *mut bool,
) -> Status {
    let work = |component: &mut Component| {
        let event = component.instance.completed_step()?;
        // SAFETY: the importer gives places for the results.
        unsafe {
            put(enterEventMode, event);
            put(terminateSimulation, false);
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetTime(instance: Handle, time: f64) -> Status {
    // SAFETY: see the crate.
    unsafe { call(instance, |component| component.instance.set_time(time)) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetContinuousStates(
    instance: Handle,
    continuousStates: *const f64,
    nContinuousStates: usize,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many states.
        let states = unsafe { slice(continuousStates, nContinuousStates)? };
        component.instance.set_states(states)
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetContinuousStateDerivatives(
    instance: Handle,
    values: *mut f64,
    nValues: usize,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives room for so many values.
        let values = unsafe { slice_mut(values, nValues)? };
        component.instance.rates(values)
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetEventIndicators(instance: Handle, values: *mut f64, nValues: usize) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives room for so many values.
        let values = unsafe { slice_mut(values, nValues)? };
        component.instance.indicators(values)
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetContinuousStates(instance: Handle, values: *mut f64, nValues: usize) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives room for so many values.
        let values = unsafe { slice_mut(values, nValues)? };
        component.instance.states(values)
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNominalsOfContinuousStates(
    instance: Handle,
    values: *mut f64,
    nValues: usize,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives room for so many values.
        let values = unsafe { slice_mut(values, nValues)? };
        component.instance.nominals(values)
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfEventIndicators(instance: Handle, count: *mut usize) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives a place for the number.
        unsafe { put(count, component.instance.variables().indicators) };
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfContinuousStates(instance: Handle, count: *mut usize) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives a place for the number.
        unsafe { put(count, component.instance.variables().slots.len()) };
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetOutputDerivatives(
    instance: Handle,
    valueReferences: *const Reference,
    nValueReferences: usize,
    orders: *const i32,
    values: *mut f64,
    nValues: usize,
) -> Status {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many references and orders, and room for so many values.
        let (references, orders, values) = unsafe {
            (
                slice(valueReferences, nValueReferences)?,
                slice(orders, nValueReferences)?,
                slice_mut(values, nValues)?,
            )
        };
        let mut rest = values.iter_mut();
        for (&reference, &order) in references.iter().zip(orders) {
            for scalar in handle::variables(component, &[reference])? {
                let derivative = component.instance.output_derivative(scalar, order)?;
                let place = rest.next();
                *place.ok_or_else(|| Trouble::Error("there is no room for all values".to_owned()))? = derivative;
            }
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}

/// Points within a step at which importers hear of it, its end included.
const PIECES: u32 = 8;

/// A step in pieces, with a word to the importer between them. It may read variables then, so nothing is borrowed while it
/// is called.
///
/// # Safety
/// As for [`call`].
unsafe fn step_in_pieces(instance: Handle, from: f64, step: f64, listener: Intermediate) -> Result<Stepped, Outcome> {
    let (mut now, mut until) = (from, from + step);
    let mut piece = 0;
    loop {
        piece += 1;
        let planned = from + step * f64::from(piece) / f64::from(PIECES);
        let target = if piece >= PIECES { until } else { planned.min(until) };
        let (mut stepped, mut may_return) = (Stepped::default(), false);
        let work = |component: &mut Component| {
            stepped = component.instance.do_step(now, target - now)?;
            may_return = component.instance.may_return_early();
            Ok(())
        };
        // SAFETY: as above.
        let outcome = unsafe { call(instance, work) };
        if outcome != Outcome::Ok {
            return Err(outcome);
        }
        now = stepped.time;
        if stepped.event || stepped.terminate || stepped.early || target >= until {
            stepped.early |= now < from + step && !stepped.terminate;
            return Ok(stepped);
        }
        let (mut wants_return, mut wanted) = (false, now);
        // SAFETY: the importer gave the function and what to call it with; there are places for its answers.
        unsafe {
            (listener.update)(
                listener.environment,
                now,
                false,
                true,
                true,
                may_return,
                &raw mut wants_return,
                &raw mut wanted,
            );
        }
        if wants_return && may_return {
            until = until.min(wanted.max(now));
            if until <= now {
                stepped.early = true;
                return Ok(stepped);
            }
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DoStep(
    instance: Handle,
    currentCommunicationPoint: f64,
    communicationStepSize: f64,
    _noSetFMUStatePriorToCurrentPoint: bool,
    eventHandlingNeeded: *mut bool,
    terminateSimulation: *mut bool,
    earlyReturn: *mut bool,
    lastSuccessfulTime: *mut f64,
) -> Status {
    let tell = |stepped: Stepped| {
        // SAFETY: the importer gives places for the results.
        unsafe {
            put(eventHandlingNeeded, stepped.event);
            put(terminateSimulation, stepped.terminate);
            put(earlyReturn, stepped.early);
            put(lastSuccessfulTime, stepped.time);
        }
    };
    // SAFETY: see the crate.
    if let Some(listener) = unsafe { handle::intermediate(instance) } {
        // SAFETY: see the crate.
        let stepped = unsafe { step_in_pieces(instance, currentCommunicationPoint, communicationStepSize, listener) };
        return match stepped {
            Ok(stepped) => {
                tell(stepped);
                Outcome::Ok as Status
            }
            Err(outcome) => outcome as Status,
        };
    }
    let work = |component: &mut Component| {
        let stepped = component
            .instance
            .do_step(currentCommunicationPoint, communicationStepSize)?;
        tell(stepped);
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) as Status }
}
