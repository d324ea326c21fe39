//! Which calls the standard allows when.

use std::fmt;

/// The version of the standard.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// FMI 2.0.
    Two,
    /// FMI 3.0.
    Three,
}

/// Who integrates.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interface {
    /// The importer.
    ModelExchange,
    /// The unit itself.
    CoSimulation,
}

/// Where an instance is in its life.
#[derive(Copy, Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum State {
    /// Made, and nothing computed.
    Instantiated,
    /// Parameters that give sizes get their values.
    Configuration,
    /// Values at the start are looked for.
    Initialization,
    /// At an event.
    Event,
    /// Between events, integrated by the importer.
    ContinuousTime,
    /// Between communication points.
    Step,
    /// Ended by the importer.
    Terminated,
    /// Ended by a failure.
    Failed,
}

/// What may be called.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "these are the names of the standard")]
pub enum Call {
    EnterConfigurationMode,
    ExitConfigurationMode,
    EnterInitializationMode,
    ExitInitializationMode,
    EnterEventMode,
    UpdateDiscreteStates,
    EnterContinuousTimeMode,
    EnterStepMode,
    CompletedIntegratorStep,
    SetTime,
    SetContinuousStates,
    GetDerivatives,
    GetContinuousStates,
    DoStep,
    GetOutputDerivatives,
    SetInputDerivatives,
    GetVariable,
    GetClock,
    SetVariable,
    GetDirectionalDerivative,
    FmuState,
    Terminate,
}

impl State {
    /// Whether a call is allowed.
    pub fn allows(self, call: Call, interface: Interface, version: Version) -> bool {
        use State::{Configuration, ContinuousTime, Event, Failed, Initialization, Instantiated, Step, Terminated};
        let exchange = interface == Interface::ModelExchange;
        match call {
            Call::EnterConfigurationMode => self == Instantiated && version == Version::Three,
            Call::ExitConfigurationMode => self == Configuration,
            Call::EnterInitializationMode => self == Instantiated,
            Call::ExitInitializationMode => self == Initialization,
            Call::EnterEventMode => match interface {
                Interface::ModelExchange => self == ContinuousTime,
                Interface::CoSimulation => self == Step && version == Version::Three,
            },
            Call::UpdateDiscreteStates => self == Event,
            Call::EnterContinuousTimeMode => self == Event && exchange,
            Call::EnterStepMode => self == Event && !exchange,
            Call::CompletedIntegratorStep | Call::SetContinuousStates => self == ContinuousTime,
            Call::SetTime => self == ContinuousTime || (self == Event && exchange && version == Version::Two),
            Call::GetDerivatives | Call::GetContinuousStates => {
                exchange && matches!(self, Initialization | Event | ContinuousTime | Terminated)
            }
            Call::DoStep => self == Step && !exchange,
            Call::GetOutputDerivatives => !exchange && matches!(self, Step | Event | Terminated),
            Call::SetInputDerivatives => {
                !exchange && version == Version::Two && matches!(self, Instantiated | Initialization | Step)
            }
            Call::GetVariable => self != Failed,
            Call::GetClock => self == Event,
            Call::SetVariable => !matches!(self, Terminated | Failed),
            Call::GetDirectionalDerivative => matches!(self, Initialization | Event | ContinuousTime | Step),
            // A failed instance can be set back to what it was before.
            Call::FmuState => true,
            Call::Terminate => matches!(self, Event | ContinuousTime | Step),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Instantiated => "instantiated and not yet initialized",
            State::Configuration => "in Configuration Mode",
            State::Initialization => "in Initialization Mode",
            State::Event => "in Event Mode",
            State::ContinuousTime => "in Continuous-Time Mode",
            State::Step => "in Step Mode",
            State::Terminated => "terminated",
            State::Failed => "failed: it can be reset, set to a saved state, or freed",
        })
    }
}
