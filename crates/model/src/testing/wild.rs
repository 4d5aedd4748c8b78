//! Every value that the types can hold, with the edges of their ranges more often.

use crate::{
    Accepted, AccountId, Amend, AmendTrigger, Amended, Amount, Attributed, Attribution,
    AuctionRules, AuditReason, CallDepth, CircuitBreakerRule, Command, CommandKind, Condition,
    ConditionalOrder, ContractTerms, Currency, CurrencyId, Deposit, Distance, Done, DoneReason,
    Event, ExitsRefused, ExitsSet, HaltCause, HaltScope, Handling, IcebergOrder, IcebergRefreshed,
    IcebergSet, InstrumentId, InstrumentKind, InstrumentSpec, InstrumentState, Interrupted, Leg,
    LinkKind, LotFees, MassCancel, MemberId, NewOrder, OrderId, OrderKind, OrderList, OrderRef,
    OrderSize, OrdersLinked, PlannedTransition, PostOnly, Price, Quantity, ReduceReason, Reduced,
    RejectReason, Rejected, Rested, Restrict, Restriction, RestrictionTarget, Scale, SelfTrade,
    Side, Text, TimeInForce, Timestamp, Trade, TradeId, TradingHalted, TradingRules,
    TrailActivated, TrailSet, TrailTerms, TrailingOrder, Transfer, Trigger, TriggerKind,
    TriggerSet, Triggered, Uncrossed,
};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

/// Any 64-bit integer; half of them small or at an edge.
pub fn int64() -> impl Strategy<Value = i64> + Clone {
    prop_oneof![
        2 => any::<i64>(),
        1 => -10_i64..=10,
        1 => select(vec![i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX, 1 << 53, -(1 << 53)]),
    ]
}

/// Any unsigned 64-bit integer; half of them small or at an edge.
pub fn uint64() -> impl Strategy<Value = u64> + Clone {
    int64().prop_map(|value| value as u64)
}

/// Any unsigned 32-bit integer; half of them small or at an edge.
pub fn uint32() -> impl Strategy<Value = u32> + Clone {
    prop_oneof![any::<u32>(), 0..=10_u32, Just(u32::MAX)]
}

/// Any amount; most of them fit 64 bits, and some lie at the edge.
pub fn amount() -> impl Strategy<Value = Amount> + Clone {
    let low = i128::from(i64::MIN);
    let high = i128::from(i64::MAX);
    prop_oneof![
        4 => int64().prop_map(i128::from),
        1 => any::<i128>(),
        1 => select(vec![low - 1, low, high, high + 1, 1 << 64, i128::MIN, i128::MAX]),
    ]
    .prop_map(Amount)
}

/// Any text of at most `N` bytes, empty and full ones included.
pub fn text<const N: usize>() -> impl Strategy<Value = Text<N>> + Clone {
    let bytes = |len| proptest::collection::vec(0x21_u8..=0x7e, len);
    prop_oneof![Just(Vec::new()), bytes(0..=N), bytes(N..=N)]
        .prop_map(|bytes| Text::new(&bytes).expect("printable and short enough"))
}

fn text_given<const N: usize>() -> impl Strategy<Value = Text<N>> + Clone {
    prop_oneof![Just(Text::EMPTY), text()]
}

fn account() -> impl Strategy<Value = AccountId> + Clone {
    uint32().prop_map(AccountId)
}

fn member() -> impl Strategy<Value = MemberId> + Clone {
    uint32().prop_map(MemberId)
}

fn instrument() -> impl Strategy<Value = InstrumentId> + Clone {
    uint32().prop_map(InstrumentId)
}

fn currency() -> impl Strategy<Value = CurrencyId> + Clone {
    any::<u16>().prop_map(CurrencyId)
}

fn order() -> impl Strategy<Value = OrderId> + Clone {
    uint64().prop_map(OrderId)
}

fn price() -> impl Strategy<Value = Price> + Clone {
    int64().prop_map(Price)
}

fn quantity() -> impl Strategy<Value = Quantity> + Clone {
    int64().prop_map(Quantity)
}

fn side() -> impl Strategy<Value = Side> + Clone {
    select(Side::ALL)
}

/// Any scale.
pub fn scale() -> impl Strategy<Value = Scale> + Clone {
    (0..=18_u8).prop_map(|places| Scale::new(places).expect("at most 18"))
}

/// Any time.
pub fn time() -> impl Strategy<Value = Timestamp> + Clone {
    uint64().prop_map(Timestamp)
}

