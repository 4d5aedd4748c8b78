//! A flow with every kind of operation, in a world that detects wrong effects.

use super::{World, id, manual};
use rialto_flow::store::Store;
use rialto_flow::{
    Flow, FlowContext, FlowError, FlowId, Flows, FlowsError, Handle, ManualClock, RetryPolicy,
    RunError, StepError, StepKey,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// The fate of a journey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fate {
    /// It comes to its end; the event that it waits for comes before it waits.
    Completes,
    /// Its last step fails for good; the event comes while it waits.
    Fails,
    /// The event that it waits for never comes.
    LacksEvent,
    /// It is cancelled while it waits.
    IsCancelled,
}

impl Fate {
    pub(crate) const ALL: [Fate; 4] =
        [Fate::Completes, Fate::Fails, Fate::LacksEvent, Fate::IsCancelled];
}

fn known(run: FlowId, step: &str) -> String {
    format!("known {run}/{step}/")
}

impl World {
    /// A step with an effect, which fails as often as is said before it succeeds.
    async fn carry_out(
        &self,
        key: StepKey,
        (run, name): (FlowId, &str),
        failures: usize,
    ) -> Result<u64, StepError> {
        assert_eq!(self.count(&known(run, name)), 0, "{key} runs again after it was confirmed");
        self.act(format!("try {key}"));
        if self.count(&format!("failed {key}")) < failures {
            self.act(format!("failed {key}"));
            return Err(StepError::retryable("not yet"));
        }
        self.act_once("done", key);
        Ok(name.len() as u64)
    }

    /// Undoes a step. The first attempt fails.
    async fn take_back(&self, what: &'static str) -> Result<(), StepError> {
        self.act(format!("undo {what}"));
        if self.count(&format!("cannot undo {what}")) == 0 {
            self.act(format!("cannot undo {what}"));
            return Err(StepError::retryable("not yet"));
        }
        Ok(())
    }

    /// A step without frills.
    async fn plain(&self, cx: &FlowContext<'_>, name: &'static str) -> Result<u64, FlowError> {
        let run = cx.id();
        let value = cx.keyed_step(name, |key| self.carry_out(key, (run, name), 0)).await?;
        self.act(known(run, name));
        Ok(value)
    }

    /// A step that is tried twice and can be undone.
    async fn undone<'a>(
        &'a self,
        cx: &FlowContext<'a>,
        name: &'static str,
    ) -> Result<u64, FlowError> {
        let run = cx.id();
        let value = cx
            .keyed_step(name, |key| self.carry_out(key, (run, name), 1))
            .retry(RetryPolicy::exponential(5))
            .timeout(Duration::from_secs(5))
            .compensate(move |_: u64| self.take_back(name))
            .await?;
        self.act(known(run, name));
        Ok(value)
    }
}

/// The child of a journey.
struct Leg(World);

impl Flow for Leg {
    const NAME: &'static str = "leg";
    type Input = u64;
    type Output = u64;

    async fn run<'a>(&'a self, cx: &FlowContext<'a>, input: &'a u64) -> Result<u64, FlowError> {
        let out = self.0.undone(cx, "drive").await?;
        cx.sleep("refuel", Duration::from_secs(30)).await?;
        Ok(input + out + self.0.plain(cx, "park").await?)
    }
}

/// Steps, two branches, a child, an event, a pause, and an end that may fail.
pub(crate) struct Journey(World);

impl Flow for Journey {
    const NAME: &'static str = "journey";
    type Input = Fate;
    type Output = u64;

