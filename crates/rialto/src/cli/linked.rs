//! The arguments of linked orders, and how they are shown.

use super::order::{distance, in_percent};
use crate::Error;
use rialto_client::api::{ExitInfo, OrderInfo, OrderRequest, StopLossRequest, TakeProfitRequest};

/// Orders that are linked with the one that is entered.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Linked {
    /// Enter an exit as the order trades: for what has traded, a limit order of the other side at this price.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, conflicts_with_all = CONDITIONAL)]
    exit_profit: Option<String>,
    /// The exit waits until the last price is at this one or better. Without --exit-profit, it is a market order
    /// then.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, conflicts_with_all = CONDITIONAL)]
    exit_profit_trigger: Option<String>,
    /// Enter an exit as the order trades: for what has traded, a stop of the other side that waits until the last
    /// price is at this one or worse. With a take-profit exit: when one of both trades, the other ends.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, conflicts_with_all = CONDITIONAL)]
    exit_stop: Option<String>,
    /// The limit of the stop that is an exit; without it, that is a market order.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    exit_stop_limit: Option<String>,
    /// Instead of --exit-stop: the stop trails the last price at this distance, given as a price, or in percent as
    /// in 1.5%.
    #[arg(long, value_name = "DISTANCE", allow_hyphen_values = true, conflicts_with_all = ["exit_stop", "stop", "take_profit", "trail", "display"])]
    exit_stop_trail: Option<String>,
    /// With --exit-stop-trail: the activation price, from which on the stop follows the last price; by default the
    /// last price when the exit is entered.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, requires = "exit_stop_trail")]
    exit_stop_activation: Option<String>,
    /// Enter a pair: the order, and a stop of the same side and quantity that waits until the last price is at this
    /// one or worse. When one of both trades, is triggered or ends, the other ends.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, conflicts_with_all = EXITS)]
    oco_stop: Option<String>,
    /// The limit of the stop of the pair; without it, that is a market order.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    oco_limit: Option<String>,
    /// Instead of --oco-stop: the stop of the pair trails the last price at this distance, given as a price, or in
    /// percent as in 1.5%.
    #[arg(long, value_name = "DISTANCE", allow_hyphen_values = true, conflicts_with_all = ["oco_stop", "exit_profit", "exit_profit_trigger", "exit_stop", "exit_stop_trail", "stop", "trail", "display"])]
    oco_trail: Option<String>,
    /// With --oco-trail: the activation price, from which on the stop follows the last price; by default the last
    /// price now.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, requires = "oco_trail")]
    oco_activation: Option<String>,
}

/// An order with exits is neither conditional nor an iceberg.
const CONDITIONAL: [&str; 4] = ["stop", "take_profit", "trail", "display"];
/// An order of a pair is a limit order or a take-profit order, without exits.
const EXITS: [&str; 7] = [
    "exit_profit",
    "exit_profit_trigger",
    "exit_stop",
    "exit_stop_trail",
    "stop",
    "trail",
    "display",
];

impl Linked {
    pub(super) fn take_profit(&self) -> Option<TakeProfitRequest<'_>> {
        let (price, trigger) = (self.exit_profit.as_deref(), self.exit_profit_trigger.as_deref());
        let is_given = price.is_some() || trigger.is_some();
        is_given.then(|| TakeProfitRequest {
            trigger: trigger.map(Into::into),
            price: price.map(Into::into),
            ..TakeProfitRequest::default()
        })
    }

    pub(super) fn stop_loss(&self) -> Result<Option<StopLossRequest<'_>>, Error> {
        let stop = Stop {
            arguments: "--exit-stop or --exit-stop-trail",
            trigger: self.exit_stop.as_deref(),
            trail: distance("--exit-stop-trail", self.exit_stop_trail.as_deref())?,
            activation: self.exit_stop_activation.as_deref(),
            limit: self.exit_stop_limit.as_deref(),
        };
        stop.request()
    }

    pub(super) fn oco(&self) -> Result<Option<StopLossRequest<'_>>, Error> {
        let stop = Stop {
            arguments: "--oco-stop or --oco-trail",
            trigger: self.oco_stop.as_deref(),
            trail: distance("--oco-trail", self.oco_trail.as_deref())?,
            activation: self.oco_activation.as_deref(),
            limit: self.oco_limit.as_deref(),
        };
        stop.request()
    }
}

