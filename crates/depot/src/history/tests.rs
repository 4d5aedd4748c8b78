//! The index is a fold of the history, whatever became of it.

use super::index::{Changes, IndexError, Key, Row, Rows};
use super::record::{
    DirectorySettings, Ended, Ending, Record, Retained, Submitted, TenantNumber, TenantSettings,
};
use super::state::Held;
use super::{History, State};
use crate::FileId;
use crate::name::{Directory, FileName, TenantName};
use crate::options::DepotOptions;
use crate::record::{FileRecord, Place};
use crate::volume::{StoredBytes, VolumeNumber};
use rialto_clock::Timestamp;
use rialto_disk::SimDisk;
use rialto_log::{Cipher, KeyRing, Level};
use rialto_statelog::StateLogError;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

const TENANTS: [TenantNumber; 2] = [TenantNumber(0), TenantNumber(1)];

fn file(id: u128, directory: &str, name: &str) -> FileRecord {
    FileRecord {
        id: FileId(id),
        directory: Directory::new(directory).unwrap(),
        name: FileName::new(name).unwrap(),
        bytes: id as u64,
        content_type: String::new(),
        metadata: vec![("note".to_owned(), "x".repeat(100))],
        created_at: Timestamp(1),
        expires_at: id.is_multiple_of(3).then_some(Timestamp(id as u64)),
        crc32c: id as u32,
        sha256: Some([id as u8; 32]),
        submit_key: id.is_multiple_of(5).then(|| format!("key-{id}")),
        place: Place::Volume(StoredBytes {
            volume: VolumeNumber((id % 3) as u16),
            bytes: id as u64,
            stored_bytes: id as u64 + 200,
            footer_crc: 1,
            sha256: None,
        }),
    }
}

fn options(dir: &Path) -> DepotOptions {
    // No test loses power.
    DepotOptions::at(dir).level(Level::Buffered)
}

fn record(history: &History, records: Vec<Record>) {
    history.record(|_| Ok::<_, StateLogError>(((), records))).unwrap();
}

fn make_tenants(history: &History) {
    for (number, name) in TENANTS.into_iter().zip(["acme", "umbra"]) {
        let (name, created_at) = (TenantName::new(name).unwrap(), Timestamp(1));
        let settings = TenantSettings::default();
        record(history, vec![Record::Tenant { number, name, created_at, settings }]);
    }
    let settings = DirectorySettings {
        expires_after: Some(std::time::Duration::from_secs(9)),
        ..Default::default()
    };
    let directory = Directory::new("out").unwrap();
    record(history, vec![Record::Directory { tenant: TENANTS[0], directory, settings }]);
}

/// Keeps, replaces, completes and removes files, from this id on.
fn change(history: &History, from: u128) {
    for id in from..from + 100 {
        let tenant = TENANTS[(id % 2) as usize];
        let directory = ["", "out", "out/deep", "outer"][(id % 4) as usize];
        let file = file(id, directory, &format!("{}", id % 60));
        record(history, vec![Record::Kept { tenant, file }]);
        if id.is_multiple_of(7) {
            record(history, vec![Record::Removed { tenant, id: FileId(id) }]);
        }
        if id.is_multiple_of(10) {
            let file = self::file(1_000_000 + id, "in", "done");
            let retained = Some(Retained { file, until: Timestamp(id as u64) });
            record(
                history,
                vec![Record::Ended(Ended {
                    tenant,
                    id: FileId(1_000_000 + id),
                    at: Timestamp(id as u64),
                    ending: Ending::Completed,
                    volume: None,
                    submitted: None,
                    kept: Vec::new(),
                    published: Vec::new(),
                    retained,
                })],
            );
        }
    }
}

