//! Events: the facts that commands lead to. Every command has at least one.

use crate::enumeration;
use crate::text::{from_text, to_text};
use crate::{
    AccountId, Amount, Attributed, AuctionRules, CircuitBreakerRule, ClientOrderId, CommandKind,
    ContractTerms, Currency, CurrencyId, ExitsRefused, ExitsSet, HaltCause, HaltScope,
    IcebergRefreshed, IcebergSet, InstrumentId, InstrumentSpec, InstrumentState, MemberId, Name,
    NewOrder, OrderId, OrdersLinked, PlannedTransition, Price, Quantity, Reference, RejectReason,
    Restrict, Side, Timestamp, TradeId, TradingRules, TrailActivated, TrailSet, TriggerSet,
    Triggered,
};
use serde::{Deserialize, Serialize};

/// An order was accepted. Its trades, if any, follow in the same command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// The venue's id for it.
    pub order: OrderId,
    /// The order as entered, except for what the venue decided: `price` is the limit in force (a
    /// slid post-only price, a market order's protection), `self_trade` the mode in force,
    /// `expire_at` the expiry of day orders too.
    pub terms: NewOrder,
    /// Moved from available to reserved: quote currency for a buy, base currency for a sell.
    pub reserved: Amount,
    /// Whether the whole order went to the book without trading. It is false for an iceberg, of which [`Rested`]
    /// follows.
    pub rests: bool,
}

/// The rest of an order after trading, an amended order or an iceberg joined the end of the queue at its
/// price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rested {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the book.
    pub side: Side,
    /// The limit price.
    pub price: Price,
    /// The remaining quantity.
    pub remaining: Quantity,
}

/// Two orders traded, at the price of the resting order; or at the price of an auction, where both
/// rested and the one that was entered later counts as the incoming one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trade {
    /// The venue's id for it.
    pub trade: TradeId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the incoming order.
    pub taker_side: Side,
    /// Whether it is a trade of an auction.
    pub auction: bool,
    /// The price.
    pub price: Price,
    /// The quantity.
    pub quantity: Quantity,
    /// The resting order.
    pub maker_order: OrderId,
    /// The incoming order.
    pub taker_order: OrderId,
    /// Account of the resting order.
    pub maker_account: AccountId,
    /// Account of the incoming order.
    pub taker_account: AccountId,
    /// The remaining quantity of the resting order; zero means that it is filled.
    pub maker_remaining: Quantity,
    /// The remaining quantity of the incoming order; zero means that it is filled, unless it was
    /// sized in quote currency: then it is always zero and the order ends with [`Done`].
    pub taker_remaining: Quantity,
    /// Price times quantity, in quote currency; zero where the instrument's risk is off.
    pub notional: Amount,
    /// Fee of the resting order, in quote currency; negative is a rebate.
    pub maker_fee: Amount,
    /// Fee of the incoming order, in quote currency.
    pub taker_fee: Amount,
    /// The decrease of the buyer's reserve: notional, fee and what is no longer needed.
    pub buyer_unreserved: Amount,
}

enumeration! {
    /// Why an order ended without being filled.
    pub enum DoneReason {
        /// Its owner cancelled it.
        Cancelled = 0, "cancelled";
        /// It was immediate-or-cancel or a market order, and part of it did not trade.
        Remainder = 1, "remainder";
        /// It would have traded with the same member.
        SelfTrade = 2, "self_trade";
        /// A mass cancel of its owner.
        MassCancelled = 3, "mass_cancelled";
        /// It reached its expiry time.
        Expired = 4, "expired";
        /// Its owner's connection was lost.
        Disconnected = 5, "disconnected";
        /// Its owner's dead-man timer ran out.
        DeadMan = 6, "dead_man";
        /// The instrument was closed.
        InstrumentClosed = 7, "instrument_closed";
        /// It was sized in quote currency, and what remains buys less than a lot.
        QuoteSpent = 8, "quote_spent";
        /// It was for an auction, which has ended.
        AuctionEnded = 9, "auction_ended";
        /// The venue, its member, its account or its instrument was restricted.
        Restricted = 10, "restricted";
        /// It was triggered, and is then refused as an order with its limit would be.
        Refused = 11, "refused";
        /// Another order of its list traded, was triggered or ended; or exits could not be entered for what it
        /// traded.
        Linked = 12, "linked";
    }
}

/// An order ended without being filled, or was sized in quote currency and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// The reason that the order ended.
    pub reason: DoneReason,
    /// The order's limit.
    pub price: Price,
    /// The quantity that had not traded; zero for an order sized in quote currency.
    pub remaining: Quantity,
    /// Moved from reserved back to available.
    pub released: Amount,
}

