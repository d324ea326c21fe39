//! A small importer: units are unpacked, and their functions called as tools call them.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use saltus::{Model, Session};
use saltus_fmi::export::{ExportOptions, export};
use saltus_fmi::variables::Variables;
use saltus_fmi::{Interface, Loaded, Unit, Version};
use saltus_fmi_runtime::fmi3::*;
use saltus_testing::repository;

pub(crate) type Handle = *mut c_void;

pub(crate) const OK: i32 = 0;
pub(crate) const DISCARD: i32 = 2;
pub(crate) const ERROR: i32 = 3;

pub(crate) fn compile(text: &str) -> Model {
    let session = Session::new();
    session.add_text("M.mo", text);
    let name = session.find_model(None).into_result().unwrap();
    session.compile(&name).into_result().unwrap()
}

pub(crate) fn example(path: &str) -> Model {
    let session = Session::new();
    session.add_file(repository().join("examples").join(path));
    let name = session.find_model(None).into_result().unwrap();
    session.compile(&name).into_result().unwrap()
}

/// A unit, unpacked.
pub(crate) struct Unpacked {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) resources: CString,
    pub(crate) token: CString,
    pub(crate) variables: Variables,
    pub(crate) unit: Unit,
}

impl Unpacked {
    pub(crate) fn new(model: &Model, version: Version) -> Self {
        Unpacked::with(model, version, saltus_fmi::variables::Settings::default())
    }

    pub(crate) fn with(model: &Model, version: Version, settings: saltus_fmi::variables::Settings) -> Self {
        let options = ExportOptions {
            version,
            interfaces: vec![Interface::ModelExchange, Interface::CoSimulation],
            without_sources: false,
            settings,
        };
        Unpacked::of(&export(model, &[], &options).unwrap().bytes)
    }

    /// An archive, unpacked.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let folder = tempfile::Builder::new().prefix("unit mit Größe ").tempdir().unwrap();
        for entry in saltus_fmi::archive::unpack(bytes).unwrap() {
            let path = folder.path().join(&entry.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, entry.content).unwrap();
        }
        let resources = folder.path().join("resources");
        let loaded = Loaded::read(&resources).unwrap();
        let path = format!("{}/", resources.display());
        Unpacked {
            resources: CString::new(path).unwrap(),
            token: CString::new(loaded.token()).unwrap(),
            variables: loaded.variables.clone(),
            folder,
            unit: Unit::read(bytes).unwrap(),
        }
    }

    pub(crate) fn address(&self) -> CString {
        let path = self.folder.path().join("resources").display().to_string();
        let mut address = String::from("file://");
        for byte in path.bytes() {
            match byte {
                b'/' | b'.' | b'-' | b'_' => address.push(byte as char),
                byte if byte.is_ascii_alphanumeric() => address.push(byte as char),
                byte => address.push_str(&format!("%{byte:02X}")),
            }
        }
        CString::new(address).unwrap()
    }

    pub(crate) fn reference(&self, name: &str) -> u32 {
        self.variables
            .reference(name)
            .unwrap_or_else(|| panic!("no variable `{name}`"))
    }
}

/// What instances said.
pub(crate) static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub(crate) unsafe extern "C" fn log(_: *mut c_void, _: i32, _: *const c_char, message: *const c_char) {
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    MESSAGES.lock().unwrap().push(message);
}

pub(crate) fn said(what: &str) -> bool {
    MESSAGES.lock().unwrap().iter().any(|message| message.contains(what))
}

/// An instance of FMI 3.
pub(crate) struct Instance3<'u> {
    pub(crate) handle: Handle,
    pub(crate) unit: &'u Unpacked,
}

impl Drop for Instance3<'_> {
    fn drop(&mut self) {
        unsafe { fmi3FreeInstance(self.handle) }
    }
}

/// What an event brought.
#[derive(Debug, Default)]
pub(crate) struct Update {
    pub(crate) needs_update: bool,
    pub(crate) terminate: bool,
    pub(crate) changed: bool,
    pub(crate) next: Option<f64>,
}

/// How far a step went.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) event: bool,
    pub(crate) terminate: bool,
    pub(crate) early: bool,
    pub(crate) time: f64,
}

impl<'u> Instance3<'u> {
    pub(crate) fn exchange(unit: &'u Unpacked) -> Self {
        let handle = unsafe {
            fmi3InstantiateModelExchange(
                c"i".as_ptr(),
                unit.token.as_ptr(),
                unit.resources.as_ptr(),
                false,
                true,
                std::ptr::null_mut(),
                Some(log),
            )
        };
        assert!(!handle.is_null());
        Instance3 { handle, unit }
    }

    pub(crate) fn co_simulation(unit: &'u Unpacked, event_mode: bool) -> Self {
        let handle = unsafe {
            fmi3InstantiateCoSimulation(
                c"i".as_ptr(),
                unit.token.as_ptr(),
                unit.resources.as_ptr(),
                false,
                true,
                event_mode,
                event_mode,
                std::ptr::null(),
                0,
                std::ptr::null_mut(),
                Some(log),
                None,
            )
        };
        assert!(!handle.is_null());
        Instance3 { handle, unit }
    }

