//! The `rialto` binary as a library: what assembles the venue, and what talks to it.
//!
//! [`venue`] is the one file that puts disk, engine, feed and gateway together; [`config`] says
//! with which settings; [`cli`] is the command line, which asks a venue
//! by `rialto-client`.
//! [`replay`] feeds recorded orders through a venue; [`inspect`] looks at one that does not run.
//!
//! ```
//! let config = rialto::config::Config::default();
//! let printed = rialto::config::print(&config);
//! let read = rialto::config::parse(&printed).expect("what is printed can be read");
//! assert_eq!(rialto::config::print(&read), printed);
//! ```

mod buckets;
mod calendar_file;
pub mod cli;
pub mod config;
pub mod demo;
pub mod depot;
mod duration;
mod error;
pub mod inspect;
pub mod keys;
mod logging;
pub mod queue;
mod remote;
pub mod replay;
mod stop;
mod terminal;
pub mod venue;

pub use error::{Error, tell_all};

/// The version, with the commit where the source was a checkout.
pub const VERSION: &str = env!("RIALTO_VERSION");
