//! A trading day of the demo, played over and over: the phases follow one another as an operator's
//! requests, a price shock interrupts one instrument, and the operator halts another.
//!
//! The venue itself has no calendar; without these requests every instrument stays open.

mod operator;
mod record;
mod shock;
mod tell;

pub(crate) use operator::Operator;
pub(crate) use record::Record;
pub(crate) use tell::result;

use crate::Error;
use crate::duration;
use crate::venue::Venue;
use operator::{Call, DYNAMIC_RANGE_PPM, Entered, UNCROSSING_PAUSE, UNCROSSING_TRIES};
use rialto_desk::Live;
use rialto_engine::Producer;
use rialto_model::{Instrument, InstrumentState};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The shortest day. The indicative price of a call is computed every 250 ms, and the shortest call
/// takes 7 hundredths of the day.
const LENGTH_MIN: Duration = Duration::from_secs(5);
/// The longest day.
const LENGTH_MAX: Duration = Duration::from_secs(7 * 86_400);
/// The fewest orders a second that fill the calls of a short day.
pub(super) const RATE_MIN: u32 = 100;

// The plan of a day, in hundredths of its length.
const PRE_OPEN_ENDS: u32 = 10;
const CALL_ENDS: u32 = 22;
/// When the price shock comes. The interruption ends by itself.
const SHOCK_AT: u32 = 40;
const INTERRUPTION: u32 = 6;
const RANDOM_END: u32 = 2;
const HALT_BEGINS: u32 = 60;
const HALT_ENDS: u32 = 66;
const REOPENING_ENDS: u32 = 73;
const CLOSING_BEGINS: u32 = 83;
const CLOSING_ENDS: u32 = 93;
const DAY_ENDS: u32 = 100;

const RULES_TOO_OLD: &str = "this data directory is under a rules version before 4, which has no \
     auctions. Choose another with --data; or start it without --day, set the version with `rialto \
     admin rules-version`, and start again";

/// The interval at which a phase is looked for that begins by itself.
const LOOK_PERIOD: Duration = Duration::from_millis(5);
/// The longest that an instrument may take to get through an uncrossing.
const UNCROSSING_MAX: Duration = Duration::from_secs(10);

/// Reads the length of a day from the command line.
pub(super) fn length(text: &str) -> Result<Duration, String> {
    let length = duration::parse(text)?;
    let too = match length {
        _ if length < LENGTH_MIN => "short",
        _ if length > LENGTH_MAX => "long",
        _ => return Ok(length),
    };
    Err(format!(
        "{text} is too {too} for a day with all its phases; give from {} to {}, such as 10m",
        duration::show(LENGTH_MIN),
        duration::show(LENGTH_MAX),
    ))
}

/// Days that are played.
pub(crate) struct Day {
    /// Dropping it stops the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<(), Error>>>,
    record: Arc<Record>,
}

impl Day {
    /// Begins the first day: every instrument is in `pre_open` when this returns.
    pub(crate) fn start(
        venue: &Venue,
        operator: Operator,
        instruments: &[Instrument],
        length: Duration,
    ) -> Result<Day, Error> {
        let record = Arc::new(Record::new(instruments));
        record.follow(venue.live(), instruments);
        let (stop, stopped) = channel();
        let mut stage = Stage {
            operator,
            producer: venue.engine().producer(),
            live: Arc::clone(venue.live()),
            instruments: instruments.to_vec(),
            length,
            record: Arc::clone(&record),
            stopped,
        };
        match stage.begin() {
            Ok(()) => {}
            Err(End::Failed(Error::Refused { code, .. })) if code == "state_unknown" => {
                return Err(Error::Usage(RULES_TOO_OLD.to_string()));
            }
            Err(End::Failed(error)) => return Err(error),
            Err(End::Stopped) => unreachable!("the sender is held here"),
        }
        let thread = std::thread::Builder::new().name("demo-day".to_string());
        let thread = thread
            .spawn(move || stage.play())
            .map_err(|error| Error::Assemble(format!("no thread for the day: {error}")))?;
        Ok(Day { stop: Some(stop), thread: Some(thread), record })
    }

    /// What happened so far.
    pub(crate) fn record(&self) -> &Arc<Record> {
        &self.record
    }

    /// Whether no further day follows, because a request failed.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops in the middle of a day; every instrument stays in its phase.
    ///
    /// # Errors
    /// A request of the operator failed.
    pub(crate) fn end(mut self) -> Result<(), Error> {
        self.stop = None;
        // The panic hook has printed the panic.
        self.thread.take().map_or(Ok(()), |thread| thread.join().unwrap_or(Ok(())))
    }
}

/// Why playing ends.
enum End {
    Stopped,
    Failed(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(error)
    }
}

/// What it takes to play a day.
struct Stage {
    operator: Operator,
    /// For the orders of the price shock.
    producer: Producer,
    live: Arc<Live>,
    instruments: Vec<Instrument>,
    length: Duration,
    record: Arc<Record>,
    stopped: Receiver<()>,
}

