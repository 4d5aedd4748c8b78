//! What identifies an import.

use super::folder::Stamp;
use aws_lc_rs::digest::{Context, SHA256};

/// The first 128 bits of a SHA-256 of the watch's name, the path in the folder, size, modification time
/// and inode. A file that changed has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Mark(pub(super) u128);

impl Mark {
    pub(super) fn of(watch: &str, path: &str, stamp: &Stamp) -> Self {
        let mut context = Context::new(&SHA256);
        for text in [watch, path] {
            context.update(&(text.len() as u64).to_le_bytes());
            context.update(text.as_bytes());
        }
        context.update(&stamp.bytes.to_le_bytes());
        context.update(&stamp.modified_ns.to_le_bytes());
        context.update(&stamp.inode.to_le_bytes());
        let mut first = [0; 16];
        first.copy_from_slice(&context.finish().as_ref()[..16]);
        Self(u128::from_be_bytes(first))
    }

    /// The key under which the file is submitted.
    pub(super) fn submit_key(self) -> String {
        format!("watch:{:032x}", self.0)
    }
}
