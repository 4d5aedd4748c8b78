//! The oracle: a core that applies only the surviving commands.
//!
//! It reads the journal's files itself, and uses no snapshots, marks or event log.

use super::auctions::AUCTIONED;
use super::triggers::TRIGGERED;
use rialto_core::{Core, CoreConfig, EventSink};
use rialto_disk::Disk;
use rialto_engine::{Answer, Execution};
use rialto_log::{KeyRing, Reader, Verify};
use rialto_model::{
    Amount, Attribution, Command, EVENT_BYTES_MAX, EVENTS_HEADER_BYTES, EngineId, Event,
    EventEncoder, HaltCause, InstrumentState, Outcome, Seq, Timestamp, Uncrossed,
    decode_attribution, decode_command,
};
use std::path::Path;
use std::sync::Arc;

pub(crate) struct Decided {
    pub(crate) command: Command,
    /// Who sent it, as the journal has it.
    pub(crate) attribution: Option<Attribution>,
    /// Whether the rules know attributions.
    pub(crate) knows_attributions: bool,
    /// The correct answer.
    pub(crate) answer: Answer,
    /// Whether an order had more matches than one command allows.
    pub(crate) suspends: bool,
    /// Whether triggered orders were entered, and work is left.
    pub(crate) enters: bool,
    /// What the auctioned instrument is about afterwards.
    pub(crate) auction: Auction,
    /// The correct record of the event log.
    pub(crate) events: Vec<u8>,
}

/// The part of an auction that an instrument is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Auction {
    #[default]
    None,
    /// It looks for the price.
    Searches,
    /// It has the price.
    Trades,
    /// It is halted for a time.
    Halted,
}

/// How often the auctioned instrument came to something.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    /// Trading was interrupted.
    pub(crate) interrupted: u64,
    /// A call was extended for a time.
    pub(crate) extended: u64,
    /// A call was extended until a command.
    pub(crate) until_command: u64,
    /// A tick ended a call.
    pub(crate) timed: u64,
    /// A tick ended a halt.
    pub(crate) reopened: u64,
    /// A transition of a timetable began.
    pub(crate) planned: u64,
    /// A circuit breaker halted it.
    pub(crate) tripped: u64,
}

pub(crate) struct Oracle {
    pub(crate) core: Core,
    /// By sequence, from 1.
    pub(crate) decided: Vec<Decided>,
    pub(crate) calls: Calls,
}

struct Recorder(Vec<Event>);

impl EventSink for Recorder {
    fn event(&mut self, event: &Event) {
        self.0.push(*event);
    }
}

impl Oracle {
    /// Decides all commands of the journal in `dir`.
    pub(crate) fn of_journal(
        disk: &Arc<dyn Disk>,
        dir: &Path,
        keys: &KeyRing,
        begun_with: u32,
    ) -> Result<Oracle, String> {
        let (segments, _) = rialto_log::inspect(Arc::clone(disk), dir, Verify::Whole, keys)
            .map_err(|error| error.to_string())?;
        let mut reader = Reader::open(&segments, 1).map_err(|error| error.to_string())?;
        let newest = CoreConfig::new(EngineId(1));
        let rules_version = segments.rules_version_of(1).unwrap_or(begun_with);
        let core = Core::new(CoreConfig { hash_key: 99, rules_version, ..newest });
        let mut oracle = Oracle { core, decided: Vec::new(), calls: Calls::default() };
        while let Some(group) = reader.next_group().map_err(|error| error.to_string())? {
            let rules_version = segments.rules_version_of(group.first_seq());
            for (seq, record) in group {
                // A segment has the rules version of its commands.
                if rules_version != Some(oracle.core.rules_version()) {
                    return Err(format!(
                        "the segment of {seq} names other rules: {rules_version:?}"
                    ));
                }
                let (attribution, record) = match decode_attribution(record) {
                    Ok(Some((attribution, record))) => (Some(attribution), record),
                    Ok(None) => (None, record),
                    Err(error) => return Err(error.to_string()),
                };
                let (time, command) = decode_command(record).map_err(|error| error.to_string())?;
                oracle.decide(Seq(seq), time, command, attribution);
            }
        }
        Ok(oracle)
    }

