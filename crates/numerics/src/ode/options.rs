//! Choice of method, tolerances and work counters.

use super::IntegrationError;
use std::fmt;
use std::str::FromStr;

/// The methods on offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Explicit while it can, implicit when the problem turns out stiff.
    Auto,
    /// Numerical differentiation formulas of orders 1 to 5: large stiff systems with few events.
    Bdf,
    /// Singly diagonally implicit Runge–Kutta 4(3): stiff systems at loose tolerances with many events.
    Esdirk43,
    /// Radau IIA of order 5: stiff systems at tight tolerances.
    Radau,
    /// Tsitouras 5(4): non-stiff systems at loose tolerances.
    Tsit45,
    /// Dormand–Prince 8(5,3): non-stiff systems at tight tolerances.
    Dop853,
}

impl Method {
    /// All methods with the names they are parsed from.
    pub const ALL: [(Method, &'static str); 6] = [
        (Method::Auto, "auto"),
        (Method::Bdf, "bdf"),
        (Method::Esdirk43, "esdirk43"),
        (Method::Radau, "radau"),
        (Method::Tsit45, "tsit45"),
        (Method::Dop853, "dop853"),
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        let entry = Self::ALL.iter().find(|(m, _)| *m == self);
        entry.map_or("auto", |(_, name)| name)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A method name that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMethod {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = Method::ALL.iter().map(|(_, name)| *name).collect();
        write!(f, "unknown solver `{}`; known are {}", self.name, known.join(", "))
    }
}

impl std::error::Error for UnknownMethod {}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let lower = s.to_ascii_lowercase();
        // The names users bring along from other tools.
        let name = match lower.as_str() {
            "esdirk" | "esdirk34" => "esdirk43",
            "tsit5" => "tsit45",
            "radau5" | "radauiia" => "radau",
            "dassl" | "cvode" | "ida" | "ndf" => "bdf",
            other => other,
        };
        let found = Method::ALL.iter().find(|(_, known)| *known == name);
        found
            .map(|(method, _)| *method)
            .ok_or_else(|| UnknownMethod { name: s.to_owned() })
    }
}

/// Absolute tolerance, the same for all components or one for each (usually from nominal values).
#[derive(Clone, Debug, PartialEq)]
pub enum AbsoluteTolerance {
    /// One for all.
    Scalar(f64),
    /// One for each component.
    Vector(Vec<f64>),
}

impl AbsoluteTolerance {
    /// The tolerance of a component.
    pub fn get(&self, index: usize) -> f64 {
        match self {
            Self::Scalar(a) => *a,
            Self::Vector(v) => v[index],
        }
    }
}

impl From<f64> for AbsoluteTolerance {
    fn from(value: f64) -> Self {
        Self::Scalar(value)
    }
}

impl From<Vec<f64>> for AbsoluteTolerance {
    fn from(value: Vec<f64>) -> Self {
        Self::Vector(value)
    }
}

/// Accuracy and limits. The local error of component i is kept below `atol_i + rtol·|y_i|`, and what rounding errors of f
/// leave of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegratorOptions {
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: AbsoluteTolerance,
    /// Rounding errors of f, one for each component, with signs as they may occur together; then the rates at which f
    /// follows them if they are integrated, the rates of those, and so on as far as that is known. None if empty.
    pub noise: Vec<Vec<f64>>,
    /// Largest step.
    pub max_step: f64,
    /// Rejected attempts allowed for one step before giving up.
    pub max_attempts: usize,
    /// Whether methods whose dense output costs extra evaluations (DOP853: 3 per step) prepare it at full order;
    /// otherwise it is a cubic.
    pub dense_output: bool,
}

impl IntegratorOptions {
    /// With tolerances, everything else default.
    pub fn new(rtol: f64, atol: impl Into<AbsoluteTolerance>) -> Self {
        Self {
            rtol,
            atol: atol.into(),
            noise: Vec::new(),
            max_step: f64::INFINITY,
            max_attempts: 100,
            dense_output: true,
        }
    }

    /// Checks that the numbers make sense.
    ///
    /// # Errors
    /// Names the option that does not.
    pub fn validate(&self) -> Result<(), IntegrationError> {
        let invalid = |option: &'static str, value: f64| Err(IntegrationError::InvalidOption { option, value });
        // Written so that NaN is refused.
        if !(self.rtol >= 0.0 && self.rtol < 1.0) {
            return invalid("relative tolerance", self.rtol);
        }
        if !(self.max_step > 0.0) {
            return invalid("maximum step", self.max_step);
        }
        let components = match &self.atol {
            AbsoluteTolerance::Scalar(a) => std::slice::from_ref(a),
            AbsoluteTolerance::Vector(v) => v,
        };
        if let Some(&noise) = self.noise.iter().flatten().find(|noise| !noise.is_finite()) {
            return invalid("rounding error", noise);
        }
        for &a in components {
            if !(a >= 0.0 && a.is_finite()) || (a == 0.0 && self.rtol == 0.0) {
                return invalid("absolute tolerance", a);
            }
        }
        Ok(())
    }

    /// Relative tolerance for decisions about methods; never below what doubles can resolve.
    pub(super) fn effective_rtol(&self) -> f64 {
        self.rtol.max(1e-14)
    }
}

impl Default for IntegratorOptions {
    fn default() -> Self {
        Self::new(1e-6, 1e-9)
    }
}

/// Work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Starts and restarts.
    pub restarts: usize,
    /// Accepted steps.
    pub steps: usize,
    /// Attempts rejected by the error estimate.
    pub rejected: usize,
    /// Evaluations of f, those for difference quotients included.
    pub rhs: usize,
    /// Evaluations of f that failed.
    pub rhs_failures: usize,
    /// Jacobians.
    pub jacobians: usize,
    /// LU factorisations (a complex one counts as one).
    pub factorisations: usize,
    /// Newton iterations.
    pub newton_iterations: usize,
    /// Attempts whose Newton iteration did not converge.
    pub newton_failures: usize,
    /// Switches between methods.
    pub method_switches: usize,
}

impl std::ops::Add for Counters {
    type Output = Self;

    fn add(self, o: Self) -> Self {
        Self {
            restarts: self.restarts + o.restarts,
            steps: self.steps + o.steps,
            rejected: self.rejected + o.rejected,
            rhs: self.rhs + o.rhs,
            rhs_failures: self.rhs_failures + o.rhs_failures,
            jacobians: self.jacobians + o.jacobians,
            factorisations: self.factorisations + o.factorisations,
            newton_iterations: self.newton_iterations + o.newton_iterations,
            newton_failures: self.newton_failures + o.newton_failures,
            method_switches: self.method_switches + o.method_switches,
        }
    }
}
