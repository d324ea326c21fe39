//! Nonlinear and linear solvers, complementarity, integrators, root location; knows no models.
