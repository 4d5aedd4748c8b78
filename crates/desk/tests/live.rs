//! The live feed reaches the same state from every starting point.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_desk::{FoldCounts, Listener, Live, LiveConfig, Publication, Subscription};
use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig, Level, Producer, SubmitError};
use rialto_feed::{FeedConfig, PublicTrade};
use rialto_model::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

fn setting() -> Vec<Command> {
    let scale = Scale::new(8).unwrap();
    let rules = TradingRules {
        quantity_max: Quantity(1_000_000),
        market_protection_ppm: 100_000,
        maker_fee_ppm: 100,
        taker_fee_ppm: 500,
        open_orders_max: 100_000,
        ..TradingRules::unrestrained()
    };
    let mut commands = vec![
        Command::CreateCurrency { code: "BTC".parse().unwrap(), scale },
        Command::CreateCurrency { code: "USD".parse().unwrap(), scale },
        Command::CreateInstrument(InstrumentSpec {
            symbol: "BTC-USD".parse().unwrap(),
            kind: InstrumentKind::Spot,
            base: CurrencyId(1),
            quote: CurrencyId(2),
            price_scale: Scale::new(2).unwrap(),
            quantity_scale: Scale::new(4).unwrap(),
            rules,
        }),
    ];
    for id in 1..=2 {
        let name: Name = format!("member-{id}").parse().unwrap();
        commands.push(Command::CreateMember { member: MemberId(id), name });
        let (account, member) = (AccountId(id), MemberId(id));
        commands.push(Command::CreateAccount { account, member, name });
        for currency in [1, 2] {
            let (currency, amount) = (CurrencyId(currency), Amount(1 << 80));
            let reference = format!("d{}", currency.0).parse().unwrap();
            commands.push(Command::deposit(Transfer { account, currency, amount, reference }));
        }
    }
    commands
}

/// An order that rests or trades, spread over prices; determined by the number.
fn order(number: u64) -> Command {
    Command::Place(NewOrder {
        time_in_force: if number.is_multiple_of(3) { TimeInForce::Gtc } else { TimeInForce::Ioc },
        ..NewOrder::limit(
            AccountId(1 + (number % 2) as u32),
            InstrumentId(1),
            if number * 7 % 5 < 2 { Side::Buy } else { Side::Sell },
            Quantity(1 + (number % 7) as i64),
            Price(1_000 + (number * 31 % 17) as i64),
        )
    })
}

/// Submits commands without waiting for each; returns the last sequence.
fn send(producer: &mut Producer, commands: impl Iterator<Item = Command>) -> Seq {
    let mut last = Seq::ZERO;
    for command in commands {
        while let Err(SubmitError::Busy) = producer.submit(0, &command, None) {
            last = producer.reply_timeout(LONG).unwrap().answer.unwrap().seq;
        }
    }
    while producer.outstanding() > 0 {
        last = producer.reply_timeout(LONG).unwrap().answer.unwrap().seq;
    }
    last
}

/// A busy machine may delay the disk, or the thread that waits for it, for a second.
fn engine_config() -> EngineConfig {
    EngineConfig { io_stalled_after: Duration::from_secs(30), ..EngineConfig::default() }
}

fn wait(live: &Live, seq: Seq) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    assert!(runtime.block_on(live.wait_for(seq, LONG)), "{:?}", live.fault());
}

