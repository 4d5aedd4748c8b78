//! The file of a snapshot, as `docs/formats/snapshot.md` describes it.

use rialto_core::{Core, SnapshotError};
use rialto_disk::DiskError;
use rialto_log::{BlobError, Cipher, Position};
use rialto_model::{EngineId, Seq, Timestamp};
use std::path::{Path, PathBuf};

/// The newest version of the file's header.
// format: docs/formats/snapshot.md
pub(crate) const FORMAT_VERSION: u32 = 2;
/// The version of a file that is not encrypted.
const PLAIN_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"RIALTOSF";
/// The length of the header; the content follows.
pub(crate) const HEADER_BYTES: usize = 160;
/// The header's hash is in its last bytes and covers those before.
const HEADER_HASH_AT: usize = 128;

/// The part of the header that authenticates an encrypted content: all but the hashes of the stored
/// form.
const BOUND_BYTES: usize = 96;

/// The reason why a snapshot cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotFileError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The bytes differ from the ones written.
    #[error("{} is damaged at offset {offset}: {what}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The offset of the damage.
        offset: u64,
        /// The kind of damage.
        what: &'static str,
    },
    /// The file was written by a newer program.
    #[error(
        "{} has file format {version}, and this program knows {FORMAT_VERSION}; \
         start the newer program that wrote it",
        file.display()
    )]
    NewerFormat {
        /// The file.
        file: PathBuf,
        /// Its version.
        version: u32,
    },
    /// The snapshot's rules version is not implemented.
    #[error(
        "{} was decided by rules version {version}, and this program implements {} to {}; \
         start the newer program that wrote it",
        file.display(),
        rialto_core::RULES_VERSIONS.start(),
        rialto_core::RULES_VERSIONS.end()
    )]
    UnknownRules {
        /// The file.
        file: PathBuf,
        /// Its rules version.
        version: u32,
    },
    /// The file is encrypted, and the given keys cannot decrypt or encrypt it.
    #[error("the snapshot {}: {error}", file.display())]
    Sealed {
        /// The file.
        file: PathBuf,
        /// The error of the keys.
        error: BlobError,
    },
    /// The file is undamaged, but its content cannot be restored.
    #[error("{} cannot be restored", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// The core's error.
        #[source]
        error: SnapshotError,
    },
}

impl SnapshotFileError {
    /// Whether an older snapshot can be used instead: not if a newer program made it, because its
    /// decisions cannot be repeated here.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            SnapshotFileError::Damaged { .. } => true,
            SnapshotFileError::Content { error, .. } => !matches!(
                error,
                SnapshotError::NewerFormat { .. } | SnapshotError::UnknownRules { .. }
            ),
            _ => false,
        }
    }
}

/// The header before the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotHeader {
    pub(crate) rules_version: u32,
    pub(crate) engine: EngineId,
    /// The position in the journal after which the content is the state.
    pub(crate) position: Position,
    pub(crate) time: Timestamp,
    /// The cipher of the content, and the id of the key.
    pub(crate) seal: Option<(Cipher, u64)>,
    /// The length of the stored content.
    pub(crate) content_bytes: u64,
    pub(crate) state_hash: [u8; 32],
    pub(crate) content_hash: [u8; 32],
}

impl SnapshotHeader {
    /// The header of a core's state, without the stored content; `epoch` is the journal's epoch at
    /// its sequence.
    pub(crate) fn new(core: &Core, engine: EngineId, epoch: u64, content: &[u8]) -> Self {
        Self {
            rules_version: core.rules_version(),
            engine,
            position: Position { epoch, seq: core.seq().0 },
            time: core.time(),
            seal: None,
            content_bytes: 0,
            state_hash: state_hash_of(content),
            content_hash: [0; 32],
        }
    }

    /// Sets length and hash of the stored content.
    pub(crate) fn describe(&mut self, stored: &[u8]) {
        self.content_bytes = stored.len() as u64;
        self.content_hash = *blake3::hash(stored).as_bytes();
    }

    /// The bytes that authenticate an encrypted content: all but its stored length and hash.
    pub(crate) fn bound(&self) -> [u8; BOUND_BYTES] {
        let mut bound = [0; BOUND_BYTES];
        let unstored = Self { content_bytes: 0, content_hash: [0; 32], ..self.clone() };
        bound.copy_from_slice(&unstored.encode()[..BOUND_BYTES]);
        bound
    }

