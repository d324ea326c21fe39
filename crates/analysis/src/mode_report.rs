//! One mode, in the user's words.

use std::cmp::Ordering;

use saltus_mdae::print::{Names, UserNames, equation};
use saltus_mdae::{Derivative, EquationId, ExprId, ExprPool, Idx, Mdae, VarId};
use saltus_source::Span;
use saltus_structure::mode::{
    BlockKind, ModeFailure, ModeStructure, Modes, RankDeficiency, Remedy, check_rank, remedies, undetermined,
};
use saltus_structure::modular::blame::blame;

use crate::{BlockReport, EquationReport, ModeShape, Refusal, UnknownReport};

/// The structure of a mode as a report.
pub(crate) fn shape(names: &UserNames, modes: &Modes, structure: &ModeStructure) -> ModeShape {
    let model = names.model();
    let plan = structure.plan(model, modes, &structure.selection);
    let equations = structure.equations.iter().zip(&structure.sigma.c).map(|(&id, &c)| {
        let origin = model.origins.get(model.equations[id].origin);
        EquationReport {
            text: equation_text(names, id),
            span: span(model, id),
            component: origin.map_or(String::new(), |origin| origin.component.to_string()),
            differentiations: c,
        }
    });
    let unknowns = structure
        .unknowns
        .iter()
        .zip(&structure.sigma.d)
        .map(|(&var, &d)| UnknownReport {
            name: names.derivative(var, 0),
            order: d,
        });
    let blocks = plan.blocks().map(|block| {
        let unknown = |position: u32| {
            let derivative = block.solve_for[position as usize];
            names.derivative(derivative.var, derivative.order)
        };
        BlockReport {
            unknowns: (0..block.solve_for.len() as u32).map(unknown).collect(),
            equations: block
                .equations
                .iter()
                .map(|&(id, times)| differentiated(names, id, times))
                .collect(),
            kind: kind_text(block.kind).to_owned(),
            tears: block.tearing.map_or(Vec::new(), |tearing| {
                tearing.tears.iter().copied().map(unknown).collect()
            }),
        }
    });
    ModeShape {
        equations: equations.collect(),
        unknowns: unknowns.collect(),
        dead: structure.dead.iter().map(|&var| names.derivative(var, 0)).collect(),
        states: plan
            .states
            .iter()
            .map(|s| names.derivative(s.state.var, s.state.order))
            .collect(),
        index: structure.index(),
        blocks: blocks.collect(),
        singular_blocks: singular_blocks(names, modes, structure),
    }
}

/// Larger modes are not looked at in numbers.
const MOST_EQUATIONS_IN_NUMBERS: usize = 20_000;

fn singular_blocks(names: &UserNames, modes: &Modes, structure: &ModeStructure) -> Vec<Refusal> {
    if structure.equations.len() > MOST_EQUATIONS_IN_NUMBERS {
        return Vec::new();
    }
    let found = check_rank(names.model(), modes, structure, None);
    let everywhere = found.iter().filter(|found| found.remedy != Remedy::AnotherPoint);
    everywhere.map(|found| singular_block(names, found)).collect()
}

fn singular_block(names: &UserNames, found: &RankDeficiency) -> Refusal {
    let model = names.model();
    let equations = found.equations.iter();
    let unknown = |&var: &VarId| {
        let origin = model.origins.get(model.variables[var].origin);
        (names.derivative(var, 0), origin.and_then(|origin| origin.span))
    };
    Refusal {
        summary: format!(
            "{} equations determine only {} of their unknowns, although each unknown occurs where it should",
            found.equations.len(),
            found.rank
        ),
        equations: equations
            .map(|&(id, times)| (differentiated(names, id, times), span(model, id)))
            .collect(),
        unknowns: found.undetermined.iter().map(unknown).collect(),
        help: vec![match &found.remedy {
            Remedy::LinearCombination { replaced, .. } => format!(
                "leading derivatives cancel in a combination of these equations: write it in place of {}",
                equation_text(names, *replaced)
            ),
            _ => "state the equations in other variables, so that no combination of them cancels".to_owned(),
        }],
    }
}

fn kind_text(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Explicit => "explicit",
        BlockKind::Linear => "linear",
        BlockKind::Nonlinear => "nonlinear",
    }
}

/// A singular mode as a report; `active` are its equations.
pub(crate) fn refusal(names: &UserNames, modes: &Modes, active: &[EquationId], failure: &ModeFailure) -> Refusal {
    let model = names.model();
    let described = |&id: &EquationId| (equation_text(names, id), span(model, id));
    let help = remedies(model, modes, &|id| active.binary_search(&id).is_ok(), failure);
    let mut refusal = match failure {
        ModeFailure::Singular {
            equations,
            unknowns,
            overdetermined,
            underdetermined,
            ..
        } => {
            let too_many = overdetermined.iter().flat_map(|piece| &piece.equations);
            let without = underdetermined.iter().flat_map(|piece| &piece.unknowns);
            let open: Vec<VarId> = without.copied().chain(unmentioned(model, modes, active)).collect();
            let declarations = open.iter().map(|&var| declaration(model, var));
            Refusal {
                summary: summary(*equations, *unknowns),
                equations: too_many.map(described).collect(),
                unknowns: undetermined(model, modes, &open)
                    .into_iter()
                    .zip(declarations)
                    .collect(),
                help,
            }
        }
        ModeFailure::TooManyDifferentiations { equation: id } => Refusal {
            summary: "an equation would have to be differentiated without end".to_owned(),
            equations: vec![described(id)],
            unknowns: Vec::new(),
            help,
        },
        ModeFailure::DependentConstraints {
            equations, dependent, ..
        } => Refusal {
            summary: "constraints follow from each other, or contradict each other".to_owned(),
            equations: dependent
                .iter()
                .chain(equations.iter().filter(|e| !dependent.contains(e)))
                .map(described)
                .collect(),
            unknowns: Vec::new(),
            help,
        },
    };
    name_components(model, &mut refusal, failure);
    if matches!(failure, ModeFailure::Singular { .. }) {
        refusal.help.splice(0..0, blamed(names, modes, active));
    }
    refusal
}

