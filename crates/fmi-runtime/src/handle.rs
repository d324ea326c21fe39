//! Instances behind pointers.

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use saltus_fmi::instance::{Instance, Loaded, Mode, Saved, Trouble};
use saltus_fmi::variables::Kind;

/// How a call went.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Ok = 0,
    Discard = 2,
    Error = 3,
}

/// How messages get to the importer.
pub(crate) trait Logger {
    fn log(&self, outcome: Outcome, category: &CStr, message: &CStr);
}

/// What an instance is to the importer.
pub(crate) struct Component {
    pub instance: Instance,
    pub logger: Box<dyn Logger>,
    /// Whether events and warnings are reported, too.
    pub logging: bool,
    /// FMI 2 asks for these after a step that was discarded.
    pub last_time: f64,
    pub terminated: bool,
    /// Texts that were handed out by the last call.
    pub texts: Vec<CString>,
    /// Who wants to hear of points within a step.
    pub intermediate: Option<Intermediate>,
}

/// A callback for points within a step.
#[derive(Copy, Clone)]
pub(crate) struct Intermediate {
    pub environment: *mut c_void,
    pub update: unsafe extern "C" fn(*mut c_void, f64, bool, bool, bool, bool, *mut bool, *mut f64),
}

impl Component {
    pub(crate) fn tell(&self, outcome: Outcome, category: &CStr, message: &str) {
        let clean: Vec<u8> = message.bytes().filter(|byte| *byte != 0).collect();
        if let Ok(message) = CString::new(clean) {
            self.logger.log(outcome, category, &message);
        }
    }
}

/// Makes an instance from the folder of resources, if the token is that of the model in it.
pub(crate) fn instantiate(
    resources: Option<PathBuf>,
    token: Option<&str>,
    mode: Mode,
    logging: bool,
    logger: Box<dyn Logger>,
) -> *mut c_void {
    let made = catch_unwind(|| {
        let resources = resources.ok_or("the path of the resources is missing or no path")?;
        let loaded = Loaded::read(&resources)?;
        if token != Some(loaded.token()) {
            return Err(format!("the unit is another one: its token is {}", loaded.token()));
        }
        Ok(Instance::new(Arc::new(loaded), mode))
    });
    let made = made.unwrap_or_else(|panic| Err(in_words(&*panic)));
    match made {
        Ok(instance) => {
            let component = Component {
                instance,
                logger,
                logging,
                last_time: 0.0,
                terminated: false,
                texts: Vec::new(),
                intermediate: None,
            };
            Box::into_raw(Box::new(component)).cast()
        }
        Err(message) => {
            let clean: Vec<u8> = message.bytes().filter(|byte| *byte != 0).collect();
            if let Ok(message) = CString::new(clean) {
                logger.log(Outcome::Error, c"logStatusError", &message);
            }
            std::ptr::null_mut()
        }
    }
}

fn in_words(panic: &(dyn std::any::Any + Send)) -> String {
    let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
    format!(
        "internal error, a bug in Saltus: {}",
        message.unwrap_or_else(|| "no message".to_owned())
    )
}

/// Does what a call asks for; what goes wrong is reported.
///
/// # Safety
/// `pointer` is null, or an instance that is alive and not in use by another call.
pub(crate) unsafe fn call(pointer: *mut c_void, work: impl FnOnce(&mut Component) -> Result<(), Trouble>) -> Outcome {
    // SAFETY: the caller promises that it is null or a live instance of ours that nobody else uses now.
    let Some(component) = (unsafe { pointer.cast::<Component>().as_mut() }) else {
        return Outcome::Error;
    };
    let result = catch_unwind(AssertUnwindSafe(|| work(component)));
    let told = std::mem::take(&mut component.instance.told);
    if component.logging {
        told.iter()
            .for_each(|message| component.tell(Outcome::Ok, c"logEvents", message));
    }
    let trouble = match result {
        Ok(Ok(())) => return Outcome::Ok,
        Ok(Err(trouble)) => trouble,
        Err(panic) => Trouble::Error(in_words(&*panic)),
    };
    let outcome = match trouble {
        Trouble::Discard(_) => Outcome::Discard,
        Trouble::Error(_) => Outcome::Error,
    };
    component.tell(outcome, c"logStatusError", trouble.message());
    outcome
}

