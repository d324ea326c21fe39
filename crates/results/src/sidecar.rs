//! What a CSV file cannot say: manifest, summary, units and kinds. Written beside it as `<name>.csv.json` when
//! the run begins (status `running`) and again when it ends; MAT files hold the same text inside.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::{Binding, IoAction, Manifest, ResultError, Schema, Signal, SignalId, Summary};

/// Manifest, summary and variables of a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sidecar {
    /// What is needed to make the result again.
    pub manifest: Manifest,
    /// How the run went.
    pub summary: Summary,
    /// The variables.
    pub signals: Vec<Signal>,
}

impl Sidecar {
    /// Where the metadata of a result file is kept.
    pub fn path_for(result: &Path) -> PathBuf {
        let mut name = result.as_os_str().to_owned();
        name.push(".json");
        name.into()
    }

    pub(crate) fn begin(schema: &Schema, manifest: &Manifest) -> Self {
        let signals = schema.signals().to_vec();
        Self {
            manifest: manifest.clone(),
            summary: Summary::default(),
            signals,
        }
    }

    /// The end of the run. Modes that were announced on the way stay if the summary does not list them.
    pub(crate) fn finish(&mut self, summary: &Summary) {
        let announced = std::mem::replace(&mut self.summary, summary.clone()).modes;
        if self.summary.modes.is_empty() {
            self.summary.modes = announced;
        }
    }

    pub(crate) fn to_json(&self, path: &Path) -> Result<Vec<u8>, ResultError> {
        let error = |e: serde_json::Error| ResultError::io(path, IoAction::Write, e.into());
        serde_json::to_vec(self).map_err(error)
    }

    /// Reads the metadata of a result.
    pub fn read(mut stream: impl Read, path: &Path) -> Result<Self, ResultError> {
        let mut bytes = Vec::new();
        stream
            .read_to_end(&mut bytes)
            .map_err(|e| ResultError::io(path, IoAction::Read, e))?;
        serde_json::from_slice(&bytes).map_err(|e| ResultError::malformed(path, e.line() as u64, e.to_string()))
    }

    /// Adds what is known about the signals of a file, by name; their bindings stay.
    pub(crate) fn describe(&self, signals: &mut [Signal]) {
        let known: FxHashMap<&str, &Signal> = self
            .signals
            .iter()
            .map(|signal| (signal.name.as_str(), signal))
            .collect();
        for signal in signals {
            if let Some(&known) = known.get(signal.name.as_str()) {
                *signal = known.clone().with_binding(signal.binding.clone());
            }
        }
    }

    /// Whether all stored variables recorded here are among the columns of a file.
    pub(crate) fn fits(&self, columns: &[String]) -> bool {
        let columns: FxHashSet<&str> = columns.iter().map(String::as_str).collect();
        let mut stored = self.signals.iter().filter(|signal| signal.binding == Binding::Column);
        stored.all(|signal| columns.contains(signal.name.as_str()))
    }

    /// The signals of a file with these columns: aliases and constants as recorded, then columns that are not
    /// known here. Also says which column of the file each stored signal has.
    pub(crate) fn signals_for(&self, columns: &[String]) -> (Vec<Signal>, Vec<usize>) {
        let mut position: FxHashMap<&str, usize> =
            columns.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let fates: Vec<Fate> = (0..self.signals.len()).map(|i| self.fate(i, &position)).collect();
        let new_ids = kept_ids(&fates);
        let mut signals: Vec<Signal> = Vec::new();
        let mut sources = Vec::new();
        for (signal, fate) in self.signals.iter().zip(&fates) {
            let binding = match (fate, &signal.binding) {
                (Fate::Dropped, _) => continue,
                (Fate::Column(column), _) => {
                    sources.push(*column);
                    Binding::Column
                }
                (Fate::Kept, Binding::Alias { of, sign }) => Binding::Alias {
                    of: new_ids[of.index()],
                    sign: *sign,
                },
                (Fate::Kept, binding) => binding.clone(),
            };
            position.remove(signal.name.as_str());
            signals.push(signal.clone().with_binding(binding));
        }
        for (column, name) in columns.iter().enumerate() {
            // A name that stands there twice stays twice, so that the schema refuses it.
            if position.contains_key(name.as_str()) {
                sources.push(column);
                signals.push(Signal::new(name));
            }
        }
        (signals, sources)
    }

    fn fate(&self, index: usize, position: &FxHashMap<&str, usize>) -> Fate {
        let signal = &self.signals[index];
        let column = || match position.get(signal.name.as_str()) {
            Some(&column) => Fate::Column(column),
            None => Fate::Dropped,
        };
        match signal.binding {
            Binding::Column => column(),
            Binding::Constant(_) => Fate::Kept,
            Binding::Alias { .. } => match self.root(index) {
                Some(root) if root.binding != Binding::Column => Fate::Kept,
                Some(root) if position.contains_key(root.name.as_str()) => Fate::Kept,
                _ => column(),
            },
        }
    }

    /// What a chain of aliases ends at; `None` for a loop or a target that is not there.
    fn root(&self, index: usize) -> Option<&Signal> {
        let mut here = self.signals.get(index)?;
        for _ in 0..self.signals.len() {
            match here.binding {
                Binding::Alias { of, .. } => here = self.signals.get(of.index())?,
                _ => return Some(here),
            }
        }
        None
    }
}

/// What becomes of a recorded signal when its file is read.
enum Fate {
    Column(usize),
    Kept,
    Dropped,
}

fn kept_ids(fates: &[Fate]) -> Vec<SignalId> {
    let mut next = 0;
    let mut ids = Vec::with_capacity(fates.len());
    for fate in fates {
        ids.push(SignalId(next));
        next += u32::from(!matches!(fate, Fate::Dropped));
    }
    ids
}

/// Keeps a sidecar file up to date.
pub(crate) struct SidecarWriter {
    pub stream: Box<dyn crate::Stream>,
    pub path: PathBuf,
    written: usize,
}

impl SidecarWriter {
    pub(crate) fn new(stream: Box<dyn crate::Stream>, path: PathBuf) -> Self {
        Self {
            stream,
            path,
            written: 0,
        }
    }

    /// Replaces the content. A shorter text is padded with blanks, which JSON allows at its end.
    pub(crate) fn write(&mut self, sidecar: &Sidecar) -> Result<(), ResultError> {
        let mut text = sidecar.to_json(&self.path)?;
        text.push(b'\n');
        if text.len() < self.written {
            text.resize(self.written, b' ');
        }
        self.written = text.len();
        let stream = &mut self.stream;
        let mut write = || {
            stream.seek(SeekFrom::Start(0))?;
            stream.write_all(&text)?;
            stream.flush()
        };
        write().map_err(|e| ResultError::io(&self.path, IoAction::Write, e))
    }
}
