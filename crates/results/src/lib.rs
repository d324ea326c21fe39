//! Trajectories, result files, figures and comparisons.
