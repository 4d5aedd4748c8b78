//! Commands that a venue may accept: attributes that go together, numbers in range, few accounts,
//! instruments and prices, so that orders meet and names repeat.

use super::wild::handling;
use crate::{
    AccountId, Amend, AmendTrigger, Amount, AuctionRules, CallDepth, CircuitBreakerRule,
    ClientOrderId, Command, Condition, ConditionalOrder, ContractTerms, CurrencyId, Distance,
    EngineId, HaltScope, IcebergOrder, InstrumentId, InstrumentKind, InstrumentSpec,
    InstrumentState, Leg, LinkKind, LotFees, MassCancel, MemberId, NewOrder, OrderId, OrderKind,
    OrderList, OrderRef, OrderSize, PlannedTransition, PostOnly, Price, Quantity, Reference,
    Restrict, Restriction, RestrictionTarget, Scale, SelfTrade, Side, Text, TimeInForce, Timestamp,
    TradingRules, TrailTerms, TrailingOrder, Transfer, Trigger, TriggerKind,
};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

/// The ranges of the commands. All ids count from 1.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Member accounts.
    pub accounts: u32,
    /// Instruments.
    pub instruments: u32,
    /// Currencies.
    pub currencies: u16,
    /// Orders of engine 0 that cancels and amendments may name.
    pub orders: u64,
    /// Prices are from 1 to this.
    pub price_max: i64,
    /// Quantities are from 1 to this.
    pub quantity_max: i64,
    /// Commands are given times before this; good-till-date orders expire before twice this.
    pub time_max: Timestamp,
}

impl Default for Bounds {
    /// A few of each.
    fn default() -> Self {
        Bounds {
            accounts: 6,
            instruments: 2,
            currencies: 3,
            orders: 64,
            price_max: 20,
            quantity_max: 50,
            time_max: Timestamp(Timestamp::DAY * 3),
        }
    }
}

fn name<const N: usize>(prefix: &'static str, count: u32) -> impl Strategy<Value = Text<N>> {
    (1..=count).prop_map(move |number| {
        format!("{prefix}{number}").parse().expect("a letter and a small number are short")
    })
}

fn account(bounds: Bounds) -> impl Strategy<Value = AccountId> {
    (1..=bounds.accounts).prop_map(AccountId)
}

fn instrument(bounds: Bounds) -> impl Strategy<Value = InstrumentId> {
    (1..=bounds.instruments).prop_map(InstrumentId)
}

fn price(bounds: Bounds) -> impl Strategy<Value = Price> {
    (1..=bounds.price_max).prop_map(Price)
}

fn quantity(bounds: Bounds) -> impl Strategy<Value = Quantity> {
    (1..=bounds.quantity_max).prop_map(Quantity)
}

fn client_order_id() -> impl Strategy<Value = ClientOrderId> {
    prop_oneof![3 => Just(ClientOrderId::EMPTY), 1 => name("c", 40)]
}

fn order_ref(bounds: Bounds) -> impl Strategy<Value = OrderRef> {
    prop_oneof![
        3 => (1..=bounds.orders)
            .prop_map(|counter| OrderRef::Id(OrderId::from_parts(EngineId(0), counter))),
        1 => name("c", 40).prop_map(OrderRef::Client),
    ]
}

