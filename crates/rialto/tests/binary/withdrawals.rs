//! The real binary, killed while withdrawals are requested and decided: each ends exactly once.

use crate::asking::{Client, Credentials, secret};
use crate::running::chance::{Random, seed};
use crate::running::{PATIENCE, Running, command, text};
use rialto::Error;
use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig};
use rialto_model::{Event, Seq};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

const KILLS: u64 = 10;
/// The most answers of a round before the venue is killed.
const ANSWERS_MAX: u64 = 12;
const FUNDS: u64 = 1_000_000;

/// A withdrawal with its intended end and the received states.
struct Wanted {
    reference: String,
    amount: u64,
    /// The intended end.
    end: &'static str,
    /// The last state in an answer.
    told: Option<String>,
}

struct People {
    operator: Client,
    owner: Client,
}

impl People {
    fn at(url: &str, admin_key: &str, key: &(String, String)) -> People {
        let secret = secret(&key.1).unwrap();
        People {
            operator: Client::new(url, Credentials::Admin(admin_key.to_owned())),
            owner: Client::new(url, Credentials::Key { id: key.0.clone(), secret }),
        }
    }

    /// Requests and decides it; repeating either is safe.
    fn carry_through(&self, wanted: &mut Wanted, answered: &Sender<()>) -> Result<(), Error> {
        let body = json!({
            "currency": "USD", "amount": wanted.amount.to_string(), "reference": wanted.reference,
        });
        let asked = self.owner.call("POST", "/v1/withdrawals", Some(&body))?;
        wanted.hear(&asked);
        let _ = answered.send(());
        let id = format!("1-{}", wanted.reference);
        let (own, admin) = (format!("/v1/withdrawals/{id}"), format!("/v1/admin/withdrawals/{id}"));
        let decided = match wanted.end {
            "settled" => {
                let receipt = json!({ "receipt": format!("tx-{}", wanted.reference) });
                self.operator.call("POST", &format!("{admin}/approve"), Some(&receipt))?
            }
            "rejected" => {
                self.operator.call("POST", &format!("{admin}/reject"), Some(&json!({})))?
            }
            _ => self.owner.call("DELETE", &own, None)?,
        };
        wanted.hear(&decided);
        let _ = answered.send(());
        Ok(())
    }
}

impl Wanted {
    fn hear(&mut self, answer: &Value) {
        self.told = Some(answer["withdrawal"]["state"].as_str().unwrap().to_owned());
    }
}

/// A currency, a funded member and its key.
fn create_market(url: &str, admin_key: &str) -> (String, String) {
    let admin = Client::new(url, Credentials::Admin(admin_key.to_owned()));
    let post = |what: &str, body: Value| {
        admin.call("POST", &format!("/v1/admin/{what}"), Some(&body)).expect(what)
    };
    post("currencies", json!({ "code": "USD", "scale": 2 }));
    post("members", json!({ "member": 1, "name": "client" }));
    post("accounts", json!({ "account": 1, "member": 1, "name": "main" }));
    let money = FUNDS.to_string();
    post(
        "deposits",
        json!({ "account": 1, "currency": "USD", "amount": money, "reference": "begin" }),
    );
    let key = post("keys", json!({ "member": 1, "scopes": ["read", "transfer"] }));
    let part = |name: &str| key[name].as_str().unwrap().to_owned();
    (part("id"), part("secret"))
}

/// Waits for this many answers, or until no more come.
fn wait_for(answers: u64, answered: &Receiver<()>) {
    for _ in 0..answers {
        match answered.recv_timeout(PATIENCE) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => panic!("the venue answers nothing"),
        }
    }
}

/// How often each withdrawal was held, settled and released.
fn effects(data: &Path) -> HashMap<String, [u32; 3]> {
    let config = EngineConfig {
        data_dir: data.to_path_buf(),
        segment_bytes: 4 << 20,
        ..EngineConfig::default()
    };
    let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).expect("it recovers");
    let last = engine.released();
    let mut effects: HashMap<String, [u32; 3]> = HashMap::new();
    let mut reader = engine.events(Seq(1));
    while reader.next_seq() <= last {
        let batch = reader.next_timeout(PATIENCE).expect("readable").expect("there are more");
        for record in batch.iter() {
            for event in record.decode().expect("decodable").1 {
                let (kind, reference) = match event.expect("decodable") {
                    Event::WithdrawalHeld { reference, .. } => (0, reference),
                    Event::WithdrawalSettled { reference, .. } => (1, reference),
                    Event::WithdrawalReleased { reference, .. } => (2, reference),
                    _ => continue,
                };
                effects.entry(reference.to_string()).or_default()[kind] += 1;
            }
        }
    }
    engine.shutdown(PATIENCE);
    effects
}

