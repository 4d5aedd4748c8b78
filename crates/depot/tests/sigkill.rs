//! A process with writers and workers on a real directory, which is killed, again and again, without
//! warning.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use rialto_depot::{
    ClaimOptions, Depot, DepotError, DepotOptions, Directory, DirectoryKind, Level, NewFile, Quota,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::{acme, named};

/// The variable that makes the program the process to be killed, with the directory.
const HOME: &str = "RIALTO_DEPOT_SIGKILL_HOME";
/// The variable with the number of earlier kills.
const LIFE: &str = "RIALTO_DEPOT_SIGKILL_LIFE";
const KILLS: u64 = 20;
/// Kills stop after this time on a slow machine; fewer than half a dozen are a failure.
const KILLING_MAX: Duration = Duration::from_secs(15);

/// A file outside of the pool, to which everything that was promised adds a line in one write.
fn promises(home: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(home.join("promises")).unwrap()
}

fn promise(mut file: &File, what: &str, name: &str) {
    file.write_all(format!("{what} {name}\n").as_bytes()).unwrap();
}

/// A process that is killed loses nothing that was acknowledged below `synced` either.
fn options(home: &Path) -> DepotOptions {
    let mut options = DepotOptions::at(home.join("pool")).level(Level::Buffered);
    options.volumes.free_bytes_min = 0;
    options.attempts_max = 0;
    options.retry_delay = Duration::ZERO;
    options
}

fn open(home: &Path) -> Depot {
    let depot = Depot::open(options(home)).unwrap();
    match depot.create_tenant(&acme(), Quota::default()) {
        Ok(()) | Err(DepotError::TenantExists(_)) => {}
        Err(error) => panic!("{error}"),
    }
    let shelf = Some(DirectoryKind::Shelf);
    depot.set_directory(&acme(), &Directory::new("out").unwrap(), shelf, Quota::default()).unwrap();
    depot
}

/// The content of a file follows from its name; every third is on a volume.
fn content(name: &str) -> Vec<u8> {
    let number: usize = name.rsplit('.').next().unwrap().parse().unwrap();
    name.as_bytes().repeat(if number.is_multiple_of(3) { 8_000 } else { 4 })
}

fn write(depot: &Depot, life: u64, next: &AtomicU64, promised: &File) -> Result<(), DepotError> {
    loop {
        let name = format!("{life}.{}", next.fetch_add(1, Ordering::Relaxed));
        // Every fifth at the level that outlives a loss of power.
        let is_synced = name.ends_with(['0', '5']);
        let level = is_synced.then_some(Level::Synced);
        depot.put_bytes(&acme(), NewFile { level, ..named("in", &name) }, &content(&name))?;
        promise(promised, "stored", &name);
    }
}

/// Completes every second file, and the others with a result that is kept.
fn work(depot: &Depot, promised: &File) -> Result<(), DepotError> {
    let mut count = 0;
    loop {
        let options = ClaimOptions::up_to(4);
        for claim in depot.claim_within(&acme(), &options, Duration::from_secs(1))? {
            let name = claim.file().name.to_string();
            assert_eq!(depot.read_claimed(&claim)?.read_all()?, content(&name));
            count += 1;
            if count % 2 == 0 {
                depot.complete(claim.token())?;
                promise(promised, "done", &name);
            } else {
                let mut upload = depot.begin_result(claim.token(), named("out", &name))?;
                upload.write(&content(&name))?;
                depot.complete_with(claim.token(), vec![upload.finish_result()?])?;
                promise(promised, "answered", &name);
            }
        }
    }
}

/// The process to be killed. As a test of its own it has nothing to do.
#[test]
fn the_process_that_is_killed() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let home = Path::new(&home);
    let life: u64 = std::env::var(LIFE).unwrap().parse().unwrap();
    let (depot, next, promised) = (open(home), AtomicU64::new(0), promises(home));
    std::thread::scope(|scope| {
        let writers: Vec<_> =
            (0..3).map(|_| scope.spawn(|| write(&depot, life, &next, &promised))).collect();
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(|| work(&depot, &promised))).collect();
        for thread in writers.into_iter().chain(workers) {
            // Runs until it is killed.
            thread.join().unwrap().unwrap();
        }
    });
}