/// Frees an instance.
///
/// # Safety
/// As for [`call`]; the instance is not used any more.
pub(crate) unsafe fn free(pointer: *mut c_void) {
    if !pointer.is_null() {
        // SAFETY: it came from `Box::into_raw` in `instantiate`, and nobody uses it any more.
        let component = unsafe { Box::from_raw(pointer.cast::<Component>()) };
        // A panic must not cross the interface.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(component)));
    }
}

/// Values that a pointer and a count stand for.
///
/// # Safety
/// `values` is null, or points at `count` values that nobody writes to during the call.
pub(crate) unsafe fn slice<'a, T>(values: *const T, count: usize) -> Result<&'a [T], Trouble> {
    match (count, values.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(Trouble::Error("a pointer to values is null".to_owned())),
        // SAFETY: it is not null, and the caller promises so many values.
        (count, false) => Ok(unsafe { std::slice::from_raw_parts(values, count) }),
    }
}

/// Room for results.
///
/// # Safety
/// `values` is null, or points at room for `count` values that nobody else uses during the call.
pub(crate) unsafe fn slice_mut<'a, T>(values: *mut T, count: usize) -> Result<&'a mut [T], Trouble> {
    match (count, values.is_null()) {
        (0, _) => Ok(&mut []),
        (_, true) => Err(Trouble::Error("a pointer to results is null".to_owned())),
        // SAFETY: it is not null, and the caller promises room for so many values.
        (count, false) => Ok(unsafe { std::slice::from_raw_parts_mut(values, count) }),
    }
}

/// Writes a result, if there is room for it.
///
/// # Safety
/// `place` is null or can be written to.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller promises that it can be written to.
        unsafe { place.write(value) };
    }
}

/// A text.
///
/// # Safety
/// `text` is null, or ends with a zero byte and lives through the call.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller promises the zero byte.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// Who wants to hear of points within a step.
///
/// # Safety
/// The pointer is null or a live instance of ours that nobody else uses now.
pub(crate) unsafe fn intermediate(pointer: *mut c_void) -> Option<Intermediate> {
    // SAFETY: as above.
    unsafe { pointer.cast::<Component>().as_ref() }?.intermediate
}

/// Reads texts; they live until the next call that reads some.
///
/// # Safety
/// As for the functions of the interface: a live instance, so many references, and room for so many pointers.
pub(crate) unsafe fn get_texts(
    instance: *mut c_void,
    (references, count): (*const u32, usize),
    (values, room): (*mut *const c_char, usize),
) -> Outcome {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many references and room for so many pointers.
        let (references, values) = unsafe { (slice(references, count)?, slice_mut(values, room)?) };
        let references = scalars(component, references, values.len())?;
        let mut texts = Vec::with_capacity(references.len());
        for reference in references {
            check_kind(component, reference, |kind| kind == Kind::Text, "String")?;
            let text = component.instance.text(reference)?;
            let clean: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
            texts.push(CString::new(clean).unwrap_or_default());
        }
        values
            .iter_mut()
            .zip(&texts)
            .for_each(|(value, text)| *value = text.as_ptr());
        component.texts = texts;
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) }
}

/// Whether a variable can be read and written as a type.
pub(crate) fn check_kind(
    component: &Component,
    reference: u32,
    kinds: fn(Kind) -> bool,
    name: &str,
) -> Result<(), Trouble> {
    let shown = component.instance.variables().get(reference);
    match shown {
        Some(shown) if kinds(shown.kind) => Ok(()),
        Some(shown) => Err(Trouble::Error(format!("`{}` is no {name}", shown.name))),
        None => Err(Trouble::Error(format!(
            "there is no variable with the value reference {reference}"
        ))),
    }
}

/// The variable that a reference stands for.
pub(crate) fn scalar(component: &Component, reference: u32) -> Result<u32, Trouble> {
    scalars(component, &[reference], 1).map(|scalars| scalars[0])
}

/// The variables that references stand for.
pub(crate) fn variables(component: &Component, references: &[u32]) -> Result<Vec<u32>, Trouble> {
    let found = component.instance.variables().scalars(references);
    found.ok_or_else(|| Trouble::Error("there is no variable with one of the value references".to_owned()))
}

/// The variables that references stand for; there must be a value for each.
fn scalars(component: &Component, references: &[u32], values: usize) -> Result<Vec<u32>, Trouble> {
    let scalars = variables(component, references)?;
    if scalars.len() == values {
        return Ok(scalars);
    }
    Err(Trouble::Error(format!(
        "{} references stand for {} values, not for {values}",
        references.len(),
        scalars.len()
    )))
}

