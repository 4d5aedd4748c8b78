//! Files of orders: members drop them into the depot, and collect an answer to each row.
//!
//! A member is a tenant of the depot. A file of its directory `in/orders` is claimed, checked as a
//! whole, sent to the engine in recorded batches, and answered row by row on the shelf `out/orders`.
//! No row is entered twice, whatever fails in between; `docs/order-files.md` says how, and
//! `docs/formats/order-file.md` has the columns.
//!
//! [`OrderFiles`] is the part of a venue, [`OrderFile`] a checked file.

#![deny(unsafe_code)]

mod answer;
mod column;
mod content;
mod counts;
mod error;
mod exchange;
mod fault;
mod history;
mod home;
mod lookup;
mod member;
mod options;
mod order_file;
mod quotes;
mod row;
mod stop;
mod submit;
mod work;

pub use answer::{RowAnswer, RowOutcome};
pub use column::OrderColumn;
pub use content::{ContentDigest, ContentKey};
pub use counts::OrderFileCounts;
pub use error::OrderFilesOpenError;
pub use exchange::OrderFiles;
pub use fault::{FAULTS_LISTED_MAX, FileFault, FileFaults};
pub use member::{member_of, orders_in, orders_out, tenant_of};
#[doc(hidden)]
pub use options::FileStep;
pub use options::{BATCH_ROWS_MAX, OrderFileLimits, OrderFileOptions, ROWS_MAX, UNFINISHED_MAX};
pub use order_file::{FileScope, OrderFile};
pub use row::{OrderRow, RowKind, RowLabel};
