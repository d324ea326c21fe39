//! Help that is mechanical, as edits: names that resemble the unknown one, and names that older versions of the Modelica
//! Standard Library had.

use saltus_source::{Diagnostic, Edit, Span};

use crate::flattener::Flattener;

/// Classes that have another name in version 4 of the Modelica Standard Library, in the same package: package, old name, new
/// name.
#[rustfmt::skip]
const RENAMED: &[(&str, &str, &str)] = &[
    ("Modelica.Blocks.Sources", "Clock", "ContinuousClock"),
    ("Modelica.Blocks.Tables", "CombiTable1D", "CombiTable1Dv"),
    ("Modelica.Blocks.Tables", "CombiTable2D", "CombiTable2Ds"),
    ("Modelica.Blocks.Types", "InitPID", "Init"),
    ("Modelica.Electrical", "QuasiStationary", "QuasiStatic"),
    ("Modelica.Electrical.Analog.Basic", "EMF", "RotationalEMF"),
    ("Modelica.Electrical.Analog.Basic", "HeatingResistor", "Resistor"),
    ("Modelica.Electrical.Analog.Ideal", "IdealizedOpAmpLimted", "IdealizedOpAmpLimited"),
    ("Modelica.Electrical.Analog.Semiconductors", "HeatingDiode", "Diode"),
    ("Modelica.Electrical.Analog.Semiconductors", "HeatingNMOS", "NMOS"),
    ("Modelica.Electrical.Analog.Semiconductors", "HeatingPMOS", "PMOS"),
    ("Modelica.Electrical.Analog.Semiconductors", "HeatingNPN", "NPN"),
    ("Modelica.Electrical.Analog.Semiconductors", "HeatingPNP", "PNP"),
    ("Modelica.Electrical.Digital.Sources", "Clock", "DigitalClock"),
    ("Modelica.Icons", "RotationalSensor", "RoundSensor"),
];

impl Flattener<'_> {
    /// The place of a name within a span that begins with it, possibly behind prefixes.
    fn name_within(&self, span: Span, name: &str) -> Option<Span> {
        let file = self.library.sources().file(span.file)?;
        let text = file.text().get(span.start as usize..span.end as usize)?;
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let (at, _) = text.match_indices(name).find(|(at, _)| {
            let (before, behind) = (&text[..*at], &text[at + name.len()..]);
            !before.ends_with(is_part) && !behind.starts_with(is_part)
        })?;
        let start = span.start + at as u32;
        Some(Span::new(span.file, start, start + name.len() as u32))
    }

    /// What a name that is not known was probably meant to be.
    pub(crate) fn suggesting(&self, diagnostic: Diagnostic, name: &str, span: Span, other: &str) -> Diagnostic {
        let diagnostic = diagnostic.with_help(format!("did you mean `{other}`?"));
        match self.name_within(span, name) {
            Some(place) => diagnostic.with_likely_fix(
                format!("replace `{name}` by `{other}`"),
                vec![Edit::replace(place, other)],
            ),
            None => diagnostic,
        }
    }

    /// What a class of an older version of the Modelica Standard Library is called now.
    pub(crate) fn renamed(&self, diagnostic: Diagnostic, package: &str, name: &str, span: Span) -> Option<Diagnostic> {
        let new = if (package, name) == ("Modelica", "SIunits") {
            // Conversions have moved out of it.
            let file = self.library.sources().file(span.file)?;
            let behind = file.text().get(span.end as usize..)?;
            if behind.starts_with(".Conversions") {
                "Units"
            } else {
                "Units.SI"
            }
        } else {
            let mut known = RENAMED.iter();
            known.find(|(of, old, _)| (*of, *old) == (package, name))?.2
        };
        let help = format!("since version 4 of the Modelica Standard Library it is called `{package}.{new}`");
        let diagnostic = diagnostic.with_help(help);
        Some(match self.name_within(span, name) {
            Some(place) => {
                diagnostic.with_safe_fix(format!("replace `{name}` by `{new}`"), vec![Edit::replace(place, new)])
            }
            None => diagnostic,
        })
    }

    /// The frequency of sources, which had another name before version 4 of the Modelica Standard Library.
    pub(crate) fn renamed_frequency(&self, diagnostic: Diagnostic, span: Span) -> Diagnostic {
        let help = "since version 4 of the Modelica Standard Library the frequency is called `f`";
        let diagnostic = diagnostic.with_help(help);
        match self.name_within(span, "freqHz") {
            Some(place) => diagnostic.with_safe_fix("replace `freqHz` by `f`", vec![Edit::replace(place, "f")]),
            None => diagnostic,
        }
    }

    /// `each` in front of the modification whose value this is.
    pub(crate) fn inserting_each(&self, diagnostic: Diagnostic, value: Span, is_scalar: bool) -> Diagnostic {
        let place = || {
            let file = self.library.sources().file(value.file)?;
            let before = file
                .text()
                .get(..value.start as usize)?
                .trim_end()
                .strip_suffix('=')?
                .trim_end();
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
            let name = before.len() - before.trim_end_matches(is_name).len();
            let start = before.len() - name;
            let opens = before[..start].trim_end().ends_with(['(', ',']);
            (name > 0 && opens).then(|| Span::at(value.file, start as u32))
        };
        match place() {
            Some(at) if is_scalar => diagnostic.with_safe_fix("insert `each`", vec![Edit::insert(at, "each ")]),
            _ => diagnostic,
        }
    }

    /// `each` left out.
    pub(crate) fn removing_each(&self, diagnostic: Diagnostic, each: Span) -> Diagnostic {
        let place = || {
            let file = self.library.sources().file(each.file)?;
            let rest = file.text().get(each.start as usize..)?.strip_prefix("each")?;
            let blanks = rest.len() - rest.trim_start().len();
            (blanks > 0).then(|| Span::new(each.file, each.start, each.start + 4 + blanks as u32))
        };
        match place() {
            Some(span) => diagnostic.with_safe_fix("remove `each`", vec![Edit::replace(span, "")]),
            None => diagnostic,
        }
    }
}