/// Everything that the pool asks the state for.
#[derive(Debug, PartialEq)]
struct Answers {
    kept: Vec<(TenantNumber, FileRecord)>,
    completed: Vec<(TenantNumber, Retained)>,
    by_id: usize,
    held: Vec<(Held, Held, Held, Held)>,
    submitted: Vec<Option<(FileId, u64)>>,
    expired: Vec<(TenantNumber, FileId)>,
    ended: Vec<(TenantNumber, FileId)>,
    weight: usize,
    on_volumes: Vec<u64>,
    orphans: usize,
}

fn answers_of(state: &State) -> Answers {
    let (mut kept, mut completed, mut by_id) = (Vec::new(), Vec::new(), 0);
    for tenant in TENANTS {
        state.each_kept(tenant, "", None, |file| {
            kept.push((tenant, file));
            true
        });
        let all = state.completed_after(tenant, None, usize::MAX);
        completed.extend(all.into_iter().map(|it| (tenant, (*it).clone())));
    }
    for (tenant, file) in &kept {
        assert_eq!(state.kept(*tenant, &file.path()).as_deref(), Some(file));
        by_id += usize::from(state.kept_by_id(*tenant, file.id).as_deref() == Some(file));
    }
    let held = |tenant: &TenantNumber| {
        let known = &state.tenants[tenant];
        let below = |path: &str| state.held_in(*tenant, &Directory::new(path).unwrap());
        (known.kept, known.completed, state.held_in(*tenant, &Directory::root()), below("out"))
    };
    let is_known =
        |id: &u128| (0..3).any(|nth| state.is_recorded_on(FileId(*id), VolumeNumber(nth)));
    let orphans = (0..400_u128).filter(|id| !is_known(id));
    let keys = (0..60).map(|nth| format!("key-{}", nth * 5));
    Answers {
        by_id,
        held: TENANTS.iter().map(held).collect(),
        submitted: keys.flat_map(|key| TENANTS.map(|it| state.submitted(it, &key))).collect(),
        expired: state.expired_kept(Timestamp(150), 1_000),
        ended: state.expired_completed(Timestamp(150), 1_000),
        weight: state.weight,
        on_volumes: (0..3).map(|nth| state.files_on(VolumeNumber(nth))).collect(),
        orphans: orphans.count(),
        kept,
        completed,
    }
}

fn answers(history: &History) -> Answers {
    history.read(answers_of).unwrap()
}

/// Whether the opening read the records from the first one on.
fn has_read_all(history: &History) -> bool {
    history.read(|state| state.unsaved.bytes.load(Relaxed)).unwrap() > 0
}

/// A history with some files, closed.
fn made(dir: &Path) -> Answers {
    let history = History::open(&options(dir)).unwrap();
    make_tenants(&history);
    change(&history, 1);
    history.close().unwrap();
    let answers = answers(&history);
    assert!(answers.kept.len() > 50 && answers.completed.len() == 10);
    assert_eq!(answers.by_id, answers.kept.len());
    let held = answers.held.iter().map(|(kept, completed, root, _)| {
        assert_eq!(
            (kept.files + completed.files, kept.bytes + completed.bytes),
            (root.files, root.bytes)
        );
        kept.files as usize
    });
    assert_eq!(held.sum::<usize>(), answers.kept.len());
    let on_volumes: u64 = answers.on_volumes.iter().sum();
    assert_eq!(on_volumes as usize, answers.kept.len() + answers.completed.len());
    assert_eq!(answers.orphans, 400 - answers.kept.len(), "the completed ones have other ids");
    answers
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in files_below(from) {
        let to = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&file, to).unwrap();
    }
}

#[test]
fn the_index_on_the_disk_answers_as_the_one_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let stored = made(dir.path());
    let disk = Arc::new(SimDisk::new(1));
    let history = History::open(&DepotOptions { disk, ..options(Path::new("/pool")) }).unwrap();
    make_tenants(&history);
    change(&history, 1);
    assert_eq!(answers(&history), stored);
}

