//! Names of files in the words of the protocol.

use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;
use saltus::library::BUILT_IN;

/// The scheme of files of the component library that the program carries along.
pub(crate) const LIBRARY_SCHEME: &str = "saltus-library";
/// Where documents are that are in no file.
pub(crate) const EDITOR_FOLDER: &str = "<editor>";

/// The path of a document; one that is no file gets a path of its own.
pub(crate) fn path_of(uri: &Uri) -> PathBuf {
    let text = uri.0.as_str();
    if let Some(rest) = text.strip_prefix("file:") {
        return file_path(rest);
    }
    let library = text
        .strip_prefix(LIBRARY_SCHEME)
        .and_then(|rest| rest.strip_prefix(':'));
    if let Some(rest) = library {
        let decoded = decode(rest);
        let inside = decoded.trim_start_matches('/').to_owned();
        return Path::new(BUILT_IN).join(inside);
    }
    // Whatever the scheme: one name for one document, without folders.
    let name: String = text
        .chars()
        .map(|c| if matches!(c, '/' | '\\') { '|' } else { c })
        .collect();
    Path::new(EDITOR_FOLDER).join(name)
}

fn file_path(rest: &str) -> PathBuf {
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    // A host in front of the path: `localhost`, or a share on Windows.
    let path = match rest.find('/') {
        Some(0) => rest.to_owned(),
        Some(at) if rest[..at].eq_ignore_ascii_case("localhost") => rest[at..].to_owned(),
        Some(_) if cfg!(windows) => format!("//{rest}"),
        Some(at) => rest[at..].to_owned(),
        None => format!("/{rest}"),
    };
    let decoded = decode(&path);
    let bytes = decoded.as_bytes();
    // `/c:/models` is a drive.
    if cfg!(windows) && bytes.len() > 2 && bytes[0] == b'/' && bytes[2] == b':' {
        return PathBuf::from(&decoded[1..]);
    }
    PathBuf::from(decoded)
}

/// The name of a file.
pub(crate) fn uri_of(path: &Path) -> Uri {
    if let Ok(inside) = path.strip_prefix(BUILT_IN) {
        return Uri(format!("{LIBRARY_SCHEME}:/{}", encode(&inside.to_string_lossy())));
    }
    if let Ok(inside) = path.strip_prefix(EDITOR_FOLDER) {
        return Uri(inside.to_string_lossy().replace('|', "/"));
    }
    let text = path.to_string_lossy().replace('\\', "/");
    let slash = if text.starts_with('/') { "" } else { "/" };
    Uri(format!("file://{slash}{}", encode(&text)))
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = text
            .get(at + 1..at + 3)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (bytes[at], hex) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 3;
            }
            (byte, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => encoded.push(byte as char),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_of_files() {
        for path in ["/home/u/My Models/Mod\u{e4}l #1 100%.mo", "/a/b.mo"] {
            let uri = uri_of(Path::new(path));
            assert!(uri.0.starts_with("file:///") && uri.0.is_ascii(), "{uri:?}");
            assert_eq!(path_of(&uri), Path::new(path));
        }
        assert_eq!(path_of(&Uri("file:///a%20b/c%3A.mo".into())), Path::new("/a b/c:.mo"));
        assert_eq!(path_of(&Uri("file://localhost/a.mo".into())), Path::new("/a.mo"));
        let library = Path::new(BUILT_IN).join("Saltus/Units.mo");
        assert_eq!(path_of(&uri_of(&library)), library);
        let untitled = Uri("untitled:Untitled-1".into());
        assert_eq!(uri_of(&path_of(&untitled)), untitled);
        for odd in [
            "",
            "file:",
            "file://",
            "file:///%",
            "file:///%zz%4",
            "%",
            "a:/../../etc",
        ] {
            path_of(&Uri(odd.into()));
        }
    }
}
