//! The program `saltus`.

fn main() -> std::process::ExitCode {
    saltus_cli::run(std::env::args_os().collect()).into()
}
