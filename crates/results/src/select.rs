//! Which variables to keep.

use crate::schema::{AliasSign, Binding, ColumnId, Schema, Signal, SignalId, Value};
use crate::{EventRecord, Manifest, ModeRecord, ResultError, ResultSink, RowKind, Summary};

/// A name in which `*` stands for any characters and `?` for any single one. Brackets stand for themselves, so
/// that `A[1,2]` is a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    chars: Vec<char>,
}

impl Pattern {
    /// A pattern from its text.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let chars = text.chars().collect();
        Self { text, chars }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is a plain name.
    pub fn is_exact(&self) -> bool {
        !self.text.contains(['*', '?'])
    }

    /// Whether a name fits. Takes at most pattern length × name length steps.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let pattern = &self.chars;
        let (mut p, mut n) = (0, 0);
        // Where to resume: after the last `*`, letting it swallow one more character.
        let mut resume: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some('*') => {
                    resume = Some((p + 1, n));
                    p += 1;
                }
                Some(&c) if c == '?' || c == name[n] => {
                    p += 1;
                    n += 1;
                }
                _ => match resume {
                    Some((after_star, swallowed)) => {
                        resume = Some((after_star, swallowed + 1));
                        (p, n) = (after_star, swallowed + 1);
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|&c| c == '*')
    }
}

/// Which variables to keep. Protected and hidden ones are kept only when named exactly, or when asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Names and patterns; none means all.
    pub patterns: Vec<Pattern>,
    /// Also protected variables.
    pub protected: bool,
    /// Also variables annotated `HideResult=true`.
    pub hidden: bool,
}

impl Selection {
    /// Everything that is neither protected nor hidden.
    pub fn visible() -> Self {
        Self::default()
    }

    /// Everything.
    pub fn everything() -> Self {
        Self {
            patterns: Vec::new(),
            protected: true,
            hidden: true,
        }
    }

    /// Variables that fit one of the patterns.
    pub fn of<T: Into<String>>(patterns: impl IntoIterator<Item = T>) -> Self {
        Self {
            patterns: patterns.into_iter().map(Pattern::new).collect(),
            ..Self::default()
        }
    }

    /// The variables, in the order of the schema. A pattern that fits nothing is an error.
    pub fn resolve(&self, schema: &Schema) -> Result<Vec<SignalId>, ResultError> {
        if self.patterns.is_empty() {
            return Ok(schema.ids().filter(|&id| self.shows(schema.signal(id))).collect());
        }
        let mut chosen = vec![false; schema.signals().len()];
        for pattern in &self.patterns {
            if !self.mark(schema, pattern, &mut chosen) {
                return Err(unknown_variable(schema, pattern.text()));
            }
        }
        Ok(schema.ids().filter(|id| chosen[id.index()]).collect())
    }

    fn shows(&self, signal: &Signal) -> bool {
        (self.protected || !signal.protected) && (self.hidden || !signal.hidden)
    }

    fn mark(&self, schema: &Schema, pattern: &Pattern, chosen: &mut [bool]) -> bool {
        if let Some(id) = schema.find(pattern.text()) {
            chosen[id.index()] = true;
            return true;
        }
        if pattern.is_exact() {
            return false;
        }
        let mut any = false;
        for id in schema.ids() {
            let signal = schema.signal(id);
            if self.shows(signal) && pattern.matches(&signal.name) {
                chosen[id.index()] = true;
                any = true;
            }
        }
        any
    }
}

/// Passes only selected variables on. An alias whose target is left out becomes a column of its own.
#[derive(Debug)]
pub struct Select<S> {
    selection: Selection,
    inner: S,
    sources: Vec<(ColumnId, AliasSign)>,
    buffer: Vec<f64>,
    columns: usize,
    begun: bool,
}

impl<S: ResultSink> Select<S> {
    /// Wraps a sink.
    pub fn new(selection: Selection, inner: S) -> Self {
        Self {
            selection,
            inner,
            sources: Vec::new(),
            buffer: Vec::new(),
            columns: 0,
            begun: false,
        }
    }
}

impl<S: ResultSink> ResultSink for Select<S> {
    fn begin(&mut self, schema: &Schema, manifest: &Manifest) -> Result<(), ResultError> {
        let chosen = self.selection.resolve(schema)?;
        let (reduced, sources) = reduce(schema, &chosen)?;
        self.sources = sources;
        self.columns = schema.columns().len();
        self.begun = true;
        self.inner.begin(&reduced, manifest)
    }

    fn mode(&mut self, mode: &ModeRecord) -> Result<(), ResultError> {
        self.inner.mode(mode)
    }

    fn row(&mut self, time: f64, kind: RowKind, mode: u32, values: &[f64]) -> Result<(), ResultError> {
        if values.len() != self.columns {
            return Err(ResultError::Misuse("row of the wrong length"));
        }
        self.buffer.clear();
        let kept = self
            .sources
            .iter()
            .map(|(column, sign)| sign.apply(values[column.index()]));
        self.buffer.extend(kept);
        self.inner.row(time, kind, mode, &self.buffer)
    }

    fn event(&mut self, event: &EventRecord) -> Result<(), ResultError> {
        self.inner.event(event)
    }

    fn flush(&mut self) -> Result<(), ResultError> {
        self.inner.flush()
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), ResultError> {
        if self.begun {
            self.inner.finish(summary)
        } else {
            // The selection was refused: nothing is to be written.
            Ok(())
        }
    }
}

