//! Errors, grouped by operation.

use crate::format::Flaw;
use crate::position::Position;
use crate::sealing::{Cipher, Compression};
use rialto_disk::DiskError;
use std::path::{Path, PathBuf};

/// The proof that damaged bytes were acknowledged, so that they must not be cut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Proof {
    /// A group behind the damage was written when the damaged one was already durable.
    #[error("group {number} at offset {offset} was written after it had been synced")]
    LaterGroup {
        /// The later group's number.
        number: u64,
        /// Its offset in the file.
        offset: u64,
    },
    /// The HEAD file says that more was durable.
    #[error("HEAD says that everything up to sequence {seq}, group {group}, had been synced")]
    Head {
        /// The least last sequence.
        seq: u64,
        /// The least last group.
        group: u64,
    },
    /// A segment was made in full before its first use and can only lose bytes by damage.
    #[error("a segment is made in full before it is used")]
    Segment,
    /// The group is whole, so that its writing was not torn.
    #[error("its checksums hold, so that it was written whole")]
    Whole,
    /// A later segment continues from more than is there.
    #[error("the next segment begins at sequence {first_seq}")]
    NextSegment {
        /// The first sequence of the segment that follows.
        first_seq: u64,
    },
}

/// The error of opening a log. Nothing has been changed on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The disk failed, or another process holds the log.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Acknowledged bytes are damaged.
    #[error(
        "{} is damaged at offset {offset}: {flaw}; it was acknowledged, because {proof}; \
         restore the file from a copy",
        file.display()
    )]
    Corrupt {
        /// The damaged file.
        file: PathBuf,
        /// The offset of the damage.
        offset: u64,
        /// The flaw.
        flaw: Flaw,
        /// The proof that it may not be cut.
        proof: Proof,
    },
    /// The file was written by a newer program.
    #[error("{} has at offset {offset} {flaw}", file.display())]
    Unsupported {
        /// The file.
        file: PathBuf,
        /// The offset of the unknown structure.
        offset: u64,
        /// The flaw.
        flaw: Flaw,
    },
    /// The log is encrypted with a key that was not given.
    #[error(
        "{} has at offset {offset} a group encrypted with key {key}, which is not among the keys \
         given; give the keys that the log was written with",
        file.display()
    )]
    UnknownKey {
        /// The file.
        file: PathBuf,
        /// The offset of the group.
        offset: u64,
        /// The key's id.
        key: u64,
    },
    /// The log is to be encrypted, but the ring is empty.
    #[error("the log is to be encrypted with {0}, but no key was given")]
    NoKey(Cipher),
    /// The compression has no such level.
    #[error("{0:?} has no such level: zstd has 1 to 22, gzip 1 to 9")]
    CompressionLevel(Compression),
    /// Neither slot of HEAD can be read.
    #[error(
        "{} is damaged at offset 0 ({first}) and at offset 4096 ({second}); \
         restore the file from a copy",
        file.display()
    )]
    HeadDamaged {
        /// The file.
        file: PathBuf,
        /// The flaw of the first slot.
        first: Flaw,
        /// The flaw of the second slot.
        second: Flaw,
    },
    /// There are segments, but no HEAD names them.
    #[error(
        "{} does not exist, but there are segments beside it, such as {}; restore the file from a \
         copy, or move the segments away to begin an empty log",
        file.display(),
        segment.display()
    )]
    HeadMissing {
        /// The file that should exist.
        file: PathBuf,
        /// One of the segments.
        segment: PathBuf,
    },
    /// A live segment is not there.
    #[error(
        "{} does not exist, but {} names it at offset {offset}; restore the file from a copy",
        file.display(),
        named_by.display()
    )]
    MissingSegment {
        /// The file that should exist.
        file: PathBuf,
        /// The file that names it.
        named_by: PathBuf,
        /// The offset of its name.
        offset: u64,
    },
    /// A file that looks like a segment does not belong to this log.
    #[error("{} does not belong to this log: {why}; move it away", file.display())]
    ExtraSegment {
        /// The file.
        file: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// HEAD and the segments contradict each other in number.
    #[error(
        "{} counts {expected} segments, but following their headers finds {got}; \
         restore the directory from a copy",
        head.display()
    )]
    SegmentCount {
        /// The HEAD file.
        head: PathBuf,
        /// The number of segments in HEAD.
        expected: u64,
        /// The number of segments found.
        got: u64,
    },
    /// Another program has stored a position that the log no longer holds.
    #[error(
        "{} ends at sequence {last_seq} (offset {offset}), but {acknowledged} has been acknowledged; \
         restore the log from a copy, or rebuild what holds that position",
        file.display()
    )]
    Acknowledged {
        /// The file in which the log ends.
        file: PathBuf,
        /// The offset of its end.
        offset: u64,
        /// The last sequence of the log.
        last_seq: u64,
        /// The position that is missing or was overwritten in a later epoch.
        acknowledged: Position,
    },
    /// The caller gave the salt of an earlier epoch again.
    #[error("the salt given is that of the newest segment; draw a fresh one for every opening")]
    SaltReused,
    /// A segment size cannot hold a header and a group, or is no multiple of 4096.
    #[error(
        "segments of {0} bytes are impossible: use a multiple of 4096 between 8192 and 1 TiB, \
         at least 4096 more than the greatest group"
    )]
    SegmentBytes(u64),
    /// The log cannot be cut back to a sequence that it does not hold.
    #[error("cannot cut the log after sequence {seq}: it holds {first_seq} to {last_seq}")]
    TruncateOutside {
        /// The sequence asked for.
        seq: u64,
        /// The oldest sequence of the log.
        first_seq: u64,
        /// The last sequence of the log.
        last_seq: u64,
    },
    /// Reading the log to verify it failed.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The error of reading a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The bytes are not what was written.
    #[error(
        "{} is damaged at offset {offset}: {flaw}; restore the file from a copy",
        file.display()
    )]
    Corrupt {
        /// The damaged file.
        file: PathBuf,
        /// The offset of the damage.
        offset: u64,
        /// The flaw.
        flaw: Flaw,
    },
    /// The records are encrypted with a key that the ring does not hold.
    #[error(
        "{} has at offset {offset} a group encrypted with key {key}, which is not among the keys \
         given; give the keys that the log was written with",
        file.display()
    )]
    UnknownKey {
        /// The file.
        file: PathBuf,
        /// The offset of the group.
        offset: u64,
        /// The key's id.
        key: u64,
    },
    /// The records asked for have been deleted by retention.
    #[error("sequence {requested} has been deleted; the oldest kept is {oldest}")]
    BelowOldest {
        /// The sequence asked for.
        requested: u64,
        /// The oldest sequence of the log.
        oldest: u64,
    },
    /// The segment under the reader was replaced when the log was cut back, or deleted under one that
    /// is [unpinned](crate::Reader::unpinned).
    #[error("{} was superseded while it was being read; open a new reader", file.display())]
    Superseded {
        /// The segment that is gone.
        file: PathBuf,
    },
}

