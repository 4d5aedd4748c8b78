//! A pool keeps the level that it was made with.

use crate::simulated::{Stage, settle, tenant};
use rialto_depot::{Depot, DepotError, DepotOptions, Level, NewFile};
use rialto_disk::Disk;
use std::path::Path;

const LEVELS: [Level; 3] = [Level::Memory, Level::Buffered, Level::Synced];

fn open_at(stage: &Stage, level: Level) -> Result<Depot, DepotError> {
    Depot::open_stepped(DepotOptions { level, ..stage.options() })
}

#[track_caller]
fn assert_refused(stage: &Stage, asked: Level, made: Level) {
    match open_at(stage, asked).err() {
        Some(DepotError::OtherLevel { level, asked: told }) => {
            assert_eq!((level, told), (made, asked));
        }
        other => panic!("{asked} of {made}: {other:?}"),
    }
}

#[test]
fn another_level_than_that_of_the_pool_is_refused_also_after_a_checkpoint() {
    for made in LEVELS {
        let stage = Stage::new(1, made);
        for _ in 0..2 {
            let depot = stage.open().unwrap();
            // In these pools a checkpoint is due in every round.
            settle(&depot).unwrap();
            depot.close().unwrap();
            drop(depot);
            for asked in LEVELS.into_iter().filter(|asked| *asked != made) {
                assert_refused(&stage, asked, made);
            }
        }
    }
}

#[test]
fn the_level_of_a_pool_without_a_record_of_it_is_that_of_its_queues() {
    for made in [Level::Buffered, Level::Synced] {
        let stage = Stage::new(1, made);
        let depot = stage.open().unwrap();
        depot.put_bytes(&tenant("acme"), NewFile::default(), b"x").unwrap();
        depot.close().unwrap();
        drop(depot);
        let history = Path::new("/pool/history");
        for name in stage.disk.list(history).unwrap() {
            stage.disk.remove(&history.join(name)).unwrap();
        }
        // A new history mounts a volume of its own.
        let open = |level| {
            let first_volume = None;
            Depot::open_stepped(DepotOptions { level, first_volume, ..stage.options() })
        };
        for asked in LEVELS.into_iter().filter(|asked| *asked != made) {
            let refused = open(asked).err();
            let is_refused =
                matches!(refused, Some(DepotError::OtherLevel { level, .. }) if level == made);
            assert!(is_refused, "{asked} of {made}: {refused:?}");
        }
        open(made).unwrap();
    }
}
