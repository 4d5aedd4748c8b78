//! The depot: files of tenants, claims of workers, tenants, volumes and watched folders.

mod claim;
mod file;
mod grant;
mod link;
mod tenant;
mod upkeep;
mod volume;
mod watch;

pub use claim::*;
pub use file::*;
pub use grant::*;
pub use link::*;
pub use tenant::*;
pub use upkeep::*;
pub use volume::*;
pub use watch::*;
