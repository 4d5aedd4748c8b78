//! The components of a process, from start to supervision.

use crate::component::{Component, Failure, Health, guarded};
use crate::error::ComponentStartError;
use crate::operations::Operations;
use crate::order::{Node, start_order};
use crate::overview::Overview;
use crate::restart::Restart;
use crate::status::{ComponentRecord, ComponentState, ComponentStatus, StatusChange};
use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a component may take to stop by default.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// The components of a process and the operations that they serve.
///
/// Register the components, start them, and share this in an `Arc` with code that shows health or
/// begins operations. Dropping it stops nothing: call [`Lifecycle::shutdown`].
#[derive(Debug, Default)]
pub struct Lifecycle {
    /// The running operations, and the status of the components.
    pub(crate) overview: Overview,
    /// The components, locked as long as a start or a restart takes.
    pub(crate) parts: Mutex<Vec<Box<Part>>>,
}

/// A component and its terms, in one allocation.
pub(crate) struct Part<C: ?Sized = dyn Component> {
    /// Its index on the board, with its name; starting reorders the parts.
    pub(crate) place: usize,
    /// `None` for the defaults.
    terms: Option<Box<Terms>>,
    attempts: u32,
    due: Option<Instant>,
    well_since: Option<Instant>,
    pub(crate) component: C,
}

/// The terms of a component.
#[derive(Debug)]
struct Terms {
    needs: Vec<Cow<'static, str>>,
    restart: Restart,
    stop_within: Duration,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms { needs: Vec::new(), restart: Restart::default(), stop_within: STOP_WITHIN }
    }
}

impl Part {
    fn needs(&self) -> &[Cow<'static, str>] {
        self.terms.as_ref().map_or(&[], |terms| &terms.needs)
    }

    fn restart(&self) -> Restart {
        self.terms.as_ref().map_or_else(Restart::default, |terms| terms.restart)
    }

    pub(crate) fn stop_within(&self) -> Duration {
        self.terms.as_ref().map_or(STOP_WITHIN, |terms| terms.stop_within)
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").field("place", &self.place).field("needs", &self.needs()).finish()
    }
}

/// Sets further terms of a component that was just registered.
#[derive(Debug)]
pub struct Registration<'a>(&'a mut Part);

impl Registration<'_> {
    fn terms(&mut self) -> &mut Terms {
        self.0.terms.get_or_insert_default()
    }

    /// Declares that it needs this one: it is started after it and stopped before it.
    pub fn needs(&mut self, name: impl Into<Cow<'static, str>>) -> &mut Self {
        self.terms().needs.push(name.into());
        self
    }

    /// Sets the restart policy.
    pub fn restart(&mut self, restart: Restart) -> &mut Self {
        self.terms().restart = restart;
        self
    }

    /// Sets how long it may take to stop; the default is 10 seconds.
    pub fn stop_within(&mut self, at_most: Duration) -> &mut Self {
        self.terms().stop_within = at_most;
        self
    }
}

impl Lifecycle {
    /// A process without components.
    #[must_use]
    pub fn new() -> Lifecycle {
        Lifecycle::default()
    }

    /// The operations that a shutdown lets end.
    #[must_use]
    pub fn operations(&self) -> &Operations {
        self.overview.operations()
    }

    /// The overview, for a component that shows health or begins operations. It holds no component,
    /// so that a component may hold it.
    #[must_use]
    pub fn overview(&self) -> Overview {
        self.overview.clone()
    }

