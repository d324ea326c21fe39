//! Bodies of functions that no call leads through: names and types are checked for arguments that are not known.
//!
//! Sizes that only arguments give are assumed, so what is said about sizes does not count here; a statement that cannot be
//! followed for such a reason is passed over.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_source::{Code, Diagnostics, Span};
use saltus_syntax::ast::{ClassDefinition, ExprKind, ForIndex, Purity, Statement, StatementKind};
use saltus_syntax::library::Library;

use super::Signature;
use super::frame::{Frame, FrameVar};
use super::lower::Builder;
use super::signature::Formal;
use crate::codes;
use crate::expr::{Context, Iterators, Mode};
use crate::failure::{Failure, Fallible};
use crate::flat::{FlatExpr, IndexVec, Local, ScalarType};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::limits::Limits;
use crate::modification::Scope;
use crate::tensor::{Dims, Tensor, Ty};

/// The size that is assumed where only a call gives it.
const ASSUMED_SIZE: u32 = 2;

/// What does not depend on sizes.
const CERTAIN: [Code; 4] = [codes::E0201, codes::E0212, codes::E0301, codes::E0311];

/// Checks the bodies of functions with these full names.
pub(crate) fn check_bodies(library: &Library, limits: Limits, names: &[Arc<str>]) -> Diagnostics {
    let mut found = Diagnostics::new();
    for name in names {
        let mut flattener = Flattener::new(library, limits);
        // What stands in the way of finding or calling it is said elsewhere.
        if let Ok(class) = flattener.class_by_name(name) {
            let _ = flattener.check_body(class);
        }
        found.extend(std::mem::take(&mut flattener.functions.in_bodies));
    }
    found
}

