//! What tests of several crates need: random numbers for families of models, the files of the repository, the bytes in use.
//!
//! Only a dev-dependency: nothing of it is in what users get.

mod expectations;
mod files;
mod memory;
mod random;

pub use expectations::{Group, groups};
pub use files::{files, modelica_files, reference, repository};
pub use memory::CountedBytes;
pub use random::{Random, permutations};
