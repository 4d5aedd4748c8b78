//! What a client says on its connection.

use crate::ApiError;
use crate::dto::LeaseRequest;
use crate::json::{self, Str};
use crate::queues::{GivenBack, LeaseTexts, Leased, settle_limits};
use crate::routes::packed_leases;
use rialto_queue::{MessageId, QueueError, Settler};
use serde::Deserialize;
use std::time::Duration;

/// What a client may say of messages that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Op {
    Ack,
    Nack,
    Extend,
}

impl Op {
    pub(super) fn name(self) -> &'static str {
        match self {
            Op::Ack => "ack",
            Op::Nack => "nack",
            Op::Extend => "extend",
        }
    }
}

/// A message in text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text<'a> {
    op: Op,
    #[serde(borrow)]
    messages: Vec<LeaseRequest<'a>>,
    delay_ms: Option<u64>,
    #[serde(default)]
    refuse: bool,
    #[serde(default)]
    unseen: bool,
    #[serde(borrow)]
    detail: Option<Str<'a>>,
}

/// What a client said.
pub(super) struct Said {
    pub(super) op: Op,
    leases: Vec<Leased>,
    back: GivenBack,
}

impl Said {
    /// Reads a text frame.
    pub(super) fn in_text(text: &str, leases: LeaseTexts) -> Result<Said, ApiError> {
        let text: Text<'_> = json::read(text.as_bytes())?;
        let said = Said {
            op: text.op,
            leases: LeaseRequest::numbers(&text.messages, leases)?,
            back: GivenBack {
                delay: text.delay_ms.map(Duration::from_millis),
                refuse: text.refuse,
                unseen: text.unseen,
                detail: text.detail.as_deref().unwrap_or_default().to_owned(),
            },
        };
        if said.op != Op::Nack && said.back != GivenBack::default() {
            let message = "Only a nack has delay_ms, refuse, unseen and detail.";
            return Err(ApiError::invalid("op", message));
        }
        settle_limits(said.leases.len(), &said.back)?;
        Ok(said)
    }

    /// Reads a binary frame: packed leases of messages that were worked on.
    pub(super) fn in_bytes(bytes: &[u8], leases: LeaseTexts) -> Result<Said, ApiError> {
        let leases = packed_leases(bytes, leases)?;
        let said = Said { op: Op::Ack, leases, back: GivenBack::default() };
        settle_limits(said.leases.len(), &said.back)?;
        Ok(said)
    }

    /// Has it be so, and says which were no longer the client's.
    pub(super) fn settle(&self, settler: &Settler) -> Result<Vec<MessageId>, QueueError> {
        let each = |(id, lease): (MessageId, u64)| match self.op {
            Op::Ack => settler.ack_lease(id, lease),
            Op::Extend => settler.extend_lease(id, lease),
            Op::Nack if self.back.refuse => settler.refuse_lease(id, lease, &self.back.detail),
            Op::Nack => settler.nack_lease(id, lease, self.back.delay, &self.back.detail),
        };
        match self.op {
            Op::Ack => return Ok(settler.ack_leases(&self.leases)),
            Op::Nack if self.back.unseen => return Ok(settler.return_unseen(&self.leases)),
            Op::Nack | Op::Extend => {}
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
