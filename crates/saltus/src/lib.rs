//! Modelling and simulation of multi-mode physical systems.
