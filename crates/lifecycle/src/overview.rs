//! The overview of a process.

use crate::operations::Operations;
use crate::status::{ComponentRecord, ComponentState, ComponentStatus};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The status of the components of a process, and its running operations.
///
/// A clone shows the same process. It holds no component and waits for none, so a component may
/// hold one: that is how a gateway shows the health of the process that it is a part of.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    operations: Operations,
    /// By component index, locked only to read or to write.
    board: Arc<Mutex<Vec<ComponentRecord>>>,
}

impl Overview {
    /// The operations that a shutdown lets end.
    #[must_use]
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// As [`Lifecycle::is_ready`](crate::Lifecycle::is_ready).
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.operations.is_stopping()
            && self.board().iter().all(|standing| *standing.state() == ComponentState::Up)
    }

    /// As [`Lifecycle::is_alive`](crate::Lifecycle::is_alive).
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.board().iter().any(|standing| matches!(standing.state(), ComponentState::GivenUp(_)))
    }

    /// Every component, in the order of registration.
    #[must_use]
    pub fn status(&self) -> Vec<ComponentStatus> {
        self.board().iter().map(ComponentRecord::status).collect()
    }

    /// Adds a component, and returns its index.
    pub(crate) fn add(&self, name: Cow<'static, str>) -> usize {
        let mut board = self.board();
        board.push(ComponentRecord { name, told: None });
        board.len() - 1
    }

    pub(crate) fn set(&self, place: usize, state: ComponentState) {
        self.board()[place].set_state(state);
    }

    pub(crate) fn board(&self) -> MutexGuard<'_, Vec<ComponentRecord>> {
        // Each change is one assignment.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
