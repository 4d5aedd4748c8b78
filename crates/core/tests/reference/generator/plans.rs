//! Commands that plan transitions, and do something with what is planned.

use super::super::coverage::no_cancel::in_no_cancel_period;
use super::super::world::text;
use super::{Chooser, MICROSECOND};
use rialto_model::{
    AccountId, Command, InstrumentState, Name, PlannedTransition, Restrict, Restriction,
    RestrictionTarget, Text, Timestamp,
};

impl Chooser<'_> {
    /// Plans a transition, or does something with what is planned.
    pub(super) fn timetable(&mut self) -> Command {
        let calendar: Name = match self.dice.below(40) {
            0 => Text::EMPTY,
            1 => text("other"),
            _ => text(self.dice.pick(&["day", "day", "night"])),
        };
        let known = self.now.timetables.iter().find(|timetable| timetable.name == calendar);
        let draft = known.map_or(&[][..], |timetable| &timetable.draft);
        let ahead = known.map_or(&[][..], |timetable| timetable.ahead());
        match self.dice.weighted(&[50, 25, 15, 10]) {
            0 => {
                let number = match self.dice.below(20) {
                    0 => 0,
                    1 => 7,
                    _ => draft.len() as u32,
                };
                let last = draft.last().filter(|_| number > 0).map(|last| last.at);
                let last = last.or(ahead.last().map(|last| last.at)).unwrap_or(self.time);
                let transition = self.transition(last.max(self.time));
                Command::PlanTransition { calendar, number, transition }
            }
            1 => {
                let wrong = u32::from(self.dice.chance(5));
                let count = draft.len() as u32 + wrong;
                let (digest, seed) = (self.dice.next(), self.dice.next());
                let replace = self.dice.chance(40);
                Command::AdoptPlan { calendar, count, digest, seed, replace }
            }
            2 => {
                let none = self.dice.chance(10);
                let calendar = if none { Text::EMPTY } else { calendar };
                Command::AssignCalendar { instrument: self.instrument(), calendar }
            }
            _ => {
                let times: Vec<Timestamp> =
                    ahead.iter().chain(draft).map(|transition| transition.at).collect();
                let at = if times.is_empty() { self.time } else { self.dice.pick(&times) };
                let to = match self.dice.below(10) {
                    0 => Timestamp(self.time.0 - 1),
                    1 => Timestamp::MAX,
                    2 => self.time,
                    _ => Timestamp(at.0 - 20 * MICROSECOND + self.dice.below(50 * MICROSECOND)),
                };
                Command::MoveTransition { calendar, at, to }
            }
        }
    }

    /// All commands of a plan, and an instrument that follows it.
    pub(super) fn whole_plan(&mut self) -> Vec<Command> {
        let calendar: Name = text(self.dice.pick(&["day", "night"]));
        let known = self.now.timetables.iter().find(|timetable| timetable.name == calendar);
        let replace = self.dice.chance(60);
        let kept = known.and_then(|timetable| timetable.ahead().last()).filter(|_| !replace);
        let mut last = kept.map_or(self.time, |last| last.at).max(self.time);
        let mut commands = Vec::new();
        let count = 2 + self.dice.below(6) as u32;
        for number in 0..count {
            let transition = self.transition(last);
            last = last.max(transition.at);
            commands.push(Command::PlanTransition { calendar, number, transition });
        }
        let (digest, seed) = (self.dice.next(), self.dice.next());
        commands.push(Command::AdoptPlan { calendar, count, digest, seed, replace });
        let instrument = self.instrument();
        commands.push(Command::AssignCalendar { instrument, calendar });
        commands
    }

    /// The accounts with orders that they may not cancel now.
    pub(super) fn bound(&self) -> Vec<AccountId> {
        let instruments = in_no_cancel_period(self.now, self.time);
        let mut bound = self.now.orders.clone();
        bound.retain(|order| instruments.contains(&order.instrument));
        bound.iter().map(|order| order.account).collect()
    }

    /// Restricts one of these accounts, mostly with its cancels.
    pub(super) fn killing(&mut self) -> Command {
        let bound = self.bound();
        Command::Restrict(Restrict {
            target: RestrictionTarget::Account(self.dice.pick(&bound)),
            restriction: Restriction::CancelOnly,
            by_member: self.dice.chance(60),
            cancel: self.dice.chance(85),
        })
    }

    /// A transition some time after another one.
    fn transition(&mut self, last: Timestamp) -> PlannedTransition {
        use InstrumentState as S;
        let states = [S::PreOpen, S::Call, S::Call, S::Open, S::Open, S::ClosingCall, S::Closed];
        let state = self.dice.pick(&states);
        let wait = match self.dice.below(60) {
            0 => 0,
            1 => self.dice.below(Timestamp::DAY),
            _ => 1 + self.dice.below(60 * MICROSECOND),
        };
        let at = last.saturating_add(wait);
        let mut transition = PlannedTransition {
            ends_session: self.dice.chance(40),
            ends_day: self.dice.chance(30),
            ..PlannedTransition::plain(at, state)
        };
        if [S::Call, S::ClosingCall].contains(&state) && self.dice.chance(80) {
            let length = 1 + self.dice.below(300 * MICROSECOND);
            transition.earliest_end = at.saturating_add(length);
            transition.random_end_ms = self.dice.pick(&[0, 0, 1]);
            transition.next = self.dice.pick(&[S::Open, S::Closed]);
            if self.dice.chance(50) {
                transition.no_cancel_from = at.saturating_add(self.dice.below(length) / 4);
            }
        }
        match self.dice.below(80) {
            0 => transition.state = self.dice.pick(S::ALL),
            1 => transition.earliest_end = at,
            2 => transition.no_cancel_from = Timestamp(at.0 - 1),
            3 => transition.next = self.dice.pick(S::ALL),
            4 => transition.random_end_ms = self.dice.pick(&[1, 86_400_001]),
            _ => {}
        }
        transition
    }
}
