//! A venue in its own process for an attack, and the checks afterwards.

use crate::asking::{Client, Credentials, secret};
use crate::running::{PATIENCE, Running, command, configure, text};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The instrument of every attack.
pub(crate) const SYMBOL: &str = "BTC-USD";
/// `/v1/live` must answer within this time under any load.
const LIVE_MAX: Duration = Duration::from_secs(2);

/// A member with one account and a key.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) account: u32,
    pub(crate) key: String,
    pub(crate) secret: String,
}

/// A venue that is attacked.
pub(crate) struct Besieged {
    pub(crate) running: Running,
    admin_key: String,
    members: std::cell::Cell<u32>,
    dir: TempDir,
    on: Machine,
}

/// The limits of the machine.
#[derive(Clone, Copy)]
enum Machine {
    Plain,
    /// With this soft limit of descriptors.
    Descriptors(u32),
    /// With a file system of this many MiB in memory for the venue alone.
    Disk(u32),
}

impl Besieged {
    /// Starts a venue with the default limits of requests; `settings` are lines of the section
    /// `[gateway]`, and further sections, of the configuration file.
    pub(crate) fn begin(settings: &str) -> Besieged {
        Besieged::start(settings, Machine::Plain)
    }

    /// Starts a venue with this soft limit of descriptors.
    pub(crate) fn with_descriptors(soft: u32, settings: &str) -> Besieged {
        Besieged::start(settings, Machine::Descriptors(soft))
    }

    /// Starts a venue on a disk of this many MiB; `None` if the system does not allow one.
    pub(crate) fn with_disk(mebibytes: u32, settings: &str) -> Option<Besieged> {
        let mut probe = std::process::Command::new("unshare");
        let allowed = probe.args(["-rm", "true"]).status().is_ok_and(|status| status.success());
        if !allowed {
            println!("skipped: file systems of one's own are not allowed here");
        }
        allowed.then(|| Besieged::start(settings, Machine::Disk(mebibytes)))
    }

    fn start(settings: &str, on: Machine) -> Besieged {
        let dir = tempfile::tempdir().unwrap();
        configure(dir.path(), "");
        // The shared configuration has no limits of requests; a siege tests the default ones.
        let path = dir.path().join("rialto.toml");
        let file = std::fs::read_to_string(&path).unwrap();
        let kept: Vec<&str> = file
            .lines()
            .filter(|line| !line.starts_with("key_") && !line.starts_with("address_"))
            .collect();
        std::fs::write(&path, format!("{}\n{settings}", kept.join("\n"))).unwrap();
        let running = serve(&dir, on);
        let admin_key = running.admin_key();
        let besieged = Besieged { running, admin_key, members: std::cell::Cell::new(0), dir, on };
        besieged.admin("currencies", &json!({ "code": "BTC", "scale": 8 }));
        besieged.admin("currencies", &json!({ "code": "USD", "scale": 8 }));
        besieged.instrument(SYMBOL);
        besieged
    }

    pub(crate) fn instrument(&self, symbol: &str) {
        self.admin(
            "instruments",
            &json!({
                "symbol": symbol, "base": "BTC", "quote": "USD", "price_scale": 2,
                "quantity_scale": 6, "tick": "1", "lot": "0.00001", "open_orders_max": 1_000_000,
            }),
        );
    }

    /// A funded member with a key of these scopes and grants.
    pub(crate) fn member(&self, scopes: &[&str], queues: &Value) -> Member {
        let number = self.members.get() + 1;
        self.members.set(number);
        self.admin("members", &json!({ "member": number, "name": format!("member-{number}") }));
        self.admin("accounts", &json!({ "account": number, "member": number, "name": "main" }));
        for currency in ["BTC", "USD"] {
            let reference = format!("begin-{number}-{currency}");
            self.deposit(number, currency, "1000000000", &reference);
        }
        let mut wanted = json!({ "member": number, "scopes": scopes });
        if !queues.is_null() {
            wanted["queues"] = queues.clone();
        }
        let key = self.admin("keys", &wanted);
        let text = |field: &str| key[field].as_str().unwrap().to_string();
        let member = Member { account: number, key: text("id"), secret: text("secret") };
        // A venue that has just started accepts no earlier signatures.
        let client = self.client(&member);
        wait_until("a signature is taken", || {
            client.send("GET", "/v1/balances", None).unwrap().status != 401
        });
        member
    }

    /// A member who trades.
    pub(crate) fn trader(&self) -> Member {
        self.member(&["read", "trade"], &Value::Null)
    }

    pub(crate) fn deposit(&self, account: u32, currency: &str, amount: &str, name: &str) -> Value {
        let body = json!({
            "account": account, "currency": currency, "amount": amount, "reference": name,
        });
        self.admin("deposits", &body)
    }

