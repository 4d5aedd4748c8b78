//! Whether the control log can be written.

use crate::error::QueueError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The reason that nothing is written now.
#[derive(Debug)]
enum Reason {
    /// The disk failed. The log is restarted when that is possible.
    Failed(String),
    Closed,
}

/// The fault that keeps the control log from being written, if any.
#[derive(Debug, Default)]
pub(super) struct ControlFault {
    /// Read by every acknowledgement without taking the lock.
    is_any: AtomicBool,
    reason: Mutex<Option<Reason>>,
}

impl ControlFault {
    fn reason(&self) -> MutexGuard<'_, Option<Reason>> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(super) fn check(&self) -> Result<(), QueueError> {
        if !self.is_any.load(Ordering::Acquire) {
            return Ok(());
        }
        match &*self.reason() {
            None => Ok(()),
            Some(Reason::Failed(reason)) => Err(QueueError::ControlFailed(reason.clone())),
            Some(Reason::Closed) => Err(QueueError::Closed),
        }
    }

    /// The disk's error, if it failed.
    pub(super) fn failure(&self) -> Option<String> {
        if !self.is_any.load(Ordering::Acquire) {
            return None;
        }
        match &*self.reason() {
            Some(Reason::Failed(reason)) => Some(reason.clone()),
            Some(Reason::Closed) | None => None,
        }
    }

    /// Records a disk failure. The first reason is kept, because later ones follow from it.
    pub(super) fn failed(&self, error: &QueueError) {
        self.reason().get_or_insert_with(|| {
            tracing::error!("the queue can record nothing until its disk is well: {error}");
            Reason::Failed(error.to_string())
        });
        self.is_any.store(true, Ordering::Release);
    }

    pub(super) fn closed(&self) {
        *self.reason() = Some(Reason::Closed);
        self.is_any.store(true, Ordering::Release);
    }

    /// Clears the fault.
    pub(super) fn mended(&self) {
        let mut reason = self.reason();
        if matches!(*reason, Some(Reason::Failed(_))) {
            *reason = None;
            tracing::info!("the queue has begun its control log anew and goes on");
            self.is_any.store(false, Ordering::Release);
        }
    }
}
