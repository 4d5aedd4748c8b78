//! Timetables: one list of transitions for each calendar, looked at from the beginning every time.

use super::auction::{Call, collects};
use super::entry::demand;
use super::halt::{After, CallAfter, Halt};
use super::{Alteration, ORDERS_PER_COMMAND, Reference};
use rialto_model::{
    AccountId, Event, InstrumentId, InstrumentState, Name, Outcome, PlannedTransition,
    RejectReason, TimeInForce, Timestamp,
};

const CALENDARS: usize = 64;
const TRANSITIONS: usize = 1_024;

/// A calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timetable {
    pub name: Name,
    pub digest: u64,
    pub seed: u64,
    pub draft: Vec<PlannedTransition>,
    /// All that was planned and not replaced, with what has begun.
    pub all: Vec<PlannedTransition>,
    /// How many of them have begun.
    pub begun: usize,
    /// The instruments for which the last of these must still be made.
    pub waiting: Vec<InstrumentId>,
}

impl Timetable {
    pub fn ahead(&self) -> &[PlannedTransition] {
        &self.all[self.begun..]
    }

    pub fn last_begun(&self) -> Option<PlannedTransition> {
        self.all[..self.begun].last().copied()
    }

    fn due(&self) -> Option<Timestamp> {
        let present = self.last_begun().filter(|_| !self.waiting.is_empty());
        present.as_ref().or(self.ahead().first()).map(|transition| transition.at)
    }
}

/// What is due, in the order in which it comes at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    DeadMan(AccountId),
    EndOfTimedState(InstrumentId),
    Transition(usize),
    Halting,
}

/// Whether a transition could be planned alone.
fn is_sound(transition: &PlannedTransition) -> bool {
    use InstrumentState as S;
    let PlannedTransition { at, state, earliest_end, random_end_ms, next, .. } = *transition;
    let random = u64::from(random_end_ms) * 1_000_000;
    let no_cancel = transition.no_cancel_from;
    let ends = earliest_end > Timestamp::ZERO;
    let conditions = [
        [S::PreOpen, S::Call, S::Open, S::ClosingCall, S::Closed].contains(&state),
        at > Timestamp::ZERO && at < Timestamp::MAX,
        !ends || [S::Call, S::ClosingCall].contains(&state),
        !ends || earliest_end > at,
        !ends || earliest_end.0.checked_add(random).is_some_and(|end| end < u64::MAX),
        random_end_ms <= 86_400_000 && (ends || random_end_ms == 0),
        next == S::Open || (ends && next == S::Closed),
        no_cancel == Timestamp::ZERO || (ends && at <= no_cancel && no_cancel <= earliest_end),
    ];
    !conditions.contains(&false)
}

fn ascend(transitions: &[PlannedTransition]) -> bool {
    transitions.windows(2).all(|two| two[0].at < two[1].at)
}

impl Reference {
    pub(super) fn is_calendar(&self, name: Name) -> Result<(), RejectReason> {
        let known = self.timetables.iter().any(|timetable| timetable.name == name);
        demand(known, RejectReason::UnknownCalendar)
    }

    fn timetable(&mut self, name: Name) -> Result<&mut Timetable, RejectReason> {
        demand(self.rules_version >= 4, RejectReason::CommandUnknown)?;
        let mut all = self.timetables.iter_mut();
        all.find(|timetable| timetable.name == name).ok_or(RejectReason::UnknownCalendar)
    }