enumeration! {
    /// Why an order was reduced.
    pub enum ReduceReason {
        /// Its owner amended it.
        Amended = 0, "amended";
        /// Self-trade prevention decremented it.
        SelfTrade = 1, "self_trade";
    }
}

/// An order became smaller and kept its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduced {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// The reason of the reduction.
    pub reason: ReduceReason,
    /// The order's limit.
    pub price: Price,
    /// The quantity that was taken off.
    pub by: Quantity,
    /// The remaining quantity, never zero.
    pub remaining: Quantity,
    /// Moved from reserved back to available.
    pub released: Amount,
}

/// An order got another price or a larger quantity, lost its place in the queue and was entered
/// again under the same id. Trades may follow, then [`Rested`] or [`Done`] unless it is filled.
///
/// An iceberg whose price is the same and whose remaining quantity grew keeps its place: none of them follows. Nor
/// does one if the order waits for its trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amended {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// The limit before the change.
    pub old_price: Price,
    /// The remaining quantity before the change.
    pub old_remaining: Quantity,
    /// The limit after the change.
    pub price: Price,
    /// The total quantity after the change, including what has traded.
    pub quantity: Quantity,
    /// The remaining quantity after the change, before any trade that follows.
    pub remaining: Quantity,
    /// The reserve before the change.
    pub old_reserved: Amount,
    /// The reserve after the change.
    pub reserved: Amount,
}

/// A command was refused. Nothing changed, except that the client order id of a refused order is
/// remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// The kind of the command.
    pub command: CommandKind,
    /// The reason of the refusal.
    pub reason: RejectReason,
    /// The account that the command named, or zero.
    pub account: AccountId,
    /// The instrument that the command named, or zero.
    pub instrument: InstrumentId,
    /// The order that the command named, or zero.
    pub order: OrderId,
    /// The client order id that the command named, or empty.
    pub client_order_id: ClientOrderId,
}

