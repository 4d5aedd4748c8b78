//! Listings, metadata, space and the removal of directories, on both disks.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_disk::{Access, DirEntry, Disk, DiskError, EntryKind, Faults, RealDisk, SimDisk};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

fn on_both(check: impl Fn(&dyn Disk, &Path)) {
    let dir = tempfile::tempdir().unwrap();
    check(&RealDisk::new(), dir.path());
    let disk = SimDisk::new(1);
    disk.create_dir_all(Path::new("/data")).unwrap();
    check(&disk, Path::new("/data"));
}

fn kind(error: &DiskError) -> io::ErrorKind {
    match error {
        DiskError::Io { source, .. } => source.kind(),
        other => panic!("{other}"),
    }
}

fn touch(disk: &dyn Disk, path: &Path) {
    disk.create(path, Access::Buffered).unwrap();
}

fn all(disk: &dyn Disk, dir: &Path) -> Result<Vec<DirEntry>, DiskError> {
    let mut entries = Vec::new();
    disk.list_each(dir, &mut |entry| {
        entries.push(entry);
        ControlFlow::Continue(())
    })?;
    Ok(entries)
}

#[test]
fn a_listing_shows_each_entry_once_with_its_kind() {
    on_both(|disk, dir| {
        assert_eq!(all(disk, dir).unwrap(), []);
        disk.create_dir_all(&dir.join("b/inside")).unwrap();
        touch(disk, &dir.join("c"));
        touch(disk, &dir.join("a"));
        touch(disk, &dir.join("b/hidden"));
        let mut entries = all(disk, dir).unwrap();
        entries.sort();
        let entry = |name: &str, kind| DirEntry { name: name.into(), kind };
        let expected =
            [entry("a", EntryKind::File), entry("b", EntryKind::Dir), entry("c", EntryKind::File)];
        assert_eq!(entries, expected);
    });
}

