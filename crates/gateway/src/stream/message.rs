//! The messages of the stream, as `docs/stream.md` shows them.

use crate::convert::{
    auction_info, balance_info, best, book_levels, fill_info, order_event, order_info, ticker_info,
    trade_info,
};
use crate::{ApiError, json};
use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;
use rialto_api::{StreamChannel, StreamMessage, StreamOp, SubscriptionInfo};
use rialto_desk::{Content, NameTable, PrivateChannel, Publication, Subscription, owners};
use rialto_feed::{
    AuctionView, BalanceView, BookDelta, Depth, Moment, OrderView, PublicTrade, Ticker, fills_of,
};
use rialto_model::{AccountId, Event, InstrumentId, Seq, Symbol, Timestamp};

fn text(message: &StreamMessage<'_>) -> Utf8Bytes {
    let bytes = Bytes::from(json::write(message, 512));
    Utf8Bytes::try_from(bytes).expect("JSON is put together from texts")
}

/// A publication of the live feed; `None` if it does not concern the subscription.
pub(crate) fn publication(publication: &Publication<'_>) -> Option<Utf8Bytes> {
    let names = publication.names;
    match (publication.content, publication.subscription) {
        (Content::Book(it), _) => delta(it, names),
        (Content::Trade(it), _) => trade(it, names),
        (Content::Ticker(it), _) => ticker(it, names),
        (Content::Auction(it), _) => auction(it, it.at.seq, names),
        (Content::Balance(it), _) => balance(it, names),
        (Content::Own { time, events }, Subscription::Own(channel, account)) => {
            own(channel, account, publication.seq, time, events, names)
        }
        (Content::Own { .. }, _) => None,
    }
}

/// A whole book, or its best levels.
pub(crate) fn book(depth: &Depth, at: Moment, names: &NameTable) -> Option<Utf8Bytes> {
    let on = names.instrument(depth.instrument)?;
    let (instrument, sides) = (on.symbol, best(depth, on));
    Some(text(&StreamMessage::Book { instrument, seq: at.seq, time: at.time, sides }))
}

/// Changed levels of a book.
pub(crate) fn delta(delta: &BookDelta, names: &NameTable) -> Option<Utf8Bytes> {
    let on = names.instrument(delta.instrument)?;
    Some(text(&StreamMessage::BookDelta {
        instrument: on.symbol,
        first_seq: delta.first_seq,
        last_seq: delta.last_seq,
        prev_seq: delta.prev_seq,
        time: delta.time,
        bids: book_levels(&delta.bids, on),
        asks: book_levels(&delta.asks, on),
    }))
}

/// A trade.
pub(crate) fn trade(trade: &PublicTrade, names: &NameTable) -> Option<Utf8Bytes> {
    let on = names.instrument(trade.instrument)?;
    let (instrument, trade) = (on.symbol, trade_info(trade, on));
    Some(text(&StreamMessage::Trade { instrument, trade }))
}

/// The statistics of the last 24 hours.
pub(crate) fn ticker(ticker: &Ticker, names: &NameTable) -> Option<Utf8Bytes> {
    let on = names.instrument(ticker.instrument)?;
    let Moment { seq, time } = ticker.at;
    let (instrument, ticker) = (on.symbol, ticker_info(ticker, on));
    Some(text(&StreamMessage::Ticker { instrument, seq, time, ticker }))
}

/// The phase of an instrument and its auction.
pub(crate) fn auction(auction: &AuctionView, seq: Seq, names: &NameTable) -> Option<Utf8Bytes> {
    let on = names.instrument(auction.instrument)?;
    let (instrument, time) = (on.symbol, auction.at.time);
    let auction = auction_info(auction, on);
    Some(text(&StreamMessage::Auction { instrument, seq, time, auction }))
}

/// A changed balance.
pub(crate) fn balance(balance: &BalanceView, names: &NameTable) -> Option<Utf8Bytes> {
    let currency = names.currency(balance.currency)?;
    Some(text(&StreamMessage::Balance {
        account: balance.account,
        seq: balance.updated,
        balance: balance_info(balance, currency),
    }))
}

/// All balances of an account.
pub(crate) fn balances(
    account: AccountId,
    at: Moment,
    balances: &[BalanceView],
    names: &NameTable,
) -> Utf8Bytes {
    let Moment { seq, time } = at;
    let balances = balances.iter().filter_map(|balance| {
        names.currency(balance.currency).map(|currency| balance_info(balance, currency))
    });
    text(&StreamMessage::Balances { account, seq, time, balances: balances.collect() })
}

