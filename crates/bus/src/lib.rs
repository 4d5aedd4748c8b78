//! Typed commands, queries and events within a process: callers do not know the handlers.
//!
//! A [`Request`] has one answer and one handler, an [`Event`] any number of handlers. Between the
//! bus and a handler stand behaviours: validation, limits, retries. The same handlers and behaviours
//! serve two kinds of bus: [`bus!`] makes a type that calls them inline, without allocation or
//! look-up; a [`Bus`] finds them by the type of the request, for plug-ins and tests.
//!
//! ```
//! use rialto_bus::{Command, Context, Dispatch, HandlerNow, Request, Result, behaviours, bus};
//!
//! struct Greet(&'static str);
//! impl Request for Greet {
//!     type Response = String;
//!     const NAME: &'static str = "greet";
//! }
//! impl Command for Greet {}
//!
//! struct Greeter;
//! impl HandlerNow<Greet> for Greeter {
//!     fn handle_now(&self, Greet(name): Greet, _: &Context<'_>) -> Result<String> {
//!         Ok(format!("Hello, {name}!"))
//!     }
//! }
//!
//! bus! { struct Door { all through [] { greeter: Greeter => now Greet; } } }
//!
//! let door = Door { all: behaviours![], greeter: Greeter };
//! assert_eq!(door.send_now(Greet("Ada"), &Context::new())?, "Hello, Ada!");
//! # Ok::<(), rialto_bus::Error>(())
//! ```
//!
//! Derives write the impls of requests, and [`#[handler]`](macro@handler) marks what
//! [`Builder::discover`] then finds without a list. [`codec`] gives requests a form in bytes;
//! feature `tower` makes a route a service.
//!
//! [`behaviour`] has the behaviours that come with the bus; a [`Behaviour`] of your own is one
//! method.

pub mod behaviour;
pub mod codec;
mod context;
#[cfg(feature = "macros")]
mod discovery;
mod dispatch;
mod dynamic;
mod error;
mod handler;
mod in_order;
mod isolated;
mod pipeline;
mod request;
#[cfg(feature = "tower")]
mod service;
mod static_bus;

/// Items that the macros refer to.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __discovery {
    pub use crate::discovery::{Declared, Finder, Found, declare, found, inventory};
}

pub use context::{Context, TraceContext, Trail};
#[doc(hidden)]
pub use dispatch::Failures;
pub use dispatch::{Announces, AnnouncesNow, Dispatch, Serves, ServesNow};
pub use dynamic::{BuildError, Builder, Bus};
pub use error::{Error, ErrorKind, PublishError, Result};
pub use handler::{EventHandler, EventHandlerNow, Handler, HandlerNow, Ready};
pub use isolated::Isolated;
pub use pipeline::{Behaviour, BehaviourNow, Pipeline, PipelineNow};
pub use request::{Command, Event, Query, Request};
#[cfg(feature = "macros")]
pub use rialto_bus_macros::{Command, Event, Query, handler};
#[cfg(feature = "tower")]
pub use service::{Envelope, RequestService};

/// The examples of the page about the bus compile and run as tests.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../../docs/bus.md")]
mod page {}

#[cfg(all(doctest, feature = "macros"))]
mod refused;
