//! The depot: files of tenants, claims of workers, tenants and volumes.

mod claim;
mod file;
mod grant;
mod link;
mod tenant;
mod volume;

pub use claim::*;
pub use file::*;
pub use grant::*;
pub use link::*;
pub use tenant::*;
pub use volume::*;
