//! Orders and fills at the scales of their instrument.

use super::linked::{exit_info, links_info, order_list};
use crate::{ApiError, decimal};
use rialto_api::{
    DecimalText, FillInfo, IcebergInfo, OrderAnswer, OrderEvent, OrderInfo, OrderRequest,
    OrderResult, TrailInfo,
};
use rialto_desk::{Answer, Execution, Listing, NameTable};
use rialto_feed::{Fill, OrderView};
use rialto_model::{
    AccountId, Amount, ClientOrderId, Command, CommandKind, Condition, ConditionalOrder, Decimal,
    Distance, DoneReason, Event, Handling, Iceberg, IcebergOrder, NewOrder, OrderId, OrderKind,
    OrderRef, OrderSize, Outcome, Price, Quantity, RejectReason, Role, Scale, Side, Timestamp,
    Trade, TrailTerms, TrailingOrder, Trigger,
};

/// The order, at the scales of its instrument.
fn new_order(
    request: &OrderRequest<'_>,
    account: AccountId,
    on: &Listing,
) -> Result<NewOrder, ApiError> {
    let size = match (&request.quantity, &request.quote_amount) {
        (Some(text), None) => OrderSize::Base(decimal::quantity("quantity", text, on)?),
        (None, Some(text)) => OrderSize::Quote(decimal::amount("quote_amount", text, &on.quote)?),
        (None, None) => return Err(ApiError::missing("quantity")),
        (Some(_), Some(_)) => {
            let message = "Give either quantity or quote_amount, not both.";
            return Err(ApiError::invalid("quote_amount", message));
        }
    };
    let price = match (&request.price, request.kind) {
        (Some(text), _) => decimal::price("price", text, on)?,
        (None, OrderKind::Limit) => return Err(ApiError::missing("price")),
        (None, _) => Price::ZERO,
    };
    let minimum_quantity = match &request.minimum_quantity {
        Some(text) => decimal::quantity("minimum_quantity", text, on)?,
        None => Quantity::ZERO,
    };
    let usual = request.kind.usual_time_in_force();
    Ok(NewOrder {
        account,
        instrument: on.id,
        side: request.side,
        kind: request.kind,
        time_in_force: request.time_in_force.unwrap_or(usual),
        post_only: request.post_only,
        self_trade: request.self_trade,
        handling: Handling::NONE
            .with_cancel_on_disconnect(request.cancel_on_disconnect)
            .with_capacity(request.capacity),
        size,
        price,
        minimum_quantity,
        expire_at: request.expire_at.unwrap_or(Timestamp::ZERO),
        client_order_id: match &request.client_order_id {
            Some(text) if text.is_empty() => {
                let message = "A client order id has 1 to 36 bytes; leave it out for none.";
                return Err(ApiError::invalid("client_order_id", message));
            }
            Some(text) => decimal::short("client_order_id", text)?,
            None => ClientOrderId::EMPTY,
        },
    })
}

/// The command that enters the order, at once or when it is triggered, and the orders that are linked with it.
pub(crate) fn entering(
    request: &OrderRequest<'_>,
    account: AccountId,
    on: &Listing,
) -> Result<Command, ApiError> {
    let terms = new_order(request, account, on)?;
    if let Some(list) = order_list(request, terms, on)? {
        return Ok(Command::PlaceList(list));
    }
    if let Some(text) = &request.display_quantity {
        let display_quantity = decimal::quantity("display_quantity", text, on)?;
        if is_conditional(request) {
            let message = "A conditional order has no display_quantity.";
            return Err(ApiError::invalid("display_quantity", message));
        }
        return Ok(Command::PlaceIceberg(IcebergOrder { terms, display_quantity }));
    }
    Ok(match condition_of(request, on)? {
        None => Command::Place(terms),
        Some(Condition::Trail(trail)) => Command::PlaceTrailing(TrailingOrder { terms, trail }),
        Some(Condition::Trigger(trigger)) => {
            let immediate = request.trigger_at_once;
            Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate })
        }
    })
}

