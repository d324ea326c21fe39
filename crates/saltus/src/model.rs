//! From a class to a model that is ready to run.

use std::sync::{Arc, OnceLock};

use saltus_lang::UnitNotes;
use saltus_lang::flat::{FlatConnector, FlatModel};
use saltus_mdae::function::{Body, ForeignUnit};
use saltus_mdae::stored::Extent;
use saltus_mdae::{Condition, ConditionId, Experiment, ExprId, Idx, IndexVec, Mdae, Role, Variable};
use saltus_results::{InputHash, Manifest, Schema, SourceSpan, Value};
use saltus_routines::{Argument as Passed, Callee, ExternalHost, ExternalObject, RoutineCall};
use saltus_simulate::{Compiled, discrete_loop};
use saltus_source::{Diagnostic, Diagnostics, SourceMap, Span};
use saltus_structure::mode::share_redundant;
use saltus_structure::prepare::{Coefficients, drop_vanishing_terms, prepare};
use saltus_syntax::ast::{
    Argument, Binding, ClassModification, ElementModification, Expr, ExprKind, Ident, Modification, Name, QualifiedName,
};
use saltus_syntax::parse_expression;
use sha2::{Digest, Sha256};

use crate::guess::{Guesses, guesses};
use crate::open::{OpenValue, open_values};
use crate::parameters::{Parameter, ParameterTable, Setting, StructuralSetting};
use crate::pictures::Pictures;
use crate::timing::{Phase, Timings};
use crate::{Fault, Outcome, Run, Session, failure_diagnostic};

/// A compiled model. It can be run any number of times, with other parameters, from any thread.
///
/// ```
/// let session = saltus::Session::new();
/// session.add_text("Decay.mo", "
///     model Decay
///       parameter Real k = 2;
///       Real x(start = 1, fixed = true);
///     equation
///       der(x) = -k*x;
///     end Decay;
/// ");
/// let model = session.compile("Decay").into_result().unwrap();
/// let simulation = model.run().stop(1.0).tolerance(1e-9).simulate().unwrap();
/// let x = simulation.values("x").unwrap();
/// assert!((x.last().unwrap() - (-2.0_f64).exp()).abs() < 1e-7);
///
/// // Threads share it; nothing is compiled again.
/// let end = |k: &str| {
///     let simulation = model.run().set("k", k).unwrap().simulate().unwrap();
///     simulation.values("x").unwrap().last().copied().unwrap()
/// };
/// let (fast, slow) = std::thread::scope(|scope| {
///     let threads = ["3", "1"].map(|k| scope.spawn(move || end(k)));
///     threads.map(|thread| thread.join().unwrap()).into()
/// });
/// assert!(fast < slow);
/// ```
#[derive(Debug)]
pub struct Model {
    pub(crate) compiled: Arc<Compiled>,
    /// How much of the equations there was before they were compiled.
    pub(crate) extent: Extent,
    pub(crate) parameters: ParameterTable,
    /// What it says about pictures; nothing if it comes from a model file.
    pub(crate) pictures: Pictures,
    /// The connectors of the model itself; nothing if it comes from a model file.
    pub(crate) connectors: Vec<FlatConnector>,
    pub(crate) name: String,
    /// How its class was modified, if parameters were set before flattening.
    pub(crate) modification: Option<Arc<ClassModification>>,
    pub(crate) sources: Arc<SourceMap>,
    /// The files that it depends on; found when they are asked for.
    pub(crate) inputs: OnceLock<Vec<InputHash>>,
    /// Whether it comes from a model file: there are no classes to compile again.
    pub(crate) is_from_file: bool,
    pub(crate) timings: Timings,
    pub(crate) warnings: Diagnostics,
    /// Parameters without values and inputs that nothing determines; not known of a model from a file.
    pub(crate) open: Vec<OpenValue>,
    /// Where start values are written that need not hold; not known of a model from a file.
    pub(crate) guesses: Guesses,
}

