//! How large variables are, and how well they are known: the tolerances of conditions, of jumps and of the integrator.
//!
//! Nothing here has a unit of its own. A variable is as large as its `nominal` attribute says, or else as it has been so
//! far; a state is known to the relative tolerance and a thousandth of it times that size; and what follows from the states
//! of a mode is known as well as it responds to errors of theirs (see `response`). So a model in other units has the same
//! tolerances in those units, and so has one whose values are offset: `s = v + 1e6` is known as well as v is.

use rustc_hash::FxHashMap;
use saltus_mdae::{Derivative, Idx, Mdae, VarId};

use crate::memory::Memory;

/// Sizes and errors of the variables of a run.
#[derive(Clone, Debug)]
pub(crate) struct Scales {
    /// Relative tolerance.
    relative: f64,
    /// Absolute tolerance, in parts of a variable's size.
    absolute: f64,
    /// The part of the tolerances that the present mode may use (see `run::sharpness`).
    sharpness: f64,
    /// The `nominal` attributes that are given.
    nominal: Vec<Option<f64>>,
    /// The largest value so far.
    sizes: Noted<f64>,
    /// The first value and the largest distance from it so far.
    courses: Noted<Option<(f64, f64)>>,
    /// The start values that are given; not a number where there is none.
    given: Noted<f64>,
    /// The times at which an event gave states their values exactly; not a number where none did.
    reset: Noted<f64>,
    /// The group of variables with the same unit to which each belongs.
    groups: Vec<usize>,
    /// The largest values so far of any variable of a group and of its derivatives.
    group_sizes: Vec<[f64; GROUP_ORDERS]>,
    /// The largest distances so far from a first value, of the same.
    group_distances: Vec<[f64; GROUP_ORDERS]>,
    /// The errors of what follows from the states: responses to errors of theirs. Not a number where none is known.
    responses: Noted<f64>,
    /// The same at the left limits of the present instant.
    before: Noted<f64>,
    /// The time at which the run begins.
    start: f64,
    /// How long it lasts.
    span: f64,
}

/// Something noted of derivatives of variables, with places for the orders that were met: of most variables these are
/// fewer than memory has places for.
#[derive(Clone, Debug)]
struct Noted<T> {
    /// By variable, and by order for each.
    values: Vec<T>,
    /// How many orders have a place.
    orders: usize,
    variables: usize,
    blank: T,
}

impl<T: Copy> Noted<T> {
    fn new(variables: usize, blank: T) -> Self {
        Noted {
            values: Vec::new(),
            orders: 0,
            variables,
            blank,
        }
    }

    fn get(&self, var: VarId, order: u16) -> T {
        let order = usize::from(order);
        if order >= self.orders {
            return self.blank;
        }
        let place = self.values.get(var.index() * self.orders + order);
        place.copied().unwrap_or(self.blank)
    }

    fn place(&mut self, var: VarId, order: u16) -> &mut T {
        let order = usize::from(order);
        if order >= self.orders {
            self.make_room(order + 1);
        }
        &mut self.values[var.index() * self.orders + order]
    }

    fn copy_from(&mut self, other: &Self) {
        self.values.clone_from(&other.values);
        self.orders = other.orders;
    }

    fn make_room(&mut self, orders: usize) {
        let mut values = vec![self.blank; self.variables * orders];
        if self.orders > 0 {
            for (new, old) in values
                .chunks_exact_mut(orders)
                .zip(self.values.chunks_exact(self.orders))
            {
                new[..self.orders].copy_from_slice(old);
            }
        }
        (self.values, self.orders) = (values, orders);
    }
}

/// Rounding of times, in units of the last place: those of events are computed by a few operations.
const TIME_ULPS: f64 = 16.0;

/// Rounding of a value, in units of the last place.
const VALUE_ULPS: f64 = 4.0;

/// What of a variable counts for its size: its values, or how far they are from the first one.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Extent {
    Value,
    Distance,
}

/// A coordinate is counted from afar where it is so many times as large as what it has moved.
const FAR: f64 = 1e3;

/// The part of a run within which a rate shows.
const SOON: f64 = 1e-3;

/// A state is known no better than to this part of the largest variable of its unit: rates are sums whose terms cancel.
const OF_OTHERS: f64 = 1e-15;

/// A variable is at least this part of the largest of the same unit.
const OF_UNIT: f64 = 1e-3;

/// The group of variables for which no unit is given.
const WITHOUT_UNIT: usize = 0;

