//! Health of the components of a running venue, and failures of components.

use crate::asking::{Client, Credentials};
use rialto::config::Config;
use rialto::venue::Venue;
use rialto_desk::{Listener, Publication, Subscription};
use rialto_disk::{RealDisk, SimDisk};
use rialto_engine::SubmitError;
use rialto_model::{AccountId, Command, MemberId, Seq};
use serde_json::Value;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// A timeout that fails the test on any machine.
const LONG: Duration = Duration::from_secs(60);
const LAG_MAX: u64 = 10;

fn config(dir: &tempfile::TempDir) -> Config {
    let mut config = Config::default();
    config.engine.data_dir = dir.path().join("venue");
    config.engine.segment_bytes = 4 << 20;
    // A busy machine may delay the disk, or the thread that waits for it, for a second.
    config.engine.io_stalled_after = Duration::from_secs(30);
    config.gateway.listen = "127.0.0.1:0".parse().unwrap();
    config.gateway.address_rate = 1_000_000;
    config.gateway.address_burst = 1_000_000;
    config.feed_lag_max = LAG_MAX;
    config
}

/// Repeats a request until its answer is as expected; panics with the last answer after a timeout.
fn until(venue: &Venue, path: &str, is_so: impl Fn(u16, &Value) -> bool) -> Value {
    let client = Client::new(&format!("http://{}", venue.local_addr()), Credentials::None);
    let end = Instant::now() + LONG;
    loop {
        let answer = client.send("GET", path, None).unwrap();
        if is_so(answer.status, &answer.body) {
            return answer.body;
        }
        assert!(Instant::now() < end, "{path} still answers {}: {}", answer.status, answer.body);
        std::thread::yield_now();
    }
}

fn component<'a>(health: &'a Value, name: &str) -> &'a Value {
    let components = health["components"].as_array().unwrap();
    components.iter().find(|it| it["name"] == name).unwrap()
}

fn submit(venue: &Venue, commands: impl IntoIterator<Item = Command>) -> Seq {
    let mut producer = venue.engine().producer();
    let mut last = Seq::ZERO;
    for command in commands {
        producer.submit(0, &command, None).unwrap();
        last = producer.reply_timeout(LONG).unwrap().answer.unwrap().seq;
    }
    last
}

#[test]
fn every_component_is_shown_with_its_state_and_since_when() {
    let dir = tempfile::tempdir().unwrap();
    let (venue, _) = Venue::open(&config(&dir), Arc::new(RealDisk::new())).unwrap();
    let health = until(&venue, "/v1/health", |_, health| health["ready"] == true);
    for name in ["engine", "journal", "feed", "withdrawals", "recorder", "storage", "gateway"] {
        let component = component(&health, name);
        assert_eq!(component["state"], "up", "{health}");
        let since: u64 = component["since"].as_str().unwrap().parse().unwrap();
        assert!(
            rialto_gateway::now_us().abs_diff(since / 1_000) < LONG.as_micros() as u64,
            "{health}"
        );
    }
    until(&venue, "/v1/live", |status, body| status == 200 && body["alive"] == true);
    let closing = venue.close(LONG).unwrap();
    let stopped: Vec<_> = closing.report.stopped.iter().map(|part| &*part.name).collect();
    let inwards = ["gateway", "storage", "withdrawals", "recorder", "feed", "journal", "engine"];
    assert_eq!(stopped, inwards);
}

#[test]
fn an_engine_that_cannot_write_is_given_up_and_the_process_is_not_alive() {
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(1);
    let (venue, _) = Venue::open(&config(&dir), Arc::new(disk.clone())).unwrap();
    until(&venue, "/v1/live", |status, _| status == 200);
    // The failing write may be that of a prepared file, so that it is repeated.
    until(&venue, "/v1/live", |status, body| {
        disk.fail_write(0);
        let _ = venue.engine().producer().submit(0, &Command::Tick, None);
        status == 503 && body["alive"] == false
    });
    until(&venue, "/v1/ready", |status, body| status == 503 && body["ready"] == false);
    let both = |health: &Value| {
        ["engine", "journal"].iter().all(|name| component(health, name)["state"] == "given_up")
    };
    let health = until(&venue, "/v1/health", |status, health| status == 200 && both(health));
    let reason = component(&health, "engine")["reason"].as_str().unwrap();
    assert!(reason.contains("the journal could not be written"), "{reason}");
    let told = venue.check().unwrap_err();
    assert_eq!(told.exit_code(), 4);
    assert!(told.to_string().contains("engine failed and was given up"), "{told}");
    assert_eq!(venue.close(LONG).unwrap_err().exit_code(), 4);
}

