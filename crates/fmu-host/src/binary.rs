//! The shared library of a unit: the C interface of FMI 2 and 3 behind one safe face.
//!
//! Safety: whoever loads a unit trusts its code; that is what the user allowed. What is promised to it here is what the
//! standard asks for: pointers to as many elements as the call says, that live as long as the call (callbacks and texts: as
//! long as the instance), and one call at a time per instance.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use libloading::Library;
use saltus_fmi::Version;
use saltus_mdae::function::ForeignInterface;

use crate::description::{Kind, Variable};

/// Messages that are kept for what is said about a failure.
const MESSAGES: usize = 3;

type Handle = *mut c_void;
type Status = i32;

/// `fmi2Discard`
const DISCARDED: Status = 2;
/// `fmi2LastSuccessfulTime`
const LAST_SUCCESSFUL_TIME: i32 = 2;
/// `fmi2Terminated`
const TERMINATED: i32 = 3;

/// What a unit said last.
#[derive(Debug, Default)]
struct Journal(Mutex<Vec<String>>);

impl Journal {
    fn add(&self, message: &str) {
        let mut messages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.len() == MESSAGES {
            messages.remove(0);
        }
        messages.push(message.trim().to_owned());
    }

    fn take(&self) -> String {
        let mut messages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *messages).join("; ")
    }
}

/// Writes down a message, if both pointers are what they should be.
///
/// # Safety
/// `journal` is the environment that an instance was given, `message` a text that ends with zero, or null.
unsafe fn write_down(journal: *mut c_void, message: *const c_char) {
    if journal.is_null() || message.is_null() {
        return;
    }
    // SAFETY: as above; the journal lives in the instance, which outlives its callbacks.
    let (journal, message) = unsafe { (&*journal.cast::<Journal>(), CStr::from_ptr(message)) };
    journal.add(&message.to_string_lossy());
}

unsafe extern "C" fn log_three(journal: *mut c_void, status: Status, _: *const c_char, message: *const c_char) {
    if status > 0 {
        // SAFETY: the unit passes on what it was given.
        unsafe { write_down(journal, message) }
    }
}

// The standard declares it with further arguments, which are left alone: the caller removes them.
unsafe extern "C" fn log_two(
    journal: *mut c_void,
    _: *const c_char,
    status: Status,
    _: *const c_char,
    message: *const c_char,
) {
    if status > 0 {
        // SAFETY: the unit passes on what it was given.
        unsafe { write_down(journal, message) }
    }
}

unsafe extern "C" {
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// `fmi2CallbackFunctions`
#[repr(C)]
struct Callbacks {
    logger: unsafe extern "C" fn(*mut c_void, *const c_char, Status, *const c_char, *const c_char),
    allocate: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    step_finished: *const c_void,
    environment: *mut c_void,
}

/// `fmi2EventInfo`
#[repr(C)]
#[derive(Default)]
struct EventInfo {
    again: i32,
    terminate: i32,
    nominals: i32,
    values: i32,
    next_defined: i32,
    next: f64,
}

/// What an event brought.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Update {
    /// When the next event in time is due.
    pub next: Option<f64>,
    /// Whether the unit asks to end the run.
    pub ended: bool,
}

/// How a step went.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Stepped {
    /// Where it ended.
    pub time: f64,
    /// Whether an event is to be processed there.
    pub event: bool,
    /// Whether the unit asks to end the run.
    pub ended: bool,
}

/// A state that a unit keeps for us.
#[derive(Debug)]
pub(crate) struct Kept(Handle);

// SAFETY: it is handed to the instance that made it and to nobody else.
unsafe impl Send for Kept {}

/// How an instance is made.
pub(crate) struct Making<'a> {
    pub version: Version,
    pub interface: ForeignInterface,
    pub library: &'a Path,
    pub token: &'a str,
    /// The folder of resources.
    pub resources: &'a Path,
    /// Whether steps are to end at events.
    pub events: bool,
}

/// An instance of a unit.
pub(crate) struct Binary {
    library: Library,
    version: Version,
    handle: Handle,
    /// At a fixed place: the unit has its address.
    journal: Arc<Journal>,
    /// Whether steps end at events.
    has_event_mode: bool,
    _callbacks: Option<Box<Callbacks>>,
}

