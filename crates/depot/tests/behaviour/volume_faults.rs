//! Crashes, failing disks and damaged files.

use crate::volume_stage::{
    MIB, ONE, TWO, Watched, content, id, options, path_of, read, simulated, spec, volumes_in, write,
};
use rialto_depot::volume::{
    BlockCompression, BlockSealing, StoredBytes, VolumeError, VolumeOptions, VolumeSpec,
    VolumeState, Volumes,
};
use rialto_disk::{Access, Disk, DiskError, Faults, Operation, SimDisk};
use rialto_log::{Cipher, KeyRing};
use std::path::Path;
use std::sync::Arc;

/// Mounts `one` again after a crash.
fn mounted_again(disk: &SimDisk, identity: rialto_depot::volume::VolumeIdentity) -> Volumes {
    let volumes = Volumes::new(Arc::new(disk.clone()), options());
    let spec = VolumeSpec { identity: Some(identity), ..spec("one", Path::new("/one")) };
    volumes.mount(ONE, &spec).unwrap();
    volumes
}

#[test]
fn what_was_made_durable_survives_a_crash_after_every_operation() {
    let sizes = [10, 5000, MIB, 2 * MIB + 9];
    let mut crashes = 0;
    for seed in 0..8 {
        for operations in 0.. {
            let (write_behind, grouped_sync) = (seed % 2 == 0, seed % 4 < 2);
            let (disk, volumes) =
                simulated(seed, VolumeOptions { write_behind, grouped_sync, ..options() });
            let identity = volumes.list()[0].identity;
            disk.crash_after(operations);
            let mut durable: Vec<(u64, StoredBytes)> = Vec::new();
            for (nth, bytes) in (1..).zip(sizes) {
                let Ok(finished) = write(&volumes, id(nth), &content(bytes, nth), MIB) else {
                    break;
                };
                if finished.make_durable().is_err() {
                    break;
                }
                durable.push((nth, finished.stored().clone()));
            }
            let is_down = disk.is_down();
            drop(volumes);
            disk.restart();
            let volumes = mounted_again(&disk, identity);
            for (nth, stored) in &durable {
                let back = read(&volumes, id(*nth), stored);
                let expected = content(stored.bytes as usize, *nth);
                assert!(
                    back.as_ref().is_ok_and(|back| *back == expected),
                    "seed {seed}, crash after {operations} operations: {:?}",
                    back.err()
                );
            }
            crashes += u64::from(is_down);
            if !is_down {
                assert_eq!(durable.len(), sizes.len());
                break;
            }
        }
    }
    assert!(crashes > 100, "{crashes}");
}

#[test]
fn a_shard_of_an_earlier_process_is_durable_with_the_first_file_of_the_next() {
    for seed in 0..40 {
        let options = || VolumeOptions { grouped_sync: false, ..options() };
        let (disk, volumes) = simulated(seed, options());
        let identity = volumes.list()[0].identity;
        write(&volumes, id(1), &content(10, 1), 10).unwrap();
        drop(volumes);
        disk.kill();
        let volumes = Volumes::new(Arc::new(disk.clone()), options());
        let spec = VolumeSpec { identity: Some(identity), ..spec("one", Path::new("/one")) };
        volumes.mount(ONE, &spec).unwrap();
        // The low half of an id has no part in the choice of the shard.
        let second = rialto_depot::FileId(id(1).0 + 1);
        let finished = write(&volumes, second, &content(10, 2), 10).unwrap();
        finished.make_durable().unwrap();
        drop(volumes);
        disk.restart();
        let back = read(&mounted_again(&disk, identity), second, finished.stored());
        assert_eq!(back.unwrap(), content(10, 2), "seed {seed}");
    }
}

