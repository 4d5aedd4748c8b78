//! A venue killed while orders come in for an auction, while their instrument uncrosses, and after: the
//! auction is held once and at one price, and nothing that was acknowledged is lost.

use crate::asking::{Client, Credentials, secret};
use crate::running::chance::{Random, seed};
use crate::running::{PATIENCE, Running, configure, rialto, text};
use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig};
use rialto_model::{Event, InstrumentState, Seq, Side};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Batches of each side in a call.
const BATCHES: usize = 6;
/// The rows of a batch.
const ROWS: usize = 500;
/// Calls until the venue was killed at each moment. One in three kills is while it uncrosses, so that
/// a few suffice; all of these miss it once in 100,000 runs.
const CALLS_MAX: usize = 32;
/// What each account begins with of each currency.
const DEPOSIT: i64 = 1_000_000_000;
/// Units of a quantity in one of base currency.
const LOTS: i64 = 1_000_000;

/// An acknowledged order.
#[derive(Clone, Copy)]
struct Entered {
    order: u64,
    side: Side,
    quantity: i64,
}

/// A member that only buys or only sells.
struct Member {
    account: u32,
    side: Side,
    key: String,
    secret: String,
    random: Random,
}

impl Member {
    /// Enters orders that cross those of the other member, and returns the acknowledged ones.
    fn enter(&mut self, url: &str, told: &Sender<()>) -> Vec<Entered> {
        let secret = secret(&self.secret).unwrap();
        let client = Client::new(url, Credentials::Key { id: self.key.clone(), secret });
        let mut entered = Vec::new();
        for _ in 0..BATCHES {
            let quantities: Vec<i64> =
                (0..ROWS).map(|_| 1 + self.random.below(90) as i64).collect();
            let rows: Vec<Value> = quantities.iter().map(|quantity| self.row(*quantity)).collect();
            let body = json!({ "account": self.account, "rows": rows });
            let Ok(answer) = client.call("POST", "/v1/orders/batch", Some(&body)) else { break };
            let results = answer["results"].as_array().unwrap();
            for (result, quantity) in results.iter().zip(quantities) {
                if let Some(order) = result["order"]["order_id"].as_str() {
                    let order = order.parse().unwrap();
                    entered.push(Entered { order, side: self.side, quantity });
                }
            }
            let _ = told.send(());
        }
        entered
    }

    fn row(&mut self, quantity: i64) -> Value {
        let away = self.random.below(200) as i64;
        let price = if self.side == Side::Buy { 60_000 + away } else { 60_000 - away };
        json!({ "place": {
            "instrument": "BTC-USD",
            "side": self.side.name(),
            "price": price.to_string(),
            "quantity": format!("0.{quantity:06}"),
            "time_in_force": "gtc",
        }})
    }
}

/// The operator.
struct Operator {
    key: String,
}

impl Operator {
    fn client(&self, url: &str) -> Client {
        Client::new(url, Credentials::Admin(self.key.clone()))
    }

    fn post(&self, url: &str, what: &str, body: &Value) -> Result<Value, rialto::Error> {
        self.client(url).call("POST", &format!("/v1/admin/{what}"), Some(body))
    }

    /// A market, and two members with deposits.
    fn create_market(&self, url: &str, seed: u64) -> Vec<Member> {
        let post = |what: &str, body: Value| self.post(url, what, &body).expect(what);
        post("currencies", json!({ "code": "BTC", "scale": 8 }));
        post("currencies", json!({ "code": "USD", "scale": 8 }));
        let instrument = json!({
            "symbol": "BTC-USD", "base": "BTC", "quote": "USD", "price_scale": 2,
            "quantity_scale": 6, "tick": "1", "lot": "0.000001", "open_orders_max": 1_000_000,
        });
        post("instruments", instrument);
        let member = |(account, side): (u32, Side)| {
            post("members", json!({ "member": account, "name": format!("client-{account}") }));
            post("accounts", json!({ "account": account, "member": account, "name": "main" }));
            for currency in ["BTC", "USD"] {
                let deposit = json!({
                    "account": account, "currency": currency, "amount": DEPOSIT.to_string(),
                    "reference": format!("begin-{account}-{currency}"),
                });
                post("deposits", deposit);
            }
            let key = post("keys", json!({ "member": account, "scopes": ["read", "trade"] }));
            let text = |field: &str| key[field].as_str().unwrap().to_owned();
            let random = Random::new(seed ^ u64::from(account) << 32);
            Member { account, side, key: text("id"), secret: text("secret"), random }
        };
        [(1, Side::Buy), (2, Side::Sell)].into_iter().map(member).collect()
    }

