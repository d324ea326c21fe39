//! Reads MAT v4 as Dymola, OpenModelica and this program write it, in both layouts and any precision.

use std::io::Read;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::mat4::{self, Matrices, Matrix};
use crate::schema::{AliasSign, Binding, MODE, Role, Schema, Signal, SignalId, SignalKind, TIME};
use crate::sidecar::Sidecar;
use crate::trajectory::disordered_row;
use crate::{IoAction, ResultError, Trajectory};

/// Reads a MAT v4 result. Of a file that breaks off in its data, the complete rows are returned.
pub fn read_mat(mut stream: impl Read, path: &Path) -> Result<Trajectory, ResultError> {
    let mut bytes = Vec::new();
    stream
        .read_to_end(&mut bytes)
        .map_err(|e| ResultError::io(path, IoAction::Read, e))?;
    let file = File::parse(&bytes, path)?;
    let columns = Columns::collect(&file)?;
    file.assemble(columns)
}

/// The matrices of a result.
struct File<'a> {
    path: &'a Path,
    /// One column per name and per time.
    transposed: bool,
    names: Matrix<'a>,
    descriptions: Option<Matrix<'a>>,
    info: Matrix<'a>,
    constants: Option<Matrix<'a>>,
    data: Matrix<'a>,
    metadata: Option<Sidecar>,
}

impl<'a> File<'a> {
    fn parse(bytes: &'a [u8], path: &'a Path) -> Result<Self, ResultError> {
        let mut walk = Matrices { bytes, offset: 0, path };
        let mut found: FxHashMap<&[u8], Matrix<'a>> = FxHashMap::default();
        loop {
            let matrix = match walk.next() {
                Ok(Some(matrix)) => matrix,
                Ok(None) => break,
                // A writer killed between rows and their number leaves rows behind the matrix, which are no header.
                Err(_) if found.contains_key(b"data_2".as_slice()) => break,
                Err(error) => return Err(error),
            };
            // Some rows look like a header: what is not a name is none.
            let is_name = !matrix.name.is_empty() && matrix.name.iter().all(|byte| byte.is_ascii_graphic());
            if !is_name && found.contains_key(b"data_2".as_slice()) {
                break;
            }
            found.entry(matrix.name).or_insert(matrix);
            if !matrix.is_complete() {
                break;
            }
        }
        let missing = |name: &str| {
            let what = format!("the matrix `{name}` is missing or incomplete");
            ResultError::malformed(path, bytes.len() as u64, what)
        };
        let complete = |name: &str| {
            let matrix = found.get(name.as_bytes()).copied().filter(Matrix::is_complete);
            matrix.ok_or_else(|| missing(name))
        };
        let class = complete("Aclass")?;
        let transposed =
            is_transposed(&class).ok_or_else(|| ResultError::malformed(path, 0, "`Aclass` names no known layout"))?;
        let metadata = complete(mat4::METADATA).ok().map(|matrix| matrix.text(0, false));
        let data = *found.get(b"data_2".as_slice()).ok_or_else(|| missing("data_2"))?;
        // With one column per variable nothing can be saved of a file that breaks off.
        if !transposed && !data.is_complete() {
            return Err(missing("data_2"));
        }
        Ok(Self {
            path,
            transposed,
            names: complete("name")?,
            descriptions: complete("description").ok(),
            info: complete("dataInfo")?,
            constants: complete("data_1").ok(),
            data,
            metadata: metadata.and_then(|text| serde_json::from_str(&text).ok()),
        })
        .and_then(Self::check)
    }

