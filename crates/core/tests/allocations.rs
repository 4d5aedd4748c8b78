//! The steady state allocates nothing: not for orders of any kind, fills, cancels, amendments or
//! expiries, with and without client order ids, in continuous trading and in calls and auctions.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_core::{Core, CoreConfig, EventSink, Limits};
use rialto_model::{
    AccountId, Amend, AmendTrigger, Amount, ClientOrderId, Command, Condition, ConditionalOrder,
    CurrencyId, Distance, Done, DoneReason, EngineId, Event, IcebergOrder, InstrumentId,
    InstrumentKind, InstrumentSpec, InstrumentState, Leg, LinkKind, MemberId, NewOrder, OrderId,
    OrderKind, OrderList, OrderRef, OrderSize, Outcome, Price, Quantity, RejectReason, Rejected,
    Scale, SelfTrade, Seq, Side, TimeInForce, Timestamp, TradingRules, TrailTerms, TrailingOrder,
    Transfer, Trigger, TriggerKind,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is being torn down may still allocate; that is not counted.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ACCOUNTS: u64 = 20;
const SPOT: InstrumentId = InstrumentId(1);

/// What happened so far.
#[derive(Clone, Copy, Default)]
struct Tally {
    trades: u64,
    amended: u64,
    cancelled: u64,
    expired: u64,
    triggered: u64,
    /// Trades of auctions.
    uncrossed: u64,
    icebergs: u64,
    refreshed: u64,
    /// Entries with exits.
    entries: u64,
    /// Pairs of orders, exits among them.
    pairs: u64,
    /// Orders that ended because the other of their pair traded.
    linked: u64,
    trails: u64,
    activated: u64,
    is_call: bool,
    /// Of these, what came in calls.
    called_icebergs: u64,
    called_conditional: u64,
    called_lists: u64,
    /// Orders that came while an auction traded.
    frozen: u64,
}

impl EventSink for Tally {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Trade(trade) => {
                self.trades += 1;
                self.uncrossed += u64::from(trade.auction);
            }
            Event::InstrumentStateSet { state, .. } => {
                self.is_call = *state == InstrumentState::Call;
            }
            Event::IcebergSet(_) => {
                self.icebergs += 1;
                self.called_icebergs += u64::from(self.is_call);
            }
            Event::TriggerSet(_) => self.called_conditional += u64::from(self.is_call),
            Event::IcebergRefreshed(_) => self.refreshed += 1,
            Event::ExitsSet(_) => {
                self.entries += 1;
                self.called_lists += u64::from(self.is_call);
            }
            Event::OrdersLinked(_) => self.pairs += 1,
            Event::TrailSet(_) => self.trails += 1,
            Event::TrailActivated(_) => self.activated += 1,
            Event::Done(Done { reason: DoneReason::Linked, .. }) => self.linked += 1,
            Event::Rejected(Rejected { reason: RejectReason::InstrumentUncrossing, .. }) => {
                self.frozen += 1;
            }
            Event::Amended(_) => self.amended += 1,
            Event::Triggered(_) => self.triggered += 1,
            Event::Done(Done { reason: DoneReason::Cancelled, .. }) => self.cancelled += 1,
            Event::Done(Done { reason: DoneReason::Expired, .. }) => self.expired += 1,
            _ => {}
        }
    }
}

impl Tally {
    /// Fails if hardly any orders of a kind came, or hardly anything became of them.
    fn assert_kinds(&self, before: &Tally) {
        for (what, now, before) in [
            ("trades", self.trades, before.trades),
            ("amendments", self.amended, before.amended),
            ("cancels", self.cancelled, before.cancelled),
            ("expired orders", self.expired, before.expired),
            ("triggered orders", self.triggered, before.triggered),
            ("icebergs", self.icebergs, before.icebergs),
            ("refreshed icebergs", self.refreshed, before.refreshed),
            ("entries with exits", self.entries, before.entries),
            ("pairs", self.pairs, before.pairs),
            ("orders ended by their pair", self.linked, before.linked),
            ("trailing stops", self.trails, before.trails),
            ("activated trailing stops", self.activated, before.activated),
        ] {
            assert!(now - before > 1_000, "only {} {what}", now - before);
        }
    }
}

