//! A journal written by hand, with a command of every kind and with the decisions that later
//! versions of the rules make otherwise.

mod since_10;
mod since_2;
mod since_3;
mod since_4;
mod since_5;
mod since_6;
mod since_7;
mod since_8;
mod since_9;

use super::recorded::Journal;
use super::reference::lockstep::Lockstep;
use super::reference::world::{World, plain_order};
use rialto_core::Limits;
use rialto_model::{
    AccountId, Amend, Amount, Command, CurrencyId, Handling, InstrumentId, InstrumentState,
    MassCancel, MemberId, NewOrder, OrderId, OrderKind, OrderRef, OrderSize, Outcome, PostOnly,
    Price, Quantity, Scale, SelfTrade, Side, TimeInForce, Timestamp, TradingRules, Transfer,
};

const SPOT: InstrumentId = InstrumentId(1);
const OTHER: InstrumentId = InstrumentId(2);
const MILLISECOND: u64 = 1_000_000;

struct Script {
    venue: Lockstep,
    rules: TradingRules,
}

/// The limits and the commands.
pub(crate) fn journal() -> (Limits, Journal) {
    let mut world = World::plain(&[1_000_000_000; 4]);
    world.limits.pending_cancels_max = 2;
    world.limits.client_ids_max = 3;
    world.limits.transfers_max = 12;
    world.limits.withdrawals_max = 3;
    world.limits.account_transfers_max = 5;
    world.limits.deposits_max = 24;
    world.limits.client_ids_total_max = 8;
    let venue = Lockstep::set_up(&world);
    let rules = TradingRules {
        maker_fee_ppm: 1_000,
        taker_fee_ppm: 10_000,
        market_protection_ppm: 900_000,
        self_trade: SelfTrade::CancelNewest,
        ..TradingRules::unrestrained()
    };
    let mut script = Script { venue, rules };
    script.listing();
    script.prices();
    script.fees();
    script.client_ids();
    script.transfers();
    script.orders_of_all_kinds();
    script.long_takers();
    script.cancels();
    script.expiry();
    script.closing();
    script.versions();
    script.since_version_2();
    script.since_version_3();
    script.since_version_4();
    script.since_version_5();
    script.since_version_6();
    script.since_version_7();
    script.since_version_8();
    script.since_version_9();
    script.since_version_10();
    (world.limits, script.venue.journal)
}

fn order(account: u32, side: Side, price: i64, quantity: i64) -> NewOrder {
    NewOrder {
        account: AccountId(account),
        side,
        price: Price(price),
        size: OrderSize::Base(Quantity(quantity)),
        ..plain_order()
    }
}

fn buy(account: u32, price: i64, quantity: i64) -> NewOrder {
    order(account, Side::Buy, price, quantity)
}

fn sell(account: u32, price: i64, quantity: i64) -> NewOrder {
    order(account, Side::Sell, price, quantity)
}

fn market(account: u32, side: Side, size: OrderSize) -> NewOrder {
    let (kind, time_in_force) = (OrderKind::Market, TimeInForce::Ioc);
    NewOrder { kind, time_in_force, size, ..order(account, side, 0, 1) }
}

fn transfer(account: u32, currency: u16, amount: i128, reference: &str) -> Transfer {
    let (account, currency) = (AccountId(account), CurrencyId(currency));
    Transfer { account, currency, amount: Amount(amount), reference: reference.parse().unwrap() }
}

impl Script {
    fn does(&mut self, command: Command) -> Outcome {
        self.venue.must(&command)
    }

    fn place(&mut self, order: NewOrder) -> OrderId {
        match self.does(Command::Place(order)) {
            Outcome::Order { order, .. } => order,
            _ => OrderId(0),
        }
    }

    fn rest(&mut self, count: usize, order: NewOrder) {
        for _ in 0..count {
            self.place(order);
        }
    }

    fn amend(&mut self, account: u32, id: OrderId, price: Option<i64>, quantity: Option<i64>) {
        let (account, order) = (AccountId(account), OrderRef::Id(id));
        let (price, quantity) = (price.map(Price), quantity.map(Quantity));
        self.does(Command::Amend(Amend { account, order, price, quantity }));
    }

    fn cancel(&mut self, account: u32, id: OrderId) -> Outcome {
        self.does(Command::Cancel { account: AccountId(account), order: OrderRef::Id(id) })
    }

