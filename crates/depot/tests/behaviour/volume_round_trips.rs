//! What is written to a volume is read back, whole and in ranges.

use crate::volume_stage::{
    MIB, ONE, content, id, options, path_of, read, simulated, volumes_in, write,
};
use rialto_depot::volume::{
    BlockCompression, BlockSealing, ScanCursor, VolumeError, VolumeOptions, Volumes,
};
use rialto_disk::{Faults, RealDisk};
use rialto_log::{Cipher, Compression, KeyRing};
use std::sync::Arc;

const SIZES: [usize; 7] = [0, 1, 5000, MIB - 1, MIB, MIB + 1, 5 * MIB];

fn keys() -> KeyRing {
    KeyRing::parse(&format!("3: {}", "a7".repeat(32)), "the test").unwrap()
}

fn all_sealings() -> Vec<BlockSealing> {
    let compressions =
        [BlockCompression::None, BlockCompression::Lz4, BlockCompression::Zstd { level: 3 }];
    let ciphers = [None, Some(Cipher::Aes256Gcm), Some(Cipher::ChaCha20Poly1305)];
    let both = compressions
        .into_iter()
        .flat_map(|compression| ciphers.map(|encryption| BlockSealing { compression, encryption }));
    both.collect()
}

fn sealed(sealing: BlockSealing) -> VolumeOptions {
    VolumeOptions { sealing, keys: keys(), ..options() }
}

fn every_size_comes_back(volumes: &Volumes, pieces: &[usize]) {
    let mut nth = 0;
    for bytes in SIZES {
        for piece in pieces {
            nth += 1;
            let content = content(bytes, nth);
            let finished = write(volumes, id(nth), &content, *piece).unwrap();
            finished.make_durable().unwrap();
            let stored = finished.stored().clone();
            assert_eq!(stored.bytes, bytes as u64);
            assert!(read(volumes, id(nth), &stored).unwrap() == content, "{bytes} in {piece}");
            let described = volumes.describe(id(nth), ONE).unwrap();
            assert_eq!(described.stored, stored);
            assert_eq!(described.description, b"a description");
        }
    }
}

#[test]
fn every_size_comes_back_from_a_real_disk() {
    let dir = tempfile::tempdir().unwrap();
    let volumes = volumes_in(Arc::new(RealDisk::new()), &dir.path().join("one"), options());
    every_size_comes_back(&volumes, &[4096, 100_003, 8 * MIB]);
}

#[test]
fn every_size_comes_back_from_a_simulated_disk_with_short_writes() {
    let (disk, volumes) = simulated(11, options());
    disk.set_faults(Faults { short_write_per_mille: 300, ..Faults::default() });
    every_size_comes_back(&volumes, &[100_003]);
}

#[test]
fn every_size_comes_back_where_direct_writes_are_refused() {
    let (disk, volumes) = simulated(12, options());
    disk.set_faults(Faults { direct_refused: true, ..Faults::default() });
    every_size_comes_back(&volumes, &[MIB]);
}

#[test]
fn every_size_comes_back_compressed_and_encrypted() {
    for sealing in all_sealings() {
        let (_, volumes) = simulated(13, sealed(sealing));
        every_size_comes_back(&volumes, &[MIB + 77]);
    }
}

#[test]
fn a_plain_file_begins_with_its_content() {
    let dir = tempfile::tempdir().unwrap();
    let volumes = volumes_in(Arc::new(RealDisk::new()), dir.path(), options());
    let content = content(2 * MIB + 5, 1);
    let finished = write(&volumes, id(1), &content, MIB).unwrap();
    let shard = format!("{:02x}", id(1).shard());
    let path = dir.path().join("files").join(shard).join(id(1).to_string());
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.starts_with(&content));
    assert_eq!(bytes.len() as u64, finished.stored().stored_bytes);
}

#[test]
fn content_that_compresses_takes_less_room_and_an_encrypted_file_shows_nothing() {
    let text = b"an order for ten lots; ".repeat(200_000);
    for sealing in all_sealings() {
        let (disk, volumes) = simulated(14, sealed(sealing));
        let finished = write(&volumes, id(1), &text, 70_000).unwrap();
        let stored = finished.stored();
        assert!(read(&volumes, id(1), stored).unwrap() == text);
        let compresses = sealing.compression != BlockCompression::None;
        assert_eq!(stored.stored_bytes < text.len() as u64 / 5, compresses, "{sealing:?}");
        let bytes = disk.bytes_of(&path_of(&disk, id(1))).unwrap();
        let shows = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        if sealing.encryption.is_some() {
            assert!(!shows(b"order for") && !shows(b"a description"), "{sealing:?}");
            assert!(!shows(&stored.sha256.unwrap()), "{sealing:?}");
        }
    }
}

#[test]
fn equal_files_and_equal_blocks_encrypt_to_different_bytes() {
    let sealing = BlockSealing { encryption: Some(Cipher::Aes256Gcm), ..BlockSealing::default() };
    let (disk, volumes) = simulated(15, sealed(sealing));
    let content = vec![7; 2 * MIB];
    let _first = write(&volumes, id(1), &content, MIB).unwrap();
    let _second = write(&volumes, id(2), &content, MIB).unwrap();
    let first = disk.bytes_of(&path_of(&disk, id(1))).unwrap();
    let second = disk.bytes_of(&path_of(&disk, id(2))).unwrap();
    let block = MIB + 16;
    assert!(first[..MIB] != first[block..][..MIB], "two blocks share a keystream");
    assert!(first[..MIB] != second[..MIB], "two files share a keystream");
}

