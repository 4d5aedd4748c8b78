//! The part of the script that only version 4 of the rules knows.

use super::{MILLISECOND, SPOT, Script, buy, market, sell, transfer};
use rialto_model::{
    AccountId, AuctionRules, CircuitBreakerRule, Command, HaltScope, InstrumentId, InstrumentState,
    MemberId, Name, NewOrder, OrderSize, PlannedTransition, PostOnly, Price, Quantity, Restrict,
    Restriction, RestrictionTarget, SelfTrade, Side, TimeInForce, Timestamp, TradingRules,
};

fn for_auction(order: NewOrder) -> NewOrder {
    NewOrder { time_in_force: TimeInForce::Gfa, ..order }
}

const fn day_length() -> u64 {
    200 * MILLISECOND
}

/// A day of two sessions that begins soon.
fn day_from(time: Timestamp) -> Vec<PlannedTransition> {
    use InstrumentState as S;
    let at = |part: u64| time.saturating_add(part * day_length() / 20);
    let plain = |part, state| PlannedTransition::plain(at(part), state);
    let call = |part, state, next| PlannedTransition {
        earliest_end: at(part + 2),
        random_end_ms: 5,
        next,
        no_cancel_from: at(part + 1),
        ..plain(part, state)
    };
    vec![
        plain(1, S::PreOpen),
        call(3, S::Call, S::Open),
        plain(6, S::Open),
        PlannedTransition { ends_session: true, ..plain(9, S::Closed) },
        plain(11, S::Open),
        call(14, S::ClosingCall, S::Closed),
        PlannedTransition { ends_session: true, ends_day: true, ..plain(19, S::Closed) },
    ]
}

fn market_for_auction(account: u32, side: Side, quantity: i64) -> NewOrder {
    for_auction(market(account, side, OrderSize::Base(Quantity(quantity))))
}

impl Script {
    pub(super) fn since_version_4(&mut self) {
        self.phases();
        self.prices_of_auctions();
        self.own_orders_in_auctions();
        self.long_auctions();
        self.ranges();
        self.finer_ticks();
        self.restrictions();
        self.timetables();
        self.halts();
    }

    fn set_auction_rules(&mut self, rules: AuctionRules) {
        self.does(Command::SetAuctionRules { instrument: SPOT, rules, seed: 4 });
    }

    fn open(&mut self) {
        self.set_state(SPOT, InstrumentState::Open);
        self.settle();
    }

    /// What every state accepts.
    fn phases(&mut self) {
        for state in InstrumentState::ALL {
            let last = *state == InstrumentState::Delisted;
            self.set_state(SPOT, if last { InstrumentState::Open } else { *state });
            for time_in_force in TimeInForce::ALL {
                self.place(NewOrder { time_in_force: *time_in_force, ..buy(1, 50, 1) });
            }
            self.place(NewOrder { post_only: PostOnly::Slide, ..buy(1, 50, 1) });
            self.place(market_for_auction(2, Side::Sell, 2));
            self.settle();
            self.clear();
        }
        self.open();
    }

    /// Surpluses of both sides, market orders, and orders that find nobody.
    fn prices_of_auctions(&mut self) {
        self.set_auction_rules(AuctionRules { fee_ppm: 3_333, ..AuctionRules::PLAIN });
        for (bought, sold) in [(10, 4), (4, 10), (7, 7)] {
            for state in [InstrumentState::Call, InstrumentState::ClosingCall] {
                self.set_state(SPOT, state);
                self.place(buy(1, 105, bought));
                self.place(buy(2, 100, 2));
                self.place(sell(3, 98, sold));
                self.place(sell(4, 103, 2));
                let own = self.place(for_auction(buy(4, 104, 3)));
                self.place(market_for_auction(2, Side::Buy, 1));
                self.place(market_for_auction(3, Side::Sell, 2));
                self.amend(4, own, Some(101), Some(5));
                self.set_state(SPOT, InstrumentState::Halted);
                self.set_state(SPOT, InstrumentState::Closed);
                self.settle();
                self.open();
                self.clear();
            }
        }
        self.set_state(SPOT, InstrumentState::PreOpen);
        self.place(market_for_auction(1, Side::Buy, 3));
        self.place(market_for_auction(2, Side::Sell, 2));
        self.open();
    }

    fn own_orders_in_auctions(&mut self) {
        for self_trade in SelfTrade::ALL {
            self.set_auction_rules(AuctionRules { self_trade: *self_trade, ..AuctionRules::PLAIN });
            self.set_state(SPOT, InstrumentState::Call);
            self.place(sell(1, 90, 10));
            self.place(sell(2, 100, 3));
            self.place(buy(1, 105, 8));
            self.place(buy(3, 101, 4));
            self.open();
            self.clear();
        }
    }