    fn mass_cancel(&mut self, account: u32, instrument: Option<u32>, side: Option<Side>) {
        let (account, instrument) = (AccountId(account), instrument.map(InstrumentId));
        self.does(Command::MassCancel(MassCancel { account, instrument, side }));
    }

    fn set_rules(&mut self, rules: TradingRules) {
        self.does(Command::SetRules { instrument: SPOT, rules });
    }

    fn set_state(&mut self, instrument: InstrumentId, state: InstrumentState) {
        self.does(Command::SetInstrumentState { instrument, state });
    }

    fn pass(&mut self, nanoseconds: u64) {
        self.venue.pass(nanoseconds).unwrap();
    }

    /// Ticks until nothing is left to do.
    fn settle(&mut self) {
        while self.venue.reference.next_background_work() <= self.venue.time
            || self.venue.reference.next_due() <= self.venue.time
        {
            self.venue.must_at_once(&Command::Tick);
        }
    }

    /// Ends all orders.
    fn clear(&mut self) {
        for account in 1..=4 {
            self.mass_cancel(account, None, None);
            self.settle();
        }
    }

    fn listing(&mut self) {
        let name = "late".parse().unwrap();
        self.does(Command::CreateMember { member: MemberId(9), name });
        self.does(Command::CreateMember { member: MemberId(9), name });
        self.does(Command::CreateAccount { account: AccountId(9), member: MemberId(9), name });
        self.does(Command::CreateAccount { account: AccountId(0), member: MemberId(77), name });
        let code = "EXTRA".parse().unwrap();
        let scale = Scale::new(2).unwrap();
        self.does(Command::CreateCurrency { code, scale });
        self.does(Command::CreateCurrency { code, scale });
        let spec = self.venue.reference.instruments[0].instrument.spec;
        let symbol = "OTHER".parse().unwrap();
        self.does(Command::CreateInstrument(rialto_model::InstrumentSpec { symbol, ..spec }));
        self.does(Command::CreateInstrument(spec));
        self.set_rules(TradingRules { tick: Price(0), ..self.rules });
        self.set_rules(self.rules);
    }

    /// Slides off the tick and outside the collar; market orders far from the last price.
    fn prices(&mut self) {
        self.place(sell(1, 103, 5));
        self.place(buy(2, 97, 5));
        self.set_rules(TradingRules { tick: Price(5), ..self.rules });
        let slide = |order| NewOrder { post_only: PostOnly::Slide, ..order };
        self.place(slide(buy(3, 110, 2)));
        self.place(slide(sell(3, 95, 2)));
        let slid = self.place(slide(buy(4, 100, 2)));
        self.amend(4, slid, Some(120), None);
        self.place(NewOrder { post_only: PostOnly::Reject, ..buy(4, 200, 2) });
        self.set_rules(self.rules);
        self.clear();
        self.place(sell(1, 100, 1));
        self.place(buy(2, 100, 1));
        self.set_rules(TradingRules { collar_ppm: 50_000, ..self.rules });
        self.place(sell(1, 106, 1));
        self.place(sell(1, 104, 3));
        self.place(slide(buy(2, 105, 1)));
        self.set_rules(self.rules);
        self.place(sell(1, 150, 3));
        self.place(sell(1, 180, 3));
        self.set_rules(TradingRules { collar_ppm: 50_000, ..self.rules });
        self.place(market(2, Side::Buy, OrderSize::Base(Quantity(8))));
        self.place(market(2, Side::Buy, OrderSize::Quote(Amount(100))));
        self.place(market(2, Side::Sell, OrderSize::Base(Quantity(1))));
        self.place(slide(buy(2, 181, 1)));
        self.set_rules(self.rules);
        self.clear();
    }

    /// Rebates that were promised before fees were cut, and fees of tiny trades.
    fn fees(&mut self) {
        let promised = TradingRules { maker_fee_ppm: -9_000, taker_fee_ppm: 10_000, ..self.rules };
        self.set_rules(promised);
        self.place(sell(1, 10_000, 10));
        self.place(sell(1, 10_001, 10));
        let amended = self.place(sell(1, 10_002, 10));
        self.set_rules(TradingRules { maker_fee_ppm: 0, taker_fee_ppm: 1_000, ..self.rules });
        self.amend(1, amended, None, Some(8));
        self.place(buy(2, 10_000, 4));
        self.amend(1, amended, Some(10_000), None);
        self.place(buy(2, 10_002, 30));
        self.set_rules(promised);
        self.place(sell(1, 30, 100));
        self.rest(6, buy(2, 30, 3));
        let taker = self.place(buy(2, 29, 50));
        self.place(sell(3, 29, 7));
        self.amend(2, taker, Some(30), None);
        self.set_rules(self.rules);
        self.clear();
    }

