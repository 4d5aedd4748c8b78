//! The attributes of an order.

use crate::enumeration;
use crate::{AccountId, Amount, ClientOrderId, InstrumentId, OrderId, Price, Quantity, Timestamp};
use serde::{Deserialize, Serialize};

enumeration! {
    /// Which side of the book an order is on.
    #[derive(PartialOrd, Ord)]
    pub enum Side {
        /// Buys base currency for quote currency.
        Buy = 0, "buy";
        /// Sells base currency for quote currency.
        Sell = 1, "sell";
    }
}

impl Side {
    /// The other side.
    #[must_use]
    #[inline]
    pub fn opposite(self) -> Side {
        match self {
            Side::Buy => Side::Sell,
            Side::Sell => Side::Buy,
        }
    }
}

enumeration! {
    /// How the limit of an order comes about.
    pub enum OrderKind {
        /// Trades at its price or better.
        Limit = 0, "limit";
        /// Trades at once with the other side of the book, up to its protection price; or takes part in
        /// an auction, up to its protection price. What is left ends, or since rules version 5 rests at
        /// the protection price, as its time in force says.
        Market = 1, "market";
        /// Trades at once at the best price of the other side, and at no other. What is left ends, or
        /// rests at that price. Since rules version 5.
        BestPrice = 2, "best_price";
        /// Trades at once at the best five prices of the other side. What is left ends, or since rules
        /// version 10 rests at the last price that it traded at. Since rules version 5.
        FiveLevels = 3, "five_levels";
    }
}

impl OrderKind {
    /// Whether the venue derives the order's limit from the other side of the book.
    #[must_use]
    #[inline]
    pub fn takes_levels(self) -> bool {
        matches!(self, OrderKind::BestPrice | OrderKind::FiveLevels)
    }

    /// The time in force of an order that names none.
    #[must_use]
    pub fn usual_time_in_force(self) -> TimeInForce {
        if self == OrderKind::Limit { TimeInForce::Gtc } else { TimeInForce::Ioc }
    }

    /// The first version of the rules that knows it.
    #[must_use]
    #[inline]
    pub fn rules_version_min(self) -> u32 {
        if self.takes_levels() { 5 } else { 1 }
    }
}

enumeration! {
    /// How long an order stands.
    pub enum TimeInForce {
        /// Good till cancelled.
        Gtc = 0, "gtc";
        /// Immediate or cancel: the part that does not trade at once is cancelled.
        Ioc = 1, "ioc";
        /// Fill or kill: trades in full at once or not at all.
        Fok = 2, "fok";
        /// Stands until the trading day of the instrument's calendar ends, or without a calendar until
        /// the instrument's next end of day.
        Day = 3, "day";
        /// Good till date: stands until the order's expiry time.
        Gtd = 4, "gtd";
        /// For the next auction; accepted in `pre_open` and in a call. Since rules version 4.
        AtOpen = 5, "at_open";
        /// For the next auction; accepted in a closing call. Since rules version 4.
        AtClose = 6, "at_close";
        /// Good for auction: for the auction whose orders are being collected. Since rules version 4.
        Gfa = 7, "gfa";
        /// Good for session: stands until the session of the instrument's calendar ends. Since rules
        /// version 4.
        Gfs = 8, "gfs";
    }
}

impl TimeInForce {
    /// Whether an order trades at once or ends.
    #[must_use]
    #[inline]
    pub fn trades_at_once(self) -> bool {
        matches!(self, TimeInForce::Ioc | TimeInForce::Fok)
    }

    /// Whether an order takes part in an auction only, and ends with it.
    #[must_use]
    #[inline]
    pub fn is_for_auction(self) -> bool {
        matches!(self, TimeInForce::AtOpen | TimeInForce::AtClose | TimeInForce::Gfa)
    }

    /// Whether the venue decides when such an order expires.
    #[must_use]
    #[inline]
    pub fn ends_by_timetable(self) -> bool {
        matches!(self, TimeInForce::Day | TimeInForce::Gfs)
    }

