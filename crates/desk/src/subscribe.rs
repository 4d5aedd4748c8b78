//! Subscribing, from now on or from where a stream broke off.

use crate::live::owners;
use crate::query::Known;
use crate::{Grant, Listener, Live, Names, Needs, PrivateChannel, Scope, Subscription, Unanswered};
use rialto_bus::{Context, Handler, Query, Request, Result};
use rialto_engine::ReadEventsError;
use rialto_model::{AccountId, Event, RejectReason, Seq, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// Subscribes a listener. Private events of an account need the scope to read it.
pub struct Subscribe {
    /// To what.
    pub subscription: Subscription,
    /// The subscriber.
    pub listener: Arc<dyn Listener>,
}

/// A subscription, which ends when this is dropped. Until it has ended, a moment later, its listener
/// may still hear of it.
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

impl Handler<Subscribe> for Known {
    async fn handle(&self, wanted: Subscribe, _: &Context<'_>) -> Result<Subscribed> {
        let Subscribe { subscription, listener } = wanted;
        if let Subscription::Own(_, account) = subscription {
            self.must_exist(account)?;
        }
        Ok(Subscribed::begin(&self.live, subscription, listener))
    }
}

impl Known {
    fn must_exist(&self, account: AccountId) -> Result<()> {
        match self.live.read().account(account) {
            Some(_) => Ok(()),
            None => Err(Unanswered::Unknown(RejectReason::UnknownAccount).into()),
        }
    }
}

/// Opens the past of a private stream, to go on where one broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Of orders or fills; balances are states and begin with all of them.
    pub channel: PrivateChannel,
    /// Whose.
    pub account: AccountId,
    /// The subscriber has everything through this command.
    pub after: Seq,
}

impl Request for Resume {
    type Response = Past;
    const NAME: &'static str = "resume";
}

impl Query for Resume {}

impl Needs for Resume {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Read, self.account)?)
    }
}

impl Handler<Resume> for Known {
    async fn handle(&self, wanted: Resume, _: &Context<'_>) -> Result<Past> {
        let Resume { channel, account, after } = wanted;
        self.must_exist(account)?;
        // It may be an answer's, whose events are published a moment later.
        if !self.wait_for(after).await {
            return Err(Unanswered::NotYet(after).into());
        }
        let oldest = self.live.oldest_resume();
        if after < oldest {
            return Err(Unanswered::TooFarBack(oldest).into());
        }
        Ok(Past { live: Arc::clone(&self.live), channel, account, reached: after })
    }
}

/// What has happened to an account's orders, command by command, read from the event log.
pub struct Past {
    live: Arc<Live>,
    channel: PrivateChannel,
    account: AccountId,
    reached: Seq,
}

/// Why the replay of a past stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// All of it was sent.
    Through,
    /// It was asked to pause, and goes on where it is.
    Paused,
    /// The subscriber refused the last command, which will be sent again.
    NotTaken,
    /// Events that should be there did not come.
    Missing,
}

impl Past {
    /// What of whom it is.
    #[must_use]
    pub fn subscription(&self) -> Subscription {
        Subscription::Own(self.channel, self.account)
    }

    /// How far it has been read.
    #[must_use]
    pub fn reached(&self) -> Seq {
        self.reached
    }

    /// The last sequence whose events were all published to subscribers.
    #[must_use]
    pub fn told(&self) -> Seq {
        self.live.told()
    }

    /// Tells the events that are the account's own of each command that has any, through `last`,
    /// which must have been told already, and says why it stopped. `pauses` is asked now and then,
    /// with the number of commands read. For a thread that may wait.
    ///
    /// # Errors
    /// The event log cannot be read.
    pub fn read_through(
        &mut self,
        last: Seq,
        patience: Duration,
        mut pauses: impl FnMut(u64) -> bool,
        mut tell: impl FnMut(Seq, Timestamp, &[Event], &Names) -> bool,
    ) -> std::result::Result<Stopped, ReadEventsError> {
        let names = self.live.names();
        let began = self.reached;
        let mut reader = self.live.events(began.next());
        let mut own = Vec::new();
        while reader.next_seq() <= last {
            if pauses(self.reached.0 - began.0) {
                return Ok(Stopped::Paused);
            }
            // It was published, so it is there: in memory or, a moment later, in the event log.
            let Some(batch) = reader.next_timeout(patience)? else { return Ok(Stopped::Missing) };
            for record in batch.iter().take_while(|record| record.seq <= last) {
                // The folding thread has decoded it before, so that it decodes again.
                let Ok((time, events)) = record.decode() else { continue };
                let is_own = |event: &Event| owners(event).contains(&Some(self.account));
                own.clear();
                own.extend(events.filter_map(std::result::Result::ok).filter(is_own));
                if !own.is_empty() && !tell(record.seq, time, &own, &names) {
                    return Ok(Stopped::NotTaken);
                }
                self.reached = record.seq;
            }
        }
        self.reached = last.max(self.reached);
        Ok(Stopped::Through)
    }

    /// Subscribes a listener from now on; it learns from which sequence on that is.
    pub fn join(&self, listener: Arc<dyn Listener>) -> Subscribed {
        Subscribed::begin(&self.live, self.subscription(), listener)
    }
}
