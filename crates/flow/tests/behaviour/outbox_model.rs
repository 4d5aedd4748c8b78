//! The outbox and the inbox of the stores against a naive model of them.

#[path = "../outbox_model/model.rs"]
mod model;

use model::{Both, acts, check};
use proptest::prelude::*;
use rialto_disk::SimDisk;
use rialto_flow::store::{Level, LogOptions, LogStore, MemoryStore};
use std::path::Path;
use std::sync::Arc;

fn open(disk: &SimDisk, life: u8) -> LogStore {
    let options = LogOptions {
        segment_bytes: 2 << 20,
        checkpoint_bytes: 4096,
        salt: [life; 16],
        ..LogOptions::new(Level::Synced)
    };
    LogStore::open_on(Arc::new(disk.clone()), Path::new("/messages"), options).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn messages_in_memory_do_what_the_model_does(acts in acts()) {
        check(&acts, Box::new(MemoryStore::default()), 0, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn messages_on_a_log_do_what_the_model_does(acts in acts(), seed in any::<u64>()) {
        let disk = SimDisk::new(seed);
        let reopen = |life| -> Box<dyn Both> {
            disk.crash();
            Box::new(open(&disk, life))
        };
        check(&acts, reopen(1), 0, Some(&reopen));
    }
}