    /// Whether what is left of an order may rest in continuous trading.
    #[must_use]
    #[inline]
    pub fn rests_in_trading(self) -> bool {
        !self.trades_at_once() && !self.is_for_auction()
    }

    /// The first version of the rules that knows it.
    #[must_use]
    #[inline]
    pub fn rules_version_min(self) -> u32 {
        if self.number() > TimeInForce::Gtd.number() { 4 } else { 1 }
    }
}

enumeration! {
    /// Whether an order may take liquidity.
    #[derive(Default)]
    pub enum PostOnly {
        /// It may.
        #[default]
        Off = 0, "off";
        /// It may not: an order that would trade is rejected.
        Reject = 1, "reject";
        /// It may not: an order that would trade is moved to one tick short of the opposite best price.
        Slide = 2, "slide";
    }
}

enumeration! {
    /// What happens when an order would trade with an order of the same member.
    ///
    /// The mode of the incoming order decides; where it names none, the instrument's default does.
    #[derive(Default)]
    pub enum SelfTrade {
        /// They trade.
        Allow = 0, "allow";
        /// The rest of the incoming order is cancelled.
        #[default]
        CancelNewest = 1, "cancel_newest";
        /// The resting order is cancelled and matching continues.
        CancelOldest = 2, "cancel_oldest";
        /// Both are cancelled.
        CancelBoth = 3, "cancel_both";
        /// Both are reduced by the smaller remaining quantity without a trade; an order with
        /// nothing left is cancelled.
        Decrement = 4, "decrement";
    }
}

/// How much an order is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderSize {
    /// A quantity of base currency.
    Base(Quantity),
    /// An amount of quote currency; market orders only. A buy spends at most this much, fee
    /// included; a sell trades for at most this much before its fee.
    Quote(Amount),
}

enumeration! {
    /// In which capacity a member enters an order: FIX tag 528.
    pub enum Capacity {
        /// For the member's own account.
        Principal = 0, "principal";
        /// For a client of the member.
        Agency = 1, "agency";
        /// For a client, against whom the member trades once it has traded here.
        RisklessPrincipal = 2, "riskless_principal";
    }
}

/// How an order is handled beside matching: attributes that no decision of the book depends on.
///
/// Journal, event log, snapshots and views carry them as one value, so that another attribute is
/// named here and where users meet it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handling {
    /// Whether the order is cancelled when the account's connection is lost.
    pub cancel_on_disconnect: bool,
    /// In which capacity the member enters it, if it says so. Since rules version 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
}

impl Handling {
    /// None of the attributes is given.
    pub const NONE: Handling = Handling { cancel_on_disconnect: false, capacity: None };

    /// The same, with [`Self::cancel_on_disconnect`] set or not.
    #[must_use]
    pub const fn with_cancel_on_disconnect(mut self, is_cancelled: bool) -> Handling {
        self.cancel_on_disconnect = is_cancelled;
        self
    }

    /// The same, with [`Self::capacity`] set or not.
    #[must_use]
    pub const fn with_capacity(mut self, capacity: Option<Capacity>) -> Handling {
        self.capacity = capacity;
        self
    }

    /// The first version of the rules that knows all these attributes; versions before it refuse
    /// the order.
    #[must_use]
    #[inline]
    pub fn rules_version_min(self) -> u32 {
        if self.capacity.is_some() { 3 } else { 1 }
    }

    /// The attributes in one byte, as files hold them: bit 0 is [`Self::cancel_on_disconnect`],
    /// bits 1 and 2 are the number of [`Self::capacity`] plus one, or zero.
    #[must_use]
    #[inline]
    pub fn bits(self) -> u8 {
        let capacity = self.capacity.map_or(0, |capacity| capacity.number() + 1);
        u8::from(self.cancel_on_disconnect) | capacity << 1
    }

    /// The attributes of a byte; `None` if it has bits that mean nothing.
    #[must_use]
    #[inline]
    pub fn from_bits(bits: u8) -> Option<Handling> {
        let capacity = (bits >> 1 & 3).checked_sub(1).and_then(Capacity::from_number);
        let handling = Handling { cancel_on_disconnect: bits & 1 != 0, capacity };
        (handling.bits() == bits).then_some(handling)
    }
}

