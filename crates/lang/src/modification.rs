//! Modifications as trees, with the scope each value is to be evaluated in.
//!
//! Modifications written in a class belong to every instance of it: their scope names the class
//! only, and [`crate::flattener::Flattener::bind`] adds the instance when a component is made.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use saltus_source::Span;
use saltus_syntax::ast::{
    self, Argument, ClassDefinition, ClassModification, ComponentClause, Expr, InheritanceBreakKind, Name,
    RedeclarationKind,
};
use smallvec::SmallVec;

use crate::codes;
use crate::failure::{Fallible, fail};
use crate::ids::{ClassId, InstanceId};
use crate::tensor::Tensor;

/// Where names in an expression are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The class the text stands in.
    pub class: ClassId,
    /// The instance of that class; `None` where there is none (packages) or none yet.
    pub instance: Option<InstanceId>,
}

/// The value of a modification, shared by the elements of arrays it is spread over.
#[derive(Debug)]
pub(crate) struct BindingSource {
    pub expr: Arc<Expr>,
    pub scope: Scope,
    /// Translated once for all elements.
    pub flat: RefCell<Option<Rc<Tensor>>>,
    /// Evaluated once for all elements.
    pub value: RefCell<Option<Rc<Tensor>>>,
}

/// One step from the value of a modification to the part meant for one element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selector {
    /// Element of an array of components, from 1, and the sizes of that array: a value has as many parts as there are
    /// elements, also where no element asks for those beyond.
    Index {
        index: SmallVec<[u32; 2]>,
        sizes: SmallVec<[u32; 2]>,
    },
    /// Field of a record.
    Field(Name),
}

/// `= e`
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub source: Rc<BindingSource>,
    /// How many levels of components the value is not spread over, because of `each`.
    pub skip: u8,
    /// An `each` that no array has been found for yet.
    pub each: Option<Each>,
    pub selectors: SmallVec<[Selector; 1]>,
}

/// Where `each` is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Each {
    pub span: Span,
    /// Whether it stands before the very element that gets the value.
    pub own: bool,
}

impl Binding {
    pub(crate) fn span(&self) -> Span {
        self.source.expr.span
    }
}

/// `redeclare …`
#[derive(Clone, Debug)]
pub(crate) struct Redeclare {
    pub kind: RedeclareKind,
    /// The class the redeclaration stands in.
    pub scope: ClassId,
    pub constraining: Option<ast::ConstrainingClause>,
    pub is_final: bool,
    /// Whether it may be redeclared in turn.
    pub replaceable: bool,
    pub span: Span,
    /// For `redeclare model extends M`: the class body extends the class it replaces.
    pub class_extends: bool,
    /// What was said about the element before: modifications that those of the redeclaration
    /// override, and the redeclaration it replaces.
    pub replaced: Option<Rc<Mod>>,
}

impl Redeclare {
    /// The redeclaration above what was said about the element before.
    pub(crate) fn over(&self, before: &Rc<Mod>) -> Redeclare {
        let replaced = match &self.replaced {
            Some(replaced) => merge(replaced, before),
            None => Rc::clone(before),
        };
        Redeclare {
            replaced: Some(replaced),
            ..self.clone()
        }
    }

    /// The redeclaration that this one replaces.
    pub(crate) fn previous(&self) -> Option<&Rc<Redeclare>> {
        self.replaced.as_ref()?.redeclare.as_ref()
    }

    /// The nearest clause of the redeclarations below this one that constrains what may be put in
    /// place, with the scope it is written in.
    pub(crate) fn constraint_below(&self) -> Option<(ClassId, &ast::ConstrainingClause)> {
        let previous = self.previous()?;
        match &previous.constraining {
            Some(clause) => Some((previous.scope, clause)),
            None => previous.constraint_below(),
        }
    }
}

/// What is put in place.
#[derive(Clone, Debug)]
pub(crate) enum RedeclareKind {
    Class(Arc<ClassDefinition>),
    Component(Arc<ComponentClause>, u32),
    /// The inner class that an outer one stands for.
    Inner(ClassId),
}

