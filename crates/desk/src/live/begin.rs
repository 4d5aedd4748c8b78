//! The start of a feed: some commands before the end of the journal, with the trades before them.

use super::baseline::baseline_of;
use super::{LiveConfig, LiveError};
use rialto_engine::Engine;
use rialto_feed::Feed;
use rialto_model::{Event, Seq, Timestamp};

/// The feed as of `config.history` commands ago. Folding those commands again restores what no
/// snapshot has: their trades, fills and ended orders.
pub(super) fn begin(engine: &Engine, config: &LiveConfig) -> Result<Feed, LiveError> {
    let history = config.history.max(LiveConfig::HISTORY_MIN);
    let oldest = engine.events(Seq::ZERO).oldest().0.saturating_sub(1);
    // If the event log is shorter, the feed begins at its first sequence.
    let from = engine.released().0.saturating_sub(history).max(oldest);
    if from == 0 {
        return Ok(Feed::new(config.feed));
    }
    let core = engine.settled_state(Seq(from))?;
    let baseline = baseline_of(&core);
    drop(core);
    let mut feed = Feed::from_snapshot(config.feed, &baseline)?;
    let first = baseline.seq.0.saturating_sub(config.backfill).max(oldest) + 1;
    backfill(engine, &mut feed, Seq(first), baseline.seq, baseline.time)?;
    Ok(feed)
}

/// Adds the trades of the last 24 hours before the baseline to the feed.
fn backfill(
    engine: &Engine,
    feed: &mut Feed,
    first: Seq,
    last: Seq,
    now: Timestamp,
) -> Result<(), LiveError> {
    let since = Timestamp(now.0.saturating_sub(Timestamp::DAY));
    let mut reader = engine.events(first);
    while reader.next_seq() <= last
        && let Some(batch) = reader.try_next()?
    {
        for record in batch.iter().take_while(|record| record.seq <= last) {
            let seq = record.seq;
            let undecodable = |source| LiveError::Decode { seq, source };
            let (time, events) = record.decode().map_err(undecodable)?;
            if time < since {
                continue;
            }
            for event in events {
                if let Event::Trade(trade) = event.map_err(undecodable)? {
                    feed.backfill_trade(seq, time, &trade)?;
                }
            }
        }
    }
    Ok(())
}
