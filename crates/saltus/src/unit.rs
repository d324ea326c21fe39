//! Libraries as units: their classes in one file, without or with their text.

use saltus_source::{Diagnostic, Severity, codes};
use saltus_syntax::library::LibraryClass;
use saltus_syntax::unit::{UnitOptions, WrittenUnit};

use crate::{Outcome, Session};

impl Session {
    /// The unit of a library: everything stored in the top-level class of this name, or in the one added last.
    ///
    /// ```
    /// use saltus::{Session, UnitOptions};
    ///
    /// let session = Session::new();
    /// session.add_text("Lib.mo", "package Lib model Decay Real x(start = 1); equation der(x) = -x; end Decay; end Lib;");
    /// let unit = session.to_unit(Some("Lib"), UnitOptions::default()).into_result().unwrap();
    /// let file = std::env::temp_dir().join("saltus-doc").join("Lib.saltus-unit");
    /// std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    /// std::fs::write(&file, unit.bytes).unwrap();
    ///
    /// let session = Session::new();
    /// session.add_file(&file);
    /// assert!(session.compile("Lib.Decay").into_result().is_ok());
    /// ```
    pub fn to_unit(&self, name: Option<&str>, options: UnitOptions) -> Outcome<WrittenUnit> {
        let class = match name {
            Some(name) => self.library.top_level(name),
            None => self.added_last().pop(),
        };
        let class = class.filter(|class| class.path.len() == 1);
        let unit = match class {
            Some(class) => self.written(&class, options),
            None => Err(Box::new(no_library(name))),
        };
        let mut diagnostics = self.library.diagnostics();
        // What is wrong with a file is enough to say.
        let value = match unit {
            Ok(unit) => Some(unit).filter(|_| !diagnostics.has_errors()),
            Err(diagnostic) => {
                if !diagnostics.has_errors() {
                    diagnostics.push(*diagnostic);
                }
                None
            }
        };
        Outcome::new(value, diagnostics)
    }

    fn written(&self, class: &LibraryClass, options: UnitOptions) -> Result<WrittenUnit, Box<Diagnostic>> {
        self.library.to_unit(class, options).map_err(|error| {
            let message = format!("no unit can be made of `{}`: {error}", class.qualified_name());
            Box::new(Diagnostic::error(codes::E0708, class.definition.name.span, message))
        })
    }
}

fn no_library(name: Option<&str>) -> Diagnostic {
    let message = match name {
        Some(name) => format!("there is no library `{name}`"),
        None => "no library is given".to_owned(),
    };
    Diagnostic::without_place(codes::E0126, Severity::Error, message)
        .with_help("name its folder or file, or give its name with `--model` and the folder it lies in with `-L`; units are made of whole libraries")
}
