//! What an engine promises. One program: each program of tests is linked with the whole engine.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod answers;
mod attribution;
mod auctions;
mod background;
mod damage;
mod keeping;
mod kills;
mod levels;
mod readers;
mod restart;
mod rules_versions;
mod sealed;
mod simulation;
mod sliced;
#[path = "../stage/mod.rs"]
mod stage;
mod timetables;
mod triggers;