/// Reads variables of a type.
///
/// # Safety
/// As for [`call`], [`slice`] and [`slice_mut`].
pub(crate) unsafe fn get<T>(
    instance: *mut c_void,
    (references, count): (*const u32, usize),
    (values, room): (*mut T, usize),
    (kinds, name): (fn(Kind) -> bool, &str),
    convert: fn(f64) -> T,
) -> Outcome {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many references and room for so many values.
        let (references, values) = unsafe { (slice(references, count)?, slice_mut(values, room)?) };
        let references = scalars(component, references, values.len())?;
        for (&reference, value) in references.iter().zip(values) {
            check_kind(component, reference, kinds, name)?;
            *value = convert(component.instance.get(reference)?);
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) }
}

/// Sets variables of a type.
///
/// # Safety
/// As for [`call`] and [`slice`].
pub(crate) unsafe fn set<T: Copy>(
    instance: *mut c_void,
    (references, count): (*const u32, usize),
    (values, given): (*const T, usize),
    (kinds, name): (fn(Kind) -> bool, &str),
    convert: fn(T) -> f64,
) -> Outcome {
    let work = |component: &mut Component| {
        // SAFETY: the importer gives so many references and values.
        let (references, values) = unsafe { (slice(references, count)?, slice(values, given)?) };
        let references = scalars(component, references, values.len())?;
        for (&reference, &value) in references.iter().zip(values) {
            check_kind(component, reference, kinds, name)?;
            component.instance.set(reference, convert(value))?;
        }
        Ok(())
    };
    // SAFETY: see the crate.
    unsafe { call(instance, work) }
}

/// A saved state behind a pointer.
pub(crate) fn keep(saved: Saved) -> *mut c_void {
    Box::into_raw(Box::new(saved)).cast()
}

/// The saved state behind a pointer.
///
/// # Safety
/// `pointer` is null or came from [`keep`] and was not freed.
pub(crate) unsafe fn kept<'a>(pointer: *mut c_void) -> Result<&'a Saved, Trouble> {
    // SAFETY: the caller promises that it is null or a live saved state.
    let saved = unsafe { pointer.cast::<Saved>().as_ref() };
    saved.ok_or_else(|| Trouble::Error("the pointer to a saved state is null".to_owned()))
}

/// Frees a saved state.
///
/// # Safety
/// As for [`kept`]; it is not used any more.
pub(crate) unsafe fn forget(pointer: *mut c_void) {
    if !pointer.is_null() {
        // SAFETY: it came from `Box::into_raw` in `keep`.
        let saved = unsafe { Box::from_raw(pointer.cast::<Saved>()) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(saved)));
    }
}

/// Keeps a saved state in the place of the importer, whose former content is freed.
///
/// # Safety
/// `place` is null, or holds null or a saved state.
pub(crate) unsafe fn keep_in(place: *mut *mut c_void, saved: Saved) -> Result<(), Trouble> {
    if place.is_null() {
        return Err(Trouble::Error("there is no room for the saved state".to_owned()));
    }
    // SAFETY: the caller promises that it holds null or one of ours, which the new one replaces.
    unsafe {
        forget(*place);
        *place = keep(saved);
    }
    Ok(())
}

/// The path of a `file:` address; what is no address is a path already.
pub(crate) fn path_of_address(address: &str) -> Option<PathBuf> {
    let Some(rest) = address.strip_prefix("file:") else {
        return Some(PathBuf::from(address));
    };
    let path = match rest.strip_prefix("//") {
        Some(with_host) => &with_host[with_host.find('/')?..],
        None => rest,
    };
    let (mut bytes, mut given) = (Vec::new(), path.bytes());
    while let Some(byte) = given.next() {
        if byte == b'%' {
            let digits = [given.next()?, given.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    // `/C:/folder` on Windows.
    let drive = path.len() > 2 && path.as_bytes()[2] == b':';
    Some(PathBuf::from(if drive { &path[1..] } else { &path[..] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_paths() {
        let path = |address: &str| path_of_address(address).map(|path| path.display().to_string());
        assert_eq!(path("file:///tmp/a%20b/%C3%BC").as_deref(), Some("/tmp/a b/ü"));
        assert_eq!(path("file:/tmp/x").as_deref(), Some("/tmp/x"));
        assert_eq!(path("file://localhost/tmp/x").as_deref(), Some("/tmp/x"));
        assert_eq!(path("file:///C:/x").as_deref(), Some("C:/x"));
        assert_eq!(path("/tmp/x").as_deref(), Some("/tmp/x"));
        assert_eq!(path("file:///tmp/%G"), None);
    }
}
