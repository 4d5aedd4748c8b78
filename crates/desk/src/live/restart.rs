//! Restarting the feed after a fault.

use super::{Live, LiveError};
use rialto_engine::Engine;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

impl Live {
    /// Starts a second feed with the same settings, for [`Live::take_over`] when it has caught up.
    /// It counts only commands that this one has not folded.
    ///
    /// # Errors
    /// As [`Live::start`].
    pub fn another(&self, engine: &Engine) -> Result<Arc<Live>, LiveError> {
        let folded = self.read().seq();
        Live::start_counting(engine, self.config.clone(), folded)
    }

    /// Continues after a fault with the state of [a second feed](Live::another), which ends. Until
    /// then this feed answers queries from its old state. Listeners were closed by the fault; they
    /// can join again.
    ///
    /// # Errors
    /// The system refused to start a thread; the feed stays faulted.
    pub fn take_over(&self, other: &Live) -> Result<(), LiveError> {
        self.stop();
        other.stop();
        let seq = {
            let mut feed = self.shared.feed.write().unwrap_or_else(PoisonError::into_inner);
            let mut newer = other.shared.feed.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut *feed, &mut *newer);
            feed.seq()
        };
        // A panic may have left half a fold; that state has been replaced.
        self.shared.feed.clear_poison();
        self.shared.counts.add_all(&other.shared.counts);
        self.shared.stop.store(false, Ordering::Release);
        self.shared.hub.reopen(seq);
        self.shared.folded.send_replace(seq);
        self.follow_from(seq.next(), seq)?;
        *self.shared.fault() = None;
        Ok(())
    }
}
