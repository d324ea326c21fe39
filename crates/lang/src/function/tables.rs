//! The interpolation tables that libraries take from C, done natively.

use std::rc::Rc;
use std::sync::Arc;

use saltus_routines::Failure as Refusal;
use saltus_routines::matrix_file::{self, Separated};
use saltus_source::Span;

use super::external::{ExternalValue, known_number};
use super::routine::routine_failure;
use crate::codes;
use crate::failure::{Fallible, error, fail};
use crate::flat::{
    BinaryOp, Builtin, Extrapolation, FlatExpr, FlatFunction, FlatTable, FunctionBody, FunctionCall, FunctionId,
    IndexVec, Local, ProvenanceKind, ScalarType, Smoothness,
};
use crate::flattener::Flattener;
use crate::tensor::{Elem, Tensor, Ty, binary};

/// The data of an external table object.
struct TableObject {
    /// The component it belongs to.
    owner: Arc<str>,
    /// Rows of the matrix.
    rows: Vec<Vec<f64>>,
    columns: Vec<usize>,
    smoothness: Smoothness,
    extrapolation: Extrapolation,
    start_time: f64,
    shift_time: f64,
    /// 1: at every abscissa, 2: at discontinuities, 3: none.
    time_events: i64,
}

/// A table that is a function already.
pub(super) struct KnownTable {
    owner: Arc<str>,
    table: Arc<FlatTable>,
    function: FunctionId,
}

