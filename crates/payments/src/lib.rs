//! Withdrawals as durable flows.
//!
//! The engine holds a withdrawal, the operator decides, and it is then settled or released, exactly
//! once, across crashes. See `docs/withdrawals.md`.

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
pub use error::{Decided, InvalidTransfer, PaymentsOpenError};
pub use payments::{PaymentOptions, Payments};
pub use request::{
    ApproveWithdrawal, CancelWithdrawal, GetWithdrawal, ListWithdrawals, PAGE_MAX,
    REASON_BYTES_MAX, RejectWithdrawal, RequestWithdrawal, Requested, Withdrawals,
};
pub use service::{Settings, WithdrawalService};
pub use tally::Tally;
pub use withdrawal::{
    Decision, PaymentReceipt, State, UnknownId, Withdrawal, WithdrawalFailure, WithdrawalId,
};
