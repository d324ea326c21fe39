//! Calls of foreign functions that are done natively (crate `routines`): at once where all arguments are known, otherwise as
//! calls of functions of the flat model.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_routines::matrix_file::{self, Separated};
use saltus_routines::{Argument, Buffer, Callee as Called, ExternalObject, Failure as Refusal, Routine, RoutineCall};
use saltus_source::Span;
use saltus_syntax::ast::{Expr, ExprKind, External, Name};

use super::Signature;
use super::frame::{Frame, FrameVar};
use crate::codes;
use crate::expr::{Context, Mode};
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::{
    FlatExpr, FlatFunction, FunctionBody, FunctionCall, FunctionId, IndexVec, Local, ProvenanceKind, ScalarType,
};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::Scope;
use crate::tensor::{Elem, Tensor, Ty, is_unset};

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callee {
    Routine(Routine),
    /// What reads files.
    File(FileRoutine),
}

/// Functions that read files. They need the names of files to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileRoutine {
    FullPathName,
    Kind,
    CountLines,
    ReadLine,
    ReadFile,
    MatrixSizes,
    RealMatrix,
}

/// A foreign function that is a function of the model already.
#[derive(Debug)]
pub(super) struct KnownRoutine {
    call: Arc<RoutineCall>,
    types: Vec<ScalarType>,
    function: FunctionId,
}

/// An argument of the call in C or FORTRAN.
pub(super) struct Passed {
    pub(super) value: Tensor,
    /// The output that it is.
    pub(super) output: Option<usize>,
    /// Whether it is the value that the function returns.
    pub(super) returned: bool,
    /// Whether it is the size of an array.
    pub(super) is_size: bool,
    /// Whether it is the time of the call, which is not passed on.
    pub(super) moment: bool,
    /// Where each number of the buffer stands in the value.
    order: Vec<usize>,
}

/// How arguments are passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Convention {
    /// Matrices lie by columns.
    pub(super) by_columns: bool,
    /// Where no call is written, arrays are followed by their sizes (12.9.3).
    pub(super) with_sizes: bool,
}

impl Callee {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let file = match name {
            "ModelicaInternal_fullPathName" => FileRoutine::FullPathName,
            "ModelicaInternal_stat" => FileRoutine::Kind,
            "ModelicaInternal_countLines" => FileRoutine::CountLines,
            "ModelicaInternal_readLine" => FileRoutine::ReadLine,
            "ModelicaInternal_readFile" => FileRoutine::ReadFile,
            "ModelicaIO_readMatrixSizes" => FileRoutine::MatrixSizes,
            "ModelicaIO_readRealMatrix" => FileRoutine::RealMatrix,
            _ => return Routine::from_name(name).map(Callee::Routine),
        };
        Some(Callee::File(file))
    }
}

