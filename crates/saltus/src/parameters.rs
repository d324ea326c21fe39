//! Values given to parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_lang::flat::{FlatModel, ScalarType, Variability};
use saltus_mdae::{Mdae, Role, VarId};
use saltus_source::{Diagnostic, FileId, Severity, codes};
use saltus_structure::prepare::Coefficients;
use saltus_syntax::ast::{Expr, ExprKind, Name, split_name};
use saltus_syntax::parse_expression;
use serde::{Deserialize, Serialize};

/// What may be set, by name.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ParameterTable {
    entries: BTreeMap<Arc<str>, Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    kind: Kind,
    /// Literals of an enumeration, the first with the value 1.
    literals: Vec<Arc<str>>,
    values: Values,
}

/// What kind of values a parameter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterValues {
    /// Real numbers.
    Real,
    /// Whole numbers.
    Integer,
    /// `true` and `false`.
    Boolean,
    /// Literals, by their position from 1.
    Enumeration,
    /// Texts.
    Text,
}

/// A parameter of a model, as [`Model::parameters`](crate::Model::parameters) tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its full name.
    pub name: String,
    /// What kind of values it has.
    pub values: ParameterValues,
    /// The literals of an enumeration.
    pub literals: Vec<String>,
    /// Its value, if it is a number that is known before a run.
    pub value: Option<f64>,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// Its description.
    pub description: String,
    /// Whether every run may give it another value. Otherwise its value shaped the equations: another one needs another
    /// compilation.
    pub by_run: bool,
}

/// What kind of values it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Values {
    Real,
    Integer,
    Boolean,
    Enumeration,
    Text,
}

impl From<Values> for ParameterValues {
    fn from(values: Values) -> Self {
        match values {
            Values::Real => ParameterValues::Real,
            Values::Integer => ParameterValues::Integer,
            Values::Boolean => ParameterValues::Boolean,
            Values::Enumeration => ParameterValues::Enumeration,
            Values::Text => ParameterValues::Text,
        }
    }
}

impl From<ScalarType> for Values {
    fn from(ty: ScalarType) -> Self {
        match ty {
            ScalarType::Integer => Values::Integer,
            ScalarType::Boolean => Values::Boolean,
            ScalarType::Enumeration(_) => Values::Enumeration,
            ScalarType::String => Values::Text,
            _ => Values::Real,
        }
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    /// A number that a run may replace.
    Settable(VarId),
    /// A coefficient: a number that a run may replace unless it makes a term of an equation appear or vanish.
    Coefficient { id: VarId, vanished: bool },
    /// Its value shaped the equations: another value needs another compilation.
    Structural,
    /// Not a parameter.
    Variable,
    /// Declared so that nobody changes it.
    Final(VarId),
}

/// How a value gets into a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Setting {
    /// At the start of a run.
    Value(VarId, f64),
    /// Before the equations are analysed.
    Coefficient(f64),
    /// As a modification before flattening.
    Modification(StructuralSetting),
}

/// A value that shapes the equations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StructuralSetting {
    /// The parts of the name of the parameter, or of an attribute.
    pub path: Vec<Name>,
    /// The value as it was given.
    pub value: String,
    /// Whether the value is the text itself, not an expression.
    pub is_text: bool,
}

impl ParameterTable {
    pub(crate) fn new(flat: &FlatModel, model: &Mdae, coefficients: &Coefficients) -> Self {
        let parameters: BTreeMap<&str, VarId> = model
            .variables
            .iter_enumerated()
            .filter(|(_, variable)| variable.role == Role::Parameter)
            .map(|(id, variable)| (&*variable.name, id))
            .collect();
        let mut entries = BTreeMap::new();
        for variable in flat.variables.iter() {
            let kind = match parameters.get(&*variable.name) {
                Some(&id) if variable.is_final && !variable.structural => Kind::Final(id),
                Some(&id) if !variable.structural && variable.fixed != Some(false) => {
                    let vanished = coefficients.vanished.contains(&variable.name);
                    if vanished || coefficients.watched.contains(&variable.name) {
                        Kind::Coefficient { id, vanished }
                    } else {
                        Kind::Settable(id)
                    }
                }
                _ if variable.variability == Variability::Parameter => Kind::Structural,
                _ => Kind::Variable,
            };
            let literals = match variable.ty {
                ScalarType::Enumeration(id) => flat.enumerations[id].literals.clone(),
                _ => Vec::new(),
            };
            let entry = Entry {
                kind,
                literals,
                values: variable.ty.into(),
            };
            entries.insert(Arc::clone(&variable.name), entry);
        }
        ParameterTable { entries }
    }

