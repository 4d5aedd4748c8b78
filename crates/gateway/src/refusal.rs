//! Adds values and limits to the errors of rejected orders.

mod amendment;
mod linked;

pub(crate) use amendment::of_amendment;

use crate::ApiError;
use crate::gate::Gate;
use rialto_bus::Context;
use rialto_desk::{Freshness, GetBalances, GetInstrument, GetTicker, InstrumentSummary, Listing};
use rialto_model::{
    AccountId, Amount, Command, DistanceKind, Iceberg, Instrument, LinkKind, NewOrder, OrderKind,
    OrderList, OrderSize, PostOnly, Price, Quantity, RejectReason, Side, TimeInForce, Timestamp,
    TrailTerms,
};

/// The parts of an order that a reject may be about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) account: AccountId,
    pub(crate) side: Side,
    pub(crate) kind: OrderKind,
    pub(crate) time_in_force: TimeInForce,
    pub(crate) post_only: PostOnly,
    /// The expiry; 0 is none.
    pub(crate) expire_at: Timestamp,
    pub(crate) price: Option<Price>,
    pub(crate) quantity: Option<Quantity>,
    /// The minimum quantity that must trade at once; 0 is none.
    pub(crate) minimum_quantity: Quantity,
    /// What it was to wait for, if it was a conditional order.
    pub(crate) condition: Option<Condition>,
    /// The trigger price, if it was given.
    pub(crate) trigger_price: Option<Price>,
    /// The most that it was to display, if it was an iceberg.
    pub(crate) display_quantity: Option<Quantity>,
    /// The orders that are linked with it.
    pub(crate) list: Option<OrderList>,
}

impl Asked {
    /// Whether it is for a session, and none was given to it.
    fn lacks_session(&self) -> bool {
        self.time_in_force == TimeInForce::Gfs && self.expire_at == Timestamp::ZERO
    }

    /// The same with what a command has beside the terms of the order.
    pub(crate) fn with_extension(self, command: &Command) -> Asked {
        let mut asked = self;
        match command {
            Command::PlaceConditional(order) => {
                asked.condition = Some(Condition::Trigger);
                asked.trigger_price = Some(order.trigger.price);
            }
            Command::PlaceTrailing(order) => asked.condition = Some(Condition::trail(&order.trail)),
            Command::PlaceIceberg(order) => asked.display_quantity = Some(order.display_quantity),
            Command::PlaceList(list) => {
                asked.condition = list.condition.as_ref().map(Condition::of);
                asked.trigger_price = list.condition.as_ref().and_then(trigger_price_of);
                asked.list = Some(*list);
            }
            _ => {}
        }
        asked
    }
}

/// The parts of an order that a reject may be about.
pub(crate) fn asked_of(order: &NewOrder) -> Asked {
    let NewOrder { account, side, kind, time_in_force, post_only, expire_at, price, .. } = *order;
    let quantity = match order.size {
        OrderSize::Base(quantity) => Some(quantity),
        OrderSize::Quote(_) => None,
    };
    let price = Some(price).filter(|price| *price != Price::ZERO);
    let minimum_quantity = order.minimum_quantity;
    Asked {
        account,
        side,
        kind,
        time_in_force,
        post_only,
        expire_at,
        price,
        quantity,
        minimum_quantity,
        condition: None,
        trigger_price: None,
        display_quantity: None,
        list: None,
    }
}

/// What a conditional order waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// A trigger price.
    Trigger,
    /// A trailing stop: the units of its distance, and whether the request has an activation price.
    Trail(DistanceKind, bool),
}

/// The trigger price that an order waits for.
fn trigger_price_of(condition: &rialto_model::Condition) -> Option<Price> {
    match condition {
        rialto_model::Condition::Trigger(trigger) => Some(trigger.price),
        rialto_model::Condition::Trail(_) => None,
    }
}

impl Condition {
    fn of(condition: &rialto_model::Condition) -> Condition {
        match condition {
            rialto_model::Condition::Trigger(_) => Condition::Trigger,
            rialto_model::Condition::Trail(trail) => Condition::trail(trail),
        }
    }

