//! Variables of functions that may be used before they are assigned. What can be shown to be assigned costs nothing;
//! for the rest the function keeps record, element by element, and asserts it where values are used.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::function::{Body, Function, FunctionExpr, Local, LocalId, Place, Rewrite, Statement, Visit, rewrite};
use saltus_mdae::{Type, UnaryFunction};

use crate::required::{and, required};

/// Statements that are looked at before loops are no longer followed turn by turn.
const STEP_LIMIT: u32 = 20_000;

/// What is not certain to have a value.
#[derive(Debug, Default)]
pub(crate) struct Uncertain {
    /// The name of a variable that is used and never assigned at all.
    pub never: Option<Arc<str>>,
    /// Numbers of scalar outputs that may have no value: fields of records that need not be used. They are no numbers then.
    pub outputs: Vec<u32>,
}

/// Makes a function fail where it uses a value that has not been assigned.
pub(crate) fn guard_reads(function: &mut Function, fields: &FxHashSet<LocalId>) -> Uncertain {
    let Body::Algorithm(statements) = &function.body else {
        return Uncertain::default();
    };
    let mut search = Search::new(function);
    let mut state = search.start();
    if search.block(statements, &mut state) {
        search.returned(&state);
    }
    let doubtful = search.doubtful;
    if doubtful.is_empty() {
        return Uncertain::default();
    }
    let mut assigned = FxHashSet::default();
    statements.for_each_statement(&mut |statement| {
        statement.for_each_target(|place| {
            assigned.insert(place.local);
        });
    });
    let mut doubtful: Vec<LocalId> = doubtful.into_iter().collect();
    doubtful.sort_unstable();
    let is_open = |function: &Function, id: &LocalId| {
        fields.contains(id) && function.outputs.contains(id) && function.locals[id.0 as usize].ty == Type::Real
    };
    let mut unassigned = doubtful.iter().filter(|id| !assigned.contains(id));
    if let Some(never) = unassigned.find(|id| !is_open(function, id)) {
        return Uncertain {
            never: Some(function.locals[never.0 as usize].name.clone()),
            outputs: Vec::new(),
        };
    }
    let open: FxHashSet<LocalId> = doubtful.iter().copied().filter(|id| is_open(function, id)).collect();
    let outputs = scalar_numbers(function, &function.outputs, &open);
    Recorder::new(function, &doubtful, open).write();
    Uncertain { never: None, outputs }
}

/// The numbers of the scalars of some variables in a list.
pub(crate) fn scalar_numbers(function: &Function, list: &[LocalId], some: &FxHashSet<LocalId>) -> Vec<u32> {
    let mut numbers = Vec::new();
    let mut next = 0;
    for id in list {
        let size = function.locals[id.0 as usize].size() as u32;
        if some.contains(id) {
            numbers.extend(next..next + size);
        }
        next += size;
    }
    numbers
}

/// Which scalars have certainly been assigned.
type State = Vec<bool>;

/// Follows a function on all paths at once.
struct Search<'f> {
    function: &'f Function,
    offsets: Vec<usize>,
    /// Counters whose value is known.
    counters: FxHashMap<LocalId, f64>,
    doubtful: FxHashSet<LocalId>,
    /// The states at each `break`, for every loop around.
    breaks: Vec<Vec<State>>,
    steps: u32,
}

impl<'f> Search<'f> {
    fn new(function: &'f Function) -> Self {
        let mut offsets = Vec::with_capacity(function.locals.len());
        let mut total = 0;
        for local in &function.locals {
            offsets.push(total);
            total += local.size();
        }
        offsets.push(total);
        Search {
            function,
            offsets,
            counters: FxHashMap::default(),
            doubtful: FxHashSet::default(),
            breaks: Vec::new(),
            steps: STEP_LIMIT,
        }
    }

    fn range(&self, local: LocalId) -> std::ops::Range<usize> {
        let at = local.0 as usize;
        self.offsets[at]..self.offsets[at + 1]
    }

    fn start(&self) -> State {
        let mut state = vec![false; self.offsets.last().copied().unwrap_or(0)];
        for &input in &self.function.inputs {
            state[self.range(input)].fill(true);
        }
        state
    }

    /// Makes the state that behind statements; false if they never get there.
    fn block(&mut self, statements: &[Statement], state: &mut State) -> bool {
        statements.iter().all(|statement| self.statement(statement, state))
    }