/// The error of writing a group.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The disk failed. The group may or may not be on disk, and no further write is accepted; open
    /// the log again to find out.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// An earlier write or sync failed, so that no further write is accepted.
    #[error("the log accepts no more writes since one failed ({reason}); open it again")]
    Poisoned {
        /// The first failure.
        reason: String,
    },
    /// The log is encrypted, but the ring holds no current key. Nothing was written.
    #[error("the log is encrypted, but no key is current; give it one")]
    NoKey,
    /// The cipher failed. Nothing was written, and no further write is accepted.
    #[error("the group could not be encrypted")]
    Encryption,
    /// The group does not follow what was written before. Nothing was written; this is a mistake of
    /// the caller.
    #[error("the group begins at sequence {got} instead of {expected}")]
    OutOfOrder {
        /// The sequence that comes next.
        expected: u64,
        /// The group's first sequence.
        got: u64,
    },
    /// The group is larger than a whole segment. Nothing was written.
    #[error("a group of {bytes} bytes does not fit into a segment of {segment_bytes} bytes")]
    GroupTooLarge {
        /// The bytes of the group on disk.
        bytes: u64,
        /// The size of a segment, in bytes.
        segment_bytes: u64,
    },
}

impl ReadError {
    pub(crate) fn at(file: &Path, offset: u64, flaw: Flaw) -> Self {
        let file = file.to_owned();
        match flaw {
            Flaw::UnknownKey { key } => Self::UnknownKey { file, offset, key },
            flaw => Self::Corrupt { file, offset, flaw },
        }
    }
}