impl Session {
    /// The flat model of a class: everything scalar, classes and connections resolved.
    pub fn flatten(&self, model: &str) -> Outcome<FlatModel> {
        self.flatten_modified(model, None)
    }

    /// The flat model of a class with the units that follow from those that are declared.
    pub fn flatten_with_units(&self, model: &str) -> Outcome<(FlatModel, UnitNotes)> {
        let flattened = saltus_lang::flatten(
            &self.library,
            model,
            &saltus_lang::FlattenOptions {
                cancel: self.cancel.clone(),
                units: true,
                ..saltus_lang::FlattenOptions::default()
            },
        );
        let units = flattened.units;
        Outcome::new(flattened.model.map(|model| (model, units)), flattened.diagnostics)
    }

    pub(crate) fn flatten_modified(
        &self,
        model: &str,
        modification: Option<&Arc<ClassModification>>,
    ) -> Outcome<FlatModel> {
        let options = saltus_lang::FlattenOptions {
            modification: modification.cloned(),
            ..self.flatten_options()
        };
        let flattened = saltus_lang::flatten(&self.library, model, &options);
        Outcome::new(flattened.model, flattened.diagnostics)
    }

    /// The multi-mode DAE of a class, before anything is eliminated.
    pub(crate) fn lower(&self, flat: &FlatModel) -> Outcome<Mdae> {
        let lowered = saltus_lower::lower(flat);
        let mut model = lowered.model.filter(|_| !self.cancel.is_cancelled());
        // What is in the files given speaks for itself.
        let given = self.library.given();
        let is_given = |span: Span| given.iter().any(|class| class.file == span.file);
        for origin in model.iter_mut().flat_map(|model| model.origins.iter_mut()) {
            let is_elsewhere = origin.span.is_some_and(|span| !is_given(span));
            origin.part = origin.part.filter(|part| is_elsewhere && is_given(*part));
        }
        Outcome::new(model, lowered.diagnostics)
    }

    /// Compiles a class.
    pub fn compile(&self, model: &str) -> Outcome<Model> {
        self.compile_given(model, None, &[])
    }

    /// Compiles equations that were stated in Rust, without any Modelica text, by [`mdae::Builder`](crate::mdae::Builder). Values of parameters
    /// are those in the equations.
    ///
    /// A ball on a rope that may go slack (RR-9603, section 2):
    ///
    /// ```
    /// use saltus::analysis::AnalysisOptions;
    /// use saltus::mdae::Builder;
    ///
    /// let m = Builder::new("CupAndBall");
    /// let (x, y) = (m.state("x", 0.6), m.state("y", -0.6));
    /// let (lambda, s) = (m.unknown("lambda"), m.unknown("s"));
    /// let tight = s.le(&m.real(0.0));
    /// m.equation("e1", x.der().der() + &lambda * &x);
    /// m.equation("e2", y.der().der() + &lambda * &y + 9.81);
    /// let slack = 1.0 - &x * &x - &y * &y;
    /// m.equation_if(&tight, "k1", slack.clone());
    /// m.equation_if(&tight, "k2", &lambda + &s);
    /// m.equation_if(&!&tight, "k3", lambda.clone());
    /// m.equation_if(&!&tight, "k4", slack - &s);
    /// let equations = m.finish().unwrap();
    ///
    /// let session = saltus::Session::new();
    /// let model = session.compile_equations(equations).into_result().unwrap();
    /// let text = model.analyze(&AnalysisOptions::default()).to_text(model.sources());
    /// assert!(text.contains("`der(x)` and `der(y)` may jump; `lambda` and `s` are impulsive (order 1)"));
    /// let simulation = model.run().stop(1.0).simulate().unwrap();
    /// let last = |name: &str| *simulation.values(name).unwrap().last().unwrap();
    /// assert!((last("x").powi(2) + last("y").powi(2) - 1.0).abs() < 1e-6);
    /// ```
    pub fn compile_equations(&self, equations: Mdae) -> Outcome<Model> {
        let name = equations.name.to_string();
        let mut timings = Timings::default();
        let (mdae, coefficients) = timings.measure(Phase::Analyse, || prepare_given(equations, &[]));
        let mut finished = self.finish_model(&name, &FlatModel::default(), mdae, &coefficients);
        if let Some(model) = &mut finished.value {
            model.timings.extend(&timings);
        }
        finished.keep_warnings()
    }

