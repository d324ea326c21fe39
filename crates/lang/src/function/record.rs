//! Record constructors.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::{Name, Variability};

use super::frame::{Frame, FrameVar};
use super::signature::Formal;
use crate::class::{Entry, Found};
use crate::codes;
use crate::expr::{Arguments, Context, Mode};
use crate::failure::{Fallible, did_you_mean, error, fail};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::{Mod, Scope, merge};
use crate::tensor::{Dims, Tensor, Ty, volume};
use smallvec::SmallVec;

/// Which record is made, and how.
#[derive(Clone, Copy)]
struct Construction<'a> {
    class: ClassId,
    /// Of the fields that are not given.
    mods: &'a Rc<Mod>,
    mode: Mode,
    /// The place to blame; without one, fields without a default are blank.
    span: Option<Span>,
    /// Where the values of modifications are read, if the record is a variable of a function.
    around: Option<&'a Context<'a>>,
}

impl<'a> Construction<'a> {
    /// By a call of its constructor.
    fn at(class: ClassId, mods: &'a Rc<Mod>, mode: Mode, span: Span) -> Self {
        Construction {
            class,
            mods,
            mode,
            span: Some(span),
            around: None,
        }
    }
}

impl Flattener<'_> {
    /// `R(a, b = c)`
    pub(crate) fn construct_record(
        &mut self,
        class: ClassId,
        arguments: Arguments,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let constructor = Name::new("'constructor'");
        if let Some(Found::Class(operator)) = self.member(class, &constructor)?
            && !self.is_active_in(operator)
        {
            let functions: Vec<Name> = self
                .def(operator)
                .classes()
                .map(|(_, def)| def.name.name.clone())
                .collect();
            let mut fitting: Option<ClassId> = None;
            for name in functions {
                if let Some(Found::Class(function)) = self.member(operator, &name)?
                    && arguments.named.is_empty()
                    && self.accepts_arguments(function, &arguments)?
                {
                    if let Some(other) = fitting {
                        let names = (&self.classes[other].name, &self.classes[function].name);
                        return fail(
                            codes::E0212,
                            span,
                            format!("both `{}` and `{}` fit these arguments", names.0, names.1),
                        );
                    }
                    fitting = Some(function);
                }
            }
            if let Some(function) = fitting {
                if self.signature(function)?.outputs.len() != 1 {
                    return fail(
                        codes::E0212,
                        self.def(function).name.span,
                        format!("the constructor `{}` must have one output", self.classes[function].name),
                    );
                }
                let mut results = self.call_function(function, arguments, span, ctx)?;
                return Ok(results.swap_remove(0));
            }
        }
        self.construct_plainly(class, arguments, span, ctx)
    }

    /// A constructor that uses the record's own fields constructor must not call itself.
    fn is_active_in(&self, operator: ClassId) -> bool {
        let def = self.def(operator);
        self.functions
            .active
            .iter()
            .any(|active| def.classes().any(|(_, inner)| Arc::ptr_eq(inner, active)))
    }

    fn construct_plainly(
        &mut self,
        class: ClassId,
        arguments: Arguments,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let table = self.table(class)?;
        let name = Arc::clone(&self.classes[class].name);
        let inputs: Vec<&Entry> = table.entries.iter().filter(|e| is_input(e)).collect();
        if arguments.positional.len() > inputs.len() {
            return fail(
                codes::E0212,
                span,
                format!(
                    "`{name}` has {} fields, but is given {} values",
                    inputs.len(),
                    arguments.positional.len()
                ),
            );
        }
        let mut given: Vec<(Name, Tensor)> = inputs
            .iter()
            .zip(arguments.positional)
            .map(|(entry, value)| (entry.name.clone(), value))
            .collect();
        for (argument, value, at) in arguments.named {
            if !inputs.iter().any(|e| e.name == argument) {
                let mut diagnostic = error(codes::E0212, at, format!("`{name}` has no field `{argument}`"));
                if let Some(other) = did_you_mean(&argument, inputs.iter().map(|e| e.name.as_str())) {
                    diagnostic = self.suggesting(diagnostic, &argument, at, other);
                }
                return Err(diagnostic.into());
            }
            if given.iter().any(|(n, _)| *n == argument) {
                return fail(codes::E0212, at, format!("field `{argument}` is given twice"));
            }
            given.push((argument, value));
        }
        let mode = if given.iter().all(|(_, v)| v.is_known()) {
            Mode::Evaluate
        } else {
            ctx.mode
        };
        let Some(dims) = self.constructed_dims(class, &given, span)? else {
            return self.fill_record(Construction::at(class, &Rc::default(), mode, span), given);
        };
        // Element by element, as a function that is given arrays in place of scalars.
        let count = volume(&dims).unwrap_or(0);
        let mut elems = SmallVec::with_capacity(count);
        for offset in 0..count {
            let mut own = Vec::with_capacity(given.len());
            for (name, value) in &given {
                let rank = self.field_rank(class, name)?;
                let one = if value.dims.len() > rank {
                    super::element(value, dims.len(), offset)
                } else {
                    value.clone()
                };
                own.push((name.clone(), one));
            }
            let element = self.fill_record(Construction::at(class, &Rc::default(), mode, span), own)?;
            elems.extend(element.elems);
        }
        Ok(Tensor {
            ty: Ty::Record(class),
            dims,
            elems,
        })
    }

    /// The dimensions over which a constructor is repeated, if values have more than the fields.
    fn constructed_dims(&mut self, class: ClassId, given: &[(Name, Tensor)], span: Span) -> Fallible<Option<Dims>> {
        let mut dims: Option<Dims> = None;
        for (name, value) in given {
            let rank = self.field_rank(class, name)?;
            let Some(extra) = value.dims.len().checked_sub(rank).filter(|&extra| extra > 0) else {
                continue;
            };
            let extra: Dims = value.dims[..extra].into();
            if dims.get_or_insert_with(|| extra.clone()) != &extra {
                return fail(
                    codes::E0302,
                    span,
                    "the values of a vectorised constructor differ in size",
                );
            }
        }
        Ok(dims)
    }

    fn field_rank(&mut self, class: ClassId, name: &Name) -> Fallible<usize> {
        let table = self.table(class)?;
        let Some((index, entry)) = table.find(name) else {
            return Ok(0);
        };
        let Some((clause, component)) = entry.component() else {
            return Ok(0);
        };
        let field_class = self.component_type(class, index)?;
        let of_type = self.table(field_class)?.dims.len();
        Ok(component.subscripts.len() + clause.subscripts.len() + of_type)
    }

    /// A record with its default values, as a variable of a function starts with.
    pub(super) fn default_record(&mut self, class: ClassId, mods: &Rc<Mod>, ctx: &Context<'_>) -> Fallible<Tensor> {
        let construction = Construction {
            class,
            mods,
            mode: ctx.mode,
            span: None,
            around: Some(ctx),
        };
        self.fill_record(construction, Vec::new())
    }

    /// The fields given, and the defaults of the others.
    fn fill_record(&mut self, construction: Construction<'_>, mut given: Vec<(Name, Tensor)>) -> Fallible<Tensor> {
        let class = construction.class;
        let table = self.table(class)?;
        let frame = RefCell::new(Frame::default());
        for (name, value) in &given {
            frame.borrow_mut().set(name.clone(), FrameVar::Value(value.clone()));
        }
        let mut fields = Vec::new();
        for (index, entry) in table.entries.iter().enumerate() {
            let Some((clause, component)) = entry.component() else {
                continue;
            };
            let field_class = self.component_type(class, index as u32)?;
            let type_table = self.table(field_class)?;
            let formal = Formal {
                name: entry.name.clone(),
                entry: index as u32,
                class: field_class,
                rank: component.subscripts.len() + clause.subscripts.len() + type_table.dims.len(),
                span: entry.span,
                constant: false,
            };
            let value = match given.iter().position(|(n, _)| *n == entry.name) {
                Some(position) => self.check_field(&formal, given.swap_remove(position).1, construction.span)?,
                None => self.default_field(construction, &formal, entry, &frame)?,
            };
            frame
                .borrow_mut()
                .set(entry.name.clone(), FrameVar::Value(value.clone()));
            fields.push((entry.name.clone(), value));
        }
        Ok(Tensor::record(class, fields.into()))
    }

    fn check_field(&mut self, formal: &Formal, value: Tensor, span: Option<Span>) -> Fallible<Tensor> {
        let ty = self.class_type(formal.class)?;
        let span = span.unwrap_or(formal.span);
        if !ty.accepts(value.ty) && !value.elems.is_empty() {
            return fail(
                codes::E0301,
                span,
                format!(
                    "field `{}` is {}, but is given {}",
                    formal.name,
                    ty.name(),
                    value.shape()
                ),
            );
        }
        if value.dims.len() != formal.rank {
            return fail(
                codes::E0302,
                span,
                format!(
                    "field `{}` has {} dimensions, but is given {}",
                    formal.name,
                    formal.rank,
                    value.shape()
                ),
            );
        }
        Ok(value.coerce(ty))
    }

    fn default_field(
        &mut self,
        construction: Construction<'_>,
        formal: &Formal,
        entry: &Entry,
        frame: &RefCell<Frame>,
    ) -> Fallible<Tensor> {
        let Construction {
            class,
            mods,
            mode,
            span,
            around,
        } = construction;
        let outer = mods.child(&entry.name).cloned().unwrap_or_default();
        let all = merge(&outer, &merge(&entry.mods, &entry.declared));
        if let Some(binding) = &all.binding {
            let scope = Scope {
                class: binding.source.scope.class,
                instance: binding.source.scope.instance,
            };
            // Fields are in reach of their own class only.
            let own = scope.class == entry.scope;
            let ctx = match around {
                Some(around) if !own => Context { scope, ..*around },
                _ => Context {
                    frame: own.then_some(frame),
                    ..Context::new(scope, mode)
                },
            };
            let value = self.expr(&binding.source.expr, &ctx)?;
            let ty = self.class_type(formal.class)?;
            return Ok(value.coerce(ty));
        }
        if let (Some(span), true) = (span, self.table(formal.class)?.simple.is_some()) {
            return fail(
                codes::E0212,
                span,
                format!(
                    "`{}` needs a value for field `{}`",
                    self.classes[class].name, entry.name
                ),
            );
        }
        let scope = Scope {
            class: entry.scope,
            instance: None,
        };
        let ctx = Context {
            frame: Some(frame),
            ..Context::new(scope, Mode::Evaluate)
        };
        let (dims, _) = self.local_dims(class, formal, &ctx)?;
        let ty = self.class_type(formal.class)?;
        if matches!(ty, Ty::Record(_)) {
            let field = Construction {
                class: formal.class,
                mods: &all,
                ..construction
            };
            let element = self.fill_record(field, Vec::new())?;
            return Ok(element.repeat(&dims));
        }
        Ok(self.blank(ty, dims, formal.span))
    }
}

/// Whether a field is an input of the constructor.
fn is_input(entry: &Entry) -> bool {
    match entry.component() {
        Some((clause, _)) => {
            let fixed = entry.is_final || clause.prefix.variability == Some(Variability::Constant);
            !(fixed && (entry.declared.binding.is_some() || entry.mods.binding.is_some()))
        }
        None => false,
    }
}
