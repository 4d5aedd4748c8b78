//! Withdrawals as durable flows.
//!
//! A withdrawal is held by the engine, waits until somebody decides, and is then paid out or given
//! back, exactly once, whenever the process dies in between. The page `docs/withdrawals.md` tells the
//! whole story.

mod bus;
mod error;
mod flow;
mod index;
mod payments;
mod request;
mod service;
mod tally;
mod withdrawal;

pub use bus::PaymentsBus;
pub use error::{Decided, PaymentsOpenError, Unfit};
pub use payments::{PaymentOptions, Payments};
pub use request::{
    ApproveWithdrawal, CancelWithdrawal, GetWithdrawal, ListWithdrawals, PAGE_MAX,
    REASON_BYTES_MAX, RejectWithdrawal, RequestWithdrawal, Requested, Withdrawals,
};
pub use service::{Settings, WithdrawalService};
pub use tally::Tally;
pub use withdrawal::{
    Decision, PaymentReceipt, State, Trouble, UnknownId, Withdrawal, WithdrawalId,
};
