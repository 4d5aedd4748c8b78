//! Queues: requests of consumers.

use super::queues::{bus, name, names, nothing};
use super::{Handled, count, packed, respond};
use crate::ApiError;
use crate::call::Call;
use crate::convert::{delivered_info, lease_numbers};
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use rialto_api::limits::MESSAGES_MAX;
use rialto_api::{
    ExtendRequest, FetchRequest, FetchedAnswer, LeaseInfo, LeaseRequest, LeasesAnswer, LeasesQuery,
    NackRequest, Nothing, PackedExtendQuery, PackedNackQuery, PackedSettleQuery, SettleRequest,
    SettledAnswer,
};
use rialto_broker::{
    AckMessages, ConsumerId, DeliveredLease, ExtendLeases, FetchMessages, GroupLease, LeaveGroup,
    ListLeases, NackMessages, NackOptions,
};
use rialto_bus::Dispatch;
use rialto_queue::MessageId;
use rialto_queue::packed::pack_fetched;
use std::time::Duration;

/// The default number of messages of a fetch.
const FETCH_USUAL: usize = 10;
/// The default number of leased messages of a page.
const LISTED_USUAL: usize = 100;

/// `POST /v1/queues/{topic}/groups/{group}/fetch`
pub(super) async fn fetch(gate: &Gate, request: Request) -> Handled {
    // It is not counted as an operation, so that it must check for the stop itself.
    if gate.intake.process.operations().is_stopping() {
        return Err(ApiError::stopped());
    }
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let body: FetchRequest<'_> = call.json()?;
    let fetch = FetchMessages {
        consumer: consumer(&call, &body.consumer)?,
        max: body.max.unwrap_or(FETCH_USUAL),
        wait: Duration::from_millis(body.wait_ms),
        ack_wait: body.ack_wait_ms.map(Duration::from_millis),
    };
    let bus = bus(gate)?;
    let leases = bus.leases();
    let cx = call.queue_cx();
    let fetched = call.while_valid(gate, bus.send(fetch, &cx)).await?;
    if packed::is_asked_for(&call) {
        return Ok(packed::respond_packed(pack_fetched(&fetched, leases.epoch())));
    }
    let bytes = fetched.messages.iter().map(|message| 256 + message.payload().len());
    let bytes: usize = bytes.sum();
    let delivered = fetched.messages.iter().map(|message| delivered_info(message, leases));
    let response = FetchedAnswer { messages: delivered.collect(), missed: fetched.missed.into() };
    Ok(respond(StatusCode::OK, &response, 256 + bytes))
}

/// `POST /v1/queues/{topic}/groups/{group}/ack`
pub(super) async fn ack(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let (consumer, leases) = settling(gate, &call)?;
    let ack = AckMessages { consumer, leases };
    Ok(settled(&bus(gate)?.send(ack, &call.queue_cx()).await?))
}

/// `POST /v1/queues/{topic}/groups/{group}/nack`
pub(super) async fn nack(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let nack = match packed::leases(&call, bus(gate)?.leases())? {
        Some(leases) => {
            let query: PackedNackQuery<'_> = call.query()?;
            NackMessages {
                consumer: consumer(&call, given(query.consumer.as_deref())?)?,
                leases,
                options: NackOptions {
                    delay: query.delay_ms.map(Duration::from_millis),
                    refuse: query.refuse.unwrap_or_default(),
                    unseen: query.unseen.unwrap_or_default(),
                    detail: query.detail.as_deref().unwrap_or_default().to_owned(),
                },
            }
        }
        None => {
            let Nothing {} = call.query()?;
            let body: NackRequest<'_> = call.json()?;
            NackMessages {
                consumer: consumer(&call, &body.consumer)?,
                leases: leases(gate, &body.messages.0)?,
                options: NackOptions {
                    delay: body.delay_ms.map(Duration::from_millis),
                    refuse: body.refuse,
                    unseen: body.unseen,
                    detail: body.detail.as_deref().unwrap_or_default().to_owned(),
                },
            }
        }
    };
    Ok(settled(&bus(gate)?.send(nack, &call.queue_cx()).await?))
}