/// Any way to handle an order.
pub fn handling() -> impl Strategy<Value = Handling> + Clone {
    select((0..=u8::MAX).filter_map(Handling::from_bits).collect::<Vec<_>>())
}

/// Any order.
pub fn new_order() -> impl Strategy<Value = NewOrder> + Clone {
    let kinds = (
        side(),
        select(OrderKind::ALL),
        select(TimeInForce::ALL),
        select(PostOnly::ALL),
        of(select(SelfTrade::ALL)),
        handling(),
    );
    let size =
        prop_oneof![quantity().prop_map(OrderSize::Base), amount().prop_map(OrderSize::Quote)];
    let expire_at = prop_oneof![Just(Timestamp::ZERO), time()];
    let minimum = prop_oneof![3 => Just(Quantity::ZERO), 1 => quantity()];
    let size = (size, minimum);
    (account(), instrument(), kinds, size, price(), expire_at, text_given()).prop_map(
        |(account, instrument, kinds, size, price, expire_at, client_order_id)| {
            let (size, minimum_quantity) = size;
            let (side, kind, time_in_force, post_only, self_trade, handling) = kinds;
            NewOrder {
                account,
                instrument,
                side,
                kind,
                time_in_force,
                post_only,
                self_trade,
                handling,
                size,
                price,
                minimum_quantity,
                expire_at,
                client_order_id,
            }
        },
    )
}

fn order_ref() -> impl Strategy<Value = OrderRef> + Clone {
    prop_oneof![order().prop_map(OrderRef::Id), text().prop_map(OrderRef::Client)]
}

/// Any rules of auctions, consistent or not.
fn auction_rules() -> impl Strategy<Value = AuctionRules> + Clone {
    let ranges = (uint32(), uint32(), uint32(), uint32(), uint32(), uint32());
    let times = (uint32(), uint32(), uint32(), uint32());
    let modes = (select(SelfTrade::ALL), select(CallDepth::ALL));
    (any::<i32>(), modes, ranges, times).prop_map(
        |(fee_ppm, (self_trade, call_depth), ranges, times)| {
            let (daily_range_ppm, static_range_ppm, dynamic_range_ppm, auction, extended, limit) =
                ranges;
            let (call_ms, random_end_ms, limit_state_ms, halt_ms) = times;
            AuctionRules {
                fee_ppm,
                self_trade,
                daily_range_ppm,
                static_range_ppm,
                dynamic_range_ppm,
                auction_range_ppm: auction,
                extended_range_ppm: extended,
                call_ms,
                random_end_ms,
                call_depth,
                limit_range_ppm: limit,
                limit_state_ms,
                halt_ms,
            }
        },
    )
}

/// Any transition of a timetable, consistent or not.
fn transition() -> impl Strategy<Value = PlannedTransition> + Clone {
    let states = (select(InstrumentState::ALL), select(InstrumentState::ALL));
    (states, time(), time(), time(), uint32(), any::<bool>(), any::<bool>()).prop_map(
        |((state, next), at, earliest_end, no_cancel_from, random_end_ms, session, day)| {
            PlannedTransition {
                at,
                state,
                earliest_end,
                random_end_ms,
                next,
                no_cancel_from,
                ends_session: session,
                ends_day: day,
            }
        },
    )
}

/// Any rules, consistent or not.
pub fn rules() -> impl Strategy<Value = TradingRules> + Clone {
    let checks = (price(), quantity(), quantity(), amount(), uint32(), price(), uint32());
    let fees = (any::<i32>(), any::<i32>());
    let rest = (select(SelfTrade::ALL), uint32(), uint32(), any::<bool>());
    (checks, fees, rest).prop_map(|(checks, fees, rest)| TradingRules {
        tick: checks.0,
        lot: checks.1,
        quantity_max: checks.2,
        notional_min: checks.3,
        collar_ppm: checks.4,
        reference_price: checks.5,
        market_protection_ppm: checks.6,
        maker_fee_ppm: fees.0,
        taker_fee_ppm: fees.1,
        self_trade: rest.0,
        open_orders_max: rest.1,
        day_end_s: rest.2,
        risk: rest.3,
    })
}

/// Any specification of an instrument, consistent or not.
pub fn spec() -> impl Strategy<Value = InstrumentSpec> + Clone {
    (text(), select(InstrumentKind::ALL), currency(), currency(), scale(), scale(), rules())
        .prop_map(|(symbol, kind, base, quote, price_scale, quantity_scale, rules)| {
            InstrumentSpec { symbol, kind, base, quote, price_scale, quantity_scale, rules }
        })
}