/// A fact that a command led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A tick without other events.
    Ticked,
    /// An order was accepted.
    Accepted(Accepted),
    /// An order went to the book.
    Rested(Rested),
    /// Two orders traded.
    Trade(Trade),
    /// An order ended.
    Done(Done),
    /// An order became smaller.
    Reduced(Reduced),
    /// An order was changed, and lost its place unless it is an iceberg that grew.
    Amended(Amended),
    /// A command was refused.
    Rejected(Rejected),
    /// An order, a transfer or a step of a withdrawal was sent again and got its first answer.
    Repeated {
        /// The account.
        account: AccountId,
        /// The client order id or the reference.
        name: ClientOrderId,
        /// The order of the first command; zero if it was refused or was a transfer.
        order: OrderId,
        /// The reason of the first refusal, if it was refused.
        reject: Option<RejectReason>,
    },
    /// A mass cancel, disconnect, dead-man timer, restriction or closing began or continued. The events of the
    /// orders that it cancelled come before it.
    CancelProgress {
        /// The account whose orders are cancelled; zero when an instrument was closed or
        /// restricted.
        account: AccountId,
        /// The instrument whose orders are cancelled; zero for all.
        instrument: InstrumentId,
        /// Orders cancelled by this command.
        cancelled: u32,
        /// Whether further commands continue it.
        pending: bool,
    },
    /// The dead-man timer was set.
    DeadManSet {
        /// The account.
        account: AccountId,
        /// The time when the timer runs out; [`Timestamp::MAX`] is never.
        due: Timestamp,
    },
    /// An account was credited.
    Deposited {
        /// The account.
        account: AccountId,
        /// The currency.
        currency: CurrencyId,
        /// The amount.
        amount: Amount,
        /// The operator's name for the transfer.
        reference: Reference,
    },
    /// An account was debited.
    Withdrawn {
        /// The account.
        account: AccountId,
        /// The currency.
        currency: CurrencyId,
        /// The amount.
        amount: Amount,
        /// The operator's name for the transfer.
        reference: Reference,
    },
    /// A member was admitted.
    MemberCreated {
        /// The member's id.
        member: MemberId,
        /// Its name.
        name: Name,
    },
    /// An account was opened.
    AccountCreated {
        /// The account's id.
        account: AccountId,
        /// Its owner.
        member: MemberId,
        /// Its name.
        name: Name,
    },
    /// A currency was listed.
    CurrencyCreated(Currency),
    /// An instrument was listed. It is open.
    InstrumentCreated {
        /// The instrument's id.
        instrument: InstrumentId,
        /// Its specification.
        spec: InstrumentSpec,
    },
    /// The rules of an instrument changed.
    RulesSet {
        /// The instrument.
        instrument: InstrumentId,
        /// All its rules.
        rules: TradingRules,
    },
    /// The phase of an instrument changed.
    InstrumentStateSet {
        /// The instrument.
        instrument: InstrumentId,
        /// Its state.
        state: InstrumentState,
    },
    /// From the next command on, another version of the rules decides.
    RulesVersionSet {
        /// The version.
        version: u32,
    },
    /// The amount of a withdrawal moved from available to reserved.
    WithdrawalHeld {
        /// The account that owns the order.
        account: AccountId,
        /// The currency.
        currency: CurrencyId,
        /// The amount.
        amount: Amount,
        /// The operator's name for the transfer.
        reference: Reference,
    },
    /// A held withdrawal was paid out.
    WithdrawalSettled {
        /// The account.
        account: AccountId,
        /// The currency.
        currency: CurrencyId,
        /// The amount.
        amount: Amount,
        /// The operator's name for the transfer.
        reference: Reference,
    },
    /// The amount of a held withdrawal moved back from reserved to available.
    WithdrawalReleased {
        /// The account.
        account: AccountId,
        /// The currency.
        currency: CurrencyId,
        /// The amount.
        amount: Amount,
        /// The operator's name for the transfer.
        reference: Reference,
    },
    /// The rules of an instrument's auctions changed.
    AuctionRulesSet {
        /// The instrument.
        instrument: InstrumentId,
        /// All its rules for auctions.
        rules: AuctionRules,
    },
    /// The price of an auction was found. Its trades follow.
    Uncrossed(Uncrossed),
    /// A trade would have been outside a price range: trading is interrupted, or a call extended.
    Interrupted(Interrupted),
    /// An operator sent the command. Its other events follow.
    Attributed(Attributed),
    /// A restriction was set or lifted.
    Restricted(Restrict),
    /// A transition was added to the plan of a calendar.
    TransitionPlanned {
        /// The calendar.
        calendar: Name,
        /// The number of the transition in the plan. Zero begins a new plan.
        number: u32,
        /// The transition.
        transition: PlannedTransition,
    },
    /// The plan of a calendar became its timetable.
    PlanAdopted {
        /// The calendar.
        calendar: Name,
        /// How many transitions were planned.
        count: u32,
        /// Identifies the file that the plan was made from. In JSON it is a string.
        #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
        digest: u64,
        /// Whether the plan replaced the transitions that had not begun. Otherwise it was appended
        /// to them.
        replace: bool,
    },
    /// An instrument follows the timetable of a calendar.
    CalendarAssigned {
        /// The instrument.
        instrument: InstrumentId,
        /// The calendar, or empty for none.
        calendar: Name,
    },
    /// A transition that had not begun was moved, and with it the times of its call.
    TransitionMoved {
        /// The calendar.
        calendar: Name,
        /// When the transition was to begin before.
        at: Timestamp,
        /// When it is to begin.
        to: Timestamp,
    },
    /// A transition began. The events of its instruments follow, in this command and in later ones.
    TransitionBegun {
        /// The calendar.
        calendar: Name,
        /// When it was to begin. The command may be of a later time.
        at: Timestamp,
        /// The phase.
        state: InstrumentState,
    },
    /// Trading is halted for a time. Where the scope is more than an instrument, an event for each
    /// instrument follows, in this command or in later ones.
    TradingHalted(TradingHalted),
    /// The circuit breaker of a calendar was set, replaced or removed.
    CircuitBreakerSet(CircuitBreakerRule),
    /// The best price of a side reached the limit of continuous trading, or stands there no longer.
    LimitStateSet {
        /// The instrument.
        instrument: InstrumentId,
        /// The side.
        side: Side,
        /// The price at the limit.
        price: Price,
        /// When trading is halted if the price still stands there; zero if it does so no longer.
        until: Timestamp,
    },
    /// The terms of an instrument's contract changed.
    ContractTermsSet {
        /// The instrument.
        instrument: InstrumentId,
        /// All its terms.
        terms: ContractTerms,
    },
    /// An order waits for its trigger.
    TriggerSet(TriggerSet),
    /// An order was triggered.
    Triggered(Triggered),
    /// A trailing stop was accepted.
    TrailSet(TrailSet),
    /// A trailing stop follows the price.
    TrailActivated(TrailActivated),
    /// An iceberg was accepted.
    IcebergSet(IcebergSet),
    /// An iceberg displays a new tranche.
    IcebergRefreshed(IcebergRefreshed),
    /// An order was accepted that enters exits as it trades.
    ExitsSet(ExitsSet),
    /// Orders that were entered are linked.
    OrdersLinked(OrdersLinked),
    /// Exits could not be entered.
    ExitsRefused(ExitsRefused),
}

