//! The client's frames.

use crate::ApiError;
use crate::convert::lease_numbers;
use crate::json;
use crate::routes::packed_leases;
use rialto_api::{SettleMessage, SettleOp};
use rialto_broker::{DeliveredLease, LeaseTokens, NackOptions, check_ack_wait, check_settlement};
use rialto_queue::{MessageId, QueueError, Settler};
use std::time::Duration;

/// A settlement: acknowledgement, negative acknowledgement or extension of leases.
pub(super) struct Settlement {
    pub(super) op: SettleOp,
    leases: Vec<DeliveredLease>,
    options: NackOptions,
    /// The length of extended leases; by default as the group says.
    ack_wait: Option<Duration>,
}

impl Settlement {
    /// Reads a text frame.
    pub(super) fn in_text(text: &str, leases: LeaseTokens) -> Result<Settlement, ApiError> {
        let text: SettleMessage<'_> = json::read(text.as_bytes())?;
        let settlement = Settlement {
            op: text.op,
            leases: lease_numbers(&text.messages.0, leases)?,
            options: NackOptions {
                delay: text.delay_ms.map(Duration::from_millis),
                refuse: text.refuse,
                unseen: text.unseen,
                detail: text.detail.as_deref().unwrap_or_default().to_owned(),
            },
            ack_wait: text.ack_wait_ms.map(Duration::from_millis),
        };
        if settlement.op != SettleOp::Extend && settlement.ack_wait.is_some() {
            return Err(ApiError::invalid("op", "Only an extension has ack_wait_ms."));
        }
        check_ack_wait(settlement.ack_wait)?;
        if settlement.op != SettleOp::Nack && settlement.options != NackOptions::default() {
            let message = "Only a nack has delay_ms, refuse, unseen and detail.";
            return Err(ApiError::invalid("op", message));
        }
        check_settlement(settlement.leases.len(), &settlement.options)?;
        Ok(settlement)
    }

    /// Reads a binary frame: packed leases to acknowledge.
    pub(super) fn in_bytes(bytes: &[u8], leases: LeaseTokens) -> Result<Settlement, ApiError> {
        let leases = packed_leases(bytes, leases)?;
        let (op, options) = (SettleOp::Ack, NackOptions::default());
        let settlement = Settlement { op, leases, options, ack_wait: None };
        check_settlement(settlement.leases.len(), &settlement.options)?;
        Ok(settlement)
    }

    /// Settles the messages, and returns those whose leases were lost.
    pub(super) fn settle(&self, settler: &Settler) -> Result<Vec<MessageId>, QueueError> {
        let each = |(id, lease): (MessageId, u64)| match self.op {
            SettleOp::Ack => settler.ack_lease(id, lease),
            SettleOp::Extend => match self.ack_wait {
                None => settler.extend_lease(id, lease),
                Some(length) => settler.extend_lease_by(id, lease, length),
            },
            SettleOp::Nack if self.options.refuse => {
                settler.refuse_lease(id, lease, &self.options.detail)
            }
            SettleOp::Nack => {
                settler.nack_lease(id, lease, self.options.delay, &self.options.detail)
            }
        };
        match self.op {
            SettleOp::Ack => return Ok(settler.ack_leases(&self.leases)),
            SettleOp::Nack if self.options.unseen => return Ok(settler.return_unseen(&self.leases)),
            SettleOp::Nack | SettleOp::Extend => {}
        }
        let mut lost = Vec::new();
        for leased in &self.leases {
            match each(*leased) {
                Ok(()) => {}
                Err(QueueError::LeaseLost(id)) => lost.push(id),
                Err(error) => return Err(error),
            }
        }
        Ok(lost)
    }
}
