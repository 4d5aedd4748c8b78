//! The outcome of a command: the short answer to its sender.

use crate::{OrderId, OrderStatus, Price, Quantity, RejectReason};
use serde::Serialize;

/// The answer to a command. The events of the same sequence have the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The command took effect.
    Done,
    /// The command was refused and nothing changed.
    Rejected {
        /// The reason of the refusal.
        reason: RejectReason,
    },
    /// An order was entered, amended or cancelled, or is answered again.
    Order {
        /// The order.
        order: OrderId,
        /// The status of the order after the command.
        status: OrderStatus,
        /// The order's limit in force.
        price: Price,
        /// The quantity that has traded.
        filled: Quantity,
        /// The remaining quantity; of an ended order, the quantity that did not trade.
        remaining: Quantity,
        /// Whether this repeats the first answer to the same client order id, as it was given then.
        repeated: bool,
    },
    /// Many orders are being cancelled.
    Cancelling {
        /// The number of orders cancelled so far.
        cancelled: u32,
        /// Whether follow-up commands continue with it.
        pending: bool,
    },
    /// A member, account, currency or instrument was created.
    Created {
        /// Its number.
        number: u32,
    },
    /// A transfer with this reference took effect earlier; nothing changed now.
    Repeated,
}

impl Outcome {
    /// Whether the command was refused.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        matches!(self, Outcome::Rejected { .. })
    }
}