    fn statement(&mut self, statement: &Statement, state: &mut State) -> bool {
        self.steps = self.steps.saturating_sub(1);
        match statement {
            Statement::Assign(..) | Statement::CallAssign { .. } | Statement::Allocate { .. } => {
                statement.for_each_expr(|expr| self.read(expr, state));
                // Whether elements of open arrays have values is looked at when they are used.
                statement.for_each_target(|place| {
                    if let Some(slot) = self.slot(place) {
                        state[slot] = true;
                    }
                });
            }
            Statement::If(branches, otherwise) => {
                let mut ends = Vec::new();
                for (condition, body) in branches {
                    self.read(condition, state);
                    ends.extend(self.branch(body, state));
                }
                ends.extend(self.branch(otherwise, state));
                return go_on(state, joined(ends));
            }
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                [from, step, to].into_iter().for_each(|bound| self.read(bound, state));
                state[self.offsets[counter.0 as usize]] = true;
                let end = self.for_loop(*counter, [from, step, to], body, state);
                return go_on(state, end);
            }
            Statement::While(condition, body) => {
                self.read(condition, state);
                self.breaks.push(Vec::new());
                self.branch(body, state);
                // Not entered, left by its condition or by a break: what was assigned before it certainly is.
                self.breaks.pop();
            }
            Statement::Break => {
                if let Some(breaks) = self.breaks.last_mut() {
                    breaks.push(state.clone());
                }
                return false;
            }
            Statement::Return => {
                self.returned(state);
                return false;
            }
            Statement::Warn(condition, _) => self.read(condition, state),
            Statement::Assert(condition, message) => {
                self.read(condition, state);
                if *condition == FunctionExpr::Constant(0.0) {
                    self.read(message, state);
                    return false;
                }
            }
        }
        true
    }

    /// The state behind statements that are executed under a condition; `None` if they never get there.
    fn branch(&mut self, statements: &[Statement], state: &State) -> Option<State> {
        let mut end = state.clone();
        self.block(statements, &mut end).then_some(end)
    }

    /// Turn by turn where the bounds are known.
    fn for_loop(
        &mut self,
        counter: LocalId,
        bounds: [&FunctionExpr; 3],
        body: &[Statement],
        start: &State,
    ) -> Option<State> {
        let known = bounds.map(|bound| self.known(bound));
        self.breaks.push(Vec::new());
        let mut end = Some(start.clone());
        let mut complete = false;
        if let [Some(from), Some(step), Some(to)] = known
            && step != 0.0
        {
            let count = ((to - from) / step + 1e-9).floor() + 1.0;
            complete = count * body.len() as f64 <= f64::from(self.steps);
            let mut turn = 0.0;
            while complete && turn < count {
                self.counters.insert(counter, from + turn * step);
                let Some(mut state) = end.take() else { break };
                end = self.block(body, &mut state).then_some(state);
                complete &= self.steps > 0;
                turn += 1.0;
            }
        }
        self.counters.remove(&counter);
        if !complete {
            self.branch(body, start);
            end = Some(start.clone());
        }
        let breaks = self.breaks.pop().unwrap_or_default();
        joined(breaks.into_iter().chain(end))
    }

    fn known(&self, expr: &FunctionExpr) -> Option<f64> {
        match expr {
            FunctionExpr::Constant(value) => Some(*value),
            FunctionExpr::Read(place) if place.indices.is_empty() => self.counters.get(&place.local).copied(),
            FunctionExpr::Unary(op, a) => Some(saltus_mdae::eval::apply_unary(*op, self.known(a)?)),
            FunctionExpr::Binary(op, a, b) => {
                Some(saltus_mdae::eval::apply_binary(*op, self.known(a)?, self.known(b)?))
            }
            _ => None,
        }
    }

    /// The scalar of a place, if its indices are known.
    fn slot(&self, place: &Place) -> Option<usize> {
        let local = &self.function.locals[place.local.0 as usize];
        let mut position = 0usize;
        for (index, &size) in place.indices.iter().zip(&local.dims) {
            let value = self.known(index)?;
            if !(value >= 1.0 && value <= f64::from(size)) {
                return None;
            }
            position = position * size as usize + (value as usize - 1);
        }
        Some(self.offsets[place.local.0 as usize] + position)
    }

    fn read(&mut self, expr: &FunctionExpr, state: &State) {
        expr.walk(&mut |part| {
            let FunctionExpr::Read(place) = part else { return };
            let assigned = match self.slot(place) {
                Some(slot) => state[slot],
                None => state[self.range(place.local)].iter().all(|&assigned| assigned),
            };
            if !assigned {
                self.doubtful.insert(place.local);
            }
        });
    }

    fn returned(&mut self, state: &State) {
        for &output in &self.function.outputs {
            if !state[self.range(output)].iter().all(|&assigned| assigned) {
                self.doubtful.insert(output);
            }
        }
    }
}

/// Takes the state at the end of several paths; false if there is none.
fn go_on(state: &mut State, end: Option<State>) -> bool {
    match end {
        Some(end) => {
            *state = end;
            true
        }
        None => false,
    }
}

/// What is certain on all of several paths; `None` if there is none.
fn joined(paths: impl IntoIterator<Item = State>) -> Option<State> {
    paths.into_iter().reduce(|mut all, path| {
        all.iter_mut().zip(path).for_each(|(a, b)| *a &= b);
        all
    })
}

/// Puts record keeping into a function.
struct Recorder<'f> {
    function: &'f mut Function,
    /// The record of each doubtful variable.
    records: Vec<(LocalId, LocalId)>,
    /// Outputs that may be left without a value.
    open: FxHashSet<LocalId>,
}