impl Stage {
    fn play(mut self) -> Result<(), Error> {
        match self.play_days() {
            End::Stopped => Ok(()),
            End::Failed(error) => Err(error),
        }
    }

    fn play_days(&mut self) -> End {
        let mut began = Instant::now();
        for day in 0.. {
            let played = self.play_day(day, began);
            began = Instant::now();
            if let Err(end) = played.and_then(|()| self.begin_next()) {
                return end;
            }
        }
        End::Stopped
    }

    /// Enters the first phase of the first day, and sets the rules of all.
    fn begin(&mut self) -> Result<(), End> {
        self.record.begin_day();
        self.enter_all(InstrumentState::PreOpen)?;
        let call = || Call { least: self.part(INTERRUPTION), random_end: self.part(RANDOM_END) };
        for instrument in &self.instruments {
            self.operator.set_range(instrument, DYNAMIC_RANGE_PPM, Some(call()))?;
        }
        Ok(())
    }

    fn begin_next(&mut self) -> Result<(), End> {
        self.record.end_day();
        self.record.begin_day();
        self.enter_all(InstrumentState::PreOpen)
    }

    /// From `pre_open` to the end of `closed`.
    fn play_day(&mut self, day: usize, began: Instant) -> Result<(), End> {
        let shocked = day % self.instruments.len();
        let halted = (day + 1) % self.instruments.len();
        self.wait_until(began, PRE_OPEN_ENDS)?;
        self.enter_all(InstrumentState::Call)?;
        self.wait_until(began, CALL_ENDS)?;
        self.enter_all(InstrumentState::Open)?;
        self.wait_until(began, SHOCK_AT)?;
        self.shock(shocked)?;
        self.wait_until(began, HALT_BEGINS)?;
        self.enter(halted, InstrumentState::Halted)?;
        self.wait_until(began, HALT_ENDS)?;
        self.enter(halted, InstrumentState::Call)?;
        self.wait_until(began, REOPENING_ENDS)?;
        self.enter(halted, InstrumentState::Open)?;
        self.wait_until(began, CLOSING_BEGINS)?;
        self.enter_all(InstrumentState::ClosingCall)?;
        self.wait_until(began, CLOSING_ENDS)?;
        self.enter_all(InstrumentState::Closed)?;
        self.wait_until(began, DAY_ENDS)
    }

    fn enter_all(&mut self, state: InstrumentState) -> Result<(), End> {
        (0..self.instruments.len()).try_for_each(|at| self.enter(at, state))
    }

    /// Has an instrument enter a phase, over an uncrossing where its orders cross.
    fn enter(&mut self, at: usize, state: InstrumentState) -> Result<(), End> {
        for _ in 0..UNCROSSING_TRIES {
            match self.operator.enter(&self.instruments[at], state)? {
                Entered::Begun => {
                    // An operator may set another phase at any time: the day goes on all the same.
                    self.look_for(at, UNCROSSING_MAX, |now| now == state)?;
                    return Ok(());
                }
                Entered::Uncrossing => self.pause(UNCROSSING_PAUSE)?,
            }
        }
        let symbol = self.instruments[at].spec.symbol;
        let told = format!("{symbol} does not end to uncross, and cannot become {}", state.name());
        Err(End::Failed(Error::Failed(told)))
    }

    /// Waits until the phase of an instrument is one of these; `false` if that takes too long.
    fn look_for(
        &self,
        at: usize,
        longest: Duration,
        is_it: impl Fn(InstrumentState) -> bool,
    ) -> Result<bool, End> {
        let end = Instant::now() + longest;
        while !is_it(self.state(at)) {
            if Instant::now() >= end {
                return Ok(false);
            }
            self.pause(LOOK_PERIOD)?;
        }
        Ok(true)
    }

    fn state(&self, at: usize) -> InstrumentState {
        let feed = self.live.read();
        feed.auction(self.instruments[at].id).map_or(InstrumentState::Delisted, |it| it.state)
    }

    fn part(&self, hundredths: u32) -> Duration {
        self.length * hundredths / 100
    }

    /// Waits until this part of the day is over.
    fn wait_until(&self, began: Instant, hundredths: u32) -> Result<(), End> {
        let end = began + self.part(hundredths);
        self.pause(end.saturating_duration_since(Instant::now()))
    }

    fn pause(&self, length: Duration) -> Result<(), End> {
        match self.stopped.recv_timeout(length) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Err(End::Stopped),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_long_enough_for_its_phases() {
        assert_eq!(length("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(length("7d"), Ok(LENGTH_MAX));
        for (text, told) in [
            ("4999ms", "4999ms is too short for a day with all its phases; give from 5s to 7d"),
            ("8d", "8d is too long"),
            ("ten", "\"ten\" is not a duration; write"),
        ] {
            let refused = length(text).expect_err("it is refused");
            assert!(refused.starts_with(told), "{refused}");
        }
    }
}