    pub(super) fn plan_transition(
        &mut self,
        name: Name,
        number: u32,
        transition: &PlannedTransition,
    ) -> Result<Outcome, RejectReason> {
        demand(self.rules_version >= 4, RejectReason::CommandUnknown)?;
        demand(!name.is_empty(), RejectReason::NameInvalid)?;
        let known = self.timetable(name).cloned();
        if number > 0 {
            known.clone()?;
        }
        let is_new = known.is_err();
        let mut timetable = known.unwrap_or(Timetable {
            name,
            digest: 0,
            seed: 0,
            draft: Vec::new(),
            all: Vec::new(),
            begun: 0,
            waiting: Vec::new(),
        });
        if number == 0 {
            timetable.draft.clear();
        }
        demand(timetable.draft.len() == number as usize, RejectReason::PlanIncomplete)?;
        timetable.draft.push(*transition);
        let is_fine = is_sound(transition) && ascend(&timetable.draft);
        demand(is_fine, RejectReason::TransitionInvalid)?;
        let has_room = !is_new || self.timetables.len() < CALENDARS;
        demand(has_room && timetable.draft.len() <= TRANSITIONS, RejectReason::VenueFull)?;
        match is_new {
            true => self.timetables.push(timetable),
            false => *self.timetable(name)? = timetable,
        }
        self.events.push(Event::TransitionPlanned {
            calendar: name,
            number,
            transition: *transition,
        });
        Ok(Outcome::Done)
    }

    pub(super) fn adopt_plan(
        &mut self,
        name: Name,
        (count, digest): (u32, u64),
        seed: u64,
        replace: bool,
    ) -> Result<Outcome, RejectReason> {
        let mut timetable = self.timetable(name)?.clone();
        let is_whole = timetable.draft.len() == count as usize;
        demand(is_whole, RejectReason::PlanIncomplete)?;
        if replace {
            timetable.all.truncate(timetable.begun);
        }
        timetable.all.append(&mut timetable.draft);
        demand(ascend(&timetable.all), RejectReason::TransitionInvalid)?;
        demand(timetable.ahead().len() <= TRANSITIONS, RejectReason::VenueFull)?;
        (timetable.digest, timetable.seed) = (digest, seed);
        *self.timetable(name)? = timetable;
        self.events.push(Event::PlanAdopted { calendar: name, count, digest, replace });
        Ok(Outcome::Done)
    }

    pub(super) fn assign_calendar(
        &mut self,
        instrument: InstrumentId,
        calendar: Name,
    ) -> Result<Outcome, RejectReason> {
        demand(self.rules_version >= 4, RejectReason::CommandUnknown)?;
        let is_uncrossing = self.listed(instrument)?.is_uncrossing();
        demand(!is_uncrossing, RejectReason::InstrumentUncrossing)?;
        let is_old = self.rules_version < 6;
        if is_old {
            self.check_unwatched(instrument)?;
        }
        if !calendar.is_empty() {
            self.timetable(calendar)?;
        }
        if !is_old && calendar != self.listed(instrument)?.calendar {
            self.check_unwatched(instrument)?;
        }
        self.listed_mut(instrument)?.calendar = calendar;
        self.events.push(Event::CalendarAssigned { instrument, calendar });
        Ok(Outcome::Done)
    }

    pub(super) fn move_transition(
        &mut self,
        calendar: Name,
        at: Timestamp,
        to: Timestamp,
    ) -> Result<Outcome, RejectReason> {
        let now = self.time;
        let mut timetable = self.timetable(calendar)?.clone();
        let begun = timetable.begun;
        let found = timetable.all[begun..].iter_mut().find(|transition| transition.at == at);
        let transition = found.ok_or(RejectReason::UnknownTransition)?;
        let shift = |time: Timestamp| {
            let moved = i128::from(time.0) + i128::from(to.0) - i128::from(at.0);
            // A time that cannot be expressed is refused as that of the transition is.
            u64::try_from(moved).map_or(Timestamp::MAX, Timestamp)
        };
        for time in [&mut transition.earliest_end, &mut transition.no_cancel_from] {
            if *time > Timestamp::ZERO {
                *time = shift(*time);
            }
        }
        transition.at = to;
        let is_fine = to >= now && is_sound(transition) && ascend(&timetable.all);
        demand(is_fine, RejectReason::TransitionInvalid)?;
        *self.timetable(calendar)? = timetable;
        self.events.push(Event::TransitionMoved { calendar, at, to });
        Ok(Outcome::Done)
    }

