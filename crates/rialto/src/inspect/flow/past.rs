//! The venue's state before and after one command, and the command's events.

use crate::inspect::read_only::{self, JOURNAL_DIR};
use crate::inspect::{shown, utc};
use crate::tell_all;
use rialto_engine::{At, Core, KeyRing};
use rialto_log::{Reader, Verify};
use rialto_model::{
    AccountId, Amend, AmendTrigger, Command, Deposit, Distance, Event, InstrumentId, OrderId,
    OrderRef, Price, Quantity, Seq, Side, decode_attribution, decode_command,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A running venue may delete a file before it is read.
const ATTEMPTS: u32 = 3;
/// The most events to show of one command.
const EVENTS_MAX: usize = 20;

/// Past states of a venue, from its journal. Every command is looked up once.
pub(super) struct Past {
    data: PathBuf,
    keys: KeyRing,
    known: BTreeMap<Seq, Vec<String>>,
}

impl Past {
    pub(super) fn new(data: &Path, keys: KeyRing) -> Past {
        Past { data: data.to_owned(), keys, known: BTreeMap::new() }
    }

    /// The state before and after a command as lines; otherwise the reason why it is unavailable.
    pub(super) fn around(&mut self, seq: Seq) -> &[String] {
        let (data, keys) = (&self.data, &self.keys);
        self.known.entry(seq).or_insert_with(|| {
            let mut told = Err(String::new());
            for _ in 0..ATTEMPTS {
                told = around(data, keys, seq);
                if told.is_ok() {
                    break;
                }
            }
            told.unwrap_or_else(|why| vec![format!("the venue at sequence {seq}: {why}")])
        })
    }
}

fn around(data: &Path, keys: &KeyRing, seq: Seq) -> Result<Vec<String>, String> {
    let failed = |error: &dyn std::error::Error| tell_all(error);
    if seq.0 == 0 {
        return Err("there is no such sequence".to_owned());
    }
    let disk = read_only::open_beside(data).map_err(|error| failed(&error))?;
    let at = At::Seq(Seq(seq.0 - 1));
    let before = rialto_engine::replay_to(&disk, data, keys, at).map_err(|error| failed(&error))?;
    let (segments, _) =
        rialto_log::inspect(Arc::clone(&disk), &data.join(JOURNAL_DIR), Verify::Newest, keys)
            .map_err(|error| failed(&error))?;
    let mut reader = Reader::open(&segments, seq.0).map_err(|error| failed(&error))?;
    let group = reader.next_group().map_err(|error| failed(&error))?;
    let record = group.and_then(|group| group.into_iter().find(|(at, _)| *at == seq.0));
    let Some((_, record)) = record else {
        return Err("the journal does not reach it yet".to_owned());
    };
    let (attribution, record) = match decode_attribution(record).map_err(|error| failed(&error))? {
        Some((attribution, record)) => (Some(attribution), record),
        None => (None, record),
    };
    let (time, command) = decode_command(record).map_err(|error| failed(&error))?;

    // The objects that it changed are known only afterwards: hence two replays.
    let mut after =
        rialto_engine::replay_to(&disk, data, keys, at).map_err(|error| failed(&error))?;
    let mut events: Vec<Event> = Vec::new();
    after.apply_attributed(seq, time, &command, attribution.as_ref(), &mut events);
    let concerns = Concerns::of(&command, &events);
    let (was, is) = (concerns.facts(&before), concerns.facts(&after));
    let mut lines = vec![format!("the venue at sequence {seq}, {}", utc::show(time))];
    for (name, is) in &is {
        match was.iter().find(|(other, _)| other == name) {
            Some((_, was)) if was != is => lines.push(format!("  {name}: {was} → {is}")),
            Some(_) => lines.push(format!("  {name}: {is}")),
            None => lines.push(format!("  {name}: - → {is}")),
        }
    }
    for (name, was) in was.iter().filter(|(name, _)| is.iter().all(|(other, _)| other != name)) {
        lines.push(format!("  {name}: {was} → -"));
    }
    let told = events.iter().take(EVENTS_MAX).map(|event| format!("  {}", in_words(&after, event)));
    lines.extend(told);
    if events.len() > EVENTS_MAX {
        lines.push(format!("  … and {} more events", events.len() - EVENTS_MAX));
    }
    Ok(lines)
}

/// The objects whose state a command may change.
#[derive(Default)]
struct Concerns {
    account: Option<AccountId>,
    instrument: Option<InstrumentId>,
    order: Option<OrderId>,
}

impl Concerns {
    fn of(command: &Command, events: &[Event]) -> Concerns {
        let account = match command {
            Command::Place(order) => Some(order.account),
            Command::PlaceConditional(order) => Some(order.terms.account),
            Command::PlaceTrailing(order) => Some(order.terms.account),
            Command::PlaceIceberg(order) => Some(order.terms.account),
            Command::PlaceList(list) => Some(list.terms.account),
            Command::Amend(amend) => Some(amend.account),
            Command::AmendTrigger(change) => Some(change.amend.account),
            Command::MassCancel(which) => Some(which.account),
            Command::Deposit(Deposit { transfer, .. })
            | Command::Withdraw(transfer)
            | Command::HoldWithdrawal(transfer) => Some(transfer.account),
            Command::Cancel { account, .. }
            | Command::Disconnect { account }
            | Command::SetDeadMan { account, .. }
            | Command::SettleWithdrawal { account, .. }
            | Command::ReleaseWithdrawal { account, .. } => Some(*account),
            _ => None,
        };
        let mut concerns = Concerns { account, ..Concerns::default() };
        match command {
            Command::Place(order) => concerns.instrument = Some(order.instrument),
            Command::PlaceConditional(order) => {
                concerns.instrument = Some(order.terms.instrument);
            }
            Command::PlaceTrailing(order) => {
                concerns.instrument = Some(order.terms.instrument);
            }
            Command::PlaceIceberg(order) => {
                concerns.instrument = Some(order.terms.instrument);
            }
            Command::PlaceList(list) => concerns.instrument = Some(list.terms.instrument),
            // The order that it is linked with may be amended first.
            Command::Amend(Amend { order: OrderRef::Id(order), .. })
            | Command::AmendTrigger(AmendTrigger {
                amend: Amend { order: OrderRef::Id(order), .. },
                ..
            }) => concerns.order = Some(*order),
            _ => {}
        }
        for event in events {
            let (instrument, order) = match event {
                Event::Accepted(it) => (it.terms.instrument, it.order),
                Event::Trade(it) => (it.instrument, it.taker_order),
                Event::Done(it) => (it.instrument, it.order),
                Event::Amended(it) => (it.instrument, it.order),
                Event::TriggerSet(it) => (it.instrument, it.order),
                Event::Triggered(it) => (it.instrument, it.order),
                Event::TrailActivated(it) => (it.instrument, it.order),
                Event::Reduced(it) => (it.instrument, it.order),
                _ => continue,
            };
            concerns.instrument.get_or_insert(instrument);
            concerns.order.get_or_insert(order);
        }
        concerns
    }

    /// The state by name.
    fn facts(&self, core: &Core) -> Vec<(String, String)> {
        let mut facts = Vec::new();
        let account = self.account.and_then(|id| shown::account(core, id));
        if let (Some(id), Some(account)) = (self.account, account) {
            for balance in account["balances"].as_array().into_iter().flatten() {
                let text = |key: &str| plain(&balance[key]);
                let worth = |amount: &str| amount.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
                let (available, reserved) = (text("available"), text("reserved"));
                // An account that never held a currency is not worth a line for it.
                if worth(&available) || worth(&reserved) {
                    let name = format!("account {id}, {}", text("currency"));
                    facts.push((name, format!("{available} available, {reserved} reserved")));
                }
            }
            let open = plain(&account["open_orders"]);
            facts.push((format!("account {id}, open orders"), open));
        }
        let market = self.instrument.and_then(|id| core.instrument(id));
        if let Some(market) = market {
            let book = shown::book(core, &market, 1);
            for (side, best) in [("bids", "best bid"), ("asks", "best ask")] {
                let level = &book[side][0];
                let best_level = match level.is_null() {
                    true => "none".to_owned(),
                    false => format!("{} × {}", plain(&level["price"]), plain(&level["quantity"])),
                };
                facts.push((format!("{}, {best}", plain(&book["symbol"])), best_level));
            }
        }
        if let Some((id, view)) = self.order.and_then(|id| Some((id, core.order(id)?))) {
            let order = shown::order(core, &view);
            let (left, of) = (plain(&order["remaining"]), plain(&order["quantity"]));
            facts.push((format!("order {id}"), format!("{left} of {of} open")));
        }
        facts
    }
}

/// An event in one line: orders and trades in words, others as `rialto journal` shows them.
fn in_words(core: &Core, event: &Event) -> String {
    let scales = |id: InstrumentId| core.instrument(id).map(|market| &market.instrument.spec);
    let at = |id: InstrumentId, price: Price| match scales(id) {
        Some(spec) => price.decimal(spec.price_scale).to_string(),
        None => price.0.to_string(),
    };
    let of = |id: InstrumentId, quantity: Quantity| match scales(id) {
        Some(spec) => quantity.decimal(spec.quantity_scale).to_string(),
        None => quantity.0.to_string(),
    };
    let side = |side: Side| match side {
        Side::Buy => "buy",
        Side::Sell => "sell",
    };
    match event {
        Event::Accepted(it) => {
            let terms = &it.terms;
            let on = terms.instrument;
            let (price, side) = (at(on, terms.price), side(terms.side));
            format!("accepted: order {}, {side} at {price}", it.order)
        }
        Event::Trade(it) => {
            let (price, quantity) = (at(it.instrument, it.price), of(it.instrument, it.quantity));
            let (taker, maker) = (it.taker_order, it.maker_order);
            let left = of(it.instrument, it.maker_remaining);
            format!(
                "fill: {quantity} at {price}, order {taker} took from order {maker}, which has {left} left"
            )
        }
        Event::Rested(it) => {
            format!("rested: order {} in the book at {}", it.order, at(it.instrument, it.price))
        }
        Event::Amended(it) => {
            let (left, price) = (of(it.instrument, it.remaining), at(it.instrument, it.price));
            format!("amended: order {}, {left} at {price}", it.order)
        }
        Event::TriggerSet(it) => {
            let price = at(it.instrument, it.trigger.price);
            format!("waits: order {}, {} at {price}", it.order, word(&it.trigger.kind))
        }
        Event::TrailSet(it) => {
            let from = at(it.instrument, it.trail.activation_price);
            let distance = match it.trail.distance {
                Distance::Price(distance) => at(it.instrument, distance),
                Distance::Ppm(ppm) => format!("{ppm} ppm"),
            };
            format!("waits: order {}, trails by {distance} from {from} on", it.order)
        }
        Event::TrailActivated(it) => {
            format!("follows the price: order {} from {}", it.order, at(it.instrument, it.extreme))
        }
        Event::IcebergSet(it) => {
            let most = of(it.instrument, it.display_quantity);
            format!("iceberg: order {} displays at most {most}", it.order)
        }
        Event::IcebergRefreshed(it) => {
            let (displayed, price) = (of(it.instrument, it.displayed), at(it.instrument, it.price));
            format!("displays a new part: order {}, {displayed} at {price}", it.order)
        }
        Event::ExitsSet(it) => {
            let exits = [("take-profit", it.take_profit), ("stop-loss", it.stop_loss)];
            let exits = exits.into_iter().filter_map(|(name, exit)| Some((name, exit?)));
            let told = exits.map(|(name, exit)| match exit.nearest_price() {
                Some(price) => format!("{name} at {}", at(it.instrument, price)),
                None => format!("{name} that trails"),
            });
            let told: Vec<_> = told.collect();
            format!("exits: order {} has a {}", it.order, told.join(" and a "))
        }
        Event::OrdersLinked(it) => {
            let orders = [it.take_profit, it.stop_loss];
            let orders = orders.into_iter().filter(|order| *order != OrderId::default());
            let orders: Vec<_> = orders.map(|order| format!("order {order}")).collect();
            format!("linked: {} of list {}", orders.join(" and "), it.list)
        }
        Event::ExitsRefused(it) => {
            format!("exits of order {} refused: {}", it.order, word(&it.reason))
        }
        Event::Triggered(it) => {
            format!("triggered: order {} at {}", it.order, at(it.instrument, it.price))
        }
        Event::Done(it) => {
            let left = of(it.instrument, it.remaining);
            format!("ended: order {} with {left} left ({})", it.order, word(&it.reason))
        }
        Event::Rejected(it) => format!("refused: {}", word(&it.reason)),
        Event::Attributed(it) if it.attribution.reason.is_empty() => {
            format!("sent by {}", it.attribution.by)
        }
        Event::Attributed(it) => {
            format!("sent by {}: {}", it.attribution.by, it.attribution.reason)
        }
        other => serde_json::json!(other).to_string(),
    }
}

fn word(reason: &impl serde::Serialize) -> String {
    plain(&serde_json::json!(reason)).replace('_', " ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}
