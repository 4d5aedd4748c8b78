//! What a pool of files promises. One program: each program of tests is linked with the whole depot.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

extern crate self as libfuzzer_sys;

mod adoption;
mod bucket_mounts;
mod bucket_pool;
mod bucket_stage;
mod bucket_volumes;
mod claims;
mod crash_points;
mod encryption;
mod fuzz_targets;
mod levels;
mod named_failures;
mod opening;
mod pool;
mod rates;
mod retention;
mod shelving;
#[path = "../simulated/mod.rs"]
mod simulated;
#[path = "../support/mod.rs"]
mod support;
mod tenant_crashes;
mod threads;
mod upkeep;
mod upkeep_crashes;
mod upkeep_stage;
mod volume_faults;
mod volume_round_trips;
mod volume_stage;
mod watcher;
#[path = "../watcher_stage/mod.rs"]
mod watcher_stage;
mod watcher_tenants;
mod watcher_threads;
