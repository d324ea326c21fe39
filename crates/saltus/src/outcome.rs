//! What a step yields: a value, diagnostics, or both.

use saltus_source::Diagnostics;

/// Who can mend what went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The one who wrote the model.
    Model,
    /// The one who asked: for a parameter or a value that there is not.
    Request,
}

/// The result of a step that may go wrong in several places at once.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The value; `None` if an error stood in the way.
    pub value: Option<T>,
    /// Errors, warnings and notes, in the order of the text.
    pub diagnostics: Diagnostics,
    /// Whose fault it is that there is no value; `None` if there is one.
    pub fault: Option<Fault>,
}

impl<T> Outcome<T> {
    pub(crate) fn new(value: Option<T>, mut diagnostics: Diagnostics) -> Self {
        diagnostics.normalise();
        // An error means that there is no value to go on with.
        let value = value.filter(|_| !diagnostics.has_errors());
        Outcome {
            fault: value.is_none().then_some(Fault::Model),
            value,
            diagnostics,
        }
    }

    pub(crate) fn failed(fault: Fault, diagnostics: Diagnostics) -> Self {
        Outcome {
            value: None,
            diagnostics,
            fault: Some(fault),
        }
    }

    /// The value, or the diagnostics that explain why there is none. Warnings are dropped with a value.
    pub fn into_result(self) -> Result<T, Diagnostics> {
        self.value.ok_or(self.diagnostics)
    }

    /// Goes on with the value; diagnostics of both steps are kept.
    #[must_use]
    pub fn then<U>(self, step: impl FnOnce(T) -> Outcome<U>) -> Outcome<U> {
        let Some(value) = self.value else {
            return Outcome::failed(self.fault.unwrap_or(Fault::Model), self.diagnostics);
        };
        let mut diagnostics = self.diagnostics;
        let next = step(value);
        diagnostics.extend(next.diagnostics);
        Outcome {
            fault: next.fault,
            ..Outcome::new(next.value, diagnostics)
        }
    }
}
