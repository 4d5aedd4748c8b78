//! Rejects of linked orders: which of the orders they are about.

use super::{Asked, Condition, trigger_price_of};
use crate::now_us;
use rialto_desk::{InstrumentSummary, Listing};
use rialto_model::{
    Amount, Condition as Waits, DistanceKind, Leg, LinkKind, OrderKind, OrderList, OrderSize,
    Price, RejectReason, TimeInForce, Timestamp, TriggerKind,
};

/// The fields of a request that hold an order of a list each, and these orders.
fn legs(list: &OrderList) -> impl Iterator<Item = (&'static str, Leg)> + use<> {
    let second = if list.kind == LinkKind::Oco { "oco" } else { "stop_loss" };
    let legs = [("take_profit", list.take_profit), (second, list.stop_loss)];
    legs.into_iter().filter_map(|(field, leg)| Some((field, leg?)))
}

/// The order of the list that a reject is about: the field that holds it, and its parts. `None` if it is the
/// first one, or cannot be told.
pub(super) fn leg_of(
    reason: RejectReason,
    asked: &Asked,
    list: &OrderList,
    summary: &InstrumentSummary,
) -> Option<(&'static str, Leg, Asked)> {
    let first = Leg {
        condition: list.condition,
        kind: list.terms.kind,
        time_in_force: list.terms.time_in_force,
        price: list.terms.price,
        expire_at: list.terms.expire_at,
    };
    if is_refused(reason, &first, asked, summary) {
        return None;
    }
    let mut legs = legs(list).map(|(field, leg)| (field, leg, asked_of(&leg, asked, list)));
    legs.find(|(_, leg, asked)| is_refused(reason, leg, asked, summary))
}

/// What is wrong with a pair whose limit order would trade.
pub(super) const WOULD_TRADE: &str =
    "The order would trade at once, and no order of a pair may when it is entered.";

fn asked_of(leg: &Leg, asked: &Asked, list: &OrderList) -> Asked {
    let side = match list.kind {
        LinkKind::Oco => asked.side,
        LinkKind::Oto => asked.side.opposite(),
    };
    Asked {
        side,
        kind: leg.kind,
        time_in_force: leg.time_in_force,
        expire_at: leg.expire_at,
        price: Some(leg.price).filter(|price| *price != Price::ZERO),
        condition: leg.condition.as_ref().map(Condition::of),
        trigger_price: leg.condition.as_ref().and_then(trigger_price_of),
        list: None,
        ..*asked
    }
}

/// Whether an order is refused for this reason, as far as its own terms tell.
fn is_refused(reason: RejectReason, leg: &Leg, asked: &Asked, summary: &InstrumentSummary) -> bool {
    let InstrumentSummary { instrument, terms, .. } = summary;
    let rules = &instrument.spec.rules;
    let has_limit = leg.kind == OrderKind::Limit || leg.price != Price::ZERO;
    let is_bad = |price: Price| price <= Price::ZERO || price.0 % rules.tick.0 != 0;
    let notional = || instrument.notional(asked.price?, asked.quantity?);
    match reason {
        RejectReason::PriceNotPositive => has_limit && leg.price <= Price::ZERO,
        RejectReason::PriceOffTick => has_limit && is_bad(leg.price),
        RejectReason::NotionalTooSmall => notional().is_some_and(|it| it < rules.notional_min),
        RejectReason::NotionalTooLarge if terms.notional_max != Amount::ZERO => {
            notional().is_some_and(|it| it > terms.notional_max)
        }
        RejectReason::TriggerPriceInvalid => match leg.condition {
            None => false,
            Some(Waits::Trigger(trigger)) => is_bad(trigger.price),
            Some(Waits::Trail(trail)) => is_bad(trail.activation_price),
        },
        RejectReason::WouldTrigger => matches!(leg.condition, Some(Waits::Trigger(_))),
        RejectReason::TrailInvalid => matches!(leg.condition, Some(Waits::Trail(_))),
        RejectReason::ExpiryInvalid => {
            let is_gtd = leg.time_in_force == TimeInForce::Gtd;
            let is_past = is_gtd && leg.expire_at.0 <= now_us().saturating_mul(1_000);
            is_past || is_gtd != (leg.expire_at != Timestamp::ZERO) || asked.lacks_session()
        }
        _ => false,
    }
}

