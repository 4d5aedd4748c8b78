//! What happened to an account's orders, event by event.

use crate::dto::{done_name, side_name, time_in_force_name};
use crate::json::JsonOut;
use rialto_desk::{Listing, Names};
use rialto_model::{
    Accepted, AccountId, CommandKind, Event, OrderId, OrderKind, OrderSize, PostOnly, ReduceReason,
    Rejected, Side, Timestamp, Trade,
};

/// Writes an event as far as it is the account's own, and says how many objects that were: a
/// trade of an account with itself is two.
pub(super) fn write_order_event(
    out: &mut JsonOut,
    account: AccountId,
    event: &Event,
    names: &Names,
) -> usize {
    let listing = |instrument| names.instrument(instrument);
    match event {
        Event::Accepted(it) => {
            let Some(on) = listing(it.terms.instrument) else { return 0 };
            write_accepted(out, it, on);
        }
        Event::Rested(it) => {
            let Some(on) = listing(it.instrument) else { return 0 };
            begin(out, "rested", it.order, on);
            out.key("price").decimal(it.price.0, on.price_scale);
            out.key("remaining").decimal(it.remaining.0, on.quantity_scale);
            out.close_object();
        }
        Event::Trade(it) => {
            let Some(on) = listing(it.instrument) else { return 0 };
            let mut count = 0;
            if it.maker_account == account {
                write_traded(out, it, it.maker_order, "maker", on);
                count += 1;
            }
            if it.taker_account == account {
                write_traded(out, it, it.taker_order, "taker", on);
                count += 1;
            }
            return count;
        }
        Event::Reduced(it) => {
            let Some(on) = listing(it.instrument) else { return 0 };
            begin(out, "reduced", it.order, on);
            out.key("reason").text(match it.reason {
                ReduceReason::Amended => "amended",
                ReduceReason::SelfTrade => "self_trade",
            });
            out.key("by").decimal(it.by.0, on.quantity_scale);
            out.key("remaining").decimal(it.remaining.0, on.quantity_scale);
            out.close_object();
        }
        Event::Amended(it) => {
            let Some(on) = listing(it.instrument) else { return 0 };
            begin(out, "amended", it.order, on);
            out.key("price").decimal(it.price.0, on.price_scale);
            out.key("quantity").decimal(it.quantity.0, on.quantity_scale);
            out.key("remaining").decimal(it.remaining.0, on.quantity_scale);
            out.close_object();
        }
        Event::Done(it) => {
            let Some(on) = listing(it.instrument) else { return 0 };
            begin(out, "done", it.order, on);
            out.key("reason").text(done_name(it.reason));
            out.key("remaining").decimal(it.remaining.0, on.quantity_scale);
            out.close_object();
        }
        Event::Rejected(it) => write_rejected(out, it, listing(it.instrument)),
        _ => return 0,
    }
    1
}

fn begin(out: &mut JsonOut, kind: &'static str, order: OrderId, on: &Listing) {
    out.open_object();
    out.key("event").text(kind);
    out.key("order_id").quoted(order.0);
    out.key("instrument").text(on.symbol.as_str());
}

fn write_accepted(out: &mut JsonOut, accepted: &Accepted, on: &Listing) {
    let terms = &accepted.terms;
    begin(out, "accepted", accepted.order, on);
    if !terms.client_order_id.is_empty() {
        out.key("client_order_id").text(terms.client_order_id.as_str());
    }
    out.key("side").text(side_name(terms.side));
    out.key("kind").text(match terms.kind {
        OrderKind::Limit => "limit",
        OrderKind::Market => "market",
    });
    out.key("time_in_force").text(time_in_force_name(terms.time_in_force));
    out.key("post_only").text(match terms.post_only {
        PostOnly::Off => "off",
        PostOnly::Reject => "reject",
        PostOnly::Slide => "slide",
    });
    out.key("cancel_on_disconnect").flag(terms.cancel_on_disconnect);
    out.key("price").decimal(terms.price.0, on.price_scale);
    match terms.size {
        OrderSize::Base(quantity) => out.key("quantity").decimal(quantity.0, on.quantity_scale),
        OrderSize::Quote(amount) => out.key("quote_amount").decimal(amount.0, on.quote.scale),
    }
    let pledged = match terms.side {
        Side::Buy => &on.quote,
        Side::Sell => &on.base,
    };
    out.key("reserved").decimal(accepted.reserved.0, pledged.scale);
    if terms.expire_at != Timestamp::ZERO {
        out.key("expire_at").quoted(terms.expire_at.0);
    }
    out.key("resting").flag(accepted.rests);
    out.close_object();
}

fn write_traded(
    out: &mut JsonOut,
    trade: &Trade,
    order: OrderId,
    role: &'static str,
    on: &Listing,
) {
    let remaining = match role {
        "maker" => trade.maker_remaining,
        _ => trade.taker_remaining,
    };
    begin(out, "traded", order, on);
    out.key("trade_id").quoted(trade.trade.0);
    out.key("role").text(role);
    out.key("price").decimal(trade.price.0, on.price_scale);
    out.key("quantity").decimal(trade.quantity.0, on.quantity_scale);
    out.key("remaining").decimal(remaining.0, on.quantity_scale);
    out.close_object();
}

fn write_rejected(out: &mut JsonOut, rejected: &Rejected, on: Option<&Listing>) {
    out.open_object();
    out.key("event").text("rejected");
    out.key("command").text(match rejected.command {
        CommandKind::Cancel => "cancel",
        CommandKind::Amend => "amend",
        CommandKind::MassCancel => "mass_cancel",
        _ => "place",
    });
    out.key("reason").text(rejected.reason.code());
    if rejected.order != OrderId::default() {
        out.key("order_id").quoted(rejected.order.0);
    }
    if !rejected.client_order_id.is_empty() {
        out.key("client_order_id").text(rejected.client_order_id.as_str());
    }
    if let Some(on) = on {
        out.key("instrument").text(on.symbol.as_str());
    }
    out.close_object();
}
