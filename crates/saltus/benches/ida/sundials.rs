//! SUNDIALS IDA through its C interface (version 6, double precision, 64-bit indices).
#![allow(unsafe_code)]

use std::ffi::{c_int, c_long, c_void};

use crate::clock;
use crate::problems::{ByHand, Problem};
use crate::{LONGEST, Repetitions, Sample, error};

type Context = *mut c_void;
type Vector = *mut c_void;
type Matrix = *mut c_void;
type Memory = *mut c_void;
type ResidualFunction = extern "C" fn(f64, Vector, Vector, Vector, *mut c_void) -> c_int;
type JacobianFunction =
    extern "C" fn(f64, f64, Vector, Vector, Vector, Matrix, *mut c_void, Vector, Vector, Vector) -> c_int;

const CSC: c_int = 0;
const NORMAL: c_int = 1;
const NOT_GIVEN: *mut c_void = std::ptr::null_mut();

#[link(name = "sundials_ida")]
#[link(name = "sundials_nvecserial")]
#[link(name = "sundials_sunmatrixdense")]
#[link(name = "sundials_sunmatrixsparse")]
#[link(name = "sundials_sunlinsoldense")]
#[link(name = "sundials_sunlinsolklu")]
unsafe extern "C" {
    fn SUNContext_Create(communicator: *mut c_void, context: *mut Context) -> c_int;
    fn SUNContext_Free(context: *mut Context) -> c_int;
    fn N_VNew_Serial(length: i64, context: Context) -> Vector;
    fn N_VGetArrayPointer_Serial(vector: Vector) -> *mut f64;
    fn N_VDestroy_Serial(vector: Vector);
    fn SUNDenseMatrix(rows: i64, columns: i64, context: Context) -> Matrix;
    fn SUNDenseMatrix_Data(matrix: Matrix) -> *mut f64;
    fn SUNSparseMatrix(rows: i64, columns: i64, entries: i64, kind: c_int, context: Context) -> Matrix;
    fn SUNSparseMatrix_Data(matrix: Matrix) -> *mut f64;
    fn SUNSparseMatrix_IndexValues(matrix: Matrix) -> *mut i64;
    fn SUNSparseMatrix_IndexPointers(matrix: Matrix) -> *mut i64;
    fn SUNLinSol_Dense(vector: Vector, matrix: Matrix, context: Context) -> *mut c_void;
    fn SUNLinSol_KLU(vector: Vector, matrix: Matrix, context: Context) -> *mut c_void;
    fn IDACreate(context: Context) -> Memory;
    fn IDAInit(memory: Memory, residual: ResidualFunction, t: f64, y: Vector, dy: Vector) -> c_int;
    fn IDASVtolerances(memory: Memory, relative: f64, absolute: Vector) -> c_int;
    fn IDASetUserData(memory: Memory, data: *mut c_void) -> c_int;
    fn IDASetLinearSolver(memory: Memory, solver: *mut c_void, matrix: Matrix) -> c_int;
    fn IDASetJacFn(memory: Memory, jacobian: JacobianFunction) -> c_int;
    fn IDASetMaxNumSteps(memory: Memory, steps: c_long) -> c_int;
    fn IDASetId(memory: Memory, differential: Vector) -> c_int;
    fn IDASetStopTime(memory: Memory, stop: f64) -> c_int;
    fn IDASolve(memory: Memory, output: f64, reached: *mut f64, y: Vector, dy: Vector, task: c_int) -> c_int;
    fn IDAFree(memory: *mut Memory);
    fn SUNLinSolFree(solver: *mut c_void) -> c_int;
    fn SUNMatDestroy(matrix: Matrix);
}

/// The numbers of a serial vector. Its data live as long as the vector, and IDA does not alias the vectors it hands to
/// its functions.
unsafe fn numbers<'a>(vector: Vector, n: usize) -> &'a mut [f64] {
    unsafe { std::slice::from_raw_parts_mut(N_VGetArrayPointer_Serial(vector), n) }
}

extern "C" fn residual(t: f64, y: Vector, dy: Vector, r: Vector, data: *mut c_void) -> c_int {
    // The data are the `ByHand` given to `IDASetUserData`, which outlives the solver.
    unsafe {
        let own = &*data.cast::<ByHand>();
        let n = own.y.len();
        (own.residual)(t, numbers(y, n), numbers(dy, n), numbers(r, n));
    }
    0
}

