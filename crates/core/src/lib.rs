//! Books, ledger and risk as one pure, deterministic state machine.

pub mod book;
