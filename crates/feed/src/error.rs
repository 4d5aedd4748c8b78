//! Errors of folding events or a baseline.

use rialto_model::{
    AccountId, CurrencyId, InstrumentError, InstrumentId, MemberId, Name, OrderId, Reference, Seq,
    Timestamp,
};

/// The error of folding an event.
///
/// Released events are facts, so every one of these means that the stream was cut, reordered or
/// damaged on its way, or that the feed has a defect. The feed's state is undefined afterwards:
/// drop it and build a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// Events were left out, repeated or swapped.
    #[error("events of sequence {got} came after those of {after}; some were left out or repeated")]
    OutOfOrder {
        /// The last sequence that was folded.
        after: Seq,
        /// The sequence of the event.
        got: Seq,
    },
    /// An event names an order that never was accepted or has ended.
    #[error("sequence {seq} names order {order}, which is not open")]
    UnknownOrder {
        /// The sequence of the event.
        seq: Seq,
        /// The order.
        order: OrderId,
    },
    /// An event names an account that was not opened.
    #[error("sequence {seq} names account {account}, which does not exist")]
    UnknownAccount {
        /// The sequence of the event.
        seq: Seq,
        /// The account.
        account: AccountId,
    },
    /// An event names a member that was not admitted.
    #[error("sequence {seq} names member {member}, which does not exist")]
    UnknownMember {
        /// The sequence of the event.
        seq: Seq,
        /// The member.
        member: MemberId,
    },
    /// An event names an instrument that was not listed.
    #[error("sequence {seq} names instrument {instrument}, which does not exist")]
    UnknownInstrument {
        /// The sequence of the event.
        seq: Seq,
        /// The instrument.
        instrument: InstrumentId,
    },
    /// An event names a currency that was not listed.
    #[error("sequence {seq} names currency {currency}, which does not exist")]
    UnknownCurrency {
        /// The sequence of the event.
        seq: Seq,
        /// The currency.
        currency: CurrencyId,
    },
    /// An event names a calendar that was not adopted.
    #[error("sequence {seq} names calendar {calendar}, which does not exist")]
    UnknownCalendar {
        /// The sequence of the event.
        seq: Seq,
        /// The calendar.
        calendar: Name,
    },
    /// An event tells how long an instrument is halted that is not.
    #[error("sequence {seq} halts instrument {instrument} for a time, which is not halted")]
    NotHalted {
        /// The sequence of the event.
        seq: Seq,
        /// The instrument.
        instrument: InstrumentId,
    },
    /// An event begins or moves a transition that is not planned, or is not the next one.
    #[error("sequence {seq} names the transition of {calendar} at {at}, which is not planned so")]
    UnknownTransition {
        /// The sequence of the event.
        seq: Seq,
        /// The calendar.
        calendar: Name,
        /// When it is planned to begin.
        at: Timestamp,
    },
    /// An event follows or adopts a plan with another number of transitions.
    #[error("sequence {seq} follows {count} planned transitions of {calendar}, which has others")]
    PlanIncomplete {
        /// The sequence of the event.
        seq: Seq,
        /// The calendar.
        calendar: Name,
        /// The number of transitions before the event.
        count: u32,
    },
    /// An event lists something under a number that is taken or does not follow the last one.
    #[error("sequence {seq} creates {what} {number}, which exists already or is out of turn")]
    NumberTaken {
        /// The sequence of the event.
        seq: Seq,
        /// The kind of object.
        what: &'static str,
        /// Its number.
        number: u32,
    },
    /// An event lists an instrument that its currencies do not allow.
    #[error("sequence {seq} lists instrument {instrument} with invalid terms")]
    Instrument {
        /// The sequence of the event.
        seq: Seq,
        /// The instrument.
        instrument: InstrumentId,
        /// The reason.
        source: InstrumentError,
    },
    /// An event holds a withdrawal under a reference that is in use.
    #[error("sequence {seq} holds withdrawal {reference} of account {account} a second time")]
    WithdrawalTwice {
        /// The sequence of the event.
        seq: Seq,
        /// The account.
        account: AccountId,
        /// The reference.
        reference: Reference,
    },
    /// An event ends a withdrawal that is not held, or not in this way.
    #[error(
        "sequence {seq} ends withdrawal {reference} of account {account}, which is not held so"
    )]
    UnknownWithdrawal {
        /// The sequence of the event.
        seq: Seq,
        /// The account.
        account: AccountId,
        /// The reference.
        reference: Reference,
    },
    /// An event and what was folded before disagree about an order.
    #[error(
        "sequence {seq} says that {what} of order {order} is {event}, but it folds to {folded}"
    )]
    Mismatch {
        /// The sequence of the event.
        seq: Seq,
        /// The order.
        order: OrderId,
        /// The field.
        what: &'static str,
        /// The value in the event.
        event: i128,
        /// The value folded from earlier events.
        folded: i128,
    },
}
