//! What subscriptions begin with, read from the feed.

use super::message;
use axum::extract::ws::Utf8Bytes;
use rialto_desk::{Live, Names, PrivateChannel, Subscription};
use rialto_feed::{Depth, Moment};
use rialto_model::Seq;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads the feed for one connection.
pub(super) struct Reading {
    live: Arc<Live>,
    names: Names,
    /// How many levels of which books are shown, and what was shown last.
    tops: BTreeMap<Subscription, (usize, Option<Depth>)>,
}

impl Reading {
    pub(super) fn new(live: Arc<Live>) -> Reading {
        let names = Names::of(&live.read());
        Reading { live, names, tops: BTreeMap::new() }
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// Takes over what was listed since.
    pub(super) fn learn(&mut self) {
        self.names.update(&self.live.read());
    }

    /// Remembers how many levels a subscription is to the best levels of.
    pub(super) fn show(&mut self, subscription: Subscription, levels: usize) {
        self.tops.insert(subscription, (levels, None));
    }

    /// What the subscription is to be told whole, and the sequence that it is as of; no text if
    /// nothing of it has changed.
    pub(super) fn whole(&mut self, subscription: Subscription) -> (Option<Utf8Bytes>, Seq) {
        // Only copying happens under the lock; writing JSON takes longer.
        let feed = self.live.read();
        let at = Moment { seq: feed.seq(), time: feed.time() };
        match subscription {
            Subscription::Book(instrument) => {
                let depth = feed.depth(instrument, usize::MAX);
                drop(feed);
                let seq = depth.as_ref().map_or(at.seq, |depth| depth.last_seq);
                (depth.map(|depth| message::book(&depth, at, &self.names)), seq)
            }
            Subscription::Top(instrument) => {
                let Some((levels, shown)) = self.tops.get_mut(&subscription) else {
                    return (None, at.seq);
                };
                let depth = feed.depth(instrument, *levels);
                drop(feed);
                let same = |a: &Depth, b: &Depth| (&a.bids, &a.asks) == (&b.bids, &b.asks);
                if depth.as_ref().zip(shown.as_ref()).is_some_and(|(a, b)| same(a, b)) {
                    return (None, at.seq);
                }
                let text = depth.as_ref().map(|depth| message::book(depth, at, &self.names));
                *shown = depth;
                (text, at.seq)
            }
            Subscription::Ticker(instrument) => {
                let ticker = feed.ticker(instrument);
                drop(feed);
                (ticker.map(|ticker| message::ticker(&ticker, &self.names)), at.seq)
            }
            Subscription::Own(PrivateChannel::Orders, account) => {
                let orders: Vec<_> = feed.open_orders(account).collect();
                drop(feed);
                (Some(message::open_orders(account, at, &orders, &self.names)), at.seq)
            }
            Subscription::Own(PrivateChannel::Balances, account) => {
                let balances: Vec<_> = feed.balances(account).collect();
                drop(feed);
                (Some(message::balances(account, at, &balances, &self.names)), at.seq)
            }
            Subscription::Own(PrivateChannel::Fills, _) | Subscription::Trades(_) => (None, at.seq),
        }
    }
}