    /// All parameters by name: what kind of values they have, their literals, and whether a run may set them.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&str, ParameterValues, &[Arc<str>], bool)> {
        self.entries
            .iter()
            .filter(|(_, entry)| entry.kind != Kind::Variable)
            .map(|(name, entry)| {
                let vanished = matches!(entry.kind, Kind::Coefficient { vanished: true, .. });
                let by_run = !matches!(entry.kind, Kind::Structural | Kind::Final(_)) && !vanished;
                (&**name, entry.values.into(), &*entry.literals, by_run)
            })
    }

    /// The variables that are set.
    pub(crate) fn variables(&self) -> impl Iterator<Item = VarId> + '_ {
        self.entries.values().filter_map(|entry| match entry.kind {
            Kind::Settable(id) | Kind::Coefficient { id, .. } | Kind::Final(id) => Some(id),
            Kind::Structural | Kind::Variable => None,
        })
    }

    /// Whether a run may replace the value.
    pub(crate) fn is_settable(&self, name: &str) -> bool {
        let kind = self.entries.get(name).map(|entry| &entry.kind);
        matches!(kind, Some(Kind::Settable(_) | Kind::Coefficient { .. }))
    }

    /// The elements of an array with their values, where it is part of an array of components (`a[2].k = {1, 2}`): such a part has
    /// no modification of its own, its elements are set one by one.
    pub(crate) fn elements(&self, name: &str, value: &str) -> Result<Vec<(String, String)>, Box<Diagnostic>> {
        let whole = || vec![(name.to_owned(), value.to_owned())];
        if self.entries.contains_key(name) || !name.contains('[') || !self.is_array(name) {
            return Ok(whole());
        }
        let (parsed, wrong) = parse_expression(FileId(0), value);
        let mut elements = Vec::new();
        if wrong.has_errors() || !collect_elements(&parsed, (name, value), &mut Vec::new(), &mut elements) {
            return Ok(whole());
        }
        let first = format!("{name}[");
        let behind = self.entries.range(Arc::from(&*first)..);
        let expected = behind.take_while(|(known, _)| known.starts_with(&first)).count();
        if elements.len() != expected {
            let given = elements.len();
            let message = format!("`{name}` has {expected} elements, and `{value}` has {given}");
            return Err(Box::new(refused(message)));
        }
        Ok(elements)
    }

    /// Understands `name = value`.
    pub(crate) fn setting(&self, name: &str, value: &str) -> Result<Setting, Box<Diagnostic>> {
        let Some(entry) = self.entries.get(name) else {
            let variable = name.strip_suffix(".start");
            if variable.is_some_and(|variable| self.entries.contains_key(variable) || self.is_array(variable))
                || self.is_array(name)
                || self.is_in_array(name)
            {
                return modification(name, value, false).map(Setting::Modification);
            }
            return Err(self.unknown(name));
        };
        match entry.kind {
            Kind::Settable(id) => entry.number(name, value).map(|value| Setting::Value(id, value)),
            Kind::Coefficient { id, vanished } => entry.number(name, value).map(|value| {
                if vanished || value == 0.0 {
                    Setting::Coefficient(value)
                } else {
                    Setting::Value(id, value)
                }
            }),
            Kind::Structural => modification(name, value, entry.values == Values::Text).map(Setting::Modification),
            Kind::Final(_) => Err(Box::new(
                refused(format!(
                    "`{name}` is final: it has the value that its declaration gives it"
                ))
                .with_help("set the parameters it is computed from, or change the declaration"),
            )),
            Kind::Variable => Err(Box::new(
                refused(format!("`{name}` is not a parameter"))
                    .with_help(format!("its start value is set by `--set {name}.start={value}`")),
            )),
        }
    }

    /// Whether a name is that of an array, whose elements have entries.
    fn is_array(&self, name: &str) -> bool {
        let first = format!("{name}[");
        let mut behind = self.entries.range(Arc::from(&*first)..);
        behind.next().is_some_and(|(known, _)| known.starts_with(&first))
    }

    /// Whether a name is that of parts of all components of an array: `a.k` of `a[1].k`, `a[2].k`.
    fn is_in_array(&self, name: &str) -> bool {
        let parameters = self.entries.iter().filter(|(_, entry)| entry.kind != Kind::Variable);
        let mut names = parameters.map(|(known, _)| without_subscripts(known));
        !name.contains('[') && names.any(|known| known == name)
    }

    fn unknown(&self, name: &str) -> Box<Diagnostic> {
        let diagnostic = refused(format!("the model has no parameter `{name}`"));
        let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_ascii_lowercase();
        let wanted = last(name);
        let parameters = self.entries.iter().filter(|(_, entry)| entry.kind != Kind::Variable);
        let mut similar: Vec<String> = parameters
            .filter(|(known, _)| last(known) == wanted || known.eq_ignore_ascii_case(name))
            .map(|(known, _)| format!("`{known}`"))
            .take(4)
            .collect();
        if similar.is_empty() {
            let close = |known: &&Arc<str>| distance_is_small(&last(known), &wanted);
            similar.extend(
                self.entries
                    .keys()
                    .filter(close)
                    .map(|known| format!("`{known}`"))
                    .take(4),
            );
        }
        Box::new(if similar.is_empty() {
            diagnostic.with_help("`saltus flatten` lists the parameters")
        } else {
            diagnostic.with_help(format!("did you mean {}?", similar.join(", ")))
        })
    }
}

