//! Timetables: the transitions that calendars plan for their instruments, made when they are due.
//!
//! [`rules`](crate::rules) says what a transition does; this module holds the plans and the progress.

use crate::halts::{Breaker, Halt, PhaseEnd, Resumed, WITH_RESUMED_PHASES};
use crate::instruments::Market;
use crate::limits::{CALENDARS_MAX, TRANSITIONS_MAX};
use crate::phases::WITH_AUCTIONS;
use crate::ranges::{TimedCall, draw};
use crate::{Core, EventSink};
use rialto_model::{
    Event, InstrumentId, InstrumentState, Name, Outcome, PlannedTransition, RejectReason,
    TimeInForce, Timestamp,
};
use std::collections::VecDeque;

/// Separates the ends of planned calls from any other use of a seed.
const CONTEXT: &str = "rialto core 2026-11 random end of a planned call";

/// A calendar: its transitions, and the instruments that follow them.
pub(crate) struct CalendarPlan {
    pub(crate) name: Name,
    /// Identifies the file of the plan that was adopted last.
    pub(crate) digest: u64,
    /// The random ends of its calls are drawn from this.
    pub(crate) seed: u64,
    /// The plan that has not been adopted.
    pub(crate) draft: Vec<PlannedTransition>,
    /// The transitions that have not begun, by time.
    pub(crate) ahead: VecDeque<PlannedTransition>,
    /// The transition that began last.
    pub(crate) begun: Option<PlannedTransition>,
    /// The position of the next instrument for which that transition must be made, until it has been
    /// made for all.
    pub(crate) pending: Option<u32>,
    /// The indexes of its instruments, ascending.
    pub(crate) instruments: Vec<u16>,
    /// Halts these instruments when the price of one of them has moved too far.
    pub(crate) breaker: Option<Breaker>,
    /// When the present session ends; [`Timestamp::MAX`] if no end is planned.
    session_end: Timestamp,
    /// When the present trading day ends; [`Timestamp::MAX`] if no end is planned.
    day_end: Timestamp,
}

impl CalendarPlan {
    pub(crate) fn new(name: Name) -> CalendarPlan {
        CalendarPlan {
            name,
            digest: 0,
            seed: 0,
            draft: Vec::new(),
            ahead: VecDeque::new(),
            begun: None,
            pending: None,
            instruments: Vec::new(),
            breaker: None,
            session_end: Timestamp::MAX,
            day_end: Timestamp::MAX,
        }
    }

    /// When a tick must make its next transition, or go on with the present one.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        let present = self.begun.filter(|_| self.pending.is_some());
        present.as_ref().or(self.ahead.front()).map(|transition| transition.at)
    }

    /// The next ends of a session and of a trading day.
    fn planned_ends(&self) -> (Timestamp, Timestamp) {
        let first = |ends: fn(&PlannedTransition) -> bool| {
            let found = self.ahead.iter().find(|transition| ends(transition));
            found.map_or(Timestamp::MAX, |transition| transition.at)
        };
        (first(|transition| transition.ends_session), first(|transition| transition.ends_day))
    }

    /// Finds the ends of session and day after the transitions have changed.
    pub(crate) fn settle_ends(&mut self) {
        (self.session_end, self.day_end) = self.planned_ends();
    }

    /// Whether its transitions are in order, and its ends are the ones planned. Both ends stay as they
    /// are until a transition has been made for all instruments.
    pub(crate) fn is_sound(&self) -> bool {
        let all = self.begun.iter().chain(&self.ahead);
        all.is_sorted_by(|before, after| before.at < after.at)
            && self.draft.is_sorted_by(|before, after| before.at < after.at)
            && self.instruments.is_sorted_by(|before, after| before < after)
            && self.ahead.len().max(self.draft.len()) <= TRANSITIONS_MAX
            && (self.pending.is_some() || (self.session_end, self.day_end) == self.planned_ends())
    }

    /// The call that a transition begins in an instrument, if it is one that ends by itself.
    fn call(&self, transition: &PlannedTransition, instrument: InstrumentId) -> Option<TimedCall> {
        if !transition.ends_by_itself() {
            return None;
        }
        let longest = transition.latest_end().0 - transition.earliest_end.0;
        let drawn = draw(CONTEXT, self.seed, instrument, transition.at.0) % (longest + 1);
        let no_cancel_from = match transition.no_cancel_from {
            Timestamp::ZERO => Timestamp::MAX,
            from => from,
        };
        let ends = transition.earliest_end.saturating_add(drawn);
        Some(TimedCall { ends, next: transition.next, extended: false, no_cancel_from })
    }
}

