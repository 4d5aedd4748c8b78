//! Withdrawals and their states.

use rialto_flow::{FlowId, FlowIdError};
use rialto_model::{
    AccountId, Attribution, Reference, RejectReason, Seq, Text, Timestamp, Transfer,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The identifier of the payment, such as the id of a transaction of a bank or a chain: 1 to 96
/// bytes of printable ASCII without spaces.
pub type PaymentReceipt = Text<96>;

/// The id of a withdrawal: the account and the owner's reference, written `7-rent-2026`.
///
/// It follows from the request, so that a repeated request is the same withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WithdrawalId {
    /// The account.
    pub account: AccountId,
    /// The owner's reference.
    pub reference: Reference,
}

/// A text that is not a withdrawal id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a withdrawal id; write the account, a dash and the reference, as in 7-rent")]
pub struct UnknownId(pub String);

impl WithdrawalId {
    /// The id of the withdrawal of this transfer.
    #[must_use]
    pub fn of(transfer: &Transfer) -> WithdrawalId {
        WithdrawalId { account: transfer.account, reference: transfer.reference }
    }

    /// The id of its flow. Fails only for invalid references.
    pub(crate) fn flow_id(&self) -> Result<FlowId, FlowIdError> {
        FlowId::new(&format!("w-{self}"))
    }
}

impl fmt::Display for WithdrawalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.account, self.reference)
    }
}

impl FromStr for WithdrawalId {
    type Err = UnknownId;

    fn from_str(text: &str) -> Result<WithdrawalId, UnknownId> {
        let unknown = || UnknownId(text.chars().take(80).collect());
        let (account, reference) = text.split_once('-').ok_or_else(unknown)?;
        let id = WithdrawalId {
            account: account.parse().map_err(|_| unknown())?,
            reference: reference.parse().map_err(|_| unknown())?,
        };
        // One withdrawal has one id: account 007 and an empty reference are refused.
        if id.to_string() == text && !id.reference.is_empty() { Ok(id) } else { Err(unknown()) }
    }
}

/// The state of a withdrawal.
///
/// The numbers under which states are stored follow from their order: new ones go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// Requested; the engine has not answered yet.
    Requested,
    /// Held: the amount is reserved, and the operator is to decide.
    Pending,
    /// Approved; the engine is to settle it.
    Settling,
    /// Rejected, cancelled or expired; the engine is to release it.
    Returning,
    /// Paid out.
    Settled,
    /// Rejected by the operator, and released.
    Rejected,
    /// Cancelled by its owner, and released.
    Cancelled,
    /// Not decided in time, and released.
    Expired,
    /// Refused by the engine: nothing was ever held.
    Refused,
    /// Failed: the engine did not carry out the decision, and the operator must check it.
    Failed,
}

impl State {
    /// All states.
    pub const ALL: [State; 10] = [
        State::Requested,
        State::Pending,
        State::Settling,
        State::Returning,
        State::Settled,
        State::Rejected,
        State::Cancelled,
        State::Expired,
        State::Refused,
        State::Failed,
    ];

    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Requested => "requested",
            State::Pending => "pending",
            State::Settling => "settling",
            State::Returning => "returning",
            State::Settled => "settled",
            State::Rejected => "rejected",
            State::Cancelled => "cancelled",
            State::Expired => "expired",
            State::Refused => "refused",
            State::Failed => "failed",
        }
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_ended(self) -> bool {
        !matches!(self, State::Requested | State::Pending | State::Settling | State::Returning)
    }

    /// Whether it can still be decided.
    #[must_use]
    pub fn is_undecided(self) -> bool {
        matches!(self, State::Requested | State::Pending)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The decision about a withdrawal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    /// The operator approves it, under this receipt.
    Approve {
        /// What the outside world calls the payment.
        receipt: PaymentReceipt,
    },
    /// The operator rejects it.
    Reject {
        /// The reason, shown to its owner.
        reason: String,
    },
    /// Its owner cancels it.
    Cancel,
}

/// A decision as it is delivered to the flow, and stored: an operator's says who made it, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DeliveredDecision {
    /// Without an operator; or one that was made before decisions had an attribution.
    Approve {
        receipt: PaymentReceipt,
    },
    Reject {
        reason: String,
    },
    Cancel,
    /// Of an operator.
    Attributed(Decision, Attribution),
}

