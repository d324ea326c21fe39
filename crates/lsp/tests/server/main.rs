//! The server over its connection in memory: what a client sends, and what it gets.

mod client;
mod completing;
mod editing;
mod robust;
mod understanding;
