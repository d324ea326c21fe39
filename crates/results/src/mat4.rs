//! The parts of MAT level 4 that results use: each matrix is five 32-bit integers (type, rows, columns, imaginary
//! flag, length of the name), the name with its NUL, then the numbers column by column.

use std::path::Path;

use crate::ResultError;

/// Little-endian text, one byte per character.
pub(crate) const TEXT: i32 = 51;
/// Little-endian 32-bit integers.
pub(crate) const INT32: i32 = 20;
/// Little-endian doubles.
pub(crate) const DOUBLE: i32 = 0;

/// The four rows of `Aclass`: a trajectory, version 1.1, stored with one column per time.
pub(crate) const ACLASS: [&str; 4] = ["Atrajectory", "1.1", "", "binTrans"];
/// The matrix that holds the metadata. It follows `data_2`, since readers expect the six others first.
pub(crate) const METADATA: &str = "saltus_metadata";

/// The bytes in front of a matrix's numbers.
pub(crate) fn header(kind: i32, rows: u32, columns: u32, name: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(21 + name.len());
    for word in [kind, rows as i32, columns as i32, 0, name.len() as i32 + 1] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(name.as_bytes());
    bytes.push(0);
    bytes
}

/// A matrix of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    pub name: &'a [u8],
    pub rows: usize,
    pub columns: usize,
    /// Bytes of the numbers; fewer than `rows * columns` ask for in a truncated file.
    pub data: &'a [u8],
    precision: Precision,
    big_endian: bool,
    /// Offset in the file, for messages.
    pub offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Precision {
    Double,
    Single,
    Int32,
    Int16,
    Uint16,
    Uint8,
}

impl Precision {
    fn bytes(self) -> usize {
        match self {
            Self::Double => 8,
            Self::Single | Self::Int32 => 4,
            Self::Int16 | Self::Uint16 => 2,
            Self::Uint8 => 1,
        }
    }
}

impl Matrix<'_> {
    /// How many numbers are there.
    pub(crate) fn available(&self) -> usize {
        self.data.len() / self.precision.bytes()
    }

    /// Whether all numbers are there.
    pub(crate) fn is_complete(&self) -> bool {
        self.available() == self.rows * self.columns
    }

    /// A number by its position in the file.
    pub(crate) fn get(&self, index: usize) -> f64 {
        let width = self.precision.bytes();
        let mut raw = [0u8; 8];
        raw[..width].copy_from_slice(&self.data[index * width..(index + 1) * width]);
        if self.big_endian {
            raw[..width].reverse();
        }
        let [a, b, c, d, ..] = raw;
        match self.precision {
            Precision::Double => f64::from_le_bytes(raw),
            Precision::Single => f64::from(f32::from_le_bytes([a, b, c, d])),
            Precision::Int32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Precision::Int16 => f64::from(i16::from_le_bytes([a, b])),
            Precision::Uint16 => f64::from(u16::from_le_bytes([a, b])),
            Precision::Uint8 => f64::from(a),
        }
    }

    /// A line of text: a column if `transposed`, else a row; without padding.
    pub(crate) fn text(&self, line: usize, transposed: bool) -> String {
        let (length, start, step) = if transposed {
            (self.rows, line * self.rows, 1)
        } else {
            (self.columns, line, self.rows)
        };
        let bytes: Vec<u8> = (0..length).map(|k| self.get(start + k * step) as u8).collect();
        let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
        match std::str::from_utf8(&bytes[..end]) {
            Ok(text) => text.trim_end().to_owned(),
            // Older tools write Latin-1.
            Err(_) => bytes[..end]
                .iter()
                .map(|&b| b as char)
                .collect::<String>()
                .trim_end()
                .to_owned(),
        }
    }
}

/// Walks over the matrices of a file.
#[derive(Debug)]
pub(crate) struct Matrices<'a> {
    pub bytes: &'a [u8],
    pub offset: usize,
    pub path: &'a Path,
}

impl<'a> Matrices<'a> {
    fn error(&self, what: impl Into<String>) -> ResultError {
        ResultError::malformed(self.path, self.offset as u64, what)
    }

    /// The next matrix; `None` at the end of the file or where it breaks off within a header.
    pub(crate) fn next(&mut self) -> Result<Option<Matrix<'a>>, ResultError> {
        let rest = &self.bytes[self.offset..];
        let Some(words) = rest.get(..20) else {
            return Ok(None);
        };
        let word = |index: usize, big: bool| {
            let raw = [0, 1, 2, 3].map(|k| words[4 * index + k]);
            if big {
                i32::from_be_bytes(raw)
            } else {
                i32::from_le_bytes(raw)
            }
        };
        // The type word is below 5000 in the right byte order.
        let big_endian = !(0..5000).contains(&word(0, false));
        let kind = word(0, big_endian);
        let precision = self.precision(kind, big_endian)?;
        let size =
            |index| usize::try_from(word(index, big_endian)).map_err(|_| self.error("a matrix of negative size"));
        let (rows, columns, name_length) = (size(1)?, size(2)?, size(4)?);
        if word(3, big_endian) != 0 {
            return Err(self.error("a matrix of complex numbers"));
        }
        let Some(name) = rest[20..].get(..name_length) else {
            return Ok(None);
        };
        let wanted = rows.checked_mul(columns).and_then(|n| n.checked_mul(precision.bytes()));
        let start = 20 + name_length;
        let wanted = wanted.ok_or_else(|| self.error("a matrix of impossible size"))?;
        let data = &rest[start..start + wanted.min(rest.len() - start)];
        let offset = self.offset;
        self.offset += start + data.len();
        let name = name.strip_suffix(b"\0").unwrap_or(name);
        Ok(Some(Matrix {
            name,
            rows,
            columns,
            data,
            precision,
            big_endian,
            offset,
        }))
    }

    fn precision(&self, kind: i32, big_endian: bool) -> Result<Precision, ResultError> {
        if kind / 1000 != i32::from(big_endian) || (kind / 100) % 10 != 0 || kind % 10 > 1 {
            return Err(self.error("not a MAT file of level 4"));
        }
        Ok(match (kind / 10) % 10 {
            0 => Precision::Double,
            1 => Precision::Single,
            2 => Precision::Int32,
            3 => Precision::Int16,
            4 => Precision::Uint16,
            5 => Precision::Uint8,
            _ => return Err(self.error("not a MAT file of level 4")),
        })
    }
}
