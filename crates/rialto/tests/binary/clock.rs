//! A start far from the last time in the journal needs `--accept-clock`.

use crate::running::{Running, rialto, text};
use rialto_disk::RealDisk;
use rialto_engine::{Clock, Engine, EngineConfig, ManualClock, Sources, SystemClock};
use rialto_model::{Command, Timestamp};
use std::sync::Arc;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const DAY: u64 = 86_400 * Timestamp::SECOND;

#[test]
fn a_venue_starts_after_a_month_if_the_clock_is_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let config = EngineConfig {
        data_dir: dir.path().join("data"),
        segment_bytes: 4 << 20,
        ..EngineConfig::default()
    };
    let then = ManualClock::new(Timestamp(SystemClock.now().0 - 30 * DAY));
    let sources = Sources { clock: Arc::new(then), ..Sources::system() };
    let (engine, _) = Engine::start_with(config, Arc::new(RealDisk::new()), sources).unwrap();
    let mut producer = engine.producer();
    producer.submit(1, &Command::Tick, None).unwrap();
    assert!(producer.reply_timeout(LONG).unwrap().outcome().is_ok());
    assert!(engine.shutdown(LONG).finished);

    crate::running::configure(dir.path(), "");
    let (file, data) = (dir.path().join("rialto.toml"), dir.path().join("data"));
    let file = file.to_str().unwrap();
    // The engine alone creates no keys.
    assert!(rialto(&["admin-key", "--new", data.to_str().unwrap()]).status.success());
    let refused = rialto(&["serve", "--config", file]);
    let told = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{told}");
    assert!(told.contains("30 days after") && told.contains("--accept-clock"), "{told}");

    let mut venue = Running::start(&["serve", "--config", file, "--accept-clock"]);
    venue.wait_for("listening on");
    venue.terminate();
}
