//! Amendments at the scales of the order's instrument.

use super::Placed;
use crate::{ApiError, decimal};
use rialto_api::AmendRequest;
use rialto_desk::Listing;
use rialto_feed::OrderView;
use rialto_model::{Amend, AmendTrigger, Command, OrderRef, Price};

/// An amendment, and the order as it was before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amendment {
    pub(crate) amend: Amend,
    /// The new trigger price, if it changes.
    pub(crate) trigger_price: Option<Price>,
    pub(crate) before: OrderView,
    pub(crate) listing: Listing,
}

impl Amendment {
    /// What a request asks of an order.
    pub(crate) fn of(
        request: &AmendRequest<'_>,
        order: OrderRef,
        before: OrderView,
        listing: Listing,
    ) -> Result<Amendment, ApiError> {
        let AmendRequest { price, quantity, trigger_price, .. } = request;
        let on = &listing;
        let price = price.as_ref().map(|text| decimal::price("price", text, on));
        let quantity = quantity.as_ref().map(|text| decimal::quantity("quantity", text, on));
        let trigger = trigger_price.as_ref().map(|text| decimal::price("trigger_price", text, on));
        let (price, quantity) = (price.transpose()?, quantity.transpose()?);
        let amend = Amend { account: before.terms.account, order, price, quantity };
        Ok(Amendment { amend, trigger_price: trigger.transpose()?, before, listing })
    }

    pub(crate) fn command(&self) -> Command {
        let amend = self.amend;
        match self.trigger_price {
            Some(trigger_price) => Command::AmendTrigger(AmendTrigger { amend, trigger_price }),
            None => Command::Amend(amend),
        }
    }

    /// The order for its answer.
    pub(crate) fn placed(&self) -> Placed {
        Placed { terms: self.before.terms, listing: self.listing, is_new: false }
    }
}
