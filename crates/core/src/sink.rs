//! Receivers of events.

use rialto_model::Event;

/// Takes the events of a command, in order, while it is applied.
pub trait EventSink {
    /// Takes one event.
    fn event(&mut self, event: &Event);
}

impl EventSink for Vec<Event> {
    #[inline]
    fn event(&mut self, event: &Event) {
        self.push(*event);
    }
}

/// Counts events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCount {
    /// All events.
    pub events: u64,
    /// Trades among them.
    pub trades: u64,
}

impl EventSink for EventCount {
    #[inline]
    fn event(&mut self, event: &Event) {
        self.events += 1;
        self.trades += u64::from(matches!(event, Event::Trade(_)));
    }
}

/// Notices whether there are events, because a slice that only looks has none.
pub(crate) struct Noticing<'a, S> {
    pub(crate) sink: &'a mut S,
    pub(crate) noticed: bool,
}

impl<S: EventSink> EventSink for Noticing<'_, S> {
    #[inline]
    fn event(&mut self, event: &Event) {
        self.noticed = true;
        self.sink.event(event);
    }
}
