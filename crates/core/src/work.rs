//! Background work under rules version 1. Since version 2 it is in
//! [`background`](crate::background).

use crate::background::Scope;
use crate::limits::Limits;
use crate::orders::Detail;
use rialto_model::{DoneReason, OrderId, Side};
use std::collections::VecDeque;

/// The cancelling of an account's orders, by ascending order id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CancelMany {
    /// The account's slot.
    pub(crate) account: u32,
    /// Cancels orders of this instrument only.
    pub(crate) market: Option<u16>,
    pub(crate) side: Option<Side>,
    /// Cancels orders with cancel on disconnect only.
    pub(crate) on_disconnect_only: bool,
    pub(crate) reason: DoneReason,
    /// Newer orders are not cancelled.
    pub(crate) upto: OrderId,
    /// The slot of the order that is visited next.
    pub(crate) cursor: u32,
}

impl CancelMany {
    /// The same for a sweep.
    pub(crate) fn scopes(&self) -> [Option<Scope>; 2] {
        match self.reason {
            DoneReason::DeadMan => [Some(Scope::DeadMan), None],
            DoneReason::Disconnected => [Some(Scope::Disconnect), None],
            _ => [Side::Buy, Side::Sell].map(|side| {
                let meant = self.side.is_none_or(|only| only == side);
                meant.then_some(Scope::Side(self.market, side))
            }),
        }
    }

    /// Whether an order that is visited is to be cancelled.
    pub(crate) fn is_meant(&self, order: &Detail) -> bool {
        self.market.is_none_or(|market| market == order.market)
            && self.side.is_none_or(|side| side == order.attributes.side)
            && (order.attributes.cancels_on_disconnect() || !self.on_disconnect_only)
    }
}

/// A piece of background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackgroundTask {
    Cancel(CancelMany),
    /// Cancelling the orders of a closed instrument.
    Close(u16),
}

impl BackgroundTask {
    pub(crate) fn cancel(&self) -> Option<&CancelMany> {
        match self {
            BackgroundTask::Cancel(cancel) => Some(cancel),
            BackgroundTask::Close(_) => None,
        }
    }
}

/// The background work, first come, first served.
pub(crate) struct BackgroundQueue {
    queue: VecDeque<BackgroundTask>,
    /// How many of them are mass cancels.
    cancels: u32,
}

impl BackgroundQueue {
    pub(crate) fn new() -> BackgroundQueue {
        BackgroundQueue { queue: VecDeque::with_capacity(16), cancels: 0 }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether the limit of mass cancels is reached.
    pub(crate) fn is_full(&self, limits: &Limits) -> bool {
        self.cancels >= limits.pending_cancels_max
    }

    pub(crate) fn push(&mut self, work: BackgroundTask) {
        self.cancels += u32::from(matches!(work, BackgroundTask::Cancel(_)));
        self.queue.push_back(work);
    }

    pub(crate) fn pop(&mut self) -> Option<BackgroundTask> {
        let work = self.queue.pop_front()?;
        self.cancels -= u32::from(matches!(work, BackgroundTask::Cancel(_)));
        Some(work)
    }

    /// Puts unfinished work back at the front.
    pub(crate) fn put_back(&mut self, work: BackgroundTask) {
        self.cancels += u32::from(matches!(work, BackgroundTask::Cancel(_)));
        self.queue.push_front(work);
    }

    /// The slot `from` in an account's list was replaced by `to`.
    #[cold]
    pub(crate) fn moved(&mut self, from: u32, to: u32) {
        for work in &mut self.queue {
            if let BackgroundTask::Cancel(cancel) = work
                && cancel.cursor == from
            {
                cancel.cursor = to;
            }
        }
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &BackgroundTask> {
        self.queue.iter()
    }
}
