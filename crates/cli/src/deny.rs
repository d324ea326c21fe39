//! Warnings that are taken as errors.

use saltus::source::{Code, Diagnostics, codes};

/// Codes of warnings, by what the user calls them.
#[derive(Clone, Debug)]
pub(crate) struct Denied(Vec<Code>);

/// `units`, `warnings`, or a code.
pub(crate) fn parse_denied(text: &str) -> Result<Denied, String> {
    match text {
        "units" => Ok(Denied(vec![codes::W0204, codes::W0208])),
        "warnings" => Ok(Denied(codes::all().filter(is_warning).collect())),
        code => match codes::explain(code).map(|page| page.code).filter(is_warning) {
            Some(code) => Ok(Denied(vec![code])),
            None => Err("`units`, `warnings` or the code of a warning, such as W0204, is expected".to_owned()),
        },
    }
}

fn is_warning(code: &Code) -> bool {
    code.as_str().starts_with('W')
}

/// Makes errors of what is denied; says whether there were any.
pub(crate) fn apply(denied: &[Denied], diagnostics: &mut Diagnostics) -> bool {
    let is_denied = |code: Code| denied.iter().any(|Denied(codes)| codes.contains(&code));
    diagnostics.deny(is_denied)
}
