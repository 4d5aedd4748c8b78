//! The power fails, or the process is killed, after every disk operation of everything that a pool
//! does. Then it is opened again:
//!
//! - It holds what was acknowledged, and what was in doubt whole or not at all; results exist exactly
//!   if their file is completed; a path is there once.
//! - Every content reads back, in a listing and in a claim.
//! - The quotas count the files that there are.
//! - What is handed out is what waits, once; nothing that was completed or deleted comes again, also
//!   not after another start.
//!
//! Under `synced` the power fails; under `buffered` the process is killed, and what the operating
//! system was given stays. `RIALTO_CRASH_SEEDS` sets how many fates each power failure has.

mod acts;
mod faults;
mod power_below_synced;

use crate::simulated::world::World;
use acts::Act;
use rialto_depot::Level;

/// The default number of fates of each power failure.
const SEEDS: u64 = 1;

fn seeds() -> u64 {
    let asked = std::env::var("RIALTO_CRASH_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    asked.unwrap_or(SEEDS)
}

/// Runs an act with an end after every one of its operations. Returns their number.
fn at_every_operation(name: &str, act: &Act, level: Level, seed: u64) -> u64 {
    for operations in 0.. {
        let place = format!("{name}, {level}, seed {seed}, after {operations} operations");
        let mut world = World::new(seed, level);
        (act.prepare)(&mut world);
        world.stage.disk.crash_after(operations);
        let done = (act.run)(&mut world);
        let is_down = world.stage.disk.is_down();
        assert!(is_down || done.is_ok(), "{place}: {:?}", done.err());
        match level {
            Level::Synced => world.restart(),
            _ => world.kill(),
        }
        if let Err(broken) = world.verify() {
            panic!("{place}: {broken}");
        }
        if !is_down {
            return operations;
        }
    }
    unreachable!("an act ends")
}

fn is_kept_at_every_operation(name: &str, act: &Act) {
    let mut operations = at_every_operation(name, act, Level::Buffered, 1);
    for seed in 0..seeds() {
        operations += at_every_operation(name, act, Level::Synced, seed);
    }
    assert!(operations > 0, "{name} does nothing on the disk");
}

macro_rules! acts {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            is_kept_at_every_operation(stringify!($name), &acts::$name());
        }
    )* };
}

acts! {
    a_small_file
    a_file_on_a_volume
    a_large_file
    a_file_with_a_submit_key
    a_delayed_file
    a_first_file_of_a_tenant
    a_kept_file
    a_kept_file_that_replaces_another
    a_claim
    a_claim_that_is_renewed_and_given_back
    a_completion
    a_completion_of_many
    a_completion_with_results
    a_failure
    a_last_failure
    a_refusal
    a_deletion_of_a_waiting_file
    a_deletion_of_a_delayed_file
    a_deletion_of_a_dead_letter
    a_deletion_of_a_kept_file
    an_expiry
    a_redrive
    a_deletion_of_a_redriven_file
    a_deletion_of_a_tenant
    changes_of_a_tenant
    a_round_of_housekeeping
    a_close
    an_opening
    a_mount_and_an_unmount
}