    /// An auction of many commands, and what comes meanwhile.
    fn long_auctions(&mut self) {
        self.set_auction_rules(AuctionRules::PLAIN);
        self.set_state(SPOT, InstrumentState::Call);
        let mut last = None;
        for number in 0..200 {
            let order = self.until(MILLISECOND, buy(1, 101 + number % 3, 1));
            last = Some(self.place(order));
            self.place(sell(2, 99 - number % 3, 1));
            self.place(for_auction(buy(3, 60, 1)));
        }
        self.set_state(SPOT, InstrumentState::Open);
        let last = last.expect("orders were placed");
        self.cancel(1, last);
        self.amend(1, last, None, Some(7));
        self.place(buy(4, 100, 1));
        self.set_state(SPOT, InstrumentState::Halted);
        self.set_auction_rules(AuctionRules::PLAIN);
        self.mass_cancel(1, None, None);
        self.does(Command::Disconnect { account: AccountId(3) });
        self.pass(2 * MILLISECOND);
        self.venue.must_at_once(&Command::Tick);
        self.mass_cancel(3, None, Some(Side::Buy));
        self.settle();
        self.clear();
    }

    /// Limits of the day, interruptions, and calls that are extended.
    fn ranges(&mut self) {
        self.set_auction_rules(AuctionRules {
            daily_range_ppm: 200_000,
            static_range_ppm: 100_000,
            dynamic_range_ppm: 50_000,
            auction_range_ppm: 20_000,
            extended_range_ppm: 60_000,
            call_ms: 3,
            random_end_ms: 4,
            ..AuctionRules::PLAIN
        });
        for price in [60, 79, 80, 120, 121, 200] {
            self.place(sell(1, price, 2));
            self.place(buy(2, price, 1));
        }
        self.settle();
        for time_in_force in [TimeInForce::Gtc, TimeInForce::Ioc, TimeInForce::Fok] {
            for away in [2, 4, 7] {
                let last = self.venue.reference.listed(SPOT).expect("it is listed").last_price;
                let last = last.unwrap_or(Price(100)).0;
                self.place(sell(1, last + 1, 2));
                self.place(sell(1, last + away, 9));
                self.place(NewOrder { time_in_force, ..buy(2, last + away, 6) });
                self.place(buy(3, last + away, 9));
                self.pass(20 * MILLISECOND);
                self.settle();
                self.pass(20 * MILLISECOND);
                self.open();
                self.clear();
            }
        }
        let wrong = AuctionRules { call_ms: 0, static_range_ppm: 1, ..AuctionRules::PLAIN };
        self.set_auction_rules(wrong);
        self.set_auction_rules(AuctionRules::PLAIN);
    }

    /// What each restriction refuses, who lifts it, and the cancels that come with it.
    fn restrictions(&mut self) {
        let one = [
            RestrictionTarget::Account(AccountId(1)),
            RestrictionTarget::Member(MemberId(1)),
            RestrictionTarget::Instrument(SPOT),
            RestrictionTarget::Venue,
        ];
        for target in one {
            for restriction in Restriction::ALL.iter().rev().copied() {
                for by_member in [true, false] {
                    let set = Restrict { target, restriction, by_member, cancel: false };
                    let order = self.place(buy(1, 50, 3));
                    self.does(Command::Restrict(set));
                    self.place(buy(1, 51, 1));
                    self.amend(1, order, Some(49), None);
                    self.amend(1, order, None, Some(5));
                    self.amend(1, order, None, Some(2));
                    self.does(Command::Withdraw(transfer(1, 2, 1, "of-restricted")));
                    self.does(Command::HoldWithdrawal(transfer(1, 2, 1, "held-restricted")));
                    self.does(Command::Restrict(Restrict { cancel: true, ..set }));
                    let lifted = Restrict { restriction: Restriction::None, ..set };
                    self.does(Command::Restrict(lifted));
                    self.settle();
                    self.does(Command::Restrict(lifted));
                    self.clear();
                }
            }
        }
        for target in one {
            self.rest(300, buy(1, 20, 1));
            self.rest(300, sell(2, 200, 1));
            let restriction = Restriction::CancelOnly;
            let set = Restrict { target, restriction, by_member: false, cancel: true };
            self.does(Command::Restrict(set));
            self.does(Command::Restrict(Restrict {
                restriction: Restriction::None,
                cancel: false,
                ..set
            }));
            self.place(buy(1, 21, 1));
            self.venue.must_at_once(&Command::Tick);
            self.settle();
            self.does(Command::Restrict(Restrict {
                restriction: Restriction::None,
                cancel: false,
                ..set
            }));
            self.clear();
        }
    }

    fn plan(&mut self, calendar: Name, transitions: &[PlannedTransition], replace: bool) {
        for (number, transition) in (0..).zip(transitions) {
            let transition = *transition;
            self.does(Command::PlanTransition { calendar, number, transition });
        }
        let count = transitions.len() as u32;
        self.does(Command::AdoptPlan { calendar, count, digest: 5, seed: 6, replace });
    }

