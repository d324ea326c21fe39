//! Variables of functions that may be used before they are assigned. What can be shown to be assigned costs nothing;
//! for the rest the function keeps record, element by element, and asserts it where values are used.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::function::{Body, Function, FunctionExpr, Local, LocalId, Place, Statement};
use saltus_mdae::{BinaryOp, Type, UnaryOp};

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
    if let Some(end) = search.block(statements, &mut state) {
        search.returned(&end);
    }
    let doubtful = search.doubtful;
    if doubtful.is_empty() {
        return Uncertain::default();
    }
    let mut assigned = FxHashSet::default();
    collect_assigned(statements, &mut assigned);
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
    Recorder::new(function, &doubtful, open).rewrite();
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

fn collect_assigned(statements: &[Statement], found: &mut FxHashSet<LocalId>) {
    for statement in statements {
        match statement {
            Statement::Assign(place, _) => {
                found.insert(place.local);
            }
            Statement::CallAssign { targets, .. } => found.extend(targets.iter().map(|(_, place)| place.local)),
            Statement::If(branches, otherwise) => {
                branches.iter().for_each(|(_, body)| collect_assigned(body, found));
                collect_assigned(otherwise, found);
            }
            Statement::For { body, .. } | Statement::While(_, body) => collect_assigned(body, found),
            Statement::Break | Statement::Return | Statement::Assert(..) | Statement::Warn(..) => {}
        }
    }
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

    /// The state behind statements; `None` if they never get there.
    fn block(&mut self, statements: &[Statement], state: &mut State) -> Option<State> {
        for statement in statements {
            *state = self.statement(statement, state)?;
        }
        Some(std::mem::take(state))
    }

    fn statement(&mut self, statement: &Statement, state: &State) -> Option<State> {
        self.steps = self.steps.saturating_sub(1);
        let mut next = state.clone();
        match statement {
            Statement::Assign(place, value) => {
                self.read(value, state);
                self.assign(place, state, &mut next);
            }
            Statement::CallAssign { args, targets, .. } => {
                args.iter().for_each(|arg| self.read(arg, state));
                targets
                    .iter()
                    .for_each(|(_, place)| self.assign(place, state, &mut next));
            }
            Statement::If(branches, otherwise) => {
                let mut ends = Vec::new();
                for (condition, body) in branches {
                    self.read(condition, state);
                    ends.extend(self.block(body, &mut state.clone()));
                }
                ends.extend(self.block(otherwise, &mut state.clone()));
                return joined(ends);
            }
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                [from, step, to].into_iter().for_each(|bound| self.read(bound, state));
                next[self.offsets[counter.0 as usize]] = true;
                return self.for_loop(*counter, [from, step, to], body, next);
            }
            Statement::While(condition, body) => {
                self.read(condition, state);
                self.breaks.push(Vec::new());
                self.block(body, &mut state.clone());
                // Not entered, left by its condition or by a break: what was assigned before it certainly is.
                self.breaks.pop();
            }
            Statement::Break => {
                if let Some(breaks) = self.breaks.last_mut() {
                    breaks.push(next);
                }
                return None;
            }
            Statement::Return => {
                self.returned(state);
                return None;
            }
            Statement::Warn(condition, _) => self.read(condition, state),
            Statement::Assert(condition, message) => {
                self.read(condition, state);
                if *condition == FunctionExpr::Constant(0.0) {
                    self.read(message, state);
                    return None;
                }
            }
        }
        Some(next)
    }

    /// Turn by turn where the bounds are known.
    fn for_loop(
        &mut self,
        counter: LocalId,
        bounds: [&FunctionExpr; 3],
        body: &[Statement],
        start: State,
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
                end = self.block(body, &mut state);
                complete &= self.steps > 0;
                turn += 1.0;
            }
        }
        self.counters.remove(&counter);
        if !complete {
            self.block(body, &mut start.clone());
            end = Some(start);
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

    fn assign(&mut self, place: &Place, state: &State, next: &mut State) {
        place.indices.iter().for_each(|index| self.read(index, state));
        if let Some(slot) = self.slot(place) {
            next[slot] = true;
        }
    }

    fn read(&mut self, expr: &FunctionExpr, state: &State) {
        match expr {
            FunctionExpr::Constant(_) => {}
            FunctionExpr::Read(place) => {
                place.indices.iter().for_each(|index| self.read(index, state));
                let assigned = match self.slot(place) {
                    Some(slot) => state[slot],
                    None => state[self.range(place.local)].iter().all(|&assigned| assigned),
                };
                if !assigned {
                    self.doubtful.insert(place.local);
                }
            }
            FunctionExpr::Unary(_, a) => self.read(a, state),
            FunctionExpr::Binary(_, a, b) => {
                self.read(a, state);
                self.read(b, state);
            }
            FunctionExpr::If(c, a, b) => [c, a, b].into_iter().for_each(|part| self.read(part, state)),
            FunctionExpr::Call { args, .. } => args.iter().for_each(|arg| self.read(arg, state)),
        }
    }

    fn returned(&mut self, state: &State) {
        for &output in &self.function.outputs {
            if !state[self.range(output)].iter().all(|&assigned| assigned) {
                self.doubtful.insert(output);
            }
        }
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
            function.locals.push(Local {
                name,
                ty: Type::Boolean,
                dims,
            });
            records.push((id, record));
        }
        Recorder {
            function,
            records,
            open,
        }
    }

    fn rewrite(mut self) {
        let Body::Algorithm(statements) = std::mem::replace(&mut self.function.body, Body::Algorithm(Vec::new()))
        else {
            return;
        };
        let mut body = self.block(statements);
        self.check_outputs(&mut body);
        self.function.body = Body::Algorithm(body);
    }

    fn record(&self, local: LocalId) -> Option<LocalId> {
        let found = self.records.iter().find(|(id, _)| *id == local);
        found.map(|(_, record)| *record)
    }

    fn block(&mut self, statements: Vec<Statement>) -> Vec<Statement> {
        let mut out = Vec::new();
        for statement in statements {
            self.statement(statement, &mut out);
        }
        out
    }

    fn statement(&mut self, statement: Statement, out: &mut Vec<Statement>) {
        match statement {
            Statement::Assign(place, value) => {
                self.check([&value].into_iter().chain(&place.indices), out);
                self.note(&place, out);
                out.push(Statement::Assign(place, value));
            }
            Statement::CallAssign {
                function,
                args,
                targets,
            } => {
                let indices = targets.iter().flat_map(|(_, place)| &place.indices);
                self.check(args.iter().chain(indices), out);
                targets.iter().for_each(|(_, place)| self.note(place, out));
                out.push(Statement::CallAssign {
                    function,
                    args,
                    targets,
                });
            }
            Statement::If(branches, otherwise) => {
                let mut rest = self.block(otherwise);
                for (condition, body) in branches.into_iter().rev() {
                    let mut here = Vec::new();
                    self.check([&condition], &mut here);
                    let body = self.block(body);
                    here.push(Statement::If(vec![(condition, body)], rest));
                    rest = here;
                }
                out.append(&mut rest);
            }
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                self.check([&from, &step, &to], out);
                let body = self.block(body);
                out.push(Statement::For {
                    counter,
                    from,
                    step,
                    to,
                    body,
                });
            }
            Statement::While(condition, body) => {
                self.check([&condition], out);
                let mut body = self.block(body);
                self.check([&condition], &mut body);
                out.push(Statement::While(condition, body));
            }
            Statement::Return => {
                self.check_outputs(out);
                out.push(Statement::Return);
            }
            Statement::Assert(condition, message) => {
                self.check([&condition], out);
                out.push(Statement::Assert(condition, message));
            }
            Statement::Warn(condition, message) => {
                self.check([&condition], out);
                out.push(Statement::Warn(condition, message));
            }
            Statement::Break => out.push(Statement::Break),
        }
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
            let checks = exprs.iter().filter_map(|expr| known_before(expr, local, record));
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
                    let missing = FunctionExpr::Unary(UnaryOp::Not, Box::new(FunctionExpr::Read(place(record))));
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

