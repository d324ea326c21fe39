//! The language server: what the compiler knows, while one types.
//!
//! One thread reads messages and applies changes in order ([`serve`]); everything that takes longer than that runs on workers
//! with a [`world::World`], the state of affairs at one moment, and is forgotten when the next change comes. A panic in one request
//! is answered as an internal error and ends nothing. Nothing is written: edits are sent to the client, which applies them.
//!
//! | module | what lives there |
//! |---|---|
//! | `server`, `requests`, `workers` | the loop, who answers what, and threads |
//! | `desk` | the same answers without a loop and without threads |
//! | `world`, `overlay`, `document`, `settings` | files as the editor shows them, and what is read of them |
//! | `position`, `uri`, `transport` | places, files and messages in the words of the protocol |
//! | `diagnostics`, `actions`, `fixes`, `format` | what is wrong, and what to do about it; formatting |
//! | `symbols`, `navigation`, `rename`, `tokens` | names: where they are and what they mean |
//! | `facts`, `hover`, `completion`, `signature`, `hints` | what is known of them |
//! | `modes`, `lens` | modes, states and mode changes |

mod actions;
mod completion;
mod desk;
mod diagnostics;
mod document;
mod fact;
mod facts;
mod fixes;
mod format;
mod hints;
mod hover;
mod lens;
mod modes;
mod navigation;
mod overlay;
mod position;
mod rename;
mod requests;
mod server;
mod settings;
mod signature;
mod start_values;
mod symbols;
mod tokens;
mod transport;
mod uri;
mod workers;
mod world;

pub use desk::Desk;
pub use server::{Options, serve};

/// Serves a client on standard input and output until it says goodbye. Returns whether it did so properly.
pub fn serve_stdio(options: Options) -> bool {
    let (connection, writer) = transport::stdio();
    let proper = serve(connection, options);
    // What was answered is to be written; a client that has gone without a word does not read it.
    match writer {
        Some(writer) if proper => writer.join().is_ok(),
        _ => proper,
    }
}
