//! From the flat model to the multi-mode DAE.
