//! Two results over each other, and how far they are apart.

use saltus_results::units::Conversion;
use saltus_results::{Report, ResultError, RowKind, SignalId, SignalKind, Trajectory, VariableReport};

use crate::PageOptions;
use crate::sheet::{Sheet, SheetSignal, add_modes, full_range};

/// Variables whose curves are in the page, the worst first.
const MOST_VARIABLES: usize = 400;
/// Variables shown first.
const SHOWN: usize = 3;

/// The sheet of a comparison: of every variable the result, the reference, and their difference.
pub(crate) fn of_comparison(
    reference: &Trajectory,
    candidate: &Trajectory,
    report: &Report,
    options: &PageOptions,
) -> Result<Sheet, ResultError> {
    let title = || format!("{}: comparison", candidate.manifest().model);
    let ranges = [full_range(reference.time()), full_range(candidate.time())];
    let mut sheet = Sheet {
        title: options.title.clone().unwrap_or_else(title),
        range: (ranges[0].0.min(ranges[1].0), ranges[0].1.max(ranges[1].1)),
        ..Sheet::default()
    };
    sheet.view = options.time_range.unwrap_or(sheet.range);
    add_modes(&mut sheet, candidate);
    let times = [reference, candidate].map(|result| sheet.push(result.time()));
    for variable in by_excess(report).take(MOST_VARIABLES) {
        let ids = [reference, candidate].map(|result| result.schema().find(&variable.name));
        let [Some(old), Some(new)] = ids else { continue };
        add_variable(&mut sheet, [reference, candidate], [old, new], times);
    }
    Ok(sheet)
}

/// What lies outside the tube comes first, then what differs most.
pub(crate) fn by_excess(report: &Report) -> impl Iterator<Item = &VariableReport> {
    let mut variables: Vec<&VariableReport> = report.variables.iter().collect();
    let size = |variable: &VariableReport| variable.max_difference / variable.half_width.max(f64::MIN_POSITIVE);
    variables.sort_by(|a, b| b.excess.total_cmp(&a.excess).then(size(b).total_cmp(&size(a))));
    variables.into_iter()
}

fn add_variable(sheet: &mut Sheet, results: [&Trajectory; 2], ids: [SignalId; 2], times: [usize; 2]) {
    let [reference, candidate] = results;
    let signal = candidate.schema().signal(ids[1]);
    let new = sheet.push(&candidate.values(ids[1]));
    let old = sheet.push(&reference.values(ids[0]));
    let difference = sheet.push(&differences(reference, candidate, ids));
    let curve = SheetSignal::new(signal, times[1], new, Conversion::IDENTITY);
    let dashed = SheetSignal {
        name: format!("{} (reference)", signal.name),
        is_reference: true,
        ..SheetSignal::new(signal, times[0], old, Conversion::IDENTITY)
    };
    let mut apart = SheetSignal::new(signal, times[1], difference, Conversion::IDENTITY);
    apart.name = format!("{} (difference)", signal.name);
    // Where a temperature has its zero says nothing of a difference.
    apart.shown.offset = 0.0;
    if signal.kind != SignalKind::Continuous {
        apart.kind = SignalKind::Discrete;
    }
    let first = sheet.signals.len();
    sheet.signals.extend([curve, dashed, apart]);
    if sheet.panels.len() < 2 * SHOWN {
        sheet.panels.extend([vec![first, first + 1], vec![first + 2]]);
    }
}

/// Result minus reference at the rows of the result; left limits are compared with left limits.
fn differences(reference: &Trajectory, candidate: &Trajectory, ids: [SignalId; 2]) -> Vec<f64> {
    let old = reference.values(ids[0]);
    let values = candidate.values(ids[1]);
    let rows = candidate.time().iter().zip(candidate.kinds()).zip(values.iter());
    rows.map(|((&time, kind), &value)| {
        let known = match kind {
            RowKind::EventLeft => left_limit(reference.time(), &old, time),
            _ => None,
        };
        let known = known.or_else(|| reference.value_at(ids[0], time));
        known.map_or(f64::NAN, |known| value - known)
    })
    .collect()
}

/// The value of the first row at this very time.
fn left_limit(time: &[f64], values: &[f64], at: f64) -> Option<f64> {
    let row = time.partition_point(|&t| t < at);
    (time.get(row) == Some(&at)).then(|| values[row])
}
