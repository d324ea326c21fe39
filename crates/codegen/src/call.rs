//! Calls of user functions that stay calls.
//!
//! First derivatives, by leaves and by time, are those of a [`Variant`] of the function: one call yields the outputs and
//! their derivatives along several directions, each given by the derivatives of the arguments. Where an annotation names a
//! function that yields the derivative, that function is called. What is left (higher derivatives of functions without
//! annotations) is computed in power series of nested duals, see [`crate::function`].

use std::collections::{BTreeMap, BTreeSet};

use saltus_mdae::FunctionId;
use saltus_mdae::function::{DerivativeInput, FunctionDerivative, StaticDerivative, Variant};

use crate::function::{DIRECTION_LIMIT, Library};
use crate::jet::{Jet, Series};
use crate::series::SeriesAlgebra;
use crate::tape::{CallSite, TapeBuilder, Value};

/// Directions of one call; more of them take several calls.
const LANES: usize = 4;

/// A call with what is known of its arguments.
pub(crate) struct Call<'a> {
    pub(crate) function: FunctionId,
    /// The number of scalar outputs of the function.
    pub(crate) outputs: usize,
    /// Arguments it is differentiated by.
    pub(crate) partials: &'a [u32],
    pub(crate) args: &'a [Jet],
    /// Made only if this is not zero.
    pub(crate) guard: Option<Value>,
}

/// A direction: the derivatives of the arguments that vary along it, by their positions.
type Seed = BTreeMap<u32, Value>;

/// Which directions tangents are computed along.
enum Along {
    /// One for each column.
    Columns(Vec<u32>),
    /// One for each of these arguments.
    Arguments(Vec<u32>),
}

impl Call<'_> {
    /// The fewest directions that give the tangents with respect to these arguments.
    fn directions(&self, positions: impl Iterator<Item = u32>) -> Along {
        let with_tangents = |position: &u32| !self.args[*position as usize].tangents.is_empty();
        let positions: Vec<u32> = positions.filter(with_tangents).collect();
        let tangents = positions.iter().map(|&position| &self.args[position as usize].tangents);
        let columns: BTreeSet<u32> = tangents.flat_map(|tangents| tangents.keys().copied()).collect();
        if columns.len() <= positions.len() {
            Along::Columns(columns.into_iter().collect())
        } else {
            Along::Arguments(positions)
        }
    }
}

impl TapeBuilder {
    /// One output of a call: its series and its tangents.
    pub(crate) fn call_jet(&mut self, library: &Library, call: &Call<'_>, output: u32, len: usize) -> Jet {
        let moves = |tape: &Self, arg: &Jet| !tape.is_constant_series(&arg.series);
        let varies: Vec<bool> = { call.args.iter() }
            .map(|arg| !arg.tangents.is_empty() || moves(self, arg))
            .collect();
        if call.partials.is_empty() && varies.contains(&true) {
            let function = &library.functions()[call.function];
            match function.static_derivative(|position| varies[position as usize]) {
                StaticDerivative::Known(derivative) => {
                    return self.annotated_jet(library, call, derivative, output, len);
                }
                StaticDerivative::None => {
                    if let Some(jet) = self.first_order_jet(library, call, output, len) {
                        return jet;
                    }
                }
                StaticDerivative::Unknown => {}
            }
        }
        self.general_jet(call, output, len)
    }