impl<'f> Recorder<'f> {
    fn new(function: &'f mut Function, doubtful: &[LocalId], open: FxHashSet<LocalId>) -> Self {
        let mut records = Vec::new();
        for &id in doubtful {
            let Local { name, dims, .. } = function.locals[id.0 as usize].clone();
            let record = LocalId(function.locals.len() as u32);
            // Under the name of the variable: subscripts are checked here first.
            function.locals.push(Local::new(name, Type::Boolean, dims));
            records.push((id, record));
        }
        Recorder {
            function,
            records,
            open,
        }
    }

    fn write(mut self) {
        let Body::Algorithm(statements) = std::mem::replace(&mut self.function.body, Body::Algorithm(Vec::new()))
        else {
            return;
        };
        let mut body = rewrite(statements, &mut self);
        self.check_outputs(&mut body);
        self.function.body = Body::Algorithm(body);
    }

    fn record(&self, local: LocalId) -> Option<LocalId> {
        let found = self.records.iter().find(|(id, _)| *id == local);
        found.map(|(_, record)| *record)
    }

    /// Records that a place has a value.
    fn note(&self, place: &Place, out: &mut Vec<Statement>) {
        if let Some(record) = self.record(place.local) {
            let place = Place {
                local: record,
                indices: place.indices.clone(),
            };
            out.push(Statement::Assign(place, FunctionExpr::Constant(1.0)));
        }
    }

    /// Asserts that what expressions read has been assigned.
    fn check<'e>(&self, exprs: impl IntoIterator<Item = &'e FunctionExpr>, out: &mut Vec<Statement>) {
        let exprs: Vec<&FunctionExpr> = exprs.into_iter().collect();
        for &(local, record) in &self.records {
            let own = |expr: &FunctionExpr| known_before(expr, local, record);
            let checks = exprs.iter().filter_map(|expr| required(expr, &own, &|_| true));
            if let Some(check) = checks.reduce(and) {
                let name = &self.function.locals[local.0 as usize].name;
                self.assert(check, &format!("`{name}` is used before it has been assigned"), out);
            }
        }
    }

    fn check_outputs(&self, out: &mut Vec<Statement>) {
        for &output in &self.function.outputs {
            let Some(record) = self.record(output) else { continue };
            let Local { name, dims, .. } = &self.function.locals[output.0 as usize];
            if self.open.contains(&output) {
                for indices in elements(dims) {
                    let place = |local| Place {
                        local,
                        indices: indices.clone(),
                    };
                    let missing = FunctionExpr::Unary(UnaryFunction::Not, Box::new(FunctionExpr::Read(place(record))));
                    let leave = Statement::Assign(place(output), FunctionExpr::Constant(f64::NAN));
                    out.push(Statement::If(vec![(missing, vec![leave])], Vec::new()));
                }
                continue;
            }
            let all = elements(dims)
                .into_iter()
                .map(|indices| FunctionExpr::Read(Place { local: record, indices }));
            if let Some(check) = all.reduce(and) {
                self.assert(check, &format!("the output `{name}` has not been assigned"), out);
            }
        }
    }

    fn assert(&self, check: FunctionExpr, message: &str, out: &mut Vec<Statement>) {
        let message = self.function.texts.number(message).unwrap_or(0.0);
        out.push(Statement::Assert(check, FunctionExpr::Constant(message)));
    }
}

impl Rewrite for Recorder<'_> {
    fn simple(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        match &statement {
            Statement::Return => self.check_outputs(out),
            // A message is evaluated only if it is needed.
            Statement::Assert(condition, _) | Statement::Warn(condition, _) => self.check([condition], out),
            _ => {
                let mut exprs = Vec::new();
                statement.for_each_expr(|expr| exprs.push(expr));
                self.check(exprs, out);
                statement.for_each_target(|place| self.note(place, out));
            }
        }
        out.push(statement);
    }

    fn before(&mut self, exprs: &[&FunctionExpr], out: &mut Vec<Statement>) {
        self.check(exprs.iter().copied(), out);
    }
}

/// Whether the value of a variable has been assigned, if an expression is one.
fn known_before(expr: &FunctionExpr, local: LocalId, record: LocalId) -> Option<FunctionExpr> {
    match expr {
        FunctionExpr::Read(place) if place.local == local => Some(FunctionExpr::Read(Place {
            local: record,
            indices: place.indices.clone(),
        })),
        _ => None,
    }
}

/// The indices of all elements.
fn elements(dims: &[u32]) -> Vec<Vec<FunctionExpr>> {
    dims.iter().fold(vec![Vec::new()], |all, &size| {
        let extended = all.into_iter().flat_map(|indices| {
            (1..=size).map(move |k| {
                let mut indices: Vec<FunctionExpr> = indices.clone();
                indices.push(FunctionExpr::Constant(f64::from(k)));
                indices
            })
        });
        extended.collect()
    })
}
