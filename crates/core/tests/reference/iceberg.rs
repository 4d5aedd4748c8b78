//! Icebergs: what an order displays is used up tranche by tranche.

use super::auction::is_for_auction;
use super::entry::{Check, can_rest, demand};
use super::{Alteration, Entered, Order, Reference};
use rialto_model::{
    Event, IcebergOrder, IcebergRefreshed, OrderKind, OrderSize, Outcome, Quantity, RejectReason,
};

/// What an iceberg displays at most, and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    pub most: Quantity,
    pub shown: Quantity,
}

impl Parts {
    /// Shows as much as it may.
    pub fn begin(&mut self, remaining: Quantity) {
        self.shown = self.most.min(remaining);
    }
}

const BEFORE_MEMORY: [Check<IcebergOrder>; 3] = [
    ("command that the version knows", |venue, _| {
        demand(venue.rules_version >= 8, RejectReason::CommandUnknown)
    }),
    ("account", |venue, new| venue.account(new.terms.account).map(drop)),
    ("client order id (repeat, conflict)", |venue, new| {
        let before = venue.entered_before(&new.terms);
        let is_same = |first: Entered| {
            first.body == new.terms && first.displays == Some(new.display_quantity)
        };
        demand(before.is_none_or(is_same), RejectReason::ClientIdConflict)
    }),
];

const CHECKS: [Check<IcebergOrder>; 4] = [
    ("instrument", |venue, new| venue.listed(new.terms.instrument).map(drop)),
    ("combination of attributes", |_, new| {
        let terms = &new.terms;
        let contradictions = [
            terms.kind != OrderKind::Limit,
            matches!(terms.size, OrderSize::Quote(_)),
            terms.minimum_quantity != Quantity::ZERO,
            !can_rest(terms.time_in_force),
            is_for_auction(terms.time_in_force),
        ];
        demand(!contradictions.contains(&true), RejectReason::InvalidCombination)
    }),
    ("quantity", |venue, new| venue.listed(new.terms.instrument)?.check_quantity(quantity(new))),
    ("display quantity", |venue, new| {
        let listed = venue.listed(new.terms.instrument)?;
        let part = new.display_quantity;
        let is_valid = listed.check_quantity(part).is_ok();
        let is_part = is_valid && part < quantity(new) && has_few_parts(part, quantity(new));
        demand(is_part, RejectReason::DisplayQuantityInvalid)
    }),
];

/// The names of the checks of an iceberg before those of any order, in their order.
pub fn iceberg_checks() -> Vec<&'static str> {
    BEFORE_MEMORY.iter().chain(&CHECKS).map(|(name, _)| *name).collect()
}

fn quantity(new: &IcebergOrder) -> Quantity {
    match new.terms.size {
        OrderSize::Base(quantity) => quantity,
        OrderSize::Quote(_) => Quantity::ZERO,
    }
}

/// A quantity has at most a hundred parts.
pub(super) fn has_few_parts(part: Quantity, quantity: Quantity) -> bool {
    i128::from(quantity.0) <= 100 * i128::from(part.0)
}

impl Order {
    /// What it offers to the next order, of which `others` at its price are other orders.
    pub(super) fn offers(&self, others: usize) -> Quantity {
        match self.parts {
            Some(parts) if others > 0 => parts.shown,
            _ => self.remaining,
        }
    }

    /// Uses up what is shown; whether something new is in the end.
    pub(super) fn use_up(&mut self, mut traded: Quantity) -> bool {
        let Some(parts) = &mut self.parts else { return false };
        let mut hidden = Quantity(self.remaining.0 + traded.0 - parts.shown.0);
        let mut is_new = false;
        while traded.0 > 0 {
            let used = traded.min(parts.shown);
            traded.0 -= used.0;
            parts.shown.0 -= used.0;
            if parts.shown == Quantity::ZERO && hidden.0 > 0 {
                parts.begin(hidden);
                hidden.0 -= parts.shown.0;
                is_new = true;
            }
        }
        is_new && self.remaining.0 > 0
    }

    /// Shows no more than it has left.
    pub(super) fn hide_less(&mut self) {
        if let Some(parts) = &mut self.parts {
            parts.shown = parts.shown.min(self.remaining);
        }
    }
}

impl Reference {
    pub(super) fn place_iceberg(&mut self, new: &IcebergOrder) -> Result<Outcome, RejectReason> {
        let terms = &new.terms;
        BEFORE_MEMORY.iter().try_for_each(|(_, check)| check(self, new))?;
        if let Some(first) = self.entered_before(terms) {
            return Ok(self.repeat(terms, &first));
        }
        let verdict = CHECKS.iter().try_for_each(|(_, check)| check(self, new));
        let verdict = verdict.and_then(|()| self.check_new(terms));
        let answer = verdict.map(|()| self.accept(terms, Some(new.display_quantity), None, &mut 0));
        let is_kept = answer.is_ok() || !self.gets_wrong(Alteration::RejectForgotten);
        if is_kept && !terms.client_order_id.is_empty() {
            let answer = answer.unwrap_or_else(|reason| Outcome::Rejected { reason });
            let entered = Entered {
                body: *terms,
                condition: None,
                displays: Some(new.display_quantity),
                list: None,
                answer,
                in_window: true,
                finish: None,
            };
            self.account_mut(terms.account)?.entered.push(entered);
        }
        answer
    }

    /// Tells what an iceberg shows anew.
    pub(super) fn tell_new_tranche(&mut self, order: &Order) {
        self.events.push(Event::IcebergRefreshed(IcebergRefreshed {
            order: order.id,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            price: order.price,
            displayed: order.parts.expect("an iceberg shows parts").shown,
        }));
    }
}
