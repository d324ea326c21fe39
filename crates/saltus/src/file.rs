//! Model files: a compiled model as bytes, and back.
//!
//! The page *Model files* among those for contributors describes the format.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use saltus_mdae::stored::StoredModel;
use saltus_mdae::{Mdae, Role};
use saltus_results::InputHash;
use saltus_simulate::{Compiled, discrete_loop};
use saltus_source::{Diagnostic, Diagnostics, FileId, LineColumn, Severity, SourceMap, Span, codes};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Model;
use crate::guess::Guesses;
use crate::parameters::ParameterTable;
use crate::pictures::Pictures;
use crate::timing::{Phase, Timings};

/// What every model file begins with.
const MAGIC: &[u8] = b"SALTUS\0";
/// Changes with every change of what is written: there is nothing in the content by which fields could be told.
const FORMAT: u32 = 8;
const LENGTH_AT: usize = MAGIC.len() + size_of::<u32>();
const CHECKSUM_AT: usize = LENGTH_AT + size_of::<u64>();
const CONTENT_AT: usize = CHECKSUM_AT + 32;
/// Bytes of content: models of millions of equations stay below.
const MOST_BYTES: usize = 1 << 31;
/// The compression cannot do better than this.
const MOST_COMPRESSION: usize = 1040;
/// Compression level: higher ones take longer and save little.
const LEVEL: u8 = 6;
/// Room for statements of functions inside statements of functions.
const STACK: usize = 128 << 20;

/// What a model file is to hold.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelFileOptions {
    /// Leave the text of the source files out: messages name file and line without showing it.
    pub without_sources: bool,
}

#[derive(Serialize)]
struct Written<'m, E> {
    program: &'m str,
    name: &'m str,
    files: Vec<StoredFile>,
    parameters: &'m ParameterTable,
    warnings: &'m Diagnostics,
    pictures: &'m Pictures,
    equations: E,
}

#[derive(Deserialize)]
struct Read {
    /// For people who look into the file.
    #[serde(rename = "program")]
    _program: String,
    name: String,
    files: Vec<StoredFile>,
    parameters: ParameterTable,
    warnings: Diagnostics,
    pictures: Pictures,
    equations: StoredModel,
}

/// A source file.
#[derive(Serialize, Deserialize)]
struct StoredFile {
    name: String,
    hash: String,
    text: StoredText,
}

#[derive(Serialize, Deserialize)]
enum StoredText {
    Text(String),
    /// Lines and columns of the offsets that the model mentions.
    Outline(Vec<(u32, LineColumn)>),
}

impl Model {
    /// The model as bytes: everything a run needs, on any machine, with a Saltus that reads the same format. Runs of it
    /// are bit-identical with those of the model.
    ///
    /// ```
    /// use saltus::{Model, ModelFileOptions, Session};
    ///
    /// let session = Session::new();
    /// session.add_text("Decay.mo", "
    ///     model Decay
    ///       parameter Real k = 2;
    ///       Real x(start = 1, fixed = true);
    ///     equation
    ///       der(x) = -k*x;
    ///     end Decay;
    /// ");
    /// let model = session.compile("Decay").into_result().unwrap();
    /// let bytes = model.to_bytes(ModelFileOptions::default()).unwrap();
    ///
    /// let again = Model::from_bytes(&bytes).unwrap();
    /// let end = |model: &Model| {
    ///     let simulation = model.run().set("k", "3").unwrap().simulate().unwrap();
    ///     simulation.values("x").unwrap().last().copied()
    /// };
    /// assert_eq!(end(&again), end(&model));
    /// ```
    pub fn to_bytes(&self, options: ModelFileOptions) -> Result<Vec<u8>, Box<Diagnostic>> {
        let content = with_stack(|| {
            postcard::to_allocvec(&Written {
                program: concat!("saltus ", env!("CARGO_PKG_VERSION")),
                name: self.name(),
                files: self.stored_files(options),
                parameters: &self.parameters,
                warnings: self.warnings(),
                pictures: &self.pictures,
                equations: self.equations().to_stored(self.extent),
            })
        });
        let content = content.map_err(|error| {
            let message = format!("the model cannot be written to a model file: {error}");
            let diagnostic = Diagnostic::without_place(codes::E0708, Severity::Error, message);
            Box::new(diagnostic.with_help("divide long expressions and deeply nested statements of functions"))
        })?;
        let compressed = miniz_oxide::deflate::compress_to_vec(&content, LEVEL);
        let mut bytes = Vec::with_capacity(CONTENT_AT + compressed.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&Sha256::digest(&compressed));
        bytes.extend_from_slice(&compressed);
        Ok(bytes)
    }