#[test]
fn an_opening_reads_only_what_was_recorded_since_the_state_was_saved() {
    let dir = tempfile::tempdir().unwrap();
    let before = made(dir.path());
    let history = History::open(&options(dir.path())).unwrap();
    assert_eq!(history.read(|state| state.unsaved.bytes.load(Relaxed)).unwrap(), 0);
    assert_eq!(answers(&history), before);
    // It ends without a save, as a killed process does.
    change(&history, 60);
    let after = answers(&history);
    assert_ne!(after, before);
    drop(history);
    let history = History::open(&options(dir.path())).unwrap();
    let unsaved = history.read(|state| state.unsaved.bytes.load(Relaxed)).unwrap();
    assert!(unsaved > 0);
    assert_eq!(answers(&history), after);
    let spec = |state: &State| state.tenants[&TENANTS[0]].directories.clone();
    assert_eq!(history.read(|state| spec(state).len()).unwrap(), 1);
}

#[test]
fn a_missing_index_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let before = made(dir.path());
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    let history = History::open(&options(dir.path())).unwrap();
    assert!(has_read_all(&history));
    assert_eq!(answers(&history), before);
}

#[test]
fn an_index_of_another_version_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let before = made(dir.path());
    fs::write(dir.path().join("index/VERSION"), "rialto depot index 2\n").unwrap();
    let history = History::open(&options(dir.path())).unwrap();
    assert!(has_read_all(&history));
    assert_eq!(answers(&history), before);
}

#[test]
fn an_index_ahead_of_the_history_is_made_again() {
    let (dir, older) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let before = made(dir.path());
    copy(&dir.path().join("history"), older.path());
    let history = History::open(&options(dir.path())).unwrap();
    change(&history, 300);
    history.close().unwrap();
    assert_ne!(answers(&history), before);
    drop(history);
    // The history is put back from a copy.
    fs::remove_dir_all(dir.path().join("history")).unwrap();
    copy(older.path(), &dir.path().join("history"));
    let history = History::open(&options(dir.path())).unwrap();
    assert!(has_read_all(&history));
    assert_eq!(answers(&history), before);
}

#[test]
fn an_index_of_another_history_is_made_again() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let before = made(dir.path());
    made(other.path());
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    copy(&other.path().join("index"), &dir.path().join("index"));
    let history = History::open(&options(dir.path())).unwrap();
    assert!(has_read_all(&history));
    assert_eq!(answers(&history), before);
}

#[test]
fn damage_anywhere_in_the_index_is_recognised_at_the_latest_by_the_next_opening() {
    let whole = tempfile::tempdir().unwrap();
    let before = made(whole.path());
    let index = whole.path().join("index");
    let mut rebuilt = 0;
    for path in files_below(&index) {
        let name = path.strip_prefix(&index).unwrap();
        for damage in ["cut", "garbled", "removed"] {
            let dir = tempfile::tempdir().unwrap();
            copy(whole.path(), dir.path());
            let damaged = dir.path().join("index").join(name);
            let mut bytes = fs::read(&damaged).unwrap();
            // The empty journal is as long as the space that is reserved for it.
            bytes.truncate(1 << 20);
            match damage {
                "cut" => fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap(),
                "garbled" => {
                    bytes.iter_mut().for_each(|byte| *byte ^= 0x5A);
                    fs::write(&damaged, &bytes).unwrap();
                }
                _ => fs::remove_file(&damaged).unwrap(),
            }
            let what = format!("{damage} {}", name.display());
            let history = History::open(&options(dir.path())).expect(&what);
            let found = history.read(answers_of);
            let history = match found {
                Ok(found) => {
                    assert_eq!(found, before, "{what}");
                    history
                }
                Err(_) => {
                    assert!(history.failure().is_some(), "{what}");
                    drop(history);
                    History::open(&options(dir.path())).expect(&what)
                }
            };
            assert_eq!(answers(&history), before, "{what}");
            rebuilt += usize::from(has_read_all(&history));
        }
    }
    assert!(rebuilt >= 5, "{rebuilt}");
}