impl Flattener<'_> {
    /// All results of a foreign function.
    pub(super) fn call_routine(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        (callee, clause): (Callee, &External),
        bound: &[Tensor],
        (span, ctx): (Span, &Context<'_>),
    ) -> Fallible<Vec<Tensor>> {
        // Names of files are known before the run, or nothing is read.
        let decided = match callee {
            Callee::File(_) => self.decide_arguments(bound, span, ctx),
            Callee::Routine(_) => None,
        };
        let bound = decided.as_deref().unwrap_or(bound);
        let frame = self.routine_frame(class, signature, bound, ctx)?;
        let by_columns = clause.language.as_ref().is_some_and(|l| l.value.starts_with("FORTRAN"));
        let convention = Convention {
            by_columns,
            with_sizes: false,
        };
        let passed = self.passed(class, signature, clause, &frame, convention, ctx)?;
        // What a routine works in need not have a value.
        let known = passed.iter().all(|argument| {
            let value = &argument.value;
            argument.output.is_some() || value.is_known() || value.scalars().iter().all(is_unset)
        });
        let inputs_known = bound.iter().all(Tensor::is_known);
        if known && inputs_known {
            let mut buffers: Vec<Buffer> = passed.iter().filter_map(Passed::buffer).collect();
            if buffers.len() == passed.len() {
                self.carry_out(callee, &mut buffers)
                    .map_err(|why| routine_failure(&why, span))?;
                return self.known_results(signature, &frame, &passed, buffers, span);
            }
        }
        match callee {
            Callee::Routine(routine) if ctx.mode != Mode::Evaluate => {
                let objects = passed.iter().map(|_| None).collect();
                self.routine_results(signature, &frame, &passed, (Called::Routine(routine), objects), span)
            }
            _ => fail(
                codes::E0304,
                span,
                "the arguments of this call must be known before the simulation",
            ),
        }
    }

    /// The variables of the function with the values of their declarations. These may refer to ones that come later.
    pub(super) fn routine_frame(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        ctx: &Context<'_>,
    ) -> Fallible<RefCell<Frame>> {
        let mut frame = Frame::default();
        for (formal, value) in signature.inputs.iter().zip(bound) {
            frame.set(formal.name.clone(), FrameVar::Value(value.clone()));
        }
        let frame = RefCell::new(frame);
        let mode = if bound.iter().all(Tensor::is_known) {
            Mode::Evaluate
        } else {
            ctx.mode
        };
        let inner = Context {
            frame: Some(&frame),
            ..Context::new(Scope { class, instance: None }, mode)
        };
        let mut waiting = Vec::with_capacity(signature.locals.len());
        for formal in &signature.locals {
            // External objects have no value before they are made.
            if !self.is_external_object(formal.class)? {
                waiting.push(formal);
            }
        }
        while !waiting.is_empty() {
            let mut later = Vec::new();
            let mut failure = None;
            for &formal in &waiting {
                match self.initial_value(class, formal, &inner) {
                    Ok(value) => {
                        self.hold_variable(value.elems.len(), formal.span)?;
                        frame.borrow_mut().set(formal.name.clone(), FrameVar::Value(value));
                    }
                    Err(why) => {
                        failure.get_or_insert(why);
                        later.push(formal);
                    }
                }
            }
            if let Some(failure) = failure.filter(|_| later.len() == waiting.len()) {
                return Err(failure);
            }
            waiting = later;
        }
        Ok(frame)
    }

    /// The arguments of the call in the clause, the value it returns as the last.
    pub(super) fn passed(
        &mut self,
        class: ClassId,
        signature: &Signature,
        clause: &External,
        frame: &RefCell<Frame>,
        Convention { by_columns, with_sizes }: Convention,
        ctx: &Context<'_>,
    ) -> Fallible<Vec<Passed>> {
        let own = |name: &Name| frame.borrow().value(name).cloned();
        let output = |name: &Name| signature.outputs.iter().position(|formal| formal.name == *name);
        let inner = Context {
            frame: Some(frame),
            ..Context::new(Scope { class, instance: None }, ctx.mode)
        };
        let mut passed = Vec::new();
        let Some(call) = &clause.call else {
            // Without a written call: the inputs in order, and one output that is returned.
            let names = signature
                .inputs
                .iter()
                .chain(&signature.outputs)
                .map(|formal| &formal.name);
            let returns = with_sizes && matches!(&signature.outputs[..], [output] if output.rank == 0);
            for name in names {
                let Some(value) = own(name) else { continue };
                let sizes: Vec<u32> = value.dims.iter().copied().filter(|_| with_sizes).collect();
                let mut argument = Passed::new(value, output(name), by_columns);
                argument.returned = returns && argument.output.is_some();
                passed.push(argument);
                passed.extend(sizes.into_iter().map(|size| Passed {
                    is_size: true,
                    ..Passed::new(Tensor::integer(i64::from(size)), None, by_columns)
                }));
            }
            return Ok(passed);
        };
        let simple = |argument: &Expr| match &argument.kind {
            ExprKind::Reference(reference) => reference.as_simple_name().cloned(),
            _ => None,
        };
        for argument in &call.arguments {
            let name = simple(argument);
            let (value, place) = match name
                .as_ref()
                .and_then(|name| own(name).map(|value| (value, output(name))))
            {
                Some(known) => known,
                None => (self.expr(argument, &inner)?, None),
            };
            passed.push(Passed {
                is_size: is_size(argument),
                ..Passed::new(value, place, by_columns)
            });
        }
        let result = call.result.as_ref().and_then(|reference| reference.as_simple_name());
        if let Some(name) = result
            && let Some(value) = own(name)
        {
            passed.push(Passed {
                returned: true,
                ..Passed::new(value, output(name), by_columns)
            });
        }
        Ok(passed)
    }

    fn carry_out(&mut self, callee: Callee, buffers: &mut [Buffer]) -> Result<(), Refusal> {
        match callee {
            Callee::Routine(routine) => routine.call(buffers),
            Callee::File(routine) => self.read_file(routine, buffers),
        }
    }

    /// Outputs from what is in the buffers.
    pub(super) fn known_results(
        &mut self,
        signature: &Rc<Signature>,
        frame: &RefCell<Frame>,
        passed: &[Passed],
        buffers: Vec<Buffer>,
        span: Span,
    ) -> Fallible<Vec<Tensor>> {
        let mut results = Vec::with_capacity(signature.outputs.len());
        for (number, output) in signature.outputs.iter().enumerate() {
            let ty = self.class_type(output.class)?;
            let written = passed
                .iter()
                .zip(&buffers)
                .find(|(argument, _)| argument.output == Some(number));
            let declared = frame.borrow().value(&output.name).cloned();
            let Some((argument, buffer)) = written else {
                results.push(declared.ok_or(Failure::Reported)?);
                continue;
            };
            if let (Ty::Record(_), Buffer::Numbers(numbers)) = (ty, buffer) {
                let mut numbers = numbers.iter();
                results.push(filled(&argument.value, &mut |ty| {
                    literal(ty, numbers.next().copied().unwrap_or(0.0), span)
                })?);
                continue;
            }
            let exprs: Vec<FlatExpr> = match buffer {
                Buffer::Address(_) => return Err(Failure::Reported),
                Buffer::Text(text) => vec![FlatExpr::String(Arc::clone(text))],
                Buffer::Texts(texts) => texts.iter().map(|text| FlatExpr::String(Arc::clone(text))).collect(),
                Buffer::Numbers(numbers) => {
                    let mut exprs = vec![FlatExpr::Real(0.0); numbers.len()];
                    for (&place, &number) in argument.order.iter().zip(numbers) {
                        exprs[place] = literal(ty, number, span)?;
                    }
                    exprs
                }
            };
            results.push(Tensor::array(ty, argument.value.dims.clone(), exprs));
        }
        Ok(results)
    }

    /// Outputs as calls of a function of the flat model.
    pub(super) fn routine_results(
        &mut self,
        signature: &Rc<Signature>,
        frame: &RefCell<Frame>,
        passed: &[Passed],
        (callee, objects): (Called, Vec<Option<Arc<ExternalObject>>>),
        span: Span,
    ) -> Fallible<Vec<Tensor>> {
        let mut arguments = Vec::with_capacity(passed.len());
        let mut numbers: Vec<FlatExpr> = Vec::new();
        let mut types = Vec::with_capacity(passed.len());
        for (argument, object) in passed.iter().zip(objects) {
            if let Some(object) = object {
                arguments.push(Argument::Object(object));
                continue;
            }
            if argument.output.is_none() {
                match argument.buffer() {
                    Some(Buffer::Text(text)) => {
                        arguments.push(Argument::Text(text));
                        continue;
                    }
                    Some(Buffer::Texts(texts)) => {
                        arguments.push(Argument::Texts(texts));
                        continue;
                    }
                    _ => {}
                }
            }
            let ty = match argument.value.ty {
                Ty::Record(_) => Some(ScalarType::Real),
                ty => ty.scalar().filter(|ty| *ty != ScalarType::String),
            };
            let Some(ty) = ty else {
                return fail(
                    codes::E0304,
                    span,
                    "the texts of this call must be known before the simulation",
                );
            };
            let scalars = argument.value.scalars();
            numbers.extend(argument.order.iter().map(|&place| match &scalars[place] {
                expr if is_unset(expr) => FlatExpr::Real(0.0),
                expr => expr.clone(),
            }));
            types.push(ty);
            arguments.push(Argument::Numbers {
                size: argument.order.len() as u32,
                written: argument.output.is_some(),
            });
        }
        let function = self.routine_function(RoutineCall { callee, arguments }, types, span);
        let numbers: Arc<[FlatExpr]> = numbers.into();
        let mut next = 0u32;
        let mut results: Vec<Option<Tensor>> = vec![None; signature.outputs.len()];
        for argument in passed {
            let Some(output) = argument.output else { continue };
            let ty = self.class_type(signature.outputs[output].class)?;
            let mut exprs = vec![FlatExpr::Real(0.0); argument.order.len()];
            for &place in &argument.order {
                exprs[place] = FlatExpr::Call(Box::new(FunctionCall {
                    function,
                    output: next,
                    arguments: Arc::clone(&numbers),
                    partials: Vec::new(),
                    span,
                }));
                next += 1;
            }
            results[output] = Some(match ty {
                Ty::Record(_) => {
                    let mut exprs = exprs.into_iter();
                    filled(&argument.value, &mut |_| exprs.next().ok_or(Failure::Reported))?
                }
                _ => Tensor::array(ty, argument.value.dims.clone(), exprs),
            });
        }
        let outputs = signature.outputs.iter().zip(results);
        outputs
            .map(|(formal, result)| result.or_else(|| frame.borrow().value(&formal.name).cloned()))
            .collect::<Option<_>>()
            .ok_or(Failure::Reported)
    }

    /// The function of the model that makes a call; equal ones are one.
    fn routine_function(&mut self, call: RoutineCall, types: Vec<ScalarType>, span: Span) -> FunctionId {
        let known = self.functions.routines.iter();
        if let Some(known) = known
            .into_iter()
            .find(|known| *known.call == call && known.types == types)
        {
            return known.function;
        }
        let provenance = self.add_provenance(span, &"".into(), ProvenanceKind::Function);
        let mut locals = IndexVec::new();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let sizes = call.arguments.iter().filter_map(|argument| match argument {
            Argument::Numbers { size, written } => Some((*size, *written)),
            Argument::Text(_) | Argument::Texts(_) | Argument::Object(_) => None,
        });
        let list: Vec<(u32, bool)> = sizes.collect();
        for (number, (&(size, _), &ty)) in list.iter().zip(&types).enumerate() {
            inputs.push(locals.push(Local::new(format!("argument{}", number + 1), ty, vec![size])));
        }
        for (number, (&(size, written), &ty)) in list.iter().zip(&types).enumerate() {
            if written {
                outputs.push(locals.push(Local::new(format!("result{}", number + 1), ty, vec![size])));
            }
        }
        let call = Arc::new(call);
        let function = self.model.functions.push(FlatFunction {
            name: call.callee.name().into(),
            locals,
            inputs,
            outputs,
            fields: Vec::new(),
            body: FunctionBody::Routine(Arc::clone(&call)),
            smooth_order: None,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            provenance,
        });
        self.functions.routines.push(KnownRoutine { call, types, function });
        function
    }

    fn read_file(&mut self, routine: FileRoutine, buffers: &mut [Buffer]) -> Result<(), Refusal> {
        let name = text(buffers, 0)?;
        let path = self
            .library
            .resource(&name)
            .ok_or_else(|| Refusal::new(format!("`{name}` names no file: there is no such library")))?;
        let content = || {
            self.library
                .read_resource(&path)
                .map_err(|why| Refusal::new(format!("cannot read `{}`: {why}", path.display())))
        };
        let last = buffers.len() - 1;
        match routine {
            FileRoutine::FullPathName => {
                buffers[last] = Buffer::Text(path.to_string_lossy().as_ref().into());
            }
            FileRoutine::Kind => {
                // The literals of Modelica.Utilities.Types.FileType: none, a file, a folder.
                let kind = match () {
                    () if self.library.is_resource_folder(&path) => 3.0,
                    () if self.library.read_resource(&path).is_ok() => 2.0,
                    () => 1.0,
                };
                buffers[last] = Buffer::Numbers(vec![kind]);
            }
            FileRoutine::CountLines => {
                let count = lines(&content()?).len();
                buffers[last] = Buffer::Numbers(vec![count as f64]);
            }
            FileRoutine::ReadLine => {
                let number = number(buffers, 1)?;
                let lines = lines(&content()?);
                let line = (number >= 1.0).then(|| lines.get(number as usize - 1)).flatten();
                buffers[2] = Buffer::Numbers(vec![f64::from(u8::from(line.is_none()))]);
                buffers[last] = Buffer::Text(line.cloned().unwrap_or_default().into());
            }
            FileRoutine::ReadFile => {
                let lines = lines(&content()?);
                let Some(Buffer::Texts(texts)) = buffers.get_mut(1) else {
                    return Err(Refusal::new("the lines of a file are texts"));
                };
                for (text, line) in texts.iter_mut().zip(lines) {
                    *text = line.into();
                }
            }
            FileRoutine::MatrixSizes => {
                let matrix = matrix_file::read(&name, &content()?, &text(buffers, 1)?, &PLAIN)?;
                buffers[2] = Buffer::Numbers(vec![matrix.rows as f64, matrix.columns as f64]);
            }
            FileRoutine::RealMatrix => {
                let matrix = matrix_file::read(&name, &content()?, &text(buffers, 1)?, &PLAIN)?;
                let wanted = (number(buffers, 3)?, number(buffers, 4)?);
                if wanted != (matrix.rows as f64, matrix.columns as f64) {
                    return Err(Refusal::new(format!(
                        "the matrix in the file has {} rows and {} columns",
                        matrix.rows, matrix.columns
                    )));
                }
                buffers[2] = Buffer::Numbers(matrix.elements);
            }
        }
        Ok(())
    }
}

