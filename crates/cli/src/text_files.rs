//! Texts that are changed on disk, and what changes about them.

use std::path::Path;

use similar::TextDiff;

/// Lines around a change that are shown.
const CONTEXT: usize = 3;

/// What changes, line by line, in the form that `patch` reads.
pub(crate) fn difference(name: &str, before: &str, after: &str) -> String {
    let difference = TextDiff::from_lines(before, after);
    let mut unified = difference.unified_diff();
    unified.context_radius(CONTEXT).header(name, name).to_string()
}

/// Replaces a file by another text at once, so that no half of it is left if something goes wrong; rights stay as they are.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), String> {
    let describe = |error: std::io::Error| format!("`{}` cannot be written: {error}", path.display());
    // The file itself, not a link to it, is replaced.
    let target = std::fs::canonicalize(path).map_err(describe)?;
    let mut beside = target.clone().into_os_string();
    beside.push(".saltus-new");
    let beside = std::path::PathBuf::from(beside);
    let rights = std::fs::metadata(&target).map_err(describe)?.permissions();
    if rights.readonly() {
        return Err(format!("`{}` cannot be written: it is read-only", path.display()));
    }
    let written = std::fs::write(&beside, text)
        .and_then(|()| std::fs::set_permissions(&beside, rights))
        .and_then(|()| std::fs::rename(&beside, &target));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        describe(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_the_usual_form() {
        let text = difference("M.mo", "a\nb\nc\n", "a\nB\nc\n");
        assert_eq!(text, "--- M.mo\n+++ M.mo\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(difference("M.mo", "a\n", "a\n"), "");
    }
}