    /// Compiles a modified class with values for coefficients that make terms of its equations appear or vanish.
    fn compile_given(
        &self,
        model: &str,
        modification: Option<Arc<ClassModification>>,
        given: &[(String, f64)],
    ) -> Outcome<Model> {
        let mut timings = Timings::default();
        let flat = timings.measure(Phase::Flatten, || self.flatten_modified(model, modification.as_ref()));
        flat.then(|flat| {
            let lowered = timings.measure(Phase::Analyse, || self.lower(&flat));
            let prepared = lowered.then(|mdae| {
                let prepared = timings.measure(Phase::Analyse, || prepare_given(mdae, given));
                let prepared = Some(prepared).filter(|_| !self.cancel.is_cancelled());
                Outcome::new(prepared, Diagnostics::new())
            });
            prepared.then(|(mdae, coefficients)| {
                let mut finished = self.finish_model(model, &flat, mdae, &coefficients);
                if let Some(model) = &mut finished.value {
                    model.timings.extend(&timings);
                    model.modification = modification;
                }
                finished
            })
        })
        .keep_warnings()
    }

    /// Compiles a prepared model.
    pub(crate) fn finish_model(
        &self,
        name: &str,
        flat: &FlatModel,
        mdae: Mdae,
        coefficients: &Coefficients,
    ) -> Outcome<Model> {
        if let Some(failure) = discrete_loop(&mdae) {
            return Outcome::failed(
                Fault::Model,
                [failure_diagnostic(&failure, &mdae, None)].into_iter().collect(),
            );
        }
        let mut timings = Timings::default();
        let parameters = ParameterTable::new(flat, &mdae, coefficients);
        let extent = mdae.extent();
        let compiled = timings.measure(Phase::Compile, || Compiled::new(mdae));
        match compiled {
            Ok(compiled) => Outcome::new(
                Some(Model {
                    compiled,
                    extent,
                    parameters,
                    name: name.to_owned(),
                    pictures: Pictures::new(flat),
                    connectors: flat.connectors.clone(),
                    modification: None,
                    sources: Arc::clone(self.sources()),
                    inputs: OnceLock::new(),
                    is_from_file: false,
                    timings,
                    warnings: Diagnostics::new(),
                    open: open_values(flat),
                    guesses: guesses(flat),
                }),
                Diagnostics::new(),
            ),
            Err(failure) => {
                // The model went with the failure, and its places with it.
                let diagnostic = failure_diagnostic(&failure, &Mdae::new(name), None);
                Outcome::failed(Fault::Model, [diagnostic].into_iter().collect())
            }
        }
    }

