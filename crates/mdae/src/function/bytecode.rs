//! The instructions of user functions.

use std::sync::{Arc, OnceLock};

use crate::expr::{BinaryOp, UnaryOp};
use crate::index::FunctionId;
use crate::table::Table;
use crate::text::{TextOperation, Texts};

/// A register of a frame: first the scalars of all local variables, then temporaries.
pub(crate) type Register = u32;
/// A position in the code.
pub(crate) type Label = u32;

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) enum Instruction {
    Constant {
        to: Register,
        value: f64,
    },
    Copy {
        to: Register,
        from: Register,
    },
    Unary {
        op: UnaryOp,
        to: Register,
        a: Register,
    },
    Binary {
        op: BinaryOp,
        to: Register,
        a: Register,
        b: Register,
    },
    /// The same with Integers: the result must be exact.
    Whole {
        op: BinaryOp,
        to: Register,
        a: Register,
        b: Register,
    },
    /// Reads an element whose index is computed.
    Load {
        to: Register,
        access: u32,
    },
    /// Writes an element whose index is computed.
    Store {
        access: u32,
        from: Register,
    },
    /// Gives an array of open size its sizes.
    Allocate {
        array: u32,
        sizes: Vec<Register>,
    },
    /// Reads an element of an array of open size.
    LoadOpen {
        to: Register,
        access: u32,
    },
    /// Writes an element of an array of open size.
    StoreOpen {
        access: u32,
        from: Register,
    },
    Jump(Label),
    JumpIfZero(Register, Label),
    /// Counts a statement, and how much work its expressions are.
    Spend {
        work: u32,
    },
    /// `loop_registers` are the count, the number of turns so far, the first value and the step.
    ForStart {
        loop_registers: Register,
        to: Register,
    },
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
    Return,
}

/// An element with computed indices.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) array: Arc<str>,
    /// The first register of the array, or the number of the array if its size is open.
    pub(crate) base: u32,
    /// Index register and size of each dimension; the size counts only where it is fixed.
    pub(crate) indices: Vec<(Register, u32)>,
}

/// What a function does.
#[derive(Clone, Debug)]
pub(crate) enum Program {
    Algorithm(Vec<Instruction>),
    Table(Arc<Table>),
    Text(TextOperation),
}

/// A function as bytecode.
#[derive(Clone, Debug)]
pub struct Code {
    pub(crate) name: Arc<str>,
    pub(crate) texts: Arc<Texts>,
    pub(crate) program: Program,
    pub(crate) accesses: Vec<Access>,
    pub(crate) registers: u32,
    /// Names of the arrays of open size.
    pub(crate) open_arrays: Vec<Arc<str>>,
    /// Registers of the scalar inputs in order.
    pub(crate) inputs: Vec<Register>,
    /// Registers of the scalar outputs in order.
    pub(crate) outputs: Vec<Register>,
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
            Program::Table(_) | Program::Text(_) => false,
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
