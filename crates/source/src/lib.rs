//! Source files, spans and diagnostics.