/// A limit order, whose attributes go together.
pub fn limit_order(bounds: Bounds) -> impl Strategy<Value = NewOrder> {
    let life = prop_oneof![
        6 => Just((TimeInForce::Gtc, Timestamp::ZERO)),
        1 => select(vec![TimeInForce::Day, TimeInForce::Gfs])
            .prop_map(|time_in_force| (time_in_force, Timestamp::ZERO)),
        1 => Just((TimeInForce::Ioc, Timestamp::ZERO)),
        1 => Just((TimeInForce::Fok, Timestamp::ZERO)),
        1 => select(vec![TimeInForce::AtOpen, TimeInForce::AtClose, TimeInForce::Gfa])
            .prop_map(|time_in_force| (time_in_force, Timestamp::ZERO)),
        1 => (1..bounds.time_max.0.saturating_mul(2))
            .prop_map(|at| (TimeInForce::Gtd, Timestamp(at))),
    ];
    let attributes = (select(PostOnly::ALL), of(select(SelfTrade::ALL)), handling());
    let names = (account(bounds), instrument(bounds), client_order_id());
    (names, select(Side::ALL), life, attributes, quantity(bounds), price(bounds)).prop_map(
        |(names, side, (time_in_force, expire_at), attributes, quantity, price)| {
            let (account, instrument, client_order_id) = names;
            let (post_only, self_trade, handling) = attributes;
            let takes_only = matches!(time_in_force, TimeInForce::Ioc | TimeInForce::Fok)
                || time_in_force.is_for_auction();
            NewOrder {
                account,
                instrument,
                side,
                kind: OrderKind::Limit,
                time_in_force,
                post_only: if takes_only { PostOnly::Off } else { post_only },
                self_trade,
                handling,
                size: OrderSize::Base(quantity),
                price,
                minimum_quantity: Quantity::ZERO,
                expire_at,
                client_order_id,
            }
        },
    )
}

/// A market order, whose attributes go together.
pub fn market_order(bounds: Bounds) -> impl Strategy<Value = NewOrder> {
    let size = prop_oneof![
        quantity(bounds).prop_map(OrderSize::Base),
        (1..=i128::from(bounds.price_max) * i128::from(bounds.quantity_max))
            .prop_map(|amount| OrderSize::Quote(Amount(amount))),
    ];
    let protection = prop_oneof![Just(Price::ZERO), price(bounds)];
    let time_in_force = select(vec![TimeInForce::Ioc, TimeInForce::Fok]);
    let names = (account(bounds), instrument(bounds), client_order_id());
    let attributes = (of(select(SelfTrade::ALL)), handling());
    (names, select(Side::ALL), time_in_force, attributes, size, protection).prop_map(
        |(names, side, time_in_force, attributes, size, price)| {
            let (account, instrument, client_order_id) = names;
            let (self_trade, handling) = attributes;
            NewOrder {
                account,
                instrument,
                side,
                kind: OrderKind::Market,
                time_in_force,
                post_only: PostOnly::Off,
                self_trade,
                handling,
                size,
                price,
                minimum_quantity: Quantity::ZERO,
                expire_at: Timestamp::ZERO,
                client_order_id,
            }
        },
    )
}

/// Consistent rules.
pub fn rules(bounds: Bounds) -> impl Strategy<Value = TradingRules> {
    let fees = (0..=100_000_i32).prop_flat_map(|taker| (-taker..=taker, Just(taker)));
    let bands = (0..1_000_000_u32, 0..1_000_000_u32);
    let rest = (select(SelfTrade::ALL), 1..=200_u32, 0..86_400_u32, any::<bool>());
    (1..=2_i64, 1..=2_i64, 0..=20_i128, price(bounds), fees, bands, rest).prop_map(
        move |(tick, lot, notional_min, reference_price, fees, bands, rest)| TradingRules {
            tick: Price(tick),
            lot: Quantity(lot),
            quantity_max: Quantity(bounds.quantity_max.max(lot)),
            notional_min: Amount(notional_min),
            collar_ppm: bands.0,
            reference_price,
            market_protection_ppm: bands.1,
            maker_fee_ppm: fees.0,
            taker_fee_ppm: fees.1,
            self_trade: rest.0,
            open_orders_max: rest.1,
            day_end_s: rest.2,
            risk: rest.3,
        },
    )
}

