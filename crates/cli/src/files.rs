//! Files named on the command line: none is written over while it is needed, or twice.

use std::path::Path;

use saltus::results::same_file;

use crate::streams::is_standard;

/// A file with what it is for, as the user knows it.
pub(crate) type Named<'a> = (&'a str, &'a Path);

/// Why these files cannot be written: two of them are one file, or one of them is read.
pub(crate) fn clash(written: &[Named<'_>], read: &[Named<'_>]) -> Option<String> {
    // Nobody reads standard input twice.
    let mut inputs = read.iter().filter(|(_, path)| is_standard(path));
    if let (Some((use_, _)), Some((other, _))) = (inputs.next(), inputs.next()) {
        return Some(format!("`-` is named for {use_} and for {other}"));
    }
    let twice = written.iter().enumerate().find_map(|(place, file)| {
        // Standard input is not standard output.
        let read = read.iter().filter(|_| !is_standard(file.1));
        let others = written[place + 1..].iter().chain(read);
        others
            .clone()
            .find(|other| same_file(file.1, other.1))
            .map(|other| (file, other))
    });
    twice.map(|((use_, path), (other, second))| {
        if path == second {
            format!("`{}` is named for {use_} and for {other}", path.display())
        } else {
            format!(
                "{use_} and {other} are one file, `{}` and `{}`",
                path.display(),
                second.display()
            )
        }
    })
}