    /// The model of a model file. Whatever the bytes are, there is a model or an error that says what is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, Box<Diagnostic>> {
        Self::from_bytes_with_starts(bytes, &[])
    }

    /// The same with other start values for some variables, given by their names; what is none is ignored.
    pub fn from_bytes_with_starts(bytes: &[u8], starts: &[(String, f64)]) -> Result<Model, Box<Diagnostic>> {
        let mut timings = Timings::default();
        let content = content(bytes)?;
        let (read, mut equations) = timings.measure(Phase::Parse, || with_stack(|| decode(&content)))?;
        replace_starts(&mut equations, starts);
        drop(content);
        let is_parameter = |var| equations.variables.get(var).is_some_and(|v| v.role == Role::Parameter);
        if !read.parameters.variables().all(is_parameter) {
            return Err(damaged("a parameter that is none"));
        }
        let extent = equations.extent();
        if discrete_loop(&equations).is_some() {
            return Err(damaged("discrete variables depend on each other"));
        }
        let compiled = timings.measure(Phase::Compile, || Compiled::new(equations));
        let compiled = compiled.map_err(|_| damaged("its equations cannot be compiled"))?;
        let sources = SourceMap::new();
        let mut inputs = Vec::with_capacity(read.files.len());
        for file in read.files {
            match file.text {
                StoredText::Text(text) => sources.add(file.name.as_str(), text),
                StoredText::Outline(places) => sources.add_outline(file.name.as_str(), places),
            };
            inputs.push(InputHash {
                path: file.name,
                hash: file.hash,
            });
        }
        Ok(Model {
            compiled,
            extent,
            parameters: read.parameters,
            pictures: read.pictures,
            connectors: Vec::new(),
            name: read.name,
            modification: None,
            sources: Arc::new(sources),
            inputs: OnceLock::from(inputs),
            is_from_file: true,
            timings,
            warnings: read.warnings,
            open: Vec::new(),
            guesses: Guesses::default(),
        })
    }

    /// Whether bytes begin like a model file.
    pub fn is_model_file(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Texts of the files that the model points into; of the others and of all if so asked, what is needed to name a
    /// place.
    fn stored_files(&self, options: ModelFileOptions) -> Vec<StoredFile> {
        let places = self.places();
        let store = |(id, input): (usize, &InputHash)| {
            let id = FileId(id as u32);
            let file = self.sources().file(id);
            let used = places.get(&id);
            let text = match &file {
                Some(file) if used.is_some() && !file.is_outline() && !options.without_sources => {
                    StoredText::Text(file.text().to_owned())
                }
                Some(file) => {
                    let place = |&offset: &u32| (offset, file.line_column(offset));
                    StoredText::Outline(used.into_iter().flatten().map(place).collect())
                }
                None => StoredText::Outline(Vec::new()),
            };
            StoredFile {
                name: input.path.clone(),
                hash: input.hash.clone(),
                text,
            }
        };
        self.inputs().iter().enumerate().map(store).collect()
    }

    /// Offsets that messages can be about, by file.
    fn places(&self) -> BTreeMap<FileId, BTreeSet<u32>> {
        let origins = self.equations().origins.iter().filter_map(|origin| origin.span);
        let warnings = self.warnings().iter();
        let labels = warnings.flat_map(|warning| warning.primary.iter().chain(&warning.secondary));
        let mut places: BTreeMap<FileId, BTreeSet<u32>> = BTreeMap::new();
        for Span { file, start, end } in origins.chain(labels.map(|label| label.span)) {
            places.entry(file).or_default().extend([start, end]);
        }
        places
    }
}

