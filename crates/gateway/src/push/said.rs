//! What a client says on its connection.

use crate::ApiError;
use crate::convert::lease_numbers;
use crate::json;
use crate::queues::{GivenBack, LeaseTexts, Leased, settle_limits};
use crate::routes::packed_leases;
use rialto_api::{SettleMessage, SettleOp};
use rialto_queue::{MessageId, QueueError, Settler};
use std::time::Duration;

/// What a client said.
pub(super) struct Said {
    pub(super) op: SettleOp,
    leases: Vec<Leased>,
    back: GivenBack,
}

impl Said {
    /// Reads a text frame.
    pub(super) fn in_text(text: &str, leases: LeaseTexts) -> Result<Said, ApiError> {
        let text: SettleMessage<'_> = json::read(text.as_bytes())?;
        let said = Said {
            op: text.op,
            leases: lease_numbers(&text.messages.0, leases)?,
            back: GivenBack {
                delay: text.delay_ms.map(Duration::from_millis),
                refuse: text.refuse,
                unseen: text.unseen,
                detail: text.detail.as_deref().unwrap_or_default().to_owned(),
            },
        };
        if said.op != SettleOp::Nack && said.back != GivenBack::default() {
            let message = "Only a nack has delay_ms, refuse, unseen and detail.";
            return Err(ApiError::invalid("op", message));
        }
        settle_limits(said.leases.len(), &said.back)?;
        Ok(said)
    }

    /// Reads a binary frame: packed leases of messages that were worked on.
    pub(super) fn in_bytes(bytes: &[u8], leases: LeaseTexts) -> Result<Said, ApiError> {
        let leases = packed_leases(bytes, leases)?;
        let said = Said { op: SettleOp::Ack, leases, back: GivenBack::default() };
        settle_limits(said.leases.len(), &said.back)?;
        Ok(said)
    }

    /// Has it be so, and says which were no longer the client's.
    pub(super) fn settle(&self, settler: &Settler) -> Result<Vec<MessageId>, QueueError> {
        let each = |(id, lease): (MessageId, u64)| match self.op {
            SettleOp::Ack => settler.ack_lease(id, lease),
            SettleOp::Extend => settler.extend_lease(id, lease),
            SettleOp::Nack if self.back.refuse => {
                settler.refuse_lease(id, lease, &self.back.detail)
            }
            SettleOp::Nack => settler.nack_lease(id, lease, self.back.delay, &self.back.detail),
        };
        match self.op {
            SettleOp::Ack => return Ok(settler.ack_leases(&self.leases)),
            SettleOp::Nack if self.back.unseen => return Ok(settler.return_unseen(&self.leases)),
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
