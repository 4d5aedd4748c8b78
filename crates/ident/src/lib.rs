//! Ids of 63 bits that are distinct across processes and ascend with time: Snowflake ids.
//!
//! A [`Generator`] makes them without a lock and without allocating; a [`Layout`] says how their
//! bits are shared between time, datacenter, worker and sequence, and so how many a second there
//! can be. The ids of one generator ascend strictly, whatever its clock does.
//!
//! ```
//! use rialto_ident::{Config, Generator, Id, Layout, SystemClock, Worker};
//!
//! let layout = Layout::CLASSIC;
//! let ids = Generator::new(Config::new(layout, Worker::explicit(7)), SystemClock)?;
//! let (first, second) = (ids.next()?, ids.next()?);
//! assert!(first < second);
//! assert_eq!(layout.parts(first).worker, 7);
//! assert_eq!(first.to_string().parse::<Id>()?, first);
//! assert_eq!(Id::from_base32(&first.base32().to_string())?, first);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: [`Layout`] has the presets and their ceilings, [`Policy`] says what happens
//! when the clock steps back or a millisecond's ids are used up, [`CachedClock`] takes the clock
//! out of the cost of an id, [`LocalGenerator`] takes the other threads out of it, [`Lease`] shares
//! out worker ids between the processes of one host. `docs/ident.md` has the guarantees.

mod clock;
mod error;
mod generator;
mod id;
mod layout;
mod local;
mod policy;
mod sequence;
mod text;
mod worker;

pub use clock::{BlockingTimer, CachedClock, SimulatedTimer};
pub use error::{IdError, IdTextError};
pub use generator::{Config, Generator, Reserved};
pub use id::Id;
pub use layout::{Epoch, Layout, LayoutError, Part, Parts};
pub use local::LocalGenerator;
pub use policy::{Exhausted, Policy, SteppedBack};
pub use rialto_clock::{Clock, SystemClock};
pub use text::Base32;
pub use worker::{Lease, Worker, WorkerError};
