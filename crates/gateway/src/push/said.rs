//! What a client says on its connection.

use crate::ApiError;
use crate::dto::LeaseRequest;
use crate::json::{self, Str};
use crate::queues::{LeaseTexts, Leased, settle_limits};
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
    #[serde(borrow)]
    detail: Option<Str<'a>>,
}

/// What a client said.
pub(super) struct Said {
    pub(super) op: Op,
    leases: Vec<Leased>,
    delay: Option<Duration>,
    refuse: bool,
    detail: String,
}

impl Said {
    /// Reads a text frame.
    pub(super) fn in_text(text: &str, leases: LeaseTexts) -> Result<Said, ApiError> {
        let text: Text<'_> = json::read(text.as_bytes())?;
        let said = Said {
            op: text.op,
            leases: LeaseRequest::numbers(&text.messages, leases)?,
            delay: text.delay_ms.map(Duration::from_millis),
            refuse: text.refuse,
            detail: text.detail.as_deref().unwrap_or_default().to_owned(),
        };
        if said.op != Op::Nack && (said.delay.is_some() || said.refuse || !said.detail.is_empty()) {
            let message = "Only a nack has delay_ms, refuse and detail.";
            return Err(ApiError::invalid("op", message));
        }
        settle_limits(said.leases.len(), said.delay, &said.detail)?;
        Ok(said)
    }

    /// Reads a binary frame: packed leases of messages that were worked on.
    pub(super) fn in_bytes(bytes: &[u8], leases: LeaseTexts) -> Result<Said, ApiError> {
        let leases = packed_leases(bytes, leases)?;
        settle_limits(leases.len(), None, "")?;
        Ok(Said { op: Op::Ack, leases, delay: None, refuse: false, detail: String::new() })
    }

    /// Has it be so, and says which were no longer the client's.
    pub(super) fn settle(&self, settler: &Settler) -> Result<Vec<MessageId>, QueueError> {
        let each = |(id, lease): (MessageId, u64)| match self.op {
            Op::Ack => settler.ack_lease(id, lease),
            Op::Extend => settler.extend_lease(id, lease),
            Op::Nack if self.refuse => settler.refuse_lease(id, lease, &self.detail),
            Op::Nack => settler.nack_lease(id, lease, self.delay, &self.detail),
        };
        if self.op == Op::Ack {
            return Ok(settler.ack_leases(&self.leases));
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
