//! Calls: which function is meant, and its arguments.

use saltus_source::Span;
use saltus_syntax::ast::{self, BinaryOp, Call, CallArguments, ClassKind, Name, PartialFunction, QualifiedName};

use super::Context;
use crate::class::Found;
use crate::codes;
use crate::failure::{Failure, Fallible, error, fail};
use crate::flattener::{Flattener, Moment};
use crate::function::{FunctionValue, is_function_kind};
use crate::ids::{ClassId, InstanceId};
use crate::instance::ComponentKind;
use crate::modification::Scope;
use crate::tensor::{Elem, Tensor, Ty};

/// The arguments of a call, translated.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub positional: Vec<Tensor>,
    pub named: Vec<(Name, Tensor, Span)>,
}

impl Flattener<'_> {
    /// The value of a call: its first result.
    pub(super) fn call(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Tensor> {
        if let Some(value) = self.builtin_call(call, span, ctx)? {
            return Ok(value);
        }
        let mut results = self.call_results(call, span, ctx)?;
        if results.is_empty() {
            return fail(codes::E0301, span, format!("`{}` has no result", name_of(call)));
        }
        Ok(results.swap_remove(0))
    }

    /// All results of a call of a user function.
    pub(crate) fn call_results(&mut self, call: &Call, span: Span, ctx: &Context<'_>) -> Fallible<Vec<Tensor>> {
        if call
            .function
            .as_simple_name()
            .is_some_and(|name| &**name == "spatialDistribution")
        {
            return self.spatial_distribution(call, span, ctx);
        }
        if let Some(value) = self.builtin_call(call, span, ctx)? {
            return Ok(vec![value]);
        }
        let callee = self.callee(call, ctx)?;
        let arguments = self.arguments(call, ctx)?;
        match callee {
            Callee::Class(class) => self.call_class(class, arguments, span, ctx),
            Callee::Member(class, instance) => {
                // Defaults of the function may refer to the component it belongs to.
                let scope = Scope {
                    instance: Some(instance),
                    ..ctx.scope
                };
                self.call_class(class, arguments, span, &Context { scope, ..*ctx })
            }
            Callee::Value(value) => match value.elems.first() {
                Some(Elem::Function(function)) => {
                    let function = std::rc::Rc::clone(function);
                    let all = self.complete_arguments(&function, arguments, span)?;
                    self.call_class(function.class, all, span, ctx)
                }
                _ => fail(codes::E0202, span, format!("`{}` is not a function", name_of(call))),
            },
        }
    }

    /// Positional arguments go to the inputs that are not bound yet.
    fn complete_arguments(
        &mut self,
        function: &FunctionValue,
        arguments: Arguments,
        span: Span,
    ) -> Fallible<Arguments> {
        let signature = self.signature(function.class)?;
        let bound = |name: &Name| function.bound.iter().any(|(n, _)| n == name);
        let mut open = signature.inputs.iter().map(|f| &f.name).filter(|n| !bound(n));
        let mut named = arguments.named;
        for value in arguments.positional {
            match open.next() {
                Some(name) => named.push((name.clone(), value, span)),
                None => return fail(codes::E0212, span, "too many arguments for this function"),
            }
        }
        for (name, value) in &function.bound {
            named.push((name.clone(), value.clone(), span));
        }
        Ok(Arguments {
            positional: Vec::new(),
            named,
        })
    }

    fn call_class(
        &mut self,
        class: ClassId,
        arguments: Arguments,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Vec<Tensor>> {
        let kind = self.kind(class);
        if is_function_kind(kind) {
            self.check_purity(class, span, ctx)?;
            return self.call_function(class, arguments, span, ctx);
        }
        if self.is_external_object(class)? {
            return self
                .construct_external(class, arguments, span, ctx)
                .map(|value| vec![value]);
        }
        match kind {
            ClassKind::Record | ClassKind::OperatorRecord => self
                .construct_record(class, arguments, span, ctx)
                .map(|value| vec![value]),
            ClassKind::Type if arguments.positional.len() == 1 => {
                self.convert_to_type(class, arguments, span).map(|value| vec![value])
            }
            ClassKind::Operator => self.call_operator(class, arguments, span, ctx),
            _ => {
                // A record under another specialised class, as `class R … end R`.
                fail(
                    codes::E0202,
                    span,
                    format!(
                        "`{}` is a {} and cannot be called",
                        self.classes[class].name,
                        kind.as_str()
                    ),
                )
            }
        }
    }

    /// What an impure function yields may change from call to call: it is not asked while time passes (12.3).
    fn check_purity(&mut self, class: ClassId, span: Span, ctx: &Context<'_>) -> Fallible<()> {
        if self.moment != Moment::Any || ctx.frame.is_some() {
            return Ok(());
        }
        // What has no result has an effect only, on no variable.
        if self.signature(class)?.outputs.is_empty() {
            return Ok(());
        }
        let scopes = self.table(class)?.scopes.clone();
        if !scopes
            .iter()
            .any(|&scope| self.def(scope).purity == Some(ast::Purity::Impure))
        {
            return Ok(());
        }
        let message = format!(
            "the impure function `{}` is called outside of events",
            self.classes[class].name
        );
        Err(error(codes::E0311, span, message)
            .with_note("it may yield something else every time, so the result would depend on the steps of the solver")
            .with_help("call it in a `when`, in an initial section, or in `pure(…)` if it yields the same every time")
            .into())
    }

    fn callee(&mut self, call: &Call, ctx: &Context<'_>) -> Fallible<Callee> {
        let reference = &call.function;
        // A function may be given as an argument of the function around.
        if let (Some(name), Some(frame)) = (reference.as_simple_name(), ctx.frame)
            && let Some(value) = frame.borrow().value(name)
            && value.ty == Ty::Function
        {
            return Ok(Callee::Value(value.clone()));
        }
        let Some(name) = reference.to_qualified_name() else {
            return fail(codes::E0202, reference.span, "a function has no subscripts");
        };
        let Some(first) = name.parts.first() else {
            return Err(Failure::Reported);
        };
        if !name.global && self.lookup(ctx.scope.class, &first.name)?.is_none() && name.parts.len() == 1 {
            let mut diagnostic = error(
                codes::E0201,
                name.span,
                format!("the function `{name}` is not known here"),
            );
            let known = super::builtins::NAMES.iter().copied();
            if let Some(other) = crate::failure::did_you_mean(&first.name, known) {
                diagnostic = self.suggesting(diagnostic, &first.name, first.span, other);
            }
            return Err(diagnostic.into());
        }
        if let Some(callee) = self.callee_in_component(&name, ctx)? {
            return Ok(callee);
        }
        self.lookup_callee(ctx.scope.class, &name).map(Callee::Class)
    }

    /// A function found through components: their actual types count, with redeclarations.
    fn callee_in_component(&mut self, name: &QualifiedName, ctx: &Context<'_>) -> Fallible<Option<Callee>> {
        let (Some(instance), [first, _, ..]) = (ctx.scope.instance, &name.parts[..]) else {
            return Ok(None);
        };
        if name.global
            || self.component_entry(instance, &first.name).is_none()
            || !self.is_declared_in(ctx.scope.class, instance, &first.name)?
        {
            return Ok(None);
        }
        let (mut instance, mut used) = (instance, 0);
        while let Some(index) = self.component_entry(instance, &name.parts[used].name)
            && used + 1 < name.parts.len()
        {
            let Some(element) = self.only_element(instance, index, name)? else {
                return Ok(None);
            };
            instance = element;
            used += 1;
        }
        let mut class = self.instances[instance].class;
        for part in &name.parts[used..] {
            self.check_visible(ctx.scope.class, class, &part.name, part.span)?;
            class = match self.member(class, &part.name)? {
                Some(Found::Class(inner)) => inner,
                Some(Found::Component(..)) => {
                    return fail(
                        codes::E0202,
                        part.span,
                        format!("`{}` is a component of a class, which leads to no function", part.name),
                    );
                }
                None => return Err(self.unknown(Some(class), &part.name, part.span)),
            };
        }
        Ok(Some(Callee::Member(class, instance)))
    }

    fn component_entry(&self, instance: InstanceId, name: &Name) -> Option<u32> {
        let (index, entry) = self.instances[instance].table.find(name)?;
        entry.component().map(|_| index)
    }

    /// The instance of a component through which a function is called.
    fn only_element(&mut self, instance: InstanceId, index: u32, name: &QualifiedName) -> Fallible<Option<InstanceId>> {
        let table = std::rc::Rc::clone(&self.instances[instance].table);
        let entry = &table.entries[index as usize];
        if entry
            .component()
            .is_some_and(|(_, component)| component.condition.is_some())
        {
            return fail(
                codes::E0215,
                name.span,
                format!(
                    "`{}` is a conditional component and can be used in connections only",
                    entry.name
                ),
            );
        }
        let Some(component) = self.component(instance, index)? else {
            return Ok(None);
        };
        if !self.components[component].dims.is_empty() {
            return fail(codes::E0202, name.span, "a function cannot be called through an array");
        }
        Ok(match &self.components[component].kind {
            ComponentKind::Complex { elements } => elements.first().copied(),
            _ => None,
        })
    }

    fn arguments(&mut self, call: &Call, ctx: &Context<'_>) -> Fallible<Arguments> {
        match &call.arguments {
            CallArguments::Comprehension { .. } => fail(
                codes::E0212,
                call.function.span,
                format!("`{}` takes no iterators", name_of(call)),
            ),
            CallArguments::List { positional, named } => {
                let mut result = Arguments::default();
                for argument in positional {
                    result.positional.push(self.expr(argument, ctx)?);
                }
                for argument in named {
                    let value = self.expr(&argument.value, ctx)?;
                    result
                        .named
                        .push((argument.name.name.clone(), value, argument.value.span));
                }
                Ok(result)
            }
        }
    }

    pub(super) fn partial_function(&mut self, function: &PartialFunction, ctx: &Context<'_>) -> Fallible<Tensor> {
        let mut bound = Vec::new();
        for argument in &function.arguments {
            bound.push((argument.name.name.clone(), self.expr(&argument.value, ctx)?));
        }
        // A function given to the function around may be bound further.
        if let ([part], Some(frame)) = (&function.function.parts[..], ctx.frame) {
            let value = frame.borrow().value(&part.name).cloned();
            if let Some(Elem::Function(inner)) = value.as_ref().and_then(|v| v.elems.first()) {
                bound.extend(inner.bound.iter().cloned());
                return Ok(self.bound_function_value(inner.class, bound));
            }
        }
        let class = self.lookup_class(ctx.scope.class, &function.function)?;
        if !is_function_kind(self.kind(class)) {
            return fail(
                codes::E0202,
                function.function.span,
                format!("`{}` is not a function", function.function),
            );
        }
        Ok(self.bound_function_value(class, bound))
    }

    /// `E(i)` for an enumeration, and conversions by a type's name.
    fn convert_to_type(&mut self, class: ClassId, arguments: Arguments, span: Span) -> Fallible<Tensor> {
        let ty = self.class_type(class)?;
        let value = arguments.positional.into_iter().next();
        match (ty, value) {
            (Ty::Enumeration(id), Some(value)) if value.ty == Ty::Integer && value.is_scalar() => {
                self.enumeration_from_ordinal(id, value, span)
            }
            _ => fail(
                codes::E0202,
                span,
                format!(
                    "`{}` is a type and cannot be called like this",
                    self.classes[class].name
                ),
            ),
        }
    }

    // --- Operators of records -------------------------------------------------------------------

    pub(super) fn overloaded_unary(&mut self, operator: &str, operand: Tensor, span: Span) -> Fallible<Tensor> {
        self.overloaded(operator, vec![operand], span)
    }

    pub(super) fn overloaded_binary(&mut self, op: BinaryOp, a: Tensor, b: Tensor, span: Span) -> Fallible<Tensor> {
        let operator = match op {
            BinaryOp::Add => "'+'",
            BinaryOp::Subtract => "'-'",
            BinaryOp::Multiply => "'*'",
            BinaryOp::Divide => "'/'",
            BinaryOp::Power => "'^'",
            BinaryOp::Equal => "'=='",
            BinaryOp::NotEqual => "'<>'",
            BinaryOp::Less => "'<'",
            BinaryOp::LessEqual => "'<='",
            BinaryOp::Greater => "'>'",
            BinaryOp::GreaterEqual => "'>='",
            BinaryOp::And => "'and'",
            BinaryOp::Or => "'or'",
        };
        self.overloaded(operator, vec![a, b], span)
    }

    fn overloaded(&mut self, operator: &str, operands: Vec<Tensor>, span: Span) -> Fallible<Tensor> {
        let name = Name::new(operator);
        let mut class = None;
        for operand in &operands {
            if let Ty::Record(record) = operand.ty
                && let Some(Found::Class(found)) = self.member(record, &name)?
            {
                class = Some((record, found));
                break;
            }
        }
        let Some((record, operator_class)) = class else {
            let shapes: Vec<String> = operands.iter().map(Tensor::shape).collect();
            return fail(
                codes::E0301,
                span,
                format!("{operator} is not defined for {}", shapes.join(" and ")),
            );
        };
        let scope = Scope {
            class: record,
            instance: None,
        };
        let ctx = Context::new(scope, super::Mode::Flat);
        if operands.iter().all(Tensor::is_scalar) || self.fits_operator(operator_class, &operands)? {
            let arguments = Arguments {
                positional: operands,
                named: Vec::new(),
            };
            return Ok(self
                .call_operator(operator_class, arguments, span, &ctx)?
                .swap_remove(0));
        }
        if let ([a, b], "'*'") = (&operands[..], operator)
            && !a.is_scalar()
            && !b.is_scalar()
        {
            return self.record_product(a.clone(), b.clone(), span);
        }
        self.elementwise_overloaded(operator, operands, span)
    }

    /// Whether a function of the operator takes these arrays as they are.
    fn fits_operator(&mut self, operator: ClassId, operands: &[Tensor]) -> Fallible<bool> {
        let arguments = Arguments {
            positional: operands.to_vec(),
            named: Vec::new(),
        };
        for function in self.operator_functions(operator)? {
            if self.accepts_arguments(function, &arguments)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn operator_functions(&mut self, operator: ClassId) -> Fallible<Vec<ClassId>> {
        if is_function_kind(self.kind(operator)) {
            self.check_one_output(operator)?;
            return Ok(vec![operator]);
        }
        let names: Vec<Name> = self
            .def(operator)
            .classes()
            .map(|(_, def)| def.name.name.clone())
            .collect();
        let mut functions = Vec::new();
        for name in names {
            if let Some(Found::Class(function)) = self.member(operator, &name)? {
                self.check_one_output(function)?;
                functions.push(function);
            }
        }
        Ok(functions)
    }

    /// A function of an operator yields one value (14.1).
    fn check_one_output(&mut self, function: ClassId) -> Fallible<()> {
        let outputs = self.signature(function)?.outputs.len();
        if outputs == 1 {
            return Ok(());
        }
        let def = self.def(function);
        fail(
            codes::E0216,
            def.name.span,
            format!(
                "`{}` is a function of an operator and must have one output, not {outputs}",
                def.name
            ),
        )
    }

    /// Arrays of equal size, or a scalar with an array, element by element.
    fn elementwise_overloaded(&mut self, operator: &str, operands: Vec<Tensor>, span: Span) -> Fallible<Tensor> {
        let Some(array) = operands.iter().find(|t| !t.is_scalar()) else {
            return Err(Failure::Reported);
        };
        let (size, ty) = (array.dims[0], array.ty);
        if operands.iter().any(|t| !t.is_scalar() && t.dims != array.dims) {
            let shapes: Vec<String> = operands.iter().map(Tensor::shape).collect();
            return fail(
                codes::E0302,
                span,
                format!("{operator} cannot be applied to {}", shapes.join(" and ")),
            );
        }
        let mut parts = Vec::new();
        for k in 1..=size {
            let inner = operands
                .iter()
                .map(|t| {
                    if t.is_scalar() {
                        t.clone()
                    } else {
                        t.at(k).unwrap_or_else(|| t.clone())
                    }
                })
                .collect();
            parts.push(self.overloaded(operator, inner, span)?);
        }
        crate::tensor::stack(parts, ty, span)
    }

    /// Products of matrices and vectors of records.
    fn record_product(&mut self, a: Tensor, b: Tensor, span: Span) -> Fallible<Tensor> {
        let by_row = |t: &Tensor| (1..=t.dims[0]).filter_map(|k| t.at(k)).collect::<Vec<_>>();
        if a.dims.len() == 2 {
            let mut rows = Vec::new();
            for row in by_row(&a) {
                rows.push(self.record_product(row, b.clone(), span)?);
            }
            return crate::tensor::stack(rows, a.ty, span);
        }
        if a.dims[0] != b.dims[0] || a.dims[0] == 0 {
            return fail(
                codes::E0302,
                span,
                format!("`*` cannot be applied to {} and {}", a.shape(), b.shape()),
            );
        }
        let mut sum: Option<Tensor> = None;
        for (x, y) in by_row(&a).into_iter().zip(by_row(&b)) {
            let term = self.overloaded("'*'", vec![x, y], span)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => self.overloaded("'+'", vec![sum, term], span)?,
            });
        }
        sum.map_or_else(|| Err(Failure::Reported), Ok)
    }

    /// Calls the function of an operator that fits the arguments.
    /// The function of an operator that takes these arguments: one that needs no conversions if there is one, and no other
    /// that is as good (14.5).
    fn fitting_function(
        &mut self,
        operator: ClassId,
        functions: &[ClassId],
        arguments: &Arguments,
        span: Span,
    ) -> Fallible<Option<ClassId>> {
        let mut fitting: Vec<(ClassId, bool)> = Vec::new();
        for &function in functions {
            if self.accepts_arguments(function, arguments)? {
                fitting.push((function, self.takes_as_they_are(function, arguments)?));
            }
        }
        if fitting.iter().any(|(_, exact)| *exact) {
            fitting.retain(|(_, exact)| *exact);
        }
        match fitting[..] {
            // Names of arguments, which are not compared, may tell them apart.
            [(first, _), (second, _), ..] if arguments.named.is_empty() => {
                let places = [first, second].map(|function| self.def(function).name.span);
                Err(crate::failure::error(
                    codes::E0212,
                    span,
                    format!(
                        "several functions of `{}` fit these arguments",
                        self.classes[operator].name
                    ),
                )
                .with_secondary(places[0], "this one")
                .with_secondary(places[1], "and this one")
                .with_help("remove one of them, or give it other inputs")
                .into())
            }
            [(first, _), ..] => Ok(Some(first)),
            [] => Ok(None),
        }
    }

    pub(super) fn call_operator(
        &mut self,
        operator: ClassId,
        arguments: Arguments,
        span: Span,
        ctx: &Context<'_>,
    ) -> Fallible<Vec<Tensor>> {
        let functions = self.operator_functions(operator)?;
        if let Some(function) = self.fitting_function(operator, &functions, &arguments, span)? {
            return self.call_function(function, arguments, span, ctx);
        }
        // `2*c`: a number where a record is wanted becomes one by the record's constructor.
        if let Some(record) = self.classes[operator].parent
            && arguments.positional.iter().any(|t| t.ty.is_numeric())
        {
            let mut positional = Vec::new();
            for argument in arguments.positional {
                if argument.ty.is_numeric() && argument.is_scalar() {
                    let inner = Arguments {
                        positional: vec![argument],
                        named: Vec::new(),
                    };
                    positional.push(self.construct_record(record, inner, span, ctx)?);
                } else {
                    positional.push(argument);
                }
            }
            let converted = Arguments {
                positional,
                named: arguments.named,
            };
            if let Some(function) = self.fitting_function(operator, &functions, &converted, span)? {
                return self.call_function(function, converted, span, ctx);
            }
        }
        fail(
            codes::E0212,
            span,
            format!("no function of `{}` fits these arguments", self.classes[operator].name),
        )
    }
}

enum Callee {
    Class(ClassId),
    Member(ClassId, InstanceId),
    Value(Tensor),
}

pub(super) fn name_of(call: &Call) -> String {
    match call.function.to_qualified_name() {
        Some(name) => name.to_string(),
        None => call
            .function
            .parts
            .iter()
            .map(|p| p.name.to_string())
            .collect::<Vec<_>>()
            .join("."),
    }
}

/// The positional arguments as written.
pub(super) fn list(call: &Call) -> (&[ast::Expr], &[ast::NamedArgument]) {
    (call.positional(), call.named())
}
