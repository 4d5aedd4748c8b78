//! Records on disk read back, within bounds, after cuts, flipped bits and full disks.

#![allow(clippy::unwrap_used)]

use rialto_clock::{ManualClock, Timestamp};
use rialto_disk::{Disk, SimDisk};
use rialto_recorder::FlowId;
use rialto_recorder::{
    Capture, Keeper, Record, RecordId, Recorder, RecorderBounds, RecordingError, RecordingWriter,
    Recordings, RingBounds, Sampling, Subject,
};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const DIR: &str = "/venue/recordings";

fn dir() -> &'static Path {
    Path::new(DIR)
}

#[derive(Capture)]
struct Login<'a> {
    user: &'a str,
    #[capture(secret)]
    #[allow(dead_code, reason = "nobody looks at it")]
    key: &'a str,
    tries: u64,
    balance: i64,
    share: f64,
    known: bool,
}

fn recorder() -> Recorder<ManualClock> {
    Recorder::new(RecorderBounds::default(), Sampling::All, ManualClock::new(Timestamp(7_000)))
}

/// One of each kind: a run with a failed child, and a request.
fn record_some(recorder: &Recorder<ManualClock>) {
    let run = Subject::flow(FlowId::new("order-1").unwrap());
    let run = recorder.begin("order", run);
    run.step("reserve");
    let login =
        Login { user: "Zoë", key: "hunter2", tries: 3, balance: -4, share: 0.25, known: true };
    run.capture(&login);
    let child = recorder.begin("pay", Subject::default().with_parent(run.id()));
    child.fail("no_funds", "There is not enough.");
    run.succeed();
    let subject = Subject { request_id: 99, trace_id: u128::MAX - 5, ..Subject::default() };
    drop(recorder.begin("left", subject));
}

fn some_records() -> Vec<Record> {
    let recorder = recorder();
    record_some(&recorder);
    recorder.take_finished()
}

fn writer(disk: &Arc<SimDisk>, bounds: RingBounds) -> RecordingWriter {
    RecordingWriter::open(Arc::clone(disk) as Arc<dyn Disk>, dir(), bounds).unwrap()
}

fn read(disk: &SimDisk) -> Recordings {
    Recordings::read(disk, dir()).unwrap()
}

fn stored(disk: &SimDisk) -> Vec<Record> {
    read(disk).iter().cloned().collect()
}

fn file(number: u32) -> std::path::PathBuf {
    dir().join(format!("{number:016}.rec"))
}

#[test]
fn stored_records_read_back_unchanged() {
    let disk = Arc::new(SimDisk::new(1));
    let recorder = recorder();
    record_some(&recorder);
    let mut writer = writer(&disk, RingBounds::default());
    writer.append(&recorder.take_finished()).unwrap();
    assert_eq!(stored(&disk), recorder.list());
    let id = recorder.list()[0].id();
    let tree = read(&disk).tree(id).unwrap().to_string();
    assert_eq!(tree, recorder.show(id).unwrap().to_string());
    assert!(tree.contains("failed: no_funds"), "{tree}");
    assert_eq!(recorder.take_finished(), [], "they are taken once");
}

#[test]
fn a_secret_is_in_no_file() {
    let disk = Arc::new(SimDisk::new(1));
    writer(&disk, RingBounds::default()).append(&some_records()).unwrap();
    let bytes = disk.bytes_of(&file(1)).unwrap();
    assert!(String::from_utf8_lossy(&bytes).contains("Zoë"));
    assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"));
}

#[test]
fn where_nothing_was_stored_there_is_nothing() {
    assert!(read(&SimDisk::new(1)).is_empty());
}

#[test]
fn the_ring_keeps_to_its_bounds_and_holds_the_last() {
    let bounds = RingBounds { bytes_max: 64 << 10, files_max: 64 };
    let disk = Arc::new(SimDisk::new(1));
    let mut writer = writer(&disk, bounds);
    let recorder = recorder();
    let text = "x".repeat(500);
    for number in 0..400_u64 {
        let request_id = number + 1;
        let recording = recorder.begin("wide", Subject { request_id, ..Subject::default() });
        recording.fields(|fields| fields.text("text", &text));
        recording.succeed();
        writer.append(&recorder.take_finished()).unwrap();
        let names = disk.list(dir()).unwrap();
        let bytes: usize =
            names.iter().map(|name| disk.bytes_of(&dir().join(name)).unwrap().len()).sum();
        assert!(bytes as u64 <= bounds.bytes_max, "{bytes} bytes after record {number}");
    }
    let records = stored(&disk);
    let ids: Vec<u64> = records.iter().map(|record| record.subject().request_id).collect();
    // All but what is left free for the file that is being written.
    assert!(ids.len() > 85, "{} of about 110 that fit", ids.len());
    assert_eq!(ids, ((400 - ids.len() as u64 + 1)..=400).collect::<Vec<_>>());
}

