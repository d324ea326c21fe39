//! Text that is not translated because a condition leaves it out: branches that are not taken, loops without turns, components
//! that are not there, functions that are not called. Names and types in it must make sense all the same; sizes and values need not.
//!
//! What a name or an expression is, is found from declarations alone: nothing is evaluated, and no component is made. Where
//! that does not say, nothing is said.

mod call;
mod class;
mod equation;
mod expr;
mod reference;

use std::rc::Rc;

use saltus_source::Span;
use saltus_syntax::ast::{Equation, Expr, ForIndex, Name, Statement};

use crate::codes;
use crate::expr::{Context, Iterators};
use crate::failure::{Failure, Fallible, fail};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::modification::{Mod, Scope};
use crate::tensor::{Tensor, Ty};

/// What is known of a value from declarations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub ty: Option<Ty>,
    /// The number of dimensions.
    pub rank: Option<usize>,
}

impl Shape {
    fn scalar(ty: Ty) -> Shape {
        Shape {
            ty: Some(ty),
            rank: Some(0),
        }
    }

    fn new(ty: impl Into<Option<Ty>>, rank: impl Into<Option<usize>>) -> Shape {
        Shape {
            ty: ty.into(),
            rank: rank.into(),
        }
    }

    fn of(value: &Tensor) -> Shape {
        // Without elements the type is a guess.
        Shape {
            ty: (!value.elems.is_empty()).then_some(value.ty),
            rank: Some(value.dims.len()),
        }
    }

    /// For messages.
    fn words(self) -> String {
        let name = self.ty.map_or("a value", Ty::name);
        match self.rank {
            None | Some(0) => name.to_owned(),
            Some(rank) => format!("{name}[{}]", vec![":"; rank].join(", ")),
        }
    }
}

/// An iterator of which only the type is known.
#[derive(Clone, Copy)]
struct Named<'a> {
    name: &'a Name,
    shape: Shape,
    outer: Option<&'a Named<'a>>,
}

/// The surroundings of text that is not translated.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    scope: Scope,
    iterators: Option<&'a Iterators<'a>>,
    named: Option<&'a Named<'a>>,
}

impl<'a> Surroundings<'a> {
    fn of(ctx: &Context<'a>) -> Surroundings<'a> {
        Surroundings {
            scope: ctx.scope,
            iterators: ctx.iterators,
            named: None,
        }
    }
}

/// A place in the text as seen from a class: looked at once, however many instances leave it out.
pub(crate) type Looked = (u32, u32, u32, ClassId);

impl Flattener<'_> {
    /// Checks an expression that is left out, and says what it is.
    pub(crate) fn unreached_expr(&mut self, expr: &Expr, ctx: &Context<'_>) -> Shape {
        // The bodies of functions are not instances of the model.
        if ctx.frame.is_some() || !self.looks_at(expr.span, ctx) {
            return Shape::default();
        }
        let result = self.shape_of(expr, &Surroundings::of(ctx));
        self.judge(result).unwrap_or_default()
    }

    /// Checks an expression that is left out where a Boolean is wanted.
    pub(crate) fn unreached_condition(&mut self, expr: &Expr, ctx: &Context<'_>) {
        let shape = self.unreached_expr(expr, ctx);
        let result = want(shape, Ty::Boolean, expr.span);
        self.judge(result);
    }

    /// Checks a text that is left out.
    pub(crate) fn unreached_message(&mut self, expr: &Expr, ctx: &Context<'_>) {
        let shape = self.unreached_expr(expr, ctx);
        let result = want(shape, Ty::String, expr.span);
        self.judge(result);
    }

    /// Checks an expression that is left out beside one that is taken: they must be of one type.
    pub(crate) fn unreached_branch(&mut self, expr: &Expr, taken: &Tensor, span: Span, ctx: &Context<'_>) {
        let shape = self.unreached_expr(expr, ctx);
        if let (Some(a), Some(b)) = (Shape::of(taken).ty, shape.ty)
            && a.join(b).is_none()
        {
            let message = format!("the branches differ in type: {} and {}", taken.shape(), shape.words());
            self.judge(fail::<()>(codes::E0301, span, message));
        }
    }

    /// Checks equations that are left out.
    pub(crate) fn unreached_equations(&mut self, equations: &[Equation], indices: &[ForIndex], ctx: &Context<'_>) {
        let Some(first) = equations.first() else { return };
        if self.looks_at(first.span, ctx) {
            self.with_indices(indices, &Surroundings::of(ctx), &mut |this, around| {
                this.look_at_equations(equations, around);
            });
        }
    }

