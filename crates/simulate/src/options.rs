//! What a run is asked to do.

use saltus_numerics::ode::Method;

/// How right limits are found at a mode change.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum RestartMethod {
    /// The structural hot restart.
    #[default]
    Structural,
    /// A scaled implicit Euler step with vanishing step size, as a cross-check (LNCS (9)).
    Euler,
}

/// What is done in modes whose constraints follow from each other, so that how they share forces or currents is not
/// determined.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Redundant {
    /// It is shared by minimum norm, and a warning names it.
    #[default]
    Share,
    /// Such modes are singular.
    Refuse,
}

/// What is done where a run switches to and fro across a surface with no progress.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Chattering {
    /// The run ends and says why.
    #[default]
    Stop,
    /// It goes on along the surface, by the combination of both sides that stays on it (Filippov).
    Slide,
}

/// What is done where events accumulate at a point in time.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Zeno {
    /// The run ends and says why.
    #[default]
    Stop,
    /// It goes on from the point of accumulation, at rest on the surface, where the limit is determined.
    Rest,
}

/// Settings of a run. Limits are counts, so that two runs do the same.
#[derive(Clone, Debug)]
pub struct Options {
    /// Start time.
    pub start: f64,
    /// Stop time.
    pub stop: f64,
    /// Distance of output points.
    pub interval: f64,
    /// Relative tolerance.
    pub tolerance: f64,
    /// Absolute tolerance relative to each variable's nominal value.
    pub absolute_tolerance: f64,
    /// Integration method.
    pub method: Method,
    /// Restart method.
    pub restart: RestartMethod,
    /// Run both restart methods and report disagreement.
    pub verify_restarts: bool,
    /// What is done where constraints follow from each other.
    pub redundant: Redundant,
    /// What is done where a run chatters.
    pub chattering: Chattering,
    /// What is done where events accumulate.
    pub zeno: Zeno,
    /// Write every super-dense instant, not only the first left and last right limit.
    pub all_instants: bool,
    /// Instants allowed at one event time before the iteration is called endless.
    pub instant_limit: u32,
    /// Events allowed in one run.
    pub event_limit: u64,
    /// Integrator steps allowed in one run.
    pub step_limit: u64,
    /// Candidate modes tried at one event before the search is given up.
    pub candidate_limit: u32,
    /// Events of the same conditions in a row with no progress in time that count as chattering.
    pub chatter_limit: u32,
    /// Bytes, roughly, that the modes of a run may take; those not entered for long are made again when they return.
    pub mode_bytes: usize,
    /// Look at the start whether another mode fits too, and warn: it costs the modes that are looked at.
    pub tell_choices: bool,
    /// Keep a record of every candidate tried, for `--trace-events`.
    pub trace: bool,
    /// Measure what every part of the equations costs, for `--profile`.
    pub profile: bool,
    /// From so many conditions on, changes of mode that can stay local do. Of fewer conditions there are few modes, which are
    /// analysed as a whole and kept.
    pub local_from: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            start: 0.0,
            stop: 1.0,
            interval: 0.002,
            tolerance: 1e-6,
            absolute_tolerance: 1e-9,
            method: Method::Auto,
            restart: RestartMethod::Structural,
            verify_restarts: false,
            redundant: Redundant::Share,
            chattering: Chattering::Stop,
            zeno: Zeno::Stop,
            all_instants: false,
            instant_limit: 100,
            event_limit: 10_000_000,
            step_limit: 1_000_000_000,
            candidate_limit: 1024,
            chatter_limit: 200,
            mode_bytes: 64 << 20,
            tell_choices: true,
            trace: false,
            profile: false,
            local_from: 24,
        }
    }
}