/// Trades all day in one venue, the same mix in every round.
struct Trader {
    core: Core,
    seq: u64,
    time: u64,
    draw: u64,
    named: bool,
    names: u64,
    /// Orders that are known here.
    open_most: usize,
    /// Of the last order.
    account: AccountId,
    open: Vec<(AccountId, OrderId)>,
    sink: Tally,
}

impl Trader {
    fn new(named: bool, limits: Limits) -> Trader {
        let config = CoreConfig { limits, ..CoreConfig::new(EngineId(1)) };
        let mut trader = Trader {
            core: Core::new(config),
            seq: 0,
            time: 1,
            draw: 9,
            named,
            names: 0,
            open_most: 800,
            account: AccountId(0),
            open: Vec::with_capacity(10_000),
            sink: Tally::default(),
        };
        trader.core.reserve(10_000);
        let scale = Scale::new(6).unwrap();
        for code in ["BASE", "QUOTE"] {
            trader.apply(&Command::CreateCurrency { code: code.parse().unwrap(), scale });
        }
        let zero = Scale::new(0).unwrap();
        trader.apply(&Command::CreateInstrument(InstrumentSpec {
            symbol: "BASE-QUOTE".parse().unwrap(),
            kind: InstrumentKind::Spot,
            base: CurrencyId(1),
            quote: CurrencyId(2),
            price_scale: zero,
            quantity_scale: zero,
            rules: TradingRules {
                quantity_max: Quantity(1_000),
                market_protection_ppm: 10_000,
                maker_fee_ppm: -10,
                taker_fee_ppm: 50,
                self_trade: SelfTrade::CancelOldest,
                open_orders_max: 1_000,
                ..TradingRules::unrestrained()
            },
        }));
        for id in 1..=ACCOUNTS as u32 {
            let (account, member) = (AccountId(id), MemberId(id));
            let name = "trader".parse().unwrap();
            trader.apply(&Command::CreateMember { member, name });
            trader.apply(&Command::CreateAccount { account, member, name });
            for currency in [CurrencyId(1), CurrencyId(2)] {
                let reference = format!("fund-{}", currency.0).parse().unwrap();
                let amount = Amount(1 << 100);
                trader.apply(&Command::deposit(Transfer { account, currency, amount, reference }));
            }
        }
        trader
    }

    fn apply(&mut self, command: &Command) -> Outcome {
        while self.core.next_due().min(self.core.next_background_work()).0 <= self.time {
            self.seq += 1;
            let time = Timestamp(self.time);
            self.core.apply(Seq(self.seq), time, &Command::Tick, &mut self.sink);
        }
        self.once(command)
    }

    /// Without what is due or in the background before it.
    fn once(&mut self, command: &Command) -> Outcome {
        self.seq += 1;
        self.core.apply(Seq(self.seq), Timestamp(self.time), command, &mut self.sink)
    }

