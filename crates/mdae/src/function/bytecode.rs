//! The instructions of user functions.

use std::sync::{Arc, OnceLock};

use saltus_routines::RoutineCall;

use super::foreign::ForeignCall;
use crate::expr::{BinaryFunction, UnaryFunction};
use crate::index::FunctionId;
use crate::table::Table;
use crate::text::{TextOperation, Texts};

/// A register of a frame: first the scalars of all local variables, then temporaries.
pub type Register = u32;
/// A position in the code.
pub type Label = u32;

/// One instruction. Registers are named by what they are to it: `to` is written, the others are read.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Instruction {
    /// A number.
    Constant { to: Register, value: f64 },
    /// The same number in another register.
    Copy { to: Register, from: Register },
    /// A one-argument operation.
    Unary {
        op: UnaryFunction,
        to: Register,
        a: Register,
    },
    /// A two-argument operation.
    Binary {
        op: BinaryFunction,
        to: Register,
        a: Register,
        b: Register,
    },
    /// The same with Integers: the result must be exact.
    Whole {
        op: BinaryFunction,
        to: Register,
        a: Register,
        b: Register,
    },
    /// `a` where the condition is not zero, else `b`.
    Select {
        to: Register,
        condition: Register,
        a: Register,
        b: Register,
    },
    /// slope·tangent; zero where the tangent is, even if the slope is infinite there.
    Along {
        to: Register,
        slope: Register,
        tangent: Register,
    },
    /// Reads an element whose index is computed.
    Load { to: Register, access: u32 },
    /// Writes an element whose index is computed.
    Store { access: u32, from: Register },
    /// Gives an array of open size its sizes.
    Allocate { array: u32, sizes: Vec<Register> },
    /// Reads an element of an array of open size.
    LoadOpen { to: Register, access: u32 },
    /// Writes an element of an array of open size.
    StoreOpen { access: u32, from: Register },
    /// Goes on elsewhere.
    Jump(Label),
    /// Goes on elsewhere if a number is zero.
    JumpIfZero(Register, Label),
    /// Counts a statement, and how much work its expressions are.
    Spend { work: u32 },
    /// `loop_registers` are the count, the number of turns so far, the first value and the step.
    ForStart { loop_registers: Register, to: Register },
    /// The next turn of a loop, or its end.
    ForNext {
        loop_registers: Register,
        counter: Register,
        exit: Label,
    },
    /// The first `used` results go to consecutive registers.
    Call {
        function: FunctionId,
        args: Vec<Register>,
        results: Register,
        used: u32,
    },
    /// Fails with the text of this number.
    Fail(Register),
    /// Ends the function.
    Return,
}

/// An element with computed indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The name of the array.
    pub array: Arc<str>,
    /// The first register of the array, or the number of the array if its size is open.
    pub base: u32,
    /// Index register and size of each dimension; the size counts only where it is fixed.
    pub indices: Vec<(Register, u32)>,
}

impl Access {
    /// The registers of the array, if its size is fixed.
    pub fn registers(&self) -> std::ops::Range<Register> {
        self.base..self.base + self.indices.iter().map(|&(_, size)| size).product::<u32>()
    }
}

/// What a function does.
#[derive(Clone, Debug)]
pub enum Program {
    /// Instructions; the first is executed first.
    Algorithm(Vec<Instruction>),
    /// Interpolation.
    Table(Arc<Table>),
    /// Interpolation with derivatives along `lanes` directions: the arguments, then for each lane the derivatives of the
    /// arguments in `varying`. The results are the value and its derivative along each lane.
    TableTangents {
        /// The table.
        table: Arc<Table>,
        /// Positions of the arguments that vary.
        varying: Vec<u32>,
        /// The number of directions.
        lanes: u32,
    },
    /// An operation on texts.
    Text(TextOperation),
    /// A call of foreign code.
    Foreign(Arc<ForeignCall>),
    /// The same with derivatives along `lanes` directions, see [`Program::TableTangents`].
    ForeignTangents {
        /// The call.
        call: Arc<ForeignCall>,
        /// Positions of the arguments that vary.
        varying: Vec<u32>,
        /// The number of directions.
        lanes: u32,
    },
    /// A foreign function.
    Routine(Arc<RoutineCall>),
}

/// A function as bytecode.
#[derive(Clone, Debug)]
pub struct Code {
    /// The name of the function.
    pub name: Arc<str>,
    pub(crate) texts: Arc<Texts>,
    /// What it does.
    pub program: Program,
    /// Elements with computed indices.
    pub accesses: Vec<Access>,
    /// The number of registers.
    pub registers: u32,
    /// Names of the arrays of open size.
    pub open_arrays: Vec<Arc<str>>,
    /// Registers of the scalar inputs in order.
    pub inputs: Vec<Register>,
    /// Registers of the scalar outputs in order.
    pub outputs: Vec<Register>,
}

/// Code of fewer instructions is executed faster than its results are looked up.
const LONG: usize = 32;

impl Code {
    /// Whether it takes longer to execute than to find out that it has been executed with the same arguments.
    pub fn is_long(&self) -> bool {
        let repeats = |instruction: &Instruction| {
            matches!(
                instruction,
                Instruction::ForNext { .. } | Instruction::Call { .. } | Instruction::Jump(_)
            )
        };
        match &self.program {
            Program::Table(_) | Program::TableTangents { .. } | Program::Text(_) => false,
            Program::Foreign(_) | Program::ForeignTangents { .. } | Program::Routine(_) => true,
            Program::Algorithm(instructions) => instructions.len() >= LONG || instructions.iter().any(repeats),
        }
    }
}

/// The bytecode of a function, made at its first call. A copy of a function has none yet, and what has been made from
/// equal functions is equal.
#[derive(Default)]
pub struct Compiled(OnceLock<Code>);

impl Compiled {
    pub(super) fn get_or_make(&self, make: impl FnOnce() -> Code) -> &Code {
        self.0.get_or_init(make)
    }
}

impl Clone for Compiled {
    fn clone(&self) -> Self {
        Compiled::default()
    }
}

impl PartialEq for Compiled {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.get().is_some() { "made" } else { "not made yet" })
    }
}