    /// Sizes agree, so that no index below is out of range and no allocation exceeds the size of the file.
    fn check(self) -> Result<Self, ResultError> {
        let error =
            |matrix: &Matrix<'_>, what: &str| Err(ResultError::malformed(self.path, matrix.offset as u64, what));
        let lines = |matrix: &Matrix<'_>| {
            if self.transposed { matrix.columns } else { matrix.rows }
        };
        let width = |matrix: &Matrix<'_>| {
            if self.transposed { matrix.rows } else { matrix.columns }
        };
        if width(&self.info) < 2 {
            return error(&self.info, "`dataInfo` needs a table and a position for every variable");
        }
        if lines(&self.info) != lines(&self.names) {
            return error(&self.info, "`dataInfo` and `name` have different numbers of variables");
        }
        if self.descriptions.is_some_and(|d| lines(&d) != lines(&self.names)) {
            return error(
                &self.info,
                "`description` and `name` have different numbers of variables",
            );
        }
        if width(&self.data) == 0 {
            return error(&self.data, "`data_2` has no variables");
        }
        Ok(self)
    }

    fn signals(&self) -> usize {
        if self.transposed {
            self.info.columns
        } else {
            self.info.rows
        }
    }

    /// Table and signed position of a variable.
    fn info(&self, signal: usize) -> (i64, i64) {
        let at = |k: usize| {
            let index = if self.transposed {
                signal * self.info.rows + k
            } else {
                signal + k * self.info.rows
            };
            self.info.get(index) as i64
        };
        (at(0), at(1))
    }

    fn constant(&self, position: usize) -> Option<f64> {
        let table = self.constants?;
        let count = if self.transposed { table.rows } else { table.columns };
        let index = if self.transposed {
            position
        } else {
            position * table.rows
        };
        (position < count && index < table.available()).then(|| table.get(index))
    }

    /// Where the values of a variable are, if they are there at all.
    fn place(&self, signal: usize, name: &str) -> Result<Place, ResultError> {
        let (table, signed) = self.info(signal);
        let negated = signed < 0;
        let position = usize::try_from(signed.unsigned_abs())
            .ok()
            .and_then(|p| p.checked_sub(1));
        let place = position.and_then(|position| match table {
            1 => {
                let sign = if negated { AliasSign::Negated } else { AliasSign::Same };
                Some(Place::Constant(sign.apply(self.constant(position)?)))
            }
            _ => (position < self.width()).then_some(Place::Data { position, negated }),
        });
        place.ok_or_else(|| {
            let what = format!("`{name}` is at position {signed} of table {table}, which is not there");
            ResultError::malformed(self.path, self.info.offset as u64, what)
        })
    }

    /// Number of variables in `data_2`.
    fn width(&self) -> usize {
        if self.transposed {
            self.data.rows
        } else {
            self.data.columns
        }
    }

    fn rows(&self) -> usize {
        if self.transposed {
            self.data.available() / self.data.rows
        } else {
            self.data.rows
        }
    }

    fn column(&self, position: usize) -> Vec<f64> {
        let (start, step) = if self.transposed {
            (position, self.data.rows)
        } else {
            (position * self.data.rows, 1)
        };
        (0..self.rows()).map(|row| self.data.get(start + row * step)).collect()
    }

    fn describe(&self, signal: usize) -> Signal {
        let name = common_name(self.names.text(signal, self.transposed));
        let described = Signal::new(name);
        match &self.descriptions {
            Some(matrix) => split_description(described, &matrix.text(signal, self.transposed)),
            None => described,
        }
    }

    fn assemble(self, columns: Columns) -> Result<Trajectory, ResultError> {
        let mut signals = columns.signals;
        if let Some(metadata) = &self.metadata {
            metadata.describe(&mut signals);
        }
        let schema = Schema::new(signals).map_err(|source| ResultError::Schema {
            path: self.path.to_owned(),
            source,
        })?;
        let data = columns.positions.iter().map(|&(position, negated)| {
            let mut column = self.column(position);
            if negated {
                column
                    .iter_mut()
                    .for_each(|value| *value = AliasSign::Negated.apply(*value));
            }
            column
        });
        let data = data.collect();
        let time = self.column(columns.time);
        if let Some(row) = disordered_row(&time) {
            let what = format!("time is missing or runs backwards in row {}", row + 1);
            return Err(ResultError::malformed(self.path, self.data.offset as u64, what));
        }
        let modes = match columns.mode {
            Some(position) => self.column(position).into_iter().map(|mode| mode as u32).collect(),
            None => vec![0; time.len()],
        };
        let mut trajectory = Trajectory::from_columns(schema, time, modes, data)?;
        if let Some(metadata) = self.metadata {
            trajectory.set_manifest(metadata.manifest, metadata.summary);
        }
        Ok(trajectory)
    }
}

/// The last row of `Aclass` names the layout; it is a row also in transposed files.
fn is_transposed(class: &Matrix<'_>) -> Option<bool> {
    let row = class.rows.checked_sub(1)?;
    match class.text(row, false).as_str() {
        "binTrans" => Some(true),
        "binNormal" => Some(false),
        _ => None,
    }
}