/// A specification whose scales suit currencies of any scale from 6 on.
pub fn spec(bounds: Bounds) -> impl Strategy<Value = InstrumentSpec> {
    let currencies = (1..=bounds.currencies, 1..=bounds.currencies);
    let scale = || (0..=3_u8).prop_map(|places| Scale::new(places).expect("at most 18"));
    (name("S", 10), currencies, scale(), scale(), rules(bounds)).prop_map(
        |(symbol, (base, quote), price_scale, quantity_scale, rules)| InstrumentSpec {
            symbol,
            kind: InstrumentKind::Spot,
            base: CurrencyId(base),
            quote: CurrencyId(quote),
            price_scale,
            quantity_scale,
            rules,
        },
    )
}

fn transfer(bounds: Bounds) -> impl Strategy<Value = Transfer> {
    let amount = (1..=10_000_i128).prop_map(Amount);
    let reference = name("r", 100);
    (account(bounds), (1..=bounds.currencies).prop_map(CurrencyId), amount, reference).prop_map(
        |(account, currency, amount, reference): (_, _, _, Reference)| Transfer {
            account,
            currency,
            amount,
            reference,
        },
    )
}

fn amend(bounds: Bounds) -> impl Strategy<Value = Amend> {
    (account(bounds), order_ref(bounds), of(price(bounds)), of(quantity(bounds)))
        .prop_map(|(account, order, price, quantity)| Amend { account, order, price, quantity })
}

/// An amendment of a trigger price.
pub fn amend_trigger(bounds: Bounds) -> impl Strategy<Value = AmendTrigger> {
    (amend(bounds), price(bounds))
        .prop_map(|(amend, trigger_price)| AmendTrigger { amend, trigger_price })
}

/// A command of a trading day: mostly orders, cancels and amendments.
pub fn command(bounds: Bounds) -> impl Strategy<Value = Command> {
    let amend = amend(bounds);
    let mass_cancel = (account(bounds), of(instrument(bounds)), of(select(Side::ALL)))
        .prop_map(|(account, instrument, side)| MassCancel { account, instrument, side });
    let trading = prop_oneof![
        10 => limit_order(bounds).prop_map(Command::Place),
        3 => market_order(bounds).prop_map(Command::Place),
        4 => (account(bounds), order_ref(bounds))
            .prop_map(|(account, order)| Command::Cancel { account, order }),
        4 => amend.prop_map(Command::Amend),
        1 => mass_cancel.prop_map(Command::MassCancel),
        1 => Just(Command::Tick),
        1 => account(bounds).prop_map(|account| Command::Disconnect { account }),
        1 => (account(bounds), 0..=Timestamp::DAY)
            .prop_map(|(account, timeout_ns)| Command::SetDeadMan { account, timeout_ns }),
    ];
    let value = prop_oneof![
        transfer(bounds).prop_map(Command::deposit),
        transfer(bounds).prop_map(Command::Withdraw),
        transfer(bounds).prop_map(Command::HoldWithdrawal),
        transfer(bounds).prop_map(|Transfer { account, reference, .. }| {
            Command::SettleWithdrawal { account, reference }
        }),
        transfer(bounds).prop_map(|Transfer { account, reference, .. }| {
            Command::ReleaseWithdrawal { account, reference }
        }),
    ];
    prop_oneof![16 => trading, 4 => value, 1 => set_up(bounds)]
}

