//! Runs of models that are texts.

use saltus::{Method, Session};

pub(crate) const SOLVERS: [Method; 6] = [
    Method::Auto,
    Method::Bdf,
    Method::Esdirk43,
    Method::Radau,
    Method::Tsit45,
    Method::Dop853,
];

/// The last value of a variable, or why there is none.
pub(crate) fn last(text: &str, name: &str, stop: f64, solver: Method, tolerance: f64) -> Result<f64, String> {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result().map_err(|d| format!("{d:?}"))?;
    let run = model
        .run()
        .stop(stop)
        .interval(stop)
        .solver(solver)
        .tolerance(tolerance);
    let simulation = run
        .simulate()
        .map_err(|failed| failed.diagnostic().map_or_else(String::new, |d| d.message.clone()))?;
    let values = simulation.values(name).ok_or("no such variable")?;
    values.last().copied().ok_or_else(|| "no rows".to_owned())
}
