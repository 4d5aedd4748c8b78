//! Calendars as a component: plans their transitions ahead, at every start and then every hour.
//!
//! The engine makes the transitions by itself. A calendar whose file has not changed is only
//! continued, from its last planned transition on: a venue that was down for longer than its plan
//! makes all that it missed, in order.

mod expand;
mod planner;

use super::LOOK_AGAIN;
use super::made::Made;
use crate::config::CalendarConfig;
use crate::tell_all;
use planner::{Held, Plan, Planner};
use rialto_desk::Live;
use rialto_engine::{Engine, Producer, SubmitError};
use rialto_lifecycle::{Component, Failure, Health};
use rialto_model::{Command, Name, Outcome, RejectReason, Seq, Timestamp};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the venue's time is read. It may jump, when an operator accepts a step of the clock.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often plans are continued, in the venue's time.
const PLAN_EVERY: u64 = 3_600 * Timestamp::SECOND;
/// How soon a plan is tried again that the engine refused.
const TRY_AGAIN: u64 = 60 * Timestamp::SECOND;
/// How often a plan is made again because a transition has begun meanwhile.
const OVERTAKEN_MAX: u32 = 3;
/// The longest wait for the engine and for the feed.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Part {
    configured: Vec<CalendarConfig>,
    engine: Made<Engine>,
    live: Made<Live>,
    /// Dropping the sender ends the thread.
    running: Option<(SyncSender<()>, JoinHandle<()>)>,
}

impl Part {
    pub(super) fn new(
        configured: Vec<CalendarConfig>,
        engine: Made<Engine>,
        live: Made<Live>,
    ) -> Part {
        Part { configured, engine, live, running: None }
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let (engine, live) = (self.engine.get()?, self.live.get()?);
        let producer = engine.producer();
        let mut calendars = Calendars { planners: Vec::new(), engine, live, producer };
        for configured in &self.configured {
            calendars.add(configured)?;
        }
        calendars.warn_of_others();
        let next = calendars.plan_at_the_start()?;
        let (stop, stopped) = sync_channel::<()>(0);
        let thread = std::thread::Builder::new().name("calendars".to_string());
        let thread = thread.spawn(move || {
            let mut next = next;
            while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if calendars.now() >= next {
                    next = calendars.plan_again();
                }
            }
        })?;
        self.running = Some((stop, thread));
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            thread.join().map_err(|_| Failure::from("the planning of calendars panicked"))?;
        }
        Ok(())
    }

    fn health(&mut self) -> Health {
        match &self.running {
            Some((_, thread)) if !thread.is_finished() => Health::Up,
            _ => Health::Failed("the planning of calendars has ended".to_string()),
        }
    }
}

/// The reason why a plan was not adopted.
#[derive(Debug, thiserror::Error)]
enum PlanError {
    #[error("the engine refuses the plan of calendar {name}: {}", reason.sentence())]
    Refused { name: Name, reason: RejectReason },
    #[error("the engine has not answered: it is stopping, or stalled")]
    NoAnswer,
}

struct Calendars {
    planners: Vec<Planner>,
    engine: Arc<Engine>,
    live: Arc<Live>,
    producer: Producer,
}

impl Calendars {
    /// Reads a calendar. One that is new to the engine must have days to come; an adopted one must
    /// not keep a venue from starting because its list of holidays has run out.
    fn add(&mut self, configured: &CalendarConfig) -> Result<(), Failure> {
        let file = configured.read()?;
        let checked = configured.check_days(&file, self.now());
        let planner = Planner::new(configured.name, file, configured.plan_days);
        if let Err(past) = checked {
            if !planner.is_adopted(self.held(configured.name).as_ref()) {
                return Err(past.into());
            }
            tracing::warn!("calendar {}: {past}", configured.name);
        }
        self.planners.push(planner);
        Ok(())
    }

    /// The venue's time.
    fn now(&self) -> Timestamp {
        self.engine.clock().time
    }

    fn held(&self, name: Name) -> Option<Held> {
        self.live.read().calendar(name).map(Held::of)
    }

    fn warn_of_others(&self) {
        for calendar in self.live.read().calendars() {
            let (name, planned) = (calendar.name, calendar.planned.len());
            if !self.planners.iter().any(|planner| planner.name == name) {
                tracing::warn!(
                    "calendar {name} is not in the configuration: its {planned} planned \
                     transitions will be made, and no others are planned"
                );
            }
        }
    }

