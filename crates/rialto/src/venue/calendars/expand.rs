//! From a calendar to the transitions that the engine makes.

use rialto_calendar::{Calendar, DAYS_MAX, Phase, Transition};
use rialto_model::{InstrumentState, PlannedTransition, Timestamp};

/// The transitions after `after` and up to `until`, at most `most` of them, and at most those of a
/// year: the last one is where the next expansion goes on.
pub(super) fn expand(
    calendar: &Calendar,
    after: Timestamp,
    until: Timestamp,
    most: usize,
) -> Vec<PlannedTransition> {
    let from = after.saturating_add(1);
    let days = until.0.saturating_sub(after.0).div_ceil(Timestamp::DAY);
    // A day more shows what follows a call at the end.
    let days = u32::try_from(days + 1).unwrap_or(u32::MAX).min(DAYS_MAX);
    let found = calendar.transitions(from, days).expect("these days are within DAYS_MAX");
    let mut before = calendar.in_force(after);
    let mut planned = Vec::new();
    for (nth, transition) in found.iter().enumerate().take(most) {
        if transition.at > until {
            break;
        }
        planned.push(plan(before.as_ref(), transition, found.get(nth + 1)));
        before = Some(*transition);
    }
    planned
}

/// The transition that began the phase at `now`, as one that begins at `at`.
pub(super) fn in_force(
    calendar: &Calendar,
    now: Timestamp,
    at: impl FnOnce(Timestamp) -> Timestamp,
) -> Option<PlannedTransition> {
    let transition = calendar.in_force(now)?;
    let before = calendar.in_force(Timestamp(transition.at.0.saturating_sub(1)));
    let following = calendar.transitions(transition.at.saturating_add(1), 1);
    let following = following.expect("a day is within DAYS_MAX");
    let at = at(transition.at);
    let begun = Transition { at, ..transition };
    Some(plan(before.as_ref(), &begun, following.first()))
}

/// The transition `this`, between two others.
fn plan(
    before: Option<&Transition>,
    this: &Transition,
    following: Option<&Transition>,
) -> PlannedTransition {
    // A day that the next one follows without a break has no transition of its own that ends it.
    let joins = before.is_some_and(|it| it.phase != Phase::Closed && it.day != this.day);
    let ends_day = this.phase == Phase::Closed || joins;
    let plain = PlannedTransition {
        ends_day,
        ends_session: ends_day || this.phase == Phase::Break,
        ..PlannedTransition::plain(this.at, state(this.phase))
    };
    let Some(call) = this.call else { return plain };
    // A change of the clocks may have skipped the whole call, or it may have ended already.
    let earliest_end = call.earliest_end.max(this.at.saturating_add(1));
    let random_end = call.latest_end.0.saturating_sub(earliest_end.0) / Timestamp::MILLISECOND;
    let opens =
        following.is_some_and(|it| it.phase == Phase::Continuous && it.at <= call.latest_end);
    PlannedTransition {
        earliest_end,
        random_end_ms: u32::try_from(random_end)
            .unwrap_or(u32::MAX)
            .min(PlannedTransition::RANDOM_END_MS_MAX),
        next: if opens { InstrumentState::Open } else { InstrumentState::Closed },
        no_cancel_from: call.no_cancel_from.map_or(Timestamp::ZERO, |from| from.max(this.at)),
        ..plain
    }
}

