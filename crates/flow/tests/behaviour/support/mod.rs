//! A small world for flows to act on, which records the effects.

pub(crate) mod postman;

pub(crate) mod broken;
pub(crate) mod journey;

use rialto_disk::SimDisk;
use rialto_flow::store::{Level, LogOptions, LogStore, MemoryStore, Store};
use rialto_flow::{
    Flow, FlowContext, FlowError, FlowId, Flows, ManualClock, Options, StepError, StepKey,
    Timestamp,
};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The state outside of the flows, which survives their crash.
#[derive(Clone, Default)]
pub(crate) struct World {
    acts: Arc<Mutex<Vec<String>>>,
    /// After how many acts the process is killed, and on which disk it runs.
    end: Arc<Mutex<Option<(usize, SimDisk)>>>,
}

impl World {
    /// An effect, each time that it is carried out.
    pub(crate) fn act(&self, what: impl Into<String>) {
        self.acts.lock().unwrap().push(what.into());
        self.end_if_due();
    }

    /// Kills the process as soon as so much has been done, between this act and what follows.
    pub(crate) fn kill_after(&self, acts: usize, disk: &SimDisk) {
        *self.end.lock().unwrap() = Some((acts, disk.clone()));
    }

    fn end_if_due(&self) {
        let mut end = self.end.lock().unwrap();
        if let Some((_, disk)) = end.take_if(|(at, _)| self.acts.lock().unwrap().len() >= *at) {
            // Open files are gone with it, so nothing of this life is written any more.
            disk.kill();
        }
    }

    /// An effect that is distinguished by its key: carried out once, however often it is asked for.
    pub(crate) fn act_once(&self, what: &str, key: StepKey) {
        let what = format!("{what} [{key}]");
        let mut acts = self.acts.lock().unwrap();
        if !acts.contains(&what) {
            acts.push(what);
        }
        drop(acts);
        self.end_if_due();
    }

    pub(crate) fn acts(&self) -> Vec<String> {
        self.acts.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, what: &str) -> usize {
        self.acts.lock().unwrap().iter().filter(|act| act.starts_with(what)).count()
    }
}

/// Three steps, of which the third may fail.
pub(crate) struct Saga {
    pub(crate) world: World,
}

pub(crate) type SagaInput = (u64, bool);

impl Flow for Saga {
    const NAME: &'static str = "saga";
    type Input = SagaInput;
    type Output = u64;

    async fn run<'a>(
        &'a self,
        cx: &FlowContext<'a>,
        (amount, fails): &'a SagaInput,
    ) -> Result<u64, FlowError> {
        let one: u64 = cx
            .step("one", async || {
                self.world.act("one");
                Ok(*amount)
            })
            .compensate(async |value: u64| {
                self.world.act(format!("undo one {value}"));
                Ok(())
            })
            .await?;
        let two: u64 = cx
            .step("two", async || {
                self.world.act("two");
                Ok(one * 2)
            })
            .compensate(async |value: u64| {
                self.world.act(format!("undo two {value}"));
                Ok(())
            })
            .await?;
        cx.step("three", async || {
            self.world.act("three");
            if *fails { Err(StepError::permanent("no")) } else { Ok(two + 1) }
        })
        .await
    }
}

/// No threads, a clock that stands.
pub(crate) fn manual(clock: &ManualClock) -> Options {
    Options { workers: 0, clock: Arc::new(clock.clone()), seed: 1, ..Options::default() }
}

pub(crate) fn id(text: &str) -> FlowId {
    FlowId::new(text).unwrap()
}

pub(crate) fn clock() -> ManualClock {
    ManualClock::new(Timestamp(1_000_000_000))
}

pub(crate) fn now(clock: &ManualClock) -> Timestamp {
    rialto_flow::Clock::now(clock)
}

pub(crate) fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::default())
}

/// A store on a simulated disk, with segments as small as they can be.
pub(crate) fn on_disk(disk: &SimDisk, level: Level, life: u8) -> Arc<LogStore> {
    try_on_disk(disk, level, life).unwrap()
}

pub(crate) fn try_on_disk(
    disk: &SimDisk,
    level: Level,
    life: u8,
) -> Result<Arc<LogStore>, rialto_flow::store::StoreError> {
    let options = LogOptions { segment_bytes: 2 << 20, salt: [life; 16], ..LogOptions::new(level) };
    Ok(Arc::new(LogStore::open_on(Arc::new(disk.clone()), Path::new("/flows"), options)?))
}

pub(crate) fn saga(store: Arc<dyn Store>, world: &World, clock: &ManualClock) -> Flows {
    let saga = Saga { world: world.clone() };
    Flows::builder(store).register(saga).options(manual(clock)).open().unwrap()
}
