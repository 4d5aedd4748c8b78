//! The simulated flow of orders: a thread that submits to the engine like anybody else and sees
//! of the venue what everybody sees.

mod conditional;
mod crowd;
mod dice;
mod fair;
mod funds;
mod icebergs;
mod linked;
mod makers;
mod plan;
mod takers;
mod varied;
mod world;

use super::markets::{MEMBERS, Role};
use crate::Error;
use crowd::Crowd;
use makers::Makers;
use plan::{Plan, Purpose};
use rialto_desk::Live;
use rialto_engine::{Producer, Reply, SubmitError};
use rialto_model::{Command, Instrument, MassCancel, Outcome, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use takers::Takers;
use world::World;

/// The interval at which the members read the market.
const PERIOD: Duration = Duration::from_millis(5);
/// The most time that is made up for after the machine was busy.
const CATCH_UP: Duration = Duration::from_millis(50);
/// The interval at which members read their balances.
const FUNDS_PERIOD: Duration = Duration::from_secs(1);
/// The longest wait for the last answers at the end.
const LAST_REPLIES: Duration = Duration::from_secs(10);

/// A running order flow.
pub(crate) struct Flow {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Flow {
    /// Starts the flow at about `rate` new orders a second. The members' actions follow from `seed`
    /// and from the venue's answers.
    pub(crate) fn start(
        producer: Producer,
        live: Arc<Live>,
        instruments: Vec<Instrument>,
        rate: u32,
        seed: u64,
    ) -> Result<Flow, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let world = World::new(seed, instruments, &live.read());
        let members = Members {
            stop: Arc::clone(&stop),
            producer,
            live,
            rate: f64::from(rate),
            outstanding: 0,
            world,
            makers: Makers::new(),
            crowd: Crowd::new(),
            takers: Takers::new(),
            plan: Plan::default(),
        };
        let thread = std::thread::Builder::new().name("demo-flow".to_string());
        let thread = thread
            .spawn(move || members.run())
            .map_err(|error| Error::Assemble(format!("no thread for the flow: {error}")))?;
        Ok(Flow { stop, thread: Some(thread) })
    }

    /// Whether the flow has ended, as it does when the engine takes no more commands.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Flow {
    /// Ends the flow and waits for its last answers.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // The panic hook has printed the panic.
            let _ = thread.join();
        }
    }
}

/// All simulated members.
struct Members {
    stop: Arc<AtomicBool>,
    producer: Producer,
    live: Arc<Live>,
    rate: f64,
    outstanding: usize,
    world: World,
    makers: Makers,
    crowd: Crowd,
    takers: Takers,
    plan: Plan,
}

impl Members {
    fn run(mut self) {
        self.begin();
        let mut before = Instant::now();
        let mut funds_due = before;
        let mut orders_due = 0.0;
        let mut runs = self.submit();
        while runs && !self.stop.load(Ordering::Acquire) {
            let now = Instant::now();
            self.world.step(now - before);
            let most = (self.rate * CATCH_UP.as_secs_f64()).max(1.0);
            orders_due = (orders_due + self.rate * (now - before).as_secs_f64()).min(most);
            before = now;
            if now >= funds_due {
                funds_due = now + FUNDS_PERIOD;
                let feed = self.live.read();
                funds::top_up(&feed, &mut self.plan);
                self.makers.skew(&feed, &self.world.instruments);
            }
            self.plan_orders(orders_due as usize);
            orders_due -= orders_due.floor();
            runs = self.submit();
            self.listen(now + PERIOD);
        }
        let end = Instant::now() + LAST_REPLIES;
        while self.outstanding > 0 && Instant::now() < end {
            self.listen(end.min(Instant::now() + PERIOD));
        }
    }

    /// Begins without orders: the members do not know the resting orders of an earlier run.
    fn begin(&mut self) {
        for member in MEMBERS.iter().filter(|member| member.role != Role::Visitor) {
            let all = MassCancel { account: member.account(), instrument: None, side: None };
            self.plan.add(Purpose::Plain, Command::MassCancel(all));
        }
    }

    /// Enters `count` orders, by the members whose turn it is.
    fn plan_orders(&mut self, count: usize) {
        let Members { live, world, makers, crowd, takers, plan, .. } = self;
        let feed = live.read();
        world.see(&feed);
        for _ in 0..count {
            match world.dice.below(100) {
                0..80 => makers.plan(world, &feed, plan),
                80..93 => crowd.plan(world, &feed, plan),
                _ => takers.plan(world, &feed, plan),
            }
        }
    }

    /// Submits the planned commands; `false` once the engine takes no more.
    fn submit(&mut self) -> bool {
        let mut runs = true;
        for (purpose, command) in std::mem::take(&mut self.plan.steps) {
            match self.producer.submit(purpose.token(), &command, None) {
                Ok(()) => self.outstanding += 1,
                Err(error) => {
                    runs &= error != SubmitError::Stopped;
                    self.learn(purpose, None);
                }
            }
        }
        runs
    }

    /// Takes answers until `end`.
    fn listen(&mut self, end: Instant) {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.producer.reply_timeout(left) {
                Some(reply) => self.take(reply),
                None => return,
            }
        }
    }

    fn take(&mut self, reply: Reply) {
        self.outstanding = self.outstanding.saturating_sub(1);
        let order = match reply.outcome() {
            Ok(Outcome::Order { order, status, .. }) if status.is_open() => Some(order),
            _ => None,
        };
        self.learn(Purpose::of(reply.token), order);
    }

    fn learn(&mut self, purpose: Purpose, order: Option<rialto_model::OrderId>) {
        match purpose {
            Purpose::Plain => {}
            Purpose::Quote(slot) => self.makers.learn(slot, order),
            Purpose::Standing(list) => self.crowd.learn(list, order),
            Purpose::Waiting(list) => self.takers.learn(list, order),
            Purpose::Conditional(market) => self.takers.learn_conditional(market, order),
        }
    }
}

/// The time by this machine's clock, as the sequencer stamps it.
fn now() -> Timestamp {
    Timestamp(rialto_gateway::now_us().saturating_mul(1_000))
}