/// A command that lists, admits or changes rules.
pub fn set_up(bounds: Bounds) -> impl Strategy<Value = Command> {
    prop_oneof![
        (0..=bounds.accounts, name("m", 10))
            .prop_map(|(member, name)| Command::CreateMember { member: MemberId(member), name }),
        (0..=bounds.accounts, 1..=bounds.accounts, name("a", 10)).prop_map(
            |(account, member, name)| Command::CreateAccount {
                account: AccountId(account),
                member: MemberId(member),
                name
            }
        ),
        (name("C", 5), 6..=18_u8).prop_map(|(code, places)| Command::CreateCurrency {
            code,
            scale: Scale::new(places).expect("at most 18")
        }),
        spec(bounds).prop_map(Command::CreateInstrument),
        (instrument(bounds), rules(bounds))
            .prop_map(|(instrument, rules)| Command::SetRules { instrument, rules }),
        (instrument(bounds), select(InstrumentState::ALL))
            .prop_map(|(instrument, state)| Command::SetInstrumentState { instrument, state }),
        (instrument(bounds), auction_rules(), 0..=u64::MAX).prop_map(
            |(instrument, rules, seed)| Command::SetAuctionRules { instrument, rules, seed }
        ),
        restrict(bounds).prop_map(Command::Restrict),
        timetable(bounds),
        halt(bounds),
        (instrument(bounds), contract_terms())
            .prop_map(|(instrument, terms)| Command::SetContractTerms { instrument, terms }),
        conditional_order(bounds).prop_map(Command::PlaceConditional),
        trailing_order(bounds).prop_map(Command::PlaceTrailing),
        iceberg_order(bounds).prop_map(Command::PlaceIceberg),
        order_list(bounds).prop_map(Command::PlaceList),
        amend_trigger(bounds).prop_map(Command::AmendTrigger),
    ]
}

/// A limit or market order that waits for a trigger.
pub fn conditional_order(bounds: Bounds) -> impl Strategy<Value = ConditionalOrder> {
    let triggers = (select(TriggerKind::ALL), price(bounds), any::<bool>());
    (limit_order(bounds), any::<bool>(), triggers).prop_map(|(terms, is_market, trigger)| {
        let (kind, price, immediate) = trigger;
        let in_force = terms.time_in_force;
        let ends = in_force == TimeInForce::Fok || in_force.is_for_auction();
        let terms = NewOrder {
            kind: if is_market { OrderKind::Market } else { OrderKind::Limit },
            price: if is_market { Price::ZERO } else { terms.price },
            time_in_force: if ends { TimeInForce::Ioc } else { in_force },
            post_only: PostOnly::Off,
            ..terms
        };
        ConditionalOrder { terms, trigger: Trigger { kind, price }, immediate }
    })
}

/// A trailing stop.
pub fn trailing_order(bounds: Bounds) -> impl Strategy<Value = TrailingOrder> {
    let distance = prop_oneof![
        (1..=20_i64).prop_map(|distance| Distance::Price(Price(distance))),
        (1..=100_000_u32).prop_map(Distance::Ppm),
    ];
    let activation = prop_oneof![Just(Price::ZERO), price(bounds)];
    (conditional_order(bounds), distance, activation).prop_map(
        |(ConditionalOrder { terms, .. }, distance, activation_price)| TrailingOrder {
            terms,
            trail: TrailTerms { distance, activation_price },
        },
    )
}

/// An iceberg.
pub fn iceberg_order(bounds: Bounds) -> impl Strategy<Value = IcebergOrder> {
    (limit_order(bounds), 1..=10_i64).prop_map(|(terms, display_quantity)| {
        let in_force = terms.time_in_force;
        let rests = in_force.rests_in_trading();
        let terms = NewOrder {
            kind: OrderKind::Limit,
            time_in_force: if rests { in_force } else { TimeInForce::Gtc },
            expire_at: if rests { terms.expire_at } else { Timestamp::ZERO },
            ..terms
        };
        IcebergOrder { terms, display_quantity: Quantity(display_quantity) }
    })
}

/// A pair of orders, or an order with exits.
pub fn order_list(bounds: Bounds) -> impl Strategy<Value = OrderList> {
    let leg = (conditional_order(bounds), any::<bool>()).prop_map(|(order, waits)| Leg {
        condition: waits.then_some(Condition::Trigger(order.trigger)),
        kind: if waits { order.terms.kind } else { OrderKind::Limit },
        time_in_force: order.terms.time_in_force,
        price: if waits { order.terms.price } else { order.trigger.price },
        expire_at: order.terms.expire_at,
    });
    let leg = leg.boxed();
    let legs = (of(leg.clone()), of(leg));
    (limit_order(bounds), select(LinkKind::ALL), legs).prop_map(
        |(terms, kind, (take_profit, stop_loss))| OrderList {
            terms,
            condition: None,
            kind,
            take_profit: take_profit.filter(|_| kind == LinkKind::Oto),
            stop_loss,
        },
    )
}

