//! The status of components.

use std::borrow::Cow;
use std::fmt;
use std::time::{Instant, SystemTime};

/// The state of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComponentState {
    /// It has not been started yet.
    New,
    /// It is being started.
    Starting,
    /// It does its work.
    Up,
    /// It runs, but should not be relied on, for this reason.
    NotReady(String),
    /// It failed for this reason, and is started again after a pause.
    Restarting {
        /// The number of the next attempt, from 1.
        attempt: u32,
        /// The reason.
        reason: String,
    },
    /// It failed for this reason, and is not restarted.
    GivenUp(String),
    /// It is being stopped.
    Stopping,
    /// It was stopped.
    Stopped,
}

impl ComponentState {
    /// The word for it, as health pages show it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            ComponentState::New => "new",
            ComponentState::Starting => "starting",
            ComponentState::Up => "up",
            ComponentState::NotReady(_) => "not_ready",
            ComponentState::Restarting { .. } => "restarting",
            ComponentState::GivenUp(_) => "given_up",
            ComponentState::Stopping => "stopping",
            ComponentState::Stopped => "stopped",
        }
    }

    /// The reason of the state, if there is one.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            ComponentState::NotReady(reason)
            | ComponentState::Restarting { reason, .. }
            | ComponentState::GivenUp(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether it runs, so that what needs it may.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self, ComponentState::Up | ComponentState::NotReady(_))
    }
}

impl fmt::Display for ComponentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            Some(reason) => write!(f, "{}: {reason}", self.word()),
            None => f.write_str(self.word()),
        }
    }
}

/// A component as a health page shows it.
#[derive(Clone, Debug)]
pub struct ComponentStatus {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The state.
    pub state: ComponentState,
    /// When it entered the state; `None` for [`ComponentState::New`].
    pub since: Option<Instant>,
    /// The same by the wall clock, as far as it could be trusted then.
    pub since_time: Option<SystemTime>,
    /// How many times it was started again with success.
    pub restarts: u64,
}

/// The record of a component. Registering one touches new memory, which is most of its cost, so
/// that later state is boxed.
#[derive(Debug)]
pub(crate) struct ComponentRecord {
    pub(crate) name: Cow<'static, str>,
    /// `None` for a new component.
    pub(crate) told: Option<Box<StatusRecord>>,
}

/// The record of a component that is not new any more.
#[derive(Debug)]
pub(crate) struct StatusRecord {
    state: ComponentState,
    since: Instant,
    since_time: SystemTime,
    pub(crate) restarts: u64,
}

impl ComponentRecord {
    pub(crate) fn state(&self) -> &ComponentState {
        self.told.as_ref().map_or(&ComponentState::New, |told| &told.state)
    }

    pub(crate) fn set_state(&mut self, state: ComponentState) {
        let (since, since_time) = (Instant::now(), SystemTime::now());
        match &mut self.told {
            Some(told) => {
                **told = StatusRecord { state, since, since_time, restarts: told.restarts }
            }
            None => {
                self.told = Some(Box::new(StatusRecord { state, since, since_time, restarts: 0 }))
            }
        }
    }

    pub(crate) fn status(&self) -> ComponentStatus {
        let told = self.told.as_deref();
        ComponentStatus {
            name: self.name.clone(),
            state: self.state().clone(),
            since: told.map(|told| told.since),
            since_time: told.map(|told| told.since_time),
            restarts: told.map_or(0, |told| told.restarts),
        }
    }
}

/// A change of a component's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// The component.
    pub name: Cow<'static, str>,
    /// The state before.
    pub from: ComponentState,
    /// The state after.
    pub to: ComponentState,
}

impl fmt::Display for StatusChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "component {} was {} and is {}", self.name, self.from.word(), self.to)
    }
}
