//! Numerical building blocks: integrators behind one trait, nonlinear solvers, complementarity, linear
//! algebra and root location on dense output.
//!
//! This crate knows numbers and no models. Everything is deterministic: no threads, no clocks, limits are
//! counts. No function panics on numbers a user can supply; a wrong slice length is a programming error and
//! is checked.
//!
//! * [`ode`]: [`ode::Integrator`] with explicit (Tsitouras 5(4), Dormand–Prince 8(5,3)) and implicit (BDF/NDF,
//!   ESDIRK 4(3), Radau IIA) methods and an automatic choice between them;
//! * [`linalg`]: dense and sparse LU with refactorisation, rank-revealing QR, least squares;
//! * [`nonlinear`]: damped Newton, dogleg, continuation, projection onto constraints;
//! * [`complementarity`]: Lemke's method;
//! * [`roots`]: bracketing and scanning of event functions;
//! * [`quadrature`]: adaptive integrals over an interval.
#![forbid(unsafe_code)]
#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "negated comparisons put NaN on the failing side"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops over several vectors in step read best with an index"
)]

mod error;

pub mod complementarity;
pub mod linalg;
pub mod nonlinear;
pub mod ode;
pub mod quadrature;
pub mod roots;

pub use error::EvalError;
