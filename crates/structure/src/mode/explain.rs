//! Why a mode has no structure, in the model's own names.

use saltus_mdae::print::derivative_name;
use saltus_mdae::{EquationId, Mdae, VarId};

use super::guards::{GuardId, Modes, Valuation};
use super::rank::{RankDeficiency, Remedy};
use super::remedy::remedies;
use super::structure::{ModeFailure, SingularPiece};
use crate::restart::Explanation;

/// Lists longer than this are cut.
const LIST_LIMIT: usize = 12;

/// Explains why a mode has no structure: which equations, which unknowns, in which mode, and what could be done.
pub fn explain_failure(model: &Mdae, modes: &Modes, valuation: &Valuation, failure: &ModeFailure) -> Explanation {
    let words = Words {
        model,
        modes,
        valuation,
    };
    let mut explanation = match failure {
        ModeFailure::Singular {
            equations,
            unknowns,
            overdetermined,
            underdetermined,
            ..
        } => words.singular((*equations, *unknowns), overdetermined, underdetermined),
        ModeFailure::TooManyDifferentiations { equation } => Explanation {
            summary: format!(
                "{}, {} would have to be differentiated more often than is reasonable",
                words.mode(),
                words.equation(*equation)
            ),
            equations: vec![model.equations[*equation].origin],
            ..Explanation::default()
        },
        ModeFailure::DependentConstraints {
            equations, unknowns, ..
        } => Explanation {
            summary: format!(
                "{}, {} constraints on {} depend on each other",
                words.mode(),
                equations.len(),
                words.unknowns(unknowns)
            ),
            details: equations.iter().take(LIST_LIMIT).map(|&e| words.equation(e)).collect(),
            equations: words.origins(equations),
            ..Explanation::default()
        },
    };
    let is_active = |equation| modes.is_active(valuation, equation);
    explanation.help = remedies(model, modes, &is_active, failure);
    explanation
}

/// Explains a block that is regular in structure and singular in numbers.
pub fn explain_rank(model: &Mdae, modes: &Modes, valuation: &Valuation, found: &RankDeficiency) -> Explanation {
    let words = Words {
        model,
        modes,
        valuation,
    };
    let equations: Vec<EquationId> = found.equations.iter().map(|&(equation, _)| equation).collect();
    let summary = format!(
        "{}, {} equations determine only {} of their {} unknowns, although each unknown occurs where it should",
        words.mode(),
        equations.len(),
        found.rank,
        found.unknowns.len()
    );
    let mut details: Vec<String> = equations.iter().take(LIST_LIMIT).map(|&e| words.equation(e)).collect();
    details.push(format!("not determined: {}", words.unknowns(&found.undetermined)));
    let help = match &found.remedy {
        Remedy::AnotherPoint => "this is so at the present values only: give other start values".to_owned(),
        Remedy::LinearCombination { replaced, terms } => {
            let terms: Vec<String> = terms
                .iter()
                .map(|&(equation, factor, order)| {
                    format!("{factor}*{}", derivative_name(&words.short(equation), order))
                })
                .collect();
            format!(
                "the combination {} holds no leading derivative: write it in place of {}",
                terms.join(" + "),
                words.equation(*replaced)
            )
        }
        Remedy::None => "state the equations in other variables, so that no combination of them cancels".to_owned(),
    };
    Explanation {
        summary,
        details,
        help: vec![help],
        equations: words.origins(&equations),
    }
}

struct Words<'a> {
    model: &'a Mdae,
    modes: &'a Modes,
    valuation: &'a Valuation,
}

impl Words<'_> {
    /// The mode as the user's conditions.
    fn mode(&self) -> String {
        if self.modes.guard_count() == 0 {
            return "In the only mode".to_owned();
        }
        let on: Vec<GuardId> = self.modes.guards().filter(|&guard| self.valuation.get(guard)).collect();
        if on.is_empty() {
            return "In the mode in which no condition holds".to_owned();
        }
        let mut texts: Vec<String> = on
            .iter()
            .take(LIST_LIMIT)
            .map(|&guard| self.model.print(self.modes.formula(guard)))
            .collect();
        if on.len() > LIST_LIMIT {
            texts.push(format!("{} more", on.len() - LIST_LIMIT));
        }
        format!("In the mode with {}", texts.join(", "))
    }

    fn singular(
        &self,
        counts: (usize, usize),
        overdetermined: &[SingularPiece],
        underdetermined: &[SingularPiece],
    ) -> Explanation {
        let (equations, unknowns) = counts;
        let mut explanation = Explanation {
            summary: format!(
                "{}, {equations} equations cannot determine {unknowns} unknowns",
                self.mode()
            ),
            ..Explanation::default()
        };
        for piece in overdetermined {
            explanation.details.push(format!(
                "too many equations for {}: {}",
                self.unknowns(&piece.unknowns),
                self.list(piece.equations.iter().map(|&e| self.equation(e)))
            ));
            explanation.equations.extend(self.origins(&piece.equations));
        }
        for piece in underdetermined {
            explanation.details.push(format!(
                "too few equations for {}: {}",
                self.unknowns(&piece.unknowns),
                self.list(piece.equations.iter().map(|&e| self.equation(e)))
            ));
            explanation.equations.extend(self.origins(&piece.equations));
        }
        explanation
    }

    /// Label and text of an equation.
    fn equation(&self, equation: EquationId) -> String {
        let data = &self.model.equations[equation];
        let text = self.model.print_equation(data.residual);
        match &*self.model.origins[data.origin].label {
            "" => format!("`{text}`"),
            label if label == text => format!("`{text}`"),
            label => format!("{label} (`{text}`)"),
        }
    }

    fn short(&self, equation: EquationId) -> String {
        let data = &self.model.equations[equation];
        match &*self.model.origins[data.origin].label {
            "" => format!("({})", self.model.print(data.residual)),
            label => label.to_owned(),
        }
    }

    fn unknowns(&self, unknowns: &[VarId]) -> String {
        self.list(
            unknowns
                .iter()
                .map(|&var| format!("`{}`", self.model.variables[var].name)),
        )
    }

    fn list(&self, items: impl ExactSizeIterator<Item = String>) -> String {
        let count = items.len();
        let mut texts: Vec<String> = items.take(LIST_LIMIT).collect();
        if count > LIST_LIMIT {
            texts.push(format!("and {} more", count - LIST_LIMIT));
        }
        match texts.is_empty() {
            true => "none".to_owned(),
            false => texts.join(", "),
        }
    }

    fn origins(&self, equations: &[EquationId]) -> Vec<saltus_mdae::OriginId> {
        equations.iter().map(|&e| self.model.equations[e].origin).collect()
    }
}