#[test]
fn a_first_mount_survives_a_crash_after_every_operation() {
    for seed in 0..8 {
        for operations in 0.. {
            let disk = SimDisk::new(seed);
            disk.create_dir_all(Path::new("/one")).unwrap();
            disk.crash_after(operations);
            let volumes = Volumes::new(Arc::new(disk.clone()), options());
            let before = volumes.mount(ONE, &spec("one", Path::new("/one"))).ok();
            drop(volumes);
            if !disk.is_down() {
                assert!(before.is_some());
                break;
            }
            disk.restart();
            let volumes = Volumes::new(Arc::new(disk.clone()), options());
            let after = volumes.mount(ONE, &spec("one", Path::new("/one"))).unwrap();
            assert!(before.is_none_or(|before| before == after), "seed {seed}, {operations}");
        }
    }
}

#[test]
fn every_flipped_bit_of_a_stored_file_is_noticed() {
    let keys = KeyRing::parse(&format!("3: {}", "a7".repeat(32)), "the test").unwrap();
    let encryption = Some(Cipher::Aes128Gcm);
    for sealing in [
        BlockSealing::default(),
        BlockSealing { compression: BlockCompression::Lz4, encryption: None },
        BlockSealing { compression: BlockCompression::Zstd { level: 1 }, encryption },
    ] {
        let (disk, volumes) =
            simulated(1, VolumeOptions { sealing, keys: keys.clone(), ..options() });
        let finished = write(&volumes, id(1), &b"order ".repeat(20), 9).unwrap();
        let path = path_of(&disk, id(1));
        for bit in 0..finished.stored().stored_bytes * 8 {
            disk.flip_bit(&path, bit / 8, (bit % 8) as u8);
            let noticed = read(&volumes, id(1), finished.stored());
            assert!(noticed.is_err(), "bit {bit} of {sealing:?}");
            disk.flip_bit(&path, bit / 8, (bit % 8) as u8);
        }
        read(&volumes, id(1), finished.stored()).unwrap();
    }
}

#[test]
fn a_file_in_the_place_of_another_or_cut_or_gone_is_noticed() {
    let (disk, volumes) = simulated(2, options());
    let first = write(&volumes, id(1), &content(900, 1), 900).unwrap();
    let second = write(&volumes, id(2), &content(900, 2), 900).unwrap();
    let (one, two) = (path_of(&disk, id(1)), path_of(&disk, id(2)));
    let bytes = disk.bytes_of(&one).unwrap();
    disk.put_bytes(&two, bytes.clone());
    let replaced = read(&volumes, id(2), second.stored()).unwrap_err();
    assert!(matches!(replaced, VolumeError::Damaged { .. }), "{replaced}");
    assert!(volumes.describe(id(2), ONE).unwrap_err().is_damage());
    for cut in [0, 1, 127, 128, bytes.len() - 1] {
        disk.put_bytes(&one, bytes[..cut].to_vec());
        let refused = read(&volumes, id(1), first.stored()).unwrap_err();
        assert!(refused.is_damage(), "{cut}: {refused}");
        assert!(volumes.describe(id(1), ONE).unwrap_err().is_damage());
    }
    disk.remove(&one).unwrap();
    let missing = read(&volumes, id(1), first.stored()).unwrap_err();
    assert!(matches!(missing, VolumeError::Missing { .. }), "{missing}");
}

#[test]
fn a_sync_that_fails_refuses_the_file_and_fails_the_volume_until_a_probe() {
    let (disk, volumes) = simulated(3, VolumeOptions { grouped_sync: false, ..options() });
    let finished = write(&volumes, id(1), &content(100, 1), 100).unwrap();
    disk.fail_sync(1);
    let refused = finished.make_durable().unwrap_err();
    assert!(refused.to_string().contains("cannot sync /one/files/"), "{refused}");
    finished.discard();
    assert_eq!(volumes.list()[0].state, VolumeState::Failed);
    assert!(matches!(volumes.begin(id(2), None, &[]), Err(VolumeError::NoVolume { .. })));
    assert_eq!(volumes.probe(), [ONE]);
    assert_eq!(volumes.list()[0].state, VolumeState::Up);
    volumes.begin(id(2), None, &[]).unwrap();
    assert!(!disk.paths().iter().any(|path| path.ends_with("probe")));
}

