//! The messages of the stream, as `docs/stream.md` shows them.

use crate::ApiError;
use crate::dto::{
    write_balance, write_depth, write_fill, write_order_view, write_ticker, write_trade,
};
use crate::json::JsonOut;
use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;
use rialto_desk::{Names, News, PrivateChannel, Subscription, What, fills_of, owners};
use rialto_feed::{BalanceView, BookDelta, Depth, Moment, OrderView, PublicTrade, Ticker};
use rialto_model::{AccountId, Event, InstrumentId, Seq, Timestamp};

use super::own::write_order_event;

fn finish(mut out: JsonOut) -> Utf8Bytes {
    out.close_object();
    let bytes = Bytes::from(out.into_bytes());
    Utf8Bytes::try_from(bytes).expect("JSON is put together from texts")
}

fn begin(kind: &'static str) -> JsonOut {
    let mut out = JsonOut::with_capacity(256);
    out.open_object();
    out.key("type").text(kind);
    out
}

/// A message about an instrument.
fn begin_on(kind: &'static str, instrument: InstrumentId, names: &Names) -> JsonOut {
    let mut out = begin(kind);
    let symbol = names.instrument(instrument).map_or("", |on| on.symbol.as_str());
    out.key("instrument").text(symbol);
    out
}

/// What the live feed tells; `None` if it is nothing to this subscription.
pub(crate) fn news(news: &News<'_>) -> Option<Utf8Bytes> {
    let names = news.names;
    Some(match (news.what, news.subscription) {
        (What::Book(it), _) => delta(it, names),
        (What::Trade(it), _) => trade(it, names),
        (What::Ticker(it), _) => ticker(it, names),
        (What::Balance(it), _) => balance(it, names),
        (What::Own { time, events }, Subscription::Own(channel, account)) => {
            return own(channel, account, news.seq, time, events, names);
        }
        (What::Own { .. }, _) => return None,
    })
}

/// The whole book, or the best levels of it.
pub(crate) fn book(depth: &Depth, at: Moment, names: &Names) -> Utf8Bytes {
    let mut out = begin_on("book", depth.instrument, names);
    out.key("seq").quoted(at.seq.0);
    out.key("time").quoted(at.time.0);
    if let Some(on) = names.instrument(depth.instrument) {
        write_depth(&mut out, depth, on);
    }
    finish(out)
}

/// Changed levels of a book.
pub(crate) fn delta(delta: &BookDelta, names: &Names) -> Utf8Bytes {
    let mut out = begin_on("book_delta", delta.instrument, names);
    out.key("first_seq").quoted(delta.first_seq.0);
    out.key("last_seq").quoted(delta.last_seq.0);
    out.key("prev_seq").quoted(delta.prev_seq.0);
    out.key("time").quoted(delta.time.0);
    if let Some(on) = names.instrument(delta.instrument) {
        for (key, levels) in [("bids", &delta.bids), ("asks", &delta.asks)] {
            out.key(key).open_array();
            for level in levels {
                out.open_array();
                out.decimal(level.price.0, on.price_scale);
                out.decimal(level.quantity.0, on.quantity_scale);
                out.number(level.orders);
                out.close_array();
            }
            out.close_array();
        }
    }
    finish(out)
}

/// A trade.
pub(crate) fn trade(trade: &PublicTrade, names: &Names) -> Utf8Bytes {
    let mut out = begin_on("trade", trade.instrument, names);
    if let Some(on) = names.instrument(trade.instrument) {
        out.key("trade");
        write_trade(&mut out, trade, on);
    }
    finish(out)
}

/// The last 24 hours.
pub(crate) fn ticker(ticker: &Ticker, names: &Names) -> Utf8Bytes {
    let mut out = begin_on("ticker", ticker.instrument, names);
    out.key("seq").quoted(ticker.at.seq.0);
    out.key("time").quoted(ticker.at.time.0);
    if let Some(on) = names.instrument(ticker.instrument) {
        write_ticker(&mut out, ticker, on);
    }
    finish(out)
}

fn begin_own(kind: &'static str, account: AccountId, seq: Seq) -> JsonOut {
    let mut out = begin(kind);
    out.key("account").number(account.0);
    out.key("seq").quoted(seq.0);
    out
}

/// A balance that changed.
pub(crate) fn balance(balance: &BalanceView, names: &Names) -> Utf8Bytes {
    let mut out = begin_own("balance", balance.account, balance.updated);
    if let Some(currency) = names.currency(balance.currency) {
        out.key("balance");
        write_balance(&mut out, balance, currency);
    }
    finish(out)
}

