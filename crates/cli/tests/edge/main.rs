//! The command line as scripts see it: exit statuses, output on each stream, files, hostile input.

mod analysis;
mod checking;
mod files;
mod hostile;
mod libraries;
mod limits;
mod model_files;
mod results;
mod running;
mod schema;
mod support;
mod sweeping;
mod tools;
mod units;
mod wrong;
