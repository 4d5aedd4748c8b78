//! Plans the transitions of one calendar ahead, and has the engine adopt them.

use super::expand::{expand, in_force};
use crate::calendar_file::CalendarFile;
use rialto_calendar::Calendar;
use rialto_core::TRANSITIONS_MAX;
use rialto_feed::{BegunTransition, TimetableView};
use rialto_model::{Name, PlannedTransition, Timestamp};

/// A calendar that the venue runs by.
pub(super) struct Planner {
    pub(super) name: Name,
    calendar: Calendar,
    digest: u64,
    plan_ns: u64,
}

/// What the engine has of a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// Of the file of the last plan that was adopted; zero if none was.
    digest: u64,
    begun: Option<BegunTransition>,
    /// When the last planned transition begins.
    last: Option<Timestamp>,
    planned: usize,
}

impl Held {
    /// What the feed knows of it.
    pub(super) fn of(calendar: &TimetableView) -> Held {
        Held {
            digest: calendar.digest,
            begun: calendar.begun,
            last: calendar.planned.last().map(|it| it.at),
            planned: calendar.planned.len(),
        }
    }
}

/// What the engine is to adopt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) transitions: Vec<PlannedTransition>,
    pub(super) digest: u64,
    pub(super) replace: bool,
}

impl Planner {
    pub(super) fn new(name: Name, file: CalendarFile, plan_days: u32) -> Planner {
        let CalendarFile { calendar, digest } = file;
        Planner { name, calendar, digest, plan_ns: u64::from(plan_days) * Timestamp::DAY }
    }

    /// Whether the engine has adopted a plan of this very file.
    pub(super) fn is_adopted(&self, held: Option<&Held>) -> bool {
        held.is_some_and(|held| held.digest == self.digest)
    }

