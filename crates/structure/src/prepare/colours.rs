//! Colours of variables and equations that depend neither on names nor on the order of the text, for choices among equals:
//! which of several aliases stands for the others, which of two equations `u = der(x)`, `u = der(y)` is used up.
//!
//! Colour refinement as in Weisfeiler–Lehman, over the expressions themselves: each round colours every expression by what
//! it is made of, then every variable by all the places at which it occurs. Sums are coloured by their terms, however they
//! are put together: the flows of a connection set add up in the order of the text.

use saltus_mdae::{
    Action, BinaryFunction, ConditionId, ConditionKind, EquationId, ExprId, Idx, IndexVec, Mdae, Node, UnaryFunction,
    VarId,
};

use crate::colour::mixed;

/// What lies further apart than this many equations does not tell variables apart.
const MOST_ROUNDS: usize = 8;

/// Factors of terms that enter a sum with a plus and with a minus.
const PLUS: u64 = 0xd6e8_feb8_6659_fd93;
const MINUS: u64 = 0xa076_1d64_78bd_642f;

/// What a place in a model is, as a first colour.
#[derive(Copy, Clone)]
enum Kind {
    Number = 1,
    Truth,
    Variable,
    LeftLimit,
    Time,
    Condition,
    Initial,
    Terminal,
    Operation,
    Choice,
    Call,
    Sum,
    Equation,
    InitialEquation,
    Definition,
    Reinit,
    Restart,
    Clause,
    Attribute,
}

/// Colours of variables and of equations.
#[derive(Debug)]
pub(super) struct Colours {
    pub(super) variables: IndexVec<VarId, u64>,
    pub(super) equations: IndexVec<EquationId, u64>,
}

/// Colours the variables and the equations of a model.
pub(super) fn colours(model: &Mdae) -> Colours {
    let mut painter = Painter::new(model);
    let mut told_apart = 0;
    for _ in 0..MOST_ROUNDS {
        painter.colour_expressions();
        painter.colour_variables();
        let count = painter.count();
        if count <= told_apart {
            break;
        }
        told_apart = count;
    }
    painter.colour_expressions();
    let mut equations = IndexVec::new();
    for equation in &model.equations {
        equations.push(painter.equation(Kind::Equation, equation.guard, equation.residual));
    }
    Colours {
        variables: painter.variables,
        equations,
    }
}

struct Painter<'a> {
    model: &'a Mdae,
    variables: IndexVec<VarId, u64>,
    /// As of the round before: what a condition is made of may come later than where it occurs.
    conditions: IndexVec<ConditionId, u64>,
    /// By expression: its colour, and what it adds to a sum.
    colour: Vec<u64>,
    term: Vec<u64>,
    /// By expression: where it occurs, and where it does as a part of a sum with a plus and with a minus. All of this is
    /// linear, so that it does not matter which expressions are shared.
    place: Vec<u64>,
    part: Vec<[u64; 2]>,
}

fn ratio(of: saltus_mdae::Rational) -> u64 {
    mixed(of.numerator() as u64, of.denominator() as u64)
}

impl<'a> Painter<'a> {
    fn new(model: &'a Mdae) -> Self {
        let mut variables = IndexVec::new();
        for variable in &model.variables {
            let said = [
                variable.role as u64,
                variable.ty as u64,
                u64::from(variable.fixed),
                variable.state_select as u64,
                u64::from(variable.hidden),
            ];
            variables.push(said.into_iter().fold(Kind::Variable as u64, mixed));
        }
        let count = model.pool.len();
        Painter {
            model,
            variables,
            conditions: IndexVec::filled(Kind::Condition as u64, model.conditions.len()),
            colour: vec![0; count],
            term: vec![0; count],
            place: vec![0; count],
            part: vec![[0; 2]; count],
        }
    }