/// The schema of the chosen signals, and where each of its columns comes from.
fn reduce(schema: &Schema, chosen: &[SignalId]) -> Result<(Schema, Vec<(ColumnId, AliasSign)>), ResultError> {
    let mut signals: Vec<Signal> = Vec::with_capacity(chosen.len());
    let mut sources = Vec::new();
    // For each old column, the chosen signal that carries it, and its sign.
    let mut carriers: Vec<Option<(SignalId, AliasSign)>> = vec![None; schema.columns().len()];
    for &id in chosen {
        let new_id = SignalId(signals.len() as u32);
        let binding = match schema.value(id) {
            Value::Constant(value) => Binding::Constant(value),
            Value::Column { column, sign } => {
                // Signs are their own inverses, so that carrier → column → alias composes directly.
                let carrier = carriers[column.index()].and_then(|(of, carried)| Some((of, sign.compose(carried)?)));
                match carrier {
                    Some((of, sign)) => Binding::Alias { of, sign },
                    None => {
                        carriers[column.index()] = Some((new_id, sign));
                        sources.push((column, sign));
                        Binding::Column
                    }
                }
            }
        };
        signals.push(schema.signal(id).clone().with_binding(binding));
    }
    let reduced = Schema::new(signals).map_err(|source| ResultError::Schema {
        path: Default::default(),
        source,
    })?;
    Ok((reduced, sources))
}

/// The error for a name that is not there, with names that look like it.
pub(crate) fn unknown_variable(schema: &Schema, name: &str) -> ResultError {
    const SHOWN: usize = 5;
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, '*' | '?'))
        .collect::<String>()
        .to_lowercase();
    let mut scored: Vec<(usize, &str)> = schema
        .signals()
        .iter()
        .filter_map(|signal| Some((likeness(&plain, &signal.name.to_lowercase())?, signal.name.as_str())))
        .collect();
    scored.sort();
    let similar = scored
        .into_iter()
        .take(SHOWN)
        .map(|(_, name)| name.to_owned())
        .collect();
    ResultError::UnknownVariable {
        name: name.to_owned(),
        similar,
    }
}

/// Smaller is more alike; `None` is not alike at all.
fn likeness(wanted: &str, name: &str) -> Option<usize> {
    if wanted.is_empty() {
        return None;
    }
    if name == wanted {
        return Some(0);
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    let distance = edit_distance(wanted, name).min(edit_distance(wanted, last) + 1);
    if distance <= 1 + wanted.chars().count() / 4 {
        return Some(distance);
    }
    name.contains(wanted).then_some(10 + name.len())
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut current = vec![i + 1];
        for (j, &cb) in b.iter().enumerate() {
            let replace = previous[j] + usize::from(ca != cb);
            current.push(replace.min(previous[j + 1] + 1).min(current[j] + 1));
        }
        previous = current;
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trajectory;

    #[test]
    fn wildcards() {
        let fits = |pattern: &str, name: &str| Pattern::new(pattern).matches(name);
        assert!(fits("a.b.*", "a.b.c.d"));
        assert!(!fits("a.b.*", "a.bc"));
        assert!(fits("*.v", "body[2].v"));
        assert!(fits("der(?)", "der(x)"));
        assert!(!fits("der(?)", "der(xy)"));
        assert!(fits("A[1,?]", "A[1,2]"));
        assert!(fits("*a*b*", "xxaxxbxx"));
        assert!(!fits("*a*b*", "xxbxxaxx"));
        assert!(fits("**", ""));
        assert!(!fits("?", ""));
    }

    fn schema() -> Schema {
        Schema::new(vec![
            Signal::new("x"),
            Signal::new("secret").protected(),
            Signal::new("clutter").hidden(),
            Signal::alias("y", SignalId(1), AliasSign::Negated),
            Signal::alias("z", SignalId(3), AliasSign::Same),
            Signal::constant("p", 2.0),
        ])
        .unwrap()
    }

    #[test]
    fn protected_variables_only_by_exact_name() {
        let schema = schema();
        let names = |selection: Selection| -> Vec<String> {
            let ids = selection.resolve(&schema).unwrap();
            ids.into_iter().map(|id| schema.signal(id).name.clone()).collect()
        };
        assert_eq!(names(Selection::visible()), ["x", "y", "z", "p"]);
        assert_eq!(names(Selection::of(["secret", "x"])), ["x", "secret"]);
        assert_eq!(names(Selection::of(["?"])), ["x", "y", "z", "p"]);
        assert_eq!(names(Selection::everything()).len(), 6);
        let error = Selection::of(["secrte"]).resolve(&schema).unwrap_err();
        let ResultError::UnknownVariable { similar, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(similar, ["secret"]);
    }

    #[test]
    fn an_alias_outlives_its_target() {
        let mut kept = Trajectory::new();
        let mut sink = Select::new(Selection::visible(), &mut kept);
        sink.begin(&schema(), &Manifest::default()).unwrap();
        sink.row(0.0, RowKind::Regular, 0, &[1.0, 2.0, 3.0]).unwrap();
        sink.finish(&Summary::default()).unwrap();
        assert_eq!(kept.schema().columns().len(), 2);
        assert_eq!(kept.signal("y").unwrap().values[0], -2.0);
        assert_eq!(kept.signal("z").unwrap().values[0], -2.0);
        assert_eq!(kept.signal("p").unwrap().values[0], 2.0);
    }
}
