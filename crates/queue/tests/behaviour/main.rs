//! What a queue promises. One program: each program of tests is linked with the whole queue.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

extern crate self as libfuzzer_sys;

mod bad_days;
mod bounds;
mod conflation;
mod dead_letters;
mod extremes;
mod files;
mod fuzz_targets;
mod groups;
mod history;
mod idle_disk;
mod leases;
mod most_topics;
mod mounts;
mod nonces;
mod packed;
mod rates;
mod recycling;
mod refusing;
mod reopening;
mod revival;
mod sealing;
#[path = "../stage/mod.rs"]
mod stage;
mod subscriptions;
mod threads;
mod transactions;