#[test]
fn a_sync_that_lies_costs_the_file_and_never_shows_wrong_bytes() {
    let mut lost = 0;
    for seed in 0..60 {
        let (disk, volumes) = simulated(seed, options());
        let identity = volumes.list()[0].identity;
        let stored = {
            let finished = write(&volumes, id(1), &content(9000, 1), 9000).unwrap();
            disk.lie_at_sync(1);
            finished.make_durable().unwrap();
            finished.stored().clone()
        };
        drop(volumes);
        disk.crash();
        match read(&mounted_again(&disk, identity), id(1), &stored) {
            Ok(back) => assert!(back == content(9000, 1), "seed {seed}"),
            Err(error) => {
                assert!(error.is_damage(), "seed {seed}: {error}");
                lost += 1;
            }
        }
    }
    assert!(lost > 0);
}

#[test]
fn a_volume_without_space_or_in_error_moves_files_to_another() {
    for kind in [std::io::ErrorKind::StorageFull, std::io::ErrorKind::ReadOnlyFilesystem] {
        let disk = Watched::new(4, move |path, _| {
            let broken = path.starts_with("/one/files");
            let error = || DiskError::io(Operation::Create, path, std::io::Error::from(kind));
            if broken { Err(error()) } else { Ok(()) }
        });
        let volumes = volumes_in(Arc::new(disk), Path::new("/one"), options());
        volumes.mount(TWO, &spec("two", Path::new("/two"))).unwrap();
        for nth in 1..=20 {
            let content = content(2 * MIB, nth);
            let finished = write(&volumes, id(nth), &content, 300_000).unwrap();
            assert_eq!(finished.stored().volume, TWO);
            assert!(read(&volumes, id(nth), finished.stored()).unwrap() == content);
        }
        let expected = match kind {
            std::io::ErrorKind::StorageFull => VolumeState::Up,
            _ => VolumeState::Failed,
        };
        assert_eq!(volumes.list()[0].state, expected);
        assert!(volumes.list()[0].last_error.is_some());
    }
}

#[test]
fn a_full_disk_in_the_middle_of_a_file_is_refused_and_leaves_nothing() {
    let (disk, volumes) = simulated(5, options());
    let capacity_bytes = Some(3 * MIB as u64);
    disk.set_faults(Faults { capacity_bytes, ..Faults::default() });
    let refused = write(&volumes, id(1), &content(5 * MIB, 1), MIB).unwrap_err();
    assert!(refused.is_out_of_space(), "{refused}");
    assert!(!disk.paths().iter().any(|path| path.starts_with("/one/files")));
    assert_eq!(volumes.list()[0].state, VolumeState::Up);
    let hinted = volumes.begin(id(1), Some(5 << 20), &[]);
    assert!(matches!(hinted, Err(VolumeError::NoRoom { .. })), "{hinted:?}");
    write(&volumes, id(2), &content(MIB, 1), MIB).unwrap().make_durable().unwrap();
}

#[test]
fn a_writer_that_is_dropped_or_failed_leaves_nothing() {
    let (disk, volumes) = simulated(6, options());
    let mut writer = volumes.begin(id(1), None, &[]).unwrap();
    writer.write(&content(3 * MIB, 1)).unwrap();
    assert!(disk.paths().iter().any(|path| path.starts_with("/one/files")));
    drop(writer);
    assert!(!disk.paths().iter().any(|path| path.starts_with("/one/files")));
    let mut writer = volumes.begin(id(2), None, &[]).unwrap();
    disk.fail_write(2);
    assert!(writer.write(&content(6 * MIB, 1)).is_err());
    assert!(matches!(writer.write(b"more"), Err(VolumeError::WriterFailed { .. })));
    assert!(matches!(writer.finish(b""), Err(VolumeError::WriterFailed { .. })));
    volumes.probe();
    // The failed write may still be waiting for its thread when the content ends.
    disk.fail_write(2);
    assert!(write(&volumes, id(3), &content(3 * MIB, 1), MIB).is_err());
    assert!(!disk.paths().iter().any(|path| path.starts_with("/one/files")));
    assert_eq!(volumes.list()[0].unsynced_bytes, 0);
}

