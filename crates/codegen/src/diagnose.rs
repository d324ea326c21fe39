//! Finds out after the fact which operation produced a non-finite number.

use rustc_hash::FxHashSet;
use saltus_mdae::function::CallError;

use crate::code::{Code, call_site, with_scratch};
use crate::error::Fault;
use crate::function::Library;
use crate::scalar::{binary_name, unary_name};
use crate::spec::Leaf;
use crate::tape::{Op, Value};

/// A fault with the output it affects and the operation on the tape.
pub(crate) struct Finding {
    pub(crate) output: usize,
    pub(crate) operation: usize,
    pub(crate) fault: Fault,
}

/// Evaluates again and looks for the first fault that reaches an output: operands are followed from each non-finite
/// output as long as they are non-finite themselves; of a selection only the chosen side counts. A call that failed
/// counts wherever its result is used.
pub(crate) fn diagnose(
    code: &Code,
    library: &Library,
    leaves: &[Leaf],
    values: &[f64],
    slots: &[u32],
) -> Option<Finding> {
    with_scratch(|scratch| {
        let mut errors: Vec<Option<CallError>> = vec![None; code.tape.sites.len()];
        code.step(values, slots, scratch, |number, site, args, results| {
            errors[number] = call_site(library, site, args, results).err();
        });
        let search = Search {
            code,
            leaves,
            registers: &scratch.registers,
            errors: &errors,
        };
        search.run()
    })
}

struct Search<'a> {
    code: &'a Code,
    leaves: &'a [Leaf],
    registers: &'a [f64],
    errors: &'a [Option<CallError>],
}

impl Search<'_> {
    fn run(&self) -> Option<Finding> {
        if self.errors.iter().any(Option::is_some)
            && let Some(finding) = self.failed_call()
        {
            return Some(finding);
        }
        let outputs = self.code.tape.outputs.iter().enumerate();
        let (output, &start) = outputs.into_iter().find(|(_, value)| !self.finite(**value))?;
        let mut at = start;
        while let Some(next) = self.bad_operand(at) {
            at = next;
        }
        Some(Finding {
            output,
            operation: at.index(),
            fault: self.fault(at),
        })
    }

    fn finite(&self, value: Value) -> bool {
        self.registers[value.index()].is_finite()
    }

    /// The operands that count for the value of an operation.
    fn relevant(&self, value: Value, mut visit: impl FnMut(Value)) {
        match self.code.tape.ops[value.index()] {
            Op::Select(c, a, b) => {
                visit(c);
                visit(if self.registers[c.index()] != 0.0 { a } else { b });
            }
            op => self.code.tape.for_each_operand(op, visit),
        }
    }

    fn bad_operand(&self, value: Value) -> Option<Value> {
        let mut found = None;
        self.relevant(value, |operand| {
            let call = matches!(self.code.tape.ops[operand.index()], Op::Call(_));
            if found.is_none() && (call || !self.finite(operand)) {
                found = Some(operand);
            }
        });
        found
    }

    /// A failed call that an output depends on.
    fn failed_call(&self) -> Option<Finding> {
        for (output, &start) in self.code.tape.outputs.iter().enumerate() {
            let mut seen = FxHashSet::default();
            let mut stack = vec![start];
            while let Some(value) = stack.pop() {
                if !seen.insert(value) {
                    continue;
                }
                if let Op::Call(site) = self.code.tape.ops[value.index()]
                    && self.errors[site as usize].is_some()
                {
                    return Some(Finding {
                        output,
                        operation: value.index(),
                        fault: self.fault(value),
                    });
                }
                self.relevant(value, |operand| stack.push(operand));
            }
        }
        None
    }

    fn fault(&self, value: Value) -> Fault {
        let result = self.registers[value.index()];
        let number = |value: Value| self.registers[value.index()];
        let operation = |operation, operands: &[Value]| Fault::Operation {
            operation,
            operands: operands.iter().map(|&operand| number(operand)).collect(),
            result,
        };
        match self.code.tape.ops[value.index()] {
            Op::Leaf(leaf) => Fault::Input {
                leaf: self.leaves[leaf as usize],
                value: result,
            },
            Op::Unary(op, a) => operation(unary_name(op), &[a]),
            Op::Binary(op, a, b) => operation(binary_name(op), &[a, b]),
            Op::SinCos(a) => operation("sin", &[a]),
            Op::Cosine(a) => operation("cos", &[a]),
            Op::Call(site) => match &self.errors[site as usize] {
                Some(error) => Fault::Call(error.clone()),
                None => Fault::Operation {
                    operation: "function call",
                    operands: self.code.tape.sites[site as usize]
                        .args
                        .iter()
                        .map(|&arg| number(arg))
                        .collect(),
                    result: f64::NAN,
                },
            },
            Op::CallResult(..) => operation("the result of a function", &[]),
            Op::Constant(_) | Op::Select(..) => operation("constant", &[]),
        }
    }
}
