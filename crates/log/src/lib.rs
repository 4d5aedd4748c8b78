//! A segmented append-only log of opaque records: groups, checksums, compression, encryption, group
//! commit, recovery, readers, retention. It has no threads and no clock, and nothing in it is random:
//! the caller that opens a log gives it a salt, such as a [`fresh_salt`].
//!
//! One thread fills a [`Group`], a [`Writer`] stores it whole, any number of [`Reader`]s follow.
//! `docs/formats/log.md` describes the bytes on disk.
//!
//! ```
//! use rialto_disk::SimDisk;
//! use rialto_log::{Commit, Group, Options, Reader};
//! use std::{path::Path, sync::Arc};
//!
//! let disk = Arc::new(SimDisk::new(1));
//! let options = Options { segment_bytes: 1 << 20, ..Options::new([1; 16]) };
//! let (mut writer, report) = rialto_log::open(disk, Path::new("/log"), options)?;
//! assert_eq!(report.last_seq, 0);
//!
//! let mut group = Group::new(64 << 10);
//! group.begin(writer.next_seq());
//! group.append(b"first")?;
//! group.append(b"second")?;
//! let position = writer.write(&mut group, Commit::Synced)?;
//! assert_eq!(position.seq, 2);
//!
//! let mut reader = Reader::open(&writer.segments(), 1)?;
//! let records: Vec<_> = reader.next_group()?.unwrap().records().collect();
//! assert_eq!(records, [(1, &b"first"[..]), (2, &b"second"[..])]);
//! writer.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Groups can be compressed and encrypted: set [`Options::sealing`], and [`Options::keys`] for both
//! writing and reading.
//!
//! To look before writing, or to cut a log back to what another log still holds, open it in two
//! steps: [`recover`], then [`Recovered::start`].

#![deny(unsafe_code)]

mod chain;
mod cursor;
mod error;
mod format;
mod group;
mod head;
mod leftovers;
mod level;
mod mapped;
mod maps;
mod position;
mod prepare;
mod reader;
mod recover;
mod reserve;
mod rewrite;
mod salt;
mod scratch;
mod sealed;
mod sealing;
mod segments;
mod spares;
mod tail;
mod verify;
mod writer;

#[cfg(test)]
mod simulation;

pub use error::{OpenError, Proof, ReadError, WriteError};
pub use format::{CALLER_BYTES, FORMAT_VERSION, Flaw};
pub use group::{
    AppendError, GROUP_BYTES_MAX, Group, RECORD_BYTES_MAX, SEGMENT_BYTES_FOR_ANY_GROUP,
};
pub use level::{Level, UnknownLevel};
pub use mapped::MappedRecords;
pub use maps::Maps;
pub use position::{Commit, Position};
pub use prepare::{Preparation, PreparedSegment, SegmentPreparer, Space};
pub use reader::{GroupView, Reader, Records};
pub use recover::{Cut, OpenReport, Options, Recovered, Verify, inspect, open, recover};
pub use salt::fresh_salt;
pub use sealing::{
    BlobError, BlobKey, Cipher, Compression, KeyError, KeyRing, MASTER_KEY_BYTES, Sealing,
};
pub use segments::Segments;
pub use spares::SpareFiles;
pub use verify::{Statistics, verify};
pub use writer::{Retained, Volume, Writer};
