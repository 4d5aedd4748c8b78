//! Going on after a fault.

use super::{Live, LiveError};
use rialto_engine::Engine;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

impl Live {
    /// Starts another one with the same settings, which counts only what this one has not folded:
    /// for [`Live::take_over`], when it has caught up.
    ///
    /// # Errors
    /// As [`Live::start`].
    pub fn another(&self, engine: &Engine) -> Result<Arc<Live>, LiveError> {
        let folded = self.read().seq();
        Live::start_counting(engine, self.config.clone(), folded)
    }

    /// Goes on after a fault with what [another one](Live::another) has folded, which ends. Until
    /// then this one answers queries from what it had; it stays the one that everybody knows.
    /// Subscribers were cut off by the fault; they can join again.
    ///
    /// # Errors
    /// The system gives no thread. Nothing more is folded then, as before.
    pub fn take_over(&self, other: &Live) -> Result<(), LiveError> {
        self.stop();
        other.stop();
        let seq = {
            let mut feed = self.shared.feed.write().unwrap_or_else(PoisonError::into_inner);
            let mut fresh = other.shared.feed.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut *feed, &mut *fresh);
            feed.seq()
        };
        // A panic may have left it half folded; that state is gone.
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
