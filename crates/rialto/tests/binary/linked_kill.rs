//! A venue killed again and again while linked and conditional orders and icebergs trade: no order that was
//! acknowledged is lost, never do both orders of a pair trade, exits are never for more than their entry has
//! traded, and no order is triggered twice.

use crate::asking::{Client, Credentials, secret};
use crate::operated::Operated;
use crate::running::chance::{Random, seed};
use crate::running::{PATIENCE, Running, configure, rialto, text};
use crate::stopped::{has_work_left, state_of};
use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig};
use rialto_model::{Event, OrderId, OrderSize, Seq};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The least number of kills, and the most until one was before the end of background work.
const KILLS: [usize; 2] = [12, 36];
/// The rows of a batch.
const ROWS: usize = 40;
/// The number of entries with exits that one incoming order trades with. The engine enters their exits in many
/// commands.
const ENTRIES: usize = 4_000;
/// The rows of a batch of them.
const ENTRY_ROWS: usize = 200;
/// The longest time from a start to a kill.
const ALIVE: Duration = Duration::from_millis(400);
/// The most batches of a member between two kills.
const BATCHES: usize = 200;
/// Amendments are of one of this many stops that were entered last.
const AMENDED: u64 = 3;

/// A member that enters lists and orders that wait, or one that trades with them.
struct Member {
    account: u32,
    key: String,
    secret: String,
    random: Random,
    /// The number of stops entered, which are named by it.
    stops: u64,
}

impl Member {
    fn new(operated: &Operated, account: u32, seed: u64) -> Member {
        operated.post("members", &json!({ "member": account, "name": "client" }));
        operated
            .post("accounts", &json!({ "account": account, "member": account, "name": "main" }));
        for currency in ["BTC", "USD"] {
            let reference = format!("begin-{currency}");
            let deposit = json!({
                "account": account, "currency": currency, "amount": "1000000000",
                "reference": reference,
            });
            operated.post("deposits", &deposit);
        }
        let key = operated.post("keys", &json!({ "member": account, "scopes": ["read", "trade"] }));
        let part = |name: &str| key[name].as_str().unwrap().to_owned();
        let random = Random::new(seed ^ u64::from(account) << 32);
        Member { account, key: part("id"), secret: part("secret"), random, stops: 0 }
    }

    /// Enters orders until the venue does not answer any more. Returns the acknowledged ones.
    fn trade(&mut self, url: &str) -> Vec<OrderId> {
        let client = self.client(url);
        let mut acknowledged = Vec::new();
        for _ in 0..BATCHES {
            let rows: Vec<Value> = (0..ROWS).map(|_| self.row()).collect();
            let body = json!({ "account": self.account, "rows": rows });
            let Ok(answer) = client.call("POST", "/v1/orders/batch", Some(&body)) else { break };
            acknowledged.extend(orders_of(&answer));
        }
        acknowledged
    }

    /// Enters many entries with exits at a price below all others. Returns the acknowledged ones.
    fn place_entries(&self, url: &str) -> Vec<OrderId> {
        let entry = json!({ "place": {
            "instrument": "BTC-USD", "side": "buy", "quantity": "1", "price": "80",
            "take_profit": { "price": "200" }, "stop_loss": { "trigger": "50" },
        }});
        let (client, mut acknowledged) = (self.client(url), Vec::new());
        let body = json!({ "account": self.account, "rows": vec![entry; ENTRY_ROWS] });
        for _ in 0..ENTRIES / ENTRY_ROWS {
            let answer = client.call("POST", "/v1/orders/batch", Some(&body)).unwrap();
            acknowledged.extend(orders_of(&answer));
        }
        assert_eq!(acknowledged.len(), ENTRIES);
        acknowledged
    }

    /// Trades with all entries, and with what is in between.
    fn sell_all(&self, url: &str) -> OrderId {
        let order = json!({
            "account": self.account, "instrument": "BTC-USD", "side": "sell", "quantity": "500000",
            "price": "80", "time_in_force": "ioc",
        });
        let placed = self.client(url).call("POST", "/v1/orders", Some(&order)).unwrap();
        OrderId(placed["order_id"].as_str().unwrap().parse().unwrap())
    }