#[test]
fn many_short_lives_do_not_leave_many_files() {
    let disk = Arc::new(SimDisk::new(1));
    for _ in 0..20 {
        let bounds = RingBounds { files_max: 5, ..RingBounds::default() };
        writer(&disk, bounds).append(&some_records()).unwrap();
    }
    assert_eq!(disk.list(dir()).unwrap().len(), 5);
}

#[test]
fn the_next_process_continues_the_numbers() {
    let disk = Arc::new(SimDisk::new(1));
    let mut first = writer(&disk, RingBounds::default());
    first.append(&some_records()).unwrap();
    let next = writer(&disk, RingBounds::default());
    assert_eq!(next.last(), RecordId(3));
    let recorder = recorder().numbered_after(next.last());
    record_some(&recorder);
    assert_eq!(recorder.list()[0].id(), RecordId(4));
    assert_eq!(recorder.statistics().begun, 3);
    let mut next = next;
    next.append(&recorder.take_finished()).unwrap();
    assert_eq!(read(&disk).len(), 6);
}

#[test]
fn a_record_that_is_too_long_for_the_ring_is_refused_and_the_others_are_stored() {
    let disk = Arc::new(SimDisk::new(1));
    let mut writer = writer(&disk, RingBounds { bytes_max: 0, ..RingBounds::default() });
    let bounds = RecorderBounds { variable_bytes_max: 20_000, ..RecorderBounds::default() };
    let recorder = Recorder::new(bounds, Sampling::All, ManualClock::default());
    recorder.begin("short", Subject::default()).succeed();
    let long = recorder.begin("long", Subject::default());
    long.fields(|fields| fields.text("text", &"x".repeat(10_000)));
    long.succeed();
    let error = writer.append(&recorder.take_finished()).unwrap_err();
    assert!(matches!(error, RecordingError::TooLong { id: RecordId(2), .. }), "{error}");
    assert_eq!(stored(&disk).len(), 1);
}

/// A file with three records of one process, and those of a second process behind it.
fn two_files() -> (Arc<SimDisk>, Vec<Record>, Vec<u8>) {
    let disk = Arc::new(SimDisk::new(1));
    writer(&disk, RingBounds::default()).append(&some_records()).unwrap();
    let bytes = disk.bytes_of(&file(1)).unwrap();
    let mut second = writer(&disk, RingBounds::default());
    let recorder = recorder().numbered_after(second.last());
    recorder.begin("behind", Subject::default()).succeed();
    second.append(&recorder.take_finished()).unwrap();
    let records = stored(&disk);
    assert_eq!(records.len(), 4);
    (disk, records, bytes)
}

#[test]
fn a_file_that_breaks_off_anywhere_holds_the_whole_records_before_that() {
    let (disk, records, bytes) = two_files();
    let mut before = 0;
    for length in 0..bytes.len() {
        disk.put_bytes(&file(1), bytes[..length].to_vec());
        let read = read(&disk);
        let found: Vec<_> = read.iter().cloned().collect();
        let whole = found.len() - 1;
        assert_eq!(found[..whole], records[..whole], "cut at {length}");
        assert_eq!(found[whole], records[3], "cut at {length}");
        assert!(whole >= before && whole < 3, "{whole} whole records when cut at {length}");
        before = whole;
        // A cut between two records cannot be told from one that was meant.
        for told in read.unreadable() {
            assert_eq!(told.offset + told.bytes, length as u64, "cut at {length}: {told}");
        }
        // The next process continues after it.
        assert_eq!(writer(&disk, RingBounds::default()).last(), RecordId(4));
    }
}

#[test]
fn a_flipped_bit_costs_records_but_never_alters_one() {
    let (disk, records, bytes) = two_files();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        disk.put_bytes(&file(1), flipped);
        let read = read(&disk);
        assert!(read.iter().all(|found| records.contains(found)), "byte {at}");
        assert_eq!(read.unreadable().len(), 1, "byte {at}");
        assert!(read.len() < records.len(), "byte {at}");
    }
}

