//! Subscribing, from now on or from a past sequence.

use crate::live::owners;
use crate::query::QueryHandler;
use crate::{
    Grant, Listener, Live, NameTable, Needs, PrivateChannel, QueryError, Scope, Subscription,
};
use rialto_bus::{Context, Handler, Query, Request, Result};
use rialto_engine::ReadEventsError;
use rialto_model::{AccountId, Event, RejectReason, Seq, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// Subscribes a listener. Private channels of an account need the scope `read` for it.
pub struct Subscribe {
    /// The subscription.
    pub subscription: Subscription,
    /// The listener.
    pub listener: Arc<dyn Listener>,
}

/// A subscription, which ends when this is dropped. Its listener may still receive a few
/// publications.
pub struct Subscribed {
    live: Arc<Live>,
    subscription: Subscription,
    listener: Arc<dyn Listener>,
}

impl Subscribed {
    fn begin(
        live: &Arc<Live>,
        subscription: Subscription,
        listener: Arc<dyn Listener>,
    ) -> Subscribed {
        live.join(subscription, Arc::clone(&listener));
        Subscribed { live: Arc::clone(live), subscription, listener }
    }
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        self.live.leave(self.subscription, Arc::clone(&self.listener));
    }
}

impl Request for Subscribe {
    type Response = Subscribed;
    const NAME: &'static str = "subscribe";
}

impl Query for Subscribe {}

impl Needs for Subscribe {
    fn check(&self, grant: &Grant) -> Result<()> {
        match self.subscription {
            Subscription::Own(_, account) => Ok(grant.permit(Scope::Read, account)?),
            _ => Ok(()),
        }
    }
}

impl Handler<Subscribe> for QueryHandler {
    async fn handle(&self, request: Subscribe, _: &Context<'_>) -> Result<Subscribed> {
        let Subscribe { subscription, listener } = request;
        if let Subscription::Own(_, account) = subscription {
            self.must_exist(account)?;
        }
        Ok(Subscribed::begin(&self.live, subscription, listener))
    }
}

impl QueryHandler {
    fn must_exist(&self, account: AccountId) -> Result<()> {
        match self.live.read().account(account) {
            Some(_) => Ok(()),
            None => Err(QueryError::Unknown(RejectReason::UnknownAccount).into()),
        }
    }
}

/// Opens the replay of a private stream from a past sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Orders or fills; balances are states and need no replay.
    pub channel: PrivateChannel,
    /// The account.
    pub account: AccountId,
    /// The last command that the subscriber has.
    pub after: Seq,
}

impl Request for Resume {
    type Response = PrivateReplay;
    const NAME: &'static str = "resume";
}

impl Query for Resume {}

impl Needs for Resume {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Read, self.account)?)
    }
}

impl Handler<Resume> for QueryHandler {
    async fn handle(&self, request: Resume, _: &Context<'_>) -> Result<PrivateReplay> {
        let Resume { channel, account, after } = request;
        self.must_exist(account)?;
        // The sequence may be from an answer, whose events are published slightly later.
        if !self.wait_for(after).await {
            return Err(QueryError::NotYet(after).into());
        }
        let oldest = self.live.oldest_resume();
        if after < oldest {
            return Err(QueryError::TooFarBack(oldest).into());
        }
        Ok(PrivateReplay { live: Arc::clone(&self.live), channel, account, reached: after })
    }
}

/// A replay of an account's order events from the event log, command by command.
pub struct PrivateReplay {
    live: Arc<Live>,
    channel: PrivateChannel,
    account: AccountId,
    reached: Seq,
}

/// The reason why a replay stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayStop {
    /// It is complete.
    Complete,
    /// It was paused, and can be continued.
    Paused,
    /// The subscriber refused the last command, which is repeated.
    Refused,
    /// Events are missing from the event log.
    Missing,
}

impl PrivateReplay {
    /// The subscription that it replays.
    #[must_use]
    pub fn subscription(&self) -> Subscription {
        Subscription::Own(self.channel, self.account)
    }

    /// The last command that was read.
    #[must_use]
    pub fn reached(&self) -> Seq {
        self.reached
    }

    /// The last sequence whose events are all published to subscribers.
    #[must_use]
    pub fn published(&self) -> Seq {
        self.live.published()
    }

    /// Calls `publish` with the account's events of each command through `last`, which must be
    /// published already, and returns why it stopped. `must_pause` is called now and then with the
    /// number of commands read. It blocks the thread.
    ///
    /// # Errors
    /// The event log cannot be read.
    pub fn read_through(
        &mut self,
        last: Seq,
        patience: Duration,
        mut must_pause: impl FnMut(u64) -> bool,
        mut publish: impl FnMut(Seq, Timestamp, &[Event], &NameTable) -> bool,
    ) -> std::result::Result<ReplayStop, ReadEventsError> {
        let names = self.live.names();
        let began = self.reached;
        let mut reader = self.live.events(began.next());
        let mut own = Vec::new();
        while reader.next_seq() <= last {
            if must_pause(self.reached.0 - began.0) {
                return Ok(ReplayStop::Paused);
            }
            // A published command is in memory or, slightly later, in the event log.
            let Some(batch) = reader.next_timeout(patience)? else {
                return Ok(ReplayStop::Missing);
            };
            for record in batch.iter().take_while(|record| record.seq <= last) {
                // The folding thread has decoded it already.
                let Ok((time, events)) = record.decode() else { continue };
                let is_own = |event: &Event| owners(event).contains(&Some(self.account));
                own.clear();
                own.extend(events.filter_map(std::result::Result::ok).filter(is_own));
                if !own.is_empty() && !publish(record.seq, time, &own, &names) {
                    return Ok(ReplayStop::Refused);
                }
                self.reached = record.seq;
            }
        }
        self.reached = last.max(self.reached);
        Ok(ReplayStop::Complete)
    }

    /// Subscribes a listener from now on; the listener is called with the sequence.
    pub fn join(&self, listener: Arc<dyn Listener>) -> Subscribed {
        Subscribed::begin(&self.live, self.subscription(), listener)
    }
}
