//! The guide is true: its commands run, what it shows of their output is what comes out, its Modelica compiles, its
//! pictures are drawn by these commands, and its links lead somewhere.
//!
//! A page is followed from top to bottom in a folder of its own that holds `examples` and `library`. What a reader does
//! not see stands in comments on a line of their own:
//!
//! ```text
//! <!-- run: saltus new Shafts -->              done before what follows; `sh` has the usual programs
//! <!-- output: saltus check M.mo -->           the block below is what this prints
//! <!-- output 1: saltus check M.mo -->         … with exit status 1
//! <!-- image: shafts.svg -->                   the picture below is this file
//! <!-- declarations: Real u; Boolean y; -->    makes a model of the equations below
//! ```
//!
//! Times are masked; a line `…` stands for any lines. `SALTUS_UPDATE_GUIDE=1 cargo test -p saltus-cli --test guide` writes
//! outputs and pictures anew: read the difference before you commit it.

#![cfg(unix)]

mod examples;
mod models;
mod page;
mod pages;
mod shell;
