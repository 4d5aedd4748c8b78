//! Orders, as they are entered and as they are shown.

use crate::ApiError;
use crate::decimal;
use crate::json::{JsonOut, Str};
use rialto_desk::Answer;
use rialto_desk::Listing;
use rialto_feed::{Fill, OrderView, Role};
use rialto_model::{
    AccountId, ClientOrderId, DoneReason, NewOrder, OrderId, OrderKind, OrderRef, OrderSize,
    OrderStatus, Outcome, PostOnly, Price, Scale, SelfTrade, Side, TimeInForce, Timestamp,
};
use serde::Deserialize;

/// Body of `POST /v1/orders`, and a `place` row of a batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrderRequest<'a> {
    pub(crate) account: Option<AccountId>,
    #[serde(borrow)]
    pub(crate) instrument: Str<'a>,
    side: Side,
    #[serde(default = "limit")]
    kind: OrderKind,
    time_in_force: Option<TimeInForce>,
    #[serde(default)]
    post_only: PostOnly,
    self_trade: Option<SelfTrade>,
    #[serde(default)]
    cancel_on_disconnect: bool,
    quantity: Option<Str<'a>>,
    quote_amount: Option<Str<'a>>,
    price: Option<Str<'a>>,
    expire_at: Option<Str<'a>>,
    client_order_id: Option<Str<'a>>,
    pub(crate) durability: Option<Str<'a>>,
}

fn limit() -> OrderKind {
    OrderKind::Limit
}

impl OrderRequest<'_> {
    /// The order at the scales of its instrument.
    pub(crate) fn order(&self, account: AccountId, on: &Listing) -> Result<NewOrder, ApiError> {
        let size = match (&self.quantity, &self.quote_amount) {
            (Some(text), None) => OrderSize::Base(decimal::quantity("quantity", text, on)?),
            (None, Some(text)) => {
                OrderSize::Quote(decimal::amount("quote_amount", text, &on.quote)?)
            }
            (None, None) => return Err(ApiError::missing("quantity")),
            (Some(_), Some(_)) => {
                let message = "Give either quantity or quote_amount, not both.";
                return Err(ApiError::invalid("quote_amount", message));
            }
        };
        let price = match (&self.price, self.kind) {
            (Some(text), _) => decimal::price("price", text, on)?,
            (None, OrderKind::Market) => Price::ZERO,
            (None, OrderKind::Limit) => return Err(ApiError::missing("price")),
        };
        let usual = match self.kind {
            OrderKind::Limit => TimeInForce::Gtc,
            OrderKind::Market => TimeInForce::Ioc,
        };
        Ok(NewOrder {
            account,
            instrument: on.id,
            side: self.side,
            kind: self.kind,
            time_in_force: self.time_in_force.unwrap_or(usual),
            post_only: self.post_only,
            self_trade: self.self_trade,
            cancel_on_disconnect: self.cancel_on_disconnect,
            size,
            price,
            expire_at: match &self.expire_at {
                Some(text) => Timestamp(decimal::whole("expire_at", text)?),
                None => Timestamp::ZERO,
            },
            client_order_id: match &self.client_order_id {
                Some(text) if text.is_empty() => {
                    let message = "A client order id has 1 to 36 bytes; leave it out for none.";
                    return Err(ApiError::invalid("client_order_id", message));
                }
                Some(text) => decimal::short("client_order_id", text)?,
                None => ClientOrderId::EMPTY,
            },
        })
    }
}

/// A `cancel` row of a batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelRequest<'a> {
    pub(crate) account: Option<AccountId>,
    #[serde(borrow)]
    pub(crate) id: Str<'a>,
}

/// Body of `PATCH /v1/orders/{id}`, and an `amend` row of a batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AmendRequest<'a> {
    pub(crate) account: Option<AccountId>,
    /// In a row of a batch only; otherwise it stands in the path.
    #[serde(borrow)]
    pub(crate) id: Option<Str<'a>>,
    pub(crate) price: Option<Str<'a>>,
    pub(crate) quantity: Option<Str<'a>>,
    pub(crate) durability: Option<Str<'a>>,
}

/// An order by the venue's id, or by `client:` and the member's own.
pub(crate) fn order_ref(text: &str) -> Result<OrderRef, ApiError> {
    let Some(name) = text.strip_prefix("client:") else {
        return text.parse().map(OrderRef::Id).map_err(|_| {
            ApiError::invalid("id", "An order is named by its id, or client: and your own id.")
        });
    };
    if name.is_empty() {
        return Err(ApiError::invalid("id", "A client order id has 1 to 36 bytes."));
    }
    decimal::short("id", name).map(OrderRef::Client)
}

/// What is known of an order beside the engine's answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) account: AccountId,
    pub(crate) side: Side,
    pub(crate) client_order_id: ClientOrderId,
    pub(crate) listing: Listing,
}

