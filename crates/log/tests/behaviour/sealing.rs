//! Guarantees of compression and encryption: records are read back, no plain text is on the disk,
//! and tampering, wrong keys and swapped groups are detected.

use rialto_disk::{Disk, SimDisk};
use rialto_log::{
    Cipher, Commit, Compression, Flaw, Group, KeyRing, OpenError, Options, Proof, ReadError,
    Reader, Sealing, Verify, WriteError, Writer, inspect, open, recover, verify,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const DIR: &str = "/log";
const BLOCK: usize = 4096;
const HEADER: usize = 136;
const AES: Sealing =
    Sealing { compression: Compression::None, encryption: Some(Cipher::Aes256Gcm) };

fn ring(text: &str) -> KeyRing {
    KeyRing::parse(text, "the test").unwrap()
}

fn key(id: u64, digit: &str) -> String {
    format!("{id}: {}\n", digit.repeat(64))
}

fn keys() -> KeyRing {
    ring(&key(1, "a"))
}

fn options(sealing: Sealing, keys: &KeyRing, salt: u8) -> Options {
    Options { segment_bytes: 256 << 10, sealing, keys: keys.clone(), ..Options::new([salt; 16]) }
}

fn start(disk: &SimDisk, sealing: Sealing, keys: &KeyRing, salt: u8) -> Result<Writer, OpenError> {
    disk.kill();
    open(Arc::new(disk.clone()), Path::new(DIR), options(sealing, keys, salt)).map(|(it, _)| it)
}

/// Compressible, and easily told when it is found where it should not be.
fn record(seq: u64) -> Vec<u8> {
    format!("client order {seq} ").repeat(20).into_bytes()
}

fn write_group(writer: &mut Writer, records: u64) -> Result<(), WriteError> {
    let mut group = Group::new(64 << 10);
    group.begin(writer.next_seq());
    for _ in 0..records {
        group.append(&record(group.next_seq())).unwrap();
    }
    writer.write(&mut group, Commit::Synced).map(|_| ())
}

fn read_all(segments: &rialto_log::Segments, from: u64) -> Result<u64, ReadError> {
    let mut reader = Reader::open(segments, from)?;
    let mut next = from;
    while let Some(group) = reader.next_group()? {
        for (seq, bytes) in group {
            assert_eq!((seq, bytes), (next, record(seq).as_slice()));
            next += 1;
        }
    }
    Ok(next - from)
}

fn files(disk: &SimDisk) -> Vec<(PathBuf, Vec<u8>)> {
    let names = disk.list(Path::new(DIR)).unwrap();
    let paths = names.iter().map(|name| Path::new(DIR).join(name));
    paths.map(|path| (path.clone(), disk.bytes_of(&path).unwrap())).collect()
}

fn holds(bytes: &[u8], sought: &[u8]) -> bool {
    bytes.windows(sought.len()).any(|part| part == sought)
}

/// Bytes that nothing compresses.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

fn sealings() -> impl Iterator<Item = Sealing> {
    let compressions = [
        Compression::None,
        Compression::Lz4,
        Compression::Zstd { level: 3 },
        Compression::Gzip { level: 6 },
    ];
    let ciphers = [None].into_iter().chain(Cipher::ALL.map(Some));
    ciphers.flat_map(move |encryption| {
        compressions.map(|compression| Sealing { compression, encryption })
    })
}

#[test]
fn every_combination_is_read_back_and_only_what_must_be_is_readable_on_the_disk() {
    for sealing in sealings() {
        let disk = SimDisk::new(1);
        let mut writer = start(&disk, sealing, &keys(), 1).unwrap();
        let mut tail = Reader::open(&writer.segments(), 1).unwrap();
        for records in [1, 40, 100, 3] {
            write_group(&mut writer, records).unwrap();
            tail.set_end(writer.position().seq);
            assert_eq!(tail.next_group().unwrap().unwrap().records().count() as u64, records);
        }
        let statistics = verify(&writer.segments()).unwrap();
        assert_eq!((statistics.records, statistics.groups), (144, 4), "{sealing:?}");
        let path = writer.segments().paths().pop().unwrap();
        let volume = writer.volume();
        assert_eq!(writer.segment_filled_bytes(), volume.stored_bytes + BLOCK as u64);
        writer.close().unwrap();

        let segments = inspect(Arc::new(disk.clone()), Path::new(DIR), Verify::Whole, &keys());
        let (segments, report) = segments.unwrap();
        assert_eq!((report.last_seq, &report.cut), (144, &None));
        for from in [1, 2, 41, 42, 141, 144] {
            assert_eq!(read_all(&segments, from).unwrap(), 145 - from, "{sealing:?} from {from}");
        }
        let bytes = disk.bytes_of(&path).unwrap();
        assert_eq!(volume.plain_bytes, 15 * BLOCK as u64, "{sealing:?}");
        assert!(volume.stored_bytes <= 16 * BLOCK as u64, "{sealing:?}: {volume:?}");
        if sealing.compression != Compression::None {
            assert_eq!(volume.stored_bytes, 4 * BLOCK as u64, "{sealing:?}");
        }
        if sealing.encryption.is_some() {
            for (path, bytes) in files(&disk) {
                assert!(!holds(&bytes, b"client order"), "{sealing:?} in {}", path.display());
            }
        }
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() / BLOCK;
        // A header, 45 KiB in four groups, and the confirmation; compressed, each takes one block.
        let expected = if sealing.compression == Compression::None { 16..=18 } else { 5..=6 };
        assert!(expected.contains(&used), "{sealing:?} used {used} blocks");
    }
}

#[test]
fn a_reader_in_the_middle_of_a_group_sees_the_same_records() {
    for sealing in sealings() {
        let disk = SimDisk::new(1);
        let mut writer = start(&disk, sealing, &keys(), 1).unwrap();
        write_group(&mut writer, 50).unwrap();
        let mut reader = Reader::open(&writer.segments(), 20).unwrap();
        // The end is in the group at first, so that it is brought back twice.
        for (end, count) in [(30, 11), (50, 20)] {
            reader.set_end(end);
            let group = reader.next_group().unwrap().unwrap();
            assert_eq!(group.records().count(), count);
            assert!(group.records().all(|(seq, bytes)| bytes == record(seq)), "{sealing:?}");
        }
    }
}

#[test]
fn a_group_that_does_not_shrink_by_a_block_is_stored_as_it_is() {
    let noise = noise(60_000);
    for sealing in sealings().filter(|it| it.encryption.is_none()) {
        let disk = SimDisk::new(1);
        let mut writer = start(&disk, sealing, &keys(), 1).unwrap();
        let mut group = Group::new(64 << 10);
        group.begin(1);
        group.append(&noise).unwrap();
        writer.write(&mut group, Commit::Synced).unwrap();
        write_group(&mut writer, 2).unwrap();
        let path = writer.segments().paths().pop().unwrap();
        let bytes = disk.bytes_of(&path).unwrap();
        assert!(holds(&bytes, &noise), "{sealing:?}");
        // One block cannot become less.
        assert!(holds(&bytes, &record(3)), "{sealing:?}");
    }
}

#[test]
fn the_greatest_group_has_room_for_its_tag() {
    let disk = SimDisk::new(1);
    let large = Options { segment_bytes: 4 << 20, ..options(AES, &keys(), 1) };
    let (mut writer, _) = open(Arc::new(disk.clone()), Path::new(DIR), large.clone()).unwrap();
    let mut group = Group::new(usize::MAX);
    for _ in 0..3 {
        group.begin(writer.next_seq());
        group.append(&vec![7; rialto_log::RECORD_BYTES_MAX]).unwrap();
        writer.write(&mut group, Commit::Synced).unwrap();
    }
    assert_eq!(verify(&writer.segments()).unwrap().records, 3);
    drop(writer);
    disk.kill();
    let reopened = Options { salt: [2; 16], verify: Verify::Whole, ..large.clone() };
    assert_eq!(open(Arc::new(disk), Path::new(DIR), reopened).unwrap().1.last_seq, 3);

    // A segment into which it fits only without one.
    let disk = Arc::new(SimDisk::new(1));
    let tight = Options { segment_bytes: (1 << 20) + BLOCK as u64, ..large };
    let (mut writer, _) = open(disk, Path::new(DIR), tight).unwrap();
    group.begin(1);
    group.append(&vec![7; rialto_log::RECORD_BYTES_MAX]).unwrap();
    let refused = writer.write(&mut group, Commit::Synced);
    assert!(matches!(refused, Err(WriteError::GroupTooLarge { .. })), "{refused:?}");
    write_group(&mut writer, 1).unwrap();
}

#[test]
fn a_key_that_is_missing_is_named_with_file_and_offset_and_nothing_is_cut() {
    let disk = SimDisk::new(1);
    let mut writer = start(&disk, AES, &ring(&key(17, "a")), 1).unwrap();
    write_group(&mut writer, 3).unwrap();
    let path = writer.segments().paths().pop().unwrap();
    drop(writer);
    let before = files(&disk);
    for keys in [KeyRing::empty(), ring(&key(1, "a"))] {
        let error = start(&disk, Sealing::NONE, &keys, 2).err().unwrap();
        match &error {
            OpenError::UnknownKey { file, offset, key } => {
                assert_eq!((file, *offset, *key), (&path, 4096, 17));
            }
            other => panic!("{other}"),
        }
        assert!(error.to_string().contains("key 17"), "{error}");
    }
    assert_eq!(files(&disk), before);
}

#[test]
fn a_wrong_key_is_an_error_and_never_the_tail() {
    let disk = SimDisk::new(1);
    let mut writer = start(&disk, AES, &keys(), 1).unwrap();
    // The last group is unconfirmed: a torn one would be cut.
    write_group(&mut writer, 3).unwrap();
    drop(writer);
    let before = files(&disk);
    match start(&disk, AES, &ring(&key(1, "b")), 2).err().unwrap() {
        OpenError::Corrupt { offset: 4096, flaw, proof: Proof::Whole, .. } => {
            assert_eq!(flaw, Flaw::Undecryptable { key: 1 });
        }
        other => panic!("{other}"),
    }
    assert_eq!(files(&disk), before);
    let mut writer = start(&disk, AES, &keys(), 3).unwrap();
    assert_eq!(writer.next_seq(), 4);
    write_group(&mut writer, 1).unwrap();
}

#[test]
fn encryption_without_a_key_is_refused_before_anything_is_made() {
    let disk = SimDisk::new(1);
    let refused = start(&disk, AES, &KeyRing::empty(), 1).err().unwrap();
    assert!(matches!(refused, OpenError::NoKey(Cipher::Aes256Gcm)), "{refused}");
    assert!(disk.list(Path::new(DIR)).is_err() || files(&disk).is_empty());
    let level = Sealing { compression: Compression::Zstd { level: 23 }, encryption: None };
    let refused = start(&disk, level, &keys(), 1).err().unwrap();
    assert!(matches!(refused, OpenError::CompressionLevel(_)), "{refused}");
}

/// A log of three encrypted groups and no confirmation, and its only segment.
fn three_groups(sealing: Sealing, salt: u8) -> (SimDisk, PathBuf) {
    let disk = SimDisk::new(1);
    let mut writer = start(&disk, sealing, &keys(), salt).unwrap();
    for _ in 0..3 {
        write_group(&mut writer, 8).unwrap();
    }
    let path = writer.segments().paths().pop().unwrap();
    (disk, path)
}

/// Makes the checksums of the group at `at` those of what it holds, as an attacker would.
fn forge_checksums(bytes: &mut [u8], at: usize) {
    let stored = u32::from_le_bytes(bytes[at + 76..at + 80].try_into().unwrap()) as usize;
    let body = crc32c::crc32c(&bytes[at + HEADER..at + HEADER + stored]);
    bytes[at + 8..at + 12].copy_from_slice(&body.to_le_bytes());
    let header = crc32c::crc32c(&bytes[at + 8..at + HEADER]);
    bytes[at + 4..at + 8].copy_from_slice(&header.to_le_bytes());
}

fn opening_flaw(disk: &SimDisk) -> Flaw {
    match start(disk, AES, &keys(), 99) {
        Err(OpenError::Corrupt { flaw, .. }) => flaw,
        Err(other) => panic!("{other}"),
        Ok(writer) => panic!("opened, and goes on at {}", writer.next_seq()),
    }
}

#[test]
fn a_changed_body_or_header_is_refused_even_with_forged_checksums() {
    for sealing in sealings().filter(|sealing| sealing.encryption.is_some()) {
        let (disk, path) = three_groups(sealing, 1);
        let whole = disk.bytes_of(&path).unwrap();
        let last = whole.iter().rposition(|byte| *byte != 0).unwrap() / BLOCK * BLOCK;
        // The last group: one that nothing vouches for. Caller's bytes, durable mark, the first and
        // the last byte of the body, and the tag.
        let stored = u32::from_le_bytes(whole[last + 76..last + 80].try_into().unwrap()) as usize;
        for byte in [64, 96, 135, HEADER, HEADER + stored - 17, HEADER + stored - 1] {
            let mut bytes = whole.clone();
            bytes[last + byte] ^= 1;
            forge_checksums(&mut bytes, last);
            disk.put_bytes(&path, bytes);
            assert_eq!(opening_flaw(&disk), Flaw::Undecryptable { key: 1 }, "{sealing:?} {byte}");
        }
        disk.put_bytes(&path, whole);
        assert_eq!(start(&disk, sealing, &keys(), 2).unwrap().next_seq(), 25);
    }
}

#[test]
fn a_group_of_a_clone_does_not_pass_for_the_group_of_that_number() {
    let (disk, path) = three_groups(AES, 1);
    let (clone, _) = three_groups(AES, 2);
    let (mut bytes, other) = (disk.bytes_of(&path).unwrap(), clone.bytes_of(&path).unwrap());
    let at = bytes.iter().rposition(|byte| *byte != 0).unwrap() / BLOCK * BLOCK;
    bytes[at + HEADER..at + BLOCK].copy_from_slice(&other[at + HEADER..at + BLOCK]);
    forge_checksums(&mut bytes, at);
    disk.put_bytes(&path, bytes);
    assert_eq!(opening_flaw(&disk), Flaw::Undecryptable { key: 1 });
}

#[test]
fn an_unencrypted_group_is_not_taken_into_an_encrypted_segment() {
    let (disk, path) = three_groups(AES, 1);
    let (open_disk, _) = three_groups(Sealing::NONE, 1);
    let (mut bytes, plain) = (disk.bytes_of(&path).unwrap(), open_disk.bytes_of(&path).unwrap());
    let at = bytes.iter().rposition(|byte| *byte != 0).unwrap() / BLOCK * BLOCK;
    let previous: [u8; 4] = bytes[at + 12..at + 16].try_into().unwrap();
    bytes[at..at + BLOCK].copy_from_slice(&plain[at..at + BLOCK]);
    bytes[at + 12..at + 16].copy_from_slice(&previous);
    forge_checksums(&mut bytes, at);
    disk.put_bytes(&path, bytes);
    assert_eq!(opening_flaw(&disk), Flaw::Encryption);
}

#[test]
fn every_turned_bit_of_a_sealed_group_is_noticed() {
    let sealing = Sealing { compression: Compression::Lz4, ..AES };
    let disk = SimDisk::new(1);
    let mut writer = start(&disk, sealing, &keys(), 1).unwrap();
    for _ in 0..2 {
        write_group(&mut writer, 40).unwrap();
    }
    let path = writer.segments().paths().pop().unwrap();
    drop(writer);
    disk.kill();
    let bytes = disk.bytes_of(&path).unwrap();
    let stored = u32::from_le_bytes(bytes[BLOCK + 76..BLOCK + 80].try_into().unwrap()) as usize;
    for bit in 0..(HEADER + stored) * 8 {
        disk.flip_bit(&path, (BLOCK + bit / 8) as u64, (bit % 8) as u8);
        let error = inspect(Arc::new(disk.clone()), Path::new(DIR), Verify::Newest, &keys());
        assert!(matches!(error, Err(OpenError::Corrupt { offset: 4096, .. })), "bit {bit}");
        disk.flip_bit(&path, (BLOCK + bit / 8) as u64, (bit % 8) as u8);
    }
}

/// Three groups of the same bytes, wherever they are written.
fn write_the_same(writer: &mut Writer) {
    let mut group = Group::new(BLOCK);
    for _ in 0..3 {
        group.begin(writer.next_seq());
        group.append(b"the same record in every group").unwrap();
        writer.write(&mut group, Commit::Written).unwrap();
    }
}

/// What the encrypted groups of the newest segment hold, without their tags, by epoch and number.
fn ciphertexts(disk: &SimDisk, writer: &Writer) -> Vec<((u64, u64), Vec<u8>)> {
    let bytes = disk.bytes_of(&writer.segments().paths().pop().unwrap()).unwrap();
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let groups = (BLOCK..bytes.len()).step_by(BLOCK).filter(|at| bytes[*at..].starts_with(b"RGRP"));
    groups
        .map(|at| {
            let plain = u32::from_le_bytes(bytes[at + 80..at + 84].try_into().unwrap()) as usize;
            let body = bytes[at + HEADER..at + HEADER + plain].to_vec();
            ((number(at + 32), number(at + 40)), body)
        })
        .collect()
}

/// All of them encrypt the same bytes, so that two that are equal would have been encrypted with the
/// same key and nonce.
fn assert_no_key_and_nonce_met_twice(ciphertexts: &[((u64, u64), Vec<u8>)]) {
    for (nth, (place, body)) in ciphertexts.iter().enumerate() {
        for (other_place, other) in &ciphertexts[..nth] {
            assert_ne!(body, other, "{place:?} and {other_place:?}");
        }
    }
}

#[test]
fn two_clones_of_a_directory_never_encrypt_alike() {
    for cipher in Cipher::ALL {
        let sealing = Sealing { encryption: Some(cipher), ..AES };
        let disk = SimDisk::new(1);
        let mut writer = start(&disk, sealing, &keys(), 1).unwrap();
        write_the_same(&mut writer);
        let mut all = ciphertexts(&disk, &writer);
        drop(writer);
        let clone = SimDisk::new(2);
        clone.create_dir_all(Path::new(DIR)).unwrap();
        for (path, bytes) in files(&disk) {
            clone.put_bytes(&path, bytes);
        }
        for (disk, salt) in [(&disk, 2), (&clone, 3)] {
            let mut writer = start(disk, sealing, &keys(), salt).unwrap();
            write_the_same(&mut writer);
            all.extend(ciphertexts(disk, &writer));
        }
        assert_eq!(all.iter().filter(|(place, _)| *place == (2, 1)).count(), 2);
        assert_eq!(all.len(), 9);
        assert_no_key_and_nonce_met_twice(&all);
    }
}

#[test]
fn rewritten_groups_after_a_lost_tail_have_new_nonces() {
    let mut all = Vec::new();
    let disk = SimDisk::new(1);
    for life in 1..=6 {
        let options = options(AES, &keys(), life);
        let mut recovered = recover(Arc::new(disk.clone()), Path::new(DIR), options).unwrap();
        // Every second life takes back what the one before wrote.
        if life % 2 == 0 {
            recovered.truncate_after(0).unwrap();
        }
        let (mut writer, _) = recovered.start().unwrap();
        write_the_same(&mut writer);
        all.extend(ciphertexts(&disk, &writer));
        drop(writer);
        // Unsynced groups may be gone, and their blocks are then written again by nobody.
        if life % 3 == 0 { disk.restart() } else { disk.kill() }
    }
    assert_eq!(all.len(), 18);
    assert_no_key_and_nonce_met_twice(&all);
}

#[test]
fn an_epoch_continues_counting_from_segment_to_segment() {
    let disk = SimDisk::new(1);
    let small = Options { segment_bytes: 4 * BLOCK as u64, ..options(AES, &keys(), 1) };
    let (mut writer, _) = open(Arc::new(disk.clone()), Path::new(DIR), small).unwrap();
    let mut all = Vec::new();
    for _ in 0..4 {
        // A header and three groups fill a segment.
        write_the_same(&mut writer);
        all.extend(ciphertexts(&disk, &writer));
    }
    assert_eq!((all.len(), writer.segments().count()), (12, 4));
    assert_no_key_and_nonce_met_twice(&all);
}

#[test]
fn groups_follow_a_rotation_while_a_reader_runs() {
    let disk = SimDisk::new(1);
    let ring_in_use = ring(&key(1, "a"));
    let mut writer = start(&disk, AES, &ring_in_use, 1).unwrap();
    let mut reader = Reader::open(&writer.segments(), 1).unwrap();
    let mut read = 0;
    for (keys, id) in [
        (key(1, "a"), 1),
        (key(1, "a") + &key(2, "b") + "current: 2\n", 2),
        (key(1, "a") + &key(2, "b") + &key(3, "c") + "current: 3\n", 3),
    ] {
        ring_in_use.swap(&ring(&keys));
        write_group(&mut writer, 2).unwrap();
        let path = writer.segments().paths().pop().unwrap();
        let bytes = disk.bytes_of(&path).unwrap();
        let at = bytes.iter().rposition(|byte| *byte != 0).unwrap() / BLOCK * BLOCK;
        assert_eq!(u64::from_le_bytes(bytes[at + 88..at + 96].try_into().unwrap()), id);
        reader.set_end(writer.position().seq);
        while let Some(group) = reader.next_group().unwrap() {
            read += group.records().count();
        }
    }
    assert_eq!(read, 6);
    // A key that was taken away too early is missed by name, and coming back it mends everything.
    let all = key(1, "a") + &key(2, "b") + &key(3, "c") + "current: 3\n";
    ring_in_use.swap(&ring(&(key(1, "a") + &key(3, "c") + "current: 3\n")));
    match verify(&writer.segments()) {
        Err(ReadError::UnknownKey { offset, key, .. }) => assert_eq!((offset, key), (8192, 2)),
        other => panic!("{other:?}"),
    }
    ring_in_use.swap(&ring(&all));
    assert_eq!(verify(&writer.segments()).unwrap().records, 6);
}

#[test]
fn without_a_current_key_the_append_fails_and_nothing_reaches_the_disk() {
    let disk = SimDisk::new(1);
    let ring_in_use = keys();
    let mut writer = start(&disk, AES, &ring_in_use, 1).unwrap();
    write_group(&mut writer, 2).unwrap();
    let before = files(&disk);
    ring_in_use.swap(&KeyRing::empty());
    assert!(matches!(write_group(&mut writer, 2), Err(WriteError::NoKey)));
    assert!(matches!(writer.confirm(), Err(WriteError::NoKey)));
    assert_eq!(files(&disk), before);
    ring_in_use.swap(&keys());
    write_group(&mut writer, 2).unwrap();
    assert_eq!(verify(&writer.segments()).unwrap().records, 4);
}

#[test]
fn each_opening_may_seal_otherwise() {
    let disk = SimDisk::new(1);
    for (nth, sealing) in sealings().enumerate() {
        let mut writer = start(&disk, sealing, &keys(), nth as u8 + 1).unwrap();
        write_group(&mut writer, 30).unwrap();
        if nth % 2 == 0 {
            writer.close().unwrap();
        }
    }
    let writer = start(&disk, Sealing::NONE, &keys(), 100).unwrap();
    assert_eq!(read_all(&writer.segments(), 1).unwrap(), 16 * 30);
}
