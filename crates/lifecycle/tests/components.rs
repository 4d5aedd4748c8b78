//! Components start in order, are restarted or given up, and stop in the opposite order.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_lifecycle::{
    Component, ComponentStartError, ComponentState, Failure, Health, Lifecycle, Restart,
    StatusChange,
};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What happened, in order.
type Story = Arc<Mutex<Vec<String>>>;

/// A component that does as the test says and writes down what was asked of it.
#[derive(Clone)]
struct Part {
    name: &'static str,
    story: Story,
    health: Arc<Mutex<Health>>,
    starts: Arc<Mutex<Vec<Result<(), &'static str>>>>,
}

impl Part {
    fn new(name: &'static str, story: &Story) -> Part {
        Part {
            name,
            story: Arc::clone(story),
            health: Arc::new(Mutex::new(Health::Up)),
            starts: Arc::default(),
        }
    }

    fn is(&self, health: Health) {
        *self.health.lock().unwrap() = health;
    }

    /// The results of the next starts; those after them succeed.
    fn starts_with(&self, results: &[Result<(), &'static str>]) {
        *self.starts.lock().unwrap() = results.iter().rev().copied().collect();
    }

    fn note(&self, what: &str) {
        self.story.lock().unwrap().push(format!("{what} {}", self.name));
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        self.note("start");
        let result = self.starts.lock().unwrap().pop().unwrap_or(Ok(()));
        if result.is_ok() {
            self.is(Health::Up);
        }
        result.map_err(Failure::from)
    }

    fn stop(&mut self) -> Result<(), Failure> {
        self.note("stop");
        Ok(())
    }

    fn health(&mut self) -> Health {
        self.health.lock().unwrap().clone()
    }
}

fn failed(reason: &str) -> Health {
    Health::Failed(reason.to_string())
}

fn calls(story: &Story) -> Vec<String> {
    std::mem::take(&mut *story.lock().unwrap())
}

fn states(changes: &[StatusChange]) -> Vec<String> {
    changes.iter().map(|change| format!("{} {}", change.name, change.to)).collect()
}

const AFTER: Restart = Restart {
    attempts: 2,
    first: Duration::from_millis(100),
    longest: Duration::from_secs(1),
    forgotten_after: Duration::from_secs(60),
};

#[test]
fn they_start_after_what_they_need_and_stop_before_it() {
    let story = Story::default();
    let mut venue = Lifecycle::new();
    venue.register("gateway", Part::new("gateway", &story)).needs("engine").needs("feed");
    venue.register("feed", Part::new("feed", &story)).needs("engine");
    venue.register("engine", Part::new("engine", &story));
    assert!(!venue.is_ready());
    venue.start().unwrap();
    assert!(venue.is_ready());
    let report = venue.shutdown(Duration::ZERO);
    assert!(report.is_clean() && !venue.is_ready());
    let expected =
        ["start engine", "start feed", "start gateway", "stop gateway", "stop feed", "stop engine"];
    assert_eq!(calls(&story), expected);
    assert_eq!(venue.components(), 3);
    let names: Vec<_> = venue.status().into_iter().map(|status| status.name).collect();
    assert_eq!(names, ["gateway", "feed", "engine"], "shown as they were registered");
    assert!(venue.shutdown(Duration::ZERO).stopped.is_empty(), "there is nothing left to stop");
    assert!(matches!(venue.start(), Err(ComponentStartError::NotNew)));
}

#[test]
fn one_that_does_not_start_is_named_and_those_before_it_are_stopped() {
    let story = Story::default();
    let mut venue = Lifecycle::new();
    let feed = Part::new("feed", &story);
    feed.starts_with(&[Err("no memory")]);
    venue.register("engine", Part::new("engine", &story));
    venue.register("feed", feed).needs("engine");
    venue.register("gateway", Part::new("gateway", &story)).needs("feed");
    let error = venue.start().unwrap_err();
    assert_eq!(error.to_string(), "component feed did not start");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no memory");
    assert_eq!(calls(&story), ["start engine", "start feed", "stop engine"]);
}

#[test]
fn nothing_is_started_if_there_is_no_order() {
    let story = Story::default();
    let mut venue = Lifecycle::new();
    venue.register("a", Part::new("a", &story)).needs("b");
    venue.register("b", Part::new("b", &story)).needs("a");
    assert!(matches!(venue.start(), Err(ComponentStartError::Order(_))));
    assert!(calls(&story).is_empty());
}

#[test]
fn one_that_fails_is_restarted_after_pauses_that_grow_and_then_given_up() {
    let story = Story::default();
    let mut venue = Lifecycle::new();
    let feed = Part::new("feed", &story);
    venue.register("feed", feed.clone()).restart(AFTER);
    venue.start().unwrap();
    let begin = Instant::now();
    let at = |ms| begin + Duration::from_millis(ms);
    assert!(venue.tend(at(0)).is_empty());

    feed.is(failed("lost"));
    feed.starts_with(&[Err("still lost"), Err("lost for good")]);
    assert_eq!(states(&venue.tend(at(10))), ["feed restarting: lost"]);
    assert!(venue.is_alive() && !venue.is_ready());
    assert!(venue.tend(at(109)).is_empty(), "the first pause is 100 ms");
    assert_eq!(states(&venue.tend(at(110))), ["feed restarting: still lost"]);
    assert!(venue.tend(at(309)).is_empty(), "the second is 200 ms");
    assert_eq!(states(&venue.tend(at(310))), ["feed given_up: lost for good"]);
    assert!(!venue.is_alive());
    assert!(venue.tend(at(100_000)).is_empty());
    let expected = ["start feed", "stop feed", "start feed", "stop feed", "start feed"];
    assert_eq!(calls(&story), expected);
}

#[test]
fn one_that_was_well_for_long_has_all_its_attempts_again() {
    let story = Story::default();
    let mut venue = Lifecycle::new();
    let feed = Part::new("feed", &story);
    venue.register("feed", feed.clone()).restart(AFTER);
    venue.start().unwrap();
    let mut now = Instant::now();
    for round in 0..5 {
        feed.is(failed("lost"));
        assert_eq!(states(&venue.tend(now)), ["feed restarting: lost"], "round {round}");
        now += Duration::from_millis(100);
        assert_eq!(states(&venue.tend(now)), ["feed up"], "round {round}");
        now += Duration::from_secs(60);
        assert!(venue.tend(now).is_empty());
    }
    assert_eq!(venue.status()[0].restarts, 5);
}

#[test]
fn one_is_not_restarted_while_what_it_needs_is_down() {
    let story = Story::default();
    let mut venue = Lifecycle::new();
    let (engine, feed) = (Part::new("engine", &story), Part::new("feed", &story));
    venue.register("engine", engine.clone()).restart(AFTER);
    let first = Duration::ZERO;
    venue.register("feed", feed.clone()).needs("engine").restart(Restart { first, ..AFTER });
    venue.start().unwrap();
    calls(&story);
    engine.is(failed("lost"));
    feed.is(failed("cut off"));
    let now = Instant::now();
    venue.tend(now);
    assert!(venue.tend(now + Duration::from_millis(50)).is_empty());
    let changes = venue.tend(now + Duration::from_millis(100));
    assert_eq!(states(&changes), ["engine up", "feed up"]);
    assert_eq!(calls(&story), ["stop engine", "start engine", "stop feed", "start feed"]);
}

#[test]
fn a_component_that_is_not_ready_refuses_requests_and_is_not_restarted() {
    let story = Story::default();
    let mut venue = Lifecycle::new();
    let feed = Part::new("feed", &story);
    venue.register("feed", feed.clone());
    venue.start().unwrap();
    feed.is(Health::NotReady("2,000 behind".to_string()));
    assert_eq!(states(&venue.tend(Instant::now())), ["feed not_ready: 2,000 behind"]);
    assert!(venue.is_alive() && !venue.is_ready());
    feed.is(Health::Up);
    assert_eq!(states(&venue.tend(Instant::now())), ["feed up"]);
    assert!(venue.is_ready());
    assert_eq!(calls(&story), ["start feed"]);
}

struct Panics;

impl Component for Panics {
    fn start(&mut self) -> Result<(), Failure> {
        panic!("no legs");
    }