/// What the order waits for, if it is a conditional order.
pub(super) fn condition_of(
    request: &OrderRequest<'_>,
    on: &Listing,
) -> Result<Option<Condition>, ApiError> {
    let OrderRequest { trail_distance, trail_ppm, activation_price, .. } = request;
    let at_once = request.trigger_at_once;
    let trail = trail_of(trail_distance.as_ref(), *trail_ppm, activation_price.as_ref(), on)?;
    if let Some(trail) = trail {
        if request.trigger.is_some() || request.trigger_price.is_some() || at_once {
            let message = "A trailing stop has no trigger, trigger_price or trigger_at_once.";
            return Err(ApiError::invalid("trigger", message));
        }
        return Ok(Some(Condition::Trail(trail)));
    }
    match (request.trigger, &request.trigger_price) {
        (Some(kind), Some(text)) => {
            let price = decimal::price("trigger_price", text, on)?;
            Ok(Some(Condition::Trigger(Trigger { kind, price })))
        }
        (Some(_), None) => Err(ApiError::missing("trigger_price")),
        (None, Some(_)) => Err(ApiError::missing("trigger")),
        (None, None) if at_once => Err(ApiError::missing("trigger")),
        (None, None) => Ok(None),
    }
}

/// Whether the request has a field of a conditional order.
pub(super) fn is_conditional(request: &OrderRequest<'_>) -> bool {
    request.trigger.is_some()
        || request.trigger_price.is_some()
        || request.trigger_at_once
        || request.trail_distance.is_some()
        || request.trail_ppm.is_some()
        || request.activation_price.is_some()
}

/// What a trailing stop follows, if the order is one.
pub(super) fn trail_of(
    trail_distance: Option<&DecimalText<'_>>,
    trail_ppm: Option<u32>,
    activation_price: Option<&DecimalText<'_>>,
    on: &Listing,
) -> Result<Option<TrailTerms>, ApiError> {
    let distance = match (trail_distance, trail_ppm) {
        (Some(text), None) => Distance::Price(decimal::price("trail_distance", text, on)?),
        (None, Some(ppm)) => Distance::Ppm(ppm),
        (Some(_), Some(_)) => {
            let message = "Give either trail_distance or trail_ppm.";
            return Err(ApiError::invalid("trail_ppm", message));
        }
        (None, None) if activation_price.is_some() => {
            return Err(ApiError::missing("trail_distance"));
        }
        (None, None) => return Ok(None),
    };
    let activation_price = match activation_price {
        None => Price::ZERO,
        Some(text) => match decimal::price("activation_price", text, on)? {
            Price::ZERO => {
                let message = "The price must be positive; leave it out for the last price.";
                let refused = ApiError::unknown(RejectReason::TriggerPriceInvalid);
                let refused = ApiError { message: message.into(), ..refused };
                return Err(refused.of("activation_price"));
            }
            price => price,
        },
    };
    Ok(Some(TrailTerms { distance, activation_price }))
}

/// Parses an order id, or `client:` and a client order id.
pub(crate) fn order_ref(text: &str) -> Result<OrderRef, ApiError> {
    let Some(name) = text.strip_prefix("client:") else {
        return text.parse().map(OrderRef::Id).map_err(|_| {
            ApiError::invalid("id", "Give the order's id, or client: and its client order id.")
        });
    };
    if name.is_empty() {
        return Err(ApiError::invalid("id", "A client order id has 1 to 36 bytes."));
    }
    decimal::short("id", name).map(OrderRef::Client)
}

/// The state of an order beside the engine's answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// The terms, with the owner's limit.
    pub(crate) terms: NewOrder,
    pub(crate) listing: Listing,
    /// Whether this command entered it.
    pub(crate) is_new: bool,
}