fn survive(level: &str) {
    let mut random = Random::new(seed());
    let dir = tempfile::tempdir().unwrap();
    let mut venue = Running::serve(dir.path(), level);
    let admin_key = venue.admin_key();
    let mut key = create_market(&venue.url(), &admin_key);
    let mut all: Vec<Wanted> = Vec::new();
    for round in 0..KILLS {
        let people = People::at(&venue.url(), &admin_key, &key);
        let mut wanted: Vec<Wanted> = (0..ANSWERS_MAX)
            .map(|number| Wanted {
                reference: format!("w-{round}-{number}"),
                amount: 1 + random.below(9),
                end: ["settled", "rejected", "cancelled"][random.below(3) as usize],
                told: None,
            })
            .collect();
        let (told, answered) = channel();
        let answers = random.below(ANSWERS_MAX);
        let going = std::thread::spawn(move || {
            for wanted in &mut wanted {
                if people.carry_through(wanted, &told).is_err() {
                    break;
                }
            }
            wanted
        });
        wait_for(answers, &answered);
        random.pause(Duration::from_millis(3));
        venue.kill();
        let mut wanted = going.join().expect("a client");

        venue = Running::serve(dir.path(), level);
        let people = People::at(&venue.url(), &admin_key, &key);
        // A secret that was made after the start is accepted at once.
        let rotate = format!("/v1/admin/keys/{}/rotate", key.0);
        let renewed = people.operator.call("POST", &rotate, Some(&json!({ "overlap_s": 0 })));
        key.1 = renewed.unwrap()["secret"].as_str().unwrap().to_owned();
        let people = People::at(&venue.url(), &admin_key, &key);
        let (told, _answered) = channel();
        for wanted in wanted.iter_mut().filter(|wanted| wanted.told.is_some()) {
            let path = format!("/v1/withdrawals/1-{}", wanted.reference);
            let stands = people.owner.get(&path).expect("what was told is not forgotten");
            let stands = stands["withdrawal"]["state"].as_str().unwrap().to_owned();
            let before = wanted.told.as_deref().unwrap();
            assert!(before != wanted.end || before == stands, "{before} became {stands}");
        }
        for wanted in &mut wanted {
            people.carry_through(wanted, &told).expect("it can be carried through again");
            assert_eq!(wanted.told.as_deref(), Some(wanted.end), "{}", wanted.reference);
        }
        all.append(&mut wanted);
    }
    let people = People::at(&venue.url(), &admin_key, &key);
    let open = people.operator.get("/v1/admin/withdrawals").unwrap();
    assert_eq!(open["withdrawals"], json!([]));
    let settled = all.iter().filter(|wanted| wanted.end == "settled");
    let left = FUNDS - settled.map(|wanted| wanted.amount).sum::<u64>();
    // The last decision's effect may be released slightly after its answer.
    let deadline = Instant::now() + PATIENCE;
    loop {
        let balances = people.owner.get("/v1/balances").unwrap();
        let usd = &balances["balances"][0];
        if (&usd["available"], &usd["withdrawing"])
            == (&json!(format!("{left}.00")), &json!("0.00"))
        {
            break;
        }
        assert!(Instant::now() < deadline, "{left} are left, but {usd}");
    }
    venue.terminate();

    let data = dir.path().join("data");
    let effects = effects(&data);
    assert_eq!(effects.len(), all.len());
    for wanted in &all {
        let expected = if wanted.end == "settled" { [1, 1, 0] } else { [1, 0, 1] };
        assert_eq!(effects[&wanted.reference], expected, "{}", wanted.reference);
    }
    println!("{level}: {KILLS} kills, {} withdrawals, each once", all.len());
    let verified = command(&["verify", data.to_str().unwrap()]).output().unwrap();
    assert!(verified.status.success(), "{}{}", text(&verified.stdout), text(&verified.stderr));
}

#[test]
fn withdrawals_survive_kills_under_synced() {
    survive("synced");
}

#[test]
fn withdrawals_survive_kills_under_buffered() {
    survive("buffered");
}