impl DeliveredDecision {
    pub(crate) fn of(decision: Decision, by: Option<Attribution>) -> DeliveredDecision {
        match (decision, by) {
            (decision, Some(by)) => DeliveredDecision::Attributed(decision, by),
            (Decision::Approve { receipt }, None) => DeliveredDecision::Approve { receipt },
            (Decision::Reject { reason }, None) => DeliveredDecision::Reject { reason },
            (Decision::Cancel, None) => DeliveredDecision::Cancel,
        }
    }

    pub(crate) fn split(self) -> (Decision, Option<Attribution>) {
        match self {
            DeliveredDecision::Approve { receipt } => (Decision::Approve { receipt }, None),
            DeliveredDecision::Reject { reason } => (Decision::Reject { reason }, None),
            DeliveredDecision::Cancel => (Decision::Cancel, None),
            DeliveredDecision::Attributed(decision, by) => (decision, Some(by)),
        }
    }
}

/// The reason that a withdrawal failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WithdrawalFailure {
    /// The engine refused.
    Refused {
        /// The reason of the refusal.
        reason: RejectReason,
        /// The sequence of the refusal.
        seq: Seq,
    },
    /// The flow failed.
    Broken(String),
}

impl fmt::Display for WithdrawalFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WithdrawalFailure::Refused { reason, .. } => f.write_str(reason.sentence()),
            WithdrawalFailure::Broken(reason) => f.write_str(reason),
        }
    }
}

/// A withdrawal in its present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawal {
    /// The account, currency, amount and reference.
    pub transfer: Transfer,
    /// Its state.
    pub state: State,
    /// When it was requested.
    pub requested: Timestamp,
    /// When its state changed last.
    pub changed: Timestamp,
    /// When it is released unless it is decided; known once it is held.
    pub expires: Option<Timestamp>,
    /// The decision, if there is one.
    pub decision: Option<Decision>,
    /// The command that settled or released it, or that the engine refused.
    pub seq: Option<Seq>,
    /// The failure, if it failed.
    pub failure: Option<WithdrawalFailure>,
}

impl Withdrawal {
    pub(crate) fn requested(transfer: Transfer, at: Timestamp) -> Withdrawal {
        Withdrawal {
            transfer,
            state: State::Requested,
            requested: at,
            changed: at,
            expires: None,
            decision: None,
            seq: None,
            failure: None,
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> WithdrawalId {
        WithdrawalId::of(&self.transfer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_text() {
        let id = WithdrawalId { account: AccountId(7), reference: "rent-2026".parse().unwrap() };
        assert_eq!(id.to_string(), "7-rent-2026");
        assert_eq!("7-rent-2026".parse(), Ok(id));
        for wrong in ["", "7", "7-", "-rent", "07-rent", "+7-rent", "x-rent", "7-two words"] {
            assert_eq!(wrong.parse::<WithdrawalId>(), Err(UnknownId(wrong.to_owned())));
        }
    }

    #[test]
    fn the_longest_id_names_a_flow() {
        let reference = "r".repeat(36).parse().unwrap();
        let id = WithdrawalId { account: AccountId(u32::MAX), reference };
        assert!(id.flow_id().is_ok());
    }

    #[test]
    fn a_decision_of_before_attributions_can_still_be_read() {
        let decision = Decision::Reject { reason: "no funds".to_owned() };
        let stored = postcard::to_extend(&decision, Vec::new()).unwrap();
        let read: DeliveredDecision = postcard::from_bytes(&stored).unwrap();
        assert_eq!(read.clone().split(), (decision.clone(), None));
        assert_eq!(DeliveredDecision::of(decision.clone(), None), read);
        let by = Attribution { by: "rk_1".parse().unwrap(), reason: "ticket 7".parse().unwrap() };
        let stored =
            postcard::to_extend(&DeliveredDecision::of(decision.clone(), Some(by)), Vec::new());
        let read: DeliveredDecision = postcard::from_bytes(&stored.unwrap()).unwrap();
        assert_eq!(read.split(), (decision, Some(by)));
    }

    #[test]
    fn states_are_stored_under_the_numbers_of_their_order() {
        for (number, state) in (0_u8..).zip(State::ALL) {
            assert_eq!(postcard::to_extend(&state, Vec::new()).unwrap(), [number]);
        }
    }
}
