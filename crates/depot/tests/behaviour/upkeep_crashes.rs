//! A crash after every operation on the disk of what a pool does by itself: spills, moves off a volume
//! that drains, the shelving of dead letters, completions that are kept, and the search for bytes
//! without a record.

use crate::support::{acme, named};
use rialto_clock::{ManualClock, Timestamp};
use rialto_depot::{
    ClaimOptions, Depot, DepotError, DepotOptions, Directory, DirectoryKind, FailedDisposition,
    FileId, FileState, Quota, VolumeSpec,
};
use rialto_disk::SimDisk;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

struct Stage {
    disk: SimDisk,
    clock: ManualClock,
    salts: Arc<AtomicU64>,
}

/// The files of the scenario.
struct Files {
    inline: FileId,
    waiting: FileId,
    kept: FileId,
    dead: FileId,
    completed: FileId,
}

static LARGE: [u8; 20_000] = [7; 20_000];

impl Stage {
    fn new(seed: u64) -> Self {
        let clock = ManualClock::new(Timestamp(1_800_000_000_000_000_000));
        Self { disk: SimDisk::new(seed), clock, salts: Arc::new(AtomicU64::new(seed << 20)) }
    }

    fn options(&self) -> DepotOptions {
        let salts = self.salts.clone();
        let mut options = DepotOptions::at("/pool");
        options.disk = Arc::new(self.disk.clone());
        options.clock = Arc::new(self.clock.clone());
        options.salt = Arc::new(move || {
            let number = u128::from(salts.fetch_add(1, Ordering::Relaxed) + 1);
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_le_bytes()
        });
        options.volumes.free_bytes_min = 0;
        options.volumes.write_behind = false;
        options.upkeep.failed_retention = Duration::ZERO;
        options.upkeep.failed_disposition = FailedDisposition::Shelve;
        options.upkeep.completed_retention = Duration::from_secs(30 * 24 * 3_600);
        options
    }

    fn open(&self) -> Result<Depot, DepotError> {
        Depot::open_stepped(self.options())
    }

    /// Lets so much time pass that everything that is due happens.
    fn pass(&self, depot: &Depot, steps: usize) -> Result<(), DepotError> {
        for _ in 0..steps {
            self.clock.advance(Duration::from_secs(21));
            depot.step()?;
        }
        Ok(())
    }

    /// Stores a file of each kind, and has everything due: the first volume drains.
    fn prepare(&self, depot: &Depot) -> Result<Files, DepotError> {
        depot.create_tenant(&acme(), Quota::default())?;
        let out = Directory::new("out").unwrap();
        depot.set_directory(&acme(), &out, Some(DirectoryKind::Shelf), Quota::default())?;
        let dead = depot.put_bytes(&acme(), named("in", "dead"), b"dead")?.file.id;
        let claims = depot.claim(&acme(), &ClaimOptions::default())?;
        depot.refuse(claims[0].token(), "no")?;
        let completed = depot.put_bytes(&acme(), named("in", "completed"), b"completed")?.file.id;
        let inline = depot.put_bytes(&acme(), named("in", "inline"), b"inline")?.file.id;
        let waiting = depot.put_bytes(&acme(), named("in", "waiting"), &LARGE)?.file.id;
        let kept = depot.put_bytes(&acme(), named("out", "kept"), &LARGE)?.file.id;
        let (name, place) = ("other".to_owned(), Path::new("/other").into());
        depot.mount(VolumeSpec { name, place, weight: 1, identity: None })?;
        depot.drain_volume("main", true)?;
        Ok(Files { inline, waiting, kept, dead, completed })
    }

    /// What may crash at any operation.
    fn act(&self, depot: &Depot) -> Result<(), DepotError> {
        let claims = depot.claim(&acme(), &ClaimOptions::default())?;
        for claim in claims {
            depot.complete(claim.token())?;
        }
        self.clock.advance(Duration::from_secs(3_600));
        self.pass(depot, 12)
    }