impl Market {
    /// Whether members may not cancel or amend its orders now.
    #[cold]
    pub(crate) fn forbids_cancels(&self, time: Timestamp) -> bool {
        self.call.is_some_and(|call| call.no_cancel_from <= time)
    }
}

impl Core {
    pub(crate) fn calendar(&self, name: Name) -> Result<usize, RejectReason> {
        let found = self.calendars.iter().position(|calendar| calendar.name == name);
        found.ok_or(RejectReason::UnknownCalendar)
    }

    fn check_timetables_known(&self) -> Result<(), RejectReason> {
        if self.rules_since(WITH_AUCTIONS) { Ok(()) } else { Err(RejectReason::CommandUnknown) }
    }

    pub(crate) fn plan_transition(
        &mut self,
        name: Name,
        number: u32,
        transition: &PlannedTransition,
    ) -> Result<(Event, Outcome), RejectReason> {
        self.check_timetables_known()?;
        if name.is_empty() {
            return Err(RejectReason::NameInvalid);
        }
        let known = self.calendar(name);
        let draft = match known {
            Ok(at) if number > 0 => &self.calendars[at].draft[..],
            Err(unknown) if number > 0 => return Err(unknown),
            _ => &[],
        };
        if number as usize != draft.len() {
            return Err(RejectReason::PlanIncomplete);
        }
        let ascends = draft.last().is_none_or(|last| last.at < transition.at);
        if transition.check().is_err() || !ascends {
            return Err(RejectReason::TransitionInvalid);
        }
        let has_room = known.is_ok() || self.calendars.len() < CALENDARS_MAX;
        if draft.len() >= TRANSITIONS_MAX || !has_room {
            return Err(RejectReason::VenueFull);
        }
        let at = known.unwrap_or(self.calendars.len());
        if at == self.calendars.len() {
            self.calendars.push(CalendarPlan::new(name));
        }
        let draft = &mut self.calendars[at].draft;
        draft.truncate(number as usize);
        draft.push(*transition);
        let event = Event::TransitionPlanned { calendar: name, number, transition: *transition };
        Ok((event, Outcome::Done))
    }

    pub(crate) fn adopt_plan(
        &mut self,
        name: Name,
        count: u32,
        digest: u64,
        seed: u64,
        replace: bool,
    ) -> Result<(Event, Outcome), RejectReason> {
        self.check_timetables_known()?;
        let at = self.calendar(name)?;
        let calendar = &mut self.calendars[at];
        if count as usize != calendar.draft.len() {
            return Err(RejectReason::PlanIncomplete);
        }
        let kept = if replace { 0 } else { calendar.ahead.len() };
        let last = match kept {
            0 => calendar.begun.as_ref(),
            _ => calendar.ahead.back(),
        };
        if let (Some(last), Some(first)) = (last, calendar.draft.first())
            && first.at <= last.at
        {
            return Err(RejectReason::TransitionInvalid);
        }
        if kept + calendar.draft.len() > TRANSITIONS_MAX {
            return Err(RejectReason::VenueFull);
        }
        calendar.ahead.truncate(kept);
        calendar.ahead.extend(calendar.draft.drain(..));
        (calendar.digest, calendar.seed) = (digest, seed);
        self.replan(at);
        let event = Event::PlanAdopted { calendar: name, count, digest, replace };
        Ok((event, Outcome::Done))
    }