    /// When an order ends that the timetable of its instrument ends, if it does.
    pub(super) fn planned_end(
        &self,
        instrument: InstrumentId,
        time_in_force: TimeInForce,
    ) -> Option<Timestamp> {
        let name = self.listed(instrument).ok()?.calendar;
        let timetable = self.timetables.iter().find(|timetable| timetable.name == name)?;
        let ends = |transition: &&PlannedTransition| match time_in_force {
            TimeInForce::Day => transition.ends_day,
            _ if self.gets_wrong(Alteration::SessionsEndWithTheDay) => transition.ends_day,
            _ => transition.ends_session,
        };
        let by_clock =
            time_in_force == TimeInForce::Day && self.gets_wrong(Alteration::DayEndsByClock);
        let found = timetable.ahead().iter().find(ends).filter(|_| !by_clock);
        found.map(|transition| transition.at)
    }

    fn all_due(&self) -> impl Iterator<Item = (Timestamp, Due)> {
        let timers = self.accounts.iter();
        let timers =
            timers.filter_map(|(id, account)| Some((account.dead_man?, Due::DeadMan(*id))));
        let calls = self.instruments.iter().filter_map(|listed| {
            Some((listed.timed_until()?, Due::EndOfTimedState(listed.instrument.id)))
        });
        let transitions = self.timetables.iter().enumerate();
        let transitions = transitions
            .filter_map(|(index, timetable)| Some((timetable.due()?, Due::Transition(index))));
        let halting = self.halting.iter().map(|halting| (halting.since, Due::Halting));
        timers.chain(calls).chain(transitions).chain(halting)
    }

    pub(super) fn first_due(&self) -> Timestamp {
        self.all_due().map(|(due, _)| due).min().unwrap_or(Timestamp::MAX)
    }

    /// Does what is due, the earliest first.
    pub(super) fn make_due(&mut self, visited: &mut usize) {
        while *visited < ORDERS_PER_COMMAND
            && let Some((due, what)) = self.all_due().min()
            && due <= self.time
        {
            match what {
                Due::DeadMan(account) => self.begin_dead_man(account, visited),
                Due::EndOfTimedState(instrument) => self.end_timed_state(instrument, visited),
                Due::Transition(index) => self.make_transition(index, visited),
                Due::Halting => self.go_on_halting(visited),
            }
        }
    }

    fn make_transition(&mut self, index: usize, visited: &mut usize) {
        let time = self.time;
        let drops_late = self.gets_wrong(Alteration::LateTransitionsDropped);
        let timetable = &mut self.timetables[index];
        let name = timetable.name;
        if timetable.waiting.is_empty() {
            timetable.begun += 1;
            while drops_late && timetable.ahead().first().is_some_and(|next| next.at <= time) {
                timetable.begun += 1;
            }
            *visited += 1;
            let PlannedTransition { at, state, .. } = timetable.last_begun().expect("it began");
            self.events.push(Event::TransitionBegun { calendar: name, at, state });
            let follow = self.instruments.iter().filter(|listed| listed.calendar == name);
            timetable.waiting = follow.map(|listed| listed.instrument.id).collect();
        }
        let transition = timetable.last_begun().expect("it began");
        while *visited < ORDERS_PER_COMMAND && !self.timetables[index].waiting.is_empty() {
            let instrument = self.timetables[index].waiting.remove(0);
            *visited += 1;
            self.follow(instrument, &transition);
        }
    }

