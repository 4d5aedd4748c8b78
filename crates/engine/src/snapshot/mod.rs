//! Snapshots: where they lie, how they are asked for, and who makes them.

mod desk;
mod file;
mod follower;
mod store;
mod vault;

pub(crate) use desk::SnapshotDesk;
pub use desk::{SnapshotFailed, SnapshotTicket};
pub use file::SnapshotFileError;
pub(crate) use follower::Follower;
pub(crate) use store::{SNAPSHOTS_DIR, SnapshotStore};
pub(crate) use vault::Vault;
