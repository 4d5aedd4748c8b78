//! Components, which can be started and stopped.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The error of a component that could not start or stop.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A part of a process that is started and stopped, such as a thread with what it works on.
///
/// No method has a default, so that no component forgets to report its health. A panic in any of
/// the methods counts as a failure with its message.
pub trait Component: Send {
    /// Starts it, and returns when its dependents can use it. Also called after
    /// [`Component::stop`], when a component that failed is started again.
    ///
    /// # Errors
    /// It is not started, and has left nothing behind that a later start would trip over.
    fn start(&mut self) -> Result<(), Failure>;

    /// Stops it, and returns when it is stopped. Also called on one that has failed.
    ///
    /// # Errors
    /// It may not be stopped, or has lost something. It is not asked again.
    fn stop(&mut self) -> Result<(), Failure>;

    /// Returns its health. It is called often and must not wait.
    fn health(&mut self) -> Health;
}

/// The health of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It does its work.
    Up,
    /// It works, but should not be relied on now, for this reason, such as catching up. The process
    /// is not ready, and nothing is restarted.
    NotReady(String),
    /// It has failed for this reason, and only a restart may help.
    Failed(String),
}

/// Calls a method of a component, and makes an error of a panic.
pub(crate) fn guarded<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // After a panic the component is stopped next, whatever its state.
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|panic| Err(Box::new(Panicked::of(panic.as_ref()))))
}

#[derive(Debug)]
struct Panicked(String);

impl Panicked {
    fn of(panic: &(dyn Any + Send)) -> Panicked {
        let message = panic
            .downcast_ref::<&str>()
            .map(|message| (*message).to_string())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_string());
        Panicked(message)
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it panicked: {}", self.0)
    }
}

impl std::error::Error for Panicked {}
