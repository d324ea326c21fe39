//! Calls of foreign functions in the machine.

use saltus_routines::lapack::eliminate;
use saltus_routines::{Argument, Failure, Routine, RoutineCall};

use super::Number;
use crate::expr::BinaryOp;

/// The results of a call. Systems of linear equations are solved in whatever numbers they are given, so that solutions have
/// exact derivatives; what else varies has none.
pub(super) fn results<N: Number>(call: &RoutineCall, args: &[N], terms: usize) -> Result<Vec<N>, Failure> {
    if call.routine == Routine::Dgesv
        && let Some(results) = solution(call, args)
    {
        return Ok(results);
    }
    let varies = !call.routine.is_discrete() && args.iter().any(|arg| arg.last_direction(terms).is_some());
    if varies {
        let name = call.routine.name();
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
        |sum, x, y| N::binary(BinaryOp::Sub, sum, &x.mul(y)),
        |x, y| N::binary(BinaryOp::Div, x, y),
    );
    if singular.is_some() {
        b = parts.get(RIGHT_SIDES)?.to_vec();
    }
    b.push(like.like(singular.map_or(0.0, |place| place as f64)));
    Some(b)
}