// SAFETY: the standard lets instances be called from any thread, one call at a time; `&mut self` sees to the latter.
unsafe impl Send for Binary {}

impl std::fmt::Debug for Binary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Binary")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Calls a function of the library by its name; its type follows from the arguments.
macro_rules! call {
    ($self:ident, $name:literal, ($($type:ty),*) $(-> $result:ty)?, $($argument:expr),* $(,)?) => {{
        // SAFETY: the standard says which type the function of this name has, and that is the one given; the arguments are
        // pointers to as many elements as the numbers beside them say.
        unsafe {
            match $self.library.get::<unsafe extern "C" fn($($type),*) $(-> $result)?>($name.as_bytes()) {
                Ok(function) => Ok(function($($argument),*)),
                Err(_) => Err(format!("it has no function `{}`", $name)),
            }
        }
    }};
}

impl Binary {
    pub(crate) fn new(making: &Making<'_>) -> Result<Binary, String> {
        // SAFETY: loading runs the library's initialisers; the user allowed its code.
        let library = unsafe { Library::new(making.library) };
        let library =
            library.map_err(|error| format!("its shared library cannot be loaded: {}", with_cause(&error)))?;
        let mut binary = Binary {
            library,
            version: making.version,
            handle: std::ptr::null_mut(),
            journal: Arc::default(),
            has_event_mode: making.events,
            _callbacks: None,
        };
        binary.instantiate(making)?;
        if binary.handle.is_null() && making.events {
            // Some units announce an event mode and refuse it (Roberts of the Reference FMUs).
            drop(binary.journal.take());
            binary.has_event_mode = false;
            binary.instantiate(making)?;
        }
        if binary.handle.is_null() {
            let said = binary.journal.take();
            return Err(format!("it cannot be instantiated{}", because(&said)));
        }
        Ok(binary)
    }

    fn instantiate(&mut self, making: &Making<'_>) -> Result<(), String> {
        let text = |text: &str| CString::new(text).map_err(|_| "its texts have a zero in them".to_owned());
        let (name, token) = (text("saltus")?, text(making.token)?);
        let journal = Arc::as_ptr(&self.journal).cast_mut().cast::<c_void>();
        type Text = *const c_char;
        let folder = making.resources.display();
        self.handle = match (making.version, making.interface) {
            (Version::Three, interface) => {
                let resources = text(&format!("{folder}{}", std::path::MAIN_SEPARATOR))?;
                type Log = unsafe extern "C" fn(*mut c_void, Status, Text, Text);
                match interface {
                    ForeignInterface::ModelExchange => call!(
                        self, "fmi3InstantiateModelExchange",
                        (Text, Text, Text, bool, bool, *mut c_void, Log) -> Handle,
                        name.as_ptr(), token.as_ptr(), resources.as_ptr(), false, true, journal, log_three,
                    )?,
                    ForeignInterface::CoSimulation => call!(
                        self, "fmi3InstantiateCoSimulation",
                        (Text, Text, Text, bool, bool, bool, bool, *const u32, usize, *mut c_void, Log, *const c_void)
                            -> Handle,
                        name.as_ptr(), token.as_ptr(), resources.as_ptr(), false, true,
                        self.has_event_mode, self.has_event_mode, std::ptr::null(), 0, journal, log_three, std::ptr::null(),
                    )?,
                }
            }
            (Version::Two, interface) => {
                let address = text(&address(making.resources))?;
                let callbacks = Box::new(Callbacks {
                    logger: log_two,
                    allocate: calloc,
                    free,
                    step_finished: std::ptr::null(),
                    environment: journal,
                });
                let of = i32::from(interface == ForeignInterface::CoSimulation);
                let handle = call!(
                    self, "fmi2Instantiate",
                    (Text, i32, Text, Text, *const Callbacks, i32, i32) -> Handle,
                    name.as_ptr(), of, token.as_ptr(), address.as_ptr(), &raw const *callbacks, 0, 1,
                )?;
                self._callbacks = Some(callbacks);
                handle
            }
        };
        Ok(())
    }

