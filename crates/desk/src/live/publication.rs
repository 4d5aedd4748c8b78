//! Publications of the folding thread, and their listeners.

use super::Subscription;
use crate::NameTable;
use rialto_feed::{AuctionView, BalanceView, BookDelta, PublicTrade, Ticker};
use rialto_model::{Event, Seq, Timestamp};
use std::any::Any;
use std::cell::OnceCell;
use std::sync::Arc;

/// A subscriber. The folding thread calls it, so that its methods must return at once.
pub trait Listener: Send + Sync {
    /// The listener receives all publications of this subscription after `seq`.
    fn joined(&self, subscription: Subscription, seq: Seq);

    /// A publication of one of its subscriptions.
    fn publish(&self, publication: &Publication<'_>);

    /// No further publications follow.
    fn closed(&self);
}

/// A publication to the listeners of a subscription.
pub struct Publication<'a> {
    /// The subscription.
    pub subscription: Subscription,
    /// The sequence of the command.
    pub seq: Seq,
    /// The content.
    pub content: Content<'a>,
    /// The names of the instruments and currencies in it.
    pub names: &'a NameTable,
    form: OnceCell<Box<dyn Any>>,
}

/// The content of a publication.
#[derive(Clone, Copy)]
pub enum Content<'a> {
    /// Levels of a book changed.
    Book(&'a Arc<BookDelta>),
    /// A trade.
    Trade(&'a PublicTrade),
    /// The statistics of the last 24 hours.
    Ticker(&'a Ticker),
    /// The phase or the auction of an instrument changed.
    Auction(&'a AuctionView),
    /// A balance changed.
    Balance(&'a BalanceView),
    /// The events of a command, of which some concern the account.
    Own {
        /// The command's time.
        time: Timestamp,
        /// All events of the command.
        events: &'a [Event],
    },
}

impl<'a> Publication<'a> {
    pub(super) fn new(
        subscription: Subscription,
        seq: Seq,
        content: Content<'a>,
        names: &'a NameTable,
    ) -> Publication<'a> {
        Publication { subscription, seq, content, names, form: OnceCell::new() }
    }

    /// The publication in the form of a protocol. The first listener makes it and the others share
    /// it. With several protocols, only the first form is shared.
    pub fn form<T: Clone + 'static>(&self, make: impl Fn(&Publication<'a>) -> T) -> T {
        let form = self.form.get_or_init(|| Box::new(make(self)));
        form.downcast_ref::<T>().cloned().unwrap_or_else(|| make(self))
    }
}