/// `POST /v1/queues/{topic}/groups/{group}/extend`
pub(super) async fn extend(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let extend = match packed::leases(&call, bus(gate)?.leases())? {
        Some(leases) => {
            let query: PackedExtendQuery<'_> = call.query()?;
            let consumer = consumer(&call, given(query.consumer.as_deref())?)?;
            let ack_wait = query.ack_wait_ms.map(Duration::from_millis);
            ExtendLeases { consumer, leases, ack_wait }
        }
        None => {
            let Nothing {} = call.query()?;
            let body: ExtendRequest<'_> = call.json()?;
            ExtendLeases {
                consumer: consumer(&call, &body.consumer)?,
                leases: leases(gate, &body.messages.0)?,
                ack_wait: body.ack_wait_ms.map(Duration::from_millis),
            }
        }
    };
    Ok(settled(&bus(gate)?.send(extend, &call.queue_cx()).await?))
}

/// `GET /v1/queues/{topic}/groups/{group}/leases`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let [topic, group] = names(&call, ["topic", "group"])?;
    let query: LeasesQuery<'_> = call.query()?;
    let max = count("max", query.max, LISTED_USUAL, MESSAGES_MAX)?;
    let after = query.after.as_deref().map(str::parse::<MessageId>).transpose().map_err(|_| {
        let message = "The parameter after is the id of a message, such as 0:17.";
        ApiError::invalid("after", message)
    })?;
    let list = ListLeases { topic, group, after, max };
    let leases = bus(gate)?.query(list, &call.queue_cx()).await?;
    let shown = |lease: &GroupLease| LeaseInfo {
        id: lease.message.id.to_string(),
        deadline: lease.message.deadline,
        attempt: lease.message.attempt,
        consumer: lease.consumer.as_ref().map(ToString::to_string),
        published_at: lease.message.published_at,
    };
    let response = LeasesAnswer { leases: leases.iter().map(shown).collect() };
    Ok(respond(StatusCode::OK, &response, 32 + 256 * leases.len()))
}

/// `DELETE /v1/queues/{topic}/groups/{group}/consumers/{consumer}`
pub(super) async fn leave(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let [topic, group, name] = names(&call, ["topic", "group", "consumer"])?;
    let consumer = ConsumerId { topic, group, name };
    bus(gate)?.send(LeaveGroup { consumer }, &call.queue_cx()).await?;
    Ok(nothing())
}

/// The consumer and the messages to settle: in JSON or, if the leases are packed, with the consumer
/// in the query.
fn settling(gate: &Gate, call: &Call) -> Result<(ConsumerId, Vec<DeliveredLease>), ApiError> {
    if let Some(leases) = packed::leases(call, bus(gate)?.leases())? {
        let query: PackedSettleQuery<'_> = call.query()?;
        return Ok((consumer(call, given(query.consumer.as_deref())?)?, leases));
    }
    let Nothing {} = call.query()?;
    let body: SettleRequest<'_> = call.json()?;
    Ok((consumer(call, &body.consumer)?, leases(gate, &body.messages.0)?))
}

fn given(text: Option<&str>) -> Result<&str, ApiError> {
    text.ok_or_else(|| ApiError::missing("consumer"))
}

fn consumer(call: &Call, text: &str) -> Result<ConsumerId, ApiError> {
    let [topic, group] = names(call, ["topic", "group"])?;
    Ok(ConsumerId { topic, group, name: name("consumer", text)? })
}

fn leases(gate: &Gate, messages: &[LeaseRequest<'_>]) -> Result<Vec<DeliveredLease>, ApiError> {
    lease_numbers(messages, bus(gate)?.leases())
}

fn settled(lost: &[MessageId]) -> Response {
    let response = SettledAnswer { lost: lost.iter().map(ToString::to_string).collect() };
    respond(StatusCode::OK, &response, 32 + 16 * lost.len())
}