    /// Orders inside and outside the window of client order ids.
    fn client_ids(&mut self) {
        let named = |number: u32, order| {
            let client_order_id = format!("client-{number}").parse().unwrap();
            NewOrder { client_order_id, ..order }
        };
        for number in 0..6 {
            self.place(named(number, buy(1, 50 + i64::from(number), 2)));
        }
        for number in [0, 3, 5] {
            self.place(named(number, buy(1, 50 + i64::from(number), 2)));
        }
        self.place(named(5, buy(1, 50, 9)));
        self.place(named(7, buy(1, -1, 2)));
        self.place(named(7, buy(1, -1, 2)));
        let by_name = |number: u32| OrderRef::Client(format!("client-{number}").parse().unwrap());
        for number in [0, 0, 5, 7, 8] {
            self.does(Command::Cancel { account: AccountId(1), order: by_name(number) });
        }
        self.place(named(8, buy(1, 60, 1)));
        self.place(sell(2, 60, 1));
        self.place(named(8, buy(1, 60, 1)));
        for number in 10..14 {
            let time_in_force = TimeInForce::Ioc;
            self.place(named(number, NewOrder { time_in_force, ..buy(1, 40, 1) }));
        }
        self.place(named(8, buy(1, 60, 1)));
        self.clear();
    }

    /// Deposits and withdrawals that come again, also after their references are forgotten.
    fn transfers(&mut self) {
        for (currency, amount, reference) in [
            (2, 500, "d-1"),
            (2, 500, "d-1"),
            (2, 501, "d-1"),
            (9, 5, "d-2"),
            (2, 0, "d-3"),
            (2, 1, ""),
        ] {
            self.does(Command::deposit(transfer(1, currency, amount, reference)));
        }
        for number in 0..14 {
            let reference = format!("w-{number}");
            self.does(Command::Withdraw(transfer(3, 2, 1, &reference)));
        }
        self.does(Command::Withdraw(transfer(3, 2, i128::from(i64::MAX), "w-all")));
        self.does(Command::deposit(transfer(1, 2, 500, "d-1")));
        for number in 0..4 {
            let held = transfer(2, 1, 7 + number, &format!("h-{number}"));
            self.does(Command::HoldWithdrawal(held));
            self.does(Command::HoldWithdrawal(held));
        }
        let (account, unknown) = (AccountId(2), "h-9".parse().unwrap());
        let [first, second] = ["h-0", "h-1"].map(|reference| reference.parse().unwrap());
        for _ in 0..2 {
            self.does(Command::SettleWithdrawal { account, reference: first });
            self.does(Command::ReleaseWithdrawal { account, reference: second });
            self.does(Command::SettleWithdrawal { account, reference: second });
            self.does(Command::ReleaseWithdrawal { account, reference: first });
            self.does(Command::ReleaseWithdrawal { account, reference: unknown });
        }
    }

    fn orders_of_all_kinds(&mut self) {
        let fok = |order| NewOrder { time_in_force: TimeInForce::Fok, ..order };
        let day = |order| NewOrder { time_in_force: TimeInForce::Day, ..order };
        self.rest(4, sell(1, 100, 3));
        self.place(fok(buy(2, 100, 13)));
        self.place(fok(buy(2, 100, 5)));
        self.place(fok(market(2, Side::Buy, OrderSize::Quote(Amount(450)))));
        self.place(market(2, Side::Buy, OrderSize::Quote(Amount(250))));
        self.place(day(buy(3, 90, 10)));
        self.place(market(4, Side::Sell, OrderSize::Quote(Amount(300))));
        self.place(fok(market(4, Side::Sell, OrderSize::Quote(Amount(90)))));
        for mode in [
            SelfTrade::Allow,
            SelfTrade::CancelNewest,
            SelfTrade::CancelOldest,
            SelfTrade::CancelBoth,
            SelfTrade::Decrement,
        ] {
            self.place(sell(2, 95, 4));
            self.place(NewOrder { self_trade: Some(mode), ..buy(2, 95, 6) });
        }
        self.set_state(SPOT, InstrumentState::Halted);
        self.place(buy(1, 10, 1));
        self.set_state(SPOT, InstrumentState::Open);
        let id = self.place(buy(1, 10, 3));
        self.amend(1, id, None, Some(2));
        self.amend(1, id, None, None);
        self.amend(1, id, Some(11), Some(4));
        self.cancel(2, id);
        self.cancel(1, id);
        self.cancel(1, id);
        self.pass(Timestamp::DAY);
        self.clear();
    }