    /// Whether steps end at events, which are processed by [`Binary::update`].
    pub(crate) fn has_event_mode(&self) -> bool {
        self.has_event_mode
    }

    /// Whether a call went well; warnings are no failures.
    fn done(&self, what: &str, status: Status) -> Result<(), String> {
        let said = self.journal.take();
        match status {
            0 | 1 => Ok(()),
            2 => Err(format!("{what} is discarded{}", because(&said))),
            _ => Err(format!("{what} fails{}", because(&said))),
        }
    }

    fn plain(&mut self, two: &str, three: &str) -> Result<(), String> {
        let name = match self.version {
            Version::Two => two,
            Version::Three => three,
        };
        // SAFETY: functions of these names take the instance alone.
        let status = unsafe {
            let function = self
                .library
                .get::<unsafe extern "C" fn(Handle) -> Status>(name.as_bytes());
            let function = function.map_err(|_| format!("it has no function `{name}`"))?;
            function(self.handle)
        };
        self.done(name, status)
    }

    pub(crate) fn enter_initialization(&mut self, start: f64) -> Result<(), String> {
        match self.version {
            Version::Three => {
                let status = call!(
                    self, "fmi3EnterInitializationMode", (Handle, bool, f64, f64, bool, f64) -> Status,
                    self.handle, false, 0.0, start, false, 0.0,
                )?;
                self.done("the start", status)
            }
            Version::Two => {
                let status = call!(
                    self, "fmi2SetupExperiment", (Handle, i32, f64, f64, i32, f64) -> Status,
                    self.handle, 0, 0.0, start, 0, 0.0,
                )?;
                self.done("the start", status)?;
                self.plain("fmi2EnterInitializationMode", "")
            }
        }
    }

    pub(crate) fn exit_initialization(&mut self) -> Result<(), String> {
        self.plain("fmi2ExitInitializationMode", "fmi3ExitInitializationMode")
    }

    pub(crate) fn enter_event_mode(&mut self) -> Result<(), String> {
        self.plain("fmi2EnterEventMode", "fmi3EnterEventMode")
    }

    pub(crate) fn enter_continuous_time_mode(&mut self) -> Result<(), String> {
        self.plain("fmi2EnterContinuousTimeMode", "fmi3EnterContinuousTimeMode")
    }

    pub(crate) fn enter_step_mode(&mut self) -> Result<(), String> {
        self.plain("", "fmi3EnterStepMode")
    }

    /// Forgets everything but what was loaded.
    pub(crate) fn reset(&mut self) -> Result<(), String> {
        self.plain("fmi2Reset", "fmi3Reset")
    }

    /// One instant of an event; whether there is another one, and what came of it.
    pub(crate) fn update(&mut self) -> Result<(bool, Update), String> {
        let (again, terminate, next) = match self.version {
            Version::Three => {
                let (mut again, mut terminate, mut nominals, mut values, mut defined) = Default::default();
                let mut next = 0.0;
                type Flag = *mut bool;
                let status = call!(
                    self, "fmi3UpdateDiscreteStates", (Handle, Flag, Flag, Flag, Flag, Flag, *mut f64) -> Status,
                    self.handle, &raw mut again, &raw mut terminate, &raw mut nominals, &raw mut values,
                    &raw mut defined, &raw mut next,
                )?;
                self.done("an event", status)?;
                (again, terminate, defined.then_some(next))
            }
            Version::Two => {
                let mut info = EventInfo::default();
                let status = call!(
                    self, "fmi2NewDiscreteStates", (Handle, *mut EventInfo) -> Status, self.handle, &raw mut info,
                )?;
                self.done("an event", status)?;
                (
                    info.again != 0,
                    info.terminate != 0,
                    (info.next_defined != 0).then_some(info.next),
                )
            }
        };
        Ok((again && !terminate, Update { next, ended: terminate }))
    }

