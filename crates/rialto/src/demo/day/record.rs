//! What happens in the phases of a day, as the venue publishes it: the stream channels `auction` and
//! `trades` of each instrument.

use super::tell;
use rialto_desk::{Content, Listener, Live, Publication, Subscription};
use rialto_feed::{AuctionResult, AuctionView};
use rialto_model::{Instrument, InstrumentId, InstrumentState, Interrupted, Seq};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Phases of one instrument and day that are kept. A day has about a dozen; an operator who changes
/// phases by hand can add to them.
const PHASES_MAX: usize = 60;
/// Lines that wait to be printed.
const LINES_MAX: usize = 500;

/// Why an auction was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Opening,
    Interruption,
    Extension,
    Reopening,
    Closing,
}

/// A phase of an instrument, and what happened in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) state: InstrumentState,
    pub(super) trades: u64,
    /// In a call, the last price that its auction would have had.
    pub(super) indicative: Option<AuctionResult>,
    /// In a call, the price that interrupted trading or extended the call before.
    pub(super) interrupted: Option<Interrupted>,
    /// Of a call and of the uncrossing after it.
    pub(super) cause: Option<Cause>,
    /// While it uncrosses, the price at which orders trade.
    pub(super) auction: Option<AuctionResult>,
}

impl Phase {
    fn of(state: InstrumentState) -> Phase {
        Phase { state, trades: 0, indicative: None, interrupted: None, cause: None, auction: None }
    }
}

/// The phases of one instrument on one day.
#[derive(Clone)]
pub(super) struct MarketDay {
    pub(super) instrument: Instrument,
    pub(super) phases: Vec<Phase>,
}

/// One day.
#[derive(Clone)]
pub(super) struct DayRecord {
    pub(super) number: u64,
    pub(super) is_complete: bool,
    pub(super) markets: Vec<MarketDay>,
}

/// What happened on all days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) days: u64,
    pub(super) auctions: u64,
    pub(super) interruptions: u64,
    pub(super) halts: u64,
}

struct State {
    instruments: Vec<Instrument>,
    /// The present day.
    today: Option<DayRecord>,
    /// The last day that was played to its end.
    last: Option<DayRecord>,
    totals: Totals,
    lines: VecDeque<String>,
}

/// What happens in the phases of all days. The last complete day and the present one are kept.
pub(crate) struct Record(Mutex<State>);

