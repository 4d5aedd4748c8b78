//! A feed with two members, one instrument and money in place, driven by events written by hand.
#![allow(unreachable_pub, reason = "a test program has no public interface")]

use rialto_feed::{
    AuctionView, BalanceView, BestPrices, BookDelta, Feed, FeedConfig, Fill, FoldError, OrderView,
    PublicTrade, Ticker, Update,
};
use rialto_model::*;

pub const ALICE: AccountId = AccountId(1);
pub const BOB: AccountId = AccountId(2);
pub const BTC: CurrencyId = CurrencyId(1);
pub const USD: CurrencyId = CurrencyId(2);
pub const MARKET: InstrumentId = InstrumentId(1);
pub const SECOND: u64 = Timestamp::SECOND;
pub const MINUTE: u64 = 60 * SECOND;

/// The published updates, by kind.
#[derive(Debug, Default)]
pub struct Updates {
    pub books: Vec<BookDelta>,
    pub bests: Vec<BestPrices>,
    pub trades: Vec<PublicTrade>,
    pub tickers: Vec<Ticker>,
    pub instruments: Vec<Instrument>,
    pub auctions: Vec<AuctionView>,
    pub orders: Vec<OrderView>,
    pub fills: Vec<Fill>,
    pub balances: Vec<BalanceView>,
}

impl Updates {
    pub fn hear(&mut self, update: Update<'_>) {
        match update {
            Update::Book(delta) => self.books.push(delta.clone()),
            Update::Best(best) => self.bests.push(*best),
            Update::Trade(trade) => self.trades.push(*trade),
            Update::Ticker(ticker) => self.tickers.push(*ticker),
            Update::Instrument(instrument) => self.instruments.push(*instrument),
            Update::Auction(auction) => self.auctions.push(*auction),
            Update::Order(order) => self.orders.push(*order),
            Update::Fill(fill) => self.fills.push(*fill),
            Update::Balance(balance) => self.balances.push(*balance),
        }
    }
}

/// Prices have 2 places, quantities 4, the dollar 6: a notional is just price times quantity.
pub fn spec(risk: bool) -> InstrumentSpec {
    let scale = |places| Scale::new(places).unwrap();
    InstrumentSpec {
        symbol: "BTC-USD".parse().unwrap(),
        kind: InstrumentKind::Spot,
        base: BTC,
        quote: USD,
        price_scale: scale(2),
        quantity_scale: scale(4),
        rules: TradingRules {
            quantity_max: Quantity(1_000_000),
            market_protection_ppm: 100_000,
            maker_fee_ppm: 1_000,
            taker_fee_ppm: 2_000,
            open_orders_max: 100,
            risk,
            ..TradingRules::unrestrained()
        },
    }
}

pub fn currency(id: CurrencyId, code: &str, places: u8) -> Currency {
    Currency { id, code: code.parse().unwrap(), scale: Scale::new(places).unwrap() }
}

pub fn order_id(number: u64) -> OrderId {
    OrderId::from_parts(EngineId(1), number)
}

pub struct Stage {
    pub feed: Feed,
    pub time: u64,
    /// Every command so far, so that a test can fold them again.
    pub history: Vec<(Seq, Timestamp, Vec<Event>)>,
}

impl Stage {
    pub fn new() -> Stage {
        Stage::with(FeedConfig::default(), true)
    }

    pub fn with(config: FeedConfig, risk: bool) -> Stage {
        let mut stage = Stage::bare(config);
        stage.step(&[Event::CurrencyCreated(currency(BTC, "BTC", 8))]);
        stage.step(&[Event::CurrencyCreated(currency(USD, "USD", 6))]);
        stage.step(&[Event::InstrumentCreated { instrument: MARKET, spec: spec(risk) }]);
        for (number, name) in [(1, "alice"), (2, "bob")] {
            let name = name.parse().unwrap();
            stage.step(&[Event::MemberCreated { member: MemberId(number), name }]);
            stage.step(&[Event::AccountCreated {
                account: AccountId(number),
                member: MemberId(number),
                name,
            }]);
        }
        for (account, currency) in [(ALICE, BTC), (ALICE, USD), (BOB, BTC), (BOB, USD)] {
            let reference = "r".parse().unwrap();
            let amount = Amount(1_000_000_000);
            stage.step(&[Event::Deposited { account, currency, amount, reference }]);
        }
        stage
    }

    /// A feed that knows nothing.
    pub fn bare(config: FeedConfig) -> Stage {
        Stage { feed: Feed::new(config), time: SECOND, history: Vec::new() }
    }

    /// Folds one command.
    pub fn try_step(&mut self, events: &[Event]) -> Result<Updates, FoldError> {
        let (seq, time) = (self.feed.seq().next(), Timestamp(self.time));
        let mut told = Updates::default();
        for event in events {
            self.feed.fold(seq, time, event, &mut |update| told.hear(update))?;
        }
        self.feed.end_of(seq, time, &mut |update| told.hear(update))?;
        self.history.push((seq, time, events.to_vec()));
        Ok(told)
    }

    pub fn step(&mut self, events: &[Event]) -> Updates {
        let told = self.try_step(events).unwrap();
        self.feed.check().unwrap();
        told
    }

    /// Enters an order that goes to the book, and returns its id.
    pub fn rest(&mut self, account: AccountId, side: Side, price: i64, quantity: i64) -> u64 {
        let number = self.feed.seq().0;
        self.step(&[accepted(number, account, side, price, quantity, true)]);
        number
    }

