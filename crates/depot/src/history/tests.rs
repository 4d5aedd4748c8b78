//! The index is a fold of the history, whatever became of it.

use super::index::{Key, MemoryRows, Rows};
use super::record::{
    DirectorySettings, Ended, Ending, FORMAT_VERSION, Record, Retained, TenantNumber,
    TenantSettings,
};
use super::state::Held;
use super::volumes::{BucketVolume, DirectoryVolume, VolumeSettings};
use super::{History, State};
use crate::DepotError;
use crate::FileId;
use crate::name::{Directory, FileName, TenantName};
use crate::options::DepotOptions;
use crate::record::{FileRecord, Place};
use crate::volume::{BucketSpec, StoredBytes, VolumeIdentity, VolumeNumber};
use rialto_clock::Timestamp;
use rialto_disk::{RealDisk, SimDisk};
use rialto_log::{Cipher, KeyRing, Level};
use rialto_statelog::{StateLog, StateLogError, StateLogOptions};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

mod bounds;

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
    let volumes = volumes();
    record(history, volumes.iter().map(|(number, it)| it.record(*number)).collect());
}

/// A volume in a directory and one in a bucket.
fn volumes() -> [(VolumeNumber, VolumeSettings); 2] {
    let (identity, weight) = (VolumeIdentity(7), 2);
    let directory = DirectoryVolume {
        name: "main".to_owned(),
        dir: "volume".to_owned(),
        weight,
        identity,
        draining: false,
    };
    let bucket = BucketVolume {
        name: "cold".to_owned(),
        bucket: BucketSpec {
            bucket: "files".to_owned(),
            prefix: "p".to_owned(),
            endpoint: "https://a".to_owned(),
            region: "r".to_owned(),
            allow_http: false,
        },
        weight,
        identity,
        draining: true,
    };
    let bucket = VolumeSettings::Bucket(bucket);
    [(VolumeNumber(0), VolumeSettings::Directory(directory)), (VolumeNumber(1), bucket)]
}

#[test]
fn volumes_are_recorded_as_the_format_says() {
    let encoded = volumes().map(|(number, it)| postcard::to_stdvec(&it.record(number)).unwrap());
    assert_eq!(encoded[0], b"\x03\x00\x04main\x06volume\x02\x07\x00");
    assert_eq!(encoded[1], b"\x10\x01\x04cold\x05files\x01p\x09https://a\x01r\x00\x02\x07\x01");
}

#[test]
fn a_shelf_is_one_record() {
    let (number, name) = (TenantNumber(3), TenantName::new("acme").unwrap());
    let (created_at, settings) = (Timestamp(1), TenantSettings::default());
    let record = Record::Shelf { number, name: name.clone(), created_at, settings };
    assert_eq!(postcard::to_stdvec(&record).unwrap(), b"\x11\x03\x04acme\x01\x00\x00\x00");
    let mut state = State::default();
    state.apply(record);
    let tenant = &state.tenants[&number];
    assert_eq!((tenant.name.as_ref(), state.next_tenant()), (Some(&name), TenantNumber(4)));
    let root = DirectorySettings::shelf();
    assert_eq!(tenant.directories.iter().collect::<Vec<_>>(), [(&Directory::root(), &root)]);
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
    volumes: Vec<(VolumeNumber, VolumeSettings)>,
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
        volumes: state.volumes.iter().map(|(number, it)| (*number, it.clone())).collect(),
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

/// Writes a history without an index, as versions before the index did: with a checkpoint that
/// repeats the kept files, and without what was recorded before.
fn made_without_index(dir: &Path) -> Answers {
    let log_options = StateLogOptions {
        first_segment_bytes: Some(64 << 10),
        segment_bytes: 64 << 10,
        checkpoint_bytes: 32 << 10,
        ..StateLogOptions::new(Level::Buffered, FORMAT_VERSION)
    };
    let disk = Arc::new(RealDisk);
    let log = StateLog::open(disk, &dir.join("history"), log_options, State::reading()).unwrap();
    let rows: Arc<dyn Rows> = Arc::new(MemoryRows::default());
    let history =
        History { log, rows, saving: Mutex::default(), changes_bytes: super::CHANGES_BYTES.into() };
    make_tenants(&history);
    for nth in 0..60 {
        change(&history, nth % 3 * 100 + 1);
        history.log.maintain(Timestamp(nth as u64)).unwrap();
    }
    let answers = answers(&history);
    history.log.sync().unwrap();
    answers
}

#[test]
fn a_pool_of_a_version_without_an_index_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let before = made_without_index(dir.path());
    let first = |path: &PathBuf| path.to_string_lossy().contains("00000000000000000001-");
    assert!(!files_below(dir.path()).iter().any(first), "the files are in the checkpoint alone");
    assert!(!dir.path().join("index").exists());
    let history = History::open(&options(dir.path())).unwrap();
    assert!(has_read_all(&history));
    assert_eq!(answers(&history), before);
    history.close().unwrap();
    drop(history);
    let history = History::open(&options(dir.path())).unwrap();
    assert!(!has_read_all(&history));
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
    history.rows.write(&garbage.clone().into_iter().collect()).unwrap();
    assert!(history.read(|state| state.kept(tenant, &file.path())).is_err());
    assert!(history.failure().is_some());
    drop(history);
    let history = History::open(&options(dir.path())).unwrap();
    assert_eq!(answers(&history), before);
    // The same if a change is refused because it does not see the file.
    history.save(history.saving()).unwrap();
    history.rows.write(&garbage.into_iter().collect()).unwrap();
    let refused = history.change(|state| match state.kept(tenant, &file.path()) {
        Some(_) => Ok(((), Vec::new())),
        None => Err(DepotError::UnknownFile {
            tenant: TenantName::new("acme").unwrap(),
            file: file.path(),
        }),
    });
    assert!(matches!(refused.map(drop), Err(DepotError::History(_))));
    assert!(history.failure().is_some());
}

#[test]
fn a_checkpoint_that_cannot_read_a_file_does_not_delete_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let before = made(dir.path());
    let short =
        DepotOptions { checkpoint_bytes: 1, segment_bytes: 64 << 10, ..options(dir.path()) };
    let history = History::open(&short).unwrap();
    let (tenant, file) = before.kept[0].clone();
    let damaged = [(Key::kept(tenant, &file.path()).into_bytes(), Some(vec![0xFF; 3]))];
    history.rows.write(&damaged.into_iter().collect()).unwrap();
    let mut round = 0;
    let failed = loop {
        let spec = Record::Counters { tenant: TenantNumber(2), volume: VolumeNumber(0) };
        let recorded = history.record(|_| Ok::<_, StateLogError>(((), vec![spec; 1_000])));
        round += 1;
        if let Err(error) = recorded.and_then(|_| history.maintain(Timestamp(round))) {
            break error;
        }
        assert!(round < 1_000, "no checkpoint read the file");
    };
    assert!(failed.to_string().contains("index of kept files"), "{failed}");
    drop(history);
    let history = History::open(&options(dir.path())).unwrap();
    assert!(has_read_all(&history));
    assert_eq!(answers(&history), before);
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