fn lines(home: &Path) -> usize {
    let text = std::fs::read(home.join("promises")).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

fn live_and_die(home: &Path, life: u64) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_process_that_is_killed", "--test-threads=1"])
        .env(HOME, home)
        .env(LIFE, life.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Some more promises each time, so that it dies in its start as well as in full flight.
    let until = lines(home) + (life as usize * 37) % 211;
    let began = Instant::now();
    while lines(home) < until && began.elapsed() < KILLING_MAX {
        assert!(child.try_wait().unwrap().is_none(), "the process has ended by itself");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn guarantees_hold_however_often_the_process_is_killed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let began = Instant::now();
    let mut kills = 0;
    while kills < KILLS && began.elapsed() < KILLING_MAX {
        live_and_die(home, kills);
        kills += 1;
    }
    assert!(kills >= 6, "only {kills} kills in {KILLING_MAX:?}");
    let depot = open(home);
    let kept = kept(&depot);
    let left = drain(&depot);
    let text = std::fs::read_to_string(home.join("promises")).unwrap();
    let said = |what: &str| -> BTreeSet<&str> {
        text.lines().filter_map(|line| line.strip_prefix(what)?.strip_prefix(' ')).collect()
    };
    let (stored, done, answered) = (said("stored"), said("done"), said("answered"));
    assert!(stored.len() > 100, "only {} were stored", stored.len());
    for name in done.iter().chain(&answered) {
        assert!(!left.contains_key(*name), "{name} was completed and came again");
    }
    for name in &answered {
        assert!(kept.contains(*name), "the result of {name} is lost");
    }
    for name in &kept {
        assert!(!left.contains_key(name), "{name} has a result and was handed out again");
    }
    for (name, count) in &left {
        assert_eq!(*count, 1, "{name} is there {count} times");
    }
    let is_known =
        |it: &&&str| left.contains_key(**it) || kept.contains(**it) || done.contains(**it);
    let unknown = stored.len() - stored.iter().filter(is_known).count();
    // Each of the two workers can have been killed between completing a file and recording it.
    assert!(unknown <= kills as usize * 2, "{unknown} are lost in {kills} kills");
    let info = depot.tenant(&acme()).unwrap();
    assert_eq!(info.files, kept.len() as u64);
    depot.close().unwrap();
}

/// The names of the files that are kept, whose contents are read.
fn kept(depot: &Depot) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    let mut after: Option<String> = None;
    loop {
        let page = depot.kept_files(&acme(), "out/", after.as_deref(), 100).unwrap();
        let Some(last) = page.last() else { return kept };
        after = Some(last.record.path());
        for info in &page {
            let name = info.record.name.to_string();
            let read = depot.open_file(&acme(), info.record.id).unwrap().read_all().unwrap();
            assert_eq!(read, content(&name), "{name}");
            kept.insert(name);
        }
    }
}

/// Completes every file that is left, and counts them by name.
fn drain(depot: &Depot) -> BTreeMap<String, u32> {
    let mut got = BTreeMap::new();
    loop {
        let wait = Duration::from_millis(300);
        let claims = depot.claim_within(&acme(), &ClaimOptions::up_to(500), wait).unwrap();
        if claims.is_empty() {
            return got;
        }
        let mut tokens = Vec::new();
        for claim in &claims {
            let name = claim.file().name.to_string();
            assert_eq!(claim.problem(), None, "{name}");
            let read = depot.read_claimed(claim).unwrap().read_all().unwrap();
            assert_eq!(read, content(&name), "{name}");
            *got.entry(name).or_insert(0) += 1;
            tokens.push(claim.token().clone());
        }
        depot.complete_all(&tokens).into_iter().for_each(|completed| completed.unwrap());
    }
}