    /// Enters an iceberg that sells for Alice, and returns its id.
    pub fn iceberg(&mut self, price: i64, quantity: i64, display_quantity: i64) -> u64 {
        let number = self.feed.seq().0;
        self.step(&[
            accepted(number, ALICE, Side::Sell, price, quantity, false),
            iceberg_set(number, display_quantity),
            rested(number, price, quantity),
        ]);
        number
    }

    /// The events of an order that buys for Bob from one of Alice, whose `left` then remains.
    pub fn taking(
        &self,
        maker: u64,
        taker: u64,
        price: i64,
        quantity: i64,
        left: i64,
    ) -> Vec<Event> {
        let all = reserve(Side::Buy, price, quantity);
        let sides = ((maker, ALICE), (taker, BOB));
        let deal = trade(sides.0, sides.1, Side::Buy, (price, quantity), (left, 0), all);
        vec![accepted(taker, BOB, Side::Buy, price, quantity, false), Event::Trade(deal)]
    }

    /// The same, folded as one command.
    pub fn take(
        &mut self,
        maker: u64,
        taker: u64,
        price: i64,
        quantity: i64,
        left: i64,
    ) -> Updates {
        let events = self.taking(maker, taker, price, quantity, left);
        self.step(&events)
    }

    pub fn available(&self, account: AccountId, currency: CurrencyId) -> i128 {
        self.feed.balance(account, currency).unwrap().available.0
    }

    pub fn reserved(&self, account: AccountId, currency: CurrencyId) -> i128 {
        self.feed.balance(account, currency).unwrap().reserved.0
    }

    /// Bids and asks as (price, quantity, orders).
    pub fn depth(&self) -> [Vec<(i64, i64, u32)>; 2] {
        let depth = self.feed.depth(MARKET, 100).unwrap();
        [depth.bids, depth.asks].map(|side| {
            side.iter().map(|level| (level.price.0, level.quantity.0, level.orders)).collect()
        })
    }
}

/// What an order of these terms reserves.
pub fn reserve(side: Side, price: i64, quantity: i64) -> Amount {
    match side {
        Side::Buy => Amount(i128::from(price * quantity + price * quantity * 2_000 / 1_000_000)),
        Side::Sell => Amount(i128::from(quantity) * 10_000),
    }
}

pub fn terms(account: AccountId, side: Side, price: i64, quantity: i64) -> NewOrder {
    NewOrder {
        self_trade: Some(SelfTrade::Allow),
        ..NewOrder::limit(account, MARKET, side, Quantity(quantity), Price(price))
    }
}

pub fn accepted(
    number: u64,
    account: AccountId,
    side: Side,
    price: i64,
    quantity: i64,
    rests: bool,
) -> Event {
    let terms = terms(account, side, price, quantity);
    let reserved = reserve(side, price, quantity);
    Event::Accepted(Accepted { order: order_id(number), terms, reserved, rests })
}

/// Alice's order is an iceberg that sells.
pub fn iceberg_set(number: u64, display_quantity: i64) -> Event {
    Event::IcebergSet(IcebergSet {
        order: order_id(number),
        account: ALICE,
        instrument: MARKET,
        side: Side::Sell,
        display_quantity: Quantity(display_quantity),
    })
}

/// What is left of Alice's sell order goes to the book.
pub fn rested(number: u64, price: i64, remaining: i64) -> Event {
    Event::Rested(Rested {
        order: order_id(number),
        account: ALICE,
        instrument: MARKET,
        side: Side::Sell,
        price: Price(price),
        remaining: Quantity(remaining),
    })
}

/// Alice's iceberg displays a new tranche.
pub fn refreshed(number: u64, price: i64, displayed: i64) -> Event {
    Event::IcebergRefreshed(IcebergRefreshed {
        order: order_id(number),
        account: ALICE,
        instrument: MARKET,
        side: Side::Sell,
        price: Price(price),
        displayed: Quantity(displayed),
    })
}

/// A trade of `quantity` at `price`; fees are 1,000 and 2,000 ppm. `left` is what then remains of
/// maker and taker, `unreserved` what the buyer's reserve shrinks by.
pub fn trade(
    (maker, maker_account): (u64, AccountId),
    (taker, taker_account): (u64, AccountId),
    taker_side: Side,
    (price, quantity): (i64, i64),
    left: (i64, i64),
    unreserved: Amount,
) -> Trade {
    let notional = price * quantity;
    Trade {
        trade: TradeId(maker * 1_000 + taker),
        instrument: MARKET,
        taker_side,
        auction: false,
        price: Price(price),
        quantity: Quantity(quantity),
        maker_order: order_id(maker),
        taker_order: order_id(taker),
        maker_account,
        taker_account,
        maker_remaining: Quantity(left.0),
        taker_remaining: Quantity(left.1),
        notional: Amount(notional.into()),
        maker_fee: Amount((notional * 1_000 / 1_000_000).into()),
        taker_fee: Amount((notional * 2_000 / 1_000_000).into()),
        buyer_unreserved: unreserved,
    }
}

pub fn done(
    number: u64,
    account: AccountId,
    side: Side,
    reason: DoneReason,
    (price, remaining): (i64, i64),
    released: Amount,
) -> Event {
    Event::Done(Done {
        order: order_id(number),
        account,
        instrument: MARKET,
        side,
        reason,
        price: Price(price),
        remaining: Quantity(remaining),
        released,
    })
}

/// Cancels a whole order that nothing has happened to.
pub fn cancelled(number: u64, account: AccountId, side: Side, price: i64, quantity: i64) -> Event {
    let released = reserve(side, price, quantity);
    done(number, account, side, DoneReason::Cancelled, (price, quantity), released)
}
