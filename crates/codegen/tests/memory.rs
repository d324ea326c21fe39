//! Machine code is freed with the last kernel that uses it. Alone in its file: it looks at the whole process.
#![cfg(target_os = "linux")]

mod common;

use std::sync::Arc;

use common::{Memory, native_kernel, pool};
use saltus_codegen::KernelSpec;
use saltus_mdae::function::Functions;
use saltus_mdae::{UnaryFunction, VarId};

/// Bytes of executable memory that belong to no file.
fn executable() -> u64 {
    let address = |text: &str| u64::from_str_radix(text, 16).expect("an address");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
    let size = |line: &str| {
        let mut fields = line.split_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let anonymous = !line.contains('/') && !line.contains("[v");
        (fields.next()?.contains('x') && anonymous).then(|| address(end) - address(start))
    };
    maps.lines().filter_map(size).sum()
}

#[test]
fn machine_code_is_freed() {
    let functions = Arc::new(Functions::default());
    let mut pool = pool(1);
    let x = pool.var(VarId(0));
    let root = pool.unary(UnaryFunction::Sin, x);
    let spec = KernelSpec::total(root, 1);
    let kept = native_kernel(&pool, &functions, &spec);
    let before = executable();
    let held: Vec<_> = (0..100).map(|_| native_kernel(&pool, &functions, &spec)).collect();
    let during = executable();
    drop(held);
    assert!(
        during >= before + 100 * 4096,
        "each cache has a page of its own: {before}, {during}"
    );
    assert_eq!(executable(), before);
    assert_eq!(Memory::new(1).evaluate(&kept), [0.0]);
}