/// Matrices of files that have no separators of their own.
const PLAIN: Separated = Separated {
    delimiter: ',',
    header_lines: 0,
};

fn text(buffers: &[Buffer], at: usize) -> Result<Arc<str>, Refusal> {
    match buffers.get(at) {
        Some(Buffer::Text(text)) => Ok(Arc::clone(text)),
        _ => Err(Refusal::new("a name is missing")),
    }
}

fn number(buffers: &[Buffer], at: usize) -> Result<f64, Refusal> {
    match buffers.get(at) {
        Some(Buffer::Numbers(numbers)) if !numbers.is_empty() => Ok(numbers[0]),
        _ => Err(Refusal::new("a number is missing")),
    }
}

fn lines(content: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(content).lines().map(str::to_owned).collect()
}

pub(super) fn routine_failure(why: &Refusal, span: Span) -> Failure {
    error(codes::E0309, span, why.0.clone())
        .with_help("files are read in the folders of libraries and of the files given, nowhere else")
        .into()
}

/// A number as a literal of its type.
fn literal(ty: Ty, number: f64, span: Span) -> Fallible<FlatExpr> {
    Ok(match ty {
        Ty::Integer if number.is_finite() => FlatExpr::Integer(number as i64),
        Ty::Integer => return fail(codes::E0309, span, "a foreign function yields no Integer"),
        Ty::Boolean => FlatExpr::Boolean(number != 0.0),
        Ty::Enumeration(id) => FlatExpr::Enumeration(id, (number.max(1.0)) as u32),
        _ => FlatExpr::Real(number),
    })
}

