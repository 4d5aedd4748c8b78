//! Faults of the disk other than a loss of power: a call is answered with an error, and what was
//! acknowledged is there; damage is reported with its place, and is never handed out.

use super::acts::{MEDIUM, SMALL, put, some_files};
use super::power_below_synced::check;
use crate::simulated::world::{Holding, Kind, World};
use crate::simulated::{at, content, pass, settle, tenant};
use rialto_depot::{Claim, ClaimOptions, DepotError, Level, NewFile};
use rialto_disk::{Disk, Faults, SimDisk};
use std::path::PathBuf;
use std::time::Duration;

fn claim(world: &World) -> Result<Claim, DepotError> {
    let claims = world.depot().claim(&tenant("acme"), &ClaimOptions::default())?;
    Ok(claims.into_iter().next().unwrap())
}

/// What a venue's day is made of; it ends with the first error.
fn day(world: &mut World) -> Result<(), DepotError> {
    put(world, at("in/new"), SMALL)?;
    put(world, at("in/newer"), MEDIUM)?;
    put(world, at("out/kept"), MEDIUM + 1)?;
    settle(world.depot())?;
    let claim = claim(world)?;
    let mut results = Vec::new();
    for path in ["out/result", "next/work"] {
        let mut upload = world.depot().begin_result(claim.token(), at(path))?;
        upload.write(&content(MEDIUM, 5))?;
        results.push(upload.finish_result()?);
    }
    let change = |files: &mut Holding| {
        files.remove("acme:in/first").unwrap();
        files.insert("acme:out/result".to_owned(), (Kind::Kept, content(MEDIUM, 5)));
        files.insert("acme:next/work".to_owned(), (Kind::Work, content(MEDIUM, 5)));
    };
    world.call(change, |depot| depot.complete_with(claim.token(), results))?;
    settle(world.depot())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Kill,
    LossOfPower,
}

/// Lives a day with a fault at every place where it may be, and then without it. Returns how many of
/// the days had an error.
fn with_faults(name: &str, places: u64, begin: impl Fn(&SimDisk, u64)) -> u64 {
    let mut failed = 0;
    for nth in 1..=places {
        for end in [End::Kill, End::LossOfPower] {
            let mut world = World::new(nth, Level::Synced);
            some_files(&mut world);
            begin(&world.stage.disk, nth);
            let lived = day(&mut world);
            failed += u64::from(lived.is_err());
            world.stage.disk.set_faults(Faults::default());
            match end {
                End::Kill => world.kill(),
                End::LossOfPower => world.restart(),
            }
            if let Err(broken) = world.verify() {
                panic!("{name} {nth}, {end:?}: {broken}; the day ended with {lived:?}");
            }
        }
    }
    failed
}

#[test]
fn a_sync_that_fails_loses_nothing_that_was_acknowledged() {
    assert!(with_faults("sync", 24, |disk, nth| disk.fail_sync(nth)) > 10);
}

#[test]
fn a_write_that_fails_loses_nothing_that_was_acknowledged() {
    assert!(with_faults("write", 24, |disk, nth| disk.fail_write(nth)) > 10);
}

#[test]
fn a_disk_that_is_full_at_any_write_loses_nothing_that_was_acknowledged() {
    let full = |disk: &SimDisk, nth: u64| {
        let bytes: usize =
            disk.paths().iter().filter_map(|it| disk.bytes_of(it)).map(|it| it.len()).sum();
        let capacity_bytes = Some(bytes as u64 + (nth - 1) * 12_000);
        disk.set_faults(Faults { capacity_bytes, ..Faults::default() });
    };
    assert!(with_faults("full", 16, full) > 10);
}

#[test]
fn a_pool_goes_on_when_a_full_disk_has_room_again() {
    let mut world = World::new(1, Level::Synced);
    some_files(&mut world);
    let disk = world.stage.disk.clone();
    disk.set_faults(Faults { capacity_bytes: Some(0), ..Faults::default() });
    assert!(put(&mut world, at("in/new"), MEDIUM).is_err());
    let used = world.depot().tenant(&tenant("acme")).unwrap();
    assert_eq!(used.files, 3);
    disk.set_faults(Faults::default());
    // The free space is asked for again.
    pass(&world.stage, world.depot(), Duration::from_secs(6)).unwrap();
    put(&mut world, at("in/new"), MEDIUM).unwrap();
    world.kill();
    world.verify().unwrap();
}

#[test]
fn a_volume_whose_sync_failed_takes_files_again_after_a_probe() {
    let mut world = World::new(1, Level::Synced);
    some_files(&mut world);
    // The first sync is that of the stored file.
    world.stage.disk.fail_sync(1);
    let refused = put(&mut world, at("in/new"), MEDIUM).unwrap_err();
    assert!(matches!(refused, DepotError::Volume(_)), "{refused}");
    assert!(put(&mut world, at("in/new"), MEDIUM).is_err());
    pass(&world.stage, world.depot(), Duration::from_secs(6)).unwrap();
    put(&mut world, at("in/new"), MEDIUM).unwrap();
    world.kill();
    world.verify().unwrap();
}

#[test]
fn a_repeat_under_a_submit_key_is_not_answered_before_the_first_is_durable() {
    let mut world = World::new(1, Level::Synced);
    some_files(&mut world);
    let file = || NewFile { submit_key: Some("k".to_owned()), ..at("in/new") };
    // The sync of the record fails: nobody knows whether the file exists.
    world.stage.disk.fail_sync(1);
    assert!(put(&mut world, file(), SMALL).is_err());
    let again = world.depot().put_bytes(&tenant("acme"), file(), &content(SMALL, 106));
    assert!(!matches!(&again, Ok(stored) if stored.is_repeat), "{again:?}");
    world.restart();
    world.verify().unwrap();
}