/// The engine's answer about one order. Without [`Placed`], what needs a scale is left out.
pub(crate) fn write_order_answer(out: &mut JsonOut, answer: &Answer, placed: Option<&Placed>) {
    out.open_object();
    if let Outcome::Order { order, status, price, filled, remaining, repeated } = answer.outcome {
        out.key("order_id").quoted(order.0);
        if let Some(placed) = placed {
            write_client_id(out, &placed.client_order_id);
            out.key("account").number(placed.account.0);
            out.key("instrument").text(placed.listing.symbol.as_str());
            out.key("side").text(side_name(placed.side));
        }
        out.key("status").text(status_name(status));
        if let Some(placed) = placed {
            let on = &placed.listing;
            out.key("price").decimal(price.0, on.price_scale);
            out.key("filled").decimal(filled.0, on.quantity_scale);
            out.key("remaining").decimal(remaining.0, on.quantity_scale);
        }
        out.key("repeated").flag(repeated);
    }
    out.key("seq").quoted(answer.seq.0);
    out.key("time").quoted(answer.time.0);
    out.close_object();
}

/// An order as its owner sees it.
pub(crate) fn write_order_view(out: &mut JsonOut, order: &OrderView, on: &Listing) {
    let terms = &order.terms;
    out.open_object();
    out.key("order_id").quoted(order.order.0);
    write_client_id(out, &terms.client_order_id);
    out.key("account").number(terms.account.0);
    out.key("instrument").text(on.symbol.as_str());
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
    out.key("status").text(status_name(order.status));
    out.key("done_reason");
    match order.done {
        Some(reason) => out.text(done_name(reason)),
        None => out.null(),
    }
    out.key("price").decimal(terms.price.0, on.price_scale);
    match terms.size {
        OrderSize::Base(_) => out.key("quantity").decimal(order.quantity.0, on.quantity_scale),
        OrderSize::Quote(amount) => out.key("quote_amount").decimal(amount.0, on.quote.scale),
    }
    out.key("filled").decimal(order.filled.0, on.quantity_scale);
    out.key("remaining").decimal(order.remaining.0, on.quantity_scale);
    out.key("filled_notional");
    match order.filled_notional {
        Some(notional) => out.decimal(notional.0, on.quote.scale),
        None => out.null(),
    }
    let reserved_scale: Scale = match terms.side {
        Side::Buy => on.quote.scale,
        Side::Sell => on.base.scale,
    };
    out.key("reserved").decimal(order.reserved.0, reserved_scale);
    out.key("expire_at");
    match terms.expire_at {
        Timestamp::ZERO => out.null(),
        time => out.quoted(time.0),
    }
    out.key("accepted_at");
    match order.accepted {
        Some(moment) => out.quoted(moment.time.0),
        None => out.null(),
    }
    out.key("updated_seq").quoted(order.updated.seq.0);
    out.key("updated_at").quoted(order.updated.time.0);
    out.close_object();
}

/// A fill as its owner sees it.
pub(crate) fn write_fill(out: &mut JsonOut, fill: &Fill, on: &Listing) {
    out.open_object();
    out.key("trade_id").quoted(fill.trade.0);
    out.key("order_id").quoted(fill.order.0);
    out.key("account").number(fill.account.0);
    out.key("instrument").text(on.symbol.as_str());
    out.key("side").text(side_name(fill.side));
    out.key("role").text(match fill.role {
        Role::Maker => "maker",
        Role::Taker => "taker",
    });
    out.key("price").decimal(fill.price.0, on.price_scale);
    out.key("quantity").decimal(fill.quantity.0, on.quantity_scale);
    out.key("notional").decimal(fill.notional.0, on.quote.scale);
    out.key("fee").decimal(fill.fee.0, on.quote.scale);
    out.key("seq").quoted(fill.at.seq.0);
    out.key("time").quoted(fill.at.time.0);
    out.close_object();
}

fn write_client_id(out: &mut JsonOut, id: &ClientOrderId) {
    out.key("client_order_id");
    match id.is_empty() {
        true => out.null(),
        false => out.text(id.as_str()),
    }
}

pub(crate) fn side_name(side: Side) -> &'static str {
    match side {
        Side::Buy => "buy",
        Side::Sell => "sell",
    }
}

fn status_name(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Open => "open",
        OrderStatus::PartiallyFilled => "partially_filled",
        OrderStatus::Filled => "filled",
        OrderStatus::Cancelled => "cancelled",
        OrderStatus::Expired => "expired",
        OrderStatus::Rejected => "rejected",
    }
}

pub(crate) fn time_in_force_name(time_in_force: TimeInForce) -> &'static str {
    match time_in_force {
        TimeInForce::Gtc => "gtc",
        TimeInForce::Ioc => "ioc",
        TimeInForce::Fok => "fok",
        TimeInForce::Day => "day",
        TimeInForce::Gtd => "gtd",
    }
}

pub(crate) fn done_name(reason: DoneReason) -> &'static str {
    match reason {
        DoneReason::Cancelled => "cancelled",
        DoneReason::Remainder => "remainder",
        DoneReason::SelfTrade => "self_trade",
        DoneReason::MassCancelled => "mass_cancelled",
        DoneReason::Expired => "expired",
        DoneReason::Disconnected => "disconnected",
        DoneReason::DeadMan => "dead_man",
        DoneReason::InstrumentClosed => "instrument_closed",
        DoneReason::QuoteSpent => "quote_spent",
    }
}

/// The order that an answer is about.
pub(crate) fn order_of(answer: &Answer) -> Option<OrderId> {
    match answer.outcome {
        Outcome::Order { order, .. } => Some(order),
        _ => None,
    }
}