impl Entry {
    fn number(&self, name: &str, value: &str) -> Result<f64, Box<Diagnostic>> {
        let text = value.trim();
        let number = match self.values {
            Values::Boolean => match text {
                "true" => Some(1.0),
                "false" => Some(0.0),
                _ => None,
            },
            Values::Enumeration => {
                let literal = text.rsplit('.').next().unwrap_or(text);
                let found = self.literals.iter().position(|known| **known == *literal);
                found.map(|position| position as f64 + 1.0)
            }
            Values::Integer => text.parse::<i64>().ok().map(|value| value as f64),
            _ => text.parse::<f64>().ok().filter(|value| value.is_finite()),
        };
        number.ok_or_else(|| {
            let diagnostic = refused(format!("`{text}` cannot be the value of `{name}`"));
            Box::new(match self.values {
                Values::Boolean => diagnostic.with_help("write `true` or `false`"),
                Values::Enumeration => {
                    let literals: Vec<String> = self.literals.iter().map(|l| format!("`{l}`")).collect();
                    diagnostic.with_help(format!("write one of {}", literals.join(", ")))
                }
                Values::Integer => diagnostic.with_help("write a whole number"),
                _ => diagnostic.with_help("write a number such as `1.5e-3`"),
            })
        })
    }
}

/// A name without what is in brackets.
fn without_subscripts(name: &str) -> String {
    let (mut depth, mut plain) = (0_u32, String::with_capacity(name.len()));
    for c in name.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

/// The scalars of `{…}` with the names of the elements they are for; false where there are none.
fn collect_elements(
    value: &Expr,
    (name, text): (&str, &str),
    place: &mut Vec<String>,
    found: &mut Vec<(String, String)>,
) -> bool {
    if let ExprKind::Array(elements) = &value.kind {
        return elements.iter().enumerate().all(|(number, element)| {
            place.push((number + 1).to_string());
            let is_whole = collect_elements(element, (name, text), place, found);
            place.pop();
            is_whole
        });
    }
    let written = text.get(value.span.start as usize..value.span.end as usize);
    let Some(written) = written.filter(|_| !place.is_empty()) else {
        return false;
    };
    found.push((format!("{name}[{}]", place.join(",")), written.to_owned()));
    true
}

fn refused(message: String) -> Diagnostic {
    Diagnostic::without_place(codes::E0614, Severity::Error, message)
}

/// Whether two words differ by one insertion, deletion or replacement.
fn distance_is_small(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    let prefix = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    long >= 2 && long - prefix - suffix.min(short - prefix) <= 1
}

fn modification(name: &str, value: &str, is_text: bool) -> Result<StructuralSetting, Box<Diagnostic>> {
    let parts = split_name(name);
    let quoted = |part: &str| part.len() > 2 && part.starts_with('\'') && part.ends_with('\'');
    let plain = |part: &&str| quoted(part) || !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !parts.iter().all(plain) {
        return Err(Box::new(
            refused(format!(
                "`{name}` shapes the equations, and elements of arrays that do cannot be set one by one"
            ))
            .with_help("set the whole array, or a parameter that the element is computed from"),
        ));
    }
    Ok(StructuralSetting {
        path: parts.into_iter().map(Name::new).collect(),
        value: value.to_owned(),
        is_text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_arrays_cannot_be_modified() {
        let path = |name| modification(name, "3", false).map(|setting| setting.path.join("/"));
        assert_eq!(path("a.b.x.start").unwrap(), "a/b/x/start");
        assert_eq!(path("a.'b.c'.n").unwrap(), "a/'b.c'/n");
        assert!(path("a[1].n").is_err());
    }

    #[test]
    fn small_distances() {
        assert!(distance_is_small("resistanse", "resistance"));
        assert!(distance_is_small("kp", "kpp"));
        assert!(!distance_is_small("kp", "ti"));
        assert!(!distance_is_small("alpha", "beta"));
    }
}