/// A halt, or a circuit breaker.
fn halt(bounds: Bounds) -> impl Strategy<Value = Command> {
    let scope = prop_oneof![
        1 => Just(HaltScope::Venue),
        1 => name("cal", 2).prop_map(HaltScope::Calendar),
        2 => instrument(bounds).prop_map(HaltScope::Instrument),
    ];
    let breaker = (name("cal", 2), instrument(bounds), 0..200_000_u32, 1..=1_000_u32);
    prop_oneof![
        (scope, 1..=1_000_u32)
            .prop_map(|(scope, duration_ms)| Command::HaltTrading { scope, duration_ms }),
        breaker.prop_map(|(calendar, instrument, range_ppm, halt_ms)| {
            let breaker = CircuitBreakerRule { calendar, instrument, range_ppm, halt_ms };
            Command::SetCircuitBreaker(breaker)
        }),
    ]
}

/// A restriction, which is lifted more often than it is set, so that trading goes on.
fn restrict(bounds: Bounds) -> impl Strategy<Value = Restrict> {
    let target = prop_oneof![
        Just(RestrictionTarget::Venue),
        (1..=bounds.accounts).prop_map(|member| RestrictionTarget::Member(MemberId(member))),
        account(bounds).prop_map(RestrictionTarget::Account),
        instrument(bounds).prop_map(RestrictionTarget::Instrument),
    ];
    let kind = prop_oneof![4 => Just(Restriction::None), 1 => Just(Restriction::CancelOnly)];
    (target, kind, any::<bool>()).prop_map(|(target, restriction, cancel)| Restrict {
        target,
        restriction,
        by_member: false,
        cancel: cancel && restriction != Restriction::None,
    })
}

/// A command that plans transitions, makes them a timetable or assigns it. There are few calendars,
/// and numbers are small, so that plans often become complete.
fn timetable(bounds: Bounds) -> impl Strategy<Value = Command> {
    let calendar = || name("cal", 2);
    prop_oneof![
        4 => (calendar(), 0..=3_u32, transition(bounds)).prop_map(
            |(calendar, number, transition)| Command::PlanTransition {
                calendar,
                number,
                transition
            }
        ),
        2 => (calendar(), 0..=3_u32, any::<[u64; 2]>(), any::<bool>()).prop_map(
            |(calendar, count, [digest, seed], replace)| Command::AdoptPlan {
                calendar,
                count,
                digest,
                seed,
                replace
            }
        ),
        1 => (instrument(bounds), of(calendar())).prop_map(|(instrument, calendar)| {
            Command::AssignCalendar { instrument, calendar: calendar.unwrap_or_default() }
        }),
        1 => (calendar(), 1..bounds.time_max.0, 1..bounds.time_max.0).prop_map(
            |(calendar, at, to)| Command::MoveTransition {
                calendar,
                at: Timestamp(at),
                to: Timestamp(to)
            }
        ),
    ]
}

/// A transition that is consistent.
pub fn transition(bounds: Bounds) -> impl Strategy<Value = PlannedTransition> {
    let phases = select(vec![
        InstrumentState::PreOpen,
        InstrumentState::Call,
        InstrumentState::Open,
        InstrumentState::ClosingCall,
        InstrumentState::Closed,
    ]);
    let end = (any::<bool>(), 1..=Timestamp::SECOND, 0..=1_000_u32, any::<bool>());
    (1..bounds.time_max.0, phases, end, any::<bool>(), any::<bool>()).prop_map(
        |(at, state, (has_end, length, random_end_ms, no_cancel), ends_session, ends_day)| {
            let at = Timestamp(at);
            let plain =
                PlannedTransition { ends_session, ends_day, ..PlannedTransition::plain(at, state) };
            let is_call = matches!(state, InstrumentState::Call | InstrumentState::ClosingCall);
            if !is_call || !has_end {
                return plain;
            }
            PlannedTransition {
                earliest_end: Timestamp(at.0 + length),
                random_end_ms,
                next: if state == InstrumentState::Call {
                    InstrumentState::Open
                } else {
                    InstrumentState::Closed
                },
                no_cancel_from: if no_cancel { at } else { Timestamp::ZERO },
                ..plain
            }
        },
    )
}