    /// Compiles a class with values for parameters (`("a.n", "3")`), also for those that shape the equations, and for
    /// start values (`("x.start", "1.5")`). Returns the model with the values that a run has to set.
    ///
    /// ```
    /// let session = saltus::Session::new();
    /// session.add_text("M.mo", "
    ///     model M
    ///       parameter Integer n = 1;
    ///       parameter Real k = 1;
    ///       Real x[n] = {k*i for i in 1:n};
    ///     end M;
    /// ");
    /// let settings = [("n", "3"), ("k", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    /// let (model, rest) = session.compile_with("M", &settings).into_result().unwrap();
    /// // `n` changed the equations; `k` can have another value in every run.
    /// assert_eq!(rest, [("k".to_owned(), "2".to_owned())]);
    /// let simulation = model.run().set("k", "5").unwrap().simulate().unwrap();
    /// assert_eq!(simulation.values("x[3]").unwrap().last(), Some(&15.0));
    /// ```
    pub fn compile_with(&self, model: &str, settings: &[(String, String)]) -> Outcome<(Model, Vec<(String, String)>)> {
        self.compile(model).then(|compiled| {
            let mut modifications = Vec::new();
            let mut coefficients = Vec::new();
            let mut numbers = Vec::new();
            let mut rest = Vec::new();
            let mut refused = Diagnostics::new();
            let mut single = Vec::new();
            for (name, value) in settings {
                match compiled.parameters.elements(name, value) {
                    Ok(elements) => single.extend(elements),
                    Err(diagnostic) => refused.push(*diagnostic),
                }
            }
            for (name, value) in &single {
                match compiled.parameters.setting(name, value) {
                    Ok(Setting::Value(_, number)) => {
                        numbers.push((name.clone(), number));
                        rest.push((name.clone(), value.clone()));
                    }
                    Ok(Setting::Coefficient(value)) => coefficients.push((name.clone(), value)),
                    Ok(Setting::Modification(setting)) => match self.argument(name, setting) {
                        Ok(argument) => modifications.push(argument),
                        Err(found) => refused.extend(found),
                    },
                    Err(diagnostic) => refused.push(*diagnostic),
                }
            }
            if refused.has_errors() {
                return Outcome::failed(Fault::Request, refused);
            }
            if modifications.is_empty() && coefficients.is_empty() {
                return Outcome::new(Some((compiled, rest)), Diagnostics::new());
            }
            if !coefficients.is_empty() {
                // What vanishes may depend on the other values too.
                coefficients.append(&mut numbers);
                rest.clear();
            }
            let span = modifications.first().map(Argument::span);
            let modification = span.map(|span| {
                Arc::new(ClassModification {
                    arguments: modifications,
                    span,
                })
            });
            self.compile_given(model, modification, &coefficients)
                .then(|compiled| Outcome::new(Some((compiled, rest)), Diagnostics::new()))
        })
    }

    /// A value for a parameter as a modification of its class. The text of the value becomes a source of its own, so
    /// that what is wrong with it has a place.
    fn argument(&self, name: &str, setting: StructuralSetting) -> Result<Argument, Diagnostics> {
        let file = self.sources().add(format!("<--set {name}>"), setting.value.as_str());
        let span = Span::new(file, 0, setting.value.len() as u32);
        let value = if setting.is_text {
            Expr {
                kind: ExprKind::String(Name::new(&setting.value)),
                span,
            }
        } else {
            let (value, diagnostics) = parse_expression(file, &setting.value);
            if diagnostics.has_errors() {
                return Err(diagnostics);
            }
            value
        };
        let ident = |name: Name| Ident { name, span };
        Ok(Argument::Modification(ElementModification {
            each: false,
            is_final: false,
            name: QualifiedName {
                global: false,
                parts: setting.path.into_iter().map(ident).collect(),
                span,
            },
            modification: Some(Arc::new(Modification {
                class_modification: None,
                binding: Some(Binding::Expr(Arc::new(value))),
                span,
            })),
            description: None,
            span,
        }))
    }
}

/// Gives coefficients their values, takes out the terms that vanish, eliminates trivial equations.
pub(crate) fn prepare_given(mut mdae: Mdae, given: &[(String, f64)]) -> (Mdae, Coefficients) {
    for (name, value) in given {
        let value = mdae.pool.real(*value);
        let parameter = |variable: &&mut Variable| variable.role == Role::Parameter && *variable.name == **name;
        if let Some(variable) = mdae.variables.iter_mut().find(parameter) {
            variable.binding = Some(value);
        }
    }
    let mut coefficients = drop_vanishing_terms(&mut mdae);
    let mut model = prepare(mdae).model;
    // What is redundant for the present values of some parameters only is compiled for these.
    coefficients.vanished.extend(share_redundant(&mut model));
    (model, coefficients)
}

impl Model {
    /// Its full name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The equations, after trivial ones were used to eliminate variables.
    pub fn equations(&self) -> &Mdae {
        self.compiled.model()
    }

