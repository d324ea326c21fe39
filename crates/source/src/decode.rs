//! From bytes to text: UTF-8 wherever it is, single bytes elsewhere, always reversible.

use std::sync::Arc;

/// Text made from bytes, with what is needed to get exactly these bytes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The text.
    pub text: Arc<str>,
    /// Offsets *in the text* of characters that stand for one byte that was not UTF-8; each such
    /// byte was read as Latin-1. Ascending; empty for a proper file.
    pub invalid: Vec<u32>,
    /// What the first bytes say about the encoding, if it is not UTF-8.
    pub looks_like: Option<&'static str>,
}

impl Decoded {
    /// Text that needed no decoding.
    pub fn utf8(text: Arc<str>) -> Decoded {
        Decoded {
            text,
            invalid: Vec::new(),
            looks_like: None,
        }
    }

    /// The bytes the text was made from.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.text.len());
        let mut done = 0;
        for &offset in &self.invalid {
            let offset = offset as usize;
            bytes.extend_from_slice(&self.text.as_bytes()[done..offset]);
            let stand_in = self.text[offset..].chars().next().unwrap_or('?');
            bytes.push(stand_in as u32 as u8);
            done = offset + stand_in.len_utf8();
        }
        bytes.extend_from_slice(&self.text.as_bytes()[done..]);
        bytes
    }
}

/// Reads bytes as UTF-8 and every byte that is not part of it as Latin-1.
///
/// Modelica files are UTF-8; old ones in Latin-1 or Windows-1252 have a few bytes that are not.
/// Reading these as Latin-1 keeps the rest of the file usable, and [`Decoded::to_bytes`] gives
/// back the file as it was.
pub fn decode(bytes: Vec<u8>) -> Decoded {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Decoded::utf8(text.into()),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    let mut invalid = Vec::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for &byte in chunk.invalid() {
            invalid.push(text.len() as u32);
            text.push(char::from(byte));
        }
    }
    Decoded {
        text: text.into(),
        invalid,
        looks_like: Some(guess_encoding(&bytes)),
    }
}

fn guess_encoding(bytes: &[u8]) -> &'static str {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16",
        _ if bytes.iter().any(|byte| (0x80..0xa0).contains(byte)) => "Windows-1252",
        _ => "Latin-1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proper_text_is_kept() {
        let decoded = decode("\u{feff}model Ä\r\n".as_bytes().to_vec());
        assert!(decoded.invalid.is_empty());
        assert_eq!(&*decoded.text, "\u{feff}model Ä\r\n");
    }

    #[test]
    fn every_byte_string_comes_back() {
        let mut state = 12345_u32;
        for length in 0..200 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24) as u8
                })
                .collect();
            assert_eq!(decode(bytes.clone()).to_bytes(), bytes);
        }
    }

    #[test]
    fn latin1_is_readable_and_located() {
        let decoded = decode(b"// gr\xf6\xdfe\n".to_vec());
        assert_eq!(&*decoded.text, "// größe\n");
        assert_eq!(decoded.invalid, [5, 7]);
        assert_eq!(decoded.looks_like, Some("Latin-1"));
    }
}
