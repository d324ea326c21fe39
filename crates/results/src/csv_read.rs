//! Reads CSV of this and other tools: comma, semicolon or tab between fields, quoted or bare names, `time`,
//! `Time` or `t` as abscissa.

use std::io::Read;
use std::path::Path;

use crate::schema::{MODE, Schema, TIME};
use crate::sidecar::Sidecar;
use crate::trajectory::disordered_row;
use crate::{IoAction, ResultError, Trajectory};

/// Reads CSV, with its metadata if there is any.
///
/// A last line without line end is left out when the file has a `$mode` column: it is what a killed run leaves, and
/// its last number may lack digits. In files of other tools it counts if it has all fields.
pub fn read_csv(mut stream: impl Read, path: &Path, sidecar: Option<&Sidecar>) -> Result<Trajectory, ResultError> {
    let mut bytes = Vec::new();
    stream
        .read_to_end(&mut bytes)
        .map_err(|e| ResultError::io(path, IoAction::Read, e))?;
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut reader = Records {
        text,
        position: 0,
        line: 1,
        separator: b',',
        path,
    };
    let layout = reader.header()?;
    let columns = read_rows(&mut reader, &layout)?;
    assemble(layout, columns, sidecar, path)
}

struct Layout {
    /// Names of all columns but time and mode.
    names: Vec<String>,
    time: usize,
    mode: Option<usize>,
    fields: usize,
}

/// All fields, column by column, in file order.
fn read_rows(reader: &mut Records<'_>, layout: &Layout) -> Result<Vec<Vec<f64>>, ResultError> {
    let mut columns = vec![Vec::new(); layout.fields];
    let mut row = Vec::with_capacity(layout.fields);
    while let Some(line) = reader.next_line() {
        if line.bytes.trim_ascii().is_empty() {
            continue;
        }
        if !line.complete && layout.mode.is_some() {
            break;
        }
        match parse_row(line.bytes, reader.separator, layout.fields, &mut row) {
            Ok(()) => {}
            Err(_) if !line.complete => break,
            Err(what) => return Err(ResultError::malformed(reader.path, line.number, what)),
        }
        for (column, &value) in columns.iter_mut().zip(&row) {
            column.push(value);
        }
    }
    Ok(columns)
}

fn parse_row(line: &[u8], separator: u8, fields: usize, row: &mut Vec<f64>) -> Result<(), String> {
    row.clear();
    for field in line.split(|&b| b == separator) {
        if row.len() == fields {
            // Some tools end every line with a separator.
            if field.trim_ascii().is_empty() {
                continue;
            }
            return Err(format!("more than {fields} fields"));
        }
        row.push(parse_number(field, separator)?);
    }
    if row.len() < fields {
        return Err(format!("{} fields where the header has {fields}", row.len()));
    }
    Ok(())
}

fn parse_number(field: &[u8], separator: u8) -> Result<f64, String> {
    let field = field.trim_ascii();
    let inside = field.strip_prefix(b"\"").and_then(|f| f.strip_suffix(b"\""));
    let field = inside.unwrap_or(field);
    match field {
        b"" => return Ok(f64::NAN),
        b"true" => return Ok(1.0),
        b"false" => return Ok(0.0),
        _ => {}
    }
    let text = String::from_utf8_lossy(field);
    let number = text.parse().ok().or_else(|| match separator {
        // Where fields are not separated by commas, numbers may have a decimal one.
        b',' => None,
        _ => text.replacen(',', ".", 1).parse().ok(),
    });
    number.ok_or_else(|| format!("`{}` is not a number", text.chars().take(40).collect::<String>()))
}

fn assemble(
    layout: Layout,
    mut columns: Vec<Vec<f64>>,
    sidecar: Option<&Sidecar>,
    path: &Path,
) -> Result<Trajectory, ResultError> {
    let time = std::mem::take(&mut columns[layout.time]);
    if let Some(row) = disordered_row(&time) {
        let what = format!("time is missing or runs backwards in row {}", row + 1);
        return Err(ResultError::malformed(path, row as u64 + 2, what));
    }
    let modes = match layout.mode {
        Some(index) => columns[index].iter().map(|&mode| mode as u32).collect(),
        None => vec![0; time.len()],
    };
    let mut data: Vec<Vec<f64>> = columns
        .into_iter()
        .enumerate()
        .filter(|&(index, _)| index != layout.time && Some(index) != layout.mode)
        .map(|(_, column)| column)
        .collect();
    let empty = Sidecar::default();
    // Metadata that speaks of columns which are not there belongs to an older file of the same name.
    let sidecar = sidecar.filter(|sidecar| sidecar.fits(&layout.names)).unwrap_or(&empty);
    let (signals, sources) = sidecar.signals_for(&layout.names);
    let schema = Schema::new(signals).map_err(|source| ResultError::Schema {
        path: path.to_owned(),
        source,
    })?;
    let ordered = sources
        .into_iter()
        .map(|source| std::mem::take(&mut data[source]))
        .collect();
    let mut trajectory = Trajectory::from_columns(schema, time, modes, ordered)?;
    trajectory.set_manifest(sidecar.manifest.clone(), sidecar.summary.clone());
    Ok(trajectory)
}

struct Line<'a> {
    bytes: &'a [u8],
    number: u64,
    complete: bool,
}

struct Records<'a> {
    text: &'a [u8],
    position: usize,
    line: u64,
    separator: u8,
    path: &'a Path,
}

