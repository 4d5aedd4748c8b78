//! What subscriptions begin with, and what is shown whole each time.

use super::message;
use crate::ApiError;
use crate::gate::Gate;
use axum::extract::ws::Utf8Bytes;
use rialto_bus::Context;
use rialto_desk::{
    Freshness, GetBalances, GetBook, GetTicker, ListOrders, PrivateChannel, Subscription,
};
use rialto_feed::Depth;
use rialto_model::Seq;
use std::collections::BTreeMap;

/// Asks for what one connection is shown whole.
#[derive(Default)]
pub(super) struct Reading {
    /// How many levels of which books are shown, and what was shown last.
    tops: BTreeMap<Subscription, (usize, Option<Depth>)>,
}

impl Reading {
    /// Remembers how many levels a subscription is to the best levels of.
    pub(super) fn show(&mut self, subscription: Subscription, levels: usize) {
        self.tops.insert(subscription, (levels, None));
    }

    /// What the subscription is to be told whole, and the sequence that it is as of; no text if
    /// nothing of it has changed.
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
            Subscription::Own(PrivateChannel::Orders, account) => {
                let question = ListOrders {
                    account,
                    instrument: None,
                    ended: false,
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
            // These consist of events only and are never read whole.
            Subscription::Own(PrivateChannel::Fills, _) | Subscription::Trades(_) => {
                Ok((None, Seq::ZERO))
            }
        }
    }
}
