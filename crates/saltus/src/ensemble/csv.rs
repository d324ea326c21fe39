//! Comma-separated values, as far as sweeps need them.

/// The records of a text, with quotes taken off; empty lines are passed over.
pub(super) fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut was_quoted) = (false, false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                field.push('"');
                characters.next();
            }
            '"' if quoted => quoted = false,
            '"' if field.trim().is_empty() && !was_quoted => {
                field.clear();
                (quoted, was_quoted) = (true, true);
            }
            ',' if !quoted => record.push(take(&mut field, &mut was_quoted)),
            '\n' if !quoted => {
                record.push(take(&mut field, &mut was_quoted));
                records.push(std::mem::take(&mut record));
            }
            other => field.push(other),
        }
    }
    if quoted {
        return Err("a quoted value has no end".to_owned());
    }
    if !field.is_empty() || !record.is_empty() || was_quoted {
        record.push(take(&mut field, &mut was_quoted));
        records.push(record);
    }
    records.retain(|record| record.len() > 1 || record.iter().any(|field| !field.is_empty()));
    Ok(records)
}

fn take(field: &mut String, was_quoted: &mut bool) -> String {
    let field = std::mem::take(field);
    if std::mem::take(was_quoted) {
        field.trim_end_matches('\r').to_owned()
    } else {
        field.trim().to_owned()
    }
}

/// A field, quoted where it must be.
pub(super) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) || field.trim() != field {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let fields = ["1", "a,b", "say \"x\"", " y ", "two\nlines", "kind.low", ""];
        let line: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
        assert_eq!(records(&line.join(",")).unwrap(), [fields]);
        assert_eq!(
            records("p, q\r\n1, 2\r\n\r\n3,4").unwrap(),
            [["p", "q"], ["1", "2"], ["3", "4"]]
        );
        assert!(records("\"p").is_err());
        assert!(records("").unwrap().is_empty());
    }
}
