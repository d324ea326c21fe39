//! Modelling and simulation of multi-mode physical systems.
//!
//! A [`Session`] holds files and libraries. From it a class goes through [`Session::flatten`] and
//! [`Session::compile`] to a [`Model`], which [`Model::analyze`] explains and [`Model::run`] simulates.
//!
//! ```
//! use saltus::Session;
//!
//! let session = Session::new();
//! session.add_text("Shafts.mo", "
//!     model Shafts
//!       Real w1(start = 0, fixed = true), w2(start = 10, fixed = true), tau;
//!       parameter Real J1 = 1;
//!     equation
//!       J1*der(w1) = tau;
//!       4*der(w2) = -tau;
//!       // Free until t = 1, then rigidly connected: one state less, and momentum decides the common speed.
//!       if time < 1 then
//!         tau = 0;
//!       else
//!         w1 = w2;
//!       end if;
//!     end Shafts;
//! ");
//! let model = session.compile("Shafts").into_result().unwrap();
//! let simulation = model.run().stop(2.0).simulate().unwrap();
//! assert!((simulation.values("w1").unwrap().last().unwrap() - 8.0).abs() < 1e-9);
//!
//! // The same model with another inertia, without compiling again.
//! let simulation = model.run().stop(2.0).set("J1", "4").unwrap().simulate().unwrap();
//! assert!((simulation.values("w2").unwrap().last().unwrap() - 5.0).abs() < 1e-9);
//! ```
//!
//! What is wrong with a model comes as [`source::Diagnostics`]: data that [`source::render`] turns into text or JSON.
//! Nothing here prints.

mod about;
mod analyze;
mod built_in;
mod check;
mod class;
pub mod ensemble;
mod failure;
mod file;
mod guess;
mod model;
mod open;
mod outcome;
mod page;
mod parameters;
mod parse;
mod pictures;
mod result_error;
mod run;
mod sensitivities;
mod session;
mod sink;
mod stepper;
mod timing;
mod unit;

pub use check::Checked;
pub use failure::failure_diagnostic;
pub use file::ModelFileOptions;
pub use model::Model;
pub use outcome::{Fault, Outcome};
pub use parameters::{Parameter, ParameterValues};
pub use parse::ParsedFiles;
pub use result_error::result_diagnostic;
pub use run::{FailedRun, Run, RunSettings, RunSummary, Simulation};
pub use sensitivities::Sensitivities;
pub use session::Session;
pub use stepper::{Linear, SavedRun, Stepper};
pub use timing::{Phase, Timings};

pub use saltus_numerics::ode::Method;
pub use saltus_syntax::unit::{UnitOptions, WrittenUnit};

/// Modes and mode changes, explained: what [`Model::analyze`], [`Model::constructive`] and [`Session::analyze_class`] return.
pub mod analysis {
    pub use saltus_analysis::{
        Analysis, AnalysisOptions, ArrayReport, ArrayRow, BlockReport, ChangeFacts, ChangeKind, ChangeOutcome,
        ChangePart, ChangeReport, ClassContext, ClassReport, ConstructiveReport, ConstructiveVerdict, Coverage,
        EquationReport, ModeNumber, ModeReport, ModeShape, ModeValue, Refusal, RestartReport, UnknownReport,
    };
}

/// The flat model: what [`Session::flatten`] returns.
pub mod flat {
    pub use saltus_lang::UnitNotes;
    pub use saltus_lang::flat::{
        AssertLevel, Attributes, BinaryOp, Builtin, Causality, ConnectorMember, ConnectorRole, Counts, Enumeration,
        EnumerationId, EquationBranch, EquationKind, Experiment, FlatAlgorithm, FlatConnector, FlatEquation, FlatExpr,
        FlatFunction, FlatModel, FlatStatement, FlatVariable, FunctionBody, FunctionCall, FunctionId,
        FunctionStatement, Guess, Idx, IndexVec, Local, LocalId, Place, Provenance, ProvenanceId, ProvenanceKind,
        ScalarType, StateSelect, StatementBranch, StatementKind, UnaryOp, Variability, VariableId, WhenBranch,
    };
    pub use saltus_lang::unit::{Dimension, Unit, UnitError};
}

/// The multi-mode DAE: what [`Model::equations`] returns, and [`Builder`](mdae::Builder) to state one from Rust for
/// [`Session::compile_equations`].
pub mod mdae {
    pub use saltus_mdae::{
        Action, Alias, Assertion, BinaryFunction, Builder, Comparison, Condition, ConditionId, ConditionKind,
        Connector, DiscreteEquation, Equation, EquationId, Ex, Experiment, ExprId, ExprPool, FunctionId, Idx, IndexVec,
        Mdae, Node, Origin, OriginId, Role, Type, UnaryFunction, VarId, Variable, When, WhenBranch, WhenId,
    };
}

/// Results: in memory, in files, compared and drawn.
pub mod results {
    pub use saltus_results::{
        Agreement, AliasSign, Binding, ColumnId, CsvWriter, Discard, Disk, EventLog, EventLogWriter, EventRecord,
        Format, Formats, Impulse, InputHash, IoAction, Jump, Manifest, MatWriter, MemoryStorage, ModeRecord, ModeShape,
        ModelAxis, ModelCurve, ModelFigure, ModelPlot, Pattern, Report, ResultError, ResultSink, Role, RowKind, Schema,
        Select, Selection, Shape, ShapeValue, Sidecar, Signal, SignalId, SignalKind, SignalView, SourceSpan, Status,
        Storage, Stream, Summary, Tee, Tolerances, Trajectory, Trigger, Value, VariableReport, WriteOptions, compare,
        compare_selected, figure, read_event_log, same_file,
    };
}

/// Results as one interactive page: [`Simulation::report`], and pages of results from files and of comparisons.
pub mod report {
    pub use saltus_report::{Context, Message, PageOptions, SourceText, comparison_page, page};
}

/// A run from the inside: how to stop and follow it, and how it ended.
pub mod simulate {
    pub use saltus_simulate::{
        BlockCost, Cancel, CandidateReport, Chattering, End, EventReport, Failure, FailureKind, ImpulseReport,
        InstantReport, ModeId, MovedStarts, Observer, Options, Reached, Redundant, Refusal, RestartMethod, RunCounters,
        RunReport, Zeno,
    };
}

/// Files, places in them, and what is wrong with them.
pub mod source {
    pub use saltus_source::{
        Code, Diagnostic, Diagnostics, Edit, Explanation, FileId, Fix, Label, LineColumn, Severity, SourceFile,
        SourceMap, Span, apply_edits, codes, explain, render,
    };
}

/// Formatting: other blanks between the same tokens.
pub mod format {
    pub use saltus_syntax::format::{edits, edits_within, formatted};
    pub use saltus_syntax::{Parse, parse, parse_file};
}

/// Where classes come from: [`Session::with_files`] and [`Session::library`].
pub mod library {
    pub use crate::about::About;
    pub use crate::built_in::{DiskAndLibrary, FOLDER as BUILT_IN};
    pub use saltus_syntax::ast::split_name;
    pub use saltus_syntax::library::{
        CachedFile, FileSystem, FolderEntry, Library, LibraryClass, MemoryFiles, ParseCache, ParsedFile,
        split_path_list,
    };
    pub use saltus_syntax::unit::{SUFFIX as UNIT_SUFFIX, StoredTree};
}

/// The snippets of the guide are tests.
#[cfg(doctest)]
#[doc = include_str!("../guide.md")]
struct GuideForRustUsers;
