//! Worker ids: two processes of one host never share a leased one, and a process that dies gives
//! its own back.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_ident::{Config, Generator, IdError, Layout, Lease, SystemClock, Worker, WorkerError};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const LEASES: &str = "RIALTO_IDENT_TEST_LEASES";

/// Two bits: four workers.
fn four_workers() -> Layout {
    Layout::new(40, 0, 2, 12).unwrap()
}

#[test]
#[ignore = "the child that the other tests start and kill"]
fn a_process_that_holds_a_lease() {
    let directory = std::env::var(LEASES).expect("the directory of the leases");
    let lease = Lease::take(Path::new(&directory), &four_workers()).unwrap();
    println!("worker {}", lease.worker());
    std::io::stdin().read_line(&mut String::new()).unwrap();
    // The harness would print its result, which is not read.
    std::process::exit(0);
}

/// A process that holds a lease, and the worker id that it got.
fn start(directory: &Path) -> (Child, u64) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "a_process_that_holds_a_lease"])
        .env(LEASES, directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let worker = lines
        .find_map(|line| line.rsplit_once("worker ")?.1.parse().ok())
        .expect("the child says which worker it is");
    (child, worker)
}

#[test]
fn processes_that_run_have_different_workers_and_a_killed_one_gives_its_own_back() {
    let directory = tempfile::tempdir().unwrap();
    let mut children: Vec<_> = (0..3).map(|_| start(directory.path())).collect();
    let mine = Lease::take(directory.path(), &four_workers()).unwrap();
    let mut workers: BTreeSet<u64> = children.iter().map(|(_, worker)| *worker).collect();
    workers.insert(mine.worker());
    assert_eq!(workers, BTreeSet::from([0, 1, 2, 3]));

    let refused = Lease::take(directory.path(), &four_workers()).unwrap_err();
    assert!(matches!(refused, WorkerError::AllLeased { count: 4, .. }), "{refused}");

    let (mut killed, freed) = children.swap_remove(1);
    // On Unix this is SIGKILL: the process gets no chance to clean up.
    killed.kill().unwrap();
    killed.wait().unwrap();
    let again = Lease::take(directory.path(), &four_workers()).unwrap();
    assert_eq!(again.worker(), freed);

    for (mut child, _) in children {
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_lease_lasts_as_long_as_the_generator_that_it_is_for() {
    let directory = tempfile::tempdir().unwrap();
    let take = || Lease::take(directory.path(), &four_workers()).unwrap();
    let generator =
        Generator::new(Config::new(four_workers(), take().into()), SystemClock).unwrap();
    assert_eq!(generator.worker().id(), 0);
    assert_eq!(take().worker(), 1);
    drop(generator);
    assert_eq!(take().worker(), 0);
}

#[test]
fn a_directory_that_cannot_be_used_is_an_error_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let refused = Lease::take(&file.join("leases"), &four_workers()).unwrap_err();
    assert!(refused.to_string().contains("file/leases"), "{refused}");
}

#[test]
fn a_worker_id_is_from_the_environment_or_missing() {
    // Every process that runs tests under cargo has this one.
    let number = "CARGO_PKG_VERSION_MAJOR";
    let worker = Worker::from_environment(number).unwrap();
    assert_eq!(worker.id().to_string(), env!("CARGO_PKG_VERSION_MAJOR"));
    let text = Worker::from_environment("CARGO_PKG_NAME").unwrap_err();
    assert!(matches!(text, WorkerError::NotANumber { .. }), "{text}");
    let unset = Worker::from_environment("RIALTO_IDENT_TEST_UNSET").unwrap_err();
    assert!(matches!(unset, WorkerError::NotSet { .. }), "{unset}");
}

#[test]
fn a_worker_that_the_layout_has_no_room_for_is_refused() {
    let config = Config::new(four_workers(), Worker::explicit(4));
    let refused = Generator::new(config, SystemClock).unwrap_err();
    assert!(matches!(refused, IdError::Layout(_)), "{refused}");
    assert_eq!(refused.to_string(), "worker 4 does not fit into the layout, which ends at 3");
}