    pub(crate) fn seq(&self) -> Seq {
        Seq(self.position.seq)
    }

    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        let version = if self.seal.is_some() { FORMAT_VERSION } else { PLAIN_VERSION };
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.rules_version.to_le_bytes());
        bytes[16..18].copy_from_slice(&self.engine.0.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.position.epoch.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.position.seq.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.time.0.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.content_bytes.to_le_bytes());
        if let Some((cipher, key)) = self.seal {
            bytes[18] = cipher.number();
            bytes[56..64].copy_from_slice(&key.to_le_bytes());
        }
        bytes[64..96].copy_from_slice(&self.state_hash);
        bytes[96..128].copy_from_slice(&self.content_hash);
        let hash = blake3::hash(&bytes[..HEADER_HASH_AT]);
        bytes[HEADER_HASH_AT..].copy_from_slice(hash.as_bytes());
        bytes
    }

    pub(crate) fn decode(file: &Path, bytes: &[u8]) -> Result<Self, SnapshotFileError> {
        let damaged =
            |offset, what| SnapshotFileError::Damaged { file: file.to_owned(), offset, what };
        let Some(bytes) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(damaged(bytes.len() as u64, "the file ends within its header"));
        };
        if bytes[..8] != MAGIC {
            return Err(damaged(0, "no magic number"));
        }
        // The version is read before the hash, because a newer version may use another hash. A
        // flipped bit in it must not look like a newer version, so that this version's hash
        // decides.
        let hash = blake3::hash(&bytes[..HEADER_HASH_AT]);
        let version = u32::from_le_bytes(field(bytes, 8));
        if bytes[HEADER_HASH_AT..] != hash.as_bytes()[..] {
            return Err(damaged(HEADER_HASH_AT as u64, "the header does not match its hash"));
        }
        let newer = || SnapshotFileError::NewerFormat { file: file.to_owned(), version };
        let seal = match version {
            PLAIN_VERSION => None,
            FORMAT_VERSION => {
                let cipher = Cipher::from_number(bytes[18]).ok_or_else(newer)?;
                Some((cipher, u64::from_le_bytes(field(bytes, 56))))
            }
            _ => return Err(newer()),
        };
        Ok(Self {
            rules_version: u32::from_le_bytes(field(bytes, 12)),
            engine: EngineId(u16::from_le_bytes(field(bytes, 16))),
            position: Position {
                epoch: u64::from_le_bytes(field(bytes, 24)),
                seq: u64::from_le_bytes(field(bytes, 32)),
            },
            time: Timestamp(u64::from_le_bytes(field(bytes, 40))),
            seal,
            content_bytes: u64::from_le_bytes(field(bytes, 48)),
            state_hash: field(bytes, 64),
            content_hash: field(bytes, 96),
        })
    }

    pub(crate) fn check_stored(&self, file: &Path, stored: &[u8]) -> Result<(), SnapshotFileError> {
        if stored.len() as u64 != self.content_bytes {
            return Err(damaged(file, "the content is not as long as the header says"));
        }
        if *blake3::hash(stored).as_bytes() != self.content_hash {
            return Err(damaged(file, "the content does not match its hash"));
        }
        Ok(())
    }

    /// Restores the core from the content of the file.
    pub(crate) fn restore(
        &self,
        file: &Path,
        content: &[u8],
        hash_key: u64,
    ) -> Result<Core, SnapshotFileError> {
        let damaged = |what| damaged(file, what);
        if state_hash_of(content) != self.state_hash {
            return Err(damaged("the content has another state hash than the header"));
        }
        if !rialto_core::RULES_VERSIONS.contains(&self.rules_version) {
            return Err(SnapshotFileError::UnknownRules {
                file: file.to_owned(),
                version: self.rules_version,
            });
        }
        let core = Core::restore(content, hash_key)
            .map_err(|error| SnapshotFileError::Content { file: file.to_owned(), error })?;
        if core.seq() != self.seq() {
            return Err(damaged("the content is of another sequence than the header"));
        }
        Ok(core)
    }
}

fn damaged(file: &Path, what: &'static str) -> SnapshotFileError {
    SnapshotFileError::Damaged { file: file.to_owned(), offset: HEADER_BYTES as u64, what }
}

/// The state hash in the content's own header. Computing it would mean to encode the state again.
fn state_hash_of(content: &[u8]) -> [u8; 32] {
    content.get(24..).and_then(|from| from.first_chunk()).copied().unwrap_or_default()
}

/// The fixed-size field at `at`, which is in the header for all callers.
fn field<const N: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    let mut value = [0; N];
    value.copy_from_slice(&bytes[at..at + N]);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> SnapshotHeader {
        SnapshotHeader {
            rules_version: 1,
            engine: EngineId(3),
            position: Position { epoch: 4, seq: 5 },
            time: Timestamp(6),
            seal: None,
            content_bytes: 7,
            state_hash: [8; 32],
            content_hash: [9; 32],
        }
    }

    #[test]
    fn a_header_is_read_back_as_written() {
        let decoded = SnapshotHeader::decode(Path::new("s"), &header().encode()).unwrap();
        assert_eq!(decoded, header());
    }

    #[test]
    fn the_header_of_an_encrypted_one_is_read_back_too() {
        let sealed = SnapshotHeader { seal: Some((Cipher::Aes256Gcm, 12)), ..header() };
        let decoded = SnapshotHeader::decode(Path::new("s"), &sealed.encode()).unwrap();
        assert_eq!(decoded, sealed);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut bytes = header().encode();
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let error = SnapshotHeader::decode(Path::new("s"), &bytes).unwrap_err();
            assert!(error.is_damage(), "bit {bit}: {error}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn a_newer_format_is_named() {
        let mut bytes = header().encode();
        bytes[8] = 3;
        let hash = blake3::hash(&bytes[..HEADER_HASH_AT]);
        bytes[HEADER_HASH_AT..].copy_from_slice(hash.as_bytes());
        let error = SnapshotHeader::decode(Path::new("s"), &bytes).unwrap_err();
        assert!(matches!(error, SnapshotFileError::NewerFormat { version: 3, .. }));
    }
}