    /// What `annotation(experiment(…))` says.
    pub fn experiment(&self) -> Experiment {
        self.compiled.model().experiment
    }

    /// The connectors of the model itself, not of its components. A model file does not keep them.
    pub fn connectors(&self) -> &[FlatConnector] {
        &self.connectors
    }

    /// The units of other tools (FMUs) that its equations name. They do not run, and a run that needs them fails, until
    /// somebody links code to them.
    pub fn foreign_units(&self) -> Vec<Arc<ForeignUnit>> {
        let mut units: Vec<Arc<ForeignUnit>> = Vec::new();
        for function in self.equations().functions.iter() {
            if let Body::Foreign(call) = &function.body
                && !units.iter().any(|known| Arc::ptr_eq(known, &call.unit))
            {
                units.push(Arc::clone(&call.unit));
            }
        }
        units
    }

    /// Lets a host run the external functions of a model that comes from a file; those of a session with a host are linked
    /// already. A run that needs one that is not linked fails.
    pub fn link_external_code(&self, host: &dyn ExternalHost) -> Result<(), String> {
        let mut objects: Vec<&ExternalObject> = Vec::new();
        for call in self.external_calls() {
            if let Callee::External(function) = &call.callee {
                function.link(host)?;
            }
            for argument in &call.arguments {
                let Passed::Object(object) = argument else { continue };
                match objects.iter().find(|known| **known == &**object) {
                    Some(known) => object.share(known),
                    None => {
                        object.link(host)?;
                        objects.push(object);
                    }
                }
            }
        }
        Ok(())
    }

    /// The first external function that nobody runs.
    pub fn unlinked_external_function(&self) -> Option<&str> {
        let mut functions = self.external_calls().map(|call| &call.callee);
        functions.find_map(|callee| match callee {
            Callee::External(function) if !function.is_linked() => Some(&*function.name),
            _ => None,
        })
    }

    fn external_calls(&self) -> impl Iterator<Item = &RoutineCall> {
        self.equations()
            .functions
            .iter()
            .filter_map(|function| match &function.body {
                Body::Routine(call) => Some(&**call),
                _ => None,
            })
    }

    pub(crate) fn compiled(&self) -> &Arc<Compiled> {
        &self.compiled
    }

    /// The files it was made from.
    pub fn sources(&self) -> &Arc<SourceMap> {
        &self.sources
    }

