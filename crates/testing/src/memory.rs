//! How many bytes a program has asked for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// An allocator that counts the bytes in use and the most there were: `#[global_allocator] static BYTES: CountedBytes =
/// CountedBytes::new();` in a bench, or in a test that is alone in its file.
#[derive(Debug)]
pub struct CountedBytes {
    in_use: AtomicUsize,
    most: AtomicUsize,
}

impl CountedBytes {
    /// Nothing is in use yet.
    #[allow(clippy::new_without_default, reason = "statics want a constant")]
    pub const fn new() -> Self {
        CountedBytes {
            in_use: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        }
    }

    /// Bytes in use now.
    pub fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Relaxed)
    }

    /// What is done, and the most bytes in use meanwhile beyond those in use before.
    pub fn most_during<T>(&self, action: impl FnOnce() -> T) -> (T, usize) {
        let before = self.in_use();
        self.most.store(before, Ordering::Relaxed);
        let result = action();
        (result, self.most.load(Ordering::Relaxed).saturating_sub(before))
    }
}

#[allow(unsafe_code)] // The only way to measure memory without an external tool.
unsafe impl GlobalAlloc for CountedBytes {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let before = self.in_use.fetch_add(layout.size(), Ordering::Relaxed);
        self.most.fetch_max(before + layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.in_use.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let before = self.in_use.fetch_add(size, Ordering::Relaxed) - layout.size();
        self.in_use.fetch_sub(layout.size(), Ordering::Relaxed);
        self.most.fetch_max(before + size, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}
