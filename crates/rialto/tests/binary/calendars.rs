//! A venue that runs by calendars: an instrument goes through a day by itself, also when the venue is
//! killed and down while phases change.

use crate::asking::{Client, Credentials, secret};
use crate::running::{PATIENCE, Running, command, configure, rialto, text};
use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig};
use rialto_model::InstrumentState::{self, Call, Closed, Halted, Open, PreOpen, Uncrossing};
use rialto_model::{Event, Seq};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const FILE: &str = "day.toml";

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// A time zone where no midnight is near, and the seconds that it is ahead of UTC.
fn zone() -> (&'static str, u64) {
    match now_s() / 3_600 % 24 {
        2..=21 => ("UTC", 0),
        _ => ("Etc/GMT-6", 6 * 3_600),
    }
}

/// The phases of a day, each with the seconds after `begin` at which it begins.
struct Day {
    begin: u64,
    /// How long the call lasts.
    call_s: u64,
}

impl Day {
    // Long enough for a start on a busy machine.
    const CALL: u64 = 8;
    const CLOSED: u64 = 30;

    /// A day that begins soon.
    fn soon() -> Day {
        Day { begin: now_s() + 8, call_s: 4 }
    }

    fn open(&self) -> u64 {
        Day::CALL + self.call_s
    }

    fn write(&self, dir: &Path) {
        let (zone, ahead) = zone();
        let local = |after: u64| {
            let second = (self.begin + after + ahead) % 86_400;
            format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
        };
        let file = format!(
            "zone = \"{zone}\"\nweekdays = [\"monday\", \"tuesday\", \"wednesday\", \"thursday\", \
             \"friday\", \"saturday\", \"sunday\"]\n[[session]]\nend = \"{}\"\nphases = [\n\
             {{ at = \"{}\", phase = \"pre_open\" }},\n\
             {{ at = \"{}\", phase = \"opening_call\" }},\n\
             {{ at = \"{}\", phase = \"continuous\" }},\n]\n",
            local(Day::CLOSED),
            local(0),
            local(Day::CALL),
            local(self.open()),
        );
        std::fs::write(dir.join(FILE), file).unwrap();
    }