    pub(crate) fn assign_calendar(
        &mut self,
        id: InstrumentId,
        name: Name,
    ) -> Result<(Event, Outcome), RejectReason> {
        self.check_timetables_known()?;
        let at = self.market(id)?;
        self.markets[usize::from(at)].check_not_uncrossing()?;
        let is_watched = self.is_watched(at);
        if is_watched && !self.rules_since(6) {
            return Err(RejectReason::CircuitBreakerInvalid);
        }
        let new = match name.is_empty() {
            true => None,
            false => Some(self.calendar(name)? as u8),
        };
        if is_watched && new != self.markets[usize::from(at)].calendar {
            return Err(RejectReason::CircuitBreakerInvalid);
        }
        let market = &mut self.markets[usize::from(at)];
        if let Some(old) = std::mem::replace(&mut market.calendar, new) {
            self.calendars[usize::from(old)].instruments.retain(|&other| other != at);
        }
        if let Some(new) = new {
            let instruments = &mut self.calendars[usize::from(new)].instruments;
            let place = instruments.partition_point(|&other| other < at);
            instruments.insert(place, at);
        }
        Ok((Event::CalendarAssigned { instrument: id, calendar: name }, Outcome::Done))
    }

    pub(crate) fn move_transition(
        &mut self,
        name: Name,
        at: Timestamp,
        to: Timestamp,
    ) -> Result<(Event, Outcome), RejectReason> {
        self.check_timetables_known()?;
        let index = self.calendar(name)?;
        let CalendarPlan { ahead, begun, .. } = &mut self.calendars[index];
        let found = ahead.iter().position(|transition| transition.at == at);
        let found = found.ok_or(RejectReason::UnknownTransition)?;
        let before = match found.checked_sub(1) {
            Some(before) => ahead.get(before),
            None => begun.as_ref(),
        };
        let fits = to >= self.time
            && before.is_none_or(|before| before.at < to)
            && ahead.get(found + 1).is_none_or(|after| to < after.at);
        let moved = ahead[found].moved_to(to).filter(|_| fits);
        ahead[found] = moved.ok_or(RejectReason::TransitionInvalid)?;
        self.replan(index);
        Ok((Event::TransitionMoved { calendar: name, at, to }, Outcome::Done))
    }

    /// Sets the timer of a calendar and finds its ends, after its transitions have changed.
    pub(crate) fn replan(&mut self, index: usize) {
        let calendar = &mut self.calendars[index];
        calendar.settle_ends();
        self.phase_changes.remove(index as u32);
        if let Some(due) = calendar.due() {
            self.phase_changes.insert(index as u32, due, calendar_rank(index));
        }
        self.settle_due();
    }

    /// When an order expires whose end the timetable decides. Nothing if there is no end.
    pub(crate) fn planned_expiry(
        &self,
        market: &Market,
        time_in_force: TimeInForce,
    ) -> Option<Timestamp> {
        let calendar = &self.calendars[usize::from(market.calendar?)];
        let end = match time_in_force {
            TimeInForce::Gfs => calendar.session_end,
            _ => calendar.day_end,
        };
        Some(end).filter(|&end| end != Timestamp::MAX)
    }

    /// Begins the transition of a calendar that is due, or goes on with it. Returns whether there were
    /// events.
    pub(crate) fn make_transition<S: EventSink>(
        &mut self,
        index: usize,
        budget: &mut u32,
        sink: &mut S,
    ) -> bool {
        let calendar = &mut self.calendars[index];
        let mut noticed = false;
        let mut position = calendar.pending.unwrap_or_else(|| {
            let begun =
                calendar.ahead.pop_front().expect("a calendar that is due has a transition");
            *budget -= 1;
            noticed = true;
            calendar.begun = Some(begun);
            let PlannedTransition { at, state, .. } = begun;
            sink.event(&Event::TransitionBegun { calendar: calendar.name, at, state });
            0
        });
        let transition = calendar.begun.expect("it has begun");
        while let Some(&at) = self.calendars[index].instruments.get(position as usize) {
            if *budget == 0 {
                self.calendars[index].pending = Some(position);
                return noticed;
            }
            *budget -= 1;
            position += 1;
            noticed |= self.follow(at, &transition, sink);
        }
        self.calendars[index].pending = None;
        self.replan(index);
        noticed
    }

