//! Validation of requests without the venue's state.
//!
//! Only fields that never reach the engine are checked here. The engine decides about orders: its
//! rejects are in the journal, so that a retry under the same client order id gets the same one.

use crate::{
    AUDIT_PAGE_MAX, AcceptClock, AmendOrder, AmendTriggerPrice, AssignCalendar, AtField,
    CancelOrder, CancelOrders, CreateAccount, CreateCurrency, CreateInstrument, CreateMember,
    Deposit, Disconnect, FeedQuery, FindCurrency, FindInstrument, GetPublishedSeq, GetReport,
    GetStatus, GetTime, HaltTrading, HoldWithdrawal, IdentifyOrder, Kill, LiftKill, MoveTransition,
    PayOut, PlaceConditionalOrder, PlaceIcebergOrder, PlaceLinkedOrders, PlaceOrder,
    PlaceTrailingOrder, PrivateChannel, ReadAudit, ReadFeed, ReleaseWithdrawal, Resume,
    SetAuctionRules, SetCircuitBreaker, SetContractTerms, SetDeadMan, SetInstrumentState,
    SetRestriction, SetRules, SetRulesVersion, SettleWithdrawal, SubmitBatch, Subscribe,
    TakeBackup, TakeSnapshot,
};
use rialto_bus::Result;
use rialto_bus::behaviour::Validate;

const BACKUP_NAME_BYTES_MAX: usize = 64;

/// Requests that need the venue's state to be checked.
macro_rules! decided_later {
    ($($Request:ty),* $(,)?) => { $(
        impl Validate for $Request {
            #[inline]
            fn validate(&self) -> Result<()> {
                Ok(())
            }
        }
    )* };
}

decided_later! {
    PlaceOrder, PlaceConditionalOrder, PlaceTrailingOrder, PlaceIcebergOrder, PlaceLinkedOrders, CancelOrder,
    AmendOrder, AmendTriggerPrice, CancelOrders, SetDeadMan, Disconnect, Deposit, Kill,
    LiftKill, SetRestriction, PayOut, HoldWithdrawal, SettleWithdrawal, ReleaseWithdrawal,
    CreateMember, CreateAccount, CreateCurrency, CreateInstrument, SetRules, SetAuctionRules,
    SetInstrumentState, SetRulesVersion, IdentifyOrder, FindInstrument, FindCurrency, GetTime,
    GetPublishedSeq, GetStatus, GetReport, Subscribe, TakeSnapshot, AcceptClock, AssignCalendar,
    MoveTransition, HaltTrading, SetCircuitBreaker, SetContractTerms,
}

impl<Q: FeedQuery> Validate for ReadFeed<Q> {
    #[inline]
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

impl Validate for SubmitBatch {
    fn validate(&self) -> Result<()> {
        if self.submissions.is_empty() {
            return Err(AtField("rows").invalid("A batch has at least one row."));
        }
        Ok(())
    }
}

impl Validate for ReadAudit {
    fn validate(&self) -> Result<()> {
        if !(1..=AUDIT_PAGE_MAX).contains(&self.limit) {
            let message =
                format!("A page of the audit trail holds 1 to {AUDIT_PAGE_MAX} commands.");
            return Err(AtField("limit").invalid(message));
        }
        Ok(())
    }
}

impl Validate for Resume {
    fn validate(&self) -> Result<()> {
        if self.channel == PrivateChannel::Balances {
            let message = "Balances are states: a subscription begins with all of them.";
            return Err(AtField("channel").invalid(message));
        }
        Ok(())
    }
}

impl Validate for TakeBackup {
    // A name and not a path, so that a remote operator cannot write elsewhere on the disk.
    fn validate(&self) -> Result<()> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_name = |name: &str| !name.starts_with('.') && name.bytes().all(is_plain);
        let Self { name } = self;
        if name.is_empty() || name.len() > BACKUP_NAME_BYTES_MAX || !is_name(name) {
            let message = "A backup's name is 1 to 64 letters, digits, dashes, underscores and dots, \
                           and does not begin with a dot; it is no path.";
            return Err(AtField("name").invalid(message));
        }
        Ok(())
    }
}
