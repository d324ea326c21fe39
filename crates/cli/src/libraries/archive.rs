//! Archives of libraries: `.zip`, `.tar.gz` and `.tgz`. Paths that lead out of the archive are refused, links are left out, and
//! the content is bounded.

use std::path::{Component, Path};

use miniz_oxide::inflate::decompress_to_vec_with_limit;
use saltus_fmi::archive::{Entry, unpack};

/// The content of an archive may be this large; the largest libraries known are a tenth of it.
const MOST_BYTES: usize = 1 << 30;
/// The parts that a tar file is made of.
const RECORD: usize = 512;

/// The files of an archive, with paths inside it.
pub(super) fn files(path: &Path) -> Result<Vec<Entry>, String> {
    let size = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MOST_BYTES as u64 {
        return Err(format!("it has more than {MOST_BYTES} bytes"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let entries = match bytes.get(..2) {
        Some(b"PK") => unpack(&bytes).map_err(|damaged| damaged.to_string())?,
        Some([0x1f, 0x8b]) => untar(&gunzip(&bytes)?)?,
        _ => return Err("it is no zip and no tar.gz file".to_owned()),
    };
    match entries.iter().find(|entry| !stays_inside(&entry.path)) {
        Some(entry) => Err(format!("`{}` leads out of the archive", entry.path)),
        None => Ok(entries),
    }
}

fn stays_inside(path: &str) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !path.contains(['\\', '\0', ':']) && Path::new(path).components().all(plain)
}

/// The content of a gzip file (RFC 1952).
fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let cut = || "it is cut off".to_owned();
    let flags = *bytes.get(3).ok_or_else(cut)?;
    let mut at = 10;
    if flags & 4 != 0 {
        let length = bytes.get(at..at + 2).ok_or_else(cut)?;
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    // The name of the file and a comment, each up to a zero.
    for flag in [8, 16] {
        if flags & flag != 0 {
            let rest = bytes.get(at..).ok_or_else(cut)?;
            at += 1 + rest.iter().position(|&byte| byte == 0).ok_or_else(cut)?;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    let packed = bytes.get(at..).ok_or_else(cut)?;
    decompress_to_vec_with_limit(packed, MOST_BYTES).map_err(|error| format!("it cannot be unpacked: {error}"))
}

/// The files of a tar file: plain ones, with long names in the forms of POSIX and GNU.
fn untar(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let (mut entries, mut at) = (Vec::new(), 0);
    let mut long_name: Option<String> = None;
    while let Some(header) = bytes.get(at..at + RECORD) {
        if header.iter().all(|&byte| byte == 0) {
            break;
        }
        let size = octal(&header[124..136]).ok_or("a size in it is no number")?;
        let content = at
            .checked_add(RECORD)
            .and_then(|begin| bytes.get(begin..begin.checked_add(size)?));
        let content = content.ok_or("it is cut off")?;
        at += RECORD + size.div_ceil(RECORD) * RECORD;
        match header[156] {
            b'0' | 0 => entries.push(Entry {
                path: long_name.take().unwrap_or_else(|| name(header)),
                content: content.to_vec(),
            }),
            b'L' => long_name = Some(text(content)),
            b'x' => long_name = path_of_extended(content).or(long_name),
            // Of the whole archive: nothing that is needed.
            b'g' => {}
            // Folders come with their files; links are left out.
            _ => long_name = None,
        }
    }
    Ok(entries)
}

fn name(header: &[u8]) -> String {
    let (own, prefix) = (text(&header[..100]), text(&header[345..500]));
    if prefix.is_empty() {
        own
    } else {
        format!("{prefix}/{own}")
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn octal(bytes: &[u8]) -> Option<usize> {
    let digits = text(bytes);
    usize::from_str_radix(digits.trim(), 8).ok()
}

/// `length path=…` among the records of an extended header.
fn path_of_extended(content: &[u8]) -> Option<String> {
    let all = String::from_utf8_lossy(content);
    let mut lines = all.lines().filter_map(|line| line.split_once(' '));
    lines.find_map(|(_, record)| record.strip_prefix("path=").map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_out_is_refused() {
        for path in ["../a", "a/../../b", "/etc/passwd", "a\\..\\b", "C:/a", "a/../b"] {
            assert!(!stays_inside(path), "{path}");
        }
        for path in ["a", "a/b.mo", "./a/b c.mo"] {
            assert!(stays_inside(path), "{path}");
        }
    }

    #[test]
    fn damaged_archives_are_no_panic() {
        let packed = miniz_oxide::deflate::compress_to_vec(&[7; 3000], 6);
        let mut whole = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        whole.extend(packed);
        for length in 0..whole.len() {
            let _ = gunzip(&whole[..length]).map(|bytes| untar(&bytes));
        }
        for flags in 0..=255u8 {
            whole[3] = flags;
            let _ = gunzip(&whole).map(|bytes| untar(&bytes));
        }
    }
}