/// Rules of auctions that are consistent.
pub fn auction_rules() -> impl Strategy<Value = AuctionRules> {
    let range = || prop_oneof![Just(0_u32), 1_000..500_000_u32];
    let ranges = (range(), range(), range(), range(), range());
    let modes = (select(SelfTrade::ALL), select(CallDepth::ALL));
    (0..=5_000, modes, ranges, 1..=10_000_u32, any::<bool>()).prop_map(
        |(fee_ppm, modes, (daily, fixed, moving, auction, limit), call_ms, halts)| AuctionRules {
            fee_ppm,
            self_trade: modes.0,
            daily_range_ppm: daily,
            static_range_ppm: fixed,
            dynamic_range_ppm: moving,
            auction_range_ppm: auction,
            extended_range_ppm: if auction > 0 { auction * 3 / 2 } else { 0 },
            call_ms,
            random_end_ms: call_ms / 2,
            call_depth: modes.1,
            limit_range_ppm: limit,
            limit_state_ms: if halts && limit > 0 { call_ms } else { 0 },
            halt_ms: if halts && limit > 0 { 1_000 + call_ms } else { 0 },
        },
    )
}

/// Terms of a contract that are consistent, and bind no order of these bounds for long.
pub fn contract_terms() -> impl Strategy<Value = ContractTerms> {
    let most = prop_oneof![Just(Amount::ZERO), (1_000_000..1_i128 << 90).prop_map(Amount)];
    let fees = (0..=1_000_i128, -1_000..=1_000_i128, 0..=1_000_i128).prop_map(
        |(taker, maker, auction)| LotFees {
            maker: Amount(maker.clamp(-taker, taker)),
            taker: Amount(taker),
            auction: Amount(auction.min(taker)),
        },
    );
    (most, of(fees)).prop_map(|(notional_max, lot_fees)| ContractTerms { notional_max, lot_fees })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest! {
        #[test]
        fn plausible_rules_are_consistent(
            rules in rules(Bounds::default()),
            auctions in auction_rules(),
            transition in transition(Bounds::default()),
            terms in contract_terms(),
        ) {
            let plain = TradingRules { notional_min: Amount(1_000_000), ..rules };
            prop_assert_eq!(terms.check(&plain), Ok(()));
            prop_assert_eq!(rules.check(), Ok(()));
            prop_assert_eq!(auctions.check(), Ok(()));
            prop_assert_eq!(transition.check(), Ok(()));
        }

        #[test]
        fn plausible_orders_have_attributes_that_go_together(
            limit in limit_order(Bounds::default()),
            market in market_order(Bounds::default()),
        ) {
            let takes = |order: &NewOrder| {
                matches!(order.time_in_force, TimeInForce::Ioc | TimeInForce::Fok)
            };
            prop_assert!(limit.price > Price::ZERO);
            prop_assert!(matches!(limit.size, OrderSize::Base(quantity) if quantity.0 > 0));
            prop_assert!(!takes(&limit) || limit.post_only == PostOnly::Off);
            let dated = limit.time_in_force == TimeInForce::Gtd;
            prop_assert_eq!(limit.expire_at != Timestamp::ZERO, dated);
            prop_assert!(takes(&market) && market.post_only == PostOnly::Off);
            prop_assert_eq!(market.expire_at, Timestamp::ZERO);
        }
    }
}