impl<'a> Records<'a> {
    fn next_line(&mut self) -> Option<Line<'a>> {
        let rest = self.text.get(self.position..).filter(|rest| !rest.is_empty())?;
        let number = self.line;
        self.line += 1;
        let end = rest.iter().position(|&b| b == b'\n');
        self.position += end.map_or(rest.len(), |end| end + 1);
        let bytes = &rest[..end.unwrap_or(rest.len())];
        Some(Line {
            bytes,
            number,
            complete: end.is_some(),
        })
    }

    fn error(&self, what: impl Into<String>) -> ResultError {
        ResultError::malformed(self.path, self.line, what)
    }

    fn header(&mut self) -> Result<Layout, ResultError> {
        self.skip_comments();
        self.separator = self.find_separator();
        let mut names = self.header_fields()?;
        // Some tools end every line with a separator.
        if names.last().is_some_and(|name| name.is_empty()) {
            names.pop();
        }
        let time = self.time_column(&names)?;
        let mode = names.iter().position(|name| name == MODE);
        let fields = names.len();
        let keep = |index: &usize| *index != time && Some(*index) != mode;
        let names = (0..fields).filter(keep).map(|index| names[index].clone()).collect();
        Ok(Layout {
            names,
            time,
            mode,
            fields,
        })
    }

    fn time_column(&self, names: &[String]) -> Result<usize, ResultError> {
        let called = |wanted: &str| names.iter().position(|name| name == wanted);
        called(TIME)
            .or_else(|| called("Time"))
            .or_else(|| called("t"))
            .ok_or_else(|| self.error("no column is called `time`; the first line must hold the names of the columns"))
    }

    fn skip_comments(&mut self) {
        while self.text[self.position..].starts_with(b"#") {
            if self.next_line().is_none() {
                break;
            }
        }
    }

    /// The first of comma, semicolon and tab outside quotes in the header.
    fn find_separator(&self) -> u8 {
        let mut quoted = false;
        for &byte in &self.text[self.position..] {
            match byte {
                b'"' => quoted = !quoted,
                b',' | b';' | b'\t' if !quoted => return byte,
                b'\n' if !quoted => break,
                _ => {}
            }
        }
        b','
    }

    /// The fields of the header, which may hold quoted line ends.
    fn header_fields(&mut self) -> Result<Vec<String>, ResultError> {
        let mut fields = Vec::new();
        let mut field = Vec::new();
        let mut quoted = false;
        let mut was_quoted = false;
        let mut complete = false;
        while let Some(&byte) = self.text.get(self.position) {
            self.position += 1;
            match byte {
                b'"' if quoted && self.text.get(self.position) == Some(&b'"') => {
                    self.position += 1;
                    field.push(b'"');
                }
                b'"' if quoted => quoted = false,
                b'"' if field.trim_ascii().is_empty() => {
                    field.clear();
                    quoted = true;
                    was_quoted = true;
                }
                b'\n' if !quoted => {
                    complete = true;
                    break;
                }
                _ if byte == self.separator && !quoted => {
                    fields.push(self.finish_field(&mut field, &mut was_quoted)?);
                }
                // Between a closing quote and the end of the field only blanks or a CR can stand.
                _ if was_quoted && !quoted => {}
                _ => field.push(byte),
            }
        }
        if !complete {
            return Err(self.error("the first line, which names the columns, is missing or incomplete"));
        }
        fields.push(self.finish_field(&mut field, &mut was_quoted)?);
        self.line += 1;
        Ok(fields)
    }

    fn finish_field(&self, field: &mut Vec<u8>, was_quoted: &mut bool) -> Result<String, ResultError> {
        let text = String::from_utf8(std::mem::take(field))
            .map_err(|_| self.error("the names of the columns are not UTF-8 text"))?;
        Ok(if std::mem::take(was_quoted) {
            text
        } else {
            text.trim().to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RowKind;

    fn read(text: &str) -> Result<Trajectory, ResultError> {
        read_csv(text.as_bytes(), Path::new("in.csv"), None)
    }

    #[test]
    fn files_of_other_tools() {
        let quoted = "\"time\",\"der(x)\",\"b\"\r\n0,1.5,true\r\n0.5,2.5e0,false\r\n0.5,3,false";
        let result = read(quoted).unwrap();
        assert_eq!(result.time(), [0.0, 0.5, 0.5]);
        assert_eq!(result.signal("der(x)").unwrap().values[..], [1.5, 2.5, 3.0]);
        assert_eq!(result.signal("b").unwrap().values[..], [1.0, 0.0, 0.0]);
        assert_eq!(
            result.kinds(),
            [RowKind::Regular, RowKind::EventLeft, RowKind::EventRight]
        );

        let semicolons = "\u{feff}# made elsewhere\nTime;a[1,2];\n0;1;\n1;;\n";
        let result = read(semicolons).unwrap();
        assert_eq!(result.signal("a[1,2]").unwrap().values[0], 1.0);
        assert!(result.signal("a[1,2]").unwrap().values[1].is_nan());

        assert_eq!(
            read("x,t\n5,0\n6,1\n").unwrap().signal("x").unwrap().values[..],
            [5.0, 6.0]
        );
    }

    #[test]
    fn malformed_files_say_where() {
        let line = |text: &str| match read(text).unwrap_err() {
            ResultError::Malformed { position, .. } => position,
            error => panic!("{error}"),
        };
        assert_eq!(line(""), 1);
        assert_eq!(line("time,x"), 1);
        assert_eq!(line("a,b\n1,2\n"), 2);
        assert_eq!(line("time,x\n0,1\n1,oops\n"), 3);
        assert_eq!(line("time,x\n0,1\n1,2,3\n"), 3);
        assert_eq!(line("time,x\n0\n"), 2);
        assert!(matches!(read("time,x,x\n").unwrap_err(), ResultError::Schema { .. }));
        assert!(matches!(
            read("time,\"x\n0,1\n").unwrap_err(),
            ResultError::Malformed { .. }
        ));
    }
}
