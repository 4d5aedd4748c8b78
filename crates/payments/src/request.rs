//! What can be asked about withdrawals.

use crate::error::Unfit;
use crate::withdrawal::{PaymentReceipt, Withdrawal, WithdrawalId};
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Error, ErrorKind, Query, Request, Result};
use rialto_desk::{Grant, Needs, Scope};
use rialto_model::{AccountId, RejectReason, Transfer};

/// The longest reason of a rejection, in bytes.
pub const REASON_BYTES_MAX: usize = 200;

/// The most withdrawals on one page.
pub const PAGE_MAX: usize = 1_000;

/// An owner asks for a withdrawal. The same transfer again means the same withdrawal.
///
/// The answer comes when it is held. A refusal by the engine is an error that carries
/// [`Refused`](rialto_desk::Refused), also when it is asked for again.
#[derive(Clone, Copy, Debug)]
pub struct RequestWithdrawal {
    /// What, and from which account.
    pub transfer: Transfer,
}

/// A withdrawal that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    /// How it stands.
    pub withdrawal: Withdrawal,
    /// Whether it had been asked for before.
    pub repeated: bool,
}

/// An owner does not want a withdrawal any more. The answer comes when it is given back.
#[derive(Clone, Copy, Debug)]
pub struct CancelWithdrawal {
    /// Which.
    pub id: WithdrawalId,
}

/// The operator has a withdrawal paid out. The answer comes when it is settled.
#[derive(Clone, Copy, Debug)]
pub struct ApproveWithdrawal {
    /// Which.
    pub id: WithdrawalId,
    /// What the outside world calls the payment.
    pub receipt: PaymentReceipt,
}

/// The operator will not pay a withdrawal. The answer comes when it is given back.
#[derive(Clone, Debug)]
pub struct RejectWithdrawal {
    /// Which.
    pub id: WithdrawalId,
    /// Why, in words for its owner: at most [`REASON_BYTES_MAX`] bytes.
    pub reason: String,
}

/// How does this withdrawal stand?
#[derive(Clone, Copy, Debug)]
pub struct GetWithdrawal {
    /// Which.
    pub id: WithdrawalId,
}

/// Which withdrawals are there?
#[derive(Clone, Copy, Debug)]
pub struct ListWithdrawals {
    /// Whose; those of all accounts otherwise, which only operators may see.
    pub account: Option<AccountId>,
    /// Those that have ended, the last one asked for first; otherwise those that have not, the first
    /// one first.
    pub ended: bool,
    /// Those behind this one only: the last of the page before.
    pub after: Option<WithdrawalId>,
    /// How many at most: 1 to [`PAGE_MAX`].
    pub limit: usize,
}

/// A page of withdrawals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawals {
    /// In the order that was asked for.
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
            return Err(Unfit(RejectReason::AmountNotPositive).into());
        }
        if self.transfer.reference.is_empty() {
            return Err(Unfit(RejectReason::ReferenceMissing).into());
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