fn transfer() -> impl Strategy<Value = Transfer> + Clone {
    (account(), currency(), amount(), text()).prop_map(|(account, currency, amount, reference)| {
        Transfer { account, currency, amount, reference }
    })
}

/// Any command.
pub fn command() -> impl Strategy<Value = Command> {
    let amend = || {
        (account(), order_ref(), of(price()), of(quantity()))
            .prop_map(|(account, order, price, quantity)| Amend { account, order, price, quantity })
    };
    let mass_cancel = (account(), of(instrument()), of(side()))
        .prop_map(|(account, instrument, side)| MassCancel { account, instrument, side });
    prop_oneof![
        4 => new_order().prop_map(Command::Place),
        2 => (account(), order_ref())
            .prop_map(|(account, order)| Command::Cancel { account, order }),
        2 => amend().prop_map(Command::Amend),
        1 => (amend(), price()).prop_map(|(amend, trigger_price)| {
            Command::AmendTrigger(AmendTrigger { amend, trigger_price })
        }),
        1 => mass_cancel.prop_map(Command::MassCancel),
        1 => Just(Command::Tick),
        1 => account().prop_map(|account| Command::Disconnect { account }),
        1 => (account(), uint64())
            .prop_map(|(account, timeout_ns)| Command::SetDeadMan { account, timeout_ns }),
        1 => (transfer(), of(uint64())).prop_map(|(transfer, time)| {
            let time = Timestamp(time.unwrap_or(0));
            Command::Deposit(Deposit { transfer, time })
        }),
        1 => transfer().prop_map(Command::Withdraw),
        1 => transfer().prop_map(Command::HoldWithdrawal),
        1 => (account(), text())
            .prop_map(|(account, reference)| Command::SettleWithdrawal { account, reference }),
        1 => (account(), text())
            .prop_map(|(account, reference)| Command::ReleaseWithdrawal { account, reference }),
        1 => (member(), text()).prop_map(|(member, name)| Command::CreateMember { member, name }),
        1 => (account(), member(), text()).prop_map(|(account, member, name)| {
            Command::CreateAccount { account, member, name }
        }),
        1 => (text(), scale()).prop_map(|(code, scale)| Command::CreateCurrency { code, scale }),
        1 => spec().prop_map(Command::CreateInstrument),
        1 => (instrument(), rules())
            .prop_map(|(instrument, rules)| Command::SetRules { instrument, rules }),
        1 => (instrument(), select(InstrumentState::ALL))
            .prop_map(|(instrument, state)| Command::SetInstrumentState { instrument, state }),
        1 => uint32().prop_map(|version| Command::SetRulesVersion { version }),
        1 => (instrument(), auction_rules(), uint64()).prop_map(|(instrument, rules, seed)| {
            Command::SetAuctionRules { instrument, rules, seed }
        }),
        1 => restrict().prop_map(Command::Restrict),
        1 => (text(), uint32(), transition()).prop_map(|(calendar, number, transition)| {
            Command::PlanTransition { calendar, number, transition }
        }),
        1 => (text(), uint32(), uint64(), uint64(), any::<bool>()).prop_map(
            |(calendar, count, digest, seed, replace)| {
                Command::AdoptPlan { calendar, count, digest, seed, replace }
            }
        ),
        1 => (instrument(), text())
            .prop_map(|(instrument, calendar)| Command::AssignCalendar { instrument, calendar }),
        1 => (text(), time(), time())
            .prop_map(|(calendar, at, to)| Command::MoveTransition { calendar, at, to }),
        1 => (halt_scope(), uint32())
            .prop_map(|(scope, duration_ms)| Command::HaltTrading { scope, duration_ms }),
        1 => circuit_breaker().prop_map(Command::SetCircuitBreaker),
        1 => (instrument(), contract_terms())
            .prop_map(|(instrument, terms)| Command::SetContractTerms { instrument, terms }),
        1 => (new_order(), trigger(), any::<bool>()).prop_map(|(terms, trigger, immediate)| {
            Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate })
        }),
        1 => (new_order(), trail())
            .prop_map(|(terms, trail)| Command::PlaceTrailing(TrailingOrder { terms, trail })),
        1 => (new_order(), quantity()).prop_map(|(terms, display_quantity)| {
            Command::PlaceIceberg(IcebergOrder { terms, display_quantity })
        }),
        1 => (new_order(), of(condition()), select(LinkKind::ALL), legs()).prop_map(
            |(terms, condition, kind, (take_profit, stop_loss))| {
                Command::PlaceList(OrderList { terms, condition, kind, take_profit, stop_loss })
            }
        ),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    prop_oneof![trigger().prop_map(Condition::Trigger), trail().prop_map(Condition::Trail)]
}

