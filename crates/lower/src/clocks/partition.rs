//! The walk over the model that finds the partitions, and what is wrong with them in words.

use saltus_lang::flat::{
    Builtin, EquationKind, FlatEquation, FlatExpr, FlatModel, FlatStatement, Idx, IndexVec, ScalarType, StatementKind,
    Variability, VariableId, clocked_body, collect_assigned,
};
use saltus_mdae::{ClockKind, Rational};
use saltus_source::{Diagnostic, Diagnostics, Severity, Span, codes};

use super::inference::{Because, Conflict, Conversion, Relation, Ticks, infer};
use super::normal::{for_each_in_statements, is_clock_operator};
use super::{BaseClock, BaseKind, Clocked, Clocking, Part, SolverMethod};

/// What is said of a set of equations and variables.
#[derive(Clone, Debug, Default)]
struct Marks {
    /// Where it is said to be clocked.
    clocked: Option<Span>,
    /// Where it is said to be unclocked, and by what.
    unclocked: Option<(Span, &'static str)>,
    /// An operator that means events.
    event: Option<(Span, &'static str)>,
    derivative: Option<Span>,
    method: Option<(SolverMethod, Span)>,
}

#[derive(Clone, Debug)]
enum Source<'f> {
    Rational(Rational),
    Variable(&'f FlatExpr, i64),
    Event(&'f FlatExpr, &'f FlatExpr),
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: usize,
    to: usize,
    conversion: Conversion,
    span: Span,
}

/// Sets of nodes: variables come first, then equations and arguments.
pub(super) struct Partitioning<'f> {
    flat: &'f FlatModel,
    parent: Vec<usize>,
    marks: Vec<Marks>,
    edges: Vec<Edge>,
    sources: Vec<(usize, Source<'f>, Span)>,
    equations: Vec<(usize, bool)>,
    algorithms: Vec<usize>,
    problems: Vec<Diagnostic>,
}

impl<'f> Partitioning<'f> {
    /// Looks at all equations.
    pub(super) fn of(flat: &'f FlatModel) -> Self {
        let count = flat.variables.len();
        let mut this = Partitioning {
            flat,
            parent: (0..count).collect(),
            marks: vec![Marks::default(); count],
            edges: Vec::new(),
            sources: Vec::new(),
            equations: Vec::new(),
            algorithms: Vec::new(),
            problems: Vec::new(),
        };
        for equation in &flat.equations {
            let node = this.node();
            let of_clocks =
                matches!(&equation.kind, EquationKind::Equal(lhs, _) if lhs.scalar_type(flat) == ScalarType::Clock);
            this.equation(equation, node);
            this.equations.push((node, of_clocks));
        }
        for section in &flat.algorithms {
            let node = this.node();
            this.section(&section.statements, node);
            this.algorithms.push(node);
        }
        this
    }

    fn node(&mut self) -> usize {
        self.parent.push(self.parent.len());
        self.marks.push(Marks::default());
        self.parent.len() - 1
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let (a, b) = (a.min(b), a.max(b));
        self.parent[b] = a;
        let other = std::mem::take(&mut self.marks[b]);
        let own = &mut self.marks[a];
        own.clocked = own.clocked.or(other.clocked);
        own.unclocked = own.unclocked.or(other.unclocked);
        own.event = own.event.or(other.event);
        own.derivative = own.derivative.or(other.derivative);
        match (own.method, other.method) {
            (Some((one, first)), Some((two, second))) if one != two => {
                let problem = Diagnostic::error(codes::E0530, second, "this clock has two solver methods")
                    .with_secondary(first, "the other is here")
                    .with_help("give the clock of a partition one solver method");
                self.problems.push(problem);
            }
            (None, method) => own.method = method,
            _ => {}
        }
    }

    fn at(&mut self, node: usize) -> &mut Marks {
        let root = self.root(node);
        &mut self.marks[root]
    }

    fn clocked(&mut self, node: usize, span: Span) {
        self.at(node).clocked.get_or_insert(span);
    }

    fn unclocked(&mut self, node: usize, span: Span, what: &'static str) {
        self.at(node).unclocked.get_or_insert((span, what));
    }

    fn equation(&mut self, equation: &'f FlatEquation, node: usize) {
        let flat = self.flat;
        let span = flat.provenances[equation.provenance].span;
        match &equation.kind {
            EquationKind::Equal(a, b) => {
                self.expr(a, node, span);
                self.expr(b, node, span);
            }
            EquationKind::If { branches, otherwise } => {
                for branch in branches {
                    self.expr(&branch.condition, node, span);
                    branch.body.iter().for_each(|inner| self.equation(inner, node));
                }
                otherwise.iter().for_each(|inner| self.equation(inner, node));
            }
            EquationKind::When { branches } => {
                let clocked = clocked_body(branches, flat).is_some();
                for branch in branches {
                    branch.conditions.iter().for_each(|c| self.expr(c, node, span));
                    branch.body.iter().for_each(|inner| self.equation(inner, node));
                }
                if clocked {
                    self.clocked(node, span);
                } else {
                    self.unclocked(node, span, "a when-clause of events");
                }
            }
            EquationKind::Reinit(variable, e) => {
                self.join(node, variable.index());
                self.expr(e, node, span);
            }
            EquationKind::Terminate(e) | EquationKind::NoReturnCall(e) => self.expr(e, node, span),
            EquationKind::Assert { condition, .. } => self.expr(condition, node, span),
        }
    }

    fn section(&mut self, statements: &'f [FlatStatement], node: usize) {
        let mut assigned = Default::default();
        collect_assigned(statements, &mut assigned);
        let mut assigned: Vec<VariableId> = assigned.into_iter().collect();
        assigned.sort_unstable();
        assigned.into_iter().for_each(|v| self.join(node, v.index()));
        let mut tops = Vec::new();
        for_each_in_statements(statements, &mut |e| tops.push(e));
        let place = statements.first().map(|s| self.flat.provenances[s.provenance].span);
        let Some(place) = place else { return };
        tops.into_iter().for_each(|expr| self.expr(expr, node, place));
        if statements.iter().any(|s| matches!(s.kind, StatementKind::When { .. })) {
            self.unclocked(node, place, "a when-statement");
        }
    }

    /// Sums of connection sets are long chains: no recursion.
    fn expr(&mut self, expr: &'f FlatExpr, node: usize, place: Span) {
        let mut stack = vec![(expr, node)];
        while let Some((expr, node)) = stack.pop() {
            match expr {
                FlatExpr::Variable(id) => {
                    if self.flat.variables[*id].variability >= Variability::Discrete {
                        self.join(node, id.index());
                    }
                }
                FlatExpr::Builtin(builtin, args, span) => {
                    let span = if span.is_empty() { place } else { *span };
                    self.builtin(*builtin, args, node, span, &mut stack);
                }
                _ => expr.for_each_operand(|operand| stack.push((operand, node))),
            }
        }
    }

    fn builtin(
        &mut self,
        builtin: Builtin,
        args: &'f [FlatExpr],
        node: usize,
        span: Span,
        stack: &mut Vec<(&'f FlatExpr, usize)>,
    ) {
        if is_clock_operator(builtin) && builtin != Builtin::Hold {
            self.clocked(node, span);
        }
        match builtin {
            Builtin::Hold => {
                self.unclocked(node, span, "`hold` yields an unclocked value");
                let inner = self.node();
                self.clocked(inner, span);
                stack.push((&args[0], inner));
            }
            Builtin::ClockedSample => {
                let inner = self.node();
                self.unclocked(inner, span, "`sample` is applied to it");
                stack.push((&args[0], inner));
                stack.extend(args.get(1).map(|clock| (clock, node)));
            }
            Builtin::SubSample
            | Builtin::SuperSample
            | Builtin::ShiftSample
            | Builtin::BackSample
            | Builtin::NoClock => {
                let inner = self.node();
                self.clocked(inner, span);
                stack.push((&args[0], inner));
                let is_plain = args[0].is_literal()
                    || matches!(args[0], FlatExpr::Variable(_))
                    || args[0].scalar_type(self.flat) == ScalarType::Clock;
                if !is_plain {
                    let name = builtin.name();
                    self.problems.push(
                        Diagnostic::error(codes::E0530, span, format!("`{name}` of an expression in an algorithm"))
                            .with_help("give the expression a name in an equation"),
                    );
                }
                match conversion(builtin, args) {
                    Some(conversion) => self.edges.push(Edge {
                        from: inner,
                        to: node,
                        conversion,
                        span,
                    }),
                    None => self.problems.push(too_large(span)),
                }
            }
            Builtin::Clock => self.clock(args, node, span, stack),
            Builtin::Der => {
                self.at(node).derivative.get_or_insert(span);
                stack.extend(args.iter().map(|arg| (arg, node)));
            }
            Builtin::Pre
            | Builtin::Edge
            | Builtin::Change
            | Builtin::Sample
            | Builtin::Initial
            | Builtin::Terminal
            | Builtin::Delay
            | Builtin::TransportedLeft
            | Builtin::TransportedRight => {
                self.at(node).event.get_or_insert((span, builtin.name()));
                stack.extend(args.iter().map(|arg| (arg, node)));
            }
            _ => stack.extend(args.iter().map(|arg| (arg, node))),
        }
    }

    fn clock(&mut self, args: &'f [FlatExpr], node: usize, span: Span, stack: &mut Vec<(&'f FlatExpr, usize)>) {
        let Some(first) = args.first() else { return };
        match (first.scalar_type(self.flat), first, args.get(1)) {
            (_, FlatExpr::Integer(0), _) => {}
            (_, FlatExpr::Integer(counter), Some(FlatExpr::Integer(resolution))) => {
                match Rational::new(*counter, *resolution) {
                    Some(interval) => self.sources.push((node, Source::Rational(interval), span)),
                    None => self.problems.push(too_large(span)),
                }
            }
            (_, FlatExpr::Real(interval), _) => match Rational::from_decimal(*interval).filter(|r| r.is_positive()) {
                Some(interval) => self.sources.push((node, Source::Rational(interval), span)),
                None => self.problems.push(too_large(span)),
            },
            (ScalarType::Boolean, condition, start) => {
                let inner = self.node();
                self.unclocked(inner, span, "the condition of a clock");
                stack.push((condition, inner));
                self.sources.push((
                    node,
                    Source::Event(condition, start.unwrap_or(&FlatExpr::Real(0.0))),
                    span,
                ));
            }
            (ScalarType::Clock, clock, method) => {
                let inner = self.node();
                self.clocked(inner, span);
                stack.push((clock, inner));
                self.edges.push(Edge {
                    from: inner,
                    to: node,
                    conversion: Conversion::Same,
                    span,
                });
                if let Some(FlatExpr::String(name)) = method
                    && !name.is_empty()
                {
                    self.solver(node, name, span);
                }
            }
            (_, interval, resolution) => {
                let resolution = match resolution {
                    Some(FlatExpr::Integer(resolution)) => *resolution,
                    _ => 1,
                };
                stack.push((interval, node));
                self.sources.push((node, Source::Variable(interval, resolution), span));
            }
        }
    }

    fn solver(&mut self, node: usize, name: &str, span: Span) {
        match SolverMethod::from_name(name) {
            Some(method) => {
                let before = self.at(node).method.replace((method, span));
                if let Some((other, first)) = before
                    && other != method
                {
                    self.problems.push(
                        Diagnostic::error(codes::E0530, span, "this clock has two solver methods")
                            .with_secondary(first, "the other is here")
                            .with_help("give the clock of a partition one solver method"),
                    );
                }
            }
            None => self.problems.push(
                Diagnostic::error(codes::E0530, span, format!("there is no solver method \"{name}\""))
                    .with_help(format!("use one of {}", SolverMethod::names())),
            ),
        }
    }

    /// The partitions with their clocks.
    pub(super) fn solve(mut self, diagnostics: &mut Diagnostics) -> Option<Clocking<'f>> {
        let count = self.parent.len();
        let roots: Vec<usize> = (0..count).map(|node| self.root(node)).collect();
        let edges: Vec<Edge> = self
            .edges
            .iter()
            .map(|edge| Edge {
                from: roots[edge.from],
                to: roots[edge.to],
                ..*edge
            })
            .collect();
        let components = components(count, &edges);
        let mut clocking = Clocking {
            bases: Vec::new(),
            parts: Vec::new(),
            variables: IndexVec::new(),
            equations: Vec::new(),
            algorithms: Vec::new(),
        };
        let mut part_of: Vec<Option<usize>> = vec![None; count];
        for members in groups(&roots, &components) {
            if !members.iter().any(|&root| self.marks[root].clocked.is_some()) {
                continue;
            }
            self.check_kind(&members);
            if self.problems.is_empty() {
                self.base_clock(&members, &roots, &edges, &mut part_of, &mut clocking, diagnostics);
            }
        }
        for (id, _) in self.flat.variables.iter_enumerated() {
            clocking.variables.push(part_of[roots[id.index()]]);
        }
        let kind = |node: usize| part_of[roots[node]].map_or(Clocked::No, Clocked::Part);
        clocking.equations = self
            .equations
            .iter()
            .map(|&(node, of_clocks)| if of_clocks { Clocked::OfClocks } else { kind(node) })
            .collect();
        clocking.algorithms = self.algorithms.iter().map(|&node| kind(node)).collect();
        if self.problems.is_empty() {
            return Some(clocking);
        }
        self.problems.into_iter().for_each(|problem| diagnostics.push(problem));
        None
    }

    /// A partition is clocked as a whole, and nothing in it means events.
    fn check_kind(&mut self, members: &[usize]) {
        let first = |pick: &dyn Fn(&Marks) -> Option<Span>| members.iter().find_map(|&root| pick(&self.marks[root]));
        let Some(clocked) = first(&|marks| marks.clocked) else {
            return;
        };
        let unclocked = members.iter().find_map(|&root| self.marks[root].unclocked);
        let event = members.iter().find_map(|&root| self.marks[root].event);
        if let Some((span, what)) = unclocked {
            self.problems.push(
                Diagnostic::error(codes::E0531, clocked, "clocked and unclocked variables are mixed")
                    .with_label("clocked by this")
                    .with_secondary(span, format!("unclocked: {what}"))
                    .with_note("equations join the variables in them: all have one clock, or none")
                    .with_help("put `sample(…)` where a clocked equation reads an unclocked variable, `hold(…)` where it is the other way round"),
            );
        } else if let Some((span, name)) = event {
            let help = match name {
                "pre" => "write `previous(v)` for the value at the tick before",
                _ => "a clocked equation holds at ticks only: there are no events in it",
            };
            self.problems.push(
                Diagnostic::error(codes::E0531, span, format!("`{name}` in a clocked equation"))
                    .with_secondary(clocked, "clocked by this")
                    .with_help(help),
            );
        }
    }

    fn base_clock(
        &mut self,
        members: &[usize],
        roots: &[usize],
        edges: &[Edge],
        part_of: &mut [Option<usize>],
        clocking: &mut Clocking<'f>,
        diagnostics: &mut Diagnostics,
    ) {
        let local = |root: usize| members.binary_search(&root).unwrap_or(0);
        let is_here = |root: usize| members.binary_search(&root).is_ok();
        let inside: Vec<&Edge> = edges.iter().filter(|edge| is_here(edge.to)).collect();
        let relations: Vec<Relation> = inside
            .iter()
            .map(|edge| Relation {
                from: local(edge.from),
                to: local(edge.to),
                conversion: edge.conversion,
            })
            .collect();
        let own: Vec<&(usize, Source<'f>, Span)> =
            self.sources.iter().filter(|(node, ..)| is_here(roots[*node])).collect();
        let (kind, span) = match self.kind_of(&own) {
            Ok(Some((kind, span))) => (kind, span),
            Ok(None) => {
                let span = members.iter().find_map(|&root| self.marks[root].clocked);
                let message = "no clock is given for this partition: its fastest part ticks every second";
                let warning = match span {
                    Some(span) => Diagnostic::warning(codes::W0503, span, message),
                    None => Diagnostic::without_place(codes::W0503, Severity::Warning, message),
                };
                diagnostics.push(
                    warning.with_help("give it a clock: `sample(u, Clock(1, 100))`, or `when Clock(1, 100) then`"),
                );
                (BaseKind::Periodic, span.unwrap_or(self.flat_span()))
            }
            Err(problem) => return self.problems.push(*problem),
        };
        let sources: Vec<(usize, Ticks)> = own
            .iter()
            .map(|(node, source, _)| {
                let interval = match source {
                    Source::Rational(interval) => *interval,
                    _ => Rational::ONE,
                };
                let shift = Rational::ZERO;
                (local(roots[*node]), Ticks { interval, shift })
            })
            .collect();
        let clocks = match infer(members.len(), &relations, &sources) {
            Ok(clocks) => clocks,
            Err(conflict) => {
                let spans: Vec<Span> = own.iter().map(|(.., span)| *span).collect();
                let problem = self.explain(&conflict, members, &inside, &spans, kind.kind());
                return self.problems.push(problem);
            }
        };
        let base = clocking.bases.len();
        for (at, &root) in members.iter().enumerate() {
            let ticks = clocks[at];
            let place = self.marks[root].clocked.unwrap_or(span);
            if let Some(problem) = unfit(ticks, kind.kind(), place, span) {
                return self.problems.push(problem);
            }
            let method = match self.method(at, members, &relations) {
                Ok(method) => method,
                Err(problem) => return self.problems.push(*problem),
            };
            part_of[root] = Some(clocking.parts.len());
            clocking.parts.push(Part {
                base,
                ticks,
                method,
                span: place,
            });
        }
        clocking.bases.push(BaseClock { kind, span });
    }

    fn flat_span(&self) -> Span {
        let first = self.flat.provenances.iter().next().map(|provenance| provenance.span);
        first.unwrap_or(Span::new(saltus_source::FileId(0), 0, 0))
    }

    /// One kind of clock per base clock (16.3.1): periodic ones may be several.
    fn kind_of(&self, sources: &[&(usize, Source<'f>, Span)]) -> Result<Option<(BaseKind<'f>, Span)>, Box<Diagnostic>> {
        let single = sources
            .iter()
            .find(|(_, source, _)| !matches!(source, Source::Rational(_)));
        let Some((_, source, span)) = single else {
            return Ok(sources.first().map(|(.., span)| (BaseKind::Periodic, *span)));
        };
        if let Some((.., other)) = sources.iter().find(|(.., other)| other != span) {
            return Err(Box::new(
                Diagnostic::error(codes::E0532, *span, "this partition has two clocks")
                    .with_label("one is here")
                    .with_secondary(*other, "another is here")
                    .with_note("a clock of events or of variable interval is the only one of its partition")
                    .with_help("join partitions of different clocks by `sample(hold(v))`"),
            ));
        }
        Ok(Some((
            match source {
                Source::Event(condition, start) => BaseKind::Event(condition, start),
                Source::Variable(interval, resolution) => BaseKind::Variable(interval, *resolution),
                Source::Rational(_) => BaseKind::Periodic,
            },
            *span,
        )))
    }

    /// The solver method of a part with derivatives: its own, or that of the parts around it (16.8.4).
    fn method(
        &self,
        at: usize,
        members: &[usize],
        relations: &[Relation],
    ) -> Result<Option<SolverMethod>, Box<Diagnostic>> {
        let marks = &self.marks[members[at]];
        let Some(derivative) = marks.derivative else {
            return Ok(None);
        };
        let mut seen = vec![false; members.len()];
        let mut open = vec![at];
        let mut found: Option<(SolverMethod, Span)> = None;
        while let Some(part) = open.pop() {
            if std::mem::replace(&mut seen[part], true) {
                continue;
            }
            if let Some((method, span)) = self.marks[members[part]].method {
                match found {
                    Some((other, first)) if other != method => {
                        return Err(Box::new(
                            Diagnostic::error(codes::E0530, derivative, "the solver method is not clear here")
                                .with_secondary(first, "one is inferred from here")
                                .with_secondary(span, "another from here")
                                .with_help("give this partition a clock with a solver method of its own"),
                        ));
                    }
                    _ => found = Some((method, span)),
                }
                continue;
            }
            for relation in relations {
                if relation.from == part {
                    open.push(relation.to);
                } else if relation.to == part {
                    open.push(relation.from);
                }
            }
        }
        match found {
            Some((method, _)) => Ok(Some(method)),
            None => {
                let mut problem = Diagnostic::error(
                    codes::E0530,
                    derivative,
                    "`der` in a clocked equation without a solver method",
                );
                if let Some(clocked) = marks.clocked {
                    problem = problem.with_secondary(clocked, "clocked by this");
                }
                Err(Box::new(
                    problem
                        .with_help("give the clock one: `Clock(Clock(1, 100), solverMethod = \"ImplicitEuler\")`")
                        .with_help("or put `sample(…)` and `hold(…)` between the derivative and what is clocked, if it is not meant to be"),
                ))
            }
        }
    }

    fn explain(
        &self,
        conflict: &Conflict,
        members: &[usize],
        edges: &[&Edge],
        sources: &[Span],
        kind: ClockKind,
    ) -> Diagnostic {
        let place = |because: Because| match because {
            Because::Source(at) => sources.get(at).copied(),
            Because::Relation(at) => edges.get(at).map(|edge| edge.span),
        };
        let somewhere = |span: Option<Span>| span.unwrap_or_else(|| self.flat_span());
        let said = |ticks: Ticks| words(ticks, kind);
        match *conflict {
            Conflict::Two { part, first, second } => {
                let name = self.name_in(members[part]);
                let message = match name {
                    Some(name) => format!("`{name}` has two clocks"),
                    None => "something has two clocks here".to_owned(),
                };
                Diagnostic::error(codes::E0532, somewhere(place(second.1)), message)
                    .with_label(format!("from here it ticks {}", said(second.0)))
                    .with_secondary(
                        somewhere(place(first.1)),
                        format!("from here it ticks {}", said(first.0)),
                    )
                    .with_help("make the factors agree, or join the parts by `sample(hold(v))`")
            }
            Conflict::NoFactor { relation, from, to } => {
                let span = somewhere(edges.get(relation).map(|edge| edge.span));
                Diagnostic::error(
                    codes::E0532,
                    span,
                    "no whole factor leads from one clock to the other here",
                )
                .with_note(format!("the argument ticks {}, the result {}", said(from), said(to)))
                .with_help("choose intervals of which one is a multiple of the other, or convert in two steps")
            }
            Conflict::TooLarge(because) => too_large(somewhere(place(because))),
            Conflict::Unknown(part) => {
                let span = somewhere(self.marks[members[part]].clocked);
                let message = match self.name_in(members[part]) {
                    Some(name) => format!("nothing says the clock of `{name}`"),
                    None => "nothing says the clock here".to_owned(),
                };
                Diagnostic::error(codes::E0532, span, message)
                    .with_note("a factor is inferred only where the clocks on both sides are known")
                    .with_help("give the factor of `subSample` or `superSample`, or a clock")
            }
        }
    }

    /// A variable that a user knows.
    fn name_in(&self, root: usize) -> Option<&str> {
        let find = |node: usize| {
            let mut node = node;
            while self.parent[node] != node {
                node = self.parent[node];
            }
            node
        };
        let mut variables = self.flat.variables.iter_enumerated();
        let found = variables.find(|(id, variable)| find(id.index()) == root && !variable.name.starts_with('$'));
        found.map(|(_, variable)| &*variable.name)
    }
}

fn too_large(span: Span) -> Diagnostic {
    Diagnostic::error(codes::E0532, span, "the ratios of this clock are beyond 64 bits")
        .with_help("use smaller factors, or an interval with fewer digits")
}

fn conversion(builtin: Builtin, args: &[FlatExpr]) -> Option<Conversion> {
    let number = |at: usize| match args.get(at) {
        Some(FlatExpr::Integer(value)) => *value,
        _ => 0,
    };
    Some(match (builtin, number(1)) {
        (Builtin::SubSample, 0) => Conversion::Slower,
        (Builtin::SuperSample, 0) => Conversion::Faster,
        (Builtin::SubSample, factor) => Conversion::Sub(factor),
        (Builtin::SuperSample, factor) => Conversion::Super(factor),
        (Builtin::ShiftSample, count) => Conversion::Shift(Rational::new(count, number(2))?),
        (Builtin::BackSample, count) => Conversion::Shift(Rational::new(-count, number(2))?),
        _ => Conversion::Unrelated,
    })
}

fn words(ticks: Ticks, kind: ClockKind) -> String {
    let Ticks { interval, shift } = ticks;
    match kind {
        ClockKind::Periodic => format!("every {interval} s from {shift} s on"),
        _ => format!("at every {interval} ticks of the base clock from tick {shift} on"),
    }
}

/// Ticks before the base clock starts, and ticks that a base clock of events does not have.
fn unfit(ticks: Ticks, kind: ClockKind, place: Span, base: Span) -> Option<Diagnostic> {
    if ticks.shift < Rational::ZERO {
        return Some(
            Diagnostic::error(
                codes::E0532,
                place,
                "this clock would tick before its base clock starts",
            )
            .with_note(format!("its first tick is {} before", ticks.shift))
            .with_secondary(base, "the base clock")
            .with_help("shift it by more with `shiftSample` first, or less with `backSample`"),
        );
    }
    if kind != ClockKind::Periodic && !(ticks.interval.is_whole() && ticks.shift.is_whole()) {
        return Some(
            Diagnostic::error(
                codes::E0532,
                place,
                "this clock would tick between the ticks of its base clock",
            )
            .with_note(words(ticks, kind))
            .with_secondary(base, "nothing ticks between two ticks of this clock")
            .with_help("a clock of events or of variable interval can be sub-sampled and shifted by whole ticks only"),
        );
    }
    None
}

/// The base clock of each set: connected by conversions.
fn components(count: usize, edges: &[Edge]) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..count).collect();
    fn root(parent: &mut [usize], mut node: usize) -> usize {
        while parent[node] != node {
            parent[node] = parent[parent[node]];
            node = parent[node];
        }
        node
    }
    for edge in edges {
        let (a, b) = (root(&mut parent, edge.from), root(&mut parent, edge.to));
        parent[a.max(b)] = a.min(b);
    }
    (0..count).map(|node| root(&mut parent, node)).collect()
}

/// The sets of each base clock, in order.
fn groups(roots: &[usize], components: &[usize]) -> Vec<Vec<usize>> {
    let mut members: std::collections::BTreeMap<usize, Vec<usize>> = Default::default();
    for (node, &root) in roots.iter().enumerate() {
        if node == root {
            members.entry(components[root]).or_default().push(root);
        }
    }
    members.into_values().collect()
}
