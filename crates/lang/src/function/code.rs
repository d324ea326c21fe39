//! External functions and objects whose code is C text or a library, where the user allows to run it.
//!
//! The arguments of the call in the external clause say what the function looks like in C. Calls whose arguments are known are
//! carried out at once, others become calls of a function of the flat model. An impure function that is called at events has
//! the time as a further argument: it is asked once for each time, however often equations are evaluated.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_routines::{
    Buffer, Callee, ExternalFunction, ExternalHost, ExternalObject, Kind, Language, Origin, Parameter, Passing,
};
use saltus_source::Span;
use saltus_syntax::ast::{ExprKind, External, Name};

use super::Signature;
use super::annotations::binding;
use super::external::ExternalValue;
use super::frame::Frame;
use super::routine::{Convention, Passed};
use crate::class::Found;
use crate::codes;
use crate::expr::{Context, Mode};
use crate::failure::{Failure, Fallible, error, fail};
use crate::flat::FlatExpr;
use crate::flattener::{Flattener, Moment};
use crate::ids::ClassId;
use crate::modification::Scope;
use crate::tensor::{Elem, Tensor, Ty, is_unset};

/// What a clause calls.
struct Foreign {
    name: Arc<str>,
    language: Language,
    origin: Origin,
}

impl Flattener<'_> {
    /// A call of a function whose code the host runs.
    pub(super) fn call_code(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        bound: &[Tensor],
        (host, span): (&dyn ExternalHost, Span),
        ctx: &Context<'_>,
    ) -> Fallible<Vec<Tensor>> {
        let Some(clause) = signature.external_clause().cloned() else {
            return Err(Failure::Reported);
        };
        let is_impure = self.is_impure(class)? || signature.inputs.is_empty();
        let at_event = is_impure && self.moment == Moment::Event && ctx.mode == Mode::Flat && ctx.frame.is_none();
        let (frame, mut passed) = self.foreign_arguments(class, signature, &clause, bound, ctx)?;
        if at_event {
            passed.push(Passed::moment());
        }
        let foreign = self.foreign_of(class, &clause)?;
        let function = self.external_function(foreign, &passed, host, span)?;
        if passed.iter().all(Passed::is_decided) {
            let mut buffers = Vec::with_capacity(passed.len());
            for argument in &passed {
                buffers.push(match self.object_of(argument, host, span)? {
                    Some(object) => Buffer::Address(object.address().map_err(|why| failed(&why.0, span))?),
                    None => argument.buffer().ok_or(Failure::Reported)?,
                });
            }
            function.call(&mut buffers).map_err(|why| failed(&why.0, span))?;
            return self.known_results(signature, &frame, &passed, buffers, span);
        }
        if ctx.mode == Mode::Evaluate {
            let message = "the arguments of this call must be known before the simulation";
            return fail(codes::E0304, span, message);
        }
        let objects = passed
            .iter()
            .map(|argument| self.object_of(argument, host, span))
            .collect::<Fallible<Vec<_>>>()?;
        self.routine_results(signature, &frame, &passed, (Callee::External(function), objects), span)
    }

    /// The arguments of the call in a clause, with the variables of the function around them.
    fn foreign_arguments(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        clause: &External,
        bound: &[Tensor],
        ctx: &Context<'_>,
    ) -> Fallible<(RefCell<Frame>, Vec<Passed>)> {
        let frame = self.routine_frame(class, signature, bound, ctx)?;
        let convention = Convention {
            by_columns: language_of(clause) == Some(Language::Fortran),
            with_sizes: true,
        };
        let passed = self.passed(class, signature, clause, &frame, convention, ctx)?;
        Ok((frame, passed))
    }

    fn foreign_of(&mut self, class: ClassId, clause: &External) -> Fallible<Foreign> {
        let own_name = self.def(class).name.name.to_string();
        let name = clause
            .call
            .as_ref()
            .map_or(own_name, |call| call.function.name.to_string());
        let Some(language) = language_of(clause) else {
            return fail(
                codes::E0309,
                clause.span,
                "only functions in C and FORTRAN 77 can be called",
            );
        };
        Ok(Foreign {
            name: name.into(),
            language,
            origin: self.origin_of(class, clause)?,
        })
    }

    /// What the annotations of a clause say: text, libraries, and the folders of both (12.9.4).
    fn origin_of(&mut self, class: ClassId, clause: &External) -> Fallible<Origin> {
        let include = self.annotated_texts(class, clause, "Include")?;
        let top = self.classes[class]
            .name
            .split('.')
            .next()
            .unwrap_or_default()
            .to_owned();
        let folder = |name: &str| {
            self.library
                .resource(name)
                .map(|path| path.to_string_lossy().as_ref().into())
        };
        let beside = |kind: &str| folder(&format!("modelica://{top}/Resources/{kind}"));
        let (includes, libraries): (Option<Arc<str>>, Option<Arc<str>>) = (beside("Include"), beside("Library"));
        let of_file = folder(&format!("modelica://{top}/"));
        let mut include_folders = Vec::new();
        for name in self.annotated_texts(class, clause, "IncludeDirectory")? {
            include_folders.extend(self.library.resource(&name));
        }
        let mut library_folders = Vec::new();
        for name in self.annotated_texts(class, clause, "LibraryDirectory")? {
            library_folders.extend(self.library.resource(&name));
        }
        let texts = |paths: Vec<std::path::PathBuf>| -> Vec<Arc<str>> {
            paths
                .iter()
                .map(|path| path.to_string_lossy().as_ref().into())
                .collect()
        };
        let mut include_folders = texts(include_folders);
        if include_folders.is_empty() {
            include_folders.extend(includes);
        }
        include_folders.extend(of_file);
        let mut library_folders = texts(library_folders);
        if library_folders.is_empty() {
            library_folders.extend(libraries);
        }
        Ok(Origin {
            include: include.join("\n").into(),
            include_folders,
            libraries: self.annotated_texts(class, clause, "Library")?,
            library_folders,
        })
    }

    /// A text of an annotation of a clause, or several.
    fn annotated_texts(&mut self, class: ClassId, clause: &External, name: &str) -> Fallible<Vec<Arc<str>>> {
        let annotation = clause.annotation.as_ref();
        let Some(expr) = annotation.and_then(|annotation| annotation.modification.find(name).and_then(binding)) else {
            return Ok(Vec::new());
        };
        let items = match &expr.kind {
            ExprKind::Array(items) => items.clone(),
            _ => vec![(**expr).clone()],
        };
        let ctx = Context::new(Scope { class, instance: None }, Mode::Evaluate);
        let mut texts = Vec::with_capacity(items.len());
        for item in &items {
            let value = self.expr(item, &ctx)?;
            let Some(text) = value.as_str().cloned() else {
                return fail(codes::E0203, item.span, format!("the annotation `{name}` is a text"));
            };
            texts.push(text);
        }
        Ok(texts)
    }

    /// The function that goes with these arguments; equal ones are one.
    fn external_function(
        &mut self,
        foreign: Foreign,
        passed: &[Passed],
        host: &dyn ExternalHost,
        span: Span,
    ) -> Fallible<Arc<ExternalFunction>> {
        let parameters = passed.iter().map(|argument| self.parameter(argument, span));
        let parameters = parameters.collect::<Fallible<Vec<Parameter>>>()?;
        let function = ExternalFunction::new(foreign.name, foreign.language, parameters, foreign.origin);
        if let Some(known) = self.functions.externals.iter().find(|known| ***known == function) {
            return Ok(Arc::clone(known));
        }
        function.link(host).map_err(|why| failed(&why, span))?;
        let function = Arc::new(function);
        self.functions.externals.push(Arc::clone(&function));
        Ok(function)
    }

    fn parameter(&mut self, argument: &Passed, span: Span) -> Fallible<Parameter> {
        let passing = match (argument.returned, argument.output) {
            (true, _) => Passing::Returned,
            (false, Some(_)) => Passing::Written,
            (false, None) => Passing::Given,
        };
        let mut fields = Vec::new();
        let kind = match argument.value.ty {
            _ if argument.moment => Kind::Moment,
            _ if argument.is_size => Kind::Size,
            Ty::Real => Kind::Real,
            Ty::Integer | Ty::Boolean | Ty::Enumeration(_) => Kind::Whole,
            Ty::String => Kind::Text,
            Ty::External => Kind::Object,
            Ty::Record(_) if argument.value.dims.is_empty() => {
                fields = record_fields(&argument.value, span)?;
                Kind::Real
            }
            _ => return fail(codes::E0309, span, "arguments of this type cannot be passed to C"),
        };
        Ok(Parameter {
            kind,
            is_array: !argument.value.dims.is_empty(),
            passing,
            fields,
        })
    }

    /// The object that an argument is, if it is one.
    fn object_of(
        &mut self,
        argument: &Passed,
        host: &dyn ExternalHost,
        span: Span,
    ) -> Fallible<Option<Arc<ExternalObject>>> {
        match argument.value.elems.first() {
            Some(Elem::External(value)) => self.external_object(&Rc::clone(value), host, span).map(Some),
            _ => Ok(None),
        }
    }

    /// A component is one object, however often its declaration is evaluated; one in a function is another every time.
    fn external_object(
        &mut self,
        value: &Rc<ExternalValue>,
        host: &dyn ExternalHost,
        span: Span,
    ) -> Fallible<Arc<ExternalObject>> {
        let is_same = |known: &Rc<ExternalValue>| Rc::ptr_eq(known, value) || !value.owner.is_empty() && known == value;
        if let Some((_, object)) = self.functions.objects.iter().find(|(known, _)| is_same(known)) {
            return Ok(Arc::clone(object));
        }
        let part = |this: &mut Self, name: &str| match this.member(value.class, &Name::new(name))? {
            Some(Found::Class(class)) => Ok(Some(class)),
            _ => Ok::<_, Failure>(None),
        };
        let Some(class) = part(self, "constructor")? else {
            return Err(Failure::Reported);
        };
        let signature = self.signature(class)?;
        let Some(clause) = signature.external_clause().cloned() else {
            return fail(
                codes::E0309,
                span,
                "the constructor of an external object is an external function",
            );
        };
        let ctx = Context::new(Scope { class, instance: None }, Mode::Flat);
        let mut bound = Vec::with_capacity(value.arguments.len());
        for (_, argument) in &value.arguments {
            bound.push(self.known_value(argument, span, &ctx)?);
        }
        let (_, mut passed) = self.foreign_arguments(class, &signature, &clause, &bound, &ctx)?;
        let mut arguments = Vec::with_capacity(passed.len());
        for argument in &passed {
            arguments.push(argument.buffer().ok_or_else(|| {
                let message = "the arguments of an external object must be known before the simulation";
                Failure::from(error(codes::E0304, span, message))
            })?);
        }
        passed.push(Passed::object(true));
        let foreign = self.foreign_of(class, &clause)?;
        let constructor = self.external_function(foreign, &passed, host, span)?;
        let destructor = match part(self, "destructor")? {
            None => None,
            Some(class) => {
                let signature = self.signature(class)?;
                match signature.external_clause().cloned() {
                    None => None,
                    Some(clause) => {
                        let foreign = self.foreign_of(class, &clause)?;
                        Some(self.external_function(foreign, &[Passed::object(false)], host, span)?)
                    }
                }
            }
        };
        let object = Arc::new(ExternalObject::new(
            Arc::clone(&value.owner),
            constructor,
            arguments,
            destructor,
        ));
        self.functions.objects.push((Rc::clone(value), Arc::clone(&object)));
        Ok(object)
    }
}

