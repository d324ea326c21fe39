//! The constructive semantics of RR-8933 as a report: never a gate, what it refuses may simulate all the same.

use saltus_mdae::print::{Names as _, UserNames, expression};
use saltus_mdae::{Action, EquationId, ExprId, Idx, Mdae, VarId};
use saltus_structure::constructive::{
    ConstructiveOptions, ConstructiveVerdict, Course, Names, Outcome, PredicateId, Report, Shifted, ShiftedEquation,
    Sides, Step, System, analyze, shifted_names, valuation_text,
};
use serde_json::{Value, json};

use crate::mode_report::residual_text;
use saltus_drawing::{Diagram, DiagramEdge, DiagramNode, EdgeKind, NodeKind, shortened};

/// What the constructive semantics says about a model, in its names.
#[derive(Debug)]
pub struct ConstructiveReport<'m> {
    title: String,
    /// What is said of the whole, or of each of several parts that have nothing to do with each other.
    parts: Vec<PartReport<'m>>,
}

/// What is said of a system, or of a part of it.
#[derive(Debug)]
struct PartReport<'m> {
    report: Report,
    names: ModelNames<'m>,
}

/// The constructive semantics.
pub fn constructive_report<'m>(name: &str, model: &'m Mdae) -> ConstructiveReport<'m> {
    let options = ConstructiveOptions::default();
    let system = System::from_model(model);
    let whole = (0..system.predicates.len()).map(PredicateId::from_usize).collect();
    let parts = if system.predicates.len() <= options.most_listed {
        vec![(system, whole)]
    } else {
        system.parts()
    };
    let predicates = System::predicate_names(model);
    let part = |(system, own): (System, Vec<PredicateId>)| PartReport {
        report: analyze(&system, options),
        names: ModelNames {
            names: UserNames::new(model),
            restart: restart_equations(model),
            predicates: own
                .iter()
                .map(|predicate| predicates[predicate.index()].clone())
                .collect(),
            complementary: system.equations.into_iter().map(|equation| equation.sides).collect(),
        },
    };
    ConstructiveReport {
        title: name.to_owned(),
        parts: parts.into_iter().map(part).collect(),
    }
}

#[derive(Debug)]
struct ModelNames<'m> {
    names: UserNames<'m>,
    /// Restart equations are numbered behind the others.
    restart: Vec<ExprId>,
    predicates: Vec<String>,
    /// The sides of equations that are complementarity conditions.
    complementary: Vec<Option<Sides>>,
}

fn restart_equations(model: &Mdae) -> Vec<ExprId> {
    let branches = model.whens.iter().flat_map(|when| &when.branches);
    let actions = branches.flat_map(|branch| &branch.actions);
    actions
        .filter_map(|action| match action {
            Action::Restart { residual, .. } => Some(*residual),
            _ => None,
        })
        .collect()
}

impl Names for ModelNames<'_> {
    fn variable(&self, variable: VarId) -> String {
        self.names.derivative(variable, 0)
    }

    fn equation(&self, id: EquationId) -> String {
        let model = self.names.model();
        if let Some(Some(sides)) = self.complementary.get(id.index()) {
            let [first, second] = sides
                .zero
                .map(|zero| expression(&model.pool, &self.names, model.equations[zero].residual));
            return format!("`complementarity({first}, {second})`");
        }
        let residual = match model.equations.get(id) {
            Some(equation) => Some(equation.residual),
            None => self.restart.get(id.index() - model.equations.len()).copied(),
        };
        residual.map_or_else(String::new, |residual| {
            format!("`{}`", residual_text(&self.names, &model.pool, residual))
        })
    }

    fn predicate(&self, predicate: PredicateId) -> String {
        self.predicates.get(predicate.index()).cloned().unwrap_or_default()
    }
}

