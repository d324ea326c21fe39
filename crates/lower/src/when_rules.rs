//! What the language asks of when-equations as a whole: every branch defines the same variables, and a state is given new
//! values in one place only.

use std::collections::BTreeMap;

use saltus_lang::flat::{EquationKind, FlatEquation, FlatExpr, Variability, VariableId, WhenBranch};
use saltus_mdae::{OriginId, Role};
use saltus_source::{Diagnostic, codes};

use crate::{Lowering, Meaning};

/// Discrete variables that equations define, with the first place where they do.
type Defined = BTreeMap<VariableId, OriginId>;

impl Lowering<'_> {
    /// Every branch of a when-equation defines the same variables, which no other one that is always there does.
    pub(crate) fn check_branches(&mut self, branches: &[WhenBranch], always: bool) {
        let defined: Vec<Defined> = branches.iter().map(|branch| self.defined_by(&branch.body)).collect();
        self.compare(&defined, "when-equation");
        let mut here = Defined::new();
        for (id, origin) in defined.into_iter().flatten().filter(|_| always) {
            here.entry(id).or_insert(origin);
        }
        for (id, origin) in here {
            match self.set_at_events.get(&id) {
                Some(&first) => self.report_second_when(id, origin, first),
                None => {
                    self.set_at_events.insert(id, origin);
                }
            }
        }
    }

    fn report_second_when(&mut self, id: VariableId, origin: OriginId, first: OriginId) {
        let (span, name) = (self.span_of(origin), self.flat.variables[id].name.clone());
        let earlier = self.span_of(first);
        self.report(
            Diagnostic::error(codes::E0522, span, format!("a second when-equation sets `{name}`"))
                .with_secondary(earlier, "the first is here")
                .with_note("both may act at one instant, and nothing says which value would count")
                .with_help("join the two: `when c1 then v = a; elsewhen c2 then v = b; end when;`"),
        );
    }

    /// The discrete variables that equations of a when-clause define; those of the branches of an if-equation in it are
    /// compared.
    fn defined_by(&mut self, body: &[FlatEquation]) -> Defined {
        let mut all = Defined::new();
        for equation in body {
            let origin = self.origin(equation.provenance);
            match &equation.kind {
                EquationKind::Equal(FlatExpr::Variable(id), _)
                    if self.flat.variables[*id].variability <= Variability::Parameter =>
                {
                    let (span, name) = (self.span_of(origin), self.flat.variables[*id].name.clone());
                    self.report(
                        Diagnostic::error(
                            codes::E0303,
                            span,
                            format!("`{name}` is a parameter and cannot be set in a `when`"),
                        )
                        .with_help("declare it `discrete` to have it change at events"),
                    );
                }
                EquationKind::Equal(lhs, rhs) => {
                    let Some(id) = [lhs, rhs].into_iter().find_map(|side| self.discrete_variable(side)) else {
                        continue;
                    };
                    if all.insert(id, origin).is_some() {
                        self.report_second_definition(id, origin);
                    }
                }
                EquationKind::If { branches, otherwise } => {
                    let bodies = branches.iter().map(|branch| &branch.body).chain([otherwise]);
                    let defined: Vec<Defined> = bodies.map(|body| self.defined_by(body)).collect();
                    if branches.iter().any(|branch| self.varies(&branch.condition)) {
                        self.compare(&defined, "if-equation inside `when`");
                    }
                    for (id, origin) in defined.into_iter().flatten() {
                        all.entry(id).or_insert(origin);
                    }
                }
                _ => {}
            }
        }
        all
    }

    fn discrete_variable(&self, side: &FlatExpr) -> Option<VariableId> {
        let FlatExpr::Variable(id) = side else { return None };
        match self.meanings[*id] {
            Meaning::Variable(var) if self.model.variables[var].role == Role::Discrete => Some(*id),
            _ => None,
        }
    }

    /// Whether a condition can change during a run.
    fn varies(&self, condition: &FlatExpr) -> bool {
        let mut varies = false;
        condition.walk(&mut |part| {
            varies |= match part {
                FlatExpr::Variable(id) => self.flat.variables[*id].variability > Variability::Parameter,
                FlatExpr::Time | FlatExpr::Builtin(..) => true,
                _ => false,
            }
        });
        varies
    }

    fn compare(&mut self, branches: &[Defined], what: &str) {
        let mut all = Defined::new();
        for (&id, &origin) in branches.iter().flatten() {
            all.entry(id).or_insert(origin);
        }
        for (id, origin) in all {
            let missing = branches.iter().filter(|branch| !branch.contains_key(&id)).count();
            if missing == 0 {
                continue;
            }
            let (span, name) = (self.span_of(origin), self.flat.variables[id].name.clone());
            let message = format!("only some branches of this {what} define `{name}`");
            self.report(
                Diagnostic::error(codes::E0521, span, message)
                    .with_label("defined here")
                    .with_note("all branches must define the same variables: otherwise its value would be left open")
                    .with_help(format!(
                        "add `{name} = pre({name})` to the branches that leave it as it is"
                    )),
            );
        }
    }

    fn report_second_definition(&mut self, id: VariableId, origin: OriginId) {
        let (span, name) = (self.span_of(origin), self.flat.variables[id].name.clone());
        self.report(
            Diagnostic::error(codes::E0521, span, format!("`{name}` is defined twice in one branch"))
                .with_help("remove one of the two equations"),
        );
    }

    /// A state is reinitialised in one when-equation only, and once in each of its branches.
    pub(crate) fn check_reinits(&mut self, branches: &[WhenBranch]) {
        let mut here = Defined::new();
        for branch in branches {
            for (id, origin) in self.reinits_of(&branch.body) {
                here.entry(id).or_insert(origin);
            }
        }
        for (id, origin) in here {
            match self.reinitialised.get(&id) {
                Some(&first) => self.report_second_reinit(id, origin, first),
                None => {
                    self.reinitialised.insert(id, origin);
                }
            }
        }
    }

    fn reinits_of(&mut self, body: &[FlatEquation]) -> Defined {
        let mut all = Defined::new();
        for equation in body {
            let origin = self.origin(equation.provenance);
            let own = match &equation.kind {
                EquationKind::Reinit(id, _) => Defined::from([(*id, origin)]),
                EquationKind::If { branches, otherwise } => {
                    let bodies = branches.iter().map(|branch| &branch.body).chain([otherwise]);
                    let found: Vec<Defined> = bodies.map(|body| self.reinits_of(body)).collect();
                    found.into_iter().flatten().collect()
                }
                _ => continue,
            };
            for (id, origin) in own {
                match all.get(&id) {
                    Some(&first) => self.report_second_reinit(id, origin, first),
                    None => {
                        all.insert(id, origin);
                    }
                }
            }
        }
        all
    }

    fn report_second_reinit(&mut self, id: VariableId, origin: OriginId, first: OriginId) {
        let (span, name) = (self.span_of(origin), self.flat.variables[id].name.clone());
        let earlier = self.span_of(first);
        self.report(
            Diagnostic::error(codes::E0522, span, format!("a second `reinit` of `{name}`"))
                .with_secondary(earlier, "the first is here")
                .with_note("both may act at one instant, and nothing says which value would count")
                .with_help("join the two: `when c1 then reinit(x, a); elsewhen c2 then reinit(x, b); end when;`"),
        );
    }
}
