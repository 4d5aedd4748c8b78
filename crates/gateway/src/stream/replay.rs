//! Resuming a private stream: its past from the event log, then on without gap or repetition.

use super::message;
use super::outbox::Outbox;
use rialto_desk::{Live, Names, PrivateChannel, Subscription, owners};
use rialto_engine::ReadEventsError;
use rialto_model::{AccountId, Event, Seq};
use std::sync::Arc;
use std::time::Duration;

/// How close to the present a replay must have come before it joins the live stream, in commands:
/// what comes live from then on has to be held in memory.
const NEAR: u64 = 4_096;

/// One private stream to be resumed.
pub(super) struct Replay {
    pub(super) live: Arc<Live>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) channel: PrivateChannel,
    pub(super) account: AccountId,
    /// The client has everything up to here.
    pub(super) after: Seq,
    /// How long it may take the client to make room.
    pub(super) patience: Duration,
}

impl Replay {
    pub(super) fn subscription(&self) -> Subscription {
        Subscription::Own(self.channel, self.account)
    }

    /// Queues the past and joins the live stream. From a thread that may wait.
    pub(super) fn run(mut self) -> Result<(), ReadEventsError> {
        loop {
            let told = self.live.told();
            if told.0.saturating_sub(self.after.0) < NEAR {
                break;
            }
            if !self.read_through(told)? {
                return Ok(());
            }
        }
        self.live.join(self.subscription(), Arc::clone(&self.outbox) as _);
        if let Some(joined) = self.outbox.joined_after()
            && self.read_through(joined)?
        {
            self.outbox.caught_up();
        }
        Ok(())
    }

    /// Queues what is the account's own up to `last`; `false` if nobody wants it any more.
    fn read_through(&mut self, last: Seq) -> Result<bool, ReadEventsError> {
        let names = Names::of(&self.live.read());
        let mut reader = self.live.events(self.after.next());
        let mut own = Vec::new();
        while reader.next_seq() <= last {
            // It was told, so that it is there: in memory or, a moment later, in the event log.
            let Some(batch) = reader.next_timeout(self.patience)? else { return Ok(false) };
            for record in batch.iter().take_while(|record| record.seq <= last) {
                // The folding thread has decoded it before, so that it decodes again.
                let Ok((time, events)) = record.decode() else { continue };
                own.clear();
                own.extend(events.filter_map(Result::ok).filter(|event| self.is_own(event)));
                if own.is_empty() {
                    continue;
                }
                let text = message::own(self.channel, self.account, record.seq, time, &own, &names);
                if let Some(text) = text
                    && !self.outbox.past(self.subscription(), record.seq, text, self.patience)
                {
                    return Ok(false);
                }
            }
        }
        self.after = last.max(self.after);
        Ok(true)
    }

    fn is_own(&self, event: &Event) -> bool {
        owners(event).contains(&Some(self.account))
    }
}
