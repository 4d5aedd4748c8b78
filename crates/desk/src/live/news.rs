//! What the folding thread tells, and to whom.

use super::Subscription;
use crate::Names;
use rialto_feed::{BalanceView, BookDelta, PublicTrade, Ticker};
use rialto_model::{Event, Seq, Timestamp};
use std::any::Any;
use std::cell::OnceCell;
use std::sync::Arc;

/// A subscriber. The folding thread calls it: it must return at once.
pub trait Listener: Send + Sync {
    /// From now on it receives everything of this subscription after `seq`.
    fn joined(&self, subscription: Subscription, seq: Seq);

    /// Something has happened that it is subscribed to.
    fn hear(&self, news: &News<'_>);

    /// Nothing more will be published.
    fn over(&self);
}

/// A publication: what its subscribers receive.
pub struct News<'a> {
    /// To what.
    pub subscription: Subscription,
    /// The command that it follows from.
    pub seq: Seq,
    /// What happened.
    pub what: What<'a>,
    /// The names of the instruments and currencies in it.
    pub names: &'a Names,
    form: OnceCell<Box<dyn Any>>,
}

/// The kinds of publications.
#[derive(Clone, Copy)]
pub enum What<'a> {
    /// Levels of a book changed.
    Book(&'a Arc<BookDelta>),
    /// A trade.
    Trade(&'a PublicTrade),
    /// What is known of the last 24 hours.
    Ticker(&'a Ticker),
    /// A balance changed.
    Balance(&'a BalanceView),
    /// A command had these events, of which some are the account's own.
    Own {
        /// When.
        time: Timestamp,
        /// All events of the command.
        events: &'a [Event],
    },
}

impl<'a> News<'a> {
    pub(super) fn new(
        subscription: Subscription,
        seq: Seq,
        what: What<'a>,
        names: &'a Names,
    ) -> News<'a> {
        News { subscription, seq, what, names, form: OnceCell::new() }
    }

    /// The news in the form of a protocol, which the first listener makes and the others share.
    /// Where listeners of several protocols hear the same, each of the others makes its own.
    pub fn form<T: Clone + 'static>(&self, make: impl Fn(&News<'a>) -> T) -> T {
        let form = self.form.get_or_init(|| Box::new(make(self)));
        form.downcast_ref::<T>().cloned().unwrap_or_else(|| make(self))
    }
}
