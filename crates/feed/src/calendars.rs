//! Calendars: the transitions that are planned, and the instruments that follow them.

use crate::view::{BegunTransition, Moment, TimetableView};
use crate::{Feed, FoldError, Update};
use rialto_model::{InstrumentId, Name, PlannedTransition, Timestamp};

impl Feed {
    pub(crate) fn transition_planned(
        &mut self,
        at: Moment,
        calendar: Name,
        number: u32,
        transition: &PlannedTransition,
    ) -> Result<(), FoldError> {
        let index = self.calendar_index(calendar).unwrap_or_else(|| {
            let digest = 0;
            let (begun, planned, plan, breaker) = (None, Vec::new(), Vec::new(), None);
            let view = TimetableView { name: calendar, digest, begun, planned, plan, breaker };
            self.calendars.push(view);
            self.calendars.len() - 1
        });
        let plan = &mut self.calendars[index].plan;
        if number == 0 {
            plan.clear();
        }
        if number as usize != plan.len() {
            return Err(FoldError::PlanIncomplete { seq: at.seq, calendar, count: number });
        }
        plan.push(*transition);
        Ok(())
    }

    pub(crate) fn plan_adopted(
        &mut self,
        at: Moment,
        calendar: Name,
        count: u32,
        digest: u64,
        replace: bool,
    ) -> Result<(), FoldError> {
        let unknown = FoldError::UnknownCalendar { seq: at.seq, calendar };
        let index = self.calendar_index(calendar).ok_or(unknown)?;
        let adopting = &mut self.calendars[index];
        if count as usize != adopting.plan.len() {
            return Err(FoldError::PlanIncomplete { seq: at.seq, calendar, count });
        }
        adopting.digest = digest;
        if replace {
            adopting.planned.clear();
        }
        adopting.planned.append(&mut adopting.plan);
        Ok(())
    }

    pub(crate) fn calendar_assigned(
        &mut self,
        at: Moment,
        instrument: InstrumentId,
        calendar: Name,
        emit: &mut impl FnMut(Update<'_>),
    ) -> Result<(), FoldError> {
        if !calendar.is_empty() && self.calendar_index(calendar).is_none() {
            return Err(FoldError::UnknownCalendar { seq: at.seq, calendar });
        }
        let index = self.market_index(at, instrument)?;
        let market = &mut self.markets[index];
        market.calendar = calendar;
        emit(Update::Instrument(&market.instrument));
        Ok(())
    }

    pub(crate) fn transition_moved(
        &mut self,
        at: Moment,
        calendar: Name,
        (from, to): (Timestamp, Timestamp),
    ) -> Result<(), FoldError> {
        let unknown = FoldError::UnknownTransition { seq: at.seq, calendar, at: from };
        let index = self.calendar_index(calendar).ok_or(unknown)?;
        let planned = &mut self.calendars[index].planned;
        let moved = planned.iter_mut().find(|it| it.at == from).ok_or(unknown)?;
        *moved = moved.moved_to(to).ok_or(unknown)?;
        Ok(())
    }

    pub(crate) fn transition_begun(
        &mut self,
        at: Moment,
        calendar: Name,
        begun: BegunTransition,
    ) -> Result<(), FoldError> {
        let unknown = FoldError::UnknownTransition { seq: at.seq, calendar, at: begun.at };
        let index = self.calendar_index(calendar).ok_or(unknown)?;
        let calendar = &mut self.calendars[index];
        if calendar.planned.first().is_none_or(|it| it.at != begun.at) {
            return Err(unknown);
        }
        calendar.planned.remove(0);
        calendar.begun = Some(begun);
        Ok(())
    }

    pub(crate) fn calendar_index(&self, name: Name) -> Option<usize> {
        self.calendars.iter().position(|calendar| calendar.name == name)
    }

    /// All calendars, in the order in which they became known.
    #[must_use]
    pub fn calendars(&self) -> &[TimetableView] {
        &self.calendars
    }

    /// The calendar with this name.
    #[must_use]
    pub fn calendar(&self, name: Name) -> Option<&TimetableView> {
        self.calendar_index(name).map(|index| &self.calendars[index])
    }

    /// The calendar that an instrument follows, if there is one.
    #[must_use]
    pub fn calendar_of(&self, instrument: InstrumentId) -> Option<Name> {
        self.market(instrument).map(|market| market.calendar).filter(|name| !name.is_empty())
    }

    /// The instruments that follow a calendar, by number.
    pub fn instruments_of(&self, calendar: Name) -> impl Iterator<Item = InstrumentId> + '_ {
        let markets = self.markets.iter().filter(move |market| market.calendar == calendar);
        markets.map(|market| market.instrument.id)
    }
}