    pub(crate) fn set_time(&mut self, time: f64) -> Result<(), String> {
        let status = match self.version {
            Version::Two => call!(self, "fmi2SetTime", (Handle, f64) -> Status, self.handle, time),
            Version::Three => call!(self, "fmi3SetTime", (Handle, f64) -> Status, self.handle, time),
        };
        self.done("setting the time", status?)
    }

    pub(crate) fn set_states(&mut self, states: &[f64]) -> Result<(), String> {
        if states.is_empty() {
            return Ok(());
        }
        let (values, count) = (states.as_ptr(), states.len());
        type Types = unsafe extern "C" fn(Handle, *const f64, usize) -> Status;
        let name = match self.version {
            Version::Two => "fmi2SetContinuousStates",
            Version::Three => "fmi3SetContinuousStates",
        };
        // SAFETY: both versions have this type; the values are as many as is said.
        let status = unsafe {
            let function = self.library.get::<Types>(name.as_bytes());
            function.map_err(|_| format!("it has no function `{name}`"))?(self.handle, values, count)
        };
        self.done("setting the states", status)
    }

    fn fill(&mut self, two: &str, three: &str, values: &mut [f64]) -> Result<(), String> {
        if values.is_empty() {
            return Ok(());
        }
        let name = match self.version {
            Version::Two => two,
            Version::Three => three,
        };
        type Types = unsafe extern "C" fn(Handle, *mut f64, usize) -> Status;
        let (to, count) = (values.as_mut_ptr(), values.len());
        // SAFETY: functions of these names have this type in both versions; there is room for as many values as is said.
        let status = unsafe {
            let function = self.library.get::<Types>(name.as_bytes());
            function.map_err(|_| format!("it has no function `{name}`"))?(self.handle, to, count)
        };
        self.done(name, status)
    }

    pub(crate) fn states(&mut self, values: &mut [f64]) -> Result<(), String> {
        self.fill("fmi2GetContinuousStates", "fmi3GetContinuousStates", values)
    }

    pub(crate) fn derivatives(&mut self, values: &mut [f64]) -> Result<(), String> {
        self.fill("fmi2GetDerivatives", "fmi3GetContinuousStateDerivatives", values)
    }

    pub(crate) fn indicators(&mut self, values: &mut [f64]) -> Result<(), String> {
        self.fill("fmi2GetEventIndicators", "fmi3GetEventIndicators", values)
    }

    /// The derivative of a variable along a direction.
    pub(crate) fn directional(&mut self, unknown: u32, knowns: &[u32], seed: &[f64]) -> Result<f64, String> {
        let mut slope = 0.0;
        let (known, count) = (knowns.as_ptr(), knowns.len());
        let status = match self.version {
            Version::Two => call!(
                self, "fmi2GetDirectionalDerivative",
                (Handle, *const u32, usize, *const u32, usize, *const f64, *mut f64) -> Status,
                self.handle, &raw const unknown, 1, known, count, seed.as_ptr(), &raw mut slope,
            ),
            Version::Three => call!(
                self, "fmi3GetDirectionalDerivative",
                (Handle, *const u32, usize, *const u32, usize, *const f64, usize, *mut f64, usize) -> Status,
                self.handle, &raw const unknown, 1, known, count, seed.as_ptr(), seed.len(), &raw mut slope, 1,
            ),
        };
        self.done("a directional derivative", status?)?;
        Ok(slope)
    }

    pub(crate) fn step(&mut self, time: f64, size: f64) -> Result<Stepped, String> {
        match self.version {
            Version::Two => {
                let status = call!(
                    self, "fmi2DoStep", (Handle, f64, f64, i32) -> Status, self.handle, time, size, 0,
                )?;
                if status == DISCARDED && self.boolean_status(TERMINATED)? {
                    let time = self.real_status(LAST_SUCCESSFUL_TIME)?;
                    return Ok(Stepped {
                        time,
                        event: false,
                        ended: true,
                    });
                }
                self.done("a step", status)?;
                Ok(Stepped {
                    time: time + size,
                    event: false,
                    ended: false,
                })
            }
            Version::Three => {
                let (mut event, mut terminate, mut early, mut last) = (false, false, false, time + size);
                type Flag = *mut bool;
                let status = call!(
                    self, "fmi3DoStep", (Handle, f64, f64, bool, Flag, Flag, Flag, *mut f64) -> Status,
                    self.handle, time, size, false, &raw mut event, &raw mut terminate, &raw mut early, &raw mut last,
                )?;
                self.done("a step", status)?;
                let time = if early || terminate { last } else { time + size };
                Ok(Stepped {
                    time,
                    event,
                    ended: terminate,
                })
            }
        }
    }

