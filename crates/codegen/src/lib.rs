//! Compiled equation kernels: residuals, Jacobians and derivative jets.
