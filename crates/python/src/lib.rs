//! The extension module of the Python package `saltus`: the crate `saltus` for the Python files beside it, which users see.
//!
//! Everything is behind the feature `extension`, so that the workspace builds where there is no Python.

#[cfg(feature = "extension")]
mod extension;
