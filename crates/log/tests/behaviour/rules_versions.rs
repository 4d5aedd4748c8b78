//! A segment says which rules decided its records, and holds no others.

use rialto_disk::SimDisk;
use rialto_log::{Commit, Group, Options, Writer, recover};
use std::path::Path;
use std::sync::Arc;

fn options(salt: u8) -> Options {
    Options { segment_bytes: 32 << 10, rules_version: 1, ..Options::new([salt; 16]) }
}

fn write(writer: &mut Writer) -> u64 {
    let mut group = Group::new(4096);
    group.begin(writer.next_seq());
    group.append(b"0123456789").unwrap();
    writer.write(&mut group, Commit::Synced).unwrap().seq
}

#[test]
fn a_change_of_rules_begins_a_segment() {
    let disk = Arc::new(SimDisk::new(1));
    let recovered = recover(disk.clone(), Path::new("/log"), options(1)).unwrap();
    let (mut writer, _) = recovered.start().unwrap();
    let first = write(&mut writer);
    let second = write(&mut writer);
    writer.set_rules_version(2);
    let third = write(&mut writer);
    let fourth = write(&mut writer);
    writer.set_rules_version(2);
    let fifth = write(&mut writer);
    let versions = |writer: &Writer, seqs: &[u64]| -> Vec<u32> {
        seqs.iter().map(|seq| writer.segments().rules_version_of(*seq).unwrap()).collect()
    };
    assert_eq!(versions(&writer, &[first, second, third, fourth, fifth]), [1, 1, 2, 2, 2]);
    assert_eq!(writer.segments().count(), 2);
    writer.close().unwrap();

    disk.kill();
    let mut recovered = recover(disk, Path::new("/log"), options(2)).unwrap();
    recovered.set_rules_version(2);
    let (mut writer, report) = recovered.start().unwrap();
    assert_eq!(report.last_seq, fifth);
    let sixth = write(&mut writer);
    assert_eq!(versions(&writer, &[second, third, sixth]), [1, 2, 2]);
}