impl Record {
    pub(super) fn new(instruments: &[Instrument]) -> Record {
        Record(Mutex::new(State {
            instruments: instruments.to_vec(),
            today: None,
            last: None,
            totals: Totals::default(),
            lines: VecDeque::new(),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code here panics between two dependent changes.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives what is published from now on.
    pub(super) fn follow(self: &Arc<Self>, live: &Live, instruments: &[Instrument]) {
        for instrument in instruments {
            for subscription in
                [Subscription::Auction(instrument.id), Subscription::Trades(instrument.id)]
            {
                live.join(subscription, Arc::clone(self) as Arc<dyn Listener>);
            }
        }
    }

    /// Begins the next day: its first phases have not begun yet.
    pub(super) fn begin_day(&self) {
        let mut state = self.lock();
        let market = |instrument: &Instrument| MarketDay {
            instrument: *instrument,
            phases: Vec::with_capacity(PHASES_MAX),
        };
        let markets = state.instruments.iter().map(market).collect();
        let number = state.today.as_ref().map_or(1, |today| today.number + 1);
        let day = DayRecord { number, is_complete: false, markets };
        if let Some(before) = state.today.replace(day) {
            state.last = Some(before);
        }
    }

    /// Notes that the present day was played to its end.
    pub(super) fn end_day(&self) {
        let mut state = self.lock();
        if let Some(today) = &mut state.today {
            today.is_complete = true;
            state.totals.days += 1;
        }
    }

    /// The number of the present day.
    pub(crate) fn number(&self) -> Option<u64> {
        self.lock().today.as_ref().map(|today| today.number)
    }

    /// What has happened since the last call, a line each.
    pub(crate) fn new_lines(&self) -> Vec<String> {
        self.lock().lines.drain(..).collect()
    }

    /// What happened in each phase, as lines.
    pub(crate) fn summary(&self) -> Vec<String> {
        let state = self.lock();
        let days = [state.last.as_ref(), state.today.as_ref()];
        tell::summary(&state.totals, days.into_iter().flatten())
    }
}

impl State {
    fn auction(&mut self, view: &AuctionView) {
        let Some(day) = &mut self.today else { return };
        let number = day.number;
        let market = day.markets.iter_mut().find(|market| market.instrument.id == view.instrument);
        let Some(MarketDay { instrument, phases }) = market else { return };
        // What is published before is of the day before, or of an earlier run.
        if phases.is_empty() && view.state != InstrumentState::PreOpen {
            return;
        }
        let before = phases.last().copied();
        match phases.last_mut().filter(|phase| phase.state == view.state) {
            // While an instrument uncrosses, its result is all that is published.
            Some(phase) if view.state == InstrumentState::Uncrossing => {
                phase.auction = view.last;
                self.totals.auctions += 1;
            }
            Some(phase) => {
                phase.indicative = view.indicative.or(phase.indicative);
                return;
            }
            None => {
                let phase = Phase {
                    interrupted: view.interrupted,
                    cause: cause(before.as_ref(), view),
                    ..Phase::of(view.state)
                };
                let interrupts = phase.state.collects() && phase.cause == Some(Cause::Interruption);
                self.totals.interruptions += u64::from(interrupts);
                self.totals.halts += u64::from(phase.state == InstrumentState::Halted);
                if phases.len() == PHASES_MAX {
                    phases.pop();
                }
                phases.push(phase);
            }
        }
        if let Some(phase) = phases.last()
            && let Some(line) = tell::happening(number, instrument, phase)
        {
            if self.lines.len() == LINES_MAX {
                self.lines.pop_front();
            }
            self.lines.push_back(line);
        }
    }

    fn trade(&mut self, instrument: InstrumentId) {
        let Some(day) = &mut self.today else { return };
        let mut markets = day.markets.iter_mut();
        let market = markets.find(|market| market.instrument.id == instrument);
        if let Some(phase) = market.and_then(|market| market.phases.last_mut()) {
            phase.trades += 1;
        }
    }
}

/// Why the auction of a phase is held, given the phase before.
fn cause(before: Option<&Phase>, view: &AuctionView) -> Option<Cause> {
    use InstrumentState as S;
    let state_before = before.map(|phase| phase.state);
    match view.state {
        S::Call | S::ClosingCall if state_before == Some(S::Uncrossing) => Some(Cause::Extension),
        S::Call if view.interrupted.is_some() => Some(Cause::Interruption),
        S::Call if state_before == Some(S::Halted) => Some(Cause::Reopening),
        S::Call => Some(Cause::Opening),
        S::ClosingCall => Some(Cause::Closing),
        S::Uncrossing => before.and_then(|phase| phase.cause),
        _ => None,
    }
}

impl Listener for Record {
    fn joined(&self, _subscription: Subscription, _seq: Seq) {}

    fn publish(&self, publication: &Publication<'_>) {
        match publication.content {
            Content::Auction(view) => self.lock().auction(view),
            Content::Trade(trade) => self.lock().trade(trade.instrument),
            _ => {}
        }
    }

    fn closed(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_feed::Moment;
    use rialto_model::Timestamp;

    fn phase(state: InstrumentState, cause: Option<Cause>) -> Phase {
        Phase { cause, ..Phase::of(state) }
    }

    fn view(state: InstrumentState, interrupted: Option<Interrupted>) -> AuctionView {
        let at = Moment { seq: Seq(1), time: Timestamp::ZERO };
        let instrument = InstrumentId(1);
        AuctionView {
            instrument,
            state,
            at,
            indicative: None,
            last: None,
            interrupted,
            halted_until: None,
            limit_state: None,
        }
    }

    #[test]
    fn an_auction_has_the_cause_of_its_call() {
        use InstrumentState as S;
        let price = rialto_model::Price(1);
        let interrupted = Some(Interrupted {
            instrument: InstrumentId(1),
            price,
            low: price,
            high: price,
            until_command: false,
        });
        for (before, state, interrupted, told) in [
            (phase(S::PreOpen, None), S::Call, None, Some(Cause::Opening)),
            (phase(S::Open, None), S::Call, interrupted, Some(Cause::Interruption)),
            (phase(S::Halted, None), S::Call, None, Some(Cause::Reopening)),
            (phase(S::Open, None), S::ClosingCall, None, Some(Cause::Closing)),
            (phase(S::Uncrossing, None), S::Call, interrupted, Some(Cause::Extension)),
            (phase(S::Call, Some(Cause::Reopening)), S::Uncrossing, None, Some(Cause::Reopening)),
            (phase(S::Uncrossing, Some(Cause::Opening)), S::Open, None, None),
        ] {
            assert_eq!(cause(Some(&before), &view(state, interrupted)), told, "{state:?}");
        }
    }
}