#[test]
fn a_feed_that_begins_before_the_end_reaches_the_state_of_one_from_the_beginning() {
    let dir = tempfile::tempdir().unwrap();
    let config = EngineConfig {
        data_dir: dir.path().to_owned(),
        level: Level::Buffered,
        segment_bytes: 16 << 20,
        ..engine_config()
    };
    let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
    let mut producer = engine.producer();
    send(&mut producer, setting().into_iter());
    let commands = LiveConfig::HISTORY_MIN + 20_000;
    let last = send(&mut producer, (0..commands).map(order));

    // Even without a history, the feed begins far enough back that no matching is suspended.
    let short = LiveConfig { history: 0, ..LiveConfig::default() };
    let short = Live::start(&engine, short).unwrap();
    let complete = Live::start(&engine, LiveConfig { history: u64::MAX, ..LiveConfig::default() });
    let complete = complete.unwrap();
    let last = send(&mut producer, (commands..commands + 1_000).map(order)).max(last);
    wait(&short, last);
    wait(&complete, last);

    let (short_feed, complete_feed) = (short.read(), complete.read());
    assert_eq!(short_feed.seq(), last);
    let btc = InstrumentId(1);
    assert_eq!(short_feed.depth(btc, usize::MAX), complete_feed.depth(btc, usize::MAX));
    assert_eq!(short_feed.order_book(btc, usize::MAX), complete_feed.order_book(btc, usize::MAX));
    assert_eq!(short_feed.ticker(btc), complete_feed.ticker(btc));
    let trades = |feed: &rialto_feed::Feed| feed.trades(btc).copied().collect::<Vec<PublicTrade>>();
    assert_eq!(trades(&short_feed), trades(&complete_feed));
    let refused =
        || RejectReason::ALL.iter().filter(|reason| complete.counts().rejects(**reason) > 0);
    assert_eq!(refused().count(), 0, "{:?}", refused().collect::<Vec<_>>());
    assert!(complete_feed.ticker(btc).unwrap().trades > 1_000, "{:?}", complete_feed.ticker(btc));
    for account in [AccountId(1), AccountId(2), AccountId::FEES] {
        let fills = |feed: &rialto_feed::Feed| feed.fills(account).copied().collect::<Vec<_>>();
        assert_eq!(fills(&short_feed), fills(&complete_feed));
        for currency in [CurrencyId(1), CurrencyId(2)] {
            let balance = |feed: &rialto_feed::Feed| {
                feed.balance(account, currency).map(|it| (it.available, it.reserved))
            };
            assert_eq!(balance(&short_feed), balance(&complete_feed));
        }
    }
    assert_eq!(short.counts().commands(), 1_000);
    drop((short_feed, complete_feed));
    short.stop();
    complete.stop();
    engine.shutdown(LONG);
}

/// Orders of account 1 with client order ids and every kind of end: filled as taker and as maker,
/// cancelled after an amendment, with a remainder, sized in quote currency.
fn named_orders() -> Vec<Command> {
    let order = |account, name: &str, side, price, quantity| NewOrder {
        client_order_id: name.parse().unwrap(),
        ..NewOrder::limit(
            AccountId(account),
            InstrumentId(1),
            side,
            Quantity(quantity),
            Price(price),
        )
    };
    let mine = |name, side, price, quantity| order(1, name, side, price, quantity);
    let theirs = |side, price, quantity| Command::Place(order(2, "", side, price, quantity));
    let named = |name: &str| OrderRef::Client(name.parse().unwrap());
    let ioc = TimeInForce::Ioc;
    let day = TimeInForce::Day;
    let quote = OrderSize::Quote(Amount(25 * 900 * 100));
    vec![
        Command::Place(mine("maker", Side::Buy, 900, 5)),
        theirs(Side::Sell, 900, 5),
        Command::Place(NewOrder { time_in_force: day, ..mine("amended", Side::Sell, 910, 5) }),
        theirs(Side::Buy, 910, 2),
        Command::Amend(Amend {
            account: AccountId(1),
            order: named("amended"),
            price: Some(Price(920)),
            quantity: Some(Quantity(9)),
        }),
        Command::Cancel { account: AccountId(1), order: named("amended") },
        Command::PlaceIceberg(IcebergOrder {
            terms: mine("iceberg", Side::Sell, 915, 9),
            display_quantity: Quantity(2),
        }),
        theirs(Side::Buy, 915, 5),
        Command::Cancel { account: AccountId(1), order: named("iceberg") },
        theirs(Side::Sell, 905, 3),
        Command::Place(mine("taker", Side::Buy, 905, 1)),
        Command::Place(NewOrder { time_in_force: ioc, ..mine("rest", Side::Buy, 906, 9) }),
        theirs(Side::Sell, 900, 50),
        Command::Place(NewOrder {
            kind: OrderKind::Market,
            time_in_force: ioc,
            size: quote,
            ..mine("quote", Side::Buy, 0, 0)
        }),
        Command::MassCancel(MassCancel { account: AccountId(2), instrument: None, side: None }),
    ]
}

