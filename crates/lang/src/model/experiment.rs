//! The settings of a run that a model brings along.

use saltus_source::{Diagnostic, Edit, Span};
use saltus_syntax::ast::{Argument, Binding, ClassDefinition, ClassModification, Expr, ExprKind};

use crate::codes;
use crate::expr::{Context, Mode};
use crate::failure::{Fallible, did_you_mean, error, fail};
use crate::flat::Experiment;
use crate::flattener::Flattener;
use crate::hints::is_near;
use crate::ids::ClassId;
use crate::modification::Scope;

const SETTINGS: [&str; 4] = ["StartTime", "StopTime", "Interval", "Tolerance"];

impl Flattener<'_> {
    /// What `annotation(experiment(…))` says.
    pub(super) fn experiment(&mut self, class: ClassId, def: &ClassDefinition) -> Experiment {
        let mut experiment = Experiment::default();
        let Some(arguments) = experiment_of(def) else {
            return experiment;
        };
        self.check_settings(arguments);
        let [start, stop, interval, tolerance] = SETTINGS.map(|name| {
            let expr = setting(arguments, name)?;
            let result = self.setting_value(expr, name, class);
            self.accept(result).map(|value| (value, expr.span))
        });
        if let Some((value, span)) = tolerance.filter(|(value, _)| *value <= 0.0) {
            self.nonsense(span, format!("the tolerance {value} is not positive"));
        }
        if let Some((value, span)) = interval.filter(|(value, _)| *value < 0.0) {
            self.nonsense(span, format!("the interval {value} is negative"));
        }
        if let Some((stop, span)) = stop
            && let from = start.map_or(0.0, |(start, _)| start)
            && stop < from
        {
            self.nonsense(span, format!("the run would stop at {stop} before it starts at {from}"));
        }
        let value = |setting: Option<(f64, Span)>| setting.map(|(value, _)| value);
        experiment.start_time = value(start);
        experiment.stop_time = value(stop);
        experiment.tolerance = value(tolerance);
        experiment.interval = value(interval);
        experiment
    }

    fn nonsense(&mut self, span: Span, message: String) {
        self.diagnostics.push(error(codes::E0312, span, message));
    }

    fn setting_value(&mut self, expr: &Expr, name: &str, class: ClassId) -> Fallible<f64> {
        let ctx = Context::new(Scope { class, instance: None }, Mode::Evaluate);
        let value = self.evaluate(expr, &ctx)?;
        match value.as_expr().and_then(|e| e.as_number()) {
            Some(number) if value.ty.is_numeric() && number.is_finite() => Ok(number),
            _ => fail(
                codes::E0312,
                expr.span,
                format!("`{name}` must be a number, but this is {}", value.shape()),
            ),
        }
    }

    /// A setting that is nearly one is hardly one of another tool.
    fn check_settings(&mut self, arguments: &ClassModification) {
        for argument in &arguments.arguments {
            let Argument::Modification(m) = argument else { continue };
            let Some(part) = m.name.parts.first() else { continue };
            let (name, place) = (part.name.as_str(), part.span);
            if !SETTINGS.contains(&name)
                && let Some(meant) = did_you_mean(name, SETTINGS)
            {
                let message = format!("`experiment` has no setting `{name}`");
                let warning = Diagnostic::warning(codes::W0206, place, message);
                self.diagnostics.push(if is_near(name, meant) {
                    let fix = vec![Edit::replace(place, meant)];
                    let warning = warning.with_help(format!("did you mean `{meant}`?"));
                    warning.with_safe_fix(format!("replace `{name}` by `{meant}`"), fix)
                } else {
                    self.suggesting(warning, name, place, meant)
                });
            }
        }
    }
}

fn experiment_of(def: &ClassDefinition) -> Option<&ClassModification> {
    let annotation = def.annotation.as_ref()?;
    let experiment = annotation.modification.find("experiment")?;
    experiment.modification.as_ref()?.class_modification.as_deref()
}

fn setting<'m>(arguments: &'m ClassModification, name: &str) -> Option<&'m Expr> {
    match &arguments.find(name)?.modification.as_ref()?.binding {
        Some(Binding::Expr(expr)) if !matches!(expr.kind, ExprKind::Error) => Some(expr),
        _ => None,
    }
}
