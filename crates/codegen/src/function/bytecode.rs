//! The instructions of user functions.

use std::sync::Arc;

use saltus_mdae::table::Table;
use saltus_mdae::text::{TextOperation, Texts};
use saltus_mdae::{BinaryOp, FunctionId, UnaryOp};

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
    Jump(Label),
    JumpIfZero(Register, Label),
    /// Counts a statement.
    Spend,
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
    pub(crate) base: Register,
    /// Index register and size of each dimension.
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
pub(crate) struct Code {
    pub(crate) name: Arc<str>,
    pub(crate) texts: Arc<Texts>,
    pub(crate) program: Program,
    pub(crate) accesses: Vec<Access>,
    pub(crate) registers: u32,
    /// Registers of the scalar inputs in order.
    pub(crate) inputs: Vec<Register>,
    /// Registers of the scalar outputs in order.
    pub(crate) outputs: Vec<Register>,
}

/// Code of fewer instructions is executed faster than its results are looked up.
const LONG: usize = 32;

impl Code {
    /// Whether it takes longer to execute than to find out that it has been executed with the same arguments.
    pub(crate) fn is_long(&self) -> bool {
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