/// Derivatives of which sizes are kept for all variables of a unit.
const GROUP_ORDERS: usize = 4;

/// Where nothing is known of a size yet.
const LEAST_SIZE: f64 = 1e-30;
/// What is smaller is not told from zero: errors in parts of it are numbers still.
const LEAST_KNOWN_SIZE: f64 = 1e-280;

/// The relative error of values at the start, which are given or solved for and not integrated.
const AT_START: f64 = 1e-10;

/// The relative error of values that are given: what is computed from them may cancel to this part.
const AS_GIVEN: f64 = 1e-13;

/// An error, or none where it is not known.
fn known(error: f64) -> f64 {
    if error.is_nan() { 0.0 } else { error }
}

/// Times of this size that differ by less are the same.
pub(crate) fn rounding_of_time(size: f64) -> f64 {
    TIME_ULPS * f64::EPSILON * size
}

/// Variables with the same unit, by number; and how many groups there are.
fn groups_by_unit(model: &Mdae) -> (Vec<usize>, usize) {
    let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
    numbers.insert("", WITHOUT_UNIT);
    let variables = model.variables.iter().map(|variable| {
        let next = numbers.len();
        *numbers.entry(&variable.unit).or_insert(next)
    });
    let groups = variables.collect();
    (groups, numbers.len())
}

impl Scales {
    pub(crate) fn new(
        model: &Mdae,
        memory: &Memory,
        (relative, absolute): (f64, f64),
        nominal: Vec<Option<f64>>,
        (start, stop): (f64, f64),
    ) -> Self {
        debug_assert_eq!(nominal.len(), model.variables.len());
        let (groups, count) = groups_by_unit(model);
        let variables = memory.variable_count();
        Scales {
            relative,
            absolute,
            sharpness: 1.0,
            nominal,
            sizes: Noted::new(variables, 0.0),
            courses: Noted::new(variables, None),
            given: Noted::new(variables, f64::NAN),
            reset: Noted::new(variables, f64::NAN),
            groups,
            group_sizes: vec![[0.0; GROUP_ORDERS]; count],
            group_distances: vec![[0.0; GROUP_ORDERS]; count],
            responses: Noted::new(variables, f64::NAN),
            before: Noted::new(variables, f64::NAN),
            start,
            span: (stop - start).abs(),
        }
    }

    /// Where every number is what it is.
    pub(crate) fn exact() -> Self {
        Scales {
            relative: 0.0,
            absolute: 0.0,
            sharpness: 1.0,
            nominal: Vec::new(),
            sizes: Noted::new(0, 0.0),
            courses: Noted::new(0, None),
            given: Noted::new(0, f64::NAN),
            reset: Noted::new(0, f64::NAN),
            groups: Vec::new(),
            group_sizes: Vec::new(),
            group_distances: Vec::new(),
            responses: Noted::new(0, f64::NAN),
            before: Noted::new(0, f64::NAN),
            start: 0.0,
            span: 0.0,
        }
    }

    /// The error to be expected of a derivative of a variable at its value in memory.
    pub(crate) fn error(&self, memory: &Memory, var: VarId, order: u16) -> f64 {
        let response = self.responses.get(var, order);
        if response.is_nan() {
            self.relative_error(memory) * memory.get(var, order).abs()
        } else {
            response
        }
    }

    /// The relative error of what is integrated, or of what is solved for at the start.
    fn relative_error(&self, memory: &Memory) -> f64 {
        let most = if memory.is_initial() { AT_START } else { f64::INFINITY };
        (self.sharpness * self.relative).min(most)
    }

    pub(crate) fn sharpness(&self) -> f64 {
        self.sharpness
    }

    /// States are known to this part of the tolerances from now on.
    pub(crate) fn set_sharpness(&mut self, sharpness: f64) {
        self.sharpness = sharpness;
    }

    /// The error of a state: what the integrator is asked for, of all that has come about by integration. A coordinate that
    /// is counted from afar is not known less for it.
    pub(crate) fn state_error(&self, memory: &Memory, var: VarId, order: u16) -> f64 {
        let size = match self.nominal.get(var.index()).copied().flatten() {
            Some(nominal) if order == 0 => nominal,
            _ => {
                let distance = self.course_size(memory, var, order, Extent::Distance);
                self.course_size(memory, var, order, Extent::Value).min(FAR * distance)
            }
        };
        let relative = self.relative_error(memory);
        let absolute = (self.sharpness * self.absolute).min(relative);
        let value = memory.get(var, order).abs();
        if self.is_as_given(memory, var, order) {
            return AS_GIVEN * value;
        }
        let moved = value.min(self.distance(memory, var, order));
        relative * moved + absolute * size + VALUE_ULPS * f64::EPSILON * value
    }

