//! Files and directories behind one trait: the real ones, and simulated ones that tear, lose, flip,
//! fill up and fail on command.
//!
//! Code that must survive a power failure is written against [`Disk`] and [`File`]. In production
//! they are a [`RealDisk`]; in tests they are a [`SimDisk`], which distinguishes durable from
//! written bytes, and decides from a seed what a crash leaves.
//!
//! ```
//! use rialto_disk::{Access, Disk, File, SimDisk};
//! use std::path::Path;
//!
//! let disk = SimDisk::new(7);
//! disk.create_dir_all(Path::new("/data"))?;
//! let file = disk.create(Path::new("/data/a"), Access::Buffered)?;
//! file.write_all_at(0, b"kept")?;
//! file.sync_data()?;
//! disk.sync_dir(Path::new("/data"))?;
//! disk.crash();
//! let file = disk.open(Path::new("/data/a"), Access::Read)?;
//! let mut bytes = [0; 4];
//! file.read_full_at(0, &mut bytes)?;
//! assert_eq!(&bytes, b"kept");
//! # Ok::<(), rialto_disk::DiskError>(())
//! ```

#![deny(unsafe_code)]

mod aligned;
mod error;
mod file;
mod grouped_sync;
mod large_pages;
mod listing;
mod mapping;
mod real;
mod sim;

pub use aligned::{AlignedBuf, BLOCK_BYTES};
pub use error::{DiskError, Operation};
pub use file::{Access, DirLock, Disk, File, IoMode};
pub use grouped_sync::GroupedSync;
pub use large_pages::{Allocated, CountingAllocator, LargePages, allocated_by, allocations_of};
pub use listing::{DirEntry, EntryKind, Metadata};
pub use mapping::Mapping;
pub use real::RealDisk;
pub use sim::{Faults, SimDisk};
