//! Linked orders at the scales of their instrument.

use super::order::{condition_of, is_conditional, trail_of};
use crate::{ApiError, decimal};
use rialto_api::{
    DecimalText, ExitInfo, LinksInfo, OrderRequest, StopLossRequest, TakeProfitRequest, TrailInfo,
};
use rialto_desk::Listing;
use rialto_feed::LinksView;
use rialto_model::{
    Condition, Leg, LinkKind, NewOrder, OrderKind, OrderList, Price, TimeInForce, Timestamp,
    Trigger, TriggerKind,
};

/// The list of linked orders that the request enters, if it has more than one.
pub(super) fn order_list(
    request: &OrderRequest<'_>,
    terms: NewOrder,
    on: &Listing,
) -> Result<Option<OrderList>, ApiError> {
    let OrderRequest { take_profit, stop_loss, oco, .. } = request;
    let field = match (take_profit, stop_loss, oco) {
        (None, None, None) => return Ok(None),
        (Some(_), _, None) => "take_profit",
        (None, Some(_), None) => "stop_loss",
        (None, None, Some(_)) => "oco",
        (_, _, Some(_)) => {
            let message =
                "An order of a pair has no exits: give either oco, or take_profit and stop_loss.";
            return Err(ApiError::invalid("oco", message));
        }
    };
    if request.display_quantity.is_some() {
        let message = format!("An order with {field} has no display_quantity.");
        return Err(ApiError::invalid("display_quantity", message));
    }
    if let Some(second) = oco {
        if request.trigger_at_once {
            let message = "An order of a pair is not triggered at once.";
            return Err(ApiError::invalid("trigger_at_once", message));
        }
        let condition = condition_of(request, on)?;
        let second = stop(second, on).map_err(|error| error.within("oco"))?;
        let (kind, stop_loss) = (LinkKind::Oco, Some(second));
        return Ok(Some(OrderList { terms, condition, kind, take_profit: None, stop_loss }));
    }
    if is_conditional(request) {
        let message = format!("A conditional order has no {field}.");
        return Err(ApiError::invalid(field, message));
    }
    let profit = take_profit.as_ref().map(|exit| profit(exit, on));
    let profit = profit.transpose().map_err(|error| error.within("take_profit"))?;
    let loss = stop_loss.as_ref().map(|exit| stop(exit, on));
    let loss = loss.transpose().map_err(|error| error.within("stop_loss"))?;
    let kind = LinkKind::Oto;
    Ok(Some(OrderList { terms, condition: None, kind, take_profit: profit, stop_loss: loss }))
}

fn profit(request: &TakeProfitRequest<'_>, on: &Listing) -> Result<Leg, ApiError> {
    let condition = match (&request.trigger, &request.price) {
        (None, None) => return Err(ApiError::missing("price")),
        (None, Some(_)) => None,
        (Some(text), _) => Some(trigger(TriggerKind::TakeProfit, text, on)?),
    };
    let TakeProfitRequest { price, time_in_force, expire_at, .. } = request;
    leg(condition, price.as_ref(), *time_in_force, *expire_at, on)
}

fn stop(request: &StopLossRequest<'_>, on: &Listing) -> Result<Leg, ApiError> {
    let StopLossRequest { trail_distance, trail_ppm, activation_price, .. } = request;
    let trail = trail_of(trail_distance.as_ref(), *trail_ppm, activation_price.as_ref(), on)?;
    let condition = match (&request.trigger, trail) {
        (Some(text), None) => trigger(TriggerKind::Stop, text, on)?,
        (None, Some(trail)) => Condition::Trail(trail),
        (None, None) => return Err(ApiError::missing("trigger")),
        (Some(_), Some(_)) => {
            return Err(ApiError::invalid("trigger", "A trailing stop has no trigger."));
        }
    };
    let StopLossRequest { price, time_in_force, expire_at, .. } = request;
    leg(Some(condition), price.as_ref(), *time_in_force, *expire_at, on)
}

fn trigger(kind: TriggerKind, text: &DecimalText<'_>, on: &Listing) -> Result<Condition, ApiError> {
    Ok(Condition::Trigger(Trigger { kind, price: decimal::price("trigger", text, on)? }))
}

fn leg(
    condition: Option<Condition>,
    price: Option<&DecimalText<'_>>,
    time_in_force: Option<TimeInForce>,
    expire_at: Option<Timestamp>,
    on: &Listing,
) -> Result<Leg, ApiError> {
    let (kind, price) = match price {
        Some(text) => (OrderKind::Limit, decimal::price("price", text, on)?),
        None => (OrderKind::Market, Price::ZERO),
    };
    Ok(Leg {
        condition,
        kind,
        time_in_force: time_in_force.unwrap_or(kind.usual_time_in_force()),
        price,
        expire_at: expire_at.unwrap_or(Timestamp::ZERO),
    })
}

/// An exit as it was given.
pub(super) fn exit_info(leg: &Leg, on: &Listing) -> ExitInfo {
    let given = |price: Price| (price != Price::ZERO).then(|| price.decimal(on.price_scale));
    let (trigger, trail) = match &leg.condition {
        None => (None, None),
        Some(Condition::Trigger(trigger)) => (Some(trigger.price.decimal(on.price_scale)), None),
        Some(Condition::Trail(trail)) => (None, Some(trail)),
    };
    let info = trail.map(|trail| super::order::trail_info(trail, on));
    let TrailInfo { trail_distance, trail_ppm, .. } = info.unwrap_or_default();
    ExitInfo {
        trigger,
        trail_distance,
        trail_ppm,
        activation_price: trail.and_then(|trail| given(trail.activation_price)),
        price: given(leg.price),
        time_in_force: leg.time_in_force,
        expire_at: (leg.expire_at != Timestamp::ZERO).then_some(leg.expire_at),
    }
}

/// How an order is linked, for its owner.
pub(super) fn links_info(links: &LinksView, on: &Listing) -> LinksInfo {
    LinksInfo {
        list: links.list,
        linked_to: links.other,
        take_profit: links.take_profit.map(|leg| exit_info(&leg, on)),
        stop_loss: links.stop_loss.map(|leg| exit_info(&leg, on)),
    }
}
