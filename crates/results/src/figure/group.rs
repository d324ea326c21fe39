//! Which signals share a panel.

use std::borrow::Cow;
use std::ops::Range;

use crate::units::{Conversion, conversion};
use crate::{SignalId, Trajectory};

/// A curve is lost beside another this many times larger.
const LARGEST_RATIO: f64 = 50.0;
/// More curves in a panel cannot be told apart.
const MOST_CURVES: usize = 7;

/// A signal with its values in the unit to show.
pub(super) struct Prepared<'a> {
    pub id: SignalId,
    pub name: &'a str,
    /// The unit shown.
    pub unit: String,
    pub conversion: Conversion,
    /// Whether values are given as their decimal logarithms; those that have none are gaps.
    pub logarithmic: bool,
    values: Cow<'a, [f64]>,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(trajectory: &'a Trajectory, id: SignalId) -> Self {
        let signal = trajectory.schema().signal(id);
        let wanted = if signal.display_unit.is_empty() {
            &signal.unit
        } else {
            &signal.display_unit
        };
        let (unit, conversion) = match conversion(&signal.unit, wanted) {
            Some(conversion) => (wanted.clone(), conversion),
            None => (signal.unit.clone(), Conversion::IDENTITY),
        };
        Self {
            id,
            name: &signal.name,
            unit,
            conversion,
            logarithmic: false,
            values: trajectory.values(id),
        }
    }

    /// The same for a logarithmic axis.
    pub(super) fn with_scale(mut self, logarithmic: bool) -> Self {
        self.logarithmic = logarithmic;
        self
    }

    /// Value of a row in the unit to show.
    pub(super) fn value(&self, row: usize) -> f64 {
        let value = self.conversion.apply(self.values[row]);
        match (self.logarithmic, value > 0.0) {
            (false, _) => value,
            (true, true) => value.log10(),
            (true, false) => f64::NAN,
        }
    }

    /// Smallest and largest finite value of some rows.
    pub(super) fn extent_in(&self, rows: &Range<usize>) -> Option<(f64, f64)> {
        let finite = rows
            .clone()
            .map(|row| self.value(row))
            .filter(|value| value.is_finite());
        finite.fold(None, |extent, value| super::union(extent, Some((value, value))))
    }

    fn size(&self) -> f64 {
        let extent = self.extent_in(&(0..self.values.len()));
        extent.map_or(0.0, |(low, high)| low.abs().max(high.abs()))
    }
}

struct Group {
    unit: String,
    strip: bool,
    size: f64,
    ids: Vec<SignalId>,
}

/// Signals of the same unit and similar size share a panel; Booleans and enumerations share the last one.
pub(super) fn by_unit(signals: Vec<Prepared<'_>>, is_strip: impl Fn(SignalId) -> bool) -> Vec<Vec<SignalId>> {
    let mut groups: Vec<Group> = Vec::new();
    for signal in signals {
        let strip = is_strip(signal.id);
        let size = signal.size();
        let similar = |a: f64, b: f64| a == 0.0 || b == 0.0 || a.max(b) <= LARGEST_RATIO * a.min(b);
        let fits = |group: &&mut Group| match (strip, group.strip) {
            (true, true) => true,
            (false, false) => group.unit == signal.unit && similar(group.size, size) && group.ids.len() < MOST_CURVES,
            _ => false,
        };
        match groups.iter_mut().find(fits) {
            Some(group) => {
                group.size = group.size.max(size);
                group.ids.push(signal.id);
            }
            None => groups.push(Group {
                unit: signal.unit,
                strip,
                size,
                ids: vec![signal.id],
            }),
        }
    }
    groups.sort_by_key(|group| group.strip);
    groups.into_iter().map(|group| group.ids).collect()
}