#[test]
fn ended_orders_with_names_outlive_a_restart_and_the_traffic_of_others() {
    let dir = tempfile::tempdir().unwrap();
    let config = EngineConfig {
        data_dir: dir.path().to_owned(),
        level: Level::Buffered,
        segment_bytes: 16 << 20,
        ..engine_config()
    };
    let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
    let mut producer = engine.producer();
    send(&mut producer, setting().into_iter().chain(named_orders()));
    let theirs = (0..LiveConfig::HISTORY_MIN + 1_000).map(|number| match order(number) {
        Command::Place(order) => Command::Place(NewOrder { account: AccountId(2), ..order }),
        other => other,
    });
    let last = send(&mut producer, theirs);
    let feed = FeedConfig { ended_orders: 1_000, ..FeedConfig::default() };
    let complete = LiveConfig { history: u64::MAX, feed, ..LiveConfig::default() };
    let complete = Live::start(&engine, complete).unwrap();
    let restarted =
        Live::start(&engine, LiveConfig { history: 0, feed, ..LiveConfig::default() }).unwrap();
    wait(&complete, last);
    wait(&restarted, last);
    let statuses = ["maker", "amended", "iceberg", "taker", "rest", "quote"].map(|name| {
        let name = name.parse().unwrap();
        let find = |live: &Live| live.read().order_by_client_id(AccountId(1), name).unwrap();
        let (there, again) = (find(&complete), find(&restarted));
        // Fields that are older than the window: the notional, the time of entry, and what an iceberg
        // displayed.
        let rialto_feed::OrderView { filled_notional, fee, accepted, iceberg, .. } = again;
        let known = rialto_feed::OrderView { filled_notional, fee, accepted, iceberg, ..there };
        assert_eq!((again, again.iceberg), (known, None));
        (again.status, again.filled.0, again.remaining.0)
    });
    let (filled, cancelled) = (OrderStatus::Filled, OrderStatus::Cancelled);
    let expected = [
        (filled, 5, 0),
        (cancelled, 2, 7),
        (cancelled, 5, 4),
        (filled, 1, 0),
        (cancelled, 2, 7),
        (filled, 24, 0),
    ];
    assert_eq!(statuses, expected);
    complete.stop();
    restarted.stop();
    engine.shutdown(LONG);
}

#[test]
fn waiters_are_woken_when_the_feed_ends() {
    let dir = tempfile::tempdir().unwrap();
    let config =
        EngineConfig { data_dir: dir.path().to_owned(), segment_bytes: 4 << 20, ..engine_config() };
    let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
    let live = Live::start(&engine, LiveConfig::default()).unwrap();
    let waiting = Arc::clone(&live);
    let waiter = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(waiting.wait_for(Seq(1_000), LONG))
    });
    engine.shutdown(LONG);
    assert!(!waiter.join().unwrap());
    assert!(live.fault().is_none());
    assert_eq!(live.lag(), 0);
}

/// A venue with its reference data, and a feed that has caught up.
fn running(dir: &std::path::Path) -> (Engine, Arc<Live>, Producer) {
    let config = EngineConfig {
        data_dir: dir.to_owned(),
        level: Level::Buffered,
        segment_bytes: 4 << 20,
        ..engine_config()
    };
    let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
    let live = Live::start(&engine, LiveConfig::default()).unwrap();
    let mut producer = engine.producer();
    let last = send(&mut producer, setting().into_iter());
    wait(&live, last);
    (engine, live, producer)
}

/// Panics in the folding thread at the first publication, as a defect would.
struct Breaks(AtomicBool);

impl Listener for Breaks {
    fn joined(&self, _: Subscription, _: Seq) {}

    fn publish(&self, _: &Publication<'_>) {
        panic!("a test breaks the feed");
    }

    fn closed(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Records the sequence after which it receives, and the last one received.
#[derive(Default)]
struct Recording {
    joined: AtomicU64,
    received: AtomicU64,
}

impl Listener for Recording {
    fn joined(&self, _: Subscription, seq: Seq) {
        self.joined.store(seq.0, Ordering::Release);
    }

    fn publish(&self, publication: &Publication<'_>) {
        self.received.store(publication.seq.0, Ordering::Release);
    }

    fn closed(&self) {}
}

#[test]
fn a_failed_feed_is_restarted_in_place() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, live, mut producer) = running(dir.path());

    let book = Subscription::Book(InstrumentId(1));
    let breaks = Arc::new(Breaks(AtomicBool::new(false)));
    live.join(book, Arc::clone(&breaks) as Arc<dyn Listener>);
    send(&mut producer, (0..1_000).map(order));
    while live.fault().is_none() {
        std::thread::yield_now();
    }
    assert!(breaks.0.load(Ordering::Acquire), "its listeners are closed");
    let too_early = Arc::new(Recording::default());
    live.join(book, Arc::clone(&too_early) as Arc<dyn Listener>);

