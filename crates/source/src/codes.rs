//! The registry of all diagnostic codes.
//!
//! To add a code: write `codes/<CODE>.md` in the form of its neighbours and add the code to the
//! list below. The file has a title line (`# …`), prose, a section `## Example` with a fenced
//! `modelica` block that produces the diagnostic, and a section `## Fix`.
//!
//! | range | subject |
//! |---|---|
//! | `E01xx` | files and syntax |
//! | `E02xx` | names and classes |
//! | `E03xx` | types, arrays, evaluation |
//! | `E04xx` | connections and balance |
//! | `E05xx` | structure: modes and mode changes |
//! | `E06xx` | initialisation and simulation |
//! | `E07xx` | results, input and output |
//! | `W0xxx` | warnings |

use crate::diagnostic::Code;

macro_rules! registry {
    ($($code:ident)*) => {
        $(
            #[doc = include_str!(concat!("codes/", stringify!($code), ".md"))]
            pub const $code: Code = Code::new(stringify!($code));
        )*

        const PAGES: &[(Code, &str)] = &[
            $(($code, include_str!(concat!("codes/", stringify!($code), ".md")))),*
        ];
    };
}

registry! {
    // Files and syntax.
    E0101 E0102 E0103 E0104 E0105 E0106 E0107 E0108 E0109 E0110 E0111 E0112 E0113 E0114 E0115
    E0116 E0120 E0121 E0122 E0123 E0124 E0125 E0126

    // Names and classes.
    E0201 E0202 E0203 E0204 E0205 E0206 E0207 E0208 E0209 E0210 E0211 E0212 E0213 E0214 E0215
    E0216 E0217 E0218 E0219

    // Types, arrays, evaluation.
    E0301 E0302 E0303 E0304 E0305 E0306 E0307 E0308 E0309 E0310 E0311 E0312

    // Connections and balance.
    E0401 E0402 E0403 E0404 E0405 E0406 E0407

    // Structure.
    E0501 E0502 E0503 E0504 E0505 E0506 E0507 E0508 E0509 E0510 E0511 E0512 E0521 E0522 E0523
    E0530 E0531 E0532 E0533

    // Initialisation and simulation.
    E0601 E0602 E0603 E0604 E0605 E0606 E0607 E0608 E0609 E0610 E0611 E0612 E0613 E0614 E0615 E0616

    // Results.
    E0701 E0702 E0703 E0704 E0705 E0706 E0707 E0708 E0709 E0710 E0711

    // Warnings.
    W0101 W0102 W0103 W0104 W0201 W0202 W0203 W0204 W0205 W0206 W0207 W0208 W0209 W0210 W0211 W0501 W0502 W0503 W0601
}

/// What a code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The code explained.
    pub code: Code,
    /// One line.
    pub title: &'static str,
    /// Prose behind the title, before the example.
    pub text: &'static str,
    /// Source text that produces the diagnostic; empty where text alone cannot.
    pub example: &'static str,
    /// The section `## Fix`: prose and corrected source text.
    pub fix: &'static str,
    /// The whole page as Markdown.
    pub page: &'static str,
}

/// All codes, ascending within each letter.
pub fn all() -> impl Iterator<Item = Code> {
    PAGES.iter().map(|&(code, _)| code)
}

/// The explanation of a code, given in upper or lower case.
pub fn explain(code: &str) -> Option<Explanation> {
    let &(code, page) = PAGES
        .iter()
        .find(|(known, _)| known.as_str().eq_ignore_ascii_case(code.trim()))?;
    Some(parse_page(code, page))
}

fn parse_page(code: Code, page: &'static str) -> Explanation {
    let (title, rest) = page.split_once('\n').unwrap_or((page, ""));
    let (rest, fix) = rest.split_once("## Fix\n").unwrap_or((rest, ""));
    let (text, example) = rest.split_once("## Example\n").unwrap_or((rest, ""));
    Explanation {
        code,
        title: title.trim_start_matches('#').trim(),
        text: text.trim(),
        example: first_fenced_block(example).unwrap_or(""),
        fix: fix.trim(),
        page,
    }
}

/// The content of the first fenced block of a piece of Markdown.
pub fn first_fenced_block(markdown: &str) -> Option<&str> {
    let (_, rest) = markdown.split_once("```")?;
    let (_, rest) = rest.split_once('\n')?;
    let (block, _) = rest.split_once("```")?;
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained() {
        let mut previous = "";
        for code in all() {
            let explanation = explain(code.as_str()).unwrap();
            assert!(previous < code.as_str(), "{code} is not in order");
            previous = code.as_str();
            assert!(explanation.page.starts_with("# "), "{code}: no title");
            assert!(!explanation.title.is_empty(), "{code}: no title");
            assert!(!explanation.text.is_empty(), "{code}: no text");
            assert!(!explanation.example.is_empty(), "{code}: no example");
            assert!(!explanation.fix.is_empty(), "{code}: no fix");
        }
        assert_eq!(explain("E9999"), None);
        assert_eq!(explain("e0101").map(|e| e.code), Some(E0101));
    }

    #[test]
    fn every_page_is_registered() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/codes");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let code = name.strip_suffix(".md").unwrap();
            assert!(explain(code).is_some(), "{code} is not in the registry");
        }
    }
}
