//! Calls of foreign functions in the machine.

use saltus_routines::lapack::eliminate;
use saltus_routines::{Argument, Callee, Failure, Routine, RoutineCall};

use super::{Direction, Number};
use crate::expr::BinaryFunction;

/// The results of a call. Systems of linear equations are solved in whatever numbers they are given, so that solutions have
/// exact derivatives; those of external code are differences; what else varies has none.
pub(super) fn results<N: Number>(call: &RoutineCall, args: &[N], terms: usize) -> Result<Vec<N>, Failure> {
    if call.callee == Callee::Routine(Routine::Dgesv)
        && let Some(results) = solution(call, args)
    {
        return Ok(results);
    }
    let varies = !call.callee.is_discrete() && args.iter().any(|arg| arg.last_direction(terms).is_some());
    if varies {
        if matches!(call.callee, Callee::External(_)) {
            return differentiated(call, args, terms, &mut Vec::new());
        }
        let name = call.callee.name();
        return Err(Failure::new(format!(
            "`{name}` is needed with derivatives, which it does not have"
        )));
    }
    let values: Vec<f64> = args.iter().map(N::value).collect();
    let results = call.evaluate(&values)?;
    Ok(match args.first() {
        Some(first) => results.iter().map(|&value| first.like(value)).collect(),
        None => Vec::new(),
    })
}

/// The size of steps for differences of external code: the cube root of the precision balances their errors.
const DIFFERENCE: f64 = 6e-6;

/// f(x + ε·ẋ) = f(x) + ε·Σ ∂f/∂xᵢ(x)·ẋᵢ; by which arguments it is differentiated already stands in the list.
fn differentiated<N: Number>(
    call: &RoutineCall,
    args: &[N],
    terms: usize,
    by: &mut Vec<usize>,
) -> Result<Vec<N>, Failure> {
    let Some(first) = args.first() else {
        return Ok(Vec::new());
    };
    let Some(direction) = args.iter().filter_map(|arg| arg.last_direction(terms)).max() else {
        let mut values: Vec<f64> = args.iter().map(N::value).collect();
        let results = difference(call, &mut values, by)?;
        return Ok(results.into_iter().map(|value| first.like(value)).collect());
    };
    let (points, slopes): (Vec<N>, Vec<N>) = args.iter().map(|arg| arg.split(direction, terms)).unzip();
    let fewer = match direction {
        Direction::Series => terms - 1,
        _ => terms,
    };
    let mut sums: Option<Vec<N>> = None;
    for (at, along) in slopes.iter().enumerate().filter(|(_, along)| !along.is_zero()) {
        by.push(at);
        let partial = differentiated(call, &points, fewer, by);
        by.pop();
        let terms: Vec<N> = partial?.iter().map(|partial| partial.mul(along)).collect();
        sums = Some(match sums {
            None => terms,
            Some(sums) => sums.iter().zip(&terms).map(|(sum, term)| sum.add(term)).collect(),
        });
    }
    let bases: Vec<N> = args.iter().map(|arg| arg.base(direction)).collect();
    let results = differentiated(call, &bases, terms, by)?;
    Ok(match sums {
        None => results,
        Some(sums) => results
            .iter()
            .zip(&sums)
            .map(|(base, slope)| N::join(base, slope, direction))
            .collect(),
    })
}

/// Central differences by some arguments, one within the other.
fn difference(call: &RoutineCall, values: &mut [f64], by: &[usize]) -> Result<Vec<f64>, Failure> {
    let Some((&at, rest)) = by.split_last() else {
        return call.evaluate(values);
    };
    let value = values[at];
    let size = DIFFERENCE * value.abs().max(1.0);
    values[at] = value + size;
    let above = difference(call, values, rest);
    values[at] = value - size;
    let below = difference(call, values, rest);
    values[at] = value;
    let width = (value + size) - (value - size);
    Ok(above?
        .iter()
        .zip(&below?)
        .map(|(above, below)| (above - below) / width)
        .collect())
}

/// Where the arguments of `dgesv` stand.
const MATRIX: usize = 2;
const RIGHT_SIDES: usize = 5;
const INFO: usize = 7;

/// The solution and `info`, if these are all that is asked for and the sizes are those of the buffers.
fn solution<N: Number>(call: &RoutineCall, args: &[N]) -> Option<Vec<N>> {
    let mut parts: Vec<&[N]> = Vec::with_capacity(call.arguments.len());
    let mut rest = args;
    for (at, argument) in call.arguments.iter().enumerate() {
        let Argument::Numbers { size, written } = argument else {
            return None;
        };
        if *written != (at == RIGHT_SIDES || at == INFO) {
            return None;
        }
        let (own, behind) = rest.split_at_checked(*size as usize)?;
        parts.push(own);
        rest = behind;
    }
    let n = parts.first()?.first()?.value() as usize;
    let (mut a, mut b) = (parts.get(MATRIX)?.to_vec(), parts.get(RIGHT_SIDES)?.to_vec());
    if n == 0 || a.len() != n * n || b.len() % n != 0 {
        return None;
    }
    let like = a[0].like(0.0);
    let singular = eliminate(
        n,
        &mut a,
        &mut b,
        N::value,
        |sum, x, y| N::binary(BinaryFunction::Sub, sum, &x.mul(y)),
        |x, y| N::binary(BinaryFunction::Div, x, y),
    );
    if singular.is_some() {
        b = parts.get(RIGHT_SIDES)?.to_vec();
    }
    b.push(like.like(singular.map_or(0.0, |place| place as f64)));
    Some(b)
}
