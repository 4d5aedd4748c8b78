//! A multi-tenant file pool that works as a queue: files in, files out, for every tenant.
//!
//! A file of a *work* directory is handed to one worker at a time, until one completes it. A file of a
//! *shelf* is kept under its path. The bytes are on volumes, or travel in the message of a small file;
//! the work is a topic of `rialto-queue`, and what else happened is in a history beside it.
//!
//! ```
//! use rialto_depot::{ClaimOptions, Depot, DepotOptions, NewFile, TenantName};
//!
//! # let dir = tempfile::tempdir()?;
//! let depot = Depot::open(DepotOptions::at(dir.path()))?;
//! let acme = TenantName::new("acme")?;
//! depot.put_bytes(&acme, NewFile::default(), b"to be done")?;
//!
//! let claims = depot.claim(&acme, &ClaimOptions::default())?;
//! assert_eq!(depot.read_claimed(&claims[0])?.read_all()?, b"to be done");
//! depot.complete(claims[0].token())?;
//! depot.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Depot`] is where to go on reading; `docs/depot.md` says what is guaranteed.

#![deny(unsafe_code)]

mod active;
mod administration;
mod claim;
mod dead;
mod depot;
mod durable;
mod error;
mod file_id;
mod files;
mod history;
mod housekeeping;
mod info;
#[cfg(test)]
mod interleavings;
mod mounting;
mod name;
mod new_file;
mod new_tenant;
mod options;
mod pool;
mod prepared;
mod quota;
mod rate;
mod reading;
mod ready;
mod record;
mod recovery;
mod removal;

mod tenant;
mod upkeep;
mod upload;
pub mod volume;
mod waiting;
mod watcher;
mod work;
mod working;

pub use administration::DIRECTORIES_MAX;
pub use claim::{Claim, ClaimOptions, ClaimToken, InvalidClaimToken};
pub use dead::DeadFile;
pub use depot::{Depot, RESULTS_MAX, Source};
pub use error::DepotError;
pub use file_id::{FileId, InvalidFileId};
pub use files::PAGE_FILES_MAX;
pub use history::{INDEX_DESCRIPTORS, SUBMIT_KEYS_MAX};
pub use info::{DirectoryInfo, FileInfo, FileState, TenantInfo, WorkInfo};
pub use mounting::VOLUMES_MAX;
pub use name::{
    DIRECTORY_BYTES_MAX, DIRECTORY_DEPTH_MAX, Directory, FILE_NAME_BYTES_MAX, FileName,
    InvalidDepotName, TENANT_BYTES_MAX, TenantName, joined, split_path,
};
pub use new_file::NewFile;
pub use options::{DepotOptions, DirectoryKind, INLINE_BYTES_MAX};
pub use prepared::Prepared;
pub use quota::{Quota, QuotaReached, Usage};
pub use rate::RateOptions;
pub use reading::FileReader;
pub use record::{
    CONTENT_TYPE_BYTES_MAX, FileRecord, METADATA_BYTES_MAX, METADATA_ENTRIES_MAX, Place,
    SUBMIT_KEY_BYTES_MAX,
};
pub use recovery::DepotReport;
pub use rialto_clock::Timestamp;
pub use rialto_log::Level;
pub use upkeep::{
    Adoption, AdoptionReport, DAMAGED_FILES_MAX, DamagedFile, FailedDisposition, NotAdopted,
    OrphanStatus, ScrubStatus, UpkeepOptions, VerifiedFiles,
};
pub use upload::{StoredFile, Upload};
pub use volume::{
    BlockCompression, BlockSealing, BucketSpec, StoredBytes, VolumeError, VolumeIdentity,
    VolumeNumber, VolumeOptions, VolumePlace, VolumeSpec, VolumeState, VolumeStatus, VolumeTotals,
};
pub use watcher::{
    AfterImport, PATTERNS_MAX, ScanReport, WATCHES_MAX, WatchSpec, WatchState, WatchStatus,
    WatchTenants, WatcherOptions,
};
pub use working::{CLAIM_DURATION_MAX, CLAIM_DURATION_MIN, CLAIM_FILES_MAX};
