//! A command of each kind.

use super::{
    ACCOUNT, CURRENCY, INSTRUMENT, MEMBER, ORDER, PRICE, Sample, WIDE, adopt, auction_rules,
    circuit_breaker, contract_terms, full, full_order, full_text, leg, order_with_minimum_quantity,
    plain_order, restrict, rules, scale, short, spec, text, trail, transition, trigger,
};
use rialto_model::{
    Amend, AmendTrigger, Amount, Command, Condition, ConditionalOrder, CurrencyCode, Deposit,
    Distance, HaltScope, IcebergOrder, InstrumentState, LinkKind, MassCancel, Name, NewOrder,
    OrderList, OrderRef, Price, Quantity, Reference, RestrictionTarget, Side, Symbol, Timestamp,
    TrailingOrder, Transfer, TriggerKind,
};

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