    /// Rotates the members' secrets after a start, so that the venue accepts their signatures at once
    /// and not a second later.
    fn renew(&self, url: &str, members: &mut [Member]) {
        for member in members {
            let what = format!("keys/{}/rotate", member.key);
            let key = self.post(url, &what, &json!({ "overlap_s": 0 })).unwrap();
            member.secret = key["secret"].as_str().unwrap().to_owned();
        }
    }

    fn set_state(&self, url: &str, state: &str) -> Result<Value, rialto::Error> {
        self.post(url, "state", &json!({ "instrument": "BTC-USD", "state": state }))
    }

    /// Waits for the end of an auction.
    fn wait_until_open(&self, url: &str) {
        let (client, end) = (self.client(url), Instant::now() + PATIENCE);
        loop {
            let auction = client.get("/v1/auction/BTC-USD").unwrap();
            if auction["state"] == "open" {
                return;
            }
            assert!(Instant::now() < end, "it does not open: {auction}");
            thread::yield_now();
        }
    }
}

/// An auction in the event log.
#[derive(Default)]
struct Auction {
    price: i64,
    volume: i64,
    bought: i64,
    sold: i64,
}

/// What the event log holds.
#[derive(Default)]
struct History {
    accepted: BTreeMap<u64, (Side, i64)>,
    auctions: Vec<Auction>,
    filled: BTreeMap<u64, i64>,
    /// The states of the instrument, in turn.
    states: Vec<InstrumentState>,
}

impl History {
    fn read(data: &Path) -> History {
        let (data_dir, segment_bytes) = (data.to_path_buf(), 4 << 20);
        let config = EngineConfig { data_dir, segment_bytes, ..EngineConfig::default() };
        let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).expect("it recovers");
        let mut history = History::default();
        let mut reader = engine.events(Seq(1));
        while reader.next_seq() <= engine.released() {
            let batch = reader.next_timeout(PATIENCE).expect("readable").expect("there are more");
            for record in batch.iter() {
                let (_, events) = record.decode().expect("decodable");
                events.for_each(|event| history.note(&event.expect("decodable")));
            }
        }
        engine.shutdown(PATIENCE);
        history
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::Accepted(it) => {
                let rialto_model::OrderSize::Base(quantity) = it.terms.size else { return };
                let before = self.accepted.insert(it.order.0, (it.terms.side, quantity.0));
                assert!(before.is_none(), "order {} was accepted twice", it.order);
            }
            Event::InstrumentStateSet { state, .. } => self.states.push(*state),
            Event::Uncrossed(it) => {
                let (price, volume) = (it.price.0, it.volume.0);
                self.auctions.push(Auction { price, volume, ..Auction::default() });
            }
            Event::Trade(it) => {
                assert!(it.auction, "a trade outside an auction: {it:?}");
                assert_eq!(self.states.last(), Some(&InstrumentState::Uncrossing));
                let auction = self.auctions.last_mut().expect("a price comes before its trades");
                assert_eq!(it.price.0, auction.price, "an auction with a second price");
                for order in [it.maker_order.0, it.taker_order.0] {
                    *self.filled.entry(order).or_default() += it.quantity.0;
                    match self.accepted[&order].0 {
                        Side::Buy => auction.bought += it.quantity.0,
                        Side::Sell => auction.sold += it.quantity.0,
                    }
                }
            }
            _ => {}
        }
    }

    fn check(&self, entered: &[Entered], calls: usize) {
        for it in entered {
            let accepted = self.accepted.get(&it.order);
            assert_eq!(accepted, Some(&(it.side, it.quantity)), "order {} is lost", it.order);
        }
        for (order, filled) in &self.filled {
            assert!(*filled <= self.accepted[order].1, "order {order} traded too much");
        }
        assert_eq!(self.auctions.len(), calls, "each call has one auction");
        for auction in &self.auctions {
            let Auction { volume, bought, sold, .. } = *auction;
            assert!(volume > 0 && (bought, sold) == (volume, volume), "{volume} {bought} {sold}");
        }
        use InstrumentState::{Call, Open, Uncrossing};
        assert_eq!(self.states, [Call, Uncrossing, Open].repeat(calls));
    }
}

