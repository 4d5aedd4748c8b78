//! Compression and encryption of groups. Each group is compressed first, then encrypted, by itself,
//! so that a reader can begin at any of them.

mod blob;
mod cipher;
mod compression;
mod key_text;
mod keys;
mod sealer;
mod unsealer;

pub use blob::{BlobError, BlobKey};
pub use cipher::Cipher;
pub(crate) use cipher::TAG_BYTES;
#[cfg(test)]
pub(crate) use cipher::{Aead, CipherFailed};
pub use compression::Compression;
pub use keys::{KeyError, KeyRing, MASTER_KEY_BYTES};
pub(crate) use sealer::{Epoch, Sealer};
pub(crate) use unsealer::Unsealer;

/// The compression and encryption of each group's body. The keys are in
/// [`Options::keys`](crate::Options::keys), because readers need them too.
///
/// Without either, groups are stored directly from their buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sealing {
    /// How bodies are compressed. One that would not save at least a block of 4 KiB is stored as it is.
    pub compression: Compression,
    /// The cipher of bodies, under the current key of the ring.
    pub encryption: Option<Cipher>,
}

impl Sealing {
    /// Neither compressed nor encrypted.
    pub const NONE: Self = Self { compression: Compression::None, encryption: None };
}
