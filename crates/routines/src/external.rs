//! Functions whose body is C text or a library of somebody else, where the user allows to run them.
//!
//! What such a function takes and gives is described here as data; whoever hosts it makes code of that ([`ExternalHost`]).
//! Without a host nothing runs.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use crate::{Buffer, Failure};

/// The language of an external clause.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// `"C"`
    C,
    /// `"FORTRAN 77"`: everything is passed by its address, and names end with an underscore.
    Fortran,
}

/// What an argument is in C.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// `double`
    Real,
    /// `int`: Integer, Boolean and enumerations.
    Whole,
    /// `size_t`: the size of an array.
    Size,
    /// `const char *`
    Text,
    /// `void *`: an external object.
    Object,
    /// Not passed at all: the time of the call. What is impure is asked once for each time and arguments, so that equations
    /// may be evaluated as often as it takes.
    Moment,
}

/// How an argument is passed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Passing {
    /// An input.
    Given,
    /// By its address: the function writes it.
    Written,
    /// The value that the function returns.
    Returned,
}

/// An argument of an external function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// What it is, or what its elements are.
    pub kind: Kind,
    /// Whether it is an array.
    pub is_array: bool,
    /// How it is passed.
    pub passing: Passing,
    /// The fields of a record, which is passed by its address. Its numbers are those of its fields.
    pub fields: Vec<Kind>,
}

/// Where the code of a function comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The annotation `Include`: C text.
    pub include: Arc<str>,
    /// Folders of header files.
    pub include_folders: Vec<Arc<str>>,
    /// The annotation `Library`: names for the linker, or files.
    pub libraries: Vec<Arc<str>>,
    /// Folders of libraries.
    pub library_folders: Vec<Arc<str>>,
}

/// An external function.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExternalFunction {
    /// Its name in its language.
    pub name: Arc<str>,
    /// The language.
    pub language: Language,
    /// Its arguments, a returned value as the last.
    pub parameters: Vec<Parameter>,
    /// Where it comes from.
    pub origin: Origin,
    #[serde(skip)]
    code: OnceLock<Arc<dyn ExternalCode>>,
    /// What was asked last, and the answer: impure functions are asked once for each time.
    #[serde(skip)]
    remembered: Mutex<Vec<(Vec<Buffer>, Vec<Buffer>)>>,
}

/// Makes code of functions.
pub trait ExternalHost: std::fmt::Debug + Send + Sync {
    /// The code of a function, or why there is none.
    fn open(&self, function: &ExternalFunction) -> Result<Arc<dyn ExternalCode>, String>;
}

/// A function that can be called.
pub trait ExternalCode: std::fmt::Debug + Send + Sync {
    /// Calls it. What it writes replaces the buffers.
    fn call(&self, buffers: &mut [Buffer]) -> Result<(), Failure>;
}

/// Instants of which the answers of impure functions are kept.
const MOST_REMEMBERED: usize = 16;

impl ExternalFunction {
    /// A function that does not run yet.
    pub fn new(name: Arc<str>, language: Language, parameters: Vec<Parameter>, origin: Origin) -> Self {
        ExternalFunction {
            name,
            language,
            parameters,
            origin,
            code: OnceLock::new(),
            remembered: Mutex::default(),
        }
    }

    /// Lets a host run it.
    pub fn link(&self, host: &dyn ExternalHost) -> Result<(), String> {
        if self.code.get().is_none() {
            let _ = self.code.set(host.open(self)?);
        }
        Ok(())
    }

    /// Whether it may run.
    pub fn is_linked(&self) -> bool {
        self.code.get().is_some()
    }

    /// Whether its results jump: whole numbers, or another answer at each event.
    pub fn is_discrete(&self) -> bool {
        let results = self
            .parameters
            .iter()
            .filter(|parameter| parameter.passing != Passing::Given);
        self.depends_on_moment()
            || results
                .into_iter()
                .all(|result| result.fields.is_empty() && result.kind != Kind::Real)
    }

