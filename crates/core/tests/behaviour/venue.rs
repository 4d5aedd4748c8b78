//! A small venue for tests: two currencies, one instrument, four accounts.

use rialto_core::{Core, CoreConfig};
use rialto_model::{
    AccountId, Amend, Amount, Command, CurrencyId, Done, DoneReason, EngineId, Event, InstrumentId,
    InstrumentKind, InstrumentSpec, InstrumentState, MemberId, NewOrder, OrderId, OrderKind,
    OrderRef, OrderSize, Outcome, Price, Quantity, RejectReason, Scale, SelfTrade, Seq, Side,
    TimeInForce, Timestamp, Trade, TradingRules, Transfer,
};

pub const ENGINE: EngineId = EngineId(3);
pub const BASE: CurrencyId = CurrencyId(1);
pub const QUOTE: CurrencyId = CurrencyId(2);
pub const SPOT: InstrumentId = InstrumentId(1);
/// Accounts of three members; the last two belong to one.
pub const ALICE: AccountId = AccountId(1);
pub const BOB: AccountId = AccountId(2);
pub const CAROL: AccountId = AccountId(3);
pub const CAROLS_OTHER: AccountId = AccountId(4);
pub const FUNDS: i128 = 1_000_000_000;
pub const START: u64 = 1_000_000;

/// Fees of 1 % for takers and 0.1 % for makers, so that they show in small numbers.
pub fn rules() -> TradingRules {
    TradingRules {
        quantity_max: Quantity(1_000_000),
        market_protection_ppm: 100_000,
        maker_fee_ppm: 1_000,
        taker_fee_ppm: 10_000,
        self_trade: SelfTrade::CancelNewest,
        open_orders_max: 10_000,
        ..TradingRules::unrestrained()
    }
}

pub fn spec(symbol: &str, rules: TradingRules) -> InstrumentSpec {
    InstrumentSpec {
        symbol: symbol.parse().unwrap(),
        kind: InstrumentKind::Spot,
        base: BASE,
        quote: QUOTE,
        price_scale: Scale::new(0).unwrap(),
        quantity_scale: Scale::new(0).unwrap(),
        rules,
    }
}

/// A good-till-cancelled limit order; tests change what they are about.
pub fn limit(account: AccountId, side: Side, price: i64, quantity: i64) -> NewOrder {
    NewOrder::limit(account, SPOT, side, Quantity(quantity), Price(price))
}

pub fn buy(account: AccountId, price: i64, quantity: i64) -> NewOrder {
    limit(account, Side::Buy, price, quantity)
}

pub fn sell(account: AccountId, price: i64, quantity: i64) -> NewOrder {
    limit(account, Side::Sell, price, quantity)
}

/// A market order without a protection price.
pub fn market(account: AccountId, side: Side, size: OrderSize) -> NewOrder {
    NewOrder {
        kind: OrderKind::Market,
        time_in_force: TimeInForce::Ioc,
        size,
        ..limit(account, side, 0, 0)
    }
}

/// BOB sells one unit to CAROL at a price, which is the last price then.
pub fn last(venue: &mut Venue, price: i64) {
    venue.enter(sell(BOB, price, 1));
    venue.enter(NewOrder { time_in_force: TimeInForce::Ioc, ..buy(CAROL, price, 1) });
}

pub fn rejected(reason: RejectReason) -> Outcome {
    Outcome::Rejected { reason }
}

pub struct Venue {
    pub core: Core,
    pub time: u64,
    /// Of the last command, the ticks before it left out.
    pub events: Vec<Event>,
}

impl Venue {
    pub fn with(config: CoreConfig, rules: TradingRules) -> Venue {
        let mut venue = Venue { core: Core::new(config), time: START, events: Vec::new() };
        let scale = Scale::new(0).unwrap();
        for code in ["BASE", "QUOTE"] {
            venue.apply(Command::CreateCurrency { code: code.parse().unwrap(), scale });
        }
        venue.apply(Command::CreateInstrument(spec("BASE-QUOTE", rules)));
        for member in 1..=3 {
            let (member, name) = (MemberId(member), "member".parse().unwrap());
            venue.apply(Command::CreateMember { member, name });
        }
        for (account, member) in [(ALICE, 1), (BOB, 2), (CAROL, 3), (CAROLS_OTHER, 3)] {
            let (member, name) = (MemberId(member), "account".parse().unwrap());
            venue.apply(Command::CreateAccount { account, member, name });
            for currency in [BASE, QUOTE] {
                let reference = format!("fund-{}", currency.0);
                venue.apply(Command::deposit(transfer(account, currency, FUNDS, &reference)));
            }
        }
        venue
    }

