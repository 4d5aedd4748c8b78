//! The binary as its users run it. One program: each program of tests is linked with the whole binary.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic")]

#[path = "../asking/mod.rs"]
mod asking;
mod auction_kill;
mod auctions_page;
mod audit;
mod calendar;
mod calendars;
mod clock;
mod components;
mod conditional_orders;
mod contracts;
mod crash;
mod demo;
mod depot;
#[cfg(all(feature = "buckets", feature = "s3"))]
mod depot_buckets;
mod depot_kill;
mod depot_venue;
mod depot_watch;
mod depot_workers;
mod halts;
mod iceberg_orders;
mod inspect;
mod keys;
mod linked_kill;
mod linked_orders;
mod logging;
mod logging_events;
mod opening;
#[path = "../operated/mod.rs"]
mod operated;
mod order_files;
mod packaging;
#[path = "../pool/mod.rs"]
mod pool;
#[path = "../pty/mod.rs"]
mod pty;
mod queue;
mod queue_directory;
mod queue_kill;
mod queue_push;
mod queue_transactions;
mod queues;
mod recorder;
mod replay;
mod replay_random;
mod restrictions;
mod rules_versions;
#[path = "../running/mod.rs"]
mod running;
mod s3_clients;
mod sealed;
mod serve;
mod signatures;
mod statements;
mod stopped;
mod stopping;
mod storage;
mod venue_events;
mod withdrawals;