#[test]
fn a_disk_that_hangs_stalls_the_venue_and_is_given_up_in_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(2);
    let mut config = config(&dir);
    config.engine.io_stalled_after = Duration::from_millis(20);
    let (venue, _) = Venue::open(&config, Arc::new(disk.clone())).unwrap();
    let journal = config.engine.data_dir.join("journal");
    let hang = |venue: &Venue| {
        let (go_on, gate) = mpsc::channel::<()>();
        disk.hang(&journal, 0, move || _ = gate.recv());
        venue.engine().producer().submit(0, &Command::Tick, None).unwrap();
        go_on
    };
    let go_on = hang(&venue);
    let health = until(&venue, "/v1/health", |status, health| {
        status == 200 && component(health, "journal")["state"] == "not_ready"
    });
    assert_eq!(health["engine"], "stalled");
    let reason = component(&health, "journal")["reason"].as_str().unwrap();
    assert!(reason.contains(journal.to_str().unwrap()), "{reason}");
    until(&venue, "/v1/ready", |status, body| status == 503 && body["ready"] == false);
    let refused = venue.engine().producer().submit(0, &Command::Tick, None);
    assert_eq!(refused, Err(SubmitError::Busy));
    drop(go_on);
    until(&venue, "/v1/ready", |status, body| status == 200 && body["engine"] == "running");
    venue.close(LONG).unwrap();

    config.engine.io_failed_after = Duration::from_millis(50);
    let (venue, _) = Venue::open(&config, Arc::new(disk.clone())).unwrap();
    let go_on = hang(&venue);
    until(&venue, "/v1/live", |status, body| status == 503 && body["alive"] == false);
    let told = venue.check().unwrap_err();
    assert_eq!(told.exit_code(), 4);
    assert!(told.to_string().contains("did not return from the disk"), "{told}");
    // The process ends although one of its threads still waits for the disk.
    assert_eq!(venue.close(Duration::from_millis(200)).unwrap_err().exit_code(), 4);
    drop(go_on);
}

/// Panics in the folding thread at the first publication, as a defect would.
struct Breaks;

impl Listener for Breaks {
    fn joined(&self, _: Subscription, _: Seq) {}

    fn publish(&self, _: &Publication<'_>) {
        panic!("a test breaks the feed");
    }

    fn closed(&self) {}
}

#[test]
fn a_failed_feed_is_restarted_and_the_venue_continues() {
    let dir = tempfile::tempdir().unwrap();
    let (venue, _) = Venue::open(&config(&dir), Arc::new(RealDisk::new())).unwrap();
    let name = "first".parse().unwrap();
    let member = MemberId(1);
    submit(&venue, [Command::CreateMember { member, name }]);
    let own = Subscription::Own(rialto_desk::PrivateChannel::Balances, AccountId(1));
    venue.live().join(own, Arc::new(Breaks));
    let account = AccountId(1);
    let code = "USD".parse().unwrap();
    let scale = rialto_model::Scale::new(2).unwrap();
    let transfer = rialto_model::Transfer {
        account,
        currency: rialto_model::CurrencyId(1),
        amount: rialto_model::Amount(100),
        reference: "wire".parse().unwrap(),
    };
    let last = submit(
        &venue,
        [
            Command::CreateAccount { account, member, name },
            Command::CreateCurrency { code, scale },
            Command::deposit(transfer),
        ],
    );

    let again = |health: &Value| component(health, "feed")["restarts"] == 1;
    let health = until(&venue, "/v1/health", |_, health| again(health) && health["ready"] == true);
    assert_eq!(component(&health, "feed")["state"], "up");
    venue.wait_visible(last, LONG).unwrap();
    assert!(venue.live().read().balance(account, rialto_model::CurrencyId(1)).is_some());
    venue.check().unwrap();
    venue.close(LONG).unwrap();
}

#[test]
fn a_venue_with_a_lagging_feed_is_not_ready_until_it_has_caught_up() {
    let dir = tempfile::tempdir().unwrap();
    let (venue, _) = Venue::open(&config(&dir), Arc::new(RealDisk::new())).unwrap();
    until(&venue, "/v1/ready", |status, _| status == 200);
    // A reader blocks the feed.
    let reading = venue.live().read();
    submit(&venue, (0..2 * LAG_MAX).map(|_| Command::Tick));
    let behind = until(&venue, "/v1/ready", |status, _| status == 503);
    assert!(behind["reason"].as_str().unwrap().contains("behind the engine"), "{behind}");
    drop(reading);
    until(&venue, "/v1/ready", |status, body| status == 200 && body["ready"] == true);
    venue.close(LONG).unwrap();
}