    /// f(x)' = f_der(x, x'), and so are the tangents.
    fn annotated_jet(
        &mut self,
        library: &Library,
        call: &Call<'_>,
        derivative: &FunctionDerivative,
        output: u32,
        len: usize,
    ) -> Jet {
        let mut series = self.call_series(call, output, Vec::new(), false, len);
        let Some(slope) = derivative.outputs[output as usize] else {
            return Jet::constant(series);
        };
        let differentiated = derivative.inputs.iter().filter_map(|input| match *input {
            DerivativeInput::Derivative(position) => Some(position),
            DerivativeInput::Value(_) => None,
        });
        let differentiated: BTreeSet<u32> = differentiated.collect();
        let moves = |tape: &Self, position: &u32| !tape.is_constant_series(&call.args[*position as usize].series);
        if len > 1 && differentiated.iter().any(|position| moves(self, position)) {
            let rates: BTreeMap<u32, Series> = { differentiated.iter() }
                .map(|&position| (position, self.rate(&call.args[position as usize].series)))
                .collect();
            let rate = self.derivative_call(library, call, derivative, &rates, slope, len - 1);
            for (k, &coefficient) in rate.iter().enumerate() {
                series[k + 1] = self.scale(coefficient, 1.0 / (k + 1) as f64);
            }
        }
        let mut tangents = BTreeMap::new();
        match call.directions(differentiated.into_iter()) {
            Along::Columns(columns) => {
                for column in columns {
                    let along: BTreeMap<u32, Series> = (0..)
                        .zip(call.args)
                        .filter_map(|(position, arg)| Some((position, arg.tangents.get(&column)?.clone())))
                        .collect();
                    let len = along.values().map(Vec::len).min().unwrap_or(1);
                    let tangent = self.derivative_call(library, call, derivative, &along, slope, len);
                    tangents.insert(column, tangent);
                }
            }
            Along::Arguments(positions) => {
                for position in positions {
                    let own = &call.args[position as usize].tangents;
                    let len = own.values().map(Vec::len).max().unwrap_or(1);
                    let one = self.constant(1.0);
                    let along = BTreeMap::from([(position, self.constant_series(one, len))]);
                    let outer = self.derivative_call(library, call, derivative, &along, slope, len);
                    let term = self.scale_tangents(&outer, own.clone());
                    tangents = self.add_tangents(tangents, term);
                }
            }
        }
        Jet { series, tangents }
    }

    /// The derivative of a series: one coefficient less.
    fn rate(&mut self, series: &[Value]) -> Series {
        let terms = series.iter().enumerate().skip(1);
        terms
            .map(|(k, &coefficient)| self.scale(coefficient, k as f64))
            .collect()
    }

    /// The series of an output of the function that yields the derivative along a direction.
    fn derivative_call(
        &mut self,
        library: &Library,
        call: &Call<'_>,
        derivative: &FunctionDerivative,
        along: &BTreeMap<u32, Series>,
        output: u32,
        len: usize,
    ) -> Series {
        let zero = self.zero();
        let args: Vec<Jet> = { derivative.inputs.iter() }
            .map(|input| match *input {
                DerivativeInput::Value(position) => call.args[position as usize].series[..len].to_vec(),
                DerivativeInput::Derivative(position) => match along.get(&position) {
                    Some(series) => series[..len].to_vec(),
                    None => vec![zero; len],
                },
            })
            .map(Jet::constant)
            .collect();
        let call = Call {
            function: derivative.function,
            outputs: library.functions()[derivative.function].output_size(),
            partials: &[],
            args: &args,
            guard: call.guard,
        };
        self.call_jet(library, &call, output, len).series
    }

    /// First derivatives by a variant of the function; `None` if there is none, or more is asked for.
    fn first_order_jet(&mut self, library: &Library, call: &Call<'_>, output: u32, len: usize) -> Option<Jet> {
        let tangents = call.args.iter().flat_map(|arg| arg.tangents.values());
        let longest = tangents.map(Vec::len).max().unwrap_or(0);
        let moves = call.args.iter().any(|arg| !self.is_constant_series(&arg.series));
        if longest > 1 || (moves && len > 2) {
            return None;
        }
        let mut seeds: Vec<Seed> = Vec::new();
        if moves {
            let rates = (0..).zip(call.args).map(|(position, arg)| (position, arg.series[1]));
            seeds.push(rates.filter(|&(_, rate)| !self.is_zero(rate)).collect());
        }
        let along = call.directions(0..call.args.len() as u32);
        match &along {
            Along::Columns(columns) => seeds.extend(columns.iter().map(|column| -> Seed {
                let tangent = |arg: &Jet| arg.tangents.get(column).map(|tangent| tangent[0]);
                let tangents = (0..)
                    .zip(call.args)
                    .filter_map(|(position, arg)| Some((position, tangent(arg)?)));
                tangents.filter(|&(_, tangent)| !self.is_zero(tangent)).collect()
            })),
            Along::Arguments(positions) => {
                let one = self.constant(1.0);
                seeds.extend(positions.iter().map(|&position| Seed::from([(position, one)])));
            }
        }
        let (value, slopes) = self.lanes(library, call, output, &seeds)?;
        let mut slopes = slopes.into_iter();
        let mut series = self.constant_series(value, len);
        if moves {
            series[1] = slopes.next()?;
        }
        let mut tangents = BTreeMap::new();
        match along {
            Along::Columns(columns) => tangents.extend(columns.into_iter().zip(slopes.map(|slope| vec![slope]))),
            Along::Arguments(positions) => {
                for (position, slope) in positions.into_iter().zip(slopes) {
                    let own = call.args[position as usize].tangents.clone();
                    let term = self.scale_tangents(&[slope], own);
                    tangents = self.add_tangents(tangents, term);
                }
            }
        }
        Some(Jet { series, tangents })
    }

