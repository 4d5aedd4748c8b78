//! The flow of a run: plan, publish, tidy.
//!
//! Its input is a [`RunCause`], its output a [`RunOutcome`]; both, and the results of its steps, are
//! kept by the store of the flows.
// format: docs/formats/statement.md

use crate::error::StatementError;
use crate::last_outcome;
use crate::maker::Maker;
use crate::outbox::{self, OutboxRefusal, StatementRange};
use crate::positions::{BalancesDigest, Positions};
use crate::range::wait_for_sync;
use crate::run::{REFUSED_MAX, RunCause, RunOutcome, StatementRefusal};
use crate::worker::Worker;
use rialto_desk::baseline_of;
use rialto_engine::{Engine, ReplayError};
use rialto_flow::history::{self, Ending, Entry};
use rialto_flow::store::{Store, StoredRun};
use rialto_flow::{Flow, FlowContext, FlowError, RetryPolicy, StepError};
use rialto_model::{AccountId, Amount, CurrencyId, MemberId, Seq};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How often a step is tried again when the disk, the depot or the event log failed.
const AGAIN: RetryPolicy =
    RetryPolicy::forever().first(Duration::from_millis(100)).longest(Duration::from_secs(60));

/// Decides what a run covers, makes its statements, and removes what no later run needs.
pub(crate) struct StatementFlow {
    pub(crate) maker: Maker,
    pub(crate) engine: Arc<Engine>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) worker: Arc<Worker>,
}

/// What a run covers. It is recorded before anything is made, so that a run that is resumed makes
/// the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// The commands since the last run.
    range: StatementRange,
    /// The balances of the venue at the end of the range, from the live feed.
    venue: BalancesDigest,
    /// Commands that no statement covers, because their events were gone.
    gap: Option<StatementRange>,
    /// Statements of earlier runs that were refused.
    owed: Vec<StatementRefusal>,
}

/// The result of publishing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Published {
    members: u32,
    refused: Vec<StatementRefusal>,
    refused_more: u32,
}

impl Flow for StatementFlow {
    const NAME: &'static str = "statements";

    type Input = RunCause;
    type Output = RunOutcome;

    async fn run<'a>(
        &'a self,
        cx: &FlowContext<'a>,
        _: &'a RunCause,
    ) -> Result<RunOutcome, FlowError> {
        let plan: Plan = cx.step("plan", || self.work(Self::plan)).retry(AGAIN).await?;
        let published: Published = {
            let plan = plan.clone();
            let publish = move || {
                let plan = plan.clone();
                self.work(move |it| it.publish(&plan))
            };
            cx.step("publish", publish).retry(AGAIN).await?
        };
        let Published { members, refused, refused_more } = published;
        let Plan { range, gap, .. } = plan;
        let outcome = RunOutcome { range, gap, members, refused, refused_more };
        let ended = outcome.clone();
        let tidy = move || {
            let ended = ended.clone();
            self.work(move |it| it.tidy(&ended))
        };
        cx.step("tidy", tidy).retry(AGAIN).await?;
        Ok(outcome)
    }
}