fn legs() -> impl Strategy<Value = (Option<Leg>, Option<Leg>)> {
    let attributes = (select(OrderKind::ALL), select(TimeInForce::ALL), price(), time());
    let leg = (of(condition()), attributes).prop_map(
        |(condition, (kind, time_in_force, price, expire_at))| Leg {
            condition,
            kind,
            time_in_force,
            price,
            expire_at,
        },
    );
    let leg = leg.boxed();
    (of(leg.clone()), of(leg))
}

fn trigger() -> impl Strategy<Value = Trigger> {
    (select(TriggerKind::ALL), price()).prop_map(|(kind, price)| Trigger { kind, price })
}

fn trail() -> impl Strategy<Value = TrailTerms> {
    let distance =
        prop_oneof![price().prop_map(Distance::Price), any::<u32>().prop_map(Distance::Ppm),];
    (distance, price())
        .prop_map(|(distance, activation_price)| TrailTerms { distance, activation_price })
}

fn contract_terms() -> impl Strategy<Value = ContractTerms> {
    let fees = (amount(), amount(), amount()).prop_map(|(maker, taker, auction)| LotFees {
        maker,
        taker,
        auction,
    });
    (amount(), of(fees))
        .prop_map(|(notional_max, lot_fees)| ContractTerms { notional_max, lot_fees })
}

fn halt_scope() -> impl Strategy<Value = HaltScope> {
    prop_oneof![
        Just(HaltScope::Venue),
        text().prop_map(HaltScope::Calendar),
        instrument().prop_map(HaltScope::Instrument),
    ]
}

fn circuit_breaker() -> impl Strategy<Value = CircuitBreakerRule> {
    (text(), instrument(), uint32(), uint32()).prop_map(
        |(calendar, instrument, range_ppm, halt_ms)| CircuitBreakerRule {
            calendar,
            instrument,
            range_ppm,
            halt_ms,
        },
    )
}

fn restrict() -> impl Strategy<Value = Restrict> {
    let target = prop_oneof![
        Just(RestrictionTarget::Venue),
        member().prop_map(RestrictionTarget::Member),
        account().prop_map(RestrictionTarget::Account),
        instrument().prop_map(RestrictionTarget::Instrument),
    ];
    (target, select(Restriction::ALL), any::<bool>(), any::<bool>()).prop_map(
        |(target, restriction, by_member, cancel)| Restrict {
            target,
            restriction,
            by_member,
            cancel,
        },
    )
}

/// Any event of an order's life.
fn order_event() -> impl Strategy<Value = Event> {
    let accepted = (order(), new_order(), amount(), any::<bool>())
        .prop_map(|(order, terms, reserved, rests)| Accepted { order, terms, reserved, rests });
    let whose = || (order(), account(), instrument(), side(), price());
    let rested = (whose(), quantity()).prop_map(|(whose, remaining)| {
        let (order, account, instrument, side, price) = whose;
        Rested { order, account, instrument, side, price, remaining }
    });
    let done = (whose(), select(DoneReason::ALL), quantity(), amount()).prop_map(
        |(whose, reason, remaining, released)| {
            let (order, account, instrument, side, price) = whose;
            Done { order, account, instrument, side, reason, price, remaining, released }
        },
    );
    let reduced = (whose(), select(ReduceReason::ALL), quantity(), quantity(), amount()).prop_map(
        |(whose, reason, by, remaining, released)| {
            let (order, account, instrument, side, price) = whose;
            Reduced { order, account, instrument, side, reason, price, by, remaining, released }
        },
    );
    let amended = (whose(), price(), quantity(), quantity(), quantity(), amount(), amount())
        .prop_map(
            |(whose, old_price, old_remaining, quantity, remaining, old_reserved, reserved)| {
                let (order, account, instrument, side, price) = whose;
                Amended {
                    order,
                    account,
                    instrument,
                    side,
                    old_price,
                    old_remaining,
                    price,
                    quantity,
                    remaining,
                    old_reserved,
                    reserved,
                }
            },
        );
    let reject = (select(CommandKind::ALL), select(RejectReason::ALL));
    let rejected = (reject, account(), instrument(), order(), text_given()).prop_map(
        |((command, reason), account, instrument, order, client_order_id)| Rejected {
            command,
            reason,
            account,
            instrument,
            order,
            client_order_id,
        },
    );
    prop_oneof![
        accepted.prop_map(Event::Accepted),
        rested.prop_map(Event::Rested),
        trade().prop_map(Event::Trade),
        done.prop_map(Event::Done),
        reduced.prop_map(Event::Reduced),
        amended.prop_map(Event::Amended),
        rejected.prop_map(Event::Rejected),
    ]
}

