//! Diagnostics as text and as JSON.
