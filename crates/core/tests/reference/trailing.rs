//! Trailing stops: after each trade every one of them is moved.

use super::arithmetic::{largest, price, smallest};
use super::entry::{Verdict, demand};
use super::{Listed, Reference};
use rialto_model::{
    Distance, Event, NewOrder, OrderId, Price, RejectReason, Side, TrailActivated, TrailState,
    TrailTerms,
};

/// How a trailing stop follows the price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follows {
    pub trail: TrailTerms,
    /// Which of all prices that did something to waiting orders made it active.
    pub since: Option<u64>,
    /// The farthest price since then, in the direction that it follows.
    pub extreme: Option<Price>,
    /// Whether an event has said that it is active.
    pub told: bool,
}

/// A trigger price that no price reaches.
pub fn never(side: Side) -> Price {
    if side == Side::Buy { Price::MAX } else { Price::ZERO }
}

/// The trigger price at a distance from a price, on the tick behind it.
fn trigger_at(side: Side, distance: Distance, from: Price, tick: Price) -> Option<Price> {
    let million = 1_000_000;
    let (from, tick) = (i128::from(from.0), i128::from(tick.0));
    let is_far_enough = |ticks: i128| {
        let away = if side == Side::Buy { ticks * tick - from } else { from - ticks * tick };
        match distance {
            Distance::Price(distance) => away >= i128::from(distance.0),
            Distance::Ppm(ppm) => away * million >= from * i128::from(ppm),
        }
    };
    let most = i128::from(i64::MAX) / tick;
    let ticks = match side {
        Side::Buy => smallest(1, most, is_far_enough),
        Side::Sell => largest(1, most, is_far_enough),
    };
    ticks.and_then(|ticks| price(ticks * tick))
}

impl Follows {
    pub fn new(trail: TrailTerms) -> Follows {
        Follows { trail, since: None, extreme: None, told: false }
    }

    /// Takes a price. Returns whether it makes the order active.
    pub fn look(&mut self, side: Side, last: Price, number: u64, stands_still: bool) -> bool {
        let starts_at = self.trail.activation_price;
        match self.extreme {
            None if side == Side::Sell && last < starts_at => false,
            None if side == Side::Buy && last > starts_at => false,
            None => {
                (self.since, self.extreme) = (Some(number), Some(last));
                true
            }
            Some(extreme) => {
                let farther = if side == Side::Sell { last > extreme } else { last < extreme };
                if farther && !stands_still {
                    self.extreme = Some(last);
                }
                false
            }
        }
    }

    pub fn trigger(&self, side: Side, tick: Price) -> Option<Price> {
        self.extreme.and_then(|extreme| trigger_at(side, self.trail.distance, extreme, tick))
    }

    /// As its owner sees it.
    pub fn state(&self) -> TrailState {
        TrailState { trail: self.trail, extreme: self.extreme.filter(|_| self.told) }
    }

    /// The place among the trailing stops that become active, until an event has said so.
    pub fn activation(&self, side: Side) -> Option<(u64, i64)> {
        let price = self.trail.activation_price.0;
        let nearest = if side == Side::Sell { price } else { -price };
        self.since.filter(|_| !self.told).map(|since| (since, nearest))
    }

    /// The order among those with one trigger price: behind all others, by units and size of the distance,
    /// and then as they became active.
    pub fn place(&self, side: Side) -> (u8, i64, u64, i64) {
        let price = self.trail.activation_price.0;
        let nearest = if side == Side::Sell { price } else { -price };
        let (units, distance) = match self.trail.distance {
            Distance::Price(distance) => (1, distance.0),
            Distance::Ppm(ppm) => (2, i64::from(ppm)),
        };
        (units, distance, self.since.unwrap_or(0), nearest)
    }
}

impl Reference {
    pub(super) fn check_trail(&self, listed: &Listed, side: Side, trail: &TrailTerms) -> Verdict {
        let tick = listed.instrument.spec.rules.tick;
        let fits = match trail.distance {
            Distance::Price(distance) => listed.check_price(distance).is_ok(),
            Distance::Ppm(ppm) => ppm > 0 && ppm < 1_000_000,
        };
        demand(fits, RejectReason::TrailInvalid)?;
        let from = match (trail.activation_price, listed.last_price) {
            (Price::ZERO, Some(last)) => last,
            (price, _) => {
                let verdict = listed.check_price(price);
                verdict.map_err(|_| RejectReason::TriggerPriceInvalid)?;
                price
            }
        };
        let trigger = trigger_at(side, trail.distance, from, tick);
        demand(trigger.is_some(), RejectReason::TrailInvalid)
    }

    /// What an order follows, with the activation price in force.
    pub(super) fn resolved(&self, terms: &NewOrder, trail: &TrailTerms) -> TrailTerms {
        let last = self.listed(terms.instrument).expect("it was found").last_price;
        match trail.activation_price {
            Price::ZERO => {
                TrailTerms { activation_price: last.expect("the checks have passed"), ..*trail }
            }
            _ => *trail,
        }
    }

    /// The trigger price at the activation price.
    pub(super) fn first_trigger(&self, terms: &NewOrder, trail: &TrailTerms) -> Price {
        let tick = self.listed(terms.instrument).expect("it was found").instrument.spec.rules.tick;
        let from = self.resolved(terms, trail).activation_price;
        trigger_at(terms.side, trail.distance, from, tick).expect("the checks have passed")
    }

    /// Says that a trailing stop is active.
    pub(super) fn tell_activation(&mut self, id: OrderId) {
        let order = self.orders.iter_mut().find(|order| order.id == id).expect("it waits");
        let waits = order.waits.as_mut().expect("it waits");
        let follows = waits.follows.as_mut().expect("it follows the price");
        follows.told = true;
        let extreme = follows.extreme.expect("it is active");
        let activated = TrailActivated {
            order: id,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            extreme,
        };
        self.events.push(Event::TrailActivated(activated));
    }
}