/// Trading is halted for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TradingHalted {
    /// What is halted.
    pub scope: HaltScope,
    /// When the halt ends.
    pub until: Timestamp,
    /// Why trading was halted.
    pub cause: HaltCause,
}

/// The price of an auction was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncrossed {
    /// The instrument.
    pub instrument: InstrumentId,
    /// The price of all its trades. If nothing can trade, there is no such event.
    pub price: Price,
    /// The quantity that can trade, or the largest that can be expressed if it is more. Self-trade
    /// prevention may cancel some of it.
    pub volume: Quantity,
    /// What could trade at the price and has no counterparty, bounded like the volume: positive for
    /// buys, negative for sells.
    pub surplus: Quantity,
}

/// A trade would have been outside a price range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupted {
    /// The instrument.
    pub instrument: InstrumentId,
    /// The price that is outside.
    pub price: Price,
    /// The lowest price of the range.
    pub low: Price,
    /// The highest price of the range.
    pub high: Price,
    /// Whether the call lasts until a command ends it.
    pub until_command: bool,
}

enumeration! {
    /// The kinds of events.
    pub enum EventKind {
        /// [`Event::Ticked`]
        Ticked = 0, "ticked";
        /// [`Event::Accepted`]
        Accepted = 1, "accepted";
        /// [`Event::Rested`]
        Rested = 2, "rested";
        /// [`Event::Trade`]
        Trade = 3, "trade";
        /// [`Event::Done`]
        Done = 4, "done";
        /// [`Event::Reduced`]
        Reduced = 5, "reduced";
        /// [`Event::Amended`]
        Amended = 6, "amended";
        /// [`Event::Rejected`]
        Rejected = 7, "rejected";
        /// [`Event::Repeated`]
        Repeated = 8, "repeated";
        /// [`Event::CancelProgress`]
        CancelProgress = 9, "cancel_progress";
        /// [`Event::DeadManSet`]
        DeadManSet = 10, "dead_man_set";
        /// [`Event::Deposited`]
        Deposited = 11, "deposited";
        /// [`Event::Withdrawn`]
        Withdrawn = 12, "withdrawn";
        /// [`Event::MemberCreated`]
        MemberCreated = 13, "member_created";
        /// [`Event::AccountCreated`]
        AccountCreated = 14, "account_created";
        /// [`Event::CurrencyCreated`]
        CurrencyCreated = 15, "currency_created";
        /// [`Event::InstrumentCreated`]
        InstrumentCreated = 16, "instrument_created";
        /// [`Event::RulesSet`]
        RulesSet = 17, "rules_set";
        /// [`Event::InstrumentStateSet`]
        InstrumentStateSet = 18, "instrument_state_set";
        /// [`Event::RulesVersionSet`]
        RulesVersionSet = 19, "rules_version_set";
        /// [`Event::WithdrawalHeld`]
        WithdrawalHeld = 20, "withdrawal_held";
        /// [`Event::WithdrawalSettled`]
        WithdrawalSettled = 21, "withdrawal_settled";
        /// [`Event::WithdrawalReleased`]
        WithdrawalReleased = 22, "withdrawal_released";
        /// [`Event::AuctionRulesSet`]
        AuctionRulesSet = 23, "auction_rules_set";
        /// [`Event::Uncrossed`]
        Uncrossed = 24, "uncrossed";
        /// [`Event::Interrupted`]
        Interrupted = 25, "interrupted";
        /// [`Event::Attributed`]
        Attributed = 26, "attributed";
        /// [`Event::Restricted`]
        Restricted = 27, "restricted";
        /// [`Event::TransitionPlanned`]
        TransitionPlanned = 28, "transition_planned";
        /// [`Event::PlanAdopted`]
        PlanAdopted = 29, "plan_adopted";
        /// [`Event::CalendarAssigned`]
        CalendarAssigned = 30, "calendar_assigned";
        /// [`Event::TransitionMoved`]
        TransitionMoved = 31, "transition_moved";
        /// [`Event::TransitionBegun`]
        TransitionBegun = 32, "transition_begun";
        /// [`Event::TradingHalted`]
        TradingHalted = 33, "trading_halted";
        /// [`Event::CircuitBreakerSet`]
        CircuitBreakerSet = 34, "circuit_breaker_set";
        /// [`Event::LimitStateSet`]
        LimitStateSet = 35, "limit_state_set";
        /// [`Event::ContractTermsSet`]
        ContractTermsSet = 36, "contract_terms_set";
        /// [`Event::TriggerSet`]
        TriggerSet = 37, "trigger_set";
        /// [`Event::Triggered`]
        Triggered = 38, "triggered";
        /// [`Event::TrailSet`]
        TrailSet = 39, "trail_set";
        /// [`Event::TrailActivated`]
        TrailActivated = 40, "trail_activated";
        /// [`Event::IcebergSet`]
        IcebergSet = 41, "iceberg_set";
        /// [`Event::IcebergRefreshed`]
        IcebergRefreshed = 42, "iceberg_refreshed";
        /// [`Event::ExitsSet`]
        ExitsSet = 43, "exits_set";
        /// [`Event::OrdersLinked`]
        OrdersLinked = 44, "orders_linked";
        /// [`Event::ExitsRefused`]
        ExitsRefused = 45, "exits_refused";
    }
}