impl Flattener<'_> {
    /// The functions that were asked for and are written in the files given.
    pub(crate) fn functions_to_check(&self) -> Vec<Arc<str>> {
        let given = self.library.given();
        let is_given = |def: &ClassDefinition| given.iter().any(|class| class.definition.span.file == def.span.file);
        let mut classes: Vec<ClassId> = self.functions.signatures.keys().copied().collect();
        classes.sort_unstable();
        let classes = classes.into_iter().filter(|&class| is_given(self.def(class)));
        let mut names: Vec<Arc<str>> = classes.map(|class| Arc::clone(&self.classes[class].name)).collect();
        names.sort();
        names.dedup();
        names
    }

    fn check_body(&mut self, class: ClassId) -> Fallible<()> {
        let signature = self.signature(class)?;
        if signature.partial || signature.external.is_some() || signature.partial_of.is_some() {
            return Ok(());
        }
        let scopes = self.table(class)?.scopes.clone();
        let mut prefixes = scopes.iter().map(|&scope| self.def(scope).purity);
        if !prefixes.any(|purity| purity == Some(Purity::Impure)) {
            self.functions.pure = Some(Arc::clone(&self.classes[class].name));
        }
        let mut builder = Builder {
            locals: IndexVec::new(),
            fields: Vec::new(),
            assigned: self.assigned_names(class)?,
        };
        let frame = RefCell::new(Frame::default());
        let ctx = Context {
            frame: Some(&frame),
            ..Context::new(Scope { class, instance: None }, Mode::Flat)
        };
        self.assume_variables(class, &signature, &mut builder, &ctx)?;
        let table = self.table(class)?;
        for scope in &table.scopes {
            let def = Arc::clone(self.def(*scope));
            let scope = Scope {
                class: *scope,
                instance: None,
            };
            for section in def.composition().iter().flat_map(|composition| &composition.algorithms) {
                self.check_statements(&section.statements, &mut builder, &Context { scope, ..ctx }, def.span);
            }
        }
        Ok(())
    }

    /// Gives every variable a place: no values are known.
    fn assume_variables(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        builder: &mut Builder,
        ctx: &Context<'_>,
    ) -> Fallible<()> {
        let Some(frame) = ctx.frame else { return Ok(()) };
        for formal in signature.inputs.iter().chain(&signature.locals) {
            let var = match self.class_type(formal.class)? {
                Ty::Function => FrameVar::Value(self.function_value(formal.class)),
                _ => {
                    let dims = self.assumed_dims(class, formal, ctx);
                    self.declare_class(builder, &formal.name, formal.class, &dims, &mut Vec::new())?
                }
            };
            frame.borrow_mut().set(formal.name.clone(), var);
        }
        Ok(())
    }

    fn assumed_dims(&mut self, class: ClassId, formal: &Formal, ctx: &Context<'_>) -> Dims {
        match self.local_dims(class, formal, ctx) {
            Ok((dims, false)) => dims,
            _ => (0..formal.rank).map(|_| ASSUMED_SIZE).collect(),
        }
    }

    fn check_statements(&mut self, statements: &[Statement], builder: &mut Builder, ctx: &Context<'_>, own: Span) {
        for statement in statements {
            if let Err(Failure::Report(found)) = self.check_statement(statement, builder, ctx, own) {
                let within = found.primary.as_ref().is_some_and(|label| {
                    let place = label.span;
                    place.file == own.file && own.start <= place.start && place.end <= own.end
                });
                if within && CERTAIN.contains(&found.code) {
                    self.functions.in_bodies.push(*found);
                }
            }
        }
    }

    fn check_statement(
        &mut self,
        statement: &Statement,
        builder: &mut Builder,
        ctx: &Context<'_>,
        own: Span,
    ) -> Fallible<()> {
        self.spend(25, statement.span)?;
        match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                let mut result = Ok(());
                for branch in branches {
                    result = result.and(self.condition(&branch.condition, ctx).map(|_| ()));
                    self.check_statements(&branch.body, builder, ctx, own);
                }
                self.check_statements(otherwise.as_deref().unwrap_or(&[]), builder, ctx, own);
                result
            }
            StatementKind::While { condition, body } => {
                self.check_statements(body, builder, ctx, own);
                self.condition(condition, ctx).map(|_| ())
            }
            StatementKind::For { indices, body } => self.check_loop(indices, body, builder, ctx, own),
            _ => self.lower_statement(statement, builder, ctx, &mut Vec::new()),
        }
    }

    fn check_loop(
        &mut self,
        indices: &[ForIndex],
        body: &[Statement],
        builder: &mut Builder,
        ctx: &Context<'_>,
        own: Span,
    ) -> Fallible<()> {
        let Some((index, rest)) = indices.split_first() else {
            self.check_statements(body, builder, ctx, own);
            return Ok(());
        };
        let (ty, problem) = match self.iterator_type(index, body, ctx) {
            Ok(ty) => (ty, Ok(())),
            Err(failure) => (Ty::Integer, Err(failure)),
        };
        let scalar = ty.scalar().unwrap_or(ScalarType::Integer);
        let counter = builder
            .locals
            .push(Local::new(index.name.name.as_str(), scalar, Vec::new()));
        let value = Tensor::scalar(Ty::of(scalar), FlatExpr::Local(counter, Box::default()));
        let iterators = Iterators {
            name: &index.name.name,
            value: &value,
            outer: ctx.iterators,
        };
        let inner = self.check_loop(rest, body, builder, &ctx.with_iterators(&iterators), own);
        problem.and(inner)
    }

    fn iterator_type(&mut self, index: &ForIndex, body: &[Statement], ctx: &Context<'_>) -> Fallible<Ty> {
        if let Some(range) = &index.range
            && let ExprKind::Range { start, step, stop } = &range.kind
        {
            let (ty, _) = self.scalar(start, ctx)?;
            for part in step.as_deref().into_iter().chain([&**stop]) {
                self.scalar(part, ctx)?;
            }
            return Ok(ty);
        }
        let find = |name: &str| crate::model::implicit::in_statements(body, name);
        let known = self.iterator_values(index, &find, ctx);
        Ok(self.or_varying_values(known, index, ctx)?.ty)
    }
}
