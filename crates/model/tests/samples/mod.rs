//! One command and one event of every kind, in the shortest form and, where a kind has optional
//! parts, with all of them. The values are such that fields that change places are noticed.

mod commands;
mod events;

pub(crate) use commands::commands;
pub(crate) use events::events;

use rialto_model::{
    AccountId, Amount, Attribution, AuctionRules, AuditReason, CallDepth, CircuitBreakerRule,
    ClientOrderId, Command, Condition, ContractTerms, CurrencyId, Distance, Handling, InstrumentId,
    InstrumentKind, InstrumentSpec, InstrumentState, Leg, LotFees, MemberId, Name, NewOrder,
    OrderId, OrderKind, OrderSize, PlannedTransition, PostOnly, Price, Quantity, Restrict,
    Restriction, RestrictionTarget, Scale, SelfTrade, Side, Symbol, Text, TimeInForce, Timestamp,
    TradingRules, TrailTerms, Trigger, TriggerKind,
};

/// The time of all samples.
pub(crate) const TIME: Timestamp = Timestamp(0x1817_1615_1413_1211);

/// A command or event.
pub(crate) struct Sample<T> {
    /// What it is.
    pub(crate) value: T,
    /// Whether it has optional parts of its kind rather than none.
    pub(crate) full: bool,
}

fn short<T>(value: T) -> Sample<T> {
    Sample { value, full: false }
}

fn full<T>(value: T) -> Sample<T> {
    Sample { value, full: true }
}

const ACCOUNT: AccountId = AccountId(0xa1);
const INSTRUMENT: InstrumentId = InstrumentId(0xb2);
const MEMBER: MemberId = MemberId(0xc3);
const CURRENCY: CurrencyId = CurrencyId(0xd4);
const ORDER: OrderId = OrderId(0x0001_0000_0000_00e5);
const PRICE: Price = Price(6_412_350);
const WIDE: Amount = Amount((3 << 64) + 5);

fn text<const N: usize>(text: &str) -> Text<N> {
    text.parse().expect("the samples are short and printable")
}

/// A text that fills its field.
fn full_text<const N: usize>() -> Text<N> {
    let bytes: Vec<u8> = (0..N as u8).map(|at| b'A' + at % 26).collect();
    Text::new(&bytes).expect("letters are printable")
}

fn plain_order() -> NewOrder {
    NewOrder {
        account: ACCOUNT,
        instrument: INSTRUMENT,
        side: Side::Sell,
        kind: OrderKind::Limit,
        time_in_force: TimeInForce::Gtc,
        post_only: PostOnly::Slide,
        self_trade: None,
        handling: Handling::NONE,
        size: OrderSize::Base(Quantity(-2)),
        price: PRICE,
        minimum_quantity: Quantity::ZERO,
        expire_at: Timestamp::ZERO,
        client_order_id: ClientOrderId::EMPTY,
    }
}

fn full_order() -> NewOrder {
    NewOrder {
        side: Side::Buy,
        kind: OrderKind::Market,
        time_in_force: TimeInForce::Gtd,
        post_only: PostOnly::Reject,
        self_trade: Some(SelfTrade::Decrement),
        handling: Handling::NONE.with_cancel_on_disconnect(true),
        size: OrderSize::Quote(WIDE),
        expire_at: Timestamp(0x77),
        client_order_id: full_text(),
        ..plain_order()
    }
}

/// It came later than the other optional parts, and not with an amount.
fn order_with_minimum_quantity() -> NewOrder {
    NewOrder {
        size: OrderSize::Base(Quantity(0x66)),
        minimum_quantity: Quantity(0x55),
        ..full_order()
    }
}

fn rules(notional_min: Amount) -> TradingRules {
    TradingRules {
        tick: Price(1),
        lot: Quantity(2),
        quantity_max: Quantity(3),
        notional_min,
        collar_ppm: 5,
        reference_price: Price(6),
        market_protection_ppm: 7,
        maker_fee_ppm: -8,
        taker_fee_ppm: 9,
        self_trade: SelfTrade::CancelBoth,
        open_orders_max: 10,
        day_end_s: 11,
        risk: true,
    }
}

fn spec(symbol: Symbol, notional_min: Amount) -> InstrumentSpec {
    InstrumentSpec {
        symbol,
        kind: InstrumentKind::Spot,
        base: CurrencyId(0x21),
        quote: CurrencyId(0x22),
        price_scale: Scale::new(2).expect("2 is a scale"),
        quantity_scale: Scale::new(8).expect("8 is a scale"),
        rules: rules(notional_min),
    }
}

/// An attribution without a reason.
pub(crate) fn short_attribution() -> Attribution {
    Attribution { by: text("admin"), reason: AuditReason::EMPTY }
}

/// An attribution that fills its fields.
pub(crate) fn full_attribution() -> Attribution {
    let reason = "\u{e9}".repeat(AuditReason::BYTES_MAX / 2);
    Attribution { by: full_text(), reason: reason.parse().expect("the letters print") }
}

fn scale() -> Scale {
    Scale::new(18).expect("18 is a scale")
}

fn transition() -> PlannedTransition {
    PlannedTransition {
        at: Timestamp(0x82),
        state: InstrumentState::ClosingCall,
        earliest_end: Timestamp(0x84),
        random_end_ms: 0x85,
        next: InstrumentState::Closed,
        no_cancel_from: Timestamp(0x83),
        ends_session: true,
        ends_day: false,
    }
}

fn adopt(calendar: Name) -> Command {
    let (digest, seed) = (0x1112_1314_1516_1718, 0x2122_2324_2526_2728);
    Command::AdoptPlan { calendar, count: 0x88, digest, seed, replace: true }
}

fn auction_rules() -> AuctionRules {
    AuctionRules {
        fee_ppm: 0x71,
        self_trade: SelfTrade::CancelBoth,
        daily_range_ppm: 0x72,
        static_range_ppm: 0x73,
        dynamic_range_ppm: 0x74,
        auction_range_ppm: 0x75,
        extended_range_ppm: 0x76,
        call_ms: 0x77,
        random_end_ms: 0x78,
        call_depth: CallDepth::Hidden,
        limit_range_ppm: 0x79,
        limit_state_ms: 0x7a,
        halt_ms: 0x7b,
    }
}

fn contract_terms(notional_max: Amount) -> ContractTerms {
    let fees = LotFees { maker: Amount(-0x8e), taker: Amount(0x8f), auction: Amount(0x90) };
    ContractTerms { notional_max, lot_fees: Some(fees) }
}

fn circuit_breaker(calendar: Name) -> CircuitBreakerRule {
    CircuitBreakerRule { calendar, instrument: INSTRUMENT, range_ppm: 0x89, halt_ms: 0x8a }
}

fn restrict(target: RestrictionTarget) -> Restrict {
    Restrict { target, restriction: Restriction::Frozen, by_member: false, cancel: true }
}

fn leg(condition: Option<Condition>) -> Leg {
    Leg {
        condition,
        kind: OrderKind::Market,
        time_in_force: TimeInForce::Gtd,
        price: Price(0x96),
        expire_at: Timestamp(0x97),
    }
}

fn trigger(kind: TriggerKind) -> Trigger {
    Trigger { kind, price: Price(0x8e) }
}

fn trail(distance: Distance) -> TrailTerms {
    TrailTerms { distance, activation_price: Price(0x93) }
}
