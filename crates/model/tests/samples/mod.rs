//! One command and one event of every kind, in the shortest form and, where a kind has optional
//! parts, with all of them. The values are such that fields that change places are noticed.

use rialto_model::{
    Accepted, AccountId, Amend, AmendTrigger, Amended, Amount, Attributed, Attribution,
    AuctionRules, AuditReason, CallDepth, CircuitBreakerRule, ClientOrderId, Command, CommandKind,
    Condition, ConditionalOrder, ContractTerms, Currency, CurrencyCode, CurrencyId, Deposit,
    Distance, Done, DoneReason, Event, ExitsRefused, ExitsSet, HaltCause, HaltScope, Handling,
    IcebergOrder, IcebergRefreshed, IcebergSet, InstrumentId, InstrumentKind, InstrumentSpec,
    InstrumentState, Interrupted, Leg, LinkKind, LotFees, MassCancel, MemberId, Name, NewOrder,
    OrderId, OrderKind, OrderList, OrderRef, OrderSize, OrdersLinked, PlannedTransition, PostOnly,
    Price, Quantity, ReduceReason, Reduced, Reference, RejectReason, Rejected, Rested, Restrict,
    Restriction, RestrictionTarget, Scale, SelfTrade, Side, Symbol, Text, TimeInForce, Timestamp,
    Trade, TradeId, TradingHalted, TradingRules, TrailActivated, TrailSet, TrailTerms,
    TrailingOrder, Transfer, Trigger, TriggerKind, TriggerSet, Triggered, Uncrossed,
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

/// Commands of every kind.
pub(crate) fn commands() -> Vec<Sample<Command>> {
    let by_id = OrderRef::Id(ORDER);
    let by_name = OrderRef::Client(full_text());
    let transfer = |amount, reference: Reference| Transfer {
        account: ACCOUNT,
        currency: CURRENCY,
        amount,
        reference,
    };
    vec![
        short(Command::Tick),
        short(Command::Place(plain_order())),
        full(Command::Place(full_order())),
        full(Command::Place(order_with_minimum_quantity())),
        short(Command::Cancel { account: ACCOUNT, order: by_id }),
        full(Command::Cancel { account: ACCOUNT, order: by_name }),
        short(Command::Amend(Amend {
            account: ACCOUNT,
            order: by_id,
            price: None,
            quantity: None,
        })),
        full(Command::Amend(Amend {
            account: ACCOUNT,
            order: by_name,
            price: Some(PRICE),
            quantity: Some(Quantity(-3)),
        })),
        short(Command::MassCancel(MassCancel { account: ACCOUNT, instrument: None, side: None })),
        full(Command::MassCancel(MassCancel {
            account: ACCOUNT,
            instrument: Some(INSTRUMENT),
            side: Some(Side::Sell),
        })),
        short(Command::Disconnect { account: ACCOUNT }),
        short(Command::SetDeadMan { account: ACCOUNT, timeout_ns: 60_000_000_000 }),
        short(Command::deposit(transfer(Amount(-4), Reference::EMPTY))),
        full(Command::deposit(transfer(WIDE, full_text()))),
        full(Command::Deposit(Deposit {
            transfer: transfer(WIDE, full_text()),
            time: Timestamp(0x79),
        })),
        short(Command::Withdraw(transfer(Amount(4), Reference::EMPTY))),
        full(Command::Withdraw(transfer(Amount(i128::MIN), text("wire-7")))),
        short(Command::CreateMember { member: MEMBER, name: Name::EMPTY }),
        full(Command::CreateMember { member: MEMBER, name: full_text() }),
        short(Command::CreateAccount { account: ACCOUNT, member: MEMBER, name: Name::EMPTY }),
        full(Command::CreateAccount { account: ACCOUNT, member: MEMBER, name: full_text() }),
        short(Command::CreateCurrency { code: CurrencyCode::EMPTY, scale: scale() }),
        full(Command::CreateCurrency { code: full_text(), scale: scale() }),
        short(Command::CreateInstrument(spec(Symbol::EMPTY, Amount(4)))),
        full(Command::CreateInstrument(spec(full_text(), WIDE))),
        short(Command::SetRules { instrument: INSTRUMENT, rules: rules(Amount(4)) }),
        full(Command::SetRules { instrument: INSTRUMENT, rules: rules(WIDE) }),
        short(Command::SetInstrumentState {
            instrument: INSTRUMENT,
            state: InstrumentState::Withdrawn,
        }),
        short(Command::SetRulesVersion { version: 0x31 }),
        short(Command::HoldWithdrawal(transfer(Amount(4), Reference::EMPTY))),
        full(Command::HoldWithdrawal(transfer(WIDE, full_text()))),
        short(Command::SettleWithdrawal { account: ACCOUNT, reference: Reference::EMPTY }),
        full(Command::SettleWithdrawal { account: ACCOUNT, reference: full_text() }),
        short(Command::ReleaseWithdrawal { account: ACCOUNT, reference: Reference::EMPTY }),
        full(Command::ReleaseWithdrawal { account: ACCOUNT, reference: full_text() }),
        short(Command::SetAuctionRules {
            instrument: INSTRUMENT,
            rules: auction_rules(),
            seed: 0x0102_0304_0506_0708,
        }),
        short(Command::Restrict(restrict(RestrictionTarget::Instrument(INSTRUMENT)))),
        short(Command::PlanTransition {
            calendar: Name::EMPTY,
            number: 0x81,
            transition: transition(),
        }),
        full(Command::PlanTransition {
            calendar: full_text(),
            number: 0x81,
            transition: transition(),
        }),
        short(adopt(Name::EMPTY)),
        full(adopt(full_text())),
        short(Command::AssignCalendar { instrument: INSTRUMENT, calendar: Name::EMPTY }),
        full(Command::AssignCalendar { instrument: INSTRUMENT, calendar: full_text() }),
        short(Command::MoveTransition {
            calendar: Name::EMPTY,
            at: Timestamp(0x86),
            to: Timestamp(0x87),
        }),
        full(Command::MoveTransition {
            calendar: full_text(),
            at: Timestamp(0x86),
            to: Timestamp(0x87),
        }),
        short(Command::HaltTrading { scope: HaltScope::Instrument(INSTRUMENT), duration_ms: 0x8b }),
        full(Command::HaltTrading { scope: HaltScope::Calendar(full_text()), duration_ms: 0x8b }),
        short(Command::SetCircuitBreaker(circuit_breaker(Name::EMPTY))),
        full(Command::SetCircuitBreaker(circuit_breaker(full_text()))),
        short(Command::SetContractTerms {
            instrument: INSTRUMENT,
            terms: contract_terms(Amount(0x8d)),
        }),
        full(Command::SetContractTerms { instrument: INSTRUMENT, terms: contract_terms(WIDE) }),
        short(Command::PlaceConditional(ConditionalOrder {
            terms: plain_order(),
            trigger: trigger(TriggerKind::Stop),
            immediate: false,
        })),
        full(Command::PlaceConditional(ConditionalOrder {
            terms: full_order(),
            trigger: trigger(TriggerKind::TakeProfit),
            immediate: true,
        })),
        full(Command::PlaceConditional(ConditionalOrder {
            terms: order_with_minimum_quantity(),
            trigger: trigger(TriggerKind::TakeProfit),
            immediate: false,
        })),
        short(Command::PlaceTrailing(TrailingOrder {
            terms: plain_order(),
            trail: trail(Distance::Price(Price(0x91))),
        })),
        full(Command::PlaceTrailing(TrailingOrder {
            terms: full_order(),
            trail: trail(Distance::Ppm(0x92)),
        })),
        full(Command::PlaceTrailing(TrailingOrder {
            terms: order_with_minimum_quantity(),
            trail: trail(Distance::Price(Price(0x91))),
        })),
        short(Command::PlaceIceberg(IcebergOrder {
            terms: plain_order(),
            display_quantity: Quantity(0x94),
        })),
        full(Command::PlaceIceberg(IcebergOrder {
            terms: full_order(),
            display_quantity: Quantity(0x94),
        })),
        full(Command::PlaceIceberg(IcebergOrder {
            terms: order_with_minimum_quantity(),
            display_quantity: Quantity(0x94),
        })),
        short(Command::PlaceList(OrderList {
            terms: plain_order(),
            condition: None,
            kind: LinkKind::Oto,
            take_profit: None,
            stop_loss: None,
        })),
        full(Command::PlaceList(OrderList {
            terms: NewOrder { minimum_quantity: Quantity(0x55), ..full_order() },
            condition: Some(Condition::Trail(trail(Distance::Ppm(0x92)))),
            kind: LinkKind::Oco,
            take_profit: Some(leg(Some(Condition::Trigger(trigger(TriggerKind::TakeProfit))))),
            stop_loss: Some(leg(Some(Condition::Trail(trail(Distance::Price(Price(0x91))))))),
        })),
        full(Command::PlaceList(OrderList {
            terms: order_with_minimum_quantity(),
            condition: Some(Condition::Trigger(trigger(TriggerKind::Stop))),
            kind: LinkKind::Oco,
            take_profit: Some(leg(None)),
            stop_loss: Some(leg(None)),
        })),
        short(Command::AmendTrigger(AmendTrigger {
            amend: Amend { account: ACCOUNT, order: by_id, price: None, quantity: None },
            trigger_price: Price(0x8e),
        })),
        full(Command::AmendTrigger(AmendTrigger {
            amend: Amend {
                account: ACCOUNT,
                order: by_name,
                price: Some(PRICE),
                quantity: Some(Quantity(-3)),
            },
            trigger_price: Price(0x8e),
        })),
    ]
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

/// Events of every kind.
pub(crate) fn events() -> Vec<Sample<Event>> {
    let accepted =
        |terms, reserved, rests| Event::Accepted(Accepted { order: ORDER, terms, reserved, rests });
    let planned =
        |calendar| Event::TransitionPlanned { calendar, number: 0x81, transition: transition() };
    let adopted = |calendar| Event::PlanAdopted {
        calendar,
        count: 0x88,
        digest: 0x1112_1314_1516_1718,
        replace: true,
    };
    let transition_moved = |calendar| {
        let (at, to) = (Timestamp(0x86), Timestamp(0x87));
        Event::TransitionMoved { calendar, at, to }
    };
    let begun = |calendar| {
        let state = InstrumentState::ClosingCall;
        Event::TransitionBegun { calendar, at: Timestamp(0x86), state }
    };
    let halted = |scope| {
        let (until, cause) = (Timestamp(0x8d), HaltCause::LimitState);
        Event::TradingHalted(TradingHalted { scope, until, cause })
    };
    let trade = |notional, maker_fee| {
        Event::Trade(Trade {
            trade: TradeId(0x0001_0000_0000_0041),
            instrument: INSTRUMENT,
            taker_side: Side::Sell,
            auction: false,
            price: PRICE,
            quantity: Quantity(0x42),
            maker_order: OrderId(0x43),
            taker_order: OrderId(0x44),
            maker_account: AccountId(0x45),
            taker_account: AccountId(0x46),
            maker_remaining: Quantity(0x47),
            taker_remaining: Quantity(0x48),
            notional,
            maker_fee,
            taker_fee: Amount(0x49),
            buyer_unreserved: Amount(0x4a),
        })
    };
    let done = |released| {
        Event::Done(Done {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            reason: DoneReason::QuoteSpent,
            price: PRICE,
            remaining: Quantity(0x51),
            released,
        })
    };
    let reduced = |released| {
        Event::Reduced(Reduced {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            reason: ReduceReason::SelfTrade,
            price: PRICE,
            by: Quantity(0x52),
            remaining: Quantity(0x53),
            released,
        })
    };
    let amended = |reserved| {
        Event::Amended(Amended {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            old_price: Price(0x54),
            old_remaining: Quantity(0x55),
            price: PRICE,
            quantity: Quantity(0x56),
            remaining: Quantity(0x57),
            old_reserved: Amount(-0x58),
            reserved,
        })
    };
    let rejected = |client_order_id| {
        Event::Rejected(Rejected {
            command: CommandKind::Cancel,
            reason: RejectReason::TimerInvalid,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            order: ORDER,
            client_order_id,
        })
    };
    let repeated = |name, reject| Event::Repeated { account: ACCOUNT, name, order: ORDER, reject };
    let deposited = |amount, reference| Event::Deposited {
        account: ACCOUNT,
        currency: CURRENCY,
        amount,
        reference,
    };
    let withdrawn = |amount, reference| Event::Withdrawn {
        account: ACCOUNT,
        currency: CURRENCY,
        amount,
        reference,
    };
    let held = |amount, reference| Event::WithdrawalHeld {
        account: ACCOUNT,
        currency: CURRENCY,
        amount,
        reference,
    };
    let settled = |amount, reference| Event::WithdrawalSettled {
        account: ACCOUNT,
        currency: CURRENCY,
        amount,
        reference,
    };
    let released = |amount, reference| Event::WithdrawalReleased {
        account: ACCOUNT,
        currency: CURRENCY,
        amount,
        reference,
    };
    let attributed =
        |attribution| Event::Attributed(Attributed { command: CommandKind::SetRules, attribution });
    let currency = |code| Event::CurrencyCreated(Currency { id: CURRENCY, code, scale: scale() });
    vec![
        short(Event::Ticked),
        short(accepted(plain_order(), Amount(-0x32), false)),
        full(accepted(full_order(), Amount(0x32), true)),
        full(accepted(order_with_minimum_quantity(), Amount(0x32), true)),
        short(Event::Rested(Rested {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            price: PRICE,
            remaining: Quantity(0x33),
        })),
        short(trade(Amount(0x40), Amount(-0x39))),
        full(trade(WIDE, Amount(-0x39))),
        short(done(Amount(0x34))),
        full(done(WIDE)),
        short(reduced(Amount(0x35))),
        full(reduced(WIDE)),
        short(amended(Amount(0x36))),
        full(amended(WIDE)),
        short(rejected(ClientOrderId::EMPTY)),
        full(rejected(full_text())),
        short(repeated(ClientOrderId::EMPTY, None)),
        full(repeated(full_text(), Some(RejectReason::UnknownInstrument))),
        short(Event::CancelProgress {
            account: ACCOUNT,
            instrument: INSTRUMENT,
            cancelled: 0x37,
            pending: true,
        }),
        short(Event::DeadManSet { account: ACCOUNT, due: Timestamp::MAX }),
        short(deposited(Amount(-4), Reference::EMPTY)),
        full(deposited(WIDE, full_text())),
        short(withdrawn(Amount(4), Reference::EMPTY)),
        full(withdrawn(Amount(i128::MIN), text("wire-7"))),
        short(Event::MemberCreated { member: MEMBER, name: Name::EMPTY }),
        full(Event::MemberCreated { member: MEMBER, name: full_text() }),
        short(Event::AccountCreated { account: ACCOUNT, member: MEMBER, name: Name::EMPTY }),
        full(Event::AccountCreated { account: ACCOUNT, member: MEMBER, name: full_text() }),
        short(currency(CurrencyCode::EMPTY)),
        full(currency(full_text())),
        short(Event::InstrumentCreated {
            instrument: INSTRUMENT,
            spec: spec(Symbol::EMPTY, Amount(4)),
        }),
        full(Event::InstrumentCreated { instrument: INSTRUMENT, spec: spec(full_text(), WIDE) }),
        short(Event::RulesSet { instrument: INSTRUMENT, rules: rules(Amount(4)) }),
        full(Event::RulesSet { instrument: INSTRUMENT, rules: rules(WIDE) }),
        short(Event::InstrumentStateSet {
            instrument: INSTRUMENT,
            state: InstrumentState::Withdrawn,
        }),
        short(Event::RulesVersionSet { version: 0x31 }),
        short(held(Amount(4), Reference::EMPTY)),
        full(held(WIDE, full_text())),
        short(settled(Amount(4), Reference::EMPTY)),
        full(settled(WIDE, full_text())),
        short(released(Amount(4), Reference::EMPTY)),
        full(released(WIDE, full_text())),
        short(Event::AuctionRulesSet { instrument: INSTRUMENT, rules: auction_rules() }),
        short(Event::Uncrossed(Uncrossed {
            instrument: INSTRUMENT,
            price: PRICE,
            volume: Quantity(0x7a),
            surplus: Quantity(-0x7b),
        })),
        short(Event::Interrupted(Interrupted {
            instrument: INSTRUMENT,
            price: PRICE,
            low: Price(0x7c),
            high: Price(0x7d),
            until_command: true,
        })),
        short(attributed(short_attribution())),
        full(attributed(full_attribution())),
        short(Event::Restricted(restrict(RestrictionTarget::Member(MEMBER)))),
        short(planned(Name::EMPTY)),
        full(planned(full_text())),
        short(adopted(Name::EMPTY)),
        full(adopted(full_text())),
        short(Event::CalendarAssigned { instrument: INSTRUMENT, calendar: Name::EMPTY }),
        full(Event::CalendarAssigned { instrument: INSTRUMENT, calendar: full_text() }),
        short(transition_moved(Name::EMPTY)),
        full(transition_moved(full_text())),
        short(begun(Name::EMPTY)),
        full(begun(full_text())),
        short(halted(HaltScope::Instrument(INSTRUMENT))),
        full(halted(HaltScope::Calendar(full_text()))),
        short(Event::CircuitBreakerSet(circuit_breaker(Name::EMPTY))),
        full(Event::CircuitBreakerSet(circuit_breaker(full_text()))),
        short(Event::ContractTermsSet {
            instrument: INSTRUMENT,
            terms: contract_terms(Amount(0x8d)),
        }),
        full(Event::ContractTermsSet { instrument: INSTRUMENT, terms: contract_terms(WIDE) }),
        short(Event::LimitStateSet {
            instrument: INSTRUMENT,
            side: Side::Sell,
            price: PRICE,
            until: Timestamp(0x8c),
        }),
        short(Event::TriggerSet(TriggerSet {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            trigger: trigger(TriggerKind::TakeProfit),
        })),
        short(Event::Triggered(triggered(Amount(0x8f)))),
        full(Event::Triggered(triggered(WIDE))),
        short(Event::TrailSet(TrailSet {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            trail: trail(Distance::Ppm(0x92)),
        })),
        short(Event::TrailActivated(TrailActivated {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            extreme: PRICE,
        })),
        short(Event::IcebergSet(IcebergSet {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            display_quantity: Quantity(0x94),
        })),
        short(Event::IcebergRefreshed(IcebergRefreshed {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            price: PRICE,
            displayed: Quantity(0x95),
        })),
        short(Event::ExitsSet(ExitsSet {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            take_profit: None,
            stop_loss: None,
        })),
        full(Event::ExitsSet(ExitsSet {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Buy,
            take_profit: None,
            stop_loss: Some(leg(None)),
        })),
        full(Event::ExitsSet(ExitsSet {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            take_profit: Some(leg(Some(Condition::Trigger(trigger(TriggerKind::TakeProfit))))),
            stop_loss: Some(leg(Some(Condition::Trail(trail(Distance::Ppm(0x92)))))),
        })),
        short(Event::OrdersLinked(OrdersLinked {
            list: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            side: Side::Sell,
            take_profit: OrderId(0x98),
            stop_loss: OrderId(0x99),
        })),
        short(Event::ExitsRefused(ExitsRefused {
            order: ORDER,
            account: ACCOUNT,
            instrument: INSTRUMENT,
            reason: RejectReason::InsufficientBalance,
        })),
    ]
}

fn trail(distance: Distance) -> TrailTerms {
    TrailTerms { distance, activation_price: Price(0x93) }
}

fn triggered(released: Amount) -> Triggered {
    let (order, account, instrument) = (ORDER, ACCOUNT, INSTRUMENT);
    let (side, price, remaining) = (Side::Sell, PRICE, Quantity(0x90));
    Triggered { order, account, instrument, side, price, remaining, released }
}
