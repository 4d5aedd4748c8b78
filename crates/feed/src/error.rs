//! Why events or a baseline cannot be folded.

use rialto_model::{
    AccountId, CurrencyId, InstrumentError, InstrumentId, MemberId, OrderId, Reference, Seq,
};

/// Why an event cannot be folded.
///
/// Released events are facts, so every one of these means that the stream was cut, reordered or
/// damaged on its way, or that the feed has a defect. What the feed holds afterwards is not
/// defined: throw it away and build a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// Events were left out, repeated or swapped.
    #[error("events of sequence {got} came after those of {after}; some were left out or repeated")]
    OutOfOrder {
        /// The last sequence that was folded.
        after: Seq,
        /// The sequence that came.
        got: Seq,
    },
    /// An event names an order that never was accepted or has ended.
    #[error("sequence {seq} names order {order}, which is not open")]
    UnknownOrder {
        /// Where.
        seq: Seq,
        /// Which order.
        order: OrderId,
    },
    /// An event names an account that was not opened.
    #[error("sequence {seq} names account {account}, which does not exist")]
    UnknownAccount {
        /// Where.
        seq: Seq,
        /// Which account.
        account: AccountId,
    },
    /// An event names a member that was not admitted.
    #[error("sequence {seq} names member {member}, which does not exist")]
    UnknownMember {
        /// Where.
        seq: Seq,
        /// Which member.
        member: MemberId,
    },
    /// An event names an instrument that was not listed.
    #[error("sequence {seq} names instrument {instrument}, which does not exist")]
    UnknownInstrument {
        /// Where.
        seq: Seq,
        /// Which instrument.
        instrument: InstrumentId,
    },
    /// An event names a currency that was not listed.
    #[error("sequence {seq} names currency {currency}, which does not exist")]
    UnknownCurrency {
        /// Where.
        seq: Seq,
        /// Which currency.
        currency: CurrencyId,
    },
    /// An event lists something under a number that is taken or does not follow the last one.
    #[error("sequence {seq} creates {what} {number}, which exists already or is out of turn")]
    NumberTaken {
        /// Where.
        seq: Seq,
        /// What kind of thing.
        what: &'static str,
        /// Its number.
        number: u32,
    },
    /// An event lists an instrument that its currencies do not allow.
    #[error("sequence {seq} lists instrument {instrument}, which cannot be")]
    Instrument {
        /// Where.
        seq: Seq,
        /// Which instrument.
        instrument: InstrumentId,
        /// Why not.
        source: InstrumentError,
    },
    /// An event holds a withdrawal under a reference that is in use.
    #[error("sequence {seq} holds withdrawal {reference} of account {account} a second time")]
    WithdrawalTwice {
        /// Where.
        seq: Seq,
        /// Whose.
        account: AccountId,
        /// Which.
        reference: Reference,
    },
    /// An event ends a withdrawal that is not held, or not in this way.
    #[error(
        "sequence {seq} ends withdrawal {reference} of account {account}, which is not held so"
    )]
    UnknownWithdrawal {
        /// Where.
        seq: Seq,
        /// Whose.
        account: AccountId,
        /// Which.
        reference: Reference,
    },
    /// An event and what was folded before disagree about an order.
    #[error(
        "sequence {seq} says that {what} of order {order} is {event}, but it folds to {folded}"
    )]
    Mismatch {
        /// Where.
        seq: Seq,
        /// Which order.
        order: OrderId,
        /// What they disagree about.
        what: &'static str,
        /// What the event says.
        event: i128,
        /// What the events before it add up to.
        folded: i128,
    },
}