/// The state of the instrument in a stopped venue.
fn state_in(data: &Path) -> String {
    let data = data.to_str().unwrap();
    let output = rialto(&["at", "--data", data, "--json", "book", "BTC-USD", "--depth", "1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let book: Value = serde_json::from_slice(&output.stdout).unwrap();
    book["state"].as_str().unwrap().to_owned()
}

/// The balances of an account in a stopped venue, in the smallest units of its currencies, with what is
/// reserved.
fn balances_in(data: &Path, account: u32) -> Vec<i128> {
    let (data, account) = (data.to_str().unwrap(), account.to_string());
    let output = rialto(&["at", "--data", data, "--json", "account", &account]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    let units = |amount: &Value| -> i128 {
        let (whole, part) = amount.as_str().unwrap().split_once('.').unwrap();
        assert_eq!(part.len(), 8, "{amount}");
        format!("{whole}{part}").parse().unwrap()
    };
    let rows = shown["balances"].as_array().unwrap();
    rows.iter().map(|row| units(&row["available"]) + units(&row["reserved"])).collect()
}

/// What an account has after the auctions, from the events.
fn expected(side: Side, auctions: &[Auction]) -> Vec<i128> {
    const UNIT: i128 = 100_000_000;
    let (mut base, mut quote) = (0, 0);
    for auction in auctions {
        let (price, volume) = (i128::from(auction.price), i128::from(auction.volume));
        base += volume * UNIT / i128::from(LOTS);
        // Prices have two places.
        quote += price * volume * UNIT / (100 * i128::from(LOTS));
    }
    let deposit = i128::from(DEPOSIT) * UNIT;
    match side {
        Side::Buy => vec![deposit + base, deposit - quote],
        Side::Sell => vec![deposit - base, deposit + quote],
    }
}

#[test]
fn an_auction_is_held_once_and_whole_whenever_the_venue_is_killed() {
    let seed = seed();
    let mut random = Random::new(seed);
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    configure(dir.path(), &format!("batch_rows_max = {ROWS}\n"));
    let mut venue = Running::serve(dir.path(), "synced");
    let operator = Arc::new(Operator { key: venue.admin_key() });
    let mut members = operator.create_market(&venue.url(), seed);
    let (mut entered, mut killed_in, mut calls) = (Vec::new(), BTreeSet::new(), 0);
    // How long an auction took, from the command to its end.
    let mut lasted = Duration::ZERO;
    while killed_in.len() < 3 {
        assert!(calls < CALLS_MAX, "in {calls} calls it was killed only in {killed_in:?}");
        let url = venue.url();
        operator.set_state(&url, "call").unwrap();
        let (told, answered) = channel();
        let entering: Vec<_> = members
            .into_iter()
            .map(|mut member| {
                let (url, told) = (url.clone(), told.clone());
                thread::spawn(move || (member.enter(&url, &told), member))
            })
            .collect();
        if calls == 0 {
            // While the orders come in.
            (0..BATCHES).for_each(|_| answered.recv_timeout(PATIENCE).expect("an answer"));
            venue.kill();
        }
        members = Vec::new();
        for thread in entering {
            let (orders, member) = thread.join().expect("a member");
            entered.extend(orders);
            members.push(member);
        }
        if calls == 1 {
            // After the auction.
            let began = Instant::now();
            operator.set_state(&url, "open").unwrap();
            operator.wait_until_open(&url);
            lasted = began.elapsed();
            venue.kill();
        }
        if calls > 1 {
            // At a random time from the command to the end of the auction.
            let opening = {
                let (operator, url) = (Arc::clone(&operator), url.clone());
                thread::spawn(move || operator.set_state(&url, "open").is_ok())
            };
            random.pause(lasted);
            venue.kill();
            opening.join().expect("an operator");
        }
        let state = state_in(&data);
        venue = Running::serve(dir.path(), "synced");
        let url = venue.url();
        if state == "call" {
            operator.set_state(&url, "open").unwrap();
        }
        operator.wait_until_open(&url);
        operator.renew(&url, &mut members);
        killed_in.insert(state);
        calls += 1;
    }
    venue.terminate();
    assert_eq!(state_in(&data), "open");
    let verified = rialto(&["verify", data.to_str().unwrap()]);
    assert!(verified.status.success(), "{}{}", text(&verified.stdout), text(&verified.stderr));
    let shown: Vec<Vec<i128>> =
        members.iter().map(|member| balances_in(&data, member.account)).collect();

    let history = History::read(&data);
    history.check(&entered, calls);
    for (member, balances) in members.iter().zip(shown) {
        assert_eq!(balances, expected(member.side, &history.auctions), "{}", member.account);
    }
    println!("{calls} calls, {} orders, an auction took {lasted:?}", entered.len());
}