    fn stop(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn health(&mut self) -> Health {
        Health::Up
    }
}

#[test]
fn a_panic_is_a_failure_with_its_message() {
    let mut venue = Lifecycle::new();
    venue.register("walker", Panics);
    let error = venue.start().unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "it panicked: no legs");
}

/// Its stop waits until the test lets it.
struct Stubborn(mpsc::Receiver<()>);

impl Component for Stubborn {
    fn start(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        Ok(self.0.recv()?)
    }

    fn health(&mut self) -> Health {
        Health::Up
    }
}

#[test]
fn a_component_that_does_not_stop_is_reported_and_blocks_no_other() {
    let story = Story::default();
    let (let_go, held) = mpsc::channel();
    let mut venue = Lifecycle::new();
    venue.register("engine", Part::new("engine", &story));
    venue
        .register("stubborn", Stubborn(held))
        .needs("engine")
        .stop_within(Duration::from_millis(5));
    venue.start().unwrap();
    let report = venue.shutdown(Duration::ZERO);
    assert!(!report.is_clean());
    assert!(report.to_string().contains("stubborn did not stop"), "{report}");
    assert_eq!(calls(&story), ["start engine", "stop engine"]);
    let_go.send(()).unwrap();
}

#[test]
fn the_supervisor_restarts_and_tells_until_it_is_dropped() {
    let story = Story::default();
    let mut venue = Lifecycle::new();
    let feed = Part::new("feed", &story);
    let first = Duration::ZERO;
    venue.register("feed", feed.clone()).restart(Restart { first, ..AFTER });
    venue.start().unwrap();
    let venue = Arc::new(venue);
    let (tell, changes) = mpsc::channel();
    let supervisor = venue
        .supervise(Duration::from_millis(1), move |change| tell.send(change.to.clone()).unwrap())
        .unwrap();
    feed.is(failed("lost"));
    let expected =
        [ComponentState::Restarting { attempt: 1, reason: "lost".to_string() }, ComponentState::Up];
    for state in expected {
        assert_eq!(changes.recv_timeout(Duration::from_secs(60)).unwrap(), state);
    }
    drop(supervisor);
    assert!(changes.recv().is_err(), "its thread has ended");
    assert_eq!(Arc::strong_count(&venue), 1);
}