#[test]
fn a_volume_whose_file_system_is_gone_takes_no_files_and_gets_no_directories() {
    let (disk, volumes) = simulated(7, options());
    let finished = write(&volumes, id(1), b"x", 1).unwrap();
    let identity = volumes.list()[0].identity;
    for path in disk.paths() {
        disk.remove(&path).unwrap();
    }
    let gone = read(&volumes, id(1), finished.stored()).unwrap_err();
    assert!(matches!(gone, VolumeError::Gone { .. }), "{gone}");
    assert!(matches!(volumes.remove(id(1), ONE), Err(VolumeError::Gone { .. })));
    let unwritten = write(&volumes, id(2), b"x", 1).unwrap_err();
    assert!(matches!(unwritten, VolumeError::Gone { .. }), "{unwritten}");
    assert_eq!(disk.paths(), Vec::<std::path::PathBuf>::new());
    assert_eq!(volumes.list()[0].state, VolumeState::Failed);
    assert!(volumes.probe().is_empty());
    assert_eq!(volumes.list()[0].state, VolumeState::Failed);
    drop(finished);
    volumes.unmount(ONE).unwrap();
    let spec = VolumeSpec { identity: Some(identity), ..spec("one", Path::new("/one")) };
    assert!(matches!(volumes.mount(ONE, &spec), Err(VolumeError::Gone { .. })));
}

#[test]
fn a_directory_is_one_volume_of_one_pool() {
    let (disk, volumes) = simulated(8, options());
    let _ = write(&volumes, id(1), b"x", 1).unwrap();
    let shared: Arc<dyn Disk> = Arc::new(disk);
    let other = Volumes::new(Arc::clone(&shared), options());
    let held = other.mount(ONE, &spec("one", Path::new("/one"))).unwrap_err();
    assert!(held.to_string().contains("in use"), "{held}");
    let twice = volumes.mount(TWO, &spec("one", Path::new("/two"))).unwrap_err();
    assert!(matches!(twice, VolumeError::AlreadyMounted { .. }), "{twice}");
    let identity = volumes.list()[0].identity;
    volumes.unmount(ONE).unwrap();
    assert!(matches!(volumes.unmount(ONE), Err(VolumeError::NotMounted { .. })));
    let foreign = other.mount(ONE, &spec("one", Path::new("/one"))).unwrap_err();
    assert!(foreign.to_string().contains(&identity.to_string()), "{foreign}");
    let taken = VolumeSpec { identity: Some(identity), ..spec("one", Path::new("/one")) };
    assert_eq!(other.mount(ONE, &taken).unwrap(), identity);
    for name in ["", ".", "..", "a/b", "A", &"a".repeat(65), "a\0"] {
        let refused = other.mount(TWO, &spec(name, Path::new("/two")));
        assert!(matches!(refused, Err(VolumeError::InvalidSpec { .. })), "{name:?}: {refused:?}");
    }
}

#[test]
fn a_draining_volume_serves_its_files_and_takes_no_new_ones() {
    let (_, volumes) = simulated(9, options());
    let finished = write(&volumes, id(1), b"x", 1).unwrap();
    volumes.set_draining(ONE, true).unwrap();
    assert!(matches!(volumes.begin(id(2), None, &[]), Err(VolumeError::NoVolume { .. })));
    assert_eq!(read(&volumes, id(1), finished.stored()).unwrap(), b"x");
    assert!(matches!(volumes.unmount(ONE), Err(VolumeError::Busy { .. })));
    drop(finished);
    volumes.unmount(ONE).unwrap();
}

