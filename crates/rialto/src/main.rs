//! The `rialto` binary.
fn main() {}