    /// Checks statements that are left out.
    pub(crate) fn unreached_statements(&mut self, statements: &[Statement], indices: &[ForIndex], ctx: &Context<'_>) {
        let Some(first) = statements.first() else { return };
        if self.looks_at(first.span, ctx) {
            self.with_indices(indices, &Surroundings::of(ctx), &mut |this, around| {
                this.look_at_statements(statements, around);
            });
        }
    }

    /// Checks the statements of a function, wherever it is called.
    pub(crate) fn function_statements(&mut self, statements: &[Statement], class: ClassId) {
        let scope = Scope { class, instance: None };
        let around = Surroundings {
            scope,
            iterators: None,
            named: None,
        };
        self.look_at_statements(statements, &around);
    }

    /// Checks an expression under iterators without values.
    pub(crate) fn unreached_element(&mut self, element: &Expr, indices: &[ForIndex], ctx: &Context<'_>) {
        if ctx.frame.is_some() || !self.looks_at(element.span, ctx) {
            return;
        }
        self.with_indices(indices, &Surroundings::of(ctx), &mut |this, around| {
            let result = this.shape_of(element, around);
            this.judge(result);
        });
    }

    /// Checks the values of modifications that nothing gets; `class` is what they modify, if that is known.
    pub(crate) fn unreached_modification(&mut self, mods: &Rc<Mod>, class: Option<ClassId>) {
        let table = class.and_then(|class| self.table(class).ok());
        if let Some(binding) = &mods.binding
            && binding.selectors.is_empty()
        {
            let ctx = Context::new(binding.source.scope, crate::expr::Mode::Flat);
            let shape = self.unreached_expr(&binding.source.expr, &ctx);
            if let (Some(class), true) = (class, table.as_ref().is_some_and(|table| table.simple.is_some())) {
                let result = self
                    .class_type(class)
                    .and_then(|wanted| want_value(shape, wanted, binding.span()));
                self.judge(result);
            }
        }
        for (name, child) in &mods.children {
            let entry = table.as_ref().and_then(|table| table.find(name));
            let inner = match (class, entry) {
                (Some(class), Some((index, entry))) if entry.component().is_some() && child.redeclare.is_none() => {
                    self.component_type(class, index).ok()
                }
                _ => None,
            };
            self.unreached_modification(child, inner);
        }
    }

    /// Whether this text has not been looked at yet in this class.
    fn looks_at(&mut self, span: Span, ctx: &Context<'_>) -> bool {
        let place = (span.file.0, span.start, span.end, ctx.scope.class);
        self.looked.insert(place)
    }

    /// Reports what is wrong whatever the values are.
    fn judge<T>(&mut self, result: Fallible<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(Failure::Report(diagnostic)) => {
                let certain = [
                    codes::E0201,
                    codes::E0202,
                    codes::E0210,
                    codes::E0212,
                    codes::E0301,
                    codes::E0302,
                    codes::E0311,
                ];
                if certain.contains(&diagnostic.code) {
                    self.diagnostics.push(*diagnostic);
                }
                None
            }
            Err(Failure::Reported) => None,
        }
    }

    /// Goes on inside of `for`.
    fn with_indices(
        &mut self,
        indices: &[ForIndex],
        around: &Surroundings<'_>,
        then: &mut dyn FnMut(&mut Self, &Surroundings<'_>),
    ) {
        let Some((index, rest)) = indices.split_first() else {
            return then(self, around);
        };
        let values = match &index.range {
            Some(range) => {
                let result = self.shape_of(range, around);
                self.judge(result).unwrap_or_default()
            }
            None => Shape::default(),
        };
        let named = Named {
            name: &index.name.name,
            shape: Shape::new(values.ty, values.rank.and_then(|rank| rank.checked_sub(1))),
            outer: around.named,
        };
        let inner = Surroundings {
            named: Some(&named),
            ..*around
        };
        self.with_indices(rest, &inner, then);
    }
}

/// A value of one type is wanted, of any size.
fn want_value(shape: Shape, wanted: Ty, span: Span) -> Fallible<()> {
    match shape.ty {
        Some(ty) if !wanted.accepts(ty) => fail(
            codes::E0301,
            span,
            format!("{} cannot be given {}", wanted.name(), shape.words()),
        ),
        _ => Ok(()),
    }
}

/// A scalar of one type is wanted.
fn want(shape: Shape, wanted: Ty, span: Span) -> Fallible<()> {
    let other_type = shape.ty.is_some_and(|ty| !wanted.accepts(ty));
    if other_type || shape.rank.is_some_and(|rank| rank > 0) {
        return fail(
            codes::E0301,
            span,
            format!("{} is needed, but this is {}", article(wanted), shape.words()),
        );
    }
    Ok(())
}

fn article(ty: Ty) -> String {
    match ty {
        Ty::Integer => "an Integer".to_owned(),
        Ty::Real | Ty::Boolean | Ty::String => format!("a {}", ty.name()),
        other => other.name().to_owned(),
    }
}
