//! The shared library of a function behind a safe face.
//!
//! Safety: whoever loads C code trusts it; that is what the user allowed. What is promised to it here is what the text around
//! it (`text`) asks for: one argument for each parameter, with as many numbers as its count says, texts that end with zero,
//! all of which live as long as the call, and one call at a time.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use libloading::Library;
use saltus_routines::{Buffer, ExternalFunction, Failure, Kind, Parameter, Passing};

/// `saltus_argument`
#[repr(C)]
struct Argument {
    numbers: *mut f64,
    count: usize,
    texts: *mut *mut c_char,
    address: *mut c_void,
}

type Entry = unsafe extern "C" fn(*mut Argument) -> c_int;
type Said = unsafe extern "C" fn() -> *const c_char;
type Release = unsafe extern "C" fn();

/// A loaded function.
#[derive(Debug)]
pub(crate) struct Loaded {
    name: Arc<str>,
    parameters: Vec<Parameter>,
    entry: Entry,
    said: Said,
    release: Release,
    /// C code knows nothing of threads.
    turn: Mutex<()>,
    /// The entries point into it.
    _library: Library,
}

/// What an argument is made of, as long as the call lasts.
#[derive(Default)]
struct Lent {
    numbers: Vec<f64>,
    texts: Vec<CString>,
    pointers: Vec<*mut c_char>,
    address: u64,
}

/// What went wrong, and why the system says it did.
fn with_cause(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

impl Loaded {
    pub(crate) fn new(path: &Path, function: &ExternalFunction) -> Result<Loaded, String> {
        // SAFETY: loading runs initialisers of the library; the user allowed its code.
        let library = unsafe { Library::new(path) }.map_err(|error| with_cause(&error))?;
        let missing = |error: libloading::Error| with_cause(&error);
        // SAFETY: the text around the function defines entries of these names and types; they are kept beside the library.
        let (entry, said, release) = unsafe {
            (
                *library.get::<Entry>(b"saltus_call").map_err(missing)?,
                *library.get::<Said>(b"saltus_said").map_err(missing)?,
                *library.get::<Release>(b"saltus_release").map_err(missing)?,
            )
        };
        Ok(Loaded {
            name: Arc::clone(&function.name),
            parameters: function.parameters.clone(),
            entry,
            said,
            release,
            turn: Mutex::new(()),
            _library: library,
        })
    }

    pub(crate) fn call(&self, buffers: &mut [Buffer]) -> Result<(), Failure> {
        if buffers.len() != self.parameters.len() {
            return Err(Failure::new(format!(
                "`{}` is given another number of arguments",
                self.name
            )));
        }
        let mut lent = Vec::with_capacity(buffers.len());
        for (buffer, parameter) in buffers.iter().zip(&self.parameters) {
            lent.push(self.lend(buffer, parameter)?);
        }
        let mut arguments: Vec<Argument> = lent.iter_mut().map(Lent::argument).collect();
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: there is an argument for each parameter, of its kind (`lend`), and `lent` outlives the call.
        let status = unsafe { (self.entry)(arguments.as_mut_ptr()) };
        let outcome = if status == 0 {
            self.take_back(buffers, &lent, &arguments)
        } else {
            // SAFETY: the message is a text in the library that ends with zero.
            let said = unsafe { CStr::from_ptr((self.said)()) };
            Err(Failure::new(format!(
                "`{}`: {}",
                self.name,
                said.to_string_lossy().trim_end()
            )))
        };
        // SAFETY: texts that the function made have been copied, and nobody else has their addresses.
        unsafe { (self.release)() }
        outcome
    }

    fn lend(&self, buffer: &Buffer, parameter: &Parameter) -> Result<Lent, Failure> {
        let mut lent = Lent::default();
        match (buffer, parameter.kind) {
            (Buffer::Numbers(numbers), Kind::Real | Kind::Whole | Kind::Size | Kind::Moment) => {
                let whole = matches!(parameter.kind, Kind::Whole | Kind::Size);
                let fits = |number: &f64| i32::MIN as f64 <= *number && *number <= f64::from(i32::MAX);
                if let Some(number) = numbers.iter().find(|number| whole && !fits(number)) {
                    return Err(Failure::new(format!(
                        "`{}` is given {number}, which is no `int` of C",
                        self.name
                    )));
                }
                for (number, kind) in numbers.iter().zip(&parameter.fields) {
                    if *kind == Kind::Whole && !fits(number) {
                        return Err(Failure::new(format!(
                            "`{}` is given {number}, which is no `int` of C",
                            self.name
                        )));
                    }
                }
                let wanted = match parameter.fields.len() {
                    0 if parameter.is_array => numbers.len(),
                    0 => 1,
                    fields => fields,
                };
                if numbers.len() != wanted {
                    return Err(self.misfit());
                }
                lent.numbers.clone_from(numbers);
            }
            (Buffer::Text(text), Kind::Text) if !parameter.is_array => lent.texts.push(self.text(text)?),
            (Buffer::Texts(texts), Kind::Text) if parameter.is_array => {
                for text in texts {
                    lent.texts.push(self.text(text)?);
                }
            }
            (Buffer::Address(address), Kind::Object) => lent.address = *address,
            _ => return Err(self.misfit()),
        }
        lent.pointers = lent.texts.iter().map(|text| text.as_ptr().cast_mut()).collect();
        Ok(lent)
    }

    fn text(&self, text: &str) -> Result<CString, Failure> {
        CString::new(text).map_err(|_| Failure::new(format!("`{}` is given a text with a zero in it", self.name)))
    }

    fn misfit(&self) -> Failure {
        Failure::new(format!("an argument of `{}` does not fit", self.name))
    }

    fn take_back(&self, buffers: &mut [Buffer], lent: &[Lent], arguments: &[Argument]) -> Result<(), Failure> {
        for (at, buffer) in buffers.iter_mut().enumerate() {
            if self.parameters[at].passing == Passing::Given {
                continue;
            }
            match buffer {
                Buffer::Numbers(numbers) => numbers.clone_from(&lent[at].numbers),
                Buffer::Text(text) => *text = self.read(lent[at].pointers.first().copied())?,
                Buffer::Texts(texts) => {
                    for (text, &pointer) in texts.iter_mut().zip(&lent[at].pointers) {
                        *text = self.read(Some(pointer))?;
                    }
                }
                Buffer::Address(address) => *address = arguments[at].address.expose_provenance() as u64,
            }
        }
        Ok(())
    }

    fn read(&self, pointer: Option<*mut c_char>) -> Result<Arc<str>, Failure> {
        let Some(pointer) = pointer.filter(|pointer| !pointer.is_null()) else {
            return Err(Failure::new(format!(
                "`{}` yields a null pointer for a text",
                self.name
            )));
        };
        // SAFETY: the function yields a text that ends with zero and lives until it is released.
        let text = unsafe { CStr::from_ptr(pointer) };
        Ok(text.to_string_lossy().into())
    }
}

impl Lent {
    fn argument(&mut self) -> Argument {
        Argument {
            count: self.numbers.len(),
            numbers: self.numbers.as_mut_ptr(),
            texts: self.pointers.as_mut_ptr(),
            address: std::ptr::with_exposed_provenance_mut(self.address as usize),
        }
    }
}
