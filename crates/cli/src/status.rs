//! Exit statuses; scripts rely on them.

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done.
    Success,
    /// The model is wrong; diagnostics say where. Also: results differ.
    ModelWrong,
    /// The command line is wrong.
    Usage,
    /// The simulation failed, and results so far are on disk; or what a command has to say could not be written.
    SimulationFailed,
    /// A bug.
    Internal,
}

impl Status {
    /// The number the operating system gets.
    pub(crate) fn code(self) -> u8 {
        match self {
            Status::Success => 0,
            Status::ModelWrong => 1,
            Status::Usage => 2,
            Status::SimulationFailed => 3,
            Status::Internal => 4,
        }
    }
}