/// All open orders of an account.
pub(crate) fn open_orders(
    account: AccountId,
    at: Moment,
    orders: &[OrderView],
    names: &NameTable,
) -> Utf8Bytes {
    let Moment { seq, time } = at;
    let orders = orders.iter().filter_map(|order| {
        names.instrument(order.terms.instrument).map(|on| order_info(order, on))
    });
    text(&StreamMessage::OpenOrders { account, seq, time, orders: orders.collect() })
}

/// The events of one command for an account's orders or fills; `None` if there are none.
///
/// They are one message, so that a client has all events of a command or none, and can resume after
/// it.
pub(crate) fn own(
    channel: PrivateChannel,
    account: AccountId,
    seq: Seq,
    time: Timestamp,
    events: &[Event],
    names: &NameTable,
) -> Option<Utf8Bytes> {
    match channel {
        PrivateChannel::Orders => {
            let mut changes = Vec::new();
            for event in events.iter().filter(|it| owners(it).contains(&Some(account))) {
                order_event(&mut changes, account, event, names);
            }
            let events = (!changes.is_empty()).then_some(changes)?;
            Some(text(&StreamMessage::Orders { account, seq, time, events }))
        }
        PrivateChannel::Fills => {
            let trades = events.iter().filter_map(|event| match event {
                Event::Trade(trade) => Some(trade),
                _ => None,
            });
            let fills = trades.flat_map(|trade| fills_of(trade, Moment { seq, time }));
            let own = fills.filter(|fill| fill.account == account);
            let fills = own.filter_map(|fill| {
                names.instrument(fill.instrument).map(|on| fill_info(&fill, on))
            });
            let fills: Vec<_> = fills.collect();
            let fills = (!fills.is_empty()).then_some(fills)?;
            Some(text(&StreamMessage::Fills { account, seq, time, fills }))
        }
        PrivateChannel::Balances => None,
    }
}

/// The fields of a subscription, as in its request.
fn subscription_info(subscription: Subscription, names: &NameTable) -> SubscriptionInfo {
    let symbol = |instrument: InstrumentId| -> Option<Symbol> {
        names.instrument(instrument).map(|on| on.symbol)
    };
    let (channel, instrument, account) = match subscription {
        Subscription::Book(instrument) | Subscription::Top(instrument) => {
            (StreamChannel::Book, symbol(instrument), None)
        }
        Subscription::Trades(instrument) => (StreamChannel::Trades, symbol(instrument), None),
        Subscription::Ticker(instrument) => (StreamChannel::Ticker, symbol(instrument), None),
        Subscription::Auction(instrument) => (StreamChannel::Auction, symbol(instrument), None),
        Subscription::Own(channel, account) => {
            let channel = match channel {
                PrivateChannel::Orders => StreamChannel::Orders,
                PrivateChannel::Fills => StreamChannel::Fills,
                PrivateChannel::Balances => StreamChannel::Balances,
            };
            (channel, None, Some(account))
        }
    };
    SubscriptionInfo { channel, instrument, account }
}

/// A subscription has begun; it contains everything after `seq`.
pub(crate) fn subscribed(subscription: Subscription, seq: Seq, names: &NameTable) -> Utf8Bytes {
    let subscription = subscription_info(subscription, names);
    text(&StreamMessage::Subscribed { subscription, seq })
}

/// A subscription has ended.
pub(crate) fn unsubscribed(subscription: Subscription, names: &NameTable) -> Utf8Bytes {
    let subscription = subscription_info(subscription, names);
    text(&StreamMessage::Unsubscribed { subscription })
}

/// The connection can subscribe to the key's private channels.
pub(crate) fn authenticated(accounts: &[AccountId]) -> Utf8Bytes {
    text(&StreamMessage::Authenticated { accounts: accounts.into() })
}

/// The answer to a ping.
pub(crate) fn pong(seq: Seq) -> Utf8Bytes {
    text(&StreamMessage::Pong { seq })
}

/// Everything through `seq` has been sent.
pub(crate) fn heartbeat(seq: Seq) -> Utf8Bytes {
    text(&StreamMessage::Heartbeat { seq })
}

/// A request was refused; `op` is its operation, if it could be read.
pub(crate) fn error(op: Option<StreamOp>, error: &ApiError) -> Utf8Bytes {
    text(&StreamMessage::Error { op, error: error.detail() })
}
