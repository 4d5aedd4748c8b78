//! Runs a venue's engine for the suites, and reads back its results.

mod control;
mod disk_sync;
mod feed;
mod funded_core;
mod open_loop;
mod result;
mod served;
mod threads;
mod venue;

pub(crate) use control::{Schedule, control, control_rows};
pub(crate) use disk_sync::{disk_sync, median_group_bytes};
pub(crate) use feed::{Rejected, check, feed, feed_rounds};
pub(crate) use funded_core::FundedCore;
pub(crate) use open_loop::{OpenLoop, open_loop};
pub(crate) use result::{EventTally, read_back, read_back_core, replayed, standing};
pub(crate) use served::ServedEngine;
pub(crate) use threads::{both, joined};
pub(crate) use venue::{Venue, VenueSettings, submissions};
