//! Rejects of amendments: the field that they are about, and the values that explain them.

use super::{Asked, asked_of, of_one, reason_of};
use crate::ApiError;
use crate::convert::Amendment;
use crate::gate::Gate;
use rialto_bus::Context;
use rialto_desk::{Freshness, GetInstrument, GetTicker, IdentifyOrder, RequiredState};
use rialto_feed::{LinksView, OrderView};
use rialto_model::{
    Iceberg, OrderId, OrderRef, OrderSize, Price, Quantity, RejectReason, Side, TriggerKind,
};

/// The same error with its field, and with value and limit in its message. The limits are the present ones,
/// which may have changed since the decision.
pub(crate) async fn of_amendment(
    gate: &Gate,
    cx: &Context<'_>,
    amendment: &Amendment,
    error: ApiError,
) -> ApiError {
    let Some(reason) = reason_of(&error) else { return error };
    let said = match reason {
        RejectReason::CommandUnknown => {
            let message = "Under this version of the rules, a trigger price cannot be amended: cancel \
                           the order and enter another.";
            Some(("trigger_price", message.to_owned()))
        }
        RejectReason::InvalidCombination => Some(combination(amendment)),
        RejectReason::OrderLinked => Some(linked(amendment)),
        RejectReason::ExitPriceInvalid => exit_price(gate, cx, amendment).await,
        RejectReason::WouldTrigger => {
            let message = would_trigger(gate, cx, amendment).await;
            message.map(|message| ("trigger_price", message))
        }
        RejectReason::WouldCross => would_trade(amendment).map(|message| ("price", message)),
        RejectReason::DisplayQuantityInvalid => {
            let most = Iceberg::TRANCHES_MAX;
            let message =
                format!("The new quantity is more than {most} times the display_quantity.");
            Some(("quantity", message))
        }
        _ => None,
    };
    if let Some((field, message)) = said {
        return ApiError { message: message.into(), ..error.of(field) };
    }
    let on = &amendment.listing;
    let question = GetInstrument { instrument: on.id };
    let summary = gate.read(cx, question, Freshness::Now).await.ok().map(|found| found.answer);
    let asked = asked(amendment, reason);
    of_one(gate, cx, reason, &asked, on, summary.as_ref(), error).await
}

/// The order as it was to be.
fn asked(amendment: &Amendment, reason: RejectReason) -> Asked {
    let Amendment { amend, trigger_price, before, .. } = amendment;
    let mut asked = asked_of(&before.terms);
    asked.trigger_price = *trigger_price;
    asked.quantity = amend.quantity.or(asked.quantity);
    asked.price = match (amend.price, trigger_price) {
        (Some(price), _) => Some(price),
        // The limit of a market order may move with its trigger price.
        (None, Some(_)) => None,
        (None, None) => asked.price,
    };
    if reason == RejectReason::InsufficientBalance {
        // The order reserves a part of what it needs already.
        (asked.price, asked.quantity) = (None, None);
    }
    asked
}

/// The field that the order cannot have, and why.
fn combination(amendment: &Amendment) -> (&'static str, String) {
    let trails = amendment.before.trail.is_some();
    let (field, message) = match amendment.trigger_price {
        None => ("price", "A trailing stop that is a market order has no price."),
        Some(_) if trails => {
            let message = "The trigger price of a trailing stop follows the last price: for another \
                           distance, cancel it and enter another.";
            ("trigger_price", message)
        }
        Some(_) => ("trigger_price", "The order does not wait for a trigger price."),
    };
    (field, message.to_owned())
}

/// Why a linked order cannot be amended.
fn linked(amendment: &Amendment) -> (&'static str, String) {
    let Amendment { amend, before, listing, .. } = amendment;
    let quantity =
        amend.quantity.filter(|quantity| before.terms.size != OrderSize::Base(*quantity));
    match quantity {
        Some(quantity) => {
            let said = |quantity: Quantity| quantity.decimal(listing.quantity_scale);
            let message = format!(
                "The quantity {} of a linked order cannot be amended to {}: cancel it and enter others.",
                said(before.quantity),
                said(quantity)
            );
            ("quantity", message)
        }
        None => {
            let message = "Under this version of the rules, a linked order cannot be amended: cancel \
                           it and enter others.";
            ("id", message.to_owned())
        }
    }
}

