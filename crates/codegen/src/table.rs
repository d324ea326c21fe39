//! Interpolation in tables, for any kind of number.

use saltus_mdae::table::{Outside, Table};

use crate::number::Number;

/// The value of a table at its argument(s).
pub(crate) fn lookup<N: Number>(table: &Table, args: &[N]) -> Result<N, Outside> {
    let first = args[0].value();
    let piece = table.piece(&[first, args.get(1).map_or(0.0, N::value)])?;
    Ok(piece.evaluate(args, |value| args[0].like(value), N::add, N::mul))
}