impl Flattener<'_> {
    /// The value of a foreign table function; `None` if it is none.
    pub(super) fn table_function(&mut self, name: &str, arguments: &[Tensor], span: Span) -> Fallible<Option<Tensor>> {
        let Some(operation) = name.strip_prefix("ModelicaStandardTables_") else {
            return Ok(None);
        };
        let Some(Elem::External(object)) = arguments.first().and_then(|a| a.elems.first()) else {
            return Ok(None);
        };
        let table = self.table_object(&Rc::clone(object), span)?;
        let scalar = |expr: FlatExpr| Ok(Some(Tensor::scalar(Ty::Real, expr)));
        let argument = |k: usize| arguments.get(k).and_then(Tensor::as_expr).cloned();
        match operation {
            "CombiTable1D_getValue" | "CombiTimeTable_getValue" => {
                let (Some(column), Some(u)) = (arguments.get(1).and_then(Tensor::as_integer), argument(2)) else {
                    return fail(codes::E0304, span, "the column of a table must be known");
                };
                let timed = operation.starts_with("CombiTime");
                let data = column_of(&table, column, timed, span)?;
                let shift = if timed { table.shift_time } else { 0.0 };
                let at = shifted(u.clone(), shift, span);
                let value = self.table_call(&table.owner, data, vec![at], span);
                if timed && table.start_time > 0.0 {
                    let started = binary(BinaryOp::GreaterEqual, u, FlatExpr::Real(table.start_time), span);
                    let started = FlatExpr::Builtin(Builtin::NoEvent, Box::new([started]), span);
                    return scalar(FlatExpr::If(Box::new([started, value, FlatExpr::Real(0.0)]), span));
                }
                scalar(value)
            }
            "CombiTable2D_getValue" => {
                let (Some(u), Some(v)) = (argument(1), argument(2)) else {
                    return fail(codes::E0212, span, "a table of two arguments needs both");
                };
                let data = matrix(&table, span)?;
                scalar(self.table_call(&table.owner, data, vec![u, v], span))
            }
            "CombiTable1D_minimumAbscissa" | "CombiTimeTable_minimumTime" => {
                let shift = if operation.starts_with("CombiTime") {
                    table.shift_time
                } else {
                    0.0
                };
                scalar(FlatExpr::Real(table.rows.first().map_or(0.0, |r| r[0]) + shift))
            }
            "CombiTable1D_maximumAbscissa" | "CombiTimeTable_maximumTime" => {
                let shift = if operation.starts_with("CombiTime") {
                    table.shift_time
                } else {
                    0.0
                };
                scalar(FlatExpr::Real(table.rows.last().map_or(0.0, |r| r[0]) + shift))
            }
            "CombiTable2D_minimumAbscissa" | "CombiTable2D_maximumAbscissa" => {
                let data = matrix(&table, span)?;
                let pick = |list: &[f64]| {
                    let end = if operation.ends_with("minimumAbscissa") {
                        list.first()
                    } else {
                        list.last()
                    };
                    FlatExpr::Real(end.copied().unwrap_or(0.0))
                };
                Ok(Some(Tensor::array(
                    Ty::Real,
                    [2][..].into(),
                    [pick(&data.x), pick(&data.y)],
                )))
            }
            "CombiTimeTable_nextTimeEvent" => match argument(1) {
                Some(time) => {
                    let value = self.next_time_event(&table, time, span);
                    scalar(value)
                }
                None => fail(codes::E0212, span, "the time is missing"),
            },
            _ => Ok(None),
        }
    }

    fn table_object(&mut self, object: &ExternalValue, span: Span) -> Fallible<TableObject> {
        let get = |name: &str| object.arguments.iter().find(|(n, _)| n == name).map(|(_, v)| v);
        let number = |name: &str| get(name).and_then(known_number);
        let rows = match get("fileName").and_then(Tensor::as_str) {
            Some(file) if !matches!(&**file, "" | "NoName") => self.rows_of_file(object, file, span)?,
            _ => rows_of_table(get("table"), span)?,
        };
        let width = rows.first().map_or(0, Vec::len);
        if rows.is_empty() || width == 0 || width < 2 && rows.len() > 1 {
            return fail(codes::E0306, span, "the table has no values");
        }
        let columns = match get("columns") {
            Some(columns) => columns
                .exprs()
                .filter_map(|e| e.as_number())
                .map(|c| c as usize)
                .collect(),
            None => (2..=width).collect(),
        };
        // The order of the literals of Modelica.Blocks.Types.Smoothness and Extrapolation.
        let smoothness = match number("smoothness").unwrap_or(1.0) as i64 {
            1 => Smoothness::Linear,
            2 => Smoothness::Akima,
            3 => Smoothness::Constant,
            4 => Smoothness::FritschButland,
            5 => Smoothness::Steffen,
            6 => Smoothness::ModifiedAkima,
            other => return fail(codes::E0309, span, format!("tables have no smoothness number {other}")),
        };
        let extrapolation = match number("extrapolation").unwrap_or(2.0) as i64 {
            1 => Extrapolation::Hold,
            2 => Extrapolation::Tangent,
            3 => Extrapolation::Periodic,
            4 => Extrapolation::Forbidden,
            other => {
                return fail(
                    codes::E0309,
                    span,
                    format!("tables have no extrapolation number {other}"),
                );
            }
        };
        Ok(TableObject {
            owner: Arc::clone(&object.owner),
            rows,
            columns,
            smoothness,
            extrapolation,
            start_time: number("startTime").unwrap_or(0.0),
            shift_time: number("shiftTime").unwrap_or(0.0),
            time_events: number("timeEvents").unwrap_or(1.0) as i64,
        })
    }

    /// The rows of a table in a file.
    fn rows_of_file(&mut self, object: &ExternalValue, file: &str, span: Span) -> Fallible<Vec<Vec<f64>>> {
        let get = |name: &str| object.arguments.iter().find(|(n, _)| n == name).map(|(_, v)| v);
        let name = get("tableName").and_then(Tensor::as_str).cloned().unwrap_or_default();
        let delimiter = get("delimiter").and_then(Tensor::as_str);
        let separated = Separated {
            delimiter: delimiter.and_then(|text| text.chars().next()).unwrap_or(','),
            header_lines: get("nHeaderLines").and_then(known_number).unwrap_or(0.0).max(0.0) as usize,
        };
        let refused = |why: Refusal| routine_failure(&why, span);
        let path = self.library.resource(file);
        let path = path.ok_or_else(|| {
            refused(Refusal::new(format!(
                "`{file}` names no file: there is no such library"
            )))
        })?;
        let content = self
            .library
            .read_resource(&path)
            .map_err(|why| refused(Refusal::new(format!("cannot read the table `{file}`: {why}"))))?;
        let matrix = matrix_file::read(file, &content, &name, &separated).map_err(|why| {
            let message = format!("table in `{file}`: {why}");
            refused(Refusal::new(message))
        })?;
        Ok(matrix
            .elements
            .chunks(matrix.columns.max(1))
            .map(<[f64]>::to_vec)
            .collect())
    }

    /// The first time event behind a time, as a piecewise constant function of it.
    fn next_time_event(&mut self, table: &TableObject, time: FlatExpr, span: Span) -> FlatExpr {
        let never = f64::MAX;
        let mut events: Vec<f64> = match table.time_events {
            1 => table.rows.iter().map(|row| row[0]).collect(),
            2 => table
                .rows
                .windows(2)
                .filter(|w| w[0][0] == w[1][0])
                .map(|w| w[0][0])
                .collect(),
            _ => Vec::new(),
        };
        events.dedup();
        if table.extrapolation == Extrapolation::Periodic && events.len() > 1 && table.rows.len() > 1 {
            return self.next_periodic_event(table, &events, time, span);
        }
        let mut events: Vec<f64> = events.iter().map(|e| e + table.shift_time).collect();
        if table.start_time > 0.0 {
            events.retain(|&e| e > table.start_time);
            events.insert(0, table.start_time);
        }
        if events.is_empty() {
            return FlatExpr::Real(never);
        }
        let first = events[0];
        let x: Vec<f64> = [first - 1.0].into_iter().chain(events.iter().copied()).collect();
        let values: Vec<f64> = events.iter().copied().chain([never]).collect();
        let data = FlatTable {
            x,
            y: Vec::new(),
            values,
            smoothness: Smoothness::Constant,
            extrapolation: Extrapolation::Hold,
        };
        self.table_call(&table.owner, data, vec![time], span)
    }

    /// time + (next event in the first period − place in the first period).
    fn next_periodic_event(&mut self, table: &TableObject, events: &[f64], time: FlatExpr, span: Span) -> FlatExpr {
        let (first, last) = (table.rows[0][0], table.rows[table.rows.len() - 1][0]);
        let mut x = vec![first];
        x.extend(events.iter().copied().filter(|&e| e > first && e < last));
        let mut values: Vec<f64> = x[1..].to_vec();
        values.push(last);
        x.push(last);
        values.push(last);
        let next = FlatTable {
            x,
            y: Vec::new(),
            values,
            smoothness: Smoothness::Constant,
            extrapolation: Extrapolation::Periodic,
        };
        let place = FlatTable {
            x: vec![first, last],
            y: Vec::new(),
            values: vec![first, last],
            smoothness: Smoothness::Linear,
            extrapolation: Extrapolation::Periodic,
        };
        let at = shifted(time.clone(), table.shift_time, span);
        let next = self.table_call(&table.owner, next, vec![at.clone()], span);
        let place = self.table_call(&table.owner, place, vec![at], span);
        let ahead = binary(BinaryOp::Subtract, next, place, span);
        binary(BinaryOp::Add, time, ahead, span)
    }

    /// A call of a table as a function. Equal tables are one function, unless their names may have to be reported.
    fn table_call(&mut self, owner: &Arc<str>, table: FlatTable, arguments: Vec<FlatExpr>, span: Span) -> FlatExpr {
        let named = table.extrapolation == Extrapolation::Forbidden;
        let known = self
            .functions
            .tables
            .iter()
            .find(|known| *known.table == table && (!named || known.owner == *owner));
        let function = match known {
            Some(known) => known.function,
            None => self.add_table(owner, Arc::new(table), arguments.len(), span),
        };
        FlatExpr::Call(Box::new(FunctionCall {
            function,
            output: 0,
            arguments: arguments.into(),
            partials: Vec::new(),
            span,
        }))
    }

    fn add_table(&mut self, owner: &Arc<str>, table: Arc<FlatTable>, inputs: usize, span: Span) -> FunctionId {
        let provenance = self.add_provenance(span, &"".into(), ProvenanceKind::Function);
        let mut locals = IndexVec::new();
        let mut add = |name: &str| locals.push(Local::new(name, ScalarType::Real, Vec::new()));
        let inputs = ["u", "v"][..inputs.min(2)].iter().map(|name| add(name)).collect();
        let outputs = vec![add("y")];
        let number = self.functions.tables.len() + 1;
        let name = match (&table.extrapolation, &**owner) {
            (Extrapolation::Forbidden, owner) if !owner.is_empty() => owner.into(),
            _ => format!("table{number}").into(),
        };
        let id = self.model.functions.push(FlatFunction {
            name,
            locals,
            inputs,
            outputs,
            fields: Vec::new(),
            body: FunctionBody::Table(Arc::clone(&table)),
            smooth_order: None,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            provenance,
        });
        self.functions.tables.push(KnownTable {
            owner: Arc::clone(owner),
            table,
            function: id,
        });
        id
    }
}