/// A stop as the arguments give it.
struct Stop<'a> {
    /// A limit needs one of these arguments.
    arguments: &'static str,
    trigger: Option<&'a str>,
    /// A distance as a price, or in millionths.
    trail: (Option<&'a str>, Option<u32>),
    activation: Option<&'a str>,
    limit: Option<&'a str>,
}

impl<'a> Stop<'a> {
    fn request(self) -> Result<Option<StopLossRequest<'a>>, Error> {
        let (trail_distance, trail_ppm) = self.trail;
        if self.trigger.is_none() && trail_distance.is_none() && trail_ppm.is_none() {
            return match self.limit {
                None => Ok(None),
                Some(_) => Err(Error::Usage(format!("a limit of a stop needs {}", self.arguments))),
            };
        }
        Ok(Some(StopLossRequest {
            trigger: self.trigger.map(Into::into),
            trail_distance: trail_distance.map(Into::into),
            trail_ppm,
            activation_price: self.activation.map(Into::into),
            price: self.limit.map(Into::into),
            ..StopLossRequest::default()
        }))
    }
}

/// What the orders that a request links are, in one line.
pub(super) fn told(request: &OrderRequest<'_>) -> Option<String> {
    if let Some(second) = &request.oco {
        return Some(format!("paired with a stop: {}", stop_told(second)));
    }
    let profit = request.take_profit.as_ref().map(|exit| {
        let trigger = exit.trigger.as_ref().map(|price| format!(" from {}", &**price));
        let price = exit.price.as_ref().map(|price| format!(" at {}", &**price));
        format!("take-profit{}{}", trigger.unwrap_or_default(), price.unwrap_or_default())
    });
    let stop = request.stop_loss.as_ref().map(|exit| format!("stop {}", stop_told(exit)));
    let exits: Vec<String> = profit.into_iter().chain(stop).collect();
    (!exits.is_empty()).then(|| format!("exits: {}", exits.join(", ")))
}

fn stop_told(stop: &StopLossRequest<'_>) -> String {
    let price = stop.price.as_ref().map(|price| format!(" at {}", &**price));
    let active = stop.activation_price.as_ref().map(|price| format!(" from {}", &**price));
    let waits = match (&stop.trigger, &stop.trail_distance, stop.trail_ppm) {
        (Some(trigger), ..) => format!("from {}", &**trigger),
        (None, Some(distance), _) => format!("trails {}", &**distance),
        (None, None, ppm) => format!("trails {}", in_percent(ppm.unwrap_or(0))),
    };
    format!("{waits}{}{}", active.unwrap_or_default(), price.unwrap_or_default())
}

/// What an order is linked with: another order, or the exits that it enters. Of one that has ended, its list.
pub(super) fn linked_with(order: &OrderInfo) -> Option<String> {
    let links = order.links.as_ref()?;
    if !order.status.is_open() {
        return Some(format!("list {}", links.list));
    }
    let exits: Vec<String> =
        [links.take_profit, links.stop_loss].iter().flatten().map(level).collect();
    Some(match links.linked_to {
        Some(other) => other.to_string(),
        None if exits.is_empty() => format!("exit of {}", links.list),
        None => format!("exits {}", exits.join(", ")),
    })
}

fn level(exit: &ExitInfo) -> String {
    match (exit.trigger.or(exit.price), exit.trail_distance, exit.trail_ppm) {
        (Some(price), ..) if exit.trail_distance.is_none() && exit.trail_ppm.is_none() => {
            price.to_string()
        }
        (_, Some(distance), _) => format!("trails {distance}"),
        (_, None, ppm) => format!("trails {}", in_percent(ppm.unwrap_or(0))),
    }
}