#[test]
fn a_writer_beyond_the_limit_of_unsynced_bytes_makes_durable_what_it_wrote() {
    let limited = VolumeOptions { volume_unsynced_bytes_max: 2 << 20, ..options() };
    let (_, volumes) = simulated(10, limited);
    let first = write(&volumes, id(1), &content(MIB, 1), MIB).unwrap();
    assert_eq!(volumes.list()[0].unsynced_bytes, first.stored().stored_bytes);
    let second = write(&volumes, id(2), &content(4 * MIB, 2), MIB).unwrap();
    assert!(volumes.list()[0].unsynced_bytes <= 2 << 20);
    first.make_durable().unwrap();
    second.make_durable().unwrap();
    assert_eq!(volumes.list()[0].unsynced_bytes, 0);
}

#[test]
fn files_are_placed_in_proportion_to_weight() {
    let disk = Watched::new(4, |_, _| Ok(()));
    let volumes = volumes_in(Arc::new(disk), Path::new("/one"), options());
    let heavy = VolumeSpec { weight: 3, ..spec("two", Path::new("/two")) };
    volumes.mount(TWO, &heavy).unwrap();
    let on_two = (0..4000)
        .filter(|nth| volumes.begin(id(nth * 977), None, &[]).unwrap().volume() == TWO)
        .count();
    assert!((2800..3200).contains(&on_two), "{on_two}");
    let without = volumes.begin(id(1), None, &[TWO]).unwrap().volume();
    assert_eq!(without, ONE);
}

#[test]
fn large_files_are_written_past_the_page_cache_and_small_ones_through_it() {
    for (bytes, expected) in [(4096, Access::Buffered), (3 * MIB, Access::Direct)] {
        let (sender, accesses) = std::sync::mpsc::channel();
        let disk = Watched::new(1, move |path, access| {
            if path.starts_with("/one/files") {
                sender.send(access).unwrap();
            }
            Ok(())
        });
        let volumes = volumes_in(Arc::new(disk), Path::new("/one"), options());
        let _ = write(&volumes, id(1), &content(bytes, 1), 70_000).unwrap();
        drop(volumes);
        assert_eq!(accesses.iter().collect::<Vec<_>>(), [expected]);
    }
}

#[test]
fn volumes_of_one_file_system_count_its_space_once() {
    let disk = Watched::new(1, |_, _| Ok(()));
    let volumes = volumes_in(Arc::new(disk), Path::new("/one"), options());
    let one = volumes.totals();
    assert!(one.file_systems == 1 && one.free_bytes > 0 && one.total_bytes >= one.free_bytes);
    volumes.mount(TWO, &spec("two", Path::new("/two"))).unwrap();
    assert_eq!(volumes.totals(), one);
}

#[test]
fn a_grouped_sync_that_fails_refuses_the_damaged_file_only() {
    for seed in 0..20 {
        let (disk, volumes) = simulated(seed, options());
        let identity = volumes.list()[0].identity;
        let all: Vec<_> = (1..=6)
            .map(|nth| write(&volumes, id(nth), &content(5000, nth), 5000).unwrap())
            .collect();
        disk.fail_sync(1);
        let durable: Vec<_> = all
            .iter()
            .zip(1..)
            .filter(|(finished, _)| finished.make_durable().is_ok())
            .map(|(finished, nth)| (nth, finished.stored().clone()))
            .collect();
        assert_eq!(durable.len(), 5, "seed {seed}");
        drop((all, volumes));
        disk.crash();
        let volumes = mounted_again(&disk, identity);
        for (nth, stored) in durable {
            assert!(read(&volumes, id(nth), &stored).unwrap() == content(5000, nth));
        }
    }
}
