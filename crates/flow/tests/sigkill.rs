//! A process that runs flows on a real directory and is killed, again and again, without warning.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_flow::history::{Ending, Entry};
use rialto_flow::store::{Level, LogOptions, LogStore, RunFilter, Store};
use rialto_flow::{Flow, FlowContext, FlowError, FlowId, Flows, RetryPolicy, StepError};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The variable that makes the program the process to be killed, with the directory.
const HOME: &str = "RIALTO_FLOW_SIGKILL_HOME";
/// Tells it to finish what was begun instead of beginning more.
const FINISH: &str = "RIALTO_FLOW_SIGKILL_FINISH";
const KILLS: u64 = 30;
/// Kills stop after this time on a slow machine; fewer than a dozen are a failure.
const KILLING_MAX: Duration = Duration::from_secs(12);

/// A file outside of the store, to which every effect adds a line in one write.
#[derive(Clone)]
struct Effects(Arc<File>);

impl Effects {
    fn open(home: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(home.join("effects"));
        Self(Arc::new(file.unwrap()))
    }

    fn add(&self, run: FlowId, what: &str) {
        (&*self.0).write_all(format!("{run} {what}\n").as_bytes()).unwrap();
    }
}

struct Order(Effects);

impl Order {
    /// A step that leaves a line when it is executed, and another when it is known to be stored.
    async fn step<'a>(&'a self, cx: &FlowContext<'a>, name: &'static str) -> Result<(), FlowError> {
        let (run, effects) = (cx.id(), &self.0);
        cx.step(name, async || {
            effects.add(run, &format!("do {name}"));
            Ok(())
        })
        .compensate(move |()| async move {
            effects.add(run, &format!("undo {name}"));
            Ok(())
        })
        .await?;
        effects.add(run, &format!("known {name}"));
        Ok(())
    }
}

impl Flow for Order {
    const NAME: &'static str = "order";
    type Input = u64;
    type Output = u64;

    async fn run<'a>(&'a self, cx: &FlowContext<'a>, input: &'a u64) -> Result<u64, FlowError> {
        self.step(cx, "reserve").await?;
        self.step(cx, "charge").await?;
        cx.sleep("settle", Duration::from_millis(2)).await?;
        let attempts = AtomicU32::new(0);
        cx.step("ship", async || {
            let is_first = attempts.fetch_add(1, Ordering::Relaxed) == 0;
            match input % 3 {
                0 => Err(StepError::permanent("no van")),
                1 if is_first => Err(StepError::retryable("no driver")),
                _ => Ok(()),
            }
        })
        .retry(RetryPolicy::exponential(3).first(Duration::from_millis(1)))
        .await?;
        Ok(input * 2)
    }
}

fn open(home: &Path) -> Result<Arc<LogStore>, rialto_flow::store::StoreError> {
    Ok(Arc::new(LogStore::open(&home.join("flows"), LogOptions::new(Level::Buffered))?))
}

/// The process to be killed. As a test of its own it has nothing to do.
#[test]
fn the_process_that_is_killed() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let home = Path::new(&home);
    let store = open(home).unwrap();
    let flows = Flows::builder(store).register(Order(Effects::open(home))).open().unwrap();
    let known = flows.list(&RunFilter::default(), None, usize::MAX).unwrap();
    let handle = |id| flows.handle::<Order>(id).unwrap().unwrap();
    let mut under_way: std::collections::VecDeque<_> =
        known.iter().map(|run| handle(run.id)).collect();
    let mut next = known.len() as u64;
    if std::env::var_os(FINISH).is_some() {
        under_way.iter().for_each(|run| drop(run.wait()));
        return;
    }
    // Runs until it is killed.
    loop {
        while under_way.len() < 6 {
            under_way.push_back(flows.start::<Order>(next.into(), next).unwrap());
            next += 1;
        }
        let _ = under_way.pop_front().map(|run| run.wait());
    }
}

fn spawn(home: &Path, finish: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_process_that_is_killed", "--test-threads=1"]);
    command.env(HOME, home).stdout(Stdio::null());
    if finish {
        command.env(FINISH, "1");
    }
    command.spawn().unwrap()
}

fn lines(home: &Path) -> usize {
    let text = std::fs::read(home.join("effects")).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn nothing_is_lost_or_done_twice_when_the_process_is_killed_without_warning() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let began = Instant::now();
    let mut kills = 0;
    let mut refused = 0;
    while kills < KILLS && began.elapsed() < KILLING_MAX {
        let mut child = spawn(home, false);
        // Some more lines each time, so that it dies in its start as well as in full flight.
        let until = lines(home) + 1 + (kills as usize * 7) % 23;
        while lines(home) < until && began.elapsed() < 2 * KILLING_MAX {
            assert!(child.try_wait().unwrap().is_none(), "the process has ended by itself");
            std::thread::yield_now();
        }
        refused += u64::from(open(home).is_err());
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    assert!(kills >= 12, "only {kills} kills in {:?}", began.elapsed());
    assert_eq!(refused, kills, "a second process got at the store of a living one");
    assert!(spawn(home, true).wait().unwrap().success());
    check(home);
}

fn check(home: &Path) {
    let text = std::fs::read_to_string(home.join("effects")).unwrap();
    let mut effects: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in text.lines() {
        let (run, what) = line.split_once(' ').unwrap();
        effects.entry(run).or_default().push(what);
    }
    let store = open(home).unwrap();
    let runs = store.list(&RunFilter::default(), None, usize::MAX).unwrap();
    assert!(runs.len() > 10, "only {} runs", runs.len());
    for run in runs {
        let number: u64 = run.id.as_str().parse().unwrap();
        let stored = store.find(&run.id).unwrap().unwrap();
        let last = stored.entries().last().unwrap().unwrap();
        let Entry::Ended { ending, .. } = last else { panic!("run {number} has not ended") };
        assert_eq!(
            matches!(ending, Ending::Completed(_)),
            !number.is_multiple_of(3),
            "run {number}"
        );
        check_effects(number, effects.get(run.id.as_str()).map_or(&[][..], Vec::as_slice));
    }
}

fn check_effects(number: u64, effects: &[&str]) {
    let say = || format!("run {number}: {effects:?}");
    for step in ["reserve", "charge"] {
        let of = |what: &str| {
            let line = format!("{what} {step}");
            effects.iter().enumerate().filter(move |(_, it)| **it == line).map(|(at, _)| at)
        };
        let known = of("known").next().unwrap_or_else(|| panic!("{step} was lost: {}", say()));
        assert!(of("do").next().is_some_and(|at| at < known), "{}", say());
        assert!(of("do").all(|at| at < known), "done again after it was stored: {}", say());
        assert_eq!(of("undo").next().is_some(), number.is_multiple_of(3), "{}", say());
    }
    let undone: Vec<_> = effects.iter().filter(|it| it.starts_with("undo")).collect();
    let first = undone.iter().position(|it| **it == "undo reserve").unwrap_or(undone.len());
    assert!(undone[first..].iter().all(|it| **it == "undo reserve"), "{}", say());
}
