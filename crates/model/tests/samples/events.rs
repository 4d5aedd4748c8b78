//! An event of each kind.

use super::{
    ACCOUNT, CURRENCY, INSTRUMENT, MEMBER, ORDER, PRICE, Sample, WIDE, auction_rules,
    circuit_breaker, contract_terms, full, full_attribution, full_order, full_text, leg,
    order_with_minimum_quantity, plain_order, restrict, rules, scale, short, short_attribution,
    spec, text, trail, transition, trigger,
};
use rialto_model::{
    Accepted, AccountId, Amended, Amount, Attributed, ClientOrderId, CommandKind, Condition,
    Currency, CurrencyCode, Distance, Done, DoneReason, Event, ExitsRefused, ExitsSet, HaltCause,
    HaltScope, IcebergRefreshed, IcebergSet, InstrumentState, Interrupted, Name, OrderId,
    OrdersLinked, Price, Quantity, ReduceReason, Reduced, Reference, RejectReason, Rejected,
    Rested, RestrictionTarget, Side, Symbol, Timestamp, Trade, TradeId, TradingHalted,
    TrailActivated, TrailSet, TriggerKind, TriggerSet, Triggered, Uncrossed,
};

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

fn triggered(released: Amount) -> Triggered {
    let (order, account, instrument) = (ORDER, ACCOUNT, INSTRUMENT);
    let (side, price, remaining) = (Side::Sell, PRICE, Quantity(0x90));
    Triggered { order, account, instrument, side, price, remaining, released }
}