    fn client(&self, url: &str) -> Client {
        let secret = secret(&self.secret).unwrap();
        Client::new(url, Credentials::Key { id: self.key.clone(), secret })
    }

    fn row(&mut self) -> Value {
        if self.account == 1 && self.random.below(8) == 0 {
            let id = format!("client:s{}", self.stops.saturating_sub(self.random.below(AMENDED)));
            let trigger_price = (90 + self.random.below(21)).to_string();
            return json!({ "amend": { "id": id, "trigger_price": trigger_price } });
        }
        json!({ "place": self.order() })
    }

    fn order(&mut self) -> Value {
        let middle = 95 + self.random.below(11);
        let quantity = (1 + self.random.below(9)).to_string();
        let buys = self.random.below(2) == 0;
        let side = if buys { "buy" } else { "sell" };
        let mut order = json!({
            "instrument": "BTC-USD", "side": side, "quantity": quantity,
            "price": middle.to_string(), "time_in_force": "ioc",
        });
        if self.account == 2 {
            return order;
        }
        let (above, below) = ((middle + 2).to_string(), (middle - 2).to_string());
        order["time_in_force"] = json!("gtc");
        let (better, worse) = if buys { (above, below) } else { (below, above) };
        match self.random.below(8) {
            0..3 => {
                order["take_profit"] = json!({ "price": better });
                order["stop_loss"] = json!({ "trigger": worse });
            }
            // The pair is of the side of the order, so that its stop is where the profit of an entry would be.
            3..5 => order["oco"] = json!({ "trigger": better }),
            5 => order["display_quantity"] = json!("1"),
            6 => {
                order["kind"] = json!("market");
                order["price"] = Value::Null;
                order["trail_distance"] = json!((1 + self.random.below(4)).to_string());
            }
            _ => {
                self.stops += 1;
                order["client_order_id"] = json!(format!("s{}", self.stops));
                order["trigger"] = json!("stop");
                order["trigger_price"] = json!(better);
            }
        }
        order
    }
}

/// The orders that a batch is answered with.
fn orders_of(answer: &Value) -> Vec<OrderId> {
    let results = answer["results"].as_array().unwrap().iter();
    let ids = results.filter_map(|result| result["order"]["order_id"].as_str());
    ids.map(|id| OrderId(id.parse().unwrap())).collect()
}

/// What the event log holds.
#[derive(Default)]
struct History {
    quantity: BTreeMap<OrderId, i64>,
    traded: BTreeMap<OrderId, i64>,
    /// The linked orders of a list that may trade as long as its list is not over.
    pairs: Vec<(OrderId, [OrderId; 2])>,
    triggered: BTreeSet<OrderId>,
    /// Orders whose trigger price was set, and how often.
    set: BTreeMap<OrderId, usize>,
    /// The most that an iceberg displays.
    displays: BTreeMap<OrderId, i64>,
    activated: usize,
    refreshed: usize,
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
                let OrderSize::Base(quantity) = it.terms.size else { return };
                let before = self.quantity.insert(it.order, quantity.0);
                assert!(before.is_none(), "order {} was accepted twice", it.order);
            }
            Event::Amended(it) => drop(self.quantity.insert(it.order, it.quantity.0)),
            Event::OrdersLinked(it) => self.pairs.push((it.list, [it.take_profit, it.stop_loss])),
            Event::Trade(it) => {
                for order in [it.maker_order, it.taker_order] {
                    *self.traded.entry(order).or_default() += it.quantity.0;
                }
            }
            Event::Triggered(it) => {
                assert!(self.triggered.insert(it.order), "{} was triggered twice", it.order);
            }
            Event::TriggerSet(it) => *self.set.entry(it.order).or_default() += 1,
            Event::TrailActivated(_) => self.activated += 1,
            Event::IcebergSet(it) => {
                self.displays.insert(it.order, it.display_quantity.0);
            }
            Event::IcebergRefreshed(it) => {
                self.refreshed += 1;
                let most = self.displays[&it.order];
                assert!(it.displayed.0 <= most, "{} displays too much", it.order);
            }
            _ => {}
        }
    }

    fn traded(&self, order: OrderId) -> i64 {
        self.traded.get(&order).copied().unwrap_or(0)
    }

    /// Returns how many lists there were, and of how many an order of the pair traded.
    fn check(&self) -> (usize, usize) {
        for (order, traded) in &self.traded {
            assert!(*traded <= self.quantity[order], "order {order} traded too much");
        }
        let mut exits: BTreeMap<OrderId, i64> = BTreeMap::new();
        let mut some_traded = 0;
        for (list, pair) in &self.pairs {
            let traded = pair.map(|order| self.traded(order));
            assert!(traded.contains(&0), "both orders of {pair:?} of list {list} have traded");
            some_traded += usize::from(traded != [0, 0]);
            if !pair.contains(list) {
                *exits.entry(*list).or_default() += traded[0] + traded[1];
            }
        }
        for (list, sold) in exits {
            assert!(sold <= self.traded(list), "the exits of {list} traded more than it did");
        }
        (self.pairs.len(), some_traded)
    }
}