    /// Whether a state is at the start, or right after an event that set it, what was given: known but for the rounding of
    /// what is computed from it.
    fn is_as_given(&self, memory: &Memory, var: VarId, order: u16) -> bool {
        let now = memory.is_initial() || self.reset.get(var, order) == memory.time();
        now && self.given.get(var, order) == memory.get(var, order)
    }

    /// An event sets a state to a value that does not depend on what is integrated.
    pub(crate) fn note_reset(&mut self, var: VarId, order: u16, value: f64, time: f64) {
        self.note_start(var, order, value);
        *self.reset.place(var, order) = time;
    }

    /// A start value is given.
    pub(crate) fn note_start(&mut self, var: VarId, order: u16, value: f64) {
        *self.given.place(var, order) = value;
    }

    /// The largest distance so far from the first value; the value, where there was none.
    fn distance(&self, memory: &Memory, var: VarId, order: u16) -> f64 {
        let course = self.courses.get(var, order);
        course.map_or_else(|| memory.get(var, order).abs(), |(_, distance)| distance)
    }

    /// How large a derivative of a variable is: by its attribute, or the largest value so far.
    pub(crate) fn size(&self, var: VarId, order: u16) -> f64 {
        match self.nominal.get(var.index()).copied().flatten() {
            Some(nominal) if order == 0 => nominal,
            _ => self.sizes.get(var, order),
        }
    }

    /// The absolute tolerance of a state: that of a nominal value of 1 where none is given, or less if all values so far
    /// were smaller.
    pub(crate) fn state_tolerance(&self, memory: &Memory, var: VarId, order: u16) -> f64 {
        let of_group = |group| self.size_in_group(group, order, Extent::Value);
        self.state_tolerance_by(memory, var, order, of_group)
    }

    /// Those of many states, of which most have the same unit.
    pub(crate) fn state_tolerances(&self, memory: &Memory, states: impl Iterator<Item = Derivative>) -> Vec<f64> {
        let mut last: Option<((usize, u16), f64)> = None;
        let tolerance = |Derivative { var, order }: Derivative| {
            self.state_tolerance_by(memory, var, order, |group| match last {
                Some((key, size)) if key == (group, order) => size,
                _ => {
                    let size = self.size_in_group(group, order, Extent::Value);
                    last = Some(((group, order), size));
                    size
                }
            })
        };
        states.map(tolerance).collect()
    }

    fn state_tolerance_by(&self, memory: &Memory, var: VarId, order: u16, of_group: impl FnOnce(usize) -> f64) -> f64 {
        let given = order == 0 && self.nominal.get(var.index()).copied().flatten().is_some();
        let size = if given {
            self.size(var, order)
        } else if self.size(var, order) >= 1.0 {
            // Others make it larger, never smaller.
            1.0
        } else {
            match self.course_size_by(memory, var, order, Extent::Value, of_group) {
                0.0 => LEAST_SIZE,
                size => size.clamp(LEAST_KNOWN_SIZE, 1.0),
            }
        };
        self.sharpness * self.absolute * size
    }

    /// How large a derivative of a variable is, or has to be for the others of that variable to be what they are: a rate
    /// moves the variable by its size within the run, and a rate of its own moves it soon. Without that a state that is
    /// zero at first is known by its rounding only. Rates count with their values in any case.
    fn course_size(&self, memory: &Memory, var: VarId, order: u16, extent: Extent) -> f64 {
        let of_group = |group| self.size_in_group(group, order, extent);
        self.course_size_by(memory, var, order, extent, of_group)
    }

    /// The same with what all variables of a unit tell.
    fn course_size_by(
        &self,
        memory: &Memory,
        var: VarId,
        order: u16,
        extent: Extent,
        of_group: impl FnOnce(usize) -> f64,
    ) -> f64 {
        let orders = match extent {
            // Of orders beyond those that were noted all sizes are zero.
            Extent::Value => memory.orders(var).min(self.sizes.orders.max(1) as u16),
            Extent::Distance => memory.orders(var),
        };
        let own = (0..orders).map(|other| {
            let size = if extent == Extent::Distance && other <= order {
                self.distance(memory, var, other)
            } else {
                self.size(var, other)
            };
            (other, size)
        });
        let own = self.size_by_others(order, own);
        match self.groups.get(var.index()) {
            Some(&group) => own.max(of_group(group)),
            None => own,
        }
    }