#[test]
fn a_listing_ends_where_the_visitor_breaks() {
    on_both(|disk, dir| {
        (0..10).for_each(|nth| touch(disk, &dir.join(nth.to_string())));
        let mut shown = 0;
        let mut visit = |_| {
            shown += 1;
            if shown == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        disk.list_each(dir, &mut visit).unwrap();
        assert_eq!(shown, 3);
    });
}

#[test]
fn the_visitor_may_remove_what_it_is_shown() {
    on_both(|disk, dir| {
        (0..2000).for_each(|nth| touch(disk, &dir.join(format!("file-{nth}"))));
        let mut removed = 0;
        disk.list_each(dir, &mut |entry| {
            disk.remove(&dir.join(entry.name)).unwrap();
            removed += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!((removed, all(disk, dir).unwrap().len()), (2000, 0));
    });
}

#[test]
fn pages_show_every_name_once_and_in_order() {
    on_both(|disk, dir| {
        let mut names: Vec<OsString> = (0..100).map(|nth| nth.to_string().into()).collect();
        names.iter().for_each(|name| touch(disk, &dir.join(name)));
        names.sort();
        for page in [1, 7, 100, 1000] {
            let mut listed: Vec<OsString> = Vec::new();
            loop {
                let after = listed.last().map(OsString::as_os_str);
                let entries = disk.list_page(dir, after, page).unwrap();
                assert!(entries.len() <= page);
                let is_last = entries.len() < page;
                listed.extend(entries.into_iter().map(|entry| entry.name));
                if is_last {
                    break;
                }
            }
            assert_eq!(listed, names, "pages of {page}");
        }
        assert_eq!(disk.list_page(dir, None, 0).unwrap(), []);
        let after = Some(OsStr::new("98x"));
        assert_eq!(disk.list_page(dir, after, 9).unwrap()[0].name, "99");
    });
}

#[test]
fn a_name_that_is_not_utf_8_is_listed_as_it_is() {
    on_both(|disk, dir| {
        let name = OsString::from_vec(vec![b'a', 0xff, b'b']);
        touch(disk, &dir.join(&name));
        let listed = all(disk, dir).unwrap().remove(0).name;
        assert_eq!(listed, name);
        disk.open(&dir.join(listed), Access::Read).unwrap();
    });
}

#[test]
fn a_link_is_listed_as_neither_file_nor_directory_and_its_metadata_are_of_what_it_leads_to() {
    let dir = tempfile::tempdir().unwrap();
    let disk = RealDisk::new();
    disk.create_dir_all(&dir.path().join("pool/real")).unwrap();
    let link = dir.path().join("pool/link");
    std::os::unix::fs::symlink(dir.path(), &link).unwrap();
    let mut entries = all(&disk, &dir.path().join("pool")).unwrap();
    entries.sort();
    assert_eq!([entries[0].kind, entries[1].kind], [EntryKind::Other, EntryKind::Dir]);
    assert!(disk.metadata(&link).unwrap().is_dir());
}

#[test]
fn what_is_missing_and_what_is_a_file_cannot_be_listed() {
    on_both(|disk, dir| {
        touch(disk, &dir.join("a"));
        let missing = dir.join("b");
        assert_eq!(kind(&all(disk, &missing).unwrap_err()), io::ErrorKind::NotFound);
        assert_eq!(kind(&disk.list_page(&missing, None, 9).unwrap_err()), io::ErrorKind::NotFound);
        let error = all(disk, &dir.join("a")).unwrap_err();
        assert_eq!(kind(&error), io::ErrorKind::NotADirectory);
    });
}

#[test]
fn metadata_tell_length_kind_and_device() {
    on_both(|disk, dir| {
        let file = disk.create(&dir.join("a"), Access::Buffered).unwrap();
        file.write_all_at(0, &[1; 1234]).unwrap();
        let (of_file, of_dir) =
            (disk.metadata(&dir.join("a")).unwrap(), disk.metadata(dir).unwrap());
        assert_eq!((of_file.len_bytes, of_file.kind), (1234, EntryKind::File));
        assert!(of_dir.is_dir() && !of_file.is_dir());
        assert_eq!(of_dir.device, of_file.device);
        let missing = disk.metadata(&dir.join("b")).unwrap_err();
        assert!(missing.is_not_found());
        assert!(missing.to_string().starts_with("cannot ask the metadata of "), "{missing}");
    });
}

#[test]
fn the_modified_time_is_that_of_the_last_write_in_nanoseconds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let time = std::time::UNIX_EPOCH + std::time::Duration::new(1_700_000_000, 123_456_789);
    std::fs::File::create(&path).unwrap().set_modified(time).unwrap();
    let modified_ns = RealDisk::new().metadata(&path).unwrap().modified_ns;
    // Some file systems keep less than nanoseconds.
    assert_eq!(modified_ns / 1000, 1_700_000_000_123_456);

    let disk = SimDisk::new(1);
    disk.create_dir_all(Path::new("/data")).unwrap();
    let modified = |path: &str| disk.metadata(Path::new(path)).unwrap().modified_ns;
    disk.set_time_ns(1000);
    let file = disk.create(Path::new("/data/a"), Access::Buffered).unwrap();
    file.write_all_at(0, b"x").unwrap();
    file.write_all_at(0, b"y").unwrap();
    assert_eq!((modified("/data/a"), modified("/data")), (1003, 1001));
    disk.set_time_ns(2000);
    disk.remove(Path::new("/data/a")).unwrap();
    assert_eq!(modified("/data"), 2001);
}

#[test]
fn the_total_space_is_at_least_the_free_one() {
    on_both(|disk, dir| {
        assert!(disk.total_bytes(dir).unwrap() >= disk.free_bytes(dir).unwrap());
    });
    let disk = SimDisk::new(1);
    disk.set_faults(Faults { capacity_bytes: Some(4096), ..Faults::default() });
    assert_eq!(disk.total_bytes(Path::new("/")).unwrap(), 4096);
    let missing = RealDisk::new().total_bytes(Path::new("/no such directory")).unwrap_err();
    assert!(missing.is_not_found(), "{missing}");
}

#[test]
fn only_an_empty_directory_can_be_removed() {
    on_both(|disk, dir| {
        let full = dir.join("full");
        disk.create_dir_all(&full.join("empty")).unwrap();
        touch(disk, &dir.join("file"));
        let refused = |path: &Path| kind(&disk.remove_dir(path).unwrap_err());
        assert_eq!(refused(&full), io::ErrorKind::DirectoryNotEmpty);
        assert_eq!(refused(&dir.join("file")), io::ErrorKind::NotADirectory);
        assert_eq!(refused(&dir.join("missing")), io::ErrorKind::NotFound);
        assert_eq!(refused(&dir.join("missing/below")), io::ErrorKind::NotFound);
        assert_eq!(refused(Path::new("/")), io::ErrorKind::ResourceBusy);
        disk.remove_dir(&full.join("empty")).unwrap();
        let lock = disk.lock(&full).unwrap();
        assert_eq!(refused(&full), io::ErrorKind::DirectoryNotEmpty);
        drop(lock);
        let _ = disk.remove(&full.join("LOCK"));
        disk.remove_dir(&full).unwrap();
        assert_eq!(disk.list_dirs(dir).unwrap(), [""; 0]);
        assert_eq!(refused(&full), io::ErrorKind::NotFound);
    });
}

#[test]
fn a_created_directory_may_be_lost_with_its_files_unless_the_one_above_was_synced() {
    let (data, dir) = (Path::new("/data"), Path::new("/data/a"));
    let survives = |seed: u64, sync: &dyn Fn(&SimDisk)| {
        let disk = SimDisk::new(seed);
        disk.create_dir_all(data).unwrap();
        disk.create_dir(dir).unwrap();
        disk.create_dir(dir).unwrap();
        let file = disk.create(&dir.join("file"), Access::Buffered).unwrap();
        file.sync_data().unwrap();
        disk.sync_dir(dir).unwrap();
        sync(&disk);
        disk.crash();
        let is_there = disk.bytes_of(&dir.join("file")).is_some();
        assert_eq!(disk.list_dirs(data).unwrap().len(), usize::from(is_there), "seed {seed}");
        is_there
    };
    assert!((0..40).any(|seed| !survives(seed, &|_| {})));
    assert!((0..40).all(|seed| survives(seed, &|disk| disk.sync_dir(data).unwrap())));
    assert!(
        (0..40).all(|seed| {
            survives(seed, &|disk| disk.grouped_sync(data).unwrap().sync().unwrap())
        })
    );
}

#[test]
fn a_directory_is_created_in_one_that_exists_only() {
    let home = tempfile::tempdir().unwrap();
    let sim = SimDisk::new(1);
    let disks: [(&dyn Disk, &Path); 2] = [(&RealDisk, home.path()), (&sim, Path::new("/"))];
    for (disk, root) in disks {
        assert!(disk.create_dir(&root.join("a/b")).unwrap_err().is_not_found());
        for name in ["a", "a", "a/b"] {
            disk.create_dir(&root.join(name)).unwrap();
        }
        assert_eq!(disk.list_dirs(&root.join("a")).unwrap(), ["b"]);
    }
}

#[test]
fn a_removed_directory_may_come_back_unless_the_one_above_was_synced() {
    let [mut gone, mut back] = [0, 0];
    for seed in 0..100 {
        for is_synced in [false, true] {
            let disk = SimDisk::new(seed);
            disk.create_dir_all(Path::new("/data/a")).unwrap();
            disk.remove_dir(Path::new("/data/a")).unwrap();
            if is_synced {
                disk.sync_dir(Path::new("/data")).unwrap();
            }
            disk.crash();
            match disk.list_dirs(Path::new("/data")).unwrap().len() {
                0 => gone += u32::from(!is_synced),
                _ if is_synced => panic!("seed {seed}: a synced removal was lost"),
                _ => back += 1,
            }
        }
    }
    assert!(gone > 10 && back > 10, "{gone} gone, {back} back");
}

#[test]
fn a_listing_that_fails_has_shown_a_part() {
    let mut parts = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        (0..3).for_each(|nth| touch(&disk, &Path::new("/").join(nth.to_string())));
        disk.fail_list(2);
        assert_eq!(all(&disk, Path::new("/")).unwrap().len(), 3);
        let mut shown = 0;
        let listed = disk.list_each(Path::new("/"), &mut |_| {
            shown += 1;
            ControlFlow::Continue(())
        });
        assert!(listed.is_err(), "seed {seed}");
        parts.insert(shown);
        assert_eq!(all(&disk, Path::new("/")).unwrap().len(), 3);
    }
    assert_eq!(parts.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn metadata_fail_on_command_and_everything_fails_while_the_machine_is_down() {
    let disk = SimDisk::new(1);
    let (root, path) = (Path::new("/"), Path::new("/a"));
    touch(&disk, path);
    disk.fail_metadata(1);
    assert!(disk.metadata(path).is_err());
    disk.metadata(path).unwrap();
    disk.crash_after(0);
    assert!(disk.remove(path).unwrap_err().is_crash());
    assert!(disk.metadata(path).unwrap_err().is_crash());
    assert!(all(&disk, root).unwrap_err().is_crash());
    assert!(disk.list_page(root, None, 1).unwrap_err().is_crash());
    assert!(disk.total_bytes(root).unwrap_err().is_crash());
    assert!(disk.remove_dir(path).unwrap_err().is_crash());
    assert!(disk.grouped_sync(root).err().unwrap().is_crash());
}

#[test]
fn the_order_of_a_listing_is_its_own_and_stays() {
    let disk = SimDisk::new(5);
    (0..50).for_each(|nth| touch(&disk, &Path::new("/").join(format!("{nth:02}"))));
    let entries = all(&disk, Path::new("/")).unwrap();
    assert!(!entries.is_sorted());
    assert_eq!(all(&disk, Path::new("/")).unwrap(), entries);
}
