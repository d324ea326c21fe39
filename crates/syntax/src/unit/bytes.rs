//! Bytes of a syntax tree: small numbers in few bytes, every name once, places as differences.

use std::collections::HashMap;

use saltus_source::{FileId, Span};

use crate::ast::Name;

/// Levels of boxes, lists and shared parts. The parser makes trees of at most 1100 nodes in depth, each of which is a few levels
/// here; bytes of unknown origin must not exhaust the stack.
const MOST_LEVELS: u32 = 5000;

/// Bytes that are no syntax tree of this format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// Whether places are written: two pieces of text mean the same if they differ in their places only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Places {
    Written,
    Omitted,
}

/// Writes a tree.
#[derive(Debug)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    names: HashMap<Name, u64>,
    order: Vec<Name>,
    places: Places,
    last: u32,
    annotations: u32,
    /// Strings among the equations and declarations: some of them name files.
    pub(super) strings: Vec<Name>,
    /// Leave out what only readers want: documentation, pictures, remarks beside equations.
    pub(super) only_meaning: bool,
}

impl Writer {
    pub(super) fn new(places: Places) -> Writer {
        Writer {
            bytes: Vec::new(),
            names: HashMap::new(),
            order: Vec::new(),
            places,
            last: 0,
            annotations: 0,
            strings: Vec::new(),
            only_meaning: false,
        }
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// Signs go to the lowest bit, so that small numbers of either sign are short.
    pub(super) fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }

    pub(super) fn real(&mut self, number: f64) {
        self.bytes.extend_from_slice(&number.to_bits().to_le_bytes());
    }

    pub(super) fn name(&mut self, name: &Name) {
        let index = match self.names.get(name) {
            Some(&index) => index,
            None => {
                let index = self.order.len() as u64;
                self.names.insert(name.clone(), index);
                self.order.push(name.clone());
                index
            }
        };
        self.number(index);
    }

    pub(super) fn span(&mut self, span: Span) {
        if self.places == Places::Written {
            self.signed(i64::from(span.start) - i64::from(self.last));
            self.number(u64::from(span.end - span.start));
            self.last = span.start;
        }
    }

    /// A string of the text; inside of annotations it names no file that models read.
    pub(super) fn literal(&mut self, text: &Name) {
        if self.annotations == 0 {
            self.strings.push(text.clone());
        }
        self.name(text);
    }

    pub(super) fn annotation(&mut self, write: impl FnOnce(&mut Writer)) {
        self.annotations += 1;
        write(self);
        self.annotations -= 1;
    }

    /// The names, then the tree.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut head = Writer::new(self.places);
        head.number(self.order.len() as u64);
        for name in &self.order {
            head.number(name.len() as u64);
            head.bytes.extend_from_slice(name.as_bytes());
        }
        head.bytes.extend_from_slice(&self.bytes);
        head.bytes
    }
}

/// Reads a tree.
#[derive(Debug)]
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
    names: Vec<Name>,
    file: FileId,
    last: u32,
    levels: u32,
}

impl<'b> Reader<'b> {
    /// A reader of what [`Writer::finish`] gave; places lie in `file`.
    pub(super) fn new(bytes: &'b [u8], file: FileId) -> Result<Reader<'b>, Damaged> {
        let mut reader = Reader {
            rest: bytes,
            names: Vec::new(),
            file,
            last: 0,
            levels: 0,
        };
        let count = reader.count()?;
        for _ in 0..count {
            let length = reader.count()?;
            let name = std::str::from_utf8(reader.take(length)?).map_err(|_| Damaged)?;
            reader.names.push(Name::new(name));
        }
        Ok(reader)
    }

    /// Whether everything was read.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Damaged> {
        self.take(1).map(|taken| taken[0])
    }

    pub(super) fn number(&mut self) -> Result<u64, Damaged> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }

    pub(super) fn signed(&mut self) -> Result<i64, Damaged> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    pub(super) fn real(&mut self) -> Result<f64, Damaged> {
        let bytes = self.take(8)?.try_into().map_err(|_| Damaged)?;
        Ok(f64::from_bits(u64::from_le_bytes(bytes)))
    }

    /// The length of a list: each item takes a byte at least, so that a wrong length asks for no memory.
    pub(super) fn count(&mut self) -> Result<usize, Damaged> {
        let count = usize::try_from(self.number()?).map_err(|_| Damaged)?;
        if count > self.rest.len() {
            return Err(Damaged);
        }
        Ok(count)
    }

    pub(super) fn name(&mut self) -> Result<Name, Damaged> {
        let index = usize::try_from(self.number()?).map_err(|_| Damaged)?;
        self.names.get(index).cloned().ok_or(Damaged)
    }

    pub(super) fn span(&mut self) -> Result<Span, Damaged> {
        let start = i64::from(self.last).checked_add(self.signed()?);
        let start = start.and_then(|start| u32::try_from(start).ok()).ok_or(Damaged)?;
        let length = u32::try_from(self.number()?).map_err(|_| Damaged)?;
        let end = start.checked_add(length).ok_or(Damaged)?;
        self.last = start;
        Ok(Span::new(self.file, start, end))
    }

    /// Reads something one level deeper.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Damaged>) -> Result<T, Damaged> {
        if self.levels >= MOST_LEVELS {
            return Err(Damaged);
        }
        self.levels += 1;
        let value = read(self);
        self.levels -= 1;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        let signed = [0, -1, 1, 63, -64, 64, i64::MAX, i64::MIN];
        let mut writer = Writer::new(Places::Written);
        numbers.iter().for_each(|&number| writer.number(number));
        signed.iter().for_each(|&number| writer.signed(number));
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes, FileId(0)).unwrap();
        assert_eq!(numbers.map(|_| reader.number().unwrap()), numbers);
        assert_eq!(signed.map(|_| reader.signed().unwrap()), signed);
        assert!(reader.is_at_end());
    }

    #[test]
    fn numbers_of_more_than_64_bits_are_refused() {
        let mut bytes = vec![0];
        bytes.extend([0xff; 9]);
        bytes.push(0x02);
        assert_eq!(Reader::new(&bytes, FileId(0)).unwrap().number(), Err(Damaged));
    }
}
