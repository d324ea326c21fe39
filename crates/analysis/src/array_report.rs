//! The method behind a mode change, in the notation of RR-9603: heights with their bounds (appendix C), the mode change
//! array (38) with its matching, and the offsets μ of the rescaling (48).

use std::fmt::Write;

use saltus_mdae::ExprPool;
use saltus_mdae::print::{Names as _, UserNames};
use saltus_structure::restart::{ArrayLabel, ArrayVariable, ConcreteEquation, ModeChange, Part, RestartAnalysis};
use serde_json::{Value, json};

use crate::restart_report::source_text;
use crate::{Analysis, ChangeOutcome};

/// How a restart was found.
#[derive(Clone, Debug, Default)]
pub struct ArrayReport {
    /// For each component of the new mode that is touched: K_*, K^* and the height K.
    pub heights: Vec<[u16; 3]>,
    /// Equations of the array.
    pub equations: Vec<ArrayRow>,
    /// Unknowns of the array that are not in the past: name, instant and μ.
    pub unknowns: Vec<(String, u16, u32)>,
}

/// An equation of the array.
#[derive(Clone, Debug)]
pub struct ArrayRow {
    /// The equation as written.
    pub text: String,
    /// How often it is differentiated.
    pub differentiated: u16,
    /// The instant.
    pub instant: u16,
    /// `head`, `tail`, `transient` or `restart`.
    pub part: &'static str,
    /// Whether it must hold.
    pub mandatory: bool,
    /// The class of variables that it is matched to: a derivative, at whichever instants. `None`: it is disabled.
    pub matched: Option<String>,
    /// μ, if it is enabled.
    pub mu: Option<u32>,
}

pub(crate) fn array_report(
    names: &UserNames,
    pool: &ExprPool,
    change: &ModeChange,
    analysis: &RestartAnalysis,
) -> ArrayReport {
    let mu_of = |label: ArrayLabel| {
        let mut equations = analysis.equations.iter();
        let own = equations.find(|(equation, _)| *equation == ConcreteEquation::Array(label));
        own.map(|&(_, mu)| mu)
    };
    let row = |(position, candidate): (usize, &saltus_structure::restart::ArrayEquation)| {
        let enabled = analysis.enabled.iter().find(|(at, _)| *at == position);
        let label = candidate.label;
        ArrayRow {
            text: source_text(names, pool, change, label.source),
            differentiated: label.order,
            instant: label.instant,
            part: match candidate.part {
                Part::Head => "head",
                Part::Tail => "tail",
                Part::Transient => "transient",
                Part::Restart => "restart",
            },
            mandatory: candidate.mandatory,
            matched: enabled.map(|(_, class)| names.derivative(class.var, class.degree)),
            mu: enabled.and_then(|_| mu_of(label)),
        }
    };
    let unknown = |&(ArrayVariable { var, order, instant }, mu): &(ArrayVariable, u32)| {
        (names.derivative(var, order), instant, mu)
    };
    let heights = analysis.components.iter();
    ArrayReport {
        heights: heights
            .map(|touched| [touched.bounds.0, touched.bounds.1, touched.height])
            .collect(),
        equations: analysis.candidates.iter().enumerate().map(row).collect(),
        unknowns: analysis.unknowns.iter().map(unknown).collect(),
    }
}

impl ArrayReport {
    pub(crate) fn to_json(&self) -> Value {
        let heights = self.heights.iter();
        let heights = heights.map(|[least, most, height]| json!({"least": least, "most": most, "height": height}));
        let equations = self.equations.iter().map(|row| {
            json!({
                "text": row.text,
                "differentiated": row.differentiated,
                "instant": row.instant,
                "part": row.part,
                "mandatory": row.mandatory,
                "matched": row.matched,
                "mu": row.mu,
            })
        });
        let unknowns = self.unknowns.iter();
        let unknowns = unknowns.map(|(name, instant, mu)| json!({"name": name, "instant": instant, "mu": mu}));
        json!({
            "heights": heights.collect::<Vec<_>>(),
            "equations": equations.collect::<Vec<_>>(),
            "unknowns": unknowns.collect::<Vec<_>>(),
        })
    }

    fn write(&self, out: &mut String) {
        for [least, most, height] in &self.heights {
            let _ = writeln!(out, "  height K = {height}, between K_* = {least} and K^* = {most}");
        }
        if self.equations.is_empty() {
            let _ = writeln!(out, "  nothing is touched");
        }
        for row in &self.equations {
            let primes = match row.differentiated {
                0 => String::new(),
                times => format!(", differentiated {times} ×"),
            };
            let must = if row.mandatory { "must hold" } else { "optional" };
            let fate = match (&row.matched, row.mu) {
                (Some(class), Some(mu)) => format!("determines {class}, mu = {mu}"),
                (Some(class), None) => format!("determines {class}"),
                (None, _) => "disabled".to_owned(),
            };
            let (part, text, instant) = (row.part, &row.text, row.instant);
            let _ = writeln!(out, "  {part} @{instant}: `{text}`{primes} ({must}): {fate}");
        }
        let unknowns = self
            .unknowns
            .iter()
            .map(|(name, instant, mu)| format!("{name}@{instant}: {mu}"));
        let unknowns: Vec<String> = unknowns.collect();
        if !unknowns.is_empty() {
            let _ = writeln!(out, "  mu of the unknowns: {}", unknowns.join(", "));
        }
    }
}

impl Analysis {
    /// The method behind each change that was analysed: heights, array, matching and offsets.
    pub fn method_text(&self) -> String {
        let mut out = String::new();
        for change in &self.changes {
            if let ChangeOutcome::Analysed(report) = &change.outcome {
                let (condition, value) = &change.trigger;
                let (from, to) = (change.from, change.to);
                let _ = writeln!(
                    out,
                    "\narray from mode {from} to mode {to} (`{condition}` becomes {value})"
                );
                report.array.write(&mut out);
            }
        }
        out
    }
}