    pub(crate) fn initialize(&self, start: f64, stop: f64, tolerance: f64) {
        unsafe {
            assert_eq!(
                fmi3EnterInitializationMode(self.handle, true, tolerance, start, true, stop),
                OK
            );
            assert_eq!(
                fmi3ExitInitializationMode(self.handle),
                OK,
                "{:?}",
                MESSAGES.lock().unwrap()
            );
        }
    }

    /// Without a stop time.
    pub(crate) fn initialize_without_end(&self, start: f64, tolerance: f64) {
        unsafe {
            assert_eq!(
                fmi3EnterInitializationMode(self.handle, true, tolerance, start, false, 0.0),
                OK
            );
            assert_eq!(fmi3ExitInitializationMode(self.handle), OK);
        }
    }

    pub(crate) fn get(&self, name: &str) -> f64 {
        let (reference, mut value) = (self.unit.reference(name), f64::NAN);
        assert_eq!(unsafe { fmi3GetFloat64(self.handle, &reference, 1, &mut value, 1) }, OK);
        value
    }

    pub(crate) fn set(&self, name: &str, value: f64) -> i32 {
        let reference = self.unit.reference(name);
        unsafe { fmi3SetFloat64(self.handle, &reference, 1, &value, 1) }
    }

    pub(crate) fn state_count(&self) -> usize {
        let mut count = 0;
        assert_eq!(unsafe { fmi3GetNumberOfContinuousStates(self.handle, &mut count) }, OK);
        count
    }

    pub(crate) fn indicator_count(&self) -> usize {
        let mut count = 0;
        assert_eq!(unsafe { fmi3GetNumberOfEventIndicators(self.handle, &mut count) }, OK);
        count
    }

    pub(crate) fn update(&self) -> Update {
        let mut update = Update::default();
        let (mut nominals, mut defined, mut time) = (false, false, 0.0);
        let status = unsafe {
            fmi3UpdateDiscreteStates(
                self.handle,
                &mut update.needs_update,
                &mut update.terminate,
                &mut nominals,
                &mut update.changed,
                &mut defined,
                &mut time,
            )
        };
        assert_eq!(status, OK, "{:?}", MESSAGES.lock().unwrap().last());
        update.next = defined.then_some(time);
        update
    }

    /// Until nothing changes any more.
    pub(crate) fn updates(&self) -> Update {
        self.updates_at(f64::NEG_INFINITY)
    }

    /// The same; next events are said to be ahead of a time, also by calls that are not the last.
    pub(crate) fn updates_at(&self, time: f64) -> Update {
        let mut changed = false;
        loop {
            let mut update = self.update();
            assert!(update.next.is_none_or(|next| next > time), "at {time}: {update:?}");
            changed |= update.changed;
            if !update.needs_update || update.terminate {
                update.changed = changed;
                return update;
            }
        }
    }

    pub(crate) fn step(&self, from: f64, step: f64) -> Step {
        let mut done = Step::default();
        let status = unsafe {
            fmi3DoStep(
                self.handle,
                from,
                step,
                true,
                &mut done.event,
                &mut done.terminate,
                &mut done.early,
                &mut done.time,
            )
        };
        assert_eq!(status, OK, "{:?}", MESSAGES.lock().unwrap().last());
        done
    }

    pub(crate) fn save(&self) -> *mut c_void {
        let mut state = std::ptr::null_mut();
        assert_eq!(unsafe { fmi3GetFMUState(self.handle, &mut state) }, OK);
        state
    }

    pub(crate) fn restore(&self, state: *mut c_void) {
        assert_eq!(unsafe { fmi3SetFMUState(self.handle, state) }, OK);
    }

    pub(crate) fn free(&self, mut state: *mut c_void) {
        assert_eq!(unsafe { fmi3FreeFMUState(self.handle, &mut state) }, OK);
        assert!(state.is_null());
    }

    pub(crate) fn serialize(&self, state: *mut c_void) -> Vec<u8> {
        let mut size = 0;
        assert_eq!(unsafe { fmi3SerializedFMUStateSize(self.handle, state, &mut size) }, OK);
        let mut bytes = vec![0; size];
        assert_eq!(
            unsafe { fmi3SerializeFMUState(self.handle, state, bytes.as_mut_ptr(), size) },
            OK
        );
        bytes
    }

    pub(crate) fn deserialize(&self, bytes: &[u8]) -> *mut c_void {
        let mut state = std::ptr::null_mut();
        assert_eq!(
            unsafe { fmi3DeserializeFMUState(self.handle, bytes.as_ptr(), bytes.len(), &mut state) },
            OK
        );
        state
    }
}

/// An importer of Model Exchange: the classical Runge-Kutta method, and bisection where an indicator changes its sign.
pub(crate) struct Integrator<'i, 'u> {
    pub(crate) instance: &'i Instance3<'u>,
    pub(crate) time: f64,
    pub(crate) states: Vec<f64>,
    pub(crate) step: f64,
    pub(crate) next: Option<f64>,
    pub(crate) events: Vec<f64>,
    signs: Vec<bool>,
}