    fn trail(trail: &TrailTerms) -> Condition {
        Condition::Trail(trail.distance.kind(), trail.activation_price != Price::ZERO)
    }
}

/// Why the engine refused a command, if it did.
fn reason_of(error: &ApiError) -> Option<RejectReason> {
    error.seq?;
    RejectReason::ALL.iter().copied().find(|reason| reason.code() == error.code)
}

/// The same error with value and limit in its message, for rejects about a limit. The limits are
/// the present ones, which may have changed since the decision.
pub(crate) async fn with_limits(
    gate: &Gate,
    cx: &Context<'_>,
    asked: &Asked,
    on: &Listing,
    error: ApiError,
) -> ApiError {
    let Some(reason) = reason_of(&error) else { return error };
    if reason == RejectReason::InvalidCombination {
        if let Some((field, message)) = asked.list.as_ref().and_then(linked::combination) {
            return ApiError { message: message.into(), ..error.of(field) };
        }
        let (field, message) = combination(asked);
        return ApiError { message: message.into(), ..error.of(field) };
    }
    if reason == RejectReason::WrongPhase {
        return error.of(field_out_of_phase(asked));
    }
    let (mut error, mut asked) = (error, *asked);
    let question = GetInstrument { instrument: on.id };
    let summary = gate.read(cx, question, Freshness::Now).await.ok().map(|found| found.answer);
    let mut within = None;
    if let (Some(list), Some(summary)) = (asked.list, &summary) {
        if reason == RejectReason::ExitPriceInvalid {
            let (field, message) = linked::prices(&asked, &list, on);
            return ApiError { message: message.into(), ..error.of(field) };
        }
        let is_pair = list.kind == LinkKind::Oco;
        if reason == RejectReason::WouldCross && is_pair && asked.post_only == PostOnly::Off {
            return ApiError { message: linked::WOULD_TRADE.into(), ..error.of("price") };
        }
        if let Some((field, leg, of_leg)) = linked::leg_of(reason, &asked, &list, summary) {
            error.field = linked::field_of(reason, &leg).map(Into::into);
            (asked, within) = (of_leg, Some(field));
        }
    }
    let error = of_one(gate, cx, reason, &asked, on, summary.as_ref(), error).await;
    match within {
        Some(field) => error.within(field),
        None => error,
    }
}

/// The same for the reject of one order.
async fn of_one(
    gate: &Gate,
    cx: &Context<'_>,
    reason: RejectReason,
    asked: &Asked,
    on: &Listing,
    summary: Option<&InstrumentSummary>,
    error: ApiError,
) -> ApiError {
    if let Some(Condition::Trail(kind, given)) = asked.condition {
        match reason {
            RejectReason::TrailInvalid if kind == DistanceKind::Ppm => {
                return error.of("trail_ppm");
            }
            RejectReason::TriggerPriceInvalid => {
                let message = match given {
                    true => "The activation price must be positive and a multiple of the tick.",
                    false => "The instrument has no last price: give an activation price.",
                };
                return ApiError { message: message.into(), ..error.of("activation_price") };
            }
            _ => {}
        }
    }
    let error = match reason == RejectReason::ExpiryInvalid && asked.lacks_session() {
        true => error.of("time_in_force"),
        false => error,
    };
    let Some(summary) = summary else { return error };
    let message = match reason {
        RejectReason::PriceOutsideCollar => collar(gate, cx, asked, on, &summary.instrument).await,
        RejectReason::InsufficientBalance => balance(gate, cx, asked, on, summary).await,
        reason => limit(reason, asked, on, summary),
    };
    match message {
        Some(message) => ApiError { message: message.into(), ..error },
        None => error,
    }
}

