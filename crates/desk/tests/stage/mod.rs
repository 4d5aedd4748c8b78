//! An engine on a simulated disk, its feed and a desk.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
#![allow(clippy::expect_used, reason = "a test may panic")]

use rialto_bus::{Context, Dispatch};
use rialto_desk::{
    CreateAccount, CreateCurrency, CreateInstrument, CreateMember, Deposit, DeskBus, DeskConfig,
    Grant, Listener, Live, LiveConfig, OrderRate, PlaceOrder, Publication, Scope, Subscription,
    VenueParts,
};
use rialto_disk::SimDisk;
use rialto_engine::{Engine, EngineConfig};
use rialto_model::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const ALICE: AccountId = AccountId(1);
pub const BOB: AccountId = AccountId(2);
pub const LONG: Duration = Duration::from_secs(60);

pub struct Stage {
    pub disk: SimDisk,
    pub engine: Arc<Engine>,
    pub live: Arc<Live>,
    pub bus: DeskBus,
}

pub fn name(text: &str) -> Name {
    text.parse().expect("a short name")
}

pub fn grant(scopes: &[Scope], accounts: &[AccountId]) -> Grant {
    Grant::new(scopes.iter().copied().collect(), accounts)
}

/// A bid for one at this price.
pub fn bid(account: AccountId, price: i64) -> PlaceOrder {
    let order = NewOrder::limit(account, InstrumentId(1), Side::Buy, Quantity(1), Price(price));
    PlaceOrder { order, level: None }
}

impl Stage {
    /// An engine with one member and two accounts.
    pub async fn empty() -> Stage {
        Stage::with_order_rate(Arc::new(OrderRate::new(0))).await
    }

    /// The same, with this limit of orders.
    pub async fn with_order_rate(order_rate: Arc<OrderRate>) -> Stage {
        let config = EngineConfig { segment_bytes: 4 << 20, ..EngineConfig::default() };
        let disk = SimDisk::new(1);
        let (engine, _) = Engine::start(config, Arc::new(disk.clone())).expect("an empty disk");
        let engine = Arc::new(engine);
        let live = Live::start(&engine, LiveConfig::default()).expect("an engine without a past");
        let venue =
            VenueParts::new(Arc::clone(&engine), Arc::clone(&live)).with_order_rate(order_rate);
        let config = DeskConfig { patience: Duration::from_millis(300), ..DeskConfig::default() };
        let bus = DeskBus::open(venue, &config);
        let operator = grant(&[Scope::Admin], &[]);
        let cx = Context::new().with_principal(&operator);
        let member = CreateMember { member: MemberId(1), name: name("acme"), level: None };
        bus.send(member, &cx).await.expect("the first member");
        for account in [ALICE, BOB] {
            let (member, name) = (MemberId(1), name("main"));
            let account = CreateAccount { account, member, name, level: None };
            bus.send(account, &cx).await.expect("an account of the member");
        }
        Stage { disk, engine, live, bus }
    }

    /// An engine with an instrument and a deposit of Alice's.
    pub async fn with_market() -> Stage {
        let stage = Stage::empty().await;
        stage.list_market().await;
        let operator = grant(&[Scope::Admin], &[]);
        let cx = Context::new().with_principal(&operator);
        let transfer = Transfer {
            account: ALICE,
            currency: CurrencyId(2),
            amount: Amount(1 << 60),
            reference: "in".parse().expect("a short name"),
        };
        let deposit = Deposit { deposit: transfer.into(), level: None };
        let seq = stage.bus.send(deposit, &cx).await.expect("the deposit").seq;
        stage.wait_for_publication(seq).await;
        stage
    }

    pub async fn list_market(&self) {
        let operator = grant(&[Scope::Admin], &[]);
        let cx = Context::new().with_principal(&operator);
        let scale = Scale::new(8).expect("a scale");
        for code in ["BTC", "USD"] {
            let code = code.parse().expect("a code");
            let currency = CreateCurrency { code, scale, level: None };
            self.bus.send(currency, &cx).await.expect("a currency");
        }
        let rules = TradingRules {
            quantity_max: Quantity(1_000_000),
            market_protection_ppm: 100_000,
            open_orders_max: 1_000,
            ..TradingRules::unrestrained()
        };
        let spec = InstrumentSpec {
            symbol: "BTC-USD".parse().expect("a symbol"),
            kind: InstrumentKind::Spot,
            base: CurrencyId(1),
            quote: CurrencyId(2),
            price_scale: Scale::new(2).expect("a scale"),
            quantity_scale: Scale::new(4).expect("a scale"),
            rules,
        };
        self.bus.send(CreateInstrument { spec, level: None }, &cx).await.expect("an instrument");
    }

    /// Waits until a sequence is published to subscribers.
    pub async fn wait_for_publication(&self, seq: Seq) {
        assert!(self.live.wait_for(seq, LONG).await, "the feed has ended");
    }
}

/// Records the sequences that it receives.
#[derive(Default)]
pub struct Received(Mutex<Vec<Seq>>);

impl Received {
    pub fn seqs(&self) -> Vec<Seq> {
        self.0.lock().expect("nobody panicked").clone()
    }
}

impl Listener for Received {
    fn joined(&self, _: Subscription, _: Seq) {}

    fn publish(&self, publication: &Publication<'_>) {
        self.0.lock().expect("nobody panicked").push(publication.seq);
    }

    fn closed(&self) {}
}
