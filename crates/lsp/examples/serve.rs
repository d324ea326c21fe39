//! The server alone, without the rest of the command line: `cargo run -p saltus-lsp --example serve`.

fn main() -> std::process::ExitCode {
    let libraries = std::env::var_os("MODELICAPATH");
    let options = saltus_lsp::Options {
        libraries: libraries.map_or_else(Vec::new, |list| saltus::library::split_path_list(&list)),
        ..saltus_lsp::Options::default()
    };
    if saltus_lsp::serve_stdio(options) {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}