    /// The files under a directory.
    fn files_below(&self, dir: &str) -> usize {
        self.disk.paths().iter().filter(|path| path.starts_with(dir)).count()
    }
}

/// Everything is there once, whole, and in one place.
fn check(stage: &Stage, depot: &Depot, files: &Files, context: &str) {
    let read = |id| depot.open_file(&acme(), id).unwrap().read_all().unwrap();
    // What is due happens now at the latest, and a search removes what the crash left.
    stage.clock.advance(Duration::from_secs(3_600));
    for _ in 0..100 {
        stage.pass(depot, 1).unwrap();
    }
    assert!(depot.orphans().searches > 0, "{context}");
    let state = |id| depot.file(&acme(), id).unwrap().state;
    // It was completed and stays readable, or it was not and waits.
    let completed = state(files.completed);
    let waits = matches!(completed, FileState::Waiting);
    assert!(waits || completed == FileState::Completed, "{context}: {completed:?}");
    let shelved = depot.file_at(&acme(), "dead-letter/in/dead").unwrap().record;
    assert_eq!(shelved.id, files.dead, "{context}");
    assert!(depot.dead_files(&acme(), 10).unwrap().is_empty(), "{context}");
    assert_eq!(read(files.dead), b"dead", "{context}");
    assert_eq!(read(files.kept), LARGE, "{context}");
    assert_eq!(read(files.completed), b"completed", "{context}");
    assert_eq!(read(files.inline), b"inline", "{context}");
    assert_eq!(read(files.waiting), LARGE, "{context}");
    let info = depot.tenant(&acme()).unwrap();
    assert_eq!((info.files, info.bytes), (5, 40_000 + 4 + 9 + 6), "{context}");
    // Five files, or four if the completed one still waits and was handed out: it stays inline.
    let inline = [files.completed, files.inline]
        .iter()
        .filter(|id| depot.file(&acme(), **id).unwrap().record.place.stored().is_none())
        .count();
    assert_eq!(stage.files_below("/other/files"), 5 - inline, "{context}");
    assert_eq!(stage.files_below("/pool/volume/files"), 0, "{context}");
    depot.unmount("main").unwrap_or_else(|error| panic!("{context}: {error}"));
    // Each is handed out once.
    let claims = depot.claim(&acme(), &ClaimOptions::up_to(10)).unwrap();
    let mut ids: Vec<FileId> = claims.iter().map(|claim| claim.file().id).collect();
    ids.sort_unstable();
    let mut expected = vec![files.inline, files.waiting];
    expected.extend(waits.then_some(files.completed));
    expected.sort_unstable();
    assert_eq!(ids, expected, "{context}");
    for claim in &claims {
        assert_eq!(claim.problem(), None, "{context}");
        depot.complete(claim.token()).unwrap();
    }
}

#[test]
fn a_crash_after_every_operation_loses_nothing_and_hands_out_nothing_twice() {
    let mut crashes = 0;
    for seed in 0_u64.. {
        // A seed for each operation: every crash tears what was not durable in another way.
        let operations = seed;
        let stage = Stage::new(seed);
        let context = format!("seed {seed}, crash after {operations} operations");
        let depot = stage.open().unwrap();
        let files = stage.prepare(&depot).unwrap();
        stage.disk.crash_after(operations);
        let acted = stage.act(&depot);
        let is_down = stage.disk.is_down();
        assert!(acted.is_ok() || is_down, "{context}: {acted:?}");
        drop(depot);
        stage.disk.restart();
        let depot = stage.open().unwrap_or_else(|error| panic!("{context}: {error}"));
        check(&stage, &depot, &files, &context);
        if !is_down {
            break;
        }
        crashes += 1;
        assert!(crashes < 2_000, "the scenario has no end");
    }
    assert!(crashes > 40, "{crashes}");
}