/// The field of a leg that a reject is about.
pub(super) fn field_of(reason: RejectReason, leg: &Leg) -> Option<&'static str> {
    Some(match (reason, &leg.condition) {
        (RejectReason::PriceNotPositive | RejectReason::PriceOffTick, _) => "price",
        (RejectReason::TriggerPriceInvalid, Some(Waits::Trail(_))) => "activation_price",
        (RejectReason::TriggerPriceInvalid | RejectReason::WouldTrigger, _) => "trigger",
        (RejectReason::TrailInvalid, Some(Waits::Trail(trail))) => {
            match trail.distance.kind() == DistanceKind::Ppm {
                true => "trail_ppm",
                false => "trail_distance",
            }
        }
        (RejectReason::ExpiryInvalid, _) => "expire_at",
        _ => return None,
    })
}

/// Where the prices of linked orders are not beyond each other, the field of the order that is to move, and why.
pub(super) fn prices(asked: &Asked, list: &OrderList, on: &Listing) -> (&'static str, String) {
    let said = |price: Price| price.decimal(on.price_scale);
    let (loss, profit) = (list.stop_loss, list.take_profit);
    let loss_level = loss.and_then(|leg| leg.nearest_price());
    let sells = (asked.side == rialto_model::Side::Sell) == (list.kind == LinkKind::Oco);
    let (beyond, short) = if sells { ("above", "below") } else { ("below", "above") };
    let better = |one: Price, other: Price| if sells { one > other } else { one < other };
    if list.kind == LinkKind::Oco {
        let worst = loss_level.map(|level| format!(" {}", said(level))).unwrap_or_default();
        return ("oco", format!("The stop{worst} of the pair must be {short} its other order."));
    }
    match (profit.and_then(|leg| leg.nearest_price()), loss_level) {
        (Some(profit), Some(loss)) if !better(profit, loss) => {
            let (profit, loss) = (said(profit), said(loss));
            (
                "take_profit",
                format!("The take_profit {profit} must be {beyond} the stop_loss {loss}."),
            )
        }
        // The protection price of a market order is not known here.
        (Some(profit), _) if list.terms.price == Price::ZERO => {
            let profit = said(profit);
            let message = format!(
                "The take_profit {profit} must be {beyond} the protection price of an order that may rest."
            );
            ("take_profit", message)
        }
        (Some(profit), _) if !better(profit, list.terms.price) => {
            let (profit, limit) = (said(profit), said(list.terms.price));
            ("take_profit", format!("The take_profit {profit} must be {beyond} the price {limit}."))
        }
        (_, Some(loss)) => {
            let (loss, limit) = (said(loss), said(list.terms.price));
            ("stop_loss", format!("The stop_loss {loss} must be {short} the price {limit}."))
        }
        (_, None) => {
            ("take_profit", format!("The take_profit must be {beyond} the price of the order."))
        }
    }
}

/// The field that does not go with the others, and why. `None` if it is one of the first order that no such
/// order has.
pub(super) fn combination(list: &OrderList) -> Option<(String, String)> {
    let terms = &list.terms;
    let (kind, in_force) = (terms.kind.name(), terms.time_in_force.name());
    let own = |field: &str, what: &str| {
        Some((field.to_owned(), format!("The first order of a pair cannot have {what}.")))
    };
    let is_pair = list.kind == LinkKind::Oco;
    match &list.condition {
        _ if !is_pair => {}
        Some(Waits::Trail(_)) => return own("trail_distance", "a distance at which it trails"),
        Some(Waits::Trigger(trigger)) if trigger.kind != TriggerKind::TakeProfit => {
            return own("trigger", "trigger stop; only take_profit");
        }
        Some(Waits::Trigger(_)) => {}
        None if terms.kind != OrderKind::Limit => return own("kind", &format!("kind {kind}")),
        None if matches!(terms.size, OrderSize::Quote(_)) => {
            return own("quote_amount", "quote_amount");
        }
        None if terms.minimum_quantity.0 != 0 => {
            return own("minimum_quantity", "minimum_quantity");
        }
        None if !terms.time_in_force.rests_in_trading() => {
            return own("time_in_force", &format!("time_in_force {in_force}"));
        }
        None => {}
    }
    let wrong = legs(list).find(|(_, leg)| match leg.condition {
        None => !leg.time_in_force.rests_in_trading(),
        Some(_) => leg.time_in_force == TimeInForce::Fok || leg.time_in_force.is_for_auction(),
    });
    wrong.map(|(field, leg)| {
        let what = if leg.condition.is_some() { "A stop or an exit that waits" } else { "An exit" };
        let in_force = leg.time_in_force.name();
        let message = format!("{what} cannot have time_in_force {in_force}.");
        (format!("{field}.time_in_force"), message)
    })
}
