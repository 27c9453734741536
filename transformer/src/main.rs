//! The command line program.

fn main() -> std::process::ExitCode {
    ompsplit::cli::main()
}