    /// What the engine lacks; `None` if it lacks nothing, or has no room for more.
    pub(super) fn lacks(&self, held: Option<&Held>, now: Timestamp) -> Option<Plan> {
        let (calendar, until) = (&self.calendar, now.saturating_add(self.plan_ns));
        let begun = held.and_then(|held| held.begun);
        let known = held.filter(|held| held.digest == self.digest);
        let after = known.and_then(|held| held.last.or(begun.map(|begun| begun.at)));
        if let (Some(held), Some(after)) = (known, after) {
            // Transitions that an operator has moved stay: what is planned is not planned again.
            let room = TRANSITIONS_MAX.saturating_sub(held.planned);
            let transitions = expand(calendar, after, until, room);
            let plan = Plan { transitions, digest: self.digest, replace: false };
            return (!plan.transitions.is_empty()).then_some(plan);
        }
        let transitions = match begun {
            // Another version of the file.
            Some(begun) => {
                let mut planned = expand(calendar, begun.at, until, TRANSITIONS_MAX);
                if planned.first().is_none_or(|first| first.at > now) {
                    let late = in_force(calendar, now, |_| now);
                    let late = late.filter(|late| late.state != begun.state);
                    planned.splice(0..0, late);
                }
                planned
            }
            None => {
                let first = in_force(calendar, now, |at| at);
                let most = TRANSITIONS_MAX - usize::from(first.is_some());
                first.into_iter().chain(expand(calendar, now, until, most)).collect()
            }
        };
        let mut plan = Plan { transitions, digest: self.digest, replace: true };
        plan.transitions.truncate(TRANSITIONS_MAX);
        let drops = held.is_some_and(|held| held.digest != self.digest && held.planned > 0);
        (drops || !plan.transitions.is_empty()).then_some(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use InstrumentState::{Call, Closed, Open, PreOpen};
    use rialto_model::InstrumentState;

    const EQUITIES: &str = include_str!("../../../../../docs/calendars/equities.toml");

    fn time(text: &str) -> Timestamp {
        crate::inspect::utc::parse(text).unwrap()
    }

    fn planner(text: &str, digest: u64) -> Planner {
        let calendar = Calendar::parse(text).unwrap();
        Planner::new(name(), CalendarFile { calendar, digest }, 14)
    }

    fn name() -> Name {
        "equities".parse().unwrap()
    }

    /// What an engine does with plans.
    struct Engine {
        calendar: TimetableView,
        made: Vec<PlannedTransition>,
    }

    impl Engine {
        fn new() -> Engine {
            let (digest, begun, planned, plan) = (0, None, Vec::new(), Vec::new());
            let name = name();
            let calendar = TimetableView { name, digest, begun, planned, plan, breaker: None };
            Engine { calendar, made: Vec::new() }
        }

        /// Adopts plans until there are no more, and makes what is due.
        fn run(&mut self, planner: &Planner, now: Timestamp) {
            loop {
                let due = self.calendar.planned.partition_point(|it| it.at <= now);
                for it in self.calendar.planned.drain(..due) {
                    self.calendar.begun = Some(BegunTransition { at: it.at, state: it.state });
                    self.made.push(it);
                }
                let held = Held::of(&self.calendar);
                let Some(plan) = planner.lacks(Some(&held), now) else { break };
                if plan.replace {
                    self.calendar.planned.clear();
                }
                self.calendar.digest = plan.digest;
                self.calendar.planned.extend(plan.transitions);
                assert!(self.calendar.planned.is_sorted_by(|one, other| one.at < other.at));
                assert!(self.calendar.planned.len() <= TRANSITIONS_MAX);
            }
        }

        fn made(&self) -> Vec<InstrumentState> {
            self.made.iter().map(|it| it.state).collect()
        }
    }

    #[test]
    fn a_new_calendar_begins_with_the_phase_in_force() {
        let planner = planner(EQUITIES, 1);
        let now = time("2026-12-23T10:00:00Z");
        let plan = planner.lacks(None, now).unwrap();
        assert!(plan.replace && plan.digest == 1);
        let first = plan.transitions[0];
        assert_eq!((first.at, first.state), (time("2026-12-23T08:00:30Z"), Open));
        let last = plan.transitions.last().unwrap();
        assert_eq!(last.at, time("2027-01-06T08:00:30Z"));
    }

    #[test]
    fn what_is_planned_is_not_planned_again() {
        let planner = planner(EQUITIES, 1);
        let mut engine = Engine::new();
        let now = time("2026-12-23T10:00:00Z");
        engine.run(&planner, now);
        // An operator closes earlier, once.
        let moved = engine.calendar.planned.iter_mut().find(|it| it.state == Closed).unwrap();
        *moved = moved.moved_to(time("2026-12-23T16:35:59Z")).unwrap();
        let before = engine.calendar.planned.clone();
        engine.run(&planner, now);
        assert_eq!(engine.calendar.planned, before);
        let plan =
            planner.lacks(Some(&Held::of(&engine.calendar)), now.saturating_add(Timestamp::DAY));
        let plan = plan.unwrap();
        assert!(!plan.replace);
        assert_eq!(plan.transitions[0].at, time("2027-01-06T12:00:00Z"));
        assert_eq!(plan.transitions.len(), 7);
    }

    #[test]
    fn a_stop_of_years_misses_no_transition() {
        let planner = planner(EQUITIES, 1);
        let mut engine = Engine::new();
        let (from, to) = (time("2026-12-23T10:00:00Z"), time("2029-06-01T10:00:00Z"));
        engine.run(&planner, from);
        let begun = engine.calendar.begun.unwrap();
        engine.run(&planner, to);
        let mut expected = Vec::new();
        let mut after = begun.at;
        loop {
            let part = expand(&planner.calendar, after, to, usize::MAX);
            let Some(last) = part.last() else { break };
            after = last.at;
            expected.extend(part);
        }
        assert!(expected.len() > 4 * TRANSITIONS_MAX / 2, "{}", expected.len());
        assert_eq!(engine.made[1..], expected);
        assert!(engine.calendar.planned.first().unwrap().at > to);
    }

    #[test]
    fn a_dense_calendar_is_planned_for_fewer_days() {
        let minute = |nth: u32| {
            let call = format!("{{ at = \"10:{nth:02}\", phase = \"intraday_call\" }},");
            call + &format!("{{ at = \"10:{nth:02}:30\", phase = \"continuous\" }},")
        };
        let sessions: String = (0..8)
            .map(|nth| {
                let phases: String = (nth * 7..nth * 7 + 7).map(minute).collect();
                let end = nth * 7 + 7;
                format!("[[session]]\nend = \"10:{end:02}\"\nphases = [{phases}]\n")
            })
            .collect();
        let days = "zone = \"UTC\"\nweekdays = [\"monday\", \"tuesday\", \"wednesday\", \"thursday\", \
                    \"friday\", \"saturday\", \"sunday\"]\n";
        let planner = planner(&format!("{days}{sessions}"), 1);
        let mut engine = Engine::new();
        engine.run(&planner, time("2026-12-21T00:00:00Z"));
        assert_eq!(engine.calendar.planned.len(), TRANSITIONS_MAX);
        engine.run(&planner, time("2026-12-21T12:00:00Z"));
        assert_eq!(engine.calendar.planned.len(), TRANSITIONS_MAX);
    }

    #[test]
    fn a_changed_file_puts_instruments_into_its_phase() {
        let mut engine = Engine::new();
        let now = time("2026-12-23T08:10:00Z");
        engine.run(&planner(EQUITIES, 1), now);
        assert_eq!(engine.made(), [Open]);
        // Trading begins later than it did: it ends, and begins again.
        let later = EQUITIES
            .replace("08:00:30", "10:00:30")
            .replace("08:00", "10:00")
            .replace("07:50", "09:50")
            .replace("07:00", "09:00");
        engine.run(&planner(&later, 2), now);
        assert_eq!(engine.made(), [Open, Closed]);
        let next: Vec<_> = engine.calendar.planned.iter().take(3).map(|it| it.state).collect();
        assert_eq!(next, [PreOpen, Call, Open]);
        // Trading begins as it did, and the calendar differs elsewhere.
        engine.run(&planner(EQUITIES, 3), now);
        assert_eq!(engine.made(), [Open, Closed, Open]);
        let other = EQUITIES.replace("16:36", "16:37");
        engine.run(&planner(&other, 4), now);
        assert_eq!(engine.made(), [Open, Closed, Open]);
    }

    #[test]
    fn a_changed_file_makes_what_was_missed() {
        let mut engine = Engine::new();
        engine.run(&planner(EQUITIES, 1), time("2026-12-23T07:30:00Z"));
        assert_eq!(engine.made(), [PreOpen]);
        engine.calendar.planned.clear();
        let earlier = EQUITIES.replace("07:50", "07:40");
        engine.run(&planner(&earlier, 2), time("2026-12-23T08:10:00Z"));
        assert_eq!(engine.made(), [PreOpen, Call, Open]);
        assert_eq!(engine.made[1].at, time("2026-12-23T07:40:00Z"));
    }
}