pub(crate) fn and(a: FunctionExpr, b: FunctionExpr) -> FunctionExpr {
    FunctionExpr::Binary(BinaryOp::And, Box::new(a), Box::new(b))
}

/// Whether the values of a variable that an expression reads have been assigned; `None` if it reads none.
fn known_before(expr: &FunctionExpr, local: LocalId, record: LocalId) -> Option<FunctionExpr> {
    let of = |expr: &FunctionExpr| known_before(expr, local, record);
    match expr {
        FunctionExpr::Constant(_) => None,
        FunctionExpr::Read(place) => {
            let own = (place.local == local).then(|| {
                FunctionExpr::Read(Place {
                    local: record,
                    indices: place.indices.clone(),
                })
            });
            place.indices.iter().filter_map(of).chain(own).reduce(and)
        }
        FunctionExpr::Unary(_, a) => of(a),
        FunctionExpr::Binary(_, a, b) => of(a).into_iter().chain(of(b)).reduce(and),
        FunctionExpr::If(c, a, b) => {
            let chosen = match (of(a), of(b)) {
                (None, None) => None,
                (a, b) => {
                    let fine = || FunctionExpr::Constant(1.0);
                    let (a, b) = (a.unwrap_or_else(fine), b.unwrap_or_else(fine));
                    Some(FunctionExpr::If(c.clone(), Box::new(a), Box::new(b)))
                }
            };
            of(c).into_iter().chain(chosen).reduce(and)
        }
        FunctionExpr::Call { args, .. } => args.iter().filter_map(of).reduce(and),
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