/// An order as a member enters it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewOrder {
    /// The account that trades.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// How its limit comes about.
    pub kind: OrderKind,
    /// How long it stands.
    pub time_in_force: TimeInForce,
    /// Whether it may take liquidity; limit orders that can rest only.
    pub post_only: PostOnly,
    /// Self-trade prevention, or `None` for the instrument's default.
    pub self_trade: Option<SelfTrade>,
    /// How it is handled beside matching.
    #[serde(flatten)]
    pub handling: Handling,
    /// How much.
    pub size: OrderSize,
    /// The limit; for a market order the protection price, or zero for the instrument's protection; zero
    /// for the best price and for five levels.
    pub price: Price,
    /// The minimum quantity that must trade at once, or zero. Since rules version 5.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub minimum_quantity: Quantity,
    /// When a good-till-date order expires; zero for all others.
    pub expire_at: Timestamp,
    /// The member's own name for the order, or empty.
    pub client_order_id: ClientOrderId,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(quantity: &Quantity) -> bool {
    *quantity == Quantity::ZERO
}

impl NewOrder {
    /// The first version of the rules that knows all its attributes; versions before it refuse it.
    #[must_use]
    #[inline]
    pub fn rules_version_min(&self) -> u32 {
        let by_time = self.time_in_force.rules_version_min();
        let by_size = if self.minimum_quantity == Quantity::ZERO { 1 } else { 5 };
        self.handling
            .rules_version_min()
            .max(by_time)
            .max(by_size)
            .max(self.kind.rules_version_min())
    }

    /// The terms that count after its entry: what may rest in continuous trading is a limit order, and no
    /// minimum quantity binds it.
    #[must_use]
    #[inline]
    pub fn after_entry(self) -> NewOrder {
        let time_in_force = self.time_in_force;
        let kind = if time_in_force.rests_in_trading() { OrderKind::Limit } else { self.kind };
        NewOrder { kind, minimum_quantity: Quantity::ZERO, ..self }
    }

    /// A good-till-cancelled limit order with default attributes.
    #[must_use]
    #[inline]
    pub fn limit(
        account: AccountId,
        instrument: InstrumentId,
        side: Side,
        quantity: Quantity,
        price: Price,
    ) -> NewOrder {
        NewOrder {
            account,
            instrument,
            side,
            kind: OrderKind::Limit,
            time_in_force: TimeInForce::Gtc,
            post_only: PostOnly::Off,
            self_trade: None,
            handling: Handling::NONE,
            size: OrderSize::Base(quantity),
            price,
            minimum_quantity: Quantity::ZERO,
            expire_at: Timestamp::ZERO,
            client_order_id: ClientOrderId::EMPTY,
        }
    }
}

/// The reference to an order of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderRef {
    /// By the venue's id.
    Id(OrderId),
    /// By the member's own name for it.
    Client(ClientOrderId),
}

enumeration! {
    /// The status of an order.
    pub enum OrderStatus {
        /// On the book, nothing traded.
        Open = 0, "open";
        /// On the book, partly traded.
        PartiallyFilled = 1, "partially_filled";
        /// Traded in full.
        Filled = 2, "filled";
        /// Ended before it traded in full.
        Cancelled = 3, "cancelled";
        /// Ended at its expiry time.
        Expired = 4, "expired";
        /// Never accepted.
        Rejected = 5, "rejected";
        /// Waits for its trigger.
        Waiting = 6, "waiting";
    }
}

impl OrderStatus {
    /// Whether the order has not ended: it stands on the book, or waits for its trigger.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, OrderStatus::Open | OrderStatus::PartiallyFilled | OrderStatus::Waiting)
    }
}

enumeration! {
    /// Which side of a trade an order was on.
    pub enum Role {
        /// It rested on the book.
        Maker = 0, "maker";
        /// It came in.
        Taker = 1, "taker";
        /// It rested, and so did the other one: they traded in an auction.
        Auction = 2, "auction";
    }
}