/// The field that does not go with the others, and why.
fn combination(asked: &Asked) -> (&'static str, String) {
    let (kind, in_force) = (asked.kind.name(), asked.time_in_force.name());
    let is_limit = asked.kind == OrderKind::Limit;
    let for_auction = asked.time_in_force.is_for_auction();
    let in_quote = asked.quantity.is_none();
    let trades_at_once = asked.time_in_force.trades_at_once();
    if asked.condition.is_some() {
        waiting_combination(asked)
    } else if asked.display_quantity.is_some() {
        iceberg_combination(asked)
    } else if let Some(message) = minimum_quantity(asked) {
        ("minimum_quantity", message)
    } else if asked.kind.takes_levels() && for_auction {
        ("time_in_force", format!("An order of kind {kind} takes part in no auction."))
    } else if asked.kind.takes_levels() && asked.price.is_some_and(|price| price != Price::ZERO) {
        ("price", format!("An order of kind {kind} has no price: the book gives it one."))
    } else if asked.post_only != PostOnly::Off && (trades_at_once || for_auction) {
        let message = format!("An order with time_in_force {in_force} cannot be post_only.");
        ("post_only", message)
    } else if asked.post_only != PostOnly::Off && !is_limit {
        ("post_only", format!("An order of kind {kind} cannot be post_only."))
    } else if in_quote && is_limit {
        ("quote_amount", "A limit order has no quote_amount.".to_owned())
    } else if in_quote {
        ("quote_amount", format!("An order with time_in_force {in_force} has a quantity only."))
    } else if for_auction {
        ("price", format!("A market order with time_in_force {in_force} has no price."))
    } else if asked.kind == OrderKind::FiveLevels {
        let message = format!(
            "The time_in_force of an order of kind {kind} is {in_force}; before rules version 10 it \
             must be ioc or fok."
        );
        ("time_in_force", message)
    } else {
        let message = format!(
            "The time_in_force of a market order is {in_force}; before rules version 5 it must be \
             ioc or fok, or for an auction at_open, at_close or gfa."
        );
        ("time_in_force", message)
    }
}

/// The same of a conditional order.
fn waiting_combination(asked: &Asked) -> (&'static str, String) {
    let (field, what) = if asked.quantity.is_none() {
        ("quote_amount", "quote_amount".to_owned())
    } else if asked.minimum_quantity != Quantity::ZERO {
        ("minimum_quantity", "minimum_quantity".to_owned())
    } else if asked.post_only != PostOnly::Off {
        ("post_only", "post_only".to_owned())
    } else if asked.kind.takes_levels() {
        ("kind", format!("kind {}", asked.kind.name()))
    } else if asked.kind == OrderKind::Market
        && asked.price.is_some_and(|price| price != Price::ZERO)
    {
        return ("price", "A trailing stop that is a market order has no price.".to_owned());
    } else {
        ("time_in_force", format!("time_in_force {}", asked.time_in_force.name()))
    };
    (field, format!("A conditional order cannot have {what}."))
}

/// The same of an iceberg.
fn iceberg_combination(asked: &Asked) -> (&'static str, String) {
    let (field, what) = if asked.kind != OrderKind::Limit {
        ("kind", format!("kind {}", asked.kind.name()))
    } else if asked.quantity.is_none() {
        ("quote_amount", "quote_amount".to_owned())
    } else if asked.minimum_quantity != Quantity::ZERO {
        ("minimum_quantity", "minimum_quantity".to_owned())
    } else {
        ("time_in_force", format!("time_in_force {}", asked.time_in_force.name()))
    };
    (field, format!("An order with a display_quantity cannot have {what}."))
}

/// Why what an iceberg was to display is not allowed.
fn display_quantity(asked: &Asked, on: &Listing, lot: Quantity) -> Option<String> {
    let (display, quantity) = (asked.display_quantity?, asked.quantity?);
    let said = |quantity: Quantity| quantity.decimal(on.quantity_scale);
    let wrong = if display <= Quantity::ZERO {
        "is not above zero".to_owned()
    } else if display.0 % lot.0 != 0 {
        format!("is not a multiple of the lot {}", said(lot))
    } else if display >= quantity {
        format!("is not below the quantity {}", said(quantity))
    } else if Iceberg::is_allowed(display, quantity) {
        return None;
    } else {
        format!("is below a hundredth of the quantity {}", said(quantity))
    };
    Some(format!("The display_quantity {} {wrong}.", said(display)))
}

