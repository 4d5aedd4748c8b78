//! A loss of power below the level `synced`: what was acknowledged of late may be lost, or come back.
//! Nothing that is there is wrong.

use super::acts::{MEDIUM, SMALL, put, some_files};
use super::seeds;
use crate::simulated::world::World;
use crate::simulated::{at, settle, tenant};
use rialto_depot::{ClaimOptions, DepotError, Level};
use std::time::Duration;

/// What a worker does with everything that there is.
fn work(world: &mut World) -> Result<(), DepotError> {
    put(world, at("in/new"), MEDIUM)?;
    put(world, at("out/kept"), SMALL)?;
    put(world, at("out/new"), MEDIUM)?;
    settle(world.depot())?;
    for claim in world.depot().claim(&tenant("acme"), &ClaimOptions::up_to(2))? {
        world.depot().complete(claim.token())?;
    }
    settle(world.depot())
}

/// Every file reads back whole, or its bytes are reported as missing; the quotas agree.
pub(crate) fn check(world: &World, contents: &[Vec<u8>]) -> Result<(), String> {
    let text = |error: DepotError| error.to_string();
    let acme = tenant("acme");
    let depot = world.stage.open().map_err(|error| format!("it does not open: {error}"))?;
    settle(&depot).map_err(text)?;
    let Ok(info) = depot.tenant(&acme) else { return Ok(()) };
    let work = depot.work_files(&acme, "", None, 100).map_err(text)?;
    let kept = depot.kept_files(&acme, "", None, 100).map_err(text)?;
    let bytes: u64 = work.iter().chain(&kept).map(|info| info.record.bytes).sum();
    if (info.files, info.bytes) != ((work.len() + kept.len()) as u64, bytes) {
        return Err(format!("{} files of {} bytes are counted", info.files, info.bytes));
    }
    for info in work.iter().chain(&kept) {
        match depot.open_file(&acme, info.record.id).and_then(|mut it| it.read_all()) {
            Ok(read) if contents.contains(&read) => {}
            Ok(_) => return Err(format!("{} has another content", info.record.path())),
            Err(DepotError::Bytes { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    world.stage.clock.advance(Duration::from_secs(3_600));
    settle(&depot).map_err(text)?;
    let claims = depot.claim(&acme, &ClaimOptions::up_to(100)).map_err(text)?;
    for claim in claims {
        let completed = depot.complete(claim.token());
        // A file without its bytes is never completed in silence.
        if completed.is_ok() != claim.problem().is_none() {
            return Err(format!("{:?}: {completed:?}", claim.problem()));
        }
    }
    // It goes on.
    depot.put_bytes(&acme, at("in/later"), b"later").map(drop).map_err(text)
}

#[test]
fn nothing_that_is_there_is_wrong_after_a_loss_of_power_under_buffered() {
    let mut ends = 0;
    for seed in 0..seeds() {
        for operations in 0.. {
            let mut world = World::new(seed, Level::Buffered);
            some_files(&mut world);
            world.stage.disk.crash_after(operations);
            let mut contents: Vec<_> = world.known.values().map(|(_, it)| it.clone()).collect();
            let done = work(&mut world);
            let after = world.known.values().chain(world.or.iter().flat_map(|it| it.values()));
            contents.extend(after.map(|(_, it)| it.clone()));
            let is_down = world.stage.disk.is_down();
            world.restart();
            if let Err(broken) = check(&world, &contents) {
                panic!("seed {seed}, after {operations} operations: {broken}");
            }
            ends += 1;
            if !is_down {
                done.unwrap();
                break;
            }
        }
    }
    assert!(ends > 20, "{ends}");
}

#[test]
fn a_pool_opens_after_a_loss_of_power_at_any_moment_of_its_first_minute() {
    for level in [Level::Buffered, Level::Synced] {
        for seed in 0..4 * seeds() {
            for operations in 0.. {
                let stage = crate::simulated::Stage::new(seed, level);
                stage.disk.crash_after(operations);
                let lived = stage.open().and_then(|depot| {
                    depot.put_bytes(&tenant("acme"), at("in/a"), &vec![1; MEDIUM])?;
                    settle(&depot)
                });
                let is_down = stage.disk.is_down();
                assert!(is_down || lived.is_ok());
                stage.disk.restart();
                let opened = stage.open();
                assert!(opened.is_ok(), "{level}, {seed}, {operations}: {:?}", opened.err());
                if !is_down {
                    break;
                }
            }
        }
    }
}