    /// Adds a component under a name of its own, which [`Lifecycle::start`] checks.
    pub fn register(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        component: impl Component + 'static,
    ) -> Registration<'_> {
        let place = self.overview.add(name.into());
        let parts = self.parts.get_mut().unwrap_or_else(PoisonError::into_inner);
        let part = Part { place, terms: None, attempts: 0, due: None, well_since: None, component };
        parts.push(Box::new(part));
        Registration(parts.last_mut().expect("it was just pushed"))
    }

    /// Starts the components, each after its dependencies.
    ///
    /// # Errors
    /// There is no such order, or a component did not start. Those that were started by then are
    /// stopped again.
    pub fn start(&self) -> Result<(), ComponentStartError> {
        let mut parts = self.parts();
        let is_new =
            self.overview.board().iter().all(|standing| *standing.state() == ComponentState::New);
        if !is_new || self.operations().is_stopping() {
            return Err(ComponentStartError::NotNew);
        }
        put_in_order(&mut parts, &self.overview.board())?;
        for position in 0..parts.len() {
            let part = &mut parts[position];
            self.set(part.place, ComponentState::Starting);
            if let Err(source) = guarded(|| part.component.start()) {
                self.set(part.place, ComponentState::GivenUp(source.to_string()));
                let name = self.name(part.place).into_owned();
                for started in parts[..position].iter_mut().rev() {
                    self.set(started.place, ComponentState::Stopping);
                    let stopped = guarded(|| started.component.stop());
                    self.set(started.place, after_stop(&stopped));
                }
                return Err(ComponentStartError::Component { name, source });
            }
            part.well_since = Some(Instant::now());
            self.set(part.place, ComponentState::Up);
        }
        Ok(())
    }

    /// Checks every component once, restarts failed ones that are due, and returns the changes.
    /// `now` is for pauses between restarts; [`Lifecycle::supervise`] calls this again and again.
    /// Does nothing once a shutdown has begun.
    pub fn tend(&self, now: Instant) -> Vec<StatusChange> {
        let mut changes = Vec::new();
        for part in self.parts().iter_mut() {
            if self.operations().is_stopping() {
                break;
            }
            let before = self.state(part.place);
            let after = match &before {
                ComponentState::Up | ComponentState::NotReady(_) => self.look(part, now),
                ComponentState::Restarting { attempt, reason } => {
                    self.retry(part, *attempt, reason, now)
                }
                _ => continue,
            };
            if after != before {
                self.set(part.place, after.clone());
                changes.push(StatusChange { name: self.name(part.place), from: before, to: after });
            }
        }
        changes
    }

    /// The number of components.
    #[must_use]
    pub fn components(&self) -> usize {
        self.overview.board().len()
    }

    /// Whether it is ready for requests: every component is up, and it is not stopping.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.overview.is_ready()
    }

    /// Whether it can still become ready by itself. Once a component has been given up, only a new
    /// process helps.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.overview.is_alive()
    }

    /// Every component, in the order of registration. Never waits for one.
    #[must_use]
    pub fn status(&self) -> Vec<ComponentStatus> {
        self.overview.status()
    }

    fn look(&self, part: &mut Part, now: Instant) -> ComponentState {
        let health = guarded(|| Ok(part.component.health()))
            .unwrap_or_else(|failure| Health::Failed(failure.to_string()));
        if let Health::Failed(reason) = health {
            part.well_since = None;
            return fail(part, reason, now);
        }
        let well_since = *part.well_since.get_or_insert(now);
        if now.saturating_duration_since(well_since) >= part.restart().forgotten_after {
            part.attempts = 0;
        }
        match health {
            Health::NotReady(reason) => ComponentState::NotReady(reason),
            _ => ComponentState::Up,
        }
    }

    fn retry(&self, part: &mut Part, attempt: u32, reason: &str, now: Instant) -> ComponentState {
        let is_due = part.due.is_none_or(|due| now >= due);
        // Without a component that it needs the start would fail and use up an attempt.
        let can_start = part.needs().iter().all(|need| self.is_running(need));
        if !is_due || !can_start {
            return ComponentState::Restarting { attempt, reason: reason.to_string() };
        }
        // It has failed, so that an error of the stop adds nothing.
        let _ = guarded(|| part.component.stop());
        match guarded(|| part.component.start()) {
            Ok(()) => {
                part.well_since = Some(now);
                if let Some(told) = &mut self.overview.board()[part.place].told {
                    told.restarts += 1;
                }
                ComponentState::Up
            }
            Err(failure) => fail(part, failure.to_string(), now),
        }
    }

    pub(crate) fn parts(&self) -> MutexGuard<'_, Vec<Box<Part>>> {
        // Panics of components are caught before they get here.
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn state(&self, place: usize) -> ComponentState {
        self.overview.board()[place].state().clone()
    }

    pub(crate) fn name(&self, place: usize) -> Cow<'static, str> {
        self.overview.board()[place].name.clone()
    }

    fn is_running(&self, name: &str) -> bool {
        let board = self.overview.board();
        board.iter().any(|standing| standing.name == name && standing.state().is_running())
    }

    pub(crate) fn set(&self, place: usize, state: ComponentState) {
        self.overview.set(place, state);
    }
}

/// The next state of a failed component: another attempt, or given up.
fn fail(part: &mut Part, reason: String, now: Instant) -> ComponentState {
    let restart = part.restart();
    if part.attempts >= restart.attempts {
        return ComponentState::GivenUp(reason);
    }
    part.attempts += 1;
    part.due = Some(now + restart.pause(part.attempts));
    ComponentState::Restarting { attempt: part.attempts, reason }
}

pub(crate) fn after_stop(stopped: &Result<(), Failure>) -> ComponentState {
    match stopped {
        Ok(()) => ComponentState::Stopped,
        Err(failure) => ComponentState::GivenUp(failure.to_string()),
    }
}

fn put_in_order(
    parts: &mut [Box<Part>],
    board: &[ComponentRecord],
) -> Result<(), ComponentStartError> {
    let nodes: Vec<_> = parts
        .iter()
        .map(|part| Node { name: &board[part.place].name, needs: part.needs() })
        .collect();
    let order = start_order(&nodes)?;
    let mut rank = vec![0; parts.len()];
    for (position, &place) in order.iter().enumerate() {
        rank[place] = position;
    }
    parts.sort_by_key(|part| rank[part.place]);
    Ok(())
}
