//! An outbox and an inbox in a SQL database: a message and the rows of its sender are atomic, and
//! so are a mark and the rows of its receiver.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../../crates/flow/tests/outbox_model/model.rs"]
mod model;
mod store;

use model::{acts, check};
use proptest::prelude::*;
use rialto_flow::outbox::{ForwardError, Forwarder, Options, Outbox, OutboxStore};
use rialto_flow::store::{Accepted, Backlog, InboxMark, OutboxMessage, StoreError};
use rialto_flow::{ManualClock, RetryPolicy, Timestamp};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::{Sql, failed};

/// The number of orders.
const ORDERS: u64 = 4;

const SHOP: &str = "CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY);";
const BANK: &str = "
    CREATE TABLE IF NOT EXISTS account (paid INTEGER NOT NULL);
    INSERT INTO account SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM account);
";

/// The sender's transaction: an order, and the message for its payment.
fn place_order(shop: &Sql, id: u64) -> Result<(), StoreError> {
    shop.transaction(|transaction| {
        shop.live()?;
        transaction.execute("INSERT INTO orders (id) VALUES (?)", [id as i64]).map_err(failed)?;
        let message = OutboxMessage::new("bank", "pay 1").with_key(format!("order-{id}"));
        shop.send_in(transaction, &[message.with_ordering_key("payments")])
    })
}

/// The receiver's transaction: the mark, and the message's effect.
struct ToBank(Arc<Sql>);

impl Forwarder for ToBank {
    async fn forward(&self, message: &OutboxMessage) -> Result<(), ForwardError> {
        let (from, key) = ("shop".to_owned(), message.key.clone());
        let mark = InboxMark { from, key, keep_until: Timestamp(u64::MAX >> 1) };
        let bank = &*self.0;
        bank.transaction(|transaction| {
            if bank.mark_in(transaction, &mark)? == Accepted::New {
                bank.live()?;
                transaction.execute("UPDATE account SET paid = paid + 1", []).map_err(failed)?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Both databases and their processes, each of which may be killed at a statement.
fn live(dir: &Path, clock: &ManualClock, kill: [u64; 2]) -> (Arc<Sql>, Arc<Sql>) {
    let shop = Arc::new(Sql::open(&dir.join("shop.db"), SHOP, kill[0]));
    let bank = Arc::new(Sql::open(&dir.join("bank.db"), BANK, kill[1]));
    let placed = shop.count("SELECT count(*) FROM orders") as u64;
    let options = Options {
        workers: 0,
        clock: Arc::new(clock.clone()),
        retry: RetryPolicy::forever(),
        in_flight_max: 2,
        ..Options::default()
    };
    let outbox = Outbox::open(shop.clone(), ToBank(bank.clone()), options).unwrap();
    for id in placed..ORDERS {
        if place_order(&shop, id).is_err() {
            break;
        }
    }
    for _ in 0..2 * ORDERS {
        if shop.was_killed() || bank.was_killed() {
            break;
        }
        let _ = outbox.run_until_idle();
        clock.advance(Duration::from_secs(60));
    }
    (shop, bank)
}

#[test]
fn a_kill_at_any_statement_loses_and_doubles_nothing() {
    const NEVER: u64 = u64::MAX - 1;
    for victim in 0..2 {
        let mut killed = true;
        let mut nth = 0;
        while killed {
            let (dir, clock) = (tempfile::tempdir().unwrap(), ManualClock::new(Timestamp(1)));
            let when = format!("victim {victim}, killed before statement {nth}");
            let mut kill = [NEVER; 2];
            kill[victim] = nth;
            let (shop, bank) = live(dir.path(), &clock, kill);
            killed = if victim == 0 { shop.was_killed() } else { bank.was_killed() };
            // An order exists if and only if its message does, or has had its effect.
            let orders = shop.count("SELECT count(*) FROM orders");
            let waiting = shop.count("SELECT count(*) FROM outbox");
            let paid = bank.count("SELECT paid FROM account");
            assert!(orders <= waiting + paid && waiting.max(paid) <= orders, "{when}");
            drop((shop, bank));
            clock.advance(Duration::from_secs(60));
            let (shop, bank) = live(dir.path(), &clock, [NEVER; 2]);
            assert_eq!(shop.backlog(), Ok(Backlog::default()), "{when}");
            assert_eq!(bank.count("SELECT paid FROM account") as u64, ORDERS, "{when}");
            assert_eq!(bank.count("SELECT count(*) FROM inbox") as u64, ORDERS, "{when}");
            nth += 1;
        }
        assert!(nth > 10, "only {nth} statements were killed at");
    }
}

#[test]
fn an_order_that_is_taken_back_sends_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let shop = Sql::open(&dir.path().join("shop.db"), SHOP, u64::MAX - 1);
    let taken_back: Result<(), _> = shop.transaction(|transaction| {
        transaction.execute("INSERT INTO orders (id) VALUES (1)", []).map_err(failed)?;
        shop.send_in(transaction, &[OutboxMessage::new("bank", "pay 1")])?;
        Err(failed("out of stock"))
    });
    assert!(taken_back.is_err());
    assert_eq!(shop.count("SELECT count(*) FROM orders"), 0);
    assert_eq!(shop.backlog(), Ok(Backlog::default()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_database_does_what_the_model_of_an_outbox_does(acts in acts()) {
        let store = Sql::open(Path::new(":memory:"), "", u64::MAX - 1);
        check(&acts, Box::new(store), 1, None);
    }
}
