//! What a command came to: the short answer for whoever sent it.

use crate::{OrderId, OrderStatus, Price, Quantity, RejectReason};
use serde::Serialize;

/// The answer to a command. The events of the same sequence tell the whole story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It took effect and there is nothing to add.
    Done,
    /// It was refused and nothing changed.
    Rejected {
        /// Why.
        reason: RejectReason,
    },
    /// An order was entered, amended or cancelled, or is answered again.
    Order {
        /// Which order.
        order: OrderId,
        /// Where it is in its life after the command.
        status: OrderStatus,
        /// Its limit in force.
        price: Price,
        /// What it has traded so far.
        filled: Quantity,
        /// What is left of it; of an ended order, what it ended with.
        remaining: Quantity,
        /// Whether this repeats the first answer to the same client order id, as it was given then.
        repeated: bool,
    },
    /// Many orders are being cancelled.
    Cancelling {
        /// Cancelled so far.
        cancelled: u32,
        /// Whether follow-up commands go on with it.
        pending: bool,
    },
    /// Something got this number.
    Created {
        /// The number of the member, account, currency or instrument.
        number: u32,
    },
    /// A transfer with this reference had taken effect before; nothing changed now.
    Repeated,
}

impl Outcome {
    /// Whether the command was refused.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        matches!(self, Outcome::Rejected { .. })
    }
}