    /// An output, and its derivatives along some directions.
    fn lanes(
        &mut self,
        library: &Library,
        call: &Call<'_>,
        output: u32,
        seeds: &[Seed],
    ) -> Option<(Value, Vec<Value>)> {
        let (mut value, mut slopes) = (None, Vec::with_capacity(seeds.len()));
        let zero = self.zero();
        for lanes in seeds.chunks(LANES) {
            let varying: BTreeSet<u32> = lanes.iter().flat_map(|seed| seed.keys().copied()).collect();
            let width = 1 + lanes.len() as u32;
            let function = library.variant(Variant {
                function: call.function,
                varying: varying.iter().copied().collect(),
                lanes: lanes.len() as u32,
            })?;
            let mut args: Vec<Value> = call.args.iter().map(|arg| arg.series[0]).collect();
            for seed in lanes {
                args.extend(
                    varying
                        .iter()
                        .map(|position| seed.get(position).copied().unwrap_or(zero)),
                );
            }
            let site = self.call(CallSite {
                function,
                order: 0,
                directions: Vec::new(),
                args,
                guard: call.guard,
                results: u32::try_from(call.outputs.saturating_mul(width as usize)).unwrap_or(u32::MAX),
            });
            value.get_or_insert_with(|| self.call_result(site, output * width));
            slopes.extend((1..width).map(|lane| self.call_result(site, output * width + lane)));
        }
        Some((value?, slopes))
    }

    /// In power series of nested duals: the tangents are (∂f/∂argument)·(tangent of the argument).
    fn general_jet(&mut self, call: &Call<'_>, output: u32, len: usize) -> Jet {
        // The function machine has a limited number of directions, one of which tangents need.
        self.exhausted |= call.partials.len() >= DIRECTION_LIMIT;
        let varies = call.args.iter().any(|arg| !self.is_constant_series(&arg.series));
        let series = self.call_series(call, output, call.partials.to_vec(), varies, len);
        let mut tangents = BTreeMap::new();
        for (position, arg) in call.args.iter().enumerate() {
            let Some(longest) = arg.tangents.values().map(Vec::len).max() else {
                continue;
            };
            let mut directions = call.partials.to_vec();
            directions.push(position as u32);
            let outer = self.call_series(call, output, directions, varies, longest);
            let term = self.scale_tangents(&outer, arg.tangents.clone());
            tangents = self.add_tangents(tangents, term);
        }
        Jet { series, tangents }
    }

    /// The series of an output differentiated by some arguments; of one coefficient if no argument varies.
    fn call_series(&mut self, call: &Call<'_>, output: u32, directions: Vec<u32>, varies: bool, len: usize) -> Series {
        let computed = if varies { len } else { 1 };
        // Of the sets of directions, the last holds them all.
        let first = (((output as usize + 1) << directions.len()) - 1) * computed;
        let results = call.outputs.saturating_mul(computed << directions.len());
        let args = call.args.iter().flat_map(|arg| &arg.series[..computed]);
        let site = CallSite {
            function: call.function,
            order: computed as u16 - 1,
            args: args.copied().collect(),
            guard: call.guard,
            results: u32::try_from(results).unwrap_or(u32::MAX),
            directions,
        };
        let value = self.call(site);
        let mut series: Series = (0..computed)
            .map(|k| self.call_result(value, (first + k) as u32))
            .collect();
        let zero = self.zero();
        series.resize(len, zero);
        series
    }
}