    /// What FMI 2 tells of a step that was discarded.
    fn boolean_status(&mut self, kind: i32) -> Result<bool, String> {
        let mut value = 0;
        let status = call!(
            self, "fmi2GetBooleanStatus", (Handle, i32, *mut i32) -> Status, self.handle, kind, &raw mut value,
        )?;
        self.done("asking for the outcome of a step", status)?;
        Ok(value != 0)
    }

    fn real_status(&mut self, kind: i32) -> Result<f64, String> {
        let mut value = 0.0;
        let status = call!(
            self, "fmi2GetRealStatus", (Handle, i32, *mut f64) -> Status, self.handle, kind, &raw mut value,
        )?;
        self.done("asking for the outcome of a step", status)?;
        Ok(value)
    }

    /// A copy of everything inside.
    pub(crate) fn keep(&mut self) -> Result<Kept, String> {
        let mut kept: Handle = std::ptr::null_mut();
        let status = match self.version {
            Version::Two => {
                call!(self, "fmi2GetFMUstate", (Handle, *mut Handle) -> Status, self.handle, &raw mut kept)
            }
            Version::Three => {
                call!(self, "fmi3GetFMUState", (Handle, *mut Handle) -> Status, self.handle, &raw mut kept)
            }
        };
        self.done("saving its state", status?)?;
        Ok(Kept(kept))
    }

    /// Everything inside as it was.
    pub(crate) fn restore(&mut self, kept: &Kept) -> Result<(), String> {
        let status = match self.version {
            Version::Two => call!(self, "fmi2SetFMUstate", (Handle, Handle) -> Status, self.handle, kept.0),
            Version::Three => call!(self, "fmi3SetFMUState", (Handle, Handle) -> Status, self.handle, kept.0),
        };
        self.done("restoring its state", status?)
    }

    /// A copy is needed no more.
    pub(crate) fn forget(&mut self, mut kept: Kept) {
        let freed = match self.version {
            Version::Two => {
                call!(self, "fmi2FreeFMUstate", (Handle, *mut Handle) -> Status, self.handle, &raw mut kept.0)
            }
            Version::Three => {
                call!(self, "fmi3FreeFMUState", (Handle, *mut Handle) -> Status, self.handle, &raw mut kept.0)
            }
        };
        // What cannot be freed is lost; nothing depends on it.
        drop(freed);
    }

    /// The elements of a variable.
    pub(crate) fn get(&mut self, variable: &Variable) -> Result<Vec<f64>, String> {
        self.exchange(variable, None)
    }

    /// Sets all elements of a variable.
    pub(crate) fn set(&mut self, variable: &Variable, values: &[f64]) -> Result<(), String> {
        self.exchange(variable, Some(values)).map(drop)
    }

    fn exchange(&mut self, variable: &Variable, given: Option<&[f64]>) -> Result<Vec<f64>, String> {
        match (self.version, variable.kind) {
            (Version::Two, Kind::Float64) => self.transfer::<f64>("fmi2", "Real", variable, given),
            (Version::Two, Kind::Int32 | Kind::Enumeration) => self.transfer::<i32>("fmi2", "Integer", variable, given),
            (Version::Two, Kind::Boolean) => self.transfer::<i32>("fmi2", "Boolean", variable, given),
            (Version::Three, Kind::Float32) => self.transfer::<f32>("fmi3", "Float32", variable, given),
            (Version::Three, Kind::Float64) => self.transfer::<f64>("fmi3", "Float64", variable, given),
            (Version::Three, Kind::Int8) => self.transfer::<i8>("fmi3", "Int8", variable, given),
            (Version::Three, Kind::UInt8) => self.transfer::<u8>("fmi3", "UInt8", variable, given),
            (Version::Three, Kind::Int16) => self.transfer::<i16>("fmi3", "Int16", variable, given),
            (Version::Three, Kind::UInt16) => self.transfer::<u16>("fmi3", "UInt16", variable, given),
            (Version::Three, Kind::Int32) => self.transfer::<i32>("fmi3", "Int32", variable, given),
            (Version::Three, Kind::UInt32) => self.transfer::<u32>("fmi3", "UInt32", variable, given),
            (Version::Three, Kind::Int64 | Kind::Enumeration) => self.transfer::<i64>("fmi3", "Int64", variable, given),
            (Version::Three, Kind::UInt64) => self.transfer::<u64>("fmi3", "UInt64", variable, given),
            (Version::Three, Kind::Boolean) => self.transfer::<Truth>("fmi3", "Boolean", variable, given),
            _ => Err(format!("`{}` is no number", variable.name)),
        }
    }