fn named(id: ClientOrderId) -> Option<ClientOrderId> {
    (!id.is_empty()).then_some(id)
}

/// The limit of an order, if it was given or the order may rest there; otherwise the venue's limit of
/// an order that trades at once is nothing that its owner asked for.
fn limit(terms: &NewOrder, price: Price, scale: Scale) -> Option<Decimal> {
    let is_given = terms.kind == OrderKind::Limit || terms.price != Price::ZERO;
    let may_rest = !terms.time_in_force.trades_at_once();
    (is_given || may_rest).then(|| price.decimal(scale))
}

/// The answer about one order. Without [`Placed`], fields that need a scale are omitted.
pub(crate) fn order_answer(answer: &Answer, placed: Option<&Placed>) -> OrderAnswer {
    let mut answered = OrderAnswer {
        order_id: None,
        client_order_id: None,
        account: None,
        instrument: None,
        side: None,
        status: None,
        price: None,
        filled: None,
        remaining: None,
        repeated: None,
        result: OrderResult::default(),
        now: None,
        seq: answer.seq,
        time: answer.time,
    };
    let Outcome::Order { order, status, price, filled, remaining, repeated } = answer.outcome
    else {
        return answered;
    };
    answered.order_id = Some(order);
    answered.status = Some(status);
    answered.repeated = Some(repeated);
    if let Some(Placed { terms, listing: on, .. }) = placed {
        answered.client_order_id = named(terms.client_order_id);
        answered.account = Some(terms.account);
        answered.instrument = Some(on.symbol);
        answered.side = Some(terms.side);
        answered.price = limit(terms, price, on.price_scale);
        answered.filled = Some(filled.decimal(on.quantity_scale));
        answered.remaining = Some(remaining.decimal(on.quantity_scale));
    }
    answered
}

/// The scale of an order's reserve.
fn reserve_scale(side: Side, on: &Listing) -> Scale {
    match side {
        Side::Buy => on.quote.scale,
        Side::Sell => on.base.scale,
    }
}

pub(super) fn trail_info(trail: &TrailTerms, on: &Listing) -> TrailInfo {
    let (trail_distance, trail_ppm) = match trail.distance {
        Distance::Price(distance) => (Some(distance.decimal(on.price_scale)), None),
        Distance::Ppm(ppm) => (None, Some(ppm)),
    };
    let activation_price = trail.activation_price.decimal(on.price_scale);
    TrailInfo { trail_distance, trail_ppm, activation_price }
}

fn iceberg_info(iceberg: &Iceberg, on: &Listing) -> IcebergInfo {
    let Iceberg { display_quantity, displayed } = iceberg;
    IcebergInfo {
        display_quantity: display_quantity.decimal(on.quantity_scale),
        displayed: displayed.decimal(on.quantity_scale),
    }
}

/// An order for its owner.
pub(crate) fn order_info(order: &OrderView, on: &Listing) -> OrderInfo {
    let terms = &order.terms;
    OrderInfo {
        order_id: order.order,
        client_order_id: named(terms.client_order_id),
        account: terms.account,
        instrument: on.symbol,
        side: terms.side,
        kind: terms.kind,
        time_in_force: terms.time_in_force,
        post_only: terms.post_only,
        cancel_on_disconnect: terms.handling.cancel_on_disconnect,
        capacity: terms.handling.capacity,
        status: order.status,
        trigger: order.trigger.map(|trigger| trigger.kind),
        trigger_price: order.trigger.map(|trigger| trigger.price.decimal(on.price_scale)),
        trail: order.trail.map(|state| trail_info(&state.trail, on)),
        iceberg: order.iceberg.map(|iceberg| iceberg_info(&iceberg, on)),
        links: order.links.map(|links| links_info(&links, on)),
        price: limit(terms, terms.price, on.price_scale),
        quantity: match terms.size {
            OrderSize::Base(_) => Some(order.quantity.decimal(on.quantity_scale)),
            OrderSize::Quote(_) => None,
        },
        quote_amount: match terms.size {
            OrderSize::Base(_) => None,
            OrderSize::Quote(amount) => Some(amount.decimal(on.quote.scale)),
        },
        filled: order.filled.decimal(on.quantity_scale),
        remaining: order.remaining.decimal(on.quantity_scale),
        result: order_result(order, on),
        reserved: order.reserved.decimal(reserve_scale(terms.side, on)),
        expire_at: (terms.expire_at != Timestamp::ZERO).then_some(terms.expire_at),
        accepted_at: order.accepted.map(|moment| moment.time),
        updated_seq: order.updated.seq,
        updated_at: order.updated.time,
    }
}

