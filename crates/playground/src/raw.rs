//! The interface of the WebAssembly module, and the one place here with `unsafe`: names that the page calls, and functions of
//! the page that are called.
//!
//! A question: the page asks [`saltus_room`] for room, writes the question there and calls [`saltus_ask`]; the answer is where
//! [`saltus_answer`] says, until the next call. All of it happens on one thread: a module has no other.
//!
//! Soundness: exported functions take and return numbers and hand out addresses of memory that this module owns and that stays
//! where it is until the next call; writing beyond what was asked for is memory of the module at worst, never of the page. The
//! functions of the page get addresses of slices that live during the call.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::{Host, Playground};

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Whether it is time for another picture: not zero.
    fn due() -> u32;
    /// A picture of the run so far, as SVG.
    fn picture(text: *const u8, length: usize, time: f64);
    /// Makes functions of a module of so many bytes and puts them into the table; the first place, or `u32::MAX`.
    fn load(module: *const u8, length: usize, functions: u32) -> u32;
    /// Takes functions out of the table.
    fn unload(first: u32, functions: u32);
    /// The last words of a module that is of no use any more.
    fn panicked(text: *const u8, length: usize);
}

/// What the page does for kernels that are evaluated often.
const LOADER: saltus_codegen::Loader = saltus_codegen::Loader {
    // SAFETY: the page reads the bytes during the call only.
    load: |module, functions| unsafe {
        let first = load(module.as_ptr(), module.len(), functions);
        (first != u32::MAX).then_some(first)
    },
    // SAFETY: takes numbers and returns nothing.
    unload: |first, functions| unsafe { unload(first, functions) },
};

struct Page;

impl Host for Page {
    fn is_due(&mut self) -> bool {
        // SAFETY: takes nothing and returns a number.
        unsafe { due() != 0 }
    }

    fn picture(&mut self, svg: &str, time: f64) {
        // SAFETY: the page reads the text during the call only.
        unsafe { picture(svg.as_ptr(), svg.len(), time) }
    }
}

#[derive(Default)]
struct Desk {
    playground: Playground,
    question: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Room for a question of so many bytes.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
extern "C" fn saltus_room(length: usize) -> *mut u8 {
    DESK.with_borrow_mut(|desk| {
        desk.question = vec![0; length];
        desk.question.as_mut_ptr()
    })
}

/// Answers the question; returns the length of the answer.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
extern "C" fn saltus_ask() -> usize {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        // SAFETY: the page reads the text during the call only.
        unsafe { panicked(text.as_ptr(), text.len()) }
    }));
    // SAFETY: functions stay in the table until they are taken out (`playground/src/engine.js`).
    unsafe { saltus_codegen::set_loader(LOADER) };
    DESK.with_borrow_mut(|desk| {
        let question = std::mem::take(&mut desk.question);
        desk.answer = desk.playground.ask(&question, &mut Page);
        desk.answer.len()
    })
}

/// Where the answer is.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
extern "C" fn saltus_answer() -> *const u8 {
    DESK.with_borrow(|desk| desk.answer.as_ptr())
}
