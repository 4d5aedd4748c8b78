//! Restrictions: what members, accounts and instruments may still do.

use crate::{AccountId, InstrumentId, MemberId, enumeration};
use serde::{Deserialize, Serialize};

enumeration! {
    /// What is refused, each value more than the one before it.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Restriction {
        /// Nothing.
        #[default]
        None = 0, "none";
        /// New orders, and every amendment but one to a smaller quantity at the same price.
        CancelOnly = 1, "cancel_only";
        /// The same, and new withdrawals.
        Frozen = 2, "frozen";
    }
}

/// Who or what is restricted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestrictionTarget {
    /// All accounts of the venue.
    Venue,
    /// All accounts of a member.
    Member(MemberId),
    /// An account.
    Account(AccountId),
    /// An instrument, for all accounts.
    Instrument(InstrumentId),
}

impl RestrictionTarget {
    /// The number of its kind and its id in the binary form.
    #[must_use]
    pub fn number(self) -> (u8, u32) {
        match self {
            RestrictionTarget::Venue => (0, 0),
            RestrictionTarget::Member(member) => (1, member.0),
            RestrictionTarget::Account(account) => (2, account.0),
            RestrictionTarget::Instrument(instrument) => (3, instrument.0),
        }
    }

    /// The target with this number and id. The venue has no id.
    #[must_use]
    pub fn from_number(kind: u8, id: u32) -> Option<RestrictionTarget> {
        match kind {
            0 if id == 0 => Some(RestrictionTarget::Venue),
            1 => Some(RestrictionTarget::Member(MemberId(id))),
            2 => Some(RestrictionTarget::Account(AccountId(id))),
            3 => Some(RestrictionTarget::Instrument(InstrumentId(id))),
            _ => None,
        }
    }
}

/// A restriction of a target. It replaces the one that the same side set: an operator's and a
/// member's are separate, and the stricter of them is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restrict {
    /// The target.
    pub target: RestrictionTarget,
    /// The restriction; [`Restriction::None`] lifts the one before.
    pub restriction: Restriction,
    /// Whether the member set it itself, rather than an operator.
    pub by_member: bool,
    /// Whether the open orders of the target are cancelled.
    pub cancel: bool,
}