/// The component that is to blame for a singular mode, if that is narrower than the model.
fn blamed(names: &UserNames, modes: &Modes, active: &[EquationId]) -> Option<String> {
    let model = names.model();
    let component = |id: EquationId| {
        let origin = model.origins.get(model.equations[id].origin);
        origin.map_or_else(|| "".into(), |origin| origin.component.clone())
    };
    let rows: Vec<_> = active
        .iter()
        .map(|&id| (component(id), modes.signatures().row(id.index()).to_vec()))
        .collect();
    // Where everything belongs to the model itself there is nobody else to blame.
    if rows.iter().all(|(component, _)| component.is_empty()) {
        return None;
    }
    let found = blame(&rows)?;
    if !found.component.is_empty() && found.parts.is_empty() {
        return Some(format!(
            "the component `{}` is wrong in this mode whatever it is connected to: look there first",
            found.component
        ));
    }
    let quoted =
        |items: &mut dyn Iterator<Item = String>| items.map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ");
    let few = (2..=MOST_BLAMED).contains(&found.parts.len()) && (1..=MOST_BLAMED).contains(&found.variables.len());
    few.then(|| {
        let parts = quoted(&mut found.parts.iter().cloned());
        let variables = quoted(&mut found.variables.iter().map(|&var| names.derivative(var, 0)));
        format!("each of {parts} is sound by itself, but not joined like this: look at {variables} between them")
    })
}

/// Components and variables that are named.
const MOST_BLAMED: usize = 4;

/// Equal equations of different components are named with their components.
fn name_components(model: &Mdae, refusal: &mut Refusal, failure: &ModeFailure) {
    let ids: Vec<EquationId> = match failure {
        ModeFailure::Singular { overdetermined, .. } => overdetermined
            .iter()
            .flat_map(|piece| piece.equations.iter().copied())
            .collect(),
        _ => return,
    };
    let texts: Vec<String> = refusal.equations.iter().map(|(text, _)| text.clone()).collect();
    for ((text, _), id) in refusal.equations.iter_mut().zip(ids) {
        let component = model
            .origins
            .get(model.equations[id].origin)
            .map(|origin| origin.component.clone());
        let component = component.unwrap_or_default();
        if !component.is_empty() && texts.iter().filter(|other| *other == text).count() > 1 {
            *text = format!("{text}  (in {component})");
        }
    }
}

fn summary(equations: usize, unknowns: usize) -> String {
    let count = |number: usize, noun: &str| match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    };
    match equations.cmp(&unknowns) {
        Ordering::Less => format!(
            "{}, but only {}",
            count(unknowns, "unknown"),
            count(equations, "equation")
        ),
        Ordering::Greater => format!(
            "{} for only {}",
            count(equations, "equation"),
            count(unknowns, "unknown")
        ),
        Ordering::Equal => "the equations do not determine the unknowns".to_owned(),
    }
}

/// The unknowns that no active equation mentions.
fn unmentioned(model: &Mdae, modes: &Modes, active: &[EquationId]) -> Vec<VarId> {
    let mut mentioned = vec![false; model.variables.len()];
    for equation in active {
        for &Derivative { var, .. } in modes.signatures().row(equation.index()) {
            mentioned[var.index()] = true;
        }
    }
    let unknowns = model.variables.ids();
    unknowns
        .filter(|&var| model.is_unknown(var) && !mentioned[var.index()])
        .collect()
}

fn declaration(model: &Mdae, var: VarId) -> Option<Span> {
    model.origins.get(model.variables[var].origin)?.span
}

pub(crate) fn equation_text(names: &UserNames, id: EquationId) -> String {
    let model = names.model();
    residual_text(names, &model.pool, model.equations[id].residual)
}

/// An equation as users write it.
pub(crate) fn residual_text(names: &UserNames, pool: &ExprPool, residual: ExprId) -> String {
    equation(pool, names, residual)
}

fn differentiated(names: &UserNames, id: EquationId, times: u16) -> String {
    let text = equation_text(names, id);
    match times {
        0 => text,
        1 => format!("{text} (differentiated)"),
        _ => format!("{text} (differentiated {times} times)"),
    }
}

pub(crate) fn span(model: &Mdae, id: EquationId) -> Option<Span> {
    model.origins.get(model.equations[id].origin)?.span
}