impl ConstructiveReport<'_> {
    /// Accepted, rejected, or not known: that of the worst part.
    pub fn verdict(&self) -> ConstructiveVerdict {
        let verdicts = || self.parts.iter().map(|part| part.report.verdict());
        let worst = [ConstructiveVerdict::Rejected, ConstructiveVerdict::Undecided];
        let found = worst
            .into_iter()
            .find(|verdict| verdicts().any(|of_part| of_part == *verdict));
        found.unwrap_or(ConstructiveVerdict::Accepted)
    }

    /// Verdict and execution scheme as text.
    pub fn to_text(&self) -> String {
        if let [only] = &self.parts[..] {
            return only.report.to_text(&only.names);
        }
        let verdict = verdict_text(self.verdict());
        let mut out = format!(
            "constructive semantics: {verdict}\n{} parts have nothing to do with each other\n",
            self.parts.len()
        );
        for (number, part) in self.parts.iter().enumerate() {
            out.push_str(&format!("\npart {}\n{}", number + 1, part.report.to_text(&part.names)));
        }
        out
    }

    /// The execution scheme for Graphviz.
    pub fn to_dot(&self) -> String {
        self.diagram().to_dot()
    }

    /// The execution scheme as SVG.
    pub fn to_svg(&self) -> String {
        self.diagram().to_svg()
    }

    /// For machines. The schema is documented in the guide, page "Analysis as JSON".
    pub fn to_json(&self) -> Value {
        let mut whole = match &self.parts[..] {
            [only] => only.to_json(),
            parts => json!({
                "event_cycle": Value::Null,
                "merged": self.parts.iter().any(|part| part.report.merged),
                "modes": [],
                "start_states": [],
                "parts": parts.iter().map(PartReport::to_json).collect::<Vec<_>>(),
            }),
        };
        whole["model"] = json!(self.title);
        whole["accepted"] = json!(self.verdict() == ConstructiveVerdict::Accepted);
        whole["verdict"] = json!(verdict_text(self.verdict()));
        if self.parts.len() == 1 {
            whole["parts"] = json!([]);
        }
        whole
    }

    /// Start states as nodes, reactions as edges, what gets stuck in red; parts beside each other.
    fn diagram(&self) -> Diagram {
        let mut whole = Diagram {
            title: self.title.clone(),
            nodes: Vec::new(),
            edges: Vec::new(),
        };
        for part in &self.parts {
            let first = whole.nodes.len();
            let (nodes, edges) = part.diagram();
            whole.nodes.extend(nodes);
            whole.edges.extend(edges.into_iter().map(|edge| DiagramEdge {
                from: edge.from + first,
                to: edge.to + first,
                ..edge
            }));
        }
        whole
    }
}

fn verdict_text(verdict: ConstructiveVerdict) -> &'static str {
    match verdict {
        ConstructiveVerdict::Accepted => "accepted",
        ConstructiveVerdict::Rejected => "rejected",
        ConstructiveVerdict::Undecided => "undecided",
    }
}

