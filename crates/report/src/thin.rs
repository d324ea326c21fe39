//! Fewer rows of a curve, without losing a peak.

use std::ops::Range;

/// The rows to keep of a curve so that it looks the same in a picture with so many columns: of each column the first and the last
/// row, the lowest and the highest value, and a row without a value where there is one.
///
/// ```
/// let time: Vec<f64> = (0..10_000).map(f64::from).collect();
/// let mut values = vec![0.0; 10_000];
/// values[4321] = 7.0;
/// let kept = saltus_report::thin(&time, &values, 100);
/// assert!(kept.len() <= 500 && kept.contains(&4321));
/// ```
pub fn thin(time: &[f64], values: &[f64], columns: usize) -> Vec<usize> {
    let rows = time.len().min(values.len());
    let (Some(&first), Some(&last)) = (time.first(), time[..rows].last()) else {
        return Vec::new();
    };
    let columns = columns.max(1);
    let scale = columns as f64 / (last - first);
    let column = |row: usize| (((time[row] - first) * scale) as usize).min(columns - 1);
    let mut kept = Vec::new();
    let mut start = 0;
    while start < rows {
        let here = column(start);
        let length = (start..rows).take_while(|&row| column(row) == here).count();
        keep(values, start..start + length, &mut kept);
        start += length;
    }
    kept
}

fn keep(values: &[f64], rows: Range<usize>, kept: &mut Vec<usize>) {
    if rows.len() <= 5 {
        return kept.extend(rows);
    }
    let finite = || rows.clone().filter(|&row| !values[row].is_nan());
    let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
    let mut chosen: Vec<usize> = [rows.start, rows.end - 1]
        .into_iter()
        .chain(finite().min_by(by_value))
        .chain(finite().max_by(by_value))
        .chain(rows.clone().find(|&row| values[row].is_nan()))
        .collect();
    chosen.sort_unstable();
    chosen.dedup();
    kept.extend(chosen);
}
