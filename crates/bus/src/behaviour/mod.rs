//! The behaviours that come with the bus, one a file.

mod panics;

pub use panics::IsolatePanics;