/// The result of an order that entered with this answer.
pub(crate) fn entered_result(filled: Quantity, execution: &Execution, on: &Listing) -> OrderResult {
    // A quote currency has at least as many decimal places as price and quantity together.
    let shift = on.quote.scale.places() - on.price_scale.places() - on.quantity_scale.places();
    let notional = Amount(execution.product.saturating_mul(10_i128.pow(shift.into())));
    result(filled, Some(notional), Some(execution.fee), execution.done, on)
}

/// The result of an order.
pub(crate) fn order_result(order: &OrderView, on: &Listing) -> OrderResult {
    result(order.filled, order.filled_notional, order.fee, order.done, on)
}

fn result(
    filled: Quantity,
    notional: Option<Amount>,
    fee: Option<Amount>,
    done_reason: Option<DoneReason>,
    on: &Listing,
) -> OrderResult {
    let average = notional.and_then(|notional| average(notional, filled, on));
    OrderResult {
        average_price: average.map(|price| price.decimal(on.price_scale)),
        filled_notional: notional.map(|it| it.decimal(on.quote.scale)),
        fee: fee.map(|it| it.decimal(on.quote.scale)),
        fee_currency: fee.map(|_| on.quote.code),
        done_reason,
    }
}

/// The average price: notional over quantity at the price scale, rounded half away from zero;
/// `None` without fills.
fn average(notional: Amount, filled: Quantity, on: &Listing) -> Option<Price> {
    let places = |scale: Scale| i32::from(scale.places());
    let shift = places(on.price_scale) + places(on.quantity_scale) - places(on.quote.scale);
    let ten = |power: i32| 10_i128.checked_pow(power.unsigned_abs());
    let (above, below) = match shift {
        0.. => (notional.0.checked_mul(ten(shift)?)?, i128::from(filled.0)),
        _ => (notional.0, i128::from(filled.0).checked_mul(ten(shift)?)?),
    };
    if below == 0 {
        return None;
    }
    let half = if above < 0 { -below / 2 } else { below / 2 };
    i64::try_from((above + half) / below).ok().map(Price)
}

/// A fill for its owner.
pub(crate) fn fill_info(fill: &Fill, on: &Listing) -> FillInfo {
    FillInfo {
        trade_id: fill.trade,
        order_id: fill.order,
        account: fill.account,
        instrument: on.symbol,
        side: fill.side,
        role: fill.role,
        price: fill.price.decimal(on.price_scale),
        quantity: fill.quantity.decimal(on.quantity_scale),
        notional: fill.notional.decimal(on.quote.scale),
        fee: fill.fee.decimal(on.quote.scale),
        fee_currency: on.quote.code,
        seq: fill.at.seq,
        time: fill.at.time,
    }
}