/// Why the minimum quantity that must trade at once does not go with the order.
fn minimum_quantity(asked: &Asked) -> Option<String> {
    let (least, in_force) = (asked.minimum_quantity, asked.time_in_force);
    if least == Quantity::ZERO {
        return None;
    }
    let Some(quantity) = asked.quantity else {
        return Some("An order with a quote_amount has no minimum_quantity.".to_owned());
    };
    if !(Quantity(1)..=quantity).contains(&least) {
        return Some("The minimum_quantity is above zero and at most the quantity.".to_owned());
    }
    if in_force == TimeInForce::Fok || in_force.is_for_auction() {
        let name = in_force.name();
        return Some(format!("An order with time_in_force {name} has no minimum_quantity."));
    }
    let message = "An order that is post_only has no minimum_quantity.".to_owned();
    (asked.post_only != PostOnly::Off).then_some(message)
}

/// The field that the phase does not accept.
fn field_out_of_phase(asked: &Asked) -> &'static str {
    let time_in_force = asked.time_in_force;
    // Every phase that accepts orders accepts a limit order that rests and is for no auction.
    let is_plain = !time_in_force.trades_at_once() && !time_in_force.is_for_auction();
    match (is_plain, asked.kind) {
        _ if asked.minimum_quantity != Quantity::ZERO => "minimum_quantity",
        (true, OrderKind::Limit) if asked.post_only != PostOnly::Off => "post_only",
        (true, OrderKind::Limit) | (false, _) => "time_in_force",
        (true, _) => "kind",
    }
}

fn limit(
    reason: RejectReason,
    asked: &Asked,
    on: &Listing,
    summary: &InstrumentSummary,
) -> Option<String> {
    let InstrumentSummary { instrument, terms, .. } = summary;
    let rules = &instrument.spec.rules;
    let price = || asked.price.map(|price| price.decimal(on.price_scale));
    let quantity = || asked.quantity.map(|quantity| quantity.decimal(on.quantity_scale));
    let notional = || instrument.notional(asked.price?, asked.quantity?);
    Some(match reason {
        RejectReason::PriceOffTick => {
            let tick = rules.tick.decimal(on.price_scale);
            format!("The price {} is not a multiple of the tick {tick}.", price()?)
        }
        RejectReason::TriggerPriceInvalid => {
            let (price, tick) = (asked.trigger_price?, rules.tick);
            let said = price.decimal(on.price_scale);
            if price <= Price::ZERO {
                format!("The trigger price {said} is not above zero.")
            } else if price.0 % tick.0 != 0 {
                let tick = tick.decimal(on.price_scale);
                format!("The trigger price {said} is not a multiple of the tick {tick}.")
            } else {
                return None;
            }
        }
        RejectReason::QuantityOffLot => {
            let lot = rules.lot.decimal(on.quantity_scale);
            format!("The quantity {} is not a multiple of the lot {lot}.", quantity()?)
        }
        RejectReason::QuantityTooLarge if asked.quantity? > rules.quantity_max => {
            let max = rules.quantity_max.decimal(on.quantity_scale);
            format!("The quantity {} exceeds the instrument's largest order, {max}.", quantity()?)
        }
        RejectReason::QuantityBelowFilled => {
            let quantity = quantity()?;
            format!("The new quantity {quantity} is not above the quantity that has traded.")
        }
        RejectReason::DisplayQuantityInvalid => display_quantity(asked, on, rules.lot)?,
        RejectReason::ExpiryInvalid if asked.time_in_force == TimeInForce::Gtd => {
            let expire_at = asked.expire_at;
            format!("The field expire_at is {expire_at}; with gtd it must be in the future.")
        }
        RejectReason::ExpiryInvalid if asked.lacks_session() => {
            "No session of the instrument ends: gfs needs a calendar with planned transitions."
                .to_owned()
        }
        RejectReason::ExpiryInvalid => {
            let in_force = asked.time_in_force.name();
            format!("An order with time_in_force {in_force} has no expire_at; only gtd has one.")
        }
        RejectReason::NotionalTooSmall => {
            let (min, code) = (rules.notional_min.decimal(on.quote.scale), on.quote.code);
            match notional().filter(|it| *it < rules.notional_min) {
                Some(notional) => {
                    let notional = notional.decimal(on.quote.scale);
                    format!("Price times quantity is {notional} {code}; the least is {min} {code}.")
                }
                // Of an order without a price, or of another one of its list.
                None => format!("The order is worth less than {min} {code}, the least."),
            }
        }
        RejectReason::NotionalTooLarge if terms.notional_max != Amount::ZERO => {
            let (max, code) = (terms.notional_max.decimal(on.quote.scale), on.quote.code);
            match notional().filter(|it| *it > terms.notional_max) {
                Some(notional) => {
                    let notional = notional.decimal(on.quote.scale);
                    format!("Price times quantity is {notional} {code}; the most is {max} {code}.")
                }
                None => format!("The order is worth more than {max} {code}, the most."),
            }
        }
        RejectReason::OpenOrdersLimit => {
            let (max, symbol) = (rules.open_orders_max, on.symbol);
            let is_pair = asked.list.is_some_and(|list| list.kind == LinkKind::Oco);
            match is_pair {
                true => format!(
                    "An account has at most {max} open orders of {symbol}; a pair needs room for two."
                ),
                false => format!(
                    "The account has {max} open orders of {symbol}, the most that it may have."
                ),
            }
        }
        RejectReason::InstrumentHalted => {
            format!("{} is halted: only cancels are accepted.", on.symbol)
        }
        RejectReason::InstrumentClosed => format!("{} is closed.", on.symbol),
        _ => return None,
    })
}

