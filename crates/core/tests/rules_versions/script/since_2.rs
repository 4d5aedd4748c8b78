//! The part of the script that only version 2 of the rules knows.

use super::{MILLISECOND, OTHER, Script, buy, market, sell, transfer};
use rialto_core::DEPOSIT_KNOWN_NS;
use rialto_model::{
    AccountId, Amount, Command, Deposit, Handling, InstrumentState, NewOrder, OrderSize, PostOnly,
    Quantity, Side, TimeInForce, Timestamp, TradingRules,
};

impl Script {
    pub(super) fn since_version_2(&mut self) {
        self.dead_orders();
        self.turns();
        self.ended_orders();
        self.fees_of_parts();
        self.references();
    }

    pub(super) fn until(&self, nanoseconds: u64, order: NewOrder) -> NewOrder {
        let expire_at = self.venue.time.saturating_add(nanoseconds);
        NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..order }
    }

    /// Orders whose time is over, and that stay on the book until their turn comes.
    fn dead_orders(&mut self) {
        let order = self.until(MILLISECOND, sell(1, 100, 2));
        let first = self.place(order);
        self.rest(30, order);
        let bid = self.until(MILLISECOND, buy(1, 90, 2));
        self.rest(3, bid);
        self.place(sell(2, 100, 4));
        self.place(sell(2, 102, 9));
        self.pass(MILLISECOND);
        self.cancel(1, first);
        self.amend(1, first, Some(99), None);
        self.place(NewOrder { post_only: PostOnly::Slide, ..buy(3, 101, 1) });
        self.place(NewOrder { post_only: PostOnly::Reject, ..sell(3, 90, 1) });
        self.place(NewOrder { time_in_force: TimeInForce::Fok, ..buy(3, 100, 5) });
        self.place(NewOrder { time_in_force: TimeInForce::Fok, ..buy(3, 102, 5) });
        self.place(market(3, Side::Sell, OrderSize::Quote(Amount(100))));
        self.place(market(3, Side::Buy, OrderSize::Quote(Amount(250))));
        self.venue.must_at_once(&Command::Tick);
        self.cancel(1, first);
        self.settle();
        self.clear();
    }

    /// Mass cancels of some accounts, a closing and an expiry, between which turns pass, and claims
    /// that come in the middle of a walk.
    fn turns(&mut self) {
        let tick = |script: &mut Script| script.venue.must_at_once(&Command::Tick);
        let other = |order| NewOrder { instrument: OTHER, ..order };
        let handling = Handling::NONE.with_cancel_on_disconnect(true);
        let leaving = NewOrder { handling, ..buy(1, 20, 1) };
        for _ in 0..270 {
            self.place(leaving);
            self.place(buy(1, 21, 1));
        }
        self.rest(300, sell(2, 200, 1));
        self.rest(140, other(buy(3, 10, 1)));
        self.rest(140, other(sell(4, 20, 1)));
        let expiring = self.until(MILLISECOND, sell(3, 210, 1));
        self.rest(280, expiring);
        self.pass(MILLISECOND);
        self.does(Command::Disconnect { account: AccountId(1) });
        self.mass_cancel(2, Some(1), Some(Side::Sell));
        self.set_state(OTHER, InstrumentState::Withdrawn);
        tick(self);
        self.place(leaving);
        self.mass_cancel(1, Some(1), Some(Side::Buy));
        self.mass_cancel(3, None, None);
        self.mass_cancel(1, None, None);
        self.does(Command::SetDeadMan { account: AccountId(2), timeout_ns: MILLISECOND });
        tick(self);
        self.place(sell(2, 201, 1));
        self.pass(MILLISECOND);
        self.place(buy(1, 22, 1));
        tick(self);
        self.settle();
        self.set_state(OTHER, InstrumentState::Open);
        self.clear();
    }

    /// Client order ids over all accounts, and the ends of the orders that they name.
    fn ended_orders(&mut self) {
        for account in 1..=4 {
            for number in 0..3 {
                let name = format!("of-{account}-{number}");
                let client_order_id = name.parse().expect("a short name");
                let order = buy(account, 50 + i64::from(number), 2);
                self.place(NewOrder { client_order_id, ..order });
            }
        }
        self.place(sell(4, 52, 5));
        self.mass_cancel(2, None, None);
        self.settle();
        for account in 1..=4 {
            let client_order_id = format!("of-{account}-2").parse().expect("a short name");
            self.place(NewOrder { client_order_id, ..buy(account, 52, 2) });
        }
        self.clear();
    }

    /// Trades so small that their fees are less than one unit each.
    fn fees_of_parts(&mut self) {
        let rules = TradingRules { maker_fee_ppm: -9_000, taker_fee_ppm: 10_000, ..self.rules };
        self.set_rules(rules);
        self.place(sell(1, 3, 40));
        for _ in 0..30 {
            self.place(buy(2, 3, 1));
        }
        self.set_rules(TradingRules { collar_ppm: 100_000, ..rules });
        self.place(sell(1, 4, 5));
        self.place(market(2, Side::Buy, OrderSize::Base(Quantity(20))));
        self.set_rules(self.rules);
        self.clear();
    }

    /// Deposits with times, and references that are known for as long as their kind.
    fn references(&mut self) {
        let now = self.venue.time;
        let ago = |nanoseconds| Timestamp(now.0 - nanoseconds);
        for (time, amount, reference) in [
            (ago(DEPOSIT_KNOWN_NS - 1), 11, "old-1"),
            (ago(DEPOSIT_KNOWN_NS - 1), 11, "old-1"),
            (ago(DEPOSIT_KNOWN_NS), 12, "old-2"),
            (now.saturating_add(MILLISECOND), 13, "ahead"),
            (ago(1), 13, "ahead"),
            (ago(1), 14, "ahead"),
        ] {
            self.deposit(time, amount, reference);
        }
        self.pass(2);
        self.deposit(ago(DEPOSIT_KNOWN_NS - 1), 11, "old-1");
        self.deposit(ago(1), 11, "old-1");
        for number in 0..8 {
            self.does(Command::Withdraw(transfer(4, 2, 1, &format!("own-{number}"))));
        }
        for number in [0, 7] {
            self.does(Command::Withdraw(transfer(4, 2, 2, &format!("own-{number}"))));
        }
        for number in 0..24 {
            self.deposit(Timestamp::ZERO, 1, &format!("full-{number}"));
        }
        self.pass(DEPOSIT_KNOWN_NS);
        self.deposit(Timestamp::ZERO, 1, "full-0");
    }

    fn deposit(&mut self, time: Timestamp, amount: i128, reference: &str) {
        let transfer = transfer(1, 2, amount, reference);
        self.does(Command::Deposit(Deposit { transfer, time }));
    }
}