#[test]
fn linked_and_waiting_orders_keep_their_promises_whenever_the_venue_is_killed() {
    let seed = seed();
    let mut random = Random::new(seed);
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), &format!("batch_rows_max = {ENTRY_ROWS}\n"));
    let settings = json!({ "open_orders_max": 100_000, "market_protection_ppm": 50_000 });
    let mut operated = Operated::with_market(dir.path(), &settings);
    let mut members = [1, 2].map(|account| Member::new(&operated, account, seed));
    let (mut acknowledged, mut unfinished) = (Vec::new(), 0);
    let data = dir.path().join("data");
    for kills in 0.. {
        if kills >= KILLS[0] && unfinished > 0 {
            println!("{unfinished} of {kills} kills were before the end of background work");
            break;
        }
        assert!(kills < KILLS[1], "none of {kills} kills was before the end of background work");
        let url = operated.venue.url();
        if kills % 3 == 2 {
            // While exits are entered.
            acknowledged.extend(members[0].place_entries(&url));
            acknowledged.push(members[1].sell_all(&url));
            operated.venue.kill();
        } else {
            let trading = members.map(|mut member| {
                let url = url.clone();
                thread::spawn(move || {
                    let acknowledged = member.trade(&url);
                    (member, acknowledged)
                })
            });
            // Before that, nobody may have been answered.
            thread::sleep(ALIVE / 4);
            random.pause(ALIVE);
            operated.venue.kill();
            members = trading.map(|thread| {
                let (member, more) = thread.join().expect("a member");
                acknowledged.extend(more);
                member
            });
        }
        unfinished += usize::from(has_work_left(&state_of(&data)));
        operated.venue = Running::serve(dir.path(), "synced");
        for member in &mut members {
            // The venue accepts signatures of a new secret at once, and not a second after its start.
            let what = format!("keys/{}/rotate", member.key);
            let key = operated.post(&what, &json!({ "overlap_s": 0 }));
            member.secret = key["secret"].as_str().unwrap().to_owned();
        }
    }
    operated.venue.terminate();
    let verified = rialto(&["verify", data.to_str().unwrap()]);
    assert!(verified.status.success(), "{}", text(&verified.stderr));
    let history = History::read(&data);
    let (lists, traded) = history.check();
    for order in &acknowledged {
        assert!(history.quantity.contains_key(order), "order {order} is lost");
    }
    println!("{} orders were acknowledged", acknowledged.len());
    assert!(acknowledged.len() > 1_000, "only {} were acknowledged", acknowledged.len());
    assert!(lists > 100 && traded > 20, "of {lists} lists {traded} traded: too few, seed {seed}");
    let amended = history.set.values().filter(|count| **count > 1).count();
    let met = [history.triggered.len(), amended, history.activated, history.refreshed];
    println!("triggered, amended, activated, refreshed: {met:?}");
    assert!(met.iter().all(|count| *count > 10), "{met:?}: too few, seed {seed}");
}
