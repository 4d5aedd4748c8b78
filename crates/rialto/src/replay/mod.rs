//! `rialto replay`: feeds a recorded order-level file through a real engine.
//!
//! [`input`] reads the three formats as one sequence of [`operation`]s, [`stage`] builds a venue
//! with the accounts that the file needs, [`drive`] sends the operations and takes what comes back,
//! [`tally`] folds the released events, and [`report`] prints. `docs/replay.md` tells the rest.

mod bitstamp;
mod command;
mod drive;
mod error;
mod input;
mod obw;
mod operation;
mod order_file;
mod pace;
mod report;
mod rows;
mod stage;
mod tally;

pub use command::{ReplayArgs, run};
