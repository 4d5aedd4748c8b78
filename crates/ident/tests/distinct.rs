//! Ids of many threads, and of several processes, are distinct.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_ident::{
    BlockingTimer, CachedClock, Config, Exhausted, Generator, Id, Layout, Lease, Policy,
    SystemClock, Worker,
};
use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const THREADS: usize = 8;
const EACH: usize = 50_000;

/// Ids of eight threads of one generator; each thread's ascend.
fn of_threads<C: BlockingTimer + Sync>(ids: &Generator<C>) -> Vec<Id> {
    let one_thread = |thread: usize| {
        let mut own = Vec::with_capacity(EACH);
        while own.len() < EACH {
            // Every other thread mixes reservations in.
            if thread % 2 == 1 && own.len() % 64 == 0 {
                own.extend(ids.reserve(16).unwrap());
            }
            own.push(ids.next().unwrap());
        }
        assert!(own.is_sorted_by(|a, b| a < b), "the ids of a thread ascend");
        own
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || one_thread(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn assert_distinct(all: &[Id]) {
    let distinct: HashSet<Id> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len());
}

#[test]
fn eight_threads_with_the_clock_of_the_system() {
    let config = Config::new(Layout::WIDE, Worker::explicit(1));
    assert_distinct(&of_threads(&Generator::new(config, SystemClock).unwrap()));
}

#[test]
fn eight_threads_that_wait_for_a_cached_clock_again_and_again() {
    // 32,768 ids a millisecond; the threads use up many of them.
    let layout = Layout::new(40, 0, 8, 15).unwrap();
    let config = Config::new(layout, Worker::explicit(255));
    assert_distinct(&of_threads(&Generator::new(config, CachedClock::start().unwrap()).unwrap()));
}

#[test]
fn eight_threads_that_borrow_all_the_time() {
    let exhausted = Exhausted::Borrow { at_most: Duration::from_secs(3_600) };
    let policy = Policy { exhausted, ..Policy::default() };
    let config = Config { policy, ..Config::new(Layout::CLASSIC, Worker::explicit(1_023)) };
    assert_distinct(&of_threads(&Generator::new(config, SystemClock).unwrap()));
}

const LEASES: &str = "RIALTO_IDENT_TEST_LEASES";

#[test]
#[ignore = "the other half of two_processes_that_lease_their_worker_ids, which runs it"]
fn a_process_that_prints_its_ids() {
    let directory = std::env::var(LEASES).expect("the directory of the leases");
    let lease = Lease::take(Path::new(&directory), &Layout::WIDE).unwrap();
    let ids = Generator::new(Config::new(Layout::WIDE, lease.into()), SystemClock).unwrap();
    for id in of_threads(&ids) {
        println!("id {id}");
    }
    // The lease is held until the parent has seen both: otherwise the second process could start
    // after the first has ended, and take its worker id.
    println!("done");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    // The harness would print its result, which is not read.
    std::process::exit(0);
}

#[test]
fn two_processes_that_lease_their_worker_ids() {
    use std::io::{BufRead, BufReader};
    let directory = tempfile::tempdir().unwrap();
    let mut children: Vec<_> = (0..2)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "--nocapture", "a_process_that_prints_its_ids"])
                .env(LEASES, directory.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut all: Vec<Id> = Vec::new();
    for child in &mut children {
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let lines = lines.take_while(|line| line != "done");
        // The test harness prints lines of its own, and the first id may stand behind one.
        all.extend(lines.filter_map(|line| line.rsplit_once("id ")?.1.parse::<Id>().ok()));
    }
    for child in &mut children {
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
    assert!(all.len() >= 2 * THREADS * EACH, "only {} ids arrived", all.len());
    let workers: HashSet<u64> = all.iter().map(|&id| Layout::WIDE.parts(id).worker).collect();
    assert_eq!(workers, HashSet::from([0, 1]));
    assert_distinct(&all);
}
