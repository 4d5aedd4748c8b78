//! The state of a venue when its gateway starts.

use rialto::config::Config;
use rialto::venue::Venue;
use rialto_disk::{Disk, RealDisk};
use rialto_model::Command;
use std::sync::Arc;
use std::time::Duration;

/// More than a feed folds during the start of a gateway.
const COMMANDS: u64 = 200_000;
/// A timeout that fails the test on any machine.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn queries_know_all_that_was_acknowledged_as_soon_as_they_are_answered() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.engine.data_dir = dir.path().join("venue");
    config.engine.segment_bytes = 4 << 20;
    config.gateway.listen = "127.0.0.1:0".parse().unwrap();
    let open = || {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
        Venue::open(&config, disk).unwrap().0
    };

    let venue = open();
    let mut producer = venue.engine().producer();
    for sent in 0..COMMANDS {
        while producer.submit(sent, &Command::Tick, None).is_err() {
            producer.reply_timeout(LONG).expect("a reply within the time");
        }
    }
    drop(producer);
    venue.close(LONG).unwrap();

    let venue = open();
    let (known, released) = (venue.live().seq(), venue.engine().released());
    assert!(released.0 >= COMMANDS, "{released}");
    assert_eq!(known, released);
    venue.close(LONG).unwrap();
}

#[test]
fn an_admin_key_is_shown_even_if_the_door_does_not_open() {
    let dir = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let data = dir.path().join("venue");
    let data = data.to_str().unwrap();
    let output = crate::running::rialto(&["serve", "--data", data, "--listen", &address]);
    let told = crate::running::text(&output.stderr);
    assert!(!output.status.success());
    assert!(told.contains(&address) && told.contains("admin key: ra_"), "{told}");
}