#[test]
fn another_key_does_not_open_a_file_and_a_new_current_key_does_not_harm_old_files() {
    let sealing = BlockSealing { encryption: Some(Cipher::Aes256Gcm), ..BlockSealing::default() };
    let (disk, volumes) = simulated(16, sealed(sealing));
    let finished = write(&volumes, id(1), b"secret", 9).unwrap();
    let stored = finished.stored().clone();
    drop((finished, volumes));
    let with_keys = |text: &str| {
        let keys = KeyRing::parse(text, "the test").unwrap();
        volumes_in_again(&disk, VolumeOptions { keys, ..sealed(sealing) })
    };
    let other = with_keys(&format!("3: {}", "bb".repeat(32)));
    let refused = read(&other, id(1), &stored);
    assert!(matches!(refused, Err(VolumeError::Sealing { .. })), "{refused:?}");
    drop(other);
    let both = with_keys(&format!("3: {}\n4: {}\ncurrent: 4", "a7".repeat(32), "bb".repeat(32)));
    assert_eq!(read(&both, id(1), &stored).unwrap(), b"secret");
}

fn volumes_in_again(disk: &rialto_disk::SimDisk, options: VolumeOptions) -> Volumes {
    let identity = rialto_disk::Disk::list(disk, "/one".as_ref()).map(|_| ()).ok();
    assert!(identity.is_some(), "the volume was made before");
    let text = String::from_utf8(disk.bytes_of("/one/VOLUME".as_ref()).unwrap()).unwrap();
    let identity = text.lines().find_map(|line| line.strip_prefix("identity ")).unwrap();
    let spec = rialto_depot::volume::VolumeSpec {
        identity: Some(identity.parse().unwrap()),
        ..crate::volume_stage::spec("one", "/one".as_ref())
    };
    let volumes = Volumes::new(Arc::new(disk.clone()), options);
    volumes.mount(ONE, &spec).unwrap();
    volumes
}

#[test]
fn any_range_is_the_same_range_of_the_content() {
    for sealing in [
        BlockSealing::default(),
        BlockSealing {
            compression: BlockCompression::Lz4,
            encryption: Some(Cipher::ChaCha20Poly1305),
        },
    ] {
        let (_, volumes) = simulated(17, sealed(sealing));
        let content = content(3 * MIB + 100, 3);
        let finished = write(&volumes, id(1), &content, MIB).unwrap();
        let mut reader = volumes.open(id(1), finished.stored()).unwrap();
        let offsets = [0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB, 3 * MIB + 99, 3 * MIB + 100];
        for offset in offsets {
            for bytes in [0, 1, 100, MIB, MIB + 1, 4 * MIB] {
                let mut out = vec![0; bytes];
                let read = reader.read_at(offset as u64, &mut out).unwrap();
                let expected = &content[offset..content.len().min(offset + bytes)];
                assert!(out[..read] == *expected, "{bytes} bytes at {offset}");
            }
        }
        assert_eq!(reader.read_at(u64::MAX, &mut [0; 9]).unwrap(), 0);
    }
}

#[test]
fn a_range_reads_the_blocks_that_it_touches_alone() {
    let (disk, volumes) = simulated(18, options());
    let finished = write(&volumes, id(1), &content(3 * MIB, 1), MIB).unwrap();
    disk.flip_bit(&path_of(&disk, id(1)), 2 * MIB as u64 + 7, 1);
    let mut reader = volumes.open(id(1), finished.stored()).unwrap();
    assert_eq!(reader.read_at(0, &mut vec![0; 2 * MIB]).unwrap(), 2 * MIB);
    let refused = reader.read_at(2 * MIB as u64, &mut [0; 1]).unwrap_err().to_string();
    assert!(refused.starts_with("block 2 of /one/files/"), "{refused}");
}

#[test]
fn a_volume_is_scanned_in_pages_and_a_file_removed_or_moved_to_quarantine() {
    for shard_levels in 0..=2 {
        let (disk, volumes) = simulated(19, VolumeOptions { shard_levels, ..options() });
        for nth in 1..=50 {
            let _ = write(&volumes, id(nth), &content(nth as usize, nth), 9).unwrap();
        }
        disk.put_bytes("/one/files/not-an-id".as_ref(), vec![1]);
        assert!(volumes.remove(id(7), ONE).unwrap());
        assert!(!volumes.remove(id(7), ONE).unwrap());
        volumes.quarantine(id(8), ONE).unwrap();
        assert!(matches!(volumes.quarantine(id(8), ONE), Err(VolumeError::Missing { .. })));
        let quarantined = format!("/one/quarantine/{}", id(8));
        assert!(disk.bytes_of(quarantined.as_ref()).is_some());
        let mut cursor = ScanCursor::default();
        let mut found = Vec::new();
        loop {
            let page = volumes.scan(ONE, &mut cursor, 7).unwrap();
            assert!(page.len() <= 7);
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        let mut ids: Vec<_> = found.iter().map(|file| file.id).collect();
        ids.sort_unstable();
        let expected: Vec<_> = (1..=50).filter(|nth| ![7, 8].contains(nth)).map(id).collect();
        assert_eq!(ids, expected);
        assert!(found.iter().all(|file| file.stored_bytes > 128));
    }
}

#[test]
fn gzip_is_refused_because_blocks_have_no_such_form() {
    assert!(BlockCompression::try_from(Compression::Gzip { level: 6 }).is_err());
    let zstd = BlockCompression::Zstd { level: 3 };
    assert_eq!(BlockCompression::try_from(Compression::Zstd { level: 3 }), Ok(zstd));
}
