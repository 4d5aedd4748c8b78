//! The `rialto` binary. Everything it does is in the library of the same name.

fn main() -> std::process::ExitCode {
    rialto::cli::main()
}
