//! Entry under a client order id: what is entered again gets the first answer.

use crate::client_ids::Extension;
use crate::{Core, EventSink};
use rialto_model::{Event, NewOrder, OrderId, OrderStatus, Outcome, Price, Quantity, RejectReason};

/// An order or a list that is entered under a client order id.
pub(crate) struct Named<'a> {
    /// The account's slot.
    pub(crate) account: u32,
    pub(crate) terms: &'a NewOrder,
    /// What must be equal, beside the terms, for a repetition.
    pub(crate) extension: Option<Extension>,
}

impl Core {
    /// Enters an order or a list under its client order id: `plan` checks it, and `enter` enters it, with
    /// [`Detail::client`](crate::orders::Detail::client) of its orders.
    #[inline]
    pub(crate) fn enter_named<P, S: EventSink>(
        &mut self,
        named: &Named<'_>,
        plan: impl FnOnce(&Core) -> Result<P, RejectReason>,
        enter: impl FnOnce(&mut Core, &P, u32, &mut S) -> Outcome,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let Named { account, terms, extension } = *named;
        if let Some(at) = self.client_ids.find(terms.account, &terms.client_order_id) {
            return self.repeat(at, terms, extension, sink);
        }
        let plan = plan(self);
        let first = match &plan {
            Ok(_) => first_answer(self.following_order_id()),
            Err(reason) => Outcome::Rejected { reason: *reason },
        };
        let at = self.client_ids.remember(account, terms, extension, first, plan.is_ok());
        let outcome = plan.map(|plan| {
            let outcome = enter(self, &plan, at + 1, sink);
            self.client_ids.settle(at, outcome);
            outcome
        });
        if self.rules_since(2) {
            self.client_ids.shrink();
        }
        outcome
    }

    /// Answers a client order id that is known, if the same was entered under it.
    fn repeat<S: EventSink>(
        &self,
        at: u32,
        terms: &NewOrder,
        extension: Option<Extension>,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let known = self.client_ids.get(at);
        if known.terms != *terms || known.extension != extension {
            return Err(RejectReason::ClientIdConflict);
        }
        let mut outcome = known.answer;
        let (mut order, mut reject) = (OrderId(0), None);
        match &mut outcome {
            Outcome::Order { order: first, repeated, .. } => {
                *repeated = true;
                order = *first;
            }
            Outcome::Rejected { reason } => reject = Some(*reason),
            _ => unreachable!("the answer to an order is an order or a refusal"),
        }
        let name = terms.client_order_id;
        sink.event(&Event::Repeated { account: terms.account, name, order, reject });
        Ok(outcome)
    }
}

/// The placeholder in the memory of client order ids until the first answer is known.
fn first_answer(order: OrderId) -> Outcome {
    Outcome::Order {
        order,
        status: OrderStatus::Open,
        price: Price::ZERO,
        filled: Quantity::ZERO,
        remaining: Quantity::ZERO,
        repeated: false,
    }
}