impl PartReport<'_> {
    fn to_json(&self) -> Value {
        let report = &self.report;
        let modes = report.modes.iter().map(|mode| {
            let valuation: Vec<Option<bool>> = mode.valuation.iter().copied().map(Some).collect();
            json!({
                "valuation": self.valuation(&valuation),
                "singular": mode.sigma.is_err(),
                "index": mode.sigma.as_ref().ok().map(|sigma| sigma.index()),
                "degrees_of_freedom": mode.sigma.as_ref().ok().map(|sigma| sigma.degrees_of_freedom()),
            })
        });
        let start_states = report.instants.iter().enumerate().map(|(number, instant)| {
            let courses = report.courses(number);
            json!({
                "known": self.variables(&instant.known),
                "facts": self.equations(&instant.facts),
                "reactions": courses.iter().map(|course| self.course(course)).collect::<Vec<_>>(),
            })
        });
        json!({
            "verdict": verdict_text(report.verdict()),
            "event_cycle": report.event_cycle,
            "merged": report.merged,
            "modes": modes.collect::<Vec<_>>(),
            "start_states": start_states.collect::<Vec<_>>(),
        })
    }

    fn course(&self, course: &Course<'_>) -> Value {
        let valuations = course
            .reactions
            .iter()
            .map(|&r| self.valuation(&self.report.reactions[r].valuation));
        let steps = course.example.steps.iter().filter_map(|step| self.step(step));
        let (to, stuck) = match &course.example.outcome {
            Outcome::Completed { to, .. } => (Some(*to), None),
            Outcome::Failed(failure) => (None, Some(failure.text(&self.names))),
            Outcome::Excluded => (None, None),
        };
        json!({
            "valuations": valuations.collect::<Vec<_>>(),
            "to": to,
            "stuck": stuck,
            "event": matches!(course.example.outcome, Outcome::Completed { event: true, .. }),
            "steps": steps.collect::<Vec<_>>(),
        })
    }

    fn step(&self, step: &Step) -> Option<Value> {
        Some(match step {
            Step::Solve { equations, unknowns } => json!({
                "step": "solve", "equations": self.equations(equations), "unknowns": self.variables(unknowns),
            }),
            Step::Shift { equation, is_fact } => json!({
                "step": if *is_fact { "shift" } else { "reset" }, "equations": self.equations(&[*equation]),
            }),
            Step::Latent(equation) => json!({"step": "latent", "equations": self.equations(&[*equation])}),
            // Reactions are reported together for several valuations.
            Step::Evaluate(_) => return None,
        })
    }

    fn valuation(&self, valuation: &[Option<bool>]) -> Value {
        let known = valuation
            .iter()
            .enumerate()
            .filter_map(|(i, value)| Some((i, (*value)?)));
        known
            .map(|(position, value)| (self.names.predicate(PredicateId::from_usize(position)), json!(value)))
            .collect()
    }

    fn variables(&self, list: &[Shifted]) -> Vec<String> {
        let name = |one: &Shifted| shifted_names(&[*one], |variable| self.names.variable(variable));
        list.iter().map(name).collect()
    }

    fn equations(&self, list: &[ShiftedEquation]) -> Vec<String> {
        let name = |one: &ShiftedEquation| shifted_names(&[*one], |equation| self.names.equation(equation));
        list.iter().map(name).collect()
    }

    fn diagram(&self) -> (Vec<DiagramNode>, Vec<DiagramEdge>) {
        let report = &self.report;
        let mut nodes: Vec<DiagramNode> = report
            .instants
            .iter()
            .enumerate()
            .map(|(number, instant)| DiagramNode {
                lines: vec![
                    format!("start state {number}"),
                    shortened(&format!("known {}", self.variables(&instant.known).join(", "))),
                ],
                kind: NodeKind::Plain,
            })
            .collect();
        let mut edges = Vec::new();
        for from in 0..report.instants.len() {
            for course in report.courses(from) {
                let (to, kind) = match &course.example.outcome {
                    Outcome::Completed { to, .. } if course.example.has_reset() => (*to, EdgeKind::Impulsive),
                    Outcome::Completed { to, .. } => (*to, EdgeKind::Smooth),
                    outcome => {
                        nodes.push(DiagramNode {
                            lines: vec![shortened(&outcome.text(&self.names))],
                            kind: NodeKind::Refused,
                        });
                        (nodes.len() - 1, EdgeKind::Refused)
                    }
                };
                let lines = self.edge_lines(&course);
                edges.push(DiagramEdge { from, to, lines, kind });
            }
        }
        (nodes, edges)
    }

    /// The valuations, and what is reset.
    fn edge_lines(&self, course: &Course<'_>) -> Vec<String> {
        const MOST: usize = 3;
        let texts = course
            .reactions
            .iter()
            .map(|&r| valuation_text(&self.report.reactions[r].valuation, &self.names));
        let mut lines: Vec<String> = texts.take(MOST).map(|text| shortened(&text)).collect();
        if course.reactions.len() > MOST {
            lines.push(format!("or {} others", course.reactions.len() - MOST));
        }
        let resets = course.example.resets();
        if !resets.is_empty() {
            lines.push(shortened(&format!("reset by {}", self.equations(&resets).join(", "))));
        }
        lines
    }
}
