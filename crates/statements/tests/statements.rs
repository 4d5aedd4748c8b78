//! Statements of a venue: what they say, and that there is one for each range.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod stage;

use rialto_disk::SimDisk;
use rialto_model::*;
use stage::{BTC, Rows, Stage, USD, deposit, limit, transfer};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_says_what_moved_each_balance() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    stage.send(limit(1, Side::Sell, 300, 5_000));
    stage.send(limit(2, Side::Buy, 200, 5_000));
    let last = stage.send(deposit(1, USD, 12_345, "wire-2"));
    let outcome = stage.made().await;
    assert_eq!((outcome.members, outcome.range.after, outcome.range.last), (2, Seq::ZERO, last));
    let csv = stage.only(1, ".csv");
    println!("{csv}");
    println!("{}", stage.only(2, ".html"));
    let rows = Rows::of(&csv);
    let core = stage.core(last);
    for (account, currency, code) in [(1, BTC, "BTC"), (1, USD, "USD"), (3, USD, "USD")] {
        let balance = core.balance(AccountId(account), currency).unwrap();
        let closing = rows.balance("closing", account, code);
        assert_eq!(closing, (balance.available.0, balance.reserved.0));
        let opening = rows.balance("opening", account, code);
        assert_eq!(opening.0 + rows.sum(account, code, "available"), closing.0);
        assert_eq!(opening.1 + rows.sum(account, code, "held"), closing.1);
    }
    let _ = transfer;
}
