//! Modelica meaning: from classes to a flat model.
//!
//! [`flatten`] takes a class of a library and yields a [`flat::FlatModel`] with diagnostics.
//!
//! The way there: [`class`] resolves names, inheritance and redeclarations into class nodes;
//! [`instance`] makes components on first use and evaluates what decides the structure; [`expr`]
//! translates expressions to scalars; [`function`] evaluates, inlines or specialises functions;
//! [`model`] collects equations and connections; [`unreached`] looks at text
//! that conditions leave out.

#![allow(rustdoc::private_intra_doc_links)]

mod advice;
mod class;
mod conversion;
mod expr;
mod failure;
pub mod flat;
mod flattener;
mod function;
mod hints;
mod ids;
mod instance;
mod limits;
mod model;
mod modification;
mod tensor;
pub mod unit;
mod unreached;

use std::sync::Arc;

use saltus_routines::ExternalHost;
pub(crate) use saltus_source::codes;
use saltus_source::{Cancel, Diagnostics};
use saltus_syntax::ast::ClassModification;
use saltus_syntax::library::Library;

pub use hints::hints;
pub use limits::Limits;
pub use model::units::UnitNotes;

/// What flattening yields.
#[derive(Debug)]
pub struct Flattened {
    /// The flat model; `None` if an error stood in the way.
    pub model: Option<flat::FlatModel>,
    /// Everything to be reported, sorted by place.
    pub diagnostics: Diagnostics,
    /// Units that follow from those that are declared, if they were asked for.
    pub units: UnitNotes,
}

/// How to flatten.
#[derive(Clone, Debug, Default)]
pub struct FlattenOptions {
    /// Limits against hostile input.
    pub limits: Limits,
    /// Modifications of the class, as `(…)` behind its name in an extends clause.
    pub modification: Option<Arc<ClassModification>>,
    /// Who runs the code of external functions that the model names; nobody unless the user allows it.
    pub external: Option<Arc<dyn ExternalHost>>,
    /// Asks to stop: there is no model then, and what was found until then is not all.
    pub cancel: Cancel,
    /// Also find the units that follow from others.
    pub units: bool,
}

/// Room for deeply nested models and functions: [`Limits::depth`] levels of all passes together.
const STACK_SIZE: usize = 512 << 20;

/// Flattens the class with this qualified name.
pub fn flatten(library: &Library, class: &str, options: &FlattenOptions) -> Flattened {
    with_large_stack(&|| flatten_here(library, class, options))
}

/// Checks the bodies of functions with these qualified names: names, types, and what they call. Partial and external
/// functions have none.
pub fn check_functions(library: &Library, names: &[Arc<str>], options: &FlattenOptions) -> Diagnostics {
    with_large_stack(&|| function::body::check_bodies(library, options, names))
}

fn with_large_stack<T: Send>(run: &(dyn Fn() -> T + Sync)) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK_SIZE)
            .spawn_scoped(scope, run);
        match thread.map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // No thread to be had: the stack at hand must do.
            Err(_) => run(),
        }
    })
}

fn flatten_here(library: &Library, class: &str, options: &FlattenOptions) -> Flattened {
    let mut flattener = flattener::Flattener::new(library, options);
    let result = flattener.flatten_class(class, options.modification.as_deref());
    flattener.accept(result);
    let mut diagnostics = library.diagnostics();
    diagnostics.extend(std::mem::take(&mut flattener.diagnostics));
    // What calls have shown is said already.
    if !diagnostics.has_errors() {
        let called = flattener.functions_to_check();
        diagnostics.extend(function::body::check_bodies(library, options, &called));
    }
    diagnostics.normalise();
    let units = std::mem::take(&mut flattener.units);
    let is_whole = !diagnostics.has_errors() && !options.cancel.is_cancelled();
    let model = is_whole.then_some(flattener.model);
    if let Some(model) = &model {
        debug_assert_eq!(model.validate(), Ok(()));
    }
    Flattened {
        model,
        diagnostics,
        units,
    }
}