    /// A day by a timetable, with orders in every phase; plans that are refused, replaced and moved;
    /// transitions that come late.
    fn timetables(&mut self) {
        let calendar: Name = "day".parse().expect("it is short");
        self.does(Command::AssignCalendar { instrument: SPOT, calendar });
        self.does(Command::MoveTransition { calendar, at: Timestamp(1), to: Timestamp(2) });
        for late in [false, true] {
            let day = day_from(self.venue.time);
            self.plan(calendar, &day[1..3], true);
            self.plan(calendar, &day, false);
            self.plan(calendar, &day, true);
            self.does(Command::AssignCalendar { instrument: SPOT, calendar });
            let (at, to) = (day[2].at, day[2].at.saturating_add(MILLISECOND));
            self.does(Command::MoveTransition { calendar, at, to });
            self.does(Command::MoveTransition { calendar, at: to, to: at });
            self.does(Command::MoveTransition { calendar, at, to: day[0].at });
            if late {
                self.pass(20 * day_length());
            }
            for _ in 0..24 {
                self.place(NewOrder { time_in_force: TimeInForce::Gfs, ..buy(1, 101, 2) });
                self.place(NewOrder { time_in_force: TimeInForce::Day, ..sell(2, 99, 3) });
                let own = self.place(buy(3, 100, 1));
                self.amend(3, own, None, Some(2));
                self.cancel(3, own);
                self.mass_cancel(2, None, None);
                self.pass(day_length() / 20);
                self.settle();
            }
            self.open();
            self.clear();
        }
        self.does(Command::AdoptPlan { calendar, count: 1, digest: 0, seed: 0, replace: true });
        self.does(Command::AssignCalendar { instrument: SPOT, calendar: Name::EMPTY });
    }

    /// Halts of every phase and scope, circuit breakers, and prices that stay at a limit.
    fn halts(&mut self) {
        let calendar: Name = "halts".parse().expect("it is short");
        let one = HaltScope::Instrument(SPOT);
        let halt = |scope, duration_ms| Command::HaltTrading { scope, duration_ms };
        self.does(halt(HaltScope::Calendar(calendar), 1));
        self.does(halt(one, 0));
        self.plan(calendar, &day_from(self.venue.time.saturating_add(Timestamp::DAY)), true);
        self.does(Command::AssignCalendar { instrument: SPOT, calendar });
        let rules = self.venue.reference.listed(SPOT).expect("it is listed").instrument.spec.rules;
        self.set_rules(TradingRules { reference_price: Price(100), ..rules });
        self.set_auction_rules(AuctionRules {
            call_ms: 2,
            random_end_ms: 2,
            ..AuctionRules::PLAIN
        });
        for state in InstrumentState::ALL {
            let last = *state == InstrumentState::Delisted;
            self.set_state(SPOT, if last { InstrumentState::Open } else { *state });
            self.place(buy(1, 101, 2));
            self.place(sell(2, 99, 3));
            for scope in [one, HaltScope::Calendar(calendar), HaltScope::Venue] {
                self.does(halt(scope, 3));
                self.place(buy(1, 100, 1));
                self.pass(MILLISECOND);
            }
            for _ in 0..4 {
                self.pass(2 * MILLISECOND);
                self.settle();
            }
            self.open();
            self.clear();
        }
        let (instrument, range_ppm, halt_ms) = (SPOT, 50_000, 3);
        let breaker = CircuitBreakerRule { calendar, instrument, range_ppm, halt_ms };
        for breaker in [
            CircuitBreakerRule { range_ppm: 1_000_000, ..breaker },
            CircuitBreakerRule { instrument: InstrumentId(2), ..breaker },
            breaker,
        ] {
            self.does(Command::SetCircuitBreaker(breaker));
        }
        self.does(Command::AssignCalendar { instrument: SPOT, calendar: Name::EMPTY });
        for _ in 0..2 {
            self.place(sell(2, 106, 3));
            self.place(buy(1, 106, 2));
            self.pass(8 * MILLISECOND);
            self.settle();
            self.clear();
        }
        self.does(Command::SetCircuitBreaker(CircuitBreakerRule { range_ppm: 0, ..breaker }));
        self.set_auction_rules(AuctionRules {
            call_ms: 2,
            limit_range_ppm: 50_000,
            limit_state_ms: 4,
            halt_ms: 1_000,
            ..AuctionRules::PLAIN
        });
        for price in [94, 95, 105, 106] {
            for stays in [false, true] {
                let own = self.place(buy(1, price, 2));
                self.pass(MILLISECOND);
                if !stays {
                    self.cancel(1, own);
                }
                self.place(sell(2, price, 1));
                self.pass(Timestamp::SECOND);
                self.pass(8 * MILLISECOND);
                self.settle();
                self.open();
                self.clear();
            }
        }
        self.does(Command::AssignCalendar { instrument: SPOT, calendar: Name::EMPTY });
        self.set_auction_rules(AuctionRules::PLAIN);
    }

    /// A tick and a lot change only to finer ones.
    fn finer_ticks(&mut self) {
        let rules = self.venue.reference.listed(SPOT).expect("it is listed").instrument.spec.rules;
        self.set_rules(TradingRules { tick: Price(4), lot: Quantity(6), ..rules });
        self.place(buy(1, 96, 12));
        for (tick, lot) in [(3, 6), (4, 4), (2, 3), (1, 1)] {
            self.set_rules(TradingRules { tick: Price(tick), lot: Quantity(lot), ..rules });
        }
        self.clear();
    }
}