    pub fn ruled(rules: TradingRules) -> Venue {
        Venue::with(CoreConfig::new(ENGINE), rules)
    }

    pub fn new() -> Venue {
        Venue::ruled(rules())
    }

    /// A venue under an earlier version of the rules.
    pub fn under(rules_version: u32, rules: TradingRules) -> Venue {
        Venue::with(CoreConfig { rules_version, ..CoreConfig::new(ENGINE) }, rules)
    }

    /// Applies a command, and before it the ticks that are due; checks every invariant.
    pub fn apply(&mut self, command: Command) -> Outcome {
        while command != Command::Tick && self.core.next_due().0 <= self.time {
            self.once(Command::Tick);
        }
        self.once(command)
    }

    fn once(&mut self, command: Command) -> Outcome {
        self.events.clear();
        let (seq, time) = (Seq(self.core.seq().0 + 1), Timestamp(self.time));
        let outcome = self.core.apply(seq, time, &command, &mut self.events);
        assert!(!self.events.is_empty(), "{command:?} has no event");
        self.core.check().unwrap_or_else(|violation| panic!("{violation} after {command:?}"));
        outcome
    }

    /// Applies a command without a check of all invariants, which takes long where there are many
    /// orders; returns the order of the answer, if it is about one.
    pub fn unchecked(&mut self, command: Command) -> OrderId {
        self.events.clear();
        let (seq, time) = (Seq(self.core.seq().0 + 1), Timestamp(self.time));
        match self.core.apply(seq, time, &command, &mut self.events) {
            Outcome::Order { order, .. } => order,
            _ => OrderId(0),
        }
    }

    pub fn tick(&mut self) -> &[Event] {
        self.apply(Command::Tick);
        &self.events
    }

    pub fn place(&mut self, order: NewOrder) -> Outcome {
        self.apply(Command::Place(order))
    }

    /// Places an order that must be accepted; returns its id.
    pub fn enter(&mut self, order: NewOrder) -> OrderId {
        match self.place(order) {
            Outcome::Order { order, .. } => order,
            other => panic!("{order:?} was answered {other:?}"),
        }
    }

    pub fn cancel(&mut self, account: AccountId, order: OrderId) -> Outcome {
        self.apply(Command::Cancel { account, order: OrderRef::Id(order) })
    }

    pub fn amend(
        &mut self,
        account: AccountId,
        order: OrderId,
        price: Option<i64>,
        quantity: Option<i64>,
    ) -> Outcome {
        let (price, quantity) = (price.map(Price), quantity.map(Quantity));
        self.apply(Command::Amend(Amend { account, order: OrderRef::Id(order), price, quantity }))
    }

    pub fn set_state(&mut self, state: InstrumentState) -> Outcome {
        self.apply(Command::SetInstrumentState { instrument: SPOT, state })
    }

    pub fn set_rules(&mut self, rules: TradingRules) -> Outcome {
        self.apply(Command::SetRules { instrument: SPOT, rules })
    }

    /// Available and reserved.
    pub fn balance(&self, account: AccountId, currency: CurrencyId) -> (i128, i128) {
        let balance = self.core.balance(account, currency).unwrap();
        (balance.available.0, balance.reserved.0)
    }

    /// Price and quantity of each trade of the last command.
    pub fn trades(&self) -> Vec<(i64, i64)> {
        self.trade_events().map(|trade| (trade.price.0, trade.quantity.0)).collect()
    }

    pub fn makers(&self) -> Vec<OrderId> {
        self.trade_events().map(|trade| trade.maker_order).collect()
    }

    pub fn trade_events(&self) -> impl Iterator<Item = &Trade> {
        self.events.iter().filter_map(|event| match event {
            Event::Trade(trade) => Some(trade),
            _ => None,
        })
    }

    /// Order, reason and remaining quantity of each order that the last command ended.
    pub fn done(&self) -> Vec<(OrderId, DoneReason, i64)> {
        self.done_events().map(|done| (done.order, done.reason, done.remaining.0)).collect()
    }

    pub fn done_events(&self) -> impl Iterator<Item = &Done> {
        self.events.iter().filter_map(|event| match event {
            Event::Done(done) => Some(done),
            _ => None,
        })
    }

    /// Price and remaining quantity of a side's orders, in priority.
    pub fn queue(&self, side: Side) -> Vec<(i64, i64)> {
        let orders = self.core.orders(SPOT, side);
        orders.map(|order| (order.price.0, order.remaining.0)).collect()
    }
}

pub fn transfer(
    account: AccountId,
    currency: CurrencyId,
    amount: i128,
    reference: &str,
) -> Transfer {
    Transfer { account, currency, amount: Amount(amount), reference: reference.parse().unwrap() }
}