async fn collar(
    gate: &Gate,
    cx: &Context<'_>,
    asked: &Asked,
    on: &Listing,
    instrument: &Instrument,
) -> Option<String> {
    let rules = &instrument.spec.rules;
    let ticker =
        gate.read(cx, GetTicker { instrument: on.id }, Freshness::Now).await.ok()?.answer.ticker;
    let reference = ticker.last.unwrap_or(rules.reference_price).decimal(on.price_scale);
    let price = asked.price?.decimal(on.price_scale);
    let ppm = rules.collar_ppm;
    Some(format!("The price {price} is more than {ppm} millionths from the reference {reference}."))
}

async fn balance(
    gate: &Gate,
    cx: &Context<'_>,
    asked: &Asked,
    on: &Listing,
    summary: &InstrumentSummary,
) -> Option<String> {
    let InstrumentSummary { instrument, terms, .. } = summary;
    let question = GetBalances { account: asked.account };
    let balances = gate.read(cx, question, Freshness::Now).await.ok()?.answer;
    let (currency, needed) = match asked.side {
        Side::Buy => {
            let needed = asked.price.zip(asked.quantity);
            (
                &on.quote,
                needed.and_then(|(price, quantity)| terms.buy_reserve(instrument, price, quantity)),
            )
        }
        Side::Sell => (&on.base, asked.quantity.map(|it| instrument.base_amount(it))),
    };
    let available = balances.iter().find(|balance| balance.currency == currency.id);
    let available = available.map(|balance| balance.available).unwrap_or_default();
    let (available, code) = (available.decimal(currency.scale), currency.code);
    // Two orders need the larger of what each needs.
    let needed = needed.filter(|_| asked.list.is_none_or(|list| list.kind == LinkKind::Oto));
    Some(match needed.map(|needed| needed.decimal(currency.scale)) {
        Some(needed) => {
            format!("The order needs {needed} {code}; {available} {code} is available.")
        }
        None => format!("{available} {code} is available, and the order needs more."),
    })
}
