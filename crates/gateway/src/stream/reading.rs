//! Reads snapshots of subscriptions, and messages that are complete each time.

use super::message;
use crate::ApiError;
use crate::gate::Gate;
use axum::extract::ws::Utf8Bytes;
use rialto_bus::Context;
use rialto_desk::{
    Freshness, GetAuction, GetBalances, GetBook, GetTicker, ListOrders, OrderSelection,
    PrivateChannel, Subscription,
};
use rialto_feed::Depth;
use rialto_model::Seq;
use std::collections::BTreeMap;

/// Reads snapshots for one connection.
#[derive(Default)]
pub(super) struct Reading {
    /// The subscribed numbers of levels, and the levels that were sent last.
    tops: BTreeMap<Subscription, (usize, Option<Depth>)>,
}

impl Reading {
    /// Sets the number of levels of a subscription to best levels.
    pub(super) fn show(&mut self, subscription: Subscription, levels: usize) {
        self.tops.insert(subscription, (levels, None));
    }

    /// The snapshot of a subscription and its sequence; no text if it has not changed.
    pub(super) async fn whole(
        &mut self,
        gate: &Gate,
        cx: &Context<'_>,
        subscription: Subscription,
    ) -> Result<(Option<Utf8Bytes>, Seq), ApiError> {
        match subscription {
            Subscription::Book(instrument) => {
                let question = GetBook { instrument, levels: usize::MAX };
                let read = gate.read(cx, question, Freshness::Now).await?;
                let text = message::book(&read.answer, read.at, &read.names);
                Ok((text, read.answer.last_seq))
            }
            Subscription::Top(instrument) => {
                let Some((levels, shown)) = self.tops.get_mut(&subscription) else {
                    return Ok((None, Seq::ZERO));
                };
                let question = GetBook { instrument, levels: *levels };
                let read = gate.read(cx, question, Freshness::Now).await?;
                let same = |shown: &Depth| {
                    (&shown.bids, &shown.asks) == (&read.answer.bids, &read.answer.asks)
                };
                if shown.as_ref().is_some_and(same) {
                    return Ok((None, read.at.seq));
                }
                let text = message::book(&read.answer, read.at, &read.names);
                *shown = Some(read.answer);
                Ok((text, read.at.seq))
            }
            Subscription::Ticker(instrument) => {
                let read = gate.read(cx, GetTicker { instrument }, Freshness::Now).await?;
                Ok((message::ticker(&read.answer.ticker, &read.names), read.at.seq))
            }
            Subscription::Auction(instrument) => {
                let read = gate.read(cx, GetAuction { instrument }, Freshness::Now).await?;
                let auction = &read.answer.auction;
                Ok((message::auction(auction, read.at.seq, &read.names), read.at.seq))
            }
            Subscription::Own(PrivateChannel::Orders, account) => {
                let question = ListOrders {
                    account,
                    instrument: None,
                    which: OrderSelection::Open,
                    after: None,
                    limit: usize::MAX,
                };
                let read = gate.read(cx, question, Freshness::Now).await?;
                let orders = &read.answer.rows;
                let text = message::open_orders(account, read.at, orders, &read.names);
                Ok((Some(text), read.at.seq))
            }
            Subscription::Own(PrivateChannel::Balances, account) => {
                let read = gate.read(cx, GetBalances { account }, Freshness::Now).await?;
                let text = message::balances(account, read.at, &read.answer, &read.names);
                Ok((Some(text), read.at.seq))
            }
            // These consist of events and have no snapshot.
            Subscription::Own(PrivateChannel::Fills, _) | Subscription::Trades(_) => {
                Ok((None, Seq::ZERO))
            }
        }
    }
}
