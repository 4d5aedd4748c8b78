//! Snapshots: their store, requests and background work.

mod cipher;
mod file;
mod follower;
mod requests;
mod store;

pub(crate) use cipher::SnapshotCipher;
pub use file::SnapshotFileError;
pub(crate) use follower::Follower;
pub(crate) use requests::SnapshotRequests;
pub use requests::{SnapshotFailed, SnapshotTicket};
pub(crate) use store::{SNAPSHOTS_DIR, SnapshotStore};
