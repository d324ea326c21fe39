//! The code of functions and of their variants, each with its machine code.
//!
//! A variant has a number behind those of the functions, so that whatever calls functions calls variants.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use saltus_mdae::FunctionId;
use saltus_mdae::function::{Code, Functions, Variant};

use crate::native::NativeFunction;

/// Variants that one model may have; functions are differentiated while they run beyond.
const MOST_VARIANTS: usize = 4096;

/// What is known of a function that can be called.
#[derive(Debug, Default)]
pub(crate) struct Hotness {
    calls: AtomicU32,
    /// Machine code, or the failure to make any.
    pub(crate) native: OnceLock<Option<NativeFunction>>,
}

impl Hotness {
    pub(crate) fn count(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
struct Known {
    code: Code,
    hotness: Hotness,
}

/// All functions and variants of a model.
#[derive(Debug)]
pub(crate) struct Variants {
    functions: Arc<Functions>,
    own: Box<[Hotness]>,
    numbers: Mutex<FxHashMap<Variant, Option<FunctionId>>>,
    codes: OnceLock<Box<[OnceLock<Known>]>>,
}

impl Variants {
    pub(crate) fn new(functions: Arc<Functions>) -> Self {
        Variants {
            own: functions.iter().map(|_| Hotness::default()).collect(),
            functions,
            numbers: Mutex::default(),
            codes: OnceLock::new(),
        }
    }

    pub(crate) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// The number of a variant, which is made if it is new. `None` if there is none.
    pub(crate) fn number(&self, variant: Variant) -> Option<FunctionId> {
        // Nothing panics while the lock is held, so a poisoned one still guards sound data.
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = numbers.get(&variant) {
            return known;
        }
        let mut making = Making {
            variants: self,
            next: self.functions.len() + numbers.values().flatten().count(),
            numbers: FxHashMap::default(),
            known: &numbers,
            made: Vec::new(),
        };
        let number = making.number(variant);
        let Making { numbers: new, made, .. } = making;
        // A variant that could not be made may be called by others that are new.
        let complete = number.is_some() && new.values().all(Option::is_some);
        for (id, code) in made.into_iter().filter(|_| complete) {
            if let Some(place) = self.place(id) {
                place.get_or_init(|| Known {
                    code,
                    hotness: Hotness::default(),
                });
            }
        }
        #[allow(clippy::iter_over_hash_type, reason = "the order does not matter")]
        for (variant, id) in new {
            numbers.insert(variant, id.filter(|_| complete));
        }
        number.filter(|_| complete)
    }

    fn place(&self, id: FunctionId) -> Option<&OnceLock<Known>> {
        let at = (id.0 as usize).checked_sub(self.functions.len())?;
        let codes = self
            .codes
            .get_or_init(|| (0..MOST_VARIANTS).map(|_| OnceLock::new()).collect());
        codes.get(at)
    }

    fn known(&self, id: FunctionId) -> Option<&Known> {
        self.place(id)?.get()
    }

    /// The code of a function or variant.
    pub(crate) fn code(&self, id: FunctionId) -> &Code {
        match self.known(id) {
            Some(known) => &known.code,
            None => self.functions[id].code(),
        }
    }

    /// All functions and variants.
    pub(crate) fn all(&self) -> Vec<FunctionId> {
        let variants = self
            .codes
            .get()
            .into_iter()
            .flatten()
            .take_while(|place| place.get().is_some());
        (0..(self.functions.len() + variants.count()) as u32)
            .map(FunctionId)
            .collect()
    }

    pub(crate) fn hotness(&self, id: FunctionId) -> &Hotness {
        match self.known(id) {
            Some(known) => &known.hotness,
            None => &self.own[id.0 as usize],
        }
    }

    pub(crate) fn is_function(&self, id: FunctionId) -> bool {
        (id.0 as usize) < self.functions.len()
    }
}

/// A variant and those that it calls, being made.
struct Making<'a> {
    variants: &'a Variants,
    known: &'a FxHashMap<Variant, Option<FunctionId>>,
    numbers: FxHashMap<Variant, Option<FunctionId>>,
    next: usize,
    made: Vec<(FunctionId, Code)>,
}

impl Making<'_> {
    fn number(&mut self, variant: Variant) -> Option<FunctionId> {
        if let Some(&number) = self.known.get(&variant).or_else(|| self.numbers.get(&variant)) {
            return number;
        }
        if self.next - self.variants.functions.len() >= MOST_VARIANTS {
            return None;
        }
        let id = FunctionId(self.next as u32);
        self.next += 1;
        // It may call itself.
        self.numbers.insert(variant.clone(), Some(id));
        let functions = self.variants.functions.clone();
        let code = variant.code(&functions, &mut |called| self.number(called));
        match code {
            Some(code) => {
                self.made.push((id, code));
                Some(id)
            }
            None => {
                self.numbers.insert(variant, None);
                None
            }
        }
    }
}