    async fn run<'a>(&'a self, cx: &FlowContext<'a>, fate: &'a Fate) -> Result<u64, FlowError> {
        let world = &self.0;
        let packed = world.undone(cx, "pack").await?;
        let (left, right) = (cx.branch(), cx.branch());
        let (rode, boarded) = cx
            .both(
                async {
                    let visa = world.plain(&left, "visa").await?;
                    let leg = left.child::<Leg>("leg", id(&format!("{}-leg", cx.id())), visa);
                    leg.compensate(|_| world.take_back("leg")).await
                },
                async {
                    let ticket = right.wait_for::<u64>("ticket");
                    let ticket = ticket.within(Duration::from_secs(3600)).await?;
                    let ticket = ticket.ok_or(FlowError::failed("no ticket"))?;
                    Ok(ticket + world.undone(&right, "board").await?)
                },
            )
            .await?;
        cx.sleep("rest", Duration::from_secs(60)).await?;
        let arrived = cx.step("arrive", async || match fate {
            Fate::Fails => Err(StepError::permanent("the road is closed")),
            _ => Ok(1_u64),
        });
        Ok(packed + rode + boarded + arrived.await?)
    }
}

/// The state that callers of a journey keep across lives of the process.
pub(crate) struct Caller {
    pub(crate) world: World,
    pub(crate) clock: ManualClock,
    pub(crate) fate: Fate,
    /// Whether the event or the cancel was confirmed.
    is_told: bool,
}

pub(crate) type Outcome = Result<u64, RunError>;

impl Caller {
    pub(crate) fn new(fate: Fate) -> Self {
        Self { world: World::default(), clock: super::clock(), fate, is_told: false }
    }

    pub(crate) fn flows(&self, store: Arc<dyn Store>) -> Result<Flows, FlowsError> {
        let (journey, leg) = (Journey(self.world.clone()), Leg(self.world.clone()));
        Flows::builder(store).register(journey).register(leg).options(manual(&self.clock)).open()
    }

    /// Lets the journey come as far as it does in one life of the process. An error is the end of
    /// that life.
    pub(crate) fn live(&mut self, store: Arc<dyn Store>) -> Result<Outcome, FlowsError> {
        let flows = self.flows(store)?;
        let run = flows.start::<Journey>(id("j"), self.fate)?;
        run.confirmed().wait()?;
        if self.fate == Fate::Completes {
            self.act_from_outside(&flows)?;
        }
        for _ in 0..200 {
            flows.run_until_idle()?;
            if let Some(outcome) = ended(&run) {
                return Ok(outcome);
            }
            // By now the flow waits for the event, and its child for a time.
            let waits = self.world.count("known j-leg/drive/") > 0;
            if waits && matches!(self.fate, Fate::Fails | Fate::IsCancelled) {
                self.act_from_outside(&flows)?;
                flows.run_until_idle()?;
            }
            if let Some(at) = flows.next_timer() {
                self.clock.set(at);
            }
        }
        panic!("the journey stands still after {:#?}", self.world.acts());
    }

    fn act_from_outside(&mut self, flows: &Flows) -> Result<(), FlowsError> {
        if self.is_told {
            return Ok(());
        }
        let told = match self.fate {
            Fate::IsCancelled => flows.cancel(id("j")),
            _ => flows.deliver(id("j"), "ticket", &7_u64),
        };
        match told {
            Ok(confirmation) => confirmation.wait()?,
            // It was stored in an earlier life, which ended before it was confirmed.
            Err(FlowsError::NotRunning(_)) => {}
            Err(error) => return Err(error),
        }
        self.is_told = true;
        Ok(())
    }

    /// The effects and undone effects in the end, without repetitions.
    pub(crate) fn effects(&self) -> (Vec<String>, Vec<String>) {
        let acts = self.world.acts();
        let mut done: Vec<_> =
            acts.iter().filter(|act| act.starts_with("done ")).cloned().collect();
        done.sort();
        let mut undone: Vec<_> = acts.into_iter().filter(|act| act.starts_with("undo ")).collect();
        // What is being undone when the process dies is undone once more, before anything else.
        undone.dedup();
        (done, undone)
    }

    /// How often each step was begun, at most.
    pub(crate) fn tries_max(&self) -> usize {
        let acts = self.world.acts();
        let tries = acts.iter().filter(|act| act.starts_with("try "));
        tries.map(|act| acts.iter().filter(|other| *other == act).count()).max().unwrap_or(0)
    }
}

fn ended(run: &Handle<u64>) -> Option<Outcome> {
    run.outcome().filter(|outcome| !matches!(outcome, Err(RunError::Store(_))))
}