    fn transfer<T: Scalar>(
        &mut self,
        prefix: &str,
        kind: &str,
        variable: &Variable,
        given: Option<&[f64]>,
    ) -> Result<Vec<f64>, String> {
        let verb = if given.is_some() { "Set" } else { "Get" };
        let name = format!("{prefix}{verb}{kind}");
        let mut values: Vec<T> = match given {
            Some(given) => given.iter().map(|&value| T::from_number(value)).collect(),
            None => vec![T::from_number(0.0); variable.size()],
        };
        let (to, count, reference) = (values.as_mut_ptr(), values.len(), &raw const variable.reference);
        let missing = |_| format!("it has no function `{name}`");
        // SAFETY: functions of these names have these types; those that set read the values only, and there are as many as
        // the variable has elements.
        let status = unsafe {
            match self.version {
                Version::Two => {
                    type Types<T> = unsafe extern "C" fn(Handle, *const u32, usize, *mut T) -> Status;
                    let function = self.library.get::<Types<T>>(name.as_bytes()).map_err(missing)?;
                    function(self.handle, reference, 1, to)
                }
                Version::Three => {
                    type Types<T> = unsafe extern "C" fn(Handle, *const u32, usize, *mut T, usize) -> Status;
                    let function = self.library.get::<Types<T>>(name.as_bytes()).map_err(missing)?;
                    function(self.handle, reference, 1, to, count)
                }
            }
        };
        self.done(
            &format!(
                "{} `{}`",
                if given.is_some() { "setting" } else { "reading" },
                variable.name
            ),
            status,
        )?;
        Ok(values.into_iter().map(T::number).collect())
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        if self.handle.is_null() {
            return;
        }
        let freed = match self.version {
            Version::Two => call!(self, "fmi2FreeInstance", (Handle), self.handle),
            Version::Three => call!(self, "fmi3FreeInstance", (Handle), self.handle),
        };
        drop(freed);
    }
}

/// A truth value of C: one byte, of which a unit may have written anything.
#[repr(transparent)]
#[derive(Copy, Clone)]
struct Truth(u8);

/// What a value is in C.
trait Scalar: Copy {
    fn from_number(value: f64) -> Self;
    fn number(self) -> f64;
}

macro_rules! scalars {
    ($($type:ty),*) => {
        $(impl Scalar for $type {
            fn from_number(value: f64) -> Self {
                value as $type
            }
            fn number(self) -> f64 {
                self as f64
            }
        })*
    };
}

scalars!(f32, f64, i8, u8, i16, u16, i32, u32, i64, u64);

impl Scalar for Truth {
    fn from_number(value: f64) -> Self {
        Truth(u8::from(value != 0.0))
    }
    fn number(self) -> f64 {
        f64::from(u8::from(self.0 != 0))
    }
}

/// What went wrong, and why the system says it did.
fn with_cause(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn because(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!(": {said}")
    }
}

/// A folder as `file:` address (RFC 3986).
fn address(folder: &Path) -> String {
    let path = folder.display().to_string().replace('\\', "/");
    let mut address = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' | b':' => address.push(byte as char),
            byte if byte.is_ascii_alphanumeric() => address.push(byte as char),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}
