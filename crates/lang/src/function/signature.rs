//! The inputs and outputs of functions, and how arguments go with them.

use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::{
    Causality, ClassBody, ClassDefinition, ClassKind, ExprKind, External, Name, Statement, StatementKind, Variability,
};

use super::annotations::{DerivativeAnnotation, InverseAnnotation};
use super::frame::{Frame, FrameVar};
use crate::codes;
use crate::expr::{Arguments, Context, Mode};
use crate::failure::{Fallible, did_you_mean, error, fail};
use crate::flattener::Flattener;
use crate::ids::ClassId;
use crate::tensor::{Elem, Tensor, Ty};

/// A variable of a function.
#[derive(Clone, Debug)]
pub(crate) struct Formal {
    pub name: Name,
    /// Position in the table of the function.
    pub entry: u32,
    pub class: ClassId,
    pub rank: usize,
    pub span: Span,
    /// Declared a constant or a parameter: never assigned.
    pub constant: bool,
}

/// What is known about a function before it is called.
#[derive(Debug)]
pub(crate) struct Signature {
    pub inputs: Vec<Formal>,
    pub outputs: Vec<Formal>,
    /// Outputs and other variables in the order of their declaration.
    pub locals: Vec<Formal>,
    pub external: Option<Arc<ClassDefinition>>,
    pub partial: bool,
    pub inline: bool,
    pub generates_events: bool,
    pub smooth_order: Option<u32>,
    pub derivatives: Vec<DerivativeAnnotation>,
    pub inverses: Vec<InverseAnnotation>,
    /// For `der(f, x)`: the function, and the inputs by which it is differentiated.
    pub partial_of: Option<(ClassId, Vec<usize>)>,
}

impl Signature {
    /// The external clause, if there is one.
    pub(crate) fn external_clause(&self) -> Option<&External> {
        self.external.as_ref()?.composition()?.external.as_ref()
    }
}

/// A `break` outside of loops.
fn stray_break(statements: &[Statement]) -> Option<Span> {
    statements.iter().find_map(|statement| match &statement.kind {
        StatementKind::Break => Some(statement.span),
        StatementKind::If { branches, otherwise } => {
            let bodies = branches.iter().map(|branch| &branch.body).chain(otherwise);
            bodies.into_iter().find_map(|body| stray_break(body))
        }
        _ => None,
    })
}