impl<'i, 'u> Integrator<'i, 'u> {
    pub(crate) fn new(instance: &'i Instance3<'u>, start: f64, step: f64) -> Self {
        let update = instance.updates_at(start);
        unsafe { assert_eq!(fmi3EnterContinuousTimeMode(instance.handle), OK) };
        let mut integrator = Integrator {
            instance,
            time: start,
            states: vec![0.0; instance.state_count()],
            step,
            next: update.next,
            events: Vec::new(),
            signs: Vec::new(),
        };
        integrator.read();
        integrator
    }

    /// Goes on from a state that was restored.
    pub(crate) fn resumed(
        instance: &'i Instance3<'u>,
        time: f64,
        step: f64,
        states: Vec<f64>,
        next: Option<f64>,
    ) -> Self {
        let mut integrator = Integrator {
            instance,
            time,
            states,
            step,
            next,
            events: Vec::new(),
            signs: Vec::new(),
        };
        integrator.signs = integrator.indicators();
        integrator
    }

    fn read(&mut self) {
        let states = &mut self.states;
        let status = unsafe { fmi3GetContinuousStates(self.instance.handle, states.as_mut_ptr(), states.len()) };
        assert_eq!(status, OK);
        self.signs = self.indicators();
    }

    fn indicators(&self) -> Vec<bool> {
        let mut values = vec![0.0; self.instance.indicator_count()];
        let status = unsafe { fmi3GetEventIndicators(self.instance.handle, values.as_mut_ptr(), values.len()) };
        assert_eq!(status, OK, "{:?}", MESSAGES.lock().unwrap().last());
        values.iter().map(|value| *value > 0.0).collect()
    }

    fn place(&self, time: f64, states: &[f64]) {
        unsafe {
            assert_eq!(fmi3SetTime(self.instance.handle, time), OK);
            assert_eq!(
                fmi3SetContinuousStates(self.instance.handle, states.as_ptr(), states.len()),
                OK
            );
        }
    }

    fn rates(&self, time: f64, states: &[f64]) -> Vec<f64> {
        self.place(time, states);
        let mut rates = vec![0.0; states.len()];
        let status =
            unsafe { fmi3GetContinuousStateDerivatives(self.instance.handle, rates.as_mut_ptr(), rates.len()) };
        assert_eq!(status, OK, "{:?}", MESSAGES.lock().unwrap().last());
        rates
    }

    fn after(&self, h: f64) -> Vec<f64> {
        let (t, x) = (self.time, &self.states);
        let along = |k: &[f64], by: f64| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + by * k).collect() };
        let k1 = self.rates(t, x);
        let k2 = self.rates(t + h / 2.0, &along(&k1, h / 2.0));
        let k3 = self.rates(t + h / 2.0, &along(&k2, h / 2.0));
        let k4 = self.rates(t + h, &along(&k3, h));
        let sum = |at: usize| k1[at] + 2.0 * k2[at] + 2.0 * k3[at] + k4[at];
        (0..x.len()).map(|at| x[at] + h / 6.0 * sum(at)).collect()
    }

    /// Goes to a time, through events. False if the model asks for the end.
    pub(crate) fn run_to(&mut self, until: f64) -> bool {
        while self.time < until - 1e-12 * until.abs().max(1.0) {
            let end = self.next.map_or(until, |next| next.min(until));
            let mut h = self.step.min(end - self.time);
            let mut states = self.after(h);
            self.place(self.time + h, &states);
            let by_time = self.next.is_some_and(|next| self.time + h >= next);
            let mut by_state = self.indicators() != self.signs;
            if by_state {
                let (mut low, mut high) = (0.0, h);
                while high - low > 1e-13 * (self.time.abs() + h) && high - low > 4.0 * f64::EPSILON * self.time {
                    let middle = 0.5 * (low + high);
                    let states = self.after(middle);
                    self.place(self.time + middle, &states);
                    if self.indicators() == self.signs {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                h = high;
                states = self.after(h);
                self.place(self.time + h, &states);
                by_state = true;
            }
            (self.time, self.states) = (self.time + h, states);
            let (mut event, mut terminate) = (false, false);
            unsafe {
                let handle = self.instance.handle;
                assert_eq!(
                    fmi3CompletedIntegratorStep(handle, true, &mut event, &mut terminate),
                    OK
                );
                if event || by_state || by_time {
                    assert_eq!(fmi3EnterEventMode(handle), OK);
                    let update = self.instance.updates_at(self.time);
                    if by_state || by_time {
                        self.events.push(self.time);
                    }
                    if update.terminate {
                        return false;
                    }
                    self.next = update.next;
                    assert_eq!(fmi3EnterContinuousTimeMode(handle), OK);
                    self.read();
                }
            }
        }
        true
    }
}

/// The shared library, where tests are built.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = format!(
        "{}saltus_fmi_runtime{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let folder: &Path = test.parent().unwrap();
    folder.join(name)
}
