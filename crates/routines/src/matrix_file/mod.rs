//! Matrices in files, in the formats that the tables of Modelica libraries may have: text (`double name(rows, columns)`),
//! comma separated values, MAT of versions 4, 6 and 7.

mod mat;
mod text;

use crate::Failure;

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// Its elements.
    pub elements: Vec<f64>,
}

/// How a file of comma separated values is read.
#[derive(Clone, Debug)]
pub struct Separated {
    /// What stands between two values.
    pub delimiter: char,
    /// Lines before the first row.
    pub header_lines: usize,
}

/// Numbers of one matrix at most; a file can promise any number of them.
const MOST_ELEMENTS: usize = 1 << 26;

/// The matrix of a name. The end of the file's name says its format, as it does for the tables of the standard library; a
/// file of comma separated values holds one matrix without a name.
pub fn read(file_name: &str, content: &[u8], name: &str, separated: &Separated) -> Result<Rows, Failure> {
    let ending = file_name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    match ending.as_str() {
        "mat" => mat::read(content, name),
        "csv" => text::separated(&String::from_utf8_lossy(content), separated),
        _ => text::read(&String::from_utf8_lossy(content), name),
    }
}

fn sizes(rows: usize, columns: usize) -> Result<usize, Failure> {
    rows.checked_mul(columns)
        .filter(|&count| count <= MOST_ELEMENTS)
        .ok_or_else(|| Failure::new(format!("a matrix of {rows} × {columns} elements is too large")))
}

fn missing(name: &str, known: &[String]) -> Failure {
    let list = match known {
        [] => "it holds none".to_owned(),
        known => format!("it holds `{}`", known[..known.len().min(20)].join("`, `")),
    };
    Failure::new(format!("the file has no matrix `{name}`: {list}"))
}
