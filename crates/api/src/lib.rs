//! The interface of the venue: every request, answer, error and message as a type.
//!
//! The gateway decodes requests into these types and encodes its answers from them, a client does
//! the reverse, and [`openapi`] and [`asyncapi`] describe the interface from them.
//!
//! Prices, quantities and amounts are decimal text, numbers of 64 bits are text, times are
//! nanoseconds since 1970 as text, durations have their unit in their name.
//!
//! ```
//! use rialto_api::OrderRequest;
//!
//! let text = r#"{"instrument":"BTC-USD","side":"buy","quantity":"0.5","price":"64000"}"#;
//! let order: OrderRequest<'_> = serde_json::from_str(text)?;
//! assert_eq!(&*order.instrument, "BTC-USD");
//! assert!(serde_json::from_str::<OrderRequest<'_>>(r#"{"side":"hold"}"#).is_err());
//! # Ok::<(), serde_json::Error>(())
//! ```

mod asyncapi;
mod audit;
mod calendar;
mod depot;
mod error;
mod explain;
mod grant;
mod health;
mod key;
pub mod limits;
mod linked;
mod market;
mod object;
mod openapi;
mod order;
mod queue;
mod reference;
mod restriction;
mod route;
pub mod sign;
mod statement;
mod stream;
mod text;
mod transaction;
mod venue;
mod withdrawal;

pub use asyncapi::asyncapi;
pub use audit::*;
pub use calendar::*;
pub use depot::*;
pub use error::*;
pub use explain::{Explained, explain, nearest};
pub use grant::*;
pub use health::*;
pub use key::*;
pub use linked::*;
pub use market::*;
pub use openapi::openapi;
pub use order::*;
pub use queue::*;
pub use reference::reference;
pub use restriction::*;
pub use route::*;
pub use statement::*;
pub use stream::*;
pub use text::*;
pub use transaction::*;
pub use venue::*;
pub use withdrawal::*;
