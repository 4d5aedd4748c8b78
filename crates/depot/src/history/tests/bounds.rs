//! Memory, the history and searches stay bounded, also when the index cannot be written.

use super::super::checkpoint::SPILL_BYTES;
use super::super::index::{Changes, IndexError, Row};
use super::super::record::Submitted;
use super::super::{CHANGES_BYTES, UNSAVED_BYTES_MAX};
use super::*;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// Rows that are read as they are, and cannot be written while the flag is set; with the number of writes.
struct Refusing(Arc<dyn Rows>, AtomicBool, AtomicUsize);

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
        self.2.fetch_add(1, Relaxed);
        if self.1.load(Relaxed) { Err(IndexError::new("full")) } else { self.0.write(changes) }
    }

    fn invalidate(&self) {
        self.0.invalidate();
    }
}

/// A history whose index cannot be written, until the flag is cleared.
fn refusing(dir: &Path) -> (History, Arc<Refusing>) {
    let mut history = History::open(&options(dir)).unwrap();
    let rows = Arc::new(Refusing(history.rows.clone(), AtomicBool::new(true), AtomicUsize::new(0)));
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
    history.save(history.saving()).unwrap();
    change(&history, 130);
    let after = answers(&history);
    history.save(history.saving()).unwrap();
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
    history.save(history.saving()).unwrap();
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
fn the_close_saves_whatever_is_left() {
    let dir = tempfile::tempdir().unwrap();
    made(dir.path());
    let (history, rows) = refusing(dir.path());
    rows.1.store(false, Relaxed);
    history.save(history.saving()).unwrap();
    // A save of a few bytes fails; they are fewer than the images of the one before.
    rows.1.store(true, Relaxed);
    change(&history, 60);
    history.save(history.saving()).unwrap();
    rows.1.store(false, Relaxed);
    let after = answers(&history);
    history.close().unwrap();
    drop((history, rows));
    let history = History::open(&options(dir.path())).unwrap();
    assert!(!has_read_all(&history));
    assert_eq!(answers(&history), after);
}

#[test]
fn threads_that_record_together_save_once() {
    let dir = tempfile::tempdir().unwrap();
    let (history, rows) = refusing(dir.path());
    rows.1.store(false, Relaxed);
    make_tenants(&history);
    // About twice what one thread may leave unsaved.
    std::thread::scope(|scope| {
        for thread in 0..4_u128 {
            let history = &history;
            scope.spawn(move || {
                for nth in 0..300_u128 {
                    let first = 1 + (thread * 300 + nth) * 100;
                    let kept = |id| Record::Kept {
                        tenant: TENANTS[0],
                        file: file(id, "out", &format!("{id}")),
                    };
                    let records = (first..first + 100).map(kept).collect();
                    let recorded = history.record(|_| Ok::<_, StateLogError>(((), records)));
                    recorded.map(drop).unwrap();
                }
            });
        }
    });
    let unsaved = history.read(|state| state.unsaved.bytes.load(Relaxed)).unwrap();
    assert!(unsaved < 2 * UNSAVED_BYTES_MAX, "{unsaved}");
    let saves = rows.2.load(Relaxed);
    assert!((1..=4).contains(&saves), "{saves} saves");
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
    assert_eq!(due(70, 9), [4, 1, 2, 3], "files that are not removed are due again");
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
    assert!(most < CHANGES_BYTES, "{most}");
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
    assert!(bytes < SPILL_BYTES, "{bytes}");
    // The rebuilt index was saved at once.
    drop(history);
    let history = History::open(&options(dir.path())).unwrap();
    assert!(!has_read_all(&history));
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
