//! Shared libraries without what only debuggers read.
//!
//! A library of a release build has tables of lines and symbols several times its own size. The loader reads the segments;
//! sections that are not loaded are left out here. Linux (ELF, 64 bits, little-endian) only: elsewhere these tables are files
//! of their own.

/// `SHF_ALLOC`: the section is loaded.
const LOADED: u64 = 2;
/// `SHT_NOBITS`: the section has no bytes in the file.
const NO_BYTES: u32 = 8;
/// `SHT_RELA` and `SHT_REL`: `sh_info` is a section.
const RELOCATIONS: [u32; 2] = [4, 9];
/// `PT_LOAD`
const LOAD: u32 = 1;
const HEADER: usize = 64;
const SECTION: usize = 64;
const SEGMENT: usize = 56;

/// The library without sections that are not loaded; nothing if it is none that is understood.
pub(crate) fn strip(library: &[u8]) -> Option<Vec<u8>> {
    if !library.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let sections = table(library, 0x28, 0x3a, SECTION)?;
    let segments = table(library, 0x20, 0x36, SEGMENT)?;
    let names = usize::from(short(library, 0x3e)?);
    let mut end = HEADER;
    for &segment in segments.iter().filter(|&&at| long(library, at) == Some(LOAD)) {
        end = end.max(span(library, segment + 8, segment + 32)?.1);
    }
    let phdr_end = segments.last().map_or(HEADER, |last| last + SEGMENT);
    end = end.max(phdr_end);
    let mut kept = Vec::new();
    for (number, &at) in sections.iter().enumerate() {
        let is_loaded = wide(library, at + 8)? & LOADED != 0;
        if is_loaded && long(library, at + 4)? != NO_BYTES {
            end = end.max(span(library, at + 24, at + 32)?.1);
        }
        if number == 0 || is_loaded || number == names {
            kept.push(number);
        }
    }
    let name_table = span(library, sections.get(names)? + 24, sections.get(names)? + 32)?;
    let mut stripped = library.get(..end)?.to_vec();
    let names_at = stripped.len();
    stripped.extend_from_slice(library.get(name_table.0..name_table.1)?);
    stripped.resize(stripped.len().next_multiple_of(8), 0);
    let table_at = stripped.len();
    let renumbered = |old: u32| kept.iter().position(|&number| number == old as usize).unwrap_or(0) as u32;
    for &number in &kept {
        let at = sections[number];
        let mut section = library.get(at..at + SECTION)?.to_vec();
        if number == names {
            section[24..32].copy_from_slice(&(names_at as u64).to_le_bytes());
        }
        section[40..44].copy_from_slice(&renumbered(long(library, at + 40)?).to_le_bytes());
        if RELOCATIONS.contains(&long(library, at + 4)?) {
            section[44..48].copy_from_slice(&renumbered(long(library, at + 44)?).to_le_bytes());
        }
        stripped.extend_from_slice(&section);
    }
    stripped[0x28..0x30].copy_from_slice(&(table_at as u64).to_le_bytes());
    stripped[0x3c..0x3e].copy_from_slice(&(kept.len() as u16).to_le_bytes());
    stripped[0x3e..0x40].copy_from_slice(&(renumbered(names as u32) as u16).to_le_bytes());
    (stripped.len() < library.len()).then_some(stripped)
}

/// Where the entries of a table are: its offset, and the size and number of entries, stand in the header.
fn table(library: &[u8], offset: usize, size: usize, wanted: usize) -> Option<Vec<usize>> {
    let offset = usize::try_from(wide(library, offset)?).ok()?;
    let (size, count) = (
        usize::from(short(library, size)?),
        usize::from(short(library, size + 2)?),
    );
    let end = offset.checked_add(size.checked_mul(count)?)?;
    let is_known = size == wanted && end <= library.len();
    is_known.then(|| (0..count).map(|at| offset + at * size).collect())
}

/// From an offset and a size to a range.
fn span(library: &[u8], offset: usize, size: usize) -> Option<(usize, usize)> {
    let begin = usize::try_from(wide(library, offset)?).ok()?;
    let end = begin.checked_add(usize::try_from(wide(library, size)?).ok()?)?;
    (end <= library.len()).then_some((begin, end))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn wide(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_library_is_left_alone() {
        assert_eq!(strip(b""), None);
        assert_eq!(strip(b"MZ\x90"), None);
        let mut wrong = b"\x7fELF\x02\x01".to_vec();
        for length in 6..200 {
            wrong.resize(length, 0xff);
            assert_eq!(strip(&wrong), None);
        }
    }
}