    /// Where the time went.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// What was worth reporting while compiling.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// A run with the settings of the model's experiment annotation.
    pub fn run(&self) -> Run<'_> {
        Run::new(self)
    }

    /// The variables that results have: names, units, descriptions, roles, and the values of parameters.
    pub fn schema(&self) -> Result<Schema, Box<Diagnostic>> {
        let schema = self.compiled.schema(&[]);
        schema.map_err(|failure| Box::new(failure_diagnostic(&failure, self.equations(), None)))
    }

    /// The parameters, in the order of their names.
    ///
    /// ```
    /// let session = saltus::Session::new();
    /// session.add_text("M.mo", "
    ///     model M
    ///       parameter Real k(unit = \"N/m\") = 2 \"Stiffness\";
    ///       parameter Real d = 2*k;
    ///       parameter Integer n = 3;
    ///       Real x[n] = {d*i for i in 1:n};
    ///     end M;
    /// ");
    /// let model = session.compile("M").into_result().unwrap();
    /// let parameters = model.parameters().unwrap();
    /// let of = |name: &str| parameters.iter().find(|parameter| parameter.name == name).unwrap();
    /// assert_eq!((of("k").value, &*of("k").unit, &*of("k").description), (Some(2.0), "N/m", "Stiffness"));
    /// assert_eq!((of("d").value, of("d").by_run), (Some(4.0), true));
    /// // It shapes the equations.
    /// assert_eq!((of("n").value, of("n").by_run), (Some(3.0), false));
    /// ```
    pub fn parameters(&self) -> Result<Vec<Parameter>, Box<Diagnostic>> {
        let schema = self.schema()?;
        let known = self.parameters.parameters();
        let parameters = known.map(|(name, values, literals, by_run)| {
            let id = schema.find(name);
            let signal = id.map(|id| schema.signal(id));
            Parameter {
                name: name.to_owned(),
                values,
                literals: literals.iter().map(|literal| literal.to_string()).collect(),
                value: id.and_then(|id| match schema.value(id) {
                    Value::Constant(value) => Some(value),
                    Value::Column { .. } => None,
                }),
                unit: signal.map(|signal| signal.unit.clone()).unwrap_or_default(),
                description: signal.map(|signal| signal.description.clone()).unwrap_or_default(),
                by_run,
            }
        });
        Ok(parameters.collect())
    }

    /// Whether a value of a parameter shapes the equations, so that the model has to be compiled with it.
    pub fn shaped_by(&self, name: &str, value: &str) -> Result<bool, Box<Diagnostic>> {
        Ok(!matches!(self.setting(name, value)?, Setting::Value(..)))
    }

    /// How deeply its expressions are nested: code that walks over them needs a stack of that depth. Functions have no
    /// such bound.
    pub fn depth(&self) -> Option<usize> {
        let equations = self.equations();
        if !equations.functions.is_empty() {
            return None;
        }
        let pool = &equations.pool;
        let mut depths: Vec<usize> = Vec::with_capacity(pool.len());
        for id in 0..pool.len() {
            let mut deepest = 0;
            // Operands stand before what is made of them.
            pool.for_each_child(pool.node(ExprId::from_usize(id)), |child| {
                deepest = deepest.max(depths.get(child.index()).copied().unwrap_or(0));
            });
            depths.push(deepest + 1);
        }
        depths.into_iter().max()
    }

    /// Whether a run may give a parameter another value; those that shape the equations are set when a model is compiled.
    pub fn is_settable(&self, parameter: &str) -> bool {
        self.parameters.is_settable(parameter)
    }

    pub(crate) fn setting(&self, name: &str, value: &str) -> Result<Setting, Box<Diagnostic>> {
        self.parameters.setting(name, value)
    }

    /// Where the conditions are written.
    pub(crate) fn condition_places(&self) -> IndexVec<ConditionId, Option<SourceSpan>> {
        let equations = self.equations();
        let place = |condition: &Condition| {
            let span = equations.origins.get(condition.origin)?.span?;
            source_span(span, &self.sources)
        };
        equations.conditions.iter().map(place).collect()
    }

    /// The files that take part, with their hashes.
    pub fn inputs(&self) -> &[InputHash] {
        self.inputs.get_or_init(|| {
            let files = (0..self.sources.len() as u32).filter_map(|id| self.sources.file(saltus_source::FileId(id)));
            let hashed = files.map(|file| InputHash {
                path: file.name().to_owned(),
                hash: format!("sha256:{}", hex(&Sha256::digest(file.text()))),
            });
            hashed.collect()
        })
    }

    pub(crate) fn manifest(&self) -> Manifest {
        Manifest {
            program: "saltus".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: self.name.clone(),
            inputs: self.inputs().to_vec(),
            figures: self.pictures.figures.clone(),
            shapes: self.pictures.shapes.clone(),
            set_points: self.pictures.set_points.clone(),
            ..Manifest::default()
        }
    }
}

fn source_span(span: Span, sources: &SourceMap) -> Option<SourceSpan> {
    let file = sources.file(span.file)?;
    let (start, end) = (file.line_column(span.start), file.line_column(span.end));
    Some(SourceSpan {
        file: file.name().to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Outcome<Model> {
    /// Warnings go with the model, so that they are not lost where only the value is looked at.
    fn keep_warnings(mut self) -> Self {
        if let Some(model) = &mut self.value {
            model.warnings = self.diagnostics.clone();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_can_be_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Model>();
        shared::<Session>();
    }
}