/// The rows of a table that is given as a matrix.
fn rows_of_table(table: Option<&Tensor>, span: Span) -> Fallible<Vec<Vec<f64>>> {
    let Some(data) = table.filter(|t| t.is_known() && t.dims.len() == 2) else {
        return fail(
            codes::E0304,
            span,
            "the data of the table must be known before the simulation",
        );
    };
    let width = data.dims[1] as usize;
    let values: Vec<f64> = data.exprs().filter_map(FlatExpr::as_number).collect();
    Ok(values.chunks(width.max(1)).map(<[f64]>::to_vec).collect())
}

fn shifted(time: FlatExpr, shift: f64, span: Span) -> FlatExpr {
    if shift == 0.0 {
        return time;
    }
    binary(BinaryOp::Subtract, time, FlatExpr::Real(shift), span)
}

/// A column of a table of one argument. Abscissae of time tables may be equal, which marks a jump.
fn column_of(table: &TableObject, column: i64, timed: bool, span: Span) -> Fallible<FlatTable> {
    let index = usize::try_from(column - 1).ok().and_then(|k| table.columns.get(k));
    let width = table.rows[0].len();
    let Some(&index) = index.filter(|&&k| k >= 1 && k <= width) else {
        return fail(codes::E0306, span, format!("the table has no column number {column}"));
    };
    let x: Vec<f64> = table.rows.iter().map(|row| row[0]).collect();
    check_ascending(&x, timed && !table.smoothness.is_spline(), span)?;
    check_period(&x, table, span)?;
    Ok(FlatTable {
        x,
        y: Vec::new(),
        values: table.rows.iter().map(|row| row[index - 1]).collect(),
        smoothness: table.smoothness,
        extrapolation: table.extrapolation,
    })
}

