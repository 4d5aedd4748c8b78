//! Twelve ways in which pools of files are known to lose a file or to hand it out twice, and what
//! this one does instead.

use crate::simulated::world::{Holding, Kind, World};
use crate::simulated::{at, content, dir, pass, settle, tenant};
use rialto_depot::{ClaimOptions, Depot, DepotError, FileState, Level, Quota};
use std::time::Duration;

const SMALL: usize = 100;
const MEDIUM: usize = 30_000;
const SEEDS: u64 = 20;

fn put(world: &mut World, path: &str, bytes: usize) -> Result<(), DepotError> {
    let bytes = content(bytes, path.len() as u64);
    let held = (Kind::Work, bytes.clone());
    let change = |files: &mut Holding| drop(files.insert(format!("acme:{path}"), held));
    world.call(change, |depot| depot.put_bytes(&tenant("acme"), at(path), &bytes).map(drop))
}

/// Claims and completes the oldest file, which has this path.
fn complete(world: &mut World, path: &str) -> Result<(), DepotError> {
    let claim = world.depot().claim(&tenant("acme"), &ClaimOptions::default())?.remove(0);
    assert_eq!(claim.file().path(), path);
    let change = |files: &mut Holding| drop(files.remove(&format!("acme:{path}")));
    world.call(change, |depot| depot.complete(claim.token()))
}

fn claims(depot: &Depot, max: usize) -> Vec<rialto_depot::Claim> {
    depot.claim(&tenant("acme"), &ClaimOptions::up_to(max)).unwrap()
}

/// Runs something with a loss of power after every operation of the disk.
fn interrupted(prepare: fn(&mut World), run: fn(&mut World) -> Result<(), DepotError>) {
    for operations in 0.. {
        let mut world = World::new(operations, Level::Synced);
        prepare(&mut world);
        world.stage.disk.crash_after(operations);
        let done = run(&mut world);
        let is_down = world.stage.disk.is_down();
        assert!(is_down || done.is_ok(), "{done:?}");
        world.restart();
        let verified = world.verify();
        assert!(verified.is_ok(), "after {operations} operations: {}", verified.unwrap_err());
        if !is_down {
            return;
        }
    }
}

/// A flush that ends in the cache of the operating system makes an event durable, and not its file.
#[test]
fn an_acknowledged_file_is_durable_and_not_only_its_record() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, Level::Synced);
        put(&mut world, "in/small", SMALL).unwrap();
        put(&mut world, "in/medium", MEDIUM).unwrap();
        world.restart();
        world.verify().unwrap();
    }
}

/// Bytes at their final path are no file: a crash can leave a part of them.
#[test]
fn a_file_that_was_cut_off_by_a_crash_is_no_file() {
    interrupted(|_| {}, |world| put(world, "in/new", MEDIUM));
}

/// A cursor that is durable before what it covers skips events after a loss of power.
#[test]
fn an_acknowledgement_covers_no_file_that_was_not_completed() {
    let prepare = |world: &mut World| {
        for nth in 0..4 {
            put(world, &format!("in/{nth}"), if nth % 2 == 0 { SMALL } else { MEDIUM }).unwrap();
        }
    };
    interrupted(prepare, |world| {
        complete(world, "in/0")?;
        complete(world, "in/1")?;
        put(world, "in/4", SMALL)?;
        settle(world.depot())
    });
}

/// A log and a state that are rewritten in two steps disagree after a crash in between.
#[test]
fn a_checkpoint_that_is_interrupted_anywhere_changes_nothing() {
    let prepare = |world: &mut World| {
        for nth in 0..3 {
            put(world, &format!("in/{nth}"), MEDIUM).unwrap();
        }
        complete(world, "in/0").unwrap();
    };
    interrupted(prepare, |world| {
        (0..3).try_for_each(|_| pass(&world.stage, world.depot(), Duration::from_secs(1)))
    });
}

/// A snapshot that holds only what is active forgets what has ended.
#[test]
fn what_has_ended_is_remembered_through_checkpoints_and_starts() {
    let mut world = World::new(1, Level::Synced);
    put(&mut world, "in/completed", MEDIUM).unwrap();
    put(&mut world, "in/refused", SMALL).unwrap();
    complete(&mut world, "in/completed").unwrap();
    let claim = claims(world.depot(), 1).remove(0);
    world.depot().refuse(claim.token(), "no such column").unwrap();
    world.known.get_mut("acme:in/refused").unwrap().0 = Kind::Dead;
    for _ in 0..4 {
        pass(&world.stage, world.depot(), Duration::from_secs(1)).unwrap();
        world.depot().close().unwrap();
        world.kill();
        world.depot = Some(world.stage.open().unwrap());
    }
    world.kill();
    world.verify().unwrap();
}

/// Counters that are stored beside the events count them again when they are replayed.
#[test]
fn quotas_count_the_files_after_every_start() {
    let mut world = World::new(1, Level::Synced);
    put(&mut world, "in/a", MEDIUM).unwrap();
    put(&mut world, "in/b", SMALL).unwrap();
    let directory = Quota { files_max: 10, bytes_max: 0 };
    world.depot().set_directory(&tenant("acme"), &dir("in"), None, directory).unwrap();
    complete(&mut world, "in/a").unwrap();
    for start in 0..6 {
        if start % 2 == 0 {
            world.kill()
        } else {
            world.restart()
        }
        world.depot = Some(world.stage.open().unwrap());
        let info = world.depot().tenant(&tenant("acme")).unwrap();
        assert_eq!((info.files, info.bytes), (1, SMALL as u64), "start {start}");
        assert_eq!(info.directories[0].files, 1, "start {start}");
    }
}

