//! Errors of a writer after a disk failure name the segment file.

use rialto_disk::{Faults, SimDisk};
use rialto_log::{Commit, Group, Options, WriteError, Writer, open};
use std::path::Path;
use std::sync::Arc;

const SEGMENT_BYTES: u64 = 32 << 10;
const FIRST: &str = "/log/00000000000000000001-0000000001.log";

fn create(disk: &SimDisk) -> Writer {
    let options = Options { segment_bytes: SEGMENT_BYTES, ..Options::new([1; 16]) };
    open(Arc::new(disk.clone()), Path::new("/log"), options).unwrap().0
}

fn write(writer: &mut Writer, commit: Commit) -> Result<(), WriteError> {
    let mut group = Group::new(4096);
    group.begin(writer.next_seq());
    group.append(b"0123456789").unwrap();
    writer.write(&mut group, commit).map(drop)
}

#[test]
fn a_failed_write_or_sync_names_the_segment() {
    let write_fails: fn(&SimDisk) = |disk| disk.fail_write(0);
    let sync_fails: fn(&SimDisk) = |disk| disk.fail_sync(0);
    for (fails, commit) in [
        (write_fails, Commit::Written),
        (write_fails, Commit::Synced),
        (sync_fails, Commit::Synced),
    ] {
        let disk = SimDisk::new(1);
        let mut writer = create(&disk);
        fails(&disk);
        let told = write(&mut writer, commit).unwrap_err().to_string();
        assert!(told.contains(FIRST), "{told}");
    }
    let disk = SimDisk::new(1);
    let mut writer = create(&disk);
    write(&mut writer, Commit::Written).unwrap();
    disk.fail_sync(0);
    let told = writer.sync().unwrap_err().to_string();
    assert!(told.contains(FIRST), "{told}");
}

#[test]
fn a_full_disk_is_reported_with_the_segments_name() {
    let disk = SimDisk::new(1);
    let mut writer = create(&disk);
    // HEAD is two blocks long.
    let capacity_bytes = Some(SEGMENT_BYTES + 8192);
    disk.set_faults(Faults { capacity_bytes, ..Faults::default() });
    let error = loop {
        if let Err(error) = write(&mut writer, Commit::Written) {
            break error.to_string();
        }
    };
    assert!(error.contains("/log/00000000000000000008-0000000001.log"), "{error}");
    let left = disk.paths();
    assert!(left.iter().all(|path| path.extension().is_none_or(|it| it != "tmp")), "{left:?}");
}