    /// Makes a transition of one instrument. Returns whether there were events.
    fn follow<S: EventSink>(
        &mut self,
        at: u16,
        transition: &PlannedTransition,
        sink: &mut S,
    ) -> bool {
        let market = &self.markets[usize::from(at)];
        let state = market.state();
        let next = transition.state;
        if market.waits_for_command() {
            return false;
        }
        match state {
            InstrumentState::Halted if let Some(halt) = market.halt => {
                if let Some(resumed) = self.after_halt_by(transition) {
                    self.markets[usize::from(at)].halt = Some(Halt { resumed, ..halt });
                    return false;
                }
            }
            InstrumentState::Listed
            | InstrumentState::Halted
            | InstrumentState::Withdrawn
            | InstrumentState::Delisted => return false,
            InstrumentState::Uncrossing => {
                self.background.redirect_uncrossing(at, next);
                return false;
            }
            InstrumentState::Open
            | InstrumentState::PreOpen
            | InstrumentState::Call
            | InstrumentState::ClosingCall
            | InstrumentState::Closed => {}
        }
        let trades = matches!(next, InstrumentState::Open | InstrumentState::Closed);
        if state != next && trades && state != InstrumentState::Open && market.waits_for_auction() {
            let since = self.last_moment_before(transition.at);
            let auction = self.begin_uncrossing(at, next, since, sink);
            self.background.wait_uncrossing(auction);
            return true;
        }
        if state != next {
            self.enter_phase(at, next, sink);
        }
        self.take_over_call(at, transition);
        state != next
    }

    /// What follows a halt during which a transition is made. Nothing if the transition ends the halt.
    fn after_halt_by(&self, transition: &PlannedTransition) -> Option<Resumed> {
        let next = match transition.state {
            InstrumentState::Call | InstrumentState::Open => InstrumentState::Open,
            InstrumentState::ClosingCall => InstrumentState::Closed,
            _ => return None,
        };
        if !self.rules_since(WITH_RESUMED_PHASES) {
            return Some(Resumed::before_version_6(next, false));
        }
        let (phase, extended) = (transition.state, false);
        Some(match phase {
            InstrumentState::Open => Resumed::CALL,
            _ if transition.ends_by_itself() => {
                Resumed { phase, next: transition.next, end: PhaseEnd::Time, extended }
            }
            _ => Resumed { phase, next, end: PhaseEnd::Transition, extended },
        })
    }

    /// Gives an instrument the end of the call that a transition begins, or none.
    fn take_over_call(&mut self, at: u16, transition: &PlannedTransition) {
        let market = &self.markets[usize::from(at)];
        let calendar = market.calendar.expect("the instrument follows the calendar");
        let call = self.calendars[usize::from(calendar)].call(transition, market.instrument.id);
        self.set_call(at, call);
    }

    /// An auction has led to a phase. If a transition began the phase meanwhile and it is a call, the call
    /// ends as the transition says.
    pub(crate) fn resume_timetable(&mut self, at: u16) {
        let market = &self.markets[usize::from(at)];
        if !market.state().collects() {
            return;
        }
        if let Some(begun) = self.begun_phase(at) {
            self.take_over_call(at, &begun);
        }
    }

    /// The transition that began last, if an instrument is in its phase.
    fn begun_phase(&self, at: u16) -> Option<PlannedTransition> {
        let market = &self.markets[usize::from(at)];
        let begun = market.calendar.and_then(|at| self.calendars[usize::from(at)].begun);
        begun.filter(|begun| begun.state == market.state())
    }

    /// The call that the timetable has begun, if an instrument is in its phase.
    pub(crate) fn planned_call(&self, at: u16) -> Option<TimedCall> {
        let market = &self.markets[usize::from(at)];
        let calendar = &self.calendars[usize::from(market.calendar?)];
        calendar.call(&self.begun_phase(at)?, market.instrument.id)
    }
}

/// The rank of a calendar's timer: behind the ends of calls at the same time.
pub(crate) fn calendar_rank(index: usize) -> u64 {
    (1 << 32) + index as u64
}

/// The item, among the changes of phases, of a halt that has not been made for all its instruments.
/// Calendars come before it, instruments behind it.
pub(crate) const HALT_ITEM: u32 = CALENDARS_MAX as u32;

/// The item of an instrument among the changes of phases: the end of its call, of its halt or of its limit
/// state.
pub(crate) fn change_item(at: u16) -> u32 {
    HALT_ITEM + 1 + u32::from(at)
}