impl StatementFlow {
    /// Does a step on the thread of statements, which must not be one that others wait for.
    async fn work<T: Send + 'static>(
        &self,
        step: impl FnOnce(&StatementFlow) -> Result<T, StatementError> + Send + 'static,
    ) -> Result<T, StepError> {
        let shared = StatementFlow {
            maker: self.maker.clone(),
            engine: Arc::clone(&self.engine),
            store: Arc::clone(&self.store),
            worker: Arc::clone(&self.worker),
        };
        let done = self.worker.run(move || step(&shared)).await;
        match done.unwrap_or(Err(StatementError::Stopping)) {
            Ok(done) => Ok(done),
            Err(error) => {
                let text = tell_all(&error);
                if error.may_pass() {
                    return Err(StepError::retryable(text));
                }
                tracing::error!(reason = text, "a run of statements has failed");
                Err(StepError::permanent(text))
            }
        }
    }

    fn plan(&self) -> Result<Plan, StatementError> {
        let (last, venue) = self.venue();
        let before = last_outcome::find(&*self.store, &self.maker.depot, last)?;
        let owed = before.as_ref().map(|it| it.owed().collect()).unwrap_or_default();
        let ended = match before {
            Some(before) => Some(before.range.last),
            None => outbox::newest_positions(&self.maker.depot)?,
        };
        // A loss of power took the end of the history, or the depot is not of this venue: the same
        // sequences are given to other commands.
        let applied = self.engine.marks().applied;
        if let Some(ended) = ended.filter(|ended| *ended > applied) {
            let (made, last_command) = (ended.0, applied.0);
            tracing::error!(made, last_command, "statements are of commands that are gone");
            let after = self.begin_anew(applied)?;
            let range = StatementRange { after, last: last.max(after) };
            wait_for_sync(&self.engine, range.last, &self.maker.stop)?;
            return Ok(Plan { range, venue, gap: None, owed: Vec::new() });
        }
        let oldest = self.maker.live.events(Seq::ZERO).oldest();
        let is_usable = match ended {
            // The first run.
            None => oldest <= Seq(1),
            Some(ended) => {
                ended.next() >= oldest && outbox::has_positions(&self.maker.depot, ended)?
            }
        };
        let after = match ended.filter(|_| is_usable) {
            Some(ended) => ended,
            None if is_usable => Seq::ZERO,
            None => {
                self.begin_anew(ended.unwrap_or_default().max(Seq(oldest.0.saturating_sub(1))))?
            }
        };
        let ended = ended.unwrap_or_default();
        let gap = (after > ended).then_some(StatementRange { after: ended, last: after });
        if let Some(gap) = gap {
            tracing::warn!(
                first = gap.first().0,
                last = gap.last.0,
                "no statement covers these commands: their events are gone"
            );
        }
        let range = StatementRange { after, last: last.max(after) };
        wait_for_sync(&self.engine, range.last, &self.maker.stop)?;
        Ok(Plan { range, venue, gap, owed })
    }

    /// The last command that the feed knows, and the balances after it.
    fn venue(&self) -> (Seq, BalancesDigest) {
        let mut balances: Vec<(AccountId, CurrencyId, Amount, Amount)> = Vec::new();
        let last = {
            let feed = self.maker.live.read();
            for account in feed.accounts() {
                let own = feed.balances(account.account);
                balances.extend(own.map(|it| (it.account, it.currency, it.available, it.reserved)));
            }
            feed.seq()
        };
        balances.sort_unstable_by_key(|(account, currency, ..)| (*account, *currency));
        (last, BalancesDigest::of(balances.into_iter()))
    }

    /// Stores the positions of the engine's state after `seq` or a later command, where the events
    /// before it are gone. Returns its sequence.
    fn begin_anew(&self, seq: Seq) -> Result<Seq, StatementError> {
        let core = match self.engine.settled_state(seq) {
            Err(ReplayError::NoSnapshot { .. }) => {
                self.engine.settled_state(self.engine.last_snapshot())
            }
            settled => settled,
        }?;
        let positions = Positions::of_baseline(&baseline_of(&core));
        wait_for_sync(&self.engine, positions.seq(), &self.maker.stop)?;
        outbox::store_positions(&self.maker.depot, &positions)?;
        Ok(positions.seq())
    }

    fn publish(&self, plan: &Plan) -> Result<Published, StatementError> {
        let mut published = Published { members: 0, refused: Vec::new(), refused_more: 0 };
        let mut owed: BTreeMap<StatementRange, Vec<StatementRefusal>> = BTreeMap::new();
        for one in &plan.owed {
            owed.entry(one.range).or_default().push(*one);
        }
        for (range, owed) in owed {
            let members: Vec<MemberId> = owed.iter().map(|one| one.member).collect();
            match self.maker.make(range, Some(&members), None) {
                Ok(made) => {
                    published.members += made.members;
                    for (member, refusal) in made.refused {
                        let before = owed.iter().find(|one| one.member == member);
                        let tries = before.map_or(0, |one| one.tries);
                        published.refuse(member, range, refusal, tries);
                    }
                }
                Err(error) if error.may_pass() => return Err(error),
                Err(error) => {
                    let reason = tell_all(&error);
                    tracing::error!(reason, "statements that were refused cannot be made");
                    for one in owed {
                        published.refuse(one.member, range, error.refusal(), one.tries);
                    }
                }
            }
        }
        if !plan.range.is_empty() {
            let made = self.maker.make(plan.range, None, Some(plan.venue))?;
            published.members += made.members;
            for (member, refusal) in made.refused {
                published.refuse(member, plan.range, refusal, 0);
            }
        }
        let StatementRange { after, last } = plan.range;
        let (members, refused) = (published.members, published.refused.len());
        if plan.range.is_empty() {
            let last = last.0;
            tracing::info!(last, members, refused, "no commands since the last statements");
        } else {
            let (first, last) = (after.0 + 1, last.0);
            tracing::info!(first, last, members, refused, "statements were made");
        }
        Ok(published)
    }

    /// Removes the positions that no later run needs, and keeps the outcome apart from the runs.
    fn tidy(&self, outcome: &RunOutcome) -> Result<(), StatementError> {
        let wanted: Vec<Seq> = outcome.needs().collect();
        outbox::keep_positions(&self.maker.depot, &wanted)?;
        match last_outcome::keep(&self.maker.depot, outcome) {
            // The statements are made: the run must not fail, as the next one would begin with its range.
            Err(error) if !error.may_pass() => {
                let reason = tell_all(&error);
                tracing::warn!(reason, "the outcome of a run of statements has no copy");
                Ok(())
            }
            kept => kept,
        }
    }
}

