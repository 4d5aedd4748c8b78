//! Resuming a private stream: its past from the event log, then on without gap or repetition.

use super::message;
use super::outbox::{Outbox, Queued};
use super::turns::{Turn, Turns};
use rialto_desk::{PrivateReplay, PrivateChannel, ReadEventsError, ReplayStop, Subscribed, Subscription};
use rialto_model::{AccountId, Seq};
use std::sync::Arc;
use std::time::Duration;

/// How close to the present a replay must have come before it joins the live stream, in commands:
/// what comes live from then on has to be held in memory.
const NEAR: u64 = 4_096;

/// How many commands are read before a turn is passed on, if another waits for it: some hundredths
/// of a second.
const TURN_COMMANDS: u64 = 65_536;

/// One private stream to be resumed.
pub(super) struct Replay {
    pub(super) past: PrivateReplay,
    pub(super) channel: PrivateChannel,
    pub(super) account: AccountId,
    pub(super) outbox: Arc<Outbox>,
    pub(super) turns: Arc<Turns>,
    /// The key whose turns it takes.
    pub(super) key: Box<str>,
    /// How long it may take the client to make room.
    pub(super) patience: Duration,
}

/// A replay, if it is still wanted and has come as far as it should.
type Reached = Result<Option<Replay>, ReadEventsError>;

impl Replay {
    pub(super) fn subscription(&self) -> Subscription {
        Subscription::Own(self.channel, self.account)
    }

    /// Queues the past and joins the live stream, unless nobody wants it any more.
    pub(super) async fn run(mut self) -> Result<Option<Subscribed>, ReadEventsError> {
        loop {
            let published = self.past.published();
            if published.0.saturating_sub(self.past.reached().0) < NEAR {
                break;
            }
            match self.read_through(published, None).await? {
                Some(replay) => self = replay,
                None => return Ok(None),
            }
        }
        if !self.outbox.has_room_for_past(self.subscription(), self.patience).await {
            return Ok(None);
        }
        // What comes live is held back as soon as it joins, so that the turn has to come before.
        let Some(turn) = self.turn().await else { return Ok(None) };
        let outbox = Arc::clone(&self.outbox);
        let subscribed = self.past.join(Arc::clone(&outbox) as _);
        if let Some(joined) = outbox.joined_after().await
            && self.read_through(joined, Some(turn)).await?.is_some()
        {
            outbox.caught_up();
        }
        Ok(Some(subscribed))
    }

    /// A turn, unless the connection ends before it comes.
    async fn turn(&self) -> Option<Turn> {
        tokio::select! {
            turn = self.turns.take(&self.key) => Some(turn),
            () = self.outbox.ended() => None,
        }
    }

    /// Queues what is the account's own up to `last`, in turns, the first of which may be there.
    /// A client that makes no room keeps no turn from others.
    async fn read_through(mut self, last: Seq, mut turn: Option<Turn>) -> Reached {
        loop {
            if turn.is_none() {
                if !self.outbox.has_room_for_past(self.subscription(), self.patience).await {
                    return Ok(None);
                }
                turn = self.turn().await;
            }
            let Some(turn) = turn.take() else { return Ok(None) };
            let read = tokio::task::spawn_blocking(move || {
                let stopped = self.read(last);
                drop(turn);
                (self, stopped)
            });
            // A thread that is broken off by the end of the runtime has nobody left to tell.
            let Ok((replay, stopped)) = read.await else { return Ok(None) };
            self = replay;
            match stopped? {
                ReplayStop::Complete => return Ok(Some(self)),
                ReplayStop::Paused | ReplayStop::Refused => {}
                ReplayStop::Missing => return Ok(None),
            }
        }
    }

    fn read(&mut self, last: Seq) -> Result<ReplayStop, ReadEventsError> {
        let (channel, account, patience) = (self.channel, self.account, self.patience);
        let Replay { past, outbox, turns, .. } = self;
        let subscription = past.subscription();
        let pauses = |commands| commands >= TURN_COMMANDS && turns.are_awaited();
        past.read_through(last, patience, pauses, |seq, time, events, names| {
            let text = message::own(channel, account, seq, time, events, names);
            text.is_none_or(|text| outbox.past(subscription, seq, text) == Queued::Yes)
        })
    }
}