/// The content of a model file, if nothing happened to it.
fn content(bytes: &[u8]) -> Result<Vec<u8>, Box<Diagnostic>> {
    if !Model::is_model_file(bytes) {
        let message = "this is not a model file";
        let diagnostic = Diagnostic::without_place(codes::E0706, Severity::Error, message);
        return Err(Box::new(
            diagnostic.with_help("`saltus compile` makes one from a model"),
        ));
    }
    let version = bytes.get(MAGIC.len()..LENGTH_AT).and_then(|four| four.try_into().ok());
    let version = u32::from_le_bytes(version.ok_or_else(|| damaged("it ends too early"))?);
    if version != FORMAT {
        let message = format!("the model file has format {version}; this program reads format {FORMAT}");
        let diagnostic = Diagnostic::without_place(codes::E0707, Severity::Error, message);
        return Err(Box::new(
            diagnostic.with_help("compile the model again with `saltus compile`"),
        ));
    }
    let length = bytes
        .get(LENGTH_AT..CHECKSUM_AT)
        .and_then(|eight| eight.try_into().ok());
    let length = u64::from_le_bytes(length.ok_or_else(|| damaged("it ends too early"))?);
    let (Some(checksum), Some(compressed)) = (bytes.get(CHECKSUM_AT..CONTENT_AT), bytes.get(CONTENT_AT..)) else {
        return Err(damaged("it ends too early"));
    };
    if Sha256::digest(compressed).as_slice() != checksum {
        return Err(damaged("its content is not what was written"));
    }
    let most = compressed.len().saturating_mul(MOST_COMPRESSION).min(MOST_BYTES);
    let length = usize::try_from(length).ok().filter(|&length| length <= most);
    let length = length.ok_or_else(|| damaged("its length is not what was written"))?;
    let content = miniz_oxide::inflate::decompress_to_vec_with_limit(compressed, length);
    let content = content.map_err(|_| damaged("its content is not what was written"))?;
    if content.len() != length {
        return Err(damaged("its length is not what was written"));
    }
    Ok(content)
}

fn decode(content: &[u8]) -> Result<(ReadModel, Mdae), Box<Diagnostic>> {
    let (read, rest) = postcard::take_from_bytes::<Read>(content).map_err(|error| damaged(&error.to_string()))?;
    if !rest.is_empty() {
        return Err(damaged("something follows"));
    }
    let equations = read.equations.into_model().map_err(|invalid| damaged(&invalid.0))?;
    let read = ReadModel {
        name: read.name,
        files: read.files,
        parameters: read.parameters,
        warnings: read.warnings,
        pictures: read.pictures,
    };
    Ok((read, equations))
}

fn replace_starts(equations: &mut Mdae, starts: &[(String, f64)]) {
    for (name, value) in starts {
        let value = equations.pool.real(*value);
        let variables = equations.variables.iter_mut();
        let aliases = equations.aliases.iter_mut().map(|alias| &mut alias.variable);
        for variable in variables.chain(aliases).filter(|variable| *variable.name == **name) {
            variable.start = Some(value);
        }
    }
}

/// Everything but the equations.
struct ReadModel {
    name: String,
    files: Vec<StoredFile>,
    parameters: ParameterTable,
    warnings: Diagnostics,
    pictures: Pictures,
}

fn damaged(what: &str) -> Box<Diagnostic> {
    let message = format!("the model file is damaged: {what}");
    let diagnostic = Diagnostic::without_place(codes::E0708, Severity::Error, message);
    Box::new(diagnostic.with_help("copy it again, or compile the model again with `saltus compile`"))
}

/// Does work that goes through nested data on a thread with room for it.
fn with_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, &work).map(|thread| thread.join()) {
            Ok(Ok(done)) => done,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // No thread to be had: the stack at hand must do.
            Err(_) => work(),
        }
    })
}