impl Published {
    fn refuse(
        &mut self,
        member: MemberId,
        range: StatementRange,
        refusal: OutboxRefusal,
        tries: u8,
    ) {
        if self.refused.len() == REFUSED_MAX {
            self.refused_more += 1;
            return;
        }
        let tries = tries.saturating_add(1);
        self.refused.push(StatementRefusal { member, range, refusal, tries });
    }
}

/// The outcome of a run, if it has one; otherwise the reason that it failed, or nothing.
pub(crate) fn outcome_of(run: &StoredRun) -> Result<Option<RunOutcome>, String> {
    if run.ended.is_none() {
        return Ok(None);
    }
    let ending = match history::entries(&run.history).last() {
        Some(Ok(Entry::Ended { ending, .. })) => ending,
        _ => return Err("its history cannot be read".to_owned()),
    };
    match ending {
        Ending::Completed(output) => {
            postcard::from_bytes(&output).map(Some).map_err(|error| error.to_string())
        }
        Ending::Failed(error) => Err(error.message),
        Ending::Stuck(stuck) => Err(stuck.error.message),
        Ending::Cancelled => Err("it was cancelled".to_owned()),
    }
}

/// An error with all its causes in one line.
pub(crate) fn tell_all(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_statements_beyond_the_limit_are_counted() {
        let mut published = Published { members: 0, refused: Vec::new(), refused_more: 0 };
        let range = StatementRange { after: Seq(1), last: Seq(2) };
        for member in 0..REFUSED_MAX as u32 + 3 {
            published.refuse(MemberId(member), range, OutboxRefusal::QuotaReached, 0);
        }
        assert_eq!((published.refused.len(), published.refused_more), (REFUSED_MAX, 3));
        // A step's result and the run's output have to fit into the store.
        let (range, gap) = (StatementRange { after: Seq(u64::MAX), last: Seq(u64::MAX) }, None);
        let longest = StatementRefusal {
            member: MemberId(u32::MAX),
            range,
            refusal: OutboxRefusal::Other,
            tries: u8::MAX,
        };
        let refused = vec![longest; REFUSED_MAX];
        let outcome = RunOutcome { range, gap, members: 0, refused, refused_more: 0 };
        let bytes = postcard::to_stdvec(&outcome).unwrap().len();
        assert!(bytes <= rialto_flow::Options::default().payload_bytes_max, "{bytes}");
    }

    #[test]
    fn a_refused_statement_is_tried_a_number_of_times() {
        let range = StatementRange { after: Seq(1), last: Seq(2) };
        let refused =
            |refusal, tries| StatementRefusal { member: MemberId(1), range, refusal, tries };
        assert!(refused(OutboxRefusal::QuotaReached, crate::TRIES_MAX - 1).is_owed());
        assert!(!refused(OutboxRefusal::QuotaReached, crate::TRIES_MAX).is_owed());
        assert!(!refused(OutboxRefusal::TooLarge, 1).is_owed());
    }
}