    /// A request of the operator, which must succeed.
    #[track_caller]
    pub(crate) fn admin(&self, what: &str, body: &Value) -> Value {
        let path = format!("/v1/admin/{what}");
        self.operator()
            .call("POST", &path, Some(body))
            .unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    pub(crate) fn operator(&self) -> Client {
        Client::new(&self.running.url(), Credentials::Admin(self.admin_key.clone()))
    }

    pub(crate) fn client(&self, member: &Member) -> Client {
        let secret = secret(&member.secret).unwrap();
        Client::new(&self.running.url(), Credentials::Key { id: member.key.clone(), secret })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.url().trim_start_matches("http://").parse().unwrap()
    }

    /// Enters orders in batches of 100; `order` makes each from its number.
    pub(crate) fn enter(&self, member: &Member, orders: usize, order: impl Fn(usize) -> Value) {
        let client = self.client(member);
        for first in (0..orders).step_by(100) {
            let rows: Vec<Value> = (first..orders.min(first + 100))
                .map(|number| json!({ "place": order(number) }))
                .collect();
            let body = json!({ "account": member.account, "rows": rows });
            let answer = client.call("POST", "/v1/orders/batch", Some(&body)).unwrap();
            let results = answer["results"].as_array().unwrap();
            let refused = results.iter().find(|result| result["status"] != 201);
            assert!(refused.is_none(), "{refused:?}");
        }
    }

    /// The resident memory of the process, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.running.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
    }

    /// Checks that the process runs and its probe answers on a new connection.
    #[track_caller]
    pub(crate) fn assert_live(&self) {
        assert_live_at(&self.running.url());
    }

    /// The address of probes and operators, if there is one.
    pub(crate) fn operations(&self) -> String {
        let line = self.running.line("operators on ");
        let address = line.split("operators on ").nth(1).expect("the line contains it");
        address.split(',').next().expect("there is a first part").trim().to_string()
    }

    /// Checks that the venue can create files: a snapshot, and segments of the journal.
    #[track_caller]
    pub(crate) fn assert_makes_files(&self, member: &Member) {
        let snapshot = self.operator().call("POST", "/v1/admin/snapshot", None);
        assert!(snapshot.is_ok(), "no snapshot: {snapshot:?}");
        // More than a segment of the journal, and several of the event log.
        self.enter(member, 40_000, |number| {
            json!({
                "instrument": SYMBOL, "side": "buy", "quantity": "0.00001", "price": "1",
                "time_in_force": "ioc", "client_order_id": format!("roll-{number}"),
            })
        });
        self.assert_live();
    }

    /// The venue stops in order, verifies, starts again, and is live.
    pub(crate) fn end(mut self) {
        self.running.terminate();
        if matches!(self.on, Machine::Disk(_)) {
            // It ended with the process.
            return;
        }
        let data = self.dir.path().join("data");
        let verified = command(&["verify", data.to_str().unwrap()]).output().unwrap();
        assert!(verified.status.success(), "{}", text(&verified.stderr));
        self.running = serve(&self.dir, self.on);
        self.assert_live();
        self.running.terminate();
    }
}

fn serve(dir: &TempDir, on: Machine) -> Running {
    let data = dir.path().join("data");
    let (words, script) = match on {
        Machine::Plain => return Running::serve(dir.path(), "synced"),
        Machine::Descriptors(soft) => (&["sh", "-c"][..], format!("ulimit -Sn {soft}")),
        Machine::Disk(mebibytes) => {
            std::fs::create_dir_all(&data).unwrap();
            let mount = format!("mount -t tmpfs -o size={mebibytes}m tmpfs {}", data.display());
            (&["unshare", "-rm", "sh", "-c"][..], mount)
        }
    };
    let script = format!("{script} && exec \"$0\" \"$@\"");
    let config = dir.path().join("rialto.toml");
    let arguments = ["serve", "--config", config.to_str().unwrap(), "--level", "synced"];
    let mut running = Running::start_through(&[words, &[&script]].concat(), &arguments);
    running.wait_for("listening on");
    running
}

/// Checks that `/v1/live` answers there in time.
#[track_caller]
pub(crate) fn assert_live_at(url: &str) {
    let began = Instant::now();
    let answer = Client::new(url, Credentials::None).send("GET", "/v1/live", None);
    let took = began.elapsed();
    let answer = answer.unwrap_or_else(|error| panic!("no answer to /v1/live: {error}"));
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(took < LIVE_MAX, "/v1/live took {took:?}");
}

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what} has not happened");
        std::thread::yield_now();
    }
}