#[test]
fn what_the_index_cannot_give_is_an_error_and_not_a_missing_file() {
    let dir = tempfile::tempdir().unwrap();
    let before = made(dir.path());
    let history = History::open(&options(dir.path())).unwrap();
    let (tenant, file) = before.kept[0].clone();
    let garbage = [(Key::kept(tenant, &file.path()).into_bytes(), Some(vec![0xFF; 3]))];
    history.rows.write(&garbage.into_iter().collect()).unwrap();
    assert!(history.read(|state| state.kept(tenant, &file.path())).is_err());
    assert!(history.failure().is_some());
    drop(history);
    let history = History::open(&options(dir.path())).unwrap();
    assert_eq!(answers(&history), before);
}

/// Rows that are read as they are, and cannot be written while the flag is set.
struct Refusing(Arc<dyn Rows>, AtomicBool);

impl Rows for Refusing {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
        self.0.get(key)
    }

    fn range<'a>(
        &'a self,
        from: Bound<&[u8]>,
        end: Bound<&[u8]>,
    ) -> Box<dyn Iterator<Item = Result<Row, IndexError>> + 'a> {
        self.0.range(from, end)
    }

    fn write(&self, changes: &Changes) -> Result<(), IndexError> {
        if self.1.load(Relaxed) { Err(IndexError::new("full")) } else { self.0.write(changes) }
    }

    fn invalidate(&self) {
        self.0.invalidate();
    }
}

/// A history whose index cannot be written, until the flag is cleared.
fn refusing(dir: &Path) -> (History, Arc<Refusing>) {
    let mut history = History::open(&options(dir)).unwrap();
    let rows = Arc::new(Refusing(history.rows.clone(), AtomicBool::new(true)));
    history.rows = rows.clone();
    (history, rows)
}

#[test]
fn an_index_that_cannot_be_written_does_not_stop_the_pool() {
    let dir = tempfile::tempdir().unwrap();
    made(dir.path());
    let (history, rows) = refusing(dir.path());
    let garbage = history.read(|state| state.garbage.len()).unwrap();
    change(&history, 60);
    history.save().unwrap();
    change(&history, 130);
    let after = answers(&history);
    history.save().unwrap();
    assert_eq!((answers(&history), history.failure()), (after, None));
    change(&history, 200);
    let after = answers(&history);
    // The process is killed: the history goes on behind the last save.
    let killed = tempfile::tempdir().unwrap();
    copy(dir.path(), killed.path());
    let reopened = History::open(&options(killed.path())).unwrap();
    assert_eq!(answers(&reopened), after);
    let left = reopened.read(|state| state.garbage.clone()).unwrap();
    assert!(left.len() > garbage);
    // Or the close finds space again, although nothing was recorded since the last attempt.
    history.save().unwrap();
    rows.1.store(false, Relaxed);
    history.close().unwrap();
    assert_eq!(answers(&history), after);
    drop((history, rows));
    let history = History::open(&options(dir.path())).unwrap();
    assert!(!has_read_all(&history));
    assert_eq!(answers(&history), after);
    // What the first opening was told to remove is not repeated.
    assert_eq!(history.read(|state| state.garbage.clone()).unwrap(), left[garbage..]);
}

#[test]
fn changes_that_cannot_be_saved_are_held_up_to_a_limit() {
    let dir = tempfile::tempdir().unwrap();
    let (history, _rows) = refusing(dir.path());
    make_tenants(&history);
    let mut files = 0_u128;
    let failed = loop {
        let kept =
            |nth| Record::Kept { tenant: TENANTS[0], file: file(nth, "out", &format!("{nth}")) };
        let records = (files + 1..=files + 1_000).map(kept).collect();
        files += 1_000;
        if let Err(error) = history.record(|_| Ok::<_, StateLogError>(((), records))) {
            break error;
        }
        assert!(files < 300_000, "the memory has no limit");
    };
    assert!(failed.to_string().contains("full"), "{failed}");
    assert!(files > 60_000, "{files}");
    drop((history, _rows));
    let history = History::open(&options(dir.path())).unwrap();
    let kept = history.read(|state| state.tenants[&TENANTS[0]].kept.files).unwrap();
    assert_eq!(u128::from(kept), files);
}

