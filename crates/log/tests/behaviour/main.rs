//! What a log promises. One program: each program of tests is linked with the whole crate.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;
mod growing;
mod mapping;
mod opening;
mod reading;
mod recycling;
mod reserve;
mod rules_versions;
mod sealed_fixture;
mod sealing;
mod spare_files_together;
mod write_errors;