    fn depends_on_moment(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.kind == Kind::Moment)
    }

    /// Calls it.
    pub fn call(&self, buffers: &mut [Buffer]) -> Result<(), Failure> {
        let Some(code) = self.code.get() else {
            let name = &self.name;
            return Err(Failure::new(format!(
                "running the external code of `{name}` has not been allowed"
            )));
        };
        if !self.depends_on_moment() {
            return code.call(buffers);
        }
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, answer)) = remembered.iter().find(|(asked, _)| asked == buffers) {
            buffers.clone_from_slice(answer);
            return Ok(());
        }
        let asked = buffers.to_vec();
        code.call(buffers)?;
        if remembered.len() == MOST_REMEMBERED {
            remembered.remove(0);
        }
        remembered.push((asked, buffers.to_vec()));
        Ok(())
    }
}

impl PartialEq for ExternalFunction {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.language, &self.parameters, &self.origin)
            == (&other.name, other.language, &other.parameters, &other.origin)
    }
}

/// An external object: made when it is first needed, and given back when nobody has it any more.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExternalObject {
    /// The component that it is; empty within functions.
    pub owner: Arc<str>,
    /// What makes it.
    pub constructor: Arc<ExternalFunction>,
    /// The arguments for that.
    pub arguments: Vec<Buffer>,
    /// What takes it back.
    pub destructor: Option<Arc<ExternalFunction>>,
    #[serde(skip)]
    handle: OnceLock<Arc<Handle>>,
}

#[derive(Debug, Default)]
struct Handle {
    address: Mutex<Option<u64>>,
    destructor: Option<Arc<ExternalFunction>>,
}

impl ExternalObject {
    /// An object that is not made yet.
    pub fn new(
        owner: Arc<str>,
        constructor: Arc<ExternalFunction>,
        arguments: Vec<Buffer>,
        destructor: Option<Arc<ExternalFunction>>,
    ) -> Self {
        ExternalObject {
            owner,
            constructor,
            arguments,
            destructor,
            handle: OnceLock::new(),
        }
    }

    /// Two descriptions of one object, as files have them, are one object.
    pub fn share(&self, other: &ExternalObject) {
        let _ = self.handle.set(Arc::clone(other.handle()));
    }

    /// Lets a host run what makes it and takes it back.
    pub fn link(&self, host: &dyn ExternalHost) -> Result<(), String> {
        self.constructor.link(host)?;
        self.destructor.iter().try_for_each(|destructor| destructor.link(host))
    }

    fn handle(&self) -> &Arc<Handle> {
        self.handle.get_or_init(|| {
            Arc::new(Handle {
                address: Mutex::new(None),
                destructor: self.destructor.clone(),
            })
        })
    }

    /// Where it is. It is made now if it has not been.
    pub fn address(&self) -> Result<u64, Failure> {
        let mut address = self.handle().address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(address) = *address {
            return Ok(address);
        }
        let mut buffers = self.arguments.clone();
        buffers.push(Buffer::Address(0));
        self.constructor.call(&mut buffers)?;
        match buffers.last() {
            Some(&Buffer::Address(made)) if made != 0 => {
                *address = Some(made);
                Ok(made)
            }
            _ => {
                let name = &self.constructor.name;
                Err(Failure::new(format!(
                    "`{name}` makes no object: it returns a null pointer"
                )))
            }
        }
    }
}

impl PartialEq for ExternalObject {
    fn eq(&self, other: &Self) -> bool {
        (&self.owner, &self.constructor, &self.arguments, &self.destructor)
            == (&other.owner, &other.constructor, &other.arguments, &other.destructor)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let address = *self.address.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (Some(address), Some(destructor)) = (address, &self.destructor) {
            // There is nobody left to say that it fails.
            let _ = destructor.call(&mut [Buffer::Address(address)]);
        }
    }
}
