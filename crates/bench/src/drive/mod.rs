//! Drives a venue's engine the way the suites measure it, and looks at what it left behind.

mod disk_sync;
mod feed;
mod open_loop;
mod result;
mod venue;

pub(crate) use disk_sync::disk_sync;
pub(crate) use feed::{Rejected, feed};
pub(crate) use open_loop::{OpenLoop, open_loop};
#[cfg(test)]
pub(crate) use result::EventTally;
pub(crate) use result::{read_back, standing};
pub(crate) use venue::{Venue, VenueSettings, submissions};