    fn state(&self) -> InstrumentState {
        self.core.instrument(SPOT).unwrap().instrument.state
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.draw = self.draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.draw >> 33) % bound
    }

    fn step(&mut self) {
        self.time += 1_000;
        // Many of the orders known here have traded or expired since; asking for the rest keeps
        // the book at one depth.
        let kind = if self.open.len() > self.open_most { 99 } else { self.below(100) };
        if kind < 55 || self.open.is_empty() {
            self.place();
            return;
        }
        let which = self.below(self.open.len() as u64) as usize;
        let (account, id) = self.open[which];
        let order = OrderRef::Id(id);
        if kind < 75 {
            let price = Some(Price(990 + self.below(21) as i64));
            let amend = Amend { account, order, price, quantity: None };
            let trigger_price = Price(990 + self.below(21) as i64);
            let command = match self.below(3) {
                0 => Command::AmendTrigger(AmendTrigger { amend, trigger_price }),
                _ => Command::Amend(amend),
            };
            self.apply(&command);
        } else {
            self.open.swap_remove(which);
            self.apply(&Command::Cancel { account, order });
        }
    }

    /// A pair, or an entry with exits on both sides of it.
    fn list(&mut self, terms: NewOrder) -> OrderList {
        let is_pair = self.below(2) == 0;
        let exits = if is_pair { terms.side } else { terms.side.opposite() };
        let away = 1 + self.below(5) as i64;
        let away = if exits == Side::Sell { away } else { -away };
        let leg = |condition, kind, price| Leg {
            condition,
            kind,
            time_in_force: TimeInForce::Gtc,
            price,
            expire_at: Timestamp::ZERO,
        };
        let stop = Trigger { kind: TriggerKind::Stop, price: Price(terms.price.0 - away) };
        let distance = Distance::Price(Price(away.abs()));
        let trail = TrailTerms { distance, activation_price: Price::ZERO };
        let condition = match self.below(2) {
            0 => Condition::Trigger(stop),
            _ => Condition::Trail(trail),
        };
        let better = leg(None, OrderKind::Limit, Price(terms.price.0 + away));
        OrderList {
            terms,
            condition: None,
            kind: if is_pair { LinkKind::Oco } else { LinkKind::Oto },
            take_profit: (!is_pair).then_some(better),
            stop_loss: Some(leg(Some(condition), OrderKind::Market, Price::ZERO)),
        }
    }

    fn place(&mut self) {
        let command = self.next_order();
        if let Outcome::Order { order, status, .. } = self.apply(&command)
            && status.is_open()
        {
            self.open.push((self.account, order));
        }
    }

    /// An order of any kind.
    fn next_order(&mut self) -> Command {
        let account = AccountId(1 + self.below(ACCOUNTS) as u32);
        self.account = account;
        let side = if self.below(2) == 0 { Side::Buy } else { Side::Sell };
        let expires = self.below(4) == 0;
        let mut client_order_id = ClientOrderId::EMPTY;
        if self.named {
            self.names += 1;
            let mut name = *b"order-00000000";
            for (at, shift) in (6..14).zip((0..8).rev()) {
                name[at] = b'a' + (self.names >> (4 * shift) & 15) as u8;
            }
            client_order_id = ClientOrderId::new(&name).unwrap();
        }
        let kind = match self.below(60) {
            0 => OrderKind::Market,
            1 => OrderKind::BestPrice,
            2 => OrderKind::FiveLevels,
            _ => OrderKind::Limit,
        };
        let time_in_force = match (kind, expires) {
            (_, true) => TimeInForce::Gtd,
            (_, false) => TimeInForce::Gtc,
        };
        let expire_at = Timestamp(if expires { self.time + 300_000 } else { 0 });
        let minimum_quantity = Quantity(i64::from(self.below(10) == 0));
        let limit = NewOrder {
            minimum_quantity,
            time_in_force,
            expire_at,
            client_order_id,
            ..NewOrder::limit(
                account,
                SPOT,
                side,
                Quantity(1 + (self.draw >> 40) as i64 % 50),
                Price(990 + (self.draw >> 50) as i64 % 21),
            )
        };
        let terms = match kind {
            OrderKind::Limit => limit,
            kind => NewOrder { kind, price: Price::ZERO, ..limit },
        };
        let waits = self.below(8) == 0 && !kind.takes_levels();
        if waits {
            let kind = TriggerKind::ALL[self.below(2) as usize];
            let trigger = Trigger { kind, price: Price(990 + self.below(21) as i64) };
            let terms = NewOrder { minimum_quantity: Quantity::ZERO, ..terms };
            if self.below(2) == 0 {
                let distance = match self.below(2) {
                    0 => Distance::Price(Price(1 + self.below(9) as i64)),
                    _ => Distance::Ppm(1_000 + 1_000 * self.below(9) as u32),
                };
                let trail = TrailTerms { distance, activation_price: trigger.price };
                Command::PlaceTrailing(TrailingOrder { terms, trail })
            } else {
                Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate: true })
            }
        } else if kind == OrderKind::Limit && self.below(6) == 0 {
            let quantity = Quantity(2 + self.below(90) as i64);
            let display_quantity = Quantity(1 + self.below(quantity.0 as u64 - 1) as i64);
            let size = OrderSize::Base(quantity);
            let terms = NewOrder { size, minimum_quantity: Quantity::ZERO, ..terms };
            Command::PlaceIceberg(IcebergOrder { terms, display_quantity })
        } else if kind == OrderKind::Limit && self.below(6) == 0 {
            let terms = NewOrder { minimum_quantity: Quantity::ZERO, ..terms };
            Command::PlaceList(self.list(terms))
        } else {
            Command::Place(terms)
        }
    }
}