/// The table of two arguments: abscissae in the first column and the first row.
fn matrix(table: &TableObject, span: Span) -> Fallible<FlatTable> {
    if table.rows.len() < 2 || table.rows[0].len() < 2 {
        return fail(
            codes::E0306,
            span,
            "a table of two arguments needs at least two rows and columns",
        );
    }
    let x: Vec<f64> = table.rows[1..].iter().map(|row| row[0]).collect();
    let y: Vec<f64> = table.rows[0][1..].to_vec();
    check_ascending(&x, false, span)?;
    check_ascending(&y, false, span)?;
    if table.smoothness.is_spline() && table.smoothness != Smoothness::Akima {
        return Err(error(
            codes::E0309,
            span,
            "monotone and modified Akima splines are defined for tables of one argument only",
        )
        .with_help("use `smoothness = Modelica.Blocks.Types.Smoothness.ContinuousDerivative`")
        .into());
    }
    Ok(FlatTable {
        x,
        y,
        values: table.rows[1..]
            .iter()
            .flat_map(|row| row[1..].iter().copied())
            .collect(),
        smoothness: table.smoothness,
        extrapolation: table.extrapolation,
    })
}

fn check_ascending(x: &[f64], jumps: bool, span: Span) -> Fallible<()> {
    match x.windows(2).find(|w| !(w[0] < w[1] || jumps && w[0] == w[1])) {
        None => Ok(()),
        Some(w) => fail(
            codes::E0306,
            span,
            format!(
                "the abscissae of the table do not ascend: {} is followed by {}",
                w[0], w[1]
            ),
        ),
    }
}

/// What repeats needs a period.
fn check_period(x: &[f64], table: &TableObject, span: Span) -> Fallible<()> {
    if table.extrapolation == Extrapolation::Periodic && x.len() > 1 && x[0] == x[x.len() - 1] {
        return fail(codes::E0306, span, "the table repeats with a period of zero length");
    }
    Ok(())
}