/// Appends the order events of an account; a trade of an account with itself has two.
pub(crate) fn order_event(
    events: &mut Vec<OrderEvent>,
    account: AccountId,
    event: &Event,
    names: &NameTable,
) {
    let listing = |instrument| names.instrument(instrument);
    let Some(order_event) = (match event {
        Event::Accepted(it) => listing(it.terms.instrument).map(|on| {
            let terms = &it.terms;
            OrderEvent::Accepted {
                order_id: it.order,
                instrument: on.symbol,
                client_order_id: named(terms.client_order_id),
                side: terms.side,
                kind: terms.kind,
                time_in_force: terms.time_in_force,
                post_only: terms.post_only,
                cancel_on_disconnect: terms.handling.cancel_on_disconnect,
                capacity: terms.handling.capacity,
                price: limit(terms, terms.price, on.price_scale),
                quantity: match terms.size {
                    OrderSize::Base(quantity) => Some(quantity.decimal(on.quantity_scale)),
                    OrderSize::Quote(_) => None,
                },
                quote_amount: match terms.size {
                    OrderSize::Base(_) => None,
                    OrderSize::Quote(amount) => Some(amount.decimal(on.quote.scale)),
                },
                minimum_quantity: (terms.minimum_quantity != Quantity::ZERO)
                    .then(|| terms.minimum_quantity.decimal(on.quantity_scale)),
                reserved: it.reserved.decimal(reserve_scale(terms.side, on)),
                expire_at: (terms.expire_at != Timestamp::ZERO).then_some(terms.expire_at),
                resting: it.rests,
            }
        }),
        Event::TriggerSet(it) => listing(it.instrument).map(|on| OrderEvent::TriggerSet {
            order_id: it.order,
            instrument: on.symbol,
            trigger: it.trigger.kind,
            trigger_price: it.trigger.price.decimal(on.price_scale),
        }),
        Event::TrailSet(it) => listing(it.instrument).map(|on| OrderEvent::TrailSet {
            order_id: it.order,
            instrument: on.symbol,
            trail: trail_info(&it.trail, on),
        }),
        Event::TrailActivated(it) => listing(it.instrument).map(|on| OrderEvent::TrailActivated {
            order_id: it.order,
            instrument: on.symbol,
            extreme_price: it.extreme.decimal(on.price_scale),
        }),
        Event::IcebergSet(it) => listing(it.instrument).map(|on| OrderEvent::IcebergSet {
            order_id: it.order,
            instrument: on.symbol,
            display_quantity: it.display_quantity.decimal(on.quantity_scale),
        }),
        Event::IcebergRefreshed(it) => {
            listing(it.instrument).map(|on| OrderEvent::IcebergRefreshed {
                order_id: it.order,
                instrument: on.symbol,
                price: it.price.decimal(on.price_scale),
                displayed: it.displayed.decimal(on.quantity_scale),
            })
        }
        Event::ExitsSet(it) => listing(it.instrument).map(|on| OrderEvent::ExitsSet {
            order_id: it.order,
            instrument: on.symbol,
            take_profit: it.take_profit.map(|leg| exit_info(&leg, on)),
            stop_loss: it.stop_loss.map(|leg| exit_info(&leg, on)),
        }),
        Event::OrdersLinked(it) => listing(it.instrument).map(|on| OrderEvent::OrdersLinked {
            list: it.list,
            instrument: on.symbol,
            take_profit: Some(it.take_profit).filter(|order| *order != OrderId::default()),
            stop_loss: Some(it.stop_loss).filter(|order| *order != OrderId::default()),
        }),
        Event::ExitsRefused(it) => listing(it.instrument).map(|on| OrderEvent::ExitsRefused {
            order_id: it.order,
            instrument: on.symbol,
            reason: it.reason,
        }),
        Event::Triggered(it) => listing(it.instrument).map(|on| OrderEvent::Triggered {
            order_id: it.order,
            instrument: on.symbol,
            price: it.price.decimal(on.price_scale),
            remaining: it.remaining.decimal(on.quantity_scale),
        }),
        Event::Rested(it) => listing(it.instrument).map(|on| OrderEvent::Rested {
            order_id: it.order,
            instrument: on.symbol,
            price: it.price.decimal(on.price_scale),
            remaining: it.remaining.decimal(on.quantity_scale),
        }),
        Event::Trade(it) => {
            let Some(on) = listing(it.instrument) else { return };
            if it.maker_account == account {
                events.push(traded(it, Role::Maker, on));
            }
            (it.taker_account == account).then(|| traded(it, Role::Taker, on))
        }
        Event::Reduced(it) => listing(it.instrument).map(|on| OrderEvent::Reduced {
            order_id: it.order,
            instrument: on.symbol,
            reason: it.reason,
            by: it.by.decimal(on.quantity_scale),
            remaining: it.remaining.decimal(on.quantity_scale),
        }),
        Event::Amended(it) => listing(it.instrument).map(|on| OrderEvent::Amended {
            order_id: it.order,
            instrument: on.symbol,
            price: it.price.decimal(on.price_scale),
            quantity: it.quantity.decimal(on.quantity_scale),
            remaining: it.remaining.decimal(on.quantity_scale),
        }),
        Event::Done(it) => listing(it.instrument).map(|on| OrderEvent::Done {
            order_id: it.order,
            instrument: on.symbol,
            reason: it.reason,
            remaining: it.remaining.decimal(on.quantity_scale),
        }),
        Event::Rejected(it) => Some(OrderEvent::Rejected {
            command: match it.command {
                CommandKind::Cancel | CommandKind::Amend | CommandKind::MassCancel => it.command,
                CommandKind::AmendTrigger => CommandKind::Amend,
                _ => CommandKind::Place,
            },
            reason: it.reason,
            order_id: (it.order != OrderId::default()).then_some(it.order),
            client_order_id: named(it.client_order_id),
            instrument: listing(it.instrument).map(|on| on.symbol),
        }),
        _ => None,
    }) else {
        return;
    };
    events.push(order_event);
}

