//! Units run on machines of which nothing is known: the shared library brings along what unwinds the stack.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-cdylib-link-arg=-static-libgcc");
    }
}
