//! Batches: runs of commands with their events, passed between threads.

use crate::Level;
use crate::ingress::{Execution, ProducerSet};
use rialto_core::{EVENTS_BYTES_MAX, EventSink};
use rialto_log::Group;
use rialto_model::{
    ATTRIBUTION_BYTES_MAX, COMMAND_BYTES_MAX, EVENTS_HEADER_BYTES, Event, EventEncoder, OrderId,
    Seq, Timestamp,
};
use std::time::Duration;

/// The longest record of a journal.
pub(crate) const COMMAND_RECORD_BYTES_MAX: usize = ATTRIBUTION_BYTES_MAX + COMMAND_BYTES_MAX;
/// The longest record of an event log: the core bounds the events of a command.
pub(crate) const EVENT_RECORD_BYTES_MAX: usize = EVENTS_HEADER_BYTES + EVENTS_BYTES_MAX;
/// The most chunks of a batch for which latency is counted separately.
const STAMPS_MAX: usize = 64;

/// A run of commands in a journal group, and their events in an event group, one record for each
/// command. Both have the same sequences.
pub(crate) struct Batch {
    pub(crate) journal: Group,
    pub(crate) events: Group,
    /// Producers with replies in this batch that wait for the journal.
    pub(crate) producers: ProducerSet,
    /// The rules version of the commands.
    pub(crate) rules_version: u32,
    /// Whether the last command changed the rules version: then the batch is full.
    pub(crate) is_closed: bool,
    /// Whether a reply in this batch needs a higher level than the venue's.
    pub(crate) sync: bool,
    /// The time on the monotonic clock at which each chunk was taken from the producers, and its
    /// number of commands.
    stamps: Vec<(Duration, u64)>,
}

impl Batch {
    pub(crate) fn new(group_bytes: usize) -> Self {
        Self {
            journal: Group::new(group_bytes),
            events: Group::new(group_bytes),
            producers: ProducerSet::default(),
            rules_version: 0,
            is_closed: false,
            sync: false,
            stamps: Vec::with_capacity(STAMPS_MAX),
        }
    }

    /// Empties the batch; its first command will be `first`, under this rules version.
    pub(crate) fn begin(&mut self, first: Seq, rules_version: u32) {
        (self.rules_version, self.is_closed) = (rules_version, false);
        self.journal.begin(first.0);
        self.events.begin(first.0);
        self.producers.clear();
        self.sync = false;
        self.stamps.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.journal.is_empty()
    }

    pub(crate) fn last(&self) -> Seq {
        Seq(self.journal.last_seq())
    }

    pub(crate) fn commands(&self) -> u64 {
        u64::from(self.journal.records())
    }

    /// Whether one more command fits, with the most events that it can have.
    #[inline]
    pub(crate) fn has_room(&mut self) -> bool {
        !self.is_closed
            && self.journal.reserve(COMMAND_RECORD_BYTES_MAX).is_ok()
            && self.events.reserve(EVENT_RECORD_BYTES_MAX).is_ok()
    }

    pub(crate) fn stamp(&mut self, taken_at: Duration, commands: u64) {
        if self.stamps.len() < STAMPS_MAX {
            self.stamps.push((taken_at, commands));
        } else if let Some((_, last)) = self.stamps.last_mut() {
            *last += commands;
        }
    }

    pub(crate) fn stamps(&self) -> &[(Duration, u64)] {
        &self.stamps
    }
}

/// Encodes the events of a command directly into the group, and sums the fills of its order.
pub(crate) struct Encoding<'a> {
    encoder: EventEncoder<'a>,
    /// The order that the command entered.
    entered: OrderId,
    execution: Execution,
}

impl<'a> Encoding<'a> {
    #[inline]
    pub(crate) fn new(time: Timestamp, record: &'a mut [u8]) -> Self {
        let encoder = EventEncoder::new(time, record);
        Self { encoder, entered: OrderId::default(), execution: Execution::default() }
    }

    /// The length of the record, and the fills of the command's order.
    #[inline]
    pub(crate) fn finish(self) -> (usize, Execution) {
        (self.encoder.finish(), self.execution)
    }
}

impl EventSink for Encoding<'_> {
    #[inline]
    fn event(&mut self, event: &Event) {
        match event {
            Event::Accepted(accepted) => self.entered = accepted.order,
            // The trades of an auction are of no incoming order.
            Event::Trade(trade) if !trade.auction => {
                let product = i128::from(trade.price.0) * i128::from(trade.quantity.0);
                self.execution.product += product;
                self.execution.fee.0 += trade.taker_fee.0;
            }
            Event::Done(done) if done.order == self.entered => {
                self.execution.done = Some(done.reason);
            }
            _ => {}
        }
        self.encoder.push(event).expect("the core bounds the events of a command");
    }
}

/// The level at which a reply is released.
#[inline]
pub(crate) fn gate(state: Level, wanted: Option<Level>) -> Level {
    wanted.map_or(state, |wanted| wanted.max(state))
}
