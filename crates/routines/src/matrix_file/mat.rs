//! MAT files of versions 4 (a list of matrices), 6 and 7 (a list of tagged elements, compressed in version 7).

use super::{Rows, missing, sizes};
use crate::Failure;

/// Bytes that a compressed element may unfold to.
const MOST_BYTES: usize = 1 << 30;

/// The header of versions 5 and later is a text of this length.
const HEADER: usize = 128;

pub(super) fn read(content: &[u8], name: &str) -> Result<Rows, Failure> {
    if content.starts_with(b"MATLAB 7.3") || content.starts_with(b"\x89HDF") {
        return Err(Failure::new(
            "MAT files of version 7.3 (HDF5) are not read: save it with version 7",
        ));
    }
    if content.starts_with(b"MATLAB") && content.len() >= HEADER {
        return version_5(content, name);
    }
    version_4(content, name)
}

/// Reads numbers of either order of bytes.
#[derive(Clone, Copy)]
struct Reader<'b> {
    bytes: &'b [u8],
    big: bool,
}

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], Failure> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(count)
            .ok_or_else(|| Failure::new("the file ends in the middle of a matrix"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u32, Failure> {
        let taken = self.take(4)?;
        let bytes = [taken[0], taken[1], taken[2], taken[3]];
        Ok(if self.big {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    fn values(&self, bytes: &[u8], width: usize, value: impl Fn([u8; 8]) -> f64) -> Vec<f64> {
        let turned = |chunk: &[u8]| {
            let mut raw = [0; 8];
            raw[..width].copy_from_slice(chunk);
            if self.big {
                raw[..width].reverse();
            }
            value(raw)
        };
        bytes.chunks_exact(width).map(turned).collect()
    }
}

fn single(raw: [u8; 8]) -> [u8; 4] {
    [raw[0], raw[1], raw[2], raw[3]]
}

/// By columns in the file, by rows here.
fn by_rows(rows: usize, columns: usize, elements: &[f64]) -> Result<Rows, Failure> {
    if elements.len() < sizes(rows, columns)? {
        return Err(Failure::new("a matrix has fewer elements than its sizes say"));
    }
    let places = (0..rows).flat_map(|i| (0..columns).map(move |j| j * rows + i));
    Ok(Rows {
        rows,
        columns,
        elements: places.map(|k| elements[k]).collect(),
    })
}

fn version_4(content: &[u8], name: &str) -> Result<Rows, Failure> {
    let mut known = Vec::new();
    let big = content.first() == Some(&0) && content.get(3).is_some_and(|&b| b != 0);
    let mut reader = Reader { bytes: content, big };
    while !reader.bytes.is_empty() {
        let kind = reader.word()?;
        let (rows, columns) = (reader.word()? as usize, reader.word()? as usize);
        let complex = reader.word()? != 0;
        let length = reader.word()? as usize;
        if kind > 9999 {
            return Err(Failure::new("this is no MAT file"));
        }
        let raw = reader.take(length)?;
        let found = String::from_utf8_lossy(raw).trim_end_matches('\0').to_owned();
        let width = match kind / 10 % 10 {
            0 => 8,
            1 | 2 => 4,
            3 | 4 => 2,
            _ => 1,
        };
        let count = sizes(rows, columns)?;
        let bytes = reader.take(count * width)?;
        if complex {
            reader.take(count * width)?;
        }
        if found == name {
            let elements = match kind / 10 % 10 {
                0 => reader.values(bytes, 8, f64::from_le_bytes),
                1 => reader.values(bytes, 4, |raw| f64::from(f32::from_le_bytes(single(raw)))),
                2 => reader.values(bytes, 4, |raw| f64::from(i32::from_le_bytes(single(raw)))),
                3 => reader.values(bytes, 2, |raw| f64::from(i16::from_le_bytes([raw[0], raw[1]]))),
                4 => reader.values(bytes, 2, |raw| f64::from(u16::from_le_bytes([raw[0], raw[1]]))),
                _ => bytes.iter().map(|&b| f64::from(b)).collect(),
            };
            return by_rows(rows, columns, &elements);
        }
        known.push(found);
    }
    Err(missing(name, &known))
}

// Kinds of elements of version 5.
const COMPRESSED: u32 = 15;
const MATRIX: u32 = 14;
// Classes of arrays.
const STRUCTURE: u32 = 2;

fn version_5(content: &[u8], name: &str) -> Result<Rows, Failure> {
    let big = content[126..128] == *b"MI";
    let mut reader = Reader {
        bytes: &content[HEADER..],
        big,
    };
    let mut known = Vec::new();
    while reader.bytes.len() >= 8 {
        let (kind, element) = tagged(&mut reader)?;
        let unfolded;
        let (kind, element) = if kind == COMPRESSED {
            unfolded = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(element, MOST_BYTES)
                .map_err(|_| Failure::new("a compressed matrix cannot be unfolded"))?;
            tagged(&mut Reader { bytes: &unfolded, big })?
        } else {
            (kind, element)
        };
        if kind == MATRIX
            && let Some(found) = array(Reader { bytes: element, big }, "", name, &mut known)?
        {
            return Ok(found);
        }
    }
    Err(missing(name, &known))
}

/// An element with its kind; what is short lies in the tag itself.
fn tagged<'b>(reader: &mut Reader<'b>) -> Result<(u32, &'b [u8]), Failure> {
    let word = reader.word()?;
    if word >> 16 != 0 {
        let bytes = reader.take(4)?;
        let length = (word >> 16) as usize;
        return Ok((word & 0xffff, bytes.get(..length).unwrap_or(bytes)));
    }
    let length = reader.word()? as usize;
    let bytes = reader.take(length)?;
    // Elements begin at multiples of 8 bytes, compressed ones do not.
    if word != COMPRESSED {
        let padding = (8 - length % 8) % 8;
        reader.take(padding.min(reader.bytes.len()))?;
    }
    Ok((word, bytes))
}

/// The array, or the field of it, that has the name.
fn array(mut reader: Reader<'_>, outer: &str, name: &str, known: &mut Vec<String>) -> Result<Option<Rows>, Failure> {
    let (_, flags) = tagged(&mut reader)?;
    let class = Reader { bytes: flags, ..reader }.word()? & 0xff;
    let (_, dims) = tagged(&mut reader)?;
    let dims = reader.values(dims, 4, |raw| f64::from(i32::from_le_bytes(single(raw))));
    let (_, own) = tagged(&mut reader)?;
    let own = String::from_utf8_lossy(own).trim_end_matches('\0').to_owned();
    let own = format!("{outer}{own}");
    if class == STRUCTURE && (name.starts_with(&format!("{own}.")) || outer.is_empty() && own.is_empty()) {
        return field(reader, &own, name, known);
    }
    let numeric = (6..=15).contains(&class);
    if own != name || !numeric {
        known.push(own);
        return Ok(None);
    }
    let &[rows, columns] = &dims[..] else {
        return Err(Failure::new(format!(
            "`{name}` has {} dimensions, a matrix has 2",
            dims.len()
        )));
    };
    let (kind, bytes) = tagged(&mut reader)?;
    let elements = numbers(&reader, kind, bytes)?;
    by_rows(rows.max(0.0) as usize, columns.max(0.0) as usize, &elements).map(Some)
}

fn field(mut reader: Reader<'_>, own: &str, name: &str, known: &mut Vec<String>) -> Result<Option<Rows>, Failure> {
    let (_, length) = tagged(&mut reader)?;
    let length = Reader {
        bytes: length,
        ..reader
    }
    .word()? as usize;
    let (_, names) = tagged(&mut reader)?;
    for raw in names.chunks_exact(length.max(1)) {
        let field = String::from_utf8_lossy(raw);
        let field = field.split('\0').next().unwrap_or("");
        let (kind, element) = tagged(&mut reader)?;
        let inner = Reader {
            bytes: element,
            ..reader
        };
        if kind == MATRIX
            && name.matches('.').count() < 32
            && let Some(found) = array(inner, &format!("{own}.{field}"), name, known)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn numbers(reader: &Reader<'_>, kind: u32, bytes: &[u8]) -> Result<Vec<f64>, Failure> {
    Ok(match kind {
        1 => bytes.iter().map(|&b| f64::from(b as i8)).collect(),
        2 => bytes.iter().map(|&b| f64::from(b)).collect(),
        3 => reader.values(bytes, 2, |raw| f64::from(i16::from_le_bytes([raw[0], raw[1]]))),
        4 => reader.values(bytes, 2, |raw| f64::from(u16::from_le_bytes([raw[0], raw[1]]))),
        5 => reader.values(bytes, 4, |raw| f64::from(i32::from_le_bytes(single(raw)))),
        6 => reader.values(bytes, 4, |raw| f64::from(u32::from_le_bytes(single(raw)))),
        7 => reader.values(bytes, 4, |raw| f64::from(f32::from_le_bytes(single(raw)))),
        9 => reader.values(bytes, 8, f64::from_le_bytes),
        12 => reader.values(bytes, 8, |raw| i64::from_le_bytes(raw) as f64),
        13 => reader.values(bytes, 8, |raw| u64::from_le_bytes(raw) as f64),
        kind => return Err(Failure::new(format!("elements of kind {kind} are no numbers"))),
    })
}
