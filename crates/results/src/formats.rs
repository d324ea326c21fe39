//! File formats, an open set chosen by extension.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sidecar::Sidecar;
use crate::{
    CsvWriter, EventRows, IoAction, MatWriter, ResultError, ResultSink, Select, Selection, Trajectory, read_csv,
    read_mat,
};

/// A file being written.
pub trait Stream: Write + Seek + Send {}

impl<T: Write + Seek + Send> Stream for T {}

/// Where files live; given by the edge.
pub trait Storage {
    /// Makes a new file, or empties an old one, at the latest when something is written.
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Stream>>;
    /// Opens a file for reading.
    fn open(&mut self, path: &Path) -> io::Result<Box<dyn Read>>;
    /// Whether other files can lie beside this one: none lies beside a stream.
    fn has_neighbours(&self, _path: &Path) -> bool {
        true
    }
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Storage for Disk {
    /// The file is made, or emptied, when something is written: a run that is refused leaves an old one alone. What can
    /// be known of its path is checked at once.
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Stream>> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if path.exists() {
            reject_pipe(path)?;
            lock_for_writing(&File::options().write(true).open(path)?)?;
        } else if let Some(parent) = parent {
            std::fs::read_dir(parent)?;
        }
        Ok(Box::new(UnmadeFile {
            path: path.to_owned(),
            file: None,
        }))
    }

    fn open(&mut self, path: &Path) -> io::Result<Box<dyn Read>> {
        reject_pipe(path)?;
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is a device, not a file",
            ));
        }
        Ok(Box::new(File::open(path)?))
    }
}

/// Opening a named pipe waits for its other end, perhaps for ever.
#[cfg(unix)]
fn reject_pipe(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    if std::fs::metadata(path)?.file_type().is_fifo() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe, not a file"));
    }
    Ok(())
}

/// There are none in the file system.
#[cfg(not(unix))]
fn reject_pipe(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Takes the file for this run; the system gives it back when the run ends, however it ends. Two runs would mix their
/// rows. Devices such as `/dev/null` serve any number of runs, and some file systems know no locks.
fn lock_for_writing(file: &File) -> io::Result<()> {
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let message = "another run is writing to it";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// A file that nobody else writes to, made if it is not there, and empty.
fn take_for_writing(path: &Path) -> io::Result<File> {
    // Emptied only when it is ours: it may hold what another run is writing.
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    lock_for_writing(&file)?;
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Whether two paths lead to the same file, which need not exist yet. Two that lead to the same device do not count:
/// nothing is kept there.
pub fn same_file(first: &Path, second: &Path) -> bool {
    let device = std::fs::metadata(first).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    !device && identity(first) == identity(second)
}

/// What two names of one file have in common: the device and the number of a file that exists, else the folder it
/// would be made in and its name.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    #[cfg(unix)]
    Number(u64, u64),
    Path(PathBuf),
}

fn identity(path: &Path) -> Identity {
    #[cfg(unix)]
    if let Ok(metadata) = std::fs::metadata(path) {
        use std::os::unix::fs::MetadataExt;
        return Identity::Number(metadata.dev(), metadata.ino());
    }
    Identity::Path(resolved(path, 0))
}

/// The path with its links followed, also one whose file does not exist yet.
fn resolved(path: &Path, links: usize) -> PathBuf {
    const MOST_LINKS: usize = 40;
    if let Ok(canonical) = std::fs::canonicalize(path) {
        return canonical;
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return path;
    };
    let folder = std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned());
    // A link to a file that does not exist yet: writing makes the file it leads to.
    match std::fs::read_link(&path) {
        Ok(target) if links < MOST_LINKS => resolved(&folder.join(target), links + 1),
        _ => folder.join(name),
    }
}

/// A file that is made when something is written.
#[derive(Debug)]
struct UnmadeFile {
    path: PathBuf,
    file: Option<File>,
}

impl UnmadeFile {
    fn file(&mut self) -> io::Result<&mut File> {
        match &mut self.file {
            Some(file) => Ok(file),
            none => Ok(none.insert(take_for_writing(&self.path)?)),
        }
    }
}

impl Write for UnmadeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}

impl Seek for UnmadeFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file()?.seek(position)
    }
}

type SharedBytes = Arc<Mutex<Vec<u8>>>;

fn lock(bytes: &SharedBytes) -> MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Files in memory, for tests and for edges without a file system.
#[derive(Clone, Debug, Default)]
pub struct MemoryStorage {
    files: BTreeMap<PathBuf, SharedBytes>,
}

impl MemoryStorage {
    /// The content of a file, also while it is being written.
    pub fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        self.files.get(path.as_ref()).map(|bytes| lock(bytes).clone())
    }

    /// Puts a file in place.
    pub fn insert(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), Arc::new(Mutex::new(bytes.into())));
    }

    /// The names of all files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }
}

impl Storage for MemoryStorage {
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Stream>> {
        let bytes = SharedBytes::default();
        self.files.insert(path.to_owned(), bytes.clone());
        Ok(Box::new(MemoryStream { bytes, position: 0 }))
    }

    fn open(&mut self, path: &Path) -> io::Result<Box<dyn Read>> {
        let bytes = self.bytes(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Cursor::new(bytes)))
    }
}

struct MemoryStream {
    bytes: SharedBytes,
    position: u64,
}

impl MemoryStream {
    fn with_cursor<T>(&mut self, act: impl FnOnce(&mut Cursor<&mut Vec<u8>>) -> io::Result<T>) -> io::Result<T> {
        let mut bytes = lock(&self.bytes);
        let mut cursor = Cursor::new(&mut *bytes);
        cursor.set_position(self.position);
        let result = act(&mut cursor);
        self.position = cursor.position();
        result
    }
}

