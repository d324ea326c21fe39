//! What could be done about a singular mode, in the model's own names.

use saltus_mdae::print::{Names, UserNames, equation};
use saltus_mdae::{Derivative, EquationId, Idx, Mdae, VarId};

use super::guards::Modes;
use super::structure::{ModeFailure, SingularPiece};

/// Names listed in one sentence.
const MOST_LISTED: usize = 6;

/// The unknowns that too few equations determine, each by its highest derivative: of a body without a force that is the
/// acceleration, or the variable that stands for it.
pub fn undetermined(model: &Mdae, modes: &Modes, unknowns: &[VarId]) -> Vec<String> {
    let names = UserNames::new(model);
    let name = |&var: &VarId| {
        let orders = modes.equations_with(var).iter().flat_map(|equation| {
            let row = modes.signatures().row(equation.index()).iter();
            row.filter(|Derivative { var: other, .. }| *other == var)
                .map(|Derivative { order, .. }| *order)
        });
        names.derivative(var, orders.max().unwrap_or(0))
    };
    unknowns.iter().map(name).collect()
}

/// Proposals for a singular mode; `is_active` says its equations.
pub fn remedies(
    model: &Mdae,
    modes: &Modes,
    is_active: &dyn Fn(EquationId) -> bool,
    failure: &ModeFailure,
) -> Vec<String> {
    match failure {
        ModeFailure::Singular {
            overdetermined,
            underdetermined,
            ..
        } => {
            let words = Words {
                model,
                modes,
                is_active,
            };
            words.singular(overdetermined, underdetermined)
        }
        ModeFailure::TooManyDifferentiations { .. } => {
            vec!["look for a chain of variables each of which is the derivative of the one before".to_owned()]
        }
        ModeFailure::DependentConstraints { dependent, .. } => vec![format!(
            "{} follows from the others or contradicts them: leave it out in this mode, or let one of the parts give \
             (a spring, a slip), so that the loads are shared in a definite way",
            dependent.first().map(|&id| reported(model, id)).unwrap_or_default()
        )],
    }
}

struct Words<'a> {
    model: &'a Mdae,
    modes: &'a Modes,
    is_active: &'a dyn Fn(EquationId) -> bool,
}

impl Words<'_> {
    fn singular(&self, overdetermined: &[SingularPiece], underdetermined: &[SingularPiece]) -> Vec<String> {
        let open: Vec<VarId> = underdetermined
            .iter()
            .flat_map(|piece| piece.unknowns.iter().copied())
            .collect();
        let names = list(undetermined(self.model, self.modes, &open));
        let excess = |piece: &SingularPiece| piece.unknowns.len().saturating_sub(piece.equations.len());
        let missing: usize = underdetermined.iter().map(excess).sum();
        let too_many: Vec<EquationId> = overdetermined
            .iter()
            .flat_map(|piece| piece.equations.iter().copied())
            .collect();
        let trivial = |&id: &EquationId| self.model.pool.constant(self.model.equations[id].residual) == Some(0.0);
        match (too_many.is_empty(), missing) {
            (true, 0 | 1) => self.missing("one more equation is", &names, &open),
            (true, _) => self.missing(&format!("{missing} more equations are"), &names, &open),
            (false, 0) => {
                vec!["leave out one of these equations in this mode, or make it depend on another unknown".to_owned()]
            }
            (false, _) if too_many.iter().all(trivial) => vec![format!(
                "the equations hold only differences of some of {names}: give one of them a value (connect a ground, \
                 fix a support)"
            )],
            (false, _) => vec![format!(
                "as many equations are too many as are missing: let one of {names} enter one of these equations (a \
                 resistance in a loop of ideal switches and sources, a slip between rigid parts), or put an equation \
                 for them in the place of one"
            )],
        }
    }

    fn missing(&self, how_many: &str, names: &str, open: &[VarId]) -> Vec<String> {
        let mut help = vec![format!("{how_many} needed for {names} in this mode")];
        let candidates = open.iter().flat_map(|&var| self.modes.equations_with(var));
        let mut elsewhere: Vec<EquationId> = candidates.copied().filter(|&id| !(self.is_active)(id)).collect();
        elsewhere.sort_unstable();
        elsewhere.dedup();
        let texts: Vec<String> = elsewhere.iter().map(|&id| reported(self.model, id)).collect();
        match texts.len() {
            0 => return help,
            1 => help.push(format!(
                "{} holds in other modes only: write what holds here in its place",
                texts[0]
            )),
            _ => help.push(format!(
                "{} hold in other modes only: write what holds here in their place",
                list(texts)
            )),
        }
        help.push(
            "if this mode lasts for an instant only, as an impact does, write restart equations for it in a `when`"
                .to_owned(),
        );
        help
    }
}

fn reported(model: &Mdae, id: EquationId) -> String {
    let residual = model.equations[id].residual;
    format!("`{}`", equation(&model.pool, &UserNames::new(model), residual))
}

/// `a`, `b` and 3 more
fn list(names: Vec<String>) -> String {
    let quoted = |name: &String| {
        if name.starts_with('`') {
            name.clone()
        } else {
            format!("`{name}`")
        }
    };
    let shown: Vec<String> = names.iter().take(MOST_LISTED).map(quoted).collect();
    match names.len().saturating_sub(MOST_LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