impl Flattener<'_> {
    pub(crate) fn signature(&mut self, class: ClassId) -> Fallible<Rc<Signature>> {
        if let Some(known) = self.functions.signatures.get(&class) {
            return Ok(Rc::clone(known));
        }
        let table = self.table(class)?;
        let mut signature = Signature {
            inputs: Vec::new(),
            outputs: Vec::new(),
            locals: Vec::new(),
            external: None,
            partial: table.is_partial,
            inline: false,
            generates_events: false,
            smooth_order: None,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            partial_of: None,
        };
        for (index, entry) in table.entries.iter().enumerate() {
            let Some((clause, component)) = entry.component() else {
                continue;
            };
            let ty = self.component_type(class, index as u32)?;
            let type_table = self.table(ty)?;
            let formal = Formal {
                name: entry.name.clone(),
                entry: index as u32,
                class: ty,
                rank: component.subscripts.len() + clause.subscripts.len() + type_table.dims.len(),
                span: entry.span,
                constant: matches!(
                    clause.prefix.variability,
                    Some(Variability::Constant | Variability::Parameter)
                ),
            };
            match clause.prefix.causality.or(type_table.causality) {
                Some(Causality::Input) => signature.inputs.push(formal),
                Some(Causality::Output) => {
                    signature.outputs.push(formal.clone());
                    signature.locals.push(formal);
                }
                None => {
                    let varies = !matches!(
                        clause.prefix.variability,
                        Some(Variability::Constant | Variability::Parameter)
                    );
                    if varies && !entry.protected {
                        return fail(
                            codes::E0216,
                            entry.span,
                            "public variables of a function must be inputs or outputs",
                        );
                    }
                    signature.locals.push(formal);
                }
            }
        }
        let mut statements = 0;
        let mut assignments_only = true;
        let mut passes_on = true;
        for scope in &table.scopes {
            let def = Arc::clone(self.def(*scope));
            let Some(composition) = def.composition() else {
                continue;
            };
            if composition.external.is_some() {
                signature.external = Some(Arc::clone(&def));
            }
            for section in &composition.algorithms {
                if let Some(span) = stray_break(&section.statements) {
                    return fail(codes::E0311, span, "`break` can only be used in loops");
                }
                statements += section.statements.len();
                // What only passes an argument on needs no annotation to be differentiated.
                passes_on &= section.statements.iter().all(is_copy);
                assignments_only &= section
                    .statements
                    .iter()
                    .all(|s| matches!(s.kind, StatementKind::Assign { .. }));
            }
        }
        self.check_function(class, &signature)?;
        signature.partial_of = self.partial_derivative(class, &signature)?;
        self.read_annotations(class, &mut signature);
        // What is written into the equations has no derivative or inverse of its own any more.
        let plain = signature.derivatives.is_empty() && signature.inverses.is_empty() && signature.partial_of.is_none();
        if statements <= 1 && assignments_only && signature.external.is_none() && (plain || passes_on) {
            signature.inline = true;
        }
        let signature = Rc::new(signature);
        self.functions.signatures.insert(class, Rc::clone(&signature));
        Ok(signature)
    }

    /// The function that `der(f, x)` differentiates, and by which inputs.
    fn partial_derivative(&mut self, class: ClassId, own: &Signature) -> Fallible<Option<(ClassId, Vec<usize>)>> {
        let def = Arc::clone(self.def(class));
        let ClassBody::Derivative {
            function,
            with_respect_to,
        } = &def.body
        else {
            return Ok(None);
        };
        let scope = self.classes[class].parent.unwrap_or(class);
        let base = self.lookup_class(scope, function)?;
        let (base, mut inputs) = match &self.signature(base)?.partial_of {
            Some((of, inputs)) => (*of, inputs.clone()),
            None => (base, Vec::new()),
        };
        for name in with_respect_to {
            let position = own.inputs.iter().position(|formal| formal.name == name.name);
            let Some(position) = position else {
                return fail(codes::E0212, name.span, format!("`{function}` has no input `{name}`"));
            };
            let formal = &own.inputs[position];
            if formal.rank > 0 || self.class_type(formal.class)? != Ty::Real {
                return fail(
                    codes::E0301,
                    name.span,
                    format!("a partial derivative is by a Real scalar, and `{name}` is none"),
                );
            }
            inputs.push(position);
        }
        for output in &own.outputs {
            if self.class_type(output.class)? != Ty::Real {
                return fail(
                    codes::E0301,
                    def.span,
                    format!(
                        "the output `{}` of `{function}` is not Real and has no derivative",
                        output.name
                    ),
                );
            }
        }
        Ok(Some((base, inputs)))
    }

    fn check_function(&mut self, class: ClassId, signature: &Signature) -> Fallible<()> {
        let assigned = self.assigned_names(class)?;
        if let Some(input) = signature.inputs.iter().find(|f| assigned.contains(&f.name)) {
            return fail(
                codes::E0216,
                input.span,
                format!("`{}` is an input and cannot be assigned in the function", input.name),
            );
        }
        let mut constants = signature.locals.iter().filter(|f| f.constant);
        if let Some(local) = constants.find(|f| assigned.contains(&f.name)) {
            return fail(
                codes::E0216,
                local.span,
                format!(
                    "`{}` is a constant or parameter and cannot be assigned in the function",
                    local.name
                ),
            );
        }
        for formal in signature.inputs.iter().chain(&signature.locals) {
            if matches!(self.kind(formal.class), ClassKind::Model | ClassKind::Block) {
                return fail(
                    codes::E0216,
                    formal.span,
                    format!(
                        "a function cannot have the {} `{}`",
                        self.kind(formal.class).as_str(),
                        formal.name
                    ),
                );
            }
        }
        Ok(())
    }

    /// One value per input, defaults filled in.
    pub(crate) fn bind_arguments(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        arguments: Arguments,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Vec<Tensor>> {
        let name = Arc::clone(&self.classes[class].name);
        if arguments.positional.len() > signature.inputs.len() {
            return fail(
                codes::E0212,
                span,
                format!(
                    "`{name}` has {} inputs, but is given {} arguments",
                    signature.inputs.len(),
                    arguments.positional.len()
                ),
            );
        }
        let mut values: Vec<Option<Tensor>> = arguments.positional.into_iter().map(Some).collect();
        values.resize(signature.inputs.len(), None);
        for (argument, value, at) in arguments.named {
            let Some(position) = signature.inputs.iter().position(|f| f.name == argument) else {
                let mut diagnostic = error(codes::E0212, at, format!("`{name}` has no input `{argument}`"));
                if let Some(other) = did_you_mean(&argument, signature.inputs.iter().map(|f| f.name.as_str())) {
                    diagnostic = self.suggesting(diagnostic, &argument, at, other);
                }
                return Err(diagnostic.into());
            };
            if values[position].is_some() {
                return fail(codes::E0212, at, format!("input `{argument}` is given twice"));
            }
            values[position] = Some(value);
        }
        let mut result: Vec<Tensor> = Vec::with_capacity(values.len());
        for (position, value) in values.into_iter().enumerate() {
            let formal = &signature.inputs[position];
            let value = match value {
                Some(value) => value,
                None => {
                    // A default may call the function it belongs to.
                    self.enter(span)?;
                    let value = self.default_argument(class, signature, position, &result, span, ctx);
                    self.leave();
                    value?
                }
            };
            result.push(self.check_argument(formal, value, span)?);
        }
        Ok(result)
    }

    fn check_argument(&mut self, formal: &Formal, value: Tensor, span: Span) -> Fallible<Tensor> {
        let ty = self.class_type(formal.class)?;
        if ty == Ty::Function {
            self.check_function_argument(formal, &value, span)?;
            return Ok(value);
        }
        if ty.accepts(value.ty) || value.elems.is_empty() {
            return Ok(value.coerce(ty));
        }
        fail(
            codes::E0301,
            span,
            format!(
                "input `{}` is {}, but is given {}",
                formal.name,
                ty.name(),
                value.shape()
            ),
        )
    }

    /// A function that is an argument has the inputs of the function type, under the same names.
    fn check_function_argument(&mut self, formal: &Formal, value: &Tensor, span: Span) -> Fallible<()> {
        let Some(Elem::Function(function)) = value.elems.first() else {
            return Ok(());
        };
        let (wanted, given) = (self.signature(formal.class)?, self.signature(function.class)?);
        let is_bound = |name: &Name| function.bound.iter().any(|(bound, _)| bound == name);
        let open: Vec<&Name> = given
            .inputs
            .iter()
            .map(|input| &input.name)
            .filter(|name| !is_bound(name))
            .collect();
        let wanted = wanted.inputs.iter().map(|input| &input.name);
        let differs = wanted.zip(open.iter().map(Some).chain(std::iter::repeat(None)));
        for (wanted, found) in differs {
            if found.copied() == Some(wanted) {
                continue;
            }
            let name = &self.classes[function.class].name;
            let message = match found {
                Some(found) => format!(
                    "`{name}` has an input `{found}` where `{}` needs `{wanted}`",
                    formal.name
                ),
                None => format!("`{name}` has no input `{wanted}`, which `{}` needs", formal.name),
            };
            let type_name = &self.classes[formal.class].name;
            return Err(error(codes::E0301, span, message)
                .with_secondary(formal.span, "the argument is used as this function")
                .with_help(format!(
                    "give it the inputs of `{type_name}`, with the same names in the same order"
                ))
                .into());
        }
        Ok(())
    }

    fn default_argument(
        &mut self,
        class: ClassId,
        signature: &Rc<Signature>,
        position: usize,
        earlier: &[Tensor],
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Tensor> {
        let formal = &signature.inputs[position];
        let table = self.table(class)?;
        let entry = &table.entries[formal.entry as usize];
        let mods = crate::modification::merge(&entry.mods, &entry.declared);
        let Some(binding) = &mods.binding else {
            return fail(
                codes::E0212,
                span,
                format!("`{}` needs the argument `{}`", self.classes[class].name, formal.name),
            );
        };
        // Defaults may refer to the inputs before them.
        let mut frame = Frame::default();
        for (formal, value) in signature.inputs.iter().zip(earlier) {
            frame.set(formal.name.clone(), FrameVar::Value(value.clone()));
        }
        let frame = std::cell::RefCell::new(frame);
        let scope = self.bind_scope(binding.source.scope.class, ctx.scope.instance);
        let known = earlier.iter().all(Tensor::is_known);
        let mode = if known && scope.instance.is_none() {
            Mode::Evaluate
        } else {
            ctx.mode
        };
        let inner = Context {
            frame: Some(&frame),
            ..Context::new(scope, mode)
        };
        self.expr(&binding.source.expr, &inner)
    }

    /// Whether two records are the same but for modifications.
    fn same_record(&mut self, a: ClassId, b: ClassId) -> Fallible<bool> {
        let (a, b) = (self.table(a)?, self.table(b)?);
        Ok(match (a.scopes.last(), b.scopes.last()) {
            (Some(x), Some(y)) => Arc::ptr_eq(self.def(*x), self.def(*y)),
            _ => false,
        })
    }

    /// Whether arguments fit the inputs of a function, for operators with several functions.
    /// Whether the arguments have the types of the inputs.
    pub(crate) fn takes_as_they_are(&mut self, class: ClassId, arguments: &Arguments) -> Fallible<bool> {
        let signature = self.signature(class)?;
        for (formal, value) in signature.inputs.iter().zip(&arguments.positional) {
            let ty = self.class_type(formal.class)?;
            let is_record = matches!((ty, value.ty), (Ty::Record(_), Ty::Record(_)));
            if ty != value.ty && !is_record {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn accepts_arguments(&mut self, class: ClassId, arguments: &Arguments) -> Fallible<bool> {
        let signature = self.signature(class)?;
        let given = arguments.positional.len();
        if given > signature.inputs.len() {
            return Ok(false);
        }
        let table = self.table(class)?;
        for (position, formal) in signature.inputs.iter().enumerate() {
            let Some(value) = arguments.positional.get(position) else {
                let entry = &table.entries[formal.entry as usize];
                if entry.declared.binding.is_none() && entry.mods.binding.is_none() {
                    return Ok(false);
                }
                continue;
            };
            let ty = self.class_type(formal.class)?;
            let fits = match (ty, value.ty) {
                (Ty::Record(a), Ty::Record(b)) => self.same_record(a, b)?,
                (a, b) => a.accepts(b),
            };
            if !fits || value.dims.len() != formal.rank {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether a statement only copies a value.
fn is_copy(statement: &Statement) -> bool {
    matches!(&statement.kind, StatementKind::Assign { value, .. } if matches!(value.kind, ExprKind::Reference(_)))
}