fn trade() -> impl Strategy<Value = Trade> {
    let sides = (side(), any::<bool>());
    let what = (uint64().prop_map(TradeId), instrument(), sides, price(), quantity());
    let who = (order(), order(), account(), account());
    (what, who, quantity(), quantity(), amount(), amount(), amount(), amount()).prop_map(
        |(what, who, maker_remaining, taker_remaining, notional, maker_fee, taker_fee, freed)| {
            let (trade, instrument, (taker_side, auction), price, quantity) = what;
            let (maker_order, taker_order, maker_account, taker_account) = who;
            Trade {
                trade,
                instrument,
                taker_side,
                auction,
                price,
                quantity,
                maker_order,
                taker_order,
                maker_account,
                taker_account,
                maker_remaining,
                taker_remaining,
                notional,
                maker_fee,
                taker_fee,
                buyer_unreserved: freed,
            }
        },
    )
}

/// Any sender and reason.
pub fn attribution() -> impl Strategy<Value = Attribution> + Clone {
    let by = proptest::collection::vec(0x21_u8..=0x7e, 1..=31)
        .prop_map(|bytes| Text::new(&bytes).expect("printable and short enough"));
    let reason = prop_oneof!["", "[ -~äß…]{0,33}", "[ -~]{100}"]
        .prop_map(|text| text.parse::<AuditReason>().expect("printable and short enough"));
    (by, reason).prop_map(|(by, reason)| Attribution { by, reason })
}

fn timetable_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (text(), uint32(), transition()).prop_map(|(calendar, number, transition)| {
            Event::TransitionPlanned { calendar, number, transition }
        }),
        (text(), uint32(), uint64(), any::<bool>()).prop_map(
            |(calendar, count, digest, replace)| {
                Event::PlanAdopted { calendar, count, digest, replace }
            }
        ),
        (instrument(), text())
            .prop_map(|(instrument, calendar)| Event::CalendarAssigned { instrument, calendar }),
        (text(), time(), time()).prop_map(|(calendar, at, to)| Event::TransitionMoved {
            calendar,
            at,
            to
        }),
        (text(), time(), select(InstrumentState::ALL))
            .prop_map(|(calendar, at, state)| Event::TransitionBegun { calendar, at, state }),
        (halt_scope(), time(), select(HaltCause::ALL)).prop_map(|(scope, until, cause)| {
            Event::TradingHalted(TradingHalted { scope, until, cause })
        }),
        circuit_breaker().prop_map(Event::CircuitBreakerSet),
        (instrument(), contract_terms())
            .prop_map(|(instrument, terms)| Event::ContractTermsSet { instrument, terms }),
        (instrument(), side(), price(), time()).prop_map(|(instrument, side, price, until)| {
            Event::LimitStateSet { instrument, side, price, until }
        }),
        (order(), account(), instrument(), side(), trigger()).prop_map(
            |(order, account, instrument, side, trigger)| {
                Event::TriggerSet(TriggerSet { order, account, instrument, side, trigger })
            }
        ),
        (order(), account(), instrument(), side(), trail()).prop_map(
            |(order, account, instrument, side, trail)| {
                Event::TrailSet(TrailSet { order, account, instrument, side, trail })
            }
        ),
        (order(), account(), instrument(), side(), price()).prop_map(
            |(order, account, instrument, side, extreme)| {
                Event::TrailActivated(TrailActivated { order, account, instrument, side, extreme })
            }
        ),
        (order(), account(), instrument(), side(), quantity()).prop_map(
            |(order, account, instrument, side, display_quantity)| {
                Event::IcebergSet(IcebergSet { order, account, instrument, side, display_quantity })
            }
        ),
        (order(), account(), instrument(), side(), price(), quantity()).prop_map(
            |(order, account, instrument, side, price, displayed)| {
                Event::IcebergRefreshed(IcebergRefreshed {
                    order,
                    account,
                    instrument,
                    side,
                    price,
                    displayed,
                })
            }
        ),
        (order(), account(), instrument(), side(), legs()).prop_map(
            |(order, account, instrument, side, (take_profit, stop_loss))| {
                Event::ExitsSet(ExitsSet {
                    order,
                    account,
                    instrument,
                    side,
                    take_profit,
                    stop_loss,
                })
            }
        ),
        (order(), account(), instrument(), side(), order(), order()).prop_map(
            |(list, account, instrument, side, take_profit, stop_loss)| {
                Event::OrdersLinked(OrdersLinked {
                    list,
                    account,
                    instrument,
                    side,
                    take_profit,
                    stop_loss,
                })
            }
        ),
        (order(), account(), instrument(), select(RejectReason::ALL)).prop_map(
            |(order, account, instrument, reason)| {
                Event::ExitsRefused(ExitsRefused { order, account, instrument, reason })
            }
        ),
        (order(), account(), instrument(), side(), price(), quantity(), amount()).prop_map(
            |(order, account, instrument, side, price, remaining, released)| {
                Event::Triggered(Triggered {
                    order,
                    account,
                    instrument,
                    side,
                    price,
                    remaining,
                    released,
                })
            }
        ),
    ]
}