    fn follow(&mut self, id: InstrumentId, transition: &PlannedTransition) {
        use InstrumentState as S;
        let listed = self.listed(id).expect("it is listed");
        let state = listed.instrument.state;
        let waits_for_a_command = listed.call.is_some_and(|call| call.ends.is_none())
            || listed.halt.and_then(|halt| halt.then.call).is_some_and(|call| call.until_command);
        let stays = [S::Listed, S::Withdrawn, S::Delisted].contains(&state)
            || (state == S::Halted
                && listed.halt.is_none()
                && !self.gets_wrong(Alteration::HaltsEndByTimetable));
        if stays || waits_for_a_command {
            return;
        }
        if state == S::Uncrossing {
            let mut auctions = self.auctions.iter_mut();
            let auction = auctions.find(|auction| auction.instrument == id);
            auction.expect("it uncrosses").next = transition.state;
            return;
        }
        let changes = [(S::Call, S::Open), (S::Open, S::Open), (S::ClosingCall, S::Closed)];
        let changed = changes.into_iter().find(|(phase, _)| *phase == transition.state);
        if let (Some(halt), Some((phase, next))) = (listed.halt, changed) {
            let ends = transition.earliest_end > Timestamp::ZERO;
            let call = CallAfter { next: transition.next, until_command: false, extended: false };
            let then = match phase {
                _ if self.rules_version < 6 => After::by_next(next, false),
                S::Open => After::OPEN,
                _ => After { phase, call: ends.then_some(call) },
            };
            let halt = Halt { then, ..halt };
            self.listed_mut(id).expect("it is listed").halt = Some(halt);
            return;
        }
        let trades = [S::Open, S::Closed].contains(&transition.state)
            && ![S::Open, transition.state].contains(&state);
        if trades && self.has_an_auction_to_do(id) {
            let auction = self.begin_uncrossing(id, transition.state, Some(transition.at));
            self.auctions.push(auction);
            return;
        }
        if state != transition.state {
            self.enter_phase(id, transition.state);
        }
        self.take_over_call(id, transition);
    }

    fn take_over_call(&mut self, id: InstrumentId, transition: &PlannedTransition) {
        let name = self.listed(id).expect("it is listed").calendar;
        let mut all = self.timetables.iter();
        let seed = all.find(|timetable| timetable.name == name).expect("it follows one").seed;
        let PlannedTransition { at, earliest_end, random_end_ms, next, no_cancel_from, .. } =
            *transition;
        let material = [&seed.to_le_bytes()[..], &id.0.to_le_bytes(), &at.0.to_le_bytes()];
        let context = "rialto core 2026-11 random end of a planned call";
        let key = blake3::derive_key(context, &material.concat());
        let drawn = u64::from_le_bytes(key[..8].try_into().expect("eight bytes"));
        let ends = earliest_end.0 + drawn % (u64::from(random_end_ms) * 1_000_000 + 1);
        let call = Call {
            ends: Some(Timestamp(ends)),
            next,
            extended: false,
            no_cancel_from: Some(no_cancel_from).filter(|from| *from > Timestamp::ZERO),
        };
        let is_call = earliest_end > Timestamp::ZERO;
        self.listed_mut(id).expect("it is listed").call = is_call.then_some(call);
    }

    /// After an auction: a call that a transition has begun meanwhile ends as planned.
    pub(super) fn resume_timetable(&mut self, id: InstrumentId) {
        let listed = self.listed(id).expect("it is listed");
        let (state, name) = (listed.instrument.state, listed.calendar);
        let timetable = self.timetables.iter().find(|timetable| timetable.name == name);
        let begun = timetable.and_then(Timetable::last_begun);
        if let Some(begun) = begun.filter(|begun| begun.state == state && collects(state)) {
            self.take_over_call(id, &begun);
        }
    }

    /// Whether an account has orders that it may not cancel now.
    pub fn leaves_orders(&self, account: AccountId) -> bool {
        let mut own = self.orders.iter().filter(|order| order.account == account);
        own.any(|order| self.check_cancels(order.instrument).is_err())
    }

    /// Refuses what members may not do with orders of a call that is about to end.
    pub(super) fn check_cancels(&self, id: InstrumentId) -> Result<(), RejectReason> {
        let call = self.listed(id)?.call;
        let from = call.and_then(|call| call.no_cancel_from);
        let is_free = from.is_none_or(|from| self.time < from);
        demand(
            is_free || self.gets_wrong(Alteration::NoCancelIgnored),
            RejectReason::NoCancelPeriod,
        )
    }
}
