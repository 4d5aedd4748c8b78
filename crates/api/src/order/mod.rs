//! Orders and fills.

mod answer;
mod event;
mod info;
mod query;
mod request;

pub use answer::*;
pub use event::OrderEvent;
pub use info::*;
pub use query::*;
pub use request::*;
