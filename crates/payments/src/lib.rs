//! Withdrawals as durable flows.
//!
//! A withdrawal is held by the engine, waits until somebody decides, and is then paid out or given
//! back, exactly once, whenever the process dies in between. The page `docs/withdrawals.md` tells the
//! whole story.

mod board;
mod bus;
mod error;
mod flow;
mod office;
mod payments;
mod request;
mod tally;
mod withdrawal;

pub use bus::PaymentsBus;
pub use error::{Decided, OpenError, Unfit};
pub use office::{Office, Settings};
pub use payments::{PaymentOptions, Payments};
pub use request::{
    ApproveWithdrawal, CancelWithdrawal, GetWithdrawal, ListWithdrawals, PAGE_MAX,
    REASON_BYTES_MAX, RejectWithdrawal, RequestWithdrawal, Requested, Withdrawals,
};
pub use tally::Tally;
pub use withdrawal::{Decision, Receipt, State, Trouble, UnknownId, Withdrawal, WithdrawalId};