    fn decide(
        &mut self,
        seq: Seq,
        time: Timestamp,
        command: Command,
        attribution: Option<Attribution>,
    ) {
        let mut recorder = Recorder(Vec::new());
        let knows_attributions = self.core.knows_attributions();
        let by = attribution.as_ref();
        let outcome = self.core.apply_attributed(seq, time, &command, by, &mut recorder);
        let mut events = vec![0; EVENTS_HEADER_BYTES + (recorder.0.len() + 1) * EVENT_BYTES_MAX];
        let mut encoder = EventEncoder::new(time, &mut events);
        for event in &recorder.0 {
            encoder.push(event).expect("there is room for one more than there are");
        }
        let len = encoder.finish();
        events.truncate(len);
        let suspends = self.core.next_due() == Timestamp::ZERO;
        let execution = execution_of(&command, &outcome, &recorder.0);
        let answer = Answer { seq, time, outcome, execution };
        let auction = self.follow_auction(&command, &recorder.0);
        let is_entry =
            |event: &Event| matches!(event, Event::Triggered(it) if it.instrument == TRIGGERED);
        let enters = self.core.has_background_work() && recorder.0.iter().any(is_entry);
        self.decided.push(Decided {
            command,
            attribution,
            knows_attributions,
            answer,
            suspends,
            enters,
            auction,
            events,
        });
    }

    /// Where the auctioned instrument is after a command.
    fn follow_auction(&mut self, command: &Command, events: &[Event]) -> Auction {
        let mut auction = self.decided.last().map(|last| last.auction).unwrap_or_default();
        for event in events {
            match event {
                Event::InstrumentStateSet { instrument: AUCTIONED, state } => {
                    let uncrosses = *state == InstrumentState::Uncrossing;
                    let is_tick = *command == Command::Tick;
                    self.calls.timed += u64::from(uncrosses && is_tick);
                    self.calls.reopened += u64::from(auction == Auction::Halted && is_tick);
                    auction = match state {
                        InstrumentState::Uncrossing => Auction::Searches,
                        InstrumentState::Halted => Auction::Halted,
                        _ => Auction::None,
                    };
                }
                Event::Uncrossed(Uncrossed { instrument: AUCTIONED, .. }) => {
                    auction = Auction::Trades;
                }
                Event::TransitionBegun { .. } => self.calls.planned += 1,
                Event::TradingHalted(halted) => {
                    let is_tripped = halted.cause == HaltCause::CircuitBreaker;
                    self.calls.tripped += u64::from(is_tripped);
                }
                Event::Interrupted(it) if it.instrument == AUCTIONED => {
                    let calls = &mut self.calls;
                    match (auction, it.until_command) {
                        (Auction::None, _) => calls.interrupted += 1,
                        (_, false) => calls.extended += 1,
                        (_, true) => calls.until_command += 1,
                    }
                }
                _ => {}
            }
        }
        auction
    }

    pub(crate) fn last(&self) -> Seq {
        Seq(self.decided.len() as u64)
    }

    pub(crate) fn at(&self, seq: Seq) -> Option<&Decided> {
        self.decided.get(seq.0.checked_sub(1)? as usize)
    }
}

/// The execution of a command's order, from the events with the order's id.
fn execution_of(command: &Command, outcome: &Outcome, events: &[Event]) -> Execution {
    let Outcome::Order { order: own, .. } = *outcome else { return Execution::default() };
    let trades = events.iter().filter_map(|event| match event {
        Event::Trade(trade) if trade.taker_order == own => Some(trade),
        _ => None,
    });
    let (product, fee) = trades.fold((0, 0), |(product, fee), trade| {
        let traded = i128::from(trade.price.0) * i128::from(trade.quantity.0);
        (product + traded, fee + trade.taker_fee.0)
    });
    let done = events.iter().find_map(|event| match event {
        Event::Done(done) if done.order == own => Some(done.reason),
        _ => None,
    });
    let enters = matches!(
        command,
        Command::Place(_)
            | Command::PlaceConditional(_)
            | Command::PlaceTrailing(_)
            | Command::PlaceIceberg(_)
            | Command::PlaceList(_)
    );
    let done = done.filter(|_| enters);
    Execution { product, fee: Amount(fee), done }
}
