//! Parts of a past state as JSON, numbers as exact decimals.

use super::utc;
use rialto_core::InstrumentView;
use rialto_engine::{Core, OrderState};
use rialto_model::{
    AccountId, Amount, Condition, Decimal, Distance, InstrumentSpec, Leg, Price, Side, Timestamp,
    TriggerKind,
};
use serde_json::{Value, json};

/// The sequence and time of the state.
pub(super) fn moment(core: &Core) -> Value {
    json!({"seq": core.seq(), "time": utc::show(core.time())})
}

/// The phase of an instrument, and the best levels of both sides of its book, with what icebergs hide.
pub(super) fn book(core: &Core, market: &InstrumentView<'_>, depth: usize) -> Value {
    let instrument = market.instrument;
    let levels = |side: Side| -> Vec<Value> {
        let book = core.book(instrument.id).into_iter();
        let levels = book.flat_map(|book| book.levels(side)).take(depth);
        let level = |price: String, quantity: String, orders: u32| json!({"price": price, "quantity": quantity, "orders": orders});
        levels
            .map(|at| {
                let price = at.price.decimal(instrument.spec.price_scale).to_string();
                let quantity = at.quantity.decimal(instrument.spec.quantity_scale).to_string();
                level(price, quantity, at.orders)
            })
            .collect()
    };
    json!({
        "symbol": instrument.spec.symbol,
        "state": instrument.state,
        "calendar": (!market.calendar.is_empty()).then_some(market.calendar),
        "halted_until": market.halted_until.map(utc::show),
        "limit_state": market
            .limit_state
            .map(|(side, until)| format!("{} until {}", side.name(), utc::show(until))),
        "bids": levels(Side::Buy),
        "asks": levels(Side::Sell),
    })
}

/// An account with its balances and its open orders.
pub(super) fn account(core: &Core, id: AccountId) -> Option<Value> {
    let account = core.account(id)?;
    let balances: Vec<Value> = core
        .currencies()
        .iter()
        .filter_map(|currency| {
            let balance = core.balance(id, currency.id)?;
            let shown =
                |amount: Amount| Decimal { value: amount.0, scale: currency.scale }.to_string();
            Some(json!({
                "currency": currency.code,
                "available": shown(balance.available),
                "reserved": shown(balance.reserved),
            }))
        })
        .collect();
    let orders: Vec<Value> = core.orders_of(id).map(|view| order(core, &view)).collect();
    Some(json!({
        "account": id,
        "member": account.member,
        "name": account.name,
        "balances": balances,
        "open_orders": account.open_orders,
        "orders": orders,
    }))
}

/// An open order.
pub(super) fn order(core: &Core, view: &OrderState) -> Value {
    let market = core.instrument(view.instrument).expect("an open order is in a listed instrument");
    let spec = &market.instrument.spec;
    let quantity =
        |quantity: rialto_model::Quantity| quantity.decimal(spec.quantity_scale).to_string();
    let expire_at = (view.expire_at != Timestamp::MAX).then(|| utc::show(view.expire_at));
    let status = match view.trigger.is_some() || view.trail.is_some() {
        true => "waiting",
        false if view.remaining == view.quantity => "open",
        false => "partially_filled",
    };
    let mut shown = json!({
        "order": view.id,
        "status": status,
        "account": view.account,
        "symbol": spec.symbol,
        "side": view.side,
        "price": view.price.decimal(spec.price_scale).to_string(),
        "quantity": quantity(view.quantity),
        "remaining": quantity(view.remaining),
        "time_in_force": view.time_in_force,
        "post_only": view.post_only,
        "expire_at": expire_at,
        "client_order_id": view.client_order_id,
    });
    if let Some(trigger) = view.trigger {
        shown["trigger"] = json!(trigger.kind);
        shown["trigger_price"] = json!(trigger.price.decimal(spec.price_scale).to_string());
    }
    if let Some(state) = view.trail {
        let price = |price: Price| json!(price.decimal(spec.price_scale).to_string());
        match state.trail.distance {
            Distance::Price(distance) => shown["trail_distance"] = price(distance),
            Distance::Ppm(ppm) => shown["trail_ppm"] = json!(ppm),
        }
        shown["activation_price"] = price(state.trail.activation_price);
        if let Some(trigger) = state.trigger_price(view.side, spec.rules.tick) {
            shown["trigger"] = json!(TriggerKind::Stop);
            shown["trigger_price"] = price(trigger);
        }
    }
    if let Some(iceberg) = view.iceberg {
        shown["display_quantity"] = json!(quantity(iceberg.display_quantity));
        shown["displayed"] = json!(quantity(iceberg.displayed));
    }
    if let Some(links) = view.links {
        shown["list"] = json!(links.list);
        if let Some(other) = links.other {
            shown["linked_to"] = json!(other);
        }
        for (name, exit) in [("take_profit", links.take_profit), ("stop_loss", links.stop_loss)] {
            if let Some(exit) = exit {
                shown[name] = leg(&exit, spec);
            }
        }
    }
    shown
}

/// An exit that an order enters as it trades.
fn leg(leg: &Leg, spec: &InstrumentSpec) -> Value {
    let price = |price: Price| json!(price.decimal(spec.price_scale).to_string());
    let mut shown = json!({ "time_in_force": leg.time_in_force });
    match leg.condition {
        None => {}
        Some(Condition::Trigger(trigger)) => shown["trigger"] = price(trigger.price),
        Some(Condition::Trail(trail)) => {
            match trail.distance {
                Distance::Price(distance) => shown["trail_distance"] = price(distance),
                Distance::Ppm(ppm) => shown["trail_ppm"] = json!(ppm),
            }
            if trail.activation_price != Price::ZERO {
                shown["activation_price"] = price(trail.activation_price);
            }
        }
    }
    if leg.expire_at != Timestamp::ZERO {
        shown["expire_at"] = json!(leg.expire_at);
    }
    if leg.price != Price::ZERO {
        shown["price"] = price(leg.price);
    }
    shown
}
