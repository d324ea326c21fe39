//! `-` where a file is named: standard input where it is read, standard output where it is written.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use saltus::results::{Disk, Formats, ResultError, ResultSink, Storage, Stream, Trajectory, WriteOptions};

/// Whether a path stands for a standard stream.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// What has the format of a stream, which has no extension that could say.
const FORMAT: &str = "csv";

/// The file system, and the standard streams.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Files;

impl Storage for Files {
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Stream>> {
        if is_standard(path) {
            Ok(Box::new(StandardOutput))
        } else {
            Disk.create(path)
        }
    }

    fn open(&mut self, path: &Path) -> io::Result<Box<dyn Read>> {
        if is_standard(path) {
            Ok(Box::new(io::stdin()))
        } else {
            Disk.open(path)
        }
    }

    fn has_neighbours(&self, path: &Path) -> bool {
        !is_standard(path)
    }
}

/// Writes rows to a file, or as CSV to standard output.
pub(crate) fn create_result(path: &Path, options: &WriteOptions) -> Result<Box<dyn ResultSink + Send>, ResultError> {
    let formats = Formats::standard();
    if is_standard(path) {
        formats.create_as(FORMAT, path, &mut Files, options)
    } else {
        formats.create(path, &mut Files, options)
    }
}

/// Reads a result from a file, or as CSV from standard input.
pub(crate) fn read_result(path: &Path) -> Result<Trajectory, ResultError> {
    let formats = Formats::standard();
    if is_standard(path) {
        formats.read_as(FORMAT, path, &mut Files)
    } else {
        formats.read(path, &mut Files)
    }
}

/// Whether this says that whoever read standard output has seen enough (`| head`).
pub(crate) fn reader_has_left(error: &ResultError) -> bool {
    matches!(error, ResultError::Io { path, source, .. }
        if is_standard(path) && source.kind() == io::ErrorKind::BrokenPipe)
}

/// Standard output as a file that can only grow.
struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}

impl Seek for StandardOutput {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::NotSeekable.into())
    }
}
