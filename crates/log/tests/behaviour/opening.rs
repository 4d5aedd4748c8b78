//! Errors of opening: they name the file, the offset and the remedy.

use rialto_disk::{Access, Disk, RealDisk, SimDisk};
use rialto_log::{
    Commit, Flaw, Group, OpenError, OpenReport, Options, Position, Proof, Reader, Verify, Writer,
    open, recover, verify,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const DIR: &str = "/log";
const FIRST: &str = "/log/00000000000000000001-0000000001.log";

fn options(salt: u8) -> Options {
    Options { segment_bytes: 32 << 10, ..Options::new([salt; 16]) }
}

fn reopen(disk: &SimDisk, salt: u8) -> Result<(Writer, OpenReport), OpenError> {
    disk.kill();
    open(Arc::new(disk.clone()), Path::new(DIR), options(salt))
}

fn write(writer: &mut Writer, records: u64, commit: Commit) -> Position {
    let mut group = Group::new(4096);
    group.begin(writer.next_seq());
    for _ in 0..records {
        group.append(b"0123456789").unwrap();
    }
    writer.write(&mut group, commit).unwrap()
}

/// A log of one epoch with this many synced groups of two records, its process killed.
fn with_groups(groups: u64) -> SimDisk {
    let disk = SimDisk::new(1);
    let (mut writer, _) = reopen(&disk, 1).unwrap();
    for _ in 0..groups {
        write(&mut writer, 2, Commit::Synced);
    }
    drop(writer);
    disk
}

fn patch(disk: &SimDisk, path: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = disk.bytes_of(Path::new(path)).unwrap();
    change(&mut bytes);
    disk.put_bytes(Path::new(path), bytes);
}

#[test]
fn damage_before_a_later_group_is_refused_with_file_and_offset() {
    let disk = with_groups(3);
    disk.flip_bit(Path::new(FIRST), 2 * 4096 + 150, 3);
    let error = reopen(&disk, 2).err().unwrap();
    match &error {
        OpenError::Corrupt { file, offset, flaw, proof } => {
            assert_eq!((file.as_path(), *offset), (Path::new(FIRST), 2 * 4096));
            assert!(matches!(flaw, Flaw::BodyChecksum { .. }));
            assert_eq!(*proof, Proof::LaterGroup { number: 3, offset: 3 * 4096 });
        }
        other => panic!("{other}"),
    }
    assert!(error.to_string().contains(FIRST) && error.to_string().contains("8192"), "{error}");
}

#[test]
fn an_unconfirmed_last_group_is_cut_and_the_cut_reported() {
    let disk = with_groups(3);
    disk.flip_bit(Path::new(FIRST), 3 * 4096 + 150, 3);
    let (_, report) = reopen(&disk, 2).unwrap();
    let cut = report.cut.unwrap();
    assert_eq!((report.last_seq, cut.offset, cut.bytes), (4, 3 * 4096, 4096));
    assert_eq!(cut.file, PathBuf::from(FIRST));
}

#[test]
fn a_confirmed_last_group_is_not_cut() {
    let disk = with_groups(0);
    let (mut writer, _) = reopen(&disk, 2).unwrap();
    write(&mut writer, 2, Commit::Synced);
    writer.confirm().unwrap();
    let path = writer.segments().paths().pop().unwrap();
    drop(writer);
    disk.flip_bit(&path, 4096 + 150, 3);
    assert!(matches!(reopen(&disk, 3), Err(OpenError::Corrupt { offset: 4096, .. })));
}

#[test]
fn the_head_alone_proves_a_confirmed_group_even_if_the_rest_is_lost() {
    let disk = with_groups(0);
    let (mut writer, _) = reopen(&disk, 2).unwrap();
    write(&mut writer, 2, Commit::Synced);
    let path = writer.segments().paths().pop().unwrap();
    writer.close().unwrap();
    patch(&disk, path.to_str().unwrap(), |bytes| bytes[4096..].fill(0));
    let proof = match reopen(&disk, 3) {
        Err(OpenError::Corrupt { proof, .. }) => proof,
        other => panic!("{:?}", other.map(|(_, report)| report)),
    };
    assert!(matches!(proof, Proof::Head { seq: 2, .. }), "{proof}");
}

#[test]
fn a_shortened_segment_is_refused() {
    let disk = with_groups(2);
    patch(&disk, FIRST, |bytes| bytes.truncate(3 * 4096));
    match reopen(&disk, 2) {
        Err(OpenError::Corrupt { flaw: Flaw::FileLength { expected, got }, .. }) => {
            assert_eq!((expected, got), (32 << 10, 3 * 4096));
        }
        other => panic!("{:?}", other.map(|(_, report)| report)),
    }
}

#[test]
fn a_missing_segment_is_refused_by_name() {
    let disk = with_groups(2);
    drop(reopen(&disk, 2).unwrap());
    disk.remove(Path::new(FIRST)).unwrap();
    let error = reopen(&disk, 3).err().unwrap();
    assert!(matches!(&error, OpenError::MissingSegment { file, .. } if file == Path::new(FIRST)));
}

#[test]
fn a_segment_that_does_not_belong_is_refused_by_name() {
    let disk = with_groups(2);
    let other = "/log/00000000000000000009-0000000001.log";
    disk.put_bytes(Path::new(other), disk.bytes_of(Path::new(FIRST)).unwrap());
    let told = reopen(&disk, 2).err().unwrap().to_string();
    assert!(told.contains(other) && told.contains("move it away"), "{told}");
    assert!(!told.contains("restore"), "there is nothing to restore: {told}");
}

#[test]
fn an_older_segment_that_was_cut_short_is_refused_at_the_next_opening() {
    // One that the next opening has shortened to its last group, and one that was written full.
    for (groups, cuts) in [(2, [2 * 4096, 3 * 4096 - 100]), (9, [7 * 4096, 4096])] {
        for cut in cuts {
            let disk = with_groups(groups);
            drop(reopen(&disk, 2).unwrap());
            let mut before = 0;
            patch(&disk, FIRST, |bytes| {
                before = bytes.len();
                bytes.truncate(cut);
            });
            assert!(cut < before);
            let error = reopen(&disk, 3).err().unwrap();
            match &error {
                OpenError::Corrupt { file, offset, proof: Proof::NextSegment { .. }, .. } => {
                    assert_eq!((file.as_path(), *offset), (Path::new(FIRST), cut as u64));
                }
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_log_without_its_head_is_refused() {
    let disk = with_groups(2);
    disk.remove(Path::new("/log/HEAD")).unwrap();
    assert!(matches!(reopen(&disk, 2), Err(OpenError::HeadMissing { .. })));
}

#[test]
fn one_damaged_slot_of_head_is_made_good_by_the_other_and_reported() {
    for slot in [0, 4096] {
        let disk = with_groups(2);
        disk.flip_bit(Path::new("/log/HEAD"), slot + 30, 1);
        let (_, report) = reopen(&disk, 2).unwrap();
        assert!(report.lost_head_slot.is_some());
        assert_eq!(report.last_seq, 4);
    }
}

#[test]
fn an_unknown_format_version_is_refused_and_named() {
    let disk = with_groups(2);
    patch(&disk, FIRST, |bytes| {
        bytes[8] = 2;
        let checksum = crc32c::crc32c(&bytes[..4092]);
        bytes[4092..4096].copy_from_slice(&checksum.to_le_bytes());
    });
    let error = reopen(&disk, 2).err().unwrap();
    assert!(matches!(error, OpenError::Unsupported { flaw: Flaw::Version(2), .. }), "{error}");
}

#[test]
fn an_acknowledged_position_beyond_the_tail_is_held_against_it() {
    let disk = with_groups(2);
    let beyond = Position { epoch: 1, seq: 5 };
    let options = Options { acknowledged: Some(beyond), ..options(2) };
    disk.kill();
    let opened = open(Arc::new(disk.clone()), Path::new(DIR), options);
    assert!(matches!(opened, Err(OpenError::Acknowledged { last_seq: 4, .. })));
}

#[test]
fn a_salt_is_not_used_twice_in_a_row() {
    let disk = with_groups(2);
    assert!(matches!(reopen(&disk, 1), Err(OpenError::SaltReused)));
}

#[test]
fn a_second_opening_is_refused_while_the_first_lives() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(RealDisk::new());
    let first = open(disk.clone(), dir.path(), options(1)).unwrap();
    let error = open(disk.clone(), dir.path(), options(2)).err().unwrap();
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    drop(first);
    open(disk, dir.path(), options(3)).unwrap();
}

#[test]
fn an_unsynced_tail_lost_out_of_order_is_cut_not_refused() {
    let disk = with_groups(0);
    let (mut writer, _) = reopen(&disk, 2).unwrap();
    for _ in 0..3 {
        write(&mut writer, 2, Commit::Written);
    }
    let path = writer.segments().paths().pop().unwrap();
    drop(writer);
    // The power failed when the second and third groups had reached the medium, but not the first.
    patch(&disk, path.to_str().unwrap(), |bytes| bytes[4096..8192].fill(0));
    let (_, report) = reopen(&disk, 3).unwrap();
    assert_eq!((report.last_seq, report.cut.unwrap().unsynced_groups), (0, 2));
}

#[test]
fn cutting_back_keeps_the_front_of_a_group_and_positions_tell() {
    let disk = with_groups(3);
    disk.kill();
    let shared: Arc<SimDisk> = Arc::new(disk.clone());
    let mut recovered = recover(shared, Path::new(DIR), options(2)).unwrap();
    let before = disk.bytes_of(Path::new(FIRST)).unwrap();
    recovered.truncate_after(3).unwrap();
    let (mut writer, report) = recovered.start().unwrap();
    assert_eq!((report.last_seq, report.truncated_from), (3, Some(6)));
    write(&mut writer, 2, Commit::Synced);

    let segments = writer.segments();
    assert!(segments.holds(Position { epoch: 1, seq: 3 }));
    assert!(!segments.holds(Position { epoch: 1, seq: 4 }));
    assert!(segments.holds(Position { epoch: 2, seq: 4 }));
    assert_eq!(verify(&segments).unwrap().records, 5);
    let after = disk.bytes_of(Path::new(FIRST)).unwrap();
    assert_eq!(after, before[..after.len()], "nothing that was stored is written again");

    drop(writer);
    let (writer, report) = reopen(&disk, 3).unwrap();
    assert_eq!(report.last_seq, 5);
    assert_eq!(verify(&writer.segments()).unwrap().records, 5);
}

#[test]
fn damage_in_an_old_segment_is_found_by_whole_verification_and_by_reading() {
    let disk = with_groups(3);
    drop(reopen(&disk, 2).unwrap());
    disk.flip_bit(Path::new(FIRST), 4096 + 150, 0);
    disk.kill();
    let whole = Options { verify: Verify::Whole, ..options(3) };
    let error = open(Arc::new(disk.clone()), Path::new(DIR), whole).err().unwrap();
    assert!(error.to_string().contains(FIRST), "{error}");
    let (writer, _) = reopen(&disk, 3).unwrap();
    let mut reader = Reader::open(&writer.segments(), 1).unwrap();
    assert!(reader.next_group().is_err());
}

#[test]
fn crashes_at_every_operation_of_a_short_life_lose_nothing_synced() {
    for crash_after in 0.. {
        let disk = SimDisk::new(crash_after);
        disk.crash_after(crash_after);
        let mut acknowledged = 0;
        let life = || -> Result<(), Box<dyn std::error::Error>> {
            let (mut writer, _) = open(Arc::new(disk.clone()), Path::new(DIR), options(1))?;
            let mut group = Group::new(8192);
            for _ in 0..6 {
                group.begin(writer.next_seq());
                group.append(&[1; 5000])?;
                acknowledged = writer.write(&mut group, Commit::Synced)?.seq;
            }
            writer.retain_from(4)?;
            writer.close()?;
            Ok(())
        };
        let finished = { life }().is_ok();
        disk.restart();
        let (writer, report) = reopen(&disk, 2).unwrap();
        assert!(report.last_seq >= acknowledged, "crash after {crash_after}");
        verify(&writer.segments()).unwrap();
        if finished {
            assert!(crash_after > 20, "the life must have had operations to crash between");
            return;
        }
    }
}

#[test]
fn without_direct_io_the_log_reports_it_and_works() {
    let disk = SimDisk::new(1);
    disk.set_faults(rialto_disk::Faults { direct_refused: true, ..Default::default() });
    let (mut writer, _) = reopen(&disk, 1).unwrap();
    assert_eq!(writer.io_mode(), rialto_disk::IoMode::Buffered);
    write(&mut writer, 2, Commit::Synced);
    drop(writer);
    disk.crash();
    assert_eq!(reopen(&disk, 2).unwrap().1.last_seq, 2);
}

#[test]
fn a_killed_process_leaves_a_real_log_that_opens() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(RealDisk::new());
    let (mut writer, _) = open(disk.clone(), dir.path(), options(1)).unwrap();
    write(&mut writer, 5, Commit::Written);
    drop(writer);
    let (writer, report) = open(disk.clone(), dir.path(), options(2)).unwrap();
    assert_eq!((report.last_seq, writer.epoch()), (5, 2));
    // The segment before was shortened to what it holds.
    let path = dir.path().join("00000000000000000001-0000000001.log");
    assert_eq!(disk.open(&path, Access::Read).unwrap().len().unwrap(), 2 * 4096);
}

#[test]
fn a_read_that_returns_what_was_there_before_costs_no_record() {
    for nth in 1..40 {
        let disk = with_groups(3);
        disk.kill();
        disk.stale_read(nth);
        let mut recovered = recover(Arc::new(disk.clone()), Path::new(DIR), options(2));
        // Whether this opening was refused or not, nothing is lost.
        if let Ok(recovered) = &mut recovered {
            assert_eq!(recovered.report().last_seq, 6, "read {nth}");
        }
        drop(recovered);
        let (writer, report) = reopen(&disk, 3).unwrap();
        assert_eq!((report.last_seq, report.cut), (6, None), "read {nth}");
        assert_eq!(verify(&writer.segments()).unwrap().records, 6, "read {nth}");
    }
}

#[test]
fn head_outlives_a_failed_sync_and_a_loss_of_power_during_the_next_opening() {
    for case in 0..1_200 {
        let (seed, nth, point) = (case / 60, 1 + case / 20 % 3, case % 20);
        let disk = SimDisk::new(seed);
        let (mut writer, _) = reopen(&disk, 1).unwrap();
        write(&mut writer, 2, Commit::Synced);
        disk.fail_sync(nth);
        let _ = writer.confirm();
        drop(writer);
        disk.kill();
        disk.crash_after(point);
        let _ = open(Arc::new(disk.clone()), Path::new(DIR), options(2));
        disk.restart();
        let opened = open(Arc::new(disk.clone()), Path::new(DIR), options(3));
        assert!(opened.is_ok(), "{seed}, {nth}, {point}: {}", opened.err().unwrap());
    }
}