/// Whether an argument of a call is the size of an array.
fn is_size(argument: &Expr) -> bool {
    matches!(&argument.kind, ExprKind::Call(call) if call.function.as_simple_name().is_some_and(|name| name == "size"))
}

/// A value of the same shape with other scalars.
fn filled(shape: &Tensor, next: &mut dyn FnMut(Ty) -> Fallible<FlatExpr>) -> Fallible<Tensor> {
    let mut filled_in = shape.clone();
    for elem in &mut filled_in.elems {
        match elem {
            Elem::Expr(expr) => *expr = next(shape.ty)?,
            Elem::Record(fields) => {
                let mut others = Vec::with_capacity(fields.len());
                for (name, field) in fields.iter() {
                    others.push((name.clone(), filled(field, next)?));
                }
                *fields = Rc::new(others);
            }
            Elem::Function(_) | Elem::External(_) => {}
        }
    }
    Ok(filled_in)
}

impl Passed {
    pub(super) fn new(value: Tensor, output: Option<usize>, by_columns: bool) -> Self {
        let order = match (&value.dims[..], by_columns) {
            (&[rows, columns], true) => {
                let places = (0..columns).flat_map(|j| (0..rows).map(move |i| (i * columns + j) as usize));
                places.collect()
            }
            _ => (0..value.scalars().len()).collect(),
        };
        Passed {
            value,
            output,
            returned: false,
            is_size: false,
            moment: false,
            order,
        }
    }

    /// What is known of it; what has no value yet is zero, or no text.
    pub(super) fn buffer(&self) -> Option<Buffer> {
        let scalars = self.value.scalars();
        if self.value.ty == Ty::String {
            let texts = scalars.iter().map(|expr| match expr {
                FlatExpr::String(text) => Some(Arc::clone(text)),
                expr if is_unset(expr) => Some("".into()),
                _ => None,
            });
            let texts: Vec<Arc<str>> = texts.collect::<Option<_>>()?;
            return Some(match (&self.value.dims[..], texts.first()) {
                ([], Some(text)) => Buffer::Text(Arc::clone(text)),
                _ => Buffer::Texts(texts),
            });
        }
        let numbers = self.order.iter().map(|&place| match &scalars[place] {
            expr if is_unset(expr) => Some(0.0),
            expr => expr.as_number(),
        });
        Some(Buffer::Numbers(numbers.collect::<Option<_>>()?))
    }
}