extern "C" fn jacobian(
    t: f64,
    cj: f64,
    y: Vector,
    _dy: Vector,
    _r: Vector,
    matrix: Matrix,
    data: *mut c_void,
    _: Vector,
    _: Vector,
    _: Vector,
) -> c_int {
    unsafe {
        let own = &*data.cast::<ByHand>();
        let n = own.y.len();
        match &own.pattern {
            None => {
                let values = std::slice::from_raw_parts_mut(SUNDenseMatrix_Data(matrix), n * n);
                (own.jacobian)(t, cj, numbers(y, n), values);
            }
            Some((starts, rows)) => {
                let values = std::slice::from_raw_parts_mut(SUNSparseMatrix_Data(matrix), rows.len());
                (own.jacobian)(t, cj, numbers(y, n), values);
                std::slice::from_raw_parts_mut(SUNSparseMatrix_IndexValues(matrix), rows.len()).copy_from_slice(rows);
                std::slice::from_raw_parts_mut(SUNSparseMatrix_IndexPointers(matrix), n + 1).copy_from_slice(starts);
            }
        }
    }
    0
}

/// One run; the values compared and the seconds of the integration.
fn run(problem: &Problem, tolerance: f64) -> Option<(Vec<f64>, f64)> {
    let own = &problem.by_hand;
    let n = own.y.len();
    let size = n as i64;
    // All objects are made, used and freed here; every status is looked at where it can be other than success.
    unsafe {
        let mut context: Context = std::ptr::null_mut();
        SUNContext_Create(NOT_GIVEN, &mut context);
        let [y, dy, absolute, differential] = [0; 4].map(|_| N_VNew_Serial(size, context));
        numbers(y, n).copy_from_slice(&own.y);
        numbers(dy, n).copy_from_slice(&own.dy);
        for (a, nominal) in numbers(absolute, n).iter_mut().zip(&own.nominal) {
            *a = 1e-3 * tolerance * nominal;
        }
        for (d, &is) in numbers(differential, n).iter_mut().zip(&own.differential) {
            *d = f64::from(u8::from(is));
        }
        let mut memory = IDACreate(context);
        IDAInit(memory, residual, 0.0, y, dy);
        IDASVtolerances(memory, tolerance, absolute);
        IDASetUserData(memory, std::ptr::from_ref(own).cast_mut().cast());
        let (matrix, solver) = match &own.pattern {
            None => {
                let matrix = SUNDenseMatrix(size, size, context);
                (matrix, SUNLinSol_Dense(y, matrix, context))
            }
            Some((_, rows)) => {
                let matrix = SUNSparseMatrix(size, size, rows.len() as i64, CSC, context);
                (matrix, SUNLinSol_KLU(y, matrix, context))
            }
        };
        IDASetLinearSolver(memory, solver, matrix);
        IDASetJacFn(memory, jacobian);
        IDASetMaxNumSteps(memory, 200_000);
        IDASetId(memory, differential);
        IDASetStopTime(memory, problem.end);
        let begin = clock::seconds();
        let mut reached = 0.0;
        let status = IDASolve(memory, problem.end, &mut reached, y, dy, NORMAL);
        let seconds = clock::seconds() - begin;
        let found = own.outputs.iter().map(|&at| numbers(y, n)[at]).collect();
        IDAFree(&mut memory);
        SUNLinSolFree(solver);
        SUNMatDestroy(matrix);
        for vector in [y, dy, absolute, differential] {
            N_VDestroy_Serial(vector);
        }
        SUNContext_Free(&mut context);
        (status >= 0).then_some((found, seconds))
    }
}

/// The best of several runs at each tolerance.
pub fn samples(problem: &Problem, tolerances: &[f64]) -> Vec<Sample> {
    let mut samples = Vec::new();
    for &tolerance in tolerances {
        let Some((found, mut seconds)) = run(problem, tolerance) else {
            break;
        };
        let mut repetitions = Repetitions::default();
        while repetitions.another() {
            if let Some((_, again)) = run(problem, tolerance) {
                seconds = seconds.min(again);
            }
        }
        samples.push(Sample {
            tolerance,
            error: error(&found, &problem.expected, &problem.sizes),
            seconds,
        });
        if seconds > LONGEST {
            break;
        }
    }
    samples
}
