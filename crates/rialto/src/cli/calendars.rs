//! `rialto calendars`: what a venue will do by itself.

use super::connection::Connection;
use super::show::{self, Align, Column, or_dash};
use crate::Error;
use crate::inspect::utc;
use crate::remote::NO_BODY;
use crate::terminal::say;
use rialto_client::api::{
    CalendarAnswer, CalendarInfo, CalendarQuery, CalendarsAnswer, CircuitBreakerInfo, FreshQuery,
    Route, TransitionInfo,
};

/// Shows the calendars that a venue runs by.
#[derive(Debug, clap::Args)]
pub(super) struct Calendars {
    /// The calendar whose next transitions are shown; all calendars if it is omitted.
    name: Option<String>,
    /// The most transitions to show.
    #[arg(long, default_value_t = 20, requires = "name")]
    limit: usize,
    #[command(flatten)]
    connection: Connection,
}

impl Calendars {
    pub(super) fn run(&self) -> Result<(), Error> {
        let venue = self.connection.anonymous()?;
        match &self.name {
            Some(name) => {
                let query = CalendarQuery { limit: Some(self.limit), ..CalendarQuery::default() };
                venue.show(Route::Calendar, &[name], &query, NO_BODY, tell)
            }
            None => {
                let query = FreshQuery::default();
                venue.show(Route::Calendars, &[], &query, NO_BODY, tell_all)
            }
        }
    }
}

fn tell_all(answer: &CalendarsAnswer) {
    let columns = [
        Column("CALENDAR", Align::Left),
        Column("INSTRUMENTS", Align::Right),
        Column("STATE", Align::Left),
        Column("NEXT STATE", Align::Left),
        Column("BEGINS (UTC)", Align::Left),
        Column("PLANNED TO (UTC)", Align::Left),
    ];
    let row = |it: &CalendarInfo| {
        [
            it.name.to_string(),
            it.instrument_count.to_string(),
            or_dash(it.begun.map(|begun| begun.state.name())),
            or_dash(it.next.map(|next| next.state.name())),
            or_dash(it.next.map(|next| utc::brief(next.at))),
            or_dash(it.planned_to.map(utc::brief)),
        ]
    };
    show::table(&columns, answer.calendars.iter().map(row).collect(), "no calendars");
}

fn tell(answer: &CalendarAnswer) {
    let calendar = &answer.calendar;
    let state = or_dash(calendar.begun.map(|begun| begun.state.name()));
    say(format_args!("{} is in {state} at seq {}", calendar.name, answer.seq));
    say(format_args!("instruments      {}", or_dash(symbols(answer))));
    if let Some(breaker) = &calendar.circuit_breaker {
        let CircuitBreakerInfo { instrument, range_ppm, halt_ms, armed } = breaker;
        let armed = if *armed { "armed" } else { "not armed" };
        say(format_args!(
            "circuit breaker  {instrument} by {range_ppm} ppm, halt of {halt_ms} ms, {armed}"
        ));
    }
    let columns = [
        Column("STATE", Align::Left),
        Column("BEGINS (UTC)", Align::Left),
        Column("ENDS THE", Align::Left),
        Column("NO CANCELS FROM", Align::Left),
        Column("CALL ENDS", Align::Left),
        Column("THEN", Align::Left),
    ];
    let row = |it: &TransitionInfo| {
        let ends = it.earliest_end.zip(it.latest_end).map(|(earliest, latest)| {
            let (from, to) = (utc::brief(earliest), utc::brief(latest));
            if from == to { from } else { format!("{from} to {to}") }
        });
        [
            it.state.name().to_owned(),
            utc::brief(it.at),
            or_dash(ended(it)),
            or_dash(it.no_cancel_from.map(utc::brief)),
            or_dash(ends),
            or_dash(it.next.map(|next| next.name())),
        ]
    };
    let rows = answer.transitions.iter().map(row).collect();
    show::table(&columns, rows, "no transitions are planned");
}

/// What ends when the transition begins.
fn ended(transition: &TransitionInfo) -> Option<&'static str> {
    match (transition.ends_day, transition.ends_session) {
        (true, _) => Some("day"),
        (false, true) => Some("session"),
        (false, false) => None,
    }
}

fn symbols(answer: &CalendarAnswer) -> Option<String> {
    (!answer.instruments.is_empty()).then(|| show::joined(&answer.instruments))
}