/// Where the values of a variable are.
#[derive(Clone, Copy)]
enum Place {
    Constant(f64),
    Data { position: usize, negated: bool },
}

/// The variables of a file with those at the same position made aliases.
struct Columns {
    signals: Vec<Signal>,
    /// Position in `data_2` of each stored signal, and whether it is the negative that has a name.
    positions: Vec<(usize, bool)>,
    time: usize,
    mode: Option<usize>,
}

impl Columns {
    fn collect(file: &File<'_>) -> Result<Self, ResultError> {
        let mut result = Self {
            signals: Vec::new(),
            positions: Vec::new(),
            time: 0,
            mode: None,
        };
        let mut carriers: FxHashMap<usize, (SignalId, bool)> = FxHashMap::default();
        let mut names: FxHashSet<String> = FxHashSet::default();
        for index in 0..file.signals() {
            let signal = file.describe(index);
            let place = file.place(index, &signal.name)?;
            // Both spellings of a derivative may be there; they are the same.
            if !names.insert(signal.name.clone()) {
                continue;
            }
            match (signal.name.as_str(), place) {
                (TIME | "Time", Place::Data { position, .. }) => result.time = position,
                (MODE, Place::Data { position, .. }) => result.mode = Some(position),
                // Time and mode of a result without rows.
                (TIME | MODE, Place::Constant(_)) => {}
                (_, Place::Data { position, negated }) => {
                    result.add(signal, position, negated, &mut carriers);
                }
                (_, Place::Constant(value)) => {
                    let constant = signal.with_binding(Binding::Constant(value));
                    result.signals.push(constant.with_role(Role::Parameter));
                }
            }
        }
        Ok(result)
    }

    fn add(
        &mut self,
        signal: Signal,
        position: usize,
        negated: bool,
        carriers: &mut FxHashMap<usize, (SignalId, bool)>,
    ) {
        let binding = match carriers.get(&position) {
            Some(&(of, carried)) => {
                let sign = if carried == negated {
                    AliasSign::Same
                } else {
                    AliasSign::Negated
                };
                Binding::Alias { of, sign }
            }
            None => {
                carriers.insert(position, (SignalId(self.signals.len() as u32), negated));
                self.positions.push((position, negated));
                Binding::Column
            }
        };
        self.signals.push(signal.with_binding(binding));
    }
}

/// Dymola writes `a.b.der(x)` where other tools write `der(a.b.x)`.
fn common_name(name: String) -> String {
    match name.rfind(".der(") {
        Some(dot) if name.ends_with(')') => format!("der({}.{}", &name[..dot], &name[dot + 5..]),
        _ => name,
    }
}

/// Takes `Angle [rad|deg]` or `On [:#(type=Boolean)]` apart.
fn split_description(signal: Signal, text: &str) -> Signal {
    let bracket = text.strip_suffix(']').and_then(|t| t.rsplit_once('['));
    let Some((description, inside)) = bracket.filter(|(_, inside)| !inside.contains(' ')) else {
        return signal.with_description(text);
    };
    let (units, attributes) = inside.split_once(":#(").unwrap_or((inside, ""));
    let kind = match attributes {
        a if a.contains("type=Boolean") => SignalKind::Boolean,
        a if a.contains("type=Integer") => SignalKind::Integer,
        _ => SignalKind::Continuous,
    };
    let (unit, display_unit) = units.split_once('|').unwrap_or((units, ""));
    signal
        .with_description(description.trim_end())
        .with_unit(unit)
        .with_display_unit(display_unit)
        .with_kind(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_come_apart() {
        let split = |text: &str| split_description(Signal::new("x"), text);
        let angle = split("Angle [rad|deg]");
        assert_eq!((angle.description.as_str(), angle.unit.as_str()), ("Angle", "rad"));
        assert_eq!(angle.display_unit, "deg");
        assert_eq!(split("On [:#(type=Boolean)]").kind, SignalKind::Boolean);
        assert_eq!(split("see [1, page 2]").description, "see [1, page 2]");
        assert_eq!(split("[N.m]").unit, "N.m");
    }

    #[test]
    fn derivative_names() {
        assert_eq!(common_name("a.b.der(x)".into()), "der(a.b.x)");
        assert_eq!(common_name("der(a.x)".into()), "der(a.x)");
        assert_eq!(common_name("x".into()), "x");
    }
}