    /// Takers that meet more than 256 makers: a new order and an amended one.
    fn long_takers(&mut self) {
        self.rest(300, sell(1, 100, 1));
        self.venue.must_at_once(&Command::Place(buy(2, 100, 310)));
        self.settle();
        self.rest(270, sell(1, 101, 1));
        let amended = self.place(buy(3, 90, 280));
        let named = OrderRef::Id(amended);
        let price = Some(Price(101));
        let amend = Amend { account: AccountId(3), order: named, price, quantity: None };
        self.venue.must_at_once(&Command::Amend(amend));
        self.settle();
        self.clear();
    }

    /// Mass cancels and disconnects of more than 256 orders, with other commands between, and one
    /// more than may continue; a dead-man timer that waits for room.
    fn cancels(&mut self) {
        let handling = Handling::NONE.with_cancel_on_disconnect(true);
        let leaving = NewOrder { handling, ..buy(1, 20, 1) };
        for _ in 0..150 {
            self.place(leaving);
            self.place(buy(1, 21, 1));
        }
        self.rest(280, sell(2, 200, 1));
        self.rest(270, sell(3, 201, 1));
        self.mass_cancel(2, Some(1), Some(Side::Buy));
        self.does(Command::Disconnect { account: AccountId(1) });
        self.mass_cancel(3, None, None);
        self.mass_cancel(3, Some(1), None);
        self.does(Command::Disconnect { account: AccountId(4) });
        self.place(buy(1, 22, 1));
        let newest = self.venue.reference.orders.last().expect("one was placed").id;
        self.amend(1, newest, Some(23), None);
        let timer = |account, timeout_ns| Command::SetDeadMan { account, timeout_ns };
        self.does(timer(AccountId(3), MILLISECOND));
        self.does(timer(AccountId(2), Timestamp::DAY + 1));
        self.venue.must_at_once(&Command::Tick);
        self.pass(2 * MILLISECOND);
        self.settle();
        self.does(timer(AccountId(4), MILLISECOND));
        self.does(timer(AccountId(4), 0));
        self.mass_cancel(77, None, None);
        self.clear();
    }

    /// The expiry of more than 256 orders at once.
    fn expiry(&mut self) {
        let expire_at = self.venue.time.saturating_add(MILLISECOND);
        let until = |order| NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..order };
        self.rest(150, until(buy(1, 50, 1)));
        self.rest(150, until(sell(2, 60, 1)));
        let kept = self.place(sell(2, 61, 5));
        self.place(NewOrder { expire_at: Timestamp(1), ..until(buy(1, 1, 1)) });
        self.does(Command::SetDeadMan { account: AccountId(2), timeout_ns: MILLISECOND });
        self.pass(MILLISECOND);
        self.settle();
        self.cancel(2, kept);
    }

    fn closing(&mut self) {
        let other = |order| NewOrder { instrument: OTHER, ..order };
        self.rest(140, other(buy(1, 10, 1)));
        self.rest(140, other(sell(2, 20, 1)));
        self.set_state(OTHER, InstrumentState::Withdrawn);
        self.set_state(OTHER, InstrumentState::Withdrawn);
        self.set_state(OTHER, InstrumentState::Open);
        self.place(other(buy(1, 10, 1)));
        self.settle();
        self.set_state(OTHER, InstrumentState::Open);
        self.set_state(InstrumentId(9), InstrumentState::Open);
    }

    fn versions(&mut self) {
        let version = *rialto_core::RULES_VERSIONS.end();
        self.does(Command::SetRulesVersion { version });
        self.does(Command::SetRulesVersion { version: u32::MAX });
        self.does(Command::SetRulesVersion { version: 0 });
    }
}