async fn would_trigger(gate: &Gate, cx: &Context<'_>, amendment: &Amendment) -> Option<String> {
    let on = &amendment.listing;
    let question = GetTicker { instrument: on.id };
    let last = gate.read(cx, question, Freshness::Now).await.ok()?.answer.ticker.last?;
    let (last, trigger) = (last.decimal(on.price_scale), amendment.trigger_price?);
    let trigger = trigger.decimal(on.price_scale);
    Some(format!("The last price {last} has reached the trigger price {trigger} already."))
}

/// Why a linked order cannot be moved to the other side of the book.
fn would_trade(amendment: &Amendment) -> Option<String> {
    let before = &amendment.before;
    before.links.filter(|links| !is_entry(before, links))?;
    let price = amendment.amend.price?.decimal(amendment.listing.price_scale);
    Some(format!("At the price {price} the order would trade at once, and no linked order may."))
}

/// Whether an order is the entry of its list.
fn is_entry(order: &OrderView, links: &LinksView) -> bool {
    links.list == order.order && links.other.is_none()
}

/// The price from which an order may trade, and what that is. None of a trailing stop.
fn level_of(order: &OrderView) -> Option<(Price, &'static str)> {
    match (order.trigger, order.trail) {
        (_, Some(_)) => None,
        (Some(trigger), None) => Some((trigger.price, "trigger price")),
        (None, None) => Some((order.terms.price, "price")),
    }
}

/// Which of two prices must be above the other.
fn in_order(is_above: bool, price: Price, other: Price) -> bool {
    if is_above { price > other } else { price < other }
}

/// The price of linked orders that is beyond another one, and that other one.
async fn exit_price(
    gate: &Gate,
    cx: &Context<'_>,
    amendment: &Amendment,
) -> Option<(&'static str, String)> {
    let Amendment { before, amend, trigger_price, listing } = amendment;
    let links = before.links.as_ref()?;
    let said = |price: Price| price.decimal(listing.price_scale);
    let where_to = |is_above| if is_above { "above" } else { "below" };
    if is_entry(before, links) {
        let price = amend.price?;
        let exits_sell = before.terms.side == Side::Buy;
        let exits = [
            (links.take_profit, "take_profit", !exits_sell),
            (links.stop_loss, "stop_loss", exits_sell),
        ];
        let wrong = exits.into_iter().find_map(|(leg, name, is_above)| {
            let level = leg?.nearest_price()?;
            (!in_order(is_above, price, level)).then_some((name, is_above, level))
        });
        let (name, is_above, level) = wrong?;
        let (price, level, beyond) = (said(price), said(level), where_to(is_above));
        return Some(("price", format!("The price {price} must be {beyond} the {name} {level}.")));
    }
    let (_, what) = level_of(before)?;
    let (field, price) = match what {
        "price" => ("price", amend.price?),
        _ => ("trigger_price", (*trigger_price)?),
    };
    // A sell gains above, a buy below.
    let gains = before.trigger.is_none_or(|trigger| trigger.kind == TriggerKind::TakeProfit);
    let is_above = gains == (before.terms.side == Side::Sell);
    let beyond = where_to(is_above);
    let moved = said(price);
    if let Some(other) = links.other
        && let Some(other) = order(gate, cx, amendment, other).await
        && let Some((level, of_other)) = level_of(&other)
        && !in_order(is_above, price, level)
    {
        let level = said(level);
        let message = format!(
            "The {what} {moved} must be {beyond} the {of_other} {level} of the order that it is \
             linked with."
        );
        return Some((field, message));
    }
    if links.list == before.order || Some(links.list) == links.other {
        return None;
    }
    let entry = order(gate, cx, amendment, links.list).await?;
    // It may have ended or been amended since.
    if !entry.status.is_open() || in_order(is_above, price, entry.terms.price) {
        return None;
    }
    let limit = said(entry.terms.price);
    Some((field, format!("The {what} {moved} must be {beyond} the price {limit} of its entry.")))
}

/// Another order of the same account.
async fn order(
    gate: &Gate,
    cx: &Context<'_>,
    amendment: &Amendment,
    order: OrderId,
) -> Option<OrderView> {
    let (account, required) = (amendment.amend.account, RequiredState::Order);
    let question = IdentifyOrder { account, order: OrderRef::Id(order), required };
    gate.query(cx, question).await.ok().map(|found| found.answer)
}