impl Event {
    /// The kind of the event.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> EventKind {
        match self {
            Event::Ticked => EventKind::Ticked,
            Event::Accepted(_) => EventKind::Accepted,
            Event::Rested(_) => EventKind::Rested,
            Event::Trade(_) => EventKind::Trade,
            Event::Done(_) => EventKind::Done,
            Event::Reduced(_) => EventKind::Reduced,
            Event::Amended(_) => EventKind::Amended,
            Event::Rejected(_) => EventKind::Rejected,
            Event::Repeated { .. } => EventKind::Repeated,
            Event::CancelProgress { .. } => EventKind::CancelProgress,
            Event::DeadManSet { .. } => EventKind::DeadManSet,
            Event::Deposited { .. } => EventKind::Deposited,
            Event::Withdrawn { .. } => EventKind::Withdrawn,
            Event::MemberCreated { .. } => EventKind::MemberCreated,
            Event::AccountCreated { .. } => EventKind::AccountCreated,
            Event::CurrencyCreated(_) => EventKind::CurrencyCreated,
            Event::InstrumentCreated { .. } => EventKind::InstrumentCreated,
            Event::RulesSet { .. } => EventKind::RulesSet,
            Event::InstrumentStateSet { .. } => EventKind::InstrumentStateSet,
            Event::RulesVersionSet { .. } => EventKind::RulesVersionSet,
            Event::WithdrawalHeld { .. } => EventKind::WithdrawalHeld,
            Event::WithdrawalSettled { .. } => EventKind::WithdrawalSettled,
            Event::WithdrawalReleased { .. } => EventKind::WithdrawalReleased,
            Event::AuctionRulesSet { .. } => EventKind::AuctionRulesSet,
            Event::Uncrossed(_) => EventKind::Uncrossed,
            Event::Interrupted(_) => EventKind::Interrupted,
            Event::Attributed(_) => EventKind::Attributed,
            Event::Restricted(_) => EventKind::Restricted,
            Event::TransitionPlanned { .. } => EventKind::TransitionPlanned,
            Event::PlanAdopted { .. } => EventKind::PlanAdopted,
            Event::CalendarAssigned { .. } => EventKind::CalendarAssigned,
            Event::TransitionMoved { .. } => EventKind::TransitionMoved,
            Event::TransitionBegun { .. } => EventKind::TransitionBegun,
            Event::TradingHalted(_) => EventKind::TradingHalted,
            Event::CircuitBreakerSet(_) => EventKind::CircuitBreakerSet,
            Event::LimitStateSet { .. } => EventKind::LimitStateSet,
            Event::ContractTermsSet { .. } => EventKind::ContractTermsSet,
            Event::TriggerSet(_) => EventKind::TriggerSet,
            Event::Triggered(_) => EventKind::Triggered,
            Event::TrailSet(_) => EventKind::TrailSet,
            Event::TrailActivated(_) => EventKind::TrailActivated,
            Event::IcebergSet(_) => EventKind::IcebergSet,
            Event::IcebergRefreshed(_) => EventKind::IcebergRefreshed,
            Event::ExitsSet(_) => EventKind::ExitsSet,
            Event::OrdersLinked(_) => EventKind::OrdersLinked,
            Event::ExitsRefused(_) => EventKind::ExitsRefused,
        }
    }
}