fn language_of(clause: &External) -> Option<Language> {
    match clause.language.as_ref().map_or("C", |language| language.value.as_str()) {
        "C" => Some(Language::C),
        "FORTRAN 77" => Some(Language::Fortran),
        _ => None,
    }
}

fn failed(why: &str, span: Span) -> Failure {
    error(codes::E0309, span, why.to_owned())
        .with_note("its code runs because --allow-external was given")
        .into()
}

/// The fields of a record as C has them. They are numbers (12.9.1.3 knows no arrays in them).
fn record_fields(value: &Tensor, span: Span) -> Fallible<Vec<Kind>> {
    let Some(Elem::Record(fields)) = value.elems.first() else {
        return Err(Failure::Reported);
    };
    let mut kinds = Vec::with_capacity(fields.len());
    for (name, field) in fields.iter() {
        kinds.push(match field.ty {
            Ty::Real if field.dims.is_empty() => Kind::Real,
            Ty::Integer if field.dims.is_empty() => Kind::Whole,
            _ => {
                let message = format!("the field `{name}` is no number: the record cannot be passed to C");
                return fail(codes::E0309, span, message);
            }
        });
    }
    Ok(kinds)
}

impl Passed {
    /// Whether the call can be carried out now.
    fn is_decided(&self) -> bool {
        let scalars = self.value.scalars();
        !self.moment && (self.output.is_some() || scalars.iter().all(|expr| is_unset(expr) || expr.is_literal()))
    }

    fn moment() -> Passed {
        let mut passed = Passed::new(Tensor::scalar(Ty::Real, FlatExpr::Time), None, false);
        passed.moment = true;
        passed
    }

    /// An external object, made by the function or given to it.
    fn object(made: bool) -> Passed {
        let value = Tensor {
            ty: Ty::External,
            ..Tensor::real(0.0)
        };
        let mut passed = Passed::new(value, None, false);
        passed.returned = made;
        passed
    }
}
