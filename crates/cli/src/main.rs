//! The command line: translation between the outside world and the library, nothing else.

fn main() {}