fn steady_state_allocates_nothing(named: bool) {
    let mut trader = Trader::new(named, Limits::default());
    // Windows of client order ids, and every table and level, reach their size.
    (0..120_000).for_each(|_| trader.step());
    let before = ALLOCATIONS.get();
    let tally = trader.sink;
    (0..100_000).for_each(|_| trader.step());
    assert_eq!(ALLOCATIONS.get() - before, 0, "allocations in 100,000 steps");
    assert!(trader.sink.trades - tally.trades > 10_000, "hardly anything traded");
    trader.sink.assert_kinds(&tally);
    trader.core.check().unwrap();
}

/// A call in which orders of all kinds come, its auction, and continuous trading.
fn day(trader: &mut Trader) {
    let set = |state| Command::SetInstrumentState { instrument: SPOT, state };
    trader.apply(&set(InstrumentState::Call));
    (0..2_000).for_each(|_| trader.step());
    trader.apply(&set(InstrumentState::Open));
    while trader.state() == InstrumentState::Uncrossing {
        let order = trader.next_order();
        trader.once(&order);
        trader.once(&Command::Tick);
    }
    (0..500).for_each(|_| trader.step());
}

#[test]
fn calls_and_auctions() {
    let mut trader = Trader::new(false, Limits::default());
    // Enough for auctions that take several commands.
    trader.open_most = 3_000;
    (0..150).for_each(|_| day(&mut trader));
    let before = ALLOCATIONS.get();
    let tally = trader.sink;
    (0..100).for_each(|_| day(&mut trader));
    assert_eq!(ALLOCATIONS.get() - before, 0, "allocations in 100 days");
    trader.sink.assert_kinds(&tally);
    for (what, now, before) in [
        ("trades of auctions", trader.sink.uncrossed, tally.uncrossed),
        ("icebergs in calls", trader.sink.called_icebergs, tally.called_icebergs),
        ("conditional orders in calls", trader.sink.called_conditional, tally.called_conditional),
        ("lists in calls", trader.sink.called_lists, tally.called_lists),
        ("orders while an auction traded", trader.sink.frozen, tally.frozen),
    ] {
        assert!(now - before > 100, "only {} {what}", now - before);
    }
    trader.core.check().unwrap();
}

/// Withdrawals come and go in another order than they came.
fn withdraw(trader: &mut Trader, number: u32) {
    let account = AccountId(1 + number % ACCOUNTS as u32);
    let reference = |number: u32| {
        let mut name = *b"wire-00000000";
        for (at, shift) in (5..13).zip((0..8).rev()) {
            name[at] = b'a' + (number >> (4 * shift) & 15) as u8;
        }
        ClientOrderId::new(&name).unwrap()
    };
    let (currency, amount) = (CurrencyId(2), Amount(5));
    let held = Transfer { account, currency, amount, reference: reference(number) };
    assert_eq!(trader.apply(&Command::HoldWithdrawal(held)), Outcome::Done);
    // Always one of the same account: how many each of them holds stays the same.
    let Some(older) = number.checked_sub(4 * ACCOUNTS as u32) else { return };
    let reference = reference(older);
    let ended = if number.is_multiple_of(3) {
        Command::SettleWithdrawal { account, reference }
    } else {
        Command::ReleaseWithdrawal { account, reference }
    };
    assert_eq!(trader.apply(&ended), Outcome::Done);
}

#[test]
fn withdrawals_that_are_held_and_end() {
    // Few enough that the memory of references is full soon.
    let limits = Limits { transfers_max: 1_000, ..Limits::default() };
    let mut trader = Trader::new(false, limits);
    (0..5_000).for_each(|number| withdraw(&mut trader, number));
    let before = ALLOCATIONS.get();
    (5_000..10_000).for_each(|number| withdraw(&mut trader, number));
    assert_eq!(ALLOCATIONS.get() - before, 0, "allocations in 5,000 withdrawals");
    trader.core.check().unwrap();
}

#[test]
fn without_client_order_ids() {
    steady_state_allocates_nothing(false);
}

#[test]
fn with_client_order_ids() {
    steady_state_allocates_nothing(true);
}