/// Any event of accounts, instruments and the venue itself.
fn venue_event() -> impl Strategy<Value = Event> {
    let moved = || (account(), currency(), amount(), text());
    prop_oneof![
        Just(Event::Ticked),
        (account(), text(), order(), of(select(RejectReason::ALL))).prop_map(
            |(account, name, order, reject)| Event::Repeated { account, name, order, reject }
        ),
        (account(), instrument(), uint32(), any::<bool>()).prop_map(
            |(account, instrument, cancelled, pending)| {
                Event::CancelProgress { account, instrument, cancelled, pending }
            }
        ),
        (account(), time()).prop_map(|(account, due)| Event::DeadManSet { account, due }),
        moved().prop_map(|(account, currency, amount, reference)| {
            Event::Deposited { account, currency, amount, reference }
        }),
        moved().prop_map(|(account, currency, amount, reference)| {
            Event::Withdrawn { account, currency, amount, reference }
        }),
        moved().prop_map(|(account, currency, amount, reference)| {
            Event::WithdrawalHeld { account, currency, amount, reference }
        }),
        moved().prop_map(|(account, currency, amount, reference)| {
            Event::WithdrawalSettled { account, currency, amount, reference }
        }),
        moved().prop_map(|(account, currency, amount, reference)| {
            Event::WithdrawalReleased { account, currency, amount, reference }
        }),
        (member(), text()).prop_map(|(member, name)| Event::MemberCreated { member, name }),
        (account(), member(), text()).prop_map(|(account, member, name)| Event::AccountCreated {
            account,
            member,
            name
        }),
        (currency(), text(), scale())
            .prop_map(|(id, code, scale)| Event::CurrencyCreated(Currency { id, code, scale })),
        (instrument(), spec())
            .prop_map(|(instrument, spec)| Event::InstrumentCreated { instrument, spec }),
        (instrument(), rules())
            .prop_map(|(instrument, rules)| Event::RulesSet { instrument, rules }),
        (instrument(), select(InstrumentState::ALL))
            .prop_map(|(instrument, state)| Event::InstrumentStateSet { instrument, state }),
        uint32().prop_map(|version| Event::RulesVersionSet { version }),
        (instrument(), auction_rules())
            .prop_map(|(instrument, rules)| Event::AuctionRulesSet { instrument, rules }),
        (instrument(), price(), quantity(), quantity()).prop_map(
            |(instrument, price, volume, surplus)| {
                Event::Uncrossed(Uncrossed { instrument, price, volume, surplus })
            }
        ),
        (instrument(), price(), price(), price(), any::<bool>()).prop_map(
            |(instrument, price, low, high, until_command)| {
                Event::Interrupted(Interrupted { instrument, price, low, high, until_command })
            }
        ),
        (select(CommandKind::ALL), attribution()).prop_map(|(command, attribution)| {
            Event::Attributed(Attributed { command, attribution })
        }),
        restrict().prop_map(Event::Restricted),
        timetable_event(),
    ]
}

/// Any event.
pub fn event() -> impl Strategy<Value = Event> {
    prop_oneof![order_event(), venue_event()]
}