/// All balances of an account.
pub(crate) fn balances(
    account: AccountId,
    at: Moment,
    balances: &[BalanceView],
    names: &Names,
) -> Utf8Bytes {
    let mut out = begin_own("balances", account, at.seq);
    out.key("time").quoted(at.time.0);
    out.key("balances").open_array();
    for balance in balances {
        if let Some(currency) = names.currency(balance.currency) {
            write_balance(&mut out, balance, currency);
        }
    }
    out.close_array();
    finish(out)
}

/// All open orders of an account.
pub(crate) fn open_orders(
    account: AccountId,
    at: Moment,
    orders: &[OrderView],
    names: &Names,
) -> Utf8Bytes {
    let mut out = begin_own("open_orders", account, at.seq);
    out.key("time").quoted(at.time.0);
    out.key("orders").open_array();
    for order in orders {
        if let Some(on) = names.instrument(order.terms.instrument) {
            write_order_view(&mut out, order, on);
        }
    }
    out.close_array();
    finish(out)
}

/// What the events of one command are to an account's orders or fills; `None` if they are nothing.
///
/// It is one message, so that whoever has it has all of that command and may resume after it.
pub(crate) fn own(
    channel: PrivateChannel,
    account: AccountId,
    seq: Seq,
    time: Timestamp,
    events: &[Event],
    names: &Names,
) -> Option<Utf8Bytes> {
    let at = Moment { seq, time };
    let mut out = begin_own(channel.name(), account, seq);
    out.key("time").quoted(time.0);
    let mut count = 0;
    match channel {
        PrivateChannel::Orders => {
            out.key("events").open_array();
            for event in events.iter().filter(|it| owners(it).contains(&Some(account))) {
                count += write_order_event(&mut out, account, event, names);
            }
        }
        PrivateChannel::Fills => {
            out.key("fills").open_array();
            let trades = events.iter().filter_map(|event| match event {
                Event::Trade(trade) => Some(trade),
                _ => None,
            });
            for fill in trades.flat_map(|trade| fills_of(trade, at)) {
                if fill.account == account
                    && let Some(on) = names.instrument(fill.instrument)
                {
                    write_fill(&mut out, &fill, on);
                    count += 1;
                }
            }
        }
        PrivateChannel::Balances => return None,
    }
    out.close_array();
    (count > 0).then(|| finish(out))
}

/// Names a subscription, as it was named when it was asked for.
fn write_subscription(out: &mut JsonOut, subscription: Subscription, names: &Names) {
    let (channel, instrument) = match subscription {
        Subscription::Book(instrument) | Subscription::Top(instrument) => ("book", instrument),
        Subscription::Trades(instrument) => ("trades", instrument),
        Subscription::Ticker(instrument) => ("ticker", instrument),
        Subscription::Own(channel, account) => {
            out.key("channel").text(channel.name());
            out.key("account").number(account.0);
            return;
        }
    };
    out.key("channel").text(channel);
    let symbol = names.instrument(instrument).map_or("", |on| on.symbol.as_str());
    out.key("instrument").text(symbol);
}

/// A subscription has begun; it holds everything after `seq`.
pub(crate) fn subscribed(subscription: Subscription, seq: Seq, names: &Names) -> Utf8Bytes {
    let mut out = begin("subscribed");
    write_subscription(&mut out, subscription, names);
    out.key("seq").quoted(seq.0);
    finish(out)
}

/// A subscription has ended.
pub(crate) fn unsubscribed(subscription: Subscription, names: &Names) -> Utf8Bytes {
    let mut out = begin("unsubscribed");
    write_subscription(&mut out, subscription, names);
    finish(out)
}

/// The connection may see what is private to its key.
pub(crate) fn authenticated(accounts: &[AccountId]) -> Utf8Bytes {
    let mut out = begin("authenticated");
    out.key("accounts").open_array();
    accounts.iter().for_each(|account| out.number(account.0));
    out.close_array();
    finish(out)
}

/// Answers a ping.
pub(crate) fn pong(seq: Seq) -> Utf8Bytes {
    let mut out = begin("pong");
    out.key("seq").quoted(seq.0);
    finish(out)
}

/// Everything through `seq` has been told.
pub(crate) fn heartbeat(seq: Seq) -> Utf8Bytes {
    let mut out = begin("heartbeat");
    out.key("seq").quoted(seq.0);
    finish(out)
}

/// What a client asked for cannot be; `op` is what it asked, if that could be read.
pub(crate) fn error(op: Option<&str>, error: &ApiError) -> Utf8Bytes {
    let mut out = begin("error");
    if let Some(op) = op {
        out.key("op").text(op);
    }
    out.key("error");
    error.write(&mut out);
    finish(out)
}