    fn wait_until(&self, after: u64) {
        while now_s() < self.begin + after {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The calendar of a market that is closed at any time of the test.
fn write_closed(dir: &Path) {
    let zone = zone().0;
    let file = format!(
        "zone = \"{zone}\"\nweekdays = [\"monday\", \"tuesday\", \"wednesday\", \"thursday\", \
         \"friday\", \"saturday\", \"sunday\"]\n[[session]]\nend = \"23:30\"\n\
         phases = [{{ at = \"23:00\", phase = \"continuous\" }}]\n"
    );
    std::fs::write(dir.join(FILE), file).unwrap();
}

/// A venue with a market that follows a calendar, and two members.
struct Place {
    dir: tempfile::TempDir,
    admin: String,
    /// Accounts, each with its key.
    members: Vec<(u32, String)>,
}

impl Place {
    /// Made, and stopped again.
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let calendars = format!("[[calendars]]\nname = \"day\"\nfile = \"{FILE}\"\n");
        configure(dir.path(), &calendars);
        write_closed(dir.path());
        let mut venue = Running::serve(dir.path(), "synced");
        let mut place = Place { dir, admin: venue.admin_key(), members: Vec::new() };
        let post = |what: &str, body: Value| {
            place.operate(&venue, "POST", &format!("/v1/admin/{what}"), &body)
        };
        post("currencies", json!({ "code": "BTC", "scale": 8 }));
        post("currencies", json!({ "code": "USD", "scale": 8 }));
        let instrument = json!({
            "symbol": "BTC-USD", "base": "BTC", "quote": "USD", "price_scale": 2,
            "quantity_scale": 6, "tick": "1", "lot": "0.000001",
        });
        post("instruments", instrument);
        let member = |account: u32| {
            post("members", json!({ "member": account, "name": format!("client-{account}") }));
            post("accounts", json!({ "account": account, "member": account, "name": "main" }));
            for currency in ["BTC", "USD"] {
                let deposit = json!({
                    "account": account, "currency": currency, "amount": "1000000",
                    "reference": format!("begin-{account}-{currency}"),
                });
                post("deposits", deposit);
            }
            let key = post("keys", json!({ "member": account, "scopes": ["read", "trade"] }));
            (account, key["id"].as_str().unwrap().to_owned())
        };
        let members = [1, 2].map(member).to_vec();
        let assigned = place.cli(&venue, &["admin", "calendar", "assign", "BTC-USD", "day"]);
        assert!(assigned.starts_with("instrument BTC-USD, calendar day"), "{assigned}");
        venue.terminate();
        place.members = members;
        place
    }

    fn dir(&self) -> &Path {
        self.dir.path()
    }

    fn operate(&self, venue: &Running, method: &str, path: &str, body: &Value) -> Value {
        let client = Client::new(&venue.url(), Credentials::Admin(self.admin.clone()));
        client.call(method, path, Some(body)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The output of a command that asks the venue.
    fn cli(&self, venue: &Running, arguments: &[&str]) -> String {
        let output = command(arguments)
            .args(["--url", &venue.url()])
            .env("RIALTO_ADMIN_KEY", &self.admin)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Has one member buy from the other.
    fn enter(&self, venue: &Running) {
        for ((account, key), side) in self.members.iter().zip(["buy", "sell"]) {
            let rotate = format!("/v1/admin/keys/{key}/rotate");
            // A new secret is accepted at once after a start, the old one a second later.
            let key = self.operate(venue, "POST", &rotate, &json!({ "overlap_s": 0 }));
            let id = key["id"].as_str().unwrap().to_owned();
            let secret = secret(key["secret"].as_str().unwrap()).unwrap();
            let client = Client::new(&venue.url(), Credentials::Key { id, secret });
            let order = json!({
                "account": account, "instrument": "BTC-USD", "side": side, "price": "60000",
                "quantity": "0.5", "time_in_force": "gtc",
            });
            client.call("POST", "/v1/orders", Some(&order)).unwrap();
        }
    }

    /// The states of the instrument and the begun transitions, from the event log.
    fn history(&self) -> (Vec<InstrumentState>, Vec<(u64, InstrumentState)>) {
        let (data_dir, segment_bytes) = (self.dir().join("data"), 4 << 20);
        let verified = rialto(&["verify", data_dir.to_str().unwrap()]);
        assert!(verified.status.success(), "{}{}", text(&verified.stdout), text(&verified.stderr));
        let config = EngineConfig { data_dir, segment_bytes, ..EngineConfig::default() };
        let (engine, _) = Engine::start(config, Arc::new(RealDisk::new())).unwrap();
        let (mut states, mut begun) = (Vec::new(), Vec::new());
        let mut reader = engine.events(Seq(1));
        while reader.next_seq() <= engine.released() {
            let batch = reader.next_timeout(PATIENCE).unwrap().unwrap();
            for record in batch.iter() {
                for event in record.decode().unwrap().1 {
                    match event.unwrap() {
                        Event::InstrumentStateSet { state, .. } => states.push(state),
                        Event::TransitionBegun { at, state, .. } => {
                            begun.push((at.0 / 1_000_000_000, state));
                        }
                        _ => {}
                    }
                }
            }
        }
        engine.shutdown(PATIENCE);
        (states, begun)
    }
}

fn wait_for(venue: &Running, state: &str) {
    let (client, end) = (Client::new(&venue.url(), Credentials::None), Instant::now() + PATIENCE);
    loop {
        let auction = client.get("/v1/auction/BTC-USD").unwrap();
        if auction["state"] == state {
            return;
        }
        assert!(Instant::now() < end, "it does not become {state}: {auction}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The transitions of a day, after the one that was in force when the calendar was first adopted.
fn transitions(day: &Day) -> Vec<(u64, InstrumentState)> {
    let all = [(0, PreOpen), (Day::CALL, Call), (day.open(), Open), (Day::CLOSED, Closed)];
    all.map(|(after, state)| (day.begin + after, state)).to_vec()
}

#[test]
fn an_instrument_goes_through_its_day_by_itself() {
    let place = Place::new();
    let day = Day::soon();
    day.write(place.dir());
    let mut venue = Running::serve(place.dir(), "synced");
    let shown = place.cli(&venue, &["calendars", "day"]);
    for phase in ["BTC-USD", "pre_open", "call", "open", "closed"] {
        assert!(shown.contains(phase), "{phase}: {shown}");
    }
    wait_for(&venue, "pre_open");
    place.enter(&venue);
    for state in ["call", "open", "closed"] {
        wait_for(&venue, state);
    }
    let client = Client::new(&venue.url(), Credentials::None);
    let trades = client.get("/v1/trades/BTC-USD").unwrap();
    assert_eq!(trades["trades"].as_array().unwrap().len(), 1, "{trades}");
    let listed = place.cli(&venue, &["calendars"]);
    let line = listed.lines().nth(1).unwrap();
    assert!(line.starts_with("day") && line.contains("closed"), "{listed}");
    venue.terminate();
    let (states, begun) = place.history();
    assert_eq!(states, [PreOpen, Call, Uncrossing, Open, Closed]);
    assert_eq!(begun[1..], transitions(&day));
}

#[test]
fn a_halt_of_a_calendar_is_followed_by_the_call_that_it_interrupted() {
    let place = Place::new();
    // The halt begins and ends during the call, on a slow machine too.
    let day = Day { call_s: 20, ..Day::soon() };
    day.write(place.dir());
    let mut venue = Running::serve(place.dir(), "synced");
    wait_for(&venue, "pre_open");
    place.enter(&venue);
    wait_for(&venue, "call");
    let told = place.cli(&venue, &["admin", "halt", "--calendar", "day", "--for", "500ms"]);
    assert!(told.contains("calendar day"), "{told}");
    wait_for(&venue, "open");
    let client = Client::new(&venue.url(), Credentials::None);
    let trades = client.get("/v1/trades/BTC-USD").unwrap();
    assert_eq!(trades["trades"].as_array().unwrap().len(), 1, "{trades}");
    venue.terminate();
    let (states, begun) = place.history();
    assert_eq!(states, [PreOpen, Call, Halted, Call, Uncrossing, Open]);
    assert_eq!(begun[1..], transitions(&day)[..3]);
}

#[test]
fn a_venue_that_is_down_while_phases_change_makes_every_transition_once_and_in_order() {
    let place = Place::new();
    let day = Day::soon();
    day.write(place.dir());
    let mut venue = Running::serve(place.dir(), "synced");
    wait_for(&venue, "pre_open");
    place.enter(&venue);
    venue.kill();
    day.wait_until(day.open() + 1);
    let mut venue = Running::serve(place.dir(), "synced");
    wait_for(&venue, "open");
    venue.kill();
    let mut venue = Running::serve(place.dir(), "synced");
    wait_for(&venue, "closed");
    venue.terminate();
    let (states, begun) = place.history();
    assert_eq!(states, [PreOpen, Call, Uncrossing, Open, Closed]);
    assert_eq!(begun[1..], transitions(&day));
}

#[test]
fn a_calendar_whose_holidays_are_all_past_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), &format!("[[calendars]]\nname = \"day\"\nfile = \"{FILE}\"\n"));
    write_closed(dir.path());
    let file = dir.path().join(FILE);
    let past = std::fs::read_to_string(&file).unwrap() + "[[holiday]]\ndates = [2020-01-01]\n";
    std::fs::write(&file, past).unwrap();
    let config = dir.path().join("rialto.toml");
    let config = config.to_str().unwrap();
    for arguments in [["config", "--check", config], ["serve", "--config", config]] {
        let refused = rialto(&arguments);
        let error = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{error}");
        assert!(error.contains("day.toml:") && error.contains("2020-01-01"), "{error}");
    }
}
