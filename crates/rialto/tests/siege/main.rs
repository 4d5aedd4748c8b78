//! Attacks on the real binary, each bounded in number and time. During and after an attack, an
//! honest member's orders are answered and the venue is live. Afterwards it stops, starts again and
//! passes `rialto verify`.
//!
//! Each attack is a row of `docs/security.md`. `make test` runs one short round of each,
//! `cargo xtask siege --minutes N` more and larger ones.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic")]

#[path = "../asking/mod.rs"]
mod asking;
mod bodies;
mod decisions;
mod descriptors;
mod honest;
mod pace;
#[path = "../running/mod.rs"]
mod running;
mod sockets;
mod storage;
mod streams;
mod venue;
mod wire;