/// A claim that does not wait for the replay of a log hands out what was completed.
#[test]
fn a_completed_file_is_not_handed_out_right_after_a_crash() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, Level::Synced);
        put(&mut world, "in/a", MEDIUM).unwrap();
        complete(&mut world, "in/a").unwrap();
        world.restart();
        let depot = world.stage.open().unwrap();
        world.stage.clock.advance(Duration::from_secs(3_600));
        assert!(claims(&depot, 10).is_empty());
        settle(&depot).unwrap();
        assert!(claims(&depot, 10).is_empty());
    }
}

/// Answers of a worker whose time is over end, fail or return what another worker has.
#[test]
fn a_late_answer_does_not_touch_the_claim_of_another_worker() {
    let mut world = World::new(1, Level::Synced);
    put(&mut world, "in/a", SMALL).unwrap();
    let depot = world.depot();
    let late = claims(depot, 1).remove(0);
    // The end of the claim is noticed, and then the delay before the next attempt passes.
    let later = (0..4).find_map(|_| {
        pass(&world.stage, depot, Duration::from_secs(400)).unwrap();
        claims(depot, 1).pop()
    });
    let claim = later.unwrap();
    assert_eq!(claim.file().id, late.file().id);
    let is_lost = |result| assert!(matches!(result, Err(DepotError::ClaimLost(_))), "{result:?}");
    is_lost(depot.complete(late.token()));
    is_lost(depot.fail(late.token(), "late", None));
    is_lost(depot.give_back(late.token()));
    is_lost(depot.refuse(late.token(), "late"));
    is_lost(depot.renew(late.token(), Duration::from_secs(9)).map(drop));
    assert!(claims(depot, 1).is_empty());
    depot.complete(claim.token()).unwrap();
    is_lost(depot.complete(claim.token()));
}

/// A search for files without a record that has no minimum age takes what is being written.
#[test]
fn bytes_that_are_being_written_are_never_taken_for_a_file() {
    let mut world = World::new(1, Level::Synced);
    put(&mut world, "in/a", SMALL).unwrap();
    let bytes = content(3 << 20, 7);
    let mut upload = world.depot().begin(&tenant("acme"), at("in/large")).unwrap();
    upload.write(&bytes[..2 << 20]).unwrap();
    assert_eq!(world.stage.stored().len(), 1);
    pass(&world.stage, world.depot(), Duration::from_secs(3_600)).unwrap();
    assert_eq!(claims(world.depot(), 10).len(), 1);
    upload.write(&bytes[2 << 20..]).unwrap();
    upload.finish().unwrap();
    let claim = claims(world.depot(), 10).remove(0);
    assert!(world.depot().read_claimed(&claim).unwrap().read_all().unwrap() == bytes);

    // Those that a process left behind are no file either.
    let mut upload = world.depot().begin(&tenant("acme"), at("in/never")).unwrap();
    upload.write(&bytes[..2 << 20]).unwrap();
    // A process that ends removes nothing.
    std::mem::forget(upload);
    world.kill();
    let depot = world.stage.open().unwrap();
    assert!(depot.work_files(&tenant("acme"), "in/never", None, 10).unwrap().is_empty());
}

/// Claims that are taken in advance for nobody wait for their deadline.
#[test]
fn a_worker_gets_no_more_than_it_asks_for_and_the_rest_is_there_for_others() {
    let mut world = World::new(1, Level::Synced);
    for nth in 0..4 {
        put(&mut world, &format!("in/{nth}"), SMALL).unwrap();
    }
    assert_eq!(claims(world.depot(), 1).len(), 1);
    assert_eq!(world.depot().tenant(&tenant("acme")).unwrap().work.claimed, 1);
    assert_eq!(claims(world.depot(), 10).len(), 3);
}

/// A timeout that is not counted hands a file that kills its workers out for ever.
#[test]
fn a_file_whose_workers_end_without_an_answer_becomes_a_dead_letter() {
    let mut world = World::new(1, Level::Synced);
    put(&mut world, "in/a", SMALL).unwrap();
    let mut attempts = 0;
    for _ in 0..10 {
        attempts += claims(world.depot(), 1).len();
        // The worker is in the process that ends.
        world.depot().step().unwrap();
        world.kill();
        world.depot = Some(world.stage.open().unwrap());
        pass(&world.stage, world.depot(), Duration::from_secs(3_600)).unwrap();
    }
    assert_eq!(attempts, 2);
    let files = world.depot().work_files(&tenant("acme"), "", None, 10).unwrap();
    assert_eq!(files[0].state, FileState::Dead);
    let dead = world.depot().dead_files(&tenant("acme"), 10).unwrap();
    assert_eq!(dead[0].reason, "unanswered");
}

/// A lock on a part of the data lets a second process claim from memory of its own.
#[test]
fn one_process_owns_a_pool() {
    let mut world = World::new(1, Level::Synced);
    put(&mut world, "in/a", SMALL).unwrap();
    let operations = world.stage.disk.operations();
    let error = world.stage.open().err().unwrap().to_string();
    assert!(error.contains("/pool"), "{error}");
    assert!(world.stage.disk.operations() - operations <= 1, "it changed the directory");
    // The first goes on, and its end makes room.
    complete(&mut world, "in/a").unwrap();
    world.kill();
    world.verify().unwrap();
}
