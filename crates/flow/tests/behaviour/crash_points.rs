//! A flow comes to the same end, with the same effects, wherever the process or the power ends.

use crate::support::journey::{Caller, Fate, Outcome};
use crate::support::try_on_disk;
use rialto_disk::SimDisk;
use rialto_flow::store::Level;
use rialto_flow::{FlowError, RunError};

/// The end of a journey without failures, and the number of its writes.
fn undisturbed(fate: Fate, level: Level) -> (Outcome, (Vec<String>, Vec<String>), u64) {
    let mut caller = Caller::new(fate);
    let disk = SimDisk::new(1);
    let outcome = caller.live(try_on_disk(&disk, level, 1).unwrap()).unwrap();
    (outcome, caller.effects(), disk.operations())
}

/// Goes through lives, each ended as `cut` says, until one comes to the end of the journey.
fn survive(
    caller: &mut Caller,
    level: Level,
    disk: &SimDisk,
    mut cut: impl FnMut(u8, &SimDisk, &Caller),
    mut restart: impl FnMut(&SimDisk),
) -> (Outcome, u8) {
    for life in 1..100 {
        cut(life, disk, caller);
        let lived = try_on_disk(disk, level, life).map_err(Into::into);
        let lived = lived.and_then(|store| caller.live(store));
        match lived {
            Ok(outcome) => return (outcome, life),
            Err(_) => restart(disk),
        }
    }
    panic!("no end after 100 lives");
}

#[test]
fn journeys_come_to_the_ends_that_they_are_meant_to() {
    let (completed, (done, undone), _) = undisturbed(Fate::Completes, Level::Synced);
    assert_eq!(completed, Ok(4 + (4 + 5 + 4) + (7 + 5) + 1));
    assert_eq!((done.len(), undone.len()), (5, 0));
    let (failed, (_, undone), _) = undisturbed(Fate::Fails, Level::Synced);
    let reason = FlowError::Step { name: "arrive".into(), message: "the road is closed".into() };
    assert_eq!(failed, Err(RunError::Failed(reason)));
    assert_eq!(undone, ["undo leg", "undo board", "undo pack"]);
    let (late, ..) = undisturbed(Fate::LacksEvent, Level::Synced);
    assert_eq!(late, Err(RunError::Failed(FlowError::failed("no ticket"))));
    let (cancelled, (_, undone), _) = undisturbed(Fate::IsCancelled, Level::Synced);
    assert_eq!(cancelled, Err(RunError::Cancelled));
    assert_eq!(undone.last().map(String::as_str), Some("undo pack"));
}

#[test]
fn a_power_failure_at_any_write_changes_nothing() {
    for fate in Fate::ALL {
        let (outcome, effects, writes) = undisturbed(fate, Level::Synced);
        for write in 0..writes {
            let mut caller = Caller::new(fate);
            let disk = SimDisk::new(write);
            let cut = |life, disk: &SimDisk, _: &Caller| {
                if life == 1 {
                    disk.crash_after(write);
                }
            };
            let (survived, lives) =
                survive(&mut caller, Level::Synced, &disk, cut, SimDisk::restart);
            // The last writes only close the store, after the end.
            assert!(lives == 2 || write + 5 > writes, "write {write} of {writes} was not cut");
            assert_eq!(survived, outcome, "{fate:?}, write {write}");
            assert_eq!(caller.effects(), effects, "{fate:?}, write {write}");
            // A step fails once and succeeds once; the crash may cost either of them once more.
            assert!(caller.tries_max() <= 3, "{fate:?}, write {write}: {:?}", caller.world.acts());
        }
    }
}

#[test]
fn a_kill_at_any_moment_of_the_code_changes_nothing() {
    for (fate, level) in Fate::ALL
        .into_iter()
        .flat_map(|fate| [Level::Buffered, Level::Synced].map(|level| (fate, level)))
    {
        let (outcome, effects, _) = undisturbed(fate, level);
        let mut moment = 0;
        loop {
            let mut caller = Caller::new(fate);
            let disk = SimDisk::new(moment as u64);
            caller.world.kill_after(moment, &disk);
            let (survived, lives) = survive(&mut caller, level, &disk, |_, _, _| {}, SimDisk::kill);
            assert_eq!(survived, outcome, "{fate:?}, {level}, moment {moment}");
            assert_eq!(caller.effects(), effects, "{fate:?}, {level}, moment {moment}");
            assert!(
                caller.tries_max() <= 3,
                "{fate:?}, moment {moment}: {:?}",
                caller.world.acts()
            );
            if lives == 1 {
                break;
            }
            moment += 1;
        }
        assert!(moment > 10, "{fate:?} has only {moment} moments");
    }
}

#[test]
fn any_number_of_crashes_changes_nothing() {
    for seed in 0..40_u64 {
        let fate = Fate::ALL[seed as usize % 4];
        let (outcome, effects, writes) = undisturbed(fate, Level::Synced);
        let mut caller = Caller::new(fate);
        let disk = SimDisk::new(seed);
        let mut random = seed;
        let cut = |_, disk: &SimDisk, _: &Caller| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            disk.crash_after((random >> 33) % writes);
        };
        let (survived, lives) = survive(&mut caller, Level::Synced, &disk, cut, SimDisk::restart);
        assert_eq!(survived, outcome, "seed {seed}, {lives} lives");
        let (done, undone) = caller.effects();
        assert_eq!((&done, &undone), (&effects.0, &effects.1), "seed {seed}, {lives} lives");
    }
}