    /// How large any derivative of this order is at least, by what is known of all variables with the same unit.
    fn size_in_group(&self, group: usize, order: u16, extent: Extent) -> f64 {
        let of_group = (0..).zip(self.group_sizes[group].into_iter().zip(self.group_distances[group]));
        let by_distance = |other: u16| extent == Extent::Distance && other <= order;
        let of_group =
            of_group.map(|(other, (size, distance))| (other, if by_distance(other) { distance } else { size }));
        // Of what has the same unit small values matter as little as small parts of large ones do: a wave is not followed
        // before it arrives. Where no units are given, only what is less than the rounding of others is not known.
        let share = match group {
            WITHOUT_UNIT => OF_OTHERS / self.absolute.max(f64::MIN_POSITIVE),
            _ => OF_UNIT,
        };
        share * self.size_by_others(order, of_group)
    }

    /// How large a derivative of a certain order is if others are as large as this.
    fn size_by_others(&self, order: u16, others: impl Iterator<Item = (u16, f64)>) -> f64 {
        // What is zero makes nothing large, whatever the powers of times are.
        let sizes = others.filter(|&(_, size)| size != 0.0).map(|(other, size)| {
            let apart = i32::from(other) - i32::from(order);
            let time = if apart > 0 { SOON * self.span } else { self.span };
            size * time.powi(apart)
        });
        sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
    }

    /// Times closer than this are the same.
    pub(crate) fn time_error(&self, time: f64) -> f64 {
        rounding_of_time(time.abs().max(self.start.abs()))
    }

    /// The `nominal` attribute of a variable, where it is given.
    pub(crate) fn given_nominal(&self, var: VarId) -> Option<f64> {
        self.nominal.get(var.index()).copied().flatten()
    }

    /// Nominal values may depend on parameters that were solved for.
    pub(crate) fn set_nominal_values(&mut self, nominal: Vec<Option<f64>>) {
        self.nominal = nominal;
    }

    /// By how much a value may miss a limit that is declared: its unit is not known, so 1 is taken for its size.
    pub(crate) fn declared_error(&self, var: VarId, value: f64) -> f64 {
        let nominal = self.nominal.get(var.index()).copied().flatten();
        self.relative * value.abs() + self.absolute * nominal.unwrap_or(1.0)
    }

    /// A value of a state, or of a derivative of one, has been reached.
    pub(crate) fn note(&mut self, derivative: Derivative, value: f64) {
        self.note_of_group(derivative, value, true);
    }

    /// A value of an algebraic variable has been reached. Where no units are given it says nothing of states: a path
    /// parameter of 1 is no measure for currents of pA.
    pub(crate) fn note_algebraic(&mut self, derivative: Derivative, value: f64) {
        let has_unit = self.groups[derivative.var.index()] != WITHOUT_UNIT;
        self.note_of_group(derivative, value, has_unit);
    }

    fn note_of_group(&mut self, Derivative { var, order }: Derivative, value: f64, counts_for_group: bool) {
        if !value.is_finite() {
            return;
        }
        let (first, distance) = self.courses.place(var, order).get_or_insert((value, 0.0));
        *distance = distance.max((value - *first).abs());
        let size = self.sizes.place(var, order);
        *size = size.max(value.abs());
        if !counts_for_group {
            return;
        }
        let group = self.groups[var.index()];
        let largest = [
            (&mut self.group_distances[group], *distance),
            (&mut self.group_sizes[group], value.abs()),
        ];
        for (sizes, reached) in largest {
            if let Some(size) = sizes.get_mut(usize::from(order)) {
                *size = size.max(reached);
            }
        }
    }

    /// The responses that were found are those of the left limits.
    pub(crate) fn keep_left_limits(&mut self) {
        self.before.copy_from(&self.responses);
    }

    /// The error of a left limit besides the relative tolerance.
    pub(crate) fn error_before(&self, var: VarId, order: u16) -> f64 {
        known(self.before.get(var, order))
    }

    pub(crate) fn set_response(&mut self, var: VarId, order: u16, error: f64) {
        *self.responses.place(var, order) = error;
    }
}