    fn count(&self) -> usize {
        let mut all: Vec<u64> = self.variables.iter().copied().collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    fn of(&self, id: ExprId) -> u64 {
        self.colour[id.index()]
    }

    /// Children have smaller ids than their parents.
    fn colour_expressions(&mut self) {
        for raw in 0..self.colour.len() {
            let node = self.model.pool.node(ExprId::from_usize(raw));
            match self.sum(node) {
                Some(sum) => (self.term[raw], self.colour[raw]) = (sum, mixed(Kind::Sum as u64, sum)),
                None => {
                    let colour = self.node(node);
                    (self.term[raw], self.colour[raw]) = (mixed(colour, Kind::Sum as u64), colour);
                }
            }
        }
        for (id, condition) in self.model.conditions.iter_enumerated() {
            let (a, b) = match condition.kind {
                ConditionKind::Relation { function, comparison } => (self.of(function), comparison as u64),
                ConditionKind::Sample { start, interval } => (self.of(start), self.of(interval)),
                ConditionKind::Tick { shift, interval } => (ratio(shift), ratio(interval)),
                ConditionKind::Timer { interval, resolution } => (self.of(interval), u64::from(resolution)),
            };
            self.conditions[id] = mixed(mixed(Kind::Condition as u64, a), b);
        }
    }

    /// What a sum adds up to.
    fn sum(&self, node: Node) -> Option<u64> {
        let term = |id: ExprId| self.term[id.index()];
        match node {
            Node::Unary(UnaryFunction::Neg, a) => Some(term(a).wrapping_neg()),
            Node::Binary(BinaryFunction::Add, a, b) => Some(term(a).wrapping_add(term(b))),
            Node::Binary(BinaryFunction::Sub, a, b) => Some(term(a).wrapping_sub(term(b))),
            _ => None,
        }
    }

    fn node(&self, node: Node) -> u64 {
        let coloured = |kind: Kind, words: &[u64]| words.iter().copied().fold(kind as u64, mixed);
        match node {
            Node::Real(bits) => coloured(Kind::Number, &[bits.get().to_bits()]),
            Node::Integer(value) => coloured(Kind::Number, &[(value as f64).to_bits()]),
            Node::Boolean(value) => coloured(Kind::Truth, &[u64::from(value)]),
            Node::Var { var, order } => coloured(Kind::Variable, &[self.variables[var], u64::from(order)]),
            Node::Pre { var, order } => coloured(Kind::LeftLimit, &[self.variables[var], u64::from(order)]),
            Node::Time => Kind::Time as u64,
            Node::Condition(condition) => self.conditions[condition],
            Node::Initial => Kind::Initial as u64,
            Node::Terminal => Kind::Terminal as u64,
            Node::Unary(op, a) => coloured(Kind::Operation, &[op as u64, self.of(a)]),
            Node::Binary(op, a, b) if commutes(op) => {
                let both = self.of(a).wrapping_add(self.of(b));
                coloured(Kind::Operation, &[op as u64, both])
            }
            Node::Binary(op, a, b) => coloured(Kind::Operation, &[op as u64, self.of(a), self.of(b)]),
            Node::If(c, a, b) => coloured(Kind::Choice, &[self.of(c), self.of(a), self.of(b)]),
            Node::Call { output, args, .. } => {
                let start = coloured(Kind::Call, &[u64::from(output)]);
                self.model
                    .pool
                    .args(args)
                    .fold(start, |colour, arg| mixed(colour, self.of(arg)))
            }
        }
    }

    /// The colour of an equation, whichever side is subtracted from the other.
    fn equation(&self, kind: Kind, guard: ExprId, residual: ExprId) -> u64 {
        let term = self.term[residual.index()];
        let sides = mixed(term, kind as u64).wrapping_add(mixed(term.wrapping_neg(), kind as u64));
        mixed(self.of(guard), sides)
    }

    /// Colours variables by all the places at which they occur.
    fn colour_variables(&mut self) {
        self.place.fill(0);
        self.part.fill([0; 2]);
        let mut own = self.mark_roots();
        for raw in (0..self.colour.len()).rev() {
            let node = self.model.pool.node(ExprId::from_usize(raw));
            self.hand_down(raw, node, &mut own);
        }
        for (colour, own) in self.variables.iter_mut().zip(&own) {
            *colour = mixed(*colour, *own);
        }
    }

    fn mark(&mut self, id: ExprId, kind: Kind, context: u64) {
        let place = &mut self.place[id.index()];
        *place = place.wrapping_add(mixed(context, kind as u64));
    }

    fn mark_equation(&mut self, kind: Kind, guard: ExprId, residual: ExprId) {
        let colour = self.equation(kind, guard, residual);
        self.mark(guard, kind, colour);
        let term = self.term[residual.index()];
        // The same terms have a plus, whichever side is subtracted from the other.
        let side = usize::from(term > term.wrapping_neg());
        if self.is_sum(residual) {
            self.part[residual.index()][side] = self.part[residual.index()][side].wrapping_add(colour)
        } else {
            self.mark(residual, kind, colour)
        }
    }

    fn is_sum(&self, id: ExprId) -> bool {
        self.sum(self.model.pool.node(id)).is_some()
    }

    /// Marks what the model consists of; returns what is said of variables directly.
    fn mark_roots(&mut self) -> IndexVec<VarId, u64> {
        let model = self.model;
        let mut own = IndexVec::filled(0_u64, model.variables.len());
        let mut say =
            |var: VarId, kind: Kind, colour: u64| own[var] = own[var].wrapping_add(mixed(colour, kind as u64));
        for (var, variable) in model.variables.iter_enumerated() {
            let attributes = [
                variable.binding,
                variable.start,
                variable.nominal,
                variable.min,
                variable.max,
            ];
            for (which, value) in attributes.into_iter().enumerate() {
                if let Some(value) = value {
                    say(var, Kind::Attribute, mixed(self.of(value), which as u64));
                    self.mark(value, Kind::Attribute, mixed(self.variables[var], which as u64));
                }
            }
        }
        for equation in &model.equations {
            self.mark_equation(Kind::Equation, equation.guard, equation.residual);
        }
        for equation in &model.initial_equations {
            self.mark_equation(Kind::InitialEquation, equation.guard, equation.residual);
        }
        for equation in model.discrete.iter().chain(&model.initial_assignments) {
            say(equation.target, Kind::Definition, self.of(equation.value));
            self.mark(equation.value, Kind::Definition, self.variables[equation.target]);
        }
        for condition in &model.conditions {
            if let ConditionKind::Relation { function, comparison } = condition.kind {
                self.mark(function, Kind::Condition, comparison as u64);
            }
        }
        for branch in model.whens.iter().flat_map(|when| &when.branches) {
            let clause = branch.conditions.iter().map(|&condition| self.of(condition));
            let clause = clause.fold(Kind::Clause as u64, u64::wrapping_add);
            for action in &branch.actions {
                match action {
                    Action::Assign { target, value, .. } => {
                        say(*target, Kind::Clause, mixed(clause, self.of(*value)));
                        self.mark(*value, Kind::Clause, mixed(clause, self.variables[*target]));
                    }
                    Action::Reinit { var, order, value, .. } => {
                        let clause = mixed(clause, u64::from(*order));
                        say(*var, Kind::Reinit, mixed(clause, self.of(*value)));
                        self.mark(*value, Kind::Reinit, mixed(clause, self.variables[*var]));
                    }
                    Action::Restart { residual, .. } => self.mark_equation(Kind::Restart, *residual, *residual),
                    Action::Solve { residuals, .. } => {
                        for &residual in residuals {
                            self.mark_equation(Kind::Clause, residual, residual);
                        }
                    }
                    Action::Assert(_) | Action::Terminate { .. } => {}
                }
            }
        }
        own
    }

    /// Hands the places of an expression to its children, and those of a variable to it.
    fn hand_down(&mut self, raw: usize, node: Node, own: &mut IndexVec<VarId, u64>) {
        let place = self.place[raw];
        let hand = |this: &mut Self, child: ExprId, context: u64| {
            let at = &mut this.place[child.index()];
            *at = at.wrapping_add(place.wrapping_mul(mixed(Kind::Operation as u64, context) | 1));
        };
        match node {
            Node::Var { var, order } => own[var] = own[var].wrapping_add(occurrence(place, Kind::Variable, order)),
            Node::Pre { var, order } => own[var] = own[var].wrapping_add(occurrence(place, Kind::LeftLimit, order)),
            Node::Unary(UnaryFunction::Neg, a) => self.hand_to_terms(raw, &[(a, true)]),
            Node::Binary(BinaryFunction::Add, a, b) => self.hand_to_terms(raw, &[(a, false), (b, false)]),
            Node::Binary(BinaryFunction::Sub, a, b) => self.hand_to_terms(raw, &[(a, false), (b, true)]),
            Node::Unary(op, a) => hand(self, a, op as u64),
            Node::Binary(op, a, b) => {
                let (first, second) = (mixed(op as u64, self.of(b)), mixed(op as u64, self.of(a)));
                let side = u64::from(!commutes(op));
                hand(self, a, first);
                hand(self, b, second.wrapping_add(side));
            }
            Node::If(c, a, b) => {
                let whole = self.colour[raw];
                for (which, child) in [c, a, b].into_iter().enumerate() {
                    hand(self, child, mixed(whole, which as u64));
                }
            }
            Node::Call { args, .. } => {
                let whole = self.colour[raw];
                let args: Vec<ExprId> = self.model.pool.args(args).collect();
                for (which, child) in args.into_iter().enumerate() {
                    hand(self, child, mixed(whole, which as u64));
                }
            }
            _ => {}
        }
    }

    fn hand_to_terms(&mut self, raw: usize, terms: &[(ExprId, bool)]) {
        let [plus, minus] = self.part[raw];
        // What the whole sum is tells its terms who the others are.
        let whole = self.place[raw].wrapping_mul(self.colour[raw] | 1);
        let parts = [plus.wrapping_add(whole), minus];
        for &(child, negated) in terms {
            let [plus, minus] = if negated { [parts[1], parts[0]] } else { parts };
            let at = child.index();
            if self.is_sum(child) {
                self.part[at][0] = self.part[at][0].wrapping_add(plus);
                self.part[at][1] = self.part[at][1].wrapping_add(minus);
            } else {
                let handed = plus.wrapping_mul(PLUS).wrapping_add(minus.wrapping_mul(MINUS));
                self.place[at] = self.place[at].wrapping_add(handed);
            }
        }
    }
}

fn commutes(op: BinaryFunction) -> bool {
    matches!(op, BinaryFunction::Mul | BinaryFunction::And | BinaryFunction::Or)
}

/// An occurrence of a derivative; linear in the place.
fn occurrence(place: u64, kind: Kind, order: u16) -> u64 {
    place.wrapping_mul(mixed(kind as u64, u64::from(order)) | 1)
}
