//! Zip files, as the standard wants them: entries stored or deflated, sizes in their headers, nothing encrypted, no links.

use std::fmt;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path, with `/`.
    pub path: String,
    /// Its content.
    pub content: Vec<u8>,
}

/// Why an archive cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged(pub String);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the archive is damaged: {}", self.0)
    }
}
impl std::error::Error for Damaged {}

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// Zip 2.0: deflate and folders.
const VERSION: u16 = 20;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// 1980-01-01: archives of the same content are the same.
const DATE: u16 = 0x21;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Beyond this, an archive would need the 64-bit form, which the standard forbids.
const MOST_BYTES: usize = u32::MAX as usize;
/// Entries of a unit together: more is a mistake or an attack.
const MOST_CONTENT: usize = 1 << 31;

/// An archive of files. Fast compression: most of it is the runtime, and whoever exports waits.
pub fn pack(entries: &[Entry]) -> Result<Vec<u8>, Damaged> {
    let mut bytes = Vec::new();
    let mut central = Vec::new();
    for entry in entries {
        let offset = bytes.len();
        let compressed = miniz_oxide::deflate::compress_to_vec(&entry.content, 1);
        let (method, data) = if compressed.len() < entry.content.len() {
            (DEFLATED, &compressed)
        } else {
            (STORED, &entry.content)
        };
        let path = entry.path.as_bytes();
        let mut header = Vec::new();
        for field in [VERSION, FLAGS, method, 0, DATE] {
            header.extend(field.to_le_bytes());
        }
        for field in [crc32(&entry.content), data.len() as u32, entry.content.len() as u32] {
            header.extend(field.to_le_bytes());
        }
        header.extend((path.len() as u16).to_le_bytes());
        header.extend(0u16.to_le_bytes());
        bytes.extend(LOCAL.to_le_bytes());
        bytes.extend(&header);
        bytes.extend(path);
        bytes.extend(data);
        central.extend(CENTRAL.to_le_bytes());
        central.extend(VERSION.to_le_bytes());
        central.extend(&header);
        // No comment, one disk, no attributes.
        central.extend([0; 10]);
        central.extend((offset as u32).to_le_bytes());
        central.extend(path);
        if entry.content.len() > MOST_BYTES || bytes.len() + central.len() > MOST_BYTES || path.len() > 0xffff {
            return Err(Damaged("it would be larger than 4 GB".to_owned()));
        }
    }
    let (count, offset) = (entries.len() as u16, bytes.len() as u32);
    bytes.extend(&central);
    bytes.extend(END.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend((central.len() as u32).to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend([0; 2]);
    Ok(bytes)
}

/// The files of an archive; folders have no entry of their own.
pub fn unpack(bytes: &[u8]) -> Result<Vec<Entry>, Damaged> {
    let wrong = |what: &str| Damaged(what.to_owned());
    let end = (0..=bytes.len().saturating_sub(22))
        .rev()
        .take(0x1_0016)
        .find(|&at| long(bytes, at) == Some(END))
        .ok_or_else(|| wrong("this is no zip file"))?;
    let count = short(bytes, end + 10).ok_or_else(|| wrong("it ends too early"))?;
    let mut at = long(bytes, end + 16).ok_or_else(|| wrong("it ends too early"))? as usize;
    let (mut entries, mut total) = (Vec::new(), 0);
    for _ in 0..count {
        let field = |offset: usize| long(bytes, at + offset).ok_or_else(|| wrong("its list of files is cut off"));
        let half = |offset: usize| short(bytes, at + offset).ok_or_else(|| wrong("its list of files is cut off"));
        if field(0)? != CENTRAL {
            return Err(wrong("its list of files is none"));
        }
        let (flags, method, checksum) = (half(8)?, half(10)?, field(16)?);
        let (packed, size, offset) = (field(20)? as usize, field(24)? as usize, field(42)? as usize);
        let (name, extra, comment) = (half(28)? as usize, half(30)? as usize, half(32)? as usize);
        let path = bytes
            .get(at + 46..at + 46 + name)
            .ok_or_else(|| wrong("a name is cut off"))?;
        let path = String::from_utf8(path.to_vec()).map_err(|_| wrong("a name is no text"))?;
        at += 46 + name + extra + comment;
        if path.ends_with('/') {
            continue;
        }
        if flags & 1 != 0 {
            return Err(wrong("it is encrypted"));
        }
        total += size;
        if total > MOST_CONTENT {
            return Err(wrong("its content is too large"));
        }
        let skip = |offset: usize| short(bytes, offset).map(usize::from);
        let begin = skip(offset.saturating_add(26)).zip(skip(offset.saturating_add(28)));
        let begin = begin.map(|(name, extra)| offset + 30 + name + extra);
        let data = begin.and_then(|begin| bytes.get(begin..begin.checked_add(packed)?));
        let data = data.ok_or_else(|| wrong(&format!("`{path}` is cut off")))?;
        let content = match method {
            STORED => Some(data.to_vec()),
            DEFLATED => miniz_oxide::inflate::decompress_to_vec_with_limit(data, size).ok(),
            _ => None,
        };
        let content = content.filter(|content| content.len() == size && crc32(content) == checksum);
        let content = content.ok_or_else(|| wrong(&format!("`{path}` is not what was written")))?;
        entries.push(Entry { path, content });
    }
    Ok(entries)
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    four.try_into().ok().map(u32::from_le_bytes)
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    two.try_into().ok().map(u16::from_le_bytes)
}

/// The checksum of zip, eight bytes at a time.
fn crc32(bytes: &[u8]) -> u32 {
    static TABLES: std::sync::OnceLock<[[u32; 256]; 8]> = std::sync::OnceLock::new();
    let tables = TABLES.get_or_init(|| {
        let mut tables = [[0u32; 256]; 8];
        let step = |c: u32| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 };
        for (n, entry) in tables[0].iter_mut().enumerate() {
            *entry = (0..8).fold(n as u32, |c, _| step(c));
        }
        for k in 1..8 {
            let (first, before) = (tables[0], tables[k - 1]);
            for (entry, c) in tables[k].iter_mut().zip(before) {
                *entry = first[(c & 0xff) as usize] ^ (c >> 8);
            }
        }
        tables
    });
    let mut crc = !0u32;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut eight = [0u8; 8];
        eight.copy_from_slice(chunk);
        for (byte, before) in eight.iter_mut().zip(crc.to_le_bytes()) {
            *byte ^= before;
        }
        let terms = eight.iter().zip(tables.iter().rev());
        crc = terms.fold(0, |sum, (&byte, table)| sum ^ table[byte as usize]);
    }
    for &byte in chunks.remainder() {
        crc = tables[0][((crc ^ u32::from(byte)) & 0xff) as usize] ^ (crc >> 8);
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zip() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"The quick brown fox jumps over the lazy dog"), 0x414f_a339);
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let entry = |path: &str, content: &[u8]| Entry {
            path: path.to_owned(),
            content: content.to_vec(),
        };
        let long: Vec<u8> = (0..100_000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let entries = [
            entry("a.txt", b"text"),
            entry("empty", b""),
            entry("folder/größe.bin", &long),
        ];
        let bytes = pack(&entries).unwrap();
        assert!(bytes.len() < long.len());
        assert_eq!(unpack(&bytes).unwrap(), entries);
    }

    #[test]
    fn damage_is_found() {
        let entries = [Entry {
            path: "a".to_owned(),
            content: b"some text that is long enough".to_vec(),
        }];
        let bytes = pack(&entries).unwrap();
        assert!(unpack(&[]).is_err());
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x55;
            // Whatever is changed, there is an error or the same content.
            if let Ok(read) = unpack(&changed) {
                assert!(read.is_empty() || read[0].content == entries[0].content, "byte {at}");
            }
            let _ = unpack(&bytes[..at]);
        }
    }
}
