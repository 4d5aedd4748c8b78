//! What flows and the outbox promise. One program: each program of tests is linked with the whole crate.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod broken_promises;
mod claims;
mod crash_points;
mod forged_records;
mod operators;
mod outbox;
mod outbox_crash;
mod outbox_model;
mod outbox_steps;
mod recorder_runs;
mod retention;
mod steps;
mod support;
mod versions;