impl Write for MemoryStream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.with_cursor(|cursor| cursor.write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for MemoryStream {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.with_cursor(|cursor| cursor.seek(position))
    }
}

/// What to write.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Which variables.
    pub selection: Selection,
    /// One row for each super-dense instant of an event instead of two.
    pub all_instants: bool,
    /// Leave the columns of aliases out where the format would repeat them.
    pub omit_aliases: bool,
}

/// A file format. To add one, implement this and [`Formats::register`] it.
pub trait Format: Send + Sync {
    /// Extensions, in lower case without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// A writer of everything it receives.
    fn create(
        &self,
        path: &Path,
        storage: &mut dyn Storage,
        options: &WriteOptions,
    ) -> Result<Box<dyn ResultSink + Send>, ResultError>;

    /// Reads a file.
    fn read(&self, path: &Path, storage: &mut dyn Storage) -> Result<Trajectory, ResultError>;
}

/// The formats that are known.
pub struct Formats {
    formats: Vec<Box<dyn Format>>,
}

impl std::fmt::Debug for Formats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.extensions()).finish()
    }
}

impl Default for Formats {
    fn default() -> Self {
        Self::standard()
    }
}

impl Formats {
    /// CSV and MAT.
    pub fn standard() -> Self {
        Self {
            formats: vec![Box::new(Csv), Box::new(Mat)],
        }
    }

    /// Adds a format; of two with the same extension the later counts.
    pub fn register(&mut self, format: impl Format + 'static) {
        self.formats.push(Box::new(format));
    }

    /// All extensions.
    pub fn extensions(&self) -> impl Iterator<Item = &'static str> {
        self.formats
            .iter()
            .flat_map(|format| format.extensions().iter().copied())
    }

    fn of(&self, extension: &str, path: &Path) -> Result<&dyn Format, ResultError> {
        let mut latest_first = self.formats.iter().rev().map(|format| &**format);
        latest_first
            .find(|format| format.extensions().contains(&extension))
            .ok_or_else(|| ResultError::UnknownFormat {
                path: path.to_owned(),
                known: self.extensions().collect(),
            })
    }

    /// A sink that writes to a file in the format of its extension.
    pub fn create(
        &self,
        path: &Path,
        storage: &mut dyn Storage,
        options: &WriteOptions,
    ) -> Result<Box<dyn ResultSink + Send>, ResultError> {
        self.create_as(&extension(path), path, storage, options)
    }

    /// A sink that writes to a file in the format of an extension that its name need not have.
    pub fn create_as(
        &self,
        extension: &str,
        path: &Path,
        storage: &mut dyn Storage,
        options: &WriteOptions,
    ) -> Result<Box<dyn ResultSink + Send>, ResultError> {
        let writer = self.of(extension, path)?.create(path, storage, options)?;
        let selected = Select::new(options.selection.clone(), writer);
        Ok(if options.all_instants {
            Box::new(selected)
        } else {
            Box::new(EventRows::new(selected))
        })
    }

    /// Reads a file in the format of its extension.
    pub fn read(&self, path: &Path, storage: &mut dyn Storage) -> Result<Trajectory, ResultError> {
        self.read_as(&extension(path), path, storage)
    }

    /// Reads a file in the format of an extension that its name need not have.
    pub fn read_as(&self, extension: &str, path: &Path, storage: &mut dyn Storage) -> Result<Trajectory, ResultError> {
        self.of(extension, path)?.read(path, storage)
    }
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase()
}

fn create(path: &Path, storage: &mut dyn Storage) -> Result<Box<dyn Stream>, ResultError> {
    storage
        .create(path)
        .map_err(|e| ResultError::io(path, IoAction::Create, e))
}

fn open(path: &Path, storage: &mut dyn Storage) -> Result<Box<dyn Read>, ResultError> {
    storage.open(path).map_err(|e| ResultError::io(path, IoAction::Read, e))
}

struct Csv;

impl Format for Csv {
    fn extensions(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn create(
        &self,
        path: &Path,
        storage: &mut dyn Storage,
        options: &WriteOptions,
    ) -> Result<Box<dyn ResultSink + Send>, ResultError> {
        let beside = Sidecar::path_for(path);
        let writer = CsvWriter::new(create(path, storage)?, path);
        let writer = if storage.has_neighbours(path) {
            writer.with_sidecar(create(&beside, storage)?, beside)
        } else {
            writer
        };
        Ok(Box::new(if options.omit_aliases {
            writer.without_aliases()
        } else {
            writer
        }))
    }

    fn read(&self, path: &Path, storage: &mut dyn Storage) -> Result<Trajectory, ResultError> {
        let stream = open(path, storage)?;
        // Metadata is a convenience: without it, or with a damaged one, the numbers are still there.
        let beside = Sidecar::path_for(path);
        let stream_beside = storage.has_neighbours(path).then(|| storage.open(&beside).ok());
        let sidecar = stream_beside
            .flatten()
            .and_then(|stream| Sidecar::read(stream, &beside).ok());
        read_csv(stream, path, sidecar.as_ref())
    }
}

struct Mat;

impl Format for Mat {
    fn extensions(&self) -> &'static [&'static str] {
        &["mat"]
    }

    fn create(
        &self,
        path: &Path,
        storage: &mut dyn Storage,
        _: &WriteOptions,
    ) -> Result<Box<dyn ResultSink + Send>, ResultError> {
        Ok(Box::new(MatWriter::new(create(path, storage)?, path)))
    }

    fn read(&self, path: &Path, storage: &mut dyn Storage) -> Result<Trajectory, ResultError> {
        read_mat(open(path, storage)?, path)
    }
}