#[test]
fn a_file_of_another_version_is_reported_and_kept() {
    let (disk, _, mut bytes) = two_files();
    bytes[8] = 9;
    let crc = crc32c::crc32c(&bytes[..20]);
    bytes[20..24].copy_from_slice(&crc.to_le_bytes());
    disk.put_bytes(&file(1), bytes);
    let read = read(&disk);
    assert_eq!((read.len(), read.unreadable()[0].version), (1, Some(9)));
    assert!(read.unreadable()[0].to_string().contains("format version 9"));
}

#[test]
fn after_a_failed_write_the_next_is_stored_where_it_should_have_been() {
    let disk = Arc::new(SimDisk::new(1));
    let mut writer = writer(&disk, RingBounds::default());
    let recorder = recorder();
    for number in 1..=4_u64 {
        let subject = Subject { request_id: number, ..Subject::default() };
        recorder.begin("one", subject).succeed();
        if number == 3 {
            disk.fail_write(1);
        }
        let result = writer.append(&recorder.take_finished());
        assert_eq!(result.is_err(), number == 3);
    }
    let ids: Vec<u64> = stored(&disk).iter().map(|record| record.subject().request_id).collect();
    assert_eq!(ids, [1, 2, 4]);
}

#[test]
fn a_keeper_stores_what_has_ended_and_tells_once_that_it_cannot() {
    let disk = Arc::new(SimDisk::new(1));
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let recorder = Arc::new(recorder());
    let keeper = Keeper::start(
        Arc::clone(&recorder),
        writer(&disk, RingBounds::default()),
        Duration::from_millis(1),
        move |error| telling.lock().unwrap().push(error.to_string()),
    );
    let keeper = keeper.unwrap();
    let under_way = recorder.begin("under way", Subject::default());
    record_some(&recorder);
    // Stored by the keeper.
    let end = std::time::Instant::now() + Duration::from_secs(20);
    while read(&disk).len() < 3 {
        assert!(std::time::Instant::now() < end, "nothing is stored");
        std::thread::yield_now();
    }
    drop(keeper);
    assert!(read(&disk).iter().all(|record| record.name() != "under way"));
    drop(under_way);
    assert_eq!(*told.lock().unwrap(), [""; 0]);

    // A disk that is down fails each round.
    let keeper = Keeper::start(
        Arc::clone(&recorder),
        writer(&disk, RingBounds::default()),
        Duration::from_millis(1),
        {
            let telling = Arc::clone(&told);
            move |error| telling.lock().unwrap().push(error.to_string())
        },
    );
    let keeper = keeper.unwrap();
    disk.crash_after(0);
    while keeper.lost() < 3 {
        assert!(std::time::Instant::now() < end, "nothing is lost");
        recorder.begin("lost", Subject::default()).succeed();
        std::thread::yield_now();
    }
    drop(keeper);
    assert_eq!(told.lock().unwrap().len(), 1);
}

#[test]
fn a_keeper_that_may_not_store_leaves_records_in_memory_until_it_may() {
    let disk = Arc::new(SimDisk::new(1));
    let recorder = Arc::new(recorder());
    let (may_store, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let keeper = Keeper::start_while(
        Arc::clone(&recorder),
        writer(&disk, RingBounds::default()),
        Duration::from_millis(1),
        {
            let (may_store, asked) = (Arc::clone(&may_store), Arc::clone(&asked));
            move || {
                asked.fetch_add(1, Ordering::Relaxed);
                may_store.load(Ordering::Relaxed)
            }
        },
        |error| panic!("{error}"),
    );
    let keeper = keeper.unwrap();
    record_some(&recorder);
    let end = std::time::Instant::now() + Duration::from_secs(20);
    let since = asked.load(Ordering::Relaxed);
    while asked.load(Ordering::Relaxed) < since + 2 {
        assert!(std::time::Instant::now() < end, "it is never asked");
        std::thread::yield_now();
    }
    assert_eq!(read(&disk).len(), 0, "it was stored");
    may_store.store(true, Ordering::Relaxed);
    drop(keeper);
    assert_eq!(read(&disk).len(), 3);
}

#[test]
fn records_that_make_room_before_they_are_taken_are_counted() {
    let bounds = RecorderBounds { records_max: 2, shards: 1, ..RecorderBounds::default() };
    let recorder = Recorder::new(bounds, Sampling::All, ManualClock::default());
    for _ in 0..5 {
        recorder.begin("one", Subject::default()).succeed();
    }
    assert_eq!(recorder.take_finished().len(), 2);
    recorder.begin("one", Subject::default()).succeed();
    let statistics = recorder.statistics();
    assert_eq!((statistics.evicted, statistics.untaken), (4, 3));
}
