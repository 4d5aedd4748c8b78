//! Resuming a private stream: a replay from the event log, then live, without gaps or repetition.

use super::message;
use super::outbox::{Outbox, Queued};
use super::turns::{Turn, Turns};
use rialto_desk::{
    PrivateChannel, PrivateReplay, ReadEventsError, ReplayStop, Subscribed, Subscription,
};
use rialto_model::{AccountId, Seq};
use std::sync::Arc;
use std::time::Duration;

/// How close to the end a replay must be before it joins the live stream, in commands, because
/// after that live messages are held in memory.
const NEAR: u64 = 4_096;

/// The most commands to read in one turn while others wait: some hundredths of a second.
const TURN_COMMANDS: u64 = 65_536;

/// A private stream to resume.
pub(super) struct Replay {
    pub(super) past: PrivateReplay,
    pub(super) channel: PrivateChannel,
    pub(super) account: AccountId,
    pub(super) outbox: Arc<Outbox>,
    pub(super) turns: Arc<Turns>,
    /// The key that takes turns.
    pub(super) key: Box<str>,
    /// How long the client may take to make room.
    pub(super) patience: Duration,
}

/// A replay that has reached its goal; `None` if the subscription has ended.
type Reached = Result<Option<Replay>, ReadEventsError>;

impl Replay {
    pub(super) fn subscription(&self) -> Subscription {
        Subscription::Own(self.channel, self.account)
    }

    /// Queues the replay and joins the live stream; `None` if the subscription has ended.
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
        // Live messages are held from the join on, so that the turn must come first.
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

    /// Waits for a turn; `None` if the connection ends before.
    async fn turn(&self) -> Option<Turn> {
        tokio::select! {
            turn = self.turns.take(&self.key) => Some(turn),
            () = self.outbox.ended() => None,
        }
    }

    /// Queues the account's events up to `last`, in turns, the first of which may be given. A
    /// client without room holds no turn.
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
            // The runtime has ended the task, and the connection with it.
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