fn traded(trade: &Trade, role: Role, on: &Listing) -> OrderEvent {
    let (order_id, fee, remaining) = match role {
        Role::Taker => (trade.taker_order, trade.taker_fee, trade.taker_remaining),
        _ => (trade.maker_order, trade.maker_fee, trade.maker_remaining),
    };
    let role = if trade.auction { Role::Auction } else { role };
    OrderEvent::Traded {
        order_id,
        instrument: on.symbol,
        trade_id: trade.trade,
        role,
        price: trade.price.decimal(on.price_scale),
        quantity: trade.quantity.decimal(on.quantity_scale),
        notional: trade.notional.decimal(on.quote.scale),
        fee: fee.decimal(on.quote.scale),
        fee_currency: on.quote.code,
        remaining: remaining.decimal(on.quantity_scale),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::{Currency, CurrencyId};

    #[test]
    fn an_average_price_is_exact_or_rounded_half_away_from_zero() {
        let scale = |places| Scale::new(places).unwrap();
        let currency = |code: &str, places| Currency {
            id: CurrencyId(1),
            code: code.parse().unwrap(),
            scale: scale(places),
        };
        let on = |quote_places| Listing {
            id: Default::default(),
            symbol: "BTC-USD".parse().unwrap(),
            base: currency("BTC", 8),
            quote: currency("USD", quote_places),
            price_scale: scale(2),
            quantity_scale: scale(4),
        };
        let average = |notional, filled, places| {
            average(Amount(notional), Quantity(filled), &on(places)).map(|price| price.0)
        };
        // 0.1000 at 64,000.00 is 6,400.000000, whatever the scale of the currency.
        assert_eq!(average(6_400_000_000, 1_000, 6), Some(6_400_000));
        assert_eq!(average(6_400, 1_000, 0), Some(6_400_000));
        assert_eq!(average(6_400 * 10_i128.pow(8), 1_000, 8), Some(6_400_000));
        // 1.00, 1.00 and 1.01 for 0.0001 each; then half a cent.
        assert_eq!(average(301, 3, 6), Some(100));
        assert_eq!(average(201, 2, 6), Some(101));
        assert_eq!(average(0, 0, 6), None);
        assert_eq!(average(i128::MAX, 1, 0), None);
    }
}
