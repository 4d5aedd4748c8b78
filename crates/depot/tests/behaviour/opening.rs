//! Opening and closing a pool.

use crate::simulated::{Stage, tenant};
use rialto_depot::{Depot, DepotError, DepotOptions, Level, NewFile};
use std::time::Duration;

type Change = fn(&mut DepotOptions);

#[test]
fn settings_that_would_fail_later_are_refused_by_name_when_the_pool_is_opened() {
    let stage = Stage::new(1, Level::Synced);
    let cases: [(&str, Change); 11] = [
        ("claim_duration", |it| it.claim_duration = Duration::from_millis(50)),
        ("claim_duration", |it| it.claim_duration = Duration::from_secs(86_401)),
        ("priorities", |it| it.priorities = 17),
        ("inline_bytes_max", |it| it.inline_bytes_max = (512 << 10) + 1),
        ("file_bytes_max", |it| it.file_bytes_max = 0),
        ("tenants_max", |it| it.tenants_max = 0),
        ("working_tenants_max", |it| it.working_tenants_max = 0),
        ("claimed_max", |it| it.claimed_max = 0),
        ("segment_bytes", |it| it.segment_bytes = 1 << 20),
        ("segment_bytes", |it| it.segment_bytes = (2 << 20) + 1),
        ("control_segment_bytes", |it| it.control_segment_bytes = 0),
    ];
    for (name, change) in cases {
        let mut options = stage.options();
        change(&mut options);
        match Depot::open_stepped(options).err() {
            Some(DepotError::Invalid { field, .. }) => assert_eq!(field, name),
            other => panic!("{name}: {other:?}"),
        }
    }
    stage.open().unwrap();
}

#[test]
fn a_pool_whose_close_failed_does_not_report_success_later() {
    let stage = Stage::new(1, Level::Buffered);
    let depot = stage.open().unwrap();
    depot.put_bytes(&tenant("acme"), NewFile::default(), b"x").unwrap();
    stage.disk.crash_after(0);
    assert!(depot.close().is_err());
    assert!(matches!(depot.close(), Err(DepotError::CloseFailed)));
}