#[test]
fn an_encrypted_pool_has_no_index_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let before = made(dir.path());
    assert!(dir.path().join("index").exists());
    let mut encrypted = options(dir.path());
    encrypted.volumes.keys = KeyRing::parse(&format!("3: {}", "a7".repeat(32)), "a test").unwrap();
    encrypted.volumes.sealing.encryption = Some(Cipher::Aes256Gcm);
    let history = History::open(&encrypted).unwrap();
    change(&history, 60);
    let after = answers(&history);
    assert_ne!(after, before);
    history.close().unwrap();
    drop(history);
    assert!(!dir.path().join("index").exists(), "names and keys would be in clear");
    assert_eq!(answers(&History::open(&encrypted).unwrap()), after);
}

#[test]
fn files_expire_in_order_also_when_an_earlier_time_comes_later() {
    let dir = tempfile::tempdir().unwrap();
    let history = History::open(&options(dir.path())).unwrap();
    make_tenants(&history);
    let [tenant, ..] = TENANTS;
    let keep = |id, at| {
        let file = FileRecord { expires_at: Some(Timestamp(at)), ..file(id, "", &id.to_string()) };
        record(&history, vec![Record::Kept { tenant, file }]);
    };
    let due = |now, max| {
        let due = history.read(|state| state.expired_kept(Timestamp(now), max)).unwrap();
        due.into_iter().map(|(_, id)| id.0).collect::<Vec<_>>()
    };
    assert!(due(100, 9).is_empty());
    keep(1, 50);
    keep(2, 70);
    keep(3, 70);
    assert!(due(49, 9).is_empty());
    assert_eq!(due(60, 9), [1]);
    assert_eq!(due(70, 2), [1, 2]);
    keep(4, 20);
    assert_eq!(due(70, 9), [4, 1, 2, 3], "those that are not removed are due again");
    record(&history, [4, 1].map(|id| Record::Removed { tenant, id: FileId(id) }).into());
    assert_eq!(due(70, 9), [2, 3]);
    keep(5, 10);
    assert!(due(9, 9).is_empty(), "the clock was set back");
    assert_eq!(due(70, 9), [5, 2, 3]);
}

#[test]
fn removed_files_do_not_fill_the_memory() {
    let dir = tempfile::tempdir().unwrap();
    let history = History::open(&options(dir.path())).unwrap();
    make_tenants(&history);
    let [tenant, ..] = TENANTS;
    for chunk in 0..40_u128 {
        let ids = chunk * 1_000 + 1..chunk * 1_000 + 1_001;
        let kept = |id: u128| Record::Kept { tenant, file: file(id, "out", &id.to_string()) };
        record(&history, ids.map(kept).collect());
    }
    let mut most = 0;
    for chunk in 0..40_u128 {
        let ids = chunk * 1_000 + 1..chunk * 1_000 + 1_001;
        let removed = |id| Record::Removed { tenant, id: FileId(id) };
        record(&history, ids.map(removed).collect());
        history.maintain(Timestamp(1)).unwrap();
        most = most.max(history.read(|state| state.index.bytes()).unwrap());
    }
    assert!(most < super::CHANGES_BYTES, "{most}");
    assert_eq!(answers(&history).kept, []);
}

