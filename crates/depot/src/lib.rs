//! A multi-tenant file pool that works as a queue: files in, files out, for every tenant.

#![deny(unsafe_code)]

mod file_id;
pub mod volume;

pub use file_id::{FileId, InvalidFileId};
