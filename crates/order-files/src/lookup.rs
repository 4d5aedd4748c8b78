//! Finds the answers to rows in the event log.
//!
//! The core remembers the last client order ids of an account only. What it has forgotten stands in
//! the event log, so that rows in doubt are looked up there before they are sent again.

use crate::answer::{RowAnswer, RowOutcome};
use rialto_engine::{EventReader, ReadEventsError};
use rialto_model::{
    AccountId, ClientOrderId, CommandKind, DecodeError, DoneReason, Event, NewOrder, OrderId,
    OrderSize, OrderStatus, Seq, Timestamp,
};
use std::collections::HashMap;
use std::time::Duration;

/// How long to wait for events that are released and about to be readable.
const EVENTS_WAIT: Duration = Duration::from_millis(100);

/// The reason why rows could not be looked up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookupError {
    #[error(transparent)]
    Read(#[from] ReadEventsError),
    #[error("an event cannot be read: {0}")]
    Decode(#[from] DecodeError),
    #[error("the engine has ended")]
    Ended,
}

/// A search for the answers to some orders, which goes on where it stopped.
pub(crate) struct AnswerLookup {
    reader: EventReader,
    /// The places of the orders by name.
    wanted: HashMap<(AccountId, ClientOrderId), usize>,
    answers: Vec<Option<RowAnswer>>,
}

impl AnswerLookup {
    /// A search for these orders behind the sequence where the reader stands.
    pub(crate) fn of_orders<'a>(
        reader: EventReader,
        orders: impl ExactSizeIterator<Item = &'a NewOrder>,
    ) -> AnswerLookup {
        let answers = vec![None; orders.len()];
        let named =
            |(nth, order): (usize, &NewOrder)| ((order.account, order.client_order_id), nth);
        AnswerLookup { reader, wanted: orders.enumerate().map(named).collect(), answers }
    }

    /// A search for orders of which only the names are known: each is one of any of the accounts.
    pub(crate) fn of_names(
        reader: EventReader,
        names: impl ExactSizeIterator<Item = ClientOrderId>,
        accounts: &[AccountId],
    ) -> AnswerLookup {
        let answers = vec![None; names.len()];
        let named = |(nth, name)| accounts.iter().map(move |account| ((*account, name), nth));
        AnswerLookup { reader, wanted: names.enumerate().flat_map(named).collect(), answers }
    }

    /// Whether events that the search needs are no longer in the event log.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.reader.oldest() > self.reader.next_seq()
    }

    /// Reads on, up to a released sequence.
    pub(crate) fn read_through(&mut self, last: Seq) -> Result<(), LookupError> {
        while self.reader.next_seq() <= last {
            let Some(batch) = self.reader.next_timeout(EVENTS_WAIT)? else {
                if self.reader.is_over() {
                    return Err(LookupError::Ended);
                }
                continue;
            };
            for record in batch.iter() {
                let (time, events) = record.decode()?;
                let mut found: Option<(usize, RowAnswer)> = None;
                for event in events {
                    let event = event?;
                    match &mut found {
                        None => found = self.first_of(&event, record.seq, time),
                        Some((_, answer)) => continue_with(answer, &event),
                    }
                }
                if let Some((nth, answer)) = found
                    && let Some(place @ None) = self.answers.get_mut(nth)
                {
                    *place = Some(answer);
                }
            }
        }
        Ok(())
    }

    /// The answer that begins with this event, if it is about a wanted order.
    fn first_of(&self, event: &Event, seq: Seq, time: Timestamp) -> Option<(usize, RowAnswer)> {
        let (account, name, outcome) = match event {
            Event::Accepted(it) => {
                let remaining = match it.terms.size {
                    OrderSize::Base(quantity) => quantity.0,
                    OrderSize::Quote(_) => 0,
                };
                let OrderId(order) = it.order;
                let status = OrderStatus::Open;
                let entered =
                    RowOutcome::Entered { order, status, filled: 0, remaining, done: None };
                (it.terms.account, it.terms.client_order_id, entered)
            }
            Event::Rejected(it) if enters_an_order(it.command) => {
                (it.account, it.client_order_id, RowOutcome::Rejected { reason: it.reason })
            }
            Event::Repeated { account, name, order, reject } => {
                let repeated = match reject {
                    Some(reason) => RowOutcome::Rejected { reason: *reason },
                    None => RowOutcome::Repeated { order: order.0 },
                };
                (*account, *name, repeated)
            }
            _ => return None,
        };
        let nth = self.wanted.get(&(account, name))?;
        Some((*nth, RowAnswer { seq: seq.0, time: time.0, outcome }))
    }

    /// The places of the orders without an answer, in order.
    pub(crate) fn missing(&self) -> Vec<usize> {
        let missing = self.answers.iter().enumerate().filter(|(_, answer)| answer.is_none());
        missing.map(|(nth, _)| nth).collect()
    }

    /// The answers in the order of the orders, as far as they were found.
    pub(crate) fn into_answers(self) -> Vec<Option<RowAnswer>> {
        self.answers
    }
}

/// Whether a command of this kind may be that of a row.
fn enters_an_order(command: CommandKind) -> bool {
    matches!(
        command,
        CommandKind::Place
            | CommandKind::PlaceConditional
            | CommandKind::PlaceTrailing
            | CommandKind::PlaceIceberg
    )
}

/// Adds a later event of the same command.
fn continue_with(answer: &mut RowAnswer, event: &Event) {
    let RowOutcome::Entered { order, status, filled, remaining, done } = &mut answer.outcome else {
        return;
    };
    let is_ours = |other: OrderId| other.0 == *order;
    match event {
        Event::Trade(it) if is_ours(it.taker_order) => {
            *filled += it.quantity.0;
            *remaining = it.taker_remaining.0;
            let is_filled = *remaining == 0;
            *status = if is_filled { OrderStatus::Filled } else { OrderStatus::PartiallyFilled };
        }
        Event::TriggerSet(it) if is_ours(it.order) => *status = OrderStatus::Waiting,
        Event::TrailSet(it) if is_ours(it.order) => *status = OrderStatus::Waiting,
        Event::Reduced(it) if is_ours(it.order) => *remaining = it.remaining.0,
        Event::Done(it) if is_ours(it.order) => {
            (*remaining, *done) = (it.remaining.0, Some(it.reason));
            *status = match it.reason {
                DoneReason::Expired => OrderStatus::Expired,
                DoneReason::QuoteSpent if *filled > 0 => OrderStatus::Filled,
                _ => OrderStatus::Cancelled,
            };
        }
        _ => {}
    }
}