    /// Plans every calendar. Rules of before calendars do not prevent a start: only a venue that
    /// runs can get later ones.
    fn plan_at_the_start(&mut self) -> Result<Timestamp, Failure> {
        match self.plan_all() {
            Ok(()) => Ok(self.now().saturating_add(PLAN_EVERY)),
            Err(PlanError::Refused { reason: RejectReason::CommandUnknown, .. }) => {
                tracing::error!(
                    "no calendar is followed: the rules in force know none. Put version 4 in force \
                     with rialto admin rules-version"
                );
                Ok(self.now().saturating_add(TRY_AGAIN))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The same while the venue runs. Returns when to do it again.
    fn plan_again(&mut self) -> Timestamp {
        let wait = match self.plan_all() {
            Ok(()) => PLAN_EVERY,
            Err(error) => {
                tracing::error!("calendars are not planned further: {}", tell_all(&error));
                TRY_AGAIN
            }
        };
        self.now().saturating_add(wait)
    }

    fn plan_all(&mut self) -> Result<(), PlanError> {
        (0..self.planners.len()).try_for_each(|nth| self.plan_one(nth))
    }

    fn plan_one(&mut self, nth: usize) -> Result<(), PlanError> {
        let name = self.planners[nth].name;
        let mut overtaken = 0;
        loop {
            // A plan follows what has begun, and what was missed after a long stop may be more than
            // the engine holds at a time.
            self.wait_for_due(name)?;
            let Some(plan) = self.planners[nth].lacks(self.held(name).as_ref(), self.now()) else {
                return Ok(());
            };
            match self.adopt(name, &plan) {
                Ok(seq) => self.wait_until(|calendars| calendars.live.seq() >= seq)?,
                // Another transition has begun meanwhile.
                Err(PlanError::Refused { reason: RejectReason::TransitionInvalid, .. })
                    if overtaken < OVERTAKEN_MAX =>
                {
                    overtaken += 1;
                    continue;
                }
                Err(error) => return Err(error),
            }
            let (count, last) = (plan.transitions.len(), plan.transitions.last());
            let last = last.map(|it| crate::inspect::utc::show(it.at));
            let (last, replaced) = (last.as_deref(), plan.replace);
            tracing::info!(%name, count, last, replaced, "the transitions of a calendar are planned");
        }
    }

    /// Sends a plan, and returns the sequence of its adoption.
    fn adopt(&mut self, calendar: Name, plan: &Plan) -> Result<Seq, PlanError> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).expect("a system without random numbers cannot keep secrets");
        let transitions = (0..).zip(&plan.transitions).map(|(number, transition)| {
            Command::PlanTransition { calendar, number, transition: *transition }
        });
        let adoption = Command::AdoptPlan {
            calendar,
            count: u32::try_from(plan.transitions.len()).unwrap_or(u32::MAX),
            digest: plan.digest,
            seed: u64::from_le_bytes(seed),
            replace: plan.replace,
        };
        let mut result = Ok(Seq::ZERO);
        for (nth, command) in transitions.chain([adoption]).enumerate() {
            while result.is_ok()
                && let Err(error) = self.producer.submit(0, &command, None)
            {
                result = match error {
                    SubmitError::Busy => self.answer(calendar),
                    SubmitError::Stopped | SubmitError::TooManyProducers => {
                        Err(PlanError::NoAnswer)
                    }
                };
            }
            // If the rules know no calendars, the first answer says so.
            if nth == 0 && result.is_ok() {
                result = self.answer(calendar);
            }
            if result.is_err() {
                break;
            }
        }
        // All answers are taken: one that is left would be taken for that of a later plan.
        while self.producer.outstanding() > 0 {
            let answer = self.answer(calendar);
            if matches!(answer, Err(PlanError::NoAnswer)) {
                return answer;
            }
            result = result.and(answer);
        }
        result
    }

    /// Waits for the next answer.
    fn answer(&mut self, name: Name) -> Result<Seq, PlanError> {
        let reply = self.producer.reply_timeout(PATIENCE).ok_or(PlanError::NoAnswer)?;
        let answer = reply.answer.map_err(|_| PlanError::NoAnswer)?;
        match answer.outcome {
            Outcome::Rejected { reason } => Err(PlanError::Refused { name, reason }),
            _ => Ok(answer.seq),
        }
    }

    /// Waits until the engine has made the transitions that are due, and the feed shows it.
    fn wait_for_due(&self, name: Name) -> Result<(), PlanError> {
        let now = self.now();
        self.wait_until(|calendars| {
            let feed = calendars.live.read();
            let first = feed.calendar(name).and_then(|calendar| calendar.planned.first());
            first.is_none_or(|first| first.at > now)
        })
    }

    fn wait_until(&self, is_reached: impl Fn(&Calendars) -> bool) -> Result<(), PlanError> {
        let end = Instant::now() + PATIENCE;
        while !is_reached(self) {
            if Instant::now() >= end || self.live.fault().is_some() {
                return Err(PlanError::NoAnswer);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }
}