/// A tree of modifications of one element.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mod {
    pub binding: Option<Binding>,
    /// `= break`
    pub binding_break: bool,
    pub redeclare: Option<Rc<Redeclare>>,
    pub is_final: bool,
    /// `break x`
    pub removed: bool,
    pub children: Vec<(Name, Rc<Mod>)>,
    /// Connections removed by `break connect(a, b)`.
    pub removed_connections: Vec<(ast::ComponentReference, ast::ComponentReference)>,
    pub span: Option<Span>,
}

impl Mod {
    pub(crate) fn child(&self, name: &str) -> Option<&Rc<Mod>> {
        self.children.iter().find(|(n, _)| n == name).map(|(_, m)| m)
    }

    /// What is said about the element itself, however it is declared.
    pub(crate) fn without_redeclare(self: &Rc<Mod>) -> Rc<Mod> {
        if self.redeclare.is_none() {
            return Rc::clone(self);
        }
        Rc::new(Mod {
            redeclare: None,
            ..(**self).clone()
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.binding.is_none()
            && !self.binding_break
            && self.redeclare.is_none()
            && !self.removed
            && self.children.is_empty()
            && self.removed_connections.is_empty()
    }

    /// Whether some redeclaration is inside (not of the element itself).
    pub(crate) fn redeclares_inside(&self) -> bool {
        self.children
            .iter()
            .any(|(_, m)| m.redeclare.is_some() || m.redeclares_inside())
    }

    /// Only the redeclarations.
    pub(crate) fn only_redeclares(&self) -> Mod {
        let children = self
            .children
            .iter()
            .filter_map(|(name, m)| {
                let inner = m.only_redeclares();
                (!inner.is_empty()).then(|| (name.clone(), Rc::new(inner)))
            })
            .collect();
        Mod {
            redeclare: self.redeclare.clone(),
            children,
            span: self.span,
            ..Mod::default()
        }
    }

    /// The modification of a class inside a component: it is not spread over the elements of the
    /// component.
    pub(crate) fn for_all_elements(self: &Rc<Mod>) -> Rc<Mod> {
        if !self.any_binding(&|binding| binding.skip > 0) {
            return Rc::clone(self);
        }
        Rc::new(Mod {
            binding: self.binding.clone().map(|binding| Binding {
                skip: binding.skip.saturating_sub(1),
                each: None,
                ..binding
            }),
            children: self
                .children
                .iter()
                .map(|(name, m)| (name.clone(), m.for_all_elements()))
                .collect(),
            ..(**self).clone()
        })
    }

    /// The modification for the element with this index of an array of these sizes (both empty for a
    /// scalar component): values without `each` are spread.
    pub(crate) fn descend(self: &Rc<Mod>, index: &[u32], sizes: &[u32]) -> Rc<Mod> {
        let changes = |binding: &Binding| binding.skip > 0 || !index.is_empty();
        if !self.any_binding(&changes) {
            return Rc::clone(self);
        }
        Rc::new(Mod {
            binding: self.binding.as_ref().map(|b| descend_binding(b, index, sizes)),
            children: self
                .children
                .iter()
                .map(|(name, m)| (name.clone(), m.descend(index, sizes)))
                .collect(),
            ..(**self).clone()
        })
    }

    fn any_binding(&self, test: &dyn Fn(&Binding) -> bool) -> bool {
        self.binding.as_ref().is_some_and(test) || self.children.iter().any(|(_, m)| m.any_binding(test))
    }
}

fn descend_binding(binding: &Binding, index: &[u32], sizes: &[u32]) -> Binding {
    let mut binding = binding.clone();
    if !index.is_empty() {
        binding.each = None;
    }
    if binding.skip > 0 {
        binding.skip -= 1;
    } else if !index.is_empty() {
        binding.selectors.push(Selector::Index {
            index: index.into(),
            sizes: sizes.into(),
        });
    }
    binding
}

/// What `outer` says wins; what it leaves open is taken from `inner`. Below a redeclaration `inner`
/// is kept apart: the modifications of the redeclaration itself stand between the two.
pub(crate) fn merge(outer: &Rc<Mod>, inner: &Rc<Mod>) -> Rc<Mod> {
    if outer.is_empty() {
        return Rc::clone(inner);
    }
    if inner.is_empty() {
        return Rc::clone(outer);
    }
    if let Some(redeclare) = &outer.redeclare {
        return Rc::new(Mod {
            redeclare: Some(Rc::new(redeclare.over(inner))),
            is_final: outer.is_final || inner.is_final,
            removed: outer.removed || inner.removed,
            ..(**outer).clone()
        });
    }
    let mut children = outer.children.clone();
    for (name, child) in &inner.children {
        match children.iter_mut().find(|(n, _)| n == name) {
            Some((_, existing)) => *existing = merge(existing, child),
            None => children.push((name.clone(), Rc::clone(child))),
        }
    }
    let binding = match (&outer.binding, outer.binding_break) {
        (Some(binding), _) => Some(binding.clone()),
        (None, true) => None,
        (None, false) => inner.binding.clone(),
    };
    Rc::new(Mod {
        binding,
        binding_break: outer.binding_break || inner.binding_break && outer.binding.is_none(),
        redeclare: inner.redeclare.clone(),
        is_final: outer.is_final || inner.is_final,
        removed: outer.removed || inner.removed,
        children,
        removed_connections: outer
            .removed_connections
            .iter()
            .chain(&inner.removed_connections)
            .cloned()
            .collect(),
        span: outer.span.or(inner.span),
    })
}

/// The first place where `outer` changes something `inner` has declared final.
pub(crate) fn final_violation(outer: &Mod, inner: &Mod) -> Option<(Name, Span)> {
    for (name, child) in &outer.children {
        let Some(inner_child) = inner.child(name) else {
            continue;
        };
        let changed = child.binding.is_some() || child.redeclare.is_some();
        if inner_child.is_final && changed {
            return child.span.map(|span| (name.clone(), span));
        }
        if let Some(found) = final_violation(child, inner_child) {
            return Some(found);
        }
    }
    None
}

/// A redeclaration of what a redeclaration without `replaceable` has put in place.
pub(crate) fn second_redeclaration(outer: &Mod, inner: &Mod) -> Option<(Name, Span, Span)> {
    outer.children.iter().find_map(|(name, child)| {
        let inner_child = inner.child(name)?;
        match (&child.redeclare, &inner_child.redeclare) {
            (Some(second), Some(first)) if !first.replaceable && first.span != second.span => {
                Some((name.clone(), second.span, first.span))
            }
            _ => second_redeclaration(child, inner_child),
        }
    })
}

/// A modification as written: `depth` is −1 for the arguments of `extends` and class definitions,
/// 0 for those of a component (see [`Binding::skip`]).
pub(crate) fn from_ast(modification: &ClassModification, scope: ClassId, depth: i8) -> Fallible<Mod> {
    let mut builder = Builder { scope };
    let mut result = Mod {
        span: Some(modification.span),
        ..Mod::default()
    };
    builder.arguments(&modification.arguments, depth, Exempt::default(), &mut result)?;
    Ok(result)
}

/// The modification of a component declaration, its binding included.
pub(crate) fn of_component(modification: Option<&ast::Modification>, scope: ClassId) -> Fallible<Mod> {
    let Some(modification) = modification else {
        return Ok(Mod::default());
    };
    let mut builder = Builder { scope };
    let mut result = Mod::default();
    builder.modification(modification, 0, Exempt::default(), &mut result)?;
    Ok(result)
}

struct Builder {
    scope: ClassId,
}

/// How many levels an enclosing `each` exempts, and where it is.
#[derive(Clone, Copy, Default)]
struct Exempt {
    levels: u8,
    written: Option<Each>,
}

impl Exempt {
    /// Inside of a modification that has no `each` itself.
    fn inside(self) -> Exempt {
        let written = self.written.map(|each| Each { own: false, ..each });
        Exempt { written, ..self }
    }
}

impl Builder {
    fn arguments(&mut self, arguments: &[Argument], depth: i8, each: Exempt, into: &mut Mod) -> Fallible<()> {
        for argument in arguments {
            match argument {
                Argument::Modification(m) => self.element(m, depth, each, into)?,
                Argument::Redeclaration(r) => self.redeclaration(r, into)?,
                Argument::Break(b) => match &b.kind {
                    InheritanceBreakKind::Element(name) => {
                        let removed = Mod {
                            removed: true,
                            span: Some(b.span),
                            ..Mod::default()
                        };
                        into.children.push((name.name.clone(), Rc::new(removed)));
                    }
                    InheritanceBreakKind::Connect(a, b) => {
                        into.removed_connections.push((a.clone(), b.clone()));
                    }
                },
            }
        }
        Ok(())
    }

    fn element(&mut self, m: &ast::ElementModification, depth: i8, each: Exempt, into: &mut Mod) -> Fallible<()> {
        let Some((first, rest)) = m.name.parts.split_first() else {
            return Ok(());
        };
        let level = depth + m.name.parts.len() as i8;
        let each = if m.each {
            Exempt {
                levels: each.levels.max(level.max(0) as u8),
                // What `extends` modifies may be an array, which only the base class says.
                written: (level > 0).then_some(Each {
                    span: m.span,
                    own: rest.is_empty(),
                }),
            }
        } else {
            each.inside()
        };
        let mut leaf = Mod {
            is_final: m.is_final,
            span: Some(m.span),
            ..Mod::default()
        };
        if let Some(modification) = &m.modification {
            self.modification(modification, level, each, &mut leaf)?;
        }
        for part in rest.iter().rev() {
            leaf = Mod {
                children: vec![(part.name.clone(), Rc::new(leaf))],
                span: Some(m.span),
                ..Mod::default()
            };
        }
        self.add(into, &first.name, leaf, m.span, rest.is_empty())
    }

    /// Adds to siblings; `a.b = 1, a.c = 2` is allowed, `a = 1, a = 2` is not.
    fn add(&mut self, into: &mut Mod, name: &Name, m: Mod, span: Span, whole: bool) -> Fallible<()> {
        let Some((_, existing)) = into.children.iter_mut().find(|(n, _)| n == name) else {
            into.children.push((name.clone(), Rc::new(m)));
            return Ok(());
        };
        if conflicts(existing, &m) || whole && existing.span.is_some() && m.redeclare.is_some() {
            return fail(codes::E0211, span, format!("`{name}` is modified twice here"));
        }
        let m = Rc::new(m);
        *existing = merge(existing, &m);
        Ok(())
    }

    fn modification(
        &mut self,
        modification: &ast::Modification,
        level: i8,
        each: Exempt,
        into: &mut Mod,
    ) -> Fallible<()> {
        if let Some(inner) = &modification.class_modification {
            self.arguments(&inner.arguments, level, each.inside(), into)?;
        }
        match &modification.binding {
            Some(ast::Binding::Expr(expr)) => {
                into.binding = Some(Binding {
                    source: Rc::new(BindingSource {
                        expr: Arc::clone(expr),
                        scope: Scope {
                            class: self.scope,
                            instance: None,
                        },
                        flat: RefCell::new(None),
                        value: RefCell::new(None),
                    }),
                    skip: each.levels,
                    each: each.written,
                    selectors: SmallVec::new(),
                });
            }
            Some(ast::Binding::Break(_)) => into.binding_break = true,
            None => {}
        }
        Ok(())
    }

    fn redeclaration(&mut self, r: &ast::Redeclaration, into: &mut Mod) -> Fallible<()> {
        let (name, kind) = match &r.kind {
            RedeclarationKind::Class(def) => (&def.name.name, RedeclareKind::Class(Arc::clone(def))),
            RedeclarationKind::Component(clause) => match clause.components.first() {
                Some(component) if component.condition.is_some() => return conditional_redeclaration(component),
                Some(component) => (&component.name.name, RedeclareKind::Component(Arc::clone(clause), 0)),
                None => return Ok(()),
            },
        };
        let m = Mod {
            redeclare: Some(Rc::new(Redeclare {
                kind,
                scope: self.scope,
                constraining: r.constraining.clone(),
                is_final: r.is_final,
                replaceable: r.replaceable,
                span: r.span,
                class_extends: false,
                replaced: None,
            })),
            is_final: r.is_final,
            span: Some(r.span),
            ..Mod::default()
        };
        self.add(into, name, m, r.span, true)
    }
}

/// Whether a component is there, its declaration alone decides (4.4.5).
pub(crate) fn conditional_redeclaration<T>(component: &ast::Component) -> Fallible<T> {
    let name = &component.name;
    fail(
        codes::E0207,
        name.span,
        format!("the redeclaration of `{name}` cannot have a condition"),
    )
}

fn conflicts(a: &Mod, b: &Mod) -> bool {
    a.binding.is_some() && b.binding.is_some()
        || a.redeclare.is_some() && b.redeclare.is_some()
        || b.children
            .iter()
            .any(|(name, child)| a.child(name).is_some_and(|other| conflicts(other, child)))
}