/// The state of an instrument in a phase.
fn state(phase: Phase) -> InstrumentState {
    match phase {
        Phase::PreOpen => InstrumentState::PreOpen,
        Phase::OpeningCall | Phase::IntradayCall => InstrumentState::Call,
        Phase::Continuous => InstrumentState::Open,
        Phase::ClosingCall => InstrumentState::ClosingCall,
        Phase::Break | Phase::Closed => InstrumentState::Closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use InstrumentState::{Call, Closed, ClosingCall, Open, PreOpen};

    const EQUITIES: &str = include_str!("../../../../../docs/calendars/equities.toml");
    const COMMODITIES: &str = include_str!("../../../../../docs/calendars/commodities.toml");

    fn time(text: &str) -> Timestamp {
        crate::inspect::utc::parse(text).unwrap()
    }

    fn calendar(text: &str) -> Calendar {
        Calendar::parse(text).unwrap()
    }

    #[test]
    fn a_day_of_equities_has_its_states_and_ends() {
        let (from, to) = (time("2026-12-23T00:00:00Z"), time("2026-12-23T23:59:59Z"));
        let day = expand(&calendar(EQUITIES), from, to, 100);
        assert!(day.iter().all(|it| it.check().is_ok()), "{day:?}");
        let states: Vec<_> = day.iter().map(|it| it.state).collect();
        assert_eq!(states, [PreOpen, Call, Open, Call, Open, ClosingCall, Closed]);
        let opening = day[1];
        assert_eq!(opening.earliest_end, time("2026-12-23T08:00:00Z"));
        assert_eq!((opening.random_end_ms, opening.next), (30_000, Open));
        assert_eq!(opening.no_cancel_from, Timestamp::ZERO);
        let closing = day[5];
        assert_eq!(closing.no_cancel_from, time("2026-12-23T16:34:00Z"));
        assert_eq!(closing.next, Closed);
        let ends = day.iter().map(|it| (it.ends_session, it.ends_day));
        assert_eq!(ends.filter(|it| *it != (false, false)).collect::<Vec<_>>(), [(true, true)]);
    }

    #[test]
    fn a_call_that_ends_before_the_next_phase_leads_to_no_trading() {
        let (from, to) = (time("2026-09-28T00:00:00Z"), time("2026-09-28T07:00:00Z"));
        let day = expand(&calendar(COMMODITIES), from, to, 100);
        assert_eq!((day[0].state, day[0].next, day[0].random_end_ms), (Call, Closed, 0));
        let ends: Vec<_> = day.iter().map(|it| (it.ends_session, it.ends_day)).collect();
        let (none, session, both) = ((false, false), (true, false), (true, true));
        assert_eq!(ends, [none, none, session, none, session, none, both]);
        assert_eq!(day.last().unwrap().at, to);
    }

    #[test]
    fn an_expansion_goes_on_where_the_last_one_was_cut() {
        let (from, to) = (time("2026-09-28T00:00:00Z"), time("2026-10-20T00:00:00Z"));
        for file in [EQUITIES, COMMODITIES] {
            let calendar = calendar(file);
            let whole = expand(&calendar, from, to, usize::MAX);
            for most in 1..20 {
                let mut joined: Vec<PlannedTransition> = Vec::new();
                loop {
                    let after = joined.last().map_or(from, |it| it.at);
                    let part = expand(&calendar, after, to, most);
                    if part.is_empty() {
                        break;
                    }
                    joined.extend(part);
                }
                assert_eq!(joined, whole);
            }
        }
    }

    #[test]
    fn trading_without_a_break_ends_its_day_with_the_next_one() {
        let calendar = calendar(
            "zone = \"UTC\"\nweekdays = [\"monday\", \"tuesday\"]\n[[session]]\nend = \"24:00\"\n\
             phases = [{ at = \"00:00\", phase = \"continuous\" }]\n",
        );
        let (from, to) = (time("2026-11-29T12:00:00Z"), time("2026-12-03T00:00:00Z"));
        let days = expand(&calendar, from, to, 100);
        let told: Vec<_> = days.iter().map(|it| (it.state, it.ends_day)).collect();
        assert_eq!(told, [(Open, false), (Open, true), (Closed, true)]);
    }

    #[test]
    fn the_phase_in_force_begins_when_it_did_or_late() {
        let calendar = calendar(EQUITIES);
        let now = time("2026-12-23T16:34:30Z");
        let begun = in_force(&calendar, now, |at| at).unwrap();
        assert_eq!((begun.at, begun.state), (time("2026-12-23T16:30:00Z"), ClosingCall));
        let late = in_force(&calendar, now, |_| now).unwrap();
        assert_eq!((late.at, late.no_cancel_from), (now, now));
        assert_eq!((late.earliest_end, late.next), (begun.earliest_end, Closed));
        // Between the end of the call and the close.
        let now = time("2026-12-23T16:35:45Z");
        let ended = in_force(&calendar, now, |_| now).unwrap();
        assert_eq!((ended.earliest_end, ended.random_end_ms), (now.saturating_add(1), 0));
        assert_eq!(ended.check(), Ok(()));
    }

    #[test]
    fn a_call_that_the_clocks_skip_is_still_one() {
        let calendar = calendar(
            "zone = \"Europe/London\"\nweekdays = [\"sunday\"]\n[[session]]\nend = \"05:00\"\n\
             phases = [\n\
             { at = \"01:10\", phase = \"opening_call\", earliest_end = \"01:20\", latest_end = \"01:30\" },\n\
             { at = \"02:30\", phase = \"continuous\" },\n]\n",
        );
        // The clocks go forward from 01:00 to 02:00.
        let (from, to) = (time("2026-03-29T00:00:00Z"), time("2026-03-29T12:00:00Z"));
        let day = expand(&calendar, from, to, 100);
        assert!(day.iter().all(|it| it.check().is_ok()), "{day:?}");
        assert_eq!(day[0].earliest_end, day[0].at.saturating_add(1));
    }
}