#[test]
fn a_history_that_outgrows_the_memory_of_an_opening_is_folded_in_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let history = History::open(&options(dir.path())).unwrap();
    make_tenants(&history);
    let many = 60_000_u128;
    for chunk in 0..many / 1_000 {
        let file = |nth| file(chunk * 1_000 + nth + 1, "out", &format!("{chunk}-{nth}"));
        let kept = |nth| Record::Kept { tenant: TENANTS[0], file: file(nth) };
        record(&history, (0..1_000).map(kept).collect());
    }
    history.close().unwrap();
    drop(history);
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    let history = History::open(&options(dir.path())).unwrap();
    let known = history.read(|state| (state.tenants[&TENANTS[0]].kept.files, state.index.bytes()));
    let (files, bytes) = known.unwrap();
    assert_eq!(files, many as u64);
    assert!(bytes < super::checkpoint::SPILL_BYTES, "{bytes}");
    // The rebuilt index was saved at once.
    drop(history);
    let history = History::open(&options(dir.path())).unwrap();
    assert_eq!(history.read(|state| state.unsaved.bytes.load(Relaxed)).unwrap(), 0);
    let mut listed = 0;
    let each = |state: &State| {
        state.each_kept(TENANTS[0], "out/", None, |_| {
            listed += 1;
            true
        })
    };
    history.read(each).unwrap();
    assert_eq!(listed, many);
}
#[test]
fn checkpoints_of_submit_keys_directories_and_results_do_not_begin_again_by_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let short = DepotOptions { checkpoint_bytes: 64 << 10, ..options(dir.path()) };
    let history = History::open(&short).unwrap();
    let [tenant, ..] = TENANTS;
    let key = |nth: u128| format!("{nth:0>128}");
    let keys = |from: u128| {
        let keys = from..from + 1_000;
        let keys = keys.map(|nth| Submitted { key: key(nth), id: FileId(nth), fingerprint: 1 });
        Record::SubmitKeys { tenant, keys: keys.collect() }
    };
    let directory = |nth| Record::Directory {
        tenant,
        directory: Directory::new(&format!("directory-{nth:0>40}")).unwrap(),
        settings: DirectorySettings {
            expires_after: Some(std::time::Duration::from_secs(9)),
            ..Default::default()
        },
    };
    let end = |id| {
        Record::Ended(Ended {
            tenant,
            id: FileId(id),
            at: Timestamp(1),
            ending: Ending::Completed,
            volume: None,
            submitted: None,
            kept: Vec::new(),
            published: (0..10).map(|nth| file(id + nth, "out", "result")).collect(),
            retained: None,
        })
    };
    let most = |make: &dyn Fn() -> Vec<Record>| {
        make_tenants(&history);
        record(&history, make());
        let idle = |rounds| {
            (0..rounds).for_each(|nth| history.maintain(Timestamp(nth)).unwrap());
            history.log.taken().unwrap().0
        };
        let taken = idle(100);
        assert_eq!(idle(100), taken, "the log grows although nothing happens");
    };
    most(&|| (0..16).map(|nth| keys(nth * 1_000)).collect());
    most(&|| (0..3_000).map(directory).collect());
    most(&|| (0..1_000).map(|nth| end(nth * 10)).collect());
}

#[test]
fn checkpoints_repeat_files_of_the_index_and_the_history_stays_short() {
    let dir = tempfile::tempdir().unwrap();
    let short = || DepotOptions {
        checkpoint_bytes: 1 << 20,
        segment_bytes: 2 << 20,
        ..options(dir.path())
    };
    let history = History::open(&short()).unwrap();
    make_tenants(&history);
    for round in 0..40_u128 {
        for nth in 0..20_u128 {
            let kept = |step| Record::Kept {
                tenant: TENANTS[0],
                file: file(round * 10_000 + nth * 100 + step + 1, "out", &format!("{nth}-{step}")),
            };
            record(&history, (0..100_u128).map(kept).collect());
        }
        for _ in 0..4 {
            history.maintain(Timestamp(round as u64)).unwrap();
        }
    }
    let before = answers(&history);
    assert_eq!(before.kept.len(), 2_000);
    drop(history);
    // 80,000 records of some 300 bytes were recorded, without the images.
    let stored: u64 = files_below(&dir.path().join("history"))
        .iter()
        .map(|it| fs::metadata(it).unwrap().len())
        .sum();
    assert!(stored < 12 << 20, "{stored}");
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    let history = History::open(&short()).unwrap();
    assert_eq!(answers(&history), before);
}
