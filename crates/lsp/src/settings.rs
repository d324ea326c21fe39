//! What the client sets.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// Settings: the section `saltus` of a client's configuration, or the options of its first request.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Settings {
    /// Folders in which libraries are looked for, in front of those of MODELICAPATH.
    pub(crate) libraries: Vec<PathBuf>,
    /// Lenses above models.
    pub(crate) code_lens: bool,
    /// Modes, states and index are computed while nobody types.
    pub(crate) analysis: bool,
    pub(crate) inlay_hints: Hints,
}

/// Which hints are shown.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Hints {
    /// Units of variables that stand at their types, or follow from equations.
    pub(crate) units: bool,
    /// Units of what stands at the end of equations.
    pub(crate) expressions: bool,
    /// Sizes of arrays that are not written in numbers.
    pub(crate) sizes: bool,
    /// Values of parameters that come from elsewhere.
    pub(crate) values: bool,
    /// Modes, states and index behind `then` and `else`.
    pub(crate) modes: bool,
}

impl Hints {
    /// Whether any of them is about what an analysis finds.
    pub(crate) fn need_analysis(&self) -> bool {
        self.units || self.expressions || self.sizes || self.modes
    }
}

impl Default for Hints {
    fn default() -> Self {
        Hints {
            units: true,
            expressions: true,
            sizes: true,
            values: true,
            modes: false,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            libraries: Vec::new(),
            code_lens: true,
            analysis: true,
            inlay_hints: Hints::default(),
        }
    }
}

impl Settings {
    /// From what a client sends: the settings themselves, or a section `saltus` with them. What is not understood is left as it
    /// is by default, one by one.
    pub(crate) fn read(value: &Value) -> Settings {
        Settings::read_over(value, Settings::default())
    }

    /// The same, where what is not said or not understood is left as it was.
    pub(crate) fn read_over(value: &Value, defaults: Settings) -> Settings {
        let section = value.get("saltus").unwrap_or(value);
        let part = |name: &str| section.get(name).cloned().unwrap_or(Value::Null);
        Settings {
            libraries: read_or(part("libraries"), defaults.libraries),
            code_lens: read_or(part("codeLens"), defaults.code_lens),
            analysis: read_or(part("analysis"), defaults.analysis),
            inlay_hints: read_or(part("inlayHints"), defaults.inlay_hints),
        }
    }

    /// Folders that are not absolute lie in the first folder of the workspace; `~` is the home folder.
    pub(crate) fn library_folders(&self, root: Option<&Path>, home: Option<&Path>) -> Vec<PathBuf> {
        let folders = self
            .libraries
            .iter()
            .map(|folder| match (folder.strip_prefix("~"), home, root) {
                (Ok(inside), Some(home), _) => home.join(inside),
                (_, _, Some(root)) => root.join(folder),
                _ => folder.clone(),
            });
        folders.collect()
    }
}

fn read_or<T: serde::de::DeserializeOwned>(value: Value, default: T) -> T {
    serde_json::from_value(value).unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_understood_is_left_as_it_is() {
        assert_eq!(Settings::read(&Value::Null), Settings::default());
        let read = Settings::read(
            &json!({"saltus": {"libraries": ["a", "~/b", "/c"], "codeLens": 7, "inlayHints": {"units": false}}}),
        );
        assert!(read.code_lens && !read.inlay_hints.units && read.inlay_hints.values);
        let again = Settings::read_over(&json!({"saltus": {}}), read.clone());
        assert_eq!(again, read, "a section that says nothing changes nothing");
        let again = Settings::read_over(&json!({"codeLens": false}), read.clone());
        assert_eq!((again.code_lens, &again.libraries), (false, &read.libraries));
        let folders = read.library_folders(Some(Path::new("/w")), Some(Path::new("/h")));
        assert_eq!(folders, ["/w/a", "/h/b", "/c"].map(PathBuf::from));
    }
}
