//! The requests about withdrawals.

use crate::error::InvalidTransfer;
use crate::withdrawal::{PaymentReceipt, Withdrawal, WithdrawalId};
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Error, ErrorKind, Query, Request, Result};
use rialto_desk::{Grant, Needs, Scope};
use rialto_model::{AccountId, RejectReason, Transfer};

/// The longest reason of a rejection, in bytes.
pub const REASON_BYTES_MAX: usize = 200;

/// The most withdrawals on one page.
pub const PAGE_MAX: usize = 1_000;

/// An owner requests a withdrawal. The same transfer again is the same withdrawal.
///
/// The answer comes when it is held. A refusal by the engine is an error that carries
/// [`Refused`](rialto_desk::Refused), also when it is asked for again.
#[derive(Clone, Copy, Debug)]
pub struct RequestWithdrawal {
    /// The account, currency, amount and reference.
    pub transfer: Transfer,
}

/// A requested withdrawal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    /// The withdrawal in its present state.
    pub withdrawal: Withdrawal,
    /// Whether it was requested earlier.
    pub repeated: bool,
}

/// An owner cancels a withdrawal. The answer comes when it is released.
#[derive(Clone, Copy, Debug)]
pub struct CancelWithdrawal {
    /// The withdrawal.
    pub id: WithdrawalId,
}

/// The operator approves a withdrawal. The answer comes when it is settled.
#[derive(Clone, Copy, Debug)]
pub struct ApproveWithdrawal {
    /// The withdrawal.
    pub id: WithdrawalId,
    /// The identifier of the payment.
    pub receipt: PaymentReceipt,
}

/// The operator rejects a withdrawal. The answer comes when it is released.
#[derive(Clone, Debug)]
pub struct RejectWithdrawal {
    /// The withdrawal.
    pub id: WithdrawalId,
    /// The reason, shown to its owner: at most [`REASON_BYTES_MAX`] bytes.
    pub reason: String,
}

/// Asks for a withdrawal.
#[derive(Clone, Copy, Debug)]
pub struct GetWithdrawal {
    /// The withdrawal.
    pub id: WithdrawalId,
}

/// Lists withdrawals.
#[derive(Clone, Copy, Debug)]
pub struct ListWithdrawals {
    /// The account; `None` for all accounts, which only operators may see.
    pub account: Option<AccountId>,
    /// Ended withdrawals, newest first; otherwise open ones, oldest first.
    pub ended: bool,
    /// Only withdrawals after this one: the last of the previous page.
    pub after: Option<WithdrawalId>,
    /// The most withdrawals: 1 to [`PAGE_MAX`].
    pub limit: usize,
}

/// A page of withdrawals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawals {
    /// In the requested order.
    pub withdrawals: Vec<Withdrawal>,
    /// Whether others follow.
    pub more: bool,
}

macro_rules! requests {
    ($($kind:ident $name:literal $Request:ident => $Response:ty;)*) => { $(
        impl Request for $Request {
            type Response = $Response;
            const NAME: &'static str = $name;
        }

        impl $kind for $Request {}
    )* };
}

requests! {
    Command "request_withdrawal" RequestWithdrawal => Requested;
    Command "cancel_withdrawal" CancelWithdrawal => Withdrawal;
    Command "approve_withdrawal" ApproveWithdrawal => Withdrawal;
    Command "reject_withdrawal" RejectWithdrawal => Withdrawal;
    Query "get_withdrawal" GetWithdrawal => Withdrawal;
    Query "list_withdrawals" ListWithdrawals => Withdrawals;
}

fn invalid(message: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, "invalid_field", message)
}

impl Needs for RequestWithdrawal {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Transfer, self.transfer.account)?)
    }
}

impl Validate for RequestWithdrawal {
    fn validate(&self) -> Result<()> {
        if self.transfer.amount.0 <= 0 {
            return Err(InvalidTransfer(RejectReason::AmountNotPositive).into());
        }
        if self.transfer.reference.is_empty() {
            return Err(InvalidTransfer(RejectReason::ReferenceMissing).into());
        }
        Ok(())
    }
}

impl Needs for CancelWithdrawal {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Transfer, self.id.account)?)
    }
}

impl Needs for ApproveWithdrawal {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }
}

impl Validate for ApproveWithdrawal {
    fn validate(&self) -> Result<()> {
        if self.receipt.is_empty() {
            return Err(invalid("An approval needs the receipt of the payment."));
        }
        Ok(())
    }
}

impl Needs for RejectWithdrawal {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }
}

impl Validate for RejectWithdrawal {
    fn validate(&self) -> Result<()> {
        let is_sound =
            self.reason.len() <= REASON_BYTES_MAX && !self.reason.contains(char::is_control);
        if !is_sound {
            return Err(invalid(
                "A reason is at most 200 bytes of text without control characters.",
            ));
        }
        Ok(())
    }
}

impl Needs for GetWithdrawal {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Read, self.id.account)?)
    }
}

impl Needs for ListWithdrawals {
    fn check(&self, grant: &Grant) -> Result<()> {
        match self.account {
            Some(account) => grant.permit(Scope::Read, account)?,
            None => grant.require(Scope::Admin)?,
        }
        Ok(())
    }
}

impl Validate for CancelWithdrawal {
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

impl Validate for GetWithdrawal {
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

impl Validate for ListWithdrawals {
    fn validate(&self) -> Result<()> {
        if !(1..=PAGE_MAX).contains(&self.limit) {
            return Err(invalid("A page holds 1 to 1000 withdrawals."));
        }
        Ok(())
    }
}