    let last = send(&mut producer, (1_000..2_000).map(order));
    let other = live.another(&engine).unwrap();
    wait(&other, last);
    live.take_over(&other).unwrap();
    assert!(live.fault().is_none());
    assert_eq!(live.seq(), last);
    let listener = Arc::new(Recording::default());
    live.join(book, Arc::clone(&listener) as Arc<dyn Listener>);
    let last = send(&mut producer, (2_000..3_000).map(order));
    wait(&live, last);

    assert!(listener.joined.load(Ordering::Acquire) < listener.received.load(Ordering::Acquire));
    assert_eq!(
        too_early.received.load(Ordering::Acquire),
        0,
        "it was cut off, not served with a gap"
    );
    let complete = Live::start(&engine, LiveConfig { history: u64::MAX, ..LiveConfig::default() });
    let complete = complete.unwrap();
    wait(&complete, last);
    let (feed, complete) = (live.read(), complete.read());
    assert_eq!(
        feed.depth(InstrumentId(1), usize::MAX),
        complete.depth(InstrumentId(1), usize::MAX),
    );
    assert_eq!(feed.ticker(InstrumentId(1)), complete.ticker(InstrumentId(1)));
    assert_eq!(live.counts().commands(), last.0, "each command counts once");
    let decided = |counts: &FoldCounts| {
        let refused: u64 = RejectReason::ALL.iter().map(|reason| counts.rejects(*reason)).sum();
        counts.events(EventKind::Accepted) + refused
    };
    assert_eq!(decided(live.counts()), 3_000, "and each order");
}

/// A slow listener.
struct Slow {
    takes: Duration,
    /// How long each of its calls took.
    publications: Mutex<Vec<Duration>>,
    last: AtomicU64,
}

impl Slow {
    fn of(takes: Duration) -> Arc<Slow> {
        Arc::new(Slow { takes, publications: Mutex::default(), last: AtomicU64::new(0) })
    }
}

impl Listener for Slow {
    fn joined(&self, _: Subscription, _: Seq) {}

    fn publish(&self, publication: &Publication<'_>) {
        let began = std::time::Instant::now();
        while began.elapsed() < self.takes {
            std::hint::spin_loop();
        }
        self.publications.lock().unwrap().push(began.elapsed());
        self.last.store(publication.seq.0, Ordering::Release);
    }

    fn closed(&self) {}
}

#[test]
fn publishing_takes_a_fifth_of_the_time_and_conflates_changes() {
    // Quick publications are more frequent, and take no more time in all.
    for takes in [Duration::from_millis(2), Duration::from_micros(90)] {
        publish_for_a_second(&Slow::of(takes));
    }
}

fn publish_for_a_second(slow: &Arc<Slow>) {
    let dir = tempfile::tempdir().unwrap();
    let (_engine, live, mut producer) = running(dir.path());
    live.join(Subscription::Book(InstrumentId(1)), Arc::clone(slow) as Arc<dyn Listener>);

    // One at a time, so that each could be published separately.
    let (began, mut number, mut last) = (std::time::Instant::now(), 0, Seq::ZERO);
    while began.elapsed() < Duration::from_secs(1) {
        let resting = Command::Place(NewOrder::limit(
            AccountId(1),
            InstrumentId(1),
            Side::Buy,
            Quantity(1),
            Price(1 + number % 100),
        ));
        last = send(&mut producer, std::iter::once(resting));
        number += 1;
    }
    wait(&live, last);
    let (elapsed, publications) = (began.elapsed(), slow.publications.lock().unwrap());
    assert_eq!(slow.last.load(Ordering::Acquire), last.0, "everything is published");
    // After each publication the thread rests four times as long as it took, at most 50 ms. The last one may
    // not have been followed by its rest, nor those whose rests together are too short to be taken.
    let (of_last, others) = publications.split_last().unwrap();
    let with_rest = |took: &Duration| *took + (*took * 4).min(Duration::from_millis(50));
    let least = others.iter().map(with_rest).sum::<Duration>() + *of_last;
    assert!(least <= elapsed + Duration::from_millis(1), "{least:?} in {elapsed:?}");
    let count = publications.len();
    assert!(count > 1 && count < number as usize, "{count} of {number}");
}
