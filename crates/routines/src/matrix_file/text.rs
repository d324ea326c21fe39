//! Text files of tables, and comma separated values.

use super::{Rows, Separated, missing, sizes};
use crate::Failure;

/// `double name(rows, columns)`, then its elements by rows, however they are broken into lines; `#` begins a comment.
pub(super) fn read(text: &str, name: &str) -> Result<Rows, Failure> {
    if !text.starts_with("#1") {
        return Err(Failure::new("a text file of tables begins with the line `#1`"));
    }
    let mut known = Vec::new();
    let mut lines = text.lines().enumerate().skip(1);
    while let Some((number, line)) = lines.next() {
        let Some((found, rows, columns)) = header(line) else {
            continue;
        };
        if found != name {
            known.push(found.to_owned());
            continue;
        }
        let count = sizes(rows, columns)?;
        let mut elements = Vec::new();
        let words = lines.flat_map(|(_, line)| {
            uncommented(line)
                .split([' ', '\t', ',', ';', '\r'])
                .filter(|word| !word.is_empty())
        });
        for word in words.take(count) {
            let value = word.parse::<f64>();
            elements.push(value.map_err(|_| Failure::new(format!("`{word}` in matrix `{name}` is no number")))?);
        }
        if elements.len() < count {
            return Err(Failure::new(format!(
                "matrix `{name}` of line {} has {} of its {count} elements",
                number + 1,
                elements.len()
            )));
        }
        return Ok(Rows {
            rows,
            columns,
            elements,
        });
    }
    Err(missing(name, &known))
}

fn uncommented(line: &str) -> &str {
    line.split('#').next().unwrap_or("")
}

fn header(line: &str) -> Option<(&str, usize, usize)> {
    let line = uncommented(line).trim();
    let rest = line.strip_prefix("double").or_else(|| line.strip_prefix("float"))?;
    let rest = rest.strip_prefix([' ', '\t'])?;
    let (name, rest) = rest.split_once('(')?;
    let (rows, rest) = rest.split_once(',')?;
    let (columns, _) = rest.split_once(')')?;
    Some((name.trim(), rows.trim().parse().ok()?, columns.trim().parse().ok()?))
}

/// A row per line that is not empty.
pub(super) fn separated(text: &str, how: &Separated) -> Result<Rows, Failure> {
    let mut elements = Vec::new();
    let (mut rows, mut columns) = (0, 0);
    for (number, line) in text.lines().enumerate().skip(how.header_lines) {
        if line.trim().is_empty() {
            continue;
        }
        let before = elements.len();
        for word in line.split(how.delimiter) {
            let word = word.trim().trim_matches('"');
            let value = word.parse::<f64>();
            elements.push(value.map_err(|_| Failure::new(format!("`{word}` in line {} is no number", number + 1)))?);
        }
        let width = elements.len() - before;
        if rows > 0 && width != columns {
            return Err(Failure::new(format!(
                "line {} has {width} values, the lines before it have {columns}",
                number + 1
            )));
        }
        (rows, columns) = (rows + 1, width);
        sizes(rows, columns)?;
    }
    Ok(Rows {
        rows,
        columns,
        elements,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "#1\n# comment\ndouble a(2,2) # dummy\n0 0 1 1\ndouble tab (3, 2)\n  1 2, 3; # two rows\n\n4\n5 6e0\n";

    #[test]
    fn elements_go_over_lines_and_comments() {
        let found = read(TEXT, "tab").unwrap();
        assert_eq!((found.rows, found.columns), (3, 2));
        assert_eq!(found.elements, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, name, word) in [
            (TEXT, "b", "it holds `a`, `tab`"),
            ("double a(1,1)\n1\n", "a", "begins with"),
            ("#1\ndouble a(2,2)\n1 2 x 4\n", "a", "`x`"),
            ("#1\ndouble a(2,2)\n1 2 3\n", "a", "3 of its 4"),
            ("#1\ndouble a(99999999999,99999999999)\n1\n", "a", "too large"),
        ] {
            let failure = read(text, name).unwrap_err().0;
            assert!(failure.contains(word), "{failure}");
        }
    }

    #[test]
    fn separated_values() {
        let how = Separated {
            delimiter: ';',
            header_lines: 1,
        };
        let found = separated("a;b\n1;2\n\n3 ; \"4\"\n", &how).unwrap();
        assert_eq!(
            (found.rows, found.columns, &found.elements[..]),
            (2, 2, &[1.0, 2.0, 3.0, 4.0][..])
        );
        assert!(separated("a;b\n1;2\n3\n", &how).unwrap_err().0.contains("line 3"));
        assert!(separated("a;b\n1;x\n", &how).unwrap_err().0.contains("`x` in line 2"));
    }
}
