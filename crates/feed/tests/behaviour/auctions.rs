//! Calls, indicative prices and ranges, as the core decides them.

use rialto_core::{Core, CoreConfig};
use rialto_feed::{AuctionResult, AuctionView, Feed, FeedConfig, Update};
use rialto_model::{
    AccountId, Amount, AuctionRules, Command, CurrencyId, EngineId, Event, HaltScope, IcebergOrder,
    InstrumentId, InstrumentKind, InstrumentSpec, InstrumentState, MemberId, NewOrder, OrderKind,
    OrderSize, Price, PriceRange, Quantity, Scale, Seq, Side, TimeInForce, Timestamp, TradingRules,
    Transfer,
};

const SPOT: InstrumentId = InstrumentId(1);

/// A core with a feed behind it.
struct Stage {
    core: Core,
    feed: Feed,
    told: Vec<AuctionView>,
}

impl Stage {
    fn new() -> Stage {
        let core = Core::new(CoreConfig::new(EngineId(1)));
        let mut stage = Stage { core, feed: Feed::new(FeedConfig::default()), told: Vec::new() };
        let scale = Scale::new(0).unwrap();
        for code in ["BASE", "QUOTE"] {
            stage.does(Command::CreateCurrency { code: code.parse().unwrap(), scale });
        }
        let rules = TradingRules {
            reference_price: Price(1_000),
            market_protection_ppm: 100_000,
            ..TradingRules::unrestrained()
        };
        stage.does(Command::CreateInstrument(InstrumentSpec {
            symbol: "BASE-QUOTE".parse().unwrap(),
            kind: InstrumentKind::Spot,
            base: CurrencyId(1),
            quote: CurrencyId(2),
            price_scale: scale,
            quantity_scale: scale,
            rules,
        }));
        for number in 1..=2 {
            let (member, name) = (MemberId(number), "m".parse().unwrap());
            stage.does(Command::CreateMember { member, name });
            let account = AccountId(number);
            stage.does(Command::CreateAccount { account, member, name });
            for currency in [CurrencyId(1), CurrencyId(2)] {
                let reference = format!("r{}", currency.0).parse().unwrap();
                let amount = Amount(1_000_000_000);
                let transfer = Transfer { account, currency, amount, reference };
                stage.does(Command::deposit(transfer));
            }
        }
        stage
    }

    fn does(&mut self, command: Command) {
        self.does_at(self.core.time().max(Timestamp(1_000)), command);
    }

    fn does_at(&mut self, time: Timestamp, command: Command) {
        let seq = Seq(self.core.seq().0 + 1);
        let mut events = Vec::<Event>::new();
        let outcome = self.core.apply(seq, time, &command, &mut events);
        assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
        let told = &mut self.told;
        let mut hear = |update: Update<'_>| {
            if let Update::Auction(auction) = update {
                told.push(*auction);
            }
        };
        for event in &events {
            self.feed.fold(seq, time, event, &mut hear).unwrap();
        }
        self.feed.end_of(seq, time, &mut hear).unwrap();
        self.feed.check().unwrap();
    }

    fn set_state(&mut self, state: InstrumentState) {
        self.does(Command::SetInstrumentState { instrument: SPOT, state });
    }

    fn place(&mut self, account: u32, side: Side, price: i64, quantity: i64) {
        let order =
            NewOrder::limit(AccountId(account), SPOT, side, Quantity(quantity), Price(price));
        self.does(Command::Place(order));
    }

    fn iceberg(&mut self, account: u32, side: Side, price: i64, quantity: i64) {
        let terms =
            NewOrder::limit(AccountId(account), SPOT, side, Quantity(quantity), Price(price));
        self.does(Command::PlaceIceberg(IcebergOrder { terms, display_quantity: Quantity(3) }));
    }

    fn market(&mut self, account: u32, side: Side, quantity: i64) {
        let order = NewOrder::limit(AccountId(account), SPOT, side, Quantity(1), Price::ZERO);
        let (kind, time_in_force) = (OrderKind::Market, TimeInForce::Gfa);
        let size = OrderSize::Base(Quantity(quantity));
        self.does(Command::Place(NewOrder { kind, time_in_force, size, ..order }));
    }

    fn indicative(&mut self) -> Option<(i64, i64, i64)> {
        let told = &mut self.told;
        self.feed.refresh_auction(SPOT, &mut |update| {
            if let Update::Auction(auction) = update {
                told.push(*auction);
            }
        });
        self.feed.auction(SPOT).unwrap().indicative.map(figures)
    }

    fn last(&self) -> Option<(i64, i64, i64)> {
        self.feed.auction(SPOT).unwrap().last.map(figures)
    }
}

fn figures(result: AuctionResult) -> (i64, i64, i64) {
    (result.price.0, result.volume.0, result.surplus.0)
}