#[test]
fn a_sync_that_lies_shows_no_wrong_bytes() {
    for nth in 1..=24 {
        let mut world = World::new(nth, Level::Synced);
        some_files(&mut world);
        world.stage.disk.lie_at_sync(nth);
        let mut contents: Vec<_> = world.known.values().map(|(_, it)| it.clone()).collect();
        day(&mut world).unwrap();
        contents.extend(world.known.values().map(|(_, it)| it.clone()));
        contents.extend([content(SMALL, 6 + SMALL as u64), content(MEDIUM, 5)]);
        world.restart();
        if let Err(broken) = check(&world, &contents) {
            // Logs notice what was lost of their middle, and are not opened.
            assert!(broken.contains("is damaged at offset"), "lie {nth}: {broken}");
        }
    }
}

#[test]
fn a_read_that_fails_is_an_error_and_not_a_loss() {
    for nth in 1..=40 {
        let mut world = World::new(nth, Level::Synced);
        some_files(&mut world);
        world.kill();
        world.stage.disk.fail_read(nth);
        // Opening is refused, or something else reads it.
        if let Ok(depot) = world.stage.open() {
            for info in depot.work_files(&tenant("acme"), "", None, 10).unwrap() {
                let read = depot.open_file(&tenant("acme"), info.record.id);
                let _ = read.and_then(|mut it| it.read_all());
            }
        }
        world.kill();
        world.verify().unwrap_or_else(|broken| panic!("read {nth}: {broken}"));
    }
}

fn paths(world: &World, of: &str) -> Vec<PathBuf> {
    let paths = world.stage.disk.paths().into_iter();
    paths.filter(|path| path.to_string_lossy().contains(of)).collect()
}

#[test]
fn a_flipped_bit_of_a_stored_file_is_reported_with_its_file_and_never_read() {
    let mut world = World::new(1, Level::Synced);
    some_files(&mut world);
    let acme = tenant("acme");
    let info = world.depot().work_files(&acme, "in/first", None, 1).unwrap().remove(0);
    let id = info.record.id;
    let path = paths(&world, &id.to_string()).remove(0);
    for offset in (0..MEDIUM as u64).step_by(997) {
        assert!(world.stage.disk.flip_bit(&path, offset, (offset % 8) as u8));
        let read = world.depot().open_file(&acme, id).and_then(|mut it| it.read_all());
        let error = read.unwrap_err().to_string();
        assert!(error.contains(&id.to_string()), "{error}");
        assert!(error.contains(path.to_str().unwrap()), "{error}");
        world.stage.disk.flip_bit(&path, offset, (offset % 8) as u8);
    }
    // The others are read.
    let kept = world.depot().file_at(&acme, "out/kept").unwrap().record.id;
    world.depot().open_file(&acme, kept).unwrap().read_all().unwrap();
    world.kill();
    world.verify().unwrap();
}

#[test]
fn a_file_without_its_bytes_is_claimed_with_the_problem_and_never_completed() {
    let mut world = World::new(1, Level::Synced);
    some_files(&mut world);
    let id = world.depot().work_files(&tenant("acme"), "in/first", None, 1).unwrap()[0].record.id;
    let path = paths(&world, &id.to_string()).remove(0);
    let bytes = world.stage.disk.bytes_of(&path).unwrap();
    world.stage.disk.remove(&path).unwrap();
    let claim = claim(&world).unwrap();
    let problem = claim.problem().unwrap();
    assert!(problem.contains(path.to_str().unwrap()), "{problem}");
    let refused = world.depot().complete(claim.token()).unwrap_err();
    assert!(matches!(refused, DepotError::Bytes { .. }), "{refused}");
    // They come back with their volume.
    world.stage.disk.put_bytes(&path, bytes);
    world.depot().complete(claim.token()).unwrap();
}

/// Flips bits of a log that holds records before others, and opens the pool. Damage is reported with
/// its file, or the pool holds everything.
fn damage_is_reported(of: &str) {
    let mut reported = 0;
    let prepared = || {
        let mut world = World::new(1, Level::Synced);
        some_files(&mut world);
        for nth in 0..4 {
            put(&mut world, at(&format!("in/small{nth}")), 900).unwrap();
            put(&mut world, at(&format!("out/kept{nth}")), SMALL).unwrap();
        }
        world.depot().close().unwrap();
        world.kill();
        world
    };
    let found = paths(&prepared(), of);
    assert!(!found.is_empty(), "there is no {of}");
    for path in found {
        let bytes = prepared().stage.disk.bytes_of(&path).unwrap();
        let filled = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) as u64;
        for offset in (0..filled).step_by((filled as usize / 24).max(1)) {
            let world = prepared();
            assert!(world.stage.disk.flip_bit(&path, offset, 3));
            let place = format!("{} at {offset} of {filled}", path.display());
            let held = world.stage.open().map_err(|error| error.to_string()).and_then(|depot| {
                settle(&depot).map_err(|error| error.to_string())?;
                world.holding(&depot)
            });
            match held {
                Ok(held) => assert!(held == world.known, "{place}: something is lost in silence"),
                Err(error) => {
                    assert!(
                        error.contains(path.parent().unwrap().to_str().unwrap()),
                        "{place}: {error}"
                    );
                    reported += 1;
                }
            }
        }
    }
    assert!(reported > 0, "no damage of {of} was reported");
}

#[test]
fn a_flipped_bit_of_the_history_is_reported_with_its_place() {
    damage_is_reported("/history/");
}

#[test]
fn a_flipped_bit_of_a_work_queue_is_reported_with_its_place() {
    damage_is_reported("/queue/topics");
}