#[test]
fn the_indicative_price_is_the_one_that_the_auction_then_has() {
    let mut stage = Stage::new();
    stage.set_state(InstrumentState::Call);
    assert_eq!(stage.indicative(), None);
    for step in 0..60_i64 {
        let side = if step % 2 == 0 { Side::Buy } else { Side::Sell };
        stage.place(1 + (step % 2) as u32, side, 990 + step * 7 % 20, 1 + step % 5);
        if step % 9 == 0 {
            stage.market(2, side.opposite(), 2 + step % 4);
        }
        if step % 7 == 0 {
            stage.iceberg(1 + (step % 2) as u32, side, 995 + step * 3 % 10, 10 + step % 8);
        }
        let indicative = stage.indicative();
        if step % 20 == 19 {
            stage.set_state(InstrumentState::Open);
            while stage.core.has_background_work() {
                stage.does(Command::Tick);
            }
            assert_eq!(stage.last(), indicative, "step {step}");
            assert_eq!(stage.indicative(), None);
            stage.set_state(InstrumentState::ClosingCall);
        }
    }
}

#[test]
fn market_orders_alone_show_the_reference_price() {
    let mut stage = Stage::new();
    stage.set_state(InstrumentState::Call);
    stage.market(1, Side::Buy, 3);
    stage.market(2, Side::Sell, 2);
    assert_eq!(stage.indicative(), Some((1_000, 2, 1)));
}

#[test]
fn it_is_computed_when_somebody_asks_and_told_when_it_differs() {
    let mut stage = Stage::new();
    stage.set_state(InstrumentState::Call);
    stage.place(1, Side::Buy, 1_000, 5);
    stage.place(2, Side::Sell, 1_000, 5);
    assert_eq!(stage.feed.auctions_to_refresh().collect::<Vec<_>>(), [SPOT]);
    let before = stage.told.len();
    assert_eq!(stage.indicative(), Some((1_000, 5, 0)));
    assert_eq!(stage.told.len(), before + 1);
    assert_eq!(stage.feed.auctions_to_refresh().count(), 0);
    stage.place(1, Side::Buy, 900, 5);
    assert_eq!(stage.feed.auctions_to_refresh().count(), 1);
    stage.indicative();
    assert_eq!(stage.told.len(), before + 1, "it is the same");
    stage.set_state(InstrumentState::PreOpen);
    assert_eq!(stage.feed.auctions_to_refresh().count(), 0, "before the call nothing is shown");
}

#[test]
fn ranges_are_the_ones_that_the_core_applies() {
    let mut stage = Stage::new();
    let rules = AuctionRules {
        daily_range_ppm: 200_000,
        static_range_ppm: 100_000,
        dynamic_range_ppm: 20_000,
        call_ms: 1,
        ..AuctionRules::PLAIN
    };
    stage.does(Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 });
    let range = |low, high| Some(PriceRange { low: Price(low), high: Price(high) });
    assert_eq!(stage.feed.daily_limits(SPOT), range(800, 1_200));
    assert_eq!(stage.feed.trading_range(SPOT), range(980, 1_020));
    stage.place(1, Side::Sell, 1_010, 1);
    stage.place(2, Side::Buy, 1_010, 1);
    assert_eq!(stage.feed.trading_range(SPOT), range(990, 1_030));
    stage.place(1, Side::Sell, 1_031, 1);
    stage.place(2, Side::Buy, 1_031, 1);
    let auction = stage.feed.auction(SPOT).unwrap();
    assert_eq!(auction.state, InstrumentState::Call);
    assert_eq!(auction.interrupted.unwrap().price, Price(1_031));
    stage.set_state(InstrumentState::Call);
    let called = stage.feed.auction(SPOT).unwrap();
    assert_eq!(called.interrupted, None, "a command has taken its end away");
    stage.set_state(InstrumentState::Open);
    assert_eq!(stage.last(), Some((1_031, 1, 0)));
    assert_eq!(stage.feed.auction(SPOT).unwrap().interrupted, None);
    assert_eq!(stage.feed.daily_limits(SPOT), range(800, 1_200), "they stay all day");
}

#[test]
fn an_interrupted_call_is_still_one_after_a_halt() {
    let mut stage = Stage::new();
    let rules = AuctionRules { dynamic_range_ppm: 20_000, call_ms: 10_000, ..AuctionRules::PLAIN };
    stage.does(Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 });
    for price in [1_010, 1_031] {
        stage.place(1, Side::Sell, price, 1);
        stage.place(2, Side::Buy, price, 1);
    }
    let shown = |stage: &Stage| {
        let auction = stage.feed.auction(SPOT).unwrap();
        (auction.state, auction.interrupted.map(|it| it.price))
    };
    let halt = Command::HaltTrading { scope: HaltScope::Instrument(SPOT), duration_ms: 1_000 };
    let interrupted = (InstrumentState::Call, Some(Price(1_031)));
    assert_eq!(shown(&stage), interrupted);
    stage.does(halt);
    assert_eq!(shown(&stage), (InstrumentState::Halted, None));
    stage.does_at(stage.core.next_due(), Command::Tick);
    assert_eq!(shown(&stage), interrupted);
    stage.does(halt);
    stage.set_state(InstrumentState::Call);
    assert_eq!(shown(&stage), (InstrumentState::Call, None), "a command ended the halt");
}
